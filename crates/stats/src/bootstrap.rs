//! Bootstrap confidence intervals.
//!
//! A replicate is the statistic of units drawn with replacement, as many as there are. What a unit
//! is, the [`Plan`] says: rows (items, or seeds), groups with rows within them, or a full table of
//! which both margins are drawn. Replicate b under (seed, stream) is a pure function of these
//! three: its units are the successive draws of the Philox stream at place (b, 0, 0), whatever the
//! number of threads. B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap* (1993).

mod interval;
mod plan;
mod replicates;

use serde::{Deserialize, Serialize};

pub use self::interval::IntervalMethod;
pub use self::plan::Plan;
use dissensus_core::limits::MAX_REPLICATES;

use self::replicates::Replicates;
use crate::describe::moments;
use crate::{StatsError, Undefined, check};

/// How to draw and what to read off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BootstrapSettings {
    pub replicates: usize,
    /// The confidence level, between 0 and 1.
    pub confidence: f64,
    /// How the interval is read off the replicates.
    pub method: IntervalMethod,
    /// The seed of the draws.
    pub seed: u64,
    /// Tells draws under one seed apart; equal streams make equal draws, which pairs intervals.
    pub stream: u64,
}

impl Default for BootstrapSettings {
    fn default() -> Self {
        let method = IntervalMethod::default();
        Self { replicates: 10_000, confidence: 0.95, method, seed: 0, stream: 0 }
    }
}

/// A statistic and its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapResult {
    pub settings: BootstrapSettings,
    /// What was drawn.
    pub plan: Plan,
    /// The statistic of the sample itself.
    pub estimate: Option<f64>,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The standard deviation of the replicates.
    pub standard_error: Option<f64>,
    /// BCa's bias correction z₀.
    pub bias: Option<f64>,
    /// BCa's acceleration a.
    pub acceleration: Option<f64>,
    /// Replicates on which the statistic was undefined; the interval is that of the others.
    pub undefined_replicates: usize,
    /// Whether the interval is the estimate itself because no replicate differs from it.
    pub degenerate: bool,
    /// Why there is no interval.
    pub undefined: Option<Undefined>,
}

/// The interval of any statistic of row indices (into 0..[`Plan::rows`]); `None` or a number that
/// is not finite counts as undefined. BCa also evaluates it once with each unit left out.
pub fn bootstrap(
    plan: &Plan,
    statistic: impl Fn(&[usize]) -> Option<f64> + Sync,
    settings: &BootstrapSettings,
) -> Result<BootstrapResult, StatsError> {
    check_settings(settings)?;
    plan.check(settings.method)?;
    let statistic = |rows: &[usize]| statistic(rows).filter(|value| value.is_finite());
    let all: Vec<usize> = (0..plan.rows()).collect();
    let mut result = empty(settings, plan.clone());
    result.estimate = statistic(&all);
    result.undefined = plan.too_few().or(match result.estimate {
        None => Some(Undefined::Statistic),
        Some(_) => None,
    });
    if let (Some(estimate), None) = (result.estimate, result.undefined) {
        let drawn = Replicates::draw(plan, &statistic, settings);
        result.read_off(estimate, drawn, || replicates::jackknife(plan, &statistic));
    }
    Ok(result)
}

/// The interval of a mean over rows: the draws of [`bootstrap`] without the index slices.
pub fn bootstrap_mean(
    values: &[f64],
    settings: &BootstrapSettings,
) -> Result<BootstrapResult, StatsError> {
    check_settings(settings)?;
    check::finite("values", values)?;
    let plan = Plan::Rows { n: values.len() };
    let mut result = empty(settings, plan.clone());
    let moments = moments(values);
    result.estimate = Some(moments.mean);
    result.undefined = plan.too_few();
    if result.undefined.is_none() {
        let drawn = match moments.varies {
            true => Replicates::draw_means(values, settings),
            // Equal values give equal means, whatever is drawn.
            false => Replicates::all_equal(moments.mean),
        };
        let n = values.len() as f64;
        // Leaving value i out moves the mean by (mean − value) / (n − 1).
        let mean_without = |v: &f64| moments.mean + (moments.mean - v) / (n - 1.0);
        result.read_off(moments.mean, drawn, || Some(values.iter().map(mean_without).collect()));
    }
    Ok(result)
}

impl BootstrapResult {
    fn read_off(
        &mut self,
        estimate: f64,
        drawn: Replicates,
        jackknife: impl FnOnce() -> Option<Vec<f64>>,
    ) {
        self.undefined_replicates = drawn.undefined;
        if drawn.sorted.len() < drawn.undefined.max(1) {
            self.undefined = Some(Undefined::Replicates);
            return;
        }
        self.degenerate = drawn.all_near(estimate);
        if self.degenerate {
            (self.low, self.high) = (Some(estimate), Some(estimate));
            self.standard_error = Some(0.0);
            return;
        }
        let sd = moments(&drawn.sorted).sd;
        self.standard_error = sd.filter(|sd| sd.is_finite());
        match self.settings.method {
            IntervalMethod::Percentile => {
                let levels = interval::percentile_levels(self.settings.confidence);
                (self.low, self.high) = drawn.at(levels);
            }
            IntervalMethod::Bca => {
                self.bias = drawn.bias(estimate);
                self.acceleration = jackknife().and_then(|values| interval::acceleration(&values));
                let confidence = self.settings.confidence;
                match interval::bca_levels(self.bias, self.acceleration, confidence) {
                    Ok(levels) => (self.low, self.high) = drawn.at(levels),
                    Err(reason) => self.undefined = Some(reason),
                }
            }
        }
    }
}

fn empty(settings: &BootstrapSettings, plan: Plan) -> BootstrapResult {
    BootstrapResult {
        settings: *settings,
        plan,
        estimate: None,
        low: None,
        high: None,
        standard_error: None,
        bias: None,
        acceleration: None,
        undefined_replicates: 0,
        degenerate: false,
        undefined: None,
    }
}

fn check_settings(settings: &BootstrapSettings) -> Result<(), StatsError> {
    check::level("confidence", settings.confidence)?;
    if !(2..=MAX_REPLICATES).contains(&settings.replicates) {
        let value = settings.replicates.to_string();
        let expected = "2 to 10,000,000; some thousands for an interval";
        return Err(StatsError::Setting { name: "replicates", value, expected });
    }
    Ok(())
}
