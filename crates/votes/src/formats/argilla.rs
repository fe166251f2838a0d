//! Argilla's flattened records (`records.to_list(flatten=True)`, `to_datasets()`): for a question
//! `q` the columns `q.responses`, `q.responses.users` and `q.responses.status`, lists in step.
//!
//! Only responses with the status `submitted` are votes. A response is a label, a rating, or a
//! list of labels (a multi-label question), which goes by the option `multilabel`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Format;
use super::columns;
use crate::collector::{Collector, Places};
use crate::options::ReadOptions;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Row, Source, Table, cell_text, python};

pub(super) const FORMAT: Format = Format {
    name: "argilla",
    title: "Argilla: flattened records, the responses of a question as lists",
    layout: r#"JSON Lines, Parquet or CSV with the columns id, q.responses, q.responses.users, q.responses.status"#,
    trap: "drafts and discarded responses stand beside submitted ones: they are left out and counted",
    detect,
    read,
};

const RESPONSES: &str = ".responses";

/// The questions of a table.
fn questions(table: &Table) -> Vec<&str> {
    table.columns.iter().filter_map(|column| column.strip_suffix(RESPONSES)).collect()
}

fn detect(source: &Source, _: &ReadOptions) -> bool {
    matches!(source, Source::Table(table) if !questions(table).is_empty())
}

