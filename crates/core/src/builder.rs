//! How readers make a [`VoteTable`].
//!
//! A builder owns the classes and annotators seen so far and a few [`Shard`]s, each the home of
//! the items whose [`id_hash`](crate::id_hash) falls to it. A simple reader calls
//! [`TableBuilder::vote`]; a parallel one numbers classes and annotators first and then fills all
//! shards at once. The table is the same for any number of shards: items are put back into the
//! order of the rows that first name them.

mod merge;
mod shard;

use std::borrow::Cow;

use hashbrown::HashMap;
use thiserror::Error;

use crate::ids::id_hash;
use crate::{
    Ballots, ClassError, ClassOrder, ClassSet, Ids, IdsBuilder, RepeatedId, Scale, VoteTable,
};
use merge::{item_places, merge_counts, merge_votes, ordered_items};

pub use shard::{Shard, ShardVote};

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
        /// The first of the declared names, joined.
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
    /// An item without a name.
    #[error("an item with an empty id")]
    EmptyId,
    /// An item of two shards.
    #[error(transparent)]
    Items(#[from] RepeatedId),
    /// A number that the builder did not give to anything.
    #[error("there is no {what} with the number {number}")]
    NoSuchNumber {
        /// What the number is of.
        what: &'static str,
        /// The number.
        number: u32,
    },
    /// A vote for no class or several, on a scale where a vote is for one.
    #[error("a vote for {labels} classes, and {scale} votes are for one")]
    Labels {
        /// For how many.
        labels: usize,
        /// The scale.
        scale: Scale,
    },
}

/// The largest weight of a vote: the sum of any number of them is still a number.
pub const HEAVIEST: f64 = 1e100;

/// Collects votes and makes a [`VoteTable`] of them.
pub struct TableBuilder {
    keep: Keep,
    scale: Scale,
    declared: Option<ClassSet>,
    /// The places of the declared classes by [`plain_label`].
    declared_plain: PlainPlaces,
    /// Labels with smaller numbers than this are declared ones.
    declared_labels: usize,
    labels: IdsBuilder,
    annotators: IdsBuilder,
    shards: Vec<Shard>,
    /// Whether votes came one by one, all to the first shard.
    one_by_one: bool,
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
            scale: Scale::Nominal,
            declared: None,
            declared_plain: PlainPlaces::default(),
            declared_labels: 0,
            labels: IdsBuilder::new(),
            annotators: IdsBuilder::new(),
            shards: (0..shards.max(1)).map(|_| Shard::new(keep)).collect(),
            one_by_one: false,
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

    /// The scale of the votes, nominal unless it is set. Multi-label votes are kept one by one. To be
    /// called before the first vote.
    pub fn set_scale(&mut self, scale: Scale) {
        self.scale = scale;
        if scale == Scale::MultiLabel {
            self.require_votes();
        }
    }

    /// The scale of the votes.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Fixes the classes and their order; any other label is an error, before and from now on. Classes
    /// on a scale set it.
    pub fn declare(&mut self, classes: ClassSet) -> Result<(), BuildError> {
        if classes.scale() != Scale::Nominal {
            self.set_scale(classes.scale());
        }
        let plain = PlainPlaces::of(&classes);
        let mut labels = (0..self.labels.len()).filter_map(|at| self.labels.get(at));
        if let Some(other) = labels.find(|label| plain.place(label).is_none()) {
            return Err(unknown(other, &classes));
        }
        for name in classes.names() {
            self.labels.intern(name);
        }
        self.declared_labels = self.labels.len();
        self.declared_plain = plain;
        self.declared = Some(classes);
        Ok(())
    }

