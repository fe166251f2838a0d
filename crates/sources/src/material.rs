//! A loaded dataset of a study: votes, inputs, and what else is known of the items.

use std::collections::HashMap;

use dissensus_inputs::Inputs;
use dissensus_measure::Truth;
use dissensus_train::Task;

/// A loaded dataset.
pub struct Material {
    /// Votes and inputs.
    pub task: Task,
    /// The items' texts by id, for reports; empty where they have none.
    pub texts: HashMap<String, String>,
    /// The items' images, for reports, where the task has other inputs, such as encoded vectors.
    pub pictures: Option<Inputs>,
    /// The distributions that the votes were drawn from, in the order of the task's items; `None` where
    /// they are not known.
    pub truth: Option<Truth>,
}

impl From<Task> for Material {
    fn from(task: Task) -> Self {
        Self { task, texts: HashMap::new(), pictures: None, truth: None }
    }
}
