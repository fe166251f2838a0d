// 3×3 convolutions of f32 of stride 1, with as many channels in as out, by parts: a factor is two tensors of bfloat16,
// x = hi + lo, and a product is three, x·w ≈ hi·hi + hi·lo + lo·hi, as in bf16x3/conv.cu: forward, back to the input, and
// the gradient of the weights. What is computed is a sum over `sources`, one pair of factors or two: a tangent is ẋ∗W + x∗Ẇ.
//
// Tensor cores cut what they add instead of rounding it, always towards zero, so their sums are short: those of a few
// taps are added to sums that round. Of the weights' gradient, blocks have a short share of the pixels.

// Of each source, the images by parts, and the weights, or the gradients of the result.
struct Factors { TensorMap images[2][2], others[2][2]; };

// P: the pixels of a block. CHUNKS: channels, in 64s. A, B: how many chunks of images and taps of weights have room, each
// of one part. Of two blocks with the same channels, each loads half of the weights for both. MINE: the warp group,
// which does half of the pixels; the two move their sums after different taps, so that one multiplies meanwhile.
template <class P, int CHUNKS, int A, int B, bool BACK, int MINE>
__device__ __forceinline__ void add_parts(int sources, int count, int add, float *out, u32 at_a, u32 bars) {
    constexpr int PIXELS = P::ROWS / 2, DEPTH = CHUNKS * 64;
    constexpr u32 TAP = 64 * 128;
    int tiles = (P::all(count) + 1) / 2 * 2, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    u32 at_b = at_a + A * P::BYTES;
    u32 full_a = bars, empty_a = full_a + 8 * A, full_b = empty_a + 8 * A, empty_b = full_b + 8 * B;
    int a = 0, b = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float d[PIXELS / 2], total[PIXELS / 2];
#pragma unroll
        for (int k = 0; k < PIXELS / 2; ++k) total[k] = 0.0f;
        for (int n = 0; n < sources * CHUNKS; ++n) {
            // The upper part of the images with both of the weights, then the lower with the upper.
#pragma unroll
            for (int half = 0; half < 2; ++half, ++a) {
                u32 slot = a % A, from = at_a + slot * P::BYTES + P::start(MINE * PIXELS);
                barrier_wait(full_a + 8 * slot, a / A & 1);
#pragma unroll
                for (int at = 0; at < (half ? 9 : 18); ++at, ++b) {
                    int tap = half ? at : at / 2, moved = half ? 9 : 6, begin = half ? 0 : (at + 2 * MINE) % moved;
                    barrier_wait(full_b + 8 * (b % B), b / B & 1);
                    u32 w = at_b + b % B * TAP, x = from + P::tap(tap / 3, tap % 3);
                    product_begin();
#pragma unroll
                    for (int k = 0; k < 4; ++k)
                        product<BACK, 0>(d, factor(w + k * (BACK ? 2048 : 32), 1024, 16), factor(x + k * 32, P::GROUPS, 16),
                                         k > 0 || (begin > 0 && at > 0) || (half && (at > 0 || MINE)));
                    product_commit();
                    // All products but the last are done.
                    product_wait<1>();
                    if (lane < 2 && n + half + at > 0) barrier_arrive_in(empty_b + 8 * ((b + B - 1) % B), lane);
                    if (lane == 0 && at == 0 && n + half > 0) barrier_arrive(empty_a + 8 * ((a + A - 1) % A));
                    if (half ? at < 8 : begin < 5) continue;
                    product_wait<0>();
#pragma unroll
                    for (int k = 0; k < PIXELS / 2; ++k) total[k] += d[k];
                }
            }
        }
        if (lane < 2) barrier_arrive_in(empty_b + 8 * ((b + B - 1) % B), lane);
        if (lane == 0) barrier_arrive(empty_a + 8 * ((a + A - 1) % A));
        int first = P(tile).first(), rows = count * P::WIDTH * P::WIDTH, channel = blockIdx.y * 64 + warp * 16 + lane / 4;
#pragma unroll
        for (int k = 0; k < PIXELS / 2; ++k) {
            int at = first + P::pixel(MINE * PIXELS + k / 4 * 8 + lane % 4 * 2 + k % 2);
            if (at >= rows) continue;
            float *to = out + (size_t)at * DEPTH + channel + k / 2 % 2 * 8;
            *to = add ? *to + total[k] : total[k];
        }
    }
}

