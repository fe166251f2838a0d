//! The training loop, one for every delivery, model and device.
//!
//! An epoch is trained, the selecting part is judged, the best epoch is kept, the schedule and
//! early stopping take note; then, often enough, all of it is written down. A run that was
//! interrupted anywhere continues from what was last written and ends with the same bits, because
//! everything random is a function of the seed and the epoch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dissensus_engine::{Dataset, Device, Rates, Runner, Settings, State};
use dissensus_measure::{Judged, METRICS, Matrix, Predictions as Judgeable, Scorer, Truth, metric};
use dissensus_store::{ActiveRun, Checkpoint, Predictions, tensorboard::EventWriter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::epochs::Epochs;
use crate::saved::{self, Found};
use crate::spec::Checkpoint as When;
use crate::{RunSpec, Selection, Setup, Stopping, Task, TrainError, divergence};

/// How a run is run; nothing of it changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Threads; 0 for all cores.
    pub threads: usize,
    /// When it is written down.
    pub checkpoint: When,
    /// Whether curves are written for TensorBoard.
    pub tensorboard: bool,
    /// Set when the run should end after the epoch that it is in.
    pub stop: &'a AtomicBool,
}

/// Progress, as it happens.
pub trait Watch {
    /// An epoch is done: its row of the history, how many are done, how many there will be at most.
    fn epoch(&mut self, row: &Value, done: u64, planned: u64);
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All epochs, or early stopping; with the final figures.
    Finished(Value),
    /// Asked to end; it can be continued.
    Interrupted {
        /// Epochs done.
        epoch: u64,
    },
    /// Training went wrong, and would again.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What is looked at after every epoch, beside the selecting metric.
const WATCHED: [&str; 2] = ["soft_nll", "accuracy"];

/// Writing may take this share of the time.
const WRITING_SHARE: f64 = 0.05;

/// What a checkpoint holds beside tensors.
#[derive(Serialize, Deserialize)]
struct Position {
    steps: u64,
    selection: Selection,
    stopping: Option<Stopping>,
    rates: Rates,
    stopped: bool,
    seconds: f64,
}

/// Trains a run that has been begun in a store, or goes on with it.
pub fn train(
    task: &Task,
    spec: &RunSpec,
    device: &dyn Device,
    mut run: ActiveRun,
    options: Options<'_>,
    watch: &mut dyn Watch,
) -> Result<Outcome, TrainError> {
    let result = Setup::new(task, &spec.run).and_then(|setup| {
        let mut training = Training::new(task, spec, &setup, device, &mut run, options)?;
        let end = training.all(&mut run, watch)?;
        Ok((end, training.history))
    });
    match result {
        Ok((End::Finished(result), _)) => {
            run.finish(&result)?;
            Ok(Outcome::Finished(result))
        }
        Ok((End::Interrupted, history)) => {
            run.interrupt()?;
            Ok(Outcome::Interrupted { epoch: history.len() as u64 })
        }
        Ok((End::Diverged(reason), _)) => {
            run.fail(&reason)?;
            Ok(Outcome::Failed { reason })
        }
        Err(error) => {
            // The reason is worth keeping; that it cannot be kept is not worth hiding it.
            let _ = run.fail(&error.to_string());
            Err(error)
        }
    }
}

enum End {
    Finished(Value),
    Interrupted,
    Diverged(String),
}

struct Training<'a> {
    task: &'a Task,
    spec: &'a RunSpec,
    options: Options<'a>,
    setup: &'a Setup,
    runner: Box<dyn Runner>,
    position: Position,
    history: Vec<Value>,
    /// Logits of the best epoch so far, by part.
    best: Vec<(String, Vec<f32>)>,
    /// The best epoch is not on the disk yet.
    unsaved: bool,
    events: Option<EventWriter>,
    started: Instant,
}

impl<'a> Training<'a> {
    fn new(
        task: &'a Task,
        spec: &'a RunSpec,
        setup: &'a Setup,
        device: &dyn Device,
        run: &mut ActiveRun,
        options: Options<'a>,
    ) -> Result<Self, TrainError> {
        let plan = &spec.run;
        let training = &plan.training;
        let widest = setup.parts.iter().map(|part| part.rows.len()).max().unwrap_or(1);
        let batch = (training.batch as usize).min(setup.train.len()).max(widest.min(64));
        let optimizer = training.optimizer;
        let settings = Settings { batch, optimizer, threads: options.threads };
        let selection = Selection::new(&plan.selection.metric)?;
        let mut position = Position {
            steps: 0,
            stopping: plan.selection.stop.map(|stop| Stopping::new(stop, selection.better())),
            selection,
            rates: Rates::new(training.schedule, training.rate, training.epochs),
            stopped: false,
            seconds: 0.0,
        };
        let (mut state, mut history, mut best) = (None, Vec::new(), Vec::new());
        if let Some(checkpoint) = run.checkpoint()? {
            position = serde_json::from_value(checkpoint.state)
                .map_err(|error| TrainError::Data(format!("the checkpoint's state: {error}")))?;
            let mut found = Found::new(checkpoint.tensors);
            for part in &setup.parts {
                best.extend(found.best(&part.name).map(|logits| (part.name.clone(), logits)));
            }
            state = Some(found.state(&setup.network, &optimizer, position.steps)?);
            history = checkpoint.history;
        }
        let fresh = || State::fresh(&setup.network, &optimizer, plan.seed);
        let state = state.unwrap_or_else(fresh);
        let runner = device.runner(&setup.network, &setup.dataset, &settings, state)?;
        let events = if options.tensorboard { Some(run.events()?) } else { None };
        let started = Instant::now();
        let mut new = Self {
            task,
            spec,
            options,
            setup,
            runner,
            position,
            history: Vec::new(),
            best,
            unsaved: false,
            events,
            started,
        };
        for row in &history {
            new.chart(row)?;
        }
        new.history = history;
        Ok(new)
    }

