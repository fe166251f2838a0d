//! Matrices: one row per item, one column per class; counts or probabilities, from `.npy`, `.npz` or a
//! table. A whole-number matrix with −1 in it is items × annotators instead.
//!
//! `.npz` files hold `counts` or `probabilities` (or one matrix of any name), and may hold `items`
//! and `classes`; `votes convert` writes them so.

use dissensus_core::{
    BuildError, ClassError, ClassOrder, ClassSet, Counts, HEAVIEST, Ids, Probabilities, VoteTable,
};

use super::Format;
use super::columns::{self, Role};
use super::long::{Missing, MissingVotes};
use crate::collector::Collector;
use crate::names;
use crate::options::{ReadOptions, Values};
use crate::profile::Profile;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::npy::{self, Array};
use dissensus_io::{Archive, Source, Table, TableKind, cell_text};
use dissensus_io::{Problem, ReadError, ReadOption, shorten};

pub(super) const NPY: Format = Format {
    name: "npy",
    title: "numpy array of counts or probabilities (CIFAR-10H)",
    layout: ".npy, items × classes; or whole numbers with -1, items × annotators",
    trap: "probabilities alone have no counts: what needs counts says so",
    examples: &[
        Example::arrays("counts.npy", &[("array", "[[30, 20, 1], [0, 47, 4]]")]),
        Example::arrays("labels.npy", &[("array", "[[0, 1, -1], [2, -1, 2]]")]),
    ],
    options: &[O::Values, O::Classes, O::Missing],
    detect: |source, _| matches!(source, Source::Npy(_)),
    read: read_npy,
};

pub(super) const NPZ: Format = Format {
    name: "npz",
    title: "numpy archive: counts or probabilities, with items and classes (our own)",
    layout: ".npz with `counts` or `probabilities`, and optionally `items` and `classes`",
    trap: "without `items` the rows are numbered from 0, which is printed",
    examples: &[Example::arrays(
        "votes.npz",
        &[
            ("counts", "[[3, 1], [0, 4]]"),
            ("items", "[\"a\", \"b\"]"),
            ("classes", "[\"no\", \"yes\"]"),
        ],
    )],
    options: &[O::Values, O::Classes, O::Missing],
    detect: detect_npz,
    read: read_npz,
};

pub(super) const TABLE: Format = Format {
    name: "matrix",
    title: "Table of counts or probabilities: one row per item, one column per class",
    layout: "CSV, TSV, JSON Lines or Parquet: an id column, then a column of numbers for each class",
    trap: "counts and probabilities look alike: told by whether rows sum to 1, printed, `values` says it",
    examples: &[
        Example::text("counts.csv", "id,no,yes\na,3,1\nb,0,4\n"),
        Example::text("probabilities.csv", "id,no,yes\na,0.75,0.25\nb,0.0,1.0\n"),
    ],
    options: &[O::Item, O::Counts, O::Ignore, O::Values, O::Classes, O::Missing],
    detect: detect_table,
    read: read_table,
};

/// A matrix on its way to becoming votes.
struct Matrix {
    /// Row after row.
    cells: Vec<f64>,
    /// Not told by the cells where there are no columns.
    rows: usize,
    width: usize,
    /// What the values are, where the file says so.
    values: Option<Values>,
    items: Option<Vec<String>>,
    classes: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
    /// The row number of the first item in messages, and the name of a column there.
    first_row: u64,
    columns: Option<Vec<String>>,
}

impl Matrix {
    /// What the numbers are: by what the user says, or the file; else whole numbers are counts (or
    /// labels, where −1 or NaN marks the missing ones) and others probabilities.
    fn values(&self, options: &ReadOptions) -> Values {
        if let Some(values) = options.values.or(self.values) {
            return values;
        }
        let whole = self.cells.iter().all(|v| v.fract() == 0.0 || v.is_nan());
        let none = |v: &f64| *v == -1.0 || v.is_nan();
        let gap = self.cells.iter().any(none) && self.cells.iter().all(|v| none(v) || *v >= 0.0);
        let some = self.cells.iter().any(|v| !v.is_nan());
        match (whole, gap && some) {
            (true, true) => Values::Labels,
            (true, false) => Values::Counts,
            (false, _) => Values::Probabilities,
        }
    }

