//! JSON in which every item holds a list of votes, however deep: `{"article", "sentences": [{"responses":
//! [{"worker_id", "response"}]}]}`, HateXplain's `{"ID": {"annotators": [{"annotator_id", "label"}]}}`, the worker
//! responses of SageMaker Ground Truth, the ratings of SummEval.
//!
//! A vote is an object in a list with a key that is known for annotators and one that is known for labels, or (where
//! nobody is named) objects of the same few numbers, one question per key. The item is what holds the list.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Format;
use super::vote_objects::{self, States};
use crate::collector::{Collector, Places};
use crate::names;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Source, TableKind, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "nested",
    title: "Nested JSON: lists of votes within items (HateXplain, SageMaker worker responses, SummEval)",
    layout: r#"JSON or JSON Lines: {"id", "annotators": [{"annotator_id": 1, "label": "x"}]}, the list at any depth"#,
    trap: "lists within lists: the item is the object that holds the list of votes",
    examples: &[
        Example::text(
            "dataset.json",
            r#"{"p1": {"annotators": [{"label": "hate", "annotator_id": 1, "target": ["a"]},
                       {"label": "normal", "annotator_id": 2, "target": []}]},
 "p2": {"annotators": [{"label": "normal", "annotator_id": 1, "target": []}]}}
"#,
        ),
        Example::text(
            "answers.jsonl",
            r#"{"article": "A.", "sentences": [{"sentence": "B.", "responses": [{"worker_id": 0, "response": "yes"}, {"worker_id": 1, "response": "no"}]}]}
{"article": "C.", "sentences": [{"sentence": "D.", "responses": [{"worker_id": 0, "response": "no"}]}]}
"#,
        ),
    ],
    options: &[O::Label, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

/// Objects and lists within one another that are followed.
const DEEPEST: usize = 8;

/// A list of votes in a document.
struct Votes<'v> {
    /// The ids and places of what holds it.
    item: String,
    row: u64,
    votes: Vec<Vote<'v>>,
}

struct Vote<'v> {
    annotator: Option<String>,
    label: &'v Value,
    /// The object that holds it.
    object: Option<&'v Map<String, Value>>,
}

/// The lists of votes by question: where they are, and what the label is called.
type Questions<'v> = BTreeMap<String, Vec<Votes<'v>>>;

