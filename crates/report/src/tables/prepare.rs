//! From a spec and the results to a table.

use std::collections::{BTreeMap, HashMap};

use dissensus_stats::LEVEL;

use super::layout::{self, Layout};
use super::paired::Lead;
use super::results::{Results, Value};
use super::spec::{Dimension, Shows, TableSpec};
use super::table::{Cell, CellKey, Head, Line, Number, Table};
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
    let baselines = baselines(&layout, book)?;
    let all = layout.lines.iter().chain(baselines.iter().map(|(values, _)| values)).cloned();
    let mut line_heads = layout::heads(&layout.down, &all.collect::<Vec<_>>(), book);
    let baseline_heads = line_heads.split_off(layout.lines.len());
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
    let bold = mark_bold(&mut lines);
    let mut remarks: Vec<String> = std::iter::once(seeds(&lines)).chain(bold).collect();
    if let Some(against) = &spec.against {
        remarks.extend(paired::remarks(&lines, against, book.arm_title(&against.arm)));
    }
    let columns = layout::heads(&layout.across, &layout.columns, book);
    let level = |level: usize| {
        let heads = columns.iter().filter_map(move |column| column.get(level));
        heads.filter(|head| head.span > 0).cloned().collect()
    };
    remarks.extend(book.notes.iter().cloned());
    let mut table = Table {
        heads: (0..layout.across.len()).map(level).collect(),
        corner: layout.down.iter().map(|dimension| dimension.title().to_owned()).collect(),
        lines,
        remarks,
        ..named(spec)
    };
    if let (true, Some(against)) = (spec.change, &spec.against) {
        add_changes(&mut table, &against.arm, book);
    }
    table.remarks.extend(left_out(&table));
    if !baselines.is_empty() {
        table.remarks.push(BASELINES.to_owned());
    } else if layout.across.contains(&Dimension::Arm) {
        let words = baseline_words(&table, book)?;
        if !words.is_empty() {
            table.remarks.push(format!("{BASELINES} {}", words.join(" ")));
        }
    }
    let cells = baselines.into_iter().map(|(_, cells)| cells);
    let lines = baseline_heads.into_iter().zip(cells);
    table.lines.extend(lines.map(|(heads, cells)| Line { heads, cells }));
    Ok(table)
}

/// Columns with the change of every mean from that of an arm in the same line, and a line of averages.
fn add_changes(table: &mut Table, against: &str, book: &Book) {
    let columns = table.lines.first().map_or(0, |line| line.cells.len());
    let of = |line: &Line, column: usize| {
        let number = line.cells[column].number()?;
        let at = CellKey { arm: against.to_owned(), ..number.at.clone() };
        let base = line.cells.iter().filter_map(Cell::number).find(|other| other.at == at)?;
        (number.at.arm != against).then_some((number.mean?, base.mean?))
    };
    let changed: Vec<usize> = (0..columns)
        .filter(|&column| table.lines.iter().any(|line| of(line, column).is_some()))
        .collect();
    if changed.is_empty() {
        return;
    }
    let percent = |share: f64| words::percent(share);
    let mut last = vec![Vec::new(); columns + changed.len()];
    for line in &mut table.lines {
        let shares: Vec<Option<f64>> = changed
            .iter()
            .map(|&column| of(line, column).map(|(own, base)| (own - base) / base.abs()))
            .collect();
        for (column, cell) in line.cells.iter().enumerate() {
            last[column].extend(cell.number().and_then(|number| number.mean));
        }
        for (place, share) in shares.into_iter().enumerate() {
            last[columns + place].extend(share);
            line.cells.push(Cell::Text(share.map_or(words::NOTHING.to_owned(), percent)));
        }
    }
    let digits = table.numbers().map(|number| number.digits).max().unwrap_or_default();
    let average = |(column, values): (usize, Vec<f64>)| {
        let mean = dissensus_stats::describe::mean(&values).ok();
        Cell::Text(match mean {
            Some(mean) if column < columns => words::number(mean, digits),
            Some(mean) => percent(mean),
            None => words::NOTHING.to_owned(),
        })
    };
    let cells = last.into_iter().enumerate().map(average).collect();
    let mut heads = vec![Head::plain("average", "average")];
    heads.extend(table.corner.iter().skip(1).map(|_| Head::plain("", "")));
    let titles: Vec<Vec<String>> = changed
        .iter()
        .map(|&column| table.column(column).iter().map(|head| head.title.clone()).collect())
        .collect();
    for (level, all) in table.heads.iter_mut().enumerate() {
        let mark = if level == 0 { "Δ " } else { "" };
        all.extend(titles.iter().map(|of| Head::plain(format!("{mark}{}", of[level]), "change")));
    }
    table.lines.push(Line { heads, cells });
    let against = book.arm_title(against);
    table.remarks.push(format!(
        "Δ: the change of the mean from that of {against}, in percent of it; below it the mean of the \
         changes."
    ));
}

const BASELINES: &str = "Baselines need no model and are judged on the same items.";

