//! Gradients against central differences of the loss, Hessian-vector products against differences
//! of gradients and against a dense Hessian; in f64.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{PLAIN, distributions, networks, noise, runner, vectors};
use dissensus_engine::Mode;
use dissensus_engine::cpu::CpuRunner;
use dissensus_engine::device::Targets;
use dissensus_engine::network::{Builder, Shape};

const MODES: [Mode; 3] = [Mode::Train, Mode::Frozen, Mode::Eval];

fn loss(runner: &mut CpuRunner<f64>, rows: &[u32], targets: Targets<'_>, mode: Mode) -> f64 {
    runner.mean_gradient(rows, targets, mode).unwrap().0
}

fn with_parameters<R>(
    runner: &mut CpuRunner<f64>,
    change: impl Fn(&mut [f64]),
    then: impl FnOnce(&mut CpuRunner<f64>) -> R,
) -> R {
    let state = runner.current().clone();
    let mut changed = state.clone();
    change(&mut changed.parameters);
    runner.set(changed).unwrap();
    let result = then(runner);
    runner.set(state).unwrap();
    result
}

/// The largest difference, relative to the largest number.
fn distance(ours: &[f64], reference: &[f64]) -> f64 {
    let size = reference.iter().fold(0.0f64, |a, b| a.max(b.abs()));
    let off = ours.iter().zip(reference).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
    if off == 0.0 { 0.0 } else { off / size }
}

#[test]
fn gradients_agree_with_differences() {
    for (name, network, data) in networks() {
        for mode in MODES {
            let rows: Vec<u32> = (0..data.len() as u32).collect();
            let table = distributions(8, data.len(), network.classes());
            let targets = Targets::Distributions(&table);
            let mut runner = runner::<f64>(&network, &data, PLAIN, data.len(), 1);
            let (_, ours) = runner.mean_gradient(&rows, targets, mode).unwrap();
            let step = 1e-5;
            let differences: Vec<f64> = (0..ours.len())
                .map(|at| {
                    let [up, down] = [step, -step].map(|by| {
                        let change = |w: &mut [f64]| w[at] += by;
                        with_parameters(&mut runner, change, |r| loss(r, &rows, targets, mode))
                    });
                    (up - down) / (2.0 * step)
                })
                .collect();
            // Before batch norm in training, a convolution's gradient sums to nearly nothing, so
            // tensors are compared at the scale of the whole gradient of their network.
            let off = distance(&ours, &differences);
            assert!(off < 1e-6, "{name}, {mode:?}: gradients off by {off:e}");
            assert!(ours.iter().any(|g| g.abs() > 1e-3), "{name}: no gradient to compare");
        }
    }
}

#[test]
fn hessian_products_agree_with_differences_of_gradients() {
    for (name, network, data) in networks() {
        for mode in MODES {
            let rows: Vec<u32> = (0..data.len() as u32).collect();
            let table = distributions(9, data.len(), network.classes());
            let targets = Targets::Distributions(&table);
            let mut runner = runner::<f64>(&network, &data, PLAIN, data.len(), 1);
            let direction = noise(10, network.parameter_count());
            let ours = runner.product(&rows, targets, mode, &direction).unwrap();
            let step = 1e-6;
            let [up, down] = [step, -step].map(|by| {
                let change = |w: &mut [f64]| {
                    w.iter_mut().zip(&direction).for_each(|(w, d)| *w += by * d);
                };
                with_parameters(&mut runner, change, |r| {
                    r.mean_gradient(&rows, targets, mode).unwrap().1
                })
            });
            let differences: Vec<f64> =
                up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * step)).collect();
            let off = distance(&ours, &differences);
            assert!(off < 1e-6, "{name}, {mode:?}: products off by {off:e}");
        }
    }
}

