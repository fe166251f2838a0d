//! Maximum softmax probability, negated so that uncertain predictions score high.

use super::{Needs, OodScore, each_prediction};
use crate::{About, Direction};

const NAME: &str = "msp";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        short: "MSP",
        title: "maximum softmax probability, negated",
        formula: "−max_k q_k",
        unit: "probability",
        direction: Direction::HigherIsOut,
        settings: "none. Needs logits or probabilities",
        reference: "Hendrycks and Gimpel, A baseline for detecting misclassified and \
                    out-of-distribution examples in neural networks, ICLR 2017",
    },
    needs: Needs::Predictions,
    compute: |input, _| each_prediction(input, NAME, |q, _, class| -q[class]),
};
