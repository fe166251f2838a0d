//! Wide tables: a row an item, a column an annotator, a cell the class that one chose.
//!
//! Tables of rater patterns are read too: there a row is a pattern, and a column `n` says how many
//! items have it.

use std::collections::HashSet;

use serde_json::Value;

use super::columns::{self, Role};
use super::{Format, long};
use crate::collector::Collector;
use crate::options::{ReadOptions, Values};
use dissensus_io::{Problem, ReadError, shorten};
use dissensus_io::{Source, Table, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "wide",
    title: "Wide table: a row an item, a column an annotator",
    layout: "CSV, TSV, JSON Lines or Parquet with columns such as rater_1, rater_2, …",
    trap: "missing votes are empty, NaN or -1: what was taken as missing is printed, `missing` says it",
    detect,
    read,
};

/// Beginnings of column names that are annotators.
const STEMS: [&str; 11] = [
    "annotator",
    "ann",
    "worker",
    "rater",
    "user",
    "coder",
    "judge",
    "labeler",
    "labeller",
    "expert",
    "reviewer",
];
/// A column that says how many items have the row's pattern.
const REPEATS: [&str; 4] = ["n", "freq", "frequency", "count"];

/// `rater_1`, `Ann 12`, `worker-a`: a stem and a short tail.
fn names_annotator(column: &str) -> bool {
    let lower = column.to_lowercase();
    let tail = STEMS.iter().find_map(|stem| lower.strip_prefix(stem));
    tail.map(|t| t.trim_start_matches(['_', '-', ' ', '.', '#'])).is_some_and(|tail| {
        let digits = !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit());
        digits || tail.len() == 1
    })
}

struct Layout {
    item: Option<usize>,
    annotators: Vec<usize>,
    repeats: Option<usize>,
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Layout, Problem> {
    let mut item = columns::find(table, Role::Item, options.item.as_deref())?;
    let named: Vec<usize> = (0..table.columns.len())
        .filter(|&c| names_annotator(&table.columns[c]) && Some(c) != item)
        .collect();
    let annotators = if named.len() >= 2 {
        named
    } else {
        // A column whose values are all different can only be the item.
        item = item.or_else(|| all_different(table, 0).then_some(0));
        (0..table.columns.len()).filter(|&c| Some(c) != item).collect()
    };
    let is_repeats = |c: &usize| REPEATS.contains(&table.columns[*c].to_lowercase().as_str());
    let free = |c: &usize| Some(*c) != item && !annotators.contains(c);
    let repeats = (0..table.columns.len()).find(|c| is_repeats(c) && free(c));
    Ok(Layout { item, annotators, repeats })
}

fn all_different(table: &Table, column: usize) -> bool {
    let mut seen = HashSet::new();
    table.sample.len() > 1
        && table.sample.iter().all(|row| seen.insert(row.cell(column).to_string()))
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    let Ok(layout) = layout(table, options) else {
        return false;
    };
    if let Some(values) = options.values {
        return values == Values::Labels;
    }
    let two = layout.annotators.len() >= 2;
    let named = two && layout.annotators.iter().all(|&c| names_annotator(&table.columns[c]));
    named || (two && cells_are_labels(table, &layout.annotators, &long::missing(options, false)))
}

/// Whether the cells look like labels rather than counts: few different words, or whole numbers
/// with gaps.
fn cells_are_labels(table: &Table, annotators: &[usize], missing: &HashSet<String>) -> bool {
    let mut labels = HashSet::new();
    let (mut words, mut gaps, mut cells) = (0, 0, 0);
    for row in &table.sample {
        for &column in annotators {
            let text = cell_text(row.cell(column)).unwrap_or_default();
            if missing.contains(&text) || text == "-1" {
                gaps += 1;
                continue;
            }
            cells += 1;
            match text.parse::<f64>() {
                Ok(value) if value.fract() != 0.0 => return false,
                Ok(_) => {}
                Err(_) => words += 1,
            }
            labels.insert(text);
        }
    }
    let few = labels.len() <= 30 && labels.len() * 2 <= cells;
    few && (words == cells || (words == 0 && gaps > 0)) && cells > 0
}

/// The values that mean "no vote": −1 is one of them unless it may be a class.
fn missing(table: &Table, layout: &Layout, options: &ReadOptions) -> HashSet<String> {
    let mut missing = long::missing(options, false);
    if options.missing.is_some() {
        return missing;
    }
    let below =
        |row: &dissensus_io::Row, c: usize| columns::number(row.cell(c)).is_some_and(|v| v < -1.0);
    let negatives = table.sample.iter().any(|row| layout.annotators.iter().any(|&c| below(row, c)));
    let declared = options.classes.iter().flatten().any(|class| class == "-1");
    if !negatives && !declared {
        missing.insert("-1".to_owned());
        missing.insert("-1.0".to_owned());
    }
    missing
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let layout = layout(&table, collector.options).map_err(|p| collector.error(p).row(1))?;
    let votes: Vec<Option<usize>> = layout.annotators.iter().copied().map(Some).collect();
    let text =
        columns::text(&table, collector.options, &votes).map_err(|p| collector.error(p).row(1))?;
    if layout.annotators.is_empty() {
        return Err(collector.error(columns::no_column(&table, Role::Annotator)));
    }
    let missing_values = missing(&table, &layout, collector.options);
    note(&table, &layout, &missing_values, collector);
    let columns = table.columns.clone();
    let mut missing = (0, None);
    let mut items = 0u64;
    // What patterns may still stand for, in votes: a name takes the memory of several.
    const ITEM: u64 = 16;
    let copy = layout.annotators.len() as u64 + ITEM;
    let mut left = collector.options.limits.votes;
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        items += 1;
        let id = match layout.item {
            Some(column) => cell_text(row.cell(column)).unwrap_or_default(),
            None => items.to_string(),
        };
        if id.is_empty() {
            let error = collector.error(Problem::EmptyCell { role: "item" }).row(row.number);
            collector.reject(error)?;
            continue;
        }
        let repeats = match layout.repeats {
            None => None,
            Some(column) => match repeats(row.cell(column)) {
                Ok(repeats) if repeats.saturating_mul(copy) <= left => {
                    left -= repeats * copy;
                    Some(repeats)
                }
                bad => {
                    let limit = collector.options.limits.votes / copy;
                    let many = Problem::TooMany { what: "items in its patterns", limit };
                    let problem = bad.err().unwrap_or(many);
                    let error = collector.error(problem).row(row.number).column(&columns[column]);
                    collector.reject(error)?;
                    continue;
                }
            },
        };
        for copy in 0..repeats.unwrap_or(1) {
            let id = if repeats.is_some() { format!("{id}.{}", copy + 1) } else { id.clone() };
            if !collector.new_item(&id, row.number)? {
                break;
            }
            if let Some(text) = text.and_then(|column| cell_text(row.cell(column))) {
                collector.text(&id, text);
            }
            for &column in &layout.annotators {
                match cell_text(row.cell(column)).filter(|text| !missing_values.contains(text)) {
                    Some(label) => {
                        collector.vote(&id, Some(&columns[column]), &label, 1.0, row.number)?;
                    }
                    None => {
                        missing.0 += 1;
                        missing.1.get_or_insert((id.clone(), row.number));
                    }
                }
            }
        }
    }
    long::note_missing(collector, missing.0, missing.1);
    Ok(())
}

