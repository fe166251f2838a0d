use super::Format;
pub(super) const FORMAT: Format = Format {
    name: "prodigy",
    title: "pending",
    layout: "pending",
    trap: "pending",
    detect: |_, _| false,
    read: |_, _| Ok(()),
};
