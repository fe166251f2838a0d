//! POPQUORN (Pei and Jurgens, LAW 2023), one row per item: ratings and raters as Python lists.
//!
//! `scores` holds the ratings, `users` who gave them, in the same order; `label` repeats the mean
//! of the scores and is compared with it. The ratings (1 to 5) are the classes, which are ordinal: 3.0 is class `3`.
//! The same data with one row per vote is a long table.

use dissensus_core::Scale;
use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use crate::collector::{Collector, Finding, Places, Severity};
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, shorten};
use dissensus_io::{Row, Source, Table, cell_text, python};

pub(super) const FORMAT: Format = Format {
    name: "popquorn",
    title: "POPQUORN, one row per item: ratings and raters as lists",
    layout: r#"CSV with the columns instance_id, scores ("[3.0, 4.0]"), users ("['a', 'b']"), label (their mean)"#,
    trap: "the ratings are the classes, which are ordinal; the mean is none of them: it is only compared",
    examples: &[Example::text(
        "votes.csv",
        "instance_id,text,scores,users,label\n\
         1,Thank you!,\"[4.0, 5.0]\",\"['u1', 'u2']\",4.5\n\
         2,No.,\"[1.0, 2.0]\",\"['u1', 'u3']\",1.5\n",
    )],
    options: &[O::Item, O::Text, O::Classes, O::Missing],
    detect,
    read,
};

fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    let list = |column: Option<usize>| {
        let cell = column.and_then(|c| Some(table.sample.first()?.cell(c)));
        cell.is_some_and(|cell| match cell {
            Value::String(text) => text.trim_start().starts_with('['),
            other => other.is_array(),
        })
    };
    list(table.column("scores")) && list(table.column("users"))
}

/// Which column is what.
struct Layout {
    item: usize,
    scores: usize,
    users: usize,
    mean: Option<usize>,
    text: Option<usize>,
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Layout, Problem> {
    let item = match &options.item {
        Some(_) => columns::find(table, Role::Item, options)?,
        None => table.column("instance_id").or_else(|| columns::guess(&table.columns, Role::Item)),
    };
    Ok(Layout {
        item: item.ok_or_else(|| columns::no_column(table, Role::Item))?,
        scores: table.column("scores").ok_or_else(|| columns::no_column(table, Role::Label))?,
        users: table.column("users").ok_or_else(|| columns::no_column(table, Role::Annotator))?,
        mean: table.column("label"),
        text: columns::own_text(table, options)?,
    })
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let layout =
        layout(&table, collector.options).map_err(|problem| collector.error(problem).row(1))?;
    if collector.options.item.is_none() {
        collector.note("item column", table.columns[layout.item].clone());
    }
    collector.scale = Some(Scale::Ordinal);
    let (mut missing, mut nameless) = (Places::default(), Places::default());
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let Some(id) = cell_text(row.cell(layout.item)).filter(|id| !id.is_empty()) else {
            let error = collector.error(Problem::EmptyCell { role: "item" }).row(row.number);
            collector.reject(error)?;
            continue;
        };
        let scores = entries(collector, &row, layout.scores, "scores", &id)?;
        let users = entries(collector, &row, layout.users, "users", &id)?;
        let (Some(scores), Some(users)) = (scores, users) else {
            continue;
        };
        if scores.len() != users.len() {
            let (left, right) = ("scores".to_owned(), "users".to_owned());
            let (left_len, right_len) = (scores.len(), users.len());
            let problem = Problem::Unequal { left, left_len, right, right_len };
            let error = collector.error(problem).row(row.number).item(&id);
            collector.reject(error)?;
            continue;
        }
        if !collector.new_item(&id, row.number)? {
            continue;
        }
        let mut numbers = Vec::new();
        for (score, user) in scores.iter().zip(users) {
            let Some(label) = score.as_deref().filter(|score| !collector.is_missing(score)) else {
                missing.add(&id, row.number);
                continue;
            };
            let user = user.filter(|user| !user.is_empty());
            if user.is_none() {
                nameless.add(&id, row.number);
            }
            collector.vote(&id, user.as_deref(), label, 1.0, row.number)?;
            numbers.push(label.parse::<f64>().unwrap_or(f64::NAN));
        }
        check_mean(collector, &id, row.number, &numbers, layout.mean.map(|c| row.cell(c)));
        if let Some(text) = layout.text.and_then(|c| cell_text(row.cell(c))) {
            collector.text(&id, text);
        }
    }
    missing.left_out(collector, "missing-value", "missing scores", "drop them from both lists");
    let message = "a score without a user: a vote of an unknown annotator";
    nameless.find(collector, Severity::Note, "no-annotator", message, "name the user");
    Ok(())
}

