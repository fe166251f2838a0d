//! Tables as CSV (RFC 4180, lines end with `\n`): one line per cell, with all of its numbers as they
//! are. What is undefined is empty.

use super::spec::{Dimension, TestKind};
use super::table::{Cell, Head, Line, Number, Table, Verdict};
use super::words;
use crate::book::Direction;
use crate::csv::Csv;

/// A table as CSV. Results have the columns of `result`, in which `values` lists `seed=value`;
/// chosen settings have their row heads, the setting and its value.
pub fn csv(table: &Table) -> String {
    let words = |line: &&Line| line.cells.iter().any(|cell| cell.number().is_none());
    if let Some(line) = table.lines.iter().find(words) {
        let mut heads = vec!["table"];
        heads.extend(line.heads.iter().map(|head| head.of.map_or("", Dimension::name)));
        heads.extend(["setting", "value"]);
        let mut csv = Csv::new(&heads);
        table.lines.iter().for_each(|line| settings(&mut csv, table, line));
        return csv.finish();
    }
    let mut csv = Csv::new(&result("", &Number::default()).map(|(column, _)| column));
    for number in table.numbers() {
        csv.row_of(result(&table.name, number).map(|(_, value)| value));
    }
    csv.finish()
}

fn settings(csv: &mut Csv, table: &Table, line: &Line) {
    for (at, cell) in line.cells.iter().enumerate() {
        let setting = table.column(at).first().map(|head| head.name.clone()).unwrap_or_default();
        let (Cell::Text(value), false) = (cell, setting.is_empty()) else { continue };
        let name = |head: &Head| head.name.clone();
        let heads = std::iter::once(table.name.clone()).chain(line.heads.iter().map(name));
        csv.row_of(heads.chain([setting, value.clone()]));
    }
}

/// The columns of a result, and its values.
fn result(table: &str, of: &Number) -> [(&'static str, String); 29] {
    let (test, published) = (of.test.as_ref(), of.published.as_ref());
    let better = match of.better {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
        Direction::Neither | Direction::HigherIsOut => "",
    };
    let kind = test.map(|test| match test.test {
        TestKind::Wilcoxon => "wilcoxon",
        TestKind::T => "t",
    });
    let verdict = published.and_then(|published| published.verdict).map(Verdict::words);
    let seed = |(seed, value): &(u64, Option<f64>)| format!("{seed}={}", full(*value));
    [
        ("table", table.to_owned()),
        ("dataset", of.at.dataset.clone()),
        ("arm", of.at.arm.clone()),
        ("k", words::votes(of.at.k)),
        ("metric", of.at.metric.clone()),
        ("slice", of.at.slice.clone()),
        ("mean", full(of.mean)),
        ("sd", full(of.sd)),
        ("n", of.n.to_string()),
        ("seeds", of.seeds.len().to_string()),
        ("better", better.to_owned()),
        ("best", of.best.to_string()),
        ("against", test.map(|test| test.against.clone()).unwrap_or_default()),
        ("test", kind.unwrap_or_default().to_owned()),
        ("side", test.map(|test| test.side.name()).unwrap_or_default().to_owned()),
        ("pairs", test.map(|test| test.pairs.to_string()).unwrap_or_default()),
        ("difference", full(test.and_then(|test| test.difference))),
        ("p", full(test.and_then(|test| test.p))),
        ("p_corrected", full(test.and_then(|test| test.corrected))),
        (
            "family",
            test.filter(|test| test.family > 0).map(|t| t.family.to_string()).unwrap_or_default(),
        ),
        ("smallest_p", full(test.and_then(|test| test.smallest))),
        ("published_mean", full(published.map(|published| published.mean))),
        ("published_sd", full(published.and_then(|published| published.sd))),
        (
            "published_n",
            published.and_then(|published| published.n).map(|n| n.to_string()).unwrap_or_default(),
        ),
        (
            "published_source",
            published.map(|published| published.source.clone()).unwrap_or_default(),
        ),
        ("difference_in_sd", full(published.and_then(|published| published.difference))),
        ("welch_p", full(published.and_then(|published| published.p))),
        ("verdict", verdict.unwrap_or_default().to_owned()),
        ("values", of.seeds.iter().map(seed).collect::<Vec<_>>().join(";")),
    ]
}

/// The shortest text that reads back as the same number.
fn full(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        assert_eq!(full(Some(0.1 + 0.2)), "0.30000000000000004");
        assert_eq!((full(None), full(Some(f64::INFINITY))), (String::new(), "inf".into()));
    }
}