    /// Whether small whole numbers may as well be the labels of annotators: counts of votes have
    /// rows of about the same sum, and zeros.
    fn may_be_labels(&self) -> bool {
        const SMALL: f64 = 20.0;
        let most = self.cells.iter().copied().fold(0.0, f64::max);
        if self.rows < 2 || self.width < 2 || most > SMALL {
            return false;
        }
        let sums: Vec<f64> = self.cells.chunks(self.width).map(|row| row.iter().sum()).collect();
        let (least, largest) = sums.iter().fold((f64::MAX, 0.0f64), |(low, high), &sum| {
            (if sum > 0.0 { low.min(sum) } else { low }, high.max(sum))
        });
        if sums.iter().all(|&sum| sum == sums[0]) {
            return false;
        }
        let like_labels = !self.cells.contains(&0.0) || most == 1.0;
        let named = self.classes.is_some();
        like_labels || (!named && (most < self.width as f64 || largest > 3.0 * least))
    }

    /// Makes the table.
    fn enter(self, collector: &mut Collector<'_>) -> Result<(), ReadError> {
        let values = self.values(collector.options);
        let told = collector.options.values.is_some() || self.values.is_some();
        if values != Values::Labels && collector.options.missing.is_some() {
            let (option, format) = (ReadOption::Missing, "matrix (counts or probabilities)");
            return Err(collector.error(Problem::UnusedOption { option, format }));
        }
        if !told && values == Values::Counts && self.may_be_labels() {
            return Err(collector.error(counts_or_labels()));
        }
        if collector.options.values.is_none() {
            let text = match values {
                Values::Counts => "counts (whole numbers), items × classes",
                Values::Probabilities => "probabilities (fractions), items × classes",
                Values::Labels => "labels (whole numbers, -1 missing), items × annotators",
            };
            collector.note("values", text);
        }
        if self.items.is_none() {
            collector.note("items", "numbered from 0");
        }
        let items = match &self.items {
            Some(items) if items.len() != self.rows => {
                return Err(collector.error(Problem::Unequal {
                    left: "items".into(),
                    left_len: items.len(),
                    right: "the matrix".into(),
                    right_len: self.rows,
                }));
            }
            Some(items) => unique(items, self.first_row, collector)?,
            None => Ids::positions(self.rows),
        };
        if values == Values::Labels {
            return self.enter_labels(&items, collector);
        }
        let classes = self.class_set(collector)?;
        collector.table = Some(match values {
            Values::Probabilities => self.probabilities(classes, items, collector)?,
            _ => self.counts(classes, items, collector)?,
        });
        Ok(())
    }

    fn class_set(&self, collector: &Collector<'_>) -> Result<ClassSet, ReadError> {
        if self.width > ClassSet::MOST {
            let (found, most) = (self.width, ClassSet::MOST);
            return Err(collector.error(BuildError::Classes(ClassError::TooMany { found, most })));
        }
        let declared = collector.options.classes.as_ref();
        let (names, order) = match (declared, &self.classes) {
            (Some(names), _) => (names.clone(), ClassOrder::Declared),
            (None, Some(names)) => (names.clone(), ClassOrder::Format),
            (None, None) => ((0..self.width).map(|i| i.to_string()).collect(), ClassOrder::Format),
        };
        if names.len() != self.width {
            return Err(collector.error(Problem::Unequal {
                left: "the class list".into(),
                left_len: names.len(),
                right: "a row of the matrix".into(),
                right_len: self.width,
            }));
        }
        ClassSet::new(names, order).map_err(|e| collector.error(BuildError::Classes(e)))
    }

    fn place(
        &self,
        collector: &Collector<'_>,
        problem: Problem,
        row: usize,
        column: usize,
    ) -> ReadError {
        let error = collector.error(problem).row(self.first_row + row as u64);
        match self.columns.as_ref().and_then(|names| names.get(column)) {
            Some(name) => error.column(name),
            None => error.column(column.to_string()),
        }
    }

