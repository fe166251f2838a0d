//! Numbers by item: what the figures of a study ask for.

use std::collections::HashMap;

use dissensus_labels::Source;
use dissensus_measure::{Judged, METRICS, Matrix, ModelOutput, Scorer, Settings, metric};
use dissensus_report::figures::Names;
use dissensus_train::spec::Votes;
use dissensus_train::{RunPlan, Task};
use rayon::prelude::*;

use crate::collect::Gathered;
use crate::stages::Kept;
use crate::{Job, Plan, Study, StudyError};

const TARGET_JS: &str = "target_js";

/// The columns that figures can name.
///
/// * `annotator_entropy`, `prediction_entropy`: in nats;
/// * `confidence`: the probability of the predicted class, and `human`: its share of the votes;
/// * every metric that has a value for a single item;
/// * `correct`: 1 where the predicted class is the majority label, else 0;
/// * `target_js`: where training sees k votes per item, the Jensen–Shannon distance between the
///   target that these give, drawn for every item as training draws them, and the distribution of
///   all votes.
pub fn item_columns() -> impl Iterator<Item = &'static str> {
    let metrics = METRICS.iter().filter(|metric| metric.per_item.is_some());
    ["annotator_entropy", "prediction_entropy", "confidence", "human"]
        .into_iter()
        .chain(metrics.map(|metric| metric.about.name))
        .chain(["correct", TARGET_JS])
}

/// The columns that figures want of a run, in the order of [`item_columns`].
pub(super) fn wanted(study: &Study, job: &Job) -> Vec<&'static str> {
    let named = named(study, job);
    item_columns().filter(|column| named.contains(column)).collect()
}

/// The columns of stages that figures want of a run.
pub(super) fn wanted_of_stages(study: &Study, job: &Job) -> Vec<&'static str> {
    let named = named(study, job);
    let kept = study.stages.examinations.iter().flat_map(|one| one.stage.columns());
    kept.copied().filter(|column| named.contains(column)).collect()
}

/// These columns as stages kept them, for these items; not a number where there is none.
pub(super) fn of_stages(
    names: &[&'static str],
    kept: &[Kept],
    ids: &[String],
) -> Vec<(String, Vec<f64>)> {
    let column = |&name: &&'static str| {
        let mut values: HashMap<&str, f64> = HashMap::new();
        for items in kept.iter().filter_map(|kept| kept.items.as_ref()) {
            let found = items.columns.iter().find(|(column, _)| column == name);
            for (id, value) in items.ids.iter().zip(found.into_iter().flat_map(|(_, all)| all)) {
                values.extend(value.map(|value| (id.as_str(), value)));
            }
        }
        let value = |id: &String| values.get(id.as_str()).copied().unwrap_or(f64::NAN);
        (name.to_owned(), ids.iter().map(value).collect())
    };
    names.iter().map(column).collect()
}

/// The columns that figures name for a run.
fn named<'s>(study: &'s Study, job: &Job) -> Vec<&'s str> {
    let mut named: Vec<&str> = Vec::new();
    for figure in &study.figures {
        let has = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        let arm = has(&figure.arms, &job.arm) || figure.against.as_ref() == Some(&job.arm);
        let votes = figure.ks.is_empty() || figure.ks.iter().any(|votes| votes.0 == job.k);
        if !(arm && votes && has(&figure.datasets, &job.dataset)) {
            continue;
        }
        let settings = figure.kind.settings().iter();
        for setting in settings.filter(|setting| setting.names == Names::ItemColumn) {
            named.extend(figure.names(setting.key));
        }
    }
    named
}

/// These columns of the items at these places of the data.
pub(super) fn columns(
    names: &[&'static str],
    judged: &Judged,
    places: &[usize],
    distances: Option<&[f64]>,
) -> Result<Vec<(String, Vec<f64>)>, StudyError> {
    let scorer = Scorer::new(judged, Settings::default())?;
    let truth = judged.truth();
    let column = |&name: &&'static str| {
        let values = match name {
            "annotator_entropy" => truth.entropy().to_vec(),
            "prediction_entropy" => judged.entropy().to_vec(),
            "confidence" => judged.confidence().to_vec(),
            "human" => judged.human().to_vec(),
            "correct" => {
                let pairs = judged.predicted().iter().zip(truth.majority());
                pairs.map(|(predicted, majority)| f64::from(predicted == majority)).collect()
            }
            TARGET_JS => {
                let of = |&at: &usize| distances.and_then(|all| all.get(at).copied());
                places.iter().map(|at| of(at).unwrap_or(f64::NAN)).collect()
            }
            name => {
                let values = metric(name).and_then(|metric| (metric.per_item?)(&scorer));
                values.map_or(vec![f64::NAN; judged.len()], |values| values.into_owned())
            }
        };
        (name.to_owned(), values)
    };
    Ok(names.iter().map(column).collect())
}

/// What decides a draw: the data, how many votes, what is estimated of them, the seed.
#[derive(Clone, PartialEq)]
struct Draw {
    material: usize,
    votes: Votes,
    target: dissensus_labels::Target,
    seed: u64,
}

impl Draw {
    fn of(job: &Job) -> Self {
        let (votes, target) = (job.run.votes, job.run.target.clone());
        Self { material: job.material, votes, target, seed: job.run.seed }
    }
}

/// The distances of sparse targets, for every draw that a figure asks about; by place in the data.
pub(super) struct Distances(Vec<(Draw, Vec<f64>)>);

impl Distances {
    pub(super) fn of(&self, job: &Job) -> Option<&[f64]> {
        let draw = Draw::of(job);
        self.0.iter().find(|(one, _)| *one == draw).map(|(_, values)| &values[..])
    }
}

pub(super) fn distances(plan: &Plan<'_>, gathered: &Gathered) -> Result<Distances, StudyError> {
    let mut draws: Vec<(Draw, &Job)> = Vec::new();
    for job in gathered.jobs.iter().filter(|job| gathered.ran.contains_key(&job.id)) {
        let asked = job.k.is_some() && wanted(plan.study(), job).contains(&TARGET_JS);
        let draw = Draw::of(job);
        if asked && !draws.iter().any(|(one, _)| *one == draw) {
            draws.push((draw, job));
        }
    }
    let each = |(draw, job): (Draw, &Job)| Ok((draw, target_distances(&job.run, plan.task(job))?));
    Ok(Distances(draws.into_par_iter().map(each).collect::<Result<_, StudyError>>()?))
}

/// The Jensen–Shannon distance between every item's sparse target and its full distribution. A draw
/// belongs to the item, so that drawing for all items gives those of training what it saw.
pub(crate) fn target_distances(run: &RunPlan, task: &Task) -> Result<Vec<f64>, StudyError> {
    let estimated = run.estimated(task.table())?;
    let rows = Source::new(&estimated)?.distributions();
    let targets = ModelOutput::Probabilities(Matrix::new(&rows, task.truth().classes())?);
    let judged = Judged::new(task.truth().clone(), targets)?;
    let scorer = Scorer::new(&judged, Settings::default())?;
    let values = metric("js_distance").and_then(|metric| (metric.per_item?)(&scorer));
    Ok(values.map_or(Vec::new(), |values| values.into_owned()))
}
