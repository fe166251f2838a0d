//! How the loss curves around a run's weights: the largest eigenvalue and the trace of the Hessian of
//! the soft NLL against all votes, over the reported part, on all items and on chosen slices, at the
//! selected epoch, the last one or both.
//!
//! λ_max is found by power iteration, the trace by Hutchinson's probes; the error of each stands
//! beside it as a metric of its own.

use std::sync::Arc;

use dissensus_engine::Loss;
use dissensus_examine::{CurvatureSettings, Model, Observer, Slice, curvature};
use dissensus_geometry::curvature::{Estimate, PowerSettings, TraceSettings};
use dissensus_report::book::{Direction, Metric};
use dissensus_store::Which;
use serde_json::{Value, json};

use super::examiner::trained_by;
use super::settings::{self, MANY, count, share};
use super::{Examiner, Found, Kept, Read, StageEntry};
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "geometry",
    about: "the largest eigenvalue and the trace of the Hessian; needs the weights",
    always: false,
    keys: &["which", "slices", "iterations", "tolerance", "probes", "trace_tolerance", "seed"],
    template: r#"# λ_max and the trace of the Hessian of the loss.
[stages.geometry]
arms = ["soft", "sls"]
ks = ["all"]
seeds = 2
# also = [{ arms = ["sls"], ks = [5], seeds = 1 }]
# "best", "last" or "both".
# which = "best"
# Slices beside all items. Default: all slices.
slices = ["divided"]
# The largest number of products of the power iteration, and the relative error at which it ends.
iterations = 20
# tolerance = 0.01
# The largest number of random probes for the trace, and the relative error at which they end.
probes = 10
# trace_tolerance = 0.02
# precision = "f32"
# seed = 0
"#,
    read: Read::Examiner(read),
};

const LAMBDA_MAX: &str = "lambda_max";
const TRACE: &str = "hessian_trace";
/// Behind the name of an estimate's error.
const ERROR: &str = ".error";

struct Geometry {
    which: Vec<Which>,
    slices: Vec<SliceRule>,
    power: PowerSettings,
    trace: TraceSettings,
}

fn read(section: &Section<'_>, known: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    let (mut power, mut trace) = (PowerSettings::default(), TraceSettings::default());
    power.most = count(section, "iterations", MANY)?.unwrap_or(power.most);
    power.tolerance = share(section, "tolerance")?.unwrap_or(power.tolerance);
    trace.most = count(section, "probes", MANY)?.unwrap_or(trace.most);
    trace.least = trace.least.min(trace.most);
    trace.tolerance = share(section, "trace_tolerance")?.unwrap_or(trace.tolerance);
    (power.seed, trace.seed) = (settings::seed(section)?, settings::seed(section)?);
    let which = settings::which(section, &[Which::Best])?;
    let slices = settings::slices(section, known)?;
    Ok(Arc::new(Geometry { which, slices, power, trace }))
}

impl Geometry {
    /// All items, and the slices.
    fn places(&self) -> impl Iterator<Item = (&str, Slice)> {
        let own = self.slices.iter().map(|rule| (rule.name.as_str(), rule.by));
        std::iter::once(("all", Slice::All)).chain(own)
    }

    /// The curvature of one model on all items and on the slices.
    fn look(
        &self,
        model: &mut Model,
        which: Which,
        kept: &mut Kept,
        observer: &Observer<'_>,
    ) -> Result<(), StudyError> {
        for (name, slice) in self.places() {
            let asked = CurvatureSettings {
                slice,
                power: Some(self.power),
                trace: Some(self.trace),
                ..CurvatureSettings::default()
            };
            let found = curvature(model, &asked, observer)?;
            let mut number = |metric: &str, estimate: Option<Estimate>| {
                let value = estimate.map(|one| one.value);
                let error = estimate.and_then(|one| one.error);
                let named = |metric: &str| settings::named(metric, which);
                kept.numbers.push(Number::new(&named(metric), name, value));
                kept.numbers.push(Number::new(&named(&format!("{metric}{ERROR}")), name, error));
            };
            number(LAMBDA_MAX, found.lambda_max());
            number(TRACE, found.trace());
        }
        Ok(())
    }
}

impl Examiner for Geometry {
    fn settings(&self) -> Value {
        let mut settings = json!({
            "slices": settings::told(&self.slices),
            "power": self.power,
            "trace": self.trace,
        });
        // Not said of the selected epoch alone, so that what was kept before others could be chosen
        // is found.
        if self.which != [Which::Best] {
            settings["which"] = self.which.iter().map(|which| which.name()).collect();
        }
        settings
    }

    fn metrics(&self) -> Vec<Metric> {
        let over = "over the items of the reported part, against all votes; \
                    batch statistics frozen";
        let metric =
            |name: &str, title: &str, what: &str, formula: &str, settings: String| Metric {
                name: name.into(),
                title: title.into(),
                better: Direction::Neither,
                digits: 1,
                what: what.into(),
                formula: formula.into(),
                settings,
                source: "Yao, Gholami, Keutzer and Mahoney, PyHessian (2020)".into(),
            };
        let power = format!(
            "{over}. Power iteration from a seeded start, at most {} products, until two in a row \
             differ by less than {} of the value",
            self.power.most, self.power.tolerance
        );
        let trace = format!(
            "{over}. Rademacher probes, {} to {}, until the standard error is below {} of the value",
            self.trace.least, self.trace.most, self.trace.tolerance
        );
        let metrics = [
            metric(
                LAMBDA_MAX,
                "λ_max",
                "The largest eigenvalue of the Hessian of the soft NLL: how sharp the loss is",
                "max_v vᵀHv / vᵀv with H = ∇²_θ of the mean of −Σ_k p_k ln q_k",
                power.clone(),
            ),
            metric(
                &format!("{LAMBDA_MAX}{ERROR}"),
                "error of λ_max",
                "How far the estimate of λ_max may be off",
                "the residual ‖Hv − λv‖ of the last vector",
                power,
            ),
            metric(
                TRACE,
                "trace",
                "The trace of the same Hessian: the sum of all eigenvalues",
                "the mean of vᵀHv over probes v of random signs",
                trace.clone(),
            ),
            metric(
                &format!("{TRACE}{ERROR}"),
                "error of the trace",
                "The standard error of the trace over probes",
                "sd / √probes",
                trace,
            ),
        ];
        let of = |&which: &Which| metrics.clone().map(|metric| settings::said(metric, which));
        self.which.iter().flat_map(of).collect()
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        let mut all = Vec::new();
        for run in runs {
            trained_by(run, "geometry", |loss| loss == Loss::CrossEntropy)?;
            let mut kept = Kept::default();
            for &which in &self.which {
                let mut model = models.open_at(run, which)?;
                self.look(&mut model, which, &mut kept, &models.observer)?;
            }
            all.push(Some(kept));
        }
        Ok(all)
    }
}
