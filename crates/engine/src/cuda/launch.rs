//! Memory on the device, and kernels started on a stream.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, result, sys};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};

use super::kernels::{Geometry, KERNELS, Kernel};
use super::{NVRTC_STANDARD, driver, zeros};
use crate::error::EngineError;

/// A place in device memory, as kernels take it; null for none.
pub(super) type Pointer = u64;

/// Numbers that may be any bytes.
///
/// # Safety
///
/// Every pattern of bits is a value.
pub(super) unsafe trait Plain: Copy + Default {}

macro_rules! plain {
    ($($kind:ty),*) => {$(
        // SAFETY: every pattern of bits is a number.
        unsafe impl Plain for $kind {}
    )*};
}
plain!(u8, u16, u32, u64, i32, f32, [u8; 4]);

/// Numbers of one type in device memory: where they begin, and how many they are. What copies them to or
/// from the host, or from one place to another, is checked against that.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceSlice<T> {
    at: Pointer,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Plain> DeviceSlice<T> {
    /// As many as fit into memory that was allocated.
    pub(super) fn within(memory: &CudaSlice<u8>, stream: &CudaStream) -> Self {
        let (at, len) = (memory.device_ptr(stream).0, memory.len() / size_of::<T>());
        Self { at, len, of: PhantomData }
    }

    /// Where they begin.
    pub(super) fn at(self) -> Pointer {
        self.at
    }

    /// The same memory as bytes.
    pub(super) fn bytes(self) -> DeviceSlice<u8> {
        DeviceSlice { at: self.at, len: self.len * size_of::<T>(), of: PhantomData }
    }

    /// Refuses another number of numbers than fit.
    fn holds(self, len: usize) -> Result<(), EngineError> {
        match len <= self.len {
            true => Ok(()),
            false => {
                let text = format!("{len} numbers do not fit into {} on the GPU", self.len);
                Err(EngineError::Device(text))
            }
        }
    }
}

/// Compiled kernels.
pub(super) struct Module {
    module: sys::CUmodule,
    context: Arc<CudaContext>,
    /// Whether a kernel can be started before the one in front of it has ended.
    early: bool,
}

// SAFETY: modules may be used by all threads.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles kernels by NVRTC, with these definitions, for an architecture such as `90a`, and loads them
    /// for a GPU of this compute capability.
    pub(super) fn compile(
        context: &Arc<CudaContext>,
        text: String,
        (architecture, capability): (&str, i32),
        definitions: &[String],
    ) -> Result<Self, EngineError> {
        let own = [format!("--gpu-architecture=compute_{architecture}"), NVRTC_STANDARD.to_owned()];
        let options = own.iter().chain(definitions).cloned().collect();
        let options = CompileOptions { options, ..CompileOptions::default() };
        let ptx = compile_ptx_with_opts(text, options)
            .map_err(|error| EngineError::Device(format!("NVRTC: {error:?}")))?;
        let zero = |_| EngineError::Device("NVRTC: a zero in its output".to_owned());
        let image = CString::new(ptx.to_src()).map_err(zero)?;
        context.bind_to_thread().map_err(driver)?;
        // SAFETY: the image is text that ends in a zero.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) };
        let (module, context) = (module.map_err(driver)?, context.clone());
        Ok(Self { module, context, early: capability >= 9 })
    }

    pub(super) fn function(&self, name: &str) -> Result<sys::CUfunction, EngineError> {
        let zero = |_| EngineError::Device(format!("no kernel {name}"));
        let name = CString::new(name).map_err(zero)?;
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.module, name) }.map_err(driver)
    }

    /// A function whose blocks may have so many bytes of shared memory.
    pub(super) fn with_shared(
        &self,
        name: &str,
        bytes: usize,
    ) -> Result<sys::CUfunction, EngineError> {
        let function = self.function(name)?;
        let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is of a loaded module.
        let set = unsafe { sys::cuFuncSetAttribute(function, most, bytes as i32) };
        set.result().map_err(driver)?;
        Ok(function)
    }
}

/// An argument of a kernel.
pub(super) fn raw<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the module is ours, and runs that use it hold it.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

