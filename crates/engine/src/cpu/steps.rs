//! The steps of a network with their kernels.

use crate::fused::{Fused, FusedOp};
use crate::network::{Network, NodeId, ParameterId};
use crate::scalar::Real;

use super::frame::Frame;
use super::kernels::conv::Conv;
use super::kernels::linear::Linear;
use super::kernels::norm::Norm;

/// What a step computes.
pub(crate) enum Kind<F> {
    Conv { conv: Box<Conv>, weight: ParameterId },
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

/// The steps with their kernels, for batches of up to `batch` examples.
pub(crate) fn steps<F: Real>(network: &Network, fused: &[Fused], batch: usize) -> Vec<Step<F>> {
    let nodes = network.nodes();
    let step = |fused: &Fused| {
        let &Fused { op, input, second, output } = fused;
        let (from, to) = (nodes[input].shape, nodes[output].shape);
        let (frame, out) = (Frame::new(from), Frame::new(to));
        let kind = match op {
            FusedOp::Conv { weight, kernel, stride } => {
                Kind::Conv { conv: Box::new(Conv::new(frame, out, kernel, stride)), weight }
            }
            FusedOp::Linear { weight, bias } => {
                Kind::Linear { linear: Linear::new(from.len(), to.len(), batch), weight, bias }
            }
            FusedOp::Norm { scale, shift, statistics, relu } => {
                Kind::Norm { norm: Norm::new(out, relu, batch), scale, shift, statistics }
            }
            FusedOp::Relu => Kind::Relu,
            FusedOp::Gelu => Kind::Gelu,
            FusedOp::Dropout { rate } => Kind::Dropout { rate, mask: Vec::new() },
            FusedOp::Add => Kind::Add,
            FusedOp::Pool => Kind::Pool,
        };
        Step { kind, input, second, output }
    };
    fused.iter().map(step).collect()
}
