//! Files that appear whole or not at all.
//!
//! A file is written beside its place under a random name that no other file has, and then renamed.
//! A process that is killed leaves the old file or the new one, and perhaps a temporary one, whose
//! name begins with [`TEMPORARY`]; after an error nothing is left. A writer locks its temporary file,
//! so that [`remove_orphans`] knows those that nobody writes any more.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
    /// It is a folder, a pipe or a device.
    #[error("{} is not a regular file, so it cannot be replaced", .path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// A folder with files of another kind.
    #[error("{} holds other files than {of}", .path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// What was to be written into it.
        of: String,
    },
    /// It lies in a store of runs.
    #[error("{} lies in the store {}, and outputs are never written into a store", .path.display(), .store.display())]
    InStore {
        /// The file.
        path: PathBuf,
        /// The store.
        store: PathBuf,
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
    let file = builder.tempfile_in(folder)?;
    // Where there are no locks, age alone tells orphans.
    let _ = file.as_file().try_lock();
    let mut out = BufWriter::with_capacity(1 << 18, file);
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

/// A writer locks its file sooner than this after it made it.
const MOMENT: Duration = Duration::from_secs(60);
/// Nothing takes so long to write.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the temporary files in a folder that nobody writes any more: those whose lock is free, and
/// where the file system has no locks those of yesterday. What cannot be looked at stays.
pub fn remove_orphans(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMPORARY))
    {
        if is_orphan(&entry.path()).unwrap_or(false) {
            // Another process may have done it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_orphan(path: &Path) -> io::Result<bool> {
    let metadata = path.symlink_metadata()?;
    let age = SystemTime::now().duration_since(metadata.modified()?).unwrap_or_default();
    if !metadata.is_file() || age < MOMENT {
        return Ok(false);
    }
    match File::open(path)?.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(_)) => Ok(age > DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orphans_go_and_what_is_being_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * DAY;
        let make = |name: &str, when: SystemTime| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(when).unwrap();
            file
        };
        drop(make(".dissensus-left", old));
        drop(make(".dissensus-new", SystemTime::now()));
        drop(make("votes.csv", old));
        let written = make(".dissensus-written", old);
        written.try_lock().unwrap();
        let names = || {
            remove_orphans(folder.path());
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(), [".dissensus-new", ".dissensus-written", "votes.csv"]);
        drop(written);
        assert_eq!(names(), [".dissensus-new", "votes.csv"]);
        // A writer's file is locked while it is written.
        write_file(&folder.path().join("b.csv"), Existing::Keep, Durability::Process, |out| {
            out.get_ref().as_file().set_modified(old)?;
            assert_eq!(names().len(), 3);
            Ok::<(), io::Error>(())
        })
        .unwrap();
        assert_eq!(names(), [".dissensus-new", "b.csv", "votes.csv"]);
    }

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
