//! How much the gradient of the last layer varies when the label of an example is drawn from votes.
//!
//! With outputs z = W h + b and a label y ~ p, the gradient of the loss in (W, b) is g_y ⊗ (h, 1), where
//! g_y is its gradient at the outputs. Only g_y is random, so that
//!
//! tr Cov = tr Cov g_y · (‖h‖² + 1)
//!
//! For the softmax cross-entropy g_y = q − e_y with q = softmax z, and for the binary cross-entropy
//! g_y = σ(z) − e_y. In both the label comes in as −e_y, with covariance Diag(p) − ppᵀ, so that tr Cov g_y
//! is 1 − ‖p‖², which knows nothing of z: what is left of it is how much people disagree, times how long the
//! features are. The noise of other losses ([`Loss::noise_variance`]) depends on z, too. [`sampled`] draws
//! labels and forms the gradients to check that.

use dissensus_core::philox::{Stream, stream};
use dissensus_engine::Loss;
use rayon::prelude::*;

use crate::GeometryError;
use crate::error::{count, finite};
use crate::vectors::inner;

/// Labels that are drawn for a check, by (seed, row).
pub const LABEL: u64 = stream(b"variance");

/// tr Cov for every example: from rows of `classes` probabilities, as many rows of features and, where the
/// noise of the loss depends on them, of outputs.
pub fn closed_form(
    loss: Loss,
    probabilities: &[f64],
    classes: usize,
    outputs: &[f32],
    features: &[f32],
) -> Result<Vec<f64>, GeometryError> {
    let width = check(probabilities, classes, features)?;
    let depends = loss.noise_depends_on_outputs();
    if depends {
        count("the outputs", probabilities.len(), outputs.len())?;
    }
    let row = |(at, (p, h)): (usize, (&[f64], &[f32]))| {
        let z = if depends { wide(&outputs[at * classes..][..classes]) } else { Vec::new() };
        loss.noise_variance(&z, p) * (inner(h, h) + 1.0)
    };
    let rows = probabilities.par_chunks(classes).zip(features.par_chunks(width)).enumerate();
    Ok(rows.map(row).collect())
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

/// The same from `draws` labels per example: the trace of the sample's covariance of gradients.
/// `outputs` are the model's, row by row.
pub fn sampled(
    loss: Loss,
    probabilities: &[f64],
    classes: usize,
    outputs: &[f32],
    features: &[f32],
    draws: usize,
    seed: u64,
) -> Result<Vec<f64>, GeometryError> {
    let width = check(probabilities, classes, features)?;
    count("the outputs", probabilities.len(), outputs.len())?;
    if draws < 2 {
        return Err(GeometryError::setting("draws", draws, "at least 2"));
    }
    let all = probabilities.par_chunks(classes).zip(outputs.par_chunks(classes));
    let all = all.zip(features.par_chunks(width)).enumerate();
    Ok(all
        .map(|(row, ((p, z), h))| {
            let mut stream = Stream::new([seed, LABEL], [row as u64, 0, 0]);
            spread(loss, p, &wide(z), h, draws, &mut stream)
        })
        .collect())
}

/// The trace of the covariance of one example's drawn gradients.
fn spread(loss: Loss, p: &[f64], z: &[f64], h: &[f32], draws: usize, stream: &mut Stream) -> f64 {
    let inputs: Vec<f64> = h.iter().map(|&h| f64::from(h)).chain([1.0]).collect();
    let (mut sum, mut squares) = (vec![0.0; z.len() * inputs.len()], 0.0);
    let (mut target, mut slopes) = (vec![0.0; z.len()], vec![0.0; z.len()]);
    for _ in 0..draws {
        let label = drawn(p, stream.unit());
        target[label] = 1.0;
        loss.value(z, &target, 1.0, &mut slopes);
        target[label] = 0.0;
        for (sums, slope) in sum.chunks_exact_mut(inputs.len()).zip(&slopes) {
            for (sum, input) in sums.iter_mut().zip(&inputs) {
                let gradient = slope * input;
                *sum += gradient;
                squares += gradient * gradient;
            }
        }
    }
    let n = draws as f64;
    (squares - inner(&sum, &sum) / n) / (n - 1.0)
}

/// The class at a place in [0, 1) of the cumulated probabilities.
fn drawn(p: &[f64], at: f64) -> usize {
    let mut below = 0.0;
    let reached = p.iter().position(|p| {
        below += p;
        at < below
    });
    // Rounding may leave the sum just below 1: then it is the last class that can be drawn.
    reached.unwrap_or_else(|| p.iter().rposition(|&p| p > 0.0).unwrap_or(0))
}

/// The width of the features.
fn check(probabilities: &[f64], classes: usize, features: &[f32]) -> Result<usize, GeometryError> {
    if classes == 0 || probabilities.is_empty() || !probabilities.len().is_multiple_of(classes) {
        let n = probabilities.len();
        let text = format!("{n} probabilities are not whole rows of {classes} classes");
        return Err(GeometryError::Data(text));
    }
    let rows = probabilities.len() / classes;
    if features.is_empty() || !features.len().is_multiple_of(rows) {
        let n = features.len();
        return Err(GeometryError::Data(format!("{n} features are not those of {rows} rows")));
    }
    for (row, p) in probabilities.chunks(classes).enumerate() {
        let sum: f64 = p.iter().sum();
        if p.iter().any(|p| *p < 0.0) || sum.is_nan() || (sum - 1.0).abs() > 1e-4 {
            let text = format!("row {row} sums to {sum}; expected probabilities, with sum 1");
            return Err(GeometryError::Data(text));
        }
    }
    let width = features.len() / rows;
    if let Some(at) = features.iter().position(|h| !h.is_finite()) {
        let what = || format!("feature {} of row {}", at % width, at / width);
        finite(what, f64::from(features[at]), "; look at the weights")?;
    }
    Ok(width)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dissensus_engine::LOSSES;

    use super::*;

    #[test]
    fn by_hand() {
        // 1 − (0.25 + 0.25) = 0.5, times 9 + 16 + 1; unanimous votes leave nothing.
        let p = [0.5, 0.5, 1.0, 0.0];
        for loss in [Loss::CrossEntropy, Loss::BinaryCrossEntropy] {
            let found = closed_form(loss, &p, 2, &[], &[3.0, 4.0, 3.0, 4.0]).unwrap();
            assert_eq!(found, [13.0, 0.0]);
            let drawn = sampled(loss, &[1.0, 0.0], 2, &[0.3, 0.7], &[3.0, 4.0], 50, 1).unwrap();
            assert!(drawn[0].abs() < 1e-9, "{drawn:?}");
        }
        // Of two classes the ranked probability score is (q − p)², with the gradient 2 (q − p) q (1 − q) and
        // its negative; at q = 1/2 a label moves both by ±1/4 around the mean.
        let found = closed_form(Loss::Rps, &p, 2, &[0.0; 4], &[3.0, 4.0, 3.0, 4.0]).unwrap();
        assert_eq!(found, [2.0 * 26.0 / 16.0, 0.0]);
    }

    /// A sampled trace is a mean over draws of ‖g − ḡ‖², whose spread is at most a few times its
    /// value: 6 % of it is five standard errors at 8,000 draws.
    #[test]
    fn drawn_labels_agree_with_the_closed_form() {
        let p = [0.7, 0.2, 0.1, 0.4, 0.3, 0.3, 0.02, 0.08, 0.9];
        let z = [-0.9, 0.1, -0.5, 1.9, -1.0, -1.0, 0.2, 0.2, 0.5];
        let h = [1.0, -2.0, 0.5, 3.0, 0.1, 0.0];
        for entry in LOSSES {
            let exact = closed_form(entry.loss, &p, 3, &z, &h).unwrap();
            let found = sampled(entry.loss, &p, 3, &z, &h, 8000, 3).unwrap();
            for (found, exact) in found.iter().zip(&exact) {
                assert!((found / exact - 1.0).abs() < 0.06, "{}: {found} {exact}", entry.name);
            }
            assert_eq!(found, sampled(entry.loss, &p, 3, &z, &h, 8000, 3).unwrap());
            assert_ne!(found, sampled(entry.loss, &p, 3, &z, &h, 8000, 4).unwrap());
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let error = |p: &[f64], classes, h: &[f32]| {
            let found = closed_form(Loss::CrossEntropy, p, classes, &[], h);
            found.map(|_| ()).unwrap_err().to_string()
        };
        assert!(error(&[0.5, 0.5, 0.1], 2, &[1.0]).contains("not whole rows"));
        assert!(error(&[0.5, 0.5], 2, &[]).contains("0 features"));
        assert!(error(&[0.5, 0.6], 2, &[1.0]).contains("row 0 sums to 1.1"));
        assert!(error(&[f64::NAN, 0.6], 2, &[1.0]).contains("row 0"));
        assert!(error(&[0.5, 0.5], 2, &[1.0, f32::NAN]).contains("feature 1 of row 0"));
        let sampled = |z: &[f32], draws| sampled(Loss::Rps, &[0.5, 0.5], 2, z, &[1.0], draws, 0);
        assert!(sampled(&[0.5], 9).is_err() && sampled(&[0.5, 0.5], 1).is_err());
        assert!(closed_form(Loss::Rps, &[0.5, 0.5], 2, &[0.5], &[1.0]).is_err());
        assert_eq!(drawn(&[0.5, 0.4999, 0.0], 0.99999), 1);
    }
}
