//! Tables from rows of numbers.

use dissensus_core::{ClassSet, Counts, Ids, Probabilities, VoteTable};

/// Counts where all numbers are whole, else probabilities.
pub(crate) fn table(ids: &[String], rows: &[Vec<f64>]) -> VoteTable {
    let classes = ClassSet::numbered(rows[0].len()).unwrap();
    let ids = Ids::from_iter(ids);
    if rows.iter().flatten().all(|n| n.fract() == 0.0) {
        let mut counts = Counts::new();
        for row in rows {
            let entries = (0..).zip(row).filter(|entry| *entry.1 > 0.0);
            counts.push(entries.map(|(class, &votes)| (class, votes as u32)));
        }
        return VoteTable::from_counts(classes, ids, counts);
    }
    let mut probabilities = Probabilities::new(classes.len());
    rows.iter().for_each(|row| probabilities.push(row).unwrap());
    VoteTable::from_probabilities(classes, ids, probabilities)
}
