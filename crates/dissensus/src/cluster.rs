//! A study on a cluster: the scripts that run its shards, one file per system, and one list.
//!
//! Every system runs `study run --shard I/N` for every shard and then `study finish`. A study with a grid
//! takes two rounds of shards: the final runs of a shard may depend on search runs of another. Slurm's
//! scripts are submitted ([`System::submit`]), and its queue is read back ([`queue`]) and emptied ([`cancel`]); those
//! of the others are for people to read and apply.

mod kubernetes;
mod ray;
mod shell;
mod slurm;
mod ssh;
mod yaml;

use std::path::PathBuf;

use dissensus_remote::is_remote_url;
use dissensus_store::{Durability, Store, StudyFolder};
use dissensus_studies::{Plan, PlanOptions, SeedChoice, Shard, Study, StudyError, VoteChoice};
use serde::{Deserialize, Serialize};

use crate::{Error, LoadContext, Location, study};

pub use slurm::{cancel, queue};

/// What scripts for a cluster are made of.
pub struct ClusterJob<'a> {
    /// The study, with its scale and all settings applied.
    pub study: &'a Study,
    /// The study as a command names it: its file or name, its scale, its settings.
    pub named: Vec<String>,
    /// Options that select runs, for `study run` and `study finish`.
    pub selection: Vec<String>,
    /// Options of `study run` alone: runs at a time, the device.
    pub run_options: Vec<String>,
    /// The folder of the store as the machines of the cluster see it, or its address.
    pub store: String,
    /// The program as the machines of the cluster see it.
    pub program: String,
    /// The folder that relative paths of the study start from.
    pub directory: PathBuf,
    /// How many shards.
    pub shards: usize,
    /// What a shard may use.
    pub resources: Resources,
    /// For Slurm alone.
    pub slurm: SlurmOptions,
    /// The container's image, for Kubernetes.
    pub image: Option<String>,
    /// The claim of a volume that all containers share, for Kubernetes.
    pub claim: Option<String>,
    /// The machines, for SSH.
    pub hosts: Vec<String>,
}

/// What a shard may use. What is not said is left to the system.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// GPUs.
    pub gpus: Option<u32>,
    /// CPU cores.
    pub cpus: Option<u32>,
    /// Memory, as the system writes it (`16G`, `16Gi`).
    pub memory: Option<String>,
    /// The largest number of shards at a time.
    pub at_once: Option<usize>,
}

/// Options of a job array of Slurm.
#[derive(Clone, Debug)]
pub struct SlurmOptions {
    /// The partition.
    pub partition: Option<String>,
    /// The account that is charged.
    pub account: Option<String>,
    /// The time limit of a shard, as Slurm writes it (`4:00:00`).
    pub time: Option<String>,
    /// Seconds before the time limit at which a shard stops and queues itself again.
    pub warning: u32,
    /// Other options of `sbatch`, each as `--name=value`.
    pub extra: Vec<String>,
}

impl Default for SlurmOptions {
    fn default() -> Self {
        Self { partition: None, account: None, time: None, warning: 120, extra: Vec::new() }
    }
}

/// A file that is made for a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// A kind of cluster.
pub struct System {
    /// Its name.
    pub name: &'static str,
    /// What is made for it, in a line.
    pub about: &'static str,
    /// How what is printed for it is used; empty where it is submitted.
    pub next: &'static str,
    make: fn(&ClusterJob<'_>) -> Result<Vec<Script>, ClusterError>,
}

/// The systems.
pub const SYSTEMS: &[System] = &[
    System {
        name: "slurm",
        about: "a job array and a job that finishes the study, submitted with sbatch",
        next: "",
        make: slurm::scripts,
    },
    System {
        name: "kubernetes",
        about: "an indexed Job and one that finishes the study, to be applied with kubectl",
        next: kubernetes::NEXT,
        make: kubernetes::scripts,
    },
    System {
        name: "ray",
        about: "a Python script with one remote task per shard",
        next: ray::NEXT,
        make: ray::scripts,
    },
    System {
        name: "ssh",
        about: "a shell script that runs one shard on each of several machines",
        next: ssh::NEXT,
        make: ssh::scripts,
    },
];

impl System {
    /// The system of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SYSTEMS.iter().find(|system| system.name == name)
    }

