//! Le-Wi-Di 2025: annotations are an object of annotator and label.
//!
//! A label may be several ones in one text (VariErr NLI's "entailment,neutral"): they go by
//! the option `multilabel`. VariErr's soft labels are nested, one "chosen or not" a class; Paraphrase's are
//! flat, over the whole numbers −5 … 5, and those of CSC over 1 … 6: ratings, which are ordinal. The classes are those that the soft labels name, so that
//! all splits of a task have the same ones.

use std::collections::BTreeMap;

use dissensus_core::Scale;
use serde_json::{Map, Value};

use super::checks::{self, Checks};
use crate::collector::{Collector, Finding, Places, Severity};
use crate::formats::Format;
use crate::options::MultiLabel;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{ReadError, shorten};
use dissensus_io::{Source, cell_text};

pub(in crate::formats) const FORMAT: Format = Format {
    name: "lewidi-2025",
    title: "Le-Wi-Di 2025: annotations as an object of annotator and label",
    layout: r#"JSON: {"17": {"text": {…}, "annotations": {"Ann1": "neutral", "Ann2": "entailment,neutral"}, "soft_label": {…}}, …}"#,
    trap: "one annotator may choose several labels: an error unless `multilabel` or `scale` says what they mean; flat soft labels over three whole numbers or more are ordinal",
    examples: &[Example::text(
        "votes.json",
        r#"{"17": {"text": {"sentence1": "A.", "sentence2": "B."}, "annotators": "Ann1,Ann2", "annotations": {"Ann1": "neutral", "Ann2": "entailment"}},
 "18": {"text": {"sentence1": "C.", "sentence2": "D."}, "annotators": "Ann1", "annotations": {"Ann1": "neutral"}}}
"#,
    )],
    options: &[O::Classes, O::Missing, O::Multilabel],
    detect: |source, _| checks::detect(source, Value::is_object),
    read,
};

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let items = checks::items(source, collector, FORMAT.name)?;
    let classes = checks::soft_classes(&items);
    // With one class against the rest there are two classes, and neither list is theirs.
    let against = matches!(collector.options.multilabel, MultiLabel::Only(_));
    if !against && are_ratings(&items, &classes) {
        collector.scale = Some(Scale::Ordinal);
    }
    if !classes.is_empty() && !against {
        collector.builder.declare_format(classes).map_err(|e| collector.error(e))?;
    }
    let mut checks = Checks::default();
    let (mut missing, mut without) = (Places::default(), Places::default());
    for (i, (id, item)) in items.iter().enumerate() {
        let at = (id.as_str(), i as u64 + 1);
        let Value::Object(annotations) = &item["annotations"] else {
            let expected = "an object of annotator: label";
            let error = checks::shape(collector, at, "annotations", expected, &item["annotations"]);
            collector.reject(error)?;
            continue;
        };
        collector.name_item(id, at.1)?;
        if annotations.is_empty() {
            without.add(id, at.1);
        }
        let mut votes: Vec<(&str, Vec<String>)> = Vec::new();
        for (annotator, label) in annotations {
            match labels(label) {
                None => {
                    let key = format!("annotations.{annotator}");
                    let error = checks::shape(collector, at, &key, "a label", label);
                    collector.reject(error)?;
                }
                Some(labels) => {
                    let several = collector.kept(&labels);
                    if several.len() < labels.len() || labels.is_empty() {
                        missing.add(id, at.1);
                    }
                    if !several.is_empty() {
                        collector.vote_several(id, Some(annotator), &several, at.1)?;
                        votes.push((annotator, several.into_iter().map(str::to_owned).collect()));
                    }
                }
            }
        }
        compare(&mut checks, collector, at, item, &votes);
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

/// Whether the soft labels are flat, over three whole numbers or more: a Likert scale (CSC, Paraphrase).
fn are_ratings(items: &Map<String, Value>, classes: &[String]) -> bool {
    let flat = |item: &Value| item["soft_label"].as_object().is_some_and(|soft| !nested(soft));
    let whole = |name: &String| name.parse::<f64>().is_ok_and(|value| value.fract() == 0.0);
    classes.len() > 2 && classes.iter().all(whole) && items.values().all(flat)
}

/// The labels of one annotator; none where it is missing.
fn labels(label: &Value) -> Option<Vec<String>> {
    match label {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(checks::split(text).into_iter().map(str::to_owned).collect()),
        Value::Number(_) | Value::Bool(_) => Some(cell_text(label).into_iter().collect()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Compares what an item says a second time with its votes.
fn compare(
    checks: &mut Checks,
    collector: &mut Collector<'_>,
    at: (&str, u64),
    item: &Value,
    votes: &[(&str, Vec<String>)],
) {
    let chosen: usize = votes.iter().map(|v| v.1.len()).sum();
    let key = "number of annotations";
    checks.number(collector, at, key, &item[key], chosen);
    let key = "number of annotators";
    checks.number(collector, at, key, &item[key], votes.len());
    if let Some(names) = item["annotators"].as_str() {
        let sorted = |mut names: Vec<&str>| -> Vec<String> {
            names.sort_unstable();
            names.dedup();
            names.into_iter().map(str::to_owned).collect()
        };
        if sorted(checks::split(names)) != sorted(votes.iter().map(|v| v.0).collect()) {
            let message =
                format!("annotators says {:?}, the annotations are by others", shorten(names));
            let finding = Finding::new(Severity::Warning, "annotators-disagree", message);
            collector.finding(finding.at(Some(at.0), Some(at.1)).remedy("mend whichever is wrong"));
        }
    }
    let Some(soft) = item["soft_label"].as_object() else {
        return;
    };
    // A flat soft label does not say how a vote for several labels was shared out.
    if votes.is_empty() || (chosen > votes.len() && !nested(soft)) {
        return;
    }
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for label in votes.iter().flat_map(|v| &v.1) {
        *counts.entry(label).or_default() += 1.0;
    }
    let share = |class: &str| counts.get(class).unwrap_or(&0.0) / votes.len() as f64;
    checks.soft_label(collector, at, soft, share);
    let amounts: Vec<(&str, f64)> = counts.iter().map(|(&class, &n)| (class, n)).collect();
    checks.hard_label(collector, at, &item["hard_label"], &amounts);
}

fn nested(soft: &Map<String, Value>) -> bool {
    soft.values().any(Value::is_object)
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, VoteFile, read_bytes};

    const NLI: &str = r#"{
        "9": {"text": {"context": "C.", "statement": "S."}, "number of annotators": 3, "number of annotations": 4,
              "annotators": "Ann1,Ann2,Ann2,Ann4",
              "annotations": {"Ann1": "neutral", "Ann2": "entailment,neutral", "Ann4": "entailment"},
              "soft_label": {"contradiction": {"0": 1.0, "1": 0.0}, "entailment": {"0": 0.333, "1": 0.667}, "neutral": {"0": 0.333, "1": 0.667}}}
    }"#;
    const LIKERT: &str = r#"{
        "5": {"text": {"Question1": "A?", "Question2": "B?"}, "annotators": "Ann1,Ann2", "annotations": {"Ann1": "-2", "Ann2": 1},
              "soft_label": {"-2": 0.5, "-1": 0.0, "0": 0.0, "1": 0.5, "2": 0.0}}
    }"#;

    fn with(text: &str, multilabel: MultiLabel) -> VoteFile {
        let options = ReadOptions { multilabel, ..ReadOptions::default() };
        read_bytes("x", text.into(), &options).unwrap()
    }

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn several_labels_are_never_silent() {
        assert_eq!(
            error(NLI),
            "x, row 1, item \"9\": several labels in one vote: \"entailment, neutral\""
        );
        let each = with(NLI, MultiLabel::Each);
        assert_eq!(each.format.name, "lewidi-2025");
        assert_eq!(each.table.classes().names(), ["contradiction", "entailment", "neutral"]);
        assert_eq!(each.table.counts().unwrap().row(0, 3), [0.0, 1.5, 1.5]);
        assert_eq!(each.texts, [("9".to_owned(), "C. ⟶ S.".to_owned())]);
        let codes: Vec<_> = each.findings.iter().map(|f| f.code.as_str()).collect();
        assert_eq!(codes, ["rounded-soft-label"]);
        let only = with(NLI, MultiLabel::Only("entailment".into()));
        assert_eq!(only.table.classes().names(), ["entailment", "not entailment"]);
        assert_eq!(only.table.counts().unwrap().row(0, 2), [2.0, 1.0]);
    }

    #[test]
    fn likert_classes_are_those_of_the_soft_label() {
        let reading = with(LIKERT, MultiLabel::Error);
        assert_eq!(reading.table.classes().names(), ["-2", "-1", "0", "1", "2"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 5), [1.0, 0.0, 0.0, 1.0, 0.0]);
        assert!(reading.findings.is_empty(), "{:?}", reading.findings);
        assert_eq!(
            error(&LIKERT.replace("\"Ann2\": 1", "\"Ann2\": 7")),
            "x, row 1, item \"5\": unknown class \"7\": the declared classes are -2, -1, 0, 1, 2"
        );
    }

    #[test]
    fn missing_votes_are_counted_and_disagreement_found() {
        let reading = with(&LIKERT.replace("\"Ann2\": 1", "\"Ann2\": null"), MultiLabel::Error);
        let codes: Vec<_> = reading.findings.iter().map(|f| f.code.as_str()).collect();
        assert_eq!(codes, ["annotators-disagree", "soft-label-disagrees", "missing-value"]);
        assert_eq!(reading.notes[1].value, "empty annotations: 1");
        let reading = with(&NLI.replace("entailment,neutral", "entailment, "), MultiLabel::Each);
        assert_eq!(reading.notes[1].value, "empty annotations: 1");
        assert_eq!(reading.table.counts().unwrap().row(0, 3), [0.0, 2.0, 1.0]);
        let text = NLI.replace("annotators\": 3", "annotators\": 4");
        let reading = with(&text, MultiLabel::Each);
        assert_eq!(reading.findings[0].message, "\"number of annotators\" says 4, there are 3");
    }

    #[test]
    fn bad_items_are_named() {
        let text = format!("{},{}", NLI.trim().trim_end_matches('}').trim_end(), "");
        assert!(error(&text).contains("malformed JSON"));
        let text =
            r#"{"1": {"annotators": "a", "annotations": {"a": "x"}}, "2": {"annotations": "x"}}"#;
        assert_eq!(
            error(text),
            "x, row 2, column \"annotations\", item \"2\": expected an object of annotator: label, found \"x\""
        );
        assert_eq!(
            error(&LIKERT.replace("\"Ann2\": 1", "\"Ann2\": [1]")),
            "x, row 1, column \"annotations.Ann2\", item \"5\": expected a label, found [1]"
        );
    }
}
