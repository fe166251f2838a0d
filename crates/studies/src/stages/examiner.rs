//! Stages that look into models, and the runs that they look at together.

use dissensus_engine::{LOSSES, Loss, Precision};
use dissensus_report::book::Metric;
use dissensus_store::RunId;
use serde_json::{Value, json};
use std::sync::Arc;

use super::{Kept, RunFilter};
use crate::context::Models;
use crate::finished::Finished;
use crate::{Job, Material, StudyError};

/// What a stage finds of each run; nothing of those that only stand beside the others.
pub(super) type Found = Result<Vec<Option<Kept>>, StudyError>;

/// A stage that needs the weights of runs, and a device.
pub(crate) trait Examiner: Send + Sync {
    /// Everything that decides what it finds beside the runs, their data and the precision.
    fn settings(&self) -> Value;

    /// The metrics that it gives, and how they are made.
    fn metrics(&self) -> Vec<Metric>;

    /// The runs that are looked at together. By default each alone.
    fn groups<'j>(&self, jobs: &[&'j Job]) -> Vec<Group<'j>> {
        jobs.iter().map(|job| Group { runs: vec![*job], subjects: 1, least: 1 }).collect()
    }

    /// The columns of numbers by item that it keeps.
    fn columns(&self) -> &'static [&'static str] {
        &[]
    }

    /// The lines that it keeps.
    fn paths(&self) -> &'static [&'static str] {
        &[]
    }

    /// Adds the numbers and lines that follow from what it keeps by item of a run. They need no model, so
    /// they are made when results are collected.
    fn derive(&self, _: &mut Kept, _: &Job, _: &Material) -> Result<(), StudyError> {
        Ok(())
    }

    /// Data sets of the catalogue, and paths of other inputs, that it reads beside the study's own.
    fn needs(&self) -> Vec<&str> {
        Vec::new()
    }

    /// What it finds of the runs of a group. Models are opened one at a time, as far as that can be:
    /// a GPU may hold only one of them.
    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found;
}

/// Refuses a run whose loss the words and formulas of a stage's metrics do not fit.
pub(super) fn trained_by(
    run: &Finished<'_>,
    stage: &str,
    fits: impl Fn(Loss) -> bool,
) -> Result<(), StudyError> {
    let loss = run.job.run.training.loss;
    if fits(loss) {
        return Ok(());
    }
    let known: Vec<&str> =
        LOSSES.iter().filter(|entry| fits(entry.loss)).map(|entry| entry.name).collect();
    let reason = format!(
        "the stage `{stage}` is for runs of the losses {}, and it was trained by `{}`; choose the runs \
         with the stage's `arms`",
        known.join(", "),
        loss.name()
    );
    Err(StudyError::Run { id: run.info.id.clone(), reason })
}

/// A stage that looks into models, as a study names it.
#[derive(Clone)]
pub(crate) struct Examination {
    /// Its name, as in the list.
    pub(crate) name: &'static str,
    /// The runs that it is for.
    pub(crate) runs: RunFilter,
    pub(crate) precision: Precision,
    pub(crate) stage: Arc<dyn Examiner>,
}

impl Examination {
    /// Everything that decides what it finds beside the runs and their data.
    pub(crate) fn settings(&self) -> Value {
        let mut settings = self.stage.settings();
        settings["format"] = 1.into();
        settings["precision"] = json!(self.precision);
        settings
    }

    /// The runs that are looked at together, of those that it is for.
    pub(crate) fn groups<'j>(&self, jobs: &'j [Job]) -> Vec<Group<'j>> {
        self.stage.groups(&self.runs.of(jobs))
    }
}

/// Runs that are looked at together.
#[derive(Clone, Debug)]
pub(crate) struct Group<'j> {
    /// The runs.
    pub(crate) runs: Vec<&'j Job>,
    /// The first so many get numbers; the others only stand beside them.
    pub(crate) subjects: usize,
    /// How many of the runs it takes at least.
    pub(crate) least: usize,
}

impl<'j> Group<'j> {
    /// The seeds of each arm together; one alone has nobody to be compared with.
    pub(super) fn seeds_of_arms(jobs: &[&'j Job]) -> Vec<Self> {
        let groups =
            Job::by_arm(jobs.iter().copied(), |job| *job).into_iter().filter(|runs| runs.len() > 1);
        groups.map(|runs| Self { subjects: runs.len(), runs, least: 2 }).collect()
    }

    /// Each of these runs with that of another arm of the same seed, data set and number of votes; the
    /// first of a pair gets numbers.
    pub(super) fn pairs(jobs: &[&'j Job], of: impl Fn(&Job) -> bool, arm: &str) -> Vec<Self> {
        let pair = |a: &&'j Job| {
            let other =
                |b: &&&Job| b.arm == arm && (&b.dataset, b.k, b.seed) == (&a.dataset, a.k, a.seed);
            let b = jobs.iter().find(other)?;
            Some(Self { runs: vec![*a, *b], subjects: 1, least: 2 })
        };
        jobs.iter().filter(|job| of(job)).filter_map(pair).collect()
    }

    /// The runs that get numbers.
    pub(crate) fn subjects(&self) -> &[&'j Job] {
        &self.runs[..self.subjects.min(self.runs.len())]
    }

    /// The runs beside this one.
    pub(crate) fn peers(&self, job: &Job) -> Vec<&RunId> {
        self.runs.iter().map(|other| &other.id).filter(|id| **id != job.id).collect()
    }

    /// For people.
    pub(crate) fn label(&self) -> String {
        match &self.runs[..] {
            [] => String::new(),
            [one] => one.label(),
            [first, second] if !first.is_beside(second) => {
                format!("{} and {}", first.label(), second.arm)
            }
            [first, ..] => format!("{} and {} others", first.label(), self.runs.len() - 1),
        }
    }

    /// Whether they are the same runs.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.runs.iter().map(|job| &job.id).eq(other.runs.iter().map(|job| &job.id))
    }
}
