//! What is asked of a network at its examples: gradients there, examples that are moved along them,
//! the maps before the last pooling, and statistics of batches as they come.

use crate::cpu::batch::{Source, targets};
use crate::cpu::passes::Reach;
use crate::device::{Mode, Shift, Targets, check_perturbation, check_refresh};
use crate::error::EngineError;
use crate::random::Moment;
use crate::scalar::Real;

use super::{CpuRunner, inside};

impl<F: Real> CpuRunner<F> {
    /// What the last pooling reads: the inside of maps, row by row.
    pub fn map_values(&mut self, rows: &[u32]) -> Result<Vec<F>, EngineError> {
        self.values(self.network.last_map()?, rows)
    }

    /// The gradient of each row's own loss at its example, in [`Mode::Eval`]: the inside of maps,
    /// row by row.
    pub fn input_slopes(
        &mut self,
        rows: &[u32],
        goals: Targets<'_>,
    ) -> Result<Vec<F>, EngineError> {
        self.check_rows(rows, goals)?;
        let (classes, frame) = (self.network.classes(), self.passes.input_frame());
        let mut out = Vec::with_capacity(rows.len() * self.network.input().len());
        let mut unused = vec![F::ZERO; self.network.parameter_count()];
        let mut batch = Vec::new();
        self.each_batch(rows, Mode::Eval, |passes, team, state, rows| {
            targets(goals, classes, rows.len(), |at| rows[at] as usize, None, &mut batch);
            passes.loss(rows.len(), &batch, 1);
            let w = &mut state.parameters;
            passes.backward(team, rows.len(), Reach::Examples, w, &mut unused, None);
            inside(frame, passes.input_gradient(rows.len()), &mut out);
        })?;
        Ok(out)
    }

    /// The logits of x − ε·sign(∂L/∂x), L = −ln softmax(z/T)\[argmax z\], in [`Mode::Eval`].
    pub fn perturbed_logits(
        &mut self,
        rows: &[u32],
        temperature: f64,
        epsilon: f64,
    ) -> Result<Vec<F>, EngineError> {
        check_perturbation(temperature, epsilon)?;
        let classes = self.network.classes();
        let mut out = Vec::with_capacity(rows.len() * classes);
        let mut unused = vec![F::ZERO; self.network.parameter_count()];
        let mut slopes = Vec::new();
        self.each_batch(rows, Mode::Eval, |passes, team, state, rows| {
            let count = rows.len();
            slopes.clear();
            for z in passes.logits(count).chunks_exact(classes.max(1)) {
                top_slope(z, temperature, &mut slopes);
            }
            passes.seed_gradient(&slopes);
            let (w, statistics) = (&mut state.parameters, &mut state.statistics);
            passes.backward(team, count, Reach::Examples, w, &mut unused, None);
            passes.perturb(count, F::of(epsilon));
            passes.forward(team, count, Mode::Eval, Moment::default(), w, statistics);
            out.extend_from_slice(passes.logits(count));
        })?;
        Ok(out)
    }

    /// New statistics: the mean of those of the batches of `rows`, in order, every batch alike.
    pub fn new_statistics(&mut self, rows: &[u32], batch: usize) -> Result<(), EngineError> {
        check_refresh(rows, self.examples.len(), batch, self.settings.batch)?;
        let Self { examples, team, state, passes, .. } = self;
        let team = &*team;
        team.install(|| {
            for (number, rows) in rows.chunks(batch).enumerate() {
                let of = |place: usize| Source { row: rows[place], shift: Shift::default() };
                let frame = passes.input_frame();
                examples.fill(team, frame, rows.len(), of, None, passes.input());
                // The first batch takes the place of what was there; the n-th is an n-th of the mean.
                passes.set_momentum(Some(1.0 / (number + 1) as f64));
                let moment = Moment { batch: number as u64, ..Moment::default() };
                let (w, statistics) = (&state.parameters, &mut state.statistics);
                passes.forward(team, rows.len(), Mode::Train, moment, w, statistics);
            }
            passes.set_momentum(None);
        });
        Ok(())
    }
}

/// The gradient at the logits of −ln softmax(z/T)\[argmax z\], up to the factor 1/T, which changes no
/// sign. The first of equal logits is the largest.
fn top_slope<F: Real>(z: &[F], temperature: f64, out: &mut Vec<F>) {
    let mut top = 0;
    for (at, &value) in z.iter().enumerate() {
        if value > z[top] {
            top = at;
        }
    }
    let power = |value: &F| ((*value - z[top]).wide() / temperature).exp();
    let total: f64 = z.iter().map(power).sum();
    let slope = |(at, value): (usize, &F)| {
        let own = if at == top { 1.0 } else { 0.0 };
        F::of(power(value) / total - own)
    };
    out.extend(z.iter().enumerate().map(slope));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: at T = 2, softmax(z/2) of (ln 4, 0, 0) is (1/2, 1/4, 1/4).
    #[test]
    fn the_slope_of_the_largest_logit_is_at_a_temperature() {
        let mut slopes = Vec::new();
        top_slope(&[0.0, 4f64.ln(), 0.0], 2.0, &mut slopes);
        for (found, wanted) in slopes.iter().zip([0.25, -0.5, 0.25]) {
            assert!((found - wanted).abs() < 1e-15, "{slopes:?}");
        }
        slopes.clear();
        top_slope(&[1.0, 1.0], 1.0, &mut slopes);
        assert_eq!(slopes, [-0.5, 0.5]);
    }
}
