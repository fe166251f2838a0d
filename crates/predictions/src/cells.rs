//! Cells of a text table that hold several values: lists as Python prints them, and values between which
//! there is a character that the user names.

use std::collections::HashSet;

use dissensus_core::id_name_rank;
use dissensus_io::{ReadOption, Table, TableKind, python};
use serde_json::Value;

use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};

/// Different values of a column of answers at the most.
const MOST_DIFFERENT: usize = 100;

/// The table with lists in place of the texts that hold several values.
pub(crate) fn split(
    file: &str,
    table: Table,
    options: &Context<'_>,
) -> Result<Table, PredictionError> {
    if !matches!(table.kind, TableKind::Delimited(_)) && options.answer_separator.is_none() {
        return Ok(table);
    }
    let is_id = |name: &String| {
        options.id.as_ref() == Some(name) || options.id.is_none() && id_name_rank(name).is_some()
    };
    let parts = |cell: &Value| parts(cell, options.answer_separator);
    let holds_lists = |&column: &usize| {
        let mut different = HashSet::new();
        let mut any = false;
        let fits = table.sample.iter().all(|row| match row.cell(column) {
            Value::Null => true,
            cell => match parts(cell) {
                Some(list) => {
                    any |= list.len() > 1;
                    different.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
                    true
                }
                None => options.answer_separator.is_some(),
            },
        });
        let numbers = different.iter().all(|text| text.parse::<f64>().is_ok());
        fits && any && (numbers || different.len() <= MOST_DIFFERENT)
    };
    let all = 0..table.columns.len();
    let columns: Vec<usize> =
        all.filter(|&c| !is_id(&table.columns[c])).filter(holds_lists).collect();
    if columns.is_empty() {
        let (format, option) = ("a table that has it in no cell", ReadOption::AnswerSeparator);
        return match options.answer_separator {
            Some(_) => {
                let problem = PredictionProblem::Inapplicable { format, option };
                Err(PredictionError::new(file, problem))
            }
            None => Ok(table),
        };
    }
    let split = table.map_cells(&options.limits, |column, cell| match columns.contains(&column) {
        true => match parts(&cell) {
            Some(list) => Value::Array(list),
            None => cell,
        },
        false => cell,
    });
    Ok(split?)
}

/// The values in a cell: those of a list, or what stands between separators.
fn parts(cell: &Value, separator: Option<char>) -> Option<Vec<Value>> {
    let text = cell.as_str()?.trim();
    match separator {
        Some(separator) if !text.is_empty() => {
            let part = |part: &str| Value::String(part.trim().to_owned());
            Some(text.split(separator).filter(|part| !part.trim().is_empty()).map(part).collect())
        }
        _ if text.starts_with('[') => {
            let list = python::list(text).ok()?;
            let plain = |value: &Value| value.is_string() || value.is_number();
            list.iter().all(plain).then_some(list)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn lists_and_separated_values_are_several_values() {
        let votes = "id,no,yes\na,3,1\nb,1,3\n";
        let values = Some(dissensus_votes::Values::Counts);
        let options = dissensus_votes::ReadOptions { values, ..Default::default() };
        let votes = dissensus_votes::read_bytes("v.csv", votes.into(), &options).unwrap().table;
        let read = |text: &str, separator: Option<char>| {
            let options = ReadOptions { answer_separator: separator, ..Default::default() };
            let found = crate::read_bytes_for("x.csv", text.into(), &votes, &options);
            found.map(|found| found[0].values.clone())
        };
        let wanted = vec![0.75, 0.25, 0.25, 0.75];
        let lists =
            "id,answers\na,\"['no', 'no', 'yes', 'no']\"\nb,\"['yes', 'yes', 'no', 'yes']\"\n";
        assert_eq!(read(lists, None).unwrap(), wanted);
        let separated = "id,answers\na,no|no|yes|no\nb,yes|yes| no|yes\n";
        assert!(read(separated, None).is_err());
        assert_eq!(read(separated, Some('|')).unwrap(), wanted);
        let numbers = "id\tprobs\na\t0.75 0.25\nb\t0.25  0.75\n";
        assert_eq!(read(numbers, Some(' ')).unwrap(), wanted);
        let named = "id,labels,scores\na,\"['yes', 'no']\",\"[0.25, 0.75]\"\nb,\"['yes', 'no']\",\"[0.75, 0.25]\"\n";
        let found = read_bytes("x.csv", named.into(), &ReadOptions::default()).unwrap();
        assert_eq!(found[0].classes.as_ref().unwrap(), &["yes", "no"]);
        assert_eq!(found[0].values, [0.25, 0.75, 0.75, 0.25]);
    }
}
