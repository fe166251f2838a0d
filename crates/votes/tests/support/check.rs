//! What must hold for any bytes, read as any format. Used by the fuzz targets (`fuzz/`) and by the
//! test of their corpus.
//!
//! 1. Nothing panics, and no more is taken than [`LIMITS`] allow.
//! 2. Nothing is skipped in silence: what stops a strict reading is reported by a collecting one,
//!    and what reads strictly leaves the collecting one nothing to report.
//! 3. Every row of a long table is a vote or is counted as a missing one.
//! 4. What is written reads back to the same votes.

use std::io::{Cursor, Write};

use dissensus_core::{Ballots, Counts, Keep, Scale, VoteTable};
use dissensus_io::Input;
use dissensus_io::{Source, npy, pickle, python};
use dissensus_votes::formats::FORMATS;
use dissensus_votes::write::{TARGETS, WriteError, class_column, write};
use dissensus_votes::{
    Limits, MultiLabel, ReadError, ReadOptions, Severity, Values, VoteFile, lint, read_bytes,
    summary,
};

/// Small, so that reaching them costs nothing.
pub const LIMITS: Limits =
    Limits { line: 64 << 10, document: 4 << 20, cells: 1 << 18, votes: 1 << 16 };

/// Tables with more votes or cells are not written again: a cell of a matrix can stand for
/// billions.
const MOST_WRITTEN: u64 = 1 << 14;

/// Targets that are no format.
const OTHERS: [&str; 5] = ["array", "auto", "parquet", "pickle", "python"];

/// Every target that [`run`] knows.
pub fn targets() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name).chain(OTHERS)
}

/// Checks bytes as what a fuzz target takes them for: a format; anything (`auto`, and `parquet`,
/// which has many formats in it); or a part of a file by itself, which checksums around it would
/// otherwise protect from any change.
pub fn run(target: &str, bytes: &[u8]) {
    let is_zip = bytes.starts_with(b"PK");
    match target {
        "auto" | "parquet" => check(None, bytes),
        "array" => check_npy(bytes),
        "pickle" => check_pickle(bytes),
        "python" => check_python(bytes),
        "npz" | "cifar10n" if !is_zip => check(Some(target), &archive_of(bytes)),
        format => check(Some(format), bytes),
    }
}

/// Checks bytes as a format, or as whatever they look like; what else the user might say is
/// chosen by the bytes themselves.
fn check(format: Option<&str>, bytes: &[u8]) {
    let choice = bytes.iter().fold(bytes.len(), |sum, &b| sum.wrapping_mul(31) + usize::from(b));
    let options = options(format, choice % 64);
    // Most inputs are only read: a fuzzer gets further with many readings than with deep ones.
    match choice / 64 % 128 {
        0 | 1 => check_with(&options, bytes, true),
        2..16 => check_with(&options, bytes, false),
        _ => drop(read_bytes("x", bytes.to_vec(), &options)),
    }
}

/// What a user might say.
pub fn options(format: Option<&str>, choice: usize) -> ReadOptions {
    let mut options =
        ReadOptions { format: format.map(str::to_owned), limits: LIMITS, ..ReadOptions::default() };
    let names = |list: &[&str]| Some(list.iter().map(ToString::to_string).collect());
    match choice {
        0 | 1 => options.multilabel = MultiLabel::Each,
        2 | 3 => options.multilabel = MultiLabel::Only("a".to_owned()),
        4 => options.classes = names(&["0", "1", "2"]),
        5 => options.classes = names(&["b", "a", "-1"]),
        6 => options.missing = names(&["x", "0"]),
        7 => options.values = Some(Values::Labels),
        8 => options.values = Some(Values::Counts),
        9 => options.values = Some(Values::Probabilities),
        10 => options.header = Some(false),
        11 => options.header = Some(true),
        12 => options.delimiter = Some(dissensus_io::Delimiter(b';')),
        13 => (options.item, options.label) = (Some("#1".to_owned()), Some("#2".to_owned())),
        14 => options.annotator = Some("#2".to_owned()),
        15 => options.item = Some("inner".to_owned()),
        16 => options.label = Some("a".to_owned()),
        17 | 18 => options.keep = Keep::Counts,
        20 => options.annotators = names(&["*"]),
        21 => options.counts = names(&["*"]),
        22 => (options.one_hot, options.multilabel) = (names(&["*"]), MultiLabel::Each),
        23 => (options.separator, options.multilabel) = (Some(';'), MultiLabel::Votes),
        24 => options.ignore = names(&["#1"]),
        25 => options.text = Some("#1".to_owned()),
        26 => options.scale = Some(Scale::MultiLabel),
        27 => options.scale = Some(Scale::Ordinal),
        28 => (options.one_hot, options.scale) = (names(&["*"]), Some(Scale::MultiLabel)),
        29 => options.rows = names(&["#1!=a"]),
        30 => options.item = Some("#1,#2".to_owned()),
        _ => {}
    }
    options
}

