//! A study with its data: every run of it, by name.
//!
//! Where there is a grid, every arm (on a data set, with a number of votes) is first searched with
//! one seed; the point with the best value of the selecting metric is chosen, of equals the first,
//! and run with all seeds. A search that failed is not chosen. Until all searches of an arm have
//! ended it is undecided, and its final runs cannot be named yet.
//!
//! Arms that come to the same run share it: jobs of different arms then have one id.

use std::collections::BTreeSet;

use dissensus_labels::nearest;
use dissensus_report::book::Chosen;
use dissensus_store::{RunId, State, Store};
use dissensus_train::spec::Data;
use dissensus_train::{Place, RunPlan, RunResult, RunSpec, Task, TrainError};

use crate::error::LoadError;
use crate::layers::{Outline, selecting};
use crate::{Material, Study, StudyError};

/// What of a study is planned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Only these arms; none for all.
    pub only: Vec<String>,
    /// Only these numbers of votes (`None`: all); none for any.
    pub ks: Vec<Option<u32>>,
    /// At most so many seeds of each.
    pub seeds: Option<u64>,
    /// Only seeds from this one to that, both among them.
    pub between: Option<(u64, u64)>,
}

/// A run, and what it is in a study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Job {
    /// The data set.
    pub dataset: String,
    /// The arm.
    pub arm: String,
    /// Votes an item in training; `None` for all.
    pub k: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// The point of the grid, from 0; `None` where there is no grid.
    pub point: Option<usize>,
    /// The run.
    pub run: RunPlan,
    /// Its name in a store.
    pub id: RunId,
    pub(crate) material: usize,
    /// Whether the study has other data sets, too.
    several: bool,
}

impl Job {
    /// For people: `soft · 5 votes · seed 2`; with the data set where there are several, and with
    /// the point of a grid, from 1.
    pub fn label(&self) -> String {
        let dataset = if self.several { format!("{} · ", self.dataset) } else { String::new() };
        let point = self.point.map_or(String::new(), |at| format!(" · point {}", at + 1));
        format!("{dataset}{} · {}{point} · seed {}", self.arm, self.run.votes, self.seed)
    }
}

/// The final runs of a study, as far as they can be named.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Finals {
    /// One for each data set, arm, number of votes and seed.
    pub jobs: Vec<Job>,
    /// What the grid chose.
    pub chosen: Vec<Chosen>,
    /// Arms whose search has not ended, or found nothing.
    pub undecided: Vec<Undecided>,
}

/// An arm that no point of the grid is chosen for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undecided {
    /// The data set.
    pub dataset: String,
    /// The arm.
    pub arm: String,
    /// Votes an item in training; `None` for all.
    pub k: Option<u32>,
    /// How many of its searches have not ended.
    pub open: usize,
    /// How many final runs wait for them.
    pub runs: usize,
    /// How many of these are not runs of the search, too.
    pub more: usize,
}

/// A study with its data.
pub struct Plan<'s> {
    study: &'s Study,
    materials: Vec<Material>,
    groups: Vec<(Outline, usize)>,
}

