//! Le-Wi-Di 2023: annotations and annotators are two texts joined by commas.
//!
//! The classes are the annotations as they stand. ConvAbuse's run from 1 (not abusive) over 0 to
//! −3 (severely abusive), while its `soft_label` and `hard_label` are of "abusive or not", under
//! the names 0 and 1, which mean something else there. So where a file has annotations that its
//! soft labels do not name, the soft labels are of a recoded label: this is reported, and they are
//! not compared with the votes.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::checks::{self, Checks};
use crate::collector::{Collector, Finding, Places, Severity};
use crate::formats::Format;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::Source;
use dissensus_io::{Problem, ReadError};

pub(in crate::formats) const FORMAT: Format = Format {
    name: "lewidi-2023",
    title: "Le-Wi-Di 2023: annotations and annotators as texts joined by commas",
    layout: r#"JSON: {"1": {"text", "annotations": "0,0,1", "annotators": "Ann1,Ann2,Ann3", "soft_label": {"0": 0.67, "1": 0.33}, "hard_label": "0"}, …}"#,
    trap: "soft labels are rounded and hard labels on ties were random: the votes are read, the rest compared",
    examples: &[Example::text(
        "votes.json",
        r#"{"1": {"text": "Some text.", "annotations": "0,0,1", "annotators": "Ann1,Ann2,Ann3", "soft_label": {"0": 0.67, "1": 0.33}, "hard_label": "0"},
 "2": {"text": "Another one.", "annotations": "1,1", "annotators": "Ann1,Ann4", "soft_label": {"0": 0.0, "1": 1.0}, "hard_label": "1"}}
"#,
    )],
    options: &[O::Classes, O::Missing],
    detect: |source, _| checks::detect(source, Value::is_string),
    read,
};

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let items = checks::items(source, collector, FORMAT.name)?;
    let classes = checks::soft_classes(&items);
    let recoded = recoded(&items, &classes, collector);
    if let Some((id, row)) = &recoded {
        let names = classes.join(", ");
        collector
            .note("soft_label", format!("of a recoded label ({names}); the annotations are read"));
        let message =
            "the annotations are not the classes of soft_label, which is of a recoded label";
        let finding = Finding::new(Severity::Note, "soft-label-recoded", message);
        collector.finding(finding.at(Some(id), Some(*row)).remedy("use the annotations"));
    } else if !classes.is_empty() {
        collector.builder.declare_format(classes).map_err(|e| collector.error(e))?;
    }
    let mut checks = Checks::default();
    let (mut missing, mut without) = (Places::default(), Places::default());
    for (i, (id, item)) in items.iter().enumerate() {
        let at = (id.as_str(), i as u64 + 1);
        let Some(votes) = votes(item, at, collector)? else {
            continue;
        };
        collector.name_item(id, at.1)?;
        if votes.is_empty() {
            without.add(id, at.1);
        }
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        for &(label, annotator) in &votes {
            if collector.is_missing(label) {
                missing.add(id, at.1);
                continue;
            }
            collector.vote(id, Some(annotator), label, 1.0, at.1)?;
            *counts.entry(label).or_default() += 1.0;
        }
        checks.number(
            collector,
            at,
            "number of annotations",
            &item["number of annotations"],
            votes.len(),
        );
        let total: f64 = counts.values().sum();
        if let Some(soft) = item["soft_label"].as_object() {
            let stated: Vec<(&str, f64)>;
            let counted: Vec<(&str, f64)>;
            let amounts = if recoded.is_some() {
                stated =
                    soft.iter().map(|(c, v)| (c.as_str(), v.as_f64().unwrap_or(0.0))).collect();
                &stated
            } else {
                if total > 0.0 {
                    let share = |class: &str| counts.get(class).unwrap_or(&0.0) / total;
                    checks.soft_label(collector, at, soft, share);
                }
                counted = counts.iter().map(|(&class, &n)| (class, n)).collect();
                &counted
            };
            checks.hard_label(collector, at, &item["hard_label"], amounts);
        }
        if let Some(text) = checks::text_of(&item["text"]) {
            collector.text(id, text);
        }
    }
    checks.report(collector);
    if without.count() > 0 {
        collector.note("items without annotations", without.count().to_string());
    }
    missing.left_out(collector, "missing-value", "empty annotations", "fill them in");
    Ok(())
}

