//! How readers make a [`VoteTable`].
//!
//! A builder owns the classes and annotators seen so far and a few [`Shard`]s, each the home of
//! the items whose [`id_hash`](crate::id_hash) falls to it. A simple reader calls
//! [`TableBuilder::vote`]; a parallel one numbers classes and annotators first and then fills all
//! shards at once. The table is the same for any number of shards: items are put back into the
//! order of the rows that first name them.

use hashbrown::{HashMap, HashSet};
use thiserror::Error;

use crate::ids::id_hash;
use crate::table::NOBODY;
use crate::{Ballots, ClassError, ClassOrder, ClassSet, Counts, Ids, IdsBuilder, VoteTable, Votes};

/// What to keep of the votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Only how many votes each class got: memory grows with the items, not with the votes.
    Counts,
    /// Every vote.
    Votes,
    /// Every vote and the row it came from.
    VotesAndRows,
}

/// Why a vote cannot be added. The reader knows where it stood and says so.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BuildError {
    /// The label is not among the declared classes.
    #[error("unknown class {label:?}: the declared classes are {known}")]
    UnknownClass {
        /// The label.
        label: String,
        /// The declared names, joined.
        known: String,
    },
    /// The classes do not make a class set.
    #[error(transparent)]
    Classes(#[from] ClassError),
    /// More ids or votes than can be numbered.
    #[error("more than {} {what}", u32::MAX)]
    TooMany {
        /// What there is too much of.
        what: &'static str,
    },
    /// A vote weight that is negative, NaN, or above [`HEAVIEST`].
    #[error("a vote cannot weigh {weight}")]
    Weight {
        /// The weight.
        weight: f64,
    },
}

/// The largest weight of a vote: the sum of any number of them is still a number.
pub const HEAVIEST: f64 = 1e100;

/// Classes beyond this many are tallied in a map instead of rows of counters.
const WIDEST_ROW: usize = 256;

/// Votes per (item, class) while they come in. Almost every count is small, and what a vote costs
/// is the cache miss on its counter: counters are single bytes, and what overflows one goes to a
/// map.
#[derive(Default)]
struct Tally {
    /// Row-major counters, `width` an item; the value is that plus what `more` holds.
    rows: Vec<u8>,
    width: usize,
    more: HashMap<u64, u32>,
}

impl Tally {
    fn key(item: u32, class: u16) -> u64 {
        u64::from(item) << 16 | u64::from(class)
    }

