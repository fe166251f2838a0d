//! The summary: which arms have the best means by a significant test, which claims hold, what is
//! done, what was published.

use std::collections::{BTreeMap, BTreeSet};

use super::escape::{html, prose};
use super::numbers;
use crate::book::Book;
use crate::claims::{Judged, Verdict, judge};
use crate::tables::claims::counted;
use crate::tables::paired::Lead;
use crate::tables::words::{ours, p, votes_title};
use crate::tables::{Cell, Number, Table, Tally};

/// Up to so many comparisons are listed one by one; of more, how often each arm is the best.
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
    let line = |one: &Judged| format!("<li>{}: {}</li>\n", one.verdict.words(), prose(&one.text));
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

/// Which arms have the best means of a table, as far as its own tests tell them from the others.
fn leading(book: &Book, table: &Table) -> String {
    // What arms are compared within: all but the arm.
    let mut groups: BTreeMap<_, Vec<&Number>> = BTreeMap::new();
    let mut order = Vec::new();
    let columns = table.lines.iter().map(|line| line.cells.len()).max().unwrap_or(0);
    // Column by column, as the table is read.
    let cells = (0..columns).flat_map(|at| table.lines.iter().map(move |line| line.cells.get(at)));
    for number in cells.flatten().filter_map(Cell::number) {
        let at = &number.at;
        let key = (&at.metric, &at.dataset, at.k, &at.slice);
        groups.entry(key).or_default().push(number);
        if number.best && !order.contains(&key) {
            order.push(key);
        }
    }
    groups.retain(|key, _| order.contains(key));
    let (all, title) = (order.len(), html(&table.title));
    let leads: Vec<_> = order.iter().map(|key| Lead::of(&groups[key])).collect();
    if leads.iter().all(Option::is_none) {
        return format!("<p>“{title}” has no test of the differences between arms.</p>\n");
    }
    let arm = |name: &str| format!("<strong>{}</strong>", html(book.arm_title(name)));
    if all > SAID {
        let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
        for number in groups.values().flatten().filter(|number| number.bold) {
            *wins.entry(&number.at.arm).or_default() += 1;
        }
        let significant: usize = wins.values().sum();
        let limit = leads.iter().flatten().next().map_or(String::new(), |lead| html(&lead.limit()));
        if significant == 0 {
            return format!(
                "<p>No significant difference in any of {all} comparisons of “{title}”{limit}.</p>\n"
            );
        }
        let tested = groups.values().flatten().find_map(|number| number.test.as_ref());
        let against = tested.map_or("", |test| test.against.as_str());
        let from = match wins.contains_key(against) {
            true => format!("{}, or, where that is the best, from all others", arm(against)),
            false => arm(against),
        };
        let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
        wins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let each = wins.iter().map(|(name, count)| format!("{} in {count}", arm(name)));
        return format!(
            "<p>In {significant} of {all} comparisons of “{title}” the best mean differs significantly from \
             {from}: {}. In the others no difference is significant{limit}, or there is no test over the \
             same seeds.</p>\n",
            each.collect::<Vec<_>>().join(", ")
        );
    }
    let several = |of: fn(&Number) -> String| {
        groups.values().flatten().map(|n| of(n)).collect::<BTreeSet<_>>().len() > 1
    };
    let datasets = several(|n| n.at.dataset.clone());
    let votes = several(|n| format!("{:?}", n.at.k));
    let slices = several(|n| n.at.slice.clone());
    let sentences = order.iter().zip(&leads).map(|(key, lead)| {
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
        let best = groups[key].iter().find(|number| number.best);
        let (Some(lead), Some(best)) = (lead, best) else {
            return format!("<li>{of}: no test of the best mean</li>\n");
        };
        if lead.is_significant() && !best.bold {
            return format!("<li>{of}: not compared, the arms have different seeds</li>\n");
        }
        let value = html(&format!("{} (n = {})", ours(best), best.n));
        let (name, other, p) = (arm(&best.at.arm), arm(lead.other), html(&p(lead.p)));
        match best.bold {
            true => format!(
                "<li>{name} has the best mean {of}: {value}; significantly different from {other} \
                 ({p})</li>\n"
            ),
            false => format!(
                "<li>{of}: no significant difference between {name}, {value}, and {other}: \
                 {p}{}</li>\n",
                html(&lead.limit())
            ),
        }
    });
    format!("<ul>\n{}</ul>\n", sentences.collect::<String>())
}
