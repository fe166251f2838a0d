//! cuDNN's convolutions: N×H×W×C activations, \[out\]\[ky\]\[kx\]\[in\] weights.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::cudnn::sys as c;

use super::launch::Pointer;
use crate::device::Precision;
use crate::error::EngineError;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shapes {
    pub(super) count: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) kernel: usize,
    pub(super) stride: usize,
}

/// A convolution with its algorithms.
pub(super) struct Conv {
    x: c::cudnnTensorDescriptor_t,
    y: c::cudnnTensorDescriptor_t,
    w: c::cudnnFilterDescriptor_t,
    conv: c::cudnnConvolutionDescriptor_t,
    forward: c::cudnnConvolutionFwdAlgo_t,
    backward: c::cudnnConvolutionBwdDataAlgo_t,
    weights: c::cudnnConvolutionBwdFilterAlgo_t,
    /// Bytes that the hungriest of them needs.
    pub(super) workspace: usize,
}

// SAFETY: descriptors may move between threads; they are used by one at a time.
unsafe impl Send for Conv {}

/// More memory than this is not given to an algorithm.
const MOST: usize = 512 << 20;
/// Algorithms that are asked for.
const CHOICES: usize = 8;

/// The fastest choice that is deterministic, works, and is not too hungry.
macro_rules! choose {
    ($call:path, $perf:ty, $what:literal, $($arg:expr),*) => {{
        let mut found = 0;
        // Plain data that the call fills.
        let mut perf: [$perf; CHOICES] = std::mem::zeroed();
        checked($call($($arg,)* CHOICES as i32, &mut found, perf.as_mut_ptr()), $what)?;
        let fits = |perf: &&$perf| {
            perf.status == c::cudnnStatus_t::CUDNN_STATUS_SUCCESS
                && perf.determinism == c::cudnnDeterminism_t::CUDNN_DETERMINISTIC
                && perf.memory <= MOST
        };
        let chosen = perf[..found.max(0) as usize].iter().find(fits);
        chosen.map(|perf| (perf.algo, perf.memory)).ok_or_else(|| {
            EngineError::Device(concat!("cuDNN has no deterministic ", $what).to_owned())
        })?
    }};
}

impl Conv {
    pub(super) fn new(
        handle: &Handle,
        shapes: Shapes,
        precision: Precision,
    ) -> Result<Self, EngineError> {
        use c::cudnnMathType_t::{CUDNN_DEFAULT_MATH, CUDNN_FMA_MATH, CUDNN_TENSOR_OP_MATH};
        use c::cudnnTensorFormat_t::CUDNN_TENSOR_NHWC as NHWC;
        let Shapes { count, height, width, inputs, outputs, kernel, stride } = shapes;
        let (kind, math) = match precision {
            Precision::Bf16 => (c::cudnnDataType_t::CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_OP_MATH),
            Precision::Tf32 => (c::cudnnDataType_t::CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH),
            Precision::F32 => (c::cudnnDataType_t::CUDNN_DATA_FLOAT, CUDNN_FMA_MATH),
        };
        let n = |size: usize| size as i32;
        let mut new = Self {
            x: null_mut(),
            y: null_mut(),
            w: null_mut(),
            conv: null_mut(),
            forward: c::cudnnConvolutionFwdAlgo_t::CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
            backward: c::cudnnConvolutionBwdDataAlgo_t::CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
            weights: c::cudnnConvolutionBwdFilterAlgo_t::CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
            workspace: 0,
        };
        let (out_height, out_width) = (height.div_ceil(stride), width.div_ceil(stride));
        let pad = n(kernel / 2);
        // SAFETY: plain calls with valid pointers.
        unsafe {
            checked(c::cudnnCreateTensorDescriptor(&mut new.x), "descriptor")?;
            checked(c::cudnnCreateTensorDescriptor(&mut new.y), "descriptor")?;
            checked(c::cudnnCreateFilterDescriptor(&mut new.w), "descriptor")?;
            checked(c::cudnnCreateConvolutionDescriptor(&mut new.conv), "descriptor")?;
            let (x, y) = (new.x, new.y);
            let set = c::cudnnSetTensor4dDescriptor;
            checked(set(x, NHWC, kind, n(count), n(inputs), n(height), n(width)), "input")?;
            let (h, w) = (n(out_height), n(out_width));
            checked(set(y, NHWC, kind, n(count), n(outputs), h, w), "output")?;
            let (k, taps) = (n(outputs), n(kernel));
            let set = c::cudnnSetFilter4dDescriptor;
            checked(set(new.w, kind, NHWC, k, n(inputs), taps, taps), "weights")?;
            let step = n(stride);
            checked(
                c::cudnnSetConvolution2dDescriptor(
                    new.conv,
                    pad,
                    pad,
                    step,
                    step,
                    1,
                    1,
                    c::cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION,
                    c::cudnnDataType_t::CUDNN_DATA_FLOAT,
                ),
                "convolution",
            )?;
            checked(c::cudnnSetConvolutionMathType(new.conv, math), "arithmetic")?;
            let (h, conv) = (handle.0, new.conv);
            let (forward, a) = choose!(
                c::cudnnGetConvolutionForwardAlgorithm_v7,
                c::cudnnConvolutionFwdAlgoPerf_t,
                "forward algorithm",
                h,
                x,
                new.w,
                conv,
                y
            );
            let (backward, b) = choose!(
                c::cudnnGetConvolutionBackwardDataAlgorithm_v7,
                c::cudnnConvolutionBwdDataAlgoPerf_t,
                "backward algorithm",
                h,
                new.w,
                y,
                conv,
                x
            );
            let (weights, d) = choose!(
                c::cudnnGetConvolutionBackwardFilterAlgorithm_v7,
                c::cudnnConvolutionBwdFilterAlgoPerf_t,
                "weight gradient algorithm",
                h,
                x,
                y,
                conv,
                new.w
            );
            (new.forward, new.backward, new.weights) = (forward, backward, weights);
            new.workspace = a.max(b).max(d);
        }
        Ok(new)
    }

