//! How well a score tells items from outside from items from inside, ties counted exactly.
//!
//! An item is flagged where its score is at least a threshold; the curves have one point for each
//! distinct score, so that equal scores are flagged together.
//!
//! * AUROC: the probability that an outside item scores higher than an inside one, ties half.
//! * AUPR: average precision, Σ (R_j − R_(j−1)) P_j over the thresholds j, with the outside items
//!   (or the inside ones, by the negated score) as the positives. Not interpolated.
//! * FPR95: the smallest share of false positives among the thresholds with at least 95 % true
//!   positives. No interpolation; the bar is compared in whole numbers.
//!
//! Undefined (`None`) where either side has no items.

use rayon::prelude::*;
use serde::Serialize;

use super::{Interval, Intervals};
use crate::{About, Direction, MeasureError};

/// How well a score detects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Detection {
    /// Inside items.
    pub inside: usize,
    /// Outside items.
    pub outside: usize,
    /// Area under the ROC curve.
    pub auroc: Option<f64>,
    /// Average precision, outside items positive.
    pub aupr_out: Option<f64>,
    /// Average precision, inside items positive.
    pub aupr_in: Option<f64>,
    /// False positives where 95 % of the outside items are flagged.
    pub fpr95: Option<f64>,
    /// Outside items that pass where 95 % of the inside items pass.
    pub fpr95_in: Option<f64>,
}

/// A figure of a [`Detection`]: what it says about itself, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// In words.
    pub about: About,
    pub of: fn(&Detection) -> Option<f64>,
    pub interval: fn(&Intervals) -> Option<Interval>,
}

const SETTINGS: &str = "scores are higher = more out-of-distribution, and equal scores are flagged \
                        together. Undefined where either side is empty. Interval: 95 %, percentiles \
                        of a bootstrap of either side's items, replicates (1000 by default) and seed";

/// Every figure, in the order of the tables.
pub const FIGURES: &[Figure] = &[
    Figure {
        about: About {
            name: "auroc",
            short: "AUROC",
            title: "area under the ROC curve",
            formula: "P(s_out > s_in) + ½ P(s_out = s_in)",
            unit: "probability",
            direction: Direction::Higher,
            settings: "scores are higher = more out-of-distribution, and equal scores count half. \
                       Undefined where either side is empty. Interval: 95 %, by DeLong's variance \
                       on the logit scale",
            reference: "Hanley and McNeil, The meaning and use of the area under a ROC curve, \
                        Radiology 143 (1982); DeLong, DeLong and Clarke-Pearson, Biometrics 44 \
                        (1988)",
        },
        of: |detection| detection.auroc,
        interval: |intervals| intervals.auroc,
    },
    Figure {
        about: About {
            name: "aupr_out",
            short: "AUPR_OUT",
            title: "average precision, outside items positive",
            formula: "Σ_j (R_j − R_(j−1)) P_j over the distinct scores from the highest",
            unit: "probability",
            direction: Direction::Higher,
            settings: SETTINGS,
            reference: AUPR,
        },
        of: |detection| detection.aupr_out,
        interval: |intervals| intervals.aupr_out,
    },
    Figure {
        about: About {
            name: "aupr_in",
            short: "AUPR_IN",
            title: "average precision, inside items positive",
            formula: "Σ_j (R_j − R_(j−1)) P_j over the distinct scores from the lowest",
            unit: "probability",
            direction: Direction::Higher,
            settings: SETTINGS,
            reference: AUPR,
        },
        of: |detection| detection.aupr_in,
        interval: |intervals| intervals.aupr_in,
    },
    Figure {
        about: About {
            name: "fpr95",
            short: "FPR95",
            title: "false positives at 95 % true positives, outside items positive",
            formula: "least share of inside items flagged, where at least 95 % of the outside \
                      items are",
            unit: "share",
            direction: Direction::Lower,
            settings: SETTINGS,
            reference: "Yang et al., OpenOOD: benchmarking generalized out-of-distribution \
                        detection, NeurIPS 2022",
        },
        of: |detection| detection.fpr95,
        interval: |intervals| intervals.fpr95,
    },
    Figure {
        about: About {
            name: "fpr95_in",
            short: "FPR95_IN",
            title: "false positives at 95 % true positives, inside items positive",
            formula: "least share of outside items that pass, where at least 95 % of the inside \
                      items pass",
            unit: "share",
            direction: Direction::Lower,
            settings: SETTINGS,
            reference: "Liang, Li and Srikant, Enhancing the reliability of out-of-distribution \
                        image detection in neural networks, ICLR 2018",
        },
        of: |detection| detection.fpr95_in,
        interval: |intervals| intervals.fpr95_in,
    },
];

