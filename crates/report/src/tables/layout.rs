//! Which lines and columns a table has: the dimensions that go down and across, their values in
//! order, and the heads over them.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::results::{Results, Value};
use super::spec::{Dimension, TableSpec};
use super::table::{CellKey, Head};
use super::words;
use crate::ReportError;
use crate::book::{Book, Direction};

/// Where everything goes.
pub(super) struct Layout {
    pub(super) down: Vec<Dimension>,
    pub(super) across: Vec<Dimension>,
    /// The values of the dimensions that go down, one list for each line.
    pub(super) lines: Vec<Vec<Value>>,
    /// The values of those that go across, one list for each column.
    pub(super) columns: Vec<Vec<Value>>,
    /// The one value of each of the other dimensions.
    rest: CellKey,
}

impl Layout {
    /// Checks the names of the spec and lays the table out. `published` are the places of
    /// published values, which keep a line that has no run yet.
    pub(super) fn of(
        spec: &TableSpec,
        book: &Book,
        results: &Results,
        published: &[CellKey],
    ) -> Result<Self, ReportError> {
        check_names(spec, book, results)?;
        let (down, across) = sides(spec)?;
        let shown: Vec<Dimension> = down.iter().chain(&across).copied().collect();
        let wanted = Wanted::of(spec, &shown);
        let found: Vec<&CellKey> = results.all().filter(|at| wanted.has(at)).collect();
        let rest = rest(&wanted, &shown, &found, book)?;
        let places: Vec<&CellKey> =
            found.iter().copied().chain(published.iter().filter(|at| wanted.has(at))).collect();
        let combine = |dimensions: &[Dimension]| {
            let values = dimensions.iter().map(|d| wanted.values(*d, &found, book)).collect();
            product(dimensions, values, &places)
        };
        Ok(Self { lines: combine(&down), columns: combine(&across), down, across, rest })
    }

    /// The lines of the book's baselines, which do not depend on the votes that training sees: one for
    /// each baseline and for whatever else lines are told apart by. None where arms go across.
    pub(super) fn baselines(&self, book: &Book) -> Vec<Vec<Value>> {
        if !self.down.contains(&Dimension::Arm) {
            return Vec::new();
        }
        let mut names = Vec::new();
        push_new(&mut names, book.baselines.iter().map(|row| Value::Name(row.arm.clone())));
        let mut lines: Vec<Vec<Value>> = Vec::new();
        for name in names {
            let line = |line: &Vec<Value>| -> Vec<Value> {
                let value = |(dimension, value): (&Dimension, &Value)| match dimension {
                    Dimension::Arm => name.clone(),
                    Dimension::K => Value::Votes(None),
                    _ => value.clone(),
                };
                self.down.iter().zip(line).map(value).collect()
            };
            for line in self.lines.iter().map(line) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// What the cell of a line and a column is of.
    pub(super) fn at(&self, line: &[Value], column: &[Value]) -> CellKey {
        let down = self.down.iter().zip(line);
        let across = self.across.iter().zip(column);
        down.chain(across)
            .fold(self.rest.clone(), |at, (dimension, value)| at.with(*dimension, value))
    }
}

/// How a spec's table is called in errors.
pub(super) fn place(spec: &TableSpec) -> String {
    format!("table {:?}", spec.name)
}

/// Every name of a spec is one of the book's. A book that has nothing to compare with (no run is
/// done yet) takes any.
pub(super) fn check_names(
    spec: &TableSpec,
    book: &Book,
    results: &Results,
) -> Result<(), ReportError> {
    let check = |dimension: Dimension, names: Vec<&String>| {
        let mut known = named(dimension, book);
        push_new(&mut known, results.all().map(|at| at.get(dimension)));
        let known: Vec<String> = known.iter().map(Value::name).collect();
        match names.into_iter().find(|name| !known.contains(name)) {
            Some(name) if !known.is_empty() => Err(ReportError::unknown(
                place(spec),
                dimension.name(),
                name,
                known.iter().map(String::as_str),
            )),
            _ => Ok(()),
        }
    };
    let against = spec.against.iter().map(|against| &against.arm);
    check(Dimension::Dataset, spec.datasets.iter().collect())?;
    check(Dimension::Arm, spec.arms.iter().chain(against).collect())?;
    check(Dimension::Metric, spec.metrics.iter().collect())?;
    check(Dimension::Slice, spec.slices.iter().filter(|slice| *slice != ALL_ITEMS).collect())
}

/// The slice of all items.
const ALL_ITEMS: &str = "all";

/// What goes down and what across, with the defaults.
fn sides(spec: &TableSpec) -> Result<(Vec<Dimension>, Vec<Dimension>), ReportError> {
    let free = |taken: &[Dimension], first: Dimension| {
        let free = |d: &Dimension| !taken.contains(d);
        std::iter::once(first).chain(Dimension::ALL).find(free).into_iter().collect()
    };
    let (mut down, mut across) = (spec.down.clone(), spec.across.clone());
    if down.is_empty() {
        down = free(&across, Dimension::Arm);
    }
    if across.is_empty() {
        across = free(&down, Dimension::Metric);
    }
    let mut seen = HashSet::new();
    match down.iter().chain(&across).find(|d| !seen.insert(**d)) {
        Some(twice) => {
            Err(ReportError::DimensionTwice { place: place(spec), dimension: twice.name() })
        }
        None => Ok((down, across)),
    }
}

/// What a spec wants to see.
struct Wanted<'a> {
    spec: &'a TableSpec,
    /// The values that it lists, each once; an empty list for all.
    listed: HashMap<Dimension, Vec<Value>>,
}

impl<'a> Wanted<'a> {
    fn of(spec: &'a TableSpec, shown: &[Dimension]) -> Self {
        let names = |names: &[String]| names.iter().cloned().map(Value::Name).collect::<Vec<_>>();
        let listed = |dimension| {
            let all = match dimension {
                Dimension::Dataset => names(&spec.datasets),
                Dimension::Arm => names(&spec.arms),
                Dimension::Metric => names(&spec.metrics),
                Dimension::K => spec.ks.iter().map(|k| Value::Votes(k.0)).collect(),
                Dimension::Slice if spec.slices.is_empty() && !shown.contains(&dimension) => {
                    vec![Value::Name(ALL_ITEMS.to_owned())]
                }
                Dimension::Slice => names(&spec.slices),
            };
            let mut once = Vec::new();
            push_new(&mut once, all.into_iter());
            (dimension, once)
        };
        Self { spec, listed: Dimension::ALL.into_iter().map(listed).collect() }
    }

