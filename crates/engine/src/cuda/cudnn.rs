//! cuDNN's convolutions, by its graph API: N×H×W×C activations, \[out\]\[ky\]\[kx\]\[in\] weights.
//!
//! A convolution has three passes, each plain or added to what is there. For each, cuDNN knows tens
//! of ways; [`plans`] chooses one.

mod descriptor;
mod plans;

use std::ptr::null_mut;

use cudarc::cudnn::sys as c;

use super::launch::Pointer;
use crate::device::Precision;
use crate::error::EngineError;
use descriptor::{Descriptor, Kind, Name, What};
pub(super) use plans::{Place, Plans};

fn checked(status: c::cudnnStatus_t, what: &str) -> Result<(), EngineError> {
    match status {
        c::cudnnStatus_t::CUDNN_STATUS_SUCCESS => Ok(()),
        other => Err(EngineError::Device(format!("cuDNN, {what}: {other:?}"))),
    }
}

/// cuDNN on one stream.
pub(super) struct Handle(c::cudnnHandle_t);

// SAFETY: a handle may move between threads; it is used by one at a time.
unsafe impl Send for Handle {}

impl Handle {
    pub(super) fn new(stream: cudarc::driver::sys::CUstream) -> Result<Self, EngineError> {
        let mut handle = null_mut();
        // SAFETY: plain calls with valid pointers.
        unsafe {
            checked(c::cudnnCreate(&mut handle), "start")?;
            checked(c::cudnnSetStream(handle, stream.cast()), "stream")?;
        }
        Ok(Self(handle))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is ours.
        unsafe { c::cudnnDestroy(self.0) };
    }
}

/// The shape of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Shapes {
    pub(super) count: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) kernel: usize,
    pub(super) stride: usize,
}

/// Which of x, y and W is computed from the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Pass {
    Forward,
    Backward,
    Weights,
}

impl Pass {
    const ALL: [Self; 3] = [Self::Forward, Self::Backward, Self::Weights];

    fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Weights => "weights",
        }
    }
}

impl Shapes {
    /// Numbers of x, y and W.
    pub(super) fn sizes(&self) -> [usize; 3] {
        let out = self.height.div_ceil(self.stride) * self.width.div_ceil(self.stride);
        let x = self.count * self.height * self.width * self.inputs;
        let w = self.outputs * self.kernel * self.kernel * self.inputs;
        [x, self.count * out * self.outputs, w]
    }

    /// Products of numbers in a pass.
    fn products(&self) -> usize {
        self.sizes()[1] * self.kernel * self.kernel * self.inputs
    }
}

/// What the tensors are called: x, y, W.
const NAMES: [i64; 3] = [1, 2, 3];

/// A pass as cuDNN's graph of one operation, with all that it refers to.
struct Graph {
    graph: Descriptor,
    _parts: Vec<Descriptor>,
}

fn tensor(name: i64, dims: [usize; 4], precision: Precision) -> Result<Descriptor, EngineError> {
    let kind = match precision {
        Precision::Bf16 => c::cudnnDataType_t::CUDNN_DATA_BFLOAT16,
        Precision::F32 | Precision::Tf32 | Precision::Bf16x3 => {
            c::cudnnDataType_t::CUDNN_DATA_FLOAT
        }
    };
    // Sizes are named N, C, H, W whatever the order in memory.
    let [_, channels, height, width] = dims;
    let strides = [channels * height * width, 1, channels * width, channels];
    Descriptor::new(What::CUDNN_BACKEND_TENSOR_DESCRIPTOR)?
        .set(Name::CUDNN_ATTR_TENSOR_DATA_TYPE, Kind::CUDNN_TYPE_DATA_TYPE, &[kind])?
        .whole(Name::CUDNN_ATTR_TENSOR_DIMENSIONS, &dims.map(|n| n as i64))?
        .whole(Name::CUDNN_ATTR_TENSOR_STRIDES, &strides.map(|n| n as i64))?
        .whole(Name::CUDNN_ATTR_TENSOR_UNIQUE_ID, &[name])?
        .whole(Name::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &[16])?
        .finished("tensor")
}

