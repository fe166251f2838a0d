//! Runs: their order, their names, and what is and is not part of what they are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use dissensus_store::RunId;
use dissensus_train::{DataIdentity, RunPlan, RunSpec, Spec, template};

fn runs(overrides: &[&str]) -> Vec<RunPlan> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Spec::parse(template(), "template", &overrides).unwrap().runs()
}

fn data() -> DataIdentity {
    DataIdentity {
        name: "blends".into(),
        votes_digest: "ab".repeat(32),
        inputs_digest: "cd".repeat(32),
        items: 4_000,
        split_digest: None,
        judged_on: None,
    }
}

fn identity(overrides: &[&str]) -> String {
    runs(overrides)[0].with_data(data()).to_value().to_string()
}

#[test]
fn methods_then_votes_then_seeds() {
    let runs = runs(&[
        "delivery.methods=[\"sls:every=5\", \"soft\"]",
        "data.votes_per_item=[5, \"all\"]",
        "run.seeds=[2, 0]",
    ]);
    let labels: Vec<String> = runs.iter().map(RunPlan::label).collect();
    let expected = [
        "sls:every=5 · 5 votes · seed 2",
        "sls:every=5 · 5 votes · seed 0",
        "sls:every=5 · all votes · seed 2",
        "sls:every=5 · all votes · seed 0",
        "soft · 5 votes · seed 2",
        "soft · 5 votes · seed 0",
        "soft · all votes · seed 2",
        "soft · all votes · seed 0",
    ];
    assert_eq!(labels, expected);
    assert_eq!(runs[0].arm(), "sls:every=5 · 5 votes");
    assert!(runs.chunks(2).all(|pair| pair[0].arm() == pair[1].arm()));
    assert_eq!((runs[0].split.seed, runs[1].split.seed), (2, 0));
}

#[test]
fn labels_leave_defaults_out() {
    let label = |overrides: &[&str]| runs(overrides)[0].label();
    assert_eq!(label(&["delivery.methods=sls", "data.votes_per_item=1"]), "sls · 1 vote · seed 0");
    let given = [
        "delivery.methods=label_smoothing:ties=random",
        "data.votes_per_item=3",
        "data.replacement=false",
    ];
    assert_eq!(label(&given), "label_smoothing:ties=random · 3 votes without replacement · seed 0");
}

#[test]
fn a_fixed_split_is_the_same_for_every_seed() {
    assert!(runs(&["split.seed=9"]).iter().all(|run| run.split.seed == 9));
}

/// The whole of it, so that a field that is added, renamed or given another default is seen: it
/// names other runs, and stored ones are trained again.
#[test]
fn everything_that_decides_a_result_is_written_out() {
    let expected = serde_json::json!({
        "format": 1,
        "data": {
            "name": "blends",
            "votes_digest": "ab".repeat(32),
            "inputs_digest": "cd".repeat(32),
            "items": 4000
        },
        "run": {
            "votes": { "drawn": { "per_item": 5, "replacement": true } },
            "split": {
                "parts": ["train", "evaluation"],
                "shares": [0.8, 0.2],
                "stratify": true,
                "seed": 0
            },
            "model": { "name": "resnet18", "width": 64 },
            "delivery": "sls:every=1",
            "target": "frequencies",
            "training": {
                "epochs": 200,
                "batch": 128,
                "optimizer": {
                    "name": "sgd",
                    "momentum": 0.9,
                    "nesterov": false,
                    "weight_decay": 0.0005
                },
                "rate": 0.1,
                "schedule": { "name": "cosine" },
                "augment": { "crop": 0, "flip": false }
            },
            "selection": { "metric": "soft_nll", "on": "evaluation", "stop": null },
            "seed": 0,
            "precision": "f32"
        }
    });
    let found = runs(&["data.votes_per_item=5", "delivery.methods=sls"])[0].with_data(data());
    assert_eq!(found.to_value(), expected);
    assert_eq!(found.to_value().to_string(), expected.to_string());
    // Python 3.11, over `spec`, the JSON above:
    //
    //     text = json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    //     print(hashlib.sha256(text.encode()).hexdigest()[:16])
    assert_eq!(RunId::of(&found.to_value()).as_str(), "19dceeb43539678e");
}

#[test]
fn how_it_is_run_is_not_part_of_what_it_is() {
    let plain = identity(&[]);
    for given in [
        "run.store=elsewhere",
        "run.device=cpu",
        "run.jobs=3",
        "run.threads=1",
        "run.checkpoint=end",
        "run.tensorboard=true",
        "run.seeds=1",
        "split.seed=0",
        "delivery.methods=soft",
        "data.items=4000",
    ] {
        assert_eq!(identity(&[given]), plain, "{given}");
    }
}

#[test]
fn every_setting_that_decides_makes_another_run() {
    let mut seen = BTreeSet::from([identity(&[])]);
    let settings: &[&[&str]] = &[
        &["data.votes_per_item=5"],
        &["data.votes_per_item=5", "data.replacement=false"],
        &["split.parts=train/validation/test"],
        &["split.shares=[0.7, 0.3]"],
        &["split.stratify=false"],
        &["split.seed=1"],
        &["model.width=32"],
        &["model.name=smallcnn"],
        &["model.name=mlp"],
        &["model.name=mlp", "model.dropout=0"],
        &["delivery.methods=sls"],
        &["delivery.methods=soft", "delivery.target=dirichlet"],
        &["training.epochs=1"],
        &["training.batch_size=1"],
        &["training.optimizer=adam"],
        &["training.learning_rate=0.2"],
        &["training.momentum=0"],
        &["training.nesterov=true"],
        &["training.weight_decay=0"],
        &["training.schedule=constant"],
        &["training.schedule=plateau"],
        &["training.schedule=plateau", "training.plateau.patience=3"],
        &["training.augment.crop=4"],
        &["training.augment.flip=true"],
        &["selection.metric=kl"],
        &["selection.stop=true"],
        &["selection.stop.minimum=0.1"],
        &["run.seeds=[5]"],
        &["run.precision=bf16"],
    ];
    for given in settings {
        assert!(seen.insert(identity(given)), "{given:?}");
    }
    let mut other = data();
    other.votes_digest = "ef".repeat(32);
    assert!(seen.insert(runs(&[])[0].with_data(other).to_value().to_string()));
    let judged_on = Some(Box::new(DataIdentity { name: "other".into(), ..data() }));
    let judged = DataIdentity { judged_on, ..data() };
    assert!(seen.insert(runs(&[])[0].with_data(judged).to_value().to_string()));
}

#[test]
fn runs_read_back_and_another_format_does_not() {
    let given =
        ["data.votes_per_item=[5, \"all\"]", "training.schedule=plateau", "selection.stop=true"];
    for run in runs(&given) {
        let run = run.with_data(data());
        let text = run.to_value().to_string();
        assert_eq!(serde_json::from_str::<RunSpec>(&text).unwrap(), run);
        let other = text.replace("\"format\":1", "\"format\":2");
        let error = serde_json::from_str::<RunSpec>(&other).unwrap_err().to_string();
        assert!(error.contains("a run of format 2; expected format 1"), "{error}");
        let more = text.replace("\"batch\"", "\"extra\":1,\"batch\"");
        assert!(serde_json::from_str::<RunSpec>(&more).is_err());
    }
}
