//! Free energy of the logits.

use super::{Needs, OodScore, each_row, logits, positive};
use crate::{About, Direction};

const NAME: &str = "energy";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        short: "energy",
        title: "energy",
        formula: "−T ln Σ_k exp(z_k / T)",
        unit: "logits",
        direction: Direction::HigherIsOut,
        settings: "temperature T (1 by default). Needs logits",
        reference: "Liu, Wang, Owens and Li, Energy-based out-of-distribution detection, NeurIPS \
                    2020",
    },
    needs: Needs::Logits,
    compute: |input, settings| {
        let t = settings.temperature;
        positive("temperature", t)?;
        each_row("logits", logits(input, NAME)?, |z| {
            let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = z.iter().map(|z| ((z - largest) / t).exp()).sum();
            -(largest + t * sum.ln())
        })
    },
};
