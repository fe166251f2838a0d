//! The results by what they are of, and a cell's number from them.

use std::collections::{BTreeMap, HashMap};

use dissensus_stats::describe;

use super::spec::Dimension;
use super::table::{CellKey, Number};
use super::words;
use crate::ReportError;
use crate::book::{Book, Row};

/// A value of a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Name(String),
    Votes(Option<u32>),
}

impl Value {
    /// As in the results; a number of votes is `5` or `all`.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Votes(k) => words::votes(*k),
        }
    }
}

impl CellKey {
    fn of(row: &Row) -> Self {
        Self {
            dataset: row.dataset.clone(),
            arm: row.arm.clone(),
            k: row.k,
            metric: row.metric.clone(),
            slice: row.slice.clone(),
        }
    }

    pub(super) fn get(&self, dimension: Dimension) -> Value {
        match dimension {
            Dimension::Dataset => Value::Name(self.dataset.clone()),
            Dimension::Arm => Value::Name(self.arm.clone()),
            Dimension::K => Value::Votes(self.k),
            Dimension::Metric => Value::Name(self.metric.clone()),
            Dimension::Slice => Value::Name(self.slice.clone()),
        }
    }

    /// With another value of a dimension. A value of the wrong kind changes nothing.
    pub(super) fn with(mut self, dimension: Dimension, value: &Value) -> Self {
        match (dimension, value) {
            (Dimension::Dataset, Value::Name(name)) => self.dataset.clone_from(name),
            (Dimension::Arm, Value::Name(name)) => self.arm.clone_from(name),
            (Dimension::Metric, Value::Name(name)) => self.metric.clone_from(name),
            (Dimension::Slice, Value::Name(name)) => self.slice.clone_from(name),
            (Dimension::K, Value::Votes(k)) => self.k = *k,
            _ => {}
        }
        self
    }

