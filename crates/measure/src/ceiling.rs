//! What the votes allow, whatever the model: m votes of an item are a sample of what people would say,
//! and no prediction can be told from the truth more closely than that sample does.
//!
//! * Half against half: the votes of each item are divided at random, and one half predicts the other.
//! * A perfect model: if the shares of the votes were the truth, what would predicting them score
//!   against as many votes drawn anew? The fewer votes, the more this flatters: shares are further
//!   apart than the distributions that they come from.
//! * The bias of entropy and KL: the entropy of m votes is too low on average, and the KL of any
//!   prediction too high by the same amount, H(p) − E H(p̂). It is estimated by the jackknife,
//!   (m − 1)(H(p̂) − H₋₁), where H₋₁ is the mean entropy with one vote left out. The estimate is
//!   low, because answers that few people give are not seen: on `blends`, which has ten classes, it is
//!   75 % of the true bias with 50 votes per item, 58 % with 10 and 52 % with 5.
//! * The reliability of entropies: the correlation of both halves, stepped up to all votes by Spearman
//!   and Brown's 2r / (1 + r). Its root is the entropy correlation of a perfect model; another model's
//!   divided by it is what it would be with endless votes.

use std::sync::Arc;

use dissensus_core::TieRule;
use dissensus_core::limits::MAX_VOTES_WRITTEN;
use dissensus_core::philox::Stream;
use rayon::prelude::*;
use serde::Serialize;

use crate::rank::{pearson, spearman};
use crate::sums::mean;
use crate::{
    Judged, Matrix, MeasureError, Metric, ModelOutput, Scorer, Settings, Targets, Truth, Value,
};

/// The second word of the key of all draws: `b"ceil"` read as a big-endian number.
const KEY: u64 = 0x6365_696c;

/// How the ceiling is estimated.
#[derive(Clone, Copy, Debug)]
pub struct CeilingSettings {
    /// How often votes are divided, and drawn anew.
    pub repeats: usize,
    pub seed: u64,
    /// The majority label of tied votes; there are ties in halves, so [`TieRule::Error`] is taken for
    /// [`TieRule::Random`].
    pub ties: TieRule,
}

impl Default for CeilingSettings {
    fn default() -> Self {
        Self { repeats: 20, seed: 0, ties: TieRule::Lowest }
    }
}

/// What votes allow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ceiling {
    /// Items with at least two votes.
    pub items: usize,
    /// Items with fewer, which say nothing.
    pub left_out: usize,
    /// Their mean number of votes.
    pub votes_per_item: f64,
    /// How often votes were divided, and drawn anew.
    pub repeats: usize,
    pub metrics: Vec<CeilingScore>,
    /// The mean entropy of the votes, in nats.
    pub entropy: f64,
    /// By how much that is too low, and any KL too high, in nats.
    pub bias: f64,
    /// The reliability of the entropies by Spearman's correlation; `None` where those of both halves do
    /// not correlate.
    pub reliability_spearman: Option<f64>,
    /// The same by Pearson's.
    pub reliability_pearson: Option<f64>,
}

/// A metric of people's own votes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CeilingScore {
    pub metric: &'static str,
    /// One half of the votes against the other; `None` where the metric is undefined.
    pub half: Option<Spread>,
    /// Whether half a vote was added to each class of the half that predicts, because the metric is
    /// infinite without.
    pub smoothed: bool,
    /// A perfect model, if the shares of the votes were the truth.
    pub perfect: Option<Spread>,
}

/// The mean over repeats, the least and the largest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub mean: f64,
    /// The least.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Spread {
    fn new(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        let [low, high] = [f64::min, f64::max].map(|f| values.iter().copied().reduce(f));
        Some(Self { mean, low: low?, high: high? })
    }
}

