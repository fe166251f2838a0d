//! A narrow ResNet-18 against PyTorch's autograd: `reference/geometry/golden.py`.
//!
//! The two nets are made here again, from their seeds; PyTorch had their weights, the images and
//! the targets in files, and computed in float64.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::compared::{Compared, SMALL};
use serde_json::Value;

/// Ours are in f32: 1e-3 of the largest number of a list, as `golden.py` compares them.
#[test]
fn as_pytorch() {
    let golden: Value = serde_json::from_str(include_str!("golden/resnet18.json")).unwrap();
    let ours = Compared::new(SMALL).found();
    let keys: Vec<&String> = ours.as_object().unwrap().keys().collect();
    let theirs: Vec<&String> = golden["values"].as_object().unwrap().keys().collect();
    assert_eq!(keys, theirs);
    for key in keys {
        let list = |value: &Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let (ours, theirs) = (list(&ours[key]), list(&golden["values"][key]));
        assert_eq!(ours.len(), theirs.len(), "{key}");
        let size = theirs.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let off = ours.iter().zip(&theirs).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
        assert!(size > 0.0 && off < 1e-3 * size, "{key}: off by {:e}", off / size);
    }
}
