//! Every vote in turn: the votes of an example are put into class order, shuffled once, and the
//! one at place t mod m_i is delivered in epoch t. In m_i epochs, each vote appears exactly once.
//!
//! The shuffle is Fisher–Yates from the end, by the example's own words of the stream `pass`.
//! Memory: 1 byte a vote (2 above 256 classes) and 8 an item.

use dissensus_core::{Scale, philox::Stream};
use rayon::prelude::*;

use super::draws::Draws;
use super::listed::{Drawing, ListedVotes};
use super::{Delivers, DeliveryEntry, Kind, method};
use crate::pool::{Label, List, Pick};
use crate::words::RUN;
use crate::{LabelError, Source, streams};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "multipass",
    title: "multipass",
    description: "every vote once per cycle, in an order shuffled once",
    formula: "vote (t mod m_i) of the shuffled votes of example i",
    delivers: Delivers::Labels,
    scales: Scale::ONE_LABEL,
    needs_counts: true,
    settings: &[],
    make: |_| Ok(method(|source, seed| shuffled("multipass", source, seed))),
};

/// The turns of votes shuffled under this seed.
pub(super) fn shuffled(
    what: &'static str,
    source: &Source<'_>,
    seed: u64,
) -> Result<Kind, LabelError> {
    source.require_counts(what, "soft or sls")?;
    Ok(Kind::Drawn(match source.classes().len() {
        0..=256 => Box::new(Turns::<u8>::new(source, seed)?),
        _ => Box::new(Turns::<u16>::new(source, seed)?),
    }))
}

struct Turns<C>(List<C>);

impl<C: Label> Turns<C> {
    fn new(source: &Source<'_>, seed: u64) -> Result<Self, LabelError> {
        let keys = source.keys();
        let shuffle = |place: usize, votes: &mut [C]| {
            Stream::new([seed, streams::PASS], [keys[place], 0, 0]).shuffle(votes);
        };
        List::new(source, shuffle).map(Self)
    }
}

impl<C: Label> Draws for Turns<C> {
    fn listed(&self) -> Option<ListedVotes<'_>> {
        let (starts, votes) = self.0.listed()?;
        Some(ListedVotes { starts, votes, drawing: Drawing::Turns })
    }

    fn draw_of(&self, epoch: u64) -> u64 {
        epoch
    }

    fn label(&self, draw: u64, place: usize) -> u16 {
        self.0.turn(place, draw)
    }

    fn fill(&self, draw: u64, out: &mut [u16]) {
        out.par_chunks_mut(RUN).enumerate().for_each(|(run, labels)| {
            for (at, label) in labels.iter_mut().enumerate() {
                *label = self.0.turn(run * RUN + at, draw);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{counted, shares, weighted};
    use crate::{Delivery, Source};
    use proptest::prelude::*;

    proptest! {
        /// Each vote exactly once per cycle, for any counts and from any epoch on.
        #[test]
        fn each_vote_once_per_cycle(
            row in prop::collection::vec(0u32..8, 2..7),
            seed: u64,
            first in 0u64..1 << 40,
        ) {
            let mut row = row;
            row[0] += 1;
            let table = counted(&[vec![1; row.len()], row.clone()]);
            let multipass: Delivery = "multipass".parse().unwrap();
            let prepared = multipass.prepare(&Source::new(&table).unwrap(), seed).unwrap();
            let votes: u32 = row.iter().sum();
            let mut seen = vec![0; row.len()];
            for epoch in first..first + u64::from(votes) {
                let mut labels = [0; 2];
                prepared.epoch(epoch, &mut labels).unwrap();
                seen[labels[1] as usize] += 1;
                let mut again = [0; 2];
                prepared.epoch(epoch + u64::from(votes), &mut again).unwrap();
                prop_assert_eq!(labels[1], again[1]);
            }
            prop_assert_eq!(seen, row);
        }
    }

    #[test]
    fn votes_have_to_be_counted() {
        let multipass: Delivery = "multipass".parse().unwrap();
        let table = shares(&[vec![0.5, 0.5]]);
        let error = multipass.prepare(&Source::new(&table).unwrap(), 0).unwrap_err().to_string();
        let expected =
            "multipass needs vote counts, and only probabilities are known; use soft or sls";
        assert_eq!(error, expected);
        let table = weighted(&[&[("x", 0.5), ("y", 1.0)]]);
        let error = multipass.prepare(&Source::new(&table).unwrap(), 0).unwrap_err().to_string();
        assert!(error.ends_with("these votes carry weights; use soft or sls"), "{error}");
    }

    /// Above 256 classes, labels take two bytes.
    #[test]
    fn many_classes() {
        let table = counted(&[(0..300).map(|class| u32::from(class > 290)).collect::<Vec<u32>>()]);
        let multipass: Delivery = "multipass".parse().unwrap();
        let prepared = multipass.prepare(&Source::new(&table).unwrap(), 1).unwrap();
        let mut seen: Vec<u16> = (0..9).map(|t| prepared.label(t, 0).unwrap()).collect();
        seen.sort();
        assert!(seen.into_iter().eq(291..300));
    }
}
