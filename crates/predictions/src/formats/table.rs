//! Tables (CSV, TSV, JSON Lines, Parquet): an id column, and a column of numbers for each class;
//! or an id column and one column of lists, of objects `{class: number}`, or of `label` and `score`.
//!
//! The id column has a name that ids go by, or is the only one with a different text in each row.
//! Where several could be it, none is taken. Other columns that hold no numbers, and those with names
//! of labels or of what is computed from predictions, are left out and noted.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use dissensus_core::{IdCandidate, IdChoice, choose_ids, id_name_rank};
use dissensus_io::{Example, ReadOption, Row, Source, Table, TableKind, cell_text, shorten};
use serde_json::Value;

use super::vector::{Vector, Vectors, number};
use super::{
    Format, RawPredictions, is_metadata, is_other_id, is_row_number, kind_of, values_rank,
};
use crate::classes::{Group, groups, plain as plain_class};
use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};
use crate::note::Note;
use crate::options::Kind;
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
    options: &[
        ReadOption::Id,
        ReadOption::Key,
        ReadOption::AnswerSeparator,
        ReadOption::Delimiter,
        ReadOption::Header,
    ],
    detect: |source, _| matches!(source, Source::Table(_)),
    read,
};

enum Values {
    /// One column of lists.
    Vectors(usize),
    /// Pairs of a column of classes and one of their numbers.
    Pairs(Vec<(usize, usize)>),
    /// For each model its name and a column for each class.
    Columns(Vec<(String, Vec<usize>)>),
}

struct Layout {
    id: Option<usize>,
    /// A column of lists of classes, beside one of their numbers.
    names: Option<usize>,
    values: Values,
    notes: Vec<Note>,
}

/// What the first rows of a table say of its columns.
pub(super) struct Columns<'a> {
    pub(super) names: &'a [String],
    pub(super) sample: &'a [Row],
}

