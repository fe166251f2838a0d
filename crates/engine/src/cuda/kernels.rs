//! Every kernel, in one list: its name, its parameters and how many threads it takes.
//!
//! Each line becomes a struct with one field per parameter, so that a launch with a wrong number or
//! type of arguments does not compile. The same list is what is looked up before a capture, and a
//! test compares it with the signatures in `kernels/*.cu`.

use super::launch::{Begin, Pointer, Stream};
use super::norm_work::{APPLY_ROWS, over, sums};
use crate::error::EngineError;

/// Blocks and threads of a launch, each in two dimensions.
pub(super) type Geometry = ((u32, u32), (u32, u32));

/// The type of a kernel's parameter.
pub(super) trait Parameter {
    /// What it is given as.
    type Given: Copy;
    fn c_type() -> String;
    /// The bytes of its value, from the lowest on: hosts of GPUs are little-endian.
    fn bits(given: Self::Given) -> u64;
}

macro_rules! plain_parameters {
    ($($type:ty = $c:literal, given as $given:ty: $bits:expr;)*) => {$(
        impl Parameter for $type {
            type Given = $given;

            fn c_type() -> String {
                $c.to_owned()
            }

            fn bits(given: $given) -> u64 {
                let bits: fn($given) -> u64 = $bits;
                bits(given)
            }
        }
    )*};
}
plain_parameters! {
    bool = "int", given as bool: u64::from;
    i32 = "int", given as usize: |count| u64::from(count as u32);
    i64 = "long long", given as usize: |count| count as u64;
    u32 = "u32", given as u32: u64::from;
    u64 = "u64", given as u64: |word| word;
    f32 = "float", given as f32: |number| u64::from(number.to_bits());
}

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

/// Device memory that a kernel reads; 0 where it may go without.
impl<T: Element> Parameter for *const T {
    type Given = Pointer;

    fn c_type() -> String {
        format!("const {} *", T::C)
    }

    fn bits(given: Pointer) -> u64 {
        given
    }
}

/// Device memory that a kernel writes; 0 where it may go without.
impl<T: Element> Parameter for *mut T {
    type Given = Pointer;

    fn c_type() -> String {
        format!("{} *", T::C)
    }

    fn bits(given: Pointer) -> u64 {
        given
    }
}

/// A kernel with its arguments.
pub(super) trait Kernel {
    /// Its name in the source.
    fn name(&self) -> &'static str;
    /// The arguments, in the order of the parameters.
    fn arguments(&self) -> Vec<u64>;
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
                $(pub(super) $parameter: <$type as Parameter>::Given,)*
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

