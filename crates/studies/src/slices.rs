//! Slices: evaluated items by how much annotators disagree on them.

use crate::StudyError;
use crate::file::SliceRule;

/// The indices of a slice's items, given the annotator entropies of all items; ascending.
pub(crate) fn items(rule: &SliceRule, entropies: &[f64]) -> Result<Vec<usize>, StudyError> {
    Ok(rule.by.slice().places(entropies)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::file::SliceBy;

    #[test]
    fn equal_entropies_stay_together() {
        let entropies = [0.0, 0.7, 0.5, 0.7, 0.5, 0.0, 0.9, 0.5, 0.0, 0.0];
        let of = |by| items(&SliceRule { name: "s".into(), by }, &entropies).unwrap();
        assert_eq!(of(SliceBy::Top(0.1)), [6]);
        // A fifth is two items, and the two with 0.7 go together.
        assert_eq!(of(SliceBy::Top(0.2)), [1, 3, 6]);
        // Rounded up: 3.1 items are four, and three are equal to the fourth.
        assert_eq!(of(SliceBy::Top(0.31)), [1, 2, 3, 4, 6, 7]);
        assert_eq!(of(SliceBy::Top(1.0)).len(), 10);
        // Exactly at the bound is not above it.
        assert_eq!(of(SliceBy::Above(0.5)), [1, 3, 6]);
        assert_eq!(of(SliceBy::Above(0.0)).len(), 6);
        assert_eq!(of(SliceBy::Above(2.0)), [0usize; 0]);
    }
}