    fn counts(
        &self,
        classes: ClassSet,
        items: Ids,
        collector: &mut Collector<'_>,
    ) -> Result<VoteTable, ReadError> {
        let mut counts = Counts::new();
        for row in 0..self.rows {
            let cells = &self.cells[row * self.width..(row + 1) * self.width];
            let mut entries = Vec::new();
            for (class, &n) in cells.iter().enumerate() {
                if n.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&n) {
                    let problem = Problem::NotACount { text: n.to_string() };
                    let error = self.place(collector, problem, row, class).item(items.name(row));
                    collector.reject(error)?;
                } else if n > 0.0 {
                    let at = row * self.width + class;
                    let weight = self.weights.as_ref().and_then(|w| w.get(at)).copied();
                    entries.push((class as u16, n as u32, weight.unwrap_or(n)));
                }
            }
            let pushed = match self.weights.is_some() {
                true => counts.push_weighted(entries),
                false => counts.push(entries.into_iter().map(|(class, n, _)| (class, n))),
            };
            let item = items.name(row);
            pushed.map_err(|e| collector.error(e).item(item))?;
        }
        VoteTable::from_counts(classes, items, counts).map_err(|e| collector.error(e))
    }

    fn probabilities(
        &self,
        classes: ClassSet,
        items: Ids,
        collector: &mut Collector<'_>,
    ) -> Result<VoteTable, ReadError> {
        let mut rows = Probabilities::new(self.width);
        let mut kept = Vec::new();
        for (row, cells) in self.cells.chunks(self.width.max(1)).enumerate() {
            match rows.push(cells) {
                Ok(()) => kept.push(row),
                Err(problem) => {
                    let error = collector.error(problem).row(self.first_row + row as u64);
                    collector.reject(error.item(items.name(row)))?;
                }
            }
        }
        let items = if kept.len() == items.len() { items } else { items.select(kept) };
        VoteTable::from_probabilities(classes, items, rows).map_err(|e| collector.error(e))
    }

    fn enter_labels(&self, items: &Ids, collector: &mut Collector<'_>) -> Result<(), ReadError> {
        let mut missing_values = Missing::new(collector.options, false);
        if collector.options.missing.is_none() {
            missing_values.insert("-1");
        }
        let mut missing = MissingVotes::default();
        for (row, cells) in self.cells.chunks(self.width.max(1)).enumerate() {
            let (item, number) = (items.name(row), self.first_row + row as u64);
            if !collector.new_item(item, number)? {
                continue;
            }
            for (annotator, &value) in cells.iter().enumerate() {
                let label = format!("{value}");
                if missing_values.contains(&label) {
                    missing.add(item, number, &label);
                } else {
                    collector.vote(item, Some(&annotator.to_string()), &label, 1.0, number)?;
                }
            }
        }
        missing.note(collector);
        Ok(())
    }
}

/// Ids that are all different and not empty.
fn unique(ids: &[String], first_row: u64, collector: &Collector<'_>) -> Result<Ids, ReadError> {
    let mut builder = dissensus_core::IdsBuilder::new();
    for (row, id) in ids.iter().enumerate() {
        let problem = match builder.intern(id) {
            _ if id.is_empty() => Problem::EmptyCell { role: "item" },
            Some((_, true)) => continue,
            _ => Problem::DuplicateItem { id: shorten(id) },
        };
        return Err(collector.error(problem).row(first_row + row as u64));
    }
    Ok(builder.finish())
}

/// The cells of a matrix, and its rows and columns.
fn numbers(
    array: &Array<'_>,
    options: &ReadOptions,
) -> Result<(Vec<f64>, (usize, usize)), Problem> {
    let (rows, width) = array.matrix_shape()?;
    // A matrix without rows may still claim any number of columns, and the other way round.
    if rows.max(1).saturating_mul(width.max(1)) as u64 > options.limits.cells {
        let what = "rows, columns or cells in the matrix";
        return Err(Problem::TooMany { what, limit: options.limits.cells });
    }
    Ok((array.numbers()?, (rows, width)))
}

fn read_npy(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Npy(bytes) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: NPY.name, seen }));
    };
    let array = npy::parse(&bytes).map_err(|p| collector.error(p))?;
    let (cells, (rows, width)) =
        numbers(&array, collector.options).map_err(|p| collector.error(p))?;
    let (values, items, classes, weights, columns) = (None, None, None, None, None);
    Matrix { cells, rows, width, values, items, classes, weights, first_row: 0, columns }
        .enter(collector)
}

fn detect_npz(source: &Source, _: &ReadOptions) -> bool {
    let Source::Archive(archive) = source else {
        return false;
    };
    archive.names().any(|name| name.ends_with(".npy"))
}

