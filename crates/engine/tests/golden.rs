//! The engine against PyTorch, number by number.
//!
//! The files of `tests/golden` were written by `reference/engine`, in float64. Each has one test,
//! under its own name, in f64 and in f32; parameters come in by [`Network::import`], under
//! PyTorch's names and in its layouts. A file without a test fails, and so does a tensor of a file
//! that its test did not look at.
//!
//! Distances are max |ours − golden| / max |golden|, by tensor, and stay below a small multiple of
//! what PyTorch's own rounding does to the numbers of the file: about 1e-14 for a layer and 1e-12
//! for ten steps of ResNet-18 in f64; 1e-6 and 6e-5 in f32.
//!
//! [`Network::import`]: dissensus_engine::Network::import

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod golden_support;

use std::collections::BTreeSet;

use golden_support::{FOLDER, Golden, curvature, layers, models, optimizers, schedules};

/// A test for every file, and the list of them.
macro_rules! goldens {
    ($($file:ident: $family:ident::$check:ident;)+) => {
        const FILES: &[&str] = &[$(stringify!($file)),+];
        $(
            #[test]
            fn $file() {
                let golden = Golden::read(stringify!($file));
                $family::$check::<f64>(&golden);
                $family::$check::<f32>(&golden);
                golden.assert_all_seen();
            }
        )+
    };
}

goldens! {
    linear: layers::linear;
    conv3x3_s1_5to7_6x8: layers::conv;
    conv3x3_s1_16to16_8x8: layers::conv;
    conv3x3_s2_5to7_6x8: layers::conv;
    conv3x3_s2_5to7_7x9: layers::conv;
    conv3x3_s2_16to32_8x8: layers::conv;
    conv1x1_s1_5to7_6x8: layers::conv;
    conv1x1_s1_16to32_4x4: layers::conv;
    conv1x1_s2_5to7_6x8: layers::conv;
    conv1x1_s2_5to7_7x9: layers::conv;
    conv1x1_s2_16to32_8x8: layers::conv;
    batch_norm_train: layers::batch_norm;
    batch_norm_eval: layers::batch_norm;
    relu: layers::relu;
    gelu: layers::gelu;
    global_average_pool: layers::pool;
    add: layers::add;
    residual: layers::residual;
    residual_downsample: layers::residual;
    cross_entropy_index: layers::cross_entropy;
    cross_entropy_distribution: layers::cross_entropy;
    cross_entropy_extreme: layers::cross_entropy;
    hvp_mlp: curvature::mlp;
    hvp_conv_bn_train: curvature::conv_bn;
    hvp_conv_bn_eval: curvature::conv_bn;
    sgd_plain: optimizers::steps;
    sgd_momentum: optimizers::steps;
    sgd_momentum_decay: optimizers::steps;
    sgd_halved: optimizers::steps;
    adam: optimizers::steps;
    adam_decay: optimizers::steps;
    adam_halved: optimizers::steps;
    mlp: models::mlp;
    resnet18: models::resnet18;
    resnet18_wide: models::resnet18_wide;
}

#[test]
fn schedules_are_those_of_pytorch() {
    schedules::all();
}

#[test]
fn every_file_of_the_folder_has_a_test() {
    let found: BTreeSet<String> = std::fs::read_dir(FOLDER)
        .expect("the folder of golden files")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut tested: BTreeSet<String> =
        FILES.iter().map(|name| format!("{name}.safetensors")).collect();
    tested.insert("schedules.json".to_owned());
    let forgotten: Vec<_> = found.difference(&tested).collect();
    assert!(forgotten.is_empty(), "without a test: {forgotten:?}");
    let missing: Vec<_> = tested.difference(&found).collect();
    assert!(missing.is_empty(), "tested, but not in the folder: {missing:?}");
}

/// What the golden files say of given examples holds of a data set too: an epoch over images ends
/// in the same bits as the same batches given one by one.
#[test]
fn an_epoch_is_its_batches_given_one_by_one() {
    models::epoch_against_steps();
}
