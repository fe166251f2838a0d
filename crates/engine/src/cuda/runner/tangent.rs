//! The passes of a batch along a direction of the weights, and back: one batch of a Hessian-vector
//! product. Statistics do not move and dropout is off, so every layer is linear, bilinear or
//! piecewise linear (but for GELU), and a tangent pass is the layer's own pass, twice.
//!
//! They follow a forward and a backward pass of the same batch, in buffers where every node has a
//! gradient of its own, and change nothing there: for another direction they alone are repeated.

use super::super::cudnn::Pass;
use super::super::kernels::{self, Kernel as _, LossTangentKernel};
use super::super::launch::Pointer;
use super::super::norm_work::sums;
use super::CudaRunner;
use super::memory::{BatchBuffers, Tangents};
use super::passes::{conv_shapes, subsampled_shapes};
use crate::error::EngineError;
use crate::fused::FusedOp;
use crate::losses::Loss;
use crate::network::NodeId;

impl CudaRunner {
    /// For every norm a and b of its running statistics, and their tangents along the direction.
    pub(super) fn norms_along(&self, t: &Tangents) -> Result<(), EngineError> {
        self.running_norms()?;
        for step in &self.steps {
            let FusedOp::Norm { scale, shift, .. } = step.op else { continue };
            let (_, channels, _) = self.extent(step.output, 1);
            let kernel = kernels::NormDirection {
                vectors: self.memory.norms[&step.output],
                tscale: self.parameter(t.direction, scale),
                tshift: self.parameter(t.direction, shift),
                channels,
                along: t.norms[&step.output],
            };
            kernel.launch(&self.stream, false)?;
        }
        Ok(())
    }

