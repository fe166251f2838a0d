//! Argilla's records, in the layouts that it exports:
//!
//! - flattened (2.x, `to_list(flatten=True)`, `to_datasets()`): for a question `q` the columns
//!   `q.responses`, `q.responses.users` and `q.responses.status`, lists in step;
//! - nested (2.x, `to_json`): `responses` is an object of questions, each a list of `value`, `user_id`
//!   (and `status`, where it was added);
//! - feedback datasets (1.x): `responses` is a list of `values`, `user_id`, `status`; or, as a
//!   Hugging Face dataset, a column per question with lists of `user_id`, `value`, `status`;
//! - text classification (1.x): one `annotation` per record, by `annotation_agent`.
//!
//! Only submitted responses (`Validated` records of text classification) are votes. A response is a
//! label, a rating, or a list of labels (a multi-label question), which goes by the option
//! `multilabel`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Format;
use super::columns;
use crate::collector::{Collector, Places};
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Row, Source, Table, cell_text, python};

pub(super) const FORMAT: Format = Format {
    name: "argilla",
    title: "Argilla 1.x and 2.x: records with the responses of several users",
    layout: r#"JSON Lines, Parquet or CSV with the columns id, q.responses, q.responses.users, q.responses.status; JSON: [{"id", "fields", "responses": {"q": [{"value", "user_id"}]}}]"#,
    trap: "drafts and discarded responses stand beside submitted ones: they are left out and counted",
    examples: &[
        Example::text(
            "records.jsonl",
            r#"{"id": "r1", "text": "A.", "mood.responses": ["pos", "neg"], "mood.responses.users": ["u1", "u2"], "mood.responses.status": ["submitted", "submitted"]}
{"id": "r2", "text": "B.", "mood.responses": ["pos", "neg"], "mood.responses.users": ["u1", "u2"], "mood.responses.status": ["submitted", "discarded"]}
"#,
        ),
        Example::text(
            "records.json",
            r#"[{"id": "r1", "fields": {"text": "A."}, "responses": {"mood": [{"value": "pos", "user_id": "u1"}, {"value": "neg", "user_id": "u2"}]}},
 {"id": "r2", "fields": {"text": "B."}, "responses": {"mood": [{"value": "pos", "user_id": "u1"}]}}]
"#,
        ),
        Example::text(
            "feedback.json",
            r#"[{"external_id": "r1", "fields": {"text": "A."}, "responses": [
  {"user_id": "u1", "status": "submitted", "values": {"mood": {"value": "pos"}}},
  {"user_id": "u2", "status": "discarded", "values": {"mood": {"value": "neg"}}}]}]
