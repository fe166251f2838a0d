//! 3×3 convolutions by kernels of ours, for GPUs of compute capability 9.0 and activations in bfloat16:
//! `kernels/hopper`. cuDNN's take longer for these sizes, and have no engine that also does what the batch
//! norms around a convolution need of its result. All others are cuDNN's.

mod choice;
mod parts;
mod stem;
mod stride;

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys;
use cudarc::driver::{CudaContext, CudaStream};

use super::cudnn::Shapes;
use super::driver;
use super::launch::{Module, Pointer, raw, start};
use super::norm_work::BLOCKS;
use crate::error::EngineError;
use choice::Used;
pub(super) use parts::Parts;
pub(super) use stem::Stem;
pub(super) use stride::Strided;

/// What all kernels begin with, and those of each family.
const SOURCES: [&str; 3] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/hopper/common.cu"),
    include_str!("kernels/hopper/weights.cu"),
];
const OF_ONE: &str = include_str!("kernels/hopper/conv.cu");

/// Channels of a block, of both sides.
const WIDE: usize = 64;

/// Sums that a block of the weights' gradient keeps: those of so many taps of 64 × 64 channels, half of them.
const fn kept_sums(taps: usize) -> usize {
    taps * WIDE * WIDE / 2
}

/// Groups of four of them that 256 threads add up over so many pairs of blocks, up to eight threads for each.
fn summed(pairs: usize) -> usize {
    256 / pairs.min(8)
}

/// The pixels of a block: so many columns and lines of so many images.
#[derive(Clone, Copy, Debug)]
struct Pixels {
    columns: usize,
    lines: usize,
    images: usize,
}

const fn pixels(columns: usize, lines: usize, images: usize) -> Pixels {
    Pixels { columns, lines, images }
}

impl Pixels {
    fn count(self) -> usize {
        self.columns * self.lines * self.images
    }

    /// Bytes of 64 of their channels.
    fn bytes(self) -> usize {
        2 * WIDE * self.count()
    }

    /// Bytes with so many more columns and lines, where they begin at whole 1,024s.
    fn bordered(self, border: usize) -> usize {
        let Self { columns, lines, images } = self;
        let bytes = 2 * WIDE * (columns + border) * (lines + border) * images;
        bytes.next_multiple_of(1024)
    }

    /// How many there are in a batch.
    fn blocks(self, width: usize, count: usize) -> usize {
        count / self.images * (width / self.lines) * (width / self.columns)
    }

    /// Whether images of this width are cut whole.
    #[cfg(test)]
    fn cut(self, width: usize) -> bool {
        width.is_multiple_of(self.columns) && width.is_multiple_of(self.lines)
    }
}

/// A size of convolutions of stride 1 that there are kernels for: as many channels in as out, square images.
/// The numbers are those of the macros at the end of `conv.cu`.
#[derive(Debug)]
pub(super) struct Size {
    channels: usize,
    width: usize,
    pixels: Pixels,
    /// Chunks of images and taps of weights that have room. Where all taps have, so has the result.
    room: (usize, usize),
    of_weights: Pixels,
    /// Parts of the pixels that have room, and how many blocks share them.
    stages: usize,
    splits: usize,
}

