//! A content hash of a vote table that does not depend on the order of rows.
//!
//! SHA-256 over the kind of ballots, the classes in order, and the items sorted by id, each with
//! its entries sorted. Every text is preceded by its length, so that no two tables run together.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::{Ballots, VoteTable};

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

fn text(hash: &mut Sha256, text: &str) {
    number(hash, text.len() as u64);
    hash.update(text.as_bytes());
}

fn number(hash: &mut Sha256, number: u64) {
    hash.update(number.to_le_bytes());
}

pub(crate) fn of_table(table: &VoteTable) -> Digest {
    let mut hash = Sha256::new();
    let kind = match table.ballots() {
        Ballots::Votes(_) => "votes",
        Ballots::Counts(_) => "counts",
        Ballots::Probabilities(_) => "probabilities",
    };
    text(&mut hash, "dissensus vote table 1");
    text(&mut hash, kind);
    number(&mut hash, table.classes().len() as u64);
    table.classes().names().iter().for_each(|name| text(&mut hash, name));
    number(&mut hash, table.len() as u64);
    let mut entries: Vec<(&str, u16, u64)> = Vec::new();
    for item in table.items().sorted() {
        let item = item as usize;
        text(&mut hash, table.items().name(item));
        entries.clear();
        match table.ballots() {
            Ballots::Votes(votes) => entries.extend(votes.of(item).map(|vote| {
                let who = vote.annotator.map_or("", |a| table.annotators().name(a as usize));
                (who, vote.class, vote.weight.to_bits())
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
        number(&mut hash, entries.len() as u64);
        for &(who, class, value) in &entries {
            text(&mut hash, who);
            number(&mut hash, u64::from(class));
            number(&mut hash, value);
        }
    }
    Digest(hash.finalize().into())
}
