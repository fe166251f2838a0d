//! Smooth calibration error: the residuals smoothed by a reflected Gaussian, at the bandwidth that
//! equals the error it gives.
//!
//! With confidences f, outcomes y and a Gaussian kernel K_σ folded back at 0 and 1,
//! `smECE_σ = ∫ |Σ_i K_σ(t, f_i) (f_i − y_i)| dt / ∫ Σ_i K_σ(t, f_i) dt`, and smECE is smECE_σ at
//! σ = smECE_σ. Błasiok and Nakkiran, *Smooth ECE: Principled Reliability Diagrams via Kernel
//! Smoothing* (ICLR 2024).
//!
//! The discretization is that of their package relplot 1.0.3, so that both give the same numbers:
//! * residuals and ones are shared between the two nearest of G grid points, where
//!   G = ⌊max(2000, 20/σ) / 2⌋ + 1, so only one pass over the items is needed for each G;
//! * the kernel is sampled at G points from −½ to ½ (off the grid by half a cell where G is even);
//! * both integrals are sums over max(200, 10/σ) even points, interpolated from the grid, with
//!   1e-4 added to the density (counted in items) at each;
//! * σ comes from ten bisections of [0, 1], not searched below 0.001, and is the upper end: it
//!   exceeds the self-consistent bandwidth by at most 1/1024.
//!
//! Memory: a few tables of G numbers (G is at most 5121).

use rayon::prelude::*;
use serde::Serialize;

use crate::sums::{add, wide_chunk};
use crate::{Against, Scorer};

/// A smooth calibration error and its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Smooth {
    pub error: f64,
    /// The bandwidth σ at which it was found.
    pub bandwidth: f64,
}

/// A point of a smooth reliability curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SmoothPoint {
    /// The confidence t.
    pub confidence: f64,
    /// The mean outcome near t, Σ_i K(t, f_i) y_i / Σ_i K(t, f_i).
    pub outcome: f64,
    /// The density of the confidences at t.
    pub density: f64,
}

const SMALLEST_BANDWIDTH: f64 = 0.001;
const HALVINGS: usize = 10;
const MESH: usize = 200;
const DENSITY_FLOOR: f64 = 1e-4;

impl Scorer<'_> {
    /// The smooth reliability curve at `points` even confidences from 0 to 1, with the bandwidth
    /// of the smooth calibration error. Empty without items or points.
    pub fn smooth_curve(&self, against: Against, points: usize) -> Vec<SmoothPoint> {
        let Some(Smooth { bandwidth, .. }) = self.smooth(against) else { return Vec::new() };
        let confidence = &self.judged.confidence;
        let (y, cells) = (self.outcome(against), grid_points(bandwidth));
        let grid = Grid::new(confidence, y, cells, |_, y| y);
        grid.curve(bandwidth, points, confidence.len())
    }
}

