//! What can be wrong with what a study asks of its report.

use dissensus_core::nearest;
use dissensus_stats::StatsError;

use crate::page::PageError;

/// Why a table, a figure or a page cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReportError {
    /// A name that the results do not have.
    #[error("{place}: there is no {what} {name:?}; did you mean {nearest:?}? There are {known}")]
    UnknownName {
        /// Where it stands, such as `table "main"`.
        place: String,
        /// What it should name: `arm`, `metric`, `dataset`, `slice`.
        what: &'static str,
        /// The name.
        name: String,
        /// The known name nearest to it.
        nearest: String,
        /// All of them, joined.
        known: String,
    },
    /// Results that a table does not tell apart.
    #[error(
        "{place}: the results have several values of {dimension:?} ({values}), and the table does \
         not tell them apart; add \"{dimension}\" to its down or across, or keep one: {keep}"
    )]
    Ambiguous {
        /// Where, such as `table "main"`.
        place: String,
        /// The dimension, as a spec writes it.
        dimension: &'static str,
        /// Its values.
        values: String,
        /// The line of a spec that keeps the first of them.
        keep: String,
    },
    /// A dimension that a table names twice.
    #[error(
        "{place}: the dimension {dimension:?} appears twice in down and across; remove one of them"
    )]
    DimensionTwice {
        /// Where, such as `table "main"`.
        place: String,
        /// The dimension, as a spec writes it.
        dimension: &'static str,
    },
    /// Two different results for one run and metric.
    #[error(
        "{of}, seed {seed}: the results hold two values, {first:?} (run {first_run}) and \
         {second:?} (run {second_run}), where one was expected; collect the study's results again"
    )]
    ResultTwice {
        /// Data set, arm, votes, metric and slice.
        of: String,
        /// The seed.
        seed: u64,
        /// The first value.
        first: Option<f64>,
        /// Its run.
        first_run: String,
        /// The other.
        second: Option<f64>,
        /// Its run.
        second_run: String,
    },
    /// Two published values for one cell.
    #[error(
        "{of}: there are two published values, {first} ({first_source}) and {second} \
         ({second_source}), where one was expected; keep one of the references"
    )]
    ReferenceTwice {
        /// Data set, arm, votes, metric and slice.
        of: String,
        /// The first value.
        first: f64,
        /// Where it is published.
        first_source: String,
        /// The other.
        second: f64,
        /// Where it is published.
        second_source: String,
    },
    /// A published value that could belong to several data sets.
    #[error(
        "the published value of {of} ({source_name}) names no data set, and the study has several: \
         {datasets}; add `dataset = \"…\"` to the reference"
    )]
    ReferenceWithoutDataset {
        /// Arm, votes, metric and slice.
        of: String,
        /// Where it is published.
        source_name: String,
        /// The data sets of the study.
        datasets: String,
    },
    /// Items that the page cannot show.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A figure's spec lacks what its kind needs.
    #[error(
        "{place}: `{key}` is missing; name the column of the items that goes there: {key} = \"…\""
    )]
    FigureSetting {
        /// Where, such as `figure "bins"`.
        place: String,
        /// The key.
        key: &'static str,
    },
    /// An item that no collection has. Not all are named here: there may be thousands.
    #[error("{place}: there is no item {item:?}; did you mean {nearest:?}?")]
    UnknownItem {
        /// Where, such as `figure "looks"`.
        place: String,
        /// The item's id.
        item: String,
        /// The known id nearest to it.
        nearest: String,
    },
    /// A picture that cannot be drawn.
    #[error("a figure cannot be drawn: {reason}")]
    Drawing {
        /// What was expected and what came.
        reason: String,
    },
    /// Numbers that have no mean or test.
    #[error("{place}: {source}")]
    Stats {
        /// Where, such as `table "main": sls, soft_nll`.
        place: String,
        /// What is wrong with them.
        source: StatsError,
    },
}

impl ReportError {
    /// A name that is none of the known ones.
    pub(crate) fn unknown<'a>(
        place: String,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let nearest = nearest(name, known.clone()).to_owned();
        let known = known.collect::<Vec<_>>().join(", ");
        Self::UnknownName { place, what, name: name.to_owned(), nearest, known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_explained() {
        let known = ["soft", "sls"].into_iter();
        let error = ReportError::unknown("table \"main\"".into(), "arm", "sfot", known);
        assert_eq!(
            error.to_string(),
            "table \"main\": there is no arm \"sfot\"; did you mean \"soft\"? There are soft, sls"
        );
    }
}
