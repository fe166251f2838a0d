//! The home of some of the items: their ids, their counters or their votes.

use hashbrown::HashMap;

use super::{BuildError, HEAVIEST, Keep};
use crate::IdsBuilder;
use crate::votes::NOBODY;

/// Classes beyond this many are tallied in a map instead of rows of counters.
const WIDEST_ROW: usize = 256;

/// Votes per (item, class) while they come in. Almost every count is small, and what a vote costs
/// is the cache miss on its counter: counters are single bytes, and what overflows one goes to a
/// map.
#[derive(Default)]
pub(super) struct Tally {
    /// Row-major counters, `width` an item; the value is that plus what `more` holds.
    pub(super) rows: Vec<u8>,
    pub(super) width: usize,
    pub(super) more: HashMap<u64, u32>,
}

impl Tally {
    fn key(item: u32, class: u16) -> u64 {
        u64::from(item) << 16 | u64::from(class)
    }

    #[inline]
    pub(super) fn add(&mut self, item: u32, class: u16, votes: u32) -> Result<(), BuildError> {
        if (class as usize) < WIDEST_ROW {
            if class as usize >= self.width {
                self.widen(class as usize + 1);
            }
            let at = item as usize * self.width + class as usize;
            if at >= self.rows.len() {
                self.rows.resize((item as usize + 1) * self.width, 0);
            }
            if let Some(sum) = u8::try_from(votes).ok().and_then(|n| self.rows[at].checked_add(n)) {
                self.rows[at] = sum;
                return Ok(());
            }
        }
        let more = self.more.entry(Self::key(item, class)).or_default();
        let too_many = BuildError::TooMany { what: "votes for one class of one item" };
        *more = more.checked_add(votes).filter(|n| *n < u32::MAX - 255).ok_or(too_many)?;
        Ok(())
    }

    fn widen(&mut self, width: usize) {
        if let Some(items) = self.rows.len().checked_div(self.width) {
            let mut rows = Vec::with_capacity(items * width);
            for row in self.rows.chunks(self.width) {
                rows.extend_from_slice(row);
                rows.resize(rows.len() + width - row.len(), 0);
            }
            self.rows = rows;
        }
        self.width = width;
    }
}

/// One vote on its way into a shard: its class and annotator are numbered already.
#[derive(Clone, Copy, Debug)]
pub struct ShardVote<'a> {
    /// The item's id.
    pub item: &'a str,
    /// [`id_hash`](crate::id_hash) of it.
    pub hash: u64,
    /// Number of the label, from [`TableBuilder::class`](super::TableBuilder::class).
    pub class: u16,
    /// Number of the annotator, from [`TableBuilder::annotator`](super::TableBuilder::annotator).
    pub annotator: Option<u32>,
    /// 1 where the source does not say.
    pub weight: f64,
    /// The row of the source, from 1; rows come in ascending order.
    pub row: u64,
}

/// The home of some of the items.
pub struct Shard {
    pub(super) keep: Keep,
    pub(super) items: IdsBuilder,
    pub(super) first_rows: Vec<u64>,
    pub(super) tally: Tally,
    pub(super) vote_items: Vec<u32>,
    /// The labels of all votes, one after the other.
    pub(super) vote_labels: Vec<u16>,
    /// Where the labels of each vote end; empty where every vote has one.
    pub(super) vote_ends: Vec<usize>,
    pub(super) vote_annotators: Vec<u32>,
    pub(super) vote_weights: Vec<f64>,
    pub(super) vote_rows: Vec<u64>,
}