    /// The classes that are written in more than one way, each with its ways: `1`, `1.0` and `1 `
    /// are one class.
    pub fn spellings(&self) -> Vec<(String, Vec<String>)> {
        let mut groups: HashMap<Cow<'_, str>, Vec<&str>> = HashMap::new();
        for label in (0..self.labels.len()).filter_map(|at| self.labels.get(at)) {
            groups.entry(plain_label(label)).or_default().push(label);
        }
        let declared = |ways: &[&str]| {
            let mut own = ways.iter().filter(|way| self.declared_plain.exact(way).is_some());
            own.next().filter(|_| own.next().is_none()).map(|name| (*name).to_owned())
        };
        let named = |(plain, ways): (Cow<'_, str>, Vec<&str>)| {
            let name = match &self.declared {
                Some(_) => declared(&ways)?,
                None => plain.into_owned(),
            };
            (ways.len() > 1).then(|| (name, ways.into_iter().map(str::to_owned).collect()))
        };
        let mut found: Vec<_> = groups.into_iter().filter_map(named).collect();
        found.sort();
        found
    }

    /// The labels that are written with spaces around them.
    pub fn spaced(&self) -> impl Iterator<Item = &str> {
        (0..self.labels.len())
            .filter_map(|at| self.labels.get(at))
            .filter(|label| label.trim() != *label)
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
            && self.declared_plain.place(label).is_none()
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
    /// which they come even where one row names several. An item that also came by filling shards is
    /// an error in the end.
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
        self.one_by_one = true;
        self.shards[0].push(ShardVote { item, hash, class, annotator, weight, row })
    }

    /// As [`vote`](Self::vote), for any number of classes: on the multi-label scale also for none.
    pub fn vote_set(
        &mut self,
        item: &str,
        annotator: Option<&str>,
        labels: &[&str],
        weight: f64,
        row: u64,
    ) -> Result<(), BuildError> {
        if self.scale != Scale::MultiLabel {
            return match labels {
                [label] => self.vote(item, annotator, label, weight, row),
                _ => Err(BuildError::Labels { labels: labels.len(), scale: self.scale }),
            };
        }
        let labels: Vec<u16> =
            labels.iter().map(|label| self.class(label)).collect::<Result<_, _>>()?;
        let annotator = annotator.map(|name| self.annotator(name)).transpose()?;
        self.one_by_one = true;
        let shard = &mut self.shards[0];
        let place = shard.item(item, id_hash(item), row)?;
        shard.push_set(place, &labels, annotator, weight, row)
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
        self.one_by_one = true;
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
        self.one_by_one = true;
        self.shards[0].item(item, hash, row).map(|_| ())
    }

    /// Whether an item has been named.
    pub fn has_item(&self, item: &str) -> bool {
        let hash = id_hash(item);
        self.shards[0].items.contains_hashed(item, hash)
    }

    /// The table. Labels become classes in the declared order, else in a canonical one; labels
    /// that differ only in how they are written (`1`, `1.0` and `1 `) are one class.
    pub fn finish(self) -> Result<VoteTable, BuildError> {
        let Self { keep, scale, declared, labels, annotators, mut shards, one_by_one, .. } = self;
        let labels = labels.finish();
        let (classes, class_of) = resolve_classes(declared, &labels)?;
        let classes = classes.with_scale(scale)?;
        let places = item_places(&shards);
        let items = ordered_items(&shards, &places);
        // Only an item that came in both ways is in two shards.
        if one_by_one && shards[1..].iter().any(|shard| !shard.items.is_empty()) {
            Ids::new(items.iter())?;
        }
        // The ids' hash tables are the largest part of many tables, and done with.
        for shard in &mut shards {
            (shard.items, shard.first_rows) = (IdsBuilder::new(), Vec::new());
        }
        let ballots = if keep == Keep::Counts {
            Ballots::Counts(merge_counts(&shards, &places, items.len(), &class_of)?)
        } else {
            let people = annotators.len();
            Ballots::Votes(merge_votes(shards, &places, items.len(), &class_of, people)?)
        };
        Ok(VoteTable { classes, items, annotators: annotators.finish(), ballots })
    }
}

fn unknown(label: &str, declared: &ClassSet) -> BuildError {
    // There may be tens of thousands, and as many labels that are not among them.
    const LISTED: usize = 20;
    let names = &declared.names()[..declared.len().min(LISTED)];
    let more = if declared.len() > LISTED { ", …" } else { "" };
    BuildError::UnknownClass { label: label.to_owned(), known: names.join(", ") + more }
}

