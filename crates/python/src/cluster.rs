//! Studies on several machines: shares of their runs, clusters, buckets.

use std::path::{Path, PathBuf};

use dissensus::cluster::{ClusterJob, ClusterStatus, Resources, Script, SlurmOptions, System};
use dissensus::remote::{SyncCounts, SyncDirection};
use dissensus::store::Store;
use dissensus::studies::{Plan, PlanOptions, Shard, Study};
use dissensus::{Error, Event, LoadContext, Progress, cluster};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{raise, value_error};
use crate::stores::StorePath;
use crate::work::long;

/// A share of a study's runs: `(2, 8)` or `"2/8"`.
#[derive(FromPyObject)]
pub(crate) enum Share {
    Numbers((i64, i64)),
    Text(String),
}

impl Share {
    pub(crate) fn shard(self) -> PyResult<Shard> {
        let text = match self {
            Self::Numbers((index, of)) => format!("{index}/{of}"),
            Self::Text(text) => text,
        };
        text.parse().map_err(|reason| value_error(format!("shard is {text:?}; {reason}")))
    }
}

/// A number from 1.
pub(crate) fn from_one(name: &str, number: i64, most: usize) -> PyResult<usize> {
    let counted = usize::try_from(number).ok().filter(|number| (1..=most).contains(number));
    counted.ok_or_else(|| {
        value_error(format!("{name} is {number}; expected a whole number from 1 to {most}"))
    })
}

/// What `Study.submit` was given beside the study and its store.
pub(crate) struct Given {
    pub(crate) on: String,
    pub(crate) shards: i64,
    pub(crate) jobs: Option<i64>,
    pub(crate) device: Option<String>,
    pub(crate) at_once: Option<i64>,
    pub(crate) gpus: Option<i64>,
    pub(crate) cpus: Option<i64>,
    pub(crate) memory: Option<String>,
    pub(crate) program: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) slurm: SlurmOptions,
    pub(crate) image: Option<String>,
    pub(crate) claim: Option<String>,
    pub(crate) hosts: Vec<String>,
}

impl Given {
    fn job<'s>(
        self,
        py: Python<'_>,
        study: &'s Study,
        choice: &PlanOptions,
        store: String,
        system: &System,
    ) -> PyResult<ClusterJob<'s>> {
        let optional = |name: &str, number: Option<i64>, most: usize| -> PyResult<Option<usize>> {
            number.map(|number| from_one(name, number, most)).transpose()
        };
        let small = |name: &str, number: Option<i64>, most: usize| -> PyResult<Option<u32>> {
            Ok(optional(name, number, most)?.and_then(|number| u32::try_from(number).ok()))
        };
        let mut run_options = Vec::new();
        if let Some(jobs) = optional("jobs", self.jobs, dissensus::core::limits::MAX_THREADS)? {
            run_options.extend(["--jobs".to_owned(), jobs.to_string()]);
        }
        run_options.extend(self.device.into_iter().flat_map(|name| ["--device".to_owned(), name]));
        let program = match (self.program, system.name) {
            (Some(program), _) => program,
            (None, "slurm") => installed_program(py)?,
            (None, _) => "dissensus".to_owned(),
        };
        Ok(ClusterJob {
            study,
            named: named(study, self.file, system)?,
            selection: cluster::selection(choice),
            run_options,
            store,
            program,
            directory: std::env::current_dir()?,
            shards: from_one("shards", self.shards, Shard::MOST)?,
            resources: Resources {
                gpus: small("gpus", self.gpus, 64)?,
                cpus: small("cpus", self.cpus, 1024)?,
                memory: self.memory,
                at_once: optional("at_once", self.at_once, Shard::MOST)?,
            },
            slurm: self.slurm,
            image: self.image,
            claim: self.claim,
            hosts: self.hosts,
        })
    }
}

/// The study's file as a command names it. Slurm and Kubernetes are given the study itself.
fn named(study: &Study, file: Option<String>, system: &System) -> PyResult<Vec<String>> {
    let Some(file) = file else {
        return match system.name {
            "slurm" | "kubernetes" => Ok(Vec::new()),
            name => Err(value_error(format!(
                "{name} needs `file`, the study's file as the machines see it; `to_toml` gives its text"
            ))),
        };
    };
    // A file of other machines need not be here.
    if Path::new(&file).is_file()
        && Study::read(Path::new(&file)).map_err(raise)?.to_toml() != study.to_toml()
    {
        return Err(value_error(format!(
            "{file:?} is another study; `to_toml` gives the text of this one"
        )));
    }
    Ok(vec![file])
}

/// The command that was installed with the package.
fn installed_program(py: Python<'_>) -> PyResult<String> {
    let interpreter: PathBuf = py.import("sys")?.getattr("executable")?.extract()?;
    let beside = interpreter.with_file_name("dissensus");
    if beside.is_file() {
        return Ok(beside.display().to_string());
    }
    let found: Option<String> =
        py.import("shutil")?.call_method1("which", ("dissensus",))?.extract()?;
    found.ok_or_else(|| {
        value_error(
            "there is no command `dissensus` beside this interpreter or in the PATH; say `program`, its path on the \
             machines of the cluster",
        )
    })
}

/// `Study.submit`.
pub(crate) fn submit(
    py: Python<'_>,
    study: &Study,
    store: StorePath<'_>,
    choice: &PlanOptions,
    given: Given,
    dry_run: bool,
) -> PyResult<Submission> {
    let Some(system) = System::named(&given.on) else {
        let names: Vec<&str> = cluster::SYSTEMS.iter().map(|system| system.name).collect();
        return Err(value_error(format!("on is {:?}; expected {}", given.on, names.join(", "))));
    };
    let text = system.store(&store.text())?;
    let job = given.job(py, study, choice, text, system)?;
    let scripts = system.scripts(&job).map_err(raise)?;
    if dry_run {
        return Ok(Submission { system, scripts, jobs: Vec::new(), logs: None });
    }
    let (submitted, logs) = long(py, None, |progress, cancel| {
        let load = LoadContext { cancel: cancel.clone(), ..LoadContext::new(progress) };
        system.submit(&job, choice, &load)
    })?;
    let jobs = submitted.jobs().map(str::to_owned).collect();
    Ok(Submission { system, scripts, jobs, logs: Some(logs) })
}

