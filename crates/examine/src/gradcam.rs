//! Where in an image a model sees a class, as a map over it; and whether other runs see it there,
//! too.
//!
//! Stability is the mean correlation of two runs' maps of the same image, over all pairs of runs
//! and all images that are held out by both.

use dissensus_engine::Dataset;
use dissensus_geometry::gradcam::{
    Cams, RgbImage, RunMaps, Stability, overlay as laid_over, stability as compared,
};
use dissensus_geometry::model::gradcam as maps_of;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder as _};
use serde::{Deserialize, Serialize};

use crate::barrier::common;
use crate::{ExamineError, Model, Observer, Slice};

/// Images between two reports of progress.
const STRIDE: usize = 512;

/// Which class is looked for in an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seeing {
    /// The one that the model predicts.
    #[default]
    Predicted,
    /// The one that most people chose, the first where several are tied.
    Majority,
}

/// How to make maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CamSettings {
    /// Which class is looked for.
    pub class: Seeing,
}

/// The map of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemMap {
    /// The item's id.
    pub item: String,
    /// Its row of the data.
    pub row: u32,
    /// The class that was looked for.
    pub class: String,
    /// The model's probability of it.
    pub probability: f64,
    /// The share of the votes for it.
    pub votes: f64,
    /// How much people disagree on the item, in nats.
    pub entropy: f64,
    /// The map, row by row, from 0 to 1; 0 everywhere where nothing speaks for the class.
    pub map: Vec<f32>,
}

/// The maps of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Maps {
    pub run: String,
    pub settings: CamSettings,
    pub height: usize,
    /// Numbers of a row.
    pub width: usize,
    /// One map per item, in the order asked for.
    pub items: Vec<ItemMap>,
}

/// The maps of these rows.
pub fn gradcam(
    model: &mut Model,
    rows: &[u32],
    settings: &CamSettings,
    observer: &Observer<'_>,
) -> Result<Maps, ExamineError> {
    let classes = model.classes().len();
    let logits = model.logits(rows, &Observer::silent())?;
    let q = model.network().head().probabilities(&logits);
    let (wanted, cams) = cams(model, rows, &q, settings, observer)?;
    let item = |(at, &row): (usize, &u32)| {
        let (place, class) = (row as usize, wanted[at]);
        ItemMap {
            item: model.items().name(place).to_owned(),
            row,
            class: model.classes()[class].clone(),
            probability: q[at * classes + class],
            votes: f64::from(model.targets()[place * classes + class]),
            entropy: model.entropies()[place],
            map: cams.map(at).unwrap_or_default().to_vec(),
        }
    };
    Ok(Maps {
        run: model.id().to_owned(),
        settings: *settings,
        height: cams.height,
        width: cams.width,
        items: rows.iter().enumerate().map(item).collect(),
    })
}

/// The class that is looked for in each image, and the maps.
fn cams(
    model: &mut Model,
    rows: &[u32],
    q: &[f64],
    settings: &CamSettings,
    observer: &Observer<'_>,
) -> Result<(Vec<usize>, Cams), ExamineError> {
    let classes = model.classes().len();
    let wanted: Vec<usize> = match settings.class {
        Seeing::Predicted => q.chunks_exact(classes.max(1)).map(largest).collect(),
        Seeing::Majority => {
            let votes = |row: &u32| &model.targets()[*row as usize * classes..][..classes];
            rows.iter().map(|row| largest(votes(row))).collect()
        }
    };
    let parameters = model.weights().parameters.clone();
    let mut all = Cams { height: 0, width: 0, values: Vec::new() };
    let mut done = 0;
    let (runner, network, _) = model.asked();
    for (rows_now, classes_now) in rows.chunks(STRIDE).zip(wanted.chunks(STRIDE)) {
        let found = maps_of(runner, network, &parameters, rows_now, classes_now)?;
        (all.height, all.width) = (found.height, found.width);
        all.values.extend(found.values);
        done += rows_now.len();
        observer.advanced("maps", done, rows.len())?;
    }
    Ok((wanted, all))
}

/// The place of the largest number, the first where several are.
fn largest<T: PartialOrd>(values: &[T]) -> usize {
    (1..values.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best })
}

