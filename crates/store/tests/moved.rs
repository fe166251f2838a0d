//! Whole files and folders in the wrong place: what belongs to one run never passes for another's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{about, begin, checkpoint, make_older, predictions, spec, weights};
use dissensus_store::{
    Durability, Made, MadeOf, PackOptions, RunId, RunInfo, State, Store, StoreError, Which, pack,
    sealed, unpack,
};
use serde_json::{Value, json};

struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn store(&self, name: &str) -> Store {
        Store::create_or_open(self.folder.path().join(name)).unwrap()
    }
}

fn id(seed: u64) -> RunId {
    RunId::of(&spec(seed))
}

/// Finishes a run all of whose numbers derive from a value, and gives its folder.
fn finish(store: &Store, seed: u64, value: f32) -> PathBuf {
    let mut run = begin(store, seed);
    run.save_best(&weights(value), &predictions(value)).unwrap();
    run.save_checkpoint(&checkpoint(2, 3)).unwrap();
    run.save_last(&weights(value + 1.0), &predictions(value + 1.0)).unwrap();
    run.finish(&json!({"kl": value})).unwrap().folder
}

/// A run interrupted after its best epoch, and its folder.
fn interrupt(store: &Store, seed: u64, value: f32) -> PathBuf {
    let mut run = begin(store, seed);
    run.save_best(&weights(value), &predictions(value)).unwrap();
    run.save_checkpoint(&checkpoint(2, 3)).unwrap();
    let folder = run.dir().to_owned();
    run.interrupt().unwrap();
    folder
}

/// Uses every file of a run.
fn use_all(store: &Store, seed: u64) -> Result<RunInfo, StoreError> {
    let info = store.run(&id(seed))?;
    info.history::<Value>()?;
    info.result::<Value>()?;
    for which in [Which::Best, Which::Last] {
        info.weights(which)?;
        info.predictions(which)?;
    }
    Ok(info)
}

const FILES: [&str; 9] = [
    "spec.json",
    "about.json",
    "status.json",
    "history.jsonl",
    "result.json",
    "best.safetensors",
    "last.safetensors",
    "predictions/best.npz",
    "predictions/last.npz",
];

fn is_refused(error: &StoreError) -> bool {
    error.is_damage() || matches!(error, StoreError::Digest { .. })
}

#[test]
fn no_file_of_another_run_passes() {
    let lab = Lab::new();
    let (store, other) = (lab.store("a"), lab.store("b"));
    let own = finish(&store, 1, 0.5);
    // A sibling, and the same run in another store with other numbers.
    let foreign = [finish(&store, 2, 0.25), finish(&other, 1, 0.75)];
    use_all(&store, 1).unwrap();
    for (from, name) in foreign.iter().flat_map(|from| FILES.map(|name| (from, name))) {
        let bytes = fs::read(own.join(name)).unwrap();
        let moved = fs::read(from.join(name)).unwrap();
        if moved == bytes {
            // Of one spec there is one text, and these histories are the same.
            assert!(["spec.json", "history.jsonl", "about.json"].contains(&name), "{name}");
            continue;
        }
        fs::write(own.join(name), moved).unwrap();
        let error = use_all(&store, 1).unwrap_err();
        assert!(is_refused(&error), "{name}: {error}");
        assert!(error.to_string().contains(id(1).as_str()), "{name}: {error}");
        // Not packed either, unless it is left out.
        if !name.ends_with(".safetensors") {
            let packed = pack(&store, &lab.folder.path().join("p"), PackOptions::default());
            assert!(is_refused(&packed.unwrap_err()), "{name}");
        }
        fs::write(own.join(name), bytes).unwrap();
    }
    use_all(&store, 1).unwrap();
    // The last epoch as the best, and the other way round.
    for (from, to) in [("last", "best"), ("best", "last")] {
        for ending in ["safetensors", "npz"] {
            let file = |name: &str| match ending {
                "npz" => own.join(format!("predictions/{name}.npz")),
                _ => own.join(format!("{name}.safetensors")),
            };
            let bytes = fs::read(file(to)).unwrap();
            fs::copy(file(from), file(to)).unwrap();
            let error = use_all(&store, 1).unwrap_err();
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            fs::write(file(to), bytes).unwrap();
        }
    }
    // A whole run under the id of another, and weights where the run had none.
    fs::remove_dir_all(&foreign[0]).unwrap();
    fs::rename(&own, &foreign[0]).unwrap();
    let error = use_all(&store, 2).unwrap_err();
    assert!(matches!(error, StoreError::Digest { .. }), "{error}");
    let begun = begin(&store, 3).finish(&json!({})).unwrap();
    fs::copy(foreign[1].join("best.safetensors"), begun.folder.join("best.safetensors")).unwrap();
    let error = use_all(&store, 3).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
}

