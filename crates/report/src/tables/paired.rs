//! Paired tests of every arm against one, over the seeds that both have.
//!
//! What is tested is d = (arm's value) − (the other's value), seed by seed. A one-sided test asks
//! whether the arm is better: d below 0 where lower is better, above 0 where higher is. Holm's
//! correction goes over the tests of a column or of the whole table.

use std::collections::BTreeMap;

use dissensus_stats::adjust::Correction;
use dissensus_stats::paired::{NullDistribution, PairedResult, PairedTest};
use dissensus_stats::smallest::SmallestP;
use dissensus_stats::{Alternative, LEVEL, StatsError, describe};

use super::results::Results;
use super::spec::{Against, Family, Side, TestKind};
use super::table::{Cell, Line, Number, Test};
use super::words;
use crate::ReportError;
use crate::book::Direction;

/// Puts a test into every cell of another arm, then the corrected p values.
pub(super) fn test_all(
    lines: &mut [Line],
    against: &Against,
    results: &Results,
) -> Result<(), ReportError> {
    for number in lines.iter_mut().flat_map(numbers) {
        if number.at.arm != against.arm && !number.seeds.is_empty() {
            let test = test(number, against, results);
            number.test = Some(test.map_err(|source| failed(number, source))?);
        }
    }
    let columns = lines.iter().map(|line| line.cells.len()).max().unwrap_or_default();
    match against.family {
        Family::None => Ok(()),
        Family::Table => correct(lines.iter_mut().flat_map(numbers).collect()),
        Family::Column => (0..columns).try_for_each(|column| {
            correct(lines.iter_mut().flat_map(|line| numbers(line).skip(column).take(1)).collect())
        }),
    }
}

fn numbers(line: &mut Line) -> impl Iterator<Item = &mut Number> {
    line.cells.iter_mut().filter_map(|cell| match cell {
        Cell::Number(number) => Some(&mut **number),
        Cell::Text(_) => None,
    })
}

fn failed(number: &Number, source: StatsError) -> ReportError {
    ReportError::Stats { place: number.at.words(), source }
}

fn test(number: &Number, against: &Against, results: &Results) -> Result<Test, StatsError> {
    let side = match (against.side, number.better) {
        (Side::Better, Direction::Lower) => Alternative::Less,
        (Side::Better, Direction::Higher) => Alternative::Greater,
        (Side::Two | Side::Better, _) => Alternative::TwoSided,
    };
    let mut other = number.at.clone();
    other.arm.clone_from(&against.arm);
    let others = results.seeds(&other);
    let difference = |(seed, value): &(u64, Option<f64>)| {
        let other = others?.get(seed).copied().flatten()?;
        value.map(|value| value - other)
    };
    let differences: Vec<f64> = number.seeds.iter().filter_map(difference).collect();
    let mut test = Test {
        against: against.arm.clone(),
        test: against.test,
        side,
        pairs: differences.len(),
        difference: None,
        p: None,
        undefined: None,
        corrected: None,
        raw: against.raw,
        family: 0,
        smallest: None,
        exact: false,
    };
    if differences.is_empty() {
        test.undefined = Some("no seed that both have".to_owned());
    } else if differences.iter().any(|d| !d.is_finite()) {
        test.undefined = Some("an infinite value".to_owned());
    } else {
        let kind = match against.test {
            TestKind::Wilcoxon => PairedTest::Wilcoxon,
            TestKind::T => PairedTest::T,
        };
        let result = kind.run(&differences, side)?;
        test.difference = Some(describe::mean(&differences)?);
        test.p = result.p();
        test.undefined = match &result {
            PairedResult::Wilcoxon(result) => result.undefined,
            PairedResult::T(result) => result.undefined,
            PairedResult::Sign(result) => result.undefined,
        }
        .map(|why| why.to_string());
        test.exact = matches!(
            result,
            PairedResult::Wilcoxon(result) if result.null == Some(NullDistribution::Exact)
        );
        let smallest = SmallestP::of_differences(kind, side, &differences)?;
        test.smallest = smallest.map(|smallest| smallest.p);
    }
    Ok(test)
}

/// Holm's correction over the tests of these cells.
fn correct(family: Vec<&mut Number>) -> Result<(), ReportError> {
    let mut tests: Vec<&mut Test> = family.into_iter().filter_map(|n| n.test.as_mut()).collect();
    let p: Vec<Option<f64>> = tests.iter().map(|test| test.p).collect();
    let adjusted = Correction::Holm.adjust(&p);
    let adjusted =
        adjusted.map_err(|source| ReportError::Stats { place: "Holm".to_owned(), source })?;
    for (test, p) in tests.iter_mut().zip(adjusted.p) {
        test.corrected = p;
        test.family = adjusted.family;
    }
    Ok(())
}

/// What the tests of a table say about the arm with the best mean.
pub(crate) struct Lead<'a> {
    /// The arm that it is compared with.
    pub(crate) other: &'a str,
    /// The p value, corrected where the table corrects.
    pub(crate) p: f64,
    test: &'a Test,
}

