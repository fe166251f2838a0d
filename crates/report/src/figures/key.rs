//! Which arm a mark belongs to.

/// An arm in a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Its name, as in the results.
    pub name: String,
    pub title: String,
    /// Its place among the looks: colour, marker, dash. The same in every figure of a study.
    pub look: usize,
}

/// Those of the arms that appear, in the order of the arms.
pub(super) fn present<'a>(arms: &[Key], found: impl Iterator<Item = &'a Key> + Clone) -> Vec<Key> {
    arms.iter().filter(|arm| found.clone().any(|key| key == *arm)).cloned().collect()
}
