//! BERT encoders against Hugging Face's transformers and tokenizers, on a random model of two
//! layers that `reference/embed` made; and files that are not what they should be.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;

use common::{copy, edit, golden};
use dissensus_embed::{Bert, EmbedError, Encoder, Kind};
use serde_json::{Value, json};

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn encode(bert: &Bert, texts: &[&str]) -> Vec<f32> {
    bert.texts(texts, &mut |_| true).unwrap()
}

/// The golden model with other settings.
fn with(folder: &Path, act: &str, pooling: &str, normalize: bool) -> Bert {
    edit(folder, "config.json", |json| json["hidden_act"] = act.into());
    fs::create_dir_all(folder.join("pool")).unwrap();
    fs::write(folder.join("pool/config.json"), json!({"pooling_mode": pooling}).to_string())
        .unwrap();
    let mut modules = vec![
        json!({"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}),
        json!({"idx": 1, "name": "1", "path": "pool", "type": "sentence_transformers.models.Pooling"}),
    ];
    if normalize {
        modules.push(json!({"path": "2", "type": "sentence_transformers.models.Normalize"}));
    }
    fs::write(folder.join("modules.json"), Value::from(modules).to_string()).unwrap();
    Bert::open(folder).unwrap()
}

#[test]
fn tokens_are_those_of_the_reference() {
    let folder = copy("bert");
    edit(folder.path(), "config.json", |json| json["max_position_embeddings"] = 48.into());
    let bert = Bert::open(folder.path()).unwrap();
    for case in golden("tokens.json").as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let wanted: Vec<u32> = serde_json::from_value(case["tokens"].clone()).unwrap();
        let mut found = bert.tokens(text);
        // The reference cut at 64, the model does at 48: the last token is [SEP] in both.
        let last = found.pop();
        assert_eq!(last.as_ref(), wanted.last(), "{text:?}");
        assert_eq!(found[..], wanted[..(wanted.len() - 1).min(47)], "{text:?}");
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    let expected = golden("bert/expected.json");
    let texts = strings(&expected["texts"]);
    let mut digests = Vec::new();
    for case in expected["cases"].as_array().unwrap() {
        let folder = copy("bert");
        let name = |key: &str| case[key].as_str().unwrap();
        let normalize = case["normalize"].as_bool().unwrap();
        let bert = with(folder.path(), name("act"), name("pooling"), normalize);
        assert_eq!((bert.kind(), bert.width()), (Kind::Text, Some(32)));
        digests.push(bert.identity().digest.clone());
        let found = encode(&bert, &texts);
        for (at, wanted) in case["vectors"].as_array().unwrap().iter().enumerate() {
            let wanted: Vec<f32> = serde_json::from_value(wanted.clone()).unwrap();
            for (a, b) in found[at * 32..][..32].iter().zip(&wanted) {
                assert!((a - b).abs() < 1e-5, "{case} of {:?}: {a}, not {b}", texts[at]);
            }
        }
    }
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 4, "every setting is part of the digest");
}

/// Without the files of sentence-transformers: the mean, divided by its length.
#[test]
fn the_plain_folder_gives_the_first_case() {
    let expected = golden("bert/expected.json");
    let folder = copy("bert");
    let bert = Bert::open(folder.path()).unwrap();
    let found = encode(&bert, &strings(&expected["texts"]));
    let first = expected["cases"][0]["vectors"][1][5].as_f64().unwrap();
    assert!((f64::from(found[32 + 5]) - first).abs() < 1e-5);
    assert_eq!(bert.max_tokens(), 48);
    assert_eq!(bert.identity().name, folder.path().file_name().unwrap().to_str().unwrap());
}

#[test]
fn a_vector_does_not_depend_on_its_company() {
    let folder = copy("bert");
    let bert = Bert::open(folder.path()).unwrap();
    let texts: Vec<String> = (0..200).map(|i| "hello un, ".repeat(i % 23) + "x").collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = encode(&bert, &texts);
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    let backwards = encode(&bert, &backwards);
    for (at, text) in texts.iter().enumerate() {
        let alone = encode(&bert, &[text]);
        assert_eq!(alone, together[at * 32..][..32], "{at}: the same bits");
        assert_eq!(alone, backwards[(199 - at) * 32..][..32], "{at}: the same bits");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| encode(&bert, &texts)), together, "on any number of threads");
    assert!(encode(&bert, &[]).is_empty());
}

