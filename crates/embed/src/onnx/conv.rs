//! Convolutions over pictures, N×H×W×C in memory.
//!
//! y\[p\]\[j\] = clip(b\[j\] + Σ_t Σ_k x\[p + t\]\[k\] · w\[t\]\[k\]\[j\]). Three ways, by what is most of the work
//! in picture encoders: a 1×1 convolution is a product with the picture as it lies; one with a
//! filter of its own for every channel (depthwise) goes by pixels and vectors of channels; any
//! other copies the windows of some output pixels side by side and multiplies those.

use pulp::{Arch, Simd, WithSimd};

use super::product::{Bounds, Packed, Stripe};
use super::tensor::{Scratch, Tensor, affordable, elements};
use super::window::{Side, Window};

/// Output pixels whose windows are copied together.
const BLOCK: usize = 64;

#[derive(Debug)]
pub(super) struct Conv {
    window: Window,
    inputs: usize,
    outputs: usize,
    pub(super) bounds: Bounds,
    filters: Filters,
}

#[derive(Debug)]
enum Filters {
    /// Tap by tap, a number a channel; and the bias.
    Depthwise { taps: Vec<f32>, bias: Vec<f32> },
    /// A matrix a group: taps × channels of the group in, channels of the group out.
    Dense(Vec<Packed>),
}

impl Conv {
    /// Weights are outputs × inputs of a group × rows × columns.
    pub(super) fn new(
        window: Window,
        groups: usize,
        weights: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Self, String> {
        let [outputs, each, ..] = weights.picture()?;
        let taps = window.kernel[0] * window.kernel[1];
        if groups == 0 || outputs % groups != 0 || weights.data.is_empty() {
            return Err(format!("weights of shape {:?} in {groups} groups", weights.shape));
        }
        if let Some(bias) = bias.filter(|bias| bias.data.len() != outputs) {
            return Err(format!("{outputs} outputs and a bias of {}", bias.data.len()));
        }
        // No overflow: as many groups as outputs at most, and the weights are there.
        let inputs = groups * each;
        let bias = bias.map_or_else(|| vec![0.0; outputs], |bias| bias.data.clone());
        let filters = if each == 1 && outputs == inputs {
            let weight = |at: usize| weights.data[at % inputs * taps + at / inputs];
            Filters::Depthwise { taps: (0..taps * inputs).map(weight).collect(), bias }
        } else {
            let wide = outputs / groups;
            let group = |group: usize| {
                let weight = |row: usize, column: usize| {
                    let (tap, channel) = (row / each, row % each);
                    weights.data[((group * wide + column) * each + channel) * taps + tap]
                };
                Packed::new([taps * each, wide], weight, &bias[group * wide..][..wide])
            };
            Filters::Dense((0..groups).map(group).collect())
        };
        Ok(Self { window, inputs, outputs, bounds: Bounds::NONE, filters })
    }

    pub(super) fn run(&self, input: &Tensor, scratch: &mut Scratch) -> Result<Tensor, String> {
        let [n, channels, height, width] = input.picture()?;
        if channels != self.inputs {
            let wanted = self.inputs;
            return Err(format!("wants {wanted} channels and gets a shape of {:?}", input.shape));
        }
        let sides = self.window.on([height, width])?;
        let shape = [n, self.outputs, sides[0].outputs, sides[1].outputs];
        let length = elements(&shape)?;
        let depth = match &self.filters {
            Filters::Depthwise { taps, .. } => taps.len() / self.inputs,
            Filters::Dense(groups) => groups.first().map_or(0, Packed::depth),
        };
        affordable(length, depth)?;
        let input = input.as_pixels(scratch)?;
        let mut out = scratch.take(length);
        let pictures = input.data.chunks_exact((channels * height * width).max(1));
        for (x, y) in pictures.zip(out.chunks_exact_mut((length / n.max(1)).max(1))) {
            match &self.filters {
                Filters::Depthwise { taps, bias } => {
                    let bounds = self.bounds;
                    Arch::new().dispatch(Depthwise { x, y, taps, bias, sides, width, bounds });
                }
                Filters::Dense(groups) => self.dense(groups, x, y, sides, width, scratch),
            }
        }
        scratch.give_cow(input);
        Ok(Tensor::pixels(shape, out))
    }

    fn dense(
        &self,
        groups: &[Packed],
        x: &[f32],
        y: &mut [f32],
        sides: [Side; 2],
        width: usize,
        scratch: &mut Scratch,
    ) {
        if let ([group], true) = (groups, self.window.is_pointwise()) {
            group.multiply(x, y, Stripe { start: 0, stride: self.outputs }, self.bounds);
            return;
        }
        let each = self.inputs / groups.len();
        let pixels = sides[0].outputs * sides[1].outputs;
        let depth = groups.first().map_or(0, Packed::depth);
        let mut windows = scratch.take(BLOCK.min(pixels) * depth);
        for (at, group) in groups.iter().enumerate() {
            for start in (0..pixels).step_by(BLOCK) {
                let block = BLOCK.min(pixels - start);
                for (pixel, window) in windows.chunks_exact_mut(depth).take(block).enumerate() {
                    let place = start + pixel;
                    let place = [place / sides[1].outputs, place % sides[1].outputs];
                    self.copy_window(x, window, sides, width, place, at * each..(at + 1) * each);
                }
                let stripe = start * self.outputs + at * group.columns();
                let to = Stripe { start: stripe, stride: self.outputs };
                group.multiply(&windows[..block * depth], y, to, self.bounds);
            }
        }
        scratch.give(windows);
    }

    /// The channels of every tap of an output pixel, 0 where the tap lies on padding.
    fn copy_window(
        &self,
        x: &[f32],
        window: &mut [f32],
        sides: [Side; 2],
        width: usize,
        place: [usize; 2],
        channels: std::ops::Range<usize>,
    ) {
        window.fill(0.0);
        let each = channels.len();
        let (rows, top) = sides[0].taps(place[0]);
        let (columns, left) = sides[1].taps(place[1]);
        for (i, row) in rows.enumerate() {
            for (j, column) in columns.clone().enumerate() {
                let pixel = (top + i * sides[0].step()) * width + left + j * sides[1].step();
                let from = &x[pixel * self.inputs + channels.start..][..each];
                window[(row * self.window.kernel[1] + column) * each..][..each]
                    .copy_from_slice(from);
            }
        }
    }
}

/// One picture through a convolution with a filter a channel.
struct Depthwise<'a> {
    x: &'a [f32],
    y: &'a mut [f32],
    taps: &'a [f32],
    bias: &'a [f32],
    sides: [Side; 2],
    width: usize,
    bounds: Bounds,
}

