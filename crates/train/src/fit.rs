//! The training loop, one for every delivery, model and device.
//!
//! In each epoch the network is trained, the selecting part is evaluated, the best epoch is kept, and
//! the schedule and early stopping are updated. A device that can do both trains the next epoch meanwhile,
//! unless something is decided by the result before. Everything random is a function of the seed and the
//! epoch, so that a run that was interrupted continues from a checkpoint and ends with the same bits.

mod ending;

use std::time::Instant;

use dissensus_core::{Cancel, Direction, Event, Progress, Silent, Unit};
use dissensus_engine::{Device, EngineError, Overlap, Rates, Runner, Schedule, Settings, State};
use serde::{Deserialize, Serialize};

use crate::epochs::Epochs;
use crate::saved::Found;
use crate::scores::some_scores;
use crate::stored::Saver;
use crate::{
    EpochRow, Metrics, Part, RunPlan, Selection, Setup, Stopping, Task, TrainError, Trained,
    divergence,
};

/// How a run is trained; nothing of it changes the result.
#[derive(Clone)]
pub struct FitOptions<'a> {
    /// Threads; 0 for all cores.
    pub threads: usize,
    /// The name of the run in reports of progress; `None` for the plan's label.
    pub name: Option<&'a str>,
    /// Receives the progress, in epochs. Each is reported once it is evaluated; a device may have begun the
    /// next one by then. A run that is continued reports the epochs before, too.
    pub progress: &'a dyn Progress,
    /// Stops the run after the current epoch.
    pub cancel: Cancel,
}

impl Default for FitOptions<'_> {
    fn default() -> Self {
        Self { threads: 0, name: None, progress: &Silent, cancel: Cancel::new() }
    }
}

/// The metrics that are computed after every epoch, beside the selecting one.
const WATCHED: [&str; 2] = ["soft_nll", "accuracy"];

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

/// Trains a model in memory. Nothing is written: [`fit_stored`](crate::fit_stored) is this with a run
/// of a store. A run that is cancelled gives [`TrainError::Cancelled`], with the model of the epochs until
/// then, and one that diverges [`TrainError::Failed`].
pub fn fit(
    task: &Task,
    plan: &RunPlan,
    device: &dyn Device,
    options: &FitOptions<'_>,
) -> Result<Trained, TrainError> {
    fit_saved(task, &plan.on(task), device, options, None)
}

/// Trains a model, saving what there is to continue from.
pub(crate) fn fit_saved(
    task: &Task,
    plan: &RunPlan,
    device: &dyn Device,
    options: &FitOptions<'_>,
    saver: Option<&mut Saver>,
) -> Result<Trained, TrainError> {
    let label = options.name.map_or_else(|| plan.label(), str::to_owned);
    let total = Some(plan.training.epochs);
    options.progress.report(Event::Started { task: &label, total, unit: Unit::Steps });
    let result = plan
        .check_augment(task)
        .and_then(|()| Setup::new(task, plan))
        .and_then(|setup| Fit::new(task, plan, &setup, device, options, &label, saver)?.run());
    options.progress.report(Event::Finished { task: &label });
    result
}

struct Fit<'a> {
    task: &'a Task,
    plan: &'a RunPlan,
    options: &'a FitOptions<'a>,
    label: &'a str,
    saver: Option<&'a mut Saver>,
    setup: &'a Setup,
    runner: Box<dyn Runner>,
    position: Position,
    history: Vec<EpochRow>,
    /// Logits of the best epoch so far, in the order of the parts; none before there is one.
    best: Vec<Vec<f32>>,
    /// No snapshot has the best epoch yet.
    best_is_new: bool,
    /// The last epoch, where it is not evaluated yet.
    trained: Option<TrainedEpoch>,
    started: Instant,
    /// Seconds of earlier processes.
    seconds_before: f64,
}

/// An epoch before its evaluation.
#[derive(Clone, Copy)]
struct TrainedEpoch {
    number: u64,
    rate: f64,
    loss: f64,
}

/// Which weights are evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evaluated {
    /// Those that the runner has.
    Now,
    /// Those from before the epoch that it is training.
    BeforeEpoch,
}

