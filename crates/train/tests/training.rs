//! The loop on small data: what every way to train leaves in the store, and how runs end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::{How, Lab, PLAIN, data, plan, spec, task};
use dissensus_core::{ClassOrder, ClassSet, Counts, VoteTable};
use dissensus_engine::{Cpu, Dataset, Device, Settings, State};
use dissensus_inputs::{Features, Images, Inputs, Kind};
use dissensus_predictions::{Matched, align};
use dissensus_store::{State as Stored, Which};
use dissensus_train::{EpochRow, Found, Normalization, Outcome, RunResult, Setup, Task, scores};

#[test]
fn every_delivery_trains() {
    let deliveries = [
        "soft",
        "soft_noise",
        "multipass",
        "deterministic",
        "sls",
        "sls:every=2",
        "shuffled_sls",
        "majority",
        "label_smoothing",
        "mixup",
    ];
    let lab = Lab::new();
    let mut seen = Vec::new();
    for delivery in deliveries {
        let method = format!("delivery.methods={delivery}");
        let spec = spec(task(), &[&method, "training.epochs=20", "training.learning_rate=0.2"]);
        let ended = lab.finish(task(), &spec, PLAIN);
        let loss = ended.column("loss");
        assert!(loss[19] < loss[0] - 0.3, "{delivery}: {loss:?}");
        // Guessing costs ln 10 = 2.303; the control with the labels of others learns nothing else.
        let values = ended.column("evaluation.soft_nll");
        let learned = values.iter().any(|value| *value < 2.27);
        assert_eq!(learned, delivery != "shuffled_sls", "{delivery}: {values:?}");

        let info = lab.info(&spec);
        assert_eq!((info.status.state.clone(), info.status.epoch), (Stored::Finished, 20));
        let setup = Setup::new(task(), &spec.run).unwrap();
        let name = |&row: &u32| task().table().items().name(row as usize).to_owned();
        let ids: Vec<String> = setup.parts[0].rows.iter().map(name).collect();
        for which in [Which::Best, Which::Last] {
            let path = info.predictions_path(which);
            let read = dissensus_predictions::read(&path, &Default::default()).unwrap();
            assert_eq!(read[0].ids.as_ref(), Some(&ids));
            assert_eq!(read[0].kind, dissensus_predictions::Kind::Logits);
            // By the ids alone, they find their items in the votes as they came.
            let aligned = align(&data().0, &read[0]).unwrap();
            assert_eq!((aligned.matched, aligned.items.len()), (Matched::ById, ids.len()));
            assert_eq!(aligned.without_votes, 0);
            let logits = info.predictions(which).unwrap().unwrap();
            let figures = scores(&setup.parts[0].truth, logits.logits()).unwrap();
            assert_eq!(*ended.result.part("evaluation").unwrap().metrics(which), figures);
        }
        seen.push(ended.last.logits);
    }
    // Each delivers something else.
    for (at, logits) in seen.iter().enumerate() {
        let same = seen[..at].iter().position(|other| other == logits);
        assert!(same.is_none(), "{} trains as {}", deliveries[at], deliveries[same.unwrap()]);
    }
}

