//! How well a part of the split is predicted.

use std::sync::Arc;

use dissensus_measure::{Judged, METRICS, Matrix, Metric, ModelOutput, Scorer, Truth, metric};

use crate::{Metrics, Part, TrainError};

/// Every metric of a part's logits.
pub fn scores(truth: &Arc<Truth>, logits: &[f32]) -> Result<Metrics, TrainError> {
    let judged = judged(truth, logits)?;
    let scorer = Scorer::new(&judged, Default::default())?;
    let score = |metric: &Metric| (metric.about.name, (metric.compute)(&scorer).value);
    Ok(METRICS.iter().map(score).collect())
}

/// These metrics of a part's logits, in this order; `None` where one is undefined.
pub(crate) fn some_scores(
    truth: &Arc<Truth>,
    logits: &[f32],
    names: &[&str],
) -> Result<Vec<Option<f64>>, TrainError> {
    let judged = judged(truth, logits)?;
    let scorer = Scorer::new(&judged, Default::default())?;
    let value = |name: &&str| metric(name).and_then(|metric| (metric.compute)(&scorer).value);
    Ok(names.iter().map(value).collect())
}

fn judged(truth: &Arc<Truth>, logits: &[f32]) -> Result<Judged, TrainError> {
    let matrix = Matrix::new(logits, truth.classes())?;
    Ok(Judged::new(truth.clone(), ModelOutput::Logits(matrix))?)
}

/// Refuses a metric that no predictions of a part can give a value: one that compares with labels
/// that are not there, or with entropies that do not vary. Better before training than after it.
pub(crate) fn check_selects(part: &Part, name: &str) -> Result<(), TrainError> {
    let (rows, classes) = (part.rows.len(), part.truth.classes());
    // Every row is surer of its class than the last, and the classes take turns.
    let cell = |at: usize| {
        let (row, class) = (at / classes, at % classes);
        if row % classes == class { 1.0 + row as f32 / rows as f32 } else { 0.0 }
    };
    let logits: Vec<f32> = (0..rows * classes).map(cell).collect();
    if some_scores(&part.truth, &logits, &[name])?.contains(&None) {
        let settings = metric(name).map_or("", |metric| metric.about.settings);
        return Err(TrainError::Data(format!(
            "selection.metric is {name}, which is undefined on {} whatever is predicted \
             ({settings}); select by another metric, such as soft_nll",
            part.name
        )));
    }
    Ok(())
}