/// The first item with an annotation that no soft label names, where there are soft labels.
fn recoded(
    items: &Map<String, Value>,
    classes: &[String],
    collector: &Collector<'_>,
) -> Option<(String, u64)> {
    if classes.is_empty() {
        return None;
    }
    let classes: HashSet<&str> = classes.iter().map(String::as_str).collect();
    let other = |label: &&str| !collector.is_missing(label) && !classes.contains(label);
    let mut numbered = items.iter().zip(1..);
    numbered.find_map(|((id, item), row)| {
        let labels = checks::split(item.get("annotations")?.as_str()?);
        labels.iter().find(|label| other(label)).map(|_| (id.clone(), row))
    })
}

/// The (label, annotator) pairs of an item, or `None` where they cannot be read.
fn votes<'i>(
    item: &'i Value,
    at: (&str, u64),
    collector: &mut Collector<'_>,
) -> Result<Option<Vec<(&'i str, &'i str)>>, ReadError> {
    let mut lists = Vec::new();
    for key in ["annotations", "annotators"] {
        match &item[key] {
            Value::String(text) => lists.push(checks::split(text)),
            other => {
                let expected = "a text of entries joined by commas";
                let error = checks::shape(collector, at, key, expected, other);
                collector.reject(error)?;
                return Ok(None);
            }
        }
    }
    let (labels, annotators) = (&lists[0], &lists[1]);
    if labels.len() != annotators.len() {
        let (left, right) = ("annotations".to_owned(), "annotators".to_owned());
        let (left_len, right_len) = (labels.len(), annotators.len());
        let problem = Problem::Unequal { left, left_len, right, right_len };
        let error = collector.error(problem).row(at.1).item(at.0);
        collector.reject(error)?;
        return Ok(None);
    }
    if annotators.iter().any(|name| name.is_empty()) {
        let error = collector.error(Problem::EmptyCell { role: "annotator" }).row(at.1).item(at.0);
        collector.reject(error.column("annotators"))?;
        return Ok(None);
    }
    Ok(Some(labels.iter().copied().zip(annotators.iter().copied()).collect()))
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, Severity, VoteFile, read_bytes};

    const HATE: &str = r#"{
        "1": {"text": "A.", "number of annotations": 3, "annotations": "0,0,1", "annotators": "Ann1,Ann2,Ann3",
              "hard_label": "0", "soft_label": {"0": 0.67, "1": 0.33}, "split": "dev"},
        "2": {"text": "B.", "number of annotations": 2, "annotations": "0, 0", "annotators": "Ann1, Ann4",
              "hard_label": 0, "soft_label": {"0": 1.0, "1": 0.0}, "split": "dev"}
    }"#;

    fn read(text: &str) -> VoteFile {
        read_bytes("x", text.into(), &ReadOptions::default()).unwrap()
    }

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    fn codes(reading: &VoteFile) -> Vec<(&str, u64)> {
        reading.findings.iter().map(|f| (f.code.as_str(), f.count)).collect()
    }

    #[test]
    fn votes_are_read_and_rounding_is_seen() {
        let reading = read(HATE);
        assert_eq!(reading.format.name, "lewidi-2023");
        assert_eq!(reading.table.classes().names(), ["0", "1"]);
        assert_eq!(reading.table.annotators().len(), 4);
        let counts = reading.table.counts().unwrap();
        assert_eq!(counts.row(0, 2), [2.0, 1.0]);
        assert_eq!(counts.row(1, 2), [2.0, 0.0]);
        assert_eq!(reading.texts[1], ("2".to_owned(), "B.".to_owned()));
        assert_eq!(codes(&reading), [("rounded-soft-label", 1)]);
        assert_eq!(reading.findings[0].severity, Severity::Note);
    }

    #[test]
    fn ties_and_disagreement_are_found() {
        let tie = HATE.replace("\"0,0,1\"", "\"0,1\"").replace("Ann1,Ann2,Ann3", "Ann1,Ann2");
        let tie = tie.replace("annotations\": 3", "annotations\": 2").replace("0.67", "0.5");
        let reading = read(&tie.replace("0.33", "0.5"));
        assert_eq!(codes(&reading), [("hard-label-on-tie", 1)]);
        let other = HATE.replace("0.67", "0.1").replace("annotations\": 3", "annotations\": 4");
        let reading = read(&other.replace("\"hard_label\": \"0\"", "\"hard_label\": \"1\""));
        let wanted =
            [("number-disagrees", 1), ("soft-label-disagrees", 1), ("hard-label-disagrees", 1)];
        assert_eq!(codes(&reading), wanted);
        assert_eq!(reading.findings[0].message, "\"number of annotations\" says 4, there are 3");
        assert!(reading.findings.iter().all(|f| f.item.as_deref() == Some("1")));
    }

    #[test]
    fn a_recoded_soft_label_is_said_and_not_compared() {
        let text = r#"{
            "7": {"text": "{\"agent\": \"Hi.\", \"user\": \"No.\"}", "annotations": "1,-2", "annotators": "a,b",
                  "hard_label": 1, "soft_label": {"0": 0.5, "1": 0.5}},
            "8": {"text": "x", "annotations": "1,1", "annotators": "a,b",
                  "hard_label": "0", "soft_label": {"0": 1.0, "1": 0.0}}
        }"#;
        let reading = read(text);
        assert_eq!(reading.table.classes().names(), ["-2", "1"]);
        assert_eq!(codes(&reading), [("soft-label-recoded", 1), ("hard-label-on-tie", 1)]);
        let note = reading.notes.iter().find(|n| n.what == "soft_label").unwrap();
        assert_eq!(note.value, "of a recoded label (0, 1); the annotations are read");
        assert_eq!(reading.texts[0].1, "Hi. ⟶ No.");
    }

    #[test]
    fn missing_annotations_are_counted() {
        let reading =
            read(&HATE.replace("0,0,1", "0,,1").replace("0, 0", "").replace("Ann1, Ann4", ""));
        assert_eq!(reading.table.counts().unwrap().total(), 2);
        assert_eq!(reading.table.len(), 2);
        assert!(codes(&reading).contains(&("missing-value", 1)));
        let notes: Vec<_> =
            reading.notes.iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert!(notes.contains(&"left out: empty annotations: 1".to_owned()), "{notes:?}");
        assert!(notes.contains(&"items without annotations: 1".to_owned()), "{notes:?}");
    }

    #[test]
    fn bad_items_are_named() {
        assert_eq!(
            error(&HATE.replace("Ann1, Ann4", "Ann1")),
            "x, row 2, item \"2\": annotations has 2 entries, annotators has 1"
        );
        assert_eq!(
            error(&HATE.replace("\"0, 0\"", "[0, 0]")),
            "x, row 2, column \"annotations\", item \"2\": expected a text of entries joined by commas, found [0,0]"
        );
        assert_eq!(
            error(&HATE.replace("Ann1, Ann4", "Ann1,")),
            "x, row 2, column \"annotators\", item \"2\": the annotator is empty"
        );
        let text = HATE.replace("\"2\": {", "\"2\": 5, \"3\": {");
        assert!(error(&text).starts_with("x, row 2, column \"annotations\", item \"2\": expected"));
        let options = ReadOptions { collect: true, ..ReadOptions::default() };
        let reading = read_bytes("x", text.into(), &options).unwrap();
        assert_eq!(reading.table.len(), 2);
        let options = ReadOptions { format: Some("lewidi-2023".into()), ..ReadOptions::default() };
        let error = read_bytes("x", "a,b\n1,2\n".into(), &options).err().unwrap().to_string();
        assert_eq!(error, "x: this is not lewidi-2023: a CSV table with the columns a, b");
    }
}
