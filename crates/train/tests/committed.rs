//! The runs of a committed pack, which older versions trained: every result and every row of a history
//! reads as its type, and is written back to the same bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use dissensus_store::{Store, unpack};
use dissensus_train::{EpochRow, RunEnvironment, RunResult};

#[test]
fn committed_runs_are_written_back_to_the_byte() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    unpack(&results.join("same-target-cifar10n/runs.pack"), &path).unwrap();
    let store = Store::open(&path).unwrap();
    let listing = store.runs().unwrap();
    assert!(listing.broken.is_empty() && listing.runs.len() == 12);
    for run in &listing.runs {
        let result: RunResult = run.result().unwrap().unwrap();
        let text = std::fs::read_to_string(run.folder.join("result.json")).unwrap();
        assert_eq!(serde_json::to_string_pretty(&result).unwrap() + "\n", text);
        let (name, part) = result.reported().unwrap();
        assert_eq!((name, part.items, result.input.len()), ("evaluation", 10_000, 3));
        let rows: Vec<EpochRow> = run.history().unwrap();
        let lines = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n");
        let text = std::fs::read_to_string(run.folder.join("history.jsonl")).unwrap();
        assert_eq!(lines.collect::<String>(), text);
        let environment: RunEnvironment = serde_json::from_value(run.about.clone()).unwrap();
        assert!(environment.device.starts_with("NVIDIA H200"), "{environment:?}");
    }
}
