//! A small made-up book.

#![allow(dead_code)]

use dissensus_report::book::{Arm, Book, Direction, Metric, Named, Reference, Row};
use dissensus_report::tables::{Cell, Number, Table, TableSpec, prepare};

/// A book with three arms, three metrics and nothing in it.
pub(crate) fn bare() -> Book {
    let arm = |name: &str, title: &str| Arm {
        name: name.into(),
        title: title.into(),
        about: String::new(),
    };
    let metric = |name: &str, title: &str, better, digits| Metric {
        name: name.into(),
        title: title.into(),
        better,
        digits,
        ..Metric::default()
    };
    Book {
        name: "made-up".into(),
        title: "Made up".into(),
        arms: vec![arm("soft", "Soft labels"), arm("sls", "SLS"), arm("majority", "")],
        datasets: vec![Named { name: "blends".into(), title: "Blends".into() }],
        metrics: vec![
            metric("nll", "Soft NLL", Direction::Lower, 4),
            metric("accuracy", "Accuracy", Direction::Higher, 3),
            metric("entropy", "Entropy", Direction::Neither, 2),
        ],
        ..Book::default()
    }
}

/// Adds one value for each seed from 0.
pub(crate) fn add(
    book: &mut Book,
    arm: &str,
    k: Option<u32>,
    metric: &str,
    values: &[Option<f64>],
) {
    for (seed, value) in values.iter().enumerate() {
        book.rows.push(Row {
            study: book.name.clone(),
            dataset: "blends".into(),
            arm: arm.into(),
            k,
            seed: seed as u64,
            metric: metric.into(),
            slice: "all".into(),
            value: *value,
            run: format!("{arm}-{seed}"),
        });
    }
}

pub(crate) fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().map(|value| Some(*value)).collect()
}

/// Five seeds of three arms; `majority` has an undefined accuracy.
pub(crate) fn book() -> Book {
    let mut book = bare();
    let soft = [0.56, 0.58, 0.61, 0.59, 0.57];
    let below = |by: [f64; 5]| -> Vec<f64> { soft.iter().zip(by).map(|(s, d)| s - d).collect() };
    add(&mut book, "soft", None, "nll", &some(&soft));
    add(&mut book, "sls", None, "nll", &some(&below([0.01, 0.02, 0.03, 0.04, 0.05])));
    add(&mut book, "majority", None, "nll", &some(&below([-0.1, -0.2, -0.3, -0.4, 0.5])));
    add(&mut book, "soft", None, "accuracy", &some(&[0.80, 0.82, 0.81, 0.80, 0.82]));
    add(&mut book, "sls", None, "accuracy", &some(&[0.81, 0.82, 0.81, 0.80, 0.82]));
    let mut accuracy = some(&[0.70, 0.72, 0.71, 0.70]);
    accuracy.push(None);
    add(&mut book, "majority", None, "accuracy", &accuracy);
    book
}

pub(crate) fn reference(arm: &str, metric: &str, mean: f64, sd: Option<f64>) -> Reference {
    Reference {
        arm: arm.into(),
        metric: metric.into(),
        slice: "all".into(),
        mean,
        sd,
        n: Some(10),
        source: "Table 2".into(),
        ..Reference::default()
    }
}

pub(crate) fn spec(name: &str) -> TableSpec {
    TableSpec { name: name.into(), title: "Main results".into(), ..TableSpec::default() }
}

pub(crate) fn table(spec: &TableSpec, book: &Book) -> Table {
    prepare(spec, book).unwrap()
}

pub(crate) fn number(table: &Table, line: usize, column: usize) -> &Number {
    match &table.lines[line].cells[column] {
        Cell::Number(number) => number,
        Cell::Text(text) => panic!("words: {text}"),
    }
}

/// The titles of the lines, and of the lowest heads of the columns.
pub(crate) fn titles(table: &Table) -> (Vec<String>, Vec<String>) {
    let joined = |heads: Vec<&dissensus_report::tables::Head>| {
        heads.iter().map(|head| head.title.as_str()).collect::<Vec<_>>().join(" / ")
    };
    let lines = table.lines.iter().map(|line| joined(line.heads.iter().collect()));
    let columns = table.lines.first().map_or(0, |line| line.cells.len());
    (lines.collect(), (0..columns).map(|at| joined(table.column(at))).collect())
}
