//! Wide tables: one row per item, one column per annotator, a cell the class that one chose.
//!
//! Tables of rater patterns are read too: there a row is a pattern, and a column `n` says how many
//! items have it.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::columns::{self, Role};
use super::long::{Missing, MissingVotes};
use super::{Format, long_rows};
use crate::collector::Collector;
use crate::names;
use crate::options::{ReadOptions, Values};
use crate::plausible::{Guesses, separator_of};
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use dissensus_io::{Source, Table, TableKind, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "wide",
    title: "Wide table: one row per item, one column per annotator",
    layout: "CSV, TSV, JSON Lines or Parquet with columns such as rater_1, rater_2, …",
    trap: "missing votes are empty, NaN or -1: what was taken as missing is printed, `missing` says it",
    examples: &[
        Example::text("votes.csv", "id,rater_1,rater_2,rater_3\na,yes,no,\nb,no,no,yes\n"),
        Example::text("votes.txt", " 0  1 -1  0  1\n 1  1 -1 -1  2\n"),
    ],
    options: &[
        O::Item,
        O::Annotators,
        O::Ignore,
        O::Text,
        O::Values,
        O::Classes,
        O::Missing,
        O::Multilabel,
        O::Separator,
    ],
    detect,
    read,
};

/// A column that says how many items have the row's pattern.
const REPEATS: [&str; 4] = ["n", "freq", "frequency", "count"];

/// The columns that are a series named after annotators (`rater_1`, `Ann 12`, `worker-a`), and do not hold the
/// ids of people.
fn annotators(table: &Table) -> Vec<usize> {
    let named = |c: &usize| {
        let series = names::series(&table.columns[*c]);
        series.is_some_and(|(stem, _)| names::annotator_stem(&stem))
            && !columns::holds_people(table, *c)
    };
    let found: Vec<usize> = (0..table.columns.len()).filter(named).collect();
    if found.len() >= 2 && !are_ids(table, &found) { found } else { Vec::new() }
}

/// Whether columns hold the ids of people: in every row, all of them differ.
fn are_ids(table: &Table, found: &[usize]) -> bool {
    const ROWS: usize = 8;
    let differ = |row: &dissensus_io::Row| {
        let mut seen = HashSet::new();
        let texts = found.iter().filter_map(|&c| cell_text(row.cell(c)));
        texts.filter(|text| !text.trim().is_empty()).all(|text| seen.insert(text))
    };
    table.sample.len() >= ROWS && table.sample.iter().all(differ)
}

/// The columns that begin with a word for labels (`label_anna`, `rating_2`) and hold the same words: labels
/// of one annotator each. Columns of numbers may be questions or classes.
fn labels_of_people(table: &Table) -> Vec<usize> {
    let mut stems: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (c, name) in table.columns.iter().enumerate() {
        let words = names::words(name);
        let first =
            words.first().filter(|word| words.len() > 1 && names::label_stem(word)).cloned();
        let stem = first.or_else(|| names::series(name).map(|(stem, _)| stem));
        if let Some(stem) = stem.filter(|stem| names::label_stem(stem) && !names::derived(name)) {
            stems.entry(stem).or_default().push(c);
        }
    }
    let alike = |found: &Vec<usize>| {
        let words =
            |c: &usize| columns::values(table, *c).iter().all(|v| v.parse::<f64>().is_err());
        let binary =
            |v: &String| matches!(v.to_ascii_lowercase().as_str(), "true" | "false" | "yes" | "no");
        let all: HashSet<String> = found.iter().flat_map(|&c| columns::values(table, c)).collect();
        let several = found.iter().filter(|&&c| columns::values(table, c).len() > 1).count();
        found.len() >= 2
            && several * 2 > found.len()
            && found.iter().all(words)
            && !all.iter().all(binary)
            && strangers(table, found).is_empty()
            && found.iter().all(|&c| !columns::is_text(table, c))
    };
    let mut found = stems.into_values().filter(alike);
    found.next().filter(|_| found.next().is_none()).unwrap_or_default()
}

