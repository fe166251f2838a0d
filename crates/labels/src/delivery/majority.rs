//! The most-voted label. Ties go to the lowest class, to one of the tied at random, or are an
//! error that names the items.
//!
//! Random: `Stream(seed, ties)` of the example's key, a number below how many are tied; the same
//! rule that accuracy against the majority uses.

use dissensus_core::philox::Stream;
use dissensus_core::{Scale, TieRule};
use rayon::prelude::*;

use super::{Delivers, DeliveryEntry, Kind, method};
use crate::{LabelError, Named, Setting, Source, streams};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "majority",
    title: "majority label",
    description: "the most-voted label",
    formula: "the class with the most votes on example i, in every epoch",
    delivers: Delivers::Labels,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[TIES],
    make: |given| {
        let ties = given.next(|_| true)?;
        Ok(method(move |source, seed| {
            Ok(Kind::Fixed { labels: majorities(source, ties, seed)?, mixing: None })
        }))
    },
};

pub(super) const TIES: Setting = Setting {
    name: "ties",
    description: "which class wins where several have the most votes",
    default: "lowest",
    expected: "lowest, random or error",
    came_later: false,
};

/// The majority label of every item.
pub(super) fn majorities(
    source: &Source<'_>,
    ties: TieRule,
    seed: u64,
) -> Result<Vec<u16>, LabelError> {
    let each = |row: &mut Vec<f64>, place: usize| {
        source.distribution(place, row);
        let top = row.iter().copied().fold(0.0, f64::max);
        let mut best = (0..).zip(row.iter()).filter(|(_, p)| **p == top).map(|(class, _)| class);
        let first: u16 = best.next().unwrap_or(0);
        let others = best.clone().count();
        match (others, ties) {
            (0, _) | (_, TieRule::Lowest) => Some(first),
            (_, TieRule::Error) => None,
            (_, TieRule::Random) => {
                let key = source.keys()[place];
                let mut stream = Stream::new([seed, streams::TIES], [key, 0, 0]);
                match stream.below(others as u64 + 1) {
                    0 => Some(first),
                    n => best.nth(n as usize - 1),
                }
            }
        }
    };
    let row = || vec![0.0; source.classes().len()];
    let places = (0..source.len()).into_par_iter().with_min_len(1024);
    let labels: Vec<Option<u16>> = places.map_init(row, each).collect();
    let tied = (0..source.len()).filter(|&place| labels[place].is_none());
    if let Some(items) = Named::of(source.items(), tied) {
        return Err(LabelError::Tie { items });
    }
    Ok(labels.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delivery;
    use crate::testing::{counted, shares};

    fn labels(text: &str, seed: u64, rows: &[Vec<u32>]) -> Result<Vec<u16>, LabelError> {
        let table = counted(rows);
        let prepared = text.parse::<Delivery>()?.prepare(&Source::new(&table)?, seed)?;
        let mut out = vec![0; rows.len()];
        prepared.epoch(3, &mut out)?;
        Ok(out)
    }

    #[test]
    fn ties_by_each_rule() {
        let rows = [vec![1, 5, 2], vec![2, 0, 2], vec![0, 3, 3]];
        assert_eq!(labels("majority", 0, &rows).unwrap(), [1, 0, 1]);
        let error = labels("majority:ties=error", 0, &rows).unwrap_err().to_string();
        assert!(
            error.starts_with(r#"2 items with a tie for the most votes: "i1", "i2"; set ties"#)
        );
        assert_eq!(labels("majority:ties=error", 0, &rows[..1]).unwrap(), [1]);
    }

    /// 3,000 ties of three: each class wins 1,000 ± 5 · √(3000 · 2/9) ≈ 129 times.
    #[test]
    fn random_ties_are_fair_and_fixed() {
        let rows = vec![vec![2, 0, 2, 1, 2]; 3000];
        let drawn = labels("majority:ties=random", 8, &rows).unwrap();
        assert_eq!(drawn, labels("majority:ties=random", 8, &rows).unwrap());
        assert_ne!(drawn, labels("majority:ties=random", 9, &rows).unwrap());
        for class in [0, 2, 4] {
            let wins = drawn.iter().filter(|&&label| label == class).count();
            assert!(wins.abs_diff(1000) < 129, "class {class}: {wins}");
        }
    }

    #[test]
    fn of_probabilities() {
        let table = shares(&[vec![0.2, 0.3, 0.5], vec![0.4, 0.2, 0.4]]);
        let source = Source::new(&table).unwrap();
        assert_eq!(majorities(&source, TieRule::Lowest, 0).unwrap(), [2, 0]);
    }
}
