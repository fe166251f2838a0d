//! What people said about each item: its annotator distribution p_i, its entropy, its majority
//! label, and labels given from elsewhere.
//!
//! A row may be counts (p = c / Σ c) or probabilities (checked as distributions). Probabilities
//! that sum to 1 within the rounding of f64 (1e-12) are kept as they are; those rounded to fewer
//! places are divided by their sum, so that no metric mistakes rounding for disagreement.
//! Memory: 8 (K + 1) + 4 bytes per item.

use dissensus_core::philox::Stream;
use dissensus_core::{Ballots, Distribution, DistributionError, SUM_TOLERANCE, TieRule, VoteTable};
use rayon::prelude::*;

use crate::entropy::entropy;
use crate::sums::CHUNK;
use crate::{Matrix, MeasureError};

/// What people said, one row per item, one column per class.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// Votes (or summed weights) for each class. A row of zeros is an error.
    Counts(Matrix<'a>),
    /// Shares of the votes. A row of zeros is an item without votes here, too.
    Probabilities(Matrix<'a>),
}

/// The second word of the key under which ties are drawn: `b"ties"` read as a big-endian number,
/// the stream that label delivery draws them from. With the keys that delivery gives the examples,
/// both find the same majority.
pub const TIE_KEY: u64 = 0x7469_6573;

/// What people said, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    classes: usize,
    targets: Vec<f64>,
    entropy: Vec<f64>,
    majority: Vec<u32>,
    tied: Vec<usize>,
    ties: TieRule,
    given: Option<Vec<u32>>,
}

impl Truth {
    /// Checks the targets. Ties go to the lowest class until [`with_ties`](Self::with_ties).
    pub fn new(targets: Targets<'_>) -> Result<Self, MeasureError> {
        let (Targets::Counts(matrix) | Targets::Probabilities(matrix)) = targets;
        let (rows, classes) = (matrix.rows(), matrix.columns());
        let counted = matches!(targets, Targets::Counts(_));
        Self::read(rows, classes, counted, |row, p| matrix.read(row, p))
    }

