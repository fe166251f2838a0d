//! Our side of `bench/geometry`: power iterations and trace probes over random images, on a
//! ResNet-18 that a few steps of training have moved off its start.
//!
//! The net, the images and the targets go into a folder for the peer: same weights, same probes,
//! so that both must find the same numbers.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dissensus_engine::device::Targets;
use dissensus_engine::network::Layout;
use dissensus_engine::{
    Cpu, Cuda, Dataset, Device, Model, Network, Optimizer, Precision, Settings, State,
};
use dissensus_geometry::curvature::{
    Operator, PowerSettings, TraceSettings, hutchinson, power, rademacher,
};
use dissensus_geometry::model::Hessian;
use safetensors::Dtype;
use safetensors::tensor::{TensorView, serialize_to_file};

use crate::{Outcome, images, peak_mib, shares, train};

const CLASSES: usize = 10;
const WIDTH: usize = 64;
const BATCH: usize = 128;

/// `device` is cpu or cuda; the products are in `precision`. All precisions see the same weights,
/// which are trained in f32.
pub(crate) fn geometry(
    device: &str,
    precision: &str,
    rows: usize,
    iterations: usize,
    probes: usize,
    folder: &Path,
) -> Outcome<()> {
    let precision_of = Precision::named(precision).ok_or("f32, tf32, bf16 or bf16x3?")?;
    let device: Box<dyn Device> = match device {
        "cuda" => Box::new(Cuda::open(0)?),
        "cpu" => Box::new(Cpu),
        _ => return Err("cpu or cuda?".into()),
    };
    let dataset = images(rows);
    let network = Arc::new(
        Model::named("resnet18")?.with("width", WIDTH as u64)?.network(dataset.shape(), CLASSES)?,
    );
    let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 5e-4 };
    let batch = BATCH.min(rows);
    let of = |precision| Settings { precision, batch, optimizer, threads: 0 };
    let targets = shares(rows, CLASSES);
    let all: Vec<u32> = (0..rows as u32).collect();
    let state = State::fresh(&network, &optimizer, 0);
    let mut runner = device.runner(&network, &dataset, &of(Precision::F32), state)?;
    for number in 0..2 {
        train(&mut *runner, &all, number, batch, 0.01, &targets)?;
    }
    let state = runner.state()?;
    drop(runner);
    write(folder, &network, &dataset, &targets, &state, iterations, probes)?;

    let mut runner = device.runner(&network, &dataset, &of(precision_of), state)?;
    let soft = Targets::Distributions(&targets);
    // A first product, in which a device chooses its algorithms and takes its memory.
    let mut hessian = Hessian::new(&mut *runner, &network, &all, soft)?;
    let begun = Instant::now();
    hessian.apply(&rademacher(1, 0, 0, network.parameter_count()))?;
    let first = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    // A tolerance of 0 is never met: both sides make as many products.
    let found = power(&mut hessian, &PowerSettings { seed: 0, tolerance: 0.0, most: iterations })?;
    let powered = begun.elapsed().as_secs_f64();
    let settings = TraceSettings { seed: 0, tolerance: 0.0, least: probes, most: probes };
    let traces = hutchinson(&mut hessian, &[], &settings)?;
    let seconds = begun.elapsed().as_secs_f64();
    let (value, residual) = (found.top.value, found.top.error.unwrap_or(f64::NAN));
    println!(
        r#"{{"what": "geometry", "precision": "{precision}", "device": "{}", "rows": {rows}, "products": {}, "seconds": {seconds}, "power_seconds": {powered}, "trace_seconds": {}, "first_product_seconds": {first}, "lambda": {value}, "residual": {}, "trace": {}, "trace_error": {}, "buffers_mib": {}, "memory_mib": {}}}"#,
        device.describe(),
        iterations + probes,
        seconds - powered,
        residual / value.abs(),
        traces.trace.value,
        traces.trace.error.unwrap_or(f64::NAN),
        runner.bytes() >> 20,
        peak_mib(),
    );
    Ok(())
}

fn write(
    folder: &Path,
    network: &Network,
    dataset: &Dataset,
    targets: &[f32],
    state: &State<f32>,
    iterations: usize,
    probes: usize,
) -> Outcome<()> {
    std::fs::create_dir_all(folder)?;
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let weights = network.export(&state.parameters);
    let statistics = network.export_statistics(&state.statistics);
    let mut tensors = Vec::new();
    for tensor in weights.iter().chain(&statistics) {
        tensors.push((&tensor.name, tensor.shape.clone(), bytes(&tensor.values)));
    }
    let mut views = Vec::new();
    for (name, shape, bytes) in &tensors {
        views.push((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?));
    }
    serialize_to_file(views, None, &folder.join("net.safetensors"))?;
    let Dataset::Images { height, width, channels, pixels, .. } = dataset else {
        return Err("images are needed".into());
    };
    let (rows, targets) = (dataset.len(), bytes(targets));
    let shape = vec![rows, *height, *width, *channels];
    let views = [
        ("pixels", TensorView::new(Dtype::U8, shape, pixels)?),
        ("targets", TensorView::new(Dtype::F32, vec![rows, CLASSES], &targets)?),
    ];
    serialize_to_file(views, None, &folder.join("data.safetensors"))?;
    let parameter = |p: &dissensus_engine::network::Parameter| {
        let layout = match p.layout {
            Layout::Conv { .. } => "conv",
            Layout::Linear { .. } => "linear",
            Layout::Vector { .. } => "vector",
        };
        format!(r#"{{"name": "{}", "layout": "{layout}"}}"#, p.name)
    };
    let parameters: Vec<String> = network.parameters().iter().map(parameter).collect();
    let statistics: Vec<String> =
        statistics.iter().map(|s| format!(r#"{{"name": "{}"}}"#, s.name)).collect();
    let text = format!(
        r#"{{"width": {WIDTH}, "iterations": {iterations}, "probes": {probes}, "parameters": [{}], "statistics": [{}]}}"#,
        parameters.join(", "),
        statistics.join(", ")
    );
    std::fs::write(folder.join("setup.json"), text)?;
    Ok(())
}
