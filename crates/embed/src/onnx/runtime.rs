//! Finds and loads ONNX Runtime, once per process.
//!
//! The library is searched in this order; the first one that loads and is new enough is used:
//!
//! 1. the file that the environment variable `ORT_DYLIB_PATH` names, and then no other place;
//! 2. the Python package `onnxruntime` of the active virtual environment (`VIRTUAL_ENV`,
//!    `CONDA_PREFIX`), of every `python3` in `PATH`, and of the user (`~/.local`);
//! 3. the folders of `LD_LIBRARY_PATH` (`DYLD_LIBRARY_PATH`), and the system's library folders.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The environment variable that names the library.
pub const LIBRARY_VARIABLE: &str = "ORT_DYLIB_PATH";

/// The oldest ONNX Runtime that is used: 1.17.
pub const OLDEST_VERSION: (u32, u32) = (1, ort::MINOR_VERSION);

/// Why there is no ONNX Runtime.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    #[error("ONNX Runtime, which runs ONNX models, was not found (searched {} folders)", searched.len())]
    NotFound {
        /// The folders, in the order of the search.
        searched: Vec<PathBuf>,
    },
    #[error(
        "{} is ONNX Runtime {version}; {}.{} or newer is needed",
        path.display(), OLDEST_VERSION.0, OLDEST_VERSION.1
    )]
    TooOld { path: PathBuf, version: String },
    #[error("ONNX Runtime cannot be loaded from {}: {problem}", path.display())]
    Unloadable { path: PathBuf, problem: String },
}

/// What decides the bits of a vector besides the model: the build of the library, in its own words.
///
/// Loads the library on the first call. A failure is not kept: the next call searches again.
pub(super) fn load() -> Result<&'static str, RuntimeError> {
    static LOADED: Mutex<bool> = Mutex::new(false);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*loaded {
        load_first(&candidates()?)?;
        *loaded = true;
    }
    Ok(ort::info())
}

/// Loads the first candidate that can be used; the error is that of the first one.
fn load_first(candidates: &[PathBuf]) -> Result<(), RuntimeError> {
    let mut first = None;
    for path in candidates {
        match load_from(path) {
            Ok(()) => return Ok(()),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or(RuntimeError::NotFound { searched: Vec::new() }))
}

fn load_from(path: &Path) -> Result<(), RuntimeError> {
    use ort::LoadDynamicError as E;
    let path = path.to_owned();
    match ort::init_from(&path) {
        Ok(environment) => {
            // Nothing is sent to anyone.
            environment.with_name("dissensus").with_telemetry(false).commit();
            Ok(())
        }
        Err(E::BadVersion { version_str, .. }) => {
            Err(RuntimeError::TooOld { path, version: version_str })
        }
        Err(E::MissingApi { .. }) => {
            Err(RuntimeError::Unloadable { path, problem: "it is another library".to_owned() })
        }
        Err(E::Dlopen { error, .. }) => {
            Err(RuntimeError::Unloadable { path, problem: error.to_string() })
        }
    }
}

/// The libraries that are there, in the order of the search; at least one.
fn candidates() -> Result<Vec<PathBuf>, RuntimeError> {
    if let Some(path) = std::env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        // A relative path is the caller's; the loader would look beside the program first.
        return Ok(vec![std::path::absolute(&path).unwrap_or(path)]);
    }
    let searched = folders();
    let found: Vec<PathBuf> = searched.iter().flat_map(|folder| libraries(folder)).collect();
    if found.is_empty() { Err(RuntimeError::NotFound { searched }) } else { Ok(found) }
}

