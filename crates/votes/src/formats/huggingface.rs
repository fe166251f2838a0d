use super::Format;
pub(super) const FORMAT: Format = Format {
    name: "huggingface",
    title: "pending",
    layout: "pending",
    trap: "pending",
    detect: |_, _| false,
    read: |_, _| Ok(()),
};
