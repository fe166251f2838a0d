//! How far predictions are from the distributions that votes were drawn from, where these are known:
//! generated data alone can say.

use std::sync::Arc;

use dissensus_measure::{Judged, Matrix, ModelOutput, Scorer, Settings, metric};
use dissensus_report::book::{Direction, Metric};
use dissensus_store::Which;
use serde_json::{Value, json};

use super::{Read, Stage, StageEntry};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Material, Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "truth",
    about: "distance to the distributions that the votes were drawn from, where they are known",
    always: false,
    keys: &[],
    template: r#"# Distance to the distributions that votes were drawn from, for generated data.
[stages.truth]
"#,
    read: Read::Stage(read),
};

/// The metric it gives.
const TRUE_KL: &str = "true_kl";

struct TrueKl;

fn read(_: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Stage>, StudyError> {
    Ok(Arc::new(TrueKl))
}

impl Stage for TrueKl {
    fn settings(&self) -> Value {
        json!({ "format": 1 })
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![Metric {
            name: TRUE_KL.into(),
            title: "KL to p*".into(),
            better: Direction::Lower,
            digits: 4,
            what: "Kullback–Leibler divergence KL(p*‖q) to the true distribution p*, which the \
                   votes were drawn from"
                .into(),
            formula: "mean over items of Σ_k p*_k ln(p*_k / q_k)".into(),
            settings: "known for generated data alone".into(),
            source: "Kullback and Leibler, On information and sufficiency, Ann. Math. Stat. 22 \
                     (1951)"
                .into(),
        }]
    }

    fn numbers(&self, run: &Finished<'_>) -> Result<Vec<Number>, StudyError> {
        if run.material.truth.is_none() {
            return Ok(vec![Number::new(TRUE_KL, "all", None)]);
        }
        let (places, judged) = run.judged(Which::Best)?;
        self.of_predictions(run.material, &places, &judged, None)
    }

    fn of_predictions(
        &self,
        material: &Material,
        places: &[usize],
        judged: &Judged,
        _: Option<&[&str]>,
    ) -> Result<Vec<Number>, StudyError> {
        let Some(truth) = &material.truth else { return Ok(Vec::new()) };
        let classes = judged.truth().classes();
        let output = ModelOutput::Probabilities(Matrix::new(judged.predictions(), classes)?);
        let judged = Judged::new(Arc::new(truth.select(places)?), output)?;
        let scorer = Scorer::new(&judged, Settings::default())?;
        let value = metric("kl").and_then(|kl| (kl.compute)(&scorer).value);
        Ok(vec![Number::new(TRUE_KL, "all", value)])
    }

    /// Whether the truth is at hand is no part of its settings.
    fn is_kept(&self) -> bool {
        false
    }
}
