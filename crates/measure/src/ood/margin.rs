//! Margin between the two largest logits, turned so that doubt is high.

use super::{Needs, OodScore, each_row, logits};
use crate::{About, Direction, MeasureError};

const NAME: &str = "margin";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        short: "margin",
        title: "logit margin, negated",
        formula: "−(z_(1) − z_(2)), the largest logit minus the second largest",
        unit: "logits",
        direction: Direction::HigherIsOut,
        settings: "none. Needs logits of at least two classes",
        reference: "Scheffer, Decomain and Wrobel, Active hidden Markov models for information \
                    extraction, IDA 2001 (margin of the two best classes)",
    },
    needs: Needs::Logits,
    compute: |input, _| {
        let matrix = logits(input, NAME)?;
        if matrix.columns() < 2 {
            return Err(MeasureError::Missing { score: NAME, what: "at least two classes" });
        }
        each_row("logits", matrix, |z| {
            let best = |(first, second): (f64, f64), &z: &f64| match z > first {
                true => (z, first),
                false => (first, second.max(z)),
            };
            let (first, second) = z.iter().fold((f64::NEG_INFINITY, f64::NEG_INFINITY), best);
            second - first
        })
    },
};
