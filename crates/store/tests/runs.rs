//! The life of runs: begun, continued, finished, failed, listed, found, removed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;

use common::{about, begin, checkpoint, predictions, spec, weights};
use dissensus_store::tensorboard::EventWriter;
use dissensus_store::{Begun, RunId, State, Store, StoreError, Which};
use serde_json::{Value, json};

fn names(folder: &std::path::Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| name(e).into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_from_its_beginning_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path().join("new/store")).unwrap();
    let mut run = begin(&store, 1);
    assert_eq!(run.id(), &RunId::of(&spec(1)));
    assert_eq!(run.checkpoint().unwrap(), None);
    let info = store.run(run.id()).unwrap();
    assert_eq!((info.status.state, info.status.epoch, info.status.planned), (State::Running, 0, 5));
    assert_eq!(info.status.process, std::process::id());

    run.save_best(&weights(1.0), &predictions(1.0)).unwrap();
    run.save_checkpoint(&checkpoint(1, 3)).unwrap();
    run.save_best(&weights(2.0), &predictions(2.0)).unwrap();
    run.save_checkpoint(&checkpoint(2, 3)).unwrap();
    assert_eq!(store.run(run.id()).unwrap().status.epoch, 2);
    run.save_last(&weights(3.0), &predictions(3.0)).unwrap();
    let info = run.finish(&json!({"kl": 0.25})).unwrap();

    assert_eq!((info.status.state.clone(), info.status.epoch), (State::Finished, 2));
    assert_eq!((&info.spec, &info.about), (&spec(1), &about()));
    assert_eq!(info.history::<Value>().unwrap(), checkpoint(2, 3).history);
    assert_eq!(info.weights(Which::Best).unwrap().unwrap(), weights(2.0));
    assert_eq!(info.weights(Which::Last).unwrap().unwrap(), weights(3.0));
    assert_eq!(info.predictions(Which::Best).unwrap().unwrap(), predictions(2.0));
    assert_eq!(info.predictions(Which::Last).unwrap().unwrap(), predictions(3.0));
    assert_eq!(info.result::<Value>().unwrap(), Some(json!({"kl": 0.25})));
    let files = [
        "about.json",
        "best.safetensors",
        "history.jsonl",
        "last.safetensors",
        "lock",
        "predictions",
        "result.json",
        "spec.json",
        "status.json",
    ];
    assert_eq!(names(&info.folder), files);
    assert!(info.size_bytes() > 500, "{}", info.size_bytes());

    let again = store.begin(&spec(1), &about(), 5).unwrap();
    assert!(matches!(again, Begun::Finished(found) if found.id == info.id));
}

#[test]
fn an_interrupted_run_is_continued_from_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let mut run = begin(&store, 1);
    run.save_checkpoint(&checkpoint(3, 4)).unwrap();
    let history = run.dir().join("history.jsonl");
    run.interrupt().unwrap();
    assert_eq!(store.find(RunId::of(&spec(1)).as_str()).unwrap().status.state, State::Interrupted);
    // As if the kill had come between the history and a checkpoint that was never written.
    let more = fs::read_to_string(&history).unwrap() + "{\"epoch\":4}\n";
    fs::write(&history, more).unwrap();

    let elsewhere = json!({"code": "dissensus 0.2.0"});
    let Begun::Run(mut run) = store.begin(&spec(1), &elsewhere, 5).unwrap() else {
        panic!("it is not finished")
    };
    assert_eq!(store.run(run.id()).unwrap().status.epoch, 3);
    assert_eq!(run.checkpoint().unwrap(), Some(checkpoint(3, 4)));
    let info = store.run(run.id()).unwrap();
    assert_eq!(info.history::<Value>().unwrap(), checkpoint(3, 4).history);
    assert_eq!(info.result::<Value>().unwrap(), None);
    assert_eq!((info.continued.len(), &info.continued[0].about), (1, &elsewhere));
    assert_eq!(info.about, about());
    // Dropped without a word: its status says running, its lock is free.
    drop(run);
    let info = store.run(&info.id).unwrap();
    assert_eq!(info.status.state, State::Interrupted);
    assert!(fs::read_to_string(info.folder.join("status.json")).unwrap().contains("running"));
}

