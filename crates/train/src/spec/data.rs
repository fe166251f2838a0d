//! `[data]`: votes, inputs, and how many of the votes training sees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dissensus_core::limits::MAX_VOTES_PER_ITEM;
use dissensus_inputs::ReadOptions as InputOptions;
use dissensus_votes::ReadOptions;
use dissensus_votes::options::{Given, OPTIONS, OptionEntry, ReadOption, Takes};
use serde::{Deserialize, Serialize};

use super::keys::choices;
use super::read::{Reader, Refusal, flag, one_of, several, text, whole};
use crate::{ConfigError, Place};

/// More items are not generated: their images would take gigabytes.
const MOST_ITEMS: u64 = 10_000_000;

/// The votes and inputs of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Data {
    /// Where the votes come from.
    pub source: DataSource,
    /// The dataset that runs are evaluated on; `None` for a part of the split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluate_on: Option<String>,
    /// The path of the inputs; `None` for those of the dataset.
    pub inputs: Option<PathBuf>,
    /// How the inputs are read; what is not given is detected. Not part of a run's identity, which has the
    /// digest of the inputs.
    pub inputs_reading: InputOptions,
    /// The encoder of texts or images, by name or path; `None` for none.
    pub encoder: Option<String>,
    /// How the vectors of two texts are combined.
    pub pair: Pair,
    /// How many votes per item training sees, one arm per number. Evaluation sees all.
    pub votes: Vec<Votes>,
    /// Only the first items of each dataset; `None` for all.
    pub items: Option<u64>,
    /// A subset by how much annotators disagree; `None` for all.
    pub subset: Option<EntropyBins>,
    /// A split that comes with the data; `None` for one by shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<GivenSplit>,
}

/// Where the split of the data is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GivenSplit {
    /// In a column of the votes.
    Column(String),
    /// In files with one id per line, by part.
    Files(BTreeMap<String, PathBuf>),
}

/// How the vectors u and v of two texts are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pair {
    /// u, v, |u − v| and u·v, concatenated.
    #[default]
    Combined,
    /// u and v.
    Both,
    /// The two texts are encoded as one.
    Joint,
}

impl Pair {
    /// Their names.
    pub const NAMES: [&str; 3] = ["combined", "both", "joint"];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Combined, Self::Both, Self::Joint].into_iter().find(|pair| pair.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Items by bins of their normalized entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntropyBins {
    /// Bins of equal width.
    pub bins: usize,
    /// The largest number of items per bin.
    pub per_bin: usize,
    /// The seed of the selection within a bin.
    pub seed: u64,
}

impl Data {
    /// All votes of a dataset of the catalogue: its first `items` items, or all of them; evaluated on
    /// another dataset, or on a part of the split.
    pub fn of_dataset(name: &str, items: Option<u64>, evaluate_on: Option<&str>) -> Self {
        Self {
            source: DataSource::Dataset(name.to_owned()),
            evaluate_on: evaluate_on.map(str::to_owned),
            inputs: None,
            inputs_reading: InputOptions::default(),
            encoder: None,
            pair: Pair::default(),
            votes: vec![Votes::All],
            items,
            subset: None,
            split: None,
        }
    }

    /// All votes of a file, evaluated on a part of the split. Training also needs inputs, or an encoder.
    pub fn of_file(votes: impl Into<PathBuf>, reading: ReadOptions) -> Self {
        let source = DataSource::Files { votes: votes.into(), reading: reading.into() };
        Self { source, ..Self::of_dataset("", None, None) }
    }

    /// A short name: the dataset's, or that of the votes file.
    pub fn name(&self) -> &str {
        match &self.source {
            DataSource::Dataset(name) => name,
            DataSource::Files { votes, .. } => {
                let stem = Path::new(votes).file_stem().and_then(|stem| stem.to_str());
                stem.unwrap_or("votes")
            }
        }
    }
}

/// Where votes come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DataSource {
    /// A dataset of the catalogue.
    Dataset(String),
    /// A votes file.
    Files {
        /// Its path.
        votes: PathBuf,
        /// How it is read; what is not given is detected. Not part of a run's identity, which has the digest
        /// of the votes.
        reading: Box<ReadOptions>,
    },
}

