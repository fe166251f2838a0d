//! The canonical multi-label table: one row per label of a vote.
//!
//! Beside `multilabel_class` there is the column `vote`, the number of the vote that a row is part of.
//! A vote for no class has one row without a label; an item without votes a row without a vote; a
//! class that nobody chose a row without an item. Rows may come in any order.

use std::collections::HashMap;

use dissensus_core::Scale;
use serde_json::Value;

use super::columns;
use super::long::{ClassOrderColumn, Layout, Missing, Texts};
use crate::collector::Collector;
use crate::options::MultiLabel;
use dissensus_io::{Problem, ReadError, Table, cell_text, shorten};

/// A vote, as far as its rows were read.
struct Set {
    item: String,
    annotator: String,
    weight: f64,
    row: u64,
    labels: Vec<String>,
}

/// Reads the votes.
pub(super) fn read(
    table: Table,
    layout: Layout,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let columns = table.columns.clone();
    let Some(vote_column) = table.column("vote") else {
        let found = columns.join(", ");
        let problem = Problem::Shape { expected: "a column named `vote`", found: shorten(&found) };
        return Err(collector.error(problem).row(1));
    };
    // The labels of a vote stay together, unless `multilabel` says what else they mean.
    match collector.options.multilabel {
        MultiLabel::Error => collector.builder.set_scale(Scale::MultiLabel),
        _ => collector.scale = None,
    }
    let missing = Missing::new(collector.options, true);
    let mut order = ClassOrderColumn::default();
    let mut texts = Texts::default();
    let mut sets: Vec<Set> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let text = |column: usize| cell_text(row.cell(column)).unwrap_or_default();
        let (item, label, vote) = (text(layout.item), text(layout.label), text(vote_column));
        if let Some(column) = layout.class {
            order.see(&label, &text(column)).map_err(|p| collector.error(p).row(row.number))?;
        }
        if item.is_empty() && vote.is_empty() && !label.is_empty() {
            continue;
        }
        collector.name_item(&item, row.number)?;
        if let Some(column) = layout.text {
            texts.see(&item, &text(column));
        }
        let labels: Vec<String> =
            [label].into_iter().filter(|label| !missing.contains(label)).collect();
        if vote.is_empty() {
            if !labels.is_empty() {
                let error = collector.error(Problem::EmptyCell { role: "vote" }).row(row.number);
                collector.reject(error.column(&columns[vote_column]).item(item))?;
            }
            continue;
        }
        let weight = layout.weight.map_or(&Value::Null, |column| row.cell(column));
        let weight = match weight {
            Value::Null => Some(1.0),
            Value::String(text) if text.is_empty() => Some(1.0),
            cell => columns::number(cell),
        };
        let Some(weight) = weight else {
            let found = layout.weight.map(text).unwrap_or_default();
            let error = collector.error(Problem::NotANumber { text: found }).row(row.number);
            collector.reject(error.item(item))?;
            continue;
        };
        let annotator = layout.annotator.map(text).unwrap_or_default();
        let Some(&known) = places.get(&vote) else {
            places.insert(vote, sets.len());
            sets.push(Set { item, annotator, weight, row: row.number, labels });
            continue;
        };
        let set = &mut sets[known];
        if (&set.item, &set.annotator, set.weight) != (&item, &annotator, weight) {
            let expected = "one item, annotator and weight in all rows of a vote";
            let found = shorten(&format!("another in the rows of vote {vote}"));
            let error = collector.error(Problem::Shape { expected, found }).row(row.number);
            collector.reject(error.item(item))?;
            continue;
        }
        set.labels.extend(labels);
    }
    texts.keep(collector);
    order.declare(collector)?;
    for Set { item, annotator, weight, row, labels } in &sets {
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let who = Some(annotator.as_str()).filter(|name| !name.is_empty());
        collector.vote_several_weighted(item, who, &labels, *weight, *row)?;
    }
    Ok(())
}
