//! Votes and inputs, as a spec names them.

use std::path::Path;

use anyhow::Context as _;
use dissensus_core::{Keep, VoteTable};
use dissensus_data::blends::{Blends, Settings};
use dissensus_data::{default_cache_dir, locate};
use dissensus_inputs::{Inputs, Matched, from_blends, from_dataset};
use dissensus_measure::{Matrix, Targets, Truth};
use dissensus_studies::Material;
use dissensus_train::Task;
use dissensus_train::spec::{Data, DataSource, Reading};
use dissensus_votes::ReadOptions;

use crate::commands::votes::reading;
use crate::ui::{self, paint, text};

/// What a study takes of the data that a spec names: of generated data also the truth.
pub(crate) fn material(data: &Data) -> anyhow::Result<Material> {
    if let (DataSource::Dataset(name), None) = (&data.source, &data.inputs)
        && name == "blends"
    {
        return blends_material(&blends(data)?);
    }
    Ok(load(data)?.into())
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
    let (table, own) = votes(data)?;
    let inputs = match (&data.inputs, own) {
        (Some(path), _) => read_inputs(path)?,
        (None, Some(inputs)) => inputs,
        (None, None) => anyhow::bail!(
            "the spec names votes but no inputs; set data.inputs to pictures or features by id"
        ),
    };
    for note in inputs.notes() {
        ui::err(&paint::dim(&format!("{}: {note}\n", inputs.name())));
    }
    // Of generated data there are as many as asked for; of others the first are taken.
    let table = match data.items.and_then(|n| usize::try_from(n).ok()) {
        Some(items) if items < table.len() => table.select(&(0..items).collect::<Vec<_>>()),
        _ => table,
    };
    let (task, joined) = Task::new(data.name(), &table, &inputs)?;
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
    Ok(task)
}

/// Inputs of a file, a folder, or a dataset of the catalogue.
pub(crate) fn read_inputs(path: &Path) -> anyhow::Result<Inputs> {
    let name = path.to_string_lossy();
    if !path.exists() && dissensus_inputs::WITH_PICTURES.contains(&&*name) {
        return Ok(from_dataset(&name, &default_cache_dir()?)?);
    }
    Ok(dissensus_inputs::read(path, &Default::default())?)
}

/// The votes, and the inputs where they come along with them.
fn votes(data: &Data) -> anyhow::Result<(VoteTable, Option<Inputs>)> {
    match &data.source {
        DataSource::Dataset(name) if name == "blends" => {
            let blends = blends(data)?;
            Ok((blends.table().clone(), Some(from_blends(&blends)?)))
        }
        DataSource::Dataset(name) => {
            let dataset = dissensus_data::find(name)?;
            let cache = default_cache_dir()?;
            let files = locate(dataset.name, &cache)?;
            let options = Reading::default();
            let table = files
                .iter()
                .find_map(|file| read_votes(file, &options).ok())
                .with_context(|| format!("no file of {name} could be read as votes"))?;
            let inputs = match data.inputs {
                Some(_) => None,
                None => Some(from_dataset(name, &cache).with_context(|| {
                    format!("{name} has no pictures of its own; set data.inputs to features by id")
                })?),
            };
            Ok((table, inputs))
        }
        DataSource::Files { votes, reading } => Ok((read_votes(votes, reading)?, None)),
    }
}

fn read_votes(path: &Path, how: &Reading) -> anyhow::Result<VoteTable> {
    let options = ReadOptions {
        format: how.format.clone(),
        item: how.item.clone(),
        annotator: how.annotator.clone(),
        label: how.label.clone(),
        weight: how.weight.clone(),
        classes: how.classes.clone(),
        keep: Keep::Votes,
        ..ReadOptions::default()
    };
    Ok(reading::read(path, &options)?.table)
}
