//! Gains over another arm: where they are larger, and how large they are.

use dissensus_core::Direction;
use dissensus_stats::describe;

use super::ClaimSpec;
use super::cells::{Pairs, places, values};
use super::judge::{Outcome, digits, named};
use crate::ReportError;
use crate::book::Book;
use crate::tables::words::number;

/// The gain of an arm in a cell, as it is and as a share of the other's mean.
struct Gain {
    place: String,
    gain: f64,
    share: f64,
    own: f64,
    other: f64,
}

/// The gains in all cells; a cell without pairs opens the claim.
fn gains(spec: &ClaimSpec, book: &Book, outcome: &mut Outcome) -> Result<Vec<Gain>, ReportError> {
    let than = spec.than.as_deref().unwrap_or_default();
    let mut all = Vec::new();
    for at in places(spec, book) {
        let higher = book.metric(&at.metric).is_some_and(|one| one.better == Direction::Higher);
        let others = values(book, &at, than);
        for arm in &spec.arms {
            let place = named(spec, book, &at, arm);
            let Some(found) = Pairs::of(&values(book, &at, arm), &others, None, &place)? else {
                outcome.open.get_or_insert(format!("{place}: no seed that both have"));
                continue;
            };
            let gain = if higher { found.mean } else { -found.mean };
            let (own, other) = (found.other + found.mean, found.other);
            all.push(Gain { place, gain, share: gain / other.abs(), own, other });
        }
    }
    Ok(all)
}

fn mean_of(all: &[Gain], of: fn(&Gain) -> f64) -> Option<f64> {
    let values: Vec<f64> = all.iter().map(of).collect();
    describe::mean(&values).ok()
}

/// `gain`: larger with some numbers of votes than with others, or on some data sets than on others.
pub(super) fn gain(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let mut outcome = Outcome::default();
    let by_votes = !spec.than_ks.is_empty();
    let mut second = spec.clone();
    if by_votes {
        second.ks.clone_from(&spec.than_ks);
    } else {
        second.datasets.clone_from(&spec.than_datasets);
    }
    let first = gains(spec, book, &mut outcome)?;
    let second = gains(&second, book, &mut outcome)?;
    // Data sets differ in how large a difference is.
    let of: fn(&Gain) -> f64 = if by_votes { |gain| gain.gain } else { |gain| gain.share };
    let (Some(here), Some(there)) = (mean_of(&first, of), mean_of(&second, of)) else {
        return Ok(outcome);
    };
    outcome.seen = 1;
    let digits = spec.metrics.first().map_or(4, |metric| digits(book, metric));
    let written = |gain: f64| match by_votes {
        true => number(gain, digits),
        false => format!("{} %", number(100.0 * gain, 1)),
    };
    outcome.ours = format!("{} against {}", written(here), written(there));
    if !(here > there && here > 0.0) {
        outcome.against.push(outcome.ours.clone());
    }
    Ok(outcome)
}

/// `change`: at least a share on average. The share of the means of all cells is told beside the mean
/// of their shares.
pub(super) fn change(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let mut outcome = Outcome::default();
    let all = gains(spec, book, &mut outcome)?;
    let sums = |of: fn(&Gain) -> f64| all.iter().map(of).sum::<f64>();
    let Some(average) = mean_of(&all, |gain| gain.share) else { return Ok(outcome) };
    outcome.seen = 1;
    let percent = |share: f64| format!("{} %", number(100.0 * share, 1));
    let each: Vec<String> =
        all.iter().map(|g| format!("{} {}", g.place, percent(g.share))).collect();
    let apart = (sums(|gain| gain.own) - sums(|gain| gain.other)).abs() / sums(|g| g.other.abs());
    outcome.ours = format!(
        "{}; {} on average; of the means of all {}",
        each.join(", "),
        percent(average),
        percent(apart)
    );
    if average < spec.bound.unwrap_or(0.0) {
        outcome.against.push(format!("{} on average", percent(average)));
    }
    Ok(outcome)
}
