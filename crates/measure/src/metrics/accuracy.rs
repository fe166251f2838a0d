//! Accuracy against the majority label.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "accuracy",
        short: "accuracy",
        title: "accuracy against the majority label",
        formula: "share of items where argmax q is the most-voted class",
        unit: "share",
        direction: Direction::Higher,
        settings: "ties: which of the most-voted classes is the majority (lowest index by \
                   default, random with a seed, or an error). Ties of q go to the lowest index. \
                   All items count",
        reference: "Peterson et al., Human uncertainty makes classification more robust, ICCV 2019",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoItems),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    Some(Cow::Borrowed(&scorer.judged.correct))
}
