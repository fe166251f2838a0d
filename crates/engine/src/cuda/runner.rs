//! One run on the GPU.

use std::collections::HashMap;
use std::sync::Arc;

use cudarc::driver::CudaGraph;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};

use super::cudnn::{Conv, Handle, Shapes};
use super::launch::{Arg, Pointer, Stream};
use super::layout::{Places, padded};
use super::{Cuda, driver};
use crate::device::{
    Dataset, Epoch, Mode, Precision, Runner, Settings, Shift, State, Targets, Weights,
};
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp, Slots, fuse, slots};
use crate::network::{Network, NodeId, Shape};
use crate::optimizer::Optimizer;
use crate::random::DROP;

use Arg::{Float, Half, Int, Long, Pointer as At, Word};

pub(super) const KERNELS: &[&str] = &[
    "advance",
    "pictures",
    "flat_pictures",
    "vectors",
    "norm_sums",
    "norm_finish",
    "norm_fixed",
    "norm_apply",
    "norm_slopes",
    "norm_back_finish",
    "norm_back",
    "pool",
    "pool_back",
    "linear",
    "linear_back_weights",
    "linear_back_bias",
    "linear_back",
    "cross_entropy",
    "collect",
    "gelu",
    "gelu_back",
    "dropout",
    "relu_flat",
    "relu_flat_back",
    "sgd",
    "sgd_conv",
    "adam",
    "adam_conv",
    "adam_factors",
    "copy_down",
];

/// Added to the variance, and how much of a batch's statistics goes into the running ones.
const EPSILON: f32 = 1e-5;
const MOMENTUM: f32 = 0.1;
/// Blocks that share the sums of a batch norm.
const BLOCKS: usize = 264;

/// What a captured step does, for how many examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Work {
    Train { batch: usize, own: bool, shifted: bool, mixed: bool, soft: bool },
    Logits,
    Features,
}

/// A run.
pub(super) struct CudaRunner {
    graphs: HashMap<(Work, usize), CudaGraph>,
    convs: HashMap<Shapes, Conv>,
    handle: Handle,
    stream: Stream,
    network: Arc<Network>,
    settings: Settings,
    data: Dataset,
    rows: usize,
    steps: Vec<Fused>,
    slots: Slots,
    places: Places,
    memory: Memory,
    step_count: u64,
    kept: bool,
}

// SAFETY: graphs and handles may move between threads; a run is used by one at a time.
unsafe impl Send for CudaRunner {}

/// Everything on the device.
struct Memory {
    values: Vec<Pointer>,
    gradients: Vec<Pointer>,
    weights: Pointer,
    copy: Pointer,
    conv_gradient: Pointer,
    gradient: Pointer,
    slots: Vec<Pointer>,
    statistics: Pointer,
    kept: [Pointer; 2],
    spare: Vec<Pointer>,
    /// Of each norm: mean, inverse, and three more vectors.
    norms: HashMap<NodeId, Pointer>,
    partial: Pointer,
    workspace: Pointer,
    workspace_bytes: usize,
    pixels: Pointer,
    table: Pointer,
    visits: Pointer,
    shifts: Pointer,
    classes: Pointer,
    shares: Pointer,
    lambda: Pointer,
    partner: Pointer,
    losses: Pointer,
    collected: Pointer,
    counter: Pointer,
    epoch: Pointer,
    by: Pointer,
    rate: Pointer,
    steps: Pointer,
}

impl CudaRunner {
    pub(super) fn new(
        cuda: &Cuda,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<f32>,
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
        let typed = cuda.kernels(settings.precision).clone();
        let stream = cuda.context.new_stream().map_err(driver)?;
        let handle = Handle::new(stream.cu_stream())?;
        let mut stream = Stream::new(stream, cuda.plain.clone(), typed);
        stream.prepare(KERNELS)?;
        let steps = fuse(network);
        let slots = slots(network, &steps);
        let places = Places::new(network);
        let rows = data.len();
        let memory = Memory::new(&mut stream, network, data, settings, &steps, &slots, &places)?;
        let mut runner = Self {
            graphs: HashMap::new(),
            convs: HashMap::new(),
            handle,
            stream,
            network: network.clone(),
            settings: settings.clone(),
            data: data.clone(),
            rows,
            steps,
            slots,
            places,
            memory,
            step_count: 0,
            kept: false,
        };
        runner.put(&state)?;
        Ok(runner)
    }

