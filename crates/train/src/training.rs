//! The training loop, one for every delivery, model and device.
//!
//! An epoch is trained, the selecting part is judged, the best epoch is kept, the schedule and
//! early stopping take note; then, often enough, all of it is written down. A run that was
//! interrupted anywhere continues from what was last written and ends with the same bits, because
//! everything random is a function of the seed and the epoch.

mod written;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dissensus_engine::{Device, EngineError, Rates, Runner, Settings, State};
use dissensus_store::{ActiveRun, StoreError, tensorboard::EventWriter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::epochs::Epochs;
use crate::saved::Found;
use crate::scores::some_scores;
use crate::spec::Checkpoint as When;
use crate::{Better, Part, RunSpec, Selection, Setup, Stopping, Task, TrainError, divergence};

/// How a run is run; nothing of it changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Threads; 0 for all cores.
    pub threads: usize,
    /// When it is written down.
    pub checkpoint: When,
    /// Whether curves are written for TensorBoard, into the run's folder.
    pub tensorboard: bool,
    /// A folder of this run's own where they are written instead.
    pub curves: Option<&'a Path>,
    /// Set when the run should end after the epoch that it is in.
    pub stop: &'a AtomicBool,
}

/// Progress, as it happens.
pub trait Watch {
    /// An epoch is done: its row of the history, how many are done, how many there will be at most.
    /// A run that is continued tells of the epochs before it, too.
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
///
/// After an error of the disk or the device the run counts as interrupted, since it is not to
/// blame; after any other it counts as failed.
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
        Ok((end, training.history.len() as u64))
    });
    match result {
        Ok((End::Finished(result), _)) => {
            run.finish(&result)?;
            Ok(Outcome::Finished(result))
        }
        Ok((End::Interrupted, epoch)) => {
            run.interrupt()?;
            Ok(Outcome::Interrupted { epoch })
        }
        Ok((End::Failed(reason), _)) => {
            run.fail(&reason)?;
            Ok(Outcome::Failed { reason })
        }
        Err(error) => {
            let passing = matches!(
                error,
                TrainError::Store(StoreError::Io { .. })
                    | TrainError::Engine(EngineError::Device(_))
            );
            // The reason is worth keeping; that it cannot be kept is not worth hiding it.
            let _ = match passing {
                true => run.interrupt(),
                false => run.fail(&error.to_string()),
            };
            Err(error)
        }
    }
}

enum End {
    Finished(Value),
    Interrupted,
    Failed(String),
}

struct Training<'a> {
    task: &'a Task,
    spec: &'a RunSpec,
    options: Options<'a>,
    setup: &'a Setup,
    runner: Box<dyn Runner>,
    position: Position,
    history: Vec<Value>,
    /// Logits of the best epoch so far, in the order of the parts; none before there is one.
    best: Vec<Vec<f32>>,
    /// The best epoch is not on the disk yet.
    unsaved: bool,
    events: Option<EventWriter>,
    started: Instant,
}

