//! `dissensus runs` and `dissensus predict`, over stores that the training loop has written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Output};

use dissensus::core::{Cancel, Event, Ids};
use dissensus::data::blends::{Blends, Settings};
use dissensus::engine::Cpu;
use dissensus::inputs::{Features, Inputs, Kind, from_blends};
use dissensus::io::npy;
use dissensus::store::{ActiveRun, Begun, RunId, Store, Which};
use dissensus::train::{FitOptions, RunResult, RunSpec, Saving, Spec, Task, fit_stored};
use serde_json::{Value, json};
use tempfile::TempDir;

use common::{dissensus, show};

const ITEMS: usize = 120;

/// What differs from run to run, from machine to machine, and with the version of a spec; and the
/// columns that are as wide as that.
const VARIABLE: [(&str, &str); 11] = [
    (r"process \d+", "process N"),
    (r"[0-9a-f]{12}…", "0123456789ab…"),
    (r"\b[0-9a-f]{16}\b", "0123456789abcdef"),
    (r"\b[0-9a-f]{8}\b", "01234567"),
    (r"[ -]\d\.\d{4}\b", " 0.1234"),
    (r"[▁-█]+", "▁▂▃▄▅▆▇█"),
    (r"\b[\d.]+ (B|kB)\b", "SIZE"),
    (r"\b[\d.]+ s\b", "TIME"),
    (r" {2,}(SIZE|TIME)", "  $1"),
    (r" +age +size", "  age  size"),
    (r"(?m) +– +–$", "  –  –"),
];

fn snapshot(name: &str, output: &Output) {
    insta::with_settings!({ filters => VARIABLE, omit_expression => true }, {
        insta::assert_snapshot!(name, show(output));
    });
}

/// A folder with a store `runs` in it.
struct Lab {
    folder: TempDir,
    store: Store,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path().join("runs")).unwrap();
        Self { folder, store }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        dissensus(self.folder.path(), arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", show(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn begin(&self, spec: &RunSpec) -> ActiveRun {
        let about = json!({ "version": "0.1.0", "device": "CPU, 2 cores" });
        match self.store.begin(&spec.to_value(), &about, spec.run.training.epochs).unwrap() {
            Begun::Run(run) => run,
            Begun::Finished(info) => panic!("{} is finished", info.id),
        }
    }

    /// Trains a run, up to so many epochs.
    fn train(&self, task: &Task, spec: &RunSpec, most: u64) -> RunId {
        let (run, cancel) = (self.begin(spec), Cancel::new());
        let id = run.id().clone();
        let until = |event: Event<'_>| {
            if matches!(event, Event::Measured { step, .. } if step + 1 >= most) {
                cancel.cancel();
            }
        };
        let (stop, progress) = (cancel.clone(), &until);
        let options = FitOptions { threads: 1, cancel: stop, progress, ..FitOptions::default() };
        fit_stored(task, spec, &Cpu, run, &Saving::default(), &options).unwrap();
        id
    }
}

fn blends() -> Blends {
    Settings { items: ITEMS, ..Settings::default() }.check().unwrap().generate().unwrap()
}

fn pictures() -> Task {
    let blends = blends();
    Task::new("blends", blends.table(), &from_blends(&blends).unwrap()).unwrap().0
}

fn spec(task: &Task, sets: &[&str]) -> RunSpec {
    let text = "
        data.dataset = 'blends'
        delivery.methods = 'soft'
        training = { epochs = 3, batch_size = 32, learning_rate = 0.05 }
        run.seeds = [0]
    ";
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let plan = Spec::parse(text, "test", &sets).unwrap().runs().remove(0);
    plan.with_data(task.identity().clone())
}

const SMALL: [&str; 2] = ["model.name=smallcnn", "model.width=4"];

fn small(task: &Task, seed: u64) -> RunSpec {
    spec(task, &[SMALL[0], SMALL[1], &format!("run.seeds=[{seed}]")])
}

