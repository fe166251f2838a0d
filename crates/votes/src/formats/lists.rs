//! Tables with one row per item in which a cell holds the votes of several people: a list under a name for several
//! votes (`annotations`, `votes`, `ratings`), in which somebody says what somebody else says; several labels with a
//! separator; numbers of votes by label (`{'yes': 3, 'no': 2}`); labels by person; or a row of digits beside their mean.
//! The people may stand in a list of their own.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Format;
use super::columns::{self, Role};
use super::item_rows::ItemColumns;
use super::long::{Missing, MissingVotes};
use crate::collector::Collector;
use crate::names;
use crate::options::ReadOptions;
use crate::plausible::Guesses;
use crate::profile::Profile;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, Source, Table, cell_text, python};

pub(super) const FORMAT: Format = Format {
    name: "lists",
    title: "Lists of votes: one row per item, the votes of all people in a cell",
    layout: "CSV, JSON Lines or Parquet with a column such as votes ([1, 3, 1], a|b|a, {'a': 2, 'b': 1}), or digits beside their mean (grades 33221, mean 2.2)",
    trap: "a list may be one person's labels: it is taken for votes where a list names a label twice",
    examples: &[
        Example::text(
            "votes.csv",
            "id,votes\na,\"['yes', 'no', 'yes']\"\nb,\"['no', 'no', 'no']\"\n",
        ),
        Example::text(
            "counts.csv",
            "id,votes\na,\"{'yes': 2, 'no': 1}\"\nb,\"Counter({'no': 3})\"\n",
        ),
        Example::text("grades.csv", "id,grades,meanGrade\n1,33221,2.2\n2,10010,0.4\n"),
    ],
    options: &[O::Item, O::Label, O::Text, O::Classes, O::Missing, O::Separator],
    detect,
    read,
};

/// How the votes of a cell are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// A list of labels.
    List,
    /// Labels with a character between them.
    Separated(char),
    /// A digit for each.
    Digits,
    /// A dictionary of labels by person, or pairs of both.
    ByPerson,
    /// A dictionary of numbers of votes by label.
    Counts,
}

/// The votes of a cell: labels, each with who gave it and how often.
type Given = Vec<(Option<String>, Value, u32)>;

fn list(cell: &Value) -> Option<Vec<Value>> {
    match cell {
        Value::Array(list) => Some(list.clone()),
        Value::String(text) if text.trim_start().starts_with('[') => {
            python::list(text.trim()).ok().or_else(|| python::printed_array(text.trim()))
        }
        _ => None,
    }
}

fn pairs(cell: &Value) -> Option<Vec<(Value, Value)>> {
    match cell {
        Value::Object(map) => Some(
            map.iter().map(|(key, value)| (Value::from(key.as_str()), value.clone())).collect(),
        ),
        Value::String(text) if text.trim_start().starts_with(['{', 'C', 'O', 'd']) => {
            python::dictionary(text.trim())
        }
        other => {
            let pair = |entry: Value| match entry {
                Value::Array(pair) => <[Value; 2]>::try_from(pair).ok().map(Into::into),
                _ => None,
            };
            list(other)?.into_iter().map(pair).collect()
        }
    }
}

fn is_plain(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean() || value.is_null()
}

/// The votes of a cell in this form.
fn votes(cell: &Value, form: Form) -> Option<Given> {
    let one = |label: Value| (None, label, 1);
    let texts = |text: &str| Value::String(text.trim().to_owned());
    match form {
        Form::List => {
            let list = list(cell).filter(|list| list.iter().all(is_plain))?;
            Some(list.into_iter().map(one).collect())
        }
        Form::Separated(separator) => {
            Some(cell_text(cell)?.split(separator).map(|part| one(texts(part))).collect())
        }
        Form::Digits => {
            let text = cell_text(cell)?;
            Some(text.trim().chars().map(|c| one(Value::String(c.to_string()))).collect())
        }
        Form::ByPerson => pairs(cell)?
            .into_iter()
            .map(|(who, label)| {
                (is_plain(&who) && is_plain(&label)).then_some((cell_text(&who), label, 1))
            })
            .collect(),
        Form::Counts => {
            let count = |n: &Value| {
                n.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0 && *n <= f64::from(u32::MAX))
            };
            let entries = pairs(cell)?;
            entries.into_iter().map(|(label, n)| Some((None, label, count(&n)? as u32))).collect()
        }
    }
}

fn is_empty(cell: &Value) -> bool {
    cell.is_null() || cell_text(cell).is_some_and(|text| text.trim().is_empty())
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

/// Whether a name says that a column may hold votes in a form that itself says so.
fn may_hold_votes(name: &str) -> bool {
    let words = names::words(name);
    let known = |word: &String| {
        says_votes(word)
            || ["labels", "label", "counts", "count", "vote", "annotators", "dist", "distribution"]
                .contains(&word.as_str())
    };
    says_votes(name) || words.iter().any(known)
}

/// Whether a text reads like the id or name of a person: with a digit, an at-sign, or a first name.
fn like_id(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit() || c == '@') || names::first_name(text)
}

