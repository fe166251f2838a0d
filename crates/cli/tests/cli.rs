//! The program as a user meets it: exit code, standard output and standard error.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::Output;

use common::show;

fn dissensus(arguments: &[&str]) -> Output {
    with_input(arguments, b"")
}

fn with_input(arguments: &[&str], input: &[u8]) -> Output {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    common::with_input(Path::new(folder), arguments, input)
}

macro_rules! snapshot {
    ($name:literal, $($argument:expr),+) => {
        insta::assert_snapshot!($name, show(&dissensus(&[$($argument),+])));
    };
}

/// What a newcomer does first is the same in the README, in the help and without a subcommand, and works.
#[test]
fn first_steps_stand_in_the_readme_and_work() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (_, after) = readme.split_once("<!-- first steps").unwrap();
    let steps: Vec<&str> = after
        .lines()
        .skip_while(|line| !line.starts_with("```"))
        .skip(1)
        .take_while(|line| !line.starts_with("```"))
        .map(|line| line.strip_prefix("$ ").unwrap().split(" #").next().unwrap().trim())
        .collect();
    let verbs: Vec<&str> = steps.iter().map(|step| step.split(' ').nth(1).unwrap()).collect();
    assert_eq!(verbs, ["votes", "score", "train"]);
    for arguments in [&["--help"][..], &[]] {
        let help = show(&dissensus(arguments));
        let places: Vec<usize> = steps.iter().map(|step| help.find(step).expect(step)).collect();
        assert!(places.is_sorted(), "{help}");
    }
    let store = tempfile::tempdir().unwrap();
    for step in steps {
        let mut arguments: Vec<&str> = step.split(' ').skip(1).collect();
        if arguments[0] == "train" {
            arguments.extend(["--store", store.path().to_str().unwrap()]);
        }
        let output = common::dissensus(root, &arguments);
        assert!(output.status.success() && !output.stdout.is_empty(), "{step}: {}", show(&output));
    }
}

#[test]
fn version_names_the_release() {
    let output = show(&dissensus(&["--version"]));
    assert!(output.contains(concat!("dissensus ", env!("CARGO_PKG_VERSION"))), "{output}");
}

#[test]
fn formats() {
    snapshot!("formats", "votes", "formats");
}

#[test]
fn inspect() {
    snapshot!("inspect_long", "votes", "inspect", "votes.csv");
    snapshot!("inspect_json", "votes", "inspect", "votes.csv", "--json", "--top", "1");
    snapshot!("inspect_chaosnli", "votes", "inspect", "chaos.jsonl");
    snapshot!(
        "inspect_classes",
        "votes",
        "inspect",
        "votes.csv",
        "--classes",
        "cat,dog,fox,emu",
        "--top",
        "0"
    );
}

#[test]
fn targets() {
    snapshot!("targets", "votes", "targets", "votes.csv");
    let fitted = ["votes", "targets", "votes.csv", "--target", "dawid_skene"];
    insta::assert_snapshot!("targets_fitted", show(&dissensus(&fitted)));
    let json = dissensus(&[&fitted[..], &["--json"]].concat());
    let found: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(found["target"], "dawid_skene:iterations=100,tolerance=0.00001");
    assert_eq!(found["converged"], true);
    let steps = found["log_likelihoods"].as_array().unwrap();
    assert_eq!(found["iterations"].as_u64().unwrap(), steps.len() as u64);
    assert_eq!(found["log_likelihood"], *steps.last().unwrap());
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let sums_to_one =
        |row: &[f64]| assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
    let priors = found["classes"].as_array().unwrap().iter().map(|c| c["prior"].as_f64().unwrap());
    sums_to_one(&priors.collect::<Vec<_>>());
    let people = found["annotators"].as_array().unwrap();
    let names: Vec<&str> = people.iter().map(|who| who["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ana", "ben", "cleo"]);
    for who in people {
        assert!((0.0..=1.0).contains(&who["accuracy"].as_f64().unwrap()), "{who}");
        who["confusion"].as_array().unwrap().iter().for_each(|row| sums_to_one(&numbers(row)));
    }
    // The same targets as a file, and as `deliver` writes them.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("targets.csv");
    let out = ["--out", file.to_str().unwrap()];
    assert!(dissensus(&[&fitted[..], &out].concat()).status.success());
    let deliver =
        ["deliver", "--votes", "votes.csv", "--method", "soft", "--target", "dawid_skene"];
    let written = std::fs::read(&file).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&written),
        String::from_utf8_lossy(&dissensus(&deliver).stdout)
    );
    let again = dissensus(&[&fitted[..], &out].concat());
    assert!(!again.status.success(), "an existing file was replaced");
    // A fit that is cut short says so.
    let cut = dissensus(&["votes", "targets", "votes.csv", "--target", "dawid_skene:iterations=1"]);
    assert!(show(&cut).contains("has not converged"), "{}", show(&cut));
}

