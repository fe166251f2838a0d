//! The published datasets, read as a user would read them, against what is known of each.
//!
//! The files are not part of the repository; `dissensus_testing::data` says where they are looked for.
//!
//! The golden numbers come from programs of their own in plain Python (csv, json, struct) that
//! count the same files without this crate.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use dissensus_core::{Scale, VoteTable, entropy, normalized_entropy};
use dissensus_io::{Archive, npy, pickle};
use dissensus_votes::summary::summarize;
use dissensus_votes::{MultiLabel, ReadOptions, VoteFile, read};

/// A file of the mirror, or `None` (stated) where it is not there.
fn file(name: &str) -> Option<PathBuf> {
    Some(dissensus_testing::data(&[name])?.join(name))
}

fn read_file(name: &str, options: &ReadOptions) -> Option<VoteFile> {
    let path = file(name)?;
    Some(read(&path, options).unwrap_or_else(|error| panic!("{error}")))
}

/// What a table is known by.
#[derive(Debug, PartialEq)]
struct Facts {
    items: usize,
    votes: u64,
    annotators: usize,
    classes: usize,
    unanimous: usize,
    ties: usize,
}

fn rows(table: &VoteTable) -> Vec<Vec<f64>> {
    let counts = table.counts().unwrap();
    (0..table.len()).map(|item| counts.row(item, table.classes().len())).collect()
}

fn facts(table: &VoteTable) -> Facts {
    let rows = rows(table);
    let top = |row: &Vec<f64>| row.iter().copied().fold(0.0, f64::max);
    Facts {
        items: table.len(),
        votes: table.counts().unwrap().total(),
        annotators: table.annotators().len(),
        classes: table.classes().len(),
        unanimous: rows.iter().filter(|row| top(row) == row.iter().sum::<f64>()).count(),
        ties: rows.iter().filter(|row| row.iter().filter(|&&n| n == top(row)).count() > 1).count(),
    }
}

/// The mean entropy of the items, in nats.
fn mean_entropy(table: &VoteTable) -> f64 {
    let rows = rows(table);
    rows.iter().map(|row| entropy(row)).sum::<f64>() / rows.len() as f64
}

fn finding(reading: &VoteFile, code: &str) -> u64 {
    reading.findings.iter().filter(|f| f.code == code).map(|f| f.count).sum()
}

fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() < tolerance, "{found} is not {wanted}");
}

/// Reads a file as it stands and compares everything that is known of it.
fn check(name: &str, format: &str, wanted: Facts, mean: f64) -> Option<VoteFile> {
    let reading = read_file(name, &ReadOptions::default())?;
    assert_eq!(reading.format.name, format, "{name}");
    assert_eq!(facts(&reading.table), wanted, "{name}");
    close(mean_entropy(&reading.table), mean, 1e-9);
    Some(reading)
}

const fn known(
    (items, votes): (usize, u64),
    (annotators, classes): (usize, usize),
    (unanimous, ties): (usize, usize),
) -> Facts {
    Facts { items, votes, annotators, classes, unanimous, ties }
}

#[test]
fn chaosnli() {
    let wanted = [
        ("snli", known((1514, 151_400), (0, 3), (16, 14)), 0.5531409868594425),
        ("mnli_m", known((1599, 159_900), (0, 3), (0, 14)), 0.7429120719008193),
        ("alphanli", known((1532, 153_200), (0, 2), (114, 8)), 0.2871792019988333),
    ];
    for (part, facts, mean) in wanted {
        let Some(reading) =
            check(&format!("chaosnli/chaosNLI_{part}.jsonl"), "chaosnli", facts, mean)
        else {
            return;
        };
        let counts = reading.table.counts().unwrap();
        assert!((0..reading.table.len()).all(|item| counts.votes(item) == 100));
        assert_eq!(reading.texts.len(), reading.table.len());
        assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    }
}

/// The normalized entropy of SNLI and MNLI together is 0.592 ± 0.208.
#[test]
fn chaosnli_entropy_over_snli_and_mnli() {
    let mut normalized = Vec::new();
    for part in ["snli", "mnli_m"] {
        let name = format!("chaosnli/chaosNLI_{part}.jsonl");
        let Some(reading) = read_file(&name, &ReadOptions::default()) else {
            return;
        };
        let one = |row: &Vec<f64>| normalized_entropy(entropy(row), 3).unwrap();
        normalized.extend(rows(&reading.table).iter().map(one));
    }
    let n = normalized.len() as f64;
    let mean = normalized.iter().sum::<f64>() / n;
    let variance = normalized.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / n;
    assert_eq!(normalized.len(), 3113);
    close(mean, 0.592, 5e-4);
    close(variance.sqrt(), 0.208, 5e-4);
}

