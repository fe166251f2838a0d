//! Checks of names: a study that names an unknown arm, metric or column is refused before anything is
//! trained.

use std::collections::BTreeSet;

use dissensus_report::claims::{ClaimKind, ClaimSpec};
use dissensus_report::figures::{FigureSpec, Names as Named};
use dissensus_train::{ConfigError, Place};
use toml::Value;

use super::{Author, Study};
use crate::book::item_columns;
use crate::file::{Arm, Section, is_file_name};
use crate::layers::Outline;

pub(super) fn check(study: &Study, root: &Section<'_>, author: Author) -> Result<(), ConfigError> {
    if study.arms.is_empty() {
        let remedy = "add one for each delivery to compare, with a name and a delivery, or set \
                      delivery.methods";
        return Err(ConfigError::missing(&study.file, "[[arm]]", remedy));
    }
    // An arm may have other settings on other datasets.
    let apart = |one: &Arm, other: &Arm| {
        let both = !one.datasets.is_empty() && !other.datasets.is_empty();
        both && one.datasets.iter().all(|dataset| !other.datasets.contains(dataset))
    };
    for (at, arm) in study.arms.iter().enumerate() {
        let same = |other: &&Arm| other.name == arm.name && !apart(arm, other);
        if study.arms[..at].iter().any(|other| same(&other)) {
            once(root, "arm", study.arms[..=at].iter().map(|arm| &arm.name))?;
        }
    }
    once(root, "dataset", study.datasets.iter().map(|dataset| &dataset.name))?;
    once(root, "slice", study.slices.iter().map(|slice| &slice.name))?;
    once(root, "table", study.tables.iter().map(|table| &table.name))?;
    once(root, "figure", study.figures.iter().map(|figure| &figure.name))?;
    once(root, "claim", study.claims.iter().map(|claim| &claim.name))?;
    if let Some(head) = root.table("study")? {
        let figures: Vec<String> = study.figures.iter().map(|one| one.name.clone()).collect();
        let claims: Vec<String> = study.claims.iter().map(|one| one.name.clone()).collect();
        named(&head, "main_figure", &figures)?;
        named(&head, "main_claim", &claims)?;
    }
    let datasets: Vec<String> = study.datasets.iter().map(|one| one.name.clone()).collect();
    for arm in &study.arms {
        let known = |name: &String| one("[[arm]] datasets", name, &datasets, &arm.datasets_place);
        arm.datasets.iter().try_for_each(known)?;
    }
    grid(study)?;
    let names = Names::new(study, &study.outlines(None)?);
    for section in root.list("table")? {
        names.check(&section)?;
        named(&section, "metrics", &names.metrics)?;
    }
    for (figure, section) in study.figures.iter().zip(root.list("figure")?) {
        names.check(&section)?;
        match figure.unread() {
            Some(key) if author == Author::User => {
                return Err(section.unknown(&key, section.place(&key), &figure.kind.keys()));
            }
            _ => names.figure(&section, figure)?,
        }
    }
    for (claim, section) in study.claims.iter().zip(root.list("claim")?) {
        names.check(&section)?;
        named(&section, "metrics", &names.metrics)?;
        complete(&section, claim)?;
        match (claim.kind, &claim.y) {
            (ClaimKind::Turn, Some(column)) => curve(&section, "y", column)?,
            _ => ["x", "than_x", "y", "given"]
                .iter()
                .try_for_each(|key| named(&section, key, &names.columns))?,
        }
    }
    if let Some(stages) = root.table("stages")? {
        for (name, _, node) in stages.entries() {
            let stage = Section::new(root.text, format!("[stages.{name}]"), node)?;
            for section in stage.list("also")?.iter().chain([&stage]) {
                named(section, "arms", &names.arms)?;
                named(section, "against", &names.arms)?;
                // A scale may have removed numbers of votes.
                if study.scale.is_none() {
                    named(section, "ks", &names.ks)?;
                }
            }
        }
    }
    names.references(study, root)
}

/// Refuses a name that is used twice in a list of tables.
fn once<'n>(
    root: &Section<'_>,
    key: &str,
    names: impl Iterator<Item = &'n String>,
) -> Result<(), ConfigError> {
    let mut seen = BTreeSet::new();
    for (at, name) in names.enumerate() {
        if !seen.insert(name) {
            let sections = root.list(key)?;
            let place = sections.get(at).map_or(Place::Call, |section| section.place("name"));
            let why = format!("names {name:?} twice; rename one of them");
            return Err(ConfigError::Conflict { key: format!("[[{key}]]"), place, why });
        }
    }
    Ok(())
}

fn one(key: &str, name: &str, known: &[String], place: &Place) -> Result<(), ConfigError> {
    match known.iter().any(|known| known == name) {
        true => Ok(()),
        false => Err(ConfigError::unknown_name(key, name, known.iter().map(String::as_str), place)),
    }
}

