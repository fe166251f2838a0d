//! Everything that a run keeps on the device.

use std::collections::HashMap;

use cudarc::driver::{CudaSlice, DevicePtr};

use super::super::cudnn::Shapes;
use super::super::launch::{DeviceSlice, Pointer, Stream};
use super::super::layout::{Places, padded};
use super::super::norm_work::BLOCKS;
use super::super::zeros;
use super::act_size;
use super::passes::{conv_shapes, subsampled_shapes};
use crate::device::{Dataset, Settings};
use crate::error::EngineError;
use crate::fused::{Fused, FusedOp, Slots, value_slots};
use crate::network::{Network, NodeId, Shape};

/// Vectors of a norm: mean, inverse deviation, a and b forward, e and f backward.
const NORM_VECTORS: usize = 6;

/// The buffers of a batch.
#[derive(Clone)]
pub(super) struct BatchBuffers {
    /// By node; 0 for nodes inside a step. Nodes may share one where nothing follows the forward pass.
    pub(super) values: Vec<Pointer>,
    /// By node, too; nodes of one slot may share one. 0 where nothing follows the forward pass.
    pub(super) gradients: Vec<Pointer>,
    /// By convolution of one pixel that steps over some: its input without those.
    pub(super) subsampled: HashMap<NodeId, Pointer>,
}

#[derive(Clone)]
pub(super) struct Memory {
    pub(super) buffers: BatchBuffers,
    pub(super) weights: DeviceSlice<f32>,
    /// The weights of convolutions in the type of activations.
    pub(super) copy: DeviceSlice<u8>,
    pub(super) conv_gradient: Pointer,
    pub(super) gradient: Pointer,
    pub(super) slots: Vec<DeviceSlice<f32>>,
    pub(super) statistics: DeviceSlice<f32>,
    pub(super) kept: [DeviceSlice<f32>; 2],
    /// Room for what training changes: the weights twice, the statistics, and each slot.
    pub(super) spare: Vec<DeviceSlice<f32>>,
    pub(super) spare_steps: DeviceSlice<u64>,
    pub(super) norms: HashMap<NodeId, Pointer>,
    pub(super) partial: Pointer,
    pub(super) arrived: Pointer,
    /// Where the gradients of convolutions' weights are added up by kernels of ours.
    pub(super) weight_sums: Pointer,
    /// By norm: a bit for each number of its output, whether it is positive.
    pub(super) masks: HashMap<NodeId, Pointer>,
    pub(super) workspace: Pointer,
    pub(super) workspace_bytes: usize,
    pub(super) pixels: Pointer,
    pub(super) table: Pointer,
    pub(super) visits: DeviceSlice<u32>,
    pub(super) shifts: DeviceSlice<[u8; 4]>,
    pub(super) classes: DeviceSlice<u16>,
    pub(super) shares: DeviceSlice<f32>,
    pub(super) lambda: DeviceSlice<f32>,
    pub(super) partner: DeviceSlice<u32>,
    pub(super) losses: DeviceSlice<f32>,
    pub(super) collected: DeviceSlice<f32>,
    /// The number of the batch.
    pub(super) counter: DeviceSlice<i32>,
    /// How many examples a mean is over, where it is not the batch.
    pub(super) over: DeviceSlice<i32>,
    pub(super) epoch: DeviceSlice<u64>,
    pub(super) by: DeviceSlice<f32>,
    pub(super) rate: DeviceSlice<f32>,
    pub(super) steps: DeviceSlice<u64>,
    /// How examples are moved: the temperature, and how far.
    pub(super) moves: DeviceSlice<f32>,
}

/// What passes along a direction need beside [`BatchBuffers`] of their own.
pub(super) struct Tangents {
    /// By norm: the tangents of a and b.
    pub(super) norms: HashMap<NodeId, Pointer>,
    pub(super) direction: Pointer,
    pub(super) direction_copy: Pointer,
}

/// Votes that labels are drawn from.
pub(super) struct Ballots {
    pub(super) keys: DeviceSlice<u64>,
    pub(super) starts: DeviceSlice<u32>,
    pub(super) votes: DeviceSlice<u16>,
}

/// Bytes of an example of this shape.
fn bytes(shape: Shape, act: usize) -> usize {
    match shape {
        Shape::Map { height, width, channels } => act * height * width * padded(channels),
        Shape::Flat { width } => 4 * width,
    }
}

