//! Learning rates over epochs, as PyTorch's schedulers give them when stepped once an epoch.
//!
//! | | rate in epoch t of T |
//! |---|---|
//! | `constant` | r |
//! | `cosine` | r·(1 + cos(π·t/T)) / 2 |
//! | `plateau` | r, times `factor` whenever the watched value has not improved for more than `patience` epochs |

use serde::{Deserialize, Serialize};

/// A schedule with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
pub enum Schedule {
    /// The same rate all along.
    Constant,
    /// Half a cosine, from the full rate to 0 after the last epoch.
    Cosine,
    /// Lower whenever progress stops (ReduceLROnPlateau).
    Plateau {
        /// What the rate is multiplied by.
        factor: f64,
        /// Epochs without progress that are waited for.
        patience: u64,
        /// A value below (1 − threshold)·best is progress.
        threshold: f64,
        /// The rate goes no lower.
        minimum: f64,
    },
}

/// A schedule on its way; what it remembers goes into checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    schedule: Schedule,
    start: f64,
    epochs: u64,
    rate: f64,
    best: Option<f64>,
    waited: u64,
}

impl Rates {
    /// The schedule from the first epoch.
    pub fn new(schedule: Schedule, rate: f64, epochs: u64) -> Self {
        Self { schedule, start: rate, epochs, rate, best: None, waited: 0 }
    }

    /// The rate in this epoch (from 0).
    pub fn rate(&self, epoch: u64) -> f64 {
        match self.schedule {
            Schedule::Constant => self.start,
            Schedule::Cosine => {
                let share = epoch as f64 / self.epochs.max(1) as f64;
                self.start * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * share))
            }
            Schedule::Plateau { .. } => self.rate,
        }
    }

    /// Takes note of the watched value (lower is better) after an epoch.
    pub fn watch(&mut self, value: f64) {
        let Schedule::Plateau { factor, patience, threshold, minimum } = self.schedule else {
            return;
        };
        // A value below 0 must grow more negative to be better, whatever its sign.
        let bar = self.best.map(|best| best - threshold * best.abs());
        if bar.is_none_or(|bar| value < bar) && !value.is_nan() {
            (self.best, self.waited) = (Some(value), 0);
            return;
        }
        self.waited += 1;
        if self.waited > patience {
            self.waited = 0;
            let lower = (self.rate * factor).max(minimum);
            // PyTorch leaves the rate alone when it would hardly change.
            if self.rate - lower > 1e-8 {
                self.rate = lower;
            }
        }
    }
}