/// A grid must have axes, and scales can only narrow existing ones.
fn grid(study: &Study) -> Result<(), ConfigError> {
    let axes: Vec<String> =
        study.grid.iter().flat_map(|grid| &grid.axes).map(|axis| axis.path.clone()).collect();
    for scale in &study.scales {
        let key = format!("[scale.{}] grid", scale.name);
        scale.grid.iter().try_for_each(|axis| one(&key, &axis.path, &axes, &axis.place))?;
    }
    if study.grid.is_some() && axes.is_empty() {
        let remedy = "give it axes, as in \"training.learning_rate\" = [0.1, 0.01]";
        return Err(ConfigError::missing(&study.file, "axes in [grid]", remedy));
    }
    Ok(())
}

/// All names that tables and figures can use.
struct Names {
    arms: Vec<String>,
    datasets: Vec<String>,
    metrics: Vec<String>,
    slices: Vec<String>,
    ks: Vec<String>,
    tables: Vec<String>,
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
            tables: study.tables.iter().map(|table| table.name.clone()).collect(),
            columns: {
                let kept = study.stages.examinations.iter().flat_map(|one| one.stage.columns());
                item_columns().chain(kept.copied()).map(str::to_owned).collect()
            },
            paths: {
                let kept = study.stages.examinations.iter().flat_map(|one| one.stage.paths());
                kept.map(|path| (*path).to_owned()).collect()
            },
        }
    }

    /// Checks the name of a table, figure or claim, and the names that it uses.
    fn check(&self, section: &Section<'_>) -> Result<(), ConfigError> {
        let name = section.words("name")?;
        if !is_file_name(&name) {
            return Err(section.unexpected("name", crate::file::expected("study", "name")));
        }
        let known = [
            ("datasets", &self.datasets),
            ("arms", &self.arms),
            ("against", &self.arms),
            ("than", &self.arms),
            ("than_ks", &self.ks),
            ("than_datasets", &self.datasets),
            ("slices", &self.slices),
            ("slice", &self.slices),
            ("ks", &self.ks),
            ("tables", &self.tables),
        ];
        known.iter().try_for_each(|(key, known)| named(section, key, known))
    }

    fn figure(&self, section: &Section<'_>, figure: &FigureSpec) -> Result<(), ConfigError> {
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

    fn references(&self, study: &Study, root: &Section<'_>) -> Result<(), ConfigError> {
        let sections = root.list("reference")?;
        for (at, reference) in study.references.iter().enumerate() {
            // Those in a separate file have no section here.
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
                return Err(ConfigError::Conflict { key, place: place("arm"), why });
            }
        }
        Ok(())
    }
}

fn votes(k: Option<u32>) -> String {
    k.map_or("all".to_owned(), |k| k.to_string())
}

/// Checks the names at a key: one, a list of them, or a table with an `arm`.
fn named(section: &Section<'_>, key: &str, known: &[String]) -> Result<(), ConfigError> {
    let Some(node) = section.node(key) else { return Ok(()) };
    let value: Value = section.text.read(node)?;
    let list = match &value {
        Value::Array(list) => list.as_slice(),
        Value::Table(table) => table.get("arm").map_or(&[][..], std::slice::from_ref),
        one => std::slice::from_ref(one),
    };
    list.iter().try_for_each(|name| {
        let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        one(&section.key(key), &name, known, &section.place(key))
    })
}

/// Checks that a claim has the keys that its kind needs.
fn complete(section: &Section<'_>, claim: &ClaimSpec) -> Result<(), ConfigError> {
    let (arms, metrics) = (claim.arms.len(), claim.metrics.is_empty());
    let needed = match claim.kind {
        ClaimKind::ShareWithin if claim.tables.is_empty() => "`tables`",
        ClaimKind::Facts if claim.facts.is_empty() => "`facts`",
        ClaimKind::ShareWithin | ClaimKind::Facts => return Ok(()),
        ClaimKind::Turn if arms == 0 || claim.y.is_none() || claim.than.is_none() => {
            "`arms`, `than` and `y`"
        }
        ClaimKind::Turn => return Ok(()),
        ClaimKind::Correlation if arms == 0 || claim.x.is_none() || claim.y.is_none() => {
            "`arms`, `x` and `y`"
        }
        ClaimKind::Correlation => return Ok(()),
        _ if arms == 0 || metrics => "`arms` and `metrics`",
        ClaimKind::Below | ClaimKind::Above if claim.than.is_some() == claim.bound.is_some() => {
            "one of `than` (an arm) and `bound` (a number)"
        }
        ClaimKind::Parity | ClaimKind::Better | ClaimKind::Gain | ClaimKind::Change
            if claim.than.is_none() =>
        {
            "`than`, an arm"
        }
        ClaimKind::Gain if claim.than_ks.is_empty() == claim.than_datasets.is_empty() => {
            "one of `than_ks` and `than_datasets`"
        }
        ClaimKind::Between if claim.bounds.is_none() => "`bounds`, two numbers",
        ClaimKind::Ordering | ClaimKind::Monotone | ClaimKind::Highest | ClaimKind::Lowest
            if arms < 2 =>
        {
            "at least two arms"
        }
        _ => return Ok(()),
    };
    let (key, place) = (format!("[[claim]] {}", claim.name), section.place("name"));
    Err(ConfigError::Conflict { key, place, why: format!("needs {needed}") })
}

/// A column of a history: the loss, the rate, or a metric of a part.
fn curve(section: &Section<'_>, key: &str, name: &str) -> Result<(), ConfigError> {
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
