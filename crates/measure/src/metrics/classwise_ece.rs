//! Classwise calibration error: every class's probability counts, not only the predicted one's.

use dissensus_core::Scale;

use super::{BIASED, Interval, Metric};
use crate::{About, Against, Direction, Note, Scorer, Value};

pub(super) const MAJORITY: Metric = Metric {
    about: About {
        name: "classwise_ece",
        short: "classwise ECE (majority)",
        title: "classwise calibration error, against the majority label",
        formula: "mean over classes k of Σ_b n_b/N |mean q_k − share with majority label k| over \
                  bins b by q_k",
        unit: "probability",
        direction: Direction::Lower,
        settings: "bins (15 by default), of equal width for each class: bin b of B holds [b/B, \
                   (b+1)/B), the last also 1",
        reference: "Kull et al., Beyond temperature scaling, NeurIPS 2019",
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Majority),
    per_item: None,
    interval: Interval::Unknown(BIASED),
};

pub(super) const HUMAN: Metric = Metric {
    about: About {
        name: "classwise_ece_human",
        short: "classwise ECE (votes)",
        title: "classwise calibration error, against the votes",
        formula: "mean over classes k of Σ_b n_b/N |mean q_k − mean p_k| over bins b by q_k",
        ..MAJORITY.about
    },
    scales: Scale::ONE_LABEL,
    compute: |scorer| compute(scorer, Against::Human),
    ..MAJORITY
};

fn compute(scorer: &Scorer<'_>, against: Against) -> Value {
    let views = scorer.classes();
    let errors = views.iter().map(|view| match against {
        Against::Majority => view.ece,
        Against::Human => view.ece_human,
    });
    let mean = (!views.is_empty()).then(|| errors.sum::<f64>() / views.len() as f64);
    Value::or(mean, Note::NoItems)
}