    #[inline]
    fn add(&mut self, item: u32, class: u16, votes: u32) -> Result<(), BuildError> {
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
        if self.width > 0 {
            let mut rows = Vec::with_capacity(self.rows.len() / self.width * width);
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
    /// Number of the label, from [`TableBuilder::class`].
    pub class: u16,
    /// Number of the annotator, from [`TableBuilder::annotator`].
    pub annotator: Option<u32>,
    /// 1 where the source does not say.
    pub weight: f64,
    /// The row of the source, from 1; rows come in ascending order.
    pub row: u64,
}

/// The home of some of the items.
pub struct Shard {
    keep: Keep,
    items: IdsBuilder,
    first_rows: Vec<u64>,
    tally: Tally,
    vote_items: Vec<u32>,
    vote_classes: Vec<u16>,
    vote_annotators: Vec<u32>,
    vote_weights: Vec<f64>,
    vote_rows: Vec<u64>,
}

impl Shard {
    fn new(keep: Keep) -> Self {
        Self {
            keep,
            items: IdsBuilder::new(),
            first_rows: Vec::new(),
            tally: Tally::default(),
            vote_items: Vec::new(),
            vote_classes: Vec::new(),
            vote_annotators: Vec::new(),
            vote_weights: Vec::new(),
            vote_rows: Vec::new(),
        }
    }

    /// Names an item, which may get no votes; its number within the shard.
    pub fn item(&mut self, id: &str, hash: u64, row: u64) -> Result<u32, BuildError> {
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
        if self.keep == Keep::Counts {
            return self.tally.add(item, vote.class, 1);
        }
        // The columns for annotators and weights appear with the first vote that needs them.
        let before = self.vote_items.len();
        self.vote_items.push(item);
        self.vote_classes.push(vote.class);
        if vote.annotator.is_some() || !self.vote_annotators.is_empty() {
            self.vote_annotators.resize(before, NOBODY);
            self.vote_annotators.push(vote.annotator.unwrap_or(NOBODY));
        }
        if vote.weight != 1.0 || !self.vote_weights.is_empty() {
            self.vote_weights.resize(before, 1.0);
            self.vote_weights.push(vote.weight);
        }
        if self.keep == Keep::VotesAndRows {
            self.vote_rows.push(vote.row);
        }
        Ok(())
    }
}

/// Collects votes and makes a [`VoteTable`] of them.
pub struct TableBuilder {
    keep: Keep,
    declared: Option<ClassSet>,
    /// Labels with smaller numbers than this are declared ones.
    declared_labels: usize,
    labels: IdsBuilder,
    annotators: IdsBuilder,
    shards: Vec<Shard>,
}

impl TableBuilder {
    /// A builder with one shard.
    pub fn new(keep: Keep) -> Self {
        Self::with_shards(keep, 1)
    }

    /// A builder with `shards` shards (at least 1), for readers that fill them in parallel.
    pub fn with_shards(keep: Keep, shards: usize) -> Self {
        Self {
            keep,
            declared: None,
            declared_labels: 0,
            labels: IdsBuilder::new(),
            annotators: IdsBuilder::new(),
            shards: (0..shards.max(1)).map(|_| Shard::new(keep)).collect(),
        }
    }

    /// What is kept.
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// Keeps every vote from now on, because counts alone would lose something (weights). To be
    /// called before the first vote.
    pub fn require_votes(&mut self) {
        if self.keep == Keep::Counts {
            self.keep = Keep::Votes;
            self.shards.iter_mut().for_each(|shard| shard.keep = Keep::Votes);
        }
    }

    /// Fixes the classes and their order; any other label is an error, before and from now on.
    pub fn declare(&mut self, classes: ClassSet) -> Result<(), BuildError> {
        let names: HashSet<&str> = classes.names().iter().map(String::as_str).collect();
        let mut labels = (0..self.labels.len()).filter_map(|at| self.labels.get(at));
        if let Some(other) = labels.find(|label| !names.contains(label)) {
            return Err(unknown(other, &classes));
        }
        drop(names);
        for name in classes.names() {
            self.labels.intern(name);
        }
        self.declared_labels = self.labels.len();
        self.declared = Some(classes);
        Ok(())
    }

    /// The classes that were declared.
    pub fn declared(&self) -> Option<&ClassSet> {
        self.declared.as_ref()
    }

    /// The number of a label.
    pub fn class(&mut self, label: &str) -> Result<u16, BuildError> {
        let (index, _) = self.labels.intern(label).ok_or(BuildError::TooMany { what: "labels" })?;
        if let Some(declared) = &self.declared
            && index as usize >= self.declared_labels
        {
            return Err(unknown(label, declared));
        }
        let class = u16::try_from(index).ok().filter(|&i| (i as usize) < ClassSet::MOST);
        let too_many = ClassError::TooMany { found: index as usize + 1, most: ClassSet::MOST };
        class.ok_or(BuildError::Classes(too_many))
    }

    /// The number of an annotator.
    pub fn annotator(&mut self, name: &str) -> Result<u32, BuildError> {
        match self.annotators.intern(name) {
            Some((index, _)) => Ok(index),
            None => Err(BuildError::TooMany { what: "annotators" }),
        }
    }

    /// The shards, to fill them in parallel. A vote belongs to [`shard_of`](Self::shard_of).
    pub fn shards_mut(&mut self) -> &mut [Shard] {
        &mut self.shards
    }

    /// The shard of an item among `shards` shards, by the hash of its id.
    #[inline]
    pub fn shard_of(hash: u64, shards: usize) -> usize {
        // The table inside a shard uses the lowest and highest bits.
        (hash >> 32) as usize % shards.max(1)
    }

    /// Adds a vote. `row` is its place in the source, from 1.
    ///
    /// Votes that come one by one all go to the first shard, which keeps items in the order in
    /// which they come even where one row names several. Do not mix with filling shards.
    pub fn vote(
        &mut self,
        item: &str,
        annotator: Option<&str>,
        label: &str,
        weight: f64,
        row: u64,
    ) -> Result<(), BuildError> {
        let class = self.class(label)?;
        let annotator = annotator.map(|name| self.annotator(name)).transpose()?;
        let hash = id_hash(item);
        self.shards[0].push(ShardVote { item, hash, class, annotator, weight, row })
    }

    /// Adds `votes` votes of unknown annotators for a class. Zero votes name the item and class.
    pub fn votes(
        &mut self,
        item: &str,
        label: &str,
        votes: u32,
        row: u64,
    ) -> Result<(), BuildError> {
        let class = self.class(label)?;
        let hash = id_hash(item);
        let keep = self.keep;
        let shard = &mut self.shards[0];
        let place = shard.item(item, hash, row)?;
        if keep == Keep::Counts {
            return shard.tally.add(place, class, votes);
        }
        let vote = ShardVote { item, hash, class, annotator: None, weight: 1.0, row };
        (0..votes).try_for_each(|_| shard.push(vote))
    }

    /// Names an item that may get no votes.
    pub fn item(&mut self, item: &str, row: u64) -> Result<(), BuildError> {
        let hash = id_hash(item);
        self.shards[0].item(item, hash, row).map(|_| ())
    }

    /// Whether an item has been named.
    pub fn has_item(&self, item: &str) -> bool {
        let hash = id_hash(item);
        self.shards[0].items.contains_hashed(item, hash)
    }

    /// The table. Labels become classes in the declared order, else in a canonical one; labels
    /// that are the same whole number (`1` and `1.0`) are one class.
    pub fn finish(self) -> Result<VoteTable, BuildError> {
        let Self { keep, declared, labels, annotators, mut shards, .. } = self;
        let labels = labels.finish();
        let (classes, class_of) = resolve_classes(declared, &labels)?;
        let places = item_places(&shards);
        let items = ordered_items(&shards, &places);
        // The ids' hash tables are the largest part of many tables, and done with.
        for shard in &mut shards {
            (shard.items, shard.first_rows) = (IdsBuilder::new(), Vec::new());
        }
        let ballots = if keep == Keep::Counts {
            Ballots::Counts(merge_counts(&shards, &places, items.len(), &class_of))
        } else {
            Ballots::Votes(merge_votes(shards, &places, items.len(), &class_of))
        };
        Ok(VoteTable { classes, items, annotators: annotators.finish(), ballots })
    }
}

fn unknown(label: &str, declared: &ClassSet) -> BuildError {
    BuildError::UnknownClass { label: label.to_owned(), known: declared.names().join(", ") }
}

/// The class set, and the class of each label number.
fn resolve_classes(
    declared: Option<ClassSet>,
    labels: &Ids,
) -> Result<(ClassSet, Vec<u16>), BuildError> {
    if let Some(classes) = declared {
        let class_of = classes_of(&classes, labels.iter());
        return Ok((classes, class_of));
    }
    let whole = |label: &str| {
        let value: f64 = label.parse().ok()?;
        (value.fract() == 0.0 && value.abs() < 1e15).then(|| format!("{}", value as i64))
    };
    let whole: Option<Vec<String>> = labels.iter().map(whole).collect();
    let names: Vec<String> = whole.unwrap_or_else(|| labels.iter().map(String::from).collect());
    let mut different = names.clone();
    different.sort();
    different.dedup();
    let classes = ClassSet::sorted(different)?;
    let class_of = classes_of(&classes, names.iter().map(String::as_str));
    Ok((classes, class_of))
}

/// The class of each name; 0 for a label that was refused, of which there are no votes.
fn classes_of<'n>(classes: &ClassSet, names: impl Iterator<Item = &'n str>) -> Vec<u16> {
    // A map, for a column of texts taken for labels has tens of thousands of classes.
    let places: HashMap<&str, u16> =
        classes.names().iter().map(String::as_str).zip(0..=u16::MAX).collect();
    names.map(|name| places.get(name).copied().unwrap_or(0)).collect()
}

/// For each shard, the place of each of its items in the table: items in the order of the rows
/// that first name them. Within a shard they stand in that order already.
fn item_places(shards: &[Shard]) -> Vec<Vec<u32>> {
    let mut places: Vec<Vec<u32>> =
        shards.iter().map(|s| Vec::with_capacity(s.first_rows.len())).collect();
    let total: usize = shards.iter().map(|s| s.first_rows.len()).sum();
    for place in 0..total as u32 {
        let next = |s: usize| shards[s].first_rows.get(places[s].len());
        let first = (0..shards.len()).filter_map(|s| Some((next(s)?, s))).min();
        if let Some((_, shard)) = first {
            places[shard].push(place);
        }
    }
    places
}

/// The (shard, item in it) of every place of the table.
fn homes(places: &[Vec<u32>], items: usize) -> Vec<(u16, u32)> {
    let mut homes = vec![(0, 0); items];
    for (shard, places) in places.iter().enumerate() {
        for (item, &place) in places.iter().enumerate() {
            homes[place as usize] = (shard as u16, item as u32);
        }
    }
    homes
}

fn ordered_items(shards: &[Shard], places: &[Vec<u32>]) -> Ids {
    let items = places.iter().map(Vec::len).sum();
    let name = |(shard, item): (u16, u32)| shards[shard as usize].items.get(item as usize);
    homes(places, items).into_iter().filter_map(name).collect()
}

fn merge_counts(shards: &[Shard], places: &[Vec<u32>], items: usize, class_of: &[u16]) -> Counts {
    let mut more: Vec<(u32, u16, u32)> = Vec::new();
    for (shard, places) in shards.iter().zip(places) {
        for (&key, &votes) in &shard.tally.more {
            more.push((places[(key >> 16) as usize], class_of[key as u16 as usize], votes));
        }
    }
    more.sort_unstable();
    let cells = shards.iter().flat_map(|shard| &shard.tally.rows);
    let mut counts = Counts::with_room(items, cells.filter(|n| **n > 0).count() + more.len());
    let mut more = more.into_iter().peekable();
    let mut entries: Vec<(u16, u32)> = Vec::new();
    for (place, (shard, item)) in homes(places, items).into_iter().enumerate() {
        let tally = &shards[shard as usize].tally;
        let start = (item as usize * tally.width).min(tally.rows.len());
        let end = (start + tally.width).min(tally.rows.len());
        entries.clear();
        for (label, &votes) in tally.rows[start..end].iter().enumerate() {
            if votes > 0 {
                entries.push((class_of[label], u32::from(votes)));
            }
        }
        while let Some((_, class, votes)) = more.next_if(|m| m.0 as usize == place) {
            entries.push((class, votes));
        }
        entries.sort_unstable();
        // Two labels may be one class (`1` and `1.0`), and a count may be in two places.
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 = if same { kept.1.saturating_add(next.1) } else { kept.1 };
            same
        });
        counts.push(entries.drain(..).filter(|e| e.1 > 0));
    }
    counts
}

