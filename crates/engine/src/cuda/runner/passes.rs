//! The passes of a batch but backward: examples, forward, loss, update.

use super::super::cudnn::Shapes;
use super::super::launch::{Arg, Begin, Pointer};
use super::super::layout::padded;
use super::{BLOCKS, CudaRunner, EPSILON, Work, act_size};
use crate::device::{Dataset, Mode};
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp};
use crate::network::{Network, NodeId, Shape};
use crate::optimizer::Optimizer;
use crate::random::DROP;

use Arg::{Float, Half, Int, Pointer as At, Word};

/// How the work of a norm is cut: rows of a block that sums, then grid and block sizes.
pub(super) struct Cut {
    pub(super) share: usize,
    pub(super) grid: (u32, u32),
    pub(super) block: (u32, u32),
}

/// Threads of a block that sums, and groups of eight channels that it takes at most: THREADS and
/// WIDEST of kernels/norm.cu.
const THREADS: usize = 512;
const GROUPS: usize = 16;

/// Blocks that sum a norm: each a stretch of rows by up to 128 channels.
pub(super) fn sums(rows: usize, channels: usize) -> Cut {
    let groups = (channels / 8).next_power_of_two().clamp(1, GROUPS);
    let (lines, columns) = (THREADS / groups, channels.div_ceil(groups * 8));
    let share = rows.div_ceil((BLOCKS / columns).max(1)).next_multiple_of(lines);
    let blocks = rows.div_ceil(share);
    Cut { share, grid: (blocks as u32, columns as u32), block: (groups as u32, lines as u32) }
}

/// Blocks that go over a norm's rows once, `each` rows a thread.
pub(super) fn over(rows: usize, channels: usize, each: usize) -> ((u32, u32), (u32, u32)) {
    let groups = (channels / 8).next_power_of_two().clamp(1, 64);
    let (lines, columns) = (256 / groups, channels.div_ceil(groups * 8));
    ((rows.div_ceil(lines * each) as u32, columns as u32), (groups as u32, lines as u32))
}

/// Rows of a thread that applies a norm: EACH of kernels/norm.cu. Backward it is EACH_BACK, as many as
/// are 8 bytes of activations.
const EACH: usize = 4;

/// The most channels and classes of kernels/flat.cu's `head`.
const HEAD: (usize, usize) = (2048, 64);

impl CudaRunner {
    /// Bytes of an activation.
    pub(super) fn size(&self) -> usize {
        act_size(self.settings.precision)
    }

    pub(super) fn value(&self, node: NodeId) -> Arg {
        At(self.memory.room.values[node])
    }

