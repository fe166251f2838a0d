//! Every reader, with the seeds of its fuzz target and with changes to them that are the same every time.
//! What must hold for each is in `support/readers.rs` and, for votes, in its own crate.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]
#![allow(unreachable_pub, dead_code)] // the fuzz targets share these modules

#[path = "../../votes/tests/support/check.rs"]
mod check;
#[path = "support/readers.rs"]
mod readers;

use std::fs;
use std::path::{Path, PathBuf};

use dissensus::core::philox::Stream;

/// Changes per seed.
const CHANGES: u64 = 40;

fn fuzz(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(folder)
}

/// The entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Says which input it was before a panic goes on.
struct Named<'a>(&'a Path, u64);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in {}, change {}", self.0.display(), self.1);
        }
    }
}

/// A few bytes changed, cut, repeated or replaced by numbers at which things break.
fn changed(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Stream::new([seed, 0], [0; 3]);
    let mut draw = |most: usize| random.below(most as u64) as usize;
    let mut bytes = bytes.to_vec();
    for _ in 0..=draw(4) {
        let at = draw(bytes.len() + 1);
        match draw(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, draw(256) as u8),
            2 if at < bytes.len() => bytes[at] ^= 1 << draw(8),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 => {
                let part = bytes[at..(at + draw(32)).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let number = [0, 1, 127, 255, u64::from(u32::MAX), u64::MAX][draw(6)];
                let width = [1, 4, 8][draw(3)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
            }
        }
    }
    bytes
}

#[test]
fn every_target_has_seeds() {
    let mut targets: Vec<_> = check::targets().chain(readers::TARGETS).collect();
    targets.sort_unstable();
    let folders = entries(&fuzz("seeds"));
    let seeds: Vec<String> =
        folders.iter().filter(|path| path.is_dir()).map(|path| stem(path)).collect();
    assert_eq!(targets, seeds);
}

#[test]
fn seeds_and_changes_to_them_are_read_or_refused() {
    let mut inputs = 0;
    for folder in entries(&fuzz("seeds")).iter().filter(|path| path.is_dir()) {
        let target = stem(folder);
        let run = match readers::TARGETS.contains(&target.as_str()) {
            true => readers::run,
            false => check::run,
        };
        for path in entries(folder) {
            let bytes = fs::read(&path).unwrap();
            let _named = Named(&path, 0);
            run(&target, &bytes);
            for change in 1..=CHANGES {
                let _named = Named(&path, change);
                run(&target, &changed(&bytes, change));
            }
            inputs += 1 + CHANGES;
        }
    }
    assert!(inputs > 5000, "{inputs} inputs");
}
