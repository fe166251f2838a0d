//! A figure as PDF: the shapes, texts and images that figures consist of, with subsets of their
//! fonts. Text stays text, so it can be searched and copied. The same SVG gives the same bytes.

use std::collections::BTreeMap;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{
    CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap,
};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Str};
use resvg::tiny_skia::{PathSegment, Pixmap, Transform};
use resvg::usvg::{
    Fill, FillRule, Group, Image, ImageKind, LineCap, LineJoin, Node, Paint, PaintOrder, Path,
    Stroke,
};
use subsetter::GlyphRemapper;

use crate::ReportError;
use crate::figures::font::{Weight, face};
use crate::raster::{drawing, tree};
use crate::texts::{self, Line};

/// How text is encoded: two bytes per glyph, which are its number.
const SYSTEM: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// A figure as PDF, in its own size, with its fonts inside.
pub fn pdf(svg: &str) -> Result<Vec<u8>, ReportError> {
    let (tree, lines) = tree(svg)?;
    // The tree is in pixels of 96 to an inch from the top, a page in points of 72 from the bottom.
    let (width, height) = (tree.size().width() * 0.75, tree.size().height() * 0.75);
    let mut drawing = Drawing::new(&lines);
    drawing.content.transform([0.75, 0.0, 0.0, -0.75, 0.0, height]);
    drawing.group(tree.root())?;
    drawing.finish(Rect::new(0.0, 0.0, width, height))
}

/// The glyphs of a font that are drawn, with the text that each stands for.
#[derive(Default)]
struct Used {
    glyphs: GlyphRemapper,
    texts: BTreeMap<u16, char>,
}

struct Drawing<'a> {
    lines: &'a [Line],
    pdf: Pdf,
    content: Content,
    fonts: BTreeMap<Weight, Used>,
    /// Opacities in per mille, of fills and strokes, each with its graphics state.
    opacities: BTreeMap<(u16, u16), Ref>,
    images: Vec<Ref>,
    last: Ref,
}

impl<'a> Drawing<'a> {
    fn new(lines: &'a [Line]) -> Self {
        Self {
            lines,
            pdf: Pdf::new(),
            content: Content::new(),
            fonts: BTreeMap::new(),
            opacities: BTreeMap::new(),
            images: Vec::new(),
            last: Ref::new(1),
        }
    }

    fn new_ref(&mut self) -> Ref {
        self.last.bump()
    }

    fn group(&mut self, group: &Group) -> Result<(), ReportError> {
        if group.should_isolate() {
            return Err(unsupported("a group with an effect of its own"));
        }
        group.children().iter().try_for_each(|node| match node {
            Node::Group(group) => self.group(group),
            Node::Path(path) if path.is_visible() => match self.line(path) {
                Some(line) => self.text(line, path),
                None => self.path(path),
            },
            Node::Image(image) if image.is_visible() => self.image(image),
            Node::Text(_) => Err(unsupported("a text that is not one of ours")),
            Node::Path(_) | Node::Image(_) => Ok(()),
        })
    }

