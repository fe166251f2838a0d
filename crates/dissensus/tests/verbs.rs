//! The verbs of the library on small data, as another program would call them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;

use dissensus::data::blends;
use dissensus::io::npy;
use dissensus::pages::{votes_figure, write_model_figures};
use dissensus::report::figures::Form;
use dissensus::report::tables::TableForm;
use dissensus::stats::Alternative;
use dissensus::votes::summary::summarize;
use dissensus::{
    DeliverOptions, Error, Evaluated, ScoreOptions, Silent, SparseDraw, VoteTable, ceiling,
    compare_items, compare_seeds, deliver, evaluate, files, metrics, read_joined, read_predictions,
    read_votes, save_blends, tables,
};
use tempfile::TempDir;

const VOTES: &str = "\
item,annotator,label
a,1,cat\na,2,cat\na,3,dog
b,1,dog\nb,2,dog\nb,3,dog
c,1,cat\nc,2,dog\nc,3,dog
d,1,cat\nd,2,cat\nd,3,cat
";
const SHARES: [[f64; 2]; 4] =
    [[2.0 / 3.0, 1.0 / 3.0], [0.0, 1.0], [1.0 / 3.0, 2.0 / 3.0], [1.0, 0.0]];
/// Right on every item, and wrong on the first.
const MODELS: [[[f64; 2]; 4]; 2] = [
    [[0.6, 0.4], [0.1, 0.9], [0.3, 0.7], [0.8, 0.2]],
    [[0.4, 0.6], [0.2, 0.8], [0.3, 0.7], [0.7, 0.3]],
];

