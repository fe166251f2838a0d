//! The gradients of convolutions' weights, on a stream beside the main one: nothing waits for them
//! before the update, and neither kind of kernel fills the GPU alone. A run that has the GPU for
//! itself gains a tenth; where several share it they fill it anyway, and lose by it. The numbers are
//! the same either way.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream};

use super::super::cudnn::Handle;
use super::super::driver;
use super::super::launch::Pointer;
use crate::error::EngineError;

pub(super) struct Side {
    pub(super) stream: Arc<CudaStream>,
    pub(super) handle: Handle,
    pub(super) workspace: Pointer,
    /// Events of a pass, which a capture may refer to until it ends.
    events: RefCell<Vec<CudaEvent>>,
    /// By slot of gradients: the event after which the side has read it.
    read: RefCell<Vec<Option<usize>>>,
    /// Whether there is anything on the side to wait for.
    busy: Cell<bool>,
}

impl Side {
    pub(super) fn new(stream: Arc<CudaStream>, slots: usize) -> Result<Self, EngineError> {
        let handle = Handle::new(stream.cu_stream())?;
        let read = RefCell::new(vec![None; slots]);
        let (events, busy) = (RefCell::default(), Cell::new(false));
        Ok(Self { stream, handle, workspace: 0, events, read, busy })
    }

    /// The side waits for all of the main stream so far.
    pub(super) fn wait_for_main(&self, main: &CudaStream) -> Result<(), EngineError> {
        let event = main.record_event(None).map_err(driver)?;
        self.stream.wait(&event).map_err(driver)?;
        self.events.borrow_mut().push(event);
        self.busy.set(true);
        Ok(())
    }

    /// The side has read this slot, once it is as far as now.
    pub(super) fn has_read(&self, slot: Option<usize>) -> Result<(), EngineError> {
        let Some(slot) = slot else { return Ok(()) };
        let event = self.stream.record_event(None).map_err(driver)?;
        let mut events = self.events.borrow_mut();
        self.read.borrow_mut()[slot] = Some(events.len());
        events.push(event);
        Ok(())
    }

    /// The main stream may overwrite this slot after this.
    pub(super) fn free(&self, main: &CudaStream, slot: Option<usize>) -> Result<(), EngineError> {
        let Some(slot) = slot else { return Ok(()) };
        if let Some(event) = self.read.borrow_mut()[slot].take() {
            main.wait(&self.events.borrow()[event]).map_err(driver)?;
        }
        Ok(())
    }

    /// The main stream goes on after all that is on the side.
    pub(super) fn join(&self, main: &CudaStream) -> Result<(), EngineError> {
        if !self.busy.replace(false) {
            return Ok(());
        }
        let event = self.stream.record_event(None).map_err(driver)?;
        main.wait(&event).map_err(driver)?;
        self.events.borrow_mut().push(event);
        self.read.borrow_mut().fill(None);
        Ok(())
    }

    /// Forgets the events of a pass that is over.
    pub(super) fn forget(&self) {
        self.events.borrow_mut().clear();
    }
}
