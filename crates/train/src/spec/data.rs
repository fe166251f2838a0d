//! `[data]`: what people voted on, how, and how many of the votes training sees.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::read::{Reader, Refusal, flag, several, text, whole};
use crate::{Place, SpecError};

/// What is trained on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Data {
    /// Where the votes come from.
    pub source: DataSource,
    /// The dataset that is judged on; `None` for a part of the split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_on: Option<String>,
    /// Where the inputs lie; `None` for those of the dataset.
    pub inputs: Option<PathBuf>,
    /// What turns texts or pictures into vectors: a name, or a path; `None` for none.
    pub encoder: Option<String>,
    /// How the vectors of two texts become one.
    pub pair: Pair,
    /// How many votes an item training sees, one arm each. Evaluation sees all.
    pub votes: Vec<Votes>,
    /// How many items are used, the first ones, of each dataset; `None` for all.
    pub items: Option<u64>,
    /// Which of them, by how far people disagree; `None` for all.
    pub subset: Option<EntropyBins>,
}

/// How the vectors u and v of two texts become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pair {
    /// u, v, |u − v| and u·v, one after the other.
    #[default]
    Combined,
    /// u and v.
    Both,
    /// The two texts are encoded as one.
    Joint,
}

/// Items by bins of their normalized entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntropyBins {
    /// Bins of equal width.
    pub bins: usize,
    /// The most items of a bin.
    pub per_bin: usize,
    /// Decides which of a crowded bin.
    pub seed: u64,
}

impl Data {
    /// A short name: the dataset's, or that of the file of votes.
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
    /// A file of one's own.
    Files {
        /// The file of votes.
        votes: PathBuf,
        /// How to read it.
        reading: Reading,
    },
}

/// What is said about a file of votes; the rest is guessed when it is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reading {
    /// Its format.
    pub format: Option<String>,
    /// The column of item ids.
    pub item: Option<String>,
    /// The column of annotators.
    pub annotator: Option<String>,
    /// The column of labels.
    pub label: Option<String>,
    /// The column of weights.
    pub weight: Option<String>,
    /// The column of texts, for an encoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The classes, in order.
    pub classes: Option<Vec<String>>,
}

/// How many votes an item training sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Votes {
    /// Every vote.
    All,
    /// Some, drawn by the run's seed.
    Drawn {
        /// How many votes an item.
        per_item: u32,
        /// Whether a vote may be drawn again.
        replacement: bool,
    },
}

impl Data {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, SpecError> {
        let dataset = reader.optional("data", "dataset", text)?;
        let votes = reader.optional("data", "votes", text)?;
        let inputs = reader.optional("data", "inputs", text)?.map(PathBuf::from);
        let encoder = reader.optional("data", "encoder", text)?;
        let judged_on = reader.optional("data", "judged_on", text)?;
        if judged_on.is_some() {
            let given = [
                ("data.votes", votes.is_some()),
                ("data.inputs", inputs.is_some()),
                ("data.encoder", encoder.is_some()),
            ];
            if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
                let why = format!(
                    "names a dataset to be judged on, by its own pictures, which goes with \
                     data.dataset alone, and {key} is given; take one of them out"
                );
                return Err(reader.conflict("data.judged_on", why));
            }
            if dataset == judged_on {
                let why = "is the dataset that is trained on; name another, or take it out to hold \
                           out a share of that one";
                return Err(reader.conflict("data.judged_on", why));
            }
        }
        let source = match (dataset, votes) {
            (Some(dataset), None) => DataSource::Dataset(dataset),
            (None, Some(votes)) => {
                if inputs.is_none() && encoder.is_none() {
                    let remedy = "votes alone train nothing: give inputs by item id, as in \
                                  inputs = \"pictures.npz\", or an encoder for the texts that come \
                                  with the votes";
                    return Err(reader.missing("data.inputs", remedy));
                }
                DataSource::Files { votes: votes.into(), reading: Reading::read(reader)? }
            }
            (Some(_), Some(_)) => {
                let why = "and data.dataset are both given; take one out";
                return Err(reader.conflict("data.votes", why));
            }
            (None, None) => {
                let remedy = "name one, as in dataset = \"blends\", or give votes and inputs";
                return Err(reader.missing("data.dataset", remedy));
            }
        };
        let drawn =
            reader.read("data", "votes_per_item", |value| several(value, votes_per_item))?;
        let replacement = reader.read("data", "replacement", flag)?;
        let votes = drawn.into_iter().map(|votes| match votes {
            Some(per_item) => Votes::Drawn { per_item, replacement },
            None => Votes::All,
        });
        let items = reader.optional("data", "items", whole(1..))?;
        let pair = match reader.choose("data", "pair")? {
            "both" => Pair::Both,
            "joint" => Pair::Joint,
            _ => Pair::Combined,
        };
        if encoder.is_none() && reader.place("data.pair") != Place::Call {
            return Err(reader.conflict("data.pair", "counts with data.encoder only"));
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
        if subset.is_some() && judged_on.is_some() {
            let why = "chooses items of one dataset, and data.judged_on names a second, which is \
                       judged on whole; take one of them out";
            return Err(reader.conflict("data.subset", why));
        }
        let votes = votes.collect();
        Ok(Self { source, judged_on, inputs, encoder, pair, votes, items, subset })
    }
}

/// A number of votes; `None` for all.
fn votes_per_item(value: &toml::Value) -> Result<Option<u32>, Refusal> {
    if value.as_str() == Some("all") {
        return Ok(None);
    }
    let votes = whole(1..=u64::from(u32::MAX))(value)?;
    Ok(u32::try_from(votes).ok())
}

impl Reading {
    fn read(reader: &mut Reader<'_>) -> Result<Self, SpecError> {
        let mut column = |name| reader.optional("data", name, text);
        let (format, item, annotator) = (column("format")?, column("item")?, column("annotator")?);
        let (label, weight, words) = (column("label")?, column("weight")?, column("text")?);
        let classes = reader.optional("data", "classes", |value| {
            let classes = value.as_array().map(|_| several(value, text)).transpose()?;
            classes.filter(|classes| classes.len() > 1).ok_or(Refusal::Unexpected)
        })?;
        Ok(Self { format, item, annotator, label, weight, text: words, classes })
    }
}
