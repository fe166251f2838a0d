//! The boundary between what is trained and what it is trained on.
//!
//! A [`Device`] takes a network description and a data set and gives a [`Runner`]: one run, its
//! weights, its buffers. The unit of work is an epoch. Everything random in it (order, labels,
//! crops, mixing partners) is decided by the caller and handed over as plain arrays, so that every
//! device sees the same and an epoch needs no word from the host while it runs. Models, the training
//! loop, delivery and the store know nothing of devices beyond this file.

use std::sync::Arc;

use dissensus_core::philox;
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::head::Head;
use crate::losses::Link;
use crate::network::{Network, Shape};
use crate::optimizer::Optimizer;
use crate::scalar::Real;

/// How a pass treats batch norm and dropout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Statistics of the batch, which also move the running ones; dropout on.
    Train,
    /// Running statistics, which stay as they are; dropout on.
    Frozen,
    /// Running statistics; dropout off.
    Eval,
}

/// The examples of all parts of a split, in one array.
#[derive(Clone, Debug)]
pub enum Dataset {
    /// Images, N×H×W×C, one byte per number.
    Images {
        height: usize,
        width: usize,
        channels: usize,
        /// All bytes.
        pixels: Arc<[u8]>,
        /// Taken from every channel (on the scale 0 to 1) …
        mean: Vec<f32>,
        /// … which is then divided by this.
        deviation: Vec<f32>,
    },
    /// Vectors, row by row.
    Vectors {
        /// Length of each.
        width: usize,
        values: Arc<[f32]>,
    },
}

impl Dataset {
    /// How many examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Images { pixels, .. } => pixels.len() / self.shape().len().max(1),
            Self::Vectors { values, width } => values.len() / (*width).max(1),
        }
    }

    /// True without examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of an example.
    pub fn shape(&self) -> Shape {
        match *self {
            Self::Images { height, width, channels, .. } => Shape::Map { height, width, channels },
            Self::Vectors { width, .. } => Shape::Flat { width },
        }
    }

    /// Checks that the parts fit each other and the network.
    pub fn check(&self, network: &Network) -> Result<(), EngineError> {
        let (own, wanted) = (self.shape(), network.input());
        if own != wanted && !(matches!(wanted, Shape::Flat { .. }) && own.len() == wanted.len()) {
            let text = format!("the examples are {own:?}, the network takes {wanted:?}");
            return Err(EngineError::Data(text));
        }
        if let Self::Images { channels, mean, deviation, pixels, .. } = self {
            if mean.len() != *channels || deviation.len() != *channels {
                return Err(EngineError::Data(format!(
                    "{channels} channels, but {} means and {} deviations",
                    mean.len(),
                    deviation.len()
                )));
            }
            if deviation.iter().any(|sd| !sd.is_finite() || *sd <= 0.0) {
                return Err(EngineError::Data("a channel's deviation is not positive".into()));
            }
            if own.is_empty() || pixels.len() % own.len() != 0 {
                return Err(EngineError::Data("the images are not whole".into()));
            }
        }
        Ok(())
    }
}

/// What the loss sees, by row of the data set (or by sample, see [`Samples`]).
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// One class a row.
    Classes(&'a [u16]),
    /// One distribution a row: as many numbers as there are classes, with the sum 1. They may be
    /// negative, where noise was added, and others in every epoch.
    Distributions(&'a [f32]),
    /// One class a row, which the device draws itself from votes, in a draw of this number.
    Drawn(&'a Votes, u64),
}

impl Targets<'_> {
    /// Checks that these rows, which are some of the examples, have targets of so many classes.
    pub(crate) fn check(
        &self,
        rows: &[u32],
        examples: usize,
        classes: usize,
    ) -> Result<(), EngineError> {
        let refuse = |text: String| Err(EngineError::Data(text));
        match *self {
            Targets::Distributions(table) if table.len() != examples * classes => refuse(format!(
                "{} numbers as targets of {examples} examples of {classes} classes",
                table.len()
            )),
            Targets::Classes(labels) if labels.len() != examples => {
                refuse(format!("{} labels for {examples} examples", labels.len()))
            }
            Targets::Classes(labels) => {
                match rows.iter().find(|&&row| usize::from(labels[row as usize]) >= classes) {
                    Some(row) => refuse(format!("row {row} has a label beyond {classes} classes")),
                    None => Ok(()),
                }
            }
            Targets::Distributions(_) => Ok(()),
            Targets::Drawn(votes, _) => votes.check(rows, examples, classes),
        }
    }
}

/// What an epoch visits: rows of the data set with a target each or, where `rows` is given, samples
/// with a row and a target each, so that a row may be visited several times with different targets.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// The row of each sample; `None` where sample i is row i.
    pub rows: Option<&'a [u32]>,
    /// What the loss sees, by sample.
    pub targets: Targets<'a>,
}

