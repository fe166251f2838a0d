//! Every malformed store, run and file has an error that names it and says what to do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use common::{about, begin, checkpoint, make_older, predictions, spec, weights};
use dissensus_store::{Remedy, RunId, RunInfo, State, Store, StoreError, Which};
use serde_json::Value;

/// A store with one interrupted run that has everything, and the run's folder.
fn store() -> (tempfile::TempDir, Store, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let mut run = begin(&store, 1);
    run.save_best(&weights(1.0), &predictions(1.0)).unwrap();
    run.save_checkpoint(&checkpoint(2, 100)).unwrap();
    let dir = run.dir().to_owned();
    drop(run);
    (folder, store, dir)
}

fn rm() -> Remedy {
    Remedy::RemoveRun(RunId::of(&spec(1)))
}

fn words(error: &StoreError) -> &'static str {
    match error.remedy() {
        Some(Remedy::Words(words)) => words,
        other => panic!("{error}: {other:?}"),
    }
}

#[test]
fn stores_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let absent = Store::open(folder.path().join("absent")).unwrap_err();
    assert!(absent.to_string().starts_with("there is no store at "), "{absent}");
    assert!(words(&absent).contains("check the path"));
    assert!(matches!(Store::open(folder.path()).unwrap_err(), StoreError::NoStore { .. }));
    // An empty folder becomes a store, one with something else in it does not.
    let file = folder.path().join("thesis.tex");
    fs::write(&file, "x").unwrap();
    for error in [Store::open(folder.path()), Store::create_or_open(folder.path())] {
        let error = error.unwrap_err();
        let message = "is not a store: it has no store.json, but \"thesis.tex\"";
        assert!(error.to_string().ends_with(message), "{error}");
    }
    assert!(matches!(Store::open(&file).unwrap_err(), StoreError::NotAStore { .. }));
    assert!(Store::create_or_open(&file).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn newer_formats_are_refused() {
    let (folder, store, dir) = store();
    let path = dir.join("about.json");
    let text = fs::read_to_string(&path).unwrap();
    // What a newer version holds besides is not looked at.
    fs::write(&path, "{\"format\": 3, \"digests\": []}").unwrap();
    let error = store.run(&RunId::of(&spec(1))).unwrap_err();
    let message =
        "about.json was made by a newer dissensus: its format is 3, this one knows up to 2";
    assert!(error.to_string().ends_with(message), "{error}");
    assert!(words(&error).starts_with("update dissensus"));
    let begun = store.begin(&spec(1), &about(), 5).unwrap_err();
    assert!(matches!(begun, StoreError::Newer { .. }), "{begun}");
    fs::write(&path, text).unwrap();

    // The checkpoint says its format as well.
    let metadata = HashMap::from([("checkpoint".to_owned(), "{\"format\": 3}".to_owned())]);
    let none: [(&str, safetensors::tensor::TensorView<'_>); 0] = [];
    let bytes = safetensors::serialize(none, Some(metadata)).unwrap();
    fs::write(dir.join("checkpoint.safetensors"), bytes).unwrap();
    let error = begin(&store, 1).checkpoint().unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 3, .. }), "{error}");

    fs::write(folder.path().join("store.json"), "{\"format\": 7}").unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("store.json was made by a newer dissensus"), "{error}");
    fs::write(folder.path().join("store.json"), "{\"format\": \"1\"}").unwrap();
    let error = Store::create_or_open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Json { .. }), "{error}");
    assert!(words(&error).contains("restore the file"));
}

#[test]
fn broken_json_is_named_with_its_place() {
    for (name, text, wanted) in [
        ("about.json", "", "EOF while parsing"),
        ("about.json", "{\"format\": 1}", "missing field `digest`"),
        ("about.json", "[]", "invalid length 0"),
        ("spec.json", "{\"seed\": 1,}", "trailing comma"),
    ] {
        let (_folder, store, dir) = store();
        fs::write(dir.join(name), text).unwrap();
        for error in [
            store.run(&RunId::of(&spec(1))).unwrap_err(),
            store.begin(&spec(1), &about(), 5).unwrap_err(),
        ] {
            let message = error.to_string();
            assert!(matches!(error, StoreError::Json { .. }), "{name}: {message}");
            assert!(message.contains(name) && message.contains(wanted), "{message}");
            assert_eq!(error.remedy().unwrap(), rm());
        }
    }
    let (_folder, store, dir) = store();
    fs::write(dir.join("history.jsonl"), "{\"epoch\":1}\n{\"epo").unwrap();
    let error = store.run(&RunId::of(&spec(1))).unwrap().history::<Value>().unwrap_err();
    assert!(error.to_string().contains("history.jsonl is damaged"), "{error}");
    fs::remove_file(dir.join("about.json")).unwrap();
    let error = store.begin(&spec(1), &about(), 5).unwrap_err();
    assert!(error.to_string().contains("about.json"), "{error}");
    assert_eq!(error.remedy().unwrap(), rm());
}

