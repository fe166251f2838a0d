//! Stages that look into models, and the runs that they look at together.

use dissensus_examine::Observer;
use dissensus_report::book::Metric;
use dissensus_store::RunId;
use serde_json::Value;

use super::{Among, Kept};
use crate::finished::Finished;
use crate::{Bench, Job, Material, Number, StudyError};

/// A stage that needs the weights of runs, and a device.
pub(crate) trait Examiner: Send + Sync {
    /// Its name, as in the list.
    fn name(&self) -> &'static str;

    /// Everything that decides what it finds beside the runs and their data.
    fn settings(&self) -> Value;

    /// The metrics that it gives, and how they are made.
    fn metrics(&self) -> Vec<Metric>;

    /// The runs that it is for.
    fn among(&self) -> &Among;

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

    /// Numbers that follow from what it keeps by item. They need no model, so they are made when results
    /// are collected.
    fn derived(&self, kept: &Kept, material: &Material) -> Vec<Number> {
        let _ = (kept, material);
        Vec::new()
    }

    /// Data sets of the catalogue, and paths of other inputs, that it reads beside the study's own.
    fn needs(&self) -> Vec<&str> {
        Vec::new()
    }

    /// What it finds of each run; nothing of those that only stand beside the others. Models are
    /// opened one at a time, as far as that can be: a GPU may hold only one of them.
    fn examine(
        &self,
        runs: &[Finished<'_>],
        bench: &Bench<'_>,
        observer: &Observer<'_>,
    ) -> Result<Vec<Option<Kept>>, StudyError>;
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

impl Group<'_> {
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
        let ids = |group: &Self| group.runs.iter().map(|job| job.id.clone()).collect::<Vec<_>>();
        ids(self) == ids(other)
    }
}
