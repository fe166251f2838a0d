//! DINOv2 vision transformers (ViT-S/14 and its larger kin), by the names of Hugging Face's
//! Dinov2Model.
//!
//! An image is cut into patches; each becomes a vector by one linear map and the vector of its
//! place; a class token goes before them; then the layers, whose halves are scaled by learned
//! factors; then a norm. The class token is the image's vector. In f32. Dosovitskiy et al., “An
//! Image Is Worth 16x16 Words”, 2021; Oquab et al., “DINOv2”, 2023.

mod places;
mod settings;

use std::path::Path;
use std::sync::Mutex;

use dissensus_core::ContentHash;
use pulp::Arch;
use rayon::prelude::*;

use self::settings::Config;
pub use self::settings::Preprocessing;
use crate::images::{Cut, Filter, resize};
use crate::transformer::{
    Layer, Linear, Norm, Shape, Stack, Weights, Work, config, folder_name, read, sha256,
};
use crate::{EmbedError, Encoder, Identity, Image, Kind, Progress};

/// A DINOv2 vision transformer from safetensors, in f32: the vector of an image is its class token
/// after the last norm. A vector's bits depend on its image only.
pub struct Vit {
    identity: Identity,
    preprocessing: Preprocessing,
    arch: Arch,
    patch: usize,
    width: usize,
    project: Linear,
    /// What each token starts from: the class token first, then the places.
    start: Vec<f32>,
    stack: Stack,
    norm: Norm,
}

impl std::fmt::Debug for Vit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vit")
            .field("identity", &self.identity)
            .field("preprocessing", &self.preprocessing)
            .finish_non_exhaustive()
    }
}

impl Vit {
    /// Opens a folder with `config.json` and `model.safetensors`; images are prepared by its
    /// `preprocessor_config.json`, or by [`Preprocessing::default`] where there is none.
    pub fn open(folder: &Path) -> Result<Self, EmbedError> {
        Self::open_with(folder, Preprocessing::read(folder)?)
    }

    /// The same, with images prepared another way.
    pub fn open_with(folder: &Path, preprocessing: Preprocessing) -> Result<Self, EmbedError> {
        let (config, shape) = config(folder, Config::shape)?;
        let patch = config.patch_size;
        preprocessing.check(patch)?;
        let (path, bytes) = read(folder, "model.safetensors")?;
        let probe = "embeddings.cls_token";
        let weights = Weights::open(&path, &bytes, &["", "dinov2."], probe)?;
        let arch = Arch::new();
        let width = shape.width;
        let class = weights.get(probe, &[1, 1, width])?;
        let name = "embeddings.position_embeddings";
        let (positions, found) = weights.with_shape(name, &[1, 0, width])?;
        let old = found[1].saturating_sub(1).isqrt();
        if old == 0 || old * old + 1 != found[1] {
            return Err(weights.problem(format!(
                "tensor {name:?} has {} places, not those of a square and one more",
                found[1]
            )));
        }
        let grid = preprocessing.crop / patch;
        let mut start: Vec<f32> = class.iter().zip(&positions).map(|(c, p)| c + p).collect();
        start.extend(places::interpolate(&positions[width..], old, grid, width));
        let name = "embeddings.patch_embeddings.projection";
        let project = Linear::new(
            arch,
            &weights.get(&format!("{name}.weight"), &[width, 3, patch, patch])?,
            weights.get(&format!("{name}.bias"), &[width])?,
        );
        let layers = (0..config.num_hidden_layers)
            .map(|at| layer(&weights, at, shape, arch, &config))
            .collect::<Result<_, _>>()?;
        let norm = Norm::read(&weights, "layernorm", width, config.layer_norm_eps)?;
        // The number goes up with any change that moves a bit of a vector: vectors are kept by this.
        let mut hash = ContentHash::new("dissensus dinov2 encoder 1");
        hash.text(&sha256(&bytes));
        hash.text(&format!("{config:?} {preprocessing:?}"));
        let identity = Identity { name: folder_name(folder), digest: hash.finish().to_string() };
        let stack = Stack { shape, layers };
        Ok(Self { identity, preprocessing, arch, patch, width, project, start, stack, norm })
    }

