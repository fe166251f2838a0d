//! A device against a reference: one body of checks for every device.
//!
//! The reference is the CPU in f64, whose gradients and Hessian products are held to differences by
//! its own tests. Each small network exercises some operations; together they exercise all. What is
//! compared is a vector, and how far off it is, ‖found − wanted‖ / ‖wanted‖. More checks are of a
//! device against itself, and exact: labels that it draws are those that the host draws, the same run
//! twice gives the same bits, a state that is taken out and put back goes on as if it had stayed,
//! evaluation beside training gives the bits of one after the other, a Hessian product is the same when it
//! is asked for again, and new statistics change no weight.

use std::sync::Arc;

use dissensus_core::philox::Stream;

use crate::cpu::CpuRunner;
use crate::device::{
    Choice, Dataset, Device, Epoch, Mixture, Mode, Precision, Runner, Settings, Shift, State,
    Targets, Votes,
};
use crate::error::EngineError;
use crate::losses::{Link, Loss};
use crate::models::Model;
use crate::network::{Builder, Network, Op, Shape};
use crate::optimizer::Optimizer;
use crate::random;
use crate::scalar::Real;

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// A few seconds.
    Quick,
    /// Everything.
    Full,
    /// Everything of one network.
    One(&'a str),
}

/// The names of the networks.
pub fn networks() -> impl Iterator<Item = &'static str> {
    NETWORKS.iter().map(|(name, ..)| *name)
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub network: &'static str,
    /// What was compared.
    pub what: &'static str,
    /// The numbers that the device computed with.
    pub precision: Precision,
    /// How far off it was; 0 for the same bits, infinite where an exact check failed.
    pub off: f64,
    /// How far off it may be.
    pub bar: f64,
}

impl Line {
    /// Whether it is near enough.
    pub fn holds(&self) -> bool {
        self.off <= self.bar
    }
}

/// Examples, classes, and the batch.
const ROWS: usize = 80;
const CLASSES: usize = 5;
const BATCH: usize = 16;
/// A batch so small that products over a third of the rows are several, on every device.
const FEW: usize = 4;
/// What everything random here is drawn by.
const SEED: u64 = 13;

/// How far off a device may be that computes with these numbers. Products of bfloat16 have 8 bits, of
/// tf32 11 and of bf16x3 17, so a layer is off by about 2⁻⁹, 2⁻¹² and 2⁻¹⁸; layers and steps add up, and the twenty of
/// a deep network have a bar of their own. Where there are ReLUs, a share of their inputs as small as
/// that falls on the other side, and slopes jump there: that, not the arithmetic, is most of what
/// gradients and Hessian products are off by then.
fn bar(precision: Precision, network: &Network, what: &str) -> f64 {
    let count = |kind: fn(&Op) -> bool| network.nodes().iter().filter(|n| kind(&n.op)).count();
    let bent = count(|op| *op == Op::Relu) > 0;
    let deep = count(|op| matches!(op, Op::Conv { .. })) > 10;
    let slope = matches!(what, "gradient" | "input gradient" | "logits of moved examples");
    let bend = what.starts_with("Hessian product");
    let (plain, sloped, curved) = match (precision, deep) {
        (Precision::F32, _) => return 1e-5,
        (Precision::Bf16x3, false) => (5e-5, 1e-3, 1e-3),
        (Precision::Bf16x3, true) if what.contains("ten steps") => (1e-2, 1e-2, 1e-2),
        (Precision::Bf16x3, true) => (1e-4, 0.05, 0.05),
        (Precision::Tf32, false) => (1e-3, 0.05, 0.05),
        (Precision::Tf32, true) => (1e-2, 0.1, 0.1),
        (Precision::Bf16, false) => (0.02, 0.2, 0.5),
        (Precision::Bf16, true) => (0.05, 0.5, 0.5),
    };
    match (slope, bend) {
        (true, _) if bent => sloped,
        (_, true) if bent => curved,
        _ => plain,
    }
}

type Make = fn() -> Result<Network, EngineError>;

