//! How tables are printed.

use dissensus::report::tables::Style;
pub(crate) use dissensus::report::tables::{Columns, TableForm as Form, TextTable as Table};

use super::paint;

/// How tables look in a terminal.
pub(crate) const STYLE: Style =
    Style { title: paint::title, dim: paint::dim, bold: paint::strong_or_state };

/// Prints tables, with an empty line between them.
pub(crate) fn print(tables: &[Table], form: Form) -> anyhow::Result<()> {
    let tables: Vec<String> = tables.iter().map(|table| table.written(form, &STYLE)).collect();
    Ok(super::out(&tables.join("\n"))?)
}