impl Study {
    /// Resolves the study and loads its data, each once. `load` gets what the spec says of the data;
    /// its numbers of votes are not for it.
    pub fn plan<M: Into<Material>>(
        &self,
        options: &PlanOptions,
        load: &mut dyn FnMut(&Data) -> Result<M, LoadError>,
    ) -> Result<Plan<'_>, StudyError> {
        for name in &options.only {
            if !self.arms.iter().any(|arm| arm.name == *name) {
                let known = || self.arms.iter().map(|arm| arm.name.as_str());
                return Err(StudyError::UnknownName {
                    key: "--arms".into(),
                    found: name.clone(),
                    nearest: nearest(name, known()).to_owned(),
                    known: known().collect::<Vec<_>>().join(", "),
                    place: Place::Call,
                });
            }
        }
        let only = Some(&options.only[..]).filter(|only| !only.is_empty());
        let mut outlines = self.outlines(only)?;
        if !options.ks.is_empty() {
            outlines.retain(|outline| options.ks.contains(&outline.k));
        }
        if let Some((first, last)) = options.between {
            let among = |seed: &u64| (first..=last).contains(seed);
            outlines.iter_mut().for_each(|outline| outline.seeds.retain(among));
            outlines.retain(|outline| !outline.seeds.is_empty());
        }
        if outlines.is_empty() {
            return Err(StudyError::Missing {
                study: self.file.clone(),
                key: "run that was asked for".into(),
                remedy: "ask for other arms, numbers of votes or seeds".into(),
            });
        }
        if let Some(seeds) = options.seeds {
            let most = usize::try_from(seeds).unwrap_or(usize::MAX).max(1);
            outlines.iter_mut().for_each(|outline| outline.seeds.truncate(most));
        }
        let (mut materials, mut groups) = (Vec::new(), Vec::new());
        let mut loaded: Vec<Data> = Vec::new();
        for outline in outlines {
            let at = match loaded.iter().position(|data| *data == outline.data) {
                Some(at) => at,
                None => {
                    let dataset = outline.dataset.clone();
                    let material = load(&outline.data)
                        .map_err(|source| StudyError::Load { dataset, source })?;
                    loaded.push(outline.data.clone());
                    materials.push(material.into());
                    materials.len() - 1
                }
            };
            fits(&outline, &materials[at].task)?;
            self.named_classes(&outline, &materials[at].task)?;
            groups.push((outline, at));
        }
        Ok(Plan { study: self, materials, groups })
    }

    /// Names for the classes of a data set must be as many as it has.
    fn named_classes(&self, outline: &Outline, task: &Task) -> Result<(), StudyError> {
        let choice = self.datasets.iter().find(|choice| choice.name == outline.dataset);
        let Some(choice) = choice.filter(|choice| !choice.classes.is_empty()) else {
            return Ok(());
        };
        let (named, classes) = (choice.classes.len(), task.table().classes().len());
        if named == classes {
            return Ok(());
        }
        let why = format!("names {named} classes, and the data have {classes}");
        let key = format!("[[dataset]] {} classes", choice.name);
        Err(StudyError::Conflict { key, place: choice.classes_place.clone(), why })
    }
}

/// A model that does not fit the data fits no run.
fn fits(outline: &Outline, task: &Task) -> Result<(), StudyError> {
    let classes = task.table().classes().len();
    for run in outline.points.iter().flat_map(|point| point.runs(&[0])) {
        run.model.network(task.shape(), classes).map_err(|error| StudyError::Model {
            arm: outline.arm.clone(),
            dataset: outline.dataset.clone(),
            source: TrainError::Engine(error),
        })?;
    }
    Ok(())
}