    /// Bytes of an activation.
    fn size(&self) -> usize {
        act_size(self.settings.precision)
    }

    /// Writes a state to the device.
    fn put(&mut self, state: &State<f32>) -> Result<(), EngineError> {
        self.stream.write(self.memory.weights, &self.places.to_device(&state.parameters))?;
        self.stream.write(self.memory.statistics, &state.statistics)?;
        for (&slot, values) in self.memory.slots.iter().zip(&state.slots) {
            self.stream.write(slot, &self.places.to_device(values))?;
        }
        self.step_count = state.steps;
        self.stream.write(self.memory.steps, &[state.steps])?;
        let convs = self.places.convs;
        let args = [At(self.memory.weights), At(self.memory.copy), Int(convs as i32)];
        self.stream.each(true, "copy_down", convs, &args)?;
        self.stream.stream.synchronize().map_err(driver)
    }

    /// Makes the convolutions for batches of `count` examples.
    fn prepare(&mut self, count: usize) -> Result<(), EngineError> {
        let mut most = 0;
        for step in &self.steps {
            if let Some(shapes) = conv_shapes(&self.network, step, count) {
                if !self.convs.contains_key(&shapes) {
                    let conv = Conv::new(&self.handle, shapes, self.settings.precision)?;
                    self.convs.insert(shapes, conv);
                }
                most = most.max(self.convs[&shapes].workspace);
            }
        }
        if most > self.memory.workspace_bytes {
            // Graphs hold the old address.
            self.graphs.clear();
            self.memory.workspace = self.stream.zeros(most)?;
            self.memory.workspace_bytes = most;
        }
        Ok(())
    }

    fn value(&self, node: NodeId) -> Arg {
        At(self.memory.values[node])
    }

    fn gradient_of(&self, node: NodeId) -> Pointer {
        self.slots.of[node].map_or(0, |slot| self.memory.gradients[slot])
    }

    fn parameter(&self, base: Pointer, parameter: usize) -> Pointer {
        base + 4 * self.places.of[parameter].offset as u64
    }

    /// Examples from one batch to the next.
    fn batch(&self, work: Work) -> usize {
        match work {
            Work::Train { batch, .. } => batch,
            Work::Logits | Work::Features => self.settings.batch,
        }
    }

    /// Fills the examples of the batch that the counter names.
    fn examples(&self, work: Work, count: usize) -> Result<(), EngineError> {
        let m = &self.memory;
        let (shifted, mixed) = match work {
            Work::Train { shifted, mixed, .. } => (shifted, mixed),
            Work::Logits | Work::Features => (false, false),
        };
        let batch = self.batch(work) as i32;
        let shifts = if shifted { m.shifts } else { 0 };
        let (lambda, partner) = if mixed { (m.lambda, m.partner) } else { (0, 0) };
        let out = self.value(0);
        match (&self.data, self.network.input()) {
            (Dataset::Vectors { width, .. }, _) => {
                let args = [
                    At(m.pixels),
                    At(m.visits),
                    At(lambda),
                    At(partner),
                    At(m.counter),
                    Int(batch),
                    Int(count as i32),
                    Int(*width as i32),
                    out,
                ];
                self.stream.each(false, "vectors", count * width, &args)
            }
            (&Dataset::Pictures { height, width, channels, .. }, input) => {
                let mut args = vec![
                    At(m.pixels),
                    At(m.table),
                    At(m.visits),
                    At(shifts),
                    At(lambda),
                    At(partner),
                    At(m.counter),
                    Int(batch),
                    Int(count as i32),
                    Int(height as i32),
                    Int(width as i32),
                    Int(channels as i32),
                ];
                if matches!(input, Shape::Flat { .. }) {
                    args.push(out);
                    let numbers = count * height * width * channels;
                    return self.stream.each(false, "flat_pictures", numbers, &args);
                }
                args.extend([Int(padded(channels) as i32), out]);
                self.stream.each(true, "pictures", count * height * width, &args)
            }
        }
    }

