//! A whole study: its runs trained, its stages run on the models, its results collected.

use std::path::Path;

use dissensus_core::{Cancel, Progress, Silent};
use dissensus_inputs::WITH_IMAGES;
use dissensus_io::FileError;
use dissensus_sources::{LoadContext, fetch_named};
use dissensus_store::{Store, Which};
use dissensus_studies::{
    Examined, Finals, Gathered, Job, Plan, PlanOptions, Shard, Shares, StageContext, StageProgress,
    Study, StudyError, distinct, files,
};
use dissensus_train::spec::{Checkpoint, Run};
use dissensus_train::{EndedJob, JobOptions, OpenDevice, RunJob, run_jobs};
use serde_json::Value;

use crate::{Error, VERSION, environment};

/// Whether this is the path of a study's file rather than the name of a study.
pub fn is_study_file(study: &str) -> bool {
    Path::new(study).is_file() || study.contains(['/', '\\']) || study.ends_with(".toml")
}

/// A study by its file, or a built-in one by its name.
pub fn open_study(study: &str) -> Result<Study, Error> {
    Ok(match is_study_file(study) {
        true => Study::read(Path::new(study))?,
        false => Study::builtin(study)?,
    })
}

/// A study as it was run and stored: by its name, or the only one; or another file for the same runs.
pub fn stored_study(store: &Store, study: Option<&str>) -> Result<Study, Error> {
    if let Some(file) = study.filter(|study| is_study_file(study)) {
        return Ok(Study::read_stored(Path::new(file))?);
    }
    let (known, path) = (store.studies()?, || store.path().to_owned());
    let name = match (study, &known[..]) {
        (Some(name), _) => name.to_owned(),
        (None, [one]) => one.clone(),
        (None, _) => return Err(Error::OneStudy { store: path(), known }),
    };
    let folder = store.study(&name)?;
    let Some(text) = folder.read_text(files::STUDY)? else {
        return Err(Error::NoStudy { store: path(), name, known });
    };
    Ok(Study::parse_stored(&text, &folder.path().join(files::STUDY).display().to_string())?)
}

/// A study with its data, which are downloaded first where the context says so.
pub fn plan_study<'s>(
    study: &'s Study,
    options: &PlanOptions,
    context: &LoadContext<'_>,
) -> Result<Plan<'s>, Error> {
    Ok(study.plan(options, context)?)
}

/// Checks that the inputs which stages need after training are there, or downloads them.
pub fn check_stages(
    plan: &Plan<'_>,
    store: &Store,
    context: &LoadContext<'_>,
) -> Result<(), Error> {
    for name in plan.needs(store)? {
        if let Some(options) = &context.fetch {
            fetch_named(name, options, context.progress)?;
        }
        let name = name.to_owned();
        if WITH_IMAGES.contains(&name.as_str()) {
            dissensus_data::locate(&name, context.cache()?)
                .map_err(|source| Error::Stage { name, source })?;
        } else if !Path::new(&name).exists() {
            return Err(Error::StagePath { name });
        }
    }
    Ok(())
}

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
    /// A stage begins to examine so many runs or groups of runs.
    StageStarted {
        /// The stage.
        stage: &'a str,
        /// How many.
        total: usize,
    },
    /// A stage examines a run.
    StageAdvanced {
        /// The run, and what is being done.
        detail: String,
    },
    /// A stage is done with a run; why not, where it failed.
    StageEnded {
        /// The run.
        label: &'a str,
        /// Why it failed.
        failed: Option<&'a str>,
    },
}

/// Passes on what stages report.
struct Stages<'a> {
    on_event: &'a (dyn Fn(StudyEvent<'_>) + Sync),
}

impl StageProgress for Stages<'_> {
    fn begun(&mut self, stage: &str, total: usize) {
        (self.on_event)(StudyEvent::StageStarted { stage, total });
    }

    fn looking(&mut self, label: &str, task: &str, done: u64, total: Option<u64>) {
        let total = total.map_or(String::new(), |total| format!("/{total}"));
        let detail = format!("{label}, {task} {done}{total}");
        (self.on_event)(StudyEvent::StageAdvanced { detail });
    }

    fn looked(&mut self, label: &str, failed: Option<&str>) {
        (self.on_event)(StudyEvent::StageEnded { label, failed });
    }
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
    /// All search runs and final runs, without their results, which the store has.
    pub ended: Vec<EndedJob>,
    /// The stages that need models.
    pub examined: Examined,
    /// The results, as they were written to the store.
    pub results: Gathered,
    /// What was written about them.
    pub about: Value,
}

/// Runs everything in a study that is not done yet: training, stages that need models, collection
/// of results. A run that fails does not stop the others.
pub fn run_study(
    plan: &Plan<'_>,
    store: &Store,
    options: &StudyOptions<'_>,
) -> Result<StudyOutcome, Error> {
    let ended = train(plan, store, options, None, false)?;
    conclude(plan, store, options, ended)
}

