//! What is made of finished runs: numbers for the table of results. One file a stage, one list.
//!
//! A stage gets a finished run with its data and gives numbers. What it gave is kept in the study's
//! folder under its name, the digest of its settings and the run's id, and not computed again; with
//! other settings it is. To add one, write its file and add its line to [`STAGES`]; the study's keys,
//! the results and the report take it from there.
//!
//! Some need no more than predictions and history: their numbers are made where results are collected.
//! Others look into the model ([`Plan::examine`](crate::Plan::examine)), some of them into several
//! runs at once; these run where the weights are, and elsewhere what they kept is read. Each of these
//! can be kept to some runs by `arms`, `ks` and `seeds`.

mod among;
mod barrier;
mod cka;
mod dynamics;
mod examiner;
mod geometry;
mod gradcam;
mod kept;
mod measure;
mod ood;
mod settings;
mod truth;
mod variance;

use std::sync::Arc;

use dissensus_measure::Metric as Measured;
use dissensus_report::book::Metric;
use serde_json::Value;

use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Number, StudyError};

pub(crate) use among::Among;
pub(crate) use examiner::{Examiner, Group};
pub(crate) use kept::{Kept, Picture as KeptPicture};

/// The stages, in the order of the results.
pub const STAGES: &[Info] = &[
    measure::INFO,
    truth::INFO,
    dynamics::INFO,
    geometry::INFO,
    variance::INFO,
    ood::INFO,
    barrier::INFO,
    cka::INFO,
    gradcam::INFO,
];

/// A stage in words.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its key in `[stages]`.
    pub name: &'static str,
    /// What it gives, in a line.
    pub about: &'static str,
    /// Whether it runs where it is not named.
    pub always: bool,
    read: Read,
}

type Read = fn(Option<&Section<'_, '_, '_>>, &[SliceRule]) -> Result<Made, StudyError>;

/// A stage of either kind.
enum Made {
    Stage(Arc<dyn Stage>),
    Examiner(Arc<dyn Examiner>),
}

/// The stages of a study, of both kinds.
#[derive(Clone, Default)]
pub(crate) struct Stages {
    pub(crate) stages: Vec<Arc<dyn Stage>>,
    pub(crate) examiners: Vec<Arc<dyn Examiner>>,
}

/// A stage with its settings.
pub trait Stage: Send + Sync {
    /// Its name, as in the list.
    fn name(&self) -> &'static str;

    /// Everything that decides its numbers beside the run and its data.
    fn settings(&self) -> Value;

    /// The metrics that it gives, and how they are made.
    fn metrics(&self) -> Vec<Metric>;

    /// The numbers of a run.
    fn numbers(&self, run: &Finished<'_>) -> Result<Vec<Number>, StudyError>;

    /// Whether its numbers are kept. Those that are read off cost nothing.
    fn is_kept(&self) -> bool {
        true
    }
}

/// Refuses every setting, for stages that have none.
fn without_settings(section: Option<&Section<'_, '_, '_>>) -> Result<(), StudyError> {
    section.map_or(Ok(()), |section| Ok(section.known(&[])?))
}

/// The stages of a study.
pub(crate) fn read(
    section: Option<&Section<'_, '_, '_>>,
    slices: &[SliceRule],
) -> Result<Stages, StudyError> {
    let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
    if let Some(section) = section {
        section.known(&names)?;
    }
    let mut all = Stages::default();
    for stage in STAGES {
        let own = section.and_then(|section| {
            let node = section.node(stage.name)?;
            Some(Section::new(section.text, format!("[stages.{}]", stage.name), node))
        });
        let own = own.transpose()?;
        if own.is_some() || stage.always {
            match (stage.read)(own.as_ref(), slices)? {
                Made::Stage(stage) => all.stages.push(stage),
                Made::Examiner(stage) => all.examiners.push(stage),
            }
        }
    }
    Ok(all)
}

/// A metric of `dissensus_measure` in the words of a report.
fn described(metric: &Measured) -> Metric {
    let about = &metric.about;
    Metric {
        name: about.name.to_owned(),
        title: about.short.to_owned(),
        better: about.direction,
        digits: 4,
        what: capital(about.title),
        formula: about.formula.to_owned(),
        settings: about.settings.to_owned(),
        source: about.reference.to_owned(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete_and_no_metric_comes_twice() {
        let mut names = std::collections::BTreeSet::new();
        let mut metrics_seen = std::collections::BTreeSet::new();
        for stage in STAGES {
            assert!(!stage.about.is_empty() && names.insert(stage.name));
            let (name, metrics) = match (stage.read)(None, &[]).unwrap() {
                Made::Stage(made) => (made.name(), made.metrics()),
                Made::Examiner(made) => (made.name(), made.metrics()),
            };
            assert_eq!(name, stage.name);
            for metric in metrics {
                assert!(metrics_seen.insert(metric.name.clone()), "{} twice", metric.name);
                let texts = [&metric.title, &metric.what, &metric.formula, &metric.source];
                assert!(texts.iter().all(|text| !text.is_empty()), "{}", metric.name);
            }
        }
    }
}
