//! Small runs on generated images, trained once for a test.

use dissensus_data::blends::{Blends, Settings};
use dissensus_engine::Cpu;
use dissensus_examine::{Model, ModelSettings};
use dissensus_inputs::from_blends;
use dissensus_store::{Begun, RunId, Store, Which};
use dissensus_train::{FitOptions, Spec, Task, fit_stored};
use serde_json::json;
use tempfile::TempDir;

/// A store in a folder of its own, and data.
pub(crate) struct Lab {
    pub(crate) task: Task,
    pub(crate) store: Store,
    _folder: TempDir,
}

pub(crate) fn blends(items: usize) -> Blends {
    Settings { items, ..Settings::default() }.check().unwrap().generate().unwrap()
}

impl Lab {
    pub(crate) fn new(items: usize) -> Self {
        let blends = blends(items);
        let (task, _) =
            Task::new("blends", blends.table(), &from_blends(&blends).unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path().join("runs")).unwrap();
        Self { task, store, _folder: folder }
    }

    /// Trains a run with these settings over those of all tests.
    pub(crate) fn train(&self, sets: &[&str]) -> RunId {
        let text = "
            data.dataset = 'blends'
            delivery.methods = 'soft'
            model = { name = 'smallcnn', width = 2 }
            training = { epochs = 3, batch_size = 16, learning_rate = 0.05 }
            run.seeds = [0]
        ";
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let plan = Spec::parse(text, "test", &sets).unwrap().runs().remove(0);
        let spec = plan.with_data(self.task.identity().clone());
        let epochs = spec.run.training.epochs;
        let Begun::Run(run) = self.store.begin(&spec.to_value(), &json!({}), epochs).unwrap()
        else {
            panic!("trained before")
        };
        let id = run.id().clone();
        let options = FitOptions { threads: 1, ..FitOptions::default() };
        fit_stored(&self.task, &spec, &Cpu, run, &Default::default(), &options).unwrap();
        id
    }

    pub(crate) fn open(&self, id: &RunId) -> Model {
        let info = self.store.run(id).unwrap();
        Model::open(&info, &self.task, Which::Best, &Cpu, &ModelSettings::default()).unwrap()
    }
}
