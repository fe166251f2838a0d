//! A picture encoder from an ONNX file.

use std::path::Path;

use dissensus_core::ContentHash;
use rayon::prelude::*;

use super::model::{Input, Model};
use super::plan::Plan;
use super::tensor::{Scratch, Tensor};
use crate::pictures::{Filter, Fit, Preparation};
use crate::{EmbedError, Encoder, Identity, Kind, Picture, Progress};

/// Pictures a core between two words of progress.
const BATCH: usize = 16;
/// The side of a picture where neither the file nor the settings say.
const SIDE: usize = 224;
/// The longest side that is taken.
const LONGEST: usize = 1 << 13;

/// What a file does not say. The default is that of EfficientNet-Lite: (x − 127) / 128.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxSettings {
    /// For people, and for results; the file's name where there is none.
    pub name: Option<String>,
    /// The output that is the vector: by default the one called `features`, else the only one.
    pub output: Option<String>,
    /// Rows and pixels a row; needed where the graph takes any and 224×224 is not it.
    pub size: Option<[usize; 2]>,
    /// How another shape comes to fill the size.
    pub fit: Fit,
    /// How pictures are resized.
    pub filter: Filter,
    /// What is taken off, for red, green and blue bytes.
    pub mean: [f32; 3],
    /// What it is divided by then.
    pub scale: [f32; 3],
}

