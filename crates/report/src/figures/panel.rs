//! One panel: two axes, and what is drawn between them.

use super::estimate::Estimate;
use super::font::Type;
use super::key::Key;
use super::look::{Paint, dash, hollow, marker};
use super::scale::{Scale, Tick, fixed};
use crate::svg::{Attributes, Svg, px};

pub(super) const TICKS: Type = Type::regular(7.5);
pub(super) const TEXT: Type = Type::regular(8.0);
pub(super) const HEAD: Type = Type::bold(8.0);

/// A value at a place, and what it says when it is pointed at.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) tip: String,
}

/// What is drawn of one arm, from behind to the front.
#[derive(Clone, Debug)]
pub(super) enum Layer {
    /// Between two curves: x, low, high.
    Band(Vec<(f64, f64, f64)>),
    /// From place to place, with the arm's dash.
    Line(Vec<(f64, f64)>, String),
    /// Filled bars from the bottom: from, to, height, and a word above each; all words or none.
    Bars(Vec<(f64, f64, f64, String)>, Vec<String>),
    /// Upright bars with caps: x, low, high.
    Intervals(Vec<(f64, f64, f64)>),
    /// The arm's marker, this large.
    Marks(Vec<Mark>, f64),
    /// Markers that differ in size: one factor each.
    Sized(Vec<(Mark, f64)>),
    /// Small dots, this large, that may lie on each other.
    Dots(Vec<Mark>, f64),
}

impl Layer {
    fn is_empty(&self) -> bool {
        match self {
            Self::Band(all) | Self::Intervals(all) => all.is_empty(),
            Self::Line(all, _) => all.is_empty(),
            Self::Bars(all, _) => all.is_empty(),
            Self::Marks(all, _) | Self::Dots(all, _) => all.is_empty(),
            Self::Sized(all) => all.is_empty(),
        }
    }
}

/// All layers of an arm.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) key: Key,
    /// Points to the right, so that intervals at one place do not cover each other.
    pub(super) dodge: f64,
    pub(super) layers: Vec<Layer>,
}

impl Series {
    pub(super) fn new(key: &Key, layers: Vec<Layer>) -> Self {
        Self { key: key.clone(), dodge: 0.0, layers }
    }

    /// Means at places, with intervals and words, and a line through them; beside those of the
    /// other arms of the legend.
    pub(super) fn of_means(key: &Key, legend: &[Key], means: Vec<(f64, Estimate, String)>) -> Self {
        let slot = legend.iter().position(|other| other == key).unwrap_or(0);
        let middle = (legend.len() as f64 - 1.0) / 2.0;
        let apart = 1.1f64.min(6.0 / legend.len().max(1) as f64);
        let way = means.iter().map(|(x, mean, _)| (*x, mean.mean)).collect();
        let bars = means.iter().filter_map(|(x, mean, _)| Some((*x, mean.low?, mean.high?)));
        let bars = bars.collect();
        let marks = means.into_iter().map(|(x, mean, tip)| Mark { x, y: mean.mean, tip });
        let layers = vec![
            Layer::Intervals(bars),
            Layer::Line(way, key.title.clone()),
            Layer::Marks(marks.collect(), 2.5),
        ];
        Self { dodge: (slot as f64 - middle) * apart, ..Self::new(key, layers) }
    }
}

/// A line that helps reading, and a word at its upper end.
#[derive(Clone, Debug)]
pub(super) struct Guide {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
    pub(super) kind: GuideKind,
    pub(super) word: String,
}

impl Guide {
    /// Without a word.
    pub(super) fn new(from: (f64, f64), to: (f64, f64), kind: GuideKind) -> Self {
        Self { from, to, kind, word: String::new() }
    }
}

/// What a guide looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuideKind {
    /// A value to compare with.
    Plain,
    /// A place that data may or may not keep to.
    Dashed,
    /// Only parts what is beside it.
    Faint,
    /// A value of the data itself: in front of them.
    Mark,
}

#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    /// Ticks where they are not round numbers of the scale.
    pub(super) ticks: Option<Vec<Tick>>,
    /// Below or beside it.
    pub(super) title: String,
    /// Whether lines go up from its ticks.
    pub(super) grid: bool,
    /// Whether only whole numbers are on it.
    pub(super) whole: bool,
    /// Names of stretches of it, below the ticks: from, to, name.
    pub(super) bands: Vec<(f64, f64, String)>,
}

