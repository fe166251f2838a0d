//! Passes over given examples, to compare the engine with another one number by number.
//!
//! A data set holds bytes or f32; here examples and targets are whatever F holds, the examples of a
//! call are one batch, and the data set is not read. In [`Mode::Train`] the running statistics move
//! as they do in training. Dropout is that of batch 0 of epoch 0.

use crate::cpu::frame::Frame;
use crate::cpu::kernels::optimizer::Update;
use crate::cpu::passes::{Passes, Reach};
use crate::cpu::team::Team;
use crate::device::Mode;
use crate::error::EngineError;
use crate::network::{Network, Shape};
use crate::random::Moment;
use crate::scalar::Real;

use super::{CpuRunner, inside};

/// What one batch of given examples gave. Maps are their inside, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe<F> {
    /// The output of the last node.
    pub outputs: Vec<F>,
    /// The gradient in the parameters.
    pub parameter_gradient: Vec<F>,
    /// The gradient at the examples.
    pub input_gradient: Vec<F>,
}

impl<F: Real> CpuRunner<F> {
    /// Runs given examples forward and does `with`; `beside` has one number an output.
    fn given<T: Send>(
        &mut self,
        inputs: &[F],
        beside: &[F],
        mode: Mode,
        with: impl FnOnce(&mut Passes<F>, &Team, usize, &mut [F]) -> T + Send,
    ) -> Result<T, EngineError> {
        let (size, classes) = (self.network.input().len().max(1), self.network.classes());
        let count = inputs.len() / size;
        if inputs.len() != count * size || beside.len() != count * classes {
            return Err(EngineError::Data(format!(
                "{} numbers as examples of {size} and {} beside outputs of {classes}",
                inputs.len(),
                beside.len()
            )));
        }
        if count > self.settings.batch {
            let most = self.settings.batch;
            return Err(EngineError::Data(format!("{count} examples, in a runner for {most}")));
        }
        let Self { team, state, passes, .. } = self;
        let (team, frame) = (&*team, passes.input_frame());
        put(frame, inputs, passes.input());
        Ok(team.install(|| {
            let (w, statistics) = (&mut state.parameters[..], &mut state.statistics);
            passes.forward(team, count, mode, Moment::default(), w, statistics);
            with(passes, team, count, w)
        }))
    }

    /// The gradients of Σ outputs ⊙ `weights` for given examples.
    pub fn probe(
        &mut self,
        inputs: &[F],
        weights: &[F],
        mode: Mode,
    ) -> Result<Probe<F>, EngineError> {
        let network = self.network.clone();
        self.given(inputs, weights, mode, |passes, team, count, w| {
            let frame = Frame::new(output(&network));
            let mut seed = vec![F::ZERO; count * frame.stride()];
            put(frame, weights, &mut seed);
            passes.seed_gradient(&seed);
            found(&network, passes, team, count, w)
        })
    }

    /// The mean loss of given examples against `goals` (rows of probabilities), and its gradients.
    pub fn loss_at(
        &mut self,
        inputs: &[F],
        goals: &[F],
        mode: Mode,
    ) -> Result<(f64, Probe<F>), EngineError> {
        let network = self.network.clone();
        flat(output(&network))?;
        self.given(inputs, goals, mode, |passes, team, count, w| {
            let loss = passes.loss(count, goals, count).wide();
            (loss, found(&network, passes, team, count, w))
        })
    }

    /// The Hessian of the mean loss of given examples times `direction`.
    pub fn product_at(
        &mut self,
        inputs: &[F],
        goals: &[F],
        mode: Mode,
        direction: &[F],
    ) -> Result<Vec<F>, EngineError> {
        flat(output(&self.network))?;
        self.check_length("a direction", direction)?;
        self.given(inputs, goals, mode, |passes, team, count, w| {
            let mut product = vec![F::ZERO; direction.len()];
            passes.loss(count, goals, count);
            passes.tangent(team, count, w, direction);
            passes.loss_tangent(count, count);
            passes.backward_tangent(team, count, w, direction, &mut product);
            product
        })
    }

    /// One step of the optimizer with a given gradient.
    pub fn apply(&mut self, gradient: &[F], rate: f64) -> Result<(), EngineError> {
        self.check_length("a gradient", gradient)?;
        let Self { settings, team, state, .. } = self;
        let (team, mut gradient) = (&*team, gradient.to_vec());
        state.steps += 1;
        let (w, steps, slots) = (&mut state.parameters, state.steps, &mut state.slots);
        team.install(|| {
            let update = Update::new(&settings.optimizer, rate, steps, slots);
            update.finish(team, w, &mut gradient);
        });
        Ok(())
    }
}

/// The shape of an example at the last node.
fn output(network: &Network) -> Shape {
    network.nodes().last().map_or(Shape::Flat { width: 0 }, |node| node.shape)
}

