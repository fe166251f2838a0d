//! Prodigy's annotations (`db-out`): JSON Lines, one line an answer of one annotator.
//!
//! The choice interface lists what was chosen in `accept`; `reject` and `ignore` are no votes
//! there. The binary interface asks about one `label`: `accept` is a vote for it, `reject` one for
//! "not LABEL". A file that asks about several labels so holds several questions, and needs
//! the option `label` to say which; unless nothing in it is rejected, when the labels are plain choices.

use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use crate::collector::{Collector, Places, Severity};
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Row, Source, Table, TableKind, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "prodigy",
    title: "Prodigy: one answer per line, by choice or by accepting and rejecting a label",
    layout: r#"JSON Lines: {"text", "accept": ["x"], "answer": "accept", "_input_hash", "_annotator_id", "_session_id"}"#,
    trap: "a rejected label is a vote for \"not LABEL\"; ignored answers are none, and are counted",
    examples: &[
        Example::text(
            "choices.jsonl",
            r#"{"text": "A.", "accept": ["x"], "answer": "accept", "_input_hash": -12, "_annotator_id": "ann"}
{"text": "A.", "accept": ["y"], "answer": "accept", "_input_hash": -12, "_annotator_id": "bob"}
"#,
        ),
        Example::text(
            "binary.jsonl",
            r#"{"text": "A.", "label": "SPORT", "answer": "accept", "_input_hash": 1, "_session_id": "ann"}
{"text": "A.", "label": "SPORT", "answer": "reject", "_input_hash": 1, "_session_id": "bob"}
"#,
        ),
    ],
    options: &[O::Item, O::Annotator, O::Label, O::Text, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    let marks = ["_input_hash", "_task_hash", "_session_id", "_annotator_id"];
    matches!(table.kind, TableKind::JsonLines | TableKind::JsonArray)
        && table.column("answer").is_some()
        && marks.iter().any(|mark| table.column(mark).is_some())
}

