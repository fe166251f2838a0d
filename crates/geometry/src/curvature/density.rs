//! How the eigenvalues are distributed, by stochastic Lanczos quadrature (Ubaru, Chen and Saad,
//! 2017; for networks Ghorbani, Krishnan and Xiao, 2019).
//!
//! From a probe v, m Lanczos steps give Ritz values θ_i and first components s_i. The measure with
//! weight s_i² at θ_i has the moments vᵀHʲv / vᵀv for all j < 2m; its mean over probes is the
//! spectral measure Σ_i δ(λ − λ_i) / n. Each point is drawn as a Gaussian of a given width:
//!
//! φ(t) = mean over probes of Σ_i s_i² N(t; θ_i, σ²)
//!
//! Two things may be wrong with it, and both are measured as areas between curves: too few probes
//! (the standard error, integrated) and too few steps (the curve with three quarters of them, which
//! is there for free).

use dissensus_engine::Real;
use serde::{Deserialize, Serialize};

use super::krylov::Krylov;
use super::{Operator, PROBE, not_empty, rademacher, tolerance};
use crate::GeometryError;

/// How to look at a spectrum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DensitySettings {
    /// The seed of the probes.
    pub seed: u64,
    pub probes: usize,
    /// Lanczos steps each, one product and one vector in memory per step.
    pub steps: usize,
    /// Points of the grid.
    pub points: usize,
    /// σ, as a share of the distance between the smallest and the largest Ritz value.
    pub width: f64,
    /// Converged where both areas are at most this; the whole area is 1.
    pub tolerance: f64,
}

impl Default for DensitySettings {
    fn default() -> Self {
        Self { seed: 0, probes: 5, steps: 60, points: 512, width: 0.01, tolerance: 0.1 }
    }
}

/// A point of the measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The Ritz value.
    pub value: f64,
    /// Its share of all eigenvalues.
    pub weight: f64,
}

/// A spectral density.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Density {
    pub settings: DensitySettings,
    /// Rows of the matrix.
    pub rows: usize,
    /// Where φ is given.
    pub grid: Vec<f64>,
    /// φ there.
    pub density: Vec<f64>,
    /// Its standard error over probes; `None` for a single one.
    pub error: Option<Vec<f64>>,
    /// σ itself.
    pub sigma: f64,
    /// The measure of every probe, weights adding up to 1.
    pub nodes: Vec<Vec<Node>>,
    /// The area of the standard error.
    pub probe_error: Option<f64>,
    /// The area between this curve and that of three quarters of the steps.
    pub step_error: f64,
    pub products: usize,
    /// Whether both areas are within the tolerance.
    pub converged: bool,
}

impl Density {
    /// The mean over probes of Σ weight · valueᵖ: 1, tr H / n, ‖H‖²_F / n for p = 0, 1, 2.
    pub fn moment(&self, power: i32) -> f64 {
        let of = |nodes: &Vec<Node>| -> f64 {
            nodes.iter().map(|node| node.weight * node.value.powi(power)).sum()
        };
        self.nodes.iter().map(of).sum::<f64>() / self.nodes.len().max(1) as f64
    }
}

