//! Entropy calibration error: how far the model's uncertainty is from people's.

use std::borrow::Cow;

use rayon::prelude::*;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "entropy_error",
        short: "entropy error",
        title: "entropy calibration error",
        formula: "mean over items of |H(q) − H(p)|, H(p) = −Σ_k p_k ln p_k",
        unit: "nats",
        direction: Direction::Lower,
        settings: "none; absolute differences of single items, not of bins",
        reference: "Baan, Aziz, Plank and Fernández, Stop measuring calibration when humans \
                    disagree, EMNLP 2022 (there EntCE, of which this is the mean size)",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoItems),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    let people = scorer.judged.truth().entropy();
    let gaps = scorer.judged.entropy.par_iter().zip(people).map(|(q, p)| (q - p).abs());
    Some(Cow::Owned(gaps.collect()))
}
