//! The data of a stored run, found again: by the name of a known dataset, from the spec or study that
//! the run was trained with, or from the studies of its store. Data are the same where their digests
//! are.

use std::path::Path;

use dissensus_store::Store;
use dissensus_studies::{LoadError, Material, PlanOptions, Study, files};
use dissensus_train::spec::Data;
use dissensus_train::{DataIdentity, Spec, Task};

use crate::data::{load_material, load_task};
use crate::{DataError, LoadContext};

/// The data of this identity; `None` where they are not found. With a spec or study they are taken
/// from there and from nowhere else; otherwise the catalogue is tried, and then the studies of the
/// store.
pub fn find_data(
    wanted: &DataIdentity,
    spec: Option<&Path>,
    store: &Store,
    context: &LoadContext<'_>,
) -> Result<Option<Task>, DataError> {
    match spec {
        Some(path) => of_file(path, wanted, context),
        None => match of_name(wanted, context)? {
            Some(task) => Ok(Some(task)),
            None => of_studies(store, wanted, context),
        },
    }
}

fn if_same(task: Task, wanted: &DataIdentity) -> Option<Task> {
    task.identity().same_content(wanted).then_some(task)
}

/// A dataset that is known by its name, whole or its first items; and so the one it is judged on.
fn of_name(wanted: &DataIdentity, context: &LoadContext<'_>) -> Result<Option<Task>, DataError> {
    let DataIdentity { name, items, judged_on, .. } = wanted;
    let on = judged_on.as_ref().map(|data| &data.name);
    let known = |name: &String| dissensus_inputs::WITH_IMAGES.contains(&name.as_str());
    if !known(name) || !on.is_none_or(known) {
        return Ok(None);
    }
    let on = on.map_or(String::new(), |on| format!("judged_on = {on:?}\n"));
    let sized = format!("data.items={items}");
    // Of generated data there are as many as one asks for.
    let tries: &[&[String]] = match name.as_str() {
        "blends" => &[&[sized]],
        _ => &[&[], &[sized]],
    };
    for sets in tries {
        let text = format!("[data]\ndataset = {name:?}\n{on}[delivery]\nmethods = 'soft'\n");
        let spec = Spec::parse(&text, name, sets)?;
        if let Some(task) = if_same(load_task(&spec.data, context)?, wanted) {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// What a spec or a study names.
fn of_file(
    path: &Path,
    wanted: &DataIdentity,
    context: &LoadContext<'_>,
) -> Result<Option<Task>, DataError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| DataError::Spec { path: path.to_owned(), source })?;
    let is_study = text.lines().any(|line| line.trim() == "[study]");
    match is_study {
        true => of_study(&Study::read(path)?, wanted, context),
        false => Ok(if_same(load_task(&Spec::parse(&text, &name, &[])?.data, context)?, wanted)),
    }
}

/// What one of the studies of a store was run on.
fn of_studies(
    store: &Store,
    wanted: &DataIdentity,
    context: &LoadContext<'_>,
) -> Result<Option<Task>, DataError> {
    for name in store.studies()? {
        let Some(text) = store.study(&name)?.read(files::STUDY)? else { continue };
        let text = String::from_utf8_lossy(&text);
        // One that cannot be read, or whose data are gone, may not be the one.
        let found = Study::parse(&text, &name).ok().map(|study| of_study(&study, wanted, context));
        if let Some(Ok(Some(task))) = found {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

fn of_study(
    study: &Study,
    wanted: &DataIdentity,
    context: &LoadContext<'_>,
) -> Result<Option<Task>, DataError> {
    let mut found = None;
    let mut look = |data: &Data| -> Result<Material, LoadError> {
        let material = load_material(data, context)?;
        if found.is_none() && material.task.identity().same_content(wanted) {
            found = Some(load_task(data, context)?);
        }
        Ok(material)
    };
    study.plan(&PlanOptions::default(), &mut look)?;
    Ok(found)
}