/// Which column is what.
struct Layout {
    question: String,
    item: Option<usize>,
    values: usize,
    users: Option<usize>,
    status: Option<usize>,
    text: Option<usize>,
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Layout, Problem> {
    let questions = questions(table);
    let said = options.label.as_deref().map(|said| said.strip_suffix(RESPONSES).unwrap_or(said));
    let question = match (said, &questions[..]) {
        (Some(said), _) if questions.contains(&said) => said.to_owned(),
        (None, [only]) => (*only).to_owned(),
        _ => {
            let (expected, found) = ("one question to read", questions.join(", "));
            return Err(Problem::Choice { expected, found, option: ReadOption::Label });
        }
    };
    let item = match &options.item {
        Some(said) => match columns::named(&table.columns, said) {
            Some(column) => Some(column),
            None => return Err(columns::no_column(table, columns::Role::Item)),
        },
        None => table.column("id").or_else(|| table.column("_server_id")),
    };
    let column = |end: &str| table.column(&format!("{question}{RESPONSES}{end}"));
    let values = column("").ok_or_else(|| columns::no_column(table, columns::Role::Label))?;
    let (users, status) = (column(".users"), column(".status"));
    Ok(Layout { item, values, users, status, text: table.column("text"), question })
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let layout = layout(&table, collector.options).map_err(|problem| collector.error(problem))?;
    state(&layout, &table, collector);
    let mut without = 0u64;
    let mut left: BTreeMap<String, Places> = BTreeMap::new();
    let mut missing = Places::default();
    for (position, row) in table.rows(&collector.options.limits).enumerate() {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let id = match layout.item {
            Some(column) => cell_text(row.cell(column)).filter(|id| !id.is_empty()),
            None => Some(position.to_string()),
        };
        let Some(id) = id else {
            let error = collector.error(Problem::EmptyCell { role: "item" }).row(row.number);
            collector.reject(error)?;
            continue;
        };
        let Some(responses) = responses(&layout, &row, &id, collector)? else {
            continue;
        };
        if !collector.new_item(&id, row.number)? {
            continue;
        }
        without += u64::from(responses.is_empty());
        for Response { value, user, status } in responses {
            if let Some(status) = status.filter(|status| status != "submitted") {
                left.entry(status).or_default().add(&id, row.number);
                continue;
            }
            match labels(&value) {
                Some(labels) => {
                    let several = collector.kept(&labels);
                    if several.len() < labels.len() || labels.is_empty() {
                        missing.add(&id, row.number);
                    }
                    if !several.is_empty() {
                        collector.vote_several(&id, user.as_deref(), &several, row.number)?;
                    }
                }
                None => {
                    let expected = "a label, a rating or a list of labels";
                    let problem = Problem::Shape { expected, found: shorten(&value.to_string()) };
                    let error = collector.error(problem).row(row.number).item(&id);
                    collector.reject(error.column(format!("{}{RESPONSES}", layout.question)))?;
                }
            }
        }
        if let Some(Value::String(text)) = layout.text.map(|c| row.cell(c)) {
            collector.text(&id, text.clone());
        }
    }
    if without > 0 {
        collector.note("records without responses", without.to_string());
    }
    for (status, places) in left {
        let what = format!("responses with the status {status:?}");
        places.left_out(collector, "not-submitted", &what, "submit them in Argilla");
    }
    missing.left_out(collector, "missing-value", "empty responses", "answer the question");
    Ok(())
}

/// States what was taken for what.
fn state(layout: &Layout, table: &Table, collector: &mut Collector<'_>) {
    if collector.options.label.is_none() {
        collector.note("question", layout.question.clone());
    }
    if collector.options.item.is_none() {
        let position = || "none: items are named by their position, from 0".to_owned();
        let name = layout.item.map_or_else(position, |c| table.columns[c].clone());
        collector.note("item column", name);
    }
    if layout.users.is_none() {
        collector.note("annotators", "none: there is no column of users");
    }
    if layout.status.is_none() {
        collector.note("status", "not there: every response is taken for a submitted one");
    }
}

struct Response {
    value: Value,
    user: Option<String>,
    /// `None` where the file has no column of statuses.
    status: Option<String>,
}

/// The responses to the question in a row, or `None` where they cannot be read.
fn responses(
    layout: &Layout,
    row: &Row,
    id: &str,
    collector: &mut Collector<'_>,
) -> Result<Option<Vec<Response>>, ReadError> {
    let name = |end: &str| format!("{}{RESPONSES}{end}", layout.question);
    let mut lists = Vec::new();
    let columns = [(Some(layout.values), ""), (layout.users, ".users"), (layout.status, ".status")];
    for (column, end) in columns {
        match column.map(|column| list(row.cell(column))).transpose() {
            Ok(list) => lists.push(list),
            Err(problem) => {
                let error = collector.error(problem).row(row.number).column(name(end)).item(id);
                collector.reject(error)?;
                return Ok(None);
            }
        }
    }
    let mut lists = lists.into_iter().map(|list| list.map(Vec::into_iter));
    let (values, mut users, mut status) = (
        lists.next().flatten().unwrap_or_default(),
        lists.next().flatten(),
        lists.next().flatten(),
    );
    for (list, end) in [(&users, ".users"), (&status, ".status")] {
        let Some(list) = list.as_ref().filter(|list| list.len() != values.len()) else {
            continue;
        };
        let (left_len, right_len) = (values.len(), list.len());
        let problem = Problem::Unequal { left: name(""), left_len, right: name(end), right_len };
        let error = collector.error(problem).row(row.number).item(id);
        collector.reject(error)?;
        return Ok(None);
    }
    let response = |value: Value| {
        let user = users.as_mut().and_then(Iterator::next);
        let state = status.as_mut().map(|s| s.next().as_ref().and_then(cell_text));
        Response {
            value,
            user: user.as_ref().and_then(cell_text).filter(|user| !user.is_empty()),
            status: state.map(|state| state.unwrap_or_else(|| "none".to_owned())),
        }
    };
    Ok(Some(values.map(response).collect()))
}

/// A cell that holds a list; a record without responses holds none.
fn list(cell: &Value) -> Result<Vec<Value>, Problem> {
    match cell {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => Ok(list.clone()),
        Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::String(text) => python::list(text),
        other => Err(Problem::Shape {
            expected: "a list of responses",
            found: shorten(&other.to_string()),
        }),
    }
}

/// The labels of a response; none for an empty one.
fn labels(value: &Value) -> Option<Vec<String>> {
    let plain = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => None,
        plain => Some(cell_text(plain).unwrap_or_default()),
    };
    match value {
        Value::Array(several) => several.iter().map(plain).collect(),
        one => Some(vec![plain(one)?]),
    }
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, VoteFile, read_bytes};

    const LINES: &str = r#"{"id": "r1", "text": "A.", "mood.responses": ["pos", "neg", "pos"], "mood.responses.users": ["u1", "u2", "u3"], "mood.responses.status": ["submitted", "submitted", "draft"]}
{"id": "r2", "text": "B.", "mood.responses": ["pos", "neg", null], "mood.responses.users": ["u1", "u2", "u3"], "mood.responses.status": ["discarded", "submitted", "submitted"]}
{"id": "r3", "text": "C.", "mood.responses": null, "mood.responses.users": null, "mood.responses.status": null}
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
    fn submitted_responses_are_votes() {
        let reading = read(LINES);
        assert_eq!(reading.format.name, "argilla");
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["r1", "r2", "r3"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!(reading.table.counts().unwrap().row(1, 2), [1.0, 0.0]);
        assert_eq!(
            notes(&reading),
            [
                "question: mood",
                "item column: id",
                "records without responses: 1",
                "left out: responses with the status \"discarded\": 1",
                "left out: responses with the status \"draft\": 1",
                "left out: empty responses: 1",
            ]
        );
        let codes: Vec<_> = reading.findings.iter().map(|f| (f.code.as_str(), f.count)).collect();
        assert_eq!(codes, [("not-submitted", 1), ("not-submitted", 1), ("missing-value", 1)]);
        assert_eq!(reading.texts.len(), 3);
    }

    #[test]
    fn lists_as_text_and_items_by_position() {
        let csv = "text,q.responses,q.responses.users\nA.,\"[1, 2]\",\"['a', 'b']\"\nB.,,\n";
        let reading = read(csv);
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["0", "1"]);
        assert_eq!(reading.table.classes().names(), ["1", "2"]);
        assert_eq!(
            notes(&reading),
            [
                "question: q",
                "item column: none: items are named by their position, from 0",
                "status: not there: every response is taken for a submitted one",
                "records without responses: 1",
            ]
        );
    }

    #[test]
    fn several_questions_and_several_labels() {
        let two = LINES
            .replace("\"text\": \"A.\"", "\"text\": \"A.\", \"topic.responses\": [[\"x\", \"y\"]]");
        assert_eq!(error(&two), "x: expected one question to read, found topic, mood");
        let mut options = ReadOptions { label: Some("topic".into()), ..ReadOptions::default() };
        let error = read_bytes("x", two.clone().into(), &options).err().unwrap().to_string();
        assert_eq!(error, "x, row 1, item \"r1\": several labels in one vote: \"x, y\"");
        options.multilabel = MultiLabel::Each;
        let reading = read_bytes("x", two.into(), &options).unwrap();
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [0.5, 0.5]);
    }

    #[test]
    fn bad_rows_are_named() {
        assert_eq!(
            error(&LINES.replace("\"draft\"]", "\"draft\", \"x\"]")),
            "x, row 1, item \"r1\": mood.responses has 3 entries, mood.responses.status has 4"
        );
        assert_eq!(
            error(
                &LINES
                    .replace("\"pos\", \"neg\", null", "{\"rank\": 1}, 2, 3")
                    .replace("discarded", "submitted")
            ),
            "x, row 2, column \"mood.responses\", item \"r2\": expected a label, a rating or a list of labels, found {\"rank\":1}"
        );
        assert_eq!(
            error(&LINES.replace("[\"pos\", \"neg\", null]", "7")),
            "x, row 2, column \"mood.responses\", item \"r2\": expected a list of responses, found 7"
        );
        assert_eq!(
            error(&LINES.replace("\"r3\"", "\"r1\"")),
            "x, row 3: item \"r1\" appears twice"
        );
        assert_eq!(error(&LINES.replace("\"r3\"", "null")), "x, row 3: the item is empty");
    }
}
