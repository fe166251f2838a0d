//! Files that the user asked for: written as a whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

use dissensus_io::{Durability, Existing, FileError, Out, write_file};

/// Writes a file by what `fill` writes; one that exists is only replaced by `force`.
pub fn write(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut Out) -> io::Result<()>,
) -> Result<(), FileError> {
    let existing = Existing::replaced_if(force);
    write_file(path, existing, Durability::Power, fill).map_err(|error| FileError::new(path, error))
}

/// Writes a text; a file that exists is only replaced by `force`.
pub fn write_text(path: &Path, force: bool, text: &str) -> Result<(), FileError> {
    write(path, force, |out| out.write_all(text.as_bytes()))
}

/// Writes a file, or replaces it; its folder is made if needed.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| FileError::new(folder, error))?;
    }
    write_file(path, Existing::Replace, Durability::Process, |out| out.write_all(bytes))
        .map_err(|error| FileError::new(path, error))
}

/// Fails before long work if a file exists that may not be replaced.
pub fn check_free(path: Option<&Path>, force: bool) -> Result<(), FileError> {
    match path.filter(|path| !force && path.exists()) {
        Some(path) => Err(FileError::Exists { path: path.to_owned() }),
        None => Ok(()),
    }
}

/// A name as part of a file name, with another character for what may not be in it.
pub(crate) fn plain_name(name: &str, other: char) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { other };
    name.chars().map(plain).collect()
}
