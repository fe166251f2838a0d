//! Which of several named arrays hold predictions, ids and class names: those that the user names,
//! those of known names, or those that can be nothing else. What could be ids is used or refused,
//! never passed over.

use std::collections::HashSet;

use dissensus_core::{IdCandidate, IdChoice, choose_ids, id_name_rank};
use dissensus_io::npy::{Array, Element};
use dissensus_io::{Problem, ReadOption};

use super::{RawPredictions, is_metadata, kind_of, plain, values_rank};
use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};
use crate::note::Note;
use crate::read::named;

/// What the values of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Numbers,
    WholeNumbers,
    Texts,
}

/// A named array of a file.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) content: Content,
    /// The values of a list of texts or whole numbers.
    pub(super) texts: Vec<String>,
}

impl Member {
    pub(super) fn of(name: &str, array: &Array<'_>) -> Result<Self, Problem> {
        let content = match array.element {
            Element::Float(_) => Content::Numbers,
            Element::Int(_) | Element::Unsigned(_) => Content::WholeNumbers,
            Element::Text(_) | Element::Bytes(_) => Content::Texts,
        };
        let list = array.shape.len() == 1 && content != Content::Numbers;
        let texts = if list { array.texts()? } else { Vec::new() };
        Ok(Self { name: name.to_owned(), shape: array.shape.clone(), content, texts })
    }

    fn is_matrix(&self) -> bool {
        self.shape.len() == 2 && self.content != Content::Texts
    }

    fn is_list(&self, length: usize) -> bool {
        self.shape[..] == [length] && self.content != Content::Numbers
    }

    fn all_different(&self) -> bool {
        let mut seen = HashSet::new();
        self.texts.iter().all(|text| seen.insert(text))
    }
}

/// The arrays that are meant.
#[derive(Default)]
pub(super) struct Picked {
    /// The arrays of predictions: one, or one per model.
    pub(super) values: Vec<String>,
    /// Whether the array's name is that of a model.
    pub(super) models: bool,
    pub(super) ids: Option<Vec<String>>,
    pub(super) classes: Option<Vec<String>>,
    pub(super) notes: Vec<Note>,
}

impl Picked {
    /// The predictions of one of the arrays.
    pub(super) fn predictions(
        &self,
        name: &str,
        (values, width): (Vec<f64>, usize),
    ) -> RawPredictions {
        RawPredictions {
            name: self.models.then(|| name.to_owned()),
            ids: self.ids.clone(),
            classes: self.classes.clone(),
            values,
            width,
            kind: kind_of(name),
            notes: self.notes.clone(),
            ..RawPredictions::default()
        }
    }
}

/// Chooses among the arrays of a file.
pub(super) fn pick(
    file: &str,
    members: &[Member],
    options: &Context<'_>,
) -> Result<Picked, PredictionError> {
    let mut picked = Picked::default();
    let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
    let matrices: Vec<&Member> = match &options.key {
        Some(key) => vec![&members[named(file, ReadOption::Key, key, &names)?]],
        None => members.iter().filter(|member| member.is_matrix()).collect(),
    };
    let known = matrices.iter().filter(|m| values_rank(&m.name).is_some());
    let known = known.min_by_key(|m| values_rank(&m.name));
    let chosen = match (known, options.key.is_some()) {
        (Some(known), _) => vec![*known],
        // Several models in one file: every matrix is one, by its name.
        (None, false) => {
            picked.models = true;
            matrices
        }
        (None, true) => matrices,
    };
    let Some(&Member { shape, .. }) = chosen.first() else {
        return Err(PredictionError::new(file, without_matrix(members)));
    };
    let [rows, width] = shape[..] else {
        let problem = PredictionProblem::Shape {
            expected: "an array of items × classes",
            found: format!("the shape {shape:?}"),
        };
        return Err(PredictionError::new(file, problem).column(chosen[0].name.clone()));
    };
    picked.values = chosen.iter().map(|member| member.name.clone()).collect();
    let is_values = |member: &Member| picked.values.contains(&member.name);
    let others: Vec<&Member> = members.iter().filter(|member| !is_values(member)).collect();
    let ids = match &options.id {
        Some(id) => Some(&members[named(file, ReadOption::Id, id, &names)?]),
        None if options.by_position.items => None,
        None => find_ids(file, &others, rows, width, &mut picked.notes)?,
    };
    let count = |member: &Member, expected: usize, what| {
        let (name, found) = (member.name.clone(), member.texts.len());
        let problem = PredictionProblem::Count { name, found, expected, what };
        if found == expected { Ok(()) } else { Err(PredictionError::new(file, problem)) }
    };
    if let Some(ids) = ids {
        count(ids, rows, "rows")?;
        picked.ids = Some(ids.texts.clone());
    }
    let is_ids = |member: &&&Member| ids.is_some_and(|ids| ids.name == member.name);
    let others: Vec<&Member> = others.iter().filter(|m| !is_ids(m)).copied().collect();
    if let Some(classes) = find_classes(&others, rows, width, &mut picked.notes) {
        count(classes, width, "columns")?;
        picked.classes = Some(classes.texts.clone());
    }
    Ok(picked)
}

