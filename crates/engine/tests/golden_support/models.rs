//! Whole models (`reference/engine/models.py`): forward, gradients, Hessian-vector products,
//! running statistics, ten steps of training.

use std::sync::Arc;

use dissensus_core::philox::Stream;
use dissensus_engine::cpu::CpuRunner;
use dissensus_engine::device::Targets;
use dissensus_engine::network::{Network, Shape};
use dissensus_engine::{Dataset, Epoch, Mode, Model, Optimizer, Real, Runner, State};

use super::{Golden, PLAIN, Tensor, nothing, runner, same, vectors};

const STEPS: usize = 10;

/// By way of a data set: one batch after another, and all in one epoch.
pub(crate) fn mlp<F: Real>(golden: &Golden) {
    let (input, target) = (golden.tensor("input"), golden.tensor("target"));
    let (batches, batch, classes) = (input.shape[0], input.shape[1], golden.size("classes"));
    assert_eq!((golden.size("steps"), batches), (STEPS, STEPS));
    let model = Model::named("mlp").unwrap().with("dropout", 0.0).unwrap();
    let model = model.with("hidden", golden.size("hidden") as u64).unwrap();
    let shape = Shape::Flat { width: golden.size("in") };
    let network = Arc::new(model.network(shape, classes).unwrap());
    // `nn.Sequential` counts its layers, with GELU and dropout between the two.
    let rename = |name: &str| name.replace("hidden", "0").replace("output", "3");
    let betas = golden.setting("betas");
    let optimizer = Optimizer::Adam {
        beta1: betas[0].as_f64().unwrap(),
        beta2: betas[1].as_f64().unwrap(),
        epsilon: golden.number("eps"),
        weight_decay: golden.number("weight_decay"),
    };
    let parameters = golden.vector(&network, "params", rename);
    let mut runner = runner::<F>(&network, &vectors(input), batch, optimizer, parameters);
    let start = runner.current().clone();
    let table: Vec<f32> = target.values.iter().map(|&p| p as f32).collect();
    let targets = Targets::Distributions(&table);
    let rows: Vec<u32> = (0..(batches * batch) as u32).collect();

    golden.assert_near("output", &runner.logits(&rows[..batch]).unwrap());
    let (loss, gradient) = runner.mean_gradient(&rows[..batch], targets, Mode::Train).unwrap();
    golden.assert_near("loss", &[F::of(loss)]);
    golden.assert_all_near("grads", &network.export(&gradient), rename);

    let train = |runner: &mut CpuRunner<F>, number: u64, visits: &[u32]| -> f64 {
        let (rate, mode, seed, shifts, mixture) = (golden.number("lr"), Mode::Train, 0, None, None);
        let samples = targets.into();
        let epoch = Epoch { number, seed, visits, batch, rate, samples, shifts, mixture, mode };
        runner.train(&epoch).unwrap()
    };
    let batches = rows.chunks(batch).zip(0..);
    let losses: Vec<f64> = batches.map(|(rows, step)| train(&mut runner, step, rows)).collect();
    golden.assert_near("losses", &losses.iter().map(|&loss| F::of(loss)).collect::<Vec<F>>());
    let after = runner.current().clone();
    golden.assert_all_near("after", &network.export(&after.parameters), rename);

    runner.restore(start).unwrap();
    let mean = train(&mut runner, 0, &rows);
    assert_eq!(runner.current(), &after, "one epoch of ten batches");
    assert!((mean - losses.iter().sum::<f64>() / STEPS as f64).abs() < 1e-12, "mean loss {mean}");
}

fn resnet<F: Real>(
    width: usize,
    classes: usize,
    input: Shape,
    batch: usize,
    optimizer: Optimizer,
    parameters: impl FnOnce(&Network) -> Vec<F>,
) -> (Arc<Network>, CpuRunner<F>) {
    let network = Arc::new(
        Model::named("resnet18")
            .unwrap()
            .with("width", width as u64)
            .unwrap()
            .network(input, classes)
            .unwrap(),
    );
    let parameters = parameters(&network);
    let runner = runner::<F>(&network, &nothing(input), batch, optimizer, parameters);
    (network, runner)
}

pub(crate) fn resnet18<F: Real>(golden: &Golden) {
    let (input, target) = (golden.tensor("input"), golden.tensor("target"));
    let (batches, batch, classes) = (input.shape[0], input.shape[1], golden.size("classes"));
    let optimizer = Optimizer::Sgd {
        momentum: golden.number("momentum"),
        nesterov: false,
        weight_decay: golden.number("weight_decay"),
    };
    let parameters = |network: &Network| golden.vector(network, "params", same);
    let (width, shape) = (golden.size("width"), input.at(0).example());
    let (network, mut runner) = resnet::<F>(width, classes, shape, batch, optimizer, parameters);
    let (inputs, targets): (Vec<Vec<F>>, Vec<Vec<F>>) =
        (0..batches).map(|batch| (input.at(batch).ours(), target.at(batch).ours())).unzip();
    let start = runner.current().clone();

    // Evaluation, with running statistics away from 0 and 1.
    let statistics = golden.statistics(&network, "buffers", same);
    runner.restore(State { statistics, ..start.clone() }).unwrap();
    let (_, found) = runner.loss_at(&inputs[0], &targets[0], Mode::Eval).unwrap();
    golden.assert_near("output_eval", &found.outputs);
    let direction = golden.vector(&network, "v", same);
    let product = runner.product_at(&inputs[0], &targets[0], Mode::Eval, &direction).unwrap();
    golden.assert_all_near("hv", &network.export(&product), same);

    // Ten steps of training over three batches, from fresh statistics.
    runner.restore(start).unwrap();
    let mut losses = Vec::new();
    for step in 0..golden.size("steps") {
        let (input, target) = (&inputs[step % batches], &targets[step % batches]);
        let (loss, found) = runner.loss_at(input, target, Mode::Train).unwrap();
        losses.push(F::of(loss));
        if step == 0 {
            golden.assert_near("output", &found.outputs);
            golden.assert_near("loss", &[F::of(loss)]);
            golden.assert_all_near("grads", &network.export(&found.parameter_gradient), same);
            let statistics = network.export_statistics(&runner.current().statistics);
            golden.assert_all_near("buffers_after_1", &statistics, same);
        }
        runner.apply(&found.parameter_gradient, golden.number("lr")).unwrap();
    }
    golden.assert_near("losses", &losses);
    let State { parameters, statistics, .. } = runner.current();
    golden.assert_all_near("after", &network.export(parameters), same);
    golden.assert_all_near("buffers_after", &network.export_statistics(statistics), same);
    let (_, found) = runner.loss_at(&inputs[0], &targets[0], Mode::Eval).unwrap();
    golden.assert_near("output_after", &found.outputs);
}

