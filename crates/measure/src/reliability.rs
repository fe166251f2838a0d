//! Reliability curves over bins, and the expected calibration error they amount to.
//!
//! `ECE = Σ_b (n_b / N) |mean confidence in b − mean outcome in b|`.
//!
//! * Equal width: bin b of B holds the confidences in [b / B, (b + 1) / B); 1 belongs to the last.
//! * Equal mass: the sorted confidences are cut as numpy's `array_split` does (the first N mod B
//!   bins have one item more). A cut never parts equal confidences: it moves up to the end of
//!   their run, and bins left empty drop out. So the order of the items does not matter.
//!
//! The bins are made over all items at once.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use dissensus_stats::special::normal_sf;

use crate::order::cuts;
use crate::sums::wide_chunk;
use crate::{Against, Scorer};

/// How confidences are put into bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binning {
    /// As many items in each.
    Mass,
    /// As wide as each other.
    Width,
}

/// One bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Where it begins: its edge for equal width, its smallest confidence for equal mass.
    pub lower: f64,
    /// Where it ends: its edge for equal width, its largest confidence for equal mass.
    pub upper: f64,
    /// How many items it has.
    pub items: usize,
    /// Their mean confidence.
    pub confidence: f64,
    /// The mean of what the confidence is held against.
    pub outcome: f64,
}

impl Scorer<'_> {
    /// The reliability curve, by ascending confidence; bins without items are left out.
    pub fn reliability(&self, binning: Binning, against: Against) -> Vec<Bin> {
        let (confidence, outcome) = (&self.judged.confidence, self.outcome(against));
        match binning {
            Binning::Width => width(confidence, outcome, self.settings.bins),
            Binning::Mass => mass(confidence, outcome, self.settings.bins, self.order()),
        }
    }
}

/// The formula of a debiased calibration error.
pub(crate) const DEBIASED: &str = "Σ_b n_b/N (|d_b| − s_b (E|Z + d_b/s_b| − |d_b/s_b|)), not below 0; d_b = mean (f − y) in \
                                   bin b, s_b its standard error, Z standard normal";
pub(crate) const DEBIASED_SETTINGS: &str = "bins, as for the error itself. A bin of one item is not corrected. What remains of \
                                            the bias is largest where the predictions are calibrated";
pub(crate) const DEBIASED_REFERENCE: &str = "Kumar, Liang and Ma, Verified uncertainty calibration, NeurIPS 2019 (the expected \
                                             size of a gap under normal noise, here in closed form)";

/// Items of a bin, and the sum of their gaps f − y and of the squares of these.
#[derive(Clone, Copy, Default)]
struct Gaps {
    items: usize,
    sum: f64,
    squares: f64,
}

impl Gaps {
    fn add(&mut self, gap: f64) {
        self.items += 1;
        self.sum += gap;
        self.squares += gap * gap;
    }

    /// The size of the mean gap, less what chance is expected to add to it.
    fn debiased(&self) -> f64 {
        let n = self.items as f64;
        let gap = (self.sum / n).abs();
        let variance = (self.squares - n * gap * gap) / (n * (n - 1.0));
        let error = variance.max(0.0).sqrt();
        if self.items < 2 || error <= f64::EPSILON * gap {
            return gap;
        }
        let t = gap / error;
        let density = std::f64::consts::FRAC_2_PI.sqrt() * (-t * t / 2.0).exp();
        gap - error * (density - 2.0 * t * normal_sf(t))
    }
}

impl Scorer<'_> {
    /// The calibration error less what chance is expected to add to it, not below 0; `None` without items.
    pub(crate) fn debiased_error(&self, binning: Binning, against: Against) -> Option<f64> {
        let (confidence, outcome) = (&self.judged.confidence, self.outcome(against));
        let mut bins = vec![Gaps::default(); self.settings.bins];
        match binning {
            Binning::Width => {
                for (&f, &y) in confidence.iter().zip(outcome) {
                    bins[bin_of(f, self.settings.bins)].add(f - y);
                }
            }
            Binning::Mass => {
                let order = self.order();
                let equal = |a: usize, b: usize| confidence[order[a]] == confidence[order[b]];
                let mut start = 0;
                for (bin, end) in bins.iter_mut().zip(cuts(order.len(), self.settings.bins, equal))
                {
                    order[start..end].iter().for_each(|&at| bin.add(confidence[at] - outcome[at]));
                    start = end;
                }
            }
        }
        let items = confidence.len() as f64;
        let found = bins.iter().filter(|bin| bin.items > 0);
        let error = found.map(|bin| bin.items as f64 * bin.debiased()).sum::<f64>() / items;
        (!confidence.is_empty()).then(|| error.max(0.0))
    }
}

/// The calibration error of a curve; `None` of an empty one.
pub fn calibration_error(curve: &[Bin]) -> Option<f64> {
    let items: usize = curve.iter().map(|bin| bin.items).sum();
    let gaps = curve.iter().map(|bin| bin.items as f64 * (bin.confidence - bin.outcome).abs());
    (items > 0).then(|| gaps.sum::<f64>() / items as f64)
}