/// The entries of a document, each with its id.
fn entries(source: &Source) -> Option<Vec<(String, u64, Value)>> {
    match source {
        Source::Json(Value::Array(list)) => {
            let objects = list.iter().filter(|entry| entry.is_object());
            let numbered = objects.enumerate();
            Some(
                numbered.map(|(i, entry)| (id_of(entry, i), i as u64 + 1, entry.clone())).collect(),
            )
        }
        Source::Json(Value::Object(map)) => {
            let instances = ["instances", "data", "examples", "items", "annotations"];
            let inner = instances.iter().find_map(|key| map.get(*key)?.as_array());
            if let Some(list) =
                inner.filter(|list| list.iter().all(Value::is_object) && !list.is_empty())
            {
                return entries(&Source::Json(Value::Array(list.clone())));
            }
            if map.len() > 1 && map.values().all(Value::is_object) {
                let rows = map.iter().zip(1..);
                return Some(
                    rows.map(|((key, entry), row)| (key.clone(), row, entry.clone())).collect(),
                );
            }
            Some(vec![("1".to_owned(), 1, Value::Object(map.clone()))])
        }
        Source::Table(table)
            if matches!(table.kind, TableKind::JsonLines | TableKind::JsonArray) =>
        {
            let entry = |row: &dissensus_io::Row| {
                let cells = table.columns.iter().cloned().zip(row.cells.iter().cloned());
                Value::Object(cells.filter(|(_, cell)| !cell.is_null()).collect::<Map<_, _>>())
            };
            let rows = table.sample.iter().enumerate();
            Some(
                rows.map(|(i, row)| (i, row.number, entry(row)))
                    .map(|(i, n, e)| (id_of(&e, i), n, e))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// The id of an object: that of its surest key for items (with the system that made it, where one is named), else
/// its place.
fn id_of(entry: &Value, place: usize) -> String {
    let Some(map) = entry.as_object() else { return place.to_string() };
    let plain = |value: &Value| cell_text(value).filter(|_| value.is_string() || value.is_number());
    let known = map.iter().filter_map(|(key, value)| {
        let id = key == "id" || key.ends_with("_id") || key.ends_with("ID") || key.ends_with("Id");
        Some((names::item(key).filter(|_| id)?, plain(value)?))
    });
    let id = known.min().map(|(_, id)| id);
    let system =
        ["model_id", "system", "system_id", "model"].iter().find_map(|key| plain(map.get(*key)?));
    match (id, system) {
        (Some(id), Some(system)) => format!("{id}/{system}"),
        (Some(id), None) => id,
        (None, _) => place.to_string(),
    }
}

/// JSON in a text, as SageMaker writes it.
fn unpacked(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    (text.starts_with('{') && text.ends_with('}')).then(|| serde_json::from_str(text).ok())?
}

/// The entry with all JSON in its texts unpacked.
fn unpack(value: &mut Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    if let Some(inner) = unpacked(value) {
        *value = inner;
    }
    match value {
        Value::Array(list) => list.iter_mut().for_each(|entry| unpack(entry, depth + 1)),
        Value::Object(map) => map.values_mut().for_each(|entry| unpack(entry, depth + 1)),
        _ => {}
    }
}

/// Whether a value can be a label: a word or number, or a list of them.
fn is_label(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
        Value::Array(list) => {
            !list.is_empty() && list.iter().all(|v| v.is_string() || v.is_number())
        }
        _ => false,
    }
}

/// The label of a vote and the path to it: under a key that is known, in the vote or in the objects within.
fn label<'v>(
    vote: &'v Map<String, Value>,
    path: &str,
    depth: usize,
    found: &mut Vec<(String, &'v Value)>,
) {
    for (key, value) in vote {
        if names::annotator(key) || depth > 4 {
            continue;
        }
        if names::label(key).is_some() && is_label(value) {
            found.push((format!("{path}{key}"), value));
        } else if let Value::Object(inner) = value {
            label(inner, &format!("{path}{key}."), depth + 1, found);
        }
    }
}

fn annotator(vote: &Map<String, Value>) -> Option<Option<String>> {
    let mut known = vote.iter().filter(|(key, value)| {
        names::annotator(key) && (value.is_string() || value.is_number() || value.is_null())
    });
    let first = known.next()?;
    known.next().is_none().then(|| cell_text(first.1).filter(|id| !id.is_empty()))
}

/// Finds the lists of votes in a value.
fn walk<'v>(
    value: &'v Value,
    path: &str,
    item: &str,
    row: u64,
    depth: usize,
    found: &mut Questions<'v>,
) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(map) => {
            let who = annotator(map).flatten();
            for (key, inner) in map {
                if let (Some(who), Some(list)) = (&who, inner.as_array())
                    && by_one(who, list, key, row, found)
                {
                    continue;
                }
                if key == POTATO {
                    potato(map, inner, row, found);
                    continue;
                }
                if let Some(list) = inner.as_array().filter(|list| is_list_of_votes(key, list)) {
                    let votes = list
                        .iter()
                        .map(|label| Vote { annotator: None, label, object: None })
                        .collect();
                    let question = if path.is_empty() { key.clone() } else { path.to_owned() };
                    found.entry(question).or_default().push(Votes {
                        item: item.to_owned(),
                        row,
                        votes,
                    });
                    continue;
                }
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(inner, &path, item, row, depth + 1, found);
            }
        }
        Value::Array(list) if !list.is_empty() && list.iter().all(Value::is_object) => {
            let objects: Vec<&Map<String, Value>> =
                list.iter().filter_map(Value::as_object).collect();
            if objects.iter().all(|vote| annotator(vote).is_some()) {
                return named(&objects, path, item, row, found);
            }
            if is_ratings(&objects) {
                return rated(&objects, path, item, row, found);
            }
            for (place, entry) in list.iter().enumerate() {
                let inner = format!("{item}.{}", id_of(entry, place));
                walk(entry, path, &inner, row, depth + 1, found);
            }
        }
        _ => {}
    }
}

