//! A process that is killed while it trains leaves a store in which nothing is half written.
//!
//! The other process is this test binary, told by its environment to train until it is killed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{about, begin, checkpoint, predictions, spec, weights};
use dissensus_store::{RunId, State, Store, StoreError, Which};
use serde_json::Value;

const STORE: &str = "DISSENSUS_TEST_STORE";
/// Enough for the writing of a checkpoint to take most of an epoch.
const VALUES: usize = 500_000;
const ROUNDS: u32 = 10;
const PATIENCE: Duration = Duration::from_secs(60);

/// Not a test by itself: what the other process does.
#[test]
fn trains_until_it_is_killed() {
    let Ok(path) = std::env::var(STORE) else { return };
    let mut run = begin(&Store::create_or_open(path).unwrap(), 1);
    let mut epoch = run.checkpoint().unwrap().map_or(0, |checkpoint| checkpoint.epoch);
    let began = Instant::now();
    while began.elapsed() < 2 * PATIENCE {
        epoch += 1;
        run.save_best(&weights(epoch as f32), &predictions(epoch as f32)).unwrap();
        run.save_checkpoint(&checkpoint(epoch, VALUES)).unwrap();
    }
}

/// The other process; it does not outlive the test, however that ends.
struct Trainer(Child);

impl Trainer {
    fn start(store: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "trains_until_it_is_killed", "--nocapture"])
            .env(STORE, store)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    /// Waits until it has got beyond an epoch, and gives the one it is in.
    fn wait(&mut self, store: &Path, beyond: u64) -> u64 {
        let began = Instant::now();
        loop {
            let run = Store::open(store).and_then(|store| store.run(&RunId::of(&spec(1))));
            match run.map(|run| run.status.epoch) {
                Ok(epoch) if epoch > beyond => return epoch,
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
            assert!(began.elapsed() < PATIENCE, "the other process does not get on");
            assert_eq!(self.0.try_wait().unwrap(), None, "the other process ended");
        }
    }
}

impl Drop for Trainer {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_checkpoint_and_a_free_lock() {
    let folder = tempfile::tempdir().unwrap();
    let id = RunId::of(&spec(1));
    let mut reached = 0;
    for round in 0..ROUNDS {
        let mut trainer = Trainer::start(folder.path());
        let epoch = trainer.wait(folder.path(), reached);
        let store = Store::open(folder.path()).unwrap();
        if round == 0 {
            assert_eq!(store.run(&id).unwrap().status.state, State::Running);
            let error = store.begin(&spec(1), &about(), 5).unwrap_err();
            let StoreError::Locked { process, .. } = &error else { panic!("{error}") };
            assert_eq!(*process, Some(trainer.0.id()));
            assert!(matches!(store.remove(&id).unwrap_err(), StoreError::Locked { .. }));
        }
        // The kill comes into another part of an epoch each time.
        let began = Instant::now();
        let next = trainer.wait(folder.path(), epoch);
        let an_epoch = began.elapsed() / (next - epoch) as u32;
        std::thread::sleep(an_epoch * round / ROUNDS);
        drop(trainer);

        let info = store.run(&id).unwrap();
        assert_eq!(info.status.state, State::Interrupted);
        let history = info.history::<Value>().unwrap();
        let mut run = begin(&store, 1);
        let found = run.checkpoint().unwrap().expect("there was a checkpoint");
        assert!(found.epoch > reached, "{} after {reached}", found.epoch);
        assert_eq!(found, checkpoint(found.epoch, VALUES));
        // The history is written after the checkpoint: at most one epoch behind.
        assert!((found.epoch - 1..=found.epoch).contains(&(history.len() as u64)));
        assert_eq!(store.run(&id).unwrap().history::<Value>().unwrap().len() as u64, found.epoch);
        // The best was written before it: at most one epoch ahead.
        let best =
            info.weights(Which::Best).unwrap().unwrap().get("layer.bias").unwrap().values()[0];
        assert!((found.epoch..=found.epoch + 1).contains(&(-best as u64)), "{best}");
        let left = std::fs::read_dir(run.dir()).unwrap();
        let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
        assert!(!left.into_iter().any(|entry| hidden(&entry.unwrap().file_name())));
        reached = found.epoch;
    }
    Store::open(folder.path()).unwrap().remove(&id).unwrap();
}
