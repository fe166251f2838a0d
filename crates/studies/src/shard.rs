//! Shares of a study's runs, for several machines.
//!
//! Every run has one shard, which depends on the planned study and the number of shards alone, never on
//! what a store holds: machines that know nothing of each other train disjoint runs, at any time and after
//! any failure. The work of a run is estimated by what is known before it is trained, items × epochs × the
//! multiplications of the network on an example. Runs go in decreasing order of work to the shard that has
//! the least (longest processing time first), so that no shard has more than the mean plus one run.
//!
//! With a grid, search runs and final runs are shared out one after the other, as they are trained. Which
//! point of the grid a final run will have is not known yet, so it has one shard at all points.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use dissensus_store::{RunId, Store};
use serde::Serialize;

use crate::layers::Outline;
use crate::status::Progress;
use crate::{Job, Plan, StudyError, distinct};

/// One of several shares of a study's runs, as `2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// The largest number of shards.
    pub const MOST: usize = 65_536;

    /// The share `index`, from 1, of so many; `None` where there is no such share.
    pub fn new(index: usize, of: usize) -> Option<Self> {
        (of <= Self::MOST && (1..=of).contains(&index)).then_some(Self { index, of })
    }

    /// Which one, from 1.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many there are.
    pub fn of(self) -> usize {
        self.of
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(index, of)| Self::new(index.parse().ok()?, of.parse().ok()?));
        parsed.ok_or_else(|| {
            format!("expected I/N, such as 2/8, with N up to {} and I from 1 to N", Self::MOST)
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// Which shard each run of a study belongs to.
#[derive(Clone, Debug)]
pub struct Shares {
    /// From 0; the final runs at all points of the grid among them.
    shards: BTreeMap<RunId, usize>,
    work: Vec<u128>,
}

impl Shares {
    /// The number, from 1, of the shard of a run of the study; `None` of any other.
    pub fn shard_of(&self, id: &RunId) -> Option<usize> {
        self.shards.get(id).map(|shard| shard + 1)
    }

    /// Whether a run is one of this shard's.
    pub fn has(&self, shard: Shard, id: &RunId) -> bool {
        self.shard_of(id) == Some(shard.index)
    }

    /// The estimated share of the work of all runs that this shard has.
    pub fn work(&self, shard: Shard) -> f64 {
        let all = self.work.iter().sum::<u128>().max(1);
        self.work.get(shard.index - 1).map_or(0.0, |work| *work as f64 / all as f64)
    }
}

/// Runs that go to one shard together: those of one dataset, arm, number of votes and seed at all points
/// of the grid, of which one is trained.
#[derive(Default)]
struct Units {
    of_run: BTreeMap<RunId, usize>,
    units: Vec<Unit>,
}

#[derive(Default)]
struct Unit {
    work: u128,
    runs: Vec<RunId>,
}

impl Units {
    /// Adds runs. Arms may share runs; units that have one in common become one.
    fn add(&mut self, runs: Vec<RunId>, work: u128) {
        let mut known: BTreeSet<usize> =
            runs.iter().filter_map(|run| self.of_run.get(run)).copied().collect();
        let to = known.pop_first().unwrap_or_else(|| {
            self.units.push(Unit::default());
            self.units.len() - 1
        });
        let mut added = Unit { work, runs };
        for other in known {
            let Unit { work, runs } = std::mem::take(&mut self.units[other]);
            added.runs.extend(runs);
            added.work = added.work.max(work);
        }
        let unit = &mut self.units[to];
        unit.work = unit.work.max(added.work);
        for run in added.runs {
            if self.of_run.insert(run.clone(), to) != Some(to) {
                unit.runs.push(run);
            }
        }
    }

    /// Each unit to the shard with the least work among these units, then among all, then the first.
    fn share_out(mut self, shares: &mut Shares) {
        self.units.sort_by_key(|unit| std::cmp::Reverse(unit.work));
        let mut work = vec![0; shares.work.len()];
        for unit in self.units.iter().filter(|unit| !unit.runs.is_empty()) {
            let least = (0..work.len()).min_by_key(|&at| (work[at], shares.work[at]));
            let shard = least.unwrap_or_default();
            // A run of no estimated work still takes a turn.
            work[shard] += unit.work.max(1);
            shares.work[shard] += unit.work.max(1);
            shares.shards.extend(unit.runs.iter().map(|run| (run.clone(), shard)));
        }
    }
}

/// A run that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MissingRun {
    /// Its name in the store.
    #[serde(rename = "run")]
    pub id: RunId,
    /// For people.
    pub label: String,
    /// `running`, `interrupted` or `missing`.
    pub state: &'static str,
}

impl Plan<'_> {
    /// Shares all runs out among so many shards (at least one).
    pub fn shares(&self, of: usize) -> Shares {
        let mut shares = Shares { shards: BTreeMap::new(), work: vec![0; of.max(1)] };
        let mut searches = Units::default();
        for group in self.groups() {
            for (point, job) in self.searches_of(group).into_iter().enumerate() {
                searches.add(vec![job.id], self.work(group, point));
            }
        }
        searches.share_out(&mut shares);
        let mut finals = Units::default();
        for group in self.groups() {
            let outline = &group.0;
            let points = 0..outline.points.len();
            let jobs: Vec<Vec<Job>> =
                points.clone().map(|point| self.jobs(group, point, &outline.seeds)).collect();
            let work = points.map(|point| self.work(group, point)).max().unwrap_or_default();
            for seed in 0..outline.seeds.len() {
                let runs = jobs.iter().filter_map(|jobs| jobs.get(seed)).map(|job| &job.id);
                // What the search trained is not trained again.
                let runs = runs.filter(|id| !shares.shards.contains_key(id)).cloned();
                let runs: Vec<RunId> = runs.collect();
                if !runs.is_empty() {
                    finals.add(runs, work);
                }
            }
        }
        finals.share_out(&mut shares);
        shares
    }

    /// The estimated work of a run at a point of the grid.
    fn work(&self, (outline, material): &(Outline, usize), point: usize) -> u128 {
        let task = &self.materials()[*material].task;
        let classes = task.table().classes().len();
        let run = outline.points.get(point).and_then(|point| point.runs(&[0]).pop());
        run.map_or(0, |run| {
            let network = run.network(task.shape(), classes);
            let example = network.map_or(1, |network| network.multiplications());
            u128::from(example) * u128::from(run.training.epochs) * task.table().len() as u128
        })
    }

    /// How many final runs of a shard have settings that search runs of any shard will decide.
    pub fn waiting(
        &self,
        store: &Store,
        shares: &Shares,
        shard: Shard,
    ) -> Result<usize, StudyError> {
        let mut waiting = 0;
        for group in self.groups() {
            if let Err(open) = self.choose(group, store)?
                && open > 0
            {
                let jobs = self.jobs(group, 0, &group.0.seeds);
                let searched = group.0.search.as_ref().map(|search| search.seed);
                let own = |job: &&Job| Some(job.seed) != searched && shares.has(shard, &job.id);
                waiting += jobs.iter().filter(own).count();
            }
        }
        Ok(waiting)
    }

    /// How many runs of each shard have ended, and how many there are, as far as a search has decided.
    pub fn shard_counts(
        &self,
        store: &Store,
        of: usize,
    ) -> Result<Vec<(usize, usize)>, StudyError> {
        let (shares, missing) = (self.shares(of), self.missing(store)?);
        let jobs: Vec<Job> = self.searches().into_iter().chain(self.finals(store)?.jobs).collect();
        let mut counts = vec![(0, 0); of];
        let missing: BTreeSet<&RunId> = missing.iter().map(|run| &run.id).collect();
        for job in distinct(&jobs) {
            if let Some(count) = shares.shards.get(&job.id).and_then(|&at| counts.get_mut(at)) {
                count.0 += usize::from(!missing.contains(&job.id));
                count.1 += 1;
            }
        }
        Ok(counts)
    }

    /// The runs that have not ended, each once. One that failed has ended.
    pub fn missing(&self, store: &Store) -> Result<Vec<MissingRun>, StudyError> {
        let jobs: Vec<Job> = self.searches().into_iter().chain(self.finals(store)?.jobs).collect();
        let missing = |job: &&Job| {
            let state = match Progress::of(store, job) {
                Progress::Done { .. } | Progress::Failed { .. } => return None,
                Progress::Running { .. } => "running",
                Progress::Interrupted { .. } => "interrupted",
                Progress::Missing => "missing",
            };
            Some(MissingRun { id: job.id.clone(), label: job.label(), state })
        };
        Ok(distinct(&jobs).iter().filter_map(missing).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_typed_and_printed() {
        let shard: Shard = "2/8".parse().unwrap();
        assert_eq!((shard.index(), shard.of(), shard.to_string().as_str()), (2, 8, "2/8"));
        for wrong in ["", "2", "0/8", "9/8", "1/0", "-1/8", "1/8/2", "a/b", "1/65537"] {
            let error = wrong.parse::<Shard>().unwrap_err();
            assert!(error.contains("such as 2/8"), "{wrong}: {error}");
        }
    }

    fn id(number: u64) -> RunId {
        RunId::of(&number.into())
    }

    #[test]
    fn units_with_a_run_in_common_are_one() {
        let mut units = Units::default();
        units.add(vec![id(1), id(2)], 10);
        units.add(vec![id(3), id(4)], 20);
        units.add(vec![id(5)], 7);
        units.add(vec![id(2), id(4), id(6)], 15);
        let mut shares = Shares { shards: BTreeMap::new(), work: vec![0; 2] };
        units.share_out(&mut shares);
        let together: Vec<_> = [1, 2, 3, 4, 6].map(|n| shares.shard_of(&id(n))).to_vec();
        assert_eq!(together, [Some(1); 5]);
        assert_eq!((shares.shard_of(&id(5)), shares.shard_of(&id(9))), (Some(2), None));
        assert_eq!(shares.work, [20, 7]);
    }

    #[test]
    fn long_runs_are_placed_first() {
        let mut units = Units::default();
        for (number, work) in [(1, 2), (2, 2), (3, 3), (4, 3), (5, 6)] {
            units.add(vec![id(number)], work);
        }
        let mut shares = Shares { shards: BTreeMap::new(), work: vec![0; 2] };
        units.share_out(&mut shares);
        assert_eq!(shares.work, [8, 8]);
        assert!((shares.work(Shard::new(1, 2).unwrap()) - 0.5).abs() < 1e-12);
    }
}
