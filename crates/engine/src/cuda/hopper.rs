//! 3×3 convolutions by kernels of ours, for GPUs of compute capability 9.0 and activations in bfloat16:
//! `kernels/hopper/conv.cu`. cuDNN's take longer for these sizes, and have no engine that also does what
//! the batch norms around a convolution need of its result. All others are cuDNN's.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUfunction_attribute};
use cudarc::driver::{CudaContext, CudaStream};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};

use super::cudnn::Shapes;
use super::launch::{Module, Pointer, start};
use super::norm_work::BLOCKS;
use super::{NVRTC_STANDARD, driver};
use crate::error::EngineError;

const SOURCES: [&str; 2] =
    [include_str!("kernels/common.cu"), include_str!("kernels/hopper/conv.cu")];

/// Channels of a block, of both sides.
const WIDE: usize = 64;
/// Sums that a block of the weights' gradient keeps: all taps of 64 × 64 channels, half of them.
const KEPT_SUMS: usize = 9 * WIDE * WIDE / 2;

/// Groups of four of them that a block adds up over pairs of blocks: 256 threads, eight for each.
const SUMMED: usize = 32;

/// The pixels of a block: so many lines of so many images.
#[derive(Clone, Copy, Debug)]
struct Pixels {
    lines: usize,
    images: usize,
}

impl Pixels {
    /// Bytes of 64 of their channels.
    fn bytes(self, width: usize) -> usize {
        2 * WIDE * width * self.lines * self.images
    }

    /// Bytes with a border of one pixel.
    fn bordered(self, width: usize) -> usize {
        2 * WIDE * (width + 2) * (self.lines + 2) * self.images
    }
}

/// A size of convolutions that there are kernels for: as many channels in as out, square images. The
/// numbers are those of the macros at the end of `conv.cu`.
#[derive(Debug)]
pub(super) struct Size {
    channels: usize,
    width: usize,
    pixels: Pixels,
    /// Chunks of images and taps of weights that have room, and whether the result has its own.
    room: (usize, usize, bool),
    of_weights: Pixels,
    /// Parts of the pixels that have room, and how many blocks share them.
    stages: usize,
    splits: usize,
}

const SIZES: [Size; 4] = [
    Size {
        channels: 64,
        width: 32,
        pixels: Pixels { lines: 8, images: 1 },
        room: (2, 9, true),
        of_weights: Pixels { lines: 4, images: 1 },
        stages: 4,
        splits: 128,
    },
    Size {
        channels: 128,
        width: 16,
        pixels: Pixels { lines: 16, images: 1 },
        room: (2, 12, true),
        of_weights: Pixels { lines: 8, images: 1 },
        stages: 4,
        splits: 32,
    },
    Size {
        channels: 256,
        width: 8,
        pixels: Pixels { lines: 8, images: 4 },
        room: (2, 14, false),
        of_weights: Pixels { lines: 8, images: 2 },
        stages: 4,
        splits: 8,
    },
    Size {
        channels: 512,
        width: 4,
        pixels: Pixels { lines: 2, images: 16 },
        room: (2, 14, false),
        of_weights: Pixels { lines: 4, images: 8 },
        stages: 3,
        splits: 2,
    },
];

/// Which kernel of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    /// Back, to a norm's gradients behind a ReLU, which pass where its a·x + b is positive.
    BackOwn,
    /// The same, which pass where its output is positive.
    BackOut,
    Weights,
    SumWeights,
}

impl Way {
    const ALL: [Self; 5] =
        [Self::Forward, Self::BackOwn, Self::BackOut, Self::Weights, Self::SumWeights];

    fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::BackOwn => "back_own",
            Self::BackOut => "back_out",
            Self::Weights => "weights",
            Self::SumWeights => "sum_weights",
        }
    }
}

