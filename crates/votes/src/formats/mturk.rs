//! Batch results of Amazon Mechanical Turk: one row per assignment, the answers in columns `Answer.…`.
//!
//! The item is the HIT, the annotator the worker. Rejected assignments are no votes. An answer is a
//! text; several columns of `true` and `false` that begin alike (`Answer.mood.sad`) are one-hot
//! labels; and `Answer.taskAnswers` holds JSON, in which an answer is a text, an object with a `label`,
//! or an object of `true` and `false`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use super::long::Layout;
use super::long_rows::{self, Labels, LabelsOf, Status};
use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Row, Source, Table, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "mturk",
    title: "Amazon Mechanical Turk: batch results, one row per assignment",
    layout: "CSV with the columns HITId, WorkerId, AssignmentStatus, Input.…, Answer.…",
    trap: "rejected assignments stand beside approved ones: they are left out and counted",
    examples: &[Example::text(
        "Batch_1_batch_results.csv",
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.mood\n\
         H1,A1,W1,Approved,Good.,pos\n\
         H1,A2,W2,Submitted,Good.,neg\n",
    )],
    options: &[O::Item, O::Annotator, O::Label, O::Text, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

const ANSWER: &str = "Answer.";
const TASK: &str = "Answer.taskAnswers";

fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    table.column("HITId").is_some()
        && table.column("WorkerId").is_some()
        && table.columns.iter().any(|column| column.starts_with(ANSWER))
}

/// The questions: a column of answers, columns of `true` and `false` with a common beginning, or
/// keys of the JSON in one column.
fn questions(table: &Table) -> BTreeMap<String, Vec<usize>> {
    let mut questions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (c, name) in table.columns.iter().enumerate() {
        let Some(name) = name.strip_prefix(ANSWER) else {
            continue;
        };
        let flags = table.sample.iter().all(|row| is_flag(row.cell(c))) && !table.sample.is_empty();
        let group = name.rsplit_once('.').filter(|_| flags).map_or(name, |(group, _)| group);
        questions.entry(group.to_owned()).or_default().push(c);
    }
    if let Some(c) = table.column(TASK) {
        let cells = table.sample.iter().filter_map(|row| answers(row.cell(c)));
        for key in cells.flat_map(|answers| answers.into_iter().map(|(key, _)| key)) {
            questions.insert(key, vec![c]);
        }
        questions.remove("taskAnswers");
    }
    questions
}

fn is_flag(cell: &Value) -> bool {
    let text = cell_text(cell).unwrap_or_default().to_ascii_lowercase();
    matches!(text.as_str(), "true" | "false")
}

/// The answers in a cell of JSON, by question.
fn answers(cell: &Value) -> Option<Vec<(String, Value)>> {
    let parsed: Value = serde_json::from_str(cell.as_str()?).ok()?;
    match parsed {
        Value::Array(list) => match list.into_iter().next()? {
            Value::Object(answers) => Some(answers.into_iter().collect()),
            _ => None,
        },
        _ => None,
    }
}

/// The labels of an answer in JSON.
fn labels(answer: &Value) -> Option<Vec<String>> {
    match answer {
        Value::Object(map) => match map.get("label") {
            Some(label) => Some(vec![cell_text(label)?]),
            None if map.values().all(Value::is_boolean) => {
                let chosen = map.iter().filter(|(_, chosen)| **chosen == Value::Bool(true));
                Some(chosen.map(|(label, _)| label.clone()).collect())
            }
            None => None,
        },
        Value::Array(_) => None,
        Value::Null => Some(Vec::new()),
        plain => Some(vec![cell_text(plain)?]),
    }
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let (layout, labels) =
        layout(&table, collector).map_err(|problem| collector.error(problem).row(1))?;
    let status = table.column("AssignmentStatus");
    let status = status.map(|column| Status { column, votes: &["Submitted", "Approved"] });
    long_rows::read(table, layout, labels, status, collector)
}

