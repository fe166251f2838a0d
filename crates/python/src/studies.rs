//! Studies.

mod choice;
mod progress;
mod status;

use std::path::PathBuf;

use dissensus::cluster::SlurmOptions;
use dissensus::core::results::Row;
use dissensus::studies::{Collected, Plan, PlanOptions};
use dissensus::train::spec::Execution;
use dissensus::{Context, Error, Event, LoadContext, report, study};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use self::choice::{Choice, Seeds, Votes};
use self::progress::Whole;
pub(crate) use self::status::StudyStatus;
use crate::arrow::{Column, Table};
use crate::cluster::{self, Given, Share, Submission, from_one};
use crate::errors::{raise, value_error};
use crate::json;
use crate::models::setting;
use crate::stores::StorePath;
use crate::work::{detached, long, shower};

/// Many runs from one file: arms to compare, data, numbers of votes, seeds, tables and figures.
///
/// Made by ``from_file``, ``from_dict`` or ``builtin``. Every run is kept in a store: what is there already is not
/// trained again, and what was interrupted continues and ends with the same bits.
///
/// Examples
/// --------
/// >>> study = dissensus.Study.from_dict({
/// ...     "data": {"dataset": "blends", "items": 60},
/// ...     "delivery": {"methods": ["soft", "majority"]},
/// ...     "model": {"name": "smallcnn", "width": 4},
/// ...     "training": {"epochs": 1},
/// ...     "run": {"seeds": 1},
/// ... })
/// >>> study.arms
/// ['soft', 'majority']
/// >>> results = study.run("runs", progress=False)
/// >>> results.columns
/// ['study', 'dataset', 'arm', 'k', 'seed', 'metric', 'slice', 'value', 'run']
/// >>> study.status("runs").runs["done"]
/// 2
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Study(pub(crate) dissensus::studies::Study);

impl Study {
    /// Works on the study with its data, as [`long`] does.
    fn planned<T: Send>(
        &self,
        py: Python<'_>,
        show: Option<&Bound<'_, PyAny>>,
        choice: &PlanOptions,
        work: impl FnOnce(&Plan<'_>, &LoadContext<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        long(py, show, |progress, cancel| -> Result<_, Error> {
            let context = LoadContext { cancel: cancel.clone(), ..LoadContext::new(progress) };
            work(&study::plan(&self.0, choice, &context)?, &context)
        })
    }

    /// Works on the study with its data where its runs are, on a device.
    fn on_device(
        &self,
        show: &Bound<'_, PyAny>,
        choice: &PlanOptions,
        open: impl FnOnce(Execution) -> Result<Context<'static>, Error> + Send,
        (device, jobs): (Option<String>, Option<usize>),
        work: impl FnOnce(&Plan<'_>, &Context<'_>) -> Result<Collected, Error> + Send,
    ) -> PyResult<Table> {
        let collected = self.planned(show.py(), Some(show), choice, |plan, load| {
            let file = self.0.run_settings()?.execution;
            let execution = Execution {
                device: device.unwrap_or(file.device),
                jobs: jobs.or(file.jobs),
                ..file
            };
            let whole = Whole::new(load.progress);
            let context =
                Context { progress: &whole, cancel: load.cancel.clone(), ..open(execution)? };
            study::check_stages(plan, &context.store, load)?;
            work(plan, &context)
        })?;
        table(&collected)
    }
}

