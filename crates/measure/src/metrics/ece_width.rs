//! Expected calibration error over bins of equal width.

use dissensus_core::Scale;

use super::Metric;
use crate::reliability::{Binning, calibration_error};
use crate::{About, Against, Direction, Note, Scorer, Value};

pub(super) const MAJORITY: Metric = Metric {
    about: About {
        name: "ece_width",
        short: "ECE, equal width (majority)",
        title: "expected calibration error, equal-width bins, against the majority label",
        formula: "Σ_b n_b/N |mean f − mean y| over bins b of [0, 1] of equal width by f; f = max \
                  q, y for the predicted class: 1 where it is the majority label, else 0",
        unit: "probability",
        direction: Direction::Lower,
        settings: "bins (15 by default). Bin b of B holds [b/B, (b+1)/B), the last also 1",
        reference: "Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, \
                    ICML 2017; on calibration to votes: Baan et al., Stop measuring calibration \
                    when humans disagree, EMNLP 2022",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Majority),
    per_item: None,
};

pub(super) const HUMAN: Metric = Metric {
    about: About {
        name: "ece_width_human",
        short: "ECE, equal width (votes)",
        title: "expected calibration error, equal-width bins, against the votes",
        formula: "Σ_b n_b/N |mean f − mean y| over bins b of [0, 1] of equal width by f; f = max \
                  q, y for the predicted class: its share of the votes",
        ..MAJORITY.about
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Human),
    ..MAJORITY
};

fn compute(scorer: &Scorer<'_>, against: Against) -> Value {
    let curve = scorer.reliability(Binning::Width, against);
    Value::or(calibration_error(&curve), Note::NoItems)
}
