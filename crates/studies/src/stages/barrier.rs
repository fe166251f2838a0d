//! How far the loss rises on the straight line between the weights of two arms: a run of one with the
//! run of the other of the same seed, data set and number of votes.
//!
//! Batch statistics on the way are mixed as the weights are (`barrier`), or measured again on the
//! training items at every point (`barrier.recomputed`). Both paths are kept for a figure.

use std::sync::Arc;

use dissensus_examine::{PathSettings, barrier};
use dissensus_geometry::barrier::{Barrier, Statistics};
use dissensus_report::book::{Direction, Metric};
use serde_json::{Value, json};

use super::kept::Path;
use super::settings::count;
use super::{Examiner, Found, Group, Kept, Read, StageEntry};
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Job, Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "barrier",
    about: "how far the loss rises between the runs of two arms; needs the weights",
    always: false,
    keys: &["points"],
    template: r#"# The loss barrier on the straight line between the runs of two arms, seed by seed.
[stages.barrier]
arms = ["sls", "soft"]
ks = ["all"]
seeds = 1
points = 5
# precision = "f32"
"#,
    read: Read::Examiner(read),
};

const INTERPOLATED: &str = "barrier";
const RECOMPUTED: &str = "barrier.recomputed";

struct Between {
    /// The arm that gets the numbers.
    from: String,
    to: String,
    points: usize,
}

fn read(section: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    const ARMS: &str = "two arms, as in [\"sls\", \"soft\"]: numbers are given to the first";
    let arms = section.get::<[String; 2]>("arms", ARMS)?.filter(|[from, to]| from != to);
    let [from, to] = arms.ok_or_else(|| section.unexpected("arms", ARMS))?;
    let points = count(section, "points", 3..=1000)?.unwrap_or(21);
    Ok(Arc::new(Between { from, to, points }))
}

impl Examiner for Between {
    fn settings(&self) -> Value {
        json!({ "points": self.points })
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |name: &str, title: &str, statistics: &str| Metric {
            name: name.into(),
            title: title.into(),
            better: Direction::Neither,
            digits: 3,
            what: format!(
                "The largest excess of the soft NLL on the straight line between the weights of two \
                 runs of one seed over the straight line between their losses; {statistics}"
            ),
            formula: "max_α L((1 − α)a + αb) − (1 − α)L(a) − αL(b), at least 0".into(),
            settings: format!("{} points, the items of the reported part", self.points),
            source: "Frankle, Dziugaite, Roy and Carbin, Linear mode connectivity (2020)".into(),
        };
        vec![
            metric(INTERPOLATED, "barrier", "batch statistics mixed as the weights are"),
            metric(
                RECOMPUTED,
                "barrier, recomputed",
                "batch statistics measured again on the training items at every point",
            ),
        ]
    }

    fn groups<'j>(&self, jobs: &[&'j Job]) -> Vec<Group<'j>> {
        Group::pairs(jobs, |job| job.arm == self.from, &self.to)
    }

    fn paths(&self) -> &'static [&'static str] {
        &[INTERPOLATED, RECOMPUTED]
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        let [from, to] = runs else { return Ok(Vec::new()) };
        let asked = PathSettings { points: self.points, ..PathSettings::default() };
        let (mut first, second) = (models.open(from)?, models.open(to)?);
        let found = barrier(&mut first, &second, &asked, &models.observer)?;
        let ways = [
            (INTERPOLATED, found.path(Statistics::Interpolated)),
            (RECOMPUTED, found.path(Statistics::Recomputed)),
        ];
        let number = |(name, path): &(&str, Option<&Barrier>)| {
            Number::new(name, "all", path.map(|path| path.barrier))
        };
        let line = |(name, path): &(&str, Option<&Barrier>)| {
            let points = &(*path)?.path;
            Some(Path {
                name: (*name).to_owned(),
                x: points.iter().map(|point| point.alpha).collect(),
                y: points.iter().map(|point| point.loss).collect(),
            })
        };
        let numbers = ways.iter().map(number).collect();
        let paths = ways.iter().filter_map(line).collect();
        Ok(vec![Some(Kept { numbers, paths, ..Kept::default() }), None])
    }
}
