// The first 3×3 convolution of a network: 8 channels in (those of an image, padded), 64 out, stride 1. Forward, and the
// gradient of the weights.
//
// Eight neighbouring pixels are 128 bytes, which is what a product takes at a time without a swizzle; the distance to
// the next eight pixels and to the next tap may be any multiple of 16 bytes. So factors are read where images lie, by
// one tap or several.

#define STEM_WIDTH 32
#define STEM_LINES 8
#define STEM_WIDE (STEM_WIDTH + 2)
#define STEM_ROWS (STEM_WIDTH * STEM_LINES)
#define STEM_LOADED (STEM_WIDE * (STEM_LINES + 2) * 16)
#define STEM_IMAGE 6144 // Bytes of room for it.
#define STEM_SLOTS 4
#define STEM_SUMS (9 * 64 * 8)

// A factor without a swizzle: the distances of groups of eight along rows or columns, and along the summands.
__device__ __forceinline__ u64 plain_factor(u32 at, u32 groups, u32 summands) {
    return (u64)((at & 0x3ffff) >> 4) | (u64)(summands >> 4) << 16 | (u64)(groups >> 4) << 32;
}

#if !defined(CHANNELS) || CHANNELS == 8
template <int WAY>
__device__ __forceinline__ void convolve_first(const TensorMap *images, const act *weights, const After &after,
                                               int count, char *memory) {
    using P = Pixels<STEM_WIDTH, STEM_LINES, 1>;
    constexpr int PARTS_OF_IMAGE = STEM_WIDTH / STEM_LINES, EACH = STEM_ROWS / 32;
    int tiles = count * PARTS_OF_IMAGE;
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    u32 at_w = base + STEM_SLOTS * STEM_IMAGE, at_out = at_w + 10 * 1024, bars = at_out + STEM_ROWS * 128;
    char *start = memory + (base - shared_at(memory)), *out = start + (at_out - base);
    int me = threadIdx.x, lane = me % 32, warp = me / 32 % 4, mine = me / 128;
    if (me == 0) {
        for (int n = 0; n < STEM_SLOTS; ++n) barrier_init(bars + 8 * n, 1);
        barriers_ready();
    }
    wait_for_previous_kernel();
    // Taps 1 to 8, then 0, then one of zeros, which reads what tap 1 does.
    for (int n = me; n < 640; n += 256) {
        int place = n / 64, tap = place < 8 ? place + 1 : 0;
        uint4 zeros = {0, 0, 0, 0};
        *(uint4 *)(start + (at_w - base) + n * 16) =
            place < 9 ? *(const uint4 *)(weights + (n % 64 * 9 + tap) * 8) : zeros;
    }
    publish_writes();
    __syncthreads();
    auto load = [&](int number) {
        int tile = blockIdx.x + number * gridDim.x;
        if (tile >= tiles) return;
        u32 slot = number % STEM_SLOTS;
        barrier_expect(bars + 8 * slot, STEM_LOADED);
        P::load(base + slot * STEM_IMAGE, images, 0, tile / PARTS_OF_IMAGE, tile % PARTS_OF_IMAGE * STEM_LINES - 1, -1,
                bars + 8 * slot);
    };
    if (me == 0)
        for (int n = 0; n < STEM_SLOTS; ++n) load(n);
    int cg = me % 8, line0 = me / 8, channel = cg * 8;
    float sum[8] = {0}, other[8] = {0}, near[8] = {0}, scale[8], shift[8];
    if (WAY == FORWARD && after.statistics) load8(after.statistics + channel, near);
    if (WAY == EVALUATE) {
        load8(after.vectors + 2 * 64 + channel, scale);
        load8(after.vectors + 3 * 64 + channel, shift);
    }
    int number = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++number) {
        u32 slot = number % STEM_SLOTS, from = base + slot * STEM_IMAGE;
        barrier_wait(bars + 8 * slot, number / STEM_SLOTS & 1);
        float d[2][32];
        product_begin();
#pragma unroll
        for (int k = 0; k < 5; ++k) {
            auto at = [](int tap) { return (u32)(tap / 3 * STEM_WIDE + tap % 3) * 16; };
            int tap = k < 4 ? 2 * k + 1 : 0;
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                u32 strip = (mine * 2 + m) * 8 * 16;
                u64 left = plain_factor(from + strip + at(tap), STEM_WIDE * 16, at(tap + 1) - at(tap));
                product<0, 0>(d[m], left, plain_factor(at_w + k * 2048, 128, 1024), k > 0);
            }
        }
        product_commit();
        product_wait<0>();
        if (tile + gridDim.x >= tiles) allow_next_kernel();
        meet(); // What is written over has been read.
        if (me == 0) load(number + STEM_SLOTS);
#pragma unroll
        for (int m = 0; m < 2; ++m)
            put<STEM_ROWS>(at_out, (mine * 2 + m) * 64 + warp * 16 + lane % 16, lane, d[m]);
        meet();
        int first = tile * STEM_ROWS;
