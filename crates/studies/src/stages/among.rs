//! Which runs of a study a stage is for: `arms`, `ks` and `seeds` of its settings, and what each entry
//! of `also` adds by the same keys. A stage that needs a model costs more than a metric, and not every
//! table needs it of every run.

use dissensus_report::tables::Votes;

use crate::file::Section;
use crate::{Job, StudyError};

/// Some of the runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Among {
    /// Of these arms; empty: of all.
    pub(crate) arms: Vec<String>,
    /// With these numbers of votes; empty: with any.
    pub(crate) ks: Vec<Votes>,
    /// The first so many seeds of each arm and number of votes.
    pub(crate) seeds: Option<usize>,
    /// And these.
    pub(crate) also: Vec<Among>,
}

impl Among {
    /// The keys that it reads.
    pub(crate) const KEYS: [&'static str; 4] = ["arms", "ks", "seeds", "also"];

    pub(crate) fn read(section: Option<&Section<'_, '_, '_>>) -> Result<Self, StudyError> {
        const ARMS: &str = "a list of arms";
        const KS: &str = "a list of numbers of votes, or \"all\"";
        const SEEDS: &str = "a whole number, at least 1";
        let Some(section) = section else { return Ok(Self::default()) };
        let seeds = section.get::<usize>("seeds", SEEDS)?;
        if seeds == Some(0) {
            return Err(section.unexpected("seeds", SEEDS).into());
        }
        let mut also = Vec::new();
        for more in section.list("also")? {
            more.known(&Self::KEYS[..3])?;
            also.push(Self::read(Some(&more))?);
        }
        Ok(Self {
            also,
            arms: section.get("arms", ARMS)?.unwrap_or_default(),
            ks: section.get("ks", KS)?.unwrap_or_default(),
            seeds,
        })
    }

    /// It, and what it adds.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.also)
    }

    /// The runs that are among them, in order.
    pub(crate) fn of<'j>(&self, jobs: &'j [Job]) -> Vec<&'j Job> {
        let kept: Vec<&Job> = self.all().flat_map(|among| among.own(jobs)).collect();
        let is_kept = |job: &&Job| kept.iter().any(|one| std::ptr::eq(*one, *job));
        jobs.iter().filter(is_kept).collect()
    }

    fn own<'j>(&self, jobs: &'j [Job]) -> Vec<&'j Job> {
        let mut counted: Vec<(&Job, usize)> = Vec::new();
        let mut kept = Vec::new();
        for job in jobs {
            let arm = self.arms.is_empty() || self.arms.contains(&job.arm);
            let votes = self.ks.is_empty() || self.ks.iter().any(|votes| votes.0 == job.k);
            if !(arm && votes) {
                continue;
            }
            let seen = match counted.iter_mut().find(|(one, _)| one.is_beside(job)) {
                Some((_, seen)) => seen,
                None => {
                    counted.push((job, 0));
                    let last = counted.len() - 1;
                    &mut counted[last].1
                }
            };
            *seen += 1;
            if self.seeds.is_none_or(|most| *seen <= most) {
                kept.push(job);
            }
        }
        kept
    }

    /// The runs in groups that differ in their seeds alone.
    pub(crate) fn by_arm<'j>(jobs: &[&'j Job]) -> Vec<Vec<&'j Job>> {
        let mut groups: Vec<Vec<&Job>> = Vec::new();
        for &job in jobs {
            match groups.iter_mut().find(|group| group[0].is_beside(job)) {
                Some(group) => group.push(job),
                None => groups.push(vec![job]),
            }
        }
        groups
    }
}

impl Job {
    /// Whether two runs differ in their seeds alone.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        (&self.dataset, &self.arm, self.k) == (&other.dataset, &other.arm, other.k)
    }
}