#[test]
fn cifar10h() {
    let wanted = known((10_000, 511_000), (0, 10), (4393, 3));
    let Some(reading) = check("cifar10h/cifar10h-counts.npy", "npy", wanted, 0.15445958436626306)
    else {
        return;
    };
    let counts = reading.table.counts().unwrap();
    let votes = |item| counts.votes(item);
    assert_eq!((0..10_000).map(votes).min(), Some(47));
    assert_eq!((0..10_000).map(votes).max(), Some(63));
    let Some(path) = file("cifar10/test_batch.bin") else {
        return;
    };
    // One label byte, then 3 × 1024 pixels; a tie takes the lowest class.
    let images = std::fs::read(path).unwrap();
    let labels = images.chunks(3073).map(|image| usize::from(image[0]));
    let most =
        |row: &Vec<f64>| (0..10).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    let agree =
        rows(&reading.table).into_iter().zip(labels).filter(|(row, label)| most(row) == *label);
    assert_eq!(agree.count(), 9921);
}

/// The shares of the votes without their numbers: the same distributions, and no counts.
#[test]
fn cifar10h_probabilities() {
    let counts = read_file("cifar10h/cifar10h-counts.npy", &ReadOptions::default());
    let shares = read_file("cifar10h/cifar10h-probs.npy", &ReadOptions::default());
    let (Some(counts), Some(shares)) = (counts, shares) else {
        return;
    };
    assert!(shares.table.counts().is_none());
    for (a, b) in counts.table.distributions().iter().zip(shares.table.distributions()) {
        let pairs = a.as_ref().unwrap().values().iter().zip(b.as_ref().unwrap().values());
        pairs.for_each(|(a, b)| close(*a, *b, 1e-6));
    }
}

#[test]
fn cifar10n() {
    let wanted = known((50_000, 150_000), (3, 10), (30_178, 3041));
    let name = "cifar10n/CIFAR-10_human.pt";
    let Some(reading) = check(name, "cifar10n", wanted, 0.2804444845598302) else {
        return;
    };
    let bytes = std::fs::read(file(name).unwrap()).unwrap();
    let clean = torch_array(bytes, "clean_label");
    let dissensus_core::Ballots::Votes(votes) = reading.table.ballots() else {
        panic!("single votes are known");
    };
    // The share of labels that differ from CIFAR-10's own.
    for (annotator, noise) in
        [("random_label1", 0.1723), ("random_label2", 0.1812), ("random_label3", 0.1764)]
    {
        let place = reading.table.annotators().position(annotator).unwrap() as u32;
        let wrong = |&item: &usize| {
            votes
                .of(item)
                .any(|v| v.annotator == Some(place) && f64::from(v.class().unwrap()) != clean[item])
        };
        close((0..50_000).filter(wrong).count() as f64 / 50_000.0, noise, 5e-5);
    }
}

