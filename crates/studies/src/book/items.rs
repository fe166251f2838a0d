//! Numbers by item: what the figures of a study ask for.

use std::collections::HashMap;

use dissensus_labels::Source;
use dissensus_measure::{Judged, METRICS, Matrix, ModelOutput, Scorer, Settings, Truth, metric};
use dissensus_report::claims::ClaimKind;
use dissensus_report::figures::Names;
use dissensus_train::spec::Votes;
use dissensus_train::{RunPlan, Task};
use rayon::prelude::*;

use crate::collect::Gathered;
use crate::stages::Kept;
use crate::{Job, Plan, Study, StudyError};

const TARGET_JS: &str = "target_js";
const TARGET_L1: &str = "target_l1";
const OTHER_TARGET_JS: &str = "other_target_js";

/// How far the seed of another draw is from that of the run: no run of a study has it.
const OTHER: u64 = 1_000_003;

/// The columns that figures can name.
///
/// * `annotator_entropy`, `prediction_entropy`: in nats, and `normalized_entropy`: that of the votes,
///   divided by the logarithm of the number of classes;
/// * `label_variance`: 1 − Σ p², the variance of a label that is drawn from the votes;
/// * `confidence`: the probability of the predicted class, and `human`: its share of the votes;
/// * every metric that has a value for a single item;
/// * `correct`: 1 where the predicted class is the majority label, else 0;
/// * `target_js`: where training sees k votes per item, the Jensen–Shannon distance between the
///   target that these give, drawn for every item as training draws them, and the distribution of
///   all votes; `target_l1`: the L1 distance; `other_target_js`: that of another draw of as many votes,
///   which no run saw.
pub fn item_columns() -> impl Iterator<Item = &'static str> {
    let metrics = METRICS.iter().filter(|metric| metric.per_item.is_some());
    DATA_COLUMNS
        .into_iter()
        .chain(["prediction_entropy", "confidence", "human"])
        .chain(metrics.map(|metric| metric.about.name))
        .chain(["correct", TARGET_JS, TARGET_L1, OTHER_TARGET_JS])
}

/// Those that depend on the votes alone.
pub(super) const DATA_COLUMNS: [&str; 3] =
    ["annotator_entropy", "normalized_entropy", "label_variance"];

/// The columns of [`DATA_COLUMNS`].
pub(super) fn of_data(name: &str, truth: &Truth) -> Option<Vec<f64>> {
    let classes = truth.classes().max(2);
    Some(match name {
        "annotator_entropy" => truth.entropy().to_vec(),
        "normalized_entropy" => truth.entropy().iter().map(|h| h / (classes as f64).ln()).collect(),
        "label_variance" => {
            let rows = truth.targets().chunks_exact(classes);
            rows.map(|row| 1.0 - row.iter().map(|p| p * p).sum::<f64>()).collect()
        }
        _ => return None,
    })
}

/// The columns that figures and claims want of a run, in the order of [`item_columns`].
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

/// The columns that figures and claims name for a run.
fn named<'s>(study: &'s Study, job: &Job) -> Vec<&'s str> {
    let mut named: Vec<&str> = Vec::new();
    // A figure of the data themselves asks nothing of runs.
    for figure in study.figures.iter().filter(|figure| !figure.data) {
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
    for claim in study.claims.iter().filter(|claim| claim.kind == ClaimKind::Correlation) {
        let arm = claim.arms.contains(&job.arm) || claim.than.as_ref() == Some(&job.arm);
        let votes = match claim.ks.is_empty() {
            true => job.k.is_none(),
            false => claim.ks.iter().any(|votes| votes.0 == job.k),
        };
        let here = claim.datasets.is_empty() || claim.datasets.contains(&job.dataset);
        if arm && votes && here {
            named.extend(claim.columns());
        }
    }
    named
}