/// The class set, and the class of each label number.
fn resolve_classes(
    declared: Option<ClassSet>,
    labels: &Ids,
) -> Result<(ClassSet, Vec<u16>), BuildError> {
    if let Some(classes) = declared {
        let plain = PlainPlaces::of(&classes);
        // 0 for a label that was refused, of which there are no votes.
        let class_of = labels.iter().map(|label| plain.place(label).unwrap_or(0)).collect();
        return Ok((classes, class_of));
    }
    let plain: Vec<Cow<'_, str>> = labels.iter().map(plain_label).collect();
    let whole = plain.iter().all(|label| is_whole(label));
    let mut ways: HashMap<&str, usize> = HashMap::new();
    plain.iter().for_each(|label| *ways.entry(label).or_default() += 1);
    let name = |(label, plain): (&str, &Cow<'_, str>)| match whole || ways[plain.as_ref()] > 1 {
        true => plain.as_ref().to_owned(),
        false => label.to_owned(),
    };
    let names: Vec<String> = labels.iter().zip(&plain).map(name).collect();
    let mut different = names.clone();
    different.sort();
    different.dedup();
    let classes = ClassSet::sorted(different)?;
    // A map, for a column of texts taken for labels has tens of thousands of classes.
    let places: HashMap<&str, u16> =
        classes.names().iter().map(String::as_str).zip(0..=u16::MAX).collect();
    let place = |name: &String| places.get(name.as_str()).copied().unwrap_or(0);
    let class_of: Vec<u16> = names.iter().map(place).collect();
    drop(places);
    Ok((classes, class_of))
}

fn is_whole(label: &str) -> bool {
    label.parse::<f64>().is_ok_and(|value| value.fract() == 0.0 && value.abs() < 1e15)
}

/// A label as it is compared with others: without spaces around it, and a whole number without its
/// point.
///
/// ```
/// use dissensus_core::plain_label;
/// assert_eq!(plain_label(" 3.0"), "3");
/// assert_eq!(plain_label("yes "), "yes");
/// assert_eq!(plain_label("0.5"), "0.5");
/// ```
pub fn plain_label(label: &str) -> Cow<'_, str> {
    let text = label.trim();
    match text.parse::<f64>() {
        Ok(value) if is_whole(text) => Cow::Owned(format!("{}", value as i64)),
        _ => Cow::Borrowed(text),
    }
}

/// Where declared classes stand: by their names, and by their plain forms where these differ.
#[derive(Default)]
struct PlainPlaces {
    exact: HashMap<String, u16>,
    /// `None` where two classes have one plain form.
    plain: HashMap<String, Option<u16>>,
}

impl PlainPlaces {
    fn of(classes: &ClassSet) -> Self {
        let mut places = Self::default();
        for (name, place) in classes.names().iter().zip(0..=u16::MAX) {
            places.exact.insert(name.clone(), place);
            let plain = plain_label(name).into_owned();
            places.plain.entry(plain).and_modify(|known| *known = None).or_insert(Some(place));
        }
        places
    }

    fn exact(&self, label: &str) -> Option<u16> {
        self.exact.get(label).copied()
    }

