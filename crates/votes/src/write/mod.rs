//! The canonical forms: a long table (CSV, Parquet) that carries every vote, and `.npz` that
//! carries counts. What is written reads back to the same table.
//!
//! A canonical long table has the columns `item`, `annotator`, `label` and `class`, the place of
//! the label in the order of the classes; `weight` where votes carry weights. An item without
//! votes has a row without a label; a class that nobody chose a row without an item. Where items have
//! texts, a column `text` has that of an item in its first row. The name of
//! `class` states a scale other than the nominal one ([`class_column`]). A multi-label vote has a row
//! per label, and its number in a column `vote`; one for no class has a row without a label.

mod long_csv;
mod long_parquet;
mod npz;

use std::io::Write;
use std::path::{Path, PathBuf};

use dissensus_core::limits::{MAX_DENSE_CELLS, MAX_VOTES_WRITTEN};
use dissensus_core::{Ballots, Scale, ScaleError, VoteTable};
use dissensus_io::{Existing, FileError, write_output};
use thiserror::Error;

/// A form to write.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// The ending of file names that mean it.
    pub ending: &'static str,
    /// What it is.
    pub title: &'static str,
    write: fn(&VoteTable, &ItemTexts<'_>, &mut dyn WriteSeek) -> Result<(), WriteError>,
}

/// The text of each item of a table; empty where no item has one.
type ItemTexts<'t> = [Option<&'t str>];

fn texts_by_item<'t>(table: &VoteTable, texts: &'t [(String, String)]) -> Vec<Option<&'t str>> {
    let mut of_items = vec![None; if texts.is_empty() { 0 } else { table.len() }];
    for (item, text) in texts {
        if let Some(at) = table.items().position(item) {
            of_items[at] = Some(text.as_str());
        }
    }
    of_items
}

/// All forms.
pub const TARGETS: &[Target] = &[long_csv::TARGET, long_parquet::TARGET, npz::TARGET];

/// A file that can be written and moved about in (zip archives need both).
pub trait WriteSeek: Write + std::io::Seek + Send {}
impl<T: Write + std::io::Seek + Send> WriteSeek for T {}

/// Why a table was not written. The file named is as it was before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file cannot be written, or exists.
    #[error(transparent)]
    File(#[from] FileError),
    /// The name does not say which form.
    #[error("cannot tell what to write from the name {}", .path.display())]
    UnknownTarget {
        /// The file.
        path: PathBuf,
    },
    /// Single votes are not known.
    #[error("only probabilities are known, and a {target} table holds votes")]
    NoVotes {
        /// The form.
        target: &'static str,
    },
    /// A scale whose votes the form cannot hold.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// Texts of items, which the form does not hold.
    #[error("{items} items have texts, which {target} does not hold")]
    Texts {
        /// How many items have one.
        items: usize,
        /// The form.
        target: &'static str,
    },
    /// An id or text that the form cannot hold.
    #[error("{id:?} has a NUL character in it, which {target} cannot hold")]
    Id {
        /// The id.
        id: String,
        /// The form.
        target: &'static str,
    },
    /// An array with a cell for every item and class, most of them empty.
    #[error(
        "{items} items × {classes} classes are more cells than the {MAX_DENSE_CELLS} that {target} may \
         have; a long table (csv, parquet) has a row per vote, and no empty cells"
    )]
    TooManyCells {
        /// How many items there are.
        items: usize,
        /// How many classes there are.
        classes: usize,
        /// The form.
        target: &'static str,
    },
    /// Counts that stand for more votes than are written one by one.
    #[error(
        "{votes} votes are more than the {MAX_VOTES_WRITTEN} that {target} may have; npz holds counts"
    )]
    TooManyVotes {
        /// How many votes there are.
        votes: u64,
        /// The form.
        target: &'static str,
    },
    /// Writing into the file failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A library failed.
    #[error("{0}")]
    Encode(String),
}

/// The form that a file name means.
pub fn target_of(path: &Path) -> Result<&'static Target, WriteError> {
    let name = path.to_string_lossy().to_lowercase();
    let found = TARGETS.iter().find(|target| name.ends_with(target.ending));
    found.ok_or_else(|| WriteError::UnknownTarget { path: path.to_owned() })
}

/// Writes a table, with an (item, text) for each item that has one, into a file: whole, or not at all.
/// An existing file is only replaced by `force`.
pub fn write_file(
    table: &VoteTable,
    texts: &[(String, String)],
    path: &Path,
    target: &Target,
    force: bool,
) -> Result<(), WriteError> {
    let texts = texts_by_item(table, texts);
    write_output(path, Existing::replaced_if(force), |out| {
        (target.write)(table, &texts, out).map_err(|error| match error {
            WriteError::Io(error) => FileError::new(path, error).into(),
            other => other,
        })
    })
}

