//! Eight workers and one bucket.

use std::path::Path;

use dissensus_remote::{Remote, SyncOptions, Synced};
use dissensus_store::Store;

use crate::common::{carried, finish, stage};

/// A store and a bucket in both directions.
pub(crate) fn sync(store: &Path, url: &str) -> Synced {
    Remote::open(url).unwrap().sync(store, &SyncOptions::default()).unwrap()
}

/// Eight workers push the same and different runs at once. The bucket then holds each of them once, with the same
/// bytes as a folder.
pub(crate) fn eight_workers(url: &str, conditional: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let workers: Vec<_> = (0..8).map(|worker| path(&format!("worker{worker}"))).collect();
    for (worker, path) in workers.iter().enumerate() {
        let store = Store::create_or_open(path).unwrap();
        // The same 12 runs, and 4 that no other has.
        for seed in (0..12).chain((0..4).map(|run| 1_000 * (worker as u64 + 1) + run)) {
            finish(&store, seed, seed as f32);
            stage(&store, seed, &format!("metric,value\nkl,{seed}\n"));
        }
    }
    let synced: Vec<Synced> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            workers.iter().map(|path| scope.spawn(move || sync(path, url))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for synced in &synced {
        assert!(!synced.has_problems() && synced.conflicts.is_empty(), "{synced:?}");
        assert!(!(conditional && synced.unconditional), "{synced:?}");
    }
    assert_eq!(conditional, synced.iter().all(|synced| !synced.unconditional));
    let (runs, files) = (12 + 8 * 4, 12 + 8 * 4);
    let all = sync(&path("all"), url);
    assert_eq!((all.pulled.runs, all.pulled.files, all.foreign), (runs, files, 0), "{all:?}");
    let again = sync(&path("all"), url);
    assert_eq!((again.same.runs, again.same.files, again.pushed.runs), (runs, files, 0));
    for worker in &workers {
        let synced = sync(worker, url);
        assert!(!synced.has_problems(), "{synced:?}");
        assert_eq!(Store::open(worker).unwrap().ids().unwrap().len(), runs);
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
