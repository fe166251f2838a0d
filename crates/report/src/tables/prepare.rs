//! From a spec and the results to a table.

use std::collections::{BTreeMap, HashMap};

use super::layout::{self, Layout};
use super::results::Results;
use super::spec::{Shows, TableSpec};
use super::table::{Cell, CellKey, Line, Number, Table};
use super::{chosen, claims, datasets, paired, published, words};
use crate::ReportError;
use crate::book::{Book, Direction};

/// Prepares a table of a study.
///
/// A cell is the mean ± sample sd over seeds of one (data set, arm, votes, metric, slice). Lines
/// and columns come in the order that the spec lists, else in the book's, numbers of votes from
/// few to all. A dimension that is neither down nor across must have one value.
pub fn prepare(spec: &TableSpec, book: &Book) -> Result<Table, ReportError> {
    if spec.shows == Shows::Claims {
        return claims::prepare(spec, book);
    }
    let results = Results::of(book)?;
    if spec.shows == Shows::Datasets {
        return datasets::prepare(spec, book, &results);
    }
    if spec.shows == Shows::Chosen {
        return chosen::prepare(spec, book, &results);
    }
    let references = match spec.published {
        Some(false) => HashMap::new(),
        _ => published::references(book)?,
    };
    let places: Vec<CellKey> = references.keys().cloned().collect();
    let layout = Layout::of(spec, book, &results, &places)?;
    let line_heads = layout::heads(&layout.down, &layout.lines, book);
    let mut lines = Vec::new();
    for (values, heads) in layout.lines.iter().zip(line_heads) {
        let mut cells = Vec::new();
        for column in &layout.columns {
            let mut number = results.number(layout.at(values, column), book)?;
            let reference = references.get(&number.at);
            number.published = reference.map(|reference| published::compare(&number, reference));
            cells.push(Cell::Number(Box::new(number)));
        }
        lines.push(Line { heads, cells });
    }
    if spec.bold != Some(false) {
        mark_best(&mut lines);
    }
    if let Some(against) = &spec.against {
        paired::test_all(&mut lines, against, &results)?;
    }
    let mut remarks = seeds_and_best(&lines);
    if let Some(against) = &spec.against {
        remarks.extend(paired::remarks(&lines, against, book.arm_title(&against.arm)));
    }
    let columns = layout::heads(&layout.across, &layout.columns, book);
    let level = |level: usize| {
        let heads = columns.iter().filter_map(move |column| column.get(level));
        heads.filter(|head| head.span > 0).cloned().collect()
    };
    let mut table = Table {
        heads: (0..layout.across.len()).map(level).collect(),
        corner: layout.down.iter().map(|dimension| dimension.title().to_owned()).collect(),
        lines,
        remarks,
        ..named(spec)
    };
    table.remarks.extend(left_out(&table));
    Ok(table)
}

/// A table with nothing but its name, its title and its note.
pub(super) fn named(spec: &TableSpec) -> Table {
    let title = if spec.title.is_empty() { &spec.name } else { &spec.title };
    Table {
        name: spec.name.clone(),
        title: title.clone(),
        note: spec.note.clone(),
        ..Table::default()
    }
}

/// The best arm of each group that is told apart by all but the arm, by the mean as it is, not as
/// it is rounded. Where there is one arm, nothing is best; of equal ones all are.
fn mark_best(lines: &mut [Line]) {
    let mut groups: BTreeMap<CellKey, Vec<&mut Number>> = BTreeMap::new();
    for cell in lines.iter_mut().flat_map(|line| &mut line.cells) {
        if let Cell::Number(number) = cell
            && number.mean.is_some()
            && number.better.is_directed()
        {
            let group = CellKey { arm: String::new(), ..number.at.clone() };
            groups.entry(group).or_default().push(number);
        }
    }
    for group in groups.values_mut().filter(|group| group.len() > 1) {
        let means = group.iter().filter_map(|number| number.mean);
        let best = match group[0].better {
            Direction::Lower => means.min_by(f64::total_cmp),
            _ => means.max_by(f64::total_cmp),
        };
        group.iter_mut().for_each(|number| number.best = number.mean == best);
    }
}

/// How many seeds there are, and what bold means.
fn seeds_and_best(lines: &[Line]) -> Vec<String> {
    let numbers = || lines.iter().flat_map(|line| line.cells.iter().filter_map(Cell::number));
    let runs = numbers().map(|number| number.seeds.len()).filter(|seeds| *seeds > 0);
    let mut remarks = match runs.clone().max() {
        None => vec!["There are no results yet.".to_owned()],
        Some(1) => vec!["One seed.".to_owned()],
        Some(_) => {
            let seeds = words::range(runs);
            vec![format!("Mean ± sample standard deviation over {seeds} seeds.")]
        }
    };
    if numbers().any(|number| number.best) {
        remarks.push("Bold: the best mean.".to_owned());
    }
    remarks
}

/// The cells of which some seeds have no value, by how many.
fn left_out(table: &Table) -> Option<String> {
    let mut cells: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for line in &table.lines {
        for (at, number) in line.cells.iter().enumerate() {
            let Some(number) = number.number() else { continue };
            if number.n < number.seeds.len() {
                let heads = line.heads.iter().chain(table.column(at));
                let titles: Vec<&str> = heads.map(|head| head.title.as_str()).collect();
                let key = (number.n, number.seeds.len());
                cells.entry(key).or_default().push(titles.join(" · "));
            }
        }
    }
    let counted: Vec<String> = cells
        .into_iter()
        .map(|((n, of), cells)| format!("n = {n} of {of} for {}", cells.join(", ")))
        .collect();
    (!counted.is_empty()).then(|| format!("Undefined values are left out: {}.", counted.join("; ")))
}
