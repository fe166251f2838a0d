//! Votes and inputs, as a spec names them.

use std::path::Path;

use anyhow::Context as _;
use dissensus_core::{Keep, VoteTable};
use dissensus_data::blends::{Blends, Settings};
use dissensus_data::default_cache_dir;
use dissensus_embed::Kind as Takes;
use dissensus_inputs::{Inputs, Joined, Matched, WITH_PICTURES, from_blends, from_dataset};
use dissensus_labels::subset;
use dissensus_measure::{Matrix, Targets, Truth};
use dissensus_studies::Material;
use dissensus_train::spec::{Data, DataSource, EntropyBins, InputReading, Reading};
use dissensus_train::{Task, Voted};
use dissensus_votes::ReadOptions;

use super::encoding::{Source, encode, open_encoder};
use crate::commands::votes::reading;
use crate::ui::{self, paint, text};

/// What a study takes of the data that a spec names: of generated data also the truth.
pub(crate) fn material(data: &Data) -> anyhow::Result<Material> {
    if let (DataSource::Dataset(name), None, None, None, None) =
        (&data.source, &data.evaluate_on, &data.inputs, &data.encoder, data.subset)
        && name == "blends"
    {
        return blends_material(&blends(data)?);
    }
    loaded(data)
}

/// Generated data with the distributions that the votes were drawn from.
pub(crate) fn blends_material(blends: &Blends) -> anyhow::Result<Material> {
    let (task, _) = Task::new("blends", blends.table(), &from_blends(blends)?)?;
    let known = blends.table().items();
    let rows = task.table().items().iter().filter_map(|id| known.position(id));
    let shares: Vec<f64> = rows.flat_map(|row| blends.truth(row)).copied().collect();
    let classes = task.table().classes().len();
    let truth = Truth::new(Targets::Probabilities(Matrix::new(&shares[..], classes)?))?;
    Ok(Material { truth: Some(truth), ..task.into() })
}

fn blends(data: &Data) -> anyhow::Result<Blends> {
    let mut settings = Settings::default();
    if let Some(items) = data.items {
        settings.items = usize::try_from(items)?;
    }
    Ok(settings.check()?.generate()?)
}

/// Reads what the spec names and matches it; says what was left out.
pub(crate) fn load(data: &Data) -> anyhow::Result<Task> {
    Ok(loaded(data)?.task)
}

/// The same, with the texts or pictures that an encoder was given.
fn loaded(data: &Data) -> anyhow::Result<Material> {
    if let Some(other) = &data.evaluate_on {
        return Ok(evaluated_on(data, other)?.into());
    }
    let (table, mut texts) = votes(data)?;
    let mut encoded = None;
    let table = first(table, data);
    let table = match data.subset {
        Some(EntropyBins { bins, per_bin, seed }) => {
            let settings = subset::EntropyBins { bins, per_bin, seed };
            table.select(&subset::entropy_bins(&table, &settings)?)
        }
        None => table,
    };
    let mut name = data.name().to_owned();
    let inputs = match &data.encoder {
        Some(encoder) => {
            let encoder = open_encoder(encoder)?;
            name = format!("{name} by {}", encoder.identity().name);
            let source = match encoder.kind() {
                Takes::Text => Source::Texts(match &data.source {
                    DataSource::Dataset(name) => {
                        dissensus_inputs::texts(name, &default_cache_dir()?)?
                    }
                    DataSource::Files { .. } => std::mem::take(&mut texts),
                }),
                Takes::Picture => Source::Pictures(own_inputs(data)?),
            };
            let vectors = encode(encoder, &source, &table, data.pair)?;
            encoded = Some(source);
            vectors
        }
        None => own_inputs(data)?,
    };
    print_notes(&inputs);
    let (task, joined) = Task::new(&name, &table, &inputs)?;
    print_joined(&joined, &table);
    let mut material = Material::from(task);
    match encoded.unwrap_or(Source::Texts(texts)) {
        Source::Texts(texts) => {
            let read = texts.into_iter().map(|(id, parts)| (id, parts.join(" → ")));
            material.texts = read.collect();
        }
        Source::Pictures(pictures) => material.pictures = Some(pictures),
    }
    Ok(material)
}

/// The first items, where only so many are wanted. Of generated data there are as many as asked for.
fn first(table: VoteTable, data: &Data) -> VoteTable {
    match data.items.and_then(|n| usize::try_from(n).ok()) {
        Some(items) if items < table.len() => table.select(&(0..items).collect::<Vec<_>>()),
        _ => table,
    }
}

