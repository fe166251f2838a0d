//! `dissensus study`, `report`, `pack` and `unpack`: a small study from its file to its report, and
//! from one store to another.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use common::{dissensus, ends, show};

/// Four small runs, with everything that a report is made of.
const STUDY: &str = concat!(
    include_str!("common/small.toml"),
    r#"
[run]
seeds = 2

[[slice]]
name = "divided"
top = 0.2

[stages]
truth = {}

[[table]]
name = "main"
title = "The two arms"
down = ["arm"]
metrics = ["soft_nll", "true_kl"]
against = { arm = "soft" }

[[table]]
name = "slices"
down = ["arm"]
across = ["slice"]
metrics = ["kl"]
slices = ["all", "divided"]

[[figure]]
name = "points"
kind = "points"
metrics = ["soft_nll"]

[[figure]]
name = "pictures"
kind = "images"
count = 2

[[reference]]
arm = "soft"
k = 5
metric = "soft_nll"
mean = 2.3
sd = 0.5
n = 5
source = "A paper, table 1"
"#
);

/// A folder with the study in it.
fn lab() -> TempDir {
    common::folder_with("small.toml", STUDY)
}

fn status(folder: &TempDir, more: &[&str]) -> Value {
    let arguments = [&["study", "status", "small.toml", "--json"], more].concat();
    serde_json::from_slice(&ends(0, folder, &arguments).stdout).unwrap()
}

/// What differs from machine to machine, and with the version of a spec.
const VARIABLE: [(&str, &str); 7] = [
    (r"\b[0-9a-f]{16}\b", "0123456789abcdef"),
    (r"[ −-]\d\.\d{4}\b", " 0.1234"),
    (r"p = \d\.\d{3}", "p = 0.123"),
    (r"selected epoch \d", "selected epoch N"),
    (r"\b\d+\.\d s\b", "TIME"),
    (r"\b[\d.]+ (B|kB)\b", "SIZE"),
    (r"[+−]?\d\.\d sd\)", "0.1 sd)"),
];

fn snapshot(name: &str, output: &Output) {
    insta::with_settings!({ filters => VARIABLE, omit_expression => true }, {
        insta::assert_snapshot!(name, show(output));
    });
}

/// The files of a folder by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// What is printed to be copied is what the program has, and gives the same study again.
#[test]
fn studies_are_listed_and_shown() {
    let folder = lab();
    let listed = String::from_utf8(ends(0, &folder, &["study", "list"]).stdout).unwrap();
    assert!(listed.contains("demo                Four deliveries of the same votes, "), "{listed}");
    let demo = ends(0, &folder, &["study", "show", "demo"]).stdout;
    assert_eq!(demo, include_bytes!("../../studies/src/builtin/demo.toml"));
    std::fs::write(folder.path().join("mine.toml"), demo).unwrap();
    let ours = ends(0, &folder, &["study", "show", "demo", "--resolved"]).stdout;
    let copy = ends(0, &folder, &["study", "show", "mine.toml", "--resolved"]).stdout;
    assert_eq!(String::from_utf8(ours.clone()).unwrap(), String::from_utf8(copy).unwrap());
    std::fs::write(folder.path().join("again.toml"), &ours).unwrap();
    assert_eq!(ours, ends(0, &folder, &["study", "show", "again.toml"]).stdout);
}

