//! Total variation distance between the predictions and people's votes.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "total_variation",
        short: "total variation",
        title: "total variation distance",
        formula: "mean over items of ½ Σ_k |q_k − p_k|; from 0 to 1",
        unit: "probability",
        direction: Direction::Lower,
        settings: "none",
        reference: "Baan, Aziz, Plank and Fernández, Stop measuring calibration when humans \
                    disagree, EMNLP 2022 (there DistCE)",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoItems),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    Some(Cow::Borrowed(&scorer.judged.variation))
}