    /// y (+)= x∗W.
    pub(super) fn forward(
        &self,
        handle: &Handle,
        x: Pointer,
        w: Pointer,
        y: Pointer,
        add: bool,
        space: Pointer,
    ) -> Result<(), EngineError> {
        let (one, beta) = (1f32, if add { 1f32 } else { 0f32 });
        // SAFETY: pointers are to buffers of the described sizes.
        let status = unsafe {
            c::cudnnConvolutionForward(
                handle.0,
                scalar(&one),
                self.x,
                at(x),
                self.w,
                at(w),
                self.conv,
                self.forward,
                at(space).cast_mut(),
                self.workspace,
                scalar(&beta),
                self.y,
                at(y).cast_mut(),
            )
        };
        checked(status, "convolution")
    }

    /// dx (+)= dy∗Wᵀ.
    pub(super) fn backward(
        &self,
        handle: &Handle,
        dy: Pointer,
        w: Pointer,
        dx: Pointer,
        add: bool,
        space: Pointer,
    ) -> Result<(), EngineError> {
        let (one, beta) = (1f32, if add { 1f32 } else { 0f32 });
        // SAFETY: as above.
        let status = unsafe {
            c::cudnnConvolutionBackwardData(
                handle.0,
                scalar(&one),
                self.w,
                at(w),
                self.y,
                at(dy),
                self.conv,
                self.backward,
                at(space).cast_mut(),
                self.workspace,
                scalar(&beta),
                self.x,
                at(dx).cast_mut(),
            )
        };
        checked(status, "backward convolution")
    }

    /// dW (+)= xᵀ∗dy.
    pub(super) fn weights(
        &self,
        handle: &Handle,
        x: Pointer,
        dy: Pointer,
        dw: Pointer,
        add: bool,
        space: Pointer,
    ) -> Result<(), EngineError> {
        let (one, beta) = (1f32, if add { 1f32 } else { 0f32 });
        // SAFETY: as above.
        let status = unsafe {
            c::cudnnConvolutionBackwardFilter(
                handle.0,
                scalar(&one),
                self.x,
                at(x),
                self.y,
                at(dy),
                self.conv,
                self.weights,
                at(space).cast_mut(),
                self.workspace,
                scalar(&beta),
                self.w,
                at(dw).cast_mut(),
            )
        };
        checked(status, "weight gradient")
    }
}

fn scalar(value: &f32) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

fn at(pointer: Pointer) -> *const c_void {
    pointer as *const c_void
}

impl Drop for Conv {
    fn drop(&mut self) {
        // SAFETY: the descriptors are ours; destroying a null one is an error that does nothing.
        unsafe {
            c::cudnnDestroyTensorDescriptor(self.x);
            c::cudnnDestroyTensorDescriptor(self.y);
            c::cudnnDestroyFilterDescriptor(self.w);
            c::cudnnDestroyConvolutionDescriptor(self.conv);
        }
    }
}
