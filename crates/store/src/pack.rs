//! A store in one file, to be carried between machines.
//!
//! A pack is a tar archive under zstd: `manifest.json` first (format, runs, and every file's name,
//! size and SHA-256), then the files, sorted by name, without owners or dates: the same store gives
//! the same bytes. It holds runs that have ended, finished or failed, without checkpoints, and
//! without weights unless the best are asked for; and all files of studies. A run that is still to
//! be continued stays where it is, and is named as left out. Where a run cannot be read, or a file is
//! not as it was written, nothing is packed.

mod merge;
mod unpack;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dissensus_io::{Existing, check_output, write_output};
use serde::{Deserialize, Serialize};
use tar::{EntryType, Header};

use crate::layout::{CLUSTER, RunLayout, run_of_artifact};
use crate::older::BOUND;
use crate::study::list;
use crate::{FORMAT, RunId, RunInfo, State, Store, StoreError, files};

pub use merge::{StudyMerge, Unpacked};
pub(crate) use unpack::open;
pub use unpack::unpack;

/// The name of the first entry.
const MANIFEST: &str = "manifest.json";

/// More gains little on predictions, and takes much longer.
const LEVEL: i32 = 6;

/// What goes into a pack.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackOptions {
    /// The weights of every run's selected epoch, too. They are most of a store.
    pub best_weights: bool,
    /// Whether any file is replaced. One that exists is otherwise only replaced if it is a pack of which
    /// nothing is lost.
    pub force: bool,
}

/// What went into a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The runs, sorted.
    pub runs: Vec<RunId>,
    /// The studies, sorted.
    pub studies: Vec<String>,
    /// Runs that did not go in, and why.
    pub left_out: Vec<(String, String)>,
    /// How many files there are.
    pub files: usize,
    /// What they amount to before they are compressed.
    pub bytes: u64,
}

/// A file to be packed: its name in the pack, and where it lies.
pub(crate) type Source = (String, PathBuf);

/// What a pack says of itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) format: u64,
    made_by: String,
    pub(crate) runs: Vec<String>,
    pub(crate) files: Vec<FileEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEntry {
    pub(crate) path: String,
    bytes: u64,
    sha256: String,
}

/// Puts a store into one file, which appears whole or not at all. A pack that is there is replaced by one that
/// has all of its files, and anything else only by [`PackOptions::force`].
pub fn pack(store: &Store, out: &Path, options: PackOptions) -> Result<Packed, StoreError> {
    check_output(out, Existing::Replace)?;
    let mut packed = Packed::default();
    let mut sources: Vec<Source> = Vec::new();
    let listing = store.runs()?;
    if let Some(broken) = listing.broken.into_iter().next() {
        return Err(broken.error);
    }
    for run in listing.runs {
        if !matches!(run.status.state, State::Finished | State::Failed { .. }) {
            packed.left_out.push((run.id.to_string(), "it has not ended".to_owned()));
            continue;
        }
        sources.extend(files_of_run(&run, options)?);
        packed.runs.push(run.id);
    }
    packed.runs.sort_unstable();
    for name in store.studies()? {
        let study = store.study(&name)?;
        plain_folder(study.path())?;
        study.verify()?;
        study.check_whole(store)?;
        let mut names = study.files()?;
        // What was computed from a run goes where the run goes. Scripts and logs of a cluster are of this
        // machine.
        names.retain(|name| !name.starts_with(CLUSTER));
        names.retain(|name| {
            run_of_artifact(name).is_none_or(|run| packed.runs.binary_search(&run).is_ok())
        });
        let file = |file: String| (format!("studies/{name}/{file}"), study.path().join(file));
        sources.extend(names.into_iter().map(file));
        packed.studies.push(name);
    }
    let manifest = Manifest::of(store, &packed.runs, &mut sources)?;
    packed.files = manifest.files.len();
    packed.bytes = manifest.files.iter().map(|file| file.bytes).sum();
    let has = |name: &String| manifest.files.iter().any(|file| file.path == *name);
    let has_all = || unpack::names(out).is_some_and(|names| names.iter().all(has));
    let existing = Existing::replaced_if(options.force || (out.exists() && has_all()));
    let fail = |error| StoreError::io("packing", out, error);
    write_output(out, existing, |out| write(out, &manifest, &sources).map_err(fail))?;
    Ok(packed)
}