fn find_ids<'a>(
    file: &str,
    members: &[&'a Member],
    rows: usize,
    width: usize,
    notes: &mut Vec<Note>,
) -> Result<Option<&'a Member>, PredictionError> {
    let names_columns = |m: &Member| is_classes(&m.name) && m.is_list(width);
    let could_be = |m: &&&Member| {
        m.shape.len() == 1
            && m.content != Content::Numbers
            && !is_metadata(&m.name)
            && !names_columns(m)
    };
    let lists: Vec<&'a Member> = members.iter().filter(could_be).copied().collect();
    let candidate = |m: &&'a Member| IdCandidate {
        name: &m.name,
        values: &m.texts,
        texts: m.content == Content::Texts,
    };
    match choose_ids(&lists.iter().map(candidate).collect::<Vec<_>>(), rows) {
        IdChoice::None => Ok(None),
        IdChoice::Known(at) => Ok(Some(lists[at])),
        IdChoice::Assumed(at) => {
            notes.push(Note::Ids { name: lists[at].name.clone() });
            Ok(Some(lists[at]))
        }
        IdChoice::Unclear(places) => {
            let names: Vec<&str> = places.iter().map(|&at| lists[at].name.as_str()).collect();
            let problem = PredictionProblem::UnclearIds { found: names.join(", ") };
            Err(PredictionError::new(file, problem))
        }
    }
}

fn is_classes(name: &str) -> bool {
    const NAMES: [&str; 7] =
        ["classes", "class", "classnames", "labels", "labelnames", "columns", "categories"];
    NAMES.contains(&plain(name).as_str())
}

fn find_classes<'a>(
    members: &[&'a Member],
    rows: usize,
    width: usize,
    notes: &mut Vec<Note>,
) -> Option<&'a Member> {
    // `classes` names the columns whatever its length; others where they fit.
    let sure = members.iter().find(|m| m.name == "classes" && m.shape.len() == 1);
    // As many whole numbers as rows are labels.
    let names = |m: &Member| m.is_list(width) && (m.content == Content::Texts || width != rows);
    let known = || members.iter().find(|m| is_classes(&m.name) && names(m));
    if let Some(known) = sure.or_else(known) {
        return Some(known);
    }
    let could_be = |m: &&&Member| {
        m.content == Content::Texts && m.is_list(width) && width != rows && m.all_different()
    };
    let candidates: Vec<&&Member> = members.iter().filter(could_be).collect();
    let [only] = candidates[..] else { return None };
    notes.push(Note::ClassNames { name: only.name.clone() });
    Some(only)
}

/// Why there is no matrix among the arrays.
fn without_matrix(members: &[Member]) -> PredictionProblem {
    let list = members.iter().find(|member| {
        member.shape.len() == 1 && id_name_rank(&member.name).is_none() && !is_classes(&member.name)
    });
    match list {
        Some(list) => of_list(&format!("{:?}", list.name), list.content),
        None => {
            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            let seen = format!("no matrix among the arrays {}", names.join(", "));
            PredictionProblem::Unknown { seen }
        }
    }
}

/// What is wrong with a list in place of a matrix.
pub(super) fn of_list(name: &str, content: Content) -> PredictionProblem {
    match content {
        Content::Numbers => {
            PredictionProblem::OneNumber { seen: format!("{name} is a list of numbers") }
        }
        Content::WholeNumbers => {
            PredictionProblem::HardLabels { seen: format!("{name} is a list of whole numbers") }
        }
        Content::Texts => {
            PredictionProblem::HardLabels { seen: format!("{name} is a list of texts") }
        }
    }
}
