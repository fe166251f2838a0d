//! Tables for a terminal: columns padded to the width of what is shown, heads and bold cells in
//! the styles of whoever prints them.

use unicode_width::UnicodeWidthStr;

use super::table::{Cell, Table};
use super::text::{TextLine, TextTable};

/// How parts of a table are styled; plain by default.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The title.
    pub title: fn(&str) -> String,
    /// The heads of columns, and the notes.
    pub dim: fn(&str) -> String,
    /// Bold cells.
    pub bold: fn(&str) -> String,
}

impl Default for Style {
    fn default() -> Self {
        Self { title: str::to_owned, dim: str::to_owned, bold: str::to_owned }
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
    /// For a terminal: padded columns, the title above and the notes below.
    pub fn terminal(&self, style: &Style) -> String {
        let left = self.corner.len();
        let mut heads = self.corner.clone();
        heads.extend(self.joined_heads(str::to_owned));
        let mut widths: Vec<usize> = heads.iter().map(|head| head.width()).collect();
        for line in &self.lines {
            let heads = line.heads.iter().map(|head| head.width());
            let cells = line.cells.iter().map(|cell| {
                cell.text.width().max(cell.below.as_ref().map_or(0, |below| below.width()))
            });
            for (width, found) in widths.iter_mut().zip(heads.chain(cells)) {
                *width = found.max(*width);
            }
        }
        let pad = |at: usize, text: &str| {
            let space = " ".repeat(widths[at].saturating_sub(text.width()));
            match at >= left && self.right[at - left] {
                true => format!("{space}{text}"),
                false => format!("{text}{space}"),
            }
        };
        let joined = |cells: Vec<String>| format!("{}\n", cells.join("  ").trim_end());
        let mut out = self.title_line(style);
        let heads = heads.iter().enumerate().map(|(at, head)| (style.dim)(&pad(at, head)));
        out += &joined(heads.collect());
        for line in &self.lines {
            let mut row: Vec<String> =
                line.heads.iter().enumerate().map(|(at, head)| pad(at, head)).collect();
            for (at, cell) in line.cells.iter().enumerate() {
                let text = pad(left + at, &cell.text);
                row.push(if cell.bold { (style.bold)(&text) } else { text });
            }
            out += &joined(row);
            if Self::has_below(line) {
                // Beneath the values: beside them the lines would be longer than most terminals.
                let heads = (0..left).map(|at| pad(at, ""));
                let below = line.cells.iter().enumerate();
                let below = below
                    .map(|(at, cell)| pad(left + at, cell.below.as_deref().unwrap_or_default()));
                out += &joined(heads.chain(below).collect());
            }
        }
        out + &self.note_lines(style)
    }

    /// What each line is about, and below it a line for each column.
    fn list(&self, style: &Style) -> String {
        let heads = self.joined_heads(str::to_owned);
        let mut out = self.title_line(style);
        for TextLine { heads: names, cells, .. } in &self.lines {
            out += &format!("{}\n", (style.bold)(&names.join(" · ")));
            for (head, cell) in heads.iter().zip(cells) {
                let name = head.to_lowercase();
                let space = " ".repeat(9usize.saturating_sub(name.width()));
                out += &format!("  {} {}\n", (style.dim)(&format!("{name}{space}")), cell.text);
            }
        }
        out + &self.note_lines(style)
    }

    fn title_line(&self, style: &Style) -> String {
        match self.title.is_empty() {
            true => String::new(),
            false => format!("{}\n", (style.title)(&self.title)),
        }
    }

    fn note_lines(&self, style: &Style) -> String {
        self.notes.iter().map(|note| format!("{}\n", (style.dim)(note))).collect()
    }
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
}
