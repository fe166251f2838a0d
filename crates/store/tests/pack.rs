//! Stores packed into one file, carried, and merged; and files that are no such thing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use common::{about, begin, checkpoint, predictions, spec, weights};
use dissensus_store::{
    Durability, Made, PackOptions, Remedy, RunId, State, Store, StoreError, Which, pack, unpack,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// A store in a folder that goes with it.
struct Place {
    folder: TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path().join("store")).unwrap();
        Self { folder, store }
    }

    fn finish(&self, seed: u64, value: f32) {
        let mut run = begin(&self.store, seed);
        run.save_best(&weights(value), &predictions(value)).unwrap();
        run.save_checkpoint(&checkpoint(2, 3)).unwrap();
        run.save_last(&weights(value), &predictions(value + 1.0)).unwrap();
        run.finish(&json!({"kl": value})).unwrap();
    }

    fn fail(&self, seed: u64) {
        begin(&self.store, seed).fail("it diverged").unwrap();
    }

    fn interrupt(&self, seed: u64) {
        let mut run = begin(&self.store, seed);
        run.save_checkpoint(&checkpoint(3, 4)).unwrap();
        run.interrupt().unwrap();
    }

    fn pack(&self) -> PathBuf {
        let file = self.folder.path().join("carried.tar.zst");
        pack(&self.store, &file, PackOptions::default()).unwrap();
        file
    }

    fn state(&self, seed: u64) -> Option<State> {
        self.store.get(&id(seed)).unwrap().map(|run| run.status.state)
    }

    fn study(&self, name: &str, file: &str, text: &str) {
        let study = self.store.study(name).unwrap();
        study.write(file, text.as_bytes(), Durability::Process).unwrap();
    }

    /// Every file below the store, with its bytes; without locks, which are empty.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn each(folder: &Path, root: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    each(&path, root, files);
                } else if path.file_name().unwrap() != "lock" {
                    let name = path.strip_prefix(root).unwrap().to_owned();
                    files.push((name, fs::read(&path).unwrap()));
                }
            }
        }
        let mut files = Vec::new();
        each(self.store.path(), self.store.path(), &mut files);
        files.sort();
        files
    }
}

fn id(seed: u64) -> RunId {
    RunId::of(&spec(seed))
}

/// The entries of a pack: name and bytes.
fn entries(file: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = fs::read(file).unwrap();
    let mut archive = tar::Archive::new(zstd::Decoder::new(&bytes[..]).unwrap());
    let entry = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().to_str().unwrap().to_owned(), bytes)
    };
    archive.entries().unwrap().map(entry).collect()
}

/// An archive of these entries; a name is written as it is, whatever it says.
fn archive(path: &Path, entries: &[(String, Vec<u8>)], kind: tar::EntryType) {
    let mut tar = tar::Builder::new(Vec::new());
    for (at, (name, bytes)) in entries.iter().enumerate() {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(if at == 0 { tar::EntryType::Regular } else { kind });
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, &bytes[..]).unwrap();
    }
    fs::write(path, zstd::encode_all(&tar.into_inner().unwrap()[..], 1).unwrap()).unwrap();
}

/// A manifest that fits these files.
fn manifest(runs: &[&str], files: &[(String, Vec<u8>)]) -> (String, Vec<u8>) {
    let hex = |bytes: &[u8]| -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let files: Vec<_> = files
        .iter()
        .map(|(path, bytes)| json!({"path": path, "bytes": bytes.len(), "sha256": hex(bytes)}))
        .collect();
    let text = json!({"format": 1, "made_by": "test", "runs": runs, "files": files}).to_string();
    ("manifest.json".to_owned(), text.into_bytes())
}

