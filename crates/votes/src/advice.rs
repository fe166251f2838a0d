//! What a refused file holds, and which readings of it are certain but for a word.
//!
//! Readings are proposed from what the data prove, and each is tried before it is shown: it must give votes that
//! nothing speaks against.

use dissensus_io::{Advice, Problem, ReadError, ReadOption, Row, Source, Table, Way, json};
use serde_json::{Map, Value, json as value};

use crate::formats::diagnosis;
use crate::options::{MultiLabel, ReadOptions};
use crate::plausible;
use crate::profile::Profile;
use crate::reading::{VoteFile, read_source};
use crate::ways::{Roles, lists_of_votes, ways};

/// Opens the source once more.
pub(crate) type Open<'a> = &'a dyn Fn() -> Result<Source, ReadError>;

/// Rows that a profile is made of at the most.
const ROWS: usize = 100_000;
/// Columns up to which readings are looked for.
const COLUMNS: usize = 1000;
/// Readings that are shown at the most.
pub(crate) const WAYS: usize = 8;

/// Options of reading, by name.
pub(crate) type Said = Map<String, Value>;

pub(crate) fn said<const N: usize>(options: [(&str, Value); N]) -> Said {
    options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The error with what the file holds and how it can be read.
pub(crate) fn advise(mut error: ReadError, options: &ReadOptions, open: Open<'_>) -> ReadError {
    let open_question = matches!(
        error.problem,
        Problem::UnknownFormat { .. }
            | Problem::Doubt { .. }
            | Problem::NoColumn { .. }
            | Problem::Choice { .. }
            | Problem::MultiLabel { .. }
            | Problem::NotThisFormat { .. }
    );
    if options.collect || !open_question || error.advice.is_some() {
        return error;
    }
    let Ok(table) = open().map(as_table) else { return error };
    let mut advice = Advice::default();
    let mut proposed = match &error.problem {
        Problem::MultiLabel { .. } if options.multilabel == MultiLabel::Error => {
            vec![said([("multilabel", value!("votes"))])]
        }
        Problem::Choice {
            option: option @ (ReadOption::Label | ReadOption::Format),
            found,
            ..
        } => found.iter().map(|choice| said([(option.name(), value!(choice))])).collect(),
        _ => Vec::new(),
    };
    if let Ok(table) = table {
        let unknown = matches!(error.problem, Problem::UnknownFormat { .. });
        let names = table.columns.clone();
        let kind = table.kind;
        let sample = table.sample.clone();
        let mut rows: Vec<Row> = Vec::new();
        for row in table.rows(&options.limits).take(ROWS) {
            match row {
                Ok(row) => rows.push(row),
                // A line that is no JSON or no text says more than that nothing is known.
                Err(bad)
                    if unknown
                        && matches!(bad.problem, Problem::Json(_) | Problem::Encoding { .. }) =>
                {
                    return bad;
                }
                Err(_) => {}
            }
        }
        let profile =
            Profile::of(&names, if rows.is_empty() { sample.iter() } else { rows.iter() });
        let roles = Roles::of(&profile, options);
        advice.profile = profile.lines(roles.item, roles.annotator);
        let choice = matches!(error.problem, Problem::Choice { option: ReadOption::Label, .. });
        let repeated = roles.item.is_some_and(|item| !profile.is_unique(item));
        let nameless = choice && roles.annotator.is_none() && repeated;
        let sets = matches!(error.problem, Problem::MultiLabel { .. })
            && profile.has_lists_of_one_length();
        if nameless || sets {
            // Nobody is named, and a row may be a label with a number; lists beside one another belong together.
            proposed = roles.item.map_or(Vec::new(), |item| lists_of_votes(&profile, item));
        } else if proposed.is_empty() && names.len() <= COLUMNS {
            proposed = ways(&profile, &roles, kind, options);
        }
        if let Problem::UnknownFormat { seen } = &mut error.problem {
            *seen = format!("{seen}; {}", diagnosis::of(&profile, kind));
        }
    } else if let (Problem::UnknownFormat { seen }, Ok(source)) = (&mut error.problem, open())
        && let Some(shape) = diagnosis::of_document(&source)
    {
        *seen = format!("{seen}; {shape}");
    }
    let tried = proposed
        .into_iter()
        .take(2 * WAYS)
        .filter_map(|way| attempt(&error.file, way, options, open));
    advice.ways = tried.take(WAYS).collect();
    let nameless = |way: &Way| {
        way.options
            .get("item")
            .is_some_and(|item| item.as_str().is_some_and(|name| name.starts_with('#')))
    };
    if advice.ways.len() > 1 && advice.ways.iter().all(nameless) {
        // Which of two columns of numbers is the item, nothing tells.
        advice.ways.clear();
    }
    error.advice = Some(Box::new(advice));
    error
}

/// The table that a source is, or can be taken for.
fn as_table(source: Source) -> Result<Table, ()> {
    match source {
        Source::Table(table) => Ok(table),
        Source::Json(value) => json::array_as_table(value).map_err(|_| ()),
        _ => Err(()),
    }
}

/// A reading with more options; `None` where it gives no votes, or such that something speaks against.
fn attempt(file: &str, more: Said, options: &ReadOptions, open: Open<'_>) -> Option<Way> {
    let default = serde_json::to_value(ReadOptions::default()).ok()?;
    let mut all = serde_json::to_value(options).ok()?.as_object()?.clone();
    all.retain(|name, value| default.get(name) != Some(value));
    all.extend(more);
    let with: ReadOptions = serde_json::from_value(all.clone().into()).ok()?;
    let with = ReadOptions { limits: options.limits, ..with };
    let read = read_source(file.to_owned(), open().ok()?, &with).ok()?;
    let agreed = all.contains_key("label") && all.contains_key("annotator");
    plausible::certain(&read.table, agreed, &with)
        .then(|| Way { options: all, gives: gives(&read) })
}

/// `95 items × 22 annotators, 1,234 votes`.
fn gives(read: &VoteFile) -> String {
    let people = match read.table.annotators().len() {
        0 => String::new(),
        n => format!(" × {n} annotators"),
    };
    let votes =
        read.table.counts().map_or(String::new(), |counts| format!(", {} votes", counts.total()));
    format!("{} items{people}{votes}", read.table.len())
}
