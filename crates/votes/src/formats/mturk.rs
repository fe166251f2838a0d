//! Batch results of Amazon Mechanical Turk: one row per assignment, the answers in columns `Answer.…`.
//!
//! The item is the HIT, the annotator the worker. Rejected assignments are no votes. An answer is a
//! text; several columns of `true` and `false` that begin alike (`Answer.mood.sad`) are one-hot
//! labels; and `Answer.taskAnswers` holds JSON, in which an answer is a text, an object with a `label`,
//! or an object of `true` and `false`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use super::long::Layout;
use super::long_rows::{self, Labels, LabelsOf, Status};
use crate::collector::{Collector, Places};
use crate::names;
use crate::options::ReadOptions;
use crate::plausible::Guesses;
use crate::profile::Profile;
use dissensus_io::Example;
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
    options: long_rows::PLATFORM,
    detect,
    read,
};

const ANSWER: &str = "Answer.";
const STATES: &[&str] = &["Submitted", "Approved"];
const TASK: &str = "Answer.taskAnswers";

fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    own(table, "hitid").is_some()
        && own(table, "workerid").is_some()
        && table.columns.iter().any(|column| column.starts_with(ANSWER))
}

/// A column of the platform's; its command line tools write names in lower case.
fn own(table: &Table, name: &str) -> Option<usize> {
    table.columns.iter().position(|column| column.to_ascii_lowercase() == name)
}

/// Answers that stand in one column per item, as in HITs with several items each: many columns with the same few
/// answers, each of them empty in most rows.
fn columns_of_items(table: &Table) -> Option<Vec<usize>> {
    let profile = Profile::of(&table.columns, table.sample.iter());
    let part = |&c: &usize| {
        let filled = profile.filled(c);
        table.columns[c].starts_with(ANSWER) && filled > 0 && filled * 3 < profile.rows * 2
    };
    let values = |c: usize| profile.values(c).map(str::to_owned).collect::<BTreeSet<String>>();
    let parts: Vec<usize> =
        profile.all().filter(part).filter(|&c| profile.distinct(c) <= 12).collect();
    let all: BTreeSet<String> = parts.iter().flat_map(|&c| values(c)).collect();
    let mut columns_with: BTreeMap<String, usize> = BTreeMap::new();
    for value in parts.iter().flat_map(|&c| values(c)) {
        *columns_with.entry(value).or_default() += 1;
    }
    let shared = |c: &usize| values(*c).iter().all(|value| columns_with[value] > 2);
    let items: Vec<usize> = parts.iter().copied().filter(shared).collect();
    (items.len() >= 8 && all.len() <= 12 && !items.iter().any(|&c| profile.is_text(c)))
        .then_some(items)
}

