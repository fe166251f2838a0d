//! One step of an optimizer over all parameters. The gradient is zero afterwards, ready for the
//! next batch to add to.

use rayon::prelude::*;

use crate::cpu::team::Team;
use crate::optimizer::Optimizer;
use crate::scalar::Real;

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
    match (*optimizer, slots) {
        (Optimizer::Sgd { momentum, weight_decay, nesterov }, [v]) => {
            let (rate, momentum, decay) = (F::of(rate), F::of(momentum), F::of(weight_decay));
            each(team, w, g, v, |w, g, v| {
                for ((w, g), v) in w.iter_mut().zip(g).zip(v) {
                    let slope = (*g).fma(decay, *w);
                    *v = slope.fma(momentum, *v);
                    *w = w.fma(-rate, if nesterov { slope.fma(momentum, *v) } else { *v });
                    *g = F::ZERO;
                }
            });
        }
        (Optimizer::Sgd { weight_decay, .. }, _) => {
            let (rate, decay) = (F::of(rate), F::of(weight_decay));
            for (w, g) in w.iter_mut().zip(g) {
                *w = w.fma(-rate, (*g).fma(decay, *w));
                *g = F::ZERO;
            }
        }
        (Optimizer::Adam { beta1, beta2, epsilon, weight_decay }, [m, v]) => {
            let by = |beta: f64| 1.0 - beta.powf(step as f64);
            let size = F::of(rate / by(beta1));
            let root = F::of(1.0 / by(beta2).sqrt());
            let (b1, b2, c1, c2) =
                (F::of(beta1), F::of(beta2), F::of(1.0 - beta1), F::of(1.0 - beta2));
            let (epsilon, decay) = (F::of(epsilon), F::of(weight_decay));
            // Mean and square travel as pairs of stretches through `each`.
            let mut pairs: Vec<(&mut [F], &mut [F])> =
                m.chunks_mut(STRETCH).zip(v.chunks_mut(STRETCH)).collect();
            let body = |w: &mut [F], g: &mut [F], m: &mut [F], v: &mut [F]| {
                for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
                    let slope = (*g).fma(decay, *w);
                    *m = (b1 * *m).fma(c1, slope);
                    *v = (b2 * *v).fma(c2 * slope, slope);
                    *w -= size * *m / (v.root() * root + epsilon);
                    *g = F::ZERO;
                }
            };
            if team.tasks(20 * w.len()) == 1 {
                team.arch.dispatch(|| {
                    let parts = w.chunks_mut(STRETCH).zip(g.chunks_mut(STRETCH)).zip(&mut pairs);
                    parts.for_each(|((w, g), (m, v))| body(w, g, m, v));
                });
            } else {
                let parts = w.par_chunks_mut(STRETCH).zip(g.par_chunks_mut(STRETCH)).zip(pairs);
                parts.for_each(|((w, g), (m, v))| team.arch.dispatch(|| body(w, g, m, v)));
            }
        }
        (Optimizer::Adam { .. }, _) => {}
    }
}

/// `body` on stretches of the three vectors.
fn each<F: Real>(
    team: &Team,
    w: &mut [F],
    g: &mut [F],
    v: &mut [F],
    body: impl Fn(&mut [F], &mut [F], &mut [F]) + Send + Sync,
) {
    if team.tasks(10 * w.len()) == 1 {
        team.arch.dispatch(|| body(w, g, v));
    } else {
        let parts = w.par_chunks_mut(STRETCH).zip(g.par_chunks_mut(STRETCH));
        let parts = parts.zip(v.par_chunks_mut(STRETCH));
        parts.for_each(|((w, g), v)| team.arch.dispatch(|| body(w, g, v)));
    }
}
