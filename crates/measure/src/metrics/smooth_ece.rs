//! Smooth calibration error; see [`smooth`](crate::smooth).

use dissensus_core::Scale;

use super::{BIASED, Interval, Metric};
use crate::{About, Against, Direction, Note, Scorer, Value};

pub(super) const MAJORITY: Metric = Metric {
    about: About {
        name: "smooth_ece",
        short: "smooth ECE (majority)",
        title: "smooth calibration error, against the majority label",
        formula: "∫ |Σ_i K(t, f_i)(f_i − y_i)| dt / N, K a Gaussian reflected at 0 and 1 with the \
                  bandwidth that equals the result; f = max q, y for the predicted class: 1 where \
                  it is the majority label, else 0",
        unit: "probability",
        direction: Direction::Lower,
        settings: "none. Discretized as relplot 1.0.3 does; the bandwidth is found to 1/1024, \
                   not below 0.001",
        reference: "Błasiok and Nakkiran, Smooth ECE: principled reliability diagrams via kernel \
                    smoothing, ICLR 2024",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Majority),
    per_item: None,
    interval: Interval::Unknown(BIASED),
};

pub(super) const HUMAN: Metric = Metric {
    about: About {
        name: "smooth_ece_human",
        short: "smooth ECE (votes)",
        title: "smooth calibration error, against the votes",
        formula: "∫ |Σ_i K(t, f_i)(f_i − y_i)| dt / N, K a Gaussian reflected at 0 and 1 with the \
                  bandwidth that equals the result; f = max q, y for the predicted class: its \
                  share of the votes",
        ..MAJORITY.about
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Human),
    ..MAJORITY
};

fn compute(scorer: &Scorer<'_>, against: Against) -> Value {
    Value::or(scorer.smooth(against).map(|smooth| smooth.error), Note::NoItems)
}