/// Whether two columns or more are named after annotators.
pub(super) fn names_annotators(table: &Table) -> bool {
    !annotators(table).is_empty() || !labels_of_people(table).is_empty()
}

struct Layout {
    item: Option<usize>,
    annotators: Vec<usize>,
    repeats: Option<usize>,
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Layout, Problem> {
    let mut item = columns::find(table, Role::Item, options)?;
    let ignored = columns::ignored(table, options)?;
    let all = 0..table.columns.len();
    let is_repeats = |c: &usize| REPEATS.contains(&table.columns[*c].to_lowercase().as_str());
    let annotators: Vec<usize> = match &options.annotators {
        Some(patterns) => {
            let mut said = columns::matching(table, patterns)?;
            said.retain(|c| !ignored.contains(c) && (options.item.is_none() || Some(*c) != item));
            // A pattern may take in the column that was guessed to be the item.
            item = item.filter(|c| options.item.is_some() || !said.contains(c));
            said
        }
        None => {
            let own = |c: &usize| Some(*c) != item && !ignored.contains(c);
            let mut named: Vec<usize> = annotators(table).into_iter().filter(own).collect();
            if named.is_empty() {
                named = labels_of_people(table).into_iter().filter(own).collect();
            }
            let headless = matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header);
            if named.len() >= 2 || !(headless || options.values == Some(Values::Labels)) {
                named
            } else {
                item = item
                    .or_else(|| (names_items(table, &all) && !ignored.contains(&0)).then_some(0));
                let text = columns::find(table, Role::Text, options)?;
                let other = |c: &usize| {
                    let name = &table.columns[*c];
                    let own = Some(*c) != item && Some(*c) != text && !ignored.contains(c);
                    own && !names::derived(name) && names::label(name).is_none()
                };
                all.clone().filter(|c| other(c) && !columns::is_text(table, *c)).collect()
            }
        }
    };
    let free = |c: &usize| Some(*c) != item && !annotators.contains(c) && !ignored.contains(c);
    let repeats = all.into_iter().find(|c| is_repeats(c) && free(c));
    Ok(Layout { item, annotators, repeats })
}

/// Whether the first column names the items: its values are all different, and are not those of the
/// other columns.
fn names_items(table: &Table, all: &std::ops::Range<usize>) -> bool {
    let mut own = HashSet::new();
    let different = table.sample.iter().all(|row| own.insert(row.cell(0).to_string()));
    let others = table.sample.iter().flat_map(|row| all.clone().skip(1).map(|c| row.cell(c)));
    let others: HashSet<String> = others.map(ToString::to_string).collect();
    table.sample.len() > 1 && different && !own.is_subset(&others)
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    if options.counts.is_some() {
        return false;
    }
    if options.annotators.is_some() {
        return true;
    }
    let Ok(layout) = layout(table, options) else {
        return false;
    };
    if let Some(values) = options.values {
        return values == Values::Labels;
    }
    let headless = matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header);
    layout.annotators.len() >= 2
        && (!headless || cells_are_labels(table, &layout.annotators, &Missing::new(options, false)))
}

/// Whether the cells look like labels rather than counts (few different words, or whole numbers
/// with gaps), and two columns or more hold the same ones.
fn cells_are_labels(table: &Table, annotators: &[usize], missing: &Missing) -> bool {
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
    let alike = strangers(table, annotators).len() + 2 <= annotators.len();
    few && alike && (words == cells || (words == 0 && gaps > 0)) && cells > 0
}

/// The columns whose values stand in no other one: those of annotators share their labels.
fn strangers(table: &Table, annotators: &[usize]) -> Vec<usize> {
    let values: Vec<HashSet<String>> =
        annotators.iter().map(|&c| columns::values(table, c)).collect();
    let mut columns_with: HashMap<&String, usize> = HashMap::new();
    values.iter().flatten().for_each(|value| *columns_with.entry(value).or_default() += 1);
    let shares =
        |at: usize| values[at].is_empty() || values[at].iter().any(|value| columns_with[value] > 1);
    (0..annotators.len()).filter(|&at| !shares(at)).map(|at| annotators[at]).collect()
}

