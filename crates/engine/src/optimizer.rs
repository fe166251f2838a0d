//! Optimizers, with the update rules of PyTorch.
//!
//! | | rule |
//! |---|---|
//! | `sgd` | g ← g + decay·w; v ← momentum·v + g; w ← w − rate·v; Nesterov: w ← w − rate·(g + momentum·v) |
//! | `adam` | g ← g + decay·w; m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; w ← w − rate·m̂ / (√v̂ + ε) |

use serde::{Deserialize, Serialize};

/// An optimizer with its settings; the learning rate comes with every epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
pub enum Optimizer {
    /// Stochastic gradient descent with momentum.
    Sgd {
        /// How much of the last step is taken again.
        momentum: f64,
        /// Whether the step looks ahead along the momentum.
        nesterov: bool,
        /// L2 penalty, on every parameter.
        weight_decay: f64,
    },
    /// Adam, with the L2 penalty in the gradient.
    Adam {
        /// Decay of the mean of gradients.
        beta1: f64,
        /// Decay of the mean of squares.
        beta2: f64,
        /// Added to the root of the mean of squares.
        epsilon: f64,
        /// L2 penalty, on every parameter.
        weight_decay: f64,
    },
}

impl Optimizer {
    /// The names of the vectors it remembers between steps, each as long as the parameters.
    pub fn slots(&self) -> &'static [&'static str] {
        match self {
            Self::Sgd { momentum, .. } if *momentum == 0.0 => &[],
            Self::Sgd { .. } => &["momentum"],
            Self::Adam { .. } => &["mean", "square"],
        }
    }
}
