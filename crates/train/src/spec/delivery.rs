//! `[delivery]`: how votes reach the loss.

use std::str::FromStr;

use dissensus_labels::{Delivery, LabelError, TARGETS, Target};
use serde::Serialize;

use super::read::{Reader, Refusal, several, text};
use crate::ConfigError;

/// The methods to compare, and the target that they deliver.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DeliveryChoice {
    /// The methods, one arm per method.
    pub methods: Vec<Delivery>,
    /// The target distribution.
    pub target: Target,
}

impl DeliveryChoice {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ConfigError> {
        let methods =
            reader.optional("delivery", "methods", |value| several(value, parsed::<Delivery>))?;
        let methods = methods.ok_or_else(|| {
            let remedy = r#"name what to compare, as in methods = ["soft", "sls"]"#;
            reader.missing("delivery.methods", remedy)
        })?;
        let target: Target = reader.read("delivery", "target", parsed)?;
        // The first target keeps the votes; the others are probabilities, which cannot be counted.
        let counted = TARGETS.first().is_some_and(|first| first.name == target.info().name);
        match methods.iter().find(|method| method.info().needs_counts) {
            Some(method) if !counted => {
                let (method, target) = (method.info().name, target.info().name);
                let why = format!(
                    "is {target}, which gives probabilities, and {method} needs votes that can be \
                     counted; set it to frequencies, or remove {method}"
                );
                Err(reader.conflict("delivery.target", why))
            }
            _ => Ok(Self { methods, target }),
        }
    }
}

fn parsed<T: FromStr<Err = LabelError>>(value: &toml::Value) -> Result<T, Refusal> {
    let invalid = |problem: LabelError| Refusal::Conflict(format!("is invalid: {problem}"));
    text(value)?.parse().map_err(invalid)
}
