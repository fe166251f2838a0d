//! How much the gradient of the last layer varies when the label of an example is drawn from votes.
//!
//! With logits z = W h + b, q = softmax(z) and a label y ~ p, the gradient of −ln q_y in (W, b) is
//! (q − e_y) ⊗ (h, 1). Only e_y is random, with covariance Diag(p) − ppᵀ, so that
//!
//! tr Cov = (1 − ‖p‖²) (‖h‖² + 1)
//!
//! which knows nothing of q: what is left of it is how much people disagree, times how long the
//! features are. [`sampled`] draws labels and forms the gradients to check that.

use dissensus_core::philox::{Stream, stream};
use rayon::prelude::*;

use crate::GeometryError;
use crate::error::{count, finite};
use crate::vectors::inner;

/// Labels that are drawn for a check, by (seed, row).
pub const LABEL: u64 = stream(b"variance");

/// tr Cov for every example: from rows of `classes` probabilities and as many rows of features.
pub fn closed_form(
    probabilities: &[f64],
    classes: usize,
    features: &[f32],
) -> Result<Vec<f64>, GeometryError> {
    let width = check(probabilities, classes, features)?;
    let row = |(p, h): (&[f64], &[f32])| (1.0 - inner(p, p)) * (inner(h, h) + 1.0);
    Ok(probabilities.par_chunks(classes).zip(features.par_chunks(width)).map(row).collect())
}

/// The same from `draws` labels per example: the trace of the sample's covariance of gradients.
/// `predicted` are the model's probabilities, row by row.
pub fn sampled(
    probabilities: &[f64],
    predicted: &[f64],
    classes: usize,
    features: &[f32],
    draws: usize,
    seed: u64,
) -> Result<Vec<f64>, GeometryError> {
    let width = check(probabilities, classes, features)?;
    count("the predicted probabilities", probabilities.len(), predicted.len())?;
    if draws < 2 {
        return Err(GeometryError::setting("draws", draws, "at least 2"));
    }
    let all = probabilities.par_chunks(classes).zip(predicted.par_chunks(classes));
    let all = all.zip(features.par_chunks(width)).enumerate();
    Ok(all
        .map(|(row, ((p, q), h))| {
            let mut stream = Stream::new([seed, LABEL], [row as u64, 0, 0]);
            spread(p, q, h, draws, &mut stream)
        })
        .collect())
}

/// The trace of the covariance of one example's drawn gradients.
fn spread(p: &[f64], q: &[f64], h: &[f32], draws: usize, stream: &mut Stream) -> f64 {
    let inputs: Vec<f64> = h.iter().map(|&h| f64::from(h)).chain([1.0]).collect();
    let (mut sum, mut squares) = (vec![0.0; q.len() * inputs.len()], 0.0);
    for _ in 0..draws {
        let label = drawn(p, stream.unit());
        for (class, sums) in sum.chunks_exact_mut(inputs.len()).enumerate() {
            let slope = q[class] - if class == label { 1.0 } else { 0.0 };
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
    use super::*;

    #[test]
    fn by_hand() {
        // 1 − (0.25 + 0.25) = 0.5, times 9 + 16 + 1; unanimous votes leave nothing.
        let found = closed_form(&[0.5, 0.5, 1.0, 0.0], 2, &[3.0, 4.0, 3.0, 4.0]).unwrap();
        assert_eq!(found, [13.0, 0.0]);
        let drawn = sampled(&[1.0, 0.0], &[0.3, 0.7], 2, &[3.0, 4.0], 50, 1).unwrap();
        assert!(drawn[0].abs() < 1e-9, "{drawn:?}");
    }

    /// A sampled trace is a mean over draws of ‖g − ḡ‖², whose spread is at most a few times its
    /// value: 6 % of it is five standard errors at 8,000 draws.
    #[test]
    fn drawn_labels_agree_with_the_closed_form() {
        let p = [0.7, 0.2, 0.1, 0.4, 0.3, 0.3, 0.02, 0.08, 0.9];
        let q = [0.2, 0.5, 0.3, 0.9, 0.05, 0.05, 0.3, 0.3, 0.4];
        let h = [1.0, -2.0, 0.5, 3.0, 0.1, 0.0];
        let exact = closed_form(&p, 3, &h).unwrap();
        let found = sampled(&p, &q, 3, &h, 8000, 3).unwrap();
        for (found, exact) in found.iter().zip(&exact) {
            assert!((found / exact - 1.0).abs() < 0.06, "{found} {exact}");
        }
        assert_eq!(found, sampled(&p, &q, 3, &h, 8000, 3).unwrap());
        assert_ne!(found, sampled(&p, &q, 3, &h, 8000, 4).unwrap());
    }

    #[test]
    fn nonsense_is_refused() {
        let error = |p: &[f64], classes, h: &[f32]| {
            closed_form(p, classes, h).map(|_| ()).unwrap_err().to_string()
        };
        assert!(error(&[0.5, 0.5, 0.1], 2, &[1.0]).contains("not whole rows"));
        assert!(error(&[0.5, 0.5], 2, &[]).contains("0 features"));
        assert!(error(&[0.5, 0.6], 2, &[1.0]).contains("row 0 sums to 1.1"));
        assert!(error(&[f64::NAN, 0.6], 2, &[1.0]).contains("row 0"));
        assert!(error(&[0.5, 0.5], 2, &[1.0, f32::NAN]).contains("feature 1 of row 0"));
        assert!(sampled(&[0.5, 0.5], &[0.5], 2, &[1.0], 9, 0).is_err());
        assert!(sampled(&[0.5, 0.5], &[0.5, 0.5], 2, &[1.0], 1, 0).is_err());
        assert_eq!(drawn(&[0.5, 0.4999, 0.0], 0.99999), 1);
    }
}