#[test]
fn the_best_epoch_is_the_one_with_the_best_value() {
    // A large rate, so that the values go up and down.
    let spec = spec(
        task(),
        &["training.epochs=8", "training.learning_rate=0.5", "training.schedule=constant"],
    );
    let lab = Lab::new();
    let ended = lab.finish(task(), &spec, PLAIN);
    let values = ended.column("evaluation.soft_nll");
    let best = (0..8).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
    assert!(best != 7 && best != 0, "nothing to tell apart: {values:?}");
    assert_eq!(ended.result.best_epoch, best as u64);
    let part = ended.result.part("evaluation").unwrap();
    let figures = |which| part.metrics(which).get("soft_nll");
    assert_eq!((figures(Which::Best), figures(Which::Last)), (Some(values[best]), Some(values[7])));

    // The stored weights give the stored predictions.
    let (info, setup) = (lab.info(&spec), Setup::new(task(), &spec.run).unwrap());
    let optimizer = spec.run.training.optimizer;
    for which in [Which::Best, Which::Last] {
        let mut found = Found::new(info.weights(which).unwrap().unwrap());
        let (parameters, statistics) = found.weights(&setup.network, "").unwrap();
        let fresh = State::fresh(&setup.network, &optimizer, 0);
        let state = State { parameters, statistics, ..fresh };
        let settings = Settings { precision: Default::default(), batch: 7, optimizer, threads: 1 };
        let runner = Cpu.runner(&setup.network, &setup.dataset, &settings, state);
        let logits = runner.unwrap().logits(&setup.parts[0].rows).unwrap();
        assert_eq!(info.predictions(which).unwrap().unwrap().logits(), logits);
    }
}

#[test]
fn a_diverged_run_fails_and_starts_anew() {
    let spec = spec(task(), &["training.learning_rate=1e10"]);
    let lab = Lab::new();
    for _ in 0..2 {
        let outcome = lab.train(task(), &spec, How { tensorboard: true, ..PLAIN });
        let Outcome::Failed { reason } = outcome else { panic!("{outcome:?}") };
        assert!(reason.contains("the run has diverged; lower training.learning_rate"), "{reason}");
        let info = lab.info(&spec);
        assert_eq!(info.status.state, Stored::Failed { reason });
        assert_eq!(info.result::<RunResult>().unwrap(), None);
    }
    // Begun once more, there is nothing left of it.
    let mut run = lab.begin(&spec);
    assert!(run.checkpoint().unwrap().is_none());
    let info = lab.info(&spec);
    assert_eq!((info.status.state.clone(), info.status.epoch), (Stored::Running, 0));
    assert!(info.predictions(Which::Best).unwrap().is_none());
    assert!(info.history::<EpochRow>().unwrap().is_empty());
}

/// A disk that cannot be written is not the run's fault: nothing of it is thrown away.
#[test]
fn after_an_error_of_the_disk_it_can_be_continued() {
    let spec = spec(task(), &[]);
    let whole = Lab::new().finish(task(), &spec, PLAIN);
    let lab = Lab::new();
    lab.train(task(), &spec, How { stop_at: Some(2), ..PLAIN });
    // A folder lies where the file of the last epoch's weights is to be.
    let in_the_way = lab.info(&spec).folder.join("last.safetensors");
    std::fs::create_dir_all(in_the_way.join("x")).unwrap();
    lab.try_train(task(), &spec, PLAIN).unwrap_err();
    let status = lab.info(&spec).status;
    assert_eq!((status.state, status.epoch), (Stored::Interrupted, 5));
    std::fs::remove_dir_all(&in_the_way).unwrap();
    assert!(lab.finish(task(), &spec, PLAIN) == whole);
}

#[test]
fn early_stopping_stops_and_the_best_epoch_stays() {
    let spec = spec(
        task(),
        &[
            "training.epochs=40",
            "training.learning_rate=0.1",
            "selection.metric=accuracy",
            "selection.stop.patience=3",
            "split.parts=train/validation/test",
            "split.shares=[0.5, 0.2, 0.3]",
        ],
    );
    let lab = Lab::new();
    let ended = lab.finish(task(), &spec, PLAIN);
    let accuracy = ended.column("validation.accuracy");
    let best = ended.result.best_epoch as usize;
    // The first of the highest, and then three epochs in vain.
    assert!(accuracy[..best].iter().all(|value| *value < accuracy[best]), "{accuracy:?}");
    assert!(accuracy[best + 1..].iter().all(|value| *value <= accuracy[best]), "{accuracy:?}");
    assert_eq!((accuracy.len(), accuracy.len() < 40), (best + 4, true));
    assert!(ended.result.stopped_early);
    assert_eq!(ended.result.selected_by, "accuracy on validation");

    // Selected on validation, reported on the test part, which no epoch was selected by.
    assert!(
        ended.history.iter().all(|row| row.metrics.iter().all(|(name, _)| name != "test.accuracy"))
    );
    let part = |name: &str| ended.result.part(name).unwrap();
    assert_eq!(part("validation").best.get("accuracy"), Some(accuracy[best]));
    assert_eq!((part("validation").items, part("test").items), (40, 60));
    let setup = Setup::new(task(), &spec.run).unwrap();
    let test = &setup.parts[1];
    let name = |&row: &u32| task().table().items().name(row as usize);
    assert!(ended.best.ids.iter().eq(test.rows.iter().map(name)));
    let predictions = lab.info(&spec).predictions(Which::Best).unwrap().unwrap();
    assert_eq!(part("test").best, scores(&test.truth, predictions.logits()).unwrap());
}

