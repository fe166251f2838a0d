//! peerannot (Lefort, Charlier, Joly and Salmon, 2024): `answers.json`, task by worker.
//!
//! The same two levels serve upside down (`answers_inversed.json`, worker by task), and nothing in
//! the file says which it is. The outer keys are the tasks, as in peerannot, unless they read like
//! the names of people and the inner ones do not; what was taken is stated, and `item = outer` or
//! `item = inner` decides. `metadata.json` beside it holds numbers about the file, and no votes.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::Format;
use super::columns::like_person;
use crate::collector::{Collector, Places};
use crate::names;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Source, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "peerannot",
    title: "peerannot: answers.json, labels by task and worker",
    layout: r#"JSON: {"0": {"<worker>": 3, "<worker>": 1}, "1": {…}, …}, task by worker or worker by task"#,
    trap: "which level is the task cannot be seen: it is guessed, printed, and said with `item = outer|inner`",
    examples: &[Example::text(
        "answers.json",
        "{\"0\": {\"w1\": 3, \"w2\": 1},\n \"1\": {\"w1\": 0},\n \"2\": {\"w2\": 2}}\n",
    )],
    options: &[O::Item, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

fn detect(source: &Source, _: &ReadOptions) -> bool {
    match source {
        Source::Json(Value::Object(outer)) => is_metadata(outer.keys()) || holds_votes(outer),
        Source::Table(table) => is_metadata(table.columns.iter()),
        _ => false,
    }
}

fn is_metadata<'k>(mut keys: impl Iterator<Item = &'k String> + Clone) -> bool {
    keys.clone().any(|key| key == "n_classes") && keys.any(|key| key == "n_workers")
}

/// Two levels, and labels below. Whole numbers are labels; texts only where one text stands under
/// two inner and two outer keys: in a list of people (`{"Ann1": {"gender": "female", …}}`) every
/// text stays under its own key.
fn holds_votes(outer: &Map<String, Value>) -> bool {
    let mut homes: HashMap<&str, (&str, &str)> = HashMap::new();
    let (mut numbers, mut shared) = (true, false);
    for (task, answers) in outer {
        let Value::Object(answers) = answers else {
            return false;
        };
        for (worker, label) in answers {
            match label {
                Value::Null => {}
                Value::Number(number) => {
                    if number.as_f64().is_none_or(|n| n.fract() != 0.0) {
                        return false;
                    }
                }
                Value::Array(several) if several.iter().all(|l| l.is_string() || l.is_number()) => {
                }
                Value::String(text) => {
                    numbers = false;
                    let home = homes.entry(text).or_insert((task, worker));
                    shared |= home.0 != task && home.1 != worker;
                }
                _ => return false,
            }
        }
    }
    // Numbers under words may be counts per class.
    let id = |key: &String| like_person(key) || key.bytes().any(|b| b.is_ascii_digit());
    let inner = || outer.values().filter_map(Value::as_object).flat_map(Map::keys);
    let objects = || outer.values().filter_map(Value::as_object);
    let same = outer.len() > 2
        && objects()
            .all(|answers| objects().next().is_some_and(|first| answers.keys().eq(first.keys())));
    if numbers && same && !inner().all(id) && !outer.keys().all(|key| like_person(key)) {
        return false;
    }
    let some = outer.values().any(|answers| answers.as_object().is_some_and(|a| !a.is_empty()));
    some && (numbers || shared)
}

/// Whether all keys read like names of people.
fn like_people<'k>(mut keys: impl Iterator<Item = &'k String>) -> bool {
    let user = |key: &str| key.strip_prefix('u').is_some_and(|n| n.parse::<u32>().is_ok());
    keys.all(|key| like_person(key) || user(key) || names::first_name(key))
}

