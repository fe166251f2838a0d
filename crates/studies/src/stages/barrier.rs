//! How far the loss rises on the straight line between the weights of two arms: a run of one with the
//! run of the other of the same seed, data set and number of votes.
//!
//! Batch statistics on the way are mixed as the weights are (`barrier`), or measured again on the
//! training items at every point (`barrier.recomputed`). Both paths are kept for a figure.

use std::sync::Arc;

use dissensus_engine::Precision;
use dissensus_examine::{Observer, PathSettings, barrier};
use dissensus_geometry::barrier::{Barrier, Statistics};
use dissensus_report::book::{Direction, Metric};
use serde_json::{Value, json};

use super::kept::Path;
use super::settings::{self, precision};
use super::{Among, Examiner, Group, Info, Kept, Made};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Bench, Job, Number, StudyError};

pub(super) const INFO: Info = Info {
    name: "barrier",
    about: "how far the loss rises between the runs of two arms; needs the weights",
    always: false,
    read,
};

const INTERPOLATED: &str = "barrier";
const RECOMPUTED: &str = "barrier.recomputed";

struct Between {
    /// Both arms: `from`, which gets the numbers, and `to`.
    among: Among,
    points: usize,
    precision: Precision,
}

fn read(section: Option<&Section<'_, '_, '_>>, _: &[SliceRule]) -> Result<Made, StudyError> {
    const ARMS: &str = "two arms, as in [\"sls\", \"soft\"]: numbers are given to the first";
    let among = settings::among(section, &["points", "precision"])?;
    let mut stage = Between { among, points: 21, precision: Precision::F32 };
    if let Some(section) = section {
        let [from, to] = &stage.among.arms[..] else {
            return Err(section.unexpected("arms", ARMS).into());
        };
        if from == to {
            return Err(section.unexpected("arms", ARMS).into());
        }
        const POINTS: &str = "a whole number from 3 to 1000";
        stage.points = settings::count(section, "points")?.unwrap_or(stage.points);
        if !(3..=1000).contains(&stage.points) {
            return Err(section.unexpected("points", POINTS).into());
        }
        stage.precision = precision(section)?;
    }
    Ok(Made::Examiner(Arc::new(stage)))
}

impl Examiner for Between {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn settings(&self) -> Value {
        json!({ "format": 1, "points": self.points, "precision": self.precision })
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

    fn among(&self) -> &Among {
        &self.among
    }

    fn groups<'j>(&self, jobs: &[&'j Job]) -> Vec<Group<'j>> {
        let [from, to] = &self.among.arms[..] else { return Vec::new() };
        let pair = |a: &&'j Job| {
            let same =
                |b: &&&Job| b.arm == *to && (&b.dataset, b.k, b.seed) == (&a.dataset, a.k, a.seed);
            let b = jobs.iter().find(same)?;
            Some(Group { runs: vec![*a, *b], subjects: 1, least: 2 })
        };
        jobs.iter().filter(|job| job.arm == *from).filter_map(pair).collect()
    }

    fn paths(&self) -> &'static [&'static str] {
        &[INTERPOLATED, RECOMPUTED]
    }

    fn examine(
        &self,
        runs: &[Finished<'_>],
        bench: &Bench<'_>,
        observer: &Observer<'_>,
    ) -> Result<Vec<Option<Kept>>, StudyError> {
        let [from, to] = runs else { return Ok(Vec::new()) };
        let asked = PathSettings { points: self.points, ..PathSettings::default() };
        let mut first = bench.open(from, self.precision)?;
        let found = barrier(&mut first, &bench.open(to, self.precision)?, &asked, observer)?;
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
