//! From finished runs to the table of results, by the stages.

use std::collections::{BTreeMap, BTreeSet};

use dissensus_core::results::Row;
use dissensus_report::book::Chosen;
use dissensus_store::{
    Durability, Made, MadeOf, RunId, RunInfo, State, Store, StoreError, StudyFolder, Which, digest,
    sealed,
};
use dissensus_train::{RunEnvironment, RunResult};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::finished::Finished;
use crate::results::{numbers_from_csv, numbers_to_csv, to_csv, to_parquet};
use crate::stages::{Damaged, Kept, KeptFiles, SECONDS, Stage};
use crate::{Failure, Finals, Job, Number, Plan, StudyError};

/// The files of a study's folder in a store.
pub mod files {
    /// The results, to be read back.
    pub const RESULTS_CSV: &str = "results.csv";
    /// The results, for other programs.
    pub const RESULTS_PARQUET: &str = "results.parquet";
    /// How long runs took: a table as the results, which differs where the same runs are trained again.
    pub const TIMINGS: &str = "timings.csv";
    /// The resolved study.
    pub const STUDY: &str = "study.toml";
    /// Version, hardware, times, and the checksums of the results.
    pub const ABOUT: &str = "about.json";
}

/// A field of a run's environment.
pub(crate) type Field = fn(&RunEnvironment) -> Option<&str>;

/// What a run's environment says, by its key in `about.json` and its name in reports.
pub(crate) const ENVIRONMENT: [(&str, &str, Field); 4] = [
    ("version", "trained by", |run| Some(&run.version)),
    ("device", "trained on", |run| Some(&run.device)),
    ("libraries", "libraries", |run| run.libraries.as_deref()),
    ("system", "system", |run| Some(&run.system)),
];

/// Hex digits of the settings' digest in the name of a stage's folder.
const DIGITS: usize = 12;

/// The results of a study, as far as it is done.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Collected {
    /// The table, in the order of the study.
    pub rows: Vec<Row>,
    /// What the grid chose.
    pub chosen: Vec<Chosen>,
    /// Runs that failed.
    pub failed: Vec<Failure>,
    /// How many final runs are not done.
    pub missing: usize,
    /// Finished runs that a stage has not looked into, by stage.
    pub unexamined: BTreeMap<String, usize>,
    /// How many of these have no weights, so that it cannot.
    pub without_weights: BTreeMap<String, usize>,
}

impl Collected {
    /// The rows without how long runs took, which differs where the same runs are trained again.
    pub fn results(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.metric != SECONDS)
    }
}

/// A finished run, as the store has it.
pub(crate) struct Ran {
    pub(crate) info: RunInfo,
    pub(crate) environment: RunEnvironment,
    pub(crate) result: RunResult,
}

impl Ran {
    pub(crate) fn new(mut info: RunInfo, result: RunResult) -> Self {
        // Runs of other programs may say something else of themselves, and need not be left out.
        let environment = serde_json::from_value(info.about.take()).unwrap_or_default();
        Self { info, environment, result }
    }
}

/// The final runs, with what the store has of those that are finished.
pub struct Gathered {
    pub(crate) jobs: Vec<Job>,
    pub(crate) ran: BTreeMap<RunId, Ran>,
    /// What stages that look into models found, by the place of the job.
    pub(crate) kept: Vec<Vec<Kept>>,
    /// What all of it is made of.
    made_of: MadeOf,
    /// The results.
    pub collected: Collected,
}

/// The files of a study's results.
pub struct ResultFiles {
    /// [`files::RESULTS_CSV`].
    pub csv: Vec<u8>,
    /// [`files::RESULTS_PARQUET`].
    pub parquet: Vec<u8>,
    /// [`files::TIMINGS`].
    pub timings: Vec<u8>,
    /// [`files::STUDY`].
    pub study: String,
    /// [`files::ABOUT`].
    pub about: Value,
    made_of: MadeOf,
}

