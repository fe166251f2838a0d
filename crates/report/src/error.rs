//! What can be wrong with what a study asks of its report.

use dissensus_core::nearest_names;
use dissensus_stats::StatsError;

use crate::page::PageError;

/// Why a table, a figure or a page cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReportError {
    #[error("{place}: there is no {what} {name:?}{}There are {known}", suggested(nearest))]
    UnknownName {
        /// Where it stands, such as `table "main"`.
        place: String,
        /// What it should name: `arm`, `metric`, `dataset`, `slice`.
        what: &'static str,
        name: String,
        /// The known names nearest to it, nearest first.
        nearest: Vec<String>,
        known: String,
    },
    #[error(
        "{place}: the results have several values of {dimension:?} ({values}), and the table does \
         not tell them apart; add \"{dimension}\" to its down or across, or keep one: {keep}"
    )]
    Ambiguous {
        /// Where, such as `table "main"`.
        place: String,
        /// The dimension, as a spec writes it.
        dimension: &'static str,
        values: String,
        /// The line of a spec that keeps the first of them.
        keep: String,
    },
    #[error(
        "{place}: the dimension {dimension:?} appears twice in down and across; remove one of them"
    )]
    DimensionTwice {
        /// Where, such as `table "main"`.
        place: String,
        /// The dimension, as a spec writes it.
        dimension: &'static str,
    },
    #[error(
        "{of}, seed {seed}: the results hold two values, {first:?} (run {first_run}) and \
         {second:?} (run {second_run}), where one was expected; collect the study's results again"
    )]
    ResultTwice {
        /// Data set, arm, votes, metric and slice.
        of: String,
        seed: u64,
        first: Option<f64>,
        first_run: String,
        second: Option<f64>,
        second_run: String,
    },
    #[error(
        "{of}: there are two published values, {first} ({first_source}) and {second} \
         ({second_source}), where one was expected; keep one of the references"
    )]
    ReferenceTwice {
        /// Data set, arm, votes, metric and slice.
        of: String,
        first: f64,
        first_source: String,
        second: f64,
        second_source: String,
    },
    #[error(
        "the published value of {of} ({source_name}) names no data set, and the study has several: \
         {datasets}; add `dataset = \"…\"` to the reference"
    )]
    ReferenceWithoutDataset {
        of: String,
        source_name: String,
        /// The data sets of the study.
        datasets: String,
    },
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(
        "{place}: `{key}` is missing; name the column of the items that goes there: {key} = \"…\""
    )]
    FigureSetting {
        /// Where, such as `figure "bins"`.
        place: String,
        key: &'static str,
    },
    /// An item that no collection has. Not all are named here: there may be thousands.
    #[error("{place}: there is no item {item:?}{}", suggested(nearest).trim_end())]
    UnknownItem {
        /// Where, such as `figure "looks"`.
        place: String,
        item: String,
        /// The known ids nearest to it, nearest first.
        nearest: Vec<String>,
    },
    #[error("a figure cannot be drawn: {reason}")]
    Drawing { reason: String },
    #[error("{place}: {source}")]
    Stats {
        /// Where, such as `table "main": sls, soft_nll`.
        place: String,
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
        let nearest = owned(nearest_names(name, known.clone()));
        let known = known.collect::<Vec<_>>().join(", ");
        Self::UnknownName { place, what, name: name.to_owned(), nearest, known }
    }
}

/// Names as an error carries them.
pub(crate) fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// The nearest names as a question, with what stands before and behind it.
fn suggested(nearest: &[String]) -> String {
    let quoted: Vec<String> = nearest.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        None => ". ".to_owned(),
        Some((last, [])) => format!("; did you mean {last}? "),
        Some((last, others)) => format!("; did you mean {} or {last}? ", others.join(", ")),
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
