//! Ways in: the options by which a file that was refused is certainly read right.
//!
//! Each refusal has one kind of word that may be missing: that rows are in the order of the votes, which
//! class a column is, which column holds the ids. It is added, and the file is read again, until it is
//! read or nothing certain is left to add. What the votes alone must decide is certain where it fits
//! them significantly better than everything else ([`order`](crate::order)).

use dissensus_core::{MatchError, VoteTable};
use dissensus_io::{ReadOption, Way};
use serde_json::Value;

use crate::align::{AlignError, Aligned, align};
use crate::error::{PredictionError, PredictionProblem};
use crate::options::{ClassOrder, Kind, ReadOptions};
use crate::order::Fit;
use crate::predictions::Predictions;

/// Words at the most that are added.
const MOST_WORDS: usize = 4;

/// The ways in which predictions that are refused with these options are certainly read right. `read`
/// reads them with options.
pub fn ways_in(
    table: &VoteTable,
    options: &ReadOptions,
    read: &dyn Fn(&ReadOptions) -> Result<Vec<Predictions>, PredictionError>,
) -> Vec<Way> {
    let (mut options, mut words) = (options.clone(), Vec::new());
    let mut ordered = options.class_order.is_some();
    for _ in 0..=MOST_WORDS {
        let models = match read(&options) {
            Ok(models) => models,
            Err(error) => match word_for_reading(table, &options, &error, read) {
                Some(word) if !words.contains(&word) => {
                    ordered |= word.0 == ReadOption::ClassOrder;
                    add(&mut options, &mut words, word);
                    continue;
                }
                _ => return Vec::new(),
            },
        };
        let aligned: Result<Vec<Aligned<'_>>, AlignError> =
            models.iter().map(|model| align(table, model)).collect();
        let error = match aligned {
            Ok(aligned) => {
                let rows_matter = words.iter().any(|(option, _)| *option == ReadOption::ByPosition);
                let fits = |(one, model): (&Aligned<'_>, &Predictions)| {
                    let fit = Fit::new(table, &one.items, &one.values, model.kind);
                    fit.is_some_and(|fit| {
                        (!rows_matter || fit.rows_fit())
                            && (!ordered || fit.certain_order().is_some_and(|o| o.is_sorted()))
                    })
                };
                let certain = !rows_matter && !ordered || aligned.iter().zip(&models).all(fits);
                let option = |(option, value): &Word| {
                    let set = value == "true";
                    (
                        option.name().to_owned(),
                        if set { Value::Bool(true) } else { value.as_str().into() },
                    )
                };
                let way = || Way {
                    options: words.iter().map(option).collect(),
                    gives: gives(table, &aligned),
                };
                return (certain && !words.is_empty()).then(way).into_iter().collect();
            }
            Err(error) => error,
        };
        match word_for_matching(table, &options, &error, &models) {
            Some(word) if !words.contains(&word) => {
                ordered |= word.0 == ReadOption::ClassOrder;
                add(&mut options, &mut words, word);
            }
            _ => return Vec::new(),
        }
    }
    Vec::new()
}

/// An option with its value; `true` for those that are set or not.
type Word = (ReadOption, String);

/// What is missing to read a file.
fn word_for_reading(
    table: &VoteTable,
    options: &ReadOptions,
    error: &PredictionError,
    read: &dyn Fn(&ReadOptions) -> Result<Vec<Predictions>, PredictionError>,
) -> Option<Word> {
    match &error.problem {
        PredictionProblem::NamedLogits | PredictionProblem::Rows { nearly: true, .. } => {
            Some((ReadOption::Probabilities, "true".to_owned()))
        }
        // The probability of one of two classes: the class for which it fits better.
        PredictionProblem::OneNumber { .. } if options.class_order.is_none() => {
            let [_, second] = table.classes().names() else { return None };
            let trial = ReadOptions {
                class_order: ClassOrder::list(vec![second.clone()]).ok(),
                trust_order: true,
                ..options.clone()
            };
            let by_position = |items| ReadOptions {
                by_position: crate::ByPosition { items, ..trial.by_position },
                ..trial.clone()
            };
            let class = [trial.by_position.items, true].into_iter().find_map(|items| {
                let models = read(&by_position(items)).ok()?;
                // What is never below one half may be the confidence in any label.
                let confidence = models.first()?.values.chunks(2).all(|row| row[0] >= 0.5);
                if confidence && models.first()?.kind == Kind::Probabilities {
                    return None;
                }
                let order = certain_order(table, models.first()?, items)?;
                // The class of the first column, which is the number itself.
                let class = order.iter().position(|&column| column == 0)?;
                table.classes().names().get(class).cloned()
            })?;
            Some((ReadOption::ClassOrder, class))
        }
        PredictionProblem::UnclearIds { found } => {
            let ids = found.split(", ").filter(|id| {
                let trial = ReadOptions { id: Some((*id).to_owned()), ..options.clone() };
                let models = read(&trial).unwrap_or_default();
                models.first().is_some_and(|model| {
                    let known = |id: &&String| table.items().position(id).is_some();
                    let shared = model.ids.iter().flatten().filter(known).count();
                    10 * shared >= 9 * model.len() && shared > 1
                })
            });
            match ids.collect::<Vec<_>>()[..] {
                [only] => Some((ReadOption::Id, only.to_owned())),
                _ => None,
            }
        }
        PredictionProblem::Unknown { .. } | PredictionProblem::HardLabels { .. }
            if options.answer_separator.is_none() =>
        {
            let read_with = |separator: &&char| {
                read(&ReadOptions { answer_separator: Some(**separator), ..options.clone() })
                    .is_ok()
            };
            let separator = ['|', ';', '/', ',', ' '].iter().find(read_with)?;
            Some((ReadOption::AnswerSeparator, separator.to_string()))
        }
        _ => None,
    }
}

