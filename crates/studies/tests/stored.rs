//! Studies that earlier versions stored with their results are still read, and name the same runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dissensus_store::{Store, canonical_json, unpack};
use dissensus_studies::{Study, files};

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The runs of a study, without their data.
fn plans(study: &Study) -> BTreeSet<Vec<u8>> {
    let jobs = common::plan(study).finals(&common::Lab::new().store).unwrap().jobs;
    jobs.iter().map(|job| canonical_json(&serde_json::to_value(&job.run).unwrap())).collect()
}

#[test]
fn a_packed_study_is_read_and_names_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    unpack(&results().join("same-target-cifar10n/runs.pack"), folder.path()).unwrap();
    let store = Store::open(folder.path()).unwrap();
    let text = store.study("same-target-cifar10n").unwrap().read(files::STUDY).unwrap().unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("[spec.data]") && text.contains("judged_on"), "{text}");
    let study = Study::parse_stored(&text, "the stored study").unwrap();
    let planned = plans(&study);
    let stored: BTreeSet<Vec<u8>> =
        store.runs().unwrap().runs.iter().map(|run| canonical_json(&run.spec["run"])).collect();
    assert_eq!(planned.len(), 12);
    assert_eq!(planned, stored);
    // The built-in study of today plans these runs, too.
    assert_eq!(plans(&Study::builtin("same-target-cifar10n").unwrap()), stored);
    // A user's file in these words is refused, and the error says what to write.
    let error = Study::parse(&text, "mine.toml").unwrap_err().to_string();
    assert!(error.starts_with("unknown section [spec] (mine.toml, line 6, column 2)"), "{error}");
    assert!(error.contains("[data] instead of [spec.data]"), "{error}");
}

#[test]
fn committed_studies_are_read_and_plan_the_runs_of_today() {
    for (name, folder) in [
        ("same-target", "same-target"),
        ("same-target-further", "same-target-further"),
        ("same-target-why", "same-target-why"),
        ("soft-label", "soft-label/soft-label"),
        ("soft-label-further", "soft-label/soft-label-further"),
    ] {
        let text = read(&results().join(folder).join("study.toml"));
        let stored = Study::parse_stored(&text, "the stored study").unwrap();
        assert_eq!(stored.name, name);
        let today = Study::builtin(name).unwrap();
        // Grids keep the order of their axes, which is that of their points.
        let axes = |study: &Study| -> Vec<String> {
            study.grid.iter().flat_map(|grid| &grid.axes).map(|axis| axis.path.clone()).collect()
        };
        assert_eq!(axes(&stored), axes(&today));
        if ["same-target", "same-target-further"].contains(&name) {
            assert_eq!(plans(&stored), plans(&today), "{name}");
        }
    }
}