fn torch_array(bytes: Vec<u8>, name: &str) -> Vec<f64> {
    let mut archive = Archive::open("x", bytes, 1 << 30).unwrap();
    let pickle = archive.read(&archive.find("/data.pkl").unwrap()).unwrap();
    let pickle::Object::Dict(entries) = pickle::parse(&pickle).unwrap() else {
        panic!("a dictionary is expected");
    };
    let wanted = pickle::Object::Text(name.into());
    match &entries.iter().find(|entry| entry.0 == wanted).unwrap().1 {
        pickle::Object::Array(array) => {
            let shape = array.shape.clone();
            let array = npy::Array::raw(&array.dtype, shape, array.fortran, &*array.data).unwrap();
            array.numbers().unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn popquorn_politeness() {
    let wanted = known((3718, 25_042), (506, 5), (67, 701));
    let name = "popquorn/politeness.csv";
    let Some(reading) = check(name, "popquorn", wanted, 0.967598330840748) else {
        return;
    };
    assert_eq!(reading.table.classes().names(), ["1", "2", "3", "4", "5"]);
    assert_eq!(reading.texts.len(), 3718);
    // `label` is the mean of `scores` in every row.
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
}

/// numpy 2.4.6 and krippendorff 0.9.0, Python, where `rows` has the list of ratings of each item:
///
/// ```python
/// votes = np.concatenate([np.array(row, float) for row in rows])
/// votes.mean(), np.median(votes), votes.std(), np.mean([np.std(row) for row in rows])
/// counts = np.array([[row.count(grade) for grade in grades] for row in rows])
/// krippendorff.alpha(value_counts=counts, value_domain=grades, level_of_measurement="ordinal")
/// ```
#[test]
fn ratings_have_figures_of_other_tools() {
    let wanted = [
        (
            "popquorn/politeness.csv",
            [3.3071639645395736, 3.0, 1.2574082807142066, 0.8190949245379702, 0.42702423908753273],
        ),
        (
            "lewidi/CSC/CSC_dev.json",
            [2.6735718769617076, 2.0, 1.6561357271611878, 1.052856615846225, 0.32780724602130307],
        ),
    ];
    for (name, [mean, median, sd, item_sd, alpha]) in wanted {
        let Some(reading) = read_file(name, &ReadOptions::default()) else {
            return;
        };
        assert_eq!(reading.table.scale(), Scale::Ordinal, "{name}");
        let ratings = summarize(&reading.table, &[], 0).ratings.unwrap();
        close(ratings.mean, mean, 1e-12);
        close(ratings.median, median, 1e-12);
        close(ratings.sd, sd, 1e-12);
        close(ratings.mean_item_sd, item_sd, 1e-12);
        close(ratings.krippendorff_alpha.unwrap(), alpha, 1e-12);
        // Ratings that are read as names are the same votes, under the same digest.
        let nominal = ReadOptions { scale: Some(Scale::Nominal), ..ReadOptions::default() };
        let nominal = read_file(name, &nominal).unwrap();
        assert_eq!(nominal.table.scale(), Scale::Nominal);
        assert_eq!(nominal.table.digest(), reading.table.digest());
    }
}

#[test]
fn popquorn_offensiveness() {
    let wanted = known((1500, 13_036), (262, 5), (162, 160));
    let name = "popquorn/offensiveness_raw.csv";
    if let Some(reading) = check(name, "long", wanted, 0.8406141145610303) {
        assert_eq!(reading.table.classes().names(), ["1", "2", "3", "4", "5"]);
    }
}

/// Three columns without a header: which is which must be said.
fn check_triples(name: &str, wanted: Facts, mean: f64) {
    let Some(path) = file(name) else {
        return;
    };
    let error = read(&path, &ReadOptions::default()).err().unwrap();
    assert!(error.to_string().contains("three columns without a header"), "{error}");
    // Where every item has as many votes, that is proposed; else nothing tells.
    let ways = error.advice.unwrap().ways;
    assert!(ways.len() < 2 && ways.iter().all(|way| way.options["item"] == "#1"), "{ways:?}");
    let (item, annotator) = (Some("#1".to_owned()), Some("#2".to_owned()));
    let options = ReadOptions { item, annotator, ..ReadOptions::default() };
    let reading = read_file(name, &options).unwrap();
    assert_eq!(facts(&reading.table), wanted, "{name}");
    close(mean_entropy(&reading.table), mean, 1e-9);
}

#[test]
fn classic_files() {
    let rte = known((800, 8000), (164, 2), (78, 65));
    check_triples("classic/rte_crowd.txt", rte, 0.4970296296642161);
    let web = known((2665, 15_567), (177, 5), (246, 569));
    check_triples("classic/web_crowd.txt", web, 0.8553161074677768);
    let anesthesia = known((45, 315), (5, 4), (16, 1));
    check("classic/anesthesia.csv", "long", anesthesia, 0.37140694437354216);
}

/// Rater patterns with the number of x-rays that have each: 3,859 of them by five dentists, 1,880
/// sound to all and 100 to none.
#[test]
fn classic_caries() {
    let wanted = known((3859, 5 * 3859), (5, 2), (1880 + 100, 0));
    check("classic/caries.csv", "wide", wanted, 0.27277138412229096);
}

#[test]
fn lewidi_hs_brexit() {
    let wanted = [
        ("dev", known((168, 1008), (6, 2), (116, 13)), 0.1803682123906864, 39),
        ("test", known((168, 1008), (6, 2), (116, 13)), 0.1803682123906864, 39),
        ("train", known((784, 4704), (6, 2), (543, 58)), 0.1792177573981469, 183),
    ];
    for (split, facts, mean, rounded) in wanted {
        let ties = facts.ties as u64;
        let name = format!("lewidi/HS-Brexit_dataset/HS-Brexit_{split}.json");
        let Some(reading) = check(&name, "lewidi-2023", facts, mean) else {
            return;
        };
        assert_eq!(finding(&reading, "rounded-soft-label"), rounded, "{split}");
        assert_eq!(finding(&reading, "hard-label-on-tie"), ties, "{split}");
        assert_eq!(reading.findings.len(), 2, "{:?}", reading.findings);
        assert_eq!(reading.texts.len(), reading.table.len());
    }
}

/// Five grades of abuse, beside soft and hard labels of "abusive or not".
#[test]
fn lewidi_convabuse() {
    let wanted = [
        ("dev", known((812, 2414), (8, 5), (585, 67)), 0.19341649866264662, 29),
        ("test", known((840, 2610), (8, 5), (594, 78)), 0.20402608321888493, 29),
        ("train", known((2398, 7144), (8, 5), (1718, 215)), 0.1977510707498614, 77),
    ];
    for (split, facts, mean, tied) in wanted {
        let name = format!("lewidi/ConvAbuse_dataset/ConvAbuse_{split}.json");
        let Some(reading) = check(&name, "lewidi-2023", facts, mean) else {
            return;
        };
        assert_eq!(reading.table.classes().names(), ["-3", "-2", "-1", "0", "1"]);
        assert_eq!(finding(&reading, "soft-label-recoded"), 1, "{split}");
        assert_eq!(finding(&reading, "hard-label-on-tie"), tied, "{split}");
        assert_eq!(reading.findings.len(), 2, "{:?}", reading.findings);
    }
}

#[test]
fn lewidi_paraphrase() {
    let wanted = [
        ("dev", known((50, 200), (4, 11), (1, 18)), 0.9684360417484023),
        ("test", known((50, 200), (4, 11), (2, 12)), 0.87740965792474),
        ("train", known((400, 1600), (4, 11), (25, 117)), 0.9211430807582041),
    ];
    for (split, facts, mean) in wanted {
        let name = format!("lewidi/Paraphrase/Paraphrase_{split}.json");
        let Some(reading) = check(&name, "lewidi-2025", facts, mean) else {
            return;
        };
        let grades: Vec<String> = (-5..=5).map(|grade: i32| grade.to_string()).collect();
        assert_eq!(reading.table.classes().names(), grades);
        assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    }
}

#[test]
fn lewidi_varierr() {
    // Items, annotators' answers, answers of several labels, rounded soft labels.
    for (split, items, answers, several, rounded) in
        [("dev", 50, 181, 6, 3), ("test", 50, 192, 7, 5), ("train", 388, 1443, 62, 37)]
    {
        let name = format!("lewidi/VariErrNLI/VariErrNLI_{split}.json");
        let Some(path) = file(&name) else {
            return;
        };
        let error = read(&path, &ReadOptions::default()).err().unwrap();
        assert_eq!(error.problem.code(), "multi-label");
        let each = ReadOptions { multilabel: MultiLabel::Each, ..ReadOptions::default() };
        let reading = read_file(&name, &each).unwrap();
        assert_eq!(reading.table.classes().names(), ["contradiction", "entailment", "neutral"]);
        // No answer has more than two labels here: each becomes two halves.
        let found = facts(&reading.table);
        assert_eq!((found.items, found.annotators), (items, 4));
        assert_eq!(found.votes, answers + several);
        close(rows(&reading.table).iter().flatten().sum(), answers as f64, 1e-9);
        assert_eq!(finding(&reading, "rounded-soft-label"), rounded);
        assert_eq!(reading.findings.len(), 1, "{:?}", reading.findings);
        // Split or kept together, answers keep their annotators.
        let votes = ReadOptions { multilabel: MultiLabel::Votes, ..ReadOptions::default() };
        let found = facts(&read_file(&name, &votes).unwrap().table);
        assert_eq!((found.annotators, found.votes), (4, answers + several));
        let sets = ReadOptions { scale: Some(Scale::MultiLabel), ..ReadOptions::default() };
        let sets = read_file(&name, &sets).unwrap();
        assert_eq!(sets.findings.len(), 1, "{:?}", sets.findings);
        let summary = summarize(&sets.table, &[], 0);
        let sets = summary.label_sets.unwrap();
        assert_eq!((summary.annotators, summary.votes), (Some(4), Some(answers)));
        let mean = (answers + several) as f64 / answers as f64;
        close(sets.mean_labels_per_vote.unwrap(), mean, 1e-12);
        let only = MultiLabel::Only("neutral".into());
        let only = ReadOptions { multilabel: only, ..ReadOptions::default() };
        let reading = read_file(&name, &only).unwrap();
        assert_eq!(facts(&reading.table).votes, answers);
        assert_eq!(reading.table.classes().names(), ["neutral", "not neutral"]);
    }
}

/// Upstream, these two end lists with a comma, which is not JSON.
#[test]
fn lewidi_annotator_files_are_refused() {
    for name in ["Paraphrase/Paraphrase", "VariErrNLI/VariErrNLI"] {
        let Some(path) = file(&format!("lewidi/{name}_annotators_meta.json")) else {
            return;
        };
        let error = read(&path, &ReadOptions::default()).err().unwrap();
        assert_eq!(error.problem.code(), "json");
    }
}
