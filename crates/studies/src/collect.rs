//! From finished runs to the table of results, by the stages.

use std::collections::{BTreeMap, BTreeSet};

use dissensus_core::results::Row;
use dissensus_report::book::Chosen;
use dissensus_store::{Durability, Made, RunId, RunInfo, State, Store, StudyFolder, digest};
use dissensus_train::{RunEnvironment, RunResult};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::finished::Finished;
use crate::results::{numbers_from_csv, numbers_to_csv, to_csv, to_parquet};
use crate::stages::{Kept, KeptFiles, Stage};
use crate::{Failure, Finals, Job, Number, Plan, StudyError};

/// The files of a study's folder in a store.
pub mod files {
    /// The results, to be read back.
    pub const RESULTS_CSV: &str = "results.csv";
    /// The results, for other programs.
    pub const RESULTS_PARQUET: &str = "results.parquet";
    /// The resolved study.
    pub const STUDY: &str = "study.toml";
    /// Version, hardware, times.
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
    /// Runs that failed, or whose results cannot be used.
    pub failed: Vec<Failure>,
    /// How many final runs are not done.
    pub missing: usize,
    /// Finished runs that a stage has not looked into, by stage.
    pub unexamined: BTreeMap<String, usize>,
}

/// A finished run, as the store has it.
pub(crate) struct Ran {
    pub(crate) info: RunInfo,
    pub(crate) environment: RunEnvironment,
    pub(crate) result: RunResult,
}

impl Ran {
    pub(crate) fn new(info: RunInfo, result: RunResult) -> Self {
        // Runs of other programs may say something else of themselves, and need not be left out.
        let environment = serde_json::from_value(info.about.clone()).unwrap_or_default();
        Self { info, environment, result }
    }
}

/// The final runs, with what the store has of those that are finished.
pub(crate) struct Gathered {
    pub(crate) jobs: Vec<Job>,
    pub(crate) ran: BTreeMap<RunId, Ran>,
    /// What stages that look into models found, by the place of the job.
    pub(crate) kept: Vec<Vec<Kept>>,
    pub(crate) collected: Collected,
}

impl Gathered {
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

    /// What stages that look into models found of a job.
    pub(crate) fn kept_of(&self, job: &Job) -> &[Kept] {
        let same = |one: &Job| one.is_beside(job) && one.seed == job.seed;
        let place = self.jobs.iter().position(same);
        place.and_then(|place| self.kept.get(place)).map_or(&[], Vec::as_slice)
    }
}

