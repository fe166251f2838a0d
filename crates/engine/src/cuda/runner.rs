//! One run on the GPU.

mod answers;
mod backward;
mod curvature;
mod evaluation;
mod inputs;
mod memory;
mod pairs;
mod passes;
mod side;
mod tangent;
mod transfer;

use std::collections::HashMap;
use std::sync::Arc;

use cudarc::driver::CudaGraph;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};

use super::bf16x3::Bf16x3;
use super::cudnn::{Conv, Handle, Pass, Place, Plans, Shapes};
use super::hopper::{Hopper, Size, Stem, Strided};
use super::kernels::{self, Kernel as _};
use super::launch::{DeviceSlice, Pointer, Stream};
use super::layout::Places;
use super::turns::{Turn, Turns};
use super::{Cuda, Resident, driver};
use crate::device::{
    Choice, Dataset, Mode, Precision, Settings, State, Targets, Votes, check_rows,
};
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp, Slots, fuse, gradient_slots};
use crate::network::{Network, Shape};
use backward::Reach;
use curvature::Curvature;
use evaluation::Evaluation;
use memory::{Ballots, Memory, Tangents};
use passes::{conv_shapes, subsampled_shapes};
use side::Side;
use transfer::Transfer;

/// Added to the variance, and how much of a batch's statistics goes into the running ones.
const EPSILON: f32 = 1e-5;
const MOMENTUM: f32 = 0.1;

/// What a captured step does, for how many examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Work {
    Train {
        batch: usize,
        norms: NormSource,
        shifted: bool,
        mixed: bool,
        soft: bool,
        beside: bool,
    },
    Logits,
    Features,
    /// Logits of examples that are moved first.
    Perturbed,
    /// The gradient of a mean loss, added up over batches.
    Gradient {
        batch: usize,
        soft: bool,
    },
    /// Statistics of batches.
    Statistics {
        batch: usize,
    },
}

/// What norms take their statistics from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NormSource {
    Batch,
    Running,
}

impl Work {
    /// Whether the loss sees distributions, and whether they are mixed.
    fn targets(self) -> (bool, bool) {
        match self {
            Self::Train { soft, mixed, .. } => (soft, mixed),
            Self::Gradient { soft, .. } => (soft, false),
            _ => (false, false),
        }
    }
}

/// A run.
pub(super) struct CudaRunner {
    graphs: HashMap<(Work, usize), CudaGraph>,
    convs: HashMap<Shapes, Conv>,
    /// Convolutions of ours, where the GPU and the precision have them.
    hopper: Option<Arc<Hopper>>,
    /// All convolutions, where the precision is that.
    bf16x3: Option<Arc<Bf16x3>>,
    handle: Handle,
    stream: Stream,
    side: Side,
    network: Arc<Network>,
    settings: Settings,
    data: Dataset,
    /// Keeps the data set on the GPU.
    _resident: Arc<Resident>,
    plans: Arc<Plans>,
    /// Held by the device and by each of its runs.
    runs: Arc<()>,
    turns: Arc<Turns>,
    rows: usize,
    steps: Vec<Fused>,
    slots: Slots,
    places: Places,
    memory: Memory,
    /// Made when they are first needed.
    tangents: Option<Tangents>,
    total: Option<DeviceSlice<f32>>,
    /// A batch of maps or examples without padding.
    plain: Option<DeviceSlice<f32>>,
    transfer: Option<Transfer>,
    curvature: Curvature,
    /// Which weights these are: another number whenever they or the statistics change.
    version: u64,
    /// How much of a batch's statistics goes into the running ones.
    momentum: f32,
    /// Votes that are on the device, and what they were made of.
    ballots: Option<(Ballots, Votes)>,
    step_count: u64,
    kept: bool,
    /// Made when it is first asked for; none where there is no memory for it.
    evaluation: Option<Evaluation>,
    no_evaluation: bool,
    /// Rows of the epoch that was started.
    started: Option<usize>,
    /// While it trains an epoch, where runs take turns.
    turn: Option<Turn>,
}

// SAFETY: graphs and handles may move between threads; a run is used by one at a time.
unsafe impl Send for CudaRunner {}