fn layout(table: &Table, collector: &mut Collector<'_>) -> Result<(Layout, Labels), Problem> {
    let options = collector.options;
    let column = |said: &Option<String>, role: Role, name: &str| match said {
        Some(_) => columns::find(table, role, options),
        None => Ok(table.column(name)),
    };
    let item = column(&options.item, Role::Item, "HITId")?;
    let item = item.ok_or_else(|| columns::no_column(table, Role::Item))?;
    let annotator = column(&options.annotator, Role::Annotator, "WorkerId")?;
    let mut questions = questions(table);
    let said = options.label.as_deref().map(|said| said.strip_prefix(ANSWER).unwrap_or(said));
    let question = match said {
        Some(said) => questions.contains_key(said).then(|| said.to_owned()),
        None if questions.len() == 1 => questions.keys().next().cloned(),
        None => None,
    };
    let Some(question) = question else {
        let names: Vec<String> = questions.into_keys().collect();
        let (expected, found) = ("one question to read", names.join(", "));
        return Err(Problem::Choice { expected, found, option: ReadOption::Label });
    };
    if options.item.is_none() {
        collector.note("item column", table.columns[item].clone());
    }
    if options.label.is_none() {
        collector.note("question", question.clone());
    }
    let answered = questions.remove(&question).unwrap_or_default();
    let label = answered.first().copied().ok_or_else(|| columns::no_column(table, Role::Label))?;
    let labels = match answered.as_slice() {
        [only] if table.columns[*only] == TASK => {
            Labels::Own(Box::new(task_labels(*only, question)))
        }
        [only] if table.columns[*only].strip_prefix(ANSWER) == Some(question.as_str()) => {
            Labels::Cell { separator: None }
        }
        several => Labels::Own(flag_labels(table, several, &question)),
    };
    let text = columns::text(table, options, &[annotator, Some(label)])?;
    Ok((Layout { item, annotator, label, weight: None, class: None, text }, labels))
}

fn task_labels(column: usize, question: String) -> impl Fn(&Row) -> Result<Vec<String>, Problem> {
    move |row| {
        let cell = row.cell(column);
        let given =
            answers(cell).map(|answers| answers.into_iter().find(|(key, _)| *key == question));
        match given {
            // Not answered, which is not the same as no class marked.
            Some(None) => Ok(vec![String::new()]),
            Some(Some((_, answer))) if labels(&answer).is_some() => {
                Ok(labels(&answer).unwrap_or_default())
            }
            _ => {
                let expected = "a list with an object of answers";
                Err(Problem::Shape { expected, found: shorten(&cell.to_string()) })
            }
        }
    }
}

fn flag_labels(table: &Table, columns: &[usize], question: &str) -> Box<LabelsOf> {
    let label = |&c: &usize| {
        let name = table.columns[c].trim_start_matches(ANSWER);
        (c, name.trim_start_matches(question).trim_start_matches('.').to_owned())
    };
    let labels: Vec<(usize, String)> = columns.iter().map(label).collect();
    Box::new(move |row| {
        let mut chosen = Vec::new();
        for (column, label) in &labels {
            match long_rows::flag(row.cell(*column)) {
                Some(true) => chosen.push(label.clone()),
                Some(false) => {}
                None => {
                    let found = shorten(&row.cell(*column).to_string());
                    return Err(Problem::Shape { expected: "true or false", found });
                }
            }
        }
        Ok(chosen)
    })
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, VoteFile, read_bytes};

    const BATCH: &str = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.mood\n\
        h1,a1,A1,Approved,Hi,good\nh1,a2,A2,Submitted,Hi,bad\nh1,a3,A3,Rejected,Hi,bad\n\
        h2,a4,A1,Approved,Ho,\n";

    fn with(text: &str, options: &ReadOptions) -> VoteFile {
        read_bytes("x", text.into(), options).unwrap()
    }

    #[test]
    fn rejected_assignments_are_no_votes() {
        let reading = with(BATCH, &ReadOptions::default());
        assert_eq!(reading.format.name, "mturk");
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!((reading.table.len(), reading.table.annotators().len()), (2, 2));
        let notes: Vec<_> =
            reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert_eq!(
            notes,
            [
                "item column: HITId",
                "question: mood",
                "missing: 1 empty vote left out",
                "left out: rows with the status \"Rejected\": 1"
            ]
        );
    }

    #[test]
    fn answers_of_other_shapes() {
        let flags =
            "HITId,WorkerId,Answer.mood.good,Answer.mood.bad\nh1,A1,true,false\nh1,A2,FALSE,TRUE\n";
        let table = with(flags, &ReadOptions::default()).table;
        assert_eq!(table.classes().names(), ["bad", "good"]);
        assert_eq!(table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        let json = "HITId,WorkerId,Answer.taskAnswers\n\
            h1,A1,\"[{\"\"mood\"\":{\"\"label\"\":\"\"good\"\"}}]\"\n\
            h1,A2,\"[{\"\"mood\"\":{\"\"bad\"\":true,\"\"good\"\":false}}]\"\n";
        let table = with(json, &ReadOptions::default()).table;
        assert_eq!(table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        let two = BATCH
            .replace("Answer.mood\n", "Answer.mood,Answer.topic\n")
            .replace(",good\n", ",good,x\n");
        let error = read_bytes("x", two.into(), &ReadOptions::default()).err().unwrap().to_string();
        assert_eq!(error, "x, row 1: expected one question to read, found mood, topic");
    }
}
