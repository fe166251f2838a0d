//! What a data set gives a study: votes and inputs to train on, and what else is known of the items.

use std::collections::HashMap;

use dissensus_inputs::Inputs;
use dissensus_measure::Truth;
use dissensus_train::Task;

/// A loaded data set.
pub struct Material {
    /// Votes and inputs.
    pub task: Task,
    /// The items' texts by id, for people to read; empty where they have none.
    pub texts: HashMap<String, String>,
    /// The items' pictures, to look at, where the task has something else of them, such as vectors by
    /// an encoder.
    pub pictures: Option<Inputs>,
    /// The distributions that the votes were drawn from, in the order of the task's items; `None`
    /// where nobody knows them.
    pub truth: Option<Truth>,
}

impl From<Task> for Material {
    fn from(task: Task) -> Self {
        Self { task, texts: HashMap::new(), pictures: None, truth: None }
    }
}
