// The gradient of the weights: for each tap, output channels × pixels × input channels, both factors with
// channels contiguous. A block has 64 output channels, 64 input channels, all nine taps (three warp groups
// with three each, and a warp that loads, or four of them that give registers away) and a share of the pixels. Two blocks add their sums by reading each other's shared
// memory; where there are more, `sum_weights` adds those of the pairs.
//
// Where the convolution steps over every second pixel, what it reads is loaded as four planes (see stride.cu), and
// the 1×1 convolution beside it is a tenth tap with gradients of its own.

// Groups of four sums that a block keeps.
template <int TAPS> constexpr int KEPT_FOURS = TAPS * 64 * 64 / 4 / 2;

// `dw`: of the 3×3 convolution and of that beside it. CHUNKS: input channels, in 64s.
struct Weights { act *dw[2]; };

template <int CHUNKS>
__device__ __forceinline__ void store_weights(Weights to, float4 sum, int side, int at) {
    int thread = at % 128, tap = at / 128 / 4, pair = at / 128 % 4, outputs = side / 2 / CHUNKS * 64;
    // Registers 0 and 1 are of one row, 2 and 3 of the eighth after it.
    int row = thread / 32 * 16 + thread % 32 / 4;
    int column = side / 2 % CHUNKS * 64 + side % 2 * 32 + pair * 8 + thread % 4 * 2;
    int taps = tap < 9 ? 9 : 1;
    act *dw = to.dw[tap / 9] + ((size_t)(outputs + row) * taps + tap % 9) * (CHUNKS * 64) + column;
    *(u32 *)dw = pack2(sum.x, sum.y);
    *(u32 *)(dw + 8 * taps * CHUNKS * 64) = pack2(sum.z, sum.w);
}

// The same of four neighbouring groups of eight inputs, `at` of the first: four threads exchange what they have, so
// that each stores eight inputs of one group.
template <int CHUNKS>
__device__ __forceinline__ void store_weights(Weights to, const float4 (&sums)[4], int side, int at) {
    int thread = at % 128, tap = at / 128 / 4, outputs = side / 2 / CHUNKS * 64;
    int row = thread / 32 * 16 + thread % 32 / 4, own = thread % 4;
    int column = side / 2 % CHUNKS * 64 + side % 2 * 32 + own * 8, taps = tap < 9 ? 9 : 1;
    act *dw = to.dw[tap / 9] + ((size_t)(outputs + row) * taps + tap % 9) * (CHUNKS * 64) + column;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        u32 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = half ? pack2(sums[k].z, sums[k].w) : pack2(sums[k].x, sums[k].y);
#pragma unroll
        for (int bit = 1; bit < 4; bit *= 2) {
#pragma unroll
            for (int pair = 0; pair < 2; ++pair) {
                u32 &low = v[bit == 1 ? 2 * pair : pair], &high = v[bit == 1 ? 2 * pair + 1 : pair + 2];
                u32 got = __shfl_xor_sync(0xffffffffu, own & bit ? low : high, bit);
                (own & bit ? low : high) = got;
            }
        }
        *(uint4 *)(dw + half * 8 * taps * CHUNKS * 64) = uint4{v[0], v[1], v[2], v[3]};
    }
}

// A stage of what is loaded: images, or four planes of them, and the gradients of one result or two.
template <class P, bool STRIDED> struct Stages {
    static constexpr int PLANES = STRIDED ? 4 : 1, TAPS = STRIDED ? 10 : 9;
    static constexpr u32 GRADIENT = P::ROWS * 128, BYTES = PLANES * P::BYTES + (TAPS - 8) * GRADIENT;
};

// N numbers of an array.
template <int N, int ALL> __device__ __forceinline__ float (&part(float (&of)[ALL], int first))[N] {
    return *(float (*)[N])(of + first);
}

