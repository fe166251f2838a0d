//! From a file to votes: open, detect, read.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dissensus_core::{Progress, TableBuilder, VoteTable};

use crate::advice::advise;
use crate::collector::{Collector, Finding, Note};
use crate::formats::{self, Format};
use crate::options::{MultiLabel, ReadOptions};
use crate::plausible;
use crate::select::{Selected, select};
use dissensus_io::input::Input;
use dissensus_io::{Frame, Problem, ReadError, ReadOption};
use dissensus_io::{Source, Table, TableKind, json};

/// What was read.
pub struct VoteFile {
    /// The file, as the user named it.
    pub file: String,
    /// The format it was read as.
    pub format: &'static Format,
    /// The votes.
    pub table: VoteTable,
    /// What was guessed and decided.
    pub notes: Vec<Note>,
    /// What the reader noticed, for the linter.
    pub findings: Vec<Finding>,
    /// (item, text) where the source carries texts.
    pub texts: Vec<(String, String)>,
    /// Whether votes for several labels were made several votes.
    pub(crate) split: bool,
}

impl VoteFile {
    /// What was guessed, in one line; `None` where nothing was.
    pub fn guessed(&self) -> Option<String> {
        let notes: Vec<String> =
            self.notes.iter().map(|note| format!("{}: {}", note.what, note.value)).collect();
        (!notes.is_empty()).then(|| format!("{}: {}", self.file, notes.join("; ")))
    }
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<VoteFile, ReadError> {
    let file = path.display().to_string();
    let input = Input::open(path)?;
    let again = again(path, &input);
    let open = |input: Input| Source::open(input, &options.source());
    read_source(file, open(input)?, options).map_err(|error| match again {
        Some(again) => advise(error, options, &|| open(again()?)),
        None => error,
    })
}

/// Reads a file, or standard input for `-`, and reports how far it is.
pub fn read_with_progress(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<VoteFile, ReadError> {
    let open = |input: Input| Source::open(input, &options.source());
    let mut opener = None;
    let result = Input::read_with_progress(path, progress, |input| {
        opener = again(path, &input);
        read_source(input.name.clone(), open(input)?, options)
    });
    result.map_err(|error| match opener {
        Some(again) => advise(error, options, &|| open(again()?)),
        None => error,
    })
}

/// What opens an input once more: the file, or what came from standard input where that is small.
fn again(path: &Path, input: &Input) -> Option<Box<dyn Fn() -> Result<Input, ReadError>>> {
    let (path, name) = (path.to_owned(), input.name.clone());
    if path.to_str() != Some("-") {
        return Some(Box::new(move || Input::open(&path)));
    }
    let bytes = input.whole.then(|| input.head.clone())?;
    Some(Box::new(move || Input::from_bytes(&name, bytes.clone())))
}

/// Reads bytes in memory under a name for messages.
pub fn read_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<VoteFile, ReadError> {
    let open = |bytes: Vec<u8>| Source::open(Input::from_bytes(name, bytes)?, &options.source());
    // What is larger is read once, and refused without advice.
    const KEPT: usize = 64 << 20;
    let copy = (bytes.len() <= KEPT && !options.collect).then(|| bytes.clone());
    read_source(name.to_owned(), open(bytes)?, options).map_err(|error| match copy {
        Some(bytes) => advise(error, options, &|| open(bytes.clone())),
        None => error,
    })
}

/// Reads a table in memory, under a name for messages. It is read as the same table in a file would be.
pub fn read_frame(
    name: &str,
    frame: Arc<dyn Frame>,
    options: &ReadOptions,
) -> Result<VoteFile, ReadError> {
    let mut seen = HashSet::new();
    if let Some(twice) = frame.columns().iter().find(|column| !seen.insert(column.as_str())) {
        return Err(ReadError::new(name, Problem::DuplicateColumn { name: twice.clone() }));
    }
    let open = || Source::Table(Table::from_frame(frame.clone()));
    read_source(name.to_owned(), open(), options)
        .map_err(|error| advise(error, options, &|| Ok(open())))
}

/// Reads an opened file.
pub fn read_input(input: Input, options: &ReadOptions) -> Result<VoteFile, ReadError> {
    let file = input.name.clone();
    let source = Source::open(input, &options.source())?;
    read_source(file, source, options)
}

pub(crate) fn read_source(
    file: String,
    mut source: Source,
    options: &ReadOptions,
) -> Result<VoteFile, ReadError> {
    let roles = [
        ("item", &options.item),
        ("annotator", &options.annotator),
        ("label", &options.label),
        ("weight", &options.weight),
        ("count", &options.count),
    ];
    for (at, (second, name)) in roles.iter().enumerate() {
        let Some(name) = name else { continue };
        if let Some((first, _)) = roles[..at].iter().find(|(_, other)| other.as_ref() == Some(name))
        {
            let name = name.clone();
            return Err(ReadError::new(&file, Problem::TwoRoles { name, first, second }));
        }
    }
    let forced_format =
        match &options.format {
            Some(name) => Some(formats::by_name(name).ok_or_else(|| {
                ReadError::new(&file, Problem::NoSuchFormat { name: name.clone() })
            })?),
            None => None,
        };
    if let (None, Source::Json(value)) = (&options.format, &mut source)
        && let Some(rows) = formats::rows_of_columns(value)
    {
        *value = rows;
    }
    if let (None, Source::Table(table)) = (&options.format, &source)
        && let Some(rows) = formats::rows_of_one_line(table)
    {
        source = Source::Json(rows);
    }
    let selected =
        match select(source, options).map_err(|problem| ReadError::new(&file, problem))? {
            Ok(selected) => selected,
            Err(source) => return read_selected(file, source, options, forced_format, None),
        };
    let Selected { source, options, rows } = selected;
    read_selected(file, source, &options, forced_format, rows)
}

/// Reads what the options selected.
fn read_selected(
    file: String,
    mut source: Source,
    options: &ReadOptions,
    forced_format: Option<&'static Format>,
    rows: Option<(String, Arc<AtomicU64>)>,
) -> Result<VoteFile, ReadError> {
    // An array of objects that no document format knows is a table.
    let known = match forced_format {
        Some(format) => (format.detect)(&source, options),
        None => formats::detect(&source, options).is_some(),
    };
    if let (false, Source::Json(value)) = (known, &mut source) {
        if let Some(rows) = formats::rows_of_counts(value) {
            *value = rows;
        }
        source = match json::array_as_table(value.take()) {
            Ok(table) => Source::Table(table),
            Err(value) => Source::Json(value),
        };
    }
    if let (None, Some(problem)) = (forced_format, formats::refused(&source)) {
        let error = ReadError::new(&file, problem);
        return Err(error.row(1));
    }
    let format = match forced_format {
        Some(format) => format,
        None => formats::detect(&source, options).ok_or_else(|| {
            ReadError::new(&file, Problem::UnknownFormat { seen: source.describe() })
        })?,
    };
    check_options(format, &source, options).map_err(|problem| ReadError::new(&file, problem))?;
    let threads = rayon::current_num_threads();
    let mut collector = Collector::new(&file, options, threads)?;
    if forced_format.is_none() {
        collector.note("format", format.name);
    }
    (format.read)(source, &mut collector)?;
    if let Some((said, left_out)) = rows {
        let n = left_out.load(Ordering::Relaxed);
        collector.note("rows", format!("{said} ({n} rows left out)"));
    }
    note_spellings(&mut collector);
    let spaced: Vec<String> = collector.builder.spaced().map(str::to_owned).collect();
    if collector.table.is_none() {
        let builder = std::mem::replace(&mut collector.builder, TableBuilder::new(options.keep));
        collector.table = Some(builder.finish().map_err(|e| ReadError::new(&file, e))?);
    }
    let kept = |label: &String| {
        collector.table.iter().any(|table| table.classes().names().contains(label))
    };
    if let Some(label) =
        spaced.iter().find(|label| !label.trim().is_empty() && !kept(label)).cloned()
    {
        collector.note("spaces", format!("removed around labels ({label:?})"));
    }
    if let (Some(table), Some(guesses)) = (&collector.table, &collector.guesses)
        && let Some(problem) = plausible::check(table, guesses, options)
    {
        let error = collector.error(problem);
        collector.reject(error)?;
    }
    if let Some(problem) = plausible::none(&collector.may_be_classes, collector.table.as_ref()) {
        let error = collector.error(problem);
        collector.reject(error)?;
    }
    if let Some(problem) =
        collector.table.as_ref().and_then(|table| plausible::against_names(table, options))
    {
        let error = collector.error(problem);
        collector.reject(error)?;
    }
    let table = collector.table.take().ok_or_else(|| ReadError::new(&file, Problem::NoVotes))?;
    let table = on_scale(table, &mut collector)?;
    let Collector { notes, findings, texts, .. } = collector;
    if table.is_empty() && !options.collect {
        return Err(ReadError::new(&file, Problem::NoVotes));
    }
    let split = options.multilabel == MultiLabel::Votes;
    Ok(VoteFile { file, format, table, notes, findings, texts, split })
}

/// The table on the scale that the user states, else on the one that the format or the file states,
/// if its classes lie on that.
fn on_scale(table: VoteTable, collector: &mut Collector<'_>) -> Result<VoteTable, ReadError> {
    let scale = match (collector.options.scale, collector.scale) {
        (Some(scale), _) => scale,
        (None, Some(scale)) if table.classes().clone().with_scale(scale).is_ok() => {
            collector.note("scale", scale.to_string());
            scale
        }
        _ => return Ok(table),
    };
    table.with_scale(scale).map_err(|problem| collector.error(problem))
}

/// An option that the format does not use is an error: it is not silently without effect.
fn check_options(
    format: &'static Format,
    source: &Source,
    options: &ReadOptions,
) -> Result<(), Problem> {
    let is_text =
        matches!(source, Source::Table(table) if matches!(table.kind, TableKind::Delimited(_)));
    let used = |option: &ReadOption| match option {
        ReadOption::Delimiter | ReadOption::Header => is_text,
        ReadOption::Scale => true,
        other => format.options.contains(other),
    };
    match options.given().find(|option| !used(option)) {
        Some(option) => Err(Problem::UnusedOption { option, format: format.name }),
        None => Ok(()),
    }
}

/// States which classes are written in more than one way.
fn note_spellings(collector: &mut Collector<'_>) {
    const LISTED: usize = 5;
    let spellings = collector.builder.spellings();
    for (class, ways) in spellings.iter().take(LISTED) {
        let ways: Vec<String> = ways.iter().map(|way| format!("{way:?}")).collect();
        collector.note("one class", format!("{class:?}, written {}", ways.join(" and ")));
    }
    if spellings.len() > LISTED {
        collector.note("one class", format!("{} more like it", spellings.len() - LISTED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_column_has_one_role() {
        let name = || Some("score".to_owned());
        let options = ReadOptions { item: name(), label: name(), ..ReadOptions::default() };
        let error = read_bytes("x", "id,score\na,1\nb,2\n".into(), &options).err().unwrap();
        let wanted = "the column \"score\" cannot be both the item and the label";
        assert!(error.to_string().ends_with(wanted), "{error}");
    }

    #[test]
    fn an_array_of_rows_is_a_table() {
        let text = r#"[{"task": "a", "worker": "w", "label": 1}, {"task": "a", "worker": "v", "label": 2.0}]"#;
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        assert_eq!((reading.format.name, reading.table.annotators().len()), ("long", 2));
        assert_eq!(reading.table.classes().names(), ["1", "2"]);
        let error = read_bytes("x", "[1, 2]".into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(error.problem.code(), "unknown-format");
    }
}
