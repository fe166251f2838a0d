//! Outputs: the files and folders that a user asks for.
//!
//! One rule for all of them: an output replaces nothing unless it is told to, and never goes into a store
//! of runs, whose files belong together and to the programs that train.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::files::TEMPORARY;
use crate::files::{Durability, Existing, FileError, Out, write_file};

/// The file that makes a folder a store of runs.
pub const STORE_MARKER: &str = "store.json";

/// The store that a path lies in, which need not exist. Links and `..` are followed as the system does.
pub fn store_around(path: &Path) -> Option<PathBuf> {
    let mut real = PathBuf::new();
    for part in std::path::absolute(path).ok()?.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            part => real.push(part),
        }
        real = real.canonicalize().unwrap_or(real);
    }
    real.ancestors().find(|folder| is_store(folder)).map(Path::to_owned)
}

/// Another program may name a file like that, and a damaged store is still a store.
fn is_store(folder: &Path) -> bool {
    let marker = folder.join(STORE_MARKER);
    let is_ours = || fs::read_to_string(&marker).is_ok_and(|text| text.contains("\"made_by\""));
    marker.is_file() && (folder.join("runs").is_dir() || is_ours())
}

/// Fails where a file may not be written: in a store, over something that is no file, and over a file that
/// is to stay. Asked before long work; [`write_output`] asks again.
pub fn check_output(path: &Path, existing: Existing) -> Result<(), FileError> {
    check_outside(path)?;
    let path = path.to_owned();
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::Io { path, error }),
        // A link is replaced itself, but not where it stands for a folder, a pipe or a device.
        Ok(_) if path.metadata().is_ok_and(|about| !about.is_file()) => {
            Err(FileError::NotAFile { path })
        }
        Ok(_) if existing == Existing::Keep => Err(FileError::Exists { path }),
        Ok(_) => Ok(()),
    }
}

/// Fails where a path lies in a store.
pub fn check_outside(path: &Path) -> Result<(), FileError> {
    match store_around(path) {
        Some(store) => Err(FileError::InStore { path: path.to_owned(), store }),
        None => Ok(()),
    }
}

/// Fails where a folder may not be written into: in a store, where there is a file, and among files that are
/// not an earlier output of the same kind, unless they may be replaced. `of` is what the folder is to hold,
/// and `is_same` says whether it does.
pub fn check_output_folder(
    path: &Path,
    existing: Existing,
    of: &str,
    is_same: impl FnOnce() -> bool,
) -> Result<(), FileError> {
    check_outside(path)?;
    let fail = |error| FileError::Io { path: path.to_owned(), error };
    match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(fail(error)),
        // What an interrupted write left behind is nobody's file.
        Ok(mut entries) => match entries
            .find(|entry| !entry.as_ref().is_ok_and(is_left_over))
            .transpose()
            .map_err(fail)?
        {
            Some(_) if existing == Existing::Keep && !is_same() => {
                Err(FileError::Occupied { path: path.to_owned(), of: of.to_owned() })
            }
            _ => Ok(()),
        },
    }
}

fn is_left_over(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(TEMPORARY)
}

/// Writes a file that a user asked for by what `fill` writes, whole or not at all; its folder is made if needed.
pub fn write_output<E: From<FileError>>(
    path: &Path,
    existing: Existing,
    fill: impl FnOnce(&mut Out) -> Result<(), E>,
) -> Result<(), E> {
    check_output(path, existing)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| FileError::new(folder, error))?;
    }
    let written =
        write_file(path, existing, Durability::Power, |out| fill(out).map_err(Failed::Fill));
    written.map_err(|failed| match failed {
        Failed::Io(error) => FileError::new(path, error).into(),
        Failed::Fill(error) => error,
    })
}

enum Failed<E> {
    Io(io::Error),
    Fill(E),
}

impl<E> From<io::Error> for Failed<E> {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn write(path: &Path, existing: Existing) -> Result<(), FileError> {
        write_output(path, existing, |out| {
            out.write_all(b"new").map_err(|error| FileError::new(path, error))
        })
    }

    /// A folder with a store `st` in it.
    fn with_store() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("st/runs/0123")).unwrap();
        fs::write(folder.path().join("st/store.json"), "{\"made_by\": \"us\"}").unwrap();
        folder
    }

    #[test]
    fn what_is_there_stays_unless_it_may_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/a.csv");
        write(&path, Existing::Keep).unwrap();
        fs::write(&path, "old").unwrap();
        assert!(matches!(write(&path, Existing::Keep), Err(FileError::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write(&path, Existing::Replace).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        for existing in [Existing::Keep, Existing::Replace] {
            let onto = write(&folder.path().join("new"), existing);
            assert!(matches!(onto, Err(FileError::NotAFile { .. })));
        }
    }

    #[test]
    fn nothing_goes_into_a_store_by_any_way() {
        let folder = with_store();
        let inside =
            ["st/store.json", "st/x", "st/runs/0123/new/x", "st", "no/../st/x", "st/no/../x"];
        for path in inside.map(|path| folder.path().join(path)) {
            for existing in [Existing::Keep, Existing::Replace] {
                assert!(
                    matches!(write(&path, existing), Err(FileError::InStore { .. })),
                    "{path:?}"
                );
                let into = check_output_folder(&path, existing, "it", || true);
                assert!(matches!(into, Err(FileError::InStore { .. })), "{path:?}");
            }
        }
        for path in ["x", "st.pack", "st/../y", "st-report/x"].map(|path| folder.path().join(path))
        {
            write(&path, Existing::Keep).unwrap();
        }
        // A file of that name does not make a store, and a damaged marker does not unmake one.
        fs::create_dir(folder.path().join("shop")).unwrap();
        fs::write(folder.path().join("shop/store.json"), "{\"items\": []}").unwrap();
        write(&folder.path().join("shop/x"), Existing::Keep).unwrap();
        fs::write(folder.path().join("st/store.json"), "").unwrap();
        assert!(check_outside(&folder.path().join("st/x")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_a_store_and_pipes_are_no_files() {
        use std::os::unix::fs::symlink;
        let folder = with_store();
        let at = |name: &str| folder.path().join(name);
        symlink(at("st/runs"), at("link")).unwrap();
        assert!(matches!(write(&at("link/x"), Existing::Replace), Err(FileError::InStore { .. })));
        symlink(at("nowhere"), at("broken")).unwrap();
        assert!(matches!(write(&at("broken"), Existing::Keep), Err(FileError::Exists { .. })));
        symlink("/dev/null", at("null")).unwrap();
        for path in [&at("null"), Path::new("/dev/null")] {
            assert!(matches!(write(path, Existing::Replace), Err(FileError::NotAFile { .. })));
        }
    }

    #[test]
    fn a_folder_with_other_files_is_only_written_into_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let check = |existing, same: bool| {
            check_output_folder(folder.path(), existing, "a report", || same)
        };
        assert!(check(Existing::Keep, false).is_ok());
        fs::write(folder.path().join("study.toml"), "").unwrap();
        let refused = check(Existing::Keep, false).unwrap_err().to_string();
        assert!(refused.ends_with("holds other files than a report"), "{refused}");
        assert!(check(Existing::Keep, true).is_ok() && check(Existing::Replace, false).is_ok());
        let file = folder.path().join("study.toml");
        assert!(check_output_folder(&file, Existing::Replace, "a report", || true).is_err());
    }
}