/// Unfinished, too: what says whose it is must be the run's.
#[test]
fn no_file_of_another_unfinished_run_passes() {
    let lab = Lab::new();
    let store = lab.store("a");
    let (own, sibling) = (interrupt(&store, 1, 0.5), interrupt(&store, 2, 0.25));
    fs::copy(sibling.join("best.safetensors"), own.join("best.safetensors")).unwrap();
    let error = use_all(&store, 1).unwrap_err();
    assert!(error.to_string().contains(&format!("it is of run {}", id(2))), "{error}");
    fs::copy(sibling.join("checkpoint.safetensors"), own.join("checkpoint.safetensors")).unwrap();
    let error = begin(&store, 1).checkpoint().unwrap_err();
    assert!(error.to_string().contains(&format!("it is of run {}", id(2))), "{error}");
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    // A status of another run is made again from the checkpoint, or refused where that is foreign.
    let own = interrupt(&store, 3, 0.5);
    fs::copy(sibling.join("status.json"), own.join("status.json")).unwrap();
    assert_eq!(store.run(&id(3)).unwrap().status.epoch, 2);
    let finished = finish(&store, 4, 1.0);
    fs::copy(finished.join("status.json"), own.join("status.json")).unwrap();
    assert_eq!(store.run(&id(3)).unwrap().status.state, State::Interrupted);
}

/// As in a store of before there were checksums, where this is none.
#[test]
fn checksums_cannot_be_taken_away() {
    let edit = |path: &Path, keys: &[&str], format: Option<u64>| {
        let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        keys.iter().for_each(|key| drop(value.as_object_mut().unwrap().remove(*key)));
        if let Some(format) = format {
            value["format"] = format.into();
        }
        fs::write(path, value.to_string()).unwrap();
    };
    let cases: [(&str, &[&str], Option<u64>); 6] = [
        ("status.json", &["sha256"], None),
        ("status.json", &["sha256", "checksums"], None),
        ("status.json", &["sha256", "checksums", "run"], None),
        ("about.json", &["sha256"], None),
        ("about.json", &["sha256"], Some(1)),
        ("../../store.json", &["sha256"], None),
    ];
    for (name, keys, format) in cases {
        let lab = Lab::new();
        let own = finish(&lab.store("a"), 1, 0.5);
        edit(&own.join(name), keys, format);
        let opened = Store::open(lab.folder.path().join("a"));
        let error = opened.and_then(|store| use_all(&store, 1)).unwrap_err();
        assert!(is_refused(&error), "{name} without {keys:?}: {error}");
    }
    // A run of the first version, copied into a newer store; from a pack, it is taken.
    let lab = Lab::new();
    let (new, old) = (lab.store("new"), lab.store("old"));
    let run = finish(&old, 1, 0.5);
    make_older(&old, &run);
    let old = lab.store("old");
    use_all(&old, 1).unwrap();
    finish(&new, 2, 0.5);
    let copied = new.path().join("runs").join(id(1).as_str());
    fs::create_dir_all(copied.join("predictions")).unwrap();
    FILES.iter().for_each(|name| {
        fs::copy(run.join(name), copied.join(name)).unwrap();
    });
    let error = use_all(&new, 1).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    fs::remove_dir_all(copied).unwrap();
    let file = lab.folder.path().join("old.pack");
    pack(&old, &file, PackOptions::default()).unwrap();
    unpack(&file, new.path()).unwrap();
    use_all(&new, 1).unwrap();
    use_all(&new, 2).unwrap();
    unpack(&file, &lab.folder.path().join("third")).unwrap();
    use_all(&lab.store("third"), 1).unwrap();
    // What an interrupted run of the first version left is continued.
    let run = interrupt(&old, 3, 0.5);
    make_older(&old, &run);
    let mut continued = begin(&old, 3);
    assert!(continued.checkpoint().unwrap().is_some());
    assert_eq!(continued.best_weights().unwrap(), weights(0.5));
    continued.finish(&json!({})).unwrap();
    use_all(&old, 3).unwrap();
}

