//! How tables are printed.

use dissensus::report::tables::Style;
pub(crate) use dissensus::report::tables::{Columns, TableForm as Form, TextTable as Table};

use super::paint;

/// How tables look in a terminal, and how wide they may be. Into files and pipes they are written in
/// full width.
pub(crate) fn style() -> Style {
    let terminal = console::Term::stdout();
    let width = terminal.is_term().then(|| {
        let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        said.or_else(|| Some(usize::from(terminal.size_checked()?.1)))
    });
    Style {
        title: paint::title,
        dim: paint::dim,
        bold: paint::strong_or_state,
        width: width.flatten(),
    }
}

/// Prints tables, with an empty line between them.
pub(crate) fn print(tables: &[Table], form: Form) -> anyhow::Result<()> {
    let tables: Vec<String> = tables.iter().map(|table| table.written(form, &style())).collect();
    let text = tables.join("\n");
    match form {
        Form::Csv => super::data(text.as_bytes())?,
        _ => super::out(&text)?,
    }
    Ok(())
}