const SIZES: [Size; 4] = [
    Size {
        channels: 64,
        width: 32,
        pixels: pixels(8, 16, 1),
        room: (4, 9),
        of_weights: pixels(32, 4, 1),
        stages: 4,
        splits: 128,
    },
    Size {
        channels: 128,
        width: 16,
        pixels: pixels(8, 16, 1),
        room: (2, 18),
        of_weights: pixels(16, 8, 1),
        stages: 4,
        splits: 32,
    },
    Size {
        channels: 256,
        width: 8,
        pixels: pixels(8, 8, 4),
        room: (2, 14),
        of_weights: pixels(8, 8, 2),
        stages: 4,
        splits: 8,
    },
    Size {
        channels: 512,
        width: 4,
        pixels: pixels(4, 2, 16),
        room: (2, 14),
        of_weights: pixels(4, 4, 8),
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
    /// Forward where nothing goes back: with the norm behind it, and what that adds.
    Evaluate,
    Weights,
    SumWeights,
}

impl Way {
    const ALL: [Self; 6] = [
        Self::Forward,
        Self::BackOwn,
        Self::BackOut,
        Self::Evaluate,
        Self::Weights,
        Self::SumWeights,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::BackOwn => "back_own",
            Self::BackOut => "back_out",
            Self::Evaluate => "evaluate",
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
    /// The norm's input, or in evaluation what it adds; and where its output is positive.
    pub(super) x: Pointer,
    pub(super) mask: Pointer,
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
    /// Whether the result is added to what is there, or something to the norm.
    pub(super) add: i32,
    /// Whether statistics are the batch's own; in evaluation, whether the norm has a ReLU behind it.
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
                && (size.keeps_weights() || size.pixels.blocks(width, count) % 2 == 0)
        })
    }

    /// What its kernels' names begin with.
    fn name(&self) -> String {
        format!("conv_{}", self.channels)
    }

    fn columns(&self) -> usize {
        self.channels / WIDE
    }

    /// Whether all weights of a block have room, else blocks come in pairs that load them together.
    fn keeps_weights(&self) -> bool {
        self.room.1 == 9 * self.columns()
    }

    fn compile(&self, context: &Arc<CudaContext>) -> Result<Compiled, EngineError> {
        let name = |way: Way| format!("{}_{}", self.name(), way.name());
        let names = Way::ALL.map(|way| (name(way), self.shared(way)));
        Compiled::new(context, OF_ONE, self.channels, &names)
    }

    /// Blocks of a convolution, by pixels and by output channels.
    fn grid(&self, count: usize) -> (u32, u32) {
        let (blocks, columns) = grid(self.pixels.blocks(self.width, count), self.channels);
        (if self.keeps_weights() { blocks } else { blocks / 2 * 2 }, columns)
    }

    /// Bytes of shared memory, with what the barriers take and room to align.
    fn shared(&self, way: Way) -> usize {
        let (pixels, of_weights) = (self.pixels, self.of_weights);
        let (bytes, barriers) = match way {
            Way::SumWeights => return 0,
            Way::Weights => {
                let stage = of_weights.bordered(2) + of_weights.bytes();
                (self.stages * stage, self.stages)
            }
            _ => {
                let (chunks, taps) = self.room;
                // Of two warp groups, which take turns.
                let results = if self.keeps_weights() { 2 * pixels.bytes() } else { 0 };
                let images = chunks * pixels.bordered(2);
                (images + taps * 2 * WIDE * WIDE + results, chunks + taps)
            }
        };
        with_barriers(bytes, barriers)
    }

    /// Bytes in which the weights' gradient of a convolution is added up.
    pub(super) fn partial(&self) -> usize {
        partial(self.splits, self.columns().pow(2), 9)
    }
}

/// Blocks by pixels and by channels of the result. Not more than a fixed number, so that results do not
/// depend on the GPU's.
fn grid(blocks: usize, channels: usize) -> (u32, u32) {
    let columns = channels / WIDE;
    (blocks.min(BLOCKS / columns) as u32, columns as u32)
}

/// Bytes with so many pairs of barriers and room to align.
fn with_barriers(bytes: usize, pairs: usize) -> usize {
    bytes + 16 * pairs + 1024
}

/// Bytes in which weights' gradients of so many blocks are added up; two add up theirs by themselves.
fn partial(splits: usize, sides: usize, taps: usize) -> usize {
    if splits == 2 { 0 } else { 4 * splits * sides * kept_sums(taps) }
}

/// Compiled kernels of one size.
struct Compiled {
    #[allow(dead_code)] // The functions are in it.
    module: Module,
    functions: Vec<(sys::CUfunction, usize)>,
}

impl Compiled {
    /// Compiles kernels: the channels of the size, their names, and the shared memory of each.
    fn new(
        context: &Arc<CudaContext>,
        source: &str,
        channels: usize,
        names: &[(String, usize)],
    ) -> Result<Self, EngineError> {
        let definitions = ["-DBF16=1".to_owned(), format!("-DCHANNELS={channels}")];
        let text = SOURCES.concat() + source;
        let module = Module::compile(context, text, ("90a", 9), &definitions)?;
        let mut functions = Vec::new();
        for (name, shared) in names {
            functions.push((module.with_shared(name, *shared)?, *shared));
        }
        Ok(Self { module, functions })
    }

