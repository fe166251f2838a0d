//! The passes of a batch along a direction of the weights, and back: one batch of a Hessian-vector
//! product. Statistics do not move and dropout is off, so every layer is linear, bilinear or
//! piecewise linear (but for GELU), and a tangent pass is the layer's own pass, twice.
//!
//! They follow a forward and a backward pass of the same batch, in buffers where every node has a
//! gradient of its own, and change nothing there: for another direction they alone are repeated.

use super::super::kernels::{self, Kernel as _, input, output};
use super::super::launch::Pointer;
use super::super::norm_work::sums;
use super::CudaRunner;
use super::memory::{BatchBuffers, Tangents};
use super::passes::{conv_shapes, subsampled_shapes};
use crate::error::EngineError;
use crate::fused::FusedOp;
use crate::network::NodeId;

impl CudaRunner {
    /// For every norm a and b of its running statistics, and their tangents along the direction.
    pub(super) fn norms_along(&self, t: &Tangents) -> Result<(), EngineError> {
        let m = &self.memory;
        for step in &self.steps {
            let FusedOp::Norm { scale, shift, statistics, .. } = step.op else { continue };
            let (_, channels, _) = self.extent(step.output, 1);
            let vectors = m.norms[&step.output];
            let statistics = m.statistics + 4 * statistics as u64;
            let parameters = [scale, shift].map(|p| self.parameter(m.weights, p));
            self.norm_from_running(statistics, channels, parameters, vectors)?;
            let kernel = kernels::NormDirection {
                vectors: input(vectors),
                tscale: input(self.parameter(t.direction, scale)),
                tshift: input(self.parameter(t.direction, shift)),
                channels: channels as i32,
                along: output(t.norms[&step.output]),
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
        let m = &self.memory;
        for step in &self.steps {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let (tx, ty) = (buffers.values[step.input], buffers.values[step.output]);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let numbers = rows * channels;
            let len = numbers as i32;
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
                        let conv = &self.convs[&shapes];
                        if moves {
                            let w = m.copy + offset;
                            conv.forward(&self.handle, tx, w, ty, false, m.workspace)?;
                        }
                        let tw = t.direction_copy + offset;
                        conv.forward(&self.handle, x, tw, ty, moves, m.workspace)?;
                    }
                }
                FusedOp::Norm { relu, .. } => {
                    let kernel = kernels::NormTangent {
                        x: input(x),
                        tx: input(tx),
                        y: input(y),
                        tresidual: input(step.second.map_or(0, |node| buffers.values[node])),
                        vectors: input(m.norms[&step.output]),
                        along: input(t.norms[&step.output]),
                        relu: i32::from(relu),
                        eights: (numbers / 8) as i64,
                        channels: channels as i32,
                        ty: output(ty),
                    };
                    kernel.launch(&self.stream, typed)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    self.pool(tx, count, pixels, channels, ty)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let w = self.parameter(m.weights, weight);
                    let [tw, tb] = [weight, bias].map(|p| self.parameter(t.direction, p));
                    let sizes = (inputs, channels);
                    self.linear([x, tw, tb], count, sizes, false, ty)?;
                    if moves {
                        self.linear([tx, w, 0], count, sizes, true, ty)?;
                    }
                }
                FusedOp::Gelu => self.gelu_back(x, tx, len, false, ty)?,
                FusedOp::Relu => self.relu_back([y, tx], len, false, ty, typed)?,
                FusedOp::Add => {
                    let b = input(step.second.map_or(0, |node| buffers.values[node]));
                    let kernel = kernels::Add { a: input(tx), b, len, y: output(ty) };
                    kernel.launch(&self.stream, typed)?;
                }
                FusedOp::Dropout { .. } => self.accumulate(tx, len, false, ty, typed)?,
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
        let kernel = kernels::CrossEntropyTangent {
            z: input(self.value(last)),
            tz: input(buffers.values[last]),
            count: count as i32,
            over: input(self.memory.over),
            width: self.network.classes() as i32,
            tdz: output(buffers.gradients[last]),
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
        let m = &self.memory;
        let mut written = vec![false; self.network.nodes().len()];
        for step in self.steps.iter().rev() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let tx = buffers.values[step.input];
            let dy = self.gradient_of(step.output);
            let (tdy, tdx) = (buffers.gradients[step.output], buffers.gradients[step.input]);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let numbers = rows * channels;
            let len = numbers as i32;
            let add = written[step.input];
            let moves = step.input != 0;
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let conv = &self.convs[&shapes];
                        let (h, space) = (&self.handle, m.workspace);
                        let subsampled = self.subsampled(buffers, step.output);
                        let (by, x, tx) = match (subsampled_shapes(shapes), subsampled) {
                            (Some(smaller), Some((x, tx))) => (&self.convs[&smaller], x, tx),
                            _ => (conv, x, tx),
                        };
                        let (w, tw) = (m.copy + offset, t.direction_copy + offset);
                        let dw = m.conv_gradient + offset;
                        by.weights(h, x, tdy, dw, false, space)?;
                        if moves {
                            by.weights(h, tx, dy, dw, true, space)?;
                            conv.backward(h, tdy, w, tdx, add, space)?;
                            conv.backward(h, dy, tw, tdx, true, space)?;
                        }
                    }
                }
                FusedOp::Norm { scale, shift, relu, .. } => {
                    let kernel = kernels::NormGradientsTangent {
                        x: input(x),
                        tx: input(tx),
                        y: input(y),
                        dy: input(dy),
                        tdy: input(tdy),
                        relu: i32::from(relu),
                        rows: rows as i32,
                        channels: channels as i32,
                        share: sums(rows, channels).share as i32,
                        vectors: input(m.norms[&step.output]),
                        dscale: output(self.parameter(m.gradient, scale)),
                        dshift: output(self.parameter(m.gradient, shift)),
                        partial: output(m.partial),
                        arrived: output(m.arrived),
                    };
                    kernel.launch(&self.stream, typed)?;
                    let (residual, more) = match step.second {
                        Some(node) => (buffers.gradients[node], written[node]),
                        None => (0, false),
                    };
                    let kernel = kernels::NormBackTangent {
                        y: input(y),
                        dy: input(dy),
                        tdy: input(tdy),
                        vectors: input(m.norms[&step.output]),
                        along: input(t.norms[&step.output]),
                        relu: i32::from(relu),
                        add: i32::from(add),
                        add_residual: i32::from(more),
                        eights: (numbers / 8) as i64,
                        channels: channels as i32,
                        tdx: output(tdx),
                        tdresidual: output(residual),
                    };
                    kernel.launch(&self.stream, typed)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    self.pool_back(tdy, count, pixels, channels, add, tdx)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let sizes = (inputs, channels);
                    let [w, tw] = [m.weights, t.direction].map(|b| self.parameter(b, weight));
                    let [dw, db] = [weight, bias].map(|p| self.parameter(m.gradient, p));
                    self.linear_weights([x, tdy], count, sizes, false, [dw, db])?;
                    if moves {
                        self.linear_weights([tx, dy], count, sizes, true, [dw, 0])?;
                        self.linear_back([tdy, w], count, sizes, add, tdx)?;
                        self.linear_back([dy, tw], count, sizes, true, tdx)?;
                    }
                }
                FusedOp::Gelu => {
                    self.gelu_back(x, tdy, len, add, tdx)?;
                    let kernel = kernels::GeluSecondOrder {
                        x: input(x),
                        tx: input(tx),
                        dy: input(dy),
                        len,
                        tdx: output(tdx),
                    };
                    kernel.launch(&self.stream, false)?;
                }
                FusedOp::Relu => {
                    self.relu_back([y, tdy], len, add, tdx, typed)?;
                }
                FusedOp::Add | FusedOp::Dropout { .. } => {
                    self.accumulate(tdy, len, add, tdx, typed)?;
                    if let Some(node) = step.second {
                        let more = written[node] || node == step.input;
                        self.accumulate(tdy, len, more, buffers.gradients[node], typed)?;
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
