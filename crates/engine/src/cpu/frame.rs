//! How an example lies in a buffer.
//!
//! A map has a border of one pixel of zeros all around it, so that a 3×3 convolution reads its
//! padding like any other pixel. Every pass writes the inside only; the border stays zero.

use crate::network::Shape;

/// The place of an example's numbers in its stretch of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) channels: usize,
    border: usize,
}

impl Frame {
    pub(crate) fn new(shape: Shape) -> Self {
        match shape {
            Shape::Map { height, width, channels } => Self { height, width, channels, border: 1 },
            Shape::Flat { width } => Self { height: 1, width: 1, channels: width, border: 0 },
        }
    }

    /// Numbers from one example to the next.
    pub(crate) fn stride(&self) -> usize {
        (self.height + 2 * self.border) * self.pitch()
    }

    /// Numbers from one row of pixels to the next.
    pub(crate) fn pitch(&self) -> usize {
        (self.width + 2 * self.border) * self.channels
    }

    /// Where a pixel lies; −1 and `height`, −1 and `width` are the border.
    pub(crate) fn at(&self, y: usize, x: usize) -> usize {
        (y + self.border) * self.pitch() + (x + self.border) * self.channels
    }

    /// The inside of every row of pixels.
    #[inline(always)]
    pub(crate) fn rows(self) -> impl Iterator<Item = std::ops::Range<usize>> {
        (0..self.height).map(move |y| self.at(y, 0)..self.at(y, 0) + self.width * self.channels)
    }

    /// Pixels of an example.
    pub(crate) fn pixels(&self) -> usize {
        self.height * self.width
    }
}
