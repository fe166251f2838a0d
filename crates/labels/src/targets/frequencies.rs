//! The raw frequencies, p_ik = c_ik / m_i.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{TargetEntry, estimator};
use crate::{Aggregation, Source};

pub(super) const ENTRY: TargetEntry = TargetEntry {
    name: "frequencies",
    description: "the share of the votes that each class got",
    formula: "p_ik = c_ik / m_i",
    needs: "votes, counts or probabilities",
    reference: "the maximum-likelihood estimate",
    scales: Scale::ONE_LABEL,
    keeps_counts: true,
    settings: &[],
    make: |_| {
        Ok(estimator(|table| {
            Source::unkeyed(table)?;
            Ok(Aggregation::by_formula(Cow::Borrowed(table)))
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::testing::counted;
    use crate::{LabelError, Target};

    #[test]
    fn the_table_itself() {
        let table = counted(&[vec![1, 2]]);
        let target: Target = "frequencies".parse().unwrap();
        assert_eq!(*target.estimate(&table).unwrap().targets, table);
        let empty = counted(&[vec![0, 0]]);
        assert!(matches!(target.estimate(&empty), Err(LabelError::NoVotes { .. })));
    }
}
