//! How much the last layer's gradient of each item varies when its label is drawn from its votes,
//! beside how much people disagree on it.
//!
//! The trace of the covariance is (1 − ‖p‖²)(‖h‖² + 1) with the votes' shares p and the features h, where the
//! loss is the softmax or the binary cross-entropy; for other losses see [`dissensus_engine::Loss`].
//! Its rank correlation with the entropy of p says whether the noise of drawn labels falls where
//! people disagree.

use dissensus_geometry::variance::{closed_form, sampled};
use dissensus_stats::correlation::{CorrelationResult, CorrelationSettings, spearman};
use serde::{Deserialize, Serialize};

use crate::{ExamineError, Model, Observer, Slice};

/// What to ask of the variance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct VarianceSettings {
    /// Which part of the split; `None` for the one that is reported.
    pub part: Option<String>,
    /// Labels that are drawn for every item to check the closed form; 0 for none.
    pub draws: usize,
    /// The seed of these draws.
    pub seed: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemVariance {
    /// Its id.
    pub item: String,
    /// How much people disagree on it, in nats.
    pub entropy: f64,
    /// The trace of the covariance.
    pub variance: f64,
    /// The same from drawn labels, where asked for.
    pub sampled: Option<f64>,
}

/// The variances of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variance {
    pub run: String,
    pub settings: VarianceSettings,
    /// The part of the split.
    pub part: String,
    /// The mean over its items.
    pub mean: f64,
    /// Variance against annotator entropy, over items.
    pub correlation: CorrelationResult,
    /// The mean over items from drawn labels, where asked for.
    pub sampled_mean: Option<f64>,
    /// The items, in the order of the part.
    pub items: Vec<ItemVariance>,
}

/// The variance of every item of a part.
pub fn variance(
    model: &mut Model,
    settings: &VarianceSettings,
    observer: &Observer<'_>,
) -> Result<Variance, ExamineError> {
    let chosen = model.chosen(settings.part.as_deref(), Slice::All, 2)?;
    let part = model.part(settings.part.as_deref())?;
    let (truth, classes) = (part.truth.clone(), part.truth.classes());
    let features = model.features(&chosen.rows, observer)?;
    let (loss, p) = (model.network().head().loss, truth.targets());
    let outputs = match loss.noise_depends_on_outputs() || settings.draws > 0 {
        true => model.outputs(&chosen.rows, observer)?,
        false => Vec::new(),
    };
    let exact = closed_form(loss, p, classes, &outputs, &features)?;
    let drawn = match settings.draws {
        0 => None,
        draws => {
            let found = sampled(loss, p, classes, &outputs, &features, draws, settings.seed)?;
            observer.advanced("drawn labels", draws, draws)?;
            Some(found)
        }
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let item = |(at, &row): (usize, &u32)| ItemVariance {
        item: model.items().name(row as usize).to_owned(),
        entropy: truth.entropy()[at],
        variance: exact[at],
        sampled: drawn.as_ref().map(|drawn| drawn[at]),
    };
    Ok(Variance {
        run: model.id().to_owned(),
        settings: settings.clone(),
        part: chosen.part,
        mean: mean(&exact),
        correlation: spearman(&exact, truth.entropy(), &CorrelationSettings::default())?,
        sampled_mean: drawn.as_deref().map(mean),
        items: chosen.rows.iter().enumerate().map(item).collect(),
    })
}
