//! Objects that hold one vote each (`{"annotator", "label", …}`): whether one counts, and whether it marks a span.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::collector::{Collector, Places};
use crate::names;
use dissensus_io::{Problem, ReadError, cell_text, shorten};

/// What objects of votes say about whether they count (`status`, `is_deleted`).
#[derive(Default)]
pub(super) struct States {
    left_out: Places,
    /// Values that do not tell, and whether some do.
    unknown: BTreeSet<String>,
    known: bool,
}

impl States {
    /// Whether the object is a vote that counts, as far as it says.
    pub(super) fn counts(&mut self, vote: &Map<String, Value>, item: &str, row: u64) -> bool {
        for (key, value) in vote.iter().filter(|(key, _)| names::state(key)) {
            let text = cell_text(value).unwrap_or_default();
            match names::counts_as_vote(key, &text) {
                Some(false) => {
                    self.known = true;
                    self.left_out.add(item, row);
                    return false;
                }
                Some(true) => self.known = true,
                None => drop(self.unknown.insert(format!("{key} {text:?}"))),
            }
        }
        true
    }

    /// States what was left out; an error where that is open.
    pub(super) fn note(self, collector: &mut Collector<'_>) -> Result<(), ReadError> {
        if self.unknown.len() > usize::from(!self.known) {
            let list: Vec<String> = self.unknown.into_iter().take(5).collect();
            let doubt = format!("some votes may not count: {}", shorten(&list.join(", ")));
            let remedy = "leave out of the file what does not count, and the key that says so";
            return collector.reject(collector.error(Problem::Doubt {
                doubt,
                options: &[],
                remedy,
            }));
        }
        let what = "votes that were rejected, deleted or not finished";
        self.left_out.left_out(
            collector,
            "not-a-vote",
            what,
            "only finished work that was kept is a vote",
        );
        Ok(())
    }
}

/// Whether an object marks a part of a text or an image.
pub(super) fn is_span(vote: &Map<String, Value>) -> bool {
    let number = |key: &str| vote.get(key).is_some_and(Value::is_number);
    let pairs = [
        ("start", "end"),
        ("start_offset", "end_offset"),
        ("startOffset", "endOffset"),
        ("begin", "end"),
        ("from", "to"),
        ("xmin", "ymin"),
        ("offset", "length"),
    ];
    pairs.iter().any(|(a, b)| number(a) && number(b)) || vote.contains_key("bbox")
}

/// What a document with such objects is.
pub(super) fn spans() -> Problem {
    Problem::NotRead {
        what: "the labels mark spans of a text or an image, and are no votes for classes of items"
            .to_owned(),
        remedy: None,
    }
}
