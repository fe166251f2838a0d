//! Experiments (jsPsych, Gorilla) and labeling tools (Labelbox, Potato) that write one row per response, under names of
//! their own. Answers may stand in a cell as `{"question": "answer"}`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use super::long::Layout;
use super::long_rows::{self, Labels};
use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Condition, Problem, ReadError, ReadOption, Selection};
use dissensus_io::{Source, Table, cell_text, python};

pub(super) const FORMAT: Format = Format {
    name: "responses",
    title: "Experiments and tools with one row per response: jsPsych, Gorilla, Labelbox, Potato (JSON Lines)",
    layout: "jsPsych: trial_type, trial_index, subject, stimulus, response; Gorilla: Participant Private ID, Spreadsheet: …, Response; Labelbox: DataRow ID, Label, Created By",
    trap: "trials without a stimulus (instructions) stand beside the others: they are left out; several kinds of trials are never merged",
    examples: &[
        Example::text(
            "jspsych.csv",
            "trial_type,trial_index,subject,stimulus,response,rt\n\
             instructions,0,s1,,,900\n\
             keyboard,1,s1,a.png,f,450\n\
             keyboard,1,s2,a.png,j,420\n",
        ),
        Example::text(
            "labelbox.csv",
            "ID,DataRow ID,Labeled Data,Label,Created By\n\
             1,d1,Hi,\"{\"\"mood\"\": \"\"good\"\"}\",ann@x.org\n\
             2,d1,Hi,\"{\"\"mood\"\": \"\"bad\"\"}\",ben@x.org\n",
        ),
    ],
    options: &[O::Item, O::Annotator, O::Label, O::Text, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

/// The names of a tool: those that tell it, and those of the roles, the surest first.
struct Tool {
    needs: &'static [&'static str],
    item: &'static [&'static str],
    annotator: &'static [&'static str],
    label: &'static str,
    text: &'static str,
    /// Where kinds of trials stand, which are never merged.
    kind: &'static [&'static str],
    /// Whether a cell holds answers by question.
    by_question: bool,
}

const TOOLS: [Tool; 4] = [
    Tool {
        needs: &["trial_type", "trial_index", "stimulus", "response"],
        item: &["stimulus"],
        annotator: &[
            "subject",
            "subject_id",
            "participant",
            "participant_id",
            "workerId",
            "worker_id",
            "PROLIFIC_PID",
            "prolific_id",
            "run_id",
        ],
        label: "response",
        text: "",
        kind: &["task", "trial_type"],
        by_question: false,
    },
    Tool {
        needs: &["Participant Private ID", "Event Index", "Response"],
        item: &[
            "Spreadsheet: Stimulus",
            "Spreadsheet: stimulus",
            "Spreadsheet: Item",
            "Spreadsheet: item",
            "Spreadsheet: Image",
            "Spreadsheet: image",
        ],
        annotator: &["Participant Private ID"],
        label: "Response",
        text: "",
        kind: &["Task Name", "Response Type"],
        by_question: false,
    },
    Tool {
        needs: &["DataRow ID", "Label", "Created By"],
        item: &["DataRow ID"],
        annotator: &["Created By"],
        label: "Label",
        text: "Labeled Data",
        kind: &[],
        by_question: true,
    },
    Tool {
        needs: &["id", "label_annotations", "user"],
        item: &["id"],
        annotator: &["user"],
        label: "label_annotations",
        text: "displayed_text",
        kind: &[],
        by_question: true,
    },
];

fn tool(table: &Table) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.needs.iter().all(|name| table.column(name).is_some()))
}

fn detect(source: &Source, _: &ReadOptions) -> bool {
    matches!(source, Source::Table(table) if tool(table).is_some())
}

