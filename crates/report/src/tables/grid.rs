//! What Markdown and LaTeX have in common: a table as text in lines and columns, not yet escaped.

use super::published::Comparison;
use super::table::{Cell, Head, Line, Table};
use super::words;

/// A table of words.
pub(super) struct Grid {
    /// How it is referred to.
    pub(super) name: String,
    pub(super) title: String,
    /// Paragraphs below it.
    pub(super) notes: Vec<String>,
    /// What the row heads are, one for each of their columns.
    pub(super) corner: Vec<String>,
    /// Column heads with their spans, level by level.
    pub(super) heads: Vec<Vec<(String, usize)>>,
    /// Whether a column stands at the right, one for each column.
    pub(super) right: Vec<bool>,
    pub(super) lines: Vec<GridLine>,
}

/// A line of words.
pub(super) struct GridLine {
    /// Whether a new group of lines begins here: a head above the last level changes.
    pub(super) group: bool,
    /// Row heads; empty where the line above says the same.
    pub(super) heads: Vec<String>,
    pub(super) cells: Vec<GridCell>,
}

/// A cell of words.
#[derive(Default)]
pub(super) struct GridCell {
    pub(super) text: String,
    pub(super) bold: bool,
    /// What stands small below it, or in brackets.
    pub(super) below: Option<String>,
}

impl Grid {
    /// The table, and the one beside published values where there is one.
    pub(super) fn all(table: &Table) -> Vec<Self> {
        let published = table.published();
        std::iter::once(Self::of(table)).chain(published.as_ref().map(Self::beside)).collect()
    }

    fn of(table: &Table) -> Self {
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
        let lines = table.lines.iter().map(|line| GridLine {
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

    fn beside(comparison: &Comparison<'_>) -> Self {
        let table = comparison.of;
        let levels = table.heads.iter().filter_map(|level| level.first()?.of);
        let mut corner = table.corner.clone();
        corner.extend(levels.map(|dimension| dimension.title().to_owned()));
        let text = |text: String| GridCell { text, ..GridCell::default() };
        /// The place of the column of p, where there is one.
        const P: usize = 3;
        let tested = comparison.cells.iter().any(|cell| cell.published.p.is_some());
        let mut lines = Vec::new();
        let mut before: Vec<&Head> = Vec::new();
        for cell in &comparison.cells {
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
            lines.push(GridLine { group, heads, cells });
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

impl GridLine {
    /// Whether any of its cells has something below it.
    pub(super) fn has_below(&self) -> bool {
        self.cells.iter().any(|cell| cell.below.is_some())
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

fn cell(cell: &Cell) -> GridCell {
    match cell {
        Cell::Text(text) if text.is_empty() => {
            GridCell { text: words::NOTHING.to_owned(), ..GridCell::default() }
        }
        Cell::Text(text) => GridCell { text: text.clone(), ..GridCell::default() },
        Cell::Number(number) => GridCell {
            text: words::ours(number),
            bold: number.best,
            below: number.test.as_ref().and_then(words::p_of),
        },
    }
}
