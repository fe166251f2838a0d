//! Why the data of a spec cannot be loaded.

use std::path::PathBuf;

use thiserror::Error;

use crate::encoding::ENCODERS;

/// Why data cannot be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
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
        "there is no encoder {name:?}; expected {}, hf:OWNER/NAME, or the path of a folder (config.json, \
         model.safetensors, tokenizer.json) or of an ONNX file",
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
    EvaluatedOn(Box<DataError>),
    /// An option of reading with a value that it does not have.
    #[error("{value:?} cannot be used: {reason}")]
    Option {
        /// What came.
        value: String,
        /// What was expected.
        reason: String,
    },
    /// A spec or study that cannot be read.
    #[error("reading {}: {source}", path.display())]
    Spec {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Votes that cannot be read.
    #[error(transparent)]
    Votes(#[from] dissensus_votes::ReadError),
    /// Inputs that cannot be read.
    #[error(transparent)]
    Inputs(#[from] dissensus_inputs::InputError),
    /// A dataset that is not in the cache, or is damaged.
    #[error(transparent)]
    Catalogue(#[from] dissensus_data::Error),
    /// Settings of generated data that are out of range.
    #[error(transparent)]
    Generated(#[from] dissensus_data::blends::OutOfRange),
    /// Generated votes that do not make a table.
    #[error(transparent)]
    Table(#[from] dissensus_core::BuildError),
    /// True distributions of generated data that are none.
    #[error(transparent)]
    Distribution(#[from] dissensus_core::DistributionError),
    /// An encoder that cannot be used.
    #[error(transparent)]
    Embed(#[from] dissensus_embed::EmbedError),
    /// The cache of encoded vectors cannot be used.
    #[error(transparent)]
    EmbedCache(#[from] dissensus_embed::CacheError),
    /// Items that cannot be chosen by their entropy.
    #[error(transparent)]
    Labels(#[from] dissensus_labels::LabelError),
    /// Votes and inputs that do not go together.
    #[error(transparent)]
    Train(#[from] dissensus_train::TrainError),
    /// A spec that cannot be used.
    #[error(transparent)]
    Config(#[from] dissensus_train::ConfigError),
    /// A study that cannot be used.
    #[error(transparent)]
    Study(#[from] dissensus_studies::StudyError),
    /// A store that cannot be used.
    #[error(transparent)]
    Store(#[from] dissensus_store::StoreError),
    /// Distributions that cannot be.
    #[error(transparent)]
    Measure(#[from] dissensus_measure::MeasureError),
}
