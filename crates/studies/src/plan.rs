//! A study with its data: all of its runs, with their ids.
//!
//! With a grid, each arm (on a dataset, with a number of votes) is first searched with one seed; the
//! point with the best value of the selecting metric is selected (the first of equal ones) and run with
//! all seeds. A search run that failed is not selected. Until all search runs of an arm have ended it is
//! undecided, and its final runs are not known yet.
//!
//! Arms with equal runs share them: jobs of different arms then have the same id.

use std::collections::BTreeSet;

use dissensus_report::book::Chosen;
use dissensus_sources::{LoadContext, load_material};
use dissensus_store::{RunId, State, Store};
use dissensus_train::spec::Data;
use dissensus_train::{
    ConfigError, Place, Recipe, RunPlan, RunResult, RunSpec, Selection, Task, TrainError,
    check_loss,
};
use rayon::prelude::*;

use crate::layers::Outline;
use crate::study::unknown;
use crate::{Material, Study, StudyError};

/// Which runs of a study are planned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Only these arms; empty for all.
    pub only: Vec<String>,
    /// Only these numbers of votes (`None`: all votes); empty for any.
    pub ks: Vec<Option<u32>>,
    /// The largest number of seeds per arm.
    pub seeds: Option<u64>,
    /// Only seeds in this range, both ends included.
    pub between: Option<(u64, u64)>,
}

/// A run of a study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Job {
    /// The dataset.
    pub dataset: String,
    /// The arm.
    pub arm: String,
    /// Votes per item in training; `None` for all.
    pub k: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// The point of the grid, from 0; `None` where there is no grid.
    pub point: Option<usize>,
    /// The run.
    pub run: RunPlan,
    /// Its id in a store.
    pub id: RunId,
    pub(crate) material: usize,
    /// Whether the study has several datasets.
    several: bool,
}

impl Job {
    /// Its label: `soft · 5 votes · seed 2`; with the dataset where there are several, and with the
    /// point of a grid, from 1.
    pub fn label(&self) -> String {
        let dataset = if self.several { format!("{} · ", self.dataset) } else { String::new() };
        let point = self.point.map_or(String::new(), |at| format!(" · point {}", at + 1));
        format!("{dataset}{} · {}{point} · seed {}", self.arm, self.run.votes, self.seed)
    }

    /// Whether two runs differ in their seeds alone.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        (&self.dataset, &self.arm, self.k) == (&other.dataset, &other.arm, other.k)
    }

    /// Runs, or what has one, in groups that differ in their seeds alone.
    pub(crate) fn by_arm<'j, T>(
        all: impl Iterator<Item = T>,
        run: impl Fn(&T) -> &'j Self,
    ) -> Vec<Vec<T>> {
        let mut groups: Vec<Vec<T>> = Vec::new();
        for one in all {
            match groups.iter_mut().find(|group| run(&group[0]).is_beside(run(&one))) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        groups
    }
}

/// The final runs of a study, as far as they are known.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Finals {
    /// One per dataset, arm, number of votes and seed.
    pub jobs: Vec<Job>,
    /// The selected points of the grid.
    pub chosen: Vec<Chosen>,
    /// Arms without a selected point: the search has not ended, or all of its runs failed.
    pub undecided: Vec<Undecided>,
}

/// An arm without a selected point of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undecided {
    /// The dataset.
    pub dataset: String,
    /// The arm.
    pub arm: String,
    /// Votes per item in training; `None` for all.
    pub k: Option<u32>,
    /// How many of its search runs have not ended.
    pub open: usize,
    /// How many final runs depend on them.
    pub runs: usize,
    /// How many of these are not also search runs.
    pub more: usize,
}

/// Runs of a study that are chosen, without their data.
pub struct ChosenRuns<'s> {
    study: &'s Study,
    outlines: Vec<Outline>,
}

/// A study with its data.
pub struct Plan<'s> {
    study: &'s Study,
    materials: Vec<Material>,
    groups: Vec<(Outline, usize)>,
}