#[test]
fn what_is_wrong_is_refused() {
    let folder = lab();
    let refused = |name: &str, arguments: &[&str]| {
        snapshot(name, &ends(2, &folder, arguments));
    };
    let unknown = show(&ends(2, &folder, &["study", "run", "dmo"]));
    assert!(unknown.contains("no built-in study \"dmo\"; did you mean `demo`?"), "{unknown}");
    refused("error_no_file", &["study", "run", "missing.toml"]);
    refused("error_only", &["study", "run", "small.toml", "--arms", "soft,drwn"]);
    refused("error_scale", &["study", "run", "demo", "--scale", "quik"]);
    refused("error_seeds", &["study", "run", "small.toml", "--seeds", "0"]);
    refused("error_set", &["study", "run", "small.toml", "--set", "training.epoch=1"]);
    refused("error_set_seeds", &["study", "run", "small.toml", "--set", "run.seeds=1"]);
    for (name, good, bad) in [
        ("error_key", "delivery = \"sls\"", "delivry = \"sls\""),
        ("error_delivery", "delivery = \"sls\"", "delivery = \"sl\""),
        ("error_against", "against = { arm = \"soft\" }", "against = { arm = \"sof\" }"),
        ("error_kind", "kind = \"points\"", "kind = \"dots\""),
        ("error_twice", "name = \"drawn\"", "name = \"soft\""),
        ("error_syntax", "[[slice]]", "[[slice]"),
        ("error_reference", "source = \"A paper, table 1\"", "sd2 = 1"),
    ] {
        assert!(STUDY.contains(good), "{good}");
        std::fs::write(folder.path().join("bad.toml"), STUDY.replace(good, bad)).unwrap();
        refused(name, &["study", "run", "bad.toml"]);
    }
    let bad = STUDY.replace("dataset = \"blends\"", "dataset = \"blend\"");
    std::fs::write(folder.path().join("bad.toml"), bad).unwrap();
    let unknown = show(&ends(2, &folder, &["study", "run", "bad.toml"]));
    assert_eq!(unknown.matches("there is no dataset 'blend'").count(), 1, "{unknown}");
    refused("error_status_no_store", &["study", "status", "small.toml"]);
    refused("error_report_no_store", &["report", "runs"]);
    refused("error_pack_no_store", &["pack", "runs"]);
    refused("error_unpack_no_file", &["unpack", "runs.pack"]);
    refused("error_new_alone", &["study", "new", "votes.csv"]);
    refused("error_new_no_file", &["study", "new", "votes.csv", "--inputs", "pictures.npy"]);
    refused("error_new_no_dataset", &["study", "new", "blend"]);
    // Nothing was made of all that.
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), ["bad.toml", "small.toml"]);
    std::fs::create_dir(folder.path().join("runs")).unwrap();
    ends(2, &folder, &["report", "runs"]);
}

/// Votes and pictures in, a study out that runs as it is; by a name that a study can have.
#[test]
fn a_study_of_ones_own() {
    let folder = lab();
    ends(0, &folder, &["demo", "--items", "60", "--out", "blends"]);
    let asked = ["study", "new", "blends/votes.csv", "--inputs", "blends/images.npz"];
    let new = |code, more: &[&str]| ends(code, &folder, &[&asked[..], more].concat());
    snapshot("new", &new(0, &["--seeds", "2"]));
    let file = ["--seeds", "2", "--out", "my pictures.toml"];
    snapshot("new_out", &new(0, &file));
    snapshot("error_new_exists", &new(2, &file));
    new(0, &[&file[..], &["--force"]].concat());
    let run = ["study", "run", "my pictures.toml", "--scale", "quick", "--set", "model.width=2"];
    let ran = show(&ends(0, &folder, &run));
    assert!(ran.contains("Questions and their answers"), "{ran}");
    let report = show(&ends(0, &folder, &["report", "runs", "--study", "my-pictures"]));
    assert!(report.contains("index.html"), "{report}");
    snapshot("error_new_model", &new(2, &["--model", "resnet"]));
    // Votes that cannot decide anything.
    std::fs::write(folder.path().join("f.csv"), "id,f0\na,1\nb,2\n").unwrap();
    for (name, code, votes) in [("agreed", 0, "a,x\nb,y\n"), ("one_class", 2, "a,x\nb,x\n")] {
        let votes = format!("item,label\n{votes}");
        std::fs::write(folder.path().join("votes.csv"), votes).unwrap();
        let asked = ["study", "new", "votes.csv", "--inputs", "f.csv", "--out", "agreed.toml"];
        snapshot(&format!("new_{name}"), &ends(code, &folder, &asked));
        let _ = std::fs::remove_file(folder.path().join("agreed.toml"));
    }
}

