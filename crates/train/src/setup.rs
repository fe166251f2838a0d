//! A prepared run: its parts, labels, network and data. They depend on its plan and seed only.

use std::sync::Arc;

use dissensus_engine::{Dataset, Network};
use dissensus_labels::{Prepared, Source};
use dissensus_measure::Truth;

use crate::scores::check_selects;
use crate::{RunPlan, Task, TrainError, split};

/// A part of the split that is evaluated.
pub struct Part {
    /// Its name, as in the spec.
    pub name: String,
    /// Rows of the data.
    pub rows: Vec<u32>,
    /// The votes on them.
    pub truth: Arc<Truth>,
}

/// A run that is ready to start.
pub struct Setup {
    /// The network.
    pub network: Arc<Network>,
    /// All data; parts are rows of it.
    pub dataset: Dataset,
    /// Rows to train on, sorted by key, so that nothing depends on the order of the data.
    pub train: Vec<u32>,
    /// Their labels, in the same order.
    pub labels: Prepared,
    /// The other parts, in the order of the spec; the last is the one that is reported.
    pub parts: Vec<Part>,
    /// Which of them selects the best epoch.
    pub selecting: usize,
}

impl Setup {
    /// Prepares a run.
    pub fn new(task: &Task, plan: &RunPlan) -> Result<Self, TrainError> {
        let classes = task.table().classes().len();
        let own = task.own();
        let majority = &task.truth().majority()[own.clone()];
        let how = &plan.split;
        check_shares(task, plan)?;
        let split = split(majority, &task.keys()[own], &how.shares, how.stratify, how.seed)?;
        let judged = task.judged().map(Iterator::collect::<Vec<usize>>);
        let mut parts = split.into_iter().chain(judged);
        let mut train = parts.next().unwrap_or_default();
        let dataset = task.dataset(&train);
        train.sort_unstable_by_key(|&place| (task.keys()[place], place));

        let table = task.table().select(&train);
        let estimated = plan.estimated(&table)?;
        let labels = plan.delivery.prepare(&Source::new(&estimated)?, plan.seed)?;

        let named = how.parts.iter().skip(1).zip(parts);
        let parts = named
            .map(|(name, places)| {
                let truth = Arc::new(task.truth().select(&places)?);
                let rows = places.iter().map(|&place| place as u32).collect();
                Ok(Part { name: name.clone(), rows, truth })
            })
            .collect::<Result<Vec<Part>, TrainError>>()?;
        let on = &plan.selection.on;
        let selecting = parts
            .iter()
            .position(|part| part.name == *on)
            .ok_or_else(|| TrainError::Data(format!("the split has no part `{on}`")))?;
        check_selects(&parts[selecting], &plan.selection.metric)?;
        Ok(Self {
            network: Arc::new(plan.model.network(dataset.shape(), classes)?),
            dataset,
            train: train.into_iter().map(|place| place as u32).collect(),
            labels,
            parts,
            selecting,
        })
    }
}

/// A share for each part; none for the last where that is another data set.
fn check_shares(task: &Task, plan: &RunPlan) -> Result<(), TrainError> {
    let (parts, shares) = (&plan.split.parts, &plan.split.shares);
    let judged = task.identity().judged_on.as_ref();
    if shares.len() + usize::from(judged.is_some()) == parts.len() {
        return Ok(());
    }
    let but = judged.map_or(String::new(), |data| format!(" but the last, which is {}", data.name));
    Err(TrainError::Data(format!(
        "the split has the parts {} and the shares {shares:?}; expected one for each part{but}",
        parts.join(", ")
    )))
}