    pub(super) fn gradient_of(&self, node: NodeId) -> Pointer {
        self.memory.room.gradients[node]
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
    pub(super) fn extent(&self, node: NodeId, count: usize) -> (usize, usize, bool) {
        match self.network.nodes()[node].shape {
            Shape::Map { height, width, channels } => {
                (count * height * width, padded(channels), true)
            }
            Shape::Flat { width } => (count, width, false),
        }
    }

    /// Where the network ends in pooling and a linear layer that one kernel does with the loss: the
    /// number of steps before them.
    pub(super) fn head(&self) -> Option<usize> {
        let (first, [.., pool, linear]) = (self.steps.len().checked_sub(2)?, &self.steps[..])
        else {
            return None;
        };
        let (_, channels, _) = self.extent(pool.input, 1);
        let fits = pool.op == FusedOp::Pool
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

    /// The first `steps` steps forward.
    pub(super) fn forward(
        &self,
        steps: usize,
        count: usize,
        mode: Mode,
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        for (layer, step) in self.steps.iter().enumerate().take(steps) {
            let (x, y) = (self.value(step.input), self.value(step.output));
            let (rows, channels, typed) = self.extent(step.output, count);
            let (_, inputs, _) = self.extent(step.input, count);
            let numbers = rows * channels;
            let len = Int(numbers as i32);
            match step.op {
                FusedOp::Conv { weight, .. } => {
                    if let Some(shapes) = conv_shapes(&self.network, step, count) {
                        let w = m.copy + (self.size() * self.places.of[weight].offset) as u64;
                        let (At(x), At(y)) = (x, y) else { continue };
                        let thinned = m.room.thin.get(&step.output);
                        let (shapes, x) = match (thin_shapes(shapes), thinned) {
                            (Some(thin), Some(&to)) => {
                                self.thin(shapes, x, to)?;
                                (thin, to)
                            }
                            _ => (shapes, x),
                        };
                        self.convs[&shapes].forward(&self.handle, x, w, y, false, m.workspace)?;
                    }
                }
                FusedOp::Norm { scale, shift, statistics, relu } => {
                    let vectors = At(m.norms[&step.output]);
                    let own = At(m.statistics + 4 * statistics as u64);
                    let [g, b] = [scale, shift].map(|p| At(self.parameter(m.weights, p)));
                    let (many, wide) = (Int(rows as i32), Int(channels as i32));
                    if mode == Mode::Train {
                        let cut = sums(rows, channels);
                        let share = Int(cut.share as i32);
                        let (epsilon, momentum) = (Float(EPSILON), Float(self.momentum));
                        let (partial, arrived) = (At(m.partial), At(m.arrived));
                        let args = [
                            x, many, wide, share, epsilon, momentum, g, b, own, vectors, partial,
                            arrived,
                        ];
                        self.stream.start(typed, "norm_sums", cut.grid, cut.block, &args)?;
                    } else {
                        let args = [own, wide, Float(EPSILON), g, b, vectors];
                        self.stream.each(false, "norm_fixed", channels, &args)?;
                    }
                    let residual = At(step.second.map_or(0, |node| m.room.values[node]));
                    let (grid, block) = over(rows, channels, EACH);
                    let args = [x, residual, vectors, Int(i32::from(relu)), many, wide, y];
                    // After the sums it begins early: nothing but their results is new to it.
                    let begin = if mode == Mode::Train { Begin::Early } else { Begin::After };
                    self.stream.begin(begin, typed, "norm_apply", (grid, block), &args)?;
                }
                FusedOp::Pool => {
                    let (pixels, channels, _) = self.extent(step.input, 1);
                    let args = [x, Int(count as i32), Int(pixels as i32), Int(channels as i32), y];
                    self.stream.each(true, "pool", count * channels, &args)?;
                }
                FusedOp::Linear { weight, bias } => {
                    let [w, b] = [weight, bias].map(|p| At(self.parameter(m.weights, p)));
                    let (n, i, o) = (Int(count as i32), Int(inputs as i32), Int(channels as i32));
                    let args = [x, w, b, n, i, o, Int(0), y];
                    self.stream.each(false, "linear", 32 * count * channels, &args)?;
                }
                FusedOp::Gelu => self.stream.each(false, "gelu", numbers, &[x, len, y])?,
                FusedOp::Relu => self.stream.each(typed, "relu", numbers, &[x, len, y])?,
                FusedOp::Add => {
                    let other = At(step.second.map_or(0, |node| m.room.values[node]));
                    self.stream.each(typed, "sum", numbers, &[x, other, len, y])?;
                }
                FusedOp::Dropout { rate } => {
                    let rate = if mode == Mode::Eval { 0.0 } else { rate };
                    self.drop_out(layer, rate, x, numbers, false, y)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn drop_out(
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

    /// What the loss of a batch compares with: classes, shares, visits, λ, partners, the counter.
    fn goals(&self, soft: bool, mixed: bool) -> [Arg; 6] {
        let m = &self.memory;
        let (classes, shares) = if soft { (0, m.shares) } else { (m.classes, 0) };
        let (lambda, partner) = if mixed { (m.lambda, m.partner) } else { (0, 0) };
        [classes, shares, m.visits, lambda, partner, m.counter].map(At)
    }

    /// The loss and its gradient at the logits, over the batch, or over as many examples as `over`
    /// on the device says.
    pub(super) fn loss(&self, work: Work, count: usize, over: bool) -> Result<(), EngineError> {
        let m = &self.memory;
        let last = self.network.nodes().len() - 1;
        let (soft, mixed) = work.goals();
        let mut args = vec![self.value(last)];
        args.extend(self.goals(soft, mixed));
        args.extend([
            Int(self.batch(work) as i32),
            Int(count as i32),
            At(if over { m.over } else { 0 }),
            Int(self.network.classes() as i32),
            At(self.gradient_of(last)),
            At(m.losses),
        ]);
        self.stream.start(false, "cross_entropy", (count.div_ceil(32) as u32, 1), (32, 1), &args)
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
        let [w, b] = [weight, bias].map(|p| At(self.parameter(m.weights, p)));
        let (soft, mixed) = work.goals();
        let (features, dz) = (self.value(pool.output), At(self.gradient_of(linear.output)));
        let mut args = vec![self.value(pool.input), w, b];
        args.extend(self.goals(soft, mixed));
        args.extend([self.batch(work), count, pixels, channels, classes].map(|n| Int(n as i32)));
        args.extend([features, dz, At(m.losses), At(self.gradient_of(pool.input))]);
        self.stream.start(true, "head", (count as u32, 1), (256, 1), &args)?;
        self.linear_weights(features, dz, count, channels, classes, (weight, bias))
    }

    /// The gradients of a linear layer's weights and bias.
    pub(super) fn linear_weights(
        &self,
        x: Arg,
        dy: Arg,
        count: usize,
        inputs: usize,
        outputs: usize,
        (weight, bias): (usize, usize),
    ) -> Result<(), EngineError> {
        let m = &self.memory;
        let [dw, db] = [weight, bias].map(|p| At(self.parameter(m.gradient, p)));
        let (n, i, o) = (Int(count as i32), Int(inputs as i32), Int(outputs as i32));
        let args = [x, dy, n, i, o, Int(0), dw, db];
        self.stream.each(false, "linear_back_weights", 32 * (inputs + 1) * outputs, &args)
    }

    pub(super) fn update(&self) -> Result<(), EngineError> {
        let m = &self.memory;
        let (convs, rest) = (self.places.convs, self.places.len - self.places.convs);
        let after = |base: Pointer| At(base + 4 * convs as u64);
        let by = At(m.by);
        let (g, w, copy) = (At(m.conv_gradient), At(m.weights), At(m.copy));
        let (many, few) = (Int(convs as i32), Int(rest as i32));
        match (self.settings.optimizer, &m.slots[..]) {
            (Optimizer::Sgd { nesterov, .. }, slots) => {
                // Without momentum the slot is a vector that is overwritten.
                let v = slots.first().copied().unwrap_or(m.spare[0]);
                let ahead = Int(i32::from(nesterov));
                if convs > 0 {
                    let args = [by, ahead, g, At(v), w, copy, many];
                    self.stream.each(true, "sgd_conv", convs, &args)?;
                }
                let args = [by, ahead, after(m.gradient), after(v), after(m.weights), few];
                self.stream.each(false, "sgd", rest, &args)
            }
            (Optimizer::Adam { beta1, beta2, epsilon, weight_decay }, &[mean, square]) => {
                let [b1, b2, e, d] = [beta1, beta2, epsilon, weight_decay].map(|x| Float(x as f32));
                let args = [At(m.steps), At(m.rate), b1, b2, e, d, by];
                self.stream.start(false, "adam_factors", (1, 1), (1, 1), &args)?;
                if convs > 0 {
                    let args = [by, g, At(mean), At(square), w, copy, many];
                    self.stream.each(true, "adam_conv", convs, &args)?;
                }
                let [g, mean, square, w] = [m.gradient, mean, square, m.weights].map(after);
                self.stream.each(false, "adam", rest, &[by, g, mean, square, w, few])
            }
            (Optimizer::Adam { .. }, _) => Err(EngineError::Device("Adam without slots".into())),
        }
    }
}

/// A convolution of one pixel that steps over some, as one of the pixels that are left: a plain
/// matrix product, which cuDNN does several times faster.
pub(super) fn thin_shapes(shapes: Shapes) -> Option<Shapes> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row and channel falls to one block, and the places of all blocks have room.
    #[test]
    fn work_is_cut_whole() {
        for (rows, channels) in [
            (131_072, 64),
            (32_768, 128),
            (8_192, 256),
            (2_048, 512),
            (49, 8),
            (1, 24),
            (300, 2048),
        ] {
            let Cut { share, grid, block } = sums(rows, channels);
            assert_eq!((block.0 * block.1) as usize, THREADS);
            assert!(share % block.1 as usize == 0 && share * grid.0 as usize >= rows);
            assert!(share * (grid.0 as usize - 1) < rows);
            assert!((grid.1 * block.0 * 8) as usize >= channels && block.0 as usize <= GROUPS);
            let places = (grid.0 * grid.1 * block.0 * 8) as usize;
            let columns = channels.next_power_of_two().max(128);
            assert!(places <= (BLOCKS + 1) * columns, "{rows} {channels}");
            for each in [EACH, 2] {
                let (grid, block) = over(rows, channels, each);
                assert_eq!(block.0 * block.1, 256);
                assert!((grid.0 * block.1) as usize * each >= rows);
                assert!((grid.1 * block.0 * 8) as usize >= channels);
            }
        }
    }
}
