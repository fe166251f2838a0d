//! Dawid and Skene's model against crowd-kit 1.4.2: `reference/labels/dawid_skene.py`.

#![allow(clippy::unwrap_used)]

use dissensus_core::philox::Stream;
use dissensus_core::{Keep, TableBuilder, VoteTable};
use dissensus_labels::targets::dawid_skene::{DawidSkene, Settings, fit};
use dissensus_labels::{FitReport, LabelError, Source, Target};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    votes: Vec<(String, String, String)>,
    rounds: u32,
    labels: Vec<String>,
    priors: Vec<f64>,
    posteriors: Vec<(String, Vec<f64>)>,
    errors: Vec<(String, String, Vec<f64>)>,
}

fn table(votes: &[(String, String, String)]) -> VoteTable {
    let mut builder = TableBuilder::new(Keep::Votes);
    for (row, (item, annotator, label)) in votes.iter().enumerate() {
        builder.vote(item, Some(annotator), label, 1.0, row as u64).unwrap();
    }
    builder.finish().unwrap()
}

/// Both work in logarithms (theirs to base 2), so that rounding differs: 1e-12. Beside its
/// likelihood, crowd-kit raises the posteriors that it returns to 1e-10.
#[test]
fn as_crowd_kit() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/dawid_skene.json")).unwrap();
    let close = |ours: &[f64], theirs: &[f64], what: &str| {
        let far = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(ours.len() == theirs.len() && far < 1e-12, "{what}: off by {far}");
    };
    for case in cases {
        let table = table(&case.votes);
        assert_eq!(table.classes().names(), case.labels);
        let fitted = fit(&table, Settings { iterations: case.rounds, tolerance: 0.0 }).unwrap();
        assert_eq!(fitted.report.log_likelihoods.len(), case.rounds as usize);
        assert!(!fitted.report.converged);
        close(&fitted.priors, &case.priors, "priors");
        let k = case.labels.len();
        for (item, theirs) in &case.posteriors {
            let at = table.items().position(item).unwrap();
            let row = &fitted.posteriors[at * k..(at + 1) * k];
            close(&row.iter().map(|p| p.max(1e-10)).collect::<Vec<_>>(), theirs, item);
        }
        for (annotator, label, theirs) in &case.errors {
            let who = table.annotators().position(annotator).unwrap();
            let vote = table.classes().position(label).unwrap();
            let ours: Vec<f64> = (0..k as u16)
                .map(|truth| fitted.confusions.get(who, truth, vote).unwrap())
                .collect();
            close(&ours, theirs, annotator);
        }
    }
}

/// Annotator a of 12 is right with the probability 0.35 + 0.05 a on items of 4 classes.
fn drawn(items: u64) -> VoteTable {
    let mut stream = Stream::new([12, 0], [0; 3]);
    let mut votes = Vec::new();
    for item in 0..items {
        for annotator in 0..12 {
            let right = stream.unit() < 0.35 + 0.05 * f64::from(annotator);
            let label = if right { item % 4 } else { stream.below(4) };
            votes.push((format!("i{item}"), format!("a{annotator:02}"), label.to_string()));
        }
    }
    table(&votes)
}

fn rows_sum_to_one(fitted: &DawidSkene, annotators: usize) {
    let one = |row: &[f64]| assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
    fitted.posteriors.chunks(4).for_each(one);
    one(&fitted.priors);
    (0..annotators).for_each(|a| fitted.confusions.matrix(a).unwrap().chunks(4).for_each(one));
}

/// A round never lowers the likelihood by more than what keeping 1e-10 off zero can cost.
#[test]
fn likelihood_grows_and_skill_is_found() {
    let table = drawn(400);
    let fitted = fit(&table, Settings::default()).unwrap();
    assert!(fitted.report.converged && fitted.report.log_likelihoods.len() > 3);
    for pair in fitted.report.log_likelihoods.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-6, "{pair:?}");
    }
    rows_sum_to_one(&fitted, 12);
    let right = |a| (0..4).map(|k| fitted.confusions.get(a, k, k).unwrap()).sum::<f64>() / 4.0;
    // 400 votes: an accuracy has the sd 0.025 at most; 5 sd apart are 0.125.
    assert!(right(11) > right(6) + 0.05 && right(6) > right(0) + 0.05);
    // With the best of 12 annotators right in 93 of 100, hardly an item is missed.
    let wrong = |item: &usize| fitted.posteriors[item * 4 + item % 4] < 0.5;
    assert!((0..400).filter(wrong).count() < 12);
}