/// A run that continues does not finish with files of the best epoch that it did not save.
#[test]
fn a_run_that_continues_knows_its_best_epoch() {
    type Harm = fn(&Path, &Path);
    let harms: [(&str, Harm); 4] = [
        ("foreign", |file, other| {
            fs::copy(other, file).unwrap();
        }),
        ("gone", |file, _| fs::remove_file(file).unwrap()),
        ("cut", |file, _| {
            let bytes = fs::read(file).unwrap();
            fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("emptied", |file, _| fs::write(file, "").unwrap()),
    ];
    for ((how, harm), name) in harms
        .iter()
        .flat_map(|harm| ["best.safetensors", "predictions/best.npz"].map(|n| (harm, n)))
    {
        let lab = Lab::new();
        let store = lab.store("a");
        let (own, other) = (interrupt(&store, 1, 0.5), interrupt(&store, 2, 0.25));
        let before = fs::read(own.join(name)).unwrap();
        harm(&own.join(name), &other.join(name));
        let mut run = begin(&store, 1);
        assert!(run.checkpoint().unwrap().is_some());
        run.save_checkpoint(&checkpoint(3, 3)).unwrap();
        if name.ends_with(".npz") {
            assert_eq!(run.best_weights().unwrap(), weights(0.5));
            run.restore_best(&predictions(0.5)).unwrap();
        } else {
            let error = run.best_weights().unwrap_err();
            assert!(matches!(error, StoreError::BestLost { .. }), "{how}: {error}");
            run.restart().unwrap();
            assert!(!own.join(name).exists() && run.checkpoint().unwrap().is_none());
            run.save_best(&weights(0.5), &predictions(0.5)).unwrap();
        }
        assert_eq!(fs::read(own.join(name)).unwrap(), before, "{how}");
        run.finish(&json!({})).unwrap();
        use_all(&store, 1).unwrap();
    }
    // Finished by somebody who does not ask, the file is not taken over.
    let lab = Lab::new();
    let store = lab.store("a");
    let (own, other) = (interrupt(&store, 1, 0.5), interrupt(&store, 2, 0.25));
    fs::copy(other.join("best.safetensors"), own.join("best.safetensors")).unwrap();
    let mut run = begin(&store, 1);
    run.checkpoint().unwrap();
    assert!(matches!(run.finish(&json!({})), Err(StoreError::Foreign { .. })));
    assert_eq!(store.run(&id(1)).unwrap().status.state, State::Interrupted);
}

#[test]
fn what_is_no_folder_of_a_run_is_named() {
    let lab = Lab::new();
    let store = lab.store("a");
    let own = finish(&store, 1, 0.5);
    let aside = lab.folder.path().join("aside");
    fs::rename(&own, &aside).unwrap();
    let refused = |wanted: &str, hint: &str| {
        let store = lab.store("a");
        let begun = store.begin(&spec(1), &about(), 5).map(drop);
        for error in [begun, store.run(&id(1)).map(drop), store.get(&id(1)).map(drop)] {
            let error = error.unwrap_err();
            assert!(error.to_string().contains(wanted), "{error}");
            assert!(format!("{:?}", error.remedy()).contains(hint), "{error}");
        }
        assert_eq!(store.runs().unwrap().broken.len(), 1, "{wanted}");
        assert!(pack(&store, &lab.folder.path().join("p"), PackOptions::default()).is_err());
    };
    fs::write(&own, "x").unwrap();
    refused("is a file, where the folder of a run should be", "move it away");
    fs::remove_file(&own).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(lab.folder.path().join("nowhere"), &own).unwrap();
        refused("is a broken link, where", "move it away");
        fs::remove_file(&own).unwrap();
    }
    let mut capitals = id(1).as_str().to_uppercase();
    assert!(capitals.bytes().any(|byte| byte.is_ascii_uppercase()), "{capitals}");
    let place = own.with_file_name(&capitals);
    fs::rename(&aside, &place).unwrap();
    if !own.exists() {
        refused("is a name with capitals", "lower case");
        // One of them is enough.
        let letter = capitals.rfind(|c: char| c.is_ascii_uppercase()).unwrap();
        capitals = capitals.to_lowercase();
        capitals.replace_range(letter..=letter, &id(1).as_str()[letter..=letter].to_uppercase());
        fs::rename(&place, own.with_file_name(&capitals)).unwrap();
        refused("is a name with capitals", "lower case");
        fs::rename(own.with_file_name(&capitals), &own).unwrap();
        use_all(&lab.store("a"), 1).unwrap();
    }
}

fn made(store: &Store, seed: u64) -> Made {
    let from = store.run(&id(seed)).unwrap().predictions_digest().unwrap();
    Made { rows: 1, from, code: "0.2.0".into(), ..Made::default() }
}

#[test]
fn a_result_of_a_stage_is_of_its_run() {
    let lab = Lab::new();
    let store = lab.store("a");
    let study = store.study("s").unwrap();
    let name = |seed: u64| format!("stages/geometry-1/{}.json", id(seed));
    for seed in [1, 2] {
        finish(&store, seed, seed as f32);
        let made = made(&store, seed);
        study.write_made(&name(seed), b"[1]", &made, Durability::Process).unwrap();
    }
    let file = |name: &str| study.path().join(name);
    let (own, record) = (file(&name(1)), file(&format!("{}.made", name(1))));
    let kept = fs::read(&record).unwrap();
    // With its record, it is that of another run.
    fs::copy(file(&name(2)), &own).unwrap();
    fs::copy(file(&format!("{}.made", name(2))), &record).unwrap();
    let refused = || {
        let error = study.read_made(&name(1)).unwrap_err();
        assert!(error.is_damage(), "{error}");
        assert!(pack(&store, &lab.folder.path().join("p"), PackOptions::default()).is_err());
        error.to_string()
    };
    assert!(refused().contains("it was computed as stages/geometry-1/"));
    // The name taken away, and the record.
    let mut value: Value = serde_json::from_slice(&kept).unwrap();
    value.as_object_mut().unwrap().remove("file").unwrap();
    fs::write(&record, value.to_string()).unwrap();
    refused();
    fs::remove_file(&record).unwrap();
    assert!(refused().contains("is gone"));
    fs::write(&record, kept).unwrap();
    study.read_made(&name(1)).unwrap().unwrap();
}

#[test]
fn a_study_of_less_is_not_packed() {
    let lab = Lab::new();
    let store = lab.store("a");
    let study = store.study("s").unwrap();
    let name = format!("stages/geometry-1/{}.json", id(1));
    (1..=3).for_each(|seed| drop(finish(&store, seed, seed as f32)));
    study.write_made(&name, b"[1]", &made(&store, 1), Durability::Process).unwrap();
    let runs = (1..=3).map(|seed| id(seed).to_string()).collect();
    let of = MadeOf { runs, files: [name.clone()].into() };
    let text = sealed("[study]\n");
    let files: [(&str, &[u8]); 2] = [("study.toml", text.as_bytes()), ("results.csv", b"1\n")];
    study.write_about("about.json", json!({"format": 1}), &of, &files, Durability::Power).unwrap();
    let file = lab.folder.path().join("p");
    let packed = || pack(&store, &file, PackOptions { force: true, ..Default::default() });
    packed().unwrap();
    assert_eq!(study.made_of().unwrap(), of);
    // A run, or a result, that somebody took away.
    let folder = store.run(&id(2)).unwrap().folder;
    let aside = lab.folder.path().join("aside");
    fs::rename(&folder, &aside).unwrap();
    let error = packed().unwrap_err().to_string();
    assert!(error.contains(&format!("what is gone: run {}", id(2))), "{error}");
    fs::rename(&aside, &folder).unwrap();
    packed().unwrap();
    fs::remove_file(study.path().join(&name)).unwrap();
    assert!(packed().unwrap_err().to_string().contains("is gone"));
    fs::remove_file(study.path().join(format!("{name}.made"))).unwrap();
    let error = packed().unwrap_err().to_string();
    assert!(error.contains(&format!("what is gone: {name}")), "{error}");
    // The text of another study, or of this one with other settings.
    let own = fs::read(study.path().join("study.toml")).unwrap();
    fs::write(study.path().join("study.toml"), sealed("[study]\nname = 's'\n")).unwrap();
    let error = study.read_text("study.toml").unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    fs::write(study.path().join("study.toml"), own).unwrap();
    // Removed on purpose, it is not asked for.
    store.remove(&id(1)).unwrap();
    packed().unwrap();
    assert!(study.made_of().unwrap().files.is_empty());
}

/// What one process removes is not what another has added meanwhile.
#[test]
fn results_stay_with_a_run_that_is_removed_and_unpacked_at_once() {
    let lab = Lab::new();
    let store = lab.store("a");
    finish(&store, 1, 0.5);
    let study = store.study("s").unwrap();
    let name = |at: usize| format!("stages/geometry-{at}/{}.json", id(1));
    for at in 0..8 {
        study.write_made(&name(at), b"[1]", &made(&store, 1), Durability::Process).unwrap();
    }
    let file = lab.folder.path().join("whole.pack");
    pack(&store, &file, PackOptions::default()).unwrap();
    for round in 0..60 {
        let store = lab.store("a");
        std::thread::scope(|scope| {
            let removing = scope.spawn(|| store.remove(&id(1)));
            // As early as it can be.
            while store.path().join("runs").join(id(1).as_str()).exists() {
                std::hint::spin_loop();
            }
            unpack(&file, store.path()).unwrap();
            removing.join().unwrap().unwrap();
        });
        use_all(&store, 1).unwrap();
        for at in 0..8 {
            let kept = store.study("s").unwrap().read_made(&name(at)).unwrap();
            assert!(kept.is_some(), "round {round}: {} is lost", name(at));
        }
    }
}