/// Where buffers of so many bytes come from.
pub(super) type Take<'a> = dyn FnMut(usize) -> Result<Pointer, EngineError> + 'a;

/// What buffers are for: a network in some precision.
pub(super) struct BufferPlan<'a> {
    pub(super) network: &'a Network,
    pub(super) steps: &'a [Fused],
    pub(super) slots: &'a Slots,
    /// Bytes of an activation.
    pub(super) act: usize,
}

impl BufferPlan<'_> {
    /// The buffers of `batch` examples: a value for every node that a step makes, and gradients, one
    /// for every slot where they are `shared`, or else one for every node.
    pub(super) fn buffers(
        &self,
        batch: usize,
        shared: bool,
        take: &mut Take<'_>,
    ) -> Result<BatchBuffers, EngineError> {
        let nodes = self.network.nodes();
        let mut values = vec![0; nodes.len()];
        for node in std::iter::once(0).chain(self.steps.iter().map(|step| step.output)) {
            values[node] = take(batch * bytes(nodes[node].shape, self.act))?;
        }
        let gradients = self.by_slot(self.slots, batch, shared, take)?;
        Ok(BatchBuffers { values, gradients, subsampled: self.subsampled(batch, take)? })
    }

    /// The values of `batch` examples, where nothing follows the forward pass.
    pub(super) fn forward_buffers(
        &self,
        batch: usize,
        take: &mut Take<'_>,
    ) -> Result<BatchBuffers, EngineError> {
        let slots = value_slots(self.network, self.steps);
        let values = self.by_slot(&slots, batch, true, take)?;
        let gradients = vec![0; values.len()];
        Ok(BatchBuffers { values, gradients, subsampled: self.subsampled(batch, take)? })
    }

    /// A buffer for every slot where they are `shared`, or else one for every node that has a slot.
    fn by_slot(
        &self,
        slots: &Slots,
        batch: usize,
        shared: bool,
        take: &mut Take<'_>,
    ) -> Result<Vec<Pointer>, EngineError> {
        let mut of_slot = vec![None; slots.shapes.len()];
        let mut of_node = vec![0; slots.of.len()];
        for (node, slot) in slots.of.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            of_node[node] = match of_slot[slot].filter(|_| shared) {
                Some(known) => known,
                None => take(batch * bytes(self.network.nodes()[node].shape, self.act))?,
            };
            of_slot[slot] = Some(of_node[node]);
        }
        Ok(of_node)
    }

    /// The inputs of convolutions of one pixel without those that they step over.
    fn subsampled(
        &self,
        batch: usize,
        take: &mut Take<'_>,
    ) -> Result<HashMap<NodeId, Pointer>, EngineError> {
        let mut subsampled = HashMap::new();
        for step in self.steps {
            if let Some(shapes) = conv_shapes(self.network, step, batch).and_then(subsampled_shapes)
            {
                let Shapes { count, height, width, inputs, .. } = shapes;
                subsampled.insert(step.output, take(self.act * count * height * width * inputs)?);
            }
        }
        Ok(subsampled)
    }

    /// Bytes of such buffers.
    pub(super) fn bytes(&self, batch: usize, shared: bool) -> Result<usize, EngineError> {
        let mut bytes = 0;
        self.buffers(batch, shared, &mut |more| {
            bytes += aligned(more);
            Ok(0)
        })?;
        Ok(bytes)
    }

    /// Such buffers in memory of their own, which is freed with them.
    pub(super) fn allocate(
        &self,
        stream: &Stream,
        batch: usize,
        shared: bool,
    ) -> Result<OwnedBuffers, EngineError> {
        let bytes = self.bytes(batch, shared)?;
        let memory = zeros(&stream.stream, bytes)?;
        let mut at = memory.device_ptr(&stream.stream).0;
        let buffers = self.buffers(batch, shared, &mut |bytes| {
            let here = at;
            at += aligned(bytes) as u64;
            Ok(here)
        })?;
        Ok(OwnedBuffers { buffers, bytes, _memory: memory })
    }
}

/// Buffers in memory of their own. It is freed in the order of the stream, so that what is still at
/// work there is not disturbed.
pub(super) struct OwnedBuffers {
    pub(super) buffers: BatchBuffers,
    pub(super) bytes: usize,
    _memory: CudaSlice<u8>,
}