    /// All of it in a line, for an error.
    pub(super) fn words(&self) -> String {
        let k = words::votes_title(self.k);
        let names = [&self.dataset, &self.arm, &k, &self.metric, &self.slice];
        names
            .map(String::as_str)
            .into_iter()
            .filter(|s| !s.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Seeds and their values, by seed.
pub(crate) type Seeds = BTreeMap<u64, Option<f64>>;

/// All results of a book.
pub(crate) struct Results {
    places: HashMap<CellKey, usize>,
    /// In the order of the rows.
    all: Vec<(CellKey, Seeds)>,
}

impl Results {
    /// NaN is undefined, as `None` is. A row that stands there twice counts once.
    pub(crate) fn of(book: &Book) -> Result<Self, ReportError> {
        Self::of_rows(&book.rows)
    }

    pub(super) fn of_rows(rows: &[Row]) -> Result<Self, ReportError> {
        let mut results = Self { places: HashMap::new(), all: Vec::new() };
        let mut runs: HashMap<(usize, u64), &str> = HashMap::new();
        for row in rows {
            let at = CellKey::of(row);
            let end = results.all.len();
            let place = *results.places.entry(at.clone()).or_insert(end);
            if place == end {
                results.all.push((at, Seeds::new()));
            }
            let (at, seeds) = &mut results.all[place];
            let value = row.value.filter(|v| !v.is_nan());
            match seeds.insert(row.seed, value) {
                Some(first) if first != value => {
                    return Err(ReportError::ResultTwice {
                        of: at.words(),
                        seed: row.seed,
                        first,
                        first_run: runs.get(&(place, row.seed)).copied().unwrap_or_default().into(),
                        second: value,
                        second_run: row.run.clone(),
                    });
                }
                _ => runs.insert((place, row.seed), &row.run),
            };
        }
        Ok(results)
    }

    /// What there are results of, in the order of the rows.
    pub(crate) fn all(&self) -> impl Iterator<Item = &CellKey> {
        self.all.iter().map(|(at, _)| at)
    }

    /// The values of each seed; `None` where there is no run.
    pub(crate) fn seeds(&self, at: &CellKey) -> Option<&Seeds> {
        self.places.get(at).map(|place| &self.all[*place].1)
    }

    /// Mean and spread over seeds.
    pub(super) fn number(&self, at: CellKey, book: &Book) -> Result<Number, ReportError> {
        let metric = book.metric(&at.metric);
        let seeds: Vec<_> = self.seeds(&at).into_iter().flatten().map(|(s, v)| (*s, *v)).collect();
        let values: Vec<f64> = seeds.iter().filter_map(|(_, value)| *value).collect();
        let (mean, sd) = mean_and_sd(&values)
            .map_err(|source| ReportError::Stats { place: at.words(), source })?;
        Ok(Number {
            n: values.len(),
            digits: metric.map_or(DIGITS, |metric| metric.digits),
            better: metric.map(|metric| metric.better).unwrap_or_default(),
            at,
            seeds,
            mean,
            sd,
            ..Number::default()
        })
    }
}

/// Digits of a metric that the book does not describe.
const DIGITS: usize = 4;

fn mean_and_sd(values: &[f64]) -> Result<(Option<f64>, Option<f64>), dissensus_stats::StatsError> {
    if values.is_empty() {
        return Ok((None, None));
    }
    // An infinite value (a divergence from a probability of 0) is no missing one: left out, it
    // would make its arm look better than it is.
    if values.iter().any(|v| v.is_infinite()) {
        let sum: f64 = values.iter().sum();
        return Ok((Some(sum).filter(|sum| !sum.is_nan()), None));
    }
    Ok((Some(describe::mean(values)?), describe::sd(values)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(values: &[(u64, Option<f64>)]) -> Book {
        let row = |(seed, value): &(u64, Option<f64>)| Row {
            arm: "soft".into(),
            seed: *seed,
            metric: "kl".into(),
            slice: "all".into(),
            value: *value,
            run: format!("r{}", value.unwrap_or_default()),
            ..Row::default()
        };
        Book { rows: values.iter().map(row).collect(), ..Book::default() }
    }

    fn number(values: &[(u64, Option<f64>)]) -> Result<Number, ReportError> {
        let book = book(values);
        let results = Results::of(&book)?;
        let at = CellKey {
            arm: "soft".into(),
            metric: "kl".into(),
            slice: "all".into(),
            ..CellKey::default()
        };
        results.number(at, &book)
    }

    #[test]
    fn mean_and_sample_sd_over_seeds() {
        let three = number(&[(2, Some(4.0)), (0, Some(1.0)), (1, Some(1.0))]).unwrap();
        assert_eq!((three.mean, three.n), (Some(2.0), 3));
        assert!((three.sd.unwrap() - 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(three.seeds, [(0, Some(1.0)), (1, Some(1.0)), (2, Some(4.0))]);
        let one = number(&[(0, Some(0.5))]).unwrap();
        assert_eq!((one.mean, one.sd, one.n), (Some(0.5), None, 1));
        let none = number(&[]).unwrap();
        assert_eq!((none.mean, none.sd, none.n, none.seeds.len()), (None, None, 0, 0));
    }

    #[test]
    fn undefined_values_are_left_out_and_counted() {
        let some = number(&[(0, Some(1.0)), (1, None), (2, Some(f64::NAN)), (3, Some(3.0))]);
        let some = some.unwrap();
        assert_eq!((some.mean, some.n, some.seeds.len()), (Some(2.0), 2, 4));
        let all = number(&[(0, None), (1, None)]).unwrap();
        assert_eq!((all.mean, all.n, all.seeds.len()), (None, 0, 2));
    }

    #[test]
    fn infinite_values_are_not_left_out() {
        let some = number(&[(0, Some(1.0)), (1, Some(f64::INFINITY))]).unwrap();
        assert_eq!((some.mean, some.sd, some.n), (Some(f64::INFINITY), None, 2));
        let both = [(0, Some(f64::INFINITY)), (1, Some(f64::NEG_INFINITY))];
        assert_eq!(number(&both).unwrap().mean, None);
    }

    #[test]
    fn a_row_may_stand_there_twice_but_not_two_values() {
        assert_eq!(number(&[(0, Some(1.0)), (0, Some(1.0))]).unwrap().n, 1);
        let error = number(&[(7, Some(1.0)), (7, Some(2.0))]).unwrap_err().to_string();
        assert!(error.starts_with("soft, all votes, kl, all, seed 7: "), "{error}");
        assert!(error.contains("Some(1.0) (run r1)") && error.contains("run r2"), "{error}");
    }
}
