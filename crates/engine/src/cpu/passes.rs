//! The passes over a network: forward, backward, and their tangents.

use crate::device::Mode;
use crate::fused::{Slots, fuse, gradient_slots};
use crate::losses::Loss;
use crate::network::Network;
use crate::random::Moment;
use crate::scalar::Real;

use super::frame::Frame;
use super::kernels::norm::MOMENTUM;
use super::kernels::optimizer::Update;
use super::kernels::winograd::Scratch;
use super::kernels::{Into, dropout, pointwise, pool};
use super::steps::{Kind, Step, steps};
use super::team::Team;

/// The buffers of a network for batches of up to `batch` examples.
pub(crate) struct Passes<F> {
    steps: Vec<Step<F>>,
    slots: Slots,
    frames: Vec<Frame>,
    classes: usize,
    loss: Loss,
    ranges: Vec<std::ops::Range<usize>>,
    batch: usize,
    /// How much of a batch's statistics goes into the running ones.
    momentum: f64,
    /// By node: its output, and the tangent of that.
    values: Vec<Vec<F>>,
    tangents: Vec<Vec<F>>,
    /// By slot: gradients and their tangents.
    gradients: Vec<Vec<F>>,
    gradient_tangents: Vec<Vec<F>>,
    scratch: Scratch<F>,
}

/// How far back gradients are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To the parameters.
    Parameters,
    /// To the examples themselves too.
    Inputs,
    /// To the examples alone: weights of convolutions and linear layers are left out.
    Examples,
}

impl<F: Real> Passes<F> {
    pub(crate) fn new(network: &Network, batch: usize) -> Self {
        let fused = fuse(network);
        let slots = gradient_slots(network, &fused, false);
        let steps = steps(network, &fused, batch);
        let frames: Vec<Frame> =
            network.nodes().iter().map(|node| Frame::new(node.shape)).collect();
        let mut values = vec![Vec::new(); frames.len()];
        for node in std::iter::once(0).chain(steps.iter().map(|step| step.output)) {
            values[node] = vec![F::ZERO; batch * frames[node].stride()];
        }
        Self {
            classes: network.classes(),
            loss: network.head().loss,
            ranges: network.parameters().iter().map(|p| p.range()).collect(),
            steps,
            slots,
            batch,
            momentum: MOMENTUM,
            values,
            tangents: Vec::new(),
            gradients: Vec::new(),
            gradient_tangents: Vec::new(),
            scratch: Scratch::new(),
            frames,
        }
    }

    /// Examples that fit.
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// The buffer that examples are put into.
    pub(crate) fn input(&mut self) -> &mut [F] {
        &mut self.values[0]
    }

    /// How much of a batch's statistics goes into the running ones from now on; `None`: as much as
    /// in training.
    pub(crate) fn set_momentum(&mut self, momentum: Option<f64>) {
        self.momentum = momentum.unwrap_or(MOMENTUM);
    }

    /// The frame of the examples.
    pub(crate) fn input_frame(&self) -> Frame {
        self.frames[0]
    }

    /// The logits of the last forward pass, row by row.
    pub(crate) fn logits(&self, count: usize) -> &[F] {
        self.values.last().map_or(&[], |logits| &logits[..count * self.classes])
    }

    /// The output of a node in the last forward pass.
    pub(crate) fn value(&self, node: usize, count: usize) -> &[F] {
        &self.values[node][..count * self.frames[node].stride()]
    }

    /// Whether a node has an output of its own; one inside a step has not.
    pub(crate) fn has_value(&self, node: usize) -> bool {
        self.values.get(node).is_some_and(|values| !values.is_empty())
    }

    /// The gradient at the examples after a backward pass that reached them.
    pub(crate) fn input_gradient(&self, count: usize) -> &[F] {
        let slot = self.slots.of.first().copied().flatten();
        slot.map_or(&[], |slot| &self.gradients[slot][..count * self.frames[0].stride()])
    }

    /// Moves every number of the examples by `by` against the sign of the gradient there; where that
    /// is 0, nothing moves, and so borders do not.
    pub(crate) fn perturb(&mut self, count: usize, by: F) {
        let slot = self.slots.of.first().copied().flatten();
        let Some(slot) = slot.filter(|&slot| slot < self.gradients.len()) else { return };
        let len = count * self.frames[0].stride();
        for (x, &d) in self.values[0][..len].iter_mut().zip(&self.gradients[slot]) {
            if d > F::ZERO {
                *x -= by;
            } else if d < F::ZERO {
                *x += by;
            }
        }
    }

