//! A run trained in a store: saved as it goes, and continued where it was interrupted.

use std::path::Path;
use std::time::Instant;

use dissensus_engine::{Device, EngineError};
use dissensus_store::{ActiveRun, Checkpoint, StoreError, Tensors, Which};

use crate::spec::Checkpoint as When;
use crate::{
    Curves, FitOptions, Moment, Observer, RunSpec, Snapshot, Task, TrainError, Trained, fit, saved,
};

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

/// Trains a run that has been begun in a store, or continues it: [`fit`] with the store as an
/// observer, and others beside it.
///
/// After an I/O error or an error of the device the run counts as interrupted, since it is not to
/// blame; after any other error it counts as failed.
pub fn fit_stored(
    task: &Task,
    spec: &RunSpec,
    device: &dyn Device,
    run: ActiveRun,
    saving: &Saving<'_>,
    options: &FitOptions<'_>,
    observers: &mut [&mut dyn Observer],
) -> Result<Outcome, TrainError> {
    let folder = saving.tensorboard.then(|| run.events_folder());
    let folder = saving.curves.or(folder.as_deref());
    let mut curves = folder.map(Curves::new);
    let now = Instant::now();
    let mut saver = Saver { run, when: saving.checkpoint, asked: now, written: now, cost: 0.0 };
    let mut all: Vec<&mut dyn Observer> = vec![&mut saver];
    all.extend(curves.as_mut().map(|curves| -> &mut dyn Observer { curves }));
    all.extend(observers.iter_mut().map(|observer| -> &mut dyn Observer { &mut **observer }));
    let result = fit(task, &spec.run, device, options, &mut all);
    let run = saver.run;
    match result {
        Ok(trained) => {
            run.finish(&trained.result)?;
            Ok(Outcome::Finished(Box::new(trained)))
        }
        Err(TrainError::Cancelled { epochs }) => {
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

/// Writes checkpoints, weights and predictions into a run's folder.
struct Saver {
    run: ActiveRun,
    when: When,
    /// When it was last asked for a checkpoint.
    asked: Instant,
    /// When one was last written, and how many seconds that took.
    written: Instant,
    cost: f64,
}

impl Observer for Saver {
    fn on_start(&mut self) -> Result<Option<Checkpoint<'static>>, TrainError> {
        Ok(self.run.checkpoint()?)
    }

    fn wants_checkpoint(&mut self, moment: Moment) -> bool {
        self.asked = Instant::now();
        match (moment, self.when) {
            (Moment::Cancelled | Moment::End, _) | (_, When::EveryEpoch) => true,
            (Moment::Epoch, When::End) => false,
            (Moment::Epoch, When::Auto) => {
                self.written.elapsed().as_secs_f64() * WRITING_SHARE >= self.cost
            }
        }
    }

    fn on_checkpoint(&mut self, snapshot: &Snapshot<'_>) -> Result<(), TrainError> {
        if let Some((weights, predictions)) = &snapshot.best {
            self.run.save_best(weights, predictions)?;
        }
        self.run.save_checkpoint(&snapshot.checkpoint)?;
        (self.written, self.cost) = (Instant::now(), self.asked.elapsed().as_secs_f64());
        Ok(())
    }

    /// Where they cannot be read, the run has all of its files without them.
    fn best_weights(&mut self) -> Option<Tensors<'static>> {
        self.run.weights(Which::Best).ok().flatten()
    }

    fn on_finish(&mut self, trained: &Trained) -> Result<(), TrainError> {
        let weights = saved::weights(&trained.network, &trained.last)?;
        match trained.predictions(Which::Last) {
            Some(predictions) => Ok(self.run.save_last(&weights, predictions)?),
            None => Ok(()),
        }
    }
}
