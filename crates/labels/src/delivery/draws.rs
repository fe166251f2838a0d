//! Labels that change from draw to draw, and how they are drawn for all examples at once.

use std::sync::Arc;

use dissensus_core::philox;
use rayon::prelude::*;

use super::listed::{Drawing, ListedVotes};
use crate::pool::Pick;
use crate::streams::SLS;
use crate::words::{RUN, four, one};

/// Labels as a function of (draw, place). A draw may last several epochs.
pub(super) trait Draws: Send + Sync {
    /// The number of the draw that an epoch delivers.
    fn draw_of(&self, epoch: u64) -> u64;
    /// The label of one example.
    fn label(&self, draw: u64, place: usize) -> u16;
    /// The labels of all examples; `out` has room for exactly these.
    fn fill(&self, draw: u64, out: &mut [u16]);
    /// Four draws at once, where they share work.
    fn four_at_once(&self) -> Option<&dyn FourAtOnce> {
        None
    }
    /// How it may be done elsewhere, where votes are kept one by one.
    fn listed(&self) -> Option<ListedVotes<'_>> {
        None
    }
}

/// Draws of which four take less time together than one by one.
pub(super) trait FourAtOnce {
    /// The labels of all examples in the draws 4 · quarter … 4 · quarter + 3.
    fn fill_four(&self, quarter: u64, out: [&mut [u16]; 4]);
}

/// Independent draws, each lasting `every` epochs.
pub(super) struct Sampled<P> {
    pub(super) pool: P,
    pub(super) keys: Arc<[u64]>,
    pub(super) seed: u64,
    pub(super) every: u64,
}

impl<P: Pick> Sampled<P> {
    fn key(&self) -> [u64; 2] {
        [self.seed, SLS]
    }

    /// Word `at` of the blocks 1, 2, … of an example, for the rare draw that word 0 cannot decide.
    #[cold]
    fn again(&self, place: usize, quarter: u64, at: usize, n: &mut u64) -> u64 {
        *n += 1;
        philox::block(self.key(), [*n, self.keys[place], quarter, 0])[at]
    }

    #[inline(always)]
    fn pick(&self, place: usize, quarter: u64, at: usize, word: u64) -> u16 {
        let mut n = 0;
        self.pool.pick(place, word, || self.again(place, quarter, at, &mut n))
    }

    fn fill_word<const W: usize>(&self, quarter: u64, out: &mut [u16]) {
        let runs = out.par_chunks_mut(RUN).zip(self.keys.par_chunks(RUN)).enumerate();
        runs.for_each(|(run, (labels, keys))| {
            let mut words = [0; RUN];
            one::<W>(self.key(), quarter, keys, &mut words);
            for (at, (label, &word)) in labels.iter_mut().zip(&words).enumerate() {
                *label = self.pick(run * RUN + at, quarter, W, word);
            }
        });
    }
}

impl<P: Pick> Draws for Sampled<P> {
    fn listed(&self) -> Option<ListedVotes<'_>> {
        let (starts, votes) = self.pool.listed()?;
        let [seed, stream] = self.key();
        Some(ListedVotes {
            starts,
            votes,
            drawing: Drawing::Words { keys: &self.keys, seed, stream },
        })
    }

    fn draw_of(&self, epoch: u64) -> u64 {
        epoch / self.every.max(1)
    }

    fn label(&self, draw: u64, place: usize) -> u16 {
        let (quarter, at) = (draw / 4, (draw % 4) as usize);
        let words = philox::block(self.key(), [0, self.keys[place], quarter, 0]);
        self.pick(place, quarter, at, words[at])
    }

    fn fill(&self, draw: u64, out: &mut [u16]) {
        let quarter = draw / 4;
        match draw % 4 {
            0 => self.fill_word::<0>(quarter, out),
            1 => self.fill_word::<1>(quarter, out),
            2 => self.fill_word::<2>(quarter, out),
            _ => self.fill_word::<3>(quarter, out),
        }
    }

    fn four_at_once(&self) -> Option<&dyn FourAtOnce> {
        Some(self)
    }
}

impl<P: Pick> FourAtOnce for Sampled<P> {
    fn fill_four(&self, quarter: u64, out: [&mut [u16]; 4]) {
        let [a, b, c, d] = out.map(|labels| labels.par_chunks_mut(RUN));
        let runs = (a, b, c, d, self.keys.par_chunks(RUN)).into_par_iter().enumerate();
        runs.for_each(|(run, (a, b, c, d, keys))| {
            let mut blocks = [[0; 4]; RUN];
            four(self.key(), quarter, keys, &mut blocks);
            let labels = a.iter_mut().zip(b).zip(c).zip(d);
            for (at, ((((a, b), c), d), words)) in labels.zip(&blocks).enumerate() {
                let place = run * RUN + at;
                *a = self.pick(place, quarter, 0, words[0]);
                *b = self.pick(place, quarter, 1, words[1]);
                *c = self.pick(place, quarter, 2, words[2]);
                *d = self.pick(place, quarter, 3, words[3]);
            }
        });
    }
}