/// A store with a run of every kind. The one that is being trained is so as long as it is held.
fn every_kind() -> (Lab, ActiveRun, HashMap<&'static str, String>) {
    let (lab, task) = (Lab::new(), pictures());
    let finished = lab.train(&task, &small(&task, 0), u64::MAX);
    let interrupted = lab.train(&task, &small(&task, 1), 2);
    let failed = lab.begin(&small(&task, 2));
    let failed_id = failed.id().clone();
    failed.fail("the loss is not a number in epoch 1: lower training.learning_rate").unwrap();
    let broken = lab.begin(&small(&task, 3));
    let broken_id = broken.id().clone();
    std::fs::write(broken.dir().join("spec.json"), "{").unwrap();
    drop(broken);
    let running = lab.begin(&small(&task, 4));
    let ids = [
        ("finished", finished),
        ("interrupted", interrupted),
        ("failed", failed_id),
        ("broken", broken_id),
        ("running", running.id().clone()),
    ];
    (lab, running, ids.into_iter().map(|(name, id)| (name, id.to_string())).collect())
}

/// Rows by what they say: those of the same second come in the order of their ids, which are
/// others with every version of a spec.
fn by_content(mut output: Output) -> Output {
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].sort_by_key(|line| &line[8..]);
    output.stdout = (lines.join("\n") + "\n").into_bytes();
    output
}

#[test]
fn lists_every_kind_of_run() {
    let (lab, _running, ids) = every_kind();
    let listed = lab.run(&["runs"]);
    let last = String::from_utf8(listed.stdout.clone()).unwrap();
    assert!(last.lines().last().unwrap().contains("broken"), "{last}");
    snapshot("runs_list", &by_content(listed));
    let markdown = String::from_utf8(lab.run(&["runs", "list", "--markdown"]).stdout).unwrap();
    let plain = markdown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("| soft · all votes | blends | failed | 2 | 0/3 | – |"), "{markdown}");
    let csv = String::from_utf8(lab.run(&["runs", "list", "--csv"]).stdout).unwrap();
    assert!(csv.contains(&format!("\n{},soft · all votes,blends,failed,2,0,3,,", ids["failed"])));
    assert!(csv.lines().all(|line| line.split(',').count() == 11), "{csv}");

    let json = lab.json(&["runs", "list", "--json"]);
    let runs = json["runs"].as_array().unwrap();
    let order: Vec<(u64, &str)> = runs
        .iter()
        .map(|run| (run["created"].as_u64().unwrap(), run["id"].as_str().unwrap()))
        .collect();
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(runs.len(), 4);
    for run in runs {
        let state = run["state"].as_str().unwrap();
        assert_eq!(run["id"], ids[state].as_str(), "{run}");
        assert_eq!((&run["arm"], &run["data"]), (&json!("soft · all votes"), &json!("blends")));
        assert_eq!(run["soft_nll"].is_f64(), state == "finished", "{run}");
        assert_eq!(run["reason"].is_string(), state == "failed", "{run}");
        let epochs = [("finished", 3), ("interrupted", 2), ("failed", 0), ("running", 0)];
        assert!(epochs.contains(&(state, run["epoch"].as_u64().unwrap())), "{run}");
    }
    let info = lab.store.find(&ids["finished"]).unwrap();
    let best = &info.result::<Value>().unwrap().unwrap()["parts"]["evaluation"]["best"];
    let finished = runs.iter().find(|run| run["state"] == "finished").unwrap();
    assert_eq!(finished["soft_nll"], best["soft_nll"]);
    assert_eq!(finished["accuracy"], best["accuracy"]);
    assert_eq!(finished["size_bytes"], info.size_bytes());
    assert_eq!(json["broken"][0]["id"], ids["broken"].as_str());
    assert!(json["broken"][0]["reason"].as_str().unwrap().contains("spec.json is damaged"));
}

#[test]
fn a_store_without_runs_says_how_to_train_one() {
    let lab = Lab::new();
    snapshot("runs_list_empty", &lab.run(&["runs", "list"]));
    assert_eq!(lab.json(&["runs", "list", "--json"])["runs"], json!([]));
    let bare = tempfile::tempdir().unwrap();
    let nothing = dissensus(bare.path(), &["runs"]);
    assert_eq!(nothing.stderr, lab.run(&["runs"]).stderr);
    assert!(nothing.status.success() && !bare.path().join("runs").exists());
    snapshot("error_no_store", &dissensus(bare.path(), &["runs", "--store", "elsewhere"]));
    // A store that is named by the environment does not stand in the way of a subcommand.
    let mut command = Command::new(env!("CARGO_BIN_EXE_dissensus"));
    command.args(["runs", "list", "--json"]).env("DISSENSUS_STORE", lab.store.path());
    assert!(command.output().unwrap().status.success());
}

