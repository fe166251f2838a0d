//! Dropout: y = m ⊙ x, where m is 0 with the given probability and 1 / (1 − probability) otherwise.
//!
//! The mask is Philox of (seed, epoch, batch, layer) and the element's place, sixteen bits an
//! element: it can be drawn again at any time, by any device. The rate is thereby rounded to 1/65536.

use dissensus_core::philox;

use crate::cpu::team::Team;
use crate::random::{DROP, Moment};
use crate::scalar::Real;

/// Elements of a block of random words.
const LANES: usize = 16;

/// Fills the mask.
pub(crate) fn mask<F: Real>(team: &Team, rate: f64, layer: usize, moment: Moment, mask: &mut [F]) {
    let threshold = (rate * 65536.0).round() as u64;
    let kept = F::of(65536.0 / (65536 - threshold.min(65535)) as f64);
    let cost = 20 * mask.len();
    const BLOCKS: usize = 256;
    team.stretches(mask, BLOCKS * LANES, cost, |stretch, mask| {
        for (block, lanes) in mask.chunks_mut(LANES).enumerate() {
            let block = (stretch * BLOCKS + block) as u64;
            let counter = [block, moment.epoch, moment.batch, layer as u64];
            let words = philox::block([moment.seed, DROP], counter);
            for (lane, m) in lanes.iter_mut().enumerate() {
                let bits = words[lane / 4] >> (16 * (lane % 4)) & 0xffff;
                *m = if bits < threshold { F::ZERO } else { kept };
            }
        }
    });
}
