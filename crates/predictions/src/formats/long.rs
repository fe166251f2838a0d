//! Tables with several rows per item: an item, a class and its number in each row; or an item and one
//! of several answers in each row, whose shares are the prediction. Answers may stand side by side, too,
//! in columns such as `run1`, `run2`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use dissensus_core::id_name_rank;
use dissensus_io::{Example, ReadOption, Source, Table, cell_text};
use serde_json::Value;

use super::table::{Columns, is_model, is_run, model_of};
use super::vector::number as number_in;
use super::{Format, RawPredictions, is_metadata, is_other_id, kind_of, plain};
use crate::classes::{groups, plain as plain_class};
use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};
use crate::note::Note;
use crate::options::Kind;
use crate::read::named;

pub(super) const FORMAT: Format = Format {
    name: "long",
    layout: "tables with a row per item and class, or a row per item and sampled answer",
    names: "the item; `label`, `class`, `answer`, …; and `probability`, `score`, `logit` or `count`. Without a \
            number, each row is an answer, and the shares of the answers are the prediction",
    examples: &[
        Example::text(
            "long.csv",
            "id,class,probability\na,no,0.75\na,yes,0.25\nb,no,0.1\nb,yes,0.9\n",
        ),
        Example::text(
            "answers.jsonl",
            "{\"id\": \"a\", \"sample\": 0, \"answer\": \"no\"}\n{\"id\": \"a\", \"sample\": 1, \"answer\": \"yes\"}\n\
             {\"id\": \"b\", \"sample\": 0, \"answer\": \"yes\"}\n",
        ),
    ],
    options: &[
        ReadOption::Id,
        ReadOption::Key,
        ReadOption::AnswerSeparator,
        ReadOption::Delimiter,
        ReadOption::Header,
    ],
    detect: |source, options| match source {
        Source::Table(table) => roles(table, options).is_some(),
        _ => false,
    },
    read,
};

/// Names of a column of classes or answers, the surest first.
const LABELS: [&str; 24] = [
    "answer",
    "response",
    "output",
    "prediction",
    "pred",
    "predicted",
    "predictedlabel",
    "predictedclass",
    "modelanswer",
    "modellabel",
    "modelprediction",
    "parsedanswer",
    "parsed",
    "choice",
    "generation",
    "class",
    "classname",
    "label",
    "labelname",
    "category",
    "option",
    "rating",
    "stars",
    "grade",
];

/// Names of a column of labels that people gave.
const HUMAN: [&str; 9] =
    ["gold", "goldlabel", "true", "truth", "truelabel", "ytrue", "target", "reference", "majority"];

/// Names of a column of numbers of classes, the surest first.
const NUMBERS: [&str; 20] = [
    "probability",
    "prob",
    "probs",
    "proba",
    "p",
    "share",
    "proportion",
    "logit",
    "logits",
    "score",
    "confidence",
    "value",
    "weight",
    "count",
    "counts",
    "n",
    "freq",
    "frequency",
    "nsamples",
    "size",
];

/// What the columns are.
struct Roles {
    /// `None` where each row is an item.
    id: Option<usize>,
    labels: Vec<usize>,
    number: Option<usize>,
    /// Columns of models.
    models: Vec<usize>,
    /// Columns of seeds, where they have probabilities of their own.
    runs: Vec<usize>,
    left_out: Vec<String>,
}

fn rank(names: &[&str], name: &str) -> Option<usize> {
    let plain = plain(name);
    let singular = plain.strip_suffix('s').unwrap_or(&plain);
    names.iter().position(|known| *known == plain || *known == singular)
}

/// The answers in a cell: a text or whole number, or a list of them.
fn answers(cell: &Value) -> Vec<String> {
    match cell {
        Value::Array(list) if list.iter().all(|one| !one.is_array() && !one.is_object()) => {
            list.iter().filter_map(cell_text).collect()
        }
        Value::Array(_) | Value::Object(_) => Vec::new(),
        cell => cell_text(cell).filter(|text| !text.is_empty()).into_iter().collect(),
    }
}

