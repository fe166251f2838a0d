//! Slurm: an array with one task per shard, and a job that finishes the study when the array has ended.
//!
//! A task is queued again by Slurm when its node fails (`--requeue`), and queues itself again before its time
//! limit: the batch shell gets SIGUSR1 (`--signal=B:USR1@…`), sends SIGTERM to the program, which stops after
//! the current epochs with a checkpoint, and calls `scontrol requeue`. SIGTERM from outside (`scancel`) stops
//! the program in the same way and queues nothing. The accounting database is not needed: what is done is in
//! the store, and what is queued is in `squeue`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use dissensus_remote::is_remote_url;
use dissensus_store::{Durability, Store, study_folder};
use dissensus_studies::Plan;

use super::{
    ClusterError, ClusterJob, ClusterStatus, FORMAT, Script, ShardStatus, Submission, TaskState,
    files, one_line, rounds, run_words, shell::command, study_words,
};
use crate::Error;

const TASK: &str = "task.sh";
const FINISH: &str = "finish.sh";

/// The name of a study's jobs.
fn job_name(study: &str) -> String {
    format!("dissensus-{study}")
}

/// The folder of a study in a store, there or not yet.
fn folder_of(job: &ClusterJob<'_>) -> String {
    study_folder(Path::new(&job.store), &job.study.name).display().to_string()
}

/// The lines for `sbatch`.
fn directives(job: &ClusterJob<'_>, log: &str, own: &[String]) -> Result<String, ClusterError> {
    let mut lines = vec![
        format!("--job-name={}", job_name(&job.study.name)),
        format!("--chdir={}", job.directory.display()),
        format!("--output={}/{}/{log}", folder_of(job), files::LOGS),
        "--open-mode=append".to_owned(),
        "--requeue".to_owned(),
    ];
    let (resources, slurm) = (&job.resources, &job.slurm);
    let mut add = |option: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{option}={value}")));
    };
    add("--partition", slurm.partition.clone());
    add("--account", slurm.account.clone());
    add("--time", slurm.time.clone());
    add("--gpus-per-node", resources.gpus.map(|gpus| gpus.to_string()));
    add("--cpus-per-task", resources.cpus.map(|cpus| cpus.to_string()));
    add("--mem", resources.memory.clone());
    lines.extend(own.iter().chain(&slurm.extra).cloned());
    one_line(lines.iter().map(String::as_str))?;
    Ok(lines.iter().map(|line| format!("#SBATCH {}\n", directive(line))).collect())
}

