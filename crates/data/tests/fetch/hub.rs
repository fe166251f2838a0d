//! Models of a hub on the loopback interface, whose large files lie on another server.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dissensus_core::Silent;
use dissensus_data::fetch::Outcome;
use dissensus_data::{Error, FetchedModel, Hub, HubModel, Options, fetch_model, locate_model};
use dissensus_io::http::Secret;
use sha1::{Digest as _, Sha1};

use crate::support::{Reply, Request, Server, content, files_below, options, serving, sha256};

const COMMIT: &str = "ed25f3a31f01632728cabb09d1542f84ab7b0056";
const CONFIG: &[u8] = br#"{"model_type": "dinov2"}"#;

fn git_blob(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The server of large files.
fn storage(
    weights: &[u8],
    change: impl Fn(usize, Reply) -> Reply + Send + Sync + 'static,
) -> Server {
    let weights = weights.to_vec();
    Server::start(move |n, request| change(n, Reply::ranged(&weights, "\"large\"", request)))
}

/// A hub with a small file, and a large one in the storage.
fn hub(weights: &[u8], storage: &Server) -> Server {
    let (weights, large) = (weights.to_vec(), format!("{}/large?signed=1", storage.base));
    Server::start(move |_, request| hub_reply(&weights, &large, request))
}

fn hub_reply(weights: &[u8], large: &str, request: &Request) -> Reply {
    let rest = request.path.strip_prefix("/facebook/dinov2-small/resolve/");
    let Some((revision, file)) = rest.and_then(|rest| rest.split_once('/')) else {
        return Reply::new(401, "").header("X-Error-Code", "RepoNotFound");
    };
    if !matches!(revision, "main" | COMMIT) {
        return Reply::new(404, "").header("X-Error-Code", "RevisionNotFound");
    }
    match file {
        "config.json" => Reply::ranged(CONFIG, &format!("\"{}\"", git_blob(CONFIG)), request)
            .header("X-Repo-Commit", COMMIT),
        "model.safetensors" => Reply::new(302, "")
            .header("X-Repo-Commit", COMMIT)
            .header("X-Linked-Size", weights.len().to_string())
            .header("X-Linked-Etag", format!("\"{}\"", sha256(weights)))
            .header("Location", large),
        _ => Reply::new(404, "").header("X-Error-Code", "EntryNotFound"),
    }
}

fn hub_options(cache: &Path, hub: &Server, token: Option<&str>) -> Options {
    let token = token.and_then(Secret::new);
    Options { hub: Hub { endpoint: hub.base.clone(), token }, ..options(cache, None) }
}

fn model(name: &str) -> HubModel {
    name.parse().unwrap()
}

fn get(name: &str, options: &Options) -> Result<FetchedModel, Error> {
    fetch_model(&model(name), options, &Silent)
}

#[test]
fn an_unpinned_model_is_resolved_once_and_then_needs_no_hub() {
    let weights = content(200_000, 1);
    let storage = storage(&weights, |_, reply| reply);
    let hub = hub(&weights, &storage);
    let cache = tempfile::tempdir().unwrap();
    let options = hub_options(cache.path(), &hub, Some("hf_secret"));
    let name = "hf:facebook/dinov2-small";
    let missing = locate_model(&model(name), cache.path()).unwrap_err();
    assert!(matches!(missing, Error::NotInCache { .. }), "{missing}");

    let fetched = get(name, &options).unwrap();
    assert_eq!(fetched.commit, COMMIT);
    let folder = cache.path().join("hub/facebook--dinov2-small").join(COMMIT);
    assert_eq!(fetched.folder, folder);
    assert_eq!(fs::read(folder.join("config.json")).unwrap(), CONFIG);
    assert_eq!(fs::read(folder.join("model.safetensors")).unwrap(), weights);
    assert_eq!(fetched.files.len(), 2);
    assert_eq!(fetched.files[1].sha256, sha256(&weights));

    // The token goes to the hub with every request, and never to the storage.
    let asked = hub.requests();
    let sent = |request: &Request| request.header("authorization") == Some("Bearer hf_secret");
    assert!(asked.iter().all(sent), "{asked:?}");
    assert!(!storage.requests().is_empty());
    assert!(storage.requests().iter().all(|request| request.header("authorization").is_none()));
    // Only the first question is about the branch.
    let branch = asked.iter().filter(|request| request.path.contains("/main/")).count();
    assert_eq!(branch, 1, "{asked:?}");

    // From now on nothing is asked: unpinned, pinned, fetched again or located.
    let before = asked.len();
    for name in [name.to_owned(), format!("{name}@{COMMIT}")] {
        let again = get(&name, &options).unwrap();
        assert!(again.files.iter().all(|file| file.outcome == Outcome::Present), "{again:?}");
        let located = locate_model(&model(&name), cache.path()).unwrap();
        assert_eq!((located.folder, located.commit.as_str()), (folder.clone(), COMMIT));
    }
    assert_eq!(hub.requests().len(), before);

    // A cache is a mirror.
    let other = tempfile::tempdir().unwrap();
    let from = Some(cache.path().to_owned());
    let copied = get(name, &Options { from, ..hub_options(other.path(), &hub, None) }).unwrap();
    assert_eq!((copied.commit.as_str(), copied.files.len()), (COMMIT, 2));
    assert_eq!(hub.requests().len(), before);
    assert_eq!(locate_model(&model(name), other.path()).unwrap().commit, COMMIT);
}

#[test]
fn a_download_that_was_cut_is_resumed() {
    let weights = content(500_000, 2);
    let storage = storage(&weights, |n, reply| if n == 0 { reply.cut(200_000) } else { reply });
    let hub = hub(&weights, &storage);
    let cache = tempfile::tempdir().unwrap();
    let name = format!("hf:facebook/dinov2-small@{COMMIT}");
    // In a run of its own: the first one gives up.
    let once = Options { retries: 0, ..hub_options(cache.path(), &hub, None) };
    let error = get(&name, &once).unwrap_err();
    assert!(matches!(error, Error::BrokeOff { got: 200_000, .. }), "{error}");
    assert!(locate_model(&model(&name), cache.path()).is_err(), "half a model is none");
    let fetched = get(&name, &once).unwrap();
    let resumed = |outcome: &Outcome| match outcome {
        Outcome::Downloaded { resumed_from, .. } => *resumed_from,
        _ => None,
    };
    assert_eq!(resumed(&fetched.files[1].outcome), Some(200_000));
    assert_eq!(storage.requests()[1].from(), Some(200_000));
    assert_eq!(fs::read(fetched.folder.join("model.safetensors")).unwrap(), weights);
}

#[test]
fn wrong_bytes_are_refused() {
    let weights = content(1000, 3);
    let other = storage(&content(1000, 4), |_, reply| reply);
    let hub = hub(&weights, &other);
    let cache = tempfile::tempdir().unwrap();
    let error =
        get("hf:facebook/dinov2-small", &hub_options(cache.path(), &hub, None)).unwrap_err();
    assert!(matches!(error, Error::Checksum { .. }), "{error}");
    assert!(error.to_string().contains(&sha256(&weights)), "{error}");
    assert!(files_below(cache.path()).iter().all(|path| !path.ends_with("model.safetensors")));

    // A small file that is not the blob of its tag.
    let tag = format!("\"{}\"", git_blob(b"something else"));
    let server = Server::start(move |_, _| {
        Reply::ok(CONFIG).header("ETag", tag.clone()).header("X-Repo-Commit", COMMIT)
    });
    let error =
        get("hf:facebook/dinov2-small", &hub_options(cache.path(), &server, None)).unwrap_err();
    assert!(matches!(&error, Error::Checksum { file, .. } if file == "config.json"), "{error}");

    // An answer that cannot be verified at all, or that is of another commit.
    for (tag, commit) in [("\"v1\"", COMMIT), ("\"v1\"", "main")] {
        let server = Server::start(move |_, _| {
            Reply::ok(CONFIG).header("ETag", tag).header("X-Repo-Commit", commit)
        });
        let error = get("hf:a/b", &hub_options(cache.path(), &server, None)).unwrap_err();
        assert!(matches!(error, Error::HubAnswer { .. }), "{error}");
    }
    let tag = format!("\"{}\"", git_blob(CONFIG));
    let server = Server::start(move |_, _| {
        Reply::ok(CONFIG).header("ETag", tag.clone()).header("X-Repo-Commit", COMMIT)
    });
    let pinned = format!("hf:a/b@{}", "0".repeat(40));
    let error = get(&pinned, &hub_options(cache.path(), &server, None)).unwrap_err();
    assert!(error.to_string().contains("it answers for the commit ed25"), "{error}");
}

#[test]
fn what_the_hub_does_not_have_or_does_not_give_is_named() {
    let weights = content(10, 5);
    let storage = storage(&weights, |_, reply| reply);
    let hub = hub(&weights, &storage);
    let cache = tempfile::tempdir().unwrap();
    let options = hub_options(cache.path(), &hub, None);
    let error = get(&format!("hf:facebook/dinov2-small@{}", "0".repeat(40)), &options).unwrap_err();
    assert!(matches!(error, Error::HubMissing { file: None, .. }), "{error}");
    let error = get("hf:nobody/nothing", &options).unwrap_err();
    assert!(matches!(error, Error::HubAccess { status: 401, token: false, .. }), "{error}");
    let with_token = hub_options(cache.path(), &hub, Some("hf_secret"));
    let error = get("hf:nobody/nothing", &with_token).unwrap_err();
    assert!(matches!(error, Error::HubAccess { token: true, .. }), "{error}");
    assert!(!format!("{error} {error:?} {with_token:?}").contains("hf_secret"));

    // A model without safetensors.
    let config: Arc<String> = Arc::new(format!("\"{}\"", git_blob(CONFIG)));
    let server = Server::start(move |_, request| match request.path.ends_with("/config.json") {
        true => Reply::ok(CONFIG).header("ETag", config.as_str()).header("X-Repo-Commit", COMMIT),
        false => Reply::new(404, ""),
    });
    let error = get("hf:a/b", &hub_options(cache.path(), &server, None)).unwrap_err();
    assert!(
        matches!(&error, Error::HubMissing { file: Some(file), .. } if file == "model.safetensors"),
        "{error}"
    );
    assert!(files_below(cache.path()).iter().all(|path| !path.ends_with(".files.json")));
}

#[test]
fn a_busy_hub_is_asked_again() {
    let weights = content(10, 6);
    let storage = storage(&weights, |_, reply| reply);
    let large = format!("{}/large", storage.base);
    let server = serving(&weights, move |weights, n, request| match n {
        0 => Reply::new(503, "").header("Retry-After", "0"),
        _ => hub_reply(weights, &large, request),
    });
    let cache = tempfile::tempdir().unwrap();
    get("hf:facebook/dinov2-small", &hub_options(cache.path(), &server, None)).unwrap();
}
