//! The best temperature, and what is lost at it; see [`temper`](crate::temper).

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, Transform};
use crate::temper::Tempered;
use crate::{About, Direction, Note, Scorer, Value};

const SETTINGS: &str = "clip, as for soft_nll; rows sum to 1 again at every temperature. The \
                        temperature is fitted to the items that are judged, between 0.01 and 100";
const REFERENCE: &str = "Guo et al., On calibration of modern neural networks, ICML 2017";

pub(super) const TEMPERATURE: Metric = Metric {
    about: About {
        name: "temperature",
        short: "best T",
        title: "best temperature; above 1 where predictions are overconfident",
        formula: "the T of least mean over items of −Σ_k p_k ln q_k(T), q_k(T) = q_k^(1/T) / Σ_j \
                  q_j^(1/T)",
        unit: "ratio",
        direction: Direction::Neither,
        settings: SETTINGS,
        reference: REFERENCE,
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, |tempered| tempered.temperature),
    per_item: None,
    interval: Interval::Linear {
        values: |scorer| Some(Cow::Owned(scorer.tempered_values()?.temperature)),
        scale: Transform::Logarithm,
    },
};

pub(super) const NLL: Metric = Metric {
    about: About {
        name: "soft_nll_tempered",
        short: "soft NLL, best T",
        title: "soft negative log-likelihood at the best temperature",
        formula: "the least mean over items of −Σ_k p_k ln q_k(T) over T, q_k(T) = q_k^(1/T) / \
                  Σ_j q_j^(1/T)",
        unit: "nats",
        direction: Direction::Lower,
        ..TEMPERATURE.about
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, |tempered| tempered.nll),
    interval: Interval::Linear {
        values: |scorer| Some(Cow::Owned(scorer.tempered_values()?.nll)),
        scale: Transform::Identity,
    },
    ..TEMPERATURE
};

fn compute(scorer: &Scorer<'_>, of: fn(Tempered) -> f64) -> Value {
    match scorer.tempered() {
        Some(tempered) => Value::or(Some(of(tempered)), Note::NoItems),
        // Nothing, or infinite at any temperature: soft NLL says which.
        None => Value { value: None, ..super::soft_nll::value(scorer) },
    }
}
