//! An NVIDIA GPU, through the driver, NVRTC and cuDNN, all loaded when they are first asked for: the
//! program starts without any of them.
//!
//! Activations are N×H×W×C in bfloat16 or f32; weights, statistics, sums and everything flat are f32.
//! Convolutions are cuDNN's, but for some sizes that GPUs of compute capability 9.0 have kernels of ours
//! for, and for those in f32 by bfloat16 parts; everything else is in `kernels/*.cu`, compiled when the device is opened.
//! A step is captured once as a CUDA graph and then replayed: kernels find their batch by a counter on
//! the device, so that an epoch is one launch per step and no word from the host in between. Channels
//! are padded to multiples of eight, so that eight neighbours move as one.
//!
//! Algorithms are deterministic, and every sum has a fixed order: the same seed on the same GPU gives
//! the same bits, whatever runs beside it.

#![allow(unsafe_code)]

mod bf16x3;
mod cudnn;
mod detect;
mod hopper;
mod kernels;
mod lanes;
mod launch;
mod layout;
mod norm_work;
mod runner;
mod turns;

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DriverError};

use crate::device::{Dataset, Device, Precision, Runner, Settings, State};
use crate::error::EngineError;
use crate::network::Network;
use bf16x3::Bf16x3;
use cudnn::Plans;
use hopper::Hopper;
use launch::{DeviceSlice, Module, Pointer};
use runner::CudaRunner;
use turns::Turns;

pub use detect::{Gpu, Library, gpus, libraries, missing};

/// The kernels, in the order in which they are compiled as one source.
const SOURCES: [&str; 8] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/images.cu"),
    include_str!("kernels/norm.cu"),
    include_str!("kernels/flat.cu"),
    include_str!("kernels/losses/binary_cross_entropy.cu"),
    include_str!("kernels/losses/rps.cu"),
    include_str!("kernels/labels.cu"),
    include_str!("kernels/optimizer.cu"),
];

/// The language of the kernels.
const NVRTC_STANDARD: &str = "--std=c++17";

/// One GPU.
pub struct Cuda {
    context: Arc<CudaContext>,
    /// Kernels with activations in f32 and in bfloat16.
    plain: Arc<Module>,
    half: Arc<Module>,
    /// Convolutions of ours, compiled and chosen when a run first asks; none on other GPUs.
    hopper: Option<Mutex<Option<Arc<Hopper>>>>,
    /// Those by bfloat16 parts, likewise.
    bf16x3: Mutex<Option<Arc<Bf16x3>>>,
    capability: (i32, i32),
    /// Data sets that are on the GPU, which runs share.
    data: Mutex<Vec<Arc<Resident>>>,
    /// How convolutions are done here.
    plans: Arc<Plans>,
    /// Held by every run, too.
    runs: Arc<()>,
    turns: Arc<Turns>,
    /// Whether it was opened for several runs at a time.
    shared: bool,
    described: String,
}

/// The numbers of a data set on the GPU, and those of the host that they are a copy of.
struct Resident {
    of: Numbers,
    #[allow(dead_code)] // Kept for its memory.
    slice: CudaSlice<u8>,
    at: Pointer,
}

#[derive(Clone)]
enum Numbers {
    Bytes(Arc<[u8]>),
    Floats(Arc<[f32]>),
}