impl ResultFiles {
    /// The tables, by their names.
    pub fn tables(&self) -> [(&'static str, &[u8]); 3] {
        [
            (files::RESULTS_PARQUET, &self.parquet),
            (files::RESULTS_CSV, &self.csv),
            (files::TIMINGS, &self.timings),
        ]
    }

    /// Writes them to the folder of their study.
    pub fn write(&self, folder: &StudyFolder) -> Result<(), StudyError> {
        let (about, study) = (self.about.clone(), sealed(&self.study));
        let mut all = vec![(files::STUDY, study.as_bytes())];
        all.extend(self.tables());
        Ok(folder.write_about(files::ABOUT, about, &self.made_of, &all, Durability::Power)?)
    }
}

impl Gathered {
    /// Those of these runs that have ended well, by what trained them, and are not there any more.
    pub fn gone<'a>(&self, ended: impl Iterator<Item = &'a str>) -> Vec<String> {
        let lost = |id: &&str| {
            let is_job = self.jobs.iter().any(|job| job.id.as_str() == *id);
            is_job && !self.made_of.runs.contains(*id)
        };
        ended.filter(lost).map(|id| format!("run {id}")).collect()
    }

    /// The values of a field of [`ENVIRONMENT`] among finished runs, with the number of runs for
    /// each: they may come from several machines.
    pub(crate) fn environments(&self, field: Field) -> Vec<(&str, usize)> {
        let mut values: Vec<(&str, usize)> = Vec::new();
        let known = self.ran.values().filter_map(|run| field(&run.environment));
        for value in known.filter(|value| !value.is_empty()) {
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, runs)) => *runs += 1,
                None => values.push((value, 1)),
            }
        }
        values
    }
}

