//! `dissensus train`: specs that are refused, runs that are trained, and what is printed of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use common::{dissensus, show};

/// Two small runs: a second or so without optimization.
const SPEC: &str = "\
[data]
dataset = \"blends\"
items = 60

[model]
name = \"smallcnn\"
width = 2

[delivery]
methods = [\"soft\", \"sls\"]

[training]
epochs = 2
batch_size = 16

[run]
seeds = 1
";

/// A folder with the spec in it.
fn lab() -> TempDir {
    common::folder_with("study.toml", SPEC)
}

/// What differs from machine to machine, and with the version of a spec.
const VARIABLE: [(&str, &str); 5] = [
    (r"\b[0-9a-f]{16}\b", "0123456789abcdef"),
    (r",-?\d\.\d{4}\b", ",0.1234"),
    (r"[ -]\d\.\d{4}\b", " 0.1234"),
    (r"selected epoch \d", "selected epoch N"),
    (r"\b\d+\.\d s\b", "TIME"),
];

fn snapshot(name: &str, output: &Output) {
    insta::with_settings!({ filters => VARIABLE, omit_expression => true }, {
        insta::assert_snapshot!(name, show(output));
    });
}

/// A value with its numbers left out, and of a list the first only.
fn shape(value: &Value) -> Value {
    match value {
        Value::Number(_) => "a number".into(),
        Value::String(text) if text.len() == 16 => "an id".into(),
        Value::String(text) if text.starts_with(env!("CARGO_PKG_VERSION")) => "a version".into(),
        Value::String(text) if text.starts_with("CPU, ") => "a CPU".into(),
        Value::Array(list) => list.first().map(shape).into_iter().collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn the_template_is_a_spec() {
    let folder = lab();
    let template = dissensus(folder.path(), &["train", "--template"]);
    assert!(template.status.success() && template.stderr.is_empty());
    let text = String::from_utf8(template.stdout).unwrap();
    let head: Vec<&str> = text.lines().take(12).collect();
    insta::assert_snapshot!("template_head", head.join("\n"));
    // It is a spec: small enough, it can be trained as it is.
    std::fs::write(folder.path().join("template.toml"), text).unwrap();
    let listed = dissensus(folder.path(), &["train", "template.toml", "--dry-run"]);
    assert_eq!(String::from_utf8(listed.stdout).unwrap().lines().count(), 9);
}

#[test]
fn a_spec_that_is_wrong_is_refused() {
    let folder = lab();
    let refused = |name: &str, arguments: &[&str]| {
        let output = dissensus(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}", show(&output));
        snapshot(name, &output);
    };
    std::fs::write(folder.path().join("typo.toml"), SPEC.replace("epochs", "epoch")).unwrap();
    refused("error_unknown_key", &["train", "typo.toml"]);
    refused("error_set_key", &["train", "study.toml", "--set", "training.rat=0.1"]);
    refused("error_set_value", &["train", "study.toml", "--set", "training.epochs=many"]);
    refused("error_set_form", &["train", "study.toml", "--set", "training.epochs"]);
    refused("error_precision", &["train", "study.toml", "--set", "run.precision=f64"]);
    refused("error_device", &["train", "study.toml", "--set", "run.device=gpu"]);
    refused("error_no_spec", &["train", "missing.toml"]);
    refused("error_metric", &["train", "study.toml", "--metrics", "soft_nl"]);
    std::fs::write(folder.path().join("votes.csv"), "item,annotator,label\na,w,x\n").unwrap();
    let own = "data = { votes = 'votes.csv', inputs = 'pictures' }\ndelivery.methods = 'soft'\n";
    std::fs::write(folder.path().join("own.toml"), own).unwrap();
    refused("error_no_inputs", &["train", "own.toml"]);
}

#[test]
fn a_dry_run_trains_nothing() {
    let folder = lab();
    let dry = || dissensus(folder.path(), &["train", "study.toml", "--dry-run"]);
    snapshot("dry_run", &dry());
    assert!(!folder.path().join("runs").exists());
    assert!(dissensus(folder.path(), &["train", "study.toml"]).status.success());
    snapshot("dry_run_done", &dry());
    // Large generated data are not made: they would take minutes.
    let large = ["train", "study.toml", "--dry-run", "--set", "data.items=655360"];
    let large = show(&dissensus(folder.path(), &large));
    assert!(large.contains("blends: 655360 items") && large.contains("–  "), "{large}");
}

#[test]
fn a_small_training() {
    let folder = lab();
    let train = |more: &[&str]| {
        let arguments = [&["train", "study.toml", "--jobs", "1"], more].concat();
        dissensus(folder.path(), &arguments)
    };
    let first = train(&[]);
    snapshot("train", &first);
    // What is done is not trained again, and says the same.
    let again = train(&[]);
    snapshot("train_again", &again);
    assert_eq!(first.stdout, again.stdout);
    snapshot("train_csv", &train(&["--csv", "--metrics", "kl,accuracy", "--last"]));
    let json = train(&["--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    insta::assert_snapshot!("train_json", serde_json::to_string_pretty(&shape(&json)).unwrap());
    let arms = json["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 2);
    // Processors round differently, and by far less than this.
    for (metric, known) in [
        ("soft_nll", [2.308769, 2.303431]),
        ("kl", [1.562356, 1.557019]),
        ("soft_brier", [0.557830, 0.556666]),
    ] {
        for (arm, known) in arms.iter().zip(known) {
            let figures = arm["figures"].as_array().unwrap();
            let found = figures.iter().find(|figure| figure["metric"] == metric).unwrap();
            let found = found["mean"].as_f64().unwrap();
            assert!((found - known).abs() < 1e-4, "{metric} of {}: {found}", arm["arm"]);
        }
    }
    // Another setting is another run.
    let other = show(&train(&["--set", "training.epochs=1"]));
    assert!(!other.contains("done before"), "{other}");
}

#[test]
fn a_run_that_diverges_fails_and_the_others_go_on() {
    let folder = lab();
    let arguments = ["train", "study.toml", "--set", "training.learning_rate=1e10", "--jobs", "1"];
    let output = dissensus(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", show(&output));
    let text = show(&output);
    for label in ["soft · all votes · seed 0", "sls · all votes · seed 0"] {
        assert!(text.contains(&format!("  {label}: ")), "{text}");
    }
    assert!(text.contains("failed: 2 of 2 runs"), "{text}");
}