    fn listed(&self, dimension: Dimension) -> &[Value] {
        self.listed.get(&dimension).map(Vec::as_slice).unwrap_or_default()
    }

    fn has(&self, at: &CellKey) -> bool {
        Dimension::ALL.into_iter().all(|dimension| {
            let listed = self.listed(dimension);
            listed.is_empty() || listed.contains(&at.get(dimension))
        })
    }

    /// The values to show, in order: those listed, else those that there are results of, else (no
    /// run is done yet) all that the book names.
    fn values(&self, dimension: Dimension, found: &[&CellKey], book: &Book) -> Vec<Value> {
        let listed = self.listed(dimension);
        if !listed.is_empty() {
            return listed.to_vec();
        }
        let seen: HashSet<Value> = found.iter().map(|at| at.get(dimension)).collect();
        let mut values = named(dimension, book);
        if !seen.is_empty() {
            values.retain(|value| seen.contains(value));
        }
        push_new(&mut values, found.iter().map(|at| at.get(dimension)));
        match dimension {
            Dimension::K if values.is_empty() => values.push(Value::Votes(None)),
            Dimension::Slice if values.is_empty() => values.push(Value::Name(ALL_ITEMS.to_owned())),
            _ => {}
        }
        if dimension == Dimension::K {
            values.sort_by_key(|value| match value {
                Value::Votes(Some(k)) => u64::from(*k),
                _ => u64::MAX,
            });
        }
        values
    }
}

/// The one value of each dimension that is not shown.
fn rest(
    wanted: &Wanted<'_>,
    shown: &[Dimension],
    found: &[&CellKey],
    book: &Book,
) -> Result<CellKey, ReportError> {
    let mut rest = CellKey::default();
    for dimension in Dimension::ALL.into_iter().filter(|d| !shown.contains(d)) {
        let seen: HashSet<Value> = found.iter().map(|at| at.get(dimension)).collect();
        let mut values = wanted.values(dimension, found, book);
        if !seen.is_empty() {
            values.retain(|value| seen.contains(value));
        }
        if let (Some(first), true) = (values.first(), seen.len() > 1) {
            let names: Vec<String> = values.iter().map(Value::name).collect();
            let first = match first {
                Value::Votes(Some(k)) => k.to_string(),
                other => format!("{:?}", other.name()),
            };
            return Err(ReportError::Ambiguous {
                place: place(wanted.spec),
                dimension: dimension.name(),
                values: names.join(", "),
                keep: format!("{}s = [{first}]", dimension.name()),
            });
        }
        if let Some(value) = values.first() {
            rest = rest.with(dimension, value);
        }
    }
    Ok(rest)
}

/// The values that the book names, in its order.
fn named(dimension: Dimension, book: &Book) -> Vec<Value> {
    let value = |name: &String| Value::Name(name.clone());
    match dimension {
        Dimension::Dataset => book.datasets.iter().map(|d| value(&d.name)).collect(),
        Dimension::Arm => book.arms.iter().map(|a| value(&a.name)).collect(),
        Dimension::Metric => book.metrics.iter().map(|m| value(&m.name)).collect(),
        Dimension::K | Dimension::Slice => Vec::new(),
    }
}

/// Adds those that are not there yet, in their order.
pub(super) fn push_new<T: Clone + Eq + Hash>(values: &mut Vec<T>, more: impl Iterator<Item = T>) {
    let mut seen: HashSet<T> = values.iter().cloned().collect();
    values.extend(more.filter(|value| seen.insert(value.clone())));
}

/// All combinations, the first dimension slowest. Of several dimensions, those that nothing is
/// known of are left out: not every arm is trained at every number of votes.
fn product(
    dimensions: &[Dimension],
    values: Vec<Vec<Value>>,
    places: &[&CellKey],
) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new()];
    for values in values {
        let longer = |start: &Vec<Value>| {
            let start = start.clone();
            values.iter().map(move |value| [start.clone(), vec![value.clone()]].concat()).collect()
        };
        all = all.iter().flat_map(|start| -> Vec<Vec<Value>> { longer(start) }).collect();
    }
    if dimensions.len() > 1 && !places.is_empty() {
        let key = |at: &&CellKey| dimensions.iter().map(|d| at.get(*d)).collect::<Vec<_>>();
        let known: HashSet<Vec<Value>> = places.iter().map(key).collect();
        all.retain(|combination| known.contains(combination));
    }
    all
}

