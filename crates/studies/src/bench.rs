//! What stages that look into a model work with: a device, and inputs beside a study's own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use dissensus_engine::{Device, Precision};
use dissensus_examine::{Model, ModelSettings};
use dissensus_inputs::Inputs;
use dissensus_store::Which;

use crate::error::LoadError;
use crate::{Finished, StudyError};

/// Who gives inputs of a known name, such as `svhn`, or of a path.
pub type InputsOf<'a> = dyn Fn(&str) -> Result<Inputs, LoadError> + 'a;

/// A device, and what else models are asked with.
pub struct Bench<'a> {
    device: &'a dyn Device,
    f32_alone: bool,
    inputs: &'a InputsOf<'a>,
    loaded: RefCell<BTreeMap<String, Arc<Inputs>>>,
}

impl<'a> Bench<'a> {
    /// On this device, with inputs from there. A CPU computes in f32, whatever a stage asks for.
    pub fn new(device: &'a dyn Device, is_cpu: bool, inputs: &'a InputsOf<'a>) -> Self {
        Self { device, f32_alone: is_cpu, inputs, loaded: RefCell::default() }
    }

    /// The device.
    pub fn device(&self) -> &'a dyn Device {
        self.device
    }

    /// Inputs of this name, loaded once.
    pub(crate) fn inputs(&self, name: &str) -> Result<Arc<Inputs>, StudyError> {
        if let Some(known) = self.loaded.borrow().get(name) {
            return Ok(Arc::clone(known));
        }
        let loaded = (self.inputs)(name)
            .map_err(|source| StudyError::Load { dataset: name.to_owned(), source })?;
        let loaded = Arc::new(loaded);
        self.loaded.borrow_mut().insert(name.to_owned(), Arc::clone(&loaded));
        Ok(loaded)
    }

    /// The model of a run's selected epoch.
    pub(crate) fn open(
        &self,
        run: &Finished<'_>,
        precision: Precision,
    ) -> Result<Model, StudyError> {
        self.open_at(run, Which::Best, precision)
    }

    /// The model of a run's selected epoch, or its last.
    pub(crate) fn open_at(
        &self,
        run: &Finished<'_>,
        which: Which,
        precision: Precision,
    ) -> Result<Model, StudyError> {
        let precision = if self.f32_alone { Precision::F32 } else { precision };
        let settings = ModelSettings { precision, ..ModelSettings::default() };
        Ok(Model::open(run.info, &run.material.task, which, self.device, &settings)?)
    }
}
