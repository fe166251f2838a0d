//! An estimate and what is known about it.

use serde::{Deserialize, Serialize};

/// A number, how far off it may be, what it cost, and whether that is near enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    /// Of an eigenvalue: some eigenvalue lies at most this far off. Of a mean over probes: its
    /// standard error; `None` for a single probe.
    pub error: Option<f64>,
    /// Products that were made for it, with others' where one set serves several numbers.
    pub products: usize,
    /// Whether the error met the tolerance that was asked for.
    pub converged: bool,
}

impl Estimate {
    /// `plus` and the mean of a sample, converged where its standard error is at most
    /// `tolerance` times its magnitude.
    pub(super) fn mean(sample: &[f64], plus: f64, products: usize, tolerance: f64) -> Self {
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / n;
        let value = plus + mean;
        let error = (sample.len() > 1).then(|| {
            let squares: f64 = sample.iter().map(|x| (x - mean).powi(2)).sum();
            (squares / (n - 1.0) / n).sqrt()
        });
        let converged = error.is_some_and(|error| error <= tolerance * value.abs());
        Self { value, error, products, converged }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_single_probe_has_no_error() {
        let one = Estimate::mean(&[4.0], 0.0, 1, 0.1);
        assert_eq!((one.value, one.error, one.converged), (4.0, None, false));
        // Variance 2, over two: a standard error of 1.
        let two = Estimate::mean(&[3.0, 5.0], 6.0, 2, 0.1);
        assert_eq!((two.value, two.error, two.converged), (10.0, Some(1.0), true));
        assert!(!Estimate::mean(&[3.0, 5.0], 6.0, 2, 0.09).converged);
    }
}
