//! The backward pass of a batch.

use super::super::cudnn::Shapes;
use super::super::launch::{Arg, Begin, Pointer};
use super::CudaRunner;
use super::passes::{conv_shapes, over, sums, thin_shapes};
use crate::device::Mode;
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp};

use Arg::{Int, Pointer as At};

/// How far gradients go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// To the weights.
    Weights,
    /// To the weights, those of convolutions on a stream of their own.
    Beside,
    /// To what every step reads, but not to weights nor examples. Statistics have to be fixed.
    Values,
    /// To what every step reads and the examples, but not to weights. Likewise.
    Inputs,
}

impl CudaRunner {
    /// The first `steps` steps backward, after a forward pass in the same mode, as far as `reach`.
    pub(super) fn backward(
        &self,
        steps: usize,
        count: usize,
        mode: Mode,
        reach: Reach,
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        let weights = matches!(reach, Reach::Weights | Reach::Beside);
        let own = Int(i32::from(mode == Mode::Train));
        let main = &*self.stream.stream;
        let mut written = vec![false; self.network.nodes().len()];
        for (layer, step) in self.steps.iter().enumerate().take(steps).rev() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let dy = At(self.gradient_of(step.output));
            let dx = self.gradient_of(step.input);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let add = written[step.input];
            let adding = Int(i32::from(add));
            let numbers = rows * channels;
            let len = Int(numbers as i32);
            let wanted = step.input != 0 || reach == Reach::Inputs;
            if !matches!(step.op, FusedOp::Conv { .. }) {
                for node in std::iter::once(step.input).chain(step.second) {
                    self.side.free(main, self.slots.of[node])?;
                }
            }
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let conv = &self.convs[&shapes];
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let (At(x), At(dy)) = (x, dy) else { continue };
                        let dw = m.conv_gradient + offset;
                        let thinned = m.room.thin.get(&step.output);
                        let (by, from) = match (thin_shapes(shapes), thinned) {
                            (Some(thin), Some(&thinned)) => (&self.convs[&thin], thinned),
                            _ => (conv, x),
                        };
                        if reach == Reach::Beside {
                            self.side.follow(main)?;
                            let space = self.side.workspace;
                            by.weights(&self.side.handle, from, dy, dw, false, space)?;
                            self.side.has_read(self.slots.of[step.output])?;
                        } else if weights {
                            by.weights(&self.handle, from, dy, dw, false, m.workspace)?;
                        }
                        if wanted {
                            self.side.free(main, self.slots.of[step.input])?;
                            let w = m.copy + offset;
                            conv.backward(&self.handle, dy, w, dx, add, m.workspace)?;
                        }
                    }
                }
                FusedOp::Norm { scale, shift, relu, .. } => {
                    let vectors = At(m.norms[&step.output]);
                    let cut = sums(rows, channels);
                    let kernel = slopes_kernel(relu, step.second.is_some());
                    let (many, wide) = (Int(rows as i32), Int(channels as i32));
                    let [dg, db] = [scale, shift].map(|p| At(self.parameter(m.gradient, p)));
                    let args = [
                        x,
                        y,
                        dy,
                        own,
                        many,
                        wide,
                        Int(cut.share as i32),
                        vectors,
                        dg,
                        db,
                        At(m.partial),
                        At(m.arrived),
                    ];
                    // With fixed statistics nothing but the weights needs these sums.
                    if weights {
                        self.stream.start(typed, kernel, cut.grid, cut.block, &args)?;
                    }
                    let (residual, more) = match step.second {
                        Some(node) => (self.gradient_of(node), written[node]),
                        None => (0, false),
                    };
                    let begin = if weights { Begin::Early } else { Begin::After };
                    self.norm_back(step, count, [x, y, dy], (add, more), [dx, residual], begin)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let (n, p, c) = (Int(count as i32), Int(pixels as i32), Int(channels as i32));
                    let args = [dy, n, p, c, adding, At(dx)];
                    self.stream.each(true, "pool_back", count * pixels * channels, &args)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let (n, i, o) = (Int(count as i32), Int(inputs as i32), Int(channels as i32));
                    let w = At(self.parameter(m.weights, weight));
                    if wanted {
                        let args = [dy, w, n, i, o, adding, At(dx)];
                        self.stream.each(false, "linear_back", count * inputs, &args)?;
                    }
                    if weights {
                        self.linear_weights(x, dy, count, inputs, channels, (weight, bias))?;
                    }
                }
                FusedOp::Gelu => {
                    let args = [x, dy, len, adding, At(dx)];
                    self.stream.each(false, "gelu_back", numbers, &args)?;
                }
                FusedOp::Relu => {
                    let args = [y, dy, len, adding, At(dx)];
                    self.stream.each(typed, "relu_mask", numbers, &args)?;
                }
                FusedOp::Add => {
                    self.stream.each(typed, "pass_on", numbers, &[dy, len, adding, At(dx)])?;
                    written[step.input] = true;
                    if let Some(node) = step.second {
                        let more = Int(i32::from(written[node]));
                        let args = [dy, len, more, At(self.gradient_of(node))];
                        self.stream.each(typed, "pass_on", numbers, &args)?;
                    }
                }
                FusedOp::Dropout { rate } => {
                    let rate = if mode == Mode::Eval { 0.0 } else { rate };
                    self.drop_out(layer, rate, dy, numbers, add, At(dx))?;
                }
            }
            written[step.input] = true;
            if let Some(node) = step.second {
                written[node] = true;
            }
        }
        self.side.join(main)
    }

    /// The pixels that a convolution of one pixel looks at, without those that it steps over.
    pub(super) fn thin(
        &self,
        shapes: Shapes,
        from: Pointer,
        to: Pointer,
    ) -> Result<(), EngineError> {
        let Shapes { count, height, width, inputs, stride, .. } = shapes;
        let eights = count * height.div_ceil(stride) * width.div_ceil(stride) * inputs / 8;
        let sizes = [count, height, width, inputs, stride].map(|n| Int(n as i32));
        let [n, h, w, c, s] = sizes;
        self.stream.each(true, "thin", eights, &[At(from), n, h, w, c, s, At(to)])
    }

    /// The gradient at a norm's input, and at what is added behind it.
    pub(super) fn norm_back(
        &self,
        step: &Fused,
        count: usize,
        [x, y, dy]: [Arg; 3],
        (add, more): (bool, bool),
        [dx, residual]: [Pointer; 2],
        begin: Begin,
    ) -> Result<(), EngineError> {
        let FusedOp::Norm { relu, .. } = step.op else { return Ok(()) };
        let (rows, channels, typed) = self.extent(step.output, count);
        let (grid, block) = over(rows, channels, 8 / self.size());
        let kernel = back_kernel(relu, step.second.is_some(), add || more);
        let args = [
            x,
            y,
            dy,
            At(self.memory.norms[&step.output]),
            Int(i32::from(add)),
            Int(i32::from(more)),
            Int(rows as i32),
            Int(channels as i32),
            At(dx),
            At(residual),
        ];
        self.stream.begin(begin, typed, kernel, (grid, block), &args)
    }
}

/// The kernel that sums a norm's gradients. Where they pass is seen from the input alone, or with
/// something added, from the output.
fn slopes_kernel(relu: bool, residual: bool) -> &'static str {
    match (relu, residual) {
        (false, _) => "norm_slopes_all",
        (true, false) => "norm_slopes_own",
        (true, true) => "norm_slopes_out",
    }
}

fn back_kernel(relu: bool, residual: bool, adds: bool) -> &'static str {
    match (relu, residual, adds) {
        (true, false, false) => "norm_back_own",
        (true, false, true) => "norm_back_own_adds",
        (true, true, false) => "norm_back_out_sum",
        (true, true, true) => "norm_back_out_sum_adds",
        (false, false, false) => "norm_back_all",
        (false, false, true) => "norm_back_all_adds",
        (false, true, _) => "norm_back_all_sum_adds",
    }
}
