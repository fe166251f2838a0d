// 3×3 convolutions that step over every second pixel, together with the 1×1 convolution beside them that sees the
// same input: twice as many channels out as in. Forward, both results; back, the gradient of their input.
//
// Forward, a tap reads every second pixel of every second line: images are loaded as four planes, each of which
// serves some taps. Back, the result falls into four classes of pixels, by whether line and column are even, each
// of which some taps add to.

// The ten taps of a chunk of channels, in order; the last is that of the 1×1 convolution.
template <bool BACK> struct Taps {
    static __device__ __forceinline__ int ky(int t) {
        return BACK ? (t == 9 ? 1 : t / 3) : (int)(0x1111202200ull >> 4 * t & 15);
    }
    static __device__ __forceinline__ int kx(int t) {
        return BACK ? (t == 9 ? 1 : t % 3) : (int)(0x1120112020ull >> 4 * t & 15);
    }
    // What it reads: one of the four planes, or the gradients of one of the results.
    static __device__ __forceinline__ int part(int t) { return BACK ? t / 9 : t < 4 ? 0 : (t - 2) / 2; }
    static __device__ __forceinline__ bool first(int t) { return t == 0 || part(t) != part(t - 1); }
    // Which result it is part of, and whether it is the first tap of that.
    static constexpr int RESULTS = BACK ? 4 : 2;
    static __device__ __forceinline__ int result(int t) {
        return BACK ? 2 * (ky(t) != 1) + (kx(t) != 1) : t == 9;
    }
    static __device__ __forceinline__ bool begins(int t) {
        return BACK ? t == 0 || t == 1 || t == 3 || t == 4 : t == 0 || t == 9;
    }
    template <class P> static __device__ __forceinline__ u32 at(int t) {
        return BACK ? P::tap(ky(t) == 0, kx(t) == 0) : P::tap(ky(t) > 0, kx(t) > 0);
    }
};

