//! Files that are written as a whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

use dissensus::io::{Durability, Existing, FileError, Out, write_file};

/// Replaces a file by what `fill` writes; its folder is created if needed.
pub(crate) fn replace(
    path: &Path,
    fill: impl FnOnce(&mut Out) -> io::Result<()>,
) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    write_file(path, Existing::Replace, Durability::Process, fill)
}

/// Writes a file that the user asked for; one that exists is only replaced by `force`.
pub(crate) fn write(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut Out) -> io::Result<()>,
) -> Result<(), FileError> {
    let existing = Existing::replaced_if(force);
    write_file(path, existing, Durability::Power, fill).map_err(|error| FileError::new(path, error))
}

/// Writes a text that the user asked for as a file.
pub(crate) fn write_text(path: &Path, force: bool, text: &str) -> Result<(), FileError> {
    write(path, force, |out| out.write_all(text.as_bytes()))
}