#[test]
fn shows_everything_about_a_run() {
    let (lab, _running, ids) = every_kind();
    for state in ["finished", "interrupted", "failed", "running"] {
        let output = lab.run(&["runs", "show", &ids[state][..10]]);
        snapshot(&format!("runs_show_{state}"), &output);
    }
    let json = lab.json(&["runs", "show", &ids["finished"], "--json"]);
    let info = lab.store.find(&ids["finished"]).unwrap();
    assert_eq!((&json["spec"], &json["about"]), (&info.spec, &info.about));
    assert_eq!(json["result"], info.result::<Value>().unwrap().unwrap());
    assert_eq!(json["history"].as_array().unwrap().len(), 3);
    assert_eq!((&json["state"], &json["planned"]), (&json!("finished"), &json!(3)));
    let files: u64 =
        json["files"].as_array().unwrap().iter().map(|file| file["bytes"].as_u64().unwrap()).sum();
    assert_eq!(json["size_bytes"], files);
    snapshot("error_broken_run", &lab.run(&["runs", "show", &ids["broken"]]));
    let none = show(&lab.run(&["runs", "show", "zz"]));
    assert!(none.contains("no run begins with \"zz\"; the nearest are "), "{none}");
    assert!(none.ends_with("hint: `dissensus runs` lists them\n"), "{none}");
}