/// Not after an hour of training.
#[test]
fn data_that_a_stage_needs_are_asked_for_first() {
    let folder = lab();
    let study = STUDY.replace("truth = {}", "truth = {}\nood = { sets = [\"svhn\"] }");
    std::fs::write(folder.path().join("small.toml"), study).unwrap();
    let mut program = common::program(folder.path(), &["study", "run", "small.toml"]);
    let output = program.env("DISSENSUS_CACHE", folder.path().join("cache")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("a stage of the study needs svhn"), "{said}");
    assert!(said.contains("dissensus data fetch svhn"), "{said}");
    assert!(files(folder.path()).keys().all(|name| !name.contains("spec.json")), "a run was begun");
    // The user's own out-of-distribution images, too.
    let sets = "truth = {}\nood = { sets = [{ name = \"mine\", inputs = \"other/images.npz\" }], \
                scores = [\"energy\"] }";
    let study = STUDY.replace("truth = {}", sets)
        + "[[table]]\nname = \"foreign\"\n\
                 metrics = [\"mine.energy.auroc\"]\n";
    std::fs::write(folder.path().join("small.toml"), study).unwrap();
    let run = ["study", "run", "small.toml"];
    let said = show(&ends(2, &folder, &run));
    assert!(said.contains("other/images.npz after training, and it does not exist"), "{said}");
    ends(0, &folder, &["demo", "--items", "20", "--seed", "5", "--out", "other"]);
    let ran = show(&ends(0, &folder, &run));
    assert!(ran.contains("mine energy AUROC"), "{ran}");
}

/// One command, from nothing to the page.
#[test]
fn what_is_missing_is_fetched_and_the_report_written() {
    let files =
        ["cifar10h/cifar10h-counts.npy", "cifar10h/cifar10h-probs.npy", "cifar10/test_batch.bin"];
    let Some(mirror) = dissensus_testing::data(&files) else { return };
    let folder = lab();
    let study = STUDY.replace("dataset = \"blends\"", "dataset = \"cifar10h\"");
    let study = study.replace("truth = {}", "").replace(", \"true_kl\"", "");
    std::fs::write(folder.path().join("small.toml"), study).unwrap();
    let run = |code, more: &[&str]| {
        let mut program =
            common::program(folder.path(), &[&["study", "run", "small.toml"], more].concat());
        let output = program.env("DISSENSUS_CACHE", folder.path().join("cache")).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", show(&output));
        show(&output)
    };
    let said = run(2, &[]);
    assert!(said.contains("dissensus data fetch cifar10h`, or give --fetch"), "{said}");
    let nowhere = folder.path().join("nowhere");
    let said = run(2, &["--fetch", "--from", nowhere.to_str().unwrap()]);
    assert!(said.contains("nowhere"), "{said}");
    let ran = run(0, &["--fetch", "--from", mirror.to_str().unwrap(), "--report"]);
    assert!(ran.contains("runs-report/index.html") && !ran.contains("next:"), "{ran}");
    assert!(folder.path().join("runs-report/index.html").exists());
    run(0, &["--report=elsewhere"]);
    assert!(folder.path().join("elsewhere/index.html").exists());
}

/// The device of the study's file is used, and the command line overrides it.
#[test]
fn the_device_of_the_file_applies() {
    let folder = lab();
    let text = STUDY.replace("[run]\n", "[run]\ndevice = \"cuda:250\"\n");
    std::fs::write(folder.path().join("gpu.toml"), text).unwrap();
    let some = ["study", "run", "gpu.toml", "--arms", "soft", "--seeds", "1"];
    let output = dissensus(folder.path(), &some);
    assert!(!output.status.success(), "{}", show(&output));
    let runs = folder.path().join("runs/runs");
    assert!(!runs.exists() || std::fs::read_dir(&runs).unwrap().next().is_none());
    ends(0, &folder, &[&some[..], &["--device", "cpu"]].concat());
}

