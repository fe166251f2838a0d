//! No output replaces what it was not told to replace, and none goes into a store.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use common::show;

/// An option or argument that something is written to: the command, its name in the help, a command line with
/// `OUT` for it, a name for what is written, and whether the command can end here.
struct Row(&'static str, &'static str, &'static str, &'static str, bool);

const OUTPUTS: &[Row] = &[
    Row("votes convert", "<OUT>", "votes convert votes.csv OUT", "x.npz", true),
    Row("votes targets", "--out", "votes targets votes.csv --out OUT", "x.csv", true),
    Row("votes inspect", "--svg", "votes inspect votes.csv --svg OUT", "x.svg", true),
    Row(
        "score",
        "--svg",
        "score --votes votes.csv --predictions p.csv --replicates 0 --svg OUT",
        "x",
        true,
    ),
    Row("demo", "--out", "demo --items 20 --out OUT", "x", true),
    Row("baseline", "--out", "baseline votes --votes votes.csv --out OUT", "x.csv", true),
    Row("predict", "--out", "predict RUN images.npz --out OUT", "x.npz", true),
    Row("predict", "--features", "predict RUN images.npz --features OUT", "x.npz", true),
    // Without a model, only what is said before the work.
    Row("embed", "--out", "embed votes.csv --encoder none.onnx --out OUT", "x.npz", false),
    Row("deliver", "--out", "deliver --votes votes.csv --method sls --out OUT", "x.npy", true),
    Row(
        "geometry",
        "--density",
        "geometry RUN --probes 2 --max-products 2 --density OUT",
        "x.csv",
        true,
    ),
    Row("gradcam", "--out", "gradcam RUN --top 1 --out OUT", "x", true),
    Row(
        "ood",
        "--raw",
        "ood RUN --out images.npz --scores energy --replicates 0 --raw OUT",
        "x.csv",
        true,
    ),
    Row("study new", "--out", "study new votes.csv --inputs images.npz --out OUT", "x.toml", true),
    Row("study run", "--report", "study run small.toml --report=OUT", "x", true),
    Row("study finish", "--report", "study finish small.toml --report=OUT", "x", true),
    Row("report", "--out", "report runs --out OUT", "x", true),
    Row("pack", "[FILE]", "pack runs OUT", "x.pack", true),
];

/// What only names something to read, or a store, a bucket or a cache.
const READ: &[&str] = &[
    "<FILE>",
    "<FILE>...",
    "<DATA>",
    "<VOTES|DATASET>",
    "<NAME|FILE>",
    "[NAME|FILE]",
    "[DATASET|FILE]",
    "[SPEC.toml]",
    "<STORE>",
    "<URL>",
    "--votes",
    "--predictions",
    "--labels",
    "--logits",
    "--probabilities",
    "--class-map",
    "--a",
    "--b",
    "--spec",
    "--study",
    "--from",
    "--inputs",
    "--inputs-layout",
    "--encoder",
    "--endpoint",
    "--program",
    "--store",
    "--local",
    "--cache",
];

/// The same, of one command; curves are added to a folder, in files of names that did not exist.
const READ_BY: &[(&str, &str)] = &[("ood", "--out"), ("study run", "--tensorboard")];

/// All commands with the names of their options and arguments that take a file, a folder or an address.
fn paths(folder: &Path, command: &str, all: &mut Vec<(String, String)>) {
    let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    let help = common::dissensus(folder, &words);
    let help = String::from_utf8(help.stdout).unwrap();
    let mut in_commands = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            in_commands = line == "Commands:";
            continue;
        }
        let text = line.trim_start();
        let name = text.split_whitespace().next().unwrap_or_default();
        if in_commands {
            if line.starts_with("  ") && !line.starts_with("   ") {
                paths(folder, format!("{command} {name}").trim(), all);
            }
        } else if text.starts_with(['-', '<'])
            || text.starts_with('[')
                && !["[env", "[def", "[pos", "[ali"].iter().any(|t| text.starts_with(t))
        {
            let option = text.split(['[', ' ', '=', ',']).find(|word| word.starts_with("--"));
            let option = option.unwrap_or(name);
            let value = text.split("  ").next().unwrap_or_default();
            let value = value.find(['<', '[']).map_or("", |at| &value[at..]);
            let kinds =
                ["FILE", "DIR", "PATH", "STORE", "DATA", "URL", "OUT", "toml", "csv", "npz"];
            if kinds.iter().any(|kind| value.contains(kind)) {
                all.push((command.to_owned(), option.to_owned()));
            }
        }
    }
}

/// A command that writes somewhere else has to be added above.
#[test]
fn every_option_that_takes_a_path_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    paths(folder.path(), "", &mut all);
    assert!(all.len() > 60, "{all:?}");
    for Row(command, option, ..) in OUTPUTS {
        let known = |(c, o): &(String, String)| c == command && o == option;
        assert!(all.iter().any(known), "{command} has no {option}");
    }
    for (command, option) in &all {
        let output = OUTPUTS.iter().any(|Row(c, o, ..)| c == command && o == option);
        let read = READ.contains(&option.as_str())
            || READ_BY.contains(&(command.as_str(), option.as_str()));
        assert!(output != read, "{command} {option} is in no list of this test, or in both");
    }
}

