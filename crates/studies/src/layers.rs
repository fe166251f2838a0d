//! From a study to runs: the spec, and on top of it, in this order, what a data set sets, what an arm
//! sets, the arm's delivery and votes, what the study (its scale, its user) sets, and a point of the
//! grid. Each combination is checked as a whole, with the place of whatever does not fit.

use dissensus_core::Direction;
use dissensus_measure::metric;
use dissensus_train::spec::{Data, Draft, Run, Spec, Votes};
use dissensus_train::{Place, RunPlan, RunResult, Selection};
use toml::Value;

use crate::StudyError;
use crate::file::{Arm, DatasetChoice, Setting, VotesChoice};
use crate::study::{Study, missing, unknown};

/// Everything of one arm on one data set with one number of votes: runs that differ in their seeds,
/// and in the points of a grid.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) dataset: String,
    pub(crate) arm: String,
    pub(crate) k: Option<u32>,
    pub(crate) seeds: Vec<u64>,
    /// What to load.
    pub(crate) data: Data,
    /// One run a point; a single one without settings where there is no grid.
    pub(crate) points: Vec<Point>,
    /// What selects a point; `None` where there is no grid.
    pub(crate) search: Option<Search>,
}

/// A point of the grid.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Setting and value, as they are written.
    pub(crate) settings: Vec<(String, String)>,
    /// The run of one seed; others differ in it alone.
    runs: Spec,
}

/// How a point is selected.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) seed: u64,
    pub(crate) metric: String,
    pub(crate) on: String,
    pub(crate) better: Direction,
}

impl Point {
    /// Its runs with these seeds.
    pub(crate) fn runs(&self, seeds: &[u64]) -> Vec<RunPlan> {
        let mut spec = self.runs.clone();
        spec.run.seeds = seeds.to_vec();
        spec.runs()
    }
}

/// Which way a metric is better, where it can select.
pub(crate) fn direction(name: &str, place: &Place) -> Result<Direction, StudyError> {
    match Selection::new(name) {
        Ok(selection) => Ok(selection.better()),
        Err(_) => {
            let directed = dissensus_measure::METRICS.iter().map(|metric| &metric.about);
            let directed = directed.filter(|about| about.direction.is_directed());
            let known: Vec<&str> = directed.map(|about| about.name).collect();
            Err(unknown("[grid] select", name, known.into_iter(), place))
        }
    }
}

impl Study {
    /// The outlines of these arms (all of them where none is named), in the order of the study.
    pub(crate) fn outlines(&self, only: Option<&[String]>) -> Result<Vec<Outline>, StudyError> {
        let mut outlines = Vec::new();
        let alone = [None];
        let datasets: Vec<Option<&DatasetChoice>> = match self.datasets.is_empty() {
            true => alone.to_vec(),
            false => self.datasets.iter().map(Some).collect(),
        };
        for dataset in datasets {
            for arm in &self.arms {
                let wanted = only.is_none_or(|only| only.contains(&arm.name));
                let here = dataset.is_none_or(|dataset| {
                    arm.datasets.is_empty() || arm.datasets.contains(&dataset.name)
                });
                if wanted && here {
                    self.arm(dataset, arm, &mut outlines)?;
                }
            }
        }
        Ok(outlines)
    }

    /// How its runs are run, which is the same for all: device, lanes, threads, store, checkpoints.
    /// The seeds are those of arms that have none of their own.
    pub fn run_settings(&self) -> Result<Run, StudyError> {
        let arm = self.arms.first().ok_or_else(|| missing(&self.file, "[[arm]]", "give it one"))?;
        Ok(self.draft(self.datasets.first(), arm, None, &[])?.check()?.run)
    }

    fn arm(
        &self,
        dataset: Option<&DatasetChoice>,
        arm: &Arm,
        outlines: &mut Vec<Outline>,
    ) -> Result<(), StudyError> {
        let entries: Vec<Option<&VotesChoice>> = match &arm.votes {
            Some(votes) => votes.iter().map(Some).collect(),
            None => vec![None],
        };
        let points = self.grid.as_ref().map_or_else(|| vec![Vec::new()], |grid| grid.points());
        for entry in entries {
            let mut specs = Vec::with_capacity(points.len());
            for point in &points {
                specs.push(self.draft(dataset, arm, entry, point)?.check()?);
            }
            let Some(first) = specs.first().cloned() else { continue };
            let own = entry.and_then(|entry| entry.seeds.as_ref()).or(arm.seeds.as_ref());
            let search = self.search(&first)?;
            for &votes in &first.data.votes {
                let point = |(spec, set): (&Spec, &Vec<Setting>)| {
                    let mut runs = spec.clone();
                    runs.data.votes = vec![votes];
                    let setting = |one: &Setting| (one.path.clone(), written(&one.value));
                    Point { settings: set.iter().map(setting).collect(), runs }
                };
                let mut data = first.data.clone();
                data.votes.clear();
                outlines.push(Outline {
                    dataset: dataset.map_or(first.data.name(), |dataset| &dataset.name).to_owned(),
                    arm: arm.name.clone(),
                    k: match votes {
                        Votes::All => None,
                        Votes::Drawn { per_item, .. } => Some(per_item),
                    },
                    seeds: own.unwrap_or(&first.run.seeds).clone(),
                    data,
                    points: specs.iter().zip(&points).map(point).collect(),
                    search: search.clone(),
                });
            }
        }
        Ok(())
    }

    fn search(&self, spec: &Spec) -> Result<Option<Search>, StudyError> {
        let Some(grid) = &self.grid else { return Ok(None) };
        let metric = grid.select.clone().unwrap_or_else(|| spec.selection.metric.clone());
        let on = grid.on.clone().unwrap_or_else(|| spec.selection.on.clone());
        let parts = spec.split.parts.get(1..).unwrap_or_default();
        if !parts.contains(&on.as_str()) {
            return Err(unknown("[grid] on", &on, parts.iter().copied(), &grid.on_place));
        }
        let better = direction(&metric, &grid.select_place)?;
        Ok(Some(Search { seed: grid.seed, metric, on, better }))
    }

    fn draft(
        &self,
        dataset: Option<&DatasetChoice>,
        arm: &Arm,
        votes: Option<&VotesChoice>,
        point: &[Setting],
    ) -> Result<Draft, StudyError> {
        let mut draft = self.base.clone();
        let mut apply = |set: &[Setting]| {
            set.iter().try_for_each(|one| draft.set(&one.path, &one.value, &one.place))
        };
        apply(dataset.map_or(&[][..], |dataset| &dataset.set))?;
        apply(&arm.set)?;
        let delivery = Value::String(arm.delivery.clone());
        draft.set("delivery.methods", &delivery, &arm.delivery_place)?;
        if let Some(choice) = votes {
            let k = choice.k.map_or(Value::String("all".into()), |k| Value::Integer(k.into()));
            draft.set("data.votes_per_item", &k, &arm.votes_place)?;
        }
        let mut apply = |set: &[Setting]| {
            set.iter().try_for_each(|one| draft.set(&one.path, &one.value, &one.place))
        };
        apply(&self.set)?;
        apply(point)?;
        Ok(draft)
    }
}

/// A value for people: a text without its quotes.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The value that selects, in a run's result.
pub(crate) fn selecting(result: &RunResult, search: &Search) -> Option<f64> {
    metric(&search.metric)?;
    result.part(&search.on)?.best.get(&search.metric)
}