/// Buffers start where the widest loads may.
fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(256)
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
        let plan = BufferPlan { network, steps, slots, act };
        let buffers = plan.buffers(settings.batch, true, &mut |bytes| stream.zeros(bytes))?;
        let norms = norm_vectors(stream, network, steps, NORM_VECTORS)?;
        let table = match data {
            Dataset::Images { mean, deviation, .. } => {
                let normal = |byte: i32, mean: f32, deviation: f32| {
                    ((f64::from(byte) / 255.0 - f64::from(mean)) / f64::from(deviation)) as f32
                };
                let pairs = mean.iter().zip(deviation);
                let table: Vec<f32> = pairs
                    .flat_map(|(&m, &d)| (0..256).map(move |byte| normal(byte, m, d)))
                    .collect();
                stream.upload(&table)?.at()
            }
            Dataset::Vectors { .. } => 0,
        };
        let (w, statistics) = (places.len, network.statistic_count());
        let mut vectors = |count: usize| -> Result<Vec<DeviceSlice<f32>>, EngineError> {
            (0..count).map(|_| stream.numbers(w)).collect()
        };
        let slots = settings.optimizer.slots().len();
        let own = vectors(slots)?;
        let mut spare = vectors(2)?;
        spare.push(stream.numbers(statistics)?);
        let spare_steps = stream.numbers(1)?;
        for _ in 0..slots {
            spare.push(stream.numbers(w)?);
        }
        let features = network.nodes()[network.features()].shape.len();
        // The widest norm has one column of blocks for every 128 channels, each of two sums.
        let widest = network.nodes().iter().map(|node| padded(node.shape.channels())).max();
        let columns = widest.unwrap_or(0).next_power_of_two().max(128);
        Ok(Self {
            buffers,
            weights: stream.numbers(w)?,
            copy: stream.numbers(act * places.convs)?,
            conv_gradient: stream.zeros(act * places.convs)?,
            gradient: stream.zeros(4 * w)?,
            slots: own,
            statistics: stream.numbers(statistics)?,
            kept: [stream.numbers(w)?, stream.numbers(statistics)?],
            spare,
            spare_steps,
            norms,
            partial: stream.zeros(4 * 2 * (BLOCKS + 1) * columns)?,
            arrived: stream.zeros(4 * columns)?,
            weight_sums: 0,
            masks: HashMap::new(),
            workspace: 0,
            workspace_bytes: 0,
            pixels,
            table,
            visits: stream.numbers(rows)?,
            shifts: stream.numbers(rows)?,
            classes: stream.numbers(rows)?,
            shares: stream.numbers(rows * classes)?,
            lambda: stream.numbers(rows)?,
            partner: stream.numbers(rows)?,
            losses: stream.numbers(rows)?,
            collected: stream.numbers(rows * classes.max(features))?,
            counter: stream.numbers(1)?,
            over: stream.numbers(1)?,
            epoch: stream.numbers(2)?,
            by: stream.numbers(8)?,
            rate: stream.numbers(1)?,
            steps: stream.numbers(1)?,
            moves: stream.numbers(2)?,
        })
    }

    /// Memory for evaluation beside training: what changes on the way is its own, the rest is shared.
    pub(super) fn for_evaluation(
        &self,
        stream: &mut Stream,
        plan: &BufferPlan<'_>,
        settings: &Settings,
        places: &Places,
        rows: usize,
    ) -> Result<Self, EngineError> {
        let &BufferPlan { network, steps, act, .. } = plan;
        Ok(Self {
            buffers: plan.forward_buffers(settings.batch, &mut |bytes| stream.zeros(bytes))?,
            norms: norm_vectors(stream, network, steps, NORM_VECTORS)?,
            weights: stream.numbers(places.len)?,
            copy: stream.numbers(act * places.convs)?,
            statistics: stream.numbers(network.statistic_count())?,
            workspace: stream.zeros(self.workspace_bytes)?,
            visits: stream.numbers(rows)?,
            collected: stream.numbers(rows * network.classes())?,
            counter: stream.numbers(1)?,
            ..self.clone()
        })
    }
}

impl Tangents {
    pub(super) fn new(
        stream: &mut Stream,
        network: &Network,
        settings: &Settings,
        steps: &[Fused],
        places: &Places,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            norms: norm_vectors(stream, network, steps, 2)?,
            direction: stream.zeros(4 * places.len)?,
            direction_copy: stream.zeros(act_size(settings.precision) * places.convs)?,
        })
    }
}