    /// Rows, channels, and whether activations have the run's type.
    fn extent(&self, node: NodeId, count: usize) -> (usize, usize, bool) {
        match self.network.nodes()[node].shape {
            Shape::Map { height, width, channels } => {
                (count * height * width, padded(channels), true)
            }
            Shape::Flat { width } => (count, width, false),
        }
    }

    fn forward(&self, count: usize, mode: Mode) -> Result<(), EngineError> {
        let m = &self.memory;
        for (layer, step) in self.steps.iter().enumerate() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let len = Int((rows * channels) as i32);
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let w = m.copy + (self.size() * self.places.of[weight].offset) as u64;
                        let (At(x), At(y)) = (x, y) else { continue };
                        self.convs[&shapes].forward(&self.handle, x, w, y, m.workspace)?;
                    }
                }
                FusedOp::Norm { scale, shift, statistics, relu } => {
                    let vectors = m.norms[&step.output];
                    let part = |n: usize| At(vectors + (4 * n * channels) as u64);
                    let own = At(m.statistics + 4 * statistics as u64);
                    let [g, b] = [scale, shift].map(|p| At(self.parameter(m.weights, p)));
                    if mode == Mode::Train {
                        let (blocks, share, grid, block) = sums(rows, channels);
                        let args = [
                            x,
                            own,
                            Int(rows as i32),
                            Int(channels as i32),
                            Int(share as i32),
                            At(m.partial),
                        ];
                        self.stream.start(typed, "norm_sums", grid, block, &args)?;
                        let args = [
                            At(m.partial),
                            Int(blocks as i32),
                            Int(rows as i32),
                            Int(channels as i32),
                            Float(EPSILON),
                            Float(MOMENTUM),
                            g,
                            b,
                            own,
                            part(0),
                            part(1),
                            part(2),
                            part(3),
                        ];
                        self.stream.each(false, "norm_finish", 32 * channels, &args)?;
                    } else {
                        let args = [
                            own,
                            Int(channels as i32),
                            Float(EPSILON),
                            g,
                            b,
                            part(0),
                            part(1),
                            part(2),
                            part(3),
                        ];
                        self.stream.each(false, "norm_fixed", channels, &args)?;
                    }
                    let residual = At(step.second.map_or(0, |node| m.values[node]));
                    let eights = rows * channels / 8;
                    let args = [
                        x,
                        residual,
                        part(2),
                        part(3),
                        Int(i32::from(relu)),
                        Long(eights as i64),
                        Int(channels as i32),
                        y,
                    ];
                    self.stream.each(typed, "norm_apply", eights, &args)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let args = [x, Int(count as i32), Int(pixels as i32), Int(channels as i32), y];
                    self.stream.each(true, "pool", count * channels, &args)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let [w, b] = [weight, bias].map(|p| At(self.parameter(m.weights, p)));
                    let args =
                        [x, w, b, Int(count as i32), Int(inputs as i32), Int(channels as i32), y];
                    self.stream.each(false, "linear", 32 * count * channels, &args)?;
                }
                FusedOp::Gelu => self.stream.each(false, "gelu", rows * channels, &[x, len, y])?,
                FusedOp::Relu if !typed => {
                    self.stream.each(false, "relu_flat", rows * channels, &[x, len, y])?;
                }
                FusedOp::Dropout { rate } => {
                    let rate = if mode == Mode::Eval { 0.0 } else { rate };
                    self.drop_out(layer, rate, x, rows * channels, false, y)?;
                }
                FusedOp::Relu | FusedOp::Add => return Err(unfused()),
            }
        }
        Ok(())
    }

    fn drop_out(
        &self,
        layer: usize,
        rate: f64,
        x: Arg,
        len: usize,
        add: bool,
        y: Arg,
    ) -> Result<(), EngineError> {
        let threshold = (rate * 65536.0).round() as u32;
        // The seed stands beside the epoch's number.
        let args = [
            x,
            Int(len as i32),
            Half(threshold),
            At(self.memory.epoch + 8),
            Word(DROP),
            At(self.memory.epoch),
            At(self.memory.counter),
            Word(layer as u64),
            Int(i32::from(add)),
            y,
        ];
        self.stream.each(false, "dropout", len, &args)
    }

    fn loss(&self, batch: usize, count: usize, soft: bool, mixed: bool) -> Result<(), EngineError> {
        let m = &self.memory;
        let last = self.network.nodes().len() - 1;
        let (classes, shares) = if soft { (0, m.shares) } else { (m.classes, 0) };
        let (lambda, partner) = if mixed { (m.lambda, m.partner) } else { (0, 0) };
        let args = [
            self.value(last),
            At(classes),
            At(shares),
            At(m.visits),
            At(lambda),
            At(partner),
            At(m.counter),
            Int(batch as i32),
            Int(count as i32),
            Int(self.network.classes() as i32),
            At(self.gradient_of(last)),
            At(m.losses),
        ];
        self.stream.start(false, "cross_entropy", (count.div_ceil(32) as u32, 1), (32, 1), &args)
    }

    fn backward(&self, count: usize, own: bool) -> Result<(), EngineError> {
        let m = &self.memory;
        let mut written = vec![false; self.network.nodes().len()];
        for (layer, step) in self.steps.iter().enumerate().rev() {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let dy = At(self.gradient_of(step.output));
            let dx = self.gradient_of(step.input);
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let add = written[step.input];
            let adding = Int(i32::from(add));
            let len = Int((rows * channels) as i32);
            let wanted = step.input != 0;
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let conv = &self.convs[&shapes];
                        let offset = (self.size() * self.places.of[weight].offset) as u64;
                        let (At(x), At(dy)) = (x, dy) else { continue };
                        if wanted {
                            let w = m.copy + offset;
                            conv.backward(&self.handle, dy, w, dx, add, m.workspace)?;
                        }
                        let dw = m.conv_gradient + offset;
                        conv.weights(&self.handle, x, dy, dw, m.workspace)?;
                    }
                }
                FusedOp::Norm { scale, shift, relu, .. } => {
                    let vectors = m.norms[&step.output];
                    let part = |n: usize| At(vectors + (4 * n * channels) as u64);
                    let (blocks, share, grid, block) = sums(rows, channels);
                    let relu = Int(i32::from(relu));
                    let args = [
                        x,
                        y,
                        dy,
                        part(0),
                        relu,
                        Int(rows as i32),
                        Int(channels as i32),
                        Int(share as i32),
                        At(m.partial),
                    ];
                    self.stream.start(typed, "norm_slopes", grid, block, &args)?;
                    let [dg, db] = [scale, shift].map(|p| At(self.parameter(m.gradient, p)));
                    let args = [
                        At(m.partial),
                        Int(blocks as i32),
                        Int(rows as i32),
                        Int(channels as i32),
                        Int(i32::from(own)),
                        At(self.parameter(m.weights, scale)),
                        part(1),
                        dg,
                        db,
                        part(2),
                        part(3),
                        part(4),
                    ];
                    self.stream.each(false, "norm_back_finish", 32 * channels, &args)?;
                    let (residual, more) = match step.second {
                        Some(node) => (self.gradient_of(node), written[node]),
                        None => (0, false),
                    };
                    let eights = rows * channels / 8;
                    let args = [
                        x,
                        y,
                        dy,
                        part(0),
                        part(2),
                        part(3),
                        part(4),
                        relu,
                        adding,
                        Int(i32::from(more)),
                        Long(eights as i64),
                        Int(channels as i32),
                        At(dx),
                        At(residual),
                    ];
                    self.stream.each(typed, "norm_back", eights, &args)?;
                    if let Some(node) = step.second {
                        written[node] = true;
                    }
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let args = [
                        dy,
                        Int(count as i32),
                        Int(pixels as i32),
                        Int(channels as i32),
                        adding,
                        At(dx),
                    ];
                    self.stream.each(true, "pool_back", count * pixels * channels, &args)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let (n, i, o) = (Int(count as i32), Int(inputs as i32), Int(channels as i32));
                    let w = At(self.parameter(m.weights, weight));
                    let [dw, db] = [weight, bias].map(|p| At(self.parameter(m.gradient, p)));
                    if wanted {
                        let args = [dy, w, n, i, o, adding, At(dx)];
                        self.stream.each(false, "linear_back", count * inputs, &args)?;
                    }
                    let args = [x, dy, n, i, o, dw];
                    self.stream.each(false, "linear_back_weights", inputs * channels, &args)?;
                    self.stream.each(false, "linear_back_bias", channels, &[dy, n, o, db])?;
                }
                FusedOp::Gelu => {
                    let args = [x, dy, len, adding, At(dx)];
                    self.stream.each(false, "gelu_back", rows * channels, &args)?;
                }
                FusedOp::Relu if !typed => {
                    let args = [y, dy, len, adding, At(dx)];
                    self.stream.each(false, "relu_flat_back", rows * channels, &args)?;
                }
                FusedOp::Dropout { rate } => {
                    self.drop_out(layer, rate, dy, rows * channels, add, At(dx))?;
                }
                FusedOp::Relu | FusedOp::Add => return Err(unfused()),
            }
            written[step.input] = true;
        }
        Ok(())
    }

    fn update(&self) -> Result<(), EngineError> {
        let m = &self.memory;
        let (convs, rest) = (self.places.convs, self.places.len - self.places.convs);
        let after = |base: Pointer| At(base + 4 * convs as u64);
        let by = At(m.by);
        match (self.settings.optimizer, &m.slots[..]) {
            (Optimizer::Sgd { nesterov, .. }, slots) => {
                // Without momentum the slot is a vector that is overwritten.
                let v = slots.first().copied().unwrap_or(m.spare[0]);
                let ahead = Int(i32::from(nesterov));
                let args = [
                    by,
                    ahead,
                    At(m.conv_gradient),
                    At(v),
                    At(m.weights),
                    At(m.copy),
                    Int(convs as i32),
                ];
                if convs > 0 {
                    self.stream.each(true, "sgd_conv", convs, &args)?;
                }
                let args =
                    [by, ahead, after(m.gradient), after(v), after(m.weights), Int(rest as i32)];
                self.stream.each(false, "sgd", rest, &args)
            }
            (Optimizer::Adam { beta1, beta2, epsilon, weight_decay }, &[mean, square]) => {
                let [b1, b2, e, d] = [beta1, beta2, epsilon, weight_decay].map(|x| Float(x as f32));
                let args = [At(m.steps), At(m.rate), b1, b2, e, d, by];
                self.stream.start(false, "adam_factors", (1, 1), (1, 1), &args)?;
                let args = [
                    by,
                    At(m.conv_gradient),
                    At(mean),
                    At(square),
                    At(m.weights),
                    At(m.copy),
                    Int(convs as i32),
                ];
                if convs > 0 {
                    self.stream.each(true, "adam_conv", convs, &args)?;
                }
                let args = [
                    by,
                    after(m.gradient),
                    after(mean),
                    after(square),
                    after(m.weights),
                    Int(rest as i32),
                ];
                self.stream.each(false, "adam", rest, &args)
            }
            (Optimizer::Adam { .. }, _) => Err(EngineError::Device("Adam without slots".into())),
        }
    }

    /// Everything of one batch.
    fn body(&self, work: Work, count: usize) -> Result<(), EngineError> {
        let m = &self.memory;
        self.examples(work, count)?;
        match work {
            Work::Train { batch, own, mixed, soft, .. } => {
                self.forward(count, if own { Mode::Train } else { Mode::Frozen })?;
                self.loss(batch, count, soft, mixed)?;
                self.backward(count, own)?;
                self.update()?;
            }
            Work::Logits | Work::Features => {
                self.forward(count, Mode::Eval)?;
                let node = match work {
                    Work::Features => self.network.features(),
                    _ => self.network.nodes().len() - 1,
                };
                let width = self.network.nodes()[node].shape.len();
                let args = [
                    self.value(node),
                    At(m.counter),
                    Int(self.settings.batch as i32),
                    Int(count as i32),
                    Int(width as i32),
                    At(m.collected),
                ];
                self.stream.each(false, "collect", count * width, &args)?;
            }
        }
        self.stream.start(false, "advance", (1, 1), (1, 1), &[At(m.counter)])
    }

    /// What training changes, and a copy of it that a trial run may be undone with.
    fn changed(&self) -> Vec<(Pointer, Pointer, usize)> {
        let m = &self.memory;
        let (w, s) = (4 * self.places.len, 4 * self.network.statistic_count());
        let mut all = vec![(m.weights, m.spare[1], w), (m.statistics, m.spare[2], s)];
        all.extend(m.slots.iter().zip(&m.spare[4..]).map(|(&slot, &to)| (slot, to, w)));
        all.push((m.steps, m.spare[3], 8));
        all
    }

    /// The graph of a batch, captured when it is first needed. Libraries may load what they need
    /// when they are first called, which a capture does not allow; so the first time the batch is
    /// run for nothing, and undone.
    fn captured(&mut self, work: Work, count: usize) -> Result<(), EngineError> {
        if self.graphs.contains_key(&(work, count)) {
            return Ok(());
        }
        self.prepare(count)?;
        self.stream.write(self.memory.counter, &[0i32])?;
        for (from, to, bytes) in self.changed() {
            self.stream.copy(from, to, bytes)?;
        }
        self.body(work, count)?;
        for (to, from, bytes) in self.changed() {
            self.stream.copy(from, to, bytes)?;
        }
        let convs = self.places.convs;
        let args = [At(self.memory.weights), At(self.memory.copy), Int(convs as i32)];
        self.stream.each(true, "copy_down", convs, &args)?;
        self.stream.write(self.memory.counter, &[0i32])?;
        let stream = self.stream.stream.clone();
        stream.synchronize().map_err(driver)?;
        stream
            .begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
            .map_err(driver)?;
        let result = self.body(work, count);
        let graph = stream.end_capture(CUgraphInstantiate_flags(0)).map_err(driver)?;
        result?;
        let graph = graph.ok_or_else(|| EngineError::Device("CUDA captured no step".to_owned()))?;
        self.graphs.insert((work, count), graph);
        Ok(())
    }

    /// Runs batch after batch over `visits` rows that are on the device.
    fn over(&mut self, work: Work, visits: usize) -> Result<(), EngineError> {
        let batch = self.batch(work);
        let counts = [batch.min(visits), visits % batch];
        for count in counts.into_iter().filter(|&count| count > 0) {
            self.captured(work, count)?;
        }
        self.stream.write(self.memory.counter, &[0i32])?;
        for first in (0..visits).step_by(batch) {
            let count = batch.min(visits - first);
            self.graphs[&(work, count)].launch().map_err(driver)?;
        }
        Ok(())
    }

    fn collect(&mut self, work: Work, rows: &[u32], width: usize) -> Result<Vec<f32>, EngineError> {
        if let Some(row) = rows.iter().find(|&&row| row as usize >= self.rows) {
            return Err(EngineError::Data(format!("row {row} of {} examples", self.rows)));
        }
        let mut all = Vec::with_capacity(rows.len() * width);
        for rows in rows.chunks(self.rows.max(1)) {
            self.stream.write(self.memory.visits, rows)?;
            self.over(work, rows.len())?;
            all.extend(self.stream.read::<f32>(self.memory.collected, rows.len() * width)?);
        }
        Ok(all)
    }
}

