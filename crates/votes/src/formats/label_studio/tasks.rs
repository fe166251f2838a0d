//! The JSON export: tasks, each with its annotations in full.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::Entry;
use super::answer;
use crate::collector::{Collector, Places, Severity};
use dissensus_io::{Problem, ReadError};

/// What is left out, and why.
#[derive(Default)]
struct LeftOut {
    cancelled: Places,
    references: Places,
    unanswered: Places,
    other: BTreeMap<String, Places>,
    drafts: Places,
    predictions: Places,
    nameless: Places,
    unlabeled: u64,
}

static NONE: Vec<Value> = Vec::new();

fn list<'v>(entry: &'v serde_json::Map<String, Value>, keys: &[&str]) -> &'v Vec<Value> {
    let found = keys.iter().find_map(|key| entry.get(*key)?.as_array());
    found.unwrap_or(&NONE)
}

fn is_cancelled(annotation: &Value) -> bool {
    annotation["was_cancelled"] == true || annotation["skipped"] == true
}

fn from_name(result: &Value) -> &str {
    result["from_name"].as_str().unwrap_or_default()
}

fn kind(result: &Value) -> &str {
    result["type"].as_str().unwrap_or_default()
}

fn is_vote(result: &Value) -> bool {
    matches!(kind(result), "choices" | "rating")
}

pub(super) fn read(tasks: &[Entry], collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let question = question(tasks, collector)?;
    let nameless = |(_, task): &Entry| task.get("id").is_none_or(Value::is_null);
    let by_position = collector.options.item.is_none() && tasks.iter().all(nameless);
    if by_position {
        collector.note("items", "named by their position, from 0: the tasks have no id");
    }
    let text = collector.options.text.as_deref().unwrap_or("text");
    let mut left = LeftOut::default();
    for (row, task) in tasks {
        let row = *row;
        let data = task.get("data").unwrap_or(&Value::Null);
        let id = match by_position {
            true => Some((row - 1).to_string()),
            false => answer::item_id(task, data, row, collector)?,
        };
        let Some(id) = id else {
            continue;
        };
        if !collector.new_item(&id, row)? {
            continue;
        }
        let annotations = list(task, &["annotations", "completions"]);
        left.unlabeled += u64::from(annotations.is_empty());
        for annotation in annotations {
            read_annotation(annotation, &question, (&id, row), &mut left, collector)?;
        }
        list(task, &["drafts"]).iter().for_each(|_| left.drafts.add(&id, row));
        list(task, &["predictions"]).iter().for_each(|_| left.predictions.add(&id, row));
        if let Some(text) = data[text].as_str() {
            collector.text(&id, text);
        }
    }
    left.report(collector);
    Ok(())
}

/// The question that is read, from all that are answered by choices or a rating.
fn question(tasks: &[Entry], collector: &mut Collector<'_>) -> Result<String, ReadError> {
    let mut questions: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut other: Option<ReadError> = None;
    for (row, task) in tasks {
        for annotation in list(task, &["annotations", "completions"]) {
            for result in annotation["result"].as_array().unwrap_or(&NONE) {
                let name = from_name(result);
                if is_vote(result) && seen.insert(name) {
                    questions.push(name.to_owned());
                } else if !is_vote(result) && other.is_none() {
                    let expected = "a result of the type choices or rating";
                    let error = answer::shape(collector, expected, &result["type"]).row(*row);
                    other = Some(error.column(name));
                }
            }
        }
    }
    match other {
        // Nothing in the file is a vote: say what it is instead.
        Some(error) if questions.is_empty() => Err(error),
        None if questions.is_empty() => Err(collector.error(Problem::NoVotes)),
        _ => answer::question(questions, collector),
    }
}