/// A directive whose value has a character that Slurm cuts or reads otherwise is quoted.
fn directive(line: &str) -> String {
    match line.split_once('=') {
        Some((option, value)) if value.contains([' ', '\t', '#', '"', '\'', '\\']) => {
            format!("{option}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
        }
        _ => line.to_owned(),
    }
}

pub(super) fn scripts(job: &ClusterJob<'_>) -> Result<Vec<Script>, ClusterError> {
    if is_remote_url(&job.store) {
        return Err(ClusterError::Needs { system: "slurm", what: "a store in a folder" });
    }
    let shards = job.shards;
    let at_once = job.resources.at_once.map_or(String::new(), |at_once| format!("%{at_once}"));
    let array = format!("--array=1-{shards}{at_once}");
    let signal = format!("--signal=B:USR1@{}", job.slurm.warning);
    let study = format!("{}/{}", folder_of(job), files::STUDY);
    let task = format!(
        r#"#!/bin/bash
{directives}#
# One shard of the study {name}. Slurm queues it again when its node fails. SIGUSR1 comes before the time limit: the
# program stops after the current epochs, and the shard queues itself again.
limit=
trap 'limit=yes; kill -TERM "$run"' USR1
trap 'kill -TERM "$run"' TERM INT
{run} --shard "$SLURM_ARRAY_TASK_ID/{shards}" &
run=$!
# A signal ends `wait`, not the program.
while wait "$run"; code=$?; kill -0 "$run" 2> /dev/null; do :; done
if [ -n "$limit" ] && [ "$code" -ge 128 ]; then
    # The id of the last task alone is also that of the whole array.
    scontrol requeue "$SLURM_ARRAY_JOB_ID"_"$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
"#,
        directives = directives(job, "shard-%a.log", &[array, signal])?,
        name = job.study.name,
        run = command(&run_words(job, &[&study])),
    );
    let finish = format!(
        r#"#!/bin/bash
{directives}#
# Finishes the study {name} when its shards have ended, or lists what is missing.
exec {finish} --shards {shards}
"#,
        directives = directives(job, "finish.log", &[])?,
        name = job.study.name,
        finish = command(&study_words(job, "finish", &[&study])),
    );
    Ok(vec![Script { name: TASK, text: task }, Script { name: FINISH, text: finish }])
}

/// Writes the scripts and the study into the study's folder, and submits them. A study whose jobs are
/// still in the queue is not submitted again.
pub(super) fn submit(job: &ClusterJob<'_>, store: &Store) -> Result<Submission, Error> {
    let study = &job.study.name;
    if let Some(before) = Submission::read(store, study)? {
        let jobs = ask(&before)?.len();
        if jobs > 0 {
            return Err(ClusterError::InQueue { study: study.clone(), jobs }.into());
        }
    }
    let folder = store.study(study)?;
    let scripts = scripts(job)?;
    folder.write(files::STUDY, job.study.to_toml().as_bytes(), Durability::Power)?;
    for script in &scripts {
        let name = format!("{}/{}", files::FOLDER, script.name);
        folder.write(&name, script.text.as_bytes(), Durability::Power)?;
    }
    // Slurm makes no folder for its logs.
    let log = format!("{}/submit.log", files::LOGS);
    folder.write(&log, b"", Durability::Process)?;
    let path = |name: &str| folder.path().join(files::FOLDER).join(name).display().to_string();
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut submission = Submission {
        format: FORMAT,
        system: "slurm".to_owned(),
        name: job_name(study),
        shards: job.shards,
        arrays: Vec::new(),
        finish: None,
        time,
        cancelled: false,
        selection: job.selection.clone(),
    };
    // Remembered after every step: what is in the queue can be cancelled, whatever fails next.
    for _ in 0..rounds(job.study) {
        let id = batch(submission.arrays.last(), &path(TASK))?;
        submission.arrays.push(id);
        submission.write(&folder)?;
    }
    submission.finish = Some(batch(submission.arrays.last(), &path(FINISH))?);
    submission.write(&folder)?;
    Ok(submission)
}

/// Submits a script, after a job has ended in any way; gives the job's id.
fn batch(after: Option<&String>, script: &str) -> Result<String, ClusterError> {
    let after = after.map(|id| format!("--dependency=afterany:{id}"));
    let arguments = ["--parsable"].into_iter().chain(after.as_deref()).chain([script]);
    let said = call("sbatch", arguments)?;
    // `ID` or `ID;CLUSTER`.
    let id = said.trim().split(';').next().unwrap_or_default();
    match !id.is_empty() && id.chars().all(|c| c.is_ascii_digit()) {
        true => Ok(id.to_owned()),
        false => Err(ClusterError::Failed {
            command: "sbatch",
            said: format!("{said:?} is no job's id"),
        }),
    }
}

/// What a command of Slurm prints.
fn call<'a>(
    command: &'static str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Result<String, ClusterError> {
    let output = Command::new(command).args(arguments).output();
    let output = output.map_err(|source| ClusterError::NoCommand { command, source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(ClusterError::Failed { command, said: text(&output.stderr) }),
    }
}

/// A task in the queue.
struct QueuedTask {
    /// The id of its job or job array.
    job: String,
    /// Its shard; `None` of the job that finishes the study.
    shard: Option<usize>,
    state: TaskState,
}

/// The tasks of a submission that are in the queue.
fn ask(submission: &Submission) -> Result<Vec<QueuedTask>, ClusterError> {
    // Asked by name: ids of jobs that are over are an error.
    let name = format!("--name={}", submission.name);
    let said = call("squeue", ["--noheader", "--array", &name, "--format=%F|%K|%T|%N|%r"])?;
    let ours = |id: &str| submission.jobs().any(|job| job == id);
    Ok(said.lines().filter_map(task).filter(|task| ours(&task.job)).collect())
}

/// A line of `squeue`: job, place in the array, state, node, reason.
fn task(line: &str) -> Option<QueuedTask> {
    let mut fields = line.trim().splitn(5, '|').map(str::trim);
    let mut next = || fields.next();
    let (job, place, state, node, reason) = (next()?, next()?, next()?, next()?, next()?);
    let reason = if reason == "None" { "" } else { reason };
    let state =
        TaskState { state: state.to_lowercase(), node: node.to_owned(), reason: reason.to_owned() };
    Some(QueuedTask { job: job.to_owned(), shard: place.parse().ok(), state })
}

/// What the queue and the store say of a study that was submitted from this store; `None` where it was not.
/// `selection` are the options that selected the runs of the plan.
pub fn queue(
    plan: &Plan<'_>,
    store: &Store,
    selection: &[String],
) -> Result<Option<ClusterStatus>, Error> {
    let Some(submission) = Submission::read(store, &plan.study().name)? else { return Ok(None) };
    let counts = match submission.is_of(plan, store, selection)? {
        true => Some(plan.shard_counts(store, submission.shards)?),
        false => None,
    };
    let mut tasks = ask(&submission)?;
    let round = |task: &QueuedTask| submission.arrays.iter().position(|id| *id == task.job);
    // With two rounds, a shard is in the state of the first that is in the queue.
    tasks.sort_by_key(|task| std::cmp::Reverse(round(task)));
    let (mut queued, mut finish) = (BTreeMap::new(), None);
    for QueuedTask { shard, state, .. } in tasks {
        match shard {
            Some(shard) => drop(queued.insert(shard, state)),
            None => finish = Some(state),
        }
    }
    let shard = |index: usize| ShardStatus {
        shard: index,
        ended: counts.as_ref().map(|counts| counts[index - 1].0),
        runs: counts.as_ref().map(|counts| counts[index - 1].1),
        task: queued.remove(&index),
    };
    Ok(Some(ClusterStatus {
        system: submission.system.clone(),
        jobs: submission.jobs().map(str::to_owned).collect(),
        cancelled: submission.cancelled,
        shards: (1..=submission.shards).map(shard).collect(),
        finish,
    }))
}

/// Removes the jobs of a study from the queue; gives their ids. Runs that are being trained stop after their
/// current epochs, if Slurm leaves them the time, and can be continued.
pub fn cancel(store: &Store, study: &str) -> Result<Vec<String>, Error> {
    let Some(mut submission) = Submission::read(store, study)? else {
        let (study, store) = (study.to_owned(), store.path().to_owned());
        return Err(ClusterError::NotSubmitted { study, store }.into());
    };
    let mut jobs: Vec<String> = ask(&submission)?.into_iter().map(|task| task.job).collect();
    jobs.sort_unstable();
    jobs.dedup();
    if !jobs.is_empty() {
        call("scancel", jobs.iter().map(String::as_str))?;
    }
    submission.cancelled = true;
    submission.write(&store.study(study)?)?;
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_queue_are_read() {
        let read = |line: &str| {
            let task = task(line).unwrap();
            (task.job, task.shard, task.state.state, task.state.node, task.state.reason)
        };
        let of = |job: &str, shard, state: &str, node: &str, reason: &str| {
            (job.to_owned(), shard, state.to_owned(), node.to_owned(), reason.to_owned())
        };
        assert_eq!(read("12|3|RUNNING|n1|None"), of("12", Some(3), "running", "n1", ""));
        assert_eq!(read(" 12|4|PENDING||Resources"), of("12", Some(4), "pending", "", "Resources"));
        assert_eq!(read("13|N/A|PENDING||Dependency"), of("13", None, "pending", "", "Dependency"));
        assert!(task("").is_none() && task("slurm_load_jobs error").is_none());
    }
}
