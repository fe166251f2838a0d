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
            let text = text.strip_suffix('%').unwrap_or(text).trim_end();
            text.parse().ok().or_else(|| with_comma(text))
        }
        _ => None,
    }
}

/// A number with a decimal comma, which cannot be one of thousands: `0,25`, `-1,5`, `0,125`.
fn with_comma(text: &str) -> Option<f64> {
    let (whole, decimals) = text.split_once(',')?;
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let certain = digits == "0" || decimals.len() != 3;
    (certain && all_digits(digits) && all_digits(decimals))
        .then(|| format!("{whole}.{decimals}").parse().ok())
        .flatten()
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

    /// A Python dictionary as text: `{'cat': 0.7, 'dog': 0.3}`.
    fn of_python(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('{')?.strip_suffix('}')?;
        let list = dissensus_io::python::list(&format!("[{}]", colons_as_commas(inner))).ok()?;
        let pairs: Option<Vec<(String, f64)>> = list
            .chunks(2)
            .map(|pair| match pair {
                [name, value] => Some((dissensus_io::cell_text(name)?, number(value)?)),
                _ => None,
            })
            .collect();
        let (classes, numbers): (Vec<String>, Vec<f64>) = pairs?.into_iter().unzip();
        (!numbers.is_empty()).then_some(Self { classes: Some(classes), numbers })
    }

    /// JSON text, or a numpy array as text: `[0.1 0.9]`.
    fn of_text(text: &str) -> Option<Self> {
        if !text.starts_with(['[', '{']) {
            return None;
        }
        if let Ok(value) = dissensus_io::json::parse(text.as_bytes()) {
            return Self::of(&value);
        }
        if text.starts_with('{') {
            return Self::of_python(text);
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let parts = inner.split(|c: char| c.is_whitespace() || c == ',').filter(|p| !p.is_empty());
        let numbers: Option<Vec<f64>> = parts.map(|part| part.parse().ok()).collect();
        numbers.filter(|n| !n.is_empty()).map(|numbers| Self { classes: None, numbers })
    }
}

/// A text with commas for the colons outside of quotes.
fn colons_as_commas(text: &str) -> String {
    let mut quote = None;
    let turned = |c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if c == ':' => return ',',
            _ => {}
        }
        c
    };
    text.chars().map(turned).collect()
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
    /// Whether any number is no count.
    fractions: bool,
}

impl Vectors {
    /// Counts in the order of the known classes: those without answers are left out in some rows.
    fn widen(&mut self, found: &[String], numbers: Vec<f64>) -> Vec<f64> {
        let mut known = self.classes.take().unwrap_or_default();
        let new: Vec<String> =
            found.iter().filter(|class| !known.contains(class)).cloned().collect();
        if !new.is_empty() {
            let wider = self.width + new.len();
            let row = |row: &[f64]| [row, &vec![0.0; new.len()]].concat();
            self.values = self.values.chunks(self.width).flat_map(row).collect();
            self.width = wider;
            known.extend(new);
        }
        let place = |class: &String| found.iter().position(|name| name == class);
        let row = known.iter().map(|class| place(class).map_or(0.0, |at| numbers[at])).collect();
        self.classes = Some(known);
        row
    }

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
        self.fractions |= numbers.iter().any(|n| *n < 0.0 || n.fract() != 0.0);
        let same = |found: &Vec<String>| {
            let known = self.classes.as_ref();
            known.is_some_and(|known| {
                known.len() == found.len() && known.iter().all(|k| found.contains(k))
            })
        };
        let (classes, numbers) = match classes {
            Some(found) if !self.fractions && !same(&found) && self.classes.is_some() => {
                let numbers = self.widen(&found, numbers);
                (self.classes.clone(), numbers)
            }
            classes => (classes, numbers),
        };
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