fn unfused() -> EngineError {
    let text = "a ReLU or a sum of maps without a batch norm before it is not on CUDA yet";
    EngineError::Device(text.into())
}

fn act_size(precision: Precision) -> usize {
    if precision == Precision::Bf16 { 2 } else { 4 }
}

/// How the sums of a norm are cut: blocks, rows of a block, grid and block sizes.
fn sums(rows: usize, channels: usize) -> (usize, usize, (u32, u32), (u32, u32)) {
    let groups = (channels / 8).clamp(1, 32).next_power_of_two();
    let lines = 256 / groups;
    let share = rows.div_ceil(BLOCKS).next_multiple_of(lines);
    let blocks = rows.div_ceil(share);
    let columns = channels.div_ceil(groups * 8);
    (blocks, share, (blocks as u32, columns as u32), (groups as u32, lines as u32))
}

fn conv_shapes(network: &Network, step: &Fused, count: usize) -> Option<Shapes> {
    let FusedOp::Conv { kernel, stride, .. } = step.op else { return None };
    let Shape::Map { height, width, channels } = network.nodes()[step.input].shape else {
        return None;
    };
    let outputs = padded(network.nodes()[step.output].shape.channels());
    let inputs = padded(channels);
    Some(Shapes { count, height, width, inputs, outputs, kernel, stride })
}