/// A map over its image, both enlarged so many times; `opacity` of it is the map.
pub fn overlay(
    model: &Model,
    maps: &Maps,
    item: &ItemMap,
    times: usize,
    opacity: f32,
) -> Result<RgbImage, ExamineError> {
    let Dataset::Images { height, width, channels, pixels, .. } = model.dataset() else {
        return Err(ExamineError::NoImages { id: model.id().to_owned() });
    };
    let size = height * width * channels;
    let from = item.row as usize * size;
    let Some(own) = pixels.get(from..from + size) else {
        let what = format!("items of run {} beside row {}", model.id(), item.row);
        let found = pixels.len() / size.max(1);
        return Err(ExamineError::Few { what, found, least: item.row as usize + 1 });
    };
    let shape = [*height, *width, *channels];
    Ok(laid_over(own, shape, &item.map, [maps.height, maps.width], times, opacity)?)
}

/// An image as the bytes of a PNG file.
pub fn png(image: &RgbImage) -> Result<Vec<u8>, ExamineError> {
    let RgbImage { height, width, pixels } = image;
    let wrong = |reason: String| ExamineError::Png { width: *width, height: *height, reason };
    let side = |side: &usize| u32::try_from(*side).map_err(|error| wrong(error.to_string()));
    let (wide, tall) = (side(width)?, side(height)?);
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes)
        .write_image(pixels, wide, tall, ExtendedColorType::Rgb8)
        .map_err(|error| wrong(error.to_string()))?;
    Ok(bytes)
}

/// How runs are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StabilitySettings {
    /// Which part of the split; `None` for the one that is reported.
    pub part: Option<String>,
    /// Which items, among those that at least two of the runs have in that part.
    pub slices: Vec<Slice>,
    /// How maps are made.
    pub cam: CamSettings,
}

impl Default for StabilitySettings {
    fn default() -> Self {
        let (part, cam) = (None, CamSettings::default());
        Self { part, slices: vec![Slice::All, Slice::HIGH], cam }
    }
}

/// Whether runs look at the same places, on a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceStability {
    /// The runs, by the places that `stability` names them by.
    pub runs: Vec<String>,
    /// Which items.
    pub slice: Slice,
    /// How many of them at least two runs have.
    pub items: usize,
    /// How alike the maps are.
    pub stability: Stability,
}

/// Whether runs look at the same places, slice by slice.
pub fn stability(
    models: &mut [Model],
    settings: &StabilitySettings,
    observer: &Observer<'_>,
) -> Result<Vec<SliceStability>, ExamineError> {
    let part = settings.part.as_deref();
    let mut own: Vec<Vec<u32>> = Vec::new();
    for model in models.iter() {
        models[0].same_items(model)?;
        own.push(model.part(part)?.rows.clone());
    }
    // Only what two runs have is compared, so only that is looked at.
    let pairs = (0..own.len()).flat_map(|a| (a + 1..own.len()).map(move |b| (a, b)));
    let mut shared: Vec<u32> = pairs.flat_map(|(a, b)| common(&own[a], &own[b])).collect();
    shared.sort_unstable();
    shared.dedup();
    if shared.is_empty() {
        let what = format!("items that two of {} runs have in one part", models.len());
        return Err(ExamineError::Few { what, found: 0, least: 1 });
    }
    let entropies: Vec<f64> =
        shared.iter().map(|&row| models[0].entropies()[row as usize]).collect();
    let mut found = Vec::new();
    for (model, own) in models.iter_mut().zip(&own) {
        let rows = common(own, &shared);
        let logits = model.logits(&rows, &Observer::silent())?;
        let q = model.network().head().probabilities(&logits);
        let (_, cams) = cams(model, &rows, &q, &settings.cam, observer)?;
        found.push((rows, cams));
    }
    let size = found.iter().find(|(rows, _)| !rows.is_empty());
    let (height, width) = size.map_or((0, 0), |(_, cams)| (cams.height, cams.width));
    for (_, cams) in found.iter_mut().filter(|(rows, _)| rows.is_empty()) {
        (cams.height, cams.width) = (height, width);
    }
    let seen: Vec<RunMaps<'_>> =
        found.iter().map(|(rows, cams)| RunMaps { items: rows, cams }).collect();
    let runs: Vec<String> = models.iter().map(|model| model.id().to_owned()).collect();
    let one = |&slice: &Slice| {
        let places = slice.places(&entropies)?;
        let among: Vec<u32> = places.iter().map(|&place| shared[place]).collect();
        let stability = compared(&seen, Some(&among))?;
        Ok(SliceStability { runs: runs.clone(), slice, items: among.len(), stability })
    };
    settings.slices.iter().map(one).collect()
}
