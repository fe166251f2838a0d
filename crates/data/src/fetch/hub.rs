//! Downloads a model of the hub: asks what each file should be, downloads it, and checks it.
//!
//! A HEAD request for a file names the commit (`X-Repo-Commit`) and the digest: `X-Linked-Etag` is
//! the SHA-256 of a large file, which a redirect then leads to, and the `ETag` of a small file is
//! the SHA-1 of its git blob. A token is sent to the hub alone, never to where it redirects.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dissensus_core::{Event, Progress};
use dissensus_io::http::{Request, Response, Secret, same_origin};
use dissensus_io::{Durability, Existing, write_file};
use sha1::{Digest as _, Sha1};

use super::archive::ARCHIVE_LIMIT;
use super::download::{Downloaded, Wanted, with_retries};
use super::lock;
use super::mirror::{Poured, open_plain, pour_into};
use super::place::Place;
use super::progress::Transfer;
use super::request::{Client, Fault, transport};
use super::source::get_judged;
use super::{Options, Outcome};
use crate::Error;
use crate::digest::Digest;
use crate::hub::{FileList, HubModel, LIST, ListedFile, is_commit, known_commit, locate_model};

/// The files that encoders read. Those after the first two are there for some models only.
const FILES: &[&str] = &[
    "config.json",
    "model.safetensors",
    "preprocessor_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
];
const REQUIRED: usize = 2;

/// The public hub.
const ENDPOINT: &str = "https://huggingface.co";

/// Which hub is asked, and with which token.
#[derive(Clone, Debug)]
pub struct Hub {
    /// Its address: `HF_ENDPOINT`, or the public hub.
    pub endpoint: String,
    /// What private models need: `HF_TOKEN`.
    pub token: Option<Secret>,
}

impl Hub {
    /// From the environment.
    pub fn from_env() -> Self {
        let value = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        Self {
            endpoint: value("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned()),
            token: value("HF_TOKEN").and_then(|value| Secret::new(&value)),
        }
    }

    fn url(&self, repo: &str, revision: &str, file: &str) -> String {
        format!("{}/{repo}/resolve/{revision}/{file}", self.endpoint.trim_end_matches('/'))
    }
}

/// A model that is now in the cache.
#[derive(Debug, Clone)]
pub struct FetchedModel {
    /// The folder of its files.
    pub folder: PathBuf,
    pub commit: String,
    pub files: Vec<FetchedModelFile>,
}

/// A file of a model that is now in the cache, and verified.
#[derive(Debug, Clone)]
pub struct FetchedModelFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its SHA-256.
    pub sha256: String,
    pub outcome: Outcome,
}

/// Brings the files of a model into the cache and verifies them. What is there and right is left
/// alone, without a request.
pub fn fetch_model(
    model: &HubModel,
    options: &Options,
    progress: &dyn Progress,
) -> Result<FetchedModel, Error> {
    if !options.force
        && let Some(present) = present(model, &options.cache_dir)
    {
        return Ok(present);
    }
    let _lock = lock::take(&options.cache_dir, options.lock_wait, progress)?;
    // The process that held the lock may have fetched this very model.
    if !options.force
        && let Some(present) = present(model, &options.cache_dir)
    {
        return Ok(present);
    }
    let fetched = match &options.from {
        Some(mirror) => copy(model, mirror, options, progress)?,
        None => download(model, options, progress)?,
    };
    let list = FileList {
        repo: model.repo().to_owned(),
        commit: fetched.commit.clone(),
        files: fetched
            .files
            .iter()
            .map(|file| listed(file, &fetched.folder))
            .collect::<Result<_, _>>()?,
    };
    let text = serde_json::to_vec_pretty(&list).unwrap_or_default();
    write(&options.cache_dir, &format!("{}/{LIST}", model.commit_folder(&list.commit)), &text)?;
    if model.commit().is_none() {
        write(&options.cache_dir, &model.current(), list.commit.as_bytes())?;
        let line = format!(
            "{model} names no commit; {} is used, pin it as {}",
            list.commit,
            model.at(&list.commit)
        );
        progress.report(Event::Note(&line));
    }
    Ok(fetched)
}

/// The model as it is in the cache, where every file has its digest.
fn present(model: &HubModel, cache_dir: &Path) -> Option<FetchedModel> {
    let located = locate_model(model, cache_dir).ok()?;
    let list = FileList::read(&located.folder)?;
    let file = |file: ListedFile| FetchedModelFile {
        path: located.folder.join(&file.path),
        sha256: file.sha256,
        outcome: Outcome::Present,
    };
    let files = list.files.into_iter().map(file).collect();
    Some(FetchedModel { folder: located.folder, commit: located.commit, files })
}

fn listed(file: &FetchedModelFile, folder: &Path) -> Result<ListedFile, Error> {
    let about = fs::metadata(&file.path).map_err(|e| Error::io("reading", &file.path, e))?;
    let inside = file.path.strip_prefix(folder).unwrap_or(&file.path);
    let path = inside.to_string_lossy().replace('\\', "/");
    Ok(ListedFile { path, bytes: about.len(), sha256: file.sha256.clone() })
}