    /// The store as the machines see it. Containers have paths of their own.
    pub fn store(&self, place: &str) -> std::io::Result<String> {
        Ok(match is_remote_url(place) || self.name == "kubernetes" {
            true => place.to_owned(),
            false => std::path::absolute(place)?.display().to_string(),
        })
    }

    /// Submits a study, where this is Slurm, and gives the folder of the logs, too. What is wrong with the
    /// study or its data is known before it waits in a queue.
    pub fn submit(
        &self,
        job: &ClusterJob<'_>,
        choice: &PlanOptions,
        load: &LoadContext<'_>,
    ) -> Result<(Submission, PathBuf), Error> {
        if !self.next.is_empty() {
            return Err(ClusterError::NotSlurm { system: self.name, next: self.next }.into());
        }
        let plan = study::plan(job.study, choice, load)?;
        let store = Location::folder(job.store.as_ref())?.create()?;
        study::check_stages(&plan, &store, load)?;
        let submission = slurm::submit(job, &store)?;
        Ok((submission, Submission::logs(&store, &job.study.name)?))
    }

    /// Makes the scripts.
    pub fn scripts(&self, job: &ClusterJob<'_>) -> Result<Vec<Script>, Error> {
        // It stands in comments.
        one_line([job.study.name.as_str()])?;
        Ok((self.make)(job)?)
    }
}

/// Why a study cannot be given to a cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A system needs something that was not said.
    #[error("{system} needs {what}")]
    Needs {
        /// The system.
        system: &'static str,
        /// What it needs.
        what: &'static str,
    },
    /// A system that nothing is submitted to.
    #[error("only Slurm is submitted to; a dry run gives what {system} needs: {next}")]
    NotSlurm {
        /// The system.
        system: &'static str,
        /// How its files are used.
        next: &'static str,
    },
    /// A text with a line break, which would begin another line of a script.
    #[error("{text:?} has a line break, and a line of a script would end there")]
    LineBreak {
        /// The text.
        text: String,
    },
    /// A name of a machine that ssh would take for an option, or for several words.
    #[error("{host:?} cannot be the name of a machine")]
    Host {
        /// The name.
        host: String,
    },
    /// A command of the system that cannot be started.
    #[error("{command} cannot be started: {source}")]
    NoCommand {
        /// The command.
        command: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// A command of the system that failed.
    #[error("{command} failed: {said}")]
    Failed {
        /// The command.
        command: &'static str,
        /// What it said.
        said: String,
    },
    /// Jobs of the study that are still in the queue.
    #[error("{study} was submitted before, and {jobs} of its jobs are in the queue")]
    InQueue {
        /// The study.
        study: String,
        /// How many.
        jobs: usize,
    },
    /// A study that was never submitted from this store.
    #[error("{study} was not submitted from {}", store.display())]
    NotSubmitted {
        /// The study.
        study: String,
        /// The store.
        store: PathBuf,
    },
}

/// The version of a [`Submission`]'s fields.
const FORMAT: u32 = 1;

/// What is remembered of a study that was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The version of these fields.
    format: u32,
    /// The system.
    pub system: String,
    /// The name of the jobs.
    pub name: String,
    /// How many shards.
    pub shards: usize,
    /// The ids of the job arrays, in order: one per round.
    pub arrays: Vec<String>,
    /// The id of the job that finishes the study.
    pub finish: Option<String>,
    /// When, in seconds since 1970.
    pub time: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The options that selected its runs.
    selection: Vec<String>,
}

/// What has become of a task, as the system says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskState {
    /// As the system writes it, in small letters: `pending`, `running`, `completing`.
    pub state: String,
    /// The node that it runs on; empty where it does not.
    pub node: String,
    /// Why it waits; empty where it does not.
    pub reason: String,
}

/// A shard in the queue and in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShardStatus {
    /// Its number, from 1.
    pub shard: usize,
    /// How many of its runs have ended; `None` where the study is not the one that was submitted.
    pub ended: Option<usize>,
    /// How many runs it has.
    pub runs: Option<usize>,
    /// What the queue says; `None` where it is not there.
    pub task: Option<TaskState>,
}

