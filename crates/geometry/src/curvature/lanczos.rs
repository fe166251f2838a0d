//! The largest and the smallest eigenvalues by the Lanczos process.
//!
//! After m products, H is the tridiagonal T of order m in the basis and β leads out of it. An
//! eigenvalue θ of T with eigenvector s is a Ritz value of H with residual β·|s_m|, so that an
//! eigenvalue of H lies within that of θ. The process stops when all that were asked for have a
//! residual of at most `tolerance` · max(|θ|, |θ|max / 100): an eigenvalue near 0 is measured
//! against the size of the others.
//!
//! An eigenvalue that several eigenvectors share is seen once, unless the process comes to its end
//! and starts anew.

use serde::{Deserialize, Serialize};

use super::krylov::Krylov;
use super::{Estimate, Operator, START, not_empty, rademacher, tolerance};
use crate::GeometryError;

/// How to look for eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LanczosSettings {
    /// The seed of the first vector.
    pub seed: u64,
    /// How many of the largest.
    pub largest: usize,
    /// How many of the smallest.
    pub smallest: usize,
    /// The residual that is asked for, as above.
    pub tolerance: f64,
    /// Products at most. Each keeps a vector: 45 MB for a ResNet-18.
    pub most: usize,
}

impl Default for LanczosSettings {
    fn default() -> Self {
        Self { seed: 0, largest: 5, smallest: 1, tolerance: 1e-3, most: 100 }
    }
}

/// The ends of a spectrum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// How they were looked for.
    pub settings: LanczosSettings,
    /// The largest, largest first; fewer than asked for where there are fewer. Errors are residuals.
    pub largest: Vec<Estimate>,
    /// The smallest, smallest first.
    pub smallest: Vec<Estimate>,
    /// Products made, for all of them together.
    pub products: usize,
    /// Whether all that were asked for converged.
    pub converged: bool,
}

/// The largest and smallest eigenvalues.
pub fn lanczos<O: Operator + ?Sized>(
    operator: &mut O,
    settings: &LanczosSettings,
) -> Result<Extremes, GeometryError> {
    not_empty(operator)?;
    tolerance(settings.tolerance)?;
    if settings.largest + settings.smallest == 0 {
        return Err(GeometryError::setting("largest and smallest", 0, "at least 1 of either"));
    }
    if settings.most == 0 {
        return Err(GeometryError::setting("most", 0, "at least 1 product"));
    }
    let length = operator.len();
    let draw = |number: usize| rademacher(settings.seed, START, number as u64, length);
    let mut krylov = Krylov::<O::Number>::new(draw(0))?;
    let mut draws = 1;
    loop {
        krylov.step(operator)?;
        let found = extremes(&krylov, length, settings)?;
        if found.converged || krylov.steps() >= settings.most.min(length) {
            return Ok(found);
        }
        // Some draws more, should one lie in what has been seen: of few rows there are few signs.
        let last = draws + 32;
        while !krylov.goes_on() && draws < last {
            krylov.restart(draw(draws))?;
            draws += 1;
        }
        if !krylov.goes_on() {
            return Ok(found);
        }
    }
}

fn extremes<F: dissensus_engine::Real>(
    krylov: &Krylov<F>,
    length: usize,
    settings: &LanczosSettings,
) -> Result<Extremes, GeometryError> {
    let products = krylov.steps();
    let (inner, out) = krylov.spectrum(products)?;
    let size = inner.values.iter().fold(0.0f64, |size, value| size.max(value.abs()));
    // The basis is only orthonormal, and the products only exact, to rounding.
    let rounding = krylov.rounding();
    let all: Vec<Estimate> = (inner.values.iter().zip(&inner.last))
        .map(|(&value, last)| {
            let error = out * last.abs() + rounding;
            let allowed = settings.tolerance * value.abs().max(size / 100.0);
            let converged = error <= allowed || error == 0.0;
            Estimate { value, error: Some(error), products, converged }
        })
        .collect();
    let largest: Vec<Estimate> = all.iter().rev().take(settings.largest).copied().collect();
    let smallest: Vec<Estimate> = all.iter().take(settings.smallest).copied().collect();
    let complete = |found: &[Estimate], asked: usize| {
        found.len() == asked.min(length) && found.iter().all(|ritz| ritz.converged)
    };
    let converged = complete(&largest, settings.largest) && complete(&smallest, settings.smallest);
    Ok(Extremes { settings: *settings, largest, smallest, products, converged })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::curvature::dense::Dense;

    #[test]
    fn both_ends_with_few_products() {
        // A bulk between 0 and 1, and a few outliers at both ends.
        let mut values: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
        values.extend([10.0, 7.0, 5.0, -3.0]);
        let settings =
            LanczosSettings { largest: 3, smallest: 1, tolerance: 1e-10, ..Default::default() };
        let found = lanczos(&mut Dense::diagonal(&values), &settings).unwrap();
        assert!(found.converged && found.products < 30, "{found:?}");
        for (ritz, truth) in found.largest.iter().zip([10.0, 7.0, 5.0]) {
            assert!((ritz.value - truth).abs() < 1e-10, "{found:?}");
        }
        assert!((found.smallest[0].value + 3.0).abs() < 1e-10, "{found:?}");
    }

    #[test]
    fn a_small_gap_needs_products_and_says_so() {
        let values: Vec<f64> = (0..400).map(|i| 1.0 - 1e-4 * f64::from(i)).collect();
        let settings =
            LanczosSettings { largest: 2, tolerance: 1e-6, most: 12, ..Default::default() };
        let found = lanczos(&mut Dense::diagonal(&values), &settings).unwrap();
        assert!(!found.converged && !found.largest[0].converged, "{found:?}");
        assert_eq!(found.products, 12);
        // The residual covers the distance to some eigenvalue even so.
        for ritz in &found.largest {
            let off = values.iter().map(|v| (v - ritz.value).abs()).fold(f64::MAX, f64::min);
            assert!(off <= ritz.error.unwrap());
        }
    }

    #[test]
    fn repeated_eigenvalues_are_found_by_starting_anew() {
        let settings =
            LanczosSettings { largest: 6, smallest: 2, tolerance: 1e-9, ..Default::default() };
        let found =
            lanczos(&mut Dense::diagonal(&[2.0, 2.0, 2.0, -1.0, -1.0, 0.0]), &settings).unwrap();
        let values = |found: &[Estimate]| -> Vec<i64> {
            found.iter().map(|ritz| ritz.value.round() as i64).collect()
        };
        assert_eq!(values(&found.largest), [2, 2, 2, 0, -1, -1]);
        assert_eq!(values(&found.smallest), [-1, -1]);
        assert!(found.converged && found.products == 6, "{found:?}");
        let zero = lanczos(&mut Dense::diagonal(&[0.0; 3]), &settings).unwrap();
        assert!(zero.converged && zero.largest.len() == 3, "{zero:?}");
    }

    #[test]
    fn nonsense_is_refused() {
        let run = |settings| lanczos(&mut Dense::diagonal(&[1.0]), &settings).is_err();
        assert!(run(LanczosSettings { largest: 0, smallest: 0, ..Default::default() }));
        assert!(run(LanczosSettings { most: 0, ..Default::default() }));
        assert!(run(LanczosSettings { tolerance: -1.0, ..Default::default() }));
        assert!(lanczos(&mut Dense::diagonal(&[]), &LanczosSettings::default()).is_err());
    }
}
