//! Convolutions of f32 on the bfloat16 units of a GPU, by kernels of ours: `kernels/bf16x3/conv.cu`. For
//! compute capability 8.0 and later, all sizes and passes; cuDNN has none.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::CUfunction;
use cudarc::driver::{CudaContext, CudaStream};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};

use super::NVRTC_STANDARD;
use super::cudnn::{Pass, Shapes};
use super::launch::{Module, Pointer, start};
use crate::error::EngineError;

const SOURCES: [&str; 2] =
    [include_str!("kernels/common.cu"), include_str!("kernels/bf16x3/conv.cu")];

/// The first compute capability with these units.
pub(super) const CAPABILITY: i32 = 8;

/// Rows, columns and depth of a block's product, and its threads.
const ROWS: usize = 128;
const COLS: usize = 64;
const DEEP: usize = 32;
const THREADS: u32 = 128;
/// About as many blocks share the gradient of weights: it is small and over many pixels, and a GPU has some
/// hundred processors for two blocks each. No matter of the GPU, since the order of sums depends on it.
const BLOCKS: usize = 1056;
/// The least chunks of pixels that are worth a block.
const LEAST: usize = 8;

/// A convolution as the kernels have it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Conv {
    count: i32,
    height: i32,
    width: i32,
    inputs: i32,
    outputs: i32,
    kernel: i32,
    shift: i32,
    out_height: i32,
    out_width: i32,
}

impl Conv {
    fn of(shapes: Shapes) -> Self {
        let Shapes { count, height, width, inputs, outputs, kernel, stride } = shapes;
        let (out_height, out_width) =
            (height.div_ceil(stride) as i32, width.div_ceil(stride) as i32);
        let [count, height, width] = [count, height, width].map(|n| n as i32);
        let [inputs, outputs, kernel] = [inputs, outputs, kernel].map(|n| n as i32);
        let shift = stride.ilog2() as i32;
        Self { count, height, width, inputs, outputs, kernel, shift, out_height, out_width }
    }
}

/// Blocks of a product of so many rows and columns.
fn tiles(rows: usize, cols: usize) -> usize {
    rows.div_ceil(ROWS) * cols.div_ceil(COLS)
}

/// How the pixels of the gradient of weights are shared: the number of shares, and chunks of each.
fn shares(shapes: &Shapes) -> (usize, usize) {
    let Shapes { count, height, width, inputs, outputs, kernel, stride } = *shapes;
    let chunks = (count * height.div_ceil(stride) * width.div_ceil(stride)).div_ceil(DEEP).max(1);
    let most = (BLOCKS / tiles(kernel * kernel * inputs, outputs)).min(chunks / LEAST).max(1);
    let each = chunks.div_ceil(most);
    (chunks.div_ceil(each), each)
}

/// The kernels on one GPU.
pub(super) struct Bf16x3 {
    forward: CUfunction,
    back: CUfunction,
    weights: CUfunction,
    sum: CUfunction,
    #[allow(dead_code)] // The functions are in it.
    module: Module,
}

// SAFETY: functions may be used by all threads.
unsafe impl Send for Bf16x3 {}
// SAFETY: as above.
unsafe impl Sync for Bf16x3 {}

impl Bf16x3 {
    /// Compiles the kernels.
    pub(super) fn new(
        context: &Arc<CudaContext>,
        capability: (i32, i32),
    ) -> Result<Self, EngineError> {
        let (major, minor) = capability;
        if major < CAPABILITY {
            let words = format!(
                "bf16x3 needs a GPU of compute capability {CAPABILITY}.0 or later, and this is {major}.{minor}"
            );
            return Err(EngineError::Device(words));
        }
        let options = vec![
            format!("--gpu-architecture=compute_{major}{minor}"),
            "-DBF16=0".into(),
            NVRTC_STANDARD.into(),
        ];
        let options = CompileOptions { options, ..CompileOptions::default() };
        let ptx = compile_ptx_with_opts(SOURCES.concat(), options)
            .map_err(|error| EngineError::Device(format!("NVRTC: {error:?}")))?;
        let module = Module::new(context, &ptx.to_src(), major)?;
        Ok(Self {
            forward: module.function("conv_forward")?,
            back: module.function("conv_back")?,
            weights: module.function("conv_weights")?,
            sum: module.function("conv_sum_weights")?,
            module,
        })
    }