impl<'s> Plan<'s> {
    /// The study.
    pub fn study(&self) -> &'s Study {
        self.study
    }

    /// What a job is trained on.
    pub fn material(&self, job: &Job) -> &Material {
        &self.materials[job.material]
    }

    /// What a job is trained on, for training.
    pub fn task(&self, job: &Job) -> &Task {
        &self.material(job).task
    }

    /// All that decides a job's result.
    pub fn spec(&self, job: &Job) -> RunSpec {
        job.run.with_data(self.task(job).identity().clone())
    }

    /// The data sets, in order, with the material of the first arm on each.
    pub(crate) fn datasets(&self) -> Vec<(&str, &Material)> {
        let mut all: Vec<(&str, &Material)> = Vec::new();
        for (outline, material) in &self.groups {
            if !all.iter().any(|(name, _)| *name == outline.dataset) {
                all.push((&outline.dataset, &self.materials[*material]));
            }
        }
        all
    }

    fn jobs(&self, group: &(Outline, usize), point: usize, seeds: &[u64]) -> Vec<Job> {
        let (outline, material) = group;
        let identity = self.materials[*material].task.identity();
        let runs = outline.points.get(point).map_or(Vec::new(), |point| point.runs(seeds));
        let job = |run: RunPlan| Job {
            dataset: outline.dataset.clone(),
            arm: outline.arm.clone(),
            k: outline.k,
            seed: run.seed,
            point: outline.search.as_ref().map(|_| point),
            id: RunId::of(&run.with_data(identity.clone()).to_value()),
            run,
            material: *material,
            several: self.study.datasets.len() > 1,
        };
        runs.into_iter().map(job).collect()
    }

    /// The runs of the search, which come first; none where there is no grid.
    pub fn searches(&self) -> Vec<Job> {
        self.groups.iter().flat_map(|group| self.searches_of(group)).collect()
    }

    fn searches_of(&self, group: &(Outline, usize)) -> Vec<Job> {
        let Some(search) = &group.0.search else { return Vec::new() };
        let points = 0..group.0.points.len();
        points.flat_map(|point| self.jobs(group, point, &[search.seed])).collect()
    }

    /// The final runs, as far as the search (in this store) has decided on them.
    pub fn finals(&self, store: &Store) -> Result<Finals, StudyError> {
        let mut finals = Finals::default();
        for group in &self.groups {
            let outline = &group.0;
            let point = match self.choose(group, store)? {
                Ok(point) => point,
                Err(open) => {
                    let searched = outline.search.as_ref().map(|search| search.seed);
                    let more = outline.seeds.iter().filter(|&&seed| Some(seed) != searched);
                    finals.undecided.push(Undecided {
                        more: more.count(),
                        dataset: outline.dataset.clone(),
                        arm: outline.arm.clone(),
                        k: outline.k,
                        open,
                        runs: outline.seeds.len(),
                    });
                    continue;
                }
            };
            if let (Some(point), Some(_)) = (outline.points.get(point), &outline.search) {
                finals.chosen.push(Chosen {
                    dataset: outline.dataset.clone(),
                    arm: outline.arm.clone(),
                    k: outline.k,
                    settings: point.settings.clone(),
                });
            }
            finals.jobs.extend(self.jobs(group, point, &outline.seeds));
        }
        Ok(finals)
    }

    /// The point to run with all seeds; the inner error is how many searches have not ended.
    fn choose(
        &self,
        group: &(Outline, usize),
        store: &Store,
    ) -> Result<Result<usize, usize>, StudyError> {
        let Some(search) = &group.0.search else { return Ok(Ok(0)) };
        let (mut open, mut values) = (0, Vec::new());
        for job in self.searches_of(group) {
            let run = store.get(&job.id)?;
            match run.as_ref().map(|run| &run.status.state) {
                Some(State::Finished) => {
                    let result: Option<RunResult> =
                        run.and_then(|run| run.result().transpose()).transpose()?;
                    values.push(result.and_then(|result| selecting(&result, search)));
                }
                Some(State::Failed { .. }) => values.push(None),
                _ => open += 1,
            }
        }
        if open > 0 {
            return Ok(Err(open));
        }
        Ok(best(&values, search.better).ok_or(0))
    }
}

/// The first of the best values.
fn best(values: &[Option<f64>], better: dissensus_core::Direction) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        let wins = best.is_none_or(|(_, best)| better.is_better(value, best));
        if wins {
            best = Some((at, value));
        }
    }
    best.map(|(at, _)| at)
}

/// Every run of these jobs once, in order.
pub fn distinct(jobs: &[Job]) -> Vec<&Job> {
    let mut seen = BTreeSet::new();
    jobs.iter().filter(|job| seen.insert(job.id.clone())).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use dissensus_core::Direction::{Higher, Lower};

    #[test]
    fn of_equals_the_first_is_chosen() {
        let values = [None, Some(0.5), Some(0.25), Some(0.25), Some(f64::NAN), Some(0.5)];
        assert_eq!(best(&values, Lower), Some(2));
        assert_eq!(best(&values, Higher), Some(1));
        assert_eq!(best(&[None, Some(f64::INFINITY)], Lower), None);
    }
}
