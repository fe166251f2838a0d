//! Small nets with data and weights that a seed alone decides, and matrices with known spectra.

#![allow(dead_code)]

pub(crate) mod compared;
pub(crate) mod dense;

use std::sync::Arc;

use dissensus_core::philox::Stream;
use dissensus_engine::cpu::CpuRunner;
use dissensus_engine::device::Targets;
use dissensus_engine::network::{Builder, Network, Shape};
use dissensus_engine::{Dataset, Mode, Optimizer, Runner, Settings, State};
use dissensus_geometry::GeometryError;
use dissensus_geometry::curvature::Operator;

use dense::Dense;

pub(crate) const PLAIN: Optimizer =
    Optimizer::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };

pub(crate) fn noise(seed: u64, len: usize) -> Vec<f64> {
    let mut stream = Stream::new([seed, 0], [0; 3]);
    (0..len).map(|_| stream.normal()).collect()
}

/// The diagonal of these eigenvalues, turned by reflections.
pub(crate) fn with_spectrum(values: &[f64], seed: u64) -> Dense {
    let n = values.len();
    let mut a = Dense::diagonal(values).values().to_vec();
    for turn in 0..3 {
        let mut u = noise(seed + turn, n);
        let length = u.iter().map(|x| x * x).sum::<f64>().sqrt();
        u.iter_mut().for_each(|x| *x /= length);
        for rows in [true, false] {
            for line in 0..n {
                let at = |k: usize| if rows { k * n + line } else { line * n + k };
                let along: f64 = (0..n).map(|k| u[k] * a[at(k)]).sum();
                (0..n).for_each(|k| a[at(k)] -= 2.0 * along * u[k]);
            }
        }
    }
    for i in 0..n {
        for j in 0..i {
            a[j * n + i] = a[i * n + j];
        }
    }
    Dense::new(n, a)
}

/// All eigenvalues in ascending order, by Jacobi's rotations: slow, simple, and no relative of
/// anything in the crate.
pub(crate) fn eigenvalues(matrix: &Dense) -> Vec<f64> {
    let (n, mut a) = (matrix.len(), matrix.values().to_vec());
    for _ in 0..40 {
        let mut off = 0.0;
        for p in 0..n {
            for q in p + 1..n {
                let apq = a[p * n + q];
                off += apq * apq;
                if apq.abs() < 1e-300 {
                    continue;
                }
                let half = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
                let t = half.signum() / (half.abs() + half.hypot(1.0));
                let t = if half == 0.0 { 1.0 } else { t };
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if off < 1e-26 {
            break;
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i * (n + 1)]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A tiny smooth net in f64 with every kind of layer that a Hessian goes through.
pub(crate) struct Tiny {
    pub(crate) network: Arc<Network>,
    pub(crate) runner: CpuRunner<f64>,
    pub(crate) rows: Vec<u32>,
    pub(crate) targets: Vec<f32>,
}

impl Tiny {
    pub(crate) fn new() -> Self {
        let (height, width, channels, count) = (4, 4, 2, 7);
        let mut b = Builder::new(Shape::Map { height, width, channels });
        let x = b.conv("first", 0, 3, 3, 1);
        let x = b.batch_norm("norm", x);
        let x = b.gelu(x);
        let y = b.conv("second", x, 3, 3, 1);
        let x = b.add(x, y);
        let x = b.gelu(x);
        let x = b.pool(x);
        b.linear("fc", x, 3);
        let network = Arc::new(b.finish().unwrap());
        let mut stream = Stream::new([3, 0], [0; 3]);
        let data = Dataset::Images {
            height,
            width,
            channels,
            pixels: (0..count * height * width * channels).map(|_| stream.word() as u8).collect(),
            mean: vec![0.5; channels],
            deviation: vec![0.25; channels],
        };
        let settings =
            Settings { precision: Default::default(), batch: 4, optimizer: PLAIN, threads: 1 };
        let mut state = State::<f64>::fresh(&network, &PLAIN, 5);
        let shake = noise(6, state.parameters.len());
        state.parameters.iter_mut().zip(shake).for_each(|(w, e)| *w += 0.2 * e);
        let shake = noise(7, state.statistics.len());
        state.statistics.iter_mut().zip(shake).for_each(|(s, e)| *s += 0.3 * e.abs());
        let runner = CpuRunner::new(&network, &data, &settings, state).unwrap();
        let rows = (0..count as u32).collect();
        Self { network, runner, rows, targets: shares(4, count, 3) }
    }

    /// The Hessian column by column, from products with unit vectors.
    pub(crate) fn dense(&mut self) -> Dense {
        let n = self.len();
        let unit =
            |at: usize| (0..n).map(|i| if i == at { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let columns: Vec<f64> = (0..n).flat_map(|at| self.apply(&unit(at)).unwrap()).collect();
        // Symmetric to rounding; the mean of both halves is so exactly.
        let at = |i: usize| 0.5 * (columns[i] + columns[i % n * n + i / n]);
        Dense::new(n, (0..n * n).map(at).collect())
    }

    /// The gradient, with one parameter moved.
    pub(crate) fn gradient(&mut self, place: usize, by: f64) -> Vec<f64> {
        let state = self.runner.current().clone();
        let mut moved = state.clone();
        moved.parameters[place] += by;
        self.runner.restore(moved).unwrap();
        let targets = Targets::Distributions(&self.targets);
        let (_, gradient) = self.runner.mean_gradient(&self.rows, targets, Mode::Eval).unwrap();
        self.runner.restore(state).unwrap();
        gradient
    }
}

impl Operator for Tiny {
    type Number = f64;

    fn len(&self) -> usize {
        self.network.parameter_count()
    }

    fn apply(&mut self, vector: &[f64]) -> Result<Vec<f64>, GeometryError> {
        let targets = Targets::Distributions(&self.targets);
        Ok(self.runner.product(&self.rows, targets, Mode::Eval, vector)?)
    }
}

/// Shares of ten votes, most of them for one class.
pub(crate) fn shares(seed: u64, rows: usize, classes: usize) -> Vec<f32> {
    let mut stream = Stream::new([seed, 1], [0; 3]);
    let mut table = Vec::with_capacity(rows * classes);
    for row in 0..rows {
        let mut votes = vec![0u32; classes];
        for _ in 0..10 {
            let stray = stream.below(classes as u64) as usize;
            votes[if stream.unit() < 0.7 { row % classes } else { stray }] += 1;
        }
        table.extend(votes.iter().map(|&v| v as f32 / 10.0));
    }
    table
}