/// The folders that may hold the library, in the order of the search.
fn folders() -> Vec<PathBuf> {
    let paths = |variable: &str| {
        let value = std::env::var_os(variable).unwrap_or_default();
        std::env::split_paths(&value).filter(|path| path.is_absolute()).collect::<Vec<_>>()
    };
    let mut prefixes = [paths("VIRTUAL_ENV"), paths("CONDA_PREFIX")].concat();
    let python = if cfg!(windows) { "python.exe" } else { "python3" };
    for folder in paths("PATH").iter().filter(|folder| folder.join(python).exists()) {
        // In Windows the program is in the prefix itself, elsewhere in its folder `bin`.
        let prefix = if cfg!(windows) { Some(folder.as_path()) } else { folder.parent() };
        prefixes.extend(prefix.map(Path::to_owned));
    }
    prefixes.extend(std::env::home_dir().map(|home| home.join(".local")));
    let mut folders: Vec<PathBuf> = prefixes.iter().flat_map(|prefix| packages(prefix)).collect();
    folders.extend(paths("LD_LIBRARY_PATH"));
    folders.extend(paths("DYLD_LIBRARY_PATH"));
    let system = [
        "/usr/local/lib",
        "/usr/lib",
        "/usr/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/opt/onnxruntime/lib",
        "/opt/homebrew/lib",
    ];
    folders.extend(system.iter().map(PathBuf::from));
    let mut once = std::collections::HashSet::new();
    folders.retain(|folder| once.insert(folder.clone()));
    folders
}

/// Where the Python package has its library, for every Python below a prefix.
fn packages(prefix: &Path) -> Vec<PathBuf> {
    let inside = |packages: PathBuf| packages.join("onnxruntime").join("capi");
    if cfg!(windows) {
        return vec![inside(prefix.join("Lib").join("site-packages"))];
    }
    let is_python = |name: &OsStr| name.to_string_lossy().starts_with("python3");
    let entries = std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
    let mut pythons: Vec<PathBuf> =
        entries.filter(|entry| is_python(&entry.file_name())).map(|entry| entry.path()).collect();
    // The newest first.
    pythons.sort_by(|a, b| b.cmp(a));
    let both = |python: PathBuf| ["site-packages", "dist-packages"].map(|name| python.join(name));
    pythons.into_iter().flat_map(both).map(inside).collect()
}

/// The files of a folder that are the library: `libonnxruntime.so`, `libonnxruntime.so.1.31.1`,
/// `libonnxruntime.1.31.1.dylib`, `onnxruntime.dll`.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let is_library = |name: &OsStr| {
        let name = name.to_string_lossy();
        if cfg!(windows) {
            return name == "onnxruntime.dll";
        }
        let rest = name.strip_prefix("libonnxruntime.").unwrap_or_default();
        if cfg!(target_os = "macos") {
            rest.ends_with("dylib")
        } else {
            rest == "so" || rest.starts_with("so.")
        }
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.filter(|entry| is_library(&entry.file_name())).map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_package_of_a_virtual_environment_is_found() {
        let prefix = tempfile::tempdir().unwrap();
        let old = prefix.path().join("lib/python3.10/site-packages/onnxruntime/capi");
        let new = prefix.path().join("lib/python3.12/site-packages/onnxruntime/capi");
        for folder in [&old, &new] {
            std::fs::create_dir_all(folder).unwrap();
        }
        for name in ["libonnxruntime.so.1.31.1", "libonnxruntime_providers_shared.so"] {
            std::fs::write(new.join(name), b"").unwrap();
        }
        let folders = packages(prefix.path());
        assert_eq!((&folders[0], &folders[2]), (&new, &old));
        assert_eq!(libraries(&new), [new.join("libonnxruntime.so.1.31.1")]);
        assert!(libraries(&old).is_empty() && packages(&old).is_empty());
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libonnxruntime.so");
        std::fs::write(&path, b"not a library").unwrap();
        let error = load_first(std::slice::from_ref(&path)).unwrap_err();
        assert!(
            matches!(&error, RuntimeError::Unloadable { path: named, .. } if *named == path),
            "{error}"
        );
        assert!(error.to_string().contains("libonnxruntime.so"), "{error}");
    }

    #[test]
    fn an_old_library_is_refused_in_words() {
        let error = RuntimeError::TooOld { path: "/x/l.so".into(), version: "1.9.0".to_owned() };
        assert_eq!(error.to_string(), "/x/l.so is ONNX Runtime 1.9.0; 1.17 or newer is needed");
    }
}
