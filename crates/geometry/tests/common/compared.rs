//! The run that is compared with PyTorch: a ResNet-18 of any width, two of them trained for a few
//! epochs on generated images, and everything that this crate says about them.

use std::sync::Arc;

use dissensus_core::philox::Stream;
use dissensus_engine::device::Targets;
use dissensus_engine::{
    Cpu, Dataset, Device, Epoch, Loss, Mode, Model, Network, Optimizer, Runner, Settings, State,
    Weights, random,
};
use dissensus_geometry::GeometryError;
use dissensus_geometry::barrier::{Barrier, BarrierSettings, Statistics, barrier};
use dissensus_geometry::cka::{Features, cka};
use dissensus_geometry::curvature::{
    Estimate, LanczosSettings, PowerSettings, TraceSettings, hutchinson, lanczos, power,
};
use dissensus_geometry::model::{self, Grouping, Hessian, set, soft_nll};
use dissensus_geometry::variance::closed_form;
use serde_json::{Value, json};

pub(crate) const CLASSES: usize = 10;
/// Images that are looked at one by one.
pub(crate) const SHOWN: usize = 6;

/// What is trained, and how much is computed.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) width: usize,
    pub(crate) side: usize,
    pub(crate) training: usize,
    pub(crate) judged: usize,
    pub(crate) epochs: u64,
    pub(crate) batch: usize,
    pub(crate) iterations: usize,
    pub(crate) probes: usize,
    pub(crate) steps: usize,
    pub(crate) points: usize,
    pub(crate) threads: usize,
}

/// What the golden file is of: seconds on any machine.
pub(crate) const SMALL: Setup = Setup {
    width: 4,
    side: 16,
    training: 96,
    judged: 48,
    epochs: 4,
    batch: 32,
    iterations: 60,
    probes: 8,
    steps: 40,
    points: 5,
    threads: 0,
};

pub(crate) struct Compared {
    pub(crate) setup: Setup,
    pub(crate) network: Arc<Network>,
    pub(crate) dataset: Dataset,
    pub(crate) targets: Vec<f32>,
    pub(crate) training: Vec<u32>,
    pub(crate) judged: Vec<u32>,
    pub(crate) runner: Box<dyn Runner>,
    pub(crate) weights: [Weights; 2],
}

