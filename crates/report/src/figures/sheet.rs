//! A whole figure: title, legend, panels in a grid, and the note below.

use super::font::Type;
use super::key::Key;
use super::look::{Form, Paint, dash};
use super::panel::{HEAD, Panel, Place, TEXT, TICKS, draw_marker, text};
use crate::svg::{Attributes, Svg, px};

/// A column of a paper, in points: 84 mm.
pub(super) const SINGLE: f64 = 238.11;
/// Both columns: 174 mm.
pub(super) const DOUBLE: f64 = 493.23;

const MARGIN: f64 = 4.0;
const TITLE: Type = Type::bold(9.0);
const NOTE: Type = Type::regular(7.5);
const NOTE_LINES: usize = 8;

/// What stands around the panels.
#[derive(Clone, Debug)]
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) note: &'a str,
    pub(super) width: f64,
    pub(super) legend: &'a [Key],
    pub(super) sample: Sample,
}

/// What a legend shows of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    Marker,
    Line,
    /// A line without a marker.
    Bare,
}

impl Frame<'_> {
    /// The room between the margins.
    pub(super) fn room(&self) -> f64 {
        self.width - 2.0 * MARGIN
    }

    /// Draws everything: the body so high, by a function that is told where it begins.
    pub(super) fn draw(
        &self,
        form: Form,
        height: f64,
        body: impl FnOnce(&mut Svg, f64, f64),
    ) -> String {
        let mut svg = Svg::new(form);
        let mut y = MARGIN;
        for row in TITLE.wrap(self.title, self.room(), 2) {
            y += 11.5;
            text(&mut svg, (MARGIN, y - 2.5), "start", TITLE, Paint::Ink, &row);
        }
        y = self.legend(&mut svg, y) + 4.0;
        body(&mut svg, MARGIN, y);
        y += height;
        let note = NOTE.wrap(self.note, self.room(), NOTE_LINES);
        y += if note.is_empty() { 0.0 } else { 5.0 };
        for row in note {
            y += 10.0;
            text(&mut svg, (MARGIN, y - 2.0), "start", NOTE, Paint::Muted, &row);
        }
        svg.finish(self.width, y + MARGIN, self.title)
    }

    /// Draws a figure that has nothing to show, and says so.
    pub(super) fn nothing(&self, form: Form) -> String {
        self.draw(form, 30.0, |svg, left, top| {
            let middle = (left + self.room() / 2.0, top + 18.0);
            text(svg, middle, "middle", TEXT, Paint::Muted, "no data");
        })
    }

    /// Arms beside each other, in as many rows as they need.
    fn legend(&self, svg: &mut Svg, top: f64) -> f64 {
        let named: Vec<&Key> = self.legend.iter().filter(|key| !key.title.is_empty()).collect();
        let sample = if self.sample == Sample::Marker { 9.0 } else { 22.0 };
        let (mut x, mut y) = (MARGIN, top + 12.0);
        let end = MARGIN + self.room();
        for key in &named {
            let title = TEXT.cut(&key.title, (self.room() - sample - 3.0).min(200.0));
            let wide = sample + 3.0 + TEXT.width(&title);
            if x > MARGIN && x + wide > end {
                (x, y) = (MARGIN, y + 11.5);
            }
            let colour = svg.paint(Paint::Arm(key.look));
            let colours: &Attributes<'_> = &[("fill", &colour), ("stroke", &colour)];
            let of: &Attributes<'_> = &[("class", &"key"), ("data-arm", &key.name)];
            svg.open("g", &[of, colours].concat());
            let middle = y - 2.8;
            if self.sample != Sample::Marker {
                let way = format!("M{} {}h{}", px(x), px(middle), px(sample));
                let dash = dash(key.look);
                let look: &Attributes<'_> =
                    &[("d", &way), ("stroke-width", &"1.2"), ("stroke-dasharray", &dash)];
                svg.element("path", look, "");
            }
            if self.sample != Sample::Bare {
                draw_marker(svg, key.look, (x + sample / 2.0, middle), 2.7, "");
            }
            svg.close("g");
            svg.open("g", of);
            text(svg, (x + sample + 3.0, y), "start", TEXT, Paint::Ink, &title);
            svg.close("g");
            x += wide + 10.0;
        }
        if named.is_empty() { top } else { y + 3.0 }
    }
}

/// Panels in a grid.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) width: f64,
    pub(super) panels: Vec<Panel>,
    pub(super) legend: Vec<Key>,
    pub(super) sample: Sample,
    /// At most so many panels beside each other.
    pub(super) columns: usize,
    /// Height by width of a panel.
    pub(super) aspect: f64,
}

/// What every panel of a grid has in common, so that they are in line.
struct Grid {
    columns: usize,
    /// A cell, and the axes within it.
    cell: (f64, f64),
    plot: (f64, f64),
    /// Beside and above the axes.
    inset: (f64, f64),
}

const GAP: f64 = 9.0;

/// From line to line of an axis' title.
const LEADING: f64 = 9.5;

impl Sheet {
    /// Panels beside each other, three to a row; a single one is as wide as a column of a paper.
    pub(super) fn of(panels: Vec<Panel>, legend: Vec<Key>, sample: Sample) -> Self {
        let width = if panels.len() == 1 { SINGLE } else { DOUBLE };
        Self { width, panels, legend, sample, columns: 3, aspect: 0.75 }
    }

