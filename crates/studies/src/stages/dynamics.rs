//! How training went: when it was best, how soon it was nearly as good, how long it took. Read off a
//! run's history and result; epochs count from 1.

use std::sync::Arc;

use dissensus_report::book::{Direction, Metric};
use dissensus_train::{EpochRow, Selection};
use serde_json::{Value, json};

use super::{Read, Stage, StageEntry};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "dynamics",
    about: "the best epoch, the first that is nearly as good, and the seconds",
    always: true,
    keys: &[],
    template: r#"# The selected epoch, and how long training takes.
[stages.dynamics]
"#,
    read: Read::Stage(read),
};

/// How near to the best counts as there.
const SHARE: f64 = 0.95;

/// The metric that no two trainings of a run share.
pub(crate) const SECONDS: &str = "seconds";

struct Dynamics;

fn read(_: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Stage>, StudyError> {
    Ok(Arc::new(Dynamics))
}

impl Stage for Dynamics {
    fn settings(&self) -> Value {
        json!({ "format": 1 })
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |name: &str, title: &str, better, what: &str, formula: &str| Metric {
            name: name.into(),
            title: title.into(),
            better,
            digits: 1,
            what: what.into(),
            formula: formula.into(),
            settings: "by the metric and the part that select an epoch; epochs count from 1".into(),
            source: "the run's history".into(),
        };
        vec![
            metric(
                "best_epoch",
                "best epoch",
                Direction::Neither,
                "The epoch that was selected",
                "the first epoch with the best value of the selecting metric",
            ),
            metric(
                "epochs_to_95",
                "epochs to 95 %",
                Direction::Lower,
                "How many epochs it took to come within 95 % of the best",
                "the first epoch whose value is at most best / 0.95 (where lower is better), or \
                 at least 0.95 · best (where higher is)",
            ),
            metric(
                SECONDS,
                "seconds",
                Direction::Neither,
                "How long training took, on whatever machine it ran",
                "wall clock from the first epoch to the last, interruptions left out",
            ),
        ]
    }

    fn numbers(&self, run: &Finished<'_>) -> Result<Vec<Number>, StudyError> {
        let choice = &run.job.run.selection;
        let column = format!("{}.{}", choice.on, choice.metric);
        let history: Vec<EpochRow> = run.info.history()?;
        let values: Vec<Option<f64>> = history.iter().map(|row| row.column(&column)).collect();
        let best = run.result.best_epoch;
        let near = Selection::new(&choice.metric)?.better();
        let near = usize::try_from(best).ok().and_then(|best| nearly(&values, best, near));
        Ok(vec![
            Number::new("best_epoch", "all", Some((best + 1) as f64)),
            Number::new("epochs_to_95", "all", near),
            Number::new(SECONDS, "all", Some(run.result.seconds)),
        ])
    }

    fn is_kept(&self) -> bool {
        false
    }
}

/// The first epoch, from 1, that is within [`SHARE`] of the best one's value.
fn nearly(values: &[Option<f64>], best: usize, better: Direction) -> Option<f64> {
    let best = values.get(best).copied().flatten()?;
    // On the wrong side of 0 the bound would be better than the best.
    let bound = match better {
        Direction::Lower => (best / SHARE).max(best),
        Direction::Higher => (best * SHARE).min(best),
        Direction::Neither | Direction::HigherIsOut => return None,
    };
    let there = |value: &Option<f64>| value.is_some_and(|value| !better.is_better(bound, value));
    values.iter().position(there).map(|at| (at + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_epoch_that_is_nearly_as_good() {
        let values = [Some(2.0), None, Some(1.06), Some(1.05), Some(1.0), Some(1.2)];
        // 1 / 0.95 = 1.0526…
        assert_eq!(nearly(&values, 4, Direction::Lower), Some(4.0));
        let rising = [Some(0.1), Some(0.94), Some(0.96), Some(1.0)];
        assert_eq!(nearly(&rising, 3, Direction::Higher), Some(3.0));
        // Correlations below 0, and log-likelihoods that are better than certain.
        assert_eq!(nearly(&[Some(-0.5), Some(-0.1)], 1, Direction::Higher), Some(2.0));
        assert_eq!(nearly(&[Some(1.0), Some(-2.0)], 1, Direction::Lower), Some(2.0));
        assert_eq!(nearly(&[Some(0.0)], 0, Direction::Lower), Some(1.0));
        assert_eq!(nearly(&values, 9, Direction::Lower), None);
    }
}