impl<'a> Fit<'a> {
    /// From the saved checkpoint, or from the start where there is none.
    fn new(
        task: &'a Task,
        plan: &'a RunPlan,
        setup: &'a Setup,
        device: &dyn Device,
        options: &'a FitOptions<'a>,
        label: &'a str,
        mut saver: Option<&'a mut Saver>,
    ) -> Result<Self, TrainError> {
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
        let checkpoint = saver.as_mut().map(|saver| saver.run.checkpoint()).transpose()?;
        if let Some(checkpoint) = checkpoint.flatten() {
            let damaged = |what: &str, error: serde_json::Error| {
                TrainError::Data(format!("the checkpoint's {what}: {error}"))
            };
            position = serde_json::from_value(checkpoint.state)
                .map_err(|error| damaged("state", error))?;
            let mut found = Found::new(checkpoint.tensors);
            state = Some(found.state(&setup.network, &optimizer, position.steps)?);
            if position.selection.best().is_some() {
                best = found.best(&setup.parts)?;
            }
            let rows = checkpoint.history.into_iter().map(serde_json::from_value);
            history = rows.collect::<Result<_, _>>().map_err(|error| damaged("history", error))?;
        }
        let fresh = || State::fresh(&setup.network, &optimizer, plan.seed);
        let state = state.unwrap_or_else(fresh);
        // Parts are evaluated in batches, too, and small ones would be slow.
        let widest = setup.parts.iter().map(|part| part.rows.len()).max().unwrap_or(1);
        let batch = (training.batch_size as usize).min(setup.visits()).max(widest.min(64));
        let precision = plan.precision;
        let settings = Settings { precision, batch, optimizer, threads: options.threads };
        let runner = device.runner(&setup.network, &setup.dataset, &settings, state)?;
        Ok(Self {
            task,
            plan,
            options,
            label,
            saver,
            setup,
            runner,
            position,
            history,
            best,
            best_is_new: false,
            trained: None,
            started: Instant::now(),
            seconds_before: 0.0,
        })
    }

    /// All epochs that are left.
    fn run(mut self) -> Result<Trained, TrainError> {
        let planned = self.plan.training.epochs;
        let history = std::mem::take(&mut self.history);
        history.iter().try_for_each(|row| self.seen(row))?;
        if let Some(row) = history.last() {
            self.report(row);
        }
        self.history = history;
        let mut epochs = Epochs::new(
            self.setup,
            &self.plan.training,
            self.plan.seed,
            self.task.keys(),
            self.runner.draws(),
        );
        self.seconds_before = self.position.seconds;
        for number in self.history.len() as u64..planned {
            if self.trained.is_some() && !self.may_overlap() {
                self.evaluate_trained()?;
            }
            if self.position.stopped {
                break;
            }
            if self.options.cancel.is_cancelled() {
                self.evaluate_trained()?;
                self.checkpoint(true)?;
                // A run of a store is continued; in memory, what there is would be lost.
                let in_memory = self.saver.is_none() && self.position.selection.best().is_some();
                let trained = if in_memory { self.finish().ok().map(Box::new) } else { None };
                return Err(TrainError::Cancelled { epochs: number, trained });
            }
            let rate = self.position.rates.rate(number);
            let epoch = epochs.epoch(number, rate)?;
            let loss = match self.trained.take() {
                None => self.runner.train(&epoch)?,
                Some(before) => {
                    let setup = self.setup;
                    self.overlap()?.start(&epoch, &setup.parts[setup.selecting].rows)?;
                    self.evaluate(before, Evaluated::BeforeEpoch)?;
                    if number + 1 < planned {
                        epochs.prepare(number + 1);
                    }
                    self.overlap()?.finish()?
                }
            };
            if let Some(reason) = divergence(loss, number) {
                return Err(TrainError::Failed { reason });
            }
            self.trained = Some(TrainedEpoch { number, rate, loss });
        }
        self.evaluate_trained()?;
        self.finish()
    }