impl Axis {
    pub(super) fn new(scale: Scale, title: &str) -> Self {
        let (title, bands) = (title.to_owned(), Vec::new());
        Self { scale, ticks: None, title, grid: true, whole: false, bands }
    }

    /// Whether its ticks have labels.
    fn named(&self) -> bool {
        self.ticks.as_ref().is_none_or(|ticks| ticks.iter().any(|tick| !tick.1.is_empty()))
    }

    /// The height of what stands below it, without its title.
    pub(super) fn below(&self) -> f64 {
        match (self.named(), self.bands.is_empty()) {
            (true, false) => 22.5,
            (false, true) => 2.0,
            _ => 12.0,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) guides: Vec<Guide>,
    pub(super) series: Vec<Series>,
}

/// Where a panel's axes are, in points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Ticks whose labels have room; the last one always stays.
pub(super) fn with_room(ticks: Vec<Tick>, scale: Scale, width: f64) -> Vec<Tick> {
    let reach = |(value, label): &Tick| {
        let (middle, half) = (width * scale.at(*value), TICKS.width(label) / 2.0 + 2.0);
        (middle - half, middle + half)
    };
    let Some(last) = ticks.last().map(&reach) else { return ticks };
    let count = ticks.len();
    let mut end = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for (i, tick) in ticks.into_iter().enumerate() {
        let (from, to) = reach(&tick);
        if i + 1 == count || (from >= end && to <= last.0) {
            end = to;
            kept.push(tick);
        }
    }
    kept
}

impl Panel {
    pub(super) fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { title: title.into(), x, y, guides: Vec::new(), series }
    }

    /// The ticks of the axis across, for this width.
    pub(super) fn x_ticks(&self, width: f64) -> Vec<Tick> {
        let about = ((width / 38.0) as usize).clamp(2, 8);
        let scale = self.x.scale;
        if let Some(ticks) = &self.x.ticks {
            return with_room(ticks.clone(), scale, width);
        }
        // Fewer ticks rather than some that are left out.
        let round = (2..=about).rev().map(|about| {
            let mut ticks = scale.ticks(about);
            ticks.retain(|tick| !self.x.whole || tick.0.fract() == 0.0);
            for (value, label) in ticks.iter_mut().filter(|_| self.x.whole && !scale.log) {
                *label = fixed(*value, 0);
            }
            ticks
        });
        let fits = |ticks: &Vec<Tick>| with_room(ticks.clone(), scale, width).len() == ticks.len();
        let found = round.clone().find(fits).or_else(|| round.clone().next_back());
        found.map_or_else(Vec::new, |ticks| with_room(ticks, scale, width))
    }

    pub(super) fn y_ticks(&self, height: f64) -> Vec<Tick> {
        let about = ((height / 26.0) as usize).clamp(2, 6);
        self.y.ticks.clone().unwrap_or_else(|| self.y.scale.ticks(about))
    }

    fn empty(&self) -> bool {
        self.series.iter().all(|series| series.layers.iter().all(Layer::is_empty))
    }

