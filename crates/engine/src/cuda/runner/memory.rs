//! Everything that a run keeps on the device.

use std::collections::HashMap;

use super::super::cudnn::Shapes;
use super::super::launch::{Pointer, Stream};
use super::super::layout::{Places, padded};
use super::passes::{conv_shapes, thin_shapes};
use super::{BLOCKS, act_size};
use crate::device::{Dataset, Settings};
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp, Slots};
use crate::network::{Network, NodeId, Shape};

/// Vectors of a norm: mean, inverse deviation, a and b forward, e and f backward.
const NORM_VECTORS: usize = 6;

pub(super) struct Memory {
    /// By node; 0 for nodes inside a step.
    pub(super) values: Vec<Pointer>,
    /// By slot.
    pub(super) gradients: Vec<Pointer>,
    pub(super) weights: Pointer,
    /// The weights of convolutions in the type of activations.
    pub(super) copy: Pointer,
    pub(super) conv_gradient: Pointer,
    pub(super) gradient: Pointer,
    pub(super) slots: Vec<Pointer>,
    pub(super) statistics: Pointer,
    pub(super) kept: [Pointer; 2],
    pub(super) spare: Vec<Pointer>,
    pub(super) norms: HashMap<NodeId, Pointer>,
    /// By convolution of one pixel that steps over some: its input without those.
    pub(super) thin: HashMap<NodeId, Pointer>,
    pub(super) partial: Pointer,
    pub(super) arrived: Pointer,
    pub(super) workspace: Pointer,
    pub(super) workspace_bytes: usize,
    pub(super) pixels: Pointer,
    pub(super) table: Pointer,
    pub(super) visits: Pointer,
    pub(super) shifts: Pointer,
    pub(super) classes: Pointer,
    pub(super) shares: Pointer,
    pub(super) lambda: Pointer,
    pub(super) partner: Pointer,
    pub(super) losses: Pointer,
    pub(super) collected: Pointer,
    /// The number of the batch.
    pub(super) counter: Pointer,
    /// How many examples a mean is over, where it is not the batch.
    pub(super) over: Pointer,
    pub(super) epoch: Pointer,
    pub(super) by: Pointer,
    pub(super) rate: Pointer,
    pub(super) steps: Pointer,
}

/// What passes along a direction need beside that.
pub(super) struct Tangents {
    /// By node and by slot, as in [`Memory`].
    pub(super) values: Vec<Pointer>,
    pub(super) gradients: Vec<Pointer>,
    /// By norm: the tangents of a and b.
    pub(super) norms: HashMap<NodeId, Pointer>,
    pub(super) direction: Pointer,
    pub(super) direction_copy: Pointer,
}

/// Votes that labels are drawn from.
pub(super) struct Ballots {
    pub(super) keys: Pointer,
    pub(super) starts: Pointer,
    pub(super) votes: Pointer,
}

/// Bytes of an example of this shape.
fn bytes(shape: Shape, act: usize) -> usize {
    match shape {
        Shape::Map { height, width, channels } => act * height * width * padded(channels),
        Shape::Flat { width } => 4 * width,
    }
}

/// A buffer for the value of every node that a step makes, and one for every slot.
fn buffers(
    stream: &mut Stream,
    network: &Network,
    settings: &Settings,
    steps: &[Fused],
    slots: &Slots,
) -> Result<(Vec<Pointer>, Vec<Pointer>), EngineError> {
    let act = act_size(settings.precision);
    let mut values = vec![0; network.nodes().len()];
    for node in std::iter::once(0).chain(steps.iter().map(|step| step.output)) {
        values[node] = stream.zeros(settings.batch * bytes(network.nodes()[node].shape, act))?;
    }
    let mut gradients = Vec::new();
    for &shape in &slots.shapes {
        gradients.push(stream.zeros(settings.batch * bytes(shape, act))?);
    }
    Ok((values, gradients))
}

/// So many vectors for every norm.
fn norm_vectors(
    stream: &mut Stream,
    network: &Network,
    steps: &[Fused],
    vectors: usize,
) -> Result<HashMap<NodeId, Pointer>, EngineError> {
    let mut norms = HashMap::new();
    for step in steps.iter().filter(|step| matches!(step.op, FusedOp::Norm { .. })) {
        let channels = padded(network.nodes()[step.output].shape.channels());
        norms.insert(step.output, stream.zeros(vectors * 4 * channels)?);
    }
    Ok(norms)
}

impl Memory {
    pub(super) fn new(
        stream: &mut Stream,
        network: &Network,
        (data, pixels): (&Dataset, Pointer),
        settings: &Settings,
        steps: &[Fused],
        slots: &Slots,
        places: &Places,
    ) -> Result<Self, EngineError> {
        let (rows, classes) = (data.len(), network.classes());
        let act = act_size(settings.precision);
        let (values, gradients) = buffers(stream, network, settings, steps, slots)?;
        let norms = norm_vectors(stream, network, steps, NORM_VECTORS)?;
        let mut thin = HashMap::new();
        for step in steps {
            if let Some(shapes) = conv_shapes(network, step, settings.batch).and_then(thin_shapes) {
                let Shapes { count, height, width, inputs, .. } = shapes;
                thin.insert(step.output, stream.zeros(act * count * height * width * inputs)?);
            }
        }
        let table = match data {
            Dataset::Pictures { mean, deviation, .. } => {
                let normal = |byte: i32, mean: f32, deviation: f32| {
                    ((f64::from(byte) / 255.0 - f64::from(mean)) / f64::from(deviation)) as f32
                };
                let pairs = mean.iter().zip(deviation);
                let table: Vec<f32> = pairs
                    .flat_map(|(&m, &d)| (0..256).map(move |byte| normal(byte, m, d)))
                    .collect();
                stream.upload(&table)?
            }
            Dataset::Vectors { .. } => 0,
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
        // The widest norm has one column of blocks for every 128 channels, each of two sums.
        let widest = network.nodes().iter().map(|node| padded(node.shape.channels())).max();
        let columns = widest.unwrap_or(0).next_power_of_two().max(128);
        Ok(Self {
            values,
            gradients,
            weights: stream.zeros(w)?,
            copy: stream.zeros(act * places.convs)?,
            conv_gradient: stream.zeros(act * places.convs)?,
            gradient: stream.zeros(w)?,
            slots: own,
            statistics: stream.zeros(4 * network.statistic_count())?,
            kept: [stream.zeros(w)?, stream.zeros(4 * network.statistic_count())?],
            spare,
            norms,
            thin,
            partial: stream.zeros(4 * 2 * (BLOCKS + 1) * columns)?,
            arrived: stream.zeros(4 * columns)?,
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
            over: stream.zeros(4)?,
            epoch: stream.zeros(16)?,
            by: stream.zeros(32)?,
            rate: stream.zeros(4)?,
            steps: stream.zeros(8)?,
        })
    }
}

impl Tangents {
    pub(super) fn new(
        stream: &mut Stream,
        network: &Network,
        settings: &Settings,
        steps: &[Fused],
        slots: &Slots,
        places: &Places,
    ) -> Result<Self, EngineError> {
        let (values, gradients) = buffers(stream, network, settings, steps, slots)?;
        Ok(Self {
            values,
            gradients,
            norms: norm_vectors(stream, network, steps, 2)?,
            direction: stream.zeros(4 * places.len)?,
            direction_copy: stream.zeros(act_size(settings.precision) * places.convs)?,
        })
    }
}