impl Graph {
    fn new(
        handle: &Handle,
        shapes: Shapes,
        precision: Precision,
        pass: Pass,
        add: bool,
    ) -> Result<Self, EngineError> {
        let Shapes { count, height, width, inputs, outputs, kernel, stride } = shapes;
        let out = [height.div_ceil(stride), width.div_ceil(stride)];
        let x = tensor(NAMES[0], [count, inputs, height, width], precision)?;
        let y = tensor(NAMES[1], [count, outputs, out[0], out[1]], precision)?;
        let w = tensor(NAMES[2], [outputs, inputs, kernel, kernel], precision)?;
        let (pad, step) = ((kernel / 2) as i64, stride as i64);
        let float = c::cudnnDataType_t::CUDNN_DATA_FLOAT;
        let mode = c::cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION;
        let conv = Descriptor::new(What::CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)?
            .whole(Name::CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, &[2])?
            .set(Name::CUDNN_ATTR_CONVOLUTION_COMP_TYPE, Kind::CUDNN_TYPE_DATA_TYPE, &[float])?
            .set(
                Name::CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                Kind::CUDNN_TYPE_CONVOLUTION_MODE,
                &[mode],
            )?
            .whole(Name::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &[pad, pad])?
            .whole(Name::CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &[pad, pad])?
            .whole(Name::CUDNN_ATTR_CONVOLUTION_DILATIONS, &[1, 1])?
            .whole(Name::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, &[step, step])?
            .finished("convolution")?;
        let (what, names) = match pass {
            Pass::Forward => (
                What::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                ],
            ),
            Pass::Backward => (
                What::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                ],
            ),
            Pass::Weights => (
                What::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                ],
            ),
        };
        let float = Kind::CUDNN_TYPE_FLOAT;
        let operation = Descriptor::new(what)?
            .refer(names[0], &x)?
            .refer(names[1], &y)?
            .refer(names[2], &w)?
            .refer(names[3], &conv)?
            .set(names[4], float, &[1f32])?
            .set(names[5], float, &[if add { 1f32 } else { 0f32 }])?
            .finished("operation")?;
        let graph = Descriptor::new(What::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)?
            .refer(Name::CUDNN_ATTR_OPERATIONGRAPH_OPS, &operation)?
            .set(Name::CUDNN_ATTR_OPERATIONGRAPH_HANDLE, Kind::CUDNN_TYPE_HANDLE, &[handle.0])?
            .finished("graph")?;
        Ok(Self { graph, _parts: vec![x, y, w, conv, operation] })
    }
}

/// A way to do a pass.
struct Plan {
    plan: Descriptor,
    workspace: usize,
    _config: Descriptor,
}

impl Plan {
    fn new(handle: &Handle, config: Descriptor) -> Result<Self, EngineError> {
        let plan = Descriptor::new(What::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)?
            .refer(Name::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &config)?
            .set(Name::CUDNN_ATTR_EXECUTION_PLAN_HANDLE, Kind::CUDNN_TYPE_HANDLE, &[handle.0])?
            .finished("plan")?;
        let bytes = plan.number(Name::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)?;
        Ok(Self { plan, workspace: usize::try_from(bytes).unwrap_or(0), _config: config })
    }

    /// Runs it on x, y and W, one of which it writes.
    fn run(
        &self,
        handle: &Handle,
        tensors: [Pointer; 3],
        space: Pointer,
    ) -> Result<(), EngineError> {
        let pointer = Kind::CUDNN_TYPE_VOID_PTR;
        let pack = Descriptor::new(What::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)?
            .set(Name::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointer, &tensors)?
            .whole(Name::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &NAMES)?
            .set(Name::CUDNN_ATTR_VARIANT_PACK_WORKSPACE, pointer, &[space])?
            .finished("pointers")?;
        // SAFETY: pointers are to buffers of the described sizes, and to a workspace of at least
        // the plan's.
        let status = unsafe { c::cudnnBackendExecute(handle.0, self.plan.0, pack.0) };
        checked(status, "convolution")
    }
}

/// A convolution with its plans, by pass: plain, and adding to what is there.
pub(super) struct Conv {
    plans: [[Plan; 2]; 3],
    /// Whether they were chosen for being run many times.
    pub(super) often: bool,
    /// Bytes that the hungriest of them needs.
    pub(super) workspace: usize,
}

impl Conv {
    /// A pass over x, y and W, one of which it computes from the other two: y (+)= x∗W,
    /// x (+)= y∗Wᵀ or W (+)= xᵀ∗y, values or gradients.
    pub(super) fn run(
        &self,
        handle: &Handle,
        pass: Pass,
        add: bool,
        [x, y, w]: [Pointer; 3],
        space: Pointer,
    ) -> Result<(), EngineError> {
        self.plans[pass as usize][usize::from(add)].run(handle, [x, y, w], space)
    }
}
