//! Expected calibration error over bins of equal mass.

use dissensus_core::Scale;

use super::{BIASED, Interval, Metric};
use crate::reliability::{
    Binning, DEBIASED, DEBIASED_REFERENCE, DEBIASED_SETTINGS, calibration_error,
};
use crate::{About, Against, Direction, Note, Scorer, Value};

pub(super) const MAJORITY: Metric = Metric {
    about: About {
        name: "ece_mass",
        short: "ECE (majority)",
        title: "expected calibration error, equal-mass bins, against the majority label",
        formula: "Σ_b n_b/N |mean f − mean y| over bins b of equally many items by f; f = max q, \
                  y for the predicted class: 1 where it is the majority label, else 0",
        unit: "probability",
        direction: Direction::Lower,
        settings: "bins (15 by default). Sorted confidences are cut as numpy.array_split does; a \
                   cut never parts equal confidences, it moves up to the end of their run",
        reference: "Nixon, Dusenberry, Zhang, Jerfel and Tran, Measuring calibration in deep \
                    learning, CVPR Workshops 2019; on calibration to votes: Baan et al., Stop \
                    measuring calibration when humans disagree, EMNLP 2022",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Majority),
    per_item: None,
    interval: Interval::Unknown(BIASED),
};

pub(super) const HUMAN: Metric = Metric {
    about: About {
        name: "ece_mass_human",
        short: "ECE (votes)",
        title: "expected calibration error, equal-mass bins, against the votes",
        formula: "Σ_b n_b/N |mean f − mean y| over bins b of equally many items by f; f = max q, \
                  y for the predicted class: its share of the votes",
        ..MAJORITY.about
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Human),
    ..MAJORITY
};

pub(super) const MAJORITY_DEBIASED: Metric = Metric {
    about: About {
        name: "ece_mass_debiased",
        short: "debiased ECE (majority)",
        title: "expected calibration error less what chance adds, equal-mass bins, against \
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
        name: "ece_mass_debiased_human",
        short: "debiased ECE (votes)",
        title: "expected calibration error less what chance adds, equal-mass bins, against \
                the votes",
        ..MAJORITY_DEBIASED.about
    },
    compute: |scorer| debiased(scorer, Against::Human),
    ..MAJORITY_DEBIASED
};

fn compute(scorer: &Scorer<'_>, against: Against) -> Value {
    let curve = scorer.reliability(Binning::Mass, against);
    Value::or(calibration_error(&curve), Note::NoItems)
}

fn debiased(scorer: &Scorer<'_>, against: Against) -> Value {
    Value::or(scorer.debiased_error(Binning::Mass, against), Note::NoItems)
}