impl Plan<'_> {
    /// The results of the runs that are finished. What stages gave before is read, the rest is
    /// computed and kept in the store.
    pub fn rows(&self, store: &Store) -> Result<Collected, StudyError> {
        self.rows_of(store, &|_| true)
    }

    /// As [`rows`](Self::rows), of these runs only.
    pub fn rows_of(
        &self,
        store: &Store,
        of: &dyn Fn(&RunId) -> bool,
    ) -> Result<Collected, StudyError> {
        self.gather_of(store, of).map(|gathered| gathered.collected)
    }

    /// Computes what stages give of the finished ones of these runs and need no models for, and keeps it in
    /// the store.
    pub fn measure(&self, store: &Store, of: &dyn Fn(&RunId) -> bool) -> Result<(), StudyError> {
        let jobs = self.finals(store)?.jobs;
        let folder = store.study(&self.study().name)?;
        let runs: Vec<&Job> =
            crate::distinct(&jobs).into_iter().filter(|job| of(&job.id)).collect();
        runs.par_iter().try_for_each(|job| self.one(store, &folder, job).map(drop))
    }

    /// As [`rows`](Self::rows), and writes them to the study's folder as CSV and Parquet, with the
    /// resolved study and `about`: what the caller says of the code and the machine.
    pub fn collect(&self, store: &Store, about: &Value) -> Result<Collected, StudyError> {
        let gathered = self.gather(store)?;
        self.result_files(&gathered, about)?.write(&store.study(&self.study().name)?)?;
        Ok(gathered.collected)
    }

    /// The results as files.
    pub fn result_files(
        &self,
        gathered: &Gathered,
        about: &Value,
    ) -> Result<ResultFiles, StudyError> {
        let rows: Vec<&Row> = gathered.collected.results().collect();
        let timings = gathered.collected.rows.iter().filter(|row| row.metric == SECONDS);
        let timings: Vec<&Row> = timings.collect();
        Ok(ResultFiles {
            csv: to_csv(&rows)?,
            parquet: to_parquet(&rows)?,
            timings: to_csv(&timings)?,
            study: self.study().to_toml(),
            about: self.about(gathered, about),
            made_of: gathered.made_of.clone(),
        })
    }

    fn about(&self, gathered: &Gathered, about: &Value) -> Value {
        let ran = || gathered.ran.values();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let trained: Value = ENVIRONMENT
            .into_iter()
            .map(|(key, _, field)| {
                let values = gathered.environments(field).into_iter();
                (key, values.map(|(value, runs)| (value, Value::from(runs))).collect::<Value>())
            })
            .collect();
        json!({
            "format": 1,
            "study": self.study().name,
            "scale": self.study().scale,
            "about": about,
            "collected": now.map_or(0, |now| now.as_secs()),
            "begun": ran().map(|run| run.info.created).min(),
            "ended": ran().map(|run| run.info.status.updated).max(),
            "runs": gathered.ran.len(),
            "failed": gathered.collected.failed.len(),
            "missing": gathered.collected.missing,
            "trained": trained,
            "training_seconds": ran().map(|run| run.result.seconds).sum::<f64>(),
        })
    }

    /// The final runs and their results. A run that the store has and that cannot be read is an error:
    /// without it, tables would be of other seeds than they say. So is a run, or what a stage found of one,
    /// that the study's results were made of before and that is gone now.
    pub fn gather(&self, store: &Store) -> Result<Gathered, StudyError> {
        self.gather_of(store, &|_| true)
    }

    fn gather_of(
        &self,
        store: &Store,
        of: &dyn Fn(&RunId) -> bool,
    ) -> Result<Gathered, StudyError> {
        let Finals { mut jobs, chosen, undecided } = self.finals(store)?;
        jobs.retain(|job| of(&job.id));
        let mut collected = Collected { chosen, ..Collected::default() };
        collected.missing = undecided.iter().map(|waiting| waiting.runs).sum();
        let folder = store.study(&self.study().name)?;
        let (before, mut made_of) = (folder.made_of()?, MadeOf::default());
        let (mut seen, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for job in self.searches() {
            match store.get(&job.id)? {
                Some(run) => match run.status.state {
                    State::Failed { reason } if seen.insert(job.id.clone()) => {
                        collected.failed.push(failure(&job, reason));
                    }
                    State::Finished => drop(made_of.runs.insert(job.id.to_string())),
                    _ => {}
                },
                None => drop(gone.insert(job.id.to_string())),
            }
        }
        let runs: Vec<&Job> = crate::distinct(&jobs);
        let shared = runs.len() < jobs.len();
        let each = |job: &&Job| self.one(store, &folder, job);
        let found: Vec<Result<Option<One>, StudyError>> = runs.par_iter().map(each).collect();
        let (mut ran, mut numbers, mut unusable) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (job, one) in runs.into_iter().zip(found) {
            let failed = match one {
                Ok(Some(One::Finished(run, of_run))) => {
                    ran.insert(job.id.clone(), *run);
                    numbers.insert(job.id.clone(), of_run);
                    None
                }
                Ok(Some(One::Failed(reason))) => Some(reason),
                Ok(None) => {
                    if store.get(&job.id).is_ok_and(|run| run.is_none()) {
                        gone.insert(job.id.to_string());
                    }
                    None
                }
                Err(error @ StudyError::Unwritten(_)) => return Err(error),
                Err(error) => {
                    unusable.push(failure(job, error.to_string()));
                    None
                }
            };
            if let Some(reason) = failed
                && seen.insert(job.id.clone())
            {
                collected.failed.push(failure(job, reason));
            }
        }
        if !unusable.is_empty() {
            return Err(StudyError::Unusable { runs: unusable });
        }
        let open = |job: &&Job| !ran.contains_key(&job.id) && !seen.contains(&job.id);
        collected.missing += jobs.iter().filter(open).count();
        made_of.runs.extend(ran.keys().map(RunId::to_string));
        let gone = gone.intersection(&before.runs).map(|id| format!("run {id}")).collect();
        let kept = self.kept(store, &jobs, &ran, &mut collected, &mut made_of, gone)?;
        let of_runs = jobs.iter().filter_map(|job| numbers.get(&job.id)).map(Vec::len);
        let looked = kept.iter().flatten().map(|kept| kept.numbers.len());
        collected.rows.reserve_exact(of_runs.sum::<usize>() + looked.sum::<usize>());
        for (job, kept) in jobs.iter().zip(&kept) {
            // Both numbers and rows of all runs would be much where there are many.
            let of_run = match shared {
                true => numbers.get(&job.id).cloned(),
                false => numbers.remove(&job.id),
            };
            let looked = kept.iter().flat_map(|kept| &kept.numbers).cloned();
            let of_run = of_run.into_iter().flatten().chain(looked);
            collected.rows.extend(of_run.map(|number| self.row(job, number)));
        }
        Ok(Gathered { jobs, ran, kept, made_of, collected })
    }

    /// What stages that look into models found of these jobs, as the store has it.
    fn kept(
        &self,
        store: &Store,
        jobs: &[Job],
        ran: &BTreeMap<RunId, Ran>,
        collected: &mut Collected,
        made_of: &mut MadeOf,
        mut gone: Vec<String>,
    ) -> Result<Vec<Vec<Kept>>, StudyError> {
        let mut all: Vec<Vec<Kept>> = jobs.iter().map(|_| Vec::new()).collect();
        let files = KeptFiles::open(store, &self.study().name)?;
        let places: BTreeMap<*const Job, usize> =
            jobs.iter().enumerate().map(|(place, job)| (std::ptr::from_ref(job), place)).collect();
        for stage in self.examinations() {
            for group in stage.groups(jobs) {
                for job in group.subjects().iter().filter(|job| ran.contains_key(&job.id)) {
                    let place = places.get(&std::ptr::from_ref(*job)).copied();
                    match files.nearest(stage, &group, job, Damaged::Refused)? {
                        Some((mut kept, file)) => {
                            made_of.files.extend(file);
                            stage.stage.derive(&mut kept, job, self.material(job))?;
                            all[place.unwrap_or_default()].push(kept);
                        }
                        None if files.had(stage, job) => {
                            gone.push(format!("what {} found of run {}", stage.name, job.id));
                        }
                        None => {
                            let count = |of: &mut BTreeMap<String, usize>| {
                                *of.entry(stage.name.to_owned()).or_default() += 1;
                            };
                            count(&mut collected.unexamined);
                            let weights =
                                ran.get(&job.id).map(|run| run.info.weights_path(Which::Best));
                            if !weights.is_some_and(|path| path.is_file()) {
                                count(&mut collected.without_weights);
                            }
                        }
                    }
                }
            }
        }
        if !gone.is_empty() {
            let study = self.study().name.clone();
            return Err(StoreError::Less { study, gone }.into());
        }
        Ok(all)
    }

    pub(crate) fn row(&self, job: &Job, number: Number) -> Row {
        Row {
            study: self.study().name.clone(),
            dataset: job.dataset.clone(),
            arm: job.arm.clone(),
            k: job.k,
            seed: job.seed,
            metric: number.metric,
            slice: number.slice,
            value: number.value,
            run: job.id.to_string(),
        }
    }

    /// A run and its numbers; `None` where it has not ended.
    fn one(
        &self,
        store: &Store,
        folder: &StudyFolder,
        job: &Job,
    ) -> Result<Option<One>, StudyError> {
        let Some(mut info) = store.get(&job.id)? else { return Ok(None) };
        if let State::Failed { reason } = &info.status.state {
            return Ok(Some(One::Failed(reason.clone())));
        }
        let Some(mut result) = info.result::<RunResult>()? else { return Ok(None) };
        let material = self.material(job);
        let finished = Finished { job, info: &info, result: &result, material };
        let mut numbers = Vec::new();
        for (name, stage) in &self.study().stages.stages {
            numbers.extend(staged(name, &**stage, &finished, folder)?);
        }
        // Much where there are many runs, and nobody reads it any more.
        info.spec = Value::Null;
        result.parts = Vec::new();
        Ok(Some(One::Finished(Box::new(Ran::new(info, result)), numbers)))
    }
}

