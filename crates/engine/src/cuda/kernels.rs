//! Every kernel, in one list: its name, its parameters and how many threads it takes.
//!
//! Each line becomes a struct with one field per parameter, so that a launch with a wrong number or
//! type of arguments does not compile. The same list is what is looked up before a capture, and a
//! test compares it with the signatures in `kernels/*.cu`.

use std::ffi::c_void;
use std::marker::PhantomData;

use super::launch::{Begin, Pointer, Stream};
use super::norm_work::{APPLY_ROWS, over, sums};
use crate::error::EngineError;

/// Blocks and threads of a launch, each in two dimensions.
pub(super) type Geometry = ((u32, u32), (u32, u32));

/// A parameter of a kernel.
pub(super) trait Parameter {
    /// Its type in C.
    fn c_type() -> String;
    /// Where its value lies. The driver reads it and does not write.
    fn address(&self) -> *mut c_void;
}

macro_rules! plain_parameters {
    ($($type:ty => $c:literal),*) => {$(
        impl Parameter for $type {
            fn c_type() -> String {
                $c.to_owned()
            }

            fn address(&self) -> *mut c_void {
                std::ptr::from_ref(self).cast_mut().cast()
            }
        }
    )*};
}
plain_parameters!(i32 => "int", i64 => "long long", u32 => "u32", u64 => "u64", f32 => "float");

/// What a pointer points to, by its name in C.
pub(super) trait Element {
    const C: &'static str;
}

