//! Gradients in weights and at examples against central differences of the loss, Hessian-vector
//! products against differences of gradients and against a dense Hessian; in f64. And what else is
//! asked at the examples: moved ones, maps, new statistics.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{PLAIN, distributions, networks, noise, runner, vectors};
use dissensus_engine::cpu::CpuRunner;
use dissensus_engine::device::Targets;
use dissensus_engine::network::{Builder, Shape};
use dissensus_engine::{Dataset, EngineError, Link, Maps, Mode, Runner};

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
    runner.restore(changed).unwrap();
    let result = then(runner);
    runner.restore(state).unwrap();
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

/// Targets with negative entries, which sum to 1 in f32 exactly: no probabilities, and as good for
/// the loss. The gradient at the logits is q − t, whatever is in t.
#[test]
fn targets_may_be_negative() {
    let targets: [&[f32]; 3] = [&[1.5, -0.5, 0.0], &[-2.25, 3.0, 0.25], &[0.25, 0.5, 0.25]];
    let mut b = Builder::new(Shape::Flat { width: 4 });
    let x = b.linear("a", 0, 5);
    let x = b.gelu(x);
    b.linear("b", x, 3);
    let network = std::sync::Arc::new(b.finish().unwrap());
    let (data, table) = (vectors(16, 3, 4), targets.concat());
    let (rows, goal) = ([0, 1, 2], Targets::Distributions(&table));
    let mut runner = runner::<f64>(&network, &data, PLAIN, 3, 1);
    let logits = runner.logits(&rows).unwrap();
    let q: Vec<f64> = logits
        .chunks(3)
        .flat_map(|z| {
            let total: f64 = z.iter().map(|z| z.exp()).sum();
            z.iter().map(move |z| z.exp() / total).collect::<Vec<f64>>()
        })
        .collect();
    let wanted: f64 = q.iter().zip(&table).map(|(q, &t)| -f64::from(t) * q.ln() / 3.0).sum();
    let (found, ours) = runner.mean_gradient(&rows, goal, Mode::Eval).unwrap();
    assert!((found - wanted).abs() < 1e-14, "{found}, not {wanted}");
    // The bias of the last layer sees the sum of the gradients at the logits.
    for (class, slope) in ours[ours.len() - 3..].iter().enumerate() {
        let at = |row: usize| q[row * 3 + class] - f64::from(table[row * 3 + class]);
        let wanted = (0..3).map(at).sum::<f64>() / 3.0;
        assert!((slope - wanted).abs() < 1e-14, "class {class}: {slope}, not {wanted}");
    }
    let weights = runner.current().parameters.clone();
    let theirs = differences(&weights, |w| {
        let change = |own: &mut [f64]| own.copy_from_slice(w);
        with_parameters(&mut runner, change, |r| loss(r, &rows, goal, Mode::Eval))
    });
    let off = distance(&ours, &theirs);
    assert!(off < 1e-6, "gradients off by {off:e}");
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
    let logits = runner.logits(&rows).unwrap();
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
        let logits = runner.logits(&[0, 1]).unwrap();
        logits.iter().zip(&weights).map(|(z, w)| z * w).sum()
    };
    // Inputs are stored in f32: a step that f32 has exactly, from numbers that it has exactly.
    let base: Vec<f64> = base.iter().map(|&v| f64::from(v as f32)).collect();
    let mut runner = runner::<f64>(&network, &data(&base), PLAIN, 2, 1);
    let ours = runner.probe(&base, &weights, Mode::Eval).unwrap().input_gradient;
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

/// Examples as the network reads them.
fn normalized(data: &Dataset, rows: &[u32]) -> Vec<f64> {
    let size = data.shape().len();
    let row = |&row: &u32| -> Vec<f64> {
        let stretch = row as usize * size..(row as usize + 1) * size;
        match data {
            Dataset::Vectors { values, .. } => {
                values[stretch].iter().map(|&v| f64::from(v)).collect()
            }
            Dataset::Images { pixels, channels, mean, deviation, .. } => {
                let normal = |(at, &byte): (usize, &u8)| {
                    let (m, d) = (mean[at % channels], deviation[at % channels]);
                    (f64::from(byte) / 255.0 - f64::from(m)) / f64::from(d)
                };
                pixels[stretch].iter().enumerate().map(normal).collect()
            }
        }
    };
    rows.iter().flat_map(row).collect()
}

