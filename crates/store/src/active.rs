//! A run that this process trains, and that no other may touch meanwhile.

use std::cell::RefCell;
use std::fs;
use std::io::{Cursor, Write as _};
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
    /// Whether its files are bound to it; not those of a run that an older version began.
    pub(crate) is_bound: bool,
    /// The checksums of the weights and predictions that it saved, or that its checkpoint has found as they
    /// were saved.
    pub(crate) saved: RefCell<Checksums>,
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
    /// checkpoint's. Weights and predictions of the best epoch that are not as they were saved count as not
    /// saved.
    pub fn checkpoint(&mut self) -> Result<Option<Checkpoint<'static>>, StoreError> {
        let path = self.layout.checkpoint();
        let read = Checkpoint::read(&path, &self.id, self.is_bound)?;
        let (checkpoint, checksums) = read.unzip();
        let mut saved = checksums.unwrap_or_default();
        let best = [self.layout.weights(Which::Best), self.layout.predictions(Which::Best)];
        let best = best.map(|path| (self.layout.name_of(&path), path));
        saved.retain(|name, sha256| {
            let path = best.iter().find(|(known, _)| known == name).map(|(_, path)| path);
            let bytes = path.and_then(|path| files::read(path).ok());
            bytes.is_some_and(|bytes| files::sha256(&bytes) == *sha256)
        });
        self.saved = RefCell::new(saved);
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
        checkpoint.write(&self.layout.checkpoint(), &self.id, &self.saved.borrow())?;
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
        let (path, run) = (self.layout.weights(which), Some(&self.id));
        let sha256 = write_tensors(&path, weights, None, run, Durability::Power)?;
        self.saved.borrow_mut().insert(self.layout.name_of(&path), sha256);
        self.save_predictions(which, predictions)
    }

    /// Replaces predictions alone.
    fn save_predictions(&self, which: Which, predictions: &Logits<'_>) -> Result<(), StoreError> {
        let path = self.layout.predictions(which);
        // An archive is not written from its beginning to its end.
        let mut bytes = Cursor::new(Vec::new());
        predictions.write_npz(&mut bytes).map_err(|e| StoreError::io("writing", &path, e))?;
        let bytes = bytes.into_inner();
        files::replace(&path, Durability::Power, |out| out.write_all(&bytes))?;
        self.saved.borrow_mut().insert(self.layout.name_of(&path), files::sha256(&bytes));
        Ok(())
    }

    /// Replaces the predictions of the selected epoch, where they are not as they were saved.
    pub fn restore_best(&self, predictions: &Logits<'_>) -> Result<(), StoreError> {
        match !self.is_bound || self.is_saved(&self.layout.predictions(Which::Best)) {
            true => Ok(()),
            false => self.save_predictions(Which::Best, predictions),
        }
    }

    fn is_saved(&self, path: &Path) -> bool {
        self.saved.borrow().contains_key(&self.layout.name_of(path))
    }

    /// Sets the run back to its beginning.
    pub fn restart(&mut self) -> Result<(), StoreError> {
        // The checkpoint first: without it, nothing else is looked at.
        self.layout.clear()?;
        self.saved = RefCell::default();
        self.epoch = 0;
        self.write_status(State::Running, Durability::Power)
    }

    /// The folder of the run's event files for TensorBoard; it may not exist yet.
    pub fn events_folder(&self) -> PathBuf {
        self.layout.events()
    }

    /// The weights of the selected epoch, which another process saved. Where they are not as it saved them,
    /// the error is [`StoreError::BestLost`].
    pub fn best_weights(&self) -> Result<Tensors<'static>, StoreError> {
        let path = self.layout.weights(Which::Best);
        if self.is_bound && !self.is_saved(&path) {
            return Err(StoreError::BestLost { id: self.id.clone() });
        }
        let read = || weights::read_weights(&path, &files::read(&path)?, self.bound());
        read().map_err(|_| StoreError::BestLost { id: self.id.clone() })
    }

    fn bound(&self) -> Option<&RunId> {
        self.is_bound.then_some(&self.id)
    }

    /// Ends the run with its final figures. There is nothing left to continue, so the checkpoint
    /// goes; weights, predictions and history stay.
    pub fn finish(self, result: &impl Serialize) -> Result<RunInfo, StoreError> {
        let history = self.layout.history();
        if let Some(bytes) = files::read_if_there(&history)? {
            files::replace(&history, Durability::Power, |out| out.write_all(&bytes))?;
        }
        files::write_json(&self.layout.result(), result, Durability::Power)?;
        let mut checksums = self.saved.take();
        for path in self.layout.bound() {
            let name = self.layout.name_of(&path);
            if checksums.contains_key(&name) {
                continue;
            }
            let Some(bytes) = files::read_if_there(&path)? else { continue };
            if self.is_bound && (name.contains('/') || name.ends_with(".safetensors")) {
                return Err(StoreError::foreign(&path, "this run did not save it"));
            }
            checksums.insert(name, files::sha256(&bytes));
        }
        // Only this makes the run finished: all else is on the disk before it.
        let status = self.status(State::Finished);
        status::write(&self.layout, &self.id, status, checksums, Durability::Power)?;
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
        status::write(&self.layout, &self.id, self.status(state), Checksums::new(), durability)
    }

    /// The history is the checkpoint's; the file is there for whoever only wants to look.
    fn write_history(&self, history: &[Value], durability: Durability) -> Result<(), StoreError> {
        files::replace(&self.layout.history(), durability, |out| {
            history.iter().try_for_each(|epoch| writeln!(out, "{epoch}"))
        })
    }
}