#[test]
fn what_is_packed_comes_back() {
    let from = Place::new();
    from.finish(1, 0.5);
    from.fail(2);
    from.interrupt(3);
    from.study("demo", "results.csv", "a,b\n");
    from.study("demo", "stages/measure/x.csv", "1\n");
    let file = from.folder.path().join("new/carried.tar.zst");
    let packed = pack(&from.store, &file, PackOptions::default()).unwrap();
    let mut runs = vec![id(1), id(2)];
    runs.sort();
    assert_eq!((packed.runs, packed.studies), (runs.clone(), vec!["demo".to_owned()]));
    assert_eq!(packed.left_out, [(id(3).to_string(), "it has not ended".to_owned())]);
    let names: Vec<String> = entries(&file).into_iter().map(|(name, _)| name).collect();
    assert_eq!((names[0].as_str(), names.len()), ("manifest.json", packed.files + 1));
    assert!(names[1..].is_sorted());
    assert!(!names.iter().any(|name| name.ends_with("safetensors") || name.ends_with("lock")));

    let to = Place::new();
    let unpacked = unpack(&file, to.store.path()).unwrap();
    assert_eq!((unpacked.added, unpacked.studies[0].added), (runs, 2));
    let there = to.store.run(&id(1)).unwrap();
    assert_eq!(there.result::<Value>().unwrap(), Some(json!({"kl": 0.5})));
    assert_eq!(there.predictions(Which::Best).unwrap().unwrap(), predictions(0.5));
    assert_eq!(there.predictions(Which::Last).unwrap().unwrap(), predictions(1.5));
    assert_eq!((there.about.clone(), there.history::<Value>().unwrap().len()), (about(), 2));
    assert_eq!(there.weights(Which::Best).unwrap(), None);
    assert_eq!(to.state(2), Some(State::Failed { reason: "it diverged".into() }));
    assert_eq!(to.state(3), None);
    // Packed again, it is the same file; and unpacked again, nothing changes.
    assert_eq!(fs::read(to.pack()).unwrap(), fs::read(&file).unwrap());
    let before = to.files();
    let again = unpack(&file, to.store.path()).unwrap();
    assert_eq!((again.added.len(), again.kept.len(), again.studies[0].added), (0, 2, 0));
    assert_eq!(to.files(), before);
}

#[test]
fn best_weights_come_along_where_they_are_asked_for() {
    let (from, to) = (Place::new(), Place::new());
    from.finish(1, 0.5);
    let file = from.folder.path().join("with.tar.zst");
    pack(&from.store, &file, PackOptions { best_weights: true, ..PackOptions::default() }).unwrap();
    unpack(&file, to.store.path()).unwrap();
    let there = to.store.run(&id(1)).unwrap();
    assert_eq!(there.weights(Which::Best).unwrap().unwrap(), weights(0.5));
    assert_eq!(there.weights(Which::Last).unwrap(), None);
}

#[test]
fn stores_merge_and_nothing_finished_is_lost() {
    let (from, to) = (Place::new(), Place::new());
    from.finish(1, 0.5);
    to.finish(1, 0.5);
    from.finish(2, 0.5);
    to.finish(2, 0.75);
    from.finish(3, 0.5);
    to.interrupt(3);
    from.finish(4, 0.5);
    to.fail(4);
    from.fail(5);
    to.finish(5, 0.5);
    from.fail(6);
    to.interrupt(6);
    from.finish(7, 0.5);
    let training = begin(&to.store, 7);
    from.study("demo", "results.csv", "theirs");
    to.study("demo", "results.csv", "ours");
    from.study("demo", "timings.csv", "");
    to.finish(8, 0.5);
    let unpacked = unpack(&from.pack(), to.store.path()).unwrap();

    let sorted = |seeds: &[u64]| {
        let mut ids: Vec<RunId> = seeds.iter().map(|&seed| id(seed)).collect();
        ids.sort();
        ids
    };
    assert_eq!(unpacked.added, []);
    assert_eq!(unpacked.replaced, sorted(&[3, 4]));
    assert_eq!(unpacked.kept, sorted(&[1, 5, 6]));
    assert_eq!(unpacked.differing, [id(2)]);
    assert_eq!(unpacked.left.len(), 1);
    assert!(unpacked.left[0].1.contains("is being trained"), "{:?}", unpacked.left);
    let [study] = &unpacked.studies[..] else { panic!("{:?}", unpacked.studies) };
    assert_eq!((study.added, &study.differing[..]), (1, &["results.csv".to_owned()][..]));
    let results = to.store.study("demo").unwrap().read("results.csv").unwrap().unwrap();
    assert_eq!(results, b"ours");
    // Ours stays where both are finished.
    let ours = to.store.run(&id(2)).unwrap().predictions(Which::Best).unwrap().unwrap();
    assert_eq!(ours, predictions(0.75));
    for seed in [1, 2, 3, 4, 5, 8] {
        assert_eq!(to.state(seed), Some(State::Finished), "{seed}");
    }
    assert_eq!(to.state(6), Some(State::Interrupted));
    drop(training);
    // The checkpoint of the replaced run is gone with it, and the run can be read and packed.
    assert!(!to.store.run(&id(3)).unwrap().folder.join("checkpoint.safetensors").exists());
    assert_eq!(unpack(&from.pack(), to.store.path()).unwrap().replaced, [id(7)]);
}

