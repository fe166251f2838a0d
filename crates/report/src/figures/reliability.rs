//! A reliability diagram: what came true against the confidence of the prediction, in bins of
//! equal mass (points, larger for more items) and smoothed (lines).

use std::fmt::Display;

use super::axes::{COLOURS, Square};
use crate::svg::px;

/// A bin.
#[derive(Clone, Copy, Debug)]
pub struct ReliabilityBin {
    /// Mean confidence.
    pub confidence: f64,
    /// Mean outcome.
    pub outcome: f64,
    /// How many items.
    pub items: usize,
}

/// A name, bins, and the smooth curve.
pub type ReliabilityCurve = (String, Vec<ReliabilityBin>, Vec<(f64, f64)>);

/// What a reliability diagram shows: at most two curves.
#[derive(Clone, Debug)]
pub struct Reliability {
    /// Above the picture.
    pub title: String,
    /// The curves.
    pub curves: Vec<ReliabilityCurve>,
}

impl Reliability {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut plot =
            Square::new(&self.title, "confidence of the prediction", "what came true", 1.0);
        let all = self.curves.iter().flat_map(|(_, bins, _)| bins);
        let most = all.map(|bin| bin.items).max().unwrap_or(1).max(1) as f64;
        for (row, ((name, bins, smooth), colour)) in self.curves.iter().zip(COLOURS).enumerate() {
            let points: Vec<String> = smooth
                .iter()
                .map(|(x, y)| format!("{},{}", px(plot.x(*x)), px(plot.y(*y))))
                .collect();
            let line: [(&str, &dyn Display); 4] = [
                ("points", &points.join(" ")),
                ("fill", &"none"),
                ("stroke", &colour),
                ("stroke-width", &2),
            ];
            plot.svg.element("polyline", &line, "");
            for bin in bins {
                let radius = 2.0 + 4.0 * (bin.items as f64 / most).sqrt();
                let (x, y) = (px(plot.x(bin.confidence)), px(plot.y(bin.outcome)));
                let dot: [(&str, &dyn Display); 5] = [
                    ("cx", &x),
                    ("cy", &y),
                    ("r", &px(radius)),
                    ("fill", &colour),
                    ("fill-opacity", &"0.55"),
                ];
                plot.svg.element("circle", &dot, "");
            }
            plot.legend(row, colour, name);
        }
        plot.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_every_bin() {
        let bins = vec![
            ReliabilityBin { confidence: 0.4, outcome: 0.5, items: 10 },
            ReliabilityBin { confidence: 0.9, outcome: 0.8, items: 40 },
        ];
        let curve = ("a & b".to_owned(), bins, vec![(0.0, 0.1), (1.0, 0.9)]);
        let svg = Reliability { title: "t".into(), curves: vec![curve] }.svg();
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("a &amp; b"));
    }
}
