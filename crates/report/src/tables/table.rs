//! A prepared table: plain data, with everything that a writer or a page may want of a cell.

use dissensus_stats::Alternative;

use super::spec::{Dimension, TestKind};
use crate::book::Direction;

/// A table, ready to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its file name, and how it is referred to.
    pub name: String,
    /// Its title; its name where the spec gives none.
    pub title: String,
    /// The words that the spec puts below it.
    pub note: String,
    /// What the table says of its own numbers, a sentence or two each: how many seeds, what is
    /// bold, which test and the smallest p that it can give, what was left out.
    pub remarks: Vec<String>,
    /// What the row heads are, one for each of their levels: `Arm`.
    pub corner: Vec<String>,
    /// The column heads, level by level from above; the spans of a level add up to the columns.
    pub heads: Vec<Vec<Head>>,
    /// The lines, from above.
    pub lines: Vec<Line>,
}

/// The head of a column or a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub title: String,
    /// As in the results; a number of votes is `5` or `all`.
    pub name: String,
    /// What it is a value of; `None` for a setting of a grid search.
    pub of: Option<Dimension>,
    /// Which way is better, where it is a metric.
    pub better: Direction,
    /// How many columns (lines) it stands over (beside). 0: the line above has the same head,
    /// whose span covers this one.
    pub span: usize,
}

impl Head {
    /// Over one column, of no dimension.
    pub(super) fn plain(title: impl Into<String>, name: impl Into<String>) -> Self {
        Self { title: title.into(), name: name.into(), span: 1, ..Self::default() }
    }
}

/// A line of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its heads, one for each level.
    pub heads: Vec<Head>,
    /// Its cells, one for each column.
    pub cells: Vec<Cell>,
}

/// What stands in one place of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A result over seeds.
    Number(Box<Number>),
    /// Words, such as a setting's value. Empty where there are none.
    Text(String),
}

impl Cell {
    /// The result, where it is one.
    pub fn number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            Self::Text(_) => None,
        }
    }
}

/// What a result is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    pub dataset: String,
    pub arm: String,
    /// Votes per item in training; `None` for all.
    pub k: Option<u32>,
    pub metric: String,
    /// The slice of items.
    pub slice: String,
}

/// A result over seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Number {
    pub at: CellKey,
    /// Seeds and their values, by seed; `None` where a value is undefined. Empty where there is no
    /// run.
    pub seeds: Vec<(u64, Option<f64>)>,
    /// The mean of the defined values; `None` where there are none.
    pub mean: Option<f64>,
    /// Their sample standard deviation; `None` below two values.
    pub sd: Option<f64>,
    /// How many values are defined.
    pub n: usize,
    /// Digits after the point.
    pub digits: usize,
    pub better: Direction,
    /// Whether it is the best of the arms that stand in the table for this data set, number of
    /// votes, metric and slice.
    pub best: bool,
    /// Whether that mean is bold: the table's own test tells it from the arm that it is tested
    /// against, and all arms have the same seeds.
    pub bold: bool,
    /// The test against another arm, where one was asked for.
    pub test: Option<Test>,
    /// What was published, where something was.
    pub published: Option<Published>,
}

/// A paired test of a cell's arm against another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The other arm.
    pub against: String,
    pub test: TestKind,
    /// Its side, of this arm's value less the other's.
    pub side: Alternative,
    /// The seeds that both have.
    pub pairs: usize,
    /// The mean of this arm's value less the other's over these seeds.
    pub difference: Option<f64>,
    pub p: Option<f64>,
    /// Why there is no p.
    pub undefined: Option<String>,
    /// The p value after Holm's correction, where one was asked for.
    pub corrected: Option<f64>,
    /// Whether p before the correction is shown, too.
    pub raw: bool,
    /// How many tests that correction counts: those of the family that have a p.
    pub family: usize,
    /// The smallest p that so many pairs can give, before a correction; `None` for a test without
    /// a floor.
    pub smallest: Option<f64>,
    /// Whether p is exact; `false` for an approximation and for a t test.
    pub exact: bool,
}

impl Test {
    /// Its p in words, the corrected one where there is one: `p = 0.023`.
    pub fn p_words(&self) -> Option<String> {
        super::words::p_of(self)
    }
}

/// A published value beside ours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// The mean over seeds.
    pub mean: f64,
    /// The standard deviation over seeds, where it is given.
    pub sd: Option<f64>,
    /// How many seeds, where it is given.
    pub n: Option<u32>,
    pub source: String,
    /// Our mean less theirs, in their standard deviations; `None` without either.
    pub difference: Option<f64>,
    /// Two-sided p of Welch's t test of both means; `None` where a spread or a number of seeds is
    /// not known.
    pub p: Option<f64>,
    /// How near ours comes; `None` where there is no result of ours.
    pub verdict: Option<Verdict>,
}

/// How near our mean comes to a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// At most one published standard deviation away.
    Within1Sd,
    /// At most two.
    Within2Sd,
    /// Further away.
    Outside,
    /// No standard deviation was published, or it is 0.
    NoSd,
}

impl Verdict {
    pub fn words(self) -> &'static str {
        match self {
            Self::Within1Sd => "within 1 sd",
            Self::Within2Sd => "within 2 sd",
            Self::Outside => "outside",
            Self::NoSd => "no sd",
        }
    }
}

impl Table {
    /// All results of the table, line by line.
    pub fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.lines.iter().flat_map(|line| line.cells.iter().filter_map(Cell::number))
    }

    /// The heads of a column, from above; empty for a column that is not there.
    pub fn column(&self, at: usize) -> Vec<&Head> {
        let over = |level: &'_ Vec<Head>| -> Option<usize> {
            let mut end = 0;
            level.iter().position(|head| {
                end += head.span;
                at < end
            })
        };
        self.heads.iter().filter_map(|level| level.get(over(level)?)).collect()
    }
}
