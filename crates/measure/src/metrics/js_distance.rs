//! Jensen–Shannon distance, natural logarithms: the root of the divergence.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "js_distance",
        short: "JS distance",
        title: "Jensen–Shannon distance",
        formula: "mean over items of √(½ KL(p‖m) + ½ KL(q‖m)) with m = (p + q) / 2; from 0 to √ln \
                  2 = 0.8326",
        unit: "√nats",
        direction: Direction::Lower,
        settings: "none; natural logarithms (base e), as scipy.spatial.distance.jensenshannon has \
                   it by default",
        reference: "Lin, Divergence measures based on the Shannon entropy, IEEE Trans. Inf. \
                    Theory 37 (1991); Endres and Schindelin, A new metric for probability \
                    distributions (2003)",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoItems),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    Some(Cow::Borrowed(&scorer.judged.js))
}