impl WithSimd for Depthwise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let channels = self.bias.len();
        let [rows, columns] = self.sides;
        for (pixel, y) in self.y.chunks_exact_mut(channels).enumerate() {
            let place = [pixel / columns.outputs, pixel % columns.outputs];
            let spot = Spot {
                x: self.x,
                taps: self.taps,
                rows: rows.taps(place[0]),
                columns: columns.taps(place[1]),
                steps: [rows.step(), columns.step()],
                kernel: columns.kernel,
                width: self.width,
                channels,
                bounds: self.bounds,
            };
            let mut at = 0;
            while at + 4 * S::F32_LANES <= channels {
                spot.vectors::<S, 4>(simd, at, self.bias, y);
                at += 4 * S::F32_LANES;
            }
            while at + S::F32_LANES <= channels {
                spot.vectors::<S, 1>(simd, at, self.bias, y);
                at += S::F32_LANES;
            }
            if at < channels {
                spot.rest(simd, at, self.bias, y);
            }
        }
    }
}

/// An output pixel.
struct Spot<'a> {
    x: &'a [f32],
    taps: &'a [f32],
    rows: (std::ops::Range<usize>, usize),
    columns: (std::ops::Range<usize>, usize),
    steps: [usize; 2],
    kernel: usize,
    width: usize,
    channels: usize,
    bounds: Bounds,
}

impl Spot<'_> {
    /// Where a tap's channels lie: in the input and in the filters.
    #[inline(always)]
    fn offsets(&self, row: usize, column: usize) -> (usize, usize) {
        let (rows, top) = &self.rows;
        let (columns, left) = &self.columns;
        let y = top + (row - rows.start) * self.steps[0];
        let x = left + (column - columns.start) * self.steps[1];
        ((y * self.width + x) * self.channels, (row * self.kernel + column) * self.channels)
    }

    /// V registers of channels from `at` on.
    #[inline(always)]
    fn vectors<S: Simd, const V: usize>(&self, simd: S, at: usize, bias: &[f32], y: &mut [f32]) {
        let length = V * S::F32_LANES;
        let bias = S::as_simd_f32s(&bias[at..][..length]).0;
        let mut sums = [bias[0]; V];
        sums.copy_from_slice(&bias[..V]);
        for row in self.rows.0.clone() {
            for column in self.columns.0.clone() {
                let (x, tap) = self.offsets(row, column);
                let x = &S::as_simd_f32s(&self.x[x + at..][..length]).0[..V];
                let tap = &S::as_simd_f32s(&self.taps[tap + at..][..length]).0[..V];
                for v in 0..V {
                    sums[v] = simd.mul_add_f32s(x[v], tap[v], sums[v]);
                }
            }
        }
        let y = &mut S::as_mut_simd_f32s(&mut y[at..][..length]).0[..V];
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = self.bounds.clip(simd, sum);
        }
    }

    /// The channels from `at` on, fewer than a register holds.
    #[inline(always)]
    fn rest<S: Simd>(&self, simd: S, at: usize, bias: &[f32], y: &mut [f32]) {
        let length = self.channels - at;
        let mut sum = simd.partial_load_f32s(&bias[at..]);
        for row in self.rows.0.clone() {
            for column in self.columns.0.clone() {
                let (x, tap) = self.offsets(row, column);
                let x = simd.partial_load_f32s(&self.x[x + at..][..length]);
                let tap = simd.partial_load_f32s(&self.taps[tap + at..][..length]);
                sum = simd.mul_add_f32s(x, tap, sum);
            }
        }
        simd.partial_store_f32s(&mut y[at..], self.bounds.clip(simd, sum));
    }
}