impl Ceiling {
    /// Estimates it from counts of votes, one row per item and one column per class.
    pub fn new(
        counts: Matrix<'_>,
        metrics: &[&'static Metric],
        settings: Settings,
        how: CeilingSettings,
    ) -> Result<Self, MeasureError> {
        let votes = ItemVotes::new(counts)?;
        let (items, classes) = (votes.items.len(), votes.classes);
        if items == 0 {
            return Err(MeasureError::Missing { score: "a ceiling", what: "items with two votes" });
        }
        let shares = votes.matrix(|list, row| list.iter().for_each(|&class| row[class] += 1.0));
        let truth_of = |rows: &[f64]| Truth::new(Targets::Counts(Matrix::new(rows, classes)?));
        let truth = truth_of(&shares)?;
        let scores = |predicted: &Truth, drawn: &Truth, repeat: usize| {
            let ties = if how.ties == TieRule::Error { TieRule::Random } else { how.ties };
            let seed = how.seed ^ repeat as u64;
            let drawn = drawn.clone().with_ties(ties, seed, |row| row as u64)?;
            let predicted = ModelOutput::Probabilities(Matrix::new(predicted.targets(), classes)?);
            let judged = Judged::new(Arc::new(drawn), predicted)?;
            let scorer = Scorer::new(&judged, settings)?;
            Ok::<_, MeasureError>(
                metrics.iter().map(|metric| (metric.compute)(&scorer)).collect::<Vec<Value>>(),
            )
        };
        let mut halves = Vec::new();
        let mut smooth = Vec::new();
        let mut perfect = Vec::new();
        let mut correlations = [Vec::new(), Vec::new()];
        for repeat in 0..how.repeats {
            let [first, second] = votes.halves(how.seed, repeat);
            let more: Vec<f64> = first.iter().map(|n| n + 0.5).collect();
            let (first, second) = (truth_of(&first)?, truth_of(&second)?);
            halves.push(scores(&first, &second, repeat)?);
            smooth.push(scores(&truth_of(&more)?, &second, repeat)?);
            perfect.push(scores(&truth, &truth_of(&votes.drawn(how.seed, repeat))?, repeat)?);
            let (one, other) = (first.entropy(), second.entropy());
            let both = [spearman(one, other), pearson(one, other)];
            correlations.iter_mut().zip(both).for_each(|(all, r)| all.extend(r));
        }
        let reliability = correlations.map(|all| {
            let stepped = |r: f64| (2.0 * r / (1.0 + r)).max(0.0);
            let Spread { mean, low, high } = Spread::new(&all).filter(|all| all.mean > 0.0)?;
            Some([mean, low, high].map(stepped))
        });
        let column = |all: &[Vec<Value>], at: usize| -> Option<Vec<f64>> {
            all.iter().map(|row| row[at].value).collect()
        };
        let score = |(at, metric): (usize, &&'static Metric)| {
            let infinite = |values: &Vec<f64>| values.iter().any(|value| value.is_infinite());
            let plain = column(&halves, at);
            let smoothed = plain.as_ref().is_some_and(infinite);
            let half = if smoothed { column(&smooth, at) } else { plain };
            let spread = |values: Option<Vec<f64>>| values.and_then(|values| Spread::new(&values));
            let roots = |of: Option<[f64; 3]>| {
                let [mean, low, high] = of?.map(f64::sqrt);
                Some(Spread { mean, low, high })
            };
            let perfect = match metric.about.name {
                "entropy_spearman" => roots(reliability[0]),
                "entropy_pearson" => roots(reliability[1]),
                _ => spread(column(&perfect, at)),
            };
            CeilingScore { metric: metric.about.name, half: spread(half), smoothed, perfect }
        };
        let number: usize = votes.items.iter().map(Vec::len).sum();
        Ok(Self {
            items,
            left_out: counts.rows() - items,
            votes_per_item: number as f64 / items as f64,
            repeats: how.repeats,
            metrics: metrics.iter().enumerate().map(score).collect(),
            entropy: mean(truth.entropy()).unwrap_or_default(),
            bias: votes.bias(&shares, truth.entropy()),
            reliability_spearman: reliability[0].map(|[mean, ..]| mean),
            reliability_pearson: reliability[1].map(|[mean, ..]| mean),
        })
    }

    /// An entropy correlation as it would be with endless votes per item: divided by the root of the
    /// reliability. At most 1; `None` for any other metric.
    pub fn disattenuated(&self, metric: &str, value: f64) -> Option<f64> {
        let reliability = match metric {
            "entropy_spearman" => self.reliability_spearman?,
            "entropy_pearson" => self.reliability_pearson?,
            _ => return None,
        };
        Some((value / reliability.sqrt()).clamp(-1.0, 1.0))
    }
}

/// The votes of each item, one by one.
struct ItemVotes {
    items: Vec<Vec<usize>>,
    classes: usize,
}

impl ItemVotes {
    fn new(counts: Matrix<'_>) -> Result<Self, MeasureError> {
        let (classes, mut items) = (counts.columns(), Vec::new());
        let (mut row, mut all) = (vec![0.0; classes], 0.0);
        for at in 0..counts.rows() {
            counts.read_finite("votes", at, &mut row)?;
            all += row.iter().sum::<f64>();
            if all > MAX_VOTES_WRITTEN as f64 {
                let (name, expected) = ("the number of votes", "at most 268,435,456 to be divided");
                return Err(MeasureError::Setting { name, value: all.to_string(), expected });
            }
            let mut votes = Vec::new();
            for (class, &value) in row.iter().enumerate() {
                if value < 0.0 || value.fract() != 0.0 {
                    return Err(MeasureError::NotWhole { row: at, class, value });
                }
                votes.resize(votes.len() + value as usize, class);
            }
            if votes.len() > 1 {
                items.push(votes);
            }
        }
        Ok(Self { items, classes })
    }

