//! Potato's annotated instances (TSV or CSV): a row has an annotator's answers to an instance, a column
//! `SCHEMA:::LABEL` for each label of each question, filled where the label was chosen.

use super::Format;
use super::columns::{self, Role};
use super::long::Layout;
use super::long_rows::{self, Labels};
use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption};
use dissensus_io::{Row, Source, Table, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "potato",
    title: "Potato: annotated instances, a column per label of a question",
    layout: "TSV or CSV with the columns user, instance_id, displayed_text, SCHEMA:::LABEL, …",
    trap: "a label's cell holds its number, its name or true: what is filled was chosen",
    examples: &[Example::text(
        "annotated_instances.tsv",
        "user\tinstance_id\tdisplayed_text\tmood:::pos\tmood:::neg\n\
         ann\t1\tGood.\t1\t\n\
         bob\t1\tGood.\t\t2\n",
    )],
    options: &[O::Item, O::Annotator, O::Label, O::Text, O::Classes, O::Multilabel],
    detect,
    read,
};

const BETWEEN: &str = ":::";

fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    table.column("instance_id").is_some() && table.columns.iter().any(|c| c.contains(BETWEEN))
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let (layout, labels) =
        layout(&table, collector).map_err(|problem| collector.error(problem).row(1))?;
    let chosen = move |row: &Row| {
        let filled = |c: usize| {
            let text = cell_text(row.cell(c)).unwrap_or_default().trim().to_ascii_lowercase();
            !matches!(text.as_str(), "" | "0" | "false" | "nan" | "none")
        };
        let chosen = labels.iter().filter(|(c, _)| filled(*c));
        Ok(chosen.map(|(_, label)| label.clone()).collect())
    };
    long_rows::read(table, layout, Labels::Own(Box::new(chosen)), None, collector)
}

/// Which column is what, and the columns of the labels.
fn layout(
    table: &Table,
    collector: &mut Collector<'_>,
) -> Result<(Layout, Vec<(usize, String)>), Problem> {
    let options = collector.options;
    let item = match &options.item {
        Some(_) => columns::find(table, Role::Item, options)?,
        None => table.column("instance_id"),
    };
    let item = item.ok_or_else(|| columns::no_column(table, Role::Item))?;
    let annotator = match &options.annotator {
        Some(_) => columns::find(table, Role::Annotator, options)?,
        None => table.column("user"),
    };
    let pairs: Vec<(usize, &str, &str)> = (0..table.columns.len())
        .filter_map(|c| {
            table.columns[c].split_once(BETWEEN).map(|(schema, label)| (c, schema, label))
        })
        .collect();
    let mut schemas: Vec<&str> = pairs.iter().map(|(_, schema, _)| *schema).collect();
    schemas.dedup();
    let schema = match (&options.label, schemas.as_slice()) {
        (Some(said), _) => schemas.iter().find(|schema| *schema == said).copied(),
        (None, [only]) => Some(*only),
        (None, _) => None,
    };
    let Some(schema) = schema else {
        let expected = "one question to read";
        let found = schemas.iter().map(ToString::to_string).collect();
        return Err(Problem::Choice { expected, found, option: ReadOption::Label });
    };
    if options.label.is_none() {
        collector.note("question", schema);
    }
    let labels: Vec<(usize, String)> = pairs
        .iter()
        .filter(|(_, other, _)| *other == schema)
        .map(|(c, _, label)| (*c, (*label).to_owned()))
        .collect();
    let label = labels.first().map_or(0, |(c, _)| *c);
    let text = match &options.text {
        Some(_) => columns::find(table, Role::Text, options)?,
        None => table.column("displayed_text"),
    };
    Ok((Layout { annotator, text, ..Layout::of(item, label) }, labels))
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, read_bytes};

    const ROWS: &str = "user\tinstance_id\tdisplayed_text\tmood:::good\tmood:::bad\n\
        ann\t1\tHi\t1\t\nben\t1\tHi\t\t2\ncy\t2\tHo\t\t\n";

    #[test]
    fn filled_cells_are_chosen() {
        let reading = read_bytes("x", ROWS.into(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "potato");
        assert_eq!(reading.table.classes().names(), ["bad", "good"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!(reading.findings[0].code, "missing-value");
        assert_eq!(reading.texts.len(), 2);
        let only = MultiLabel::Only("good".into());
        let options = ReadOptions { multilabel: only, ..ReadOptions::default() };
        let table = read_bytes("x", ROWS.into(), &options).unwrap().table;
        assert_eq!(table.counts().unwrap().row(1, 2), [0.0, 1.0]);
        let two = ROWS.replace("mood:::bad", "topic:::x");
        let error = read_bytes("x", two.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(error.to_string(), "x, row 1: expected one question to read, found mood, topic");
    }
}
