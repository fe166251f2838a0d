//! Eight workers and one bucket.

use std::path::{Path, PathBuf};

use dissensus_remote::{Remote, SyncOptions, Synced};
use dissensus_store::Store;

use crate::common::{carried, finish, stage};

/// A store and a bucket in both directions.
pub(crate) fn sync(store: &Path, url: &str) -> Synced {
    Remote::open(url).unwrap().sync(store, &SyncOptions::default()).unwrap()
}

/// Runs that every worker has, those that only one has, and all.
const SHARED: u64 = 8;
const OWN: u64 = 2;
pub(crate) const RUNS: usize = (SHARED + 8 * OWN) as usize;

/// Calls a function for every worker, all at once.
fn at_once<T: Send>(workers: &[PathBuf], each: impl Fn(usize, &Path) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let each = &each;
        let start = |(worker, path)| scope.spawn(move || each(worker, path));
        let threads: Vec<_> =
            workers.iter().map(|path| path.as_path()).enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Eight workers push the same and different runs at once. The bucket then holds each of them once, with the same
/// bytes as a folder.
pub(crate) fn eight_workers(url: &str, conditional: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let workers: Vec<_> = (0..8).map(|worker| path(&format!("worker{worker}"))).collect();
    at_once(&workers, |worker, path| {
        let store = Store::create_or_open(path).unwrap();
        for seed in (0..SHARED).chain((0..OWN).map(|run| 1_000 * (worker as u64 + 1) + run)) {
            finish(&store, seed, seed as f32);
            stage(&store, seed, &format!("metric,value\nkl,{seed}\n"));
        }
    });
    let synced = at_once(&workers, |_, path| sync(path, url));
    for synced in &synced {
        assert!(!synced.has_problems() && synced.conflicts.is_empty(), "{synced:?}");
        assert!(!(conditional && synced.unconditional), "{synced:?}");
    }
    assert_eq!(conditional, synced.iter().all(|synced| !synced.unconditional));
    let all = sync(&path("all"), url);
    assert_eq!((all.pulled.runs, all.pulled.files, all.foreign), (RUNS, RUNS, 0), "{all:?}");
    let again = sync(&path("all"), url);
    assert_eq!((again.same.runs, again.same.files, again.pushed.runs), (RUNS, RUNS, 0));
    for (worker, synced) in workers.iter().zip(at_once(&workers, |_, path| sync(path, url))) {
        assert!(!synced.has_problems(), "{synced:?}");
        assert_eq!(Store::open(worker).unwrap().ids().unwrap().len(), RUNS);
    }

    // The same bytes as through a folder: of what no other worker has.
    let local = format!("file://{}", path("folder").display());
    workers.iter().for_each(|worker| assert!(!sync(worker, &local).has_problems()));
    sync(&path("local"), &local);
    let (remote, local) = (carried(&path("all")), carried(&path("local")));
    assert_eq!(remote.len(), local.len());
    for ((name, remote), (other, local)) in remote.iter().zip(&local) {
        // Runs that all workers have differ in who trained them when, and only in that.
        let whose = ["about.json", "status.json"].iter().any(|file| name.ends_with(file));
        assert!(name == other && (remote == local || whose), "{name}");
    }
}
