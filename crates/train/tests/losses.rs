//! Runs of every loss: each goes down, ends with the same bits however it is run, and predicts one
//! distribution over the classes per item. The default loss is no part of a run's name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{How, Lab, PLAIN, plan, spec, task};
use dissensus_core::{ClassOrder, ClassSet};
use dissensus_engine::{Cpu, Device as _, LOSSES, Link, Loss, State};
use dissensus_store::{RunId, Which};
use dissensus_train::{Found, RunSpec, Setup, check_loss, scores};
use serde_json::json;

const SETTINGS: [&str; 3] =
    ["training.schedule=constant", "data.votes_per_item=3", "delivery.methods=sls:every=2"];

fn of(loss: Loss, more: &[&str]) -> RunSpec {
    let chosen = format!("training.loss={}", loss.name());
    spec(task(), &[&SETTINGS[..], more, &[&chosen]].concat())
}

#[test]
fn training_lowers_every_loss() {
    const FAST: [&str; 3] =
        ["training.optimizer=adam", "training.learning_rate=0.01", "training.epochs=20"];
    for entry in LOSSES {
        for delivery in ["delivery.methods=soft", "delivery.methods=sls"] {
            let spec =
                of(entry.loss, &[&FAST[..], &[delivery, "data.votes_per_item=all"]].concat());
            let ended = Lab::new().finish(task(), &spec, PLAIN);
            let (losses, nll) = (ended.column("loss"), ended.column("evaluation.soft_nll"));
            assert!(losses[19] < 0.9 * losses[0], "{}, {delivery}: {losses:?}", entry.name);
            // These classes have no order, so that the order of their names tells nothing of other items.
            let learned = nll[19] < 0.95 * nll[0] || entry.loss == Loss::Rps;
            assert!(learned, "{}, {delivery}: {nll:?}", entry.name);
            assert!(losses.iter().all(|loss| *loss > 0.0), "{}: {losses:?}", entry.name);
        }
    }
}

#[test]
fn however_it_is_run_it_ends_the_same() {
    let mut weights = Vec::new();
    for entry in LOSSES {
        let spec = of(entry.loss, &[]);
        let whole = Lab::new().finish(task(), &spec, PLAIN);
        let two = Lab::new().finish(task(), &spec, How { threads: 2, ..PLAIN });
        assert!(two == whole, "two threads change {}", entry.name);
        let lab = Lab::new();
        for stop_at in [1, 3] {
            lab.train(task(), &spec, How { stop_at: Some(stop_at), ..PLAIN });
        }
        assert!(lab.finish(task(), &spec, PLAIN) == whole, "{} goes on otherwise", entry.name);
        weights.push(whole.last.weights);
    }
    assert!(weights[0] != weights[1] && weights[1] != weights[2] && weights[0] != weights[2]);
}

/// The stored logits are class logits: what the head makes of the outputs of the stored weights.
#[test]
fn predictions_are_one_distribution_per_item() {
    for entry in LOSSES {
        let (lab, spec) = (Lab::new(), of(entry.loss, &[]));
        let ended = lab.finish(task(), &spec, PLAIN);
        let (info, setup) = (lab.info(&spec), Setup::new(task(), &spec.run).unwrap());
        let classes = task().table().classes().len();
        assert_eq!(
            (setup.network.head().loss, setup.network.head().outputs),
            (entry.loss, classes)
        );
        let optimizer = spec.run.training.optimizer;
        let mut found = Found::new(info.weights(Which::Best).unwrap().unwrap());
        let (parameters, statistics) = found.weights(&setup.network, "").unwrap();
        let state = State { parameters, statistics, ..State::fresh(&setup.network, &optimizer, 0) };
        let settings = dissensus_engine::Settings {
            precision: Default::default(),
            batch: 9,
            optimizer,
            threads: 1,
        };
        let mut runner = Cpu.runner(&setup.network, &setup.dataset, &settings, state).unwrap();
        let part = &setup.parts[0];
        let (outputs, logits) =
            (runner.outputs(&part.rows).unwrap(), runner.logits(&part.rows).unwrap());
        let stored = info.predictions(Which::Best).unwrap().unwrap();
        assert_eq!(stored.logits(), logits);
        for row in stored.probabilities().chunks(classes) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{}", entry.name);
        }
        match entry.link {
            Link::Softmax => assert_eq!(outputs, logits),
            Link::Sigmoid => {
                for (z, logit) in outputs.iter().zip(&logits) {
                    let sigmoid = 1.0 / (1.0 + (-f64::from(*z)).exp());
                    assert!((f64::from(*logit).exp() - sigmoid).abs() < 1e-6, "{z} {logit}");
                }
            }
        }
        // What is scored is what is stored.
        let reported = ended.result.part("evaluation").unwrap();
        assert_eq!(reported.best, scores(&part.truth, stored.logits()).unwrap());
    }
}

/// Runs that were trained before there were other losses keep their names, and read as what they were.
#[test]
fn the_default_is_not_written() {
    let plain = plan(&[]).with_data(task().identity().clone());
    assert_eq!(plain.run.training.loss, Loss::CrossEntropy);
    let value = plain.to_value();
    assert_eq!(value["run"]["training"].get("loss"), None);
    assert_eq!(serde_json::from_value::<RunSpec>(value.clone()).unwrap(), plain);
    let named = spec(task(), &["training.loss=cross_entropy"]).to_value();
    assert_eq!(RunId::of(&named), RunId::of(&value));
    let mut ids = vec![RunId::of(&value)];
    for entry in &LOSSES[1..] {
        let other = spec(task(), &[&format!("training.loss={}", entry.name)]);
        let value = other.to_value();
        assert_eq!(value["run"]["training"]["loss"], json!(entry.name));
        assert_eq!(serde_json::from_value::<RunSpec>(value.clone()).unwrap(), other);
        ids.push(RunId::of(&value));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), LOSSES.len());
}

#[test]
fn an_order_that_is_none_is_refused() {
    let classes = |names: &[&str]| {
        ClassSet::new(names.iter().map(|&name| name.to_owned()).collect(), ClassOrder::Declared)
            .unwrap()
    };
    for names in [
        &["1", "2", "10"][..],
        &["2", "0.5", "-1"],
        &["none", "mild", "severe"],
        &["2", "nan", "1"],
    ] {
        for entry in LOSSES {
            check_loss(entry.loss, &classes(names)).unwrap();
        }
    }
    let mixed = classes(&["1", "10", "2"]);
    check_loss(Loss::CrossEntropy, &mixed).unwrap();
    let error = check_loss(Loss::Rps, &mixed).unwrap_err().to_string();
    assert_eq!(
        error,
        "training.loss is \"rps\", which compares classes in their order, and these are numbers in \
         another order: 1, 10, 2; set data.classes to the classes in the order of their scale"
    );
}
