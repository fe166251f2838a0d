//! What there is of NVIDIA's libraries and GPUs, without opening any.

use cudarc::driver::CudaContext;

/// A library that the device needs.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Library {
    /// What it is, with the name of its file.
    pub name: &'static str,
    /// Its version, where it can be loaded.
    pub version: Option<String>,
    /// How to get it.
    pub how: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    pub name: String,
    /// Its compute capability, such as `9.0`.
    pub capability: String,
    /// Bytes of memory: all, and free.
    pub memory: (usize, usize),
    /// How many processors it has.
    pub processors: usize,
}

impl std::fmt::Display for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, capability, memory: (all, free), processors } = self;
        let gib = |bytes: usize| bytes as f64 / (1u64 << 30) as f64;
        let (all, free) = (gib(*all), gib(*free));
        write!(
            f,
            "{name}, compute capability {capability}, {processors} processors, {all:.0} GiB \
             ({free:.0} GiB free)"
        )
    }
}

const HOW: [(&str, &str); 3] = [
    ("the NVIDIA driver (libcuda)", "install the driver of the GPU, such as nvidia-driver-580"),
    (
        "NVRTC (libnvrtc)",
        "install cuda-nvrtc-13-0, or pip's nvidia-cuda-nvrtc and add its folder to LD_LIBRARY_PATH",
    ),
    (
        "cuDNN 9 (libcudnn)",
        "install libcudnn9-cuda-13, or pip's nvidia-cudnn-cu13 and add its folder to \
         LD_LIBRARY_PATH",
    ),
];

/// The libraries, found or not.
pub fn libraries() -> Vec<Library> {
    // SAFETY: loading a library of NVIDIA's runs nothing but its own start; versions are asked only
    // of those that are there.
    let versions = unsafe {
        [
            cudarc::driver::sys::is_culib_present().then(|| driver_version()),
            cudarc::nvrtc::sys::is_culib_present().then(|| nvrtc_version()),
            cudarc::cudnn::sys::is_culib_present().then(|| cudnn_version()),
        ]
    };
    let all = HOW.into_iter().zip(versions);
    all.map(|((name, how), version)| Library { name, version, how }).collect()
}

/// 13000 as 13.0.
fn dotted(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

unsafe fn driver_version() -> String {
    let mut version = 0;
    // SAFETY: the library is there, and the place is ours.
    unsafe { cudarc::driver::sys::cuDriverGetVersion(&mut version) };
    // The driver's own number stands in a file that it keeps.
    let own = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let number = |word: &&str| word.split('.').count() > 1 && word.as_bytes()[0].is_ascii_digit();
    match own.split_whitespace().find(number) {
        Some(own) => format!("{own}, for CUDA up to {}", dotted(version)),
        None => format!("for CUDA up to {}", dotted(version)),
    }
}

unsafe fn nvrtc_version() -> String {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: as above.
    unsafe { cudarc::nvrtc::sys::nvrtcVersion(&mut major, &mut minor) };
    format!("{major}.{minor}")
}

unsafe fn cudnn_version() -> String {
    // SAFETY: as above.
    let version = unsafe { cudarc::cudnn::sys::cudnnGetVersion() };
    format!("{}.{}.{}", version / 10_000, version % 10_000 / 100, version % 100)
}

/// The libraries that are missing.
pub fn missing() -> Vec<Library> {
    libraries().into_iter().filter(|library| library.version.is_none()).collect()
}

/// The GPUs, or why they cannot be asked.
pub fn gpus() -> Result<Vec<Gpu>, String> {
    // SAFETY: as above.
    if !unsafe { cudarc::driver::sys::is_culib_present() } {
        return Ok(Vec::new());
    }
    let told = |error: cudarc::driver::DriverError| format!("{error:?}");
    let count = CudaContext::device_count().map_err(told)?;
    let gpu = |number: i32| {
        use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let context = CudaContext::new(usize::try_from(number).unwrap_or(0))?;
        let (major, minor) = context.compute_capability()?;
        let (free, all) = context.mem_get_info()?;
        let processors = context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Gpu {
            name: context.name()?,
            capability: format!("{major}.{minor}"),
            memory: (all, free),
            processors: usize::try_from(processors).unwrap_or(0),
        })
    };
    (0..count).map(gpu).collect::<Result<_, _>>().map_err(told)
}