    /// A row of counts for each item.
    fn matrix(&self, fill: impl Fn(&[usize], &mut [f64]) + Sync) -> Vec<f64> {
        let mut rows = vec![0.0; self.items.len() * self.classes];
        let each = rows.par_chunks_mut(self.classes).zip(&self.items);
        each.for_each(|(row, votes)| fill(votes, row));
        rows
    }

    /// Both halves of the votes of each item; the last vote of an odd number is in neither.
    fn halves(&self, seed: u64, repeat: usize) -> [Vec<f64>; 2] {
        let shuffled: Vec<Vec<usize>> = self
            .items
            .par_iter()
            .enumerate()
            .map(|(item, votes)| {
                let mut votes = votes.clone();
                Stream::new([seed, KEY], [item as u64, repeat as u64, 0]).shuffle(&mut votes);
                votes
            })
            .collect();
        let all = Self { items: shuffled, classes: self.classes };
        [0, 1].map(|which| {
            all.matrix(|votes, row| {
                let half = votes.len() / 2;
                let own = &votes[which * half..(which + 1) * half];
                own.iter().for_each(|&class| row[class] += 1.0);
            })
        })
    }

    /// As many votes of each item, drawn from their shares.
    fn drawn(&self, seed: u64, repeat: usize) -> Vec<f64> {
        let mut rows = vec![0.0; self.items.len() * self.classes];
        let each = rows.par_chunks_mut(self.classes).zip(&self.items).enumerate();
        each.for_each(|(item, (row, votes))| {
            let mut stream = Stream::new([seed, KEY], [item as u64, repeat as u64, 1]);
            votes.iter().for_each(|_| row[votes[stream.below(votes.len() as u64) as usize]] += 1.0);
        });
        rows
    }

    /// The mean over items of the jackknife's estimate of H(p) − E H(p̂).
    fn bias(&self, counts: &[f64], entropy: &[f64]) -> f64 {
        let term = |n: f64, m: f64| if n > 0.0 { -(n / m) * (n / m).ln() } else { 0.0 };
        let each = counts.chunks_exact(self.classes).zip(&self.items).zip(entropy);
        let bias = each.map(|((row, votes), entropy)| {
            let m = votes.len() as f64;
            // With a vote of one class left out: the other classes' terms, and its own.
            let rest: f64 = row.iter().map(|&n| term(n, m - 1.0)).sum();
            let without = |&n: &f64| n / m * (rest - term(n, m - 1.0) + term(n - 1.0, m - 1.0));
            let left_out: f64 = row.iter().filter(|n| **n > 0.0).map(without).sum();
            (m - 1.0) * (entropy - left_out)
        });
        mean(&bias.collect::<Vec<_>>()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;

    fn named(names: &[&str]) -> Vec<&'static Metric> {
        names.iter().map(|name| metric(name).unwrap()).collect()
    }

    /// Items of 20 votes from known distributions of three classes.
    fn known(items: usize, votes: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut truth, mut counts) = (Vec::new(), Vec::new());
        for item in 0..items {
            let mut stream = Stream::new([7, 7], [item as u64, 0, 0]);
            let draws = [stream.unit(), stream.unit(), stream.unit()].map(|u| -u.ln());
            let p = draws.map(|d| d / draws.iter().sum::<f64>());
            let mut row = [0.0; 3];
            for _ in 0..votes {
                let u = stream.unit();
                row[if u < p[0] { 0 } else { 1 + usize::from(u >= p[0] + p[1]) }] += 1.0;
            }
            truth.extend(p);
            counts.extend(row);
        }
        (truth, counts)
    }

