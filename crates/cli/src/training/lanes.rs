//! Runs over lanes: a bar for every run that is under way, one for all, and a line for each that
//! ends.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dissensus_engine::{Cpu, Cuda, Device};
use dissensus_store::{Begun, Store};
use dissensus_train::spec::Checkpoint;
use dissensus_train::{Options, Outcome, RunPlan, Task, Watch, lanes, reported, train};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::{best, learned};
use crate::ui::{self, paint, text};

/// A run, what it is run on, and what people call it.
#[derive(Clone)]
pub(crate) struct Run<'a> {
    pub(crate) task: &'a Task,
    pub(crate) plan: &'a RunPlan,
    pub(crate) label: String,
}

impl<'a> Run<'a> {
    /// Runs on one task, by their own names.
    pub(crate) fn all(task: &'a Task, plans: &'a [RunPlan]) -> Vec<Self> {
        plans.iter().map(|plan| Self { task, plan, label: plan.label() }).collect()
    }
}

/// Runs, and how they are run.
pub(crate) struct Batch<'a> {
    pub(crate) runs: &'a [Run<'a>],
    pub(crate) store: &'a Store,
    pub(crate) device: &'a str,
    pub(crate) lanes: Option<usize>,
    pub(crate) threads: Option<usize>,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) tensorboard: bool,
    /// The folder of curves for TensorBoard, where they are not to lie with the runs.
    pub(crate) curves: Option<&'a Path>,
    pub(crate) stop: &'a AtomicBool,
    /// Whether a line is printed for every run that ends.
    pub(crate) lines: bool,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) plan: RunPlan,
    /// What people call it.
    pub(crate) label: String,
    pub(crate) id: String,
    pub(crate) how: How,
}

pub(crate) enum How {
    /// Trained now, or before.
    Finished(Value),
    Interrupted,
    /// Diverged, or could not be trained.
    Failed(String),
    /// Not begun, because all were asked to end.
    Waiting,
}

/// How many runs at a time, as it is typed; `None` for what the device does best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtATime(pub(crate) Option<usize>);

impl std::str::FromStr for AtATime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        let number = text.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or("expected auto, or a whole number, at least 1")?;
        Ok(Self(Some(number)))
    }
}

/// The device of this name, and whether it is a card.
pub(crate) fn open_device(name: &str) -> anyhow::Result<(Box<dyn Device>, bool)> {
    let (card, alone) = name.strip_suffix(":exclusive").map_or((name, false), |card| (card, true));
    let number = match card {
        "cpu" if !alone => None,
        "auto" if Cuda::count() == 0 => None,
        "auto" | "cuda" => Some(0),
        other => match other.strip_prefix("cuda:").map(str::parse) {
            Some(Ok(number)) => Some(number),
            _ => anyhow::bail!(
                "there is no device {name:?}; expected auto, cpu, cuda, or one of several GPUs, as \
                 in cuda:1; for a GPU that executes one run at a time, cuda:exclusive"
            ),
        },
    };
    let Some(number) = number else { return Ok((Box::new(Cpu), false)) };
    let card = if alone { Cuda::open_alone(number)? } else { Cuda::open(number)? };
    learned::recall(&card);
    Ok((Box::new(card), true))
}

/// Runs all of them, as far as they are not done yet.
pub(crate) fn run_all(batch: &Batch<'_>) -> anyhow::Result<Vec<Ended>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = batch.threads.unwrap_or(cores).max(1);
    let (device, on_card) = open_device(batch.device)?;
    let many = match (batch.lanes, on_card) {
        (Some(lanes), _) => lanes,
        (None, true) => best::lanes(batch, &*device)?,
        (None, false) => threads,
    };
    let many = many.clamp(1, batch.runs.len().max(1));
    let share = (threads / many).max(1);
    let bars = Bars::new(batch);
    let jobs = batch.runs.len();
    let ended = lanes(jobs, many, |_, job| {
        let run = &batch.runs[job];
        let ended = |id: String, how: How| {
            let (plan, label) = (run.plan.clone(), run.label.clone());
            Ended { plan, label, id, how }
        };
        if batch.stop.load(Ordering::Relaxed) {
            return ended(String::new(), How::Waiting);
        }
        let started = Instant::now();
        let mut bar = bars.run(run);
        let mut id = String::new();
        let how = one(batch, run, &*device, share, &mut bar, &mut id)
            .unwrap_or_else(|error| How::Failed(format!("{error:#}")));
        bars.ended(bar, run, &how, started.elapsed());
        learned::keep(&*device);
        ended(id, how)
    });
    bars.all.finish_and_clear();
    Ok(ended)
}

