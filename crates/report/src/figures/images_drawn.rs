//! How items with bars are drawn: blocks beside and below each other, in each a grid with a row for
//! each class and a column for the votes and every arm.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::font::Type;
use super::images::{Class, Images, Shown};
use super::key::Key;
use super::look::{Form, Paint};
use super::panel::{HEAD, TICKS, draw_marker, text};
use super::scale::fixed;
use super::scope::k_text;
use super::sheet::{DOUBLE, Frame, Sample};
use crate::book::Picture;
use crate::raster;
use crate::svg::{Attributes, Svg, px};

const ROW: f64 = 9.5;
const IMAGE: f64 = 56.0;
const WORDS: f64 = 120.0;
const GAP: f64 = 12.0;
/// Between columns.
const LANE: f64 = 6.0;
const SMALL: Type = Type::regular(7.5);

/// Sizes that all blocks share.
struct Blocks {
    beside: usize,
    width: f64,
    /// Of the image or text, of the classes' names, of a column of bars.
    look: f64,
    names: f64,
    lane: f64,
    /// The columns' heads, where they have room; otherwise markers with a legend stand there.
    heads: Option<Vec<Vec<String>>>,
    head: f64,
}

impl Images {
    pub(super) fn draw(&self, title: &str, note: &str, form: Form) -> String {
        let room = DOUBLE - 8.0;
        let blocks = self.blocks(room);
        let mut legend: Vec<Key> = Vec::new();
        if blocks.heads.is_none() {
            for column in &self.columns {
                if !legend.contains(&column.key) {
                    legend.push(column.key.clone());
                }
            }
        }
        let frame = Frame { title, note, width: DOUBLE, legend: &legend, sample: Sample::Marker };
        if self.items.is_empty() {
            return frame.nothing(form);
        }
        let heights: Vec<f64> = self.items.iter().map(|item| blocks.height(item)).collect();
        let rows: Vec<f64> = heights
            .chunks(blocks.beside)
            .map(|row| row.iter().copied().fold(0.0, f64::max) + GAP)
            .collect();
        let height = rows.iter().sum::<f64>() - GAP;
        frame.draw(form, height, |svg, left, top| {
            let mut y = top;
            for (items, high) in self.items.chunks(blocks.beside).zip(&rows) {
                for (i, item) in items.iter().enumerate() {
                    let x = left + i as f64 * (blocks.width + GAP);
                    self.block(svg, &blocks, item, (x, y));
                }
                y += high;
            }
        })
    }

    fn blocks(&self, room: f64) -> Blocks {
        let words = self.items.iter().any(|item| item.image.is_none() && item.text.is_some());
        let look = if words { WORDS } else { IMAGE };
        let names = self.items.iter().flat_map(|item| item.classes.iter().map(|c| &c.name));
        let names = names.map(|name| SMALL.width(name)).fold(0.0, f64::max).min(64.0);
        let lanes = self.columns.len() as f64 + 1.0;
        let least = look + 6.0 + names + lanes * (34.0 + LANE);
        let beside = (((room + GAP) / (least + GAP)) as usize).clamp(1, 3);
        let beside = beside.min(self.items.len().max(1));
        let width = ((room - GAP * (beside - 1) as f64) / beside as f64).min(least + lanes * 60.0);
        let lane = (width - look - 6.0 - names) / lanes - LANE;
        let whole = |title: &String| {
            let rows = SMALL.wrap(title, lane, 2);
            (!rows.iter().any(|row| row.ends_with('…'))).then_some(rows)
        };
        let heads: Option<Vec<Vec<String>>> =
            self.columns.iter().map(|column| whole(&column.title)).collect();
        let most = heads.iter().flatten().map(Vec::len).max().unwrap_or(1).max(1);
        Blocks { beside, width, look, names, lane, heads, head: 9.0 * most as f64 + 2.0 }
    }

    fn block(&self, svg: &mut Svg, blocks: &Blocks, item: &Shown, (x, y): (f64, f64)) {
        let title = HEAD.cut(&item.title, blocks.width);
        text(svg, (x, y + 8.0), "start", HEAD, Paint::Ink, &title);
        let top = y + 12.0;
        look(svg, blocks, item, (x, top));
        let names = x + blocks.look + 6.0;
        let first = names + blocks.names + LANE;
        let rows = top + blocks.head;
        self.heads(svg, blocks, (first, rows - 4.0));
        for (i, class) in item.classes.iter().enumerate() {
            let y = rows + ROW * i as f64;
            let name = SMALL.cut(&class.name, blocks.names);
            let at = (names + blocks.names, y + 7.0);
            text(svg, at, "end", SMALL, Paint::Ink, &name);
            self.bars(svg, blocks, class, (first, y));
        }
        if item.others > 0 {
            let at = (names + blocks.names, rows + ROW * item.classes.len() as f64 + 7.0);
            let words = SMALL.cut(&format!("+ {} more", item.others), blocks.look + blocks.names);
            text(svg, at, "end", SMALL, Paint::Muted, &words);
        }
    }