fn merge_votes(shards: Vec<Shard>, places: &[Vec<u32>], items: usize, class_of: &[u16]) -> Votes {
    let mut starts = vec![0usize; items + 1];
    for (shard, places) in shards.iter().zip(places) {
        shard.vote_items.iter().for_each(|&i| starts[places[i as usize] as usize + 1] += 1);
    }
    for i in 0..items {
        starts[i + 1] += starts[i];
    }
    let total = starts[items];
    let column = |wanted: bool| if wanted { total } else { 0 };
    let named = shards.iter().any(|s| !s.vote_annotators.is_empty());
    let weighted = shards.iter().any(|s| !s.vote_weights.is_empty());
    let rows = shards.iter().any(|s| !s.vote_rows.is_empty());
    let mut votes = Votes {
        classes: vec![0; total],
        annotators: vec![NOBODY; column(named)],
        weights: vec![1.0; column(weighted)],
        rows: vec![0; column(rows)],
        starts: Vec::new(),
    };
    let mut next = starts.clone();
    for (shard, places) in shards.into_iter().zip(places) {
        for (i, &item) in shard.vote_items.iter().enumerate() {
            let cursor = &mut next[places[item as usize] as usize];
            let at = *cursor;
            *cursor += 1;
            votes.classes[at] = class_of[shard.vote_classes[i] as usize];
            if let Some(&annotator) = shard.vote_annotators.get(i) {
                votes.annotators[at] = annotator;
            }
            if let Some(&weight) = shard.vote_weights.get(i) {
                votes.weights[at] = weight;
            }
            if let Some(&row) = shard.vote_rows.get(i) {
                votes.rows[at] = row;
            }
        }
    }
    votes.starts = starts;
    votes
}

