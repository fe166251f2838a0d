//! A folder as a bucket: on a shared file system, or to try things out.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dissensus_io::{Durability, Existing, write_file};

use super::{Created, LARGEST, Object, Objects};
use crate::RemoteError;

pub(super) struct Folder {
    root: PathBuf,
}

impl Folder {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        name.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }
}

impl Objects for Folder {
    fn list(&self, folder: &str) -> Result<Vec<Object>, RemoteError> {
        let mut objects = Vec::new();
        list(&self.path(folder), folder, &mut objects)?;
        Ok(objects)
    }

    fn get(&self, name: &str) -> Result<Vec<u8>, RemoteError> {
        let path = self.path(name);
        let bytes = fs::metadata(&path).map_err(|error| fail("reading", &path, error))?.len();
        if bytes > LARGEST {
            return Err(RemoteError::TooLarge { object: name.to_owned(), bytes, most: LARGEST });
        }
        fs::read(&path).map_err(|error| fail("reading", &path, error))
    }

    fn create(&self, name: &str, content: Vec<u8>) -> Result<Created, RemoteError> {
        let path = self.path(name);
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(|error| fail("making", folder, error))?;
        let written =
            write_file(&path, Existing::Keep, Durability::Power, |out| out.write_all(&content));
        match written {
            Ok(()) => Ok(Created::New),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Created::Exists),
            Err(error) => Err(fail("writing", &path, error)),
        }
    }
}

fn fail(doing: &'static str, path: &Path, source: io::Error) -> RemoteError {
    RemoteError::Folder { doing, path: path.to_owned(), source }
}

/// All plain files below a folder but those that are being written; none where it does not exist.
fn list(folder: &Path, name: &str, objects: &mut Vec<Object>) -> Result<(), RemoteError> {
    let failed = |error| fail("listing", folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let (kind, below) = (entry.file_type().map_err(failed)?, format!("{name}/{file}"));
        if file.starts_with('.') {
            continue;
        } else if kind.is_dir() {
            list(&entry.path(), &below, objects)?;
        } else if kind.is_file() {
            let bytes = entry.metadata().map_err(failed)?.len();
            objects.push(Object { name: below, bytes });
        }
    }
    Ok(())
}
