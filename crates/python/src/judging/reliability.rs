//! Confidence against what came true: bins and smooth curves.

use dissensus::measure::reliability::{Bin, Binning, calibration_error};
use dissensus::measure::smooth::{Smooth, SmoothPoint};
use dissensus::measure::{Against, Judged, Scorer, Settings};
use dissensus::pages;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::{Column, Table};
use crate::errors::raise;
use crate::figure::Figure;
use crate::metrics::{option, settings, with_judged};
use crate::numbers::choice;

/// How confidence compares with what came true. Made by :func:`dissensus.reliability`.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Reliability {
    bins: Vec<Bin>,
    points: Vec<SmoothPoint>,
    smooth: Option<Smooth>,
    /// The other side (majority label or share of the votes) is drawn, too.
    figure: Figure,
    against: &'static str,
}

/// Points of a smooth curve.
const POINTS: usize = 201;

/// The reliability of predictions; see `package/dissensus/_judging.py`.
#[pyfunction]
pub(crate) fn judge_reliability(
    targets: &Bound<'_, PyAny>,
    probs: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Reliability> {
    let given: Option<String> = option(options, "against")?;
    let sides = [("majority", Against::Majority), ("human", Against::Human)];
    let against = choice("against", given.as_deref().unwrap_or("majority"), &sides)?;
    let given: Option<String> = option(options, "binning")?;
    let kinds = [("mass", Binning::Mass), ("width", Binning::Width)];
    let binning = choice("binning", given.as_deref().unwrap_or("mass"), &kinds)?;
    let settings = settings(options)?;
    with_judged(targets, probs, options, move |judged| {
        let scorer = Scorer::new(judged, settings)?;
        Ok(Reliability::new(&scorer, binning, against))
    })
}

/// The reliability of a model against the majority label.
pub(super) fn of_judged(judged: &Judged, settings: Settings) -> PyResult<Reliability> {
    let scorer = Scorer::new(judged, settings).map_err(raise)?;
    Ok(Reliability::new(&scorer, Binning::Mass, Against::Majority))
}

impl Reliability {
    fn new(scorer: &Scorer<'_>, binning: Binning, against: Against) -> Self {
        let words = match against {
            Against::Majority => "majority label",
            Against::Human => "share of the votes",
        };
        Self {
            bins: scorer.reliability(binning, against),
            points: scorer.smooth_curve(against, POINTS),
            smooth: scorer.smooth(against),
            figure: pages::reliability_figure(scorer, "predictions").into(),
            against: words,
        }
    }

    fn column<'py>(&self, py: Python<'py>, of: impl Fn(&Bin) -> f64) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.bins.iter().map(of))
    }
}

#[pymethods]
impl Reliability {
    /// The bins that are not empty, by ascending confidence.
    fn to_frame(&self) -> PyResult<Table> {
        let number =
            |of: fn(&Bin) -> f64| Column::Number(self.bins.iter().map(|b| Some(of(b))).collect());
        let items = self.bins.iter().map(|bin| i64::try_from(bin.items).ok()).collect();
        Table::new(vec![
            ("lower", number(|b| b.lower)),
            ("upper", number(|b| b.upper)),
            ("items", Column::Whole(items)),
            ("confidence", number(|b| b.confidence)),
            ("outcome", number(|b| b.outcome)),
        ])
    }

    /// The smooth curve at 201 even confidences from 0 to 1, with the density of the confidences.
    fn smooth_frame(&self) -> PyResult<Table> {
        let number = |of: fn(&SmoothPoint) -> f64| {
            Column::Number(self.points.iter().map(|p| Some(of(p))).collect())
        };
        Table::new(vec![
            ("confidence", number(|p| p.confidence)),
            ("outcome", number(|p| p.outcome)),
            ("density", number(|p| p.density)),
        ])
    }

    /// The mean confidence of each bin.
    #[getter]
    fn confidence<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |bin| bin.confidence)
    }

    /// What came true in each bin, on average.
    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |bin| bin.outcome)
    }

    /// How many items each bin has.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.bins.iter().map(|bin| bin.items as i64))
    }

    /// What confidence is held against, in words.
    #[getter]
    fn against(&self) -> &'static str {
        self.against
    }

    /// The expected calibration error over the bins; ``None`` without items.
    #[getter]
    fn error(&self) -> Option<f64> {
        calibration_error(&self.bins)
    }

    /// The smooth calibration error; ``None`` without items.
    #[getter]
    fn smooth_error(&self) -> Option<f64> {
        self.smooth.map(|smooth| smooth.error)
    }

    /// The bandwidth of the smooth curve; ``None`` without items.
    #[getter]
    fn bandwidth(&self) -> Option<f64> {
        self.smooth.map(|smooth| smooth.bandwidth)
    }

    /// Draws the reliability diagram.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Draw there with matplotlib, and return the axes.
    #[pyo3(signature = (*, ax=None))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        ax: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match ax {
            Some(ax) => {
                py.import("dissensus._plot")?.call_method1("reliability", (ax, slf, "predictions"))
            }
            None => Ok(slf.get().figure.clone().into_pyobject(py)?.into_any()),
        }
    }

    fn _repr_svg_(&self) -> &str {
        self.figure.drawing()
    }

    fn __repr__(&self) -> String {
        let number =
            |value: Option<f64>| value.map_or("undefined".to_owned(), |v| format!("{v:.4}"));
        format!(
            "<Reliability against the {}: {} bins, error {}, smooth error {}>",
            self.against,
            self.bins.len(),
            number(self.error()),
            number(self.smooth_error())
        )
    }
}
