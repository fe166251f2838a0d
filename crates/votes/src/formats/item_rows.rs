//! Tables with one row per item: what every format of them does with a row before it takes the votes from it.

use super::columns::{self, Role};
use crate::collector::Collector;
use dissensus_io::{Problem, ReadError, Row, Table, cell_text};

/// The columns of the item and of its text.
pub(super) struct ItemColumns {
    item: usize,
    text: Option<usize>,
}

impl ItemColumns {
    /// The columns, as the user says or by their names; the item's is stated. None of those that `votes` are in holds
    /// texts.
    pub(super) fn find(
        table: &Table,
        votes: &[Option<usize>],
        collector: &mut Collector<'_>,
    ) -> Result<Self, ReadError> {
        let wrong = |problem: Problem| ReadError::new(collector.file.clone(), problem).row(1);
        let options = collector.options;
        let item = columns::find(table, Role::Item, options).map_err(wrong)?;
        let item = item.ok_or_else(|| wrong(columns::no_column(table, Role::Item)))?;
        let text = columns::text(table, options, votes).map_err(wrong)?;
        if options.item.is_none() {
            collector.note("item column", table.columns[item].clone());
        }
        Ok(Self { item, text })
    }

    /// Hands over every row that can be read, with its item.
    pub(super) fn each<'o>(
        self,
        table: Table,
        collector: &mut Collector<'o>,
        mut votes: impl FnMut(&Row, &str, &mut Collector<'o>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        for row in table.rows(&collector.options.limits) {
            let Some(row) = collector.good(row)? else {
                continue;
            };
            let id = cell_text(row.cell(self.item)).unwrap_or_default();
            if !collector.new_item(&id, row.number)? {
                continue;
            }
            if let Some(text) = self.text.and_then(|column| cell_text(row.cell(column))) {
                collector.text(&id, text);
            }
            votes(&row, &id, collector)?;
        }
        Ok(())
    }
}