/// What is done with the result of a convolution: `After` of `conv.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct After {
    pub(super) out: Pointer,
    /// The norm's input, and its output with what is added.
    pub(super) x: Pointer,
    pub(super) y: Pointer,
    pub(super) vectors: Pointer,
    pub(super) scale: Pointer,
    pub(super) shift: Pointer,
    /// Running statistics, moved by those of the batch; 0 for none.
    pub(super) statistics: Pointer,
    pub(super) dscale: Pointer,
    pub(super) dshift: Pointer,
    pub(super) partial: Pointer,
    pub(super) arrived: Pointer,
    pub(super) epsilon: f32,
    pub(super) momentum: f32,
    /// Whether the result is added to what is there.
    pub(super) add: i32,
    /// Whether statistics are the batch's own.
    pub(super) own: i32,
}

impl Size {
    /// Examples that are whole blocks of every size.
    pub(super) const WHOLE: usize = 16;

    /// The size of these convolutions, where there is one.
    pub(super) fn of(shapes: &Shapes) -> Option<&'static Self> {
        let &Shapes { count, height, width, inputs, outputs, kernel, stride } = shapes;
        SIZES.iter().find(|size| {
            kernel == 3
                && stride == 1
                && inputs == outputs
                && inputs == size.channels
                && height == width
                && width == size.width
                && count % size.pixels.images == 0
                && count % size.of_weights.images == 0
        })
    }

    fn columns(&self) -> usize {
        self.channels / WIDE
    }

    /// Blocks of a convolution, by pixels and by output channels. A fixed number, so that results do
    /// not depend on the GPU's.
    fn grid(&self, count: usize) -> (u32, u32) {
        let tiles = count / self.pixels.images * (self.width / self.pixels.lines);
        (tiles.min(BLOCKS / self.columns()) as u32, self.columns() as u32)
    }

    /// Bytes of shared memory, with what the barriers take and room to align.
    fn shared(&self, way: Way) -> usize {
        let aligned = |bytes: usize| bytes.next_multiple_of(1024);
        let (width, pixels, of_weights) = (self.width, self.pixels, self.of_weights);
        let (bytes, barriers) = match way {
            Way::SumWeights => return 0,
            Way::Weights => {
                let stage = aligned(of_weights.bordered(width)) + of_weights.bytes(width);
                (self.stages * stage, self.stages)
            }
            _ => {
                let (chunks, taps, apart) = self.room;
                let result = if apart { pixels.bytes(width) } else { 0 };
                let images = chunks * aligned(pixels.bordered(width));
                (images + taps * 2 * WIDE * WIDE + result, chunks + taps)
            }
        };
        bytes + 16 * barriers + 1024
    }

    /// The kernels of this size.
    fn compile(&self, context: &Arc<CudaContext>) -> Result<Module, EngineError> {
        let options = ["--gpu-architecture=compute_90a", "-DBF16=1", NVRTC_STANDARD];
        let mut options = options.map(str::to_owned).to_vec();
        options.push(format!("-DCHANNELS={}", self.channels));
        let options = CompileOptions { options, ..CompileOptions::default() };
        let ptx = compile_ptx_with_opts(SOURCES.concat(), options)
            .map_err(|error| EngineError::Device(format!("NVRTC: {error:?}")))?;
        Module::new(context, &ptx.to_src(), 9)
    }

    /// Bytes in which the weights' gradient of a convolution is added up.
    pub(super) fn partial(&self) -> usize {
        if self.splits == 2 { 0 } else { 4 * self.splits * self.columns().pow(2) * KEPT_SUMS }
    }
}

/// The kernels on one GPU.
pub(super) struct Hopper {
    functions: Vec<[sys::CUfunction; Way::ALL.len()]>,
    #[allow(dead_code)] // The functions are in them.
    modules: Vec<Module>,
}

// SAFETY: functions may be used by all threads.
unsafe impl Send for Hopper {}
// SAFETY: as above.
unsafe impl Sync for Hopper {}

/// Where a kernel is started: on which stream, and whether before the kernel in front of it has ended.
#[derive(Clone, Copy)]
pub(super) struct On<'a> {
    pub(super) stream: &'a Arc<CudaStream>,
    pub(super) early: bool,
}