/// The columns of a table that is long; `None` for any other.
fn roles(table: &Table, options: &Context<'_>) -> Option<Roles> {
    let columns = Columns { names: &table.columns, sample: &table.sample };
    let names = columns.names;
    let all = || 0..names.len();
    if table.sample.is_empty() || all().any(|c| columns.is_vectors(c)) {
        return None;
    }
    let id = id_column(&columns, options);
    let ids = id.map_or(Vec::new(), |id| columns.texts(id));
    let different = |texts: &[String]| texts.iter().collect::<BTreeSet<_>>().len();
    let labels = label_columns(&columns, id, options)?;
    let others: Vec<usize> = all()
        .filter(|c| Some(*c) != id && !labels.contains(c) && !is_model(&names[*c]))
        .filter(|&c| columns.is_numbers(c) && !is_run(&names[c]))
        .collect();
    let number = others.iter().copied().filter(|&c| rank(&NUMBERS, &names[c]).is_some());
    let number = number.min_by_key(|&c| rank(&NUMBERS, &names[c])).filter(|_| labels.len() == 1);
    // A table with a column for each class is read as such.
    if let Some(classes) = options.classes() {
        let numbers: Vec<(usize, &str)> = others.iter().map(|&c| (c, names[c].as_str())).collect();
        if !groups(classes, &numbers).is_empty() {
            return None;
        }
    }
    let repeated = different(&ids) < ids.len();
    // A sample of a table that is sorted by class has each item once.
    // The sample is 200 rows with the header.
    let by_class = ids.len() > 190 && labels.iter().any(|&c| different(&columns.texts(c)) == 1);
    let lists = labels.iter().any(|&c| columns.all(c, Value::is_array));
    // The label of an item and the confidence in it.
    let confident = |&c: &usize| {
        columns.all(c, |cell| number_in(cell).is_some_and(|n| (0.5..=1.0).contains(&n)))
    };
    let of_two = options.classes().is_some_and(|classes| classes.len() == 2)
        && number.as_ref().is_some_and(confident);
    if !(of_two || id.is_some() && (repeated || by_class || lists || labels.len() > 1)) {
        return None;
    }
    let others = |test: fn(&str) -> bool| -> Vec<usize> {
        all().filter(|&c| ![id, number].contains(&Some(c)) && test(&names[c])).collect()
    };
    let runs = if number.is_some() { others(is_run) } else { Vec::new() };
    let models = others(is_model);
    let used = |c: &usize| {
        [id, number].contains(&Some(*c))
            || [&models, &runs, &labels].iter().any(|all| all.contains(c))
    };
    let left_out = all().filter(|c| !used(c)).map(|c| names[c].clone()).collect();
    Some(Roles { id, labels, number, models, runs, left_out })
}

fn id_column(columns: &Columns<'_>, options: &Context<'_>) -> Option<usize> {
    let names = columns.names;
    if let Some(id) = &options.id {
        return named("", ReadOption::Id, id, names).ok();
    }
    let known = (0..names.len()).filter(|&c| {
        id_name_rank(&names[c]).is_some()
            && !is_other_id(&names[c])
            && !(columns.is_numbers(c) && is_run(&names[c]))
    });
    let mut known: Vec<usize> = known.collect();
    known.sort_by_key(|&c| id_name_rank(&names[c]));
    let proven = |c: &usize| options.are_ids(&columns.texts(*c));
    known.iter().copied().find(proven).or(known.first().copied()).or_else(|| {
        let texts = (0..names.len()).filter(|c| !columns.is_numbers(*c));
        let proven: Vec<usize> = texts.filter(proven).collect();
        if let [only] = proven[..] { Some(only) } else { None }
    })
}

