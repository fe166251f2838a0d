//! What accompanies a run while it is trained: saving, resuming, curves, anything that wants to see
//! every epoch.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use dissensus_store::tensorboard::EventWriter;
use dissensus_store::{Checkpoint, Logits, Tensors};

use crate::{EpochRow, TrainError, Trained};

/// Accompanies a run. Every method may be left out; an error ends the run.
pub trait Observer {
    /// Called once before training: a checkpoint of the same run to continue from. Where several
    /// observers have one, the first counts.
    fn on_start(&mut self) -> Result<Option<Checkpoint<'static>>, TrainError> {
        Ok(None)
    }

    /// An epoch is done; `done` epochs of at most `planned` are. A run that continues from a
    /// checkpoint reports the epochs before it, too.
    fn on_epoch(&mut self, row: &EpochRow, done: u64, planned: u64) -> Result<(), TrainError> {
        let _ = (row, done, planned);
        Ok(())
    }

    /// Whether a checkpoint should be made now. It takes time, so that none is made by default.
    fn wants_checkpoint(&mut self, moment: Moment) -> bool {
        let _ = moment;
        false
    }

    /// A checkpoint was made, because one of the observers wants it.
    fn on_checkpoint(&mut self, snapshot: &Snapshot<'_>) -> Result<(), TrainError> {
        let _ = snapshot;
        Ok(())
    }

    /// Called at the end of a run that continued from a checkpoint behind its best epoch: the weights
    /// of that epoch, from the latest snapshot that had them.
    fn best_weights(&mut self) -> Option<Tensors<'static>> {
        None
    }

    /// The run is finished.
    fn on_finish(&mut self, trained: &Trained) -> Result<(), TrainError> {
        let _ = trained;
        Ok(())
    }
}

/// When a checkpoint may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After an epoch.
    Epoch,
    /// When the run was asked to stop.
    Cancelled,
    /// After the last epoch.
    End,
}

/// A run after a whole number of epochs.
pub struct Snapshot<'a> {
    /// Weights and predictions of the best epoch so far, where it came after the last snapshot.
    pub best: Option<(Tensors<'a>, Logits<'a>)>,
    /// Everything that the run continues from. Write it after `best`: killed in between, the run
    /// continues from the older checkpoint and finds the same best epoch again.
    pub checkpoint: Checkpoint<'a>,
}

/// Writes the history as curves for TensorBoard.
pub struct Curves {
    folder: PathBuf,
    events: Option<EventWriter>,
}

impl Curves {
    /// Into this folder, which should be the run's own: earlier curves in it are replaced.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), events: None }
    }
}

impl Observer for Curves {
    fn on_epoch(&mut self, row: &EpochRow, _: u64, _: u64) -> Result<(), TrainError> {
        let events = match &mut self.events {
            Some(events) => events,
            none => none.insert(EventWriter::afresh(&self.folder)?),
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

    fn on_checkpoint(&mut self, _: &Snapshot<'_>) -> Result<(), TrainError> {
        Ok(self.events.as_mut().map_or(Ok(()), EventWriter::flush)?)
    }

    fn on_finish(&mut self, _: &Trained) -> Result<(), TrainError> {
        Ok(self.events.take().map_or(Ok(()), EventWriter::finish)?)
    }
}
