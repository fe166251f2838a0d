//! An image encoder from an ONNX file.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dissensus_core::ContentHash;
use rayon::prelude::*;

use super::runtime;
use super::session::{Port, Session};
use crate::images::{Filter, Fit, Preparation};
use crate::{EmbedError, Encoder, Identity, Image, Kind, Progress};

/// Images per session between two reports of progress.
const BATCH: usize = 16;
/// The side of an image where neither the file nor the settings give one.
const SIDE: usize = 224;
/// The longest side that is accepted.
const LONGEST: usize = 1 << 13;
/// Every session holds its own copy of the weights: together they may take about this much memory.
const MEMORY: usize = 4 << 30;

/// What a model file does not say. The default is that of EfficientNet-Lite: (x − 127) / 128.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxSettings {
    /// The encoder's name in results; by default the name of the file.
    pub name: Option<String>,
    /// The output that is the vector. By default the one called `features`, else the first one
    /// with two dimensions (N × numbers), else the only one, flattened.
    pub output: Option<String>,
    /// Height and width, for a model that takes any; by default 224×224.
    pub size: Option<[usize; 2]>,
    /// How an image of another shape is fitted to the size.
    pub fit: Fit,
    /// How images are resized.
    pub filter: Filter,
    /// What is subtracted from red, green and blue bytes.
    pub mean: [f32; 3],
    /// What the difference is divided by.
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

pub struct OnnxEncoder {
    identity: Identity,
    runtime: &'static str,
    /// One per core, each used by one thread at a time.
    sessions: Vec<Mutex<Session>>,
    preparation: Preparation,
    channels_last: bool,
    width: usize,
}

impl std::fmt::Debug for OnnxEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { identity, runtime, preparation, width, .. } = self;
        let mut debug = f.debug_struct("OnnxEncoder");
        debug.field("identity", identity).field("runtime", runtime);
        debug.field("preparation", preparation).field("width", width).finish_non_exhaustive()
    }
}

impl OnnxEncoder {
    /// Reads a file and runs it once on a black image, so that a model that cannot be used is
    /// refused here. Loads ONNX Runtime if this is the first model.
    pub fn open(path: impl AsRef<Path>, settings: &OnnxSettings) -> Result<Self, EmbedError> {
        let path = path.as_ref();
        let file = |source| EmbedError::File { path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(file)?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = settings.name.clone().or(name).unwrap_or_default();
        let runtime = runtime::load()?;
        Self::read(&bytes, name, settings, runtime)
            .map_err(|problem| EmbedError::Model { path: path.to_owned(), problem })
    }

    fn read(
        bytes: &[u8],
        name: String,
        settings: &OnnxSettings,
        runtime: &'static str,
    ) -> Result<Self, String> {
        let first = Session::load(bytes)?;
        let inputs = first.inputs();
        let [input] = inputs.as_slice() else {
            let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
            return Err(format!("its inputs are {names:?}; an image encoder has one"));
        };
        let output = output(&first.outputs(), settings.output.as_deref())?;
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
                "mean {:?} and scale {:?}: expected finite numbers, and no scale of 0",
                preparation.mean, preparation.scale
            ));
        }
        let identity = Identity { name, digest: digest(bytes, &output, &preparation, runtime) };
        let count = rayon::current_num_threads().min(MEMORY / bytes.len().max(1)).max(1);
        let others: Result<Vec<Session>, String> =
            (1..count).into_par_iter().map(|_| Session::load(bytes)).collect();
        let mut sessions = vec![first];
        sessions.extend(others?);
        for session in &mut sessions {
            session.select(&output)?;
        }
        let sessions = sessions.into_iter().map(Mutex::new).collect();
        let mut encoder =
            Self { identity, runtime, sessions, preparation, channels_last, width: 0 };
        let black = Image { height: 1, width: 1, channels: 1, pixels: &[0] };
        let (shape, vector) = encoder.encode(&black, 0)?;
        if shape.first() != Some(&1) || vector.is_empty() {
            return Err(format!(
                "its output {output:?} has shape {shape:?} for one image; expected 1 × numbers"
            ));
        }
        encoder.width = vector.len();
        Ok(encoder)
    }

    /// How images become numbers, with the sizes that are used.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// The build of ONNX Runtime, in its own words; part of the digest.
    pub fn runtime(&self) -> &str {
        self.runtime
    }

    /// Shape and values of the output for one image.
    fn encode(&self, image: &Image<'_>, session: usize) -> Result<(Vec<usize>, Vec<f32>), String> {
        let mut pixels = Vec::new();
        self.preparation.apply(image, &mut pixels).map_err(|error| error.to_string())?;
        let [rows, columns] = self.preparation.size;
        let shape = if self.channels_last { [1, rows, columns, 3] } else { [1, 3, rows, columns] };
        if !self.channels_last {
            let plane = |channel: usize| pixels.iter().skip(channel).step_by(3).copied();
            pixels = (0..3).flat_map(plane).collect();
        }
        // A run that panicked has not changed the model.
        let mut session = self.sessions[session].lock().unwrap_or_else(PoisonError::into_inner);
        session.run(shape, &pixels)
    }

    /// The vector of one image, checked.
    fn vector(&self, image: &Image<'_>, session: usize) -> Result<Vec<f32>, String> {
        let (_, vector) = self.encode(image, session)?;
        if vector.len() != self.width {
            let found = vector.len();
            return Err(format!("its vector has {found} numbers, others have {}", self.width));
        }
        match vector.iter().all(|number| number.is_finite()) {
            true => Ok(vector),
            false => Err("its vector has numbers that are not finite".to_owned()),
        }
    }
}

