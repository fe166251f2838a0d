//! `dissensus store sync`, and `study run` with a bucket, which is a folder here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{ends, show};
use dissensus::store::{Begun, Logits, Store, Tensors};
use serde_json::json;

/// A finished run of a store; its id.
fn finish(store: &Path, seed: u64, value: f32) -> String {
    let store = Store::create_or_open(store).unwrap();
    let Begun::Run(run) = store.begin(&json!({"seed": seed}), &json!({}), 1).unwrap() else {
        panic!("it is finished")
    };
    let names = |list: [&str; 2]| list.map(str::to_owned).to_vec();
    let logits =
        Logits::new(vec![value, 0.5, 1.5, 2.5], names(["a", "b"]), names(["x", "y"])).unwrap();
    run.save_best(&Tensors::new(), &logits).unwrap();
    run.save_last(&Tensors::new(), &logits).unwrap();
    run.finish(&json!({"kl": value})).unwrap().id.to_string()
}

#[test]
fn stores_are_kept_in_step_with_a_bucket() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let url = format!("file://{}", folder.join("bucket").display());
    (0..3).for_each(|seed| drop(finish(&folder.join("a"), seed, 1.0)));
    let sync = |code, arguments: &[&str]| {
        let output = ends(code, folder, &[&["store", "sync"], arguments].concat());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&output.stdout), text(&output.stderr))
    };
    let (table, _) = sync(0, &["a", &url, "--dry-run"]);
    assert!(table.contains("would push         3       0\n"), "{table}");
    assert!(!folder.join("bucket").exists());
    let (table, said) = sync(0, &["a", &url]);
    assert!(table.contains("pushed             3       0  "), "{table}");
    assert_eq!(said, "");
    let (table, _) = sync(0, &["b", &url, "--pull"]);
    assert!(table.contains("pulled             3       0  "), "{table}");

    // Other predictions under the same id.
    let id = finish(&folder.join("c"), 2, 1.5);
    let (table, said) = sync(1, &["c", &url]);
    assert!(table.contains("pulled             2       0  "), "{table}");
    let expected = format!("different: runs/{id} has other predictions in the bucket");
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn addresses_and_stores_that_are_none() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let url = format!("file://{}", folder.join("bucket").display());
    let said = |arguments: &[&str]| show(&ends(2, folder, arguments));
    let text = said(&["store", "sync", "none", &url, "--push"]);
    assert!(text.contains("there is no store at none"), "{text}");
    let text = said(&["store", "sync", "a", "s3://key:hunter2@lab/x"]);
    assert!(text.contains("credentials come from the environment"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    let text = said(&["store", "sync", "a", "runs/b"]);
    assert!(text.contains("the address of the bucket has no scheme"), "{text}");
    let text = said(&["study", "run", "demo", "--local", "here"]);
    assert!(text.contains("runs is no bucket"), "{text}");
}

const STUDY: &str = "\
[study]
name = 'mine'
[data]
dataset = 'blends'
items = 60
[model]
name = 'smallcnn'
width = 2
[training]
epochs = 1
[run]
seeds = 1
[[arm]]
name = 'soft'
delivery = 'soft'
[[arm]]
name = 'majority'
delivery = 'majority'
";

#[test]
fn a_study_is_shared_through_a_bucket() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    std::fs::write(folder.join("mine.toml"), STUDY).unwrap();
    let url = format!("file://{}", folder.join("bucket").display());
    let run = |more: &[&str]| {
        let start = ["study", "run", "mine.toml", "--store", &url];
        show(&ends(0, folder, &[&start, more].concat()))
    };
    run(&["--arms", "soft", "--local", "one"]);
    run(&["--arms", "majority", "--local", "two"]);
    let text = run(&["--local", "three"]);
    assert!(text.contains("pulled 2 runs from file://"), "{text}");
    assert_eq!(text.matches("done before").count(), 2, "{text}");
    let status = ["study", "status", "mine.toml", "--store", &url, "--local", "four"];
    let text = show(&ends(0, folder, &status));
    assert!(text.contains("all runs are done"), "{text}");

    // What cannot be pushed stays here, and is pushed later.
    std::fs::remove_dir_all(folder.join("bucket")).unwrap();
    std::fs::write(folder.join("bucket"), "in the way").unwrap();
    let start = ["study", "run", "mine.toml", "--store", &url, "--local", "five"];
    ends(2, folder, &start);
    std::fs::remove_file(folder.join("bucket")).unwrap();
    run(&["--local", "three"]);
    let text = run(&["--local", "five"]);
    assert!(text.contains("pulled 2 runs from file://"), "{text}");
}
