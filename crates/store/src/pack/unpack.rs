//! A pack taken apart: every file checked, and only then anything changed in the store.
//!
//! Files go into a folder of their own inside the store, named by nobody but us: a name that is not
//! one of a run's or a study's files is refused, and so is anything that is no plain file (a link, a
//! folder), comes twice, is not in the manifest, or has other bytes. Whatever is wrong, or cut short,
//! the store stays as it was. Once all is there, [`merge`](super::merge) moves it into place.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use dissensus_io::{Lock, MOST_TIMES, most_unpacked};
use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType};

use super::merge::{self, Unpacked};
use super::{FileEntry, MANIFEST, Manifest};
use crate::layout::{RunLayout, StoreLayout, UNPACKING, is_artifact, is_plain};
use crate::lock;
use crate::{FORMAT, RunId, Store, StoreError, files};

/// The longest manifest: a million files.
const LONGEST_MANIFEST: u64 = 256 << 20;
/// What may follow the last file: the archive's own end, filled up to a block.
const LONGEST_END: u64 = 1 << 20;

/// Merges a pack into a store, which is made where there is none. See [`Unpacked`] for what becomes
/// of runs that are there already.
pub fn unpack(file: &Path, into: &Path) -> Result<Unpacked, StoreError> {
    let fail = |error| StoreError::io("reading", file, error);
    let source = File::open(file).map_err(fail)?;
    let packed = source.metadata().map_err(fail)?.len();
    open(source, packed, file, || Store::create_or_open(into))?.merge()
}

/// A pack that is taken apart, and not yet part of its store.
pub(crate) struct Opened<'a> {
    store: Store,
    staging: Staging,
    pub(crate) manifest: Manifest,
    file: &'a Path,
}

impl Opened<'_> {
    /// Where its files lie, as in a store.
    pub(crate) fn layout(&self) -> StoreLayout {
        StoreLayout::new(&self.staging.folder)
    }

    /// Moves all into the store.
    pub(crate) fn merge(&self) -> Result<Unpacked, StoreError> {
        merge::merge(&self.store, &self.staging.folder, &self.manifest, self.file)
    }
}

/// The names of a pack's files, as its manifest says; `None` for what is no pack.
pub(super) fn names(file: &Path) -> Option<Vec<String>> {
    let mut archive = Archive::new(zstd::Decoder::new(File::open(file).ok()?).ok()?);
    let mut first = archive.entries().ok()?.raw(true).next()?.ok()?;
    let mut text = Vec::new();
    first.by_ref().take(LONGEST_MANIFEST).read_to_end(&mut text).ok()?;
    Some(manifest(&text, file).ok()?.files.into_iter().map(|file| file.path).collect())
}

/// Takes a pack of so many bytes apart, inside the store that it is to be merged into; that is opened
/// once the manifest has been checked.
pub(crate) fn open<'a>(
    source: impl Read,
    packed: u64,
    file: &'a Path,
    store: impl FnOnce() -> Result<Store, StoreError>,
) -> Result<Opened<'a>, StoreError> {
    let fail = |error| StoreError::io("reading", file, error);
    let pack = |reason: String| StoreError::Pack { path: file.to_owned(), reason };
    let zstd = zstd::Decoder::new(source).map_err(fail)?;
    let mut archive = Archive::new(zstd);
    let cut = |error: io::Error| pack(error.to_string());
    // Raw: names longer than a head, which would be entries of their own, are never ours.
    let mut entries = archive.entries().map_err(cut)?.raw(true);
    let mut first = match entries.next() {
        Some(entry) => entry.map_err(cut)?,
        None => return Err(pack("it is empty".into())),
    };
    if &*first.path_bytes() != MANIFEST.as_bytes() {
        return Err(pack(format!("it does not begin with {MANIFEST}")));
    }
    let mut text = Vec::new();
    first.by_ref().take(LONGEST_MANIFEST).read_to_end(&mut text).map_err(cut)?;
    let manifest = manifest(&text, file)?;
    check(&manifest).map_err(pack)?;
    let (most, bytes) = (most_unpacked(packed), manifest.files.iter().map(|file| file.bytes));
    if bytes.fold(0, u64::saturating_add) > most {
        return Err(pack(format!(
            "its {packed} bytes unpack to more than {most}, {MOST_TIMES} times as much"
        )));
    }

    let store = store()?;
    let staging = Staging::new(&store)?;
    for wanted in &manifest.files {
        let mut entry = match entries.next() {
            Some(entry) => entry.map_err(cut)?,
            None => return Err(pack(format!("{} is not in it", wanted.path))),
        };
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if name != wanted.path {
            return Err(pack(format!("{name:?} where {} should be", wanted.path)));
        }
        if entry.header().entry_type() != EntryType::Regular {
            return Err(pack(format!("{name} is not a plain file")));
        }
        if entry.size() != wanted.bytes {
            let bytes = entry.size();
            return Err(pack(format!("{name} has {bytes} bytes, expected {}", wanted.bytes)));
        }
        staging.take(wanted, &mut entry)?.map_err(pack)?;
    }
    if let Some(entry) = entries.next() {
        let name = entry.map_err(cut)?.path_bytes().into_owned();
        let name = String::from_utf8_lossy(&name);
        return Err(pack(format!("{name:?} is not in its manifest")));
    }
    // To the last byte, where the checksum of the whole is.
    let rest = archive.into_inner().take(LONGEST_END);
    io::copy(&mut { rest }, &mut io::sink()).map_err(cut)?;
    staging.sync()?;
    Ok(Opened { store, staging, manifest, file })
}

