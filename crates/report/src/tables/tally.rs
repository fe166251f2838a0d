//! How many cells come near what was published, over all tables.

use std::collections::HashSet;

use super::published::Beside;
use super::table::{Head, Table, Verdict};
use super::words;
use dissensus_stats::LEVEL;

/// How many of the cells outside are named.
const NAMED: usize = 6;

/// From how many tests on it is said how many of them tell means apart.
const MANY: usize = 10;

/// Counts of cells that stand beside a published value. A result that stands in several tables
/// counts once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Cells with a result of ours, and a published mean and standard deviation.
    pub compared: usize,
    /// Of these, at most one published standard deviation away.
    pub within_1_sd: usize,
    /// Of these, at most two; those within one are counted too.
    pub within_2_sd: usize,
    /// The others in a few words: the cell, both values, and the difference.
    pub outside: Vec<String>,
    /// Of those compared, the ones that Welch's t test can tell apart or not: spreads and numbers of
    /// seeds of both are known.
    pub tested: usize,
    /// Of these, those with p below 0.05.
    pub told_apart: usize,
    /// Cells with a result of ours whose published mean has no standard deviation.
    pub without_sd: usize,
    /// Cells with a published value and no result of ours yet.
    pub waiting: usize,
}

impl Tally {
    /// Counts over tables; `None` where none of them has a published value.
    pub fn of(tables: &[Table]) -> Option<Self> {
        let mut tally = Self::default();
        let mut seen = HashSet::new();
        for table in tables {
            for cell in table.published() {
                if !seen.insert(&cell.ours.at) {
                    continue;
                }
                match cell.published.verdict {
                    None => tally.waiting += 1,
                    Some(Verdict::NoSd) => tally.without_sd += 1,
                    Some(verdict) => {
                        tally.compared += 1;
                        let one = verdict == Verdict::Within1Sd;
                        let two = one || verdict == Verdict::Within2Sd;
                        tally.within_1_sd += usize::from(one);
                        tally.within_2_sd += usize::from(two);
                        tally.tested += usize::from(cell.published.p.is_some());
                        tally.told_apart +=
                            usize::from(cell.published.p.is_some_and(|p| p < LEVEL));
                    }
                }
                if cell.published.verdict == Some(Verdict::Outside) {
                    tally.outside.push(outside(&table.name, &cell));
                }
            }
        }
        (!seen.is_empty()).then_some(tally)
    }

    /// The cells outside in words: the first of them, and how many more there are.
    pub fn outside_words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.outside.iter().take(NAMED).cloned().collect();
        if self.outside.len() > NAMED {
            words.push(format!("and {} more", self.outside.len() - NAMED));
        }
        words
    }

    /// All of it in a few sentences of plain text.
    pub fn sentence(&self) -> String {
        let cells = |n: usize| words::count(std::iter::once(n), "cell");
        let mut parts = Vec::new();
        if self.compared > 0 {
            let have = if self.compared == 1 { "has" } else { "have" };
            parts.push(format!(
                "{} {have} a published mean and sd: {} within 1 sd, {} within 2 sd, {} \
                 outside.",
                cells(self.compared),
                self.within_1_sd,
                self.within_2_sd,
                self.outside.len(),
            ));
        }
        if !self.outside.is_empty() {
            parts.push(format!("Outside: {}.", self.outside_words().join("; ")));
        }
        // A few cells say nothing of how many differ.
        if self.tested >= MANY {
            let chance = self.tested as f64 * LEVEL;
            parts.push(format!(
                "By Welch’s t test, {} of {} means differ from the published one with p below \
                 {LEVEL}; chance alone would give {}.",
                self.told_apart,
                self.tested,
                words::number(chance, usize::from(chance < 10.0)),
            ));
        }
        if self.without_sd > 0 {
            parts.push(format!("For {}, no sd was published.", cells(self.without_sd)));
        }
        if self.waiting > 0 {
            parts.push(format!(
                "For {} with a published value, there is no result of ours yet.",
                cells(self.waiting)
            ));
        }
        parts.join(" ")
    }
}

/// A cell more than two published standard deviations away, in words.
fn outside(table: &str, Beside { line, column, ours, published }: &Beside<'_>) -> String {
    let titles = |heads: &[&Head]| {
        heads.iter().map(|head| head.title.as_str()).collect::<Vec<_>>().join(" · ")
    };
    format!(
        "{} · {} (table {table}: ours {}, published {}, {} sd)",
        titles(line),
        titles(column),
        words::number(ours.mean.unwrap_or_default(), ours.digits),
        words::spread(Some(published.mean), published.sd, ours.digits),
        words::difference(published.difference),
    )
}