/// Which column is what.
struct Layout {
    item: usize,
    /// The first of these that a row fills.
    annotators: Vec<usize>,
    accept: Option<usize>,
    label: Option<usize>,
    answer: usize,
    text: Option<usize>,
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Layout, Problem> {
    let item = match &options.item {
        Some(said) => columns::named(&table.columns, said),
        None => table.column("_input_hash"),
    };
    let annotators = match &options.annotator {
        Some(said) => match columns::named(&table.columns, said) {
            Some(column) => vec![column],
            None => return Err(columns::no_column(table, Role::Annotator)),
        },
        None => {
            let names = ["_annotator_id", "_session_id"];
            names.iter().filter_map(|name| table.column(name)).collect()
        }
    };
    let (accept, label) = (table.column("accept"), table.column("label"));
    if accept.is_none() && label.is_none() {
        return Err(columns::no_column(table, Role::Label));
    }
    Ok(Layout {
        item: item.ok_or_else(|| columns::no_column(table, Role::Item))?,
        annotators,
        accept,
        label,
        answer: table.column("answer").ok_or_else(|| columns::no_column(table, Role::Label))?,
        text: columns::own_text(table, options)?,
    })
}

/// What is left out, and what the binary questions were.
#[derive(Default)]
struct Seen {
    ignored: Places,
    rejected: Places,
    others: Places,
    missing: Places,
    nameless: Places,
    label: Option<String>,
    several: bool,
    any_rejected: bool,
    /// Whether any answer is a choice, about which the option `label` says nothing.
    choices: bool,
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let described = source.describe();
    let Source::Table(table) = source else {
        let problem = Problem::NotThisFormat { format: FORMAT.name, seen: described };
        return Err(collector.error(problem));
    };
    let layout = layout(&table, collector.options).map_err(|problem| collector.error(problem))?;
    if collector.options.item.is_none() {
        collector.note("item column", table.columns[layout.item].clone());
    }
    if collector.options.annotator.is_none() {
        let names: Vec<_> = layout.annotators.iter().map(|&c| table.columns[c].as_str()).collect();
        let none = "none: votes without annotators".to_owned();
        let value = if names.is_empty() { none } else { names.join(", else ") };
        collector.note("annotator column", value);
    }
    let mut seen = Seen::default();
    for row in table.rows(&collector.options.limits) {
        match row {
            Ok(row) => read_row(&layout, &row, &mut seen, collector)?,
            Err(error) => collector.reject(error)?,
        }
    }
    if seen.choices && collector.options.label.is_some() {
        let (option, format) = (ReadOption::Label, "prodigy (answers by choice)");
        return Err(collector.error(Problem::UnusedOption { option, format }));
    }
    let ask = "answer them in Prodigy";
    seen.ignored.left_out(collector, "ignored-answer", "ignored answers", ask);
    seen.rejected.left_out(collector, "rejected-answer", "rejected choices", ask);
    let what = "answers about other labels than the one asked for";
    seen.others.left_out(collector, "other-label", what, "read each label by itself");
    seen.missing.left_out(collector, "missing-value", "empty answers", ask);
    if !layout.annotators.is_empty() {
        let message = "an answer without a name: a vote of an unknown annotator";
        seen.nameless.find(
            collector,
            Severity::Note,
            "no-annotator",
            message,
            "name the annotator",
        );
    }
    Ok(())
}

fn read_row(
    layout: &Layout,
    row: &Row,
    seen: &mut Seen,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let number = row.number;
    let Some(id) = cell_text(row.cell(layout.item)).filter(|id| !id.is_empty()) else {
        let error = collector.error(Problem::EmptyCell { role: "item" }).row(number);
        return collector.reject(error);
    };
    let bad =
        |collector: &mut Collector<'_>, column: &str, expected: &'static str, cell: &Value| {
            let found = shorten(&cell.to_string());
            let error =
                collector.error(Problem::Shape { expected, found }).row(number).column(column);
            collector.reject(error.item(&id))
        };
    let answer = row.cell(layout.answer);
    let (accepted, ignored) = match answer.as_str() {
        Some("accept") => (true, false),
        Some("reject") => (false, false),
        Some("ignore") => (false, true),
        _ => return bad(collector, "answer", "accept, reject or ignore", answer),
    };
    let first = !collector.builder.has_item(&id);
    collector.name_item(&id, number)?;
    if let (true, Some(Value::String(text))) = (first, layout.text.map(|c| row.cell(c))) {
        collector.text(&id, text.clone());
    }
    if ignored {
        seen.ignored.add(&id, number);
        return Ok(());
    }
    let mut names = layout.annotators.iter().filter_map(|&c| cell_text(row.cell(c)));
    let who = names.find(|name| !name.is_empty());
    let choice = layout.accept.map(|c| row.cell(c)).filter(|cell| !cell.is_null());
    let labels: Vec<String> = match (choice, layout.label.map(|c| row.cell(c))) {
        (Some(_), _) if !accepted => {
            seen.rejected.add(&id, number);
            return Ok(());
        }
        (Some(Value::Array(chosen)), _) => {
            seen.choices = true;
            chosen.iter().map(|label| cell_text(label).unwrap_or_default()).collect()
        }
        (Some(other), _) => return bad(collector, "accept", "a list of the labels chosen", other),
        (None, Some(Value::String(label))) if !label.is_empty() => {
            let other = collector.options.label.as_ref().is_some_and(|said| said != label);
            if other {
                seen.others.add(&id, number);
                return Ok(());
            }
            if let Some(error) = seen.mixture(label, accepted, collector) {
                return collector.reject(error.row(number).column("label").item(&id));
            }
            vec![if accepted { label.clone() } else { format!("not {label}") }]
        }
        _ => {
            let error = collector.error(Problem::EmptyCell { role: "label" }).row(number).item(&id);
            return collector.reject(error);
        }
    };
    let several = collector.kept(&labels);
    // Whoever accepts none of several choices says so of each.
    let none_of_them = labels.is_empty() && collector.options.takes_none();
    if several.len() < labels.len() || (labels.is_empty() && !none_of_them) {
        seen.missing.add(&id, number);
        if several.is_empty() {
            return Ok(());
        }
    }
    if who.is_none() {
        seen.nameless.add(&id, number);
    }
    collector.vote_several(&id, who.as_deref(), &several, number)
}

impl Seen {
    /// Takes down a binary question; an error as soon as several labels and a rejected one meet.
    fn mixture(
        &mut self,
        label: &str,
        accepted: bool,
        collector: &Collector<'_>,
    ) -> Option<ReadError> {
        let before = self.label.get_or_insert_with(|| label.to_owned());
        self.several |= before != label;
        self.any_rejected |= !accepted;
        (self.several && self.any_rejected).then(|| {
            let found =
                vec![format!("answers about {before:?} and {label:?}, some of them rejected")];
            let expected = "one label that is accepted or rejected";
            collector.error(Problem::Choice { expected, found, option: ReadOption::Label })
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, VoteFile, read_bytes};

    const CHOICE: &str = r#"{"text": "A.", "accept": ["x"], "answer": "accept", "_input_hash": -12, "_task_hash": 1, "_annotator_id": "db-ann", "_session_id": "db-ann"}
{"text": "A.", "accept": ["y"], "answer": "accept", "_input_hash": -12, "_task_hash": 1, "_annotator_id": null, "_session_id": "db-bob"}
{"text": "A.", "accept": [], "answer": "reject", "_input_hash": -12, "_task_hash": 1, "_annotator_id": "db-cy", "_session_id": "db-cy"}
{"text": "B.", "accept": [], "answer": "ignore", "_input_hash": 40, "_task_hash": 2, "_annotator_id": "db-ann", "_session_id": "db-ann"}
"#;
    const BINARY: &str = r#"{"text": "A.", "label": "SPORT", "answer": "accept", "_input_hash": 1, "_session_id": "a"}
{"text": "A.", "label": "SPORT", "answer": "reject", "_input_hash": 1, "_session_id": "b"}
"#;

    fn read(text: &str) -> VoteFile {
        read_bytes("x", text.into(), &ReadOptions::default()).unwrap()
    }

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn choices_are_votes_and_the_rest_is_counted() {
        let reading = read(CHOICE);
        assert_eq!(reading.format.name, "prodigy");
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["-12", "40"]);
        assert_eq!(reading.table.annotators().iter().collect::<Vec<_>>(), ["db-ann", "db-bob"]);
        assert_eq!(reading.table.counts().unwrap().total(), 2);
        let notes: Vec<_> =
            reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert_eq!(
            notes,
            [
                "item column: _input_hash",
                "annotator column: _annotator_id, else _session_id",
                "left out: ignored answers: 1",
                "left out: rejected choices: 1",
            ]
        );
        let codes: Vec<_> = reading.findings.iter().map(|f| f.code.as_str()).collect();
        assert_eq!(codes, ["ignored-answer", "rejected-answer"]);
        assert_eq!(reading.texts.len(), 2);
    }

    #[test]
    fn several_choices_go_by_multilabel() {
        let text = CHOICE.replace("[\"x\"]", "[\"x\", \"y\"]");
        let wanted = "x, row 1, item \"-12\": several labels in one vote: \"x, y\"";
        assert_eq!(error(&text), wanted);
        let options = ReadOptions { multilabel: MultiLabel::Each, ..ReadOptions::default() };
        let reading = read_bytes("x", text.into(), &options).unwrap();
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [0.5, 1.5]);
    }