"#,
        ),
        Example::text(
            "feedback.jsonl",
            r#"{"external_id": "r1", "text": "A.", "mood": [{"user_id": "u1", "value": "pos", "status": "submitted"}, {"user_id": "u2", "value": "neg", "status": "submitted"}]}
{"external_id": "r2", "text": "B.", "mood": [{"user_id": "u1", "value": "pos", "status": "submitted"}]}
"#,
        ),
        Example::text(
            "classification.jsonl",
            r#"{"id": "r1", "text": "A.", "annotation": "pos", "annotation_agent": "u1", "status": "Validated"}
{"id": "r2", "text": "B.", "annotation": "neg", "annotation_agent": "u2", "status": "Validated"}
"#,
        ),
    ],
    options: &[O::Item, O::Label, O::Text, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

const RESPONSES: &str = ".responses";

/// Where responses stand.
enum Style {
    /// Three columns of lists.
    Flat { values: usize, users: Option<usize>, status: Option<usize> },
    /// An object of questions, or a list of users' answers, in one column.
    Nested { column: usize },
    /// A column per question, of structs or of lists.
    Question { column: usize },
    /// One annotation per record.
    Record { annotation: usize, agent: usize, status: usize },
}

/// The questions of a table, and where their responses stand.
fn questions(table: &Table) -> Vec<(String, Style)> {
    let column = |name: &str| table.column(name);
    let flat = table.columns.iter().filter_map(|name| {
        let question = name.strip_suffix(RESPONSES)?.to_owned();
        let values = column(name)?;
        let (users, status) = (column(&format!("{name}.users")), column(&format!("{name}.status")));
        Some((question, Style::Flat { values, users, status }))
    });
    let flat: Vec<_> = flat.collect();
    if !flat.is_empty() {
        return flat;
    }
    if let (Some(annotation), Some(agent), Some(status)) =
        (column("annotation"), column("annotation_agent"), column("status"))
    {
        return vec![("annotation".to_owned(), Style::Record { annotation, agent, status })];
    }
    if let (Some(responses), true) = (column("responses"), column("fields").is_some()) {
        let mut names = Vec::new();
        for name in table.sample.iter().flat_map(|row| nested_questions(row.cell(responses))) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        return names.into_iter().map(|q| (q, Style::Nested { column: responses })).collect();
    }
    let answers = |c: &usize| {
        let first = table.sample.iter().map(|row| row.cell(*c));
        first.into_iter().find_map(answer_keys).is_some_and(|answer| {
            ["user_id", "value", "status"].iter().all(|key| answer.contains_key(*key))
        })
    };
    let columns = (0..table.columns.len()).filter(answers);
    columns.map(|c| (table.columns[c].clone(), Style::Question { column: c })).collect()
}

/// The questions in a cell of nested responses.
fn nested_questions(cell: &Value) -> Vec<String> {
    match cell {
        Value::Object(questions) => questions.keys().cloned().collect(),
        Value::Array(users) => {
            let values = users.iter().filter_map(|user| user.get("values")?.as_object());
            values.flat_map(|values| values.keys().cloned()).collect()
        }
        _ => Vec::new(),
    }
}

/// The keys of the answers in a cell: a struct of lists, or a list of structs.
fn answer_keys(cell: &Value) -> Option<&Map<String, Value>> {
    match cell {
        Value::Object(lists) => Some(lists),
        Value::Array(structs) => structs.first()?.as_object(),
        _ => None,
    }
}

fn detect(source: &Source, _: &ReadOptions) -> bool {
    matches!(source, Source::Table(table) if !questions(table).is_empty())
}

/// Which column is what.
struct Layout {
    question: String,
    style: Style,
    item: Option<usize>,
    text: Option<usize>,
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Layout, Problem> {
    let mut questions = questions(table);
    let said = options.label.as_deref().map(|said| said.strip_suffix(RESPONSES).unwrap_or(said));
    let place = match said {
        Some(said) => questions.iter().position(|(question, _)| question == said),
        None => (questions.len() == 1).then_some(0),
    };
    let Some(place) = place else {
        let found = questions.into_iter().map(|(question, _)| question).collect();
        let expected = "one question to read";
        return Err(Problem::Choice { expected, found, option: ReadOption::Label });
    };
    let (question, style) = questions.swap_remove(place);
    let item = match &options.item {
        Some(said) => match columns::named(&table.columns, said) {
            Some(column) => Some(column),
            None => return Err(columns::no_column(table, columns::Role::Item)),
        },
        None => ["id", "_server_id", "external_id"].iter().find_map(|name| table.column(name)),
    };
    // Feedback datasets may have an `external_id` in no record.
    let filled = |c: &usize| table.sample.iter().any(|row| !row.cell(*c).is_null());
    let item = item.filter(|c| options.item.is_some() || filled(c));
    let text = match table.column("fields") {
        Some(_) => None,
        None => columns::own_text(table, options)?,
    };
    Ok(Layout { item, style, text, question })
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let layout = layout(&table, collector.options).map_err(|problem| collector.error(problem))?;
    state(&layout, &table, collector);
    let fields = table.column("fields");
    let field = collector.options.text.as_deref().unwrap_or("text");
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
                    collector.reject(error.column(&layout.question))?;
                }
            }
        }
        if let Some(Value::String(text)) = layout.text.map(|c| row.cell(c)) {
            collector.text(&id, text.clone());
        } else if let Some(text) = fields.and_then(|c| row.cell(c).get(field)?.as_str()) {
            collector.text(&id, text);
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
    if let Style::Flat { users, status, .. } = layout.style {
        if users.is_none() {
            collector.note("annotators", "none: there is no column of users");
        }
        if status.is_none() {
            collector.note("status", NO_STATUS);
        }
    }
    if let Style::Nested { column } = layout.style {
        let cells = table.sample.iter().map(|row| row.cell(column));
        let mut responses =
            cells.flat_map(|cell| nested(cell, &layout.question).unwrap_or_default());
        if responses.any(|response| response.status.is_none()) {
            collector.note("status", NO_STATUS);
        }
    }
}

