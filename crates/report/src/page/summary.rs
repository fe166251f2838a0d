//! The summary: which arm is best where the table's own test separates it, which claims hold, what is
//! done, what was published.

use std::cmp::Ordering::Equal;
use std::collections::{BTreeMap, BTreeSet};

use dissensus_stats::{Alternative, LEVEL};

use super::escape::html;
use super::numbers;
use crate::book::Book;
use crate::claims::{Judged, Verdict, judge};
use crate::tables::claims::counted;
use crate::tables::words::{ours, p, votes_title};
use crate::tables::{Cell, Number, Table, Tally, Test};

/// Up to so many comparisons are listed one by one; of more, how often each arm is significantly best.
const SAID: usize = 6;

/// A list of the arms with the best means and a paragraph of the rest, already markup.
pub(super) fn summary(book: &Book, tables: &[Table], tally: Option<&Tally>) -> String {
    let first = tables.iter().find(|table| table.numbers().any(|n| n.best));
    let best = first.map_or(String::new(), |table| leading(book, table));
    let best = book.notes.iter().fold(best, |best, note| format!("{best}<p>{}</p>\n", html(note)));
    if let Some(note) = book.scale_note() {
        return format!("<p>{}</p>\n{best}<p>{}</p>\n", html(&note), runs(book));
    }
    let published = tally.map_or(String::new(), |tally| format!(" {}", html(&tally.sentence())));
    format!("{best}{}<p>{}{published}</p>\n", claims(book), runs(book))
}

/// How many claims hold, and which do not, or not wholly.
fn claims(book: &Book) -> String {
    let judged: Vec<_> = book.claims.iter().filter_map(|claim| judge(claim, book).ok()).collect();
    if judged.is_empty() {
        return String::new();
    }
    let less = [Verdict::Fails, Verdict::Partly];
    let less = judged.iter().filter(|one| less.contains(&one.verdict));
    let line = |one: &Judged| format!("<li>{}: {}</li>\n", one.verdict.words(), html(&one.text));
    let mut list: String = less.map(line).collect();
    if !list.is_empty() {
        list = format!("<ul>\n{list}</ul>\n");
    }
    format!("<p>{}</p>\n{list}", html(&counted(&judged)))
}

/// How many runs are done, failed and missing.
fn runs(book: &Book) -> String {
    let done = book.rows.iter().map(|row| &row.run).collect::<BTreeSet<_>>().len();
    let count = |n: usize, of: &str| format!("{n} {of}{}", if n == 1 { "" } else { "s" });
    let (failed, missing) = (book.failed.len(), book.missing);
    if done + failed + missing == 0 {
        return "No run is done yet.".to_owned();
    }
    let mut text = match (done, failed, missing) {
        (_, 0, 0) => return format!("All {} are done.", count(done, "run")),
        (0, ..) => "No run is done yet".to_owned(),
        (1, ..) => "1 run is done".to_owned(),
        _ => format!("{} are done", count(done, "run")),
    };
    if failed > 0 {
        text.push_str(&format!(", <a href=\"#runs\">{failed} failed</a>"));
    }
    if missing > 0 {
        text.push_str(&format!(", {missing} {} not done", if missing == 1 { "is" } else { "are" }));
    }
    text + "."
}

/// Which arm is best in a table, where its tests separate it, and that none is where they do not.
fn leading(book: &Book, table: &Table) -> String {
    // What arms are compared within: all but the arm.
    let mut groups: BTreeMap<_, Vec<&Number>> = BTreeMap::new();
    let mut order = Vec::new();
    let columns = table.lines.iter().map(|line| line.cells.len()).max().unwrap_or(0);
    // Column by column, as the table is read.
    let cells = (0..columns).flat_map(|at| table.lines.iter().map(move |line| line.cells.get(at)));
    for number in cells.flatten().filter_map(Cell::number) {
        let at = &number.at;
        groups.entry((&at.metric, &at.dataset, at.k, &at.slice)).or_default().push(number);
        let key = (&at.metric, &at.dataset, at.k, &at.slice);
        if number.best && !order.contains(&key) {
            order.push(key);
        }
    }
    groups.retain(|key, _| order.contains(key));
    let arm = |name: &str| {
        let titled = book.arms.iter().find(|arm| arm.name == name);
        format!("<strong>{}</strong>", html(titled.map_or(name, |arm| &arm.title)))
    };
    if order.len() > SAID {
        let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
        let mut tested = 0;
        for group in groups.values() {
            let Some(found) = significance(group) else { continue };
            tested += 1;
            for number in group.iter().filter(|number| number.best && found.significant) {
                *wins.entry(&number.at.arm).or_default() += 1;
            }
        }
        let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
        wins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let each: Vec<String> =
            wins.iter().map(|(name, count)| format!("{} in {count}", arm(name))).collect();
        let (all, title) = (order.len(), html(&table.title));
        let said = match (tested, each.is_empty()) {
            (0, _) => "the table has no test of these differences".to_owned(),
            (_, true) => "no difference is significant".to_owned(),
            (_, false) => format!("significantly best: {}; no other is", each.join(", ")),
        };
        return format!("<p>{all} comparisons in “{title}”: {said}.</p>\n");
    }
    let several = |of: fn(&Number) -> String| {
        groups.values().flatten().map(|n| of(n)).collect::<BTreeSet<_>>().len() > 1
    };
    let datasets = several(|n| n.at.dataset.clone());
    let votes = several(|n| format!("{:?}", n.at.k));
    let slices = several(|n| n.at.slice.clone());
    let sentences = order.iter().map(|key| {
        let group = &groups[key];
        let (metric, dataset, k, slice) = *key;
        let known = book.metrics.iter().find(|m| m.name == *metric);
        let mut of = html(known.map_or(metric, |m| &m.title));
        if let Some((_, words)) = known.and_then(|m| numbers::direction(m.better)) {
            of.push_str(&format!(" ({words})"));
        }
        if datasets {
            let titled = book.datasets.iter().find(|d| d.name == *dataset);
            of.push_str(&format!(" on {}", html(titled.map_or(dataset, |d| &d.title))));
        }
        if votes {
            of.push_str(&format!(" with {}", votes_title(k)));
        }
        if slices {
            of.push_str(&format!(", {}", html(slice)));
        }
        let best = || group.iter().filter(|number| number.best);
        let names: Vec<String> = best().map(|n| arm(&n.at.arm)).collect();
        let has = if names.len() == 1 { "has" } else { "have" };
        let value = best().next().map_or(String::new(), |n| format!("{} (n = {})", ours(n), n.n));
        let (names, value) = (names.join(" and "), html(&value));
        match significance(group) {
            Some(found) if found.significant => {
                let (other, p) = (arm(&found.other), html(&p(found.p)));
                format!(
                    "<li>{names} {has} the best mean {of}: {value}; significantly different from \
                     {other} ({p})</li>\n"
                )
            }
            Some(found) => {
                let (other, p) = (arm(&found.other), html(&found.words()));
                format!(
                    "<li>{of}: no significant difference between {names}, {value}, and {other} \
                     ({p})</li>\n"
                )
            }
            None => format!("<li>{of}: {names}, {value}; the table has no test of it</li>\n"),
        }
    });
    format!("<ul>\n{}</ul>\n", sentences.collect::<String>())
}

