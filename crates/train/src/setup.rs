//! A prepared run: its parts, labels, network and data. They depend on its plan and seed only.

use std::sync::Arc;

use dissensus_core::ClassSet;
use dissensus_engine::{Dataset, Loss, Network};
use dissensus_labels::{Prepared, Source};
use dissensus_measure::Truth;

use crate::scores::check_selects;
use crate::{RunPlan, SplitError, Task, TrainError, split};

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
    /// How many visits an epoch has: one per training item, or one per sample of the delivery.
    pub fn visits(&self) -> usize {
        self.labels.samples().map_or(self.train.len(), |samples| samples.labels.len())
    }

    /// Prepares a run.
    pub fn new(task: &Task, plan: &RunPlan) -> Result<Self, TrainError> {
        let classes = task.table().classes();
        check_loss(plan.training.loss, classes)?;
        let how = &plan.split;
        let mut parts = parts(task, plan)?.into_iter();
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
            network: Arc::new(plan.network(dataset.shape(), classes.len())?),
            dataset,
            train: train.into_iter().map(|place| place as u32).collect(),
            labels,
            parts,
            selecting,
        })
    }
}

/// Refuses a loss that compares classes in their order where they are not in one: numbers that neither
/// rise nor fall. Names that are no numbers may be in any order.
pub fn check_loss(loss: Loss, classes: &ClassSet) -> Result<(), TrainError> {
    let number = |name: &String| name.parse().ok().filter(|number: &f64| number.is_finite());
    let numbers: Option<Vec<f64>> = classes.names().iter().map(number).collect();
    let ordered = numbers.is_none_or(|numbers| {
        numbers.is_sorted() || numbers.is_sorted_by(|first, second| first >= second)
    });
    if !loss.entry().ordered || ordered {
        return Ok(());
    }
    let why = format!(
        "compares classes in their order, and these are numbers in another order: {}; set \
         data.classes to the classes in the order of their scale",
        classes.names().join(", ")
    );
    Err(TrainError::Loss { loss: loss.name(), why })
}

/// The places of the items of each part of a run's split, training first.
pub fn parts(task: &Task, plan: &RunPlan) -> Result<Vec<Vec<usize>>, TrainError> {
    let how = &plan.split;
    if let (Some(given), true) = (task.split(), how.shares.is_empty()) {
        // With two parts, the test part is called the evaluation part.
        let known = |name: &String| if name == "evaluation" { "test" } else { name }.to_owned();
        let wanted: Vec<String> = how.parts.iter().map(known).collect();
        if !given.iter().map(|(name, _)| name).eq(&wanted) {
            let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
            let (given, wanted) = (names.join(", "), how.parts.join("/"));
            return Err(SplitError::OtherParts { given, wanted }.into());
        }
        return Ok(given.iter().map(|(_, places)| places.clone()).collect());
    }
    check_shares(task, plan)?;
    let own = task.own();
    let majority = &task.truth().majority()[own.clone()];
    let mut parts = split(majority, &task.keys()[own], &how.shares, how.stratify, how.seed)?;
    parts.extend(task.judged().map(Iterator::collect::<Vec<usize>>));
    Ok(parts)
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
