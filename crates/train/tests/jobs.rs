//! Many runs of a store at once: each is trained once, in any order, and a failure stops nobody.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use common::{Lab, PLAIN, plan, spec, task};
use dissensus_core::{Batch, Ending, Event, Progress};
use dissensus_engine::{Cpu, Dataset, Device, EngineError, Network, Runner, Settings, State};
use dissensus_store::Begun;
use dissensus_train::spec::{Checkpoint, Execution};
use dissensus_train::{EndedJob, JobOptions, JobOutcome, OpenDevice, RunJob, TrainError, run_jobs};

/// So many runs at once.
fn at_once(jobs: usize, options: JobOptions<'_>) -> JobOptions<'_> {
    JobOptions { execution: Execution { jobs: Some(jobs), ..options.execution }, ..options }
}

#[test]
fn runs_are_trained_once_and_a_failure_stops_nobody() {
    let plans = [
        plan(&["run.seeds=[1]"]),
        plan(&["training.learning_rate=1e10"]),
        plan(&["run.seeds=[2]", "delivery.methods=sls"]),
    ];
    let jobs = RunJob::all(task(), &plans);
    let (lab, device) = (Lab::new(), OpenDevice::cpu());
    let ended = Mutex::new(Vec::new());
    let log = |event: Event<'_>| match event {
        Event::BatchStarted { batch: Batch::Runs, tasks, steps } => {
            assert_eq!((tasks.len(), steps), (3, plans.iter().map(|p| p.training.epochs).sum()));
        }
        Event::Ended { id, ending, .. } => {
            ended.lock().unwrap().push((id.to_owned(), ending == Ending::Done));
        }
        _ => {}
    };
    let options = JobOptions { progress: &log, ..JobOptions::new(&lab.store, &device) };
    let first = run_jobs(&jobs, &at_once(2, options)).unwrap();
    let mut reported = ended.into_inner().unwrap();
    reported.sort();
    let mut wanted: Vec<_> =
        first.iter().map(|job| (job.id.clone(), job.outcome.result().is_some())).collect();
    wanted.sort();
    assert_eq!(reported, wanted);
    for (job, plan) in first.iter().zip(&plans) {
        assert_eq!((&job.plan, &job.label), (plan, &plan.label()));
        let info = lab.store.find(&job.id).unwrap();
        assert_eq!(info.result().unwrap().as_ref(), job.outcome.result());
    }
    assert!(
        matches!(&first[1].outcome, JobOutcome::Failed(why) if why.to_string().contains("diverged"))
    );
    assert!(matches!(first[2].outcome, JobOutcome::Finished { known: false, .. }));
    // As alone.
    let alone = Lab::new().finish(task(), &spec(task(), &["run.seeds=[1]"]), PLAIN);
    let mut result = first[0].outcome.result().unwrap().clone();
    result.seconds = 0.0;
    assert_eq!(result, alone.result);

    let again = run_jobs(&jobs, &JobOptions::new(&lab.store, &device)).unwrap();
    assert!(matches!(again[0].outcome, JobOutcome::Finished { known: true, .. }));
    assert_eq!(again[0].outcome.result(), first[0].outcome.result());
    assert!(matches!(again[1].outcome, JobOutcome::Failed(_)));

    let other = Lab::new();
    let options = JobOptions::new(&other.store, &device);
    options.cancel.cancel();
    let none = run_jobs(&jobs, &options).unwrap();
    assert!(none.iter().all(|job| matches!(job.outcome, JobOutcome::NotStarted)));
    assert!(other.store.ids().unwrap().is_empty());
}

/// Keeps the notes.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Progress for Notes {
    fn report(&self, event: Event<'_>) {
        if let Event::Note(text) = event {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }
}

