//! What the tests of the store share.

use std::fs;
use std::path::Path;

use dissensus_store::{ActiveRun, Begun, Checkpoint, Logits, Store, Tensors};
use serde_json::{Value, json};

pub(crate) fn spec(seed: u64) -> Value {
    json!({"model": {"name": "mlp", "width": 8}, "lr": 0.1, "seed": seed})
}

pub(crate) fn about() -> Value {
    json!({"code": "dissensus 0.1.0", "hardware": "2 cores"})
}

pub(crate) fn begin(store: &Store, seed: u64) -> ActiveRun {
    match store.begin(&spec(seed), &about(), 5).unwrap() {
        Begun::Run(run) => run,
        Begun::Finished(info) => panic!("{} is finished", info.id),
    }
}

/// A checkpoint in which every number is the epoch.
pub(crate) fn checkpoint(epoch: u64, values: usize) -> Checkpoint<'static> {
    let mut tensors = Tensors::new();
    tensors.push("layer.weight", [values], vec![epoch as f32; values]).unwrap();
    tensors.push("momentum/layer.weight", [values], vec![epoch as f32; values]).unwrap();
    let history = (1..=epoch).map(|epoch| json!({"epoch": epoch, "loss": 1.0 / epoch as f64}));
    Checkpoint { epoch, tensors, state: json!({"best": epoch}), history: history.collect() }
}

pub(crate) fn weights(value: f32) -> Tensors<'static> {
    let mut tensors = Tensors::new();
    tensors.push("layer.weight", [2, 2], vec![value; 4]).unwrap();
    tensors.push("layer.bias", [2], vec![-value; 2]).unwrap();
    tensors
}

pub(crate) fn predictions(value: f32) -> Logits<'static> {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let logits = vec![value, -1.0, 0.5, 2.5, 0.0, -value];
    Logits::new(logits, texts(&["b-2", "a 1", "日本"]), texts(&["dog", "cat"])).unwrap()
}

/// Makes a run, and its store, as the first version wrote them: without ids and checksums.
#[allow(dead_code)]
pub(crate) fn make_older(store: &Store, run: &Path) {
    let paths = ["about.json", "status.json"].map(|name| run.join(name));
    for path in paths.iter().chain([&store.path().join("store.json")]) {
        let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let object = value.as_object_mut().unwrap();
        ["sha256", "run", "checksums"].iter().for_each(|key| drop(object.remove(*key)));
        if object.contains_key("format") {
            value["format"] = 1.into();
        }
        fs::write(path, value.to_string()).unwrap();
    }
}
