//! Statistics over plain arrays. The functions that people call, with their results, are in
//! `package/dissensus/stats.py`; what they call is here, and gives the fields of a result in their order.

use std::sync::Mutex;

use dissensus::ScoreError;
use dissensus::stats::adjust::Correction;
use dissensus::stats::bootstrap::{
    BootstrapResult, BootstrapSettings, IntervalMethod, Plan, bootstrap, bootstrap_mean,
};
use dissensus::stats::correlation::{
    Correlation, CorrelationMethod, CorrelationSettings, partial_spearman,
};
use dissensus::stats::effect::{cohen_dz, mean_difference, rank_biserial};
use dissensus::stats::paired::{
    NullDistribution, PairedTest, WilcoxonMethod, WilcoxonSettings, ZeroMethod, paired_t,
    sign_test, wilcoxon,
};
use dissensus::stats::smallest::SmallestP;
use dissensus::stats::unpaired::{Sample, welch};
use dissensus::stats::{Alternative, StatsError, Undefined, describe};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::numbers::{choice, vector};
use crate::work::{detached, long};

/// Why a number is missing, in words.
fn why(undefined: Option<Undefined>) -> Option<String> {
    undefined.map(|reason| reason.to_string())
}

fn alternative(given: &str) -> PyResult<Alternative> {
    choice("alternative", given, &Alternative::ALL.map(|one| (one.name(), one)))
}

fn zeros(given: &str) -> PyResult<ZeroMethod> {
    let all = [
        ("wilcox", ZeroMethod::Wilcox),
        ("pratt", ZeroMethod::Pratt),
        ("zsplit", ZeroMethod::Zsplit),
    ];
    choice("zeros", given, &all)
}

fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, StatsError> + Send,
) -> PyResult<T> {
    detached(py, || work().map_err(ScoreError::from))
}