/// Numbers in [−1, 1): the top 20 bits of SplitMix64 from `stream << 32`, as in the script.
fn splitmix(stream: u64, shape: &[usize]) -> Tensor {
    let number = |place: u64| {
        let mut z = (stream << 32).wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 44) as f64 / f64::from(1 << 19) - 1.0
    };
    let count = shape.iter().product::<usize>() as u64;
    Tensor { shape: shape.to_vec(), values: (1..=count).map(number).collect() }
}

fn sizes(value: &serde_json::Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

pub(crate) fn resnet18_wide<F: Real>(golden: &Golden) {
    let input = splitmix(0, &sizes(golden.setting("input")));
    let listed = golden.setting("parameters").as_array().unwrap();
    let find = |name: &str| {
        let place = listed.iter().position(|one| one["name"] == name)?;
        let number = |key: &str| listed[place][key].as_f64().unwrap();
        let (scale, plus) = (number("scale"), number("plus"));
        let Tensor { shape, values } = splitmix(place as u64 + 1, &sizes(&listed[place]["shape"]));
        Some((shape, values.into_iter().map(|unit| F::of(unit * scale + plus)).collect()))
    };
    let parameters = |network: &Network| {
        assert_eq!(network.parameters().len(), listed.len(), "parameters");
        network.import(find).unwrap()
    };
    let (width, classes) = (golden.size("width"), golden.size("classes"));
    let (network, mut runner) =
        resnet::<F>(width, classes, input.example(), input.shape[0], PLAIN, parameters);
    let targets = golden.tensor("target").ours();
    let (loss, found) = runner.loss_at(&input.ours(), &targets, Mode::Train).unwrap();
    golden.assert_near("output", &found.outputs);
    golden.assert_near("loss", &[F::of(loss)]);
    for tensor in network.export(&found.parameter_gradient) {
        let (mut sum, mut squares, mut along) = (0.0, 0.0, 0.0);
        for (place, g) in tensor.values.iter().map(|g| g.wide()).enumerate() {
            sum += g;
            squares += g * g;
            along += g * (0.37 * place as f64 + 0.1).sin();
        }
        let sums = [sum, f64::sqrt(squares), along].map(F::of);
        golden.assert_near(&format!("sums/{}", tensor.name), &sums);
    }
    let statistics = network.export_statistics(&runner.current().statistics);
    golden.assert_all_near("buffers_after_1", &statistics, same);
}

pub(crate) fn epoch_against_steps() {
    let (count, batch, classes, rate) = (10, 4, 3, 0.1);
    let shape = Shape::Map { height: 6, width: 5, channels: 3 };
    let mut stream = Stream::new([21, 0], [0, 0, 0]);
    let pixels = (0..count * shape.len()).map(|_| stream.word() as u8).collect();
    let (mean, deviation) = (vec![0.4, 0.5, 0.6], vec![0.2, 0.25, 0.3]);
    let data = Dataset::Images { height: 6, width: 5, channels: 3, pixels, mean, deviation };
    let network = Arc::new(
        Model::named("smallcnn")
            .unwrap()
            .with("width", 4_u64)
            .unwrap()
            .network(shape, classes)
            .unwrap(),
    );
    let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: true, weight_decay: 5e-4 };
    let start = State::<f64>::fresh(&network, &optimizer, 22).parameters;
    let mut epochs = runner(&network, &data, batch, optimizer, start.clone());
    let mut steps = runner(&network, &nothing(shape), batch, optimizer, start);

    let visits: Vec<u32> = (0..count as u32).rev().collect();
    let labels: Vec<u16> = (0..count as u16).map(|row| row % classes as u16).collect();
    let (targets, mode) = (Targets::Classes(&labels), Mode::Train);
    let (number, seed, shifts, mixture, samples) = (0, 0, None, None, targets.into());
    let epoch =
        Epoch { number, seed, visits: &visits, batch, rate, samples, shifts, mixture, mode };
    let loss = epochs.train(&epoch).unwrap();

    let mut total = 0.0;
    for rows in visits.chunks(batch) {
        let inputs = epochs.values(0, rows).unwrap();
        let values = rows.iter().map(|&row| f64::from(labels[row as usize])).collect();
        let goals = Tensor { shape: vec![rows.len()], values }.targets(classes);
        let (loss, found) = steps.loss_at(&inputs, &goals, Mode::Train).unwrap();
        steps.apply(&found.parameter_gradient, rate).unwrap();
        total += loss * rows.len() as f64;
    }
    assert_eq!(loss, total / count as f64);
    assert_eq!(epochs.current(), steps.current());
}
