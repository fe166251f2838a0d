//! The ten glyphs, drawn with strokes in the square [−1, 1]², x to the right and y down.
//!
//! Some are near each other (ring and square, plus and tee, triangle and arch), so that hiding a
//! part of one can make it look like another.

/// How many glyphs there are.
pub const CLASSES: usize = GLYPHS.len();

/// A point.
pub(super) type Point = [f64; 2];

/// A part of a glyph.
pub(super) enum Stroke {
    /// A straight line between two points.
    Line(Point, Point),
    /// A circle around the origin.
    Circle { radius: f64 },
    /// The upper half of a circle around a centre.
    UpperHalf { center: Point, radius: f64 },
}

/// A glyph, which is also a class.
pub(super) struct Glyph {
    name: &'static str,
    strokes: &'static [Stroke],
}

use Stroke::{Circle, Line, UpperHalf};

/// All glyphs, in class order.
pub(super) static GLYPHS: [Glyph; 10] = [
    Glyph { name: "ring", strokes: &[Circle { radius: 0.85 }] },
    Glyph {
        name: "square",
        strokes: &[
            Line([-0.8, -0.8], [0.8, -0.8]),
            Line([0.8, -0.8], [0.8, 0.8]),
            Line([0.8, 0.8], [-0.8, 0.8]),
            Line([-0.8, 0.8], [-0.8, -0.8]),
        ],
    },
    Glyph {
        name: "triangle",
        strokes: &[
            Line([0.0, -0.9], [0.9, 0.75]),
            Line([0.9, 0.75], [-0.9, 0.75]),
            Line([-0.9, 0.75], [0.0, -0.9]),
        ],
    },
    Glyph {
        name: "plus",
        strokes: &[Line([0.0, -0.95], [0.0, 0.95]), Line([-0.95, 0.0], [0.95, 0.0])],
    },
    Glyph {
        name: "cross",
        strokes: &[Line([-0.8, -0.8], [0.8, 0.8]), Line([-0.8, 0.8], [0.8, -0.8])],
    },
    Glyph {
        name: "tee",
        strokes: &[Line([-0.85, -0.8], [0.85, -0.8]), Line([0.0, -0.8], [0.0, 0.9])],
    },
    Glyph {
        name: "ell",
        strokes: &[Line([-0.65, -0.9], [-0.65, 0.8]), Line([-0.65, 0.8], [0.75, 0.8])],
    },
    Glyph {
        name: "zed",
        strokes: &[
            Line([-0.75, -0.8], [0.75, -0.8]),
            Line([0.75, -0.8], [-0.75, 0.8]),
            Line([-0.75, 0.8], [0.75, 0.8]),
        ],
    },
    Glyph {
        name: "arch",
        strokes: &[
            UpperHalf { center: [0.0, -0.1], radius: 0.75 },
            Line([-0.75, -0.1], [-0.75, 0.9]),
            Line([0.75, -0.1], [0.75, 0.9]),
        ],
    },
    Glyph {
        name: "bars",
        strokes: &[Line([-0.85, -0.45], [0.85, -0.45]), Line([-0.85, 0.45], [0.85, 0.45])],
    },
];

/// The names of the classes, in order.
pub fn class_names() -> [&'static str; CLASSES] {
    std::array::from_fn(|k| GLYPHS[k].name)
}

/// The distance of a point from the nearest stroke of a glyph.
pub(super) fn distance(glyph: &Glyph, point: Point) -> f64 {
    glyph.strokes.iter().map(|stroke| stroke.distance(point)).fold(f64::INFINITY, f64::min)
}

impl Stroke {
    fn distance(&self, [x, y]: Point) -> f64 {
        match *self {
            Self::Line([x0, y0], [x1, y1]) => {
                let (dx, dy) = (x1 - x0, y1 - y0);
                let along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy);
                let along = along.clamp(0.0, 1.0);
                length(x - x0 - along * dx, y - y0 - along * dy)
            }
            Self::Circle { radius } => (length(x, y) - radius).abs(),
            Self::UpperHalf { center: [cx, cy], radius } => {
                let (x, y) = (x - cx, y - cy);
                if y <= 0.0 { (length(x, y) - radius).abs() } else { length(x.abs() - radius, y) }
            }
        }
    }
}

/// `f64::hypot` may differ between platforms in the last bit; this does not.
fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_to_strokes() {
        let line = Line([0.0, 0.0], [2.0, 0.0]);
        assert_eq!(line.distance([1.0, 3.0]), 3.0);
        assert_eq!(line.distance([5.0, 4.0]), 5.0);
        assert_eq!(Circle { radius: 2.0 }.distance([3.0, 4.0]), 3.0);
        let half = UpperHalf { center: [0.0, 0.0], radius: 1.0 };
        assert_eq!(half.distance([0.0, -3.0]), 2.0);
        assert_eq!(half.distance([-1.0, 3.0]), 3.0);
    }

    #[test]
    fn names_differ() {
        let mut names = class_names().to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CLASSES);
    }
}