impl Shard {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            keep,
            items: IdsBuilder::new(),
            first_rows: Vec::new(),
            tally: Tally::default(),
            vote_items: Vec::new(),
            vote_labels: Vec::new(),
            vote_ends: Vec::new(),
            vote_annotators: Vec::new(),
            vote_weights: Vec::new(),
            vote_rows: Vec::new(),
        }
    }

    /// Names an item, which may get no votes; its number within the shard.
    pub fn item(&mut self, id: &str, hash: u64, row: u64) -> Result<u32, BuildError> {
        if id.is_empty() {
            return Err(BuildError::EmptyId);
        }
        let (item, new) =
            self.items.intern_hashed(id, hash).ok_or(BuildError::TooMany { what: "items" })?;
        if new {
            self.first_rows.push(row);
        }
        Ok(item)
    }

    /// Adds several votes. Where only counts are kept, all items are looked up before the first
    /// counter is touched: the waits for memory overlap instead of following one another. On an
    /// error, gives the place of the vote that was refused.
    #[inline]
    pub fn push_all(&mut self, votes: &[ShardVote<'_>]) -> Result<(), (usize, BuildError)> {
        const BATCH: usize = 32;
        if self.keep != Keep::Counts {
            let mut votes = votes.iter().enumerate();
            return votes.try_for_each(|(at, vote)| self.push(*vote).map_err(|e| (at, e)));
        }
        for (batch, votes) in votes.chunks(BATCH).enumerate() {
            let mut items = [0; BATCH];
            for (at, vote) in votes.iter().enumerate() {
                let found = self.item(vote.item, vote.hash, vote.row);
                items[at] = found.map_err(|e| (batch * BATCH + at, e))?;
            }
            for (at, vote) in votes.iter().enumerate() {
                let added = self.tally.add(items[at], vote.class, 1);
                added.map_err(|e| (batch * BATCH + at, e))?;
            }
        }
        Ok(())
    }

    /// Adds a vote.
    #[inline]
    pub fn push(&mut self, vote: ShardVote<'_>) -> Result<(), BuildError> {
        if !(0.0..=HEAVIEST).contains(&vote.weight) {
            return Err(BuildError::Weight { weight: vote.weight });
        }
        let item = self.item(vote.item, vote.hash, vote.row)?;
        self.push_on(item, vote)
    }

    /// Adds a vote on an item that [`item`](Self::item) has numbered; the vote's own id is not read.
    #[inline]
    pub fn push_on(&mut self, item: u32, vote: ShardVote<'_>) -> Result<(), BuildError> {
        self.check(item, vote.weight)?;
        if self.keep == Keep::Counts {
            return self.tally.add(item, vote.class, 1);
        }
        self.vote_labels.push(vote.class);
        if !self.vote_ends.is_empty() {
            self.vote_ends.push(self.vote_labels.len());
        }
        self.close_vote(item, vote.annotator, vote.weight, vote.row);
        Ok(())
    }

    /// Adds a vote for any number of classes on a numbered item.
    pub(super) fn push_set(
        &mut self,
        item: u32,
        labels: &[u16],
        annotator: Option<u32>,
        weight: f64,
        row: u64,
    ) -> Result<(), BuildError> {
        self.check(item, weight)?;
        // The column of ends appears with the first vote that needs it.
        if self.vote_ends.is_empty() && labels.len() != 1 {
            self.vote_ends = (1..=self.vote_items.len()).collect();
        }
        self.vote_labels.extend_from_slice(labels);
        if !self.vote_ends.is_empty() || labels.len() != 1 {
            self.vote_ends.push(self.vote_labels.len());
        }
        self.close_vote(item, annotator, weight, row);
        Ok(())
    }

    #[inline]
    fn check(&self, item: u32, weight: f64) -> Result<(), BuildError> {
        if !(0.0..=HEAVIEST).contains(&weight) {
            return Err(BuildError::Weight { weight });
        }
        match (item as usize) < self.first_rows.len() {
            true => Ok(()),
            false => Err(BuildError::NoSuchNumber { what: "item", number: item }),
        }
    }

    #[inline]
    fn close_vote(&mut self, item: u32, annotator: Option<u32>, weight: f64, row: u64) {
        // The columns for annotators and weights appear with the first vote that needs them.
        let before = self.vote_items.len();
        self.vote_items.push(item);
        if annotator.is_some() || !self.vote_annotators.is_empty() {
            self.vote_annotators.resize(before, NOBODY);
            self.vote_annotators.push(annotator.unwrap_or(NOBODY));
        }
        if weight != 1.0 || !self.vote_weights.is_empty() {
            self.vote_weights.resize(before, 1.0);
            self.vote_weights.push(weight);
        }
        if self.keep == Keep::VotesAndRows {
            self.vote_rows.push(row);
        }
    }
}