// P: pixels of the smaller images. CHUNKS: channels of what is read, in 64s. A, B: how many parts and taps of
// weights have room. `images`, `others`: what is read, back the gradients of both results. Back, `one` alone; with fixed
// statistics, the norm behind the 3×3 convolution alone: that behind the other one may add what is not there yet.
template <class P, int CHUNKS, int A, int B, int WAY>
__device__ __forceinline__ void convolve_strided(const TensorMap *images, const TensorMap *others,
                                                 const TensorMap *weights, const TensorMap *beside, const After &one,
                                                 const After &two, int count, char *memory) {
    constexpr bool BACK = WAY == BACK_OUT, KEPT = CHUNKS == 1; // All weights have room, and stay.
    using T = Taps<BACK>;
    constexpr int R = T::RESULTS, SUMS = BACK ? 1 : 2;
    constexpr int ROOMS = BACK ? R : 1; // For results.
    constexpr int WIDTH = P::WIDTH, LINES = P::LINES, IMAGES = P::IMAGES, MT = P::BLOCKS / 2;
    constexpr u32 TAP = 64 * 128, OUT = P::ROWS * 128;
    constexpr int DEPTH = BACK ? CHUNKS * 32 : CHUNKS * 128; // Channels of the result.
    int tiles = count / IMAGES * (WIDTH / LINES);
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    u32 at_a = base, at_b = at_a + A * P::BYTES, at_out = at_b + B * TAP, bars = at_out + ROOMS * OUT;
    char *out = memory + (at_out - shared_at(memory));
    u32 full_a = bars, empty_a = full_a + 8 * A, full_b = empty_a + 8 * A, empty_b = full_b + 8 * B;
    int thread = threadIdx.x, group = thread / 128;
    if (thread == 0) {
        barriers_init(full_a, empty_a, A, 8);
        barriers_init(full_b, empty_b, B, 8);
        barriers_ready();
    }
    __syncthreads();
    if (group == 0) {
        release_registers<40>();
        if (thread == 0) {
            int a = 0, b = 0;
            bool waited = false;
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                int image = tile / (WIDTH / LINES) * IMAGES, line = tile % (WIDTH / LINES) * LINES;
                for (int c = 0; c < CHUNKS; ++c)
#pragma unroll
                    for (int t = 0; t < 10; ++t) {
                        // Weights do not wait for the kernel before.
                        if (!KEPT || tile == blockIdx.x) {
                            u32 slot = b % B, to = at_b + slot * TAP, bar = full_b + 8 * slot;
                            barrier_wait(empty_b + 8 * slot, (b / B & 1) ^ 1);
                            barrier_expect(bar, TAP);
                            int own = blockIdx.y * 64, read = c * 64;
                            if (t == 9) load_box(to, beside, BACK ? own : read, BACK ? read : own, 0, 0, bar);
                            else load_box(to, weights, BACK ? own : read, BACK ? read : own, T::kx(t), T::ky(t), bar);
                            ++b;
                        }
                        if (!T::first(t)) continue;
                        u32 slot = a % A, to = at_a + slot * P::BYTES, bar = full_a + 8 * slot;
                        barrier_wait(empty_a + 8 * slot, (a / A & 1) ^ 1);
                        barrier_expect(bar, P::LOADED);
                        if (!waited) wait_for_previous_kernel();
                        waited = true;
                        if (BACK) P::load(to, T::part(t) ? others : images, c * 64, image, line, 0, bar);
                        else load_plane<P>(to, images, T::part(t), c * 64, image, line, bar);
                        ++a;
                    }
            }
        }
    } else {
        take_registers<232>();
        int me = thread - 128, lane = me % 32, warp = me / 32 % 4, mine = group - 1;
        int cg = me % 8, line0 = me / 8, channel = blockIdx.y * 64 + cg * 8;
        constexpr int EACH = P::ROWS / 32;
        float sum[SUMS][8] = {0}, other[SUMS][8] = {0}, near[SUMS][8] = {0}, scale[8], shift[8];
        wait_for_previous_kernel();
        if (BACK) load8(one.vectors + channel, near[0]);
        if (WAY == FORWARD && one.statistics) load8(one.statistics + channel, near[0]);
        if (WAY == FORWARD && two.statistics) load8(two.statistics + channel, near[SUMS - 1]);
        if (WAY == EVALUATE) {
            load8(one.vectors + 2 * DEPTH + channel, scale);
            load8(one.vectors + 3 * DEPTH + channel, shift);
        }
        int a = 0, b = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            int first = (tile / (WIDTH / LINES) * IMAGES * WIDTH + tile % (WIDTH / LINES) * LINES) * WIDTH;
            auto place = [&](int r, int n) {
                int pixel = first + P::pixel(line0 + n * 32);
                if (BACK) pixel = (2 * (pixel / WIDTH) + r / 2) * 2 * WIDTH + 2 * (pixel % WIDTH) + r % 2;
                return (size_t)pixel * DEPTH + channel;
            };
            uint4 x[2][EACH];
            u32 mask[2][EACH];
            auto ask = [&](int r) {
#pragma unroll
                for (int n = 0; n < EACH; ++n) {
                    if (BACK) x[r % 2][n] = *(const uint4 *)(one.x + place(r, n));
                    if (BACK) mask[r % 2][n] = one.mask[place(r, n) / 8];
                }
            };
            float d[R][MT][32];
            for (int c = 0; c < CHUNKS; ++c) {
#pragma unroll
                for (int t = 0; t < 10; ++t) {
                    if (T::first(t)) {
                        barrier_wait(full_a + 8 * (a % A), a / A & 1);
                        ++a;
                    }
                    u32 bslot = KEPT ? t : b % B;
                    barrier_wait(full_b + 8 * bslot, KEPT ? 0 : b / B & 1);
                    u32 w = at_b + bslot * TAP, from = at_a + (a + A - 1) % A * P::BYTES + T::template at<P>(t);
                    product_begin();
#pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        u64 right = BACK ? factor(w + k * 2048, 1024, 8192) : factor(w + k * 32, 1024, 16);
#pragma unroll
                        for (int m = 0; m < MT; ++m) {
                            u64 left = factor(from + P::start(mine * MT + m) + k * 32, P::GROUPS, 16);
                            product<0, BACK>(d[T::result(t)][m], left, right, c + k > 0 || !T::begins(t));
                        }
                    }
                    product_commit();
                    product_wait<1>();
                    // All products but the last are done.
                    if (!KEPT && lane == 0 && c + t > 0) barrier_arrive(empty_b + 8 * ((b + B - 1) % B));
                    if (lane == 0 && T::first(t) && c + t > 0) barrier_arrive(empty_a + 8 * ((a + A - 2) % A));
                    if (!KEPT) ++b;
                }
            }
            product_wait<0>();
            if (!KEPT && lane == 0) barrier_arrive(empty_b + 8 * ((b + B - 1) % B));
            if (lane == 0) barrier_arrive(empty_a + 8 * ((a + A - 1) % A));
            if (tile + gridDim.x >= tiles) allow_next_kernel();
