//! CONTRIBUTING.md says of every family where its members are, which list they are in, and that a member is
//! one file (or function) and one line of that list.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The texts in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The rows of the first table under "To add something": what, where, list, example.
fn rows() -> Vec<[String; 4]> {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, after) = text.split_once("## To add something").unwrap();
    let table = after.lines().skip_while(|line| !line.starts_with('|')).skip(2);
    let table = table.take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> [String; 4] {
        let cells: Vec<String> =
            line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
        cells.try_into().unwrap_or_else(|_| panic!("{line}: expected four cells"))
    };
    table.map(cells).collect()
}

/// A file of this name, relative to a folder or to one of those above it.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    folder.ancestors().take(4).map(|above| above.join(name)).find(|path| path.is_file())
}

#[test]
fn every_family_is_where_the_table_says() {
    let rows = rows();
    assert!(rows.len() >= 15, "{} rows", rows.len());
    for [what, write, list, example] in rows {
        let [path, example] = [&write, &example].map(|cell| quoted(cell)[0].to_owned());
        let path = root().join(&path);
        // The file of the list, and its name where it has one.
        let list_file = quoted(&list).into_iter().find(|text| text.ends_with(".rs"));
        let named: Vec<&str> =
            quoted(&list).into_iter().filter(|text| !text.ends_with(".rs")).collect();
        let folder = path.parent().unwrap();
        let list_path = match list_file {
            Some(file) => find(folder, file).unwrap_or_else(|| panic!("{what}: no {file}")),
            None => path.clone(),
        };
        let source = std::fs::read_to_string(&list_path).unwrap();
        for name in &named {
            let name = name.trim_end_matches('!');
            assert!(source.contains(name), "{what}: {} has no {name}", list_path.display());
        }
        if !example.contains('.') {
            // A function of the file.
            assert!(source.contains(&format!("fn {example}(")), "{what}: no fn {example}");
            assert!(
                source.contains(&format!("    {example},\n")),
                "{what}: {example} is not in the list"
            );
            continue;
        }
        let file = folder.join(&example);
        assert!(file.is_file(), "{what}: there is no {}", file.display());
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let own = quoted(&write)[0].replace("NAME", stem);
        assert!(root().join(&own).is_file(), "{what}: {own} is not what the table says");
        // The `mod` line and an entry of the list name the module; an entry may name two things of it.
        let uses = |text: &str| {
            let own = [format!("{stem};"), format!("{stem}::"), format!("{stem},")];
            text.lines()
                .take_while(|line| !line.starts_with("#[cfg(test)]"))
                .filter(|line| {
                    let stands = |own: &String| {
                        line.find(own.as_str()).is_some_and(|at| {
                            !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                        })
                    };
                    own.iter().any(stands)
                })
                .count()
        };
        let found = uses(&source);
        assert!(
            (1..=3).contains(&found) || example.ends_with(".toml"),
            "{what}: {found} lines of {} name {stem}; expected an entry of the list, and its `mod` line",
            list_path.display()
        );
    }
}
