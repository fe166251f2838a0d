// 3×3 convolutions of stride 1, with as many channels in as out: forward, and back to the input.
//
// Rows of a product are 64 output channels, and its columns are pixels: a product that is wider than high reads less
// of shared memory, which is what limits it. Where there is room for all weights of a block, its two warp groups take
// turns: one multiplies while the other one finishes what it has multiplied. Else both do half of the same pixels, and
// two blocks with the same channels load half of the weights each, for both.

// The result of a warp group, channels × pixels, to shared memory as pixels × channels.
template <int N> __device__ __forceinline__ void put_transposed(u32 to, int warp, int lane, const float (&d)[N]) {
#pragma unroll
    for (int j = 0; j < N / 4; j += 2) {
        u32 pixel = (j + lane / 16) * 8 + lane % 8, piece = warp * 2 + lane / 8 % 2;
        store_transposed(to + pixel * 128 + ((piece ^ (pixel & 7)) << 4), pack2(d[4 * j], d[4 * j + 1]),
                         pack2(d[4 * j + 2], d[4 * j + 3]), pack2(d[4 * j + 4], d[4 * j + 5]),
                         pack2(d[4 * j + 6], d[4 * j + 7]));
    }
}

// P: the pixels of a block. CHUNKS: channels, in 64s. WAY: see above; back from the output's gradient to the
// input's, taps are mirrored and weights transposed. A, B: how many chunks of images and taps of weights have room.
// Where all weights have, the result has room of its own, else it takes that of the images.
template <class P, int CHUNKS, int A, int B, int WAY>
__device__ __forceinline__ void convolve(const TensorMap *images, const TensorMap *weights, const After &after,
                                         int count, char *memory) {
    constexpr bool KEPT = B == 9 * CHUNKS, BACK = WAY == BACK_OWN || WAY == BACK_OUT;
    constexpr int PIXELS = KEPT ? P::ROWS : P::ROWS / 2; // Of a warp group.
    constexpr u32 TAP = 64 * 128, OUT = PIXELS * 128;
    constexpr int DEPTH = CHUNKS * 64;
    int tiles = P::all(count);
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    u32 at_a = base, at_b = at_a + A * P::BYTES, at_out = KEPT ? at_b + B * TAP : base;
    u32 bars = at_b + B * TAP + (KEPT ? 2 * OUT : 0);
    u32 full_a = bars, empty_a = full_a + 8 * A, full_b = empty_a + 8 * A, empty_b = full_b + 8 * B;
    int thread = threadIdx.x, group = thread / 128, rank = KEPT ? 0 : blockIdx.x % 2;
    if (thread == 0) {
        barriers_init(full_a, empty_a, A, KEPT ? 4 : 8);
        barriers_init(full_b, empty_b, B, 16);
        barriers_ready();
    }
    if (KEPT) __syncthreads();
    else meet_cluster();
    if (group == 0) {
        release_registers<24>();
        if (thread == 0) {
            int a = 0, b = 0;
            bool waited = false;
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                P pixels(tile);
                for (int c = 0; c < CHUNKS; ++c, ++a) {
                    // Weights do not wait for the kernel before.
                    auto weight = [&](int tap) {
                        if (KEPT && tile != blockIdx.x) return;
                        u32 slot = b % B, to = at_b + slot * TAP, bar = full_b + 8 * slot;
                        barrier_wait(empty_b + 8 * slot, (b / B & 1) ^ 1);
                        barrier_expect(bar, TAP);
                        int ky = tap / 3, kx = tap % 3, own = blockIdx.y * 64, read = c * 64;
                        if (BACK) ky = 2 - ky, kx = 2 - kx;
                        int in = BACK ? own : read, of = BACK ? read : own;
                        if (KEPT) load_box(to, weights, in, of, kx, ky, bar);
                        else load_box_for_both(to + rank * (TAP / 2), weights, in, of + rank * 32, kx, ky, bar);
                        ++b;
                    };
                    weight(0);
                    u32 slot = a % A;
                    barrier_wait(empty_a + 8 * slot, (a / A & 1) ^ 1);
                    barrier_expect(full_a + 8 * slot, P::LOADED);
                    if (!waited) wait_for_previous_kernel();
                    waited = true;
                    pixels.load(at_a + slot * P::BYTES, images, c * 64, full_a + 8 * slot);
                    for (int tap = 1; tap < 9; ++tap) weight(tap);
                }
            }
        }
        __syncwarp();
    } else {
        take_registers<WAY == BACK_OUT ? 232 : 200>();
        int me = thread - 128, lane = me % 32, warp = me / 32 % 4, mine = group - 1;
        int cg = me % 8, line0 = me % 128 / 8, channel = blockIdx.y * 64 + cg * 8;
        constexpr int STEP = 16, EACH = PIXELS / STEP;
        int row0 = KEPT ? 0 : mine * PIXELS;
        u32 to = at_out + mine * OUT;
        const char *out = memory + (to - shared_at(memory));
        float sum[8] = {0}, other[8] = {0}, near[8] = {0}, scale[8], shift[8];
        wait_for_previous_kernel();
        if (KEPT && mine == 1) pass_turn(0);
        int b = 0;
        for (int s = KEPT ? mine : 0, tile; (tile = blockIdx.x + s * gridDim.x) < tiles; s += KEPT ? 2 : 1) {
            // What is needed at the end is asked for now.
            int first = P(tile).first();
            auto place = [&](int n) { return (size_t)(first + P::pixel(row0 + line0 + n * STEP)) * DEPTH + channel; };
            uint4 in[EACH], old[EACH];
            u32 mask[EACH];
#pragma unroll
            for (int n = 0; n < EACH; ++n) {
                if (BACK) in[n] = *(const uint4 *)(after.x + place(n));
                if (WAY == BACK_OUT) mask[n] = after.mask[place(n) / 8];
                if (WAY == BACK_OUT && after.add) old[n] = *(const uint4 *)(after.out + place(n));
                if (WAY == EVALUATE && after.add) old[n] = *(const uint4 *)(after.x + place(n));
            }
            bool last_tile = tile + gridDim.x >= tiles;
            float d[PIXELS / 2];
            if (KEPT) wait_for_turn(mine);
#pragma unroll(KEPT ? CHUNKS : 1)
            for (int c = 0; c < CHUNKS; ++c) {
                int a = s * CHUNKS + c;
                u32 slot = a % A, from = at_a + slot * P::BYTES + P::start(row0);
                barrier_wait(full_a + 8 * slot, a / A & 1);
#pragma unroll
                for (int tap = 0; tap < 9; ++tap) {
                    u32 bslot = KEPT ? c * 9 + tap : b % B;
                    barrier_wait(full_b + 8 * bslot, KEPT ? 0 : b / B & 1);
                    u32 w = at_b + bslot * TAP, x = from + P::tap(tap / 3, tap % 3);
                    product_begin();
#pragma unroll
                    for (int k = 0; k < 4; ++k)
                        product<BACK, 0>(d, factor(w + k * (BACK ? 2048 : 32), 1024, 16), factor(x + k * 32, P::GROUPS, 16),
                                         c + tap + k > 0);
                    product_commit();
                    // All products but the last are done.
                    if (!KEPT || (c > 0 && tap == 0)) product_wait<1>();
                    if (!KEPT && lane < 2 && c + tap > 0) barrier_arrive_in(empty_b + 8 * ((b + B - 1) % B), lane);
                    if (lane == 0 && tap == 0 && c > 0 && (KEPT || c < CHUNKS - A + 1))
                        barrier_arrive(empty_a + 8 * ((a + A - 1) % A));
                    if (!KEPT) ++b;
                }
            }
            if (KEPT && !last_tile) pass_turn(1 - mine);
            product_wait<0>();
            if (!KEPT && lane < 2) barrier_arrive_in(empty_b + 8 * ((b + B - 1) % B), lane);
            if (KEPT && lane == 0) barrier_arrive(empty_a + 8 * ((s * CHUNKS + CHUNKS - 1) % A));
            if (last_tile) allow_next_kernel();
            // What is written over has been read.
            if (KEPT) meet_group(mine);
            else meet();
            put_transposed(to, warp, lane, d);
            if (BACK) load8(after.vectors + channel, near);
            else if (WAY == FORWARD && after.statistics) load8(after.statistics + channel, near);
            if (WAY == BACK_OWN || WAY == EVALUATE) {
                load8(after.vectors + 2 * DEPTH + channel, scale);
                load8(after.vectors + 3 * DEPTH + channel, shift);
            }
            meet_group(mine);
#pragma unroll
            for (int n = 0; n < EACH; ++n) {
                int row = line0 + n * STEP;
                uint4 got = *(const uint4 *)(out + row * 128 + ((cg ^ (row & 7)) << 4));
                if (WAY == EVALUATE) apply_norm(got, old[n], after.add, after.own, scale, shift);
                else follow<WAY>(got, in[n], mask[n], old[n], after.add, near, scale, shift, sum, other);
                *(uint4 *)(after.out + place(n)) = got;
            }
            if (!KEPT) {
                // The images' room was used for the result.
                meet();
                if (lane == 0)
                    for (int n = 0; n < (A < CHUNKS ? A : CHUNKS); ++n)
                        barrier_arrive(empty_a + 8 * ((s * CHUNKS + CHUNKS - 1 - n + A) % A));
            }
        }
        if (BACK || (WAY == FORWARD && after.statistics)) {
            __shared__ int last;
            meet();
            float *room = (float *)(memory + (at_out - shared_at(memory)));
            finish<WAY>(sum, other, room, after, DEPTH, count * P::WIDTH * P::WIDTH, 0, &last, me);
        }
        __syncwarp();
    }
    // Nobody leaves while another arrives at its barriers.
    if (!KEPT) meet_cluster();
}