enum One {
    Finished(Box<Ran>, Vec<Number>),
    Failed(String),
}

fn failure(job: &Job, reason: String) -> Failure {
    Failure { id: job.id.clone(), label: job.label(), reason }
}

/// What a stage gives of a run, from the study's folder where it is there.
fn staged(
    name: &str,
    stage: &dyn Stage,
    run: &Finished<'_>,
    folder: &StudyFolder,
) -> Result<Vec<Number>, StudyError> {
    if !stage.is_kept() {
        return stage.numbers(run);
    }
    let digest: String = digest(&stage.settings()).chars().take(DIGITS).collect();
    let name = format!("stages/{name}-{digest}/{}.csv", run.info.id);
    let from = run.info.predictions_digest()?;
    let made = |numbers: &[Number]| {
        let (from, code) = (from.clone(), env!("CARGO_PKG_VERSION").to_owned());
        Made { rows: numbers.len(), from, code, peers: BTreeMap::new() }
    };
    // One that cannot be read, was computed from something else, or has no record that says from what, is
    // made again.
    let found = match folder.read_made(&name) {
        Err(error) if error.is_damage() => None,
        found => found?,
    };
    if let Some((bytes, Some(record))) = found
        && let Ok(numbers) = numbers_from_csv(&bytes, &name)
        && record == made(&numbers)
    {
        return Ok(numbers);
    }
    let numbers = stage.numbers(run)?;
    let csv = numbers_to_csv(&numbers)?;
    match folder.write_made(&name, &csv, &made(&numbers), Durability::Process) {
        // They are computed again next time.
        Err(error) if error.is_read_only() => Ok(numbers),
        written => written.map(|()| numbers).map_err(StudyError::Unwritten),
    }
}