fn read_npz(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Archive(mut archive) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: NPZ.name, seen }));
    };
    let names: Vec<String> = archive.names().collect();
    let known = ["counts.npy", "probabilities.npy", "probs.npy", "labels.npy", "votes.npy"];
    let mut found = None;
    if let Some(&name) = known.iter().find(|k| names.iter().any(|n| n == *k)) {
        found = Some((name.to_owned(), archive.read(name)?));
    } else {
        for name in names.iter().filter(|n| n.ends_with(".npy")) {
            let bytes = archive.read(name)?;
            let is_matrix = npy::parse(&bytes).is_ok_and(|array| array.shape.len() == 2);
            if is_matrix && let Some((other, _)) = found.replace((name.clone(), bytes)) {
                let seen = format!("two matrices, {other} and {name}, and none named `counts`");
                return Err(collector.error(Problem::NotThisFormat { format: NPZ.name, seen }));
            }
        }
    }
    let Some((name, bytes)) = found else {
        return Err(collector.error(Problem::NotThisFormat { format: NPZ.name, seen }));
    };
    let fail = |problem: Problem| collector.error(problem).column(name.clone());
    let array = npy::parse(&bytes).map_err(fail)?;
    let (cells, (rows, width)) = numbers(&array, collector.options).map_err(fail)?;
    // Shares of 0 and 1 alone would look like counts.
    let values = match name.as_str() {
        "counts.npy" => Some(Values::Counts),
        "probabilities.npy" | "probs.npy" => Some(Values::Probabilities),
        _ => None,
    };
    if let Some(scale) = texts(&mut archive, &["scale.npy"], collector)?.as_deref() {
        let expected = "one scale: nominal or ordinal";
        let shape = || Problem::Shape { expected, found: shorten(&scale.join(", ")) };
        let [one] = scale else { return Err(collector.error(shape()).column("scale.npy")) };
        let named = one.parse().map_err(|_| collector.error(shape()).column("scale.npy"))?;
        collector.scale = Some(named);
    }
    let items = texts(&mut archive, &["items.npy", "ids.npy"], collector)?;
    let classes = texts(&mut archive, &["classes.npy"], collector)?;
    let weighted = archive.names().any(|n| n == "weights.npy");
    let weights = match weighted {
        false => None,
        true => {
            let bytes = archive.read("weights.npy")?;
            let fail = |problem: Problem| collector.error(problem).column("weights.npy");
            let array = npy::parse(&bytes).map_err(fail)?;
            let (weights, _) = numbers(&array, collector.options).map_err(fail)?;
            let fine = weights.iter().all(|w| (0.0..=HEAVIEST).contains(w));
            if weights.len() != cells.len() || !fine {
                return Err(fail(Problem::Array("weights that do not fit the counts".into())));
            }
            Some(weights)
        }
    };
    if known[0] != name {
        collector.note("matrix", name);
    }
    let (first_row, columns) = (0, None);
    Matrix { cells, rows, width, values, items, classes, weights, first_row, columns }
        .enter(collector)
}

fn texts(
    archive: &mut Archive,
    names: &[&str],
    collector: &Collector<'_>,
) -> Result<Option<Vec<String>>, ReadError> {
    let Some(name) = names.iter().find(|name| archive.names().any(|n| n == **name)) else {
        return Ok(None);
    };
    let bytes = archive.read(name)?;
    let fail = |problem: Problem| collector.error(problem).column(name.to_string());
    let array = npy::parse(&bytes).map_err(fail)?;
    if array.shape.len() != 1 || array.shape[0] as u64 > collector.options.limits.cells {
        return Err(fail(Problem::Array(format!("a list is needed, not {:?}", array.shape))));
    }
    array.texts().map(Some).map_err(fail)
}

/// Which columns of a table are a matrix.
pub(crate) struct Columns {
    item: Option<usize>,
    classes: Vec<usize>,
    /// Whether names or sums say that the numbers are counts.
    counts: bool,
}

