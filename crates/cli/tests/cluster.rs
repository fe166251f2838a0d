//! A study on several machines: shards, a last step, and what is submitted to a cluster.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::process::Output;

use tempfile::TempDir;

use common::{ends, show};

/// Six runs, with a stage of single runs and one that compares seeds.
const STUDY: &str = concat!(
    include_str!("common/small.toml"),
    r#"
[run]
seeds = 3

[stages]
truth = {}
variance = {}
cka = { items = 32 }

[[table]]
name = "main"
down = ["arm"]
metrics = ["soft_nll", "true_kl", "cka"]
against = { arm = "soft" }
"#
);

fn lab() -> TempDir {
    common::folder_with("small.toml", STUDY)
}

fn snapshot(name: &str, output: &Output) {
    let filters = [
        (r"\b\d+\.\d s\b", "TIME"),
        (r"[ −-]\d\.\d{4}\b", " 0.1234"),
        (r"/[^ =']*/\.tmp[0-9A-Za-z]{6}", "/home/me"),
        (r"cannot be started: .*", "cannot be started: WHY"),
    ];
    insta::with_settings!({ filters => filters, omit_expression => true }, {
        insta::assert_snapshot!(name, show(output));
    });
}

/// Shards in any order and a last step give what one machine gives, byte for byte.
#[test]
fn shards_and_a_last_step_are_the_whole_study() {
    let folder = lab();
    let run = |code, more: &[&str]| {
        ends(code, &folder, &[&["study", "run", "small.toml", "--jobs", "1"], more].concat())
    };
    let finish = |code, more: &[&str]| {
        ends(code, &folder, &[&["study", "finish", "small.toml"], more].concat())
    };
    finish(2, &[]);
    snapshot("shard", &run(0, &["--shard", "3/3"]));
    snapshot("finish_missing", &finish(1, &["--shards", "3"]));
    let results = folder.path().join("runs/studies/small/results.csv");
    assert!(!results.exists(), "results of a part");
    // Stages of single runs are done by their shard; those that compare runs are not.
    let stages = || {
        let entries = std::fs::read_dir(folder.path().join("runs/studies/small/stages")).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(name).map(|name| name.to_string_lossy().into_owned()).collect();
        names.iter_mut().for_each(|name| name.truncate(name.find('-').unwrap()));
        names.sort_unstable();
        names
    };
    assert_eq!(stages(), ["measure", "variance"]);
    run(0, &["--shard", "1/3"]);
    run(0, &["--shard", "2/3"]);
    let again = show(&run(0, &["--shard", "2/3"]));
    assert!(again.contains("done before"), "{again}");
    let finished = finish(0, &[]);
    assert!(stages().contains(&"cka".to_owned()));
    let whole = run(0, &["--store", "whole"]);
    assert_eq!(finished.stdout, whole.stdout);
    for file in ["results.csv", "results.parquet", "study.toml"] {
        let read = |store: &str| {
            std::fs::read(folder.path().join(store).join("studies/small").join(file)).unwrap()
        };
        assert!(read("runs") == read("whole"), "{file} differs");
    }
    let refused = show(&ends(2, &folder, &["study", "run", "small.toml", "--shard", "4/3"]));
    assert!(refused.contains("expected I/N, such as 2/8"), "{refused}");
}

/// A shard whose final runs depend on searches of others leaves them out and says so.
#[test]
fn a_grid_takes_two_rounds() {
    let folder = lab();
    let grid = "[grid]\n\"training.learning_rate\" = [0.1, 1e-6]\n\
                [split]\nparts = \"train/validation/test\"\n";
    std::fs::write(folder.path().join("small.toml"), format!("{STUDY}{grid}")).unwrap();
    let run = |shard: &str| {
        show(&ends(0, &folder, &["study", "run", "small.toml", "--jobs", "1", "--shard", shard]))
    };
    assert!(run("1/2").contains("for search runs of other shards"));
    run("2/2");
    assert!(run("1/2").contains("shard 1 of 2 is done"));
    let finished = ends(0, &folder, &["study", "finish", "small.toml"]);
    let whole = ends(0, &folder, &["study", "run", "small.toml", "--store", "whole"]);
    assert_eq!(finished.stdout, whole.stdout);
}

