//! all-MiniLM-L6-v2 against sentence-transformers (`reference/embed/minilm.py`).
//!
//! The model is not part of the repository; `dissensus_testing::data` says where it is looked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use dissensus_embed::{Bert, Encoder};
use safetensors::SafeTensors;

#[test]
fn tokens_and_vectors_are_those_of_sentence_transformers() {
    let model = "models/minilm/model.safetensors";
    let Some(data) = dissensus_testing::data_named("minilm", &[model]) else { return };
    let bert = Bert::open(&data.join("models/minilm")).unwrap();
    assert_eq!(bert.identity().name, "all-MiniLM-L6-v2");
    assert_eq!((bert.width(), bert.max_tokens()), (Some(384), 256));
    let bytes = std::fs::read(common::folder("minilm.safetensors")).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    let texts: Vec<String> = serde_json::from_str(&metadata["texts"]).unwrap();
    let tokens: Vec<Vec<u32>> = serde_json::from_str(&metadata["tokens"]).unwrap();
    for (text, tokens) in texts.iter().zip(&tokens) {
        assert_eq!(&bert.tokens(text), tokens, "{text:?}");
    }
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let wanted: Vec<f32> = file
        .tensor("vectors")
        .unwrap()
        .data()
        .as_chunks()
        .0
        .iter()
        .map(|b| f32::from_le_bytes(*b))
        .collect();
    let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = bert.texts(&refs, &mut |_| true).unwrap();
    assert_eq!(found.len(), wanted.len());
    for (at, text) in texts.iter().enumerate() {
        let (a, b) = (&found[at * 384..][..384], &wanted[at * 384..][..384]);
        let cosine: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let most = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(cosine > 0.999_999 && most < 1e-6, "{text:?}: cosine {cosine}, off by {most}");
    }
}
