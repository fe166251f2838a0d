//! Stores kept in step with a bucket, which is a folder here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{carried, files, finish, id, spec, stage};
use dissensus_core::Cancel;
use dissensus_remote::{Remote, SyncCounts, SyncDirection, SyncFilter, SyncOptions, Synced};
use dissensus_store::{Begun, Durability, Item, State, Store, sealed};
use serde_json::json;
use tempfile::TempDir;

/// Stores and a bucket, in a folder that goes with them.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bucket(&self) -> PathBuf {
        self.path("bucket/prefix")
    }

    fn remote(&self) -> Remote {
        Remote::open(&format!("file://{}", self.bucket().display())).unwrap()
    }

    fn store(&self, name: &str) -> Store {
        Store::create_or_open(self.path(name)).unwrap()
    }

    fn sync(&self, name: &str) -> Synced {
        self.remote().sync(&self.path(name), &SyncOptions::default()).unwrap()
    }

    fn sync_with(&self, name: &str, options: SyncOptions<'_>) -> Synced {
        self.remote().sync(&self.path(name), &options).unwrap()
    }

    /// The objects of the bucket, sorted.
    fn objects(&self) -> Vec<String> {
        let mut files: Vec<String> =
            files(&self.bucket()).into_iter().map(|(name, _)| name).collect();
        files.sort();
        files
    }
}

fn counts(counts: &SyncCounts) -> (usize, usize) {
    (counts.runs, counts.files)
}

#[test]
fn a_store_comes_back_from_a_bucket_to_the_byte() {
    let place = Place::new();
    let a = place.store("a");
    for seed in 0..5 {
        finish(&a, seed, seed as f32);
        stage(&a, seed, "metric,value\nkl,0.5\n");
    }
    let text = sealed("[study]\nname = 's'\n");
    a.study("s").unwrap().write("study.toml", text.as_bytes(), Durability::Process).unwrap();
    // What is not carried: an unfinished run, a failed one, and what is made from the others.
    drop(a.begin(&spec(77), &json!({}), 1).unwrap());
    let Begun::Run(failing) = a.begin(&spec(78), &json!({}), 1).unwrap() else { panic!() };
    failing.fail("it diverged").unwrap();

    let dry = place.sync_with("a", SyncOptions { dry_run: true, ..SyncOptions::default() });
    assert_eq!((counts(&dry.pushed), place.objects().len()), ((5, 6), 0));
    let pushed = place.sync("a");
    assert_eq!((counts(&pushed.pushed), counts(&pushed.pulled)), ((5, 6), (0, 0)));
    assert!(!pushed.has_problems() && pushed.failed.is_empty() && !pushed.unconditional);
    assert_eq!(place.objects().len(), 11);
    let again = place.sync("a");
    assert_eq!((counts(&again.pushed), counts(&again.same)), ((0, 0), (5, 6)));

    let dry = place.sync_with("b", SyncOptions { dry_run: true, ..SyncOptions::default() });
    assert_eq!((counts(&dry.pulled), place.path("b").exists()), ((5, 6), false));
    let pulled = place.sync("b");
    assert_eq!((counts(&pulled.pulled), pulled.pulled.bytes), ((5, 6), pushed.pushed.bytes));
    fs::remove_dir_all(place.path("a/runs").join(id(77).as_str())).unwrap();
    fs::remove_dir_all(place.path("a/runs").join(id(78).as_str())).unwrap();
    assert_eq!(carried(&place.path("a")), carried(&place.path("b")));
    let run = place.store("b").run(&id(3)).unwrap();
    assert_eq!(run.status.state, State::Finished);
}

#[test]
fn each_direction_alone_and_a_study_alone() {
    let place = Place::new();
    let (a, b) = (place.store("a"), place.store("b"));
    finish(&a, 1, 1.0);
    finish(&a, 2, 2.0);
    finish(&b, 3, 3.0);
    stage(&a, 1, "x");
    let way = |direction| SyncOptions { direction, ..SyncOptions::default() };
    assert_eq!(place.sync_with("a", way(SyncDirection::Pull)), Synced::default());
    assert_eq!(counts(&place.sync_with("a", way(SyncDirection::Push)).pushed), (2, 1));
    assert_eq!(counts(&place.sync_with("b", way(SyncDirection::Push)).pushed), (1, 0));
    assert_eq!(a.ids().unwrap().len(), 2);
    // Of another study, nothing but the runs that it shares.
    let of = |study: &str| SyncFilter { runs: [id(1), id(3)].into(), study: study.into() };
    let (other, own) = (of("other"), of("s"));
    let only = |filter| SyncOptions { only: Some(filter), ..SyncOptions::default() };
    assert_eq!(counts(&place.sync_with("c", only(&other)).pulled), (2, 0));
    assert_eq!(counts(&place.sync_with("c", only(&own)).pulled), (0, 1));
    let absent = place.remote().sync(&place.path("none"), &way(SyncDirection::Push));
    assert!(absent.unwrap_err().to_string().contains("there is no store"));
}

