//! Stores in buckets: a whole store, or the runs of a study while it is run.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dissensus_remote::{Pusher, Remote, SyncDirection, SyncFilter, SyncOptions, Synced};
use dissensus_store::{RunId, Store};
use dissensus_studies::{Job, Plan};
use dissensus_train::JobOutcome;

use crate::{Cancel, Error, Progress, StudyEvent};

/// Pushes what a bucket lacks of a store, and pulls what the store lacks. The bucket is
/// `s3://BUCKET/PREFIX`, `gs://…`, `az://…` (with the feature `cloud`) or `file:///FOLDER`; credentials come from
/// the environment.
pub fn sync_store(store: &Path, url: &str, options: &SyncOptions<'_>) -> Result<Synced, Error> {
    Ok(Remote::open(url)?.sync(store, options)?)
}

/// A study whose runs are shared through a bucket: those that are done there are pulled before they
/// would be trained, and those that are done here are pushed in the background.
pub struct SharedStudy<'a> {
    remote: Arc<Remote>,
    store: &'a Store,
    name: String,
    progress: &'a dyn Progress,
    pusher: Pusher,
    /// Every run of the study that is known so far.
    runs: Mutex<BTreeSet<RunId>>,
}

impl<'a> SharedStudy<'a> {
    /// Pulls what the bucket has of a study. [`on_event`](Self::on_event) keeps both in step from then on, and
    /// [`finish`](Self::finish) pushes the rest.
    pub fn open(
        url: &str,
        plan: &Plan<'_>,
        store: &'a Store,
        progress: &'a dyn Progress,
        cancel: &Cancel,
    ) -> Result<(Self, Synced), Error> {
        let remote = Arc::new(Remote::open(url)?);
        let pusher = Pusher::start(Arc::clone(&remote), store.clone());
        let (name, runs) = (plan.study().name.clone(), Mutex::default());
        let shared = Self { remote, store, name, progress, pusher, runs };
        // Which final runs there are is known once the search runs are.
        let searched = shared.pull(&plan.searches(), cancel)?;
        let pulled = shared.pull(&plan.finals(store)?.jobs, cancel)?;
        let pulled = if searched.pulled.runs > pulled.pulled.runs { searched } else { pulled };
        Ok((shared, pulled))
    }

    /// Pulls final runs once the search has selected them, and pushes runs that ended.
    pub fn on_event(&self, event: &StudyEvent<'_>, cancel: &Cancel) {
        match event {
            StudyEvent::Selected(finals) => {
                // What cannot be pulled is trained here.
                let _ = self.pull(&finals.jobs, cancel);
            }
            StudyEvent::Ended(job) if matches!(job.outcome, JobOutcome::Finished { .. }) => {
                if let Ok(id) = job.id.parse() {
                    self.pusher.push(&id);
                }
            }
            _ => {}
        }
    }

    /// Pushes everything that is done and not in the bucket: runs whose push failed, and results of
    /// stages.
    pub fn finish(self, cancel: &Cancel) -> Result<Synced, Error> {
        self.pusher.finish();
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let filter = SyncFilter { runs, study: self.name };
        let options = SyncOptions {
            direction: SyncDirection::Push,
            only: Some(&filter),
            progress: self.progress,
            cancel: cancel.clone(),
            ..SyncOptions::default()
        };
        Ok(self.remote.sync(self.store.path(), &options)?)
    }

    fn pull(&self, jobs: &[Job], cancel: &Cancel) -> Result<Synced, Error> {
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
            cancel: cancel.clone(),
            ..SyncOptions::default()
        };
        Ok(self.remote.sync(self.store.path(), &options)?)
    }
}
