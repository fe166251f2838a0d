//! How votes lie in a source: one file per format, and this list.
//!
//! To add one, write `formats/NAME.rs` with a `FORMAT` and put it into [`FORMATS`]; the command
//! line, its help and the documentation take it from there. The first format in the list that
//! recognizes a source reads it, so the more specific ones stand first.

mod against;
mod argilla;
mod chaosnli;
mod cifar10n;
pub(crate) mod columns;
mod crowdflower;
pub(crate) mod diagnosis;
mod huggingface;
mod item_rows;
mod label_studio;
mod lewidi;
pub(crate) mod lists;
mod long;
mod long_frame;
mod long_rows;
mod long_sets;
mod long_text;
pub(crate) mod matrix;
mod mturk;
mod nested;
mod paired;
mod peerannot;
mod popquorn;
mod potato;
mod prodigy;
mod responses;
mod survey;
mod toloka;
mod vote_objects;
mod wide;
mod zooniverse;

use serde_json::Value;

use crate::collector::Collector;
use crate::names;
use crate::options::ReadOptions;
use dissensus_io::{
    Example, Problem, ReadError, ReadOption, Source, TableKind, cell_text, shorten,
};

/// A way in which votes are stored.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What it looks like.
    pub layout: &'static str,
    /// What goes wrong with it elsewhere, and what happens here.
    pub trap: &'static str,
    /// Small files of it.
    pub examples: &'static [Example],
    /// The options that its reader uses, but for those of text tables (`delimiter`, `header`). Any
    /// other one is an error.
    pub options: &'static [ReadOption],
    /// Whether a source looks like it.
    pub detect: fn(&Source, &ReadOptions) -> bool,
    /// Reads a source.
    pub read: fn(Source, &mut Collector<'_>) -> Result<(), ReadError>,
}

/// All formats, the most specific first.
pub const FORMATS: &[Format] = &[
    chaosnli::FORMAT,
    lewidi::FORMAT_2023,
    lewidi::FORMAT_2025,
    popquorn::FORMAT,
    label_studio::FORMAT,
    argilla::FORMAT,
    prodigy::FORMAT,
    mturk::FORMAT,
    crowdflower::FORMAT,
    toloka::FORMAT,
    potato::FORMAT,
    responses::FORMAT,
    zooniverse::FORMAT,
    survey::FORMAT,
    peerannot::FORMAT,
    huggingface::FORMAT,
    cifar10n::FORMAT,
    matrix::NPY,
    matrix::NPZ,
    nested::FORMAT,
    paired::FORMAT,
    lists::FORMAT,
    long::FORMAT,
    wide::FORMAT,
    matrix::TABLE,
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that recognizes a source.
pub fn detect(source: &Source, options: &ReadOptions) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.detect)(source, options))
}

/// What is wrong with a source that is known to hold no votes.
pub(crate) fn refused(source: &Source) -> Option<Problem> {
    let expected = "one row per vote or one row per item";
    let describes_people = |about: Vec<&str>| {
        let found = format!("a file that describes annotators ({})", about.join(", "));
        Some(Problem::Shape { expected, found })
    };
    let table = match source {
        Source::Table(table) => table,
        Source::Json(Value::Object(people)) => {
            let keys = people.values().next()?.as_object()?.keys();
            let about = about_people(keys);
            return if about.len() >= 2 { describes_people(about) } else { None };
        }
        _ => return None,
    };
    if let Some(what) = crowdflower::aggregated(table) {
        return Some(Problem::NotRead {
            what: what.to_owned(),
            remedy: Some("read the full report of the job"),
        });
    }
    let brat = |row: &dissensus_io::Row| {
        let first = row.cells.first().and_then(cell_text).unwrap_or_default();
        first
            .strip_prefix(['T', 'A', 'R', 'E'])
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    if matches!(table.kind, TableKind::Delimited(dialect) if dialect.delimiter == b'\t')
        && table.columns.len() <= 3
        && !table.sample.is_empty()
        && table.sample.iter().all(brat)
    {
        let what = "these are annotations of brat (standoff), which marks spans of text, and no votes for classes".to_owned();
        return Some(Problem::NotRead { what, remedy: None });
    }
    if table.columns.first()?.starts_with("#FORMAT=WebAnno") {
        let found = "a WebAnno TSV file (INCEpTION), which marks spans of text".to_owned();
        return Some(Problem::Shape { expected, found });
    }
    let about = about_people(table.columns.iter());
    let nothing = |role| columns::guess(&table.columns, role).is_none();
    if about.len() >= 2 && nothing(columns::Role::Label) && nothing(columns::Role::Item) {
        return describes_people(about);
    }
    let mut widths = table.sample.iter().map(|row| row.cells.len());
    let (first, second) = (widths.next()?, widths.next()?);
    let headless = matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header);
    if headless && first != second && table.sample.len() > 2 && widths.all(|width| width == second)
    {
        let texts = table.sample.first()?.cells.iter().filter_map(cell_text);
        let text = shorten(&texts.collect::<Vec<_>>().join(" "));
        return Some(Problem::Doubt {
            doubt: format!(
                "{text:?} reads like sizes: it has {first} cells, the other rows {second}"
            ),
            options: &[],
            remedy: "remove it from the file",
        });
    }
    None
}