/// A small file, whole or not at all.
fn write(cache_dir: &Path, path: &str, bytes: &[u8]) -> Result<(), Error> {
    let place = Place::new(cache_dir, path);
    place.prepare()?;
    write_file(&place.dest, Existing::Replace, Durability::Power, |out| out.write_all(bytes))
        .map_err(|e| Error::io("writing", &place.dest, e))
}

/// From the cache of another machine.
fn copy(
    model: &HubModel,
    mirror: &Path,
    options: &Options,
    progress: &dyn Progress,
) -> Result<FetchedModel, Error> {
    let missing = |looked| Error::MirrorMissing { file: model.to_string(), looked };
    let commit = known_commit(model, mirror).ok_or_else(|| missing(mirror.join(model.folder())))?;
    let inside = model.commit_folder(&commit);
    let from = mirror.join(&inside);
    let list = FileList::read(&from).ok_or_else(|| missing(from.join(LIST)))?;
    let folder = options.cache_dir.join(&inside);
    let mut files = Vec::new();
    for file in list.files {
        let source = from.join(&file.path);
        let place = Place::new(&options.cache_dir, &format!("{inside}/{}", file.path));
        place.prepare()?;
        let checksum = |got: String| Error::Checksum {
            file: file.path.clone(),
            from: source.display().to_string(),
            expected: file.sha256.clone(),
            got,
        };
        let judge = |poured: Poured| match poured {
            Poured::TooLong => Err(checksum("that of a longer file".to_owned())),
            Poured::Whole(digest) if digest.sha256 == file.sha256 => Ok(()),
            Poured::Whole(digest) => Err(checksum(digest.sha256)),
        };
        let transfer = Transfer::start(progress, &file.path);
        let open = open_plain(&source).map_err(|_| missing(source.clone()))?;
        pour_into(open, &source, file.bytes, &place, &transfer, judge)?;
        let outcome = Outcome::Copied { from: source };
        files.push(FetchedModelFile { path: place.dest, sha256: file.sha256, outcome });
    }
    Ok(FetchedModel { folder, commit, files })
}

fn download(
    model: &HubModel,
    options: &Options,
    progress: &dyn Progress,
) -> Result<FetchedModel, Error> {
    let asking = Asking { model, options, client: Client::new(options) };
    let mut commit = model.commit().map(str::to_owned);
    let mut files = Vec::new();
    for (number, name) in FILES.iter().enumerate() {
        let revision = commit.as_deref().unwrap_or("main");
        let Some(about) = asking.describe(name, revision, progress)? else {
            if number < REQUIRED {
                return Err(Error::HubMissing {
                    repo: model.repo().to_owned(),
                    revision: revision.to_owned(),
                    file: Some((*name).to_owned()),
                });
            }
            continue;
        };
        if commit.as_ref().is_some_and(|commit| *commit != about.commit) {
            return Err(asking.bad_answer(
                name,
                revision,
                format!("it answers for the commit {}", about.commit),
            ));
        }
        let commit = commit.get_or_insert(about.commit.clone());
        files.push(asking.get(name, commit, &about, progress)?);
    }
    let commit = commit.unwrap_or_default();
    let folder = options.cache_dir.join(model.commit_folder(&commit));
    Ok(FetchedModel { folder, commit, files })
}

/// What the hub says of a file.
#[derive(Debug)]
struct About {
    commit: String,
    bytes: Option<u64>,
    digest: Expected,
}

/// The digest that a file should have.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Sha256(String),
    GitBlob(String),
}

impl Expected {
    /// By its length.
    fn parse(etag: &str) -> Option<Self> {
        let text = etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"').to_owned();
        let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
        match text.len() {
            64 if hex => Some(Self::Sha256(text)),
            40 if hex => Some(Self::GitBlob(text)),
            _ => None,
        }
    }

    /// What the file at `path` should have, and what it has.
    fn of(&self, path: &Path, digest: &Digest) -> Result<(String, String), Error> {
        let fail = |e| Error::io("reading", path, e);
        Ok(match self {
            Self::Sha256(expected) => (expected.clone(), digest.sha256.clone()),
            Self::GitBlob(expected) => {
                let mut hash = Sha1::new();
                hash.update(format!("blob {}\0", digest.bytes));
                hash.update(fs::read(path).map_err(fail)?);
                let hex: String =
                    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                (format!("git blob {expected}"), format!("git blob {hex}"))
            }
        })
    }
}

struct Asking<'a> {
    model: &'a HubModel,
    options: &'a Options,
    client: Client,
}

