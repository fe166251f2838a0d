//! What a run is called: the hash of its resolved spec.
//!
//! The canonical form of a JSON value has the keys of every object sorted by their UTF-8 bytes, no
//! spaces, and numbers as `serde_json` writes them (the shortest digits that read back the same;
//! `1` and `1.0` differ). An id is the first 16 of the 64 hex digits of the SHA-256 of that text.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use crate::{StoreError, files};

/// Hex digits of an id.
const DIGITS: usize = 16;

/// The name of a run: 16 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// The id of the run with this resolved spec.
    pub fn of(spec: &Value) -> Self {
        Self::of_digest(&digest(spec))
    }

    pub(crate) fn of_digest(digest: &str) -> Self {
        Self(digest.chars().take(DIGITS).collect())
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for RunId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        match text.len() == DIGITS && text.bytes().all(digit) {
            true => Ok(Self(text.to_owned())),
            false => Err(StoreError::BadId { text: text.to_owned() }),
        }
    }
}

/// The SHA-256 of the canonical form, as 64 hex digits.
pub fn digest(spec: &Value) -> String {
    files::sha256(&canonical_json(spec))
}

/// The canonical form: equal values have equal texts.
pub fn canonical_json(value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|entry| entry.0);
            text.push(b'{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                plain(key, text);
                text.push(b':');
                write(value, text);
            }
            text.push(b'}');
        }
        Value::Array(list) => {
            text.push(b'[');
            for (at, value) in list.iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                write(value, text);
            }
            text.push(b']');
        }
        other => plain(other, text),
    }
}

/// Text, numbers and the like, which always have a form, written to memory, which always takes them.
fn plain(value: &impl Serialize, text: &mut Vec<u8>) {
    let _ = serde_json::to_writer(text, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Python 3.11:
    ///
    /// ```python
    /// import hashlib, json
    /// spec = {"seed": 7, "model": {"name": "mlp", "width": [64, 32]}, "lr": 0.1, "é": None}
    /// text = json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    /// print(text); print(hashlib.sha256(text.encode()).hexdigest())
    /// ```
    #[test]
    fn the_digest_is_that_of_any_other_language() {
        let spec =
            json!({"seed": 7, "model": {"width": [64, 32], "name": "mlp"}, "é": null, "lr": 0.1});
        let text = r#"{"lr":0.1,"model":{"name":"mlp","width":[64,32]},"seed":7,"é":null}"#;
        assert_eq!(canonical_json(&spec), text.as_bytes());
        assert_eq!(digest(&spec), GOLDEN);
        assert_eq!(RunId::of(&spec).as_str(), &GOLDEN[..16]);
    }

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let id = |text: &str| RunId::of(&serde_json::from_str(text).unwrap());
        assert_eq!(id(r#"{"a": {"x": 1, "y": 2}, "b": 3}"#), id(r#"{"b":3,"a":{"y":2,"x":1}}"#));
        let others = [r#"{"a":1}"#, r#"{"a":1.0}"#, r#"{"a":"1"}"#, r#"{"a":[1]}"#, r#"{"b":1}"#];
        let mut ids: Vec<RunId> = others.iter().map(|text| id(text)).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), others.len());
        assert_ne!(id("[1,2]"), id("[2,1]"));
    }

    #[test]
    fn ids_are_16_lower_hex_digits() {
        assert_eq!("0123456789abcdef".parse::<RunId>().unwrap().as_str(), "0123456789abcdef");
        for text in
            ["", "0123456789abcde", "0123456789abcdeg", "0123456789ABCDEF", "../../../../etc/p"]
        {
            let error = text.parse::<RunId>().unwrap_err();
            assert!(matches!(error, StoreError::BadId { .. }), "{error}");
        }
    }

    const GOLDEN: &str = "65e5eb2a506c97c9e92aa5863f236032f1221041acf39e93e430ddbb1c5329f0";
}
