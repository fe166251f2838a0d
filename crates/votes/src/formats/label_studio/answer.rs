//! What both exports share: the question that is read, an answer's labels, and who gave it.

use serde_json::{Map, Value};

use crate::collector::Collector;
use dissensus_io::cell_text;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};

/// An error about a value of another shape.
pub(super) fn shape(collector: &Collector<'_>, expected: &'static str, found: &Value) -> ReadError {
    collector.error(Problem::Shape { expected, found: shorten(&found.to_string()) })
}

/// The question that is read: the one the user names, else the only one.
pub(super) fn question(
    mut questions: Vec<String>,
    collector: &mut Collector<'_>,
) -> Result<String, ReadError> {
    match &collector.options.label {
        Some(said) if questions.contains(said) => return Ok(said.clone()),
        None if questions.len() == 1 => {
            let only = questions.remove(0);
            collector.note("question", only.clone());
            return Ok(only);
        }
        _ => {}
    }
    Err(collector.error(Problem::Choice {
        expected: "one question to read",
        option: ReadOption::Label,
        found: match questions.len() {
            0 => vec!["none with choices or a rating".to_owned()],
            _ => questions,
        },
    }))
}

/// The labels of a `value`: its choices, or its rating. `None` where it has neither.
pub(super) fn labels(value: &Value) -> Option<Vec<String>> {
    let plain = |entry: &Value| -> Option<String> {
        (entry.is_string() || entry.is_number()).then(|| cell_text(entry))?
    };
    match (value.get("choices"), value.get("rating")) {
        (Some(Value::Array(choices)), _) => choices.iter().map(plain).collect(),
        (Some(choice), _) => Some(vec![plain(choice)?]),
        (None, Some(rating)) => Some(vec![plain(rating)?]),
        (None, None) => None,
    }
}

/// Who annotated: a number, or an object with an id and an email address. The id is preferred, for
/// one project may be exported both ways.
pub(super) fn annotator(who: &Value) -> Option<String> {
    let who = match who {
        Value::Object(person) => person.get("id").or_else(|| person.get("email"))?,
        plain => plain,
    };
    cell_text(who).filter(|name| !name.is_empty() && !who.is_array() && !who.is_object())
}

/// The item of an entry: its `id`, or the field that the user names.
pub(super) fn item_id(
    entry: &Map<String, Value>,
    fields: &Value,
    row: u64,
    collector: &mut Collector<'_>,
) -> Result<Option<String>, ReadError> {
    let (key, id) = match &collector.options.item {
        Some(said) => (said.clone(), fields.get(said).or_else(|| entry.get(said))),
        None => ("id".to_owned(), entry.get("id")),
    };
    let id = id.and_then(cell_text).filter(|id| !id.is_empty());
    if id.is_none() {
        let error = collector.error(Problem::EmptyCell { role: "item" }).row(row).column(key);
        collector.reject(error)?;
    }
    Ok(id)
}