    fn buffers(slots: &Slots, batch: usize) -> Vec<Vec<F>> {
        let buffer = |&shape| vec![F::ZERO; batch * Frame::new(shape).stride()];
        slots.shapes.iter().map(buffer).collect()
    }

    /// Computes the logits of the first `count` examples.
    pub(crate) fn forward(
        &mut self,
        team: &Team,
        count: usize,
        mode: Mode,
        moment: Moment,
        parameters: &[F],
        statistics: &mut [F],
    ) {
        for (layer, step) in self.steps.iter_mut().enumerate() {
            let frame = self.frames[step.output];
            let mut output = std::mem::take(&mut self.values[step.output]);
            let y = &mut output[..count * frame.stride()];
            let x = &self.values[step.input][..count * self.frames[step.input].stride()];
            let second = step.second.map(|node| &self.values[node][..y.len()]);
            match &mut step.kind {
                Kind::Conv { conv, weight } => {
                    let w = &parameters[self.ranges[*weight].clone()];
                    conv.forward(team, count, x, w, &mut self.scratch, Into::replace(y));
                }
                Kind::Linear { linear, weight, bias } => {
                    let w = &parameters[self.ranges[*weight].clone()];
                    linear.forward(team, count, x, w, Into::replace(y));
                    linear.add_bias(count, &parameters[self.ranges[*bias].clone()], y);
                }
                Kind::Norm { norm, scale, shift, statistics: at } => {
                    let affine = [*scale, *shift].map(|p| &parameters[self.ranges[p].clone()]);
                    let moved = &mut statistics[*at..*at + 2 * frame.channels];
                    let own = (mode == Mode::Train).then_some(self.momentum);
                    norm.forward(team, count, own, x, second, affine, moved, y);
                }
                Kind::Relu => pointwise::relu(team, x, Into::replace(y)),
                Kind::Gelu => pointwise::gelu(team, x, Into::replace(y)),
                Kind::Dropout { rate, mask } => {
                    mask.resize(y.len(), F::ONE);
                    if mode == Mode::Eval {
                        mask.fill(F::ONE);
                    } else {
                        dropout::mask(team, *rate, layer, moment, mask);
                    }
                    pointwise::product(team, x, mask, Into::replace(y));
                }
                Kind::Add => pointwise::add(team, x, second.unwrap_or(x), Into::replace(y)),
                Kind::Pool => pool::forward(team, self.frames[step.input], x, y),
            }
            self.values[step.output] = output;
        }
    }

    /// The mean loss of the examples against `targets` (rows of probabilities), and its gradient
    /// at the logits, ready for [`Passes::backward`]. `of` examples make the mean.
    pub(crate) fn loss(&mut self, count: usize, targets: &[F], of: usize) -> F {
        if self.gradients.is_empty() {
            self.gradients = Self::buffers(&self.slots, self.batch);
        }
        let (classes, loss) = (self.classes, self.loss);
        let (Some(step), weight) = (self.steps.last(), F::ONE / F::of(of as f64)) else {
            return F::ZERO;
        };
        let (logits, Some(slot)) = (&self.values[step.output], self.slots.of[step.output]) else {
            return F::ZERO;
        };
        let rows = logits.chunks_exact(classes).zip(targets.chunks_exact(classes)).take(count);
        let mut total = F::ZERO;
        for ((z, p), dz) in rows.zip(self.gradients[slot].chunks_exact_mut(classes)) {
            total += loss.value(z, p, weight, dz);
        }
        total * weight
    }

    /// Puts a gradient at the logits that is of no loss.
    pub(crate) fn seed_gradient(&mut self, gradient: &[F]) {
        if self.gradients.is_empty() {
            self.gradients = Self::buffers(&self.slots, self.batch);
        }
        let slot = self.steps.last().and_then(|step| self.slots.of[step.output]);
        if let Some(slot) = slot {
            self.gradients[slot][..gradient.len()].copy_from_slice(gradient);
        }
    }

