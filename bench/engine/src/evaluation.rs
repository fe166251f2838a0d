//! What evaluation after every epoch costs on a GPU: the study's recipe with 2,000 images held out,
//! trained without evaluation, with one after every epoch, and with one beside the next epoch; by the
//! engine alone, and by the whole training loop.

use std::sync::{Barrier, Mutex};
use std::time::Instant;

use dissensus_core::philox::Stream;
use dissensus_core::{Event, Keep, TableBuilder};
use dissensus_engine::{Dataset, Model, Optimizer, Precision};
use dissensus_engine::{Device, Settings, State};
use dissensus_inputs::{Images, Inputs, Kind};
use dissensus_train::{FitOptions, RunPlan, Spec, Task, fit, parallel};

use crate::{Outcome, TRAINED, cross_entropy, images, shares, with_epoch};

/// Images, with those that are held out.
const ITEMS: usize = 10_000;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    None,
    After,
    Beside,
}

/// Prints a line for each way to evaluate.
pub(crate) fn evaluation(
    device: &dyn Device,
    precision: &str,
    lanes: usize,
    epochs: u64,
) -> Outcome<()> {
    let line = |by: &str, evaluation: &str, seconds: f64| {
        println!(
            r#"{{"what": "evaluation", "precision": "{precision}", "lanes": {lanes}, "by": "{by}", "evaluation": "{evaluation}", "epoch_ms": {}, "images_per_second": {}, "device": "{}"}}"#,
            1000.0 * seconds / epochs as f64,
            (TRAINED * lanes) as f64 * epochs as f64 / seconds,
            device.describe()
        );
    };
    let named = [(Way::None, "none"), (Way::After, "after"), (Way::Beside, "beside")];
    for (way, name) in named {
        line("engine", name, by_engine(device, precision, lanes, epochs, way)?);
    }
    let task = task()?;
    for (way, name) in &named[1..] {
        line("loop", name, by_loop(device, &task, precision, lanes, epochs, *way)?);
    }
    Ok(())
}

/// The longest time of so many lanes, which each say when their time begins and when it ends.
fn slowest(
    lanes: usize,
    work: impl Fn(u64, &mut (dyn FnMut() + Send)) -> Outcome<()> + Sync,
) -> Outcome<f64> {
    let barrier = Barrier::new(lanes);
    let results = parallel(lanes, lanes, |_, lane| {
        let mut times = Vec::new();
        let done = work(lane as u64, &mut || {
            if times.is_empty() {
                barrier.wait();
            }
            times.push(Instant::now());
        });
        done.map(|()| (times[1] - times[0]).as_secs_f64()).map_err(|error| error.to_string())
    });
    results.into_iter().try_fold(0.0, |most: f64, seconds| Ok(most.max(seconds?)))
}

fn by_engine(
    device: &dyn Device,
    precision: &str,
    lanes: usize,
    epochs: u64,
    way: Way,
) -> Outcome<f64> {
    let precision = Precision::named(precision).ok_or("f32, tf32, bf16 or bf16x3?")?;
    let dataset = images(ITEMS);
    let network = std::sync::Arc::new(Model::named("resnet18")?.network(dataset.shape(), 10)?);
    let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 5e-4 };
    let settings = Settings { precision, batch: 128, optimizer, threads: 1 };
    let targets = shares(ITEMS, 10);
    let held_out: Vec<u32> = (TRAINED as u32..ITEMS as u32).collect();
    let judge = |logits: Vec<f32>| cross_entropy(&logits, &targets[TRAINED * 10..], 10);
    slowest(lanes, |lane, mark| {
        let state = State::fresh(&network, &optimizer, lane);
        let mut runner = device.runner(&network, &dataset, &settings, state)?;
        let mut losses = Vec::new();
        // The first two epochs capture what is run.
        for number in 0..epochs + 2 {
            if number == 2 {
                mark();
            }
            with_epoch(lane, number, &targets, |epoch| -> Outcome<()> {
                match (way, runner.overlap()) {
                    (Way::Beside, Some(both)) => {
                        both.start(epoch, &held_out)?;
                        losses.push(judge(both.logits_before(&held_out)?));
                        both.finish()?;
                    }
                    (Way::Beside, None) => return Err("no memory for evaluation beside it".into()),
                    _ => {
                        runner.train(epoch)?;
                    }
                }
                Ok(())
            })?;
            if way == Way::After {
                losses.push(judge(runner.logits(&held_out)?));
            }
        }
        mark();
        Ok(())
    })
}

/// Random images and votes.
fn task() -> Outcome<Task> {
    let Dataset::Images { pixels, .. } = images(ITEMS) else { return Err("no images".into()) };
    let images = Images::new("random", 32, 32, 3, pixels.to_vec())?;
    let mut builder = TableBuilder::new(Keep::Votes);
    let mut stream = Stream::new([2, 0], [0, 0, 0]);
    for item in 0..ITEMS {
        for vote in 0..5 {
            let class = (stream.word() % 10).to_string();
            builder.vote(&format!("{item:05}"), None, &class, 1.0, (5 * item + vote + 1) as u64)?;
        }
    }
    let inputs = Inputs::new("random", None, Kind::Images(images))?.by_position();
    Ok(Task::new("random", &builder.finish()?, &inputs)?.0)
}

fn by_loop(
    device: &dyn Device,
    task: &Task,
    precision: &str,
    lanes: usize,
    epochs: u64,
    way: Way,
) -> Outcome<f64> {
    let text = "
        data.dataset = 'blends'
        split.parts = 'train/evaluation'
        split.shares = [0.8, 0.2]
        model.name = 'resnet18'
        delivery.methods = 'soft'
        training.batch_size = 128
        training.optimizer = 'sgd'
        training.learning_rate = 0.05
        training.momentum = 0.9
        training.weight_decay = 0.0005
        training.augment = { crop = 4, flip = true }
        selection.metric = 'soft_nll'
        selection.on = 'evaluation'
    ";
    let mut overrides =
        vec![format!("training.epochs={}", epochs + 3), format!("run.precision={precision}")];
    if way == Way::After {
        // Early stopping, which never stops, has to know the result before the next epoch.
        overrides.push("selection.stop.patience=100000".into());
    }
    let plans: Vec<RunPlan> = (0..lanes)
        .map(|seed| {
            let seeds = [format!("run.seeds=[{seed}]")];
            let overrides: Vec<String> = overrides.iter().chain(&seeds).cloned().collect();
            Ok(Spec::parse(text, "bench", &overrides)?.runs().remove(0))
        })
        .collect::<Outcome<_>>()?;
    slowest(lanes, |lane, mark| {
        let mark = Mutex::new(mark);
        let progress = |event: Event<'_>| {
            if matches!(event, Event::Measured { step, .. } if step == 1 || step == epochs + 1)
                && let Ok(mut mark) = mark.lock()
            {
                mark();
            }
        };
        let options = FitOptions { threads: 1, progress: &progress, ..FitOptions::default() };
        fit(task, &plans[lane as usize], device, &options)?;
        Ok(())
    })
}
