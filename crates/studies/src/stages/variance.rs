//! Whether the noise of drawn labels falls where people disagree: the variance of the last layer's
//! gradient of each item when its label is drawn from its votes, against their entropy.

use std::sync::Arc;

use dissensus_examine::{VarianceSettings, variance};
use dissensus_report::book::{Direction, Metric};
use dissensus_stats::correlation::{CorrelationSettings, pearson};
use serde_json::{Value, json};

use super::examiner::trained_by;
use super::kept::ItemColumns;
use super::{Examiner, Found, Kept, Read, StageEntry};
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Job, Material, Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "variance",
    about: "the variance of the last layer's gradient against entropy; needs the weights",
    always: false,
    keys: &[],
    template: r#"# The variance of the last layer's gradient under drawn labels, against the entropy of the votes.
[stages.variance]
arms = ["soft"]
ks = ["all"]
# precision = "f32"
"#,
    read: Read::Examiner(read),
};

const SPEARMAN: &str = "variance_spearman";
const PEARSON: &str = "variance_pearson";
const MEAN: &str = "gradient_variance_mean";
const COLUMN: &str = "gradient_variance";

struct OfGradients;

fn read(_: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    Ok(Arc::new(OfGradients))
}

impl Examiner for OfGradients {
    fn settings(&self) -> Value {
        json!({})
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |name: &str, title: &str, digits, what: &str, formula: &str| Metric {
            name: name.into(),
            title: title.into(),
            better: Direction::Neither,
            digits,
            what: what.into(),
            formula: formula.into(),
            settings: "over the items of the reported part, at the selected epoch".into(),
            source: "the covariance of ∇_z of −ln q_y for y drawn from p is Diag(p) − ppᵀ".into(),
        };
        let both = "over items of (1 − ‖p‖²)(‖h‖² + 1) and −Σ_k p_k ln p_k, with the features h that \
                    the last layer reads";
        vec![
            metric(
                SPEARMAN,
                "variance corr. (ranks)",
                3,
                "Spearman's correlation of an item's gradient variance with the entropy of its votes",
                &format!("ρ {both}"),
            ),
            metric(
                PEARSON,
                "variance corr.",
                3,
                "Pearson's correlation of an item's gradient variance with the entropy of its votes",
                &format!("r {both}"),
            ),
            metric(
                MEAN,
                "gradient variance",
                4,
                "The mean variance of the last layer's gradient when labels are drawn from votes",
                "the mean over items of (1 − ‖p‖²)(‖h‖² + 1)",
            ),
        ]
    }

    fn columns(&self) -> &'static [&'static str] {
        &[COLUMN]
    }

    fn derive(&self, kept: &mut Kept, _: &Job, material: &Material) -> Result<(), StudyError> {
        let Some(items) = &kept.items else { return Ok(()) };
        let Some(variances) = items.column(COLUMN) else { return Ok(()) };
        let known = material.task.table().items();
        let entropies = material.task.truth().entropy();
        let pairs = items.ids.iter().zip(variances);
        let (x, y): (Vec<f64>, Vec<f64>) = pairs
            .filter_map(|(id, variance)| Some(((*variance)?, entropies[known.position(id)?])))
            .unzip();
        let found = pearson(&x, &y, &CorrelationSettings::default());
        kept.numbers.push(Number::new(PEARSON, "all", found.ok().and_then(|found| found.r)));
        Ok(())
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        let mut all = Vec::new();
        for run in runs {
            trained_by(run, "variance", |loss| !loss.noise_depends_on_outputs())?;
            let mut model = models.open(run)?;
            let found = variance(&mut model, &VarianceSettings::default(), &models.observer)?;
            let values = found.items.iter().map(|item| Some(item.variance)).collect();
            let items = ItemColumns {
                ids: found.items.iter().map(|item| item.item.clone()).collect(),
                columns: vec![(COLUMN.to_owned(), values)],
            };
            let numbers = vec![
                Number::new(SPEARMAN, "all", found.correlation.r),
                Number::new(MEAN, "all", Some(found.mean)),
            ];
            all.push(Some(Kept { items: Some(items), ..Kept::of(numbers) }));
        }
        Ok(all)
    }
}