    pub(super) fn draw(&self, svg: &mut Svg, place: Place) {
        let Place { left, top, width, height } = place;
        let bottom = top + height;
        let (ink, grid) = (svg.paint(Paint::Ink), svg.paint(Paint::Grid));
        let empty = self.empty();
        if !empty {
            for (value, label) in self.x_ticks(width) {
                let x = left + width * self.x.scale.at(value);
                if self.x.grid {
                    line(svg, (x, top), (x, bottom), &grid, 0.6, "none");
                    line(svg, (x, bottom), (x, bottom + 2.5), &ink, 0.6, "none");
                }
                text(svg, (x, bottom + 10.5), "middle", TICKS, Paint::Ink, &label);
            }
            for (from, to, name) in &self.x.bands {
                let (from, to) = (self.x.scale.at(*from), self.x.scale.at(*to));
                let name = TICKS.cut(name, width * (to - from) - 3.0);
                let middle = left + width * (from + to) / 2.0;
                let y = bottom + if self.x.named() { 21.0 } else { 10.5 };
                text(svg, (middle, y), "middle", TICKS, Paint::Ink, &name);
            }
            for (value, label) in self.y_ticks(height) {
                let y = bottom - height * self.y.scale.at(value);
                line(svg, (left, y), (left + width, y), &grid, 0.6, "none");
                text(svg, (left - 4.0, y + 2.7), "end", TICKS, Paint::Ink, &label);
            }
        }
        line(svg, (left, bottom), (left + width, bottom), &ink, 0.6, "none");
        line(svg, (left, top), (left, bottom), &ink, 0.6, "none");
        if empty {
            let middle = (left + width / 2.0, top + height / 2.0 + 3.0);
            return text(svg, middle, "middle", TEXT, Paint::Muted, "no data");
        }
        let (front, behind): (Vec<&Guide>, Vec<&Guide>) =
            self.guides.iter().partition(|guide| guide.kind == GuideKind::Mark);
        for guide in behind {
            self.guide(svg, place, guide);
        }
        for series in &self.series {
            let colour = svg.paint(Paint::Arm(series.key.look));
            let name = &series.key.name;
            let of: &Attributes<'_> = &[("class", &"arm"), ("data-arm", name)];
            let colours: &Attributes<'_> = &[("fill", &colour), ("stroke", &colour)];
            svg.open("g", &[of, colours].concat());
            for layer in &series.layers {
                self.layer(svg, place, series, layer);
            }
            svg.close("g");
        }
        for guide in front {
            self.guide(svg, place, guide);
        }
    }

    fn guide(&self, svg: &mut Svg, place: Place, guide: &Guide) {
        let (paint, dash) = match guide.kind {
            GuideKind::Plain => (Paint::Muted, "none"),
            GuideKind::Dashed => (Paint::Muted, "3 2"),
            GuideKind::Faint => (Paint::Grid, "none"),
            GuideKind::Mark => (Paint::Ink, "3 2"),
        };
        let (from, to) = (self.at(place, guide.from), self.at(place, guide.to));
        let colour = svg.paint(paint);
        line(svg, from, to, &colour, 0.7, dash);
        if !guide.word.is_empty() {
            let right = to.0 > place.left + 0.6 * place.width;
            let (anchor, shift) = if right { ("end", -3.0) } else { ("start", 3.0) };
            let room = if right { to.0 - place.left } else { place.left + place.width - to.0 };
            let word = TICKS.cut(&guide.word, room - 4.0);
            text(svg, (to.0 + shift, place.top + 6.0), anchor, TICKS, Paint::Muted, &word);
        }
    }

    fn at(&self, place: Place, (x, y): (f64, f64)) -> (f64, f64) {
        let across = place.left + place.width * self.x.scale.at(x);
        (across, place.top + place.height * (1.0 - self.y.scale.at(y)))
    }

