//! Single layers (`reference/engine/layers.py`): outputs, the gradients of sum(output · probe) in
//! parameters and inputs, running statistics; the loss and its gradient at the logits.

use std::sync::Arc;

use dissensus_engine::cpu::Probe;
use dissensus_engine::device::Targets;
use dissensus_engine::network::{Network, Shape};
use dissensus_engine::{Mode, Real, Runner, State};

use super::{Golden, PLAIN, network, nothing, runner, same, vectors};

/// The name of a tensor of a layer that is called `layer` here and has no name there.
fn bare(name: &str) -> String {
    name.trim_start_matches("layer.").to_owned()
}

/// Compares a network that is the layer, and returns what was found.
fn layer<F: Real>(
    golden: &Golden,
    network: &Arc<Network>,
    mode: Mode,
    rename: impl Fn(&str) -> String,
) -> Probe<F> {
    let input = golden.tensor("input");
    let parameters = golden.vector(network, "params", &rename);
    let mut runner =
        runner::<F>(network, &nothing(network.input()), input.shape[0], PLAIN, parameters);
    let given = golden.has("buffers/running_mean");
    if given {
        let statistics = golden.statistics(network, "buffers", &rename);
        runner.restore(State { statistics, ..runner.current().clone() }).unwrap();
    }
    let before = runner.current().clone();
    let probe = golden.tensor("probe").ours();
    let found = runner.probe(&input.ours(), &probe, mode).unwrap();
    golden.assert_ours_near("output", &found.outputs);
    golden.assert_ours_near("grads/input", &found.input_gradient);
    golden.assert_all_near("grads", &network.export(&found.parameter_gradient), &rename);
    if given && mode == Mode::Train {
        let after = network.export_statistics(&runner.current().statistics);
        golden.assert_all_near("buffers_after", &after, &rename);
    } else if mode != Mode::Train {
        assert_eq!(runner.current(), &before, "an evaluation changes nothing");
    }
    found
}

pub(crate) fn linear<F: Real>(golden: &Golden) {
    let input = golden.tensor("input");
    let network = network(input.example(), |b| {
        b.linear("layer", 0, golden.size("out"));
    });
    layer::<F>(golden, &network, Mode::Eval, bare);
    // The same by way of a data set, in batches of 4 and 2.
    let parameters = golden.vector(&network, "params", bare);
    let mut runner = runner::<F>(&network, &vectors(input), 4, PLAIN, parameters);
    let rows: Vec<u32> = (0..input.shape[0] as u32).collect();
    golden.assert_near("output", &runner.logits(&rows).unwrap());
}

pub(crate) fn conv<F: Real>(golden: &Golden) {
    let network = network(golden.tensor("input").example(), |b| {
        b.conv("layer", 0, golden.size("out"), golden.size("kernel"), golden.size("stride"));
    });
    layer::<F>(golden, &network, Mode::Eval, bare);
}

pub(crate) fn batch_norm<F: Real>(golden: &Golden) {
    let network = network(golden.tensor("input").example(), |b| {
        b.batch_norm("layer", 0);
    });
    let train = golden.setting("train").as_bool().unwrap();
    let mode = if train { Mode::Train } else { Mode::Eval };
    layer::<F>(golden, &network, mode, bare);
}

pub(crate) fn relu<F: Real>(golden: &Golden) {
    let network = network(golden.tensor("input").example(), |b| {
        b.relu(0);
    });
    let found = layer::<F>(golden, &network, Mode::Eval, same);
    assert_eq!(found.outputs, golden.tensor("output").ours(), "nothing is rounded");
    assert_eq!(found.input_gradient, golden.tensor("grads/input").ours(), "nothing is rounded");
}

pub(crate) fn gelu<F: Real>(golden: &Golden) {
    let network = network(golden.tensor("input").example(), |b| {
        b.gelu(0);
    });
    let found = layer::<F>(golden, &network, Mode::Eval, same);
    // Number by number too: beside an input of 40 an error near 0 would not be seen. Φ is known to
    // so many places, not digits: in f32 as it is computed, in the lower tail of f64 as 1 + erf.
    let rounding = if size_of::<F>() == 8 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    for (key, ours) in [("output", &found.outputs), ("grads/input", &found.input_gradient)] {
        let (golden, inputs) = (golden.tensor(key), golden.tensor("input"));
        for ((ours, golden), x) in ours.iter().zip(&golden.values).zip(&inputs.values) {
            let off = (ours.wide() - golden).abs();
            let limit = rounding * (8.0 * golden.abs() + 4.0 * x.abs());
            assert!(off <= limit, "{key} at {x}: {ours:?}, not {golden:?}");
        }
    }
}

