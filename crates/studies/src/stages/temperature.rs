//! Soft NLL at a temperature that is fitted on the validation part and applied to the reported part, so
//! that no item is judged that the temperature was fitted to. Training measures the temperature, so that
//! no weights are needed. Runs without a validation part have no such numbers.

use std::sync::Arc;

use dissensus_measure::{Scorer, Settings, metric};
use dissensus_report::book::Metric;
use dissensus_store::Which;
use serde_json::{Value, json};

use super::{Read, Stage, StageEntry, described};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "temperature",
    about: "soft NLL at a temperature fitted on the validation part",
    always: false,
    keys: &[],
    template: r#"# Soft NLL at a temperature fitted on the validation part; for `split.parts = "train/validation/test"`.
# [stages.temperature]
"#,
    read: Read::Stage(read),
};

/// The part that the temperature is fitted on.
const PART: &str = "validation";

const TEMPERATURE: &str = "temperature_validation";
const NLL: &str = "soft_nll_validation_tempered";

struct Temperature;

fn read(_: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Stage>, StudyError> {
    Ok(Arc::new(Temperature))
}

impl Stage for Temperature {
    fn settings(&self) -> Value {
        json!({ "format": 1 })
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

    fn numbers(&self, run: &Finished<'_>) -> Result<Vec<Number>, StudyError> {
        let Some(part) = run.result.part(PART) else { return Ok(Vec::new()) };
        let temperature = part.metrics(Which::Best).get("temperature");
        let (_, reported) = run.judged(Which::Best)?;
        let scorer = Scorer::new(&reported, Settings::default())?;
        let nll = temperature.and_then(|temperature| scorer.soft_nll_at(temperature));
        Ok(vec![Number::new(TEMPERATURE, "all", temperature), Number::new(NLL, "all", nll)])
    }
}
