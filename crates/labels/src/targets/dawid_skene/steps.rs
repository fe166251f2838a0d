//! The two steps of EM, each parallel over what is independent in it.

use libm::log;
use rayon::prelude::*;

use super::ballots::Cast;
use super::exp::exp_all;
use crate::Confusions;
use crate::parts::parts;

/// The least that is taken for the expected number of votes of a pair, and for a prior: no vote
/// that was cast is ever impossible.
const LEAST: f64 = 1e-10;

/// Items a task works on; sums over items are made of sums over these.
const ITEMS: usize = 1024;

/// What the M step estimates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameters {
    pub(super) priors: Vec<f64>,
    pub(super) confusions: Confusions,
}

/// Priors and errors that fit the posteriors best.
pub(super) fn maximize(cast: &Cast, posteriors: &[f64]) -> Parameters {
    let classes = cast.classes().max(1);
    let chunks: Vec<Vec<f64>> = posteriors
        .par_chunks(ITEMS * classes)
        .map(|rows| {
            let mut sums = vec![0.0; classes];
            rows.chunks_exact(classes).for_each(|row| add(&mut sums, row));
            sums
        })
        .collect();
    let mut priors = vec![0.0; cast.classes()];
    chunks.iter().for_each(|sums| add(&mut priors, sums));
    let items = posteriors.len() as f64 / classes as f64;
    priors.iter_mut().for_each(|prior| *prior = (*prior / items).max(LEAST));

    let mut errors = vec![0.0; cast.pair_classes.len() * classes];
    let sizes = cast.annotators.windows(2).map(|own| (own[1] - own[0]) * classes);
    let people = cast.annotators.par_iter().zip(parts(&mut errors, sizes));
    people.for_each(|(&first, part)| {
        let mut totals = vec![0.0; classes];
        for (pair, row) in (first..).zip(part.chunks_exact_mut(classes)) {
            let votes = cast.voters[pair]..cast.voters[pair + 1];
            for vote in votes {
                let item = cast.voted_items[vote] as usize;
                let posterior = &posteriors[item * classes..(item + 1) * classes];
                match cast.voted_weights.get(vote) {
                    Some(weight) => {
                        row.iter_mut().zip(posterior).for_each(|(e, t)| *e += weight * t)
                    }
                    None => add(row, posterior),
                }
            }
            row.iter_mut().for_each(|error| *error = error.max(LEAST));
            add(&mut totals, row);
        }
        for row in part.chunks_exact_mut(classes) {
            row.iter_mut().zip(&totals).for_each(|(error, total)| *error /= total);
        }
    });
    let (annotators, votes) = (cast.annotators.clone(), cast.pair_classes.clone());
    let confusions = Confusions { classes: cast.classes(), annotators, votes, cells: errors };
    Parameters { priors, confusions }
}

/// Writes the posteriors under these parameters; their log-likelihood.
pub(super) fn expect(cast: &Cast, parameters: &Parameters, posteriors: &mut [f64]) -> f64 {
    let classes = cast.classes().max(1);
    let priors: Vec<f64> = parameters.priors.iter().map(|&prior| log(prior)).collect();
    let errors: Vec<f64> =
        parameters.confusions.cells.par_iter().map(|&error| log(error)).collect();
    let chunk = |(chunk, rows): (usize, &mut [f64])| {
        let mut sum = 0.0;
        for (item, row) in (chunk * ITEMS..).zip(rows.chunks_exact_mut(classes)) {
            row.copy_from_slice(&priors);
            for vote in cast.items[item]..cast.items[item + 1] {
                let pair = cast.pairs[vote] as usize;
                let error = &errors[pair * classes..(pair + 1) * classes];
                match cast.weights.get(vote) {
                    Some(weight) => row.iter_mut().zip(error).for_each(|(t, e)| *t += weight * e),
                    None => add(row, error),
                }
            }
            let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|value| *value -= top);
            sum += top;
        }
        exp_all(rows);
        for row in rows.chunks_exact_mut(classes) {
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= total);
            sum += log(total);
        }
        sum
    };
    let sums: Vec<f64> =
        posteriors.par_chunks_mut(ITEMS * classes).enumerate().map(chunk).collect();
    sums.iter().sum()
}

fn add(into: &mut [f64], from: &[f64]) {
    into.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
