//! What can be said about a file of predictions that is refused: its columns, and the options by which
//! it is certainly read right.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};

use dissensus_core::VoteTable;
use dissensus_predictions::{
    AlignError, ColumnProfile, PredictionError, ReadOptions, Way, profile, read_for, ways_in,
};

use crate::causes;

/// What a refused file has, and how it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The file.
    pub file: PathBuf,
    /// Its columns, where it is a table.
    pub columns: Vec<ColumnProfile>,
    /// The options by which it is certainly read right.
    pub ways: Vec<Way>,
}

/// Advice on the file that an error is about; `None` for other errors, and for standard input, which
/// is read once.
pub fn advice(
    table: &VoteTable,
    files: &[PathBuf],
    options: impl Fn(&Path) -> ReadOptions,
    error: &(dyn StdError + 'static),
) -> Option<Advice> {
    let named = causes(error).into_iter().find_map(|cause| {
        let read = cause.downcast_ref::<PredictionError>().map(|error| error.file.clone());
        read.or_else(|| Some(cause.downcast_ref::<AlignError>()?.file().to_owned()))
    })?;
    let is_it = |file: &&PathBuf| {
        let name = file.display().to_string();
        named == name || named.starts_with(&format!("{name} ("))
    };
    let file = files.iter().find(is_it).filter(|file| file.as_os_str() != "-")?;
    let ways = ways_in(table, &options(file), &|options| read_for(file, table, options));
    Some(Advice { file: file.clone(), columns: profile(file, table), ways })
}