#[test]
fn the_rate_follows_its_schedule() {
    const HIGHER: &str = "selection.metric=accuracy";
    let rates = |overrides: &[&str]| {
        let overrides = [overrides, &["training.epochs=6"]].concat();
        let ended = Lab::new().finish(task(), &spec(task(), &overrides), PLAIN);
        let metric = if overrides.contains(&HIGHER) { "accuracy" } else { "soft_nll" };
        (ended.column("rate"), ended.column(&format!("evaluation.{metric}")))
    };
    let cosine = rates(&["training.schedule=cosine"]).0;
    for (epoch, rate) in cosine.iter().enumerate() {
        let wanted = 0.05 * (1.0 + (std::f64::consts::PI * epoch as f64 / 6.0).cos()) / 2.0;
        assert!((rate - wanted).abs() < 1e-15, "{cosine:?}");
    }
    assert_eq!(rates(&["training.schedule=constant"]).0, [0.05; 6]);
    // A threshold that little passes: of the values, only those below half the best count.
    let (plateau, values) = rates(&[
        "training.schedule=plateau",
        "training.plateau.patience=1",
        "training.plateau.factor=0.1",
        "training.plateau.threshold=0.5",
    ]);
    assert!(values.iter().all(|value| *value > values[0] / 2.0), "{values:?}");
    let wanted = [0.05, 0.05, 0.05, 0.005, 0.005, 0.0005];
    assert!(plateau.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{plateau:?}");
    // Of a metric that is better higher, what does not rise is no progress.
    let (plateau, values) = rates(&[
        HIGHER,
        "training.schedule=plateau",
        "training.plateau.patience=0",
        "training.plateau.factor=0.5",
        "training.plateau.threshold=0",
    ]);
    let (mut rate, mut best) = (0.05, f64::NEG_INFINITY);
    for (found, value) in plateau.iter().zip(&values) {
        assert_eq!(*found, rate, "{plateau:?} {values:?}");
        if *value > best { best = *value } else { rate *= 0.5 }
    }
    assert!(rate < 0.05 && best > values[0], "{values:?}");
}

/// Feature vectors that tell the classes apart, but for noise.
fn features() -> Inputs {
    let (table, inputs) = data();
    let Kind::Images(images) = inputs.kind() else { panic!("pictures") };
    // Means of the picture's 4 × 4 blocks.
    let block = |picture: &[u8], at: usize| {
        let (row, column) = (at / 4 * 4, at % 4 * 4);
        let pixels = (0..16).map(|p| f32::from(picture[(row + p / 4) * 16 + column + p % 4]));
        pixels.sum::<f32>() / 16.0 / 128.0 - 1.0
    };
    let rows = (0..images.len()).flat_map(|item| (0..16).map(move |at| (item, at)));
    let values = rows.map(|(item, at)| block(images.image(item), at)).collect();
    let kind = Kind::Features(Features::new("blocks", 16, values).unwrap());
    Inputs::new("blocks", Some(table.items().clone()), kind).unwrap()
}

#[test]
fn features_train() {
    let (task, joined) = Task::new("blocks", &data().0, &features()).unwrap();
    assert_eq!((joined.items.len(), joined.without_row.count), (200, 0));
    let mlp =
        ["model.name=mlp", "model.hidden=16", "training.epochs=20", "training.learning_rate=0.5"];
    let ended = Lab::new().finish(&task, &spec(&task, &mlp), PLAIN);
    let loss = ended.column("loss");
    assert!(loss[19] < loss[0] - 0.3, "{loss:?}");
    assert_eq!(ended.result.normalization, None);
    // 16 inputs, 16 hidden, 10 classes.
    assert_eq!(ended.result.parameters, 16 * 16 + 16 + 16 * 10 + 10);

    // A model of pictures says what to use instead.
    let lab = Lab::new();
    let cnn = spec(&task, &[]);
    let error = lab.try_train(&task, &cnn, PLAIN).unwrap_err();
    assert!(error.contains("needs images") && error.contains("use `mlp`"), "{error}");
    assert_eq!(lab.info(&cnn).status.state, Stored::Failed { reason: error });
}

#[test]
fn pictures_are_normalized_by_the_training_part_alone() {
    let (table, inputs) = data();
    let plan = plan(&[]);
    let setup = Setup::new(task(), &plan).unwrap();
    let Kind::Images(images) = task().inputs().kind() else { panic!("pictures") };
    let places: Vec<usize> = setup.train.iter().map(|&row| row as usize).collect();
    let (wanted, all) =
        (images.normalization(Some(&places)).unwrap(), images.normalization(None).unwrap());
    let Dataset::Images { mean, deviation, .. } = &setup.dataset else { panic!("pictures") };
    assert_eq!((mean, deviation), (&wanted.mean, &wanted.sd));
    assert_ne!(mean, &all.mean);
    let ended = Lab::new().finish(task(), &spec(task(), &["training.epochs=1"]), PLAIN);
    let wanted = Normalization { mean: mean.clone(), deviation: deviation.clone() };
    assert_eq!(ended.result.normalization, Some(wanted));

    // Whatever is held out looks like, it does not change what is trained.
    let Kind::Images(images) = inputs.kind() else { panic!("pictures") };
    let held_out = &ended.last.ids;
    let mut pixels = images.pixels().to_vec();
    for (item, picture) in pixels.chunks_exact_mut(256).enumerate() {
        if held_out.iter().any(|id| id == table.items().name(item)) {
            picture.fill(255);
        }
    }
    let kind = Kind::Images(Images::new("white", 16, 16, 1, pixels).unwrap());
    let white = Inputs::new("white", inputs.ids().cloned(), kind).unwrap();
    let white = Task::new("white", table, &white).unwrap().0;
    let other = Lab::new().finish(&white, &spec(&white, &["training.epochs=1"]), PLAIN);
    assert_eq!(other.last.weights, ended.last.weights);
    assert_ne!(other.last.logits, ended.last.logits);
}

#[test]
fn targets_other_than_frequencies_train() {
    let lab = Lab::new();
    for method in ["soft", "sls"] {
        let mut seen = Vec::new();
        for target in ["frequencies", "dirichlet:alpha=1", "dawid_skene"] {
            let target = format!("delivery.target={target}");
            let method = format!("delivery.methods={method}");
            let ended = lab.finish(task(), &spec(task(), &[&target, &method]), PLAIN);
            let loss = ended.column("loss");
            assert!(loss[4] < loss[0], "{target}, {method}: {loss:?}");
            seen.push(ended.last.logits);
        }
        assert!((1..seen.len()).all(|at| !seen[..at].contains(&seen[at])));
    }

    let drawn = spec(task(), &["delivery.target=dawid_skene", "data.votes_per_item=3"]);
    let error = lab.try_train(task(), &drawn, PLAIN).unwrap_err();
    assert!(error.starts_with("dawid_skene has to know who voted"), "{error}");
    assert!(error.contains("use frequencies or dirichlet"), "{error}");
    assert_eq!(lab.info(&drawn).status.state, Stored::Failed { reason: error });
}

#[test]
fn curves_are_written_where_asked_for() {
    let spec = spec(task(), &["training.epochs=3"]);
    let events = |lab: &Lab| -> Vec<Vec<u8>> {
        let entries = std::fs::read_dir(lab.info(&spec).folder.join("events"));
        entries.into_iter().flatten().map(|e| std::fs::read(e.unwrap().path()).unwrap()).collect()
    };
    let lab = Lab::new();
    let how = How { tensorboard: true, ..PLAIN };
    lab.train(task(), &spec, How { stop_at: Some(2), ..how });
    lab.finish(task(), &spec, how);
    // One file, which tells of the epochs before the interruption, too.
    let [file] = &events(&lab)[..] else { panic!("one file") };
    for tag in ["loss", "rate", "evaluation/soft_nll", "evaluation/accuracy"] {
        let many = file.windows(tag.len()).filter(|bytes| *bytes == tag.as_bytes()).count();
        assert_eq!(many, 3, "{tag}");
    }
    let lab = Lab::new();
    lab.finish(task(), &spec, PLAIN);
    assert!(events(&lab).is_empty());
}

#[test]
fn a_metric_that_is_never_defined_is_refused_before_training() {
    let lab = Lab::new();
    // Votes tell what people said, and no label beside it.
    let given = spec(task(), &["selection.metric=accuracy_given"]);
    let error = lab.try_train(task(), &given, PLAIN).unwrap_err();
    assert!(error.contains("accuracy_given, which is undefined on evaluation"), "{error}");
    assert!(error.contains("select by another metric"), "{error}");
    lab.finish(task(), &spec(task(), &["selection.metric=entropy_pearson"]), PLAIN);

    // Where everyone agrees, entropies do not vary.
    let (table, inputs) = data();
    let mut counts = Counts::new();
    (0..table.len()).for_each(|item| counts.push([(item as u16 % 2, 5)]).unwrap());
    let classes = ClassSet::new(vec!["x".into(), "y".into()], ClassOrder::Declared).unwrap();
    let agreed = VoteTable::from_counts(classes, table.items().clone(), counts).unwrap();
    let agreed = Task::new("agreed", &agreed, inputs).unwrap().0;
    let flat = spec(&agreed, &["selection.metric=entropy_pearson"]);
    let error = lab.try_train(&agreed, &flat, PLAIN).unwrap_err();
    assert!(error.contains("entropy_pearson, which is undefined on evaluation"), "{error}");
    for metric in ["soft_nll", "accuracy", "kl", "ece_width_human"] {
        let metric = format!("selection.metric={metric}");
        lab.finish(&agreed, &spec(&agreed, &[&metric, "training.epochs=1"]), PLAIN);
    }
}

#[test]
fn items_without_votes_or_inputs_are_left_out() {
    let (table, inputs) = data();
    let mut counts = Counts::new();
    for item in 0..table.len() {
        // Every fifth item has no votes.
        counts.push((item % 5 != 0).then_some((item as u16 % 10, 3))).unwrap();
    }
    let table =
        VoteTable::from_counts(table.classes().clone(), table.items().clone(), counts).unwrap();
    // The last ten have no input.
    let inputs = inputs.select(&(0..190).collect::<Vec<_>>());
    let (task, joined) = Task::new("some", &table, &inputs).unwrap();
    assert_eq!((task.identity().items, joined.without_row.count), (152, 10));
    let setup = Setup::new(&task, &plan(&[])).unwrap();
    assert_eq!(setup.train.len() + setup.parts[0].rows.len(), 152);
    let truth: &Arc<_> = &setup.parts[0].truth;
    assert_eq!(truth.len(), setup.parts[0].rows.len());
    Lab::new().finish(&task, &spec(&task, &["training.epochs=1"]), PLAIN);
}
