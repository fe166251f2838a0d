//! Votes as bytes, for pickles. The layout may change with any version.

use dissensus::core::{
    Ballots, ClassOrder, ClassSet, Counts, Ids, Keep, Probabilities, Scale, TableBuilder, VoteTable,
};
use dissensus::votes::Note;
use pyo3::prelude::*;

use crate::errors::value_error;

const MAGIC: &[u8] = b"dissensus votes 3\n";
const ORDERS: [ClassOrder; 4] =
    [ClassOrder::Declared, ClassOrder::Format, ClassOrder::Numeric, ClassOrder::Alphabetical];

/// A table with its name, its notes and the texts of its items.
pub(crate) fn to_bytes(
    table: &VoteTable,
    name: &str,
    notes: &[Note],
    texts: &[(String, String)],
) -> Vec<u8> {
    let mut out = Writer(MAGIC.to_vec());
    out.text(name);
    out.texts(notes.iter().flat_map(|note| [note.what.as_str(), note.value.as_str()]));
    out.texts(texts.iter().flat_map(|(item, text)| [item.as_str(), text.as_str()]));
    let order = ORDERS.iter().position(|order| *order == table.classes().order());
    out.number(order.unwrap_or(0) as u64);
    out.text(table.scale().name());
    out.texts(table.classes().names().iter().map(String::as_str));
    out.texts(table.items().iter());
    out.texts(table.annotators().iter());
    match table.ballots() {
        Ballots::Votes(votes) => {
            out.number(0);
            out.number(votes.is_weighted().into());
            for item in 0..table.len() {
                out.number(votes.of(item).len() as u64);
                for vote in votes.of(item) {
                    out.number(vote.labels.len() as u64);
                    vote.labels.iter().for_each(|class| out.0.extend(class.to_le_bytes()));
                    out.0.extend(vote.annotator.unwrap_or(u32::MAX).to_le_bytes());
                    if votes.is_weighted() {
                        out.0.extend(vote.weight.to_le_bytes());
                    }
                }
            }
        }
        Ballots::Counts(counts) => {
            out.number(1);
            out.number(counts.is_weighted().into());
            for item in 0..table.len() {
                out.number(counts.entries(item).count() as u64);
                for ((class, votes), (_, amount)) in counts.entries(item).zip(counts.amounts(item))
                {
                    out.0.extend(class.to_le_bytes());
                    out.0.extend(votes.to_le_bytes());
                    if counts.is_weighted() {
                        out.0.extend(amount.to_le_bytes());
                    }
                }
            }
        }
        Ballots::Probabilities(rows) => {
            out.number(2);
            for item in 0..table.len() {
                rows.row(item).iter().for_each(|share| out.0.extend(share.to_le_bytes()));
            }
        }
    }
    out.0
}

/// What such bytes hold: a table, its name, its notes, and the texts of its items.
pub(crate) type Stored = (VoteTable, String, Vec<Note>, Vec<(String, String)>);

/// The table of such bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> PyResult<Stored> {
    read(bytes)
        .ok_or_else(|| value_error("these are not the votes that this version of dissensus stores"))
}

fn read(bytes: &[u8]) -> Option<Stored> {
    let mut from = Reader(bytes.strip_prefix(MAGIC)?);
    let name = from.text()?;
    let notes = from.texts()?;
    let notes =
        notes.chunks_exact(2).map(|pair| Note { what: pair[0].clone(), value: pair[1].clone() });
    let notes: Vec<Note> = notes.collect();
    let texts = from.texts()?;
    let texts = texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let order = *ORDERS.get(usize::try_from(from.number()?).ok()?)?;
    let scale: Scale = from.text()?.parse().ok()?;
    let classes = ClassSet::new(from.texts()?, order).ok()?.with_scale(scale).ok()?;
    let (items, annotators) = (from.texts()?, from.texts()?);
    let table = match from.number()? {
        0 => read_votes(&mut from, classes, &items, &annotators)?,
        1 => read_counts(&mut from, classes, items)?,
        _ => {
            let mut rows = Probabilities::new(classes.len());
            for _ in 0..items.len() {
                let row: Vec<f64> =
                    (0..classes.len()).map(|_| from.float()).collect::<Option<_>>()?;
                rows.push(&row).ok()?;
            }
            VoteTable::from_probabilities(classes, Ids::new(items).ok()?, rows).ok()?
        }
    };
    Some((table, name, notes, texts))
}

fn read_votes(
    from: &mut Reader<'_>,
    classes: ClassSet,
    items: &[String],
    annotators: &[String],
) -> Option<VoteTable> {
    let weighted = from.number()? == 1;
    let mut builder = TableBuilder::new(Keep::Votes);
    builder.declare(classes.clone()).ok()?;
    for name in annotators {
        builder.annotator(name).ok()?;
    }
    for (item, row) in items.iter().zip(1..) {
        builder.item(item, row).ok()?;
        for _ in 0..from.number()? {
            let mut labels = Vec::new();
            for _ in 0..from.number()? {
                let class = u16::from_le_bytes(from.take()?);
                labels.push(classes.names().get(usize::from(class))?.as_str());
            }
            let who = Some(u32::from_le_bytes(from.take()?)).filter(|who| *who != u32::MAX);
            let who = match who {
                Some(who) => Some(annotators.get(who as usize)?.as_str()),
                None => None,
            };
            let weight = if weighted { from.float()? } else { 1.0 };
            builder.vote_set(item, who, &labels, weight, row).ok()?;
        }
    }
    builder.finish().ok()
}

fn read_counts(from: &mut Reader<'_>, classes: ClassSet, items: Vec<String>) -> Option<VoteTable> {
    let weighted = from.number()? == 1;
    let mut counts = Counts::new();
    for _ in 0..items.len() {
        let mut entries = Vec::new();
        for _ in 0..from.number()? {
            let (class, votes) =
                (u16::from_le_bytes(from.take()?), u32::from_le_bytes(from.take()?));
            entries.push((class, votes, if weighted { from.float()? } else { 0.0 }));
        }
        match weighted {
            true => counts.push_weighted(entries),
            false => counts.push(entries.into_iter().map(|(class, votes, _)| (class, votes))),
        }
        .ok()?;
    }
    VoteTable::from_counts(classes, Ids::new(items).ok()?, counts).ok()
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    fn texts<'a>(&mut self, texts: impl Iterator<Item = &'a str> + Clone) {
        self.number(texts.clone().count() as u64);
        texts.for_each(|text| self.text(text));
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn number(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn float(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        (0..self.number()?).map(|_| self.text()).collect()
    }
}
