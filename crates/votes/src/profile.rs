//! What the columns of a table hold: the facts that speak for and against a role.

use std::collections::{HashMap, HashSet};

use dissensus_io::{Row, cell_text, shorten};
use serde_json::Value;

use crate::names;

/// Stands for an empty cell.
const NONE: u32 = u32::MAX;
/// Items with several votes below which nothing can be said about what is constant within them.
const ENOUGH: usize = 4;

/// Where a smaller share of rows has a pair of item and annotator for the first time, a row is more than a vote.
pub(crate) const REPEATED: f64 = 0.8;

/// The columns of a table as numbers of different values.
pub(crate) struct Profile {
    /// How many rows there are.
    pub(crate) rows: usize,
    columns: Vec<Column>,
}

/// One column.
struct Column {
    name: String,
    codes: Vec<u32>,
    /// The different values, and how often each is there.
    values: Vec<(String, usize)>,
    lists: usize,
}

impl Profile {
    /// The profile of these rows.
    pub(crate) fn of<'r>(names: &[String], rows: impl Iterator<Item = &'r Row>) -> Self {
        let mut columns: Vec<Column> = names
            .iter()
            .map(|name| Column {
                name: name.clone(),
                codes: Vec::new(),
                values: Vec::new(),
                lists: 0,
            })
            .collect();
        let mut seen: Vec<HashMap<String, u32>> = vec![HashMap::new(); names.len()];
        let mut count = 0;
        for row in rows {
            count += 1;
            for (c, (column, seen)) in columns.iter_mut().zip(&mut seen).enumerate() {
                let cell = row.cell(c);
                column.lists += usize::from(is_list(cell));
                let text = cell_text(cell).unwrap_or_default();
                let text = text.trim();
                let code = match text {
                    "" | "NaN" | "nan" => NONE,
                    text => match seen.get(text) {
                        Some(&code) => code,
                        None => {
                            let code = column.values.len() as u32;
                            seen.insert(text.to_owned(), code);
                            column.values.push((text.to_owned(), 0));
                            code
                        }
                    },
                };
                if let Some(value) = column.values.get_mut(code as usize) {
                    value.1 += 1;
                }
                column.codes.push(code);
            }
        }
        Self { rows: count, columns }
    }

    /// The numbers of all columns.
    pub(crate) fn all(&self) -> std::ops::Range<usize> {
        0..self.columns.len()
    }

    /// The name of a column.
    pub(crate) fn name(&self, c: usize) -> &str {
        &self.columns[c].name
    }

    /// How many different values a column has.
    pub(crate) fn distinct(&self, c: usize) -> usize {
        self.columns[c].values.len()
    }

    /// How many cells are not empty.
    pub(crate) fn filled(&self, c: usize) -> usize {
        self.columns[c].values.iter().map(|(_, n)| n).sum()
    }

    /// The different values.
    pub(crate) fn values(&self, c: usize) -> impl Iterator<Item = &str> + Clone {
        self.columns[c].values.iter().map(|(value, _)| value.as_str())
    }

    /// Whether some cell is empty.
    pub(crate) fn has_gaps(&self, c: usize) -> bool {
        self.filled(c) < self.rows
    }

    /// Whether rows differ in a column: an empty cell is a value, too.
    pub(crate) fn differs(&self, c: usize) -> bool {
        self.distinct(c) + usize::from(self.has_gaps(c)) > 1
    }

    /// Whether every row has a value of its own.
    pub(crate) fn is_unique(&self, c: usize) -> bool {
        self.rows > 1 && self.distinct(c) == self.rows
    }

    /// Whether all values are numbers.
    pub(crate) fn is_numeric(&self, c: usize) -> bool {
        self.distinct(c) > 0 && self.values(c).all(|value| value.parse::<f64>().is_ok())
    }

    /// Whether all values are whole numbers from 0.
    pub(crate) fn is_counts(&self, c: usize) -> bool {
        let count = |value: &str| value.parse::<f64>().is_ok_and(|v| v >= 0.0 && v.fract() == 0.0);
        self.distinct(c) > 0 && self.values(c).all(count)
    }

    /// Whether some value is a number with a fraction.
    pub(crate) fn has_fractions(&self, c: usize) -> bool {
        self.is_numeric(c)
            && self.values(c).any(|value| value.parse::<f64>().is_ok_and(|v| v.fract() != 0.0))
    }

    /// Whether all values are 0 and 1, or true and false.
    pub(crate) fn is_binary(&self, c: usize) -> bool {
        let flag = |v: &str| {
            matches!(v.to_ascii_lowercase().as_str(), "0" | "1" | "0.0" | "1.0" | "true" | "false")
        };
        self.distinct(c) > 0 && self.distinct(c) <= 2 && self.values(c).all(flag)
    }

    /// Whether cells hold lists.
    pub(crate) fn has_lists(&self, c: usize) -> bool {
        self.columns[c].lists * 2 > self.filled(c)
    }

    /// Whether several columns of lists have as many entries in every row, or a list names something twice: such lists
    /// are no sets of labels.
    pub(crate) fn has_lists_of_one_length(&self) -> bool {
        let lists: Vec<usize> = self.all().filter(|&c| self.has_lists(c)).collect();
        let list = |c: usize, row: usize| {
            self.text(c, row)
                .and_then(|text| dissensus_io::python::list(text).ok())
                .unwrap_or_default()
        };
        let rows = || 0..self.rows.min(1000);
        let same = |a: usize, b: usize| rows().all(|row| list(a, row).len() == list(b, row).len());
        let varies = |c: usize| rows().any(|row| list(c, row).len() > 1);
        let twice = |c: usize| {
            rows().any(|row| {
                let list = list(c, row);
                (1..list.len()).any(|at| list[..at].contains(&list[at]))
            })
        };
        lists.iter().any(|&c| twice(c))
            || lists
                .iter()
                .enumerate()
                .any(|(i, &a)| lists[i + 1..].iter().any(|&b| varies(a) && same(a, b)))
    }

    /// Whether cells hold objects, or lists of them.
    pub(crate) fn has_objects(&self, c: usize) -> bool {
        self.values(c).take(20).any(|value| value.starts_with("[{") || value.starts_with('{'))
    }

    /// Whether a column holds sentences: a text is never a vote.
    pub(crate) fn is_text(&self, c: usize) -> bool {
        let (mut words, mut letters) = (0, 0);
        for value in self.values(c) {
            words += value.split_whitespace().count();
            letters += value.chars().count();
        }
        let n = self.distinct(c);
        n > 0 && (words > 4 * n || letters > 40 * n) && n * 4 > self.filled(c)
    }

    /// The text of a cell that is not empty.
    pub(crate) fn text(&self, c: usize, row: usize) -> Option<&str> {
        let code = *self.columns[c].codes.get(row)?;
        self.columns[c].values.get(code as usize).map(|(value, _)| value.as_str())
    }

    /// A value as a number.
    fn number(&self, c: usize, row: usize) -> Option<f64> {
        self.text(c, row)?.parse().ok()
    }

    /// Groups (by the values of `by`) that have several values of `c`, and how many of them have one only.
    fn within(&self, c: usize, by: usize) -> (usize, usize) {
        // First value, how many, whether all the same.
        let mut groups: HashMap<u32, (u32, usize, bool)> = HashMap::new();
        for (&group, &value) in self.columns[by].codes.iter().zip(&self.columns[c].codes) {
            if group == NONE || value == NONE {
                continue;
            }
            let known = groups.entry(group).or_insert((value, 0, true));
            known.1 += 1;
            known.2 &= known.0 == value;
        }
        let several = groups.values().filter(|(_, n, _)| *n > 1);
        (several.clone().count(), several.filter(|(.., same)| *same).count())
    }

    /// Whether a column has one value only within every group that has several, of which there are enough.
    pub(crate) fn constant_within(&self, c: usize, by: usize) -> bool {
        let (several, constant) = self.within(c, by);
        several >= ENOUGH && several == constant && self.distinct(c) > 1
    }

    /// Whether a column has several values within some group.
    pub(crate) fn varies_within(&self, c: usize, by: usize) -> bool {
        let (several, constant) = self.within(c, by);
        constant < several
    }

    /// Whether two columns tell the same rows apart.
    pub(crate) fn same_partition(&self, a: usize, b: usize) -> bool {
        let (mut forth, mut back) = (HashMap::new(), HashMap::new());
        self.columns[a].codes.iter().zip(&self.columns[b].codes).all(|(&x, &y)| {
            x == NONE
                || y == NONE
                || (*forth.entry(x).or_insert(y) == y && *back.entry(y).or_insert(x) == x)
        })
    }

    /// How many different pairs of values there are in rows that have both.
    pub(crate) fn distinct_pairs(&self, a: usize, b: usize) -> usize {
        let pairs = self.columns[a].codes.iter().zip(&self.columns[b].codes);
        pairs.filter(|(a, b)| **a != NONE && **b != NONE).collect::<HashSet<_>>().len()
    }

    /// The share of rows whose pair of values is seen for the first time.
    pub(crate) fn new_pairs(&self, a: usize, b: usize) -> f64 {
        let pairs: HashSet<(u32, u32)> = self.columns[a]
            .codes
            .iter()
            .copied()
            .zip(self.columns[b].codes.iter().copied())
            .collect();
        pairs.len() as f64 / self.rows.max(1) as f64
    }

    /// How often every value of a column is there, where all are as often.
    pub(crate) fn same_frequencies(&self, c: usize) -> Option<usize> {
        let mut counts = self.columns[c].values.iter().map(|(_, n)| *n);
        let first = counts.next()?;
        counts.all(|n| n == first).then_some(first)
    }

    /// Whether a column numbers the rows.
    pub(crate) fn is_row_number(&self, c: usize) -> bool {
        let first = self.number(c, 0).unwrap_or(-1.0);
        (first == 0.0 || first == 1.0)
            && (0..self.rows).all(|row| self.number(c, row) == Some(first + row as f64))
    }

    /// Whether a column is the share that another one has of the sum of several, as a fraction or in percent.
    pub(crate) fn is_share(&self, c: usize, part: usize, of: &[usize]) -> bool {
        let (mut rows, mut differ) = (0, false);
        let decimals = self.decimals(c);
        let fits = |row: usize, whole: f64| {
            let sum: Option<f64> = of.iter().map(|&c| self.number(c, row)).sum();
            let (Some(sum), Some(part), Some(said)) =
                (sum, self.number(part, row), self.number(c, row))
            else {
                return false;
            };
            sum > 0.0 && (whole * part / sum - said).abs() <= 0.51 * 0.1f64.powi(decimals)
        };
        for row in 0..self.rows {
            rows += 1;
            differ |= self.number(c, row) != self.number(c, 0);
        }
        rows > 3
            && differ
            && [1.0, 100.0].into_iter().any(|whole| (0..self.rows).all(|row| fits(row, whole)))
    }

    /// The share of rows whose combination of values in these columns is seen for the first time.
    pub(crate) fn new_tuples(&self, of: &[usize]) -> f64 {
        let tuple =
            |row: usize| of.iter().map(|&c| self.columns[c].codes[row]).collect::<Vec<u32>>();
        let tuples: HashSet<Vec<u32>> = (0..self.rows).map(tuple).collect();
        tuples.len() as f64 / self.rows.max(1) as f64
    }

    /// The share of groups (by the values of `by`) with several rows that have several values of `c`.
    pub(crate) fn varying_share(&self, c: usize, by: usize) -> f64 {
        let (several, constant) = self.within(c, by);
        (several - constant) as f64 / several.max(1) as f64
    }

    /// Whether a column is constant within every combination of two others.
    pub(crate) fn constant_within_both(&self, c: usize, by: [usize; 2]) -> bool {
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let [a, b] = by.map(|by| &self.columns[by].codes);
        let own = &self.columns[c].codes;
        (0..self.rows).all(|row| *known.entry((a[row], b[row])).or_insert(own[row]) == own[row])
    }

    /// Whether a column is, in every row that has it, the mean or the median of the numbers of others, rounded in some
    /// way; they are numbers with something to differ in.
    pub(crate) fn is_mean(&self, c: usize, of: &[usize]) -> bool {
        let (mut rows, mut differ) = (0, false);
        let fits = (0..self.rows).all(|row| {
            let mut values: Vec<f64> = of.iter().filter_map(|&c| self.number(c, row)).collect();
            let Some(said) = self.number(c, row).filter(|_| !values.is_empty()) else {
                return true;
            };
            values.sort_by(f64::total_cmp);
            let n = values.len();
            let mean = values.iter().sum::<f64>() / n as f64;
            let median = (values[n / 2] + values[(n - 1) / 2]) / 2.0;
            rows += 1;
            differ |= values[0] < values[n - 1];
            let decimals = self.decimals(c);
            let off = |value: f64| (value - said).abs() <= 0.5 * 0.1f64.powi(decimals) + 1e-9;
            off(mean) || off(median)
        });
        fits && rows > 3 && differ && of.len() > 1
    }

    /// Digits behind the point, at the most.
    fn decimals(&self, c: usize) -> i32 {
        let digits =
            |value: &str| value.rsplit_once('.').map_or(0, |(_, digits)| digits.len() as i32);
        self.values(c).map(digits).max().unwrap_or(0).min(6)
    }

    /// Whether a column is, in (nearly) every row, one of the most frequent values of others.
    pub(crate) fn is_mode(&self, c: usize, of: &[usize]) -> bool {
        let value = |c: usize, row: usize| {
            let code = self.columns[c].codes[row];
            self.columns[c].values.get(code as usize).map(|(value, _)| value.as_str())
        };
        let (mut rows, mut fit, mut differ) = (0, 0, false);
        for row in 0..self.rows {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            of.iter()
                .filter_map(|&c| value(c, row))
                .for_each(|v| *counts.entry(v).or_default() += 1);
            let (Some(said), Some(&most)) = (value(c, row), counts.values().max()) else {
                continue;
            };
            rows += 1;
            differ |= counts.len() > 1;
            fit += usize::from(counts.get(said) == Some(&most));
        }
        rows > 3 && differ && of.len() > 2 && fit * 20 >= rows * 19
    }

    /// Whether a column is the sum of others in every row.
    pub(crate) fn is_sum(&self, c: usize, of: &[usize]) -> bool {
        self.rows > 0
            && !of.is_empty()
            && (0..self.rows).all(|row| {
                let sum: Option<f64> = of.iter().map(|&c| self.number(c, row)).sum();
                sum.zip(self.number(c, row)).is_some_and(|(sum, total)| (sum - total).abs() < 1e-6)
            })
    }

    /// Whether every row of these columns has the ranks 1, 2, … in some order, or 0, 1, ….
    fn are_ranks(&self, of: &[usize]) -> bool {
        let ranks = |row: usize| {
            let mut values: Vec<f64> = of.iter().filter_map(|&c| self.number(c, row)).collect();
            values.sort_by(f64::total_cmp);
            let first = values.first().copied().unwrap_or(-1.0);
            values.len() == of.len()
                && (first == 0.0 || first == 1.0)
                && values.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
        };
        of.len() > 2 && (0..self.rows).all(ranks)
    }

    /// Whether all rows of these columns have the same sum, whatever it is.
    pub(crate) fn one_sum(&self, of: &[usize]) -> bool {
        let sum = |row: usize| of.iter().map(|&c| self.number(c, row)).sum::<Option<f64>>();
        self.rows > 1 && sum(0).is_some() && (1..self.rows).all(|row| sum(row) == sum(0))
    }

    /// Whether a column has one number everywhere, which is not 0.
    pub(crate) fn is_constant(&self, c: usize) -> bool {
        const ENOUGH: usize = 8;
        self.rows >= ENOUGH
            && self.distinct(c) == 1
            && !self.has_gaps(c)
            && self.number(c, 0) != Some(0.0)
    }

    /// Whether all rows of these columns have the same sum, above 1, as counts of votes have. Percentages and
    /// ranks have one, too.
    pub(crate) fn same_sums(&self, of: &[usize]) -> bool {
        let sum = |row: usize| of.iter().map(|&c| self.number(c, row)).sum::<Option<f64>>();
        let Some(first) = (0..self.rows.min(1)).find_map(sum) else { return false };
        // The last row may be the sum of all others.
        let above =
            |c: usize| (0..self.rows - 1).map(|row| self.number(c, row)).sum::<Option<f64>>();
        let margin = self.rows > 3 && of.iter().all(|&c| above(c) == self.number(c, self.rows - 1));
        let rows = self.rows - usize::from(margin);
        first > 1.0
            && first != 100.0
            && (1..rows).all(|row| sum(row) == Some(first))
            && !self.are_ranks(of)
    }

    /// Whether a column is, in every row, the number or name of the largest of others (numbered from 0 or 1).
    pub(crate) fn is_largest(&self, c: usize, of: &[usize]) -> bool {
        let fits = |row: usize, from: f64| {
            let values: Option<Vec<f64>> = of.iter().map(|&c| self.number(c, row)).collect();
            let Some(values) = values else { return false };
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            let code = self.columns[c].codes[row];
            let Some((text, _)) = self.columns[c].values.get(code as usize) else { return false };
            let named = of.iter().zip(&values).any(|(&o, &v)| {
                v == most && names::plain(self.name(o)).ends_with(&names::plain(text))
            });
            named
                || text.parse::<f64>().is_ok_and(|n| {
                    let place = n - from;
                    place >= 0.0 && values.get(place as usize) == Some(&most)
                })
        };
        self.rows > 1
            && [0.0, 1.0].into_iter().any(|from| (0..self.rows).all(|row| fits(row, from)))
    }

    /// Rows in which so many of the columns are 1 or true.
    pub(crate) fn flags(&self, of: &[usize], row: usize) -> usize {
        let set = |&&c: &&usize| {
            let code = self.columns[c].codes[row];
            let value = self.columns[c].values.get(code as usize).map_or("", |(v, _)| v.as_str());
            matches!(value.to_ascii_lowercase().as_str(), "1" | "1.0" | "true")
        };
        of.iter().filter(set).count()
    }

    /// The columns that answer a question about the item, where a row has an item and an annotator: few values that
    /// differ within items and within annotators.
    pub(crate) fn answers(&self, item: usize, who: usize) -> Vec<usize> {
        let answer = |&c: &usize| {
            let name = self.name(c);
            c != item
                && c != who
                && !names::derived(name)
                && !names::about(name)
                && !names::annotator(name)
                && !self.is_text(c)
                && !self.has_lists(c)
                && (2..=20).contains(&self.distinct(c))
                && self.filled(c) >= 2 * self.distinct(c)
                && self.filled(c) * 2 > self.rows
                && !(self.is_numeric(c) && self.distinct(c) > 12)
                && self.varies_within(c, item)
                && !self.constant_within(c, who)
        };
        self.all().filter(answer).collect()
    }

    /// Whether two columns have half of their values in common.
    pub(crate) fn alike(&self, a: usize, b: usize) -> bool {
        let values = |c: usize| self.values(c).map(str::to_lowercase).collect::<HashSet<String>>();
        let (a, b) = (values(a), values(b));
        a.intersection(&b).count() * 2 >= a.len().min(b.len())
    }

    /// One line per column: different values, examples, what it is constant within, what it looks like.
    pub(crate) fn lines(&self, item: Option<usize>, annotator: Option<usize>) -> Vec<String> {
        const MOST: usize = 24;
        let mut lines: Vec<String> =
            self.all().take(MOST).map(|c| self.line(c, item, annotator)).collect();
        if self.columns.len() > MOST {
            lines.push(format!("… and {} more columns", self.columns.len() - MOST));
        }
        lines
    }

    fn line(&self, c: usize, item: Option<usize>, annotator: Option<usize>) -> String {
        let mut values: Vec<&(String, usize)> = self.columns[c].values.iter().collect();
        values.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let shown: Vec<String> =
            values.iter().take(3).map(|(v, _)| format!("{:?}", cut(v))).collect();
        let more = if values.len() > 3 { ", …" } else { "" };
        let mut facts = vec![match self.distinct(c) {
            0 => "empty".to_owned(),
            1 => "one value".to_owned(),
            n if self.is_unique(c) => format!("{n} values, all different"),
            n => format!("{n} values"),
        }];
        for (by, what) in [(item, "item"), (annotator, "annotator")] {
            if let Some(by) = by.filter(|&by| by != c && self.constant_within(c, by)) {
                facts.push(format!("constant within {what} ({:?})", self.name(by)));
            }
        }
        if let Some(like) = self.looks_like(c) {
            facts.push(format!("looks like {like}"));
        }
        let name = self.name(c);
        let name =
            if name.is_empty() { "(no name)".to_owned() } else { format!("{:?}", shorten(name)) };
        let values =
            if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) };
        format!("{name}: {}{values}", facts.join("; "))
    }

    fn looks_like(&self, c: usize) -> Option<&'static str> {
        let n = self.distinct(c);
        Some(if n == 0 {
            return None;
        } else if self.has_lists(c) {
            "lists"
        } else if self.is_text(c) {
            "texts"
        } else if self.has_fractions(c) {
            "numbers with fractions"
        } else if self.is_unique(c) {
            "ids"
        } else if n > 1 && n <= 20 && self.filled(c) >= 2 * n {
            "classes"
        } else if self.is_numeric(c) {
            "numbers"
        } else {
            return None;
        })
    }
}

/// A value that fits into a line.
fn cut(value: &str) -> String {
    match value.char_indices().nth(24) {
        Some((at, _)) => format!("{}…", &value[..at]),
        None => value.to_owned(),
    }
}

/// Whether a cell is a list, or the text of one.
fn is_list(cell: &Value) -> bool {
    match cell {
        Value::Array(_) => true,
        Value::String(text) => {
            let text = text.trim();
            text.starts_with('[') && text.ends_with(']') && dissensus_io::python::list(text).is_ok()
        }
        _ => false,
    }
}
