//! Convolutions of f32 by bfloat16 parts, of stride 1 and the channels of a ResNet: `parts.cu`. Others are those of
//! `kernels/bf16x3/conv.cu`.

use std::sync::Arc;

use cudarc::driver::sys;
use cudarc::driver::{CudaContext, CudaStream};

use super::{BLOCKS, Compiled, Images, On, Pixels, WIDE, pixels, raw, weights, with_barriers};
use crate::cuda::cudnn::{Pass, Shapes};
use crate::cuda::launch::Pointer;
use crate::error::EngineError;

const SOURCE: &str = include_str!("../kernels/hopper/parts.cu");

/// A size that there are kernels for, as the macros at the end of `parts.cu` have it.
#[derive(Debug)]
struct Size {
    channels: usize,
    width: usize,
    pixels: Pixels,
    of_weights: Pixels,
}

const SIZES: [Size; 4] = [
    Size { channels: 64, width: 32, pixels: pixels(8, 32, 1), of_weights: pixels(32, 4, 1) },
    Size { channels: 128, width: 16, pixels: pixels(8, 16, 2), of_weights: pixels(16, 8, 1) },
    Size { channels: 256, width: 8, pixels: pixels(8, 8, 4), of_weights: pixels(8, 8, 2) },
    Size { channels: 512, width: 4, pixels: pixels(4, 2, 16), of_weights: pixels(4, 4, 8) },
];

/// Chunks of images and taps of weights that have room, and parts of the pixels for the gradient of weights.
const ROOM: (usize, usize) = (2, 14);
const STAGES: usize = 2;
/// Parts of the pixels of a block of that gradient: the units cut its sums after each product.
const EACH: usize = 16;

/// Pairs of factors of which a result is the sum at most.
const SOURCES: usize = 2;

/// The factors of a kernel: of each source, both parts of the images, and of the weights or gradients.
#[repr(C)]
struct Factors {
    images: [[sys::CUtensorMap; 2]; SOURCES],
    others: [[sys::CUtensorMap; 2]; SOURCES],
}

#[derive(Clone, Copy)]
enum Kernel {
    Forward,
    Back,
    Weights,
    TakeApart,
}

/// A tensor of f32 on the device, and where its parts go.
#[derive(Clone, Copy)]
struct Whole {
    at: Pointer,
    len: usize,
    parts: Pointer,
}

impl Size {
    fn of(shapes: &Shapes) -> Option<&'static Self> {
        let &Shapes { height, width, inputs, outputs, kernel, stride, .. } = shapes;
        SIZES.iter().find(|size| {
            (kernel, stride) == (3, 1)
                && (inputs, outputs) == (size.channels, size.channels)
                && (height, width) == (size.width, size.width)
        })
    }

    fn names(&self) -> [(String, usize); 4] {
        let name = |way: &str| format!("parts_{}_{way}", self.channels);
        let of_one = ROOM.0 * self.pixels.bordered(2) + ROOM.1 * 2 * WIDE * WIDE;
        let of_one = with_barriers(of_one, ROOM.0 + ROOM.1);
        let stage = 2 * (self.of_weights.bordered(2) + self.of_weights.bytes());
        let of_weights = with_barriers(STAGES * stage, STAGES);
        [
            (name("forward"), of_one),
            (name("back"), of_one),
            (name("weights"), of_weights),
            ("take_apart".to_owned(), 0),
        ]
    }

    /// Blocks of these pixels in a batch; the last may have fewer images.
    fn blocks(&self, pixels: Pixels, count: usize) -> usize {
        pixels.blocks(self.width, count.next_multiple_of(pixels.images))
    }

    /// Blocks that share the gradient of weights.
    fn shares(&self, count: usize, sources: usize) -> usize {
        (self.blocks(self.of_weights, count) * sources).div_ceil(EACH)
    }

    /// Numbers of the images and of the weights.
    fn lens(&self, count: usize) -> (usize, usize) {
        let &Self { channels, width, .. } = self;
        (count * width * width * channels, 9 * channels * channels)
    }
}

/// The kernels on one GPU, by size.
pub(in crate::cuda) struct Parts {
    sizes: Vec<Compiled>,
}

impl Parts {
    pub(in crate::cuda) fn new(context: &Arc<CudaContext>) -> Result<Self, EngineError> {
        let compile = |size: &Size| Compiled::new(context, SOURCE, size.channels, &size.names());
        std::thread::scope(|scope| {
            let threads: Vec<_> = SIZES.iter().map(|size| scope.spawn(|| compile(size))).collect();
            let failed = || Err(EngineError::Device("the compiler of kernels failed".to_owned()));
            let joined = threads.into_iter().map(|t| t.join().unwrap_or_else(|_| failed()));
            Ok(Self { sizes: joined.collect::<Result<_, _>>()? })
        })
    }

    /// Whether there are kernels for a convolution.
    pub(in crate::cuda) fn have(shapes: &Shapes) -> bool {
        Size::of(shapes).is_some()
    }

    /// Bytes of the workspace that a convolution needs: parts of all factors, and the shares of the gradient.
    pub(in crate::cuda) fn workspace(shapes: &Shapes) -> usize {
        let Some(size) = Size::of(shapes) else { return 0 };
        let (images, weights) = size.lens(shapes.count);
        let shares = size.shares(shapes.count, SOURCES) * weights;
        4 * (2 * SOURCES * images).max(SOURCES * (images + weights)) + 4 * shares
    }

