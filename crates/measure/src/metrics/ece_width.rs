//! Expected calibration error over bins of equal width.

use dissensus_core::Scale;

use super::{BIASED, Interval, Metric};
use crate::reliability::{
    Binning, DEBIASED, DEBIASED_REFERENCE, DEBIASED_SETTINGS, calibration_error,
};
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
    interval: Interval::Unknown(BIASED),
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

pub(super) const MAJORITY_DEBIASED: Metric = Metric {
    about: About {
        name: "ece_width_debiased",
        short: "debiased ECE (majority)",
        title: "expected calibration error less what chance adds, equal-width bins, against \
                the majority label",
        formula: DEBIASED,
        settings: DEBIASED_SETTINGS,
        reference: DEBIASED_REFERENCE,
        ..MAJORITY.about
    },
    compute: |scorer| debiased(scorer, Against::Majority),
    interval: Interval::Unknown(BIASED),
    ..MAJORITY
};

pub(super) const HUMAN_DEBIASED: Metric = Metric {
    about: About {
        name: "ece_width_debiased_human",
        short: "debiased ECE (votes)",
        title: "expected calibration error less what chance adds, equal-width bins, against \
                the votes",
        ..MAJORITY_DEBIASED.about
    },
    compute: |scorer| debiased(scorer, Against::Human),
    ..MAJORITY_DEBIASED
};

fn compute(scorer: &Scorer<'_>, against: Against) -> Value {
    let curve = scorer.reliability(Binning::Width, against);
    Value::or(calibration_error(&curve), Note::NoItems)
}

fn debiased(scorer: &Scorer<'_>, against: Against) -> Value {
    Value::or(scorer.debiased_error(Binning::Width, against), Note::NoItems)
}