    /// ẏ of every step, into `buffers`.
    pub(super) fn tangent(
        &self,
        t: &Tangents,
        buffers: &BatchBuffers,
        count: usize,
    ) -> Result<(), EngineError> {
        let (m, stream) = (&self.memory, &self.stream);
        for step in &self.steps {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let (tx, ty) = (buffers.values[step.input], buffers.values[step.output]);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let len = rows * channels;
            // The examples do not move.
            let moves = step.input != 0;
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let subsampled = self.subsampled(buffers, step.output);
                        let (shapes, x, tx) = match (subsampled_shapes(shapes), subsampled) {
                            (Some(smaller), Some((x, to))) => {
                                if moves {
                                    self.subsample(shapes, tx, to)?;
                                }
                                (smaller, x, to)
                            }
                            _ => (shapes, x, tx),
                        };
                        let (w, tw) = (m.copy.at() + offset, t.direction_copy + offset);
                        let both = [[tx, ty, w], [x, ty, tw]];
                        let of = if moves { &both[..] } else { &both[1..] };
                        self.convolve(Pass::Forward, false, shapes, of, false)?;
                    }
                }
                FusedOp::Norm { relu, .. } => {
                    let kernel = kernels::NormTangent {
                        x,
                        tx,
                        y,
                        tresidual: step.second.map_or(0, |node| buffers.values[node]),
                        vectors: m.norms[&step.output],
                        along: t.norms[&step.output],
                        relu,
                        eights: len / 8,
                        channels,
                        ty,
                    };
                    kernel.launch(stream, typed)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    kernels::Pool { x: tx, count, pixels, channels, y: ty }.launch(stream, true)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let [w, bias] = [weight, bias].map(|p| self.parameter(t.direction, p));
                    let (outputs, y) = (channels, ty);
                    kernels::Linear { x, w, bias, count, inputs, outputs, add: false, y }
                        .launch(stream, false)?;
                    if moves {
                        let (x, w, bias) = (tx, self.parameter(m.weights.at(), weight), 0);
                        kernels::Linear { x, w, bias, count, inputs, outputs, add: true, y }
                            .launch(stream, false)?;
                    }
                }
                FusedOp::Gelu => {
                    kernels::GeluBack { x, dy: tx, len, add: false, dx: ty }
                        .launch(stream, false)?;
                }
                FusedOp::Relu => {
                    kernels::ReluBack { y, dy: tx, len, add: false, dx: ty }
                        .launch(stream, typed)?;
                }
                FusedOp::Add => {
                    let b = step.second.map_or(0, |node| buffers.values[node]);
                    let kernel = kernels::Add { a: tx, b, len, y: ty };
                    kernel.launch(stream, typed)?;
                }
                FusedOp::Dropout { .. } => {
                    let kernel = kernels::Accumulate { from: tx, len, add: false, to: ty };
                    kernel.launch(stream, typed)?;
                }
            }
        }
        Ok(())
    }

    /// The input of a convolution of one pixel without the pixels that it steps over, and where that
    /// of its tangent goes.
    fn subsampled(&self, buffers: &BatchBuffers, output: NodeId) -> Option<(Pointer, Pointer)> {
        let own = self.memory.buffers.subsampled.get(&output)?;
        Some((*own, *buffers.subsampled.get(&output)?))
    }

    /// The tangent of the loss's gradient at the logits.
    pub(super) fn loss_tangent(
        &self,
        buffers: &BatchBuffers,
        count: usize,
    ) -> Result<(), EngineError> {
        let last = self.network.nodes().len() - 1;
        let kernel = kernels::LossTangent {
            kernel: match self.network.head().loss {
                Loss::CrossEntropy => LossTangentKernel::CrossEntropy,
                Loss::BinaryCrossEntropy => LossTangentKernel::BinaryCrossEntropy,
                Loss::Rps => LossTangentKernel::Rps,
            },
            z: self.value(last),
            tz: buffers.values[last],
            dz: self.gradient_of(last),
            count,
            over: self.memory.over.at(),
            width: self.network.classes(),
            tdz: buffers.gradients[last],
        };
        kernel.launch(&self.stream, false)
    }

    /// dẋ of every step, and the tangent of the gradient in the weights in the place of the gradient.
    pub(super) fn backward_tangent(
        &self,
        t: &Tangents,
        buffers: &BatchBuffers,
        count: usize,
    ) -> Result<(), EngineError> {
        let (m, stream) = (&self.memory, &self.stream);
        let mut written = vec![false; self.network.nodes().len()];
        for step in self.steps.iter().rev() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let tx = buffers.values[step.input];
            let dy = self.gradient_of(step.output);
            let (tdy, tdx) = (buffers.gradients[step.output], buffers.gradients[step.input]);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let len = rows * channels;
            let add = written[step.input];
            let moves = step.input != 0;
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let subsampled = self.subsampled(buffers, step.output);
                        let (by, x, tx) = match (subsampled_shapes(shapes), subsampled) {
                            (Some(smaller), Some((x, tx))) => (smaller, x, tx),
                            _ => (shapes, x, tx),
                        };
                        let (w, tw) = (m.copy.at() + offset, t.direction_copy + offset);
                        let dw = m.conv_gradient + offset;
                        let both = [[x, tdy, dw], [tx, dy, dw]];
                        let of = if moves { &both[..] } else { &both[..1] };
                        self.convolve(Pass::Weights, false, by, of, false)?;
                        if moves {
                            let both = [[tdx, tdy, w], [tdx, dy, tw]];
                            self.convolve(Pass::Backward, add, shapes, &both, false)?;
                        }
                    }
                }
                FusedOp::Norm { scale, shift, relu, .. } => {
                    let kernel = kernels::NormGradientsTangent {
                        x,
                        tx,
                        y,
                        dy,
                        tdy,
                        relu,
                        rows,
                        channels,
                        share: sums(rows, channels).share,
                        vectors: m.norms[&step.output],
                        dscale: self.parameter(m.gradient, scale),
                        dshift: self.parameter(m.gradient, shift),
                        partial: m.partial,
                        arrived: m.arrived,
                    };
                    kernel.launch(stream, typed)?;
                    let (residual, more) = match step.second {
                        Some(node) => (buffers.gradients[node], written[node]),
                        None => (0, false),
                    };
                    let kernel = kernels::NormBackTangent {
                        y,
                        dy,
                        tdy,
                        vectors: m.norms[&step.output],
                        along: t.norms[&step.output],
                        relu,
                        add,
                        add_residual: more,
                        eights: len / 8,
                        channels,
                        tdx,
                        tdresidual: residual,
                    };
                    kernel.launch(stream, typed)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let kernel =
                        kernels::PoolBack { dy: tdy, count, pixels, channels, add, dx: tdx };
                    kernel.launch(stream, true)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let outputs = channels;
                    let weights = |x, dy, add, dw, db| {
                        kernels::LinearBackWeights { x, dy, count, inputs, outputs, add, dw, db }
                            .launch(stream, false)
                    };
                    let back = |dy, w, add, dx| {
                        kernels::LinearBack { dy, w, count, inputs, outputs, add, dx }
                            .launch(stream, false)
                    };
                    let [w, tw] = [m.weights.at(), t.direction].map(|b| self.parameter(b, weight));
                    let [dw, db] = [weight, bias].map(|p| self.parameter(m.gradient, p));
                    weights(x, tdy, false, dw, db)?;
                    if moves {
                        weights(tx, dy, true, dw, 0)?;
                        back(tdy, w, add, tdx)?;
                        back(dy, tw, true, tdx)?;
                    }
                }
                FusedOp::Gelu => {
                    kernels::GeluBack { x, dy: tdy, len, add, dx: tdx }.launch(stream, false)?;
                    kernels::GeluSecondOrder { x, tx, dy, len, tdx }.launch(stream, false)?;
                }
                FusedOp::Relu => {
                    kernels::ReluBack { y, dy: tdy, len, add, dx: tdx }.launch(stream, typed)?;
                }
                FusedOp::Add | FusedOp::Dropout { .. } => {
                    kernels::Accumulate { from: tdy, len, add, to: tdx }.launch(stream, typed)?;
                    if let Some(node) = step.second {
                        let (add, to) =
                            (written[node] || node == step.input, buffers.gradients[node]);
                        kernels::Accumulate { from: tdy, len, add, to }.launch(stream, typed)?;
                    }
                }
            }
            written[step.input] = true;
            if let Some(node) = step.second {
                written[node] = true;
            }
        }
        Ok(())
    }
}
