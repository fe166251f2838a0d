//! Votes and inputs, as a spec names them.

use std::path::Path;

use dissensus_core::{Event, VoteTable};
use dissensus_data::blends::{Blends, Settings};
use dissensus_embed::{Encoder, Kind as Takes};
use dissensus_inputs::{Inputs, Joined, Matched, WITH_IMAGES, from_blends, from_dataset};
use dissensus_labels::subset;
use dissensus_measure::{Matrix, Targets, Truth};
use dissensus_train::spec::{Data, DataSource, EntropyBins, GivenSplit};
use dissensus_train::{GivenParts, Task, TrainError, Voted};
use dissensus_votes::ReadOptions;

use crate::encoding::{EncoderSource, encode, open_encoder};
use crate::{LoadContext, Material, SourceError, fetch_data};

/// Everything that a study uses of the data that a spec names: votes and inputs, the texts or images
/// behind them, and the true distributions of generated data.
pub fn load_material(data: &Data, context: &LoadContext<'_>) -> Result<Material, SourceError> {
    if let (DataSource::Dataset(name), None, None, None, None) =
        (&data.source, &data.evaluate_on, &data.inputs, &data.encoder, data.subset)
        && name == "blends"
        && data.split.is_none()
    {
        return blends_material(&blends(data)?);
    }
    loaded(data, context)
}

/// Generated data with the distributions that the votes were drawn from.
pub fn blends_material(blends: &Blends) -> Result<Material, SourceError> {
    let (task, _) = Task::new("blends", blends.table(), &from_blends(blends)?)?;
    let known = blends.table().items();
    let rows = task.table().items().iter().filter_map(|id| known.position(id));
    let shares: Vec<f64> = rows.flat_map(|row| blends.truth(row)).copied().collect();
    let classes = task.table().classes().len();
    let truth = Truth::new(Targets::Probabilities(Matrix::new(&shares[..], classes)?))?;
    Ok(Material { truth: Some(truth), ..task.into() })
}

fn blends(data: &Data) -> Result<Blends, SourceError> {
    let mut settings = Settings::default();
    if let Some(items) = data.items {
        settings.items = usize::try_from(items).unwrap_or(usize::MAX);
    }
    Ok(settings.check()?.generate()?)
}

/// The votes and inputs that a spec names, matched by id. Progress notes say what was left out.
pub fn load_task(data: &Data, context: &LoadContext<'_>) -> Result<Task, SourceError> {
    Ok(loaded(data, context)?.task)
}

/// The same, with the texts or pictures that an encoder was given.
fn loaded(data: &Data, context: &LoadContext<'_>) -> Result<Material, SourceError> {
    if let Some(options) = &context.fetch {
        fetch_data(data, options, context.progress)?;
    }
    if let Some(other) = &data.evaluate_on {
        return Ok(evaluated_on(data, other, context)?.into());
    }
    let (table, mut texts) = votes(data, context)?;
    let split = given_split(data, &table, context)?;
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
            let encoder = open_encoder(encoder, context)?;
            name = format!("{name} by {}", encoder.identity().name);
            let source = source(data, encoder.kind(), std::mem::take(&mut texts), context)?;
            let vectors = encode(encoder, &source, &table, data.pair, context)?;
            encoded = Some(source);
            vectors
        }
        None => own_inputs(data, context)?,
    };
    report_notes(&inputs, context);
    let (mut task, joined) = Task::new(&name, &table, &inputs)?;
    report_joined(&joined, &table, context);
    if let Some(split) = split {
        task = task.with_split(&split).map_err(TrainError::from)?;
    }
    let mut material = Material::from(task);
    match encoded.unwrap_or(EncoderSource::Texts(texts)) {
        EncoderSource::Texts(texts) => {
            let read = texts.into_iter().map(|(id, parts)| (id, parts.join(" → ")));
            material.texts = read.collect();
        }
        EncoderSource::Pictures(pictures) => material.pictures = Some(pictures),
    }
    Ok(material)
}

/// The vectors of the texts or images of these data, by this encoder instead of the one that they name.
pub fn encode_data(
    data: &Data,
    encoder: Box<dyn Encoder>,
    context: &LoadContext<'_>,
) -> Result<Inputs, SourceError> {
    let (table, texts) = votes(data, context)?;
    let source = source(data, encoder.kind(), texts, context)?;
    encode(encoder, &source, &table, data.pair, context)
}

/// What an encoder that takes this is given: the texts of the votes or of their dataset, or images.
fn source(
    data: &Data,
    takes: Takes,
    texts: Texts,
    context: &LoadContext<'_>,
) -> Result<EncoderSource, SourceError> {
    Ok(match (takes, &data.source) {
        (Takes::Text, DataSource::Dataset(name)) => {
            EncoderSource::Texts(dissensus_inputs::texts(name, context.cache()?)?)
        }
        (Takes::Text, DataSource::Files { .. }) => EncoderSource::Texts(texts),
        (Takes::Image, _) => EncoderSource::Pictures(own_inputs(data, context)?),
    })
}