#pragma unroll
        for (int n = 0; n < EACH; ++n) {
            int row = line0 + n * 32;
            uint4 got = *(const uint4 *)(out + row * 128 + ((cg ^ (row & 7)) << 4));
            if (WAY == EVALUATE) apply_norm(got, got, false, after.own, scale, shift);
            else follow<FORWARD>(got, got, 0, got, false, near, near, near, sum, other);
            *(uint4 *)(after.out + (size_t)(first + P::pixel(row)) * 64 + channel) = got;
        }
    }
    if (WAY != FORWARD || !after.statistics) return;
    __shared__ int last;
    meet();
    finish<FORWARD>(sum, other, (float *)out, after, 64, count * STEM_WIDTH * STEM_WIDTH, 0, &last, me);
}

#define STEM(name, way)                                                                                   \
    extern "C" __global__ void __launch_bounds__(256, 1)                                                  \
    name(const __grid_constant__ TensorMap images, const act *weights,                                    \
         const __grid_constant__ After after, int count) {                                                \
        extern __shared__ __align__(1024) char memory[];                                                  \
        convolve_first<way>(&images, weights, after, count, memory);                                      \
    }
STEM(stem_forward, FORWARD)
STEM(stem_evaluate, EVALUATE)

// A block has a share of the images' parts; two warp groups have half of the lines of each.
extern "C" __global__ void __launch_bounds__(256, 1)
stem_weights(const __grid_constant__ TensorMap images, const __grid_constant__ TensorMap gradients, float *partial,
             int count) {
    extern __shared__ __align__(1024) char memory[];
    using P = Pixels<STEM_WIDTH, STEM_LINES, 1>;
    constexpr int PARTS_OF_IMAGE = STEM_WIDTH / STEM_LINES;
    constexpr u32 GRADIENT = STEM_ROWS * 128, STAGE = GRADIENT + STEM_IMAGE;
    int tiles = count * PARTS_OF_IMAGE;
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024, bars = base + STEM_SLOTS * STAGE;
    int me = threadIdx.x, lane = me % 32, warp = me / 32 % 4, mine = me / 128;
    if (me == 0) {
        for (int n = 0; n < STEM_SLOTS; ++n) barrier_init(bars + 8 * n, 1);
        barriers_ready();
    }
    __syncthreads();
    wait_for_previous_kernel();
    auto load = [&](int number) {
        int tile = blockIdx.x + number * gridDim.x;
        if (tile >= tiles) return;
        u32 slot = number % STEM_SLOTS, at = base + slot * STAGE, bar = bars + 8 * slot;
        int image = tile / PARTS_OF_IMAGE, line = tile % PARTS_OF_IMAGE * STEM_LINES;
        barrier_expect(bar, GRADIENT + STEM_LOADED);
        P::load(at, &gradients, 0, image, line, 0, bar);
        P::load(at + GRADIENT, &images, 0, image, line - 1, -1, bar);
    };
    if (me == 0)
        for (int n = 0; n < STEM_SLOTS; ++n) load(n);
    float d[3][12] = {0};
    int number = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++number) {
        u32 slot = number % STEM_SLOTS, g = base + slot * STAGE, x = g + GRADIENT;
        barrier_wait(bars + 8 * slot, number / STEM_SLOTS & 1);
        product_begin();
#pragma unroll
        for (int k = 0; k < STEM_ROWS / 32; ++k) {
            int line = mine * (STEM_LINES / 2) + k / 2, column = k % 2 * 16;
            u64 left = factor(g + (line * STEM_WIDTH + column) * 128, 1024, 16);
#pragma unroll
            for (int ky = 0; ky < 3; ++ky)
                product(d[ky], left, plain_factor(x + ((line + ky) * STEM_WIDE + column) * 16, 16, 128));
        }
        product_commit();
        product_wait<0>();
        meet();
        if (me == 0) load(number + STEM_SLOTS);
    }
    allow_next_kernel();
    // The second group gives its sums to the first.
    float *shared = (float *)(memory + (base - shared_at(memory)));
    meet();
#pragma unroll
    for (int group = 1; group >= 0; --group) {
        if (mine == group)
#pragma unroll
            for (int n = 0; n < 36; ++n) {
                int tap = n / 12 * 3 + n % 12 / 4, row = warp * 16 + lane / 4 + (n % 4 / 2) * 8;
                int at = (tap * 64 + row) * 8 + lane % 4 * 2 + n % 2;
                if (group) shared[at] = d[n / 12][n % 12];
                else partial[(size_t)blockIdx.x * STEM_SUMS + at] = d[n / 12][n % 12] + shared[at];
            }
        meet();
    }
}

// Adds the sums of all blocks: eight threads for each number.
extern "C" __global__ void __launch_bounds__(256)
stem_sum_weights(const float *partial, int blocks, act *dw) {
    __shared__ float parts[256];
    int place = blockIdx.x * 32 + threadIdx.x % 32, part = threadIdx.x / 32;
    wait_for_previous_kernel();
    float sum = 0.0f;
#pragma unroll 8
    for (int n = part; n < blocks; n += 8) sum += __ldcg(partial + (size_t)n * STEM_SUMS + place);
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (part > 0) return;
    for (int p = 1; p < 8; ++p) sum += parts[p * 32 + threadIdx.x];
    int tap = place / 512, row = place / 8 % 64;
    dw[(row * 9 + tap) * 8 + place % 8] = to_act(sum);
}
#endif