    pub(super) fn svg(&self, title: &str, note: &str, form: Form) -> String {
        let Self { width, ref legend, sample, .. } = *self;
        let frame = Frame { title, note, width, legend, sample };
        if self.panels.is_empty() {
            return frame.nothing(form);
        }
        let grid = self.grid(frame.room());
        let rows = self.panels.len().div_ceil(grid.columns);
        let height = rows as f64 * (grid.cell.1 + GAP) - GAP;
        frame.draw(form, height, |svg, left, top| {
            for (i, panel) in self.panels.iter().enumerate() {
                let (row, column) = (i / grid.columns, i % grid.columns);
                let x = left + column as f64 * (grid.cell.0 + GAP);
                let y = top + row as f64 * (grid.cell.1 + GAP);
                draw_cell(svg, panel, &grid, (x, y));
            }
        })
    }

    /// The widest label decides for all panels; a label may stand over the end of its axis.
    fn grid(&self, room: f64) -> Grid {
        let count = self.panels.len().max(1);
        let rows = count.div_ceil(self.columns.max(1));
        let columns = count.div_ceil(rows);
        let cell = (room - GAP * (columns - 1) as f64) / columns as f64;
        let lines_of = |title: &dyn Fn(&Panel) -> Vec<String>| {
            self.panels.iter().map(|p| title(p).len()).max().unwrap_or(0) as f64
        };
        let lines = lines_of(&|p| heading(&p.title, cell));
        let above = 11.0 * lines + if lines > 0.0 { 5.0 } else { 4.0 };
        let labels = self.panels.iter().map(|p| p.x.below()).fold(0.0, f64::max);
        let lines = lines_of(&|p| axis_title(&p.x.title, cell));
        let below = labels + LEADING * lines + if lines > 0.0 { 2.5 } else { 0.0 };
        let (mut wide, mut high) = (cell * 0.8, cell * 0.8 * self.aspect);
        let mut left = 0.0;
        // Ticks and lines of titles depend on the size, and the size on them: three times is enough.
        for _ in 0..3 {
            let label =
                |p: &Panel| p.y_ticks(high).iter().map(|t| TICKS.width(&t.1)).fold(0.0, f64::max);
            let over = |p: &Panel| {
                let ticks = p.x_ticks(wide);
                let end =
                    |t: &(f64, String)| TICKS.width(&t.1) / 2.0 - wide * (1.0 - p.x.scale.at(t.0));
                ticks.last().map_or(0.0, end)
            };
            let before = |p: &Panel| {
                let ticks = p.x_ticks(wide);
                ticks.first().map_or(0.0, |t| TICKS.width(&t.1) / 2.0 - wide * p.x.scale.at(t.0))
            };
            let lines = lines_of(&|p| axis_title(&p.y.title, high + 10.0));
            let beside = LEADING * lines + if lines > 0.0 { 1.5 } else { 0.0 };
            let most = |of: &dyn Fn(&Panel) -> f64| self.panels.iter().map(of).fold(0.0, f64::max);
            left = (beside + most(&label) + 5.0).max(most(&before));
            wide = (cell - left - most(&over).max(3.0)).max(cell * 0.3);
            high = (wide * self.aspect).clamp(40.0, 230.0);
        }
        let size = (cell, above + high + below);
        Grid { columns, cell: size, plot: (wide, high), inset: (left, above) }
    }
}

/// A panel's title on one line or two, broken between its parts.
fn heading(title: &str, room: f64) -> Vec<String> {
    match title.split_once(" · ") {
        Some((first, rest)) if HEAD.width(title) > room => {
            vec![HEAD.cut(first, room), HEAD.cut(rest, room)]
        }
        _ => HEAD.wrap(title, room, 2),
    }
}

/// The title of an axis, on one line or two.
fn axis_title(title: &str, room: f64) -> Vec<String> {
    TEXT.wrap(title, room, 2)
}

fn draw_cell(svg: &mut Svg, panel: &Panel, grid: &Grid, (x, y): (f64, f64)) {
    let (left, top) = (x + grid.inset.0, y + grid.inset.1);
    let (width, height) = grid.plot;
    let lines = heading(&panel.title, grid.cell.0);
    // The last line stands on the panel, however many there are.
    for (i, row) in lines.iter().rev().enumerate() {
        let at = (x + grid.cell.0 - HEAD.width(row)).clamp(x, left);
        let at = (at, top - 6.5 - 11.0 * i as f64);
        text(svg, at, "start", HEAD, Paint::Ink, row);
    }
    panel.draw(svg, Place { left, top, width, height });
    let middle = left + width / 2.0;
    let below = top + height + panel.x.below() + 10.0;
    for (i, row) in axis_title(&panel.x.title, grid.cell.0).iter().enumerate() {
        let half = TEXT.width(row) / 2.0;
        let at = middle.clamp(x + half, (x + grid.cell.0 - half).max(x + half));
        let at = (at, below + LEADING * i as f64);
        text(svg, at, "middle", TEXT, Paint::Ink, row);
    }
    for (i, row) in axis_title(&panel.y.title, height + 10.0).iter().enumerate() {
        let (x, y) = (px(x + 7.0 + LEADING * i as f64), px(top + height / 2.0));
        let turn = format!("rotate(-90 {x} {y})");
        let ink = svg.paint(Paint::Ink);
        let place: &Attributes<'_> = &[("x", &x), ("y", &y)];
        let look: &Attributes<'_> = &[("font-size", &TEXT.size), ("fill", &ink)];
        let turn: &Attributes<'_> = &[("text-anchor", &"middle"), ("transform", &turn)];
        svg.element("text", &[place, look, turn].concat(), row);
    }
}