/// Softmax regression has its Hessian in closed form: the mean of (x, 1)(x, 1)ᵀ ⊗ (diag q − qqᵀ).
#[test]
fn products_agree_with_the_dense_hessian_in_closed_form() {
    let (inputs, classes, count) = (4, 3, 9);
    let mut b = Builder::new(Shape::Flat { width: inputs });
    b.linear("l", 0, classes);
    let network = std::sync::Arc::new(b.finish().unwrap());
    let data = vectors(11, count, inputs);
    let dissensus_engine::Dataset::Vectors { values, .. } = &data else { unreachable!() };
    let rows: Vec<u32> = (0..count as u32).collect();
    let table = distributions(12, count, classes);
    let targets = Targets::Distributions(&table);
    let mut runner = runner::<f64>(&network, &data, PLAIN, 4, 1);
    let logits = runner.all_logits(&rows).unwrap();
    let size = network.parameter_count();
    let mut dense = vec![0.0; size * size];
    for (x, z) in values.chunks(inputs).zip(logits.chunks(classes)) {
        let mut x: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
        x.push(1.0);
        let total: f64 = z.iter().map(|z| z.exp()).sum();
        let q: Vec<f64> = z.iter().map(|z| z.exp() / total).collect();
        for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
            let ((xi, a), (xj, b)) = ((i / classes, i % classes), (j / classes, j % classes));
            let inner = if a == b { q[a] } else { 0.0 } - q[a] * q[b];
            dense[i * size + j] += x[xi] * x[xj] * inner / count as f64;
        }
    }
    for column in 0..size {
        let mut unit = vec![0.0; size];
        unit[column] = 1.0;
        let ours = runner.product(&rows, targets, Mode::Eval, &unit).unwrap();
        let theirs: Vec<f64> = (0..size).map(|row| dense[row * size + column]).collect();
        let off = distance(&ours, &theirs);
        assert!(off < 1e-12, "column {column} off by {off:e}");
    }
}

/// The columns that products with unit vectors give make a symmetric matrix that equals the one
/// from differences of gradients, for a tiny net with every kind of layer.
#[test]
fn products_make_the_dense_hessian_of_a_tiny_net() {
    let (name, network, data) = networks()
        .into_iter()
        .min_by_key(|(name, n, _)| (!name.contains("residual"), n.parameter_count()))
        .unwrap();
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    let table = distributions(13, data.len(), network.classes());
    let targets = Targets::Distributions(&table);
    let mut runner = runner::<f64>(&network, &data, PLAIN, data.len(), 1);
    let size = network.parameter_count();
    let step = 1e-5;
    let (mut ours, mut reference) = (Vec::new(), Vec::new());
    for column in 0..size {
        let mut unit = vec![0.0; size];
        unit[column] = 1.0;
        ours.push(runner.product(&rows, targets, Mode::Eval, &unit).unwrap());
        let [up, down] = [step, -step].map(|by| {
            with_parameters(
                &mut runner,
                |w| w[column] += by,
                |r| r.mean_gradient(&rows, targets, Mode::Eval).unwrap().1,
            )
        });
        reference
            .push(up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect::<Vec<_>>());
    }
    let (ours_flat, reference_flat) = (ours.concat(), reference.concat());
    let off = distance(&ours_flat, &reference_flat);
    assert!(off < 1e-6, "{name}: dense Hessian off by {off:e}");
    let mirrored: Vec<f64> = (0..size).flat_map(|i| ours.iter().map(move |row| row[i])).collect();
    let skew = distance(&ours_flat, &mirrored);
    assert!(skew < 1e-12, "{name}: not symmetric, by {skew:e}");
}

#[test]
fn gradients_reach_the_inputs() {
    let network = {
        let mut b = Builder::new(Shape::Flat { width: 5 });
        let x = b.linear("a", 0, 6);
        let x = b.gelu(x);
        b.linear("b", x, 3);
        std::sync::Arc::new(b.finish().unwrap())
    };
    let base = noise(14, 10);
    let data = |values: &[f64]| dissensus_engine::Dataset::Vectors {
        width: 5,
        values: values.iter().map(|&v| v as f32).collect(),
    };
    let weights = noise(15, 6);
    let score = |values: &[f64]| -> f64 {
        let mut runner = runner::<f64>(&network, &data(values), PLAIN, 2, 1);
        let logits = runner.all_logits(&[0, 1]).unwrap();
        logits.iter().zip(&weights).map(|(z, w)| z * w).sum()
    };
    let ours = runner::<f64>(&network, &data(&base), PLAIN, 2, 1)
        .input_gradient(&[0, 1], &weights)
        .unwrap();
    // Inputs are stored in f32: a step that f32 has exactly, from numbers that it has exactly.
    let base: Vec<f64> = base.iter().map(|&v| f64::from(v as f32)).collect();
    for (at, ours) in ours.iter().enumerate() {
        let step = 1.0 / 1024.0;
        let [up, down] = [step, -step].map(|by| {
            let mut moved = base.clone();
            moved[at] = f64::from((moved[at] + by) as f32);
            (moved[at], score(&moved))
        });
        let difference = (up.1 - down.1) / (up.0 - down.0);
        assert!((ours - difference).abs() < 1e-5, "input {at}: {ours}, not {difference}");
    }
}