/// Whether all keys read like the ids of things: `item_3`, `q7`, `img12`.
fn like_things<'k>(mut keys: impl Iterator<Item = &'k String>) -> bool {
    let stem = |key: &str| names::series(key).map(|(stem, _)| stem);
    keys.all(|key| {
        stem(key).is_some_and(|stem| {
            names::item(&format!("{stem}_id")).is_some()
                || ["t", "q", "i", "x", "s", "d"].contains(&stem.as_str())
        })
    })
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let metadata = match &source {
        Source::Json(Value::Object(outer)) => is_metadata(outer.keys()),
        Source::Table(table) => is_metadata(table.columns.iter()),
        _ => false,
    };
    if metadata {
        let expected = "labels by task and worker (pass answers.json)";
        let found = "peerannot's metadata.json, which has none".to_owned();
        return Err(collector.error(Problem::Shape { expected, found }));
    }
    let Source::Json(Value::Object(outer)) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let inner_items = item_level(&outer, collector)?;
    let none = minus_one_is_none(&outer, collector.options);
    let (mut missing, mut empty) = (Places::default(), Places::default());
    // Entries are counted, not tasks: upside down, one worker holds many tasks.
    let mut row = 0;
    for (outer_key, answers) in &outer {
        let Value::Object(answers) = answers else {
            let expected = "an object of labels";
            let found = shorten(&answers.to_string());
            let error = collector.error(Problem::Shape { expected, found }).column(outer_key);
            collector.reject(error)?;
            continue;
        };
        if answers.is_empty() {
            row += 1;
            empty.add(outer_key, row);
            if !inner_items {
                collector.name_item(outer_key, row)?;
            }
        }
        for (inner_key, label) in answers {
            row += 1;
            let (item, worker) =
                if inner_items { (inner_key, outer_key) } else { (outer_key, inner_key) };
            match label {
                Value::Array(several)
                    if several.iter().all(|l| !l.is_array() && !l.is_object()) =>
                {
                    let labels: Vec<String> = several.iter().filter_map(cell_text).collect();
                    let kept = collector.kept(&labels);
                    if kept.is_empty() {
                        collector.name_item(item, row)?;
                        missing.add(item, row);
                    } else {
                        collector.vote_several(item, Some(worker), &kept, row)?;
                    }
                }
                Value::Array(_) | Value::Object(_) => {
                    let (expected, found) = ("a label", shorten(&label.to_string()));
                    let error = collector.error(Problem::Shape { expected, found }).row(row);
                    collector.reject(error.column(worker).item(item))?;
                }
                _ => match cell_text(label)
                    .filter(|l| !collector.is_missing(l) && (l != "-1" || !none))
                {
                    Some(label) => collector.vote_several(item, Some(worker), &[&label], row)?,
                    None => {
                        collector.name_item(item, row)?;
                        missing.add(item, row);
                    }
                },
            }
        }
    }
    let what = if inner_items { "workers without labels" } else { "tasks without labels" };
    if empty.count() > 0 {
        collector.note(what, empty.count().to_string());
    }
    missing.left_out(collector, "missing-value", "missing labels (null or -1)", "drop them");
    Ok(())
}

/// peerannot's labels are numbered from 0, so that −1 means none: unless the user says otherwise,
/// or the file has other negative labels.
fn minus_one_is_none(outer: &Map<String, Value>, options: &ReadOptions) -> bool {
    let mut labels = outer.values().filter_map(Value::as_object).flat_map(Map::values);
    let declared = options.classes.iter().flatten().any(|class| class == "-1");
    let negatives = labels.any(|label| label.as_f64().is_some_and(|label| label < -1.0));
    options.missing.is_none() && !declared && !negatives
}

