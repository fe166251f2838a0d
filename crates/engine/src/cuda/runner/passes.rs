//! The passes of a batch but backward: examples, forward, loss, update.

use super::super::cudnn::{Pass, Shapes};
use super::super::hopper::{After, On, Way};
use super::super::kernels::{self, Kernel as _, LossKernel};
use super::super::launch::{Begin, Pointer};
use super::super::layout::padded;
use super::super::norm_work::sums;
use super::{CudaRunner, EPSILON, Reach, Work, act_size};
use crate::device::{Dataset, Mode};
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp};
use crate::losses::Loss;
use crate::network::{Network, NodeId, Shape};
use crate::optimizer::Optimizer;
use crate::random::DROP;
use cudarc::driver::CudaStream;

/// The most channels and classes of kernels/flat.cu's `head_and_loss`.
const HEAD: (usize, usize) = (2048, 64);

/// Whether the values of a forward pass are read by what goes back, or by later steps alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Kept,
    Passed,
}

/// What the loss of a batch compares with; 0 for what is not used.
struct LossTargets {
    classes: Pointer,
    shares: Pointer,
    lambda: Pointer,
    partner: Pointer,
}

impl CudaRunner {
    /// Bytes of an activation.
    pub(super) fn size(&self) -> usize {
        act_size(self.settings.precision)
    }

    pub(super) fn value(&self, node: NodeId) -> Pointer {
        self.memory.buffers.values[node]
    }

    pub(super) fn gradient_of(&self, node: NodeId) -> Pointer {
        self.memory.buffers.gradients[node]
    }

    pub(super) fn parameter(&self, base: Pointer, parameter: usize) -> Pointer {
        base + 4 * self.places.of[parameter].offset as u64
    }

    /// Fills the examples of the batch that the counter names.
    pub(super) fn examples(&self, work: Work, count: usize) -> Result<(), EngineError> {
        let m = &self.memory;
        let (shifted, mixed) = match work {
            Work::Train { shifted, mixed, .. } => (shifted, mixed),
            _ => (false, false),
        };
        let batch = self.batch(work);
        let shifts = if shifted { m.shifts.at() } else { 0 };
        let (lambda, partner) = if mixed { (m.lambda.at(), m.partner.at()) } else { (0, 0) };
        let out = self.value(0);
        match (&self.data, self.network.input()) {
            (Dataset::Vectors { width, .. }, _) => {
                let kernel = kernels::GatherVectors {
                    data: m.pixels,
                    visits: m.visits.at(),
                    lambda,
                    partner,
                    step: m.counter.at(),
                    batch,
                    count,
                    size: *width,
                    out,
                };
                kernel.launch(&self.stream, false)
            }
            (&Dataset::Images { height, width, channels, .. }, Shape::Flat { .. }) => {
                let kernel = kernels::GatherFlatImages {
                    data: m.pixels,
                    table: m.table,
                    visits: m.visits.at(),
                    shifts,
                    lambda,
                    partner,
                    step: m.counter.at(),
                    batch,
                    count,
                    height,
                    width,
                    channels,
                    out,
                };
                kernel.launch(&self.stream, false)
            }
            (&Dataset::Images { height, width, channels, .. }, Shape::Map { .. }) => {
                let kernel = kernels::GatherImages {
                    data: m.pixels,
                    table: m.table,
                    visits: m.visits.at(),
                    shifts,
                    lambda,
                    partner,
                    step: m.counter.at(),
                    batch,
                    count,
                    height,
                    width,
                    channels,
                    padded: padded(channels),
                    out,
                };
                kernel.launch(&self.stream, true)
            }
        }
    }

    /// Rows, channels, and whether activations have the run's type.
    pub(super) fn extent(&self, node: NodeId, count: usize) -> (usize, usize, bool) {
        match self.network.nodes()[node].shape {
            Shape::Map { height, width, channels } => {
                (count * height * width, padded(channels), true)
            }
            Shape::Flat { width } => (count, width, false),
        }
    }

    /// Where the network ends in pooling and a linear layer that one kernel does with the cross-entropy: the
    /// number of steps before them.
    pub(super) fn fused_head(&self) -> Option<usize> {
        let (first, [.., pool, linear]) = (self.steps.len().checked_sub(2)?, &self.steps[..])
        else {
            return None;
        };
        let (_, channels, _) = self.extent(pool.input, 1);
        let fits = self.network.head().loss == Loss::CrossEntropy
            && pool.op == FusedOp::Pool
            && matches!(linear.op, FusedOp::Linear { .. })
            && linear.input == pool.output
            && pool.input != 0
            && channels <= HEAD.0
            && self.network.classes() <= HEAD.1
            // Nothing else reads the map or what is pooled from it.
            && self.steps[..first].iter().all(|step| {
                step.input != pool.input && step.second != Some(pool.input)
            });
        fits.then_some(first)
    }