impl<'a> Training<'a> {
    /// From the run's checkpoint, or from the start where it has none.
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
        let optimizer = training.optimizer;
        let selection = Selection::new(&plan.selection.metric)?;
        let mut position = Position {
            steps: 0,
            stopping: plan.selection.stop.map(|stop| Stopping::new(stop, selection.better())),
            selection,
            rates: Rates::new(training.schedule, training.learning_rate, training.epochs),
            stopped: false,
            seconds: 0.0,
        };
        let (mut state, mut history, mut best) = (None, Vec::new(), Vec::new());
        if let Some(checkpoint) = run.checkpoint()? {
            position = serde_json::from_value(checkpoint.state)
                .map_err(|error| TrainError::Data(format!("the checkpoint's state: {error}")))?;
            let mut found = Found::new(checkpoint.tensors);
            state = Some(found.state(&setup.network, &optimizer, position.steps)?);
            if position.selection.best().is_some() {
                best = found.best(&setup.parts)?;
            }
            history = checkpoint.history;
        }
        let fresh = || State::fresh(&setup.network, &optimizer, plan.seed);
        let state = state.unwrap_or_else(fresh);
        // Parts are judged in batches, too, and small ones would be slow.
        let widest = setup.parts.iter().map(|part| part.rows.len()).max().unwrap_or(1);
        let batch = (training.batch_size as usize).min(setup.train.len()).max(widest.min(64));
        let precision = plan.precision;
        let settings = Settings { precision, batch, optimizer, threads: options.threads };
        let runner = device.runner(&setup.network, &setup.dataset, &settings, state)?;
        let events = match options.curves {
            Some(folder) => Some(EventWriter::afresh(folder)?),
            None => options.tensorboard.then(|| run.events()).transpose()?,
        };
        let started = Instant::now();
        let unsaved = false;
        Ok(Self {
            task,
            spec,
            options,
            setup,
            runner,
            position,
            history,
            best,
            unsaved,
            events,
            started,
        })
    }

    /// All epochs that are left.
    fn all(&mut self, run: &mut ActiveRun, watch: &mut dyn Watch) -> Result<End, TrainError> {
        let planned = self.spec.run.training.epochs;
        for (row, done) in self.history.iter().zip(1..) {
            watch.epoch(row, done, planned);
        }
        self.chart_history()?;
        let end = self.epochs(run, watch)?;
        if let Some(events) = self.events.take() {
            events.finish()?;
        }
        Ok(end)
    }

    fn epochs(&mut self, run: &mut ActiveRun, watch: &mut dyn Watch) -> Result<End, TrainError> {
        let plan = &self.spec.run;
        let planned = plan.training.epochs;
        let mut epochs = Epochs::new(
            self.setup,
            &plan.training,
            plan.seed,
            self.task.keys(),
            self.runner.draws(),
        );
        let before = self.position.seconds;
        let (mut written, mut cost) = (Instant::now(), 0.0);
        for number in self.history.len() as u64..planned {
            if self.position.stopped {
                break;
            }
            if self.options.stop.load(Ordering::Relaxed) {
                self.save(run)?;
                return Ok(End::Interrupted);
            }
            let rate = self.position.rates.rate(number);
            let loss = self.runner.train(&epochs.epoch(number, rate)?)?;
            if let Some(reason) = divergence(loss, number) {
                return Ok(End::Failed(reason));
            }
            let row = match self.judge(number, rate, loss)? {
                Ok(row) => row,
                Err(reason) => return Ok(End::Failed(reason)),
            };
            self.position.seconds = before + self.started.elapsed().as_secs_f64();
            self.chart(&row)?;
            watch.epoch(&row, number + 1, planned);
            self.history.push(row);
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
        self.finish(run)
    }

    /// Judges the selecting part after an epoch, and keeps the epoch where it is the best so far.
    /// The inner error is why the run cannot go on.
    fn judge(
        &mut self,
        number: u64,
        rate: f64,
        loss: f64,
    ) -> Result<Result<Value, String>, TrainError> {
        let setup = self.setup;
        let part = &setup.parts[setup.selecting];
        let logits = match self.logits(part, number)? {
            Ok(logits) => logits,
            Err(reason) => return Ok(Err(reason)),
        };
        let [first, second] = WATCHED;
        let names = [first, second, &self.spec.run.selection.metric];
        let values = some_scores(&part.truth, &logits, &names)?;
        let mut row = Map::new();
        row.insert("epoch".into(), json!(number));
        row.insert("rate".into(), json!(rate));
        row.insert("loss".into(), json!(loss));
        for (name, value) in names.iter().zip(&values) {
            row.insert(format!("{}.{name}", part.name), json!(value));
        }
        let value = values.last().copied().flatten().filter(|value| value.is_finite());
        if self.position.selection.see(number, value) {
            let mut best = Vec::with_capacity(setup.parts.len());
            for (place, other) in setup.parts.iter().enumerate() {
                best.push(match place == setup.selecting {
                    true => logits.clone(),
                    false => match self.logits(other, number)? {
                        Ok(logits) => logits,
                        Err(reason) => return Ok(Err(reason)),
                    },
                });
            }
            self.runner.keep()?;
            (self.best, self.unsaved) = (best, true);
        }
        if let Some(stopping) = &mut self.position.stopping {
            self.position.stopped = stopping.see(value);
        }
        let lower = match self.position.selection.better() {
            Better::Lower => value,
            Better::Higher => value.map(|value| -value),
        };
        self.position.rates.watch(lower.unwrap_or(f64::NAN));
        Ok(Ok(Value::Object(row)))
    }

    /// What a part is predicted as after an epoch; the inner error is that it is no number.
    fn logits(&mut self, part: &Part, number: u64) -> Result<Result<Vec<f32>, String>, TrainError> {
        let logits = self.runner.logits(&part.rows)?;
        Ok(match logits.iter().find(|logit| !logit.is_finite()) {
            None => Ok(logits),
            Some(bad) => Err(format!(
                "a prediction on {} is {bad} in epoch {number}: the run has diverged; lower \
                 training.learning_rate",
                part.name
            )),
        })
    }
}
