//! Ray: a Python script with one remote task per shard, which runs the program.
//!
//! All nodes see the store under the same path, or it is an address, and have the program, the study and
//! its data.

use serde_json::{Value, json};

use super::{ClusterError, ClusterJob, Script, rounds, run_words, strs, study_words};

pub(super) const NEXT: &str =
    "save it as shards.py and run it: python shards.py, or with `ray job submit`";

pub(super) fn scripts(job: &ClusterJob<'_>) -> Result<Vec<Script>, ClusterError> {
    let named: Vec<&str> = strs(&job.named).collect();
    // Words without the program, which an option of the script names.
    let list = |words: Vec<&str>| json!(words.get(1..).unwrap_or_default());
    let mut asked = serde_json::Map::new();
    asked.extend(job.resources.cpus.map(|cpus| ("num_cpus".to_owned(), Value::from(cpus))));
    asked.extend(job.resources.gpus.map(|gpus| ("num_gpus".to_owned(), Value::from(gpus))));
    let text = format!(
        r#""""The shards of the study {name} as tasks of Ray, and then its last step.

All nodes see the same store, and have the program, the study and its data. A task whose node fails is tried again, and
continues from its checkpoints.
"""
import argparse
import subprocess
import sys

import ray

SHARDS = {shards}
ROUNDS = {rounds}
RUN = {run}
FINISH = {finish}
DIRECTORY = {directory}
ASKED = {asked}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--address", default=None, help="the cluster's address; by default a local one is started")
parser.add_argument("--command", default={program}, help="the program on the nodes")
parser.add_argument("--at-once", type=int, default={at_once}, help="at most so many shards at a time")
options = parser.parse_args()


@ray.remote(max_retries=10, **ASKED)
def shard(number):
    return subprocess.run([options.command, *RUN, "--shard", f"{{number}}/{{SHARDS}}"], cwd=DIRECTORY).returncode


@ray.remote(max_retries=10, **ASKED)
def finish():
    done = subprocess.run([options.command, *FINISH, "--shards", str(SHARDS)], cwd=DIRECTORY, capture_output=True)
    return done.returncode, done.stdout, done.stderr


ray.init(address=options.address)
for _ in range(ROUNDS):
    waiting, running = list(range(1, SHARDS + 1)), {{}}
    while waiting or running:
        while waiting and len(running) < options.at_once:
            number = waiting.pop(0)
            running[shard.remote(number)] = number
        done, _ = ray.wait(list(running))
        for task in done:
            print(f"shard {{running.pop(task)}}/{{SHARDS}} ended with code {{ray.get(task)}}", file=sys.stderr)
code, tables, said = ray.get(finish.remote())
sys.stdout.buffer.write(tables)
sys.stderr.buffer.write(said)
sys.exit(code)
"#,
        name = job.study.name,
        shards = job.shards,
        rounds = rounds(job.study),
        run = list(run_words(job, &named)),
        finish = list(study_words(job, "finish", &named)),
        directory = json!(job.directory.display().to_string()),
        asked = Value::Object(asked),
        program = json!(job.program),
        at_once = job.resources.at_once.unwrap_or(job.shards),
    );
    Ok(vec![Script { name: "shards.py", text }])
}