/// The answers of a cell: questions, each with its labels.
fn answers(cell: &Value) -> Option<Vec<(String, Vec<String>)>> {
    let parsed = match cell {
        Value::Object(_) => cell.clone(),
        Value::String(text) => {
            let entries = python::dictionary(text.trim())?;
            Value::Object(
                entries.into_iter().filter_map(|(k, v)| Some((cell_text(&k)?, v))).collect(),
            )
        }
        _ => return None,
    };
    let title = |answer: &Value| {
        ["title", "value"].iter().find_map(|key| cell_text(answer.get(*key)?)).or_else(|| {
            (answer.is_string() || answer.is_number() || answer.is_boolean())
                .then(|| cell_text(answer))?
        })
    };
    if let Some(list) = parsed.get("classifications").and_then(Value::as_array) {
        let answer = |entry: &Value| {
            let labels = match entry.get("answer").or_else(|| entry.get("answers"))? {
                Value::Array(several) => several.iter().filter_map(title).collect(),
                one => title(one).into_iter().collect(),
            };
            Some((title(entry)?, labels))
        };
        return Some(list.iter().filter_map(answer).collect());
    }
    let marked = |value: &Value| {
        let text = cell_text(value).unwrap_or_default().to_ascii_lowercase();
        !matches!(text.as_str(), "" | "0" | "false" | "none")
    };
    let answer = |(question, answer): (&String, &Value)| {
        let labels = match answer {
            Value::Object(map) => match title(answer) {
                Some(title) => vec![title],
                None => {
                    map.iter().filter(|(_, v)| marked(v)).map(|(label, _)| label.clone()).collect()
                }
            },
            Value::Array(several) => several.iter().filter_map(title).collect(),
            one => title(one).into_iter().collect(),
        };
        (question.clone(), labels)
    };
    Some(parsed.as_object()?.iter().map(answer).collect())
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let not_this = Problem::NotThisFormat { format: FORMAT.name, seen };
    let Source::Table(table) = source else {
        return Err(collector.error(not_this));
    };
    let Some(tool) = tool(&table) else {
        return Err(collector.error(not_this));
    };
    let wrong = |problem: Problem| ReadError::new(collector.file.clone(), problem).row(1);
    let options = collector.options;
    let known = |names: &[&str]| names.iter().find_map(|name| table.column(name));
    let find = |said: &Option<String>, role: Role, names: &[&str]| match said {
        Some(_) => columns::find(&table, role, options),
        None => Ok(known(names)),
    };
    let item = find(&options.item, Role::Item, tool.item).map_err(wrong)?;
    let item = item.ok_or_else(|| wrong(columns::no_column(&table, Role::Item)))?;
    let who = find(&options.annotator, Role::Annotator, tool.annotator).map_err(wrong)?;
    let who = who.ok_or_else(|| wrong(columns::no_column(&table, Role::Annotator)))?;
    let label = table.column(tool.label).unwrap_or(0);
    let filled = |cell: &Value| cell_text(cell).is_some_and(|text| !text.trim().is_empty());
    // Trials of another kind would be answers to another question.
    for kind in tool.kind.iter().filter_map(|name| table.column(name)) {
        let answered =
            table.sample.iter().filter(|row| filled(row.cell(item)) && filled(row.cell(label)));
        let kinds: BTreeSet<String> =
            answered.filter_map(|row| cell_text(row.cell(kind))).collect();
        if kinds.len() > 1 {
            return Err(wrong(Problem::Doubt {
                doubt: format!(
                    "there are several kinds of trials ({:?}: {})",
                    table.columns[kind],
                    kinds.into_iter().take(5).collect::<Vec<_>>().join(", ")
                ),
                options: &[ReadOption::Rows],
                remedy: "read one of them with `rows` (COLUMN=VALUE)",
            }));
        }
    }
    let question = match tool.by_question {
        true => Some(question(&table, label, options).map_err(wrong)?),
        false => None,
    };
    let text = match &options.text {
        Some(_) => columns::find(&table, Role::Text, options).map_err(wrong)?,
        None => table.column(tool.text).filter(|_| options.texts),
    };
    for (what, column, said) in [
        ("item column", item, options.item.is_some()),
        ("annotator column", who, options.annotator.is_some()),
        ("label column", label, false),
    ] {
        if !said {
            collector.note(what, table.columns[column].clone());
        }
    }
    if let Some(question) = &question {
        collector.note("question", question.clone());
    }
    let labels = Box::new(move |row: &dissensus_io::Row| {
        let cell = row.cell(label);
        match &question {
            None => Ok(vec![cell_text(cell).unwrap_or_default()]),
            Some(question) => {
                let given = answers(cell)
                    .unwrap_or_default()
                    .into_iter()
                    .find(|(name, _)| name == question);
                Ok(given.map_or_else(|| vec![String::new()], |(_, labels)| labels))
            }
        }
    });
    let empty =
        Condition { column: item, wanted: false, values: [String::new()].into_iter().collect() };
    let (table, _) = table.select(Selection { rows: vec![empty], joined: None });
    let layout = Layout { annotator: Some(who), text, ..Layout::of(item, label) };
    long_rows::read(table, layout, Labels::Own(labels), None, collector)
}