template <class P, int CHUNKS, int A, int B, bool BACK>
__device__ __forceinline__ void convolve_parts(const Factors &of, int sources, int count, int add, float *out,
                                               char *memory) {
    constexpr u32 TAP = 64 * 128;
    // An odd one more is of images beyond the last.
    int tiles = (P::all(count) + 1) / 2 * 2;
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    u32 at_a = base, at_b = at_a + A * P::BYTES, bars = at_b + B * TAP;
    u32 full_a = bars, empty_a = full_a + 8 * A, full_b = empty_a + 8 * A, empty_b = full_b + 8 * B;
    int thread = threadIdx.x, group = thread / 128, rank = blockIdx.x % 2;
    if (thread == 0) {
        barriers_init(full_a, empty_a, A, 8);
        barriers_init(full_b, empty_b, B, 16);
        barriers_ready();
    }
    meet_cluster();
    if (group == 0) {
        release_registers<24>();
        if (thread == 0) {
            int a = 0, b = 0;
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                P pixels(tile);
                for (int n = 0; n < sources * CHUNKS * 2; ++n, ++a) {
                    int source = n / 2 / CHUNKS, c = n / 2 % CHUNKS, half = n % 2;
                    u32 slot = a % A;
                    barrier_wait(empty_a + 8 * slot, (a / A & 1) ^ 1);
                    barrier_expect(full_a + 8 * slot, P::LOADED);
                    pixels.load(at_a + slot * P::BYTES, &of.images[source][half], c * 64, full_a + 8 * slot);
                    int own = blockIdx.y * 64, read = c * 64;
                    int in = BACK ? own : read, outputs = (BACK ? read : own) + rank * 32;
                    for (int tap = 0; tap < 9; ++tap)
                        for (int part = 0; part < 2 - half; ++part, ++b) {
                            u32 slot = b % B, bar = full_b + 8 * slot;
                            barrier_wait(empty_b + 8 * slot, (b / B & 1) ^ 1);
                            barrier_expect(bar, TAP);
                            int ky = BACK ? 2 - tap / 3 : tap / 3, kx = BACK ? 2 - tap % 3 : tap % 3;
                            load_box_for_both(at_b + slot * TAP + rank * (TAP / 2), &of.others[source][part], in, outputs,
                                              kx, ky, bar);
                        }
                }
            }
        }
        __syncwarp();
    } else {
        take_registers<232>();
        if (group == 1) add_parts<P, CHUNKS, A, B, BACK, 0>(sources, count, add, out, at_a, bars);
        else add_parts<P, CHUNKS, A, B, BACK, 1>(sources, count, add, out, at_a, bars);
        __syncwarp();
    }
    // Nobody leaves while another arrives at its barriers.
    meet_cluster();
}

// The weights' gradient over `each` parts of the pixels, of all sources one after another: a block has 64 output
// channels, 64 input channels and all taps, three of which each warp group does. `partial`: shares × outputs × 3 × 3 × inputs.
template <class P, int CHUNKS, int STAGES>
__device__ __forceinline__ void weigh_parts(const Factors &of, int sources, int count, int each, float *partial,
                                            char *memory) {
    constexpr int WIDTH = P::WIDTH, LINES = P::LINES, IMAGES = P::IMAGES, DEPTH = CHUNKS * 64;
    constexpr u32 GRADIENT = P::ROWS * 128, STAGE = 2 * (P::BYTES + GRADIENT);
    constexpr u32 X_GROUPS = P::GROUPS, G_GROUPS = P::NARROW ? 1024 : IMAGES * WIDTH * 128;
    int tiles = (count + IMAGES - 1) / IMAGES * (WIDTH / LINES);
    int first = blockIdx.x * each, units = min(each, tiles * sources - first);
    int outputs = blockIdx.y / CHUNKS * 64, inputs = blockIdx.y % CHUNKS * 64;
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    u32 full = base + STAGES * STAGE, empty = full + 8 * STAGES;
    int thread = threadIdx.x, lane = thread % 32, mine = thread / 128;
    if (thread == 0) {
        barriers_init(full, empty, STAGES, 12);
        barriers_ready();
    }
    __syncthreads();
    if (thread >= 384) {
        if (thread > 384) return;
        for (int s = 0; s < units; ++s) {
            int source = (first + s) / tiles, tile = (first + s) % tiles;
            int image = tile / (WIDTH / LINES) * IMAGES, line = tile % (WIDTH / LINES) * LINES;
            u32 slot = s % STAGES, at = base + slot * STAGE, bar = full + 8 * slot;
            barrier_wait(empty + 8 * slot, (s / STAGES & 1) ^ 1);
            barrier_expect(bar, 2 * (P::LOADED + GRADIENT));
            for (int part = 0; part < 2; ++part) {
                P::load(at + part * P::BYTES, &of.images[source][part], inputs, image, line - 1, -1, bar);
                P::load(at + 2 * P::BYTES + part * GRADIENT, &of.others[source][part], outputs, image, line, 0, bar);
            }
        }
        return;
    }
    float d[96];
#pragma unroll
    for (int k = 0; k < 96; ++k) d[k] = 0.0f;
    for (int s = 0; s < units; ++s) {
        u32 slot = s % STAGES, x = base + slot * STAGE, g = x + 2 * P::BYTES;
        barrier_wait(full + 8 * slot, s / STAGES & 1);
        product_begin();
#pragma unroll
        for (int k = 0; k < P::ROWS / 16; ++k) {
            // Two groups of eight pixels: of two lines, or neighbours of eight images each.
            u32 xs, gs;
            if (P::NARROW) {
                int line = k / 2, at = k % 2 * 2;
                xs = (line * P::WIDE + at) * IMAGES * 128;
                gs = (line * WIDTH + at) * IMAGES * 128;
            } else {
                int strip = k % P::STRIPS, image = k / P::STRIPS % IMAGES, line = k / P::STRIPS / IMAGES * 2;
                xs = ((line * IMAGES + image) * P::WIDE + strip * 8) * 128;
                gs = ((line * IMAGES + image) * WIDTH + strip * 8) * 128;
            }
            constexpr u32 NEXT = P::NARROW ? IMAGES * 128 : 128; // The next pixel of a line.
            u64 left = factor(g + gs, G_GROUPS, 16), right = factor(x + xs + P::tap(mine, 0), X_GROUPS, NEXT);
            u64 left_low = factor(g + gs + GRADIENT, G_GROUPS, 16);
            u64 right_low = factor(x + xs + P::BYTES + P::tap(mine, 0), X_GROUPS, NEXT);
            product<1, 1>(d, left_low, right, 1);
            product<1, 1>(d, left, right_low, 1);
            product<1, 1>(d, left, right, 1);
        }
        product_commit();
        product_wait<1>();
        // All products but those of this part are done.
        if (lane == 0 && s > 0) barrier_arrive(empty + 8 * ((s + STAGES - 1) % STAGES));
    }
    product_wait<0>();
    float *to = partial + (size_t)blockIdx.x * 9 * DEPTH * DEPTH;
    int row = outputs + thread / 32 % 4 * 16 + lane / 4;
#pragma unroll
    for (int k = 0; k < 96; k += 2) {
        int tap = mine * 3 + k / 32, column = inputs + k / 4 % 8 * 8 + lane % 4 * 2;
        *(float2 *)(to + ((size_t)(row + k / 2 % 2 * 8) * 9 + tap) * DEPTH + column) = float2{d[k], d[k + 1]};
    }
}

