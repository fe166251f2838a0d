//! Fits without a store: the same bits as with one, predictions, progress, and plans without a file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Mutex;

use common::{Lab, PLAIN, plan, spec, task};
use dissensus_core::{Cancel, Event, Progress, Unit};
use dissensus_engine::{Cpu, Model};
use dissensus_inputs::{Features, Inputs, Kind};
use dissensus_store::{RunId, Which};
use dissensus_train::spec::Votes;
use dissensus_train::{FitOptions, RunPlan, Spec, Stop, Task, TrainError, Trained, fit};

const PARTS: &[&str] = &["split.parts=train/validation/test", "selection.metric=accuracy"];

fn fitted(plan: &RunPlan) -> Trained {
    let options = FitOptions { threads: 1, ..FitOptions::default() };
    fit(task(), plan, &Cpu, &options).unwrap()
}

#[test]
fn a_fit_in_memory_is_that_of_a_store_to_the_bit() {
    for overrides in [&["delivery.methods=sls"][..], PARTS] {
        let spec = spec(task(), overrides);
        let lab = Lab::new();
        let stored = lab.finish(task(), &spec, PLAIN);
        let mut trained = fitted(&spec.run);
        assert!(trained.result.seconds > 0.0);
        trained.result.seconds = 0.0;
        assert_eq!((&trained.result, &trained.history), (&stored.result, &stored.history));
        let info = lab.info(&spec);
        for which in [Which::Best, Which::Last] {
            assert_eq!(
                info.weights(which).unwrap().unwrap(),
                trained.named_weights(which).unwrap()
            );
            assert_eq!(info.predictions(which).unwrap().as_ref(), Some(trained.predictions(which)));
        }
    }
}

#[test]
fn new_inputs_are_predicted() {
    let wild = ["training.epochs=8", "training.learning_rate=0.5", "training.schedule=constant"];
    let trained = fitted(&plan(&wild));
    let held_out = trained.test_predictions();
    let all = task().inputs();
    let place = |id: &String| all.ids().unwrap().position(id).unwrap();
    let places: Vec<usize> = held_out.ids().iter().map(place).collect();
    let some = all.select(&places);
    // The held-out items, as if they were new: normalized as the training items were.
    assert_eq!(&trained.predict(&Cpu, &some).unwrap(), held_out);
    assert_ne!(trained.predictions(Which::Last), held_out);
    assert_eq!(held_out.classes(), trained.classes());
    let unnamed = Inputs::new("x", None, some.into_kind()).unwrap();
    assert_eq!(trained.predict(&Cpu, &unnamed).unwrap().ids()[..2], ["0", "1"]);
    let vectors = Kind::Features(Features::new("v", 3, vec![0.0; 6]).unwrap());
    let vectors = Inputs::new("vectors", None, vectors).unwrap();
    let error = trained.predict(&Cpu, &vectors).unwrap_err().to_string();
    assert!(
        error.starts_with("vectors has feature vectors of 3 numbers; the model expects"),
        "{error}"
    );
}

/// Notes the events, and cancels after some epochs.
struct Log {
    events: Mutex<Vec<String>>,
    cancel: Cancel,
    most: u64,
}

impl Progress for Log {
    fn report(&self, event: Event<'_>) {
        let line = match event {
            Event::Started { task, total, unit } => {
                assert_eq!(unit, Unit::Steps);
                format!("{task} of {total:?}")
            }
            Event::Advanced { task, done, total, detail } => {
                assert!(detail.starts_with("loss ") && detail.contains(", evaluation.soft_nll "));
                if done >= self.most {
                    self.cancel.cancel();
                }
                format!("{task}: {done} of {total:?}")
            }
            Event::Measured { task, step, values } => {
                let names = values.iter().map(|(name, _)| *name).collect::<Vec<_>>();
                assert_eq!(names[..3], ["rate", "loss", "evaluation.soft_nll"]);
                format!("{task} measured in {step}")
            }
            Event::Finished { task } => format!("{task} ends"),
            other => panic!("{other:?}"),
        };
        self.events.lock().unwrap().push(line);
    }
}

