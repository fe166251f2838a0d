//! Hugging Face datasets that keep the annotators of an item in one column: a struct of lists
//! (`annotators{annotator_id, label}`, as HateXplain) or a list of structs.
//!
//! Where labels are numbers and the Parquet file carries the dataset's features, the names of the
//! classes and their order come from there. A table with one row per vote is a long table.

use serde_json::{Map, Value};

use super::Format;
use super::columns::{self, Role};
use super::vote_objects::{self, States};
use crate::collector::{Collector, Places, Severity};
use crate::options::{MultiLabel, ReadOptions};
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, shorten};
use dissensus_io::{Source, Table, TableKind, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "huggingface",
    title: "Hugging Face: one row per item, annotators and labels nested in a column",
    layout: r#"Parquet or JSON Lines: {"id", "annotators": {"annotator_id": [1, 2], "label": [0, 2]}} or {"annotators": [{"annotator_id": 1, "label": 0}]}"#,
    trap: "labels are numbers whose names stand in the file's features: they are taken from there",
    examples: &[
        Example::text(
            "posts.jsonl",
            r#"{"post_id": "p1", "text": "A.", "annotators": {"annotator_id": [1, 2], "label": ["hate", "normal"]}}
{"post_id": "p2", "text": "B.", "annotators": {"annotator_id": [1], "label": ["normal"]}}
"#,
        ),
        Example::text(
            "items.jsonl",
            r#"{"id": "p1", "votes": [{"worker": "a", "answer": 3}, {"worker": "b", "answer": 4}]}
{"id": "p2", "votes": [{"worker": "a", "answer": 4}]}
"#,
        ),
    ],
    options: &[O::Item, O::Annotator, O::Label, O::Text, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

/// Where the votes lie.
struct Layout {
    column: usize,
    item: Option<usize>,
    annotator: String,
    label: String,
    text: Option<usize>,
}

/// The keys that may hold annotators and labels: lists in a struct, or anything in a list of them.
fn fields(cell: &Value) -> Option<Vec<String>> {
    match cell {
        Value::Object(lists) => {
            Some(lists.iter().filter(|(_, v)| v.is_array()).map(|(k, _)| k.clone()).collect())
        }
        Value::Array(structs) => Some(structs.first()?.as_object()?.keys().cloned().collect()),
        _ => None,
    }
}

fn field(fields: &[String], role: Role, said: Option<&str>) -> Option<String> {
    let place = match said {
        Some(said) => fields.iter().position(|field| field == said),
        None => columns::guess(fields, role),
    };
    place.map(|place| fields[place].clone())
}

fn layout(table: &Table, options: &ReadOptions) -> Option<Layout> {
    if matches!(table.kind, TableKind::Delimited(_)) {
        return None;
    }
    let found = (0..table.columns.len()).find_map(|column| {
        let mut cells = table.sample.iter().map(|row| row.cell(column));
        let fields = cells.find_map(|cell| fields(cell).filter(|fields| !fields.is_empty()))?;
        let annotator = field(&fields, Role::Annotator, options.annotator.as_deref())?;
        let label = field(&fields, Role::Label, options.label.as_deref())?;
        (annotator != label).then_some((column, annotator, label))
    });
    let (column, annotator, label) = found?;
    let item = match &options.item {
        Some(said) => columns::named(&table.columns, said),
        None => columns::guess(&table.columns, Role::Item).filter(|&item| item != column),
    };
    let text = columns::own_text(table, options).ok()?;
    Some(Layout { column, item, annotator, label, text })
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    matches!(source, Source::Table(table) if layout(table, options).is_some())
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let not_this = Problem::NotThisFormat { format: FORMAT.name, seen };
    let Source::Table(table) = source else {
        return Err(collector.error(not_this));
    };
    let Some(layout) = layout(&table, collector.options) else {
        return Err(collector.error(not_this));
    };
    if collector.options.item.is_some() && layout.item.is_none() {
        return Err(collector.error(columns::no_column(&table, Role::Item)));
    }
    let column = table.columns[layout.column].clone();
    let names = class_names(&table, &column, &layout.label);
    state(&layout, &table, names.as_deref(), collector)?;
    let (mut missing, mut nameless, mut without) = (Places::default(), Places::default(), 0u64);
    let mut states = States::default();
    for (position, row) in table.rows(&collector.options.limits).enumerate() {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let number = row.number;
        let id = match layout.item {
            Some(item) => cell_text(row.cell(item)).filter(|id| !id.is_empty()),
            None => Some(position.to_string()),
        };
        let Some(id) = id else {
            let error = collector.error(Problem::EmptyCell { role: "item" }).row(number);
            collector.reject(error)?;
            continue;
        };
        let mut counts = |vote: &Map<String, Value>| states.counts(vote, &id, number);
        let pairs = match pairs(row.cell(layout.column), &layout, &mut counts) {
            Ok(pairs) => pairs,
            Err(problem) => {
                let error = collector.error(problem).row(number).column(&column).item(&id);
                collector.reject(error)?;
                continue;
            }
        };
        if !collector.new_item(&id, number)? {
            continue;
        }
        without += u64::from(pairs.is_empty());
        for (annotator, label) in pairs {
            let labels = match labels(label, names.as_deref()) {
                Ok(labels) => labels,
                Err(problem) => {
                    let error = collector.error(problem).row(number).item(&id);
                    collector.reject(error.column(format!("{column}.{}", layout.label)))?;
                    continue;
                }
            };
            let several = collector.kept(&labels);
            if several.len() < labels.len() || labels.is_empty() {
                missing.add(&id, number);
            }
            if several.is_empty() {
                continue;
            }
            let who = cell_text(annotator).filter(|name| !name.is_empty());
            if who.is_none() {
                nameless.add(&id, number);
            }
            collector.vote_several(&id, who.as_deref(), &several, number)?;
        }
        if let Some(Value::String(text)) = layout.text.map(|c| row.cell(c)) {
            collector.text(&id, text.clone());
        }
    }
    if without > 0 {
        collector.note("items without annotators", without.to_string());
    }
    states.note(collector)?;
    missing.left_out(collector, "missing-value", "missing labels", "fill them in");
    let message = "a label without an annotator: a vote of an unknown annotator";
    nameless.find(collector, Severity::Note, "no-annotator", message, "name the annotator");
    Ok(())
}

/// States what was taken for what, and fixes the classes that the file names.
fn state(
    layout: &Layout,
    table: &Table,
    names: Option<&[String]>,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let column = &table.columns[layout.column];
    if collector.options.item.is_none() {
        let position = || "none: items are named by their position, from 0".to_owned();
        collector
            .note("item column", layout.item.map_or_else(position, |c| table.columns[c].clone()));
    }
    if collector.options.annotator.is_none() {
        collector.note("annotator field", format!("{column}.{}", layout.annotator));
    }
    if collector.options.label.is_none() {
        collector.note("label field", format!("{column}.{}", layout.label));
    }
    if let Some(names) = names {
        collector.note("class names", format!("{}, from the file's features", names.join(", ")));
        if !matches!(collector.options.multilabel, MultiLabel::Only(_)) {
            collector.builder.declare_format(names.to_vec()).map_err(|e| collector.error(e))?;
        }
    }
    Ok(())
}

/// The names of the classes in the features that the `datasets` library leaves in a Parquet file.
fn class_names(table: &Table, column: &str, label: &str) -> Option<Vec<String>> {
    fn find<'v>(value: &'v Value, label: &str) -> Option<&'v Value> {
        let map = value.as_object()?;
        map.get(label).or_else(|| map.values().find_map(|inner| find(inner, label)))
    }
    let features: Value = serde_json::from_str(&table.metadata("huggingface")?).ok()?;
    let mut feature = find(&features["info"]["features"][column], label)?;
    while let Some(inner) = feature.get("feature") {
        feature = inner;
    }
    feature["names"].as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// The (annotator, label) pairs of a cell.
fn pairs<'c>(
    cell: &'c Value,
    layout: &Layout,
    counts: &mut dyn FnMut(&Map<String, Value>) -> bool,
) -> Result<Vec<(&'c Value, &'c Value)>, Problem> {
    let shape = |expected: &'static str, found: &Value| Problem::Shape {
        expected,
        found: shorten(&found.to_string()),
    };
    match cell {
        Value::Null => Ok(Vec::new()),
        Value::Object(lists) => {
            let (annotators, labels) = (list(lists, &layout.annotator), list(lists, &layout.label));
            let (Some(annotators), Some(labels)) = (annotators, labels) else {
                return Err(shape("lists of annotators and labels", cell));
            };
            if annotators.len() != labels.len() {
                let (left, right) = (layout.label.clone(), layout.annotator.clone());
                let (left_len, right_len) = (labels.len(), annotators.len());
                return Err(Problem::Unequal { left, left_len, right, right_len });
            }
            Ok(annotators.iter().zip(labels).collect())
        }
        Value::Array(structs) => {
            let mut pairs = Vec::with_capacity(structs.len());
            for entry in structs {
                let Value::Object(vote) = entry else {
                    return Err(shape("an annotator and a label", entry));
                };
                if vote_objects::is_span(vote) {
                    return Err(vote_objects::spans());
                }
                if counts(vote) {
                    pairs.push((&entry[&layout.annotator], &entry[&layout.label]));
                }
            }
            Ok(pairs)
        }
        other => Err(shape("lists of annotators and labels", other)),
    }
}