impl Numbers {
    fn of(data: &Dataset) -> Self {
        match data {
            Dataset::Images { pixels, .. } => Self::Bytes(pixels.clone()),
            Dataset::Vectors { values, .. } => Self::Floats(values.clone()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Bytes(values) => values.len(),
            Self::Floats(values) => 4 * values.len(),
        }
    }

    /// Whether these are the same numbers, not only equal ones.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => Arc::ptr_eq(a, b),
            (Self::Floats(a), Self::Floats(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// What an error of the driver means.
fn driver(error: DriverError) -> EngineError {
    match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            let (free, total) = cudarc::driver::result::mem_get_info().unwrap_or_default();
            EngineError::Memory { needed: None, free: free as u64, total: total as u64 }
        }
        _ => EngineError::Device(format!("CUDA: {error:?}")),
    }
}

/// Memory of zeros on the GPU.
fn zeros(stream: &Arc<CudaStream>, bytes: usize) -> Result<CudaSlice<u8>, EngineError> {
    stream.alloc_zeros(bytes.max(16)).map_err(|error| match driver(error) {
        EngineError::Memory { free, total, .. } => {
            EngineError::Memory { needed: Some(bytes as u64), free, total }
        }
        other => other,
    })
}

impl Cuda {
    /// Opens the GPU of this number, for several runs at a time, and compiles the kernels for it.
    pub fn open(ordinal: usize) -> Result<Self, EngineError> {
        Self::open_for(ordinal, true)
    }

    /// Opens it for one run at a time, which it then computes in another way, and sooner. Several runs
    /// still work, but get less done together.
    pub fn open_exclusive(ordinal: usize) -> Result<Self, EngineError> {
        Self::open_for(ordinal, false)
    }

    fn open_for(ordinal: usize, shared: bool) -> Result<Self, EngineError> {
        let missing = missing();
        if !missing.is_empty() {
            let line = |l: &Library| format!("{} is not there: {}", l.name, l.how);
            let lines: Vec<String> = missing.iter().map(line).collect();
            return Err(EngineError::Device(format!("no CUDA device: {}", lines.join("; "))));
        }
        let context = CudaContext::new(ordinal).map_err(driver)?;
        // Every run has a stream of its own and shares nothing that changes.
        // SAFETY: what is shared is written before any stream reads it, and synchronized.
        unsafe { context.disable_event_tracking() };
        let (major, minor) = context.compute_capability().map_err(driver)?;
        let architecture = format!("{major}{minor}");
        let compile = |half: bool| -> Result<Arc<Module>, EngineError> {
            let definitions = [format!("-DBF16={}", u8::from(half))];
            let gpu = (architecture.as_str(), major);
            Module::compile(&context, SOURCES.concat(), gpu, &definitions).map(Arc::new)
        };
        let name = context.name().map_err(driver)?;
        let memory = context.total_mem().map_err(driver)? >> 30;
        let alone = if shared { "" } else { ", for one run alone" };
        let described = format!("{name}, {memory} GiB, compute capability {major}.{minor}{alone}");
        let (plain, half) = (compile(false)?, compile(true)?);
        let (data, runs) = (Mutex::new(Vec::new()), Arc::new(()));
        let plans = Arc::new(Plans::new(&described, shared));
        let hopper = ((major, minor) == (9, 0)).then(Mutex::default);
        let (bf16x3, capability) = (Mutex::default(), (major, minor));
        let turns = Arc::default();
        Ok(Self {
            plain,
            half,
            hopper,
            bf16x3,
            capability,
            data,
            plans,
            runs,
            turns,
            shared,
            described,
            context,
        })
    }

    /// Takes what [`Device::learned`] gave before, so that it need not be learned again.
    pub fn recall(&self, learned: &str) {
        self.plans.take(learned);
    }

    /// How many GPUs there are; 0 where the driver is missing.
    pub fn count() -> usize {
        if missing().is_empty() {
            CudaContext::device_count().map_or(0, |count| usize::try_from(count).unwrap_or(0))
        } else {
            0
        }
    }

    /// The numbers of a data set on the GPU: one copy for all runs, as long as one uses it.
    fn resident(&self, data: &Dataset) -> Result<Arc<Resident>, EngineError> {
        use cudarc::driver::DevicePtr;
        let of = Numbers::of(data);
        let mut known = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|resident| Arc::strong_count(resident) > 1);
        if let Some(resident) = known.iter().find(|resident| resident.of.is(&of)) {
            return Ok(resident.clone());
        }
        let stream = self.context.new_stream().map_err(driver)?;
        let slice = zeros(&stream, of.bytes())?;
        let at = slice.device_ptr(&stream).0;
        match &of {
            Numbers::Bytes(values) => {
                launch::write(&stream, DeviceSlice::within(&slice, &stream), values)?;
            }
            Numbers::Floats(values) => {
                launch::write(&stream, DeviceSlice::within(&slice, &stream), values)?;
            }
        }
        // Other streams read it.
        stream.synchronize().map_err(driver)?;
        let resident = Arc::new(Resident { of, slice, at });
        known.push(resident.clone());
        Ok(resident)
    }

    /// A stream to train on. Of a run alone, it goes before the evaluation beside it, which fills what
    /// training leaves idle; of several, none goes before another.
    fn training_stream(&self) -> Result<Arc<CudaStream>, EngineError> {
        if self.shared {
            return self.context.new_stream().map_err(driver);
        }
        self.context.bind_to_thread().map_err(driver)?;
        let (_, first) = cudarc::driver::result::stream::get_priority_range().map_err(driver)?;
        self.context.new_stream_with_priority(first).map_err(driver)
    }

    /// Convolutions of ours for a run in this precision, where there are any.
    fn hopper(&self, precision: Precision) -> Result<Option<Arc<Hopper>>, EngineError> {
        let Some(made) = self.hopper.as_ref().filter(|_| precision == Precision::Bf16) else {
            return Ok(None);
        };
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_none() {
            *made = Some(Arc::new(self.chosen(Hopper::new(&self.context)?)?));
        }
        Ok(made.clone().filter(|hopper| hopper.is_used()))
    }

    /// Convolutions by bfloat16 parts for a run in this precision.
    fn bf16x3(&self, precision: Precision) -> Result<Option<Arc<Bf16x3>>, EngineError> {
        if precision != Precision::Bf16x3 {
            return Ok(None);
        }
        let mut made = self.bf16x3.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_none() {
            *made = Some(Arc::new(Bf16x3::new(&self.context, self.capability)?));
        }
        Ok(made.clone())
    }

    fn kernels(&self, precision: Precision) -> &Arc<Module> {
        match precision {
            Precision::Bf16 => &self.half,
            Precision::F32 | Precision::Tf32 | Precision::Bf16x3 => &self.plain,
        }
    }
}

impl Device for Cuda {
    fn describe(&self) -> String {
        self.described.clone()
    }

    fn libraries(&self) -> Option<String> {
        let of = |l: Library| Some(format!("{} {}", l.name, l.version?));
        Some(libraries().into_iter().filter_map(of).collect::<Vec<_>>().join("; "))
    }

    fn computes_in(&self, precision: Precision) -> bool {
        precision != Precision::Bf16x3 || self.capability.0 >= bf16x3::CAPABILITY
    }

    fn runner(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<f32>,
    ) -> Result<Box<dyn Runner>, EngineError> {
        Ok(Box::new(CudaRunner::new(self, (network, data), settings, state, None)?))
    }

    fn learned(&self) -> Option<String> {
        self.plans.text()
    }

    fn best_lanes(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        most: usize,
        seen: &mut dyn FnMut(usize, f64),
    ) -> Result<Option<usize>, EngineError> {
        self.measure_lanes(network, data, settings, most, seen).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_libraries_it_says_what_is_missing() {
        if missing().is_empty() {
            return;
        }
        let Err(error) = Cuda::open(0) else { unreachable!("opened without its libraries") };
        let text = error.to_string();
        assert!(missing().iter().all(|l| text.contains(l.name) && text.contains(l.how)));
        assert_eq!(Cuda::count(), 0);
    }
}
