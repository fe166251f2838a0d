//! A whole study: its runs trained, its stages run on the models, its results collected.

use std::path::Path;

use dissensus_core::{Batch, Event, Progress};
use dissensus_inputs::WITH_IMAGES;
use dissensus_io::FileError;
use dissensus_report::book::Chosen;
use dissensus_sources::{LoadContext, fetch_named};
use dissensus_store::{Store, StoreError, Which};
use dissensus_studies::{
    Examined, Finals, Gathered, Job, Plan, PlanOptions, Shard, Shares, StageContext, Study,
    StudyError, Undecided, distinct, files,
};
use dissensus_train::{EndedJob, JobOutcome, RunJob};
use serde_json::Value;

use crate::buckets::SharedStudy;
use crate::{Context, Error, environment};

/// Whether this is the path of a study's file rather than the name of a study.
pub fn is_file(study: &str) -> bool {
    Path::new(study).is_file() || study.contains(['/', '\\']) || study.ends_with(".toml")
}

/// A study by its file, or a built-in one by its name.
pub fn open(study: &str) -> Result<Study, Error> {
    Ok(match is_file(study) {
        true => Study::read(Path::new(study))?,
        false => Study::builtin(study)?,
    })
}

/// A study as it was run and stored: by its name, or the only one; or another file for the same runs.
pub fn stored(store: &Store, study: Option<&str>) -> Result<Study, Error> {
    if let Some(file) = study.filter(|study| is_file(study)) {
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
    let path = folder.path().join(files::STUDY);
    let found = Study::parse_stored(&text, &path.display().to_string())?;
    match found.name == name {
        true => Ok(found),
        false => {
            let reason = format!("it is of the study {}", found.name);
            Err(StoreError::Foreign { path, reason }.into())
        }
    }
}

/// A study with its data, which are downloaded first where the context says so.
pub fn plan<'s>(
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
    /// Whether the bucket has all that is done; where there is none, it has.
    pub all_pushed: bool,
}

/// Runs everything in a study that is not done yet: training, stages that need models, collection
/// of results. A run that fails does not stop the others.
pub fn run(plan: &Plan<'_>, context: &Context<'_>) -> Result<StudyOutcome, Error> {
    let (outcome, all_pushed) = context.with_shared(plan, |shared| {
        let ended = train_runs(plan, context, shared, None, false)?;
        conclude(plan, context, ended)
    })?;
    Ok(StudyOutcome { all_pushed, ..outcome })
}

/// The stages over all runs that have ended, and the results, which are written into the store.
fn conclude(
    plan: &Plan<'_>,
    context: &Context<'_>,
    ended: Vec<EndedJob>,
) -> Result<StudyOutcome, Error> {
    let examined = examine(plan, context, None)?;
    let results = plan.gather(&context.store)?;
    let is_done = |run: &&EndedJob| matches!(run.outcome, JobOutcome::Finished { .. });
    let gone = results.gone(ended.iter().filter(is_done).map(|run| &*run.id));
    if !gone.is_empty() {
        return Err(StoreError::Less { study: plan.study().name.clone(), gone }.into());
    }
    let files = plan.result_files(&results, &environment())?;
    files.write(&context.store.study(&plan.study().name)?)?;
    Ok(StudyOutcome { ended, examined, results, about: files.about, all_pushed: true })
}

/// A share of a study's runs.
type Share<'s> = (&'s Shares, Shard);

/// The stages that need models: of all runs that have ended, or those that look at each run of a share
/// alone.
fn examine(
    plan: &Plan<'_>,
    context: &Context<'_>,
    share: Option<Share<'_>>,
) -> Result<Examined, Error> {
    let (progress, cancel) = (context.progress, &context.cancel);
    let device = &context.device;
    let stages = StageContext::new(device.device(), !device.is_gpu(), LoadContext::new(progress));
    Ok(match share {
        None => plan.examine(&context.store, &stages, cancel, progress)?,
        Some((shares, shard)) => {
            let own = |id: &_| shares.has(shard, id);
            plan.examine_alone(&context.store, &stages, cancel, progress, &own)?
        }
    })
}

/// What became of a shard of a study.
pub struct ShardOutcome {
    /// Its search runs and final runs, without their results.
    pub ended: Vec<EndedJob>,
    /// The stages that look at each of its runs alone.
    pub examined: Examined,
    /// How many of its final runs wait for search runs of other shards.
    pub waiting: usize,
    /// Whether the bucket has all that is done; where there is none, it has.
    pub all_pushed: bool,
}