    /// The vectors of all norms from their running statistics.
    pub(super) fn running_norms(&self) -> Result<(), EngineError> {
        let m = &self.memory;
        for step in &self.steps {
            let FusedOp::Norm { scale, shift, statistics, .. } = step.op else { continue };
            let (_, channels, _) = self.extent(step.output, 1);
            let statistics = m.statistics.at() + 4 * statistics as u64;
            let parameters = [scale, shift].map(|p| self.parameter(m.weights.at(), p));
            self.norm_from_running(statistics, channels, parameters, m.norms[&step.output])?;
        }
        Ok(())
    }

    /// The first `steps` steps forward; in [`Mode::Eval`] after [`running_norms`](Self::running_norms).
    pub(super) fn forward(
        &self,
        steps: usize,
        count: usize,
        mode: Mode,
    ) -> Result<(), EngineError> {
        self.pass_forward(steps, count, mode, Values::Kept)
    }

    /// All steps forward after [`running_norms`](Self::running_norms), where nothing goes back: convolutions of ours
    /// apply the norms behind them, and their own results are nowhere.
    pub(super) fn evaluate(&self, count: usize) -> Result<(), EngineError> {
        self.pass_forward(self.steps.len(), count, Mode::Eval, Values::Passed)
    }

    fn pass_forward(
        &self,
        steps: usize,
        count: usize,
        mode: Mode,
        values: Values,
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        for (layer, step) in self.steps.iter().enumerate().take(steps) {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let len = rows * channels;
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    let norm = self.norm_applied(layer, count, values);
                    let after = || match norm {
                        Some(norm) => self.norm_after(norm),
                        None => self.statistics_after(step, mode == Mode::Train),
                    };
                    if let Some(pair) = self.pair(layer, count) {
                        self.pair_forward(&pair, count, mode, values, norm)?;
                    } else if self.in_pair(layer, count) {
                        // Done with the other.
                    } else if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let w = m.copy.at() + (self.size() * self.places.of[weight].offset) as u64;
                        if let Some((hopper, size)) = self.ours(&shapes) {
                            let way = if norm.is_some() { Way::Evaluate } else { Way::Forward };
                            let on = On { stream: &self.stream.stream, early: true };
                            hopper.convolve(on, (size, way), count, [x, w], &after())?;
                            continue;
                        }
                        if let Some(hopper) = self.stem(&shapes) {
                            let on = On { stream: &self.stream.stream, early: true };
                            hopper.stem_forward(on, norm.is_some(), count, [x, w], &after())?;
                            continue;
                        }
                        let subsampled = m.buffers.subsampled.get(&step.output);
                        let (shapes, x) = match (subsampled_shapes(shapes), subsampled) {
                            (Some(smaller), Some(&to)) => {
                                self.subsample(shapes, x, to)?;
                                (smaller, to)
                            }
                            _ => (shapes, x),
                        };
                        self.convolve(Pass::Forward, false, shapes, &[[x, y, w]], false)?;
                    }
                }
                FusedOp::Norm { scale, shift, statistics, relu } => {
                    let conv = self.steps.iter().position(|conv| conv.output == step.input);
                    if conv.is_some_and(|conv| self.norm_applied(conv, count, values).is_some()) {
                        continue;
                    }
                    let vectors = m.norms[&step.output];
                    let statistics = m.statistics.at() + 4 * statistics as u64;
                    let [scale, shift] = [scale, shift].map(|p| self.parameter(m.weights.at(), p));
                    // The convolution is all that is new to it.
                    let fresh = mode != Mode::Frozen && self.statistics_made(step, count);
                    if mode == Mode::Train && !fresh {
                        let kernel = kernels::NormStatistics {
                            x,
                            rows,
                            channels,
                            share: sums(rows, channels).share,
                            epsilon: EPSILON,
                            momentum: self.momentum,
                            scale,
                            shift,
                            statistics,
                            vectors,
                            partial: m.partial,
                            arrived: m.arrived,
                        };
                        kernel.launch(&self.stream, typed)?;
                    }
                    if mode == Mode::Frozen {
                        self.norm_from_running(statistics, channels, [scale, shift], vectors)?;
                    }
                    let kernel = kernels::NormApply {
                        x,
                        residual: step.second.map_or(0, |node| m.buffers.values[node]),
                        vectors,
                        relu,
                        fresh,
                        rows,
                        channels,
                        y,
                        mask: if mode == Mode::Eval { 0 } else { self.mask(step) },
                    };
                    // After the sums it begins early: nothing but their results is new to it.
                    let early = fresh || mode == Mode::Train;
                    let begin = if early { Begin::Early } else { Begin::After };
                    self.stream.launch(&kernel, typed, begin)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    kernels::Pool { x, count, pixels, channels, y }.launch(&self.stream, true)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let [w, bias] = [weight, bias].map(|p| self.parameter(m.weights.at(), p));
                    let (outputs, add) = (channels, false);
                    kernels::Linear { x, w, bias, count, inputs, outputs, add, y }
                        .launch(&self.stream, false)?;
                }
                FusedOp::Gelu => {
                    kernels::Gelu { x, len, y }.launch(&self.stream, false)?;
                }
                FusedOp::Relu => {
                    kernels::Relu { x, len, y }.launch(&self.stream, typed)?;
                }
                FusedOp::Add => {
                    let b = step.second.map_or(0, |node| m.buffers.values[node]);
                    let kernel = kernels::Add { a: x, b, len, y };
                    kernel.launch(&self.stream, typed)?;
                }
                FusedOp::Dropout { rate } => {
                    let rate = if mode == Mode::Eval { 0.0 } else { rate };
                    self.drop_out(layer, rate, x, len, false, y)?;
                }
            }
        }
        Ok(())
    }

    /// What is done with the result of a convolution by kernels of ours: it is stored, and when
    /// training, the statistics of the norm that reads it are made.
    pub(super) fn statistics_after(&self, conv: &Fused, train: bool) -> After {
        let m = &self.memory;
        let plain = After { out: self.value(conv.output), ..After::default() };
        let norm = self.steps.iter().find(|step| step.input == conv.output);
        match norm.map(|norm| (norm.op, norm.output)) {
            Some((FusedOp::Norm { scale, shift, statistics, .. }, output)) if train => After {
                vectors: m.norms[&output],
                scale: self.parameter(m.weights.at(), scale),
                shift: self.parameter(m.weights.at(), shift),
                statistics: m.statistics.at() + 4 * statistics as u64,
                partial: m.partial,
                arrived: m.arrived,
                epsilon: EPSILON,
                momentum: self.momentum,
                ..plain
            },
            _ => plain,
        }
    }

    /// The norm that the kernel of a convolution applies: it alone reads its result, nothing goes back, and what it
    /// adds is there by then.
    fn norm_applied(&self, conv: usize, count: usize, values: Values) -> Option<&Fused> {
        if values == Values::Kept {
            return None;
        }
        let step = &self.steps[conv];
        let shapes = conv_shapes(&self.network, step, count)?;
        let mut readers = self.steps.iter().filter(|s| s.inputs().any(|node| node == step.output));
        let norm = readers.next().filter(|norm| norm.input == step.output)?;
        let is_norm = matches!(norm.op, FusedOp::Norm { .. }) && readers.next().is_none();
        let by_kernel = match norm.second {
            Some(node) => {
                let there = self.steps[..conv].iter().any(|step| step.output == node);
                there && self.ours(&shapes).is_some()
            }
            None => self.convolves(conv, count) || self.stem(&shapes).is_some(),
        };
        (is_norm && by_kernel).then_some(norm)
    }

    /// What is done with the result of a convolution whose kernel applies this norm.
    pub(super) fn norm_after(&self, norm: &Fused) -> After {
        After {
            out: self.value(norm.output),
            x: norm.second.map_or(0, |node| self.value(node)),
            vectors: self.memory.norms[&norm.output],
            add: i32::from(norm.second.is_some()),
            own: i32::from(matches!(norm.op, FusedOp::Norm { relu: true, .. })),
            ..After::default()
        }
    }

    /// Where it is written where the output of this norm is positive; 0 for nowhere.
    pub(super) fn mask(&self, norm: &Fused) -> Pointer {
        self.memory.masks.get(&norm.output).copied().unwrap_or(0)
    }

    /// Whether a convolution of ours comes right before this norm, and makes its statistics in training.
    fn statistics_made(&self, norm: &Fused, count: usize) -> bool {
        let Some(conv) = self.steps.iter().position(|step| step.output == norm.input) else {
            return false;
        };
        let first = self.steps.iter().find(|step| step.input == norm.input);
        let shapes = conv_shapes(&self.network, &self.steps[conv], count);
        let stem = shapes.is_some_and(|shapes| self.stem(&shapes).is_some());
        first == Some(norm) && (stem || self.convolves(conv, count) || self.in_pair(conv, count))
    }

    pub(super) fn drop_out(
        &self,
        layer: usize,
        rate: f64,
        x: Pointer,
        len: usize,
        add: bool,
        y: Pointer,
    ) -> Result<(), EngineError> {
        let kernel = kernels::Dropout {
            x,
            len,
            threshold: (rate * 65536.0).round() as u32,
            // The seed stands beside the epoch's number.
            seed: self.memory.epoch.at() + 8,
            stream: DROP,
            epoch: self.memory.epoch.at(),
            step: self.memory.counter.at(),
            layer: layer as u64,
            add,
            y,
        };
        kernel.launch(&self.stream, false)
    }

    /// The vectors of a norm from its running statistics; `scale` and `shift` are its parameters.
    pub(super) fn norm_from_running(
        &self,
        statistics: Pointer,
        channels: usize,
        [scale, shift]: [Pointer; 2],
        vectors: Pointer,
    ) -> Result<(), EngineError> {
        let kernel = kernels::NormFromRunning {
            statistics,
            channels,
            epsilon: EPSILON,
            scale,
            shift,
            vectors,
        };
        kernel.launch(&self.stream, false)
    }

    /// The targets of the loss: classes or distributions, and what they are mixed by.
    fn loss_targets(&self, soft: bool, mixed: bool) -> LossTargets {
        let m = &self.memory;
        let (classes, shares) = if soft { (0, m.shares.at()) } else { (m.classes.at(), 0) };
        let (lambda, partner) = if mixed { (m.lambda.at(), m.partner.at()) } else { (0, 0) };
        LossTargets { classes, shares, lambda, partner }
    }

    /// The loss and its gradient at the logits, over the batch, or over as many examples as `over`
    /// on the device says.
    pub(super) fn loss(&self, work: Work, count: usize, over: bool) -> Result<(), EngineError> {
        let m = &self.memory;
        let last = self.network.nodes().len() - 1;
        let (soft, mixed) = work.targets();
        let targets = self.loss_targets(soft, mixed);
        let kernel = kernels::LossGradient {
            kernel: match self.network.head().loss {
                Loss::CrossEntropy => LossKernel::CrossEntropy,
                Loss::BinaryCrossEntropy => LossKernel::BinaryCrossEntropy,
                Loss::Rps => LossKernel::Rps,
            },
            z: self.value(last),
            classes: targets.classes,
            shares: targets.shares,
            visits: m.visits.at(),
            lambda: targets.lambda,
            partner: targets.partner,
            step: m.counter.at(),
            batch: self.batch(work),
            count,
            over: if over { m.over.at() } else { 0 },
            width: self.network.classes(),
            dz: self.gradient_of(last),
            losses: m.losses.at(),
        };
        kernel.launch(&self.stream, false)
    }

    /// The last two steps, the loss, and back to the gradient of the map before them.
    pub(super) fn head_and_loss(
        &self,
        first: usize,
        work: Work,
        count: usize,
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        let (pool, linear) = (&self.steps[first], &self.steps[first + 1]);
        let FusedOp::Linear { weight, bias } = linear.op else { return Ok(()) };
        let (pixels, channels, _) = self.extent(pool.input, 1);
        let classes = self.network.classes();
        let (soft, mixed) = work.targets();
        let targets = self.loss_targets(soft, mixed);
        let (features, dz) = (self.value(pool.output), self.gradient_of(linear.output));
        let kernel = kernels::HeadAndLoss {
            x: self.value(pool.input),
            w: self.parameter(m.weights.at(), weight),
            bias: self.parameter(m.weights.at(), bias),
            classes: targets.classes,
            shares: targets.shares,
            visits: m.visits.at(),
            lambda: targets.lambda,
            partner: targets.partner,
            step: m.counter.at(),
            batch: self.batch(work),
            count,
            pixels,
            channels,
            width: classes,
            pooled: features,
            dz,
            losses: m.losses.at(),
            dx: self.gradient_of(pool.input),
        };
        kernel.launch(&self.stream, true)?;
        let [dw, db] = [weight, bias].map(|p| self.parameter(m.gradient, p));
        let (x, dy, inputs, outputs, add) = (features, dz, channels, classes, false);
        kernels::LinearBackWeights { x, dy, count, inputs, outputs, add, dw, db }
            .launch(&self.stream, false)
    }

    /// Moves the weights of a convolution, from so many numbers on, on a stream, by SGD.
    pub(super) fn update_conv(
        &self,
        stream: &CudaStream,
        offset: usize,
        len: usize,
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        let Optimizer::Sgd { nesterov, .. } = self.settings.optimizer else { return Ok(()) };
        // Without momentum the slot is a vector that is overwritten.
        let v = m.slots.first().unwrap_or(&m.spare[0]).at();
        let (wide, act) = (4 * offset as u64, (self.size() * offset) as u64);
        let kernel = kernels::SgdConv {
            by: m.by.at(),
            nesterov,
            g: m.conv_gradient + act,
            v: v + wide,
            w: m.weights.at() + wide,
            copy: m.copy.at() + act,
            len,
        };
        self.stream.launch_on(stream, &kernel, true, Begin::After)
    }

    /// Whether the backward pass moves the weights of convolutions, too.
    pub(super) fn updates_beside(&self, reach: Reach) -> bool {
        reach == Reach::Beside && matches!(self.settings.optimizer, Optimizer::Sgd { .. })
    }

    /// Moves the weights, those of convolutions unless that is done.
    pub(super) fn update(&self, convs_done: bool) -> Result<(), EngineError> {
        let m = &self.memory;
        let (convs, rest) = (self.places.convs, self.places.len - self.places.convs);
        // The convolutions' weights come first.
        let after = |base: Pointer| base + 4 * convs as u64;
        match (self.settings.optimizer, &m.slots[..]) {
            (Optimizer::Sgd { nesterov, .. }, slots) => {
                // Without momentum the slot is a vector that is overwritten.
                let v = slots.first().unwrap_or(&m.spare[0]).at();
                if convs > 0 && !convs_done {
                    self.update_conv(&self.stream.stream, 0, convs)?;
                }
                let kernel = kernels::Sgd {
                    by: m.by.at(),
                    nesterov,
                    g: after(m.gradient),
                    v: after(v),
                    w: after(m.weights.at()),
                    len: rest,
                };
                kernel.launch(&self.stream, false)
            }
            (Optimizer::Adam { beta1, beta2, epsilon, weight_decay }, &[mean, square]) => {
                let kernel = kernels::AdamFactors {
                    steps: m.steps.at(),
                    rate: m.rate.at(),
                    beta1: beta1 as f32,
                    beta2: beta2 as f32,
                    epsilon: epsilon as f32,
                    decay: weight_decay as f32,
                    by: m.by.at(),
                };
                kernel.launch(&self.stream, false)?;
                if convs > 0 {
                    let kernel = kernels::AdamConv {
                        by: m.by.at(),
                        g: m.conv_gradient,
                        m: mean.at(),
                        v: square.at(),
                        w: m.weights.at(),
                        copy: m.copy.at(),
                        len: convs,
                    };
                    kernel.launch(&self.stream, true)?;
                }
                let kernel = kernels::Adam {
                    by: m.by.at(),
                    g: after(m.gradient),
                    m: after(mean.at()),
                    v: after(square.at()),
                    w: after(m.weights.at()),
                    len: rest,
                };
                kernel.launch(&self.stream, false)
            }
            (Optimizer::Adam { .. }, _) => Err(EngineError::Device("Adam without slots".into())),
        }
    }
}

/// A convolution of one pixel that steps over some, as one of the pixels that are left: a plain
/// matrix product, which cuDNN does several times faster.
pub(super) fn subsampled_shapes(shapes: Shapes) -> Option<Shapes> {
    let Shapes { height, width, kernel, stride, .. } = shapes;
    let (height, width) = (height.div_ceil(stride), width.div_ceil(stride));
    (kernel == 1 && stride > 1).then_some(Shapes { height, width, stride: 1, ..shapes })
}

pub(super) fn conv_shapes(network: &Network, step: &Fused, count: usize) -> Option<Shapes> {
    let FusedOp::Conv { kernel, stride, .. } = step.op else { return None };
    let Shape::Map { height, width, channels } = network.nodes()[step.input].shape else {
        return None;
    };
    let outputs = padded(network.nodes()[step.output].shape.channels());
    let inputs = padded(channels);
    Some(Shapes { count, height, width, inputs, outputs, kernel, stride })
}