/// The runs of columns of counts whose sum stands in a column beside them.
pub(crate) fn totals(profile: &Profile) -> Vec<(usize, Vec<usize>)> {
    let is_total = |c: &usize| {
        let of_votes = |word: &String| {
            ["total", "sum", "n", "num", "number", "count", "counts", "votes", "classifications"]
                .contains(&word.as_str())
        };
        let name = profile.name(*c);
        profile.is_counts(*c) && (names::total(name) || names::words(name).iter().any(of_votes))
    };
    // Classes that stand beside their total.
    const MOST: usize = 100;
    let columns = profile.all().len();
    let counts = |c: &usize| profile.is_counts(*c);
    let mut found = Vec::new();
    for total in profile.all().filter(is_total) {
        let behind: Vec<usize> = (total + 1..columns).take_while(counts).take(MOST).collect();
        let before: Vec<usize> = (0..total).rev().take_while(counts).take(MOST).collect();
        let run = [behind, before].into_iter().find_map(|run| {
            let length = (2..=run.len()).find(|&n| profile.is_sum(total, &run[..n]))?;
            let mut run = run[..length].to_vec();
            run.sort_unstable();
            Some(run)
        });
        // More than zeros and a copy.
        let real = |run: &Vec<usize>| run.iter().filter(|&&c| profile.distinct(c) > 1).count() > 1;
        found.extend(run.filter(real).map(|run| (total, run)));
    }
    found
}

/// Whether a name says that a column holds numbers of votes: `votes_no`, `yes_votes`, `lpd_vote`.
fn says_counts(name: &str) -> bool {
    let words = names::words(name);
    let direction = |word: &String| ["up", "down", "upvotes", "downvotes"].contains(&word.as_str());
    let votes = words.iter().any(|word| matches!(word.as_str(), "votes" | "nvotes"));
    words.len() > 1
        && (votes || words.last().is_some_and(|word| word == "vote"))
        && !words.iter().any(direction)
}

/// Whether a name says that a column holds the output of a model.
fn of_model(name: &str) -> bool {
    let output = |word: &String| {
        [
            "prob",
            "probs",
            "probability",
            "pred",
            "prediction",
            "logit",
            "logits",
            "softmax",
            "proba",
        ]
        .contains(&word.as_str())
    };
    names::words(name).iter().any(output)
}

/// The only run of neighbours of which the sum is the same in all rows, among others that are something else.
fn same_sums_within(profile: &Profile, columns: &[usize]) -> Option<Vec<usize>> {
    const ROWS: usize = 8;
    const MOST: usize = 30;
    if profile.rows < ROWS || columns.len() > MOST || profile.one_sum(columns) {
        return None;
    }
    let varied = |c: &&usize| profile.is_counts(**c) && profile.distinct(**c) > 1;
    let columns: Vec<usize> = columns.iter().filter(varied).copied().collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for run in columns.chunk_by(|&a, &b| a + 1 == b) {
        for length in (2..=run.len()).rev() {
            let fits = run.windows(length).filter(|of| profile.same_sums(of));
            let names = |of: &[usize]| names::results(of.iter().map(|&c| profile.name(c)));
            found.extend(fits.filter(|of| !names(of)).map(<[usize]>::to_vec));
        }
    }
    let [run] = found.as_slice() else { return None };
    Some(run.clone())
}

/// Names without the word for votes that all of them begin or end with (`votes_yes`, `n_no`).
fn without_word_for_votes(names: &[String]) -> Vec<String> {
    const BEFORE: [&str; 6] = ["votes_", "n_votes_", "num_votes_", "n_", "num_", "count_"];
    const BEHIND: [&str; 4] = ["_votes", "_count", "_counts", "_n"];
    let strip = |name: &String| {
        let cut = |of: &'static [&'static str], f: fn(&str, &str) -> Option<String>| {
            of.iter().find_map(move |word| f(name, word).map(|rest| (*word, rest)))
        };
        cut(&BEFORE, |n, w| n.strip_prefix(w).map(str::to_owned))
            .or_else(|| cut(&BEHIND, |n, w| n.strip_suffix(w).map(str::to_owned)))
    };
    let stripped: Option<Vec<(&str, String)>> = names.iter().map(strip).collect();
    match stripped {
        Some(all)
            if all.windows(2).all(|pair| pair[0].0 == pair[1].0)
                && all.iter().all(|(_, rest)| !rest.is_empty()) =>
        {
            all.into_iter().map(|(_, rest)| rest).collect()
        }
        _ => names.to_vec(),
    }
}

