//! Out-of-distribution scores, figures and intervals: against numpy and scikit-learn
//! (`reference/measure/ood.py`), in their direction, and all at once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use dissensus_core::philox::Stream;
use dissensus_measure::ood::{
    FIGURES, Needs, OodInput, OodScore, OodSettings, Row, SCORES, detect, intervals, rows, score,
};
use dissensus_measure::{Matrix, ModelOutput};
use serde::Deserialize;

const INSIDE: usize = 60;
const OUTSIDE: usize = 80;
const TRAINING: usize = 150;
const C: usize = 6;
const WIDTH: usize = 12;

fn uniform(stream: u64, n: usize) -> Vec<f64> {
    let mut stream = Stream::new([stream, 0], [0; 3]);
    (0..n).map(|_| stream.unit()).collect()
}

/// One class of each row is lifted.
fn logits(stream: u64, n: usize, scale: f64, lift: f64) -> Vec<f64> {
    let row = |u: &[f64]| {
        let mut row: Vec<f64> = u[..C].iter().map(|u| u * scale).collect();
        row[(u[C] * C as f64) as usize] += lift;
        row
    };
    uniform(stream, n * (C + 1)).chunks_exact(C + 1).flat_map(row).collect()
}

/// Rows near one of C centres, the nearer the larger the pull.
fn features(stream: u64, n: usize, pull: f64) -> Vec<f64> {
    let centres: Vec<f64> = uniform(20, C * WIDTH).iter().map(|u| u - 0.5).collect();
    let row = |u: &[f64]| {
        let at = (u[WIDTH] * C as f64) as usize * WIDTH;
        let cell = |(centre, u): (&f64, &f64)| centre * pull + (u - 0.5);
        centres[at..at + WIDTH].iter().zip(&u[..WIDTH]).map(cell).collect::<Vec<_>>()
    };
    uniform(stream, n * (WIDTH + 1)).chunks_exact(WIDTH + 1).flat_map(row).collect()
}

/// Everything that is known of a set of items.
struct Set {
    logits: Vec<f64>,
    perturbed: Vec<f64>,
    features: Vec<f64>,
    training: Vec<f64>,
}

impl Set {
    fn input(&self) -> OodInput<'_> {
        OodInput {
            predictions: Some(ModelOutput::Logits(Matrix::new(&self.logits, C).unwrap())),
            perturbed: Some(Matrix::new(&self.perturbed, C).unwrap()),
            features: Some(Matrix::new(&self.features, WIDTH).unwrap()),
            training: Some(Matrix::new(&self.training, WIDTH).unwrap()),
        }
    }
}

/// Inside and outside items, as in the reference.
fn sets() -> [Set; 2] {
    let training = features(23, TRAINING, 1.5);
    [
        Set {
            logits: logits(10, INSIDE, 2.0, 1.5),
            perturbed: logits(12, INSIDE, 2.0, 1.6),
            features: features(21, INSIDE, 1.5),
            training: training.clone(),
        },
        Set {
            logits: logits(11, OUTSIDE, 2.0, 0.5),
            perturbed: logits(13, OUTSIDE, 2.0, 0.4),
            features: features(22, OUTSIDE, 0.9),
            training,
        },
    ]
}

const SETTINGS: OodSettings = OodSettings {
    temperature: 1.0,
    odin_temperature: 1000.0,
    epsilon: 0.0014,
    neighbours: 5,
    replicates: 200,
    seed: 5,
};

fn compute(name: &str, set: &Set) -> Vec<f64> {
    (score(name).unwrap().compute)(&set.input(), &SETTINGS).unwrap()
}

#[derive(Deserialize)]
struct Case {
    score: String,
    inside: Vec<f64>,
    outside: Vec<f64>,
    /// Value, standard error, low, high.
    figures: BTreeMap<String, [f64; 4]>,
}

#[test]
fn as_numpy_and_scikit_learn() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/ood.json")).unwrap();
    let names: Vec<&str> = cases.iter().map(|case| case.score.as_str()).collect();
    let listed = SCORES.iter().map(|score| score.about.name);
    assert!(listed.chain(["tied"]).eq(names), "every score has its golden values, in order");
    let [inside, outside] = sets();
    for Case { score, inside: golden_in, outside: golden_out, figures } in cases {
        let scores = match score.as_str() {
            "tied" => [golden_in.clone(), golden_out.clone()],
            name => [compute(name, &inside), compute(name, &outside)],
        };
        for (ours, theirs) in scores.iter().flatten().zip(golden_in.iter().chain(&golden_out)) {
            assert!((ours - theirs).abs() < 1e-13, "{score}: {ours} {theirs}");
        }
        let found = detect(&scores[0], &scores[1]).unwrap();
        let spread = intervals(&scores[0], &scores[1], &SETTINGS).unwrap();
        assert_eq!(figures.len(), FIGURES.len());
        for figure in FIGURES {
            let spread = (figure.interval)(&spread).unwrap();
            let value = (figure.of)(&found).unwrap();
            let ours = [value, spread.standard_error, spread.low, spread.high];
            for (ours, theirs) in ours.into_iter().zip(figures[figure.about.name]) {
                let name = figure.about.name;
                assert!((ours - theirs).abs() < 1e-13, "{score} {name}: {ours} {theirs}");
            }
        }
    }
}