/// Refuses what cannot be logits.
fn flat(shape: Shape) -> Result<(), EngineError> {
    match shape {
        Shape::Flat { width: 1.. } => Ok(()),
        _ => {
            let text = format!("a loss needs logits, and the network ends in {shape:?}");
            Err(EngineError::Data(text))
        }
    }
}

/// The backward pass of a batch, to its end.
fn found<F: Real>(
    network: &Network,
    passes: &mut Passes<F>,
    team: &Team,
    count: usize,
    w: &mut [F],
) -> Probe<F> {
    let mut parameter_gradient = vec![F::ZERO; network.parameter_count()];
    passes.backward(team, count, Reach::Inputs, w, &mut parameter_gradient, None);
    let (mut outputs, mut input_gradient) = (Vec::new(), Vec::new());
    let last = network.nodes().len().saturating_sub(1);
    inside(Frame::new(output(network)), passes.value(last, count), &mut outputs);
    inside(passes.input_frame(), passes.input_gradient(count), &mut input_gradient);
    Probe { outputs, parameter_gradient, input_gradient }
}

/// The other way than [`inside`]: examples without borders into a buffer.
fn put<F: Real>(frame: Frame, examples: &[F], buffer: &mut [F]) {
    let (size, stride) = ((frame.pixels() * frame.channels).max(1), frame.stride().max(1));
    for (from, to) in examples.chunks_exact(size).zip(buffer.chunks_exact_mut(stride)) {
        for (row, from) in frame.rows().zip(from.chunks_exact(frame.width * frame.channels)) {
            to[row].copy_from_slice(from);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::device::{Dataset, Runner as _, Settings, State};
    use crate::network::Builder;
    use crate::optimizer::Optimizer;

    fn runner(build: impl FnOnce(&mut Builder)) -> CpuRunner<f64> {
        let (height, width, channels) = (2, 2, 1);
        let mut builder = Builder::new(Shape::Map { height, width, channels });
        build(&mut builder);
        let network = Arc::new(builder.finish().unwrap());
        let (pixels, mean, deviation) = (Arc::new([]), vec![0.0], vec![1.0]);
        let data = Dataset::Images { height, width, channels, pixels, mean, deviation };
        let optimizer = Optimizer::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };
        let state = State::fresh(&network, &optimizer, 1);
        CpuRunner::new(
            &network,
            &data,
            &Settings { precision: Default::default(), batch: 2, optimizer, threads: 1 },
            state,
        )
        .unwrap()
    }

    fn refusal<T>(result: Result<T, EngineError>) -> String {
        result.map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut maps = runner(|b| {
            b.relu(0);
        });
        let text = refusal(maps.loss_at(&[0.0; 4], &[0.0; 4], Mode::Eval));
        assert!(text.contains("needs logits"), "{text}");
        let text = refusal(maps.product_at(&[0.0; 4], &[0.0; 4], Mode::Eval, &[]));
        assert!(text.contains("needs logits"), "{text}");
        let text = refusal(maps.probe(&[0.0; 5], &[0.0; 4], Mode::Eval));
        assert!(text.contains("5 numbers as examples of 4"), "{text}");
        let text = refusal(maps.probe(&[0.0; 12], &[0.0; 12], Mode::Eval));
        assert!(text.contains("3 examples, in a runner for 2"), "{text}");

        let mut logits = runner(|b| {
            b.linear("l", 0, 2);
        });
        let text = refusal(logits.loss_at(&[0.0; 4], &[0.0; 3], Mode::Eval));
        assert!(text.contains("3 beside outputs of 2"), "{text}");
        let text = refusal(logits.product_at(&[0.0; 4], &[0.0; 2], Mode::Eval, &[0.0; 3]));
        assert!(text.contains("a direction of 3 numbers for 10 parameters"), "{text}");
        let text = refusal(logits.apply(&[0.0; 9], 0.1));
        assert!(text.contains("a gradient of 9 numbers for 10 parameters"), "{text}");
    }

    /// A batch smaller than the one before it leaves nothing of that behind, borders included.
    #[test]
    fn a_map_goes_in_and_out_without_its_border() {
        let mut runner = runner(|b| {
            b.conv("c", 0, 1, 3, 1);
        });
        let mut state = runner.current().clone();
        state.parameters.fill(1.0);
        runner.restore(state).unwrap();
        runner.probe(&[9.0; 8], &[9.0; 8], Mode::Eval).unwrap();
        let found = runner.probe(&[1.0, 2.0, 3.0, 4.0], &[1.0, 0.0, 0.0, 0.0], Mode::Eval).unwrap();
        // With 2×2 pixels, every pixel is under the kernel of every other.
        assert_eq!(found.outputs, [10.0; 4]);
        assert_eq!(found.input_gradient, [1.0; 4]);
        assert_eq!(found.parameter_gradient, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 4.0]);
    }
}
