//! Stores in buckets: a whole store, or the runs of a study while it is run.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dissensus_core::{Cancel, Event, Progress};
use dissensus_remote::{Pusher, Remote, SyncDirection, SyncFilter, SyncOptions, Synced};
use dissensus_store::{RunId, Store};
use dissensus_studies::{Job, Plan};

use crate::Error;

/// Pushes what a bucket lacks of a store, and pulls what the store lacks. The bucket is
/// `s3://BUCKET/PREFIX`, `gs://…`, `az://…` (with the feature `cloud`) or `file:///FOLDER`; credentials come from
/// the environment.
pub fn sync_store(store: &Path, url: &str, options: &SyncOptions<'_>) -> Result<Synced, Error> {
    Ok(Remote::open(url)?.sync(store, options)?)
}

/// A study whose runs are shared through a bucket: those that are done there are pulled before they
/// would be trained, and those that are done here are pushed in the background.
pub(crate) struct SharedStudy<'a> {
    remote: Arc<Remote>,
    store: &'a Store,
    name: String,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
    pusher: Pusher,
    /// Every run of the study that is known so far.
    runs: Mutex<BTreeSet<RunId>>,
}

impl<'a> SharedStudy<'a> {
    /// Pulls what the bucket has of a study, and reports it.
    pub(crate) fn open(
        url: &str,
        plan: &Plan<'_>,
        store: &'a Store,
        progress: &'a dyn Progress,
        cancel: &'a Cancel,
    ) -> Result<Self, Error> {
        let remote = Arc::new(Remote::open(url)?);
        let pusher = Pusher::start(Arc::clone(&remote), store.clone());
        let (name, runs) = (plan.study().name.clone(), Mutex::default());
        let shared = Self { remote, store, name, progress, cancel, pusher, runs };
        // Which final runs there are is known once the search runs are.
        let searched = shared.pull(&plan.searches())?;
        let pulled = searched.and(shared.pull(&plan.finals(store)?.jobs)?);
        let runs = pulled.pulled.runs;
        let s = if runs == 1 { "" } else { "s" };
        let folder = store.path().display();
        progress.report(Event::Note(&format!("pulled {runs} run{s} from {url} into {folder}")));
        pulled.report(progress);
        Ok(shared)
    }

    /// Pushes a run that is done.
    pub(crate) fn push(&self, id: &str) {
        if let Ok(id) = id.parse() {
            self.pusher.push(&id);
        }
    }

    /// Pushes everything that is done and not in the bucket: runs whose push failed, and results of
    /// stages.
    pub(crate) fn finish(self) -> Result<Synced, Error> {
        self.pusher.finish();
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let filter = SyncFilter { runs, study: self.name };
        let options = SyncOptions {
            direction: SyncDirection::Push,
            only: Some(&filter),
            progress: self.progress,
            cancel: self.cancel.clone(),
            ..SyncOptions::default()
        };
        Ok(self.remote.sync(self.store.path(), &options)?)
    }

    /// Pulls what the bucket has of these runs.
    pub(crate) fn pull(&self, jobs: &[Job]) -> Result<Synced, Error> {
        let runs: BTreeSet<RunId> = jobs.iter().map(|job| job.id.clone()).collect();
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).extend(runs.iter().cloned());
        if runs.is_empty() {
            return Ok(Synced::default());
        }
        let filter = SyncFilter { runs, study: self.name.clone() };
        let options = SyncOptions {
            direction: SyncDirection::Pull,
            only: Some(&filter),
            progress: self.progress,
            cancel: self.cancel.clone(),
            ..SyncOptions::default()
        };
        Ok(self.remote.sync(self.store.path(), &options)?)
    }
}
