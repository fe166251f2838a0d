//! What can be said about a file of predictions that is refused: its columns, and the options by which
//! it is certainly read right.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};

use dissensus_core::VoteTable;
use dissensus_io::Advice;
use dissensus_predictions::{AlignError, PredictionError, ReadOptions, profile, read_for, ways_in};

use crate::causes;

/// The file that an error is about, with its columns and the options by which it is certainly read
/// right; `None` for other errors, and for standard input, which is read once.
pub fn advice(
    table: &VoteTable,
    files: &[PathBuf],
    options: impl Fn(&Path) -> ReadOptions,
    error: &(dyn StdError + 'static),
) -> Option<(PathBuf, Advice)> {
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
    Some((file.clone(), Advice { profile: profile(file, table), ways }))
}
