//! Convolutions that step over pixels and the 1×1 ones beside them, by kernels of ours that do both.

use super::super::hopper::{Hopper, On, Strided};
use super::super::launch::Pointer;
use super::CudaRunner;
use super::backward::Reach;
use super::passes::{Values, conv_shapes};
use crate::device::Mode;
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp, beside};
use crate::network::ParameterId;

/// Two convolutions that are computed together.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    hopper: &'a Hopper,
    size: &'static Strided,
    /// The 3×3 one, then the 1×1 one.
    steps: [&'a Fused; 2],
    /// The norm whose output they read.
    norm: &'a Fused,
}

impl Pair<'_> {
    pub(super) fn weights(&self) -> [ParameterId; 2] {
        self.steps.map(|step| match step.op {
            FusedOp::Conv { weight, .. } => weight,
            _ => 0,
        })
    }
}

impl CudaRunner {
    /// The convolutions that are computed together at this step, the first of them.
    pub(super) fn pair(&self, place: usize, count: usize) -> Option<Pair<'_>> {
        let step = &self.steps[place];
        let hopper = self.hopper.as_deref()?;
        let size = hopper.strided_size(&conv_shapes(&self.network, step, count)?)?;
        let other = &self.steps[beside(&self.steps, place)?];
        let [outputs, others] =
            [step, other].map(|step| self.network.nodes()[step.output].shape.channels());
        let norm = self.norm_before(place)?;
        (outputs == others).then_some(Pair { hopper, size, steps: [step, other], norm })
    }

    /// Whether this step is computed together with one before it.
    pub(super) fn in_pair(&self, place: usize, count: usize) -> bool {
        (0..place).any(|first| {
            beside(&self.steps, first) == Some(place) && self.pair(first, count).is_some()
        })
    }

    /// The weights of both, and their gradients.
    fn pair_weights(&self, pair: &Pair<'_>) -> [[Pointer; 2]; 2] {
        let offsets = pair.weights().map(|weight| self.size() * self.places.of[weight].offset);
        [self.memory.copy.at(), self.memory.conv_gradient]
            .map(|base| offsets.map(|offset| base + offset as u64))
    }

    /// `norm`: the norm behind the first one, where the kernel applies it.
    pub(super) fn pair_forward(
        &self,
        pair: &Pair<'_>,
        count: usize,
        mode: Mode,
        values: Values,
        norm: Option<&Fused>,
    ) -> Result<(), EngineError> {
        let [w, _] = self.pair_weights(pair);
        let [step, other] = pair.steps;
        let mut after = pair.steps.map(|step| self.statistics_after(step, mode == Mode::Train));
        if let Some(norm) = norm {
            after[0] = self.norm_after(norm);
        }
        let on = On { stream: &self.stream.stream, early: true };
        let x = self.value(step.input);
        let size = (pair.size, norm.is_some());
        pair.hopper.convolve_strided(on, size, count, (x, w), &after)?;
        // Curvature reads it.
        let subsampled = self.memory.buffers.subsampled.get(&other.output);
        if let (Mode::Eval, Values::Kept, Some(&to)) = (mode, values, subsampled)
            && let Some(shapes) = conv_shapes(&self.network, other, count)
        {
            self.subsample(shapes, x, to)?;
        }
        Ok(())
    }

    /// Back through both, when the gradients of both results are there.
    pub(super) fn pair_backward(
        &self,
        pair: &Pair<'_>,
        count: usize,
        mode: Mode,
        reach: Reach,
    ) -> Result<(), EngineError> {
        let main = &*self.stream.stream;
        let [w, dw] = self.pair_weights(pair);
        let x = self.value(pair.steps[0].input);
        let dy = pair.steps.map(|step| self.gradient_of(step.output));
        let aside = reach == Reach::Beside;
        let stream = if aside { &self.side.stream } else { &self.stream.stream };
        let on = On { stream, early: !aside };
        let to = (dw, self.memory.weight_sums);
        pair.hopper.strided_weights(on, pair.size, count, (x, dy), to)?;
        if aside {
            for step in pair.steps {
                self.side.has_read(self.slots.of[step.output])?;
            }
        }
        self.side.free(main, self.slots.of[pair.steps[0].input])?;
        let after = self.gradients_after(pair.norm, mode, false);
        let on = On { stream: &self.stream.stream, early: !aside };
        pair.hopper.strided_back(on, pair.size, count, (dy, w), &after)
    }
}