#[test]
fn a_failed_run_starts_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let mut run = begin(&store, 1);
    run.save_best(&weights(1.0), &predictions(1.0)).unwrap();
    run.save_checkpoint(&checkpoint(3, 4)).unwrap();
    let id = run.id().clone();
    run.fail("the loss is NaN").unwrap();
    let info = store.run(&id).unwrap();
    assert_eq!(info.status.state, State::Failed { reason: "the loss is NaN".to_owned() });

    let mut run = begin(&store, 1);
    assert_eq!(run.checkpoint().unwrap(), None);
    let info = store.run(&id).unwrap();
    assert_eq!((info.status.state.clone(), info.status.epoch), (State::Running, 0));
    assert!(
        info.weights(Which::Best).unwrap().is_none() && info.history::<Value>().unwrap().is_empty()
    );
    assert_eq!(info.predictions(Which::Best).unwrap(), None);
}

#[test]
fn a_locked_run_is_neither_begun_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let run = begin(&store, 1);
    let second = store.begin(&spec(1), &about(), 5).unwrap_err();
    let message = format!("run {} is being trained by process {}", run.id(), std::process::id());
    assert_eq!(second.to_string(), message);
    assert!(matches!(store.remove(run.id()).unwrap_err(), StoreError::Locked { .. }));
    assert_eq!(store.runs().unwrap().runs.len(), 1);
    // Other runs are free.
    drop(begin(&store, 2));
    let id = run.id().clone();
    drop(run);
    store.remove(&id).unwrap();
    assert!(!folder.path().join("runs").join(id.as_str()).exists());
    assert!(matches!(store.remove(&id).unwrap_err(), StoreError::NoRun { .. }));
    assert_eq!(names(&folder.path().join("runs")), [RunId::of(&spec(2)).to_string()]);
}

#[test]
fn what_killed_processes_left_is_swept_away() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let mut run = begin(&store, 1);
    run.save_best(&weights(1.0), &predictions(1.0)).unwrap();
    run.save_checkpoint(&checkpoint(1, 4)).unwrap();
    let (id, dir) = (run.id().clone(), run.dir().to_owned());
    drop(run);
    let runs = folder.path().join("runs");
    fs::write(dir.join(".dissensus-abc"), "half").unwrap();
    fs::write(dir.join("predictions/.dissensus-abc"), "half").unwrap();
    fs::create_dir(runs.join(format!(".new-{}", RunId::of(&spec(2))))).unwrap();
    fs::create_dir_all(runs.join(".removed-x/predictions")).unwrap();
    assert_eq!(store.runs().unwrap().runs.len(), 1);
    assert!(store.runs().unwrap().broken.is_empty());

    // By the next process, once.
    let store = Store::open(folder.path()).unwrap();
    let mut run = begin(&store, 1);
    assert_eq!(run.checkpoint().unwrap(), Some(checkpoint(1, 4)));
    assert!(!names(run.dir()).iter().any(|name| name.starts_with('.')));
    assert_eq!(names(&dir.join("predictions")), ["best.npz"]);
    assert_eq!(names(&runs), [id.to_string()]);
    assert_eq!(names(folder.path()), ["lock", "runs", "store.json"]);
    drop(begin(&store, 2));
}

#[test]
fn listing_tolerates_broken_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let mut dirs: Vec<_> = (1..=4).map(|seed| begin(&store, seed).dir().to_owned()).collect();
    // Creation orders them, not the id: the last by id is the oldest.
    dirs.sort();
    let about = fs::read(dirs[3].join("about.json")).unwrap();
    let mut about: serde_json::Value = serde_json::from_slice(&about).unwrap();
    about["created"] = 5.into();
    about.as_object_mut().unwrap().remove("sha256").unwrap();
    about["sha256"] = dissensus_store::digest(&about).into();
    fs::write(dirs[3].join("about.json"), about.to_string()).unwrap();
    fs::write(dirs[1].join("about.json"), "{").unwrap();
    fs::remove_file(dirs[2].join("spec.json")).unwrap();
    fs::create_dir(folder.path().join("runs/notes")).unwrap();

    let listing = store.runs().unwrap();
    let found: Vec<_> = listing.runs.iter().map(|run| run.folder.clone()).collect();
    assert_eq!(found, [dirs[3].clone(), dirs[0].clone()]);
    let broken: Vec<_> = listing.broken.iter().map(|b| b.folder.clone()).collect();
    assert_eq!(broken, [dirs[1].clone(), dirs[2].clone(), folder.path().join("runs/notes")]);
    assert_eq!(listing.broken.iter().filter(|b| b.id.is_none()).count(), 1);
    // A broken run can be removed, by its prefix.
    let name = dirs[1].file_name().unwrap().to_str().unwrap();
    store.remove(&store.resolve(&name[..12]).unwrap()).unwrap();
    assert_eq!(store.runs().unwrap().broken.len(), 2);
}