impl Hopper {
    /// Compiles the kernels.
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, EngineError> {
        // Compilers take seconds for each; the driver remembers what it compiled.
        let modules: Vec<Result<Module, EngineError>> = std::thread::scope(|scope| {
            let compile = |size: &'static Size| scope.spawn(|| size.compile(context));
            let threads: Vec<_> = SIZES.iter().map(compile).collect();
            let failed = || Err(EngineError::Device("the compiler of kernels failed".to_owned()));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| failed())).collect()
        });
        let modules = modules.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut functions = Vec::new();
        for (size, module) in SIZES.iter().zip(&modules) {
            let mut of_size = [std::ptr::null_mut(); Way::ALL.len()];
            for (to, way) in of_size.iter_mut().zip(Way::ALL) {
                let function =
                    module.function(&format!("conv_{}_{}", size.channels, way.name()))?;
                let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                // SAFETY: the function is of a loaded module.
                let set =
                    unsafe { sys::cuFuncSetAttribute(function, most, size.shared(way) as i32) };
                set.result().map_err(driver)?;
                *to = function;
            }
            functions.push(of_size);
        }
        Ok(Self { functions, modules })
    }

    /// A convolution of `count` examples; on the way back, x is the gradient of its output.
    pub(super) fn convolve(
        &self,
        on: On<'_>,
        (size, way): (&Size, Way),
        count: usize,
        [x, w]: [Pointer; 2],
        after: &After,
    ) -> Result<(), EngineError> {
        let mut images = images(x, size, count, size.pixels, true)?;
        let mut weights = weights(w, size.channels)?;
        let (mut after, mut number) = (*after, count as i32);
        let mut arguments =
            [raw(&mut images), raw(&mut weights), raw(&mut after), raw(&mut number)];
        self.launch(on, (size, way), (size.grid(count), 384), &mut arguments)
    }

    /// The gradient of a convolution's weights from its input and its output's gradient.
    pub(super) fn weights(
        &self,
        on: On<'_>,
        size: &Size,
        count: usize,
        [x, dy, dw, partial]: [Pointer; 4],
    ) -> Result<(), EngineError> {
        let mut images_of = images(x, size, count, size.of_weights, true)?;
        let mut gradients = images(dy, size, count, size.of_weights, false)?;
        let (mut dw, mut partial, mut number) = (dw, partial, count as i32);
        let sides = size.columns().pow(2) as u32;
        let mut arguments = [
            raw(&mut images_of),
            raw(&mut gradients),
            raw(&mut dw),
            raw(&mut partial),
            raw(&mut number),
        ];
        let grid = (size.splits as u32, sides);
        self.launch(on, (size, Way::Weights), (grid, 512), &mut arguments)?;
        let mut pairs = size.splits as i32 / 2;
        if pairs == 1 {
            return Ok(());
        }
        let mut arguments = [raw(&mut partial), raw(&mut pairs), raw(&mut dw)];
        let grid = (2 * sides * (KEPT_SUMS / 4 / SUMMED) as u32, 1);
        let on = On { early: true, ..on };
        self.launch(on, (size, Way::SumWeights), (grid, 256), &mut arguments)
    }

    fn launch(
        &self,
        on: On<'_>,
        (size, way): (&Size, Way),
        (grid, threads): ((u32, u32), u32),
        arguments: &mut [*mut c_void],
    ) -> Result<(), EngineError> {
        let place = SIZES.iter().position(|other| other.channels == size.channels);
        let of_size = place.and_then(|place| self.functions.get(place));
        let Some(&function) = of_size.and_then(|of_size| of_size.get(way as usize)) else {
            return Err(EngineError::Device(format!("no kernel for {size:?}")));
        };
        let (geometry, shared) = ((grid, (threads, 1)), size.shared(way) as u32);
        // SAFETY: the arguments have the types of the kernel's declaration, and every pointer is to
        // memory of the run.
        unsafe { start(on.stream, function, geometry, shared, on.early, arguments) }
    }
}

fn raw<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}

