//! An NVIDIA GPU, through the driver, NVRTC and cuDNN, all loaded when they are first asked for: the
//! program starts without any of them.
//!
//! Activations are N×H×W×C in bfloat16 or f32; weights, statistics, sums and everything flat are f32.
//! Convolutions are cuDNN's, everything else is in `kernels/*.cu`, compiled when the device is opened.
//! A step is captured once as a CUDA graph and then replayed: kernels find their batch by a counter on
//! the device, so that an epoch is one launch a step and no word from the host in between. Channels
//! are padded to multiples of eight, so that eight neighbours move as one.
//!
//! Algorithms are deterministic, and every sum has a fixed order: the same seed on the same card gives
//! the same bits, whatever runs beside it.

#![allow(unsafe_code)]

mod cudnn;
mod launch;
mod layout;
mod runner;

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaModule};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};

use crate::device::{Dataset, Device, Precision, Runner, Settings, State};
use crate::error::EngineError;
use crate::network::Network;

/// The kernels, in the order in which they are compiled as one source.
const SOURCES: [&str; 5] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/pictures.cu"),
    include_str!("kernels/norm.cu"),
    include_str!("kernels/flat.cu"),
    include_str!("kernels/optimizer.cu"),
];

/// One GPU.
pub struct Cuda {
    context: Arc<CudaContext>,
    /// Kernels with activations in f32 and in bfloat16.
    plain: Arc<CudaModule>,
    half: Arc<CudaModule>,
    described: String,
}

/// What an error of the driver means.
fn driver(error: cudarc::driver::DriverError) -> EngineError {
    EngineError::Device(format!("CUDA: {error:?}"))
}

/// Which of the libraries cannot be loaded, with the packages that have them.
pub fn missing() -> Vec<(&'static str, &'static str)> {
    // SAFETY: loading a library of NVIDIA's runs nothing but its own start.
    let found = unsafe {
        [
            cudarc::driver::sys::is_culib_present(),
            cudarc::nvrtc::sys::is_culib_present(),
            cudarc::cudnn::sys::is_culib_present(),
        ]
    };
    let all = [
        (
            "the NVIDIA driver (libcuda)",
            "install the driver of the card, such as nvidia-driver-580",
        ),
        (
            "NVRTC (libnvrtc)",
            "install cuda-nvrtc-13-0, or pip's nvidia-cuda-nvrtc and set LD_LIBRARY_PATH",
        ),
        (
            "cuDNN 9 (libcudnn)",
            "install libcudnn9-cuda-13, or pip's nvidia-cudnn-cu13 and set LD_LIBRARY_PATH",
        ),
    ];
    all.into_iter().zip(found).filter(|(_, found)| !found).map(|(what, _)| what).collect()
}

impl Cuda {
    /// Opens the GPU of this number and compiles the kernels for it.
    pub fn open(ordinal: usize) -> Result<Self, EngineError> {
        let missing = missing();
        if !missing.is_empty() {
            let lines: Vec<String> =
                missing.iter().map(|(what, how)| format!("{what} is not there: {how}")).collect();
            return Err(EngineError::Device(format!("no CUDA device: {}", lines.join("; "))));
        }
        let context = CudaContext::new(ordinal).map_err(driver)?;
        // Every run has a stream of its own and shares nothing that changes.
        // SAFETY: what is shared is written before any stream reads it, and synchronized.
        unsafe { context.disable_event_tracking() };
        let (major, minor) = context.compute_capability().map_err(driver)?;
        let compile = |half: bool| -> Result<Arc<CudaModule>, EngineError> {
            let options = CompileOptions {
                options: vec![
                    format!("--gpu-architecture=compute_{major}{minor}"),
                    format!("-DBF16={}", u8::from(half)),
                    "--std=c++17".into(),
                ],
                ..CompileOptions::default()
            };
            let ptx = compile_ptx_with_opts(SOURCES.concat(), options)
                .map_err(|error| EngineError::Device(format!("NVRTC: {error:?}")))?;
            context.load_module(ptx).map_err(driver)
        };
        let name = context.name().map_err(driver)?;
        let memory = context.total_mem().map_err(driver)? >> 30;
        let described = format!("{name}, {memory} GiB, compute capability {major}.{minor}");
        Ok(Self { plain: compile(false)?, half: compile(true)?, described, context })
    }

    /// How many GPUs there are; 0 where the driver is missing.
    pub fn count() -> usize {
        if missing().is_empty() {
            CudaContext::device_count().map_or(0, |count| usize::try_from(count).unwrap_or(0))
        } else {
            0
        }
    }

    fn kernels(&self, precision: Precision) -> &Arc<CudaModule> {
        match precision {
            Precision::Bf16 => &self.half,
            Precision::F32 | Precision::Tf32 => &self.plain,
        }
    }
}

impl Device for Cuda {
    fn describe(&self) -> String {
        self.described.clone()
    }

    fn runner(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<f32>,
    ) -> Result<Box<dyn Runner>, EngineError> {
        Ok(Box::new(runner::CudaRunner::new(self, network, data, settings, state)?))
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
        assert!(missing().iter().all(|(what, how)| text.contains(what) && text.contains(how)));
        assert_eq!(Cuda::count(), 0);
    }

    /// Every kernel that is started exists in the sources, and every one there is started.
    #[test]
    fn kernels_and_their_names_agree() {
        let source = SOURCES.concat();
        let defined = source.split("__global__ void ").skip(1);
        let mut defined: Vec<&str> = defined.filter_map(|rest| rest.split('(').next()).collect();
        let mut used = runner::KERNELS.to_vec();
        defined.sort_unstable();
        used.sort_unstable();
        assert_eq!(defined, used);
    }
}
