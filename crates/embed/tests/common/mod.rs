//! Golden models, and copies of them to be changed.

#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

pub(crate) fn golden(name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder(name)).unwrap()).unwrap()
}

/// A copy of a golden model, without what was expected of it.
pub(crate) fn copy(name: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(folder(name)).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    copy
}

/// Changes a JSON file.
pub(crate) fn edit(folder: &Path, name: &str, change: impl Fn(&mut Value)) {
    let path = folder.join(name);
    let mut json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut json);
    fs::write(path, json.to_string()).unwrap();
}

/// Numbers from −1 to 1 that look random: a hash of their place. `reference/embed/vit.py` has the
/// same.
pub(crate) fn spread(count: usize, stream: u32) -> Vec<f32> {
    let one = |at: u32| {
        let mut h = at.wrapping_mul(2_654_435_761).wrapping_add(stream.wrapping_mul(40_503));
        h = h.wrapping_add(12_345);
        h ^= h >> 15;
        h = h.wrapping_mul(2_246_822_519);
        h ^= h >> 13;
        (h >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count as u32).map(one).collect()
}
