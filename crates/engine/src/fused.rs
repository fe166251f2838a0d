//! A network as devices run it: which nodes are computed together, and which gradients share memory.
//!
//! Batch norm, the residual sum after it and the ReLU after that become one step where nothing else
//! reads what lies between, which moves each activation through memory once instead of three times.

use std::collections::HashMap;

use crate::network::{Network, NodeId, Op, ParameterId, Shape};

/// What a step computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FusedOp {
    Conv { weight: ParameterId, kernel: usize, stride: usize },
    Linear { weight: ParameterId, bias: ParameterId },
    Norm { scale: ParameterId, shift: ParameterId, statistics: usize, relu: bool },
    Relu,
    Gelu,
    Dropout { rate: f64 },
    Add,
    Pool,
}

/// A step: what it computes, from which nodes, into which.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fused {
    pub(crate) op: FusedOp,
    pub(crate) input: NodeId,
    /// The second summand: of a sum, or in a norm that a sum follows.
    pub(crate) second: Option<NodeId>,
    pub(crate) output: NodeId,
}

/// The steps of a network, in order.
pub(crate) fn fuse(network: &Network) -> Vec<Fused> {
    let nodes = network.nodes();
    let mut readers = vec![0usize; nodes.len()];
    nodes.iter().flat_map(|node| &node.inputs).for_each(|&input| readers[input] += 1);
    // The node that alone reads `of`, if it is of this kind.
    let follower = |of: NodeId, wanted: fn(&Op) -> bool| {
        let found = nodes.iter().position(|node| node.inputs.contains(&of))?;
        (readers[of] == 1 && wanted(&nodes[found].op)).then_some(found)
    };
    let mut done = vec![false; nodes.len()];
    let mut steps = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let (Some(&input), false) = (node.inputs.first(), done[place]) else {
            continue;
        };
        let (mut output, mut second) = (place, node.inputs.get(1).copied());
        let op = match node.op {
            Op::Input => continue,
            Op::Conv { weight, kernel, stride } => FusedOp::Conv { weight, kernel, stride },
            Op::Linear { weight, bias } => FusedOp::Linear { weight, bias },
            Op::BatchNorm { scale, shift, statistics } => {
                // A sum joins only if its other summand is there by now.
                if let Some(sum) = follower(output, |op| *op == Op::Add) {
                    let other = nodes[sum].inputs.iter().copied().find(|&id| id != output);
                    if let Some(other) = other.filter(|&id| id < place) {
                        (output, second) = (sum, Some(other));
                        done[sum] = true;
                    }
                }
                let relu = follower(output, |op| *op == Op::Relu);
                if let Some(relu) = relu {
                    output = relu;
                    done[relu] = true;
                }
                FusedOp::Norm { scale, shift, statistics, relu: relu.is_some() }
            }
            Op::Relu => FusedOp::Relu,
            Op::Gelu => FusedOp::Gelu,
            Op::Dropout { rate } => FusedOp::Dropout { rate },
            Op::Add => FusedOp::Add,
            Op::Pool => FusedOp::Pool,
        };
        steps.push(Fused { op, input, second, output });
    }
    steps
}

/// The 1×1 convolution that steps over pixels beside a 3×3 one, `conv`, where they are the only ones to read
/// their input: devices may compute both together.
pub(crate) fn beside(steps: &[Fused], conv: usize) -> Option<usize> {
    let reads = |step: &Fused| step.input == steps[conv].input;
    let strided = |step: &Fused, size: usize| matches!(step.op, FusedOp::Conv { kernel, stride: 2, .. } if kernel == size);
    let second = |step: &Fused| step.second == Some(steps[conv].input);
    let other = conv + 1 + steps.get(conv + 1..)?.iter().position(reads)?;
    let alone = steps.iter().filter(|step| reads(step) || second(step)).count() == 2;
    (alone && strided(&steps[conv], 3) && strided(&steps[other], 1)).then_some(other)
}

impl Fused {
    /// The nodes that it reads.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = NodeId> {
        std::iter::once(self.input).chain(self.second)
    }
}

/// Buffers of nodes. Nodes of one shape that are never needed together share one (one shape, so that
/// borders stay zero).
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// By node; `None` for nodes inside a step.
    pub(crate) of: Vec<Option<usize>>,
    /// What a buffer holds an example of.
    pub(crate) shapes: Vec<Shape>,
}

/// Slots that are given away and taken back.
struct SlotPool<'a> {
    network: &'a Network,
    slots: Slots,
    free: HashMap<Shape, Vec<usize>>,
}

impl<'a> SlotPool<'a> {
    fn new(network: &'a Network) -> Self {
        let slots = Slots { of: vec![None; network.nodes().len()], shapes: Vec::new() };
        Self { network, slots, free: HashMap::new() }
    }

    /// A slot for this node, unless it has one.
    fn take(&mut self, node: NodeId) {
        let Slots { of, shapes } = &mut self.slots;
        if of[node].is_none() {
            let shape = self.network.nodes()[node].shape;
            let slot = self.free.get_mut(&shape).and_then(Vec::pop).unwrap_or_else(|| {
                shapes.push(shape);
                shapes.len() - 1
            });
            of[node] = Some(slot);
        }
    }

    /// The node is not needed any more.
    fn release(&mut self, node: NodeId) {
        if let Some(slot) = self.slots.of[node] {
            self.free.entry(self.network.nodes()[node].shape).or_default().push(slot);
        }
    }
}

