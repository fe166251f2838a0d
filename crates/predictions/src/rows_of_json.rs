//! JSON documents that are tables in another shape: rows under a key, rows by id, and what
//! `pandas.DataFrame.to_json` writes.

use dissensus_core::id_name_rank;
use serde_json::{Map, Value};

use crate::formats::is_vector;

/// The rows of a document as an array of objects, where it is a table; else the document.
pub(crate) fn rows_of_json(value: Value) -> Value {
    match value {
        Value::Object(map) => match split(&map)
            .or_else(|| columns(&map))
            .or_else(|| lists(&map))
            .or_else(|| rows(&map))
        {
            Some(rows) => Value::Array(rows),
            None => match under_key(&map) {
                Some(key) => map.get(&key).cloned().unwrap_or_default(),
                None => Value::Object(map),
            },
        },
        // One list around all of it.
        Value::Array(mut list)
            if list.len() == 1
                && list[0].as_array().is_some_and(|inner| {
                    inner.len() > 1 && inner.iter().all(|row| row.is_array() && is_vector(row))
                }) =>
        {
            list.remove(0)
        }
        value => value,
    }
}

/// The only key that has a list of objects, or of lists of objects, beside settings.
fn under_key(map: &Map<String, Value>) -> Option<String> {
    let is_rows = |value: &Value| {
        value.as_array().is_some_and(|list| {
            !list.is_empty()
                && list.iter().all(|row| row.is_object() || row.is_array() && is_vector(row))
        })
    };
    let mut found = map.iter().filter(|(_, value)| is_rows(value));
    let (key, value) = found.next().filter(|_| found.next().is_none())?;
    let first_is_object = value.get(0).is_some_and(Value::is_object);
    let others_are_lists = map.iter().any(|(name, value)| name != key && value.is_array());
    (first_is_object && !others_are_lists).then(|| key.clone())
}

/// `{"columns": […], "index": […], "data": [[…]]}`
fn split(map: &Map<String, Value>) -> Option<Vec<Value>> {
    let (columns, data) = (map.get("columns")?.as_array()?, map.get("data")?.as_array()?);
    let names: Vec<String> = columns.iter().map(dissensus_io::cell_text).collect::<Option<_>>()?;
    let row = |row: &Value| {
        let cells = row.as_array().filter(|cells| cells.len() == names.len())?;
        Some(Value::Object(names.iter().cloned().zip(cells.iter().cloned()).collect()))
    };
    let rows: Option<Vec<Value>> = data.iter().map(row).collect();
    let mut rows = rows?;
    let ids = map.get("index").and_then(Value::as_array).filter(|ids| ids.len() == rows.len());
    if let Some(ids) = ids.filter(|ids| ids.iter().all(Value::is_string)) {
        rows.iter_mut().zip(ids).for_each(|(row, id)| with_id(row, id.clone()));
    }
    Some(rows)
}

/// `{"uid": {"0": "a", "1": "b"}, "cat": {"0": 0.7, "1": 0.2}}`
fn columns(map: &Map<String, Value>) -> Option<Vec<Value>> {
    let columns: Vec<(&String, &Map<String, Value>)> = map
        .iter()
        .map(|(name, column)| Some((name, column.as_object()?)))
        .collect::<Option<_>>()?;
    let (_, first) = columns.first()?;
    let counted = first.keys().enumerate().all(|(at, key)| key.parse() == Ok(at));
    let same = columns.iter().all(|(_, column)| column.keys().eq(first.keys()));
    let named = columns.iter().any(|(name, column)| {
        id_name_rank(name).is_some() || column.values().any(Value::is_string)
    });
    (counted && same && named && columns.len() > 1).then(|| {
        let cell = |key: &str, (name, column): &(&String, &Map<String, Value>)| {
            ((*name).clone(), column.get(key).cloned().unwrap_or_default())
        };
        first
            .keys()
            .map(|key| Value::Object(columns.iter().map(|c| cell(key, c)).collect()))
            .collect()
    })
}

