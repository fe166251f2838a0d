//! A crate outside the workspace that depends on this one alone: it scores predictions in memory, and
//! needs few crates.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
// Its `main` is not called.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "outside/src/main.rs"]
mod outside;

/// At most so many crates, this one, procedural macros and build dependencies included.
const MOST: usize = 60;

#[test]
fn it_scores_predictions() {
    let scores = outside::scores().unwrap();
    // KL of 3:1 from 0.75:0.25 and of 2:2 from 0.5:0.5 is 0, and that of 0:4 from 0.1:0.9 is -ln 0.9.
    let kl = scores.metric("kl").unwrap().value.unwrap();
    assert!((kl + 0.9f64.ln() / 3.0).abs() < 1e-12, "{kl}");
    assert!(scores.metric("kl").unwrap().low.is_some());
}

/// A copy of the program with the versions of the workspace.
fn copied() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    std::fs::create_dir_all(there.join("src")).unwrap();
    let manifest = std::fs::read_to_string(here.join("tests/outside/Cargo.toml")).unwrap();
    let manifest = manifest.replace("../..", here.to_str().unwrap());
    std::fs::write(there.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(here.join("tests/outside/src/main.rs"), there.join("src/main.rs")).unwrap();
    std::fs::copy(here.join("../../Cargo.lock"), there.join("Cargo.lock")).unwrap();
    there
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let run = Command::new(cargo).args(arguments).current_dir(copied()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn it_needs_few_crates() {
    let tree = cargo(&["tree", "--offline", "--edges", "normal,build", "--prefix", "none"]);
    let crates: BTreeSet<&str> =
        tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|l| !l.is_empty()).collect();
    println!("{} crates", crates.len());
    assert!(crates.len() <= MOST, "{} crates: {crates:#?}", crates.len());
    let has = |name: &str| crates.iter().any(|one| one.split(' ').next() == Some(name));
    assert!(has("dissensus-evaluate") && !has("dissensus-train") && !has("dissensus-report"));
}

/// Builds it from nothing: `cargo test -p dissensus-evaluate --test outside -- --ignored`.
#[test]
#[ignore = "builds 60 crates"]
fn it_builds_and_runs() {
    let said = cargo(&["run", "--offline", "--quiet"]);
    assert!(said.lines().any(|line| line.starts_with("soft_nll: Some(0.")), "{said}");
}
