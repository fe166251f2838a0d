//! The prediction for one item as a JSON value or text: a list of numbers, an object of class:
//! number, or a list of `{"label", "score"}` as Hugging Face pipelines give it.

use dissensus_io::shorten;
use serde_json::Value;

use crate::error::PredictionProblem;

/// Numbers of one item, with the names of their classes where they have some.
pub(super) struct Vector {
    pub(super) classes: Option<Vec<String>>,
    pub(super) numbers: Vec<f64>,
}

/// A number, or the text of one; a percent sign is left out.
pub(super) fn number(cell: &Value) -> Option<f64> {
    match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let text = text.trim();
            text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok()
        }
        _ => None,
    }
}

impl Vector {
    /// The vector in a value; `None` where it is something else.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Array(list) if list.is_empty() => None,
            Value::Array(list) if list.iter().all(Value::is_object) => {
                let pairs: Option<Vec<(String, f64)>> = list.iter().map(label_and_score).collect();
                let (classes, numbers) = pairs?.into_iter().unzip();
                Some(Self { classes: Some(classes), numbers })
            }
            Value::Array(list) => {
                let numbers: Option<Vec<f64>> = list.iter().map(number).collect();
                Some(Self { classes: None, numbers: numbers? })
            }
            Value::Object(map) if !map.is_empty() => {
                let numbers: Option<Vec<f64>> = map.values().map(number).collect();
                Some(Self { classes: Some(map.keys().cloned().collect()), numbers: numbers? })
            }
            Value::String(text) => Self::of_text(text.trim()),
            _ => None,
        }
    }

    /// JSON text, or a numpy array as text: `[0.1 0.9]`.
    fn of_text(text: &str) -> Option<Self> {
        if !text.starts_with(['[', '{']) {
            return None;
        }
        if let Ok(value) = dissensus_io::json::parse(text.as_bytes()) {
            return Self::of(&value);
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let parts = inner.split(|c: char| c.is_whitespace() || c == ',').filter(|p| !p.is_empty());
        let numbers: Option<Vec<f64>> = parts.map(|part| part.parse().ok()).collect();
        numbers.filter(|n| !n.is_empty()).map(|numbers| Self { classes: None, numbers })
    }
}

/// `{"label": "cat", "score": 0.7}`
fn label_and_score(value: &Value) -> Option<(String, f64)> {
    let map = value.as_object()?;
    let find = |names: &[&str]| names.iter().find_map(|name| map.get(*name));
    let label = dissensus_io::cell_text(find(&["label", "class", "name"])?)?;
    Some((label, number(find(&["score", "probability", "prob", "logit", "value"])?)?))
}

/// Vectors one after another, all of one width and over the same classes.
#[derive(Default)]
pub(super) struct Vectors {
    pub(super) classes: Option<Vec<String>>,
    pub(super) values: Vec<f64>,
    pub(super) width: usize,
}

impl Vectors {
    /// Adds the vector of an item. Classes with names are brought into the order of the first item.
    pub(super) fn add(&mut self, value: &Value) -> Result<(), PredictionProblem> {
        let Some(Vector { classes, numbers }) = Vector::of(value) else {
            return Err(PredictionProblem::Shape {
                expected: "a list of numbers, or a number for each class",
                found: shorten(&value.to_string()),
            });
        };
        if self.width == 0 {
            (self.width, self.classes) = (numbers.len(), classes.clone());
            if let Some(classes) = &classes {
                let twice = |(i, class): &(usize, &String)| classes[..*i].contains(class);
                if let Some((_, class)) = classes.iter().enumerate().find(twice) {
                    return Err(PredictionProblem::DuplicateClass { name: class.clone() });
                }
            }
        }
        if numbers.len() != self.width {
            let (expected, found) = (self.width, numbers.len());
            return Err(PredictionProblem::Width { expected, found });
        }
        match (&self.classes, &classes) {
            (Some(known), Some(found)) => {
                for class in known {
                    let Some(at) = found.iter().position(|name| name == class) else {
                        let (expected, found) = (known.join(", "), found.join(", "));
                        return Err(PredictionProblem::OtherClasses { expected, found });
                    };
                    self.values.push(numbers[at]);
                }
            }
            (None, None) => self.values.extend(numbers),
            (known, found) => {
                let words = |names: &Option<Vec<String>>| {
                    names.as_ref().map_or("not named".to_owned(), |names| names.join(", "))
                };
                let (expected, found) = (words(known), words(found));
                return Err(PredictionProblem::OtherClasses { expected, found });
            }
        }
        Ok(())
    }
}
