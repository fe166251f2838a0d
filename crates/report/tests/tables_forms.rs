//! Tables as they are written: every form of a small made-up book, and names that try to break it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod tables_common;

use dissensus_report::book::{Book, Chosen};
use dissensus_report::tables::{
    Against, Dimension, Family, Shows, Side, Table, TableSpec, TestKind, csv, latex, markdown,
};
use tables_common::{add, bare, book, reference, some, spec, table};

const HOSTILE: [&str; 2] = ["a|b*c_<script>", r"50% & $x_1$ \foo{}~^#"];

fn tested() -> Table {
    let mut book = book();
    book.references = vec![
        reference("soft", "nll", 0.592, Some(0.02)),
        reference("sls", "nll", 0.512, Some(0.025)),
        reference("majority", "nll", 0.5, Some(0.02)),
        reference("soft", "accuracy", 0.8, None),
    ];
    let against = Against {
        arm: "soft".into(),
        test: TestKind::Wilcoxon,
        side: Side::Better,
        family: Family::Column,
        raw: false,
    };
    let note = "Trained for 10 epochs.".into();
    table(&TableSpec { against: Some(against), note, ..spec("main") }, &book)
}

/// Two levels across, two down, a cell without results.
fn levels() -> Table {
    let mut book = bare();
    for (at, arm) in ["soft", "sls"].into_iter().enumerate() {
        for k in [Some(5), None] {
            for (metric, value) in [("nll", 0.5), ("accuracy", -0.25)] {
                let value = value + 0.125 * at as f64;
                add(&mut book, arm, k, metric, &some(&[value, value + 0.25]));
            }
        }
    }
    book.rows.retain(|row| row.arm != "sls" || row.k.is_none() || row.metric != "nll");
    let spec = TableSpec {
        down: vec![Dimension::Dataset, Dimension::Arm],
        across: vec![Dimension::K, Dimension::Metric],
        ..spec("levels")
    };
    table(&spec, &book)
}

fn chosen() -> Table {
    let mut book = bare();
    let chosen = |arm: &str, rate: &str| Chosen {
        dataset: "blends".into(),
        arm: arm.into(),
        k: Some(5),
        settings: vec![("training.rate".into(), rate.into())],
    };
    book.chosen = vec![chosen("soft", "0.1"), chosen("sls", "")];
    table(&TableSpec { shows: Shows::Chosen, ..spec("chosen") }, &book)
}

/// Hostile names and titles everywhere that data can put them.
fn hostile(name: &str, shows: Shows) -> Table {
    let mut book = Book::default();
    add(&mut book, name, None, name, &some(&[0.25, 0.5]));
    add(&mut book, "[5]", None, name, &some(&[0.125, 0.25]));
    book.rows.iter_mut().for_each(|row| row.dataset = name.to_owned());
    let mut published = reference(name, name, 0.25, Some(0.125));
    published.source = format!("{name}\n\n\\end{{table}}, \"{name}\"");
    book.references = vec![published];
    let setting = (name.to_owned(), format!("{name}\r\n{name}"));
    book.chosen = vec![Chosen { arm: name.into(), settings: vec![setting], ..Chosen::default() }];
    let spec = TableSpec {
        name: name.into(),
        title: format!("{name}\n{name}"),
        note: format!("- {name}\n\n# {name}"),
        shows,
        down: vec![Dimension::Dataset, Dimension::Arm],
        across: vec![Dimension::K, Dimension::Metric],
        ..TableSpec::default()
    };
    table(&spec, &book)
}

fn all() -> Vec<Table> {
    let mut all = vec![tested(), levels(), chosen(), table(&spec("empty"), &Book::default())];
    for name in HOSTILE {
        all.extend([hostile(name, Shows::Results), hostile(name, Shows::Chosen)]);
    }
    all
}

#[test]
fn every_form() {
    for (name, table) in [("main", tested()), ("levels", levels()), ("chosen", chosen())] {
        insta::assert_snapshot!(format!("{name}_markdown"), markdown(&table));
        insta::assert_snapshot!(format!("{name}_latex"), latex(&table));
        insta::assert_snapshot!(format!("{name}_csv"), csv(&table));
    }
}

