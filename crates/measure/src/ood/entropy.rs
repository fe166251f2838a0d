//! Predictive entropy.

use super::{Needs, OodScore, each_prediction};
use crate::entropy::Entropy;
use crate::{About, Direction};

const NAME: &str = "entropy";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        short: "entropy",
        title: "predictive entropy",
        formula: "−Σ_k q_k ln q_k",
        unit: "nats",
        direction: Direction::HigherIsOut,
        settings: "none. Needs logits or probabilities",
        reference: "Shannon, A mathematical theory of communication (1948); as a score of \
                    doubt: Lakshminarayanan, Pritzel and Blundell, Simple and scalable predictive \
                    uncertainty estimation using deep ensembles, NeurIPS 2017",
    },
    needs: Needs::Predictions,
    compute: |input, _| {
        each_prediction(input, NAME, |q, logarithms, _| {
            let mut sum = Entropy::default();
            let terms = q.iter().zip(logarithms).filter(|(q, _)| **q > 0.0);
            terms.for_each(|(&q, &ln_q)| sum.add(q, ln_q));
            sum.nats()
        })
    },
};