/// What a status says of an unfinished run, its checkpoint says as well.
#[test]
fn a_damaged_status_is_rebuilt_from_the_checkpoint() {
    let id = RunId::of(&spec(1));
    for text in [
        "",
        "{\"state\": \"running\"",
        "{\"state\": \"lost\", \"epoch\": 1, \"planned\": 2, \"updated\": 3, \"process\": 4}",
        "{\"state\": \"finished\", \"epoch\": -1}",
    ] {
        let (_folder, store, dir) = store();
        fs::write(dir.join("status.json"), text).unwrap();
        let status = store.run(&id).unwrap().status;
        assert_eq!((status.state, status.epoch), (State::Interrupted, 2), "{text}");
        let mut run = begin(&store, 1);
        assert_eq!(run.checkpoint().unwrap(), Some(checkpoint(2, 100)));
        run.finish(&Value::Null).unwrap();
        // Of a finished run nothing else says that it is, nor what its files should be.
        fs::write(dir.join("status.json"), text).unwrap();
        for error in [store.run(&id).unwrap_err(), store.begin(&spec(1), &about(), 5).unwrap_err()]
        {
            let message = error.to_string();
            assert!(error.is_damage() && message.contains("status.json"), "{message}");
            assert!([rm(), Remedy::RestoreRun(id.clone())].contains(&error.remedy().unwrap()));
        }
    }
    // Nothing was trained yet: it starts anew.
    let (_folder, store, dir) = store();
    fs::write(dir.join("status.json"), "{").unwrap();
    fs::remove_file(dir.join("checkpoint.safetensors")).unwrap();
    assert_eq!(store.run(&id).unwrap().status.epoch, 0);
    assert_eq!(begin(&store, 1).checkpoint().unwrap(), None);
    // A checkpoint that is damaged, too, is no help.
    fs::write(dir.join("status.json"), "{").unwrap();
    fs::write(dir.join("checkpoint.safetensors"), "{").unwrap();
    assert!(matches!(store.run(&id).unwrap_err(), StoreError::Json { .. }));
}

/// Every file of a finished run that results are made of is as it was written, or refused by name.
#[test]
fn a_flipped_bit_in_a_finished_run_is_noticed() {
    let (_folder, store, dir) = store();
    let mut run = begin(&store, 1);
    run.checkpoint().unwrap();
    run.save_last(&weights(2.0), &predictions(2.0)).unwrap();
    let info = run.finish(&serde_json::json!({"accuracy": 0.9})).unwrap();
    type Read = fn(&RunInfo) -> Option<StoreError>;
    let reads: [(&str, Read); 4] = [
        ("history.jsonl", |info| info.history::<Value>().err()),
        ("result.json", |info| info.result::<Value>().err()),
        ("predictions/best.npz", |info| info.predictions(Which::Best).err()),
        ("predictions/last.npz", |info| info.predictions(Which::Last).err()),
    ];
    for (name, read) in reads {
        assert!(read(&info).is_none(), "{name}");
        let path = dir.join(name);
        let bytes = fs::read(&path).unwrap();
        // A digit of a number for another: what a parser would not notice.
        let mut flipped = bytes.clone();
        let at = flipped.iter().rposition(u8::is_ascii_digit).unwrap();
        flipped[at] ^= 1;
        fs::write(&path, &flipped).unwrap();
        let error = read(&info).expect(name);
        assert!(matches!(error, StoreError::Damaged { .. }), "{name}: {error}");
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(error.remedy().unwrap(), rm());
        fs::remove_file(&path).unwrap();
        assert!(read(&info).is_some(), "{name} is gone");
        fs::write(&path, bytes).unwrap();
        assert!(read(&info).is_none(), "{name}");
    }
    // Without its checksums, the status is not as it was written.
    let status = fs::read_to_string(dir.join("status.json")).unwrap();
    let mut old: Value = serde_json::from_str(&status).unwrap();
    let checksums = old.as_object_mut().unwrap().remove("checksums").unwrap();
    assert_eq!(checksums.as_object().unwrap().len(), 8);
    fs::write(dir.join("status.json"), old.to_string()).unwrap();
    let error = store.run(&RunId::of(&spec(1))).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    // Runs of before have none, and are read as they are.
    fs::write(dir.join("status.json"), status).unwrap();
    make_older(&store, &dir);
    fs::write(dir.join("result.json"), "{\"accuracy\": 0.8}").unwrap();
    let info = store.run(&RunId::of(&spec(1))).unwrap();
    assert_eq!(info.result::<Value>().unwrap().unwrap()["accuracy"], 0.8);
}

