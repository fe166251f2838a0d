//! JSON documents: an object of id: prediction, a list of predictions, or an object of arrays. A
//! prediction is what [`Vector`] reads.

use dissensus_core::id_name_rank;
use dissensus_io::{Example, ReadOption, Source, Table, TableKind, cell_text};
use serde_json::{Map, Value};

use super::members::{Content, Member, pick};
use super::vector::{Vector, Vectors, number};
use super::{Format, RawPredictions, kind_of};
use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};

pub(super) const FORMAT: Format = Format {
    name: "json",
    layout: "JSON: {id: […] or {class: number}}, [[…], …], or arrays `ids`, `classes`, `probabilities`",
    names: "ids are the keys, classes the keys of a prediction or the `label` of `label` and `score`; or \
            arrays under the names of an .npz",
    examples: &[Example::text(
        "model.json",
        r#"{"a": {"cat": 0.7, "dog": 0.2, "fox": 0.1},
 "b": {"cat": 0.1, "dog": 0.3, "fox": 0.6}}
"#,
    )],
    options: &[ReadOption::Id, ReadOption::Key],
    detect: |source, _| match source {
        Source::Json(_) => true,
        Source::Table(table) => document(table).is_some(),
        _ => false,
    },
    read,
};

/// A document on one line, which looks like a table of one row.
fn document(table: &Table) -> Option<Map<String, Value>> {
    let [row] = &table.sample[..] else { return None };
    let alone = table.kind == TableKind::JsonLines;
    let is_vector = |cell: &Value| !cell.is_string() && Vector::of(cell).is_some();
    let by_id = row.cells.iter().all(is_vector)
        && !table.columns.iter().any(|name| super::values_rank(name).is_some());
    let arrays = row.cells.iter().any(is_matrix);
    let map = || table.columns.iter().cloned().zip(row.cells.iter().cloned()).collect();
    (alone && (by_id || arrays)).then(map)
}

/// A list of vectors.
fn is_matrix(value: &Value) -> bool {
    let is_vector = |value: &Value| Vector::of(value).is_some();
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_vector))
        && !is_vector(value)
}

fn read(
    file: &str,
    source: Source,
    options: &Context<'_>,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let seen = source.describe();
    let unknown = || Err(PredictionError::new(file, PredictionProblem::Unknown { seen }));
    let value = match source {
        Source::Json(value) => value,
        Source::Table(table) => Value::Object(document(&table).unwrap_or_default()),
        _ => return unknown(),
    };
    let refuse = |option: Option<ReadOption>| match option {
        Some(option) => {
            let problem = PredictionProblem::Inapplicable { format: "JSON by id", option };
            Err(PredictionError::new(file, problem))
        }
        None => Ok(()),
    };
    let given = options.given().first().copied();
    match value {
        Value::Array(list) if list.first().is_some_and(|v| Vector::of(v).is_some()) => {
            refuse(given)?;
            Ok(vec![of_rows(file, None, list.iter().map(|value| (None, value)))?])
        }
        Value::Array(list) if options.one_number() && list.iter().all(|v| v.is_f64()) => {
            refuse(given)?;
            let values = list.iter().filter_map(number).collect();
            Ok(vec![RawPredictions { values, width: 1, ..RawPredictions::default() }])
        }
        Value::Array(list) if !list.is_empty() && list.iter().all(|v| !v.is_array()) => {
            let whole = list.iter().all(|value| value.is_i64() || value.is_string());
            let content = if whole { Content::WholeNumbers } else { Content::Numbers };
            Err(PredictionError::new(file, super::members::of_list("the file", content)))
        }
        Value::Object(map) if map.values().any(is_matrix) => of_arrays(file, &map, options),
        Value::Object(map) if map.values().next().is_some_and(|v| Vector::of(v).is_some()) => {
            refuse(given)?;
            Ok(vec![of_rows(file, None, map.iter().map(|(id, value)| (Some(id), value)))?])
        }
        Value::Object(map) if options.one_number() && map.values().all(|v| number(v).is_some()) => {
            refuse(given)?;
            let (ids, values) = (map.keys().cloned().collect(), map.values().filter_map(number));
            let values = values.collect();
            Ok(vec![RawPredictions {
                ids: Some(ids),
                values,
                width: 1,
                ..RawPredictions::default()
            }])
        }
        Value::Object(map) => {
            let is_model = |value: &Value| {
                let first = value.as_object().and_then(|map| map.values().next());
                first.is_some_and(|value| Vector::of(value).is_some())
            };
            if map.is_empty() || !map.values().all(is_model) {
                return unknown();
            }
            refuse(given)?;
            let model = |(name, value): (&String, &Value)| {
                let rows = value.as_object().into_iter().flatten().map(|(id, v)| (Some(id), v));
                of_rows(file, Some(name.clone()), rows)
            };
            map.iter().map(model).collect()
        }
        _ => unknown(),
    }
}

fn of_rows<'a>(
    file: &str,
    name: Option<String>,
    rows: impl Iterator<Item = (Option<&'a String>, &'a Value)>,
) -> Result<RawPredictions, PredictionError> {
    let (mut ids, mut vectors) = (Vec::new(), Vectors::default());
    for (row, (id, value)) in rows.enumerate() {
        vectors.add(value).map_err(|problem| {
            PredictionError::new(file, problem).row(row as u64 + 1).item(id.cloned())
        })?;
        ids.extend(id.cloned());
    }
    let Vectors { classes, values, width, .. } = vectors;
    let ids = (!ids.is_empty()).then_some(ids);
    Ok(RawPredictions { name, ids, classes, values, width, ..RawPredictions::default() })
}

/// `{"ids": […], "probabilities": [[…], …]}`
fn of_arrays(
    file: &str,
    map: &Map<String, Value>,
    options: &Context<'_>,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let mut members = Vec::new();
    for (name, value) in map {
        let Some(list) = value.as_array() else { continue };
        let (shape, content, texts) = match is_matrix(value) {
            true => {
                let width = list.first().and_then(Vector::of).map_or(0, |v| v.numbers.len());
                (vec![list.len(), width], Content::Numbers, Vec::new())
            }
            false => {
                let content = match list.iter().find(|v| !v.is_i64() && !v.is_u64()) {
                    None => Content::WholeNumbers,
                    Some(Value::Number(_)) if id_name_rank(name).is_none() => Content::Numbers,
                    Some(_) => Content::Texts,
                };
                let text = |value: &Value| cell_text(value).unwrap_or_default();
                (vec![list.len()], content, list.iter().map(text).collect())
            }
        };
        members.push(Member { name: name.clone(), shape, content, texts });
    }
    let picked = pick(file, &members, options)?;
    let model = |name: &String| {
        let rows = map.get(name).and_then(Value::as_array).into_iter().flatten();
        let model = picked.models.then(|| name.clone());
        let found = of_rows(file, model, rows.map(|value| (None, value)));
        let found = found.map_err(|error| error.column(name.clone()))?;
        Ok(RawPredictions {
            ids: picked.ids.clone(),
            classes: found.classes.or_else(|| picked.classes.clone()),
            kind: kind_of(name),
            notes: picked.notes.clone(),
            ..found
        })
    };
    picked.values.iter().map(model).collect()
}
