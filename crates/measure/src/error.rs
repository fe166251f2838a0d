//! What can be wrong with what was given: named, with row and column (both from 0).

use dissensus_core::{DistributionError, ScaleError};

/// Input that cannot be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// What is not defined for the scale of the votes.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// The values do not fill whole rows.
    #[error("{len} values cannot be rows of {columns}; expected a multiple of {columns} (above 0)")]
    Shape {
        /// How many values there are.
        len: usize,
        /// How many a row has.
        columns: usize,
    },
    /// Two things that should be of one size are not.
    #[error("{what}: found {found}, expected {expected}")]
    Size {
        /// What was counted.
        what: &'static str,
        /// How many came.
        found: usize,
        /// How many should have come.
        expected: usize,
    },
    /// Items on which nobody voted have no target.
    #[error("{} without votes: {}", items(rows.len()), listed(rows))]
    NoVotes {
        /// All of their rows.
        rows: Vec<usize>,
    },
    /// A count that is negative or not finite.
    #[error("row {row}, class {class}: the count is {value}; expected a number from 0 up")]
    Count {
        /// The row.
        row: usize,
        /// The class.
        class: usize,
        /// What stands there.
        value: f64,
    },
    /// A count that is not a number of votes.
    #[error("row {row}, class {class}: {value} votes cannot be divided; expected a whole number")]
    NotWhole {
        /// The row.
        row: usize,
        /// The class.
        class: usize,
        /// What stands there.
        value: f64,
    },
    /// A row that should be a distribution is not.
    #[error("{what}, row {row}: {source}")]
    NotDistribution {
        /// Targets or predictions.
        what: &'static str,
        /// The row.
        row: usize,
        /// What is wrong with it.
        source: DistributionError,
    },
    /// A NaN or an infinity.
    #[error("{what}, row {row}, column {column}: {value}; expected a finite number")]
    NotFinite {
        /// Logits, features or scores.
        what: &'static str,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A label that is not a class.
    #[error("row {row}: the label is {label}; expected a class below {classes}")]
    Label {
        /// The row.
        row: usize,
        /// The label.
        label: u32,
        /// How many classes there are.
        classes: usize,
    },
    /// Tied votes, where the rule is that there must be none.
    #[error("{} with tied votes: {}; choose a tie rule", items(rows.len()), listed(rows))]
    Tie {
        /// All of their rows.
        rows: Vec<usize>,
    },
    /// A feature vector without a direction.
    #[error("{what}, row {row}: all zeros, which cannot be normalized")]
    ZeroVector {
        /// Which features.
        what: &'static str,
        /// The row.
        row: usize,
    },
    /// An index beyond the items.
    #[error("there is no item {index}; there are {items} items")]
    Index {
        /// The index.
        index: usize,
        /// How many items there are.
        items: usize,
    },
    /// A score was asked for without what it is computed from.
    #[error("{score} needs {what}")]
    Missing {
        /// The score.
        score: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// A setting out of its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What it was set to.
        value: String,
        /// What would do.
        expected: &'static str,
    },
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
