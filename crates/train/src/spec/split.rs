//! `[split]`: what is trained on, and what is held out.

use serde::Serialize;

use super::read::{Reader, Refusal, flag, number, whole};
use crate::SpecError;
use crate::split::are_shares;

/// How items are split.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SplitChoice {
    /// The parts, training first.
    pub parts: Vec<&'static str>,
    /// Each part's share; none for the last where that is another dataset.
    pub shares: Vec<f64>,
    /// Whether every class is split alike.
    pub stratify: bool,
    /// What the split is drawn by; `None` for each run's own seed.
    pub seed: Option<u64>,
}

impl SplitChoice {
    /// The split of a dataset; where another is judged on, that is the last part.
    pub(super) fn read(reader: &mut Reader<'_>, judged_on: bool) -> Result<Self, SpecError> {
        let parts: Vec<&str> = reader.choose("split", "parts")?.split('/').collect();
        let shares = reader.read("split", "shares", |value| {
            let shares = value.as_array().ok_or(Refusal::Unexpected)?;
            let shares = shares.iter().map(number(|_| true)).collect::<Result<Vec<_>, _>>()?;
            let fit = shares.len() + usize::from(judged_on) == parts.len() && are_shares(&shares);
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
