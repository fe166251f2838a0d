//! Power iteration: v ← Hv / ‖Hv‖, λ = vᵀHv, which tends to the eigenvalue of largest magnitude.
//!
//! λ alone settles long before it is right: between two near eigenvalues it crawls, and every small
//! step looks like an end. So the residual ‖Hv − λv‖ must be small too: some eigenvalue lies within
//! it of λ, whatever H is.

use serde::{Deserialize, Serialize};

use super::{Estimate, Operator, START, not_empty, product, rademacher, tolerance};
use crate::GeometryError;
use crate::error::finite;
use crate::vectors::{PRODUCTS, distance, dot, norm, scale};

/// How to iterate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PowerSettings {
    /// The seed of the first vector.
    pub seed: u64,
    /// Both the change of λ and the residual must be at most this share of |λ|.
    pub tolerance: f64,
    /// Products at most.
    pub most: usize,
}

impl Default for PowerSettings {
    fn default() -> Self {
        Self { seed: 0, tolerance: 1e-3, most: 200 }
    }
}

/// What power iteration found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// How it was looked for.
    pub settings: PowerSettings,
    /// The eigenvalue of largest magnitude; its error is the residual.
    pub top: Estimate,
    /// λ after every product.
    pub path: Vec<f64>,
}

/// The eigenvalue of largest magnitude, with its sign.
pub fn power<O: Operator + ?Sized>(
    operator: &mut O,
    settings: &PowerSettings,
) -> Result<Power, GeometryError> {
    not_empty(operator)?;
    let within = tolerance(settings.tolerance)?;
    if settings.most == 0 {
        return Err(GeometryError::setting("most", 0, "at least 1 product"));
    }
    let mut v = rademacher::<O::Number>(settings.seed, START, 0, operator.len());
    let length = norm(&v);
    scale(&mut v, 1.0 / length);
    let (mut path, mut error, mut converged) = (Vec::new(), f64::INFINITY, false);
    while path.len() < settings.most && !converged {
        let mut w = product(operator, &v)?;
        let lambda = finite(|| "vᵀHv".to_owned(), dot(&v, &w), PRODUCTS)?;
        error = finite(|| "‖Hv − λv‖".to_owned(), distance(&w, lambda, &v), PRODUCTS)?;
        let change = path.last().map_or(f64::INFINITY, |before: &f64| (lambda - before).abs());
        path.push(lambda);
        let length = norm(&w);
        // With Hv = 0 there is nowhere to go, and 0 is an eigenvalue.
        converged = length == 0.0 || change.max(error) <= within * lambda.abs();
        if length > 0.0 {
            scale(&mut w, 1.0 / length);
            v = w;
        }
    }
    let value = path.last().copied().unwrap_or_default();
    let top = Estimate { value, error: Some(error), products: path.len(), converged };
    Ok(Power { settings: *settings, top, path })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::curvature::dense::Dense;

    #[test]
    fn the_largest_in_magnitude_with_its_sign() {
        let settings = PowerSettings { tolerance: 1e-9, ..Default::default() };
        let found = power(&mut Dense::diagonal(&[1.0, -4.0, 2.0, 0.5]), &settings).unwrap();
        assert!((found.top.value + 4.0).abs() < 1e-12 && found.top.converged, "{found:?}");
        assert_eq!(found.top.products, found.path.len());
        assert!(found.top.error.unwrap() <= 4e-9);
    }

    /// Two near eigenvalues: λ hardly changes from step to step, and is wrong.
    #[test]
    fn a_small_gap_is_not_taken_for_an_end() {
        let mut near = Dense::diagonal(&[1.0, 0.999, 0.998, 0.5]);
        let settings = PowerSettings { tolerance: 1e-5, most: 30, ..Default::default() };
        let found = power(&mut near, &settings).unwrap();
        let change = (found.path[29] - found.path[28]).abs();
        assert!(change < 1e-5 && (found.top.value - 1.0).abs() > 1e-5, "{found:?}");
        assert!(!found.top.converged);
        // What it says about its error is true all the same.
        let nearest = [1.0f64, 0.999, 0.998].map(|l| (l - found.top.value).abs());
        assert!(nearest.iter().any(|off| *off <= found.top.error.unwrap()));
        let enough = PowerSettings { most: 20_000, ..settings };
        let found = power(&mut near, &enough).unwrap();
        assert!(found.top.converged && (found.top.value - 1.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn opposite_eigenvalues_do_not_converge() {
        let found = power(&mut Dense::diagonal(&[1.0, -1.0]), &PowerSettings::default()).unwrap();
        assert!(!found.top.converged && found.top.error.unwrap() > 0.5, "{found:?}");
    }

    #[test]
    fn nothing_and_nonsense() {
        let zero = power(&mut Dense::diagonal(&[0.0, 0.0]), &PowerSettings::default()).unwrap();
        assert_eq!((zero.top.value, zero.top.products, zero.top.converged), (0.0, 1, true));
        let run = |settings| power(&mut Dense::diagonal(&[1.0]), &settings).is_err();
        assert!(run(PowerSettings { most: 0, ..Default::default() }));
        assert!(run(PowerSettings { tolerance: f64::NAN, ..Default::default() }));
        assert!(power(&mut Dense::diagonal(&[]), &PowerSettings::default()).is_err());
        let mut broken = Dense::diagonal(&[1.0, f64::NAN]);
        let error = power(&mut broken, &PowerSettings::default()).unwrap_err().to_string();
        assert!(error.contains("NaN"), "{error}");
    }
}
