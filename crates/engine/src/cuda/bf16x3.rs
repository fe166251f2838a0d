//! Convolutions of f32 on the bfloat16 units of a GPU, by kernels of ours: `kernels/bf16x3/conv.cu`. For
//! compute capability 8.0 and later, all sizes and passes; cuDNN has none. Some sizes have kernels of their own
//! on compute capability 9.0: [`Parts`].

use std::sync::Arc;

use cudarc::driver::sys::CUfunction;
use cudarc::driver::{CudaContext, CudaStream};

use super::cudnn::{Pass, Shapes};
use super::hopper::Parts;
use super::launch::{Module, Pointer, raw, start};
use crate::error::EngineError;

const SOURCES: [&str; 2] =
    [include_str!("kernels/common.cu"), include_str!("kernels/bf16x3/conv.cu")];

/// The first compute capability with these units.
pub(super) const CAPABILITY: i32 = 8;

/// Rows and depth of a block's product.
const ROWS: usize = 128;
const DEEP: usize = 32;
/// Its columns; the first that has room for all of a result's, or else the last.
const COLS: [usize; 2] = [64, 128];
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

/// Which of [`COLS`] a product has.
fn wide(columns: usize) -> usize {
    usize::from(columns > COLS[0])
}

/// Blocks of a product of so many rows and columns.
fn tiles(rows: usize, columns: usize) -> usize {
    rows.div_ceil(ROWS) * columns.div_ceil(COLS[wide(columns)])
}

/// How the pixels of the gradient of weights are shared: the number of shares, and chunks of each.
fn shares(shapes: &Shapes) -> (usize, usize) {
    let Shapes { count, height, width, inputs, outputs, kernel, stride } = *shapes;
    let chunks = (count * height.div_ceil(stride) * width.div_ceil(stride)).div_ceil(DEEP).max(1);
    let most = (BLOCKS / tiles(kernel * kernel * inputs, outputs)).min(chunks / LEAST).max(1);
    let each = chunks.div_ceil(most);
    (chunks.div_ceil(each), each)
}

