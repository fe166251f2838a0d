//! Small data, specs and a store for the tests of the loop.

#![allow(dead_code)]

mod overlapping;

use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, OnceLock};

use dissensus_core::{Cancel, Event, VoteTable};
use dissensus_data::blends::{Settings, VotesPerItem};
use dissensus_engine::{Cpu, Device};
use dissensus_inputs::{Inputs, from_blends};
use dissensus_store::{ActiveRun, Begun, RunId, RunInfo, Store, Tensors, Which};
use dissensus_train::spec::Checkpoint;
use dissensus_train::{
    EpochRow, FitOptions, Outcome, RunPlan, RunResult, RunSpec, Saving, Spec, Task, Trained,
    fit_stored,
};
use serde_json::json;
use tempfile::TempDir;

use overlapping::Overlapping;

/// Adam's two memories, dropout and mixing partners.
pub(crate) const MIXED: &[&str] = &[
    "model.name=mlp",
    "model.hidden=16",
    "model.dropout=0.2",
    "delivery.methods=mixup",
    "training.optimizer=adam",
    "training.learning_rate=0.01",
    "selection.metric=accuracy",
];

/// Pictures and votes. Two in three are easy, so that a few epochs learn something.
pub(crate) fn data() -> &'static (VoteTable, Inputs) {
    static DATA: OnceLock<(VoteTable, Inputs)> = OnceLock::new();
    DATA.get_or_init(|| {
        let settings = Settings {
            items: 200,
            votes: VotesPerItem::Fixed(8),
            annotators: 12,
            ambiguity: 0.3,
            ..Settings::default()
        };
        let blends = settings.check().unwrap().generate().unwrap();
        (blends.table().clone(), from_blends(&blends).unwrap())
    })
}

pub(crate) fn task() -> &'static Task {
    static TASK: OnceLock<Task> = OnceLock::new();
    TASK.get_or_init(|| Task::new("blends", &data().0, &data().1).unwrap().0)
}

/// A small run, changed by overrides.
pub(crate) fn plan(overrides: &[&str]) -> RunPlan {
    let text = "
        [data]
        dataset = 'blends'
        [delivery]
        methods = 'soft'
        [training]
        epochs = 5
        batch_size = 32
        learning_rate = 0.05
        [run]
        seeds = [3]
    ";
    // An MLP would refuse the other model's width.
    let mlp = overrides.iter().any(|text| text.starts_with("model.name"));
    let model = if mlp { &[][..] } else { &["model.name=smallcnn", "model.width=4"] };
    let overrides: Vec<String> = model.iter().chain(overrides).map(|&t| t.to_owned()).collect();
    Spec::parse(text, "test", &overrides).unwrap().runs().remove(0)
}

pub(crate) fn spec(task: &Task, overrides: &[&str]) -> RunSpec {
    plan(overrides).with_data(task.identity().clone())
}

/// How a run is run.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) threads: usize,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) tensorboard: bool,
    /// Asked to end once so many epochs are done.
    pub(crate) stop_at: Option<u64>,
    /// Ends without a word once so many epochs are done, as a killed process does.
    pub(crate) killed_at: Option<u64>,
    /// Trained by a device that evaluates beside training, which counts the epochs where it did.
    pub(crate) overlapped: Option<&'static AtomicUsize>,
}

pub(crate) const PLAIN: How = How {
    threads: 1,
    checkpoint: Checkpoint::Auto,
    tensorboard: false,
    stop_at: None,
    killed_at: None,
    overlapped: None,
};

