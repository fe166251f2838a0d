//! The house is as ARCHITECTURE.md draws it: its table of crates names every crate, and no crate
//! knows more than the table allows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand};

/// crate → (folder, what it may know), from the table between the two markers.
fn allowed() -> BTreeMap<String, Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).unwrap();
    let table = text.split("<!-- crates -->").nth(1).expect("the table of crates is marked");
    let mut crates = BTreeMap::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let names = |cell: &str| -> Vec<String> {
            cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let [name, _holds, ours, others] = cells[..] else { panic!("four cells: {line}") };
        let mut may = names(ours);
        may.extend(names(others));
        crates.insert(names(name).remove(0), may);
    }
    crates
}

#[test]
fn no_crate_knows_more_than_the_table_allows() {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let allowed = allowed();
    let folder = |manifest: &str| manifest.rsplit('/').nth(1).unwrap().to_owned();
    let mut seen = Vec::new();
    let ours = |path: &str| path.contains("/crates/");
    for package in metadata.packages.iter().filter(|p| ours(p.manifest_path.as_str())) {
        let name = folder(package.manifest_path.as_str());
        let may = allowed.get(&name).unwrap_or_else(|| panic!("{name} is not in ARCHITECTURE.md"));
        for dependency in &package.dependencies {
            if dependency.kind != DependencyKind::Normal {
                continue;
            }
            let dependency = dependency.name.strip_prefix("dissensus-").unwrap_or(&dependency.name);
            assert!(may.iter().any(|m| m == dependency), "{name} may not know {dependency}");
        }
        let used = |m: &&String| {
            let plain = |name: &str| name.strip_prefix("dissensus-").unwrap_or(name) == m.as_str();
            let mut normal =
                package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal);
            normal.any(|d| plain(&d.name))
        };
        let unused: Vec<_> = may.iter().filter(|m| !used(m)).collect();
        assert!(
            unused.is_empty(),
            "ARCHITECTURE.md lets {name} know {unused:?}, which it does not"
        );
        seen.push(name);
    }
    for name in allowed.keys() {
        assert!(seen.contains(name), "{name} is in ARCHITECTURE.md but not in the workspace");
    }
}

/// A program is thin: everything that it does, others can do with the library.
#[test]
fn programs_depend_on_the_library_alone() {
    let folders = allowed();
    // The Python package has the command as well, as a function.
    for (program, expected) in [("cli", &["dissensus"][..]), ("python", &["dissensus", "cli"])] {
        let ours: Vec<_> =
            folders[program].iter().filter(|name| folders.contains_key(*name)).collect();
        assert_eq!(ours, expected, "{program}");
    }
}

#[test]
fn judging_never_depends_on_training() {
    let allowed = allowed();
    for name in ["measure", "stats", "evaluate", "report"] {
        if let Some(may) = allowed.get(name) {
            assert!(!may.iter().any(|m| m == "engine" || m == "train"), "{name}");
        }
    }
}

/// Only the command line prints; a library that prints cannot be used as one.
#[test]
fn only_the_command_line_prints() {
    let crates = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut folders: Vec<_> = std::fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name != "cli"))
        .map(|path| path.join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let library = text.split("#[cfg(test)]").next().unwrap();
                // Examples in documentation may print.
                let code = library.lines().filter(|line| !line.trim_start().starts_with("//"));
                let library = code.collect::<Vec<_>>().join("\n");
                for word in ["println!", "eprintln!", "print!(", "dbg!"] {
                    assert!(!library.contains(word), "{} uses {word}", path.display());
                }
            }
        }
    }
}