/// Checks bytes; `whole` also summarizes, lints and writes what was read.
pub fn check_with(options: &ReadOptions, bytes: &[u8], whole: bool) {
    let read = |options: &ReadOptions| read_bytes("x", bytes.to_vec(), options);
    let strict = read(options);
    let collect = ReadOptions { collect: true, ..options.clone() };
    let collected = read(&collect);
    nothing_is_silent(&strict, &collected);
    let Ok(reading) = strict else {
        if whole {
            check_report(collected);
        }
        return;
    };
    every_row_counts(&reading, options, bytes);
    if whole {
        let other = if options.keep == Keep::Votes { Keep::Counts } else { Keep::Votes };
        let again = read(&ReadOptions { keep: other, ..options.clone() });
        let again = again.unwrap_or_else(|e| panic!("keeping {other:?}: {e}"));
        assert_eq!(reading.table.counts(), again.table.counts(), "what is kept changes the counts");
        check_table(&reading);
        check_report(collected);
    }
}

/// Strict and collecting readings tell the same story.
fn nothing_is_silent(
    strict: &Result<VoteFile, ReadError>,
    collected: &Result<VoteFile, ReadError>,
) {
    let errors = |reading: &VoteFile| -> Vec<String> {
        let errors = reading.findings.iter().filter(|f| f.severity == Severity::Error);
        errors.map(|f| f.code.clone()).collect()
    };
    match (strict, collected) {
        (Ok(strict), Ok(collected)) => {
            assert_eq!(errors(collected), [""; 0], "errors in what reads strictly");
            assert_eq!(strict.table.digest(), collected.table.digest(), "collecting changes it");
            assert_eq!(strict.findings.len(), collected.findings.len());
        }
        (Ok(_), Err(error)) => panic!("only collecting fails: {error}"),
        (Err(error), Ok(collected)) => {
            let code = error.problem.code();
            let told = errors(collected).iter().any(|other| other == code);
            let nothing = code == "no-votes" && collected.table.is_empty();
            assert!(told || nothing, "{error} is not reported by the linter");
        }
        (Err(strict), Err(collected)) => {
            for error in [strict, collected] {
                assert!(!error.to_string().is_empty());
                error.problem.remedy();
            }
        }
    }
}

/// In a long table a row is a vote or a missing one; canonical tables have rows for classes.
fn every_row_counts(reading: &VoteFile, options: &ReadOptions, bytes: &[u8]) {
    // A vote for several labels is several votes, or none where no column is marked.
    if reading.format.name != "long" || options.takes_several() || options.rows.is_some() {
        return;
    }
    let input = Input::from_bytes("x", bytes.to_vec());
    let Ok(Source::Table(table)) = input.and_then(|input| Source::open(input, &options.source()))
    else {
        return;
    };
    if Scale::ALL.into_iter().any(|scale| table.column(class_column(scale)).is_some()) {
        return;
    }
    let rows = table.rows(&options.limits).count() as u64;
    let missing = reading.findings.iter().filter(|f| f.code == "missing-value");
    let missing: u64 = missing.map(|f| f.count).sum();
    let votes = reading.table.counts().map_or(0, |counts| counts.total());
    assert_eq!(votes + missing, rows, "rows are lost");
}

fn check_report(collected: Result<VoteFile, ReadError>) {
    let report = lint::report("x", collected);
    serde_json::to_string(&report).expect("a report is JSON");
}