fn list<'c>(lists: &'c Map<String, Value>, field: &str) -> Option<&'c [Value]> {
    match lists.get(field) {
        None | Some(Value::Null) => Some(&[]),
        Some(Value::Array(list)) => Some(list),
        Some(_) => None,
    }
}

/// The labels of one annotator, by name where the file has names; empty where there is none.
fn labels(label: &Value, names: Option<&[String]>) -> Result<Vec<String>, Problem> {
    let one = |label: &Value| -> Result<String, Problem> {
        let shape = |expected: &'static str| {
            Err(Problem::Shape { expected, found: shorten(&label.to_string()) })
        };
        match (label, names) {
            (Value::Array(_) | Value::Object(_), _) => shape("a label"),
            // The library's own number for "no label".
            (Value::Number(n), Some(_)) if n.as_i64() == Some(-1) => Ok(String::new()),
            (Value::Number(n), Some(names)) => {
                let place = n.as_u64().and_then(|n| usize::try_from(n).ok());
                match place.and_then(|place| names.get(place)) {
                    Some(name) => Ok(name.clone()),
                    None => shape("the number of a class in the file's features"),
                }
            }
            _ => Ok(cell_text(label).unwrap_or_default()),
        }
    };
    match label {
        Value::Array(several) => several.iter().map(one).collect(),
        single => Ok(vec![one(single)?]),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::Int32Type;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use crate::{ReadOptions, VoteFile, read_bytes};

    const LINES: &str = r#"{"post_id": "p1", "text": "A.", "annotators": {"annotator_id": [1, 2, 3], "label": ["hate", "normal", "hate"], "target": [[], [], []]}}
{"post_id": "p2", "text": "B.", "annotators": {"annotator_id": [1, null], "label": ["normal", null], "target": [[], []]}}
{"post_id": "p3", "text": "C.", "annotators": null}
"#;

    fn read(text: &str) -> VoteFile {
        read_bytes("x", text.into(), &ReadOptions::default()).unwrap()
    }

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    fn notes(reading: &VoteFile) -> Vec<String> {
        reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect()
    }

    #[test]
    fn a_struct_of_lists() {
        let reading = read(LINES);
        assert_eq!(reading.format.name, "huggingface");
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["p1", "p2", "p3"]);
        assert_eq!(reading.table.classes().names(), ["hate", "normal"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [2.0, 1.0]);
        assert_eq!(
            notes(&reading),
            [
                "item column: post_id",
                "annotator field: annotators.annotator_id",
                "label field: annotators.label",
                "items without annotators: 1",
                "left out: missing labels: 1",
            ]
        );
        assert_eq!(reading.findings[0].code, "missing-value");
    }

    #[test]
    fn a_list_of_structs_without_ids() {
        let text = r#"{"words": "A.", "votes": [{"worker": "a", "answer": 3}, {"worker": "b", "answer": 4}]}
{"words": "B.", "votes": []}
{"words": "C.", "votes": [{"worker": null, "answer": 4}]}
"#;
        let reading = read(text);
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["0", "1", "2"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!(
            notes(&reading)[0],
            "item column: none: items are named by their position, from 0"
        );
        assert_eq!(reading.findings[0].code, "no-annotator");
    }

    #[test]
    fn bad_rows_are_named() {
        assert_eq!(
            error(&LINES.replace("[1, 2, 3]", "[1, 2]")),
            "x, row 1, column \"annotators\", item \"p1\": label has 3 entries, annotator_id has 2"
        );
        assert_eq!(
            error(&LINES.replace("\"annotators\": null", "\"annotators\": 7")),
            "x, row 3, column \"annotators\", item \"p3\": expected lists of annotators and labels, found 7"
        );
        assert_eq!(
            error(&LINES.replace("[\"normal\", null]", "[{\"a\": 1}, null]")),
            "x, row 2, column \"annotators.label\", item \"p2\": expected a label, found {\"a\":1}"
        );
        assert_eq!(
            error(&LINES.replace("\"p3\"", "\"p1\"")),
            "x, row 3: item \"p1\" appears twice"
        );
        assert_eq!(error(&LINES.replace("\"p3\"", "null")), "x, row 3: the item is empty");
        let options = ReadOptions { item: Some("nobody".into()), ..ReadOptions::default() };
        let error = read_bytes("x", LINES.into(), &options).err().unwrap();
        assert_eq!(error.problem.code(), "no-column");
    }

    /// Two items, of 2 and 1 votes, as the `datasets` library writes a sequence of a dictionary.
    fn parquet_file(labels: &[i32]) -> Vec<u8> {
        let schema = "message schema { optional int32 id; optional group annotators {
            optional group annotator_id (LIST) { repeated group list { optional int32 element; } }
            optional group label (LIST) { repeated group list { optional int32 element; } } } }";
        let features = r#"{"info": {"features": {"id": {"dtype": "int32", "_type": "Value"},
            "annotators": {"feature": {"annotator_id": {"dtype": "int32", "_type": "Value"},
            "label": {"names": ["hate", "normal", "offensive"], "_type": "ClassLabel"}}, "_type": "Sequence"}}}}"#;
        let metadata = vec![KeyValue::new("huggingface".to_owned(), features.to_owned())];
        let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata)).build();
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let (levels, starts): (&[i16], &[i16]) = (&[4, 4, 4], &[0, 1, 0]);
        let mut column = |values: &[i32], levels: &[i16], starts: Option<&[i16]>| {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(values, Some(levels), starts).unwrap();
            column.close().unwrap();
        };
        column(&[7, 9], &[1, 1], None);
        column(&[1, 2, 1], levels, Some(starts));
        column(labels, levels, Some(starts));
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn class_names_come_from_the_features() {
        let reading = read_bytes("x", parquet_file(&[2, 0, -1]), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "huggingface");
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["7", "9"]);
        assert_eq!(reading.table.classes().names(), ["hate", "normal", "offensive"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 3), [1.0, 0.0, 1.0]);
        assert!(notes(&reading).contains(&"left out: missing labels: 1".to_owned()));
        let error = read_bytes("x", parquet_file(&[2, 0, 3]), &ReadOptions::default());
        assert_eq!(
            error.err().unwrap().to_string(),
            "x, row 2, column \"annotators.label\", item \"9\": expected the number of a class in the file's features, found 3"
        );
    }
}
