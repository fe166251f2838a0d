//! What the store writes is read by others: predictions by `dissensus score`'s reader, weights by
//! the safetensors crate, as a plain dictionary of names.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{about, begin, checkpoint, predictions, spec, weights};
use dissensus_predictions::{Kind, ReadOptions};
use dissensus_store::{Begun, Store, Which};

#[test]
fn predictions_are_read_with_ids_and_classes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let run = begin(&store, 1);
    run.save_best(&weights(1.0), &predictions(1.5)).unwrap();
    let path = store.run(run.id()).unwrap().predictions_path(Which::Best);
    let models = dissensus_predictions::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(models.len(), 1);
    let model = &models[0];
    assert_eq!(model.ids.as_ref().unwrap(), &["b-2", "a 1", "日本"]);
    assert_eq!(model.classes.as_ref().unwrap(), &["dog", "cat"]);
    assert_eq!((model.kind, model.width), (Kind::Logits, 2));
    assert_eq!(model.values, [1.5, -1.0, 0.5, 2.5, 0.0, -1.5]);
}

#[test]
fn weights_are_a_plain_dictionary() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let run = begin(&store, 1);
    run.save_last(&weights(0.5), &predictions(1.0)).unwrap();
    let path = store.run(run.id()).unwrap().weights_path(Which::Last);
    let bytes = std::fs::read(path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut names = file.names();
    names.sort_unstable();
    assert_eq!(names, ["layer.bias", "layer.weight"]);
    let weight = file.tensor("layer.weight").unwrap();
    assert_eq!((weight.dtype(), weight.shape()), (safetensors::Dtype::F32, &[2, 2][..]));
    assert_eq!(weight.data(), 0.5f32.to_le_bytes().repeat(4));
}

#[test]
fn a_checkpoint_is_a_safetensors_file_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(folder.path()).unwrap();
    let Begun::Run(mut run) = store.begin(&spec(1), &about(), 5).unwrap() else {
        panic!("it is new")
    };
    run.save_checkpoint(&checkpoint(3, 2)).unwrap();
    let bytes = std::fs::read(run.dir().join("checkpoint.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let momentum = file.tensor("momentum/layer.weight").unwrap();
    assert_eq!(momentum.data(), 3f32.to_le_bytes().repeat(2));
}
