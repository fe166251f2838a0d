//! Where runs look: a row for each item, first the picture itself, then the picture with the map of
//! each run over it, the seeds of an arm beside each other.

use super::figure::Figure;
use super::font::Type;
use super::key::Key;
use super::kind::{Kind, Setting};
use super::look::{Form, Paint};
use super::panel::text;
use super::pictures_drawn::draw_picture;
use super::scope::{Scope, joined, k_text, votes};
use super::sheet::{DOUBLE, Frame, SINGLE, Sample};
use crate::ReportError;
use crate::book::{Item, Overlay, Picture, RunKey};
use crate::csv::Csv;

/// Items where the spec does not say how many.
const ITEMS: usize = 6;
/// The side of a picture, and what is between two.
const SIDE: f64 = 52.0;
const GAP: f64 = 5.0;
const SMALL: Type = Type::regular(7.5);

/// Items with maps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Maps {
    /// The runs, from left to right.
    pub columns: Vec<MapsColumn>,
    /// The items, from above.
    pub items: Vec<MapsItem>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapsColumn {
    /// The arm.
    pub key: Key,
    /// The run.
    pub of: RunKey,
    /// Above its maps: what arm, and which of its runs.
    pub title: [String; 2],
}

/// One item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapsItem {
    /// Its id.
    pub id: String,
    /// Its data set.
    pub dataset: String,
    /// The picture itself, where it is at hand.
    pub picture: Option<Picture>,
    /// With the map of each column; `None` where there is none.
    pub maps: Vec<Option<Picture>>,
}

impl Kind for Maps {
    const SETTINGS: &'static [Setting] = &[Setting::plain("count")];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        Ok(prepare(scope))
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["item", "dataset", "k", "arm", "seed", "map"]);
        for item in &self.items {
            for (column, map) in self.columns.iter().zip(&item.maps) {
                let of = &column.of;
                let shown = if map.is_some() { "yes" } else { "no" };
                let seed = of.seed.to_string();
                csv.row(&[&item.id, &item.dataset, &k_text(of.k), &of.arm, &seed, shown]);
            }
        }
        csv.finish()
    }

    fn svg(&self, figure: &Figure, form: Form) -> String {
        self.draw(&figure.title, &figure.note, form)
    }
}

fn prepare(scope: &Scope<'_>) -> (Maps, String) {
    let kept: Vec<&Overlay> =
        scope.book.overlays.iter().filter(|overlay| scope.keeps_run(&overlay.of)).collect();
    let mut columns: Vec<MapsColumn> = Vec::new();
    let several = |k: Option<u32>| kept.iter().any(|overlay| overlay.of.k != k);
    for key in &scope.arms {
        for overlay in kept.iter().filter(|overlay| overlay.of.arm == key.name) {
            let of = &overlay.of;
            if columns.iter().any(|column| column.of == *of) {
                continue;
            }
            let words = if several(of.k) { votes(of.k) } else { String::new() };
            let run = joined(&[&words, &format!("seed {}", of.seed)]);
            let (key, of) = (key.clone(), of.clone());
            columns.push(MapsColumn { title: [key.title.clone(), run], key, of });
        }
    }
    let mut items: Vec<MapsItem> = Vec::new();
    for overlay in &kept {
        let dataset = &overlay.of.dataset;
        if items.iter().any(|item| item.id == overlay.item && item.dataset == *dataset) {
            continue;
        }
        let collection = scope.book.collections.iter().find(|one| one.dataset == *dataset);
        let of = |item: &&Item| item.id == overlay.item;
        let own = collection.and_then(|one| one.items.iter().find(of));
        let map = |column: &MapsColumn| {
            let same = |one: &&&Overlay| one.item == overlay.item && one.of == column.of;
            kept.iter().find(same).map(|one| one.picture.clone())
        };
        items.push(MapsItem {
            id: overlay.item.clone(),
            dataset: dataset.clone(),
            picture: own.and_then(|item| item.picture.clone()),
            maps: columns.iter().map(map).collect(),
        });
    }
    items.truncate(scope.spec.count.unwrap_or(ITEMS).min(200));
    let note = "Yellow: evidence for the class that the run predicts.".to_owned();
    (Maps { columns, items }, note)
}

impl Maps {
    fn draw(&self, title: &str, note: &str, form: Form) -> String {
        let lanes = self.columns.len() as f64 + 1.0;
        // As wide as its pictures, within the widths of figures.
        let width = (lanes * (SIDE + GAP) + GAP).clamp(SINGLE, DOUBLE);
        let frame = Frame { title, note, width, legend: &[], sample: Sample::Marker };
        if self.items.is_empty() {
            return frame.nothing(form);
        }
        let room = frame.room();
        let side = ((room + GAP) / lanes - GAP).min(SIDE);
        let head = 22.0;
        let row = side + GAP + 8.0;
        frame.draw(form, head + row * self.items.len() as f64, |svg, left, top| {
            let x = |lane: usize| left + lane as f64 * (side + GAP);
            for (lane, column) in self.columns.iter().enumerate() {
                for (line, words) in column.title.iter().enumerate() {
                    let at = (x(lane + 1), top + 8.0 + 9.0 * line as f64);
                    text(svg, at, "start", SMALL, Paint::Ink, &SMALL.cut(words, side + GAP - 2.0));
                }
            }
            for (line, item) in self.items.iter().enumerate() {
                let y = top + head + row * line as f64;
                if let Some(picture) = &item.picture {
                    draw_picture(svg, picture, side, (x(0), y), &item.id);
                }
                let name = SMALL.cut(&item.id, side);
                text(svg, (x(0), y + side + 7.0), "start", SMALL, Paint::Muted, &name);
                for (lane, (column, map)) in self.columns.iter().zip(&item.maps).enumerate() {
                    if let Some(map) = map {
                        let tip = format!("{}, {}", item.id, column.title.join(", "));
                        draw_picture(svg, map, side, (x(lane + 1), y), &tip);
                    }
                }
            }
        })
    }
}