    /// Adds the gradient of the last loss to `gradient`. With an `update`, linear layers are
    /// updated on the way instead: their gradient is used up where it is made.
    pub(crate) fn backward(
        &mut self,
        team: &Team,
        count: usize,
        reach: Reach,
        parameters: &mut [F],
        gradient: &mut [F],
        mut update: Option<&mut Update<'_, F>>,
    ) {
        let mut written = vec![false; self.frames.len()];
        for step in self.steps.iter_mut().rev() {
            let [Some(out), Some(into)] = [step.output, step.input].map(|n| self.slots.of[n])
            else {
                continue;
            };
            let output = std::mem::take(&mut self.gradients[out]);
            let dy = &output[..count * self.frames[step.output].stride()];
            let stride = self.frames[step.input].stride();
            let mut input = std::mem::take(&mut self.gradients[into]);
            let dx = Into { out: &mut input[..count * stride], add: written[step.input] };
            let x = &self.values[step.input][..count * stride];
            let y = &self.values[step.output][..dy.len()];
            let wanted = step.input != 0 || reach != Reach::Parameters;
            let weights = reach != Reach::Examples;
            match &mut step.kind {
                Kind::Conv { conv, weight } => {
                    let range = self.ranges[*weight].clone();
                    let (w, scratch) = (&parameters[range.clone()], &mut self.scratch);
                    if wanted {
                        conv.backward_input(team, count, dy, w, scratch, dx);
                    }
                    if weights {
                        conv.backward_weights(team, count, x, dy, scratch, &mut gradient[range]);
                    }
                }
                Kind::Linear { linear, weight, bias } => {
                    let range = self.ranges[*weight].clone();
                    let (w, scratch) = (&parameters[range.clone()], &mut self.scratch);
                    if wanted {
                        linear.backward_input(team, count, dy, w, scratch, dx);
                    }
                    match &mut update {
                        _ if !weights => {}
                        Some(update) => {
                            let product = linear.weights_product(count, x, dy);
                            update.product(team, &product, range, parameters);
                        }
                        None => linear.backward_weights(team, count, x, dy, &mut gradient[range]),
                    }
                    linear.backward_bias(count, dy, &mut gradient[self.ranges[*bias].clone()]);
                }
                Kind::Norm { norm, scale, shift, .. } => {
                    let g = &parameters[self.ranges[*scale].clone()];
                    let d = pair(gradient, &self.ranges[*scale], &self.ranges[*shift]);
                    let slot = step.second.and_then(|node| self.slots.of[node]);
                    let mut second = slot.map(|s| std::mem::take(&mut self.gradients[s]));
                    let into = second.as_mut().map(|second| Into {
                        out: &mut second[..dy.len()],
                        add: step.second.is_some_and(|node| written[node]),
                    });
                    norm.backward(team, count, [x, y, dy], g, d, into, dx);
                    if let (Some(slot), Some(second), Some(node)) = (slot, second, step.second) {
                        self.gradients[slot] = second;
                        written[node] = true;
                    }
                }
                Kind::Relu => pointwise::relu_mask(team, y, dy, dx),
                Kind::Gelu => pointwise::gelu_slope(team, x, dy, dx),
                Kind::Dropout { mask, .. } => pointwise::product(team, mask, dy, dx),
                Kind::Add => {
                    pointwise::copy(team, dy, dx);
                    if let Some(node) = step.second
                        && let Some(slot) = self.slots.of[node]
                    {
                        let out = &mut self.gradients[slot][..dy.len()];
                        pointwise::copy(team, dy, Into { out, add: written[node] });
                        written[node] = true;
                    }
                }
                Kind::Pool => pool::backward(team, self.frames[step.input], dy, dx),
            }
            written[step.input] = true;
            self.gradients[into] = input;
            self.gradients[out] = output;
        }
    }

    /// The tangents of all values along `direction`, a direction of the parameters. Follows a
    /// forward pass of the same examples.
    pub(crate) fn tangent(&mut self, team: &Team, count: usize, parameters: &[F], direction: &[F]) {
        if self.tangents.is_empty() {
            self.tangents = self.values.iter().map(|v| vec![F::ZERO; v.len()]).collect();
        }
        for step in &mut self.steps {
            let mut output = std::mem::take(&mut self.tangents[step.output]);
            let ty = &mut output[..count * self.frames[step.output].stride()];
            let stride = self.frames[step.input].stride();
            let x = &self.values[step.input][..count * stride];
            let tx = &self.tangents[step.input][..count * stride];
            let y = &self.values[step.output][..ty.len()];
            let second = step.second.map(|node| &self.tangents[node][..ty.len()]);
            let both = |p: usize| {
                let range = self.ranges[p].clone();
                (&parameters[range.clone()], &direction[range])
            };
            match &mut step.kind {
                Kind::Conv { conv, weight } => {
                    let ((w, tw), scratch) = (both(*weight), &mut self.scratch);
                    conv.forward(team, count, x, tw, scratch, Into::replace(ty));
                    if step.input != 0 {
                        let more = Into { out: ty, add: true };
                        conv.forward(team, count, tx, w, scratch, more);
                    }
                }
                Kind::Linear { linear, weight, bias } => {
                    let (w, tw) = both(*weight);
                    linear.forward(team, count, x, tw, Into::replace(ty));
                    if step.input != 0 {
                        linear.forward(team, count, tx, w, Into { out: ty, add: true });
                    }
                    linear.add_bias(count, both(*bias).1, ty);
                }
                Kind::Norm { norm, scale, shift, .. } => {
                    let ((g, tg), (_, tb)) = (both(*scale), both(*shift));
                    norm.tangent(team, count, [x, y, tx], second, g, [tg, tb], ty);
                }
                Kind::Relu => pointwise::relu_mask(team, y, tx, Into::replace(ty)),
                Kind::Gelu => pointwise::gelu_slope(team, x, tx, Into::replace(ty)),
                Kind::Dropout { mask, .. } => {
                    pointwise::product(team, mask, tx, Into::replace(ty));
                }
                Kind::Add => pointwise::add(team, tx, second.unwrap_or(tx), Into::replace(ty)),
                Kind::Pool => pool::forward(team, self.frames[step.input], tx, ty),
            }
            self.tangents[step.output] = output;
        }
    }