impl CudaRunner {
    /// A run on the GPU; `trial`: with these convolutions of ours instead of those that were chosen for the GPU.
    pub(super) fn new(
        cuda: &Cuda,
        (network, data): (&Arc<Network>, &Dataset),
        settings: &Settings,
        state: State<f32>,
        trial: Option<&Hopper>,
    ) -> Result<Self, EngineError> {
        data.check(network)?;
        state.check(network, &settings.optimizer)?;
        for (place, node) in network.nodes().iter().enumerate().skip(1) {
            if let Shape::Map { channels, .. } = node.shape
                && channels % 8 != 0
            {
                return Err(EngineError::Device(format!(
                    "node {place} has {channels} channels; on CUDA widths are multiples of 8"
                )));
            }
        }
        let bf16x3 = cuda.bf16x3(settings.precision)?;
        let typed = cuda.kernels(settings.precision).clone();
        let stream = cuda.training_stream()?;
        let handle = Handle::new(stream.cu_stream())?;
        let act = act_size(settings.precision);
        let mut stream = Stream::new(stream, cuda.plain.clone(), typed, act);
        stream.prepare()?;
        let steps = fuse(network);
        let slots = gradient_slots(network, &steps, true);
        let places = Places::new(network);
        let rows = data.len();
        let side = Side::new(cuda.training_stream()?, slots.shapes.len())?;
        let resident = cuda.resident(data)?;
        let shared = (data, resident.at);
        let mut memory =
            Memory::new(&mut stream, network, shared, settings, &steps, &slots, &places)?;
        // Of any batch, since the last one may be of another size.
        let shapes = steps.iter().filter_map(|step| conv_shapes(network, step, Size::WHOLE));
        let sums = |shapes: &Shapes| {
            let strided = Strided::of(shapes).map(Strided::partial);
            let stem = Stem::is(shapes).then(Stem::partial);
            Size::of(shapes).map(Size::partial).or(strided).or(stem)
        };
        let sums = shapes.filter_map(|shapes| sums(&shapes)).max();
        let hopper = match (sums, trial) {
            (Some(_), None) => cuda.hopper(settings.precision)?,
            (Some(_), Some(trial)) => Some(Arc::new(trial.clone())),
            (None, _) => None,
        };
        if let (Some(_), Some(bytes)) = (&hopper, sums) {
            memory.weight_sums = stream.zeros(bytes)?;
            // Convolutions of ours look there on the way back, where a norm's input does not say it.
            for step in &steps {
                let readers = steps.iter().filter(|s| s.inputs().any(|node| node == step.output));
                if matches!(step.op, FusedOp::Norm { relu: true, .. })
                    && (step.second.is_some() || readers.count() > 1)
                {
                    let shape = network.nodes()[step.output].shape;
                    let bytes = settings.batch * shape.len() / 8;
                    memory.masks.insert(step.output, stream.zeros(bytes)?);
                }
            }
        }
        let mut runner = Self {
            graphs: HashMap::new(),
            convs: HashMap::new(),
            hopper,
            bf16x3,
            handle,
            stream,
            side,
            network: network.clone(),
            settings: settings.clone(),
            data: data.clone(),
            _resident: resident,
            plans: cuda.plans.clone(),
            runs: cuda.runs.clone(),
            turns: cuda.turns.clone(),
            rows,
            steps,
            slots,
            places,
            memory,
            tangents: None,
            total: None,
            plain: None,
            transfer: None,
            curvature: Curvature::default(),
            version: 0,
            momentum: MOMENTUM,
            ballots: None,
            step_count: 0,
            kept: false,
            evaluation: None,
            no_evaluation: false,
            started: None,
            turn: None,
        };
        runner.put(&state)?;
        Ok(runner)
    }

    /// Writes a state to the device.
    fn put(&mut self, state: &State<f32>) -> Result<(), EngineError> {
        self.version += 1;
        self.stream.write(self.memory.weights, &self.places.to_device(&state.parameters))?;
        self.stream.write(self.memory.statistics, &state.statistics)?;
        for (&slot, values) in self.memory.slots.iter().zip(&state.slots) {
            self.stream.write(slot, &self.places.to_device(values))?;
        }
        self.step_count = state.steps;
        self.stream.write(self.memory.steps, &[state.steps])?;
        self.copy_down(self.memory.weights.at(), self.memory.copy.at())?;
        self.stream.stream.synchronize().map_err(driver)
    }

    /// The weights of convolutions in the type of activations.
    fn copy_down(&self, from: Pointer, to: Pointer) -> Result<(), EngineError> {
        match self.places.convs {
            0 => Ok(()),
            convs => {
                let kernel = kernels::CopyToActivations { w: from, copy: to, len: convs };
                kernel.launch(&self.stream, true)
            }
        }
    }