    #[test]
    fn empty_choices_are_counted() {
        let reading = read(&CHOICE.replace("[\"x\"]", "[null]"));
        assert_eq!(reading.table.counts().unwrap().total(), 1);
        assert_eq!(reading.notes.last().unwrap().value, "empty answers: 1");
    }

    #[test]
    fn a_rejected_label_is_a_vote_against_it() {
        let reading = read(BINARY);
        assert_eq!(reading.table.classes().names(), ["SPORT", "not SPORT"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        let two = format!("{BINARY}{}", BINARY.replace("SPORT", "NEWS"));
        assert_eq!(
            error(&two),
            "x, row 3, column \"label\", item \"1\": expected one label that is accepted or rejected, \
             found answers about \"SPORT\" and \"NEWS\", some of them rejected"
        );
        let options = ReadOptions { label: Some("NEWS".into()), ..ReadOptions::default() };
        let reading = read_bytes("x", two.clone().into(), &options).unwrap();
        assert_eq!(reading.table.classes().names(), ["NEWS", "not NEWS"]);
        assert_eq!(
            reading.notes.last().unwrap().value,
            "answers about other labels than the one asked for: 2"
        );
        let plain = read(&two.replace("reject", "accept"));
        assert_eq!(plain.table.classes().names(), ["NEWS", "SPORT"]);
    }

    #[test]
    fn bad_lines_are_named() {
        assert_eq!(
            error(&BINARY.replace("reject", "maybe")),
            "x, row 2, column \"answer\", item \"1\": expected accept, reject or ignore, found \"maybe\""
        );
        assert_eq!(
            error(&CHOICE.replace("[\"y\"]", "\"y\"")),
            "x, row 2, column \"accept\", item \"-12\": expected a list of the labels chosen, found \"y\""
        );
        assert_eq!(
            error(&BINARY.replace("\"_input_hash\": 1", "\"_input_hash\": null")),
            "x, row 1: the item is empty"
        );
        let spans = r#"{"text": "A.", "spans": [], "answer": "accept", "_input_hash": 1}"#;
        assert_eq!(
            error(spans),
            "x: cannot tell which column holds the label: the columns are text, spans, answer, _input_hash"
        );
    }
}