    /// The class of a label.
    fn place(&self, label: &str) -> Option<u16> {
        self.exact(label).or_else(|| *self.plain.get(plain_label(label).as_ref())?)
    }
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
    fn labels_written_in_several_ways_are_one_class() {
        let table = |declared: Option<&[&str]>, labels: &[&str]| {
            let mut builder = TableBuilder::new(Keep::Votes);
            if let Some(names) = declared {
                let names = names.iter().map(ToString::to_string).collect();
                builder.declare(ClassSet::new(names, ClassOrder::Declared)?)?;
            }
            for (row, label) in labels.iter().enumerate() {
                builder.vote("a", None, label, 1.0, row as u64)?;
            }
            let spellings = builder.spellings();
            builder.finish().map(|table| (table, spellings))
        };
        let (mixed, spellings) = table(None, &["0", "no", "0.0", "0 ", "no ", "1.5"]).unwrap();
        assert_eq!(mixed.classes().names(), ["0", "1.5", "no"]);
        assert_eq!(mixed.counts().unwrap().row(0, 3), [3.0, 1.0, 2.0]);
        let names: Vec<_> =
            spellings.iter().map(|(name, ways)| (name.as_str(), ways.len())).collect();
        assert_eq!(names, [("0", 3), ("no", 2)]);
        // A lone spelling keeps its own name, unless all labels are numbers.
        let (lone, spellings) = table(None, &["yes ", "1.0"]).unwrap();
        assert_eq!(
            (lone.classes().names(), spellings.len()),
            (&["1.0".into(), "yes ".into()][..], 0)
        );
        let (told, spellings) = table(Some(&["1", "0", "x "]), &["0.0", "x", "1 ", "0"]).unwrap();
        assert_eq!(told.counts().unwrap().row(0, 3), [1.0, 2.0, 1.0]);
        assert_eq!(spellings.len(), 3);
        // Where two declared classes differ only so, only their own spellings are theirs.
        let (both, _) = table(Some(&["1", "1.0"]), &["1.0", "1", "1.0"]).unwrap();
        assert_eq!(both.counts().unwrap().row(0, 2), [1.0, 2.0]);
        assert!(table(Some(&["1", "1.0"]), &["1.00"]).is_err());
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
    fn numbers_of_nothing_are_refused() {
        let vote = ShardVote { item: "a", hash: 0, class: 0, annotator: None, weight: 1.0, row: 1 };
        for (keep, wrong) in [
            (Keep::Counts, ShardVote { class: 1, ..vote }),
            (Keep::Counts, ShardVote { class: 300, ..vote }),
            (Keep::Votes, ShardVote { class: 1, ..vote }),
            (Keep::Votes, ShardVote { annotator: Some(0), ..vote }),
        ] {
            let mut builder = TableBuilder::new(keep);
            assert_eq!(builder.class("x"), Ok(0));
            builder.shards_mut()[0].push(wrong).unwrap();
            let error = builder.finish().unwrap_err();
            assert!(matches!(error, BuildError::NoSuchNumber { .. }), "{error}");
        }
        let mut builder = TableBuilder::new(Keep::Votes);
        let error = builder.shards_mut()[0].push_on(0, vote).unwrap_err();
        assert_eq!(error.to_string(), "there is no item with the number 0");
        assert_eq!(builder.vote("", None, "x", 1.0, 1), Err(BuildError::EmptyId));
        assert!(builder.finish().unwrap().is_empty(), "what is refused leaves nothing behind");
        let mut builder = TableBuilder::with_shards(Keep::Votes, 2);
        builder.vote("a", None, "x", 1.0, 1).unwrap();
        builder.shards_mut()[1].push(vote).unwrap();
        assert_eq!(builder.finish(), Err(BuildError::Items(RepeatedId { id: "a".into() })));
    }

    #[test]
    fn only_multi_label_votes_are_for_several_classes() {
        let mut builder = TableBuilder::new(Keep::Counts);
        assert!(builder.vote_set("a", None, &["x"], 1.0, 1).is_ok());
        let error = builder.vote_set("a", None, &["x", "y"], 1.0, 2).unwrap_err();
        assert_eq!(error, BuildError::Labels { labels: 2, scale: Scale::Nominal });
        let classes = ClassSet::numbered(3).unwrap().with_scale(Scale::MultiLabel).unwrap();
        let mut builder = TableBuilder::new(Keep::Counts);
        builder.declare(classes).unwrap();
        assert_eq!((builder.scale(), builder.keep()), (Scale::MultiLabel, Keep::Votes));
        builder.vote_set("a", None, &["2", "0"], 1.0, 1).unwrap();
        assert_eq!(builder.finish().unwrap().scale(), Scale::MultiLabel);
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
        assert_eq!(counts.total(), (0..600u64).map(|i| i % 4).sum::<u64>());
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