/// The spectral density.
pub fn density<O: Operator + ?Sized>(
    operator: &mut O,
    settings: &DensitySettings,
) -> Result<Density, GeometryError> {
    not_empty(operator)?;
    let within = tolerance(settings.tolerance)?;
    check(settings)?;
    let (rows, mut products) = (operator.len(), 0);
    let (mut nodes, mut coarse) = (Vec::new(), Vec::new());
    for probe in 0..settings.probes as u64 {
        let mut krylov = Krylov::<O::Number>::new(rademacher(settings.seed, PROBE, probe, rows))?;
        while krylov.goes_on() && krylov.steps() < settings.steps.min(rows) {
            krylov.step(operator)?;
        }
        products += krylov.steps();
        nodes.push(measure(&krylov, krylov.steps())?);
        // A process that came to its end before its steps were used up is exact.
        let fewer =
            if krylov.goes_on() { (3 * krylov.steps()).div_ceil(4) } else { krylov.steps() };
        coarse.push(measure(&krylov, fewer)?);
    }
    let (grid, sigma) = grid(&nodes, settings);
    let (density, error) = smoothed(&nodes, &grid, sigma);
    let (fewer, _) = smoothed(&coarse, &grid, sigma);
    let between: Vec<f64> = density.iter().zip(fewer).map(|(a, b)| (a - b).abs()).collect();
    let step_error = area(&grid, &between);
    let probe_error = error.as_ref().map(|error| area(&grid, error));
    let converged = step_error <= within && probe_error.is_some_and(|error| error <= within);
    Ok(Density {
        settings: *settings,
        rows,
        grid,
        density,
        error,
        sigma,
        nodes,
        probe_error,
        step_error,
        products,
        converged,
    })
}

fn check(settings: &DensitySettings) -> Result<(), GeometryError> {
    for (name, value) in [("probes", settings.probes), ("steps", settings.steps)] {
        if value == 0 {
            return Err(GeometryError::setting(name, value, "at least 1"));
        }
    }
    if !(settings.width > 0.0 && settings.width <= 1.0) {
        return Err(GeometryError::setting("width", settings.width, "above 0 and at most 1"));
    }
    // The grid reaches six widths beyond both ends.
    if (settings.points.saturating_sub(1)) as f64 * settings.width < 1.0 + 12.0 * settings.width {
        let expected = "enough that their distance is at most the width";
        return Err(GeometryError::setting("points", settings.points, expected));
    }
    Ok(())
}

/// The measure after some steps.
fn measure<F: Real>(krylov: &Krylov<F>, steps: usize) -> Result<Vec<Node>, GeometryError> {
    let (inner, _) = krylov.spectrum(steps)?;
    let node = |(&value, first): (&f64, &f64)| Node { value, weight: first * first };
    Ok(inner.values.iter().zip(&inner.first).map(node).collect())
}

fn grid(nodes: &[Vec<Node>], settings: &DensitySettings) -> (Vec<f64>, f64) {
    let values = || nodes.iter().flatten().map(|node| node.value);
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    // A single eigenvalue has no range; its own size, or 1, stands for it.
    let range = match high - low > 1e-12 * high.abs().max(low.abs()) {
        true => high - low,
        false => {
            if high == 0.0 {
                1.0
            } else {
                high.abs()
            }
        }
    };
    let sigma = settings.width * range;
    let (from, to) = (low - 6.0 * sigma, high + 6.0 * sigma);
    let last = settings.points.saturating_sub(1).max(1) as f64;
    let at = |point: usize| from + (to - from) * point as f64 / last;
    ((0..settings.points).map(at).collect(), sigma)
}

/// The mean curve over probes, and its standard error.
fn smoothed(nodes: &[Vec<Node>], grid: &[f64], sigma: f64) -> (Vec<f64>, Option<Vec<f64>>) {
    let height = 1.0 / (sigma * std::f64::consts::TAU.sqrt());
    let n = nodes.len() as f64;
    let (mut density, mut error) = (Vec::new(), Vec::new());
    for t in grid {
        let of = |nodes: &Vec<Node>| -> f64 {
            let gauss = |node: &Node| {
                node.weight * (-0.5 * ((t - node.value) / sigma).powi(2)).exp() * height
            };
            nodes.iter().map(gauss).sum()
        };
        let curves: Vec<f64> = nodes.iter().map(of).collect();
        let mean = curves.iter().sum::<f64>() / n;
        let squares: f64 = curves.iter().map(|curve| (curve - mean).powi(2)).sum();
        density.push(mean);
        error.push((squares / (n - 1.0) / n).sqrt());
    }
    (density, (nodes.len() > 1).then_some(error))
}