                fn arguments(&self) -> Vec<u64> {
                    vec![$(<$type as Parameter>::bits(self.$parameter)),*]
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
fn small_blocks(numbers: usize) -> Geometry {
    ((numbers.div_ceil(32) as u32, 1), (32, 1))
}

/// One thread.
const ONE: Geometry = ((1, 1), (1, 1));

/// Threads per output that a warp adds up.
const WARP: usize = 32;

kernels! {
    /// Moves the counter of a captured step to the next batch.
    NextBatch = next_batch(step: *mut Int) on |_, _| ONE;

    /// The images of a batch: moved, mirrored, normalized, mixed.
    GatherImages = gather_images(
        data: *const U8, table: *const Float, visits: *const U32, shifts: *const ImageShift,
        lambda: *const Float, partner: *const U32, step: *const Int, batch: i32, count: i32, height: i32,
        width: i32, channels: i32, padded: i32, out: *mut Act,
    ) on |k, _| threads(k.count * k.height * k.width);

    /// Every `stride`-th pixel of every `stride`-th row.
    Subsample = subsample(
        x: *const Act, count: i32, height: i32, width: i32, channels: i32, stride: i32, y: *mut Act,
    ) on |k, _| {
        let stride = k.stride;
        let pixels = k.height.div_ceil(stride) * k.width.div_ceil(stride);
        threads(k.count * pixels * k.channels / 8)
    };

    /// Moves examples against the sign of their gradient.
    Perturb = perturb(dx: *const Act, moves: *const Float, len: i64, x: *mut Act)
        on |k, _| threads(k.len);

    /// Numbers as f32 without the padding of channels.
    Unpad = unpad(from: *const Act, pixels: i64, channels: i32, padded: i32, to: *mut Float)
        on |k, _| threads(k.pixels * k.channels);

    /// Images as plain vectors.
    GatherFlatImages = gather_flat_images(
        data: *const U8, table: *const Float, visits: *const U32, shifts: *const ImageShift,
        lambda: *const Float, partner: *const U32, step: *const Int, batch: i32, count: i32, height: i32,
        width: i32, channels: i32, out: *mut Float,
    ) on |k, _| threads(k.count * k.height * k.width * k.channels);

    /// The vectors of a batch, mixed.
    GatherVectors = gather_vectors(
        data: *const Float, visits: *const U32, lambda: *const Float, partner: *const U32, step: *const Int,
        batch: i32, count: i32, size: i32, out: *mut Float,
    ) on |k, _| threads(k.count * k.size);

    /// Statistics of a batch for its norm, which also move the running ones.
    NormStatistics = norm_statistics(
        x: *const Act, rows: i32, channels: i32, share: i32, epsilon: f32, momentum: f32,
        scale: *const Float, shift: *const Float, statistics: *mut Float, vectors: *mut Float,
        partial: *mut Float, arrived: *mut U32,
    ) on |k, _| sums(k.rows, k.channels).geometry();

    /// The vectors of a norm from its running statistics.
    NormFromRunning = norm_from_running(
        statistics: *const Float, channels: i32, epsilon: f32, scale: *const Float, shift: *const Float,
        vectors: *mut Float,
    ) on |k, _| threads(k.channels);

    /// y = a·x + b, what is added behind it, and the ReLU; `mask`: a bit for each number, whether it is positive.
    NormApply = norm_apply(
        x: *const Act, residual: *const Act, vectors: *const Float, relu: bool, fresh: bool, rows: i32,
        channels: i32, y: *mut Act, mask: *mut U8,
    ) on |k, act| over(k.rows, k.channels, APPLY_ROWS, act);

    /// The gradients of a norm's scale and shift.
    NormGradients = norm_gradients_no_relu | norm_gradients_relu | norm_gradients_relu_sum
        by ReluMask { None | FromInput | FromOutput } (
        x: *const Act, y: *const Act, dy: *const Act, own: bool, rows: i32, channels: i32, share: i32,
        vectors: *mut Float, dscale: *mut Float, dshift: *mut Float, partial: *mut Float,
        arrived: *mut U32,
    ) on |k, _| sums(k.rows, k.channels).geometry();

    /// The gradient at a norm's input, and at what is added behind it.
    NormBack = norm_back_no_relu | norm_back_relu | norm_back_relu_sum | norm_back_no_relu_adds
        | norm_back_relu_adds | norm_back_relu_sum_adds | norm_back_no_relu_sum_adds
        by NormBackKind { NoRelu | Relu | ReluSum | NoReluAdds | ReluAdds | ReluSumAdds | NoReluSumAdds } (
        x: *const Act, y: *const Act, dy: *const Act, vectors: *const Float, fresh: bool, add: bool,
        add_residual: bool, rows: i32, channels: i32, dx: *mut Act, dresidual: *mut Act,
    ) on |k, act| over(k.rows, k.channels, 8 / act, act);

    /// The tangents of a norm's a and b along a direction of the weights.
    NormDirection = norm_direction(
        vectors: *const Float, tscale: *const Float, tshift: *const Float, channels: i32,
        along: *mut Float,
    ) on |k, _| threads(k.channels);

    /// The tangent of a norm's output.
    NormTangent = norm_tangent(
        x: *const Act, tx: *const Act, y: *const Act, tresidual: *const Act, vectors: *const Float,
        along: *const Float, relu: bool, eights: i64, channels: i32, ty: *mut Act,
    ) on |k, _| threads(k.eights);

    /// The tangents of the gradients of a norm's scale and shift.
    NormGradientsTangent = norm_gradients_tangent(
        x: *const Act, tx: *const Act, y: *const Act, dy: *const Act, tdy: *const Act, relu: bool, rows: i32,
        channels: i32, share: i32, vectors: *const Float, dscale: *mut Float, dshift: *mut Float,
        partial: *mut Float, arrived: *mut U32,
    ) on |k, _| sums(k.rows, k.channels).geometry();

    /// The tangent of the gradient at a norm's input.
    NormBackTangent = norm_back_tangent(
        y: *const Act, dy: *const Act, tdy: *const Act, vectors: *const Float, along: *const Float, relu: bool,
        add: bool, add_residual: bool, eights: i64, channels: i32, tdx: *mut Act,
        tdresidual: *mut Act,
    ) on |k, _| threads(k.eights);

    /// The mean over pixels.
    Pool = pool(x: *const Act, count: i32, pixels: i32, channels: i32, y: *mut Float)
        on |k, _| threads(k.count * k.channels);

    PoolBack = pool_back(
        dy: *const Float, count: i32, pixels: i32, channels: i32, add: bool, dx: *mut Act,
    ) on |k, _| threads(k.count * k.pixels * k.channels);

    /// y (+)= x·W (+ b).
    Linear = linear(
        x: *const Float, w: *const Float, bias: *const Float, count: i32, inputs: i32, outputs: i32,
        add: bool, y: *mut Float,
    ) on |k, _| threads(WARP * k.count * k.outputs);

    /// The gradients of a linear layer's weights, and of its bias where there is one.
    LinearBackWeights = linear_back_weights(
        x: *const Float, dy: *const Float, count: i32, inputs: i32, outputs: i32, add: bool,
        dw: *mut Float, db: *mut Float,
    ) on |k, _| threads(WARP * (k.inputs + 1) * k.outputs);

    /// dx (+)= dy·Wᵀ.
    LinearBack = linear_back(
        dy: *const Float, w: *const Float, count: i32, inputs: i32, outputs: i32, add: bool,
        dx: *mut Float,
    ) on |k, _| threads(k.count * k.inputs);

    /// Pooling, the last layer, the cross-entropy, and back to the gradient of the map: one block per example.
    HeadAndLoss = head_and_loss(
        x: *const Act, w: *const Float, bias: *const Float, classes: *const U16, shares: *const Float,
        visits: *const U32, lambda: *const Float, partner: *const U32, step: *const Int, batch: i32,
        count: i32, pixels: i32, channels: i32, width: i32, pooled: *mut Float, dz: *mut Float,
        losses: *mut Float, dx: *mut Act,
    ) on |k, _| ((k.count as u32, 1), (256, 1));

    /// A loss and its gradient at the outputs.
    LossGradient = cross_entropy | binary_cross_entropy | rps
        by LossKernel { CrossEntropy | BinaryCrossEntropy | Rps } (
        z: *const Float, classes: *const U16, shares: *const Float, visits: *const U32, lambda: *const Float,
        partner: *const U32, step: *const Int, batch: i32, count: i32, over: *const Int, width: i32,
        dz: *mut Float, losses: *mut Float,
    ) on |k, _| small_blocks(k.count);

    /// The tangent of a loss's gradient at the outputs, from that gradient.
    LossTangent = cross_entropy_tangent | binary_cross_entropy_tangent | rps_tangent
        by LossTangentKernel { CrossEntropy | BinaryCrossEntropy | Rps } (
        z: *const Float, tz: *const Float, dz: *const Float, count: i32, over: *const Int, width: i32,
        tdz: *mut Float,
    ) on |k, _| small_blocks(k.count);

    /// The gradient at the logits of the loss of the predicted class, at a temperature.
    PredictedClassGradient = predicted_class_gradient(
        z: *const Float, moves: *const Float, count: i32, width: i32, dz: *mut Float,
    ) on |k, _| threads(k.count);

    /// The numbers of a batch, to their place among all rows.
    StoreRows = store_rows(
        from: *const Float, step: *const Int, batch: i32, count: i32, width: i32, to: *mut Float,
    ) on |k, _| threads(k.count * k.width);

    /// Parameters from the host's order to the device's.
    Scatter = scatter(from: *const Float, map: *const U32, len: i32, to: *mut Float)
        on |k, _| threads(k.len);

    /// Parameters from the device's order to the host's.
    Gather = gather(from: *const Float, map: *const U32, len: i32, to: *mut Float)
        on |k, _| threads(k.len);

    Gelu = gelu(x: *const Float, len: i32, y: *mut Float) on |k, _| threads(k.len);

    /// dx (+)= dy·g′(x).
    GeluBack = gelu_back(x: *const Float, dy: *const Float, len: i32, add: bool, dx: *mut Float)
        on |k, _| threads(k.len);

    /// dẋ += dy·g″(x)·ẋ.
    GeluSecondOrder = gelu_second_order(
        x: *const Float, tx: *const Float, dy: *const Float, len: i32, tdx: *mut Float,
    ) on |k, _| threads(k.len);

    Dropout = dropout(
        x: *const Float, len: i32, threshold: u32, seed: *const U64, stream: u64, epoch: *const U64,
        step: *const Int, layer: u64, add: bool, y: *mut Float,
    ) on |k, _| threads(k.len);

    Relu = relu(x: *const Act, len: i32, y: *mut Act) on |k, _| threads(k.len);

    /// dx (+)= dy where y > 0.
    ReluBack = relu_back(y: *const Act, dy: *const Act, len: i32, add: bool, dx: *mut Act)
        on |k, _| threads(k.len);

    /// y = a + b.
    Add = add(a: *const Act, b: *const Act, len: i32, y: *mut Act) on |k, _| threads(k.len);

    /// to (+)= from.
    Accumulate = accumulate(from: *const Act, len: i32, add: bool, to: *mut Act)
        on |k, _| threads(k.len);

    /// total += from, in f32.
    AccumulateInF32 = accumulate_in_f32(from: *const Act, len: i32, total: *mut Float)
        on |k, _| threads(k.len);

    /// Labels of an epoch, each drawn from the votes of its example.
    DrawLabels = draw_labels(
        keys: *const U64, starts: *const U32, votes: *const U16, seed: u64, stream: u64, draw: u64,
        rows: i32, labels: *mut U16,
    ) on |k, _| threads(k.rows);

    /// Labels of an epoch, the votes of each example in turn.
    CycleLabels = cycle_labels(
        starts: *const U32, votes: *const U16, turn: u64, rows: i32, labels: *mut U16,
    ) on |k, _| threads(k.rows);

    Sgd = sgd(by: *const Float, nesterov: bool, g: *const Float, v: *mut Float, w: *mut Float, len: i32)
        on |k, _| threads(k.len);

    SgdConv = sgd_conv(
        by: *const Float, nesterov: bool, g: *const Act, v: *mut Float, w: *mut Float, copy: *mut Act,
        len: i32,
    ) on |k, _| threads(k.len / 8);

    Adam = adam(
        by: *const Float, g: *const Float, m: *mut Float, v: *mut Float, w: *mut Float, len: i32,
    ) on |k, _| threads(k.len);

    AdamConv = adam_conv(
        by: *const Float, g: *const Act, m: *mut Float, v: *mut Float, w: *mut Float, copy: *mut Act,
        len: i32,
    ) on |k, _| threads(k.len / 8);

    /// The factors of Adam's next step, from the number of steps so far.
    AdamFactors = adam_factors(
        steps: *mut U64, rate: *const Float, beta1: f32, beta2: f32, epsilon: f32, decay: f32,
        by: *mut Float,
    ) on |_, _| ONE;

    /// Weights in the type of activations.
    CopyToActivations = copy_to_activations(w: *const Float, copy: *mut Act, len: i32)
        on |k, _| threads(k.len);
}

#[cfg(test)]
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

    /// The driver reads as many bytes of an argument as its type has, from the first on.
    #[test]
    fn arguments_begin_with_the_bytes_of_their_types() {
        let kernel = Dropout {
            x: 0x1234_5678_9abc,
            len: 70_000,
            threshold: 7,
            seed: 8,
            stream: u64::MAX - 1,
            epoch: 16,
            step: 24,
            layer: 3,
            add: true,
            y: 32,
        };
        let found = kernel.arguments();
        let bytes = |at: usize, size: usize| found[at].to_ne_bytes()[..size].to_vec();
        assert_eq!(bytes(0, 8), 0x1234_5678_9abc_u64.to_ne_bytes());
        assert_eq!(bytes(1, 4), 70_000_i32.to_ne_bytes());
        assert_eq!(bytes(2, 4), 7_u32.to_ne_bytes());
        assert_eq!(bytes(4, 8), (u64::MAX - 1).to_ne_bytes());
        assert_eq!(bytes(8, 4), 1_i32.to_ne_bytes());
        let factors = AdamFactors {
            steps: 1,
            rate: 2,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            decay: -0.5,
            by: 3,
        };
        assert_eq!(factors.arguments()[5].to_ne_bytes()[..4], (-0.5_f32).to_ne_bytes());
        let move_back = Perturb { dx: 0, moves: 0, len: 1 << 33, x: 0 };
        assert_eq!(move_back.arguments()[2].to_ne_bytes(), (1_i64 << 33).to_ne_bytes());
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