    fn path(&mut self, path: &Path) -> Result<(), ReportError> {
        let (fill, stroke) = (path.fill(), path.stroke());
        self.content.save_state().transform(matrix(path.abs_transform()));
        self.paint(fill, stroke)?;
        let mut from = (0.0, 0.0);
        let mut outline = |content: &mut Content| {
            for segment in path.data().segments() {
                match segment {
                    PathSegment::MoveTo(to) => _ = content.move_to(to.x, to.y),
                    PathSegment::LineTo(to) => _ = content.line_to(to.x, to.y),
                    PathSegment::QuadTo(c, to) => {
                        let near = |a: f32, c: f32| a + (c - a) * 2.0 / 3.0;
                        let (x, y) = from;
                        content.cubic_to(
                            near(x, c.x),
                            near(y, c.y),
                            near(to.x, c.x),
                            near(to.y, c.y),
                            to.x,
                            to.y,
                        );
                    }
                    PathSegment::CubicTo(a, b, to) => {
                        _ = content.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y)
                    }
                    PathSegment::Close => _ = content.close_path(),
                }
                if let PathSegment::MoveTo(to)
                | PathSegment::LineTo(to)
                | PathSegment::QuadTo(_, to)
                | PathSegment::CubicTo(_, _, to) = segment
                {
                    from = (to.x, to.y);
                }
            }
        };
        outline(&mut self.content);
        let even_odd = fill.is_some_and(|fill| fill.rule() == FillRule::EvenOdd);
        match (fill, stroke) {
            (Some(_), Some(_)) if path.paint_order() == PaintOrder::StrokeAndFill => {
                self.content.stroke();
                outline(&mut self.content);
                if even_odd { self.content.fill_even_odd() } else { self.content.fill_nonzero() }
            }
            (Some(_), Some(_)) if even_odd => self.content.fill_even_odd_and_stroke(),
            (Some(_), Some(_)) => self.content.fill_nonzero_and_stroke(),
            (Some(_), None) if even_odd => self.content.fill_even_odd(),
            (Some(_), None) => self.content.fill_nonzero(),
            (None, Some(_)) => self.content.stroke(),
            (None, None) => self.content.end_path(),
        };
        self.content.restore_state();
        Ok(())
    }

    /// Sets colours, opacities and the pen.
    fn paint(&mut self, fill: Option<&Fill>, stroke: Option<&Stroke>) -> Result<(), ReportError> {
        let per_mille = |opacity: f32| (opacity * 1000.0).round() as u16;
        let opacities = (
            fill.map_or(1000, |fill| per_mille(fill.opacity().get())),
            stroke.map_or(1000, |stroke| per_mille(stroke.opacity().get())),
        );
        if opacities != (1000, 1000) {
            let state = match self.opacities.get(&opacities) {
                Some(&state) => state,
                None => self.new_ref(),
            };
            self.opacities.insert(opacities, state);
            self.content.set_parameters(Name(format!("G{}", state.get()).as_bytes()));
        }
        if let Some(fill) = fill {
            let [red, green, blue] = colour(fill.paint())?;
            self.content.set_fill_rgb(red, green, blue);
        }
        if let Some(stroke) = stroke {
            let [red, green, blue] = colour(stroke.paint())?;
            self.content.set_stroke_rgb(red, green, blue).set_line_width(stroke.width().get());
            self.content.set_miter_limit(stroke.miterlimit().get());
            self.content.set_line_cap(match stroke.linecap() {
                LineCap::Butt => LineCapStyle::ButtCap,
                LineCap::Round => LineCapStyle::RoundCap,
                LineCap::Square => LineCapStyle::ProjectingSquareCap,
            });
            self.content.set_line_join(match stroke.linejoin() {
                LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
                LineJoin::Round => LineJoinStyle::RoundJoin,
                LineJoin::Bevel => LineJoinStyle::BevelJoin,
            });
            if let Some(dashes) = stroke.dasharray() {
                self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
            }
        }
        Ok(())
    }

    /// The text that a path is.
    fn line(&self, path: &Path) -> Option<&'a Line> {
        self.lines.get(path.id().strip_prefix(texts::ID)?.parse::<usize>().ok()?)
    }

    fn text(&mut self, line: &Line, path: &Path) -> Result<(), ReportError> {
        if path.stroke().is_some() {
            return Err(unsupported("text with lines"));
        }
        self.content.save_state().transform(matrix(path.abs_transform()));
        self.paint(path.fill(), None)?;
        self.content.begin_text();
        self.content.set_font(Name(name_of(line.weight)), line.size as f32);
        let used = self.fonts.entry(line.weight).or_default();
        for placed in &line.glyphs {
            let number = used.glyphs.remap(placed.glyph);
            used.texts.entry(number).or_insert(placed.text);
            self.content.set_text_matrix([1.0, 0.0, 0.0, -1.0, placed.x as f32, line.y as f32]);
            self.content.show(Str(&number.to_be_bytes()));
        }
        self.content.end_text().restore_state();
        Ok(())
    }

    fn image(&mut self, image: &Image) -> Result<(), ReportError> {
        let ImageKind::PNG(bytes) = image.kind() else {
            return Err(unsupported("an image that is no PNG"));
        };
        let pixels = Pixmap::decode_png(bytes).map_err(|error| drawing(error.to_string()))?;
        let rgb: Vec<u8> =
            pixels.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
        let rgb = compressed(&rgb)?;
        let id = self.new_ref();
        let mut object = self.pdf.image_xobject(id, &rgb);
        object.filter(Filter::FlateDecode);
        object
            .width(pixels.width() as i32)
            .height(pixels.height() as i32)
            .color_space()
            .device_rgb();
        object.bits_per_component(8);
        object.finish();
        let (width, height) = (image.size().width(), image.size().height());
        let place = image
            .abs_transform()
            .pre_concat(Transform::from_row(width, 0.0, 0.0, -height, 0.0, height));
        self.content.save_state().transform(matrix(place));
        self.content.x_object(Name(format!("I{}", id.get()).as_bytes())).restore_state();
        self.images.push(id);
        Ok(())
    }

    /// Writes what pages and fonts consist of.
    fn finish(mut self, size: Rect) -> Result<Vec<u8>, ReportError> {
        let mut fonts = Vec::new();
        for (weight, used) in std::mem::take(&mut self.fonts) {
            fonts.push((weight, self.font(weight, &used)?));
        }
        let [catalog, pages, page, content] = std::array::from_fn(|_| self.new_ref());
        self.pdf.catalog(catalog).pages(pages);
        self.pdf.pages(pages).kids([page]).count(1);
        let mut written = self.pdf.page(page);
        written.parent(pages).media_box(size).contents(content);
        let mut resources = written.resources();
        let mut dictionary = resources.fonts();
        for (weight, reference) in fonts {
            dictionary.pair(Name(name_of(weight)), reference);
        }
        dictionary.finish();
        let mut dictionary = resources.x_objects();
        for image in &self.images {
            dictionary.pair(Name(format!("I{}", image.get()).as_bytes()), *image);
        }
        dictionary.finish();
        let mut dictionary = resources.ext_g_states();
        for state in self.opacities.values() {
            dictionary.pair(Name(format!("G{}", state.get()).as_bytes()), *state);
        }
        dictionary.finish();
        resources.finish();
        written.finish();
        for (&(fill, stroke), &state) in &self.opacities {
            let share = |per_mille: u16| f32::from(per_mille) / 1000.0;
            self.pdf
                .ext_graphics(state)
                .non_stroking_alpha(share(fill))
                .stroking_alpha(share(stroke));
        }
        let bytes = compressed(&self.content.finish())?;
        self.pdf.stream(content, &bytes).filter(Filter::FlateDecode);
        Ok(self.pdf.finish())
    }

    /// Writes the used part of a font.
    fn font(&mut self, weight: Weight, used: &Used) -> Result<Ref, ReportError> {
        let face = face(weight).ok_or_else(|| unsupported("a font that cannot be read"))?;
        let subset = subsetter::subset(weight.file(), 0, &used.glyphs)
            .map_err(|error| drawing(error.to_string()))?;
        let subset = compressed(&subset)?;
        let [font, cid, descriptor, map, file] = std::array::from_fn(|_| self.new_ref());
        let name = Name(match weight {
            Weight::Regular => b"AAAAAA+DejaVuSans",
            Weight::Bold => b"AAAAAA+DejaVuSans-Bold",
        });
        // A thousandth of the font's size is the unit of all measures.
        let unit = |value: i16| f32::from(value) * 1000.0 / f32::from(face.units);
        let width = |old| unit(face.advance(old) as i16);
        let mut written = self.pdf.type0_font(font);
        written
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(cid)
            .to_unicode(map);
        written.finish();
        let mut written = self.pdf.cid_font(cid);
        written
            .subtype(CidFontType::Type2)
            .base_font(name)
            .system_info(SYSTEM)
            .font_descriptor(descriptor);
        written.cid_to_gid_map_predefined(Name(b"Identity"));
        written.widths().consecutive(0, used.glyphs.remapped_gids().map(width));
        written.finish();
        let bounds = face.bounds.map(unit);
        let mut written = self.pdf.font_descriptor(descriptor);
        written.name(name).flags(FontFlags::SYMBOLIC).italic_angle(0.0).stem_v(80.0);
        written.bbox(Rect::new(bounds[0], bounds[1], bounds[2], bounds[3]));
        written.ascent(unit(face.ascender)).descent(unit(face.descender));
        written.cap_height(unit(face.ascender)).font_file2(file);
        written.finish();
        let mut unicode = UnicodeCmap::new(Name(b"Custom"), SYSTEM);
        for (&number, &text) in &used.texts {
            unicode.pair(number, text);
        }
        let unicode = compressed(&unicode.finish())?;
        self.pdf.cmap(map, &unicode).filter(Filter::FlateDecode);
        self.pdf.stream(file, &subset).filter(Filter::FlateDecode);
        Ok(font)
    }
}

