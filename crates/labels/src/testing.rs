//! Small tables for tests.

use dissensus_core::{ClassSet, Counts, Ids, Keep, Probabilities, TableBuilder, VoteTable};

fn ids(n: usize) -> Ids {
    Ids::new((0..n).map(|i| format!("i{i}"))).unwrap()
}

/// Items `i0`, `i1`, … with these votes per class.
pub(crate) fn counted(rows: &[Vec<u32>]) -> VoteTable {
    let mut counts = Counts::new();
    for row in rows {
        counts.push((0..).zip(row.iter().copied())).unwrap();
    }
    let classes = ClassSet::numbered(rows.first().map_or(0, Vec::len)).unwrap();
    VoteTable::from_counts(classes, ids(rows.len()), counts).unwrap()
}

/// Items `i0`, `i1`, … with these probabilities.
pub(crate) fn shares(rows: &[Vec<f64>]) -> VoteTable {
    let classes = rows.first().map_or(0, Vec::len);
    let mut probabilities = Probabilities::new(classes);
    rows.iter().for_each(|row| probabilities.push(row).unwrap());
    VoteTable::from_probabilities(
        ClassSet::numbered(classes).unwrap(),
        ids(rows.len()),
        probabilities,
    )
    .unwrap()
}

/// Items `i0`, `i1`, … with these weighted votes.
pub(crate) fn weighted(rows: &[&[(&str, f64)]]) -> VoteTable {
    let mut builder = TableBuilder::new(Keep::Votes);
    for (item, votes) in rows.iter().enumerate() {
        for (label, weight) in *votes {
            builder.vote(&format!("i{item}"), None, label, *weight, 1).unwrap();
        }
    }
    builder.finish().unwrap()
}