/// The key under which Potato keeps a user's answers: by instance, pairs of a schema's label and what was marked.
const POTATO: &str = "instance_id_to_label_to_value";

/// The answers in the state of one of Potato's users.
fn potato<'v>(
    state: &'v Map<String, Value>,
    answers: &'v Value,
    row: u64,
    found: &mut Questions<'v>,
) {
    let user = state.get("user_id").and_then(cell_text);
    for (item, pairs) in answers.as_object().into_iter().flatten() {
        let mut by_schema: BTreeMap<String, Vec<Vote<'v>>> = BTreeMap::new();
        for pair in pairs.as_array().into_iter().flatten() {
            let Some([label, marked, ..]) = pair.as_array().map(Vec::as_slice) else { continue };
            let (Some(schema), Some(name)) =
                (label.get("schema").and_then(cell_text), label.get("name"))
            else {
                continue;
            };
            let off = matches!(marked, Value::Null | Value::Bool(false))
                || marked.as_str().is_some_and(|m| m == "false");
            if !off {
                by_schema.entry(schema).or_default().push(Vote {
                    annotator: user.clone(),
                    label: name,
                    object: None,
                });
            }
        }
        for (schema, votes) in by_schema {
            found.entry(schema).or_default().push(Votes { item: item.clone(), row, votes });
        }
    }
}

/// Lists whose names say that they are the votes of several people (SNLI, JUDGE-BENCH).
fn is_list_of_votes(key: &str, list: &[Value]) -> bool {
    const KNOWN: [&str; 8] = [
        "annotatorlabels",
        "workerlabels",
        "raterlabels",
        "individualhumanscores",
        "humanscores",
        "individuallabels",
        "individualscores",
        "individualannotations",
    ];
    KNOWN.contains(&names::plain(key).as_str())
        && !list.is_empty()
        && list.iter().all(|label| {
            label.is_string() || label.is_number() || label.is_boolean() || label.is_null()
        })
}

/// The votes of one person on several items: `{"annotator", "answers": [{"item", "label"}]}`. Whether these are some.
fn by_one<'v>(
    who: &str,
    list: &'v [Value],
    path: &str,
    row: u64,
    found: &mut Questions<'v>,
) -> bool {
    let plain = |value: &Value| cell_text(value).filter(|_| value.is_string() || value.is_number());
    let item = |vote: &Map<String, Value>| {
        let known = vote.iter().filter_map(|(key, value)| Some((names::item(key)?, plain(value)?)));
        known.min().map(|(_, id)| id)
    };
    let objects: Option<Vec<&Map<String, Value>>> = list.iter().map(Value::as_object).collect();
    let Some(objects) = objects.filter(|objects| !objects.is_empty()) else { return false };
    if objects.iter().any(|vote| item(vote).is_none() || annotator(vote).is_some()) {
        return false;
    }
    let mut some = false;
    for vote in objects {
        let mut labels = Vec::new();
        label(vote, "", 0, &mut labels);
        for (key, label) in labels {
            let vote = Vote { annotator: Some(who.to_owned()), label, object: Some(vote) };
            let item = item(vote.object.unwrap_or(&Map::new())).unwrap_or_default();
            found.entry(format!("{path}.{key}")).or_default().push(Votes {
                item,
                row,
                votes: vec![vote],
            });
            some = true;
        }
    }
    some
}

/// Votes of people who are named.
fn named<'v>(
    objects: &[&'v Map<String, Value>],
    path: &str,
    item: &str,
    row: u64,
    found: &mut Questions<'v>,
) {
    let mut questions: BTreeMap<String, Vec<Vote<'v>>> = BTreeMap::new();
    for vote in objects {
        let mut labels = Vec::new();
        label(vote, "", 0, &mut labels);
        for (key, label) in labels {
            let annotator = annotator(vote).flatten();
            let object = Some(*vote);
            questions.entry(key).or_default().push(Vote { annotator, label, object });
        }
    }
    for (key, votes) in questions {
        let item = item.to_owned();
        found.entry(format!("{path}.{key}")).or_default().push(Votes { item, row, votes });
    }
}