/// How many votes per item training sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Votes {
    /// Every vote.
    All,
    /// Some, drawn by the run's seed.
    Drawn {
        /// How many votes per item.
        per_item: u32,
        /// Whether a vote may be drawn again.
        replacement: bool,
    },
}

impl Data {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ConfigError> {
        let dataset = reader.optional("data", "dataset", text)?;
        let votes = reader.optional("data", "votes", text)?;
        let inputs = reader.optional("data", "inputs", text)?.map(PathBuf::from);
        let inputs_reading = match inputs {
            Some(_) => input_options(reader)?,
            None => InputOptions::default(),
        };
        let encoder = reader.optional("data", "encoder", text)?;
        let evaluate_on = reader.optional("data", "evaluate_on", text)?;
        if evaluate_on.is_some() {
            let given = [
                ("data.votes", votes.is_some()),
                ("data.inputs", inputs.is_some()),
                ("data.encoder", encoder.is_some()),
            ];
            if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
                let why = format!(
                    "needs data.dataset, since both datasets come with their own images, and {key} \
                     is given; remove one of them"
                );
                return Err(reader.conflict("data.evaluate_on", why));
            }
            if dataset == evaluate_on {
                let why = "is the training dataset; name another, or remove it to hold out a share of \
                           the training dataset";
                return Err(reader.conflict("data.evaluate_on", why));
            }
        }
        let source = match (dataset, votes) {
            (Some(dataset), None) => DataSource::Dataset(dataset),
            (None, Some(votes)) => {
                if inputs.is_none() && encoder.is_none() {
                    let remedy = "give the inputs by item id, as in inputs = \"images.npz\", or an \
                                  encoder for the texts of the votes file";
                    return Err(reader.missing("data.inputs", remedy));
                }
                DataSource::Files { votes: votes.into(), reading: read_options(reader)?.into() }
            }
            (Some(_), Some(_)) => {
                let why = "and data.dataset are both given; remove one of them";
                return Err(reader.conflict("data.votes", why));
            }
            (None, None) => {
                let remedy = "name one, as in dataset = \"blends\", or give votes and inputs";
                return Err(reader.missing("data.dataset", remedy));
            }
        };
        let votes = Votes::read(reader)?;
        let items = reader.optional("data", "items", whole(1..=MOST_ITEMS))?;
        let pair = Pair::named(reader.choose("data", "pair")?).unwrap_or_default();
        if encoder.is_none() && reader.place("data.pair") != Place::Call {
            return Err(reader.conflict("data.pair", "needs data.encoder"));
        }
        let subset = match reader.choose("data", "subset")? {
            "entropy-bins" => {
                let mut number = |name, least| reader.read("data", name, whole(least..));
                let (bins, per_bin) = (number("bins", 1)?, number("per_bin", 1)?);
                let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                let seed = number("subset_seed", 0)?;
                Some(EntropyBins { bins: size(bins), per_bin: size(per_bin), seed })
            }
            _ => None,
        };
        if subset.is_some() && evaluate_on.is_some() {
            let why = "selects items of one dataset, and data.evaluate_on names another, which is used \
                       as a whole; remove one of them";
            return Err(reader.conflict("data.subset", why));
        }
        let split = GivenSplit::read(reader)?;
        if split.is_some() && evaluate_on.is_some() {
            let why = "evaluates on another dataset, and the data come with a split of their own; \
                       remove one of them";
            return Err(reader.conflict("data.evaluate_on", why));
        }
        Ok(Self {
            source,
            evaluate_on,
            inputs,
            inputs_reading,
            encoder,
            pair,
            votes,
            items,
            subset,
            split,
        })
    }
}

