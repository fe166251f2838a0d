//! Files that appear whole or not at all.
//!
//! A file is written beside its place under a random name that no other file has, and then renamed.
//! A process that is killed leaves the old file or the new one, and perhaps a temporary one, whose
//! name begins with [`TEMPORARY`]; after an error nothing is left.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

/// Begins the names of files that are being written.
pub const TEMPORARY: &str = ".dissensus-";

/// What a file survives once it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it ends. Fast: the operating system writes when it likes.
    Process,
    /// The loss of power as well: the file and its folder are synced to the disk.
    Power,
}

/// What happens to a file that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and writing is an error of the kind [`io::ErrorKind::AlreadyExists`].
    Keep,
    /// It is replaced.
    Replace,
}

impl Existing {
    /// `Replace` where the user said so.
    pub fn replaced_if(force: bool) -> Self {
        if force { Self::Replace } else { Self::Keep }
    }
}

/// Why a file was not written. The file named is as it was before.
#[derive(Debug, Error)]
pub enum FileError {
    /// An I/O error.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// It exists, and was not to be replaced.
    #[error("{} exists already", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
}

impl FileError {
    /// An error of writing this file.
    pub fn new(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            _ => Self::Io { path, error },
        }
    }
}

/// Where [`write_file`] lets a file be written: anywhere in it, since archives go back to what they
/// wrote.
pub type Out = BufWriter<NamedTempFile>;

/// Writes a file by what `write` writes, whole or not at all.
///
/// ```
/// use std::io::Write;
/// use dissensus_io::{Durability, Existing, write_file};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.txt");
/// write_file(&path, Existing::Keep, Durability::Power, |out| out.write_all(b"whole"))?;
/// let broken = write_file(&path, Existing::Replace, Durability::Power, |out| {
///     out.write_all(b"half")?;
///     Err(std::io::Error::other("broken"))
/// });
/// assert!(broken.is_err());
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_file<E: From<io::Error>>(
    path: &Path,
    existing: Existing,
    durability: Durability,
    write: impl FnOnce(&mut Out) -> Result<(), E>,
) -> Result<(), E> {
    // Said before the work, not after it; the move below makes sure.
    if existing == Existing::Keep && path.exists() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        // As any new file: the user's umask decides, not the strictness of temporary files.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut out = BufWriter::with_capacity(1 << 18, builder.tempfile_in(folder)?);
    write(&mut out)?;
    out.flush()?;
    let file = out.into_inner().map_err(|error| error.into_error())?;
    if durability == Durability::Power {
        file.as_file().sync_all()?;
    }
    match existing {
        Existing::Replace => file.persist(path),
        Existing::Keep => file.persist_noclobber(path),
    }
    .map_err(|error| error.error)?;
    if durability == Durability::Power {
        sync_folder(folder)?;
    }
    Ok(())
}

/// Makes sure that renames in a folder are on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere folders cannot be opened, and renames are synced with their files.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_nothing_and_an_old_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let half = |out: &mut Out| {
            out.write_all(b"half")?;
            Err(io::Error::other("broken"))
        };
        for durability in [Durability::Process, Durability::Power] {
            let write = |existing, text: &'static [u8]| {
                write_file(&path, existing, durability, |out| out.write_all(text))
            };
            assert!(write_file(&path, Existing::Keep, durability, half).is_err());
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            write(Existing::Keep, b"one").unwrap();
            let second = FileError::new(&path, write(Existing::Keep, b"two").unwrap_err());
            assert!(matches!(second, FileError::Exists { .. }), "{second}");
            let broken = write_file(&path, Existing::Replace, durability, half).unwrap_err();
            assert!(FileError::new(&path, broken).to_string().ends_with("a.csv: broken"));
            assert_eq!(std::fs::read(&path).unwrap(), b"one");
            write(Existing::Replace, b"two").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"two");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