/// The networks, and which of them a quick check takes.
const NETWORKS: &[(&str, bool, Make)] = &[
    ("bare", true, bare),
    ("convolutions", false, convolutions),
    ("smooth", true, smooth),
    ("sigmoid", true, || Ok(smooth()?.with_loss(Loss::BinaryCrossEntropy))),
    ("ordinal", true, || Ok(smooth()?.with_loss(Loss::Rps))),
    ("norms", true, norms),
    ("sums", false, sums),
    ("perceptron", true, perceptron),
    ("mlp", false, mlp),
    ("smallcnn", true, || convolutional("smallcnn", 8)),
    ("resnet18", false, || convolutional("resnet18", 16)),
    ("wide64", false, || wide(64, 32, true)),
    ("wide128", false, || wide(128, 16, true)),
    ("wide256", false, || wide(256, 8, true)),
    ("wide512", false, || wide(512, 4, true)),
    ("smooth64", false, || wide(64, 32, false)),
    ("smooth128", false, || wide(128, 16, false)),
    ("smooth256", false, || wide(256, 8, false)),
    ("smooth512", false, || wide(512, 4, false)),
    ("strided128", false, || strided(128, 16)),
    ("strided256", false, || strided(256, 8)),
    ("strided512", false, || strided(512, 4)),
];

fn mlp() -> Result<Network, EngineError> {
    let model = Model::named("mlp")?.with("hidden", 32_u64)?.with("dropout", 0.2)?;
    model.network(image(), CLASSES)
}

fn convolutional(name: &str, width: u64) -> Result<Network, EngineError> {
    Model::named(name)?.with("width", width)?.network(image(), CLASSES)
}

fn image() -> Shape {
    Shape::Map { height: 12, width: 12, channels: 3 }
}

/// No convolution, so that nothing but kernels of ours runs on a GPU.
fn bare() -> Result<Network, EngineError> {
    let mut b = Builder::new(Shape::Map { height: 12, width: 12, channels: 8 });
    let first = b.batch_norm("an", 0);
    let at = b.relu(first);
    let at = b.batch_norm("bn", at);
    let at = b.add(at, first);
    let at = b.relu(at);
    let at = b.batch_norm("cn", at);
    ended(b, at)
}

fn ended(mut b: Builder, map: usize) -> Result<Network, EngineError> {
    let pooled = b.pool(map);
    b.linear("last", pooled, CLASSES);
    b.finish()
}

/// Kernels of 3 and 1, steps of 1 and 2, and the ReLU on its own.
fn convolutions() -> Result<Network, EngineError> {
    let mut b = Builder::new(image());
    let mut at = b.conv("a", 0, 16, 3, 1);
    at = b.relu(at);
    at = b.conv("b", at, 24, 3, 2);
    at = b.relu(at);
    at = b.conv("c", at, 16, 1, 2);
    at = b.conv("d", at, 8, 1, 1);
    ended(b, at)
}

/// Convolutions, norms and a sum without a ReLU.
fn smooth() -> Result<Network, EngineError> {
    let mut b = Builder::new(image());
    let at = b.conv("a", 0, 16, 3, 1);
    let first = b.batch_norm("an", at);
    let at = b.conv("b", first, 16, 3, 1);
    let at = b.batch_norm("bn", at);
    let at = b.add(at, first);
    let at = b.conv("c", at, 24, 3, 2);
    let at = b.batch_norm("cn", at);
    let pooled = b.pool(at);
    let at = b.linear("d", pooled, 16);
    let at = b.gelu(at);
    b.linear("last", at, CLASSES);
    b.finish()
}

/// A norm with a ReLU, one with neither, one with a sum, and one with both.
fn norms() -> Result<Network, EngineError> {
    let mut b = Builder::new(image());
    let at = b.conv("a", 0, 16, 3, 1);
    let at = b.batch_norm("an", at);
    let first = b.relu(at);
    let at = b.conv("b", first, 16, 3, 1);
    let at = b.batch_norm("bn", at);
    let at = b.conv("c", at, 16, 3, 1);
    let at = b.batch_norm("cn", at);
    let second = b.add(at, first);
    let at = b.conv("d", second, 16, 1, 1);
    let at = b.batch_norm("dn", at);
    let at = b.add(at, second);
    let at = b.relu(at);
    ended(b, at)
}