#[test]
fn another_spec_is_noticed() {
    let (_folder, store, dir) = store();
    let (id, other) = (RunId::of(&spec(1)), spec(2).to_string());
    // What is said about the run was edited.
    let about_text = fs::read_to_string(dir.join("about.json")).unwrap();
    fs::write(dir.join("about.json"), about_text.replace("\"created\": ", "\"created\": 1"))
        .unwrap();
    assert!(matches!(store.run(&id).unwrap_err(), StoreError::Damaged { .. }));
    // So that the rest is of specs alone.
    fs::write(dir.join("about.json"), about_text).unwrap();
    make_older(&store, &dir);
    let about_text = fs::read_to_string(dir.join("about.json")).unwrap();
    let digest = dissensus_store::digest(&spec(1));
    // The spec was edited.
    let text = fs::read_to_string(dir.join("spec.json")).unwrap();
    fs::write(dir.join("spec.json"), &other).unwrap();
    let error = store.run(&id).unwrap_err();
    let message = format!("digest is {}, expected {digest}", dissensus_store::digest(&spec(2)));
    assert!(error.to_string().ends_with(&message), "{error}");
    assert_eq!(error.remedy().unwrap(), rm());
    // The folder was renamed.
    fs::write(
        dir.join("about.json"),
        about_text.replace(&digest, &dissensus_store::digest(&spec(2))),
    )
    .unwrap();
    let error = store.run(&id).unwrap_err();
    assert!(matches!(error, StoreError::Digest { .. }), "{error}");
    // Two digests that begin alike.
    fs::write(dir.join("spec.json"), text).unwrap();
    let forged = format!("{id}{}", "0".repeat(48));
    fs::write(dir.join("about.json"), about_text.replace(&digest, &forged)).unwrap();
    let error = store.begin(&spec(1), &about(), 5).unwrap_err();
    let StoreError::Collision { expected, found, .. } = &error else { panic!("{error}") };
    assert_eq!((expected, found), (&digest, &forged));
}

#[test]
fn damaged_checkpoints_are_named() {
    let (_folder, store, dir) = store();
    let path = dir.join("checkpoint.safetensors");
    let bytes = fs::read(&path).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        begin(&store, 1).checkpoint().unwrap_err()
    };
    for cut in [0, 7, 8, 40, bytes.len() / 2, bytes.len() - 1] {
        let error = damaged(&bytes[..cut]);
        let StoreError::Checkpoint { id, .. } = &error else { panic!("{error}") };
        assert_eq!(id, &RunId::of(&spec(1)));
        assert_eq!(error.remedy().unwrap(), rm());
    }
    // As after a loss of power: the right length, and zeros.
    let mut zeros = bytes.clone();
    let tail = bytes.len() - 400;
    zeros[tail..].fill(0);
    let error = damaged(&zeros);
    assert!(error.to_string().contains("its checksum is"), "{error}");
    // Weights are no checkpoint.
    let error = damaged(&fs::read(dir.join("best.safetensors")).unwrap());
    assert!(error.to_string().ends_with("it holds tensors but no state"), "{error}");

    // The remedy works.
    store.remove(&RunId::of(&spec(1))).unwrap();
    assert_eq!(begin(&store, 1).checkpoint().unwrap(), None);
}

#[test]
fn damaged_weights_and_predictions_are_named() {
    let (_folder, store, dir) = store();
    let info = store.run(&RunId::of(&spec(1))).unwrap();
    assert_eq!(info.weights(Which::Last).unwrap(), None);
    assert_eq!(info.predictions(Which::Last).unwrap(), None);
    for (name, weights) in [("best.safetensors", true), ("predictions/best.npz", false)] {
        let path = dir.join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let error = match weights {
            true => info.weights(Which::Best).unwrap_err(),
            false => info.predictions(Which::Best).unwrap_err(),
        };
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(error.remedy().unwrap(), rm());
    }
}
