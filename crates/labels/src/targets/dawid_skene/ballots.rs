//! Votes laid out for EM: by item for the E step, by annotator for the M step.
//!
//! An annotator and a class that this annotator votes for make a *pair*; pairs stand in the order
//! of (annotator, class), and a vote knows its pair. Only pairs that occur take space.

use dissensus_core::{Ballots, VoteTable};
use rayon::prelude::*;

use crate::parts::{parts, starts};
use crate::{LabelError, Named, Source};

/// The votes of a table whose annotators are all known.
#[derive(Debug)]
pub(super) struct Cast {
    classes: usize,
    weight: f64,
    /// Item i owns the votes `items[i]..items[i + 1]` of `pairs` and `weights`.
    pub(super) items: Vec<usize>,
    pub(super) pairs: Vec<u32>,
    /// Empty where all weigh 1.
    pub(super) weights: Vec<f64>,
    /// The class of each pair.
    pub(super) pair_classes: Vec<u16>,
    /// Annotator a owns the pairs `annotators[a]..annotators[a + 1]`.
    pub(super) annotators: Vec<usize>,
    /// Pair p owns the entries `voters[p]..voters[p + 1]` of `voted_items`, items ascending.
    pub(super) voters: Vec<usize>,
    pub(super) voted_items: Vec<u32>,
    /// Beside `voted_items`; empty where all weigh 1.
    pub(super) voted_weights: Vec<f64>,
}

impl Cast {
    pub(super) fn new(what: &'static str, table: &VoteTable) -> Result<Self, LabelError> {
        let Ballots::Votes(votes) = table.ballots() else {
            let why = "only counts or probabilities are known".to_owned();
            return Err(LabelError::NeedsVoters { what, why });
        };
        Source::unkeyed(table)?;
        let nameless = |&item: &usize| votes.of(item).any(|vote| vote.annotator.is_none());
        if let Some(items) = Named::of(table.items(), (0..table.len()).filter(nameless)) {
            let why = format!("votes name no annotator on {items}");
            return Err(LabelError::NeedsVoters { what, why });
        }
        let too_many = LabelError::TooMany { what: "votes" };
        u32::try_from(votes.len()).map_err(|_| too_many.clone())?;
        let mut sizes = vec![0; table.annotators().len()];
        for item in 0..table.len() {
            votes.of(item).for_each(|vote| sizes[vote.annotator.unwrap_or(0) as usize] += 1);
        }
        let items = starts((0..table.len()).map(|item| votes.of(item).len()));
        let (Some(items), Some(own)) = (items, starts(sizes.into_iter())) else {
            return Err(too_many);
        };
        // Every annotator's votes as (class, item, vote), sorted: the order of the pairs.
        let mut by_annotator = vec![(0u16, 0u32, 0u32); votes.len()];
        let mut next = own.clone();
        let mut weights = Vec::new();
        for (item, &start) in (0..table.len()).zip(&items) {
            for (at, vote) in (start as u32..).zip(votes.of(item)) {
                let cursor = &mut next[vote.annotator.unwrap_or(0) as usize];
                by_annotator[*cursor] = (vote.class().unwrap_or(0), item as u32, at);
                *cursor += 1;
                if votes.is_weighted() {
                    weights.push(vote.weight);
                }
            }
        }
        let sizes = own.windows(2).map(|own| own[1] - own[0]);
        parts(&mut by_annotator, sizes).into_par_iter().for_each(|part| part.sort_unstable());
        let mut pairs = vec![0; votes.len()];
        let (mut annotators, mut pair_classes, mut voters) = (vec![0], Vec::new(), Vec::new());
        for annotator in own.windows(2) {
            let range = annotator[0]..annotator[1];
            for (place, &(class, _, vote)) in range.clone().zip(&by_annotator[range.clone()]) {
                if place == range.start || by_annotator[place - 1].0 != class {
                    pair_classes.push(class);
                    voters.push(place);
                }
                pairs[vote as usize] = pair_classes.len() as u32 - 1;
            }
            annotators.push(pair_classes.len());
        }
        voters.push(votes.len());
        let voted_weights = by_annotator.iter().filter_map(|v| weights.get(v.2 as usize).copied());
        Ok(Self {
            classes: table.classes().len(),
            weight: if weights.is_empty() { votes.len() as f64 } else { weights.iter().sum() },
            voted_weights: voted_weights.collect(),
            voted_items: by_annotator.iter().map(|v| v.1).collect(),
            items,
            pairs,
            weights,
            pair_classes,
            annotators,
            voters,
        })
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    /// What all votes weigh.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// What the votes of an annotator weigh.
    pub(super) fn votes_of(&self, annotator: usize) -> f64 {
        let pairs = &self.annotators[annotator..annotator + 2];
        let own = self.voters[pairs[0]]..self.voters[pairs[1]];
        self.voted_weights.get(own.clone()).map_or(own.len() as f64, |own| own.iter().sum())
    }

    /// The shares of the votes on every item, row by row.
    pub(super) fn shares(&self) -> Vec<f64> {
        let mut rows = vec![0.0; (self.items.len() - 1) * self.classes];
        rows.par_chunks_exact_mut(self.classes.max(1)).enumerate().for_each(|(item, row)| {
            let mut total = 0.0;
            for vote in self.items[item]..self.items[item + 1] {
                let weight = self.weights.get(vote).copied().unwrap_or(1.0);
                row[self.pair_classes[self.pairs[vote] as usize] as usize] += weight;
                total += weight;
            }
            row.iter_mut().for_each(|share| *share /= total);
        });
        rows
    }
}
