//! Predictions q beside what people said, p, and everything about a single item, in one pass.
//!
//! With natural logarithms, `0 ln 0 = 0`, and `m = (p + q) / 2`:
//!
//! | column | an item's value |
//! |---|---|
//! | soft NLL | −Σ p_k ln q_k |
//! | KL | Σ p_k ln(p_k / q_k) |
//! | Brier | Σ (q_k − p_k)² |
//! | Jensen–Shannon distance | √(½ Σ p_k ln(p_k / m_k) + ½ Σ q_k ln(q_k / m_k)) |
//! | total variation | ½ Σ \|q_k − p_k\| |
//! | entropy | −Σ q_k ln q_k |
//! | predicted class | the class of the largest q_k, of equals the first |
//! | confidence, human | q and p at the predicted class |
//! | correct | 1 where the predicted class is the majority label, else 0 |
//!
//! From logits, ln q comes from the logits and is finite even where q underflows; a given
//! probability of 0 where somebody voted makes soft NLL and KL infinite.
//! Memory: 8 (K + 9) + 4 bytes per item beside the [`Truth`].

use std::sync::Arc;

use rayon::prelude::*;

use crate::compare::compare;
use crate::softmax::softmax;
use crate::sums::CHUNK;
use crate::truth::{distribution, gather, gather_rows, size, top};
use crate::{Matrix, MeasureError, Truth};

