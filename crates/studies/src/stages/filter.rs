//! Which runs of a study a stage is for: `arms`, `ks` and `seeds` of its settings, and what each entry
//! of `also` adds by the same keys. A stage that needs a model costs more than a metric, and not every
//! table needs it of every run.

use dissensus_report::tables::Votes;

use crate::file::Section;
use crate::{Job, StudyError};

/// Some of the runs: those of any of these choices.
#[derive(Clone, Debug)]
pub(crate) struct RunFilter(Vec<Choice>);

#[derive(Clone, Debug)]
struct Choice {
    /// Of these arms; empty: of all.
    arms: Vec<String>,
    /// With these numbers of votes; empty: with any.
    ks: Vec<Votes>,
    /// The first so many seeds of each arm and number of votes.
    seeds: Option<usize>,
}

impl RunFilter {
    /// The keys that it reads.
    pub(super) const KEYS: [&'static str; 4] = ["arms", "ks", "seeds", "also"];

    pub(super) fn read(section: &Section<'_>) -> Result<Self, StudyError> {
        let mut choices = vec![Choice::read(section)?];
        for more in section.list("also")? {
            more.known(&Self::KEYS[..3])?;
            choices.push(Choice::read(&more)?);
        }
        Ok(Self(choices))
    }

    /// The runs that it has, in order.
    pub(crate) fn of<'j>(&self, jobs: &'j [Job]) -> Vec<&'j Job> {
        let chosen = |at: &usize| self.0.iter().any(|choice| choice.has(jobs, *at));
        (0..jobs.len()).filter(chosen).map(|at| &jobs[at]).collect()
    }
}

impl Choice {
    fn read(section: &Section<'_>) -> Result<Self, StudyError> {
        const SEEDS: &str = "a whole number, at least 1";
        let ks = section.get("ks", "a list of numbers of votes, or \"all\"")?;
        Ok(Self {
            arms: section.get("arms", "a list of arms")?.unwrap_or_default(),
            ks: ks.unwrap_or_default(),
            seeds: section.checked("seeds", SEEDS, |seeds| Some(seeds).filter(|&n| n > 0))?,
        })
    }

    fn has(&self, jobs: &[Job], at: usize) -> bool {
        let job = &jobs[at];
        let arm = self.arms.is_empty() || self.arms.contains(&job.arm);
        let votes = self.ks.is_empty() || self.ks.iter().any(|votes| votes.0 == job.k);
        let earlier = || jobs[..at].iter().filter(|other| other.is_beside(job)).count();
        arm && votes && self.seeds.is_none_or(|most| earlier() < most)
    }
}