#[test]
fn inspect_reads_standard_input_and_compressed_files() {
    let plain = std::fs::read(data("votes.csv")).unwrap();
    let from_file = dissensus(&["votes", "inspect", "votes.csv", "--json"]);
    let from_pipe = with_input(&["votes", "inspect", "-", "--json"], &plain);
    let name = |output: &Output| {
        String::from_utf8(output.stdout.clone()).unwrap().replace("standard input", "votes.csv")
    };
    assert_eq!(name(&from_file), name(&from_pipe));
}

#[test]
fn errors_say_where_and_what_to_do() {
    snapshot!("error_no_file", "votes", "inspect", "missing.csv");
    snapshot!("error_folder", "votes", "inspect", ".");
    snapshot!("error_ragged", "votes", "inspect", "trouble.csv");
    snapshot!("error_unknown_class", "votes", "inspect", "votes.csv", "--classes", "cat,dog");
    snapshot!("error_not_probabilities", "votes", "inspect", "counts.csv");
    snapshot!(
        "error_no_column",
        "votes",
        "inspect",
        "votes.csv",
        "--label",
        "verdict",
        "--format",
        "long"
    );
    snapshot!("error_no_dataset", "data", "fetch", "cifar10");
}

/// Ratings and sets of labels have figures of their own, and what is not defined for them says so.
#[test]
fn votes_know_their_scale() {
    let told = |arguments: &[&str], input: &str| {
        let output = with_input(arguments, input.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let inspect = ["votes", "inspect", "-"];
    let ratings = "item,annotator,label\na,w1,1\na,w2,2\na,w3,5\nb,w1,3\nb,w2,4\n";
    let (read, stdout, stderr) = told(&inspect, ratings);
    assert!(read && !stdout.contains("ratings"), "{stdout}");
    assert!(stderr.contains("if they are ratings, --scale ordinal says so"), "{stderr}");
    let ordinal = [&inspect[..], &["--scale", "ordinal"]].concat();
    let (_, stdout, stderr) = told(&ordinal, ratings);
    assert!(stdout.contains("mean 3.0000, median 3, sd 1.4142"), "{stdout}");
    assert!(stdout.contains("Krippendorff's ordinal α") && stderr.is_empty(), "{stdout}{stderr}");
    let (_, json, _) = told(&[&ordinal[..], &["--json"]].concat(), ratings);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["scale"], &json["ratings"]["median"]), (&"ordinal".into(), &3.0.into()));
    let words = "item,annotator,label\na,w1,good\na,w2,bad\n";
    let (read, _, stderr) = told(&ordinal, words);
    assert!(!read && stderr.contains("only sorted by name") && stderr.contains("--classes"));

    let emotions = "item,annotator,joy,fear\na,w1,1,1\na,w2,1,0\nb,w1,0,0\n";
    let sets = ["--one-hot", "joy,fear", "--scale", "multilabel"];
    let (read, stdout, _) = told(&[&inspect[..], &sets].concat(), emotions);
    assert!(read && stdout.contains("per vote 0 to 2, median 1, mean 1.0000"), "{stdout}");
    assert!(stdout.contains("; 1 without labels") && !stdout.contains("agreement"), "{stdout}");
    let convert = ["votes", "convert", "-", "-", "--to", "csv"];
    let (_, csv, _) = told(&[&convert[..], &sets].concat(), emotions);
    assert!(csv.starts_with("item,annotator,label,multilabel_class,vote\na,w1,joy,0,0\na,w1,fear"));
    // The same table again, without an option.
    assert_eq!(told(&convert, &csv).1, csv);
    for command in [
        &["deliver", "--votes", "-", "--method", "sls"][..],
        &["baseline", "votes", "--votes", "-"],
        &["votes", "convert", "-", "-", "--to", "npz"],
    ] {
        let (done, stdout, stderr) = told(command, &csv);
        let refused = stderr.contains("is not defined for multi-label votes, only for nominal");
        assert!(!done && refused && stdout.is_empty(), "{command:?}: {stderr}");
    }
}

