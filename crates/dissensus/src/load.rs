//! Data that options name.

use dissensus_train::Spec;
use dissensus_train::spec::Data;

use crate::Error;

/// The `[data]` of a spec that has these keys.
pub fn data_of_keys(keys: &[(&'static str, serde_json::Value)]) -> Result<Data, Error> {
    let sets: Vec<String> = keys.iter().map(|(key, value)| format!("data.{key}={value}")).collect();
    Ok(Spec::parse("[delivery]\nmethods = [\"soft\"]\n", "the options", &sets)?.data)
}