/// The column of classes or answers; or several of answers, side by side.
fn label_columns(
    columns: &Columns<'_>,
    id: Option<usize>,
    options: &Context<'_>,
) -> Option<Vec<usize>> {
    let names = columns.names;
    if let Some(key) = &options.key {
        return named("", ReadOption::Key, key, names).ok().map(|column| vec![column]);
    }
    let holds = |c: usize| {
        let answers: Vec<Vec<String>> =
            columns.sample.iter().map(|row| answers(row.cell(c))).collect();
        answers.iter().all(|answers| !answers.is_empty()) && are_labels(&answers.concat(), options)
    };
    let candidates: Vec<usize> = (0..names.len())
        .filter(|&c| Some(c) != id && rank(&HUMAN, &names[c]).is_none() && !is_model(&names[c]))
        .filter(|&c| rank(&LABELS, &names[c]).is_some() || options.votes.is_some())
        .filter(|&c| !is_run(&names[c]) && rank(&NUMBERS, &names[c]).is_none())
        .filter(|&c| holds(c))
        .collect();
    if let Some(columns) = numbered_columns(columns, id, options) {
        return Some(columns);
    }
    let known = candidates.iter().copied().filter(|&c| rank(&LABELS, &names[c]).is_some());
    let known = known.min_by_key(|&c| rank(&LABELS, &names[c]));
    let texts: Vec<usize> = candidates
        .iter()
        .copied()
        .filter(|&c| !columns.is_numbers(c) && !is_metadata(&names[c]))
        .collect();
    match (known, &texts[..]) {
        (Some(known), _) => Some(vec![known]),
        (None, [only]) => Some(vec![*only]),
        _ => None,
    }
}

/// The columns of answers side by side: `run1`, `run2`, …
fn numbered_columns(
    columns: &Columns<'_>,
    id: Option<usize>,
    options: &Context<'_>,
) -> Option<Vec<usize>> {
    let mut by_stem: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (column, name) in columns.names.iter().enumerate().filter(|(column, _)| Some(*column) != id)
    {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if stem.len() < name.len() && stem.contains(char::is_alphabetic) {
            by_stem.entry(stem).or_default().push(column);
        }
    }
    let answers = |places: &Vec<usize>| {
        let texts: Vec<String> = places.iter().flat_map(|&c| columns.texts(c)).collect();
        let known = |stem: &str| rank(&LABELS, stem).is_some() || is_run(stem);
        let named = options.votes.is_some()
            || known(columns.names[places[0]].trim_end_matches(char::is_numeric));
        places.len() > 1
            && named
            && texts.iter().all(|text| !text.is_empty())
            && are_labels(&texts, options)
    };
    let mut found = by_stem.into_values().filter(answers);
    found.next().filter(|_| found.next().is_none())
}

/// Whether all texts are names of classes: of the votes' where they are known.
fn are_labels(texts: &[String], options: &Context<'_>) -> bool {
    let different: BTreeSet<&String> = texts.iter().collect();
    let Some(classes) = options.classes() else {
        let words = |text: &&String| !text.is_empty() && text.parse::<f64>().is_err();
        return different.iter().all(words) || 2 * different.len() < texts.len();
    };
    let mapped = |text: &str| {
        let pairs = options.class_map.iter().flat_map(|map| map.pairs());
        pairs.into_iter().any(|(from, _)| from == text)
    };
    let equal = |text: &&String| {
        mapped(text) || classes.iter().any(|class| plain_class(class) == plain_class(text))
    };
    let columns: Vec<(usize, &str)> =
        different.iter().map(|text| text.as_str()).enumerate().collect();
    let names: Vec<String> = different.iter().map(|text| (*text).clone()).collect();
    let named = || {
        crate::classes::numbers_in(&names).is_some_and(|n| n.iter().all(|n| classes.contains(n)))
            || groups(classes, &columns).iter().any(|group| group.columns.len() == different.len())
    };
    different.iter().all(equal) || (different.len() == classes.len() && named())
}

/// The items of one model.
#[derive(Default)]
struct Items {
    places: HashMap<String, usize>,
    ids: Vec<String>,
    rows: Vec<u64>,
    /// For each item the numbers of its classes.
    numbers: Vec<BTreeMap<usize, f64>>,
}