pub(crate) fn pool<F: Real>(golden: &Golden) {
    let network = network(golden.tensor("input").example(), |b| {
        b.pool(0);
    });
    layer::<F>(golden, &network, Mode::Eval, same);
}

/// A network has one input: the two summands come as channels of it, and 1×1 convolutions of zeros
/// and ones, which round nothing, pick them out.
pub(crate) fn add<F: Real>(golden: &Golden) {
    let [left, right] = ["input", "other"].map(|key| golden.tensor(key));
    let Shape::Map { height, width, channels } = left.example() else { unreachable!() };
    let network = network(Shape::Map { height, width, channels: 2 * channels }, |b| {
        let [left, right] = ["left", "right"].map(|name| b.conv(name, 0, channels, 1, 1));
        b.add(left, right);
    });
    let pick = |name: &str| {
        let first = if name == "left.weight" { 0 } else { channels };
        let one = |at: usize| {
            F::of(f64::from(u8::from(at % (2 * channels) == first + at / (2 * channels))))
        };
        let shape = vec![channels, 2 * channels, 1, 1];
        Some((shape, (0..2 * channels * channels).map(one).collect()))
    };
    let parameters = network.import(pick).unwrap();
    let (left, right) = (left.ours::<F>(), right.ours::<F>());
    let pixels = left.chunks(channels).zip(right.chunks(channels));
    let both: Vec<F> = pixels.flat_map(|(left, right)| [left, right].concat()).collect();
    let count = golden.tensor("input").shape[0];
    let mut runner = runner(&network, &nothing(network.input()), count, PLAIN, parameters);
    let found = runner.probe(&both, &golden.tensor("probe").ours(), Mode::Eval).unwrap();
    golden.assert_ours_near("output", &found.outputs);
    for (half, key) in ["grads/input", "grads/other"].into_iter().enumerate() {
        let pixels = found.input_gradient.chunks(channels).skip(half).step_by(2);
        golden.assert_ours_near(key, &pixels.flatten().copied().collect::<Vec<F>>());
    }
}

pub(crate) fn residual<F: Real>(golden: &Golden) {
    let (stride, channels) = (golden.size("stride"), golden.tensor("probe").shape[1]);
    let network = network(golden.tensor("input").example(), |b| {
        let x = b.conv("conv1", 0, channels, 3, stride);
        let x = b.batch_norm("conv1.bn", x);
        let x = b.relu(x);
        let x = b.conv("conv2", x, channels, 3, 1);
        let x = b.batch_norm("conv2.bn", x);
        let mut way = 0;
        if stride == 2 {
            way = b.conv("downsample", 0, channels, 1, stride);
            way = b.batch_norm("downsample.bn", way);
        }
        let x = b.add(x, way);
        b.relu(x);
    });
    layer::<F>(golden, &network, Mode::Train, same);
}

/// Logits come as they are through a linear layer of the identity, which rounds nothing.
pub(crate) fn cross_entropy<F: Real>(golden: &Golden) {
    let (input, target) = (golden.tensor("input"), golden.tensor("target"));
    let (count, classes) = (input.shape[0], golden.size("classes"));
    let network = network(input.example(), |b| {
        b.linear("identity", 0, classes);
    });
    let mut parameters = vec![F::ZERO; network.parameter_count()];
    (0..classes).for_each(|class| parameters[class * classes + class] = F::ONE);
    let mut runner = runner::<F>(&network, &vectors(input), count, PLAIN, parameters);

    let targets = target.targets(classes);
    let (loss, found) = runner.loss_at(&input.ours(), &targets, Mode::Eval).unwrap();
    assert_eq!(found.outputs, input.ours(), "the identity");
    golden.assert_near("loss", &[F::of(loss)]);
    golden.assert_near("grads/input", &found.input_gradient);

    // By way of the data set, with labels as labels. The gradient of the bias is the sum of rows.
    let labels: Vec<u16> = target.values.iter().map(|&label| label as u16).collect();
    let table: Vec<f32> = target.values.iter().map(|&p| p as f32).collect();
    let targets = match target.shape.len() {
        1 => Targets::Classes(&labels),
        _ => Targets::Distributions(&table),
    };
    let rows: Vec<u32> = (0..count as u32).collect();
    let (loss, gradient) = runner.mean_gradient(&rows, targets, Mode::Eval).unwrap();
    golden.assert_near("loss", &[F::of(loss)]);
    assert_eq!(gradient, found.parameter_gradient, "the same batch");
}
