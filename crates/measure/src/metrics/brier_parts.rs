//! The Brier score in parts; the formulas and what makes them add up: [`crate::classwise`].

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{BIASED, Interval, Metric, Transform};
use crate::classwise::BrierParts;
use crate::sums::add;
use crate::{About, Direction, Note, Scorer, Value};

const SETTINGS: &str = "bins (15 by default), of equal width for each class by q_k. \
                        soft_brier = reliability − resolution + uncertainty + within, exactly";
const REFERENCE: &str = "Murphy, A new vector partition of the probability score, J. Appl. \
                         Meteorol. 12 (1973); Stephenson, Coelho and Jolliffe, Two extra \
                         components in the Brier score decomposition, Weather Forecast. 23 (2008)";

pub(super) const RELIABILITY: Metric = metric(
    About {
        name: "brier_reliability",
        short: "reliability",
        title: "reliability part of the soft Brier score",
        formula: "Σ_k Σ_b n_b/N (mean q_k in b − mean p_k in b)²",
        unit: "squared probability",
        direction: Direction::Lower,
        settings: SETTINGS,
        reference: REFERENCE,
    },
    |scorer| part(scorer, |parts| parts.reliability),
    Interval::Unknown(BIASED),
);

pub(super) const RESOLUTION: Metric = metric(
    About {
        name: "brier_resolution",
        short: "resolution",
        title: "resolution part of the soft Brier score",
        formula: "Σ_k Σ_b n_b/N (mean p_k in b − mean p_k)²",
        direction: Direction::Higher,
        ..RELIABILITY.about
    },
    |scorer| part(scorer, |parts| parts.resolution),
    Interval::Unknown(BIASED),
);

pub(super) const UNCERTAINTY: Metric = metric(
    About {
        name: "brier_uncertainty",
        short: "uncertainty",
        title: "uncertainty part of the soft Brier score",
        formula: "Σ_k mean (p_k − mean p_k)²: the variance of the votes' shares, independent of \
                  the predictions",
        direction: Direction::Neither,
        ..RELIABILITY.about
    },
    |scorer| part(scorer, |parts| parts.uncertainty),
    Interval::Linear { values: spread_of_votes, scale: Transform::Identity },
);

pub(super) const WITHIN: Metric = metric(
    About {
        name: "brier_within",
        short: "within bins",
        title: "within-bin part of the soft Brier score",
        formula: "Σ_k (variance of q_k within bins − 2 × covariance of q_k and p_k within bins)",
        direction: Direction::Neither,
        ..RELIABILITY.about
    },
    |scorer| part(scorer, |parts| parts.within),
    Interval::Unknown(BIASED),
);

const fn metric(about: About, compute: fn(&Scorer<'_>) -> Value, interval: Interval) -> Metric {
    Metric { about, scales: Scale::ONE_LABEL, compute, per_item: None, interval }
}

/// Of each item, how far its votes lie from the mean of all items.
fn spread_of_votes<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    let truth = scorer.judged.truth();
    let (targets, classes, items) = (truth.targets(), truth.classes(), truth.len() as f64);
    let mut mean = vec![0.0; classes];
    targets.chunks_exact(classes).for_each(|row| add(&mut mean, row));
    let from_mean = |(share, sum): (&f64, &f64)| (share - sum / items).powi(2);
    let value = |row: &[f64]| row.iter().zip(&mean).map(from_mean).sum();
    Some(targets.chunks_exact(classes).map(value).collect())
}

fn part(scorer: &Scorer<'_>, of: fn(&BrierParts) -> f64) -> Value {
    Value::or(scorer.brier_parts().as_ref().map(of), Note::NoItems)
}
