//! What the files beside a vision transformer's weights say.

use std::path::Path;

use serde::Deserialize;

use crate::EmbedError;
use crate::transformer::{Act, Norms, Shape, json, optional};

/// The part of `config.json` that decides something.
#[derive(Debug, Deserialize)]
pub(super) struct Config {
    model_type: String,
    hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    num_attention_heads: usize,
    #[serde(default = "four")]
    mlp_ratio: usize,
    hidden_act: String,
    #[serde(default = "millionth")]
    pub(super) layer_norm_eps: f32,
    pub(super) patch_size: usize,
    #[serde(default = "three")]
    num_channels: usize,
    #[serde(default = "yes")]
    pub(super) qkv_bias: bool,
    #[serde(default)]
    use_swiglu_ffn: bool,
}

fn four() -> usize {
    4
}

fn three() -> usize {
    3
}

fn millionth() -> f32 {
    1e-6
}

fn yes() -> bool {
    true
}

impl Config {
    /// Checks it, and gives what the layers have in common.
    pub(super) fn shape(&self) -> Result<Shape, String> {
        if self.model_type != "dinov2" {
            return Err(format!("model_type is {:?}; \"dinov2\" is read", self.model_type));
        }
        if self.use_swiglu_ffn {
            return Err("use_swiglu_ffn is true; plain perceptrons are read".to_owned());
        }
        if self.num_channels != 3 {
            return Err(format!("num_channels is {}; 3 are read", self.num_channels));
        }
        let act = Act::named(&self.hidden_act)?;
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("num_attention_heads", self.num_attention_heads),
            ("mlp_ratio", self.mlp_ratio),
            ("patch_size", self.patch_size),
        ];
        if let Some((name, size)) = sizes.iter().find(|(_, size)| !(1..1 << 16).contains(size)) {
            return Err(format!("{name} is {size}; 1 to 65535 is read"));
        }
        Shape::check(self.hidden_size, self.num_attention_heads, self.layer_norm_eps)?;
        Ok(Shape {
            width: self.hidden_size,
            heads: self.num_attention_heads,
            inner: self.hidden_size * self.mlp_ratio,
            act,
            norms: Norms::Before,
        })
    }
}

/// How an image becomes the network's input: its shorter side is brought to `shorter` pixels
/// (bicubic, antialiased, rounded to bytes as Pillow does), a square of `crop` is taken from its
/// middle, and each channel becomes (x/255 − mean) / sd. Grey is red, green and blue alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preprocessing {
    /// The shorter side, in pixels.
    pub shorter: usize,
    /// The side of the square, in pixels: a multiple of the model's patches, at most `shorter`.
    pub crop: usize,
    /// Of red, green and blue.
    pub mean: [f32; 3],
    /// Of red, green and blue.
    pub sd: [f32; 3],
}

impl Default for Preprocessing {
    /// DINOv2's: 256, 224, and ImageNet's means and standard deviations.
    fn default() -> Self {
        let (mean, sd) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
        Self { shorter: 256, crop: 224, mean, sd }
    }
}

#[derive(Deserialize)]
struct File {
    size: Option<Size>,
    crop_size: Option<Crop>,
    image_mean: Option<[f32; 3]>,
    image_std: Option<[f32; 3]>,
    resample: Option<u32>,
}

#[derive(Deserialize)]
struct Size {
    shortest_edge: Option<usize>,
}

#[derive(Deserialize)]
struct Crop {
    height: usize,
    width: usize,
}

impl Preprocessing {
    /// From `preprocessor_config.json`; what it leaves out is as by default.
    pub(super) fn read(folder: &Path) -> Result<Self, EmbedError> {
        let name = "preprocessor_config.json";
        let problem = |problem| Err(EmbedError::Model { path: folder.join(name), problem });
        let Some(file) = optional::<File>(folder, name)? else {
            return Ok(Self::default());
        };
        // Pillow's number of bicubic.
        if file.resample.is_some_and(|resample| resample != 3) {
            return problem(format!("resample is {:?}; 3 (bicubic) is read", file.resample));
        }
        let plain = Self::default();
        let shorter = match file.size {
            None => plain.shorter,
            Some(Size { shortest_edge: Some(edge) }) => edge,
            Some(_) => return problem("size has no shortest_edge".to_owned()),
        };
        let crop = match file.crop_size {
            None => plain.crop,
            Some(Crop { height, width }) if height == width => height,
            Some(Crop { height, width }) => {
                return problem(format!("crop_size is {height}×{width}; a square is read"));
            }
        };
        let mean = file.image_mean.unwrap_or(plain.mean);
        Ok(Self { shorter, crop, mean, sd: file.image_std.unwrap_or(plain.sd) })
    }

    /// What is wrong with it for a model of these patches.
    pub(super) fn check(&self, patch: usize) -> Result<(), EmbedError> {
        let Self { shorter, crop, mean, sd } = *self;
        let problem = if crop == 0 || !crop.is_multiple_of(patch) {
            format!("a square of {crop} pixels cannot be cut into patches of {patch}")
        } else if shorter < crop || shorter > 1 << 14 {
            format!("a shorter side of {shorter} pixels; at least {crop}, at most 16384")
        } else if !sd.iter().all(|sd| sd.is_finite() && *sd > 0.0) {
            format!("standard deviations of {sd:?}; they are above 0")
        } else if !mean.iter().all(|mean| mean.is_finite()) {
            format!("means of {mean:?}; they are finite")
        } else {
            return Ok(());
        };
        Err(EmbedError::Input(format!("the images' settings: {problem}")))
    }
}
