//! Whether the noise of drawn labels falls where people disagree: the variance of the last layer's
//! gradient of each item when its label is drawn from its votes, against their entropy.

use std::sync::Arc;

use dissensus_engine::Precision;
use dissensus_examine::{Observer, VarianceSettings, variance};
use dissensus_report::book::{Better, Metric};
use dissensus_stats::correlation::{CorrelationSettings, pearson};
use serde_json::{Value, json};

use super::kept::ItemColumns;
use super::settings::{self, precision};
use super::{Among, Examiner, Info, Kept, Made};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Bench, Material, Number, StudyError};

pub(super) const INFO: Info = Info {
    name: "variance",
    about: "the variance of the last layer's gradient against entropy; needs the weights",
    always: false,
    read,
};

const SPEARMAN: &str = "variance_spearman";
const PEARSON: &str = "variance_pearson";
const MEAN: &str = "gradient_variance_mean";
const COLUMN: &str = "gradient_variance";

struct OfGradients {
    among: Among,
    precision: Precision,
}

fn read(section: Option<&Section<'_, '_, '_>>, _: &[SliceRule]) -> Result<Made, StudyError> {
    let among = settings::among(section, &["precision"])?;
    let precision = section.map(precision).transpose()?.unwrap_or_default();
    Ok(Made::Examiner(Arc::new(OfGradients { among, precision })))
}

impl Examiner for OfGradients {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn settings(&self) -> Value {
        json!({ "format": 1, "precision": self.precision })
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |name: &str, title: &str, digits, what: &str, formula: &str| Metric {
            name: name.into(),
            title: title.into(),
            better: Better::Neither,
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

    fn among(&self) -> &Among {
        &self.among
    }

    fn columns(&self) -> &'static [&'static str] {
        &[COLUMN]
    }

    fn derived(&self, kept: &Kept, material: &Material) -> Vec<Number> {
        let Some(items) = &kept.items else { return Vec::new() };
        let Some((_, variances)) = items.columns.iter().find(|(name, _)| name == COLUMN) else {
            return Vec::new();
        };
        let known = material.task.table().items();
        let entropies = material.task.truth().entropy();
        let pairs = items.ids.iter().zip(variances);
        let (x, y): (Vec<f64>, Vec<f64>) = pairs
            .filter_map(|(id, variance)| Some(((*variance)?, entropies[known.position(id)?])))
            .unzip();
        let found = pearson(&x, &y, &CorrelationSettings::default());
        vec![Number::new(PEARSON, "all", found.ok().and_then(|found| found.r))]
    }

    fn examine(
        &self,
        runs: &[Finished<'_>],
        bench: &Bench<'_>,
        observer: &Observer<'_>,
    ) -> Result<Vec<Option<Kept>>, StudyError> {
        let mut all = Vec::new();
        for run in runs {
            let mut model = bench.open(run, self.precision)?;
            let found = variance(&mut model, &VarianceSettings::default(), observer)?;
            let values = found.items.iter().map(|item| Some(item.variance)).collect();
            let items = ItemColumns {
                ids: found.items.iter().map(|item| item.item.clone()).collect(),
                columns: vec![(COLUMN.to_owned(), values)],
            };
            let numbers = vec![
                Number::new(SPEARMAN, "all", found.correlation.r),
                Number::new(MEAN, "all", Some(found.mean)),
            ];
            all.push(Some(Kept { numbers, items: Some(items), ..Kept::default() }));
        }
        Ok(all)
    }
}
