//! A descriptor of cuDNN's graph API: made, filled with attributes, and finished.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::cudnn::sys as c;

use super::checked;
use crate::error::EngineError;

pub(super) use c::cudnnBackendAttributeName_t as Name;
pub(super) use c::cudnnBackendAttributeType_t as Kind;
pub(super) use c::cudnnBackendDescriptorType_t as What;

/// The most descriptors or notes that are asked for at once.
const MOST: usize = 64;

pub(super) struct Descriptor(pub(super) c::cudnnBackendDescriptor_t);

// SAFETY: descriptors may move between threads; they are used by one at a time.
unsafe impl Send for Descriptor {}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours.
        unsafe { c::cudnnBackendDestroyDescriptor(self.0) };
    }
}

impl Descriptor {
    pub(super) fn new(what: What) -> Result<Self, EngineError> {
        let mut made = null_mut();
        // SAFETY: a plain call with a valid pointer.
        checked(unsafe { c::cudnnBackendCreateDescriptor(what, &mut made) }, "descriptor")?;
        Ok(Self(made))
    }

    /// Sets an attribute; `T` has the size that `kind` says.
    pub(super) fn set<T: Copy>(
        self,
        name: Name,
        kind: Kind,
        values: &[T],
    ) -> Result<Self, EngineError> {
        // SAFETY: as many values as are said, of the size of their kind.
        let status = unsafe {
            let at: *const c_void = values.as_ptr().cast();
            c::cudnnBackendSetAttribute(self.0, name, kind, values.len() as i64, at)
        };
        checked(status, "attribute").map(|()| self)
    }

    pub(super) fn whole(self, name: Name, values: &[i64]) -> Result<Self, EngineError> {
        self.set(name, Kind::CUDNN_TYPE_INT64, values)
    }

    /// Refers to another one, which must stay.
    pub(super) fn refer(self, name: Name, to: &Self) -> Result<Self, EngineError> {
        self.set(name, Kind::CUDNN_TYPE_BACKEND_DESCRIPTOR, &[to.0])
    }

    pub(super) fn finished(self, what: &str) -> Result<Self, EngineError> {
        // SAFETY: the descriptor is ours.
        checked(unsafe { c::cudnnBackendFinalize(self.0) }, what).map(|()| self)
    }

    /// The values of an attribute, at most [`MOST`], each `fill` before.
    pub(super) fn get<T: Copy>(
        &self,
        name: Name,
        kind: Kind,
        fill: T,
    ) -> Result<Vec<T>, EngineError> {
        let (mut values, mut found) = (vec![fill; MOST], 0);
        // SAFETY: room for as many as are asked for, of the size of their kind.
        let status = unsafe {
            let at: *mut c_void = values.as_mut_ptr().cast();
            c::cudnnBackendGetAttribute(self.0, name, kind, MOST as i64, &mut found, at)
        };
        checked(status, "attribute")?;
        values.truncate(usize::try_from(found).unwrap_or(0));
        Ok(values)
    }

    /// The one whole number of an attribute.
    pub(super) fn number(&self, name: Name) -> Result<i64, EngineError> {
        let mut value = 0i64;
        let mut found = 0;
        // SAFETY: room for the one that is asked for.
        let status = unsafe {
            let at: *mut c_void = std::ptr::from_mut(&mut value).cast();
            let kind = Kind::CUDNN_TYPE_INT64;
            c::cudnnBackendGetAttribute(self.0, name, kind, 1, &mut found, at)
        };
        checked(status, "attribute").map(|()| value)
    }

    /// The descriptors of an attribute, at most [`MOST`]; with `one`, just one.
    pub(super) fn descriptors(
        &self,
        name: Name,
        what: What,
        one: bool,
    ) -> Result<Vec<Self>, EngineError> {
        let most = if one { 1 } else { MOST };
        let room = (0..most).map(|_| Self::new(what)).collect::<Result<Vec<_>, _>>()?;
        let mut pointers: Vec<_> = room.iter().map(|descriptor| descriptor.0).collect();
        let mut found = 0;
        // SAFETY: room for as many as are asked for.
        let status = unsafe {
            let (at, kind) = (pointers.as_mut_ptr().cast(), Kind::CUDNN_TYPE_BACKEND_DESCRIPTOR);
            c::cudnnBackendGetAttribute(self.0, name, kind, most as i64, &mut found, at)
        };
        checked(status, "attribute")?;
        let found = usize::try_from(found).unwrap_or(0);
        Ok(room.into_iter().take(found).collect())
    }
}