    /// Makes the convolutions for batches of `count` examples; `often`: they will be run many times.
    fn prepare(&mut self, count: usize, often: bool) -> Result<(), EngineError> {
        let mut most = 0;
        let place = Place { handle: &self.handle, context: self.stream.stream.context() };
        for (layer, step) in self.steps.iter().enumerate() {
            let Some(own) = conv_shapes(&self.network, step, count) else { continue };
            let smaller = subsampled_shapes(own);
            // Where there is a subsampled one, it is the one that trains.
            let ours = self.convolves(layer, count)
                || self.in_pair(layer, count)
                || (self.stem(&own).is_some() && step.input == 0);
            let often = often && !ours;
            let both = [(Some(own), often && smaller.is_none()), (smaller, often)];
            for (shapes, often) in both {
                let Some(shapes) = shapes else { continue };
                if let Some(ours) = &self.bf16x3 {
                    most = most.max(ours.workspace(&shapes));
                    continue;
                }
                if self.convs.get(&shapes).is_none_or(|conv| often && !conv.often) {
                    let conv = self.plans.conv(&place, shapes, self.settings.precision, often)?;
                    if self.convs.contains_key(&shapes) {
                        // Graphs hold the old plans.
                        self.stream.stream.synchronize().map_err(driver)?;
                        self.graphs.clear();
                        if let Some(evaluation) = &mut self.evaluation {
                            evaluation.forget()?;
                        }
                    }
                    self.convs.insert(shapes, conv);
                }
                most = most.max(self.convs[&shapes].workspace);
            }
        }
        if most > self.memory.workspace_bytes {
            // Graphs hold the old address.
            self.graphs.clear();
            self.memory.workspace = self.stream.zeros(most)?;
            self.side.workspace = self.stream.zeros(most)?;
            self.memory.workspace_bytes = most;
            if let Some(evaluation) = &mut self.evaluation {
                evaluation.grow(most)?;
            }
        }
        Ok(())
    }

    /// A pass of a convolution over x, y and W, one of which it computes from the other two, or the sum of such
    /// passes, which have the same result; `beside`: on the stream beside the main one.
    fn convolve(
        &self,
        pass: Pass,
        add: bool,
        shapes: Shapes,
        of: &[[Pointer; 3]],
        beside: bool,
    ) -> Result<(), EngineError> {
        let (stream, handle, space) = match beside {
            true => (&self.side.stream, &self.side.handle, self.side.workspace),
            false => (&self.stream.stream, &self.handle, self.memory.workspace),
        };
        match &self.bf16x3 {
            Some(ours) => ours.run(stream, pass, add, shapes, of, space),
            None => of.iter().enumerate().try_for_each(|(number, &at)| {
                self.convs[&shapes].run(handle, pass, add || number > 0, at, space)
            }),
        }
    }

    /// Kernels of ours for these convolutions, where there are any.
    fn ours(&self, shapes: &Shapes) -> Option<(&Hopper, &'static Size)> {
        let hopper = self.hopper.as_deref()?;
        Some((hopper, hopper.size(shapes)?))
    }

    /// Kernels of ours for the first convolution of a network, forward and for its weights, where these
    /// are of its size.
    fn stem(&self, shapes: &Shapes) -> Option<&Hopper> {
        self.hopper.as_deref().filter(|hopper| hopper.is_stem(shapes))
    }

    /// Whether kernels of ours do the convolution of this step, alone or with one after it.
    fn convolves(&self, place: usize, count: usize) -> bool {
        let shapes = conv_shapes(&self.network, &self.steps[place], count);
        shapes.is_some_and(|shapes| self.ours(&shapes).is_some())
            || self.pair(place, count).is_some()
    }

    /// Examples from one batch to the next.
    fn batch(&self, work: Work) -> usize {
        match work {
            Work::Train { batch, .. }
            | Work::Gradient { batch, .. }
            | Work::Statistics { batch } => batch,
            _ => self.settings.batch,
        }
    }

