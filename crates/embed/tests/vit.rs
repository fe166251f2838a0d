//! Vision transformers against Hugging Face's Dinov2Model and Pillow (`reference/embed/vit.py`): a
//! random model of two layers, and one of ViT-S/14's true shapes whose weights are a formula's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;

use common::{copy, edit, folder, golden, spread};
use dissensus_embed::{EmbedError, Encoder, Image, Kind, Preprocessing, Vit};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::Value;

/// The same pixels as `image` of the reference.
fn pixels(shape: [usize; 3], stream: u32) -> Vec<u8> {
    let [height, width, channels] = shape;
    let noise = spread(height * width * channels, stream);
    let one = |(at, x): (usize, f32)| {
        let at = at / channels;
        let slope = at / width * 3 + at % width * 5;
        ((((x + 1.0) * 128.0) as usize / 2 + slope) % 256) as u8
    };
    noise.into_iter().enumerate().map(one).collect()
}

fn image(shape: [usize; 3], pixels: &[u8]) -> Image<'_> {
    let [height, width, channels] = shape;
    Image { height, width, channels, pixels }
}

fn close(found: &[f32], wanted: &Value, tolerance: f64, what: &str) {
    let wanted: Vec<f64> = serde_json::from_value(wanted.clone()).unwrap();
    assert_eq!(found.len(), wanted.len());
    for (&a, b) in found.iter().zip(&wanted) {
        assert!((f64::from(a) - b).abs() < tolerance, "{what}: {a}, not {b}");
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    for case in golden("vit/expected.json").as_array().unwrap() {
        let size = |key: &str| case[key].as_u64().unwrap() as usize;
        let (shorter, crop) = (size("shorter"), size("crop"));
        let preprocessing = Preprocessing { shorter, crop, ..Preprocessing::default() };
        let vit = Vit::open_with(&folder("vit"), preprocessing).unwrap();
        assert_eq!((vit.kind(), vit.width()), (Kind::Image, Some(24)));
        let shape: [usize; 3] = serde_json::from_value(case["shape"].clone()).unwrap();
        let pixels = pixels(shape, size("stream") as u32);
        let found = vit.images(&[image(shape, &pixels)], &mut |_| true).unwrap();
        let what = format!("{shape:?} to {shorter}, {crop}");
        close(&found, &case["vector"], 1e-5, &what);
    }
}

/// The rule of `weight` in the reference.
fn weight(name: &str, shape: &[usize], stream: u32) -> Vec<f32> {
    let mut values = spread(shape.iter().product(), stream);
    let inputs: usize = shape[1..].iter().product();
    let is_matrix = shape.len() >= 2 && !name.starts_with("embeddings.");
    let is_scale = name.contains("norm") && name.ends_with("weight") || name.contains("lambda");
    let matrix = (3.0 / inputs as f64).sqrt() as f32;
    for x in &mut values {
        *x = match (is_matrix || name.contains("projection.weight"), is_scale) {
            (true, _) => *x * matrix,
            (_, true) => *x * 0.25 + 1.0,
            _ => *x * 0.25,
        };
    }
    values
}

#[test]
fn the_true_shapes_of_vit_small() {
    let golden = golden("vit_small.json");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.json"), golden["config"].to_string()).unwrap();
    let shapes: Vec<(String, Vec<usize>)> =
        serde_json::from_value(golden["tensors"].clone()).unwrap();
    let bytes: Vec<Vec<u8>> = shapes
        .iter()
        .enumerate()
        .map(|(at, (name, shape))| weight(name, shape, at as u32))
        .map(|numbers| numbers.iter().flat_map(|x| x.to_le_bytes()).collect())
        .collect();
    let views = shapes.iter().zip(&bytes).map(|((name, shape), bytes)| {
        (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
    });
    fs::write(
        folder.path().join("model.safetensors"),
        safetensors::serialize(views, None).unwrap(),
    )
    .unwrap();
    let vit = Vit::open(folder.path()).unwrap();
    assert_eq!(vit.preprocessing(), Preprocessing::default());
    let shape: [usize; 3] = serde_json::from_value(golden["picture"]["shape"].clone()).unwrap();
    let pixels = pixels(shape, golden["picture"]["stream"].as_u64().unwrap() as u32);
    let found = vit.images(&[image(shape, &pixels)], &mut |_| true).unwrap();
    close(&found, &golden["vector"], 1e-4, "ViT-S/14");
}

#[test]
fn the_folder_says_how_images_are_prepared() {
    let folder = copy("vit");
    let file = folder.path().join("preprocessor_config.json");
    let error = |text: &str| {
        fs::write(&file, text).unwrap();
        Vit::open(folder.path()).unwrap_err().to_string()
    };
    assert!(error(r#"{"resample": 2}"#).ends_with("resample is Some(2); 3 (bicubic) is read"));
    assert!(error(r#"{"size": {"height": 3}}"#).ends_with("size has no shortest_edge"));
    assert!(error(r#"{"crop_size": {"height": 3, "width": 4}}"#).contains("3×4; a square"));
    assert!(error(r#"{"image_std": [0, 1, 1]}"#).contains("they are above 0"));
    assert!(error(r#"{"crop_size": {"height": 6, "width": 6}}"#).contains("patches of 4"));
    assert!(error(r#"{"size": {"shortest_edge": 8}}"#).contains("at least 224"));
    let good = r#"{"size": {"shortest_edge": 9}, "crop_size": {"height": 8, "width": 8},
        "image_mean": [0.1, 0.2, 0.3], "image_std": [1, 2, 3], "resample": 3}"#;
    fs::write(&file, good).unwrap();
    let vit = Vit::open(folder.path()).unwrap();
    let (mean, sd) = ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]);
    assert_eq!(vit.preprocessing(), Preprocessing { shorter: 9, crop: 8, mean, sd });
    let other = Preprocessing { shorter: 10, ..vit.preprocessing() };
    let other = Vit::open_with(folder.path(), other).unwrap();
    assert_ne!(vit.identity().digest, other.identity().digest, "part of the digest");
}

#[test]
fn bad_models_are_named() {
    let error = |key: &'static str, value: Value| {
        let folder = copy("vit");
        edit(folder.path(), "config.json", |json| json[key] = value.clone());
        let error = Vit::open(folder.path()).unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    assert!(error("model_type", "vit".into()).contains("\"dinov2\" is read"));
    assert!(error("use_swiglu_ffn", true.into()).contains("plain perceptrons are read"));
    assert!(error("num_channels", 1.into()).contains("num_channels is 1; 3 are read"));
    assert!(error("hidden_act", "silu".into()).contains("hidden_act is \"silu\""));
    assert!(error("patch_size", 0.into()).contains("patch_size is 0; 1 to 65535"));
    assert!(error("num_attention_heads", 7.into()).contains("shared by 7 heads"));
    assert_eq!(
        error("mlp_ratio", 5.into()),
        "model.safetensors: tensor \"encoder.layer.0.mlp.fc1.weight\" has shape [96, 24], \
         config.json asks for [120, 24]"
    );
    assert!(error("num_hidden_layers", 3.into()).contains("\"encoder.layer.2."));
}

#[test]
fn bad_images_are_refused_and_the_caller_may_stop() {
    let preprocessing = Preprocessing { shorter: 9, crop: 8, ..Preprocessing::default() };
    let vit = Vit::open_with(&folder("vit"), preprocessing).unwrap();
    let bytes = [0u8; 12];
    for shape in [[0, 4, 3], [2, 3, 3], [2, 3, 2], [usize::MAX, 2, 3]] {
        let refused = vit.images(&[image(shape, &bytes)], &mut |_| true);
        assert!(matches!(refused, Err(EmbedError::Input(_))), "{shape:?}");
    }
    let images = vec![image([2, 2, 3], &bytes); 50];
    assert!(matches!(vit.images(&images, &mut |_| false), Err(EmbedError::Stopped)));
    let all = vit.images(&images, &mut |_| true).unwrap();
    let alone = vit.images(&images[..1], &mut |_| true).unwrap();
    assert!(all.chunks(24).all(|vector| vector == alone), "the same bits");
    assert!(vit.texts(&["x"], &mut |_| true).is_err());
}