/// The slope of `score` in each of its numbers, by central differences.
fn differences(at: &[f64], mut score: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let (mut moved, step) = (at.to_vec(), 1e-6);
    let mut slope = |place: usize| {
        let [up, down] = [step, -step].map(|by| {
            moved[place] = at[place] + by;
            score(&moved)
        });
        moved[place] = at[place];
        (up - down) / (2.0 * step)
    };
    (0..at.len()).map(&mut slope).collect()
}

#[test]
fn input_gradients_agree_with_differences() {
    for (name, network, data) in networks() {
        // Two batches, rows not in order.
        let rows: Vec<u32> = vec![3, 0, 5, 1, 4];
        let table = distributions(21, data.len(), network.classes());
        let mut runner = runner::<f64>(&network, &data, PLAIN, 3, 1);
        let ours = runner.input_gradient(&rows, Targets::Distributions(&table)).unwrap();
        let size = network.input().len();
        assert_eq!(ours.len(), rows.len() * size);
        for (row, ours) in rows.iter().zip(ours.chunks(size)).take(2) {
            let goal: Vec<f64> = table[*row as usize * network.classes()..][..network.classes()]
                .iter()
                .map(|&p| f64::from(p))
                .collect();
            let theirs = differences(&normalized(&data, &[*row]), |x| {
                runner.loss_at(x, &goal, Mode::Eval).unwrap().0
            });
            let off = distance(ours, &theirs);
            assert!(off < 1e-6, "{name}, row {row}: input gradient off by {off:e}");
            assert!(ours.iter().any(|g| g.abs() > 1e-4), "{name}: no gradient to compare");
        }
    }
}

/// The loss of the largest logit at a temperature.
fn top_loss(z: &[f64], temperature: f64) -> f64 {
    let top = z.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    z.iter().map(|z| ((z - top) / temperature).exp()).sum::<f64>().ln()
}

#[test]
fn perturbed_logits_are_those_of_examples_moved_by_hand() {
    for (name, network, data) in networks() {
        if network.head().loss.link() == Link::Sigmoid {
            let refused = runner::<f64>(&network, &data, PLAIN, 3, 1).perturbed(&[0], 1.0, 0.1);
            let text = refused.unwrap_err().to_string();
            assert!(text.contains("trained by the loss `binary_cross_entropy`"), "{text}");
            continue;
        }
        let rows: Vec<u32> = vec![4, 2, 0, 5];
        let (temperature, epsilon) = (2.5, 0.03);
        let mut runner = runner::<f64>(&network, &data, PLAIN, 3, 1);
        let ours = runner.perturbed(&rows, temperature, epsilon).unwrap();
        let unmoved = runner.logits(&rows).unwrap();
        assert_eq!(runner.perturbed(&rows, temperature, 0.0).unwrap(), unmoved);
        let classes = network.classes();
        let weights = vec![0.0; classes];
        for (row, ours) in rows.iter().zip(ours.chunks(classes)) {
            let mut x = normalized(&data, &[*row]);
            let mut logits =
                |x: &[f64]| runner.probe(x, &weights, Mode::Eval).unwrap().outputs.clone();
            let slopes = differences(&x, |x| top_loss(&logits(x), temperature));
            for (x, d) in x.iter_mut().zip(&slopes) {
                // Where nothing reaches, differences give some rounding instead of 0.
                if d.abs() > 1e-8 {
                    *x -= epsilon * d.signum();
                }
            }
            let (off, move_off) = (distance(ours, &logits(&x)), {
                let before = logits(&normalized(&data, &[*row]));
                distance(ours, &before)
            });
            assert!(off < 1e-9, "{name}, row {row}: off by {off:e}");
            assert!(move_off > 1e-4, "{name}, row {row}: nothing moved");
        }
    }
}

