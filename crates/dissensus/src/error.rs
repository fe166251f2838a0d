//! The one error of the library.

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
    /// A delivery or target cannot be made of these votes.
    #[error(transparent)]
    Labels(#[from] dissensus_labels::LabelError),
    /// Predictions could not be read.
    #[error(transparent)]
    Predictions(#[from] dissensus_predictions::PredictionError),
    /// Predictions do not fit the votes.
    #[error(transparent)]
    Score(#[from] crate::ScoreError),
    /// Votes and inputs of a spec could not be loaded.
    #[error(transparent)]
    Load(#[from] crate::DataError),
    /// Training was cancelled, diverged, or could not begin.
    #[error(transparent)]
    Train(#[from] dissensus_train::TrainError),
    /// A trained model could not be examined.
    #[error(transparent)]
    Examine(#[from] dissensus_examine::ExamineError),
    /// A store or a run in it is damaged, missing or in use.
    #[error(transparent)]
    Store(#[from] dissensus_store::StoreError),
    /// A study is wrong, or its data or runs are.
    #[error(transparent)]
    Study(#[from] dissensus_studies::StudyError),
    /// A table or figure could not be made.
    #[error(transparent)]
    Report(#[from] dissensus_report::ReportError),
    /// The page of a report could not be made.
    #[error(transparent)]
    Page(#[from] dissensus_report::page::PageError),
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] dissensus_io::FileError),
}
