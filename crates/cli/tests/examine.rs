//! `dissensus geometry`, `barrier`, `cka`, `gradcam` and `ood`, over runs that are trained first.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::Output;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use common::{dissensus, show};

/// Four small runs: a second or two without optimization.
const SPEC: &str = "\
[data]
dataset = \"blends\"
items = 80

[model]
name = \"smallcnn\"
width = 2

[delivery]
methods = [\"soft\", \"sls\"]

[training]
epochs = 3
batch_size = 16

[run]
seeds = 2
";

/// A folder with a store in it, and its runs: soft and sls of seed 0, then of seed 1.
struct Lab {
    folder: TempDir,
    runs: Vec<String>,
}

/// Trained once for all tests, which only look at it.
fn lab() -> &'static Lab {
    static LAB: OnceLock<Lab> = OnceLock::new();
    LAB.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("study.toml"), SPEC).unwrap();
        let trained = dissensus(folder.path(), &["train", "study.toml"]);
        assert!(trained.status.success(), "{}", show(&trained));
        let listed = dissensus(folder.path(), &["runs", "list", "--json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let mut runs: Vec<(u64, bool, String)> = (listed["runs"].as_array().unwrap().iter())
            .map(|run| {
                let sls = run["arm"].as_str().unwrap().starts_with("sls");
                (run["seed"].as_u64().unwrap(), sls, run["id"].as_str().unwrap().to_owned())
            })
            .collect();
        runs.sort();
        Lab { folder, runs: runs.into_iter().map(|(_, _, id)| id).collect() }
    })
}

impl Lab {
    fn run(&self, arguments: &[&str]) -> Output {
        let output = dissensus(self.folder.path(), arguments);
        assert!(output.status.success(), "{arguments:?}\n{}", show(&output));
        output
    }

    fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.run(arguments).stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.run(arguments).stdout).unwrap()
    }

    fn error(&self, arguments: &[&str]) -> String {
        let output = dissensus(self.folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{}", show(&output));
        String::from_utf8(output.stderr).unwrap()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn geometry() {
    let lab = lab();
    let asked = [
        "geometry",
        &lab.runs[0],
        &lab.runs[1][..8],
        "--slice",
        "all,top:0.25",
        "--largest",
        "2",
        "--smallest",
        "--blocks",
        "layer",
        "--variance",
        "--density",
        "density.csv",
        "--force",
        "--json",
    ];
    let found = lab.json(&asked);
    let curvatures = found["curvatures"].as_array().unwrap();
    assert_eq!(curvatures.len(), 4);
    for one in curvatures {
        let (top, trace) = (&one["extremes"]["largest"][0], &one["traces"]["trace"]);
        assert!(number(&top["value"]) > 0.0 && number(&trace["value"]) > 0.0, "{top} {trace}");
        assert_eq!(top["converged"], true, "{top}");
        let low = number(&one["extremes"]["smallest"][0]["value"]);
        assert!(low < number(&top["value"]));
        // Power iteration and Lanczos agree, on the end of the spectrum that is larger.
        let power = &one["power"]["top"];
        let end = if number(&power["value"]) > 0.0 { number(&top["value"]) } else { low };
        assert!((number(&power["value"]) / end - 1.0).abs() < 5e-3, "{power} {end}");
        let products = number(&power["products"])
            + number(&one["extremes"]["products"])
            + number(&trace["products"])
            + number(&one["density"]["products"]);
        assert_eq!(number(&one["products"]), products);
        let blocks = one["traces"]["blocks"].as_array().unwrap();
        let sum: f64 = blocks.iter().map(|block| number(&block["trace"]["value"])).sum();
        assert!((sum / number(&trace["value"]) - 1.0).abs() < 1e-6);
    }
    assert_eq!((&curvatures[0]["items"], &curvatures[1]["items"]), (&16.into(), &4.into()));
    let variance = &found["variances"][0];
    assert!(number(&variance["correlation"]["r"]) > 0.0, "{variance}");
    assert_eq!(found, lab.json(&asked), "the same question has the same answer");

    let csv = std::fs::read_to_string(lab.folder.path().join("density.csv")).unwrap();
    assert!(csv.starts_with("run,slice,eigenvalue,density,standard_error\n"));
    assert_eq!(csv.lines().count(), 1 + 4 * 512);

    let table = lab.text(&["geometry", &lab.runs[0], "--slice", "high", "--blocks"]);
    let head = table.lines().next().unwrap();
    assert!(head.contains("λ_max") && head.contains("trace"), "{table}");
    assert!(table.contains("soft · all votes · seed 0") && table.contains("top:0.1"), "{table}");
    let csv = lab.text(&["geometry", &lab.runs[0], "--csv"]);
    assert!(csv.starts_with("run,what,part,slice,items,soft_nll,"), "{csv}");
}

#[test]
fn what_did_not_converge_is_said() {
    let lab = lab();
    let asked = ["geometry", &lab.runs[0], "--max-products", "2", "--probes", "2"];
    let output = lab.run(&asked);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("λ_max on all of") && said.contains("raise --max-products"), "{said}");
    assert!(said.contains("raise --probes"), "{said}");
    assert!(String::from_utf8(output.stdout).unwrap().contains(" ?"));
}

#[test]
fn barrier() {
    let lab = lab();
    let (soft, sls) = (&lab.runs[0], &lab.runs[1]);
    let own = lab.json(&["barrier", soft, soft, "--points", "5", "--json"]);
    let paths = own["paths"].as_array().unwrap();
    assert_eq!(paths.len(), 2);
    assert!(paths.iter().all(|path| number(&path["barrier"]) < 1e-6), "{own}");
    let asked = ["barrier", soft, sls, "--points", "5", "--json"];
    let found = lab.json(&asked);
    assert_eq!((&found["items"], &found["refreshed_on"]), (&16.into(), &64.into()));
    assert_eq!(found, lab.json(&asked));
    // The start of the way with mixed statistics is the run's own loss.
    let csv = lab.text(&["geometry", soft, "--csv"]);
    let loss: f64 = csv.lines().nth(1).unwrap().split(',').nth(5).unwrap().parse().unwrap();
    assert!((number(&found["paths"][0]["ends"][0]) - loss).abs() < 1e-5);
    let csv = lab.text(&["barrier", soft, sls, "--csv", "--statistics", "interpolated"]);
    assert!(csv.starts_with("alpha,loss_interpolated,excess_interpolated\n0,"), "{csv}");
    assert_eq!(csv.lines().count(), 22);
    let page = lab.text(&["barrier", soft, sls]);
    assert!(page.contains("statistics recomputed") && page.contains('█'), "{page}");
}

#[test]
fn cka() {
    let lab = lab();
    let asked = ["cka", &lab.runs[0], &lab.runs[1], &lab.runs[2], "--json"];
    let found = lab.json(&asked);
    for run in 0..3 {
        assert!((number(&found["values"][run][run]) - 1.0).abs() < 1e-6, "{found}");
    }
    let between = number(&found["values"][0][1]);
    assert!(between > 0.0 && between < 1.0, "{found}");
    assert_eq!(found["values"][0][1], found["values"][1][0]);
    assert_eq!(found, lab.json(&asked));
    let page = lab.text(&["cka", &lab.runs[0], &lab.runs[2], "--items", "all"]);
    assert!(page.contains("mean over pairs") && page.contains("on 80 items"), "{page}");
}

#[test]
fn gradcam() {
    let lab = lab();
    let asked =
        ["gradcam", &lab.runs[0], &lab.runs[1], "--top", "3", "--out", "maps", "--force", "--json"];
    let found = lab.json(&asked);
    assert_eq!(found["runs"].as_array().unwrap().len(), 2);
    let files: Vec<&str> = (found["files"].as_array().unwrap().iter())
        .flat_map(|files| files.as_array().unwrap())
        .map(|file| file.as_str().unwrap())
        .collect();
    assert_eq!(files.len(), 6);
    for file in files {
        let bytes = std::fs::read(lab.folder.path().join(file)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
    }
    let stable = &found["stability"];
    assert_eq!((&stable[0]["slice"], &stable[0]["items"]), (&"all".into(), &16.into()));
    assert_eq!(found, lab.json(&asked));
    let same = ["gradcam", &lab.runs[0], &lab.runs[0], "--top", "1", "--out", "own", "--force"];
    let page = lab.text(&same);
    assert!(page.contains("stability") && page.contains(" 1.0000"), "{page}");
    let item = found["runs"][0]["items"][0]["item"].as_str().unwrap();
    let page = lab.text(&["gradcam", &lab.runs[3], "--items", item, "--out", "one", "--force"]);
    assert!(page.contains(item) && !page.contains("stability"), "{page}");
    let error = lab.error(&["gradcam", &lab.runs[3], "--items", item, "--out", "one"]);
    assert!(error.contains("one/") && error.contains("--force"), "{error}");
    let error = lab.error(&["gradcam", &lab.runs[0], "--items", "zebra"]);
    assert!(error.contains("have no item \"zebra\"; ids look like"), "{error}");
}

/// Grey pictures as an .npy file of bytes, all of one brightness per picture.
fn npy(path: &Path, shape: [usize; 3]) {
    let mut head = format!(
        "{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}, {}), }}",
        shape[0], shape[1], shape[2]
    );
    while (10 + head.len() + 1) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    let size = shape[1] * shape[2];
    bytes.extend((0..shape[0] * size).map(|at| ((at / size * 37 + at * 101) % 256) as u8));
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn ood() {
    let lab = lab();
    let folder = lab.folder.path();
    npy(&folder.join("strange.npy"), [30, 16, 16]);
    npy(&folder.join("small.npy"), [30, 8, 8]);
    let asked = [
        "ood",
        &lab.runs[0],
        "--out",
        "strange.npy,blends",
        "--neighbours",
        "5",
        "--replicates",
        "100",
        "--raw",
        "raw.csv",
        "--force",
        "--json",
    ];
    let found = lab.json(&asked);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 7 * 2 * 5);
    let auroc = |score: &str, out: &str| {
        let row = rows
            .iter()
            .find(|row| row["score"] == score && row["out"] == out && row["figure"] == "auroc");
        let row = row.unwrap();
        let value = number(&row["value"]);
        assert!((0.0..=1.0).contains(&value));
        if row["low"].is_number() {
            assert!(number(&row["low"]) <= value && value <= number(&row["high"]), "{row}");
        }
        value
    };
    // Far from everything that was trained on, and nothing foreign in the same generated data.
    assert!(auroc("knn", "strange.npy") > 0.8, "{}", auroc("knn", "strange.npy"));
    assert!((auroc("energy", "blends") - 0.5).abs() < 0.2);
    assert_eq!(found, lab.json(&asked));
    let raw = std::fs::read_to_string(folder.join("raw.csv")).unwrap();
    let outside: u64 =
        found["outside"].as_array().unwrap().iter().map(|set| set[1].as_u64().unwrap()).sum();
    assert_eq!(raw.lines().count() as u64, 1 + 7 * (16 + outside));
    let page = lab.text(&["ood", &lab.runs[0], "--out", "strange.npy", "--scores", "energy,msp"]);
    assert!(page.contains("AUROC") && page.contains("FPR95") && page.contains('['), "{page}");
    let csv = lab.text(&["ood", &lab.runs[0], "--out", "strange.npy", "--scores", "msp", "--csv"]);
    assert_eq!(csv.lines().count(), 1 + 5);

    let error = lab.error(&["ood", &lab.runs[0], "--out", "small.npy"]);
    let expected = "expected images of 16×16×1, came images of 8×8×1";
    assert!(error.contains("small.npy does not fit run") && error.contains(expected), "{error}");
    let error = lab.error(&["ood", &lab.runs[0], "--out", "strange.npy", "--scores", "enrgy"]);
    assert!(error.contains("\"enrgy\"; expected one of energy, msp"), "{error}");
}

#[test]
fn what_cannot_be_asked_is_named() {
    let lab = lab();
    let run = lab.runs[0].as_str();
    let error = lab.error(&["geometry", "zzzz"]);
    assert!(error.contains("zzzz"), "{error}");
    let error = lab.error(&["geometry", run, "--slice", "low"]);
    assert!(error.contains("no slice \"low\"; expected all, high"), "{error}");
    let error = lab.error(&["geometry", run, "--part", "test"]);
    assert!(error.contains("no part `test`; its split has train, evaluation"), "{error}");
    let error = lab.error(&["geometry", run, "--device", "cpu", "--precision", "bf16"]);
    assert!(error.contains("--precision bf16 needs a GPU"), "{error}");
    let other = SPEC.replace("items = 80", "items = 81");
    std::fs::write(lab.folder.path().join("other.toml"), other).unwrap();
    let error = lab.error(&["geometry", run, "--spec", "other.toml"]);
    assert!(error.contains("other data than those of other.toml"), "{error}");
    lab.text(&["geometry", run, "--spec", "study.toml"]);
}

/// Runs on the user's own files are found again through the spec, or through the study in the store.
#[test]
fn data_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let votes: String = (0..40)
        .flat_map(|item| (0..5).map(move |vote| (item, vote)))
        .map(|(item, vote)| {
            let class = ["cat", "dog"][usize::from((item + vote * item) % 3 == 0)];
            format!("p{item},{class}\n")
        })
        .collect();
    std::fs::write(path.join("votes.csv"), format!("item,label\n{votes}")).unwrap();
    let rows = (0..40).map(|item| {
        let x = f64::from(item);
        format!("p{item},{},{},{}\n", x.sin(), x.cos(), (x * 0.3).sin())
    });
    let rows: String = rows.collect();
    std::fs::write(path.join("vectors.csv"), format!("id,a,b,c\n{rows}")).unwrap();
    let spec = "[data]\nvotes = \"votes.csv\"\ninputs = \"vectors.csv\"\n[model]\nname = \"mlp\"\n\
                hidden = 4\n[delivery]\nmethods = \"soft\"\n[training]\nepochs = 2\nbatch_size = 8\n\
                [run]\nseeds = 1\n";
    std::fs::write(path.join("own.toml"), spec).unwrap();
    let trained = dissensus(path, &["train", "own.toml"]);
    assert!(trained.status.success(), "{}", show(&trained));
    let listed = dissensus(path, &["runs", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let run = listed["runs"][0]["id"].as_str().unwrap();
    let lost = dissensus(path, &["geometry", run]);
    let error = String::from_utf8(lost.stderr).unwrap();
    assert!(error.contains("were not found") && error.contains("--spec"), "{error}");
    let found = dissensus(path, &["geometry", run, "--spec", "own.toml"]);
    assert!(found.status.success(), "{}", show(&found));
    // A study that was run in the same store names its data.
    let study = "[study]\nname = \"mine\"\ntitle = \"Mine\"\n[data]\nvotes = \"votes.csv\"\n\
                 inputs = \"vectors.csv\"\n[model]\nname = \"mlp\"\nhidden = 4\n\
                 [training]\nepochs = 1\nbatch_size = 8\n[run]\nseeds = 1\n[[arm]]\n\
                 name = \"soft\"\ntitle = \"soft labels\"\ndelivery = \"soft\"\n";
    std::fs::write(path.join("mine.toml"), study).unwrap();
    let ran = dissensus(path, &["study", "run", "mine.toml"]);
    assert!(ran.status.success(), "{}", show(&ran));
    for more in [&[][..], &["--spec", "mine.toml"]] {
        let found = dissensus(path, &[&["geometry", run], more].concat());
        assert!(found.status.success(), "{}", show(&found));
    }
    // A head on vectors has no maps.
    let flat = dissensus(path, &["gradcam", run, "--spec", "own.toml"]);
    let error = String::from_utf8(flat.stderr).unwrap();
    assert!(error.contains("ends in"), "{error}");
}

/// A question that takes long ends by Ctrl-C, with the exit code of interrupted programs.
#[cfg(unix)]
#[test]
fn a_question_can_be_interrupted() {
    let lab = lab();
    let tolerance = ["--probes", "1000000", "--trace-tolerance", "1e-12"];
    let mut command = common::program(
        lab.folder.path(),
        &[&["geometry", lab.runs[0].as_str()][..], &tolerance].concat(),
    );
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", show(&output));
    assert!(show(&output).contains("interrupted"), "{}", show(&output));
}