// The part of a warp group that multiplies: three taps, or OWN = 4 with that of the 1×1 convolution.
template <class P, int CHUNKS, int STAGES, bool STRIDED, int OWN>
__device__ __forceinline__ void weigh_taps(Weights to, float *partial, int count, char *memory, u32 base) {
    constexpr int WIDTH = P::WIDTH, LINES = P::LINES, IMAGES = P::IMAGES;
    using S = Stages<P, STRIDED>;
    constexpr u32 X_GROUPS = P::GROUPS, G_GROUPS = P::NARROW ? 1024 : IMAGES * WIDTH * 128;
    int tiles = count / IMAGES * (WIDTH / LINES), splits = gridDim.x;
    u32 full = base + STAGES * S::BYTES, empty = full + 8 * STAGES;
    int me = threadIdx.x, mine = me / 128, lane = me % 32, in_group = me % 128;
    // 32 for each tap. Taps that lie at one distance are one product: all three of a line, or where they are in two
    // planes, the first and the last, before the one between them.
    float d[OWN * 32];
#pragma unroll
    for (int k = 0; k < OWN * 32; ++k) d[k] = 0.0f;
    int s = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += splits, ++s) {
        u32 slot = s % STAGES, x = base + slot * S::BYTES, g = x + S::PLANES * P::BYTES;
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
            u64 left = factor(g + gs, G_GROUPS, 16);
            auto right = [&](int kx, u32 apart) {
                u32 tap = STRIDED ? plane_tap<P>(mine, kx) : P::tap(mine, kx);
                return factor(x + xs + tap, X_GROUPS, apart);
            };
            constexpr u32 NEXT = P::NARROW ? IMAGES * 128 : 128; // The next pixel of a line.
            if (STRIDED) {
                product<1, 1>(part<64>(d, 0), left, right(0, NEXT), 1);
                product<1, 1>(part<32>(d, 64), left, right(1, 16), 1);
            } else product<1, 1>(part<96>(d, 0), left, right(0, NEXT), 1);
            if (OWN > 3) {
                u64 beside = factor(g + S::GRADIENT + gs, G_GROUPS, 16);
                product<1, 1>(part<32>(d, OWN * 32 - 32), beside, factor(x + xs + plane_tap<P>(1, 1), X_GROUPS, 16), 1);
            }
        }
        product_commit();
        product_wait<1>();
        // All products but those of this part are done.
        if (lane == 0 && s > 0) barrier_arrive(empty + 8 * ((s + STAGES - 1) % STAGES));
    }
    product_wait<0>();
    allow_next_kernel();
    meet_at<384>(1);
    // Of each pair of registers the one block of two keeps the first eight of a tap, the other the rest, and
    // gives away what it does not keep.
    u32 rank = blockIdx.x % 2;
    float4 *given = (float4 *)(memory + (base - shared_at(memory)));
    auto place = [&](int t, int k) {
        int kx = STRIDED && t > 0 ? 3 - t : t;
        return ((t < 3 ? mine * 3 + kx : 9) * 4 + k) * 128 + in_group;
    };
#pragma unroll
    for (int t = 0; t < OWN; ++t) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float *low = d + 32 * t + 4 * k, *high = low + 16;
            given[place(t, k)] =
                rank ? float4{low[0], low[1], low[2], low[3]} : float4{high[0], high[1], high[2], high[3]};
        }
    }
    meet_cluster();
    wait_for_previous_kernel();
    int pairs = splits / 2, side = blockIdx.y * 2 + rank;
#pragma unroll
    for (int t = 0; t < OWN; ++t) {
        float4 taken[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) taken[k] = read_block(base + place(t, k) * 16, rank ^ 1);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float *low = d + 32 * t + 4 * k, *high = low + 16;
            float4 &sum = taken[k];
            sum.x += rank ? high[0] : low[0];
            sum.y += rank ? high[1] : low[1];
            sum.z += rank ? high[2] : low[2];
            sum.w += rank ? high[3] : low[3];
            if (pairs == 1) continue;
            ((float4 *)partial)[((size_t)side * pairs + blockIdx.x / 2) * KEPT_FOURS<S::TAPS> + place(t, k)] = sum;
        }
        if (pairs == 1) store_weights<CHUNKS>(to, taken, side, place(t, 0));
    }
    // Nobody leaves while another reads.
    meet_cluster();
}