/// The values that a line of a baseline stands for, and its cells.
type Baseline = (Vec<Value>, Vec<Cell>);

/// The lines of baselines that have any of the table's numbers. They are never bold and never tested.
fn baselines(layout: &Layout, book: &Book) -> Result<Vec<Baseline>, ReportError> {
    let results = Results::of_rows(&book.baselines)?;
    let mut lines = Vec::new();
    for values in layout.baselines(book) {
        let mut cells = Vec::new();
        for column in &layout.columns {
            let at = CellKey { k: None, ..layout.at(&values, column) };
            cells.push(Cell::Number(Box::new(results.number(at, book)?)));
        }
        if cells.iter().filter_map(Cell::number).any(|number| number.mean.is_some()) {
            lines.push((values, cells));
        }
    }
    Ok(lines)
}

/// The baselines of a table whose arms go across, in words: `Of uniform: KL 0.546.`
fn baseline_words(table: &Table, book: &Book) -> Result<Vec<String>, ReportError> {
    let results = Results::of_rows(&book.baselines)?;
    let mut names = Vec::new();
    layout::push_new(&mut names, book.baselines.iter().map(|row| &row.arm));
    let of = |number: &Number| CellKey { arm: String::new(), k: None, ..number.at.clone() };
    let mut shown = Vec::new();
    layout::push_new(&mut shown, table.numbers().map(of));
    let several = shown.iter().any(|at| at.dataset != shown[0].dataset);
    let mut words = Vec::new();
    for name in names {
        let mut values: Vec<String> = Vec::new();
        for at in &shown {
            let number = results.number(CellKey { arm: name.clone(), ..at.clone() }, book)?;
            if number.mean.is_none() {
                continue;
            }
            let dataset = match several {
                true => format!("{}, ", book.dataset_title(&at.dataset)),
                false => String::new(),
            };
            let slice = if at.slice == "all" { String::new() } else { format!(" ({})", at.slice) };
            let (metric, value) = (book.metric_title(&at.metric), words::ours(&number));
            values.push(format!("{dataset}{metric}{slice} {value}"));
        }
        if !values.is_empty() {
            let title = book.arm_title(name);
            let title = title.strip_prefix("baseline: ").unwrap_or(title);
            words.push(format!("Of {title}: {}.", values.join("; ")));
        }
    }
    Ok(words)
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

/// The results of several arms that are told apart by the arm alone, and have a better direction.
fn groups(lines: &mut [Line]) -> impl Iterator<Item = Vec<&mut Number>> {
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
    groups.into_values().filter(|group| group.len() > 1)
}

/// The best arm of each group, by the mean as it is, not as it is rounded. Of equal ones all are.
fn mark_best(lines: &mut [Line]) {
    for mut group in groups(lines) {
        let means = group.iter().filter_map(|number| number.mean);
        let best = match group[0].better {
            Direction::Lower => means.min_by(f64::total_cmp),
            _ => means.max_by(f64::total_cmp),
        };
        group.iter_mut().for_each(|number| number.best = number.mean == best);
    }
}

/// Makes those of the best means bold that the table's own tests tell from the others, and says
/// what bold means, or why nothing is.
fn mark_bold(lines: &mut [Line]) -> Vec<String> {
    let defined = |number: &Number| -> Vec<u64> {
        number.seeds.iter().filter(|(_, value)| value.is_some()).map(|(seed, _)| *seed).collect()
    };
    let (mut bold, mut undecided, mut apart) = (0, Vec::new(), 0);
    for group in groups(lines).filter(|group| group.iter().any(|number| number.best)) {
        let shared: Vec<&Number> = group.iter().map(|number| &**number).collect();
        let Some(lead) = Lead::of(&shared) else { continue };
        if shared.iter().any(|number| defined(number) != defined(shared[0])) {
            apart += 1;
            continue;
        }
        if !lead.is_significant() {
            undecided.push(lead.limit());
            continue;
        }
        bold += 1;
        group.into_iter().for_each(|number| number.bold = number.best);
    }
    let mut remarks = Vec::new();
    if bold > 0 {
        remarks.push(format!("Bold: the best mean, where its test has p below {LEVEL}."));
    } else if let Some(limit) = undecided.first() {
        let same = undecided.iter().all(|other| other == limit);
        let limit = if same { limit.as_str() } else { "" };
        remarks.push(format!("No best mean is bold: no significant difference{limit}."));
    }
    if apart > 0 {
        let why = "Means over different seeds are not compared, and none of them is bold.";
        remarks.push(why.to_owned());
    }
    remarks
}

/// How many seeds there are.
fn seeds(lines: &[Line]) -> String {
    let numbers = || lines.iter().flat_map(|line| line.cells.iter().filter_map(Cell::number));
    let runs = numbers().map(|number| number.seeds.len()).filter(|seeds| *seeds > 0);
    match runs.clone().max() {
        None => "There are no results yet.".to_owned(),
        Some(1) => "One seed.".to_owned(),
        Some(_) => {
            let seeds = words::range(runs);
            format!("Mean ± sample standard deviation over {seeds} seeds.")
        }
    }
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
