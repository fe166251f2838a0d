//! Whether arms differ most on the training items whose few votes mislead: the soft NLL of every training
//! item against all of its votes, in a run and in the run of another arm with the same seed, data set and
//! number of votes. What the run gains on an item is correlated with the distance of its few votes from all.
//!
//! Items with more disagreement have draws that are farther from all votes, whatever was trained on them.
//! So the correlation is also given with entropy partialled out, and for a placebo: as many votes of the
//! same items, drawn by another seed, which no run has seen.

use std::sync::Arc;

use dissensus_measure::{Judged, Matrix, ModelOutput, Scorer, Settings, metric};
use dissensus_report::book::{Direction, Metric};
use dissensus_stats::correlation::{CorrelationSettings, partial_spearman, spearman};
use dissensus_train::RunPlan;
use serde_json::{Value, json};

use super::kept::{ItemColumns, Path};
use super::settings::mean;
use super::{Examiner, Found, Group, Kept, Read, StageEntry};
use crate::book::target_distances;
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Job, Material, Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "draws",
    about: "whether arms differ most on training items whose few votes mislead; needs the weights",
    always: false,
    keys: &["against"],
    template: r#"# Whether an arm gains most on the training items whose few votes are far from all votes, compared with
# the run of the arm `against` of the same seed and number of votes. The soft NLL of every training item
# is stored.
[stages.draws]
against = "soft"
arms = ["sls", "soft"]
ks = [5]
# precision = "f32"
"#,
    read: Read::Examiner(read),
};

const GAIN: &str = "train_gain";
const DRAW: [&str; 2] = ["draw_spearman", "draw_partial"];
const PLACEBO: [&str; 2] = ["placebo_spearman", "placebo_partial"];
const EXCESS: &str = "draw_excess";
const PATHS: [&str; 2] = ["draw.train_gain", "placebo.train_gain"];

/// Soft NLL of the run, and of the other arm's.
const COLUMNS: [&str; 2] = ["train_soft_nll", "train_soft_nll_against"];

/// The placebo is drawn by the run's seed and this.
const PLACEBO_SEED: u64 = 1000;

/// Bins of equal count of the lines.
const BINS: usize = 8;

struct Draws {
    /// The arm that the others are compared with.
    against: String,
}

fn read(section: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    const AGAINST: &str = "an arm, as in \"soft\": the others are compared with it";
    let against = section.get("against", AGAINST)?;
    let against = against.ok_or_else(|| section.unexpected("against", AGAINST))?;
    Ok(Arc::new(Draws { against }))
}

impl Examiner for Draws {
    fn settings(&self) -> Value {
        json!({})
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |name: &str, title: &str, digits, what: &str, formula: &str| Metric {
            name: name.into(),
            title: title.into(),
            better: Direction::Neither,
            digits,
            what: what.into(),
            formula: formula.into(),
            settings: format!(
                "over training items, without augmentation, at the selected epoch, against {} of the \
                 same seed; a placebo is drawn by the run's seed + {PLACEBO_SEED}",
                self.against
            ),
            source: "partial rank correlation: Kendall, Biometrika 32 (1942)".into(),
        };
        let distance = "the Jensen–Shannon distance between the target of an item's drawn votes and the \
                        distribution of all its votes";
        let gain = "gain in soft NLL";
        vec![
            metric(
                GAIN,
                "gain on training items",
                4,
                &format!(
                    "How much lower the soft NLL of training items is than with {}",
                    self.against
                ),
                "mean over training items of g = −Σ_k p_k ln r_k + Σ_k p_k ln q_k, with the predictions q \
                 of the run and r of the other",
            ),
            metric(
                DRAW[0],
                "ρ, own draw",
                3,
                &format!("Spearman's correlation of the {gain} with {distance}"),
                "ρ(d, g)",
            ),
            metric(
                DRAW[1],
                "partial ρ, own draw",
                3,
                &format!("The same, given the entropy of all votes: of the {gain} with {distance}"),
                "(ρ(d, g) − ρ(d, h) ρ(g, h)) / √((1 − ρ(d, h)²)(1 − ρ(g, h)²)), h the entropy",
            ),
            metric(
                PLACEBO[0],
                "ρ, placebo draw",
                3,
                &format!(
                    "As for the own draw, for a draw that was not trained on: of the {gain} with {distance}"
                ),
                "ρ(d′, g)",
            ),
            metric(
                PLACEBO[1],
                "partial ρ, placebo draw",
                3,
                "The same for a draw that was not trained on, given the entropy of all votes",
                "as draw_partial, with d′ for d",
            ),
            metric(
                EXCESS,
                "partial ρ, own − placebo",
                3,
                "How much more the gain has to do with the draw that was trained on than with another",
                "draw_partial − placebo_partial",
            ),
        ]
    }