/// A run that another process trains is waited for, and taken over where that process leaves it.
#[test]
fn a_run_of_another_process_is_waited_for() {
    let plans = [plan(&["run.seeds=[1]"]), plan(&["run.seeds=[2]"])];
    let jobs = RunJob::all(task(), &plans);
    let (lab, device, notes) = (Lab::new(), OpenDevice::cpu(), Notes::default());
    let theirs = spec(task(), &["run.seeds=[1]"]).to_value();
    let Begun::Run(held) = lab.store.begin(&theirs, &serde_json::json!({}), 2).unwrap() else {
        panic!("a new run")
    };
    let id = held.id().to_string();
    let options = JobOptions { progress: &notes, ..JobOptions::new(&lab.store, &device) };
    let ended = std::thread::scope(|scope| {
        let all = scope.spawn(|| run_jobs(&jobs, &options).unwrap());
        while notes.0.lock().unwrap().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(!all.is_finished());
        drop(held);
        all.join().unwrap()
    });
    let finished =
        |job: &EndedJob| matches!(job.outcome, JobOutcome::Finished { known: false, .. });
    assert!(ended.iter().all(finished));
    assert_eq!(ended[0].id, id);
    let notes = notes.0.into_inner().unwrap();
    assert_eq!(notes, [format!("{}  trained by another process", jobs[0].label)]);
    // Who does not want to wait is not kept.
    let other = Lab::new();
    let begun = other.store.begin(&theirs, &serde_json::json!({}), 2).unwrap();
    let options = JobOptions::new(&other.store, &device);
    let cancel = options.cancel.clone();
    let ended = std::thread::scope(|scope| {
        let all = scope.spawn(|| run_jobs(&jobs, &options).unwrap());
        while other.store.ids().unwrap().len() < 2 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        cancel.cancel();
        all.join().unwrap()
    });
    assert!(matches!(ended[0].outcome, JobOutcome::NotStarted));
    drop(begun);
}

/// The CPU, with no memory for some of the runners that it is asked for, and something to do when it is asked what it
/// found out.
struct Watched {
    asked: AtomicUsize,
    has_memory: fn(usize) -> bool,
    on_learned: Box<dyn Fn() + Send + Sync>,
}

impl Watched {
    fn open(
        has_memory: fn(usize) -> bool,
        on_learned: impl Fn() + Send + Sync + 'static,
    ) -> OpenDevice {
        let (asked, on_learned) = (AtomicUsize::new(0), Box::new(on_learned));
        OpenDevice::of(Box::new(Self { asked, has_memory, on_learned }))
    }
}

impl Device for Watched {
    fn describe(&self) -> String {
        Cpu.describe()
    }

    fn runner(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<f32>,
    ) -> Result<Box<dyn Runner>, EngineError> {
        match (self.has_memory)(self.asked.fetch_add(1, Relaxed)) {
            true => Cpu.runner(network, data, settings, state),
            false => {
                Err(EngineError::Memory { needed: Some(3 << 30), free: 1 << 30, total: 4 << 30 })
            }
        }
    }

    fn learned(&self) -> Option<String> {
        (self.on_learned)();
        None
    }
}

#[test]
fn a_run_without_memory_waits_for_another_to_end() {
    let plans = [1, 2, 3, 4].map(|seed| plan(&[&format!("run.seeds=[{seed}]")]));
    let jobs = RunJob::all(task(), &plans);
    let train = |has_memory: fn(usize) -> bool| {
        let lab = Lab::new();
        let device = Watched::open(has_memory, || {});
        run_jobs(&jobs, &at_once(3, JobOptions::new(&lab.store, &device))).unwrap()
    };
    let plain = train(|_| true);
    for (job, plain) in train(|asked| !(1..3).contains(&asked)).iter().zip(&plain) {
        let result = job.outcome.result().map(|result| (result.seed, &result.parts));
        assert!(result.is_some());
        assert_eq!(result, plain.outcome.result().map(|result| (result.seed, &result.parts)));
    }
    for job in train(|_| false) {
        let JobOutcome::Failed(why) = job.outcome else { panic!("it has no memory") };
        assert!(matches!(why, TrainError::Engine(EngineError::Memory { .. })), "{why}");
        let why = why.to_string();
        assert!(why.contains("3.00 GiB more are needed at once, 1.00 GiB of 4.00 GiB"), "{why}");
    }
}

/// A run that is killed continues with the kernels that its checkpoint was made with.
#[test]
fn what_a_device_found_out_is_kept_before_a_checkpoint() {
    let (lab, seen) = (Lab::new(), Arc::new(Mutex::new(Vec::new())));
    let (runs, each) = (lab.store.path().join("runs"), seen.clone());
    // Whether there is a checkpoint each time.
    let device = Watched::open(
        |_| true,
        move || {
            let runs = runs.read_dir().unwrap();
            let mut checkpoints =
                runs.map(|run| run.unwrap().path().join("checkpoint.safetensors"));
            each.lock().unwrap().push(checkpoints.any(|file| file.exists()));
        },
    );
    let plans = [plan(&["training.epochs=3"])];
    let execution = Execution { checkpoint: Checkpoint::EveryEpoch, ..Execution::default() };
    let options = JobOptions { execution, ..JobOptions::new(&lab.store, &device) };
    run_jobs(&RunJob::all(task(), &plans), &options).unwrap();
    assert_eq!(seen.lock().unwrap()[..3], [false, true, true]);
}