#define CONVOLUTION(name, way, chunks, a, b, ...)                                                         \
    extern "C" __global__ void __cluster_dims__(b == 9 * chunks ? 1 : 2, 1, 1)                            \
    __maxnreg__(way == BACK_OUT ? 168 : 144)                                                              \
    name(const __grid_constant__ TensorMap images, const __grid_constant__ TensorMap weights,             \
         const __grid_constant__ After after, int count) {                                                \
        extern __shared__ __align__(1024) char memory[];                                                  \
        convolve<Strip<__VA_ARGS__>, chunks, a, b, way>(&images, &weights, after, count, memory);         \
    }
#define WAYS(channels, ...)                                                                               \
    CONVOLUTION(conv_##channels##_forward, FORWARD, __VA_ARGS__)                                          \
    CONVOLUTION(conv_##channels##_back_own, BACK_OWN, __VA_ARGS__)                                        \
    CONVOLUTION(conv_##channels##_back_out, BACK_OUT, __VA_ARGS__)                                        \
    CONVOLUTION(conv_##channels##_evaluate, EVALUATE, __VA_ARGS__)

// Each size is compiled by itself.
#if !defined(CHANNELS) || CHANNELS == 64
WAYS(64, 1, 4, 9, 32, 16, 1)
WEIGHTS(conv_64, 1, 4, false, 32, 4, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 128
WAYS(128, 2, 2, 18, 16, 16, 1)
WEIGHTS(conv_128, 2, 4, false, 16, 8, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 256
WAYS(256, 4, 2, 14, 8, 8, 4)
WEIGHTS(conv_256, 4, 4, false, 8, 8, 2)
#endif
#if !defined(CHANNELS) || CHANNELS == 512
WAYS(512, 8, 2, 14, 4, 2, 16)
WEIGHTS(conv_512, 8, 3, false, 4, 4, 8)
#endif
