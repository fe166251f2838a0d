// 3×3 convolutions of stride 1, with as many channels in as out: forward, and back to the input.

// P: the pixels of a block. BN: its output channels. CHUNKS: input channels, in 64s. WAY: see above; back from
// the output's gradient to the input's, taps are mirrored and weights transposed. A, B: how many chunks of
// images and taps of weights have room. APART: the result has room of its own, else it takes that of the images.
template <class P, int BN, int CHUNKS, int A, int B, bool APART, int WAY>
__device__ __forceinline__ void convolve(const TensorMap *images, const TensorMap *weights, const After &after,
                                         int count, char *memory) {
    constexpr bool KEPT = CHUNKS == 1; // All weights have room, and stay.
    constexpr bool BACK = WAY != FORWARD;
    constexpr int WIDTH = P::WIDTH, LINES = P::LINES, IMAGES = P::IMAGES;
    constexpr int MT = P::BLOCKS / 2, HALVES = BN / 64;
    constexpr u32 TAP = BN * 128, OUT = P::ROWS * BN * 2;
    constexpr int DEPTH = CHUNKS * 64; // Square: as many in as out.
    int tiles = count / IMAGES * (WIDTH / LINES);
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    char *start = memory + (base - shared_at(memory));
    u32 at_a = base, at_b = at_a + A * P::BYTES, at_out = APART ? at_b + B * TAP : base;
    char *out = start + (at_out - base);
    u32 bars = at_b + B * TAP + (APART ? OUT : 0);
    u32 full_a = bars, empty_a = full_a + 8 * A, full_b = empty_a + 8 * A, empty_b = full_b + 8 * B;
    int thread = threadIdx.x, group = thread / 128;
    if (thread == 0) {
        barriers_init(full_a, empty_a, A, 8);
        barriers_init(full_b, empty_b, B, 8);
        barriers_ready();
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (thread == 0) {
            int a = 0, b = 0;
            bool waited = false;
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                int image = tile / (WIDTH / LINES) * IMAGES, line = tile % (WIDTH / LINES) * LINES;
                for (int c = 0; c < CHUNKS; ++c, ++a) {
                    // Weights do not wait for the kernel before.
                    auto weight = [&](int tap) {
                        if (KEPT && tile != blockIdx.x) return;
                        u32 slot = b % B;
                        barrier_wait(empty_b + 8 * slot, (b / B & 1) ^ 1);
                        barrier_expect(full_b + 8 * slot, TAP);
                        u32 to = at_b + slot * TAP, bar = full_b + 8 * slot;
                        int ky = tap / 3, kx = tap % 3;
                        if (BACK) {
                            for (int h = 0; h < HALVES; ++h)
                                load_box(to + h * 8192, weights, blockIdx.y * BN + h * 64, c * 64, 2 - kx, 2 - ky, bar);
                        } else load_box(to, weights, c * 64, blockIdx.y * BN, kx, ky, bar);
                        ++b;
                    };
                    weight(0);
                    u32 slot = a % A;
                    barrier_wait(empty_a + 8 * slot, (a / A & 1) ^ 1);
                    barrier_expect(full_a + 8 * slot, P::LOADED);
                    if (!waited) wait_for_previous_kernel();
                    waited = true;
                    P::load(at_a + slot * P::BYTES, images, c * 64, image, line - 1, -1, full_a + 8 * slot);
                    for (int tap = 1; tap < 9; ++tap) weight(tap);
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(WAY == BACK_OUT ? 232 : 200));
        int me = thread - 128, lane = me % 32, warp = me / 32 % 4, mine = group - 1;
        int cg = me % (BN / 8), line0 = me / (BN / 8), channel = blockIdx.y * BN + cg * 8;
        constexpr int STEP = 256 / (BN / 8);
        float sum[8] = {0}, other[8] = {0}, near[8] = {0}, scale[8], shift[8];
        wait_for_previous_kernel();
        int a = 0, b = 0;
        constexpr int EACH = P::ROWS / STEP;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            // What is needed at the end is asked for now.
            int first = (tile / (WIDTH / LINES) * IMAGES * WIDTH + tile % (WIDTH / LINES) * LINES) * WIDTH;
            auto place = [&](int n) { return (size_t)(first + P::pixel(line0 + n * STEP)) * DEPTH + channel; };
            uint4 in[EACH], old[EACH];
            u32 mask[EACH];
#pragma unroll
            for (int n = 0; n < EACH; ++n) {
                if (BACK) in[n] = *(const uint4 *)(after.x + place(n));
                if (WAY == BACK_OUT) mask[n] = after.mask[place(n) / 8];
                if (WAY == BACK_OUT && after.add) old[n] = *(const uint4 *)(after.out + place(n));
            }
            float d[MT][BN / 2];
            for (int c = 0; c < CHUNKS; ++c, ++a) {
                u32 slot = a % A;
                barrier_wait(full_a + 8 * slot, a / A & 1);
                u32 from = at_a + slot * P::BYTES;
#pragma unroll
                for (int tap = 0; tap < 9; ++tap) {
                    u32 bslot = KEPT ? tap : b % B;
                    barrier_wait(full_b + 8 * bslot, KEPT ? 0 : b / B & 1);
                    u32 w = at_b + bslot * TAP, x = from + P::tap(tap / 3, tap % 3);
                    product_begin();
#pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        u64 right = BACK ? factor(w + k * 2048, 1024, 8192) : factor(w + k * 32, 1024, 16);
#pragma unroll
                        for (int m = 0; m < MT; ++m) {
                            u64 left = factor(x + P::start(mine * MT + m) + k * 32, P::GROUPS, 16);
                            product<0, BACK>(d[m], left, right, c + tap + k > 0);
                        }
                    }
                    product_commit();
                    product_wait<1>();
                    // All products but the last are done.
                    if (!KEPT && lane == 0 && c + tap > 0) barrier_arrive(empty_b + 8 * ((b + B - 1) % B));
                    if (lane == 0 && tap == 0 && c > 0 && (APART || c < CHUNKS - A + 1))
                        barrier_arrive(empty_a + 8 * ((a + A - 1) % A));
                    if (!KEPT) ++b;
                }
            }
            product_wait<0>();
            if (!KEPT && lane == 0) barrier_arrive(empty_b + 8 * ((b + B - 1) % B));
            if (APART && lane == 0) barrier_arrive(empty_a + 8 * ((a + A - 1) % A));
            if (tile + gridDim.x >= tiles) allow_next_kernel();
            meet(); // What is written over has been read.
#pragma unroll
            for (int m = 0; m < MT; ++m) {
                int row = (mine * MT + m) * 64 + warp * 16 + lane % 16;
                put<P::ROWS>(at_out, row, lane, d[m]);
            }
            if (BACK) load8(after.vectors + channel, near);
            else if (after.statistics) load8(after.statistics + channel, near);
            if (WAY == BACK_OWN) {
                load8(after.vectors + 2 * DEPTH + channel, scale);
                load8(after.vectors + 3 * DEPTH + channel, shift);
            }
            meet();
#pragma unroll
            for (int n = 0; n < EACH; ++n) {
                int row = line0 + n * STEP;
                uint4 got = *(const uint4 *)(out + cg / 8 * (P::ROWS * 128) + row * 128 + (((cg % 8) ^ (row & 7)) << 4));
                follow<WAY>(got, in[n], mask[n], old[n], after.add, near, scale, shift, sum, other);
                *(uint4 *)(after.out + place(n)) = got;
            }
            if (!APART) {
                // The images' room was used for the result.
                meet();
                if (lane == 0)
                    for (int n = 0; n < (A < CHUNKS ? A : CHUNKS); ++n)
                        barrier_arrive(empty_a + 8 * ((a + A - 1 - n) % A));
            }
        }
        if (!BACK && !after.statistics) return;
        __shared__ int last;
        meet();
        finish<WAY, BN>(sum, other, (float *)out, after, DEPTH, count * WIDTH * WIDTH, 0, &last, me);
    }
}