/// What is missing to match predictions with the votes.
fn word_for_matching(
    table: &VoteTable,
    options: &ReadOptions,
    error: &AlignError,
    models: &[Predictions],
) -> Option<Word> {
    match error {
        AlignError::Match { source, .. } => {
            let by_position = match source {
                MatchError::NoIds { found, expected, .. } => found == expected,
                MatchError::NoneShared { .. } => models.iter().all(|m| m.len() == table.len()),
                _ => false,
            };
            by_position.then(|| (ReadOption::ByPosition, "items".to_owned()))
        }
        AlignError::Classes { suggestion: Some(map), .. } if options.class_map.is_none() => {
            Some((ReadOption::ClassMap, String::from(map.clone())))
        }
        AlignError::Unnamed { .. } | AlignError::Classes { suggestion: None, .. } => {
            order_word(table, models)
        }
        _ => None,
    }
}

/// The order of classes that fits all models significantly better than any other.
fn order_word(table: &VoteTable, models: &[Predictions]) -> Option<Word> {
    let mut found: Option<Vec<String>> = None;
    for model in models {
        let order = certain_order(table, model, model.by_position.items)
            .or_else(|| certain_order(table, model, true))?;
        let mut classes = vec![String::new(); order.len()];
        for (class, column) in order.into_iter().enumerate() {
            classes[column].clone_from(&table.classes().names()[class]);
        }
        // Numbered columns are said in the order of their numbers.
        if let Some(columns) =
            model.classes.as_ref().and_then(|names| crate::classes::numbered(names))
        {
            classes = columns.into_iter().map(|column| classes[column].clone()).collect();
        }
        if found.as_ref().is_some_and(|found| *found != classes) {
            return None;
        }
        found = Some(classes);
    }
    let said = ClassOrder::List(found?);
    // A name with a comma cannot be said in a list.
    let text = String::from(said.clone());
    (text.parse() == Ok(said)).then_some((ReadOption::ClassOrder, text))
}

/// For each class of the votes the column that fits it, where that is certain.
fn certain_order(table: &VoteTable, model: &Predictions, by_position: bool) -> Option<Vec<usize>> {
    let mut trial = Predictions { class_order: None, trust_order: true, ..model.clone() };
    trial.by_position = crate::ByPosition { items: by_position, classes: true };
    let aligned = align(table, &trial).ok()?;
    Fit::new(table, &aligned.items, &aligned.values, trial.kind)?.certain_order()
}

fn add(options: &mut ReadOptions, words: &mut Vec<Word>, word: Word) {
    match word.0 {
        ReadOption::ByPosition => options.by_position.items = true,
        ReadOption::ClassMap => options.class_map = word.1.parse().ok(),
        ReadOption::ClassOrder => options.class_order = word.1.parse().ok(),
        ReadOption::AnswerSeparator => options.answer_separator = word.1.chars().next(),
        ReadOption::Id => options.id = Some(word.1.clone()),
        ReadOption::Probabilities => options.kind = Some(Kind::Probabilities),
        _ => {}
    }
    words.push(word);
}

/// What is read, in a few words.
fn gives(table: &VoteTable, aligned: &[Aligned<'_>]) -> String {
    let Some(first) = aligned.first() else { return String::new() };
    let pairs = first.classes.iter().take(6).map(|(from, to)| format!("{from} → {to}"));
    let more = if first.classes.len() > 6 { ", …" } else { "" };
    format!(
        "{} of {} items, {}{more}",
        first.items.len(),
        table.len(),
        pairs.collect::<Vec<_>>().join(", ")
    )
}
