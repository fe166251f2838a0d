//! What reading knows: the options, and the votes that the predictions are for.

use std::collections::HashSet;
use std::ops::Deref;

use dissensus_core::VoteTable;

use crate::classes::class_in;
use crate::options::ReadOptions;

/// The options of reading, and the votes where they are known. The votes say which column holds ids
/// and which columns or labels are classes.
pub(crate) struct Context<'a> {
    options: &'a ReadOptions,
    pub(crate) votes: Option<&'a VoteTable>,
    /// Whether the votes have ids of their own, not only the numbers of their rows.
    has_ids: bool,
}

impl Deref for Context<'_> {
    type Target = ReadOptions;
    fn deref(&self) -> &ReadOptions {
        self.options
    }
}

impl<'a> Context<'a> {
    pub(crate) fn new(options: &'a ReadOptions, votes: Option<&'a VoteTable>) -> Self {
        let counted = |votes: &VoteTable| {
            (votes.items().iter().enumerate()).all(|(at, id)| id.parse() == Ok(at))
        };
        Self { options, votes, has_ids: votes.is_some_and(|votes| !counted(votes)) }
    }

    pub(crate) fn options(&self) -> &'a ReadOptions {
        self.options
    }

    /// The classes of the votes.
    pub(crate) fn classes(&self) -> Option<&'a [String]> {
        self.votes.map(|votes| votes.classes().names())
    }

    /// Whether one number per item may be enough: the votes have two classes, or it is one of several
    /// columns.
    pub(crate) fn one_number(&self) -> bool {
        self.one_column || self.classes().is_some_and(|classes| classes.len() == 2)
    }

    /// The class of the votes that the name of a column says, if it says one.
    pub(crate) fn class_of(&self, name: &str) -> Option<&'a String> {
        let mapped = self.class_map.as_ref().and_then(|map| {
            map.pairs().iter().find(|(from, _)| from == name).map(|(_, to)| to.as_str())
        });
        class_in(self.classes()?, mapped.unwrap_or(name))
    }

    /// Whether nearly all of these texts are ids of the votes, which have ids of their own.
    pub(crate) fn are_ids(&self, texts: &[String]) -> bool {
        let Some(votes) = self.votes.filter(|_| self.has_ids) else { return false };
        let different: HashSet<&str> = texts.iter().map(String::as_str).collect();
        let known = different.iter().filter(|text| {
            let whole = text.strip_suffix(".0").unwrap_or(text);
            votes.items().position(text).or_else(|| votes.items().position(whole)).is_some()
        });
        10 * known.count() >= 9 * different.len() && !different.is_empty()
    }
}
