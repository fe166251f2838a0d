//! A run that this process trains, and that no other may touch meanwhile.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dissensus_io::Lock;
use serde::Serialize;
use serde_json::Value;

use crate::checkpoint::write_tensors;
use crate::layout::RunLayout;
use crate::status::Checksums;
use crate::{
    Checkpoint, Durability, Logits, RunId, RunInfo, State, Status, StoreError, Tensors, Which,
    files, status, weights,
};

/// A run that this process holds. Dropped without a word, it counts as interrupted.
#[derive(Debug)]
pub struct ActiveRun {
    pub(crate) id: RunId,
    pub(crate) layout: RunLayout,
    pub(crate) planned: u64,
    pub(crate) epoch: u64,
    pub(crate) _lock: Lock,
}

impl ActiveRun {
    /// Its name.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Where it lies.
    pub fn dir(&self) -> &Path {
        &self.layout.folder
    }

    /// What to continue from; `None` where the run starts. The history on disk is set back to the
    /// checkpoint's.
    pub fn checkpoint(&mut self) -> Result<Option<Checkpoint<'static>>, StoreError> {
        let checkpoint = Checkpoint::read(&self.layout.checkpoint(), &self.id)?;
        let (epoch, history) = checkpoint.as_ref().map_or((0, &[][..]), |c| (c.epoch, &c.history));
        self.write_history(history, Durability::Process)?;
        self.epoch = epoch;
        self.write_status(State::Running, Durability::Process)?;
        Ok(checkpoint)
    }

    /// Replaces what the run continues from.
    ///
    /// Where an epoch is also the best one so far, [`save_best`](Self::save_best) comes first: a
    /// run that is killed in between is continued from before both.
    pub fn save_checkpoint(&mut self, checkpoint: &Checkpoint<'_>) -> Result<(), StoreError> {
        checkpoint.write(&self.layout.checkpoint())?;
        self.write_history(&checkpoint.history, Durability::Process)?;
        self.epoch = checkpoint.epoch;
        self.write_status(State::Running, Durability::Process)
    }

    /// Replaces the weights and predictions of the selected epoch.
    pub fn save_best(
        &self,
        weights: &Tensors<'_>,
        predictions: &Logits<'_>,
    ) -> Result<(), StoreError> {
        self.save(Which::Best, weights, predictions)
    }

    /// Replaces the weights and predictions at the end.
    pub fn save_last(
        &self,
        weights: &Tensors<'_>,
        predictions: &Logits<'_>,
    ) -> Result<(), StoreError> {
        self.save(Which::Last, weights, predictions)
    }

    fn save(
        &self,
        which: Which,
        weights: &Tensors<'_>,
        predictions: &Logits<'_>,
    ) -> Result<(), StoreError> {
        let folder = self.layout.predictions_folder();
        fs::create_dir_all(&folder).map_err(|e| StoreError::io("making", &folder, e))?;
        write_tensors(&self.layout.weights(which), weights, None, Durability::Power)?;
        let path = self.layout.predictions(which);
        files::replace(&path, Durability::Power, |out| predictions.write_npz(out))
    }

    /// The folder of the run's event files for TensorBoard; it may not exist yet.
    pub fn events_folder(&self) -> PathBuf {
        self.layout.events()
    }

    /// The weights that were saved last; `None` where there are none yet.
    pub fn weights(&self, which: Which) -> Result<Option<Tensors<'static>>, StoreError> {
        weights::read_file(&self.layout.weights(which))
    }

    /// Ends the run with its final figures. There is nothing left to continue, so the checkpoint
    /// goes; weights, predictions and history stay.
    pub fn finish(self, result: &impl Serialize) -> Result<RunInfo, StoreError> {
        let history = self.layout.history();
        if let Some(bytes) = files::read_if_there(&history)? {
            files::replace(&history, Durability::Power, |out| out.write_all(&bytes))?;
        }
        files::write_json(&self.layout.result(), result, Durability::Power)?;
        let mut checksums = Checksums::new();
        for path in self.layout.of_results() {
            if let Some(bytes) = files::read_if_there(&path)? {
                checksums.insert(self.layout.name_of(&path), files::sha256(&bytes));
            }
        }
        // Only this makes the run finished: all else is on the disk before it.
        status::write(&self.layout, self.status(State::Finished), checksums, Durability::Power)?;
        files::remove(&self.layout.checkpoint())?;
        RunInfo::read(self.layout.clone(), self.id.clone())
    }

    /// Ends the run with an error. Begun again, it starts anew.
    pub fn fail(self, reason: &str) -> Result<(), StoreError> {
        self.write_status(State::Failed { reason: reason.to_owned() }, Durability::Power)
    }

    /// Lets go of the run, to be continued from its last checkpoint.
    pub fn interrupt(self) -> Result<(), StoreError> {
        self.write_status(State::Interrupted, Durability::Power)
    }

    fn status(&self, state: State) -> Status {
        let (epoch, planned, process) = (self.epoch, self.planned, std::process::id());
        Status { state, epoch, planned, updated: files::now(), process }
    }

    pub(crate) fn write_status(
        &self,
        state: State,
        durability: Durability,
    ) -> Result<(), StoreError> {
        status::write(&self.layout, self.status(state), Checksums::new(), durability)
    }

    /// The history is the checkpoint's; the file is there for whoever only wants to look.
    fn write_history(&self, history: &[Value], durability: Durability) -> Result<(), StoreError> {
        files::replace(&self.layout.history(), durability, |out| {
            history.iter().try_for_each(|epoch| writeln!(out, "{epoch}"))
        })
    }
}