#[test]
fn an_archive_that_is_cut_short_changes_nothing() {
    let (from, to) = (Place::new(), Place::new());
    from.finish(1, 0.5);
    from.finish(2, 0.5);
    from.study("demo", "results.csv", "a");
    to.finish(3, 0.5);
    let bytes = fs::read(from.pack()).unwrap();
    let before = to.files();
    let cut = from.folder.path().join("cut");
    for length in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        fs::write(&cut, &bytes[..length]).unwrap();
        let error = unpack(&cut, to.store.path()).unwrap_err();
        assert!(matches!(error, StoreError::Pack { .. }), "{length}: {error}");
        assert!(
            matches!(error.remedy(), Some(Remedy::Words(w)) if w.contains("copy the file whole"))
        );
    }
    assert_eq!(to.files(), before);
    let left: Vec<_> = fs::read_dir(to.store.path()).unwrap().map(|e| e.unwrap()).collect();
    assert!(left.iter().all(|e| !e.file_name().to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn damage_is_noticed() {
    let (from, to) = (Place::new(), Place::new());
    from.finish(1, 0.5);
    let bytes = fs::read(from.pack()).unwrap();
    let before = to.files();
    let file = from.folder.path().join("damaged");
    let (whole, mut noticed) = (zstd::decode_all(&bytes[..]).unwrap(), 0);
    for at in (0..bytes.len()).step_by(11) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        fs::write(&file, &damaged).unwrap();
        // A bit that the compression does not use changes nothing.
        let harmless = zstd::decode_all(&damaged[..]).is_ok_and(|found| found == whole);
        if !harmless {
            assert!(unpack(&file, to.store.path()).is_err(), "byte {at} of {}", bytes.len());
            assert_eq!(to.files(), before);
            noticed += 1;
        }
    }
    assert!(noticed > 100, "{noticed}");
    // Other bytes in a file, in an archive that is whole.
    let mut inside = entries(&from.pack());
    let at = inside.iter().position(|(name, _)| name.ends_with("best.npz")).unwrap();
    inside[at].1[200] ^= 1;
    archive(&file, &inside, tar::EntryType::Regular);
    let error = unpack(&file, to.store.path()).unwrap_err().to_string();
    assert!(error.contains("has other bytes than were packed"), "{error}");
    inside.remove(at);
    archive(&file, &inside, tar::EntryType::Regular);
    let error = unpack(&file, to.store.path()).unwrap_err().to_string();
    assert!(error.contains("where runs/"), "{error}");
    let other = vec![("readme.txt".to_owned(), b"hello".to_vec())];
    archive(&file, &other, tar::EntryType::Regular);
    let error = unpack(&file, to.store.path()).unwrap_err().to_string();
    assert!(error.contains("does not begin with manifest.json"), "{error}");
    assert_eq!(to.files(), before);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let to = Place::new();
    let before = to.files();
    let file = to.folder.path().join("tricky");
    let run = id(1).to_string();
    for name in [
        "../out.txt",
        "/tmp/out.txt",
        "store.json",
        "runs/x.json",
        "runs/../../out.txt",
        "runs/0123456789abcdef/../../out.txt",
        "runs/0123456789abcdef/checkpoint.safetensors",
        "runs/0123456789abcdef/predictions/../x",
        "runs/0123456789abcdeg/spec.json",
        "studies/demo/../../out.txt",
        "studies/demo/.hidden",
        "studies/../x/y",
        "studies/demo",
        "studies//x",
        "C:/out.txt",
    ] {
        let files = vec![(name.to_owned(), b"x".to_vec())];
        let runs: Vec<&str> = name
            .strip_prefix("runs/")
            .and_then(|rest| Some(rest.split_once('/')?.0))
            .into_iter()
            .collect();
        let all = [vec![manifest(&runs, &files)], files].concat();
        archive(&file, &all, tar::EntryType::Regular);
        let error = unpack(&file, to.store.path()).unwrap_err().to_string();
        assert!(error.contains("is not a file of a store"), "{name}: {error}");
    }
    // The entry, not the manifest, has the trick.
    let good = vec![("studies/demo/results.csv".to_owned(), b"x".to_vec())];
    let bad = vec![("../results.csv".to_owned(), b"x".to_vec())];
    archive(&file, &[vec![manifest(&[], &good)], bad].concat(), tar::EntryType::Regular);
    assert!(unpack(&file, to.store.path()).is_err());
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory] {
        archive(&file, &[vec![manifest(&[], &good)], good.clone()].concat(), kind);
        let error = unpack(&file, to.store.path()).unwrap_err().to_string();
        assert!(error.contains("is not a plain file"), "{error}");
    }
    let newer =
        String::from_utf8(manifest(&[], &good).1).unwrap().replace("\"format\":1", "\"format\":3");
    let all = [vec![("manifest.json".to_owned(), newer.into_bytes())], good.clone()].concat();
    archive(&file, &all, tar::EntryType::Regular);
    assert!(matches!(unpack(&file, to.store.path()).unwrap_err(), StoreError::Newer { .. }));
    // Twice, more than the manifest has, and a run that is not what it says.
    let twice = [good.clone(), good.clone()].concat();
    archive(&file, &[vec![manifest(&[], &twice)], twice].concat(), tar::EntryType::Regular);
    assert!(unpack(&file, to.store.path()).unwrap_err().to_string().contains("twice"));
    let more = [good.clone(), vec![("studies/demo/x".to_owned(), vec![])]].concat();
    archive(&file, &[vec![manifest(&[], &good)], more].concat(), tar::EntryType::Regular);
    assert!(
        unpack(&file, to.store.path()).unwrap_err().to_string().contains("not in its manifest")
    );
    let alone = vec![(format!("runs/{run}/spec.json"), b"{}".to_vec())];
    archive(&file, &[vec![manifest(&[&run], &alone)], alone].concat(), tar::EntryType::Regular);
    assert!(unpack(&file, to.store.path()).unwrap_err().to_string().contains("its run"));
    assert_eq!(to.files(), before);
    assert!(!to.folder.path().join("out.txt").exists());
}

