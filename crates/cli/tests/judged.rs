//! Runs that are trained on one dataset of the catalogue and judged on another.
//!
//! The files are not part of the repository; `dissensus_testing::data` says where those of CIFAR-10N and CIFAR-10H, with
//! their images, are looked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::Output;

use common::{program, show};
use tempfile::TempDir;

const SPEC: &str = "\
[data]
dataset = \"cifar10n\"
evaluate_on = \"cifar10h\"
items = 100

[split]
parts = \"train/evaluation\"
shares = [1.0]

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

fn lab() -> TempDir {
    common::folder_with("study.toml", SPEC)
}

/// Runs the program in a folder, with these files of datasets.
fn dissensus(folder: &Path, cache: &Path, arguments: &[&str]) -> Output {
    program(folder, arguments).env("DISSENSUS_CACHE", cache).output().unwrap()
}

#[test]
fn what_is_missing_or_does_not_fit_is_said() {
    let (folder, cache) = (lab(), tempfile::tempdir().unwrap());
    let refused = |set: &str| {
        let arguments = ["train", "study.toml", "--set", set];
        let output = dissensus(folder.path(), cache.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{}", show(&output));
        show(&output)
    };
    let text = refused("data.items=100");
    assert!(text.contains("dissensus data fetch cifar10n"), "{text}");
    // The dataset is there, and what it is to be judged on is not.
    let text = refused("data.dataset=blends");
    assert!(text.contains("data.evaluate_on: "), "{text}");
    assert!(text.contains("dissensus data fetch cifar10h"), "{text}");
    let text = refused("split.shares=[0.8, 0.2]");
    assert!(text.contains("for each part but the last, which is data.evaluate_on"), "{text}");
}

#[test]
fn sparse_votes_judged_on_many() {
    let batches = [1, 2, 3, 4, 5].map(|n| format!("cifar10/data_batch_{n}.bin"));
    let mut files = vec!["cifar10n/CIFAR-10_human.pt", "cifar10h/cifar10h-counts.npy"];
    files.extend(["cifar10h/cifar10h-probs.npy", "cifar10/test_batch.bin"]);
    files.extend(batches.iter().map(String::as_str));
    let Some(cache) = dissensus_testing::data_named("cifar10-train", &files) else { return };
    let folder = lab();
    let run = |arguments: &[&str]| {
        let output = dissensus(folder.path(), &cache, arguments);
        assert!(output.status.success(), "{}", show(&output));
        show(&output)
    };
    let trained = run(&["train", "study.toml"]);
    let said = "the classes of cifar10n and cifar10h are matched by position";
    assert!(trained.contains(said), "{trained}");

    let listed = run(&["runs", "list", "--csv"]);
    let id = |arm: &str| {
        let row = listed.lines().find(|line| line.contains(&format!(",{arm} ·"))).unwrap();
        row.split(',').next().unwrap().to_owned()
    };
    let (soft, sls) = (id("soft"), id("sls"));
    let shown = run(&["runs", "show", &soft]);
    assert!(shown.contains("data        cifar10n, 100 items; "), "{shown}");
    assert!(shown.contains("evaluate on cifar10h, 100 items; "), "{shown}");
    assert!(shown.contains("on 100 items in"), "{shown}");

    // Stored predictions are of CIFAR-10H's items, by their ids, and so are new ones.
    let votes = cache.join("cifar10h/cifar10h-counts.npy");
    let score = |predictions: &str| {
        let votes = votes.to_str().unwrap();
        let given = ["score", "--votes", votes, "--predictions", predictions, "--csv"];
        run(&[&given[..], &["--metrics", "soft_nll", "--replicates", "0"]].concat())
    };
    let stored = score(&format!("runs/runs/{soft}/predictions/best.npz"));
    assert!(stored.contains("\nbest,100,"), "{stored}");
    let value = stored.lines().find(|line| line.starts_with("best,")).unwrap();
    let value: f64 = value.split(',').nth(2).unwrap().parse().unwrap();
    assert!(shown.contains(&format!("{value:.4}")), "{value}: {shown}");
    run(&["predict", &soft, "cifar10h", "--out", "new.npz"]);
    assert!(score("new.npz").contains("\nnew,10000,"));

    // Its data are found again, by its spec.
    let alike = run(&["cka", &soft, &sls, "--spec", "study.toml"]);
    assert!(alike.contains("on 100 items"), "{alike}");
}
