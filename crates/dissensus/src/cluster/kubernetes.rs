//! Kubernetes: an indexed Job with one completion per shard, and a Job that finishes the study.
//!
//! The study is in a ConfigMap. The store is an address, or a folder of a volume that all containers mount
//! at `/data`, and so are the data that the study names.

use dissensus_remote::is_remote_url;
use serde_json::{Map, Value, json};

use super::{ClusterError, ClusterJob, Script, rounds, run_words, study_words, yaml};

pub(super) const NEXT: &str =
    "save it as study.yaml; its first lines are the commands that apply it, one after the other";

/// Where the study is mounted.
const STUDY: &str = "/study/study.toml";
/// Where the volume is mounted.
const DATA: &str = "/data";

pub(super) fn scripts(job: &ClusterJob<'_>) -> Result<Vec<Script>, ClusterError> {
    let needs = |what| ClusterError::Needs { system: "kubernetes", what };
    let image = job.image.as_deref().ok_or_else(|| needs("the image of a container"))?;
    if job.claim.is_none() && !is_remote_url(&job.store) {
        return Err(needs(
            "the claim of a volume that containers share, or a store by its address",
        ));
    }
    let name = label(&job.study.name);
    let shards = job.shards.to_string();
    // A container's index begins at 0. A run that failed fails again, so that it is no reason for another
    // attempt; the last step names it.
    let shell = format!(
        "trap 'kill -TERM \"$run\"' TERM\n\
         \"$@\" --shard \"$((JOB_COMPLETION_INDEX + 1))/{shards}\" & run=$!\n\
         wait \"$run\"; code=$?\n\
         [ \"$code\" -le 130 ] || {{ wait \"$run\"; code=$?; }}\n\
         [ \"$code\" != 1 ] || code=0\n\
         exit \"$code\"\n"
    );
    let mut run = vec!["sh", "-c", &shell, "shard"];
    run.extend(run_words(job, &[STUDY]));
    let mut finish = study_words(job, "finish", &[STUDY]);
    finish.extend(["--shards", &shards]);

    let mut all = vec![resource("v1", "ConfigMap", &format!("{name}-study"), "study")];
    all[0]["data"] = json!({ "study.toml": job.study.to_toml() });
    let mut steps = String::new();
    for round in 1..=rounds(job.study) {
        let (step, first) = (format!("shards-{round}"), if round == 1 { "study, " } else { "" });
        let mut one = resource("batch/v1", "Job", &format!("{name}-{step}"), &step);
        one["spec"] = json!({
            "completions": job.shards,
            "parallelism": job.resources.at_once.unwrap_or(job.shards).min(job.shards),
            "completionMode": "Indexed",
            "backoffLimit": 10 * job.shards,
            "template": { "spec": pod(job, &name, image, &run) },
        });
        all.push(one);
        steps += &format!(
            "#     kubectl apply -f study.yaml -l 'step in ({first}{step})'\n\
             #     kubectl wait --for=condition=complete --timeout=-1s job/{name}-{step}\n"
        );
    }
    let mut last = resource("batch/v1", "Job", &format!("{name}-finish"), "finish");
    last["spec"] =
        json!({ "backoffLimit": 2, "template": { "spec": pod(job, &name, image, &finish) } });
    all.push(last);
    let mut text = format!(
        "# The study {} in {shards} shards: an indexed Job, and one that finishes the study.\n#\n{steps}\
         #     kubectl apply -f study.yaml -l step=finish\n\
         #     kubectl logs -f job/{name}-finish\n#\n\
         # A pod that is stopped or fails is replaced, and continues from its checkpoints. The last step lists what is\n\
         # missing, if anything is.\n",
        job.study.name
    );
    text += &yaml::documents(&all);
    Ok(vec![Script { name: "study.yaml", text }])
}

fn resource(version: &str, kind: &str, name: &str, step: &str) -> Value {
    let metadata = json!({ "name": name, "labels": { "app": "dissensus", "step": step } });
    json!({ "apiVersion": version, "kind": kind, "metadata": metadata })
}

fn pod(job: &ClusterJob<'_>, name: &str, image: &str, words: &[&str]) -> Value {
    let mut mounts = vec![json!({ "name": "study", "mountPath": "/study" })];
    let mut volumes =
        vec![json!({ "name": "study", "configMap": { "name": format!("{name}-study") } })];
    let mut container = json!({ "name": "dissensus", "image": image, "command": words });
    if let Some(claim) = &job.claim {
        mounts.push(json!({ "name": "data", "mountPath": DATA }));
        volumes.push(json!({ "name": "data", "persistentVolumeClaim": { "claimName": claim } }));
        container["workingDir"] = DATA.into();
        container["env"] = json!([{ "name": "DISSENSUS_CACHE", "value": format!("{DATA}/cache") }]);
    }
    let (mut requests, mut limits) = (Map::new(), Map::new());
    let resources = &job.resources;
    requests.extend(resources.cpus.map(|cpus| ("cpu".to_owned(), json!(cpus.to_string()))));
    requests.extend(resources.memory.as_ref().map(|memory| ("memory".to_owned(), json!(memory))));
    limits.extend(resources.gpus.map(|gpus| ("nvidia.com/gpu".to_owned(), json!(gpus))));
    let asked = [("requests", requests), ("limits", limits)];
    let asked = asked.into_iter().filter(|(_, asked)| !asked.is_empty());
    let asked: Map<String, Value> =
        asked.map(|(which, asked)| (which.to_owned(), Value::Object(asked))).collect();
    if !asked.is_empty() {
        container["resources"] = Value::Object(asked);
    }
    container["volumeMounts"] = mounts.into();
    json!({
        "restartPolicy": "Never",
        // Time to end the current epochs.
        "terminationGracePeriodSeconds": 120,
        "containers": [container],
        "volumes": volumes,
    })
}

/// A study's name as Kubernetes takes one: small letters, digits and dashes.
fn label(study: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = study.chars().map(plain).take(40).collect();
    format!("dissensus-{}", name.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_kubernetes() {
        assert_eq!(label("My_study.2-"), "dissensus-my-study-2");
    }
}