impl Default for OnnxSettings {
    fn default() -> Self {
        Self {
            name: None,
            output: None,
            size: None,
            fit: Fit::Cover,
            filter: Filter::Bilinear,
            mean: [127.0; 3],
            scale: [128.0; 3],
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct OnnxEncoder {
    identity: Identity,
    plan: Plan,
    preparation: Preparation,
    channels_last: bool,
    width: usize,
}

impl OnnxEncoder {
    /// Reads a file and runs it once on a black picture, so that what cannot work is said here.
    pub fn open(path: impl AsRef<Path>, settings: &OnnxSettings) -> Result<Self, EmbedError> {
        let path = path.as_ref();
        let file = |source| EmbedError::File { path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(file)?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = settings.name.clone().or(name).unwrap_or_default();
        Self::read(&bytes, name, settings)
            .map_err(|problem| EmbedError::Model { path: path.to_owned(), problem })
    }

    fn read(bytes: &[u8], name: String, settings: &OnnxSettings) -> Result<Self, String> {
        let model = Model::parse(bytes)?;
        let [input] = model.inputs.as_slice() else {
            let names: Vec<&str> = model.inputs.iter().map(|input| input.name.as_str()).collect();
            return Err(format!("its inputs are {names:?}; a picture encoder has one"));
        };
        let output = output(&model, settings.output.as_deref())?;
        let (size, channels_last) = size(input, settings.size)?;
        let preparation = Preparation {
            size,
            fit: settings.fit,
            filter: settings.filter,
            mean: settings.mean,
            scale: settings.scale,
        };
        let numbers = preparation.mean.iter().chain(&preparation.scale);
        if !numbers.clone().all(|number| number.is_finite()) || preparation.scale.contains(&0.0) {
            return Err(format!(
                "mean {:?} and scale {:?}: numbers are wanted, and no scale of 0",
                preparation.mean, preparation.scale
            ));
        }
        let plan = Plan::new(&model, &input.name, output)?;
        let identity = Identity { name, digest: digest(bytes, output, &preparation) };
        let mut encoder = Self { identity, plan, preparation, channels_last, width: 0 };
        let black = Picture { height: 1, width: 1, channels: 1, pixels: &[0] };
        let vector = encoder.encode(&black, &mut Scratch::default())?;
        if vector.shape.first() != Some(&1) || vector.data.is_empty() {
            return Err(format!(
                "its output \"{output}\" has a shape of {:?} for one picture; 1 × numbers are wanted",
                vector.shape
            ));
        }
        encoder.width = vector.data.len();
        Ok(encoder)
    }

    /// How pictures become numbers, with sizes as they are used.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    fn encode(&self, picture: &Picture<'_>, scratch: &mut Scratch) -> Result<Tensor, String> {
        let mut numbers = scratch.take(0);
        self.preparation.apply(picture, &mut numbers).map_err(|error| error.to_string())?;
        let [rows, columns] = self.preparation.size;
        // Either way the numbers lie as rows of pixels; only the shape that the graph sees differs.
        let input = match self.channels_last {
            false => Tensor::pixels([1, 3, rows, columns], numbers),
            true => Tensor::plain(vec![1, rows, columns, 3], numbers),
        };
        self.plan.run(input, scratch)
    }
}

/// The output that is asked for.
fn output<'a>(model: &'a Model, wanted: Option<&str>) -> Result<&'a str, String> {
    let has = |name: &str| model.outputs.iter().find(|output| *output == name);
    let found = match wanted {
        Some(name) => has(name),
        None => has("features").or(match model.outputs.as_slice() {
            [only] => Some(only),
            _ => None,
        }),
    };
    found.map(String::as_str).ok_or_else(|| {
        let wanted = wanted.unwrap_or("features");
        format!("no output is called \"{wanted}\"; name one of {:?}", model.outputs)
    })
}

/// Rows and pixels a row, and whether the graph takes N×H×W×3 instead of N×3×H×W.
fn size(input: &Input, wanted: Option<[usize; 2]>) -> Result<([usize; 2], bool), String> {
    let (channels_last, own) = match input.shape.as_slice() {
        [None | Some(1), None | Some(3), height, width] => (false, [*height, *width]),
        [None | Some(1), height, width, Some(3)] => (true, [*height, *width]),
        shape => {
            return Err(format!(
                "its input \"{}\" has a shape of {shape:?}; one picture of three channels is wanted, \
                 1×3×H×W or 1×H×W×3, where None may be any",
                input.name
            ));
        }
    };
    if !input.floats {
        return Err(format!("its input \"{}\" does not take floats of four bytes", input.name));
    }
    let mut size = [SIDE; 2];
    for side in 0..2 {
        let stated = wanted.map(|wanted| wanted[side]);
        size[side] = match (own[side], stated) {
            (Some(own), Some(stated)) if own != stated => {
                return Err(format!("its pictures are {own:?} and the settings say {wanted:?}"));
            }
            (own, stated) => own.or(stated).unwrap_or(SIDE),
        };
        if !(1..=LONGEST).contains(&size[side]) {
            return Err(format!("pictures of {size:?}; sides of 1 to {LONGEST} are taken"));
        }
    }
    Ok((size, channels_last))
}

/// Of all that decides a vector; changes of the arithmetic raise the version.
fn digest(bytes: &[u8], output: &str, preparation: &Preparation) -> String {
    // The number goes up with any change that moves a bit of a vector: vectors are kept by this.
    let mut hash = ContentHash::new("dissensus onnx encoder 1");
    hash.number(bytes.len() as u64);
    hash.bytes(bytes);
    hash.text(output);
    preparation.size.iter().for_each(|side| hash.number(*side as u64));
    hash.text(match preparation.fit {
        Fit::Cover => "cover",
        Fit::Stretch => "stretch",
    });
    hash.text(match preparation.filter {
        Filter::Bilinear => "bilinear",
        Filter::Bicubic => "bicubic",
    });
    let numbers = preparation.mean.iter().chain(&preparation.scale);
    numbers.for_each(|number| hash.number(u64::from(number.to_bits())));
    hash.finish().to_string()
}

impl Encoder for OnnxEncoder {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn kind(&self) -> Kind {
        Kind::Picture
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn pictures(
        &self,
        pictures: &[Picture<'_>],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = Vec::with_capacity(pictures.len() * self.width);
        for (batch, some) in pictures.chunks(BATCH * rayon::current_num_threads()).enumerate() {
            let first = batch * BATCH * rayon::current_num_threads();
            let one = |scratch: &mut Scratch, (at, picture): (usize, &Picture<'_>)| {
                let vector = self.encode(picture, scratch).and_then(|vector| {
                    match vector.data.iter().all(|number| number.is_finite()) {
                        true => Ok(vector.data),
                        false => Err("its vector has numbers that are not finite".to_owned()),
                    }
                });
                let name = &self.identity.name;
                vector.map_err(|problem| {
                    EmbedError::Input(format!("{name}, picture {}: {problem}", first + at))
                })
            };
            let made: Result<Vec<Vec<f32>>, _> =
                some.par_iter().enumerate().map_init(Scratch::default, one).collect();
            made?.iter().for_each(|vector| vectors.extend(vector));
            if !progress(some.len()) {
                return Err(EmbedError::Stopped);
            }
        }
        Ok(vectors)
    }
}