/// A vote of weight 2 is two votes; a vote of weight 0 is none.
#[test]
fn weights_count() {
    let build = |weights: bool| {
        let mut builder = TableBuilder::new(Keep::Votes);
        let mut stream = Stream::new([1, 1], [0; 3]);
        for item in 0..40 {
            for annotator in ["x", "y", "z"] {
                let (item, label) = (item.to_string(), stream.below(3).to_string());
                let weight = stream.below(3);
                let (times, weight) = if weights { (1, weight as f64) } else { (weight, 1.0) };
                for _ in 0..times {
                    builder.vote(&item, Some(annotator), &label, weight, 1).unwrap();
                }
            }
            let (item, label) = (item.to_string(), (item % 3).to_string());
            builder.vote(&item, Some("x"), &label, 1.0, 1).unwrap();
        }
        let settings = Settings { iterations: 8, tolerance: 0.0 };
        fit(&builder.finish().unwrap(), settings).unwrap()
    };
    let (weighted, repeated) = (build(true), build(false));
    let far = weighted.posteriors.iter().zip(repeated.posteriors).map(|(a, b)| (a - b).abs());
    assert!(far.fold(0.0, f64::max) < 1e-9);
}

#[test]
fn threads_do_not_matter() {
    let table = drawn(3000);
    let fit = || fit(&table, Settings { iterations: 6, tolerance: 0.0 }).unwrap();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    assert_eq!(pool(1).install(fit), pool(5).install(fit));
}

#[test]
fn as_a_target() {
    let table = drawn(50);
    let target: Target = "dawid_skene:iterations=20".parse().unwrap();
    assert_eq!(target.to_string(), "dawid_skene:iterations=20,tolerance=0.00001");
    let found = target.estimate(&table).unwrap();
    let fitted = fit(&table, Settings { iterations: 20, ..Settings::default() }).unwrap();
    assert_eq!(Source::new(&found.targets).unwrap().distributions(), fitted.posteriors);
    assert_eq!((found.items.unwrap().priors, found.fit), (fitted.priors, fitted.report));
    assert_eq!(found.annotators.unwrap().confusions, Some(fitted.confusions));
}

/// Formulas tell no annotators apart and have nothing to iterate.
#[test]
fn formulas_are_fitted_at_once() {
    let table = drawn(5);
    for name in ["frequencies", "dirichlet"] {
        let found = name.parse::<Target>().unwrap().estimate(&table).unwrap();
        assert_eq!((found.annotators, found.items, found.fit), (None, None, FitReport::FORMULA));
    }
}

/// An annotator without votes, left over from items that are not there, has no accuracy.
#[test]
fn annotators_without_votes() {
    let votes = [("a", "x", "0"), ("a", "y", "1"), ("b", "x", "1"), ("c", "z", "0")];
    let votes = votes.map(|(i, a, l)| (i.to_owned(), a.to_owned(), l.to_owned()));
    let table = table(&votes).select(&[0, 1]);
    let found = "dawid_skene".parse::<Target>().unwrap().estimate(&table).unwrap();
    let model = found.annotators.unwrap();
    let z = table.annotators().position("z").unwrap();
    let of = |name: &str| model.parameters.iter().find(|p| p.name == name).unwrap().values[z];
    assert_eq!((of("votes"), of("accuracy")), (Some(0.0), None));
    let confusions = model.confusions.unwrap();
    assert_eq!(confusions.matrix(z).unwrap(), [0.0; 4]);
    assert_eq!((confusions.matrix(3), confusions.get(0, 2, 0)), (None, None));
    assert_eq!(confusions.matrices().unwrap().len(), 3 * 4);
}

#[derive(Deserialize)]
struct RealCase {
    file: String,
    iterations: u32,
    log_likelihood: f64,
    labels: Vec<String>,
    priors: Vec<f64>,
    targets: Vec<f64>,
    annotators: Vec<(String, f64, f64, Vec<Vec<f64>>)>,
}

