//! The place of one file in the cache, and the steps by which bytes come to it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use dissensus_io::sync_folder;

use super::progress::Transfer;
use crate::Error;
use crate::digest::{CHUNK, Tally};

/// A destination, the part file beside it, and the note that makes the part resumable.
///
/// They lie in one directory, hence on one file system, so that the rename is atomic.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) dest: PathBuf,
    pub(super) part: PathBuf,
    pub(super) note: PathBuf,
}

impl Place {
    pub(super) fn new(cache_dir: &Path, file: &str) -> Self {
        Place {
            dest: cache_dir.join(file),
            part: cache_dir.join(format!("{file}.part")),
            note: cache_dir.join(format!("{file}.part.json")),
        }
    }

    /// Makes the directory it lies in.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        let Some(parent) = self.dest.parent() else {
            return Ok(());
        };
        fs::create_dir_all(parent).map_err(|e| Error::io("creating the directory", parent, e))
    }

    /// A part file with nothing in it, in the place of one that is there; a link is not followed.
    pub(super) fn create_part(&self) -> Result<File, Error> {
        self.remove(&self.part);
        File::create_new(&self.part).map_err(|e| Error::io("creating", &self.part, e))
    }

    /// Puts the part on the disk and renames it to its destination.
    pub(super) fn commit(&self, part: &File) -> Result<(), Error> {
        self.sync(part)?;
        fs::rename(&self.part, &self.dest)
            .map_err(|e| Error::io("renaming a finished download to", &self.dest, e))?;
        self.remove(&self.note);
        // The rename itself must survive a crash.
        let Some(folder) = self.dest.parent() else { return Ok(()) };
        sync_folder(folder).map_err(|e| Error::io("syncing", folder, e))
    }

    pub(super) fn sync(&self, part: &File) -> Result<(), Error> {
        part.sync_all().map_err(|e| Error::io("writing", &self.part, e))
    }

    /// Removes part and note.
    pub(super) fn discard(&self) {
        self.remove(&self.part);
        self.remove(&self.note);
    }

    fn remove(&self, path: &Path) {
        // Mostly the file is simply not there; and an error here would hide the one that
        // made us discard it. A left-over part is never mistaken for the file.
        let _ = fs::remove_file(path);
    }
}

/// Why pouring stopped early.
pub(super) enum Spill {
    /// The source failed.
    Read(io::Error),
    /// The cache failed.
    Write(Error),
    /// The source has more than it may.
    TooLong,
}

/// Writes what a reader gives to a part, hashing it, until its end or until there is more than
/// `limit` in all.
pub(super) fn pour(
    mut from: impl Read,
    into: &mut File,
    place: &Place,
    tally: &mut Tally,
    limit: u64,
    transfer: &Transfer<'_>,
) -> Result<(), Spill> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Spill::Read(e)),
        };
        if tally.bytes() + n as u64 > limit {
            return Err(Spill::TooLong);
        }
        into.write_all(&buffer[..n])
            .map_err(|e| Spill::Write(Error::io("writing", &place.part, e)))?;
        tally.update(&buffer[..n]);
        transfer.advance(tally.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the folder cannot be synced, as it cannot be read, the download is not said to be on the disk.
    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_not_synced_is_an_error() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let mode =
            |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        let place = Place::new(folder.path(), "votes.csv");
        let part = place.create_part().unwrap();
        mode(0o300);
        // The superuser may read any folder.
        let readable = File::open(folder.path()).is_ok();
        let committed = place.commit(&part);
        mode(0o700);
        assert_eq!(committed.is_ok(), readable, "{committed:?}");
        assert!(place.dest.exists());
        if let Err(error) = committed {
            assert!(error.to_string().contains("syncing"), "{error}");
        }
    }
}
