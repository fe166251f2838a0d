//! How far a study is, from what its store holds.

use std::collections::BTreeMap;

use dissensus_store::{RunId, State, Store};
use dissensus_train::RunResult;
use rayon::prelude::*;
use serde::Serialize;

use crate::{Job, Plan, StudyError, distinct};

/// Runs by what has become of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Finished.
    pub done: usize,
    /// A process is training them.
    pub running: usize,
    /// Stopped before their end; to be continued.
    pub interrupted: usize,
    /// Ended with an error.
    pub failed: usize,
    /// Not begun; those that wait for a search among them.
    pub missing: usize,
}

impl Tally {
    /// All of them.
    pub fn total(&self) -> usize {
        self.done + self.left()
    }

    /// All that are not done.
    pub fn left(&self) -> usize {
        self.running + self.interrupted + self.failed + self.missing
    }
}

/// How far an arm is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ArmStatus {
    /// The data set.
    pub dataset: String,
    /// The arm.
    pub arm: String,
    /// Its runs, with those of its search. A run that arms share counts for each of them.
    pub runs: Tally,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Failure {
    /// Its name in the store.
    #[serde(rename = "run")]
    pub id: RunId,
    /// For people.
    pub label: String,
    /// Why.
    pub reason: String,
}

/// How far a study is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatusReport {
    /// All runs, each once.
    pub runs: Tally,
    /// By data set and arm, in the order of the study.
    pub arms: Vec<ArmStatus>,
    /// Those that failed, with the reason.
    pub failed: Vec<Failure>,
    /// The mean seconds of finished runs; `None` where there are none.
    pub mean_seconds: Option<f64>,
    /// The seconds that are left, where every lane is as fast as they were; `None` where no run is
    /// finished yet, 0 where all are.
    pub eta_seconds: Option<f64>,
}

/// What has become of a run.
#[derive(Clone, Debug)]
pub(crate) enum Progress {
    /// `ran`: when it began and ended, in seconds since 1970.
    Done {
        seconds: Option<f64>,
        ran: (u64, u64),
    },
    Running {
        share: f64,
    },
    Interrupted {
        share: f64,
    },
    Failed {
        reason: String,
    },
    Missing,
}

impl Progress {
    pub(crate) fn of(store: &Store, job: &Job) -> Self {
        let unreadable = |error: dissensus_store::StoreError| Self::Failed {
            reason: format!("it cannot be read: {error}"),
        };
        let run = match store.get(&job.id) {
            Ok(Some(run)) => run,
            Ok(None) => return Self::Missing,
            Err(error) => return unreadable(error),
        };
        let share = run.status.epoch as f64 / run.status.planned.max(1) as f64;
        match &run.status.state {
            State::Running => Self::Running { share },
            State::Interrupted => Self::Interrupted { share },
            State::Failed { reason } => Self::Failed { reason: reason.clone() },
            State::Finished => match run.result::<RunResult>() {
                Ok(result) => Self::Done {
                    seconds: result.map(|result| result.seconds),
                    ran: (run.created, run.status.updated),
                },
                Err(error) => unreadable(error),
            },
        }
    }

    fn count(&self, tally: &mut Tally) {
        *match self {
            Self::Done { .. } => &mut tally.done,
            Self::Running { .. } => &mut tally.running,
            Self::Interrupted { .. } => &mut tally.interrupted,
            Self::Failed { .. } => &mut tally.failed,
            Self::Missing => &mut tally.missing,
        } += 1;
    }

    /// The share of the run that is left. One that failed is not counted on.
    fn left(&self) -> f64 {
        match self {
            Self::Done { .. } | Self::Failed { .. } => 0.0,
            Self::Running { share } | Self::Interrupted { share } => 1.0 - share.min(1.0),
            Self::Missing => 1.0,
        }
    }
}