#[test]
fn two_results_of_one_run_are_named_and_neither_is_moved() {
    let place = Place::new();
    let (a, b) = (place.store("a"), place.store("b"));
    finish(&a, 1, 1.0);
    finish(&b, 1, 1.5);
    finish(&b, 2, 2.0);
    place.sync("a");
    let before = carried(&place.path("b/runs").join(id(1).as_str()));
    let synced = place.sync("b");
    assert_eq!(synced.conflicts.len(), 1);
    let conflict = &synced.conflicts[0];
    assert_eq!((&conflict.item, conflict.there.len()), (&Item::Run(id(1)), 1));
    assert!(conflict.here.is_some() && conflict.here.as_ref() != conflict.there.first());
    assert!(synced.has_problems());
    // Others are moved all the same.
    assert_eq!(counts(&synced.pushed), (1, 0));
    assert_eq!(carried(&place.path("b/runs").join(id(1).as_str())), before);
    // Both in the bucket, as two that push at the same moment leave it: who has neither gets none.
    let version = b.run(&id(1)).unwrap().predictions_digest().unwrap();
    let pack = b.pack_item(&Item::Run(id(1)), &version).unwrap();
    fs::write(place.bucket().join(Item::Run(id(1)).pack_name(&version)), pack).unwrap();
    let synced = place.sync("c");
    assert_eq!((synced.conflicts[0].there.len(), counts(&synced.pulled)), (2, (1, 0)));
    assert!(place.store("c").get(&id(1)).unwrap().is_none());
    assert!(place.sync("a").conflicts[0].there.len() == 2);
}

/// The same run of another machine has other times, and the same predictions.
#[test]
fn the_same_result_of_two_machines_is_one() {
    let place = Place::new();
    finish(&place.store("a"), 1, 1.0);
    finish(&place.store("b"), 1, 1.0);
    place.sync("a");
    let synced = place.sync("b");
    assert_eq!(
        (counts(&synced.same), counts(&synced.pushed), synced.conflicts),
        ((1, 0), (0, 0), vec![])
    );
    assert_eq!(place.objects().len(), 1);
}

#[test]
fn many_push_at_once_and_nothing_is_lost_or_twice() {
    let place = Place::new();
    let names: Vec<String> = (0..8).map(|worker| format!("worker{worker}")).collect();
    for (worker, name) in names.iter().enumerate() {
        let store = place.store(name);
        for seed in (0..6).chain([100 + worker as u64, 200 + worker as u64]) {
            finish(&store, seed, seed as f32);
        }
    }
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| assert!(!place.sync(name).has_problems()));
        }
    });
    assert_eq!(place.objects().len(), 6 + 16);
    let synced = place.sync("all");
    assert_eq!((counts(&synced.pulled), synced.has_problems()), ((22, 0), false));
    for name in &names {
        assert!(!place.sync(name).has_problems());
        assert_eq!(place.store(name).ids().unwrap().len(), 22);
    }
}

#[test]
fn a_finished_run_replaces_an_unfinished_one_and_not_one_in_training() {
    let place = Place::new();
    let (a, b) = (place.store("a"), place.store("b"));
    finish(&a, 1, 1.0);
    finish(&a, 2, 2.0);
    place.sync("a");
    drop(b.begin(&spec(1), &json!({}), 1).unwrap());
    let held = b.begin(&spec(2), &json!({}), 1).unwrap();
    let synced = place.sync("b");
    assert_eq!(counts(&synced.pulled), (1, 0));
    assert_eq!(synced.failed[0].name, format!("runs/{}", id(2)));
    assert!(synced.failed[0].reason.contains("is being trained by"), "{synced:?}");
    drop(held);
    assert_eq!(counts(&place.sync("b").pulled), (1, 0));
}