impl<'a> From<Targets<'a>> for Samples<'a> {
    /// Every row of the data set is one sample.
    fn from(targets: Targets<'a>) -> Self {
        Self { rows: None, targets }
    }
}

impl Samples<'_> {
    /// The row of the data set that a visit is to.
    pub(crate) fn row(&self, visit: u32) -> u32 {
        self.rows.map_or(visit, |rows| rows[visit as usize])
    }

    /// Checks that what is visited has rows and targets.
    pub(crate) fn check(
        &self,
        visits: &[u32],
        examples: usize,
        classes: usize,
    ) -> Result<(), EngineError> {
        let samples = self.rows.map_or(examples, <[u32]>::len);
        check_rows(visits, samples)?;
        check_rows(self.rows.unwrap_or_default(), examples)?;
        self.targets.check(visits, samples, classes)
    }
}

/// Refuses rows that are not there.
pub(crate) fn check_rows(rows: &[u32], examples: usize) -> Result<(), EngineError> {
    match rows.iter().find(|&&row| row as usize >= examples) {
        Some(row) => Err(EngineError::Data(format!("row {row} of {examples} examples"))),
        None => Ok(()),
    }
}

/// The votes on every row one by one, and how one of them becomes its class in draw d. It stays the
/// same for a whole run, so a device takes it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Votes {
    /// Where the votes of each row begin, and the end of the last.
    pub starts: Vec<u32>,
    /// The votes, as classes.
    pub votes: Vec<u16>,
    /// Which of its m votes a row delivers.
    pub choice: Choice,
}

/// Which of its m votes a row delivers in draw d.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Vote d mod m.
    Turns,
    /// The vote at a whole number below m, each equally likely, from word d mod 4 of the block
    /// (0, key of the row, d / 4, 0) of Philox; a word that would favour some votes is replaced by
    /// the same word of block (1, …), and so on.
    Words {
        keys: Vec<u64>,
        /// The first word of Philox's key.
        seed: u64,
        /// The second.
        stream: u64,
    },
}

impl Votes {
    /// Checks that these rows have votes, for classes that there are.
    pub(crate) fn check(
        &self,
        rows: &[u32],
        examples: usize,
        classes: usize,
    ) -> Result<(), EngineError> {
        let refuse = |text: String| Err(EngineError::Data(text));
        let keys = match &self.choice {
            Choice::Turns => examples,
            Choice::Words { keys, .. } => keys.len(),
        };
        let last = self.starts.last().map_or(0, |&end| end as usize);
        if self.starts.len() != examples + 1 || keys != examples || last != self.votes.len() {
            return refuse(format!("votes that do not fit {examples} examples"));
        }
        if self.starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return refuse("votes whose beginnings are not in order".to_owned());
        }
        if self.votes.iter().any(|&vote| usize::from(vote) >= classes) {
            return refuse(format!("a vote beyond {classes} classes"));
        }
        let none = |row: &&u32| self.class(**row as usize, 0).is_none();
        match rows.iter().find(none) {
            Some(row) => refuse(format!("row {row} has no votes")),
            None => Ok(()),
        }
    }

    /// The class of a row in a draw; `None` for a row without votes. What devices do for all rows.
    pub fn class(&self, row: usize, draw: u64) -> Option<u16> {
        let (start, end) = (*self.starts.get(row)?, *self.starts.get(row + 1)?);
        let own = self.votes.get(start as usize..end as usize)?;
        let m = own.len() as u64;
        if m == 0 {
            return None;
        }
        let at = match &self.choice {
            Choice::Turns => draw % m,
            Choice::Words { keys, seed, stream } => {
                let key = *keys.get(row)?;
                let word =
                    |n| philox::block([*seed, *stream], [n, key, draw / 4, 0])[(draw % 4) as usize];
                let product = |n| u128::from(word(n)) * u128::from(m);
                let unfair = m.wrapping_neg() % m;
                (0..).map(product).find(|&p| p as u64 >= unfair).map_or(0, |p| (p >> 64) as u64)
            }
        };
        own.get(at as usize).copied()
    }
}

