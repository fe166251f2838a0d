//! A scatter of two quantities of one unit, with the diagonal on which they agree.

use std::fmt::Display;

use super::axes::{BLUE, Square};
use crate::svg::px;

/// What a scatter shows.
#[derive(Clone, Debug)]
pub struct Scatter {
    /// Above the picture.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// Beside the other axis.
    pub y_label: String,
    /// Where both axes end.
    pub most: f64,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

impl Scatter {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut plot = Square::new(&self.title, &self.x_label, &self.y_label, self.most);
        let opacity = if self.points.len() > 500 { "0.25" } else { "0.6" };
        for (x, y) in &self.points {
            let (x, y) = (px(plot.x(*x)), px(plot.y(*y)));
            let dot: [(&str, &dyn Display); 5] =
                [("cx", &x), ("cy", &y), ("r", &2), ("fill", &BLUE), ("fill-opacity", &opacity)];
            plot.svg.element("circle", &dot, "");
        }
        plot.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_every_point_inside_the_square() {
        let points = vec![(0.1, 0.2), (9.0, -1.0)];
        let (title, x_label, y_label) = ("t".into(), "x".into(), "y".into());
        let svg = Scatter { title, x_label, y_label, most: 1.0, points }.svg();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("cx=\"444\" cy=\"424\""), "{svg}");
    }
}
