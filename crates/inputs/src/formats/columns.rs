//! Which column of a table plays which role: named by the user, or told by known names.

use dissensus_core::id_name_rank;
use dissensus_io::{ReadOption, Row};
use serde_json::Value;

use crate::error::{InputError, listed};

fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.'));
    kept.flat_map(char::to_lowercase).collect()
}

/// Whether a column has one of these names.
pub(super) fn is_one_of(column: &str, names: &[&str]) -> bool {
    names.contains(&plain(column).as_str())
}

/// The column of the first of these names that there is.
pub(super) fn known(columns: &[String], names: &[&str]) -> Option<usize> {
    let plain: Vec<String> = columns.iter().map(|column| plain(column)).collect();
    names.iter().find_map(|name| plain.iter().position(|column| column == name))
}

/// The column that the user named in an option: a name, or `#2` for the second.
pub(super) fn named(
    file: &str,
    columns: &[String],
    option: ReadOption,
    name: &str,
) -> Result<usize, InputError> {
    let number = || name.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1);
    let by_name = columns.iter().position(|column| column == name);
    by_name.or_else(|| number().filter(|&at| at < columns.len())).ok_or_else(|| {
        InputError::NoSuchColumn {
            file: file.to_owned(),
            option,
            name: name.to_owned(),
            columns: listed(columns),
        }
    })
}

/// The id column: as the user says, else by known names.
pub(super) fn id(
    file: &str,
    columns: &[String],
    said: Option<&str>,
) -> Result<Option<usize>, InputError> {
    match said {
        Some(name) => named(file, columns, ReadOption::Id, name).map(Some),
        None => {
            let known = (0..columns.len()).filter(|&at| id_name_rank(&columns[at]).is_some());
            Ok(known.min_by_key(|&at| id_name_rank(&columns[at])))
        }
    }
}

/// A number, or the text of one.
pub(super) fn number(cell: &Value) -> Option<f64> {
    match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Whether a column holds no number in the first rows; an id then.
pub(super) fn no_numbers(rows: &[Row], column: usize) -> bool {
    !rows.is_empty() && rows.iter().all(|row| number(row.cell(column)).is_none())
}
