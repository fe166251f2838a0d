//! Tables (CSV, TSV, JSON Lines, Parquet): an id column, and a column of numbers for each class;
//! or an id column and one column of lists, of objects `{class: number}`, or of `label` and `score`.
//!
//! The id column has a name that ids go by, or is the only one with a different text in each row.
//! Where several could be it, none is taken. Other columns that hold no numbers, and those with names
//! of labels or of what is computed from predictions, are left out and noted.

use dissensus_core::{IdCandidate, IdChoice, choose_ids, id_name_rank};
use dissensus_io::{Example, ReadOption, Row, Source, Table, TableKind, cell_text, shorten};
use serde_json::Value;

use super::vector::{Vector, Vectors, number};
use super::{Format, RawPredictions, is_metadata, kind_of, values_rank};
use crate::error::{PredictionError, PredictionProblem};
use crate::note::Note;
use crate::options::ReadOptions;
use crate::read::named;

pub(super) const FORMAT: Format = Format {
    name: "table",
    layout: "CSV, TSV, JSON Lines or Parquet: an id column, then a number for each class, or one list",
    names: "`id`, `uid`, `item`, … or the only column with a different text in each row; one column per \
            class, named by it; or one column `logits`, `probabilities`, `probs`, … of lists, of {class: \
            number}, or of `label` and `score`",
    examples: &[
        Example::text("model.csv", "id,no,yes\na,0.75,0.25\nb,0.1,0.9\n"),
        Example::text(
            "model.jsonl",
            "{\"id\": \"a\", \"logits\": [1.5, -0.5]}\n{\"id\": \"b\", \"logits\": [0.25, 2.0]}\n",
        ),
    ],
    options: &[ReadOption::Id, ReadOption::Key, ReadOption::Delimiter, ReadOption::Header],
    detect: |source| matches!(source, Source::Table(_)),
    read,
};

enum Values {
    /// One column of lists.
    Vectors(usize),
    /// A column for each class.
    Columns(Vec<usize>),
}

struct Layout {
    id: Option<usize>,
    values: Values,
    notes: Vec<Note>,
}

/// What the first rows of a table say of its columns.
struct Columns<'a> {
    names: &'a [String],
    sample: &'a [Row],
}

impl Columns<'_> {
    fn all(&self, column: usize, test: impl Fn(&Value) -> bool) -> bool {
        !self.sample.is_empty() && self.sample.iter().all(|row| test(row.cell(column)))
    }

    fn is_vectors(&self, column: usize) -> bool {
        self.all(column, |cell| Vector::of(cell).is_some())
    }

    /// Mostly numbers: a cell that is none is then an error, and not a reason to leave the column
    /// out.
    fn is_numbers(&self, column: usize) -> bool {
        let numbers = self.sample.iter().filter(|row| number(row.cell(column)).is_some()).count();
        2 * numbers > self.sample.len()
    }

    fn texts(&self, column: usize) -> Vec<String> {
        self.sample.iter().map(|row| cell_text(row.cell(column)).unwrap_or_default()).collect()
    }

    fn has_decimal_commas(&self) -> bool {
        let comma = |cell: &Value| {
            let text = cell.as_str().unwrap_or_default();
            text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok()
        };
        (0..self.names.len()).any(|column| self.all(column, comma))
    }

    /// Whether the numbers of every row sum to 1, or to 100, roughly.
    fn sum_to_one(&self, columns: &[usize]) -> bool {
        let sums_to = |whole: f64| {
            self.sample.iter().all(|row| {
                let sum: f64 = columns.iter().filter_map(|&c| number(row.cell(c))).sum();
                (sum - whole).abs() < 0.05 * whole
            })
        };
        columns.len() > 1 && (sums_to(1.0) || sums_to(100.0))
    }

    fn joined(&self, columns: &[usize]) -> String {
        columns.iter().map(|&c| self.names[c].as_str()).collect::<Vec<_>>().join(", ")
    }
}

