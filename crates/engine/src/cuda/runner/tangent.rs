//! The passes of a batch along a direction of the weights, and back: one batch of a Hessian-vector
//! product. Statistics do not move and dropout is off, so every layer is linear, bilinear or
//! piecewise linear (but for GELU), and a tangent pass is the layer's own pass, twice.
//!
//! They follow a forward and a backward pass of the same batch, in a room where every node has a
//! gradient of its own, and change nothing there: for another direction they alone are repeated.

use super::super::launch::{Arg, Pointer};
use super::memory::{Room, Tangents};
use super::passes::{conv_shapes, sums, thin_shapes};
use super::{CudaRunner, EPSILON};
use crate::error::EngineError;
use crate::fused::FusedOp;
use crate::network::NodeId;

use Arg::{Float, Int, Long, Pointer as At};

impl CudaRunner {
    /// For every norm a and b of its running statistics, and their tangents along the direction.
    pub(super) fn norms_along(&self, t: &Tangents) -> Result<(), EngineError> {
        let m = &self.memory;
        for step in &self.steps {
            let FusedOp::Norm { scale, shift, statistics, .. } = step.op else { continue };
            let (_, channels, _) = self.extent(step.output, 1);
            let (vectors, along) = (At(m.norms[&step.output]), At(t.norms[&step.output]));
            let own = At(m.statistics + 4 * statistics as u64);
            let wide = Int(channels as i32);
            let [g, b] = [scale, shift].map(|p| At(self.parameter(m.weights, p)));
            let args = [own, wide, Float(EPSILON), g, b, vectors];
            self.stream.each(false, "norm_fixed", channels, &args)?;
            let [tg, tb] = [scale, shift].map(|p| At(self.parameter(t.direction, p)));
            self.stream.each(false, "norm_along", channels, &[vectors, tg, tb, wide, along])?;
        }
        Ok(())
    }

    /// ẏ of every step, into `room`.
    pub(super) fn tangent(
        &self,
        t: &Tangents,
        room: &Room,
        count: usize,
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        for step in &self.steps {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let (tx, ty) = (At(room.values[step.input]), At(room.values[step.output]));
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let numbers = rows * channels;
            let len = Int(numbers as i32);
            // The examples do not move.
            let moves = step.input != 0;
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let (At(x), At(tx), At(ty)) = (x, tx, ty) else { continue };
                        let thinned = self.thinned(room, step.output);
                        let (shapes, x, tx) = match (thin_shapes(shapes), thinned) {
                            (Some(thin), Some((x, to))) => {
                                if moves {
                                    self.thin(shapes, tx, to)?;
                                }
                                (thin, x, to)
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
                    let (vectors, along) = (At(m.norms[&step.output]), At(t.norms[&step.output]));
                    let wide = Int(channels as i32);
                    let residual = At(step.second.map_or(0, |node| room.values[node]));
                    let eights = numbers / 8;
                    let args = [
                        x,
                        tx,
                        y,
                        residual,
                        vectors,
                        along,
                        Int(i32::from(relu)),
                        Long(eights as i64),
                        wide,
                        ty,
                    ];
                    self.stream.each(typed, "norm_tangent", eights, &args)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let (n, p, c) = (Int(count as i32), Int(pixels as i32), Int(channels as i32));
                    self.stream.each(true, "pool", count * channels, &[tx, n, p, c, ty])?;
                }
                FusedOp::Linear { weight, bias } => {
                    let w = At(self.parameter(m.weights, weight));
                    let [tw, tb] = [weight, bias].map(|p| At(self.parameter(t.direction, p)));
                    let (n, i, o) = (Int(count as i32), Int(inputs as i32), Int(channels as i32));
                    let threads = 32 * count * channels;
                    let args = [x, tw, tb, n, i, o, Int(0), ty];
                    self.stream.each(false, "linear", threads, &args)?;
                    if moves {
                        let args = [tx, w, At(0), n, i, o, Int(1), ty];
                        self.stream.each(false, "linear", threads, &args)?;
                    }
                }
                FusedOp::Gelu => {
                    let args = [x, tx, len, Int(0), ty];
                    self.stream.each(false, "gelu_back", numbers, &args)?;
                }
                FusedOp::Relu => {
                    let args = [y, tx, len, Int(0), ty];
                    self.stream.each(typed, "relu_mask", numbers, &args)?;
                }
                FusedOp::Add => {
                    let other = At(step.second.map_or(0, |node| room.values[node]));
                    self.stream.each(typed, "sum", numbers, &[tx, other, len, ty])?;
                }
                FusedOp::Dropout { .. } => {
                    self.stream.each(typed, "pass_on", numbers, &[tx, len, Int(0), ty])?;
                }
            }
        }
        Ok(())
    }

    /// The input of a convolution of one pixel without the pixels that it steps over, and where that
    /// of its tangent goes.
    fn thinned(&self, room: &Room, output: NodeId) -> Option<(Pointer, Pointer)> {
        Some((*self.memory.room.thin.get(&output)?, *room.thin.get(&output)?))
    }

