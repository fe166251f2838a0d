//! A few styles; `anstream` removes them where they cannot be shown or are not wanted.

use anstyle::{AnsiColor, Style};

fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

pub(crate) fn title(text: &str) -> String {
    paint(Style::new().bold(), text)
}

pub(crate) fn strong(text: &str) -> String {
    paint(Style::new().bold(), text)
}

pub(crate) fn dim(text: &str) -> String {
    paint(Style::new().dimmed(), text)
}

pub(crate) fn good(text: &str) -> String {
    paint(Style::new().fg_color(Some(AnsiColor::Green.into())), text)
}

pub(crate) fn bad(text: &str) -> String {
    paint(Style::new().bold().fg_color(Some(AnsiColor::Red.into())), text)
}

pub(crate) fn warn(text: &str) -> String {
    paint(Style::new().bold().fg_color(Some(AnsiColor::Yellow.into())), text)
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
