//! Memory on the device, and kernels started on a stream.

use std::collections::HashMap;
use std::sync::Arc;

use cudarc::driver::{
    CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, LaunchConfig, PushKernelArg,
};

use super::driver;
use crate::error::EngineError;

/// A stretch of device memory; null for none.
pub(super) type Pointer = u64;

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    Pointer(Pointer),
    Int(i32),
    Long(i64),
    Word(u64),
    Half(u32),
    Float(f32),
}

/// A stream with the kernels and the memory of one run.
pub(super) struct Stream {
    pub(super) stream: Arc<CudaStream>,
    plain: Arc<CudaModule>,
    typed: Arc<CudaModule>,
    functions: HashMap<(bool, &'static str), CudaFunction>,
    memory: Vec<CudaSlice<u8>>,
    bytes: usize,
}

/// Overwrites memory of the device.
pub(super) fn write<T: Copy>(
    stream: &CudaStream,
    to: Pointer,
    values: &[T],
) -> Result<(), EngineError> {
    if values.is_empty() {
        return Ok(());
    }
    stream.context().bind_to_thread().map_err(driver)?;
    // SAFETY: callers allocated at least as much, and plain numbers are any bytes.
    unsafe {
        cudarc::driver::result::memcpy_htod_async(to, values, stream.cu_stream()).map_err(driver)
    }
}

impl Stream {
    pub(super) fn new(
        stream: Arc<CudaStream>,
        plain: Arc<CudaModule>,
        typed: Arc<CudaModule>,
    ) -> Self {
        Self { stream, plain, typed, functions: HashMap::new(), memory: Vec::new(), bytes: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory of zeros, which stays until the run ends.
    pub(super) fn zeros(&mut self, bytes: usize) -> Result<Pointer, EngineError> {
        let slice = self.stream.alloc_zeros::<u8>(bytes.max(16)).map_err(driver)?;
        let pointer = slice.device_ptr(&self.stream).0;
        self.memory.push(slice);
        self.bytes += bytes;
        Ok(pointer)
    }

    /// Numbers on the device, which stay until the run ends.
    pub(super) fn upload<T: Copy>(&mut self, values: &[T]) -> Result<Pointer, EngineError> {
        let pointer = self.zeros(size_of_val(values))?;
        self.write(pointer, values)?;
        Ok(pointer)
    }

    /// Overwrites memory of the device.
    pub(super) fn write<T: Copy>(&self, to: Pointer, values: &[T]) -> Result<(), EngineError> {
        write(&self.stream, to, values)
    }

    /// Reads memory of the device, once everything before it is done.
    pub(super) fn read<T: Copy + Default>(
        &self,
        from: Pointer,
        len: usize,
    ) -> Result<Vec<T>, EngineError> {
        let mut values = vec![T::default(); len];
        if len > 0 {
            self.stream.context().bind_to_thread().map_err(driver)?;
            // SAFETY: callers allocated at least as much; the copy is waited for below.
            unsafe {
                cudarc::driver::result::memcpy_dtoh_async(
                    &mut values,
                    from,
                    self.stream.cu_stream(),
                )
                .map_err(driver)?;
            }
        }
        self.stream.synchronize().map_err(driver)?;
        Ok(values)
    }

    /// Fills device memory with zeros.
    pub(super) fn clear(&self, at: Pointer, bytes: usize) -> Result<(), EngineError> {
        self.stream.context().bind_to_thread().map_err(driver)?;
        // SAFETY: callers allocated at least as much.
        unsafe {
            cudarc::driver::result::memset_d8_async(at, 0, bytes, self.stream.cu_stream())
                .map_err(driver)
        }
    }

    /// Copies device memory.
    pub(super) fn copy(&self, from: Pointer, to: Pointer, bytes: usize) -> Result<(), EngineError> {
        self.stream.context().bind_to_thread().map_err(driver)?;
        // SAFETY: callers allocated at least as much on both sides.
        unsafe {
            cudarc::driver::result::memcpy_dtod_async(to, from, bytes, self.stream.cu_stream())
                .map_err(driver)
        }
    }

    /// Looks kernels up before a capture: with activations of the run's type, or f32.
    pub(super) fn prepare(&mut self, names: &[&'static str]) -> Result<(), EngineError> {
        for &name in names {
            for (typed, module) in [(true, &self.typed), (false, &self.plain)] {
                let function = module.load_function(name).map_err(driver)?;
                self.functions.insert((typed, name), function);
            }
        }
        Ok(())
    }

    /// Starts a kernel.
    pub(super) fn start(
        &self,
        typed: bool,
        name: &'static str,
        grid: (u32, u32),
        block: (u32, u32),
        args: &[Arg],
    ) -> Result<(), EngineError> {
        let function = self
            .functions
            .get(&(typed, name))
            .ok_or_else(|| EngineError::Device(format!("no kernel {name}")))?;
        let config = LaunchConfig {
            grid_dim: (grid.0.max(1), grid.1.max(1), 1),
            block_dim: (block.0, block.1, 1),
            shared_mem_bytes: 0,
        };
        let mut builder = self.stream.launch_builder(function);
        for arg in args {
            match arg {
                Arg::Pointer(value) | Arg::Word(value) => builder.arg(value),
                Arg::Int(value) => builder.arg(value),
                Arg::Long(value) => builder.arg(value),
                Arg::Half(value) => builder.arg(value),
                Arg::Float(value) => builder.arg(value),
            };
        }
        // SAFETY: the arguments are those of the kernel's declaration, and every pointer is to
        // memory of this run or of the shared data set.
        unsafe { builder.launch(config) }.map_err(driver)?;
        Ok(())
    }

    /// Starts a kernel with one thread for each of `len` numbers.
    pub(super) fn each(
        &self,
        typed: bool,
        name: &'static str,
        len: usize,
        args: &[Arg],
    ) -> Result<(), EngineError> {
        self.start(typed, name, (len.div_ceil(256) as u32, 1), (256, 1), args)
    }
}