fn layout(file: &str, table: &Table, options: &ReadOptions) -> Result<Layout, PredictionError> {
    let fail = |problem| Err(PredictionError::new(file, problem));
    let names = &table.columns;
    let columns = Columns { names, sample: &table.sample };
    let vectors: Vec<usize> = match &options.key {
        Some(key) => vec![named(file, ReadOption::Key, key, names)?],
        None => (0..names.len()).filter(|&c| columns.is_vectors(c)).collect(),
    };
    let known = vectors.iter().filter(|&&c| values_rank(&names[c]).is_some());
    let known = known.min_by_key(|&&c| values_rank(&names[c])).copied();
    let vector = match (known, &vectors[..]) {
        (Some(known), _) => Some(known),
        (None, []) => None,
        (None, [only]) => Some(*only),
        (None, several) => {
            return fail(PredictionProblem::SeveralValues { found: columns.joined(several) });
        }
    };
    let (id, mut notes) = id_column(file, &columns, &vectors, options)?;
    let values: Vec<usize> = match vector {
        Some(_) => Vec::new(),
        None => {
            let numbers = |&c: &usize| Some(c) != id && columns.is_numbers(c);
            let all: Vec<usize> = (0..names.len()).filter(numbers).collect();
            let classes: Vec<usize> =
                all.iter().copied().filter(|&c| !is_metadata(&names[c])).collect();
            // Classes may be called `text` or `label`.
            if columns.sum_to_one(&all) { all } else { classes }
        }
    };
    if vector.is_none() && values.len() < 2 {
        return fail(without_values(table, &columns, id, &values));
    }
    let used = |c: &usize| Some(*c) == id || Some(*c) == vector || values.contains(c);
    let left: Vec<String> =
        (0..names.len()).filter(|c| !used(c)).map(|c| names[c].clone()).collect();
    notes.extend((!left.is_empty()).then_some(Note::LeftOut { names: left }));
    let values = vector.map_or(Values::Columns(values), Values::Vectors);
    Ok(Layout { id, values, notes })
}

fn id_column(
    file: &str,
    columns: &Columns<'_>,
    vectors: &[usize],
    options: &ReadOptions,
) -> Result<(Option<usize>, Vec<Note>), PredictionError> {
    let names = columns.names;
    if let Some(name) = &options.id {
        return Ok((Some(named(file, ReadOption::Id, name, names)?), Vec::new()));
    }
    let is_list = |c: &usize| {
        let known = id_name_rank(&names[*c]).is_some();
        let text = !columns.is_numbers(*c) && !is_metadata(&names[*c]);
        !vectors.contains(c) && (known || text)
    };
    let lists: Vec<usize> = (0..names.len()).filter(is_list).collect();
    let texts: Vec<Vec<String>> = lists.iter().map(|&c| columns.texts(c)).collect();
    let mut candidates = Vec::new();
    for (&column, values) in lists.iter().zip(&texts) {
        candidates.push(IdCandidate { name: &names[column], values, texts: true });
    }
    let note = |name: &str| vec![Note::Ids { name: name.to_owned() }];
    match choose_ids(&candidates, columns.sample.len()) {
        IdChoice::Known(at) => Ok((Some(lists[at]), Vec::new())),
        IdChoice::Assumed(at) => Ok((Some(lists[at]), note(&names[lists[at]]))),
        // pandas writes its index as a first column without a name.
        IdChoice::None if names.first().is_some_and(String::is_empty) => {
            Ok((Some(0), note("the first column")))
        }
        IdChoice::None => Ok((None, Vec::new())),
        IdChoice::Unclear(_) if options.by_position.items => Ok((None, Vec::new())),
        IdChoice::Unclear(places) => {
            let places: Vec<usize> = places.into_iter().map(|at| lists[at]).collect();
            let found = columns.joined(&places);
            Err(PredictionError::new(file, PredictionProblem::UnclearIds { found }))
        }
    }
}

/// Whether a column has the name of labels and no fractions in it.
fn label_column(columns: &Columns<'_>, id: Option<usize>) -> Option<usize> {
    const LABELS: [&str; 14] = [
        "label",
        "labels",
        "prediction",
        "predictions",
        "pred",
        "preds",
        "predicted",
        "predictedlabel",
        "predictedclass",
        "ypred",
        "class",
        "argmax",
        "top1",
        "answer",
    ];
    let whole = |cell: &Value| number(cell).is_none_or(|n| n.fract() == 0.0);
    (0..columns.names.len()).find(|&c| {
        Some(c) != id
            && LABELS.contains(&super::plain(&columns.names[c]).as_str())
            && columns.all(c, |cell| !cell.is_array() && !cell.is_object() && whole(cell))
    })
}