/// The data of a run that is evaluated on another dataset.
fn evaluated_on(data: &Data, other: &str) -> anyhow::Result<Task> {
    let mut there = data.clone();
    (there.source, there.evaluate_on) = (DataSource::Dataset(other.to_owned()), None);
    let read = |data: &Data| -> anyhow::Result<(VoteTable, Inputs)> {
        let table = first(votes(data)?.0, data);
        let inputs = own_inputs(data)?;
        print_notes(&inputs);
        Ok((table, inputs))
    };
    let (table, inputs) = read(data)?;
    let (other_table, other_inputs) = read(&there).context("data.evaluate_on")?;
    let own = Voted { name: data.name(), table: &table, inputs: &inputs };
    let (task, joined) =
        Task::judged_on(own, Voted { name: other, table: &other_table, inputs: &other_inputs })?;
    if joined.classes_by_position {
        let name = data.name();
        ui::err(&format!("the classes of {name} and {other} are matched by position\n"));
    }
    print_joined(&joined.own, &table);
    print_joined(&joined.judged, &other_table);
    Ok(task)
}

fn print_notes(inputs: &Inputs) {
    for note in inputs.notes() {
        ui::err(&paint::dim(&format!("{}: {note}\n", inputs.name())));
    }
}

/// Says how inputs were matched, where it is not by id, and what was left out.
fn print_joined(joined: &Joined, table: &VoteTable) {
    if joined.matched == Matched::ByPosition {
        ui::err("the inputs have no ids: they are matched with the votes by position\n");
    }
    let missing = &joined.without_input;
    if missing.count > 0 {
        ui::err(&format!(
            "{} {} of {} items with votes have no input ({}, …): they are left out\n",
            paint::warn("note:"),
            text::thousands(missing.count as u64),
            text::thousands(table.len() as u64),
            missing.first.join(", ")
        ));
    }
}

/// Inputs of a file, a folder, or a dataset of the catalogue; how a file is read is detected.
pub(crate) fn read_inputs(path: &Path) -> anyhow::Result<Inputs> {
    read_inputs_as(path, &InputReading::default())
}

fn read_inputs_as(path: &Path, how: &InputReading) -> anyhow::Result<Inputs> {
    let name = path.to_string_lossy();
    if !path.exists() && WITH_PICTURES.contains(&&*name) {
        return Ok(from_dataset(&name, &default_cache_dir()?)?);
    }
    let InputReading { key, layout, id, resize } = how.clone();
    let options = dissensus_inputs::ReadOptions { key, layout, id, resize, ..Default::default() };
    Ok(dissensus_inputs::read(path, &options)?)
}

/// The inputs that a spec names, or those of its dataset.
fn own_inputs(data: &Data) -> anyhow::Result<Inputs> {
    match (&data.inputs, &data.source) {
        (Some(path), _) => read_inputs_as(path, &data.inputs_reading),
        (None, DataSource::Dataset(name)) if name == "blends" => Ok(from_blends(&blends(data)?)?),
        (None, DataSource::Dataset(name)) if WITH_PICTURES.contains(&name.as_str()) => {
            Ok(from_dataset(name, &default_cache_dir()?)?)
        }
        (None, DataSource::Dataset(name)) => anyhow::bail!(
            "{name} has no pictures of its own; set data.inputs to features by id, or data.encoder \
             for its texts"
        ),
        (None, DataSource::Files { .. }) => anyhow::bail!(
            "the spec names votes but no inputs; set data.inputs to pictures or features by id"
        ),
    }
}

/// Texts by item.
type Texts = Vec<(String, Vec<String>)>;

/// The votes, and texts that come along in a file of them.
fn votes(data: &Data) -> anyhow::Result<(VoteTable, Texts)> {
    match &data.source {
        DataSource::Dataset(name) if name == "blends" => {
            Ok((blends(data)?.table().clone(), Vec::new()))
        }
        DataSource::Dataset(name) => {
            Ok((dissensus_inputs::votes(name, &default_cache_dir()?)?, Vec::new()))
        }
        DataSource::Files { votes, reading } => read_votes(votes, reading),
    }
}

fn parsed<T: std::str::FromStr<Err = String>>(text: &str) -> anyhow::Result<T> {
    text.parse().map_err(anyhow::Error::msg)
}

fn read_votes(path: &Path, how: &Reading) -> anyhow::Result<(VoteTable, Texts)> {
    let options = ReadOptions {
        format: how.format.clone(),
        item: how.item.clone(),
        annotator: how.annotator.clone(),
        label: how.label.clone(),
        weight: how.weight.clone(),
        text: how.text.clone(),
        texts: true,
        classes: how.classes.clone(),
        delimiter: how.delimiter,
        header: how.header,
        missing: how.missing.clone(),
        multilabel: how.multilabel.as_deref().map_or(Ok(Default::default()), parsed)?,
        values: how.values.map(parsed).transpose()?,
        keep: Keep::Votes,
        ..ReadOptions::default()
    };
    let read = reading::read(path, &options)?;
    let texts = read.texts.iter().map(|(id, text)| (id.clone(), vec![text.clone()])).collect();
    Ok((read.table, texts))
}