    /// The same encoder under another name; what it computes, and so its digest, stays.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.identity.name);
        self
    }

    /// How images are prepared.
    pub fn preprocessing(&self) -> Preprocessing {
        self.preprocessing
    }

    fn encode(
        &self,
        image: &Image<'_>,
        buffers: &mut Buffers,
        out: &mut [f32],
    ) -> Result<(), EmbedError> {
        let Preprocessing { shorter, crop, mean, sd } = self.preprocessing;
        let (size, cut) = middle(image, shorter, crop);
        let pixels = resize(image, size, cut, Filter::Bicubic)?;
        let (patch, channels) = (self.patch, image.channels);
        let grid = crop / patch;
        // Patch by patch, plane by plane, row by row: the order of the projection's weights.
        buffers.patches.clear();
        for (top, left) in (0..grid).flat_map(|top| (0..grid).map(move |left| (top, left))) {
            for channel in 0..3 {
                let from = channel.min(channels - 1);
                for y in top * patch..(top + 1) * patch {
                    let row = &pixels[(y * crop + left * patch) * channels..][..patch * channels];
                    let of = |&x: &u8| (f32::from(x) / 255.0 - mean[channel]) / sd[channel];
                    buffers.patches.extend(row[from..].iter().step_by(channels).map(of));
                }
            }
        }
        let x = &mut buffers.x;
        x.clear();
        x.extend_from_slice(&self.start);
        self.project.apply(self.arch, &buffers.patches, true, &mut x[self.width..]);
        let tokens = 1 + grid * grid;
        self.stack.apply(self.arch, x, &[tokens], &mut buffers.work);
        out.copy_from_slice(&x[..self.width]);
        self.norm.apply(self.arch, out);
        Ok(())
    }
}

/// What a thread keeps from image to image.
struct Buffers {
    patches: Vec<f32>,
    x: Vec<f32>,
    work: Work,
}

fn layer(
    weights: &Weights<'_>,
    at: usize,
    shape: Shape,
    arch: Arch,
    config: &Config,
) -> Result<Layer, EmbedError> {
    let name = |part: &str| format!("encoder.layer.{at}.{part}");
    let norm = |part: &str| Norm::read(weights, &name(part), shape.width, config.layer_norm_eps);
    let (width, inner) = (shape.width, shape.inner);
    let pair = |part: &str, inputs: usize, outputs: usize, with_bias: bool| {
        let weight = weights.get(&name(&format!("{part}.weight")), &[outputs, inputs])?;
        let bias = match with_bias {
            true => weights.get(&name(&format!("{part}.bias")), &[outputs])?,
            false => vec![0.0; outputs],
        };
        Ok::<_, EmbedError>((weight, bias))
    };
    let (mut weight, mut bias) = (Vec::new(), Vec::new());
    for part in ["query", "key", "value"] {
        let part = format!("attention.attention.{part}");
        let (more_weight, more_bias) = pair(&part, width, width, config.qkv_bias)?;
        weight.extend(more_weight);
        bias.extend(more_bias);
    }
    // A factor on the output of a linear map is as well one on its rows.
    let scaled = |part: &str, factor: &str, inputs: usize| {
        let (mut weight, mut bias) = pair(part, inputs, width, true)?;
        let factors = weights.get(&name(&format!("{factor}.lambda1")), &[width])?;
        for ((row, b), factor) in weight.chunks_exact_mut(inputs).zip(&mut bias).zip(factors) {
            row.iter_mut().for_each(|w| *w *= factor);
            *b *= factor;
        }
        Ok::<_, EmbedError>(Linear::new(arch, &weight, bias))
    };
    let (up, up_bias) = pair("mlp.fc1", width, inner, true)?;
    Ok(Layer {
        qkv: Linear::new(arch, &weight, bias),
        output: scaled("attention.output.dense", "layer_scale1", width)?,
        attention_norm: norm("norm1")?,
        up: Linear::new(arch, &up, up_bias),
        down: scaled("mlp.fc2", "layer_scale2", inner)?,
        mlp_norm: norm("norm2")?,
    })
}

/// Where the middle of an image lies once its shorter side is `shorter` pixels long; its sides then.
fn middle(image: &Image<'_>, shorter: usize, crop: usize) -> ([usize; 2], Cut) {
    let Image { height, width, .. } = *image;
    let longer = |long: usize, short: usize| {
        let side = shorter as u128 * long as u128 / short.max(1) as u128;
        usize::try_from(side).unwrap_or(usize::MAX)
    };
    let [tall, wide] = match height <= width {
        true => [shorter, longer(width, height)],
        false => [longer(height, width), shorter],
    };
    let offset = |side: usize| side.saturating_sub(crop) / 2;
    ([tall, wide], Cut { top: offset(tall), left: offset(wide), rows: crop, columns: crop })
}

impl Encoder for Vit {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn kind(&self) -> Kind {
        Kind::Image
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn images(
        &self,
        images: &[Image<'_>],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = vec![0.0; images.len() * self.width];
        let progress = Mutex::new(progress);
        let buffers = || Buffers { patches: Vec::new(), x: Vec::new(), work: Work::new(self.arch) };
        let out = vectors.par_chunks_exact_mut(self.width);
        out.zip(images).try_for_each_init(buffers, |buffers, (out, image)| {
            self.encode(image, buffers, out)?;
            // A lock is poisoned only where `progress` itself panicked, which then goes on anyway.
            let go_on = progress.lock().is_ok_and(|mut progress| progress(1));
            if go_on { Ok(()) } else { Err(EmbedError::Stopped) }
        })?;
        Ok(vectors)
    }
}
