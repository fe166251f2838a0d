//! One step of an optimizer over all parameters.

use std::ops::Range;

use rayon::prelude::*;

use crate::cpu::team::Team;
use crate::optimizer::Optimizer;
use crate::scalar::Real;

use super::tile::{Outer, outer_rows};
use super::vectorized::vectorized;

/// Parameters that one task takes.
const STRETCH: usize = 1 << 15;

/// Gradients of a stripe: 16 KiB in f32, half of a first-level cache.
const STRIPE: usize = 1 << 12;

/// One step of an optimizer on its way through the parameters.
pub(crate) struct Update<'a, F> {
    rule: Rule<F>,
    slots: &'a mut [Vec<F>],
    /// Stretches of the parameters that are done.
    done: Vec<Range<usize>>,
}

/// The numbers of a step.
#[derive(Clone, Copy)]
enum Rule<F> {
    Plain { by: [F; 2] },
    Sgd { by: [F; 3], nesterov: bool },
    Adam { by: [F; 4], betas: [F; 4] },
}

impl<F: Real> Rule<F> {
    /// Applies it to a stretch of the parameters.
    fn apply(self, arch: pulp::Arch, w: &mut [F], g: &[F], slots: &mut [&mut [F]]) {
        match (self, slots) {
            (Self::Plain { by }, _) => plain(arch, by, w, g),
            (Self::Sgd { by, nesterov }, [v]) => sgd(arch, by, nesterov, w, g, v),
            (Self::Adam { by, betas }, [m, v]) => adam(arch, by, betas, w, g, m, v),
            // There are as many slots as the optimizer says.
            _ => {}
        }
    }
}

impl<'a, F: Real> Update<'a, F> {
    /// The step numbered `step` (from 1).
    pub(crate) fn new(
        optimizer: &Optimizer,
        rate: f64,
        step: u64,
        slots: &'a mut [Vec<F>],
    ) -> Self {
        let rule = match *optimizer {
            Optimizer::Sgd { momentum, nesterov, weight_decay } => match slots.is_empty() {
                true => Rule::Plain { by: [rate, weight_decay].map(F::of) },
                false => Rule::Sgd { by: [rate, momentum, weight_decay].map(F::of), nesterov },
            },
            Optimizer::Adam { beta1, beta2, epsilon, weight_decay } => {
                let correction = |beta: f64| 1.0 - beta.powf(step as f64);
                let (size, root) = (rate / correction(beta1), 1.0 / correction(beta2).sqrt());
                let by = [size, root, epsilon, weight_decay].map(F::of);
                Rule::Adam { by, betas: [beta1, beta2, 1.0 - beta1, 1.0 - beta2].map(F::of) }
            }
        };
        Self { rule, slots, done: Vec::new() }
    }

    /// Updates the weights in `range` by the gradient that `product` is, stripe by stripe: a
    /// stripe of the gradient never leaves the first-level cache.
    pub(crate) fn product(
        &mut self,
        team: &Team,
        product: &Outer<'_, F>,
        range: Range<usize>,
        parameters: &mut [F],
    ) {
        let rows = (STRIPE / product.columns.max(1)).next_multiple_of(8);
        let length = rows * product.columns;
        // A step takes about as long as eight examples.
        let work = 2 * product.columns * product.depth * (product.examples() + 8);
        let (rule, arch) = (self.rule, team.arch);
        let parts = stretches(&mut parameters[range.clone()], self.slots, range.clone(), length);
        let stripe = |gradient: &mut Vec<F>, (number, (w, mut slots)): (usize, Stretch<'_, F>)| {
            let first = number * rows;
            gradient.resize(w.len(), F::ZERO);
            let rows = first..first + w.len() / product.columns;
            outer_rows(team, product, rows, false, gradient);
            rule.apply(arch, w, gradient, &mut slots);
        };
        let parts: Vec<_> = parts.into_iter().enumerate().collect();
        match team.tasks(work) {
            1 => parts.into_iter().fold(Vec::new(), |mut gradient, part| {
                stripe(&mut gradient, part);
                gradient
            }),
            _ => {
                parts.into_par_iter().for_each_init(Vec::new, stripe);
                Vec::new()
            }
        };
        self.done.push(range);
    }

