//! What an error consists of.

use std::error::Error as StdError;

use dissensus_embed::EmbedError;
use dissensus_examine::ExamineError;
use dissensus_inputs::InputError;
use dissensus_remote::RemoteError;
use dissensus_store::StoreError;
use dissensus_studies::StudyError;
use dissensus_train::TrainError;
use dissensus_votes::write::WriteError;

use crate::{Error, ScoreError, SourceError};

/// An error and all that it wraps, from the outside. [`std::error::Error::source`] does not give what
/// a transparent error wraps; this does.
pub fn causes<'a>(error: &'a (dyn StdError + 'static)) -> Vec<&'a (dyn StdError + 'static)> {
    let inner =
        |error: &&'a (dyn StdError + 'static)| wrapped(*error).or_else(|| (*error).source());
    std::iter::successors(Some(error), inner).collect()
}

/// What a transparent error of this library wraps.
fn wrapped<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    if let Some(error) = error.downcast_ref::<Error>() {
        return Some(match error {
            Error::Votes(error) => error,
            Error::Predictions(error) => error,
            Error::Write(error) => error,
            Error::Data(error) => error,
            Error::Labels(error) => error,
            Error::Score(error) => error,
            Error::Train(error) => error,
            Error::Examine(error) => error,
            Error::Store(error) => error,
            Error::Remote(error) => error,
            Error::Study(error) => error,
            Error::Cluster(error) => error,
            Error::Report(error) => error,
            Error::Page(error) => error,
            Error::File(error) => error,
            Error::Inputs(error) => error,
            Error::Embed(error) => error,
            Error::Config(error) => error,
            Error::Engine(error) => error,
            Error::Device(error) => error,
            Error::Align(error) => error,
            Error::Join(error) => error,
            Error::Split(error) => error,
            Error::Endpoint(error) => error,
            Error::Runtime(error) => error,
            Error::Http(error) => error,
            Error::Io(error) => error,
            Error::Source(error) => error,
            _ => return None,
        });
    }
    if let Some(error) = error.downcast_ref::<SourceError>() {
        return Some(match error {
            SourceError::Votes(error) => error,
            SourceError::Data(error) => error,
            SourceError::Inputs(error) => error,
            SourceError::Train(error) => error,
            SourceError::Labels(error) => error,
            SourceError::Embed(error) => error,
            SourceError::EvaluatedOn(error) => error.as_ref(),
            _ => return None,
        });
    }
    match error.downcast_ref() {
        Some(StudyError::Store(error) | StudyError::Unwritten(error)) => return Some(error),
        Some(StudyError::Config(error)) => return Some(error),
        _ => {}
    }
    match error.downcast_ref() {
        Some(TrainError::Store(error)) => return Some(error),
        Some(TrainError::Inputs(error)) => return Some(error),
        _ => {}
    }
    if let Some(StoreError::Output(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(RemoteError::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    match error.downcast_ref() {
        Some(ExamineError::File(error)) => return Some(error),
        Some(ExamineError::Inputs(error)) => return Some(error),
        _ => {}
    }
    if let Some(InputError::Data(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(EmbedError::Runtime(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(WriteError::File(error)) = error.downcast_ref() {
        return Some(error);
    }
    match error.downcast_ref()? {
        ScoreError::Align(error) => Some(error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_data::Error as CatalogueError;

    #[test]
    fn what_is_not_in_the_cache_is_found_behind_every_wrapper() {
        let missing = CatalogueError::NotInCache {
            name: "svhn".into(),
            path: "svhn/test_32x32.mat".into(),
            found: "-".into(),
        };
        let inputs = SourceError::from(InputError::from(missing));
        let load = SourceError::EvaluatedOn(Box::new(inputs));
        let study = StudyError::Load { dataset: "svhn".into(), source: load };
        let error = Error::from(study);
        let innermost = causes(&error).pop().and_then(|cause| cause.downcast_ref());
        assert!(
            matches!(innermost, Some(CatalogueError::NotInCache { name, .. }) if name == "svhn")
        );
    }
}
