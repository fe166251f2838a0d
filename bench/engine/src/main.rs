//! Our side of `bench/run engine`: prints one line of JSON a measurement, as `peers.py` does.
//!
//!     engine mlp popquorn|chaosnli THREADS REPEATS | grid popquorn|chaosnli LANES
//!          | resnet18 THREADS STEPS [WIDTH BATCH] | memory THREADS EPOCHS
//!          | cuda bf16|bf16x3|tf32|f32 LANES EPOCHS (one lane: the GPU opened for one run alone)
//!          | evaluation bf16|bf16x3|tf32|f32 LANES EPOCHS alone|shared
//!          | geometry cpu|cuda bf16|bf16x3|tf32|f32 ROWS ITERATIONS PROBES FOLDER

mod evaluation;
mod geometry;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use dissensus_core::philox::Stream;
use dissensus_engine::device::Targets;
use dissensus_engine::{
    Cpu, Dataset, Device, Epoch, Mode, Model, Optimizer, Rates, Runner, Schedule, Settings, State,
    random,
};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["mlp", data, threads, repeats] => mlp(data, threads.parse()?, repeats.parse()?),
        ["grid", data, lanes] => grid(data, lanes.parse()?),
        ["resnet18", threads, steps] => resnet18(threads.parse()?, steps.parse()?, 64, 64),
        ["resnet18", threads, steps, width, batch] => {
            resnet18(threads.parse()?, steps.parse()?, width.parse()?, batch.parse()?)
        }
        ["cuda", precision, lanes, epochs] => cuda(precision, lanes.parse()?, epochs.parse()?),
        ["evaluation", precision, lanes, epochs, opened @ ("alone" | "shared")] => {
            let device = opened_for(opened == "shared")?;
            evaluation::evaluation(&device, precision, lanes.parse()?, epochs.parse()?)
        }
        ["geometry", device, precision, rows, iterations, probes, folder] => {
            let (iterations, probes) = (iterations.parse()?, probes.parse()?);
            let folder = std::path::Path::new(folder);
            geometry::geometry(device, precision, rows.parse()?, iterations, probes, folder)
        }
        ["memory", threads, epochs] => memory(threads.parse()?, epochs.parse()?),
        _ => Err("which benchmark?".into()),
    }
}

/// Rows, features, classes and the batch of the published settings.
fn shape(data: &str) -> Outcome<(usize, usize, usize, usize)> {
    match data {
        "popquorn" => Ok((3700, 384, 5, 8)),
        "chaosnli" => Ok((3113, 3072, 3, 32)),
        _ => Err("popquorn or chaosnli?".into()),
    }
}

fn normal(len: usize) -> Vec<f32> {
    let mut stream = Stream::new([0, 0], [0, 0, 0]);
    (0..len).map(|_| stream.normal() as f32).collect()
}

/// Random distributions.
fn shares(rows: usize, classes: usize) -> Vec<f32> {
    let mut table: Vec<f32> = normal(rows * classes).iter().map(|z| z.exp()).collect();
    for row in table.chunks_mut(classes) {
        let total: f32 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    }
    table
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}

fn adam(weight_decay: f64) -> Optimizer {
    Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay }
}

/// Random features, and random distributions as their targets.
fn features(data: &str) -> Outcome<(Dataset, Vec<f32>)> {
    let (rows, width, classes, _) = shape(data)?;
    let dataset = Dataset::Vectors { width, values: normal(rows * width).into() };
    Ok((dataset, shares(rows, classes)))
}

/// A head on features.
fn head(
    dataset: &Dataset,
    classes: usize,
    batch: usize,
    optimizer: Optimizer,
    threads: usize,
) -> Outcome<Box<dyn Runner>> {
    let model = Model::named("mlp")?;
    let network = Arc::new(model.network(dataset.shape(), classes)?);
    // Room for evaluation in larger batches than training, as the training loop has it.
    let settings =
        Settings { precision: Default::default(), batch: batch.max(64), optimizer, threads };
    let state = State::fresh(&network, &optimizer, 0);
    Ok(Cpu.runner(&network, dataset, &settings, state)?)
}

