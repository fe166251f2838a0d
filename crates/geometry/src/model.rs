//! The geometry of a network in a runner: what the engine can do, as what the other modules take.

use dissensus_engine::device::Targets;
use dissensus_engine::network::{Layout, Network, Op};
use dissensus_engine::{EngineError, Runner, Weights};
use serde::{Deserialize, Serialize};

use crate::GeometryError;
use crate::curvature::{Block, Operator};
use crate::error::count;
use crate::gradcam::{Cams, cams};

/// The Hessian of the mean loss over some rows, batch statistics frozen, in all parameters.
pub struct Hessian<'a> {
    runner: &'a mut dyn Runner,
    parameters: usize,
    rows: &'a [u32],
    targets: Targets<'a>,
}

impl<'a> Hessian<'a> {
    /// At the weights that the runner has now.
    pub fn new(
        runner: &'a mut dyn Runner,
        network: &Network,
        rows: &'a [u32],
        targets: Targets<'a>,
    ) -> Result<Self, GeometryError> {
        if rows.is_empty() {
            return Err(GeometryError::Data("a loss over no rows has no curvature".into()));
        }
        Ok(Self { runner, parameters: network.parameter_count(), rows, targets })
    }
}

impl Operator for Hessian<'_> {
    type Number = f32;

    fn len(&self) -> usize {
        self.parameters
    }

    fn apply(&mut self, vector: &[f32]) -> Result<Vec<f32>, GeometryError> {
        Ok(self.runner.hessian_product(self.rows, self.targets, vector)?)
    }
}

/// What is one block of the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    Tensor,
    /// The tensors of a layer: a weight with its bias, a scale with its shift.
    Layer,
    /// The layers of a stage: what shares the first part of its name.
    #[default]
    Stage,
}

/// The blocks of a network's parameters, in their order.
pub fn blocks(network: &Network, grouping: Grouping) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for parameter in network.parameters() {
        let name = &parameter.name;
        let name = match grouping {
            Grouping::Tensor => name.as_str(),
            Grouping::Layer => name.rsplit_once('.').map_or(name.as_str(), |(layer, _)| layer),
            Grouping::Stage => name.split('.').next().unwrap_or_default(),
        };
        match blocks.iter_mut().find(|block| block.name == name) {
            Some(block) => block.ranges.push(parameter.range()),
            None => {
                let (name, ranges) = (name.to_owned(), vec![parameter.range()]);
                blocks.push(Block { name, ranges });
            }
        }
    }
    blocks
}

/// The last linear layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LastLayer {
    pub classes: usize,
    /// Features that it reads.
    pub width: usize,
    /// A row of features per class.
    pub weights: Vec<f32>,
    /// One number per class.
    pub bias: Vec<f32>,
}

/// The last layer of a network with these parameters.
pub fn last_layer(network: &Network, parameters: &[f32]) -> Result<LastLayer, GeometryError> {
    count("the parameters", network.parameter_count(), parameters.len())?;
    let last = network.nodes().last().map(|node| node.op);
    let Some(Op::Linear { weight, bias }) = last else {
        let text = format!("the network ends in {last:?}; expected a linear layer");
        return Err(GeometryError::Data(text));
    };
    let (weight, bias) = (&network.parameters()[weight], &network.parameters()[bias]);
    let Layout::Linear { inputs: width, outputs: classes } = weight.layout else {
        return Err(GeometryError::Data(format!("`{}` is no linear layer's", weight.name)));
    };
    let own = &parameters[weight.range()];
    let weights = (0..classes).flat_map(|class| own.iter().skip(class).step_by(classes)).copied();
    let weights = weights.collect();
    Ok(LastLayer { classes, width, weights, bias: parameters[bias.range()].to_vec() })
}

/// The mean of −Σ_k p_k ln q_k over rows of logits, against the rows of the whole data set that
/// `rows` names.
pub fn soft_nll(
    logits: &[f32],
    rows: &[u32],
    targets: &[f32],
    classes: usize,
) -> Result<f64, GeometryError> {
    count("the logits", rows.len() * classes, logits.len())?;
    if rows.is_empty() || classes == 0 {
        return Err(GeometryError::Data("the loss of nothing is not defined".into()));
    }
    let mut total = 0.0;
    for (z, &row) in logits.chunks_exact(classes).zip(rows) {
        let from = row as usize * classes;
        let Some(p) = targets.get(from..from + classes) else {
            let known = targets.len() / classes;
            return Err(GeometryError::Data(format!("row {row} of {known} rows of targets")));
        };
        let top = z.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let beyond = |z: &f32| f64::from(*z) - f64::from(top);
        let spread = z.iter().map(|z| beyond(z).exp()).sum::<f64>().ln();
        total += z.iter().zip(p).map(|(z, &p)| f64::from(p) * (spread - beyond(z))).sum::<f64>();
    }
    Ok(total / rows.len() as f64)
}

/// Takes other weights, and leaves the optimizer's state as it is.
pub fn set(runner: &mut dyn Runner, weights: Weights) -> Result<(), EngineError> {
    let state = runner.state()?;
    let Weights { parameters, statistics } = weights;
    runner.restore(dissensus_engine::State { parameters, statistics, ..state })
}

/// Grad-CAM maps of these rows, one class each.
pub fn gradcam(
    runner: &mut dyn Runner,
    network: &Network,
    parameters: &[f32],
    rows: &[u32],
    classes: &[usize],
) -> Result<Cams, GeometryError> {
    cams(&runner.maps(rows)?, &last_layer(network, parameters)?.weights, classes)
}