/// Convolutions of the sizes that some GPUs have kernels of ours for, with the norms around them: with ReLUs for
/// bfloat16, whose kernels do these, too; without for bf16x3, where a share of millions of ReLUs that falls on the
/// other side would be all that is seen.
fn wide(channels: usize, side: usize, bent: bool) -> Result<Network, EngineError> {
    let mut b = Builder::new(Shape::Map { height: side, width: side, channels: 3 });
    let relu = |b: &mut Builder, at| if bent { b.relu(at) } else { at };
    let at = b.conv("a", 0, channels, 3, 1);
    let at = b.batch_norm("an", at);
    let first = relu(&mut b, at);
    let at = b.conv("b", first, channels, 3, 1);
    let at = b.batch_norm("bn", at);
    let at = relu(&mut b, at);
    let at = b.conv("c", at, channels, 3, 1);
    let at = b.batch_norm("cn", at);
    let at = b.add(at, first);
    let at = relu(&mut b, at);
    ended(b, at)
}

/// A residual block that halves its images, of the sizes that some GPUs have kernels of ours for. Checked in
/// bfloat16.
fn strided(channels: usize, side: usize) -> Result<Network, EngineError> {
    let mut b = Builder::new(Shape::Map { height: 2 * side, width: 2 * side, channels: 3 });
    let at = b.conv("a", 0, channels / 2, 3, 1);
    let at = b.batch_norm("an", at);
    let first = b.relu(at);
    let at = b.conv("b", first, channels, 3, 2);
    let at = b.batch_norm("bn", at);
    let at = b.relu(at);
    let at = b.conv("c", at, 16, 1, 1);
    let at = b.conv("d", at, channels, 1, 1);
    let second = b.conv("e", first, channels, 1, 2);
    let second = b.batch_norm("en", second);
    let at = b.add(at, second);
    let at = b.relu(at);
    ended(b, at)
}

/// Sums that no norm comes before.
fn sums() -> Result<Network, EngineError> {
    let mut b = Builder::new(image());
    let first = b.conv("a", 0, 8, 3, 1);
    let second = b.conv("b", 0, 8, 1, 1);
    let sum = b.add(first, second);
    let bent = b.relu(sum);
    let more = b.add(bent, first);
    ended(b, more)
}

/// What is flat: linear layers, GELU, ReLU, dropout, a sum.
fn perceptron() -> Result<Network, EngineError> {
    let mut b = Builder::new(Shape::Flat { width: 12 * 12 * 3 });
    let a = b.linear("a", 0, 24);
    let bent = b.gelu(a);
    let some = b.dropout(bent, 0.3);
    let other = b.linear("b", some, 24);
    let sum = b.add(other, a);
    let cut = b.relu(sum);
    b.linear("last", cut, CLASSES);
    b.finish()
}

/// Everything that the checks train on, made up.
struct TrainingData {
    data: Dataset,
    shares: Vec<f32>,
    /// Other targets: they sum to 1, and some are negative.
    noisy: Vec<f32>,
    labels: Vec<u16>,
    votes: Votes,
    visits: Vec<u32>,
    shifts: Vec<Shift>,
    lambda: Vec<f64>,
    partner: Vec<u32>,
}