/// The rows of a document that holds columns: lists of one length, or objects of the same keys (pandas), under names
/// that are known for roles.
pub(crate) fn rows_of_columns(value: &Value) -> Option<Value> {
    let columns = value.as_object()?;
    let known = |is: &dyn Fn(&str) -> bool| columns.keys().any(|name| is(name));
    let label = known(&|name| names::label(name).is_some());
    if !label || !(known(&|name| names::item(name).is_some()) || known(&names::annotator)) {
        return None;
    }
    let lengths: Option<Vec<usize>> = columns
        .values()
        .map(|column| match column {
            Value::Array(list) => Some(list.len()),
            Value::Object(map) => Some(map.len()),
            _ => None,
        })
        .collect();
    let lengths = lengths?;
    let first = columns.values().next()?;
    let same = columns.values().all(|column| match (first, column) {
        (Value::Array(_), Value::Array(_)) => true,
        (Value::Object(a), Value::Object(b)) => a.keys().eq(b.keys()),
        _ => false,
    });
    if columns.len() < 2 || !same || lengths.iter().any(|&n| n != lengths[0] || n == 0) {
        return None;
    }
    let cell = |column: &Value, row: usize| match column {
        Value::Array(list) => list.get(row).cloned(),
        Value::Object(map) => map.values().nth(row).cloned(),
        _ => None,
    };
    // Values of an object are found one after another: what is larger would take long.
    const MOST: usize = 20_000;
    if first.is_object() && lengths[0] > MOST {
        return None;
    }
    let row = |row: usize| {
        let cells =
            columns.iter().filter_map(|(name, column)| Some((name.clone(), cell(column, row)?)));
        Value::Object(cells.collect())
    };
    Some(Value::Array((0..lengths[0]).map(row).collect()))
}

/// The rows of a document that is one line of JSON and holds columns: lists under names, or `columns` and `data`
/// (pandas).
pub(crate) fn rows_of_one_line(table: &dissensus_io::Table) -> Option<Value> {
    let [row] = table.sample.as_slice() else { return None };
    let whole = table.kind == TableKind::JsonLines
        && row.cells.iter().all(|cell| cell.is_array() || cell.is_object());
    let cells = || table.columns.iter().cloned().zip(row.cells.iter().cloned());
    let document: serde_json::Map<String, Value> = cells().filter(|_| whole).collect();
    if let (Some(Value::Array(names)), Some(Value::Array(data))) =
        (document.get("columns"), document.get("data"))
    {
        let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
        let names = names?;
        let row = |row: &Value| {
            let cells = row.as_array().filter(|cells| cells.len() == names.len())?;
            Some(Value::Object(
                names.iter().map(ToString::to_string).zip(cells.iter().cloned()).collect(),
            ))
        };
        return data.iter().map(row).collect();
    }
    rows_of_columns(&Value::Object(document))
}

/// The rows of a document that holds, for every item, numbers by class: `{"a": {"yes": 2, "no": 1}}`.
pub(crate) fn rows_of_counts(value: &Value) -> Option<Value> {
    const CLASSES: usize = 30;
    const ITEMS: usize = 3;
    let items = value.as_object().filter(|items| items.len() >= ITEMS)?;
    let mut classes: Vec<&String> = Vec::new();
    for counts in items.values() {
        let counts = counts.as_object().filter(|counts| !counts.is_empty())?;
        if !counts.values().all(Value::is_u64) {
            return None;
        }
        let new: Vec<&String> = counts.keys().filter(|class| !classes.contains(class)).collect();
        classes.extend(new);
        if classes.len() > CLASSES {
            return None;
        }
    }
    if classes.len() < 2 || classes.len() >= items.len() {
        return None;
    }
    let row = |(id, counts): (&String, &Value)| {
        let zero = Value::from(0);
        let cells = classes
            .iter()
            .map(|class| ((*class).clone(), counts.get(*class).unwrap_or(&zero).clone()));
        Value::Object(
            std::iter::once(("id".to_owned(), Value::from(id.as_str()))).chain(cells).collect(),
        )
    };
    Some(Value::Array(items.iter().map(row).collect()))
}

/// The names that say something about a person.
fn about_people<'n>(names: impl Iterator<Item = &'n String>) -> Vec<&'n str> {
    const ABOUT: [&str; 7] =
        ["age", "gender", "sex", "education", "nationality", "ethnicity", "occupation"];
    let is_about = |name: &&str| ABOUT.contains(&name.to_lowercase().as_str());
    names.map(String::as_str).filter(is_about).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_named_once_and_explained() {
        for (i, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..i].iter().all(|other| other.name != format.name), "{}", format.name);
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(format.name.chars().all(kebab), "{}", format.name);
            for text in [format.title, format.layout, format.trap] {
                assert!(text.len() > 10, "{} has {text:?}", format.name);
            }
            assert!(!format.examples.is_empty(), "{}", format.name);
        }
    }
}