#[test]
fn a_study_is_run_once() {
    let folder = lab();
    let run = |more: &[&str]| {
        ends(0, &folder, &[&["study", "run", "small.toml", "--jobs", "1"], more].concat())
    };
    // A part of it first; then what is missing, and nothing else.
    snapshot("run_part", &run(&["--arms", "soft", "--seeds", "1"]));
    let counts = json!({ "done": 1, "running": 0, "interrupted": 0, "failed": 0, "missing": 3 });
    assert_eq!(status(&folder, &[])["runs"], counts);
    let first = run(&[]);
    snapshot("run", &first);
    let again = run(&[]);
    snapshot("run_again", &again);
    assert_eq!(first.stdout, again.stdout);
    // Which arm is bold is up to the last bits.
    let markdown = String::from_utf8(run(&["--markdown"]).stdout).unwrap();
    for part in ["### The two arms\n", "| a label per epoch ", " (p = ", "| A paper, table 1 |"] {
        assert!(markdown.contains(part), "{markdown}");
    }
    snapshot("status_done", &ends(0, &folder, &["study", "status", "small.toml"]));
    let listed = show(&ends(0, &folder, &["study", "list", "--store", "runs"]));
    assert!(listed.contains("\nsmall               in runs\n"), "{listed}");

    let status = status(&folder, &[]);
    assert_eq!(status["runs"]["done"], 4);
    assert_eq!((&status["failed"], &status["eta_seconds"]), (&json!([]), &json!(0.0)));
    let arms = status["arms"].as_array().unwrap().iter();
    let arms: Vec<_> =
        arms.map(|arm| (arm["arm"].as_str().unwrap(), &arm["runs"]["done"])).collect();
    assert_eq!(arms, [("soft", &json!(2)), ("drawn", &json!(2))]);
    // One tidy table, with the runs that stand in the store.
    let csv =
        std::fs::read_to_string(folder.path().join("runs/studies/small/results.csv")).unwrap();
    let head = "study,dataset,arm,k,seed,metric,slice,value,run";
    assert_eq!(csv.lines().next(), Some(head));
    for start in ["small,blends,soft,5,0,soft_nll,all,", "small,blends,drawn,5,1,kl,divided,"] {
        let line = csv.lines().find(|line| line.starts_with(start)).expect(start);
        let id = line.rsplit(',').next().unwrap();
        assert!(folder.path().join("runs/runs").join(id).is_dir(), "{line}");
    }
    // Another setting is another run.
    let other = show(&run(&["--set", "training.epochs=1", "--seeds", "1", "--store", "other"]));
    assert!(!other.contains("done before"), "{other}");
}

#[test]
fn a_run_that_fails_does_not_stop_the_others() {
    let folder = lab();
    let wild = "delivery = \"sls\"\nset = { \"training.learning_rate\" = 1e9 }";
    let text = STUDY.replace("delivery = \"sls\"", wild);
    std::fs::write(folder.path().join("small.toml"), text).unwrap();
    snapshot("run_failed", &ends(1, &folder, &["study", "run", "small.toml", "--jobs", "1"]));
    snapshot("status_failed", &ends(0, &folder, &["study", "status", "small.toml"]));
    let found = status(&folder, &[]);
    assert_eq!((&found["runs"]["done"], &found["runs"]["failed"]), (&json!(2), &json!(2)));
    assert!(found["failed"][0]["reason"].as_str().unwrap().contains("diverged"), "{found}");
    snapshot("report_failed", &ends(0, &folder, &["report", "runs"]));
    let page = std::fs::read_to_string(folder.path().join("runs-report/index.html")).unwrap();
    assert!(page.contains("diverged"), "the page does not say that runs failed");
}