/// Fixes an order that a file or its format gives.
impl TableBuilder {
    /// Declares classes whose order the format fixes, unless the user declared some already.
    pub fn declare_format(&mut self, names: Vec<String>) -> Result<(), BuildError> {
        if self.declared.is_some() {
            return Ok(());
        }
        self.declare(ClassSet::new(names, ClassOrder::Format)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(keep: Keep, shards: usize, votes: &[(u8, u8, u8)]) -> VoteTable {
        let mut builder = TableBuilder::with_shards(keep, shards);
        for (row, (item, who, label)) in votes.iter().enumerate() {
            let (item, who, label) = (format!("i{item}"), format!("w{who}"), format!("c{label}"));
            let class = builder.class(&label).unwrap();
            let annotator = Some(builder.annotator(&who).unwrap());
            let (hash, row) = (id_hash(&item), row as u64 + 1);
            let home = TableBuilder::shard_of(hash, shards);
            let vote = ShardVote { item: &item, hash, class, annotator, weight: 1.0, row };
            builder.shards_mut()[home].push(vote).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn same_whole_number_is_one_class() {
        for keep in [Keep::Counts, Keep::Votes] {
            let mut builder = TableBuilder::new(keep);
            for (row, label) in ["2", "1.0", "1", "2.0", "10"].into_iter().enumerate() {
                builder.vote("a", None, label, 1.0, row as u64).unwrap();
            }
            let table = builder.finish().unwrap();
            assert_eq!(table.classes().names(), ["1", "2", "10"]);
            assert_eq!(table.counts().unwrap().row(0, 3), [2.0, 2.0, 1.0]);
        }
    }

    #[test]
    fn declared_classes_refuse_others() {
        let mut builder = TableBuilder::new(Keep::Votes);
        let classes = ClassSet::new(vec!["no".into(), "yes".into()], ClassOrder::Declared);
        builder.declare(classes.unwrap()).unwrap();
        assert!(builder.vote("a", None, "yes", 1.0, 1).is_ok());
        for row in 2..4 {
            let refused = builder.vote("a", None, "maybe", 1.0, row);
            assert!(matches!(refused, Err(BuildError::UnknownClass { .. })), "{refused:?}");
        }
        assert_eq!(builder.finish().unwrap().counts().unwrap().row(0, 2), [0.0, 1.0]);
    }

    #[test]
    fn classes_that_come_late_hold_for_earlier_votes() {
        let late = |labels: [&str; 2]| {
            let mut builder = TableBuilder::new(Keep::Votes);
            for (row, label) in labels.into_iter().enumerate() {
                builder.vote("a", None, label, 1.0, row as u64).unwrap();
            }
            builder.declare_format(vec!["e".into(), "n".into(), "c".into()])?;
            builder.vote("a", None, "n", 1.0, 3)?;
            assert!(builder.vote("a", None, "zebra", 1.0, 4).is_err());
            builder.finish()
        };
        let table = late(["c", "n"]).unwrap();
        assert_eq!(table.counts().unwrap().row(0, 3), [0.0, 2.0, 1.0]);
        assert!(matches!(late(["zebra", "n"]), Err(BuildError::UnknownClass { .. })));
    }

    #[test]
    fn weights_are_kept_and_checked() {
        let mut builder = TableBuilder::new(Keep::Votes);
        builder.vote("a", None, "x", 1.0, 1).unwrap();
        builder.vote("a", Some("w"), "y", 0.5, 2).unwrap();
        assert!(builder.vote("a", None, "x", f64::NAN, 3).is_err());
        assert!(builder.vote("a", None, "x", -1.0, 3).is_err());
        assert!(builder.vote("a", None, "x", 1e308, 3).is_err());
        let table = builder.finish().unwrap();
        let p = table.distributions()[0].clone().unwrap();
        assert_eq!(p.values(), [1.0 / 1.5, 0.5 / 1.5]);
    }

    #[test]
    fn one_row_may_name_several_items() {
        let mut builder = TableBuilder::with_shards(Keep::Votes, 4);
        let ids: Vec<String> = (0..50).map(|i| format!("i{i}")).collect();
        ids.iter().for_each(|id| builder.vote(id, None, "x", 1.0, 1).unwrap());
        assert!(builder.has_item("i7") && !builder.has_item("i50"));
        assert!(builder.finish().unwrap().items().iter().eq(ids.iter().map(String::as_str)));
    }

    #[test]
    fn large_counts_are_tallied_too() {
        let mut builder = TableBuilder::new(Keep::Counts);
        for n in [200, 50, 10, 1_000_000, 3] {
            builder.votes("a", "x", n, 1).unwrap();
        }
        builder.votes("b", "x", 255, 1).unwrap();
        builder.votes("b", "y", 256, 1).unwrap();
        assert!(builder.votes("a", "x", u32::MAX, 1).is_err());
        let table = builder.finish().unwrap();
        assert_eq!(table.counts().unwrap().row(0, 2), [1_000_263.0, 0.0]);
        assert_eq!(table.counts().unwrap().row(1, 2), [255.0, 256.0]);
    }

    #[test]
    fn many_classes_are_tallied_too() {
        let mut builder = TableBuilder::with_shards(Keep::Counts, 2);
        for i in 0..600u32 {
            let (item, label) = (format!("i{}", i % 3), format!("c{i:03}"));
            builder.votes(&item, &label, i % 4, u64::from(i)).unwrap();
        }
        let table = builder.finish().unwrap();
        let counts = table.counts().unwrap();
        assert_eq!(counts.total(), (0..600).map(|i| u64::from(i % 4 as u32)).sum::<u64>());
        assert_eq!(counts.row(2, 600)[599], 3.0);
    }

    proptest! {
        /// Shards, what is kept and the order of rows change nothing that they should not.
        #[test]
        fn shards_and_row_order_do_not_matter(
            votes in prop::collection::vec((0u8..20, 0u8..5, 0u8..4), 1..120),
            shards in 1usize..5,
            turn in 0usize..100,
        ) {
            let one = table(Keep::Votes, 1, &votes);
            let many = table(Keep::Votes, shards, &votes);
            prop_assert_eq!(&one, &many);
            let counted = table(Keep::Counts, shards, &votes);
            prop_assert_eq!(one.counts(), counted.counts());
            prop_assert_eq!(one.items(), counted.items());
            let mut turned = votes.clone();
            turned.rotate_left(turn % votes.len());
            prop_assert_eq!(one.digest(), table(Keep::Votes, shards, &turned).digest());
            let mut changed = votes.clone();
            changed[0].2 += 1;
            prop_assert_ne!(one.digest(), table(Keep::Votes, shards, &changed).digest());
        }
    }
}
