//! Copies from a local mirror, made up and real.

use std::fs;

use crate::support::{NOTHING, content, files_below, options, single};
use dissensus_core::Silent;
use dissensus_data::cache::State;
use dissensus_data::fetch::Outcome;
use dissensus_data::{DATASETS, Error, Options, fetch, locate, status};

#[test]
fn a_mirror_is_copied_and_verified() {
    let body = content(300_000, 1);
    let (cache, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let from = mirror.path().join("a/data.bin");
    fs::create_dir(mirror.path().join("a")).unwrap();
    fs::write(&from, &body).unwrap();
    let options = Options { from: Some(mirror.path().into()), ..options(cache.path(), None) };

    let fetched = fetch(&single(&body), &options, &Silent).unwrap();
    assert_eq!(fetched.files[0].outcome, Outcome::Copied { from });
    assert_eq!(fs::read(cache.path().join("a/data.bin")).unwrap(), body);
    assert_eq!(files_below(cache.path()).len(), 1);
    let again = fetch(&single(&body), &options, &Silent).unwrap();
    assert_eq!(again.files[0].outcome, Outcome::Present);
}

#[test]
fn a_mirror_that_lacks_a_file_says_where_it_was_looked_for() {
    let (cache, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = Options { from: Some(mirror.path().into()), ..options(cache.path(), None) };
    let error = fetch(&single(b"x"), &options, &Silent).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::MirrorMissing { .. }), "{message}");
    assert!(message.contains(&mirror.path().join("a/data.bin").display().to_string()), "{message}");
    assert_eq!(files_below(cache.path()), NOTHING);
}

#[test]
fn wrong_files_in_a_mirror_leave_nothing_behind() {
    let body = content(1000, 2);
    let (cache, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let from = mirror.path().join("a/data.bin");
    fs::create_dir(mirror.path().join("a")).unwrap();
    let options = Options { from: Some(mirror.path().into()), ..options(cache.path(), None) };

    fs::write(&from, content(1000, 3)).unwrap();
    let error = fetch(&single(&body), &options, &Silent).unwrap_err();
    assert!(matches!(error, Error::Checksum { .. }), "{error}");
    assert_eq!(files_below(cache.path()), NOTHING);

    fs::write(&from, content(999, 3)).unwrap();
    let error = fetch(&single(&body), &options, &Silent).unwrap_err();
    assert!(error.to_string().contains("has 999 bytes; expected 1000"), "{error}");
    assert_eq!(files_below(cache.path()), NOTHING);
}

/// Opening a pipe that nobody writes to would wait for ever.
#[cfg(unix)]
#[test]
fn a_pipe_in_a_mirror_is_refused() {
    let (cache, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(mirror.path().join("a")).unwrap();
    let pipe = mirror.path().join("a/data.bin");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let options = Options { from: Some(mirror.path().into()), ..options(cache.path(), None) };
    let error = fetch(&single(b"x"), &options, &Silent).unwrap_err().to_string();
    assert!(error.contains("data.bin: it is not a plain file"), "{error}");
    assert_eq!(files_below(cache.path()), NOTHING);
}

/// A part that is a link is replaced, and what it leads to stays as it was.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_part_is_not_followed() {
    let body = content(1000, 2);
    let (cache, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [cache.path(), mirror.path()] {
        fs::create_dir(folder.join("a")).unwrap();
    }
    fs::write(mirror.path().join("a/data.bin"), &body).unwrap();
    let victim = mirror.path().join("victim");
    fs::write(&victim, b"precious").unwrap();
    std::os::unix::fs::symlink(&victim, cache.path().join("a/data.bin.part")).unwrap();
    let options = Options { from: Some(mirror.path().into()), ..options(cache.path(), None) };
    fetch(&single(&body), &options, &Silent).unwrap();
    assert_eq!(fs::read(cache.path().join("a/data.bin")).unwrap(), body);
    assert_eq!(fs::read(victim).unwrap(), b"precious");
}

/// Fetches every dataset that a real mirror holds, and so checks the catalogue against it.
#[test]
fn the_catalogue_agrees_with_a_real_mirror() {
    let Some(mirror) = dissensus_testing::data(&[""]) else { return };
    let cache = tempfile::tempdir().unwrap();
    let options = Options { from: Some(mirror.clone()), ..Options::new(cache.path()) };
    let mut checked = 0;
    for dataset in DATASETS.iter().filter(|d| !d.files.is_empty()) {
        let missing: Vec<_> =
            dataset.files.iter().filter(|f| !mirror.join(f.path).exists()).collect();
        if !missing.is_empty() {
            eprintln!("SKIPPED: {} is not whole in {}", dataset.name, mirror.display());
            continue;
        }
        fetch(dataset, &options, &Silent).unwrap();
        assert_eq!(locate(dataset.name, cache.path()).unwrap().len(), dataset.files.len());
        checked += dataset.files.len();
    }
    let present = status(cache.path())
        .iter()
        .flat_map(|h| &h.files)
        .filter(|f| f.state == State::Present)
        .count();
    assert_eq!(present, checked);
    assert!(checked > 0, "{} holds nothing of the catalogue", mirror.display());
}
