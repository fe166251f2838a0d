//! Votes as a list: one or two bytes each, so that any vote is one memory access.

use rayon::prelude::*;

use super::Pick;
use crate::parts::{parts, starts};
use crate::words::below;
use crate::{LabelError, Source};

/// A class as it is stored: one byte where there are at most 256 classes.
pub(crate) trait Label: Copy + Default + Send + Sync + 'static {
    fn from_class(class: u16) -> Self;
    fn class(self) -> u16;
}

impl Label for u8 {
    fn from_class(class: u16) -> Self {
        class as u8
    }
    #[inline(always)]
    fn class(self) -> u16 {
        u16::from(self)
    }
}

impl Label for u16 {
    fn from_class(class: u16) -> Self {
        class
    }
    #[inline(always)]
    fn class(self) -> u16 {
        self
    }
}

const ITEMS_A_TASK: usize = 4096;

/// Every vote of every item, in class order until somebody shuffles them.
pub(crate) struct List<C> {
    starts: Vec<usize>,
    labels: Vec<C>,
}

impl<C: Label> List<C> {
    /// The votes of a source that counts them, each item's put into order by `arrange`.
    pub(crate) fn new(
        source: &Source<'_>,
        arrange: impl Fn(usize, &mut [C]) + Sync,
    ) -> Result<Self, LabelError> {
        let too_many = LabelError::TooMany { what: "votes" };
        let sizes = (0..source.len()).map(|place| source.votes(place) as usize);
        let starts = starts(sizes).ok_or_else(|| too_many.clone())?;
        let total = starts.last().copied().unwrap_or(0);
        let mut labels: Vec<C> = Vec::new();
        labels.try_reserve_exact(total).map_err(|_| too_many)?;
        labels.resize(total, C::default());
        let tasks: Vec<&[usize]> = starts[..source.len()].chunks(ITEMS_A_TASK).collect();
        let ends = (1..=tasks.len()).map(|task| (task * ITEMS_A_TASK).min(source.len()));
        let sizes = ends.zip(&tasks).map(|(end, own)| starts[end] - own[0]);
        let parts = parts(&mut labels, sizes);
        parts.into_par_iter().enumerate().for_each(|(task, part)| {
            let first = task * ITEMS_A_TASK;
            let places = first..(first + ITEMS_A_TASK).min(source.len());
            for place in places {
                let own = starts[place] - starts[first]..starts[place + 1] - starts[first];
                let (own, mut at) = (&mut part[own], 0);
                for (class, votes) in source.entries(place) {
                    own[at..at + votes as usize].fill(C::from_class(class));
                    at += votes as usize;
                }
                arrange(place, own);
            }
        });
        Ok(Self { starts, labels })
    }

    /// The label at a turn that goes round and round the votes of an item.
    #[inline(always)]
    pub(crate) fn turn(&self, place: usize, turn: u64) -> u16 {
        let (start, end) = (self.starts[place], self.starts[place + 1]);
        let votes = (end - start) as u64;
        let turn = if turn < votes { turn } else { turn % votes };
        self.labels[start + turn as usize].class()
    }
}

impl<C: Label> Pick for List<C> {
    #[inline(always)]
    fn pick(&self, place: usize, word: u64, again: impl FnMut() -> u64) -> u16 {
        let (start, end) = (self.starts[place], self.starts[place + 1]);
        self.labels[start + below(word, (end - start) as u64, again) as usize].class()
    }

    fn listed(&self) -> Option<(&[usize], Vec<u16>)> {
        Some((&self.starts, self.labels.iter().map(|label| label.class()).collect()))
    }
}
