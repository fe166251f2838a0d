//! The layout of ChaosNLI's model predictions: `{model: {uid: {"uid", "predicted_probabilities",
//! "predicted_label"}}}`, several models in one file; or one model's inner object alone.

use dissensus_io::Example;
use dissensus_io::Source;
use dissensus_io::{Problem, ReadError, shorten};
use serde_json::{Map, Value};

use super::{Format, RawPredictions};
use crate::read::{Kind, ReadOptions};

pub(super) const FORMAT: Format = Format {
    name: "chaosnli",
    layout: r#"JSON: {model: {uid: {"predicted_probabilities": […]}}}, several models in one file"#,
    examples: &[Example::text(
        "models.json",
        r#"{"bert": {"a": {"uid": "a", "predicted_probabilities": [0.7, 0.2, 0.1], "predicted_label": "e"},
          "b": {"uid": "b", "predicted_probabilities": [0.1, 0.1, 0.8], "predicted_label": "c"}}}
"#,
    )],
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

fn read(file: &str, source: Source, _: &ReadOptions) -> Result<Vec<RawPredictions>, ReadError> {
    let Source::Json(Value::Object(map)) = source else {
        return Ok(Vec::new());
    };
    if is_model(&map) {
        return Ok(vec![model(file, None, &map)?]);
    }
    let mut found = Vec::new();
    for (name, value) in &map {
        let Some(entries) = value.as_object() else {
            let problem = Problem::Shape {
                expected: "an object of uid: prediction for each model",
                found: shorten(&value.to_string()),
            };
            return Err(ReadError::new(file, problem).column(name.clone()));
        };
        found.push(model(file, Some(name), entries)?);
    }
    Ok(found)
}

fn model(
    file: &str,
    name: Option<&str>,
    map: &Map<String, Value>,
) -> Result<RawPredictions, ReadError> {
    let (mut ids, mut values, mut width) = (Vec::new(), Vec::new(), 0);
    for (row, (uid, entry)) in map.iter().enumerate() {
        let list = entry.get("predicted_probabilities").and_then(Value::as_array);
        let numbers: Option<Vec<f64>> =
            list.and_then(|list| list.iter().map(Value::as_f64).collect());
        let fits = numbers.filter(|n| !n.is_empty() && (width == 0 || n.len() == width));
        let Some(numbers) = fits else {
            let problem = Problem::Shape {
                expected: "a list of numbers, as long as the others",
                found: shorten(&entry.to_string()),
            };
            let error = ReadError::new(file, problem).row(row as u64 + 1).item(uid);
            return Err(error.column("predicted_probabilities"));
        };
        width = numbers.len();
        values.extend(numbers);
        ids.push(uid.clone());
    }
    let name = name.map(str::to_owned);
    let kind = Some(Kind::Probabilities);
    Ok(RawPredictions { name, ids: Some(ids), classes: None, values, width, kind })
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn several_models_in_one_file() {
        let text = r#"{"bert": {"a": {"uid": "a", "predicted_probabilities": [0.1, 0.2, 0.7], "predicted_label": "c"},
                                "b": {"uid": "b", "predicted_probabilities": [1, 0, 0], "predicted_label": "e"}},
                       "gpt": {"b": {"uid": "b", "predicted_probabilities": [0.5, 0.5, 0.0]}}}"#;
        let models = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        let names: Vec<_> = models.iter().map(|m| (m.name.as_str(), m.len())).collect();
        assert_eq!(names, [("bert", 2), ("gpt", 1)]);
        assert_eq!(models[0].ids.as_ref().unwrap(), &["a", "b"]);
        let bad = text.replace("[1, 0, 0]", "[1, 0]");
        let error = read_bytes("x", bad.into(), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.item.as_deref(), Some("b"));
    }
}
