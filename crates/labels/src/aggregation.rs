//! What an estimator of targets found: the targets, and what it had to learn about the annotators and
//! the items to get there.

use std::borrow::Cow;

use dissensus_core::VoteTable;

use crate::LabelError;
use crate::source::check_memory;

/// The result of a [`Target`](crate::Target).
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation<'a> {
    /// A table of the same items and classes whose distributions are the targets.
    pub targets: Cow<'a, VoteTable>,
    /// What was estimated of the annotators; `None` where they are not told apart.
    pub annotators: Option<AnnotatorModel>,
    /// What was estimated of the items beside their targets.
    pub items: Option<ItemModel>,
    /// How the estimate was found.
    pub fit: FitReport,
}

impl<'a> Aggregation<'a> {
    /// Targets by a formula, without a model of annotators or items.
    pub fn by_formula(targets: Cow<'a, VoteTable>) -> Self {
        Self { targets, annotators: None, items: None, fit: FitReport::FORMULA }
    }

    /// The same with a table of its own.
    pub fn into_owned(self) -> Aggregation<'static> {
        Aggregation { targets: Cow::Owned(self.targets.into_owned()), ..self }
    }
}

/// The annotators of a table, in its order: a table of parameters, and confusion matrices where the
/// model has them.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotatorModel {
    /// The columns of the table.
    pub parameters: Vec<Parameter>,
    /// How each annotator votes on the items of each class.
    pub confusions: Option<Confusions>,
}

/// A number for each annotator.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// A short name, as in the head of a column.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Its values; `None` where it is undefined.
    pub values: Vec<Option<f64>>,
}

/// What a model assumes of items.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemModel {
    /// The share π_k of the items that are of class k.
    pub priors: Vec<f64>,
}

/// How an estimate was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FitReport {
    /// How many iterations there were; 0 for a formula.
    pub iterations: u32,
    /// ln P(votes) in nats in each iteration, under the parameters that its posteriors follow from;
    /// empty where no likelihood is maximized.
    pub log_likelihoods: Vec<f64>,
    /// Whether it stopped because little changed, and not because the iterations were over.
    pub converged: bool,
}

impl FitReport {
    /// Of a formula, which has nothing to iterate.
    pub const FORMULA: Self = Self { iterations: 0, log_likelihoods: Vec::new(), converged: true };

    /// The log-likelihood of the last iteration.
    pub fn log_likelihood(&self) -> Option<f64> {
        self.log_likelihoods.last().copied()
    }
}

/// The probability e_a(l | k) that annotator a votes for l on an item of class k. It is kept for the
/// classes that an annotator votes for; for others it is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Confusions {
    pub(crate) classes: usize,
    /// Where the rows of each annotator begin, and the end of the last.
    pub(crate) annotators: Vec<usize>,
    /// The class that a row is of votes for, ascending for each annotator.
    pub(crate) votes: Vec<u16>,
    /// A row for each (annotator, vote): its probability on the items of each class.
    pub(crate) cells: Vec<f64>,
}

impl Confusions {
    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// How many annotators there are.
    pub fn annotators(&self) -> usize {
        self.annotators.len().saturating_sub(1)
    }

    /// The probability that an annotator votes for `vote` on an item of class `truth`; `None` where
    /// there is no such annotator or class.
    pub fn get(&self, annotator: usize, truth: u16, vote: u16) -> Option<f64> {
        let (k, l) = (usize::from(truth), usize::from(vote));
        if k >= self.classes || l >= self.classes {
            return None;
        }
        let start = *self.annotators.get(annotator)?;
        let own = self.votes.get(start..*self.annotators.get(annotator + 1)?)?;
        let at = own.binary_search(&vote).ok();
        Some(at.map_or(0.0, |at| self.cells[(start + at) * self.classes + k]))
    }

    /// An annotator's whole matrix, a row for each true class; all 0 for one who never votes, `None`
    /// where there is no such annotator.
    pub fn matrix(&self, annotator: usize) -> Option<Vec<f64>> {
        let classes = 0..self.classes as u16;
        let cells =
            classes.clone().flat_map(|truth| classes.clone().map(move |vote| (truth, vote)));
        cells.map(|(truth, vote)| self.get(annotator, truth, vote)).collect()
    }

    /// The matrices of all annotators, one after another. Refuses more than there is memory for.
    pub fn matrices(&self) -> Result<Vec<f64>, LabelError> {
        let (rows, columns) = (self.annotators() * self.classes, self.classes);
        let numbers = (rows as u64).saturating_mul(columns as u64);
        check_memory("the array of confusion matrices", rows, columns, numbers)?;
        Ok((0..self.annotators())
            .filter_map(|annotator| self.matrix(annotator))
            .flatten()
            .collect())
    }
}