    fn launch(
        &self,
        on: On<'_>,
        which: usize,
        (grid, threads): ((u32, u32), u32),
        arguments: &mut [*mut c_void],
    ) -> Result<(), EngineError> {
        let Some(&(function, shared)) = self.functions.get(which) else {
            return Err(EngineError::Device("no such kernel".to_owned()));
        };
        // SAFETY: the arguments have the types of the kernel's declaration, and every pointer is to
        // memory of the run.
        unsafe {
            start(on.stream, function, (grid, (threads, 1)), shared as u32, on.early, arguments)
        }
    }

    /// The gradient of weights by its two kernels, `which` and the one after it.
    fn weights(
        &self,
        on: On<'_>,
        which: usize,
        (splits, sides, taps): (usize, usize, usize),
        maps: &mut [sys::CUtensorMap; 3],
        (to, partial, count): ([Pointer; 2], Pointer, usize),
    ) -> Result<(), EngineError> {
        let [x, dy, other] = maps;
        let (mut to, mut partial, mut number) = (to, partial, count as i32);
        let mut arguments =
            [raw(x), raw(dy), raw(other), raw(&mut to), raw(&mut partial), raw(&mut number)];
        let grid = (splits as u32, sides as u32);
        // Three warp groups multiply; a warp loads, or a group that gives registers away to a tenth tap.
        let threads = if taps > 9 { 512 } else { 416 };
        self.launch(on, which, (grid, threads), &mut arguments)?;
        let mut pairs = splits as i32 / 2;
        if pairs == 1 {
            return Ok(());
        }
        let mut arguments = [raw(&mut partial), raw(&mut pairs), raw(&mut to)];
        let grid = ((2 * sides * kept_sums(taps) / 4 / summed(splits / 2)) as u32, 1);
        self.launch(On { early: true, ..on }, which + 1, (grid, 256), &mut arguments)
    }
}

// SAFETY: functions may be used by all threads.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

/// The kernels on one GPU, by size, and which of the sizes are used there.
#[derive(Clone)]
pub(super) struct Hopper {
    kernels: Arc<Kernels>,
    used: Used,
}

struct Kernels {
    of_one: Vec<Compiled>,
    strided: Vec<Compiled>,
    stem: Compiled,
}

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
        std::thread::scope(|scope| {
            let of_one: Vec<_> =
                SIZES.iter().map(|size| scope.spawn(|| size.compile(context))).collect();
            let strided: Vec<_> =
                Strided::ALL.iter().map(|size| scope.spawn(|| size.compile(context))).collect();
            let stem = scope.spawn(|| Stem::compile(context));
            let failed = || Err(EngineError::Device("the compiler of kernels failed".to_owned()));
            let [of_one, strided] = [of_one, strided].map(|threads| {
                let joined = threads.into_iter().map(|t| t.join().unwrap_or_else(|_| failed()));
                joined.collect::<Vec<Result<Compiled, _>>>()
            });
            let whole = |all: Vec<_>| all.into_iter().collect::<Result<Vec<_>, _>>();
            let stem = stem.join().unwrap_or_else(|_| failed())?;
            let kernels = Kernels { of_one: whole(of_one)?, strided: whole(strided)?, stem };
            Ok(Self { kernels: Arc::new(kernels), used: Used::ALL })
        })
    }

    /// Whether any of them are.
    pub(super) fn is_used(&self) -> bool {
        self.used.any()
    }

    /// The size of these convolutions of stride 1, where there is one that is used.
    pub(super) fn size(&self, shapes: &Shapes) -> Option<&'static Size> {
        Size::of(shapes).filter(|size| self.used.has(&size.name()))
    }

    /// The same of those that step over pixels.
    pub(super) fn strided_size(&self, shapes: &Shapes) -> Option<&'static Strided> {
        Strided::of(shapes).filter(|size| self.used.has(&size.name()))
    }

    /// Whether these convolutions are the first ones of a network, and theirs are used.
    pub(super) fn is_stem(&self, shapes: &Shapes) -> bool {
        Stem::is(shapes) && self.used.has(Stem::NAME)
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
        let &Size { channels, width, pixels, .. } = size;
        let mut images = Images { at: x, channels, width, every: 1 }.map(count, pixels, 2)?;
        // Of a pair of blocks, each loads half of them.
        let rows = if size.keeps_weights() { WIDE } else { WIDE / 2 };
        let mut weights = weights(w, (channels, channels, 3), rows)?;
        let (mut after, mut number) = (*after, count as i32);
        let mut arguments =
            [raw(&mut images), raw(&mut weights), raw(&mut after), raw(&mut number)];
        self.of(size)?.launch(on, way as usize, (size.grid(count), 384), &mut arguments)
    }

    /// The gradient of a convolution's weights from its input and its output's gradient.
    pub(super) fn weights(
        &self,
        on: On<'_>,
        size: &Size,
        count: usize,
        [x, dy, dw, partial]: [Pointer; 4],
    ) -> Result<(), EngineError> {
        let &Size { channels, width, of_weights, splits, .. } = size;
        let images =
            |at, border| Images { at, channels, width, every: 1 }.map(count, of_weights, border);
        let mut maps = [images(x, 2)?, images(dy, 0)?, images(dy, 0)?];
        let cut = (splits, size.columns().pow(2), 9);
        let to = ([dw, 0], partial, count);
        self.of(size)?.weights(on, Way::Weights as usize, cut, &mut maps, to)
    }

    fn of(&self, size: &Size) -> Result<&Compiled, EngineError> {
        let place = SIZES.iter().position(|other| other.channels == size.channels);
        place
            .and_then(|place| self.kernels.of_one.get(place))
            .ok_or_else(|| EngineError::Device(format!("no kernel for {size:?}")))
    }
}

