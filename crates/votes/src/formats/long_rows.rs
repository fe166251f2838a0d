//! Long tables row by row: JSON Lines, Parquet, one-hot columns, votes for several labels, and
//! exports of platforms in which some rows are no votes.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::columns;
use super::long::{ClassOrderColumn, Layout, Missing, MissingVotes, Texts};
use crate::collector::{Collector, Places};
use crate::options::MultiLabel;
use crate::plausible::separator_of;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Row, Table, cell_text};

/// Where a row's labels are.
pub(super) enum Labels {
    /// In the cell of the label: one, a list, or several with a separator between.
    Cell {
        /// The separator.
        separator: Option<char>,
    },
    /// In these columns of 0 and 1, each named as its class.
    OneHot(Vec<usize>),
    /// In a way of the format's own.
    Own(Box<LabelsOf>),
}

/// What takes the labels from a row.
pub(super) type LabelsOf = dyn Fn(&Row) -> Result<Vec<String>, Problem>;

/// The rows that are votes: those with one of these values in a column.
pub(super) struct Status {
    pub(super) column: usize,
    pub(super) votes: &'static [&'static str],
}

/// Whether a cell of a one-hot column is 1; `None` for anything but 0 and 1.
pub(super) fn flag(cell: &Value) -> Option<bool> {
    match cell {
        Value::Null => Some(false),
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => Some(false),
            Some(1.0) => Some(true),
            _ => None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "" | "0" | "0.0" | "false" => Some(false),
            "1" | "1.0" | "true" => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// The character between the labels of a cell: as the user says, else guessed from these values where cells may hold
/// several.
pub(super) fn separator(values: &HashSet<String>, collector: &mut Collector<'_>) -> Option<char> {
    let options = collector.options;
    if options.separator.is_some() || !options.takes_several() {
        return options.separator;
    }
    let (_, separator) = separator_of(values.iter().map(String::as_str))?;
    collector.note("separator", format!("{separator:?} between the labels of a vote"));
    Some(separator)
}

/// The options of platforms whose exports have one row per answer.
pub(super) const PLATFORM: &[ReadOption] = &[
    ReadOption::Item,
    ReadOption::Annotator,
    ReadOption::Label,
    ReadOption::Text,
    ReadOption::Classes,
    ReadOption::Missing,
    ReadOption::Multilabel,
    ReadOption::Separator,
];

/// The labels of a cell: one, a list, or several with a separator between.
pub(super) fn cell_labels(cell: &Value, separator: Option<char>) -> Result<Vec<String>, Problem> {
    let plain = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => {
            let found = shorten(&value.to_string());
            Err(Problem::Shape { expected: "a label or a list of labels", found })
        }
        plain => Ok(cell_text(plain).unwrap_or_default()),
    };
    match (cell, separator) {
        (Value::Array(several), _) => several.iter().map(plain).collect(),
        (Value::String(text), Some(separator)) => {
            Ok(text.split(separator).map(|label| label.trim().to_owned()).collect())
        }
        (one, _) => Ok(vec![plain(one)?]),
    }
}

/// Reads the votes; rows without one of the `status`es of a vote are left out and counted.
pub(super) fn read(
    table: Table,
    layout: Layout,
    labels: Labels,
    status: Option<Status>,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let columns = table.columns.clone();
    let options = collector.options;
    let mut missing_values = Missing::new(options, layout.class.is_some());
    if matches!(labels, Labels::Own(_)) && options.missing.is_none() {
        // Platforms leave a cell empty: `None` is an answer that was offered.
        missing_values.remove("None");
    }
    let mut missing = MissingVotes::default();
    let mut left: BTreeMap<String, Places> = BTreeMap::new();
    let mut order = ClassOrderColumn::default();
    let mut texts = Texts::default();
    if let (Labels::OneHot(one_hot), false) =
        (&labels, matches!(options.multilabel, MultiLabel::Only(_)))
    {
        let names = one_hot.iter().map(|&c| columns[c].clone()).collect();
        collector.builder.declare_format(names).map_err(|e| collector.error(e))?;
    }
    // One class against the rest hides labels that were not taken apart.
    let unsplit = options.takes_several() && matches!(labels, Labels::Cell { separator: None });
    let mut seen = HashSet::new();
    for row in table.rows(&options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let text = |column: usize| cell_text(row.cell(column)).unwrap_or_default();
        let item = text(layout.item);
        if let Some(column) = layout.class {
            let label = text(layout.label);
            order.see(&label, &text(column)).map_err(|p| collector.error(p).row(row.number))?;
            // A canonical table names a class that nobody chose in a row without an item.
            if item.is_empty() && !label.is_empty() {
                continue;
            }
        }
        let nobody =
            layout.annotator.is_some_and(|c| text(c).is_empty()) && text(layout.label).is_empty();
        if item.is_empty() && nobody {
            // An object of another kind among the votes has none of their keys.
            missing.add(&item, row.number, "");
            continue;
        }
        if item.is_empty() {
            let error = collector.error(Problem::EmptyCell { role: "item" }).row(row.number);
            collector.reject(error.column(&columns[layout.item]))?;
            continue;
        }
        if let Some(column) = layout.text {
            texts.see(&item, &text(column));
        }
        let name_item = |collector: &mut Collector<'_>| {
            let named = collector.builder.item(&item, row.number);
            named.map_err(|e| collector.error(e).row(row.number))
        };
        if let Some(Status { column, votes }) = status {
            let status = text(column);
            if !votes.iter().any(|vote| vote.eq_ignore_ascii_case(status.trim())) {
                name_item(collector)?;
                left.entry(status).or_default().add(&item, row.number);
                continue;
            }
        }
        let found = match labels_of(&labels, &row, layout.label, &columns) {
            Ok(found) => found,
            Err((problem, column)) => {
                let error = collector.error(problem).row(row.number).item(&item);
                collector.reject(error.column(&columns[column]))?;
                continue;
            }
        };
        let several: Vec<&str> =
            found.iter().map(String::as_str).filter(|l| !missing_values.contains(l)).collect();
        if unsplit {
            for label in &several {
                if !seen.contains(*label) {
                    seen.insert((*label).to_owned());
                }
            }
        }
        // Whoever marks none of the classes says so of each.
        let none_of_them = found.is_empty()
            && matches!(labels, Labels::OneHot(_) | Labels::Own(_))
            && options.takes_none();
        if several.is_empty() && !none_of_them {
            name_item(collector)?;
            missing.add(&item, row.number, found.first().map_or("", String::as_str));
            continue;
        }
        let weight = match layout.weight.map(|c| (c, row.cell(c))) {
            None | Some((_, Value::Null)) => 1.0,
            Some((_, Value::String(text))) if text.is_empty() => 1.0,
            Some((column, cell)) => match columns::number(cell) {
                Some(weight) => weight,
                None => {
                    let text = cell_text(cell).unwrap_or_default();
                    let error = collector.error(Problem::NotANumber { text }).row(row.number);
                    collector.reject(error.column(&columns[column]).item(item))?;
                    continue;
                }
            },
        };
        if let Some(column) = layout.count {
            let text = text(column);
            match text.trim().parse::<f64>() {
                Ok(n) if n >= 0.0 && n.fract() == 0.0 && n <= f64::from(u32::MAX) => {
                    for label in several {
                        collector.votes(&item, label, n as u32, row.number)?;
                    }
                }
                _ => {
                    let error = collector
                        .error(Problem::NotACount { text: shorten(&text) })
                        .row(row.number);
                    collector.reject(error.column(&columns[column]).item(item))?;
                }
            }
            continue;
        }
        let annotator = layout.annotator.map(text).filter(|a| !a.is_empty());
        let who = annotator.as_deref();
        collector.vote_several_weighted(&item, who, &several, weight, row.number)?;
    }
    missing.note(collector);
    for (status, places) in left {
        let what = format!("rows with the status {status:?}");
        places.left_out(
            collector,
            "not-a-vote",
            &what,
            "only finished work that was kept is a vote",
        );
    }
    if let Some((label, _)) = separator_of(seen.iter().map(String::as_str)) {
        let error = collector.error(Problem::MultiLabel { text: shorten(label) });
        collector.reject(error.column(&columns[layout.label]))?;
    }
    texts.keep(collector);
    order.declare(collector)
}

/// The labels of a row, or what is wrong with them and where.
fn labels_of(
    labels: &Labels,
    row: &Row,
    label: usize,
    columns: &[String],
) -> Result<Vec<String>, (Problem, usize)> {
    match labels {
        Labels::Cell { separator } => {
            cell_labels(row.cell(label), *separator).map_err(|problem| (problem, label))
        }
        Labels::Own(of) => of(row).map_err(|problem| (problem, label)),
        Labels::OneHot(one_hot) => {
            let mut chosen = Vec::new();
            for &column in one_hot {
                match flag(row.cell(column)) {
                    Some(true) => chosen.push(columns[column].clone()),
                    Some(false) => {}
                    None => {
                        let found = shorten(&row.cell(column).to_string());
                        let expected = "0 or 1 in a one-hot column";
                        return Err((Problem::Shape { expected, found }, column));
                    }
                }
            }
            Ok(chosen)
        }
    }
}