/// Whether the inner keys are the items: as the user says, else guessed and stated.
fn item_level(
    outer: &Map<String, Value>,
    collector: &mut Collector<'_>,
) -> Result<bool, ReadError> {
    match collector.options.item.as_deref() {
        Some("inner") => return Ok(true),
        Some("outer") => return Ok(false),
        Some(other) => {
            let (expected, found) =
                ("the items to be `outer` or `inner`", vec![format!("{other:?}")]);
            return Err(collector.error(Problem::Choice {
                expected,
                found,
                option: ReadOption::Item,
            }));
        }
        None => {}
    }
    let inner = || outer.values().filter_map(Value::as_object).flat_map(Map::keys);
    let people = (like_people(outer.keys()), like_people(inner()));
    let things = (like_things(outer.keys()), like_things(inner()));
    let inner_items = people == (true, false) || (people.0 == people.1 && things == (false, true));
    let told = people.0 != people.1 || things.0 != things.1;
    let different: HashSet<&String> = inner().collect();
    // peerannot numbers its tasks.
    let numbered = (0..outer.len()).all(|task| outer.contains_key(&task.to_string()));
    if !told && different.len() > outer.len() && (different.len() > 10 || !numbered) {
        let found = vec![format!("{} outer and {} inner keys", outer.len(), different.len())];
        let expected =
            "the items to be `outer` or `inner` (there are usually more items than workers)";
        return Err(collector.error(Problem::Choice { expected, found, option: ReadOption::Item }));
    }
    let value = if inner_items {
        "the inner keys, for the outer ones read like workers (else say `item = outer`)"
    } else {
        "the outer keys, as peerannot writes them (else say `item = inner`)"
    };
    collector.note("items", value);
    Ok(inner_items)
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, VoteFile, read_bytes};

    const ANSWERS: &str = r#"{"0": {"0": 1, "1": 0, "7": 1}, "1": {"0": 2}, "2": {}}"#;

    fn said(text: &str, item: Option<&str>) -> VoteFile {
        let options = ReadOptions { item: item.map(str::to_owned), ..ReadOptions::default() };
        read_bytes("x", text.into(), &options).unwrap()
    }

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn tasks_by_worker() {
        let reading = said(ANSWERS, None);
        assert_eq!(reading.format.name, "peerannot");
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["0", "1", "2"]);
        assert_eq!(reading.table.annotators().len(), 3);
        assert_eq!(reading.table.counts().unwrap().row(0, 3), [1.0, 2.0, 0.0]);
        let notes: Vec<_> =
            reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert_eq!(
            notes,
            [
                "items: the outer keys, as peerannot writes them (else say `item = inner`)",
                "tasks without labels: 1"
            ]
        );
    }

    #[test]
    fn workers_by_task_when_said_or_seen() {
        let inner = said(ANSWERS, Some("inner"));
        assert_eq!(inner.table.items().iter().collect::<Vec<_>>(), ["0", "1", "7"]);
        assert_eq!(inner.table.annotators().iter().collect::<Vec<_>>(), ["0", "1"]);
        let named = r#"{"w1": {"img3": "cat", "img1": "dog"}, "w2": {"img1": "cat"}}"#;
        let reading = said(named, None);
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["img3", "img1"]);
        assert_eq!(reading.table.classes().names(), ["cat", "dog"]);
        assert!(reading.notes[1].value.starts_with("the inner keys"), "{:?}", reading.notes);
        assert_eq!(said(named, Some("outer")).table.len(), 2);
        let options = ReadOptions { item: Some("task".into()), ..ReadOptions::default() };
        let error = read_bytes("x", named.into(), &options).err().unwrap().to_string();
        assert_eq!(error, "x: expected the items to be `outer` or `inner`, found \"task\"");
    }

    #[test]
    fn missing_labels_are_counted() {
        let reading = said(r#"{"0": {"a": -1, "b": 1}, "1": {"a": null}}"#, None);
        assert_eq!(reading.table.counts().unwrap().total(), 1);
        assert_eq!(reading.table.len(), 2);
        assert_eq!(
            (reading.findings[0].code.as_str(), reading.findings[0].count),
            ("missing-value", 2)
        );
        assert_eq!(reading.notes.last().unwrap().value, "missing labels (null or -1): 2");
        let options = ReadOptions { missing: Some(vec!["9".into()]), ..ReadOptions::default() };
        let text = r#"{"0": {"a": -1, "b": 9}}"#;
        let reading = read_bytes("x", text.into(), &options).unwrap();
        assert_eq!(reading.table.classes().names(), ["-1"]);
        let likert = said(r#"{"0": {"a": -1, "b": -2}}"#, None);
        assert_eq!(likert.table.classes().names(), ["-2", "-1"]);
    }

    #[test]
    fn what_is_no_votes_is_not_taken_for_them() {
        let wanted = "x: expected labels by task and worker (pass answers.json), found peerannot's metadata.json, which has none";
        let metadata = r#"{"name": "toy", "n_classes": 2, "n_workers": 4, "n_tasks": 3}"#;
        assert_eq!(error(metadata), wanted);
        assert_eq!(error(&metadata.replace(", ", ",\n")), wanted);
        let people =
            r#"{"Ann1": {"gender": "f", "age": "26"}, "Ann2": {"gender": "f", "age": "30"}}"#;
        assert!(error(people).contains("a file that describes annotators (gender, age)"));
        let nested = r#"{"0": {"a": 1}, "1": {"a": {"b": 1}}}"#;
        let options = ReadOptions { format: Some("peerannot".into()), ..ReadOptions::default() };
        let error = read_bytes("x", nested.into(), &options).err().unwrap().to_string();
        assert_eq!(error, "x, row 2, column \"a\", item \"1\": expected a label, found {\"b\":1}");
    }

    #[test]
    fn several_labels_go_by_multilabel_and_a_doubtful_level_is_asked_for() {
        let several = r#"{"0": {"a": [1, 2], "b": [1]}}"#;
        assert_eq!(error(several), "x, row 1, item \"0\": several labels in one vote: \"1, 2\"");
        let each = crate::MultiLabel::Each;
        let options = ReadOptions { multilabel: each, ..ReadOptions::default() };
        let table = read_bytes("x", several.into(), &options).unwrap().table;
        assert_eq!(table.counts().unwrap().row(0, 2), [1.5, 0.5]);
        let inner: Vec<String> = (0..12).map(|task| format!("\"{task}\": 1")).collect();
        let upside_down = format!("{{\"0\": {{{0}}}, \"1\": {{{0}}}}}", inner.join(", "));
        assert!(error(&upside_down).contains("found 2 outer and 12 inner keys"));
        assert_eq!(said(&upside_down, Some("inner")).table.len(), 12);
    }
}