    /// All epochs that are left.
    fn all(&mut self, run: &mut ActiveRun, watch: &mut dyn Watch) -> Result<End, TrainError> {
        let plan = &self.spec.run;
        let planned = plan.training.epochs;
        let mut epochs = Epochs::new(self.setup, &plan.training, plan.seed, self.task.keys());
        let before = self.position.seconds;
        let (mut written, mut cost) = (Instant::now(), 0.0);
        for row in &self.history {
            watch.epoch(row, self.history.len() as u64, planned);
        }
        let mut end = None;
        for number in self.history.len() as u64..planned {
            if self.position.stopped {
                break;
            }
            if self.options.stop.load(Ordering::Relaxed) {
                end = Some(End::Interrupted);
                break;
            }
            let rate = self.position.rates.rate(number);
            let loss = self.runner.train(&epochs.epoch(number, rate)?)?;
            if let Some(reason) = divergence(loss, number) {
                return Ok(End::Diverged(reason));
            }
            let row = match self.judge(number, rate, loss)? {
                Ok(row) => row,
                Err(reason) => return Ok(End::Diverged(reason)),
            };
            self.position.seconds = before + self.started.elapsed().as_secs_f64();
            self.chart(&row)?;
            self.history.push(row);
            if let Some(row) = self.history.last() {
                watch.epoch(row, self.history.len() as u64, planned);
            }
            let due = match self.options.checkpoint {
                When::EveryEpoch => true,
                When::End => false,
                When::Auto => written.elapsed().as_secs_f64() * WRITING_SHARE >= cost,
            };
            if due {
                let start = Instant::now();
                self.save(run)?;
                (written, cost) = (Instant::now(), start.elapsed().as_secs_f64());
            }
        }
        let end = match end {
            Some(end) => {
                self.save(run)?;
                end
            }
            None => End::Finished(self.finish(run)?),
        };
        if let Some(events) = self.events.take() {
            events.finish()?;
        }
        Ok(end)
    }

    /// Judges the selecting part after an epoch; keeps the epoch where it is the best so far.
    /// The inner error is why the run has diverged.
    fn judge(
        &mut self,
        number: u64,
        rate: f64,
        loss: f64,
    ) -> Result<Result<Value, String>, TrainError> {
        let setup = self.setup;
        let part = &setup.parts[setup.selecting];
        let logits = self.runner.logits(&part.rows)?;
        if let Some(bad) = logits.iter().find(|z| !z.is_finite()) {
            return Ok(Err(format!(
                "a prediction became {bad} in epoch {}; a lower learning rate may help",
                number + 1
            )));
        }
        let judged = judged(&part.truth, &logits)?;
        let scorer = Scorer::new(&judged, Default::default())?;
        let selecting = self.position.selection.metric().to_owned();
        let mut row = Map::new();
        row.insert("epoch".into(), json!(number));
        row.insert("rate".into(), json!(rate));
        row.insert("loss".into(), json!(loss));
        let mut value = None;
        for name in WATCHED.into_iter().chain([selecting.as_str()]) {
            let found = metric(name).and_then(|metric| (metric.compute)(&scorer).value);
            row.insert(format!("{}.{name}", part.name), json!(found));
            if name == selecting {
                value = found;
            }
        }
        if self.position.selection.see(number, value) {
            self.runner.keep()?;
            self.best.clear();
            for (place, other) in setup.parts.iter().enumerate() {
                let logits = match place == setup.selecting {
                    true => logits.clone(),
                    false => self.runner.logits(&other.rows)?,
                };
                self.best.push((other.name.clone(), logits));
            }
            self.unsaved = true;
        }
        if let Some(stopping) = &mut self.position.stopping {
            self.position.stopped = stopping.see(value);
        }
        let lower = match self.position.selection.better() {
            crate::Better::Lower => value,
            crate::Better::Higher => value.map(|value| -value),
        };
        self.position.rates.watch(lower.unwrap_or(f64::NAN));
        Ok(Ok(Value::Object(row)))
    }

