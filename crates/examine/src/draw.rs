//! Grad-CAM maps over images, as PNG files, and how stable they are over runs.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use dissensus_engine::network::Shape;
use dissensus_io::{Existing, FileError, check_output, write_output};
use serde::Serialize;

use crate::{
    CamSettings, ExamineError, Maps, Model, Observer, SliceStability, StabilitySettings, gradcam,
    overlay, png, stability,
};

/// About how many pixels a side of an enlarged image has.
const SIDE: usize = 256;

/// Which maps are drawn, and how.
#[derive(Clone, Debug)]
pub struct MapOptions {
    /// The items by their ids; empty for the `top` most divided ones.
    pub items: Vec<String>,
    /// How many of the items of the part that people disagree on most.
    pub top: usize,
    /// The class that is mapped, the part of the split, and the slices of stability.
    pub stability: StabilitySettings,
    /// How many times images are enlarged; `None` for about 256 pixels.
    pub scale: Option<usize>,
    /// The opacity of a map, from 0 to 1.
    pub opacity: f32,
    /// Whether files that exist are replaced.
    pub force: bool,
}

/// The maps that were drawn.
#[derive(Clone, Debug, Serialize)]
pub struct DrawnMaps {
    /// The maps of each run.
    pub runs: Vec<Maps>,
    /// The PNG files, by run and then item.
    pub files: Vec<Vec<PathBuf>>,
    /// How alike the maps of several runs are.
    pub stability: Vec<SliceStability>,
}

/// Draws the maps of the same items for each model, as PNG files in a folder. With several models,
/// also measures the stability of their maps.
pub fn draw_maps(
    models: &mut [Model],
    folder: &Path,
    options: &MapOptions,
    observer: &Observer<'_>,
) -> Result<DrawnMaps, ExamineError> {
    let ids = match (models.first(), options.items.is_empty()) {
        (Some(model), true) => {
            let rows = model.most_divided(options.stability.part.as_deref(), options.top)?;
            rows.into_iter().map(|row| model.items().name(row as usize).to_owned()).collect()
        }
        _ => options.items.clone(),
    };
    let files: Vec<Vec<PathBuf>> = models.iter().map(|model| paths(folder, model, &ids)).collect();
    let existing = Existing::replaced_if(options.force);
    files.iter().flatten().try_for_each(|path| check_output(path, existing))?;
    let (mut runs, cam): (Vec<Maps>, CamSettings) = (Vec::new(), options.stability.cam);
    for (model, paths) in models.iter_mut().zip(&files) {
        let rows = model.rows(&ids)?;
        let maps = gradcam(model, &rows, &cam, observer)?;
        let times = options.scale.unwrap_or_else(|| match model.dataset().shape() {
            Shape::Map { height, width, .. } => (SIDE / height.max(width).max(1)).clamp(1, 64),
            Shape::Flat { .. } => 1,
        });
        for (item, path) in maps.items.iter().zip(paths) {
            let bytes = png(&overlay(model, &maps, item, times, options.opacity)?)?;
            write_output(path, existing, |out| {
                out.write_all(&bytes).map_err(|error| FileError::new(path, error))
            })?;
        }
        runs.push(maps);
    }
    let stability = match models.len() {
        0 | 1 => Vec::new(),
        _ => stability(models, &options.stability, observer)?,
    };
    Ok(DrawnMaps { runs, files, stability })
}

fn paths(folder: &Path, model: &Model, ids: &[String]) -> Vec<PathBuf> {
    let run: String = model.id().chars().take(8).collect();
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let plain = |id: &String| id.chars().map(plain).collect::<String>();
    let path = |id: &String| folder.join(format!("{run}-{}.png", plain(id)));
    ids.iter().map(path).collect()
}