#define CONVOLUTION(name, way, bn, chunks, a, b, apart, ...)                                              \
    extern "C" __global__ void __maxnreg__(way == BACK_OUT ? 168 : 144)                                   \
    name(const __grid_constant__ TensorMap images, const __grid_constant__ TensorMap weights,             \
         const __grid_constant__ After after, int count) {                                                \
        extern __shared__ __align__(1024) char memory[];                                                  \
        convolve<Pixels<__VA_ARGS__>, bn, chunks, a, b, apart, way>(&images, &weights, after, count, memory); \
    }
#define WAYS(channels, ...)                                                                               \
    CONVOLUTION(conv_##channels##_forward, FORWARD, __VA_ARGS__)                                          \
    CONVOLUTION(conv_##channels##_back_own, BACK_OWN, __VA_ARGS__)                                        \
    CONVOLUTION(conv_##channels##_back_out, BACK_OUT, __VA_ARGS__)

// Each size is compiled by itself.
#if !defined(CHANNELS) || CHANNELS == 64
WAYS(64, 64, 1, 2, 9, true, 32, 8, 1)
WEIGHTS(conv_64, 1, 4, false, 32, 4, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 128
WAYS(128, 64, 2, 2, 12, true, 16, 16, 1)
WEIGHTS(conv_128, 2, 4, false, 16, 8, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 256
WAYS(256, 64, 4, 2, 14, false, 8, 8, 4)
WEIGHTS(conv_256, 4, 4, false, 8, 8, 2)
#endif
#if !defined(CHANNELS) || CHANNELS == 512
WAYS(512, 64, 8, 2, 14, false, 4, 2, 16)
WEIGHTS(conv_512, 8, 3, false, 4, 4, 8)
#endif
