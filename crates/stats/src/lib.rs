//! The statistics of dissensus: pure functions over plain slices, in f64.
//!
//! * [`paired`]: Wilcoxon signed-rank (exact, also with ties), paired t, sign test.
//! * [`unpaired`]: Welch's t test of two samples known by mean, standard deviation and count.
//! * [`smallest`]: the smallest p that a test can give for so many pairs.
//! * [`adjust`]: Holm and Benjamini–Hochberg over a family of tests.
//! * [`effect`]: Cohen's d_z, rank-biserial correlation, mean difference with its interval.
//! * [`bootstrap`]: percentile and BCa intervals over rows, groups or both.
//! * [`interval`]: intervals of a mean in closed form.
//! * [`correlation`]: Pearson, Spearman and partial Spearman.
//! * [`describe`]: mean, standard deviation, median, quantiles.
//! * [`special`]: the distribution functions behind the p values.
//!
//! Two things are kept apart. Input that makes no sense (nothing, NaN, an infinity, lengths that
//! differ, a setting out of range) is a [`StatsError`] that names what and where. Input that makes
//! sense but has no answer (a t test on equal differences) is a result whose number is `None` and
//! whose `undefined` says why, as an [`Undefined`]. Nothing here prints, panics or draws an
//! unseeded random number, and every result carries the settings that made it.
//!
//! ```
//! use dissensus_stats::paired::{WilcoxonSettings, differences, wilcoxon};
//! let soft = [0.61, 0.58, 0.64, 0.60, 0.59];
//! let hard = [0.70, 0.69, 0.71, 0.66, 0.72];
//! let test = wilcoxon(&differences(&soft, &hard)?, &WilcoxonSettings::default())?;
//! assert_eq!(test.p, Some(0.0625));
//! # Ok::<(), dissensus_stats::StatsError>(())
//! ```

pub mod adjust;
mod alternative;
pub mod bootstrap;
mod check;
pub mod correlation;
pub mod describe;
pub mod effect;
mod error;
pub mod interval;
pub mod paired;
mod ranks;
pub mod smallest;
pub mod special;
pub mod unpaired;

/// The level below which a p value is called significant, where nothing else is said.
pub const LEVEL: f64 = 0.05;

pub use alternative::Alternative;
pub use error::{StatsError, Undefined};
