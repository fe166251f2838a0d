//! A content hash of a vote table that does not depend on the order of rows.
//!
//! SHA-256 over the kind of ballots, the classes in order, and the items sorted by id, each with
//! its entries sorted. Every text is preceded by its length, so that no two tables run together. Sets
//! of labels are another content than labels. That the classes are ordinal says how votes are read
//! and changes none of them, so it is not part of it.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::{Ballots, Scale, VoteTable};

/// 256 bits that name a content; prints as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Content on its way into a [`Digest`].
pub struct ContentHash(Sha256);

impl ContentHash {
    /// Content of this kind, named with its version.
    pub fn new(kind: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.text(kind);
        hash
    }

    /// A text, preceded by its length, so that no two run together.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// A number, in eight bytes.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all of it.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

pub(crate) fn of_table(table: &VoteTable) -> Digest {
    let mut hash = ContentHash::new("dissensus vote table 1");
    let kind = match table.ballots() {
        Ballots::Votes(_) if table.scale() == Scale::MultiLabel => "multi-label votes",
        Ballots::Votes(_) => "votes",
        Ballots::Counts(_) => "counts",
        Ballots::Probabilities(_) => "probabilities",
    };
    hash.text(kind);
    hash.number(table.classes().len() as u64);
    table.classes().names().iter().for_each(|name| hash.text(name));
    hash.number(table.len() as u64);
    let mut entries: Vec<(&str, u16, u64)> = Vec::new();
    let name = |annotator: Option<u32>| {
        annotator.map_or("", |annotator| table.annotators().name(annotator as usize))
    };
    for item in table.items().sorted() {
        let item = item as usize;
        hash.text(table.items().name(item));
        entries.clear();
        match table.ballots() {
            Ballots::Votes(votes) if table.scale() == Scale::MultiLabel => {
                let mut sets: Vec<(&str, &[u16], u64)> = votes
                    .of(item)
                    .map(|vote| (name(vote.annotator), vote.labels, vote.weight.to_bits()))
                    .collect();
                sets.sort_unstable();
                hash.number(sets.len() as u64);
                for (who, labels, weight) in sets {
                    hash.text(who);
                    hash.number(labels.len() as u64);
                    labels.iter().for_each(|&label| hash.number(label.into()));
                    hash.number(weight);
                }
                continue;
            }
            Ballots::Votes(votes) => entries.extend(votes.of(item).map(|vote| {
                (name(vote.annotator), vote.class().unwrap_or(0), vote.weight.to_bits())
            })),
            Ballots::Counts(counts) => entries
                .extend(counts.amounts(item).map(|(class, amount)| ("", class, amount.to_bits()))),
            Ballots::Probabilities(rows) => {
                entries.extend(rows.row(item).iter().map(|p| ("", 0, p.to_bits())));
            }
        }
        // Probabilities stand in class order; anything else may come in any order.
        if !matches!(table.ballots(), Ballots::Probabilities(_)) {
            entries.sort_unstable();
        }
        hash.number(entries.len() as u64);
        for &(who, class, value) in &entries {
            hash.text(who);
            hash.number(u64::from(class));
            hash.number(value);
        }
    }
    hash.finish()
}