    /// The tangent of the loss's gradient at the logits.
    pub(super) fn loss_tangent(&self, room: &Room, count: usize) -> Result<(), EngineError> {
        let last = self.network.nodes().len() - 1;
        let args = [
            self.value(last),
            At(room.values[last]),
            Int(count as i32),
            At(self.memory.over),
            Int(self.network.classes() as i32),
            At(room.gradients[last]),
        ];
        let blocks = count.div_ceil(32) as u32;
        self.stream.start(false, "cross_entropy_tangent", (blocks, 1), (32, 1), &args)
    }

    /// dẋ of every step, and the tangent of the gradient in the weights in the place of the gradient.
    pub(super) fn backward_tangent(
        &self,
        t: &Tangents,
        room: &Room,
        count: usize,
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        let mut written = vec![false; self.network.nodes().len()];
        for step in self.steps.iter().rev() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let tx = At(room.values[step.input]);
            let dy = At(self.gradient_of(step.output));
            let (tdy, tdx) = (At(room.gradients[step.output]), room.gradients[step.input]);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let numbers = rows * channels;
            let len = Int(numbers as i32);
            let add = written[step.input];
            let adding = Int(i32::from(add));
            let moves = step.input != 0;
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let conv = &self.convs[&shapes];
                        let (h, space) = (&self.handle, m.workspace);
                        let (At(x), At(tx), At(dy), At(tdy)) = (x, tx, dy, tdy) else { continue };
                        let thinned = self.thinned(room, step.output);
                        let (by, x, tx) = match (thin_shapes(shapes), thinned) {
                            (Some(thin), Some((x, tx))) => (&self.convs[&thin], x, tx),
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
                    let (vectors, along) = (At(m.norms[&step.output]), At(t.norms[&step.output]));
                    let cut = sums(rows, channels);
                    let (relu, wide) = (Int(i32::from(relu)), Int(channels as i32));
                    let [dg, db] = [scale, shift].map(|p| At(self.parameter(m.gradient, p)));
                    let args = [
                        x,
                        tx,
                        y,
                        dy,
                        tdy,
                        relu,
                        Int(rows as i32),
                        wide,
                        Int(cut.share as i32),
                        vectors,
                        dg,
                        db,
                        At(m.partial),
                        At(m.arrived),
                    ];
                    self.stream.start(typed, "norm_slopes_tangent", cut.grid, cut.block, &args)?;
                    let (residual, more) = match step.second {
                        Some(node) => (room.gradients[node], written[node]),
                        None => (0, false),
                    };
                    let eights = numbers / 8;
                    let args = [
                        y,
                        dy,
                        tdy,
                        vectors,
                        along,
                        relu,
                        adding,
                        Int(i32::from(more)),
                        Long(eights as i64),
                        wide,
                        At(tdx),
                        At(residual),
                    ];
                    self.stream.each(typed, "norm_back_tangent", eights, &args)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let (n, p, c) = (Int(count as i32), Int(pixels as i32), Int(channels as i32));
                    let args = [tdy, n, p, c, adding, At(tdx)];
                    self.stream.each(true, "pool_back", count * pixels * channels, &args)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let (n, i, o) = (Int(count as i32), Int(inputs as i32), Int(channels as i32));
                    let [w, tw] = [m.weights, t.direction].map(|b| At(self.parameter(b, weight)));
                    let [dw, db] = [weight, bias].map(|p| At(self.parameter(m.gradient, p)));
                    let threads = 32 * (inputs + 1) * channels;
                    let args = [x, tdy, n, i, o, Int(0), dw, db];
                    self.stream.each(false, "linear_back_weights", threads, &args)?;
                    if moves {
                        let args = [tx, dy, n, i, o, Int(1), dw, At(0)];
                        self.stream.each(false, "linear_back_weights", threads, &args)?;
                        let args = [tdy, w, n, i, o, adding, At(tdx)];
                        self.stream.each(false, "linear_back", count * inputs, &args)?;
                        let args = [dy, tw, n, i, o, Int(1), At(tdx)];
                        self.stream.each(false, "linear_back", count * inputs, &args)?;
                    }
                }
                FusedOp::Gelu => {
                    let args = [x, tdy, len, adding, At(tdx)];
                    self.stream.each(false, "gelu_back", numbers, &args)?;
                    let args = [x, tx, dy, len, At(tdx)];
                    self.stream.each(false, "gelu_bend", numbers, &args)?;
                }
                FusedOp::Relu => {
                    let args = [y, tdy, len, adding, At(tdx)];
                    self.stream.each(typed, "relu_mask", numbers, &args)?;
                }
                FusedOp::Add | FusedOp::Dropout { .. } => {
                    self.stream.each(typed, "pass_on", numbers, &[tdy, len, adding, At(tdx)])?;
                    if let Some(node) = step.second {
                        let more = Int(i32::from(written[node] || node == step.input));
                        let args = [tdy, len, more, At(room.gradients[node])];
                        self.stream.each(typed, "pass_on", numbers, &args)?;
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
