//! A finished run with its data, as stages see it.

use std::sync::Arc;

use dissensus_measure::{Judged, Matrix, ModelOutput};
use dissensus_store::{RunInfo, Which};
use dissensus_train::RunResult;

use crate::{Job, Material, StudyError};

/// A finished run with its data.
pub(crate) struct Finished<'a> {
    /// What it is in the study.
    pub(crate) job: &'a Job,
    /// What the store has of it.
    pub(crate) info: &'a RunInfo,
    /// Its result.
    pub(crate) result: &'a RunResult,
    /// What it was trained and judged on.
    pub(crate) material: &'a Material,
}

impl Finished<'_> {
    /// Its predictions on the part that is reported, judged; and where these items are in the data.
    pub(crate) fn judged(&self, which: Which) -> Result<(Vec<usize>, Judged), StudyError> {
        let wrong = |reason: String| StudyError::Run { id: self.info.id.clone(), reason };
        let Some(found) = self.info.predictions(which)? else {
            return Err(wrong(format!("it has no predictions of its {} epoch", which.name())));
        };
        let table = self.material.task.table();
        if found.classes() != table.classes().names() {
            return Err(wrong("its predictions have other classes than its data".into()));
        }
        let place = |id: &String| {
            let at = table.items().position(id);
            at.ok_or_else(|| wrong(format!("it predicts {id:?}, which is not in its data")))
        };
        let places = found.ids().iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let truth = Arc::new(self.material.task.truth().select(&places)?);
        let logits = Matrix::new(found.logits(), truth.classes())?;
        Ok((places, Judged::new(truth, ModelOutput::Logits(logits))?))
    }
}
