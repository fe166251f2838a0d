//! How alike what the seeds of an arm learned is: linear CKA of the features that the last layer
//! reads, of a run with every other seed of its arm, the mean of them.
//!
//! Seeds have splits of their own, and hardly an item is held out by all of them; so all are compared
//! on one fixed set of items of the data, drawn by a seed, whoever was trained on them. Where another
//! data set is judged on, nobody was trained on it, and the items are drawn from it.

use std::sync::Arc;

use dissensus_core::philox::{block, stream};
use dissensus_geometry::cka::{Features, cka};
use dissensus_report::book::{Direction, Metric};
use dissensus_train::Task;
use serde_json::{Value, json};

use super::settings::{MANY, count, mean, seed};
use super::{Examiner, Found, Group, Kept, Read, StageEntry};
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Job, Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "cka",
    about: "how alike the features of an arm's seeds are; needs the weights",
    always: false,
    keys: &["items", "seed"],
    template: r#"# The similarity of the features of an arm's seeds.
[stages.cka]
arms = ["sls", "soft"]
ks = ["all"]
items = 60
# seed = 0
# precision = "f32"
"#,
    read: Read::Examiner(read),
};

const METRIC: &str = "cka";
/// The stream of the draws.
const ITEMS: u64 = stream(b"cka");

struct Alike {
    items: usize,
    seed: u64,
}

fn read(section: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    let items = count(section, "items", MANY)?.unwrap_or(2000);
    Ok(Arc::new(Alike { items, seed: seed(section)? }))
}

impl Alike {
    /// The rows of the items that come first when all are ordered by a random word each, ascending.
    /// A word belongs to an item's id, so that the order of the data does not matter.
    fn rows(&self, task: &Task) -> Vec<u32> {
        let word = |key: u64| block([self.seed, ITEMS], [0, key, 0, 0])[0];
        let among = task.judged().unwrap_or(task.own());
        let row = |row: usize| (word(task.keys()[row]), row as u32);
        let mut all: Vec<(u64, u32)> = among.map(row).collect();
        all.sort_unstable();
        all.truncate(self.items);
        let mut rows: Vec<u32> = all.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }
}

impl Examiner for Alike {
    fn settings(&self) -> Value {
        json!({ "items": self.items, "seed": self.seed })
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![Metric {
            name: METRIC.into(),
            title: "CKA".into(),
            better: Direction::Neither,
            digits: 3,
            what:
                "Linear CKA of a run's penultimate features with those of the other seeds of its \
                   arm, the mean of them"
                    .into(),
            formula: "‖YᵀX‖²_F / (‖XᵀX‖_F ‖YᵀY‖_F), columns centered".into(),
            settings: format!(
                "{} items of the data, drawn by seed {}, whoever was trained on them",
                self.items, self.seed
            ),
            source: "Kornblith, Norouzi, Lee and Hinton, Similarity of neural network \
                     representations revisited (2019)"
                .into(),
        }]
    }

    fn groups<'j>(&self, jobs: &[&'j Job]) -> Vec<Group<'j>> {
        Group::seeds_of_arms(jobs)
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        let mut features = Vec::new();
        for run in runs {
            let rows = self.rows(&run.material.task);
            let found = models.open(run)?.features(&rows, &models.observer)?;
            features.push(Features::new(rows.len(), &found)?);
        }
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); runs.len()];
        for (at, own) in features.iter().enumerate() {
            for (other, features) in features.iter().enumerate().skip(at + 1) {
                let value = cka(own, features)?;
                values[at].extend(value);
                values[other].extend(value);
            }
        }
        let kept = |values: &Vec<f64>| Kept::of(vec![Number::new(METRIC, "all", mean(values))]);
        Ok(values.iter().map(|values| Some(kept(values))).collect())
    }
}