impl Asking<'_> {
    fn url(&self, file: &str, revision: &str) -> String {
        self.options.hub.url(self.model.repo(), revision, file)
    }

    fn bad_answer(&self, file: &str, revision: &str, problem: String) -> Error {
        Error::HubAnswer { url: self.url(file, revision), problem }
    }

    /// What the hub says of a file; `None` where the model has no such file.
    fn describe(
        &self,
        file: &str,
        revision: &str,
        progress: &dyn Progress,
    ) -> Result<Option<About>, Error> {
        let retry = |attempt, wait: std::time::Duration, why: &Error| {
            let line = format!("{file}: attempt {attempt} in {} s: {why}", wait.as_secs());
            progress.report(Event::Warning(&line));
        };
        with_retries(self.options, retry, || self.describe_once(file, revision))
    }

    fn describe_once(&self, file: &str, revision: &str) -> Result<Option<About>, Fault> {
        const HOPS: usize = 5;
        let first = self.url(file, revision);
        let mut request = Request::head(&first);
        request.secret = self.options.hub.token.as_ref();
        let (mut url, mut commit, mut bytes, mut etag) = (first.clone(), None, None, None);
        for _ in 0..HOPS {
            let response =
                self.client.head(&request, &url).map_err(|e| transport(&first, &e.kind))?;
            let redirect = response.redirect();
            if redirect.is_none() && response.status != 200 {
                return self.refused(file, revision, &response);
            }
            let text = |name: &str| response.header(name).map(str::to_owned);
            commit = commit.or_else(|| text("x-repo-commit"));
            bytes = bytes.or_else(|| response.number("x-linked-size"));
            let linked = text("x-linked-etag");
            let found = linked.is_some();
            etag = linked.or_else(|| text("etag")).or(etag);
            match redirect {
                // The bytes lie elsewhere; all that is to be known is known here.
                Some(_) if found => break,
                Some(next) if same_origin(&first, &next) => url = next,
                Some(_) => break,
                None => {
                    bytes = bytes.or_else(|| response.number("content-length"));
                    break;
                }
            }
        }
        let fail = |problem: &str| self.bad_answer(file, revision, problem.to_owned());
        let commit = commit.filter(|commit| is_commit(commit));
        let commit = commit.ok_or_else(|| fail("it names no commit (X-Repo-Commit)"))?;
        let digest = etag.as_deref().and_then(Expected::parse);
        let digest = digest.ok_or_else(|| fail("it names no digest (X-Linked-Etag or ETag)"))?;
        Ok(Some(About { commit, bytes, digest }))
    }

    fn refused(
        &self,
        file: &str,
        revision: &str,
        response: &Response,
    ) -> Result<Option<About>, Fault> {
        let repo = self.model.repo().to_owned();
        let code = response.header("x-error-code").unwrap_or_default();
        match response.status {
            404 if matches!(code, "RepoNotFound" | "RevisionNotFound") => {
                Err(Error::HubMissing { repo, revision: revision.to_owned(), file: None }.into())
            }
            404 => Ok(None),
            status @ (401 | 403) => {
                let token = self.options.hub.token.is_some();
                Err(Error::HubAccess { repo, status, token }.into())
            }
            _ => Err(Fault::of_status(&self.url(file, revision), response)),
        }
    }

    fn get(
        &self,
        file: &str,
        commit: &str,
        about: &About,
        progress: &dyn Progress,
    ) -> Result<FetchedModelFile, Error> {
        let inside = format!("{}/{file}", self.model.commit_folder(commit));
        let place = Place::new(&self.options.cache_dir, &inside);
        place.prepare()?;
        if self.options.force {
            place.discard();
        }
        let url = self.url(file, commit);
        let wanted = Wanted {
            name: file,
            url: &url,
            secret: self.options.hub.token.as_ref(),
            sizes: about.bytes.into_iter().collect(),
            limit: about.bytes.unwrap_or(ARCHIVE_LIMIT),
        };
        let transfer = Transfer::start(progress, file);
        let judge = |downloaded: &Downloaded| {
            let (expected, got) = about.digest.of(&place.part, &downloaded.digest)?;
            match expected == got {
                true => Ok(()),
                false => {
                    Err(Error::Checksum { file: file.to_owned(), from: url.clone(), expected, got })
                }
            }
        };
        let (downloaded, ()) =
            get_judged(&wanted, &place, &self.client, self.options, &transfer, judge)?;
        place.commit(&downloaded.part)?;
        transfer.finish();
        let outcome = Outcome::Downloaded { url, resumed_from: downloaded.resumed_from };
        Ok(FetchedModelFile { path: place.dest, sha256: downloaded.digest.sha256, outcome })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_known_by_their_length() {
        let (long, short) = ("0a".repeat(32), "0b".repeat(20));
        assert_eq!(Expected::parse(&format!("\"{long}\"")), Some(Expected::Sha256(long)));
        assert_eq!(Expected::parse(&format!("W/\"{short}\"")), Some(Expected::GitBlob(short)));
        for bad in ["", "\"abc\"", &"0A".repeat(20), &"x".repeat(64)] {
            assert_eq!(Expected::parse(bad), None, "{bad}");
        }
    }

    /// `printf 'hello\n' | git hash-object --stdin`
    #[test]
    fn a_git_blob_is_hashed_as_git_does() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hello");
        fs::write(&path, "hello\n").unwrap();
        let expected = Expected::GitBlob("ce013625030ba8dba906f756967f9e9ca394464a".to_owned());
        let (wanted, found) = expected.of(&path, &crate::digest::of_file(&path).unwrap()).unwrap();
        assert_eq!(wanted, found);
    }
}