/// A folder with the votes and the predictions of both models.
fn lab() -> (TempDir, VoteTable, [PathBuf; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes.csv");
    fs::write(&path, VOTES).unwrap();
    let votes = read_votes(&path, &Default::default()).unwrap();
    let models = ["right", "wrong"].map(|name| folder.path().join(format!("{name}.csv")));
    for (path, rows) in models.iter().zip(MODELS) {
        let rows = ["a", "b", "c", "d"].iter().zip(rows);
        let rows: String = rows.map(|(id, [cat, dog])| format!("{id},{cat},{dog}\n")).collect();
        fs::write(path, format!("id,cat,dog\n{rows}")).unwrap();
    }
    (folder, votes, models)
}

fn options(replicates: usize) -> ScoreOptions {
    let metrics = ["soft_nll", "accuracy"].map(String::from).to_vec();
    ScoreOptions { metrics, replicates: Some(replicates), ..ScoreOptions::default() }
}

fn evaluated(votes: &VoteTable, files: &[PathBuf]) -> Vec<Evaluated> {
    let read = read_predictions(votes, files, |_| Default::default()).unwrap();
    read.iter().map(|one| evaluate(votes, one, &options(200)).unwrap()).collect()
}

#[test]
fn labels_are_delivered_and_written() {
    let (folder, votes, _) = lab();
    let delivered = |method: &str| {
        deliver(&votes, &method.parse().unwrap(), &DeliverOptions::default()).unwrap()
    };
    let mut csv = Vec::new();
    delivered("soft").write_csv(&(0..3), &mut csv).unwrap();
    let rows = ["a", "b", "c", "d"].iter().zip(SHARES);
    let rows: String = rows.map(|(id, [cat, dog])| format!("{id},{cat},{dog}\n")).collect();
    assert_eq!(String::from_utf8(csv).unwrap(), format!("item,cat,dog\n{rows}"));

    // In three epochs each of three votes is seen once.
    let path = folder.path().join("labels.npy");
    delivered("multipass").write_file(&path, &(0..3), false).unwrap();
    let bytes = fs::read(&path).unwrap();
    let array = npy::parse(&bytes).unwrap();
    assert_eq!(array.shape, [3, 4]);
    let mut csv = Vec::new();
    delivered("multipass").write_csv(&(0..3), &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    for (item, cats) in [("a", 2), ("b", 0), ("c", 1), ("d", 3)] {
        let seen = csv.lines().filter(|line| line.ends_with(&format!(",{item},cat"))).count();
        assert_eq!(seen, cats, "{item}\n{csv}");
    }
    let again = delivered("soft").write_file(&path, &(0..1), false);
    assert!(matches!(again, Err(Error::File(_))), "{again:?}");
    let unknown = delivered("soft").write_file(&folder.path().join("labels.txt"), &(0..1), false);
    assert!(unknown.is_err());
}

#[test]
fn fewer_votes_are_drawn() {
    let (_folder, votes, _) = lab();
    for text in ["2", "2:with", "2:without"] {
        let draw: SparseDraw = text.parse().unwrap();
        let drawn = draw.votes_of(&votes, 1).unwrap();
        assert_eq!((drawn.len(), drawn.counts().unwrap().total()), (4, 8), "{text}");
        assert_eq!(drawn.digest(), draw.votes_of(&votes, 1).unwrap().digest());
    }
    let many: SparseDraw = "4:without".parse().unwrap();
    assert!(many.votes_of(&votes, 1).is_err(), "no item has four votes");
    for text in ["", "0", "2:once", "-1", "1000001"] {
        assert!(text.parse::<SparseDraw>().is_err(), "{text:?}");
    }
}

#[test]
fn models_are_scored_and_compared() {
    let (_folder, votes, paths) = lab();
    let (models, options) = (evaluated(&votes, &paths), options(200));
    assert_eq!(models.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["right", "wrong"]);
    let nll = |rows: [[f64; 2]; 4]| {
        let item = |(p, q): ([f64; 2], [f64; 2])| -p[0] * q[0].ln() - p[1] * q[1].ln();
        SHARES.into_iter().zip(rows).map(item).sum::<f64>() / 4.0
    };
    let scores: Vec<_> = models.iter().map(|one| one.score(&options, &Silent).unwrap()).collect();
    for ((scores, rows), accuracy) in scores.iter().zip(MODELS).zip([1.0, 0.75]) {
        assert!((scores.metric("soft_nll").unwrap().value.unwrap() - nll(rows)).abs() < 1e-12);
        assert_eq!(scores.metric("accuracy").unwrap().value, Some(accuracy));
    }
    let csv =
        tables::scores_table(&scores, &metrics(&options.metrics).unwrap(), TableForm::Csv).csv();
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.starts_with("model,items,soft_nll,soft_nll_low,soft_nll_high,accuracy,"), "{csv}");

    // All items, those where nobody disagrees, and those where some do.
    let slices = models[0].score_by_entropy(2, &options, &Silent).unwrap();
    assert_eq!(slices.iter().map(|slice| slice.items).collect::<Vec<_>>(), [4, 2, 2]);

    let found = compare_items(&models, &options, &Silent).unwrap();
    let [loss, accuracy] = &found.differences[..] else { panic!("{found:?}") };
    assert_eq!((accuracy.baseline_value, accuracy.difference), (Some(1.0), Some(-0.25)));
    assert!((loss.difference.unwrap() - (nll(MODELS[1]) - nll(MODELS[0]))).abs() < 1e-12);
    let ends = (loss.low.unwrap(), loss.high.unwrap());
    assert_eq!(loss.excludes_zero(), ends.0 > 0.0 || ends.1 < 0.0);
    assert_eq!(tables::differences_table(&found, TableForm::Csv).csv().lines().count(), 3);
    assert!(compare_items(&models[..1], &options, &Silent).is_err());

    let seeds = |model: usize| vec![models[model].values(&options).unwrap(); 6];
    let tested = compare_seeds(&seeds(0), &seeds(1), Alternative::TwoSided).unwrap();
    assert_eq!((tested.pairs, tested.smallest_p), (6, Some(2.0 / 64.0)));
    assert_eq!(tables::seed_tests_table(&tested.tests, TableForm::Csv).csv().lines().count(), 3);
    assert!(compare_seeds(&seeds(0)[..5], &seeds(1), Alternative::Less).is_err());
}

/// The seeds of one model, joined, predict their mean.
#[test]
fn files_of_one_model_are_joined() {
    use dissensus::predictions::Join;
    let (_folder, votes, paths) = lab();
    let joined = read_joined(&votes, &paths, Join::Seeds, |_| Default::default()).unwrap();
    let [model] = &joined[..] else { panic!("{} models", joined.len()) };
    let first =
        model.values.iter().zip([0.5, 0.5]).all(|(value, mean)| (value - mean).abs() < 1e-12);
    assert!(first, "{:?}", model.values);
}

#[test]
fn what_votes_allow_is_a_table_and_words() {
    let (_folder, votes, paths) = lab();
    let found = ceiling(&votes, &[0, 1, 2, 3], 10, &options(0)).unwrap();
    assert_eq!((found.items, found.metrics.len()), (4, 2));
    assert_eq!(tables::ceiling_table(&found, TableForm::Csv).csv().lines().count(), 3);
    let scores = evaluated(&votes, &paths)[0].score(&options(0), &Silent).unwrap();
    assert!(!tables::ceiling_words(&found, &[scores]).is_empty());
}

#[test]
fn figures_are_drawn_once() {
    let (folder, votes, paths) = lab();
    let model = &evaluated(&votes, &paths)[0];
    let out = folder.path().join("figures");
    let drawn = write_model_figures(model, &out, Default::default(), false).unwrap();
    let names: Vec<_> = drawn.iter().map(|path| path.file_name().unwrap()).collect();
    assert_eq!(names, ["right-reliability.svg", "right-entropy.svg"]);
    assert!(fs::read_to_string(&drawn[0]).unwrap().contains("Reliability: right"));
    assert!(
        write_model_figures(model, &out, Default::default(), false).is_err(),
        "not without force"
    );
    assert!(write_model_figures(model, &out, Default::default(), true).is_ok());
    let svg = votes_figure("votes.csv", &summarize(&votes, &[], 5)).svg(Form::File);
    assert!(svg.contains("How much people disagree: votes.csv"), "{svg}");
}

#[test]
fn files_are_not_replaced_unless_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.txt");
    files::check_free(Some(&path), false).unwrap();
    files::write_bytes(&path, false, b"one").unwrap();
    assert!(files::write_bytes(&path, false, b"two").is_err());
    assert!(files::check_free(Some(&path), false).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    files::check_free(Some(&path), true).unwrap();
    files::write_bytes(&path, true, b"three").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "three");
}

#[test]
fn generated_votes_are_saved_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let settings = blends::Settings { items: 30, ..blends::Settings::default() };
    let blends = settings.check().unwrap().generate().unwrap();
    let written = save_blends(&blends, folder.path(), false).unwrap();
    assert_eq!(written.len(), dissensus::BLENDS_FILES.len());
    let votes = read_votes(&written[0], &Default::default()).unwrap();
    assert_eq!(votes.counts().unwrap().total(), blends.table().counts().unwrap().total());
    let inputs =
        dissensus::read_inputs(&written[1], &Default::default(), &Default::default()).unwrap();
    assert_eq!(inputs.len(), 30);
    assert!(save_blends(&blends, folder.path(), false).is_err());
}
