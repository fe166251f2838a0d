//! Where runs look: a row for each item, first the image itself, then the image with the map of
//! each run over it, the seeds of an arm beside each other.

use super::figure::{Body, Drawn};
use super::font::Type;
use super::images::draw_image;
use super::kind::{Kind, Setting};
use super::look::{Form, Paint};
use super::panel::text;
use super::scope::{Scope, joined, k_text, votes};
use super::sheet::{DOUBLE, Frame, SINGLE, Sample};
use crate::ReportError;
use crate::book::{Overlay, Picture, RunKey};
use crate::csv::Csv;

/// Items where the spec does not say how many.
const ITEMS: usize = 6;
/// The side of an image, and what is between two.
const SIDE: f64 = 52.0;
const GAP: f64 = 5.0;
const SMALL: Type = Type::regular(7.5);

pub(super) const KIND: Kind = Kind {
    name: "maps",
    template: r#"# Grad-CAM maps of each arm, from the stage `gradcam`.
[[figure]]
name = "maps"
title = "Grad-CAM maps"
kind = "maps"
arms = ["sls", "soft"]
ks = ["all"]
count = 2
"#,
    settings: &[Setting::plain("count")],
    prepare,
};

/// Items with maps.
#[derive(Clone, Debug)]
pub(super) struct Maps {
    /// Above the maps of each run, from left to right: what arm, and which of its runs.
    columns: Vec<[String; 2]>,
    /// The items, from above: id, image where it is at hand, and with the map of each run.
    items: Vec<(String, Option<Picture>, Vec<Option<Picture>>)>,
}

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let kept: Vec<&Overlay> =
        scope.book.overlays.iter().filter(|overlay| scope.keeps_run(&overlay.of)).collect();
    let several = |k: Option<u32>| kept.iter().any(|overlay| overlay.of.k != k);
    let (mut runs, mut columns): (Vec<&RunKey>, _) = (Vec::new(), Vec::new());
    for key in &scope.arms {
        for Overlay { of, .. } in kept.iter().filter(|overlay| overlay.of.arm == key.name) {
            if !runs.contains(&of) {
                let words = if several(of.k) { votes(of.k) } else { String::new() };
                columns.push([key.title.clone(), joined(&[&words, &format!("seed {}", of.seed)])]);
                runs.push(of);
            }
        }
    }
    let mut shown: Vec<(&str, &str)> = Vec::new();
    for overlay in &kept {
        let of = (overlay.item.as_str(), overlay.of.dataset.as_str());
        if !shown.contains(&of) {
            shown.push(of);
        }
    }
    shown.truncate(scope.spec.count.unwrap_or(ITEMS).min(200));
    let mut csv = Csv::new(&["item", "dataset", "k", "arm", "seed", "map"]);
    let mut items = Vec::new();
    for (id, dataset) in shown {
        let map = |run: &&RunKey| {
            let same = |one: &&&Overlay| one.item == id && one.of == **run;
            kept.iter().find(same).map(|one| one.picture.clone())
        };
        let maps: Vec<Option<Picture>> = runs.iter().map(map).collect();
        for (of, map) in runs.iter().zip(&maps) {
            let shown = if map.is_some() { "yes" } else { "no" };
            csv.row(&[id, dataset, &k_text(of.k), &of.arm, &of.seed.to_string(), shown]);
        }
        let collection = scope.book.collections.iter().find(|one| one.dataset == dataset);
        let own = collection.and_then(|one| one.items.iter().find(|item| item.id == id));
        items.push((id.to_owned(), own.and_then(|item| item.picture.clone()), maps));
    }
    let note = "Yellow: evidence for the class that the run predicts.".to_owned();
    Ok(Drawn { csv, body: Body::Maps(Maps { columns, items }), note })
}

impl Maps {
    pub(super) fn draw(&self, title: &str, note: &str, form: Form) -> String {
        let lanes = self.columns.len() as f64 + 1.0;
        // As wide as its images, within the widths of figures.
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
                for (line, words) in column.iter().enumerate() {
                    let at = (x(lane + 1), top + 8.0 + 9.0 * line as f64);
                    text(svg, at, "start", SMALL, Paint::Ink, &SMALL.cut(words, side + GAP - 2.0));
                }
            }
            for (line, (id, image, maps)) in self.items.iter().enumerate() {
                let y = top + head + row * line as f64;
                if let Some(image) = image {
                    draw_image(svg, image, side, (x(0), y), id);
                }
                let name = SMALL.cut(id, side);
                text(svg, (x(0), y + side + 7.0), "start", SMALL, Paint::Muted, &name);
                for (lane, (column, map)) in self.columns.iter().zip(maps).enumerate() {
                    if let Some(map) = map {
                        let tip = format!("{id}, {}", column.join(", "));
                        draw_image(svg, map, side, (x(lane + 1), y), &tip);
                    }
                }
            }
        })
    }
}
