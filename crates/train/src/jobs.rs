//! Many runs of a store, several at once on one device.

mod best;
mod parallel;
mod turns;

use std::time::{Duration, Instant};

use dissensus_core::limits::MAX_THREADS;
use dissensus_core::{Batch, Cancel, Ending, Event, Progress, Silent};
use dissensus_engine::EngineError;
use dissensus_store::{Begun, State, Store, StoreError};

use crate::spec::Execution;
use crate::{
    FitOptions, OpenDevice, Outcome, RunEnvironment, RunPlan, RunResult, Saving, Task, TrainError,
    fit_stored,
};

use turns::Turns;

pub use parallel::parallel;

/// A run to be trained.
#[derive(Clone)]
pub struct RunJob<'a> {
    /// What it is trained on.
    pub task: &'a Task,
    /// How it is trained.
    pub plan: &'a RunPlan,
    /// Its name in reports of progress.
    pub label: String,
}

impl<'a> RunJob<'a> {
    /// Runs on one task, named by their plans.
    pub fn all(task: &'a Task, plans: &'a [RunPlan]) -> Vec<Self> {
        plans.iter().map(|plan| Self { task, plan, label: plan.label() }).collect()
    }
}

/// Where and how runs are trained; nothing of it changes a result.
pub struct JobOptions<'a> {
    /// Holds the runs. One that is finished there is not trained again.
    pub store: &'a Store,
    /// Trains them.
    pub device: &'a OpenDevice,
    /// The version of the program, for the runs' environment.
    pub version: &'a str,
    /// How many runs at once, checkpoints, curves. The name of the device is not used here.
    pub execution: Execution,
    /// What the runs are for.
    pub batch: Batch<'a>,
    /// Receives the progress of every run, in epochs, and how it ended.
    pub progress: &'a dyn Progress,
    /// Stops all runs after their current epochs.
    pub cancel: Cancel,
    /// Whether what is returned has the results of runs, some KiB each. The store has them anyway.
    pub keep_results: bool,
}

impl<'a> JobOptions<'a> {
    /// The defaults.
    pub fn new(store: &'a Store, device: &'a OpenDevice) -> Self {
        Self {
            store,
            device,
            version: env!("CARGO_PKG_VERSION"),
            execution: Execution::default(),
            batch: Batch::Runs,
            progress: &Silent,
            cancel: Cancel::new(),
            keep_results: true,
        }
    }
}

/// A run that ended.
pub struct EndedJob {
    /// How it was to be trained.
    pub plan: RunPlan,
    /// Its name in reports of progress.
    pub label: String,
    /// Its id in the store; empty where it was not begun.
    pub id: String,
    /// How long it took now.
    pub seconds: f64,
    /// How it ended.
    pub outcome: JobOutcome,
}

/// How a run ended.
pub enum JobOutcome {
    /// Trained to the end.
    Finished {
        /// What it came to; `None` where results are not kept.
        result: Option<Box<RunResult>>,
        /// Whether the store had it before.
        known: bool,
    },
    /// Cancelled while it was trained; it can be continued.
    Interrupted,
    /// Diverged, or could not be trained.
    Failed(TrainError),
    /// Cancelled before it began, or while another process trained it.
    NotStarted,
}

impl JobOutcome {
    /// What a finished run came to.
    pub fn result(&self) -> Option<&RunResult> {
        match self {
            Self::Finished { result, .. } => result.as_deref(),
            _ => None,
        }
    }

    /// Whether it can be continued.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Interrupted | Self::NotStarted)
    }
}

impl EndedJob {
    /// Reports how the run ended.
    fn report(&self, progress: &dyn Progress) {
        let reason;
        let ending = match &self.outcome {
            JobOutcome::Finished { known: false, .. } => Ending::Done,
            JobOutcome::Finished { known: true, .. } => Ending::DoneBefore,
            JobOutcome::Interrupted => Ending::Interrupted,
            JobOutcome::Failed(error) => {
                reason = error.to_string();
                Ending::Failed(&reason)
            }
            JobOutcome::NotStarted => Ending::NotStarted,
        };
        let detail = self.outcome.result().map(RunResult::figures).unwrap_or_default();
        progress.report(Event::Ended {
            task: &self.label,
            id: &self.id,
            ending,
            steps: self.plan.training.epochs,
            seconds: self.seconds,
            detail: &detail,
        });
    }
}

/// Keeps what a device found out after every epoch, before a checkpoint is written: a run that is killed
/// continues with the kernels that it began with.
struct Keeping<'a> {
    device: &'a OpenDevice,
    progress: &'a dyn Progress,
}

impl Progress for Keeping<'_> {
    fn report(&self, event: Event<'_>) {
        if let Event::Measured { .. } = event {
            self.device.keep_learned();
        }
        self.progress.report(event);
    }
}