/// Runs everything in a shard of a study that is not done yet: its trainings, then the stages that look at
/// one run at a time. Final runs whose search has not ended on other machines are left out and counted.
/// What compares runs, and the tables, are left to [`finish`].
pub fn run_shard(
    plan: &Plan<'_>,
    shard: Shard,
    context: &Context<'_>,
) -> Result<ShardOutcome, Error> {
    let (shares, store) = (plan.shares(shard.of()), &context.store);
    let share = Some((&shares, shard));
    let ((ended, examined), all_pushed) = context.with_shared(plan, |shared| {
        let ended = train_runs(plan, context, shared, share, false)?;
        let examined = examine(plan, context, share)?;
        if !context.cancel.is_cancelled() {
            plan.measure(store, &|id| shares.has(shard, id))?;
        }
        Ok((ended, examined))
    })?;
    let waiting = plan.waiting(store, &shares, shard)?;
    Ok(ShardOutcome { ended, examined, waiting, all_pushed })
}

/// Finishes a study whose runs were trained by shards: the stages that are not done, and the results.
/// Trains nothing; where runs are missing, the error lists them.
pub fn finish(plan: &Plan<'_>, context: &Context<'_>) -> Result<StudyOutcome, Error> {
    let (outcome, all_pushed) = context.with_shared(plan, |_| {
        let runs = plan.missing(&context.store)?;
        if !runs.is_empty() {
            let total = plan.status(&context.store, None)?.runs.total();
            return Err(StudyError::Unfinished { runs, total }.into());
        }
        conclude(plan, context, Vec::new())
    })?;
    Ok(StudyOutcome { all_pushed, ..outcome })
}

/// Trains the search runs of a study, then the final runs with the selected settings.
pub fn train(plan: &Plan<'_>, context: &Context<'_>) -> Result<Vec<EndedJob>, Error> {
    Ok(context.with_shared(plan, |shared| train_runs(plan, context, shared, None, true))?.0)
}

/// The runs of a share, or all; `keep_results`: with their results.
fn train_runs(
    plan: &Plan<'_>,
    context: &Context<'_>,
    shared: Option<&SharedStudy<'_>>,
    share: Option<Share<'_>>,
    keep_results: bool,
) -> Result<Vec<EndedJob>, Error> {
    let train_batch = |batch: Batch<'_>, mut jobs: Vec<Job>| {
        jobs.retain(|job| share.is_none_or(|(shares, shard)| shares.has(shard, &job.id)));
        let run = |job| RunJob { task: plan.task(job), plan: &job.run, label: Job::label(job) };
        let runs: Vec<RunJob<'_>> = distinct(&jobs).into_iter().map(run).collect();
        match (batch, runs.is_empty()) {
            (Batch::Search, true) => Ok(Vec::new()),
            _ => context.train_batch(batch, &runs, shared, keep_results),
        }
    };
    let mut ended = train_batch(Batch::Search, plan.searches())?;
    let finals = plan.finals(&context.store)?;
    report_selected(plan, &finals, context.progress);
    if let Some(shared) = shared {
        // What cannot be pulled is trained here.
        let _ = shared.pull(&finals.jobs);
    }
    ended.extend(train_batch(Batch::Runs, finals.jobs)?);
    Ok(ended)
}

/// Reports what the search has selected.
fn report_selected(plan: &Plan<'_>, finals: &Finals, progress: &dyn Progress) {
    for Undecided { arm, open, .. } in &finals.undecided {
        let text = format!("the search for {arm} has {open} runs that are not done");
        progress.report(Event::Warning(&text));
    }
    for Chosen { dataset, arm, k, settings } in &finals.chosen {
        let settings = settings.iter().map(|(key, value)| format!("{key} = {value}"));
        let settings = settings.collect::<Vec<_>>().join(", ");
        let votes = match k {
            None => "all votes".to_owned(),
            Some(1) => "1 vote".to_owned(),
            Some(k) => format!("{k} votes"),
        };
        let several = plan.study().datasets.len() > 1;
        let of = if several { format!("{dataset} · ") } else { String::new() };
        let text = format!("selected for {of}{arm} · {votes}: {settings}");
        progress.report(Event::Note(&text));
    }
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
