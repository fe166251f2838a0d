//! The table of what a grid search chose: a line for each (data set, arm, votes), a column for
//! each setting.

use super::layout;
use super::prepare::named;
use super::results::{Results, Value};
use super::spec::{Dimension, TableSpec};
use super::table::{Cell, CellKey, Head, Line, Table};
use crate::ReportError;
use crate::book::{Book, Chosen};

pub(super) fn prepare(
    spec: &TableSpec,
    book: &Book,
    results: &Results,
) -> Result<Table, ReportError> {
    layout::check_names(spec, book, results)?;
    let listed = |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
    let wanted = |chosen: &&Chosen| {
        listed(&spec.datasets, &chosen.dataset)
            && listed(&spec.arms, &chosen.arm)
            && (spec.ks.is_empty() || spec.ks.iter().any(|k| k.0 == chosen.k))
    };
    let mut all: Vec<&Chosen> = book.chosen.iter().filter(wanted).collect();
    let datasets: Vec<&str> = match spec.datasets.is_empty() {
        true => book.datasets.iter().map(|d| d.name.as_str()).collect(),
        false => spec.datasets.iter().map(String::as_str).collect(),
    };
    let arms: Vec<&str> = match spec.arms.is_empty() {
        true => book.arms.iter().map(|a| a.name.as_str()).collect(),
        false => spec.arms.iter().map(String::as_str).collect(),
    };
    let ks: Vec<Option<u32>> = spec.ks.iter().map(|k| k.0).collect();
    let place =
        |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap_or(names.len());
    // A stable sort: what the book does not name stays in the order in which it comes.
    all.sort_by_key(|chosen| {
        let k = ks.iter().position(|k| *k == chosen.k);
        let votes = chosen.k.map_or(u64::MAX, u64::from);
        (place(&datasets, &chosen.dataset), place(&arms, &chosen.arm), k, votes)
    });
    let mut settings: Vec<&str> = Vec::new();
    for (name, _) in all.iter().flat_map(|chosen| &chosen.settings) {
        if !settings.contains(&name.as_str()) {
            settings.push(name);
        }
    }
    let values = |dimension: Dimension| all.iter().map(move |chosen| at(chosen).get(dimension));
    // One data set need not be said on every line.
    let varies = |dimension: &Dimension| {
        let mut values = values(*dimension);
        let first = values.next();
        *dimension != Dimension::Dataset || values.any(|value| Some(&value) != first.as_ref())
    };
    let mut down = vec![Dimension::Dataset, Dimension::Arm, Dimension::K];
    down.retain(varies);
    let keys: Vec<Vec<Value>> =
        all.iter().map(|chosen| down.iter().map(|d| at(chosen).get(*d)).collect()).collect();
    let value = |chosen: &Chosen, name: &str| {
        let setting = chosen.settings.iter().find(|(setting, _)| setting == name);
        Cell::Text(setting.map(|(_, value)| value.clone()).unwrap_or_default())
    };
    let heads = layout::heads(&down, &keys, book);
    let lines = all.iter().zip(heads).map(|(chosen, heads)| Line {
        heads,
        cells: settings.iter().map(|name| value(chosen, name)).collect(),
    });
    Ok(Table {
        corner: down.iter().map(|dimension| dimension.title().to_owned()).collect(),
        heads: vec![settings.iter().map(|name| Head::plain(*name, *name)).collect()],
        lines: lines.collect(),
        remarks: if all.is_empty() { vec!["Nothing is chosen yet.".to_owned()] } else { vec![] },
        ..named(spec)
    })
}

fn at(chosen: &Chosen) -> CellKey {
    CellKey {
        dataset: chosen.dataset.clone(),
        arm: chosen.arm.clone(),
        k: chosen.k,
        ..CellKey::default()
    }
}