impl Study {
    /// Plans the runs and loads their data, each once.
    pub fn plan(
        &self,
        options: &PlanOptions,
        context: &LoadContext<'_>,
    ) -> Result<Plan<'_>, StudyError> {
        let chosen = self.choose(options)?;
        let load = |(dataset, data): (&str, &Data)| {
            let failed = |source| StudyError::Load { dataset: dataset.to_owned(), source };
            load_material(data, context).map_err(failed)
        };
        let materials = chosen.data().into_iter().map(load).collect::<Result<_, _>>()?;
        chosen.plan(materials)
    }

    /// The runs that these options choose.
    pub fn choose(&self, options: &PlanOptions) -> Result<ChosenRuns<'_>, StudyError> {
        for name in &options.only {
            if !self.arms.iter().any(|arm| arm.name == *name) {
                let known = self.arms.iter().map(|arm| arm.name.as_str());
                return Err(unknown("the choice of arms", name, known, &Place::Call));
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
            let remedy = "choose other arms, numbers of votes or seeds";
            return Err(ConfigError::missing(&self.file, "such runs", remedy).into());
        }
        if let Some(seeds) = options.seeds {
            let most = usize::try_from(seeds).unwrap_or(usize::MAX).max(1);
            outlines.iter_mut().for_each(|outline| outline.seeds.truncate(most));
        }
        Ok(ChosenRuns { study: self, outlines })
    }

    /// The names of classes must be as many as the dataset has.
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
        Err(ConfigError::Conflict { key, place: choice.classes_place.clone(), why }.into())
    }
}

impl<'s> ChosenRuns<'s> {
    /// The data of the runs with the names of the datasets, each once. The numbers of votes are left out:
    /// loading does not depend on them.
    pub fn data(&self) -> Vec<(&str, &Data)> {
        let mut all: Vec<(&str, &Data)> = Vec::new();
        for Outline { dataset, data, .. } in &self.outlines {
            if !all.iter().any(|(_, known)| *known == data) {
                all.push((dataset, data));
            }
        }
        all
    }

    /// The runs on their data, in the order of [`data`](Self::data).
    pub fn plan(self, materials: Vec<Material>) -> Result<Plan<'s>, StudyError> {
        let data: Vec<Data> = self.data().into_iter().map(|(_, data)| data.clone()).collect();
        let (expected, found) = (data.len(), materials.len());
        if found != expected {
            return Err(StudyError::Materials { expected, found });
        }
        let mut groups = Vec::with_capacity(self.outlines.len());
        for outline in self.outlines {
            let at = data.iter().position(|data| *data == outline.data).unwrap_or_default();
            fits(&outline, &materials[at].task)?;
            self.study.named_classes(&outline, &materials[at].task)?;
            groups.push((outline, at));
        }
        Ok(Plan { study: self.study, materials, groups })
    }
}

/// The model and its loss must fit the data.
fn fits(outline: &Outline, task: &Task) -> Result<(), StudyError> {
    let classes = task.table().classes();
    for run in outline.points.iter().flat_map(|point| point.runs(&[0])) {
        let model = run.network(task.shape(), classes.len());
        model.map_err(TrainError::Engine).and_then(|_| run.check_augment(task)).map_err(
            |source| StudyError::Model {
                arm: outline.arm.clone(),
                dataset: outline.dataset.clone(),
                source,
            },
        )?;
        check_loss(run.training.loss, classes).map_err(|source| StudyError::Loss {
            arm: outline.arm.clone(),
            dataset: outline.dataset.clone(),
            source,
        })?;
    }
    Ok(())
}