    /// Updates all parameters that are left; the gradient is zero afterwards.
    pub(crate) fn finish(mut self, team: &Team, w: &mut [F], g: &mut [F]) {
        self.done.sort_unstable_by_key(|range| range.start);
        let mut start = 0;
        let ends = self.done.iter().map(|range| (range.start, range.end));
        for (end, next) in ends.chain([(w.len(), w.len())]).collect::<Vec<_>>() {
            self.rest(team, start..end, w, g);
            start = next;
        }
    }

    fn rest(&mut self, team: &Team, range: Range<usize>, w: &mut [F], g: &mut [F]) {
        let (rule, arch) = (self.rule, team.arch);
        let w = &mut w[range.clone()];
        let length = if team.tasks(12 * w.len()) == 1 { w.len().max(1) } else { STRETCH };
        let gradients = g[range.clone()].chunks_mut(length);
        let parts = stretches(w, self.slots, range, length).into_iter().zip(gradients);
        let parts: Vec<_> = parts.collect();
        let body = |((w, mut slots), g): (Stretch<'_, F>, &mut [F])| {
            rule.apply(arch, w, g, &mut slots);
            g.fill(F::ZERO);
        };
        match parts.len() {
            1 => parts.into_iter().for_each(body),
            _ => parts.into_par_iter().for_each(body),
        }
    }
}

/// Parameters, and what the optimizer remembers of them.
type Stretch<'a, F> = (&'a mut [F], Vec<&'a mut [F]>);

/// Parameters and slots in stretches of this length; `range` is where the parameters lie.
fn stretches<'a, F>(
    w: &'a mut [F],
    slots: &'a mut [Vec<F>],
    range: Range<usize>,
    length: usize,
) -> Vec<Stretch<'a, F>> {
    let mut slots: Vec<_> =
        slots.iter_mut().map(|slot| slot[range.clone()].chunks_mut(length)).collect();
    w.chunks_mut(length)
        .map(|w| (w, slots.iter_mut().filter_map(|slot| slot.next()).collect()))
        .collect()
}

vectorized! {
    /// v ← momentum·v + g; w ← w − rate·v.
    fn sgd(by: [F; 3], nesterov: bool, w: &'a mut [F], g: &'a [F], v: &'a mut [F]) {
        let [rate, momentum, decay] = by;
        for ((w, g), v) in w.iter_mut().zip(g).zip(v) {
            let slope = (*g).fma(decay, *w);
            *v = slope.fma(momentum, *v);
            *w = w.fma(-rate, if nesterov { slope.fma(momentum, *v) } else { *v });
        }
    }

    /// w ← w − rate·g.
    fn plain(by: [F; 2], w: &'a mut [F], g: &'a [F]) {
        let [rate, decay] = by;
        for (w, g) in w.iter_mut().zip(g) {
            *w = w.fma(-rate, (*g).fma(decay, *w));
        }
    }

    /// m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²; w ← w − rate·m̂ / (√v̂ + ε).
    fn adam(
        by: [F; 4], betas: [F; 4], w: &'a mut [F], g: &'a [F], m: &'a mut [F],
        v: &'a mut [F],
    ) {
        let ([size, root, epsilon, decay], [b1, b2, c1, c2]) = (by, betas);
        for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            // All are read before any is written, which was measured to be faster: the vectors may lie
            // at the same place of their pages, where reads seem to wait for writes.
            let own = *w;
            let slope = (*g).fma(decay, own);
            let mean = (b1 * *m).fma(c1, slope);
            let square = (b2 * *v).fma(c2 * slope, slope);
            *w = own.fma(-size * mean, epsilon.fma(square.root(), root).inverse());
            *m = mean;
            *v = square;
        }
    }
}