    fn layer(&self, svg: &mut Svg, place: Place, series: &Series, layer: &Layer) {
        let look = series.key.look;
        let at = |x: f64, y: f64| {
            let (x, y) = self.at(place, (x, y));
            (x + series.dodge, y)
        };
        let path = |points: &mut dyn Iterator<Item = (f64, f64)>| {
            let mut path = String::new();
            for (x, y) in points {
                path += if path.is_empty() { "M" } else { "L" };
                path += &format!("{} {}", px(x), px(y));
            }
            path
        };
        match layer {
            Layer::Band(all) => {
                let above = all.iter().map(|(x, _, high)| at(*x, *high));
                let below = all.iter().rev().map(|(x, low, _)| at(*x, *low));
                let outline = path(&mut above.chain(below)) + "Z";
                let look: &Attributes<'_> =
                    &[("d", &outline), ("stroke", &"none"), ("fill-opacity", &"0.14")];
                svg.element("path", look, "");
            }
            Layer::Line(points, tip) => {
                let way = path(&mut points.iter().map(|(x, y)| at(*x, *y)));
                let dash = dash(look);
                let look: &Attributes<'_> =
                    &[("d", &way), ("fill", &"none"), ("stroke-width", &"1.2")];
                let dashed: &Attributes<'_> = &[("stroke-dasharray", &dash)];
                let dashed = if dash == "none" { &[] } else { dashed };
                svg.with_tip("path", &[look, dashed].concat(), tip);
            }
            Layer::Bars(bars, words) => {
                let room = |bar: &(f64, f64, f64, String)| at(bar.1, 0.0).0 - at(bar.0, 0.0).0;
                if bars.iter().zip(words).all(|(bar, word)| TICKS.width(word) < room(bar)) {
                    for (bar, word) in bars.iter().zip(words) {
                        let (x, y) = at(bar.0, bar.2);
                        svg.open("g", &[("stroke", &"none")]);
                        let middle = (x + room(bar) / 2.0, y - 2.5);
                        text(svg, middle, "middle", TICKS, Paint::Muted, word);
                        svg.close("g");
                    }
                }
                for (from, to, height, tip) in bars {
                    let (corner, foot) = (at(*from, *height), at(*to, self.y.scale.from));
                    let (x, y) = (px(corner.0 + 0.4), px(corner.1));
                    let wide = px((foot.0 - corner.0 - 0.8).max(0.2));
                    let high = px(foot.1 - corner.1);
                    let look: &Attributes<'_> = &[
                        ("x", &x),
                        ("y", &y),
                        ("width", &wide),
                        ("height", &high),
                        ("stroke", &"none"),
                    ];
                    svg.with_tip("rect", look, tip);
                }
            }
            Layer::Intervals(all) => {
                let mut bars = String::new();
                for (x, low, high) in all {
                    let (foot, head) = (at(*x, *low), at(*x, *high));
                    let cap = |y: f64| format!("M{} {}h3", px(foot.0 - 1.5), px(y));
                    let x = px(foot.0);
                    bars += &format!("M{x} {}V{}", px(foot.1), px(head.1));
                    bars += &(cap(foot.1) + &cap(head.1));
                }
                if !bars.is_empty() {
                    let look: &Attributes<'_> =
                        &[("d", &bars), ("fill", &"none"), ("stroke-width", &"0.9")];
                    svg.element("path", look, "");
                }
            }
            Layer::Marks(marks, radius) => {
                for mark in marks {
                    draw_marker(svg, look, at(mark.x, mark.y), *radius, &mark.tip);
                }
            }
            Layer::Sized(marks) => {
                for (mark, radius) in marks {
                    draw_marker(svg, look, at(mark.x, mark.y), *radius, &mark.tip);
                }
            }
            Layer::Dots(marks, radius) => {
                svg.open("g", &[("fill-opacity", &"0.4"), ("stroke", &"none")]);
                for mark in marks {
                    let (x, y) = at(mark.x, mark.y);
                    let (x, y, r) = (px(x), px(y), px(*radius));
                    svg.with_tip("circle", &[("cx", &x), ("cy", &y), ("r", &r)], &mark.tip);
                }
                svg.close("g");
            }
        }
    }
}

/// The marker of a look at a place; its colours come from the group around it.
pub(super) fn draw_marker(svg: &mut Svg, look: usize, at: (f64, f64), radius: f64, tip: &str) {
    let shape = marker(look, at.0, at.1, radius);
    let paper = svg.paint(Paint::Paper);
    if hollow(look) {
        let look: &Attributes<'_> = &[("d", &shape), ("fill", &paper), ("stroke-width", &"1")];
        svg.with_tip("path", look, tip);
    } else {
        let look: &Attributes<'_> = &[("d", &shape), ("stroke", &paper), ("stroke-width", &"0.4")];
        svg.with_tip("path", look, tip);
    }
}

pub(super) fn line(
    svg: &mut Svg,
    from: (f64, f64),
    to: (f64, f64),
    colour: &str,
    width: f64,
    dash: &str,
) {
    let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
    let place: &Attributes<'_> = &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)];
    let look: &Attributes<'_> = &[("stroke", &colour), ("stroke-width", &width)];
    let dashed: &Attributes<'_> = &[("stroke-dasharray", &dash)];
    let dashed = if dash == "none" { &[] } else { dashed };
    svg.element("line", &[place, look, dashed].concat(), "");
}

pub(super) fn text(
    svg: &mut Svg,
    at: (f64, f64),
    anchor: &str,
    font: Type,
    paint: Paint,
    text: &str,
) {
    if text.is_empty() {
        return;
    }
    let (x, y, colour) = (px(at.0), px(at.1), svg.paint(paint));
    let look: &Attributes<'_> =
        &[("x", &x), ("y", &y), ("font-size", &font.size), ("fill", &colour)];
    let mut look = look.to_vec();
    if anchor != "start" {
        look.push(("text-anchor", &anchor));
    }
    if font.weight == super::font::Weight::Bold {
        look.push(("font-weight", &"700"));
    }
    svg.element("text", &look, text);
}
