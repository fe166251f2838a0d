//! The layout of ChaosNLI's model predictions: `{model: {uid: {"uid", "predicted_probabilities",
//! "predicted_label"}}}`, several models in one file; or one model's inner object alone.
//!
//! The probabilities have no class names. Where the predicted labels tell them (the label of the
//! largest probability), the columns are named by them.

use dissensus_io::{Example, Source, cell_text, shorten};
use serde_json::{Map, Value};

use super::vector::Vectors;
use super::{Format, RawPredictions};
use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};
use crate::note::Note;
use crate::options::Kind;

pub(super) const FORMAT: Format = Format {
    name: "chaosnli",
    layout: r#"JSON: {model: {uid: {"predicted_probabilities": […]}}}, several models in one file"#,
    names: "ids are the keys; `predicted_label`, where every class is the label of some item, names \
            the columns",
    examples: &[Example::text(
        "models.json",
        r#"{"bert": {"a": {"uid": "a", "predicted_probabilities": [0.7, 0.2, 0.1], "predicted_label": "e"},
          "b": {"uid": "b", "predicted_probabilities": [0.1, 0.1, 0.8], "predicted_label": "c"}}}
"#,
    )],
    options: &[],
    detect: |source, _| match source {
        Source::Json(Value::Object(map)) => {
            is_model(map) || map.values().any(|v| v.as_object().is_some_and(is_model))
        }
        _ => false,
    },
    read,
};

fn is_model(map: &Map<String, Value>) -> bool {
    map.values().next().is_some_and(|entry| entry.get("predicted_probabilities").is_some())
}

fn read(
    file: &str,
    source: Source,
    _: &Context<'_>,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let Source::Json(Value::Object(map)) = source else {
        return Ok(Vec::new());
    };
    if is_model(&map) {
        return Ok(vec![model(file, None, &map)?]);
    }
    let mut found = Vec::new();
    for (name, value) in &map {
        let Some(entries) = value.as_object() else {
            let problem = PredictionProblem::Shape {
                expected: "an object of uid: prediction for each model",
                found: shorten(&value.to_string()),
            };
            return Err(PredictionError::new(file, problem).column(name.clone()));
        };
        found.push(model(file, Some(name), entries)?);
    }
    Ok(found)
}

fn model(
    file: &str,
    name: Option<&str>,
    map: &Map<String, Value>,
) -> Result<RawPredictions, PredictionError> {
    const KEY: &str = "predicted_probabilities";
    let (mut ids, mut vectors) = (Vec::new(), Vectors::default());
    for (row, (uid, entry)) in map.iter().enumerate() {
        vectors.add(entry.get(KEY).unwrap_or(&Value::Null)).map_err(|problem| {
            let error = PredictionError::new(file, problem).row(row as u64 + 1);
            error.column(KEY).item(Some(uid.clone()))
        })?;
        ids.push(uid.clone());
    }
    let Vectors { classes, values, width, .. } = vectors;
    let mut notes = Vec::new();
    let classes = classes.or_else(|| {
        let classes = classes_by_label(map, &values, width)?;
        notes.push(Note::ClassesFromLabels { classes: classes.clone() });
        Some(classes)
    });
    Ok(RawPredictions {
        name: name.map(str::to_owned),
        ids: Some(ids),
        classes,
        values,
        width,
        kind: Some(Kind::Probabilities),
        notes,
        ..RawPredictions::default()
    })
}

/// The labels that go with the largest probability, where they name every column and agree.
fn classes_by_label(map: &Map<String, Value>, values: &[f64], width: usize) -> Option<Vec<String>> {
    let mut classes: Vec<Option<String>> = vec![None; width];
    for (entry, row) in map.values().zip(values.chunks(width.max(1))) {
        let label = cell_text(entry.get("predicted_label")?)?;
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut at = row.iter().enumerate().filter(|(_, v)| **v == most);
        let (Some((column, _)), None) = (at.next(), at.next()) else { continue };
        match &classes[column] {
            Some(known) if *known != label => return None,
            _ => classes[column] = Some(label),
        }
    }
    let classes: Vec<String> = classes.into_iter().collect::<Option<_>>()?;
    let different = |(i, class): (usize, &String)| !classes[..i].contains(class);
    classes.iter().enumerate().all(different).then_some(classes)
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn several_models_in_one_file() {
        let text = r#"{"bert": {"a": {"uid": "a", "predicted_probabilities": [0.1, 0.2, 0.7], "predicted_label": "c"},
                                "b": {"uid": "b", "predicted_probabilities": [0.8, 0.2, 0], "predicted_label": "e"}},
                       "gpt": {"b": {"uid": "b", "predicted_probabilities": [0.5, 0.5, 0.0]}}}"#;
        let models = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        let names: Vec<_> = models.iter().map(|m| (m.name.as_str(), m.len())).collect();
        assert_eq!(names, [("bert", 2), ("gpt", 1)]);
        assert_eq!(models[0].ids.as_ref().unwrap(), &["a", "b"]);
        assert_eq!(models[0].classes, None);
        let bad = text.replace("[0.8, 0.2, 0]", "[1, 0]");
        let error = read_bytes("x", bad.into(), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.item.as_deref(), Some("b"));
    }

    #[test]
    fn labels_name_the_columns_where_they_agree() {
        let text = |third: &str| {
            format!(
                r#"{{"a": {{"predicted_probabilities": [0.7, 0.2, 0.1], "predicted_label": "c"}},
                     "b": {{"predicted_probabilities": [0.1, 0.8, 0.1], "predicted_label": "n"}},
                     "d": {{"predicted_probabilities": [0.1, 0.1, 0.8], "predicted_label": "{third}"}}}}"#
            )
        };
        let classes = |text: String| {
            let found = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
            found[0].classes.clone()
        };
        assert_eq!(classes(text("e")).unwrap(), ["c", "n", "e"]);
        assert_eq!(classes(text("n")), None);
    }
}
