//! Figures, settings and curves of runs as text for people.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::ui::text;

/// How long ago a time in seconds since 1970 was.
pub(super) fn age(then: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    text::duration(now.saturating_sub(then))
}

/// A setting on one line: `sgd (momentum 0.9, nesterov no)`, `train, evaluation`.
pub(super) fn setting(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text::one_line(text, 80),
        Value::Array(list) => list.iter().map(setting).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            let name = map.get("name").and_then(Value::as_str);
            let rest = settings(value, ", ");
            match (name, rest.is_empty()) {
                (Some(name), true) => text::one_line(name, 80),
                (Some(name), false) => format!("{} ({rest})", text::one_line(name, 80)),
                (None, _) => format!("({rest})"),
            }
        }
    }
}

/// The settings of a table, its name left out: `epochs 3; batch 32`.
pub(super) fn settings(value: &Value, between: &str) -> String {
    let entries = value.as_object().into_iter().flatten().filter(|(key, _)| *key != "name");
    let entries = entries.map(|(key, value)| format!("{} {}", words(key), setting(value)));
    entries.collect::<Vec<_>>().join(between)
}

/// A key in words.
pub(super) fn words(key: &str) -> String {
    text::one_line(&key.replace('_', " "), 40)
}

/// A curve of at most `width` characters; a value that is not there, or not finite, is a space.
/// Where there are more values than characters, each is the mean of some.
pub(super) fn curve(values: &[Option<f64>], width: usize) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = values.len().min(width);
    let mean = |column: usize| {
        let (from, to) = (column * values.len() / columns, (column + 1) * values.len() / columns);
        let known: Vec<f64> =
            values[from..to].iter().flatten().copied().filter(|v| v.is_finite()).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let means: Vec<Option<f64>> = (0..columns).map(mean).collect();
    let known = || means.iter().flatten().copied();
    let (low, high) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let level = |value: f64| match high > low {
        true => LEVELS[((value - low) / (high - low) * 7.0).round() as usize % LEVELS.len()],
        false => LEVELS[3],
    };
    means.iter().map(|value| value.map_or(' ', level)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_in_words() {
        let sgd =
            json!({ "name": "sgd", "momentum": 0.9, "weight_decay": 5e-4, "nesterov": false });
        assert_eq!(setting(&sgd), "sgd (momentum 0.9, weight decay 0.0005, nesterov no)");
        assert_eq!(setting(&json!({ "name": "cosine" })), "cosine");
        assert_eq!(setting(&json!({ "crop": 4, "flip": true })), "(crop 4, flip yes)");
        assert_eq!(setting(&json!([0.8, 0.2])), "0.8, 0.2");
        assert_eq!(setting(&json!(null)), "none");
        assert_eq!(setting(&json!("a\u{1b}[31m")), "a [31m");
        assert_eq!(settings(&json!({ "epochs": 3, "batch": 32 }), "; "), "epochs 3; batch 32");
    }

    #[test]
    fn curves_rise_and_fall() {
        let of = |values: &[f64], width| {
            curve(&values.iter().copied().map(Some).collect::<Vec<_>>(), width)
        };
        assert_eq!(of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 60), "▁▂▃▄▅▆▇█");
        assert_eq!(of(&[4.0, 4.0], 60), "▄▄");
        assert_eq!(of(&[8.0, 6.0, 4.0, 2.0, 1.0, 1.0], 3), "█▃▁");
        assert_eq!(of(&[], 3), "");
        assert_eq!(curve(&[Some(1.0), None, Some(f64::NAN), Some(2.0)], 60), "▁  █");
    }
}
