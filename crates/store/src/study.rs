//! What a study comes to, in a folder of its own beside the runs: results, the resolved study, what
//! was measured of each run.
//!
//! A study's folder holds files by plain names, at most three between slashes (`results.csv`,
//! `stages/measure/0123456789abcdef.csv`). What is in them is the caller's; they are replaced whole.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::layout::{is_artifact, is_plain};
use crate::{Durability, Store, StoreError, files};

/// The folder of a study; it comes into being with its first file.
#[derive(Clone, Debug)]
pub struct StudyFolder {
    folder: PathBuf,
}

impl Store {
    /// The folder of a study, there or not yet.
    pub fn study(&self, name: &str) -> Result<StudyFolder, StoreError> {
        match is_plain(name) {
            true => Ok(StudyFolder { folder: self.layout.study(name) }),
            false => Err(StoreError::BadName { what: "a study", name: name.to_owned() }),
        }
    }

    /// The names of the studies, sorted.
    pub fn studies(&self) -> Result<Vec<String>, StoreError> {
        let mut names = files::names(&self.layout.studies())?;
        names.retain(|name| is_plain(name) && self.layout.study(name).is_dir());
        Ok(names)
    }
}

impl StudyFolder {
    /// Where it lies, for people and other programs.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Replaces a file.
    pub fn write(
        &self,
        name: &str,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let path = self.file(name)?;
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).map_err(|error| StoreError::io("making", folder, error))?;
        files::replace(&path, durability, |out| out.write_all(bytes))
    }

    /// A file's bytes; `None` where there is none.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        files::read_if_there(&self.file(name)?)
    }

    /// The names of all files, sorted.
    pub fn files(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        list(&self.folder, "", &mut names)?;
        names.retain(|name| is_artifact(name));
        names.sort_unstable();
        Ok(names)
    }

    fn file(&self, name: &str) -> Result<PathBuf, StoreError> {
        match is_artifact(name) {
            // One by one, so that a slash is a slash everywhere.
            true => Ok(name.split('/').fold(self.folder.clone(), |path, part| path.join(part))),
            false => Err(StoreError::BadName { what: "a study's file", name: name.to_owned() }),
        }
    }
}

/// All files below a folder, by their names from there; what begins with a dot is being written.
pub(crate) fn list(folder: &Path, before: &str, names: &mut Vec<String>) -> Result<(), StoreError> {
    for name in files::names(folder)?.into_iter().filter(|name| !name.starts_with('.')) {
        let (path, from_here) = (folder.join(&name), format!("{before}{name}"));
        match path.is_dir() {
            true => list(&path, &format!("{from_here}/"), names)?,
            false => names.push(from_here),
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn files_by_plain_names() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path()).unwrap();
        assert_eq!(store.studies().unwrap(), Vec::<String>::new());
        let study = store.study("demo-2").unwrap();
        assert_eq!((study.read("results.csv").unwrap(), study.files().unwrap()), (None, vec![]));
        study.write("results.csv", b"old", Durability::Process).unwrap();
        study.write("results.csv", b"new", Durability::Power).unwrap();
        study.write("stages/measure-1/ab.csv", b"", Durability::Process).unwrap();
        assert_eq!(study.read("results.csv").unwrap().unwrap(), b"new");
        fs::write(study.path().join(".dissensus-left"), "half").unwrap();
        assert_eq!(study.files().unwrap(), ["results.csv", "stages/measure-1/ab.csv"]);
        assert_eq!(store.studies().unwrap(), ["demo-2"]);
        // A store with a study is still a store.
        Store::create_or_open(folder.path()).unwrap();
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path()).unwrap();
        for name in ["", ".", "..", "a/b", "/a", "a\\b", ".hidden", "-x", "a.", "é", "a\0b"] {
            let error = store.study(name).unwrap_err();
            assert!(matches!(error, StoreError::BadName { .. }), "{name:?}");
        }
        let study = store.study("s").unwrap();
        for name in ["", "../x", "a/../b", "/etc/x", "a//b", "a/", "a/b/c/d", "C:x", "a\\b", ".x"] {
            let error = study.write(name, b"", Durability::Process).unwrap_err();
            assert!(error.to_string().contains("cannot be the name of a study's file"), "{name:?}");
            assert!(study.read(name).is_err());
        }
        assert!(store.study(&"a".repeat(61)).is_err());
    }
}