/// What is doubtful is refused with the options that say what is meant, and a guess is said in one
/// line; what is odd is a warning of `inspect` too.
#[test]
fn doubts_name_the_options() {
    let told = |arguments: &[&str], input: &str| {
        let output = with_input(arguments, input.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let inspect = ["votes", "inspect", "-"];
    let ratings = "id,anna,ben,cleo\na,1,2,2\nb,3,5,4\nc,1,1,2\nd,5,4,5\n";
    let (read, _, stderr) = told(&inspect, ratings);
    assert!(!read && stderr.contains("--values counts or --values labels"), "{stderr}");
    let (read, stdout, _) = told(&[&inspect[..], &["--values", "labels"]].concat(), ratings);
    assert!(read && stdout.contains("annotator columns: anna … cleo (3)"), "{stdout}");
    let emotions = "item,annotator,joy,fear\na,w1,1,1\na,w2,1,0\nb,w1,0,1\n";
    let (read, _, stderr) = told(&inspect, emotions);
    assert!(!read && stderr.contains("--item, --annotator and --label"), "{stderr}");
    let said = ["--one-hot", "joy,fear", "--multilabel", "each"];
    let (read, _, stderr) = told(&[&inspect[..], &said].concat(), emotions);
    assert!(read, "{stderr}");
    let people =
        "id,source,rating_a,rating_b\na,web,no,yes\nb,web,yes,yes\nc,app,no,no\nd,web,no,yes\n";
    let (read, _, stderr) = told(&[&inspect[..], &["--annotators", "rating_*"]].concat(), people);
    assert!(read, "{stderr}");
    // Columns of yes and no may be questions.
    let (read, _, stderr) = told(&[&inspect[..], &["--ignore", "source"]].concat(), people);
    assert!(!read && stderr.contains("--annotators"), "{stderr}");
    let counts = "id,n_no,n_yes,total\na,1,1,2\nb,0,1,1\n";
    let (read, stdout, _) = told(&[&inspect[..], &["--counts", "n_*"]].concat(), counts);
    assert!(read && stdout.contains("n_no, n_yes"), "{stdout}");
    let votes = "item,annotator,label\na,w1,1\na,w2,2\nb,w1,99\n";
    let (read, _, stderr) =
        told(&[&inspect[..], &["--format", "long", "--values", "labels"]].concat(), votes);
    assert!(!read && stderr.contains("`values` has no meaning in the format long"), "{stderr}");
    let (_, stdout, _) = told(&inspect, votes);
    assert!(
        stdout.contains("warning [sentinel]") && stdout.contains("say so with --missing"),
        "{stdout}"
    );
    let (_, _, stderr) = told(&["votes", "convert", "-", "-", "--to", "csv"], votes);
    assert!(
        stderr.contains("item column: item; annotator column: annotator; label column: label"),
        "{stderr}"
    );
}

#[test]
fn lint() {
    snapshot!("lint_trouble", "votes", "lint", "trouble.csv");
    snapshot!("lint_clean", "votes", "lint", "votes.csv");
    snapshot!("lint_json", "votes", "lint", "trouble.csv", "--json");
}

#[test]
fn demo() {
    snapshot!("demo", "demo", "--items", "200", "--no-train");
    snapshot!("demo_bad_setting", "demo", "--ambiguity", "2");
}

#[test]
fn score_and_compare() {
    snapshot!(
        "score",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "model.csv",
        "other.jsonl",
        "--class-order",
        "by name"
    );
    snapshot!(
        "score_by_entropy",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "model.csv",
        "--by",
        "entropy",
        "--slices",
        "2",
        "--metrics",
        "soft_nll,accuracy",
        "--replicates",
        "0",
        "--markdown"
    );
    snapshot!(
        "score_json",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "model.csv",
        "--metrics",
        "kl",
        "--json"
    );
    snapshot!(
        "score_latex",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "model.csv",
        "other.jsonl",
        "--class-order",
        "by name",
        "--metrics",
        "kl,ece_mass",
        "--replicates",
        "0",
        "--latex"
    );
    snapshot!(
        "score_infinite",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "certain.csv",
        "--probabilities",
        "--metrics",
        "soft_nll"
    );
    snapshot!(
        "score_given",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "model.csv",
        "--labels",
        "given.csv",
        "--metrics",
        "accuracy,accuracy_given",
        "--replicates",
        "0"
    );
    snapshot!(
        "error_given",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "model.csv",
        "--labels",
        "trouble-free.csv"
    );
    snapshot!(
        "score_clipped",
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        "certain.csv",
        "--probabilities",
        "--metrics",
        "soft_nll",
        "--clip",
        "1e-6"
    );
    snapshot!(
        "compare_items",
        "compare",
        "--votes",
        "votes.csv",
        "--predictions",
        "model.csv",
        "other.jsonl",
        "--class-order",
        "by name"
    );
    snapshot!(
        "compare_seeds",
        "compare",
        "--votes",
        "votes.csv",
        "--a",
        "model.csv",
        "other.jsonl",
        "--b",
        "other.jsonl",
        "certain.csv",
        "--class-order",
        "by name",
        "--probabilities",
        "certain.csv",
        "--metrics",
        "accuracy,soft_brier"
    );
    snapshot!("error_score_classes", "score", "--votes", "chaos.jsonl", "--predictions", "two.csv");
    // What is in doubt is refused, and options decide.
    let score = |files: &[&str], more: &[&str]| {
        let all = [&["score", "--votes", "votes.csv", "--predictions"], files, more].concat();
        dissensus(&[&all[..], &["--metrics", "accuracy", "--replicates", "0"]].concat())
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let refused = text(&score(&["certain.csv"], &[]).stderr);
    assert!(refused.contains("look like hard labels"), "{refused}");
    assert!(refused.contains("say so with --probabilities"), "{refused}");
    let refused = text(&score(&["model.csv"], &["--class-map", "Katze=Hund"]).stderr);
    assert!(refused.contains("the class map names \"Katze\""), "{refused}");
    let unused = text(&score(&["model.csv"], &["--class-map", "Katze=cat"]).stderr);
    assert!(unused.contains("note: model: the class map is not needed"), "{unused}");
    let refused = text(&score(&["model.csv"], &["--logits", "other.jsonl"]).stderr);
    assert!(refused.contains("--logits names other.jsonl, which is none"), "{refused}");
    let refused = text(&score(&["model.csv"], &["--logits", "--probabilities"]).stderr);
    assert!(refused.contains("model.csv cannot be both"), "{refused}");
    let said = text(&score(&["model.csv"], &["--by-position"]).stderr);
    assert!(said.contains("note: model: items are matched by position, as said"), "{said}");
    let part = score(&["model.csv", "part.csv"], &["--markdown"]);
    let (table, notes) = (text(&part.stdout), text(&part.stderr));
    assert!(!table.contains("**"), "no value is the best: {table}");
    assert!(notes.contains("do not predict the same items (model 4, part 3)"), "{notes}");
    assert!(notes.contains("part: classes are matched by name"), "{notes}");
    let compared = |more: &[&str]| {
        let args =
            ["compare", "--votes", "votes.csv", "--metrics", "accuracy", "--replicates", "0"];
        dissensus(&[&args[..], more].concat())
    };
    let items = text(&compared(&["--predictions", "model.csv", "part.csv"]).stderr);
    assert!(items.contains("model: 1 of its 4 items are left out"), "{items}");
    let seeds = text(&compared(&["--a", "model.csv", "--b", "part.csv"]).stderr);
    assert!(seeds.contains("3 in both, 1 only in the first, 0 only in the second"), "{seeds}");
    snapshot!("error_no_metric", "metrics", "explain", "f1");
    snapshot!("metrics_list", "metrics", "list");
    snapshot!("metrics_explain", "metrics", "explain", "ece_mass");
}

#[test]
fn deliver() {
    snapshot!(
        "deliver_multipass",
        "deliver",
        "--votes",
        "votes.csv",
        "--method",
        "multipass",
        "--epochs",
        "0..3"
    );
    snapshot!("deliver_soft", "deliver", "--votes", "votes.csv", "--method", "soft");
    snapshot!(
        "deliver_noisy",
        "deliver",
        "--votes",
        "votes.csv",
        "--method",
        "soft_noise:scale=0",
        "--epochs",
        "4..6"
    );
    snapshot!(
        "deliver_smoothed",
        "deliver",
        "--votes",
        "votes.csv",
        "--method",
        "soft",
        "--target",
        "dirichlet:alpha=1"
    );
    snapshot!(
        "deliver_sparse",
        "deliver",
        "--votes",
        "votes.csv",
        "--method",
        "majority",
        "--sparse",
        "2:without"
    );
    snapshot!("error_method", "deliver", "--votes", "votes.csv", "--method", "multipas");
    snapshot!(
        "error_epochs",
        "deliver",
        "--votes",
        "votes.csv",
        "--method",
        "sls",
        "--epochs",
        "5..2"
    );
    snapshot!("error_no_counts", "deliver", "--votes", "model.csv", "--method", "multipass");
    snapshot!("error_no_votes", "deliver", "--votes", "trouble-free.csv", "--method", "soft");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.npy").display().to_string();
    let made = dissensus(&[
        "deliver",
        "--votes",
        "votes.csv",
        "--method",
        "sls",
        "--epochs",
        "3..8",
        "--out",
        &path,
    ]);
    assert!(made.status.success(), "{}", show(&made));
    // A magic, a header of 128 bytes in all, then epochs × items labels of two bytes.
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len() % 64, 5 * 4 * 2);
    assert!(String::from_utf8_lossy(&bytes[..128]).contains("'shape': (5, 4)"));
    // Distributions that are others in each epoch: three times as many numbers, of eight bytes.
    let made = dissensus(&[
        "deliver",
        "--votes",
        "votes.csv",
        "--method",
        "soft_noise",
        "--epochs",
        "3..8",
        "--force",
        "--out",
        &path,
    ]);
    assert!(show(&made).contains("soft_noise:scale=1, 5 epochs × 4 items × 3 classes"));
    let bytes = std::fs::read(&path).unwrap();
    assert!(String::from_utf8_lossy(&bytes[..128]).contains("'shape': (5, 4, 3)"));
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
    let rows: Vec<f64> = bytes[128..].chunks_exact(8).map(number).collect();
    assert_eq!(rows.len(), 5 * 4 * 3);
    assert!(rows.chunks(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12), "{rows:?}");
    assert!(rows.iter().any(|t| *t < 0.0) && rows[..12] != rows[12..24], "{rows:?}");
}

#[test]
fn baselines() {
    let output = dissensus(&["baseline", "prior", "--votes", "votes.csv"]);
    insta::assert_snapshot!("baseline_prior", show(&output));
    // The votes themselves have KL 0 to themselves, and uniform ln K − H.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes.csv").display().to_string();
    assert!(
        dissensus(&["baseline", "votes", "--votes", "votes.csv", "--out", &path]).status.success()
    );
    let scored = dissensus(&[
        "score",
        "--votes",
        "votes.csv",
        "--predictions",
        &path,
        "--metrics",
        "kl,entropy_error",
        "--json",
    ]);
    let json: serde_json::Value = serde_json::from_slice(&scored.stdout).unwrap();
    for metric in json["scores"][0]["metrics"].as_array().unwrap() {
        assert!(metric["value"].as_f64().unwrap().abs() < 1e-12, "{metric}");
    }
}

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn convert_round_trips_and_keeps_existing_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let digest = |file: &str| {
        let output = dissensus(&["votes", "inspect", file, "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["digest"].as_str().unwrap().to_owned()
    };
    for name in ["out.csv", "out.parquet"] {
        let output = dissensus(&["votes", "convert", "votes.csv", &path(name)]);
        assert!(output.status.success() && output.stdout.is_empty(), "{}", show(&output));
        assert_eq!(digest(&path(name)), digest("votes.csv"), "{name}");
    }
    // Counts survive the way through numpy's format and back.
    let lossy = dissensus(&["votes", "convert", "chaos.jsonl", &path("out.npz")]);
    assert!(lossy.status.code() == Some(2) && show(&lossy).contains("texts"), "{}", show(&lossy));
    dissensus(&["votes", "convert", "chaos.jsonl", &path("out.npz"), "--without-texts"]);
    let first = std::fs::read(folder.path().join("out.npz")).unwrap();
    let again = dissensus(&["votes", "convert", &path("out.npz"), &path("again.npz")]);
    assert!(again.status.success());
    assert_eq!(digest(&path("out.npz")), digest(&path("again.npz")));
    // An existing file stays as it is, without --force.
    let refused = dissensus(&["votes", "convert", "votes.csv", &path("out.npz")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(show(&refused).contains("hint: --force replaces it"), "{}", show(&refused));
    assert_eq!(std::fs::read(folder.path().join("out.npz")).unwrap(), first);
    let forced = dissensus(&["votes", "convert", "votes.csv", &path("out.npz"), "--force"]);
    assert!(forced.status.success());
    // Only what was asked for is there.
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["again.npz", "out.csv", "out.npz", "out.parquet"]);
}

#[test]
fn convert_to_standard_output_can_be_piped() {
    let output = dissensus(&["votes", "convert", "votes.csv", "-"]);
    insta::assert_snapshot!("convert_stdout", show(&output));
    let again = with_input(&["votes", "convert", "-", "-"], &output.stdout);
    assert_eq!(output.stdout, again.stdout);
}

#[test]
fn inspect_draws() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entropy.svg");
    let output = dissensus(&["votes", "inspect", "votes.csv", "--svg", path.to_str().unwrap()]);
    assert!(output.status.success());
    let svg = std::fs::read_to_string(path).unwrap();
    // The font inside is fifty thousand letters that nobody reads.
    let (before, rest) = svg.split_once("<style>@font-face").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    insta::assert_snapshot!("entropy_svg", format!("{before}{after}"));
}

#[test]
fn data_list_and_generated_data() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().display().to_string();
    let listed = show(&dissensus(&["data", "list", "--cache", &cache]));
    insta::assert_snapshot!("data_list", listed.replace(&cache, "CACHE"));
    let made = dissensus(&["data", "fetch", "blends", "--cache", &cache]);
    let votes = Path::new(&cache).join("blends/votes.csv");
    assert!(String::from_utf8(made.stdout).unwrap().contains(votes.to_str().unwrap()));
    let inspected = show(&dissensus(&["votes", "inspect", votes.to_str().unwrap()]));
    assert!(inspected.contains("items       4,000"), "{inspected}");
}

#[test]
fn a_mirror_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (mirror, cache) = (folder.path().join("mirror"), folder.path().join("cache"));
    std::fs::create_dir_all(mirror.join("popquorn")).unwrap();
    std::fs::write(mirror.join("popquorn/politeness.csv"), "not what it should be").unwrap();
    let output = dissensus(&[
        "data",
        "fetch",
        "popquorn",
        "--from",
        mirror.to_str().unwrap(),
        "--cache",
        cache.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2), "{}", show(&output));
    assert!(!cache.join("popquorn/politeness.csv").exists());
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = dissensus(&["completions", shell]);
        assert!(output.status.success() && output.stdout.len() > 1000, "{shell}");
    }
}