impl<'a> Lead<'a> {
    /// The test between the best arm and the arm that others are tested against; where that arm is
    /// itself the best, the two-sided test with the largest p. `None` where there is no such test,
    /// or where several arms are best.
    pub(crate) fn of(group: &[&'a Number]) -> Option<Self> {
        let mut best = group.iter().filter(|number| number.best);
        let (Some(first), None) = (best.next(), best.next()) else { return None };
        let of = |other: &'a str, test: &'a Test| {
            Some(Self { other, p: test.corrected.or(test.p)?, test })
        };
        if let Some(test) = &first.test {
            return of(&test.against, test);
        }
        let tested = group.iter().filter_map(|number| Some((*number, number.test.as_ref()?)));
        let against = tested
            .filter(|(_, test)| test.against == first.at.arm && test.side == Alternative::TwoSided);
        let with_p = against.filter_map(|(number, test)| of(&number.at.arm, test));
        with_p.max_by(|a, b| a.p.total_cmp(&b.p))
    }

    /// Whether the test tells the two apart.
    pub(crate) fn is_significant(&self) -> bool {
        self.p < LEVEL
    }

    /// The smallest p that such a test can give: ` (smallest possible p 0.25 with 3 seeds)`; nothing
    /// for a test that can give any.
    pub(crate) fn limit(&self) -> String {
        self.test.attainable().map_or(String::new(), |p| {
            let (p, seeds) = (words::small(p), self.test.pairs);
            format!(" (smallest possible p {p} with {seeds} seeds)")
        })
    }
}

impl Test {
    /// The smallest p that so many pairs can give, after the correction.
    fn attainable(&self) -> Option<f64> {
        let factor = if self.corrected.is_some() { self.family.max(1) } else { 1 };
        self.smallest.map(|p| (p * factor as f64).min(1.0))
    }
}

/// What stands below the table: which test, which side, how many pairs, and what p it can reach.
pub(super) fn remarks(lines: &[Line], against: &Against, title: &str) -> Vec<String> {
    let cells = || lines.iter().flat_map(|line| line.cells.iter().filter_map(Cell::number));
    let tests: Vec<&Test> = cells().filter_map(|number| number.test.as_ref()).collect();
    if tests.is_empty() {
        return Vec::new();
    }
    let name = match against.test {
        TestKind::T => "paired t test",
        TestKind::Wilcoxon if tests.iter().all(|t| t.exact || t.p.is_none()) => {
            "exact Wilcoxon signed-rank test"
        }
        TestKind::Wilcoxon => "Wilcoxon signed-rank test",
    };
    let two_sided = tests.iter().filter(|t| t.side == Alternative::TwoSided).count();
    let side = match (against.side, two_sided) {
        (Side::Two, _) => "two-sided",
        (Side::Better, 0) => "one-sided (better, by the metric's own direction)",
        (Side::Better, _) => {
            "one-sided (better, by the metric's own direction; two-sided for a metric that has none)"
        }
    };
    let pairs = words::count(tests.iter().map(|test| test.pairs), "pair");
    let holm = match against.family {
        Family::None => String::new(),
        family => {
            let whole = if family == Family::Column { "a column" } else { "the table" };
            let count = words::count(tests.iter().map(|test| test.family), "test");
            match against.raw {
                true => format!("; beside it p corrected by Holm over the {count} of {whole}"),
                false => format!(", corrected by Holm over the {count} of {whole}"),
            }
        }
    };
    let mut remarks =
        vec![format!("p: {name}, {side}, against {title}, paired by seed ({pairs}){holm}.")];
    remarks.extend(attainable(&tests));
    let mut undefined: BTreeMap<&str, usize> = BTreeMap::new();
    for why in tests.iter().filter_map(|test| test.undefined.as_deref()) {
        *undefined.entry(why).or_default() += 1;
    }
    for (why, count) in undefined {
        let cells = if count == 1 { "cell" } else { "cells" };
        remarks.push(format!("No p in {count} {cells}: {why}."));
    }
    remarks
}

/// The smallest p that any of the tests can give, and whether that is small enough for anything.
fn attainable(tests: &[&Test]) -> Option<String> {
    let with_p = || tests.iter().filter(|test| test.p.is_some());
    // A test without a floor can give any p.
    if with_p().any(|test| test.smallest.is_none()) {
        return None;
    }
    let smallest = with_p().filter_map(|test| test.smallest).min_by(f64::total_cmp)?;
    let corrected = with_p().filter_map(|test| test.attainable()).min_by(f64::total_cmp)?;
    let holm = match tests.iter().any(|test| test.corrected.is_some()) {
        true => format!(" ({} after Holm)", words::small(corrected)),
        false => String::new(),
    };
    let verdict = match corrected > LEVEL {
        true => format!("; no p below {LEVEL} is attainable"),
        false => String::new(),
    };
    Some(format!("The smallest attainable p is {}{holm}{verdict}.", words::small(smallest)))
}
