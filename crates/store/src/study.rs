//! What a study comes to, in a folder of its own beside the runs: results, the resolved study, what
//! was measured of each run.
//!
//! A study's folder holds files by plain names, at most three between slashes (`results.csv`,
//! `stages/measure/0123456789abcdef.csv`). What is in them is the caller's; they are replaced whole.
//!
//! What was computed from a run has a record beside it (`….csv.made`): the file's name, its checksum, how
//! many rows it has, and of what it was [`Made`]. The record is written second. Killed in between, or damaged
//! later, it does not fit the file, which is then made again. A study's text has its checksum in its first
//! line instead, as it is not made again from anything. What is said about a study's results has the
//! checksums of their files, and says what they were [`MadeOf`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::layout::{StoreLayout, is_artifact, is_plain, run_of_artifact};
use crate::{Durability, RunId, Store, StoreError, files, lock, older};

/// What the results of a study were made of. Where some of it is gone, they would be of less.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeOf {
    /// The runs, by their ids.
    pub runs: BTreeSet<String>,
    /// Files of the study that cannot be made again without the weights of runs.
    pub files: BTreeSet<String>,
}

/// What a file was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// How many rows it has.
    pub rows: usize,
    /// The digest of the predictions that it was computed from.
    pub from: String,
    /// The version of the code that computed it.
    pub code: String,
    /// The runs that were looked at with its own, and the digests of their predictions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub peers: BTreeMap<String, String>,
}

/// A file's bytes and what they were made of, where that is known.
pub type MadeFile = (Vec<u8>, Option<Made>);

/// What a record holds.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The name of the file in the study's folder, which has the run's id. Older ones have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    sha256: String,
    #[serde(flatten)]
    made: Made,
}

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