    /// Everything of one batch.
    fn body(&self, work: Work, count: usize) -> Result<(), EngineError> {
        let m = &self.memory;
        self.examples(work, count)?;
        let all = self.steps.len();
        match work {
            Work::Train { norms, beside, .. } => {
                let mode = if norms == NormSource::Batch { Mode::Train } else { Mode::Frozen };
                let reach = if beside { Reach::Beside } else { Reach::Weights };
                match self.fused_head() {
                    Some(first) => {
                        self.forward(first, count, mode)?;
                        self.head_and_loss(first, work, count)?;
                        self.backward(first, count, mode, reach)?;
                    }
                    None => {
                        self.forward(all, count, mode)?;
                        self.loss(work, count, false)?;
                        self.backward(all, count, mode, reach)?;
                    }
                }
                self.update(self.updates_beside(reach))?;
            }
            Work::Logits | Work::Features | Work::Perturbed => {
                if work == Work::Perturbed {
                    self.forward(all, count, Mode::Eval)?;
                    self.perturb(count)?;
                }
                self.evaluate(count)?;
                let node = match work {
                    Work::Features => self.network.features(),
                    _ => self.network.nodes().len() - 1,
                };
                let width = self.network.nodes()[node].shape.len();
                let kernel = kernels::StoreRows {
                    from: self.value(node),
                    step: m.counter.at(),
                    batch: self.settings.batch,
                    count,
                    width,
                    to: m.collected.at(),
                };
                kernel.launch(&self.stream, false)?;
            }
            // These are not captured.
            Work::Gradient { .. } | Work::Statistics { .. } => {
                return Err(EngineError::Device(format!("{work:?} as a step")));
            }
        }
        self.advance()
    }

    /// Adds the gradient of a batch to the total.
    fn add_up(&self) -> Result<(), EngineError> {
        let (m, total) = (&self.memory, self.total()?.at());
        let (convs, rest) = (self.places.convs, self.places.len - self.places.convs);
        let add = |from: Pointer, len: usize, total: Pointer, typed: bool| {
            kernels::AccumulateInF32 { from, len, total }.launch(&self.stream, typed)
        };
        if convs > 0 {
            add(m.conv_gradient, convs, total, true)?;
        }
        let after = 4 * convs as u64;
        add(m.gradient + after, rest, total + after, false)
    }

    /// What training changes, and a copy of it that a trial run may be undone with.
    fn changed(&self) -> Vec<[DeviceSlice<u8>; 2]> {
        let m = &self.memory;
        let mut all = vec![[m.weights, m.spare[1]], [m.statistics, m.spare[2]]];
        all.extend(m.slots.iter().zip(&m.spare[3..]).map(|(&slot, &to)| [slot, to]));
        let mut all: Vec<_> = all.into_iter().map(|pair| pair.map(DeviceSlice::bytes)).collect();
        all.push([m.steps, m.spare_steps].map(DeviceSlice::bytes));
        all
    }

    /// The graph of a batch, captured when it is first needed. Libraries may load what they need
    /// when they are first called, which a capture does not allow; so the first time the batch is
    /// run for nothing, and undone.
    fn captured(&mut self, work: Work, count: usize) -> Result<(), EngineError> {
        if self.graphs.contains_key(&(work, count)) {
            return Ok(());
        }
        self.stream.write(self.memory.counter, &[0i32])?;
        let trains = matches!(work, Work::Train { .. });
        let changed = if trains { self.changed() } else { Vec::new() };
        for &[own, spare] in &changed {
            self.stream.copy(own, spare)?;
        }
        self.body(work, count)?;
        for &[own, spare] in &changed {
            self.stream.copy(spare, own)?;
        }
        if trains {
            self.copy_down(self.memory.weights.at(), self.memory.copy.at())?;
        }
        self.stream.write(self.memory.counter, &[0i32])?;
        let stream = self.stream.stream.clone();
        stream.synchronize().map_err(driver)?;
        self.side.forget();
        stream
            .begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
            .map_err(driver)?;
        let result = self.body(work, count);
        let graph = stream.end_capture(CUgraphInstantiate_flags(0)).map_err(driver)?;
        self.side.forget();
        result?;
        let graph = graph.ok_or_else(|| EngineError::Device("CUDA captured no step".to_owned()))?;
        self.graphs.insert((work, count), graph);
        Ok(())
    }

    /// Runs batch after batch over `visits` rows that are on the device.
    fn over(&mut self, work: Work, visits: usize) -> Result<(), EngineError> {
        self.prepare_all(work, visits)?;
        self.launch_all(work, visits)
    }