fn repeats(cell: &Value) -> Result<u64, Problem> {
    let text = cell_text(cell).unwrap_or_default();
    match columns::number(cell) {
        Some(n) if n >= 0.0 && n.fract() == 0.0 => Ok(n as u64),
        _ => Err(Problem::NotACount { text: shorten(&text) }),
    }
}

fn note(table: &Table, layout: &Layout, missing: &HashSet<String>, collector: &mut Collector<'_>) {
    let item = layout.item.map_or("none: rows are numbered", |c| table.columns[c].as_str());
    if collector.options.item.is_none() {
        collector.note("item column", item);
    }
    let names: Vec<&str> = layout.annotators.iter().map(|&c| table.columns[c].as_str()).collect();
    let shown = match names.as_slice() {
        [first, .., last] => format!("{first} … {last} ({})", names.len()),
        _ => names.join(", "),
    };
    collector.note("annotator columns", shown);
    if let Some(column) = layout.repeats {
        let value = format!("each row stands for `{}` items", table.columns[column]);
        collector.note("patterns", value);
    }
    let used = table.columns.len()
        - layout.annotators.len()
        - usize::from(layout.item.is_some())
        - usize::from(layout.repeats.is_some());
    if used > 0 {
        collector.note("other columns", format!("{used} left out"));
    }
    let mut values: Vec<String> = missing.iter().map(|v| format!("{v:?}")).collect();
    values.sort();
    collector.note("missing means", values.join(" "));
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn words_with_gaps() {
        let text = "id,anna,ben,cleo\na,yes,no,\nb,no,no,yes\nc,yes,NaN,no\nd,no,no,no\n";
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "wide");
        let table = reading.table;
        assert_eq!(table.classes().names(), ["no", "yes"]);
        assert_eq!(table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert!(table.annotators().iter().eq(["anna", "ben", "cleo"]));
        assert_eq!(reading.findings[0].count, 2);
    }

    #[test]
    fn minus_one_is_missing_unless_it_is_a_class() {
        let text = "rater_1,rater_2\n0,1\n-1,1\n";
        let table = read_bytes("x", text.into(), &ReadOptions::default()).unwrap().table;
        assert_eq!(table.classes().names(), ["0", "1"]);
        assert_eq!(table.counts().unwrap().total(), 3);
        let likert = "rater_1,rater_2\n-2,1\n-1,1\n";
        let table = read_bytes("x", likert.into(), &ReadOptions::default()).unwrap().table;
        assert_eq!(table.classes().names(), ["-2", "-1", "1"]);
        let classes = Some(vec!["-1".into(), "0".into(), "1".into()]);
        let options = ReadOptions { classes, ..ReadOptions::default() };
        let table = read_bytes("x", text.into(), &options).unwrap().table;
        assert_eq!(table.counts().unwrap().total(), 4);
    }

    #[test]
    fn patterns_are_repeated() {
        let text = "rater_1,rater_2,n\n1.0,1.0,3.0\n1.0,2.0,2.0\n";
        let table = read_bytes("x", text.into(), &ReadOptions::default()).unwrap().table;
        assert_eq!((table.len(), table.items().name(3)), (5, "2.1"));
        assert_eq!(table.classes().names(), ["1", "2"]);
        let bad = "rater_1,rater_2,n\n1.0,1.0,-3\n";
        let error = read_bytes("x", bad.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(error.problem.code(), "not-a-count");
        let many = "rater_1,rater_2,n\n1,1,1\n1,1,999999999999\n";
        let error = read_bytes("x", many.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "x, row 3, column \"n\": there are more than 14913080 items in its patterns"
        );
    }

    #[test]
    fn the_item_is_no_annotator_and_no_number_of_copies() {
        for item in ["rater_1", "n"] {
            let options = ReadOptions { item: Some(item.into()), ..ReadOptions::default() };
            let text = "rater_1,rater_2,rater_3,n\n1,2,1,4\n";
            let table = read_bytes("x", text.into(), &options).unwrap().table;
            assert!(table.annotators().iter().all(|name| name != item), "{item}");
        }
    }
}