macro_rules! elements {
    ($($(#[$doc:meta])* $name:ident = $c:literal),* $(,)?) => {$(
        $(#[$doc])*
        pub(super) enum $name {}
        impl Element for $name {
            const C: &'static str = $c;
        }
    )*};
}
elements! {
    /// An activation, of the run's type or f32.
    Act = "act",
    Float = "float",
    Int = "int",
    U8 = "u8",
    U16 = "u16",
    U32 = "u32",
    U64 = "u64",
    /// How an image is moved and mirrored.
    ImageShift = "Shift",
}

/// Device memory that a kernel reads.
pub(super) struct In<T>(Pointer, PhantomData<T>);
/// Device memory that a kernel writes.
pub(super) struct Out<T>(Pointer, PhantomData<T>);

/// Device memory as an argument that is read; 0 where a kernel may go without.
pub(super) fn input<T>(pointer: Pointer) -> In<T> {
    In(pointer, PhantomData)
}

/// Device memory as an argument that is written; 0 where a kernel may go without.
pub(super) fn output<T>(pointer: Pointer) -> Out<T> {
    Out(pointer, PhantomData)
}

impl<T: Element> Parameter for In<T> {
    fn c_type() -> String {
        format!("const {} *", T::C)
    }

    fn address(&self) -> *mut c_void {
        self.0.address()
    }
}

impl<T: Element> Parameter for Out<T> {
    fn c_type() -> String {
        format!("{} *", T::C)
    }

    fn address(&self) -> *mut c_void {
        self.0.address()
    }
}

/// A kernel with its arguments.
pub(super) trait Kernel {
    /// Its name in the source.
    fn name(&self) -> &'static str;
    /// The addresses of the arguments, in the order of the parameters.
    fn arguments(&self) -> Vec<*mut c_void>;
    /// Blocks and threads; `act` is the size of the run's activations in bytes.
    fn geometry(&self, act: usize) -> Geometry;

    /// Starts it after all that was started before. `typed`: with activations of the run's type,
    /// else of f32.
    fn launch(&self, stream: &Stream, typed: bool) -> Result<(), EngineError>
    where
        Self: Sized,
    {
        stream.launch(self, typed, Begin::After)
    }
}

/// A kernel of the list, for looking it up and for the test of its signature.
pub(super) struct Declared {
    pub(super) name: &'static str,
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) parameters: fn() -> Vec<(&'static str, String)>,
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        $kernel:ident = $($name:ident)|+ $(by $choice:ident { $($variant:ident)|+ })?
            ($($parameter:ident: $type:ty),* $(,)?) on $geometry:expr;
    )*) => {
        /// Every kernel.
        pub(super) const KERNELS: &[Declared] = &[$($(Declared {
            name: stringify!($name),
            parameters: $kernel::parameters,
        }),+),*];

        $(
            $(
                /// Which of the kernels with the same parameters.
                #[derive(Clone, Copy, Debug, PartialEq, Eq)]
                pub(super) enum $choice { $($variant),+ }
            )?

            $(#[$doc])*
            pub(super) struct $kernel {
                $(pub(super) kernel: $choice,)?
                $(pub(super) $parameter: $type,)*
            }

            impl $kernel {
                const NAMES: &[&'static str] = &[$(stringify!($name)),+];

                fn parameters() -> Vec<(&'static str, String)> {
                    vec![$((stringify!($parameter), <$type as Parameter>::c_type())),*]
                }
            }

            impl Kernel for $kernel {
                fn name(&self) -> &'static str {
                    $(
                        const { assert!([$($choice::$variant),+].len() == Self::NAMES.len()) };
                        if let Some(name) = Self::NAMES.get(self.kernel as usize) {
                            return name;
                        }
                    )?
                    Self::NAMES[0]
                }

                fn arguments(&self) -> Vec<*mut c_void> {
                    vec![$(self.$parameter.address()),*]
                }

                fn geometry(&self, act: usize) -> Geometry {
                    let geometry: fn(&Self, usize) -> Geometry = $geometry;
                    geometry(self, act)
                }
            }
        )*
    };
}

/// One thread per number, in blocks of 256.
fn threads(numbers: usize) -> Geometry {
    ((numbers.div_ceil(256) as u32, 1), (256, 1))
}

/// One thread per number, in blocks of 32.
fn small_blocks(numbers: i32) -> Geometry {
    ((size(numbers).div_ceil(32) as u32, 1), (32, 1))
}

/// One thread.
const ONE: Geometry = ((1, 1), (1, 1));

fn size(number: i32) -> usize {
    number as usize
}

/// Threads per output that a warp adds up.
const WARP: usize = 32;

kernels! {
    /// Moves the counter of a captured step to the next batch.
    NextBatch = next_batch(step: Out<Int>) on |_, _| ONE;

    /// The images of a batch: moved, mirrored, normalized, mixed.
    GatherImages = gather_images(
        data: In<U8>, table: In<Float>, visits: In<U32>, shifts: In<ImageShift>,
        lambda: In<Float>, partner: In<U32>, step: In<Int>, batch: i32, count: i32, height: i32,
        width: i32, channels: i32, padded: i32, out: Out<Act>,
    ) on |k, _| threads(size(k.count) * size(k.height) * size(k.width));

    /// Every `stride`-th pixel of every `stride`-th row.
    Subsample = subsample(
        x: In<Act>, count: i32, height: i32, width: i32, channels: i32, stride: i32, y: Out<Act>,
    ) on |k, _| {
        let stride = size(k.stride);
        let pixels = size(k.height).div_ceil(stride) * size(k.width).div_ceil(stride);
        threads(size(k.count) * pixels * size(k.channels) / 8)
    };

    /// Moves examples against the sign of their gradient.
    Perturb = perturb(dx: In<Act>, moves: In<Float>, len: i64, x: Out<Act>)
        on |k, _| threads(k.len as usize);

    /// Numbers as f32 without the padding of channels.
    Unpad = unpad(from: In<Act>, pixels: i64, channels: i32, padded: i32, to: Out<Float>)
        on |k, _| threads(k.pixels as usize * size(k.channels));

    /// Images as plain vectors.
    GatherFlatImages = gather_flat_images(
        data: In<U8>, table: In<Float>, visits: In<U32>, shifts: In<ImageShift>,
        lambda: In<Float>, partner: In<U32>, step: In<Int>, batch: i32, count: i32, height: i32,
        width: i32, channels: i32, out: Out<Float>,
    ) on |k, _| threads(size(k.count) * size(k.height) * size(k.width) * size(k.channels));

    /// The vectors of a batch, mixed.
    GatherVectors = gather_vectors(
        data: In<Float>, visits: In<U32>, lambda: In<Float>, partner: In<U32>, step: In<Int>,
        batch: i32, count: i32, size: i32, out: Out<Float>,
    ) on |k, _| threads(size(k.count) * size(k.size));

    /// Statistics of a batch for its norm, which also move the running ones.
    NormStatistics = norm_statistics(
        x: In<Act>, rows: i32, channels: i32, share: i32, epsilon: f32, momentum: f32,
        scale: In<Float>, shift: In<Float>, statistics: Out<Float>, vectors: Out<Float>,
        partial: Out<Float>, arrived: Out<U32>,
    ) on |k, _| sums(size(k.rows), size(k.channels)).geometry();

    /// The vectors of a norm from its running statistics.
    NormFromRunning = norm_from_running(
        statistics: In<Float>, channels: i32, epsilon: f32, scale: In<Float>, shift: In<Float>,
        vectors: Out<Float>,
    ) on |k, _| threads(size(k.channels));

    /// y = a·x + b, what is added behind it, and the ReLU.
    NormApply = norm_apply(
        x: In<Act>, residual: In<Act>, vectors: In<Float>, relu: i32, rows: i32, channels: i32,
        y: Out<Act>,
    ) on |k, _| over(size(k.rows), size(k.channels), APPLY_ROWS);

    /// The gradients of a norm's scale and shift.
    NormGradients = norm_gradients_no_relu | norm_gradients_relu | norm_gradients_relu_sum
        by ReluMask { None | FromInput | FromOutput } (
        x: In<Act>, y: In<Act>, dy: In<Act>, own: i32, rows: i32, channels: i32, share: i32,
        vectors: Out<Float>, dscale: Out<Float>, dshift: Out<Float>, partial: Out<Float>,
        arrived: Out<U32>,
    ) on |k, _| sums(size(k.rows), size(k.channels)).geometry();

    /// The gradient at a norm's input, and at what is added behind it.
    NormBack = norm_back_no_relu | norm_back_relu | norm_back_relu_sum | norm_back_no_relu_adds
        | norm_back_relu_adds | norm_back_relu_sum_adds | norm_back_no_relu_sum_adds
        by NormBackKind { NoRelu | Relu | ReluSum | NoReluAdds | ReluAdds | ReluSumAdds | NoReluSumAdds } (
        x: In<Act>, y: In<Act>, dy: In<Act>, vectors: In<Float>, add: i32, add_residual: i32,
        rows: i32, channels: i32, dx: Out<Act>, dresidual: Out<Act>,
    ) on |k, act| over(size(k.rows), size(k.channels), 8 / act);

    /// The tangents of a norm's a and b along a direction of the weights.
    NormDirection = norm_direction(
        vectors: In<Float>, tscale: In<Float>, tshift: In<Float>, channels: i32,
        along: Out<Float>,
    ) on |k, _| threads(size(k.channels));

    /// The tangent of a norm's output.
    NormTangent = norm_tangent(
        x: In<Act>, tx: In<Act>, y: In<Act>, tresidual: In<Act>, vectors: In<Float>,
        along: In<Float>, relu: i32, eights: i64, channels: i32, ty: Out<Act>,
    ) on |k, _| threads(k.eights as usize);

    /// The tangents of the gradients of a norm's scale and shift.
    NormGradientsTangent = norm_gradients_tangent(
        x: In<Act>, tx: In<Act>, y: In<Act>, dy: In<Act>, tdy: In<Act>, relu: i32, rows: i32,
        channels: i32, share: i32, vectors: In<Float>, dscale: Out<Float>, dshift: Out<Float>,
        partial: Out<Float>, arrived: Out<U32>,
    ) on |k, _| sums(size(k.rows), size(k.channels)).geometry();

    /// The tangent of the gradient at a norm's input.
    NormBackTangent = norm_back_tangent(
        y: In<Act>, dy: In<Act>, tdy: In<Act>, vectors: In<Float>, along: In<Float>, relu: i32,
        add: i32, add_residual: i32, eights: i64, channels: i32, tdx: Out<Act>,
        tdresidual: Out<Act>,
    ) on |k, _| threads(k.eights as usize);

    /// The mean over pixels.
    Pool = pool(x: In<Act>, count: i32, pixels: i32, channels: i32, y: Out<Float>)
        on |k, _| threads(size(k.count) * size(k.channels));

    PoolBack = pool_back(
        dy: In<Float>, count: i32, pixels: i32, channels: i32, add: i32, dx: Out<Act>,
    ) on |k, _| threads(size(k.count) * size(k.pixels) * size(k.channels));

    /// y (+)= x·W (+ b).
    Linear = linear(
        x: In<Float>, w: In<Float>, bias: In<Float>, count: i32, inputs: i32, outputs: i32,
        add: i32, y: Out<Float>,
    ) on |k, _| threads(WARP * size(k.count) * size(k.outputs));

    /// The gradients of a linear layer's weights, and of its bias where there is one.
    LinearBackWeights = linear_back_weights(
        x: In<Float>, dy: In<Float>, count: i32, inputs: i32, outputs: i32, add: i32,
        dw: Out<Float>, db: Out<Float>,
    ) on |k, _| threads(WARP * (size(k.inputs) + 1) * size(k.outputs));

    /// dx (+)= dy·Wᵀ.
    LinearBack = linear_back(
        dy: In<Float>, w: In<Float>, count: i32, inputs: i32, outputs: i32, add: i32,
        dx: Out<Float>,
    ) on |k, _| threads(size(k.count) * size(k.inputs));

    /// Pooling, the last layer, the loss, and back to the gradient of the map: one block per example.
    HeadAndLoss = head_and_loss(
        x: In<Act>, w: In<Float>, bias: In<Float>, classes: In<U16>, shares: In<Float>,
        visits: In<U32>, lambda: In<Float>, partner: In<U32>, step: In<Int>, batch: i32,
        count: i32, pixels: i32, channels: i32, width: i32, pooled: Out<Float>, dz: Out<Float>,
        losses: Out<Float>, dx: Out<Act>,
    ) on |k, _| ((k.count as u32, 1), (256, 1));

    /// The cross-entropy and its gradient at the logits.
    CrossEntropy = cross_entropy(
        z: In<Float>, classes: In<U16>, shares: In<Float>, visits: In<U32>, lambda: In<Float>,
        partner: In<U32>, step: In<Int>, batch: i32, count: i32, over: In<Int>, width: i32,
        dz: Out<Float>, losses: Out<Float>,
    ) on |k, _| small_blocks(k.count);

    CrossEntropyTangent = cross_entropy_tangent(
        z: In<Float>, tz: In<Float>, count: i32, over: In<Int>, width: i32, tdz: Out<Float>,
    ) on |k, _| small_blocks(k.count);

    /// The gradient at the logits of the loss of the predicted class, at a temperature.
    PredictedClassGradient = predicted_class_gradient(
        z: In<Float>, moves: In<Float>, count: i32, width: i32, dz: Out<Float>,
    ) on |k, _| threads(size(k.count));

    /// The numbers of a batch, to their place among all rows.
    StoreRows = store_rows(
        from: In<Float>, step: In<Int>, batch: i32, count: i32, width: i32, to: Out<Float>,
    ) on |k, _| threads(size(k.count) * size(k.width));

    /// Parameters from the host's order to the device's.
    Scatter = scatter(from: In<Float>, map: In<U32>, len: i32, to: Out<Float>)
        on |k, _| threads(size(k.len));

    /// Parameters from the device's order to the host's.
    Gather = gather(from: In<Float>, map: In<U32>, len: i32, to: Out<Float>)
        on |k, _| threads(size(k.len));

    Gelu = gelu(x: In<Float>, len: i32, y: Out<Float>) on |k, _| threads(size(k.len));

    /// dx (+)= dy·g′(x).
    GeluBack = gelu_back(x: In<Float>, dy: In<Float>, len: i32, add: i32, dx: Out<Float>)
        on |k, _| threads(size(k.len));

    /// dẋ += dy·g″(x)·ẋ.
    GeluSecondOrder = gelu_second_order(
        x: In<Float>, tx: In<Float>, dy: In<Float>, len: i32, tdx: Out<Float>,
    ) on |k, _| threads(size(k.len));

    Dropout = dropout(
        x: In<Float>, len: i32, threshold: u32, seed: In<U64>, stream: u64, epoch: In<U64>,
        step: In<Int>, layer: u64, add: i32, y: Out<Float>,
    ) on |k, _| threads(size(k.len));

    Relu = relu(x: In<Act>, len: i32, y: Out<Act>) on |k, _| threads(size(k.len));

    /// dx (+)= dy where y > 0.
    ReluBack = relu_back(y: In<Act>, dy: In<Act>, len: i32, add: i32, dx: Out<Act>)
        on |k, _| threads(size(k.len));

    /// y = a + b.
    Add = add(a: In<Act>, b: In<Act>, len: i32, y: Out<Act>) on |k, _| threads(size(k.len));

    /// to (+)= from.
    Accumulate = accumulate(from: In<Act>, len: i32, add: i32, to: Out<Act>)
        on |k, _| threads(size(k.len));

    /// total += from, in f32.
    AccumulateInF32 = accumulate_in_f32(from: In<Act>, len: i32, total: Out<Float>)
        on |k, _| threads(size(k.len));

    /// Labels of an epoch, each drawn from the votes of its example.
    DrawLabels = draw_labels(
        keys: In<U64>, starts: In<U32>, votes: In<U16>, seed: u64, stream: u64, draw: u64,
        rows: i32, labels: Out<U16>,
    ) on |k, _| threads(size(k.rows));

    /// Labels of an epoch, the votes of each example in turn.
    CycleLabels = cycle_labels(
        starts: In<U32>, votes: In<U16>, turn: u64, rows: i32, labels: Out<U16>,
    ) on |k, _| threads(size(k.rows));

    Sgd = sgd(by: In<Float>, nesterov: i32, g: In<Float>, v: Out<Float>, w: Out<Float>, len: i32)
        on |k, _| threads(size(k.len));

    SgdConv = sgd_conv(
        by: In<Float>, nesterov: i32, g: In<Act>, v: Out<Float>, w: Out<Float>, copy: Out<Act>,
        len: i32,
    ) on |k, _| threads(size(k.len));

    Adam = adam(
        by: In<Float>, g: In<Float>, m: Out<Float>, v: Out<Float>, w: Out<Float>, len: i32,
    ) on |k, _| threads(size(k.len));

    AdamConv = adam_conv(
        by: In<Float>, g: In<Act>, m: Out<Float>, v: Out<Float>, w: Out<Float>, copy: Out<Act>,
        len: i32,
    ) on |k, _| threads(size(k.len));

    /// The factors of Adam's next step, from the number of steps so far.
    AdamFactors = adam_factors(
        steps: Out<U64>, rate: In<Float>, beta1: f32, beta2: f32, epsilon: f32, decay: f32,
        by: Out<Float>,
    ) on |_, _| ONE;

    /// Weights in the type of activations.
    CopyToActivations = copy_to_activations(w: In<Float>, copy: Out<Act>, len: i32)
        on |k, _| threads(size(k.len));
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::SOURCES;
    use super::*;

    /// The kernels of the sources: name → (parameter, type), from the `extern "C" __global__` lines.
    /// A macro that defines kernels names them in its first argument.
    fn defined() -> BTreeMap<String, Vec<(String, String)>> {
        let source = SOURCES.concat().replace("\\\n", " ");
        let mut found = BTreeMap::new();
        for piece in source.split("extern \"C\" __global__ void").skip(1) {
            let mut rest = piece.trim_start();
            if rest.starts_with("__launch_bounds__") {
                rest = rest.split_once(')').unwrap().1.trim_start();
            }
            let (name, rest) = rest.split_once('(').unwrap();
            let list = rest.split_once(')').unwrap().0;
            let parameter = |text: &str| {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let at = text.rfind([' ', '*']).unwrap() + 1;
                (text[at..].to_owned(), text[..at].trim().to_owned())
            };
            let parameters: Vec<_> = list.split(',').map(parameter).collect();
            let names: Vec<&str> = match name.trim() {
                "name" => {
                    // The macro's name stands before this definition, in `#define NAME(name, ...)`.
                    let before = &source[..piece.as_ptr() as usize - source.as_ptr() as usize];
                    let makes = before.rsplit("#define ").next().unwrap();
                    let call = format!("\n{}(", makes.split_once('(').unwrap().0);
                    source.split(&call).skip(1).filter_map(|rest| rest.split(',').next()).collect()
                }
                name => vec![name],
            };
            for name in names {
                let again = found.insert(name.to_owned(), parameters.clone());
                assert!(again.is_none(), "{name} is defined twice");
            }
        }
        found
    }

    /// Every kernel of the list is in the sources with these parameters in this order, and every
    /// kernel of the sources is in the list.
    #[test]
    fn the_list_matches_the_sources() {
        let mut defined = defined();
        assert!(defined.len() > 50);
        for kernel in KERNELS {
            let wanted = defined.remove(kernel.name).expect(kernel.name);
            let declared = (kernel.parameters)();
            let declared: Vec<_> =
                declared.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
            assert_eq!(declared, wanted, "{}", kernel.name);
        }
        assert!(defined.is_empty(), "not in the list: {:?}", defined.keys());
    }
}