    fn groups<'j>(&self, jobs: &[&'j Job]) -> Vec<Group<'j>> {
        Group::pairs(jobs, |job| job.arm != self.against, &self.against)
    }

    fn paths(&self) -> &'static [&'static str] {
        &PATHS
    }

    fn derive(&self, kept: &mut Kept, job: &Job, material: &Material) -> Result<(), StudyError> {
        let damaged =
            |reason: &str| StudyError::Run { id: job.id.clone(), reason: reason.to_owned() };
        let items = kept.items.as_ref().ok_or_else(|| damaged("its draws have no items"))?;
        let known = material.task.table().items();
        let places: Option<Vec<usize>> = items.ids.iter().map(|id| known.position(id)).collect();
        let places =
            places.ok_or_else(|| damaged("its draws have an item that is not in its data"))?;
        let column = |name: &str| -> Result<Vec<f64>, StudyError> {
            let values = items.column(name).and_then(|all| all.iter().copied().collect());
            values.ok_or_else(|| damaged(&format!("its draws have no {name}")))
        };
        let (own, other) = (column(COLUMNS[0])?, column(COLUMNS[1])?);
        let gain: Vec<f64> = other.iter().zip(&own).map(|(other, own)| other - own).collect();
        let entropies = material.task.truth().entropy();
        let entropy: Vec<f64> = places.iter().map(|&at| entropies[at]).collect();
        let placebo = RunPlan { seed: job.run.seed.wrapping_add(PLACEBO_SEED), ..job.run.clone() };
        kept.numbers.push(Number::new(GAIN, "all", mean(&gain)));
        let mut partials = Vec::new();
        for ((run, names), path) in [(&job.run, DRAW), (&placebo, PLACEBO)].into_iter().zip(PATHS) {
            let all = target_distances(run, &material.task)?;
            // Equal distances are ties, in whichever order their classes were added.
            let distance: Vec<f64> = places.iter().map(|&at| rounded(all[at])).collect();
            let plain = spearman(&distance, &gain, &CorrelationSettings::default())?.r;
            let partial = partial_spearman(&distance, &gain, &entropy)?;
            partials.push(partial);
            kept.numbers.extend([
                Number::new(names[0], "all", plain),
                Number::new(names[1], "all", partial),
            ]);
            kept.paths.push(binned(path, &distance, &gain));
        }
        let excess = match partials[..] {
            [Some(draw), Some(placebo)] => Some(draw - placebo),
            _ => None,
        };
        kept.numbers.push(Number::new(EXCESS, "all", excess));
        Ok(())
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        let [run, other] = runs else { return Ok(Vec::new()) };
        let ((ids, own), (others, against)) = (losses(run, models)?, losses(other, models)?);
        if ids != others {
            let reason = format!("it was trained on other items than run {}", other.info.id);
            return Err(StudyError::Run { id: run.info.id.clone(), reason });
        }
        let column = |(name, values): (&str, Vec<f64>)| {
            (name.to_owned(), values.into_iter().map(|value| Some(rounded(value))).collect())
        };
        let columns = COLUMNS.into_iter().zip([own, against]).map(column).collect();
        let items = Some(ItemColumns { ids, columns });
        Ok(vec![Some(Kept { items, ..Kept::default() }), None])
    }
}

/// The training items of a run, and the soft NLL of each.
fn losses(run: &Finished<'_>, models: &Models<'_>) -> Result<(Vec<String>, Vec<f64>), StudyError> {
    let mut model = models.open(run)?;
    let part = model.part(run.job.run.split.parts.first().map(String::as_str))?;
    let (rows, truth) = (part.rows.clone(), part.truth.clone());
    let logits = model.logits(&rows, &models.observer)?;
    let logits = ModelOutput::Logits(Matrix::new(&logits[..], truth.classes())?);
    let judged = Judged::new(truth, logits)?;
    let scorer = Scorer::new(&judged, Settings::default())?;
    let losses = metric("soft_nll").and_then(|metric| (metric.per_item?)(&scorer));
    let ids = rows.iter().map(|&row| model.items().name(row as usize).to_owned()).collect();
    Ok((ids, losses.unwrap_or_default().into_owned()))
}

/// To six significant digits: files stay small, logits are not more accurate, and what differs by the
/// rounding of a sum is equal.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// The mean gain of items in bins of equal count by distance, the nearest first; of equals by place.
fn binned(name: &str, distance: &[f64], gain: &[f64]) -> Path {
    let mut order: Vec<usize> = (0..distance.len()).collect();
    order.sort_by(|&a, &b| distance[a].total_cmp(&distance[b]));
    let bins = BINS.min(order.len());
    let cut = |bin: usize| order.len() * bin / bins;
    let mut path = Path { name: name.to_owned(), ..Path::default() };
    for bin in 0..bins {
        let gains: Vec<f64> = order[cut(bin)..cut(bin + 1)].iter().map(|&at| gain[at]).collect();
        path.x.push((bin + 1) as f64);
        path.y.extend(mean(&gains));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_equal_counts_and_go_by_distance() {
        let distance: Vec<f64> = (0..16).map(|at| f64::from((at * 5) % 16)).collect();
        let path = binned("p", &distance, &distance);
        assert_eq!(path.x, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(path.y, [0.5, 2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5]);
        // Equal distances are in the order of items.
        let equal = binned("p", &[0.0; 8], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(equal.y, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(binned("p", &[0.2, 0.1], &[3.0, 4.0]).y, [4.0, 3.0]);
    }

    #[test]
    fn six_digits_are_kept() {
        let (a, b) = (rounded(0.000_123_456_789), rounded(12.345_678_9));
        assert_eq!((a, b, rounded(0.0)), (0.000_123_457, 12.345_7, 0.0));
    }
}