/// A store of its own.
pub(crate) struct Lab {
    _folder: TempDir,
    pub(crate) store: Store,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path().join("store")).unwrap();
        Self { _folder: folder, store }
    }

    pub(crate) fn begin(&self, spec: &RunSpec) -> ActiveRun {
        match self.store.begin(&spec.to_value(), &json!({}), spec.run.training.epochs).unwrap() {
            Begun::Run(run) => run,
            Begun::Finished(_) => panic!("{} is finished", spec.label()),
        }
    }

    pub(crate) fn train(&self, task: &Task, spec: &RunSpec, how: How) -> Outcome {
        self.try_train(task, spec, how).unwrap()
    }

    pub(crate) fn try_train(
        &self,
        task: &Task,
        spec: &RunSpec,
        how: How,
    ) -> Result<Outcome, String> {
        let stop = Cancel::new();
        if how.stop_at == Some(0) {
            stop.cancel();
        }
        let seen = Mutex::new(Vec::<EpochRow>::new());
        let progress = |event: Event<'_>| {
            let Event::Measured { step, values: [rate, loss, metrics @ ..], .. } = event else {
                return;
            };
            assert_eq!((rate.0, loss.0), ("rate", "loss"));
            let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value));
            let row = EpochRow {
                epoch: step,
                rate: rate.1.unwrap(),
                loss: loss.1.unwrap(),
                metrics: metrics.collect(),
            };
            let done = {
                let mut seen = seen.lock().unwrap();
                // It may be trained again from the start.
                if step == 0 {
                    seen.clear();
                }
                seen.push(row);
                seen.len() as u64
            };
            assert_eq!(step + 1, done);
            if how.stop_at.is_some_and(|at| done >= at) {
                stop.cancel();
            }
            if how.killed_at.is_some_and(|at| done >= at) {
                std::panic::resume_unwind(Box::new("killed"));
            }
        };
        let (threads, cancel) = (how.threads, stop.clone());
        let options = FitOptions { threads, cancel, progress: &progress, ..FitOptions::default() };
        let (checkpoint, tensorboard) = (how.checkpoint, how.tensorboard);
        let saving = Saving { checkpoint, tensorboard, curves: None };
        let run = self.begin(spec);
        let overlapping = how.overlapped.map(|count| Overlapping { count });
        let device = overlapping.as_ref().map_or(&Cpu as &dyn Device, |device| device);
        let outcome = fit_stored(task, spec, device, run, &saving, &options);
        let outcome = outcome.map_err(|error| error.to_string())?;
        // Who watches sees every epoch, those before an interruption too.
        if matches!(outcome, Outcome::Finished(_)) {
            assert_eq!(*seen.lock().unwrap(), self.info(spec).history::<EpochRow>().unwrap());
        }
        Ok(outcome)
    }

    pub(crate) fn info(&self, spec: &RunSpec) -> RunInfo {
        self.store.run(&RunId::of(&spec.to_value())).unwrap()
    }

    /// Trains a run to its end, and gives all that is left of it.
    pub(crate) fn finish(&self, task: &Task, spec: &RunSpec, how: How) -> Ended {
        match self.train(task, spec, how) {
            Outcome::Finished(trained) => self.check(spec, &trained),
            other => panic!("{}: {other:?}", spec.label()),
        }
        self.ended(spec)
    }

    /// That the trained model holds what the store does.
    fn check(&self, spec: &RunSpec, trained: &Trained) {
        let info = self.info(spec);
        assert_eq!(info.result().unwrap(), Some(trained.result.clone()));
        assert_eq!(info.history::<EpochRow>().unwrap(), trained.history);
        for which in [Which::Best, Which::Last] {
            let weights = trained.named_weights(which).unwrap();
            assert_eq!(info.weights(which).unwrap(), Some(weights));
            let predictions = trained.predictions(which);
            assert_eq!(info.predictions(which).unwrap().as_ref(), Some(predictions));
        }
    }

    pub(crate) fn ended(&self, spec: &RunSpec) -> Ended {
        let info = self.info(spec);
        let mut result: RunResult = info.result().unwrap().unwrap();
        assert!(result.seconds > 0.0);
        result.seconds = 0.0;
        let of = |which| {
            let predictions = info.predictions(which).unwrap().unwrap();
            Model {
                weights: bits(&info.weights(which).unwrap().unwrap()),
                ids: predictions.ids().to_vec(),
                logits: predictions.logits().iter().map(|z| z.to_bits()).collect(),
            }
        };
        Ended {
            best: of(Which::Best),
            last: of(Which::Last),
            history: info.history().unwrap(),
            result,
        }
    }
}

/// The weights and predictions of an epoch, to the bit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) weights: Vec<(String, Vec<u32>)>,
    pub(crate) ids: Vec<String>,
    pub(crate) logits: Vec<u32>,
}

/// What is left of a finished run, without the time it took.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) best: Model,
    pub(crate) last: Model,
    pub(crate) history: Vec<EpochRow>,
    pub(crate) result: RunResult,
}

impl Ended {
    /// A column of the history.
    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        self.history.iter().map(|row| row.column(name).unwrap()).collect()
    }
}

fn bits(tensors: &Tensors<'_>) -> Vec<(String, Vec<u32>)> {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
    tensors.iter().map(|tensor| (tensor.name().to_owned(), bits(tensor.values()))).collect()
}