fn train(
    runner: &mut dyn Runner,
    rows: &[u32],
    number: u64,
    batch: usize,
    rate: f64,
    targets: &[f32],
) -> Outcome<f64> {
    let mut visits = rows.to_vec();
    Stream::new([0, random::ORDER], [number, 0, 0]).shuffle(&mut visits);
    Ok(runner.train(&Epoch {
        number,
        seed: 0,
        visits: &visits,
        batch,
        rate,
        samples: Targets::Distributions(targets).into(),
        shifts: None,
        mixture: None,
        mode: Mode::Train,
    })?)
}

/// Seconds of an epoch of the head, best of several after a warm-up epoch.
fn mlp(data: &str, threads: usize, repeats: u64) -> Outcome<()> {
    let (rows, _, classes, batch) = shape(data)?;
    let (dataset, targets) = features(data)?;
    let mut runner = head(&dataset, classes, batch, adam(0.0), threads)?;
    let all: Vec<u32> = (0..rows as u32).collect();
    let (mut seconds, mut loss) = (Vec::new(), 0.0);
    for number in 0..=repeats {
        let start = Instant::now();
        loss = train(&mut *runner, &all, number, batch, 1e-3, &targets)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let seconds = &seconds[1..];
    let best = seconds.iter().copied().fold(f64::MAX, f64::min);
    println!(
        r#"{{"what": "mlp epoch", "data": "{data}", "threads": {threads}, "batch": {batch}, "seconds": {best}, "all_seconds": {seconds:?}, "loss": {loss}, "memory_mib": {}}}"#,
        peak_mib()
    );
    Ok(())
}

/// All 216 runs of a grid search, over lanes of one thread each.
fn grid(data: &str, lanes: usize) -> Outcome<()> {
    let (rows, _, classes, _) = shape(data)?;
    let mut settings = Vec::new();
    for rate in [1e-3, 1e-4, 1e-5] {
        for batch in [8usize, 16, 32] {
            for epochs in [10u64, 15, 20] {
                for decay in [0.0, 1e-4] {
                    for plateau in [false, true] {
                        settings.extend([(rate, batch, epochs, decay, plateau); 2]);
                    }
                }
            }
        }
    }
    let (first, second) = ((rows as f64 * 0.7).round() as u32, (rows as f64 * 0.85).round() as u32);
    let (training, validation): (Vec<u32>, Vec<u32>) =
        ((0..first).collect(), (first..second).collect());
    let (dataset, targets) = features(data)?;
    let start = Instant::now();
    let run = |job: usize| -> Outcome<f64> {
        let (rate, batch, epochs, decay, plateau) = settings[job];
        let mut runner = head(&dataset, classes, batch, adam(decay), 1)?;
        let schedule = match plateau {
            true => Schedule::Plateau { factor: 0.5, patience: 10, threshold: 1e-4, minimum: 0.0 },
            false => Schedule::Constant,
        };
        let mut rates = Rates::new(schedule, rate, epochs);
        let mut loss = 0.0;
        for number in 0..epochs {
            let rate = rates.rate(number);
            train(&mut *runner, &training, number, batch, rate, &targets)?;
            let held_out = &targets[first as usize * classes..];
            loss = cross_entropy(&runner.logits(&validation)?, held_out, classes);
            rates.watch(loss);
        }
        Ok(loss)
    };
    let losses =
        dissensus_train::parallel(settings.len(), lanes, |_, job| run(job).unwrap_or(f64::NAN));
    let seconds = start.elapsed().as_secs_f64();
    let mean = losses.iter().sum::<f64>() / losses.len() as f64;
    println!(
        r#"{{"what": "grid of 216 runs", "data": "{data}", "lanes": {lanes}, "runs": {}, "seconds": {seconds}, "mean_loss": {mean}, "memory_mib": {}}}"#,
        losses.len(),
        peak_mib()
    );
    Ok(())
}

fn cross_entropy(logits: &[f32], targets: &[f32], classes: usize) -> f64 {
    let rows = logits.chunks(classes).zip(targets.chunks(classes));
    let count = logits.len() / classes;
    let loss = |(z, p): (&[f32], &[f32])| {
        let top = z.iter().copied().fold(f32::MIN, f32::max);
        let total: f32 = z.iter().map(|z| (z - top).exp()).sum();
        let spread = f64::from(total.ln() + top);
        p.iter().zip(z).map(|(&p, &z)| f64::from(p) * (spread - f64::from(z))).sum::<f64>()
    };
    rows.map(loss).sum::<f64>() / count as f64
}

fn images(count: usize) -> Dataset {
    let mut stream = Stream::new([1, 0], [0, 0, 0]);
    Dataset::Images {
        height: 32,
        width: 32,
        channels: 3,
        pixels: (0..count * 3072).map(|_| stream.word() as u8).collect(),
        mean: vec![0.5; 3],
        deviation: vec![0.25; 3],
    }
}

/// Images a second of training steps, best of several after two.
fn resnet18(threads: usize, steps: u64, width: usize, batch: usize) -> Outcome<()> {
    let dataset = images(batch);
    let network = Arc::new(
        Model::named("resnet18")?.with("width", width as u64)?.network(dataset.shape(), 10)?,
    );
    let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 0.0 };
    let settings = Settings { precision: Default::default(), batch, optimizer, threads };
    let state = State::fresh(&network, &optimizer, 0);
    let mut runner = Cpu.runner(&network, &dataset, &settings, state)?;
    let targets = shares(batch, 10);
    let rows: Vec<u32> = (0..batch as u32).collect();
    let (mut seconds, mut loss) = (Vec::new(), 0.0);
    for number in 0..steps + 2 {
        let start = Instant::now();
        loss = train(&mut *runner, &rows, number, batch, 0.01, &targets)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let seconds = &seconds[2..];
    let best = seconds.iter().copied().fold(f64::MAX, f64::min);
    println!(
        r#"{{"what": "resnet18", "threads": {threads}, "width": {width}, "batch": {batch}, "seconds": {best}, "images_per_second": {}, "all_seconds": {seconds:?}, "loss": {loss}, "buffers_mib": {}, "memory_mib": {}}}"#,
        batch as f64 / best,
        runner.bytes() >> 20,
        peak_mib()
    );
    Ok(())
}

/// Peak memory after every so many epochs of a small ResNet-18: it must not grow.
fn memory(threads: usize, epochs: u64) -> Outcome<()> {
    let dataset = images(256);
    let network =
        Arc::new(Model::named("resnet18")?.with("width", 8_u64)?.network(dataset.shape(), 10)?);
    let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 0.0 };
    let settings = Settings { precision: Default::default(), batch: 64, optimizer, threads };
    let state = State::fresh(&network, &optimizer, 0);
    let mut runner = Cpu.runner(&network, &dataset, &settings, state)?;
    let targets = shares(256, 10);
    let rows: Vec<u32> = (0..256).collect();
    let mut peaks = Vec::new();
    for number in 0..epochs {
        train(&mut *runner, &rows, number, 64, 0.01, &targets)?;
        runner.logits(&rows)?;
        if number == 1 || number + 1 == epochs {
            peaks.push(peak_mib());
        }
    }
    println!(
        r#"{{"what": "memory", "epochs": {epochs}, "peak_mib_after_2_epochs": {}, "peak_mib_at_the_end": {}}}"#,
        peaks[0],
        peaks[peaks.len() - 1]
    );
    Ok(())
}