/// Where the folder of a study would lie in a store that need not exist.
pub fn study_folder(store: &Path, study: &str) -> PathBuf {
    StoreLayout::new(store).study(study)
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

    /// Replaces a file and the record of what it was made of.
    pub fn write_made(
        &self,
        name: &str,
        bytes: &[u8],
        made: &Made,
        durability: Durability,
    ) -> Result<(), StoreError> {
        // Nothing comes between the two files: another process may unpack the same.
        let _alone = lock::wait(&StoreLayout::around(&self.folder).lock())?;
        self.write(name, bytes, durability)?;
        let (file, made) = (Some(name.to_owned()), made.clone());
        let record = Record { file, sha256: files::sha256(bytes), made };
        files::write_json(&self.file(&record_of(name))?, &record, durability)
    }

    /// A file's bytes and what they were made of; `None` where there is none. One that is not as its
    /// record says is an error that [is damage](StoreError::is_damage), and so is one without a record,
    /// which was written just before the machine stopped. In older stores, records say less, or are none.
    pub fn read_made(&self, name: &str) -> Result<Option<MadeFile>, StoreError> {
        let path = self.file(&record_of(name))?;
        let (bytes, record) = match (self.read(name)?, files::read_if_there(&path)?) {
            (None, None) => return Ok(None),
            (None, Some(_)) => return Err(StoreError::Gone { path: self.file(name)? }),
            (Some(bytes), None) => {
                self.accept_older(name).map_err(|_| StoreError::Gone { path })?;
                return Ok(Some((bytes, None)));
            }
            (Some(bytes), Some(record)) => (bytes, record),
        };
        let Record { file, sha256, made } = files::parse(&path, &record)?;
        files::check(&self.file(name)?, &bytes, &sha256)?;
        self.check_record(name, file.as_deref())?;
        Ok(Some((bytes, Some(made))))
    }

    /// That a record is the one of this file.
    fn check_record(&self, name: &str, found: Option<&str>) -> Result<(), StoreError> {
        match found {
            Some(found) if found == name => Ok(()),
            Some(found) => {
                Err(StoreError::foreign(&self.file(name)?, format!("it was computed as {found}")))
            }
            None => self.accept_older(name),
        }
    }

    fn accept_older(&self, name: &str) -> Result<(), StoreError> {
        older::accept(&self.file(name)?, &StoreLayout::around(&self.folder))
    }

    /// The checksum of a file and the digest of the predictions that it was computed from, by its record;
    /// `None` where there is none.
    pub(crate) fn version_made(&self, name: &str) -> Result<Option<(String, String)>, StoreError> {
        let path = self.file(&record_of(name))?;
        let Some(record) = files::read_if_there(&path)? else { return Ok(None) };
        let Record { file, sha256, made } = files::parse(&path, &record)?;
        self.check_record(name, file.as_deref())?;
        Ok(Some((sha256, made.from)))
    }

    /// The SHA-256 of a text without its checksum; `None` where there is none.
    pub(crate) fn version_of_text(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.read_text(name)?.map(|text| files::sha256(text.as_bytes())))
    }

    /// A text without its checksum; `None` where there is none. Where the study has results, it is the one
    /// that they were made by. In older stores, a text has no checksum.
    pub fn read_text(&self, name: &str) -> Result<Option<String>, StoreError> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let (sha256, text) = unsealed(&bytes);
        let path = self.file(name)?;
        match sha256 {
            Some(sha256) => files::check(&path, text, &String::from_utf8_lossy(sha256))?,
            None => self.accept_older(name)?,
        }
        for about in self.abouts()? {
            if let Some(listed) = about[CHECKSUMS][name].as_str()
                && listed != files::sha256(&bytes)
            {
                let reason =
                    "the results of the study were made by another one; run the study again";
                return Err(StoreError::foreign(&path, reason));
            }
        }
        Ok(Some(String::from_utf8_lossy(text).into_owned()))
    }

    /// Replaces files, and then an object that says something about them, with the checksums of all and
    /// what they were made of.
    pub fn write_about(
        &self,
        name: &str,
        mut about: Value,
        made_of: &MadeOf,
        files: &[(&str, &[u8])],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let path = self.file(name)?;
        let value = serde_json::to_value(made_of);
        about[MADE_OF] = value.map_err(|error| StoreError::Json { path: path.clone(), error })?;
        files.iter().try_for_each(|(name, bytes)| self.write(name, bytes, durability))?;
        let checksums = files.iter().map(|(name, bytes)| (*name, files::sha256(bytes)));
        about[CHECKSUMS] = checksums.map(|(name, sha256)| (name, Value::from(sha256))).collect();
        files::write_sealed(&path, &about, durability)
    }

    /// An object that [`write_about`](Self::write_about) wrote; `None` where there is none.
    pub fn read_about(&self, name: &str) -> Result<Option<Value>, StoreError> {
        let path = self.file(name)?;
        if !path.exists() {
            return Ok(None);
        }
        let mut older = false;
        let about = files::read_sealed(&path, |_| {
            older = true;
            true
        })?;
        if older {
            self.accept_older(name)?;
        }
        Ok(Some(about))
    }

    /// All objects about files.
    fn abouts(&self) -> Result<Vec<Value>, StoreError> {
        let mut names = files::names(&self.folder)?;
        names.retain(|name| is_plain(name) && name.ends_with(".json"));
        names.iter().filter_map(|name| self.read_about(name).transpose()).collect()
    }

    /// What the results of the study were made of, as far as it is known.
    pub fn made_of(&self) -> Result<MadeOf, StoreError> {
        let mut all = MadeOf::default();
        for about in self.abouts()? {
            let MadeOf { runs, files } = made_of(&about);
            all.runs.extend(runs);
            all.files.extend(files);
        }
        Ok(all)
    }

    /// Says of no results any more that they were made of a run, which is removed on purpose.
    pub(crate) fn forget(&self, id: &RunId) -> Result<(), StoreError> {
        for name in files::names(&self.folder)?.into_iter().filter(|name| name.ends_with(".json")) {
            // One that is damaged is made again.
            let Ok(Some(mut about)) = self.read_about(&name) else { continue };
            let mut of = made_of(&about);
            of.files.retain(|file| run_of_artifact(file).as_ref() != Some(id));
            if of.runs.remove(id.as_str()) || of != made_of(&about) {
                let path = self.file(&name)?;
                let value = serde_json::to_value(of);
                about[MADE_OF] = value.map_err(|error| StoreError::Json { path, error })?;
                files::write_sealed(&self.file(&name)?, &about, Durability::Power)?;
            }
        }
        Ok(())
    }

    /// That all that the results were made of is there.
    pub(crate) fn check_whole(&self, store: &Store) -> Result<(), StoreError> {
        let MadeOf { runs, files } = self.made_of()?;
        let mut gone = Vec::new();
        for run in runs {
            if !store.is_there(&run.parse()?)? {
                gone.push(format!("run {run}"));
            }
        }
        for file in files {
            if !self.file(&file)?.exists() {
                gone.push(file);
            }
        }
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        match gone.is_empty() {
            true => Ok(()),
            false => Err(StoreError::Less { study: name.into_owned(), gone }),
        }
    }

    /// Checks all files that have checksums: those with records, texts, and what is listed in an object
    /// about them.
    pub(crate) fn verify(&self) -> Result<(), StoreError> {
        for name in self.files()? {
            match name.strip_suffix(RECORD) {
                Some(made) => self.read_made(made).map(drop)?,
                None if run_of_artifact(&name).is_some() => self.read_made(&name).map(drop)?,
                None if is_text(&name) => self.read_text(&name).map(drop)?,
                None => {}
            }
            if name.ends_with(".json") && !name.contains('/') {
                let about = self.read_about(&name)?.unwrap_or_default();
                for (name, sha256) in about[CHECKSUMS].as_object().into_iter().flatten() {
                    let path = self.file(name)?;
                    files::check(&path, &files::read(&path)?, sha256.as_str().unwrap_or_default())?;
                }
            }
        }
        Ok(())
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

/// Ends the name of a record.
pub(crate) const RECORD: &str = ".made";

/// Whether this is the name of a record.
pub(crate) fn is_record(name: &str) -> bool {
    name.ends_with(RECORD)
}

/// The record of a file.
pub(crate) fn record_of(name: &str) -> String {
    format!("{name}{RECORD}")
}

/// The checksums of files, in an object about them.
const CHECKSUMS: &str = "checksums";
/// What they were made of.
const MADE_OF: &str = "made_of";

/// What an object says that its files were made of; older ones say nothing.
fn made_of(about: &Value) -> MadeOf {
    MadeOf::deserialize(&about[MADE_OF]).unwrap_or_default()
}

/// Whether this is the name of a study's text.
pub(crate) fn is_text(file: &str) -> bool {
    !file.contains('/') && file.ends_with(".toml")
}

/// Begins the first line of a text with a checksum.
const SEAL: &str = "# SHA-256 of the lines below: ";

/// A text in which a line that begins with `#` is a comment, with its checksum as its first line.
pub fn sealed(text: &str) -> String {
    format!("{SEAL}{}\n{text}", files::sha256(text.as_bytes()))
}

/// The checksum of a text, where it has one, and the text without it.
pub(crate) fn unsealed(bytes: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let Some(rest) = bytes.strip_prefix(SEAL.as_bytes()) else { return (None, bytes) };
    let end = rest.iter().position(|&byte| byte == b'\n');
    let (sha256, text) = rest.split_at(end.unwrap_or(rest.len()));
    (Some(sha256), text.get(1..).unwrap_or_default())
}

/// All files below a folder, by their names from there; what begins with a dot is being written.
/// Links are refused, as they may lead out of the store or round in a circle.
pub(crate) fn list(folder: &Path, before: &str, names: &mut Vec<String>) -> Result<(), StoreError> {
    let kind = |path: &Path| {
        let metadata = path.symlink_metadata();
        metadata.map(|m| m.file_type()).map_err(|error| StoreError::io("listing", path, error))
    };
    let not_plain = |path: PathBuf, found| Err(StoreError::NotPlain { path, found });
    for name in files::names(folder)?.into_iter().filter(|name| !name.starts_with('.')) {
        let (path, from_here) = (folder.join(&name), format!("{before}{name}"));
        match kind(&path)? {
            kind if kind.is_dir() => list(&path, &format!("{from_here}/"), names)?,
            kind if kind.is_file() => names.push(from_here),
            kind if kind.is_symlink() => return not_plain(path, "a symbolic link"),
            _ => return not_plain(path, "neither a file nor a folder"),
        }
    }
    Ok(())
}

/// A folder and all folders below it.
pub(crate) fn folders(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut all = vec![folder.to_owned()];
    for name in files::names(folder)? {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            all.extend(folders(&path)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `store.json` of the first version.
    const OLDER: &str = r#"{"format":1,"made_by":"dissensus 0.1.0"}"#;

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
    fn what_was_made_is_as_it_was_written_or_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(folder.path()).unwrap();
        let study = store.study("s").unwrap();
        let name = "stages/measure-1/0123456789abcdef.csv";
        let made = Made { rows: 2, from: "ab".into(), code: "0.1.0".into(), ..Made::default() };
        let write = |bytes: &[u8]| study.write_made(name, bytes, &made, Durability::Process);
        assert_eq!(study.read_made(name).unwrap(), None);
        write(b"metric,value\nkl,0.5\n").unwrap();
        let (bytes, found) = study.read_made(name).unwrap().unwrap();
        assert_eq!((&bytes[..], found), (&b"metric,value\nkl,0.5\n"[..], Some(made.clone())));
        // A digit for another, and a kill between file and record.
        for other in [&b"metric,value\nkl,0.4\n"[..], b""] {
            study.write(name, other, Durability::Process).unwrap();
            let error = study.read_made(name).unwrap_err();
            assert!(error.is_damage() && error.to_string().contains("f.csv is damaged"), "{error}");
            assert!(study.verify().is_err());
        }
        // A record that is damaged, and one that there never was.
        study.write(&record_of(name), b"{", Durability::Process).unwrap();
        let error = study.read_made(name).unwrap_err();
        assert!(error.is_damage() && error.to_string().contains(".csv.made is damaged"), "{error}");
        fs::remove_file(study.path().join(record_of(name))).unwrap();
        let error = study.read_made(name).unwrap_err();
        assert!(error.is_damage() && error.to_string().contains(".csv.made is gone"), "{error}");
        // In older stores there are such.
        let marker = folder.path().join("store.json");
        let newer = fs::read(&marker).unwrap();
        fs::write(&marker, OLDER).unwrap();
        assert_eq!(study.read_made(name).unwrap(), Some((Vec::new(), None)));
        fs::write(&marker, newer).unwrap();
        // A file that is gone, and its record is not.
        write(b"metric,value\nkl,0.5\n").unwrap();
        fs::remove_file(study.path().join(name)).unwrap();
        let error = study.read_made(name).unwrap_err();
        assert!(error.is_damage() && error.to_string().contains("f.csv is gone"), "{error}");
    }

    #[test]
    fn a_text_is_as_it_was_written_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let study = Store::create_or_open(folder.path()).unwrap().study("s").unwrap();
        assert_eq!(study.read_text("study.toml").unwrap(), None);
        let text = "[run]\nseeds = 3\n";
        study.write("study.toml", sealed(text).as_bytes(), Durability::Process).unwrap();
        assert_eq!(study.read_text("study.toml").unwrap().unwrap(), text);
        let whole = study.read("study.toml").unwrap().unwrap();
        // Cut anywhere, or with any bit of the text flipped.
        let begun = SEAL.len();
        for length in begun..whole.len() {
            study.write("study.toml", &whole[..length], Durability::Process).unwrap();
            assert!(study.read_text("study.toml").unwrap_err().is_damage(), "{length}");
            let mut flipped = whole.clone();
            flipped[length] ^= 1 << (length % 8);
            study.write("study.toml", &flipped, Durability::Process).unwrap();
            assert!(study.read_text("study.toml").unwrap_err().is_damage(), "{length}");
            assert!(study.verify().unwrap_err().is_damage());
        }
        // A text of before there were checksums, in a store that has such.
        study.write("study.toml", text.as_bytes(), Durability::Process).unwrap();
        assert!(study.read_text("study.toml").unwrap_err().is_damage());
        fs::write(folder.path().join("store.json"), OLDER).unwrap();
        assert_eq!(study.read_text("study.toml").unwrap().unwrap(), text);
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