#[pymethods]
impl Study {
    /// Reads a study's file (TOML). A training spec is a study, too: each of its methods is an arm.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, || dissensus::studies::Study::read(&path)).map(Self)
    }

    /// A study whose sections and keys are those of a file.
    ///
    /// Parameters
    /// ----------
    /// settings : dict
    ///     The sections; ``dissensus study show --template`` explains every key.
    /// name : str, default "study"
    ///     The name, where the dictionary has no section ``study`` that says it.
    #[staticmethod]
    #[pyo3(signature = (settings, name="study"))]
    fn from_dict(settings: &Bound<'_, PyDict>, name: &str) -> PyResult<Self> {
        let settings = json::from_python(settings)?;
        dissensus::studies::Study::from_json(&settings, name).map(Self).map_err(raise)
    }

    /// A built-in study by its name, as in ``dissensus study list``.
    #[staticmethod]
    fn builtin(name: &str) -> PyResult<Self> {
        dissensus::studies::Study::builtin(name).map(Self).map_err(raise)
    }

    /// Its name, which is also that of its folder in a store.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Its title in reports.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// The names of what is compared.
    #[getter]
    fn arms(&self) -> Vec<String> {
        self.0.arms.iter().map(|arm| arm.name.clone()).collect()
    }

    /// The names of its scales, such as ``quick``.
    #[getter]
    fn scales(&self) -> Vec<String> {
        self.0.scales.iter().map(|scale| scale.name.clone()).collect()
    }

    /// The same study at one of its scales.
    fn scaled(&self, scale: &str) -> PyResult<Self> {
        self.0.clone().scaled(scale).map(Self).map_err(raise)
    }

    /// The same study with other settings for all runs, as in ``{"training.epochs": 20}``.
    fn override_settings(&self, settings: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut given = Vec::new();
        for (key, value) in settings {
            let key: String = key.extract()?;
            given.extend(setting(&key, &key, &value)?);
        }
        self.0.clone().with_settings(given).map(Self).map_err(raise)
    }

    /// The study as TOML, with all that was set and chosen.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// Runs everything in the study that is not done yet: training, stages that need models, the collection of results.
    ///
    /// A run that fails does not stop the others; it is a warning here, and ``status`` says why. Ctrl-C ends after the
    /// epochs that are under way: the same call continues.
    ///
    /// Parameters
    /// ----------
    /// store : str, os.PathLike or Store
    ///     Where runs are kept; made where there is none. With the address of a bucket (``s3://BUCKET/PREFIX``), runs that
    ///     are done there are pulled instead of being trained, and every run is pushed when it is done.
    /// local : str or os.PathLike, optional
    ///     With a bucket, the folder of runs on this machine; ``runs`` by default.
    /// shard : tuple of int or str, optional
    ///     Only the runs of one of several disjoint shares of equal work, each on its own machine: ``(2, 8)`` or
    ///     ``"2/8"`` is the second of eight. ``finish`` follows when all are done.
    /// arms : list of str, optional
    ///     Only these arms.
    /// votes_per_item : list of int or "all", optional
    ///     Only these numbers of votes.
    /// seeds : int or tuple of int, optional
    ///     At most so many seeds per arm; or the first and the last.
    /// device : str, optional
    ///     ``auto``, ``cpu``, ``cuda``, ``cuda:1``; the study's ``run.device`` by default.
    /// jobs : int, optional
    ///     Runs at a time; the study's ``run.jobs`` by default.
    /// progress : bool or callable, optional
    ///     Whether to draw a bar; by default in terminals and notebooks.
    ///
    /// Returns
    /// -------
    /// Table
    ///     The results of the chosen runs, as ``results`` gives them; with a shard, those of its runs.
    #[pyo3(signature = (
        store, *, local=None, shard=None, arms=None, votes_per_item=None, seeds=None, device=None, jobs=None,
        progress=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn run(
        &self,
        py: Python<'_>,
        store: StorePath<'_>,
        local: Option<PathBuf>,
        shard: Option<Share>,
        arms: Option<Vec<String>>,
        votes_per_item: Option<Vec<Votes>>,
        seeds: Option<Seeds>,
        device: Option<String>,
        jobs: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        if jobs == Some(0) {
            return Err(value_error("jobs is 0; expected at least 1"));
        }
        let shard = shard.map(Share::shard).transpose()?;
        let choice = Choice { arms, votes_per_item, seeds }.options()?;
        let location = store.location(local)?;
        let (show, on) = (shower(py, progress)?, (device, jobs));
        let open = |execution| Context::create(&location, execution);
        self.on_device(&show, &choice, open, on, |plan, context| {
            let Some(shard) = shard else {
                return Ok(study::run(plan, context)?.results.collected);
            };
            let waiting = study::run_shard(plan, shard, context)?.waiting;
            if waiting > 0 {
                context.progress.report(Event::Warning(&format!(
                    "{waiting} final runs wait for search runs of other shards; the same call trains them when \
                     those are done"
                )));
            }
            let shares = plan.shares(shard.of());
            Ok(plan.rows_of(&context.store, &|id| shares.has(shard, id))?)
        })
    }

    /// Finishes a study whose runs were trained by shards: stages that compare runs, and the results. Trains nothing.
    ///
    /// Parameters
    /// ----------
    /// store : str, os.PathLike or Store
    ///     The store of the runs, or the address of a bucket, as for ``run``.
    /// local : str or os.PathLike, optional
    ///     With a bucket, the folder of runs on this machine; ``runs`` by default.
    /// arms, votes_per_item, seeds : optional
    ///     The choice of runs, as for ``run``.
    /// device : str, optional
    ///     For stages that need models; the study's ``run.device`` by default.
    /// progress : bool or callable, optional
    ///     Whether to draw a bar; by default in terminals and notebooks.
    ///
    /// Returns
    /// -------
    /// Table
    ///     The results, which are those of ``run`` on one machine.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     Where runs are missing, with their names.
    #[pyo3(signature = (
        store, *, local=None, arms=None, votes_per_item=None, seeds=None, device=None, progress=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn finish(
        &self,
        py: Python<'_>,
        store: StorePath<'_>,
        local: Option<PathBuf>,
        arms: Option<Vec<String>>,
        votes_per_item: Option<Vec<Votes>>,
        seeds: Option<Seeds>,
        device: Option<String>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        let choice = Choice { arms, votes_per_item, seeds }.options()?;
        let (location, show) = (store.location(local)?, shower(py, progress)?);
        let open = |execution| Context::open(&location, execution);
        self.on_device(&show, &choice, open, (device, None), |plan, context| {
            Ok(study::finish(plan, context)?.results.collected)
        })
    }

    /// Runs the study on a cluster, in shards; or gives the scripts that do.
    ///
    /// On Slurm, a job array and a job that finishes the study are written into the study's folder of the store, and
    /// submitted. A shard whose node fails is queued again, and so is one that nears its time limit. For Kubernetes, Ray
    /// and SSH, ``dry_run=True`` gives what to apply or run yourself.
    ///
    /// Parameters
    /// ----------
    /// store : str, os.PathLike or Store
    ///     The store as the machines of the cluster see it; made where there is none. Not for Slurm: the address of a
    ///     bucket.
    /// on : {"slurm", "kubernetes", "ray", "ssh"}
    ///     The kind of cluster.
    /// shards : int
    ///     Jobs that each train a share of the runs.
    /// dry_run : bool, default False
    ///     Only make the scripts.
    /// arms, votes_per_item, seeds : optional
    ///     The choice of runs, as for ``run``.
    /// jobs : int, optional
    ///     Runs at a time in a shard; the study's ``run.jobs`` by default.
    /// device : str, optional
    ///     The device of shards; the study's ``run.device`` by default.
    /// at_once : int, optional
    ///     At most so many shards at a time.
    /// gpus, cpus : int, optional
    ///     What a shard may use.
    /// memory : str, optional
    ///     Memory of a shard, as the system writes it: ``16G``, ``16Gi``.
    /// program : str, optional
    ///     The command on the machines of the cluster. By default the one that is installed with this package on
    ///     Slurm, otherwise ``dissensus``.
    /// file : str, optional
    ///     For Ray and SSH: the study's file as the machines see it.
    /// time : str, optional
    ///     For Slurm: the time limit of a shard, as in ``4:00:00``.
    /// warning : int, default 120
    ///     For Slurm: seconds before the time limit at which a shard stops and is queued again; more than an epoch
    ///     takes.
    /// partition, account : str, optional
    ///     For Slurm.
    /// extra : list of str, optional
    ///     For Slurm: other options of ``sbatch``, as in ``["--constraint=a100"]``.
    /// image : str, optional
    ///     For Kubernetes: the image of containers, with the program.
    /// claim : str, optional
    ///     For Kubernetes: the claim of a volume that all containers mount at ``/data``.
    /// hosts : list of str, optional
    ///     For SSH: the machines.
    ///
    /// Examples
    /// --------
    /// >>> study = dissensus.Study.builtin("demo")
    /// >>> made = study.submit("runs", on="slurm", shards=8, gpus=1, time="4:00:00", program="dissensus", dry_run=True)
    /// >>> print(made)
    /// <Submission: slurm, task.sh, finish.sh, not submitted>
    /// >>> "#SBATCH --array=1-8" in made.scripts["task.sh"]
    /// True
    #[pyo3(signature = (
        store, *, on, shards, dry_run=false, arms=None, votes_per_item=None, seeds=None, jobs=None, device=None,
        at_once=None, gpus=None, cpus=None, memory=None, program=None, file=None, time=None, warning=120,
        partition=None, account=None, extra=None, image=None, claim=None, hosts=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn submit(
        &self,
        py: Python<'_>,
        store: StorePath<'_>,
        on: String,
        shards: i64,
        dry_run: bool,
        arms: Option<Vec<String>>,
        votes_per_item: Option<Vec<Votes>>,
        seeds: Option<Seeds>,
        jobs: Option<i64>,
        device: Option<String>,
        at_once: Option<i64>,
        gpus: Option<i64>,
        cpus: Option<i64>,
        memory: Option<String>,
        program: Option<String>,
        file: Option<String>,
        time: Option<String>,
        warning: i64,
        partition: Option<String>,
        account: Option<String>,
        extra: Option<Vec<String>>,
        image: Option<String>,
        claim: Option<String>,
        hosts: Option<Vec<String>>,
    ) -> PyResult<Submission> {
        let choice = Choice { arms, votes_per_item, seeds }.options()?;
        let warning = from_one("warning", warning, usize::from(u16::MAX))? as u32;
        let extra = extra.unwrap_or_default();
        let slurm = SlurmOptions { partition, account, time, warning, extra };
        let hosts = hosts.unwrap_or_default();
        #[rustfmt::skip]
        let given = Given {
            on, shards, jobs, device, at_once, gpus, cpus, memory, program, file, slurm, image, claim, hosts,
        };
        cluster::submit(py, &self.0, store, &choice, given, dry_run)
    }

    /// Removes the study's jobs from the queue of Slurm. What was trained stays in the store.
    ///
    /// Returns
    /// -------
    /// list of str
    ///     The ids of the jobs that were in the queue.
    fn cancel(&self, py: Python<'_>, store: StorePath<'_>) -> PyResult<Vec<String>> {
        let store = store.open(false)?;
        detached(py, || dissensus::cluster::cancel(&store, &self.0.name))
    }

    /// How far the study is in a store. Only reads it, so another process may train. Of a study that was submitted to a
    /// cluster from this store, it also asks the queue.
    ///
    /// Parameters
    /// ----------
    /// store : str, os.PathLike or Store
    ///     The store of the runs, or the address of a bucket, whose runs are pulled first.
    /// local : str or os.PathLike, optional
    ///     With a bucket, the folder of runs on this machine; ``runs`` by default.
    /// arms, votes_per_item, seeds : optional
    ///     The choice of runs, as for ``run``.
    #[pyo3(signature = (store, *, local=None, arms=None, votes_per_item=None, seeds=None))]
    fn status(
        &self,
        py: Python<'_>,
        store: StorePath<'_>,
        local: Option<PathBuf>,
        arms: Option<Vec<String>>,
        votes_per_item: Option<Vec<Votes>>,
        seeds: Option<Seeds>,
    ) -> PyResult<StudyStatus> {
        let choice = Choice { arms, votes_per_item, seeds }.options()?;
        let (location, show) = (store.location(local)?, shower(py, None)?);
        self.planned(py, Some(&show), &choice, |plan, context| {
            let store = location.pulled(plan, context.progress, &context.cancel)?;
            let status = plan.status(&store, None)?;
            Ok(StudyStatus(status, cluster::queue(plan, &store, &choice, context.progress)?))
        })
    }

    /// The results of the runs that are finished: one row per run, metric and slice of the items, as in the study's
    /// ``results.csv``. What is undefined is ``None``, and so is ``k`` where all votes are used.
    #[pyo3(signature = (store, *, arms=None, votes_per_item=None, seeds=None))]
    fn results(
        &self,
        py: Python<'_>,
        store: StorePath<'_>,
        arms: Option<Vec<String>>,
        votes_per_item: Option<Vec<Votes>>,
        seeds: Option<Seeds>,
    ) -> PyResult<Table> {
        let choice = Choice { arms, votes_per_item, seeds }.options()?;
        let store = store.open(false)?;
        table(&self.planned(py, None, &choice, |plan, _| Ok(plan.rows(&store)?))?)
    }

    /// Writes the report: tables as Markdown, LaTeX and CSV, figures as SVG, PNG and PDF, and one page.
    ///
    /// Parameters
    /// ----------
    /// store : str, os.PathLike or Store
    ///     The store of the runs.
    /// out : str or os.PathLike
    ///     The folder to write. An earlier report of the study in it is replaced.
    /// force : bool, default False
    ///     Write into a folder that holds other files; those of the same names are replaced.
    ///
    /// Returns
    /// -------
    /// pathlib.Path
    ///     The page to open. What could not be made is a warning.
    #[pyo3(signature = (store, out, *, force=false))]
    fn report(
        &self,
        py: Python<'_>,
        store: StorePath<'_>,
        out: PathBuf,
        force: bool,
    ) -> PyResult<PathBuf> {
        let store = store.open(false)?;
        let show = shower(py, None)?;
        self.planned(py, Some(&show), &PlanOptions::default(), |plan, context| {
            let written = report::write(plan, &store, &out, force)?;
            for problem in &written.problems {
                context.progress.report(Event::Warning(problem));
            }
            Ok(written.page)
        })
    }

    fn __repr__(&self) -> String {
        format!("<Study {}: {}>", self.0.name, self.arms().join(", "))
    }
}

fn table(collected: &Collected) -> PyResult<Table> {
    let rows: Vec<&Row> = collected.results().collect();
    let text = |text: fn(&Row) -> &String| {
        Column::Text(rows.iter().map(|row| Some(text(row).clone())).collect())
    };
    let seed = |row: &&Row| i64::try_from(row.seed).ok();
    Table::new(vec![
        ("study", text(|row| &row.study)),
        ("dataset", text(|row| &row.dataset)),
        ("arm", text(|row| &row.arm)),
        ("k", Column::Whole(rows.iter().map(|row| row.k.map(i64::from)).collect())),
        ("seed", Column::Whole(rows.iter().map(seed).collect())),
        ("metric", text(|row| &row.metric)),
        ("slice", text(|row| &row.slice)),
        ("value", Column::Number(rows.iter().map(|row| row.value).collect())),
        ("run", text(|row| &row.run)),
    ])
}
