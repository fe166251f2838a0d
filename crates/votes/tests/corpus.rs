//! Hostile files: those that a fuzzer found (see `fuzz/`), and those made by hand (`corpus/make.py`).
//!
//! Every file is read as the format whose folder it is in and as what it looks like, strictly and
//! collecting, with everything that a user might say; see `support/check.rs` for what must hold.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]
#![allow(unreachable_pub, dead_code)] // the fuzz targets share `support`

#[path = "support/check.rs"]
mod check;

use std::fs;
use std::path::{Path, PathBuf};

use check::LIMITS;
use dissensus_core::Keep;
use dissensus_votes::{ReadOptions, Severity, VoteFile, read_bytes};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The files of the corpus: the name of the target, the file's own, and what is in it.
fn files() -> Vec<(String, String, Vec<u8>)> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut files = Vec::new();
    for folder in fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path()) {
        if !folder.is_dir() {
            continue;
        }
        for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            files.push((name(&folder), name(&file), fs::read(&file).unwrap()));
        }
    }
    files.sort();
    files
}

/// Says which file it was before a panic goes on.
struct Named<'a>(&'a str, &'a str);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in corpus/{}/{}", self.0, self.1);
        }
    }
}

#[test]
fn nothing_in_the_corpus_panics_or_is_skipped() {
    let files = files();
    assert!(files.len() > 60, "{} files", files.len());
    for (target, name, bytes) in &files {
        let _named = Named(target, name);
        check::run(target, bytes);
        let format = dissensus_votes::formats::by_name(target).map(|format| format.name);
        let is_parts = matches!(format, Some("npz" | "cifar10n")) && !bytes.starts_with(b"PK");
        let bytes = if is_parts { check::archive_of(bytes) } else { bytes.clone() };
        // What is larger than a few hundred bytes unpacks to megabytes: once is enough.
        let choices = if bytes.len() > 800 { 19..20 } else { 0..26 };
        for choice in choices {
            let whole = choice == 19;
            check::check_with(&check::options(None, choice), &bytes, whole);
            if format.is_some() {
                check::check_with(&check::options(format, choice), &bytes, whole);
            }
        }
    }
}

#[test]
fn every_hand_made_file_is_refused_by_name() {
    // The file, and the code of what is wrong with it.
    let expected = [
        ("array/no_bytes.npy", "array"),
        ("auto/blank", "empty-file"),
        ("auto/bom_only", "empty-file"),
        ("auto/bomb.json.gz", "too-large"),
        ("auto/cut.csv.gz", "io"),
        ("auto/cut.zst", "io"),
        ("auto/deep.json", "json"),
        ("auto/deep.jsonl", "json"),
        ("auto/empty", "empty-file"),
        ("auto/half_a_pair.jsonl", "json"),
        ("auto/key_twice.json", "json"),
        ("auto/key_twice.jsonl", "json"),
        ("auto/latin1.csv", "encoding"),
        ("auto/long_line.csv.gz", "too-large"),
        ("auto/long_line.jsonl.gz", "too-large"),
        ("auto/too_large_a_number.jsonl", "json"),
        ("auto/utf16_without_mark.csv", "unknown-format"),
        ("auto/wrong_sum.csv.gz", "io"),
        ("chaosnli/four_billion_votes.jsonl", "too-many"),
        ("chaosnli/late_classes.jsonl", "unknown-class"),
        ("cifar10n/copies.pt", "pickle"),
        ("cifar10n/deep.pt", "pickle"),
        ("cifar10n/doubled.pt", "pickle"),
        ("cifar10n/system.pt", "unsafe-pickle"),
        ("long/class_numbers.csv", "shape"),
        ("long/column_twice.csv", "duplicate-column"),
        ("long/open_quote.csv", "open-quote"),
        ("long/ragged.csv", "ragged-row"),
        ("long/weights.csv", "vote"),
        ("matrix/numbers.csv", "ragged-row"),
        ("matrix/shares.csv", "not-a-distribution"),
        ("npy/cut.npy", "array"),
        ("npy/huge.npy", "array"),
        ("npy/large.npy", "array"),
        ("npy/long_header.npy", "array"),
        ("npy/nan.npy", "not-a-distribution"),
        ("npy/negative.npy", "not-a-count"),
        ("npy/no_columns.npy", "too-many"),
        ("npy/no_rows.npy", "too-many"),
        ("npy/objects.npy", "array"),
        ("npz/bomb.npz", "too-large"),
        ("npz/bombs.npz", "too-large"),
        ("npz/cut.npz", "archive"),
        ("npz/many.npz", "archive"),
        ("npz/texts.npz", "array"),
        ("npz/weights.npz", "array"),
        ("npz/wrong_sum.npz", "archive"),
        ("parquet/cut.parquet", "parquet"),
        ("parquet/deep.parquet.gz", "parquet"),
        ("parquet/delta_lengths.parquet", "parquet"),
        ("parquet/dictionary.parquet", "parquet"),
        ("parquet/digits.parquet", "parquet"),
        ("parquet/footer_outside.parquet", "parquet"),
        ("parquet/gzip_bomb.parquet", "parquet"),
        ("parquet/honest.parquet", "unknown-format"),
        ("parquet/large_page.parquet", "too-large"),
        ("parquet/long_list.parquet", "too-many"),
        ("parquet/many_rows.parquet", "parquet"),
        ("parquet/many_values.parquet", "parquet"),
        ("parquet/negative_rows.parquet", "parquet"),
        ("parquet/page_outside.parquet", "parquet"),
        ("parquet/rows_without_columns.parquet", "parquet"),
        ("parquet/truths.parquet", "parquet"),
        ("peerannot/no_name.json", "empty-cell"),
        ("wide/item_twice.csv", "duplicate-item"),
        ("wide/patterns.csv", "too-many"),
    ];
    for (name, code) in expected {
        let bytes = fs::read(corpus().join(name)).unwrap();
        let folder = name.split('/').next().unwrap();
        let format = dissensus_votes::formats::by_name(folder).map(|format| format.name.to_owned());
        let options = ReadOptions { format, limits: LIMITS, ..ReadOptions::default() };
        let error = read_bytes(name, bytes, &options).err().expect(name);
        assert_eq!(error.problem.code(), code, "{error}");
    }
}