/// What is printed for every system, to be read, applied or run.
#[test]
fn scripts_are_printed() {
    let folder = lab();
    let submit = |code, more: &[&str]| {
        let start =
            ["study", "submit", "small.toml", "--shards", "3", "--program", "/opt/dissensus"];
        ends(code, &folder, &[&start[..], more].concat())
    };
    let slurm =
        ["--on", "slurm", "--gpus", "1", "--cpus", "4", "--memory", "8G", "--time", "4:00:00"];
    let more = ["--partition", "gpu", "--account", "lab", "--at-once", "2", "--jobs", "auto"];
    let extra = ["--extra", "--constraint=a100", "--extra", "--comment=two words", "--dry-run"];
    snapshot("submit_slurm", &submit(0, &[&slurm[..], &more, &extra].concat()));
    let kubernetes = ["--on", "kubernetes", "--image", "example/dissensus:0.1", "--dry-run"];
    let volume = ["--claim", "shared", "--store", "/data/runs", "--gpus", "1", "--memory", "8Gi"];
    snapshot("submit_kubernetes", &submit(0, &[&kubernetes[..], &volume].concat()));
    let scale = ["--arms", "soft", "--seeds", "2", "--set", "training.epochs=3"];
    let ray = ["--on", "ray", "--gpus", "1", "--dry-run"];
    snapshot("submit_ray", &submit(0, &[&ray[..], &scale].concat()));
    let ssh = ["--on", "ssh", "--hosts", "a,b", "--dry-run"];
    snapshot("submit_ssh", &submit(0, &[&ssh[..], &scale].concat()));
    // Nothing was written.
    assert!(!folder.path().join("runs").exists());
    for (name, more) in [
        ("submit_ssh_alone", &["--on", "ssh", "--dry-run"][..]),
        ("submit_kubernetes_alone", &["--on", "kubernetes", "--image", "i", "--dry-run"]),
        ("submit_ray_really", &["--on", "ray"]),
        ("submit_break", &["--on", "slurm", "--extra", "a\nrm -rf /", "--dry-run"]),
    ] {
        snapshot(name, &submit(2, more));
    }
}

/// A store with an address needs no volume, and a grid takes two rounds.
#[test]
fn scripts_follow_the_study() {
    let folder = lab();
    let grid = format!("{STUDY}[grid]\n\"training.learning_rate\" = [0.1, 0.01]\n");
    std::fs::write(folder.path().join("small.toml"), grid).unwrap();
    let print = |more: &[&str]| {
        let start = ["study", "submit", "small.toml", "--shards", "2", "--dry-run", "--on"];
        show(&ends(0, &folder, &[&start[..], more].concat()))
    };
    let yaml = print(&["kubernetes", "--image", "i", "--store", "s3://bucket/runs"]);
    assert!(yaml.contains("shards-2") && yaml.contains("- \"s3://bucket/runs\"\n"), "{yaml}");
    assert!(!yaml.contains("persistentVolumeClaim"), "{yaml}");
    assert!(print(&["ray"]).contains("ROUNDS = 2"));
    assert!(print(&["ssh", "--hosts", "a"]).contains("for round in 1 2; do"));
}

/// Commands of Slurm that write down how they were called, and answer.
#[cfg(unix)]
mod slurm {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::Output;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::{STUDY, common, lab, show, snapshot};

