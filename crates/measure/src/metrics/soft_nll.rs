//! Soft negative log-likelihood: the cross-entropy of the predictions under people's votes.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer, Value};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "soft_nll",
        short: "soft NLL",
        title: "soft negative log-likelihood",
        formula: "mean over items of −Σ_k p_k ln q_k",
        unit: "nats",
        direction: Direction::Lower,
        settings: "clip: q is raised to it where it is below (none by default). Without it, a \
                   given probability of 0 for a class that got votes makes the metric infinite, \
                   with a note; logits are never infinite",
        reference: "Good, Rational decisions, J. R. Stat. Soc. B 14 (1952); as the loss on label \
                    distributions: Peterson et al., Human uncertainty makes classification more \
                    robust, ICCV 2019",
    },
    scales: Scale::ONE_LABEL,
    compute: value,
    per_item: Some(per_item),
    interval: Interval::Mean,
};

pub(super) fn value(scorer: &Scorer<'_>) -> Value {
    mean(per_item(scorer), Note::NoItems)
}

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    Some(scorer.nll())
}
