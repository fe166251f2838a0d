//! What a measure says about itself: the same words in the help, the docs and the tables.

use dissensus_core::Direction;
use serde::Serialize;

/// A measure in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// The name to type.
    pub name: &'static str,
    /// The head of a column.
    pub short: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// How it is computed, in plain text.
    pub formula: &'static str,
    /// What its numbers count.
    pub unit: &'static str,
    /// Which way is better.
    pub direction: Direction,
    /// The settings it heeds, its conventions, and when it is undefined.
    pub settings: &'static str,
    pub reference: &'static str,
}

impl About {
    /// All of it as lines to print, at most 80 wide where words allow.
    pub fn explain(&self) -> String {
        let Self { name, short: _, title, formula, unit, direction, settings, reference } = self;
        let direction = direction.to_string();
        let mut text = format!("{name}: {title}\n\n");
        for (what, words) in [
            ("formula", *formula),
            ("unit", *unit),
            ("direction", &direction),
            ("settings", *settings),
            ("reference", *reference),
        ] {
            text.push_str(&entry(what, words));
        }
        text
    }
}

/// A word in the margin, and beside it text in lines of its own.
pub(crate) fn entry(what: &str, words: &str) -> String {
    const MARGIN: usize = 13;
    const WIDTH: usize = 80;
    let mut text = format!("  {what:<11}");
    let mut column = MARGIN;
    for word in words.split(' ') {
        let width = word.chars().count();
        if column > MARGIN && column + 1 + width > WIDTH {
            text.push_str(&format!("\n{:MARGIN$}", ""));
            column = MARGIN;
        } else if column > MARGIN {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
    text
}

/// Every text is there, and no name stands twice.
#[cfg(test)]
pub(crate) fn assert_complete<'a>(all: impl IntoIterator<Item = &'a About>) {
    let mut names = std::collections::BTreeSet::new();
    for about in all {
        let About { name, short, title, formula, unit, settings, reference, .. } = *about;
        for text in [name, short, title, formula, unit, settings, reference] {
            assert!(!text.is_empty() && text.trim() == text, "{name}: {text:?}");
        }
        assert!(reference.contains(|c: char| c.is_ascii_digit()), "{name}: no year is cited");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
        assert!(names.insert(name), "{name} twice");
        let text = about.explain();
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&about.direction.to_string()) && words.contains(reference));
    }
}