// `other`: the gradients of the 1×1 convolution's result, where there is one.
template <class P, int CHUNKS, int STAGES, bool STRIDED>
__device__ __forceinline__ void weigh(const TensorMap *images, const TensorMap *gradients, const TensorMap *other,
                                      Weights to, float *partial, int count, char *memory) {
    constexpr int WIDTH = P::WIDTH, LINES = P::LINES, IMAGES = P::IMAGES;
    using S = Stages<P, STRIDED>;
    int tiles = count / IMAGES * (WIDTH / LINES), splits = gridDim.x;
    int outputs = blockIdx.y / CHUNKS * 64, inputs = blockIdx.y % CHUNKS * 64;
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    u32 bars = base + STAGES * S::BYTES, full = bars, empty = bars + 8 * STAGES;
    int thread = threadIdx.x;
    if (thread == 0) {
        barriers_init(full, empty, STAGES, 12);
        barriers_ready();
    }
    __syncthreads();
    if (thread >= 384) {
        if (STRIDED) release_registers<24>();
        if (thread == 384) {
            wait_for_previous_kernel();
            int s = 0;
            for (int tile = blockIdx.x; tile < tiles; tile += splits, ++s) {
                int image = tile / (WIDTH / LINES) * IMAGES, line = tile % (WIDTH / LINES) * LINES;
                u32 slot = s % STAGES, at = base + slot * S::BYTES, bar = full + 8 * slot;
                barrier_wait(empty + 8 * slot, (s / STAGES & 1) ^ 1);
                barrier_expect(bar, S::PLANES * P::LOADED + (S::TAPS - 8) * S::GRADIENT);
                if (STRIDED)
                    for (int p = 0; p < 4; ++p) load_plane<P>(at + p * P::BYTES, images, p, inputs, image, line, bar);
                else P::load(at, images, inputs, image, line - 1, -1, bar);
                P::load(at + S::PLANES * P::BYTES, gradients, outputs, image, line, 0, bar);
                if (STRIDED) P::load(at + 4 * P::BYTES + S::GRADIENT, other, outputs, image, line, 0, bar);
            }
        }
        __syncwarp();
        meet_cluster();
        meet_cluster();
    } else {
        if (STRIDED) take_registers<160>();
        if (STRIDED && thread / 128 == 1) weigh_taps<P, CHUNKS, STAGES, STRIDED, 4>(to, partial, count, memory, base);
        else weigh_taps<P, CHUNKS, STAGES, STRIDED, 3>(to, partial, count, memory, base);
    }
}

// Adds the sums of all pairs: of each group of four, up to eight threads add a part each, and one of them those.
template <int CHUNKS, int TAPS>
__device__ __forceinline__ void sum_partial_weights(const float *partial, int pairs, Weights to) {
    __shared__ float4 parts[256];
    int threads = min(pairs, 8), groups = 256 / threads, group = threadIdx.x % groups, part = threadIdx.x / groups;
    int place = blockIdx.x * groups + group, side = place / KEPT_FOURS<TAPS>, at = place % KEPT_FOURS<TAPS>;
    wait_for_previous_kernel();
    const float4 *from = (const float4 *)partial + (size_t)side * pairs * KEPT_FOURS<TAPS> + at;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    int each = pairs / threads;
#pragma unroll 8
    for (int n = part * each; n < (part + 1) * each; ++n) {
        float4 more = __ldcg(from + (size_t)n * KEPT_FOURS<TAPS>);
        sum.x += more.x; sum.y += more.y; sum.z += more.z; sum.w += more.w;
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (part > 0) return;
    for (int p = 1; p < threads; ++p) {
        float4 more = parts[p * groups + group];
        sum.x += more.x; sum.y += more.y; sum.z += more.z; sum.w += more.w;
    }
    store_weights<CHUNKS>(to, sum, side, at);
}

#define WEIGHTS(name, chunks, stages, strided, ...)                                                       \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) __maxnreg__(128)                  \
    name##_weights(const __grid_constant__ TensorMap images, const __grid_constant__ TensorMap gradients, \
                   const __grid_constant__ TensorMap other, Weights to, float *partial, int count) {      \
        extern __shared__ __align__(1024) char memory[];                                                  \
        weigh<Pixels<__VA_ARGS__>, chunks, stages, strided>(&images, &gradients, &other, to, partial,     \
                                                            count, memory);                               \
    }                                                                                                     \
    extern "C" __global__ void __launch_bounds__(256)                                                     \
    name##_sum_weights(const float *partial, int pairs, Weights to) {                                     \
        sum_partial_weights<chunks, strided ? 10 : 9>(partial, pairs, to);                                \
    }