impl Memory {
    fn new(
        stream: &mut Stream,
        network: &Network,
        data: &Dataset,
        settings: &Settings,
        steps: &[Fused],
        slots: &Slots,
        places: &Places,
    ) -> Result<Self, EngineError> {
        let (batch, rows, classes) = (settings.batch, data.len(), network.classes());
        let act = act_size(settings.precision);
        let bytes = |shape: Shape| match shape {
            Shape::Map { height, width, channels } => act * height * width * padded(channels),
            Shape::Flat { width } => 4 * width,
        };
        let mut values = vec![0; network.nodes().len()];
        for node in std::iter::once(0).chain(steps.iter().map(|step| step.output)) {
            values[node] = stream.zeros(batch * bytes(network.nodes()[node].shape))?;
        }
        let mut gradients = Vec::new();
        for &shape in &slots.shapes {
            gradients.push(stream.zeros(batch * bytes(shape))?);
        }
        let mut norms = HashMap::new();
        let mut widest = 8;
        for step in steps {
            if let FusedOp::Norm { .. } = step.op {
                let channels = padded(network.nodes()[step.output].shape.channels());
                norms.insert(step.output, stream.zeros(5 * 4 * channels)?);
                widest = widest.max(channels);
            }
        }
        let (pixels, table) = match data {
            Dataset::Pictures { pixels, mean, deviation, .. } => {
                let normal = |byte: i32, mean: f32, deviation: f32| {
                    ((f64::from(byte) / 255.0 - f64::from(mean)) / f64::from(deviation)) as f32
                };
                let pairs = mean.iter().zip(deviation);
                let table: Vec<f32> = pairs
                    .flat_map(|(&m, &d)| (0..256).map(move |byte| normal(byte, m, d)))
                    .collect();
                (stream.upload(pixels)?, stream.upload(&table)?)
            }
            Dataset::Vectors { values, .. } => (stream.upload(values)?, 0),
        };
        let w = 4 * places.len;
        let mut vectors = |count: usize| -> Result<Vec<Pointer>, EngineError> {
            (0..count).map(|_| stream.zeros(w)).collect()
        };
        let own = vectors(settings.optimizer.slots().len())?;
        let mut spare = vectors(2)?;
        spare.push(stream.zeros(4 * network.statistic_count())?);
        spare.push(stream.zeros(8)?);
        for _ in settings.optimizer.slots() {
            spare.push(stream.zeros(w)?);
        }
        let features = network.nodes()[network.features()].shape.len();
        let weights = stream.zeros(w)?;
        let conv_gradient = stream.zeros(act * places.convs)?;
        Ok(Self {
            values,
            gradients,
            // In f32 the convolutions read the weights themselves.
            copy: stream.zeros(act * places.convs)?,
            weights,
            conv_gradient,
            gradient: stream.zeros(w)?,
            slots: own,
            statistics: stream.zeros(4 * network.statistic_count())?,
            kept: [stream.zeros(w)?, stream.zeros(4 * network.statistic_count())?],
            spare,
            norms,
            partial: stream.zeros(BLOCKS * 2 * 4 * widest)?,
            workspace: 0,
            workspace_bytes: 0,
            pixels,
            table,
            visits: stream.zeros(4 * rows)?,
            shifts: stream.zeros(4 * rows)?,
            classes: stream.zeros(2 * rows)?,
            shares: stream.zeros(4 * rows * classes)?,
            lambda: stream.zeros(4 * rows)?,
            partner: stream.zeros(4 * rows)?,
            losses: stream.zeros(4 * rows)?,
            collected: stream.zeros(4 * rows * classes.max(features))?,
            counter: stream.zeros(4)?,
            epoch: stream.zeros(16)?,
            by: stream.zeros(32)?,
            rate: stream.zeros(4)?,
            steps: stream.zeros(8)?,
        })
    }
}

