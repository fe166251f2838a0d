//! Which runs of a study, as arguments of Python.

use dissensus::studies::{PlanOptions, SeedChoice, VoteChoice};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Which runs of a study.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) arms: Option<Vec<String>>,
    pub(super) votes_per_item: Option<Vec<Votes>>,
    pub(super) seeds: Option<Seeds>,
}

/// A number of votes per item, or `"all"`.
#[derive(FromPyObject)]
pub(crate) enum Votes {
    Number(u64),
    Word(String),
}

/// At most so many seeds per arm, or the first and the last.
#[derive(FromPyObject)]
pub(crate) enum Seeds {
    Most(u64),
    Between((u64, u64)),
}

impl Choice {
    pub(super) fn options(self) -> PyResult<PlanOptions> {
        let votes = |votes: Votes| -> PyResult<Option<u32>> {
            let text = match votes {
                Votes::Number(number) => number.to_string(),
                Votes::Word(word) => word,
            };
            let choice = text.parse::<VoteChoice>();
            choice
                .map(|choice| choice.0)
                .map_err(|reason| value_error(format!("votes_per_item has {text:?}; {reason}")))
        };
        let ks = self.votes_per_item.unwrap_or_default().into_iter().map(votes);
        let text = self.seeds.map(|seeds| match seeds {
            Seeds::Most(most) => most.to_string(),
            Seeds::Between((first, last)) => format!("{first}-{last}"),
        });
        let seeds = text.map(|text| {
            text.parse::<SeedChoice>().map_err(|_| {
                value_error(format!(
                    "seeds is {text}; expected a whole number from 1, or two seeds, the smaller first, as in (5, 9)"
                ))
            })
        });
        let (seeds, between) = match seeds.transpose()? {
            None => (None, None),
            Some(SeedChoice::Most(most)) => (Some(most), None),
            Some(SeedChoice::Between(first, last)) => (None, Some((first, last))),
        };
        let only = self.arms.unwrap_or_default();
        Ok(PlanOptions { only, ks: ks.collect::<PyResult<_>>()?, seeds, between })
    }
}
