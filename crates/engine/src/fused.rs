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

/// For every node, the buffer of its gradient. Going backward, a gradient is needed from the last
/// node that reads the value until the step that made it; nodes of one shape whose gradients are
/// never needed together share a buffer (one shape, so that borders stay zero). Gradients of convolutions
/// that may be computed together are kept for both.
pub(crate) struct Slots {
    /// By node; `None` for nodes inside a step.
    pub(crate) of: Vec<Option<usize>>,
    /// What a buffer holds an example of.
    pub(crate) shapes: Vec<Shape>,
}

pub(crate) fn slots(network: &Network, steps: &[Fused]) -> Slots {
    let nodes = network.nodes();
    let mut of: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut shapes: Vec<Shape> = Vec::new();
    let mut free: HashMap<Shape, Vec<usize>> = HashMap::new();
    let mut take =
        |node: NodeId, free: &mut HashMap<Shape, Vec<usize>>, of: &mut [Option<usize>]| {
            if of[node].is_none() {
                let shape = nodes[node].shape;
                let slot = free.get_mut(&shape).and_then(Vec::pop).unwrap_or_else(|| {
                    shapes.push(shape);
                    shapes.len() - 1
                });
                of[node] = Some(slot);
            }
        };
    if let Some(last) = steps.last() {
        take(last.output, &mut free, &mut of);
    }
    let pairs: Vec<_> = (0..steps.len()).map(|place| beside(steps, place)).collect();
    for (place, step) in steps.iter().enumerate().rev() {
        for node in std::iter::once(step.input).chain(step.second) {
            take(node, &mut free, &mut of);
        }
        let kept = pairs.contains(&Some(place));
        let over = std::iter::once(step).filter(|_| !kept).chain(pairs[place].map(|o| &steps[o]));
        for step in over {
            if let Some(slot) = of[step.output] {
                free.entry(nodes[step.output].shape).or_default().push(slot);
            }
        }
    }
    Slots { of, shapes }
}
