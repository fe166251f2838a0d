//! Predictions in files: those of several models, or one model in several files.

use std::path::{Path, PathBuf};

use dissensus_core::VoteTable;
use dissensus_evaluate::ScoreError;
use dissensus_predictions::{
    Join, JoinError, PredictionError, Predictions, ReadOptions, join, read_for,
};

/// Reads predictions of several files for these votes, each with its options. Where models have equal names, their
/// files are their names.
pub fn read_predictions(
    table: &VoteTable,
    files: &[PathBuf],
    options: impl Fn(&Path) -> ReadOptions,
) -> Result<Vec<Predictions>, PredictionError> {
    let mut found: Vec<(&PathBuf, Predictions)> = Vec::new();
    for file in files {
        found.extend(read_for(file, table, &options(file))?.into_iter().map(|one| (file, one)));
    }
    let names: Vec<String> = found.iter().map(|(_, one)| one.name.clone()).collect();
    let twice = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    for (at, (file, one)) in found.iter_mut().enumerate().filter(|(at, _)| twice(&names[*at])) {
        one.name = match files.len() == names.len() {
            true => file.display().to_string(),
            false => format!("{} ({})", one.name, at + 1),
        };
    }
    Ok(found.into_iter().map(|(_, one)| one).collect())
}

/// Reads the predictions of one model from several files.
pub fn read_joined(
    table: &VoteTable,
    files: &[PathBuf],
    how: Join,
    options: impl Fn(&Path) -> ReadOptions,
) -> Result<Vec<Predictions>, crate::Error> {
    let class = |file: &Path| ReadOptions { class_order: None, one_column: true, ..options(file) };
    let parts = read_predictions(table, files, |file| match how {
        Join::Classes => class(file),
        Join::Seeds => ReadOptions { runs: true, ..options(file) },
    })?;
    let all = files.first().map(|file| options(file)).unwrap_or_default();
    join(table, &parts, how, &all).map(|model| vec![model]).map_err(|error| match error {
        JoinError::Files(error) => error.into(),
        JoinError::Votes(error) => ScoreError::from(error).into(),
    })
}
