//! Which items a run was trained on: a score on them says nothing of new ones.

use dissensus_inputs::{Inputs, Kind};
use dissensus_sources::SourceError;
use dissensus_store::{RunInfo, Store};
use dissensus_train::{RunSpec, TrainError, parts};

use crate::open::find_data;
use crate::{Error, LoadContext};

/// The items of a run's training part, with their ids; `None` where its data are not found.
pub fn trained_on(
    run: &RunInfo,
    store: &Store,
    context: &LoadContext<'_>,
) -> Result<Option<Inputs>, Error> {
    let spec: RunSpec = serde_json::from_value(run.spec.clone())
        .map_err(|error| TrainError::Data(format!("run {}: {error}", run.id)))?;
    // Data that are not in the cache any more are data that are not found.
    let task = match find_data(&spec.data, None, store, context) {
        Ok(Some(task)) => task,
        Ok(None) | Err(Error::Source(SourceError::Data(_) | SourceError::Inputs(_))) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let train = parts(&task, &spec.run)?.into_iter().next().unwrap_or_default();
    let kind = task.inputs().select(&train).into_kind();
    let ids = task.table().items().select(train.iter().copied());
    let inputs = Inputs::new(task.inputs().name(), Some(ids), kind);
    Ok(Some(inputs?))
}

/// How many of these inputs are among others: with the same id and the same content. None where they
/// have no ids.
pub fn count_same(inputs: &Inputs, others: &Inputs) -> usize {
    let (Some(ids), Some(known)) = (inputs.ids(), others.ids()) else { return 0 };
    let same = |(at, id): &(usize, &str)| {
        known.position(id).is_some_and(|place| match (inputs.kind(), others.kind()) {
            (Kind::Images(a), Kind::Images(b)) => a.image(*at) == b.image(place),
            (Kind::Features(a), Kind::Features(b)) => a.row(*at) == b.row(place),
            _ => false,
        })
    };
    ids.iter().enumerate().filter(same).count()
}
