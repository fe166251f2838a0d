//! The font of the figures, and how much room a text takes in it.
//!
//! A width is the sum of the advances of the font that is drawn with; kerning, which mostly pulls
//! letters together, is not counted. A letter that the font does not have counts as one em.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::truetype::Face;

const REGULAR: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/DejaVuSans-Bold.ttf");
const REGULAR_WEB: &[u8] = include_bytes!("../../fonts/DejaVuSans.woff2");
const BOLD_WEB: &[u8] = include_bytes!("../../fonts/DejaVuSans-Bold.woff2");

pub(crate) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// Regular or bold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// A font of one size, in points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub(super) size: f64,
    pub(super) weight: Weight,
}

/// The rules that bring the font into a page: one for a whole page is enough for its figures.
pub fn css() -> &'static str {
    static CSS: OnceLock<String> = OnceLock::new();
    CSS.get_or_init(|| {
        let rule = |weight: &str, bytes: &[u8]| {
            format!(
                "@font-face{{font-family:\"DejaVu Sans\";font-weight:{weight};\
                 src:url(data:font/woff2;base64,{}) format(\"woff2\")}}",
                STANDARD.encode(bytes)
            )
        };
        rule("400", REGULAR_WEB) + &rule("700", BOLD_WEB)
    })
}

impl Weight {
    /// The file of the font.
    pub(crate) fn file(self) -> &'static [u8] {
        match self {
            Self::Regular => REGULAR,
            Self::Bold => BOLD,
        }
    }
}

/// The fonts that figures are drawn with: these two, none of the system's.
pub(crate) fn face(weight: Weight) -> Option<&'static Face> {
    static FACES: [OnceLock<Option<Face>>; 2] = [OnceLock::new(), OnceLock::new()];
    FACES[weight as usize].get_or_init(|| Face::parse(weight.file())).as_ref()
}

/// Advances in em of the characters up to here are looked up once.
const KNOWN: usize = 0x2300;

fn advances(weight: Weight) -> &'static [f32] {
    static ADVANCES: [OnceLock<Vec<f32>>; 2] = [OnceLock::new(), OnceLock::new()];
    ADVANCES[weight as usize].get_or_init(|| {
        let Some(face) = face(weight) else { return Vec::new() };
        let em = f32::from(face.units);
        let advance = |code: usize| {
            let glyph = face.glyph(char::from_u32(u32::try_from(code).ok()?)?)?;
            Some(f32::from(face.advance(glyph)) / em)
        };
        (0..KNOWN).map(|code| advance(code).unwrap_or(1.0)).collect()
    })
}

impl Type {
    pub(super) const fn regular(size: f64) -> Self {
        Self { size, weight: Weight::Regular }
    }

    pub(super) const fn bold(size: f64) -> Self {
        Self { size, weight: Weight::Bold }
    }

    /// How wide a text is, in points.
    pub(super) fn width(self, text: &str) -> f64 {
        let known = advances(self.weight);
        let advance = |c: char| f64::from(known.get(c as usize).copied().unwrap_or(1.0));
        text.chars().filter(|c| !c.is_control()).map(advance).sum::<f64>() * self.size
    }

    /// A text on one line, cut where the room ends. A space that does not break stays.
    pub(super) fn cut(self, text: &str, room: f64) -> String {
        let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if self.width(&text) <= room {
            return text;
        }
        let (mut kept, mut wide) = (String::new(), self.width("…"));
        for c in text.chars() {
            wide += self.width(c.encode_utf8(&mut [0; 4]));
            if wide > room {
                break;
            }
            kept.push(c);
        }
        kept.truncate(kept.trim_end().len());
        kept + "…"
    }

    /// A text on at most so many lines; what does not fit is cut.
    pub(super) fn wrap(self, text: &str, room: f64, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut words = text.split_ascii_whitespace().peekable();
        let mut line = String::new();
        while let Some(word) = words.peek() {
            let longer =
                if line.is_empty() { (*word).to_owned() } else { format!("{line} {word}") };
            let last = lines.len() + 1 >= most;
            if self.width(&longer) <= room {
                line = longer;
                words.next();
            } else if last {
                let rest = std::iter::once(longer.as_str()).chain(words.skip(1));
                lines.push(self.cut(&rest.take(100).collect::<Vec<_>>().join(" "), room));
                return lines;
            } else if line.is_empty() {
                // A word wider than a line has no better place for its end.
                lines.push(self.cut(word, room));
                words.next();
            } else {
                lines.push(std::mem::take(&mut line));
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Type = Type::regular(10.0);

    /// fonttools 4.68.0:
    ///
    /// ```python
    /// font = TTFont("DejaVuSans.ttf"); cmap = font.getBestCmap()
    /// print(sum(font["hmtx"][cmap[ord(c)]][0] for c in "votes ± 5") / font["head"].unitsPerEm)
    /// ```
    #[test]
    fn widths_are_the_font_s() {
        assert!((TEXT.width("votes ± 5") - 48.41796875).abs() < 1e-4);
        assert!(Type::bold(10.0).width("votes") > TEXT.width("votes"));
    }

    #[test]
    fn long_text_is_cut_and_wrapped_within_its_room() {
        let long = "the quick brown fox jumps over the lazy dog ".repeat(9) + &"x".repeat(400);
        for room in [20.0, 55.5, 300.0] {
            assert!(TEXT.width(&TEXT.cut(&long, room)) <= room);
            for most in [1, 2, 7] {
                let lines = TEXT.wrap(&long, room, most);
                assert_eq!(lines.len(), most);
                assert!(lines.iter().all(|line| TEXT.width(line) <= room), "{lines:?}");
                assert!(lines[most - 1].ends_with('…'));
            }
        }
        assert_eq!(TEXT.wrap("a b", 300.0, 2), ["a b"]);
        assert_eq!(TEXT.wrap(" ", 300.0, 2), Vec::<String>::new());
    }

    #[test]
    fn the_font_has_what_figures_write() {
        for weight in [Weight::Regular, Weight::Bold] {
            let face = face(weight).unwrap();
            for c in "AZaz09äłőΩλσρ±−×·…–—≤≥∑√≈→↑↓⁻⁰¹⁹’“".chars()
            {
                assert!(face.glyph(c).is_some(), "{c}");
            }
        }
    }
}