/// How the image of an example is moved and turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    /// Rows down; what comes in from outside is black.
    pub down: i8,
    /// Pixels to the right.
    pub right: i8,
    /// Left and right are swapped, before it is moved.
    pub flip: bool,
}

/// Mixed inputs and labels (mixup).
#[derive(Clone, Copy, Debug)]
pub struct Mixture<'a> {
    /// The share of an example itself, by batch.
    pub lambda: &'a [f64],
    /// By visit: its partner's place in the same batch.
    pub partner: &'a [u32],
}

/// One pass over the training examples.
#[derive(Clone, Copy, Debug)]
pub struct Epoch<'a> {
    /// Its number, from 0.
    pub number: u64,
    /// The seed of dropout.
    pub seed: u64,
    /// Samples (see there), in the order in which they are visited.
    pub visits: &'a [u32],
    /// Visits in a batch; the last may have fewer.
    pub batch: usize,
    /// The learning rate.
    pub rate: f64,
    /// What is visited, and what the loss sees of it.
    pub samples: Samples<'a>,
    /// How images are moved, by visit; none where not asked for.
    pub shifts: Option<&'a [Shift]>,
    /// What is mixed with what; none where not asked for.
    pub mixture: Option<Mixture<'a>>,
    /// How batch norm and dropout behave: [`Mode::Train`], or [`Mode::Frozen`].
    pub mode: Mode,
}

/// Everything that training changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State<F> {
    /// The parameters, flat.
    pub parameters: Vec<F>,
    /// The batch statistics, flat.
    pub statistics: Vec<F>,
    /// What the optimizer remembers, in the order of its slots.
    pub slots: Vec<Vec<F>>,
    /// Optimizer steps so far.
    pub steps: u64,
}

impl<F: Real> State<F> {
    /// The state before training.
    pub fn fresh(network: &Network, optimizer: &Optimizer, seed: u64) -> Self {
        let zeros = || vec![F::ZERO; network.parameter_count()];
        Self {
            parameters: crate::init::parameters(network, seed),
            statistics: network.fresh_statistics(),
            slots: optimizer.slots().iter().map(|_| zeros()).collect(),
            steps: 0,
        }
    }

    /// Checks its lengths against a network and an optimizer.
    pub fn check(&self, network: &Network, optimizer: &Optimizer) -> Result<(), EngineError> {
        let wanted = network.parameter_count();
        let fits = self.parameters.len() == wanted
            && self.statistics.len() == network.statistic_count()
            && self.slots.len() == optimizer.slots().len()
            && self.slots.iter().all(|slot| slot.len() == wanted);
        match fits {
            true => Ok(()),
            false => Err(EngineError::Data("a state of another network or optimizer".into())),
        }
    }
}

/// The numbers that a device computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 32 bits, but products of convolutions with 10 bits of fraction, where the device has them.
    Tf32,
    /// Activations and products in bfloat16, weights and sums in 32 bits, where the device has
    /// them.
    Bf16,
    /// 32 bits, but each product of convolutions as three of bfloat16, with 16 bits of fraction, where
    /// the device has them.
    Bf16x3,
}

impl Precision {
    pub const ALL: [Self; 4] = [Self::F32, Self::Tf32, Self::Bf16, Self::Bf16x3];
    /// Their names, in the same order.
    pub const NAMES: [&str; 4] = ["f32", "tf32", "bf16", "bf16x3"];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|precision| precision.name() == name)
    }
}

/// What a runner is made for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The numbers to compute with.
    pub precision: Precision,
    /// The largest batch that it will see.
    pub batch: usize,
    pub optimizer: Optimizer,
    /// Threads of the host that it may use; 0: all cores.
    pub threads: usize,
}

