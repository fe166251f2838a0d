//! The part of TrueType that the figures' own fonts have: advances, kerning and outlines.
//!
//! It reads the two fonts of this crate. What another font may have (hinting, ligatures, colours, tables of
//! other formats) is left out. A table that breaks off gives `None`, never a panic. See the OpenType
//! specification for the layout of each table.

use std::collections::BTreeMap;

/// A part of an outline, in units of the font; y grows upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Segment {
    Move(Point),
    Line(Point),
    /// A quadratic curve: its control point and its end.
    Curve(Point, Point),
    Close,
}

/// x and y.
pub(crate) type Point = (f32, f32);

/// A font in memory.
pub(crate) struct Face {
    bytes: &'static [u8],
    tables: BTreeMap<[u8; 4], usize>,
    /// Units of an em.
    pub(crate) units: u16,
    /// The box around all glyphs: left, bottom, right, top.
    pub(crate) bounds: [i16; 4],
    pub(crate) ascender: i16,
    pub(crate) descender: i16,
    long_offsets: bool,
    /// Glyphs that have an advance of their own; later ones have that of the last.
    advances: u16,
    kerning: Option<Kerning>,
}

/// Where the classes of glyphs and the values of their pairs are.
struct Kerning {
    coverage: usize,
    classes: [usize; 2],
    /// Classes of right glyphs.
    columns: u16,
    values: usize,
}

/// Composite glyphs may consist of composite ones, this deep.
const DEEPEST: usize = 5;

impl Face {
    pub(crate) fn parse(bytes: &'static [u8]) -> Option<Self> {
        let mut face = Self {
            bytes,
            tables: BTreeMap::new(),
            units: 0,
            bounds: [0; 4],
            ascender: 0,
            descender: 0,
            long_offsets: false,
            advances: 0,
            kerning: None,
        };
        for table in 0..usize::from(face.u16(4)?) {
            let record = 12 + 16 * table;
            let name = *bytes.get(record..)?.first_chunk::<4>()?;
            face.tables.insert(name, face.u32(record + 8)? as usize);
        }
        let (head, hhea) = (face.table(b"head")?, face.table(b"hhea")?);
        face.units = face.u16(head + 18).filter(|units| *units > 0)?;
        for side in 0..4 {
            face.bounds[side] = face.i16(head + 36 + 2 * side)?;
        }
        face.long_offsets = face.u16(head + 50)? != 0;
        (face.ascender, face.descender) = (face.i16(hhea + 4)?, face.i16(hhea + 6)?);
        face.advances = face.u16(hhea + 34).filter(|advances| *advances > 0)?;
        face.kerning = face.find_kerning();
        Some(face)
    }