#[test]
fn runs_are_found_by_the_beginnings_of_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let empty = store.find("ab").unwrap_err();
    assert_eq!(empty.to_string(), "no run begins with \"ab\"; the store has no runs");
    // Of 40 ids with 16 first digits, two begin alike.
    (0..40).for_each(|seed| drop(begin(&store, seed)));
    let ids = store.ids().unwrap();
    let pair = ids.windows(2).find(|w| w[0].as_str()[..1] == w[1].as_str()[..1]).unwrap();
    let error = store.find(&pair[0].as_str()[..1]).unwrap_err();
    let StoreError::Ambiguous { candidates, .. } = &error else { panic!("{error}") };
    assert!(candidates.contains(&pair[0]) && candidates.contains(&pair[1]), "{error}");
    for id in &ids {
        assert_eq!(&store.find(id.as_str()).unwrap().id, id);
        assert_eq!(&store.resolve(&id.as_str()[..12].to_uppercase()).unwrap(), id);
    }
    let typo = format!("{}x", &ids[7].as_str()[..9]);
    let error = store.find(&typo).unwrap_err();
    let StoreError::NoRun { nearest, .. } = &error else { panic!("{error}") };
    assert_eq!((nearest.len(), &nearest[0]), (3, &ids[7]));
    assert!(matches!(store.resolve("").unwrap_err(), StoreError::NoRun { .. }));
}

#[test]
fn events_lie_in_the_run_and_begin_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let run = begin(&store, 1);
    let begin = || EventWriter::afresh(&run.events_folder()).unwrap();
    let mut events = begin();
    events.scalar("loss", 1, 0.0, 0.5).unwrap();
    events.finish().unwrap();
    let second = begin();
    assert!(second.path().starts_with(run.dir()));
    assert_eq!(names(&run.dir().join("events")).len(), 1);
}

/// What a killed process left goes when the store is opened to be written to; what a live one writes
/// stays.
#[test]
fn orphans_are_swept_when_a_store_is_opened_for_writing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let mut run = begin(&store, 1);
    run.save_checkpoint(&checkpoint(2, 4)).unwrap();
    let dir = run.dir().to_owned();
    let kept = fs::read(dir.join("checkpoint.safetensors")).unwrap();
    run.finish(&json!({})).unwrap();
    // As if the kill had come before the checkpoint of the finished run was removed.
    fs::write(dir.join("checkpoint.safetensors"), &kept).unwrap();
    let mut other = begin(&store, 2);
    other.save_checkpoint(&checkpoint(2, 4)).unwrap();
    let study = folder.path().join("studies/demo/stages");
    fs::create_dir_all(&study).unwrap();
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 24 * 3600);
    let temporary = |folder: &Path| {
        let file = fs::File::create(folder.join(".dissensus-left")).unwrap();
        file.set_modified(yesterday).unwrap();
        file
    };
    drop([folder.path(), &dir, &study].map(temporary));
    let written = temporary(other.dir());
    written.try_lock().unwrap();
    Store::create_or_open(folder.path()).unwrap();
    for left in [folder.path(), &dir, &study] {
        assert!(!left.join(".dissensus-left").exists(), "{}", left.display());
    }
    assert!(!dir.join("checkpoint.safetensors").exists());
    assert!(other.dir().join(".dissensus-left").exists());
    assert!(other.dir().join("checkpoint.safetensors").exists());
}
