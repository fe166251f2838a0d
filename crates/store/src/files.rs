//! The store's files: replaced whole, read, listed and removed. A process that is killed may leave
//! a temporary file, which the next process to begin the run removes.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use dissensus_io::{Durability, Existing, FileError, Out, TEMPORARY, write_file, write_output};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{FORMAT, StoreError, canonical};

/// Replaces a file by what `write` writes.
pub(crate) fn replace(
    path: &Path,
    durability: Durability,
    write: impl FnOnce(&mut Out) -> io::Result<()>,
) -> Result<(), StoreError> {
    write_file(path, Existing::Replace, durability, write)
        .map_err(|error| StoreError::io("writing", path, error))
}

/// Replaces a file outside of a store, and makes its folder where there is none: for what is kept
/// beside one.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| StoreError::io("making", folder, error))?;
    }
    replace(path, Durability::Power, |out| out.write_all(bytes))
}

/// Writes a file that a user asked for; one that exists is only replaced by `force`.
pub fn write_output_file(path: &Path, bytes: &[u8], force: bool) -> Result<(), StoreError> {
    let fail = |error| FileError::new(path, error).into();
    write_output(path, Existing::replaced_if(force), |out| out.write_all(bytes).map_err(fail))
}

/// Makes sure that renames in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    dissensus_io::sync_folder(folder).map_err(|error| StoreError::io("syncing", folder, error))
}

/// Replaces a file by a value as indented JSON.
pub(crate) fn write_json(
    path: &Path,
    value: &impl Serialize,
    durability: Durability,
) -> Result<(), StoreError> {
    replace(path, durability, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// What a sealed JSON file holds: a value, and the digest of it without this key.
#[derive(Serialize)]
struct Sealed<'a, T> {
    #[serde(flatten)]
    value: &'a T,
    sha256: String,
}

/// Replaces a file by an object as indented JSON that carries its own digest.
pub(crate) fn write_sealed(
    path: &Path,
    value: &impl Serialize,
    durability: Durability,
) -> Result<(), StoreError> {
    let plain = serde_json::to_value(value);
    let plain = plain.map_err(|error| StoreError::Json { path: path.to_owned(), error })?;
    write_json(path, &Sealed { value, sha256: canonical::digest(&plain) }, durability)
}

/// The object in a JSON file, whose digest must be the one that it carries. Only those that were written
/// before there were any may carry none.
pub(crate) fn read_sealed(
    path: &Path,
    may_be_open: impl FnOnce(&Value) -> bool,
) -> Result<Value, StoreError> {
    unseal(path, read_json(path)?, may_be_open)
}

fn unseal(
    path: &Path,
    mut value: Value,
    may_be_open: impl FnOnce(&Value) -> bool,
) -> Result<Value, StoreError> {
    let seal = value.as_object_mut().and_then(|object| object.remove("sha256"));
    let Some(seal) = seal else {
        return match may_be_open(&value) {
            true => Ok(value),
            false => {
                Err(StoreError::foreign(path, "it has no checksum, and this version writes one"))
            }
        };
    };
    match canonical::digest(&value) {
        found if seal == found.as_str() => Ok(value),
        found => {
            let expected = seal.as_str().map_or_else(|| seal.to_string(), str::to_owned);
            Err(StoreError::Damaged { path: path.to_owned(), expected, found })
        }
    }
}

/// A file's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|error| StoreError::io("reading", path, error))
}

/// A file's bytes; `None` where it does not exist.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("reading", path, error)),
    }
}

/// The SHA-256 of bytes, in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(u32::from(four), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Passes bytes on, and knows their SHA-256.
struct Hashed<'a> {
    out: &'a mut Out,
    hash: Sha256,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Replaces a file by what `write` writes, and gives its SHA-256.
pub(crate) fn replace_hashed(
    path: &Path,
    durability: Durability,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<String, StoreError> {
    let mut sha256 = String::new();
    replace(path, durability, |out| {
        let mut hashed = Hashed { out, hash: Sha256::new() };
        write(&mut hashed)?;
        sha256 = hex(&hashed.hash.finalize());
        Ok(())
    })?;
    Ok(sha256)
}

/// That a file's bytes have this checksum.
pub(crate) fn check(path: &Path, bytes: &[u8], expected: &str) -> Result<(), StoreError> {
    let found = sha256(bytes);
    match found == expected {
        true => Ok(()),
        false => {
            let (path, expected) = (path.to_owned(), expected.to_owned());
            Err(StoreError::Damaged { path, expected, found })
        }
    }
}

/// The value in a JSON file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    parse(path, &read(path)?)
}

/// The value in a JSON file that says its format; a newer one is refused before it is read.
pub(crate) fn read_versioned<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    versioned(path, &read(path)?)
}

/// The value in the bytes of such a file.
pub(crate) fn versioned<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, StoreError> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        format: u64,
    }
    // A newer one may be sealed in another way.
    let old = |value: &Value| value["format"].as_u64().is_none_or(|format| format != FORMAT);
    let value = unseal(path, parse(path, bytes)?, old)?;
    let json = |error| StoreError::Json { path: path.to_owned(), error };
    let format = serde::Deserialize::deserialize(&value).map(|v: Versioned| v.format);
    match format.map_err(json)? {
        found if found > FORMAT => Err(StoreError::Newer { path: path.to_owned(), found }),
        _ => serde_json::from_value(value).map_err(json),
    }
}

pub(crate) fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::Json { path: path.to_owned(), error })
}

/// Removes a file or folder with all that is in it; nothing there is fine.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    let gone = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match gone {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("removing", path, error))
        }
        _ => Ok(()),
    }
}

/// The names in a folder, sorted; none where it does not exist.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let fail = |error| StoreError::io("listing", folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(error)),
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        Ok(entry.map_err(fail)?.file_name().to_string_lossy().into_owned())
    };
    let mut names = entries.map(name).collect::<Result<Vec<_>, StoreError>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Removes what processes that were killed while writing left in a folder. The caller holds the
/// lock that keeps others from writing there.
pub(crate) fn sweep(folder: &Path) -> Result<(), StoreError> {
    let names = names(folder)?;
    let mut left = names.iter().filter(|name| name.starts_with(TEMPORARY));
    left.try_for_each(|name| remove(&folder.join(name)))
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeping_takes_temporary_files_only() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".dissensus-x1", "a.json", ".hidden"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        sweep(folder.path()).unwrap();
        assert_eq!(names(folder.path()).unwrap(), [".hidden", "a.json"]);
        sweep(&folder.path().join("absent")).unwrap();
    }
}
