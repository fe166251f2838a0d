//! Text for people: one line, no control characters, thousands apart.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// 1234567 as 1,234,567.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// 1 run, 1,234 runs.
pub(crate) fn count(n: usize, one: &str, more: &str) -> String {
    format!("{} {}", thousands(n as u64), if n == 1 { one } else { more })
}

/// How wide a text is in a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text on one line of at most `most` columns; what comes from data cannot steer the terminal.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let clean = text.chars().map(|c| if c.is_control() || is_invisible(c) { ' ' } else { c });
    let mut out = String::new();
    let mut used = 0;
    for c in clean {
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

/// Characters that turn the direction of text or take no space.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Fills up with spaces.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A list of names, cut after `most` columns.
pub(crate) fn list(names: &[&str], most: usize) -> String {
    one_line(&names.join(", "), most)
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// 1234567 bytes as 1.2 MB.
pub(crate) fn size(bytes: u64) -> String {
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
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        let sizes = [0, 999, 1_000, 1_234_567, 999_960, 5_000_000_000].map(size);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "1.2 MB", "1.0 MB", "5.0 GB"]);
        let times = [0, 59, 60, 3_599, 3_600, 86_399, 86_400 * 40].map(duration);
        assert_eq!(times, ["0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "40 d"]);
    }

    #[test]
    fn numbers_and_lines() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2].map(|n| count(n, "run", "runs")), ["0 runs", "1 run", "2 runs"]);
        assert_eq!(one_line("a\nb\u{1b}[31mc\u{202e}d", 40), "a b [31mc d");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
        assert_eq!(one_line("日本語日本語", 5), "日本…");
        assert_eq!(pad("日", 4), "日  ");
    }
}
