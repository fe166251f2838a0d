//! 3×3 convolutions that step over every second pixel, with the 1×1 convolutions beside them that read the
//! same: `kernels/hopper/stride.cu`.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use super::{
    After, Compiled, Hopper, Images, On, Pixels, WIDE, grid, partial, pixels, raw, weights,
    with_barriers,
};
use crate::cuda::cudnn::Shapes;
use crate::cuda::launch::Pointer;
use crate::error::EngineError;

const SOURCE: &str = include_str!("../kernels/hopper/stride.cu");

/// Taps of both convolutions.
const TAPS: usize = 10;

/// What a kernel that convolves has: pixels of a block, and memory for parts of images, taps of weights and
/// results.
#[derive(Clone, Copy, Debug)]
struct BlockMemory {
    pixels: Pixels,
    parts: usize,
    taps: usize,
    results: usize,
}

/// A size of them: the channels and the width of the results; what they read has half as many channels
/// and is twice as wide. The numbers are those at the end of `stride.cu`.
#[derive(Debug)]
pub(in crate::cuda) struct Strided {
    channels: usize,
    width: usize,
    forward: BlockMemory,
    back: BlockMemory,
    of_weights: Pixels,
    stages: usize,
    splits: usize,
}

const fn memory(pixels: Pixels, parts: usize, taps: usize, results: usize) -> BlockMemory {
    BlockMemory { pixels, parts, taps, results }
}

/// Which kernel of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Forward,
    /// Forward where nothing goes back: with the norm behind the 3×3 convolution.
    Evaluate,
    Back,
    Weights,
    SumWeights,
}

impl Way {
    const ALL: [(Self, &str); 5] = [
        (Self::Forward, "forward"),
        (Self::Evaluate, "evaluate"),
        (Self::Back, "back"),
        (Self::Weights, "weights"),
        (Self::SumWeights, "sum_weights"),
    ];
}

/// Of the 3×3 convolution, then of the 1×1 one.
pub(in crate::cuda) type Both = [Pointer; 2];

impl Strided {
    pub(super) const ALL: [Self; 3] = [
        Self {
            channels: 128,
            width: 16,
            forward: memory(pixels(16, 16, 1), 3, 10, 1),
            back: memory(pixels(16, 8, 1), 2, 13, 4),
            of_weights: pixels(16, 4, 1),
            stages: 3,
            splits: 64,
        },
        Self {
            channels: 256,
            width: 8,
            forward: memory(pixels(8, 8, 4), 2, 12, 1),
            back: memory(pixels(8, 8, 2), 2, 13, 4),
            of_weights: pixels(8, 8, 1),
            stages: 3,
            splits: 16,
        },
        Self {
            channels: 512,
            width: 4,
            forward: memory(pixels(4, 2, 16), 3, 12, 1),
            back: memory(pixels(4, 2, 16), 2, 12, 4),
            of_weights: pixels(4, 2, 8),
            stages: 2,
            splits: 4,
        },
    ];

    /// The size of these convolutions, where there is one: the shapes of the 3×3 one.
    pub(in crate::cuda) fn of(shapes: &Shapes) -> Option<&'static Self> {
        const ALL: &[Strided] = &Strided::ALL;
        let &Shapes { count, height, width, inputs, outputs, kernel, stride } = shapes;
        ALL.iter().find(|size| {
            kernel == 3
                && stride == 2
                && outputs == size.channels
                && 2 * inputs == outputs
                && height == width
                && width == 2 * size.width
                && [size.forward.pixels, size.back.pixels, size.of_weights]
                    .iter()
                    .all(|pixels| count % pixels.images == 0)
        })
    }

    /// What its kernels' names begin with.
    pub(super) fn name(&self) -> String {
        format!("stride_{}", self.channels)
    }

    fn shared(&self, way: Way) -> usize {
        let of = |memory: BlockMemory| {
            let BlockMemory { pixels, parts, taps, results } = memory;
            let bytes = parts * pixels.bordered(1) + results * pixels.bytes();
            with_barriers(bytes + taps * 2 * WIDE * WIDE, parts + taps)
        };
        match way {
            Way::Forward | Way::Evaluate => of(self.forward),
            Way::Back => of(self.back),
            Way::Weights => {
                let pixels = self.of_weights;
                let stage = 4 * pixels.bordered(1) + 2 * pixels.bytes();
                with_barriers(self.stages * stage, self.stages)
            }
            Way::SumWeights => 0,
        }
    }

    /// Blocks of 64 channels of the results times those of what is read.
    fn sides(&self) -> usize {
        (self.channels / WIDE) * (self.channels / 2 / WIDE)
    }

    /// Bytes in which the weights' gradients are added up.
    pub(in crate::cuda) fn partial(&self) -> usize {
        partial(self.splits, self.sides(), TAPS)
    }

    pub(super) fn compile(&self, context: &Arc<CudaContext>) -> Result<Compiled, EngineError> {
        let name = |way: &str| format!("{}_{way}", self.name());
        let names = Way::ALL.map(|(way, of)| (name(of), self.shared(way)));
        Compiled::new(context, SOURCE, self.channels, &names)
    }

    /// What is read, every second pixel of it.
    fn planes(&self, at: Pointer) -> Images {
        Images { at, channels: self.channels / 2, width: 2 * self.width, every: 2 }
    }

    /// A result, or its gradient.
    fn result(&self, at: Pointer) -> Images {
        Images { at, channels: self.channels, width: self.width, every: 1 }
    }
}

