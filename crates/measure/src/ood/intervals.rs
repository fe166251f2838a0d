//! How far the figures of a detection would move with other items of the same kind: 95 % intervals.
//!
//! AUROC has DeLong's; the others, whose variance has no such form, a bootstrap of either side's
//! items. Neither says anything of other training seeds.

use serde::Serialize;

use super::OodSettings;
use super::bootstrap::bootstrap;
use super::delong::delong;
use super::detection::steps;
use crate::MeasureError;

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// DeLong's standard error, or the standard deviation of the replicates.
    pub standard_error: f64,
}

/// The intervals of a [`Detection`](super::Detection), by the names of its figures.
///
/// `None` with fewer than two items on either side. AUROC has none either where it is 0 or 1, and
/// the others where no replicates are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Intervals {
    /// Of the area under the ROC curve.
    pub auroc: Option<Interval>,
    /// Of the average precision, outside items positive.
    pub aupr_out: Option<Interval>,
    /// Of the average precision, inside items positive.
    pub aupr_in: Option<Interval>,
    /// Of the false positives where 95 % of the outside items are flagged.
    pub fpr95: Option<Interval>,
    /// Of the outside items that pass where 95 % of the inside items pass.
    pub fpr95_in: Option<Interval>,
}

/// The intervals of the figures that [`detect`](super::detect) gives. A NaN is an error that names
/// its row.
pub fn intervals(
    inside: &[f64],
    outside: &[f64],
    settings: &OodSettings,
) -> Result<Intervals, MeasureError> {
    let steps = steps(inside, outside)?;
    let (n_in, n_out) = (inside.len(), outside.len());
    let drawn = bootstrap(&steps, n_in, n_out, settings.replicates, settings.seed);
    let [aupr_out, aupr_in, fpr95, fpr95_in] = match drawn {
        Some(drawn) => drawn.map(Some),
        None => [None; 4],
    };
    Ok(Intervals { auroc: delong(&steps, n_in, n_out), aupr_out, aupr_in, fpr95, fpr95_in })
}
