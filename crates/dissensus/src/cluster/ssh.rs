//! SSH: a shell script that runs the shards on the machines of a list, one at a time on each.
//!
//! All machines see the store under the same path, as on a shared file system, and have the program, the
//! study and its data.

use super::shell::{command, word};
use super::{ClusterError, ClusterJob, Script, rounds, run_words, strs, study_words};

pub(super) const NEXT: &str = "save it as shards.sh and run it: bash shards.sh";

pub(super) fn scripts(job: &ClusterJob<'_>) -> Result<Vec<Script>, ClusterError> {
    if job.hosts.is_empty() {
        return Err(ClusterError::Needs { system: "ssh", what: "the names of machines" });
    }
    let odd = |host: &&String| {
        let plain = |c: char| !c.is_whitespace() && !c.is_control();
        host.is_empty() || host.starts_with('-') || !host.chars().all(plain)
    };
    if let Some(host) = job.hosts.iter().find(odd) {
        return Err(ClusterError::Host { host: host.clone() });
    }
    let named: Vec<&str> = strs(&job.named).collect();
    let directory = job.directory.display().to_string();
    let text = format!(
        r#"#!/bin/bash
# The shards of the study {name} on several machines, which all see the same store; one shard at a time on each.
hosts=({hosts})
shards={shards}
directory={directory}
run={run}
finish={finish}

# The shards of a machine: the first, and every so many more.
machine() {{
    local shard
    for ((shard = $1 + 1; shard <= shards; shard += ${{#hosts[@]}})); do
        ssh -n "${{hosts[$1]}}" "cd $(printf %q "$directory") && $run --shard $shard/$shards" > "shard-$shard.log" 2>&1 ||
            echo "shard $shard on ${{hosts[$1]}} ended with code $?; see shard-$shard.log"
    done
}}

for round in {rounds}; do
    for host in "${{!hosts[@]}}"; do machine "$host" & done
    wait
done
# Lists what is missing, if anything is.
cd "$directory" && eval "$finish --shards $shards"
"#,
        name = job.study.name,
        hosts = job.hosts.iter().map(|host| word(host)).collect::<Vec<_>>().join(" "),
        shards = job.shards,
        directory = word(&directory),
        run = word(&command(&run_words(job, &named))),
        finish = word(&command(&study_words(job, "finish", &named))),
        rounds = (1..=rounds(job.study)).map(|n| n.to_string()).collect::<Vec<_>>().join(" "),
    );
    Ok(vec![Script { name: "shards.sh", text }])
}
