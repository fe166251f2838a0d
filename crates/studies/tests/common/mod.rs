//! Small data, studies and a store for the tests.

#![allow(dead_code)]

use dissensus_data::blends::{Settings, VotesPerItem};
use dissensus_engine::Cpu;
use dissensus_inputs::from_blends;
use dissensus_store::{Begun, Store};
use dissensus_studies::{Job, Material, Plan, PlanOptions, Study, StudyError, distinct};
use dissensus_train::spec::{Checkpoint, Data};
use dissensus_train::{FitOptions, Outcome, Saving, Task, fit_stored};
use serde_json::json;
use tempfile::TempDir;

/// A study of two arms on a few pictures, a second of training; with more TOML behind it.
pub(crate) fn small(more: &str) -> String {
    format!(
        "
[study]
name = 'small'
title = 'A small study'
about = 'Two arms.'
[data]
dataset = 'blends'
items = 80
[model]
name = 'smallcnn'
width = 4
[training]
epochs = 2
batch_size = 32
learning_rate = 0.05
[run]
seeds = 2
[[arm]]
name = 'soft'
title = 'Soft labels'
delivery = 'soft'
votes = [3, 'all']
[[arm]]
name = 'sls'
delivery = 'sls'
votes = [3, 'all']
{more}"
    )
}

pub(crate) fn study(more: &str) -> Study {
    Study::parse(&small(more), "small.toml").unwrap()
}

/// Data that were made, or why not.
pub(crate) type Loaded<T> = Result<T, Box<dyn std::error::Error>>;

/// A study's plan on data that a test makes.
pub(crate) fn plan_with<'s, M: Into<Material>>(
    study: &'s Study,
    options: &PlanOptions,
    load: &mut dyn FnMut(&Data) -> Loaded<M>,
) -> Result<Plan<'s>, StudyError> {
    let chosen = study.choose(options)?;
    let materials = chosen.data().into_iter().map(|(_, data)| load(data).unwrap().into()).collect();
    chosen.plan(materials)
}

/// Generated pictures, as many as asked for.
pub(crate) fn load(data: &Data) -> Loaded<Material> {
    let items = usize::try_from(data.items.unwrap_or(80))?;
    let votes = VotesPerItem::Fixed(8);
    let settings = Settings { items, votes, annotators: 12, ..Settings::default() };
    let blends = settings.check()?.generate()?;
    let (task, _) = Task::new(data.name(), blends.table(), &from_blends(&blends)?)?;
    let text = |id: &str| (id.to_owned(), format!("<b>{id}</b>"));
    let texts = blends.table().items().iter().map(text).collect();
    let order = task.table().items().iter().filter_map(|id| blends.table().items().position(id));
    let rows: Vec<f64> = order.flat_map(|at| blends.truth(at)).copied().collect();
    let classes = task.table().classes().len();
    let matrix = dissensus_measure::Matrix::new(&rows, classes)?;
    let truth = dissensus_measure::Truth::new(dissensus_measure::Targets::Probabilities(matrix))?;
    Ok(Material { texts, truth: Some(truth), ..Material::from(task) })
}

pub(crate) fn plan(study: &Study) -> Plan<'_> {
    plan_with(study, &PlanOptions::default(), &mut load).unwrap()
}

/// A store of its own.
pub(crate) struct Lab {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path().join("store")).unwrap();
        Self { folder, store }
    }

    /// Trains these jobs as far as they are not done, and says how many were.
    pub(crate) fn train(&self, plan: &Plan<'_>, jobs: &[Job]) -> usize {
        let mut trained = 0;
        for job in distinct(jobs) {
            let (spec, epochs) = (plan.spec(job), job.run.training.epochs);
            let about = json!({ "version": "test 1", "device": "CPU" });
            let Begun::Run(run) = self.store.begin(&spec.to_value(), &about, epochs).unwrap()
            else {
                continue;
            };
            assert_eq!(run.id(), &job.id);
            let saving = Saving { checkpoint: Checkpoint::End, ..Saving::default() };
            let options = FitOptions { threads: 1, ..FitOptions::default() };
            let outcome = fit_stored(plan.task(job), &spec, &Cpu, run, &saving, &options);
            assert!(!matches!(outcome, Ok(Outcome::Interrupted { .. })), "{outcome:?}");
            trained += 1;
        }
        trained
    }

    /// Trains all of a study, and says how many runs that took.
    pub(crate) fn all(&self, plan: &Plan<'_>) -> usize {
        self.train(plan, &plan.searches())
            + self.train(plan, &plan.finals(&self.store).unwrap().jobs)
    }
}
