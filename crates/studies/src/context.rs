//! What stages that look into models work with: a device, and inputs beside a study's own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use dissensus_engine::{Device, Precision};
use dissensus_examine::{Model, ModelSettings, Observer};
use dissensus_inputs::{Inputs, ReadOptions};
use dissensus_sources::{LoadContext, read_inputs};
use dissensus_store::Which;

use crate::{Finished, StudyError};

/// A device, and what else models are asked with.
pub struct StageContext<'a> {
    device: &'a dyn Device,
    is_cpu: bool,
    sources: LoadContext<'a>,
    loaded: RefCell<BTreeMap<String, Arc<Inputs>>>,
}

impl<'a> StageContext<'a> {
    /// On this device. A CPU computes in f32, whatever a stage asks for.
    pub fn new(device: &'a dyn Device, is_cpu: bool, sources: LoadContext<'a>) -> Self {
        Self { device, is_cpu, sources, loaded: RefCell::default() }
    }

    /// With inputs that are loaded already, under the name by which stages ask for them.
    pub fn with_inputs(self, name: &str, inputs: Inputs) -> Self {
        self.loaded.borrow_mut().insert(name.to_owned(), Arc::new(inputs));
        self
    }
}

/// The models of runs, as one stage opens them.
pub(crate) struct Models<'a> {
    pub(crate) context: &'a StageContext<'a>,
    pub(crate) precision: Precision,
    /// Told how far a model is looked into.
    pub(crate) observer: Observer<'a>,
}

impl Models<'_> {
    pub(crate) fn device(&self) -> &dyn Device {
        self.context.device
    }

    /// Inputs of a known name, such as `svhn`, or of a path; loaded once.
    pub(crate) fn inputs(&self, name: &str) -> Result<Arc<Inputs>, StudyError> {
        let StageContext { sources, loaded, .. } = self.context;
        if let Some(known) = loaded.borrow().get(name) {
            return Ok(Arc::clone(known));
        }
        let failed = |source| StudyError::Load { dataset: name.to_owned(), source };
        let found = read_inputs(name.as_ref(), &ReadOptions::default(), sources);
        let found = Arc::new(found.map_err(failed)?);
        loaded.borrow_mut().insert(name.to_owned(), Arc::clone(&found));
        Ok(found)
    }

    /// The model of a run's selected epoch.
    pub(crate) fn open(&self, run: &Finished<'_>) -> Result<Model, StudyError> {
        self.open_at(run, Which::Best)
    }

    /// The model of a run's selected epoch, or its last.
    pub(crate) fn open_at(&self, run: &Finished<'_>, which: Which) -> Result<Model, StudyError> {
        let precision = if self.context.is_cpu { Precision::F32 } else { self.precision };
        let settings = ModelSettings { precision, ..ModelSettings::default() };
        Ok(Model::open(run.info, &run.material.task, which, self.device(), &settings)?)
    }
}
