//! Negative log-likelihood of the majority label: what a model that is trained on collapsed labels
//! minimizes.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "hard_nll",
        short: "hard NLL",
        title: "negative log-likelihood of the majority label",
        formula: "mean over items of −ln q_m, m the most-voted class",
        unit: "nats",
        direction: Direction::Lower,
        settings: "ties: which of the most-voted classes is the majority (as for accuracy). clip: \
                   q is raised to it where it is below (none by default); without it, a \
                   probability that is 0 as a double makes the metric infinite, with a note",
        reference: "Good, Rational decisions, J. R. Stat. Soc. B 14 (1952)",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoItems),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    let truth = scorer.judged.truth();
    let clip = scorer.settings.clip.unwrap_or(0.0);
    let rows = scorer.judged.predictions().chunks_exact(truth.classes().max(1));
    let nll = |(q, &class): (&[f64], &u32)| -q[class as usize].max(clip).ln();
    Some(Cow::Owned(rows.zip(truth.majority()).map(nll).collect()))
}
