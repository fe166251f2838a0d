//! The first 3×3 convolution of a network, of images: `kernels/hopper/stem.cu`.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use super::{After, Compiled, Hopper, Images, On, Pixels, pixels, raw, with_barriers};
use crate::cuda::cudnn::Shapes;
use crate::cuda::launch::Pointer;
use crate::cuda::norm_work::BLOCKS;
use crate::error::EngineError;

const SOURCE: &str = include_str!("../kernels/hopper/stem.cu");

/// Channels of what it reads, with padding, and of its result; the width of both.
const INPUTS: usize = 8;
const OUTPUTS: usize = 64;
const WIDTH: usize = 32;
const PIXELS: Pixels = pixels(WIDTH, 8, 1);

/// Bytes of room for a block's images, and how many have room.
const IMAGE: usize = 6144;
const _: () = assert!(IMAGE >= 2 * INPUTS * (WIDTH + 2) * (PIXELS.lines + 2));
const SLOTS: usize = 4;

/// Sums of a block of the weights' gradient, and those that a block of threads adds up over all of them.
const SUMS: usize = 9 * OUTPUTS * INPUTS;
const SUMMED: usize = 32;

/// Such a convolution.
pub(in crate::cuda) struct Stem;

impl Stem {
    /// What its kernels' names begin with.
    pub(super) const NAME: &str = "stem";

    /// Whether these convolutions are such.
    pub(in crate::cuda) fn is(shapes: &Shapes) -> bool {
        let &Shapes { height, width, inputs, outputs, kernel, stride, .. } = shapes;
        (kernel, stride, inputs, outputs, height, width) == (3, 1, INPUTS, OUTPUTS, WIDTH, WIDTH)
    }

    /// Bytes in which the weights' gradient is added up.
    pub(in crate::cuda) fn partial() -> usize {
        4 * BLOCKS * SUMS
    }

    fn forward_bytes() -> usize {
        let weights = (9 + 1) * 2 * OUTPUTS * INPUTS;
        with_barriers(SLOTS * IMAGE + weights + PIXELS.bytes(), SLOTS)
    }

    fn weights_bytes() -> usize {
        with_barriers(SLOTS * (IMAGE + PIXELS.bytes()), SLOTS)
    }

    pub(super) fn compile(context: &Arc<CudaContext>) -> Result<Compiled, EngineError> {
        let names = [
            ("stem_forward", Self::forward_bytes()),
            ("stem_weights", Self::weights_bytes()),
            ("stem_sum_weights", 0),
            ("stem_evaluate", Self::forward_bytes()),
        ];
        let names = names.map(|(name, shared)| (name.to_owned(), shared));
        Compiled::new(context, SOURCE, INPUTS, &names)
    }
}

impl Hopper {
    /// Such a convolution of `count` examples; `evaluate`: with the norm behind it.
    pub(in crate::cuda) fn stem_forward(
        &self,
        on: On<'_>,
        evaluate: bool,
        count: usize,
        [x, w]: [Pointer; 2],
        after: &After,
    ) -> Result<(), EngineError> {
        let mut images = stem_images(x).map(count, PIXELS, 2)?;
        let (mut w, mut after, mut number) = (w, *after, count as i32);
        let mut arguments = [raw(&mut images), raw(&mut w), raw(&mut after), raw(&mut number)];
        let blocks = PIXELS.blocks(WIDTH, count).min(BLOCKS) as u32;
        let which = if evaluate { 3 } else { 0 };
        self.kernels.stem.launch(on, which, ((blocks, 1), 256), &mut arguments)
    }

    /// The gradient of its weights from its input and its output's gradient.
    pub(in crate::cuda) fn stem_weights(
        &self,
        on: On<'_>,
        count: usize,
        [x, dy, dw, partial]: [Pointer; 4],
    ) -> Result<(), EngineError> {
        let mut images = stem_images(x).map(count, PIXELS, 2)?;
        let result = Images { at: dy, channels: OUTPUTS, width: WIDTH, every: 1 };
        let mut gradients = result.map(count, PIXELS, 0)?;
        let (mut dw, mut partial, mut number) = (dw, partial, count as i32);
        let mut blocks = PIXELS.blocks(WIDTH, count).min(BLOCKS) as i32;
        let mut arguments =
            [raw(&mut images), raw(&mut gradients), raw(&mut partial), raw(&mut number)];
        self.kernels.stem.launch(on, 1, ((blocks as u32, 1), 256), &mut arguments)?;
        let mut arguments = [raw(&mut partial), raw(&mut blocks), raw(&mut dw)];
        let grid = ((SUMS / SUMMED) as u32, 1);
        self.kernels.stem.launch(On { early: true, ..on }, 2, (grid, 256), &mut arguments)
    }
}

fn stem_images(at: Pointer) -> Images {
    Images { at, channels: INPUTS, width: WIDTH, every: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits() {
        assert!(Stem::forward_bytes().max(Stem::weights_bytes()) <= 227 << 10);
        assert_eq!((SUMS % SUMMED, IMAGE % 1024, WIDTH % PIXELS.lines), (0, 0, 0));
        // The sums that are given away take the room of the images.
        assert!(Stem::weights_bytes() >= 4 * SUMS);
    }
}
