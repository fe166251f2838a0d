//! Tables for a terminal: columns padded to the width of what is shown, heads and bold cells in
//! the styles of whoever prints them.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::table::{Cell, Table};
use super::text::{TextLine, TextTable};

/// How parts of a table are styled; plain by default.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub title: fn(&str) -> String,
    /// The heads of columns, and the notes.
    pub dim: fn(&str) -> String,
    /// Bold cells.
    pub bold: fn(&str) -> String,
    /// How many columns a line may have; `None` for any number.
    pub width: Option<usize>,
}

impl Default for Style {
    fn default() -> Self {
        Self { title: str::to_owned, dim: str::to_owned, bold: str::to_owned, width: None }
    }
}

/// Letters of a cell from which a table of words is a list instead: beside each other such cells
/// would be longer than any terminal.
const LONG: usize = 60;

/// A table for a terminal: its title, its lines, its notes.
pub fn terminal(table: &Table, style: &Style) -> String {
    let long = |cell: &Cell| matches!(cell, Cell::Text(text) if text.chars().count() > LONG);
    let mut text = TextTable::of(table);
    // One line per remark: together they would be longer than any terminal.
    let notes = std::iter::once(&table.note).chain(&table.remarks);
    text.notes = notes.filter(|note| !note.is_empty()).cloned().collect();
    match table.lines.iter().flat_map(|line| &line.cells).any(long) {
        true => text.list(style),
        false => text.terminal(style),
    }
}

impl TextTable {
    /// For a terminal: padded columns, the title above and the notes below. A table that is wider than
    /// the terminal is cut between columns into several below each other, or, where not even one
    /// column fits beside the names, written as a list.
    pub fn terminal(&self, style: &Style) -> String {
        let mut out = self.title_line(style);
        let widths = self.widths();
        let left: usize = widths[..self.corner.len()].iter().map(|width| width + 2).sum();
        match blocks(&widths[self.corner.len()..], left, style.width.unwrap_or(usize::MAX)) {
            Some(blocks) => {
                let blocks = blocks.into_iter().map(|columns| self.block(style, &widths, columns));
                out += &blocks.collect::<Vec<_>>().join("\n");
                out + &self.note_lines(style)
            }
            None => self.list(style),
        }
    }

    /// The widest text of each column, heads included.
    fn widths(&self) -> Vec<usize> {
        let heads = self.corner.iter().cloned().chain(self.joined_heads(str::to_owned));
        let mut widths: Vec<usize> = heads.map(|head| head.width()).collect();
        for line in &self.lines {
            let heads = line.heads.iter().map(|head| head.width());
            let cells = line.cells.iter().map(|cell| {
                cell.text.width().max(cell.below.as_ref().map_or(0, |below| below.width()))
            });
            for (width, found) in widths.iter_mut().zip(heads.chain(cells)) {
                *width = found.max(*width);
            }
        }
        widths
    }

    /// The names, and some of the columns.
    fn block(&self, style: &Style, widths: &[usize], columns: Range<usize>) -> String {
        let left = self.corner.len();
        let pad = |at: usize, text: &str| {
            let space = " ".repeat(widths[at].saturating_sub(text.width()));
            match at >= left && self.right[at - left] {
                true => format!("{space}{text}"),
                false => format!("{text}{space}"),
            }
        };
        let joined = |cells: Vec<String>| format!("{}\n", cells.join("  ").trim_end());
        let own = || columns.clone().map(|at| left + at);
        let heads: Vec<String> =
            self.corner.iter().cloned().chain(self.joined_heads(str::to_owned)).collect();
        let heads = (0..left).chain(own()).map(|at| (style.dim)(&pad(at, &heads[at])));
        let mut out = joined(heads.collect());
        for line in &self.lines {
            let names = || line.heads.iter().enumerate();
            let cells = || line.cells[columns.clone()].iter().zip(own());
            let row = names().map(|(at, head)| pad(at, head)).chain(cells().map(|(cell, at)| {
                let text = pad(at, &cell.text);
                if cell.bold { (style.bold)(&text) } else { text }
            }));
            out += &joined(row.collect());
            if cells().any(|(cell, _)| cell.below.is_some()) {
                // Beneath the values: beside them the lines would be longer than most terminals.
                let below = cells().map(|(cell, at)| pad(at, cell.below.as_deref().unwrap_or("")));
                out += &joined(names().map(|(at, _)| pad(at, "")).chain(below).collect());
            }
        }
        out
    }

    /// What each line is about, and below it a line for each column.
    fn list(&self, style: &Style) -> String {
        let heads = self.joined_heads(str::to_owned);
        let room = style.width.unwrap_or(usize::MAX);
        let mut out = self.title_line(style);
        for TextLine { heads: names, cells, .. } in &self.lines {
            let names: Vec<&str> =
                names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
            let title = wrapped(&names.join(" · "), room, 0);
            out +=
                &title.lines().map(|line| format!("{}\n", (style.bold)(line))).collect::<String>();
            for (head, cell) in heads.iter().zip(cells) {
                let name = head.to_lowercase();
                let space = " ".repeat(9usize.saturating_sub(name.width()));
                let below =
                    cell.below.as_ref().map_or(String::new(), |below| format!(" ({below})"));
                let text = format!("{}{below}", cell.text);
                let indent = 3 + name.width().max(9);
                let name = (style.dim)(&format!("{name}{space}"));
                out += &match indent + text.width() <= room || room == usize::MAX {
                    true => format!("  {name} {text}\n"),
                    false => format!("  {name}\n{}", indented(&wrapped(&text, room, 4), 4)),
                };
            }
        }
        out + &self.note_lines(style)
    }

