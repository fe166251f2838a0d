//! Reports of CrowdFlower, later Figure Eight and Appen.
//!
//! The full report has one row per judgment. What the platform says of it begins with `_` (`_unit_id`,
//! `_worker_id`, `_trust`); the answers stand in columns that are named after the questions, beside those of the
//! input. A question of the job has a twin `…_gold` for test questions; without twins, the answers are what differs
//! within a unit. Several answers in a cell stand in lines of their own, or in a list. Judgments that the platform did
//! not trust are `_tainted`; they count like others, which is stated. The aggregated report holds no single judgments.

use std::collections::HashSet;

use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use super::long::Layout;
use super::long_rows::{self, Labels};
use crate::collector::Collector;
use crate::names;
use crate::options::ReadOptions;
use crate::profile::Profile;
use dissensus_io::Example;
use dissensus_io::{Problem, ReadError, ReadOption};
use dissensus_io::{Row, Source, Table, cell_text, python};

pub(super) const FORMAT: Format = Format {
    name: "crowdflower",
    title: "CrowdFlower, Figure Eight and Appen: the full report, one row per judgment",
    layout: "CSV with the columns _unit_id, _worker_id, _tainted, …, the input, and one column per question",
    trap: "columns of the platform and of the input stand beside the answers; judgments that are tainted count like others, which is stated",
    examples: &[Example::text(
        "full.csv",
        "_unit_id,_id,_tainted,_trust,_worker_id,mood,text,mood_gold\n\
         1,11,false,0.9,w1,good,Hi,\n\
         1,12,false,1.0,w2,bad,Hi,\n",
    )],
    options: long_rows::PLATFORM,
    detect,
    read,
};

/// The column of a name of the platform, with and without its underscore.
fn own(table: &Table, name: &str) -> Option<usize> {
    let own = |column: &String| names::plain(column) == name;
    table.columns.iter().position(own)
}

/// The columns that have a twin for test questions.
fn twins(table: &Table) -> Vec<usize> {
    let gold: HashSet<&str> =
        table.columns.iter().filter_map(|name| name.strip_suffix("_gold")).collect();
    (0..table.columns.len()).filter(|&c| gold.contains(table.columns[c].as_str())).collect()
}

/// Whether it is a report of judgments: the platform's names, or its twins beside a unit and a worker.
fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    let platform = table.columns.iter().any(|c| c == "_unit_id")
        && table.columns.iter().any(|c| c.starts_with("_worker_id"));
    let twins = !twins(table).is_empty() && table.columns.iter().any(|c| c.starts_with('_'));
    platform || (twins && own(table, "unitid").is_some() && own(table, "workerid").is_some())
}

/// What an aggregated report is, in one sentence.
pub(super) fn aggregated(table: &Table) -> Option<&'static str> {
    let is = table.column("_unit_id").is_some()
        && table.column("_worker_id").is_none()
        && table.columns.iter().any(|c| c == "_trusted_judgments" || c.ends_with(":confidence"));
    is.then_some(
        "this is an aggregated report of CrowdFlower (Figure Eight, Appen): one row per unit with the combined \
         answer, and no individual judgments",
    )
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let layout = layout(&table, collector).map_err(|problem| collector.error(problem).row(1))?;
    if let Some(column) = table.column("_tainted") {
        let tainted = |row: &&Row| {
            cell_text(row.cell(column)).is_some_and(|text| text.eq_ignore_ascii_case("true"))
        };
        if table.sample.iter().any(|row| tainted(&row)) {
            collector.note(
                "tainted",
                "judgments that the platform did not trust count like others (the rows `_tainted=false` are those without them)",
            );
        }
    }
    let (label, separator) = (layout.label, collector.options.separator);
    let labels = Labels::Own(Box::new(move |row: &Row| answers(row.cell(label), separator)));
    long_rows::read(table, layout, labels, None, collector)
}

/// The answers of a cell: a list, lines, or one.
fn answers(cell: &Value, separator: Option<char>) -> Result<Vec<String>, Problem> {
    let text = cell_text(cell).unwrap_or_default();
    let trimmed = text.trim();
    if trimmed.starts_with('[')
        && trimmed.ends_with(']')
        && let Ok(list) = python::list(trimmed)
    {
        return Ok(list.iter().filter_map(cell_text).collect());
    }
    let between = |c: char| c == '\n' || separator == Some(c);
    let several: Vec<String> = trimmed
        .split(between)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    Ok(if several.is_empty() { vec![String::new()] } else { several })
}

