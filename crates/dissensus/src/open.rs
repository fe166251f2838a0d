//! The data of a stored run, found again: by the name of a known dataset, from the spec or study that
//! the run was trained with, or from the studies of its store. Data are the same where their digests
//! are. With them, the models of stored runs are opened on a device.

use std::path::{Path, PathBuf};

use dissensus_examine::{ExamineError, Model, ModelSettings};
use dissensus_sources::{LoadContext, known_task, task_among};
use dissensus_store::{RunInfo, Store, Which};
use dissensus_studies::{Study, files};
use dissensus_train::{DataIdentity, OpenDevice, RunSpec, Task};

use crate::Error;

/// Opens the models of stored runs on a device. Data that several runs share are loaded once.
pub struct ModelOpener<'a> {
    /// The store of the runs.
    pub store: Store,
    /// The device.
    pub device: OpenDevice,
    /// How models are computed.
    pub settings: ModelSettings,
    /// Which weights.
    pub which: Which,
    /// The spec or study that the runs were trained with; `None` to look for their data.
    pub spec: Option<PathBuf>,
    /// How data are loaded.
    pub context: LoadContext<'a>,
    /// The data that were loaded.
    pub tasks: Vec<Task>,
}

impl ModelOpener<'_> {
    /// The model of a run.
    pub fn open(&mut self, info: &RunInfo) -> Result<Model, Error> {
        let at = self.task(info)?;
        let (task, device) = (&self.tasks[at], self.device.device());
        Ok(Model::open(info, task, self.which, device, &self.settings)?)
    }

    /// The place of a run's data among those that are loaded.
    fn task(&mut self, info: &RunInfo) -> Result<usize, Error> {
        let id = info.id.to_string();
        let spec: RunSpec = serde_json::from_value(info.spec.clone())
            .map_err(|error| ExamineError::Spec { id: id.clone(), reason: error.to_string() })?;
        let wanted = spec.data;
        if let Some(at) = self.tasks.iter().position(|task| task.identity().same_content(&wanted)) {
            return Ok(at);
        }
        match find_data(&wanted, self.spec.as_deref(), &self.store, &self.context)? {
            Some(task) => self.tasks.push(task),
            None => {
                let DataIdentity { name, items, .. } = wanted;
                return Err(match self.spec.clone() {
                    Some(path) => Error::OtherData { id, path, name, items },
                    None => Error::NotFound { id, name, items },
                });
            }
        }
        Ok(self.tasks.len() - 1)
    }
}

/// The data of this identity; `None` where they are not found. With a spec or study they are taken
/// from there and from nowhere else; otherwise the catalogue is tried, and then the studies of the
/// store.
pub(crate) fn find_data(
    wanted: &DataIdentity,
    spec: Option<&Path>,
    store: &Store,
    context: &LoadContext<'_>,
) -> Result<Option<Task>, Error> {
    match spec {
        Some(path) => of_study(&Study::read(path)?, wanted, context),
        None => match known_task(wanted, context)? {
            Some(task) => Ok(Some(task)),
            None => of_studies(store, wanted, context),
        },
    }
}

/// What one of the studies of a store was run on.
fn of_studies(
    store: &Store,
    wanted: &DataIdentity,
    context: &LoadContext<'_>,
) -> Result<Option<Task>, Error> {
    for name in store.studies()? {
        let Ok(Some(text)) = store.study(&name)?.read_text(files::STUDY) else { continue };
        // One that cannot be read, or whose data are gone, may not be the one.
        let found =
            Study::parse_stored(&text, &name).ok().map(|study| of_study(&study, wanted, context));
        if let Some(Ok(Some(task))) = found {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// The data of a training spec or a study.
fn of_study(
    study: &Study,
    wanted: &DataIdentity,
    context: &LoadContext<'_>,
) -> Result<Option<Task>, Error> {
    Ok(task_among(&study.data()?, wanted, context)?)
}