/// `{"uid": ["a", "b"], "cat": [0.7, 0.2], "dog": [0.3, 0.8]}`
fn lists(map: &Map<String, Value>) -> Option<Vec<Value>> {
    let columns: Vec<(&String, &Vec<Value>)> =
        map.iter().filter_map(|(name, column)| Some((name, column.as_array()?))).collect();
    let plain = |list: &Vec<Value>| list.iter().all(|v| v.is_string() || v.is_number());
    let fractions = |list: &Vec<Value>| {
        list.iter().all(Value::is_number)
            && list.iter().any(|v| v.as_f64().is_some_and(|n| n.fract() != 0.0))
    };
    let (_, first) = columns.first()?;
    let rows = first.len();
    let same = columns.iter().all(|(_, list)| list.len() == rows && plain(list));
    let numbers = columns.iter().filter(|(_, list)| fractions(list)).count();
    // Lists of which each is for an item have ids for names.
    let named = columns.iter().any(|(name, _)| id_name_rank(name).is_some());
    (rows > 1 && same && numbers > 1 && named).then(|| {
        let row = |at: usize| {
            Value::Object(
                columns.iter().map(|(n, list)| ((*n).clone(), list[at].clone())).collect(),
            )
        };
        (0..rows).map(row).collect()
    })
}

/// `{"a": {"probs": [0.7, 0.3], "gold": "cat"}, "b": …}`: rows by id that are more than a vector.
fn rows(map: &Map<String, Value>) -> Option<Vec<Value>> {
    let objects: Vec<&Map<String, Value>> =
        map.values().map(Value::as_object).collect::<Option<_>>()?;
    let first = objects.first()?;
    let plain = objects
        .iter()
        .all(|row| row.len() == first.len() && row.keys().all(|k| first.contains_key(k)));
    let is_row = objects.iter().all(|row| {
        row.values().any(|cell| cell.is_string() || is_vector(cell)) && !row.values().all(is_vector)
    });
    // The layout of ChaosNLI has a reader of its own, which takes names of classes from it.
    let own = first.contains_key("predicted_probabilities");
    (plain && is_row && !own && objects.len() > 1).then(|| {
        let row = |(id, row): (&String, &Value)| {
            let mut row = row.clone();
            with_id(&mut row, Value::String(id.clone()));
            row
        };
        map.iter().map(row).collect()
    })
}

/// Adds an id to a row that has none.
fn with_id(row: &mut Value, id: Value) {
    if let Value::Object(map) = row
        && !map.keys().any(|key| id_name_rank(key).is_some())
    {
        map.insert("id".to_owned(), id);
    }
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn tables_in_other_shapes() {
        let documents = [
            r#"{"model": "m", "predictions": [{"id": "a", "no": 0.75, "yes": 0.25},
                {"id": "b", "no": 0.1, "yes": 0.9}]}"#,
            r#"{"columns": ["no", "yes"], "index": ["a", "b"],
                "data": [[0.75, 0.25], [0.1, 0.9]]}"#,
            r#"{"uid": {"0": "a", "1": "b"}, "no": {"0": 0.75, "1": 0.1},
                "yes": {"0": 0.25, "1": 0.9}}"#,
            r#"{"model": "m", "uid": ["a", "b"], "no": [0.75, 0.1], "yes": [0.25, 0.9]}"#,
            r#"{"a": {"text": "one", "probs": {"no": 0.75, "yes": 0.25}},
                "b": {"text": "two", "probs": {"no": 0.1, "yes": 0.9}}}"#,
            r#"[{"id": "a", "labels": ["no", "yes"], "scores": [0.75, 0.25]},
                {"id": "b", "labels": ["yes", "no"], "scores": [0.9, 0.1]}]"#,
        ];
        for document in documents {
            let found = read_bytes("x.json", document.into(), &ReadOptions::default());
            let found = found.unwrap_or_else(|error| panic!("{document}: {error}"));
            assert_eq!(found[0].values, [0.75, 0.25, 0.1, 0.9], "{document}");
            assert_eq!(found[0].ids.as_ref().unwrap(), &["a", "b"], "{document}");
            assert_eq!(found[0].classes.as_ref().unwrap(), &["no", "yes"], "{document}");
        }
    }
}
