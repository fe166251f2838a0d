//! Digests of files in the cache that were computed before, so that a file is hashed when it is first
//! used and not at every use: `.verified.json` in the cache directory has the SHA-256 of each by its
//! size, its time of change and its inode. A file that has others is hashed again.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use dissensus_io::{Durability, Existing, write_file};
use serde::{Deserialize, Serialize};

use crate::digest;

const FILE: &str = ".verified.json";

/// What a file is known again by, and its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    bytes: u64,
    /// Seconds and nanoseconds since 1970.
    changed: (u64, u32),
    inode: u64,
    sha256: String,
}

impl Known {
    fn new(about: &Metadata, sha256: String) -> io::Result<Self> {
        let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(about);
        #[cfg(not(unix))]
        let inode = 0;
        let changed = (changed.as_secs(), changed.subsec_nanos());
        Ok(Self { bytes: about.len(), changed, inode, sha256 })
    }
}

/// The SHA-256 of a file below the cache directory.
pub(crate) fn sha256(cache_dir: &Path, file: &str) -> io::Result<String> {
    let (path, list) = (cache_dir.join(file), cache_dir.join(FILE));
    let read = || -> Option<BTreeMap<String, Known>> {
        serde_json::from_slice(&std::fs::read(&list).ok()?).ok()
    };
    let about = path.metadata()?;
    if let Some(known) = read().and_then(|mut all| all.remove(file))
        && Known::new(&about, known.sha256.clone())? == known
    {
        return Ok(known.sha256);
    }
    let sha256 = digest::of_file(&path)?.sha256;
    // Read again: another process may have added to it meanwhile.
    let mut all = read().unwrap_or_default();
    all.insert(file.to_owned(), Known::new(&about, sha256.clone())?);
    // Not every cache can be written to; then it is hashed again the next time.
    let _: io::Result<()> = write_file(&list, Existing::Replace, Durability::Process, |out| {
        serde_json::to_writer(&mut *out, &all)?;
        out.flush()
    });
    Ok(sha256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_hashed_once_until_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.bin");
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(&path, b"abc").unwrap();
        let first = sha256(dir.path(), "a/b.bin").unwrap();
        assert_eq!(&first[..8], "ba7816bf");
        // The same size, time and inode: not looked at again.
        let changed = path.metadata().unwrap().modified().unwrap();
        fs::write(&path, b"abd").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        assert_eq!(sha256(dir.path(), "a/b.bin").unwrap(), first);
        let later = changed + std::time::Duration::from_secs(1);
        fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_ne!(sha256(dir.path(), "a/b.bin").unwrap(), first);
        // A list that is damaged is made anew.
        fs::write(dir.path().join(FILE), b"{").unwrap();
        assert_ne!(sha256(dir.path(), "a/b.bin").unwrap(), first);
        assert!(sha256(dir.path(), "a/c.bin").is_err());
    }
}
