//! Soft Brier score: the squared distance between the predictions and people's votes.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "soft_brier",
        short: "soft Brier",
        title: "soft Brier score",
        formula: "mean over items of Σ_k (q_k − p_k)²; from 0 to 2",
        unit: "squared probability",
        direction: Direction::Lower,
        settings: "none",
        reference: "Brier, Verification of forecasts expressed in terms of probability, Mon. \
                    Weather Rev. 78 (1950), with the share of votes in place of the 0/1 outcome",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoItems),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    Some(Cow::Borrowed(&scorer.judged.brier))
}