impl TrainingData {
    fn new(side: usize, channels: usize) -> Self {
        let mut draw = Stream::new([SEED, random::ORDER], [0, 0, 0]);
        let (height, width) = (side, side);
        // Blocks of colour with some noise: examples differ, as images do, and so every channel
        // varies. Where one hardly does, a norm divides by next to nothing, and no two ways of
        // rounding agree.
        let mut pixels = vec![0u8; ROWS * height * width * channels];
        for image in pixels.chunks_exact_mut(height * width * channels) {
            let colours: Vec<u64> = (0..9 * channels).map(|_| draw.word() % 200).collect();
            for (at, pixel) in image.iter_mut().enumerate() {
                let (y, x) = (at / (width * channels), at / channels % width);
                let block = (y * 3 / height) * 3 + x * 3 / width;
                *pixel = (colours[block * channels + at % channels] + draw.word() % 56) as u8;
            }
        }
        let data = Dataset::Images {
            height,
            width,
            channels,
            pixels: pixels.into(),
            mean: [0.4, 0.5, 0.45].into_iter().cycle().take(channels).collect(),
            deviation: [0.25, 0.2, 0.3].into_iter().cycle().take(channels).collect(),
        };
        let (mut votes, mut starts, mut shares) = (Vec::new(), vec![0], Vec::new());
        for row in 0..ROWS {
            let own: Vec<u16> =
                (0..3 + row % 5).map(|_| (draw.word() % CLASSES as u64) as u16).collect();
            let share = |class| own.iter().filter(|&&vote| vote == class).count() as f32;
            shares.extend((0..CLASSES as u16).map(|class| share(class) / own.len() as f32));
            votes.extend(own);
            starts.push(votes.len() as u32);
        }
        let keys = (0..ROWS).map(|_| draw.word()).collect();
        let choice = Choice::Words { keys, seed: SEED, stream: random::DROP };
        let mut visits: Vec<u32> = (0..ROWS as u32).collect();
        draw.shuffle(&mut visits);
        // Five batches an epoch, the last of them smaller.
        visits.truncate(ROWS - 5);
        let augment = crate::Augment { crop: 2, flip: true };
        // Twice each share, less that of the class after it.
        let after = |at: usize| shares[at / CLASSES * CLASSES + (at + 1) % CLASSES];
        let noisy = (0..shares.len()).map(|at| 2.0 * shares[at] - after(at)).collect();
        Self {
            data,
            noisy,
            shares,
            labels: (0..ROWS).map(|row| (row * 3 % CLASSES) as u16).collect(),
            votes: Votes { starts, votes, choice },
            shifts: visits.iter().map(|&row| augment.shift(SEED, 1, u64::from(row))).collect(),
            lambda: vec![0.7, 0.3, 0.9, 0.5, 0.6],
            partner: visits.chunks(BATCH).flat_map(|c| (0..c.len() as u32).rev()).collect(),
            visits,
        }
    }

    fn epoch<'a>(&'a self, number: u64, targets: Targets<'a>, mixed: bool) -> Epoch<'a> {
        let mixture = Mixture { lambda: &self.lambda, partner: &self.partner };
        Epoch {
            number,
            seed: SEED,
            visits: &self.visits,
            batch: BATCH,
            rate: 0.002,
            samples: targets.into(),
            shifts: Some(&self.shifts),
            mixture: mixed.then_some(mixture),
            mode: Mode::Train,
        }
    }

    /// Two epochs, which are ten steps: one plain, one mixed. Distributions are others in the
    /// second, with negative entries.
    fn ten_steps(&self, soft: bool) -> [Epoch<'_>; 2] {
        let targets = match soft {
            true => [&self.shares, &self.noisy].map(|shares| Targets::Distributions(shares)),
            false => [Targets::Classes(&self.labels); 2],
        };
        [self.epoch(0, targets[0], false), self.epoch(1, targets[1], true)]
    }
}

/// A state in numbers of another type.
fn converted<A: Real, B: Real>(state: &State<A>) -> State<B> {
    let all = |values: &Vec<A>| values.iter().map(|&v| B::of(v.wide())).collect();
    State {
        parameters: all(&state.parameters),
        statistics: all(&state.statistics),
        slots: state.slots.iter().map(all).collect(),
        steps: state.steps,
    }
}

/// ‖found − wanted‖ / ‖wanted‖; infinite where lengths differ or something is not finite.
fn distance(found: &[f32], wanted: &[f64]) -> f64 {
    if found.len() != wanted.len() {
        return f64::INFINITY;
    }
    let pairs = found.iter().zip(wanted);
    let off: f64 = pairs.map(|(&f, w)| (f64::from(f) - w).powi(2)).sum();
    let size: f64 = wanted.iter().map(|w| w * w).sum();
    let distance = (off / size.max(f64::MIN_POSITIVE)).sqrt();
    if distance.is_finite() { distance } else { f64::INFINITY }
}