/// Sure items near the training items, and doubtful ones far from them: every score flags the
/// second, and exchanged, it is one less the area to the last bit.
#[test]
fn every_score_is_higher_outside() {
    let training = features(33, TRAINING, 3.0);
    let set = |stream, n, lift, pull| Set {
        logits: logits(stream, n, 1.0, lift),
        perturbed: logits(stream + 1, n, 1.0, lift),
        features: features(stream + 2, n, pull),
        training: training.clone(),
    };
    let (inside, outside) = (set(30, 97, 4.0, 3.0), set(40, 131, 0.2, 0.3));
    for score in SCORES {
        let name = score.about.name;
        let (familiar, foreign) = (compute(name, &inside), compute(name, &outside));
        let area = detect(&familiar, &foreign).unwrap().auroc.unwrap();
        assert!(area > 0.9, "{name}: {area}");
        let exchanged = detect(&foreign, &familiar).unwrap().auroc.unwrap();
        assert_eq!(exchanged, 1.0 - area, "{name}");
    }
    assert_eq!(score("odin").unwrap().needs, Needs::Perturbed);
}

/// At the temperature 1 and with inputs that were not moved, ODIN orders items as MSP does.
#[test]
fn odin_at_rest_is_msp() {
    let [inside, outside] = sets();
    let settings = OodSettings { odin_temperature: 1.0, ..SETTINGS };
    let of = |set: &Set| {
        let input = OodInput {
            perturbed: Some(Matrix::new(&set.logits, C).unwrap()),
            ..OodInput::default()
        };
        (score("odin").unwrap().compute)(&input, &settings).unwrap()
    };
    let odin = detect(&of(&inside), &of(&outside)).unwrap();
    assert_eq!(odin, detect(&compute("msp", &inside), &compute("msp", &outside)).unwrap());
}

/// 2,000 samples of two normal distributions, 1.5 apart, whose area is Φ(1.5/√2). The share of
/// intervals that hold it has a standard error of 0.5 %.
#[test]
fn delong_covers_as_often_as_it_says() {
    let truth = 0.8555778;
    let settings = OodSettings { replicates: 0, ..SETTINGS };
    let holds = |sample: u64| {
        let mut stream = Stream::new([50, 0], [sample, 0, 0]);
        let inside: Vec<f64> = (0..60).map(|_| stream.normal()).collect();
        let outside: Vec<f64> = (0..90).map(|_| stream.normal() + 1.5).collect();
        let all = intervals(&inside, &outside, &settings).unwrap();
        assert_eq!((all.aupr_out, all.fpr95), (None, None), "none without replicates");
        let found = all.auroc.unwrap();
        found.low <= truth && truth <= found.high
    };
    let share = (0..2000).filter(|&sample| holds(sample)).count() as f64 / 2000.0;
    assert!((share - 0.95).abs() < 0.02, "{share}");
}

/// All figures of all scores of an outside set.
fn all_rows(inside: &Set, out: &str, outside: &Set, settings: &OodSettings) -> Vec<Row> {
    let of = |score: &OodScore| {
        let name = score.about.name;
        rows(score, out, &compute(name, inside), &compute(name, outside), settings).unwrap()
    };
    SCORES.iter().flat_map(of).collect()
}

#[test]
fn rows_have_every_figure_of_every_score() {
    let [inside, outside] = sets();
    let found = all_rows(&inside, "far", &outside, &SETTINGS);
    let mut wanted = Vec::new();
    for score in SCORES {
        let name = score.about.name;
        let (familiar, foreign) = (compute(name, &inside), compute(name, &outside));
        let detection = detect(&familiar, &foreign).unwrap();
        let spread = intervals(&familiar, &foreign, &SETTINGS).unwrap();
        for figure in FIGURES {
            let spread = (figure.interval)(&spread);
            wanted.push(Row {
                score: name,
                out: "far".to_owned(),
                figure: figure.about.name,
                value: (figure.of)(&detection),
                low: spread.map(|spread| spread.low),
                high: spread.map(|spread| spread.high),
            });
        }
    }
    assert_eq!(found, wanted);
    let same = all_rows(&inside, "same", &inside, &SETTINGS);
    let same = same.iter().find(|row| (row.score, row.figure) == ("knn", "auroc")).unwrap();
    assert_eq!(same.value, Some(0.5));
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(alone.install(|| all_rows(&inside, "far", &outside, &SETTINGS)), found);
    let other = all_rows(&inside, "far", &outside, &OodSettings { seed: 6, ..SETTINGS });
    let moved = |figure| {
        let at = found.iter().position(|row| row.figure == figure).unwrap();
        (found[at].low, found[at].high) != (other[at].low, other[at].high)
    };
    assert!(moved("aupr_out") && !moved("auroc"), "only the bootstrap heeds the seed");
}

/// Empty sets have no figures, and settings come from a file with defaults for what it leaves out.
#[test]
fn nothing_is_undefined_and_settings_are_read() {
    let [inside, _] = sets();
    let energy = score("energy").unwrap();
    let found = rows(energy, "nobody", &compute("energy", &inside), &[], &SETTINGS).unwrap();
    assert_eq!(found.len(), FIGURES.len());
    assert!(found.iter().all(|row| (row.value, row.low, row.high) == (None, None, None)));
    let read: OodSettings = serde_json::from_str(r#"{"epsilon": 0.002, "neighbours": 5}"#).unwrap();
    let wanted = OodSettings { epsilon: 0.002, neighbours: 5, ..OodSettings::default() };
    assert_eq!(read, wanted);
    assert!(serde_json::from_str::<OodSettings>(r#"{"epsilom": 0.002}"#).is_err());
}
