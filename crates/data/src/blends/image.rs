//! From glyphs to pixels.
//!
//! A pixel's ink is how much of a stroke covers it, taken from the distance d of its centre to the
//! stroke's middle line: clamp(½ + width/2 − d, 0, 1), all in pixels.

use dissensus_core::philox::Stream;

use super::draws::between;
use super::glyphs::{Glyph, distance};

/// Height and width of an image in pixels.
pub const SIDE: usize = 16;

/// Pixels of an image, row by row.
pub const PIXELS: usize = SIDE * SIDE;

/// One number a pixel.
pub(super) type Plane = [f64; PIXELS];

/// Where and how a glyph is drawn.
pub(super) struct Pose {
    center: [f64; 2],
    /// Pixels from the middle of a glyph to where its coordinates are ±1.
    scale: f64,
    cos: f64,
    sin: f64,
    half_width: f64,
}

impl Pose {
    /// A small shift, turn and change of size, and a stroke width.
    pub(super) fn draw(stream: &mut Stream) -> Self {
        let middle = SIDE as f64 / 2.0;
        let center = [0, 1].map(|_| middle + between(stream, -1.2, 1.2));
        let scale = between(stream, 4.8, 6.0);
        // t = tan(θ/2) gives the cosine and sine of θ without either; |θ| is below 13.7°.
        let t = between(stream, -0.12, 0.12);
        let cos = (1.0 - t * t) / (1.0 + t * t);
        let sin = 2.0 * t / (1.0 + t * t);
        Self { center, scale, cos, sin, half_width: between(stream, 0.65, 1.05) }
    }

    /// The ink of a glyph in this pose.
    pub(super) fn ink(&self, glyph: &Glyph) -> Plane {
        std::array::from_fn(|pixel| {
            let x = ((pixel % SIDE) as f64 + 0.5 - self.center[0]) / self.scale;
            let y = ((pixel / SIDE) as f64 + 0.5 - self.center[1]) / self.scale;
            let turned = [self.cos * x + self.sin * y, self.cos * y - self.sin * x];
            (0.5 + self.half_width - self.scale * distance(glyph, turned)).clamp(0.0, 1.0)
        })
    }
}

/// A rectangle of one grey that hides what is behind it.
pub(super) struct Patch {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    /// From black 0 to white 1.
    pub(super) grey: f64,
}

impl Patch {
    /// A patch that hides between nothing and the share `most` of the image.
    pub(super) fn draw(stream: &mut Stream, most: f64) -> Self {
        let area = most * stream.unit() * PIXELS as f64;
        // Between twice as wide as high and twice as high as wide.
        let shape = between(stream, 0.5, 2.0);
        let side = SIDE as f64;
        let width = (area * shape).sqrt().min(side);
        let height = if width > 0.0 { (area / width).min(side) } else { 0.0 };
        let (width, height) = (width.round() as usize, height.round() as usize);
        let left = stream.below((SIDE - width) as u64 + 1) as usize;
        let top = stream.below((SIDE - height) as u64 + 1) as usize;
        Self { left, top, width, height, grey: between(stream, 0.2, 0.8) }
    }

    /// Whether it hides a pixel.
    pub(super) fn hides(&self, pixel: usize) -> bool {
        let (x, y) = (pixel % SIDE, pixel / SIDE);
        (self.left..self.left + self.width).contains(&x)
            && (self.top..self.top + self.height).contains(&y)
    }
}

/// A grey between black 0 and white 1 as a byte.
pub(super) fn byte(grey: f64) -> u8 {
    (255.0 * grey.clamp(0.0, 1.0)).round() as u8
}

#[cfg(test)]
mod tests {
    use super::super::draws::{Use, stream};
    use super::super::glyphs::GLYPHS;
    use super::*;

    /// The frame of an image, to see that glyphs stay inside it.
    fn on_edge(pixel: usize) -> bool {
        let (x, y) = (pixel % SIDE, pixel / SIDE);
        x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1
    }

    #[test]
    fn glyphs_have_ink_and_stay_inside() {
        for seed in 0..40 {
            let pose = Pose::draw(&mut stream(seed, Use::Scene, [0, 0]));
            for glyph in &GLYPHS {
                let ink = pose.ink(glyph);
                let total: f64 = ink.iter().sum();
                let edge: f64 = (0..PIXELS).filter(|&p| on_edge(p)).map(|p| ink[p]).sum();
                assert!(total > 15.0, "{total}");
                assert!(edge < 0.15 * total, "{edge} of {total}");
            }
        }
    }

    #[test]
    fn patches_hide_at_most_what_is_allowed() {
        for seed in 0..200 {
            let patch = Patch::draw(&mut stream(seed, Use::Scene, [0, 0]), 0.25);
            let hidden = (0..PIXELS).filter(|&p| patch.hides(p)).count();
            // Rounding to whole pixels adds at most half a pixel a side.
            assert!(hidden <= 64 + 12, "{hidden}");
        }
        let none = Patch::draw(&mut stream(0, Use::Scene, [0, 0]), 0.0);
        assert!((0..PIXELS).all(|p| !none.hides(p)));
    }
}