fn read(
    file: &str,
    source: Source,
    options: &Context<'_>,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let Source::Table(table) = source else { return Ok(Vec::new()) };
    let Some(roles) = roles(&table, options) else { return Ok(Vec::new()) };
    let columns = table.columns.clone();
    let mut labels: Vec<String> = Vec::new();
    let mut models: Vec<((String, String), Items)> = Vec::new();
    for row in table.rows(&options.limits) {
        let row = row?;
        let text = |column: usize| cell_text(row.cell(column)).filter(|text| !text.is_empty());
        let bad = |column: usize, problem: PredictionProblem| {
            let error = PredictionError::new(file, problem).row(row.number);
            error.column(columns[column].clone()).item(roles.id.and_then(text))
        };
        let id = match roles.id {
            Some(id) => text(id).ok_or_else(|| bad(id, PredictionProblem::EmptyId))?,
            None => row.number.to_string(),
        };
        let model =
            (model_of(&row, &roles.models, &columns), model_of(&row, &roles.runs, &columns));
        let at = match models.iter().position(|(name, _)| *name == model) {
            Some(at) => at,
            None => {
                models.push((model, Items::default()));
                models.len() - 1
            }
        };
        let items = &mut models[at].1;
        let place = *items.places.entry(id.clone()).or_insert(items.ids.len());
        if place == items.ids.len() {
            items.ids.push(id);
            items.rows.push(row.number);
            items.numbers.push(BTreeMap::new());
        }
        for &column in &roles.labels {
            let answers = answers(row.cell(column));
            if answers.is_empty() {
                let found = row.cell(column).to_string();
                let problem = PredictionProblem::Shape { expected: "a class", found };
                return Err(bad(column, problem));
            }
            for label in answers {
                let known = || labels.iter().position(|known| *known == label);
                let alike = || {
                    let plain = plain_class(&label);
                    labels.iter().position(|known| plain_class(known) == plain)
                };
                let class = known().or_else(alike).unwrap_or_else(|| {
                    labels.push(label.clone());
                    labels.len() - 1
                });
                let cell = &mut items.numbers[place];
                let Some(column) = roles.number else {
                    *cell.entry(class).or_default() += 1.0;
                    continue;
                };
                let Some(value) = number_in(row.cell(column)) else {
                    let text = text(column).unwrap_or_default();
                    return Err(bad(column, PredictionProblem::NotANumber { text }));
                };
                if cell.insert(class, value).is_some() {
                    return Err(bad(column, PredictionProblem::DuplicateClass { name: label }));
                }
            }
        }
    }
    let name_of = |column: usize| columns[column].as_str();
    let models = match roles.runs.first() {
        Some(&column) => whole(models, options.runs).ok_or_else(|| {
            let column = columns[column].clone();
            PredictionError::new(file, PredictionProblem::SeveralRuns { column })
        })?,
        None => models.into_iter().map(|((model, _), items)| (model, items)).collect(),
    };
    let several = models.len() > 1;
    let found = models.into_iter().map(|(name, items)| {
        let name = Some(name).filter(|name| several && !name.is_empty());
        finished(file, name, items, &labels, &roles, roles.number.map(name_of), options)
    });
    found.collect()
}

/// The parts of each model as one where they have no item in common, as folds do; else each as a model of
/// its own, or nothing where `apart` does not say so.
fn whole(parts: Vec<((String, String), Items)>, apart: bool) -> Option<Vec<(String, Items)>> {
    let disjoint = {
        let mut seen = HashSet::new();
        parts.iter().all(|((model, _), items)| items.ids.iter().all(|id| seen.insert((model, id))))
    };
    if !disjoint {
        let name = |(model, run): (String, String)| {
            if model.is_empty() { run } else { format!("{model}, {run}") }
        };
        return apart.then(|| parts.into_iter().map(|(key, items)| (name(key), items)).collect());
    }
    let mut models: Vec<(String, Items)> = Vec::new();
    for ((model, _), mut items) in parts {
        match models.iter_mut().find(|(known, _)| *known == model) {
            Some((_, whole)) => {
                whole.ids.append(&mut items.ids);
                whole.rows.append(&mut items.rows);
                whole.numbers.append(&mut items.numbers);
            }
            None => models.push((model, items)),
        }
    }
    Some(models)
}