/// The name of the output that is the vector.
fn output(outputs: &[Port], wanted: Option<&str>) -> Result<String, String> {
    let named = |name: &str| outputs.iter().find(|output| output.name == name);
    let found = match wanted {
        Some(name) => named(name),
        None => named("features")
            .or_else(|| outputs.iter().find(|output| output.floats && output.shape.len() == 2))
            .or(match outputs {
                [only] => Some(only),
                _ => None,
            }),
    };
    let Some(found) = found else {
        let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
        return Err(match wanted {
            Some(wanted) => format!("no output is called {wanted:?}; name one of {names:?}"),
            None => format!("no output is a vector per image; name one of {names:?}"),
        });
    };
    if !found.floats {
        return Err(format!("its output {:?} is not of 32-bit floats", found.name));
    }
    Ok(found.name.clone())
}

/// Height and width, and whether the model takes N×H×W×3 instead of N×3×H×W.
fn size(input: &Port, wanted: Option<[usize; 2]>) -> Result<([usize; 2], bool), String> {
    let (channels_last, own) = match input.shape.as_slice() {
        [None | Some(1), None | Some(3), height, width] => (false, [*height, *width]),
        [None | Some(1), height, width, Some(3)] => (true, [*height, *width]),
        shape => {
            return Err(format!(
                "its input {:?} has shape {shape:?}; expected one image of three channels, \
                 1×3×H×W or 1×H×W×3, where any size may be None",
                input.name
            ));
        }
    };
    if !input.floats {
        return Err(format!("its input {:?} does not take 32-bit floats", input.name));
    }
    let mut size = [SIDE; 2];
    for side in 0..2 {
        let stated = wanted.map(|wanted| wanted[side]);
        size[side] = match (own[side], stated) {
            (Some(own), Some(stated)) if own != stated => {
                return Err(format!(
                    "its images have a side of {own}, the settings say {wanted:?}"
                ));
            }
            (own, stated) => own.or(stated).unwrap_or(SIDE),
        };
        if !(1..=LONGEST).contains(&size[side]) {
            return Err(format!("images of {size:?}; sides of 1 to {LONGEST} are accepted"));
        }
    }
    Ok((size, channels_last))
}

/// Of all that decides a vector. The number in the name goes up with any change here that moves a
/// bit of a vector: cached vectors are found by this digest.
fn digest(bytes: &[u8], output: &str, preparation: &Preparation, runtime: &str) -> String {
    let mut hash = ContentHash::new("dissensus onnx encoder 2");
    hash.text(runtime);
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
        let mut vectors = Vec::with_capacity(images.len() * self.width);
        let batch = BATCH * self.sessions.len();
        for (number, some) in images.chunks(batch).enumerate() {
            let each = some.len().div_ceil(self.sessions.len());
            let parts = some.par_chunks(each).enumerate().map(|(session, part)| {
                let mut vectors = Vec::with_capacity(part.len() * self.width);
                for (at, image) in part.iter().enumerate() {
                    let place = number * batch + session * each + at;
                    let vector = self.vector(image, session).map_err(|problem| {
                        let name = &self.identity.name;
                        EmbedError::Input(format!("{name}, image {place}: {problem}"))
                    })?;
                    vectors.extend(vector);
                }
                Ok(vectors)
            });
            let made: Result<Vec<Vec<f32>>, EmbedError> = parts.collect();
            made?.iter().for_each(|part| vectors.extend(part));
            if !progress(some.len()) {
                return Err(EmbedError::Stopped);
            }
        }
        Ok(vectors)
    }
}