fn unsupported(what: &str) -> ReportError {
    drawing(format!("its SVG has {what}, which a PDF of ours cannot hold"))
}

fn name_of(font: Weight) -> &'static [u8] {
    match font {
        Weight::Regular => b"F-regular",
        Weight::Bold => b"F-bold",
    }
}

fn matrix(t: Transform) -> [f32; 6] {
    [t.sx, t.ky, t.kx, t.sy, t.tx, t.ty]
}

fn colour(paint: &Paint) -> Result<[f32; 3], ReportError> {
    match paint {
        Paint::Color(colour) => {
            Ok([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0))
        }
        _ => Err(unsupported("a gradient or a pattern")),
    }
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>, ReportError> {
    use std::io::Write as _;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|error| drawing(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_figures_do_not_have_is_refused() {
        let svg = |inner: &str| {
            pdf(&format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">{inner}</svg>"
            ))
        };
        assert!(svg("<path d=\"M1 1Q5 9 8 1Z\" fill=\"#123\" fill-opacity=\"0.5\"/>").is_ok());
        let gradient = "<linearGradient id=\"a\"><stop offset=\"0\"/><stop offset=\"1\" stop-color=\"red\"/></linearGradient>";
        for hidden in [
            &format!("{gradient}<rect width=\"5\" height=\"5\" fill=\"url(#a)\"/>"),
            "<g opacity=\"0.5\"><rect width=\"5\" height=\"5\"/><rect width=\"3\" height=\"3\"/></g>",
            "<text y=\"5\" font-family=\"DejaVu Sans\" text-decoration=\"underline\">a</text>",
        ] {
            assert!(matches!(svg(hidden), Err(ReportError::Drawing { .. })), "{hidden}");
        }
    }
}