/// A tensor of bfloat16 that the copy engine reads in boxes, swizzled where they have 64 channels. `strides`
/// are in bytes, of all dimensions but the first; of each, a box has every so many.
fn tensor(
    at: Pointer,
    sizes: [usize; 4],
    strides: [usize; 3],
    read: [usize; 4],
    every: [usize; 4],
) -> Result<sys::CUtensorMap, EngineError> {
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    let (sizes, strides) = (sizes.map(|size| size as u64), strides.map(|stride| stride as u64));
    let swizzle = match read[0] {
        WIDE => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        _ => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
    };
    let [read, every] = [read, every].map(|numbers| numbers.map(|number| number as u32));
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
            every.as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle,
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    status.result().map_err(driver)?;
    Ok(map)
}

/// The images of a batch, of which every so many lines and columns are read.
#[derive(Clone, Copy)]
struct Images {
    at: Pointer,
    channels: usize,
    width: usize,
    every: usize,
}

impl Images {
    /// Read in blocks of these pixels and so many more. Images of which less than eight pixels of a line
    /// are read are read image by image for each pixel.
    fn map(
        self,
        count: usize,
        pixels: Pixels,
        border: usize,
    ) -> Result<sys::CUtensorMap, EngineError> {
        let Self { at, channels, width, every } = self;
        let (pixel, line) = (2 * channels, 2 * channels * width);
        let (image, read) = (line * width, channels.min(WIDE));
        let wide = every * (pixels.columns + border);
        let high = every * (pixels.lines + border);
        if pixels.columns < 8 {
            tensor(
                at,
                [channels, count, width, width],
                [image, pixel, line],
                [read, pixels.images, wide, high],
                [1, 1, every, every],
            )
        } else {
            tensor(
                at,
                [channels, width, count, width],
                [pixel, image, line],
                [read, wide, pixels.images, high],
                [1, every, 1, every],
            )
        }
    }
}

/// The weights of a convolution, read tap by tap in 64 channels of inputs and so many of outputs.
fn weights(
    at: Pointer,
    (inputs, outputs, kernel): (usize, usize, usize),
    rows: usize,
) -> Result<sys::CUtensorMap, EngineError> {
    let tap = 2 * inputs;
    let (sizes, strides) =
        ([inputs, outputs, kernel, kernel], [kernel * kernel * tap, tap, kernel * tap]);
    tensor(at, sizes, strides, [WIDE, rows, 1, 1], [1; 4])
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
            let (chunks, taps) = size.room;
            // The result takes the room of the images.
            assert!(
                size.keeps_weights() || chunks * size.pixels.bordered(2) >= size.pixels.bytes()
            );
            assert!(taps >= 9 && size.columns() * WIDE == size.channels);
            // The sums that are given away take the room of the parts.
            assert!(size.shared(Way::Weights) >= 4 * kept_sums(9));
            for pixels in [size.pixels, size.of_weights] {
                assert!(pixels.cut(size.width));
                // Products have 64 or 128 columns, or 16 summands.
                assert_eq!(pixels.count() % 128, 0);
                assert!((pixels.columns + 2).max(pixels.lines + 2).max(pixels.images) <= 256);
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