impl Plan<'_> {
    /// How far the study is in this store, and how long `lanes` runs at a time will still take; where
    /// it is not said how many, as many as there were at a time before.
    pub fn status(&self, store: &Store, lanes: Option<usize>) -> Result<StatusReport, StudyError> {
        let finals = self.finals(store)?;
        let jobs: Vec<Job> = self.searches().into_iter().chain(finals.jobs).collect();
        let progress = |job: &&Job| (job.id.clone(), Progress::of(store, job));
        let runs: BTreeMap<RunId, Progress> = distinct(&jobs).par_iter().map(progress).collect();
        let (mut failed, mut told) = (Vec::new(), std::collections::BTreeSet::new());
        let mut arms: Vec<ArmStatus> = Vec::new();
        let mut counted = std::collections::BTreeSet::new();
        for job in &jobs {
            let Some(progress) = runs.get(&job.id) else { continue };
            if let Progress::Failed { reason } = progress
                && told.insert(&job.id)
            {
                let (id, label) = (job.id.clone(), job.label());
                failed.push(Failure { id, label, reason: reason.clone() });
            }
            // The search's run of the chosen point is a final one, too.
            let tally = tally_of(&mut arms, &job.dataset, &job.arm);
            if counted.insert((job.dataset.clone(), job.arm.clone(), job.id.clone())) {
                progress.count(tally);
            }
        }
        let mut all = Tally::default();
        runs.values().for_each(|progress| progress.count(&mut all));
        let mut left: f64 = runs.values().map(Progress::left).sum();
        for waiting in &finals.undecided {
            tally_of(&mut arms, &waiting.dataset, &waiting.arm).missing += waiting.more;
            all.missing += waiting.more;
            // Where every search failed there is nothing to count on.
            left += if waiting.open > 0 { waiting.more as f64 } else { 0.0 };
        }
        let (mut seconds, mut spans): (Vec<f64>, Vec<(u64, u64)>) = Default::default();
        for progress in runs.values() {
            if let Progress::Done { seconds: took, ran } = progress {
                seconds.extend(took);
                spans.push(*ran);
            }
        }
        let mean = match seconds.is_empty() {
            true => None,
            false => Some(seconds.iter().sum::<f64>() / seconds.len() as f64),
        };
        let most = all.left().max(1) as f64;
        let lanes = lanes.map_or_else(|| at_a_time(spans), |lanes| lanes as f64).clamp(1.0, most);
        let eta = if left == 0.0 { Some(0.0) } else { mean.map(|mean| mean * left / lanes) };
        Ok(StatusReport { arms, runs: all, failed, mean_seconds: mean, eta_seconds: eta })
    }
}

/// How many of these ran at a time, on average over the time in which any did.
fn at_a_time(mut spans: Vec<(u64, u64)>) -> f64 {
    spans.sort_unstable();
    let (mut all, mut covered, mut end) = (0, 0, 0);
    for (from, to) in spans {
        all += to.saturating_sub(from);
        covered += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    if covered == 0 { 1.0 } else { all as f64 / covered as f64 }
}

fn tally_of<'a>(arms: &'a mut Vec<ArmStatus>, dataset: &str, arm: &str) -> &'a mut Tally {
    let at = arms.iter().position(|one| one.dataset == dataset && one.arm == arm);
    let at = at.unwrap_or_else(|| {
        let (dataset, arm) = (dataset.to_owned(), arm.to_owned());
        arms.push(ArmStatus { dataset, arm, runs: Tally::default() });
        arms.len() - 1
    });
    &mut arms[at].runs
}

#[cfg(test)]
mod tests {
    use super::at_a_time;

    #[test]
    fn runs_at_a_time_are_counted_where_any_ran() {
        assert_eq!(at_a_time(vec![]), 1.0);
        assert_eq!(at_a_time(vec![(5, 5)]), 1.0);
        // One after the other, with a night between them.
        assert_eq!(at_a_time(vec![(900, 910), (0, 10), (10, 20)]), 1.0);
        // Two lanes: 0 to 10 and 10 to 20 in one, 0 to 20 in the other.
        assert_eq!(at_a_time(vec![(0, 20), (0, 10), (10, 20)]), 2.0);
        assert_eq!(at_a_time(vec![(0, 10), (2, 8), (20, 30), (20, 24)]), 1.5);
    }
}
