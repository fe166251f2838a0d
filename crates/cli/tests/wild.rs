//! Files as strangers have them, where they lie beside the repository: read right, or refused. The script that
//! comes with them runs the program on each and judges what it says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::Command;

use serde_json::Value;

#[test]
fn files_of_strangers_are_right_or_refused() {
    let Some(root) = dissensus_testing::data(&["wild/check.py"]) else { return };
    let corpus = root.join("wild");
    let folder = tempfile::tempdir().unwrap();
    let found = folder.path().join("found.json");
    let run = Command::new("python3")
        .arg(corpus.join("check.py"))
        .arg(&corpus)
        .arg(env!("CARGO_BIN_EXE_dissensus"))
        .arg("--json")
        .arg(&found)
        .output();
    let Ok(run) = run else {
        return dissensus_testing::skipped("python3", "there is no python3").unwrap_or_default();
    };
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    let files: Value = serde_json::from_slice(&std::fs::read(&found).expect(&told)).unwrap();
    let files = files.as_array().unwrap();
    let count = |kind: &str, verdicts: &[&str]| {
        let fits = |file: &&Value| {
            file["kind"] == kind
                && (verdicts.is_empty() || verdicts.iter().any(|v| file["verdict"] == *v))
        };
        files.iter().filter(fits).count()
    };
    for kind in ["votes", "other"] {
        assert_eq!(count(kind, &["WRONG", "WRONG AFTER", "crash"]), 0, "{told}");
    }
    let (votes, other) = (count("votes", &[]), count("other", &[]));
    assert!(votes > 0 && other > 0, "{told}");
    assert!(10 * count("votes", &["right", "way in"]) >= 9 * votes, "{told}");
    assert!(4 * count("other", &["right"]) >= 3 * other, "{told}");
}