    /// A pass over the sum of one or two convolutions of x, y and W, one of which it computes from the other two.
    /// Of the weights' gradient, the number of shares of it, and where they are.
    pub(in crate::cuda) fn run(
        &self,
        stream: &Arc<CudaStream>,
        (pass, add): (Pass, bool),
        shapes: &Shapes,
        of: &[[Pointer; 3]],
        space: Pointer,
    ) -> Result<(usize, Pointer), EngineError> {
        let place = Size::of(shapes).and_then(|size| {
            let at = SIZES.iter().position(|other| other.channels == size.channels)?;
            Some((size, self.sizes.get(at)?))
        });
        let (Some((size, compiled)), Some(&[first @ .., _])) = (place, of.first()) else {
            return Err(EngineError::Device(format!("no kernel for {shapes:?}")));
        };
        let (count, channels, width) = (shapes.count, size.channels, size.width);
        let (images, weights_len) = size.lens(count);
        let of_weights = matches!(pass, Pass::Weights);
        let other_len = if of_weights { images } else { weights_len };
        // Where the parts of each factor go, one after another.
        let (mut free, mut wholes) = (space, Vec::new());
        for &[x, y, w] in of {
            let (read, other) = match pass {
                Pass::Forward => (x, w),
                Pass::Backward => (y, w),
                Pass::Weights => (x, y),
            };
            for (at, len) in [(read, images), (other, other_len)] {
                wholes.push(Whole { at, len, parts: free });
                free += 4 * len as Pointer;
            }
        }
        let on = On { stream, early: false };
        for &Whole { at, len, parts } in &wholes {
            let (mut at, mut eights, mut to) = (at, (len / 8) as i64, parts);
            let grid = ((len / 8).div_ceil(256) as u32, 1);
            let arguments = &mut [raw(&mut at), raw(&mut eights), raw(&mut to)];
            compiled.launch(on, Kernel::TakeApart as usize, (grid, 256), arguments)?;
        }
        let pixels = if of_weights { size.of_weights } else { size.pixels };
        let map = |whole: &Whole, part: usize, border: Option<usize>| {
            let at = whole.parts + (2 * whole.len * part) as Pointer;
            match border {
                Some(border) => Images { at, channels, width, every: 1 }.map(count, pixels, border),
                // Of a pair of blocks, each loads half of them.
                None => weights(at, (channels, channels, 3), WIDE / 2),
            }
        };
        let maps =
            |which: usize, border: Option<usize>| -> Result<[[_; 2]; SOURCES], EngineError> {
                let mut all = [[sys::CUtensorMap { opaque: [0; 16] }; 2]; SOURCES];
                for (pair, own) in wholes.chunks(2).zip(&mut all) {
                    let Some(whole) = pair.get(which) else { continue };
                    *own = [map(whole, 0, border)?, map(whole, 1, border)?];
                }
                Ok(all)
            };
        let other_border = of_weights.then_some(0);
        let mut factors = Factors { images: maps(0, Some(2))?, others: maps(1, other_border)? };
        let (mut sources, mut number, mut adds) = (of.len() as i32, count as i32, i32::from(add));
        let columns = channels / WIDE;
        if of_weights {
            let shares = size.shares(count, of.len());
            let (mut each, mut to) = (EACH as i32, free);
            let grid = (shares as u32, (columns * columns) as u32);
            let arguments = &mut [
                raw(&mut factors),
                raw(&mut sources),
                raw(&mut number),
                raw(&mut each),
                raw(&mut to),
            ];
            compiled.launch(on, Kernel::Weights as usize, (grid, 416), arguments)?;
            return Ok((shares, free));
        }
        let (kernel, mut to) = match pass {
            Pass::Forward => (Kernel::Forward, first[1]),
            _ => (Kernel::Back, first[0]),
        };
        // Blocks come in pairs.
        let pairs = size.blocks(pixels, count).div_ceil(2).min(BLOCKS / columns / 2);
        let arguments = &mut [
            raw(&mut factors),
            raw(&mut sources),
            raw(&mut number),
            raw(&mut adds),
            raw(&mut to),
        ];
        let grid = (2 * pairs as u32, columns as u32);
        compiled.launch(on, kernel as usize, (grid, 384), arguments)?;
        Ok((0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit() {
        for size in &SIZES {
            assert!(size.names().iter().all(|(_, bytes)| *bytes <= 227 << 10), "{size:?}");
            for pixels in [size.pixels, size.of_weights] {
                assert!(pixels.cut(size.width));
                assert_eq!(pixels.count() % 128, 0);
            }
            // Batches of all counts, of which the last block may lack images.
            for count in [1, 7, 500, 512] {
                let blocks = size.blocks(size.pixels, count) * size.pixels.count();
                assert!(blocks >= count * size.width.pow(2), "{size:?} {count}");
                assert!(size.shares(count, 2) * EACH >= size.blocks(size.of_weights, count) * 2);
            }
        }
    }

    /// The driver copies as many bytes as the kernel's struct has.
    #[test]
    fn factors_are_laid_out_as_in_c() {
        assert_eq!(size_of::<Factors>(), 8 * 128);
    }
}