impl Columns<'_> {
    pub(super) fn all(&self, column: usize, test: impl Fn(&Value) -> bool) -> bool {
        !self.sample.is_empty() && self.sample.iter().all(|row| test(row.cell(column)))
    }

    pub(super) fn is_vectors(&self, column: usize) -> bool {
        self.all(column, |cell| Vector::of(cell).is_some())
    }

    /// Mostly numbers: a cell that is none is then an error, and not a reason to leave the column
    /// out.
    pub(super) fn is_numbers(&self, column: usize) -> bool {
        let numbers = self.sample.iter().filter(|row| number(row.cell(column)).is_some()).count();
        2 * numbers > self.sample.len()
    }

    pub(super) fn texts(&self, column: usize) -> Vec<String> {
        self.sample.iter().map(|row| cell_text(row.cell(column)).unwrap_or_default()).collect()
    }

    /// Columns of classes, each with one of numbers behind it, as in `cat, 0.7, dog, 0.3`: every row names
    /// the same classes, in any order.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let text = |c: &usize| self.all(*c, |cell| cell.is_string() && number(cell).is_none());
        let is_pair = |c: &usize| text(c) && c + 1 < self.names.len() && self.is_numbers(c + 1);
        let pairs: Vec<usize> = (0..self.names.len()).filter(is_pair).collect();
        let classes = |row: &Row| {
            let named = pairs.iter().filter_map(|&c| cell_text(row.cell(c)));
            named.collect::<std::collections::BTreeSet<String>>()
        };
        let first = self.sample.first().map(classes).unwrap_or_default();
        let same = self.sample.len() > 1 && self.sample.iter().all(|row| classes(row) == first);
        match pairs.len() > 1 && first.len() == pairs.len() && same {
            true => pairs.into_iter().map(|c| (c, c + 1)).collect(),
            false => self.numbered_pairs(),
        }
    }

    /// The same with columns that are numbered: `label_1`, `label_2`, `score_1`, `score_2`.
    fn numbered_pairs(&self) -> Vec<(usize, usize)> {
        let number_of = |c: usize| {
            let name = &self.names[c];
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            (stem.len() < name.len()).then(|| name[stem.len()..].to_owned())
        };
        let (mut labels, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        for c in 0..self.names.len() {
            let Some(at) = number_of(c) else { continue };
            let text = self.all(c, |cell| cell.is_string() && number(cell).is_none());
            let twice = match text {
                true => labels.insert(at, c),
                false if self.is_numbers(c) => numbers.insert(at, c),
                false => None,
            };
            if twice.is_some() {
                return Vec::new();
            }
        }
        let named = |row: &Row| {
            let names = labels.values().filter_map(|&c| cell_text(row.cell(c)));
            names.collect::<BTreeSet<String>>()
        };
        let first = self.sample.first().map(named).unwrap_or_default();
        let same = first.len() == labels.len() && self.sample.iter().all(|row| named(row) == first);
        match labels.len() > 1 && labels.keys().eq(numbers.keys()) && same {
            true => labels.into_values().zip(numbers.into_values()).collect(),
            false => Vec::new(),
        }
    }

    /// Whole numbers, each one more than the last.
    fn is_sequence(&self, column: usize) -> bool {
        let numbers: Vec<f64> =
            self.sample.iter().filter_map(|row| number(row.cell(column))).collect();
        numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
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

    pub(super) fn joined(&self, columns: &[usize]) -> String {
        columns.iter().map(|&c| self.names[c].as_str()).collect::<Vec<_>>().join(", ")
    }
}

fn layout(file: &str, table: &Table, options: &Context<'_>) -> Result<Layout, PredictionError> {
    let fail = |problem| Err(PredictionError::new(file, problem));
    let names = &table.columns;
    let columns = Columns { names, sample: &table.sample };
    // A key may also be what the columns of one of several models begin with.
    let begins =
        |key: &&String| !names.contains(key) && names.iter().any(|name| name.starts_with(*key));
    let beginning = options.key.as_ref().filter(begins);
    let vectors: Vec<usize> = match &options.key {
        Some(_) if beginning.is_some() => Vec::new(),
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
    let pairs = if vector.is_none() { columns.pairs() } else { Vec::new() };
    let vectors = [vectors, pairs.iter().map(|(names, _)| *names).collect()].concat();
    let (id, mut notes) = id_column(file, &columns, &vectors, options)?;
    let models = match vector {
        _ if !pairs.is_empty() => Vec::new(),
        Some(_) => Vec::new(),
        None => class_columns(file, &columns, id, beginning, options)?,
    };
    let labels = vector.and_then(|scores| {
        let names_of = |row: &Row, column: usize| named_vector(row.cell(column), row.cell(scores));
        (0..names.len())
            .find(|&c| c != scores && table.sample.iter().all(|row| names_of(row, c).is_some()))
    });
    let used = |c: &usize| {
        pairs.iter().any(|(names, numbers)| c == names || c == numbers)
            || Some(*c) == labels
            || Some(*c) == id
            || Some(*c) == vector
            || models.iter().any(|(_, classes)| classes.contains(c))
    };
    if vector.is_none() && pairs.is_empty() && models.iter().all(|(_, classes)| classes.len() < 2) {
        let values = models.first().map_or(&[][..], |(_, classes)| classes);
        let only_one = values.len() == 1 && (options.class_order.is_some() || options.one_column);
        let is_class = |c: &usize| options.class_of(&names[*c]).is_some();
        if !(only_one || values.len() == 1 && values.iter().all(is_class)) {
            return fail(without_values(table, &columns, id, values, options));
        }
    }
    let left: Vec<String> =
        (0..names.len()).filter(|c| !used(c)).map(|c| names[c].clone()).collect();
    notes.extend((!left.is_empty()).then_some(Note::LeftOut { names: left }));
    let values = match vector {
        _ if !pairs.is_empty() => Values::Pairs(pairs),
        Some(column) => Values::Vectors(column),
        None => Values::Columns(models),
    };
    Ok(Layout { id, names: labels, values, notes })
}

/// Lists of classes and of their numbers, as zero-shot pipelines write them, as one object.
fn named_vector(names: &Value, numbers: &Value) -> Option<Value> {
    let (names, numbers) = (names.as_array()?, numbers.as_array()?);
    let pair = |(name, number): (&Value, &Value)| Some((name.as_str()?.to_owned(), number.clone()));
    let map: Option<serde_json::Map<String, Value>> = names.iter().zip(numbers).map(pair).collect();
    map.filter(|map| map.len() == names.len() && names.len() == numbers.len() && !map.is_empty())
        .map(Value::Object)
}

/// The columns of the classes: one list of them for each model.
fn class_columns(
    file: &str,
    columns: &Columns<'_>,
    id: Option<usize>,
    beginning: Option<&String>,
    options: &Context<'_>,
) -> Result<Vec<(String, Vec<usize>)>, PredictionError> {
    let names = columns.names;
    let asked = |c: &usize| beginning.is_none_or(|beginning| names[*c].starts_with(beginning));
    let all: Vec<usize> = (0..names.len())
        .filter(|&c| Some(c) != id && columns.is_numbers(c))
        .filter(asked)
        .collect();
    let counted = |&c: &usize| is_row_number(&names[c]) && columns.is_sequence(c);
    let plausible: Vec<usize> = all
        .iter()
        .copied()
        .filter(|c| !is_metadata(&names[*c]) && !is_run(&names[*c]) && !counted(c))
        .collect();
    let one = |columns: Vec<usize>| Ok(vec![(String::new(), columns)]);
    if let Some(map) = &options.class_map {
        let votes = options.classes().unwrap_or_default();
        let from = |c: &usize| map.pairs().iter().any(|(from, _)| *from == names[*c]);
        let mapped: Vec<usize> =
            all.iter().copied().filter(|c| from(c) || votes.contains(&names[*c])).collect();
        if mapped.iter().any(from) && (mapped.len() == votes.len() || mapped.len() == 1) {
            return one(mapped);
        }
    }
    // Classes may be called `text` or `label`.
    let fallback = if columns.sum_to_one(&all) { all.clone() } else { plausible.clone() };
    let Some(classes) = options.classes() else { return one(fallback) };
    let of = |places: &[usize]| {
        let columns: Vec<(usize, &str)> = places.iter().map(|&c| (c, names[c].as_str())).collect();
        groups(classes, &columns)
    };
    let (first, second) = (of(&plausible), of(&all));
    let mut found = if first.is_empty() { second } else { first };
    if found.len() > 1 {
        // Shares of people beside those of a model.
        let human = |group: &Group| {
            let words = ["gold", "true", "target", "human", "vote", "count", "annotator"];
            words.iter().any(|word| group.prefix.contains(word))
        };
        if !found.iter().all(human) {
            found.retain(|group| !human(group));
        }
    }
    if found.len() > 1 {
        // Logits and probabilities of one model say the same.
        let model = |group: &Group| {
            let words = group.prefix.split(|c: char| !c.is_alphanumeric());
            words.filter(|word| kind_of(word).is_none()).collect::<Vec<_>>().join(" ")
        };
        let models: Vec<String> = found.iter().map(model).collect();
        let mut kept: Vec<(String, Vec<usize>)> = Vec::new();
        for (group, model) in found.iter().zip(&models) {
            let probabilities = columns.sum_to_one(&group.columns);
            match kept.iter_mut().find(|(known, _)| known == model) {
                Some(known) if probabilities => known.1.clone_from(&group.columns),
                Some(_) => {}
                None => kept.push((model.clone(), group.columns.clone())),
            }
        }
        if kept.len() > 1 && kept.iter().any(|(model, _)| model.trim().is_empty()) {
            let places: Vec<usize> = kept.into_iter().flat_map(|(_, columns)| columns).collect();
            let found = columns.joined(&places);
            return Err(PredictionError::new(file, PredictionProblem::SeveralValues { found }));
        }
        return Ok(kept);
    }
    if let Some(group) = found.pop() {
        // Numbers beside logits may be those of a class without votes. Beside probabilities, which sum to
        // 1 without them, they are not.
        let of_class = |c: &usize| {
            let fractions = columns.sample.iter().filter_map(|row| number(row.cell(*c)));
            !group.columns.contains(c)
                && plain_class(&names[*c]).starts_with(&group.prefix)
                && (!group.prefix.is_empty() || fractions.into_iter().any(|n| n.fract() != 0.0))
        };
        let others = plausible.iter().copied().filter(of_class);
        let all: Vec<usize> = match columns.sum_to_one(&group.columns) {
            true => group.columns.clone(),
            false => group.columns.iter().copied().chain(others).collect(),
        };
        return one(all);
    }
    if plausible.len() == classes.len() {
        return one(plausible);
    }
    let shares =
        |&c: &usize| columns.all(c, |cell| number(cell).is_some_and(|n| (0.0..=1.0).contains(&n)));
    if classes.len() == 2 || options.one_column {
        // The probability of one of two classes.
        let said = |&c: &usize| options.class_of(&names[c]).is_some();
        let some: Vec<usize> = plausible.iter().copied().filter(shares).collect();
        let named: Vec<usize> = some.iter().copied().filter(said).collect();
        match (&named[..], &some[..]) {
            ([only], _) | (_, [only]) => return one(vec![*only]),
            _ => {}
        }
    }
    // Numbers under a name that labels have, too. A score or confidence may be that of any label.
    if plausible.is_empty() {
        const NAMES: [&str; 8] =
            ["prediction", "predictions", "pred", "preds", "predicted", "ypred", "target", "label"];
        let fractions = |&c: &usize| {
            let fraction = |row: &Row| number(row.cell(c)).is_some_and(|n| n.fract() != 0.0);
            NAMES.contains(&super::plain(&names[c]).as_str()) && columns.sample.iter().any(fraction)
        };
        let some: Vec<usize> = all.iter().copied().filter(fractions).collect();
        if let [only] = some[..] {
            return one(vec![only]);
        }
    }
    // The only columns side by side that are distributions.
    let windows = all
        .windows(classes.len())
        .filter(|window| window.iter().all(shares) && columns.sum_to_one(window));
    match windows.collect::<Vec<_>>()[..] {
        [only] => one(only.to_vec()),
        _ => one(fallback),
    }
}

fn id_column(
    file: &str,
    columns: &Columns<'_>,
    vectors: &[usize],
    options: &Context<'_>,
) -> Result<(Option<usize>, Vec<Note>), PredictionError> {
    let names = columns.names;
    if let Some(name) = &options.id {
        return Ok((Some(named(file, ReadOption::Id, name, names)?), Vec::new()));
    }
    let is_list = |c: &usize| {
        let known = id_name_rank(&names[*c]).is_some() && !is_other_id(&names[*c]);
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
    let choice = choose_ids(&candidates, columns.sample.len());
    // The votes' own ids say more than a name.
    let proven: Vec<usize> = (0..lists.len()).filter(|&at| options.are_ids(&texts[at])).collect();
    match (&choice, &proven[..]) {
        (IdChoice::Known(at), proven) if proven.is_empty() || proven.contains(at) => {}
        (_, [only]) => return Ok((Some(lists[*only]), note(&names[lists[*only]]))),
        _ => {}
    }
    match choice {
        IdChoice::Known(at) => Ok((Some(lists[at]), Vec::new())),
        IdChoice::Assumed(at) => Ok((Some(lists[at]), note(&names[lists[at]]))),
        // pandas and R write the index as a first column without a name.
        IdChoice::None if names.first().is_some_and(|name| is_row_number(name)) => {
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

/// Several answers per item of which most are classes of the votes: those that are none.
fn other_answers(
    columns: &Columns<'_>,
    id: Option<usize>,
    label: usize,
    options: &Context<'_>,
) -> Option<PredictionProblem> {
    let classes = options.classes()?;
    let names: Vec<String> = classes.iter().map(|class| plain_class(class)).collect();
    let texts = columns.texts(label);
    let begins = |text: &str, class: &str| {
        text == class || text.len() > 1 && !class.is_empty() && text.starts_with(class)
    };
    let known = |text: &&String| names.iter().any(|class| begins(&plain_class(text), class));
    let others: BTreeSet<String> =
        texts.iter().filter(|text| !known(text)).map(|text| shorten(text)).collect();
    let ids = id.map(|id| columns.texts(id))?;
    let most = texts.iter().filter(known).count() * 2 > texts.len();
    (most && !others.is_empty() && has_twice(&ids)).then(|| PredictionProblem::OtherAnswers {
        column: columns.names[label].clone(),
        others: others.iter().take(3).map(|text| format!("{text:?}")).collect(),
        classes: classes.join(", "),
    })
}

/// Why a table has no predictions.
fn without_values(
    table: &Table,
    columns: &Columns<'_>,
    id: Option<usize>,
    values: &[usize],
    options: &Context<'_>,
) -> PredictionProblem {
    if table.sample.is_empty() {
        return PredictionProblem::Empty;
    }
    if let Some(label) = label_column(columns, id) {
        if let Some(others) = other_answers(columns, id, label, options) {
            return others;
        }
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
    options: &Context<'_>,
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
    let Layout { id, names, values: wanted, notes } = layout(file, &table, options)?;
    let columns = table.columns.clone();
    // Columns of models and seeds where items are predicted several times: one after the other.
    let others = |test: fn(&str) -> bool| -> Vec<usize> {
        (0..columns.len()).filter(|&c| Some(c) != id && test(&columns[c])).collect()
    };
    let (of_models, of_runs) = (others(is_model), others(is_run));
    let both = [&of_models[..], &of_runs].concat();
    let (mut models, mut runs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let raw = |name: String, kind: Option<Kind>| RawPredictions {
        name: Some(name).filter(|name| !name.is_empty()),
        kind,
        notes: notes.clone(),
        ..RawPredictions::default()
    };
    let mut found: Vec<RawPredictions> = match &wanted {
        Values::Vectors(column) => vec![raw(String::new(), kind_of(&columns[*column]))],
        Values::Pairs(_) => vec![raw(String::new(), None)],
        Values::Columns(models) => models
            .iter()
            .map(|(name, places)| {
                let names: Vec<String> = places.iter().map(|&c| columns[c].clone()).collect();
                let kind = common_kind(&names);
                // Columns without a header are only counted.
                let classes = Some(names).filter(|n| n.iter().any(|name| !name.starts_with('#')));
                // One number of a name such as `logit`.
                let kind =
                    kind.or(if places.len() == 1 { kind_of(&columns[places[0]]) } else { None });
                RawPredictions { width: places.len(), classes, ..raw(name.clone(), kind) }
            })
            .collect(),
    };
    let (mut ids, mut rows, mut vectors) = (Vec::new(), Vec::new(), Vectors::default());
    for row in table.rows(&options.limits) {
        let row = row?;
        let item = id.and_then(|column| cell_text(row.cell(column)));
        let bad = |column: usize, problem: PredictionProblem| {
            let error = PredictionError::new(file, problem).row(row.number);
            error.column(columns[column].clone()).item(item.clone())
        };
        match &wanted {
            Values::Vectors(column) => {
                let pairs = names.and_then(|c| named_vector(row.cell(c), row.cell(*column)));
                let cell = pairs.as_ref().unwrap_or(row.cell(*column));
                vectors.add(cell).map_err(|problem| bad(*column, problem))?;
            }
            Values::Pairs(pairs) => {
                let pair = |&(name, value): &(usize, usize)| {
                    Some((cell_text(row.cell(name))?, row.cell(value).clone()))
                };
                let cell = Value::Object(pairs.iter().filter_map(pair).collect());
                let (column, _) = pairs[0];
                vectors.add(&cell).map_err(|problem| bad(column, problem))?;
            }
            Values::Columns(wanted) => {
                for ((_, places), found) in wanted.iter().zip(&mut found) {
                    for &column in places {
                        let Some(value) = number(row.cell(column)) else {
                            let text = shorten(&cell_text(row.cell(column)).unwrap_or_default());
                            return Err(bad(column, PredictionProblem::NotANumber { text }));
                        };
                        found.values.push(value);
                    }
                }
            }
        }
        rows.push(row.number);
        if !both.is_empty() {
            models.push(model_of(&row, &of_models, &columns));
            runs.push(model_of(&row, &both, &columns));
        }
        if let Some(column) = id {
            match item.clone().filter(|id| !id.is_empty()) {
                None if !options.by_position.items => {
                    return Err(bad(column, PredictionProblem::EmptyId));
                }
                id => ids.push(id.unwrap_or_default()),
            }
        }
    }
    if let (Values::Vectors(_) | Values::Pairs(_), Some(found)) = (wanted, found.first_mut()) {
        (found.values, found.width) = (vectors.values, vectors.width);
        found.classes = vectors.classes;
    }
    for found in &mut found {
        found.ids = id.is_some().then(|| ids.clone());
        found.rows.clone_from(&rows);
    }
    let once_in = |models: &[String]| {
        let mut seen = HashSet::new();
        models.len() == ids.len() && models.iter().zip(&ids).all(|pair| seen.insert(pair))
    };
    match &mut found[..] {
        [only] if has_twice(&ids) && !of_models.is_empty() && once_in(&models) => {
            Ok(only.by_model(&models))
        }
        [only] if has_twice(&ids) && !of_runs.is_empty() && once_in(&runs) => match options.runs {
            true => Ok(only.by_model(&runs)),
            false => {
                let column = columns[of_runs[0]].clone();
                Err(PredictionError::new(file, PredictionProblem::SeveralRuns { column }))
            }
        },
        _ => Ok(found),
    }
}

/// The model of a row by columns of models and of seeds: `bert, seed 1`.
pub(super) fn model_of(row: &Row, apart: &[usize], names: &[String]) -> String {
    let word = |&column: &usize| {
        let value = cell_text(row.cell(column)).unwrap_or_default();
        if is_model(&names[column]) { value } else { format!("{} {value}", names[column]) }
    };
    apart.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// What the words say that all of these names begin with.
fn common_kind(names: &[String]) -> Option<Kind> {
    let kind = |name: &String| {
        let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
        // A word beside the class: a class itself may be called `logit`.
        (words.len() > 1).then(|| words.iter().find_map(|word| kind_of(word))).flatten()
    };
    let first = names.first().and_then(kind)?;
    names.iter().all(|name| kind(name) == Some(first)).then_some(first)
}

/// Names of a column that says which model a row is from.
pub(super) fn is_model(name: &str) -> bool {
    const NAMES: [&str; 7] =
        ["model", "modelname", "modelid", "classifier", "system", "llm", "checkpoint"];
    NAMES.contains(&super::plain(name).as_str())
}

/// Names of a column that says which of several predictions for an item a row is.
pub(super) fn is_run(name: &str) -> bool {
    const NAMES: [&str; 26] = [
        "sample",
        "sampleid",
        "sampleidx",
        "sampleindex",
        "samplenumber",
        "run",
        "runid",
        "seed",
        "randomseed",
        "randomstate",
        "draw",
        "trial",
        "iteration",
        "iter",
        "replicate",
        "rep",
        "repeat",
        "fold",
        "pass",
        "mcpass",
        "member",
        "epoch",
        "step",
        "attempt",
        "try",
        "round",
    ];
    let plain = super::plain(name);
    NAMES.contains(&plain.as_str()) || NAMES.contains(&plain.trim_end_matches('s'))
}

fn has_twice(ids: &[String]) -> bool {
    let mut seen = HashSet::new();
    !ids.iter().all(|id| seen.insert(id))
}
