//! Texts and pictures as vectors, by an encoder that a spec or a command names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dissensus_core::{Ids, VoteTable};
use dissensus_data::{default_cache_dir, locate};
use dissensus_embed::{
    Bert, Cache, Cached, Encoder, Kind as Takes, OnnxEncoder, OnnxSettings, Pairing, Picture, Vit,
};
use dissensus_inputs::{Features, Images, Inputs, Kind};
use dissensus_train::spec::Pair;

use crate::ui::{self, paint, progress, text};

/// Encoders of the catalogue.
pub(crate) const ENCODERS: &[&str] = &["minilm", "efficientnet-lite0"];

/// The encoder of this name, or at this path: a folder of safetensors, or an ONNX file.
pub(crate) fn open_encoder(name: &str) -> anyhow::Result<Box<dyn Encoder>> {
    let path = match ENCODERS.contains(&name) {
        true => {
            let files: Vec<PathBuf> = locate(name, &default_cache_dir()?)?;
            let first = files.into_iter().next().context("an encoder without files")?;
            let onnx = first.extension().is_some_and(|end| end == "onnx");
            if onnx { first } else { first.parent().map(Path::to_owned).unwrap_or_default() }
        }
        false => PathBuf::from(name),
    };
    if path.is_dir() {
        let config = path.join("config.json");
        let about = std::fs::read_to_string(&config)
            .with_context(|| format!("reading {}", config.display()))?;
        let about: serde_json::Value =
            serde_json::from_str(&about).with_context(|| format!("{}", config.display()))?;
        let pictures = about["model_type"].as_str().is_some_and(|kind| kind.starts_with("dinov2"));
        return Ok(match pictures {
            true => Box::new(Vit::open(&path)?),
            false => Box::new(Bert::open(&path)?),
        });
    }
    if path.is_file() {
        return Ok(Box::new(OnnxEncoder::open(&path, &OnnxSettings::default())?));
    }
    anyhow::bail!(
        "there is no encoder {name:?}; expected {}, or the path of a folder (config.json, \
         model.safetensors, tokenizer.json) or of an ONNX file",
        ENCODERS.join(", ")
    )
}

/// What is encoded.
pub(crate) enum Source {
    /// Texts by item, one or two of each.
    Texts(Vec<(String, Vec<String>)>),
    /// Pictures by item.
    Pictures(Inputs),
}

/// The vectors of the items of a table, from the cache as far as they are there.
pub(crate) fn encode(
    encoder: Box<dyn Encoder>,
    source: &Source,
    table: &VoteTable,
    pair: Pair,
) -> anyhow::Result<Inputs> {
    let cache = Cache::open(default_cache_dir()?.join("embeddings"))?;
    let encoder = Cached::new(encoder, &cache)?;
    let name = encoder.identity().name.clone();
    let pairing = match pair {
        Pair::Combined => Pairing::Compared,
        Pair::Both => Pairing::Concatenated,
        Pair::Joint => Pairing::joint(),
    };
    let (ids, values) = match (source, encoder.kind()) {
        (Source::Texts(texts), Takes::Text) => {
            let by_id: HashMap<&str, &Vec<String>> =
                texts.iter().map(|(id, texts)| (id.as_str(), texts)).collect();
            let items = table.items().iter().filter_map(|id| {
                let texts = *by_id.get(id)?;
                Some((id.to_owned(), texts.clone()))
            });
            let (ids, texts): (Vec<String>, Vec<Vec<String>>) = items.unzip();
            let each = texts.first().map_or(1, Vec::len);
            let bar = progress::steps(pairing.asked(texts.len(), each), &format!("{name}:"));
            let values = pairing.encode(&encoder, &texts, &mut |done| {
                bar.inc(done as u64);
                true
            })?;
            bar.finish_and_clear();
            (ids, values)
        }
        (Source::Pictures(inputs), Takes::Picture) => {
            let (Kind::Images(images), Some(known)) = (inputs.kind(), inputs.ids()) else {
                anyhow::bail!("{name} takes pictures with ids, not feature vectors");
            };
            let items = table.items().iter().filter_map(|id| Some((id, known.position(id)?)));
            let (ids, places): (Vec<&str>, Vec<usize>) = items.unzip();
            let pictures: Vec<Picture<'_>> =
                places.into_iter().map(|place| picture(images, place)).collect();
            let bar = progress::steps(pictures.len(), &format!("{name}:"));
            let values = encoder.pictures(&pictures, &mut |done| {
                bar.inc(done as u64);
                true
            })?;
            bar.finish_and_clear();
            (ids.into_iter().map(str::to_owned).collect(), values)
        }
        (Source::Texts(_), Takes::Picture) => {
            anyhow::bail!("{name} takes pictures, and these data are texts")
        }
        (Source::Pictures(_), Takes::Text) => {
            anyhow::bail!("{name} takes texts, and these data are pictures")
        }
    };
    if ids.is_empty() {
        anyhow::bail!(
            "no item with votes has anything to encode; if a column of the votes has texts, name it \
             (data.text, or --text)"
        );
    }
    let stats = encoder.stats();
    ui::err(&paint::dim(&format!(
        "{name}: {} encoded, {} known from before\n",
        text::thousands(stats.misses as u64),
        text::thousands(stats.hits as u64)
    )));
    let width = values.len() / ids.len();
    let features = Kind::Features(Features::new(&name, width, values)?);
    let ids: Ids = ids.iter().map(String::as_str).collect();
    Ok(Inputs::new(&name, Some(ids), features)?)
}

fn picture(images: &Images, place: usize) -> Picture<'_> {
    Picture {
        height: images.height(),
        width: images.width(),
        channels: images.channels(),
        pixels: images.image(place),
    }
}
