//! What the files beside the weights say of a sentence encoder.
//!
//! `config.json` has the network's sizes. How its output becomes one vector stands in the files of
//! sentence-transformers, where they are: `modules.json` (which steps there are),
//! `sentence_bert_config.json` (the longest text) and `1_Pooling/config.json`. Without them: the
//! mean of all tokens, divided by its length.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::EmbedError;
use crate::transformer::{Act, Norms, Shape, optional};

/// The part of `config.json` that decides something.
#[derive(Debug, Deserialize)]
pub(super) struct Config {
    model_type: String,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: String,
    #[serde(default = "tiny")]
    pub(super) layer_norm_eps: f32,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    pub(super) vocab_size: usize,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn tiny() -> f32 {
    1e-12
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl Config {
    /// Checks it, and gives what the layers have in common.
    pub(super) fn shape(&self) -> Result<Shape, String> {
        if self.model_type != "bert" {
            return Err(format!("model_type is {:?}; \"bert\" is read", self.model_type));
        }
        if self.position_embedding_type != "absolute" {
            return Err(format!(
                "position_embedding_type is {:?}; \"absolute\" is read",
                self.position_embedding_type
            ));
        }
        let act = Act::named(&self.hidden_act)?;
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("type_vocab_size", self.type_vocab_size),
            ("vocab_size", self.vocab_size),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(format!("{name} is 0; at least 1 is needed"));
        }
        Shape::check(self.hidden_size, self.num_attention_heads, self.layer_norm_eps)?;
        Ok(Shape {
            width: self.hidden_size,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            act,
            norms: Norms::After,
        })
    }
}

/// How the tokens of a text become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// The first token's.
    First,
    Mean,
    /// The largest of all, by place.
    Max,
    /// The sum of all by the root of their number.
    Root,
}

/// What happens around the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// The most tokens of a text, special ones included.
    pub(super) max_tokens: usize,
    pub(super) lowercase: bool,
    pub(super) pooling: Pooling,
    pub(super) normalize: bool,
}

#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Default, Deserialize)]
struct Sentence {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

#[derive(Default, Deserialize)]
struct TokenizerConfig {
    /// Some files have 1e30 for “no limit”.
    model_max_length: Option<f64>,
}

impl Settings {
    pub(super) fn read(folder: &Path, config: &Config) -> Result<Self, EmbedError> {
        let modules: Option<Vec<Module>> = optional(folder, "modules.json")?;
        let mut pooling_folder = "1_Pooling".to_owned();
        for module in modules.iter().flatten() {
            match module.kind.rsplit('.').next() {
                Some("Transformer" | "Normalize") => {}
                Some("Pooling") => pooling_folder.clone_from(&module.path),
                _ => {
                    let problem = format!(
                        "a module {:?}; Transformer, Pooling and Normalize are read",
                        module.kind
                    );
                    return Err(EmbedError::Model { path: folder.join("modules.json"), problem });
                }
            }
        }
        let normalize = modules
            .as_ref()
            .is_none_or(|modules| modules.iter().any(|module| module.kind.ends_with("Normalize")));
        let name = format!("{pooling_folder}/config.json");
        let pooling = match optional::<Value>(folder, &name)? {
            None => Pooling::Mean,
            Some(json) => {
                let path = folder.join(name);
                pooling(&json).map_err(|problem| EmbedError::Model { path, problem })?
            }
        };
        let sentence: Sentence = optional(folder, "sentence_bert_config.json")?.unwrap_or_default();
        let tokenizer: TokenizerConfig =
            optional(folder, "tokenizer_config.json")?.unwrap_or_default();
        let max_tokens = match sentence.max_seq_length {
            Some(most) => most,
            // Saturates, also at 1e30.
            None => tokenizer.model_max_length.map_or(usize::MAX, |most| most as usize),
        };
        let max_tokens = max_tokens.min(config.max_position_embeddings);
        Ok(Self { max_tokens, lowercase: sentence.do_lower_case, pooling, normalize })
    }
}

/// `pooling_mode_cls_token` and its like in old files, `pooling_mode` in new ones.
fn pooling(json: &Value) -> Result<Pooling, String> {
    const MODES: [(&str, &str, Pooling); 4] = [
        ("cls", "pooling_mode_cls_token", Pooling::First),
        ("mean", "pooling_mode_mean_tokens", Pooling::Mean),
        ("max", "pooling_mode_max_tokens", Pooling::Max),
        ("mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", Pooling::Root),
    ];
    let fields = json.as_object().ok_or("not a JSON object")?;
    let on: Vec<&str> = match fields.get("pooling_mode").and_then(Value::as_str) {
        Some(name) => vec![name],
        None => fields
            .iter()
            .filter(|(key, value)| key.starts_with("pooling_mode") && **value == Value::Bool(true))
            .map(|(key, _)| key.as_str())
            .collect(),
    };
    let known = |name: &str| MODES.iter().find(|mode| mode.0 == name || mode.1 == name);
    match on[..] {
        [name] => known(name).map(|mode| mode.2),
        _ => None,
    }
    .ok_or_else(|| format!("pooling by {on:?}; one of cls, mean, max and mean_sqrt_len is read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_by_old_and_new_names() {
        let read = |text: &str| pooling(&serde_json::from_str(text).unwrap_or_default());
        assert_eq!(read(r#"{"pooling_mode": "cls"}"#), Ok(Pooling::First));
        let old = r#"{"pooling_mode_cls_token": false, "pooling_mode_max_tokens": true}"#;
        assert_eq!(read(old), Ok(Pooling::Max));
        let old = r#"{"pooling_mode_mean_sqrt_len_tokens": true}"#;
        assert_eq!(read(old), Ok(Pooling::Root));
        let two = r#"{"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true}"#;
        assert!(read(two).is_err() && read("{}").is_err() && read("3").is_err());
        let other = read(r#"{"pooling_mode_lasttoken": true}"#);
        assert!(other.is_err_and(|problem| problem.contains("pooling_mode_lasttoken")));
    }
}