/// What a model predicts, one row per item, one column per class.
#[derive(Clone, Copy, Debug)]
pub enum ModelOutput<'a> {
    /// Scores before the softmax; all finite.
    Logits(Matrix<'a>),
    /// Distributions, checked.
    Probabilities(Matrix<'a>),
}

/// Predictions judged item by item.
#[derive(Clone, Debug)]
pub struct Judged {
    truth: Arc<Truth>,
    predictions: Vec<f64>,
    pub(crate) predicted: Vec<u32>,
    pub(crate) confidence: Vec<f64>,
    pub(crate) human: Vec<f64>,
    pub(crate) correct: Vec<f64>,
    pub(crate) entropy: Vec<f64>,
    pub(crate) nll: Vec<f64>,
    pub(crate) kl: Vec<f64>,
    pub(crate) brier: Vec<f64>,
    pub(crate) js: Vec<f64>,
    pub(crate) variation: Vec<f64>,
}

impl Judged {
    /// Checks the predictions and compares them with what people said.
    pub fn new(truth: Arc<Truth>, predictions: ModelOutput<'_>) -> Result<Self, MeasureError> {
        let (ModelOutput::Logits(matrix) | ModelOutput::Probabilities(matrix)) = predictions;
        let (rows, classes) = (truth.len(), truth.classes());
        size("classes of the predictions", matrix.columns(), classes)?;
        size("rows of the predictions", matrix.rows(), rows)?;
        let column = || vec![0.0; rows];
        let mut all = vec![0.0; rows * classes];
        let mut predicted = vec![0u32; rows];
        let [mut confidence, mut human, mut correct] = [column(), column(), column()];
        let [mut entropy, mut nll, mut kl] = [column(), column(), column()];
        let [mut brier, mut js, mut variation] = [column(), column(), column()];
        (
            all.par_chunks_mut(CHUNK * classes),
            predicted.par_chunks_mut(CHUNK),
            confidence.par_chunks_mut(CHUNK),
            human.par_chunks_mut(CHUNK),
            correct.par_chunks_mut(CHUNK),
            entropy.par_chunks_mut(CHUNK),
            nll.par_chunks_mut(CHUNK),
            kl.par_chunks_mut(CHUNK),
            brier.par_chunks_mut(CHUNK),
            js.par_chunks_mut(CHUNK),
            variation.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .map(|(chunk, columns)| {
                let (q, predicted, confidence, human, correct, entropy, nll, kl, brier, js, tv) =
                    columns;
                let (mut logarithms, mut scratch) = (vec![0.0; classes], vec![0; classes]);
                for (at, q) in q.chunks_exact_mut(classes).enumerate() {
                    let row = chunk * CHUNK + at;
                    let p = &truth.targets()[row * classes..(row + 1) * classes];
                    let class = read(predictions, row, q, &mut logarithms)?;
                    let item = compare(p, q, &logarithms, &mut scratch);
                    predicted[at] = class as u32;
                    (confidence[at], human[at]) = (q[class], p[class]);
                    correct[at] = f64::from(truth.majority()[row] == class as u32);
                    (entropy[at], nll[at], kl[at]) = (item.entropy, item.nll, item.kl);
                    (brier[at], js[at], tv[at]) = (item.brier, item.js, item.variation);
                }
                Ok(())
            })
            // In order, so that the first bad row is the one named.
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<(), MeasureError>>()?;
        let predictions = all;
        Ok(Self {
            truth,
            predictions,
            predicted,
            confidence,
            human,
            correct,
            entropy,
            nll,
            kl,
            brier,
            js,
            variation,
        })
    }

    /// These items, in this order; an item may come more than once. For slices and the bootstrap.
    pub fn select(&self, items: &[usize]) -> Result<Self, MeasureError> {
        let truth = Arc::new(self.truth.select(items)?);
        Ok(Self {
            predictions: gather_rows(&self.predictions, truth.classes(), items),
            truth,
            predicted: gather(&self.predicted, items),
            confidence: gather(&self.confidence, items),
            human: gather(&self.human, items),
            correct: gather(&self.correct, items),
            entropy: gather(&self.entropy, items),
            nll: gather(&self.nll, items),
            kl: gather(&self.kl, items),
            brier: gather(&self.brier, items),
            js: gather(&self.js, items),
            variation: gather(&self.variation, items),
        })
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.truth.len()
    }

    pub fn is_empty(&self) -> bool {
        self.truth.is_empty()
    }

    pub fn truth(&self) -> &Arc<Truth> {
        &self.truth
    }

    /// The predicted probabilities, row by row.
    pub fn predictions(&self) -> &[f64] {
        &self.predictions
    }

    /// The predicted class of each item.
    pub fn predicted(&self) -> &[u32] {
        &self.predicted
    }

    /// The probability of the predicted class.
    pub fn confidence(&self) -> &[f64] {
        &self.confidence
    }

    /// The share of the votes for the predicted class.
    pub fn human(&self) -> &[f64] {
        &self.human
    }

    /// The entropy of each prediction, in nats.
    pub fn entropy(&self) -> &[f64] {
        &self.entropy
    }
}

/// Puts the probabilities of a row and their logarithms in place; returns the predicted class.
pub(crate) fn read(
    predictions: ModelOutput<'_>,
    row: usize,
    q: &mut [f64],
    logarithms: &mut [f64],
) -> Result<usize, MeasureError> {
    match predictions {
        ModelOutput::Logits(matrix) => {
            matrix.read_finite("logits", row, q)?;
            let class = top(q);
            softmax(q, q[class], logarithms);
            Ok(class)
        }
        ModelOutput::Probabilities(matrix) => {
            matrix.read(row, q);
            if !distribution("predictions", row, q)? {
                let source = dissensus_core::DistributionError::Sum { sum: 0.0 };
                return Err(MeasureError::NotDistribution { what: "predictions", row, source });
            }
            logarithms.iter_mut().zip(&*q).for_each(|(to, q)| *to = q.ln());
            Ok(top(q))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Targets;

    fn judged(counts: &[f64], predictions: ModelOutput<'_>) -> Result<Judged, MeasureError> {
        let targets = Targets::Counts(Matrix::new(counts, 2).unwrap());
        Judged::new(Arc::new(Truth::new(targets).unwrap()), predictions)
    }

    #[test]
    fn what_is_wrong_is_named() {
        let counts = [1.0, 1.0, 0.0, 2.0];
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let rows = [0.0, 1.0, value, 1.0];
            let logits = ModelOutput::Logits(Matrix::new(&rows[..], 2).unwrap());
            let error = judged(&counts, logits).unwrap_err().to_string();
            assert!(error.starts_with("logits, row 1, column 0"), "{error}");
        }
        for rows in [[0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.5, f64::NAN], [0.5, 0.5, 0.7, 0.7]] {
            let rows = ModelOutput::Probabilities(Matrix::new(&rows[..], 2).unwrap());
            let error = judged(&counts, rows).unwrap_err();
            assert!(matches!(error, MeasureError::NotDistribution { row: 1, .. }), "{error}");
        }
        let short = ModelOutput::Logits(Matrix::new(&counts[..2], 2).unwrap());
        assert!(matches!(judged(&counts, short), Err(MeasureError::Size { found: 1, .. })));
        let wide = ModelOutput::Logits(Matrix::new(&counts[..], 4).unwrap());
        assert!(matches!(judged(&counts, wide), Err(MeasureError::Size { found: 4, .. })));
    }

    #[test]
    fn infinite_from_probabilities_and_finite_from_logits() {
        let counts = [1.0, 1.0, 0.0, 2.0];
        let rows = [1.0, 0.0, 0.0, 1.0];
        let given = ModelOutput::Probabilities(Matrix::new(&rows[..], 2).unwrap());
        let given = judged(&counts, given).unwrap();
        assert_eq!(given.nll, [f64::INFINITY, 0.0]);
        assert_eq!(given.kl, [f64::INFINITY, 0.0]);
        let rows = [1000.0, 0.0, -1000.0, 0.0];
        let logits = ModelOutput::Logits(Matrix::new(&rows[..], 2).unwrap());
        let logits = judged(&counts, logits).unwrap();
        assert_eq!((logits.predictions()[1], logits.nll[0]), (0.0, 500.0));
    }

    #[test]
    fn single_precision_is_the_same_numbers() {
        let counts = [1.0, 1.0, 0.0, 2.0];
        let wide = [0.5f64, -1.25, 3.0, 0.0];
        let narrow = wide.map(|v| v as f32);
        let a = judged(&counts, ModelOutput::Logits(Matrix::new(&wide[..], 2).unwrap())).unwrap();
        let b = judged(&counts, ModelOutput::Logits(Matrix::new(&narrow[..], 2).unwrap())).unwrap();
        assert_eq!((a.predictions(), &a.js), (b.predictions(), &b.js));
        let twice = a.select(&[1, 0, 1]).unwrap();
        assert_eq!(twice.nll, [a.nll[1], a.nll[0], a.nll[1]]);
        assert_eq!(twice.predictions()[..2], a.predictions()[2..]);
    }
}
