//! What can be wrong with a question, or with what it is asked of.

use dissensus_engine::EngineError;
use dissensus_geometry::GeometryError;
use dissensus_measure::MeasureError;
use dissensus_stats::StatsError;
use dissensus_store::StoreError;
use dissensus_train::TrainError;
use thiserror::Error;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ExamineError {
    #[error("cancelled")]
    Cancelled,
    #[error("run {id} is not finished")]
    NotFinished { id: String },
    /// A run whose weights were not kept.
    #[error(
        "run {id} has no weights of its {which} epoch in the store; they were removed, or left out \
         when it was packed"
    )]
    NoWeights {
        id: String,
        /// `best` or `last`.
        which: &'static str,
    },
    #[error("run {id} is not one that this version can examine: {reason}")]
    Spec {
        id: String,
        /// What is wrong with its spec.
        reason: String,
    },
    #[error("run {id} was trained on {expected}, and these are {found}")]
    OtherData { id: String, expected: String, found: String },
    #[error("runs {first} and {second} {reason}")]
    NotAlike {
        first: String,
        second: String,
        /// Why not, and what would do.
        reason: String,
    },
    #[error("run {id} has no part `{part}`; its split has {known}")]
    Part { id: String, part: String, known: String },
    #[error("the data of run {id} have no item {missing}; ids look like {example:?}")]
    Item {
        id: String,
        /// The first of those that are not there, and how many more.
        missing: String,
        example: String,
    },
    #[error("{what}: {found} items; expected at least {least}")]
    Few { what: String, found: usize, least: usize },
    #[error(
        "there is no slice {text:?}; expected all, high, top:SHARE as in top:0.25, or above:NATS as \
         in above:0.5"
    )]
    Slice { text: String },
    #[error(transparent)]
    Inputs(#[from] dissensus_inputs::InputError),
    #[error(
        "{name} does not fit run {id}: expected {expected}, came {found}; bring the inputs into the \
         form that it was trained on"
    )]
    Shape { name: String, id: String, expected: String, found: String },
    #[error("run {id} was trained on feature vectors; there is no image to lay a map over")]
    NoImages { id: String },
    #[error(
        "the scores {needs} need softmax outputs, and run {id} was trained by the loss `{loss}`; choose \
         among {others}"
    )]
    NoSoftmax {
        id: String,
        loss: &'static str,
        /// The scores that need softmax outputs, joined.
        needs: String,
        others: String,
    },
    #[error("{name} is {value}; expected {expected}")]
    Setting { name: &'static str, value: String, expected: String },
    #[error("an image of {width}×{height} cannot be written as PNG: {reason}")]
    Png { width: usize, height: usize, reason: String },
    #[error(transparent)]
    File(#[from] dissensus_io::FileError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error("{set}: {source}")]
    Ood {
        /// The outside set's name, or "inside items".
        set: String,
        source: MeasureError,
    },
    #[error(transparent)]
    Stats(#[from] StatsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Train(#[from] TrainError),
}

impl ExamineError {
    /// Whether the work was cancelled, and did not fail.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Geometry(GeometryError::Cancelled))
    }
}
