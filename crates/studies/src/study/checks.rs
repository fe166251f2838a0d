//! Names that must be known: a study that names an arm, a metric or a column that is not there is
//! refused before anything is trained.

use std::collections::BTreeSet;

use dissensus_report::claims::{ClaimKind, ClaimSpec};
use dissensus_report::figures::{FigureSpec, Names as Named};
use dissensus_report::tables::{TableSpec, Votes};
use dissensus_train::Place;

use super::{FILE_NAME, Study, is_file_name, missing, unknown};
use crate::StudyError;
use crate::book::item_columns;
use crate::file::Section;
use crate::layers::{Outline, direction};

pub(super) fn check(study: &Study, root: &Section<'_, '_, '_>) -> Result<(), StudyError> {
    if study.arms.is_empty() {
        let remedy = "give it what is compared, each as [[arm]] with a name and a delivery";
        return Err(missing(&study.file, "[[arm]]", remedy));
    }
    once(root, "arm", study.arms.iter().map(|arm| &arm.name))?;
    once(root, "dataset", study.datasets.iter().map(|dataset| &dataset.name))?;
    once(root, "slice", study.slices.iter().map(|slice| &slice.name))?;
    once(root, "table", study.tables.iter().map(|table| &table.name))?;
    once(root, "figure", study.figures.iter().map(|figure| &figure.name))?;
    once(root, "claim", study.claims.iter().map(|claim| &claim.name))?;
    let datasets: Vec<String> = study.datasets.iter().map(|one| one.name.clone()).collect();
    for arm in &study.arms {
        let known = |name: &String| one("[[arm]] datasets", name, &datasets, &arm.datasets_place);
        arm.datasets.iter().try_for_each(known)?;
    }
    grid(study)?;
    let names = Names::new(study, &study.outlines(None)?);
    for (table, section) in study.tables.iter().zip(root.list("table")?) {
        names.table(&section, table)?;
    }
    for (figure, section) in study.figures.iter().zip(root.list("figure")?) {
        names.figure(&section, figure)?;
    }
    for (claim, section) in study.claims.iter().zip(root.list("claim")?) {
        names.claim(&section, claim, study)?;
    }
    for among in study.examiners.iter().flat_map(|stage| stage.among().all()) {
        let place = |place: &Option<Place>| place.clone().unwrap_or(Place::Call);
        for arm in &among.arms {
            one("[stages] arms", arm, &names.arms, &place(&among.arms_place))?;
        }
        // A scale may have taken numbers of votes away, and what it did not change stays.
        for k in among.ks.iter().filter(|_| study.scale.is_none()) {
            one("[stages] ks", &votes(k.0), &names.ks, &place(&among.ks_place))?;
        }
    }
    names.references(study, root)
}

/// Refuses a name that comes twice in a list of tables.
fn once<'n>(
    root: &Section<'_, '_, '_>,
    key: &str,
    names: impl Iterator<Item = &'n String>,
) -> Result<(), StudyError> {
    let mut seen = BTreeSet::new();
    for (at, name) in names.enumerate() {
        if !seen.insert(name) {
            let sections = root.list(key)?;
            let place = sections.get(at).map_or(Place::Call, |section| section.place("name"));
            let (key, value) = (format!("[[{key}]]"), name.clone());
            return Err(StudyError::Twice { key, value, place });
        }
    }
    Ok(())
}

fn one(key: &str, name: &str, known: &[String], place: &Place) -> Result<(), StudyError> {
    match known.iter().any(|known| known == name) {
        true => Ok(()),
        false => Err(unknown(key, name, known.iter().map(String::as_str), place)),
    }
}