/// The buffers of gradients. Going backward, a gradient is needed from the last node that reads the
/// value until the step that made it, or that of the convolution that may be computed together with it.
///
/// The gradient of what a norm adds is that of its output, where that passes its ReLU: with `in_place` they
/// share a buffer where no other step has added to it before.
pub(crate) fn gradient_slots(network: &Network, steps: &[Fused], in_place: bool) -> Slots {
    let mut pool = SlotPool::new(network);
    if let Some(last) = steps.last() {
        pool.take(last.output);
    }
    let pairs: Vec<_> = (0..steps.len()).map(|place| beside(steps, place)).collect();
    for (place, step) in steps.iter().enumerate().rev() {
        let second = step.second.filter(|_| matches!(step.op, FusedOp::Norm { .. }));
        let free = |node: NodeId| node != step.input && pool.slots.of[node].is_none();
        let passed = second.filter(|&node| in_place && free(node));
        if let Some(node) = passed {
            pool.slots.of[node] = pool.slots.of[step.output];
        }
        step.inputs().for_each(|node| pool.take(node));
        if passed.is_none() && !pairs.contains(&Some(place)) {
            pool.release(step.output);
        }
        if let Some(other) = pairs[place] {
            pool.release(steps[other].output);
        }
    }
    pool.slots
}

/// The buffers of values where nothing follows the forward pass: a value is needed from the step that makes
/// it, or that of the convolution that may be computed together with it, until the last step that reads it.
/// That of the last step stays. The output of a norm that alone reads its input takes that one's place, since a
/// convolution may apply the norm to its result while it still reads its own input.
pub(crate) fn value_slots(network: &Network, steps: &[Fused]) -> Slots {
    let mut pool = SlotPool::new(network);
    pool.take(0);
    for (place, step) in steps.iter().enumerate() {
        let read_later =
            |node| steps[place + 1..].iter().any(|step| step.inputs().any(|input| input == node));
        let second = step.second.filter(|&node| node != step.input);
        let mut done: Vec<NodeId> = step.inputs().filter(|&node| !read_later(node)).collect();
        done.dedup();
        let in_place = matches!(step.op, FusedOp::Norm { .. }) && step.input != 0;
        if in_place && second == step.second && done.contains(&step.input) {
            pool.slots.of[step.output] = pool.slots.of[step.input];
            done.retain(|&node| node != step.input);
        }
        pool.take(step.output);
        if let Some(other) = beside(steps, place) {
            pool.take(steps[other].output);
        }
        done.into_iter().for_each(|node| pool.release(node));
    }
    pool.slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Model;

    /// A value is still there when it is read, whether convolutions are computed together or not, and norms with the
    /// convolutions before them or not; and a deep network needs few buffers.
    #[test]
    fn values_are_there_until_they_are_read() {
        let input = Shape::Map { height: 32, width: 32, channels: 3 };
        for (name, most) in [("resnet18", 17), ("smallcnn", 9), ("mlp", 5)] {
            let network = Model::named(name).unwrap().network(input, 10).unwrap();
            let steps = fuse(&network);
            let slots = value_slots(&network, &steps);
            assert!(slots.shapes.len() <= most, "{name}: {}", slots.shapes.len());
            for (together, joined) in [(false, false), (true, false), (false, true), (true, true)] {
                let second = |place| beside(&steps, place).filter(|_| together);
                let early: Vec<usize> = (0..steps.len()).filter_map(second).collect();
                assert_eq!(early.len(), if together && name == "resnet18" { 3 } else { 0 });
                // The norm that is done with a convolution before it, what it adds being there.
                let norm_of = |place: usize| {
                    let conv = matches!(steps[place].op, FusedOp::Conv { .. });
                    let norm = steps.iter().position(|norm| norm.input == steps[place].output)?;
                    let there = |node| steps[..place].iter().any(|step| step.output == node);
                    let fits = matches!(steps[norm].op, FusedOp::Norm { .. })
                        && steps[norm].second.is_none_or(there);
                    (joined && conv && fits && !early.contains(&place)).then_some(norm)
                };
                let applied: Vec<usize> = (0..steps.len()).filter_map(norm_of).collect();
                let all =
                    steps.iter().filter(|step| matches!(step.op, FusedOp::Norm { .. })).count();
                let wanted = if joined { all - early.len() } else { 0 };
                assert_eq!(applied.len(), wanted, "{name}");
                let mut holds = vec![None; slots.shapes.len()];
                holds[slots.of[0].unwrap()] = Some(0);
                for (place, step) in steps.iter().enumerate() {
                    if applied.contains(&place) {
                        continue;
                    }
                    let norm = norm_of(place).map(|norm| &steps[norm]);
                    let added = norm.and_then(|norm| norm.second);
                    let inputs: Vec<NodeId> = step.inputs().chain(added).collect();
                    for &node in &inputs {
                        assert_eq!(holds[slots.of[node].unwrap()], Some(node), "{name}");
                    }
                    let own = norm.unwrap_or(step).output;
                    let own = Some(own).filter(|_| !early.contains(&place));
                    let beside = second(place).map(|place| steps[place].output);
                    for output in own.into_iter().chain(beside) {
                        let slot = slots.of[output].unwrap();
                        let in_place = matches!(step.op, FusedOp::Norm { .. });
                        let others = inputs.iter().skip(usize::from(in_place));
                        assert!(others.clone().all(|&node| slots.of[node] != Some(slot)), "{name}");
                        assert_eq!(slots.shapes[slot], network.nodes()[output].shape);
                        holds[slot] = Some(output);
                    }
                }
                let last = network.nodes().len() - 1;
                assert_eq!(holds[slots.of[last].unwrap()], Some(last), "{name}");
            }
        }
    }
}
