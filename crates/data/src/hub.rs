//! Models of the Hugging Face hub, by name: `hf:facebook/dinov2-small`.
//!
//! A name may pin a commit, `hf:OWNER/NAME@COMMIT` (40 hexadecimal digits); without one the hub is
//! asked once which commit is current, and that commit is used from then on.
//! [`fetch_model`](crate::fetch_model) downloads the files that encoders read and checks each against
//! the digest that the hub states; [`locate_model`] finds them in the cache and asks nobody.
//!
//! The files of a commit lie in `hub/OWNER--NAME/COMMIT`, beside the list of them that is written
//! last, so a folder with a list is complete.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, verified};

/// What stands before the name of a model.
pub const PREFIX: &str = "hf:";

/// The list of a commit's files, in its folder.
pub(crate) const LIST: &str = ".files.json";

/// A model of the hub, as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubModel {
    repo: String,
    commit: Option<String>,
}

impl HubModel {
    /// Owner and name: `facebook/dinov2-small`.
    pub fn repo(&self) -> &str {
        &self.repo
    }

    /// The commit that the name pins.
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }

    /// The same model at a commit.
    pub fn at(&self, commit: &str) -> Self {
        Self { repo: self.repo.clone(), commit: Some(commit.to_owned()) }
    }

    /// The place of the model below a cache directory, with forward slashes.
    pub(crate) fn folder(&self) -> String {
        format!("hub/{}", self.repo.replace('/', "--"))
    }

    /// The place of one commit's files.
    pub(crate) fn commit_folder(&self, commit: &str) -> String {
        format!("{}/{commit}", self.folder())
    }

    /// The file that remembers which commit an unpinned name was resolved to.
    pub(crate) fn current(&self) -> String {
        format!("{}/current", self.folder())
    }
}

impl fmt::Display for HubModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.repo)?;
        self.commit.iter().try_for_each(|commit| write!(f, "@{commit}"))
    }
}

impl FromStr for HubModel {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let bad = |problem| Error::HubName { name: name.to_owned(), problem };
        let rest = name.strip_prefix(PREFIX).ok_or_else(|| bad("it does not begin with hf:"))?;
        let (repo, commit) = match rest.split_once('@') {
            Some((repo, commit)) => (repo, Some(commit)),
            None => (rest, None),
        };
        let plain = |part: &str| {
            let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            part.bytes().all(fine) && !part.is_empty() && !part.starts_with('.')
        };
        if repo.split('/').count() > 2 || !repo.split('/').all(plain) {
            return Err(bad("expected OWNER/NAME"));
        }
        if !commit.is_none_or(is_commit) {
            return Err(bad("the revision is not a commit of 40 hexadecimal digits"));
        }
        Ok(Self { repo: repo.to_owned(), commit: commit.map(str::to_owned) })
    }
}

/// Whether a text is a commit in full.
pub(crate) fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The files of one commit, as they were downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileList {
    pub(crate) repo: String,
    pub(crate) commit: String,
    pub(crate) files: Vec<ListedFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedFile {
    /// Below the folder of the commit, with forward slashes.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

impl FileList {
    /// The list of a commit's folder, if it is there and names only files inside.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let list: Self = serde_json::from_slice(&std::fs::read(folder.join(LIST)).ok()?).ok()?;
        let inside = |file: &ListedFile| {
            let part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':']);
            file.path.split('/').all(part)
        };
        list.files.iter().all(inside).then_some(list)
    }
}

/// A model whose files are in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedModel {
    /// The folder of its files.
    pub folder: PathBuf,
    pub commit: String,
}

/// Where a model's files are, if all of them are in the cache with the digests that they were fetched
/// with. Asks nobody.
pub fn locate_model(model: &HubModel, cache_dir: &Path) -> Result<LocatedModel, Error> {
    let missing = |path: PathBuf, found: &str| Error::NotInCache {
        name: model.to_string(),
        path,
        found: found.to_owned(),
    };
    let Some(commit) = known_commit(model, cache_dir) else {
        return Err(missing(cache_dir.join(model.folder()), "nothing there"));
    };
    let folder = cache_dir.join(model.commit_folder(&commit));
    let Some(list) = FileList::read(&folder) else {
        return Err(missing(folder, "no complete download there"));
    };
    for file in &list.files {
        let path = folder.join(&file.path);
        let size = std::fs::metadata(&path).ok().map(|about| about.len());
        if size != Some(file.bytes) {
            let found = size.map_or("nothing there".to_owned(), |n| format!("{n} bytes there"));
            return Err(missing(path, &found));
        }
        let inside = format!("{}/{}", model.commit_folder(&commit), file.path);
        let sha256 = verified::sha256(cache_dir, &inside)
            .map_err(|error| Error::io("reading", &path, error))?;
        if sha256 != file.sha256 {
            return Err(Error::Damaged { name: model.to_string(), path, sha256 });
        }
    }
    Ok(LocatedModel { folder, commit })
}

/// The commit that is pinned, or that an unpinned name was resolved to earlier.
pub(crate) fn known_commit(model: &HubModel, cache_dir: &Path) -> Option<String> {
    let resolved = || std::fs::read_to_string(cache_dir.join(model.current())).ok();
    let commit = model.commit.clone().or_else(resolved)?;
    is_commit(commit.trim()).then(|| commit.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "ed25f3a31f01632728cabb09d1542f84ab7b0056";

    #[test]
    fn names_are_checked() {
        let model: HubModel = "hf:facebook/dinov2-small".parse().unwrap();
        assert_eq!((model.repo(), model.commit()), ("facebook/dinov2-small", None));
        let pinned: HubModel = format!("{model}@{COMMIT}").parse().unwrap();
        assert_eq!(pinned, model.at(COMMIT));
        assert_eq!(pinned.to_string(), format!("hf:facebook/dinov2-small@{COMMIT}"));
        assert!("hf:bert-base-uncased".parse::<HubModel>().is_ok());
        for bad in
            ["hf:", "hf:a/b/c", "hf:../b", "hf:a/", "hf:a b", "a/b", "hf:a/b@main", "hf:a\\b"]
        {
            assert!(matches!(bad.parse::<HubModel>(), Err(Error::HubName { .. })), "{bad}");
        }
    }

    #[test]
    fn a_list_that_points_outside_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let list = |path: &str| {
            let file = ListedFile { path: path.to_owned(), bytes: 1, sha256: "0".repeat(64) };
            let list = FileList { repo: "a/b".into(), commit: COMMIT.into(), files: vec![file] };
            std::fs::write(dir.path().join(LIST), serde_json::to_vec(&list).unwrap()).unwrap();
            FileList::read(dir.path())
        };
        assert!(list("1_Pooling/config.json").is_some());
        for outside in ["../x", "/etc/passwd", "a\\..\\b", "c:x"] {
            assert!(list(outside).is_none(), "{outside}");
        }
    }
}