    /// Whether the next epoch may begin before the last one is evaluated: nothing is decided by its result
    /// before, and no checkpoint is due.
    fn may_overlap(&mut self) -> bool {
        self.position.stopping.is_none()
            && !matches!(self.plan.training.schedule, Schedule::Plateau { .. })
            && !self.options.cancel.is_cancelled()
            && !self.saver.as_mut().is_some_and(|saver| saver.is_due(false))
            && self.runner.overlap().is_some()
    }

    fn overlap(&mut self) -> Result<&mut dyn Overlap, TrainError> {
        let none = || EngineError::Device("it does one thing at a time".to_owned());
        Ok(self.runner.overlap().ok_or_else(none)?)
    }

    /// Evaluates the last epoch, where that is not done, and saves a checkpoint, where one is due.
    fn evaluate_trained(&mut self) -> Result<(), TrainError> {
        let Some(epoch) = self.trained.take() else { return Ok(()) };
        self.evaluate(epoch, Evaluated::Now)?;
        self.checkpoint(false)
    }

    fn seen(&mut self, row: &EpochRow) -> Result<(), TrainError> {
        let values: Vec<_> = row.columns().collect();
        let (task, step) = (self.label, row.epoch);
        self.options.progress.report(Event::Measured { task, step, values: &values });
        self.saver.as_mut().map_or(Ok(()), |saver| saver.add_to_curves(row))
    }

    fn report(&self, row: &EpochRow) {
        let (done, total) = (row.epoch + 1, Some(self.plan.training.epochs));
        let detail = row.to_string();
        let advanced = Event::Advanced { task: self.label, done, total, detail: &detail };
        self.options.progress.report(advanced);
    }

    /// Evaluates the selecting part after an epoch, keeps the epoch where it is the best so far, and adds
    /// it to the history.
    fn evaluate(
        &mut self,
        TrainedEpoch { number, rate, loss }: TrainedEpoch,
        evaluated: Evaluated,
    ) -> Result<(), TrainError> {
        let setup = self.setup;
        let part = &setup.parts[setup.selecting];
        let logits = self.logits(part, number, evaluated)?;
        let [first, second] = WATCHED;
        let names = [first, second, &self.plan.selection.metric];
        let values = some_scores(&part.truth, &logits, &names)?;
        let named = names.iter().map(|name| format!("{}.{name}", part.name));
        let metrics: Metrics = named.zip(values.iter().copied()).collect();
        let value = values.last().copied().flatten().filter(|value| value.is_finite());
        if self.position.selection.update(number, value) {
            let mut best = Vec::with_capacity(setup.parts.len());
            for (place, other) in setup.parts.iter().enumerate() {
                best.push(match place == setup.selecting {
                    true => logits.clone(),
                    false => self.logits(other, number, evaluated)?,
                });
            }
            match evaluated {
                Evaluated::Now => self.runner.keep()?,
                Evaluated::BeforeEpoch => self.overlap()?.keep_before()?,
            }
            (self.best, self.best_is_new) = (best, true);
        }
        if let Some(stopping) = &mut self.position.stopping {
            self.position.stopped = stopping.update(value);
        }
        let lower = match self.position.selection.better() {
            Direction::Higher => value.map(|value| -value),
            _ => value,
        };
        self.position.rates.watch(lower.unwrap_or(f64::NAN));
        self.position.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        let row = EpochRow { epoch: number, rate, loss, metrics };
        self.seen(&row)?;
        self.report(&row);
        self.history.push(row);
        Ok(())
    }

    /// What is predicted for a part after an epoch. A logit that is not finite fails the run.
    fn logits(
        &mut self,
        part: &Part,
        number: u64,
        evaluated: Evaluated,
    ) -> Result<Vec<f32>, TrainError> {
        let logits = match evaluated {
            Evaluated::Now => self.runner.logits(&part.rows)?,
            Evaluated::BeforeEpoch => self.overlap()?.logits_before(&part.rows)?,
        };
        match logits.iter().find(|logit| !logit.is_finite()) {
            None => Ok(logits),
            Some(bad) => Err(TrainError::Failed {
                reason: format!(
                    "a prediction on {} is {bad} in epoch {number}: the run has diverged; lower \
                     training.learning_rate",
                    part.name
                ),
            }),
        }
    }
}