impl Compared {
    pub(crate) fn new(setup: Setup) -> Self {
        let rows = setup.training + setup.judged;
        let dataset = images(rows, setup.side);
        let model = Model::named("resnet18").unwrap().with("width", setup.width as u64).unwrap();
        let network = Arc::new(model.network(dataset.shape(), CLASSES).unwrap());
        let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 5e-4 };
        let settings = Settings {
            precision: Default::default(),
            batch: setup.batch,
            optimizer,
            threads: setup.threads,
        };
        let targets = super::shares(9, rows, CLASSES);
        let training: Vec<u32> = (0..setup.training as u32).collect();
        let judged = (setup.training as u32..rows as u32).collect();
        let state = |seed| State::fresh(&network, &optimizer, seed);
        let mut runner = Cpu.runner(&network, &dataset, &settings, state(1)).unwrap();
        let weights = [1, 2].map(|seed| {
            runner.restore(state(seed)).unwrap();
            for number in 0..setup.epochs {
                let mut visits = training.clone();
                Stream::new([seed, random::ORDER], [number, 0, 0]).shuffle(&mut visits);
                let epoch = Epoch {
                    number,
                    seed,
                    visits: &visits,
                    batch: setup.batch,
                    rate: 0.02,
                    samples: Targets::Distributions(&targets).into(),
                    shifts: None,
                    mixture: None,
                    mode: Mode::Train,
                };
                runner.train(&epoch).unwrap();
            }
            let State { parameters, statistics, .. } = runner.state().unwrap();
            Weights { parameters, statistics }
        });
        Self { setup, network, dataset, targets, training, judged, runner, weights }
    }

    /// Everything that is compared.
    pub(crate) fn found(&mut self) -> Value {
        let Self { setup, network, targets, training, judged, runner, weights, .. } = self;
        let runner = &mut **runner;
        model::set(runner, weights[0].clone()).unwrap();
        let mut hessian =
            Hessian::new(runner, network, judged, Targets::Distributions(targets)).unwrap();
        let settings = PowerSettings { most: setup.iterations, tolerance: 0.0, seed: 0 };
        let powered = power(&mut hessian, &settings).unwrap();
        let settings =
            LanczosSettings { largest: 3, smallest: 1, most: setup.steps, tolerance: 0.0, seed: 0 };
        let ends = lanczos(&mut hessian, &settings).unwrap();
        let blocks = model::blocks(network, Grouping::Stage);
        let most = setup.probes;
        let settings = TraceSettings { least: most, most, tolerance: 0.0, seed: 0 };
        let traces = hutchinson(&mut hessian, &blocks, &settings).unwrap();

        let shown = &judged[..SHOWN];
        let logits = runner.logits(shown).unwrap();
        let largest = |z: &[f32]| (1..z.len()).fold(0, |at, k| if z[k] > z[at] { k } else { at });
        let seen: Vec<usize> = logits.chunks_exact(CLASSES).map(largest).collect();
        let cams = model::gradcam(runner, network, &weights[0].parameters, shown, &seen).unwrap();
        let features = runner.features(shown).unwrap();
        let from = shown[0] as usize * CLASSES;
        let shares: Vec<f64> =
            targets[from..from + SHOWN * CLASSES].iter().map(|&p| f64::from(p)).collect();
        let variance = closed_form(Loss::CrossEntropy, &shares, CLASSES, &[], &features).unwrap();

        let mut both = weights.each_ref().map(|weights| {
            model::set(runner, weights.clone()).unwrap();
            Features::new(judged.len(), &runner.features(judged).unwrap()).unwrap()
        });
        let alike = cka(&both[0], &both[1]).unwrap();
        both.reverse();
        assert_eq!(
            cka(&both[0], &both[1]).unwrap().map(|v| (v * 1e9).round()),
            alike.map(|v| (v * 1e9).round())
        );
        let refresh = Refresh { rows: training, batch: setup.batch };
        let [interpolated, recomputed] =
            [Statistics::Interpolated, Statistics::Recomputed].map(|statistics| {
                let settings = BarrierSettings { points: setup.points, statistics };
                let ends = [&weights[0], &weights[1]];
                walk(runner, network, ends, judged, targets, refresh, &settings).unwrap()
            });
        let values = |found: &[Estimate]| found.iter().map(|e| e.value).collect::<Vec<f64>>();
        let path = |walk: &dissensus_geometry::barrier::Barrier| {
            walk.path.iter().map(|point| point.loss).collect::<Vec<f64>>()
        };
        json!({
            "power": powered.path,
            "largest": values(&ends.largest),
            "smallest": values(&ends.smallest),
            "samples": traces.samples,
            "blocks": traces.blocks.iter().map(|b| b.trace.value).collect::<Vec<f64>>(),
            "cka": [alike.unwrap()],
            "interpolated": path(&interpolated),
            "recomputed": path(&recomputed),
            "barriers": [interpolated.barrier, recomputed.barrier],
            "cams": cams.values,
            "variance": variance,
        })
    }
}

/// Ten coarse patterns in noise.
fn images(rows: usize, side: usize) -> Dataset {
    let mut stream = Stream::new([8, 2], [0; 3]);
    let patterns: Vec<u8> = (0..CLASSES * 48).map(|_| stream.word() as u8).collect();
    let mut pixels = Vec::with_capacity(rows * side * side * 3);
    for row in 0..rows {
        for place in 0..side * side {
            let coarse = place / side * 4 / side * 4 + place % side * 4 / side;
            for band in 0..3 {
                let pattern = patterns[row % CLASSES * 48 + coarse * 3 + band];
                pixels.push(pattern / 2 + stream.word() as u8 / 2);
            }
        }
    }
    Dataset::Images {
        height: side,
        width: side,
        channels: 3,
        pixels: pixels.into(),
        mean: vec![0.5; 3],
        deviation: vec![0.25; 3],
    }
}

/// The examples that batch statistics are measured on, where they are measured again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refresh<'a> {
    /// Rows of the data set.
    pub(crate) rows: &'a [u32],
    /// Examples at a time.
    pub(crate) batch: usize,
}

/// Soft NLL over `rows` along the line between two checkpoints, and its barrier. The runner has
/// the weights afterwards that it had before.
pub(crate) fn walk(
    runner: &mut dyn Runner,
    network: &Network,
    [from, to]: [&Weights; 2],
    rows: &[u32],
    targets: &[f32],
    refresh: Refresh<'_>,
    settings: &BarrierSettings,
) -> Result<Barrier, GeometryError> {
    let before = runner.state()?;
    let classes = network.classes();
    let found = barrier(from, to, settings, |weights, statistics| {
        set(runner, weights)?;
        if statistics == Statistics::Recomputed {
            runner.refresh(refresh.rows, refresh.batch)?;
        }
        soft_nll(&runner.logits(rows)?, rows, targets, classes)
    });
    runner.restore(before)?;
    found
}