#[test]
fn hostile_names_in_every_form() {
    for (at, name) in HOSTILE.into_iter().enumerate() {
        let table = hostile(name, Shows::Results);
        insta::assert_snapshot!(format!("hostile_{at}_markdown"), markdown(&table));
        insta::assert_snapshot!(format!("hostile_{at}_latex"), latex(&table));
        insta::assert_snapshot!(format!("hostile_{at}_csv"), csv(&table));
    }
}

/// The text with every escaped character and its backslash taken out.
fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut out = String::new();
    while let Some(c) = letters.next() {
        match c {
            '\\' => drop(letters.next()),
            c => out.push(c),
        }
    }
    out
}

#[test]
fn markdown_rows_have_as_many_cells_as_heads() {
    for table in all() {
        let text = markdown(&table);
        let mut expected = None;
        for line in text.lines() {
            let bare = unescaped(line);
            assert!(!bare.contains(['<', '>', '`', '$']), "{line}");
            assert!(bare.matches('*').count().is_multiple_of(4), "{line}");
            match line.starts_with('|') {
                true => {
                    let bars = bare.matches('|').count();
                    assert_eq!(*expected.get_or_insert(bars), bars, "{text}");
                }
                false => expected = None,
            }
        }
    }
}

/// Braces are balanced, mathematics is closed, every row has as many columns as the tabular, and
/// no command is there but those that the writer writes.
#[test]
fn latex_is_well_formed() {
    for table in all() {
        let text = latex(&table);
        let (mut depth, mut columns) = (0i32, 0);
        for line in text.lines().filter(|line| !line.starts_with('%')) {
            let bare = unescaped(&line.replace(r"\\", " "));
            assert!(!bare.contains(['#', '%', '~', '^']), "{line}");
            assert!(bare.matches('$').count().is_multiple_of(2), "{line}");
            for c in bare.chars() {
                depth += i32::from(c == '{') - i32::from(c == '}');
                assert!(depth >= 0, "{line}");
            }
            if let Some(format) = line.strip_prefix(r"\begin{tabular}{") {
                columns = format.trim_end_matches('}').len();
            }
            if let Some(row) = line.strip_suffix(r"\\") {
                assert!(!row.starts_with(['[', '*']), "{line}");
                let spans = row.split(r"\multicolumn{").skip(1);
                let spans = spans.map(|rest| rest.split('}').next().unwrap().parse::<usize>());
                let more: usize = spans.map(|span| span.unwrap() - 1).sum();
                assert_eq!(bare.matches('&').count() + 1 + more, columns, "{line}");
            }
        }
        assert_eq!(depth, 0, "{text}");
        for environment in ["table", "tabular", "minipage"] {
            let count = |word: &str| text.matches(&format!(r"\{word}{{{environment}}}")).count();
            assert_eq!(count("begin"), count("end"), "{text}");
        }
        assert!(!text.contains(r"\foo{"), "{text}");
    }
}

/// A reader after RFC 4180.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty());
    records
}

#[test]
fn csv_reads_back() {
    for table in all() {
        let records = records(&csv(&table));
        assert!(records.iter().all(|record| record.len() == records[0].len()));
    }
    let tested = records(&csv(&tested()));
    let column = |name: &str| tested[0].iter().position(|head| head == name).unwrap();
    assert_eq!(tested.len(), 7);
    assert_eq!(tested[3][column("mean")].parse::<f64>(), Ok(sls_mean()));
    for name in HOSTILE {
        let results = records(&csv(&hostile(name, Shows::Results)));
        assert_eq!((results[1][0].as_str(), results[1][1].as_str()), (name, name));
        let chosen = records(&csv(&hostile(name, Shows::Chosen)));
        assert_eq!(chosen[1].last().unwrap(), &format!("{name}\r\n{name}"));
    }
}

/// The mean NLL of `sls`, as the table has it.
fn sls_mean() -> f64 {
    tested().numbers().nth(2).unwrap().mean.unwrap()
}
