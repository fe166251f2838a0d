//! Runs, results and files that the tests of buckets share.

use std::fs;
use std::path::Path;

use dissensus_store::{Begun, Durability, Logits, Made, RunId, Store, Tensors};
use serde_json::{Value, json};

pub(crate) fn spec(seed: u64) -> Value {
    json!({"model": "mlp", "seed": seed})
}

pub(crate) fn id(seed: u64) -> RunId {
    RunId::of(&spec(seed))
}

pub(crate) fn finish(store: &Store, seed: u64, value: f32) {
    let about = json!({"machine": store.path().display().to_string()});
    let Begun::Run(run) = store.begin(&spec(seed), &about, 1).unwrap() else { panic!("finished") };
    let mut weights = Tensors::new();
    weights.push("w", [2], vec![value; 2]).unwrap();
    let names = |list: [&str; 2]| list.map(str::to_owned).to_vec();
    let logits =
        Logits::new(vec![value, 0.5, 1.5, 2.5], names(["a", "b"]), names(["x", "y"])).unwrap();
    run.save_best(&weights, &logits).unwrap();
    run.save_last(&weights, &logits).unwrap();
    run.finish(&json!({"kl": value})).unwrap();
}

/// A result of a stage, as a study writes it.
pub(crate) fn stage(store: &Store, seed: u64, csv: &str) {
    let from = store.run(&id(seed)).unwrap().predictions_digest().unwrap();
    let made = Made { rows: 1, from, code: "0.1.0".into(), ..Made::default() };
    let study = store.study("s").unwrap();
    let name = format!("stages/measure-1/{}.csv", id(seed));
    study.write_made(&name, csv.as_bytes(), &made, Durability::Process).unwrap();
}

/// Every file below a folder, by its name from there.
pub(crate) fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    fn each(folder: &Path, root: &Path, files: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                each(&path, root, files);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    let mut all = Vec::new();
    each(root, root, &mut all);
    all.sort();
    all
}

/// The files of a store that are carried.
pub(crate) fn carried(store: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = files(store);
    let stays = |name: &str| {
        name.ends_with(".safetensors") || name.ends_with("lock") || name == "store.json"
    };
    files.retain(|(name, _)| !stays(name));
    files
}