/// Everything that the target tells of real votes, against EM in numpy, which stops where crowd-kit's
/// parameters are the same to 1e-9: `reference/labels/dawid_skene_real.py`. The files are not part of
/// the repository (see `tests/subset.rs`).
#[test]
fn real_votes_as_numpy() {
    let cases: Vec<RealCase> =
        serde_json::from_str(include_str!("golden/dawid_skene_real.json")).unwrap();
    for case in cases {
        let file = format!("classic/{}", case.file);
        let Some(root) = dissensus_testing::data(&[&file]) else { return };
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let vote = |line: &str| -> (String, String, String) {
            let mut cells = line.split_whitespace().map(str::to_owned);
            (cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap())
        };
        let table = table(&text.lines().map(vote).collect::<Vec<_>>());
        assert_eq!(table.classes().names(), case.labels);
        let found = "dawid_skene".parse::<Target>().unwrap().estimate(&table).unwrap();
        assert_eq!((found.fit.iterations, found.fit.converged), (case.iterations, true));
        let ratio = found.fit.log_likelihood().unwrap() / case.log_likelihood;
        assert!((ratio - 1.0).abs() < 1e-12, "{}: log-likelihood", case.file);
        let close = |ours: &[f64], theirs: &[f64], what: &str| {
            let far = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(ours.len() == theirs.len() && far < 1e-10, "{what}: off by {far}");
        };
        close(&found.items.unwrap().priors, &case.priors, "priors");
        let k = case.labels.len();
        let rows = Source::new(&found.targets).unwrap().distributions();
        let mean = |class| rows.iter().skip(class).step_by(k).sum::<f64>() / table.len() as f64;
        close(&(0..k).map(mean).collect::<Vec<_>>(), &case.targets, "targets");
        let model = found.annotators.unwrap();
        let confusions = model.confusions.unwrap();
        for (name, votes, accuracy, matrix) in case.annotators {
            let at = table.annotators().position(&name).unwrap();
            close(&confusions.matrix(at).unwrap(), &matrix.concat(), &name);
            let own = model.parameters.iter().map(|p| (p.name, p.values[at].unwrap()));
            let own: Vec<(&str, f64)> = own.collect();
            assert_eq!((own[0], own[1].0), (("votes", votes), "accuracy"));
            close(&[own[1].1], &[accuracy], &name);
        }
    }
}

#[test]
fn who_voted_has_to_be_known() {
    let target: Target = "dawid_skene".parse().unwrap();
    let refused = |build: &dyn Fn(&mut TableBuilder), keep| {
        let mut builder = TableBuilder::new(keep);
        build(&mut builder);
        target.estimate(&builder.finish().unwrap()).unwrap_err()
    };
    let counts = refused(&|b| b.vote("a", Some("w"), "x", 1.0, 1).unwrap(), Keep::Counts);
    let expected = "dawid_skene has to know who voted: only counts or probabilities are known; use \
                    frequencies or dirichlet";
    assert_eq!(counts.to_string(), expected);
    let nameless = |b: &mut TableBuilder| {
        b.vote("a", Some("w"), "x", 1.0, 1).unwrap();
        b.vote("b", None, "x", 1.0, 2).unwrap();
    };
    let error = refused(&nameless, Keep::Votes).to_string();
    assert!(error.contains(r#"votes name no annotator on "b""#), "{error}");
    let silent = |b: &mut TableBuilder| {
        b.vote("a", Some("w"), "x", 1.0, 1).unwrap();
        b.item("b", 2).unwrap();
    };
    assert!(matches!(refused(&silent, Keep::Votes), LabelError::NoVotes { .. }));
}

/// A class per item is no vote table for a model of classes; it would take hundreds of gigabytes.
#[test]
fn more_than_the_memory_is_refused_before_it_is_asked_for() {
    let mut builder = TableBuilder::new(Keep::Votes);
    for row in 0..300_000_u64 {
        let (item, label) = (format!("i{row}"), format!("c{}", row % 60_000));
        builder.vote(&item, Some("a"), &label, 1.0, row).unwrap();
    }
    let table = builder.finish().unwrap();
    // Some machines have that much, and some systems promise any.
    if dissensus_core::limits::is_available(300_000 * 60_000 * 8) {
        return;
    }
    let expected = LabelError::Memory {
        what: "dawid_skene",
        items: 300_000,
        classes: 60_000,
        bytes: 2 * 360_000 * 60_000 * 8,
    };
    assert_eq!(fit(&table, Settings::default()).unwrap_err(), expected);
    let text = "dawid_skene of 300000 items and 60000 classes needs 345.6 GB of memory, which are not there";
    assert_eq!(expected.to_string(), text);
    for method in ["soft", "soft_noise"] {
        let method: dissensus_labels::Delivery = method.parse().unwrap();
        let refused = method.prepare(&Source::new(&table).unwrap(), 1);
        assert!(matches!(refused, Err(LabelError::Memory { .. })), "{method:?}");
    }
    let target: Target = "dirichlet".parse().unwrap();
    assert!(matches!(target.estimate(&table), Err(LabelError::Memory { .. })));
}