/// Where a GPU's choices are kept from one start to the next, as the program does it: in the folder LEARNED.
fn learned(several: bool) -> Option<PathBuf> {
    let name = if several { "shared.txt" } else { "alone.txt" };
    std::env::var_os("LEARNED").map(|folder| Path::new(&folder).join(name))
}

/// The GPU, for one run alone or for several.
fn opened_for(several: bool) -> Outcome<dissensus_engine::Cuda> {
    let gpu = match several {
        true => dissensus_engine::Cuda::open(0)?,
        false => dissensus_engine::Cuda::open_exclusive(0)?,
    };
    if let Some(text) = learned(several).and_then(|path| std::fs::read_to_string(path).ok()) {
        gpu.recall(&text);
    }
    Ok(gpu)
}

/// Images that an epoch visits.
const TRAINED: usize = 8_000;

/// An epoch of the study's recipe: batch 128, crops and flips, soft targets.
fn with_epoch<T>(lane: u64, number: u64, targets: &[f32], work: impl FnOnce(&Epoch<'_>) -> T) -> T {
    let augment = dissensus_engine::Augment { crop: 4, flip: true };
    let mut visits: Vec<u32> = (0..TRAINED as u32).collect();
    Stream::new([lane, random::ORDER], [number, 0, 0]).shuffle(&mut visits);
    let shifts: Vec<_> =
        visits.iter().map(|&v| augment.shift(lane, number, u64::from(v))).collect();
    work(&Epoch {
        number,
        seed: lane,
        visits: &visits,
        batch: 128,
        rate: 0.05,
        samples: Targets::Distributions(targets).into(),
        shifts: Some(&shifts),
        mixture: None,
        mode: Mode::Train,
    })
}

/// The study's recipe on a GPU: 8,000 images, batch 128, crops and flips, soft targets.
fn cuda(precision: &str, lanes: usize, epochs: u64) -> Outcome<()> {
    let start = Instant::now();
    let device = opened_for(lanes > 1)?;
    let opened = start.elapsed().as_secs_f64();
    let precision_of =
        dissensus_engine::Precision::named(precision).ok_or("f32, tf32, bf16 or bf16x3?")?;
    let dataset = images(TRAINED);
    let network = Arc::new(Model::named("resnet18")?.network(dataset.shape(), 10)?);
    let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 5e-4 };
    let settings = Settings { precision: precision_of, batch: 128, optimizer, threads: 1 };
    let targets = shares(8000, 10);
    // All lanes are timed together, from when the last has done its first epoch.
    let barrier = std::sync::Barrier::new(lanes);
    let run = |lane: u64| -> Outcome<(f64, f64, usize, f64)> {
        let state = State::fresh(&network, &optimizer, lane);
        let mut runner = device.runner(&network, &dataset, &settings, state)?;
        let (mut began, mut loss, mut first) = (Instant::now(), 0.0, 0.0);
        for number in 0..=epochs {
            loss = with_epoch(lane, number, &targets, |epoch| runner.train(epoch))?;
            if number == 0 {
                first = start.elapsed().as_secs_f64();
                barrier.wait();
                began = Instant::now();
            }
        }
        barrier.wait();
        Ok((began.elapsed().as_secs_f64(), loss, runner.bytes(), first))
    };
    let results = dissensus_train::parallel(lanes, lanes, |_, lane| {
        run(lane as u64).map_err(|e| e.to_string())
    });
    let (mut slowest, mut memory, mut losses, mut first) = (0.0f64, 0, Vec::new(), 0.0f64);
    for result in results {
        let (seconds, loss, bytes, began) = result?;
        slowest = slowest.max(seconds);
        memory += bytes >> 20;
        losses.push(loss);
        first = first.max(began);
    }
    let rates = 8000.0 * (epochs * lanes as u64) as f64 / slowest;
    println!(
        r#"{{"what": "resnet18", "precision": "{precision}", "lanes": {lanes}, "images_per_second": {rates}, "step_ms": {}, "memory_mib": {memory}, "open_seconds": {opened}, "first_epoch_done_seconds": {first}, "losses": {losses:?}, "device": "{}"}}"#,
        1000.0 * 128.0 * lanes as f64 / rates,
        device.describe()
    );
    if let (Some(path), Some(text)) = (learned(lanes > 1), device.learned()) {
        std::fs::write(path, text)?;
    }
    Ok(())
}
