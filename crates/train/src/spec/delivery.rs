//! `[delivery]`: how votes reach the loss.

use std::str::FromStr;

use dissensus_labels::{Delivery, LabelError, Target};
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
        Self::of(methods, reader)
    }

    /// These methods with the target that is set.
    pub(super) fn of(methods: Vec<Delivery>, reader: &mut Reader<'_>) -> Result<Self, ConfigError> {
        let target: Target = reader.read("delivery", "target", parsed)?;
        let counted = target.entry().keeps_counts;
        match methods.iter().find(|method| method.entry().needs_counts) {
            Some(method) if !counted => {
                let (method, target) = (method.entry().name, target.entry().name);
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
