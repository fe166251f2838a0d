//! Several files as the predictions of one model: a file for each class, or a file for each seed, whose
//! probabilities are averaged.

use std::collections::HashMap;

use dissensus_core::VoteTable;
use thiserror::Error;

use crate::align::{AlignError, align};
use crate::classes::class_in;
use crate::error::{PredictionError, PredictionProblem};
use crate::note::Note;
use crate::options::{ByPosition, ClassOrder, Kind, ReadOptions};
use crate::predictions::{Predictions, stem};

/// What each of several files is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// One class of a table, with a number per item.
    Classes,
    /// A seed of a method: the mean of the probabilities is the prediction.
    Seeds,
}

/// Why files are no predictions of one model.
#[derive(Debug, Error)]
pub enum JoinError {
    /// They do not fit together.
    #[error(transparent)]
    Files(#[from] PredictionError),
    /// They do not fit the votes.
    #[error(transparent)]
    Votes(#[from] AlignError),
}

/// Predictions of one model from those of several files. Those of classes were read with
/// `one_column`; which class each is, `class_order` says in the order of the files, else the name of the
/// column or of the file.
pub fn join(
    table: &VoteTable,
    parts: &[Predictions],
    how: Join,
    options: &ReadOptions,
) -> Result<Predictions, JoinError> {
    match how {
        Join::Classes => classes(table, parts, options),
        Join::Seeds => seeds(table, parts),
    }
}

fn not_joined(part: &Predictions, why: String) -> JoinError {
    PredictionError::new(&part.file, PredictionProblem::NotJoined { why }).into()
}

fn classes(
    table: &VoteTable,
    parts: &[Predictions],
    options: &ReadOptions,
) -> Result<Predictions, JoinError> {
    let votes = table.classes().names();
    let said = match &options.class_order {
        Some(ClassOrder::List(list)) if list.len() == parts.len() => Some(list),
        _ => None,
    };
    let (mut names, mut columns): (Vec<String>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let Some(first) = parts.first() else {
        return Err(PredictionError::new("", PredictionProblem::Empty).into());
    };
    for (at, part) in parts.iter().enumerate() {
        if part.width != 1 {
            return Err(not_joined(part, format!("this one has {} numbers per item", part.width)));
        }
        let column = part.classes.as_ref().and_then(|names| names.first());
        let class = match said {
            Some(list) => votes.iter().find(|class| **class == list[at]),
            None => {
                let pairs = || options.class_map.iter().flat_map(|map| map.pairs());
                let class = |name: &str| {
                    let mapped = pairs().find(|(from, _)| from == name).map(|(_, to)| to.as_str());
                    class_in(votes, mapped.unwrap_or(name))
                };
                column.and_then(|name| class(name)).or_else(|| class(&stem(&part.file)))
            }
        };
        let class = class.filter(|class| !names.contains(class)).ok_or_else(|| {
            not_joined(part, "neither its column nor its name says a class of its own".to_owned())
        })?;
        names.push(class.clone());
        columns.push(values_by_id(first, part)?);
    }
    let values = (0..first.len()).flat_map(|row| columns.iter().map(move |column| column[row]));
    let ids = first.ids.clone();
    let options = ReadOptions {
        class_order: None,
        class_names: None,
        class_map: None,
        one_column: false,
        id: None,
        key: None,
        ..options.clone()
    };
    Ok(Predictions::from_rows(&first.file, values, parts.len(), ids, Some(names), &options)?)
}

/// The numbers of a file in the order of another's items.
fn values_by_id(first: &Predictions, part: &Predictions) -> Result<Vec<f64>, JoinError> {
    let other = || not_joined(part, format!("this one predicts other items than {}", first.file));
    match (&first.ids, &part.ids) {
        (None, None) if first.len() == part.len() => Ok(part.values.clone()),
        (Some(wanted), Some(ids)) if wanted.len() == ids.len() => {
            let places: HashMap<&String, usize> = ids.iter().zip(0..).collect();
            let value = |id: &String| Some(part.values[*places.get(id)?]);
            wanted.iter().map(value).collect::<Option<_>>().ok_or_else(other)
        }
        _ => Err(other()),
    }
}

fn seeds(table: &VoteTable, parts: &[Predictions]) -> Result<Predictions, JoinError> {
    let width = table.classes().len();
    let mut sum: Vec<f64> = Vec::new();
    let mut items: Option<Vec<usize>> = None;
    let mut notes = vec![Note::Mean { files: parts.len() }];
    for part in parts {
        let aligned = align(table, part)?;
        if items.as_ref().is_some_and(|items| *items != aligned.items) {
            return Err(not_joined(
                part,
                "this one predicts other items than the first".to_owned(),
            ));
        }
        sum.resize(aligned.values.len(), 0.0);
        for (sums, row) in sum.chunks_mut(width).zip(aligned.values.chunks(width)) {
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let whole: f64 = row.iter().map(|z| (z - most).exp()).sum();
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += match part.kind {
                    Kind::Logits => (value - most).exp() / whole,
                    Kind::Probabilities => *value,
                };
            }
        }
        items = Some(aligned.items);
        let new = part.notes.iter().chain(&aligned.notes).filter(|note| !notes.contains(note));
        notes.extend(new.cloned().collect::<Vec<_>>());
    }
    let (Some(items), Some(first)) = (items, parts.first()) else {
        return Err(PredictionError::new("", PredictionProblem::Empty).into());
    };
    sum.iter_mut().for_each(|value| *value /= parts.len() as f64);
    Ok(Predictions {
        name: format!("mean of {} predictions", parts.len()),
        file: first.file.clone(),
        ids: Some(items.iter().map(|&item| table.items().name(item).to_owned()).collect()),
        classes: Some(table.classes().names().to_vec()),
        file_classes: None,
        values: sum,
        width,
        kind: Kind::Probabilities,
        kind_detected: first.kind_detected,
        by_position: ByPosition::default(),
        class_order: None,
        trust_order: first.trust_order,
        notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_bytes_for;

    fn table() -> VoteTable {
        let text = "id,cat,dog,fox\na,3,1,1\nb,0,4,1\n";
        dissensus_votes::read_bytes("v.csv", text.into(), &Default::default()).unwrap().table
    }

    fn read(name: &str, text: &str, options: &ReadOptions) -> Predictions {
        read_bytes_for(name, text.into(), &table(), options).unwrap().remove(0)
    }

    #[test]
    fn a_file_for_each_class() {
        let options = ReadOptions { one_column: true, ..Default::default() };
        let part = |name: &str, text: &str| read(name, text, &options);
        let fox = part("out/fox.csv", "id,p\na,0.1\nb,0.5\n");
        let cat = part("out/p_cat.csv", "id,p\nb,0.25\na,0.7\n");
        let dog = part("x.csv", "id,dog\na,0.2\nb,0.25\n");
        let joined = join(&table(), &[fox.clone(), cat.clone(), dog], Join::Classes, &options);
        let joined = joined.unwrap();
        let aligned = align(&table(), &joined).unwrap();
        assert_eq!(aligned.values[..], [0.7, 0.2, 0.1, 0.25, 0.25, 0.5]);
        let other = part("x.csv", "id,p\na,0.2\nb,0.25\n");
        let error =
            join(&table(), &[fox.clone(), cat.clone(), other.clone()], Join::Classes, &options);
        assert!(error.unwrap_err().to_string().contains("says a class of its own"));
        let said = ReadOptions { class_order: "fox,cat,dog".parse().ok(), ..options.clone() };
        let joined = join(&table(), &[fox.clone(), cat, other], Join::Classes, &said).unwrap();
        assert_eq!(align(&table(), &joined).unwrap().values[..], aligned.values[..]);
        let less = part("dog.csv", "id,p\na,0.2\n");
        let error = join(&table(), &[fox, less], Join::Classes, &options).unwrap_err();
        assert!(error.to_string().contains("predicts other items"), "{error}");
    }

    #[test]
    fn the_mean_of_seeds() {
        let options = ReadOptions::default();
        let one = read("1.csv", "id,dog,cat,fox\nb,0.5,0.25,0.25\na,0.2,0.7,0.1\n", &options);
        let two = read("2.csv", "id,cat,dog,fox\na,0.5,0.4,0.1\nb,0.25,0.25,0.5\n", &options);
        let mean = join(&table(), &[one.clone(), two], Join::Seeds, &options).unwrap();
        let wanted = [0.6, 0.3, 0.1, 0.25, 0.375, 0.375];
        assert!(mean.values.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12));
        let less = read("3.csv", "id,cat,dog,fox\na,0.5,0.4,0.1\n", &options);
        assert!(join(&table(), &[one, less], Join::Seeds, &options).is_err());
    }
}
