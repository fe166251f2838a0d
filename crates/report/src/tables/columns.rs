//! Tables of rows of any type: every column is declared once, with its head, its side, and its cell
//! for people and for CSV.
//!
//! ```
//! use dissensus_report::tables::{Columns, Style, TableForm};
//! let columns = |form| {
//!     Columns::new(form)
//!         .name("model", |row: &(&str, f64)| row.0)
//!         .value("accuracy ↑", |row| Some(row.1))
//!         .csv(|columns| columns.number("exact", |row| row.1))
//! };
//! let rows = [("soft", 0.9300001), ("majority", 0.9)];
//! let text = columns(TableForm::Terminal).table(&rows).terminal(&Style::default());
//! assert_eq!(text, "model     accuracy ↑\nsoft          0.9300\nmajority      0.9000\n");
//! let csv = columns(TableForm::Csv).table(&rows).csv();
//! assert_eq!(csv, "model,accuracy ↑,exact\nsoft,0.9300001,0.9300001\nmajority,0.9,0.9\n");
//! ```

use super::terminal::Style;
use super::text::{TextCell, TextTable};
use crate::plain::{clean, format_number, thousands};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    Terminal,
    Markdown,
    /// As LaTeX (booktabs).
    Latex,
    /// As CSV, with exact numbers.
    Csv,
}

impl TextTable {
    /// The table in one of the forms; the style is that of terminals.
    pub fn written(&self, form: TableForm, style: &Style) -> String {
        match form {
            TableForm::Terminal => self.terminal(style),
            TableForm::Markdown => self.markdown(),
            TableForm::Latex => self.latex(),
            TableForm::Csv => self.csv(),
        }
    }
}

/// Where a column stands: names come first, at the left; words at the left; numbers at the right.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Name,
    Word,
    Number,
}

type CellOf<'a, R> = Box<dyn Fn(&R) -> TextCell + 'a>;

/// The columns of a table of `R`. Columns of names come before all others.
pub struct Columns<'a, R> {
    form: TableForm,
    columns: Vec<(String, Side, CellOf<'a, R>)>,
}

impl<'a, R> Columns<'a, R> {
    /// No columns yet.
    pub fn new(form: TableForm) -> Self {
        Self { form, columns: Vec::new() }
    }

    fn push(mut self, head: &str, side: Side, cell: impl Fn(&R) -> TextCell + 'a) -> Self {
        self.columns.push((head.to_owned(), side, Box::new(cell)));
        self
    }

    fn for_people(&self) -> bool {
        self.form != TableForm::Csv
    }

    /// Words: on one line for people.
    pub fn name<T: ToString>(self, head: &str, name: impl Fn(&R) -> T + 'a) -> Self {
        let people = self.for_people();
        self.push(head, Side::Name, move |row| match (name(row).to_string(), people) {
            (name, true) => TextCell::new(clean(&name)),
            (name, false) => TextCell::new(name),
        })
    }

    /// The id of a run: its first 8 digits for people.
    pub fn run(self, run: impl Fn(&R) -> String + 'a) -> Self {
        let digits = if self.for_people() { 8 } else { usize::MAX };
        self.name("run", move |row| run(row).chars().take(digits).collect::<String>())
    }

    /// A word, bold in a terminal.
    pub fn word<T: ToString>(self, head: &str, word: impl Fn(&R) -> T + 'a) -> Self {
        let bold = self.form == TableForm::Terminal;
        let cell = move |row: &R| TextCell { bold, ..TextCell::new(word(row).to_string()) };
        self.push(head, Side::Word, cell)
    }

    /// A number, as it is given.
    pub fn number<T: ToString>(self, head: &str, number: impl Fn(&R) -> T + 'a) -> Self {
        self.push(head, Side::Number, move |row| TextCell::new(number(row).to_string()))
    }

    /// A number, as it is given, that may be bold.
    pub fn bold(self, head: &str, cell: impl Fn(&R) -> (String, bool) + 'a) -> Self {
        self.push(head, Side::Number, move |row| {
            let (text, bold) = cell(row);
            TextCell { bold, ..TextCell::new(text) }
        })
    }

    /// A value: four decimals for people, exact in CSV.
    pub fn value(self, head: &str, value: impl Fn(&R) -> Option<f64> + 'a) -> Self {
        let people = self.for_people();
        self.number(head, move |row| match (value(row), people) {
            (value, true) => format_number(value),
            (value, false) => value.map_or(String::new(), |value| value.to_string()),
        })
    }

    /// A whole number: with commas for people.
    pub fn count(self, head: &str, count: impl Fn(&R) -> usize + 'a) -> Self {
        let people = self.for_people();
        self.number(head, move |row| match people {
            true => thousands(count(row)),
            false => count(row).to_string(),
        })
    }

    /// Columns that only people see.
    pub fn people(self, add: impl FnOnce(Self) -> Self) -> Self {
        if self.for_people() { add(self) } else { self }
    }

    /// Columns that only CSV has.
    pub fn csv(self, add: impl FnOnce(Self) -> Self) -> Self {
        if self.for_people() { self } else { add(self) }
    }

    /// The table of these rows.
    pub fn table(&self, rows: &[R]) -> TextTable {
        let heads = self.columns.iter().map(|(head, ..)| head.clone()).collect();
        let names = self.columns.iter().take_while(|(_, side, _)| *side == Side::Name).count();
        let line = |row| self.columns.iter().map(|(_, _, cell)| cell(row)).collect();
        let mut table = TextTable::new(heads, names, rows.iter().map(line).collect());
        let sides = self.columns[names..].iter().map(|(_, side, _)| *side == Side::Number);
        table.right = sides.collect();
        table
    }
}