impl<'s> Plan<'s> {
    /// The study.
    pub fn study(&self) -> &'s Study {
        self.study
    }

    pub(crate) fn groups(&self) -> &[(Outline, usize)] {
        &self.groups
    }

    pub(crate) fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// How images are augmented where the study leaves it to the recipe of its data.
    pub fn recipes(&self) -> Vec<Recipe> {
        let mut all: Vec<Recipe> = Vec::new();
        for (outline, material) in &self.groups {
            let task = &self.materials[*material].task;
            let runs = outline.points.iter().flat_map(|point| point.runs(&[0]));
            let open = |run: &RunPlan| run.training.augment.is_none() && task.may_be_augmented();
            for run in runs.filter(open) {
                let recipe = task.augmentation(&run.model);
                if !all.contains(&recipe) {
                    all.push(recipe);
                }
            }
        }
        all
    }

    /// The data of a job.
    pub fn material(&self, job: &Job) -> &Material {
        &self.materials[job.material]
    }

    /// What a job is trained on, for training.
    pub fn task(&self, job: &Job) -> &Task {
        &self.material(job).task
    }

    /// All that determines a job's result.
    pub fn spec(&self, job: &Job) -> RunSpec {
        job.run.with_data(self.task(job).identity().clone())
    }

    /// That epochs are selected on the items that are judged, where they are.
    pub(crate) fn selected_on_judged(&self) -> Option<String> {
        let count = self.groups.iter().filter(|(outline, _)| outline.selects_on_judged()).count();
        let which = match count {
            0 => return None,
            all if all == self.groups.len() => "The epoch of every run",
            _ => "The epoch of some runs",
        };
        Some(format!(
            "{which} is selected on the items that it is judged on, not on a validation part: these \
             results are optimistic."
        ))
    }

    /// The datasets, in order, with the material of the first arm on each.
    pub(crate) fn datasets(&self) -> Vec<(&str, &Material)> {
        let mut all: Vec<(&str, &Material)> = Vec::new();
        for (outline, material) in &self.groups {
            if !all.iter().any(|(name, _)| *name == outline.dataset) {
                all.push((&outline.dataset, &self.materials[*material]));
            }
        }
        all
    }

    pub(crate) fn jobs(&self, group: &(Outline, usize), point: usize, seeds: &[u64]) -> Vec<Job> {
        let (outline, material) = group;
        let task = &self.materials[*material].task;
        let runs = outline.points.get(point).map_or(Vec::new(), |point| point.runs(seeds));
        let job = |run: RunPlan| Job {
            dataset: outline.dataset.clone(),
            arm: outline.arm.clone(),
            k: outline.k,
            seed: run.seed,
            point: outline.search.as_ref().map(|_| point),
            id: RunId::of(&run.with_data(task.identity().clone()).to_value()),
            run,
            material: *material,
            several: self.study.datasets.len() > 1,
        };
        runs.into_par_iter().map(|run| job(run.on(task))).collect()
    }

    /// The search runs, which come first; none without a grid.
    pub fn searches(&self) -> Vec<Job> {
        self.groups.iter().flat_map(|group| self.searches_of(group)).collect()
    }

    pub(crate) fn searches_of(&self, group: &(Outline, usize)) -> Vec<Job> {
        let Some(search) = &group.0.search else { return Vec::new() };
        let points = 0..group.0.points.len();
        points.flat_map(|point| self.jobs(group, point, &[search.seed])).collect()
    }

    /// The final runs, as far as the search (in this store) has selected points.
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

    /// The point to run with all seeds; the inner error is how many search runs have not ended.
    pub(crate) fn choose(
        &self,
        group: &(Outline, usize),
        store: &Store,
    ) -> Result<Result<usize, usize>, StudyError> {
        let Some(search) = &group.0.search else { return Ok(Ok(0)) };
        let (mut open, mut selection) = (0, Selection::new(&search.metric)?);
        for (point, job) in (0..).zip(self.searches_of(group)) {
            match store.get(&job.id)? {
                Some(run) if run.status.state == State::Finished => {
                    let result: Option<RunResult> = run.result()?;
                    let part = result.as_ref().and_then(|result| result.part(&search.on));
                    selection.update(point, part.and_then(|part| part.best.get(&search.metric)));
                }
                Some(run) if matches!(run.status.state, State::Failed { .. }) => {}
                _ => open += 1,
            }
        }
        let best = selection.best().filter(|_| open == 0);
        Ok(best.and_then(|best| usize::try_from(best.epoch).ok()).ok_or(open))
    }
}

/// Each run of these jobs once, in order.
pub fn distinct(jobs: &[Job]) -> Vec<&Job> {
    let mut seen = BTreeSet::new();
    jobs.iter().filter(|job| seen.insert(job.id.clone())).collect()
}
