//! The Brier score in parts; the formulas and what makes them add up: [`crate::classwise`].

use dissensus_core::Scale;

use super::{BIASED, Interval, Metric, PerItem, Transform};
use crate::classwise::BrierParts;
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
    values(|scorer| {
        scorer.class_values(|at| {
            let gap = at.mean_p - at.mean_human;
            gap * gap + 2.0 * gap * (at.p - at.mean_p)
        })
    }),
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
    values(|scorer| scorer.class_values(|at| (at.p - at.mean_human).powi(2))),
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
    values(|scorer| {
        scorer.class_values(|at| {
            let (q, p) = (at.q - at.mean_q, at.p - at.mean_p);
            q * q - 2.0 * q * p
        })
    }),
);

const fn metric(about: About, compute: fn(&Scorer<'_>) -> Value, interval: Interval) -> Metric {
    Metric { about, scales: Scale::ONE_LABEL, compute, per_item: None, interval }
}

const fn values(values: PerItem) -> Interval {
    Interval::Linear { values, scale: Transform::Identity }
}

fn part(scorer: &Scorer<'_>, of: fn(&BrierParts) -> f64) -> Value {
    Value::or(scorer.brier_parts().as_ref().map(of), Note::NoItems)
}