/// The rows of a model: numbers of every class, or shares of answers.
fn finished(
    file: &str,
    name: Option<String>,
    mut items: Items,
    labels: &[String],
    roles: &Roles,
    number: Option<&str>,
    options: &Context<'_>,
) -> Result<RawPredictions, PredictionError> {
    let mut classes = labels.to_vec();
    let whole =
        items.numbers.iter().flat_map(BTreeMap::values).all(|n| n.fract() == 0.0 && *n >= 0.0);
    let counts = number.is_none()
        || whole && rank(&NUMBERS, number.unwrap_or_default()) >= rank(&NUMBERS, "count");
    let mut notes = Vec::new();
    let once = |numbers: &BTreeMap<usize, f64>| {
        numbers.len() == 1 && (number.is_some() || numbers.values().all(|n| *n == 1.0))
    };
    if !(counts && number.is_some()) && items.numbers.iter().all(once) {
        // One label per item, with the confidence in it: of two classes that says everything.
        complement(file, &mut items, &mut classes, number, options)?;
        notes.push(Note::Complement { class: "the label".to_owned() });
    } else if counts {
        add_missing(&mut classes, options);
        let sums = || items.numbers.iter().map(|numbers| numbers.values().sum::<f64>());
        let (least, most) = sums().fold((f64::MAX, 0.0f64), |(a, b), n| (a.min(n), b.max(n)));
        notes.push(Note::Samples { least: least as u64, most: most as u64 });
        for numbers in &mut items.numbers {
            let sum: f64 = numbers.values().sum();
            numbers.values_mut().for_each(|number| *number /= sum);
        }
    }
    notes.extend(
        (!roles.left_out.is_empty()).then(|| Note::LeftOut { names: roles.left_out.clone() }),
    );
    let mut values = Vec::with_capacity(items.ids.len() * classes.len());
    for (row, numbers) in items.numbers.iter().enumerate() {
        for (class, name) in classes.iter().enumerate() {
            match numbers.get(&class) {
                Some(value) => values.push(*value),
                None if counts => values.push(0.0),
                None => {
                    let expected = "a row for each class of every item";
                    let found = format!("none for {name:?}");
                    let problem = PredictionProblem::Shape { expected, found };
                    let error = PredictionError::new(file, problem).row(items.rows[row]);
                    return Err(error.item(items.ids.get(row).cloned()));
                }
            }
        }
    }
    let kind = if counts { Some(Kind::Probabilities) } else { number.and_then(kind_of) };
    let width = classes.len();
    let (ids, rows) = (roles.id.map(|_| items.ids), items.rows);
    // Shares may be one 1 and zeros.
    Ok(RawPredictions {
        name,
        ids,
        classes: Some(classes),
        values,
        width,
        kind,
        rows,
        notes,
        sampled: counts,
    })
}

/// The classes of the votes that no answer names, where the answers are classes of the votes.
fn add_missing(classes: &mut Vec<String>, options: &Context<'_>) {
    let Some(votes) = options.classes() else { return };
    let pairs = options.class_map.iter().flat_map(|map| map.pairs());
    let mapped: HashMap<&str, &str> =
        pairs.map(|(from, to)| (from.as_str(), to.as_str())).collect();
    let said = |class: &String| plain_class(mapped.get(class.as_str()).copied().unwrap_or(class));
    let known: BTreeSet<String> = classes.iter().map(said).collect();
    let wanted: BTreeSet<String> = votes.iter().map(|class| plain_class(class)).collect();
    if known.is_subset(&wanted) {
        let missing = votes.iter().filter(|class| !known.contains(&plain_class(class)));
        classes.extend(missing.cloned());
    }
}