    fn title_line(&self, style: &Style) -> String {
        match self.title.is_empty() {
            true => String::new(),
            false => styled(&self.title, style.title, style),
        }
    }

    fn note_lines(&self, style: &Style) -> String {
        self.notes.iter().map(|note| styled(note, style.dim, style)).collect()
    }
}

/// The columns that fit beside names of a width, block by block; `None` where one does not.
fn blocks(widths: &[usize], left: usize, room: usize) -> Option<Vec<Range<usize>>> {
    let (mut blocks, mut from, mut used) = (Vec::new(), 0, left);
    for (at, width) in widths.iter().enumerate() {
        if left + width > room {
            return None;
        }
        if used + width > room {
            blocks.push(from..at);
            (from, used) = (at, left);
        }
        used += width + 2;
    }
    blocks.push(from..widths.len());
    Some(blocks)
}

fn styled(text: &str, paint: fn(&str) -> String, style: &Style) -> String {
    let text = wrapped(text, style.width.unwrap_or(usize::MAX), 0);
    text.lines().map(|line| format!("{}\n", paint(line))).collect()
}

fn indented(lines: &str, by: usize) -> String {
    lines.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

/// A text in lines of at most `room` less `indent` columns, broken between words.
fn wrapped(text: &str, room: usize, indent: usize) -> String {
    let room = room.saturating_sub(indent);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.width() + 1 + word.width() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::text::TextCell;
    use super::*;

    fn table() -> TextTable {
        let bold = TextCell { bold: true, ..TextCell::new("0.1") };
        let below = TextCell { below: Some("p = 0.031".into()), ..TextCell::new("0.25") };
        let rows = vec![vec![TextCell::new("a|b, 50%"), bold], vec![TextCell::new("混"), below]];
        TextTable::new(vec!["model".into(), "soft_nll".into()], 1, rows)
    }

    #[test]
    fn columns_are_padded_to_what_is_shown() {
        let style = Style { bold: |text| format!("<{text}>"), ..Style::default() };
        let expected = "model      soft_nll\na|b, 50%  <      0.1>\n混             0.25\n          \
                        p = 0.031\n";
        assert_eq!(table().terminal(&style), expected);
    }

    #[test]
    fn every_form_escapes_and_marks_the_best() {
        let markdown = "| model     |        soft\\_nll |\n| --------- | ---------------: |\n\
                        | a\\|b, 50% |          **0.1** |\n| 混         | 0.25 (p = 0.031) |\n";
        assert_eq!(table().markdown(), markdown);
        assert_eq!(table().csv(), "model,soft_nll\n\"a|b, 50%\",0.1\n混,0.25\n");
        let latex = table().latex();
        assert!(latex.starts_with("\\begin{tabular}{lr}\n\\toprule\n"), "{latex}");
        assert!(latex.contains("a$|$b, 50\\% & \\textbf{0.1} \\\\\n"), "{latex}");
        assert!(latex.ends_with("\\bottomrule\n\\end{tabular}\n"), "{latex}");
    }

    /// As wide a table as `score` prints with seven metrics.
    fn wide() -> TextTable {
        let mut columns = vec!["model".to_owned(), "items".to_owned()];
        let names = ["soft_nll ↓", "kl ↓", "soft_brier ↓", "accuracy ↑", "ece_mass ↓"];
        columns.extend(names.map(str::to_owned));
        let row = |model: &str| {
            let mut row = vec![TextCell::new(model), TextCell::new("10,000")];
            row.extend((1..=5).map(|n| TextCell::new(format!("0.{n}234 [0.{n}100, 0.{n}900]"))));
            row
        };
        TextTable::new(columns, 1, vec![row("soft"), row("majority labels of people")])
    }

    /// Nothing is wider than the terminal, so that nothing is broken in the middle of a number; and
    /// nothing is lost.
    #[test]
    fn tables_fit_the_terminal() {
        let mut table = wide();
        table.notes = vec!["Every number has a 95 % bootstrap interval over the items.".into()];
        for width in [40, 60, 80, 120] {
            let text = table.terminal(&Style { width: Some(width), ..Style::default() });
            let widest = text.lines().map(UnicodeWidthStr::width).max();
            assert!(widest <= Some(width), "{width}: {text}");
            for n in 1..=5 {
                let cell = format!("0.{n}234 [0.{n}100, 0.{n}900]");
                assert_eq!(text.matches(&cell).count(), 2, "{width}: {text}");
            }
        }
        let full = table.terminal(&Style::default());
        assert_eq!(full.lines().count(), 4, "{full}");
        let narrow = table.terminal(&Style { width: Some(40), ..Style::default() });
        assert!(narrow.contains("  soft_nll ↓ 0.1234 [0.1100, 0.1900]\n"), "{narrow}");
        let blocks = table.terminal(&Style { width: Some(80), ..Style::default() });
        assert_eq!(blocks.matches("majority labels of people").count(), 3, "{blocks}");
    }
}
