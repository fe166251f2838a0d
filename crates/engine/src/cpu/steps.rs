//! A network as the CPU runs it: steps with their kernels, and which buffers they share.
//!
//! Batch norm, the residual sum after it and the ReLU after that become one step where nothing else
//! reads what lies between, which moves each activation through memory once instead of three times.

use std::collections::HashMap;

use crate::network::{Network, NodeId, Op, ParameterId};
use crate::scalar::Real;

use super::frame::Frame;
use super::kernels::conv::Conv;
use super::kernels::linear::Linear;
use super::kernels::norm::Norm;

/// What a step computes.
pub(crate) enum Kind<F> {
    Conv { conv: Conv, weight: ParameterId },
    Linear { linear: Linear, weight: ParameterId, bias: ParameterId },
    Norm { norm: Norm<F>, scale: ParameterId, shift: ParameterId, statistics: usize },
    Relu,
    Gelu,
    Dropout { rate: f64, mask: Vec<F> },
    Add,
    Pool,
}

/// A step: what it computes, from which nodes, into which.
pub(crate) struct Step<F> {
    pub(crate) kind: Kind<F>,
    pub(crate) input: NodeId,
    /// The second summand: of a sum, or in a norm that a sum follows.
    pub(crate) second: Option<NodeId>,
    pub(crate) output: NodeId,
}

/// The steps of a network, in order.
pub(crate) fn steps<F: Real>(network: &Network, batch: usize) -> Vec<Step<F>> {
    let nodes = network.nodes();
    let mut readers = vec![0usize; nodes.len()];
    nodes.iter().flat_map(|node| &node.inputs).for_each(|&input| readers[input] += 1);
    // The node that alone reads `of`, if it is of this kind.
    let follower = |of: NodeId, wanted: fn(&Op) -> bool| {
        let found = nodes.iter().position(|node| node.inputs.contains(&of))?;
        (readers[of] == 1 && wanted(&nodes[found].op)).then_some(found)
    };
    let mut done = vec![false; nodes.len()];
    let mut steps: Vec<Step<F>> = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let (Some(&input), false) = (node.inputs.first(), done[place]) else {
            continue;
        };
        let (from, frame) = (Frame::new(nodes[input].shape), Frame::new(node.shape));
        let (mut output, mut second) = (place, node.inputs.get(1).copied());
        let kind = match node.op {
            Op::Input => continue,
            Op::Conv { weight, kernel, stride } => {
                Kind::Conv { conv: Conv::new(from, frame, kernel, stride), weight }
            }
            Op::Linear { weight, bias } => {
                let (inputs, outputs) = (nodes[input].shape.len(), node.shape.len());
                Kind::Linear { linear: Linear::new(inputs, outputs, batch), weight, bias }
            }
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
                let norm = Norm::new(frame, relu.is_some(), batch);
                Kind::Norm { norm, scale, shift, statistics }
            }
            Op::Relu => Kind::Relu,
            Op::Gelu => Kind::Gelu,
            Op::Dropout { rate } => Kind::Dropout { rate, mask: Vec::new() },
            Op::Add => Kind::Add,
            Op::Pool => Kind::Pool,
        };
        steps.push(Step { kind, input, second, output });
    }
    steps
}

/// For every node, the buffer of its gradient. Going backward, a gradient is needed from the last
/// node that reads the value until the step that made it; nodes of one shape whose gradients are
/// never needed together share a buffer (one shape, so that borders stay zero).
pub(crate) struct Slots {
    /// By node; `None` for nodes inside a step.
    pub(crate) of: Vec<Option<usize>>,
    /// Numbers an example takes, by buffer.
    pub(crate) strides: Vec<usize>,
}

pub(crate) fn slots<F>(network: &Network, steps: &[Step<F>]) -> Slots {
    let nodes = network.nodes();
    let mut of: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut strides = Vec::new();
    let mut free: HashMap<Frame, Vec<usize>> = HashMap::new();
    let mut take =
        |node: NodeId, free: &mut HashMap<Frame, Vec<usize>>, of: &mut [Option<usize>]| {
            if of[node].is_none() {
                let frame = Frame::new(nodes[node].shape);
                let slot = free.get_mut(&frame).and_then(Vec::pop).unwrap_or_else(|| {
                    strides.push(frame.stride());
                    strides.len() - 1
                });
                of[node] = Some(slot);
            }
        };
    if let Some(last) = steps.last() {
        take(last.output, &mut free, &mut of);
    }
    for step in steps.iter().rev() {
        for node in std::iter::once(step.input).chain(step.second) {
            take(node, &mut free, &mut of);
        }
        if let Some(slot) = of[step.output] {
            free.entry(Frame::new(nodes[step.output].shape)).or_default().push(slot);
        }
    }
    Slots { of, strides }
}
