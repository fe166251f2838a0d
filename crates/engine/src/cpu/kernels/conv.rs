//! Convolution, 3×3 or 1×1, stride 1 or 2: y\[p\] = Σ_t x\[s·p + t\]·W\[t\].
//!
//! Backward, dx\[q\] = Σ dy\[p\]·W\[t\]ᵀ over all p, t with s·p + t = q: input pixels of one parity see
//! the same taps, so each parity is one product. dW\[t\] = Σ_p x\[s·p + t\]ᵀ dy\[p\]. The operation is
//! bilinear in (x, W), so its tangents are sums of the same three products.

use crate::cpu::frame::Frame;
use crate::cpu::team::Team;
use crate::scalar::Real;

use super::tile::{Gather, Outer, Rows, Tap, gather, outer};
use super::winograd::{Scratch, Winograd};
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
    /// The faster way, where it pays: for outputs and weights, and for the gradient in the input.
    winograd: Option<(Winograd, Winograd)>,
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
        let fast = Winograd::new(input, output).filter(|_| (kernel, stride) == (3, 1));
        let winograd = fast.and_then(|fast| fast.turned().map(|turned| (fast, turned)));
        Self { input, output, taps, from, to, parities, winograd }
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
        scratch: &mut Scratch<F>,
        y: Into<'_, F>,
    ) {
        if let Some((fast, _)) = &self.winograd {
            return fast.forward(team, count, x, weights, false, scratch.tiles().1, y);
        }
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

    /// dx (+)= dy∗Wᵀ.
    pub(crate) fn backward_input<F: Real>(
        &self,
        team: &Team,
        count: usize,
        dy: &[F],
        weights: &[F],
        scratch: &mut Scratch<F>,
        dx: Into<'_, F>,
    ) {
        let (inputs, outputs) = (self.input.channels, self.output.channels);
        let size = inputs * outputs;
        let (transposed, tiles) = scratch.tiles();
        let transposed = Scratch::room(transposed, weights.len());
        for (from, to) in weights.chunks(size).zip(transposed.chunks_mut(size)) {
            transpose(team, from, inputs, outputs, to);
        }
        if let Some((_, fast)) = &self.winograd {
            return fast.forward(team, count, dy, transposed, true, tiles, dx);
        }
        for parity in &self.parities {
            let product = Gather {
                input: dy,
                from: Rows { positions: &parity.from, stride: self.output.stride(), count },
                taps: &parity.taps,
                depth: outputs,
                weights: transposed,
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
        scratch: &mut Scratch<F>,
        dw: &mut [F],
    ) {
        if let Some((fast, _)) = &self.winograd {
            return fast.backward_weights(team, count, x, dy, scratch.tiles().1, dw);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Shape;
    use dissensus_core::philox::Stream;

    fn noise<F: Real>(seed: u64, len: usize) -> Vec<F> {
        let mut stream = Stream::new([seed, 0], [0, 0, 0]);
        (0..len).map(|_| F::of(stream.normal())).collect()
    }

    /// Maps of normal numbers with a border of zeros.
    fn maps<F: Real>(seed: u64, frame: Frame, count: usize) -> Vec<F> {
        let mut out = vec![F::ZERO; count * frame.stride()];
        let values = noise(seed, count * frame.pixels() * frame.channels);
        let mut values = values.into_iter();
        for example in out.chunks_mut(frame.stride()) {
            for row in frame.rows() {
                example[row].iter_mut().for_each(|to| *to = values.next().unwrap());
            }
        }
        out
    }

    /// Output, gradient in the input and gradient in the weights.
    fn passes<F: Real>(conv: &Conv, count: usize, threads: usize) -> [Vec<F>; 3] {
        let team = Team::new(threads).unwrap();
        let (input, output) = (conv.input, conv.output);
        let (x, dy) = (maps(1, input, count), maps(2, output, count));
        let weights: Vec<F> = noise(3, 9 * input.channels * output.channels);
        let mut scratch = Scratch::new();
        let (mut y, mut dx, mut dw) =
            (maps(4, output, count), maps(5, input, count), weights.clone());
        // Adding to what is there, so that this is seen, too.
        let into = Into { out: &mut y, add: true };
        conv.forward(&team, count, &x, &weights, &mut scratch, into);
        let into = Into { out: &mut dx, add: true };
        conv.backward_input(&team, count, &dy, &weights, &mut scratch, into);
        conv.backward_weights(&team, count, &x, &dy, &mut scratch, &mut dw);
        [y, dx, dw]
    }

    fn off<F: Real>(ours: &[F], exact: &[f64]) -> f64 {
        let size = exact.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let pairs = ours.iter().zip(exact);
        pairs.fold(0.0f64, |a, (x, y)| a.max((x.wide() - y).abs())) / size
    }

    #[test]
    fn the_fast_way_gives_what_the_plain_one_gives() {
        for (height, width, inputs, outputs, count) in
            [(4, 6, 32, 48, 3), (2, 2, 64, 32, 40), (16, 8, 32, 32, 5)]
        {
            let frame = |channels| Frame::new(Shape::Map { height, width, channels });
            let fast = Conv::new(frame(inputs), frame(outputs), 3, 1);
            assert!(fast.winograd.is_some(), "the fast way is not taken");
            let plain = Conv { winograd: None, ..Conv::new(frame(inputs), frame(outputs), 3, 1) };
            let exact = passes::<f64>(&plain, count, 1);
            for (ours, exact) in passes::<f64>(&fast, count, 1).iter().zip(&exact) {
                assert!(off(ours, exact) < 1e-14, "off by {:e}", off(ours, exact));
            }
            let single = passes::<f32>(&fast, count, 1);
            for (ours, exact) in single.iter().zip(&exact) {
                assert!(off(ours, exact) < 2e-6, "f32 off by {:e}", off(ours, exact));
            }
            assert!(single == passes::<f32>(&fast, count, 3), "threads change the result");
        }
    }

    #[test]
    fn it_is_not_taken_where_it_does_not_fit() {
        let frame = |height, channels| Frame::new(Shape::Map { height, width: 8, channels });
        assert!(Conv::new(frame(7, 32), frame(7, 32), 3, 1).winograd.is_none());
        assert!(Conv::new(frame(8, 24), frame(8, 32), 3, 1).winograd.is_none());
        assert!(Conv::new(frame(8, 32), frame(8, 32), 1, 1).winograd.is_none());
        assert!(Conv::new(frame(8, 32), frame(4, 32), 3, 2).winograd.is_none());
    }
}