type Wilcoxon =
    (Option<f64>, f64, f64, Option<f64>, Option<&'static str>, usize, usize, usize, Option<String>);

/// p, W⁺, W⁻, z, the null distribution, pairs, pairs without a difference, tied pairs, why there is no p.
#[pyfunction]
pub(crate) fn stats_wilcoxon(
    differences: &Bound<'_, PyAny>,
    alternative: &str,
    zeros: &str,
    method: &str,
    continuity: bool,
    resolution: Option<f64>,
) -> PyResult<Wilcoxon> {
    let methods = [
        ("auto", WilcoxonMethod::Auto),
        ("exact", WilcoxonMethod::Exact),
        ("normal", WilcoxonMethod::Normal),
    ];
    let settings = WilcoxonSettings {
        alternative: self::alternative(alternative)?,
        zeros: self::zeros(zeros)?,
        method: choice("method", method, &methods)?,
        continuity,
        resolution,
    };
    let values = vector("differences", differences)?;
    let values = values.as_slice()?;
    let found = run(differences.py(), || wilcoxon(values, &settings))?;
    let null = found.null.map(|null| match null {
        NullDistribution::Exact => "exact",
        NullDistribution::Normal => "normal",
    });
    let undefined = why(found.undefined);
    let (n, zero, tied) = (found.n, found.n_zero, found.n_tied);
    Ok((found.p, found.w_plus, found.w_minus, found.z, null, n, zero, tied, undefined))
}

/// p, positive and negative differences, pairs, pairs without a difference, why there is no p.
#[pyfunction]
pub(crate) fn stats_sign(
    differences: &Bound<'_, PyAny>,
    alternative: &str,
) -> PyResult<(Option<f64>, usize, usize, usize, usize, Option<String>)> {
    let (side, values) = (self::alternative(alternative)?, vector("differences", differences)?);
    let values = values.as_slice()?;
    let found = run(differences.py(), || sign_test(values, side))?;
    let undefined = why(found.undefined);
    Ok((found.p, found.positive, found.negative, found.n, found.n_zero, undefined))
}

/// p, t, degrees of freedom, mean, standard deviation, pairs, why there is no p.
#[pyfunction]
pub(crate) fn stats_paired_t(
    differences: &Bound<'_, PyAny>,
    alternative: &str,
) -> PyResult<(Option<f64>, Option<f64>, usize, f64, Option<f64>, usize, Option<String>)> {
    let (side, values) = (self::alternative(alternative)?, vector("differences", differences)?);
    let values = values.as_slice()?;
    let found = run(differences.py(), || paired_t(values, side))?;
    let undefined = why(found.undefined);
    Ok((found.p, found.t, found.df, found.mean, found.sd, found.n, undefined))
}

/// p, t, degrees of freedom, the difference of the means and its standard error, why there is no p.
#[pyfunction]
pub(crate) fn stats_welch(
    first: (usize, f64, f64),
    second: (usize, f64, f64),
    alternative: &str,
) -> PyResult<(Option<f64>, Option<f64>, Option<f64>, f64, f64, Option<String>)> {
    let sample = |(n, mean, sd)| Sample { n, mean, sd };
    let side = self::alternative(alternative)?;
    let found = welch(sample(first), sample(second), side).map_err(ScoreError::from);
    let found = found.map_err(raise)?;
    Ok((found.p, found.t, found.df, found.difference, found.error, why(found.undefined)))
}

/// The smallest p that a test can give for so many pairs, and a sentence about it.
#[pyfunction]
pub(crate) fn stats_smallest_p(
    n: usize,
    n_zero: usize,
    test: &str,
    alternative: &str,
    level: f64,
) -> PyResult<Option<(f64, String)>> {
    let tests =
        [("wilcoxon", PairedTest::Wilcoxon), ("t", PairedTest::T), ("sign", PairedTest::Sign)];
    let (test, side) = (choice("test", test, &tests)?, self::alternative(alternative)?);
    let found = SmallestP::of(test, side, n, n_zero).map_err(ScoreError::from).map_err(raise)?;
    Ok(found.map(|found| (found.p, found.note(level))))
}

/// Adjusted p values; `None` where there was none.
#[pyfunction]
pub(crate) fn stats_adjust(p: Vec<Option<f64>>, method: &str) -> PyResult<Vec<Option<f64>>> {
    let methods =
        [("holm", Correction::Holm), ("benjamini-hochberg", Correction::BenjaminiHochberg)];
    let adjusted = choice("method", method, &methods)?.adjust(&p);
    Ok(adjusted.map_err(ScoreError::from).map_err(raise)?.p)
}

/// r, p, pairs, why one of them is missing.
#[pyfunction]
pub(crate) fn stats_correlation(
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    correlation: &str,
    alternative: &str,
    method: &str,
) -> PyResult<(Option<f64>, Option<f64>, usize, Option<String>)> {
    let methods = [("t", CorrelationMethod::T), ("exact", CorrelationMethod::Exact)];
    let settings = CorrelationSettings {
        alternative: self::alternative(alternative)?,
        method: choice("method", method, &methods)?,
    };
    let kinds = [("spearman", Correlation::Spearman), ("pearson", Correlation::Pearson)];
    let correlation = choice("correlation", correlation, &kinds)?;
    let (x, y) = (vector("x", x)?, vector("y", y)?);
    let (a, b) = (x.as_slice()?, y.as_slice()?);
    let found = run(x.py(), || correlation.run(a, b, &settings))?;
    Ok((found.r, found.p, found.n, why(found.undefined)))
}

/// Spearman's correlation of x and y given z.
#[pyfunction]
pub(crate) fn stats_partial_spearman(
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    z: &Bound<'_, PyAny>,
) -> PyResult<Option<f64>> {
    let (x, y, z) = (vector("x", x)?, vector("y", y)?, vector("z", z)?);
    let (a, b, c) = (x.as_slice()?, y.as_slice()?, z.as_slice()?);
    run(x.py(), || partial_spearman(a, b, c))
}

/// Cohen's d_z, or why there is none.
#[pyfunction]
pub(crate) fn stats_cohen_dz(
    differences: &Bound<'_, PyAny>,
) -> PyResult<(Option<f64>, usize, Option<String>)> {
    let values = vector("differences", differences)?;
    let values = values.as_slice()?;
    let found = run(differences.py(), || cohen_dz(values))?;
    Ok((found.dz, found.n, why(found.undefined)))
}

/// The rank-biserial correlation, or why there is none.
#[pyfunction]
pub(crate) fn stats_rank_biserial(
    differences: &Bound<'_, PyAny>,
    zeros: &str,
) -> PyResult<(Option<f64>, usize, usize, Option<String>)> {
    let (zeros, values) = (self::zeros(zeros)?, vector("differences", differences)?);
    let values = values.as_slice()?;
    let found = run(differences.py(), || rank_biserial(values, zeros))?;
    Ok((found.r, found.n, found.n_zero, why(found.undefined)))
}

/// The mean, its interval, the standard deviation, pairs, why there is no interval.
#[pyfunction]
pub(crate) fn stats_mean_difference(
    differences: &Bound<'_, PyAny>,
    confidence: f64,
) -> PyResult<(f64, Option<f64>, Option<f64>, Option<f64>, usize, Option<String>)> {
    let values = vector("differences", differences)?;
    let values = values.as_slice()?;
    let found = run(differences.py(), || mean_difference(values, confidence))?;
    Ok((found.mean, found.low, found.high, found.sd, found.n, why(found.undefined)))
}

/// Mean, standard deviation, median.
#[pyfunction]
pub(crate) fn stats_describe(values: &Bound<'_, PyAny>) -> PyResult<(f64, Option<f64>, f64)> {
    let (py, values) = (values.py(), vector("values", values)?);
    let values = values.as_slice()?;
    run(py, || Ok((describe::mean(values)?, describe::sd(values)?, describe::median(values)?)))
}

/// Quantiles, interpolated linearly.
#[pyfunction]
pub(crate) fn stats_quantiles(
    values: &Bound<'_, PyAny>,
    shares: &Bound<'_, PyAny>,
) -> PyResult<Vec<f64>> {
    let (py, values, shares) = (values.py(), vector("values", values)?, vector("shares", shares)?);
    let (values, shares) = (values.as_slice()?, shares.as_slice()?);
    run(py, || describe::quantiles(values, shares))
}

type Bootstrap = (
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    usize,
    bool,
    Option<String>,
);

/// The estimate, both ends, the standard error, bias, acceleration, undefined replicates, whether no
/// replicate differs, why there is no interval.
fn bootstrapped(found: &BootstrapResult) -> Bootstrap {
    let ends = (found.estimate, found.low, found.high, found.standard_error);
    (
        ends.0,
        ends.1,
        ends.2,
        ends.3,
        found.bias,
        found.acceleration,
        found.undefined_replicates,
        found.degenerate,
        why(found.undefined),
    )
}

fn settings(
    replicates: usize,
    confidence: f64,
    method: &str,
    seed: u64,
    stream: u64,
) -> PyResult<BootstrapSettings> {
    let methods = [("bca", IntervalMethod::Bca), ("percentile", IntervalMethod::Percentile)];
    let method = choice("method", method, &methods)?;
    Ok(BootstrapSettings { replicates, confidence, method, seed, stream })
}

/// The interval of a mean.
#[pyfunction]
pub(crate) fn stats_bootstrap_mean(
    values: &Bound<'_, PyAny>,
    replicates: usize,
    confidence: f64,
    method: &str,
    seed: u64,
    stream: u64,
) -> PyResult<Bootstrap> {
    let settings = settings(replicates, confidence, method, seed, stream)?;
    let (py, values) = (values.py(), vector("values", values)?);
    let values = values.as_slice()?;
    Ok(bootstrapped(&run(py, || bootstrap_mean(values, &settings))?))
}

/// The interval of any statistic: a callable that takes an array of row numbers. What it raises is
/// raised.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn stats_bootstrap(
    py: Python<'_>,
    statistic: Py<PyAny>,
    rows: usize,
    groups: Option<Vec<usize>>,
    columns: Option<usize>,
    replicates: usize,
    confidence: f64,
    method: &str,
    seed: u64,
    stream: u64,
) -> PyResult<Bootstrap> {
    let settings = settings(replicates, confidence, method, seed, stream)?;
    let plan = match (groups, columns) {
        (Some(groups), _) => Plan::Nested { groups },
        (None, Some(columns)) => Plan::Crossed { rows, columns },
        (None, None) => Plan::Rows { n: rows },
    };
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    // In threads of its own, so that Ctrl-C is heard between two calls of the statistic.
    let found = long(py, None, |_, cancel| {
        let of_rows = |rows: &[usize]| {
            if cancel.is_cancelled() {
                return None;
            }
            Python::attach(|py| {
                let rows = PyArray1::from_iter(py, rows.iter().map(|&row| row as i64));
                let value = statistic.call1(py, (rows,)).and_then(|v| v.extract::<Option<f64>>(py));
                value.unwrap_or_else(|error| {
                    cancel.cancel();
                    if let Ok(mut raised) = raised.lock() {
                        raised.get_or_insert(error);
                    }
                    None
                })
            })
        };
        bootstrap(&plan, of_rows, &settings).map_err(ScoreError::from)
    });
    match raised.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(bootstrapped(&found?)),
    }
}
