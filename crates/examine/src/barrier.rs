//! Soft NLL along the straight line between two runs' weights, and how far it rises.
//!
//! The loss is the mean over the items of a part that both runs have in it: all, where they share a
//! split. Batch statistics are mixed as the weights are, or measured again at every point on the
//! items that both were trained on, in the order and batches of training. Images are normalized as
//! the first run has them; runs that share a split have the same.

use dissensus_engine::Weights;
use dissensus_geometry::barrier::{Barrier, BarrierSettings, Statistics, barrier as walk};
use dissensus_geometry::model::{set, soft_nll};
use serde::{Deserialize, Serialize};

use crate::{ExamineError, Model, Observer, Slice};

/// How to walk from one run to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PathSettings {
    /// Which part of the split; `None` for the one that is reported.
    pub part: Option<String>,
    /// Points of the path, both ends among them.
    pub points: usize,
    /// Where batch statistics come from; one path each.
    pub statistics: Vec<Statistics>,
}

impl Default for PathSettings {
    fn default() -> Self {
        let statistics = vec![Statistics::Interpolated, Statistics::Recomputed];
        Self { part: None, points: 21, statistics }
    }
}

/// The paths between two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paths {
    /// Both runs, from and to.
    pub runs: [String; 2],
    /// The part of the split.
    pub part: String,
    /// Items of it that both have.
    pub items: usize,
    /// Items that statistics are measured on, where they are.
    pub refreshed_on: usize,
    /// One path for each way to get statistics, in the order asked for.
    pub paths: Vec<Barrier>,
}

impl Paths {
    /// The path with statistics of this kind, where it was asked for.
    pub fn path(&self, statistics: Statistics) -> Option<&Barrier> {
        self.paths.iter().find(|path| path.settings.statistics == statistics)
    }
}

/// Walks from one run to another. `from` has its own weights again afterwards.
pub fn barrier(
    from: &mut Model,
    to: &Model,
    settings: &PathSettings,
    observer: &Observer<'_>,
) -> Result<Paths, ExamineError> {
    from.same_items(to)?;
    if from.spec().run.model != to.spec().run.model {
        return Err(ExamineError::NotAlike {
            first: from.id().to_owned(),
            second: to.id().to_owned(),
            reason: "have other models; there is no line between their weights".into(),
        });
    }
    let [own, other] = [from.network().head().loss, to.network().head().loss];
    if own.link() != other.link() {
        return Err(ExamineError::NotAlike {
            first: from.id().to_owned(),
            second: to.id().to_owned(),
            reason: format!(
                "were trained by the losses `{}` and `{}`, whose outputs stand for probabilities in \
                 different ways; there is no line between them",
                own.name(),
                other.name()
            ),
        });
    }
    if settings.statistics.is_empty() {
        return Err(ExamineError::Setting {
            name: "statistics",
            value: "empty".into(),
            expected: "interpolated, recomputed, or both".into(),
        });
    }
    let chosen = from.chosen(settings.part.as_deref(), Slice::All, 1)?;
    let rows = common(&chosen.rows, &to.part(settings.part.as_deref())?.rows);
    if rows.is_empty() {
        let what = format!("{} of both {} and {}", chosen.part, from.id(), to.id());
        return Err(ExamineError::Few { what, found: 0, least: 1 });
    }
    let trained = common(from.trained_on(), to.trained_on());
    let batch = from.settings().batch.min(from.spec().run.training.batch_size as usize);
    let batch = batch.min(from.dataset().len()).max(1);
    let ends: [Weights; 2] = [from.weights().clone(), to.weights().clone()];
    let runs = [from.id().to_owned(), to.id().to_owned()];
    let classes = from.classes().len();
    let most = settings.points * settings.statistics.len();
    let mut done = 0;
    let (runner, _, targets) = from.asked();
    let mut walked = || -> Result<Vec<Barrier>, ExamineError> {
        let one = |&statistics: &Statistics| {
            let settings = BarrierSettings { points: settings.points, statistics };
            walk(&ends[0], &ends[1], &settings, |weights, statistics| {
                set(runner, weights)?;
                if statistics == Statistics::Recomputed {
                    runner.refresh(&trained, batch)?;
                }
                let loss = soft_nll(&runner.logits(&rows)?, &rows, targets, classes)?;
                done += 1;
                observer.advanced("path", done, most)?;
                Ok(loss)
            })
        };
        settings.statistics.iter().map(one).collect()
    };
    let paths = walked();
    let [own, _] = ends;
    set(runner, own)?;
    let (items, refreshed_on) = (rows.len(), trained.len());
    Ok(Paths { runs, part: chosen.part, items, refreshed_on, paths: paths? })
}

/// What is in both, in the order of the first.
pub(crate) fn common(first: &[u32], second: &[u32]) -> Vec<u32> {
    let second: std::collections::HashSet<u32> = second.iter().copied().collect();
    first.iter().copied().filter(|row| second.contains(row)).collect()
}
