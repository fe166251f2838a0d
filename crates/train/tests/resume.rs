//! A run ends with the same bits however it is run: in one go or in pieces, killed or asked to
//! end, on one thread or several, alone or beside others, from data in any order.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{How, Lab, MIXED, PLAIN, data, spec, task};
use dissensus_core::philox::Stream;
use dissensus_core::{Ballots, Keep, TableBuilder, VoteTable};
use dissensus_store::{Begun, State};
use dissensus_train::spec::Checkpoint;
use dissensus_train::{EpochRow, Outcome, Task, parallel};
use serde_json::json;

/// Everything that is remembered between epochs is in use: momentum, batch statistics, draws,
/// crops, a plateau, early stopping.
const BUSY: &[&str] = &[
    "delivery.methods=sls:every=2",
    "data.votes_per_item=3",
    "training.epochs=6",
    "training.schedule=plateau",
    "training.plateau.patience=0",
    "training.plateau.threshold=0.2",
    "training.augment.crop=2",
    "training.augment.flip=true",
    "selection.stop.patience=4",
    "split.parts=train/validation/test",
];

/// Distributions that are others in every epoch, from few votes.
const NOISY: &[&str] = &["delivery.methods=soft_noise:scale=0.5", "data.votes_per_item=3"];

/// Ends early, so that where it ends depends on what early stopping remembers.
const STOPS: &[&str] =
    &["training.epochs=12", "selection.metric=accuracy", "selection.stop.patience=2"];

#[test]
fn interrupted_after_any_epoch_it_ends_the_same() {
    for overrides in [BUSY, NOISY, MIXED, STOPS] {
        let spec = spec(task(), overrides);
        let whole = Lab::new().finish(task(), &spec, PLAIN);
        let epochs = whole.history.len() as u64;
        assert_eq!(whole.result.stopped_early, overrides == STOPS);
        for checkpoint in [Checkpoint::EveryEpoch, Checkpoint::Auto, Checkpoint::End] {
            for stop_at in 0..epochs {
                let lab = Lab::new();
                let how = How { checkpoint, stop_at: Some(stop_at), ..PLAIN };
                let outcome = lab.train(task(), &spec, how);
                assert!(matches!(outcome, Outcome::Interrupted { epoch } if epoch == stop_at));
                let status = lab.info(&spec).status;
                assert_eq!((status.state, status.epoch), (State::Interrupted, stop_at));
                let history: Vec<EpochRow> = lab.info(&spec).history().unwrap();
                assert_eq!(history, whole.history[..stop_at as usize]);
                let resumed = lab.finish(task(), &spec, How { checkpoint, ..PLAIN });
                assert!(resumed == whole, "{checkpoint:?}, interrupted after {stop_at} epochs");
            }
        }
        // After every epoch in turn.
        let lab = Lab::new();
        for stop_at in 1..epochs {
            lab.train(task(), &spec, How { stop_at: Some(stop_at), ..PLAIN });
        }
        assert!(lab.finish(task(), &spec, PLAIN) == whole, "interrupted after every epoch");
    }
}

#[test]
fn asked_to_end_after_the_last_epoch_it_is_finished() {
    let spec = spec(task(), &["training.epochs=2"]);
    let lab = Lab::new();
    let outcome = lab.train(task(), &spec, How { stop_at: Some(2), ..PLAIN });
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    let begun = lab.store.begin(&spec.to_value(), &json!({}), 2).unwrap();
    assert!(matches!(begun, Begun::Finished(_)));
}

#[test]
fn killed_after_any_epoch_it_ends_the_same() {
    let spec = spec(task(), BUSY);
    let whole = Lab::new().finish(task(), &spec, PLAIN);
    for checkpoint in [Checkpoint::EveryEpoch, Checkpoint::End] {
        for killed_at in 1..=spec.run.training.epochs {
            let lab = Lab::new();
            let how = How { checkpoint, killed_at: Some(killed_at), ..PLAIN };
            catch_unwind(AssertUnwindSafe(|| lab.train(task(), &spec, how))).unwrap_err();
            // The epoch that was just done is not written yet.
            let written = if checkpoint == Checkpoint::EveryEpoch { killed_at - 1 } else { 0 };
            let status = lab.info(&spec).status;
            assert_eq!((status.state, status.epoch), (State::Interrupted, written));
            assert!(lab.finish(task(), &spec, PLAIN) == whole, "killed after {killed_at} epochs");
        }
    }
}

/// A kill between the two files leaves a best epoch that the checkpoint does not know of yet.
#[test]
fn a_best_epoch_newer_than_the_checkpoint_is_found_again() {
    let spec = spec(task(), BUSY);
    let whole = Lab::new().finish(task(), &spec, PLAIN);
    let best = whole.result.best_epoch;
    assert!(best >= 2, "nothing to set back: the best epoch is {best}");
    for older in 0..=best {
        let lab = Lab::new();
        lab.train(task(), &spec, How { stop_at: Some(older), ..PLAIN });
        let file = lab.info(&spec).folder.join("checkpoint.safetensors");
        let old = std::fs::read(&file).unwrap();
        let how = How { checkpoint: Checkpoint::EveryEpoch, stop_at: Some(best + 1), ..PLAIN };
        lab.train(task(), &spec, how);
        std::fs::write(&file, old).unwrap();
        // Once more interrupted before the best epoch comes again.
        lab.train(task(), &spec, How { stop_at: Some(older), ..PLAIN });
        assert!(lab.finish(task(), &spec, PLAIN) == whole, "set back to epoch {older}");
    }
}

