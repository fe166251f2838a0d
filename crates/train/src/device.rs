//! A device by its name, and what it found out about itself, kept from one start of the program to
//! the next: without it a run could be computed in another way tomorrow, and the first minute would
//! be spent on finding out.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dissensus_engine::{Cpu, Cuda, Device, EngineError};
use dissensus_store::replace_file;
use thiserror::Error;

/// The end of the name of a GPU that trains one run at a time.
const EXCLUSIVE: &str = ":exclusive";

/// Why a device cannot be opened.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// No device has this name.
    #[error(
        "there is no device {name:?}; expected auto, cpu, cuda, or a GPU by its number as in \
         cuda:1; for a GPU that does one run at a time, cuda:exclusive or cuda:1:exclusive"
    )]
    Unknown {
        /// What came.
        name: String,
    },
    /// A device that is not there, or cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A device that was opened by its name.
pub struct OpenDevice {
    device: Box<dyn Device>,
    is_gpu: bool,
    cache: Option<PathBuf>,
    /// Held while something is kept: of two, the later one has all.
    keeping: Mutex<()>,
}

impl OpenDevice {
    /// The CPU.
    pub fn cpu() -> Self {
        Self::of(Box::new(Cpu))
    }

    /// A device of the caller's own, of which nothing is kept.
    pub fn of(device: Box<dyn Device>) -> Self {
        Self { device, is_gpu: false, cache: None, keeping: Mutex::default() }
    }

    /// The device of this name: `auto` (the first GPU, or else the CPU), `cpu`, `cuda` (the first
    /// GPU), `cuda:1`; with `:exclusive` at the end a GPU trains one run at a time.
    ///
    /// What a GPU finds out about itself is kept in the folder `cache`, where one is given.
    pub fn open(name: &str, cache: Option<&Path>) -> Result<Self, DeviceError> {
        let unknown = || DeviceError::Unknown { name: name.to_owned() };
        let (wanted, exclusive) = wanted(name).ok_or_else(unknown)?;
        let number = match wanted {
            Wanted::Gpu(number) => number,
            Wanted::Auto if Cuda::count() > 0 => 0,
            Wanted::Auto | Wanted::Cpu => return Ok(Self::cpu()),
        };
        let gpu = if exclusive { Cuda::open_exclusive(number)? } else { Cuda::open(number)? };
        if let Some(text) = cache.and_then(|cache| read(&learned_path(cache, &gpu))) {
            gpu.recall(&text);
        }
        let cache = cache.map(Path::to_owned);
        Ok(Self { device: Box::new(gpu), is_gpu: true, cache, keeping: Mutex::default() })
    }

    /// Whether this can be the name of a device.
    pub(crate) fn is_name(name: &str) -> bool {
        wanted(name).is_some()
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// Whether it is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.is_gpu
    }

    /// Keeps what the device found out since the last time. Where it cannot be kept, it is found out
    /// again.
    pub fn keep_learned(&self) {
        let _keeping = self.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(cache), Some(text)) = (&self.cache, self.device.learned()) {
            let _ = replace_file(&learned_path(cache, &*self.device), text.as_bytes());
        }
    }

    /// A file of the cache folder; `None` where there is none.
    pub(crate) fn read_cache(&self, file: &str) -> Option<String> {
        read(&self.cache.as_ref()?.join(file))
    }

    pub(crate) fn write_cache(&self, file: &str, text: &str) {
        if let Some(cache) = &self.cache {
            let _ = replace_file(&cache.join(file), text.as_bytes());
        }
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        self.keep_learned();
    }
}

/// What a name asks for.
#[derive(Debug, PartialEq)]
enum Wanted {
    Cpu,
    Auto,
    Gpu(usize),
}

/// The device of a name, and whether it is for one run at a time.
fn wanted(name: &str) -> Option<(Wanted, bool)> {
    let (name, exclusive) =
        name.strip_suffix(EXCLUSIVE).map_or((name, false), |device| (device, true));
    let wanted = match name {
        "cpu" if !exclusive => Wanted::Cpu,
        "auto" => Wanted::Auto,
        "cuda" => Wanted::Gpu(0),
        other => Wanted::Gpu(other.strip_prefix("cuda:")?.parse::<u8>().ok()?.into()),
    };
    Some((wanted, exclusive))
}

fn learned_path(cache: &Path, device: &dyn Device) -> PathBuf {
    let words = device.describe().to_lowercase();
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    cache.join("cards").join(format!("{}.txt", words.join("-")))
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices() {
        assert_eq!(wanted("cpu"), Some((Wanted::Cpu, false)));
        assert_eq!(wanted("auto"), Some((Wanted::Auto, false)));
        assert_eq!(wanted("cuda"), Some((Wanted::Gpu(0), false)));
        assert_eq!(wanted("cuda:1"), Some((Wanted::Gpu(1), false)));
        assert_eq!(wanted("cuda:exclusive"), Some((Wanted::Gpu(0), true)));
        assert_eq!(wanted("cuda:1:exclusive"), Some((Wanted::Gpu(1), true)));
        for name in ["", "gpu", "cpu:exclusive", "cuda:", "cuda:x", "cuda:-1", "cuda:1:", "CPU"] {
            let Err(error) = OpenDevice::open(name, None) else { panic!("{name}") };
            assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
        }
        assert!(!OpenDevice::open("cpu", None).unwrap().is_gpu());
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Some(folder.path().join("cache"));
        let mut device = OpenDevice::cpu();
        device.cache = cache;
        assert_eq!(device.read_cache("a.json"), None);
        device.write_cache("a.json", "{}");
        assert_eq!(device.read_cache("a.json").as_deref(), Some("{}"));
    }
}