impl Runner for CudaRunner {
    fn train(&mut self, epoch: &Epoch<'_>) -> Result<f64, EngineError> {
        let refuse = |text: String| Err(EngineError::Data(text));
        if epoch.batch == 0 || epoch.batch > self.settings.batch {
            return refuse(format!(
                "a batch of {}, in a runner for {}",
                epoch.batch, self.settings.batch
            ));
        }
        if epoch.visits.iter().any(|&row| row as usize >= self.rows) {
            return refuse(format!("a row beyond {} examples", self.rows));
        }
        let m = &self.memory;
        self.stream.write(m.visits, epoch.visits)?;
        if let Some(shifts) = epoch.shifts {
            let word = |s: &Shift| [s.down as u8, s.right as u8, u8::from(s.flip), 0];
            self.stream.write(m.shifts, &shifts.iter().map(word).collect::<Vec<_>>())?;
        }
        let soft = match epoch.targets {
            Targets::Classes(classes) => {
                self.stream.write(m.classes, classes)?;
                false
            }
            Targets::Distributions(shares) => {
                self.stream.write(m.shares, shares)?;
                true
            }
        };
        if let Some(mixture) = epoch.mixture {
            let lambda: Vec<f32> = mixture.lambda.iter().map(|&l| l as f32).collect();
            self.stream.write(m.lambda, &lambda)?;
            self.stream.write(m.partner, mixture.partner)?;
        }
        if let Optimizer::Sgd { momentum, weight_decay, .. } = self.settings.optimizer {
            let by = [epoch.rate, momentum, weight_decay].map(|x| x as f32);
            self.stream.write(m.by, &by)?;
        }
        self.stream.write(m.rate, &[epoch.rate as f32])?;
        self.stream.write(m.epoch, &[epoch.number, epoch.seed])?;
        let work = Work::Train {
            batch: epoch.batch,
            own: epoch.mode == Mode::Train,
            shifted: epoch.shifts.is_some(),
            mixed: epoch.mixture.is_some(),
            soft,
        };
        self.over(work, epoch.visits.len())?;
        self.step_count += epoch.visits.len().div_ceil(epoch.batch) as u64;
        let losses = self.stream.read::<f32>(self.memory.losses, epoch.visits.len())?;
        let total: f64 = losses.iter().map(|&loss| f64::from(loss)).sum();
        Ok(total / losses.len().max(1) as f64)
    }