/// The questions: a column of answers, columns of `true` and `false` with a common beginning, or
/// keys of the JSON in one column.
fn questions(table: &Table) -> BTreeMap<String, Vec<usize>> {
    let mut questions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let profile = Profile::of(&table.columns, table.sample.iter());
    for (c, name) in table.columns.iter().enumerate() {
        let Some(name) = name.strip_prefix(ANSWER) else {
            continue;
        };
        if profile.distinct(c) == 0 && profile.rows > 0 {
            continue;
        }
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
    // Remarks and buttons are no questions, where there are others.
    let remark = |name: &str, columns: &[usize]| {
        let words = names::words(name);
        let button = words.iter().any(|w| {
            matches!(w.as_str(), "submit" | "feedback" | "comment" | "comments" | "email")
        });
        button || names::about(name) || columns.iter().any(|&c| profile.is_text(c))
    };
    if questions.iter().any(|(name, columns)| !remark(name, columns)) {
        questions.retain(|name, columns| !remark(name, columns));
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
    if collector.options.label.is_none()
        && collector.options.item.is_none()
        && let Some(items) = columns_of_items(&table)
    {
        return read_columns(table, &items, collector);
    }
    let (layout, labels) =
        layout(&table, collector).map_err(|problem| collector.error(problem).row(1))?;
    let status = own(&table, "assignmentstatus");
    let status = status.map(|column| Status { column, votes: STATES });
    long_rows::read(table, layout, labels, status, collector)
}

/// Reads answers that stand in one column per item.
fn read_columns(
    table: Table,
    items: &[usize],
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let (worker, status) = (own(&table, "workerid"), own(&table, "assignmentstatus"));
    collector.note("items", format!("{} columns Answer.…, one for each item", items.len()));
    let names = table.columns.clone();
    let mut rejected = Places::default();
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let text = |c: Option<usize>| c.and_then(|c| cell_text(row.cell(c))).unwrap_or_default();
        let state = text(status);
        if !state.is_empty() && !STATES.iter().any(|kept| kept.eq_ignore_ascii_case(&state)) {
            rejected.add(&state, row.number);
            continue;
        }
        let worker = text(worker);
        let who = (!worker.is_empty()).then_some(worker.as_str());
        for &item in items {
            let label = text(Some(item));
            if !collector.is_missing(&label) {
                let name = names[item].strip_prefix(ANSWER).unwrap_or_default();
                collector.vote(name, who, &label, 1.0, row.number)?;
            }
        }
    }
    let what = "rows that were rejected";
    rejected.left_out(collector, "not-a-vote", what, "only finished work that was kept is a vote");
    Ok(())
}

fn layout(table: &Table, collector: &mut Collector<'_>) -> Result<(Layout, Labels), Problem> {
    let options = collector.options;
    let column = |said: &Option<String>, role: Role, name: &str| match said {
        Some(_) => columns::find(table, role, options),
        None => Ok(own(table, name)),
    };
    let item = column(&options.item, Role::Item, "hitid")?;
    let item = item.ok_or_else(|| columns::no_column(table, Role::Item))?;
    let annotator = column(&options.annotator, Role::Annotator, "workerid")?;
    let mut questions = questions(table);
    let said = options.label.as_deref().map(|said| said.strip_prefix(ANSWER).unwrap_or(said));
    let question = match said {
        Some(said) => questions.contains_key(said).then(|| said.to_owned()),
        None if questions.len() == 1 => questions.keys().next().cloned(),
        None => None,
    };
    let Some(question) = question else {
        if several_items(table, questions.keys()) {
            return Err(Problem::NotRead {
                what: "every assignment holds several items, each with an answer of its own (Input.…1 and Answer.…1)".to_owned(),
                remedy: Some("make a row of each item and its answer"),
            });
        }
        let found = questions.into_keys().collect();
        let expected = "one question to read";
        return Err(Problem::Choice { expected, found, option: ReadOption::Label });
    };
    if options.item.is_none() {
        collector.note("item column", table.columns[item].clone());
    }
    if options.label.is_none() {
        collector.note("question", question.clone());
    }
    let guessed = question.clone();
    let answered = questions.remove(&question).unwrap_or_default();
    let label = answered.first().copied().ok_or_else(|| columns::no_column(table, Role::Label))?;
    let labels = match answered.as_slice() {
        [only] if table.columns[*only] == TASK => {
            Labels::Own(Box::new(task_labels(*only, question)))
        }
        [only] if table.columns[*only].strip_prefix(ANSWER) == Some(question.as_str()) => {
            Labels::Cell {
                separator: long_rows::separator(&columns::values(table, *only), collector),
            }
        }
        several => Labels::Own(flag_labels(table, several, &question)),
    };
    collector.guesses = Some(Guesses {
        item: options.item.is_none().then(|| table.columns[item].clone()),
        labels: options.label.is_none().then_some(guessed),
        // Workers may agree on every item.
        own: true,
        ..Guesses::default()
    });
    let text = columns::text(table, options, &[annotator, Some(label)])?;
    Ok((Layout { annotator, text, ..Layout::of(item, label) }, labels))
}

/// Whether questions and inputs are numbered alike: `Answer.q1` is about `Input.text1`.
fn several_items<'q>(table: &Table, questions: impl Iterator<Item = &'q String>) -> bool {
    let series = |names: Vec<&str>| -> Option<Vec<String>> {
        let parts: Option<Vec<(String, String)>> =
            names.iter().map(|name| names::series(name)).collect();
        let parts = parts.filter(|parts| parts.len() > 1)?;
        let same = parts.iter().all(|(stem, _)| *stem == parts[0].0);
        same.then(|| parts.into_iter().map(|(_, tail)| tail).collect())
    };
    let inputs: Vec<&str> =
        table.columns.iter().filter_map(|name| name.strip_prefix("Input.")).collect();
    let asked = series(questions.map(String::as_str).collect());
    asked.is_some_and(|asked| {
        let with = |stem: &str| {
            inputs
                .iter()
                .copied()
                .filter(|name| names::series(name).is_some_and(|(s, _)| s == stem))
                .collect::<Vec<_>>()
        };
        let mut stems = inputs.iter().filter_map(|name| Some(names::series(name)?.0));
        stems.any(|stem| series(with(&stem)).is_some_and(|tails| tails == asked))
    })
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
            .replace(",good\n", ",good,x\n")
            .replace(",bad\n", ",bad,y\n")
            .replace("Ho,\n", "Ho,,\n");
        let error = read_bytes("x", two.into(), &ReadOptions::default()).err().unwrap().to_string();
        assert_eq!(error, "x, row 1: expected one question to read, found mood, topic");
    }
}
