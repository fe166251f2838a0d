//! Tables in the forms that the flags of a command ask for.

use dissensus::report::tables::Style;
pub(crate) use dissensus::report::tables::{TextCell as Cell, TextTable as Table};

use super::paint;

/// How tables look in a terminal.
pub(crate) const STYLE: Style = Style { title: paint::title, dim: paint::dim, bold: paint::strong };

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Terminal,
    Markdown,
    Latex,
    Csv,
}

impl Form {
    /// The form that the flags of a command ask for.
    pub(crate) fn asked(csv: bool, markdown: bool, latex: bool) -> Self {
        match (csv, markdown, latex) {
            (true, ..) => Self::Csv,
            (_, true, _) => Self::Markdown,
            (_, _, true) => Self::Latex,
            _ => Self::Terminal,
        }
    }
}

/// Writes a table in one of the forms.
pub(crate) trait Print {
    fn print(&self, form: Form) -> String;
}

impl Print for Table {
    fn print(&self, form: Form) -> String {
        match form {
            Form::Terminal => self.terminal(&STYLE),
            Form::Markdown => self.markdown(),
            Form::Latex => self.latex(),
            Form::Csv => self.csv(),
        }
    }
}