    fn logits(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        self.collect(Work::Logits, rows, self.network.classes())
    }

    fn features(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        let width = self.network.nodes()[self.network.features()].shape.len();
        self.collect(Work::Features, rows, width)
    }

    fn gradient(
        &mut self,
        _rows: &[u32],
        _targets: Targets<'_>,
    ) -> Result<(f64, Vec<f32>), EngineError> {
        Err(EngineError::Device("gradients over a split are not on CUDA yet; use the CPU".into()))
    }

    fn hessian_product(
        &mut self,
        _rows: &[u32],
        _targets: Targets<'_>,
        _direction: &[f32],
    ) -> Result<Vec<f32>, EngineError> {
        Err(EngineError::Device("Hessian products are not on CUDA yet; use the CPU".into()))
    }

    fn state(&self) -> Result<State<f32>, EngineError> {
        let host = |from: Pointer| -> Result<Vec<f32>, EngineError> {
            Ok(self.places.to_host(&self.stream.read::<f32>(from, self.places.len)?))
        };
        let m = &self.memory;
        Ok(State {
            parameters: host(m.weights)?,
            statistics: self.stream.read(m.statistics, self.network.statistic_count())?,
            slots: m.slots.iter().map(|&slot| host(slot)).collect::<Result<_, _>>()?,
            steps: self.step_count,
        })
    }

    fn restore(&mut self, state: State<f32>) -> Result<(), EngineError> {
        state.check(&self.network, &self.settings.optimizer)?;
        self.put(&state)
    }

    fn keep(&mut self) -> Result<(), EngineError> {
        let m = &self.memory;
        self.stream.copy(m.weights, m.kept[0], 4 * self.places.len)?;
        self.stream.copy(m.statistics, m.kept[1], 4 * self.network.statistic_count())?;
        self.kept = true;
        Ok(())
    }

    fn kept(&self) -> Result<Option<Weights>, EngineError> {
        if !self.kept {
            return Ok(None);
        }
        let parameters = self.stream.read::<f32>(self.memory.kept[0], self.places.len)?;
        let statistics = self.stream.read(self.memory.kept[1], self.network.statistic_count())?;
        Ok(Some(Weights { parameters: self.places.to_host(&parameters), statistics }))
    }

    fn bytes(&self) -> usize {
        self.stream.bytes()
    }
}