/// The area under a curve, by the trapezoidal rule, which for Gaussians is exact to their tails.
fn area(grid: &[f64], curve: &[f64]) -> f64 {
    let piece = |at: usize| (grid[at + 1] - grid[at]) * (curve[at] + curve[at + 1]) / 2.0;
    (0..grid.len().saturating_sub(1)).map(piece).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::curvature::dense::Dense;

    #[test]
    fn it_is_a_density_with_the_matrix_s_moments() {
        let values: Vec<f64> = (0..120).map(|i| (f64::from(i) * 0.37).sin() * 3.0 + 1.0).collect();
        let settings = DensitySettings { steps: 25, ..Default::default() };
        let found = density(&mut Dense::diagonal(&values), &settings).unwrap();
        assert!((area(&found.grid, &found.density) - 1.0).abs() < 1e-6);
        assert_eq!((found.products, found.rows), (5 * 25, 120));
        // A diagonal matrix has v'Hv = tr H and ‖Hv‖² = ‖H‖² for any signs, and higher moments.
        for power in 0..6 {
            let truth = values.iter().map(|v| v.powi(power)).sum::<f64>() / 120.0;
            assert!((found.moment(power) - truth).abs() < 1e-9 * (1.0 + truth), "{power}");
        }
        let curve = |power: i32| {
            let at = |(t, d): (&f64, &f64)| t.powi(power) * d;
            let curve: Vec<f64> = found.grid.iter().zip(&found.density).map(at).collect();
            area(&found.grid, &curve)
        };
        // Smoothing leaves the mean and adds σ² to the second moment.
        assert!((curve(1) - found.moment(1)).abs() < 1e-6);
        assert!((curve(2) - found.moment(2) - found.sigma.powi(2)).abs() < 1e-6);
    }

    #[test]
    fn two_values_are_two_peaks() {
        let values: Vec<f64> = (0..100).map(|i| if i < 75 { 0.0 } else { 2.0 }).collect();
        let found = density(&mut Dense::diagonal(&values), &DensitySettings::default()).unwrap();
        // Two steps and the space is exhausted: exact, and every probe says the same.
        assert_eq!(found.products, 10);
        assert!(found.converged && found.step_error == 0.0, "{found:?}");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        for nodes in &found.nodes {
            assert!(near(nodes[0].value, 0.0) && near(nodes[0].weight, 0.75), "{nodes:?}");
            assert!(near(nodes[1].value, 2.0) && near(nodes[1].weight, 0.25), "{nodes:?}");
        }
    }

    #[test]
    fn too_few_steps_or_probes_are_seen() {
        let values: Vec<f64> = (0..500).map(|i| (f64::from(i) / 500.0).powi(2)).collect();
        let few = DensitySettings { steps: 4, ..Default::default() };
        let found = density(&mut Dense::diagonal(&values), &few).unwrap();
        assert!(!found.converged && found.step_error > 0.1, "{}", found.step_error);
        let one = DensitySettings { probes: 1, steps: 80, width: 0.05, ..Default::default() };
        let found = density(&mut Dense::diagonal(&values), &one).unwrap();
        assert!(!found.converged && found.error.is_none() && found.step_error < 0.1);
        let enough = DensitySettings { probes: 4, ..one };
        assert!(density(&mut Dense::diagonal(&values), &enough).unwrap().converged);
    }

    #[test]
    fn one_value_and_nonsense() {
        for value in [0.0, -3.0] {
            let found = density(&mut Dense::diagonal(&[value; 4]), &Default::default()).unwrap();
            assert!((area(&found.grid, &found.density) - 1.0).abs() < 1e-6, "{found:?}");
        }
        let run = |settings| density(&mut Dense::diagonal(&[1.0, 2.0]), &settings).is_err();
        assert!(run(DensitySettings { probes: 0, ..Default::default() }));
        assert!(run(DensitySettings { steps: 0, ..Default::default() }));
        assert!(run(DensitySettings { width: 0.0, ..Default::default() }));
        assert!(run(DensitySettings { points: 50, ..Default::default() }));
    }
}