/// A study that was submitted, in the queue and in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterStatus {
    /// The system.
    pub system: String,
    /// The ids of the jobs.
    pub jobs: Vec<String>,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The shards, in order.
    pub shards: Vec<ShardStatus>,
    /// The job that finishes the study, where it is in the queue.
    pub finish: Option<TaskState>,
}

/// What is in a study's folder of the store for a cluster.
mod files {
    pub(super) const FOLDER: &str = "cluster";
    pub(super) const SUBMISSION: &str = "cluster/submission.json";
    pub(super) const STUDY: &str = "cluster/study.toml";
    pub(super) const LOGS: &str = "cluster/logs";
}

impl Submission {
    /// What is remembered of a study in this store; `None` where it was not submitted.
    pub fn read(store: &Store, study: &str) -> Result<Option<Self>, Error> {
        let folder = store.study(study)?;
        let Some(bytes) = folder.read(files::SUBMISSION)? else { return Ok(None) };
        let unreadable = |reason: String| {
            let what = folder.path().join(files::SUBMISSION).display().to_string();
            Error::Study(StudyError::Results { what, reason })
        };
        let read: Self =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if read.format != FORMAT || !(1..=Shard::MOST).contains(&read.shards) {
            let (format, shards) = (read.format, read.shards);
            let reason =
                format!("expected format {FORMAT}; it has format {format}, {shards} shards");
            return Err(unreadable(reason));
        }
        Ok(Some(read))
    }

    /// The folder of the logs of a study in this store, one per shard.
    pub fn logs(store: &Store, study: &str) -> Result<PathBuf, Error> {
        Ok(store.study(study)?.path().join(files::LOGS))
    }

    /// Whether these runs of this study were submitted.
    fn is_of(&self, plan: &Plan<'_>, store: &Store, selection: &[String]) -> Result<bool, Error> {
        let text = store.study(&plan.study().name)?.read(files::STUDY)?;
        let same = text.is_some_and(|text| text == plan.study().to_toml().as_bytes());
        Ok(same && self.selection == selection)
    }

    /// The ids of all jobs.
    pub fn jobs(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().chain(&self.finish).map(String::as_str)
    }

    fn write(&self, folder: &StudyFolder) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        Ok(folder.write(files::SUBMISSION, &text, Durability::Power)?)
    }
}

/// The options of a command that select these runs.
pub fn selection(options: &PlanOptions) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    if !options.only.is_empty() {
        add("--arms", options.only.join(","));
    }
    if !options.ks.is_empty() {
        let votes: Vec<String> = options.ks.iter().map(|k| VoteChoice(*k).to_string()).collect();
        add("--votes-per-item", votes.join(","));
    }
    let most = options.seeds.map(SeedChoice::Most);
    let between = options.between.map(|(first, last)| SeedChoice::Between(first, last));
    if let Some(seeds) = most.or(between) {
        add("--seeds", seeds.to_string());
    }
    words
}

/// How many times all shards are run, one after the other.
fn rounds(study: &Study) -> usize {
    1 + usize::from(study.grid.is_some())
}

fn strs(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().map(String::as_str)
}

/// `study VERB` of a study that is named by these words, with the options that select runs.
fn study_words<'w>(job: &'w ClusterJob<'_>, verb: &'w str, named: &[&'w str]) -> Vec<&'w str> {
    let start = [job.program.as_str(), "study", verb].into_iter();
    let store = ["--store", job.store.as_str()];
    start.chain(named.iter().copied()).chain(store).chain(strs(&job.selection)).collect()
}

/// The words of a shard's command; the option for the shard is to follow.
fn run_words<'w>(job: &'w ClusterJob<'_>, named: &[&'w str]) -> Vec<&'w str> {
    let mut words = study_words(job, "run", named);
    words.extend(strs(&job.run_options));
    words
}

/// What ends a line for some reader of a script.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Refuses texts that would begin another line of a script.
fn one_line<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<(), ClusterError> {
    match texts.into_iter().find(|text| text.contains(LINE_ENDS)) {
        Some(text) => Err(ClusterError::LineBreak { text: text.to_owned() }),
        None => Ok(()),
    }
}