    /// The tangent of the loss gradient at the logits, which [`Passes::loss`] left there; `of` examples make
    /// the mean.
    pub(crate) fn loss_tangent(&mut self, count: usize, of: usize) {
        if self.gradients.is_empty() {
            return;
        }
        if self.gradient_tangents.is_empty() {
            self.gradient_tangents = Self::buffers(&self.slots, self.batch);
        }
        let (classes, weight) = (self.classes, F::ONE / F::of(of as f64));
        let Some(step) = self.steps.last() else { return };
        let Some(slot) = self.slots.of[step.output] else { return };
        let rows = self.values[step.output].chunks_exact(classes);
        let rows = rows.zip(self.tangents[step.output].chunks_exact(classes)).take(count);
        let gradients = self.gradients[slot].chunks_exact(classes);
        let into = self.gradient_tangents[slot].chunks_exact_mut(classes);
        for (((z, tz), dz), tdz) in rows.zip(gradients).zip(into) {
            self.loss.tangent(z, tz, dz, weight, tdz);
        }
    }

    /// Adds the Hessian times `direction` to `product`: gradients and their tangents go back
    /// together. Follows [`Passes::loss`], [`Passes::tangent`] and [`Passes::loss_tangent`].
    pub(crate) fn backward_tangent(
        &mut self,
        team: &Team,
        count: usize,
        parameters: &[F],
        direction: &[F],
        product: &mut [F],
    ) {
        let mut written = vec![false; self.frames.len()];
        let mut unused = vec![F::ZERO; product.len()];
        for step in self.steps.iter_mut().rev() {
            let [Some(out), Some(into)] = [step.output, step.input].map(|n| self.slots.of[n])
            else {
                continue;
            };
            let output = std::mem::take(&mut self.gradients[out]);
            let output_tangent = std::mem::take(&mut self.gradient_tangents[out]);
            let len = count * self.frames[step.output].stride();
            let (dy, tdy) = (&output[..len], &output_tangent[..len]);
            let stride = self.frames[step.input].stride();
            let mut input = std::mem::take(&mut self.gradients[into]);
            let mut input_tangent = std::mem::take(&mut self.gradient_tangents[into]);
            let add = written[step.input];
            let dx = Into { out: &mut input[..count * stride], add };
            let tdx = Into { out: &mut input_tangent[..count * stride], add };
            let x = &self.values[step.input][..count * stride];
            let tx = &self.tangents[step.input][..count * stride];
            let (y, wanted) = (&self.values[step.output][..len], step.input != 0);
            let both = |p: usize| {
                let range = self.ranges[p].clone();
                (&parameters[range.clone()], &direction[range])
            };
            match &mut step.kind {
                Kind::Conv { conv, weight } => {
                    let ((w, tw), scratch) = (both(*weight), &mut self.scratch);
                    if wanted {
                        let first = Into { out: &mut *tdx.out, add };
                        conv.backward_input(team, count, dy, tw, scratch, first);
                        let more = Into { out: tdx.out, add: true };
                        conv.backward_input(team, count, tdy, w, scratch, more);
                        conv.backward_input(team, count, dy, w, scratch, dx);
                    }
                    let p = &mut product[self.ranges[*weight].clone()];
                    conv.backward_weights(team, count, x, tdy, scratch, p);
                    if wanted {
                        conv.backward_weights(team, count, tx, dy, scratch, p);
                    }
                }
                Kind::Linear { linear, weight, bias } => {
                    let ((w, tw), scratch) = (both(*weight), &mut self.scratch);
                    if wanted {
                        let first = Into { out: &mut *tdx.out, add };
                        linear.backward_input(team, count, dy, tw, scratch, first);
                        let more = Into { out: tdx.out, add: true };
                        linear.backward_input(team, count, tdy, w, scratch, more);
                        linear.backward_input(team, count, dy, w, scratch, dx);
                    }
                    let p = &mut product[self.ranges[*weight].clone()];
                    linear.backward_weights(team, count, x, tdy, p);
                    if wanted {
                        linear.backward_weights(team, count, tx, dy, p);
                    }
                    linear.backward_bias(count, tdy, &mut product[self.ranges[*bias].clone()]);
                }
                Kind::Norm { norm, scale, shift, .. } => {
                    let (g, tg) = both(*scale);
                    let (ranges, slot) = (
                        (&self.ranges[*scale], &self.ranges[*shift]),
                        step.second.and_then(|node| self.slots.of[node]),
                    );
                    let mut second = slot.map(|s| {
                        let tangent = std::mem::take(&mut self.gradient_tangents[s]);
                        (std::mem::take(&mut self.gradients[s]), tangent)
                    });
                    let more = step.second.is_some_and(|node| written[node]);
                    let (plain, moved) = match &mut second {
                        Some((plain, moved)) => (
                            Some(Into { out: &mut plain[..len], add: more }),
                            Some(Into { out: &mut moved[..len], add: more }),
                        ),
                        None => (None, None),
                    };
                    let d = pair(product, ranges.0, ranges.1);
                    let values = [x, y, tx];
                    norm.backward_tangent(team, count, values, [dy, tdy], g, tg, d, moved, tdx);
                    let d = pair(&mut unused, ranges.0, ranges.1);
                    norm.backward(team, count, [x, y, dy], g, d, plain, dx);
                    if let (Some(slot), Some((plain, moved)), Some(node)) =
                        (slot, second, step.second)
                    {
                        self.gradients[slot] = plain;
                        self.gradient_tangents[slot] = moved;
                        written[node] = true;
                    }
                }
                Kind::Relu => {
                    pointwise::relu_mask(team, y, tdy, tdx);
                    pointwise::relu_mask(team, y, dy, dx);
                }
                Kind::Gelu => {
                    let first = Into { out: &mut *tdx.out, add };
                    pointwise::gelu_slope(team, x, tdy, first);
                    let more = Into { out: tdx.out, add: true };
                    pointwise::gelu_bend(team, x, tx, dy, more);
                    pointwise::gelu_slope(team, x, dy, dx);
                }
                Kind::Dropout { mask, .. } => {
                    pointwise::product(team, mask, tdy, tdx);
                    pointwise::product(team, mask, dy, dx);
                }
                Kind::Add => {
                    pointwise::copy(team, tdy, tdx);
                    pointwise::copy(team, dy, dx);
                    if let Some(node) = step.second
                        && let Some(slot) = self.slots.of[node]
                    {
                        let add = written[node];
                        let moved = &mut self.gradient_tangents[slot][..len];
                        pointwise::copy(team, tdy, Into { out: moved, add });
                        let plain = &mut self.gradients[slot][..len];
                        pointwise::copy(team, dy, Into { out: plain, add });
                        written[node] = true;
                    }
                }
                Kind::Pool => {
                    let frame = self.frames[step.input];
                    pool::backward(team, frame, tdy, tdx);
                    pool::backward(team, frame, dy, dx);
                }
            }
            written[step.input] = true;
            self.gradients[into] = input;
            self.gradients[out] = output;
            self.gradient_tangents[into] = input_tangent;
            self.gradient_tangents[out] = output_tangent;
        }
    }

    /// Bytes of all buffers, now.
    pub(crate) fn bytes(&self) -> usize {
        let sets = [&self.values, &self.tangents, &self.gradients, &self.gradient_tangents];
        let numbers: usize = sets.iter().flat_map(|set| set.iter().map(Vec::len)).sum();
        (numbers + self.scratch.len()) * size_of::<F>()
    }
}

/// Two stretches of one vector, the first before the second.
fn pair<'a, F>(
    flat: &'a mut [F],
    first: &std::ops::Range<usize>,
    second: &std::ops::Range<usize>,
) -> [&'a mut [F]; 2] {
    let (left, right) = flat.split_at_mut(second.start);
    [&mut left[first.clone()], &mut right[..second.len()]]
}
