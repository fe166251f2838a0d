//! Convolution, 3×3 or 1×1, stride 1 or 2: y\[p\] = Σ_t x\[s·p + t\]·W\[t\].
//!
//! Backward, dx\[q\] = Σ dy\[p\]·W\[t\]ᵀ over all p, t with s·p + t = q: input pixels of one parity see
//! the same taps, so each parity is one product. dW\[t\] = Σ_p x\[s·p + t\]ᵀ dy\[p\]. The operation is
//! bilinear in (x, W), so its tangents are sums of the same three products.

use crate::cpu::frame::Frame;
use crate::cpu::team::Team;
use crate::scalar::Real;

use super::tile::{Gather, Outer, Rows, Tap, gather, outer};
use super::{Into, transpose};

/// The offsets of a convolution, made once.
pub(crate) struct Conv {
    input: Frame,
    output: Frame,
    taps: Vec<Tap>,
    /// For every output pixel: the input pixel under the kernel's middle, and its own place.
    from: Vec<u32>,
    to: Vec<u32>,
    parities: Vec<Parity>,
}

/// Input pixels of one parity, and the output pixels and taps that reach them.
struct Parity {
    to: Vec<u32>,
    from: Vec<u32>,
    taps: Vec<Tap>,
}

impl Conv {
    pub(crate) fn new(input: Frame, output: Frame, kernel: usize, stride: usize) -> Self {
        let pad = kernel as isize / 2;
        let (inputs, outputs) = (input.channels, output.channels);
        let size = inputs * outputs;
        let sides = || (0..kernel).flat_map(move |ky| (0..kernel).map(move |kx| (ky, kx)));
        let shift = |frame: &Frame, dy: isize, dx: isize| {
            dy * frame.pitch() as isize + dx * frame.channels as isize
        };
        let taps = sides()
            .map(|(ky, kx)| Tap {
                shift: shift(&input, ky as isize - pad, kx as isize - pad),
                weights: (ky * kernel + kx) * size,
            })
            .collect();
        let pixels = |frame: Frame| {
            (0..frame.height).flat_map(move |y| (0..frame.width).map(move |x| (y, x)))
        };
        let from = pixels(output).map(|(y, x)| input.at(y * stride, x * stride) as u32).collect();
        let to = pixels(output).map(|(y, x)| output.at(y, x) as u32).collect();

        // A tap (ky, kx) leads from input q to output (q + pad − k) / stride, if that is whole.
        let step = stride as isize;
        let mut parities = Vec::new();
        for (py, px) in (0..stride).flat_map(|py| (0..stride).map(move |px| (py, px))) {
            let reach = |parity: usize, k: usize| {
                let moved = parity as isize + pad - k as isize;
                (moved.rem_euclid(step) == 0).then_some(moved.div_euclid(step))
            };
            let taps = sides()
                .filter_map(|(ky, kx)| {
                    let (dy, dx) = (reach(py, ky)?, reach(px, kx)?);
                    let weights = (ky * kernel + kx) * size;
                    Some(Tap { shift: shift(&output, dy, dx), weights })
                })
                .collect();
            let own = || pixels(input).filter(move |(y, x)| y % stride == py && x % stride == px);
            parities.push(Parity {
                to: own().map(|(y, x)| input.at(y, x) as u32).collect(),
                from: own().map(|(y, x)| output.at(y / stride, x / stride) as u32).collect(),
                taps,
            });
        }
        Self { input, output, taps, from, to, parities }
    }

    fn inputs(&self, count: usize) -> Rows<'_> {
        Rows { positions: &self.from, stride: self.input.stride(), count }
    }

    fn outputs(&self, count: usize) -> Rows<'_> {
        Rows { positions: &self.to, stride: self.output.stride(), count }
    }

    /// y (+)= x∗W.
    pub(crate) fn forward<F: Real>(
        &self,
        team: &Team,
        count: usize,
        x: &[F],
        weights: &[F],
        y: Into<'_, F>,
    ) {
        let product = Gather {
            input: x,
            from: self.inputs(count),
            taps: &self.taps,
            depth: self.input.channels,
            weights,
            columns: self.output.channels,
            to: self.outputs(count),
            accumulate: y.add,
        };
        gather(team, &product, y.out);
    }

    /// dx (+)= dy∗Wᵀ; `scratch` is as long as the weights.
    pub(crate) fn backward_input<F: Real>(
        &self,
        team: &Team,
        count: usize,
        dy: &[F],
        weights: &[F],
        scratch: &mut [F],
        dx: Into<'_, F>,
    ) {
        let (inputs, outputs) = (self.input.channels, self.output.channels);
        let size = inputs * outputs;
        for (from, to) in weights.chunks(size).zip(scratch.chunks_mut(size)) {
            transpose(team, from, inputs, outputs, to);
        }
        for parity in &self.parities {
            let product = Gather {
                input: dy,
                from: Rows { positions: &parity.from, stride: self.output.stride(), count },
                taps: &parity.taps,
                depth: outputs,
                weights: scratch,
                columns: inputs,
                to: Rows { positions: &parity.to, stride: self.input.stride(), count },
                accumulate: dx.add,
            };
            gather(team, &product, dx.out);
        }
    }

    /// dW += xᵀ∗dy.
    pub(crate) fn backward_weights<F: Real>(
        &self,
        team: &Team,
        count: usize,
        x: &[F],
        dy: &[F],
        dw: &mut [F],
    ) {
        let product = Outer {
            input: x,
            from: self.inputs(count),
            taps: &self.taps,
            depth: self.input.channels,
            gradient: dy,
            at: self.outputs(count),
            columns: self.output.channels,
        };
        outer(team, &product, dw);
    }
}
