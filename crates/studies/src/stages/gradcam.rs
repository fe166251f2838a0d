//! Whether the seeds of an arm look at the same places of a picture: the correlation of a run's
//! Grad-CAM maps with those of every other seed of its arm, over the pictures that both are judged
//! on, the mean over pictures and then over seeds; on all of them and on slices.
//!
//! A slice is of all items of the data, so that it is the same for every pair of seeds. A few
//! pictures with the first seeds' maps over them are kept for a figure: those that people disagree on
//! most among what the first two seeds are both judged on.

use std::sync::Arc;

use dissensus_examine::{CamSettings, Maps, Model, Observer, gradcam, overlay};
use dissensus_geometry::gradcam::{Cams, RunMaps, stability};
use dissensus_report::book::{Direction, Metric};
use dissensus_store::Which;
use serde_json::{Value, json};

use super::kept::Picture;
use super::settings::{self, MANY, count, mean};
use super::{Examiner, Found, Group, Kept, Read, StageEntry};
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::{Job, Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "gradcam",
    about: "whether the seeds of an arm look at the same places; needs the weights",
    always: false,
    keys: &["slices", "pictures"],
    template: r#"# Whether the seeds of an arm use the same regions of an image.
[stages.gradcam]
arms = ["sls", "soft"]
ks = ["all"]
# slices = ["divided"]
# How many images a report shows.
pictures = 3
# precision = "f32"
"#,
    read: Read::Examiner(read),
};

const METRIC: &str = "gradcam_stability";
/// How much of an overlay is the map.
const OPACITY: f32 = 0.45;
/// Seeds whose maps are shown.
const SHOWN: usize = 2;

struct Looking {
    slices: Vec<SliceRule>,
    pictures: usize,
}

fn read(section: &Section<'_>, known: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    let slices = settings::slices(section, known)?;
    let pictures = count(section, "pictures", MANY)?.unwrap_or(6);
    Ok(Arc::new(Looking { slices, pictures }))
}

/// What a run sees.
struct Sight {
    rows: Vec<u32>,
    cams: Cams,
    pictures: Vec<Picture>,
}

impl Looking {
    fn sight(
        &self,
        model: &mut Model,
        shown: &[u32],
        observer: &Observer<'_>,
    ) -> Result<Sight, StudyError> {
        let rows = model.part(None)?.rows.clone();
        let maps: Maps = gradcam(model, &rows, &CamSettings::default(), observer)?;
        let mut pictures = Vec::new();
        for row in shown {
            let Some(item) = maps.items.iter().find(|item| item.row == *row) else { continue };
            let laid = overlay(model, &maps, item, 1, OPACITY)?;
            pictures.push(Picture::new(&item.item, laid.width, laid.height, &laid.pixels));
        }
        let values = maps.items.iter().flat_map(|item| &item.map).copied().collect();
        let cams = Cams { height: maps.height, width: maps.width, values };
        Ok(Sight { rows, cams, pictures })
    }

    /// The pictures to show: what the first seeds are all judged on, the most disputed first.
    fn shown(&self, runs: &[Finished<'_>]) -> Result<Vec<u32>, StudyError> {
        let mut common: Option<Vec<usize>> = None;
        for run in runs.iter().take(SHOWN) {
            let (places, _) = run.judged(Which::Best)?;
            common = Some(match common {
                None => places,
                Some(known) => known.into_iter().filter(|at| places.contains(at)).collect(),
            });
        }
        let mut places = common.unwrap_or_default();
        let Some(first) = runs.first() else { return Ok(Vec::new()) };
        let entropy = first.material.task.truth().entropy();
        places.sort_by(|&a, &b| entropy[b].total_cmp(&entropy[a]).then(a.cmp(&b)));
        places.truncate(self.pictures);
        Ok(places.into_iter().map(|place| place as u32).collect())
    }
}

impl Examiner for Looking {
    fn settings(&self) -> Value {
        json!({ "slices": settings::told(&self.slices), "pictures": self.pictures })
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![Metric {
            name: METRIC.into(),
            title: "Grad-CAM stability".into(),
            better: Direction::Neither,
            digits: 3,
            what: "Correlation of a run's Grad-CAM maps with those of the other seeds of its arm, for \
                   the class that each predicts, over pictures that both are judged on"
                .into(),
            formula: "Pearson's r of two maps of a picture; mean over pictures, then over seeds".into(),
            settings: "maps of the last convolutional block; slices are of all items of the data"
                .into(),
            source: "Selvaraju et al., Grad-CAM (2017)".into(),
        }]
    }

    fn groups<'j>(&self, jobs: &[&'j Job]) -> Vec<Group<'j>> {
        Group::seeds_of_arms(jobs)
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        let shown = self.shown(runs)?;
        let mut sights = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            let shown = if at < SHOWN { &shown[..] } else { &[] };
            sights.push(self.sight(&mut models.open(run)?, shown, &models.observer)?);
        }
        let mut among: Vec<(&str, Option<Vec<u32>>)> = vec![("all", None)];
        if let Some(run) = runs.first() {
            let task = &run.material.task;
            // Another data set that is judged on is sliced by itself.
            let all = task.judged().unwrap_or(task.own());
            for rule in &self.slices {
                let places = rule.by.places(&task.truth().entropy()[all.clone()])?;
                let rows = places.into_iter().map(|place| (all.start + place) as u32).collect();
                among.push((&rule.name, Some(rows)));
            }
        }
        let mut all: Vec<Kept> = sights
            .iter()
            .map(|sight| Kept { pictures: sight.pictures.clone(), ..Kept::default() })
            .collect();
        let seen: Vec<RunMaps<'_>> =
            sights.iter().map(|sight| RunMaps { items: &sight.rows, cams: &sight.cams }).collect();
        for (slice, rows) in &among {
            let found = stability(&seen, rows.as_deref())?;
            for (at, kept) in all.iter_mut().enumerate() {
                let own = found.pairs.iter().filter(|pair| pair.runs.contains(&at));
                let means: Vec<f64> = own.filter_map(|pair| pair.mean).collect();
                kept.numbers.push(Number::new(METRIC, slice, mean(&means)));
            }
        }
        Ok(all.into_iter().map(Some).collect())
    }
}
