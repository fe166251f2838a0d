//! One step of an optimizer over all parameters. The gradient is zero afterwards, ready for the
//! next batch to add to.

use rayon::prelude::*;

use crate::cpu::team::Team;
use crate::optimizer::Optimizer;
use crate::scalar::Real;

use super::vectorized::vectorized;

/// Parameters that one task takes.
const STRETCH: usize = 1 << 15;

/// The step numbered `step` (from 1).
pub(crate) fn step<F: Real>(
    team: &Team,
    optimizer: &Optimizer,
    rate: f64,
    step: u64,
    w: &mut [F],
    g: &mut [F],
    slots: &mut [Vec<F>],
) {
    let arch = team.arch;
    match (*optimizer, slots) {
        (Optimizer::Sgd { momentum, nesterov, weight_decay }, [v]) => {
            let by = [rate, momentum, weight_decay].map(F::of);
            each(team, [w, g, v], |[w, g, v]| sgd(arch, by, nesterov, w, g, v));
        }
        (Optimizer::Sgd { weight_decay, .. }, _) => {
            let by = [rate, weight_decay].map(F::of);
            each(team, [w, g], |[w, g]| plain(arch, by, w, g));
        }
        (Optimizer::Adam { beta1, beta2, epsilon, weight_decay }, [m, v]) => {
            let correction = |beta: f64| 1.0 - beta.powf(step as f64);
            let by =
                [rate / correction(beta1), 1.0 / correction(beta2).sqrt(), epsilon, weight_decay];
            let (by, betas) = (by.map(F::of), [beta1, beta2, 1.0 - beta1, 1.0 - beta2].map(F::of));
            each(team, [w, g, m, v], |[w, g, m, v]| adam(arch, by, betas, w, g, m, v));
        }
        (Optimizer::Adam { .. }, _) => {}
    }
}

/// `body` on stretches of vectors of one length.
fn each<F: Real, const N: usize>(
    team: &Team,
    vectors: [&mut [F]; N],
    body: impl Fn([&mut [F]; N]) + Send + Sync,
) {
    let len = vectors.first().map_or(0, |vector| vector.len());
    if team.tasks(12 * len) == 1 {
        return body(vectors);
    }
    let mut stretches: Vec<[&mut [F]; N]> = Vec::with_capacity(len.div_ceil(STRETCH));
    let mut chunks = vectors.map(|vector| vector.chunks_mut(STRETCH));
    for _ in 0..len.div_ceil(STRETCH) {
        stretches.push(chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()));
    }
    stretches.into_par_iter().for_each(body);
}

vectorized! {
    /// v ← momentum·v + g; w ← w − rate·v.
    fn sgd(by: [F; 3], nesterov: bool, w: &'a mut [F], g: &'a mut [F], v: &'a mut [F]) {
        let [rate, momentum, decay] = by;
        for ((w, g), v) in w.iter_mut().zip(g).zip(v) {
            let slope = (*g).fma(decay, *w);
            *v = slope.fma(momentum, *v);
            *w = w.fma(-rate, if nesterov { slope.fma(momentum, *v) } else { *v });
            *g = F::ZERO;
        }
    }

    /// w ← w − rate·g.
    fn plain(by: [F; 2], w: &'a mut [F], g: &'a mut [F]) {
        let [rate, decay] = by;
        for (w, g) in w.iter_mut().zip(g) {
            *w = w.fma(-rate, (*g).fma(decay, *w));
            *g = F::ZERO;
        }
    }

    /// m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; w ← w − rate·m̂ / (√v̂ + ε).
    fn adam(
        by: [F; 4], betas: [F; 4], w: &'a mut [F], g: &'a mut [F], m: &'a mut [F],
        v: &'a mut [F],
    ) {
        let ([size, root, epsilon, decay], [b1, b2, c1, c2]) = (by, betas);
        for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            let slope = (*g).fma(decay, *w);
            *m = (b1 * *m).fma(c1, slope);
            *v = (b2 * *v).fma(c2 * slope, slope);
            *w -= size * *m / (v.root() * root + epsilon);
            *g = F::ZERO;
        }
    }
}
