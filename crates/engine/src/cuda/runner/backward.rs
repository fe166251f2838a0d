//! The backward pass of a batch.

use super::super::cudnn::{Pass, Shapes};
use super::super::hopper::{After, On, Way};
use super::super::kernels::{self, Kernel as _, NormBackKind, ReluMask};
use super::super::launch::{Begin, Pointer};
use super::super::norm_work::sums;
use super::CudaRunner;
use super::passes::{conv_shapes, subsampled_shapes};
use crate::device::Mode;
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp};
use crate::network::ParameterId;

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
        let (m, stream) = (&self.memory, &self.stream);
        let weights = matches!(reach, Reach::Weights | Reach::Beside);
        let main = &*self.stream.stream;
        let mut written = vec![false; self.network.nodes().len()];
        // Curvature keeps these gradients, and they must be the same whether the weights' are asked for.
        let trains = weights && mode != Mode::Eval;
        // The convolutions whose weights' gradients are made beside, and are used when nothing reads the
        // weights any more.
        let mut moved = Vec::new();
        // Beside, kernels also wait for the other stream.
        let early = reach != Reach::Beside;
        for (layer, step) in self.steps.iter().enumerate().take(steps).rev() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let dy = self.gradient_of(step.output);
            let dx = self.gradient_of(step.input);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let add = written[step.input];
            let len = rows * channels;
            let wanted = step.input != 0 || reach == Reach::Inputs;
            if !matches!(step.op, FusedOp::Conv { .. }) {
                for node in std::iter::once(step.input).chain(step.second) {
                    self.side.free(main, self.slots.of[node])?;
                }
            }
            match step.op {
                // Done with another before it.
                FusedOp::Conv { .. } if trains && self.in_pair(layer, count) => {
                    continue;
                }
                FusedOp::Conv { weight, .. } => {
                    let pair = self.pair(layer, count).filter(|_| trains);
                    if reach == Reach::Beside {
                        self.side.wait_for_main(main)?;
                        self.update_beside(reach, &moved)?;
                        moved = pair.map_or(vec![weight], |pair| pair.weights().to_vec());
                    }
                    if let Some(pair) = pair {
                        self.pair_backward(&pair, count, mode, reach)?;
                    } else if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let ours = self.ours(&shapes).filter(|_| trains);
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let dw = m.conv_gradient + offset;
                        let subsampled = m.buffers.subsampled.get(&step.output);
                        let (by, from) = match (subsampled_shapes(shapes), subsampled) {
                            (Some(smaller), Some(&from)) => (smaller, from),
                            _ => (shapes, x),
                        };
                        let stem = self.stem(&shapes).filter(|_| trains);
                        let beside = reach == Reach::Beside;
                        let stream = if beside { &self.side.stream } else { &self.stream.stream };
                        let (on, at) = (On { stream, early }, [x, dy, dw, m.weight_sums]);
                        if let Some((hopper, size)) = ours {
                            hopper.weights(on, size, count, at)?;
                        } else if let Some(hopper) = stem {
                            hopper.stem_weights(on, count, at)?;
                        } else if weights {
                            self.convolve(Pass::Weights, false, by, &[[from, dy, dw]], beside)?;
                        }
                        if reach == Reach::Beside {
                            self.side.has_read(self.slots.of[step.output])?;
                        }
                        if wanted {
                            self.side.free(main, self.slots.of[step.input])?;
                            let w = m.copy.at() + offset;
                            if let Some((hopper, size)) = ours
                                && let Some(norm) = self.norm_before(layer)
                            {
                                let after = self.gradients_after(norm, mode, add);
                                let own = norm.second.is_none() && !add;
                                let way = if own { Way::BackOwn } else { Way::BackOut };
                                let on = On { stream: &self.stream.stream, early };
                                hopper.convolve(on, (size, way), count, [dy, w], &after)?;
                                written[step.input] = true;
                                continue;
                            }
                            self.convolve(Pass::Backward, add, shapes, &[[dx, dy, w]], false)?;
                        }
                    }
                }
                FusedOp::Norm { scale, shift, relu, .. } => {
                    let kernel = kernels::NormGradients {
                        kernel: relu_mask(relu, step.second.is_some()),
                        x,
                        y,
                        dy,
                        own: mode == Mode::Train,
                        rows,
                        channels,
                        share: sums(rows, channels).share,
                        vectors: m.norms[&step.output],
                        dscale: self.parameter(m.gradient, scale),
                        dshift: self.parameter(m.gradient, shift),
                        partial: m.partial,
                        arrived: m.arrived,
                    };
                    let made = trains && self.gradients_made(step, count);
                    // With fixed statistics nothing but the weights needs these sums.
                    if weights && !made {
                        kernel.launch(stream, typed)?;
                    }
                    let (residual, more) = match step.second {
                        Some(node) => (self.gradient_of(node), written[node]),
                        None => (0, false),
                    };
                    let early = if made { early } else { weights };
                    let begin = if early { Begin::Early } else { Begin::After };
                    let how = [add, more, made];
                    self.norm_back(step, count, [x, y, dy], how, [dx, residual], begin)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let kernel = kernels::PoolBack { dy, count, pixels, channels, add, dx };
                    kernel.launch(stream, true)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let outputs = channels;
                    if wanted {
                        let w = self.parameter(m.weights.at(), weight);
                        let kernel = kernels::LinearBack { dy, w, count, inputs, outputs, add, dx };
                        kernel.launch(stream, false)?;
                    }
                    if weights {
                        let [dw, db] = [weight, bias].map(|p| self.parameter(m.gradient, p));
                        let add = false;
                        kernels::LinearBackWeights { x, dy, count, inputs, outputs, add, dw, db }
                            .launch(stream, false)?;
                    }
                }
                FusedOp::Gelu => {
                    kernels::GeluBack { x, dy, len, add, dx }.launch(stream, false)?;
                }
                FusedOp::Relu => {
                    kernels::ReluBack { y, dy, len, add, dx }.launch(stream, typed)?;
                }
                FusedOp::Add => {
                    kernels::Accumulate { from: dy, len, add, to: dx }.launch(stream, typed)?;
                    written[step.input] = true;
                    if let Some(node) = step.second {
                        let (add, to) = (written[node], self.gradient_of(node));
                        kernels::Accumulate { from: dy, len, add, to }.launch(stream, typed)?;
                    }
                }
                FusedOp::Dropout { rate } => {
                    let rate = if mode == Mode::Eval { 0.0 } else { rate };
                    self.drop_out(layer, rate, dy, len, add, dx)?;
                }
            }
            written[step.input] = true;
            if let Some(node) = step.second {
                written[node] = true;
            }
        }
        if reach == Reach::Beside {
            self.side.wait_for_main(main)?;
            self.update_beside(reach, &moved)?;
        }
        self.side.join(main)
    }

    /// Moves the weights of these convolutions on the side.
    fn update_beside(&self, reach: Reach, moved: &[ParameterId]) -> Result<(), EngineError> {
        for &weight in moved.iter().filter(|_| self.updates_beside(reach)) {
            let place = self.places.of[weight];
            self.update_conv(&self.side.stream, place.offset, place.len)?;
        }
        Ok(())
    }

    /// The pixels that a convolution of one pixel looks at, without those that it steps over.
    pub(super) fn subsample(
        &self,
        shapes: Shapes,
        from: Pointer,
        to: Pointer,
    ) -> Result<(), EngineError> {
        let kernel = kernels::Subsample {
            x: from,
            count: shapes.count,
            height: shapes.height,
            width: shapes.width,
            channels: shapes.inputs,
            stride: shapes.stride,
            y: to,
        };
        kernel.launch(&self.stream, true)
    }

    /// The norm with a ReLU whose output this convolution reads, before any other step does: the gradient
    /// there is whole when it has gone back through the convolution.
    pub(super) fn norm_before(&self, conv: usize) -> Option<&Fused> {
        let node = self.steps[conv].input;
        let reads = |step: &Fused| step.input == node || step.second == Some(node);
        let first = self.steps.iter().position(reads) == Some(conv);
        self.steps.iter().find(|step| {
            first && step.output == node && matches!(step.op, FusedOp::Norm { relu: true, .. })
        })
    }

    /// What is done with the gradient of a norm's output: masked, and summed for the norm's own.
    pub(super) fn gradients_after(&self, norm: &Fused, mode: Mode, add: bool) -> After {
        let m = &self.memory;
        let FusedOp::Norm { scale, shift, .. } = norm.op else { return After::default() };
        After {
            out: self.gradient_of(norm.output),
            x: self.value(norm.input),
            mask: self.mask(norm),
            vectors: m.norms[&norm.output],
            dscale: self.parameter(m.gradient, scale),
            dshift: self.parameter(m.gradient, shift),
            partial: m.partial,
            arrived: m.arrived,
            add: i32::from(add),
            own: i32::from(mode == Mode::Train),
            ..After::default()
        }
    }

    /// Whether a convolution of ours masks and sums the gradients of this norm.
    fn gradients_made(&self, norm: &Fused, count: usize) -> bool {
        let conv = self.steps.iter().position(|step| step.input == norm.output);
        conv.is_some_and(|conv| self.convolves(conv, count) && self.norm_before(conv) == Some(norm))
    }

    /// The gradient at a norm's input, and at what is added behind it; `masked`: it knows already where
    /// the ReLU lets it pass.
    pub(super) fn norm_back(
        &self,
        step: &Fused,
        count: usize,
        [x, y, dy]: [Pointer; 3],
        [add, more, masked]: [bool; 3],
        [dx, residual]: [Pointer; 2],
        begin: Begin,
    ) -> Result<(), EngineError> {
        let FusedOp::Norm { relu, .. } = step.op else { return Ok(()) };
        let (rows, channels, typed) = self.extent(step.output, count);
        let relu = relu && !masked;
        // In place, what passes everywhere is there already.
        let sum = step.second.is_some() && (relu || residual != dy);
        let kernel = kernels::NormBack {
            kernel: norm_back_kind(relu, sum, add || more),
            x,
            y,
            dy,
            vectors: self.memory.norms[&step.output],
            fresh: masked,
            add,
            add_residual: more,
            rows,
            channels,
            dx,
            dresidual: residual,
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
