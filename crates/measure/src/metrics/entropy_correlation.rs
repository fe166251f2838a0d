//! Entropy correlation: whether the model is uncertain where people disagree.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, Transform};
use crate::rank::{pearson, pearson_values, spearman, spearman_values};
use crate::{About, Direction, Note, Scorer, Value};

const REFERENCE: &str = "Uma, Fornaciari, Hovy, Paun, Plank and Poesio, Learning from \
                         disagreement: a survey, JAIR 72 (2021)";

pub(super) const SPEARMAN: Metric = Metric {
    about: About {
        name: "entropy_spearman",
        short: "entropy corr.",
        title: "Spearman correlation of prediction entropy with annotator entropy",
        formula: "Pearson correlation of the midranks of H(q_i) and H(p_i)",
        unit: "correlation",
        direction: Direction::Higher,
        settings: "none; equal entropies share the mean of their ranks. Undefined where either \
                   does not vary",
        reference: REFERENCE,
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, spearman),
    per_item: None,
    interval: Interval::Linear {
        values: |scorer| values(scorer, spearman_values),
        scale: Transform::Fisher,
    },
};

pub(super) const PEARSON: Metric = Metric {
    about: About {
        name: "entropy_pearson",
        short: "entropy corr. (Pearson)",
        title: "Pearson correlation of prediction entropy with annotator entropy",
        formula: "Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²) of x = H(q_i), y = H(p_i)",
        unit: "correlation",
        direction: Direction::Higher,
        settings: "none. Undefined where either entropy does not vary",
        reference: REFERENCE,
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, pearson),
    per_item: None,
    interval: Interval::Linear {
        values: |scorer| values(scorer, pearson_values),
        scale: Transform::Fisher,
    },
};

fn compute(scorer: &Scorer<'_>, correlation: fn(&[f64], &[f64]) -> Option<f64>) -> Value {
    let judged = scorer.judged;
    let reason = if judged.is_empty() { Note::NoItems } else { Note::NoVariation };
    Value::or(correlation(&judged.entropy, judged.truth().entropy()), reason)
}

fn values<'s>(
    scorer: &'s Scorer<'_>,
    of: fn(&[f64], &[f64]) -> Option<Vec<f64>>,
) -> Option<Cow<'s, [f64]>> {
    of(&scorer.judged.entropy, scorer.judged.truth().entropy()).map(Cow::Owned)
}