impl GivenSplit {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, ConfigError> {
        let column = reader.optional("data", "split_column", text)?;
        let files = reader.optional("data", "split_files", |value| {
            let files = value.as_table().ok_or(Refusal::Unexpected)?;
            let known = |name: &str| ["train", "validation", "test"].contains(&name);
            let complete = files.contains_key("train") && files.contains_key("test");
            if !complete || !files.keys().all(|name| known(name)) {
                return Err(Refusal::Unexpected);
            }
            files.iter().map(|(part, file)| Ok((part.clone(), text(file)?.into()))).collect()
        })?;
        match (column, files) {
            (Some(_), Some(_)) => {
                let why = "and data.split_files are both given; remove one of them";
                Err(reader.conflict("data.split_column", why))
            }
            (column, files) => Ok(column.map(Self::Column).or(files.map(Self::Files))),
        }
    }
}

impl Votes {
    /// The numbers of votes.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Vec<Self>, ConfigError> {
        let drawn =
            reader.read("data", "votes_per_item", |value| several(value, votes_per_item))?;
        let replacement = reader.read("data", "replacement", flag)?;
        let votes = drawn.into_iter().map(|votes| match votes {
            Some(per_item) => Self::Drawn { per_item, replacement },
            None => Self::All,
        });
        Ok(votes.collect())
    }
}

/// A number of votes; `None` for all.
fn votes_per_item(value: &toml::Value) -> Result<Option<u32>, Refusal> {
    if value.as_str() == Some("all") {
        return Ok(None);
    }
    let votes = whole(1..=u64::from(MAX_VOTES_PER_ITEM))(value)?;
    Ok(u32::try_from(votes).ok())
}

/// Every option of the list that is given.
fn read_options(reader: &mut Reader<'_>) -> Result<ReadOptions, ConfigError> {
    let mut options = ReadOptions::default();
    for entry in OPTIONS {
        reader.optional("data", entry.option.name(), |value| {
            let given = given(entry, value)?;
            options.set(entry.option, given).map_err(|_| Refusal::Unexpected)
        })?;
    }
    Ok(options)
}

/// The value of an option.
fn given(entry: &OptionEntry, value: &toml::Value) -> Result<Given, Refusal> {
    if !entry.choices.is_empty() {
        one_of(value, entry.choices)?;
    }
    Ok(match entry.takes {
        Takes::Flag => Given::Flag(flag(value)?),
        Takes::Text => Given::Text(text(value)?),
        Takes::Character => Given::Text(any_text(value)?),
        // A cell without anything in it may mean "no vote".
        Takes::List if entry.option == ReadOption::Missing => {
            Given::List(several(value, any_text)?)
        }
        Takes::List => {
            let list = several(value, text)?;
            if entry.option == ReadOption::Classes && list.len() < 2 {
                return Err(Refusal::Unexpected);
            }
            Given::List(list)
        }
    })
}

fn any_text(value: &toml::Value) -> Result<String, Refusal> {
    value.as_str().map(str::to_owned).ok_or(Refusal::Unexpected)
}

fn input_options(reader: &mut Reader<'_>) -> Result<InputOptions, ConfigError> {
    let key = reader.optional("data", "inputs_key", text)?;
    let id = reader.optional("data", "inputs_id", text)?;
    let by_position = reader.optional("data", "inputs_by_position", flag)?.unwrap_or(false);
    let layouts = choices("data.inputs_layout").unwrap_or_default();
    let layout = reader.optional("data", "inputs_layout", |value| one_of(value, layouts))?;
    let layout = layout.and_then(|name| name.parse().ok());
    let resize = reader.optional("data", "inputs_resize", |value| {
        let size = |value| whole(1..=65536)(value).map(|n| usize::try_from(n).unwrap_or(1));
        match value.as_array().map(Vec::as_slice) {
            None => size(value).map(|size| [size, size]),
            Some([height, width]) => Ok([size(height)?, size(width)?]),
            Some(_) => Err(Refusal::Unexpected),
        }
    })?;
    Ok(InputOptions { key, layout, id, by_position, resize, ..InputOptions::default() })
}
