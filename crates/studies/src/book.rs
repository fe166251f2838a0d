//! Everything that a report of a study is made of, from the store and the data.
//!
//! Numbers by item are computed only for the runs and columns that a figure asks for: for hundreds of
//! runs of thousands of items all of them would be much, and most would never be looked at.

mod baselines;
mod collection;
mod facts;
mod items;
mod provenance;

use dissensus_measure::reliability::Binning;
use dissensus_measure::{Against, Scorer, Settings};
use dissensus_report::book::{
    Arm, Book, Curve, ItemNumbers, Named, Overlay, Picture, ReliabilityOf, RunKey,
};
use dissensus_store::{RunInfo, Store, Which};
use dissensus_train::EpochRow;
use rayon::prelude::*;

use crate::collect::Gathered;
use crate::finished::Finished;
use crate::layers::Outline;
use crate::stages::{Kept, KeptPicture};
use crate::{Job, Plan, Study, StudyError};
use collection::Means;

pub use items::item_columns;
pub(crate) use items::target_distances;

/// What a report needs of the runs of one arm on one data set with one number of votes.
struct Part {
    curves: Vec<Curve>,
    items: Vec<ItemNumbers>,
    overlays: Vec<Overlay>,
    reliability: Vec<ReliabilityOf>,
    means: Means,
}

impl Plan<'_> {
    /// All that a report is made of, from the runs that are finished in this store.
    pub fn book(&self, store: &Store) -> Result<Book, StudyError> {
        let study = self.study();
        let gathered = self.gather(store)?;
        let is_done = |job: &&Job| gathered.ran.contains_key(&job.id);
        let groups = Job::by_arm(gathered.jobs.iter().filter(is_done));
        let distances = items::distances(self, &gathered)?;
        let part = |group: &Vec<&Job>| self.part(group, &gathered, &distances);
        let parts: Vec<Part> = groups.par_iter().map(part).collect::<Result<_, _>>()?;
        let collections = self.collections(&parts);
        let mut book = Book {
            name: study.name.clone(),
            title: study.title.clone(),
            about: study.about.clone(),
            scale: study.scale.clone(),
            arms: self.shown_arms(),
            datasets: self.shown_datasets(),
            facts: facts::of(self),
            metrics: study.metrics(),
            collections,
            tables: study.tables.clone(),
            figures: study.figures.clone(),
            references: study.references.clone(),
            claims: study.claims.clone(),
            planned: planned(study)?,
            settings: study.to_toml(),
            provenance: provenance::lines(self, store, &gathered)?,
            notes: self.selected_on_judged().into_iter().collect(),
            baselines: baselines::rows(self, &gathered)?,
            ..Book::default()
        };
        for part in parts {
            book.curves.extend(part.curves);
            book.items.extend(part.items);
            book.reliability.extend(part.reliability);
            book.overlays.extend(part.overlays);
        }
        let collected = gathered.collected;
        book.rows = collected.rows;
        book.chosen = collected.chosen;
        book.missing = collected.missing;
        let failed = collected.failed.into_iter();
        book.failed = failed.map(|failure| (failure.label, failure.reason)).collect();
        Ok(book)
    }

    fn part(
        &self,
        group: &[&Job],
        gathered: &Gathered,
        distances: &items::Distances,
    ) -> Result<Part, StudyError> {
        let mut part = Part {
            curves: Vec::new(),
            items: Vec::new(),
            overlays: Vec::new(),
            reliability: Vec::new(),
            means: Means::new(group.first().copied()),
        };
        for job in group {
            let Some(ran) = gathered.ran.get(&job.id) else { continue };
            let (of, kept) = (of(job), gathered.kept_of(job));
            let material = self.material(job);
            let finished = Finished { job, info: &ran.info, result: &ran.result, material };
            let (places, judged) = finished.judged(Which::Best)?;
            part.curves.extend(curves(&of, &ran.info)?);
            part.curves.extend(kept.iter().flat_map(|kept| &kept.paths).map(|path| Curve {
                of: of.clone(),
                column: path.name.clone(),
                values: path.y.clone(),
                x: path.x.clone(),
            }));
            part.overlays.extend(overlays(&of, kept));
            let columns = items::wanted(self.study(), job);
            let examined = items::wanted_of_stages(self.study(), job);
            if !columns.is_empty() || !examined.is_empty() {
                let distances = distances.of(job);
                let names = material.task.table().items();
                let ids: Vec<String> = places.iter().map(|&at| names.name(at).to_owned()).collect();
                let mut columns = items::columns(&columns, &judged, &places, distances)?;
                columns.extend(items::of_stages(&examined, kept, &ids));
                part.items.push(ItemNumbers { of: of.clone(), ids, columns });
            }
            let scorer = Scorer::new(&judged, Settings::default())?;
            let bins = scorer.reliability(Binning::Mass, Against::Human);
            let bin = |bin: &dissensus_measure::reliability::Bin| {
                (bin.confidence, bin.outcome, bin.items as u64)
            };
            part.reliability.push(ReliabilityOf { of, bins: bins.iter().map(bin).collect() });
            part.means.add(material, &places, &judged);
        }
        Ok(part)
    }

    /// All arms of the study: its tables name them, whatever part of it is planned.
    fn shown_arms(&self) -> Vec<Arm> {
        let arms = self.study().arms.iter();
        let arm = |arm: &crate::file::Arm| Arm {
            name: arm.name.clone(),
            title: arm.title.clone(),
            about: arm.about.clone(),
        };
        arms.map(arm).collect()
    }

    fn shown_datasets(&self) -> Vec<Named> {
        let title = |name: &str| {
            let choice = self.study().datasets.iter().find(|choice| choice.name == name);
            choice.map_or(name, |choice| &choice.title).to_owned()
        };
        let named = |(name, _): (&str, _)| Named { name: name.to_owned(), title: title(name) };
        self.datasets().into_iter().map(named).collect()
    }
}

