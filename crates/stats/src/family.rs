//! What the list of a family says about each of its members.

/// A member of a family: what the command line, the docs and the tables call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The name to type, also the serialized one.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
}

/// Every member is described, and its name is unique and the one that serde writes.
#[cfg(test)]
pub(crate) fn assert_complete<T: serde::Serialize + Copy>(all: &[T], info: impl Fn(T) -> Info) {
    let mut names = std::collections::BTreeSet::new();
    for &member in all {
        let Info { name, about, citation } = info(member);
        assert!(!about.is_empty() && !citation.is_empty(), "{name}");
        assert!(names.insert(name), "{name} twice");
        assert_eq!(serde_json::to_value(member).unwrap(), name);
    }
}