/// Why a table has no predictions.
fn without_values(
    table: &Table,
    columns: &Columns<'_>,
    id: Option<usize>,
    values: &[usize],
) -> PredictionProblem {
    if table.sample.is_empty() {
        return PredictionProblem::Empty;
    }
    if let Some(label) = label_column(columns, id) {
        let seen = format!("the column {:?} holds one class per item", columns.names[label]);
        return PredictionProblem::HardLabels { seen };
    }
    let whole = |&c: &usize| columns.all(c, |cell| number(cell).is_some_and(|n| n.fract() == 0.0));
    match values {
        [only] if whole(only) => {
            let seen = format!("{:?} holds one whole number per item", columns.names[*only]);
            PredictionProblem::HardLabels { seen }
        }
        [only] => {
            let seen = format!("only {:?} holds numbers", columns.names[*only]);
            PredictionProblem::OneNumber { seen }
        }
        _ if columns.has_decimal_commas() => {
            let seen = "numbers with decimal commas; write them with points".to_owned();
            PredictionProblem::Unknown { seen }
        }
        _ => {
            let (all, kind) = (columns.names.join(", "), table.kind.describe());
            PredictionProblem::Unknown { seen: format!("{kind} with the columns {all}") }
        }
    }
}

fn read(
    file: &str,
    source: Source,
    options: &ReadOptions,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let Source::Table(table) = source else {
        let seen = source.describe();
        return Err(PredictionError::new(file, PredictionProblem::Unknown { seen }));
    };
    let delimited = matches!(table.kind, TableKind::Delimited(_));
    let text_only = |o: &ReadOption| matches!(o, ReadOption::Delimiter | ReadOption::Header);
    if let Some(option) = options.given().into_iter().find(|o| !delimited && text_only(o)) {
        let problem = PredictionProblem::Inapplicable { format: table.kind.describe(), option };
        return Err(PredictionError::new(file, problem));
    }
    let Layout { id, values: wanted, notes } = layout(file, &table, options)?;
    let columns = table.columns.clone();
    let named = |&c: &usize| columns[c].clone();
    let classes = match &wanted {
        Values::Vectors(_) => None,
        Values::Columns(values) => Some(values.iter().map(named).collect::<Vec<_>>())
            // Columns without a header are only counted.
            .filter(|names| names.iter().any(|name| !name.starts_with('#'))),
    };
    let kind = match &wanted {
        Values::Vectors(column) => kind_of(&columns[*column]),
        Values::Columns(_) => None,
    };
    let mut found = RawPredictions { classes, kind, notes, ..RawPredictions::default() };
    let (mut ids, mut vectors) = (Vec::new(), Vectors::default());
    for row in table.rows(&options.limits) {
        let row = row?;
        let item = id.and_then(|column| cell_text(row.cell(column)));
        let bad = |column: usize, problem: PredictionProblem| {
            let error = PredictionError::new(file, problem).row(row.number);
            error.column(columns[column].clone()).item(item.clone())
        };
        match &wanted {
            Values::Vectors(column) => {
                vectors.add(row.cell(*column)).map_err(|problem| bad(*column, problem))?;
            }
            Values::Columns(wanted) => {
                for &column in wanted {
                    let Some(value) = number(row.cell(column)) else {
                        let text = shorten(&cell_text(row.cell(column)).unwrap_or_default());
                        return Err(bad(column, PredictionProblem::NotANumber { text }));
                    };
                    found.values.push(value);
                }
                found.width = wanted.len();
            }
        }
        found.rows.push(row.number);
        if let Some(column) = id {
            match item.clone().filter(|id| !id.is_empty()) {
                None if !options.by_position.items => {
                    return Err(bad(column, PredictionProblem::EmptyId));
                }
                id => ids.push(id.unwrap_or_default()),
            }
        }
    }
    if let Values::Vectors(_) = wanted {
        (found.values, found.width) = (vectors.values, vectors.width);
        found.classes = vectors.classes;
    }
    found.ids = id.is_some().then_some(ids);
    Ok(vec![found])
}