/// The kernels on one GPU, by columns of a block.
pub(super) struct Bf16x3 {
    forward: [CUfunction; 2],
    back: [CUfunction; 2],
    weights: [CUfunction; 2],
    sum: CUfunction,
    parts: Option<Parts>,
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
        let architecture = format!("{major}{minor}");
        let definitions = ["-DBF16=0".to_owned()];
        let module =
            Module::compile(context, SOURCES.concat(), (&architecture, major), &definitions)?;
        let both = |pass: &str| -> Result<[CUfunction; 2], EngineError> {
            let of = |cols| module.with_shared(&format!("conv_{pass}_{cols}"), shared(cols));
            Ok([of(COLS[0])?, of(COLS[1])?])
        };
        Ok(Self {
            forward: both("forward")?,
            back: both("back")?,
            weights: both("weights")?,
            sum: module.function("conv_sum_weights")?,
            parts: (capability == (9, 0)).then(|| Parts::new(context)).transpose()?,
            module,
        })
    }

    /// Kernels of its own for a convolution, where there are any.
    fn parts(&self, shapes: &Shapes) -> Option<&Parts> {
        self.parts.as_ref().filter(|_| Parts::have(shapes))
    }

    /// Bytes of the workspace that a convolution needs.
    pub(super) fn workspace(&self, shapes: &Shapes) -> usize {
        match self.parts(shapes) {
            Some(_) => Parts::workspace(shapes),
            None => 4 * shares(shapes).0 * shapes.sizes()[2],
        }
    }

    /// A pass over x, y and W, one of which it computes from the other two, as [`super::cudnn::Conv::run`];
    /// of several, which have the same result, it computes the sum.
    pub(super) fn run(
        &self,
        stream: &Arc<CudaStream>,
        pass: Pass,
        add: bool,
        shapes: Shapes,
        of: &[[Pointer; 3]],
        space: Pointer,
    ) -> Result<(), EngineError> {
        let Some(parts) = self.parts(&shapes) else {
            return of.iter().enumerate().try_for_each(|(number, &at)| {
                self.run_one(stream, pass, add || number > 0, shapes, at, space)
            });
        };
        let (shares, partial) = parts.run(stream, (pass, add), &shapes, of, space)?;
        match of.first() {
            Some(&[.., w]) if pass == Pass::Weights => {
                self.add_shares(stream, add, (shares, shapes.sizes()[2]), [partial, w])
            }
            _ => Ok(()),
        }
    }

    /// dW (+)= the sum over shares of it.
    fn add_shares(
        &self,
        stream: &CudaStream,
        add: bool,
        (shares, len): (usize, usize),
        [mut from, mut to]: [Pointer; 2],
    ) -> Result<(), EngineError> {
        let (mut adds, mut parts, mut numbers) = (i32::from(add), shares as i32, len as i32);
        let arguments =
            &mut [raw(&mut from), raw(&mut parts), raw(&mut numbers), raw(&mut adds), raw(&mut to)];
        let geometry = ((len.div_ceil(256) as u32, 1), (256, 1));
        // SAFETY: as in `run_one`.
        unsafe { start(stream, self.sum, geometry, 0, false, arguments) }
    }

    fn run_one(
        &self,
        stream: &CudaStream,
        pass: Pass,
        add: bool,
        shapes: Shapes,
        [x, y, w]: [Pointer; 3],
        space: Pointer,
    ) -> Result<(), EngineError> {
        let Shapes { count, height, width, inputs, outputs, kernel, stride } = shapes;
        let taps = kernel * kernel;
        let launch = |function, grid: usize, threads: usize, shared: usize, arguments: &mut [_]| {
            let geometry = ((grid as u32, 1), (threads as u32, 1));
            // SAFETY: the arguments have the types of the kernel's declaration, and every pointer is to
            // memory of the run.
            unsafe { start(stream, function, geometry, shared as u32, false, arguments) }
        };
        let multiply = |of: [CUfunction; 2], (rows, columns, times), arguments: &mut [_]| {
            let (which, blocks) = (wide(columns), tiles(rows, columns) * times);
            launch(of[which], blocks, 2 * COLS[which], shared(COLS[which]), arguments)
        };
        let (mut conv, mut adds, mut at) = (Conv::of(shapes), i32::from(add), [x, y, w, space]);
        let to = [space, w];
        let [x, y, w, space] = at.each_mut().map(raw);
        let pixels = count * height.div_ceil(stride) * width.div_ceil(stride);
        match pass {
            Pass::Forward => {
                let arguments = &mut [raw(&mut conv), x, w, raw(&mut adds), y];
                multiply(self.forward, (pixels, outputs, 1), arguments)
            }
            Pass::Backward => {
                // As many pixels of each remainder by the step.
                let arguments = &mut [raw(&mut conv), y, w, raw(&mut adds), x];
                multiply(self.back, (pixels * stride * stride, inputs, 1), arguments)
            }
            Pass::Weights => {
                let (shares, chunks) = shares(&shapes);
                let mut each = chunks as i32;
                let arguments = &mut [raw(&mut conv), x, y, raw(&mut each), space];
                multiply(self.weights, (taps * inputs, outputs, shares), arguments)?;
                self.add_shares(stream, add, (shares, shapes.sizes()[2]), to)
            }
        }
    }
}

/// Bytes of shared memory of a block: two chunks of both factors.
fn shared(cols: usize) -> usize {
    2 * 4 * DEEP * (ROWS + cols)
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
        for (name, value) in [("ROWS", ROWS), ("DEEP", DEEP)] {
            assert!(SOURCES[1].contains(&format!("#define {name} {value}\n")), "{name}");
        }
        for cols in COLS {
            assert!(SOURCES[1].contains(&format!("\nKERNELS_OF({cols}, ")), "{cols}");
        }
        let fields =
            "int count, height, width, inputs, outputs, kernel, shift, out_height, out_width;";
        assert!(SOURCES[1].contains(fields));
        assert_eq!(size_of::<Conv>(), 9 * 4);
    }
}
