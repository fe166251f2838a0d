//! A run trained in a store: saved as it goes, and continued where it was interrupted.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use dissensus_core::Event;
use dissensus_engine::{Device, EngineError};
use dissensus_store::tensorboard::EventWriter;
use dissensus_store::{ActiveRun, Checkpoint, Logits, StoreError, Tensors, Which};

use crate::fit::fit_saved;
use crate::spec::Checkpoint as When;
use crate::{EpochRow, FitOptions, RunSpec, Task, TrainError, Trained, saved};

/// How a run is saved; nothing of it changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Saving<'a> {
    /// When a checkpoint is written.
    pub checkpoint: When,
    /// Whether curves are written for TensorBoard, into the run's folder.
    pub tensorboard: bool,
    /// A folder of this run's own where they are written instead.
    pub curves: Option<&'a Path>,
}

impl Default for Saving<'_> {
    fn default() -> Self {
        Self { checkpoint: When::Auto, tensorboard: false, curves: None }
    }
}

/// How a run of a store ended.
#[derive(Debug)]
pub enum Outcome {
    /// All epochs, or early stopping.
    Finished(Box<Trained>),
    /// Cancelled; it can be continued.
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

/// Checkpoints may take this share of the time.
const WRITING_SHARE: f64 = 0.05;

/// Trains a run that has been begun in a store, or continues it: [`fit`](crate::fit) with everything
/// saved on the way.
///
/// After an I/O error or an error of the device the run counts as interrupted, since it is not to
/// blame, and where a file of another run lies in its folder; after any other error it counts as failed.
/// Where it was continued, and the weights of its best epoch are not those that were saved, it is trained
/// again from the start.
pub fn fit_stored(
    task: &Task,
    spec: &RunSpec,
    device: &dyn Device,
    run: ActiveRun,
    saving: &Saving<'_>,
    options: &FitOptions<'_>,
) -> Result<Outcome, TrainError> {
    let folder = saving.tensorboard.then(|| run.events_folder());
    let folder = saving.curves.map(Path::to_owned).or(folder);
    let curves = folder.map(|folder| Curves { folder, events: None });
    let now = Instant::now();
    let when = saving.checkpoint;
    let mut saver = Saver { run, curves, when, asked: now, written: now, cost: 0.0 };
    let mut result = fit_saved(task, &spec.run, device, options, Some(&mut saver));
    if let Err(TrainError::Store(error @ StoreError::BestLost { .. })) = &result {
        options.progress.report(Event::Note(&format!("{error}; it is trained again")));
        saver.restart()?;
        result = fit_saved(task, &spec.run, device, options, Some(&mut saver));
    }
    let run = saver.run;
    match result {
        Ok(trained) => {
            run.finish(&trained.result)?;
            Ok(Outcome::Finished(Box::new(trained)))
        }
        Err(TrainError::Cancelled { epochs, .. }) => {
            run.interrupt()?;
            Ok(Outcome::Interrupted { epoch: epochs })
        }
        Err(TrainError::Failed { reason }) => {
            run.fail(&reason)?;
            Ok(Outcome::Failed { reason })
        }
        Err(error) => {
            let passing = matches!(
                error,
                TrainError::Store(StoreError::Io { .. } | StoreError::Foreign { .. })
                    | TrainError::Engine(EngineError::Device(_) | EngineError::Memory { .. })
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

/// Writes checkpoints, weights, predictions and curves of a run.
pub(crate) struct Saver {
    pub(crate) run: ActiveRun,
    curves: Option<Curves>,
    when: When,
    /// When it was last asked for a checkpoint.
    asked: Instant,
    /// When one was last written, and how many seconds that took.
    written: Instant,
    cost: f64,
}

/// The history as curves for TensorBoard; earlier ones in the folder are replaced.
struct Curves {
    folder: PathBuf,
    events: Option<EventWriter>,
}

impl Saver {
    /// Back to the beginning.
    fn restart(&mut self) -> Result<(), TrainError> {
        if let Some(curves) = &mut self.curves {
            curves.events = None;
        }
        Ok(self.run.restart()?)
    }

    /// Adds an epoch to the curves.
    pub(crate) fn add_to_curves(&mut self, row: &EpochRow) -> Result<(), TrainError> {
        let Some(Curves { folder, events }) = &mut self.curves else { return Ok(()) };
        let events = match events {
            Some(events) => events,
            none => none.insert(EventWriter::afresh(folder)?),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64());
        for (name, value) in row.columns() {
            if let Some(value) = value {
                events.scalar(&name.replace('.', "/"), row.epoch, now, value as f32)?;
            }
        }
        Ok(())
    }

    /// Whether a checkpoint is due: after an epoch, or for certain where training `ends`.
    pub(crate) fn is_due(&mut self, ends: bool) -> bool {
        self.asked = Instant::now();
        match self.when {
            When::EveryEpoch => true,
            When::End => ends,
            When::Auto => ends || self.written.elapsed().as_secs_f64() * WRITING_SHARE >= self.cost,
        }
    }

    /// Writes the best epoch, where it is not written yet, and then what the run continues from:
    /// killed in between, it continues from the older checkpoint and finds the same best epoch again.
    pub(crate) fn save(
        &mut self,
        best: Option<(Tensors<'_>, Logits<'_>)>,
        checkpoint: &Checkpoint<'_>,
    ) -> Result<(), TrainError> {
        if let Some((weights, predictions)) = &best {
            self.run.save_best(weights, predictions)?;
        }
        self.run.save_checkpoint(checkpoint)?;
        (self.written, self.cost) = (Instant::now(), self.asked.elapsed().as_secs_f64());
        if let Some(Curves { events: Some(events), .. }) = &mut self.curves {
            events.flush()?;
        }
        Ok(())
    }

    /// Writes the last epoch and, where they are not there any more, the predictions of the best one, and ends
    /// the curves.
    pub(crate) fn finish(&mut self, trained: &Trained) -> Result<(), TrainError> {
        let weights = saved::weights(&trained.network, &trained.last)?;
        self.run.save_last(&weights, trained.predictions(Which::Last))?;
        self.run.restore_best(trained.predictions(Which::Best))?;
        let events = self.curves.take().and_then(|curves| curves.events);
        Ok(events.map_or(Ok(()), EventWriter::finish)?)
    }
}