/// The form in which the cells of a column hold votes, if they do: everywhere the same, and such that a cell is no
/// set of one person's labels.
fn form(cells: &[&Value], name: &str, separator: Option<char>) -> Option<Form> {
    let filled: Vec<&&Value> = cells.iter().filter(|cell| !is_empty(cell)).collect();
    let all = |form: Form| -> Option<Vec<Given>> {
        let given: Option<Vec<Given>> = filled.iter().map(|cell| votes(cell, form)).collect();
        given.filter(|given| given.iter().any(|votes| votes.len() > 1))
    };
    let labels = |given: &Given| {
        given.iter().filter_map(|(_, label, _)| cell_text(label)).collect::<Vec<_>>()
    };
    let twice = |given: &[Given]| {
        given
            .iter()
            .map(labels)
            .any(|labels| (1..labels.len()).any(|at| labels[..at].contains(&labels[at])))
    };
    if let Some(given) = all(Form::ByPerson) {
        let people = || given.iter().flatten().filter_map(|(who, ..)| who.as_deref());
        let each = |votes: &Given| {
            let own: HashSet<&Option<String>> = votes.iter().map(|(who, ..)| who).collect();
            own.len() == votes.len()
        };
        if people().all(like_id) && given.iter().all(each) {
            return Some(Form::ByPerson);
        }
    }
    if let Some(given) = all(Form::Counts) {
        let mut known: HashMap<String, usize> = HashMap::new();
        given.iter().flat_map(labels).for_each(|label| *known.entry(label).or_default() += 1);
        let sum = |votes: &Given| votes.iter().map(|(.., n)| u64::from(*n)).sum::<u64>();
        let same = given.iter().all(|votes| sum(votes) == sum(&given[0]));
        let words = names::words(name);
        let says = words.iter().any(|word| ["counts", "count", "votes"].contains(&word.as_str()));
        let more = given.iter().any(|votes| sum(votes) > 1);
        return (known.len() <= 30 && more && (same || says)).then_some(Form::Counts);
    }
    if let Some(given) = all(Form::List) {
        return twice(&given).then_some(Form::List);
    }
    // What is another value as text is not taken apart.
    let plain = |cell: &&&Value| {
        let text = cell_text(cell).unwrap_or_default();
        !text.trim_start().starts_with(['[', '{'])
    };
    if !filled.iter().all(plain) {
        return None;
    }
    let separators = match separator {
        Some(separator) => vec![separator],
        None => vec!['|', ';', ',', '#'],
    };
    separators.into_iter().map(Form::Separated).find(|&form| {
        all(form).is_some_and(|given| {
            let few: HashSet<String> = given.iter().flat_map(labels).collect();
            let cells: usize = given.iter().map(Vec::len).sum();
            twice(&given) && few.len() * 3 <= cells && few.len() <= 30 && !few.contains("")
        })
    })
}

/// A column whose lists are labels of several people, if the data leave nothing else: a label is there twice in a list,
/// labels are few, there is no other list beside, and no text has as many words.
pub(crate) fn column_of_labels(profile: &Profile, item: usize) -> Option<usize> {
    let known = |name: &str| {
        ["labels", "label", "annotation", "classes"].contains(&names::plain(name).as_str())
    };
    let value =
        |c: usize, row: usize| Value::String(profile.text(c, row).unwrap_or_default().to_owned());
    let cells = |c: usize| (0..profile.rows).map(|row| value(c, row)).collect::<Vec<Value>>();
    let form_of = |c: usize| {
        let cells = cells(c);
        form(&cells.iter().collect::<Vec<_>>(), profile.name(c), None)
    };
    let mut found = profile
        .all()
        .filter(|&c| c != item && (known(profile.name(c)) || may_hold_votes(profile.name(c))))
        .filter_map(|c| Some((c, form_of(c)?)))
        .filter(|(c, form)| {
            known(profile.name(*c)) || matches!(form, Form::ByPerson | Form::Counts)
        });
    let (column, form) = found.next().filter(|_| found.next().is_none())?;
    if matches!(form, Form::ByPerson | Form::Counts) {
        return Some(column);
    }
    let length = |row: usize| votes(&value(column, row), form).map_or(0, |votes| votes.len());
    let mut labels = HashSet::new();
    let mut all = 0;
    for row in 0..profile.rows {
        for (_, label, _) in votes(&value(column, row), form).unwrap_or_default() {
            all += 1;
            labels.insert(cell_text(&label).unwrap_or_default());
        }
    }
    let tags = labels.iter().any(|label| label.starts_with("B-") || label.starts_with("I-"));
    let list_beside = profile
        .all()
        .filter(|&c| c != column)
        .any(|c| profile.has_lists(c) || profile.has_objects(c));
    let as_many_words = |c: usize| {
        let words =
            |row: usize| profile.text(c, row).unwrap_or_default().split_whitespace().count();
        (0..profile.rows).filter(|&row| words(row) == length(row)).count() * 2 > profile.rows
    };
    let words_beside = profile.all().filter(|&c| c != column && c != item).any(as_many_words);
    let few = labels.len() <= 20 && labels.len() * 3 <= all;
    (profile.rows > 3 && few && !tags && !list_beside && !words_beside).then_some(column)
}

