//! `[split]`: which items are for training, and which are held out.

use serde::Serialize;

use super::Data;
use super::read::{Reader, Refusal, flag, number, whole};
use crate::ConfigError;
use crate::split::are_shares;

/// How items are split.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SplitChoice {
    /// The parts, training first.
    pub parts: Vec<&'static str>,
    /// The share of each part; the last has none where it is another dataset, and none has one where
    /// the split comes with the data.
    pub shares: Vec<f64>,
    /// Whether the split is stratified by class.
    pub stratify: bool,
    /// The seed of the split; `None` for each run's own seed.
    pub seed: Option<u64>,
}

impl SplitChoice {
    /// The split of these data; with `evaluate_on`, the other dataset is the last part.
    pub(super) fn read(reader: &mut Reader<'_>, data: &Data) -> Result<Self, ConfigError> {
        let evaluate_on = data.evaluate_on.is_some();
        let parts: Vec<&str> = reader.choose("split", "parts")?.split('/').collect();
        if data.split.is_some() {
            return Ok(Self { parts, shares: Vec::new(), stratify: false, seed: Some(0) });
        }
        let shares = reader.read("split", "shares", |value| {
            let shares = value.as_array().ok_or(Refusal::Unexpected)?;
            let shares = shares.iter().map(number(|_| true)).collect::<Result<Vec<_>, _>>()?;
            let fit = shares.len() + usize::from(evaluate_on) == parts.len() && are_shares(&shares);
            if fit { Ok(shares) } else { Err(Refusal::Unexpected) }
        })?;
        let stratify = reader.read("split", "stratify", flag)?;
        let seed = reader.read("split", "seed", |value| match value.as_str() {
            Some("run") => Ok(None),
            _ => whole(0..)(value).map(Some),
        })?;
        Ok(Self { parts, shares, stratify, seed })
    }
}