/// Stages over all runs that have ended, and the results.
fn conclude(
    plan: &Plan<'_>,
    store: &Store,
    options: &StudyOptions<'_>,
    ended: Vec<EndedJob>,
) -> Result<StudyOutcome, Error> {
    let examined = with_stages(options, |context, stages| {
        plan.examine(store, context, &options.cancel, stages)
    })?;
    let results = plan.gather(store)?;
    let files = plan.result_files(&results, &environment())?;
    files.write(&store.study(&plan.study().name)?)?;
    Ok(StudyOutcome { ended, examined, results, about: files.about })
}

/// Calls a function with what stages need.
fn with_stages<T>(
    options: &StudyOptions<'_>,
    examine: impl FnOnce(&StageContext<'_>, &mut dyn StageProgress) -> Result<T, StudyError>,
) -> Result<T, Error> {
    let (device, sources) = (options.device, LoadContext::new(options.progress));
    let context = StageContext::new(device.device(), !device.is_gpu(), sources);
    Ok(examine(&context, &mut Stages { on_event: options.on_event })?)
}

/// What became of a shard of a study.
pub struct ShardOutcome {
    /// Its search runs and final runs, without their results.
    pub ended: Vec<EndedJob>,
    /// The stages that look at each of its runs alone.
    pub examined: Examined,
    /// How many of its final runs wait for search runs of other shards.
    pub waiting: usize,
}

/// Runs everything in a shard of a study that is not done yet: its trainings, then the stages that look at
/// one run at a time. Final runs whose search has not ended on other machines are left out and counted.
/// What compares runs, and the tables, are left to [`finish_study`].
pub fn run_shard(
    plan: &Plan<'_>,
    store: &Store,
    shard: Shard,
    options: &StudyOptions<'_>,
) -> Result<ShardOutcome, Error> {
    let shares = plan.shares(shard.of());
    let ended = train(plan, store, options, Some((&shares, shard)), false)?;
    let own = |id: &_| shares.has(shard, id);
    let examined = with_stages(options, |context, stages| {
        plan.examine_alone(store, context, &options.cancel, stages, &own)
    })?;
    if !options.cancel.is_cancelled() {
        plan.measure(store, &own)?;
    }
    Ok(ShardOutcome { ended, examined, waiting: plan.waiting(store, &shares, shard)? })
}

/// Finishes a study whose runs were trained by shards: the stages that are not done, and the results.
/// Trains nothing; where runs are missing, the error lists them.
pub fn finish_study(
    plan: &Plan<'_>,
    store: &Store,
    options: &StudyOptions<'_>,
) -> Result<StudyOutcome, Error> {
    let runs = plan.missing(store)?;
    if !runs.is_empty() {
        let total = plan.status(store, None)?.runs.total();
        return Err(StudyError::Unfinished { runs, total }.into());
    }
    conclude(plan, store, options, Vec::new())
}

/// Trains the search runs of a study, then the final runs with the selected settings.
pub fn train_study(
    plan: &Plan<'_>,
    store: &Store,
    options: &StudyOptions<'_>,
) -> Result<Vec<EndedJob>, Error> {
    train(plan, store, options, None, true)
}

/// The runs of a shard, or all; `keep_results`: with their results.
fn train(
    plan: &Plan<'_>,
    store: &Store,
    options: &StudyOptions<'_>,
    share: Option<(&Shares, Shard)>,
    keep_results: bool,
) -> Result<Vec<EndedJob>, Error> {
    let own = |jobs: &mut Vec<Job>| {
        jobs.retain(|job| share.is_none_or(|(shares, shard)| shares.has(shard, &job.id)));
    };
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
            keep_results,
            on_end: &|job| (options.on_event)(StudyEvent::Ended(job)),
            ..JobOptions::new(store, options.device)
        };
        run_jobs(runs, &jobs)
    };
    let mut ended = Vec::new();
    let mut searches = plan.searches();
    own(&mut searches);
    if !searches.is_empty() {
        let runs = run_jobs_of(plan, &searches);
        (options.on_event)(StudyEvent::Searching(&runs));
        ended.extend(train(&runs)?);
    }
    let mut finals = plan.finals(store)?;
    (options.on_event)(StudyEvent::Selected(&finals));
    own(&mut finals.jobs);
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

#[cfg(test)]
mod tests {
    use dissensus_studies::Study;

    use super::*;

    #[test]
    fn the_run_section_of_a_study_applies() {
        let text = "data.dataset = 'blends'\ndelivery.methods = 'soft'\n[run]\njobs = 2\n\
                    threads = 3\ncheckpoint = 'end'\ntensorboard = true\n";
        let run = Study::parse(text, "mine.toml").unwrap().run_settings().unwrap();
        let device = OpenDevice::cpu();
        let options = StudyOptions::of(&run, &device);
        assert_eq!((options.jobs, options.threads), (Some(2), Some(3)));
        assert_eq!((options.checkpoint, options.tensorboard), (Checkpoint::End, true));
    }
}