/// The search comes first, says what it chose, and is not done again.
#[test]
fn a_grid_is_searched_and_then_run() {
    let folder = lab();
    let grid =
        "[grid]\n\"training.learning_rate\" = [0.1, 1e-6]\nselect = \"soft_nll\"\n\n[[slice]]";
    std::fs::write(folder.path().join("other.toml"), STUDY.replace("\"small\"", "\"other\""))
        .unwrap();
    let other = show(&ends(0, &folder, &["study", "run", "other.toml", "--seeds", "1"]));
    assert!(other.contains("next: dissensus report runs --open"), "{other}");
    let text =
        STUDY.replacen("[[slice]]", grid, 1) + "\n[split]\nparts = \"train/validation/test\"\n";
    std::fs::write(folder.path().join("small.toml"), text).unwrap();
    let run = || ends(0, &folder, &["study", "run", "small.toml", "--jobs", "1"]);
    let first = run();
    snapshot("run_grid", &first);
    // Two points for each of two arms, and one more seed of the chosen ones.
    assert_eq!(status(&folder, &[])["runs"]["done"], 6);
    let again = run();
    assert_eq!(first.stdout, again.stdout);
    assert!(!show(&again).contains(" s\n"), "{}", show(&again));
}

#[test]
fn a_report_is_written() {
    let folder = lab();
    ends(0, &folder, &["study", "run", "small.toml", "--arms", "soft"]);
    snapshot("report_part", &ends(0, &folder, &["report", "runs"]));
    ends(0, &folder, &["study", "run", "small.toml"]);
    snapshot("report", &ends(0, &folder, &["report", "runs"]));
    let written = files(&folder.path().join("runs-report"));
    insta::assert_snapshot!("report_files", written.keys().cloned().collect::<Vec<_>>().join("\n"));
    let text = |name: &str| String::from_utf8(written[name].clone()).unwrap();

    let page = text("index.html");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    for part in ["Soft and sampled labels", "a label per epoch", "A paper, table 1", "blend-"] {
        assert!(page.contains(part), "the page has no {part:?}");
    }
    // Nothing but what is in the file itself: it opens from disk.
    for outside in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(outside), "the page has {outside}");
    }
    assert!(text("tables/main.md").contains("| a label per epoch "));
    assert!(text("tables/main.md").contains("A paper, table 1"));
    assert!(text("tables/main.tex").contains("\\toprule"));
    assert!(text("tables/main.csv").contains("main,blends,drawn,5,soft_nll,all,"));
    assert!(text("figures/points.svg").starts_with("<svg"));
    assert!(text("figures/points.csv").contains("soft_nll"));
    assert!(written["figures/points.png"].starts_with(b"\x89PNG"));
    assert!(written["figures/points.pdf"].starts_with(b"%PDF"));
    assert!(written["results.parquet"].starts_with(b"PAR1"));
    let stored = files(&folder.path().join("runs/studies/small"));
    assert_eq!(written["results.csv"], stored["results.csv"]);
    // In the store it has its checksum before it.
    assert!(stored["study.toml"].ends_with(&written["study.toml"]));

    // The same again, elsewhere, to the byte; only the hour is another one.
    let name = "other";
    ends(0, &folder, &["report", "runs", "--study", "small", "--out", name]);
    let mut again = files(&folder.path().join(name));
    again.insert("about.json".into(), written["about.json"].clone());
    // The page says when it was collected, to the minute, which may have passed since.
    let timeless = |bytes: &[u8]| {
        let page = String::from_utf8(bytes.to_vec()).unwrap();
        let lines = page.lines().filter(|line| !line.contains("collected"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(timeless(&again["index.html"]), timeless(&written["index.html"]));
    again.insert("index.html".into(), written["index.html"].clone());
    let mut other = written.iter().filter(|(name, bytes)| again.get(*name) != Some(*bytes));
    assert_eq!(other.next().map(|(name, _)| name), None);
    // The same runs by another file: other tables, and nothing trained.
    let renamed = STUDY.replace("title = \"The two arms\"", "title = \"Both\"");
    std::fs::write(folder.path().join("tables.toml"), renamed).unwrap();
    ends(0, &folder, &["report", "runs", "--study", "tables.toml", "--out", "by-file"]);
    let by_file = files(&folder.path().join("by-file"));
    assert!(String::from_utf8_lossy(&by_file["tables/main.md"]).starts_with("### Both\n"));
    assert_eq!(by_file["results.csv"], written["results.csv"]);
    // Its data are where the study says, from the folder where it was run.
    ends(0, &folder, &["demo", "--items", "60", "--out", "blends"]);
    let own = STUDY.replace(
        "dataset = \"blends\"\nitems = 120",
        "votes = \"blends/votes.csv\"\ninputs = \"blends/images.npz\"",
    );
    let own = own.replace("[stages]\ntruth = {}\n", "").replace(", \"true_kl\"", "");
    std::fs::write(folder.path().join("own.toml"), own).unwrap();
    ends(0, &folder, &["study", "run", "own.toml", "--seeds", "1", "--store", "own"]);
    ends(0, &folder, &["report", "own"]);
    let away = dissensus(&folder.path().join("own"), &["report", "."]);
    assert_eq!(away.status.code(), Some(2));
    snapshot("error_report_data", &away);
    snapshot("error_report_study", &ends(2, &folder, &["report", "runs", "--study", "smal"]));
    std::fs::create_dir(folder.path().join("runs/studies/two")).unwrap();
    std::fs::write(folder.path().join("runs/studies/two/study.toml"), "").unwrap();
    snapshot("error_report_several", &ends(2, &folder, &["report", "runs"]));
}

/// Tables and figures of a report, which must not depend on where its runs were trained; and its
/// results without the times.
fn findings(folder: &TempDir, report: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all = files(&folder.path().join(report));
    let results = String::from_utf8(all.remove("results.csv").unwrap()).unwrap();
    let rows: Vec<&str> = results.lines().filter(|row| !row.contains(",seconds,")).collect();
    assert!(rows.len() > 100, "{}", rows.len());
    all.retain(|name, _| name.starts_with("tables/") || name.starts_with("figures/"));
    all.insert("results.csv".into(), rows.join("\n").into_bytes());
    all
}

/// Two machines train half of a study each; together it is the whole.
#[test]
fn halves_from_two_stores_make_the_whole() {
    let folder = lab();
    let run = |store: &str, more: &[&str]| {
        let arguments = ["study", "run", "small.toml", "--store", store];
        ends(0, &folder, &[&arguments[..], more].concat())
    };
    run("whole", &[]);
    run("left", &["--arms", "soft"]);
    snapshot("run_without", &run("right", &["--arms", "drawn", "--jobs", "1"]));
    snapshot("pack", &ends(0, &folder, &["pack", "left"]));
    ends(0, &folder, &["pack", "right", "elsewhere/right.pack", "--weights"]);
    snapshot("unpack", &ends(0, &folder, &["unpack", "left.pack", "--store", "merged"]));
    assert!(!files(&folder.path().join("merged")).keys().any(|name| name.ends_with("safetensors")));
    ends(0, &folder, &["unpack", "elsewhere/right.pack", "--store", "merged"]);
    snapshot("unpack_again", &ends(0, &folder, &["unpack", "left.pack", "--store", "merged"]));
    let both = ["unpack", "left.pack", "elsewhere/right.pack", "--store", "both"];
    snapshot("unpack_several", &ends(0, &folder, &both));
    assert_eq!(status(&folder, &["--store", "both"])["runs"]["missing"], 0);
    let weights = files(&folder.path().join("merged")).into_keys();
    assert_eq!(weights.filter(|name| name.ends_with("best.safetensors")).count(), 2);
    let merged = ["--store", "merged"];
    assert_eq!(status(&folder, &merged)["runs"]["missing"], 0);
    assert!(!show(&run("merged", &[])).contains(" s\n"), "something was trained again");
    ends(0, &folder, &["report", "whole"]);
    ends(0, &folder, &["report", "merged"]);
    assert_eq!(findings(&folder, "whole-report"), findings(&folder, "merged-report"));

    // The same name with other settings: what was there stays, and that is said.
    run("other", &["--arms", "soft", "--seeds", "1", "--set", "training.epochs=1"]);
    ends(0, &folder, &["pack", "other"]);
    let other = show(&ends(0, &folder, &["unpack", "other.pack", "--store", "merged"]));
    assert!(other.contains("note: the study small has other settings here"), "{other}");
    ends(0, &folder, &["report", "merged"]);
    assert_eq!(findings(&folder, "whole-report"), findings(&folder, "merged-report"));

    // A run of the store that cannot be read stays, and the pack's is not in the store: that is a failure.
    let broken = files(&folder.path().join("left/runs")).into_keys().next().unwrap();
    let broken = broken.split('/').next().unwrap();
    let about = folder.path().join("both/runs").join(broken).join("about.json");
    std::fs::write(about, "{").unwrap();
    let left = show(&ends(1, &folder, &["unpack", "left.pack", "--store", "both"]));
    assert!(left.contains(&format!("left as it is: {broken}: ")), "{left}");
    assert!(left.contains("0 runs added, 0 replaced, 1 kept as they were"), "{left}");

    // A pack that did not arrive whole is refused, and makes no store.
    let bytes = std::fs::read(folder.path().join("left.pack")).unwrap();
    std::fs::write(folder.path().join("cut.pack"), &bytes[..bytes.len() / 2]).unwrap();
    snapshot("error_unpack_cut", &ends(2, &folder, &["unpack", "cut.pack", "--store", "new"]));
    assert!(!folder.path().join("new").exists());
}

/// Runs, results and files that somebody moved: numbers are of all that they say, or there are none.
#[test]
fn what_is_gone_or_of_another_is_said() {
    let folder = lab();
    let stages = "truth = {}\n[stages.geometry]\niterations = 2\nprobes = 2\nslices = []\n";
    std::fs::write(folder.path().join("small.toml"), STUDY.replace("truth = {}\n", stages))
        .unwrap();
    let path = |name: &str| folder.path().join(name);
    let train = ["study", "run", "small.toml"];
    let (report, pack) = (["report", "runs"], ["pack", "runs"]);
    ends(0, &folder, &train);
    ends(0, &folder, &report);
    let whole = findings(&folder, "runs-report");
    let refused = |arguments: &[&str], wanted: &str| {
        let text = show(&ends(2, &folder, arguments));
        assert!(text.contains(wanted), "{arguments:?}: {text}");
        assert!(text.contains("hint: "), "{arguments:?}: {text}");
    };
    let runs: Vec<_> = std::fs::read_dir(path("runs/runs")).unwrap().collect();
    let runs: Vec<_> = runs.into_iter().map(|run| run.unwrap().path()).collect();
    let id = |at: usize| runs[at].file_name().unwrap().to_str().unwrap().to_owned();

    // A run: it is trained again, and nothing is told without it.
    std::fs::rename(&runs[0], path("aside")).unwrap();
    let gone = format!("what is gone: run {}", id(0));
    refused(&report, &gone);
    refused(&pack, &gone);
    assert_eq!(findings(&folder, "runs-report"), whole);
    ends(0, &folder, &train);
    ends(0, &folder, &report);
    assert_eq!(findings(&folder, "runs-report"), whole);

    // The weights of another run.
    let best = runs[0].join("best.safetensors");
    let own = std::fs::read(&best).unwrap();
    std::fs::copy(runs[1].join("best.safetensors"), &best).unwrap();
    refused(&["geometry", &id(0), "--store", "runs"], "best.safetensors is damaged");
    std::fs::write(&best, own).unwrap();

    // What a stage found of a run: of another, or gone. With the weights, it is found again.
    let stages = std::fs::read_dir(path("runs/studies/small/stages")).unwrap();
    let stages = stages.map(|stage| stage.unwrap().path());
    let geometry = stages.into_iter().find(|stage| stage.to_string_lossy().contains("geometry-"));
    let geometry = geometry.unwrap();
    let found = |at: usize, end: &str| geometry.join(format!("{}.json{end}", id(at)));
    for end in ["", ".made"] {
        std::fs::copy(found(1, end), found(0, end)).unwrap();
    }
    refused(&report, "it was computed as stages/geometry-");
    ends(0, &folder, &train);
    ends(0, &folder, &report);
    assert_eq!(findings(&folder, "runs-report"), whole);
    ends(0, &folder, &[&train[..], &["--drop-weights"]].concat());
    std::fs::rename(&geometry, path("aside-stage")).unwrap();
    for arguments in [&report[..], &pack, &train] {
        refused(arguments, "what is gone: ");
    }
    std::fs::rename(path("aside-stage"), &geometry).unwrap();
    ends(0, &folder, &report);
    assert_eq!(findings(&folder, "runs-report"), whole);

    // Another study's file under this one's name, and this one's with other settings.
    let toml = path("runs/studies/small/study.toml");
    let own = std::fs::read(&toml).unwrap();
    let less = STUDY.replace("\"small\"", "\"other\"").replace("seeds = 2", "seeds = 1");
    for (text, wanted) in
        [(less.clone(), "made by another one"), (less, "it is of the study other")]
    {
        let about = path("runs/studies/small/about.json");
        if wanted.starts_with("it is") {
            std::fs::remove_file(about).unwrap();
        }
        std::fs::write(&toml, dissensus::store::sealed(&text)).unwrap();
        refused(&report, wanted);
    }
    std::fs::write(&toml, own).unwrap();
    ends(0, &folder, &report);
    assert_eq!(findings(&folder, "runs-report"), whole);

    // Something else where a run should be.
    std::fs::rename(&runs[1], path("aside-run")).unwrap();
    std::fs::write(&runs[1], "x").unwrap();
    refused(&["runs", "show", &id(1), "--store", "runs"], "is a file, where the folder of a run");
    for arguments in [&report[..], &pack] {
        let text = show(&ends(2, &folder, arguments));
        assert!(text.contains("is a file, where the folder of a run should be"), "{text}");
    }
    std::fs::remove_file(&runs[1]).unwrap();
    std::fs::rename(path("aside-run"), &runs[1]).unwrap();

    // Removed on purpose, it is missing and not gone.
    ends(0, &folder, &["runs", "rm", &id(1), "--store", "runs"]);
    let text = show(&ends(0, &folder, &report));
    assert!(text.contains("1 are not finished"), "{text}");
}

/// What cannot be checked in a store of the first version is said, once.
#[test]
fn older_stores_are_read_with_a_note() {
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/same-target-cifar10n/runs.pack");
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["unpack", pack, "--store", "old"][..], &["runs", "list", "--store", "old"]]
    {
        let text = show(&ends(0, &folder, arguments));
        assert_eq!(text.matches("from before its files were bound").count(), 1, "{text}");
    }
    let folder = lab();
    ends(0, &folder, &["study", "run", "small.toml", "--seeds", "1"]);
    let text = show(&ends(0, &folder, &["runs", "list"]));
    assert!(!text.contains("from before"), "{text}");
}

/// Ctrl-C in the middle: what is done stays, and the same command goes on.
#[cfg(unix)]
#[test]
fn an_interrupted_study_goes_on() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{Command, Stdio};

    let folder = lab();
    let study = ["study", "run", "small.toml", "--jobs", "1", "--arms", "soft"];
    let text = STUDY.replace("seeds = 2", "seeds = 12").replace("epochs = 2", "epochs = 4");
    std::fs::write(folder.path().join("small.toml"), text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dissensus"))
        .args(study)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .env_remove("DISSENSUS_STORE")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    assert!(first.starts_with("soft · 5 votes · seed 0 "), "{first}");
    let part = ["--arms", "soft"];
    assert!(status(&folder, &part)["runs"]["done"].as_u64().unwrap() >= 1);
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    let again = "continue with\n  dissensus study run small.toml --jobs 1 --arms soft\n";
    assert!(rest.contains(again), "{rest}");
    let left = status(&folder, &part);
    let done = left["runs"]["done"].as_u64().unwrap();
    assert!((1..12).contains(&done) && left["eta_seconds"].as_f64().unwrap() > 0.0, "{left}");

    let output = show(&ends(0, &folder, &study));
    assert_eq!(output.matches("done before").count() as u64, done, "{output}");
    assert_eq!(status(&folder, &part)["runs"]["done"], 12);
    // As if nothing had been.
    let whole = ends(0, &folder, &[&study[..], &["--store", "whole"]].concat());
    let again = ends(0, &folder, &study);
    assert_eq!(whole.stdout, again.stdout);
}
