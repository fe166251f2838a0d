//! The one error of the library.

use std::path::PathBuf;

/// What went wrong. Every variant carries the error of the part that found it, with its data: file,
/// row and column, key, run. Messages name no command-line options; a front end words the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Votes could not be read.
    #[error(transparent)]
    Votes(#[from] dissensus_io::ReadError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] dissensus_votes::write::WriteError),
    /// A dataset could not be found or downloaded.
    #[error(transparent)]
    Data(#[from] dissensus_data::Error),
    /// Data that a study or an option names could not be loaded.
    #[error(transparent)]
    Source(#[from] dissensus_sources::SourceError),
    /// A delivery or target cannot be made of these votes.
    #[error(transparent)]
    Labels(#[from] dissensus_labels::LabelError),
    /// Predictions could not be read.
    #[error(transparent)]
    Predictions(#[from] dissensus_predictions::PredictionError),
    /// Predictions do not fit the votes.
    #[error(transparent)]
    Score(#[from] dissensus_evaluate::ScoreError),
    /// Training was cancelled, diverged, or could not begin.
    #[error(transparent)]
    Train(#[from] dissensus_train::TrainError),
    /// A trained model could not be examined.
    #[error(transparent)]
    Examine(#[from] dissensus_examine::ExamineError),
    /// A store or a run in it is damaged, missing or in use.
    #[error(transparent)]
    Store(#[from] dissensus_store::StoreError),
    /// A bucket cannot be used.
    #[error(transparent)]
    Remote(#[from] dissensus_remote::RemoteError),
    /// A study is wrong, or its data or runs are.
    #[error(transparent)]
    Study(#[from] dissensus_studies::StudyError),
    /// A study cannot be given to a cluster.
    #[error(transparent)]
    Cluster(#[from] crate::cluster::ClusterError),
    /// A table or figure could not be made.
    #[error(transparent)]
    Report(#[from] dissensus_report::ReportError),
    /// The page of a report could not be made.
    #[error(transparent)]
    Page(#[from] dissensus_report::page::PageError),
    /// Predictions do not have a logit for every item and class.
    #[error(transparent)]
    Logits(#[from] dissensus_predictions::LogitsError),
    /// A store has no study of this name.
    #[error("{} has no {}", store.display(), no_study(name, known))]
    NoStudy {
        /// The store.
        store: PathBuf,
        /// The name.
        name: String,
        /// The studies that it has.
        known: Vec<String>,
    },
    /// A store has no study, or several of which none was named.
    #[error("{} has {}", store.display(), one_needed(known))]
    OneStudy {
        /// The store.
        store: PathBuf,
        /// The studies that it has.
        known: Vec<String>,
    },
    /// A model, network or device that cannot be used.
    #[error(transparent)]
    Engine(#[from] dissensus_engine::EngineError),
    /// A test or an interval that cannot be computed.
    #[error(transparent)]
    Stats(#[from] dissensus_stats::StatsError),
    /// Curvature or another property of a loss that cannot be computed.
    #[error(transparent)]
    Geometry(#[from] dissensus_geometry::GeometryError),
    /// Names that cannot be classes.
    #[error(transparent)]
    Classes(#[from] dissensus_core::ClassError),
    /// Numbers that are no counts of votes.
    #[error(transparent)]
    Counts(#[from] dissensus_core::CountsError),
    /// Numbers that are no distribution.
    #[error(transparent)]
    Distribution(#[from] dissensus_core::DistributionError),
    /// Tables that cannot be joined.
    #[error(transparent)]
    Append(#[from] dissensus_core::AppendError),
    /// Ids of which none match.
    #[error(transparent)]
    Match(#[from] dissensus_core::MatchError),
    /// Predictions that do not match the votes.
    #[error(transparent)]
    Align(#[from] dissensus_predictions::AlignError),
    /// Files with predictions for one class each that do not make one table.
    #[error(transparent)]
    Join(#[from] dissensus_predictions::JoinError),
    /// A split that cannot be made.
    #[error(transparent)]
    Split(#[from] dissensus_train::SplitError),
    /// A request to an embeddings endpoint that failed.
    #[error(transparent)]
    Endpoint(#[from] dissensus_embed::endpoint::EndpointError),
    /// ONNX Runtime cannot be used.
    #[error(transparent)]
    Runtime(#[from] dissensus_embed::onnx::RuntimeError),
    /// A request over HTTP that failed.
    #[error(transparent)]
    Http(#[from] dissensus_io::http::HttpError),
    /// A number or range of votes per item that cannot be read.
    #[error(transparent)]
    VotesPerItem(#[from] dissensus_data::blends::VotesPerItemError),
    /// Output that cannot be written, or input that cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A device that cannot be opened.
    #[error(transparent)]
    Device(#[from] dissensus_train::DeviceError),
    /// Inputs that cannot be read.
    #[error(transparent)]
    Inputs(#[from] dissensus_inputs::InputError),
    /// Settings of generated data that are out of range.
    #[error(transparent)]
    Generated(#[from] dissensus_data::blends::OutOfRange),
    /// Generated votes that do not make a table.
    #[error(transparent)]
    Table(#[from] dissensus_core::BuildError),
    /// Something that is not defined for the scale of the votes.
    #[error(transparent)]
    Scale(#[from] dissensus_core::ScaleError),
    /// Counts, shares or ids that do not make a table.
    #[error(transparent)]
    Parts(#[from] dissensus_core::TableError),
    /// An encoder that cannot be used.
    #[error(transparent)]
    Embed(#[from] dissensus_embed::EmbedError),
    /// The cache of encoded vectors cannot be used.
    #[error(transparent)]
    EmbedCache(#[from] dissensus_embed::CacheError),
    /// A spec that cannot be used.
    #[error(transparent)]
    Config(#[from] dissensus_train::ConfigError),
    /// Distributions that cannot be.
    #[error(transparent)]
    Measure(#[from] dissensus_measure::MeasureError),
    /// A folder beside a bucket, where there is no bucket.
    #[error("{} is no bucket, so nothing is kept beside it in the local folder {}", place.display(), local.display())]
    NoBucket {
        /// The place of the runs.
        place: PathBuf,
        /// The folder.
        local: PathBuf,
    },
    /// A bucket where a folder is expected.
    #[error("{url} is a bucket; expected a folder, into which a bucket can be pulled")]
    IsBucket {
        /// The address.
        url: String,
    },
    /// A dataset that a stage of a study needs after training, and that cannot be used.
    #[error("a stage of the study needs {name} after training")]
    Stage {
        /// The dataset.
        name: String,
        /// Why.
        source: dissensus_data::Error,
    },
    /// A path that a stage of a study needs after training, and that does not exist.
    #[error("a stage of the study needs {name} after training, and it does not exist")]
    StagePath {
        /// The path.
        name: String,
    },
    /// The data of a run are neither a known dataset nor those of a study in the store.
    #[error("the data of run {id} were not found: {name}, {items} items")]
    NotFound {
        /// The run.
        id: String,
        /// Their name.
        name: String,
        /// How many items they have.
        items: u64,
    },
    /// A spec or study that a run was not trained with.
    #[error(
        "run {id} was trained on other data than those of {}: on {name}, {items} items",
        path.display()
    )]
    OtherData {
        /// The run.
        id: String,
        /// The spec or study.
        path: PathBuf,
        /// The name of the run's data.
        name: String,
        /// How many items they have.
        items: u64,
    },
    /// An option with a value that it cannot have.
    #[error("{value:?} cannot be used: {reason}")]
    Option {
        /// What came.
        value: String,
        /// What was expected.
        reason: String,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] dissensus_io::FileError),
}

/// A study that is not there, or has runs and was not collected.
fn no_study(name: &str, known: &[String]) -> String {
    match known.iter().any(|one| one == name) {
        true => format!("study.toml of the study {name:?}"),
        false => format!("study {name:?}; it has {}", none_or(known)),
    }
}

fn none_or(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn one_needed(known: &[String]) -> String {
    match known {
        [] => "no study".to_owned(),
        names => format!("several studies: {}", names.join(", ")),
    }
}