    /// What the columns are, above them.
    fn heads(&self, svg: &mut Svg, blocks: &Blocks, (first, y): (f64, f64)) {
        let x = |lane: usize| first + lane as f64 * (blocks.lane + LANE);
        text(svg, (x(0), y), "start", SMALL, Paint::Ink, &SMALL.cut("votes", blocks.lane));
        for (i, column) in self.columns.iter().enumerate() {
            if let Some(heads) = &blocks.heads {
                for (row, words) in heads[i].iter().rev().enumerate() {
                    let at = (x(i + 1), y - 9.0 * row as f64);
                    text(svg, at, "start", SMALL, Paint::Ink, words);
                }
                continue;
            }
            let colour = svg.paint(Paint::Arm(column.key.look));
            svg.open("g", &[("fill", &colour), ("stroke", &colour)]);
            draw_marker(svg, column.key.look, (x(i + 1) + 3.0, y - 2.8), 2.7, &column.title);
            svg.close("g");
            if self.columns.iter().any(|other| other.k != column.k) {
                let votes = SMALL.cut(&k_text(column.k), blocks.lane - 8.0);
                text(svg, (x(i + 1) + 8.0, y), "start", SMALL, Paint::Ink, &votes);
            }
        }
    }

    fn bars(&self, svg: &mut Svg, blocks: &Blocks, class: &Class, (first, y): (f64, f64)) {
        let track = svg.paint(Paint::Grid);
        let bar = |svg: &mut Svg, lane: usize, share: Option<f64>, whose: &str| {
            let x = px(first + lane as f64 * (blocks.lane + LANE));
            let (y, high, room) = (px(y + 1.0), px(ROW - 3.0), px(blocks.lane));
            let rect = |svg: &mut Svg, wide: &String, look: &Attributes<'_>, tip: &str| {
                let place: &Attributes<'_> =
                    &[("x", &x), ("y", &y), ("width", wide), ("height", &high)];
                svg.with_tip("rect", &[place, look].concat(), tip);
            };
            let Some(share) = share else {
                let tip = format!("{whose}, {}: no data", class.name);
                return rect(svg, &room, &[("fill", &"none"), ("stroke", &track)], &tip);
            };
            let tip = format!("{whose}, {}: {}", class.name, fixed(share, 3));
            rect(svg, &room, &[("fill", &track), ("stroke", &"none")], &tip);
            let wide = px(blocks.lane * share.clamp(0.0, 1.0));
            rect(svg, &wide, &[("stroke", &"none")], &tip);
        };
        let muted = svg.paint(Paint::Muted);
        svg.open("g", &[("fill", &muted)]);
        bar(svg, 0, class.votes, "votes");
        svg.close("g");
        for (i, (column, share)) in self.columns.iter().zip(&class.predicted).enumerate() {
            let colour = svg.paint(Paint::Arm(column.key.look));
            svg.open("g", &[("class", &"arm"), ("data-arm", &column.key.name), ("fill", &colour)]);
            bar(svg, i + 1, *share, &column.title);
            svg.close("g");
        }
    }
}

impl Blocks {
    fn height(&self, item: &Shown) -> f64 {
        let more = usize::from(item.others > 0);
        let rows = self.head + ROW * (item.classes.len() + more) as f64;
        let look = match (&item.image, &item.text) {
            (None, None) => 0.0,
            _ => IMAGE,
        };
        12.0 + rows.max(look)
    }
}

/// An image, its longer side so long; `tip` is said of it.
pub(super) fn draw_image(svg: &mut Svg, image: &Picture, side: f64, (x, y): (f64, f64), tip: &str) {
    let Some(png) = raster::picture(image) else {
        return text(svg, (x, y + 8.0), "start", TICKS, Paint::Muted, "no image");
    };
    let whole = image.width.max(image.height) as f64;
    let (wide, high) = (image.width as f64 / whole, image.height as f64 / whole);
    let (w, h) = (px(side * wide), px(side * high));
    let (x, y) = (px(x), px(y));
    let data = format!("data:image/png;base64,{}", STANDARD.encode(png));
    let place: &Attributes<'_> = &[("x", &x), ("y", &y), ("width", &w), ("height", &h)];
    // Without smoothing: the pixels are what people saw.
    let look: &Attributes<'_> = &[("image-rendering", &"pixelated"), ("href", &data)];
    svg.with_tip("image", &[place, look].concat(), tip);
}

/// The image, or the text in so many lines as there is room for.
fn look(svg: &mut Svg, blocks: &Blocks, item: &Shown, (x, y): (f64, f64)) {
    if let Some(image) = &item.image {
        return draw_image(svg, image, IMAGE, (x, y), &item.id);
    }
    let Some(words) = &item.text else { return };
    let lines = ((blocks.height(item) - 14.0) / 9.0) as usize;
    for (i, row) in SMALL.wrap(words, blocks.look - 4.0, lines.max(1)).iter().enumerate() {
        text(svg, (x, y + 7.0 + 9.0 * i as f64), "start", SMALL, Paint::Ink, row);
    }
}