    /// Bytes of the workspace that a convolution needs.
    pub(super) fn workspace(shapes: &Shapes) -> usize {
        4 * shares(shapes).0 * shapes.sizes()[2]
    }

    /// A pass over x, y and W, one of which it computes from the other two, as [`super::cudnn::Conv::run`].
    pub(super) fn run(
        &self,
        stream: &CudaStream,
        pass: Pass,
        add: bool,
        shapes: Shapes,
        [x, y, w]: [Pointer; 3],
        space: Pointer,
    ) -> Result<(), EngineError> {
        let Shapes { count, height, width, inputs, outputs, kernel, stride } = shapes;
        let of = Conv::of(shapes);
        let start = |function, (blocks, threads): (usize, u32), arguments: &mut [*mut c_void]| {
            let geometry = ((blocks as u32, 1), (threads, 1));
            // SAFETY: the arguments have the types of the kernel's declaration, and every pointer is to
            // memory of the run.
            unsafe { start(stream, function, geometry, 0, false, arguments) }
        };
        let (mut conv, mut adds, mut at) = (of, i32::from(add), [x, y, w, space]);
        let [x, y, w, space] = at.each_mut().map(raw);
        match pass {
            Pass::Forward => {
                let blocks = tiles(shapes.sizes()[1] / outputs, outputs);
                let arguments = &mut [raw(&mut conv), x, w, raw(&mut adds), y];
                start(self.forward, (blocks, THREADS), arguments)
            }
            Pass::Backward => {
                // Pixels of each remainder by the step.
                let pixels = count * height.div_ceil(stride) * width.div_ceil(stride);
                let blocks = tiles(pixels * stride * stride, inputs);
                let arguments = &mut [raw(&mut conv), y, w, raw(&mut adds), x];
                start(self.back, (blocks, THREADS), arguments)
            }
            Pass::Weights => {
                let (shares, chunks) = shares(&shapes);
                let blocks = shares * tiles(kernel * kernel * inputs, outputs);
                let mut chunks = chunks as i32;
                let arguments = &mut [raw(&mut conv), x, y, raw(&mut chunks), space];
                start(self.weights, (blocks, THREADS), arguments)?;
                let (mut shares, mut len) = (shares as i32, shapes.sizes()[2] as i32);
                let blocks = shapes.sizes()[2].div_ceil(256);
                let arguments = &mut [space, raw(&mut shares), raw(&mut len), raw(&mut adds), w];
                start(self.sum, (blocks, 256), arguments)
            }
        }
    }
}

fn raw<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_all_pixels_and_none_is_empty() {
        for (count, side, channels, stride) in
            [(500, 32, 64, 1), (500, 4, 512, 1), (7, 12, 16, 2), (1, 1, 8, 1)]
        {
            let (height, width, inputs, outputs) = (side, side, channels, channels);
            let shapes = Shapes { count, height, width, inputs, outputs, kernel: 3, stride };
            let (shares, each) = shares(&shapes);
            let chunks = shapes.sizes()[1].div_ceil(outputs * DEEP);
            assert!(shares * each >= chunks && (shares - 1) * each < chunks, "{shapes:?}");
        }
    }

    /// The sizes that the host counts blocks by are those of the kernels.
    #[test]
    fn sizes_are_those_of_the_kernels() {
        for (name, value) in [("ROWS", ROWS), ("COLS", COLS), ("DEEP", DEEP)] {
            assert!(SOURCES[1].contains(&format!("#define {name} {value}\n")), "{name}");
        }
        let fields =
            "int count, height, width, inputs, outputs, kernel, shift, out_height, out_width;";
        assert!(SOURCES[1].contains(fields));
        assert_eq!(size_of::<Conv>(), 9 * 4);
    }
}
