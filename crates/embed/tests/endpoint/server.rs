//! What an embeddings endpoint is asked and answers. A text's vector is a function of the text.

pub(crate) use dissensus_testing::{How, Reply, Request, Server};
use serde_json::{Value, json};

pub(crate) fn asked(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

pub(crate) fn input(request: &Request) -> Vec<String> {
    let asked = asked(request);
    let texts = asked["input"].as_array().unwrap();
    texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What a good server answers.
pub(crate) fn good(request: &Request) -> Reply {
    Reply::new(200, answer(&input(request)).to_string())
}

/// The vector of a text.
pub(crate) fn vector(text: &str) -> [f32; 3] {
    let sum: u32 = text.bytes().map(u32::from).sum();
    [text.len() as f32, sum as f32 / 7.0, -0.25]
}

pub(crate) fn vectors(texts: &[&str]) -> Vec<f32> {
    texts.iter().flat_map(|text| vector(text)).collect()
}

/// A good answer; one token per text.
pub(crate) fn answer(texts: &[String]) -> Value {
    let row = |(index, text): (usize, &String)| json!({"index": index, "embedding": vector(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(row).collect();
    json!({"object": "list", "data": data, "model": "small-1", "usage": {"total_tokens": texts.len()}})
}
