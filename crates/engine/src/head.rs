//! The end of a network: how many outputs it has, by which loss they are trained, and which probabilities
//! they stand for.
//!
//! Everything that is predicted is one distribution over the classes per example, so that it can be stored,
//! compared with votes and scored in one way. It is given as class logits: numbers whose softmax it is.
//! Softmax outputs are class logits themselves. Sigmoid outputs say of each class by itself how probable it
//! is, and these probabilities need not sum to 1; their class logits are ln σ(z), whose softmax divides them
//! by their sum. Where votes have one label each, the outputs with the lowest loss sum to 1 already.
//! Nothing is lost: the exponential of such a class logit is σ(z) again.

use crate::losses::{Link, Loss, log_sigmoid};
use crate::scalar::Real;

/// The end of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// How many numbers it gives for an example: one per class.
    pub outputs: usize,
    /// What they are trained by.
    pub loss: Loss,
}

impl Head {
    /// Outputs as class logits.
    pub fn class_logits<F: Real>(self, mut outputs: Vec<F>) -> Vec<F> {
        match self.loss.link() {
            Link::Softmax => outputs,
            Link::Sigmoid => {
                outputs.iter_mut().for_each(|z| *z = log_sigmoid(*z));
                outputs
            }
        }
    }

    /// Class logits as probabilities of the classes, row by row.
    pub fn probabilities(self, class_logits: &[f32]) -> Vec<f64> {
        let row = |z: &[f32]| {
            let top = z.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let raised: Vec<f64> =
                z.iter().map(|&z| (f64::from(z) - f64::from(top)).exp()).collect();
            let sum: f64 = raised.iter().sum();
            raised.into_iter().map(move |v| v / sum)
        };
        class_logits.chunks_exact(self.outputs.max(1)).flat_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_outputs() {
        let outputs = vec![3f32.ln(), 0.0, -(3f32.ln()), 2.0, 2.0, 2.0];
        for loss in [Loss::CrossEntropy, Loss::Rps] {
            let head = Head { outputs: 3, loss };
            assert_eq!(head.class_logits(outputs.clone()), outputs);
        }
        let head = Head { outputs: 3, loss: Loss::BinaryCrossEntropy };
        let logits = head.class_logits(outputs);
        // Each by itself: 3/4, 1/2, 1/4; together they are divided by their sum.
        for (logit, wanted) in logits.iter().zip([0.75f32, 0.5, 0.25]) {
            assert!((logit.exp() - wanted).abs() < 1e-6, "{logits:?}");
        }
        let found = head.probabilities(&logits);
        for (found, wanted) in found.iter().zip([0.5, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 3.0]) {
            assert!((found - wanted).abs() < 1e-6, "{found}, not {wanted}");
        }
    }
}
