//! The table of the data sets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_report::book::{Book, Facts, Named};
use dissensus_report::tables::{Shows, TableSpec, markdown, prepare};

fn facts(dataset: &str, facts: &[(&str, &str)]) -> Facts {
    let pair = |(what, value): &(&str, &str)| ((*what).to_owned(), (*value).to_owned());
    Facts { dataset: dataset.to_owned(), facts: facts.iter().map(pair).collect() }
}

#[test]
fn data_sets_stand_line_by_line() {
    let named = |name: &str, title: &str| Named { name: name.into(), title: title.into() };
    let book = Book {
        datasets: vec![named("a", "First"), named("b", "Sec|ond")],
        facts: vec![
            facts("a", &[("Items", "10"), ("Classes", "3")]),
            facts("b", &[("Items", "20"), ("Votes per item", "5.0")]),
        ],
        ..Book::default()
    };
    let spec = TableSpec { name: "data".into(), shows: Shows::Datasets, ..TableSpec::default() };
    let page = markdown(&prepare(&spec, &book).unwrap());
    for row in [
        "| Data     | Items | Classes | Votes per item |",
        "| First    | 10    | 3       | –              |",
        "| Sec\\|ond | 20    | –       | 5.0            |",
    ] {
        assert!(page.contains(row), "{row} in\n{page}");
    }
    let one = TableSpec { datasets: vec!["b".into()], ..spec.clone() };
    assert_eq!(prepare(&one, &book).unwrap().lines.len(), 1);
    let wrong = TableSpec { datasets: vec!["c".into()], ..spec };
    assert!(prepare(&wrong, &book).is_err());
}
