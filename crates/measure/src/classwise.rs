//! The predictions class by class: means, Brier score and its parts, calibration errors.
//!
//! For class k over N items, forecasts q_i, human probabilities p_i, and B bins of equal width by
//! q_i (bin b has n_b items, means q̄_b and p̄_b), the Brier score splits exactly:
//!
//! ```text
//! mean (q − p)²  =  reliability − resolution + uncertainty + within
//! reliability    =  Σ_b n_b/N (q̄_b − p̄_b)²
//! resolution     =  Σ_b n_b/N (p̄_b − p̄)²
//! uncertainty    =  mean (p − p̄)²            (p̄ (1 − p̄) where every p is 0 or 1)
//! within         =  within-bin variance of q − 2 × within-bin covariance of q and p
//! ```
//!
//! Murphy, *A new vector partition of the probability score* (1973); the last line is what bins of
//! forecasts that differ leave over: Stephenson, Coelho and Jolliffe, *Two extra components in the
//! Brier score decomposition* (2008). Here the outcome is a share of votes and not 0 or 1, which
//! changes nothing but the uncertainty's short form. Summed over the classes, the left side is the
//! soft Brier score.
//!
//! Memory: at most 17 tables of 32 K B bytes.

use rayon::prelude::*;
use serde::Serialize;

use crate::reliability::bin_of;
use crate::sums::{add, wide_chunk};
use crate::{Judged, Scorer};

/// One class in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClassView {
    /// The parts of its Brier score, mean (q − p)².
    pub(crate) parts: BrierParts,
    /// Its calibration error (equal width) against being the majority label.
    pub(crate) ece: f64,
    /// Its calibration error (equal width) against its human probability.
    pub(crate) ece_human: f64,
}

/// A Brier score in parts: reliability − resolution + uncertainty + within.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BrierParts {
    /// How far bins of forecasts are from what happened in them; lower is better.
    pub reliability: f64,
    /// How far what happened in the bins is from the overall mean; higher is better.
    pub resolution: f64,
    /// How much the outcome varies, whatever is forecast.
    pub uncertainty: f64,
    /// What differing forecasts within one bin leave over.
    pub within: f64,
}

impl BrierParts {
    /// The score that the parts make up.
    pub fn total(&self) -> f64 {
        self.reliability - self.resolution + self.uncertainty + self.within
    }
}

impl Scorer<'_> {
    /// Every class in numbers, in their order; empty without items.
    pub(crate) fn classes(&self) -> Vec<ClassView> {
        self.totals().views()
    }

    /// The soft Brier score in parts, summed over the classes; `None` without items.
    pub fn brier_parts(&self) -> Option<BrierParts> {
        let sum = |sum: BrierParts, view: &ClassView| BrierParts {
            reliability: sum.reliability + view.parts.reliability,
            resolution: sum.resolution + view.parts.resolution,
            uncertainty: sum.uncertainty + view.parts.uncertainty,
            within: sum.within + view.parts.within,
        };
        let views = self.classes();
        (!views.is_empty()).then(|| views.iter().fold(BrierParts::default(), sum))
    }
}

/// Sums over all items, by class and bin.
pub(crate) struct ClassTotals {
    items: usize,
    bins: usize,
    /// Items, Σ q, Σ p, Σ [majority] of each bin of each class.
    cells: Vec<f64>,
    /// Σ q², Σ p², Σ q p of each class.
    squares: Vec<f64>,
}

impl ClassTotals {
    pub(crate) fn new(judged: &Judged, bins: usize) -> Self {
        let truth = judged.truth();
        let (items, classes) = (judged.len(), truth.classes());
        let chunk = wide_chunk(items);
        let empty = || (vec![0.0; 4 * classes * bins], vec![0.0; 3 * classes]);
        let parts: Vec<_> = judged
            .predictions()
            .par_chunks(chunk * classes)
            .zip(truth.targets().par_chunks(chunk * classes))
            .zip(truth.majority().par_chunks(chunk))
            .map(|((q, p), majority)| {
                let (mut cells, mut squares) = empty();
                let rows = q.chunks_exact(classes).zip(p.chunks_exact(classes)).zip(majority);
                for ((q, p), &majority) in rows {
                    for (class, (&q, &p)) in q.iter().zip(p).enumerate() {
                        let at = 4 * (class * bins + bin_of(q, bins));
                        let hit = f64::from(majority as usize == class);
                        add(&mut cells[at..at + 4], &[1.0, q, p, hit]);
                        add(&mut squares[3 * class..3 * class + 3], &[q * q, p * p, q * p]);
                    }
                }
                (cells, squares)
            })
            .collect();
        let (mut cells, mut squares) = empty();
        for (part, part_squares) in parts {
            add(&mut cells, &part);
            add(&mut squares, &part_squares);
        }
        Self { items, bins, cells, squares }
    }

    fn views(&self) -> Vec<ClassView> {
        if self.items == 0 {
            return Vec::new();
        }
        let classes = self.cells.chunks_exact(4 * self.bins).zip(self.squares.chunks_exact(3));
        classes.map(|(cells, squares)| view(self.items as f64, cells, squares)).collect()
    }
}

fn view(n: f64, cells: &[f64], squares: &[f64]) -> ClassView {
    let bins = || cells.chunks_exact(4).filter(|cell| cell[0] > 0.0);
    let mean_human = bins().map(|cell| cell[2]).sum::<f64>() / n;
    // The mean over items of a function of their bin's (mean q, mean p, share of majority).
    let over_bins = |of: &dyn Fn(f64, f64, f64) -> f64| {
        let each =
            |cell: &[f64]| cell[0] * of(cell[1] / cell[0], cell[2] / cell[0], cell[3] / cell[0]);
        bins().map(each).sum::<f64>() / n
    };
    let [qq, pp, qp] = [0, 1, 2].map(|at| squares[at] / n);
    let variance_within = qq - over_bins(&|q, _, _| q * q);
    let covariance_within = qp - over_bins(&|q, p, _| q * p);
    let parts = BrierParts {
        reliability: over_bins(&|q, p, _| (q - p) * (q - p)),
        resolution: over_bins(&|_, p, _| (p - mean_human) * (p - mean_human)),
        uncertainty: (pp - mean_human * mean_human).max(0.0),
        within: variance_within - 2.0 * covariance_within,
    };
    ClassView {
        parts,
        ece: over_bins(&|q, _, hit| (q - hit).abs()),
        ece_human: over_bins(&|q, p, _| (q - p).abs()),
    }
}

#[cfg(test)]
mod tests;
