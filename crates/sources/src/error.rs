//! Why votes or inputs that a study names cannot be loaded.

use std::path::PathBuf;

use dissensus_core::did_you_mean;
use thiserror::Error;

use crate::ENCODERS;

/// Why data cannot be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Votes could not be read.
    #[error(transparent)]
    Votes(#[from] dissensus_io::ReadError),
    /// A dataset could not be found or downloaded.
    #[error(transparent)]
    Data(#[from] dissensus_data::Error),
    /// Inputs that cannot be read.
    #[error(transparent)]
    Inputs(#[from] dissensus_inputs::InputError),
    /// Votes and inputs that do not make a task, or a split that does not fit them.
    #[error(transparent)]
    Train(#[from] dissensus_train::TrainError),
    /// Items cannot be selected by these votes.
    #[error(transparent)]
    Labels(#[from] dissensus_labels::LabelError),
    /// Settings of generated data that are out of range.
    #[error(transparent)]
    Generated(#[from] dissensus_data::blends::OutOfRange),
    /// Generated votes that do not make a table.
    #[error(transparent)]
    Table(#[from] dissensus_core::BuildError),
    /// Ids that do not make a table.
    #[error(transparent)]
    Parts(#[from] dissensus_core::TableError),
    /// Distributions that cannot be.
    #[error(transparent)]
    Measure(#[from] dissensus_measure::MeasureError),
    /// An encoder that cannot be used.
    #[error(transparent)]
    Embed(#[from] dissensus_embed::EmbedError),
    /// The cache of encoded vectors cannot be used.
    #[error(transparent)]
    EmbedCache(#[from] dissensus_embed::CacheError),
    /// There is no folder for downloaded data.
    #[error("there is no cache folder: the home folder is not known")]
    NoCache,
    /// A dataset without images, and no other inputs.
    #[error(
        "{dataset} has no images of its own; set data.inputs to features by id, or data.encoder for \
         its texts"
    )]
    NoImages {
        /// The dataset.
        dataset: String,
    },
    /// Votes without inputs.
    #[error("the spec names votes but no inputs; set data.inputs to images or features by id")]
    NoInputs,
    /// No encoder has this name.
    #[error(
        "there is no encoder {name:?}{}; expected {}, hf:OWNER/NAME, or the path of a folder \
         (config.json, model.safetensors, tokenizer.json) or of an ONNX file",
        did_you_mean(.name, ENCODERS.iter().copied()),
        ENCODERS.join(", ")
    )]
    NoEncoder {
        /// What came.
        name: String,
    },
    /// An encoder that takes something else than the data have.
    #[error("{name} takes {takes}, and these data have none")]
    EncoderInput {
        /// The encoder.
        name: String,
        /// What it takes.
        takes: &'static str,
    },
    /// No item with votes has a text or an image.
    #[error(
        "no item with votes has anything to encode; if a column of the votes has texts, name it by \
         data.text"
    )]
    NothingToEncode,
    /// The dataset that runs are evaluated on cannot be loaded.
    #[error("data.evaluate_on: {0}")]
    EvaluatedOn(Box<SourceError>),
    /// A file of a split that cannot be read.
    #[error("reading {}: {source}", path.display())]
    Split {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
