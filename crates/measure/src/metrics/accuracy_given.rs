//! Accuracy against labels given from elsewhere, such as the data set's own.

use std::borrow::Cow;

use rayon::prelude::*;

use dissensus_core::Scale;

use super::{Interval, Metric, mean};
use crate::{About, Direction, Note, Scorer};

pub(super) const METRIC: Metric = Metric {
    about: About {
        name: "accuracy_given",
        short: "accuracy given",
        title: "accuracy against given labels",
        formula: "share of items where argmax q is the given label",
        unit: "share",
        direction: Direction::Higher,
        settings: "the labels. Ties of q go to the lowest index. Undefined without labels",
        reference: "Peterson et al., Human uncertainty makes classification more robust, ICCV 2019",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| mean(per_item(scorer), Note::NoGivenLabels),
    per_item: Some(per_item),
    interval: Interval::Mean,
};

fn per_item<'s>(scorer: &'s Scorer<'_>) -> Option<Cow<'s, [f64]>> {
    let given = scorer.judged.truth().given()?;
    let hits = scorer.judged.predicted.par_iter().zip(given).map(|(q, y)| f64::from(q == y));
    Some(Cow::Owned(hits.collect()))
}