/// Columns that were guessed to be annotators must hold the same labels.
fn check_strangers(table: &Table, layout: &Layout) -> Result<(), Problem> {
    let headless = matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header);
    if !headless || table.sample.len() < 8 {
        return Ok(());
    }
    let strangers = strangers(table, &layout.annotators);
    if strangers.is_empty() {
        return Ok(());
    }
    let names = |list: &[usize]| {
        list.iter().map(|&c| table.columns[c].as_str()).collect::<Vec<_>>().join(", ")
    };
    let apart: HashSet<usize> = strangers.iter().copied().collect();
    let rest: Vec<usize> =
        layout.annotators.iter().copied().filter(|c| !apart.contains(c)).collect();
    let doubt = match rest.is_empty() {
        true => format!("the columns {} share no label", names(&strangers)),
        false => format!("the columns {} share labels, {} not", names(&rest), names(&strangers)),
    };
    Err(Problem::Doubt {
        doubt: format!("{doubt}: not all can be annotators"),
        options: &[ReadOption::Annotators, ReadOption::Ignore],
        remedy: "name the annotators with `annotators` (a list, or a pattern such as `rater_*`), or the \
                 others with `ignore`",
    })
}

/// The values that mean "no vote": −1 is one of them unless it may be a class.
fn missing(table: &Table, layout: &Layout, options: &ReadOptions) -> Missing {
    let mut missing = Missing::new(options, false);
    if options.missing.is_some() {
        return missing;
    }
    let below =
        |row: &dissensus_io::Row, c: usize| columns::number(row.cell(c)).is_some_and(|v| v < -1.0);
    let negatives = table.sample.iter().any(|row| layout.annotators.iter().any(|&c| below(row, c)));
    let declared = options.classes.iter().flatten().any(|class| class == "-1");
    // Of −1 and 1 alone, both are classes.
    let values: HashSet<String> =
        layout.annotators.iter().flat_map(|&c| columns::values(table, c)).collect();
    let signs = values.iter().all(|value| ["-1", "1"].contains(&value.as_str()));
    if !negatives && !declared && !signs {
        missing.insert("-1");
    }
    missing
}