/// Columns of counts (`n_yes`, `n_no`) beside which the shares stand that they make (`p_yes`, `p_no`).
fn beside_shares(profile: &Profile, all: &[usize]) -> Option<Vec<usize>> {
    let counts: Vec<usize> = all.iter().copied().filter(|&c| profile.is_counts(c)).collect();
    let first = |c: usize| names::words(profile.name(c)).into_iter().next();
    let run =
        counts.chunk_by(|&a, &b| a + 1 == b && first(a) == first(b)).find(|run| run.len() > 1)?;
    let share = |&c: &usize| all.iter().any(|&s| s != c && profile.is_share(s, c, run));
    run.iter().all(share).then(|| run.to_vec())
}

/// The id column, if there is one, and the class columns.
fn table_layout(table: &Table, options: &ReadOptions) -> Result<Columns, Problem> {
    let mut item = columns::find(table, Role::Item, options)?;
    let ignored = columns::ignored(table, options)?;
    let profile = Profile::of(&table.columns, table.sample.iter());
    let headless = matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header);
    // An index of pandas beside another id only numbers the rows.
    let index = |&c: &usize| {
        let name = names::plain(profile.name(c));
        ["", "index", "unnamed0"].contains(&name.as_str()) && profile.is_row_number(c)
    };
    let index = (0..profile.all().len().min(1)).find(index);
    if options.item.is_none() && item == index {
        let other = |&c: &usize| {
            Some(c) != index && names::item(profile.name(c)).is_some() && profile.is_unique(c)
        };
        item = profile.all().find(other).or(item);
    }
    let ignored: Vec<usize> =
        ignored.into_iter().chain(index.filter(|_| item.is_some() && item != index)).collect();
    // pandas writes the index as a first column without a name.
    item = item.or_else(|| {
        let first = table.columns.first()?;
        let index = first.is_empty() || names::plain(first) == "unnamed0";
        let said = options.counts.is_some() || options.values.is_some() || headless;
        ((index || (said && !profile.is_numeric(0))) && !ignored.contains(&0)).then_some(0)
    });
    if let Some(patterns) = &options.counts {
        let mut classes = columns::matching(table, patterns)?;
        item = item.filter(|c| !classes.contains(c));
        classes.retain(|c| Some(*c) != item && !ignored.contains(c));
        return Ok(Columns { item, classes, counts: true });
    }
    let free = |c: &usize| Some(*c) != item && !ignored.contains(c);
    let all: Vec<usize> = profile.all().filter(free).collect();
    let said = options.values.is_some();
    let runs: Vec<(usize, Vec<usize>)> =
        totals(&profile).into_iter().filter(|(t, run)| run.iter().chain([t]).all(free)).collect();
    if let ([(_, run)], false, Some(_)) = (runs.as_slice(), said, item) {
        return Ok(Columns { item, classes: run.clone(), counts: true });
    }
    if let (false, Some(_), Some(run)) = (said, item, beside_shares(&profile, &all)) {
        return Ok(Columns { item, classes: run, counts: true });
    }
    let voted: Vec<usize> = all
        .iter()
        .copied()
        .filter(|&c| {
            says_counts(profile.name(c)) && profile.is_counts(c) && !names::derived(profile.name(c))
        })
        .collect();
    if let (false, false, Some(_), true) = (said, headless, item, voted.len() > 1) {
        return Ok(Columns { item, classes: voted, counts: true });
    }
    let made = |&c: &usize| {
        let name = profile.name(c);
        names::derived(name) || names::label(name).is_some() || (!said && profile.is_text(c))
    };
    let mut classes: Vec<usize> =
        all.iter().copied().filter(|c| said || headless || !made(c)).collect();
    if !said && !headless {
        // The majority's number or name is no class.
        let rest = classes.clone();
        classes.retain(|&c| {
            let others: Vec<usize> = rest.iter().copied().filter(|&o| o != c).collect();
            profile.is_numeric(c) || !profile.is_largest(c, &others)
        });
    }
    if let (false, Some(_), Some(run)) =
        (said || headless, item, same_sums_within(&profile, &classes))
    {
        return Ok(Columns { item, classes: run, counts: true });
    }
    let counts = classes.len() > 1
        && classes.iter().all(|&c| profile.is_counts(c))
        && !names::results(classes.iter().map(|&c| profile.name(c)))
        && !classes.iter().any(|&c| profile.is_constant(c))
        && (profile.same_sums(&classes) || classes.iter().all(|&c| says_counts(profile.name(c))));
    Ok(Columns { item, classes, counts })
}