const AUPR: &str = "Davis and Goadrich, The relationship between precision-recall and ROC curves, \
                    ICML 2006";

/// Compares the scores of inside and of outside items. A NaN is an error that names its row.
pub fn detect(inside: &[f64], outside: &[f64]) -> Result<Detection, MeasureError> {
    let steps = steps(inside, outside)?;
    let (n_in, n_out) = (inside.len(), outside.len());
    let defined = n_in > 0 && n_out > 0;
    let flipped = || steps.iter().map(|&(inside, outside)| (outside, inside));
    let down = || steps.iter().rev().copied();
    Ok(Detection {
        inside: n_in,
        outside: n_out,
        auroc: defined.then(|| auroc(&steps, n_in, n_out)),
        aupr_out: defined.then(|| average_precision(down(), n_out)),
        aupr_in: defined.then(|| average_precision(flipped(), n_in)),
        fpr95: defined.then(|| false_positives(down(), n_in, n_out)),
        fpr95_in: defined.then(|| false_positives(flipped(), n_out, n_in)),
    })
}

/// How many (inside, outside) items have each distinct score, ascending.
pub(super) fn steps(inside: &[f64], outside: &[f64]) -> Result<Vec<(usize, usize)>, MeasureError> {
    for (what, scores) in [("scores of inside items", inside), ("scores of outside items", outside)]
    {
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(MeasureError::NotFinite { what, row, column: 0, value: scores[row] });
        }
    }
    let marked = |scores: &[f64], out| -> Vec<(f64, bool)> {
        // Adding 0 makes −0 a 0, which total_cmp would part from it.
        scores.iter().map(|score| (score + 0.0, out)).collect()
    };
    let mut all = [marked(inside, false), marked(outside, true)].concat();
    all.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let count = |run: &[(f64, bool)]| {
        let outside = run.iter().filter(|(_, out)| *out).count();
        (run.len() - outside, outside)
    };
    Ok(all.chunk_by(|a, b| a.0 == b.0).map(count).collect())
}

pub(super) fn auroc(steps: &[(usize, usize)], n_in: usize, n_out: usize) -> f64 {
    let (mut below, mut doubled) = (0u128, 0u128);
    for &(inside, outside) in steps {
        doubled += outside as u128 * (2 * below + inside as u128);
        below += inside as u128;
    }
    let all = 2 * n_in as u128 * n_out as u128;
    let (less, more) = (doubled.min(all - doubled), doubled > all - doubled);
    // The larger of the two areas is rounded and the other taken as what is left, which is exact:
    // with inside and outside exchanged, the area is one less this one to the last bit.
    let larger = 1.0 - less as f64 / all as f64;
    if more { larger } else { 1.0 - larger }
}

/// Of steps of (negatives, positives), the most suspicious first.
pub(super) fn average_precision(
    steps: impl Iterator<Item = (usize, usize)>,
    positives: usize,
) -> f64 {
    let (mut flagged, mut hits, mut sum) = (0usize, 0usize, 0.0);
    for (negative, positive) in steps {
        flagged += negative + positive;
        hits += positive;
        sum += positive as f64 * (hits as f64 / flagged as f64);
    }
    sum / positives as f64
}

