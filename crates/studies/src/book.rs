//! Everything that a report of a study is made of, from the store and the data.
//!
//! Numbers by item are computed only for the runs and columns that a figure asks for: for hundreds of
//! runs of thousands of items all of them would be much, and most would never be looked at.

mod baselines;
mod collection;
mod facts;
mod items;
mod provenance;

use std::collections::BTreeSet;

use dissensus_measure::reliability::Binning;
use dissensus_measure::{Against, Judged, Scorer, Settings};
use dissensus_report::book::{
    Arm, Book, Curve, ItemNumbers, Named, Overlay, Picture, ReliabilityOf, RunKey,
};
use dissensus_report::claims::ClaimKind;
use dissensus_report::figures::{FigureSpec, Names};
use dissensus_store::{RunInfo, Store, Which};
use dissensus_train::EpochRow;
use rayon::prelude::*;
use serde_json::Value;

use crate::collect::{Gathered, files};
use crate::file::SliceRule;
use crate::finished::Finished;
use crate::layers::Outline;
use crate::stages::{Kept, KeptPicture};
use crate::{Job, Material, Plan, Study, StudyError};
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

/// A run, and what stages that look into models found of it.
type Looked<'a> = (&'a Job, &'a Vec<Kept>);

impl Plan<'_> {
    /// All that a report is made of, from the runs that are finished in this store.
    pub fn book(&self, store: &Store) -> Result<Book, StudyError> {
        let about = store.study(&self.study().name)?.read_about(files::ABOUT)?;
        self.book_of(self.gather(store)?, &about.unwrap_or_default())
    }

    /// All that a report is made of, from these results and what is said about them.
    pub fn book_of(&self, gathered: Gathered, about: &Value) -> Result<Book, StudyError> {
        let study = self.study();
        let kept = gathered.jobs.iter().zip(&gathered.kept);
        let done = kept.filter(|(job, _)| gathered.ran.contains_key(&job.id));
        let groups = Job::by_arm(done, |(job, _)| *job);
        let distances = items::distances(self, &gathered)?;
        let part = |group: &Vec<Looked<'_>>| self.part(group, &gathered, &distances);
        let parts: Vec<Part> = groups.par_iter().map(part).collect::<Result<_, _>>()?;
        let collections = self.collections(&parts);
        let mut book = Book {
            name: study.name.clone(),
            title: study.title.clone(),
            about: study.about.clone(),
            opening: study.opening.clone(),
            scale: study.scale.clone(),
            arms: self.shown_arms(),
            datasets: self.shown_datasets(),
            facts: facts::of(self),
            data: self.data_items(),
            metrics: study.metrics(),
            collections,
            tables: study.tables.clone(),
            figures: study.figures.clone(),
            references: study.references.clone(),
            claims: study.claims.clone(),
            planned: planned(study)?,
            settings: study.to_toml(),
            provenance: provenance::lines(self, &gathered, about),
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
        group: &[Looked<'_>],
        gathered: &Gathered,
        distances: &items::Distances,
    ) -> Result<Part, StudyError> {
        let mut part = Part {
            curves: Vec::new(),
            items: Vec::new(),
            overlays: Vec::new(),
            reliability: Vec::new(),
            means: Means::new(group.first().map(|(job, _)| *job)),
        };
        let shows_curves = self.shows_curves();
        for (job, kept) in group {
            let Some(ran) = gathered.ran.get(&job.id) else { continue };
            let of = of(job);
            let material = self.material(job);
            let finished = Finished { job, info: &ran.info, result: &ran.result, material };
            let (places, judged) = finished.judged(Which::Best)?;
            if shows_curves {
                part.curves.extend(curves(&of, &ran.info)?);
            }
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
                let slices = self.slices(&judged)?;
                part.items.push(ItemNumbers { of: of.clone(), ids, columns, slices });
            }
            let scorer = Scorer::new(&judged, Settings::default())?;
            let bins = scorer.reliability(Binning::Mass, Against::Human);
            let bin = |bin: &dissensus_measure::reliability::Bin| {
                (bin.confidence, bin.outcome, bin.items as u64)
            };
            let smooth = if self.draws_smooth(job) { smooth(&scorer) } else { Vec::new() };
            let bins = bins.iter().map(bin).collect();
            part.reliability.push(ReliabilityOf { of, bins, smooth });
            part.means.add(material, &places, &judged);
        }
        Ok(part)
    }

    /// Which of the judged items are in each slice of the study.
    fn slices(&self, judged: &Judged) -> Result<Vec<(String, Vec<bool>)>, StudyError> {
        let each = |rule: &SliceRule| {
            let mut inside = vec![false; judged.len()];
            rule.by.places(judged.truth().entropy())?.into_iter().for_each(|at| inside[at] = true);
            Ok((rule.name.clone(), inside))
        };
        self.study().slices.iter().map(each).collect()
    }

    /// Whether a figure or a claim is about the epochs of runs.
    fn shows_curves(&self) -> bool {
        let of_epochs = |figure: &FigureSpec| {
            figure.kind.settings().iter().any(|setting| setting.names == Names::HistoryColumn)
        };
        let study = self.study();
        study.figures.iter().any(of_epochs)
            || study.claims.iter().any(|claim| claim.kind == ClaimKind::Turn)
    }

    /// Whether a figure draws a smooth reliability curve of a run.
    fn draws_smooth(&self, job: &Job) -> bool {
        let of_run = |figure: &FigureSpec| {
            let arm = figure.arms.is_empty() || figure.arms.contains(&job.arm);
            arm && (figure.ks.is_empty() || figure.ks.iter().any(|votes| votes.0 == job.k))
        };
        self.study().figures.iter().any(|figure| figure.smooth && of_run(figure))
    }

    /// Numbers by item of the data sets themselves, where a figure shows them.
    fn data_items(&self) -> Vec<ItemNumbers> {
        if !self.study().figures.iter().any(|figure| figure.data) {
            return Vec::new();
        }
        let each = |(name, material): (&str, &Material)| {
            let (names, truth) = (material.task.table().items(), material.task.truth());
            let column = |&name: &&str| Some((name.to_owned(), items::of_data(name, truth)?));
            ItemNumbers {
                of: RunKey { dataset: name.to_owned(), ..RunKey::default() },
                ids: names.iter().map(str::to_owned).collect(),
                columns: items::DATA_COLUMNS.iter().filter_map(column).collect(),
                slices: Vec::new(),
            }
        };
        self.datasets().into_iter().map(each).collect()
    }

    /// All arms of the study: its tables name them, whatever part of it is planned.
    fn shown_arms(&self) -> Vec<Arm> {
        let mut seen = BTreeSet::new();
        let arms = self.study().arms.iter().filter(|arm| seen.insert(&arm.name));
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

/// The smooth reliability curve of a run, without the confidences that it does not have: beyond them it
/// only repeats its ends.
fn smooth(scorer: &Scorer<'_>) -> Vec<(f64, f64)> {
    let confidence = scorer.judged().confidence();
    let low = confidence.iter().copied().fold(1.0, f64::min);
    let high = confidence.iter().copied().fold(0.0, f64::max);
    let curve = scorer.smooth_curve(Against::Majority, 101).into_iter();
    let inside = curve.filter(|point| (low..=high).contains(&point.confidence));
    inside.map(|point| (point.confidence, point.outcome)).collect()
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