/// The first items, where only so many are wanted. Of generated data there are as many as asked for.
fn first(table: VoteTable, data: &Data) -> VoteTable {
    match data.items.and_then(|n| usize::try_from(n).ok()) {
        Some(items) if items < table.len() => table.select(&(0..items).collect::<Vec<_>>()),
        _ => table,
    }
}

/// What a spec names, with another dataset to be judged on.
fn evaluated_on(data: &Data, other: &str, context: &LoadContext<'_>) -> Result<Task, SourceError> {
    let mut there = data.clone();
    (there.source, there.evaluate_on) = (DataSource::Dataset(other.to_owned()), None);
    let read = |data: &Data| -> Result<(VoteTable, Inputs), SourceError> {
        let table = first(votes(data, context)?.0, data);
        let inputs = own_inputs(data, context)?;
        report_notes(&inputs, context);
        Ok((table, inputs))
    };
    let (table, inputs) = read(data)?;
    let (other_table, other_inputs) =
        read(&there).map_err(|error| SourceError::EvaluatedOn(Box::new(error)))?;
    let own = Voted { name: data.name(), table: &table, inputs: &inputs };
    let (task, joined) =
        Task::judged_on(own, Voted { name: other, table: &other_table, inputs: &other_inputs })?;
    if joined.classes_by_position {
        let name = data.name();
        context.note(&format!("the classes of {name} and {other} are matched by position"));
    }
    report_joined(&joined.own, &table, context);
    report_joined(&joined.judged, &other_table, context);
    Ok(task)
}

fn report_notes(inputs: &Inputs, context: &LoadContext<'_>) {
    if let Some(features) = inputs.describe_features() {
        context.note(&format!("{}: {features}", inputs.name()));
    }
    for note in inputs.notes() {
        context.note(&format!("{}: {note}", inputs.name()));
    }
}

/// Says how inputs were matched, where it is not by id, and what was left out.
fn report_joined(joined: &Joined, table: &VoteTable, context: &LoadContext<'_>) {
    if joined.matched == Matched::ByPosition {
        context.note("the inputs are matched with the votes by position, not by id");
    }
    joined.warnings(table.len(), "input").iter().for_each(|warning| context.warn(warning));
}

/// Inputs of a file, a folder, or a dataset of the catalogue.
pub fn read_inputs(
    path: &Path,
    options: &dissensus_inputs::ReadOptions,
    context: &LoadContext<'_>,
) -> Result<Inputs, SourceError> {
    let name = path.to_string_lossy();
    if !path.exists() && WITH_IMAGES.contains(&&*name) {
        return Ok(from_dataset(&name, context.cache()?)?);
    }
    Ok(dissensus_inputs::read_with_progress(path, options, context.progress)?)
}

/// The inputs that a spec names, or those of its dataset.
fn own_inputs(data: &Data, context: &LoadContext<'_>) -> Result<Inputs, SourceError> {
    match (&data.inputs, &data.source) {
        (Some(path), _) => read_inputs(path, &data.inputs_reading, context),
        (None, DataSource::Dataset(name)) if name == "blends" => Ok(from_blends(&blends(data)?)?),
        (None, DataSource::Dataset(name)) if WITH_IMAGES.contains(&name.as_str()) => {
            Ok(from_dataset(name, context.cache()?)?)
        }
        (None, DataSource::Dataset(name)) => Err(SourceError::NoImages { dataset: name.clone() }),
        (None, DataSource::Files { .. }) => Err(SourceError::NoInputs),
    }
}

/// Texts by item.
type Texts = Vec<(String, Vec<String>)>;

/// The votes, and texts that come along in a file of them.
fn votes(data: &Data, context: &LoadContext<'_>) -> Result<(VoteTable, Texts), SourceError> {
    match &data.source {
        DataSource::Dataset(name) if name == "blends" => {
            Ok((blends(data)?.table().clone(), Vec::new()))
        }
        DataSource::Dataset(name) => {
            Ok((dissensus_inputs::votes(name, context.cache()?)?, Vec::new()))
        }
        DataSource::Files { votes, reading } => read_votes(votes, reading, context),
    }
}