const NO_STATUS: &str = "not there: every response is taken for a submitted one";

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
    let found = match layout.style {
        Style::Flat { values, users, status } => {
            let question = &layout.question;
            let name = |end: &str| format!("{question}{RESPONSES}{end}");
            flat(
                row,
                [(Some(values), name("")), (users, name(".users")), (status, name(".status"))],
            )
        }
        Style::Nested { column } => nested(row.cell(column), &layout.question)
            .map_err(|problem| (problem, "responses".to_owned())),
        Style::Question { column } => {
            answers(row.cell(column)).map_err(|problem| (problem, layout.question.clone()))
        }
        Style::Record { annotation, agent, status } => {
            let value = row.cell(annotation).clone();
            let state = cell_text(row.cell(status)).unwrap_or_else(|| "none".to_owned());
            let state = if state == "Validated" { "submitted".to_owned() } else { state };
            let user = cell_text(row.cell(agent)).filter(|user| !user.is_empty());
            // A record that nobody annotated has no response.
            let answered = !value.is_null() || state != "Default";
            Ok(answered
                .then(|| Response { value, user, status: Some(state) })
                .into_iter()
                .collect())
        }
    };
    match found {
        Ok(found) => Ok(Some(found)),
        Err((problem, column)) => {
            let error = collector.error(problem).row(row.number).item(id);
            let error = if column.is_empty() { error } else { error.column(column) };
            collector.reject(error)?;
            Ok(None)
        }
    }
}

type Responses = Result<Vec<Response>, (Problem, String)>;

/// Three columns of lists in step.
fn flat(row: &Row, columns: [(Option<usize>, String); 3]) -> Responses {
    let mut lists = Vec::new();
    for (column, name) in &columns {
        let list = column.map(|column| list(row.cell(column))).transpose();
        lists.push(list.map_err(|problem| (problem, name.clone()))?);
    }
    let length = lists[0].as_ref().map_or(0, Vec::len);
    for (list, (_, name)) in lists.iter().zip(&columns) {
        if let Some(list) = list.as_ref().filter(|list| list.len() != length) {
            let (left, right) = (columns[0].1.clone(), name.clone());
            let (left_len, right_len) = (length, list.len());
            let problem = Problem::Unequal { left, left_len, right, right_len };
            return Err((problem, String::new()));
        }
    }
    let mut lists = lists.into_iter().map(|list| list.map(Vec::into_iter));
    let (values, mut users, mut status) = (
        lists.next().flatten().unwrap_or_default(),
        lists.next().flatten(),
        lists.next().flatten(),
    );
    let response = |value: Value| {
        let user = users.as_mut().and_then(Iterator::next);
        let status = status.as_mut().map(|s| s.next().unwrap_or_default());
        Response::new(value, user.as_ref(), status.as_ref())
    };
    Ok(values.map(response).collect())
}

impl Response {
    fn new(value: Value, user: Option<&Value>, status: Option<&Value>) -> Self {
        let status = status.map(|status| cell_text(status).unwrap_or_else(|| "none".to_owned()));
        Self { value, user: user.and_then(cell_text).filter(|user| !user.is_empty()), status }
    }
}

fn wrong(expected: &'static str, found: &Value) -> Problem {
    Problem::Shape { expected, found: shorten(&found.to_string()) }
}

/// The responses to a question in an object of questions, or in a list of users' answers.
fn nested(cell: &Value, question: &str) -> Result<Vec<Response>, Problem> {
    match cell {
        Value::Null => Ok(Vec::new()),
        Value::Object(questions) => answers(questions.get(question).unwrap_or(&Value::Null)),
        Value::Array(users) => {
            let answer = |user: &Value| {
                let value = user.get("values")?.get(question)?;
                let value = value.get("value").unwrap_or(value).clone();
                Some(Response::new(value, user.get("user_id"), user.get("status")))
            };
            // Who discarded the record may have answered nothing.
            Ok(users.iter().filter_map(answer).collect())
        }
        other => Err(wrong("the responses of a record", other)),
    }
}

/// Answers to one question: a list of structs, or a struct of lists.
fn answers(cell: &Value) -> Result<Vec<Response>, Problem> {
    let one = |answer: &Value| match answer {
        Value::Object(keys) => Ok(Response::new(
            keys.get("value").cloned().unwrap_or_default(),
            keys.get("user_id"),
            keys.get("status"),
        )),
        other => Err(wrong("a response with a value and a user_id", other)),
    };
    match cell {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => list.iter().map(one).collect(),
        Value::Object(lists) => {
            let list = |key: &str| lists.get(key).and_then(Value::as_array);
            let Some(values) = list("value") else {
                return Err(wrong("lists of values, users and statuses", cell));
            };
            let at =
                |list: Option<&'_ Vec<Value>>, i: usize| list.and_then(|list| list.get(i)).cloned();
            let (users, statuses) = (list("user_id"), list("status"));
            let response = |(i, value): (usize, &Value)| {
                Response::new(value.clone(), at(users, i).as_ref(), at(statuses, i).as_ref())
            };
            Ok(values.iter().enumerate().map(response).collect())
        }
        other => Err(wrong("a list of responses", other)),
    }
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
            "x, row 2, column \"mood\", item \"r2\": expected a label, a rating or a list of labels, found {\"rank\":1}"
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