/// The heads of lines or columns: for each of them one head per level, with a span of 0 where the
/// one before covers it.
pub(super) fn heads(dimensions: &[Dimension], all: &[Vec<Value>], book: &Book) -> Vec<Vec<Head>> {
    let mut heads: Vec<Vec<Head>> = Vec::new();
    let mut starts = vec![0; dimensions.len()];
    for (at, values) in all.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &all[before]);
        let mut line = Vec::new();
        for (level, (dimension, value)) in dimensions.iter().zip(values).enumerate() {
            // The last level tells neighbours apart; it is never joined.
            let covered = level + 1 < dimensions.len()
                && before.is_some_and(|before| before[..=level] == values[..=level]);
            if covered {
                heads[starts[level]][level].span += 1;
            } else {
                starts[level] = at;
            }
            line.push(Head { span: usize::from(!covered), ..head(*dimension, value, book) });
        }
        heads.push(line);
    }
    heads
}

fn head(dimension: Dimension, value: &Value, book: &Book) -> Head {
    let name = value.name();
    let title = match (dimension, value) {
        (Dimension::Dataset, _) => book.dataset_title(&name).to_owned(),
        (Dimension::Arm, _) => book.arm_title(&name).to_owned(),
        (Dimension::Metric, _) => book.metric_title(&name).to_owned(),
        (Dimension::K, Value::Votes(k)) => words::votes_title(*k),
        (Dimension::Slice, _) if name == ALL_ITEMS => "all items".to_owned(),
        (Dimension::K | Dimension::Slice, _) => name.clone(),
    };
    let metric = book.metric(&name).filter(|_| dimension == Dimension::Metric);
    let better = metric.map_or(Direction::Neither, |metric| metric.better);
    Head { of: Some(dimension), better, ..Head::plain(title, name) }
}
