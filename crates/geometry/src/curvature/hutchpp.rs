//! Hutch++ (Meyer, Musco, Musco and Woodruff, 2021): the trace with less spread where a few
//! eigenvalues are most of it, as in the Hessian of a trained network.
//!
//! Products with random signs give an orthonormal basis Q of most of H's range. Then
//! tr H = tr QᵀHQ + tr (I − QQᵀ)H(I − QQᵀ), of which the first part is computed and only the second
//! is estimated from probes. The standard error is that of the second part.

use serde::{Deserialize, Serialize};

use super::{Estimate, Operator, PROBE, SKETCH, TraceSettings, not_empty, product, rademacher};
use crate::GeometryError;
use crate::error::finite;
use crate::vectors::{Basis, PRODUCTS, dot, epsilon, norm};

/// How to probe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HutchSettings {
    /// The seed of sketch and probes.
    pub seed: u64,
    /// Vectors of the basis: two products and one vector in memory each.
    pub rank: usize,
    /// Stops when the standard error is at most this share of the trace.
    pub tolerance: f64,
    /// Probes of the second part at least.
    pub least: usize,
    /// Probes of the second part at most, one product each.
    pub most: usize,
}

impl Default for HutchSettings {
    fn default() -> Self {
        Self { seed: 0, rank: 10, tolerance: 0.02, least: 10, most: 80 }
    }
}

/// The trace.
pub fn hutch_plus_plus<O: Operator + ?Sized>(
    operator: &mut O,
    settings: &HutchSettings,
) -> Result<Estimate, GeometryError> {
    not_empty(operator)?;
    let HutchSettings { seed, rank, tolerance, least, most } = *settings;
    let within = TraceSettings { seed, tolerance, least, most }.check()?;
    if rank == 0 {
        return Err(GeometryError::setting("rank", 0, "at least 1"));
    }
    let length = operator.len();
    let (mut basis, mut products) = (Basis::<O::Number>::new(), 0);
    for number in 0..rank.min(length) {
        let w = product(operator, &rademacher(seed, SKETCH, number as u64, length))?;
        products += 1;
        // What rounding leaves of a vector inside the span is no direction of H's range.
        let least = 1e3 * epsilon::<O::Number>() * norm(&w);
        basis.extend(w, least)?;
    }
    let mut inside = 0.0;
    for q in basis.vectors() {
        inside += finite(|| "qᵀHq".to_owned(), dot(q, &product(operator, q)?), PRODUCTS)?;
        products += 1;
    }
    let mut samples = Vec::new();
    loop {
        let mut v = rademacher(seed, PROBE, samples.len() as u64, length);
        basis.project_out(&mut v);
        let along = dot(&v, &product(operator, &v)?);
        samples.push(finite(|| format!("vᵀHv of probe {}", samples.len()), along, PRODUCTS)?);
        let trace = Estimate::mean(&samples, inside, products + samples.len(), within);
        if samples.len() >= most || (samples.len() >= least && trace.converged) {
            return Ok(trace);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::curvature::dense::Dense;

    #[test]
    fn a_matrix_of_low_rank_is_exact() {
        let (n, u) = (30, |i: usize| (i as f64 * 0.7).sin());
        let at = |i: usize| 5.0 * u(i / 30) * u(i % 30) - 2.0 * u(i / 30 + 9) * u(i % 30 + 9);
        let mut matrix = Dense::new(n, (0..n * n).map(at).collect());
        let truth: f64 = (0..n).map(|i| matrix.values()[i * (n + 1)]).sum();
        let found = hutch_plus_plus(&mut matrix, &HutchSettings::default()).unwrap();
        assert!((found.value - truth).abs() < 1e-10 && found.error.unwrap() < 1e-10, "{found:?}");
        // Ten columns of the sketch, of which two are directions, and ten probes.
        assert_eq!((found.products, found.converged), (22, true));
    }

    #[test]
    fn nonsense_is_refused() {
        let mut one = Dense::new(1, vec![1.0]);
        assert!(
            hutch_plus_plus(&mut one, &HutchSettings { rank: 0, ..Default::default() }).is_err()
        );
        assert!(
            hutch_plus_plus(&mut one, &HutchSettings { least: 0, ..Default::default() }).is_err()
        );
        let all = hutch_plus_plus(&mut one, &HutchSettings::default()).unwrap();
        assert_eq!((all.value, all.error), (1.0, Some(0.0)));
    }
}