#[test]
fn long_texts_are_cut_and_the_caller_may_stop() {
    let folder = copy("bert");
    fs::write(folder.path().join("sentence_bert_config.json"), r#"{"max_seq_length": 6}"#).unwrap();
    let bert = Bert::open(folder.path()).unwrap();
    assert_eq!(bert.tokens(&"hello ".repeat(1000)).len(), 6);
    let long = "hello ".repeat(5000);
    assert_eq!(encode(&bert, &[&long]), encode(&bert, &["hello hello hello hello"]));
    let texts = vec!["hello"; 500];
    let mut done = 0;
    let stopped = bert.texts(&texts, &mut |count| {
        done += count;
        false
    });
    assert!(matches!(stopped, Err(EmbedError::Stopped)));
    assert!(done < 500, "{done}");
    let mut done = 0;
    bert.texts(&texts, &mut |count| {
        done += count;
        true
    })
    .unwrap();
    assert_eq!(done, 500);
}

/// What opening says of the golden model after a change.
fn error(change: impl Fn(&Path)) -> String {
    let folder = copy("bert");
    change(folder.path());
    let error = Bert::open(folder.path()).unwrap_err().to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

fn config(key: &'static str, value: Value) -> String {
    error(move |folder| edit(folder, "config.json", |json| json[key] = value.clone()))
}

#[test]
fn bad_settings_are_named() {
    assert_eq!(
        config("model_type", "mpnet".into()),
        "config.json: model_type is \"mpnet\"; \"bert\" is read"
    );
    assert!(config("hidden_act", "silu".into()).contains("hidden_act is \"silu\"; gelu,"));
    assert!(config("num_attention_heads", 5.into()).contains("shared by 5 heads"));
    assert!(config("num_attention_heads", 0.into()).contains("num_attention_heads is 0"));
    assert!(config("hidden_size", "x".into()).starts_with("config.json: not the JSON"));
    assert!(config("max_position_embeddings", 2.into()).contains("leave no room"));
    assert!(config("vocab_size", 10.into()).starts_with("tokenizer.json: it has a token number"));
    assert!(config("layer_norm_eps", (-1).into()).contains("layer_norm_eps is -1"));
    let other = |folder: &Path| {
        let modules = r#"[{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]"#;
        fs::write(folder.join("modules.json"), modules).unwrap();
    };
    assert!(
        error(other).starts_with("modules.json: a module \"sentence_transformers.models.Dense\"")
    );
}

#[test]
fn bad_weights_are_named() {
    assert_eq!(
        config("intermediate_size", 65.into()),
        "model.safetensors: tensor \"encoder.layer.0.intermediate.dense.weight\" has shape \
         [64, 32], config.json asks for [65, 32]"
    );
    assert_eq!(
        config("num_hidden_layers", 3.into()),
        "model.safetensors: tensor \"encoder.layer.2.attention.self.query.weight\" is missing"
    );
    let cut = |folder: &Path| {
        let path = folder.join("model.safetensors");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    };
    assert!(error(cut).starts_with("model.safetensors: not a whole safetensors file"));
    let gone = |folder: &Path| fs::remove_file(folder.join("model.safetensors")).unwrap();
    assert!(error(gone).starts_with("model.safetensors: "));
    let gone = |folder: &Path| fs::remove_file(folder.join("tokenizer.json")).unwrap();
    assert!(error(gone).starts_with("tokenizer.json: "));
    let not_bert = |folder: &Path| {
        let vit = common::folder("vit").join("model.safetensors");
        fs::copy(vit, folder.join("model.safetensors")).unwrap();
    };
    assert!(error(not_bert).contains("is this another kind of model?"));
}

/// Bytes of any kind are an error, never a panic.
#[test]
fn broken_files_are_refused() {
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        for junk in [&b""[..], b"{}", b"[1, 2", b"\xff\xfe\x00", &[0; 64]] {
            let found = error(|folder| fs::write(folder.join(name), junk).unwrap());
            assert!(found.starts_with(name), "{found}");
        }
    }
}

#[test]
fn a_text_without_tokens_is_refused() {
    let folder = copy("bert");
    edit(folder.path(), "tokenizer.json", |json| json["post_processor"] = Value::Null);
    let bert = Bert::open(folder.path()).unwrap();
    assert_eq!(bert.tokens("  "), [0; 0]);
    let error = bert.texts(&["a cat", "  "], &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("has no tokens for the text \"  \""), "{error}");
}

#[test]
fn images_are_refused() {
    let bert = Bert::open(&common::folder("bert")).unwrap();
    let refused = bert.images(&[], &mut |_| true).unwrap_err();
    assert!(refused.to_string().contains("does not take images"));
}

/// There is no clock here: comparing every part of a long word with the vocabulary shows as a test that does
/// not end.
#[test]
fn a_word_without_end_is_cut_in_time_that_grows_with_it() {
    let folder = copy("bert");
    edit(folder.path(), "tokenizer.json", |json| {
        json["model"]["max_input_chars_per_word"] = u32::MAX.into();
        json["model"]["vocab"]["aa"] = 5.into();
        json["model"]["vocab"]["##aa"] = 6.into();
    });
    let bert = Bert::open(folder.path()).unwrap();
    let tokens = bert.tokens(&"a".repeat(200_000));
    assert_eq!(tokens.len(), bert.max_tokens());
    assert_eq!(tokens[1..4], [5, 6, 6]);
}