/// Whether objects are ratings of several people: all have the same two keys or more, with small whole numbers.
fn is_ratings(objects: &[&Map<String, Value>]) -> bool {
    let keys: BTreeSet<&String> = objects.iter().flat_map(|object| object.keys()).collect();
    let rating = |value: &Value| value.as_i64().is_some_and(|n| (0..=10).contains(&n));
    let place = |key: &&String| {
        let places =
            ["x", "y", "z", "w", "h", "width", "height", "left", "top", "offset", "length"];
        places.contains(&key.to_lowercase().as_str())
            || names::about(key)
            || names::item(key).is_some()
    };
    objects.len() > 1
        && keys.len() > 1
        && !keys.iter().any(place)
        && objects.iter().all(|object| object.len() == keys.len() && object.values().all(rating))
}

/// Ratings of people who are not named.
fn rated<'v>(
    objects: &[&'v Map<String, Value>],
    path: &str,
    item: &str,
    row: u64,
    found: &mut Questions<'v>,
) {
    for key in objects.first().into_iter().flat_map(|object| object.keys()) {
        let votes = objects.iter().filter_map(|object| {
            Some(Vote { annotator: None, label: object.get(key)?, object: None })
        });
        let votes = Votes { item: item.to_owned(), row, votes: votes.collect() };
        found.entry(format!("{path}.{key}")).or_default().push(votes);
    }
}

/// The questions of a document: those of which there are lists with several votes.
fn questions(entries: &[(String, u64, Value)]) -> Questions<'_> {
    let mut found = Questions::new();
    for (id, row, entry) in entries {
        walk(entry, "", id, *row, 0, &mut found);
    }
    found
}

fn unpacked_entries(source: &Source) -> Option<Vec<(String, u64, Value)>> {
    let mut entries = entries(source)?;
    entries.iter_mut().for_each(|(.., entry)| unpack(entry, 0));
    Some(entries)
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    // A list of objects is a table first, which other formats may know.
    if let Source::Json(Value::Array(list)) = source
        && list.iter().all(Value::is_object)
        && options.format.is_none()
    {
        return false;
    }
    unpacked_entries(source).is_some_and(|entries| !questions(&entries).is_empty())
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let not_this = Problem::NotThisFormat { format: FORMAT.name, seen };
    let source = match source {
        // A table keeps a sample only; all its rows are entries.
        Source::Table(mut table) => {
            let (columns, kind) = (table.columns.clone(), table.kind);
            let mut rows = Vec::new();
            if !matches!(kind, TableKind::JsonLines | TableKind::JsonArray) {
                return Err(collector.error(not_this));
            }
            table.sample.clear();
            for row in table.rows(&collector.options.limits) {
                rows.extend(collector.good(row)?);
            }
            let object = |row: dissensus_io::Row| {
                let cells = columns.iter().cloned().zip(row.cells);
                Value::Object(cells.filter(|(_, cell)| !cell.is_null()).collect())
            };
            Source::Json(Value::Array(rows.into_iter().map(object).collect()))
        }
        source => source,
    };
    let Some(entries) = unpacked_entries(&source) else {
        return Err(collector.error(not_this));
    };
    let mut questions = questions(&entries);
    let asked = match (&collector.options.label, questions.len()) {
        (Some(said), _) => Some(said.clone()),
        (None, 1) => questions.keys().next().cloned(),
        _ => None,
    };
    let Some((question, lists)) = asked.and_then(|asked| questions.remove_entry(&asked)) else {
        let expected = "one question to read (a path in nested lists)";
        let found = questions.into_keys().collect();
        return Err(collector.error(Problem::Choice {
            expected,
            found,
            option: ReadOption::Label,
        }));
    };
    if collector.options.label.is_none() {
        collector.note("question", question.clone());
    }
    collector.note("item", "the object that holds the list of votes");
    enter(&question, lists, collector)
}