/// The lists of people beside lists of votes: as many, each there once.
fn people_beside(table: &Table, column: usize, form: Form) -> Option<usize> {
    let named = |&c: &usize| {
        let name = table.columns[c].trim_end_matches('s');
        c != column && (names::annotator(name) || names::annotator(name.trim_end_matches("_id")))
    };
    let fits = |&c: &usize| {
        table.sample.iter().all(|row| {
            let people: Vec<String> =
                list(row.cell(c)).unwrap_or_default().iter().filter_map(cell_text).collect();
            let each: HashSet<&String> = people.iter().collect();
            each.len() == people.len()
                && people.len() == votes(row.cell(column), form).map_or(0, |votes| votes.len())
        })
    };
    (form == Form::List).then(|| (0..table.columns.len()).filter(named).find(fits))?
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

/// The column of the votes, and how they are written.
fn column(table: &Table, options: &ReadOptions) -> Option<(usize, Form)> {
    let cells = |c: usize| table.sample.iter().map(|row| row.cell(c)).collect::<Vec<&Value>>();
    let form_of = |c: usize| form(&cells(c), &table.columns[c], options.separator);
    if let Some(said) = &options.label {
        let c = columns::named(&table.columns, said)?;
        let digits = is_digits(table, c).then_some(Form::Digits);
        let lists = cells(c).iter().all(|cell| is_empty(cell) || votes(cell, Form::List).is_some());
        let form = form_of(c).or(digits).or(lists.then_some(Form::List))?;
        return (options.format.as_deref() == Some(FORMAT.name)).then_some((c, form));
    }
    let known = |c: usize| {
        let form = form_of(c).filter(|_| may_hold_votes(&table.columns[c]))?;
        let by_itself = matches!(form, Form::ByPerson | Form::Counts);
        let beside = people_beside(table, c, form).is_some();
        (by_itself || beside || says_votes(&table.columns[c])).then_some((c, form))
    };
    // Beside lists of objects, numbers may be a summary.
    let objects = |row: &dissensus_io::Row| {
        row.cells
            .iter()
            .any(|cell| cell.as_array().is_some_and(|list| list.iter().any(Value::is_object)))
    };
    let mut found = (0..table.columns.len()).filter_map(known);
    if table.sample.iter().any(objects) {
        return None;
    }
    if let Some(first) = found.next() {
        return found.next().is_none().then_some(first);
    }
    let mut digits = (0..table.columns.len()).filter(|&c| is_digits(table, c));
    let first = digits.next()?;
    digits.next().is_none().then_some((first, Form::Digits))
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
    let Some((label, form)) = column(&table, options) else {
        return Err(collector.error(not_this));
    };
    let rows = ItemColumns::find(&table, &[Some(label)], collector)?;
    let name = table.columns[label].clone();
    let people = people_beside(&table, label, form);
    if options.label.is_none() {
        let what = match form {
            Form::Digits => " (each digit is a vote: another column is their mean)".to_owned(),
            Form::List => " (lists of votes)".to_owned(),
            Form::Separated(separator) => format!(" (votes with {separator:?} between them)"),
            Form::ByPerson => " (labels by person)".to_owned(),
            Form::Counts => " (numbers of votes by label)".to_owned(),
        };
        collector.note("votes", format!("{name}{what}"));
    }
    if let Some(people) = people {
        collector.note("annotator column", format!("{} (lists)", table.columns[people]));
    }
    collector.guesses = Some(Guesses {
        labels: options.label.is_none().then(|| name.clone()),
        ..Guesses::default()
    });
    let missing_values = Missing::new(options, false);
    let mut missing = MissingVotes::default();
    rows.each(table, collector, |row, id, collector| {
        let text = cell_text(row.cell(label)).unwrap_or_default();
        if missing_values.contains(&text) {
            missing.add(id, row.number, &text);
            return Ok(());
        }
        let Some(mut given) = votes(row.cell(label), form) else {
            let problem = Problem::Shape {
                expected: "votes as in the rows above",
                found: dissensus_io::shorten(&text),
            };
            let error = collector.error(problem).row(row.number).column(&name).item(id);
            return collector.reject(error);
        };
        if let Some(people) = people {
            let list = list(row.cell(people)).unwrap_or_default();
            if list.len() != given.len() {
                let (left, right) = (name.clone(), "the list of annotators".to_owned());
                let problem =
                    Problem::Unequal { left, left_len: given.len(), right, right_len: list.len() };
                let error = collector.error(problem).row(row.number).item(id);
                return collector.reject(error);
            }
            given.iter_mut().zip(&list).for_each(|(vote, who)| vote.0 = cell_text(who));
        }
        for (who, vote, n) in given {
            let vote = cell_text(&vote).unwrap_or_default();
            if missing_values.contains(&vote) {
                missing.add(id, row.number, &vote);
            } else if form == Form::Counts {
                collector.votes(id, &vote, n, row.number)?;
            } else {
                let who = who.filter(|who| !who.trim().is_empty());
                collector.vote(id, who.as_deref(), &vote, 1.0, row.number)?;
            }
        }
        Ok(())
    })?;
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
