//! The texts of a figure as glyphs of its own fonts, placed as a renderer of SVG places them: one after the
//! other, with kerning, from their anchor. There are no ligatures, and letters run from left to right.

use std::fmt::Write as _;

use resvg::usvg::roxmltree::{Document, Node};

use crate::ReportError;
use crate::figures::font::{Weight, face};
use crate::raster::drawing;
use crate::truetype::Segment;

/// What begins the id of a path that is a text; its place in the list of texts follows.
pub(crate) const ID: &str = "text-";

/// A glyph, what it stands for, and where it begins.
pub(crate) struct Placed {
    pub(crate) glyph: u16,
    pub(crate) text: char,
    pub(crate) x: f64,
}

/// A text of one line.
pub(crate) struct Line {
    pub(crate) weight: Weight,
    pub(crate) size: f64,
    /// The line that it stands on.
    pub(crate) y: f64,
    pub(crate) glyphs: Vec<Placed>,
}

/// Attributes of texts: those of the font, and those that a path has as well.
const OF_FONT: [&str; 6] = ["x", "y", "font-size", "font-weight", "text-anchor", "font-family"];
const OF_PATH: [&str; 5] = ["class", "fill", "fill-opacity", "opacity", "transform"];

/// A drawing whose texts are paths, and these texts.
pub(crate) fn as_paths(svg: &str) -> Result<(String, Vec<Line>), ReportError> {
    let document = Document::parse(svg).map_err(|error| drawing(error.to_string()))?;
    let (mut out, mut lines, mut done) = (String::with_capacity(svg.len()), Vec::new(), 0);
    for node in document.descendants().filter(|node| node.has_tag_name((SVG, "text"))) {
        let line = Line::of(node)?;
        out.push_str(&svg[done..node.range().start]);
        // Writing to a String cannot fail.
        let _ = write!(out, "<path id=\"{ID}{}\" d=\"{}\"", lines.len(), line.path());
        for name in OF_PATH {
            if let Some(value) = node.attribute(name) {
                let _ = write!(out, " {name}=\"{}\"", crate::svg::escape(value));
            }
        }
        out.push_str("/>");
        done = node.range().end;
        lines.push(line);
    }
    out.push_str(&svg[done..]);
    Ok((out, lines))
}

const SVG: &str = "http://www.w3.org/2000/svg";

impl Line {
    fn of(node: Node<'_, '_>) -> Result<Self, ReportError> {
        let unsupported = |what: &str| drawing(format!("a text with {what} cannot be drawn"));
        let known = |name: &str| OF_FONT.contains(&name) || OF_PATH.contains(&name);
        if let Some(other) = node.attributes().find(|attribute| !known(attribute.name())) {
            return Err(unsupported(other.name()));
        }
        if node.children().any(|child| !child.is_text()) {
            return Err(unsupported("parts"));
        }
        // The font is inherited, the place is not.
        let inherited = |name: &str| node.ancestors().find_map(|node| node.attribute(name));
        let number = |name: &str, value: Option<&str>, default: f64| match value {
            None => Ok(default),
            Some(value) => value.parse().map_err(|_| unsupported(&format!("the {name} {value:?}"))),
        };
        let size: f64 = number("font-size", inherited("font-size"), 16.0)?;
        let x: f64 = number("x", node.attribute("x"), 0.0)?;
        let y = number("y", node.attribute("y"), 0.0)?;
        let weight = match inherited("font-weight") {
            Some("700" | "bold") => Weight::Bold,
            None | Some("400" | "normal") => Weight::Regular,
            Some(other) => return Err(unsupported(&format!("the font-weight {other}"))),
        };
        let words: Vec<&str> = node.text().unwrap_or_default().split_ascii_whitespace().collect();
        let mut line = Self { weight, size, y, glyphs: Vec::new() };
        let width = line.place(&words.join(" "));
        let shift = match inherited("text-anchor") {
            None | Some("start") => x,
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            Some(other) => return Err(unsupported(&format!("the text-anchor {other}"))),
        };
        line.glyphs.iter_mut().for_each(|glyph| glyph.x += shift);
        Ok(line)
    }

    /// Places the glyphs of a text from 0 on; returns where it ends.
    fn place(&mut self, text: &str) -> f64 {
        let Some(face) = face(self.weight) else { return 0.0 };
        let scale = self.size / f64::from(face.units);
        let (mut x, mut before) = (0.0, None);
        // Marks that only say how letters join take no room.
        let shown =
            |c: &char| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
        for text in text.chars().filter(shown) {
            let glyph = face.glyph(text).unwrap_or(0);
            let kerning = before.map_or(0, |before| face.kerning(before, glyph));
            x += f64::from(kerning) * scale;
            self.glyphs.push(Placed { glyph, text, x });
            x += f64::from(face.advance(glyph)) * scale;
            before = Some(glyph);
        }
        x
    }

    /// The outlines of all glyphs as the data of a path.
    fn path(&self) -> String {
        let Some(face) = face(self.weight) else { return String::new() };
        let scale = self.size / f64::from(face.units);
        let mut out = String::new();
        for placed in &self.glyphs {
            let at = |(x, y): (f32, f32)| {
                format!(
                    "{:.4} {:.4}",
                    placed.x + f64::from(x) * scale,
                    self.y - f64::from(y) * scale
                )
            };
            for segment in face.outline(placed.glyph) {
                let _ = match segment {
                    Segment::Move(to) => write!(out, "M{}", at(to)),
                    Segment::Line(to) => write!(out, "L{}", at(to)),
                    Segment::Curve(by, to) => write!(out, "Q{} {}", at(by), at(to)),
                    Segment::Close => write!(out, "Z"),
                };
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(texts: &str) -> String {
        format!("<svg xmlns=\"{SVG}\" width=\"99\" height=\"99\">{texts}</svg>")
    }

    #[test]
    fn texts_stand_at_their_anchor() {
        let three = ["start", "middle", "end"].map(|anchor| {
            let text = format!(
                "<text x=\"50\" y=\"9\" font-size=\"10\" text-anchor=\"{anchor}\">To  be</text>"
            );
            let (paths, lines) = as_paths(&svg(&text)).unwrap();
            assert!(
                paths.contains("<path id=\"text-0\" d=\"M") && !paths.contains("<text"),
                "{paths}"
            );
            let glyphs = &lines[0].glyphs;
            assert_eq!(glyphs.iter().map(|glyph| glyph.text).collect::<String>(), "To be");
            glyphs[0].x
        });
        // fonttools: advances of "To be" less the kerning of "To", in em of 2048 units.
        let width = (1251 - 348 + 1253 + 651 + 1300 + 1260) as f64 * 10.0 / 2048.0;
        for (found, expected) in three.iter().zip([50.0, 50.0 - width / 2.0, 50.0 - width]) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn what_texts_here_never_have_is_refused() {
        for text in [
            "<text y=\"5\" text-decoration=\"underline\">a</text>",
            "<text y=\"5\">a<tspan>b</tspan></text>",
            "<text y=\"5\" font-size=\"2em\">a</text>",
            "<g font-weight=\"300\"><text>a</text></g>",
            "<text text-anchor=\"left\">a</text>",
        ] {
            assert!(as_paths(&svg(text)).is_err(), "{text}");
        }
        let (paths, lines) =
            as_paths(&svg("<text fill=\"#&quot;\">&lt;\u{200b}日</text>")).unwrap();
        assert!(paths.contains(" fill=\"#&quot;\""), "{paths}");
        assert_eq!(
            lines[0].glyphs.iter().map(|glyph| glyph.glyph == 0).collect::<Vec<_>>(),
            [false, true]
        );
    }
}