impl Manifest {
    /// That of these files, by their names in a pack, which are sorted.
    fn of(store: &Store, runs: &[RunId], sources: &mut [Source]) -> Result<Self, StoreError> {
        sources.sort_unstable();
        let entries = sources.iter().map(|(name, path)| {
            let bytes = files::read(path)?;
            Ok(FileEntry {
                path: name.clone(),
                bytes: bytes.len() as u64,
                sha256: files::sha256(&bytes),
            })
        });
        Ok(Self {
            format: if store.may_have_older()? { BOUND - 1 } else { FORMAT },
            made_by: format!("dissensus {}", env!("CARGO_PKG_VERSION")),
            runs: runs.iter().map(RunId::to_string).collect(),
            files: entries.collect::<Result<_, StoreError>>()?,
        })
    }
}

/// A pack of these files, in memory.
pub(crate) fn pack_files(
    store: &Store,
    runs: &[RunId],
    mut sources: Vec<Source>,
) -> Result<Vec<u8>, StoreError> {
    let manifest = Manifest::of(store, runs, &mut sources)?;
    let mut bytes = Vec::new();
    let fail = |error| {
        let path = sources.first().map(|(_, path)| path.as_path());
        StoreError::io("packing", path.unwrap_or(Path::new("")), error)
    };
    write(&mut bytes, &manifest, &sources).map_err(fail)?;
    Ok(bytes)
}

/// The files of a run that are carried, all of which are as they were written.
pub(crate) fn files_of_run(run: &RunInfo, options: PackOptions) -> Result<Vec<Source>, StoreError> {
    plain_folder(&run.folder)?;
    run.verify(options.best_weights)?;
    let mut names = Vec::new();
    list(&run.folder, "", &mut names)?;
    names.retain(|name| RunLayout::is_carried(name, options.best_weights));
    let file = |name: String| (format!("runs/{}/{name}", run.id), run.folder.join(name));
    Ok(names.into_iter().map(file).collect())
}

/// Refuses a folder that lies elsewhere.
fn plain_folder(path: &Path) -> Result<(), StoreError> {
    match path.is_symlink() {
        true => Err(StoreError::NotPlain { path: path.to_owned(), found: "a symbolic link" }),
        false => Ok(()),
    }
}

fn write(out: impl io::Write, manifest: &Manifest, sources: &[Source]) -> io::Result<()> {
    let mut zstd = zstd::Encoder::new(out, LEVEL)?;
    zstd.include_checksum(true)?;
    let mut tar = tar::Builder::new(zstd);
    append(&mut tar, MANIFEST, &serde_json::to_vec_pretty(manifest)?)?;
    for (entry, (name, path)) in manifest.files.iter().zip(sources) {
        let failed = |error: io::Error| {
            io::Error::new(error.kind(), format!("reading {}: {error}", path.display()))
        };
        let bytes = fs::read(path).map_err(failed)?;
        if bytes.len() as u64 != entry.bytes || files::sha256(&bytes) != entry.sha256 {
            let changed = format!("{} changed while it was packed", path.display());
            return Err(io::Error::other(changed));
        }
        append(&mut tar, name, &bytes)?;
    }
    tar.into_inner()?.finish()?;
    Ok(())
}

fn append(tar: &mut tar::Builder<impl io::Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_path(name)?;
    header.set_mode(0o644);
    header.set_size(bytes.len() as u64);
    header.set_mtime(0);
    header.set_cksum();
    tar.append(&header, bytes)
}
