//! How a run begins: made, taken up again, or found finished.

use std::cell::RefCell;
use std::fs;
use std::sync::atomic::Ordering;

use serde::Serialize;
use serde_json::Value;

use crate::layout::{NEW, REMOVED, RunLayout};
use crate::lock;
use crate::older::BOUND;
use crate::run::About;
use crate::{
    ActiveRun, Continued, Durability, FORMAT, RunId, RunInfo, State, Store, StoreError, canonical,
    files,
};

/// What came of beginning a run.
#[derive(Debug)]
pub enum Begun {
    /// It is done already; nothing is to be trained.
    Finished(Box<RunInfo>),
    /// It is this process's to train, from its checkpoint where there is one.
    Run(ActiveRun),
}

impl Store {
    /// Begins the run of a resolved spec. `about` is what the caller says of the code and the
    /// machine; it does not name the run.
    ///
    /// A finished run is given back as it is; an interrupted one is continued; one that failed
    /// starts anew. A run that another process trains is an error.
    pub fn begin(
        &self,
        spec: &Value,
        about: &impl Serialize,
        planned: u64,
    ) -> Result<Begun, StoreError> {
        let path = || self.layout.root.clone();
        let about = serde_json::to_value(about)
            .map_err(|error| StoreError::Json { path: path(), error })?;
        let about = &about;
        let digest = canonical::digest(spec);
        let id = RunId::of_digest(&digest);
        let runs = self.layout.runs();
        fs::create_dir_all(&runs).map_err(|e| StoreError::io("making", &runs, e))?;
        // Runs are made and removed by one process at a time: a folder that is half made when
        // this lock is held was left by a process that is no more.
        let making = lock::wait(&self.layout.lock())?;
        let mut left = Vec::new();
        // Once is enough, and a list of all runs for each run takes long where there are many.
        if !self.swept.swap(true, Ordering::Relaxed) {
            left = files::names(&runs)?;
            left.retain(|name| name.starts_with(NEW) || name.starts_with(REMOVED));
        }
        for name in left.iter().filter(|name| name.starts_with(NEW)) {
            files::remove(&runs.join(name))?;
        }
        let begun = match self.is_there(&id)? {
            true => self.take_up(id, &digest, about, planned),
            false => self.make(id, digest, spec, about, planned).map(Begun::Run),
        };
        drop(making);
        // Many files perhaps, and nobody's any more: no reason to let others wait.
        for name in left.iter().filter(|name| name.starts_with(REMOVED)) {
            files::remove(&runs.join(name))?;
        }
        begun
    }

    /// Makes a run's folder under another name, locked and with all that a run must have, and
    /// then gives it its own.
    fn make(
        &self,
        id: RunId,
        digest: String,
        spec: &Value,
        about: &Value,
        planned: u64,
    ) -> Result<ActiveRun, StoreError> {
        let layout = self.layout.run(&id);
        let new = RunLayout { folder: self.layout.runs().join(format!("{NEW}{id}")) };
        files::remove(&new.folder)?;
        fs::create_dir(&new.folder).map_err(|e| StoreError::io("making", &new.folder, e))?;
        let Some(lock) = lock::take(&new.lock())? else {
            return Err(self.locked(&id));
        };
        files::write_json(&new.spec(), spec, Durability::Power)?;
        let (created, about) = (files::now(), about.clone());
        let about = About { format: FORMAT, digest, created, about, continued: Vec::new() };
        files::write_sealed(&new.about(), &about, Durability::Power)?;
        let saved = RefCell::default();
        let mut run =
            ActiveRun { id, layout: new, planned, epoch: 0, is_bound: true, saved, _lock: lock };
        run.write_status(State::Running, Durability::Power)?;
        fs::rename(&run.layout.folder, &layout.folder)
            .map_err(|e| StoreError::io("making", &layout.folder, e))?;
        files::sync_folder(&self.layout.runs())?;
        run.layout = layout;
        Ok(run)
    }

    fn take_up(
        &self,
        id: RunId,
        digest: &str,
        about: &Value,
        planned: u64,
    ) -> Result<Begun, StoreError> {
        let layout = self.layout.run(&id);
        let found = About::read(&layout)?.digest;
        if found != digest {
            return Err(StoreError::Collision { id, expected: digest.to_owned(), found });
        }
        let info = RunInfo::read(layout.clone(), id.clone())?;
        if info.status.state == State::Finished {
            return Ok(Begun::Finished(Box::new(info)));
        }
        let Some(lock) = lock::take(&layout.lock())? else {
            return Err(self.locked(&id));
        };
        // Once more, as it may have ended while the lock was waited for.
        let info = RunInfo::read(layout.clone(), id.clone())?;
        if info.status.state == State::Finished {
            return Ok(Begun::Finished(Box::new(info)));
        }
        let status = info.status;
        files::sweep(&layout.folder)?;
        files::sweep(&layout.predictions_folder())?;
        let anew = matches!(status.state, State::Failed { .. });
        let mut written = About::read(&layout)?;
        if anew {
            // The checkpoint first: killed after it, the run still counts as failed, and before
            // the status says otherwise nothing of the failed one is left.
            layout.clear()?;
            (written.created, written.about) = (files::now(), about.clone());
            written.format = FORMAT;
            written.continued.clear();
        } else {
            written.continued.push(Continued { at: files::now(), about: about.clone() });
        }
        files::remove(&layout.result())?;
        files::write_sealed(&layout.about(), &written, Durability::Power)?;
        let epoch = if anew { 0 } else { status.epoch };
        let (is_bound, saved) = (written.format >= BOUND, RefCell::default());
        let run = ActiveRun { id, layout, planned, epoch, is_bound, saved, _lock: lock };
        run.write_status(State::Running, Durability::Power)?;
        Ok(Begun::Run(run))
    }
}