    /// Writes down where the run stands: the best epoch first, so that a kill in between leaves
    /// the older position, from which the same best epoch is found again.
    fn save(&mut self, run: &mut ActiveRun) -> Result<(), TrainError> {
        let setup = self.setup;
        self.save_best(run)?;
        let state = self.runner.state()?;
        self.position.steps = state.steps;
        let optimizer = &self.spec.run.training.optimizer;
        let tensors = saved::state(&setup.network, optimizer, &state, &self.best)?;
        let position = serde_json::to_value(&self.position)
            .map_err(|error| TrainError::Data(format!("the position: {error}")))?;
        let history = std::mem::take(&mut self.history);
        let checkpoint =
            Checkpoint { epoch: history.len() as u64, tensors, state: position, history };
        let result = run.save_checkpoint(&checkpoint);
        self.history = checkpoint.history;
        if let Some(events) = &mut self.events {
            events.flush()?;
        }
        Ok(result?)
    }

    fn save_best(&mut self, run: &ActiveRun) -> Result<(), TrainError> {
        let setup = self.setup;
        let Some((parameters, statistics)) = self.runner.kept()?.filter(|_| self.unsaved) else {
            return Ok(());
        };
        let weights = saved::weights(&setup.network, &parameters, &statistics)?;
        if let (Some(part), Some((_, logits))) = (setup.parts.last(), self.best.last()) {
            let (ids, classes) = self.names(&part.rows);
            run.save_best(&weights, &Predictions::new(&logits[..], ids, classes)?)?;
            self.unsaved = false;
        }
        Ok(())
    }

    fn names(&self, rows: &[u32]) -> (Vec<String>, Vec<String>) {
        let table = self.task.table();
        let id = |&row: &u32| table.items().name(row as usize).to_owned();
        (rows.iter().map(id).collect(), table.classes().names().to_vec())
    }

    /// Writes the last epoch and the figures of both.
    fn finish(&mut self, run: &mut ActiveRun) -> Result<Value, TrainError> {
        let setup = self.setup;
        self.save(run)?;
        let state = self.runner.state()?;
        let weights = saved::weights(&setup.network, &state.parameters, &state.statistics)?;
        let mut parts = Map::new();
        for (part, (_, best)) in setup.parts.iter().zip(&self.best) {
            let last = self.runner.logits(&part.rows)?;
            parts.insert(
                part.name.clone(),
                json!({
                    "items": part.rows.len(),
                    "best": scores(&part.truth, best)?,
                    "last": scores(&part.truth, &last)?,
                }),
            );
            if Some(&part.name) == setup.parts.last().map(|part| &part.name) {
                let (ids, classes) = self.names(&part.rows);
                run.save_last(&weights, &Predictions::new(last, ids, classes)?)?;
            }
        }
        let best = self.position.selection.best();
        Ok(json!({
            "arm": self.spec.arm(),
            "seed": self.spec.run.seed,
            "epochs": self.history.len(),
            "stopped_early": self.position.stopped,
            "best_epoch": best.map(|best| best.epoch),
            "selected_by": format!("{} on {}", self.spec.run.selection.metric, self.spec.run.selection.on),
            "train_items": setup.train.len(),
            "parameters": setup.network.parameter_count(),
            "seconds": self.position.seconds,
            "normalization": normalization(&setup.dataset),
            "parts": parts,
        }))
    }

    /// A row of the history as curves.
    fn chart(&mut self, row: &Value) -> Result<(), TrainError> {
        let (Some(events), Value::Object(row)) = (&mut self.events, row) else {
            return Ok(());
        };
        let step = row.get("epoch").and_then(Value::as_u64).unwrap_or(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64());
        for (name, value) in row.iter().filter(|(name, _)| *name != "epoch") {
            if let Some(value) = value.as_f64() {
                events.scalar(&name.replace('.', "/"), step, now, value as f32)?;
            }
        }
        Ok(())
    }
}

/// What pictures are normalized by; a prediction for new ones needs it.
fn normalization(dataset: &Dataset) -> Value {
    match dataset {
        Dataset::Pictures { mean, deviation, .. } => {
            json!({ "mean": mean, "deviation": deviation })
        }
        Dataset::Vectors { .. } => Value::Null,
    }
}

fn judged(truth: &Arc<Truth>, logits: &[f32]) -> Result<Judged, TrainError> {
    let matrix = Matrix::new(logits, truth.classes())?;
    Ok(Judged::new(truth.clone(), Judgeable::Logits(matrix))?)
}

/// Every metric of a part's logits.
pub fn scores(truth: &Arc<Truth>, logits: &[f32]) -> Result<Value, TrainError> {
    let judged = judged(truth, logits)?;
    let scorer = Scorer::new(&judged, Default::default())?;
    let score = |m: &dissensus_measure::Metric| {
        (m.about.name.to_owned(), json!((m.compute)(&scorer).value))
    };
    Ok(Value::Object(METRICS.iter().map(score).collect()))
}