/// Numbers that would allocate without end, or that mean nothing, are refused with the range.
#[test]
fn numbers_out_of_range_are_refused() {
    let score = ["score", "--votes", "votes.csv", "--predictions", "model.csv"];
    for (option, value, range) in [
        ("--seed", "-1", "from 0 to 18,446,744,073,709,551,615"),
        ("--replicates", "99999999999", "from 0 to 10,000,000"),
        ("--replicates", "-5", "from 0 to 10,000,000"),
        ("--bins", "0", "from 1 to 1,000"),
    ] {
        let output = show(&dissensus(&[&score[..], &[option, value]].concat()));
        assert!(output.starts_with("exit code: 2") && output.contains(range), "{output}");
    }
    for (arguments, range) in [
        (&["study", "run", "demo", "--jobs", "0"][..], "from 1 to 1,024, or auto"),
        (
            &["study", "run", "demo", "--votes-per-item", "1000000000"],
            "from 1 to 1,000,000, or all",
        ),
        (&["study", "run", "demo", "--seeds", "0"], "from 1 to 10,000"),
        (&["train", "-", "--set", "run.threads=20000"], "from 1 to 1024"),
        (
            &["deliver", "--votes", "votes.csv", "--method", "sls", "--sparse", "0"],
            "1 to 1,000,000",
        ),
        (
            &["deliver", "--votes", "votes.csv", "--method", "sls", "--epochs", "0..9999999999"],
            "at most 1,000,000 epochs",
        ),
    ] {
        let spec = "[data]\ndataset = \"blends\"\n[delivery]\nmethods = [\"soft\"]\n";
        let output = show(&with_input(arguments, spec.as_bytes()));
        assert!(output.starts_with("exit code: 2") && output.contains(range), "{output}");
    }
}