#[test]
fn new_statistics_are_the_mean_of_the_batches() {
    let mut compared = 0;
    for (name, network, data) in networks() {
        if network.statistic_count() == 0 {
            continue;
        }
        let (rows, batch) = ([5, 1, 0, 4, 2], 2);
        let mut ours = runner::<f64>(&network, &data, PLAIN, 3, 1);
        let before = ours.current().clone();
        // Training takes a tenth of a batch's statistics: what it took, times ten.
        let mut mean = vec![0.0; network.statistic_count()];
        for rows in rows.chunks(batch) {
            let x = normalized(&data, rows);
            let weights = vec![0.0; rows.len() * network.classes()];
            ours.restore(before.clone()).unwrap();
            ours.probe(&x, &weights, Mode::Train).unwrap();
            let taken = ours.current().statistics.iter().zip(&before.statistics);
            for (mean, (after, before)) in mean.iter_mut().zip(taken) {
                *mean += (after - 0.9 * before) / 0.1 / 3.0;
            }
        }
        ours.restore(before.clone()).unwrap();
        ours.refresh(&rows, batch).unwrap();
        let after = ours.current().clone();
        let off = distance(&after.statistics, &mean);
        assert!(off < 1e-12, "{name}: statistics off by {off:e}");
        assert_eq!(after.parameters, before.parameters);
        // Training goes on as ever.
        ours.restore(before.clone()).unwrap();
        let x = normalized(&data, &rows[..2]);
        ours.probe(&x, &vec![0.0; 2 * network.classes()], Mode::Train).unwrap();
        let moved = distance(&ours.current().statistics, &before.statistics);
        assert!(moved > 0.0 && moved < 0.5, "{name}: moved by {moved}");
        for (rows, batch, what) in [
            (&rows[..], 4, "a batch of 4"),
            (&rows[..], 0, "a batch of 0"),
            (&[], 2, "no rows"),
            (&[99], 2, "row 99"),
            (&[0; 11], 2, "11 rows"),
        ] {
            let text = ours.refresh(rows, batch).unwrap_err().to_string();
            assert!(text.contains(what), "{text}");
        }
        compared += 1;
    }
    assert!(compared >= 2);
}

/// What the last pooling reads: its mean over pixels is what the last layer reads.
#[test]
fn maps_are_what_is_pooled() {
    let (mut with, mut without) = (0, 0);
    for (name, network, data) in networks() {
        let mut runner = runner::<f32>(&network, &data, PLAIN, 4, 1);
        let rows = [2, 0, 1, 3, 5];
        let maps = match runner.maps(&rows) {
            Ok(maps) => maps,
            Err(error) => {
                assert!(matches!(error, EngineError::NoMaps { .. }), "{name}: {error}");
                assert!(error.to_string().contains("Linear"), "{error}");
                without += 1;
                continue;
            }
        };
        let Maps { height, width, channels, values } = maps;
        assert_eq!(values.len(), rows.len() * height * width * channels);
        let features = runner.features(&rows).unwrap();
        for (map, features) in
            values.chunks(height * width * channels).zip(features.chunks(channels))
        {
            for (c, &feature) in features.iter().enumerate() {
                let total: f32 = map.iter().skip(c).step_by(channels).sum();
                assert!((total / (height * width) as f32 - feature).abs() < 1e-5, "{name}");
            }
        }
        with += 1;
    }
    assert!(with >= 5 && without >= 3, "{with} {without}");
}

#[test]
fn a_temperature_or_a_step_without_meaning_is_refused() {
    let (_, network, data) = networks().swap_remove(0);
    let mut runner = runner::<f64>(&network, &data, PLAIN, 4, 1);
    for (temperature, epsilon, what) in
        [(0.0, 0.1, "temperature of 0"), (f64::NAN, 0.1, "NaN"), (1.0, -0.1, "step of -0.1")]
    {
        let text = runner.perturbed(&[0], temperature, epsilon).unwrap_err().to_string();
        assert!(text.contains(what), "{text}");
    }
}
