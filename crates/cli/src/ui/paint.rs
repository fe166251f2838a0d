//! A few styles. Painted text carries marks, which [`rendered`] turns into ANSI sequences when it is
//! printed; all other control characters are removed there, so that text of data (names of columns and
//! files, titles, messages of servers) cannot steer the terminal.

use anstyle::{AnsiColor, Style};
use dissensus::report::plain::is_unsafe;

// The marks are code points that are no characters, so no text has them.
const PLAIN: char = '\u{fdd0}';
const BOLD: char = '\u{fdd1}';
const DIM: char = '\u{fdd2}';
const GREEN: char = '\u{fdd3}';
const RED: char = '\u{fdd4}';
const YELLOW: char = '\u{fdd5}';

fn style_of(mark: char) -> Option<Style> {
    let bold = Style::new().bold();
    Some(match mark {
        BOLD => bold,
        DIM => Style::new().dimmed(),
        GREEN => Style::new().fg_color(Some(AnsiColor::Green.into())),
        RED => bold.fg_color(Some(AnsiColor::Red.into())),
        YELLOW => bold.fg_color(Some(AnsiColor::Yellow.into())),
        _ => return None,
    })
}

fn paint(mark: char, text: &str) -> String {
    format!("{mark}{text}{PLAIN}")
}

pub(crate) fn title(text: &str) -> String {
    paint(BOLD, text)
}

pub(crate) fn strong(text: &str) -> String {
    paint(BOLD, text)
}

pub(crate) fn dim(text: &str) -> String {
    paint(DIM, text)
}

pub(crate) fn good(text: &str) -> String {
    paint(GREEN, text)
}

pub(crate) fn bad(text: &str) -> String {
    paint(RED, text)
}

pub(crate) fn warn(text: &str) -> String {
    paint(YELLOW, text)
}

/// Bold; states of runs in their colours.
pub(crate) fn strong_or_state(text: &str) -> String {
    match text.trim() {
        "failed" | "broken" => bad(text),
        "running" | "interrupted" => warn(text),
        "finished" => text.to_owned(),
        _ => strong(text),
    }
}

/// Text as it is printed: marks as ANSI sequences, which `anstream` removes where they cannot be shown
/// or are not wanted, and no other control characters but ends of lines and tabs.
pub(crate) fn rendered(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match (c, style_of(c)) {
            (_, Some(style)) => out += &style.to_string(),
            (PLAIN, _) => out += "\u{1b}[0m",
            ('\n' | '\t', _) => out.push(c),
            (c, _) if is_unsafe(c) => out.push(' '),
            (c, _) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_styles_reach_the_terminal() {
        let text = format!("{}\n", bad("a\u{1b}[2J\u{9b}1m\u{202e}b\r\u{7}\u{2028}c"));
        assert_eq!(rendered(&text), "\u{1b}[1m\u{1b}[31ma [2J 1m b   c\u{1b}[0m\n");
        assert_eq!(rendered("plain, 日本\t|"), "plain, 日本\t|");
    }
}