#[test]
fn a_run_of_another_spec_is_refused() {
    let (from, to) = (Place::new(), Place::new());
    from.finish(1, 0.5);
    let mut files = entries(&from.pack());
    files.remove(0);
    let spec = files.iter_mut().find(|(name, _)| name.ends_with("spec.json")).unwrap();
    spec.1 = common::spec(2).to_string().into_bytes();
    let file = from.folder.path().join("other");
    let run = id(1).to_string();
    archive(&file, &[vec![manifest(&[&run], &files)], files].concat(), tar::EntryType::Regular);
    let error = unpack(&file, to.store.path()).unwrap_err().to_string();
    assert!(error.contains("digest"), "{error}");
    assert_eq!(to.store.ids().unwrap(), []);
}

#[test]
fn what_a_killed_one_left_is_swept_and_a_living_one_is_not() {
    let (from, to) = (Place::new(), Place::new());
    from.finish(1, 0.5);
    let left = to.store.path().join(".unpack-left");
    fs::create_dir_all(left.join("runs")).unwrap();
    fs::write(left.join("lock"), "").unwrap();
    let living = to.store.path().join(".unpack-living");
    fs::create_dir_all(&living).unwrap();
    let lock = fs::File::create(living.join("lock")).unwrap();
    lock.lock().unwrap();
    unpack(&from.pack(), to.store.path()).unwrap();
    assert!(!left.exists() && living.exists());
    assert_eq!(to.state(1), Some(State::Finished));
}

