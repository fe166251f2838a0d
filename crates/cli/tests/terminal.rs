//! What reaches a terminal: tables of its width, and no control characters of data.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{program, show};

/// A title for the window, a cleared screen, a bell, text from right to left.
const PAYLOAD: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}\u{9b}31m";

/// Runs with colours, as on a terminal: without them all escape sequences would be removed anyway.
fn in_colour(folder: &Path, arguments: &[&str]) -> String {
    let mut command = program(folder, arguments);
    command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    show(&command.stdin(Stdio::null()).output().unwrap())
}

fn assert_harmless(output: &str) {
    let rest = output.replace("\u{1b}[0m", "").replace("\u{1b}[1m", "").replace("\u{1b}[2m", "");
    let rest = ["31", "32", "33"]
        .iter()
        .fold(rest, |rest, colour| rest.replace(&format!("\u{1b}[{colour}m"), ""));
    let harmful = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!rest.contains(harmful), "{rest:?}");
}

#[test]
fn data_cannot_steer_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let rows: String = (0..6)
        .map(|i| {
            format!("i{i},a,cat{PAYLOAD}\ni{i},b,{}\n", if i % 2 == 0 { "cat" } else { "dog" })
        })
        .collect();
    fs::write(path("votes.csv"), format!("item,annotator,label\n{rows}")).unwrap();
    fs::write(path("columns.csv"), format!("one{PAYLOAD},two,three{PAYLOAD}\n1,2,3\n")).unwrap();
    let file = format!("votes{PAYLOAD}.csv");
    fs::write(path(&file), format!("item,annotator,label\n{rows}")).unwrap();
    let spec = "[data]\ndataset = \"blends\"\n\"\\u001b]0;owned\\u0007key\" = 1\n";
    fs::write(path("spec.toml"), spec).unwrap();
    let model = format!("model{PAYLOAD}.csv");
    fs::write(path(&model), "id,cat,dog\ni0,0.5,0.5\n").unwrap();
    let nothing = format!("nothing{PAYLOAD}.csv");
    for arguments in [
        &["votes", "inspect", "votes.csv"][..],
        &["votes", "inspect", &file],
        &["votes", "lint", &file],
        &["votes", "inspect", &nothing],
        &["votes", "inspect", "columns.csv"],
        &["train", "spec.toml"],
        &["score", "--votes", "votes.csv", "--predictions", &model],
        &["score", "--votes", "votes.csv", "--predictions", "m.csv", "--metrics", PAYLOAD],
    ] {
        let output = in_colour(folder.path(), arguments);
        // What remains of the payload was printed, so it did pass through here.
        assert!(output.contains("]0;owned"), "{arguments:?}: {output:?}");
        assert_harmless(&output);
    }
    assert_harmless(&in_colour(folder.path(), &["votes", PAYLOAD]));
}

/// With `script` a program has a terminal; without it this is not tested.
#[test]
fn a_table_is_as_wide_as_the_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        return dissensus_testing::skipped("script", "`script` is not installed")
            .unwrap_or_default();
    }
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
    let score = "score --votes votes.csv --predictions model.csv --replicates 50";
    let arguments: Vec<&str> = score.split(' ').collect();
    let cells = |text: &str| text.matches('[').count();
    let piped = String::from_utf8(program(data, &arguments).output().unwrap().stdout).unwrap();
    assert_eq!(piped.lines().count(), 2, "{piped}");
    for columns in ["40", "60", "80", "120"] {
        let line = format!("{} {score} 2>/dev/null", env!("CARGO_BIN_EXE_dissensus"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(data).stdin(Stdio::null());
        command.env("NO_COLOR", "1").env("COLUMNS", columns);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let widest = text.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{columns}: {text}");
        assert_eq!(cells(&text), cells(&piped), "{columns}: {text}");
    }
}
