//! What is made of finished runs: numbers for the table of results. One file a stage, one list.
//!
//! A stage gets a finished run with its data and gives numbers. What it gave is kept in the study's
//! folder under its name, the digest of its settings and the run's id, and not computed again; with
//! other settings it is. To add one, write its file and add its line to [`STAGES`]; the study's
//! keys, its template, the results and the report take it from there.
//!
//! Some need no more than predictions and history: their numbers are made where results are collected.
//! Others look into the model ([`Plan::examine`](crate::Plan::examine)), some of them into several
//! runs at once; these run where the weights are, and elsewhere what they kept is read. Each of these
//! can be kept to some runs by `arms`, `ks` and `seeds`.

mod barrier;
mod cka;
mod draws;
mod dynamics;
mod examiner;
mod filter;
mod geometry;
mod gradcam;
mod kept;
mod measure;
mod ood;
mod settings;
mod temperature;
mod truth;
mod variance;

use std::sync::Arc;

use dissensus_measure::{Judged, Metric as Measured};
use dissensus_report::book::Metric;
use serde_json::Value;

use crate::file::{Section, SliceRule, Text};
use crate::finished::Finished;
use crate::{Material, Number, StudyError};

pub(crate) use dynamics::SECONDS;
pub(crate) use examiner::{Examination, Group};
use examiner::{Examiner, Found};
pub(crate) use filter::RunFilter;
pub(crate) use kept::{Damaged, Kept, KeptFiles, Picture as KeptPicture};

/// The stages, in the order of the results.
pub const STAGES: &[StageEntry] = &[
    measure::ENTRY,
    truth::ENTRY,
    dynamics::ENTRY,
    geometry::ENTRY,
    variance::ENTRY,
    ood::ENTRY,
    barrier::ENTRY,
    cka::ENTRY,
    gradcam::ENTRY,
    draws::ENTRY,
    temperature::ENTRY,
];

/// A stage of the list: everything that the rest of the program needs to know of it.
#[derive(Clone, Copy, Debug)]
pub struct StageEntry {
    /// Its key in `[stages]`.
    pub name: &'static str,
    /// What it gives, in a line.
    pub about: &'static str,
    /// Whether it runs where it is not named.
    pub always: bool,
    /// Its settings, beside those that all stages with models have.
    keys: &'static [&'static str],
    /// Its section in the template of a study, with every key explained.
    template: &'static str,
    read: Read,
}

type Reader<T> = fn(&Section<'_>, &[SliceRule]) -> Result<Arc<T>, StudyError>;

/// How a stage is read from its section, which has no other keys than those of the list.
#[derive(Clone, Copy, Debug)]
enum Read {
    Stage(Reader<dyn Stage>),
    Examiner(Reader<dyn Examiner>),
}

/// The stages' part of the template of a study.
pub(crate) fn template() -> String {
    let examiner = |stage: &StageEntry| matches!(stage.read, Read::Examiner(_));
    let first = STAGES.iter().position(examiner);
    let section = |(at, stage): (usize, &StageEntry)| match first == Some(at) {
        true => format!("{MODELS}\n{}\n", stage.template),
        false => format!("{}\n", stage.template),
    };
    STAGES.iter().enumerate().map(section).collect()
}

/// Before the first stage that needs models.
const MODELS: &str = "\
# The following stages examine models, so they need the weights. Each can be restricted to some of the
# runs: `arms`, `ks` (numbers of votes), `seeds` (the first N of each), and `also`, a list of such choices.
# On a GPU they compute with `precision` \"f32\", \"tf32\", \"bf16\" or \"bf16x3\".
";

/// The stages of a study, of both kinds.
#[derive(Clone, Default)]
pub(crate) struct Stages {
    /// What is computed from predictions and histories, by name.
    pub(crate) stages: Vec<(&'static str, Arc<dyn Stage>)>,
    /// What needs models.
    pub(crate) examinations: Vec<Examination>,
}

impl Stages {
    /// The metrics of all stages.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let examined = self.examinations.iter().flat_map(|one| one.stage.metrics());
        self.stages.iter().flat_map(|(_, stage)| stage.metrics()).chain(examined).collect()
    }

    fn add(
        &mut self,
        info: &StageEntry,
        section: &Section<'_>,
        slices: &[SliceRule],
    ) -> Result<(), StudyError> {
        let name = info.name;
        match info.read {
            Read::Stage(read) => {
                section.known(info.keys)?;
                self.stages.push((name, read(section, slices)?));
            }
            Read::Examiner(read) => {
                section.known(&[info.keys, &["precision"], &RunFilter::KEYS].concat())?;
                let (runs, precision) = (RunFilter::read(section)?, settings::precision(section)?);
                let stage = read(section, slices)?;
                self.examinations.push(Examination { name, runs, precision, stage });
            }
        }
        Ok(())
    }
}

/// A stage with its settings.
pub(crate) trait Stage: Send + Sync {
    /// Everything that decides its numbers beside the run and its data.
    fn settings(&self) -> Value;

    /// The metrics that it gives, and how they are made.
    fn metrics(&self) -> Vec<Metric>;

    /// The numbers of a run.
    fn numbers(&self, run: &Finished<'_>) -> Result<Vec<Number>, StudyError>;

    /// The numbers of any predictions for the items at these places; none where a stage needs more. Where only
    /// some metrics are asked for, others may be left out.
    fn of_predictions(
        &self,
        _: &Material,
        _: &[usize],
        _: &Judged,
        _: Option<&[&str]>,
    ) -> Result<Vec<Number>, StudyError> {
        Ok(Vec::new())
    }

    /// Whether its numbers are kept. Those that are read off cost nothing.
    fn is_kept(&self) -> bool {
        true
    }
}

/// The stages of a study.
pub(crate) fn read(
    text: Text<'_>,
    section: Option<&Section<'_>>,
    slices: &[SliceRule],
) -> Result<Stages, StudyError> {
    let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
    section.map_or(Ok(()), |section| section.known(&names))?;
    let mut all = Stages::default();
    for info in STAGES {
        let title = format!("[stages.{}]", info.name);
        match section.and_then(|section| section.node(info.name)) {
            Some(node) => all.add(info, &Section::new(text, title, node)?, slices)?,
            None if info.always => all.add(info, &Section::empty(text, title), slices)?,
            None => {}
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
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete_and_no_metric_comes_twice() {
        // As the templates show them, where a section may be commented out.
        let all = crate::template().replace("\n# [stages.", "\n[stages.");
        let stages = crate::Study::parse(&all, "template").unwrap().stages;
        assert_eq!(stages.stages.len() + stages.examinations.len(), STAGES.len());
        assert!(STAGES.iter().all(|stage| !stage.about.is_empty()));
        let mut seen = std::collections::BTreeSet::new();
        for metric in stages.metrics() {
            assert!(seen.insert(metric.name.clone()), "{} twice", metric.name);
            let texts = [&metric.title, &metric.what, &metric.formula, &metric.source];
            assert!(texts.iter().all(|text| !text.is_empty()), "{}", metric.name);
        }
    }
}