/// What the tests of a table say about the arm with the best mean.
struct Significance {
    other: String,
    p: f64,
    significant: bool,
    /// The smallest p that the test can give, and the seeds that it compares.
    smallest: Option<f64>,
    pairs: usize,
}

impl Significance {
    /// p, and the smallest that was possible where that is not significant either.
    fn words(&self) -> String {
        match self.smallest {
            Some(smallest) if smallest >= LEVEL => {
                format!(
                    "{}; smallest possible {} with {} seeds",
                    p(self.p),
                    p(smallest),
                    self.pairs
                )
            }
            _ => p(self.p),
        }
    }
}

/// The test between the best arm and the arm that others are tested against; where that arm is
/// itself the best, the two-sided test with the largest p. `None` where there is no such test, or
/// where several arms are best.
fn significance(group: &[&Number]) -> Option<Significance> {
    let mut best = group.iter().filter(|number| number.best);
    let (Some(first), None) = (best.next(), best.next()) else { return None };
    let p = |test: &Test| test.corrected.or(test.p);
    let (other, test) = match &first.test {
        Some(test) => (test.against.clone(), test),
        None => {
            let tested = group.iter().filter_map(|number| Some((number, number.test.as_ref()?)));
            let against = tested.filter(|(_, test)| {
                test.against == first.at.arm && test.side == Alternative::TwoSided
            });
            let with_p = against.filter(|(_, test)| p(test).is_some());
            let largest = with_p.max_by(|a, b| p(a.1).partial_cmp(&p(b.1)).unwrap_or(Equal))?;
            (largest.0.at.arm.clone(), largest.1)
        }
    };
    let (p, smallest, pairs) = (p(test)?, test.smallest, test.pairs);
    Some(Significance { other, p, significant: p < LEVEL, smallest, pairs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{Direction, Metric};
    use crate::tables::{CellKey, Head, Line, TestKind};

    /// Two arms; the second is better by this p.
    fn said(p: f64, smallest: f64) -> String {
        let number = |arm: &str, mean: f64, test: Option<Test>| Number {
            at: CellKey { arm: arm.into(), metric: "kl".into(), ..CellKey::default() },
            mean: Some(mean),
            n: 3,
            digits: 2,
            better: Direction::Lower,
            best: test.is_some(),
            test,
            ..Number::default()
        };
        let test = Test {
            against: "soft".into(),
            test: TestKind::Wilcoxon,
            side: Alternative::TwoSided,
            pairs: 3,
            difference: Some(-0.5),
            p: Some(p),
            undefined: None,
            corrected: None,
            family: 1,
            smallest: Some(smallest),
            exact: true,
        };
        let line = |number| Line {
            heads: vec![Head::default()],
            cells: vec![Cell::Number(Box::new(number))],
        };
        let lines = vec![line(number("soft", 1.0, None)), line(number("sls", 0.5, Some(test)))];
        let metric = Metric { name: "kl".into(), title: "KL".into(), ..Metric::default() };
        let book = Book { metrics: vec![metric], ..Book::default() };
        leading(&book, &Table { lines, ..Table::default() })
    }

    #[test]
    fn an_arm_is_best_only_where_the_test_separates_it() {
        let separated = said(0.01, 0.001);
        assert!(separated.contains("<strong>sls</strong> has the best mean KL"), "{separated}");
        let open = said(0.5, 0.25);
        assert!(!open.contains("best"), "{open}");
        assert!(open.contains("no significant difference between <strong>sls</strong>"), "{open}");
        assert!(open.contains("smallest possible p = 0.250 with 3 seeds"), "{open}");
        assert!(!said(0.5, 0.001).contains("smallest"));
    }
}
