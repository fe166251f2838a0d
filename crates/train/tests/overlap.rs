//! A device that trains the next epoch while the last one is evaluated ends with the same bits as one that
//! does one thing at a time, however the run is interrupted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::{How, Lab, MIXED, PLAIN, spec, task};
use dissensus_store::State;
use dissensus_train::spec::Checkpoint;
use dissensus_train::{EpochRow, Outcome};

/// Several parts are evaluated when an epoch is the best; labels, crops and momentum differ by epoch.
const PARTS: &[&str] = &[
    "delivery.methods=sls",
    "training.epochs=6",
    "training.schedule=cosine",
    "training.augment.crop=2",
    "training.augment.flip=true",
    "split.parts=train/validation/test",
];

/// What is decided by the result of an epoch before the next one begins.
const DECIDES: [&[&str]; 2] =
    [&["training.schedule=plateau", "training.plateau.patience=0"], &["selection.stop.patience=2"]];

#[test]
fn evaluation_beside_training_changes_no_bit() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    for overrides in [PARTS, MIXED, &[], DECIDES[0], DECIDES[1]] {
        let spec = spec(task(), overrides);
        let whole = Lab::new().finish(task(), &spec, PLAIN);
        let epochs = whole.history.len();
        for checkpoint in [Checkpoint::End, Checkpoint::EveryEpoch, Checkpoint::Auto] {
            COUNT.store(0, Relaxed);
            let how = How { checkpoint, overlapped: Some(&COUNT), ..PLAIN };
            assert!(Lab::new().finish(task(), &spec, how) == whole, "{overrides:?} {checkpoint:?}");
            let found = COUNT.load(Relaxed);
            match checkpoint {
                _ if DECIDES.contains(&overrides) => assert_eq!(found, 0, "{overrides:?}"),
                Checkpoint::End => assert_eq!(found, epochs - 1, "{overrides:?}"),
                Checkpoint::EveryEpoch => assert_eq!(found, 0, "{overrides:?}"),
                Checkpoint::Auto => assert!(found < epochs, "{overrides:?}"),
            }
        }
    }
}

#[test]
fn interrupted_while_an_epoch_is_evaluated_it_ends_the_same() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    for overrides in [PARTS, MIXED] {
        let spec = spec(task(), overrides);
        let whole = Lab::new().finish(task(), &spec, PLAIN);
        let epochs = whole.history.len() as u64;
        for stop_at in 0..epochs - 1 {
            let lab = Lab::new();
            let how = How { checkpoint: Checkpoint::End, overlapped: Some(&COUNT), ..PLAIN };
            let outcome = lab.train(task(), &spec, How { stop_at: Some(stop_at), ..how });
            // The next epoch had begun; it is finished and evaluated.
            let done = if stop_at == 0 { 0 } else { stop_at + 1 };
            assert!(matches!(outcome, Outcome::Interrupted { epoch } if epoch == done));
            let info = lab.info(&spec);
            assert_eq!((info.status.state.clone(), info.status.epoch), (State::Interrupted, done));
            let history: Vec<EpochRow> = info.history().unwrap();
            assert_eq!(history, whole.history[..done as usize]);
            assert!(lab.finish(task(), &spec, how) == whole, "{stop_at}, {overrides:?}");
        }
    }
}

#[test]
fn killed_while_an_epoch_is_evaluated_it_ends_the_same() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let spec = spec(task(), PARTS);
    let whole = Lab::new().finish(task(), &spec, PLAIN);
    for checkpoint in [Checkpoint::Auto, Checkpoint::End] {
        for killed_at in 1..=spec.run.training.epochs {
            let lab = Lab::new();
            let how = How { checkpoint, overlapped: Some(&COUNT), ..PLAIN };
            let killed = How { killed_at: Some(killed_at), ..how };
            catch_unwind(AssertUnwindSafe(|| lab.train(task(), &spec, killed))).unwrap_err();
            assert!(lab.finish(task(), &spec, how) == whole, "killed after {killed_at} epochs");
        }
    }
}

#[test]
fn a_diverged_run_fails_in_the_same_words() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    for (rate, diverges) in [("1e10", true), ("1e3", true), ("0.1", false)] {
        let rate = format!("training.learning_rate={rate}");
        let spec = spec(task(), &[&rate, "training.epochs=8"]);
        let reasons = [None, Some(&COUNT)].map(|overlapped| {
            let how = How { checkpoint: Checkpoint::End, overlapped, ..PLAIN };
            match Lab::new().train(task(), &spec, how) {
                Outcome::Failed { reason } => Some(reason),
                _ => None,
            }
        });
        assert_eq!(reasons[0].is_some(), diverges, "{rate}");
        assert_eq!(reasons[0], reasons[1], "{rate}");
    }
}
