//! Soft NLL at a temperature that is fitted on the validation part and applied to the reported part, so
//! that no item is judged that the temperature was fitted to.

use std::sync::Arc;

use dissensus_measure::{Judged, Matrix, ModelOutput, Scorer, Settings, metric};
use dissensus_report::book::Metric;
use dissensus_store::Which;
use serde_json::{Value, json};

use super::{Examiner, Found, Kept, described};
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Number, StudyError};

/// The part that the temperature is fitted on.
const PART: &str = "validation";

const TEMPERATURE: &str = "temperature_validation";
const NLL: &str = "soft_nll_validation_tempered";

struct Temperature;

pub(super) fn read(_: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    Ok(Arc::new(Temperature))
}

impl Examiner for Temperature {
    fn settings(&self) -> Value {
        json!({})
    }

    fn metrics(&self) -> Vec<Metric> {
        let of = |known: &str, name: &str, title: &str, what: &str, formula: &str| {
            metric(known).map(|known| Metric {
                name: name.into(),
                title: title.into(),
                what: what.into(),
                formula: formula.into(),
                settings:
                    "the temperature is fitted on the validation part, between 0.01 and 100; at \
                           the selected epoch"
                        .into(),
                ..described(known)
            })
        };
        let fitted = "the T of least mean over validation items of −Σ_k p_k ln q_k(T), q_k(T) = \
                      q_k^(1/T) / Σ_j q_j^(1/T)";
        let metrics = [
            of(
                "temperature",
                TEMPERATURE,
                "T, validation",
                "Best temperature on the validation part; above 1 where predictions are overconfident",
                fitted,
            ),
            of(
                "soft_nll_tempered",
                NLL,
                "soft NLL, T from validation",
                "Soft negative log-likelihood at the best temperature of the validation part",
                "mean over items of the reported part of −Σ_k p_k ln q_k(T), with the T of \
                 temperature_validation",
            ),
        ];
        metrics.into_iter().flatten().collect()
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        runs.iter().map(|run| fitted(run, models).map(Some)).collect()
    }
}

fn fitted(run: &Finished<'_>, models: &Models<'_>) -> Result<Kept, StudyError> {
    let mut model = models.open(run)?;
    let part = model.part(Some(PART))?;
    let (rows, truth) = (part.rows.clone(), part.truth.clone());
    let logits = model.logits(&rows, &models.observer)?;
    let logits = ModelOutput::Logits(Matrix::new(&logits[..], truth.classes())?);
    let validation = Judged::new(truth, logits)?;
    let best = Scorer::new(&validation, Settings::default())?.tempered();
    let temperature = best.map(|best| best.temperature);
    let (_, reported) = run.judged(Which::Best)?;
    let scorer = Scorer::new(&reported, Settings::default())?;
    let nll = temperature.and_then(|temperature| scorer.soft_nll_at(temperature));
    Ok(Kept::of(vec![Number::new(TEMPERATURE, "all", temperature), Number::new(NLL, "all", nll)]))
}