/// Writes a table, with an (item, text) for each item that has one, to any place that can be written and
/// moved about in.
pub fn write(
    table: &VoteTable,
    texts: &[(String, String)],
    target: &Target,
    mut out: impl WriteSeek,
) -> Result<(), WriteError> {
    (target.write)(table, &texts_by_item(table, texts), &mut out)
}

/// What the column of the places of labels is called in a canonical long table of this scale.
pub fn class_column(scale: Scale) -> &'static str {
    match scale {
        Scale::Nominal => "class",
        Scale::Ordinal => "ordinal_class",
        Scale::MultiLabel => "multilabel_class",
    }
}

/// A row of the canonical long table; `None` is an empty cell.
#[derive(Clone, Copy, Debug)]
pub struct LongRow {
    /// The place of the item in the table; `None` for a class that nobody chose.
    pub item: Option<usize>,
    /// The place of the annotator, where it is known who voted.
    pub annotator: Option<usize>,
    /// The class; `None` for an item without votes, and for a vote for no class.
    pub class: Option<u16>,
    /// The number of the vote that this is a label of, from 0, in a multi-label table.
    pub vote: Option<u64>,
    /// How much the vote counts.
    pub weight: f64,
    /// Whether it is the first row of its item.
    pub first: bool,
}

impl LongRow {
    const EMPTY: Self =
        Self { item: None, annotator: None, class: None, vote: None, weight: 1.0, first: false };
}

/// Calls `row` for every row of the canonical long table, which `target` is to hold.
pub fn long_rows<E: From<WriteError>>(
    table: &VoteTable,
    target: &'static str,
    mut row: impl FnMut(LongRow) -> Result<(), E>,
) -> Result<(), E> {
    if let Ballots::Counts(counts) = table.ballots() {
        let votes = counts.total();
        if votes > MAX_VOTES_WRITTEN {
            return Err(WriteError::TooManyVotes { votes, target }.into());
        }
    }
    let mut used = vec![false; table.classes().len()];
    let sets = table.scale() == Scale::MultiLabel;
    let mut cast = 0;
    for item in 0..table.len() {
        let mut any = false;
        let mut vote = |annotator, class: Option<u16>, vote, weight| {
            let first = !std::mem::replace(&mut any, true);
            class.into_iter().for_each(|class| used[usize::from(class)] = true);
            row(LongRow { item: Some(item), annotator, class, vote, weight, first })
        };
        match table.ballots() {
            Ballots::Probabilities(_) => return Err(WriteError::NoVotes { target }.into()),
            Ballots::Votes(votes) => {
                for v in votes.of(item) {
                    let who = v.annotator.map(|a| a as usize);
                    let number = sets.then_some(cast);
                    cast += 1;
                    if v.labels.is_empty() {
                        vote(who, None, number, v.weight)?;
                    }
                    let mut labels = v.labels.iter();
                    labels.try_for_each(|&class| vote(who, Some(class), number, v.weight))?;
                }
            }
            Ballots::Counts(counts) => {
                for ((class, n), (_, amount)) in counts.entries(item).zip(counts.amounts(item)) {
                    for _ in 0..n {
                        vote(None, Some(class), None, amount / f64::from(n))?;
                    }
                }
            }
        }
        if !any {
            row(LongRow { item: Some(item), first: true, ..LongRow::EMPTY })?;
        }
    }
    for class in (0..used.len()).filter(|&c| !used[c]) {
        row(LongRow { class: Some(class as u16), ..LongRow::EMPTY })?;
    }
    Ok(())
}

/// Whether votes carry weights.
pub fn is_weighted(table: &VoteTable) -> bool {
    match table.ballots() {
        Ballots::Votes(votes) => votes.is_weighted(),
        Ballots::Counts(counts) => counts.is_weighted(),
        Ballots::Probabilities(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_name_an_ending_and_a_title_of_its_own() {
        for (i, form) in TARGETS.iter().enumerate() {
            let others = &TARGETS[..i];
            assert!(others.iter().all(|o| o.name != form.name && o.ending != form.ending));
            assert!(form.ending.starts_with('.') && form.title.len() > 10, "{}", form.name);
            let path = format!("votes{}", form.ending.to_uppercase());
            assert_eq!(target_of(Path::new(&path)).unwrap().name, form.name);
        }
        let unknown = target_of(Path::new("votes.xlsx")).err().unwrap();
        assert!(matches!(unknown, WriteError::UnknownTarget { .. }), "{unknown}");
    }
}