    fn command(folder: &Path, name: &str, text: &str) {
        let path = folder.join("bin").join(name);
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        std::fs::write(
            &path,
            format!("#!/bin/sh\nPATH=/usr/bin:/bin\necho {name} \"$@\" >> calls\n{text}\n"),
        )
        .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn calls(folder: &TempDir) -> String {
        let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
        std::fs::remove_file(folder.path().join("calls")).unwrap();
        calls
            .replace(
                &std::fs::canonicalize(folder.path()).unwrap().display().to_string(),
                "/home/me",
            )
            .replace(&folder.path().display().to_string(), "/home/me")
    }

    fn ends(code: i32, folder: &TempDir, arguments: &[&str]) -> Output {
        let path = folder.path().join("bin");
        let output = common::program(folder.path(), arguments).env("PATH", path).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", show(&output));
        output
    }

    const NUMBERS: &str =
        "n=$(cat number 2> /dev/null || echo 40); n=$((n + 1)); echo $n | tee number";

    /// Final runs wait for the search runs of all shards.
    #[test]
    fn a_grid_is_two_arrays() {
        let folder = lab();
        let grid = format!("{STUDY}[grid]\n\"training.learning_rate\" = [0.1, 0.01]\n");
        std::fs::write(folder.path().join("small.toml"), grid).unwrap();
        command(folder.path(), "sbatch", NUMBERS);
        let submit = ["study", "submit", "small.toml", "--on", "slurm", "--shards", "2"];
        ends(0, &folder, &submit);
        let calls = calls(&folder);
        let after: Vec<_> = calls.lines().map(|line| line.split(' ').nth(2).unwrap()).collect();
        let task = "/home/me/runs/studies/small/cluster/task.sh";
        assert_eq!(
            after,
            [task, "--dependency=afterany:41", "--dependency=afterany:42"],
            "{calls}"
        );
    }

    #[test]
    fn a_study_is_submitted_watched_and_cancelled() {
        let folder = lab();
        let submit = ["study", "submit", "small.toml", "--on", "slurm", "--shards", "3"];
        let status = ["study", "status", "small.toml"];
        // Without Slurm nothing is submitted; and nothing was, so that there is nothing to cancel.
        snapshot("submit_no_slurm", &ends(2, &folder, &submit));
        snapshot("cancel_nothing", &ends(2, &folder, &["study", "cancel", "small.toml"]));
        let before = show(&ends(0, &folder, &status));
        assert!(!before.contains("slurm"), "{before}");

        command(folder.path(), "sbatch", NUMBERS);
        command(folder.path(), "squeue", "cat queue 2> /dev/null; true");
        command(folder.path(), "scancel", "");
        snapshot("submitted", &ends(0, &folder, &submit));
        insta::assert_snapshot!("submitted_calls", calls(&folder));
        let file = |name: &str| {
            std::fs::read_to_string(folder.path().join("runs/studies/small/cluster").join(name))
        };
        assert!(file("task.sh").unwrap().contains("#SBATCH --array=1-3\n"));
        assert!(file("finish.sh").unwrap().contains("study finish"));
        let remembered: Value = serde_json::from_str(&file("submission.json").unwrap()).unwrap();
        assert_eq!((&remembered["arrays"], &remembered["finish"]), (&json!(["41"]), &json!("42")));

        // The queue and the store together; jobs of others are none of ours.
        let queue = "41|1|RUNNING|n7|None\n41|3|PENDING||Resources\n42|N/A|PENDING||Dependency\n\
                     39|2|RUNNING|n1|None\n";
        std::fs::write(folder.path().join("queue"), queue).unwrap();
        ends(0, &folder, &["study", "run", "small.toml", "--shard", "2/3"]);
        snapshot("status_queue", &ends(0, &folder, &status));
        let shown = ends(0, &folder, &[&status[..], &["--json"]].concat()).stdout;
        let shown: Value = serde_json::from_slice(&shown).unwrap();
        let shard = json!({ "shard": 1, "ended": 0, "runs": 2,
            "task": { "state": "running", "node": "n7", "reason": "" } });
        assert_eq!(shown["cluster"]["shards"][0], shard);
        let done = json!({ "shard": 2, "ended": 2, "runs": 2, "task": null });
        assert_eq!(shown["cluster"]["shards"][1], done);
        // Runs of another selection are not those of the shards.
        let other = ends(0, &folder, &[&status[..], &["--json", "--arms", "soft"]].concat());
        let other: Value = serde_json::from_slice(&other.stdout).unwrap();
        assert_eq!(other["cluster"]["shards"][1]["ended"], Value::Null);

        snapshot("submit_again", &ends(2, &folder, &submit));
        calls(&folder);
        snapshot("cancelled", &ends(0, &folder, &["study", "cancel", "small.toml"]));
        assert!(calls(&folder).ends_with("scancel 41 42\n"));
        std::fs::write(folder.path().join("queue"), "").unwrap();
        let after = show(&ends(0, &folder, &status));
        assert!(after.contains("slurm: jobs 41, 42, cancelled"), "{after}");
        let again = show(&ends(0, &folder, &["study", "cancel", "small.toml"]));
        assert!(again.contains("none of its jobs is in the queue"), "{again}");
        ends(0, &folder, &submit);
        // Where the queue cannot be asked, the store still can.
        command(folder.path(), "squeue", "echo no controller >&2; exit 1");
        let status = show(&ends(0, &folder, &status));
        assert!(status.contains("squeue failed: no controller"), "{status}");
        // A pack has no scripts and logs of this machine.
        ends(0, &folder, &["pack", "runs"]);
        ends(0, &folder, &["unpack", "runs.pack", "--store", "copy"]);
        assert!(folder.path().join("copy/studies/small").is_dir());
        assert!(!folder.path().join("copy/studies/small/cluster").exists());
    }
}
