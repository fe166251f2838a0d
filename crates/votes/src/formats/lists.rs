//! Tables with one row per item in which a cell holds the votes of several people: a list under a name for several
//! votes (`annotations`, `votes`, `ratings`), in which somebody says what somebody else says; or a row of digits
//! beside their mean.

use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use super::long::{Missing, MissingVotes};
use crate::collector::Collector;
use crate::names;
use crate::options::ReadOptions;
use crate::plausible::Guesses;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, Source, Table, cell_text, python};

pub(super) const FORMAT: Format = Format {
    name: "lists",
    title: "Lists of votes: one row per item, the votes of all people in a cell",
    layout: "CSV, JSON Lines or Parquet with a column such as votes ([1, 3, 1]), or digits beside their mean (grades 33221, mean 2.2)",
    trap: "a list may be one person's labels: it is taken for votes where a list names a label twice",
    examples: &[
        Example::text(
            "votes.csv",
            "id,votes\na,\"['yes', 'no', 'yes']\"\nb,\"['no', 'no', 'no']\"\n",
        ),
        Example::text("grades.csv", "id,grades,meanGrade\n1,33221,2.2\n2,10010,0.4\n"),
    ],
    options: &[O::Item, O::Label, O::Text, O::Classes, O::Missing],
    detect,
    read,
};

/// The votes of a cell.
fn votes(cell: &Value, digits: bool) -> Option<Vec<Value>> {
    match cell {
        Value::Array(list) => Some(list.clone()),
        Value::String(text) if digits => {
            Some(text.trim().chars().map(|c| Value::String(c.to_string())).collect())
        }
        Value::Number(number) if digits => {
            Some(number.to_string().chars().map(|c| Value::String(c.to_string())).collect())
        }
        Value::String(text) if text.trim_start().starts_with('[') => python::list(text.trim()).ok(),
        _ => None,
    }
}

fn is_plain(list: &[Value]) -> bool {
    list.iter().all(|v| v.is_string() || v.is_number() || v.is_boolean() || v.is_null())
}

/// Whether a name says that a column holds several votes.
fn says_votes(name: &str) -> bool {
    const KNOWN: [&str; 13] = [
        "annotations",
        "votes",
        "ratings",
        "scores",
        "judgments",
        "judgements",
        "answers",
        "responses",
        "annotatorlabels",
        "workerlabels",
        "raterlabels",
        "crowdlabels",
        "humanlabels",
    ];
    KNOWN.contains(&names::plain(name).as_str())
}

/// Whether every cell is some digits whose mean stands in another column.
fn is_digits(table: &Table, column: usize) -> bool {
    let mean = |row: &dissensus_io::Row| {
        let text = cell_text(row.cell(column))?;
        let digits: Option<Vec<u32>> = text.trim().chars().map(|c| c.to_digit(10)).collect();
        let digits = digits.filter(|digits| digits.len() > 2)?;
        Some(f64::from(digits.iter().sum::<u32>()) / digits.len() as f64)
    };
    let close = |c: usize| {
        table.sample.iter().all(|row| {
            mean(row)
                .zip(columns::number(row.cell(c)))
                .is_some_and(|(mean, said)| (mean - said).abs() < 0.006)
        })
    };
    table.sample.len() > 1
        && table.sample.iter().all(|row| mean(row).is_some())
        && (0..table.columns.len()).any(|c| c != column && close(c))
}