fn one(
    batch: &Batch<'_>,
    Run { task, plan, label }: &Run<'_>,
    device: &dyn Device,
    threads: usize,
    bar: &mut RunBar,
    id: &mut String,
) -> anyhow::Result<How> {
    let spec = plan.with_data(task.identity().clone());
    let about = json!({
        "version": env!("DISSENSUS_VERSION"),
        "device": device.describe(),
        "libraries": device.libraries(),
        "threads": threads,
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    });
    let run = match batch.store.begin(&spec.to_value(), &about, plan.training.epochs)? {
        Begun::Finished(info) => {
            *id = info.id.to_string();
            bar.skip();
            let result = info.result()?.unwrap_or_default();
            return Ok(How::Finished(result));
        }
        Begun::Run(run) => run,
    };
    *id = run.id().to_string();
    let (checkpoint, tensorboard, stop) = (batch.checkpoint, batch.tensorboard, batch.stop);
    let curves = batch.curves.map(|folder| folder.join(plain(label)));
    let options = Options { threads, checkpoint, tensorboard, curves: curves.as_deref(), stop };
    Ok(match train(task, &spec, device, run, options, bar)? {
        Outcome::Finished(result) => How::Finished(result),
        Outcome::Interrupted { .. } => How::Interrupted,
        Outcome::Failed { reason } => How::Failed(reason),
    })
}

/// A label as the name of a folder: `soft · 5 votes · seed 2` as `soft-5-votes-seed-2`.
fn plain(label: &str) -> String {
    let known = |c: char| c.is_alphanumeric() || "_.=".contains(c);
    let words = label.split(|c| !known(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

struct Bars {
    multi: MultiProgress,
    all: ProgressBar,
    shown: bool,
    lines: bool,
    width: usize,
}

const RUN: &str = "{prefix} {bar:24} {pos:>4}/{len} ETA {eta:>4}  {msg}";
const ALL: &str = "{prefix} {bar:24} {percent:>3} % of all epochs, ETA {eta}";

impl Bars {
    fn new(batch: &Batch<'_>) -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let shown = !multi.is_hidden();
        let total: u64 = batch.runs.iter().map(|run| run.plan.training.epochs).sum();
        let width = batch.runs.iter().map(|run| text::width(&run.label)).max().unwrap_or(0);
        let all = multi.add(ProgressBar::new(total));
        style(&all, ALL);
        all.set_prefix(text::pad("all runs", width));
        all.enable_steady_tick(Duration::from_millis(500));
        Self { multi, all, shown, lines: batch.lines, width }
    }

    fn run(&self, run: &Run<'_>) -> RunBar {
        let bar = ProgressBar::new(run.plan.training.epochs);
        let bar = self.multi.insert_before(&self.all, bar);
        style(&bar, RUN);
        bar.set_prefix(text::pad(&run.label, self.width));
        RunBar { bar, all: self.all.clone(), skipped: false }
    }

    /// Takes the bar away and says how the run ended.
    fn ended(&self, bar: RunBar, run: &Run<'_>, how: &How, time: Duration) {
        // Epochs that early stopping saved count as done.
        self.all.inc(run.plan.training.epochs.saturating_sub(bar.bar.position()));
        let label = text::pad(&run.label, self.width);
        let line = match how {
            How::Finished(result) if bar.skipped => {
                format!("{label}  {}", paint::dim(&format!("done before; {}", figures(result))))
            }
            How::Finished(result) => {
                format!("{label}  {}, {:.1} s", figures(result), time.as_secs_f64())
            }
            How::Interrupted => format!("{label}  {}", paint::warn("interrupted")),
            How::Failed(reason) => format!("{label}  {} {reason}", paint::bad("failed:")),
            How::Waiting => format!("{label}  not begun"),
        };
        bar.bar.finish_and_clear();
        let quiet = matches!(how, How::Finished(_)) && !self.lines;
        match self.shown {
            _ if quiet => {}
            true => self.multi.suspend(|| ui::err(&format!("{line}\n"))),
            false => ui::err(&format!("{line}\n")),
        }
    }
}

/// The figures of a run's line.
fn figures(result: &Value) -> String {
    let part = reported(result);
    let metric = |name: &str| part.and_then(|(_, part)| part["best"][name].as_f64());
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.4}"));
    // People count from 1.
    let epoch = result["best_epoch"].as_u64().map_or("–".to_owned(), |at| (at + 1).to_string());
    format!(
        "soft NLL {}, accuracy {}, best epoch {epoch}",
        number(metric("soft_nll")),
        number(metric("accuracy")),
    )
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("█▌ "));
    }
}

struct RunBar {
    bar: ProgressBar,
    all: ProgressBar,
    skipped: bool,
}

impl RunBar {
    fn skip(&mut self) {
        self.skipped = true;
    }
}

impl Watch for RunBar {
    fn epoch(&mut self, row: &Value, done: u64, _planned: u64) {
        self.all.inc(done.saturating_sub(self.bar.position()));
        self.bar.set_position(done);
        let loss = row["loss"].as_f64().unwrap_or(f64::NAN);
        let judged = row.as_object().into_iter().flatten().find(|(key, _)| key.contains('.'));
        let judged = judged.and_then(|(key, value)| Some((key, value.as_f64()?)));
        let judged = judged.map_or(String::new(), |(key, value)| format!(", {key} {value:.4}"));
        self.bar.set_message(format!("loss {loss:.4}{judged}"));
    }
}