/// Checks a device. Every line is also given to `seen` when it is known.
pub fn suite(
    device: &dyn Device,
    precisions: &[Precision],
    scope: Scope<'_>,
    seen: &mut dyn FnMut(&Line),
) -> Result<Vec<Line>, EngineError> {
    let mut lines = Vec::new();
    for &(name, quick, make) in NETWORKS {
        let wanted = match scope {
            Scope::Quick => quick,
            Scope::Full => true,
            Scope::One(one) => one == name,
        };
        if !wanted {
            continue;
        }
        let network = Arc::new(make()?);
        let training = &match network.input() {
            Shape::Map { width, channels, .. } => TrainingData::new(width, channels),
            Shape::Flat { .. } => TrainingData::new(12, 3),
        };
        // They are for kernels that there are in some precisions alone, and take the CPU long.
        let numbered = name.ends_with(char::is_numeric);
        let only = match name.trim_end_matches(char::is_numeric) {
            "wide" | "strided" => Some(Precision::Bf16),
            "smooth" if numbered => Some(Precision::Bf16x3),
            _ => None,
        };
        for &precision in precisions.iter().filter(|&&p| only.is_none_or(|only| only == p)) {
            let case = Case { device, network: &network, training, precision };
            case.run(&mut |what, off| {
                let exact = what.starts_with("same");
                let bar = if exact { 0.0 } else { bar(precision, &network, what) };
                let line = Line { network: name, what, precision, off, bar };
                seen(&line);
                lines.push(line);
            })?;
        }
    }
    Ok(lines)
}

struct Case<'a> {
    device: &'a dyn Device,
    network: &'a Arc<Network>,
    training: &'a TrainingData,
    precision: Precision,
}

const SGD: Optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: true, weight_decay: 5e-4 };
// With a large ε: with a small one, a gradient that is nearly nothing is a step of full size, this way
// or that, and rounding decides which.
const ADAM: Optimizer =
    Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 0.1, weight_decay: 1e-4 };

/// What is compared after ten steps of an optimizer.
macro_rules! names {
    ($optimizer:literal) => {
        [
            concat!("losses of ten steps, ", $optimizer),
            concat!("weights after ten steps, ", $optimizer),
            concat!("statistics after ten steps, ", $optimizer),
        ]
    };
}

