//! The backward pass of a batch.

use super::super::cudnn::Shapes;
use super::super::kernels::{self, Kernel as _, NormBackKind, ReluMask, input, output};
use super::super::launch::{Begin, Pointer};
use super::super::norm_work::sums;
use super::CudaRunner;
use super::passes::{conv_shapes, subsampled_shapes};
use crate::device::Mode;
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp};

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
        let main = &*self.stream.stream;
        let mut written = vec![false; self.network.nodes().len()];
        for (layer, step) in self.steps.iter().enumerate().take(steps).rev() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let dy = self.gradient_of(step.output);
            let dx = self.gradient_of(step.input);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let add = written[step.input];
            let numbers = rows * channels;
            let len = numbers as i32;
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
                        let dw = m.conv_gradient + offset;
                        let subsampled = m.buffers.subsampled.get(&step.output);
                        let (by, from) = match (subsampled_shapes(shapes), subsampled) {
                            (Some(smaller), Some(&from)) => (&self.convs[&smaller], from),
                            _ => (conv, x),
                        };
                        if reach == Reach::Beside {
                            self.side.wait_for_main(main)?;
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
                    let kernel = kernels::NormGradients {
                        kernel: relu_mask(relu, step.second.is_some()),
                        x: input(x),
                        y: input(y),
                        dy: input(dy),
                        own: i32::from(mode == Mode::Train),
                        rows: rows as i32,
                        channels: channels as i32,
                        share: sums(rows, channels).share as i32,
                        vectors: output(m.norms[&step.output]),
                        dscale: output(self.parameter(m.gradient, scale)),
                        dshift: output(self.parameter(m.gradient, shift)),
                        partial: output(m.partial),
                        arrived: output(m.arrived),
                    };
                    // With fixed statistics nothing but the weights needs these sums.
                    if weights {
                        kernel.launch(&self.stream, typed)?;
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
                    self.pool_back(dy, count, pixels, channels, add, dx)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let sizes = (inputs, channels);
                    if wanted {
                        let w = self.parameter(m.weights, weight);
                        self.linear_back([dy, w], count, sizes, add, dx)?;
                    }
                    if weights {
                        let to = [weight, bias].map(|p| self.parameter(m.gradient, p));
                        self.linear_weights([x, dy], count, sizes, false, to)?;
                    }
                }
                FusedOp::Gelu => {
                    self.gelu_back(x, dy, len, add, dx)?;
                }
                FusedOp::Relu => {
                    self.relu_back([y, dy], len, add, dx, typed)?;
                }
                FusedOp::Add => {
                    self.accumulate(dy, len, add, dx, typed)?;
                    written[step.input] = true;
                    if let Some(node) = step.second {
                        self.accumulate(dy, len, written[node], self.gradient_of(node), typed)?;
                    }
                }
                FusedOp::Dropout { rate } => {
                    let rate = if mode == Mode::Eval { 0.0 } else { rate };
                    self.drop_out(layer, rate, dy, numbers, add, dx)?;
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
    pub(super) fn subsample(
        &self,
        shapes: Shapes,
        from: Pointer,
        to: Pointer,
    ) -> Result<(), EngineError> {
        let kernel = kernels::Subsample {
            x: input(from),
            count: shapes.count as i32,
            height: shapes.height as i32,
            width: shapes.width as i32,
            channels: shapes.inputs as i32,
            stride: shapes.stride as i32,
            y: output(to),
        };
        kernel.launch(&self.stream, true)
    }

    pub(super) fn pool_back(
        &self,
        dy: Pointer,
        count: usize,
        pixels: usize,
        channels: usize,
        add: bool,
        dx: Pointer,
    ) -> Result<(), EngineError> {
        let kernel = kernels::PoolBack {
            dy: input(dy),
            count: count as i32,
            pixels: pixels as i32,
            channels: channels as i32,
            add: i32::from(add),
            dx: output(dx),
        };
        kernel.launch(&self.stream, true)
    }

    /// dx (+)= dy·Wᵀ.
    pub(super) fn linear_back(
        &self,
        [dy, w]: [Pointer; 2],
        count: usize,
        (inputs, outputs): (usize, usize),
        add: bool,
        dx: Pointer,
    ) -> Result<(), EngineError> {
        let kernel = kernels::LinearBack {
            dy: input(dy),
            w: input(w),
            count: count as i32,
            inputs: inputs as i32,
            outputs: outputs as i32,
            add: i32::from(add),
            dx: output(dx),
        };
        kernel.launch(&self.stream, false)
    }

    /// dx (+)= dy·g′(x) of GELU.
    pub(super) fn gelu_back(
        &self,
        x: Pointer,
        dy: Pointer,
        len: i32,
        add: bool,
        dx: Pointer,
    ) -> Result<(), EngineError> {
        let (x, dy, dx) = (input(x), input(dy), output(dx));
        kernels::GeluBack { x, dy, len, add: i32::from(add), dx }.launch(&self.stream, false)
    }

    /// dx (+)= dy where y > 0.
    pub(super) fn relu_back(
        &self,
        [y, dy]: [Pointer; 2],
        len: i32,
        add: bool,
        dx: Pointer,
        typed: bool,
    ) -> Result<(), EngineError> {
        let (y, dy, dx) = (input(y), input(dy), output(dx));
        kernels::ReluBack { y, dy, len, add: i32::from(add), dx }.launch(&self.stream, typed)
    }

    /// to (+)= from.
    pub(super) fn accumulate(
        &self,
        from: Pointer,
        len: i32,
        add: bool,
        to: Pointer,
        typed: bool,
    ) -> Result<(), EngineError> {
        let (from, to) = (input(from), output(to));
        kernels::Accumulate { from, len, add: i32::from(add), to }.launch(&self.stream, typed)
    }

    /// The gradient at a norm's input, and at what is added behind it.
    pub(super) fn norm_back(
        &self,
        step: &Fused,
        count: usize,
        [x, y, dy]: [Pointer; 3],
        (add, more): (bool, bool),
        [dx, residual]: [Pointer; 2],
        begin: Begin,
    ) -> Result<(), EngineError> {
        let FusedOp::Norm { relu, .. } = step.op else { return Ok(()) };
        let (rows, channels, typed) = self.extent(step.output, count);
        let kernel = kernels::NormBack {
            kernel: norm_back_kind(relu, step.second.is_some(), add || more),
            x: input(x),
            y: input(y),
            dy: input(dy),
            vectors: input(self.memory.norms[&step.output]),
            add: i32::from(add),
            add_residual: i32::from(more),
            rows: rows as i32,
            channels: channels as i32,
            dx: output(dx),
            dresidual: output(residual),
        };
        self.stream.launch(&kernel, typed, begin)
    }
}

/// How the kernel that sums a norm's gradients knows where they pass the ReLU: from the input alone,
/// or where something was added, from the output.
fn relu_mask(relu: bool, residual: bool) -> ReluMask {
    match (relu, residual) {
        (false, _) => ReluMask::None,
        (true, false) => ReluMask::FromInput,
        (true, true) => ReluMask::FromOutput,
    }
}

fn norm_back_kind(relu: bool, residual: bool, adds: bool) -> NormBackKind {
    match (relu, residual, adds) {
        (true, false, false) => NormBackKind::Relu,
        (true, false, true) => NormBackKind::ReluAdds,
        (true, true, false) => NormBackKind::ReluSum,
        (true, true, true) => NormBackKind::ReluSumAdds,
        (false, false, false) => NormBackKind::NoRelu,
        (false, false, true) => NormBackKind::NoReluAdds,
        (false, true, _) => NormBackKind::NoReluSumAdds,
    }
}