/// Interrupted after its best epoch, a run ends the same whatever became of the files of that epoch.
#[test]
fn a_best_epoch_that_is_foreign_damaged_or_gone_is_had_again() {
    let own = spec(task(), STOPS);
    let whole = Lab::new().finish(task(), &own, PLAIN);
    let stop_at = Some(whole.result.best_epoch + 2);
    assert!(whole.history.len() as u64 > whole.result.best_epoch + 2);
    let other = spec(task(), &[STOPS, &["training.learning_rate=0.04"]].concat());
    let elsewhere = Lab::new();
    elsewhere.finish(task(), &other, PLAIN);
    let foreign = elsewhere.info(&other).folder;
    for name in ["best.safetensors", "predictions/best.npz"] {
        for how in ["foreign", "cut", "gone"] {
            let lab = Lab::new();
            lab.train(task(), &own, How { stop_at, ..PLAIN });
            let path = lab.info(&own).folder.join(name);
            let bytes = std::fs::read(&path).unwrap();
            match how {
                "foreign" => drop(std::fs::copy(foreign.join(name), &path).unwrap()),
                "cut" => std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap(),
                _ => std::fs::remove_file(&path).unwrap(),
            }
            assert!(lab.finish(task(), &own, PLAIN) == whole, "{name} is {how}");
            assert!(std::fs::read(&path).unwrap() == bytes, "{name} was {how}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_run_is_not_continued() {
    let [own, other] = ["0.05", "0.04"].map(|rate| {
        spec(task(), &[&format!("training.learning_rate={rate}"), "training.epochs=3"])
    });
    let whole = Lab::new().finish(task(), &own, PLAIN);
    let lab = Lab::new();
    for spec in [&own, &other] {
        lab.train(task(), spec, How { stop_at: Some(1), ..PLAIN });
    }
    let [path, foreign] =
        [&own, &other].map(|spec| lab.info(spec).folder.join("checkpoint.safetensors"));
    let kept = std::fs::read(&path).unwrap();
    std::fs::copy(foreign, &path).unwrap();
    for _ in 0..2 {
        let error = lab.try_train(task(), &own, PLAIN).unwrap_err();
        assert!(error.contains("does not belong there: it is of run "), "{error}");
        assert_eq!(lab.info(&own).status.state, State::Interrupted);
    }
    // Nothing is lost.
    std::fs::write(&path, kept).unwrap();
    assert!(lab.finish(task(), &own, PLAIN) == whole);
}

#[test]
fn threads_and_jobs_do_not_change_a_bit() {
    let specs = [BUSY, MIXED, &[]].map(|overrides| spec(task(), overrides));
    let alone = specs.each_ref().map(|spec| Lab::new().finish(task(), spec, PLAIN));
    for (spec, one) in specs.iter().zip(&alone) {
        let two = Lab::new().finish(task(), spec, How { threads: 2, ..PLAIN });
        assert!(two == *one, "two threads change {}", spec.label());
    }
    let lab = Lab::new();
    let beside = parallel(specs.len(), 3, |_, job| lab.finish(task(), &specs[job], PLAIN));
    assert!(beside == alone, "runs beside it change a result");
}

#[test]
fn the_seed_decides() {
    let with = |seeds: &str| {
        let overrides = ["training.epochs=2", "split.seed=1", seeds];
        Lab::new().finish(task(), &spec(task(), &overrides), PLAIN)
    };
    let (one, again, other) = (with("run.seeds=[1]"), with("run.seeds=[1]"), with("run.seeds=[2]"));
    assert!(one == again);
    assert_eq!(one.last.ids, other.last.ids);
    assert!(one.last.logits != other.last.logits && one.history != other.history);
}

fn shuffled(len: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    Stream::new([seed, 0], [0, 0, 0]).shuffle(&mut order);
    order
}

/// The same votes, their rows in another order: items, votes on an item, annotators.
fn rows_shuffled(table: &VoteTable) -> VoteTable {
    let Ballots::Votes(votes) = table.ballots() else { panic!("single votes") };
    let rows = (0..table.len()).flat_map(|item| votes.of(item).map(move |vote| (item, vote)));
    let rows: Vec<_> = rows.collect();
    let mut builder = TableBuilder::new(Keep::Votes);
    builder.declare(table.classes().clone()).unwrap();
    for (number, &at) in (1..).zip(&shuffled(rows.len(), 8)) {
        let (item, vote) = rows[at];
        let who = vote.annotator.map(|place| table.annotators().name(place as usize));
        let class = table.classes().name(vote.class().unwrap());
        builder.vote(table.items().name(item), who, class, vote.weight, number).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn the_order_of_the_data_does_not_change_a_bit() {
    let (table, inputs) = data();
    let moved = inputs.select(&shuffled(inputs.len(), 7));
    let items = table.select(&shuffled(table.len(), 9));
    assert_ne!(items.items().name(0), table.items().name(0));
    for overrides in [BUSY, MIXED, &["delivery.target=dawid_skene"]] {
        let whole = Lab::new().finish(task(), &spec(task(), overrides), PLAIN);
        for other in [items.clone(), rows_shuffled(table)] {
            let other = Task::new("blends", &other, &moved).unwrap().0;
            assert_eq!(other.identity(), task().identity());
            let found = Lab::new().finish(&other, &spec(&other, overrides), PLAIN);
            assert!(found == whole, "{overrides:?}");
        }
    }
}