#[test]
fn progress_is_reported_and_a_run_can_be_cancelled() {
    let cancel = Cancel::new();
    let log = Log { events: Mutex::default(), cancel: cancel.clone(), most: 2 };
    let options = FitOptions { threads: 1, name: Some("run"), progress: &log, cancel };
    let error = fit(task(), &plan(&[]), &Cpu, &options).unwrap_err();
    let expected = [
        "run of Some(5)",
        "run measured in 0",
        "run: 1 of Some(5)",
        "run measured in 1",
        "run: 2 of Some(5)",
        "run ends",
    ];
    assert_eq!(*log.events.lock().unwrap(), expected);
    // What two epochs came to is handed back: the first two of the whole run, and a model.
    let TrainError::Cancelled { epochs: 2, trained: Some(trained) } = error else {
        panic!("{error}")
    };
    let whole = fitted(&plan(&[]));
    assert_eq!(trained.history, whole.history[..2]);
    assert_eq!((trained.result.epochs, trained.result.stopped_early), (2, false));
    assert!(trained.predict(&Cpu, task().inputs()).is_ok());
}

#[test]
fn a_fit_runs_in_a_thread_of_its_own() {
    fn moves<T: Send>(value: T) -> T {
        value
    }
    let options = moves(FitOptions { threads: 1, ..FitOptions::default() });
    let plan = plan(&["training.epochs=1"]);
    let trained = std::thread::scope(|scope| {
        scope.spawn(move || fit(task(), &plan, &Cpu, &options).unwrap()).join().unwrap()
    });
    // What it was trained on stays with it.
    assert_eq!(trained.spec.data, *task().identity());
    assert_eq!(&trained.joined, task().joined());
    assert_eq!(trained.joined.items.len(), task().table().len());
}

#[test]
fn a_fit_that_diverges_fails() {
    let options = FitOptions::default();
    let error = fit(task(), &plan(&["training.learning_rate=1e10"]), &Cpu, &options).unwrap_err();
    assert!(matches!(&error, TrainError::Failed { reason } if reason.contains("diverged")));
}

/// The plan of a spec, and its run id on a task.
fn from_spec(task: &Task, text: &str) -> (RunPlan, RunId) {
    let text = format!("data.dataset = 'x'\n{text}");
    let plan = Spec::parse(&text, "test", &[]).unwrap().runs().remove(0);
    let id = RunId::of(&plan.with_data(task.identity().clone()).to_value());
    (plan, id)
}

#[test]
fn a_plan_without_a_file_is_that_of_a_spec() {
    let pairs = [
        (RunPlan::new("soft"), "delivery.methods = 'soft'"),
        (
            RunPlan::new("sls:every=2").map(|plan| {
                let model = Model::named("mlp").unwrap().with("hidden", 32_u64).unwrap();
                let mut plan = plan.model(model.with("dropout", 0.25).unwrap()).seed(7).epochs(3);
                (plan.training.batch_size, plan.training.learning_rate) = (16, 0.5);
                plan.votes = Votes::Drawn { per_item: 5, replacement: true };
                plan
            }),
            "delivery.methods = 'sls:every=2'\nmodel = { name = 'mlp', hidden = 32, dropout = 0.25 }
             run.seeds = [7]\ntraining = { epochs = 3, batch_size = 16, learning_rate = 0.5 }
             data.votes_per_item = 5",
        ),
        (
            RunPlan::new("soft").and_then(|plan| {
                let parts = [("train", 0.6), ("validation", 0.2), ("test", 0.2)];
                let mut plan = plan.split(&parts);
                plan.selection.metric = "accuracy".to_owned();
                plan.selection.stop = Some(Stop { patience: 4, minimum: 0.0 });
                plan.target = "dirichlet:alpha=1".parse()?;
                Ok(plan)
            }),
            "delivery = { methods = 'soft', target = 'dirichlet:alpha=1' }
             split = { parts = 'train/validation/test', shares = [0.6, 0.2, 0.2] }
             selection = { metric = 'accuracy', stop = { patience = 4 } }",
        ),
    ];
    for (built, text) in pairs {
        let built = built.unwrap();
        let (plan, id) = from_spec(task(), text);
        assert_eq!(RunId::of(&built.with_data(task().identity().clone()).to_value()), id);
        assert_eq!(built, plan, "{text}");
    }
    let error = RunPlan::new("sofd").unwrap_err().to_string();
    assert!(error.contains("soft"), "{error}");
}