/// How often runs that another process trains are looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Trains all runs that are not finished in the store. The results stand in the order of the jobs; a
/// run that fails does not stop the others. Runs that another process trains are waited for, and
/// continued where it leaves them unfinished. A run for which the device has no memory beside the
/// others waits until one of them has ended, and from then on fewer are trained at a time.
pub fn run_jobs(
    jobs: &[RunJob<'_>],
    options: &JobOptions<'_>,
) -> Result<Vec<EndedJob>, TrainError> {
    let batch = options.batch;
    let tasks: Vec<&str> = jobs.iter().map(|job| &*job.label).collect();
    let steps = jobs.iter().map(|job| job.plan.training.epochs).sum();
    options.progress.report(Event::BatchStarted { batch, tasks: &tasks, steps });
    let ended = run_all(jobs, options);
    options.progress.report(Event::BatchFinished { batch });
    ended
}

fn run_all(jobs: &[RunJob<'_>], options: &JobOptions<'_>) -> Result<Vec<EndedJob>, TrainError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.execution.threads.unwrap_or(cores).max(1);
    if let Some(many) =
        [Some(threads), options.execution.jobs].into_iter().flatten().find(|n| *n > MAX_THREADS)
    {
        let expected = format!("expected at most {MAX_THREADS} threads and runs at a time");
        return Err(TrainError::Data(format!("{many} is too many; {expected}")));
    }
    let at_once = match options.execution.jobs {
        Some(jobs) => jobs,
        None if options.device.is_gpu() => best::jobs_at_once(jobs, options)?,
        None => threads,
    };
    let at_once = at_once.clamp(1, jobs.len().max(1));
    let share = (threads / at_once).max(1);
    let turns = Turns::new(at_once);
    let work = |place: usize| {
        let job = &jobs[place];
        let started = Instant::now();
        let mut id = String::new();
        let outcome = loop {
            let turn = turns.begin();
            if options.cancel.is_cancelled() {
                break JobOutcome::NotStarted;
            }
            match one(job, options, share, &mut id) {
                Ok(outcome) => break outcome,
                Err(TrainError::Store(StoreError::Locked { id, .. })) => return Err(id),
                Err(TrainError::Engine(error @ EngineError::Memory { .. })) => match turn.fewer() {
                    Some(most) => {
                        let text =
                            format!("{error}; training at most {most} at a time from now on");
                        options.progress.report(Event::Note(&text));
                    }
                    None => break JobOutcome::Failed(error.into()),
                },
                Err(error) => break JobOutcome::Failed(error),
            }
        };
        let (plan, label) = (job.plan.clone(), job.label.clone());
        let mut ended =
            EndedJob { plan, label, id, seconds: started.elapsed().as_secs_f64(), outcome };
        options.device.keep_learned();
        ended.report(options.progress);
        if let (JobOutcome::Finished { result, .. }, false) =
            (&mut ended.outcome, options.keep_results)
        {
            *result = None;
        }
        Ok(ended)
    };
    let mut ended = parallel(jobs.len(), at_once, |_, place| {
        let ended = work(place);
        if ended.is_err() {
            let note = format!("{}  trained by another process", jobs[place].label);
            options.progress.report(Event::Note(&note));
        }
        ended
    });
    loop {
        let others: Vec<usize> = (0..jobs.len()).filter(|&place| ended[place].is_err()).collect();
        if others.is_empty() {
            return Ok(ended.into_iter().filter_map(Result::ok).collect());
        }
        let is_trained = |place: &usize| match &ended[*place] {
            Err(id) => options.store.run(id).is_ok_and(|run| run.status.state == State::Running),
            Ok(_) => true,
        };
        let is_open = |place: &usize| options.cancel.is_cancelled() || !is_trained(place);
        let open: Vec<usize> = others.into_iter().filter(is_open).collect();
        if open.is_empty() {
            std::thread::sleep(PAUSE);
        }
        let again = parallel(open.len(), at_once, |_, at| work(open[at]));
        open.into_iter().zip(again).for_each(|(place, one)| ended[place] = one);
    }
}

fn one(
    RunJob { task, plan, label }: &RunJob<'_>,
    options: &JobOptions<'_>,
    threads: usize,
    id: &mut String,
) -> Result<JobOutcome, TrainError> {
    let spec = plan.on(task).with_data(task.identity().clone());
    let device = options.device.device();
    let about = RunEnvironment::new(options.version, device, threads);
    let run = match options.store.begin(&spec.to_value(), &about, plan.training.epochs)? {
        Begun::Finished(info) => {
            *id = info.id.to_string();
            let result = Box::new(info.result()?.unwrap_or_default());
            return Ok(JobOutcome::Finished { result: Some(result), known: true });
        }
        Begun::Run(run) => run,
    };
    *id = run.id().to_string();
    let Execution { checkpoint, tensorboard, curves, .. } = &options.execution;
    let curves = curves.as_ref().map(|folder| folder.join(folder_name(label)));
    let (checkpoint, tensorboard) = (*checkpoint, *tensorboard);
    let saving = Saving { checkpoint, tensorboard, curves: curves.as_deref() };
    let keeping = Keeping { device: options.device, progress: options.progress };
    let (name, cancel) = (Some(&**label), options.cancel.clone());
    let fit = FitOptions { threads, name, progress: &keeping, cancel };
    Ok(match fit_stored(task, &spec, device, run, &saving, &fit)? {
        Outcome::Finished(trained) => {
            JobOutcome::Finished { result: Some(Box::new(trained.result)), known: false }
        }
        Outcome::Interrupted { .. } => JobOutcome::Interrupted,
        Outcome::Failed { reason } => JobOutcome::Failed(TrainError::Failed { reason }),
    })
}

/// A label as the name of a folder: `soft · 5 votes · seed 2` as `soft-5-votes-seed-2`.
fn folder_name(label: &str) -> String {
    let known = |c: char| c.is_alphanumeric() || "_.=".contains(c);
    let words = label.split(|c| !known(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn labels_name_folders() {
        assert_eq!(folder_name("soft · 5 votes · seed 2"), "soft-5-votes-seed-2");
        assert_eq!(folder_name("sls:every=2 · all votes"), "sls-every=2-all-votes");
    }
}
