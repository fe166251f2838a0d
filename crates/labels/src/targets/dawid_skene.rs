//! Annotator-weighted targets: the posteriors of Dawid and Skene's model.
//!
//! Dawid and Skene, *Maximum likelihood estimation of observer error-rates using the EM algorithm*
//! (Applied Statistics 28, 1979). Item i has one true class, z_i ~ π; annotator a, shown an item of
//! class k, votes for l with the probability e_a(l | k), independently. EM alternates
//!
//! * E: T_ik ∝ π_k Π e_a(l | k) over the votes (a, l) on i, in the log domain;
//! * M: π_k = mean of T_ik; e_a(l | k) ∝ Σ T_ik over the votes of a for l, at least 1e-10 before
//!   it is normalized over the classes that a ever votes for.
//!
//! It starts with T = the shares of the votes, as crowd-kit does, and its results are crowd-kit's
//! (`tests/dawid_skene.rs`). A vote of weight w counts w times. What is believed is *one* true
//! class: where people disagree for good reason, posteriors are far more certain than the votes.
//!
//! The same bits for any number of threads: items and annotators are independent of each other in
//! their step, and sums over items run in chunks of a fixed size. Memory: 8 (2K + 1) bytes per item,
//! 22 a vote, and 8K for every (annotator, class) that occurs.

mod ballots;
mod exp;
mod steps;

use std::borrow::Cow;

use dissensus_core::{Scale, VoteTable};

use self::ballots::Cast;
use self::steps::Parameters;
use super::{TargetEntry, estimator, with_rows};
use crate::source::check_memory;
use crate::{
    Aggregation, AnnotatorModel, Confusions, FitReport, ItemModel, LabelError, Parameter, Setting,
};

pub(super) const ENTRY: TargetEntry = TargetEntry {
    name: "dawid_skene",
    description: "posteriors of one true class, annotators weighted by their estimated errors",
    formula: "p_ik ~ pi_k prod e_a(l | k) over the votes (a, l) on item i, fitted by EM",
    needs: "single votes with annotators",
    reference: "Dawid and Skene, Maximum likelihood estimation of observer error-rates using the \
                EM algorithm (1979)",
    scales: Scale::ONE_LABEL,
    keeps_counts: false,
    settings: &[
        Setting {
            name: "iterations",
            description: "the largest number of iterations of EM",
            default: "100",
            expected: "a whole number from 1 to 1000000",
            came_later: false,
        },
        Setting {
            name: "tolerance",
            description: "stop when the log-likelihood per vote grows by less; 0 never stops early",
            default: "0.00001",
            expected: "a number from 0",
            came_later: false,
        },
    ],
    make: |given| {
        let iterations = given.next(|n| (1..=1_000_000).contains(n))?;
        let tolerance = given.next(|t: &f64| *t >= 0.0 && t.is_finite())?;
        Ok(estimator(move |table| {
            fit(table, Settings { iterations, tolerance })?.aggregation(table)
        }))
    },
};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The most rounds of EM.
    pub iterations: u32,
    /// Stop when the log-likelihood a vote grows by less; 0 never stops early.
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { iterations: 100, tolerance: 1e-5 }
    }
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq)]
pub struct DawidSkene {
    /// The probability T_ik that item i is of class k, row by row.
    pub posteriors: Vec<f64>,
    /// The share π_k of the items that are of class k.
    pub priors: Vec<f64>,
    /// What each annotator votes for on items of each class.
    pub confusions: Confusions,
    /// The weights of each annotator's votes, added up.
    pub votes: Vec<f64>,
    /// How the model was fitted. No iteration lowers the likelihood by more than the 1e-10 that
    /// parameters are kept from 0.
    pub report: FitReport,
}

/// Fits the model to a table of single votes that name their annotators.
pub fn fit(table: &VoteTable, settings: Settings) -> Result<DawidSkene, LabelError> {
    let cast = Cast::new(ENTRY.name, table)?;
    let (items, classes, pairs) = (table.len(), cast.classes(), cast.pair_classes.len());
    // Posteriors as they are and as rows of a table; errors of this round and of the next.
    let numbers = 2 * (items as u128 + pairs as u128) * classes as u128;
    check_memory(ENTRY.name, items, classes, u64::try_from(numbers).unwrap_or(u64::MAX))?;
    let mut posteriors = cast.shares();
    let mut parameters = steps::maximize(&cast, &posteriors);
    let mut log_likelihoods: Vec<f64> = Vec::new();
    let mut converged = false;
    for _ in 0..settings.iterations.max(1) {
        let value = steps::expect(&cast, &parameters, &mut posteriors);
        parameters = steps::maximize(&cast, &posteriors);
        let gain = log_likelihoods.last().map(|before| (value - before) / cast.weight());
        log_likelihoods.push(value);
        if gain.is_some_and(|gain| gain < settings.tolerance) && settings.tolerance > 0.0 {
            converged = true;
            break;
        }
    }
    let Parameters { priors, confusions } = parameters;
    let iterations = log_likelihoods.len() as u32;
    let report = FitReport { iterations, log_likelihoods, converged };
    let votes = (0..confusions.annotators()).map(|annotator| cast.votes_of(annotator)).collect();
    Ok(DawidSkene { posteriors, priors, confusions, votes, report })
}

impl DawidSkene {
    /// The probability that each annotator votes for the true class of an item, Σ_k π_k e_a(k | k);
    /// `None` for one without votes.
    pub fn accuracies(&self) -> Vec<Option<f64>> {
        let total: f64 = self.priors.iter().sum();
        let of = |(annotator, &votes): (usize, &f64)| {
            let right = |(class, prior): (u16, &f64)| {
                Some(prior * self.confusions.get(annotator, class, class)?)
            };
            let right: f64 = (0..).zip(&self.priors).filter_map(right).sum();
            (votes > 0.0).then_some(right / total)
        };
        self.votes.iter().enumerate().map(of).collect()
    }

    fn aggregation(self, table: &VoteTable) -> Result<Aggregation<'_>, LabelError> {
        let votes = Parameter {
            name: "votes",
            description: "how many votes the annotator cast; the sum of their weights where they have weights",
            values: self.votes.iter().copied().map(Some).collect(),
        };
        let accuracy = Parameter {
            name: "accuracy",
            description: "the probability of a vote for the true class of an item",
            values: self.accuracies(),
        };
        let (parameters, confusions) = (vec![votes, accuracy], Some(self.confusions));
        Ok(Aggregation {
            targets: Cow::Owned(with_rows(table, &self.posteriors)?),
            annotators: Some(AnnotatorModel { parameters, confusions }),
            items: Some(ItemModel { priors: self.priors }),
            fit: self.report,
        })
    }
}
