use super::Format;
pub(super) const FORMAT_2023: Format = Format {
    name: "lewidi-2023",
    title: "pending",
    layout: "pending",
    trap: "pending",
    detect: |_, _| false,
    read: |_, _| Ok(()),
};
pub(super) const FORMAT_2025: Format = Format {
    name: "lewidi-2025",
    title: "pending",
    layout: "pending",
    trap: "pending",
    detect: |_, _| false,
    read: |_, _| Ok(()),
};