    fn u16(&self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn i16(&self, at: usize) -> Option<i16> {
        Some(i16::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn table(&self, name: &[u8; 4]) -> Option<usize> {
        self.tables.get(name).copied()
    }

    /// What an offset at a place leads to, from the start of its table.
    fn offset(&self, table: usize, at: usize) -> Option<usize> {
        Some(table + usize::from(self.u16(table + at)?))
    }

    /// The glyph of a character; `None` where the font has none. Characters behind U+FFFF have none.
    pub(crate) fn glyph(&self, c: char) -> Option<u16> {
        let (cmap, code) = (self.table(b"cmap")?, u16::try_from(c as u32).ok()?);
        let segments = (0..usize::from(self.u16(cmap + 2)?)).find_map(|record| {
            let table = cmap + self.u32(cmap + 4 + 8 * record + 4)? as usize;
            (self.u16(table)? == 4).then_some(table)
        })?;
        let twice = usize::from(self.u16(segments + 6)?);
        let (ends, starts) = (segments + 14, segments + 16 + twice);
        let place =
            (0..twice).step_by(2).find(|at| self.u16(ends + at).is_some_and(|end| code <= end))?;
        let start = self.u16(starts + place).filter(|start| *start <= code)?;
        let delta = self.u16(starts + twice + place)?;
        let range = starts + 2 * twice + place;
        let glyph = match self.u16(range)? {
            0 => code.wrapping_add(delta),
            offset => {
                match self.u16(range + usize::from(offset) + 2 * usize::from(code - start))? {
                    0 => 0,
                    glyph => glyph.wrapping_add(delta),
                }
            }
        };
        (glyph != 0).then_some(glyph)
    }

    /// How far a glyph moves the pen.
    pub(crate) fn advance(&self, glyph: u16) -> u16 {
        let place = 4 * usize::from(glyph.min(self.advances - 1));
        self.table(b"hmtx").and_then(|hmtx| self.u16(hmtx + place)).unwrap_or(0)
    }

    /// The pairs of classes of the feature `kern`; the fonts here have one table of them.
    fn find_kerning(&self) -> Option<Kerning> {
        let gpos = self.table(b"GPOS")?;
        let (features, lookups) = (self.offset(gpos, 6)?, self.offset(gpos, 8)?);
        let feature = (0..usize::from(self.u16(features)?)).find_map(|record| {
            let at = 2 + 6 * record;
            let is_kern = self.bytes.get(features + at..)?.starts_with(b"kern");
            is_kern.then(|| self.offset(features, at + 4))?
        })?;
        let lookup = self.offset(lookups, 2 + 2 * usize::from(self.u16(feature + 4)?))?;
        let pairs = self.offset(lookup, 6)?;
        // Pairs (2), by classes (2), each with the advance (4) of the left glyph and nothing of the right.
        let known =
            [self.u16(lookup)?, self.u16(pairs)?, self.u16(pairs + 4)?, self.u16(pairs + 6)?];
        (known == [2, 2, 4, 0]).then_some(())?;
        Some(Kerning {
            coverage: self.offset(pairs, 2)?,
            classes: [self.offset(pairs, 8)?, self.offset(pairs, 10)?],
            columns: self.u16(pairs + 14)?,
            values: pairs + 16,
        })
    }

    /// How much nearer (below 0) or farther the right glyph stands than the advance of the left says.
    pub(crate) fn kerning(&self, left: u16, right: u16) -> i16 {
        let value = |kerning: &Kerning| {
            // Only glyphs of the coverage, whose class may still be 0, begin a pair.
            self.is_covered(kerning.coverage, left).filter(|covered| *covered)?;
            let [row, column] =
                [self.class(kerning.classes[0], left), self.class(kerning.classes[1], right)];
            self.i16(kerning.values + 2 * (row * usize::from(kerning.columns) + column))
        };
        self.kerning.as_ref().and_then(value).unwrap_or(0)
    }

    /// The ranges of a coverage or of classes: both have the same form.
    fn in_ranges(&self, table: usize, glyph: u16) -> Option<u16> {
        (0..usize::from(self.u16(table + 2)?)).find_map(|range| {
            let at = table + 4 + 6 * range;
            let within = (self.u16(at)?..=self.u16(at + 2)?).contains(&glyph);
            within.then(|| self.u16(at + 4))?
        })
    }

    fn is_covered(&self, table: usize, glyph: u16) -> Option<bool> {
        let listed = |at: usize| self.u16(table + 4 + 2 * at) == Some(glyph);
        Some(match self.u16(table)? {
            1 => (0..usize::from(self.u16(table + 2)?)).any(listed),
            _ => self.in_ranges(table, glyph).is_some(),
        })
    }

    /// The class of a glyph; 0 for one that is not listed.
    fn class(&self, table: usize, glyph: u16) -> usize {
        let listed = || {
            let place = glyph.checked_sub(self.u16(table + 2)?)?;
            let at = table + 6 + 2 * usize::from(place);
            (place < self.u16(table + 4)?).then(|| self.u16(at))?
        };
        let class = match self.u16(table) {
            Some(1) => listed(),
            _ => self.in_ranges(table, glyph),
        };
        usize::from(class.unwrap_or(0))
    }

    /// The outline of a glyph; of a space, nothing.
    pub(crate) fn outline(&self, glyph: u16) -> Vec<Segment> {
        let mut segments = Vec::new();
        // What a broken font has of it.
        let _ = self.add_outline(glyph, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0, &mut segments);
        segments
    }

    fn add_outline(
        &self,
        glyph: u16,
        by: [f32; 6],
        depth: usize,
        out: &mut Vec<Segment>,
    ) -> Option<()> {
        let (loca, glyf, place) = (self.table(b"loca")?, self.table(b"glyf")?, usize::from(glyph));
        let start = |place: usize| match self.long_offsets {
            true => self.u32(loca + 4 * place).map(|at| at as usize),
            false => self.u16(loca + 2 * place).map(|at| 2 * usize::from(at)),
        };
        let (from, to) = (start(place)?, start(place + 1)?);
        if from >= to || depth > DEEPEST {
            return None;
        }
        let at = glyf + from;
        match usize::try_from(self.i16(at)?) {
            Ok(contours) => self.add_contours(at + 10, contours, by, out),
            Err(_) => self.add_parts(at + 10, by, depth, out),
        }
    }

    /// The glyphs that a composite one consists of.
    fn add_parts(
        &self,
        mut at: usize,
        by: [f32; 6],
        depth: usize,
        out: &mut Vec<Segment>,
    ) -> Option<()> {
        loop {
            let (flags, glyph) = (self.u16(at)?, self.u16(at + 2)?);
            let has = |bit: u16| flags & bit != 0;
            at += 4;
            let byte = |at: usize| self.bytes.get(at).map(|byte| f32::from(byte.cast_signed()));
            let (dx, dy) = match has(1) {
                true => (f32::from(self.i16(at)?), f32::from(self.i16(at + 2)?)),
                false => (byte(at)?, byte(at + 1)?),
            };
            at += if has(1) { 4 } else { 2 };
            // Numbers with 14 bits behind the point.
            let number = |at: usize| self.i16(at).map(|value| f32::from(value) / 16384.0);
            let [a, b, c, d] = match (has(8), has(0x40), has(0x80)) {
                (true, ..) => [number(at)?, 0.0, 0.0, number(at)?],
                (_, true, _) => [number(at)?, 0.0, 0.0, number(at + 2)?],
                (.., true) => [number(at)?, number(at + 2)?, number(at + 4)?, number(at + 6)?],
                _ => [1.0, 0.0, 0.0, 1.0],
            };
            at +=
                2 * (usize::from(has(8)) + 2 * usize::from(has(0x40)) + 4 * usize::from(has(0x80)));
            let (x, y) = moved(by, (dx, dy));
            let linear = [by[0], by[1], by[2], by[3], 0.0, 0.0];
            let (p, q) = (moved(linear, (a, b)), moved(linear, (c, d)));
            // A part that is broken leaves the others.
            let _ = self.add_outline(glyph, [p.0, p.1, q.0, q.1, x, y], depth + 1, out);
            if !has(0x20) {
                return Some(());
            }
        }
    }

    fn add_contours(
        &self,
        at: usize,
        contours: usize,
        by: [f32; 6],
        out: &mut Vec<Segment>,
    ) -> Option<()> {
        let ends: Vec<usize> = (0..contours)
            .map(|contour| self.u16(at + 2 * contour).map(usize::from))
            .collect::<Option<_>>()?;
        let count = ends.last()? + 1;
        let mut at = at + 2 * contours;
        at += 2 + usize::from(self.u16(at)?);
        let mut flags = Vec::with_capacity(count);
        while flags.len() < count {
            let flag = *self.bytes.get(at)?;
            at += 1;
            let repeats = if flag & 8 != 0 { usize::from(*self.bytes.get(at)?) } else { 0 };
            at += usize::from(flag & 8 != 0);
            flags.extend(std::iter::repeat_n(flag, repeats + 1));
        }
        let mut axis = |short: u8, same: u8| -> Option<Vec<f32>> {
            let (mut value, mut values) = (0, Vec::with_capacity(count));
            for flag in &flags[..count] {
                match (flag & short != 0, flag & same != 0) {
                    (true, positive) => {
                        let step = i32::from(*self.bytes.get(at)?);
                        value += if positive { step } else { -step };
                        at += 1;
                    }
                    (false, false) => {
                        value += i32::from(self.i16(at)?);
                        at += 2;
                    }
                    (false, true) => {}
                }
                values.push(value as f32);
            }
            Some(values)
        };
        let (xs, ys) = (axis(2, 16)?, axis(4, 32)?);
        let mut first = 0;
        for end in ends {
            let points = (first..=end).map(|i| (moved(by, (xs[i], ys[i])), flags[i] & 1 != 0));
            add_contour(&points.collect::<Vec<_>>(), out);
            first = end + 1;
        }
        Some(())
    }
}

fn moved([a, b, c, d, e, f]: [f32; 6], (x, y): Point) -> Point {
    (a * x + c * y + e, b * x + d * y + f)
}

/// A closed line through points on it and control points; between two control points lies one on it.
fn add_contour(points: &[(Point, bool)], out: &mut Vec<Segment>) {
    let middle = |a: Point, b: Point| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let (Some(&(first, first_on)), Some(&(last, last_on))) = (points.first(), points.last()) else {
        return;
    };
    let start = match (first_on, last_on) {
        (true, _) => first,
        (false, true) => last,
        (false, false) => middle(first, last),
    };
    out.push(Segment::Move(start));
    let mut control: Option<Point> = None;
    let rest = points.iter().skip(usize::from(first_on)).copied();
    for (point, on) in rest.chain([(start, true)]) {
        match (control, on) {
            (None, true) => out.push(Segment::Line(point)),
            (Some(by), true) => out.push(Segment::Curve(by, point)),
            (None, false) => {}
            (Some(by), false) => out.push(Segment::Curve(by, middle(by, point))),
        }
        control = (!on).then_some(point);
    }
    out.push(Segment::Close);
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGULAR: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");
    const BOLD: &[u8] = include_bytes!("../fonts/DejaVuSans-Bold.ttf");

    /// fonttools 4.68.0:
    ///
    /// ```python
    /// font = TTFont(name); glyphs = font.getGlyphSet(); cmap = font.getBestCmap()
    /// pairs = font["GPOS"].table.LookupList.Lookup[2].SubTable[0]
    /// left, right = pairs.ClassDef1.classDefs.get, pairs.ClassDef2.classDefs.get
    /// for a, b in ["AV", "To", "P,", "aa", "r."]:
    ///     print(pairs.Class1Record[left(cmap[ord(a)], 0)].Class2Record[right(cmap[ord(b)], 0)].Value1)
    /// for c in "é%":
    ///     pen = BoundsPen(glyphs); glyphs[cmap[ord(c)]].draw(pen)
    ///     print(font["hmtx"][cmap[ord(c)]][0], pen.bounds)
    /// ```
    #[test]
    fn advances_kerning_and_outlines_are_the_font_s() {
        let expected = [
            (REGULAR, [-131, -348, 0, 0, -188], [1260, 1946], [113.0, -29.0, 1151.0, 1638.0]),
            (BOLD, [-139, -272, -376, 0, -292], [1389, 2052], [88.0, -29.0, 1290.0, 1638.0]),
        ];
        for (bytes, kerning, advances, bounds) in expected {
            let face = Face::parse(bytes).unwrap();
            assert_eq!((face.units, face.ascender, face.descender), (2048, 1901, -483));
            let glyph = |c: char| face.glyph(c).unwrap();
            let pairs = ["AV", "To", "P,", "aa", "r."].map(|pair| {
                let mut glyphs = pair.chars().map(glyph);
                face.kerning(glyphs.next().unwrap(), glyphs.next().unwrap())
            });
            assert_eq!(pairs, kerning);
            assert_eq!(['é', '%'].map(|c| face.advance(glyph(c))), advances);
            // A composite glyph of three contours; its curves' control points lie within its box.
            let outline = face.outline(glyph('é'));
            let contours = outline.iter().filter(|part| matches!(part, Segment::Move(_))).count();
            assert_eq!(contours, 3);
            let points = outline.iter().flat_map(|part| match *part {
                Segment::Move(a) | Segment::Line(a) => vec![a],
                Segment::Curve(a, b) => vec![a, b],
                Segment::Close => vec![],
            });
            let mut found = [f32::MAX, f32::MAX, f32::MIN, f32::MIN];
            for (x, y) in points {
                found = [found[0].min(x), found[1].min(y), found[2].max(x), found[3].max(y)];
            }
            assert_eq!(found, bounds);
            assert_eq!((face.glyph('日'), face.glyph('😀')), (None, None));
            assert!(face.outline(glyph(' ')).is_empty());
        }
    }

    #[test]
    fn a_font_that_breaks_off_is_no_panic() {
        for end in (0..BOLD.len()).step_by(97) {
            let Some(face) = Face::parse(&BOLD[..end]) else { continue };
            for glyph in [0, 1, 40, 300, u16::MAX] {
                face.outline(glyph);
                face.advance(glyph);
                face.kerning(glyph, glyph);
            }
            face.glyph('é');
        }
    }
}
