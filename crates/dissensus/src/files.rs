//! Files that the user asked for: written as a whole or not at all, over nothing that was to stay, and never
//! into a store.

use std::io::{self, Write as _};
use std::path::Path;

use dissensus_io::{Existing, FileError, Out, write_output};

pub use dissensus_io::check_outside;

/// Writes a file by what `fill` writes; one that exists is only replaced by `force`.
pub fn write(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut Out) -> io::Result<()>,
) -> Result<(), FileError> {
    write_output(path, Existing::replaced_if(force), |out| {
        fill(out).map_err(|error| FileError::new(path, error))
    })
}

/// Writes these bytes; a file that exists is only replaced by `force`.
pub fn write_bytes(path: &Path, force: bool, bytes: &[u8]) -> Result<(), FileError> {
    write(path, force, |out| out.write_all(bytes))
}

/// Fails before long work if a file may not be written: it exists, or lies in a store.
pub fn check_free(path: Option<&Path>, force: bool) -> Result<(), FileError> {
    path.map_or(Ok(()), |path| dissensus_io::check_output(path, Existing::replaced_if(force)))
}

/// A name as part of a file name, with another character for what may not be in it.
pub(crate) fn plain_name(name: &str, other: char) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { other };
    name.chars().map(plain).collect()
}