#[test]
fn removes_what_is_named_and_nothing_else() {
    let (lab, running, ids) = every_kind();
    let left = || lab.store.ids().unwrap().len();
    // Nobody can be asked, and one of them is being trained: all stay.
    snapshot("error_rm_not_asked", &lab.run(&["runs", "rm", &ids["finished"]]));
    let both = ["runs", "rm", &ids["finished"], &ids["running"], "--yes"];
    snapshot("error_rm_running", &lab.run(&both));
    assert_eq!(left(), 5);
    assert_eq!(lab.run(&["runs", "rm", "--yes"]).status.code(), Some(2));
    snapshot("runs_rm_failed", &lab.run(&["runs", "rm", "--failed", "--yes"]));
    assert_eq!(left(), 4);
    assert!(lab.store.find(&ids["failed"]).is_err());
    let again = show(&lab.run(&["runs", "rm", "--failed", "--yes"]));
    assert!(again.contains("exit code: 0") && again.contains("no run has failed"), "{again}");
    // Twice the same is once, and a broken one can go.
    let (short, broken) = (&ids["finished"][..10], &ids["broken"]);
    let output = lab.run(&["runs", "rm", short, &ids["finished"], broken, "--yes"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    assert_eq!(left(), 2);
    drop(running);
    assert!(lab.run(&["runs", "rm", "-y", &ids["running"]]).status.success());
    assert_eq!(lab.store.ids().unwrap(), [ids["interrupted"].parse::<RunId>().unwrap()]);
}

/// Logits by id, as bits.
fn bits(logits: &[f32], ids: &[String]) -> HashMap<String, Vec<u32>> {
    let width = logits.len() / ids.len();
    let rows = logits.chunks(width).map(|row| row.iter().map(|z| z.to_bits()).collect());
    ids.iter().cloned().zip(rows).collect()
}

/// Logits of an .npz by id, as bits.
fn written(path: &Path) -> HashMap<String, Vec<u32>> {
    let found = dissensus::predictions::read(path, &Default::default()).unwrap().remove(0);
    assert_eq!(found.kind, dissensus::predictions::Kind::Logits);
    let logits: Vec<f32> = found.values.iter().map(|&value| value as f32).collect();
    bits(&logits, &found.ids.unwrap())
}

fn same_bits(lab: &Lab, id: &RunId, data: &str, which: Which) {
    let path = lab.folder.path().join("predictions.npz");
    let (id, name) = (id.as_str(), which.name());
    let arguments = ["predict", id, data, "--weights", name, "--out", "predictions.npz", "--force"];
    let output = lab.run(&arguments);
    assert!(output.status.success(), "{}", show(&output));
    let (found, info) = (written(&path), lab.store.find(id).unwrap());
    let stored = info.predictions(which).unwrap().unwrap();
    for (id, row) in bits(stored.logits(), stored.ids()) {
        assert_eq!(
            found.get(&id),
            Some(&row),
            "{}, {data}, {name}, {id}",
            info.spec["run"]["model"]
        );
    }
    assert!(found.len() > stored.ids().len());
}

/// Blends are generated with their ids, and the first are the same however many there are.
#[test]
fn pictures_of_a_run_are_predicted_to_the_bit() {
    let (lab, task) = (Lab::new(), pictures());
    // A rate that stays so high that it gets worse again.
    let sets = [
        "training.optimizer=adam",
        "training.learning_rate=0.05",
        "training.schedule=constant",
        "training.epochs=12",
    ];
    let adam = lab.train(&task, &spec(&task, &[&SMALL[..], &sets[..]].concat()), u64::MAX);
    let result: RunResult = lab.store.run(&adam).unwrap().result().unwrap().unwrap();
    assert!(result.best_epoch < 11, "best and last are the same: {result:?}");
    let sgd = lab.train(&task, &small(&task, 0), u64::MAX);
    for (id, which) in [(&adam, Which::Best), (&adam, Which::Last), (&sgd, Which::Best)] {
        same_bits(&lab, id, "blends", which);
    }
    let best = lab.run(&["predict", adam.as_str(), "blends"]);
    let last = lab.run(&["predict", adam.as_str(), "blends", "--weights", "last"]);
    let text = String::from_utf8(best.stdout.clone()).unwrap();
    assert!(text.starts_with("id,ring,square,") && text.lines().count() == 4_001);
    assert_ne!(best.stdout, last.stdout);
    // Four in five of the run's items were trained on, and they are among those of the same names.
    let warning = format!("{} of 4,000 items are in the training part of the run", ITEMS * 4 / 5);
    assert!(show(&best).contains(&warning), "{warning}: {}", show(&best));
    // The same of a score; held-out predictions have nothing to warn of.
    let votes = lab.folder.path().join("votes.csv");
    let mut text = String::from("item,annotator,label\n");
    let names = task.table().classes().names();
    for (at, id) in task.table().items().iter().enumerate() {
        text += &format!("{id},w,{}\n", names[at % names.len()]);
    }
    std::fs::write(&votes, text).unwrap();
    std::fs::write(lab.folder.path().join("all.csv"), &best.stdout).unwrap();
    let held_out = format!("runs/runs/{}/predictions/best.npz", adam.as_str());
    for (file, warns) in [("all.csv", true), (held_out.as_str(), false)] {
        let score = ["score", "--votes", "votes.csv", "--predictions", file];
        let more = ["--run", adam.as_str(), "--replicates", "0"];
        let output = lab.run(&[&score[..], &more].concat());
        assert!(output.status.success(), "{}", show(&output));
        let said = show(&output);
        let of = format!("{} of {ITEMS} items are in the training part", ITEMS * 4 / 5);
        assert_eq!(said.contains(&of), warns, "{said}");
    }
}

/// What the last layer sees: the layer makes the logits of it, and a head can be trained on it.
#[test]
fn features_are_what_the_last_layer_sees() {
    let (lab, task) = (Lab::new(), pictures());
    let id = lab.train(&task, &small(&task, 0), u64::MAX);
    let both = ["--features", "features.npz", "--out", "logits.npz"];
    let output = lab.run(&[&["predict", id.as_str(), "blends"], &both[..]].concat());
    assert!(output.status.success() && output.stdout.is_empty(), "{}", show(&output));
    let path = lab.folder.path().join("features.npz");
    let inputs = dissensus::inputs::read(&path, &Default::default()).unwrap();
    let Kind::Features(features) = inputs.kind() else { panic!("features") };
    let found =
        dissensus::predictions::read(&lab.folder.path().join("logits.npz"), &Default::default());
    let found = found.unwrap().remove(0);
    assert!(inputs.ids().unwrap().iter().eq(found.ids.as_ref().unwrap()));
    let weights = lab.store.run(&id).unwrap().weights(Which::Best).unwrap().unwrap();
    let (classes, width) = (found.classes.as_ref().unwrap().len(), features.width());
    let of = |shape: &[usize]| {
        let mut fit = weights.iter().filter(|tensor| tensor.shape() == shape);
        fit.next_back().unwrap().values().to_vec()
    };
    let (w, b) = (of(&[classes, width]), of(&[classes]));
    let rows = features.values().chunks(width).zip(found.values.chunks(classes));
    for (row, logits) in rows.take(50) {
        for (k, logit) in logits.iter().enumerate() {
            let products = w[k * width..][..width].iter().zip(row);
            let z = f64::from(b[k]) + products.map(|(w, x)| f64::from(w * x)).sum::<f64>();
            assert!((z - logit).abs() < 1e-4, "{z} {logit}");
        }
    }
    // Alone, nothing is printed; and nothing is replaced unasked.
    let again = ["predict", id.as_str(), "blends", "--features", "features.npz"];
    assert_eq!(lab.run(&again).status.code(), Some(2));
    let output = lab.run(&[&again[..], &["--force"]].concat());
    assert!(output.status.success() && output.stdout.is_empty(), "{}", show(&output));
}

#[test]
fn feature_vectors_of_a_run_are_predicted_to_the_bit() {
    let (lab, blends) = (Lab::new(), blends());
    let names: Vec<String> = blends.table().items().iter().map(str::to_owned).collect();
    let mut table = String::from("id,a,b,c,d,e\n");
    let mut values = Vec::new();
    for (place, id) in names.iter().enumerate() {
        let row: Vec<f32> =
            blends.image(place)[100..105].iter().map(|&byte| f32::from(byte) / 255.0).collect();
        let cells: Vec<String> = row.iter().map(f32::to_string).collect();
        table += &format!("{id},{}\n", cells.join(","));
        values.extend(row);
    }
    std::fs::write(lab.folder.path().join("features.csv"), &table).unwrap();
    let kind = Kind::Features(Features::new("x", 5, values).unwrap());
    let inputs = Inputs::new("x", Some(Ids::new(&names).unwrap()), kind).unwrap();
    let task = Task::new("blends", blends.table(), &inputs).unwrap().0;
    let sets = ["model.name=mlp", "model.hidden=8"];
    let id = lab.train(&task, &spec(&task, &sets), u64::MAX);
    same_bits(&lab, &id, "features.csv", Which::Best);

    let values = |file: &str| {
        let read = dissensus::predictions::read(&lab.folder.path().join(file), &Default::default());
        read.unwrap().remove(0).values
    };
    let warm = ["predict", id.as_str(), "features.csv", "--out", "warm.npz", "--temperature"];
    assert!(lab.run(&[&warm[..], &["2"]].concat()).status.success());
    let twice: Vec<f64> = values("warm.npz").iter().map(|logit| 2.0 * logit).collect();
    assert_eq!(twice, values("predictions.npz"));
    for wrong in ["0", "-1", "inf", "warm"] {
        let refused = lab.run(&[&warm[..], &[wrong]].concat());
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
    }

    let narrow: String =
        table.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n").collect();
    std::fs::write(lab.folder.path().join("narrow.csv"), narrow).unwrap();
    snapshot("error_predict_width", &lab.run(&["predict", id.as_str(), "narrow.csv"]));
    snapshot("error_predict_kind", &lab.run(&["predict", id.as_str(), "blends"]));
}

#[test]
fn predict_says_what_is_wrong() {
    let (lab, running, ids) = every_kind();
    drop(running);
    let array = |name: &str, shape: &[usize]| {
        let mut bytes = npy::header("|u1", shape);
        bytes.resize(bytes.len() + shape.iter().product::<usize>(), 7);
        std::fs::write(lab.folder.path().join(name), bytes).unwrap();
    };
    array("colour.npy", &[2, 16, 16, 3]);
    array("grey.npy", &[2, 16, 16]);
    let id = ids["finished"].as_str();
    snapshot("error_predict_channels", &lab.run(&["predict", id, "colour.npy"]));
    snapshot("error_predict_interrupted", &lab.run(&["predict", &ids["interrupted"], "grey.npy"]));
    snapshot("error_predict_name", &lab.run(&["predict", id, "grey.npy", "--out", "out.parquet"]));
    let missing = show(&lab.run(&["predict", id, "missing.npy"]));
    assert!(missing.contains("exit code: 2") && missing.contains("missing.npy"), "{missing}");
    // Without ids, rows are known by their place; and both get the same from the same picture.
    let made = lab.run(&["predict", id, "grey.npy", "--out", "out.csv"]);
    snapshot("predict_csv", &made);
    let text = std::fs::read_to_string(lab.folder.path().join("out.csv")).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1].strip_prefix("0,"), rows[2].strip_prefix("1,"));
    let sum: f64 = rows[1].split(',').skip(1).map(|cell| cell.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    snapshot("error_predict_exists", &lab.run(&["predict", id, "grey.npy", "--out", "out.csv"]));
}