/// A tensor of bfloat16 that the copy engine reads in boxes of 64 channels. `strides` are in bytes, of
/// all dimensions but the first.
fn tensor(
    at: Pointer,
    sizes: [usize; 4],
    strides: [usize; 3],
    read: [usize; 4],
) -> Result<sys::CUtensorMap, EngineError> {
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    let (sizes, strides) = (sizes.map(|size| size as u64), strides.map(|stride| stride as u64));
    let read = read.map(|size| size as u32);
    // SAFETY: all arrays have as many numbers as the tensor has dimensions.
    let status = unsafe {
        sys::cuTensorMapEncodeTiled(
            &mut map,
            sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            4,
            at as *mut c_void,
            sizes.as_ptr(),
            strides.as_ptr(),
            read.as_ptr(),
            [1; 4].as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    status.result().map_err(driver)?;
    Ok(map)
}

/// The images of a batch, read in blocks of these pixels, with a border or without. Images that are
/// narrower than eight pixels are read image by image for each pixel.
fn images(
    at: Pointer,
    size: &Size,
    count: usize,
    pixels: Pixels,
    border: bool,
) -> Result<sys::CUtensorMap, EngineError> {
    let &Size { channels, width, .. } = size;
    let (pixel, line, image) = (2 * channels, 2 * channels * width, 2 * channels * width * width);
    let border = if border { 2 } else { 0 };
    let (wide, high) = (width + border, pixels.lines + border);
    if width < 8 {
        tensor(
            at,
            [channels, count, width, width],
            [image, pixel, line],
            [WIDE, pixels.images, wide, high],
        )
    } else {
        tensor(
            at,
            [channels, width, count, width],
            [pixel, image, line],
            [WIDE, wide, pixels.images, high],
        )
    }
}

/// The weights of a convolution, read tap by tap in 64 × 64 channels.
fn weights(at: Pointer, channels: usize) -> Result<sys::CUtensorMap, EngineError> {
    let tap = 2 * channels;
    tensor(at, [channels, channels, 3, 3], [9 * tap, tap, 3 * tap], [WIDE, WIDE, 1, 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(channels: usize, width: usize, count: usize) -> Shapes {
        let (inputs, outputs) = (channels, channels);
        Shapes { count, height: width, width, inputs, outputs, kernel: 3, stride: 1 }
    }

    /// Blocks fit into shared memory, the copy engine's boxes into its limits, and work is cut whole.
    #[test]
    fn sizes_fit() {
        for size in &SIZES {
            for way in Way::ALL {
                assert!(size.shared(way) <= 227 << 10, "{size:?} {way:?}");
            }
            let (chunks, taps, apart) = size.room;
            assert!(
                apart || chunks * size.pixels.bordered(size.width) >= size.pixels.bytes(size.width)
            );
            assert!(taps >= 9 && size.columns() * WIDE == size.channels);
            // The sums that are given away take the room of the parts.
            assert!(size.shared(Way::Weights) >= 4 * KEPT_SUMS);
            for pixels in [size.pixels, size.of_weights] {
                assert_eq!(size.width % pixels.lines, 0);
                // Products have 64 rows or 16 summands.
                assert_eq!(size.width * pixels.lines * pixels.images % 64, 0);
                assert!((size.width + 2).max(pixels.lines + 2).max(pixels.images) <= 256);
            }
            assert!(Size::of(&shapes(size.channels, size.width, Size::WHOLE)).is_some());
            let (blocks, columns) = size.grid(128);
            assert!((blocks * columns) as usize <= BLOCKS);
            assert!(size.splits * size.columns().pow(2) <= BLOCKS && size.splits % 2 == 0);
        }
    }

    #[test]
    fn other_convolutions_are_left_to_cudnn() {
        assert!(Size::of(&shapes(64, 32, 128)).is_some());
        assert!(Size::of(&shapes(512, 4, 32)).is_some());
        assert!(Size::of(&shapes(512, 4, 24)).is_none());
        assert!(Size::of(&shapes(64, 16, 128)).is_none());
        assert!(Size::of(&shapes(96, 32, 128)).is_none());
        assert!(Size::of(&Shapes { stride: 2, ..shapes(64, 32, 128) }).is_none());
        assert!(Size::of(&Shapes { kernel: 1, ..shapes(64, 32, 128) }).is_none());
        assert!(Size::of(&Shapes { inputs: 128, ..shapes(64, 32, 128) }).is_none());
    }

    /// The driver copies as many bytes as the kernel's struct has.
    #[test]
    fn what_follows_is_laid_out_as_in_c() {
        assert_eq!(size_of::<After>(), 11 * 8 + 4 * 4);
    }
}
