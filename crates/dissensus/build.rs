//! Puts the commit into `--version`, where the crate is built in its repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let version = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo:rustc-env=DISSENSUS_VERSION={version}");
}

/// The hash and the date of the commit. A published crate has no repository of its own: one around it (of a user's home
/// folder, say) is another project's.
fn commit() -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    let output = Command::new("git").args(["log", "-1", "--format=%h %cs"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
