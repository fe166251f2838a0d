//! Files that appear whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use super::{WriteError, WriteSeek};

/// Writes beside the file and moves it into place when everything is on disk. An existing file is
/// only replaced by `force`; after an error it is untouched and nothing is left beside it.
pub fn write_atomically(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn WriteSeek) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let fail = |error: std::io::Error| WriteError::File { path: path.to_owned(), error };
    // Said before the work, not after it; the move below makes sure.
    if !force && path.exists() {
        return Err(WriteError::Exists { path: path.to_owned() });
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dissensus-");
    #[cfg(unix)]
    {
        // As any new file: the user's umask decides, not the strictness of temporary files.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder).map_err(fail)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&mut out)?;
    out.flush().map_err(fail)?;
    let file = out.into_inner().map_err(|e| fail(e.into_error()))?;
    file.as_file().sync_all().map_err(fail)?;
    if force {
        file.persist(path).map_err(|e| fail(e.error))?;
    } else {
        file.persist_noclobber(path).map_err(|e| match e.error.kind() {
            std::io::ErrorKind::AlreadyExists => WriteError::Exists { path: path.to_owned() },
            _ => fail(e.error),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_nothing_and_an_old_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let half = |out: &mut dyn WriteSeek| {
            out.write_all(b"half")?;
            Err(WriteError::Encode("broken".into()))
        };
        assert!(write_atomically(&path, false, half).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write_atomically(&path, false, |out| Ok(out.write_all(b"one")?)).unwrap();
        let second = write_atomically(&path, false, |out| Ok(out.write_all(b"two")?));
        assert!(matches!(second, Err(WriteError::Exists { .. })));
        assert!(write_atomically(&path, true, half).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write_atomically(&path, true, |out| Ok(out.write_all(b"two")?)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