fn manifest(text: &[u8], file: &Path) -> Result<Manifest, StoreError> {
    #[derive(serde::Deserialize)]
    struct Version {
        format: u64,
    }
    let json = |error: serde_json::Error| StoreError::Pack {
        path: file.to_owned(),
        reason: format!("its {MANIFEST}: {error}"),
    };
    let Version { format } = serde_json::from_slice(text).map_err(json)?;
    if format > FORMAT {
        return Err(StoreError::Newer { path: file.to_owned(), found: format });
    }
    serde_json::from_slice(text).map_err(json)
}

/// Refuses names that are not those of a store's files, and any that comes twice.
fn check(manifest: &Manifest) -> Result<(), String> {
    let mut runs = BTreeSet::new();
    for file in &manifest.files {
        let path = &file.path;
        let known = match path.split_once('/') {
            Some(("runs", rest)) => rest.split_once('/').is_some_and(|(id, name)| {
                runs.insert(id.to_owned());
                id.parse::<RunId>().is_ok() && RunLayout::is_carried(name, true)
            }),
            Some(("studies", rest)) => rest
                .split_once('/')
                .is_some_and(|(study, name)| is_plain(study) && is_artifact(name)),
            _ => false,
        };
        if !known {
            return Err(format!("{path:?} is not a file of a store"));
        }
    }
    let sorted = manifest.files.windows(2).all(|pair| pair[0].path < pair[1].path);
    if !sorted {
        return Err("its files are not in order, or one comes twice".to_owned());
    }
    if runs != manifest.runs.iter().cloned().collect() {
        return Err("its files are not those of its runs".to_owned());
    }
    Ok(())
}

/// The folder that a pack is taken apart in; it goes when this is dropped.
struct Staging {
    folder: PathBuf,
    _lock: Lock,
}

impl Staging {
    /// A new one. What was left by processes that are no more goes first.
    fn new(store: &Store) -> Result<Self, StoreError> {
        let root = store.path();
        let making = lock::wait(&store.layout.lock())?;
        for name in files::names(root)?.iter().filter(|name| name.starts_with(UNPACKING)) {
            let left = root.join(name);
            if !Lock::is_held(&left.join("lock")) {
                files::remove(&left)?;
            }
        }
        let fail = |error| StoreError::io("making", root, error);
        let folder = tempfile::Builder::new().prefix(UNPACKING).tempdir_in(root).map_err(fail)?;
        let folder = folder.keep();
        let taken = lock::take(&folder.join("lock"))?;
        drop(making);
        let lock = taken.ok_or_else(|| StoreError::NoLocks { path: folder.clone() })?;
        Ok(Self { folder, _lock: lock })
    }

    /// Writes a file; the inner error is that it is not the one of the manifest.
    fn take(
        &self,
        wanted: &FileEntry,
        from: &mut impl Read,
    ) -> Result<Result<(), String>, StoreError> {
        let path = wanted.path.split('/').fold(self.folder.clone(), |path, part| path.join(part));
        let fail = |error| StoreError::io("writing", &path, error);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder)).map_err(fail)?;
        let mut out = File::create_new(&path).map_err(fail)?;
        let (mut hash, mut buffer, mut bytes) = (Sha256::new(), vec![0; 1 << 16], 0);
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(Err(format!("{}: {error}", wanted.path))),
            };
            let block = buffer.get(..read).unwrap_or_default();
            hash.update(block);
            out.write_all(block).map_err(fail)?;
            bytes += read as u64;
        }
        out.sync_all().map_err(fail)?;
        let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if bytes != wanted.bytes || found != wanted.sha256 {
            return Ok(Err(format!("{} has other bytes than were packed", wanted.path)));
        }
        Ok(Ok(()))
    }

    /// Makes sure that the names of the files are on the disk, too.
    fn sync(&self) -> Result<(), StoreError> {
        fn each(folder: &Path) -> Result<(), StoreError> {
            for name in files::names(folder)? {
                let path = folder.join(name);
                if path.is_dir() {
                    each(&path)?;
                }
            }
            files::sync_folder(folder)
        }
        each(&self.folder)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next one.
        let _ = files::remove(&self.folder);
    }
}