#[test]
fn what_is_damaged_is_not_pushed_and_what_is_not_what_its_name_says_is_not_taken() {
    let place = Place::new();
    let a = place.store("a");
    finish(&a, 1, 1.0);
    finish(&a, 2, 2.0);
    stage(&a, 2, "metric,value\nkl,0.5\n");
    // Damaged here.
    let predictions = a.run(&id(1)).unwrap().predictions_path(dissensus_store::Which::Best);
    let whole = fs::read(&predictions).unwrap();
    fs::write(&predictions, &whole[..whole.len() - 1]).unwrap();
    let synced = place.sync("a");
    assert_eq!(counts(&synced.pushed), (1, 1));
    assert!(synced.failed[0].reason.contains("best.npz is damaged"), "{synced:?}");
    fs::write(&predictions, &whole).unwrap();
    assert_eq!(counts(&place.sync("a").pushed), (1, 0));

    // Damaged there: any byte, cut, empty, another run's, or larger than it may be.
    let objects = place.objects();
    let run = |seed| {
        let start = format!("runs/{}", id(seed));
        place.bucket().join(objects.iter().find(|name| name.starts_with(&start)).unwrap())
    };
    let (one, two) = (run(1), run(2));
    let (good, other) = (fs::read(&one).unwrap(), fs::read(&two).unwrap());
    let mut variants =
        vec![Vec::new(), good[..good.len() / 2].to_vec(), other, b"no pack".to_vec()];
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut flipped = good.clone();
        flipped[at] ^= 1 << (at % 8);
        variants.push(flipped);
    }
    for (variant, content) in variants.iter().enumerate() {
        fs::write(&one, content).unwrap();
        let name = format!("b{variant}");
        let synced = place.sync(&name);
        // Some bits of a compressed file have no meaning: then nothing is damaged.
        if counts(&synced.pulled) == (2, 1) {
            let (all, run) = (files(a.path()), format!("runs/{}/", id(1)));
            for file in
                files(place.store(&name).path()).iter().filter(|(name, _)| name.starts_with(&run))
            {
                assert!(all.contains(file), "{variant}: {} has changed", file.0);
            }
            continue;
        }
        assert_eq!(counts(&synced.pulled), (1, 1), "{variant}");
        assert_eq!(synced.failed[0].name, format!("runs/{}", id(1)), "{variant}");
        let store = place.store(&name);
        assert_eq!(store.ids().unwrap(), [id(2)], "{variant}");
        let left: Vec<_> = files(store.path()).into_iter().map(|(name, _)| name).collect();
        assert!(!left.iter().any(|name| name.contains(".unpack-")), "{left:?}");
    }
    // A version that is not the content's.
    fs::write(&one, &good).unwrap();
    let other = one
        .display()
        .to_string()
        .replace(&a.run(&id(1)).unwrap().predictions_digest().unwrap(), &"ab".repeat(32));
    fs::rename(&one, other).unwrap();
    let synced = place.sync("c");
    assert!(synced.failed[0].reason.contains("its content has the version"), "{synced:?}");
}

#[test]
fn results_of_other_predictions_are_not_taken() {
    let place = Place::new();
    let (a, b) = (place.store("a"), place.store("b"));
    finish(&a, 1, 1.0);
    stage(&a, 1, "metric,value\nkl,0.5\n");
    place.sync("a");
    // The bucket has the results, but not the run that they are of.
    fs::remove_dir_all(place.bucket().join("runs")).unwrap();
    let synced = place.sync("c");
    assert_eq!((synced.without_run, synced.has_problems()), (1, false), "{synced:?}");
    finish(&b, 1, 1.5);
    let synced = place
        .sync_with("b", SyncOptions { direction: SyncDirection::Pull, ..SyncOptions::default() });
    assert!(synced.failed[0].reason.contains("from other predictions"), "{synced:?}");
    assert_eq!(b.study("s").unwrap().files().unwrap(), Vec::<String>::new());
}

#[test]
fn results_without_a_record_are_not_pushed_and_counted() {
    let place = Place::new();
    let a = place.store("a");
    for seed in [1, 2] {
        finish(&a, seed, 1.0);
        stage(&a, seed, "metric,value\nkl,0.5\n");
    }
    let record = format!("stages/measure-1/{}.csv.made", id(1));
    fs::remove_file(a.study("s").unwrap().path().join(record)).unwrap();
    let pull = SyncOptions { direction: SyncDirection::Pull, ..SyncOptions::default() };
    assert_eq!(place.sync_with("a", pull).unrecorded, 0);
    let synced = place.sync("a");
    assert_eq!((counts(&synced.pushed), synced.unrecorded), ((2, 1), 1), "{synced:?}");
    assert!(!synced.has_problems());
}

#[test]
fn names_that_lead_elsewhere_are_not_read() {
    let place = Place::new();
    finish(&place.store("a"), 1, 1.0);
    place.sync("a");
    let version = "ab".repeat(32);
    for name in ["runs/x.pack", "runs/deep/er.pack", "studies/s/results.csv", "studies/note.txt"] {
        let path = place.bucket().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    fs::write(place.bucket().join(format!("runs/0123.{version}.pack")), "x").unwrap();
    let synced = place.sync("b");
    assert_eq!((synced.foreign, counts(&synced.pulled), synced.has_problems()), (5, (1, 0), false));
}

#[test]
fn a_sync_that_is_cancelled_is_continued() {
    let place = Place::new();
    let a = place.store("a");
    (0..4).for_each(|seed| finish(&a, seed, 1.0));
    let cancel = Cancel::new();
    cancel.cancel();
    let synced = place.sync_with("a", SyncOptions { cancel, ..SyncOptions::default() });
    assert_eq!(
        (synced.cancelled, counts(&synced.pushed), place.objects().len()),
        (true, (0, 0), 0)
    );
    assert_eq!(counts(&place.sync("a").pushed), (4, 0));
}

#[cfg(not(feature = "cloud"))]
#[test]
fn a_build_without_clouds_says_so() {
    let error = Remote::open("s3://lab/x").err().unwrap().to_string();
    assert_eq!(error, "this dissensus was built without the feature `cloud`, which s3:// needs");
}