pub(super) fn false_positives(
    steps: impl Iterator<Item = (usize, usize)>,
    negatives: usize,
    positives: usize,
) -> f64 {
    let (mut wrong, mut hits) = (0usize, 0usize);
    for (negative, positive) in steps {
        wrong += negative;
        hits += positive;
        if 100 * hits as u128 >= 95 * positives as u128 {
            break;
        }
    }
    wrong as f64 / negatives as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scikit-learn 1.9.1, numpy 2.4.6, reference/measure/small.py:
    ///
    /// ```python
    /// inside = np.array([0.1, 0.4, 0.35, 0.4, 0.2, 0.9, 0.0])
    /// outside = np.array([0.4, 0.8, 0.9, 0.35, 0.95])
    /// y, s = np.r_[np.zeros(7), np.ones(5)], np.r_[inside, outside]
    /// def fpr95(y, s):
    ///     fpr, tpr, _ = roc_curve(y, s, drop_intermediate=False)
    ///     return fpr[np.argmax(tpr >= 0.95)]
    /// print([roc_auc_score(y, s), average_precision_score(y, s),
    ///        average_precision_score(1 - y, -s), fpr95(y, s), fpr95(1 - y, -s)])
    /// ```
    #[test]
    fn as_scikit_learn() {
        let inside = [0.1, 0.4, 0.35, 0.4, 0.2, 0.9, 0.0];
        assert_near(&inside, &[0.4, 0.8, 0.9, 0.35, 0.95], SKLEARN);
    }

    /// The same figures of many ties:
    ///
    /// ```python
    /// u = uniform(5, 3000)
    /// inside, outside = np.floor(u[:2000] * 40), np.floor(u[2000:] * 40 + 6)
    /// ```
    #[test]
    fn as_scikit_learn_with_many_ties() {
        let u = crate::testing::uniform(5, 3000);
        let inside: Vec<f64> = u[..2000].iter().map(|u| (u * 40.0).floor()).collect();
        let outside: Vec<f64> = u[2000..].iter().map(|u| (u * 40.0 + 6.0).floor()).collect();
        assert_near(&inside, &outside, TIED);
    }

    fn assert_near(inside: &[f64], outside: &[f64], theirs: [f64; 5]) {
        let found = detect(inside, outside).unwrap();
        for (figure, theirs) in FIGURES.iter().zip(theirs) {
            let ours = (figure.of)(&found).unwrap();
            assert!((ours - theirs).abs() < 1e-14, "{}: {ours} {theirs}", figure.about.name);
        }
    }

    #[test]
    fn extremes_and_ties() {
        let apart = detect(&[0.0, 1.0], &[2.0, 3.0]).unwrap();
        assert_eq!((apart.auroc, apart.aupr_out, apart.fpr95), (Some(1.0), Some(1.0), Some(0.0)));
        let tied = detect(&[1.0; 30], &[1.0; 10]).unwrap();
        assert_eq!((tied.auroc, tied.aupr_out, tied.aupr_in), (Some(0.5), Some(0.25), Some(0.75)));
        assert_eq!((tied.fpr95, tied.fpr95_in), (Some(1.0), Some(1.0)));
        let zeros = detect(&[-0.0], &[0.0]).unwrap();
        assert_eq!(zeros.auroc, Some(0.5));
        let infinite = detect(&[f64::NEG_INFINITY], &[f64::INFINITY]).unwrap();
        assert_eq!(infinite.auroc, Some(1.0));
        let nobody = detect(&[], &[1.0]).unwrap();
        assert_eq!((nobody.auroc, nobody.fpr95), (None, None));
        assert!(detect(&[0.0], &[f64::NAN]).is_err());
    }

    /// 19 of 20 is 95 %, though 0.95 is not a binary fraction.
    #[test]
    fn the_bar_is_met_exactly() {
        let outside: Vec<f64> = (0..20).map(f64::from).collect();
        let found = detect(&[0.5, 1.5], &outside).unwrap();
        assert_eq!(found.fpr95, Some(0.5));
    }

    /// Inside and outside exchanged: what was above is below, to the last bit.
    #[test]
    fn exchanged_is_one_less() {
        for n in 1..60 {
            let u = crate::testing::uniform(n, 3 * n as usize + 2);
            let scores: Vec<f64> = u.iter().map(|u| (u * 9.0).floor()).collect();
            let (inside, outside) = scores.split_at(n as usize);
            let there = detect(inside, outside).unwrap().auroc.unwrap();
            let back = detect(outside, inside).unwrap().auroc.unwrap();
            assert_eq!((back, there), (1.0 - there, 1.0 - back));
        }
    }

    #[test]
    fn figures_are_complete() {
        crate::about::assert_complete(FIGURES.iter().map(|figure| &figure.about));
    }

    const SKLEARN: [f64; 5] =
        [0.8, 0.7087301587301588, 0.8480519480519481, 0.5714285714285714, 0.8];
    const TIED: [f64; 5] =
        [0.6343847499999999, 0.5211272407549327, 0.7868833330137841, 0.808, 0.811];
}
