//! Toloka's assignments (TSV): a row an answer, in columns `INPUT:…`, `OUTPUT:…`, `ASSIGNMENT:…`.
//!
//! The item is the task, the annotator the worker. Assignments that were rejected, skipped or not
//! finished are no votes. Aggregated results (`AGGREGATED:…` or without workers) hold none.

use super::Format;
use super::columns::{self, Role};
use super::long::Layout;
use super::long_rows::{self, Labels, Status};
use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::{Problem, ReadError, ReadOption};
use dissensus_io::{Source, Table};

pub(super) const FORMAT: Format = Format {
    name: "toloka",
    title: "Toloka: assignments, one row per answer",
    layout: "TSV with the columns INPUT:…, OUTPUT:…, ASSIGNMENT:task_id, ASSIGNMENT:worker_id, ASSIGNMENT:status",
    trap: "rejected and unfinished assignments stand beside accepted ones: they are left out and counted",
    examples: &[Example::text(
        "assignments.tsv",
        "INPUT:image\tOUTPUT:result\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\n\
         a.jpg\tcat\tt1\tw1\tAPPROVED\n\
         a.jpg\tdog\tt1\tw2\tAPPROVED\n",
    )],
    options: long_rows::PLATFORM,
    detect,
    read,
};

const OUTPUT: &str = "OUTPUT:";
const INPUT: &str = "INPUT:";

fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    let begins = |start: &str| table.columns.iter().any(|column| column.starts_with(start));
    begins(OUTPUT) && begins("ASSIGNMENT:")
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let layout = layout(&table, collector).map_err(|problem| collector.error(problem).row(1))?;
    let status = table.column("ASSIGNMENT:status");
    let votes = &["SUBMITTED", "APPROVED", "ACCEPTED"];
    let status = status.map(|column| Status { column, votes });
    let labels = Labels::Cell { separator: collector.options.separator };
    long_rows::read(table, layout, labels, status, collector)
}

fn layout(table: &Table, collector: &mut Collector<'_>) -> Result<Layout, Problem> {
    let options = collector.options;
    let begins = |start: &str| -> Vec<usize> {
        (0..table.columns.len()).filter(|&c| table.columns[c].starts_with(start)).collect()
    };
    let inputs = begins(INPUT);
    let item = match (&options.item, inputs.as_slice()) {
        (Some(_), _) => columns::find(table, Role::Item, options)?,
        (None, [only]) => table.column("ASSIGNMENT:task_id").or(Some(*only)),
        (None, _) => table.column("ASSIGNMENT:task_id"),
    };
    let item = item.ok_or_else(|| columns::no_column(table, Role::Item))?;
    let annotator = match &options.annotator {
        Some(_) => columns::find(table, Role::Annotator, options)?,
        None => table.column("ASSIGNMENT:worker_id"),
    };
    let annotator = annotator.ok_or_else(|| columns::no_column(table, Role::Annotator))?;
    let outputs = begins(OUTPUT);
    let label = match (&options.label, outputs.as_slice()) {
        (Some(said), _) => {
            let full = format!("{OUTPUT}{said}");
            table.column(&full).or_else(|| columns::named(&table.columns, said))
        }
        (None, [only]) => Some(*only),
        (None, _) => None,
    };
    let Some(label) = label else {
        let found = outputs.iter().map(|&c| table.columns[c].clone()).collect();
        let expected = "one question to read";
        return Err(Problem::Choice { expected, found, option: ReadOption::Label });
    };
    let golden = begins("GOLDEN:").into_iter().find(|&c| !columns::values(table, c).is_empty());
    for (what, column, said) in [
        ("item column", Some(item), options.item.is_some()),
        ("annotator column", Some(annotator), options.annotator.is_some()),
        ("label column", Some(label), options.label.is_some()),
    ] {
        if let (Some(column), false) = (column, said) {
            collector.note(what, table.columns[column].clone());
        }
    }
    if let Some(column) = golden {
        let value = format!("{} is filled: control tasks count like others", table.columns[column]);
        collector.note("control tasks", value);
    }
    let text = columns::text(table, options, &[Some(annotator), Some(label)])?;
    Ok(Layout { annotator: Some(annotator), text, ..Layout::of(item, label) })
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    const ROWS: &str = "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:task_id\t\
        ASSIGNMENT:worker_id\tASSIGNMENT:status\na.jpg\tcat\t\tt1\tw1\tAPPROVED\n\
        a.jpg\tdog\t\tt1\tw2\tSUBMITTED\na.jpg\tdog\t\tt1\tw3\tREJECTED\nb.jpg\tcat\tcat\tt2\tw1\tACCEPTED\n";

    #[test]
    fn accepted_answers_are_votes() {
        let reading = read_bytes("x", ROWS.into(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "toloka");
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        let notes: Vec<_> =
            reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert_eq!(
            notes,
            [
                "item column: ASSIGNMENT:task_id",
                "annotator column: ASSIGNMENT:worker_id",
                "label column: OUTPUT:result",
                "control tasks: GOLDEN:result is filled: control tasks count like others",
                "left out: rows with the status \"REJECTED\": 1"
            ]
        );
        let item = ReadOptions { item: Some("INPUT:image".into()), ..ReadOptions::default() };
        let table = read_bytes("x", ROWS.into(), &item).unwrap().table;
        assert!(table.items().iter().eq(["a.jpg", "b.jpg"]));
        let two = ROWS.replace("GOLDEN:result", "OUTPUT:why");
        let error = read_bytes("x", two.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "x, row 1: expected one question to read, found OUTPUT:result, OUTPUT:why"
        );
    }
}