/// What a prediction needs: parameters and batch statistics, flat.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights<F = f32> {
    pub parameters: Vec<F>,
    /// The batch statistics.
    pub statistics: Vec<F>,
}

/// What the last pooling of a network reads, N×H×W×C.
#[derive(Clone, Debug, PartialEq)]
pub struct Maps<F = f32> {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub values: Vec<F>,
}

impl<F> Maps<F> {
    /// Numbers as the maps of this network.
    pub(crate) fn of(network: &Network, values: Vec<F>) -> Result<Self, EngineError> {
        let (height, width, channels) = match network.nodes()[network.last_map()?].shape {
            Shape::Map { height, width, channels } => (height, width, channels),
            Shape::Flat { width } => (1, 1, width),
        };
        Ok(Self { height, width, channels, values })
    }
}

/// Refuses a head without a predicted class at a temperature, and a temperature or a step that has no
/// meaning.
pub(crate) fn check_perturbation(
    head: Head,
    temperature: f64,
    epsilon: f64,
) -> Result<(), EngineError> {
    if head.loss.link() != Link::Softmax {
        return Err(EngineError::OtherLoss {
            what: "moved examples (ODIN)",
            needs: "softmax outputs",
            loss: head.loss.name(),
        });
    }
    if !(temperature.is_finite() && temperature > 0.0) {
        let text = format!("a temperature of {temperature}; it has to be a number above 0");
        return Err(EngineError::Data(text));
    }
    if !(epsilon.is_finite() && epsilon >= 0.0) {
        let text = format!("a step of {epsilon}; it has to be a number that is not negative");
        return Err(EngineError::Data(text));
    }
    Ok(())
}

/// Refuses batches for new statistics that are empty, too large, or of rows that are not there.
pub(crate) fn check_refresh(
    rows: &[u32],
    examples: usize,
    batch: usize,
    most: usize,
) -> Result<(), EngineError> {
    if batch == 0 || batch > most {
        let text = format!("a batch of {batch}, in a runner for 1 to {most}");
        return Err(EngineError::Data(text));
    }
    if rows.is_empty() {
        return Err(EngineError::Data("statistics of no rows; give at least one".into()));
    }
    if rows.len() > examples {
        let text = format!("statistics of {} rows of {examples} examples", rows.len());
        return Err(EngineError::Data(text));
    }
    check_rows(rows, examples)
}

/// Where runs happen.
pub trait Device: Send + Sync {
    /// What it is, in words.
    fn describe(&self) -> String;

    /// The libraries that it computes with, and their versions, where it needs any.
    fn libraries(&self) -> Option<String> {
        None
    }

    /// Whether it computes in this precision.
    fn computes_in(&self, _precision: Precision) -> bool {
        true
    }

    /// A runner of `network` over `data`, which lanes of one device share.
    fn runner(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<f32>,
    ) -> Result<Box<dyn Runner>, EngineError>;

    /// What it found out about itself since it was last asked: text that can be kept, and given to the
    /// same device when it is opened again, which then computes in the same way at once.
    fn learned(&self) -> Option<String> {
        None
    }

    /// How many such runs it does best at a time, up to `most`, found by running some for a few
    /// seconds; `seen` is told every number with its examples per second. `None` where there is nothing
    /// to find: on a CPU, threads decide.
    fn best_lanes(
        &self,
        _network: &Arc<Network>,
        _data: &Dataset,
        _settings: &Settings,
        _most: usize,
        _seen: &mut dyn FnMut(usize, f64),
    ) -> Result<Option<usize>, EngineError> {
        Ok(None)
    }
}

/// One run on one device, in numbers of type F: f32 to train, f64 to check.
pub trait Runner<F: Real = f32>: Send {
    /// Whether it would rather draw labels itself ([`Targets::Drawn`]) than be given them.
    fn draws(&self) -> bool {
        false
    }

