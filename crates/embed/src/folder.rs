//! A folder of weights, whatever it holds.

use std::path::Path;

use serde::Deserialize;

use crate::transformer::json;
use crate::{Bert, EmbedError, Encoder, Vit};

#[derive(Deserialize)]
struct Config {
    model_type: Option<String>,
}

/// Opens a folder with `config.json` and `model.safetensors`: DINOv2 or a model of the BERT family,
/// by its `model_type`. The name is for results; by default it is that of the folder.
pub fn open_folder(folder: &Path, name: Option<&str>) -> Result<Box<dyn Encoder>, EmbedError> {
    let config: Config = json(folder, "config.json")?;
    let is_dinov2 = config.model_type.is_some_and(|kind| kind.starts_with("dinov2"));
    Ok(match (is_dinov2, name) {
        (true, None) => Box::new(Vit::open(folder)?),
        (true, Some(name)) => Box::new(Vit::open(folder)?.named(name)),
        (false, None) => Box::new(Bert::open(folder)?),
        (false, Some(name)) => Box::new(Bert::open(folder)?.named(name)),
    })
}