/// The bin of a value from 0 to 1.
#[inline]
pub(crate) fn bin_of(value: f64, bins: usize) -> usize {
    ((value * bins as f64) as usize).min(bins - 1)
}

fn width(confidence: &[f64], outcome: &[f64], bins: usize) -> Vec<Bin> {
    let chunk = wide_chunk(confidence.len());
    let parts: Vec<Vec<(usize, f64, f64)>> = confidence
        .par_chunks(chunk)
        .zip(outcome.par_chunks(chunk))
        .map(|(confidence, outcome)| {
            let mut part = vec![(0, 0.0, 0.0); bins];
            for (&c, &y) in confidence.iter().zip(outcome) {
                let cell = &mut part[bin_of(c, bins)];
                *cell = (cell.0 + 1, cell.1 + c, cell.2 + y);
            }
            part
        })
        .collect();
    (0..bins)
        .filter_map(|bin| {
            let add = |sum: (usize, f64, f64), part: &Vec<(usize, f64, f64)>| {
                (sum.0 + part[bin].0, sum.1 + part[bin].1, sum.2 + part[bin].2)
            };
            let (items, confidence, outcome) = parts.iter().fold((0, 0.0, 0.0), add);
            let n = items as f64;
            (items > 0).then(|| Bin {
                lower: bin as f64 / bins as f64,
                upper: (bin + 1) as f64 / bins as f64,
                items,
                confidence: confidence / n,
                outcome: outcome / n,
            })
        })
        .collect()
}

fn mass(confidence: &[f64], outcome: &[f64], bins: usize, order: &[usize]) -> Vec<Bin> {
    let ends = cuts(order.len(), bins, |a, b| confidence[order[a]] == confidence[order[b]]);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let ranges: Vec<_> = starts.zip(ends.iter().copied()).collect();
    let of = |&(start, end): &(usize, usize)| {
        let members = &order[start..end];
        let n = members.len() as f64;
        Bin {
            lower: confidence[order[start]],
            upper: confidence[order[end - 1]],
            items: members.len(),
            confidence: members.iter().map(|&at| confidence[at]).sum::<f64>() / n,
            outcome: members.iter().map(|&at| outcome[at]).sum::<f64>() / n,
        }
    };
    ranges.par_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::ascending;

    const CONFIDENCE: [f64; 6] = [0.55, 0.95, 0.75, 0.75, 1.0, 0.5];
    const OUTCOME: [f64; 6] = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0];

    #[test]
    fn equal_width_by_hand() {
        let curve = width(&CONFIDENCE, &OUTCOME, 4);
        assert_eq!(curve.iter().map(|bin| bin.items).collect::<Vec<_>>(), [2, 4]);
        assert_eq!((curve[0].lower, curve[0].upper, curve[0].outcome), (0.5, 0.75, 0.5));
        assert_eq!((curve[1].upper, curve[1].outcome), (1.0, 0.75));
        let error = calibration_error(&curve).unwrap();
        assert!((error - (2.0 * 0.025 + 4.0 * 0.1125) / 6.0).abs() < 1e-15, "{error}");
    }

    #[test]
    fn equal_mass_keeps_ties_together() {
        let order = ascending(&CONFIDENCE);
        let sizes = |bins| -> Vec<usize> {
            mass(&CONFIDENCE, &OUTCOME, bins, &order).iter().map(|bin| bin.items).collect()
        };
        assert_eq!(sizes(3), [2, 2, 2]);
        assert_eq!(sizes(2), [4, 2]);
        assert_eq!(sizes(15), [1, 1, 2, 1, 1]);
        let ties = [0.5; 6];
        let curve = mass(&ties, &OUTCOME, 3, &ascending(&ties));
        assert_eq!((curve.len(), curve[0].items), (1, 6));
        assert!((calibration_error(&curve).unwrap() - 1.0 / 6.0).abs() < 1e-15);
    }

    /// numpy and scipy: `d - s * (sqrt(2 / pi) * exp(-t**2 / 2) - 2 * t * norm.sf(t))`, with
    /// `s = std(ddof=1) / sqrt(n)` of the gaps of each bin.
    #[test]
    fn debiased_by_hand() {
        let gaps = |values: &[f64]| {
            let mut bin = Gaps::default();
            values.iter().for_each(|gap| bin.add(*gap));
            bin.debiased()
        };
        assert!((gaps(&[0.2, -0.1, 0.4, 0.05]) - DEBIASED_GAP).abs() < 1e-14);
        assert_eq!(gaps(&[-0.3]), 0.3);
        assert!((gaps(&[0.3, 0.3, 0.3]) - 0.3).abs() < 1e-15);
        assert!(gaps(&[0.5, -0.5]) < 0.0);
    }

    const DEBIASED_GAP: f64 = 0.1275128888259995;

    #[test]
    fn nothing_has_no_error() {
        assert_eq!(calibration_error(&width(&[], &[], 15)), None);
        assert_eq!(calibration_error(&mass(&[], &[], 15, &[])), None);
    }
}
