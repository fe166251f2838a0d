//! A table as text in lines and columns, not yet escaped: what is written for a terminal, as
//! Markdown, as LaTeX or as CSV.

use super::published::Beside;
use super::table::{Cell, Head, Line, Table};
use super::words;
use crate::csv::Csv;

/// A table of text.
///
/// ```
/// use dissensus_report::tables::{TextCell, TextTable};
/// let columns = ["model", "accuracy"].map(str::to_owned).to_vec();
/// let row = |name: &str, value: &str, best: bool| {
///     vec![TextCell::new(name), TextCell { bold: best, ..TextCell::new(value) }]
/// };
/// let table = TextTable::new(columns, 1, vec![row("soft", "0.93", true), row("hard", "0.9", false)]);
/// assert_eq!(table.csv(), "model,accuracy\nsoft,0.93\nhard,0.9\n");
/// assert_eq!(table.terminal(&Default::default()), "model  accuracy\nsoft       0.93\nhard        0.9\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    /// How it is referred to; empty for a table without a caption.
    pub name: String,
    /// Above it; empty where there is none.
    pub title: String,
    /// Paragraphs below it.
    pub notes: Vec<String>,
    /// What the row heads are, one for each of their columns.
    pub corner: Vec<String>,
    /// Column heads with their spans, level by level.
    pub heads: Vec<Vec<(String, usize)>>,
    /// Whether a column is aligned at the right, one for each column.
    pub right: Vec<bool>,
    /// The lines, from above.
    pub lines: Vec<TextLine>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextLine {
    /// Whether a new group of lines begins here: a head above the last level changes.
    pub group: bool,
    /// Row heads; empty where the line above says the same.
    pub heads: Vec<String>,
    /// Its cells, one for each column.
    pub cells: Vec<TextCell>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCell {
    pub text: String,
    /// Whether it is bold: the best of its column by a significant test, say.
    pub bold: bool,
    /// What is written small below it, or in brackets.
    pub below: Option<String>,
}

impl TextCell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl TextTable {
    /// A table with one line of heads. The first `names` columns are words and stand at the left,
    /// the others are numbers and stand at the right.
    pub fn new(columns: Vec<String>, names: usize, rows: Vec<Vec<TextCell>>) -> Self {
        let mut corner = columns;
        let heads = corner.split_off(names.min(corner.len()));
        let line = |mut row: Vec<TextCell>| {
            let cells = row.split_off(names.min(row.len()));
            let heads = row.into_iter().map(|cell| cell.text).collect();
            TextLine { group: false, heads, cells }
        };
        Self {
            corner,
            right: vec![true; heads.len()],
            heads: vec![heads.into_iter().map(|head| (head, 1)).collect()],
            lines: rows.into_iter().map(line).collect(),
            ..Self::default()
        }
    }

    /// The head of each column; of several levels, all of them joined.
    pub(super) fn joined_heads(&self, written: impl Fn(&str) -> String) -> Vec<String> {
        let mut joined = vec![Vec::new(); self.right.len()];
        for level in &self.heads {
            let spread = level.iter().flat_map(|(text, span)| std::iter::repeat_n(text, *span));
            joined.iter_mut().zip(spread).for_each(|(head, text)| head.push(written(text)));
        }
        joined.into_iter().map(|head| head.join(" · ")).collect()
    }

    /// As CSV: one line of heads, and every line of the table.
    pub fn csv(&self) -> String {
        let joined = self.joined_heads(str::to_owned);
        let heads: Vec<&str> = self.corner.iter().chain(&joined).map(String::as_str).collect();
        let mut csv = Csv::new(&heads);
        for line in &self.lines {
            let heads = line.heads.iter().map(String::as_str);
            let cells = line.cells.iter().map(|cell| cell.text.as_str());
            csv.row(&heads.chain(cells).collect::<Vec<_>>());
        }
        csv.finish()
    }

    /// Whether any of a line's cells has something below it.
    pub(super) fn has_below(line: &TextLine) -> bool {
        line.cells.iter().any(|cell| cell.below.is_some())
    }
}

impl TextTable {
    /// The table, and the one beside published values where there is one.
    pub(super) fn all(table: &Table) -> Vec<Self> {
        let cells = table.published();
        let beside = (!cells.is_empty()).then(|| Self::beside(table, &cells));
        std::iter::once(Self::of(table)).chain(beside).collect()
    }

    pub(super) fn of(table: &Table) -> Self {
        let head = |head: &Head| (title(head), head.span);
        let heads: Vec<Vec<_>> =
            table.heads.iter().map(|level| level.iter().map(head).collect()).collect();
        let columns = heads.last().map_or(0, Vec::len);
        let right = |column: usize| {
            let mut cells = table.lines.iter().filter_map(|line| line.cells.get(column));
            cells.any(|cell| cell.number().is_some())
        };
        let covered = |line: &Line| line.heads.iter().any(|head| head.span == 0);
        let grouped = table.lines.iter().any(covered);
        let lines = table.lines.iter().map(|line| TextLine {
            group: grouped && starts_group(&line.heads),
            heads: line
                .heads
                .iter()
                .map(|head| if head.span > 0 { title(head) } else { String::new() })
                .collect(),
            cells: line.cells.iter().map(cell).collect(),
        });
        let notes = [table.note.clone(), table.remarks.join(" ")];
        Self {
            name: table.name.clone(),
            title: table.title.clone(),
            notes: notes.into_iter().filter(|note| !note.trim().is_empty()).collect(),
            corner: table.corner.clone(),
            heads,
            right: (0..columns).map(right).collect(),
            lines: lines.collect(),
        }
    }

    /// One line per cell: with our value, theirs, the difference and the verdict beside each other
    /// in every column, a table of four metrics would have sixteen columns.
    fn beside(table: &Table, cells: &[Beside<'_>]) -> Self {
        let levels = table.heads.iter().filter_map(|level| level.first()?.of);
        let mut corner = table.corner.clone();
        corner.extend(levels.map(|dimension| dimension.title().to_owned()));
        let text = |text: String| TextCell::new(text);
        /// The place of the column of p, where there is one.
        const P: usize = 3;
        let tested = cells.iter().any(|cell| cell.published.p.is_some());
        let mut lines = Vec::new();
        let mut before: Vec<&Head> = Vec::new();
        for cell in cells {
            let same = |level: usize| {
                let upto = |heads: &[&Head]| -> Option<Vec<String>> {
                    Some(heads.get(..=level)?.iter().map(|head| head.name.clone()).collect())
                };
                upto(&before).is_some_and(|names| Some(names) == upto(&cell.line))
            };
            let line = cell.line.iter().enumerate();
            let line = line.map(|(at, head)| if same(at) { String::new() } else { title(head) });
            let column = cell.column.iter().map(|head| title(head));
            let heads: Vec<String> = line.chain(column).collect();
            let group = !same(cell.line.len().saturating_sub(1)) && !before.is_empty();
            let published = cell.published;
            let mut cells = vec![
                text(words::ours(cell.ours)),
                text(words::theirs(published, cell.ours.digits)),
                text(words::difference(published.difference)),
                text(published.verdict.map_or(words::NOTHING, |v| v.words()).to_owned()),
                text(published.source.clone()),
            ];
            if tested {
                cells.insert(P, text(words::bare_p(published.p)));
            }
            lines.push(TextLine { group, heads, cells });
            before.clone_from(&cell.line);
        }
        let mut notes = vec![
            "Difference: (our mean − the published mean) / the published standard deviation over \
             seeds."
                .to_owned(),
        ];
        let mut heads = vec!["Ours", "Published", "Difference in sd", "Verdict", "Source"];
        let mut right = vec![true, true, true, false, false];
        if tested {
            notes.push("p: Welch’s t test of both means, two-sided.".to_owned());
            heads.insert(P, "p");
            right.insert(P, true);
        }
        Self {
            name: format!("{}-published", table.name),
            title: format!("{}: beside the published values", table.title),
            notes,
            corner,
            heads: vec![heads.into_iter().map(|head| (head.to_owned(), 1)).collect()],
            right,
            lines,
        }
    }
}

/// Whether a head above the last level begins here.
fn starts_group(heads: &[Head]) -> bool {
    heads.len() > 1 && heads.iter().rev().skip(1).any(|head| head.span > 0)
}

fn title(head: &Head) -> String {
    match head.better.arrow() {
        "" => head.title.clone(),
        arrow => format!("{} {arrow}", head.title),
    }
}

fn cell(cell: &Cell) -> TextCell {
    match cell {
        Cell::Text(text) if text.is_empty() => TextCell::new(words::NOTHING),
        Cell::Text(text) => TextCell::new(text),
        Cell::Number(number) => TextCell {
            text: words::ours(number),
            bold: number.bold,
            below: number.test.as_ref().and_then(words::p_of),
        },
    }
}
