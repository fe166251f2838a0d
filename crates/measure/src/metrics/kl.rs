//! Kullback–Leibler divergence from people's votes to the predictions.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "kl",
        short: "KL",
        title: "Kullback–Leibler divergence KL(p‖q)",
        formula: "mean over items of Σ_k p_k ln(p_k / q_k), which is soft_nll minus the mean \
                  entropy of p",
        unit: "nats",
        direction: Direction::Lower,
        settings: "clip: q is raised to it where it is below (none by default; the divergence of \
                   a clipped q can fall below 0). Without it, a given probability of 0 for a \
                   class that got votes makes the metric infinite, with a note",
        reference: "Kullback and Leibler, On information and sufficiency, Ann. Math. Stat. 22 \
                    (1951)",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoItems),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    Some(scorer.clipped(&scorer.judged.kl, |p, q| p * (p.ln() - q.ln())))
}