    /// Makes the convolutions of all batches, before one is captured: what one of them adds may forget the
    /// others.
    fn prepare_all(&mut self, work: Work, visits: usize) -> Result<(), EngineError> {
        let batch = self.batch(work);
        for count in counts(visits, batch) {
            self.prepare(count, matches!(work, Work::Train { .. }) && count == batch)?;
        }
        Ok(())
    }

    /// Starts batch after batch, once they are prepared.
    fn launch_all(&mut self, work: Work, visits: usize) -> Result<(), EngineError> {
        let batch = self.batch(work);
        for count in counts(visits, batch) {
            self.captured(work, count)?;
        }
        if !matches!(work, Work::Train { .. }) {
            self.running_norms()?;
        }
        self.stream.write(self.memory.counter, &[0i32])?;
        for first in (0..visits).step_by(batch) {
            let count = batch.min(visits - first);
            self.graphs[&(work, count)].launch().map_err(driver)?;
        }
        Ok(())
    }

    fn collect(&mut self, work: Work, rows: &[u32], width: usize) -> Result<Vec<f32>, EngineError> {
        check_rows(rows, self.rows)?;
        let mut all = Vec::with_capacity(rows.len() * width);
        for rows in rows.chunks(self.rows.max(1)) {
            self.stream.write(self.memory.visits, rows)?;
            self.over(work, rows.len())?;
            all.extend(self.stream.read(self.memory.collected, rows.len() * width)?);
        }
        Ok(all)
    }

    /// Brings what the loss sees to the device; says whether that are distributions.
    fn targets(&mut self, targets: Targets<'_>, rows: &[u32]) -> Result<bool, EngineError> {
        let (examples, classes) = (self.rows, self.network.classes());
        match targets {
            Targets::Classes(labels) => {
                targets.check(rows, examples, classes)?;
                self.stream.write(self.memory.classes, labels)?;
                Ok(false)
            }
            Targets::Distributions(shares) => {
                targets.check(rows, examples, classes)?;
                self.stream.write(self.memory.shares, shares)?;
                Ok(true)
            }
            Targets::Drawn(votes, draw) => {
                if self.ballots.as_ref().is_none_or(|(_, known)| known != votes) {
                    votes.check(rows, examples, classes)?;
                    let keys: &[u64] = match &votes.choice {
                        Choice::Turns => &[],
                        Choice::Words { keys, .. } => keys,
                    };
                    let ballots = Ballots {
                        keys: self.stream.upload(keys)?,
                        starts: self.stream.upload(&votes.starts)?,
                        votes: self.stream.upload(&votes.votes)?,
                    };
                    self.ballots = Some((ballots, votes.clone()));
                }
                let Some((on, _)) = &self.ballots else { return Ok(false) };
                let (keys, starts, cast) = (on.keys.at(), on.starts.at(), on.votes.at());
                let (rows, labels) = (examples, self.memory.classes.at());
                match votes.choice {
                    Choice::Turns => {
                        kernels::CycleLabels { starts, votes: cast, turn: draw, rows, labels }
                            .launch(&self.stream, false)?;
                    }
                    Choice::Words { seed, stream, .. } => {
                        let votes = cast;
                        kernels::DrawLabels {
                            keys,
                            starts,
                            votes,
                            seed,
                            stream,
                            draw,
                            rows,
                            labels,
                        }
                        .launch(&self.stream, false)?;
                    }
                }
                Ok(false)
            }
        }
    }

    /// The losses of the last pass over so many rows.
    fn mean_loss(&self, visits: usize) -> Result<f64, EngineError> {
        let losses = self.stream.read(self.memory.losses, visits)?;
        let total: f64 = losses.iter().map(|&loss| f64::from(loss)).sum();
        Ok(total / losses.len().max(1) as f64)
    }
}

impl Drop for CudaRunner {
    /// Waits for what was started: it uses memory that other streams free.
    fn drop(&mut self) {
        let _ = self.stream.stream.synchronize();
        let _ = self.evaluation.as_mut().map(Evaluation::forget);
    }
}

/// The sizes of batches of so many visits.
fn counts(visits: usize, batch: usize) -> impl Iterator<Item = usize> {
    [batch.min(visits), visits % batch].into_iter().filter(|&count| count > 0)
}

/// Bytes of an activation.
pub(super) fn act_size(precision: Precision) -> usize {
    if precision == Precision::Bf16 { 2 } else { 4 }
}