/// Beside 0 and 1, −1 may be a class of its own: where it is not what most cells are, or all cells of an item.
fn minus_one(table: &Table, layout: &Layout, options: &ReadOptions) -> Result<(), Problem> {
    if options.missing.is_some() || options.classes.is_some() {
        return Ok(());
    }
    let values: HashSet<String> =
        layout.annotators.iter().flat_map(|&c| columns::values(table, c)).collect();
    let scale = ["-1", "0", "1"];
    if values.len() != scale.len() || !scale.iter().all(|value| values.contains(*value)) {
        return Ok(());
    }
    let none = |row: &dissensus_io::Row, c: usize| columns::number(row.cell(c)) == Some(-1.0);
    let of = |row: &dissensus_io::Row| layout.annotators.iter().filter(|&&c| none(row, c)).count();
    let cells = table.sample.len() * layout.annotators.len();
    let most = table.sample.iter().map(of).sum::<usize>() * 2 > cells;
    let everywhere = table.sample.iter().any(|row| of(row) == layout.annotators.len());
    const ENOUGH: usize = 8;
    if !everywhere && (most || table.sample.len() < ENOUGH) {
        return Ok(());
    }
    Err(Problem::Doubt {
        doubt: "-1 may be a class beside 0 and 1, or mean that there is no vote".to_owned(),
        options: &[ReadOption::Missing, ReadOption::Classes],
        remedy: "if it is no vote, say so with `missing = -1`; if it is a class, declare them with `classes = -1,0,1`",
    })
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
    check_strangers(&table, &layout).map_err(|p| collector.error(p).row(1))?;
    minus_one(&table, &layout, collector.options).map_err(|p| collector.error(p).row(1))?;
    let missing_values = missing(&table, &layout, collector.options);
    note(&table, &layout, &missing_values, collector);
    let values = layout.annotators.iter().flat_map(|&c| columns::values(&table, c)).collect();
    let separator = long_rows::separator(&values, collector);
    let unsplit = collector.options.takes_several() && separator.is_none();
    let mut labels_seen = HashSet::new();
    let columns = table.columns.clone();
    let mut missing = MissingVotes::default();
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
                let labels = match long_rows::cell_labels(row.cell(column), separator) {
                    Ok(labels) => labels,
                    Err(problem) => {
                        let error = collector.error(problem).row(row.number).item(&id);
                        collector.reject(error.column(&columns[column]))?;
                        continue;
                    }
                };
                let labels: Vec<&str> = labels
                    .iter()
                    .map(String::as_str)
                    .filter(|label| !missing_values.contains(label))
                    .collect();
                if labels.is_empty() {
                    let text = cell_text(row.cell(column)).unwrap_or_default();
                    missing.add(&id, row.number, &text);
                    continue;
                }
                if unsplit {
                    labels_seen.extend(labels.iter().map(ToString::to_string));
                }
                collector.vote_several(&id, Some(&columns[column]), &labels, row.number)?;
            }
        }
    }
    missing.note(collector);
    if let Some((label, _)) = separator_of(labels_seen.iter().map(String::as_str)) {
        let error = collector.error(Problem::MultiLabel { text: shorten(label) });
        collector.reject(error)?;
    }
    Ok(())
}

fn repeats(cell: &Value) -> Result<u64, Problem> {
    let text = cell_text(cell).unwrap_or_default();
    match columns::number(cell) {
        Some(n) if n >= 0.0 && n.fract() == 0.0 => Ok(n as u64),
        _ => Err(Problem::NotACount { text: shorten(&text) }),
    }
}

fn note(table: &Table, layout: &Layout, missing: &Missing, collector: &mut Collector<'_>) {
    let item = layout.item.map_or("none: rows are numbered", |c| table.columns[c].as_str());
    if collector.options.item.is_none() {
        collector.note("item column", item);
    }
    let names: Vec<&str> = layout.annotators.iter().map(|&c| table.columns[c].as_str()).collect();
    let shown = match names.as_slice() {
        [first, .., last] => format!("{first} … {last} ({})", names.len()),
        _ => names.join(", "),
    };
    collector.note("annotator columns", shown.clone());
    if let Some(column) = layout.repeats {
        let value = format!("each row stands for `{}` items", table.columns[column]);
        collector.note("patterns", value);
    }
    let mut used: HashSet<usize> = layout.annotators.iter().copied().collect();
    used.extend(layout.item.iter().chain(&layout.repeats));
    let others =
        (0..table.columns.len()).filter(|c| !used.contains(c)).map(|c| table.columns[c].as_str());
    let others: Vec<&str> = others.collect();
    if !others.is_empty() {
        let names = shorten(&others[..others.len().min(20)].join(", "));
        collector.note("other columns", format!("{} left out: {names}", others.len()));
    }
    collector.note("missing means", missing.describe());
    collector.guesses = Some(Guesses {
        labels: collector.options.annotators.is_none().then_some(shown),
        ..Guesses::default()
    });
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn words_with_gaps() {
        let text = "id,anna,ben,cleo\na,yes,no,\nb,no,no,yes\nc,yes,NaN,no\nd,no,no,no\n";
        // Nobody says that these are people.
        assert!(read_bytes("x", text.into(), &ReadOptions::default()).is_err());
        let annotators = Some(vec!["anna".into(), "ben".into(), "cleo".into()]);
        let options = ReadOptions { annotators, ..ReadOptions::default() };
        let reading = read_bytes("x", text.into(), &options).unwrap();
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