fn layout(table: &Table, collector: &mut Collector<'_>) -> Result<Layout, Problem> {
    let options = collector.options;
    let item = match &options.item {
        Some(_) => columns::find(table, Role::Item, options)?,
        None => own(table, "unitid"),
    };
    let annotator = match &options.annotator {
        Some(_) => columns::find(table, Role::Annotator, options)?,
        None => own(table, "workerid"),
    };
    let (Some(item), Some(annotator)) = (item, annotator) else {
        return Err(columns::no_column(table, Role::Item));
    };
    let label = match &options.label {
        Some(_) => columns::find(table, Role::Label, options)?,
        None => Some(question(table, item, annotator)?),
    };
    let label = label.ok_or_else(|| columns::no_column(table, Role::Label))?;
    for (what, column, said) in [
        ("item column", item, options.item.is_some()),
        ("annotator column", annotator, options.annotator.is_some()),
        ("question", label, options.label.is_some()),
    ] {
        if !said {
            collector.note(what, table.columns[column].clone());
        }
    }
    let text = columns::text(table, options, &[Some(annotator), Some(label)])?;
    Ok(Layout { annotator: Some(annotator), text, ..Layout::of(item, label) })
}

/// The column of the only question.
fn question(table: &Table, item: usize, annotator: usize) -> Result<usize, Problem> {
    let profile = Profile::of(&table.columns, table.sample.iter());
    let answer = |&c: &usize| {
        let name = &table.columns[c];
        let own =
            c != item && c != annotator && !name.starts_with('_') && !name.starts_with("orig_");
        own && !name.ends_with("_gold")
            && !name.ends_with("_gold_reason")
            && name != "gold_answer"
            && profile.distinct(c) > 0
            && !profile.is_text(c)
    };
    // Free texts and times are nearly all different.
    let few = |&c: &usize| profile.distinct(c) * 2 <= profile.filled(c).max(2);
    // A question may be answered alike by everybody; an id of the unit has a value for each.
    let asked = |&c: &usize| {
        profile.distinct(c) > 0 && !profile.same_partition(c, item) && !profile.is_text(c)
    };
    let mut found: Vec<usize> = twins(table).into_iter().filter(asked).collect();
    if found.is_empty() {
        found = profile
            .all()
            .filter(answer)
            .filter(few)
            .filter(|&c| profile.varies_within(c, item))
            .collect();
    }
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(columns::no_column(table, Role::Label)),
        several => Err(Problem::Choice {
            expected: "one question of a CrowdFlower report to read",
            found: several.iter().map(|&c| table.columns[c].clone()).collect(),
            option: ReadOption::Label,
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, read_bytes};

    const REPORT: &str = "_unit_id,_id,_tainted,_trust,_worker_id,mood,place,text,mood_gold\n\
        1,11,false,0.9,w1,good,a,Hi,\n1,12,false,1.0,w2,\"good\nbad\",a,Hi,\n1,13,true,0.2,w3,bad,a,Hi,\n\
        2,14,false,0.9,w1,bad,b,Ho,\n2,15,false,1.0,w2,good,b,Ho,\n";

    #[test]
    fn questions_have_twins() {
        let error = read_bytes("x", REPORT.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "x, row 3, item \"1\": several labels in one vote: \"good, bad\""
        );
        let ways = error.advice.unwrap().ways;
        assert_eq!(ways.len(), 1);
        assert_eq!(ways[0].options["multilabel"], "votes");
        let options = ReadOptions { multilabel: MultiLabel::Each, ..ReadOptions::default() };
        let reading = read_bytes("x", REPORT.into(), &options).unwrap();
        assert_eq!(reading.format.name, "crowdflower");
        assert_eq!(reading.table.classes().names(), ["bad", "good"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.5, 1.5]);
        assert!(reading.notes.iter().any(|n| n.what == "tainted"), "{:?}", reading.notes);
    }

    #[test]
    fn an_aggregated_report_has_no_votes() {
        let text = "_unit_id,_golden,_trusted_judgments,mood,mood:confidence\n1,false,5,good,0.8\n2,false,5,bad,0.6\n";
        let error =
            read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string();
        assert!(
            error.contains("aggregated report") && error.contains("no individual judgments"),
            "{error}"
        );
    }
}
