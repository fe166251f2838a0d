//! Where and how runs are trained, for everything that trains: a store with its bucket, a device, and
//! who is told.

use dissensus_core::{Batch, Cancel, Ending, Event, Progress, Silent};
use dissensus_data::default_cache_dir;
use dissensus_store::Store;
use dissensus_studies::Plan;
use dissensus_train::spec::Execution;
use dissensus_train::{DeviceError, EndedJob, JobOptions, OpenDevice, RunJob, run_jobs};

use crate::buckets::SharedStudy;
use crate::{Error, Location, VERSION};

/// The device of this name, with what is known of it from before.
pub fn open_device(name: &str) -> Result<OpenDevice, DeviceError> {
    OpenDevice::open(name, default_cache_dir().ok().as_deref())
}

/// Where and how runs are trained; nothing of it changes a result.
pub struct Context<'a> {
    /// Holds the runs. One that is finished there is not trained again.
    pub store: Store,
    /// The address of a bucket: runs of a study that are done there are pulled, and those that are done
    /// here are pushed.
    pub bucket: Option<String>,
    /// Trains the runs, and answers the questions of stages.
    pub device: OpenDevice,
    /// How many runs at once, checkpoints, curves.
    pub execution: Execution,
    /// Is told what happens.
    pub progress: &'a dyn Progress,
    /// Stops after the epochs that are under way.
    pub cancel: Cancel,
}

impl Context<'_> {
    /// With the store of a location, which is made where there is none, on the device that `execution`
    /// names. Nobody is told.
    pub fn create(location: &Location, execution: Execution) -> Result<Self, Error> {
        Self::of(location.create()?, location, execution)
    }

    /// As [`create`](Self::create), with a store that exists unless there is a bucket.
    pub fn open(location: &Location, execution: Execution) -> Result<Self, Error> {
        Self::of(location.open()?, location, execution)
    }

    fn of(store: Store, location: &Location, execution: Execution) -> Result<Self, Error> {
        let (bucket, device) = (location.bucket.clone(), open_device(&execution.device)?);
        Ok(Self { store, bucket, device, execution, progress: &Silent, cancel: Cancel::new() })
    }

    /// Trains runs that are of no study.
    pub fn train(&self, runs: &[RunJob<'_>]) -> Result<Vec<EndedJob>, Error> {
        match &self.bucket {
            Some(url) => Err(Error::IsBucket { url: url.clone() }),
            None => self.train_batch(Batch::Runs, runs, None, true),
        }
    }

    /// Trains runs, and pushes each that is done.
    pub(crate) fn train_batch(
        &self,
        batch: Batch<'_>,
        runs: &[RunJob<'_>],
        shared: Option<&SharedStudy<'_>>,
        keep_results: bool,
    ) -> Result<Vec<EndedJob>, Error> {
        let progress = |event: Event<'_>| {
            if let (Some(shared), Event::Ended { id, ending, .. }) = (shared, event)
                && matches!(ending, Ending::Done | Ending::DoneBefore)
            {
                shared.push(id);
            }
            self.progress.report(event);
        };
        let options = JobOptions {
            version: VERSION,
            execution: self.execution.clone(),
            batch,
            progress: &progress,
            cancel: self.cancel.clone(),
            keep_results,
            ..JobOptions::new(&self.store, &self.device)
        };
        Ok(run_jobs(runs, &options)?)
    }

    /// Does work on a study whose runs are shared through the bucket, where there is one. The flag says
    /// whether the bucket has all that is done afterwards, and no other version of it.
    pub(crate) fn with_shared<T>(
        &self,
        plan: &Plan<'_>,
        work: impl FnOnce(Option<&SharedStudy<'_>>) -> Result<T, Error>,
    ) -> Result<(T, bool), Error> {
        let Some(url) = &self.bucket else { return Ok((work(None)?, true)) };
        let shared = SharedStudy::open(url, plan, &self.store, self.progress, &self.cancel)?;
        let worked = work(Some(&shared));
        let all_pushed = match shared.finish() {
            Ok(pushed) => {
                pushed.report(self.progress);
                !pushed.has_problems()
            }
            Err(error) => {
                self.progress.report(Event::Warning(&format!(
                    "not pushed: {error}; the runs are in {}, and doing the same again pushes them",
                    self.store.path().display()
                )));
                false
            }
        };
        Ok((worked?, all_pushed))
    }
}
