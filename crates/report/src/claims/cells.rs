//! The cells of a claim: their values by seed, and what their pairs say.

use std::collections::BTreeMap;

use dissensus_stats::paired::PairedTest;
use dissensus_stats::smallest::SmallestP;
use dissensus_stats::{Alternative, describe};

use super::ClaimSpec;
use crate::ReportError;
use crate::book::Book;
use crate::tables::{CellKey, Votes};

/// What a claim is about, but for the arm.
pub(super) fn places(spec: &ClaimSpec, book: &Book) -> Vec<CellKey> {
    let named = |asked: &[String], all: Vec<String>| match asked.is_empty() {
        true => all,
        false => asked.to_vec(),
    };
    let datasets =
        named(&spec.datasets, book.datasets.iter().map(|dataset| dataset.name.clone()).collect());
    let slices = named(&spec.slices, vec!["all".to_owned()]);
    let ks: Vec<Option<u32>> = match spec.ks.is_empty() {
        true => vec![None],
        false => spec.ks.iter().map(|Votes(k)| *k).collect(),
    };
    let mut places = Vec::new();
    for dataset in &datasets {
        for metric in &spec.metrics {
            for slice in &slices {
                for k in &ks {
                    places.push(CellKey {
                        dataset: dataset.clone(),
                        arm: String::new(),
                        k: *k,
                        metric: metric.clone(),
                        slice: slice.clone(),
                    });
                }
            }
        }
    }
    places
}

/// The defined values of an arm at a place, by seed.
pub(super) fn values(book: &Book, at: &CellKey, arm: &str) -> BTreeMap<u64, f64> {
    let here = book.rows.iter().filter(|row| {
        row.metric == at.metric
            && row.arm == arm
            && row.k == at.k
            && row.slice == at.slice
            && row.dataset == at.dataset
    });
    here.filter_map(|row| Some((row.seed, row.value.filter(|value| value.is_finite())?))).collect()
}

pub(super) fn mean(values: &BTreeMap<u64, f64>) -> Option<f64> {
    let values: Vec<f64> = values.values().copied().collect();
    describe::mean(&values).ok()
}

/// Planned runs of an arm at a place that have no result at all.
pub(super) fn undone(book: &Book, at: &CellKey, arm: &str) -> usize {
    let planned =
        book.planned.iter().filter(|of| of.arm == arm && of.k == at.k && of.dataset == at.dataset);
    let is_done = |seed: u64| {
        book.rows.iter().any(|row| {
            row.seed == seed && row.arm == arm && row.k == at.k && row.dataset == at.dataset
        })
    };
    planned.filter(|of| !is_done(of.seed)).count()
}

/// Two arms over the seeds that both have.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// Seed by seed, the first less the second.
    pub(super) differences: Vec<f64>,
    /// The mean difference, and the mean of the second.
    pub(super) mean: f64,
    pub(super) other: f64,
    /// `None` where no pair differs.
    pub(super) p: Option<f64>,
    /// The smallest p that so many pairs can give.
    pub(super) smallest: Option<f64>,
}

impl Pairs {
    /// `None` where no seed has both.
    pub(super) fn of(
        first: &BTreeMap<u64, f64>,
        second: &BTreeMap<u64, f64>,
        side: Alternative,
        place: &str,
    ) -> Result<Option<Self>, ReportError> {
        let both = || first.iter().filter_map(|(seed, a)| Some((*a, *second.get(seed)?)));
        let differences: Vec<f64> = both().map(|(a, b)| a - b).collect();
        if differences.is_empty() {
            return Ok(None);
        }
        let failed = |source| ReportError::Stats { place: place.to_owned(), source };
        let others: Vec<f64> = both().map(|(_, b)| b).collect();
        let test = PairedTest::Wilcoxon;
        let smallest = SmallestP::of_differences(test, side, &differences).map_err(failed)?;
        Ok(Some(Self {
            mean: describe::mean(&differences).map_err(failed)?,
            other: describe::mean(&others).map_err(failed)?,
            p: test.run(&differences, side).map_err(failed)?.p(),
            smallest: smallest.map(|smallest| smallest.p),
            differences,
        }))
    }
}
