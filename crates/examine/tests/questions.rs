//! Every question, asked of small runs that were trained for it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Lab, blends};
use std::sync::atomic::{AtomicUsize, Ordering};

use dissensus_core::philox::Stream;
use dissensus_core::{Cancel, Event, Progress};
use dissensus_engine::device::Targets;
use dissensus_engine::{Cpu, Precision};
use dissensus_examine::{
    CamSettings, CkaSettings, CurvatureSettings, ExamineError, Model, ModelSettings, Observer,
    OodScores, OodSettings, Outside, PathSettings, Seeing, Shared, Slice, StabilitySettings,
    VarianceSettings, barrier, cka, curvature, gradcam, ood, overlay, png, stability, variance,
};
use dissensus_geometry::barrier::Statistics;
use dissensus_geometry::curvature::{LanczosSettings, TraceSettings};
use dissensus_geometry::model::Grouping;
use dissensus_inputs::{Images, Inputs, Kind, from_blends};
use dissensus_measure::ood::{FIGURES, SCORES};
use dissensus_store::Which;

/// The dense Hessian over the evaluation part, from its products with unit vectors, in f64.
fn dense(model: &mut Model) -> (usize, Vec<f64>) {
    let rows = model.part(None).unwrap().rows.clone();
    let targets = model.targets().to_vec();
    let n = model.network().parameter_count();
    let mut matrix = Vec::with_capacity(n * n);
    for at in 0..n {
        let mut unit = vec![0.0f32; n];
        unit[at] = 1.0;
        let targets = Targets::Distributions(&targets);
        let column = model.runner().hessian_product(&rows, targets, &unit).unwrap();
        matrix.extend(column.into_iter().map(f64::from));
    }
    (n, matrix)
}

/// The eigenvalue at one end of a symmetric matrix: power iteration on H + shift · I.
fn end(n: usize, matrix: &[f64], shift: f64) -> f64 {
    let mut stream = Stream::new([1, 2], [3; 3]);
    let mut v: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
    let mut value = 0.0;
    for _ in 0..400 {
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.iter_mut().for_each(|x| *x /= length);
        let row = |row: &[f64]| row.iter().zip(&v).map(|(a, x)| a * x).sum::<f64>();
        let w: Vec<f64> = matrix.chunks(n).zip(&v).map(|(own, x)| row(own) + shift * x).collect();
        value = w.iter().zip(&v).map(|(w, x)| w * x).sum::<f64>() - shift;
        v = w;
    }
    value
}

/// Counts the steps that are reported.
#[derive(Default)]
struct Steps(AtomicUsize);