#define CONVOLUTION_BY_PARTS(name, back, chunks, a, b, ...)                                               \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) __maxnreg__(168)                                 \
    name(const __grid_constant__ Factors of, int sources, int count, int add, float *out) {               \
        extern __shared__ __align__(1024) char memory[];                                                  \
        convolve_parts<Strip<__VA_ARGS__>, chunks, a, b, back>(of, sources, count, add, out, memory);     \
    }
#define PARTS(channels, ...)                                                                              \
    CONVOLUTION_BY_PARTS(parts_##channels##_forward, false, __VA_ARGS__)                                  \
    CONVOLUTION_BY_PARTS(parts_##channels##_back, true, __VA_ARGS__)
#define WEIGHTS_BY_PARTS(channels, chunks, stages, ...)                                                   \
    extern "C" __global__ void __maxnreg__(152)                                                           \
    parts_##channels##_weights(const __grid_constant__ Factors of, int sources, int count, int each,      \
                               float *partial) {                                                          \
        extern __shared__ __align__(1024) char memory[];                                                  \
        weigh_parts<Pixels<__VA_ARGS__>, chunks, stages>(of, sources, count, each, partial, memory);      \
    }

// Eights of numbers by parts: all upper ones, then all lower ones.
extern "C" __global__ void take_apart(const float *from, long long eights, act *to) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= eights) return;
    uint4 both[2];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        float2 two = __ldcs((const float2 *)from + at * 4 + k);
        u32 high = pack2(two.x, two.y);
        (&both[0].x)[k] = high;
        (&both[1].x)[k] = pack2(two.x - __uint_as_float(high << 16), two.y - __uint_as_float(high & 0xffff0000u));
    }
    ((uint4 *)to)[at] = both[0];
    ((uint4 *)to)[eights + at] = both[1];
}

// Each size is compiled by itself.
#if !defined(CHANNELS) || CHANNELS == 64
PARTS(64, 1, 2, 14, 32, 32, 1)
WEIGHTS_BY_PARTS(64, 1, 2, 32, 4, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 128
PARTS(128, 2, 2, 14, 16, 16, 2)
WEIGHTS_BY_PARTS(128, 2, 2, 16, 8, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 256
PARTS(256, 4, 2, 14, 8, 8, 4)
WEIGHTS_BY_PARTS(256, 4, 2, 8, 8, 2)
#endif
#if !defined(CHANNELS) || CHANNELS == 512
PARTS(512, 8, 2, 14, 4, 2, 16)
WEIGHTS_BY_PARTS(512, 8, 2, 4, 4, 8)
#endif
