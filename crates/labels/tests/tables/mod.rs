//! Tables from rows of numbers.

use dissensus_core::{ClassSet, Counts, Ids, Probabilities, VoteTable};

/// Counts where all numbers are whole, else probabilities.
pub(crate) fn table(ids: &[String], rows: &[Vec<f64>]) -> VoteTable {
    let classes = ClassSet::numbered(rows[0].len()).unwrap();
    let ids = Ids::new(ids).unwrap();
    if rows.iter().flatten().all(|n| n.fract() == 0.0) {
        let mut counts = Counts::new();
        for row in rows {
            counts.push((0..).zip(row).map(|(class, &votes)| (class, votes as u32))).unwrap();
        }
        return VoteTable::from_counts(classes, ids, counts).unwrap();
    }
    let mut probabilities = Probabilities::new(classes.len());
    rows.iter().for_each(|row| probabilities.push(row).unwrap());
    VoteTable::from_probabilities(classes, ids, probabilities).unwrap()
}
