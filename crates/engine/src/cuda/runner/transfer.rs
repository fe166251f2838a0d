//! Vectors of parameters on their way between host and device.
//!
//! Eleven million numbers for every product with the Hessian: they go by way of memory of the host that
//! the GPU reads and writes itself, filled by all cores, and are put into the device's order there.

use std::sync::Arc;

use cudarc::driver::CudaContext;
use rayon::prelude::*;

use super::super::driver;
use super::super::kernels::{self, Kernel as _};
use super::super::launch::{DeviceSlice, Pointer, Stream};
use super::CudaRunner;
use crate::error::EngineError;

/// Numbers that one task copies.
const PIECE: usize = 1 << 16;

/// Room for one vector of parameters on both sides, in the host's order.
pub(super) struct Transfer {
    /// The place on the device of every number of the host.
    map: DeviceSlice<u32>,
    flat: DeviceSlice<f32>,
    host: Pinned,
}

/// Memory of the host that the GPU reads and writes itself.
struct Pinned {
    at: *mut f32,
    len: usize,
    context: Arc<CudaContext>,
}

impl Pinned {
    fn new(stream: &Stream, len: usize) -> Result<Self, EngineError> {
        let context = stream.stream.context().clone();
        context.bind_to_thread().map_err(driver)?;
        let bytes = 4 * len.max(1);
        // SAFETY: the memory is ours, and zeros are numbers.
        unsafe {
            let at = cudarc::driver::result::malloc_host(bytes, 0).map_err(|error| {
                EngineError::Device(format!("CUDA, {bytes} bytes of the host's memory: {error:?}"))
            })?;
            std::ptr::write_bytes(at.cast::<u8>(), 0, bytes);
            Ok(Self { at: at.cast(), len, context })
        }
    }

    fn numbers(&mut self) -> &mut [f32] {
        // SAFETY: as much was allocated, and the GPU is not at it between calls.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.len) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: it was allocated so. This waits for a copy that might still be going on.
        let _ = self
            .context
            .bind_to_thread()
            .and_then(|()| unsafe { cudarc::driver::result::free_host(self.at.cast()) });
    }
}

fn copy(from: &[f32], to: &mut [f32]) {
    let pieces = to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE));
    pieces.for_each(|(to, from)| to.copy_from_slice(from));
}

impl CudaRunner {
    /// Room for vectors of parameters, made when it is first needed.
    fn transfer(&mut self) -> Result<(), EngineError> {
        if self.transfer.is_none() {
            let map = self.stream.upload(self.places.map())?;
            let len = self.network.parameter_count();
            let flat = self.stream.numbers(len)?;
            let host = Pinned::new(&self.stream, len)?;
            self.transfer = Some(Transfer { map, flat, host });
        }
        Ok(())
    }

    /// Brings a vector in the host's order to the device's at `to`; what padding adds stays.
    pub(super) fn bring(&mut self, values: &[f32], to: Pointer) -> Result<(), EngineError> {
        self.transfer()?;
        let Some(transfer) = &mut self.transfer else { return Ok(()) };
        // The last copy out of the host's memory has to be over.
        self.stream.stream.synchronize().map_err(driver)?;
        let numbers = transfer.host.numbers();
        copy(values, numbers);
        self.stream.write(transfer.flat, numbers)?;
        let (from, map) = (transfer.flat.at(), transfer.map.at());
        let kernel = kernels::Scatter { from, map, len: values.len(), to };
        kernel.launch(&self.stream, false)
    }

    /// A vector of the device at `from`, in the host's order, once everything before it is done.
    pub(super) fn fetch(&mut self, from: Pointer) -> Result<Vec<f32>, EngineError> {
        self.transfer()?;
        let Some(transfer) = &mut self.transfer else { return Ok(Vec::new()) };
        let len = self.network.parameter_count();
        let (map, to) = (transfer.map.at(), transfer.flat.at());
        kernels::Gather { from, map, len, to }.launch(&self.stream, false)?;
        let numbers = transfer.host.numbers();
        let stream = &self.stream.stream;
        stream.context().bind_to_thread().map_err(driver)?;
        if len > 0 {
            // SAFETY: both sides have as many numbers; the copy is waited for below.
            unsafe {
                cudarc::driver::result::memcpy_dtoh_async(
                    numbers,
                    transfer.flat.at(),
                    stream.cu_stream(),
                )
                .map_err(driver)?;
            }
        }
        stream.synchronize().map_err(driver)?;
        let mut values = vec![0.0; len];
        copy(numbers, &mut values);
        Ok(values)
    }
}