/// The entries of a list, or `None` where the cell holds none.
fn entries(
    collector: &mut Collector<'_>,
    row: &Row,
    column: usize,
    name: &str,
    id: &str,
) -> Result<Option<Vec<Option<String>>>, ReadError> {
    let list = match row.cell(column) {
        Value::Array(list) => Ok(list.clone()),
        Value::String(text) => python::list(text),
        other => {
            let expected = "a list such as [1, 2] or ['a', 'b']";
            Err(Problem::Shape { expected, found: shorten(&other.to_string()) })
        }
    };
    let plain = list.and_then(|list| match list.iter().find(|v| v.is_array() || v.is_object()) {
        Some(nested) => {
            let expected = "a list of plain values";
            Err(Problem::Shape { expected, found: shorten(&nested.to_string()) })
        }
        None => Ok(list.iter().map(cell_text).collect()),
    });
    match plain {
        Ok(entries) => Ok(Some(entries)),
        Err(problem) => {
            let error = collector.error(problem).row(row.number).column(name).item(id);
            collector.reject(error)?;
            Ok(None)
        }
    }
}

/// `label` repeats the mean of the scores.
fn check_mean(
    collector: &mut Collector<'_>,
    id: &str,
    row: u64,
    numbers: &[f64],
    stated: Option<&Value>,
) {
    let Some(stated) = stated.and_then(columns::number) else {
        return;
    };
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    if (mean - stated).abs() > 1e-6 {
        let message = format!("label says {stated}, the mean of the scores is {mean}");
        let finding = Finding::new(Severity::Warning, "mean-disagrees", message);
        collector.finding(finding.at(Some(id), Some(row)).remedy("mend whichever is wrong"));
    }
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, VoteFile, read_bytes};

    const CSV: &str = "instance_id,text,scores,users,label\n\
        a,Hello.,\"[3.0, 4.0, 3.0]\",\"['u1', 'u2', 'u3']\",3.3333333333333335\n\
        b,Bye.,\"[5.0, 2.5]\",\"['u1', 'u4']\",3.75\n";

    fn read(text: &str) -> VoteFile {
        read_bytes("x", text.into(), &ReadOptions::default()).unwrap()
    }

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn ratings_are_classes() {
        let reading = read(CSV);
        assert_eq!(reading.format.name, "popquorn");
        assert_eq!(reading.table.classes().names(), ["2.5", "3", "4", "5"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 4), [0.0, 2.0, 1.0, 0.0]);
        assert_eq!(reading.table.annotators().len(), 4);
        assert_eq!(reading.texts[1], ("b".to_owned(), "Bye.".to_owned()));
        assert!(reading.findings.is_empty(), "{:?}", reading.findings);
        assert_eq!(reading.notes[1].value, "instance_id");
        assert_eq!(reading.notes[2].value, "ordinal");
        assert_eq!(reading.table.classes().positions(), Some(vec![2.5, 3.0, 4.0, 5.0]));
    }

    #[test]
    fn missing_scores_and_users_are_counted() {
        let text = CSV.replace("[3.0, 4.0, 3.0]", "[3.0, nan, None]");
        let text = text.replace("3.3333333333333335", "3.0").replace("'u4'", "None");
        let reading = read(&text);
        let codes: Vec<_> = reading.findings.iter().map(|f| (f.code.as_str(), f.count)).collect();
        assert_eq!(codes, [("missing-value", 2), ("no-annotator", 1)]);
        assert_eq!(reading.table.counts().unwrap().total(), 3);
        assert_eq!(reading.notes[2].value, "missing scores: 2");
    }

    #[test]
    fn a_mean_that_is_none_is_found() {
        let reading = read(&CSV.replace("3.75", "3.7"));
        assert_eq!(reading.findings[0].code, "mean-disagrees");
        assert_eq!(reading.findings[0].message, "label says 3.7, the mean of the scores is 3.75");
        assert_eq!(reading.findings[0].row, Some(3));
    }

    #[test]
    fn bad_rows_are_named() {
        assert_eq!(
            error(&CSV.replace("['u1', 'u4']", "['u1']")),
            "x, row 3, item \"b\": scores has 2 entries, users has 1"
        );
        assert_eq!(
            error(&CSV.replace("[5.0, 2.5]", "[5. 2.5]")),
            "x, row 3, column \"scores\", item \"b\": expected a list such as [1, 2] or ['a', 'b'], found \"[5. 2.5]\" (from character 5)"
        );
        assert_eq!(
            error(&CSV.replace("[5.0, 2.5]", "[[5.0], 2.5]")),
            "x, row 3, column \"scores\", item \"b\": expected a list of plain values, found [5.0]"
        );
        assert_eq!(error(&CSV.replace("\nb,", "\na,")), "x, row 3: item \"a\" appears twice");
        assert_eq!(error(&CSV.replace("\nb,", "\n,")), "x, row 3: the item is empty");
        assert_eq!(
            error(&CSV.replace("instance_id", "n")),
            "x, row 1: cannot tell which column holds the item: the columns are n, text, scores, users, label"
        );
        let options = ReadOptions { item: Some("n".into()), ..ReadOptions::default() };
        let text = CSV.replace("instance_id", "n");
        assert_eq!(read_bytes("x", text.into(), &options).unwrap().table.len(), 2);
    }
}
