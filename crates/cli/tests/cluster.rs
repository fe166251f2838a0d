//! A study on several machines: shards, a last step, and what is submitted to a cluster.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::process::Output;

use tempfile::TempDir;

use common::show;

/// Six runs, with a stage of single runs and one that compares seeds.
const STUDY: &str = r#"
[study]
name = "small"
title = "Soft and sampled labels"

[data]
dataset = "blends"
items = 120
votes_per_item = 5

[model]
name = "smallcnn"
width = 2

[training]
epochs = 2
batch_size = 32

[run]
seeds = 3

[[arm]]
name = "soft"
delivery = "soft"

[[arm]]
name = "drawn"
delivery = "sls"

[stages]
truth = {}
variance = {}
cka = { items = 32 }

[[table]]
name = "main"
down = ["arm"]
metrics = ["soft_nll", "true_kl", "cka"]
against = { arm = "soft" }
"#;

fn lab() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.toml"), STUDY).unwrap();
    folder
}

/// Runs the program, and holds it to its exit code.
fn ends(code: i32, folder: &TempDir, arguments: &[&str]) -> Output {
    let output = common::dissensus(folder.path(), arguments, b"");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", show(&output));
    output
}

fn snapshot(name: &str, output: &Output) {
    let filters = [(r"\b\d+\.\d s\b", "TIME"), (r"[ −-]\d\.\d{4}\b", " 0.1234")];
    insta::with_settings!({ filters => filters, omit_expression => true }, {
        insta::assert_snapshot!(name, show(output));
    });
}

#[test]
fn help() {
    for words in ["study finish"] {
        let arguments: Vec<&str> = words.split(' ').chain(["--help"]).collect();
        snapshot(&format!("help_{}", words.replace(' ', "_")), &ends(0, &lab(), &arguments));
    }
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