fn detect_table(source: &Source, options: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    if options.counts.is_some() {
        return true;
    }
    let Ok(found) = table_layout(table, options) else {
        return false;
    };
    let numeric = |&c: &usize| table.sample.iter().all(|r| columns::number(r.cell(c)).is_some());
    let people = |&c: &usize| names::annotator(&table.columns[c]) || of_model(&table.columns[c]);
    let headless = matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header);
    let said = options.values.is_some() || headless;
    (said || (found.item.is_some() && !found.classes.iter().any(people)))
        && found.classes.len() >= 2
        && !table.sample.is_empty()
        && found.classes.iter().all(numeric)
}

fn read_table(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: TABLE.name, seen }));
    };
    let Columns { item, classes, counts } =
        table_layout(&table, collector.options).map_err(|p| collector.error(p))?;
    if classes.is_empty() {
        return Err(collector.error(Problem::NotThisFormat { format: TABLE.name, seen }));
    }
    let names: Vec<String> = classes.iter().map(|&c| table.columns[c].clone()).collect();
    if collector.options.item.is_none()
        && let Some(item) = item
    {
        collector.note("item column", table.columns[item].as_str());
    }
    if collector.options.counts.is_none() {
        collector.note("class columns", names.join(", "));
    }
    let first_row = table.sample.first().map_or(1, |row| row.number);
    let headed = names.iter().all(|name| !name.starts_with('#'));
    let mut cells = Vec::new();
    let mut items = Vec::new();
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        if (cells.len() + classes.len()) as u64 > collector.options.limits.cells {
            let limit = collector.options.limits.cells;
            return Err(collector.error(Problem::TooMany { what: "cells in the matrix", limit }));
        }
        let mut values = Vec::with_capacity(classes.len());
        for (&column, name) in classes.iter().zip(&names) {
            match columns::number(row.cell(column)) {
                Some(value) => values.push(value),
                None => {
                    let text = shorten(&cell_text(row.cell(column)).unwrap_or_default());
                    let error = collector.error(Problem::NotANumber { text }).row(row.number);
                    collector.reject(error.column(name))?;
                }
            }
        }
        if values.len() < classes.len() {
            continue;
        }
        cells.extend(values);
        items.extend(item.map(|c| cell_text(row.cell(c)).unwrap_or_default()));
    }
    // The last row may be the sum of the others (`margins` of a crosstab).
    let width = classes.len();
    if collector.options.values.is_none()
        && let Some(last) = sum_row(&cells, width)
        && let Some(id) = items.last()
    {
        collector
            .note("left out", format!("the last row ({id:?}), which is the sum of the others"));
        cells.truncate(last * width);
        items.pop();
    }
    let matrix = Matrix {
        rows: cells.len() / classes.len(),
        cells,
        width: classes.len(),
        values: (counts && collector.options.values.is_none()).then_some(Values::Counts),
        items: item.is_some().then_some(items),
        classes: headed.then(|| match collector.options.counts.is_none() && counts {
            true => without_word_for_votes(&names),
            false => names.clone(),
        }),
        weights: None,
        first_row,
        columns: Some(names),
    };
    let asked = collector.options.values.is_some() || counts;
    if !asked && matrix.values(collector.options) != Values::Probabilities {
        let names = matrix.columns.as_deref().unwrap_or_default();
        return Err(collector.error(open_numbers(&matrix.cells, names)));
    }
    matrix.enter(collector)
}

/// The last row, where it is the sum of all others in every column.
fn sum_row(cells: &[f64], width: usize) -> Option<usize> {
    const ENOUGH: usize = 3;
    let rows = cells.len() / width.max(1);
    let last = rows.checked_sub(1).filter(|&last| last >= ENOUGH)?;
    let sum = |c: usize| (0..last).map(|row| cells[row * width + c]).sum::<f64>();
    let same = |c: usize| sum(c) == cells[last * width + c];
    let real = (0..width).filter(|&c| sum(c) > 0.0).count() > 1;
    (real && (0..width).all(same)).then_some(last)
}