/// The column of the votes, and whether they are digits.
fn column(table: &Table, options: &ReadOptions) -> Option<(usize, bool)> {
    if let Some(said) = &options.label {
        let c = columns::named(&table.columns, said)?;
        return (options.format.as_deref() == Some(FORMAT.name)).then(|| (c, is_digits(table, c)));
    }
    let lists = |&c: &usize| {
        let mut some = false;
        let mut twice = false;
        let all = table.sample.iter().all(|row| match votes(row.cell(c), false) {
            Some(list) if is_plain(&list) => {
                some |= list.len() > 1;
                twice |= (1..list.len()).any(|at| list[..at].contains(&list[at]));
                true
            }
            Some(_) => false,
            None => {
                row.cell(c).is_null()
                    || cell_text(row.cell(c)).is_some_and(|text| text.trim().is_empty())
            }
        });
        says_votes(&table.columns[c]) && all && some && twice
    };
    let mut found = (0..table.columns.len()).filter(lists);
    if let Some(first) = found.next() {
        return found.next().is_none().then_some((first, false));
    }
    let mut digits = (0..table.columns.len()).filter(|&c| is_digits(table, c));
    let first = digits.next()?;
    digits.next().is_none().then_some((first, true))
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    let said =
        options.annotator.is_some() || options.annotators.is_some() || options.counts.is_some();
    let item = columns::find(table, Role::Item, options);
    // Who named somebody has one row per vote; what several labels mean, the user says.
    let people = columns::guess(&table.columns, Role::Annotator).is_some();
    let other = options.values.is_some() || options.multilabel != crate::MultiLabel::Error;
    !said && !people && !other && matches!(item, Ok(Some(_))) && column(table, options).is_some()
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let not_this = Problem::NotThisFormat { format: FORMAT.name, seen };
    let Source::Table(table) = source else {
        return Err(collector.error(not_this));
    };
    let options = collector.options;
    let Some((label, digits)) = column(&table, options) else {
        return Err(collector.error(not_this));
    };
    let wrong = |problem: Problem| ReadError::new(collector.file.clone(), problem).row(1);
    let item = columns::find(&table, Role::Item, options).map_err(wrong)?;
    let item = item.ok_or_else(|| wrong(columns::no_column(&table, Role::Item)))?;
    let text = columns::text(&table, options, &[Some(label)]).map_err(wrong)?;
    let name = table.columns[label].clone();
    if options.item.is_none() {
        collector.note("item column", table.columns[item].clone());
    }
    if options.label.is_none() {
        let what = if digits {
            " (each digit is a vote: another column is their mean)"
        } else {
            " (lists of votes)"
        };
        collector.note("votes", format!("{name}{what}"));
    }
    collector.guesses = Some(Guesses {
        labels: options.label.is_none().then(|| name.clone()),
        ..Guesses::default()
    });
    let missing_values = Missing::new(options, false);
    let mut missing = MissingVotes::default();
    for row in table.rows(&options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let id = cell_text(row.cell(item)).unwrap_or_default();
        if !collector.new_item(&id, row.number)? {
            continue;
        }
        if let Some(text) = text.and_then(|column| cell_text(row.cell(column))) {
            collector.text(&id, text);
        }
        let Some(list) = votes(row.cell(label), digits).filter(|list| is_plain(list)) else {
            let text = cell_text(row.cell(label)).unwrap_or_default();
            if missing_values.contains(&text) {
                missing.add(&id, row.number, &text);
                continue;
            }
            let problem =
                Problem::Shape { expected: "a list of votes", found: dissensus_io::shorten(&text) };
            let error = collector.error(problem).row(row.number).column(&name).item(&id);
            collector.reject(error)?;
            continue;
        };
        for vote in list {
            let vote = cell_text(&vote).unwrap_or_default();
            if missing_values.contains(&vote) {
                missing.add(&id, row.number, &vote);
            } else {
                collector.vote(&id, None, &vote, 1.0, row.number)?;
            }
        }
    }
    missing.note(collector);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn lists_and_digits() {
        for (text, row) in [
            ("id,votes\na,\"['x', 'y', 'x']\"\nb,\"['y', 'y']\"\n", [2.0, 1.0]),
            ("id,grades,mean\na,001,0.333\nb,111,1.0\nc,000,0\n", [2.0, 1.0]),
        ] {
            let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
            assert_eq!(reading.format.name, "lists");
            assert_eq!(reading.table.counts().unwrap().row(0, 2), row);
        }
        // Nobody says something twice: these may be the labels of one person.
        let sets = "id,votes\na,\"['x', 'y']\"\nb,\"['y']\"\n";
        assert!(read_bytes("x", sets.into(), &ReadOptions::default()).is_err());
        let other = "id,grades,mean\na,001,0.5\nb,111,1.0\nc,000,0\n";
        assert!(read_bytes("x", other.into(), &ReadOptions::default()).is_err());
    }
}