/// The split that comes with the data, checked against the votes.
fn given_split(
    data: &Data,
    table: &VoteTable,
    context: &LoadContext<'_>,
) -> Result<Option<GivenParts>, SourceError> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    match (&data.split, &data.source) {
        (Some(GivenSplit::Files(files)), _) => {
            for (part, path) in files {
                let fail = |source| SourceError::Split { path: path.clone(), source };
                let text = std::fs::read_to_string(path).map_err(fail)?;
                let ids = text.lines().map(str::trim).filter(|id| !id.is_empty());
                pairs.extend(ids.map(|id| (id.to_owned(), part.clone())));
            }
        }
        // Read as votes for parts: an item with votes for two of them is in both.
        (Some(GivenSplit::Column(column)), DataSource::Files { votes, reading }) => {
            let how = ReadOptions {
                label: Some(column.clone()),
                annotator: None,
                weight: None,
                count: None,
                text: None,
                classes: None,
                ..(**reading).clone()
            };
            let (parts, _) = read_votes(votes, &how, context)?;
            let names = parts.classes().names();
            if let Some(counts) = parts.counts() {
                for (at, id) in parts.items().iter().enumerate() {
                    let row = counts.row(at, names.len());
                    let voted = names.iter().zip(row).filter(|(_, count)| *count > 0.0);
                    pairs.extend(voted.map(|(part, _)| (id.to_owned(), part.clone())));
                }
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(GivenParts::new(&pairs, table.items()).map_err(TrainError::from)?))
}

fn read_votes(
    path: &Path,
    how: &ReadOptions,
    context: &LoadContext<'_>,
) -> Result<(VoteTable, Texts), SourceError> {
    let options = ReadOptions { texts: true, ..how.clone() };
    let read = dissensus_votes::read_with_progress(path, &options, context.progress)?;
    if let Some(line) = read.guessed() {
        context.progress.report(Event::Note(&line));
    }
    let texts = read.texts.iter().map(|(id, text)| (id.clone(), vec![text.clone()])).collect();
    Ok((read.table, texts))
}

#[cfg(test)]
mod tests {
    use dissensus_core::Silent;
    use dissensus_train::Spec;

    use super::*;

    /// Six items with two votes each; the last two are for testing.
    fn loaded(
        split: impl Fn(usize, usize) -> &'static str,
        more: &str,
    ) -> Result<Task, SourceError> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (mut votes, mut inputs) =
            ("item,annotator,label,part\n".to_owned(), "id,x\n".to_owned());
        for item in 0..6 {
            for who in 0..2 {
                let label = if (item + who) % 2 == 0 { "a" } else { "b" };
                votes += &format!("i{item},w{who},{label},{}\n", split(item, who));
            }
            inputs += &format!("i{item},{item}.0\n");
        }
        std::fs::write(path("v.csv"), votes).unwrap();
        std::fs::write(path("i.csv"), inputs).unwrap();
        std::fs::write(path("train.txt"), "i0\ni1\ni2\ni3\n").unwrap();
        std::fs::write(path("test.txt"), "i4\n\ni5\n").unwrap();
        let text = format!(
            "delivery.methods = 'soft'\n[data]\nvotes = '{}'\ninputs = '{}'\n{}",
            path("v.csv"),
            path("i.csv"),
            more.replace("DIR", &folder.path().display().to_string())
        );
        let spec = Spec::parse(&text, "test", &[]).unwrap();
        load_task(&spec.data, &LoadContext::new(&Silent))
    }

    #[test]
    fn a_split_is_read_from_a_column_and_from_files() {
        let part = |item: usize, _: usize| if item < 4 { "Train" } else { "test" };
        let column = loaded(part, "split_column = 'part'").unwrap();
        let files = "split_files = { train = 'DIR/train.txt', test = 'DIR/test.txt' }";
        let files = loaded(part, files).unwrap();
        let wanted = [("train".to_owned(), vec![0, 1, 2, 3]), ("test".to_owned(), vec![4, 5])];
        assert_eq!(column.split().unwrap(), wanted);
        assert_eq!(column.split(), files.split());
        assert_eq!(column.identity(), files.identity());
        assert!(loaded(part, "").unwrap().split().is_none());
    }

    #[test]
    fn a_split_that_contradicts_itself_is_refused_by_name() {
        // One annotator's row has the item in another part.
        let part = |item: usize, who: usize| if item + who < 4 { "train" } else { "test" };
        let error = loaded(part, "split_column = 'part'").err().unwrap().to_string();
        assert!(error.contains("\"i3\" in two parts"), "{error}");
        let twice = "split_files = { train = 'DIR/train.txt', test = 'DIR/train.txt' }";
        let error = loaded(part, twice).err().unwrap().to_string();
        assert!(error.contains("\"i0\" in two parts"), "{error}");
        let gone = "split_files = { train = 'DIR/train.txt', test = 'DIR/nowhere.txt' }";
        let error = loaded(part, gone).err().unwrap().to_string();
        assert!(error.contains("nowhere.txt"), "{error}");
    }
}