/// What selects a point must be able to, and scales can only narrow axes that there are.
fn grid(study: &Study) -> Result<(), StudyError> {
    let axes: Vec<String> =
        study.grid.iter().flat_map(|grid| &grid.axes).map(|axis| axis.path.clone()).collect();
    for scale in &study.scales {
        let key = format!("[scale.{}] grid", scale.name);
        scale.grid.iter().try_for_each(|axis| one(&key, &axis.path, &axes, &axis.place))?;
    }
    let Some(grid) = &study.grid else { return Ok(()) };
    if grid.axes.is_empty() {
        let remedy = "give it axes, as in \"training.rate\" = [0.1, 0.01]";
        return Err(missing(&study.file, "axes in [grid]", remedy));
    }
    match &grid.select {
        Some(metric) => direction(metric, &grid.select_place).map(|_| ()),
        None => Ok(()),
    }
}

/// Everything that tables and figures can name.
struct Names {
    arms: Vec<String>,
    datasets: Vec<String>,
    metrics: Vec<String>,
    slices: Vec<String>,
    ks: Vec<String>,
    /// Columns by item, and lines of runs.
    columns: Vec<String>,
    paths: Vec<String>,
}

impl Names {
    fn new(study: &Study, outlines: &[Outline]) -> Self {
        let (mut datasets, mut ks): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for outline in outlines {
            let k = votes(outline.k);
            if !datasets.contains(&outline.dataset) {
                datasets.push(outline.dataset.clone());
            }
            if !ks.contains(&k) {
                ks.push(k);
            }
        }
        let slices = study.slices.iter().map(|slice| slice.name.clone());
        Self {
            arms: study.arms.iter().map(|arm| arm.name.clone()).collect(),
            datasets,
            metrics: study.metrics().into_iter().map(|metric| metric.name).collect(),
            slices: std::iter::once("all".to_owned()).chain(slices).collect(),
            ks,
            columns: {
                let kept = study.examiners.iter().flat_map(|stage| stage.columns());
                item_columns().chain(kept.copied()).map(str::to_owned).collect()
            },
            paths: {
                let kept = study.examiners.iter().flat_map(|stage| stage.paths());
                kept.map(|path| (*path).to_owned()).collect()
            },
        }
    }

    fn table(&self, section: &Section<'_, '_, '_>, table: &TableSpec) -> Result<(), StudyError> {
        file(section, &table.name)?;
        all(section, "datasets", &table.datasets, &self.datasets)?;
        all(section, "arms", &table.arms, &self.arms)?;
        all(section, "metrics", &table.metrics, &self.metrics)?;
        all(section, "slices", &table.slices, &self.slices)?;
        self.votes(section, &table.ks)?;
        match &table.against {
            Some(against) => {
                one("[[table]] against", &against.arm, &self.arms, &section.place("against"))
            }
            None => Ok(()),
        }
    }

    fn votes(&self, section: &Section<'_, '_, '_>, ks: &[Votes]) -> Result<(), StudyError> {
        let named: Vec<String> = ks.iter().map(|k| votes(k.0)).collect();
        all(section, "ks", &named, &self.ks)
    }

    fn figure(&self, section: &Section<'_, '_, '_>, figure: &FigureSpec) -> Result<(), StudyError> {
        file(section, &figure.name)?;
        all(section, "datasets", &figure.datasets, &self.datasets)?;
        all(section, "arms", &figure.arms, &self.arms)?;
        self.votes(section, &figure.ks)?;
        all(section, "against", figure.against.as_slice(), &self.arms)?;
        all(section, "slice", figure.slice.as_slice(), &self.slices)?;
        for setting in figure.kind.settings() {
            let key = setting.key;
            let known = match setting.names {
                Named::Metric => &self.metrics,
                Named::ItemColumn => &self.columns,
                Named::HistoryColumn => {
                    let path = |name: &str| self.paths.iter().any(|path| path == name);
                    let names = figure.names(key);
                    let mut history = names.into_iter().filter(|name| !path(name));
                    history.try_for_each(|name| curve(section, key, name))?;
                    continue;
                }
                // Arms and slices are checked above for every kind; items are known with the data.
                Named::Arm | Named::Slice | Named::Item | Named::Nothing => continue,
            };
            for name in figure.names(key) {
                one(&section.key(key), name, known, &section.place(key))?;
            }
        }
        Ok(())
    }

