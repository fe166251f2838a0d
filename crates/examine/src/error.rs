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
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A run that is not done.
    #[error("run {id} is not finished")]
    NotFinished {
        /// Its name.
        id: String,
    },
    /// A run whose weights were not kept.
    #[error(
        "run {id} has no weights of its {which} epoch in the store; they were removed, or left out \
         when it was packed"
    )]
    NoWeights {
        /// Its name.
        id: String,
        /// `best` or `last`.
        which: &'static str,
    },
    /// A run that this version does not understand.
    #[error("run {id} is not one that this version can examine: {reason}")]
    Spec {
        /// Its name.
        id: String,
        /// What is wrong with its spec.
        reason: String,
    },
    /// Data that are not those of the run.
    #[error("run {id} was trained on {expected}, and these are {found}")]
    OtherData {
        /// Its name.
        id: String,
        /// What it was trained on.
        expected: String,
        /// What came.
        found: String,
    },
    /// Runs that cannot be compared.
    #[error("runs {first} and {second} {reason}")]
    NotAlike {
        /// A run.
        first: String,
        /// Another.
        second: String,
        /// Why not, and what would do.
        reason: String,
    },
    /// A part that the split does not have.
    #[error("run {id} has no part `{part}`; its split has {known}")]
    Part {
        /// The run.
        id: String,
        /// What came.
        part: String,
        /// What there is, joined.
        known: String,
    },
    /// Items that are not in the data.
    #[error("the data of run {id} have no item {missing}; ids look like {example:?}")]
    Item {
        /// The run.
        id: String,
        /// The first of those that are not there, and how many more.
        missing: String,
        /// An item that is there.
        example: String,
    },
    /// Fewer items than the question needs.
    #[error("{what}: {found} items; expected at least {least}")]
    Few {
        /// Which items.
        what: String,
        /// How many there are.
        found: usize,
        /// How many it takes.
        least: usize,
    },
    /// A slice that cannot be read.
    #[error(
        "there is no slice {text:?}; expected all, high, top:SHARE as in top:0.25, or above:NATS as \
         in above:0.5"
    )]
    Slice {
        /// What came.
        text: String,
    },
    /// Inputs that cannot be used.
    #[error(transparent)]
    Inputs(#[from] dissensus_inputs::InputError),
    /// Inputs of another kind or shape than the model takes.
    #[error(
        "{name} does not fit run {id}: expected {expected}, came {found}; bring the inputs into the \
         form that it was trained on"
    )]
    Shape {
        /// The inputs.
        name: String,
        /// The run.
        id: String,
        /// What the model takes.
        expected: String,
        /// What came.
        found: String,
    },
    /// Something other than images where only images will do.
    #[error("run {id} was trained on feature vectors; there is no image to lay a map over")]
    NoImages {
        /// The run.
        id: String,
    },
    /// Scores that the loss of a run does not allow.
    #[error(
        "the scores {needs} need softmax outputs, and run {id} was trained by the loss `{loss}`; choose \
         among {others}"
    )]
    NoSoftmax {
        /// The run.
        id: String,
        /// Its loss.
        loss: &'static str,
        /// The scores that need softmax outputs, joined.
        needs: String,
        /// The others, joined.
        others: String,
    },
    /// A setting out of its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What it was set to.
        value: String,
        /// What would do.
        expected: String,
    },
    /// An image that cannot be written.
    #[error("an image of {width}×{height} cannot be written as PNG: {reason}")]
    Png {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// What the encoder says.
        reason: String,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    File(#[from] dissensus_io::FileError),
    /// The engine could not do its part.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Geometry that cannot be computed.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// Something that cannot be measured.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A set of items that cannot be scored.
    #[error("{set}: {source}")]
    Ood {
        /// The outside set's name, or "inside items".
        set: String,
        /// What is wrong with it.
        source: MeasureError,
    },
    /// Numbers that cannot be tested.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// A store that cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run that cannot be made ready again.
    #[error(transparent)]
    Train(#[from] TrainError),
}

impl ExamineError {
    /// Whether the work was cancelled, and did not fail.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Geometry(GeometryError::Cancelled))
    }
}