/// A stream with the kernels and the memory of one run.
pub(super) struct Stream {
    pub(super) stream: Arc<CudaStream>,
    plain: Arc<Module>,
    typed: Arc<Module>,
    functions: HashMap<(bool, &'static str), sys::CUfunction>,
    memory: Vec<CudaSlice<u8>>,
    bytes: usize,
    /// Bytes of an activation of the run's type.
    act: usize,
}

/// When a kernel may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// After all that was started before it.
    After,
    /// When the kernel before it calls `allow_next_kernel`. It calls `wait_for_previous_kernel` before
    /// it reads what that one wrote, and before it writes anything.
    Early,
}

/// Overwrites memory of the device from its beginning.
pub(super) fn write<T: Plain>(
    stream: &CudaStream,
    to: DeviceSlice<T>,
    values: &[T],
) -> Result<(), EngineError> {
    to.holds(values.len())?;
    if values.is_empty() {
        return Ok(());
    }
    stream.context().bind_to_thread().map_err(driver)?;
    // SAFETY: the slice is at least as long, and plain numbers are any bytes.
    unsafe {
        cudarc::driver::result::memcpy_htod_async(to.at, values, stream.cu_stream()).map_err(driver)
    }
}

/// Starts a kernel with so many bytes of shared memory; `early`: when the one before it lets it.
///
/// # Safety
///
/// The arguments have the types of the kernel's declaration, and every pointer is to memory that lives.
pub(super) unsafe fn start(
    stream: &CudaStream,
    function: sys::CUfunction,
    (grid, block): Geometry,
    shared: u32,
    early: bool,
    arguments: &mut [*mut c_void],
) -> Result<(), EngineError> {
    let mut attribute = sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
    };
    let config = sys::CUlaunchConfig {
        gridDimX: grid.0.max(1),
        gridDimY: grid.1.max(1),
        gridDimZ: 1,
        blockDimX: block.0,
        blockDimY: block.1,
        blockDimZ: 1,
        sharedMemBytes: shared,
        hStream: stream.cu_stream(),
        attrs: &mut attribute,
        numAttrs: u32::from(early),
    };
    stream.context().bind_to_thread().map_err(driver)?;
    let none = std::ptr::null_mut();
    // SAFETY: as the caller has it.
    let status = unsafe { sys::cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), none) };
    status.result().map_err(driver)
}

impl Stream {
    pub(super) fn new(
        stream: Arc<CudaStream>,
        plain: Arc<Module>,
        typed: Arc<Module>,
        act: usize,
    ) -> Self {
        let (functions, memory) = (HashMap::new(), Vec::new());
        Self { stream, plain, typed, functions, memory, bytes: 0, act }
    }

