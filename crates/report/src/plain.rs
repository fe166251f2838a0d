//! Text for people: numbers, sizes and times in words, names on one line, bars and curves of characters.

use std::time::{SystemTime, UNIX_EPOCH};

pub use dissensus_core::thousands;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::tables::Style;

/// A number for people: four decimals, `∞`, and `–` where it is undefined.
pub fn format_number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(v) if v.is_infinite() => if v > 0.0 { "∞" } else { "-∞" }.to_owned(),
        Some(v) if v != 0.0 && v.abs() < 1e-4 => format!("{v:.1e}"),
        Some(v) => format!("{v:.4}"),
    }
}

/// A number with its interval: `0.5 [0.4, 0.6]`, or alone where it has none.
pub fn format_interval(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!(
            "{} [{}, {}]",
            format_number(value),
            format_number(Some(low)),
            format_number(Some(high))
        ),
        _ => format_number(value),
    }
}

/// A mean with its standard deviation: `0.5 ± 0.1`, or alone where it has none.
pub fn format_spread(mean: f64, sd: Option<f64>) -> String {
    match sd {
        Some(_) => format!("{} ± {}", format_number(Some(mean)), format_number(sd)),
        None => format_number(Some(mean)),
    }
}

/// A number with this many significant digits.
pub fn format_significant(value: f64, digits: usize) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".to_owned(),
        _ if !(1e-4..1e7).contains(&size) => format!("{value:.*e}", digits - 1),
        _ => {
            let behind = digits as i32 - 1 - size.log10().floor() as i32;
            format!("{value:.*}", behind.max(0) as usize)
        }
    }
}

/// 1 run, 1,234 runs.
pub fn count(n: usize, one: &str, more: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { more })
}

/// How wide a text is in a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text on one line; what comes from data cannot steer the terminal.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect()
}

/// A text on one line of at most `most` columns.
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in clean(text).chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns > most.saturating_sub(1) && width(text) > most {
            out.push('…');
            return out;
        }
        used += columns;
        out.push(c);
    }
    out
}

/// Whether a character could steer a terminal: control characters, ends of lines and tabs among them,
/// and characters that turn the direction of text or cannot be seen.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Fills up with spaces.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A list of names, cut after `most` columns.
pub fn list(names: &[&str], most: usize) -> String {
    one_line(&names.join(", "), most)
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// 1234567 bytes as 1.2 MB.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut amount, mut unit) = (bytes as f64 / 1e3, 0);
    // What would be rounded to 1000.0 is 1.0 of the next.
    while amount >= 999.95 && unit + 1 < UNITS.len() {
        (amount, unit) = (amount / 1e3, unit + 1);
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// Seconds in the largest unit of which there is one.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// How long ago a time in seconds since 1970 was.
pub fn age(then: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    duration(now.saturating_sub(then))
}

/// A bar of `value` out of `most`, padded to `width` characters.
pub fn bar(value: f64, most: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    // Something is never drawn as nothing.
    let eighths = if value > 0.0 { eighths.max(1) } else { eighths };
    let part = PARTS[eighths % 8];
    let drawn = eighths / 8 + usize::from(!part.is_empty());
    format!("{}{part}{}", "█".repeat(eighths / 8), " ".repeat(width.saturating_sub(drawn)))
}

/// A curve of at most `width` characters; a value that is not there, or not finite, is a space.
/// Where there are more values than characters, each is the mean of some.
pub fn curve(values: &[Option<f64>], width: usize) -> String {
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

/// A setting on one line: `sgd (momentum 0.9, nesterov no)`, `train, evaluation`.
pub fn setting(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => one_line(text, 80),
        Value::Array(list) => list.iter().map(setting).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            let name = map.get("name").and_then(Value::as_str);
            let rest = settings(value, ", ");
            match (name, rest.is_empty()) {
                (Some(name), true) => one_line(name, 80),
                (Some(name), false) => format!("{} ({rest})", one_line(name, 80)),
                (None, _) => format!("({rest})"),
            }
        }
    }
}

/// The settings of a table, its name left out: `epochs 3; batch 32`.
pub fn settings(value: &Value, between: &str) -> String {
    let entries = value.as_object().into_iter().flatten().filter(|(key, _)| *key != "name");
    let entries = entries.map(|(key, value)| format!("{} {}", key_words(key), setting(value)));
    entries.collect::<Vec<_>>().join(between)
}

pub fn key_words(key: &str) -> String {
    one_line(&key.replace('_', " "), 40)
}

/// A page for a terminal, written from above.
pub struct Page<'a> {
    /// What is written.
    pub text: String,
    /// How titles, names and states look.
    pub style: &'a Style,
}

impl<'a> Page<'a> {
    /// Columns of a row's text.
    const LINE: usize = 84;

    pub fn new(style: &'a Style) -> Self {
        Self { text: String::new(), style }
    }

    pub fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    pub fn title(&mut self, title: &str) {
        self.line(&(self.style.title)(title));
    }

    /// A title below what is there.
    pub fn section(&mut self, title: &str) {
        self.line("");
        self.title(title);
    }

    /// A name and a text, which is wrapped between its parts if it is long.
    pub fn row(&mut self, name: &str, parts: &str) {
        let mut lines = vec![String::new()];
        for part in parts.split_inclusive("; ") {
            match lines.last_mut() {
                Some(line) if line.is_empty() || width(line) + width(part) <= Self::LINE => {
                    line.push_str(part);
                }
                _ => lines.push(part.to_owned()),
            }
        }
        for (at, line) in lines.iter().enumerate() {
            let name = (self.style.dim)(&pad(if at == 0 { name } else { "" }, 11));
            self.line(&format!("  {name} {}", line.trim_end()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sizes_and_times() {
        let sizes = [0, 999, 1_000, 1_234_567, 999_960, 5_000_000_000].map(size);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "1.2 MB", "1.0 MB", "5.0 GB"]);
        let times = [0, 59, 60, 3_599, 3_600, 86_399, 86_400 * 40].map(duration);
        assert_eq!(times, ["0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "40 d"]);
    }

    #[test]
    fn numbers_and_lines() {
        assert_eq!([0, 1, 2].map(|n| count(n, "run", "runs")), ["0 runs", "1 run", "2 runs"]);
        assert_eq!(one_line("a\nb\u{1b}[31mc\u{202e}d", 40), "a b [31mc d");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
        assert_eq!(one_line("日本語日本語", 5), "日本…");
        assert_eq!(pad("日", 4), "日  ");
    }

    #[test]
    fn lengths() {
        assert_eq!(bar(1.0, 1.0, 3), "███");
        assert_eq!(bar(0.5, 1.0, 3), "█▌ ");
        assert_eq!(bar(0.0, 1.0, 3), "   ");
        assert_eq!(bar(1e-9, 1.0, 3), "▏  ");
        assert_eq!(bar(1.0, 0.0, 2), "▏ ");
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
    fn significant_digits() {
        let all = [0.0, 104.87, 1633.94, 0.0123456, -2.5, 9.0e-6, 3.0e9];
        let all = all.map(|value| format_significant(value, 4));
        assert_eq!(all, ["0", "104.9", "1634", "0.01235", "-2.500", "9.000e-6", "3.000e9"]);
    }
}
