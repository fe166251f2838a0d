//! How alike what the seeds of an arm learned is: linear CKA of the features that the last layer
//! reads, of a run with every other seed of its arm, the mean of them.
//!
//! Seeds have splits of their own, and hardly an item is held out by all of them; so all are compared
//! on one fixed set of items of the data, drawn by a seed, whoever was trained on them. Where another
//! data set is judged on, nobody was trained on it, and the items are drawn from it.

use std::sync::Arc;

use dissensus_core::philox::{block, stream};
use dissensus_engine::Precision;
use dissensus_examine::Observer;
use dissensus_geometry::cka::{Features, cka};
use dissensus_report::book::{Better, Metric};
use dissensus_train::Task;
use serde_json::{Value, json};

use super::settings::{self, precision};
use super::{Among, Examiner, Group, Info, Kept, Made};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Bench, Job, Number, StudyError};

pub(super) const INFO: Info = Info {
    name: "cka",
    about: "how alike the features of an arm's seeds are; needs the weights",
    always: false,
    read,
};

const METRIC: &str = "cka";
/// The stream of the draws.
const ITEMS: u64 = stream(b"cka");

struct Alike {
    among: Among,
    items: usize,
    seed: u64,
    precision: Precision,
}

fn read(section: Option<&Section<'_, '_, '_>>, _: &[SliceRule]) -> Result<Made, StudyError> {
    let among = settings::among(section, &["items", "seed", "precision"])?;
    let mut stage = Alike { among, items: 2000, seed: 0, precision: Precision::F32 };
    if let Some(section) = section {
        stage.items = settings::count(section, "items")?.unwrap_or(stage.items);
        stage.seed = settings::seed(section)?;
        stage.precision = precision(section)?;
    }
    Ok(Made::Examiner(Arc::new(stage)))
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
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn settings(&self) -> Value {
        json!({
            "format": 1,
            "items": self.items,
            "seed": self.seed,
            "precision": self.precision,
        })
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![Metric {
            name: METRIC.into(),
            title: "CKA".into(),
            better: Better::Neither,
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

    fn among(&self) -> &Among {
        &self.among
    }

    fn groups<'j>(&self, jobs: &[&'j Job]) -> Vec<Group<'j>> {
        seeds_of_arms(jobs)
    }

    fn examine(
        &self,
        runs: &[Finished<'_>],
        bench: &Bench<'_>,
        observer: &Observer<'_>,
    ) -> Result<Vec<Option<Kept>>, StudyError> {
        let mut features = Vec::new();
        for run in runs {
            let rows = self.rows(&run.material.task);
            let mut model = bench.open(run, self.precision)?;
            features.push(Features::new(rows.len(), &model.features(&rows, observer)?)?);
        }
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); runs.len()];
        for (at, own) in features.iter().enumerate() {
            for (other, features) in features.iter().enumerate().skip(at + 1) {
                let value = cka(own, features)?;
                values[at].extend(value);
                values[other].extend(value);
            }
        }
        let kept = |values: &Vec<f64>| {
            let numbers = vec![Number::new(METRIC, "all", mean(values))];
            Some(Kept { numbers, ..Kept::default() })
        };
        Ok(values.iter().map(kept).collect())
    }
}

/// The seeds of each arm together; one alone has nobody to be compared with.
pub(super) fn seeds_of_arms<'j>(jobs: &[&'j Job]) -> Vec<Group<'j>> {
    let groups = Among::by_arm(jobs).into_iter().filter(|runs| runs.len() > 1);
    groups.map(|runs| Group { subjects: runs.len(), runs, least: 2 }).collect()
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
