//! The summary: which arm has the best mean and whether that is significant, which claims hold,
//! what is done, what was published.

use std::collections::{BTreeMap, BTreeSet};

use dissensus_stats::{Alternative, LEVEL};

use super::escape::html;
use super::numbers;
use crate::book::Book;
use crate::claims::{Judged, Verdict, judge};
use crate::tables::claims::counted;
use crate::tables::words::{ours, p, votes_title};
use crate::tables::{Cell, Number, Table, Tally, Test};

/// Up to so many comparisons are listed one by one; of more, how often each arm has the best mean.
const SAID: usize = 6;

/// A list of the arms with the best means and a paragraph of the rest, already markup.
pub(super) fn summary(book: &Book, tables: &[Table], tally: Option<&Tally>) -> String {
    let first = tables.iter().find(|table| table.numbers().any(|n| n.best));
    let best = first.map_or(String::new(), |table| leading(book, table));
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

/// Which arm has the best mean in a table, and whether its tests call the difference significant.
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
    let arm = |name: &str| format!("<strong>{}</strong>", html(book.arm_title(name)));
    if order.len() > SAID {
        let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
        for number in groups.values().flatten().filter(|number| number.best) {
            *wins.entry(&number.at.arm).or_default() += 1;
        }
        let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
        wins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let each: Vec<String> =
            wins.iter().map(|(name, count)| format!("{} in {count}", arm(name))).collect();
        let (all, title) = (order.len(), html(&table.title));
        let tested = groups.values().filter_map(|group| significance(group)).collect::<Vec<_>>();
        let significant = tested.iter().filter(|found| found.significant).count();
        let tests = match tested.is_empty() {
            true => "the table has no test of these differences".to_owned(),
            false => format!("in {significant} of {all} the difference is significant"),
        };
        let each = each.join(", ");
        return format!("<p>Best mean of {all} comparisons in “{title}”: {each}; {tests}.</p>\n");
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
        let mut of = html(book.metric_title(metric));
        if let Some((_, words)) = book.metric(metric).and_then(|m| numbers::direction(m.better)) {
            of.push_str(&format!(" ({words})"));
        }
        if datasets {
            of.push_str(&format!(" on {}", html(book.dataset_title(dataset))));
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
        let tested = significance(group).map_or(String::new(), |found| {
            let not = if found.significant { "significantly" } else { "not significantly" };
            let other = arm(&found.other);
            format!("; {not} different from {other} ({})", html(&p(found.p)))
        });
        let names = names.join(" and ");
        format!("<li>{names} {has} the best mean {of}: {}{tested}</li>\n", html(&value))
    });
    format!("<ul>\n{}</ul>\n", sentences.collect::<String>())
}

/// What the tests of a table say about the arm with the best mean.
struct Significance {
    other: String,
    p: f64,
    significant: bool,
}

/// The test between the best arm and the arm that others are tested against; where that arm is
/// itself the best, the two-sided test with the largest p. `None` where there is no such test, or
/// where several arms are best.
fn significance(group: &[&Number]) -> Option<Significance> {
    let mut best = group.iter().filter(|number| number.best);
    let (Some(first), None) = (best.next(), best.next()) else { return None };
    let p = |test: &Test| test.corrected.or(test.p);
    let (other, p) = match &first.test {
        Some(test) => (test.against.clone(), p(test)?),
        None => {
            let tested = group.iter().filter_map(|number| Some((number, number.test.as_ref()?)));
            let against = tested.filter(|(_, test)| {
                test.against == first.at.arm && test.side == Alternative::TwoSided
            });
            let with_p = against.filter_map(|(number, test)| Some((&number.at.arm, p(test)?)));
            let (other, p) = with_p.max_by(|a, b| a.1.total_cmp(&b.1))?;
            (other.clone(), p)
        }
    };
    Some(Significance { other, p, significant: p < LEVEL })
}