/// The smooth calibration error; `None` without items.
pub(crate) fn error(confidence: &[f64], outcome: &[f64]) -> Option<Smooth> {
    if confidence.is_empty() {
        return None;
    }
    let spread = |points| Grid::new(confidence, outcome, points, |f, y| f - y);
    let mut grid = spread(grid_points(1.0));
    let mut at = |bandwidth: f64| {
        let points = grid_points(bandwidth);
        if grid.points() != points {
            grid = spread(points);
        }
        grid.error(bandwidth)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match middle < SMALLEST_BANDWIDTH || middle < at(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(Smooth { error: at(high), bandwidth: high })
}

fn grid_points(bandwidth: f64) -> usize {
    ((20.0 / bandwidth).round_ties_even() as usize).max(2000) / 2 + 1
}

/// `points` even places from 0 to 1.
fn mesh(points: usize) -> impl Iterator<Item = f64> {
    let step = 1.0 / points.saturating_sub(1).max(1) as f64;
    (0..points).map(move |at| at as f64 * step)
}

/// The value at t of the function that joins the values at even places from 0 to 1.
fn interpolate(values: &[f64], t: f64) -> f64 {
    let cells = (values.len() - 1) as f64;
    let cell = ((t * cells) as usize).min(values.len() - 2);
    let share = t * cells - cell as f64;
    values[cell] * (1.0 - share) + values[cell + 1] * share
}

/// Items and a value of each, shared out to even places from 0 to 1.
struct Grid {
    value: Vec<f64>,
    density: Vec<f64>,
}

impl Grid {
    fn new(
        confidence: &[f64],
        outcome: &[f64],
        points: usize,
        value: impl Fn(f64, f64) -> f64 + Sync,
    ) -> Self {
        let cells = (points - 1) as f64;
        let chunk = wide_chunk(confidence.len());
        let parts: Vec<Self> = confidence
            .par_chunks(chunk)
            .zip(outcome.par_chunks(chunk))
            .map(|(confidence, outcome)| {
                let mut part = Self { value: vec![0.0; points], density: vec![0.0; points] };
                for (&f, &y) in confidence.iter().zip(outcome) {
                    let place = f * cells;
                    let cell = (place as usize).min(points - 2);
                    let share = place - cell as f64;
                    part.density[cell] += 1.0 - share;
                    part.density[cell + 1] += share;
                    part.value[cell] += (1.0 - share) * value(f, y);
                    part.value[cell + 1] += share * value(f, y);
                }
                part
            })
            .collect();
        let mut grid = Self { value: vec![0.0; points], density: vec![0.0; points] };
        for part in parts {
            add(&mut grid.value, &part.value);
            add(&mut grid.density, &part.density);
        }
        grid
    }

    fn points(&self) -> usize {
        self.density.len()
    }

    fn error(&self, bandwidth: f64) -> f64 {
        let (residual, density) = self.smooth(bandwidth);
        let points = ((10.0 / bandwidth).round_ties_even() as usize).max(MESH);
        let gap: f64 = mesh(points).map(|t| interpolate(&residual, t).abs()).sum();
        let all: f64 = mesh(points).map(|t| interpolate(&density, t) + DENSITY_FLOOR).sum();
        gap / all
    }

    /// The mean value near each of `points` even places, and the density there.
    fn curve(&self, bandwidth: f64, points: usize, items: usize) -> Vec<SmoothPoint> {
        let (value, density) = self.smooth(bandwidth);
        let point = |t| {
            let (value, density) = (interpolate(&value, t), interpolate(&density, t));
            let outcome = value / (density + DENSITY_FLOOR);
            SmoothPoint { confidence: t, outcome, density: density / items as f64 }
        };
        mesh(points).map(point).collect()
    }

    /// Both tables under the kernel, the values first.
    fn smooth(&self, bandwidth: f64) -> (Vec<f64>, Vec<f64>) {
        let kernel = kernel(bandwidth, self.points());
        rayon::join(|| convolve(&self.value, &kernel), || convolve(&self.density, &kernel))
    }
}

fn kernel(bandwidth: f64, points: usize) -> Vec<f64> {
    let height = 1.0 / ((std::f64::consts::TAU).sqrt() * bandwidth);
    let at = |t: f64| (-(t - 0.5) * (t - 0.5) / (2.0 * bandwidth * bandwidth)).exp() * height;
    mesh(points).map(at).collect()
}

/// Convolution with the values mirrored at both ends. Most values are 0 where there are few items, and add
/// nothing; each sum is in the order of the kernel.
fn convolve(values: &[f64], kernel: &[f64]) -> Vec<f64> {
    let points = values.len();
    let mirrored = values.iter().skip(1).rev();
    let beyond = values.iter().rev().skip(1);
    let extended: Vec<f64> = mirrored.chain(values).chain(beyond).copied().collect();
    // Beyond nine bandwidths a Gaussian is below 1e-17 of its height.
    let least = kernel[points / 2] * 1e-18;
    let low = kernel.iter().position(|&weight| weight > least).unwrap_or(0);
    let high = kernel.iter().rposition(|&weight| weight > least).map_or(0, |last| last + 1);
    let centre = points / 2 + points - 1;
    let mut smoothed = vec![0.0; points];
    for (from, &value) in extended.iter().enumerate().rev().filter(|(_, value)| **value != 0.0) {
        // The weight of this value at place `to` is kernel[centre + to - from].
        let first = (low + from).saturating_sub(centre);
        let end = (high + from).saturating_sub(centre).min(points);
        if first < end {
            let weights = &kernel[centre + first - from..centre + end - from];
            let places = smoothed[first..end].iter_mut().zip(weights);
            places.for_each(|(to, weight)| *to += weight * value);
        }
    }
    smoothed
}

#[cfg(test)]
mod tests;
