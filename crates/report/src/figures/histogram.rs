//! A histogram of equal bins, with the count above each bar and the mean marked.

use crate::svg::{Svg, px};

/// What a histogram shows.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Above the picture.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// Beside the other axis.
    pub y_label: String,
    /// The first bin's lower edge.
    pub from: f64,
    /// The last bin's upper edge.
    pub to: f64,
    /// How many fell into each bin.
    pub counts: Vec<usize>,
    /// A value to mark, with its name.
    pub mark: Option<(f64, String)>,
}

/// A round number at least as large as `value`, in steps that people read easily.
fn round_up(value: f64) -> f64 {
    let scale = 10f64.powf(value.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0];
    steps.iter().map(|s| s * scale).find(|top| *top >= value).unwrap_or(value)
}

impl Histogram {
    /// The picture.
    pub fn svg(&self) -> String {
        let (width, height) = (640.0, 360.0);
        let (left, right, top, bottom) = (64.0, 16.0, 44.0, 52.0);
        let (w, h) = (width - left - right, height - top - bottom);
        let most = self.counts.iter().copied().max().unwrap_or(0);
        // A little room above the highest bar, for its count and the mark's name.
        let ceiling = round_up(most as f64 * 1.1);
        let y = |count: f64| top + h - h * count / ceiling;
        let bins = self.counts.len().max(1) as f64;
        let mut svg = Svg::new(width, height);
        svg.element(
            "text",
            &[("x", &left), ("y", &22), ("font-size", &14), ("font-weight", &"bold")],
            &self.title,
        );
        for step in 0..=4 {
            let count = ceiling * f64::from(step) / 4.0;
            let at = px(y(count));
            let line: [(&str, &dyn std::fmt::Display); 5] = [
                ("x1", &left),
                ("x2", &(left + w)),
                ("y1", &at),
                ("y2", &at),
                ("stroke", &"#dddddd"),
            ];
            svg.element("line", &line, "");
            svg.element(
                "text",
                &[("x", &(left - 8.0)), ("y", &px(y(count) + 4.0)), ("text-anchor", &"end")],
                &px(count),
            );
        }
        for (i, &count) in self.counts.iter().enumerate() {
            let x = left + w * i as f64 / bins;
            let bar = w / bins;
            svg.element(
                "rect",
                &[
                    ("x", &px(x + 1.0)),
                    ("y", &px(y(count as f64))),
                    ("width", &px(bar - 2.0)),
                    ("height", &px(top + h - y(count as f64))),
                    ("fill", &"#0072b2"),
                ],
                "",
            );
            let label: [(&str, &dyn std::fmt::Display); 5] = [
                ("x", &px(x + bar / 2.0)),
                ("y", &px(y(count as f64) - 4.0)),
                ("text-anchor", &"middle"),
                ("font-size", &10),
                ("fill", &"#444444"),
            ];
            svg.element("text", &label, &count.to_string());
        }
        for i in 0..=self.counts.len() {
            let value = self.from + (self.to - self.from) * i as f64 / bins;
            let x = px(left + w * i as f64 / bins);
            svg.element(
                "text",
                &[("x", &x), ("y", &(top + h + 18.0)), ("text-anchor", &"middle")],
                &px(value),
            );
        }
        if let Some((value, name)) = &self.mark {
            let x = left + w * ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
            let line: [(&str, &dyn std::fmt::Display); 7] = [
                ("x1", &px(x)),
                ("x2", &px(x)),
                ("y1", &(top - 6.0)),
                ("y2", &(top + h)),
                ("stroke", &"#d55e00"),
                ("stroke-width", &2),
                ("stroke-dasharray", &"5 3"),
            ];
            svg.element("line", &line, "");
            let (anchor, shift) = if x > left + w * 0.7 { ("end", -6.0) } else { ("start", 6.0) };
            svg.element(
                "text",
                &[
                    ("x", &px(x + shift)),
                    ("y", &(top + 4.0)),
                    ("fill", &"#b34700"),
                    ("text-anchor", &anchor),
                ],
                name,
            );
        }
        let middle = left + w / 2.0;
        svg.element(
            "text",
            &[("x", &middle), ("y", &(height - 12.0)), ("text-anchor", &"middle")],
            &self.x_label,
        );
        let side = top + h / 2.0;
        let turn = format!("rotate(-90 16 {side})");
        svg.element(
            "text",
            &[("x", &16), ("y", &side), ("text-anchor", &"middle"), ("transform", &turn)],
            &self.y_label,
        );
        svg.finish(&self.title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_every_bin_and_escapes_what_it_is_given() {
        let histogram = Histogram {
            title: "a <b> & \"c\"".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            from: 0.0,
            to: 1.0,
            counts: vec![3, 0, 7],
            mark: Some((0.4, "mean".into())),
        };
        let svg = histogram.svg();
        assert!(svg.contains("a &lt;b&gt; &amp; &quot;c&quot;"));
        assert_eq!(svg.matches("<rect").count(), 1 + 3);
        assert!(svg.ends_with("</svg>\n"));
    }

    #[test]
    fn ceilings_are_round() {
        let all = [0.0, 1.0, 7.0, 99.0, 4393.0].map(round_up);
        assert_eq!(all, [1.0, 1.0, 8.0, 100.0, 5000.0]);
    }
}