#[test]
fn a_wrong_metric_gets_the_nearest() {
    let wrong = ["score", "--votes", "votes.csv", "--predictions", "model.csv", "--metrics", "klx"];
    let output = show(&dissensus(&wrong));
    assert!(output.contains("did you mean kl"), "{output}");
    let output = show(&dissensus(&["metrics", "explain", "acuracy"]));
    assert!(output.contains("did you mean accuracy"), "{output}");
}

/// Values on different items are not comparable, and no value is called the best without a test.
#[test]
fn models_on_different_items_are_named_and_none_is_best() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("votes.csv", "item,label\na,cat\na,dog\nb,cat\nc,dog\n");
    write("all.csv", "id,cat,dog\na,0.5,0.5\nb,0.9,0.1\nc,0.2,0.8\n");
    write("two.csv", "id,cat,dog\na,0.4,0.6\nb,0.8,0.2\n");
    write("also.csv", "id,cat,dog\na,0.4,0.6\nb,0.8,0.2\nc,0.4,0.6\n");
    let scored = |other: &str| {
        let files = ["score", "--votes", "votes.csv", "--predictions", "all.csv", other];
        show(&common::dissensus(folder.path(), &[&files[..], &["--markdown"]].concat()))
    };
    let (different, same) = (scored("two.csv"), scored("also.csv"));
    let said = "do not predict the same items";
    assert!(different.contains(said) && !different.contains("**"), "{different}");
    assert!(!same.contains(said) && !same.contains("**"), "{same}");
    let files = ["compare", "--votes", "votes.csv", "--predictions", "all.csv", "two.csv"];
    let compared = show(&common::dissensus(folder.path(), &files));
    assert!(compared.contains("1 of its 3 items are left out"), "{compared}");
}