fn check_table(reading: &VoteFile) {
    let table = &reading.table;
    let (items, classes) = (table.len() as u64, table.classes().len() as u64);
    if items * classes > LIMITS.cells {
        return;
    }
    let summary = summary::summarize(table, &reading.texts, 5);
    serde_json::to_string(&summary).expect("a summary is JSON");
    for share in summary.classes.iter().map(|class| class.share) {
        assert!((0.0..=1.0 + 1e-9).contains(&share), "a share of {share}");
    }
    let entropy = summary.entropy.map_or(0.0, |e| e.mean_nats);
    let most = (classes as f64).ln().max(0.0) + 1e-9;
    assert!((0.0..=most).contains(&entropy), "{entropy} nats in {classes} classes");
    assert_eq!(table.distributions().len(), table.len());
    let votes = table.counts().map_or(0, |counts| counts.total());
    if votes > MOST_WRITTEN || items * classes > MOST_WRITTEN {
        return;
    }
    for target in TARGETS {
        let mut out = Cursor::new(Vec::new());
        match write(table, &[], target, &mut out) {
            Ok(()) => reads_back(table, target.name, out.into_inner()),
            Err(WriteError::Id { .. }) => {}
            Err(WriteError::Scale(error)) => {
                assert_eq!((error.found, target.name), (Scale::MultiLabel, "npz"));
            }
            Err(WriteError::NoVotes { .. }) => {
                assert!(matches!(table.ballots(), Ballots::Probabilities(_)));
            }
            Err(error) => panic!("{}: {error}", target.name),
        }
    }
}

fn reads_back(table: &VoteTable, target: &str, bytes: Vec<u8>) {
    let again = read_bytes("x", bytes, &ReadOptions::default());
    let again = again.unwrap_or_else(|e| panic!("{target}: {e}")).table;
    assert_eq!(table.classes().names(), again.classes().names(), "{target}");
    assert_eq!(table.items(), again.items(), "{target}");
    assert_eq!(table.scale(), again.scale(), "{target}");
    match table.ballots() {
        Ballots::Probabilities(rows) => {
            assert!(matches!(again.ballots(), Ballots::Probabilities(other) if other == rows));
        }
        Ballots::Votes(_) if target != "npz" => {
            assert_eq!(table.digest(), again.digest(), "{target}");
        }
        // The weight of a class is shared out over its votes.
        Ballots::Counts(counts) if counts.is_weighted() && target != "npz" => {
            let again = again.counts().expect("votes have counts");
            (0..table.len()).for_each(|i| assert!(alike(counts, &again, i), "{target}"));
        }
        _ => assert_eq!(table.counts(), again.counts(), "{target}"),
    }
}

fn alike(left: &Counts, right: &Counts, item: usize) -> bool {
    // Shares of the smallest numbers that there are cannot be exact.
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.max(b).max(1e-290);
    let mut both = left.amounts(item).zip(right.amounts(item));
    left.entries(item).eq(right.entries(item)) && both.all(|(a, b)| near(a.1, b.1))
}

/// An array with its header: whatever its shape.
fn check_npy(bytes: &[u8]) {
    let Ok(array) = npy::parse(bytes) else {
        return;
    };
    let cells: usize = array.shape.iter().product();
    let numbers = array.numbers();
    let texts = array.texts();
    assert!(numbers.iter().all(|list| list.len() == cells));
    assert!(texts.iter().all(|list| list.len() == cells));
    if let (Ok(numbers), Ok(texts), true) = (numbers, texts, array.is_integer()) {
        for (number, text) in numbers.iter().zip(texts).filter(|_| array.shape.len() == 1) {
            assert_eq!(*number, text.parse::<f64>().expect("digits"), "{text}");
        }
    }
}

/// A pickle, by itself and where CIFAR-10N has it.
fn check_pickle(bytes: &[u8]) {
    if pickle::parse(bytes).is_ok() {
        check(Some("cifar10n"), &zip_of(&[("archive/data.pkl", bytes)]));
    }
}

/// A list as Python writes it.
fn check_python(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(list) = python::list(&text) {
        let again = python::list(&serde_json::Value::Array(list.clone()).to_string());
        assert_eq!(again.ok(), Some(list), "a list does not read back");
    }
}

/// An archive of parts, each the number of a name, two bytes of length, and as many bytes.
pub fn archive_of(mut bytes: &[u8]) -> Vec<u8> {
    const NAMES: [&str; 8] = [
        "counts.npy",
        "items.npy",
        "classes.npy",
        "weights.npy",
        "probabilities.npy",
        "labels.npy",
        "x.npy",
        "data.pkl",
    ];
    let mut members: Vec<(&str, &[u8])> = Vec::new();
    while let [name, low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (member, after) = rest.split_at(length);
        let name = NAMES[usize::from(*name) % NAMES.len()];
        if members.iter().all(|(other, _)| *other != name) {
            members.push((name, member));
        }
        bytes = after;
    }
    zip_of(&members)
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, stored).expect("a new member");
        writer.write_all(bytes).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}
