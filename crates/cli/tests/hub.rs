//! Encoders that are named as models of the hub, from a mirror on disk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;

use common::{program, show};
use sha2::{Digest as _, Sha256};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const VOTES: &str = "item,label,text\na,yes,a cat\na,no,a cat\nb,yes,a dog\n";

/// A small model of the BERT family, at the place where a cache has models of the hub.
fn mirror(folder: &Path) {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../embed/tests/golden/bert");
    let place = folder.join("mirror/hub/me--tiny").join(COMMIT);
    fs::create_dir_all(&place).unwrap();
    let mut files = Vec::new();
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        let bytes = fs::read(Path::new(golden).join(name)).unwrap();
        fs::write(place.join(name), &bytes).unwrap();
        let sha256: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        files.push(serde_json::json!({"path": name, "bytes": bytes.len(), "sha256": sha256}));
    }
    let list = serde_json::json!({"repo": "me/tiny", "commit": COMMIT, "files": files});
    fs::write(place.join(".files.json"), list.to_string()).unwrap();
}

#[test]
fn a_model_of_the_hub_is_fetched_and_encodes() {
    let folder = tempfile::tempdir().unwrap();
    mirror(folder.path());
    fs::write(folder.path().join("votes.csv"), VOTES).unwrap();
    let run = |code: i32, arguments: &[&str]| {
        let mut program = program(folder.path(), arguments);
        let output = program.env("DISSENSUS_CACHE", folder.path().join("cache")).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", show(&output));
        show(&output)
    };
    let pinned = format!("hf:me/tiny@{COMMIT}");
    let embed = ["embed", "votes.csv", "--encoder", &pinned, "--out", "vectors.npz"];
    let said = run(2, &embed);
    assert!(said.contains(&format!("hint: run `dissensus data fetch {pinned}`")), "{said}");
    let said = run(2, &["data", "fetch", "hf:me/tiny@main"]);
    assert!(said.contains("40 hexadecimal digits"), "{said}");
    let said = run(0, &["data", "fetch", &pinned, "--from", "mirror"]);
    assert!(said.contains("model.safetensors"), "{said}");
    let said = run(0, &embed);
    assert!(said.contains("me/tiny@0123456789ab: 2 encoded"), "{said}");
    assert!(folder.path().join("vectors.npz").exists());
}