/// These columns of the items at these places of the data.
pub(super) fn columns(
    names: &[&'static str],
    judged: &Judged,
    places: &[usize],
    distances: Option<&Distance>,
) -> Result<Vec<(String, Vec<f64>)>, StudyError> {
    let scorer = Scorer::new(judged, Settings::default())?;
    let truth = judged.truth();
    let column = |&name: &&'static str| {
        let values = match name {
            "prediction_entropy" => judged.entropy().to_vec(),
            "confidence" => judged.confidence().to_vec(),
            "human" => judged.human().to_vec(),
            "correct" => {
                let pairs = judged.predicted().iter().zip(truth.majority());
                pairs.map(|(predicted, majority)| f64::from(predicted == majority)).collect()
            }
            TARGET_JS | TARGET_L1 | OTHER_TARGET_JS => {
                let of = |&at: &usize| distances.and_then(|all| all.of(name).get(at).copied());
                places.iter().map(|at| of(at).unwrap_or(f64::NAN)).collect()
            }
            name => {
                let metric = || Some((metric(name)?.per_item?)(&scorer)?.into_owned());
                let values = of_data(name, truth).or_else(metric);
                values.unwrap_or_else(|| vec![f64::NAN; judged.len()])
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

/// The distances of sparse targets, for every draw that a figure or a claim asks about.
pub(super) struct Distances(Vec<(Draw, Distance)>);

/// How far the targets of a draw are from the distributions of all votes; by place in the data.
pub(super) struct Distance {
    js: Vec<f64>,
    l1: Vec<f64>,
    /// Of another draw.
    other: Vec<f64>,
}

impl Distance {
    fn of(&self, column: &str) -> &[f64] {
        match column {
            TARGET_L1 => &self.l1,
            OTHER_TARGET_JS => &self.other,
            _ => &self.js,
        }
    }
}

impl Distances {
    pub(super) fn of(&self, job: &Job) -> Option<&Distance> {
        let draw = Draw::of(job);
        self.0.iter().find(|(one, _)| *one == draw).map(|(_, distance)| distance)
    }
}

pub(super) fn distances(plan: &Plan<'_>, gathered: &Gathered) -> Result<Distances, StudyError> {
    let mut draws: Vec<(Draw, &Job)> = Vec::new();
    for job in gathered.jobs.iter().filter(|job| gathered.ran.contains_key(&job.id)) {
        let drawn = [TARGET_JS, TARGET_L1, OTHER_TARGET_JS];
        let wanted = wanted(plan.study(), job);
        let asked = job.k.is_some() && wanted.iter().any(|column| drawn.contains(column));
        let draw = Draw::of(job);
        if asked && !draws.iter().any(|(one, _)| *one == draw) {
            draws.push((draw, job));
        }
    }
    let each = |(draw, job): (Draw, &Job)| Ok((draw, distance(plan, job)?));
    Ok(Distances(draws.into_par_iter().map(each).collect::<Result<_, StudyError>>()?))
}

fn distance(plan: &Plan<'_>, job: &Job) -> Result<Distance, StudyError> {
    let task = plan.task(job);
    let other = RunPlan { seed: job.run.seed.wrapping_add(OTHER), ..job.run.clone() };
    let half = distances_by("total_variation", &job.run, task)?;
    Ok(Distance {
        js: target_distances(&job.run, task)?,
        l1: half.into_iter().map(|half| 2.0 * half).collect(),
        other: target_distances(&other, task)?,
    })
}

/// The Jensen–Shannon distance between every item's sparse target and its full distribution. A draw
/// belongs to the item, so that drawing for all items gives those of training what it saw.
pub(crate) fn target_distances(run: &RunPlan, task: &Task) -> Result<Vec<f64>, StudyError> {
    distances_by("js_distance", run, task)
}

fn distances_by(name: &str, run: &RunPlan, task: &Task) -> Result<Vec<f64>, StudyError> {
    let estimated = run.estimated(task.table())?;
    let rows = Source::new(&estimated)?.distributions();
    let targets = ModelOutput::Probabilities(Matrix::new(&rows, task.truth().classes())?);
    let judged = Judged::new(task.truth().clone(), targets)?;
    let scorer = Scorer::new(&judged, Settings::default())?;
    let values = metric(name).and_then(|metric| (metric.per_item?)(&scorer));
    Ok(values.map_or(Vec::new(), |values| values.into_owned()))
}