fn enter(
    question: &str,
    lists: Vec<Votes<'_>>,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let mut missing = Places::default();
    let mut states = States::default();
    for Votes { item, row, votes } in lists {
        collector.name_item(&item, row)?;
        for Vote { annotator, label, object } in votes {
            if object.is_some_and(vote_objects::is_span) {
                return Err(collector.error(vote_objects::spans()).row(row).item(item));
            }
            if object.is_some_and(|object| !states.counts(object, &item, row)) {
                continue;
            }
            let labels: Vec<String> = match label {
                Value::Array(several) => several.iter().filter_map(cell_text).collect(),
                one => cell_text(one).into_iter().collect(),
            };
            let kept = collector.kept(&labels);
            if kept.is_empty() {
                missing.add(&item, row);
                continue;
            }
            collector.vote_several(&item, annotator.as_deref(), &kept, row)?;
        }
    }
    states.note(collector)?;
    let what = format!("votes without an answer to {:?}", shorten(question));
    missing.left_out(collector, "missing-value", &what, "fill them in, or drop them");
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, VoteFile, read_bytes};

    fn read(text: &str, label: Option<&str>) -> VoteFile {
        let options = ReadOptions { label: label.map(str::to_owned), ..ReadOptions::default() };
        read_bytes("x", text.into(), &options).unwrap()
    }

    #[test]
    fn lists_at_any_depth() {
        let text = r#"{"article": "A.", "sentences": [{"responses": [{"worker_id": 0, "response": "yes"}, {"worker_id": 1, "response": "no"}]}, {"responses": [{"worker_id": 0, "response": "no"}]}]}
{"article": "B.", "sentences": [{"responses": [{"worker_id": 2, "response": "no"}]}]}
"#;
        let table = read(text, None).table;
        assert!(table.items().iter().eq(["0.0", "0.1", "1.0"]));
        assert_eq!(table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!(table.annotators().len(), 3);
        let packed = r#"[{"datasetObjectId": "7", "annotations": [
            {"workerId": "a", "annotationData": {"content": "{\"crowd-classifier\": {\"label\": \"cat\"}}"}},
            {"workerId": "b", "annotationData": {"content": "{\"crowd-classifier\": {\"label\": \"dog\"}}"}}]}]"#;
        let table = read(packed, None).table;
        assert_eq!(table.classes().names(), ["cat", "dog"]);
    }

    #[test]
    fn the_state_of_a_user_of_potato() {
        let text = r#"{"user_id": "u", "instance_id_to_label_to_value": {"a": [[{"schema": "mood", "name": "good"}, "true"]], "b": [[{"schema": "mood", "name": "bad"}, "true"], [{"schema": "mood", "name": "good"}, "false"]]}}"#;
        let table = read(text, None).table;
        assert!(table.items().iter().eq(["a", "b"]) && table.annotators().iter().eq(["u"]));
        assert_eq!(table.counts().unwrap().row(1, 2), [1.0, 0.0]);
    }

    #[test]
    fn questions_are_never_merged() {
        let text = r#"{"id": "d1", "model_id": "m1", "expert_annotations": [{"fluency": 5, "relevance": 2}, {"fluency": 4, "relevance": 2}]}
{"id": "d1", "model_id": "m2", "expert_annotations": [{"fluency": 1, "relevance": 3}, {"fluency": 1, "relevance": 2}]}
"#;
        let error = read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap();
        assert!(
            error.to_string().contains("expert_annotations.fluency, expert_annotations.relevance"),
            "{error}"
        );
        assert_eq!(error.advice.unwrap().ways.len(), 2);
        let table = read(text, Some("expert_annotations.fluency")).table;
        assert!(table.items().iter().eq(["d1/m1", "d1/m2"]));
        assert_eq!(table.counts().unwrap().row(0, 3), [0.0, 1.0, 1.0]);
    }
}