impl Hopper {
    /// Both convolutions of `count` examples; `evaluate`: the first one with the norm behind it.
    pub(in crate::cuda) fn convolve_strided(
        &self,
        on: On<'_>,
        (size, evaluate): (&Strided, bool),
        count: usize,
        (x, w): (Pointer, Both),
        after: &[After; 2],
    ) -> Result<(), EngineError> {
        let way = if evaluate { Way::Evaluate } else { Way::Forward };
        let pixels = size.forward.pixels;
        let images = size.planes(x).map(count, pixels, 1)?;
        let grid = grid(pixels.blocks(size.width, count), size.channels);
        self.strided(on, (size, way), (grid, count), ([images; 2], w), after)
    }

    /// Back from the gradients of both results to that of what they read, which is the output of a norm
    /// with a ReLU.
    pub(in crate::cuda) fn strided_back(
        &self,
        on: On<'_>,
        size: &Strided,
        count: usize,
        (dy, w): (Both, Both),
        after: &After,
    ) -> Result<(), EngineError> {
        let pixels = size.back.pixels;
        let [one, two] = dy.map(|dy| size.result(dy).map(count, pixels, 1));
        let grid = grid(pixels.blocks(size.width, count), size.channels / 2);
        let images = [one?, two?];
        self.strided(on, (size, Way::Back), (grid, count), (images, w), &[*after; 2])
    }

    fn strided(
        &self,
        on: On<'_>,
        (size, way): (&Strided, Way),
        (grid, count): ((u32, u32), usize),
        (mut images, w): ([cudarc::driver::sys::CUtensorMap; 2], Both),
        after: &[After; 2],
    ) -> Result<(), EngineError> {
        let (inputs, outputs) = (size.channels / 2, size.channels);
        let mut of_three = weights(w[0], (inputs, outputs, 3), WIDE)?;
        let mut of_one = weights(w[1], (inputs, outputs, 1), WIDE)?;
        let [first, second] = &mut images;
        let [mut one, mut two] = *after;
        let mut number = count as i32;
        let mut arguments = [
            raw(first),
            raw(second),
            raw(&mut of_three),
            raw(&mut of_one),
            raw(&mut one),
            raw(&mut two),
            raw(&mut number),
        ];
        self.of_strided(size)?.launch(on, way as usize, (grid, 384), &mut arguments)
    }

    /// The gradients of both convolutions' weights, from what they read and the gradients of their results.
    pub(in crate::cuda) fn strided_weights(
        &self,
        on: On<'_>,
        size: &Strided,
        count: usize,
        (x, dy): (Pointer, Both),
        (dw, partial): (Both, Pointer),
    ) -> Result<(), EngineError> {
        let pixels = size.of_weights;
        let [one, two] = dy.map(|dy| size.result(dy).map(count, pixels, 0));
        let mut maps = [size.planes(x).map(count, pixels, 1)?, one?, two?];
        let cut = (size.splits, size.sides(), TAPS);
        let to = (dw, partial, count);
        self.of_strided(size)?.weights(on, Way::Weights as usize, cut, &mut maps, to)
    }

    fn of_strided(&self, size: &Strided) -> Result<&Compiled, EngineError> {
        let place = Strided::ALL.iter().position(|other| other.channels == size.channels);
        place
            .and_then(|place| self.kernels.strided.get(place))
            .ok_or_else(|| EngineError::Device(format!("no kernel for {size:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BLOCKS, kept_sums, summed};
    use super::*;

    /// Blocks fit into shared memory, the copy engine's boxes into its limits, and work is cut whole.
    #[test]
    fn sizes_fit() {
        for size in &Strided::ALL {
            for (way, _) in Way::ALL {
                assert!(size.shared(way) <= 227 << 10, "{size:?} {way:?}");
            }
            // The sums that are given away take the room of the parts.
            assert!(size.shared(Way::Weights) >= 4 * kept_sums(TAPS));
            for pixels in [size.forward.pixels, size.back.pixels, size.of_weights] {
                assert!(pixels.cut(size.width));
                assert_eq!(pixels.count() % 64, 0);
                assert!(2 * (pixels.columns + 1).max(pixels.lines + 1).max(pixels.images) <= 256);
            }
            // Two warp groups have blocks of 64 pixels each.
            for room in [size.forward, size.back] {
                assert_eq!(room.pixels.count() % 128, 0);
                assert!(room.taps >= TAPS && room.parts >= 2);
            }
            assert!(size.splits * size.sides() <= BLOCKS && size.splits % 2 == 0);
            assert_eq!(2 * size.sides() * kept_sums(TAPS) % (4 * summed(size.splits / 2)), 0);
        }
    }

    #[test]
    fn other_convolutions_are_left_to_cudnn() {
        let shapes = Shapes {
            count: 128,
            height: 32,
            width: 32,
            inputs: 64,
            outputs: 128,
            kernel: 3,
            stride: 2,
        };
        assert!(Strided::of(&shapes).is_some());
        assert!(Strided::of(&Shapes { stride: 1, ..shapes }).is_none());
        assert!(Strided::of(&Shapes { kernel: 1, ..shapes }).is_none());
        assert!(Strided::of(&Shapes { inputs: 128, ..shapes }).is_none());
        assert!(Strided::of(&Shapes { height: 16, width: 16, ..shapes }).is_none());
        let last = Shapes { height: 8, width: 8, inputs: 256, outputs: 512, ..shapes };
        assert!(Strided::of(&last).is_some());
        assert!(Strided::of(&Shapes { count: 24, ..last }).is_none());
    }
}