/// The question that is read of those in the cells.
fn question(table: &Table, label: usize, options: &ReadOptions) -> Result<String, Problem> {
    let mut found: Vec<String> = Vec::new();
    for (question, labels) in
        table.sample.iter().filter_map(|row| answers(row.cell(label))).flatten()
    {
        if !labels.is_empty() && !found.contains(&question) {
            found.push(question);
        }
    }
    match (&options.label, found.as_slice()) {
        (Some(said), _) if found.contains(said) => Ok(said.clone()),
        (None, [only]) => Ok(only.clone()),
        _ => Err(Problem::Choice {
            expected: "one question to read",
            found,
            option: ReadOption::Label,
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    fn read(text: &str) -> crate::VoteFile {
        read_bytes("x", text.into(), &ReadOptions::default()).unwrap()
    }

    #[test]
    fn rows_of_experiments_and_tools() {
        let trials = "trial_type,trial_index,subject,stimulus,response,rt\nintro,0,s1,,,9\nkey,1,s1,a,f,4\nkey,1,s2,a,j,4\nkey,2,s1,b,f,4\n";
        let reading = read(trials);
        assert_eq!(reading.format.name, "responses");
        assert!(reading.table.items().iter().eq(["a", "b"]));
        assert!(reading.table.annotators().iter().eq(["s1", "s2"]));
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        let two = trials.replace("key,2", "slider,2");
        let error = read_bytes("x", two.into(), &ReadOptions::default()).err().unwrap();
        assert!(error.to_string().contains("several kinds of trials"), "{error}");
        let potato = r#"{"id": "1", "label_annotations": {"mood": {"good": "1"}}, "user": "u"}
{"id": "1", "label_annotations": {"mood": {"bad": "true"}}, "user": "v"}
{"id": "2", "label_annotations": {"mood": {"bad": "1", "good": "false"}}, "user": "v"}
"#;
        assert_eq!(read(potato).table.counts().unwrap().row(1, 2), [1.0, 0.0]);
        let labelbox = r#"[{"DataRow ID": "d", "Label": {"objects": [], "classifications": [{"title": "mood", "answer": {"title": "good"}}]}, "Created By": "u"},
            {"DataRow ID": "d", "Label": {"objects": [], "classifications": [{"title": "mood", "answer": {"title": "bad"}}]}, "Created By": "v"}]"#;
        assert_eq!(read(labelbox).table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        let questions = r#"{"id": "1", "label_annotations": {"mood": {"good": "1"}, "topic": {"x": "1"}}, "user": "u"}"#;
        let error =
            read_bytes("x", format!("{questions}\n{questions}\n").into(), &ReadOptions::default())
                .err()
                .unwrap();
        assert!(error.to_string().contains("one question to read, found mood, topic"), "{error}");
    }
}