    /// Reads every row, counts or shares, into a row of zeros.
    fn read(
        rows: usize,
        classes: usize,
        counted: bool,
        read: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<Self, MeasureError> {
        let mut truth = Self {
            classes,
            targets: vec![0.0; rows * classes],
            entropy: vec![0.0; rows],
            majority: vec![0; rows],
            tied: Vec::new(),
            ties: TieRule::Lowest,
            given: None,
        };
        let chunks: Vec<_> = (
            truth.targets.par_chunks_mut(CHUNK * classes),
            truth.entropy.par_chunks_mut(CHUNK),
            truth.majority.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .map(|(chunk, (target, entropies, majorities))| {
                let (mut tied, mut empty) = (Vec::new(), Vec::new());
                let mut scratch = vec![0; classes];
                let rows = target.chunks_exact_mut(classes).zip(entropies).zip(majorities);
                for (at, ((p, nats), majority)) in rows.enumerate() {
                    let row = chunk * CHUNK + at;
                    read(row, p);
                    let voted = match counted {
                        true => shares(row, p)?,
                        false => distribution("targets", row, p)?,
                    };
                    if !voted {
                        empty.push(row);
                    }
                    *nats = entropy(p, &mut scratch);
                    let class = top(p);
                    *majority = class as u32;
                    if p[class + 1..].contains(&p[class]) {
                        tied.push(row);
                    }
                }
                Ok((tied, empty))
            })
            .collect::<Result<Vec<_>, MeasureError>>()?;
        let (tied, empty): (Vec<_>, Vec<_>) = chunks.into_iter().unzip();
        let empty = empty.concat();
        if !empty.is_empty() {
            return Err(MeasureError::NoVotes { rows: empty });
        }
        truth.tied = tied.concat();
        Ok(truth)
    }

    /// What people said about these items of a vote table, in this order. An item without votes is
    /// an error that names its place in `items`.
    pub fn from_table(table: &VoteTable, items: &[usize]) -> Result<Self, MeasureError> {
        table.require_one_label()?;
        if let Some(&index) = items.iter().find(|&&item| item >= table.len()) {
            return Err(MeasureError::Index { index, items: table.len() });
        }
        let classes = table.classes().len();
        if classes == 0 {
            return Err(MeasureError::Shape { len: 0, columns: 0 });
        }
        let counts = table.counts();
        Self::read(items.len(), classes, counts.is_some(), |row, p| {
            match (&counts, table.ballots()) {
                (Some(counts), _) => {
                    for (class, amount) in counts.amounts(items[row]) {
                        if let Some(cell) = p.get_mut(usize::from(class)) {
                            *cell = amount;
                        }
                    }
                }
                (None, Ballots::Probabilities(all)) => p.copy_from_slice(all.row(items[row])),
                (None, _) => {}
            }
        })
    }

    /// Decides ties by this rule. The random rule draws the word of Philox under (seed, [`TIE_KEY`])
    /// at the key of the item in a row: a hash of its id, say, so that a draw belongs to the item and
    /// not to its row.
    pub fn with_ties(
        mut self,
        ties: TieRule,
        seed: u64,
        key: impl Fn(usize) -> u64,
    ) -> Result<Self, MeasureError> {
        if ties == TieRule::Error && !self.tied.is_empty() {
            return Err(MeasureError::Tie { rows: self.tied });
        }
        for &row in &self.tied {
            let p = &self.targets[row * self.classes..(row + 1) * self.classes];
            let first = top(p);
            let class = match ties {
                TieRule::Lowest | TieRule::Error => first,
                TieRule::Random => {
                    let best: Vec<usize> = (first..p.len()).filter(|&k| p[k] == p[first]).collect();
                    let mut stream = Stream::new([seed, TIE_KEY], [key(row), 0, 0]);
                    best[stream.below(best.len() as u64) as usize]
                }
            };
            self.majority[row] = class as u32;
        }
        self.ties = ties;
        Ok(self)
    }

    /// Adds labels from elsewhere (the data set's own, say) to measure accuracy against.
    pub fn with_given(mut self, labels: &[u32]) -> Result<Self, MeasureError> {
        size("given labels", labels.len(), self.len())?;
        let classes = self.classes;
        if let Some(row) = labels.iter().position(|&label| label as usize >= classes) {
            return Err(MeasureError::Label { row, label: labels[row], classes });
        }
        self.given = Some(labels.to_vec());
        Ok(self)
    }

    /// These items, in this order; an item may come more than once.
    pub fn select(&self, items: &[usize]) -> Result<Self, MeasureError> {
        let len = self.len();
        if let Some(&index) = items.iter().find(|&&item| item >= len) {
            return Err(MeasureError::Index { index, items: len });
        }
        let is_tied = |item: &usize| self.tied.binary_search(item).is_ok();
        Ok(Self {
            classes: self.classes,
            targets: gather_rows(&self.targets, self.classes, items),
            entropy: gather(&self.entropy, items),
            majority: gather(&self.majority, items),
            tied: (0..items.len()).filter(|&at| is_tied(&items[at])).collect(),
            ties: self.ties,
            given: self.given.as_ref().map(|labels| gather(labels, items)),
        })
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.entropy.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entropy.is_empty()
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The annotator distributions, row by row.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// The entropy of each distribution, in nats.
    pub fn entropy(&self) -> &[f64] {
        &self.entropy
    }

    /// The majority label of each item.
    pub fn majority(&self) -> &[u32] {
        &self.majority
    }

    /// The rows of the items whose most-voted classes are tied.
    pub fn tied(&self) -> &[usize] {
        &self.tied
    }

    /// How ties were decided.
    pub fn ties(&self) -> TieRule {
        self.ties
    }

    /// The labels from elsewhere.
    pub fn given(&self) -> Option<&[u32]> {
        self.given.as_deref()
    }
}

pub(crate) fn size(what: &'static str, found: usize, expected: usize) -> Result<(), MeasureError> {
    match found == expected {
        true => Ok(()),
        false => Err(MeasureError::Size { what, found, expected }),
    }
}

pub(crate) fn gather<T: Copy + Send + Sync>(values: &[T], items: &[usize]) -> Vec<T> {
    items.iter().map(|&item| values[item]).collect()
}

pub(crate) fn gather_rows(values: &[f64], columns: usize, items: &[usize]) -> Vec<f64> {
    items.iter().flat_map(|&item| &values[item * columns..(item + 1) * columns]).copied().collect()
}

/// The first of the largest values.
#[inline]
pub(crate) fn top(row: &[f64]) -> usize {
    let largest =
        row.iter().fold(f64::NEG_INFINITY, |largest, &v| if v > largest { v } else { largest });
    row.iter().position(|&v| v == largest).unwrap_or(0)
}

/// Counts to shares, in place; `false` where there is nothing to share.
fn shares(row: usize, amounts: &mut [f64]) -> Result<bool, MeasureError> {
    let total: f64 = amounts.iter().sum();
    let bad = |value: f64| !(value >= 0.0 && value.is_finite());
    if bad(total) || amounts.iter().any(|&a| bad(a)) {
        let class = amounts.iter().position(|&a| bad(a)).unwrap_or(top(amounts));
        return Err(MeasureError::Count { row, class, value: amounts[class] });
    }
    amounts.iter_mut().for_each(|a| *a /= total);
    Ok(total > 0.0)
}

/// Checks a distribution, and divides it by its sum where that is off by more than rounding;
/// `false` where all is zero.
pub(crate) fn distribution(
    what: &'static str,
    row: usize,
    values: &mut [f64],
) -> Result<bool, MeasureError> {
    const ROUNDING: f64 = 1e-12;
    let sum: f64 = values.iter().sum();
    let fine = values.iter().all(|v| (0.0..=1.0 + SUM_TOLERANCE).contains(v));
    if fine && (sum - 1.0).abs() <= ROUNDING {
        return Ok(true);
    }
    if fine && (sum - 1.0).abs() <= SUM_TOLERANCE {
        values.iter_mut().for_each(|v| *v /= sum);
        return Ok(true);
    }
    if fine && sum == 0.0 {
        return Ok(false);
    }
    // The core's own words for what is wrong.
    let source = Distribution::new(values.to_vec()).err();
    let source = source.unwrap_or(DistributionError::Sum { sum });
    Err(MeasureError::NotDistribution { what, row, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[f64], classes: usize) -> Result<Truth, MeasureError> {
        Truth::new(Targets::Counts(Matrix::new(values, classes).unwrap()))
    }

    fn probabilities(values: &[f64], classes: usize) -> Result<Truth, MeasureError> {
        Truth::new(Targets::Probabilities(Matrix::new(values, classes).unwrap()))
    }

    #[test]
    fn counts_become_shares() {
        let truth = counts(&[3.0, 1.0, 0.0, 2.0, 2.0, 0.0], 3).unwrap();
        assert_eq!(truth.targets(), [0.75, 0.25, 0.0, 0.5, 0.5, 0.0]);
        assert_eq!((truth.majority(), truth.tied()), (&[0, 0][..], &[1][..]));
        assert!((truth.entropy()[1] - std::f64::consts::LN_2).abs() < 1e-16);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let votes = counts(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 2).unwrap_err();
        assert_eq!(votes, MeasureError::NoVotes { rows: vec![1, 2] });
        let zeros = probabilities(&[0.5, 0.5, 0.0, 0.0], 2).unwrap_err();
        assert_eq!(zeros, MeasureError::NoVotes { rows: vec![1] });
        let negative = counts(&[1.0, 0.0, 1.0, -1.0], 2).unwrap_err();
        assert_eq!(negative, MeasureError::Count { row: 1, class: 1, value: -1.0 });
        let huge = counts(&[f64::MAX, f64::MAX], 2).unwrap_err();
        assert!(matches!(huge, MeasureError::Count { row: 0, class: 0, .. }));
        let nan = counts(&[1.0, f64::NAN], 2).unwrap_err();
        assert!(matches!(nan, MeasureError::Count { row: 0, class: 1, .. }));
        let sum = probabilities(&[0.5, 0.5, 0.5, 0.25], 2).unwrap_err();
        let source = DistributionError::Sum { sum: 0.75 };
        assert_eq!(sum, MeasureError::NotDistribution { what: "targets", row: 1, source });
        let truth = counts(&[1.0, 2.0], 2).unwrap();
        let label = truth.clone().with_given(&[2]).unwrap_err();
        assert_eq!(label, MeasureError::Label { row: 0, label: 2, classes: 2 });
        assert!(matches!(truth.clone().with_given(&[]), Err(MeasureError::Size { .. })));
        assert!(matches!(truth.select(&[1]), Err(MeasureError::Index { index: 1, items: 1 })));
    }

    #[test]
    fn rounded_probabilities_are_normalized_and_exact_ones_kept() {
        let truth = probabilities(&[0.333, 0.333, 0.333, 0.2, 0.7, 0.1], 3).unwrap();
        assert!(truth.targets()[..3].iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-15));
        assert_eq!(truth.targets()[3..], [0.2, 0.7, 0.1]);
    }

    #[test]
    fn ties_follow_their_rule_and_their_key() {
        let rows = [2.0, 2.0, 1.0].repeat(400);
        let lowest = counts(&rows, 3).unwrap();
        assert!(lowest.majority().iter().all(|&class| class == 0));
        let rule = TieRule::Random;
        let random = lowest.clone().with_ties(rule, 5, |row| row as u64).unwrap();
        // 400 fair draws: sd 10; 5 sd, and the seed is fixed.
        let ones = random.majority().iter().filter(|&&class| class == 1).count();
        assert!((150..=250).contains(&ones), "{ones}");
        assert!(random.majority().iter().all(|&class| class < 2));
        let keyed = lowest.clone().with_ties(rule, 5, |row| 399 - row as u64).unwrap();
        let mut reversed = random.majority().to_vec();
        reversed.reverse();
        assert_eq!(keyed.majority(), reversed);
        let error = lowest.with_ties(TieRule::Error, 0, |row| row as u64).unwrap_err();
        assert_eq!(error, MeasureError::Tie { rows: (0..400).collect() });
    }

    #[test]
    fn selected_items_keep_what_they_have() {
        let truth = counts(&[3.0, 1.0, 2.0, 2.0, 0.0, 1.0], 2).unwrap();
        let some = truth.with_given(&[0, 1, 1]).unwrap().select(&[1, 2, 1]).unwrap();
        assert_eq!(some.targets(), [0.5, 0.5, 0.0, 1.0, 0.5, 0.5]);
        assert_eq!((some.tied(), some.given()), (&[0, 2][..], Some(&[1, 1, 1][..])));
    }
}