/// What the queue says of a study; where it cannot be asked, that is a warning.
pub(crate) fn queue(
    plan: &Plan<'_>,
    store: &Store,
    choice: &PlanOptions,
    progress: &dyn Progress,
) -> Result<Option<ClusterStatus>, Error> {
    match cluster::queue(plan, store, &cluster::selection(choice)) {
        Err(Error::Cluster(error)) => {
            let text = format!("the study was submitted, and {error}");
            progress.report(Event::Warning(&text));
            Ok(None)
        }
        queue => queue,
    }
}

/// The scripts that run a study on a cluster, and the jobs that were submitted.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Submission {
    system: &'static System,
    scripts: Vec<Script>,
    jobs: Vec<String>,
    logs: Option<PathBuf>,
}

#[pymethods]
impl Submission {
    /// The kind of cluster.
    #[getter]
    fn system(&self) -> &'static str {
        self.system.name
    }

    /// The texts of the scripts, by their names.
    #[getter]
    fn scripts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scripts = PyDict::new(py);
        for script in &self.scripts {
            scripts.set_item(script.name, &script.text)?;
        }
        Ok(scripts)
    }

    /// The ids of the jobs, the last of which finishes the study; empty where nothing was submitted.
    #[getter]
    fn jobs(&self) -> Vec<String> {
        self.jobs.clone()
    }

    /// The folder of the logs, one per shard, as a ``pathlib.Path``; ``None`` where nothing was submitted.
    #[getter]
    fn logs(&self) -> Option<PathBuf> {
        self.logs.clone()
    }

    /// How the scripts are used; empty for Slurm, which they are submitted to.
    #[getter]
    fn next(&self) -> &'static str {
        self.system.next
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.scripts.iter().map(|script| script.name).collect();
        let jobs = match self.jobs.is_empty() {
            true => "not submitted".to_owned(),
            false => format!("jobs {}", self.jobs.join(", ")),
        };
        format!("<Submission: {}, {}, {jobs}>", self.system.name, names.join(", "))
    }
}

/// What was moved between a store and a bucket.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Synced(dissensus::remote::Synced);

fn counts<'py>(py: Python<'py>, counts: &SyncCounts) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("runs", counts.runs)?;
    all.set_item("files", counts.files)?;
    all.set_item("bytes", counts.bytes)?;
    Ok(all)
}

#[pymethods]
impl Synced {
    /// What is now in the bucket, or would be: ``runs``, ``files`` of studies, and ``bytes`` (0 in a dry run).
    #[getter]
    fn pushed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, &self.0.pushed)
    }

    /// What is now in the store, or would be: ``runs``, ``files`` of studies, and ``bytes``.
    #[getter]
    fn pulled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, &self.0.pulled)
    }

    /// What both sides had already: ``runs`` and ``files`` of studies; ``bytes`` is 0.
    #[getter]
    fn same<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, &self.0.same)
    }

    /// What has several versions, none of which was moved: the name, and what is different.
    #[getter]
    fn conflicts(&self) -> Vec<(String, String)> {
        let conflict = |one: &dissensus::remote::Conflict| (one.item.name(), one.to_string());
        self.0.conflicts.iter().map(conflict).collect()
    }

    /// What was not moved, by name, with the reason. It is where it was, and the next call tries it again.
    #[getter]
    fn failed(&self) -> Vec<(String, String)> {
        self.0.failed.iter().map(|one| (one.name.clone(), one.reason.clone())).collect()
    }

    /// Whether something was not moved, or a run has different predictions on the two sides.
    #[getter]
    fn has_problems(&self) -> bool {
        self.0.has_problems()
    }

    fn __repr__(&self) -> String {
        let count =
            |counts: &SyncCounts| format!("{} runs and {} files", counts.runs, counts.files);
        let (pushed, pulled) = (count(&self.0.pushed), count(&self.0.pulled));
        let problems = self.0.failed.len() + self.0.conflicts.len();
        let problems = match problems {
            0 => String::new(),
            number => format!(", {number} not moved"),
        };
        format!(
            "<Synced: {pushed} pushed, {pulled} pulled, {} the same{problems}>",
            count(&self.0.same)
        )
    }
}

/// `Store.sync`.
pub(crate) fn sync(
    py: Python<'_>,
    store: &Store,
    url: &str,
    direction: &str,
    dry_run: bool,
    jobs: i64,
    show: &Bound<'_, PyAny>,
) -> PyResult<Synced> {
    let direction = match direction {
        "both" => SyncDirection::Both,
        "push" => SyncDirection::Push,
        "pull" => SyncDirection::Pull,
        other => {
            return Err(value_error(format!(
                "direction is {other:?}; expected \"both\", \"push\" or \"pull\""
            )));
        }
    };
    let jobs = from_one("jobs", jobs, 256)?;
    long(py, Some(show), |progress, cancel| -> Result<_, Error> {
        let options = dissensus::remote::SyncOptions {
            direction,
            dry_run,
            jobs,
            progress,
            cancel: cancel.clone(),
            ..Default::default()
        };
        let synced = dissensus::sync_store(store.path(), url, &options)?;
        synced.report(progress);
        Ok(synced)
    })
    .map(Synced)
}
