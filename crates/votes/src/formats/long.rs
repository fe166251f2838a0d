//! Long tables: one row per vote, in columns for the item, the annotator and the label.
//!
//! The label may also be spread over columns of 0 and 1, one per class (one-hot), and a vote may be
//! for several labels: a list in JSON or Parquet, or a text with a separator.
//!
//! Text tables (CSV, TSV) go through the parallel reader in `long_text`, tables in memory through
//! `long_frame`; JSON Lines, Parquet and votes for several labels row by row (`long_rows`). The canonical table that `votes convert`
//! writes is a long table with one column more, `class`: the place of the label in the order of the
//! classes, so that nothing is lost. It is called `ordinal_class` or `multilabel_class` where the
//! classes are on that scale; multi-label tables are read in `long_sets`.

use std::collections::{BTreeSet, HashMap, HashSet};

use dissensus_core::{Scale, plain_label};
use serde_json::Value;

use super::against::{self, Roles};
use super::columns::{self, Role};
use super::long_rows::{self, Labels};
use super::{Format, long_frame, long_sets, long_text, wide};
use crate::collector::{Collector, Finding, Severity};
use crate::names;
use crate::options::ReadOptions;
use crate::plausible::{Guesses, separator_of};
use crate::profile::Profile;
use crate::write::class_column;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption};
use dissensus_io::{Source, Table, TableKind, cell_text, shorten};

pub(super) const FORMAT: Format = Format {
    name: "long",
    title: "Long table: one row per vote (crowd-kit, cleanlab, doccano, POPQUORN raw, our own)",
    layout: "CSV, TSV, JSON Lines or Parquet with columns such as task, worker, label",
    trap: "column names differ: they are guessed from known names, printed, and can be named",
    examples: &[
        Example::text("votes.csv", "item,annotator,label\na,ann,cat\na,bob,dog\nb,ann,cat\n"),
        Example::text("crowd.tsv", "7\tw1\t0\n7\tw2\t1\n8\tw1\t1\n"),
        Example::text(
            "votes.jsonl",
            r#"{"item": "a", "annotator": "ann", "label": ["cat"]}
{"item": "a", "annotator": "bob", "label": ["dog"]}
"#,
        ),
        Example::text("one_hot.csv", "item,annotator,cat,dog\na,ann,1,0\na,bob,0,1\n"),
    ],
    options: &[
        O::Item,
        O::Annotator,
        O::Label,
        O::Weight,
        O::Count,
        O::Text,
        O::OneHot,
        O::Ignore,
        O::Classes,
        O::Missing,
        O::Multilabel,
        O::Separator,
    ],
    detect,
    read,
};

/// Which column is what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) item: usize,
    pub(super) annotator: Option<usize>,
    pub(super) label: usize,
    pub(super) weight: Option<usize>,
    /// The place of the label in the order of the classes (canonical tables only).
    pub(super) class: Option<usize>,
    /// The item's text, where texts are wanted.
    pub(super) text: Option<usize>,
    /// How many votes a row stands for.
    pub(super) count: Option<usize>,
}

impl Layout {
    /// Votes without annotators in these columns.
    pub(super) fn of(item: usize, label: usize) -> Self {
        Self { item, annotator: None, label, weight: None, class: None, text: None, count: None }
    }
}

/// Values that mean "no vote" unless the user names others.
const MISSING: [&str; 9] = ["", "NaN", "nan", "NA", "N/A", "n/a", "null", "None", "<NA>"];

/// The values that mean "no vote", compared as labels are.
pub(super) struct Missing {
    values: BTreeSet<String>,
    /// In a canonical table a class may be called ` `.
    exact: bool,
}

impl Missing {
    /// As the user says, else the usual ones. In a canonical table a class may be called `NA`.
    pub(super) fn new(options: &ReadOptions, canonical: bool) -> Self {
        let plain = |value: &str| plain_label(value).into_owned();
        let values = match &options.missing {
            Some(values) => values.iter().map(|value| plain(value)).collect(),
            None if canonical => BTreeSet::from([String::new()]),
            None => MISSING.iter().map(ToString::to_string).collect(),
        };
        Self { values, exact: canonical && options.missing.is_none() }
    }