    #[test]
    fn the_jackknife_by_hand() {
        // Three votes a, a, b: H = ln 3 − (2/3) ln 2; without an a ln 2, without the b 0.
        let counts = [2.0, 1.0];
        let ceiling = Ceiling::new(
            Matrix::new(&counts[..], 2).unwrap(),
            &[],
            Settings::default(),
            CeilingSettings::default(),
        );
        let entropy = 3f64.ln() - 2.0 / 3.0 * 2f64.ln();
        let expected = 2.0 * (entropy - 2.0 / 3.0 * 2f64.ln());
        let ceiling = ceiling.unwrap();
        assert!((ceiling.bias - expected).abs() < 1e-14, "{}", ceiling.bias);
        assert!((ceiling.entropy - entropy).abs() < 1e-14);
        assert_eq!(ceiling.reliability_pearson, None);
    }

    #[test]
    fn estimates_are_near_the_known_truth() {
        let (truth, counts) = known(4000, 20);
        let names = ["soft_nll", "kl", "accuracy", "entropy_spearman", "entropy_pearson"];
        let metrics = named(&names);
        let rows = Matrix::new(&counts[..], 3).unwrap();
        let how = CeilingSettings::default();
        let ceiling = Ceiling::new(rows, &metrics, Settings::default(), how).unwrap();
        let votes = Arc::new(Truth::new(Targets::Counts(rows)).unwrap());
        let perfect = ModelOutput::Probabilities(Matrix::new(&truth[..], 3).unwrap());
        let judged = Judged::new(votes, perfect).unwrap();
        let scorer = Scorer::new(&judged, Settings::default()).unwrap();
        let real: Vec<f64> =
            metrics.iter().map(|metric| (metric.compute)(&scorer).value.unwrap()).collect();
        // The true distributions have a KL to the votes that is the bias of the entropies.
        let entropies = |of: &Judged| mean(&of.entropy).unwrap();
        let bias = entropies(&judged) - ceiling.entropy;
        assert!((ceiling.bias - bias).abs() < 0.1 * bias, "{} {bias}", ceiling.bias);
        assert!((real[1] - bias).abs() < 0.1 * bias, "{} {bias}", real[1]);
        let close = |at: usize, within: f64| {
            let found = ceiling.metrics[at].perfect.unwrap();
            assert!(
                (found.mean - real[at]).abs() < within,
                "{}: {found:?} {}",
                names[at],
                real[at]
            );
        };
        close(1, 0.2 * real[1]);
        close(3, 0.03);
        close(4, 0.03);
        // People's halves are worse than a perfect model, and need smoothing where they are infinite.
        let half = |at: usize| ceiling.metrics[at].half.unwrap().mean;
        assert!(half(0) > real[0] && half(2) < real[2] && half(3) < real[3]);
        let smoothed: Vec<bool> = ceiling.metrics.iter().map(|score| score.smoothed).collect();
        assert_eq!(smoothed, [true, true, false, false, false]);
        // The truth's entropies correlate perfectly with themselves.
        for at in [3, 4] {
            let found = ceiling.disattenuated(names[at], real[at]).unwrap();
            assert!((found - 1.0).abs() < 0.02, "{}: {found}", names[at]);
        }
        assert_eq!(ceiling.disattenuated("kl", 0.5), None);
    }

    #[test]
    fn what_cannot_be_divided_is_left_out_or_refused() {
        let new = |counts: &[f64]| {
            let rows = Matrix::new(counts, 2).unwrap();
            let how = CeilingSettings { repeats: 2, ..CeilingSettings::default() };
            Ceiling::new(rows, &named(&["kl"]), Settings::default(), how)
        };
        let found = new(&[1.0, 0.0, 2.0, 3.0]).unwrap();
        assert_eq!((found.items, found.left_out, found.votes_per_item), (1, 1, 5.0));
        assert!(new(&[1.0, 0.0]).unwrap_err().to_string().contains("items with two votes"));
        assert!(matches!(new(&[0.5, 2.0]), Err(MeasureError::NotWhole { row: 0, class: 0, .. })));
        // A count that no memory holds one by one.
        let error = new(&[1.0, 4.0, 1e12, 0.0]).unwrap_err().to_string();
        assert!(error.contains("1000000000005") && error.contains("268,435,456"), "{error}");
        assert_eq!(new(&[1.0, 4.0, 2.0, 3.0]).unwrap(), new(&[1.0, 4.0, 2.0, 3.0]).unwrap());
    }
}