impl Progress for Steps {
    fn report(&self, event: Event<'_>) {
        if let Event::Advanced { .. } = event {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn curvature_is_that_of_the_dense_hessian() {
    let lab = Lab::new(60);
    let mut model = lab.open(&lab.train(&[]));
    let (n, matrix) = dense(&mut model);
    let largest = end(n, &matrix, 5.0);
    let smallest = end(n, &matrix, -2.0 * largest);
    let trace: f64 = (0..n).map(|at| matrix[at * n + at]).sum();
    let settings = CurvatureSettings {
        lanczos: Some(LanczosSettings { largest: 2, smallest: 1, ..Default::default() }),
        trace: Some(TraceSettings { least: 200, most: 200, ..Default::default() }),
        blocks: Some(Grouping::Layer),
        ..Default::default()
    };
    let steps = Steps::default();
    let observer = Observer::new(&steps, Cancel::new());
    let found = curvature(&mut model, &settings, &observer).unwrap();
    assert_eq!((found.parameters, found.items), (n, 12));
    assert_eq!(steps.0.load(Ordering::Relaxed), found.products);
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = curvature(&mut model, &settings, &Observer::new(&steps, cancel)).unwrap_err();
    assert!(stopped.is_cancelled(), "{stopped}");
    let near = |estimate: dissensus_geometry::curvature::Estimate, truth: f64, least: f64| {
        let error = (estimate.value - truth).abs();
        assert!(error <= (4.0 * estimate.error.unwrap()).max(least), "{estimate:?} {truth}");
    };
    let scale = 1e-3 * largest;
    let power = found.power.as_ref().unwrap().top;
    assert!(power.converged && found.extremes.as_ref().unwrap().converged, "{found:?}");
    near(power, largest, scale);
    near(found.lambda_max().unwrap(), largest, scale);
    near(found.lambda_min().unwrap(), smallest, scale);
    near(found.trace().unwrap(), trace, scale);
    assert!(found.trace().unwrap().error.unwrap() < 0.2 * trace);
    // Every block against its own piece of the diagonal; together they are the whole.
    let traces = found.traces.as_ref().unwrap();
    let blocks = dissensus_geometry::model::blocks(model.network(), Grouping::Layer);
    assert_eq!(traces.blocks.len(), blocks.len());
    for (found, block) in traces.blocks.iter().zip(&blocks) {
        let ranges = block.ranges.iter().cloned().flatten();
        near(found.trace, ranges.map(|at| matrix[at * n + at]).sum(), scale);
    }
    let sum: f64 = traces.blocks.iter().map(|block| block.trace.value).sum();
    assert!((sum - traces.trace.value).abs() < 1e-6 * traces.trace.value.abs());
    // The same again is the same, and a slice is something else.
    assert_eq!(found, curvature(&mut model, &settings, &Observer::silent()).unwrap());
    let high = CurvatureSettings { slice: Slice::Top(0.25), ..Default::default() };
    let high = curvature(&mut model, &high, &Observer::silent()).unwrap();
    assert!(high.items >= 3 && high.items < 12 && high.loss > found.loss, "{high:?}");
}

#[test]
fn gradients_vary_where_people_disagree() {
    let lab = Lab::new(80);
    let mut model = lab.open(&lab.train(&[]));
    let settings = VarianceSettings { draws: 400, ..Default::default() };
    let found = variance(&mut model, &settings, &Observer::silent()).unwrap();
    assert_eq!(found.items.len(), model.part(None).unwrap().rows.len());
    assert!(found.correlation.r.unwrap() > 0.5, "{:?}", found.correlation);
    let sampled = found.sampled_mean.unwrap();
    assert!((sampled / found.mean - 1.0).abs() < 0.1, "{sampled} {}", found.mean);
    for item in found.items.iter().filter(|item| item.entropy == 0.0) {
        assert!(item.variance.abs() < 1e-9);
    }
}

#[test]
fn no_barrier_to_oneself_and_one_to_others() {
    let lab = Lab::new(80);
    let (one, other) = (lab.train(&[]), lab.train(&["delivery.methods='sls'"]));
    let (mut first, same, second) = (lab.open(&one), lab.open(&one), lab.open(&other));
    let settings = PathSettings { points: 5, ..Default::default() };
    let rows = first.part(None).unwrap().rows.clone();
    let before = first.logits(&rows, &Observer::silent()).unwrap();
    let own = barrier(&mut first, &same, &settings, &Observer::silent()).unwrap();
    assert_eq!((own.items, own.refreshed_on), (16, 64));
    for path in &own.paths {
        assert!(path.barrier < 1e-6, "{path:?}");
    }
    let found = barrier(&mut first, &second, &settings, &Observer::silent()).unwrap();
    let mixed = found.path(Statistics::Interpolated).unwrap();
    // The ends are the two runs' own losses.
    let loss = |model: &mut Model| {
        let settings = CurvatureSettings { power: None, trace: None, ..Default::default() };
        curvature(model, &settings, &Observer::silent()).unwrap().loss
    };
    let mut second = second;
    let ends = [loss(&mut first), loss(&mut second)];
    for (end, loss) in mixed.ends.iter().zip(ends) {
        assert!((end - loss).abs() < 1e-5, "{end} {loss}");
    }
    let fresh = found.path(Statistics::Recomputed).unwrap();
    assert_ne!(fresh.ends, mixed.ends);
    // The model is as it was.
    assert_eq!(before, first.logits(&rows, &Observer::silent()).unwrap());
    let wide = lab.open(&lab.train(&["model.width=3"]));
    let error = barrier(&mut first, &wide, &settings, &Observer::silent()).unwrap_err();
    assert!(error.to_string().contains("have other models"), "{error}");
}

#[test]
fn features_are_like_themselves() {
    let lab = Lab::new(80);
    let (one, other) = (lab.train(&[]), lab.train(&["run.seeds=[1]"]));
    let mut models = [lab.open(&one), lab.open(&one), lab.open(&other)];
    let found = cka(&mut models, &CkaSettings::default(), &Observer::silent()).unwrap();
    for same in [found.values[0][0], found.values[0][1], found.values[2][2]] {
        assert!((same.unwrap() - 1.0).abs() < 1e-6, "{found:?}");
    }
    let between = found.values[0][2].unwrap();
    assert!(between < 1.0 - 1e-6 && found.values[2][0] == Some(between), "{found:?}");
    // Another seed is another split: only what both hold out is compared.
    assert_eq!(found.items[0][1], 16);
    assert!(found.items[0][2] < 16 && found.items[0][2] >= 2, "{:?}", found.items);
    // The same from the features of these very items.
    let other = models[2].part(None).unwrap().rows.clone();
    let mut both = models[0].part(None).unwrap().rows.clone();
    both.retain(|row| other.contains(row));
    let [x, y] = [0, 2].map(|at: usize| {
        let values = models[at].features(&both, &Observer::silent()).unwrap();
        dissensus_geometry::cka::Features::new(both.len(), &values).unwrap()
    });
    let direct = dissensus_geometry::cka::cka(&x, &y).unwrap().unwrap();
    assert!((between - direct).abs() < 1e-9, "{between} {direct}");
    let mean = (found.values[0][1].unwrap() + 2.0 * between) / 3.0;
    assert!((found.mean.unwrap() - mean).abs() < 1e-12);
    let all = CkaSettings { shared: Shared::All, ..Default::default() };
    let all = cka(&mut models[1..], &all, &Observer::silent()).unwrap();
    assert_eq!(all.items, [[80, 80], [80, 80]]);
}

#[test]
fn maps_and_their_stability() {
    let lab = Lab::new(80);
    let (one, other) = (lab.train(&[]), lab.train(&["run.seeds=[1]"]));
    let mut models = [lab.open(&one), lab.open(&one)];
    let rows = models[0].most_divided(None, 3).unwrap();
    let entropies: Vec<f64> = rows.iter().map(|&row| models[0].entropies()[row as usize]).collect();
    assert!(entropies.is_sorted_by(|a, b| a >= b), "{entropies:?}");
    let maps =
        gradcam(&mut models[0], &rows, &CamSettings::default(), &Observer::silent()).unwrap();
    assert_eq!(maps.items.len(), 3);
    for item in &maps.items {
        assert_eq!(item.map.len(), maps.height * maps.width);
        let top = item.map.iter().copied().fold(0.0, f32::max);
        assert!(top == 0.0 || top == 1.0, "{item:?}");
        // The predicted class is the likeliest of the classes.
        assert!(item.probability >= 1.0 / models[0].classes().len() as f64);
    }
    let voted = CamSettings { class: Seeing::Majority };
    let voted = gradcam(&mut models[0], &rows, &voted, &Observer::silent()).unwrap();
    assert!(voted.items.iter().all(|item| item.votes >= 1.0 / 8.0));
    let image = overlay(&models[0], &maps, &maps.items[0], 4, 0.5).unwrap();
    let bytes = png(&image).unwrap();
    let read = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert_eq!((read.width() as usize, read.height() as usize), (image.width, image.height));
    assert_eq!(read.into_raw(), image.pixels);

    let settings = StabilitySettings::default();
    let same = stability(&mut models, &settings, &Observer::silent()).unwrap();
    assert_eq!((same[0].slice, same[0].items), (Slice::All, 16));
    assert!((same[0].stability.mean.unwrap() - 1.0).abs() < 1e-6, "{same:?}");
    assert!(same[1].items < 16);
    for slice in &same {
        let counted = slice.stability.correlations + slice.stability.undefined;
        assert_eq!(counted, slice.items, "{slice:?}");
    }
    let mut models = [lab.open(&one), lab.open(&other)];
    let found = stability(&mut models, &settings, &Observer::silent()).unwrap();
    assert!(found[0].stability.mean.is_none_or(|mean| mean < 1.0 - 1e-6), "{found:?}");
}

/// Images of noise, of the shape of the generated ones.
fn noise(height: usize) -> Inputs {
    let mut stream = Stream::new([7, 7], [0; 3]);
    let pixels = (0..40 * height * 16).map(|_| (stream.unit() * 256.0) as u8).collect();
    let images = Images::new("noise", height, 16, 1, pixels).unwrap();
    Inputs::new("noise", None, Kind::Images(images)).unwrap()
}

#[test]
fn foreign_pictures_are_told() {
    let lab = Lab::new(200);
    let mut model = lab.open(&lab.train(&["training.epochs=15", "model.width=4"]));
    let own = from_blends(&blends(200)).unwrap();
    let sets = [Outside::new(noise(16)), Outside::named("own", own)];
    let mut settings = OodSettings { keep: true, ..Default::default() };
    settings.chosen.replicates = 50;
    settings.chosen.neighbours = 5;
    let found = ood(&mut model, &sets, &Cpu, &settings, &Observer::silent()).unwrap();
    assert_eq!(found.rows.len(), SCORES.len() * 2 * FIGURES.len());
    assert_eq!(found.inside, 40);
    let auroc = |score: &str, out: &str| found.row(score, out, "auroc").unwrap().value.unwrap();
    // Distances know noise from images, and nothing knows images from themselves.
    assert!(auroc("knn", "noise") > 0.8, "{}", auroc("knn", "noise"));
    for score in ["energy", "msp", "odin", "entropy", "margin"] {
        let own = auroc(score, "own");
        assert!((own - 0.5).abs() < 0.2, "{score} {own}");
    }
    // The part itself, beside the whole that it is of: the kept scores say the same.
    let inside = found.scores.iter().find(|kept| kept.score == "energy" && kept.out.is_none());
    let inside = &inside.unwrap().values;
    let rows = model.part(None).unwrap().rows.clone();
    let logits = model.logits(&rows, &Observer::silent()).unwrap();
    let classes = model.classes().len();
    for (score, z) in inside.iter().zip(logits.chunks(classes)) {
        let energy = -z.iter().map(|&z| f64::from(z).exp()).sum::<f64>().ln();
        assert!((score - energy).abs() < 1e-5, "{score} {energy}");
    }
    // Its own items, brought in from outside, are what they were inside: normalized alike.
    for score in ["energy", "odin", "knn"] {
        let of = |out: Option<&str>| {
            let own = |kept: &&OodScores| kept.score == score && kept.out.as_deref() == out;
            &found.scores.iter().find(own).unwrap().values
        };
        let (inside, outside) = (of(None), of(Some("own")));
        for (value, &row) in inside.iter().zip(&rows) {
            assert!((value - outside[row as usize]).abs() < 1e-9, "{score} of row {row}");
        }
    }
    assert_eq!(found, ood(&mut model, &sets, &Cpu, &settings, &Observer::silent()).unwrap());

    let low = [Outside::new(noise(8))];
    let error =
        ood(&mut model, &low, &Cpu, &settings, &Observer::silent()).unwrap_err().to_string();
    let expected = "expected images of 16×16×1, came images of 8×16×1";
    assert!(error.starts_with("noise does not fit run") && error.contains(expected), "{error}");
    settings.scores = vec!["enrgy".into()];
    let error =
        ood(&mut model, &sets, &Cpu, &settings, &Observer::silent()).unwrap_err().to_string();
    assert!(error.contains("\"enrgy\"; expected one of energy, msp"), "{error}");
}

#[test]
fn what_cannot_be_asked_is_named() {
    let lab = Lab::new(60);
    let id = lab.train(&[]);
    let model = lab.open(&id);
    let error = model.part(Some("test")).err().unwrap().to_string();
    assert!(error.contains("no part `test`; its split has train, evaluation"), "{error}");
    let ids = ["zebra".to_owned(), model.items().name(3).to_owned(), "lion".to_owned()];
    let error = model.rows(&ids).unwrap_err().to_string();
    assert!(error.contains("no item \"zebra\", nor 1 others"), "{error}");
    assert_eq!(model.rows(&ids[1..2]).unwrap(), [3]);

    let info = lab.store.run(&id).unwrap();
    let open = |task: &dissensus_train::Task, settings: &ModelSettings| {
        Model::open(&info, task, Which::Best, &Cpu, settings).err().unwrap()
    };
    let settings = ModelSettings { batch: 0, ..Default::default() };
    assert!(matches!(open(&lab.task, &settings), ExamineError::Setting { name: "batch", .. }));
    let other = Lab::new(61);
    let error = open(&other.task, &ModelSettings::default()).to_string();
    assert!(error.contains("was trained on blends (60 items"), "{error}");
    let half = ModelSettings { precision: Precision::Bf16, ..Default::default() };
    assert!(open(&lab.task, &half).to_string().contains("the CPU computes in f32"));
    std::fs::remove_file(info.weights_path(Which::Best)).unwrap();
    let error = open(&lab.task, &ModelSettings::default()).to_string();
    assert!(error.contains("has no weights of its best epoch"), "{error}");
}

/// Runs of other losses: their curvature and gradient variance are those of their loss, what is predicted is
/// one distribution, and what is not defined for them is refused by name.
#[test]
fn other_losses_are_examined_as_they_are_or_refused() {
    let lab = Lab::new(80);
    let [plain, sigmoid, ranked] = ["cross_entropy", "binary_cross_entropy", "rps"]
        .map(|loss| lab.open(&lab.train(&[&format!("training.loss={loss}")])));
    let mut models = [plain, sigmoid, ranked];
    let silent = Observer::silent();
    for model in &mut models {
        let loss = model.network().head().loss;
        let rows = model.part(None).unwrap().rows.clone();
        let classes = model.classes().len();
        let outputs = model.outputs(&rows, &silent).unwrap();
        let mean: f64 = (rows.iter().zip(outputs.chunks(classes)))
            .map(|(&row, z)| {
                let p = &model.targets()[row as usize * classes..][..classes];
                f64::from(loss.value(z, p, 1.0, &mut vec![0.0; classes]))
            })
            .sum::<f64>()
            / rows.len() as f64;
        let settings = CurvatureSettings { trace: None, ..Default::default() };
        let found = curvature(model, &settings, &silent).unwrap();
        assert_eq!(found.trained_by, loss);
        assert!((found.loss - mean).abs() < 1e-5 * mean, "{loss:?}: {} {mean}", found.loss);
        let (_, matrix) = dense(model);
        let n = found.parameters;
        let top = end(n, &matrix, 0.0);
        let value = found.power.unwrap().top.value;
        assert!((value - top).abs() < 0.02 * top.abs(), "{loss:?}: {value}, not {top}");

        let asked = VarianceSettings { draws: 400, ..Default::default() };
        let noise = variance(model, &asked, &silent).unwrap();
        let sampled = noise.sampled_mean.unwrap();
        assert!((sampled / noise.mean - 1.0).abs() < 0.1, "{loss:?}: {sampled} {}", noise.mean);
        for row in model.network().head().probabilities(&outputs).chunks(classes) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
    let [plain, sigmoid, ranked] = &mut models;
    barrier(plain, ranked, &PathSettings { points: 3, ..Default::default() }, &silent).unwrap();
    let error = barrier(plain, sigmoid, &PathSettings::default(), &silent).unwrap_err().to_string();
    assert!(error.contains("`cross_entropy` and `binary_cross_entropy`"), "{error}");

    let outside = [Outside::named("other", from_blends(&blends(30)).unwrap())];
    let error = ood(sigmoid, &outside, &Cpu, &OodSettings::default(), &silent).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("energy, odin, margin need softmax outputs"), "{text}");
    assert!(
        text.contains("`binary_cross_entropy`; choose among msp, entropy, knn, knn_raw"),
        "{text}"
    );
    let scores = ["msp", "entropy", "knn"].map(str::to_owned).to_vec();
    let chosen = OodSettings { scores, ..Default::default() };
    assert!(!ood(sigmoid, &outside, &Cpu, &chosen, &silent).unwrap().rows.is_empty());
    ood(ranked, &outside, &Cpu, &OodSettings::default(), &silent).unwrap();
}