    /// One value more.
    pub(super) fn insert(&mut self, value: &str) {
        self.values.insert(value.to_owned());
    }

    /// One value less.
    pub(super) fn remove(&mut self, value: &str) {
        self.values.remove(value);
    }

    pub(super) fn contains(&self, label: &str) -> bool {
        match self.exact {
            true => self.values.contains(label),
            false => self.values.contains(plain_label(label).as_ref()),
        }
    }

    /// The values, for a note.
    pub(super) fn describe(&self) -> String {
        self.values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" ")
    }
}

/// Votes that are missing: how many, the first, and how they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct MissingVotes {
    pub(super) count: u64,
    pub(super) first: Option<(String, u64)>,
    pub(super) values: BTreeSet<String>,
}

impl MissingVotes {
    /// One more.
    pub(super) fn add(&mut self, item: &str, row: u64, value: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| (item.to_owned(), row));
        if !self.values.contains(value) {
            self.values.insert(value.to_owned());
        }
    }

    /// States how many there are.
    pub(super) fn note(self, collector: &mut Collector<'_>) {
        let Self { count, first, values } = self;
        if count == 0 {
            return;
        }
        if collector.options.missing.is_none() {
            collector
                .may_be_classes
                .extend(["None", "NA"].into_iter().filter(|name| values.contains(*name)));
        }
        let votes = if count == 1 { "vote" } else { "votes" };
        let empty = values.iter().all(|value| value.trim().is_empty());
        let note = match empty {
            true => format!("{count} empty {votes} left out"),
            false => {
                let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
                format!("{count} {votes} left out: {}", values.join(" "))
            }
        };
        collector.note("missing", note);
        let (item, row) = first.unzip();
        let message = "an empty label: no vote";
        let finding = Finding::new(Severity::Note, "missing-value", message).times(count);
        collector.finding(finding.at(item.as_deref(), row).remedy("fill it in, or drop the row"));
    }
}

fn is_headerless(table: &Table) -> bool {
    matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header)
}