impl Plan<'_> {
    /// The results of the runs that are finished. What stages gave before is read, the rest is
    /// computed and kept in the store.
    pub fn rows(&self, store: &Store) -> Result<Collected, StudyError> {
        self.gather(store).map(|gathered| gathered.collected)
    }

    /// As [`rows`](Self::rows), and writes them to the study's folder as CSV and Parquet, with the
    /// resolved study and `about`: what the caller says of the code and the machine.
    pub fn collect(&self, store: &Store, about: &Value) -> Result<Collected, StudyError> {
        let gathered = self.gather(store)?;
        let folder = store.study(&self.study().name)?;
        let rows = &gathered.collected.rows;
        let write = |name: &str, bytes: &[u8]| folder.write(name, bytes, Durability::Power);
        write(files::STUDY, self.study().to_toml().as_bytes())?;
        write(files::RESULTS_PARQUET, &to_parquet(rows)?)?;
        write(files::RESULTS_CSV, &to_csv(rows)?)?;
        let about = format!("{:#}\n", self.about(&gathered, about));
        write(files::ABOUT, about.as_bytes())?;
        Ok(gathered.collected)
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

    pub(crate) fn gather(&self, store: &Store) -> Result<Gathered, StudyError> {
        let Finals { jobs, chosen, undecided } = self.finals(store)?;
        let mut collected = Collected { chosen, ..Collected::default() };
        collected.missing = undecided.iter().map(|waiting| waiting.runs).sum();
        let folder = store.study(&self.study().name)?;
        let mut seen = BTreeSet::new();
        for job in self.searches() {
            if let Ok(Some(run)) = store.get(&job.id)
                && let State::Failed { reason } = run.status.state
                && seen.insert(job.id.clone())
            {
                collected.failed.push(failure(&job, reason));
            }
        }
        let runs: Vec<&Job> = crate::distinct(&jobs);
        let each = |job: &&Job| self.one(store, &folder, job);
        let found: Vec<Result<Option<One>, StudyError>> = runs.par_iter().map(each).collect();
        let (mut ran, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        for (job, one) in runs.into_iter().zip(found) {
            let failed = match one {
                Ok(Some(One::Finished(run, of_run))) => {
                    ran.insert(job.id.clone(), *run);
                    numbers.insert(job.id.clone(), of_run);
                    None
                }
                Ok(Some(One::Failed(reason))) => Some(reason),
                Ok(None) => None,
                Err(error) => Some(format!("its results cannot be used: {error}")),
            };
            if let Some(reason) = failed
                && seen.insert(job.id.clone())
            {
                collected.failed.push(failure(job, reason));
            }
        }
        let failed = |id: &RunId| collected.failed.iter().any(|failure| failure.id == *id);
        let open = |job: &&Job| !ran.contains_key(&job.id) && !failed(&job.id);
        collected.missing += jobs.iter().filter(open).count();
        let kept = self.kept(store, &jobs, &ran, &mut collected.unexamined)?;
        for (job, kept) in jobs.iter().zip(&kept) {
            let of_run = numbers.get(&job.id).into_iter().flatten();
            let looked = kept.iter().flat_map(|kept| &kept.numbers);
            collected.rows.extend(of_run.chain(looked).map(|number| self.row(job, number)));
        }
        Ok(Gathered { jobs, ran, kept, collected })
    }

    /// What stages that look into models found of these jobs, as the store has it.
    fn kept(
        &self,
        store: &Store,
        jobs: &[Job],
        ran: &BTreeMap<RunId, Ran>,
        unexamined: &mut BTreeMap<String, usize>,
    ) -> Result<Vec<Vec<Kept>>, StudyError> {
        let mut all: Vec<Vec<Kept>> = jobs.iter().map(|_| Vec::new()).collect();
        if !self.has_examinations() {
            return Ok(all);
        }
        let files = KeptFiles::open(store, &self.study().name)?;
        for stage in self.examinations() {
            for group in stage.groups(jobs) {
                for job in group.subjects().iter().filter(|job| ran.contains_key(&job.id)) {
                    let place = jobs.iter().position(|one| std::ptr::eq(one, *job));
                    match files.nearest(stage, &group, job)? {
                        Some(mut kept) => {
                            stage.stage.derive(&mut kept, job, self.material(job))?;
                            all[place.unwrap_or_default()].push(kept);
                        }
                        None => *unexamined.entry(stage.name.to_owned()).or_default() += 1,
                    }
                }
            }
        }
        Ok(all)
    }

    pub(crate) fn row(&self, job: &Job, number: &Number) -> Row {
        Row {
            study: self.study().name.clone(),
            dataset: job.dataset.clone(),
            arm: job.arm.clone(),
            k: job.k,
            seed: job.seed,
            metric: number.metric.clone(),
            slice: number.slice.clone(),
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
        let Some(info) = store.get(&job.id)? else { return Ok(None) };
        if let State::Failed { reason } = &info.status.state {
            return Ok(Some(One::Failed(reason.clone())));
        }
        let Some(result) = info.result()? else { return Ok(None) };
        let material = self.material(job);
        let finished = Finished { job, info: &info, result: &result, material };
        let mut numbers = Vec::new();
        for (name, stage) in &self.study().stages.stages {
            numbers.extend(staged(name, &**stage, &finished, folder)?);
        }
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
        Made { rows: numbers.len(), from, code }
    };
    // One that cannot be read, or was computed from something else, is made again; one without a
    // record is of before there were any.
    if let Some((bytes, record)) = folder.read_made(&name)?
        && let Ok(numbers) = numbers_from_csv(&bytes, &name)
        && record.is_none_or(|record| record == made(&numbers))
    {
        return Ok(numbers);
    }
    let numbers = stage.numbers(run)?;
    folder.write_made(&name, &numbers_to_csv(&numbers)?, &made(&numbers), Durability::Process)?;
    Ok(numbers)
}
