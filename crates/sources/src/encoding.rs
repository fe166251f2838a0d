//! Texts and images as vectors, by an encoder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dissensus_core::{Event, Ids, TableError, Unit, VoteTable};
use dissensus_data::{HUB_PREFIX, HubModel, locate, locate_model};
use dissensus_embed::{
    Cache, Cached, Encoder, Image, Kind as Takes, OnnxEncoder, OnnxSettings, Pairing, open_folder,
};
use dissensus_inputs::{Features, Images, Inputs, Kind};
use dissensus_train::spec::Pair;

use crate::{LoadContext, SourceError};

/// Encoders of the catalogue.
pub const ENCODERS: &[&str] = &["minilm", "efficientnet-lite0"];

/// The encoder of this name: one of the catalogue, a model of the hub (`hf:OWNER/NAME`), or the path
/// of a folder of safetensors or of an ONNX file.
pub fn open_encoder(
    name: &str,
    context: &LoadContext<'_>,
) -> Result<Box<dyn Encoder>, SourceError> {
    if name.starts_with(HUB_PREFIX) {
        return open_hub_model(&name.parse()?, context);
    }
    let none = || SourceError::NoEncoder { name: name.to_owned() };
    let path = match ENCODERS.contains(&name) {
        true => {
            let files: Vec<PathBuf> = locate(name, context.cache()?)?;
            let first = files.into_iter().next().ok_or_else(none)?;
            let onnx = first.extension().is_some_and(|end| end == "onnx");
            if onnx { first } else { first.parent().map(Path::to_owned).unwrap_or_default() }
        }
        false => PathBuf::from(name),
    };
    if path.is_dir() {
        return Ok(open_folder(&path, None)?);
    }
    if path.is_file() {
        return Ok(Box::new(OnnxEncoder::open(&path, &OnnxSettings::default())?));
    }
    Err(none())
}

/// A model of the hub, named in results by its repository and the start of its commit.
fn open_hub_model(
    model: &HubModel,
    context: &LoadContext<'_>,
) -> Result<Box<dyn Encoder>, SourceError> {
    let found = locate_model(model, context.cache()?)?;
    let name = format!("{}@{}", model.repo(), &found.commit[..12]);
    if model.commit().is_none() {
        let pinned = model.at(&found.commit);
        context.note(&format!("{model} is not pinned; this is {pinned}"));
    }
    Ok(open_folder(&found.folder, Some(&name))?)
}

/// What is encoded.
pub enum EncoderSource {
    /// Texts by item, one or two of each.
    Texts(Vec<(String, Vec<String>)>),
    /// Pictures by item.
    Pictures(Inputs),
}

/// The vectors of the items of a table, from the cache as far as they are there.
pub fn encode(
    encoder: Box<dyn Encoder>,
    source: &EncoderSource,
    table: &VoteTable,
    pair: Pair,
    context: &LoadContext<'_>,
) -> Result<Inputs, SourceError> {
    let cache = Cache::open(context.cache()?.join("embeddings"))?;
    let encoder = Cached::new(encoder, &cache)?;
    let name = encoder.identity().name.clone();
    let pairing = match pair {
        Pair::Combined => Pairing::Compared,
        Pair::Both => Pairing::Concatenated,
        Pair::Joint => Pairing::joint(),
    };
    let (ids, values) = match (source, encoder.kind()) {
        (EncoderSource::Texts(texts), Takes::Text) => {
            let by_id: HashMap<&str, &Vec<String>> =
                texts.iter().map(|(id, texts)| (id.as_str(), texts)).collect();
            let items = table.items().iter().filter_map(|id| {
                let texts = *by_id.get(id)?;
                Some((id.to_owned(), texts.clone()))
            });
            let (ids, texts): (Vec<String>, Vec<Vec<String>>) = items.unzip();
            let each = texts.first().map_or(1, Vec::len);
            let mut steps = Steps::start(&name, pairing.asked(texts.len(), each), context);
            let values = pairing.encode(&encoder, &texts, &mut |done| steps.add(done))?;
            (ids, values)
        }
        (EncoderSource::Pictures(inputs), Takes::Image) => {
            let (Kind::Images(images), Some(known)) = (inputs.kind(), inputs.ids()) else {
                return Err(SourceError::EncoderInput { name, takes: "images with ids" });
            };
            let items = table.items().iter().filter_map(|id| Some((id, known.position(id)?)));
            let (ids, places): (Vec<&str>, Vec<usize>) = items.unzip();
            let pictures: Vec<Image<'_>> =
                places.into_iter().map(|place| picture(images, place)).collect();
            let mut steps = Steps::start(&name, pictures.len(), context);
            let values = encoder.images(&pictures, &mut |done| steps.add(done))?;
            (ids.into_iter().map(str::to_owned).collect(), values)
        }
        (EncoderSource::Texts(_), Takes::Image) => {
            return Err(SourceError::EncoderInput { name, takes: "images" });
        }
        (EncoderSource::Pictures(_), Takes::Text) => {
            return Err(SourceError::EncoderInput { name, takes: "texts" });
        }
    };
    if ids.is_empty() {
        return Err(SourceError::NothingToEncode);
    }
    let stats = encoder.stats();
    let (encoded, known) = (stats.misses, stats.hits);
    context.note(&format!("{name}: {encoded} encoded, {known} from the cache"));
    let width = values.len() / ids.len();
    let features = Kind::Features(Features::new(&name, width, values)?);
    let ids = Ids::new(&ids).map_err(TableError::from)?;
    Ok(Inputs::new(&name, Some(ids), features)?)
}

/// Reports how many texts or images are encoded.
struct Steps<'a> {
    name: &'a str,
    done: u64,
    total: u64,
    context: &'a LoadContext<'a>,
}

impl<'a> Steps<'a> {
    fn start(name: &'a str, total: usize, context: &'a LoadContext<'a>) -> Self {
        let total = total as u64;
        let unit = Unit::Steps;
        context.progress.report(Event::Started { task: name, total: Some(total), unit });
        Self { name, done: 0, total, context }
    }

    /// Whether to go on.
    fn add(&mut self, done: usize) -> bool {
        self.done += done as u64;
        let (task, done, total) = (self.name, self.done, Some(self.total));
        self.context.progress.report(Event::Advanced { task, done, total, detail: "" });
        !self.context.cancel.is_cancelled()
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.context.progress.report(Event::Finished { task: self.name });
    }
}

fn picture(images: &Images, place: usize) -> Image<'_> {
    Image {
        height: images.height(),
        width: images.width(),
        channels: images.channels(),
        pixels: images.image(place),
    }
}