/// One of two classes with its probability for each item: the other one has the rest.
fn complement(
    file: &str,
    items: &mut Items,
    classes: &mut Vec<String>,
    number: Option<&str>,
    options: &Context<'_>,
) -> Result<(), PredictionError> {
    add_missing(classes, options);
    let least = items.numbers.iter().flat_map(BTreeMap::values).copied().fold(f64::MAX, f64::min);
    let most = items.numbers.iter().flat_map(BTreeMap::values).copied().fold(f64::MIN, f64::max);
    // The confidence in the label that is predicted is never below one half.
    if classes.len() != 2 || number.is_none() || least < 0.5 || most > 1.0 {
        let seen = "every item has one row with one class".to_owned();
        return Err(PredictionError::new(file, PredictionProblem::HardLabels { seen }));
    }
    for numbers in &mut items.numbers {
        if let Some((&class, &value)) = numbers.first_key_value() {
            numbers.insert(1 - class, 1.0 - value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes, read_bytes_for};

    fn votes(text: &str) -> dissensus_core::VoteTable {
        let values = Some(dissensus_votes::Values::Counts);
        let options = dissensus_votes::ReadOptions { values, ..Default::default() };
        dissensus_votes::read_bytes("v.csv", text.to_owned().into(), &options).unwrap().table
    }

    #[test]
    fn a_row_per_item_and_class() {
        let text = "uid,label,probability\na,no,0.75\na,yes,0.25\nb,yes,0.9\nb,no,0.1\n";
        let found = read_bytes("x.csv", text.into(), &ReadOptions::default()).unwrap();
        assert_eq!(found[0].values, [0.75, 0.25, 0.1, 0.9]);
        assert_eq!(found[0].classes.as_ref().unwrap(), &["no", "yes"]);
        let missing = text.replace("b,no,0.1\n", "");
        let error = read_bytes("x.csv", missing.into(), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("none for \"no\""), "{error}");
        let twice = text.replace("b,no", "b,yes");
        let error = read_bytes("x.csv", twice.into(), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("two columns are for the class"), "{error}");
    }

    #[test]
    fn answers_are_counted_and_models_are_not_mixed() {
        let table = votes("id,no,yes,maybe\na,1,2,0\nb,3,0,1\n");
        let read = |text: &str| {
            read_bytes_for("x.csv", text.into(), &table, &ReadOptions::default()).unwrap()
        };
        let found = read("id,sample,answer\na,0,yes\na,1,no\nb,0,yes\nb,1,yes\n");
        assert_eq!(found[0].classes.as_ref().unwrap(), &["yes", "no", "maybe"]);
        assert_eq!(found[0].values, [0.5, 0.5, 0.0, 1.0, 0.0, 0.0]);
        assert!(found[0].notes[0].to_string().contains("2 answers per item"));
        let found = read("id,model,answer\na,m,yes\na,n,no\na,n,no\na,m,no\nb,m,yes\nb,n,yes\n");
        assert_eq!(found.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["m", "n"]);
        assert_eq!(found[1].values, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
        let found = read("id,run1,run2\na,yes,no\nb,yes,yes\n");
        assert_eq!(found[0].values, [0.5, 0.5, 0.0, 1.0, 0.0, 0.0]);
        let found = read("id,label,count\na,yes,3\na,no,1\nb,maybe,2\n");
        assert_eq!(found[0].values, [0.75, 0.25, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_label_and_its_score_say_all_of_two_classes() {
        let table = votes("id,no,yes\na,1,2\nb,3,0\n");
        let read =
            |text: &str| read_bytes_for("x.csv", text.into(), &table, &ReadOptions::default());
        let found = read("id,label,score\na,yes,0.75\nb,no,0.9\n").unwrap();
        assert_eq!(found[0].values, [0.75, 0.25, 1.0 - 0.9, 0.9]);
        let error = read("id,label,score\na,yes,0.75\nb,no,0.4\n").unwrap_err();
        assert!(error.to_string().contains("hard labels"), "{error}");
    }
}