/// Every command that reads votes has every option of reading them.
#[test]
fn options_of_reading_are_the_same_everywhere() {
    let options = [
        "--format",
        "--item",
        "--annotator",
        "--label",
        "--weight",
        "--text",
        "--annotators",
        "--counts",
        "--one-hot",
        "--ignore",
        "--classes",
        "--scale",
        "--missing",
        "--values",
        "--multilabel",
        "--separator",
        "--delimiter",
        "--no-header",
    ];
    for command in [
        &["votes", "inspect"][..],
        &["votes", "lint"],
        &["votes", "convert"],
        &["study", "new"],
        &["score"],
        &["compare"],
        &["deliver"],
        &["baseline"],
        &["embed"],
    ] {
        let help = show(&dissensus(&[command, &["--help"]].concat()));
        for option in options {
            assert!(
                help.contains(&format!(" {option} ")) || help.contains(&format!(" {option}\n")),
                "{command:?} has no {option}"
            );
        }
    }
    let keys = show(&dissensus(&["train", "--template"]));
    for option in options.iter().filter(|option| **option != "--no-header") {
        let key = option.trim_start_matches('-').replace('-', "_");
        assert!(keys.contains(&format!("\n# {key} = ")), "data.{key} is not a key");
    }
    let wide = "item,rater_1,rater_2,comment\na,cat,dog,x\nb,dog,dog,y\n";
    let arguments =
        ["votes", "inspect", "-", "--annotators", "rater_*", "--ignore", "comment", "--json"];
    let read = show(&with_input(&arguments, wide.as_bytes()));
    assert!(read.contains("\"votes\": 4") && read.starts_with("exit code: 0"), "{read}");
}
