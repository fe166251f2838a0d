//! A square plot whose two axes run from 0 to the same value, with the diagonal drawn.

use std::fmt::Display;

use crate::svg::{Svg, px};

pub(super) const BLUE: &str = "#0072b2";
pub(super) const ORANGE: &str = "#d55e00";
pub(super) const COLOURS: [&str; 2] = [BLUE, ORANGE];

const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const SIDE: f64 = 380.0;

pub(super) struct Square {
    pub(super) svg: Svg,
    title: String,
    most: f64,
}

impl Square {
    pub(super) fn new(title: &str, x_label: &str, y_label: &str, most: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let svg = Svg::new(LEFT + SIDE + 24.0, TOP + SIDE + 56.0);
        let mut plot = Self { svg, title: title.to_owned(), most };
        let text: [(&str, &dyn Display); 4] =
            [("x", &LEFT), ("y", &22), ("font-size", &14), ("font-weight", &"bold")];
        plot.svg.element("text", &text, title);
        for step in 0..=4 {
            let value = most * f64::from(step) / 4.0;
            let (x, y) = (plot.x(value), plot.y(value));
            plot.line((x, plot.y(0.0)), (x, plot.y(most)), "#dddddd", "none");
            plot.line((plot.x(0.0), y), (plot.x(most), y), "#dddddd", "none");
            plot.text((x, TOP + SIDE + 18.0), "middle", &px(value));
            plot.text((LEFT - 8.0, y + 4.0), "end", &px(value));
        }
        plot.line((plot.x(0.0), plot.y(0.0)), (plot.x(most), plot.y(most)), "#888888", "4 4");
        plot.text((LEFT + SIDE / 2.0, TOP + SIDE + 44.0), "middle", x_label);
        let side = TOP + SIDE / 2.0;
        let turn = format!("rotate(-90 16 {side})");
        let text: [(&str, &dyn Display); 4] =
            [("x", &16), ("y", &side), ("text-anchor", &"middle"), ("transform", &turn)];
        plot.svg.element("text", &text, y_label);
        plot
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + SIDE * (value / self.most).clamp(0.0, 1.0)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        TOP + SIDE - SIDE * (value / self.most).clamp(0.0, 1.0)
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, dashes: &str) {
        let line: [(&str, &dyn Display); 6] = [
            ("x1", &px(from.0)),
            ("y1", &px(from.1)),
            ("x2", &px(to.0)),
            ("y2", &px(to.1)),
            ("stroke", &colour),
            ("stroke-dasharray", &dashes),
        ];
        self.svg.element("line", &line, "");
    }

    pub(super) fn text(&mut self, at: (f64, f64), anchor: &str, text: &str) {
        let place: [(&str, &dyn Display); 3] =
            [("x", &px(at.0)), ("y", &px(at.1)), ("text-anchor", &anchor)];
        self.svg.element("text", &place, text);
    }

    /// A line of the legend in the upper left corner.
    pub(super) fn legend(&mut self, row: usize, colour: &str, name: &str) {
        let y = TOP + 16.0 + 18.0 * row as f64;
        let dot: [(&str, &dyn Display); 4] =
            [("cx", &(LEFT + 14.0)), ("cy", &(y - 4.0)), ("r", &5), ("fill", &colour)];
        self.svg.element("circle", &dot, "");
        self.text((LEFT + 26.0, y), "start", name);
    }

    pub(super) fn finish(self) -> String {
        let Self { svg, title, .. } = self;
        svg.finish(&title)
    }
}