#pragma unroll
            for (int r = 0; r < R; ++r) {
                if (r % ROOMS == 0) {
                    meet(); // What is written over has been read.
#pragma unroll
                    for (int m = 0; m < MT * ROOMS; ++m) {
                        int row = (mine * MT + m % MT) * 64 + warp * 16 + lane % 16;
                        put<P::ROWS>(at_out + m / MT * OUT, row, lane, d[r + m / MT][m % MT]);
                    }
                    if (r == 0) ask(0);
                    meet();
                }
                if (r + 1 < R) ask(r + 1);
                act *to = !BACK && r ? two.out : one.out;
#pragma unroll
                for (int n = 0; n < EACH; ++n) {
                    int row = line0 + n * 32, s = BACK ? 0 : r;
                    uint4 got = *(const uint4 *)(out + r % ROOMS * OUT + row * 128 + ((cg ^ (row & 7)) << 4));
                    if (WAY == EVALUATE) {
                        if (r == 0) apply_norm(got, got, false, one.own, scale, shift);
                    } else
                        follow<WAY>(got, x[r % 2][n], mask[r % 2][n], got, false, near[s], near[s], near[s], sum[s], other[s]);
                    *(uint4 *)(to + place(r, n)) = got;
                }
            }
        }
        if (WAY == EVALUATE) return;
        __shared__ int last;
        int rows = count * WIDTH * WIDTH * (BACK ? 4 : 1);
        meet();
        if (BACK || one.statistics) finish<WAY>(sum[0], other[0], (float *)out, one, DEPTH, rows, 0, &last, me);
        if (BACK || !two.statistics) return;
        meet();
        finish<WAY>(sum[SUMS - 1], other[SUMS - 1], (float *)out, two, DEPTH, rows, 1, &last, me);
    }
}

#define STRIDED(name, way, chunks, a, b, ...)                                                            \
    extern "C" __global__ void __launch_bounds__(384, 1)                                                  \
    name(const __grid_constant__ TensorMap images, const __grid_constant__ TensorMap others,              \
         const __grid_constant__ TensorMap weights, const __grid_constant__ TensorMap beside,             \
         const __grid_constant__ After one, const __grid_constant__ After two, int count) {               \
        extern __shared__ __align__(1024) char memory[];                                                  \
        convolve_strided<Pixels<__VA_ARGS__, 1>, chunks, a, b, way>(&images, &others, &weights, &beside, one,    \
                                                             two, count, memory);                         \
    }

// Each size is compiled by itself: the channels of the results.
#if !defined(CHANNELS) || CHANNELS == 128
STRIDED(stride_128_forward, FORWARD, 1, 3, 10, 16, 16, 1)
STRIDED(stride_128_evaluate, EVALUATE, 1, 3, 10, 16, 16, 1)
STRIDED(stride_128_back, BACK_OUT, 2, 2, 13, 16, 8, 1)
WEIGHTS(stride_128, 1, 3, true, 16, 4, 1, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 256
STRIDED(stride_256_forward, FORWARD, 2, 2, 12, 8, 8, 4)
STRIDED(stride_256_evaluate, EVALUATE, 2, 2, 12, 8, 8, 4)
STRIDED(stride_256_back, BACK_OUT, 4, 2, 13, 8, 8, 2)
WEIGHTS(stride_256, 2, 3, true, 8, 8, 1, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 512
STRIDED(stride_512_forward, FORWARD, 4, 3, 12, 4, 2, 16)
STRIDED(stride_512_evaluate, EVALUATE, 4, 3, 12, 4, 2, 16)
STRIDED(stride_512_back, BACK_OUT, 8, 2, 12, 4, 2, 16)
WEIGHTS(stride_512, 4, 2, true, 4, 2, 8, 1)
#endif