fn lint(bytes: Vec<u8>) -> Vec<String> {
    let options = ReadOptions { collect: true, keep: Keep::VotesAndRows, ..ReadOptions::default() };
    let report = dissensus_votes::lint::report("x", read_bytes("x", bytes, &options));
    let errors = report.findings.into_iter().filter(|f| f.severity == Severity::Error);
    errors.map(|finding| finding.code).collect()
}

fn read(bytes: impl Into<Vec<u8>>) -> VoteFile {
    read_bytes("x", bytes.into(), &ReadOptions::default()).unwrap()
}

/// Small files that would take minutes if anything in them were compared with everything else.
/// There is no clock here: what is quadratic shows as a test that does not end.
#[test]
fn the_time_taken_grows_with_the_file() {
    let header: String = (0..40_000).map(|i| format!("{i:x}g,")).collect();
    assert!(lint(format!("{header}\n").into()).contains(&"unknown-format".to_owned()));
    let commas = ",".repeat(120_000);
    assert!(!lint(format!("1{commas}\n2{commas}\n").into()).is_empty());
    let keys: String = (0..20_000).map(|i| format!("\"{i:x}\": 1, ")).collect();
    assert_eq!(
        lint(format!("{{{keys}\"item\": 1}}\n{{{keys}\"item\": 2}}\n").into()),
        ["many-classes"]
    );
    let asked: String = (0..60_000).map(|i| format!("\"q{i:x}\": \"a\", ")).collect();
    let min = format!("[{{\"id\": 1, {asked} \"annotator\": 1, \"annotation_id\": 1}}]");
    assert_eq!(lint(min.into()), ["shape"]);
    // A column of texts taken for labels.
    let texts: String = (0..60_000).map(|i| format!("i{i},w,a text {i}\n")).collect();
    let found = lint(format!("item,annotator,label\n{texts}").into());
    assert_eq!(found, ["doubt", "many-classes"]);
    let canonical: String = (0..60_000).map(|i| format!("i{i},w,text {i},{i}\n")).collect();
    let table = read(format!("item,annotator,label,class\n{canonical}")).table;
    assert_eq!(table.classes().len(), 60_000);
    let soft: String = (0..60_000).map(|i| format!("\"{i}\": 0, ")).collect();
    let labels = "59999,".repeat(60_000);
    let lewidi = format!(
        "{{\"1\": {{\"annotations\": \"{labels}1\", \"annotators\": \"{labels}1\", \"soft_label\": {{{soft}\"x\": 0}}}}}}"
    );
    assert_eq!(lint(lewidi.into()), ["duplicate-vote", "many-classes"]);
}

/// Every prefix of an honest file is an error or a smaller table, never a panic.
#[test]
fn cut_files_are_errors_or_smaller_tables() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut seen = 0;
    for format in dissensus_votes::formats::FORMATS {
        let folder = seeds.join(format.name);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| {
            panic!(
                "{}: no folder of seeds, {}: {error}; put a small file of the format there, for this \
                 test and for fuzzing",
                format.name,
                folder.display()
            )
        });
        for file in files {
            let file = file.unwrap().path();
            let bytes = fs::read(&file).unwrap();
            if file.extension().is_some_and(|end| end == "parts") {
                continue;
            }
            let _named = Named(format.name, file.to_str().unwrap());
            for end in (0..bytes.len()).step_by(1 + bytes.len() / 100) {
                let options = check::options(Some(format.name), end % 26);
                check::check_with(&options, &bytes[..end], false);
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen} seeds");
}
