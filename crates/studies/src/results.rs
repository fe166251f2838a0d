//! The results of a study as one tidy table: a row for each run, metric and slice.
//!
//! Columns: `study`, `dataset`, `arm`, `k` (votes per item in training; empty for all), `seed`,
//! `metric`, `slice`, `value` (empty where undefined), `run`. As CSV it can be read back, every number
//! the same to the bit; as Parquet it is for other programs.

mod parquet;

use dissensus_core::results::Row;
use serde::{Deserialize, Serialize};

use crate::StudyError;

pub use self::parquet::to_parquet;

/// A number that a stage gives of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The metric.
    pub metric: String,
    /// Which items: `all`, or the name of a slice.
    pub slice: String,
    /// The number; `None` where it is undefined.
    pub value: Option<f64>,
}

impl Number {
    pub(crate) fn new(metric: &str, slice: &str, value: Option<f64>) -> Self {
        let value = value.filter(|value| !value.is_nan());
        Self { metric: metric.to_owned(), slice: slice.to_owned(), value }
    }
}

/// Rows as CSV, with a head.
pub fn to_csv(rows: &[&Row]) -> Result<Vec<u8>, StudyError> {
    encode(rows, &["study", "dataset", "arm", "k", "seed", "metric", "slice", "value", "run"])
}

/// The rows of a CSV; `what` is what errors call it.
pub fn from_csv(bytes: &[u8], what: &str) -> Result<Vec<Row>, StudyError> {
    decode(bytes, what)
}

pub(crate) fn numbers_to_csv(numbers: &[Number]) -> Result<Vec<u8>, StudyError> {
    encode(numbers, &["metric", "slice", "value"])
}

pub(crate) fn numbers_from_csv(bytes: &[u8], what: &str) -> Result<Vec<Number>, StudyError> {
    decode(bytes, what)
}

/// Numbers are written with the fewest digits that read back the same.
fn encode(rows: &[impl Serialize], head: &[&str]) -> Result<Vec<u8>, StudyError> {
    let wrong = |reason: String| StudyError::Results { what: "the results as CSV".into(), reason };
    let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    csv.write_record(head).map_err(|error| wrong(error.to_string()))?;
    for row in rows {
        csv.serialize(row).map_err(|error| wrong(error.to_string()))?;
    }
    csv.into_inner().map_err(|error| wrong(error.to_string()))
}

fn decode<T: for<'de> Deserialize<'de>>(bytes: &[u8], what: &str) -> Result<Vec<T>, StudyError> {
    let wrong = |error: csv::Error| StudyError::Results {
        what: what.to_owned(),
        reason: error.to_string(),
    };
    csv::Reader::from_reader(bytes).deserialize().map(|row| row.map_err(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_row() -> impl Strategy<Value = Row> {
        let text = "[a-z\",\n é]{0,8}";
        let value = prop::option::of(any::<u64>().prop_map(f64::from_bits));
        (
            (text, text, text, prop::option::of(any::<u32>()), any::<u64>()),
            (text, text, value, "[0-9a-f]{16}"),
        )
            .prop_map(|((study, dataset, arm, k, seed), (metric, slice, value, run))| {
                Row {
                    study,
                    dataset,
                    arm,
                    k,
                    seed,
                    metric,
                    slice,
                    // A value that is no number is undefined, and never stored.
                    value: value.filter(|value| !value.is_nan()),
                    run,
                }
            })
    }

    proptest! {
        #[test]
        fn csv_reads_back_to_the_bit(rows in prop::collection::vec(any_row(), 0..20)) {
            let back = from_csv(&to_csv(&rows.iter().collect::<Vec<_>>()).unwrap(), "results.csv").unwrap();
            let bits = |row: &Row| row.value.map(f64::to_bits);
            prop_assert_eq!(
                back.iter().map(bits).collect::<Vec<_>>(),
                rows.iter().map(bits).collect::<Vec<_>>()
            );
            prop_assert_eq!(back, rows);
        }
    }

    #[test]
    fn what_is_no_table_of_results_is_named() {
        let error = from_csv(b"study,dataset\nx,y\n", "results.csv").unwrap_err().to_string();
        assert!(error.starts_with("results.csv: ") && error.contains("line: 2"), "{error}");
        assert!(from_csv(b"\xff\xfe\n1\n", "results.csv").is_err());
        assert_eq!(from_csv(b"", "results.csv").unwrap(), []);
    }
}
