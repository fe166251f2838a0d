//! `[delivery]`: what the loss sees of the votes.

use dissensus_labels::{Delivery, Target};
use serde::Serialize;

use super::read::{Reader, Refusal, several, text};
use crate::SpecError;

/// The methods to compare, and what they deliver.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DeliveryChoice {
    /// The methods, one arm each.
    pub methods: Vec<Delivery>,
    /// What training goes towards.
    pub target: Target,
}

impl DeliveryChoice {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, SpecError> {
        let method =
            |value: &toml::Value| text(value)?.parse::<Delivery>().map_err(Refusal::Labels);
        let methods = reader.optional("delivery", "methods", |value| several(value, method))?;
        let methods = methods.ok_or_else(|| {
            let remedy = r#"name what to compare, as in methods = ["soft", "sls"]"#;
            reader.missing("delivery.methods", remedy)
        })?;
        let target = |value: &toml::Value| text(value)?.parse::<Target>().map_err(Refusal::Labels);
        let target = reader.read("delivery", "target", target)?;
        let counted = target.entry().keeps_counts;
        match methods.iter().find(|method| method.entry().needs_counts) {
            Some(method) if !counted => {
                let (method, target) = (method.entry().name, target.entry().name);
                let why = format!(
                    "is {target}, which gives probabilities, and {method} needs votes that can be \
                     counted; set it to frequencies, or leave {method} out"
                );
                Err(reader.conflict("delivery.target", why))
            }
            _ => Ok(Self { methods, target }),
        }
    }
}