/// A run or a study that lies elsewhere, or a loop of links, is refused by name and not followed.
#[cfg(unix)]
#[test]
fn links_are_not_packed() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.finish(1, 0.5);
    place.study("demo", "results.csv", "a,b\n");
    let file = place.folder.path().join("carried.tar.zst");
    let (runs, secret) = (place.store.path().join("runs"), place.folder.path().join("secret"));
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("key.txt"), "sk-1").unwrap();
    let own = runs.join(id(1).as_str());
    let study = place.store.path().join("studies/demo");
    for (target, link) in [
        (own.clone(), own.join("events")),
        (secret.clone(), study.join("stages")),
        (secret.join("key.txt"), study.join("key.txt")),
        (secret.clone(), place.store.path().join("studies/elsewhere")),
    ] {
        symlink(target, &link).unwrap();
        let error = pack(&place.store, &file, PackOptions::default()).unwrap_err();
        assert!(matches!(&error, StoreError::NotPlain { path, .. } if *path == link), "{error}");
        assert!(error.to_string().contains("is a symbolic link"), "{error}");
        assert!(!file.exists());
        fs::remove_file(&link).unwrap();
    }
    place.pack();
}

/// What was computed from a run is carried, and removed, with the run.
#[test]
fn stage_results_go_where_their_run_goes() {
    let place = Place::new();
    place.finish(1, 0.5);
    place.interrupt(2);
    let stage = |seed: u64| format!("stages/measure-0/{}.csv", id(seed));
    let study = place.store.study("demo").unwrap();
    for seed in [1, 2] {
        let made = Made { rows: 1, from: "ab".into(), ..Made::default() };
        study.write_made(&stage(seed), b"a,b\n", &made, Durability::Process).unwrap();
    }
    place.study("demo", "results.csv", "a,b\n");
    let other = Place::new();
    unpack(&place.pack(), other.store.path()).unwrap();
    let files = |place: &Place| place.store.study("demo").unwrap().files().unwrap();
    let of = |seed: u64| ["results.csv".into(), stage(seed), format!("{}.made", stage(seed))];
    assert_eq!(files(&other), of(1));
    place.store.remove(&id(1)).unwrap();
    assert_eq!(files(&place), of(2));
}

/// Zeros of which a few bytes make many, as the manifest says itself.
#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let place = Place::new();
    place.finish(1, 0.5);
    let file = place.pack();
    let packed = fs::metadata(&file).unwrap().len();
    let mut text = String::new();
    let mut archive =
        tar::Archive::new(zstd::Decoder::new(fs::File::open(&file).unwrap()).unwrap());
    archive.entries().unwrap().next().unwrap().unwrap().read_to_string(&mut text).unwrap();
    let mut manifest: Value = serde_json::from_str(&text).unwrap();
    manifest["files"][0]["bytes"] = json!(3u64 << 30);
    let bomb = place.folder.path().join("bomb.tar.zst");
    let mut tar =
        tar::Builder::new(zstd::Encoder::new(fs::File::create(&bomb).unwrap(), 1).unwrap());
    let bytes = serde_json::to_vec(&manifest).unwrap();
    let mut header = tar::Header::new_ustar();
    header.set_path("manifest.json").unwrap();
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    tar.append(&header, &bytes[..]).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    let other = place.folder.path().join("other");
    let error = unpack(&bomb, &other).unwrap_err().to_string();
    assert!(error.contains("unpack to more than 1073741824, 200 times as much"), "{error}");
    assert!(packed < 1 << 20 && !other.exists());
}

/// The manifest of a pack says what is in it; the status of a run says what it must have.
#[test]
fn a_finished_run_without_its_files_is_refused() {
    let (from, other) = (Place::new(), Place::new());
    from.finish(1, 0.5);
    other.finish(1, 0.25);
    let [whole, others] = [&from, &other].map(|place| entries(&place.pack())[1..].to_vec());
    let run = id(1).to_string();
    for name in ["predictions/best.npz", "predictions/last.npz", "result.json", "history.jsonl"] {
        let path = format!("runs/{run}/{name}");
        let place = whole.iter().position(|(name, _)| *name == path).unwrap();
        let mut less = whole.clone();
        less.remove(place);
        let mut foreign = whole.clone();
        foreign[place].1 = others[place].1.clone();
        for (files, wanted) in [(less, "is gone"), (foreign, "is damaged")] {
            if files == whole {
                continue;
            }
            let place = Place::new();
            let file = place.folder.path().join("made.pack");
            let all = [vec![manifest(&[&run], &files)], files].concat();
            archive(&file, &all, tar::EntryType::Regular);
            let error = unpack(&file, place.store.path()).unwrap_err();
            assert!(matches!(error, StoreError::Pack { .. }), "{name}: {error}");
            assert!(error.to_string().contains(wanted), "{name}: {error}");
            assert_eq!(place.state(1), None);
        }
    }
}
