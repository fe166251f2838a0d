//! The dependencies are as `deny.toml` wants them, and `THIRD-PARTY-NOTICES` lists those of the program.
//! `cargo deny check` reads the same file and also looks for advisories, for which it needs the network.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package};
use serde::Deserialize;

#[derive(Deserialize)]
struct Deny {
    advisories: Advisories,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Advisories {
    ignore: Vec<Ignored>,
}

#[derive(Deserialize)]
struct Ignored {
    id: String,
    reason: String,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Banned>,
}

#[derive(Deserialize)]
struct Banned {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn deny() -> Deny {
    toml::from_str(&std::fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap()
}

/// What releases are built with.
const CLOUD: &str = "dissensus-cli/cloud";

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command
        .manifest_path(root().join("Cargo.toml"))
        .features(CargoOpt::SomeFeatures(vec![CLOUD.to_owned()]));
    command.other_options(["--locked".to_owned()]).exec().unwrap()
}

/// Crates that are not ours.
fn others(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| package.source.is_some())
}

/// Whether an SPDX expression holds with licences that are allowed; those that are used are noted.
/// `A/B` is an old way to write `A OR B`.
fn is_allowed(expression: &str, allow: &BTreeSet<String>, used: &mut BTreeSet<String>) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    let allowed = either(&words, &mut at, allow, used);
    assert_eq!(at, words.len(), "{expression:?} is not read to its end");
    allowed
}

fn either(
    words: &[&str],
    at: &mut usize,
    allow: &BTreeSet<String>,
    used: &mut BTreeSet<String>,
) -> bool {
    let mut any = both(words, at, allow, used);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        any |= both(words, at, allow, used);
    }
    any
}

fn both(
    words: &[&str],
    at: &mut usize,
    allow: &BTreeSet<String>,
    used: &mut BTreeSet<String>,
) -> bool {
    let mut all = true;
    loop {
        let word = words[*at];
        *at += 1;
        all &= if word == "(" {
            let inner = either(words, at, allow, used);
            *at += 1;
            inner
        } else {
            let mut name = word.to_owned();
            if words.get(*at) == Some(&"WITH") {
                name = format!("{word} WITH {}", words[*at + 1]);
                *at += 2;
            }
            allow.get(&name).is_some_and(|name| {
                used.insert(name.clone());
                true
            })
        };
        if words.get(*at) != Some(&"AND") {
            return all;
        }
        *at += 1;
    }
}

#[test]
fn expressions_are_read_as_spdx_does() {
    let allow: BTreeSet<String> = ["MIT", "ISC", "A WITH B"].map(str::to_owned).into();
    let allowed = |text: &str| is_allowed(text, &allow, &mut BTreeSet::new());
    for text in
        ["MIT", "GPL OR MIT", "GPL/ISC", "(MIT OR GPL) AND ISC", "A WITH B", "MIT AND (X OR ISC)"]
    {
        assert!(allowed(text), "{text}");
    }
    for text in ["GPL", "MIT AND GPL", "A", "(MIT OR GPL) AND X", "MIT WITH B"] {
        assert!(!allowed(text), "{text}");
    }
}

#[test]
fn every_licence_is_allowed_and_every_allowed_one_is_used() {
    let (allow, metadata) = (deny().licenses.allow, metadata());
    let mut used = BTreeSet::new();
    for package in others(&metadata) {
        let license =
            package.license.as_ref().unwrap_or_else(|| panic!("{} has no licence", package.name));
        assert!(is_allowed(license, &allow, &mut used), "{} is under {license}", package.name);
    }
    assert_eq!(used, allow);
}

#[test]
fn nothing_that_is_banned_or_from_elsewhere_is_used() {
    let (deny, metadata) = (deny(), metadata());
    let banned: BTreeSet<String> = deny.bans.deny.into_iter().map(|banned| banned.name).collect();
    for package in others(&metadata) {
        assert!(!banned.contains(package.name.as_str()), "{} is banned in deny.toml", package.name);
        let source = package.source.as_ref().unwrap().repr.clone();
        let registry = source.strip_prefix("registry+").unwrap_or_else(|| panic!("{source}"));
        assert!(deny.sources.allow_registry.iter().any(|allowed| allowed == registry), "{source}");
    }
    for package in metadata.packages.iter().filter(|package| package.source.is_none()) {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_none())
        {
            let requirement = dependency.req.to_string();
            assert_ne!(requirement, "*", "{} takes any {}", package.name, dependency.name);
        }
    }
}

/// An advisory is only ignored while its crate, with which the reason begins, is there.
#[test]
fn ignored_advisories_are_about_crates_that_are_used() {
    let metadata = metadata();
    for Ignored { id, reason } in deny().advisories.ignore {
        let name = reason.split(':').next().unwrap();
        assert!(
            others(&metadata).any(|package| package.name == name),
            "{id}: {name} is not used any more"
        );
    }
}

/// What the program is linked from, on any system: all but tests and what only runs while it is built.
/// `cargo metadata` would add what features of other members of the workspace bring.
fn linked(metadata: &Metadata) -> BTreeMap<String, String> {
    let mut tree = std::process::Command::new(env!("CARGO"));
    tree.current_dir(root()).args(["tree", "--locked", "--package", "dissensus-cli"]);
    tree.args(["--features", CLOUD, "--edges", "normal,no-proc-macro", "--target", "all"]);
    tree.args(["--prefix", "none", "--format", "{p}", "--no-dedupe"]);
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let linked: BTreeSet<&str> = text.lines().collect();
    let is_linked =
        |package: &&Package| linked.contains(&*format!("{} v{}", package.name, package.version));
    let line = |package: &Package| {
        let name = format!("{} {}", package.name, package.version);
        (name, package.license.clone().unwrap_or_default())
    };
    others(metadata).filter(is_linked).map(line).collect()
}

#[test]
fn notices_are_of_the_crates_that_are_linked() {
    let text = std::fs::read_to_string(root().join("THIRD-PARTY-NOTICES")).unwrap();
    let list = text.split("\n\n").find(|part| part.contains(": ")).unwrap();
    let written: BTreeMap<String, String> = list
        .lines()
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, license)| (name.to_owned(), license.to_owned()))
        .collect();
    assert_eq!(written, linked(&metadata()), "run scripts/notices.py");
}