impl Case<'_> {
    fn settings(&self, optimizer: Optimizer) -> Settings {
        Settings { precision: self.precision, batch: BATCH, optimizer, threads: 0 }
    }

    fn runner(&self, optimizer: Optimizer) -> Result<Box<dyn Runner>, EngineError> {
        let state = State::fresh(self.network, &optimizer, SEED);
        self.device.runner(self.network, &self.training.data, &self.settings(optimizer), state)
    }

    fn reference(&self, optimizer: Optimizer) -> Result<CpuRunner<f64>, EngineError> {
        let state = converted::<f32, f64>(&State::fresh(self.network, &optimizer, SEED));
        let settings = Settings { precision: Precision::F32, ..self.settings(optimizer) };
        CpuRunner::new(self.network, &self.training.data, &settings, state)
    }

    fn run(&self, tell: &mut dyn FnMut(&'static str, f64)) -> Result<(), EngineError> {
        let m = self.training;
        let (mut own, mut wanted) = (self.runner(SGD)?, self.reference(SGD)?);
        // Move the statistics away from where they start.
        let frozen = Targets::Distributions(&m.shares);
        own.train(&m.epoch(0, frozen, false))?;
        wanted.train(&m.epoch(0, frozen, false))?;
        own.restore(converted(wanted.current()))?;
        wanted.restore(converted(&converted::<f64, f32>(wanted.current())))?;

        let rows: Vec<u32> = (3..ROWS as u32 - 4).collect();
        let goal = Targets::Distributions(&m.shares);
        tell("logits", distance(&own.logits(&rows)?, &wanted.logits(&rows)?));
        tell("features", distance(&own.features(&rows)?, &wanted.features(&rows)?));
        let (loss, _) = own.gradient(&rows, goal)?;
        let (true_loss, _) = wanted.gradient(&rows, goal)?;
        tell("loss", distance(&[loss as f32], &[true_loss]));
        let mut draw = Stream::new([SEED, random::INIT], [7, 0, 0]);
        let wide: Vec<f64> =
            (0..self.network.parameter_count()).map(|_| f64::from(draw.normal() as f32)).collect();
        let direction: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
        if self.network.last_map().is_ok() {
            tell("maps", distance(&own.maps(&rows)?.values, &wanted.maps(&rows)?.values));
        }
        // Where the input of a ReLU is nearly 0, rounding decides on which side it falls, and the
        // slope jumps. Of three groups of rows, each of several batches, the middle one counts.
        let groups = || rows.chunks(rows.len().div_ceil(3));
        let [mut slopes, mut inputs, mut moved] = [const { Vec::new() }; 3];
        for rows in groups() {
            let (_, gradient) = own.gradient(rows, goal)?;
            let (_, true_gradient) = wanted.gradient(rows, goal)?;
            slopes.push(distance(&gradient, &true_gradient));
            let found = own.input_gradient(rows, goal)?;
            inputs.push(distance(&found, &wanted.input_gradient(rows, goal)?));
            if self.network.head().loss.link() == Link::Softmax {
                // A step that bfloat16 has.
                let found = own.perturbed(rows, 10.0, 0.0625)?;
                moved.push(distance(&found, &wanted.perturbed(rows, 10.0, 0.0625)?));
            }
        }
        tell("gradient", middle(slopes));
        tell("input gradient", middle(inputs));
        if !moved.is_empty() {
            tell("logits of moved examples", middle(moved));
        }
        self.products(&mut wanted, &rows, [&direction[..], &own.state()?.parameters], tell)?;
        if self.network.statistic_count() > 0 {
            let before = own.state()?;
            own.refresh(&rows, BATCH - 2)?;
            wanted.refresh(&rows, BATCH - 2)?;
            let after = own.state()?;
            tell("new statistics", distance(&after.statistics, &wanted.current().statistics));
            let same = State { statistics: before.statistics.clone(), ..after } == before;
            tell("same weights after new statistics", exactly(same));
        }

        for (optimizer, soft, [losses, weights, statistics]) in
            [(SGD, true, names!("SGD")), (ADAM, false, names!("Adam"))]
        {
            let (mut own, mut wanted) = (self.runner(optimizer)?, self.reference(optimizer)?);
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            for epoch in m.ten_steps(soft) {
                found.push(own.train(&epoch)? as f32);
                expected.push(wanted.train(&epoch)?);
            }
            let (state, truth) = (own.state()?, wanted.current());
            tell(losses, distance(&found, &expected));
            tell(weights, distance(&state.parameters, &truth.parameters));
            if !truth.statistics.is_empty() {
                tell(statistics, distance(&state.statistics, &truth.statistics));
            }
        }
        self.exact(tell)
    }

    /// Products with the Hessian along two directions, of rows that are several batches: the first,
    /// with what may have been kept of it, and with other weights and the same rows.
    fn products(
        &self,
        wanted: &mut CpuRunner<f64>,
        rows: &[u32],
        directions: [&[f32]; 2],
        tell: &mut dyn FnMut(&'static str, f64),
    ) -> Result<(), EngineError> {
        let goal = Targets::Distributions(&self.training.shares);
        let state: State<f32> = converted(wanted.current());
        let settings = Settings { batch: FEW, ..self.settings(SGD) };
        let mut own =
            self.device.runner(self.network, &self.training.data, &settings, state.clone())?;
        let mut other = state.clone();
        other.parameters.iter_mut().for_each(|w| *w *= 0.875);
        let wides = directions.map(|d| d.iter().map(|&v| f64::from(v)).collect::<Vec<_>>());
        let [mut first, mut second, mut changed] = [const { Vec::new() }; 3];
        let mut same = true;
        for rows in rows.chunks(rows.len().div_ceil(3)) {
            let product = own.hessian_product(rows, goal, directions[0])?;
            let truth = wanted.hessian_product(rows, goal, &wides[0])?;
            first.push(distance(&product, &truth));
            let along = own.hessian_product(rows, goal, directions[1])?;
            let truth = wanted.hessian_product(rows, goal, &wides[1])?;
            second.push(distance(&along, &truth));
            same &= own.hessian_product(rows, goal, directions[0])? == product;
            own.gradient(rows, goal)?;
            same &= own.hessian_product(rows, goal, directions[0])? == product;
            own.restore(other.clone())?;
            wanted.restore(converted(&other))?;
            let product = own.hessian_product(rows, goal, directions[0])?;
            let truth = wanted.hessian_product(rows, goal, &wides[0])?;
            changed.push(distance(&product, &truth));
            own.restore(state.clone())?;
            wanted.restore(converted(&state))?;
        }
        tell("Hessian product", middle(first));
        tell("Hessian product, another direction", middle(second));
        tell("Hessian product, other weights", middle(changed));
        tell("same product again", exactly(same));
        Ok(())
    }

    /// What has to be the same to the last bit.
    fn exact(&self, tell: &mut dyn FnMut(&'static str, f64)) -> Result<(), EngineError> {
        let m = self.training;
        let drawn = |draw: u64| m.epoch(draw, Targets::Drawn(&m.votes, draw), false);
        let after_five = |stop: Option<u64>| -> Result<State<f32>, EngineError> {
            let mut run = self.runner(SGD)?;
            for draw in 0..5 {
                if stop == Some(draw) {
                    let state = run.state()?;
                    run = self.runner(SGD)?;
                    run.restore(state)?;
                }
                run.train(&drawn(draw))?;
            }
            run.state()
        };
        let after = after_five(None)?;
        let mut given = self.runner(SGD)?;
        for draw in 0..5 {
            let class = |row| m.votes.class(row, draw).unwrap_or(0);
            let labels: Vec<u16> = (0..ROWS).map(class).collect();
            given.train(&m.epoch(draw, Targets::Classes(&labels), false))?;
        }
        tell("same labels drawn as by the host", exactly(after == given.state()?));
        tell("same bits in a second run", exactly(after == after_five(None)?));
        tell("same bits after stopping and going on", exactly(after == after_five(Some(3))?));
        self.overlapped(&[drawn(0), drawn(1)], tell)
    }

    /// An epoch with the weights from before it evaluated beside it, where a device does that.
    fn overlapped(
        &self,
        [first, second]: &[Epoch<'_>; 2],
        tell: &mut dyn FnMut(&'static str, f64),
    ) -> Result<(), EngineError> {
        let (rows, others): (Vec<u32>, Vec<u32>) =
            ((3..ROWS as u32 - 4).collect(), (0..BATCH as u32 - 3).rev().collect());
        let mut apart = self.runner(SGD)?;
        apart.train(first)?;
        let logits = [apart.logits(&rows)?, apart.logits(&others)?];
        apart.keep()?;
        let loss = apart.train(second)?;
        let mut run = self.runner(SGD)?;
        run.train(first)?;
        let Some(both) = run.overlap() else { return Ok(()) };
        both.start(second, &rows)?;
        let found = [both.logits_before(&rows)?, both.logits_before(&others)?];
        both.keep_before()?;
        let same = found == logits && both.finish()? == loss;
        let same = same && run.kept()? == apart.kept()? && run.state()? == apart.state()?;
        tell("same bits with evaluation beside training", exactly(same));
        Ok(())
    }
}

/// How far off what has to be the same is.
fn exactly(same: bool) -> f64 {
    if same { 0.0 } else { f64::INFINITY }
}

/// The one in the middle.
fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    /// The same body that a GPU is checked with.
    #[test]
    fn the_cpu_holds() {
        let lines = suite(&Cpu, &[Precision::F32], Scope::Full, &mut |_| ()).unwrap();
        assert!(lines.len() >= 170, "{}", lines.len());
        for line in lines {
            assert!(line.holds(), "{line:?}");
        }
    }

    #[test]
    fn a_distance_sees_what_is_not_there() {
        assert_eq!(distance(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        assert!((distance(&[3.0, 4.5], &[3.0, 4.0]) - 0.1).abs() < 1e-12);
        assert_eq!(distance(&[1.0], &[1.0, 2.0]), f64::INFINITY);
        assert_eq!(distance(&[f32::NAN], &[1.0]), f64::INFINITY);
    }
}