fn read_annotation(
    annotation: &Value,
    question: &str,
    (id, row): (&str, u64),
    left: &mut LeftOut,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    if is_cancelled(annotation) {
        left.cancelled.add(id, row);
        return Ok(());
    }
    if annotation["ground_truth"] == true {
        left.references.add(id, row);
        return Ok(());
    }
    let Value::Array(results) = &annotation["result"] else {
        let error = answer::shape(collector, "a list of results", &annotation["result"]).row(row);
        return collector.reject(error.column("result").item(id));
    };
    let mut labels = Vec::new();
    for result in results {
        if !is_vote(result) {
            left.other.entry(kind(result).to_owned()).or_default().add(id, row);
        } else if from_name(result) == question {
            match answer::labels(&result["value"]) {
                Some(chosen) => labels.extend(chosen),
                None => {
                    let error = answer::shape(collector, "choices or a rating", &result["value"]);
                    return collector.reject(error.row(row).column(question).item(id));
                }
            }
        }
    }
    let several = collector.kept(&labels);
    if several.len() < labels.len() || labels.is_empty() {
        left.unanswered.add(id, row);
    }
    if several.is_empty() {
        return Ok(());
    }
    let who = answer::annotator(&annotation["completed_by"]);
    if who.is_none() {
        left.nameless.add(id, row);
    }
    collector.vote_several(id, who.as_deref(), &several, row)
}

impl LeftOut {
    fn report(self, collector: &mut Collector<'_>) {
        if self.unlabeled > 0 {
            collector.note("tasks without annotations", self.unlabeled.to_string());
        }
        let ask = "submit them in Label Studio and export again";
        self.cancelled.left_out(collector, "cancelled-annotation", "cancelled annotations", ask);
        let what = "reference annotations (`ground_truth`)";
        self.references.left_out(collector, "not-a-vote", what, "a reference is no vote");
        let what = "annotations without an answer to the question";
        self.unanswered.left_out(collector, "missing-value", what, ask);
        self.drafts.left_out(collector, "draft", "drafts", ask);
        let remedy = "a model's predictions are no votes";
        self.predictions.left_out(collector, "prediction", "predictions", remedy);
        for (kind, places) in self.other {
            let remedy = "only choices and ratings are votes";
            places.left_out(
                collector,
                "other-result",
                &format!("results of the type {kind:?}"),
                remedy,
            );
        }
        let message = "completed_by names nobody: a vote of an unknown annotator";
        self.nameless.find(
            collector,
            Severity::Note,
            "no-annotator",
            message,
            "name the annotator",
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, VoteFile, read_bytes};

    const TASKS: &str = r#"[
        {"id": 11, "data": {"text": "Good.", "key": "k1"}, "drafts": [{}], "predictions": [{}, {}], "annotations": [
            {"completed_by": 1, "was_cancelled": false, "result": [
                {"type": "choices", "from_name": "mood", "value": {"choices": ["pos"]}},
                {"type": "textarea", "from_name": "why", "value": {"text": ["because"]}}]},
            {"completed_by": {"id": 2, "email": "b@x.org"}, "result": [
                {"type": "choices", "from_name": "mood", "value": {"choices": ["neg"]}}]},
            {"completed_by": 3, "was_cancelled": true, "result": [
                {"type": "choices", "from_name": "mood", "value": {"choices": ["neg"]}}]}]},
        {"id": 12, "data": {"text": "Bad.", "key": "k2"}, "annotations": []},
        {"id": 13, "data": {"key": "k3"}, "annotations": [{"completed_by": {"email": "c@x.org"}, "result": []}]}
    ]"#;