/// A folder with votes, images, predictions, and a study whose runs are done.
fn lab() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let study = include_str!("common/small.toml");
    fs::write(folder.path().join("small.toml"), study).unwrap();
    fs::write(folder.path().join("p.csv"), "item,0,1,2,3,4\nb0,1,0,0,0,0\n").unwrap();
    for words in [
        "demo --items 40 --out .",
        "study run small.toml",
        "baseline prior --votes votes.csv --out q.csv",
    ] {
        ends(0, folder.path(), &words.split(' ').collect::<Vec<_>>());
    }
    fs::rename(folder.path().join("q.csv"), folder.path().join("p.csv")).unwrap();
    let listed = ends(0, folder.path(), &["runs", "list", "--csv"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let run = listed.lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    (folder, run)
}

fn ends(code: i32, folder: &Path, words: &[&str]) -> Output {
    let output = common::dissensus(folder, words);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {}", show(&output));
    output
}

/// All files below a folder, with their bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => drop(all.insert(path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    all
}

#[test]
fn outputs_replace_nothing_and_stay_out_of_stores() {
    let (folder, run) = lab();
    let folder = folder.path();
    for (at, Row(command, option, line, name, completes)) in OUTPUTS.iter().enumerate() {
        let what = format!("{command} {option}");
        let words = |out: &str, force: bool| -> Vec<String> {
            let word = |word: &str| match word {
                "RUN" => run.clone(),
                word => word.replace("OUT", out),
            };
            line.split(' ').map(word).chain(force.then(|| "--force".to_owned())).collect()
        };
        let call = |code: i32, out: &str, force: bool| {
            let words = words(out, force);
            let output = ends(code, folder, &words.iter().map(String::as_str).collect::<Vec<_>>());
            String::from_utf8(output.stderr).unwrap()
        };
        let (new, old) = (format!("new{at}-{name}"), format!("old{at}-{name}"));
        // What is written where nothing is.
        let mut mine = folder.join(&old);
        if *completes {
            call(0, &new, false);
            let made = folder.join(&new);
            if made.is_dir() {
                let first = files(&made).into_keys().next().expect("no file was written");
                mine = mine.join(Path::new(&first).strip_prefix(&made).unwrap());
            }
        }
        fs::create_dir_all(mine.parent().unwrap()).unwrap();
        fs::write(&mine, "mine").unwrap();
        let before = files(&folder.join("runs"));
        let said = call(2, &old, false);
        assert!(said.contains("--force"), "{what}: {said}");
        assert_eq!(fs::read(&mine).unwrap(), b"mine", "{what}");
        if *completes {
            call(0, &old, true);
            assert_ne!(fs::read(&mine).unwrap(), b"mine", "{what}");
        }
        // A store is no place for outputs, whatever is said.
        for inside in [format!("runs/{name}"), format!("runs/runs/{run}/{name}")] {
            let said = call(2, &inside, true);
            assert!(said.contains("never written into a store"), "{what}: {said}");
        }
        if line.starts_with("study") || line.starts_with("report") {
            continue;
        }
        assert_eq!(files(&folder.join("runs")), before, "{what} changed the store");
    }
    for line in [
        "train small.toml --store runs/runs",
        "study run small.toml --store runs/new",
        "study run small.toml --tensorboard runs/curves",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let said = show(&common::dissensus(folder, &words));
        assert!(said.starts_with("exit code: 2"), "{line}: {said}");
    }
}

/// A report of the same study, and a pack that loses nothing, are made again without a word.
#[test]
fn the_same_output_may_be_made_again() {
    let (folder, run) = lab();
    let folder = folder.path();
    let again = |code: i32, line: &str| {
        String::from_utf8(ends(code, folder, &line.split(' ').collect::<Vec<_>>()).stderr).unwrap()
    };
    again(0, "report runs");
    again(0, "report runs");
    let other = include_str!("common/small.toml").replace("name = \"small\"", "name = \"other\"");
    fs::write(folder.join("other.toml"), other).unwrap();
    let said = again(2, "study run other.toml --report");
    assert!(
        said.contains("runs-report holds other files than a report of the study other"),
        "{said}"
    );
    again(0, "study run other.toml --report=other-report");
    again(0, "pack runs");
    again(0, "pack runs");
    again(0, &format!("runs rm {run} --yes"));
    assert!(again(2, "pack runs").contains("runs.pack exists already"));
    again(2, "pack runs votes.csv");
    again(2, "pack runs runs/store.json --force");
    // A user's own folder is not a report's.
    assert!(again(2, "report runs --study small --out .").contains(". holds other files"));
}