    fn claim(
        &self,
        section: &Section<'_, '_, '_>,
        claim: &ClaimSpec,
        study: &Study,
    ) -> Result<(), StudyError> {
        file(section, &claim.name)?;
        all(section, "datasets", &claim.datasets, &self.datasets)?;
        all(section, "arms", &claim.arms, &self.arms)?;
        all(section, "than", claim.than.as_slice(), &self.arms)?;
        all(section, "metrics", &claim.metrics, &self.metrics)?;
        all(section, "slices", &claim.slices, &self.slices)?;
        self.votes(section, &claim.ks)?;
        let tables: Vec<String> = study.tables.iter().map(|table| table.name.clone()).collect();
        all(section, "tables", &claim.tables, &tables)?;
        let lacks = |what: &str| {
            let why = format!("needs {what}");
            let key = format!("[[claim]] {}", claim.name);
            Err(StudyError::Conflict { key, place: section.place("name"), why })
        };
        let (arms, metrics) = (claim.arms.len(), claim.metrics.is_empty());
        match claim.kind {
            ClaimKind::ShareWithin if claim.tables.is_empty() => lacks("`tables`"),
            ClaimKind::ShareWithin => Ok(()),
            _ if arms == 0 || metrics => lacks("`arms` and `metrics`"),
            ClaimKind::Below | ClaimKind::Above
                if claim.than.is_some() == claim.bound.is_some() =>
            {
                lacks("one of `than` (an arm) and `bound` (a number)")
            }
            ClaimKind::Parity if claim.than.is_none() => lacks("`than`, an arm"),
            ClaimKind::Ordering | ClaimKind::Monotone if arms < 2 => lacks("at least two arms"),
            _ => Ok(()),
        }
    }

    fn references(&self, study: &Study, root: &Section<'_, '_, '_>) -> Result<(), StudyError> {
        let sections = root.list("reference")?;
        for (at, reference) in study.references.iter().enumerate() {
            // Those of a file of their own have no section here.
            let place = |key: &str| sections.get(at).map_or(Place::Call, |one| one.place(key));
            one("[[reference]] arm", &reference.arm, &self.arms, &place("arm"))?;
            one("[[reference]] metric", &reference.metric, &self.metrics, &place("metric"))?;
            one("[[reference]] slice", &reference.slice, &self.slices, &place("slice"))?;
            if !reference.dataset.is_empty() {
                let (name, place) = (&reference.dataset, place("dataset"));
                one("[[reference]] dataset", name, &self.datasets, &place)?;
            } else if self.datasets.len() > 1 {
                let why = "needs a `dataset`, as the study has several".to_owned();
                let key = format!("[[reference]] of {}", reference.arm);
                return Err(StudyError::Conflict { key, place: place("arm"), why });
            }
        }
        Ok(())
    }
}

fn votes(k: Option<u32>) -> String {
    k.map_or("all".to_owned(), |k| k.to_string())
}

fn file(section: &Section<'_, '_, '_>, name: &str) -> Result<(), StudyError> {
    match is_file_name(name) {
        true => Ok(()),
        false => Err(section.unexpected("name", FILE_NAME)),
    }
}

fn all(
    section: &Section<'_, '_, '_>,
    key: &str,
    named: &[String],
    known: &[String],
) -> Result<(), StudyError> {
    let place = section.place(key);
    named.iter().try_for_each(|name| one(&section.key(key), name, known, &place))
}

/// A column of a history: the loss, the rate, or a metric of a part.
fn curve(section: &Section<'_, '_, '_>, key: &str, name: &str) -> Result<(), StudyError> {
    let judged = name.split_once('.').is_some_and(|(part, metric)| {
        let part = ["evaluation", "validation", "test"].contains(&part);
        part && dissensus_measure::metric(metric).is_some()
    });
    if judged || ["loss", "rate"].contains(&name) {
        return Ok(());
    }
    let known = ["loss", "rate", "evaluation.soft_nll", "evaluation.accuracy"].map(str::to_owned);
    one(&section.key(key), name, &known, &section.place(key))
}