    /// Another stream with the same kernels, and memory of its own.
    pub(super) fn beside(&self) -> Result<Self, EngineError> {
        let stream = self.stream.context().new_stream().map_err(driver)?;
        let (plain, typed) = (self.plain.clone(), self.typed.clone());
        let mut beside = Self::new(stream, plain, typed, self.act);
        beside.functions = self.functions.clone();
        Ok(beside)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory of zeros, which stays until the run ends.
    pub(super) fn zeros(&mut self, bytes: usize) -> Result<Pointer, EngineError> {
        let slice = zeros(&self.stream, bytes)?;
        let pointer = slice.device_ptr(&self.stream).0;
        self.memory.push(slice);
        self.bytes += bytes;
        Ok(pointer)
    }

    /// So many numbers, all zero, which stay until the run ends.
    pub(super) fn numbers<T: Plain>(&mut self, len: usize) -> Result<DeviceSlice<T>, EngineError> {
        Ok(DeviceSlice { at: self.zeros(len * size_of::<T>())?, len, of: PhantomData })
    }

    /// Numbers on the device, which stay until the run ends.
    pub(super) fn upload<T: Plain>(&mut self, values: &[T]) -> Result<DeviceSlice<T>, EngineError> {
        let slice = self.numbers(values.len())?;
        self.write(slice, values)?;
        Ok(slice)
    }

    /// Overwrites memory of the device from its beginning.
    pub(super) fn write<T: Plain>(
        &self,
        to: DeviceSlice<T>,
        values: &[T],
    ) -> Result<(), EngineError> {
        write(&self.stream, to, values)
    }

    /// Reads the first numbers of memory of the device, once everything before it is done.
    pub(super) fn read<T: Plain>(
        &self,
        from: DeviceSlice<T>,
        len: usize,
    ) -> Result<Vec<T>, EngineError> {
        from.holds(len)?;
        let mut values = vec![T::default(); len];
        if len > 0 {
            self.stream.context().bind_to_thread().map_err(driver)?;
            // SAFETY: the slice is at least as long; the copy is waited for below.
            unsafe {
                cudarc::driver::result::memcpy_dtoh_async(
                    &mut values,
                    from.at,
                    self.stream.cu_stream(),
                )
                .map_err(driver)?;
            }
        }
        self.stream.synchronize().map_err(driver)?;
        Ok(values)
    }

    /// Fills device memory with zeros.
    pub(super) fn clear<T: Plain>(&self, all: DeviceSlice<T>) -> Result<(), EngineError> {
        self.stream.context().bind_to_thread().map_err(driver)?;
        let DeviceSlice { at, len, .. } = all.bytes();
        // SAFETY: the slice is so long.
        unsafe {
            cudarc::driver::result::memset_d8_async(at, 0, len, self.stream.cu_stream())
                .map_err(driver)
        }
    }

    /// Copies all of one slice to the beginning of another.
    pub(super) fn copy<T: Plain>(
        &self,
        from: DeviceSlice<T>,
        to: DeviceSlice<T>,
    ) -> Result<(), EngineError> {
        to.holds(from.len)?;
        self.stream.context().bind_to_thread().map_err(driver)?;
        let (from, to) = (from.bytes(), to.bytes());
        // SAFETY: neither is shorter.
        unsafe {
            cudarc::driver::result::memcpy_dtod_async(
                to.at,
                from.at,
                from.len,
                self.stream.cu_stream(),
            )
            .map_err(driver)
        }
    }

    /// Looks kernels up before a capture: with activations of the run's type, or f32.
    pub(super) fn prepare(&mut self) -> Result<(), EngineError> {
        for kernel in KERNELS {
            for (typed, module) in [(true, &self.typed), (false, &self.plain)] {
                self.functions.insert((typed, kernel.name), module.function(kernel.name)?);
            }
        }
        Ok(())
    }

    /// Starts a kernel, with activations of the run's type where `typed`, or else of f32.
    pub(super) fn launch(
        &self,
        kernel: &impl Kernel,
        typed: bool,
        begin: Begin,
    ) -> Result<(), EngineError> {
        self.launch_on(&self.stream, kernel, typed, begin)
    }

    /// Starts a kernel on another stream.
    pub(super) fn launch_on(
        &self,
        stream: &CudaStream,
        kernel: &impl Kernel,
        typed: bool,
        begin: Begin,
    ) -> Result<(), EngineError> {
        let name = kernel.name();
        let function = *self
            .functions
            .get(&(typed, name))
            .ok_or_else(|| EngineError::Device(format!("no kernel {name}")))?;
        let early = begin == Begin::Early && self.plain.early;
        let mut values = kernel.arguments();
        let mut arguments: Vec<*mut c_void> =
            values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        // SAFETY: the arguments have the types of the kernel's declaration, and every pointer is to
        // memory of this run or of the shared data set.
        unsafe { start(stream, function, kernel.geometry(self.act), 0, early, &mut arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_knows_how_much_it_holds() {
        let slice = DeviceSlice::<[u8; 4]> { at: 256, len: 3, of: PhantomData };
        assert!(slice.holds(0).is_ok() && slice.holds(3).is_ok());
        let text = slice.holds(4).unwrap_err().to_string();
        assert_eq!(text, "4 numbers do not fit into 3 on the GPU");
        let bytes = slice.bytes();
        assert_eq!((bytes.at(), bytes.len), (256, 12));
    }
}
