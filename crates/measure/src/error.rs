//! What can be wrong with what was given: named, with row and column (both from 0).

use dissensus_core::{DistributionError, ScaleError};

/// Input that cannot be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Scale(#[from] ScaleError),
    #[error("{len} values cannot be rows of {columns}; expected a multiple of {columns} (above 0)")]
    Shape { len: usize, columns: usize },
    #[error("{what}: found {found}, expected {expected}")]
    Size { what: &'static str, found: usize, expected: usize },
    #[error("{} without votes: {}", items(rows.len()), listed(rows))]
    NoVotes { rows: Vec<usize> },
    #[error("row {row}, class {class}: the count is {value}; expected a number from 0 up")]
    Count { row: usize, class: usize, value: f64 },
    #[error("row {row}, class {class}: {value} votes cannot be divided; expected a whole number")]
    NotWhole { row: usize, class: usize, value: f64 },
    #[error("{what}, row {row}: {source}")]
    NotDistribution { what: &'static str, row: usize, source: DistributionError },
    #[error("{what}, row {row}, column {column}: {value}; expected a finite number")]
    NotFinite { what: &'static str, row: usize, column: usize, value: f64 },
    #[error("row {row}: the label is {label}; expected a class below {classes}")]
    Label { row: usize, label: u32, classes: usize },
    #[error("{} with tied votes: {}; choose a tie rule", items(rows.len()), listed(rows))]
    Tie { rows: Vec<usize> },
    #[error("{what}, row {row}: all zeros, which cannot be normalized")]
    ZeroVector { what: &'static str, row: usize },
    #[error("there is no item {index}; there are {items} items")]
    Index { index: usize, items: usize },
    #[error("{score} needs {what}")]
    Missing { score: &'static str, what: &'static str },
    #[error("{name} is {value}; expected {expected}")]
    Setting { name: &'static str, value: String, expected: &'static str },
}

fn items(n: usize) -> String {
    if n == 1 { "1 item".into() } else { format!("{n} items") }
}

/// The first few rows by number, the rest as a count.
fn listed(rows: &[usize]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = rows.iter().take(SHOWN).map(usize::to_string).collect();
    let rest = rows.len().saturating_sub(SHOWN);
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{noun} {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_rows() {
        let one = MeasureError::NoVotes { rows: vec![4] };
        assert_eq!(one.to_string(), "1 item without votes: row 4");
        let many = MeasureError::NoVotes { rows: (0..12).collect() };
        let text = "12 items without votes: rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more";
        assert_eq!(many.to_string(), text);
        let nan =
            MeasureError::NotFinite { what: "logits", row: 2, column: 1, value: f64::INFINITY };
        assert_eq!(nan.to_string(), "logits, row 2, column 1: inf; expected a finite number");
    }
}
