//! ODIN: the maximum softmax probability at a high temperature, of inputs that were moved a little
//! towards what the model says of them.
//!
//! Moving them is the business of whoever has the model: each number of an input goes by ε against
//! the sign of the gradient of `−ln max_k softmax(z/T)_k`. Here come the logits of what was moved.
//!
//! At T = 1000 every softmax is within a few thousandths of uniform, and most bits of `max q` are
//! the same for all items. The score is therefore the odds against the predicted class, on a scale
//! that keeps every bit:
//!
//! ```text
//! s = T (ln ((1 − max q) / max q) − ln (C − 1)) = T ln (Σ_{k≠m} exp(d_k) / (C − 1)),
//! d_k = (z_k − z_m) / T,  m the predicted class,  C classes
//! ```
//!
//! It rises strictly as max q falls, so every figure of detection is that of `−max q`. It is 0 where
//! all classes are equal, and for T → ∞ the mean of the other logits less the largest one.

use super::{Needs, OodScore, each_row};
use crate::{About, Direction, MeasureError};

const NAME: &str = "odin";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        short: "ODIN",
        title: "ODIN: odds against the predicted class, of perturbed inputs at a high temperature",
        formula: "T (ln ((1 − max_k q_k) / max_k q_k) − ln (C − 1)), q = softmax(z / T) of C \
                  classes, z of x − ε sign(∇_x −ln max_k q_k)",
        unit: "logits",
        direction: Direction::HigherIsOut,
        settings: "odin_temperature T (1000 by default), epsilon ε (0.0014 by default). Needs \
                   logits of the perturbed inputs, of at least two classes. Orders items as \
                   −max_k q_k does, without its loss of digits at high temperatures",
        reference: "Liang, Li and Srikant, Enhancing the reliability of out-of-distribution \
                    image detection in neural networks, ICLR 2018",
    },
    needs: Needs::Perturbed,
    compute: |input, settings| {
        let missing = |what| MeasureError::Missing { score: NAME, what };
        let logits = input.perturbed.ok_or(missing("logits of the perturbed inputs"))?;
        if logits.columns() < 2 {
            return Err(missing("at least two classes"));
        }
        let t = settings.odin_temperature;
        super::positive("odin_temperature", t)?;
        each_row("logits of perturbed inputs", logits, |z| odds(z, t))
    },
};

fn odds(z: &[f64], t: f64) -> f64 {
    let top = (1..z.len()).fold(0, |top, k| if z[k] > z[top] { k } else { top });
    // Held at the lowest number: two infinities would make a NaN below.
    let d = |(_, v): (usize, &f64)| ((v - z[top]) / t).max(f64::MIN);
    let others = || z.iter().enumerate().filter(|(k, _)| *k != top).map(d);
    let n = (z.len() - 1) as f64;
    let lack = others().map(f64::exp_m1).sum::<f64>() / n;
    if lack > -0.5 {
        return t * lack.ln_1p();
    }
    // Far from uniform it is the sum itself that is small and keeps its digits.
    let second = others().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = others().map(|d| (d - second).exp()).sum();
    t * (second + (sum / n).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// mpmath 1.3.0 with 600 digits:
    ///
    /// ```python
    /// q = [exp(v / t) for v in z]; p = max(q) / sum(q)
    /// print(float(t * (log((1 - p) / p) - log(len(z) - 1))))
    /// ```
    #[test]
    fn every_digit_at_any_temperature() {
        for (z, t, golden) in GOLDEN {
            let ours = odds(&z, t);
            assert!((ours / golden - 1.0).abs() < 1e-14, "{z:?} {t}: {ours} {golden}");
        }
        assert_eq!(odds(&[2.0; 4], 1000.0), 0.0);
        assert!(odds(&[f64::MAX, f64::MIN, f64::MIN], 1.0) < -1e300);
    }

    /// At T = 10⁹ `max q` has five digits left that differ; here items that differ in the last
    /// bits of a logit are still told apart.
    #[test]
    fn near_items_do_not_tie() {
        let item = |z: f64| odds(&[z, 1.0, -2.0], 1e9);
        assert!(item(3.0 + 1e-14) < item(3.0));
        let plain = |z: f64| -1.0 / (1.0 + ((1.0 - z) / 1e9).exp() + ((-2.0 - z) / 1e9).exp());
        assert_eq!(plain(3.0 + 1e-14), plain(3.0));
    }

    const GOLDEN: [([f64; 4], f64, f64); 5] = [
        ([3.5, -1.25, 0.5, 2.0], 1000.0, -3.0824514257345554),
        ([3.5, -1.25, 0.5, 2.0], 1.0, -2.365990305566077),
        ([40.0, -1.25, 0.5, 2.0], 1.0, -38.86599030556608),
        ([900.0, -1.25, 0.5, 2.0], 1.0, -898.8659903055661),
        ([1.0, 1.0, 0.5, 0.75], 1e6, -0.24999997916666666),
    ];
}