/// What whole numbers of a table mean, nothing in them tells; what they are not, some say.
fn open_numbers(cells: &[f64], names: &[String]) -> Problem {
    const SMALL: f64 = 20.0;
    let ranks = |row: &[f64]| {
        let mut row = row.to_vec();
        row.sort_by(f64::total_cmp);
        (row[0] == 0.0 || row[0] == 1.0) && row.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
    };
    let width = names.len().max(1);
    let doubt = if names::results(names.iter().map(String::as_str)) {
        "the columns are called like the results of games or comparisons (wins, draws, losses)"
            .to_owned()
    } else if width > 2 && cells.chunks_exact(width).all(ranks) {
        "every row holds the ranks 1, 2, …: a ranking of the columns".to_owned()
    } else if let Some(most) = cells.iter().copied().reduce(f64::max).filter(|most| *most > SMALL) {
        format!(
            "whole numbers up to {most}: votes per class, or something else that is counted (likes, years)"
        )
    } else {
        return counts_or_labels();
    };
    Problem::Doubt {
        doubt,
        options: &[ReadOption::Counts, ReadOption::Values],
        remedy: "if columns hold votes per class, name them with `counts`",
    }
}

/// What whole numbers mean, nothing in them tells.
fn counts_or_labels() -> Problem {
    Problem::Doubt {
        doubt: "small whole numbers: votes per class (items × classes), or the labels of \
                annotators (items × annotators)"
            .to_owned(),
        options: &[ReadOption::Values, ReadOption::Missing],
        remedy: "say which with `values = counts` or `values = labels`; `missing = 0` if 0 is \
                 no vote",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_bytes;
    use dissensus_core::Ballots;

    fn npy(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
        [npy::header(descr, shape), data.to_vec()].concat()
    }

    fn error(bytes: Vec<u8>) -> String {
        read_bytes("x", bytes, &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn counts_probabilities_and_labels_are_told_apart() {
        let counts = npy("|u1", &[2, 2], &[3, 1, 0, 4]);
        let reading = read_bytes("x", counts, &ReadOptions::default()).unwrap();
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [3.0, 1.0]);
        let shares: Vec<u8> = [0.25f64, 0.75].iter().flat_map(|v| v.to_le_bytes()).collect();
        let reading = read_bytes("x", npy("<f8", &[1, 2], &shares), &ReadOptions::default());
        assert!(matches!(reading.unwrap().table.ballots(), Ballots::Probabilities(_)));
        let labels = npy("|i1", &[2, 3], &[0, 1, 0xff, 1, 1, 1]);
        let table = read_bytes("x", labels, &ReadOptions::default()).unwrap().table;
        assert_eq!(table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!(table.annotators().len(), 3);
    }

    #[test]
    fn bad_numbers_are_named() {
        let bad: Vec<u8> = [0.5f64, f64::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
        let text = error(npy("<f8", &[1, 2], &bad));
        assert!(
            text.starts_with("x, row 0, item \"0\": class 1 has the probability NaN"),
            "{text}"
        );
        let text = error(npy("|i1", &[1, 2], &[3, 0xfe]));
        assert_eq!(
            text,
            "x, row 0, column \"1\", item \"0\": \"-2\" is not a number of votes (a whole number, 0 or more)"
        );
        assert!(error(npy("|i1", &[4], &[3; 4])).contains("a matrix is needed"));
    }

    #[test]
    fn tables_of_numbers() {
        let text = "id,cat,dog\na,3,1\nb,0,4\n";
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "matrix");
        assert_eq!(reading.table.classes().names(), ["cat", "dog"]);
        assert!(reading.table.items().iter().eq(["a", "b"]));
        assert_eq!(
            error("id,cat,dog\na,3,1\nb,0,4\na,2,2\n".into()),
            "x, row 4: item \"a\" appears twice"
        );
        assert_eq!(
            error("id,cat,dog\na,0.5,0.2\n".into()),
            "x, row 2, item \"a\": the probabilities sum to 0.7, not to 1 within 0.005"
        );
        let classes = Some(vec!["x".to_owned()]);
        let options = ReadOptions { classes, ..ReadOptions::default() };
        let error = read_bytes("x", text.into(), &options).err().unwrap().to_string();
        assert_eq!(error, "x: the class list has 1 entries, a row of the matrix has 2");
    }
}