/// Which column is what, and the columns of 0 and 1 where labels are one-hot.
struct Found {
    layout: Layout,
    one_hot: Vec<usize>,
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Found, Problem> {
    let find = |role| columns::find(table, role, options);
    let ignored = columns::ignored(table, options)?;
    let mut item = find(Role::Item)?.or_else(|| doccano_text(table));
    let mut annotator = find(Role::Annotator)?;
    let mut one_hot = match &options.one_hot {
        Some(patterns) => columns::matching(table, patterns)?,
        None => Vec::new(),
    };
    let class = canonical(table).map(|(_, class)| class);
    let mut label = match (class, &options.label) {
        (Some(_), None) => table.column("label"),
        _ if !one_hot.is_empty() => None,
        _ => find(Role::Label)?,
    };
    if is_headerless(table) && one_hot.is_empty() {
        by_position(table, &ignored, [&mut item, &mut annotator, &mut label])?;
    }
    let profile = Profile::of(&table.columns, table.sample.iter());
    let count = match &options.count {
        Some(name) => {
            Some(columns::named(&table.columns, name).ok_or_else(|| no_such(table, name))?)
        }
        None if annotator.is_none() && one_hot.is_empty() && class.is_none() => {
            whole_weights(table, &profile, item, label, options)?;
            numbers_of_votes(table, &profile, item, label)?
        }
        None => None,
    };
    // A number of votes may have the only name that is known for labels.
    label = label.filter(|_| count != label || options.label.is_some());
    if label.is_none() && one_hot.is_empty() && item.is_some() && annotator.is_some() {
        let free = |c: &usize| Some(*c) != item && Some(*c) != annotator && !ignored.contains(c);
        label = rating_of_potato(table, free);
        if label.is_none() {
            one_hot = zeros_and_ones(&profile, table, [item, annotator], free);
        }
    }
    let item = item.ok_or_else(|| columns::no_column(table, Role::Item))?;
    let label = one_hot.first().copied().or(label);
    let label = label.ok_or_else(|| columns::no_column(table, Role::Label))?;
    if options.label.is_none() && one_hot.is_empty() && class.is_none() && count.is_none() {
        let free = |c: usize| !ignored.contains(&c);
        against::check(
            &profile,
            options,
            Roles { item, annotator, label, own: own_names(table) },
            free,
        )?;
    }
    let weight = find(Role::Weight)?;
    let layout = Layout { annotator, weight, class, count, ..Layout::of(item, label) };
    Ok(Found { layout, one_hot })
}

/// The scale of a canonical table and its column for the places of the labels, whose name states it.
fn canonical(table: &Table) -> Option<(Scale, usize)> {
    table.column("label")?;
    Scale::ALL.into_iter().find_map(|scale| Some((scale, table.column(class_column(scale))?)))
}

fn no_such(table: &Table, name: &str) -> Problem {
    Problem::NoSuchColumn { name: shorten(name), columns: table.columns.join(", ") }
}

/// The column that says how many votes a row stands for: known by its name, whole numbers, and every pair of
/// an item and a label stands in one row.
fn numbers_of_votes(
    table: &Table,
    profile: &Profile,
    item: Option<usize>,
    label: Option<usize>,
) -> Result<Option<usize>, Problem> {
    let (Some(item), Some(label)) = (item, label) else { return Ok(None) };
    // Every item with every label once: what they got stands in another column.
    let (items, labels) = (profile.distinct(item), profile.distinct(label));
    let grid = items > 2 && labels > 1 && items * labels == profile.rows;
    let other = |&c: &usize| {
        c != item && c != label && profile.is_numeric(c) && !names::count(profile.name(c))
    };
    if grid && profile.new_pairs(item, label) == 1.0 && profile.all().any(|c| other(&c)) {
        return Err(Problem::Doubt {
            doubt: format!(
                "every item has every label once: {:?} names classes, and another column holds their numbers",
                table.columns[label]
            ),
            options: &[ReadOption::Count],
            remedy: "name the column of numbers of votes with `count`",
        });
    }
    let is_count = |&c: &usize| {
        c != item && c != label && names::count(&table.columns[c]) && profile.is_counts(c)
    };
    let found: Vec<usize> = profile.all().filter(is_count).collect();
    match found.as_slice() {
        [only]
            if profile.rows > 1
                && profile.new_pairs(item, label) == 1.0
                && !profile.is_unique(item) =>
        {
            Ok(Some(*only))
        }
        [only] if !profile.is_unique(item) => Err(Problem::Doubt {
            doubt: format!("{:?} may say how many votes a row stands for", table.columns[*only]),
            options: &[ReadOption::Count, ReadOption::Ignore],
            remedy: "say so with `count`, or leave the column out with `ignore`",
        }),
        _ => Ok(None),
    }
}

/// Whole numbers that are called weights may be numbers of votes where nobody is named and every item has a label once.
fn whole_weights(
    table: &Table,
    profile: &Profile,
    item: Option<usize>,
    label: Option<usize>,
    options: &ReadOptions,
) -> Result<(), Problem> {
    let (Some(item), Some(label), None) = (item, label, &options.weight) else { return Ok(()) };
    let weight = columns::find(table, Role::Weight, options)?;
    let counts = weight.filter(|&c| profile.is_counts(c) && profile.distinct(c) > 1);
    match counts.filter(|_| profile.new_pairs(item, label) == 1.0 && !profile.is_unique(item)) {
        None => Ok(()),
        Some(c) => Err(Problem::Doubt {
            doubt: format!(
                "{:?} holds whole numbers: weights, or numbers of votes",
                table.columns[c]
            ),
            options: &[ReadOption::Weight, ReadOption::Count],
            remedy: "say which with `weight` or `count`",
        }),
    }
}

/// Without names, only people's ids tell a column; which of two columns of numbers is the item, nothing tells.
fn by_position(
    table: &Table,
    ignored: &[usize],
    roles: [&mut Option<usize>; 3],
) -> Result<(), Problem> {
    let free: Vec<usize> = (0..table.columns.len()).filter(|c| !ignored.contains(c)).collect();
    let [item, annotator, label] = roles;
    if item.is_some() || annotator.is_some() || label.is_some() {
        // Of three columns, two were said.
        let said = [*item, *annotator, *label];
        let mut rest = free.iter().filter(|c| !said.contains(&Some(**c)));
        if let (3, Some(_), Some(_), None) = (free.len(), *item, *annotator, *label) {
            *label = rest.next().copied();
        }
        return Ok(());
    }
    let people: Vec<bool> = free.iter().map(|&c| columns::holds_people(table, c)).collect();
    (*item, *annotator, *label) = match (free.as_slice(), people.as_slice()) {
        (&[who, what, which], [true, false, false])
        | (&[what, who, which], [false, true, false]) => (Some(what), Some(who), Some(which)),
        (&[_, _, _], _) => {
            return Err(Problem::Doubt {
                doubt: "three columns without a header: which is the item, which the annotator and which the label cannot be told"
                    .to_owned(),
                options: &[ReadOption::Item, ReadOption::Annotator, ReadOption::Values],
                remedy: "name them with `item` and `annotator` (#1 is the first column); for a matrix say `values = labels` (items × annotators) or `values = counts` (items × classes)",
            });
        }
        (&[_, _], _) => {
            return Err(Problem::Doubt {
                doubt: "two columns without a header: which is the item and which the label cannot be told".to_owned(),
                options: &[ReadOption::Item, ReadOption::Label],
                remedy: "name them with `item` and `label` (#1 is the first column)",
            });
        }
        (&[_, _, _, _], _) if ignored.is_empty() => {
            return Err(Problem::Doubt {
                doubt: "four columns without names: item, annotator, label and one that would be left out, or a matrix"
                    .to_owned(),
                options: &[ReadOption::Ignore, ReadOption::Item, ReadOption::Annotator, ReadOption::Values],
                remedy: "leave the fourth out with `ignore = #4` and name the others with `item` and `annotator`; for a matrix say `values = labels` (items × annotators) or `values = counts` (items × classes)",
            });
        }
        _ => return Ok(()),
    };
    Ok(())
}

/// Potato's raw data name the label column after the task: beside its `instance_id`, `user_id` and what people
/// say of themselves, it is the only one of few numbers.
fn rating_of_potato(table: &Table, free: impl Fn(&usize) -> bool) -> Option<usize> {
    const PERSON: [&str; 5] = ["gender", "race", "age", "occupation", "education"];
    let there = |name: &&str| table.column(name).is_some();
    if !["instance_id", "user_id"].iter().all(there)
        || PERSON.iter().filter(|name| there(name)).count() < 3
    {
        return None;
    }
    let rating = |&column: &usize| {
        let mut values = HashSet::new();
        let number = |cell: &Value| columns::number(cell).map(f64::to_bits);
        table.sample.iter().all(|row| {
            number(row.cell(column)).is_some_and(|v| {
                values.insert(v);
                values.len() <= 12
            })
        })
    };
    let mut ratings = (0..table.columns.len())
        .filter(free)
        .filter(|&c| !names::about(&table.columns[c]))
        .filter(rating);
    ratings.next().filter(|_| ratings.next().is_none() && !table.sample.is_empty())
}

/// Columns of 0 and 1 beside an item and an annotator are one-hot labels where each row has one 1, and where
/// they say nothing about the item or the person alone.
fn zeros_and_ones(
    profile: &Profile,
    table: &Table,
    roles: [Option<usize>; 2],
    free: impl Fn(&usize) -> bool,
) -> Vec<usize> {
    let vote = |c: &usize| {
        let belongs = roles.iter().flatten().any(|&by| profile.constant_within(*c, by));
        let name = &table.columns[*c];
        !belongs && !names::about(name) && !names::derived(name) && profile.is_binary(*c)
    };
    let found: Vec<usize> = profile.all().filter(free).filter(vote).collect();
    let one = found.len() >= 2 && (0..profile.rows).all(|row| profile.flags(&found, row) == 1);
    if one { found } else { Vec::new() }
}

/// Whether the cells of the label are lists.
fn has_lists(table: &Table, label: usize) -> bool {
    table.sample.iter().any(|row| row.cell(label).is_array())
}

/// Whether the columns have the names that are our own, which say what is meant.
fn own_names(table: &Table) -> bool {
    const OWN: [&str; 6] = ["item", "annotator", "label", "weight", "class", "text"];
    table.columns.iter().all(|name| OWN.contains(&name.as_str()))
}

/// Our own names, or doccano's exports, which have one row per item, a text and its labels; nobody is named.
fn one_label_per_item(table: &Table, found: &Found) -> bool {
    if own_names(table) {
        return true;
    }
    let known = |name: &String| {
        let known = ["id", "text", "data", "label", "labels", "Comments", "meta"];
        known.contains(&name.as_str())
    };
    let text = ["text", "data"].iter().any(|name| table.column(name).is_some());
    text && table.columns.iter().all(known)
        && (has_lists(table, found.layout.label) || joined(table, found.layout.label))
}

/// The text of a doccano export without ids, where each is there once.
fn doccano_text(table: &Table) -> Option<usize> {
    let text = table.column("text").or_else(|| table.column("data"))?;
    let label = table.column("label").or_else(|| table.column("labels"))?;
    let known = ["text", "data", "label", "labels", "Comments", "meta", "cats"];
    let own = table.columns.iter().all(|name| known.contains(&name.as_str()));
    let mut seen = HashSet::new();
    let once = table
        .sample
        .iter()
        .all(|row| cell_text(row.cell(text)).is_some_and(|text| seen.insert(text)));
    (own && once && has_lists(table, label)).then_some(text)
}

/// Whether some label is several with `#` between, as doccano writes into CSV.
fn joined(table: &Table, label: usize) -> bool {
    table.sample.iter().any(|row| row.cell(label).as_str().is_some_and(|text| text.contains('#')))
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    if options.annotators.is_some() || options.counts.is_some() || options.values.is_some() {
        return false;
    }
    let own = [&options.annotator, &options.label, &options.weight, &options.count];
    if own.iter().any(|said| said.is_some()) || options.one_hot.is_some() {
        return true;
    }
    let wide = wide::names_annotators(table);
    match layout(table, options) {
        // The columns are those of a long table, and leave something open.
        Err(Problem::Choice { option, .. }) => {
            let people = columns::guess(&table.columns, Role::Annotator).is_some();
            (people || option == ReadOption::Label) && !wide
        }
        Err(Problem::Doubt { .. }) => !wide,
        Err(_) => false,
        Ok(_) if is_headerless(table) => true,
        Ok(_) if options.item.is_some() && !wide => true,
        // A wide table or a matrix may have an id and a column called `label` beside its others; it has no
        // annotator column. One label per item is no vote of anybody, but for lists of them.
        Ok(found) => {
            let Layout { item, annotator, label, count, class, .. } = found.layout;
            let repeated = || !Profile::of(&table.columns, table.sample.iter()).is_unique(item);
            annotator.is_some()
                || count.is_some()
                || class.is_some()
                || options.reference
                || (!wide
                    && (has_lists(table, label)
                        || one_label_per_item(table, &found)
                        || (repeated() && table.sample.len() > 1)))
        }
    }
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let wrong = |problem| collector.error(problem).row(1);
    let Found { mut layout, one_hot } = layout(&table, collector.options).map_err(wrong)?;
    let Layout { annotator, label, weight, class, .. } = layout;
    layout.text =
        columns::text(&table, collector.options, &[annotator, Some(label), weight, class])
            .map_err(wrong)?;
    other_voters(&table, &layout, collector.options).map_err(wrong)?;
    plain_ids(&table, &layout).map_err(|(problem, column)| wrong(problem).column(column))?;
    note(&table, &layout, &one_hot, collector);
    if layout.weight.is_some() {
        collector.builder.require_votes();
    }
    if !one_hot.is_empty() {
        return long_rows::read(table, layout, Labels::OneHot(one_hot), None, collector);
    }
    if layout.count.is_some() {
        return long_rows::read(table, layout, Labels::Cell { separator: None }, None, collector);
    }
    let options = collector.options;
    collector.scale = canonical(&table).map(|(scale, _)| scale).filter(|s| *s != Scale::Nominal);
    if collector.scale == Some(Scale::MultiLabel) {
        return long_sets::read(table, layout, collector);
    }
    let separator = options.separator.or_else(|| match options.takes_several() {
        false => None,
        true => {
            separator_of(columns::values(&table, label).iter().map(String::as_str)).map(|s| s.1)
        }
    });
    if let (None, Some(separator)) = (options.separator, separator) {
        collector.note("separator", format!("{separator:?} between the labels of a vote"));
    }
    let single = !options.takes_several() && separator.is_none();
    if let Some(frame) = table.frame().filter(|_| single)
        && let Some(coded) = long_frame::CodedColumns::of(&**frame, &layout)
    {
        return long_frame::read(&**frame, layout, coded, collector);
    }
    match table.kind {
        TableKind::Delimited(dialect) if single => {
            long_text::read(table, dialect, layout, collector)
        }
        _ => long_rows::read(table, layout, Labels::Cell { separator }, None, collector),
    }
}

/// A frame may have dates, lists or bytes where an id is expected.
fn plain_ids(table: &Table, layout: &Layout) -> Result<(), (Problem, String)> {
    let is_id = |cell: &&Value| !matches!(cell, Value::Array(_) | Value::Object(_));
    for column in [Some(layout.item), layout.annotator].into_iter().flatten() {
        let mut cells = table.sample.iter().map(|row| row.cell(column));
        if let Some(cell) = cells.find(|cell| table.frame().is_some() && !is_id(cell)) {
            let found = shorten(&cell.to_string());
            let problem = Problem::Shape { expected: "texts or numbers", found };
            return Err((problem, table.columns[column].clone()));
        }
    }
    Ok(())
}

/// States what was taken for what.
fn note(table: &Table, layout: &Layout, one_hot: &[usize], collector: &mut Collector<'_>) {
    let name = |column: usize| table.columns[column].clone();
    let said = collector.options;
    let nameless = is_headerless(table) && said.item.is_none() && said.annotator.is_none();
    if said.item.is_none() {
        let swapped = nameless && layout.annotator.is_some_and(|who| who < layout.item);
        let why = if swapped { " (the column before it names people)" } else { "" };
        collector.note("item column", name(layout.item) + why);
    }
    if said.annotator.is_none() {
        let value = layout.annotator.map_or("none: votes without annotators".to_owned(), name);
        collector.note("annotator column", value);
    }
    match one_hot {
        [first, .., last] if said.one_hot.is_none() => {
            let value = format!("{} … {} ({})", name(*first), name(*last), one_hot.len());
            collector.note("one-hot columns", value);
        }
        [] if said.label.is_none() => collector.note("label column", name(layout.label)),
        _ => {}
    }
    if let (None, Some(weight)) = (&said.weight, layout.weight) {
        collector.note("weight column", name(weight));
    }
    if let (None, Some(text)) = (&said.text, layout.text) {
        collector.note("text column", name(text));
    }
    if let (None, Some(count)) = (&said.count, layout.count) {
        collector.note("count column", name(count));
    }
    if layout.class.is_some() {
        return;
    }
    let first = table.sample.first().filter(|_| is_headerless(table));
    let cell = |column: usize| first.and_then(|row| cell_text(row.cell(column)));
    let first_row = [Some(layout.item), layout.annotator, Some(layout.label)];
    collector.guesses = Some(Guesses {
        item: said.item.is_none().then(|| name(layout.item)),
        labels: (said.label.is_none() && one_hot.is_empty()).then(|| name(layout.label)),
        own: own_names(table),
        nameless,
        first_row: first_row.into_iter().flatten().filter_map(cell).collect(),
    });
}

/// Without an annotator column, other columns with the label's values are votes as well.
fn other_voters(table: &Table, layout: &Layout, options: &ReadOptions) -> Result<(), Problem> {
    if layout.annotator.is_some() || options.label.is_some() || layout.class.is_some() {
        return Ok(());
    }
    let labels = columns::values(table, layout.label);
    let ignored = columns::ignored(table, options)?;
    let votes = |&c: &usize| {
        let values = columns::values(table, c);
        c != layout.label
            && c != layout.item
            && !ignored.contains(&c)
            && values.len() > 1
            && values.is_subset(&labels)
    };
    let others: Vec<usize> = (0..table.columns.len()).filter(votes).collect();
    if others.is_empty() || table.sample.len() < 2 {
        return Ok(());
    }
    let mut names: Vec<&str> = others.iter().map(|&c| table.columns[c].as_str()).collect();
    names.push(&table.columns[layout.label]);
    Err(Problem::Doubt {
        doubt: format!("the columns {} hold the same labels", names.join(", ")),
        options: &[ReadOption::Annotators, ReadOption::Label],
        remedy: "if they are annotators, name them with `annotators` (a list, or a pattern such as \
                 `rater_*`); if one of them is the label, name it with `label`",
    })
}

/// The texts of a table's items: of each the first that is not empty.
#[derive(Default)]
pub(super) struct Texts {
    known: HashSet<String>,
    all: Vec<(String, String)>,
}

impl Texts {
    /// A row of the item says this.
    pub(super) fn see(&mut self, item: &str, text: &str) {
        if !text.is_empty() && !self.known.contains(item) {
            self.known.insert(item.to_owned());
            self.all.push((item.to_owned(), text.to_owned()));
        }
    }