/// All runs of a study, whatever part of it is planned: a claim is open until they are done.
fn planned(study: &Study) -> Result<Vec<RunKey>, StudyError> {
    let outlines = study.outlines(None)?;
    let each = |outline: &Outline| {
        let (dataset, arm, k) = (outline.dataset.clone(), outline.arm.clone(), outline.k);
        let of = move |&seed: &u64| RunKey { dataset: dataset.clone(), arm: arm.clone(), k, seed };
        outline.seeds.iter().map(of).collect::<Vec<RunKey>>()
    };
    Ok(outlines.iter().flat_map(each).collect())
}

/// A job as tables and figures know it.
fn of(job: &Job) -> RunKey {
    RunKey { dataset: job.dataset.clone(), arm: job.arm.clone(), k: job.k, seed: job.seed }
}

/// The pictures that stages kept of a run; what is damaged is left out.
fn overlays(of: &RunKey, kept: &[Kept]) -> Vec<Overlay> {
    let overlay = |one: &KeptPicture| {
        let (width, height) = (one.width, one.height);
        let picture = Picture { width, height, channels: 3, pixels: one.bytes()? };
        Some(Overlay { of: of.clone(), item: one.item.clone(), picture })
    };
    kept.iter().flat_map(|kept| &kept.pictures).filter_map(overlay).collect()
}

/// The columns of a run's history, each once.
fn curves(of: &RunKey, info: &RunInfo) -> Result<Vec<Curve>, StudyError> {
    let history: Vec<EpochRow> = info.history()?;
    let names = history.first().into_iter().flat_map(EpochRow::columns);
    let curve = |(name, _): (&str, _)| {
        let values = history.iter().map(|row| row.column(name).unwrap_or(f64::NAN)).collect();
        Curve { of: of.clone(), column: name.to_owned(), values, x: Vec::new() }
    };
    Ok(names.map(curve).collect())
}
