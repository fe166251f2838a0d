//! The cells of a claim: their values by seed, and what their pairs say.

use std::collections::BTreeMap;

use dissensus_stats::adjust::Correction;
use dissensus_stats::paired::PairedTest;
use dissensus_stats::smallest::SmallestP;
use dissensus_stats::{Alternative, describe};

use super::{ClaimSide, ClaimSpec};
use crate::ReportError;
use crate::book::Book;
use crate::tables::{CellKey, TestKind, Votes};

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
    /// By seed, the first less the second.
    pub(super) differences: BTreeMap<u64, f64>,
    /// The mean difference, and the mean of the second.
    pub(super) mean: f64,
    pub(super) other: f64,
    /// `None` where no pair differs, or there is no test.
    pub(super) p: Option<f64>,
    /// The smallest p that so many pairs can give.
    pub(super) smallest: Option<f64>,
}

/// A paired test, and its side; `None` where there is no test.
pub(super) type Asked = Option<(PairedTest, Alternative)>;

/// The test of a claim about the differences on this side.
pub(super) fn asked(spec: &ClaimSpec, side: ClaimSide, claimed: Alternative) -> Asked {
    let test = match spec.test {
        TestKind::Wilcoxon => PairedTest::Wilcoxon,
        TestKind::T => PairedTest::T,
    };
    match side {
        ClaimSide::One => Some((test, claimed)),
        ClaimSide::Two => Some((test, Alternative::TwoSided)),
        ClaimSide::None => None,
    }
}

impl Pairs {
    /// `None` where no seed has both.
    pub(super) fn of(
        first: &BTreeMap<u64, f64>,
        second: &BTreeMap<u64, f64>,
        asked: Asked,
        place: &str,
    ) -> Result<Option<Self>, ReportError> {
        let pair = |(seed, a): (&u64, &f64)| Some((*seed, (*a, *second.get(seed)?)));
        let both: BTreeMap<u64, (f64, f64)> = first.iter().filter_map(pair).collect();
        if both.is_empty() {
            return Ok(None);
        }
        let failed = |source| ReportError::Stats { place: place.to_owned(), source };
        let others: Vec<f64> = both.values().map(|(_, b)| *b).collect();
        let other = describe::mean(&others).map_err(failed)?;
        let differences = both.into_iter().map(|(seed, (a, b))| (seed, a - b)).collect();
        Self::tested(differences, other, asked, place).map(Some)
    }

    /// Differences by seed, at least one, from a mean.
    pub(super) fn tested(
        differences: BTreeMap<u64, f64>,
        other: f64,
        asked: Asked,
        place: &str,
    ) -> Result<Self, ReportError> {
        let failed = |source| ReportError::Stats { place: place.to_owned(), source };
        let all: Vec<f64> = differences.values().copied().collect();
        let (mut p, mut smallest) = (None, None);
        if let Some((test, side)) = asked {
            p = test.run(&all, side).map_err(failed)?.p();
            let least = SmallestP::of_differences(test, side, &all).map_err(failed)?;
            smallest = least.map(|least| least.p);
        }
        Ok(Self { mean: describe::mean(&all).map_err(failed)?, other, p, smallest, differences })
    }
}

/// p values after Holm's correction.
pub(super) fn holm(ps: &[Option<f64>]) -> Result<Vec<Option<f64>>, ReportError> {
    let adjusted = Correction::Holm.adjust(ps);
    let failed = |source| ReportError::Stats { place: "Holm".to_owned(), source };
    Ok(adjusted.map_err(failed)?.p)
}