    /// Takes over what a later part of the table says.
    pub(super) fn merge(&mut self, other: Self) {
        other.all.iter().for_each(|(item, text)| self.see(item, text));
    }

    pub(super) fn keep(self, collector: &mut Collector<'_>) {
        collector.texts.extend(self.all);
    }
}

/// The column `class` of a canonical table: the place of each label in the order of the classes.
#[derive(Default)]
pub(super) struct ClassOrderColumn {
    places: Vec<(String, String)>,
    /// Where a label stands in `places`.
    seen: HashMap<String, usize>,
}

impl ClassOrderColumn {
    /// Checks that a label has the same place in every row.
    pub(super) fn see(&mut self, label: &str, place: &str) -> Result<(), Problem> {
        if label.is_empty() {
            return Ok(());
        }
        match self.seen.get(label).and_then(|&at| self.places.get(at)) {
            Some((_, known)) if known == place => Ok(()),
            Some((_, known)) => Err(Problem::Shape {
                expected: "one class number for each label",
                found: format!("{place:?} for {label:?}, which had {known:?} before"),
            }),
            None => {
                self.seen.insert(label.to_owned(), self.places.len());
                self.places.push((label.to_owned(), place.to_owned()));
                Ok(())
            }
        }
    }

    /// Takes over what another part of the table says.
    pub(super) fn merge(&mut self, other: Self) -> Result<(), Problem> {
        other.places.iter().try_for_each(|(label, place)| self.see(label, place))
    }

    /// Gives the classes the order of their places, unless the user declared another.
    pub(super) fn declare(self, collector: &mut Collector<'_>) -> Result<(), ReadError> {
        if self.places.is_empty() || collector.options.classes.is_some() {
            return Ok(());
        }
        let mut names = vec![None; self.places.len()];
        for (label, place) in self.places {
            let slot = place.parse::<usize>().ok().and_then(|place| names.get_mut(place));
            match slot {
                Some(slot @ None) => *slot = Some(label),
                _ => {
                    let expected = "class numbers 0, 1, … each for one label";
                    let found = format!("{place:?} for {label:?}");
                    return Err(collector
                        .error(Problem::Shape { expected, found })
                        .column("class"));
                }
            }
        }
        let names = names.into_iter().flatten().collect();
        collector.builder.declare_format(names).map_err(|e| collector.error(e))
    }
}