    /// Trains for one epoch; returns the mean training loss.
    fn train(&mut self, epoch: &Epoch<'_>) -> Result<f64, EngineError>;

    /// The end of its network.
    fn head(&self) -> Head;

    /// The outputs of the head for these rows, one row of classes each.
    fn outputs(&mut self, rows: &[u32]) -> Result<Vec<F>, EngineError>;

    /// The class logits of these rows, one row of classes each: the softmax of a row are the probabilities
    /// that the head gives to the classes (see [`Head`]).
    fn logits(&mut self, rows: &[u32]) -> Result<Vec<F>, EngineError> {
        Ok(self.head().class_logits(self.outputs(rows)?))
    }

    /// What the last layer reads, for these rows.
    fn features(&mut self, rows: &[u32]) -> Result<Vec<F>, EngineError>;

    /// What the last pooling reads, for these rows in [`Mode::Eval`]. With the weights of the linear
    /// layer behind it that is all that Grad-CAM needs: a channel's weight there, over the pixels, is
    /// the gradient of the class at each of its pixels. A network that does not end in pooling and a
    /// linear layer is refused ([`EngineError::NoMaps`]).
    fn maps(&mut self, rows: &[u32]) -> Result<Maps<F>, EngineError>;

    /// The gradient of each row's own loss in [`Mode::Eval`] at its example, normalized as the
    /// network reads it: one example's numbers per row.
    fn input_gradient(&mut self, rows: &[u32], targets: Targets<'_>)
    -> Result<Vec<F>, EngineError>;

    /// The outputs for x − ε·sign(∂L/∂x), one row of classes each, of a head with softmax outputs: x is the example, normalized as the
    /// network reads it, L = −ln softmax(z/T)\[argmax z\] and T the temperature (ODIN's input; Liang,
    /// Li and Srikant 2018). Where the gradient is 0 nothing moves; ε is the same for every channel.
    /// In [`Precision::Bf16`] an example has 8 bits, so that an ε below 2⁻⁹ of a number is lost
    /// there: ask for a runner in another precision.
    fn perturbed(
        &mut self,
        rows: &[u32],
        temperature: f64,
        epsilon: f64,
    ) -> Result<Vec<F>, EngineError>;

    /// Computes the batch statistics anew with the parameters as they are: the plain mean of the
    /// batches' means and unbiased variances over `rows`, in order and as they are stored, `batch` at
    /// a time. Every batch counts the same, the last and perhaps smaller one too. Dropout is on, as in
    /// epoch 0 of seed 0. Nothing else changes.
    fn refresh(&mut self, rows: &[u32], batch: usize) -> Result<(), EngineError>;

    /// The mean loss over these rows in [`Mode::Eval`], and its gradient in the parameters.
    fn gradient(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
    ) -> Result<(f64, Vec<F>), EngineError>;

    /// The Hessian of that loss times `direction`. Products with the same rows, targets and weights
    /// one after another may share what does not depend on the direction.
    fn hessian_product(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
        direction: &[F],
    ) -> Result<Vec<F>, EngineError>;

    /// The state, to be stored.
    fn state(&self) -> Result<State<F>, EngineError>;

    /// Goes on from this state.
    fn restore(&mut self, state: State<F>) -> Result<(), EngineError>;

    /// Keeps a copy of parameters and statistics as they are now, in place of the last one kept.
    fn keep(&mut self) -> Result<(), EngineError>;

    /// The weights that were kept.
    fn kept(&self) -> Result<Option<Weights<F>>, EngineError>;

    /// Bytes of memory that buffers and weights take.
    fn bytes(&self) -> usize;

    /// Epochs with an evaluation beside them; `None` where the device does one thing at a time, or has
    /// no memory for both.
    fn overlap(&mut self) -> Option<&mut dyn Overlap<F>> {
        None
    }
}

/// An epoch that goes on while the weights from before it are evaluated. All numbers are those of
/// [`Runner::logits`] followed by [`Runner::train`].
pub trait Overlap<F: Real = f32> {
    /// Starts an epoch, and beside it the evaluation of these rows with the weights as they are now.
    fn start(&mut self, epoch: &Epoch<'_>, rows: &[u32]) -> Result<(), EngineError>;

    /// The class logits of these rows with the weights from before the epoch. Rows that were not given to
    /// [`start`](Overlap::start) are evaluated now.
    fn logits_before(&mut self, rows: &[u32]) -> Result<Vec<F>, EngineError>;

    /// [`Runner::keep`], of the weights from before the epoch.
    fn keep_before(&mut self) -> Result<(), EngineError>;

    /// Waits for the end of the epoch; returns its mean training loss.
    fn finish(&mut self) -> Result<f64, EngineError>;
}
