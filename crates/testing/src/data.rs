//! What a test needs and may not find. Real data are not part of the repository: `DISSENSUS_MIRROR` names
//! the folder that holds them, by default `shared/data` beside the repository. A test that lacks something
//! says so and passes; where `DISSENSUS_REQUIRE` names what is missing, it fails. `.ci/run` sets it.

use std::io::Write as _;
use std::path::PathBuf;

/// The folder of the data, whether it is there or not.
pub fn mirror() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    std::env::var_os("DISSENSUS_MIRROR").map_or_else(|| beside.into(), PathBuf::from)
}

/// The folder of the data, or `None` (stated) where one of these files is not in it.
///
/// # Panics
/// As [`skipped`] does, for `data`.
pub fn data(files: &[&str]) -> Option<PathBuf> {
    data_named("data", files)
}

/// As [`data`], for files that not every mirror has; `DISSENSUS_REQUIRE` has a word of its own for them.
pub fn data_named(needs: &str, files: &[&str]) -> Option<PathBuf> {
    let root = mirror();
    match files.iter().find(|file| !root.join(file).exists()) {
        Some(missing) => skipped(needs, &format!("{} is not there", root.join(missing).display())),
        None => Some(root),
    }
}

/// States why a test does not run.
///
/// # Panics
/// Where this is one of the words of `DISSENSUS_REQUIRE`, which are separated by commas.
pub fn skipped<T>(needs: &str, why: &str) -> Option<T> {
    let required = std::env::var("DISSENSUS_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|one| one == needs),
        "DISSENSUS_REQUIRE={required}, but {why}"
    );
    // Not `eprintln!`, which the output of a test that passes hides.
    let _ = writeln!(std::io::stderr(), "SKIPPED ({needs}): {why}");
    None
}