    fn with(text: &str, options: &ReadOptions) -> VoteFile {
        read_bytes("x", text.into(), options).unwrap()
    }

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn votes_are_read_and_the_rest_is_counted() {
        let reading = with(TASKS, &ReadOptions::default());
        assert_eq!(reading.format.name, "label-studio");
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["11", "12", "13"]);
        assert_eq!(reading.table.annotators().iter().collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!(reading.table.counts().unwrap().total(), 2);
        let notes: Vec<_> =
            reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert_eq!(
            notes,
            [
                "question: mood",
                "tasks without annotations: 1",
                "left out: cancelled annotations: 1",
                "left out: annotations without an answer to the question: 1",
                "left out: drafts: 1",
                "left out: predictions: 2",
                "left out: results of the type \"textarea\": 1",
            ]
        );
        let codes: Vec<_> = reading.findings.iter().map(|f| (f.code.as_str(), f.count)).collect();
        assert_eq!(
            codes,
            [
                ("cancelled-annotation", 1),
                ("missing-value", 1),
                ("draft", 1),
                ("prediction", 2),
                ("other-result", 1)
            ]
        );
        assert_eq!(reading.texts[0], ("11".to_owned(), "Good.".to_owned()));
        let options = ReadOptions { item: Some("key".into()), ..ReadOptions::default() };
        assert_eq!(with(TASKS, &options).table.items().get(0), Some("k1"));
    }

    #[test]
    fn ratings_and_several_choices() {
        let rated = TASKS.replace("choices\", \"from", "rating\", \"from");
        let rated = rated.replace("{\"choices\": [\"pos\"]}", "{\"rating\": 4}");
        let rated = rated.replace("{\"choices\": [\"neg\"]}", "{\"rating\": 2}");
        let reading = with(&rated, &ReadOptions::default());
        assert_eq!(reading.table.classes().names(), ["2", "4"]);
        let several = TASKS.replace("[\"pos\"]", "[\"pos\", \"neg\"]");
        assert_eq!(
            error(&several),
            "x, row 1, item \"11\": several labels in one vote: \"pos, neg\""
        );
        let options = ReadOptions { multilabel: MultiLabel::Each, ..ReadOptions::default() };
        let reading = with(&several, &options);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.5, 0.5]);
    }

    #[test]
    fn several_questions_need_a_choice() {
        let two = TASKS
            .replace("textarea\", \"from_name\": \"why\"", "choices\", \"from_name\": \"topic\"");
        let two = two.replace("{\"text\": [\"because\"]}", "{\"choices\": [\"food\"]}");
        assert_eq!(error(&two), "x: expected one question to read, found mood, topic");
        let options = ReadOptions { label: Some("topic".into()), ..ReadOptions::default() };
        let reading = with(&two, &options);
        assert_eq!(reading.table.classes().names(), ["food"]);
        assert!(reading.notes.iter().any(|n| n.value.ends_with("to the question: 2")));
        let options = ReadOptions { label: Some("x".into()), ..ReadOptions::default() };
        assert!(read_bytes("x", two.into(), &options).is_err());
    }

    #[test]
    fn what_is_no_vote_is_named() {
        let boxes = TASKS.replace("\"choices\", \"from", "\"rectanglelabels\", \"from");
        assert_eq!(
            error(&boxes),
            "x, row 1, column \"mood\": expected a result of the type choices or rating, found \"rectanglelabels\""
        );
        assert_eq!(
            error(&TASKS.replace("\"id\": 12", "\"id\": 11")),
            "x, row 2: item \"11\" appears twice"
        );
        assert_eq!(
            error(&TASKS.replace("\"id\": 12, ", "")),
            "x, row 2, column \"id\": the item is empty"
        );
        assert_eq!(
            error(&TASKS.replace("{\"choices\": [\"pos\"]}", "{\"choices\": [[\"a\"]]}")),
            "x, row 1, column \"mood\", item \"11\": expected choices or a rating, found {\"choices\":[[\"a\"]]}"
        );
        assert_eq!(
            error(&TASKS.replace("\"result\": []", "\"result\": 7")),
            "x, row 3, column \"result\", item \"13\": expected a list of results, found 7"
        );
        assert_eq!(
            error(&TASKS.replace("{\"id\": 12", "5, {\"id\": 12")),
            "x, row 2: expected an object, found 5"
        );
        let empty = r#"[{"id": 1, "data": {}, "annotations": []}]"#;
        assert_eq!(error(empty), "x: there are no votes in it");
    }
}
