//! A whole study: its runs trained, its stages run on the models, its results collected.

use std::path::Path;

use dissensus_core::{Cancel, Progress, Silent};
use dissensus_inputs::{Inputs, ReadOptions};
use dissensus_io::FileError;
use dissensus_store::{Store, Which};
use dissensus_studies::{
    Collected, Examined, Finals, Job, LoadError, Plan, StageContext, StageProgress, distinct,
};
use dissensus_train::spec::{Checkpoint, Run};
use dissensus_train::{EndedJob, JobOptions, OpenDevice, RunJob, run_jobs};

use crate::{Error, LoadContext, VERSION, environment, read_inputs};

/// What happens while the runs of a study are trained.
pub enum StudyEvent<'a> {
    /// Training of these search runs begins.
    Searching(&'a [RunJob<'a>]),
    /// The search has selected settings for the final runs, as far as it has ended.
    Selected(&'a Finals),
    /// Training of these final runs begins.
    Training(&'a [RunJob<'a>]),
    /// A run ended.
    Ended(&'a EndedJob),
}

/// Where and how a study is run; nothing of it changes a result.
pub struct StudyOptions<'a> {
    /// The device to train on.
    pub device: &'a OpenDevice,
    /// How many runs at once; `None` for what the device does best.
    pub jobs: Option<usize>,
    /// Threads of all runs together; `None` for all cores.
    pub threads: Option<usize>,
    /// When runs save a checkpoint.
    pub checkpoint: Checkpoint,
    /// Whether runs write TensorBoard curves into their own folders.
    pub tensorboard: bool,
    /// A folder for TensorBoard curves, with one folder per run.
    pub curves: Option<&'a Path>,
    /// Receives the progress of every run, in epochs.
    pub progress: &'a dyn Progress,
    /// Stops after the current epochs.
    pub cancel: Cancel,
    /// Called with every event, from any thread.
    pub on_event: &'a (dyn Fn(StudyEvent<'_>) + Sync),
}

impl<'a> StudyOptions<'a> {
    /// The defaults.
    pub fn new(device: &'a OpenDevice) -> Self {
        Self {
            device,
            jobs: None,
            threads: None,
            checkpoint: Checkpoint::Auto,
            tensorboard: false,
            curves: None,
            progress: &Silent,
            cancel: Cancel::new(),
            on_event: &|_| {},
        }
    }

    /// As the study's `[run]` says, on this device.
    pub fn of(run: &Run, device: &'a OpenDevice) -> Self {
        let size = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
        Self {
            jobs: size(run.jobs),
            threads: size(run.threads),
            checkpoint: run.checkpoint,
            tensorboard: run.tensorboard,
            ..Self::new(device)
        }
    }
}

/// What became of a study.
pub struct StudyOutcome {
    /// All search runs and final runs.
    pub ended: Vec<EndedJob>,
    /// The stages that need models.
    pub examined: Examined,
    /// The results, as they were written to the store.
    pub collected: Collected,
}

/// Runs everything in a study that is not done yet: training, stages that need models, collection
/// of results. A run that fails does not stop the others.
pub fn run_study(
    plan: &Plan<'_>,
    store: &Store,
    options: &StudyOptions<'_>,
    progress: &mut dyn StageProgress,
) -> Result<StudyOutcome, Error> {
    let ended = train_study(plan, store, options)?;
    let inputs = |name: &str| -> Result<Inputs, LoadError> {
        let context = LoadContext::new(options.progress);
        Ok(read_inputs(Path::new(name), &ReadOptions::default(), &context)?)
    };
    let device = options.device;
    let context = StageContext::new(device.device(), !device.is_gpu(), &inputs);
    let examined = plan.examine(store, &context, &options.cancel, progress)?;
    let collected = plan.collect(store, &environment())?;
    Ok(StudyOutcome { ended, examined, collected })
}

/// Trains the search runs of a study, then the final runs with the selected settings.
pub fn train_study(
    plan: &Plan<'_>,
    store: &Store,
    options: &StudyOptions<'_>,
) -> Result<Vec<EndedJob>, Error> {
    let train = |runs: &[RunJob<'_>]| {
        let jobs = JobOptions {
            version: VERSION,
            jobs: options.jobs,
            threads: options.threads,
            checkpoint: options.checkpoint,
            tensorboard: options.tensorboard,
            curves: options.curves,
            progress: options.progress,
            cancel: options.cancel.clone(),
            on_end: &|job| (options.on_event)(StudyEvent::Ended(job)),
            ..JobOptions::new(store, options.device)
        };
        run_jobs(runs, &jobs)
    };
    let mut ended = Vec::new();
    let searches = plan.searches();
    if !searches.is_empty() {
        let runs = run_jobs_of(plan, &searches);
        (options.on_event)(StudyEvent::Searching(&runs));
        ended.extend(train(&runs)?);
    }
    let finals = plan.finals(store)?;
    (options.on_event)(StudyEvent::Selected(&finals));
    let runs = run_jobs_of(plan, &finals.jobs);
    (options.on_event)(StudyEvent::Training(&runs));
    ended.extend(train(&runs)?);
    Ok(ended)
}

fn run_jobs_of<'a>(plan: &'a Plan<'_>, jobs: &'a [Job]) -> Vec<RunJob<'a>> {
    let job = |job: &'a Job| RunJob { task: plan.task(job), plan: &job.run, label: job.label() };
    distinct(jobs).into_iter().map(job).collect()
}

/// Deletes the weights of all runs that no stage needs any more. How many runs, and how many bytes.
pub fn drop_weights(plan: &Plan<'_>, store: &Store) -> Result<(usize, u64), Error> {
    let (mut runs, mut bytes) = (0, 0);
    for id in plan.spent(store)? {
        let run = store.run(&id)?;
        for which in [Which::Best, Which::Last] {
            let path = run.weights_path(which);
            let size = std::fs::metadata(&path).map_or(0, |about| about.len());
            match std::fs::remove_file(&path) {
                Ok(()) => bytes += size,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(FileError::new(&path, error).into()),
            }
        }
        runs += 1;
    }
    Ok((runs, bytes))
}
