// 3×3 convolutions of stride 1 for GPUs of compute capability 9.0: forward, and back to the input. They
// are matrix products of pixels × (taps · input channels) × output channels whose left side is never
// written down: a block loads its images with a border of one pixel (the copy engine fills zeros in
// beyond the edge), and the nine taps are nine starting points in what was loaded.
//
// A warp group's product has 64 rows in groups of eight, which lie in shared memory one after another
// at a fixed distance. A group is eight pixels of a line, or, for images that are narrower, the same
// pixel of eight images.
//
// One warp loads, two warp groups multiply. What follows a convolution is done while the result is at
// hand: the sums for the statistics of the batch norm behind it, or on the way back the ReLU's mask and
// the sums of the gradients of the norm in front of it.

struct __align__(64) TensorMap { u64 words[16]; };

__device__ __forceinline__ u32 shared_at(const void *p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void barrier_init(u32 at, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
__device__ __forceinline__ void barrier_expect(u32 at, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(u32 at) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}
__device__ __forceinline__ void barrier_wait(u32 at, u32 parity) {
    u32 done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at), "r"(parity) : "memory");
    } while (!done);
}
__device__ __forceinline__ void load_box(u32 to, const TensorMap *map, int a, int b, int c, int d, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4, %5}], [%6];"
                 ::"r"(to), "l"(map), "r"(a), "r"(b), "r"(c), "r"(d), "r"(barrier) : "memory");
}
__device__ __forceinline__ void product_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void product_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Where a factor lies: its start, the distance of groups of eight, the distance of blocks of 64 where
// the long side is the contiguous one; 128-byte swizzle.
__device__ __forceinline__ u64 factor(u32 at, u32 groups, u32 blocks) {
    return (u64)((at & 0x3ffff) >> 4) | (u64)(blocks >> 4) << 16 | (u64)(groups >> 4) << 32 | 1ull << 62;
}

#define F4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(d, i) F4(d, i), F4(d, i + 4), F4(d, i + 8), F4(d, i + 12)
#define R32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
            "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define R64 R32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
            "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"

// d (+)= A·B over 16 channels. `TA`, `TB`: the factor's long side is contiguous.
template <int TA, int TB>
__device__ __forceinline__ void product(float (&d)[32], u64 a, u64 b, int add) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" R32 "}, %32, %33, p, 1, 1, %35, %36; }"
                 : F16(d, 0), F16(d, 16) : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}
template <int TA, int TB>
__device__ __forceinline__ void product(float (&d)[64], u64 a, u64 b, int add) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0;"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" R64 "}, %64, %65, p, 1, 1, %67, %68; }"
                 : F16(d, 0), F16(d, 16), F16(d, 32), F16(d, 48)
                 : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}

__device__ __forceinline__ u32 pack2(float low, float high) {
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
__device__ __forceinline__ void store_matrices(u32 at, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// The pixels of a block: `LINES` lines of `IMAGES` images of `WIDTH` × `WIDTH`.
template <int WIDTH, int LINES, int IMAGES> struct Pixels {
    static constexpr bool NARROW = WIDTH < 8;
    static constexpr int WIDE = WIDTH + 2, HIGH = LINES + 2;
    static constexpr int ROWS = WIDTH * LINES * IMAGES, BLOCKS = ROWS / 64;
    static constexpr u32 LOADED = WIDE * HIGH * IMAGES * 128;
    static constexpr u32 BYTES = (LOADED + 1023) / 1024 * 1024;
    // Between groups of eight rows of a product.
    static constexpr u32 GROUPS = NARROW ? 1024 : IMAGES * WIDE * 128;
    static constexpr int STRIPS = NARROW ? 1 : WIDTH / 8;
    // Where the rows of a product begin in what was loaded, seen through the first tap.
    static __device__ __forceinline__ u32 start(int block) {
        if (NARROW) return block * WIDE * IMAGES * 128;
        int strip = block % STRIPS, image = block / STRIPS % IMAGES, part = block / STRIPS / IMAGES;
        return ((part * 8 * IMAGES + image) * WIDE + strip * 8) * 128;
    }
    static __device__ __forceinline__ u32 tap(int ky, int kx) {
        return NARROW ? (ky * WIDE + kx) * IMAGES * 128 : (ky * IMAGES * WIDE + kx) * 128;
    }
    // The pixel of a row, counted from the first of the block's first image.
    static __device__ __forceinline__ int pixel(int row) {
        int block = row / 64, r = row % 64;
        if (NARROW) return (r % IMAGES * WIDTH + block) * WIDTH + r / IMAGES;
        int strip = block % STRIPS, image = block / STRIPS % IMAGES, part = block / STRIPS / IMAGES;
        return (image * WIDTH + part * 8 + r / 8) * WIDTH + strip * 8 + r % 8;
    }
    static __device__ __forceinline__ void load(u32 to, const TensorMap *map, int channel, int image,
                                                int line, u32 barrier) {
        if (NARROW) load_box(to, map, channel, image, -1, line - 1, barrier);
        else load_box(to, map, channel, -1, image, line - 1, barrier);
    }
};

// What is done with the result: forward, the statistics of the norm behind it, if that is asked for; back,
// the gradients of the norm in front of it, behind whose ReLU they pass where a·x + b is positive, or y.
#define FORWARD 0
#define BACK_OWN 1
#define BACK_OUT 2

struct After {
    act *out;
    // The norm's input, and its output with what is added.
    const act *x, *y;
    float *vectors;
    const float *scale, *shift;
    float *statistics, *dscale, *dshift, *partial;
    u32 *arrived;
    float epsilon, momentum;
    int add, own;
};

// Consumers alone meet.
__device__ __forceinline__ void meet() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

// The last block's part of the sums: as all_sums in norm.cu, for 256 threads.
template <int BN>
__device__ __forceinline__ bool sums_of_blocks(const float *sum, const float *other, float *shared, float *partial,
                                               u32 *arrived, int *last, int me) {
    constexpr int G = BN / 8, L = 256 / G, COLUMNS = 2 * BN;
    int group = me % G, line = me / G;
    float4 *own = (float4 *)(shared + line * COLUMNS + group * 8);
    own[0] = {sum[0], sum[1], sum[2], sum[3]};
    own[1] = {sum[4], sum[5], sum[6], sum[7]};
    own[BN / 4] = {other[0], other[1], other[2], other[3]};
    own[BN / 4 + 1] = {other[4], other[5], other[6], other[7]};
    meet();
    float *places = partial + (size_t)blockIdx.y * gridDim.x * COLUMNS;
    if (me < COLUMNS) {
        float add = 0.0f;
#pragma unroll
        for (int l = 0; l < L; ++l) add += shared[l * COLUMNS + me];
        places[(size_t)blockIdx.x * COLUMNS + me] = add;
    }
    __threadfence();
    meet();
    if (me == 0) *last = atomicAdd(arrived + blockIdx.y, 1u) == gridDim.x - 1;
    meet();
    if (!*last) return false;
    __threadfence();
    constexpr int FOURS = COLUMNS / 4, PARTS = 256 / FOURS;
    int column = me % FOURS, part = me / FOURS;
    float4 sums = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 8
    for (int block = part; block < gridDim.x; block += PARTS) {
        float4 more = __ldcg((const float4 *)places + (size_t)block * FOURS + column);
        sums.x += more.x; sums.y += more.y; sums.z += more.z; sums.w += more.w;
    }
    ((float4 *)shared)[me] = sums;
    meet();
    float add = 0.0f;
    if (me < COLUMNS)
        for (int p = 0; p < PARTS; ++p) add += shared[p * COLUMNS + me];
    meet();
    if (me < COLUMNS) shared[me] = add;
    if (me == 0) arrived[blockIdx.y] = 0;
    meet();
    return true;
}

// P: the pixels of a block. BN: its output channels. CHUNKS: input channels, in 64s. WAY: see above; back from
// the output's gradient to the input's, taps are mirrored and weights transposed. A, B: how many chunks of
// images and taps of weights have room. APART: the result has room of its own, else it takes that of the images.
template <class P, int BN, int CHUNKS, int A, int B, bool APART, int WAY>
__device__ __forceinline__ void convolve(const TensorMap *images, const TensorMap *weights, const After &after,
                                         int count, char *memory) {
    constexpr bool KEPT = CHUNKS == 1; // All weights have room, and stay.
    constexpr bool BACK = WAY != FORWARD;
    constexpr int WIDTH = P::WIDE - 2, LINES = P::HIGH - 2, IMAGES = P::ROWS / WIDTH / LINES;
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
        for (int n = 0; n < A; ++n) { barrier_init(full_a + 8 * n, 1); barrier_init(empty_a + 8 * n, 8); }
        for (int n = 0; n < B; ++n) { barrier_init(full_b + 8 * n, 1); barrier_init(empty_b + 8 * n, 8); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
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
                    P::load(at_a + slot * P::BYTES, images, c * 64, image, line, full_a + 8 * slot);
                    for (int tap = 1; tap < 9; ++tap) weight(tap);
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
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
            uint4 in[EACH], z[EACH], old[EACH];
#pragma unroll
            for (int n = 0; n < EACH; ++n) {
                if (BACK) in[n] = *(const uint4 *)(after.x + place(n));
                if (WAY == BACK_OUT) z[n] = *(const uint4 *)(after.y + place(n));
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
#pragma unroll
                for (int j = 0; j < BN / 8; j += 2) {
                    u32 piece = (j + lane / 16) % 8, half = j / 8;
                    u32 to = at_out + half * (P::ROWS * 128) + row * 128 + ((piece ^ (row & 7)) << 4);
                    store_matrices(to, pack2(d[m][4 * j], d[m][4 * j + 1]), pack2(d[m][4 * j + 2], d[m][4 * j + 3]),
                                   pack2(d[m][4 * j + 4], d[m][4 * j + 5]), pack2(d[m][4 * j + 6], d[m][4 * j + 7]));
                }
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
#pragma unroll
                for (int h = 0; h < 4; ++h) {
                    u32 &word = (&got.x)[h];
                    float v[2] = {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u)};
                    u32 win = (&in[n].x)[h], wz = (&z[n].x)[h], wold = (&old[n].x)[h];
                    if (WAY == BACK_OUT && after.add) {
                        word = pack2(v[0] + __uint_as_float(wold << 16), v[1] + __uint_as_float(wold & 0xffff0000u));
                        v[0] = __uint_as_float(word << 16);
                        v[1] = __uint_as_float(word & 0xffff0000u);
                    }
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        int k = 2 * h + e;
                        u32 half = e ? 0xffff0000u : 0xffffu;
                        if (!BACK) {
                            float off = v[e] - near[k];
                            sum[k] += off;
                            other[k] = fmaf(off, off, other[k]);
                        }
                        if (BACK) {
                            float x = __uint_as_float(e ? win & half : win << 16);
                            bool passes = WAY == BACK_OWN ? fmaf(scale[k], x, shift[k]) > 0.0f
                                                                 : __uint_as_float(e ? wz & half : wz << 16) > 0.0f;
                            if (!passes) { v[e] = 0.0f; word &= ~half; }
                            sum[k] += v[e];
                            other[k] = fmaf(v[e], x - near[k], other[k]);
                        }
                    }
                }
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
        float *shared = (float *)out;
        meet();
        if (!sums_of_blocks<BN>(sum, other, shared, after.partial, after.arrived, &last, me)) return;
        if (me >= BN) return;
        int c = blockIdx.y * BN + me, rows = count * WIDTH * WIDTH;
        float one = shared[me], two = shared[BN + me];
        if (!BACK) {
            finish_statistics(one, two, rows, c, DEPTH, after.epsilon, after.momentum, after.scale[c], after.shift[c],
                              after.statistics[c], after.statistics[DEPTH + c], after.statistics, after.vectors);
        } else {
            finish_gradients(one, two, rows, c, DEPTH, after.own, after.vectors[c], after.vectors[DEPTH + c],
                             after.vectors[2 * DEPTH + c], after.vectors, after.dscale, after.dshift);
        }
    }
}

#define CONVOLUTION(name, way, bn, chunks, a, b, apart, ...)                                              \
    extern "C" __global__ void __launch_bounds__(384, 1)                                                  \
    name(const __grid_constant__ TensorMap images, const __grid_constant__ TensorMap weights,             \
         const __grid_constant__ After after, int count) {                                                \
        extern __shared__ __align__(1024) char memory[];                                                  \
        convolve<Pixels<__VA_ARGS__>, bn, chunks, a, b, apart, way>(&images, &weights, after, count, memory); \
    }
#define WAYS(channels, ...)                                                                               \
    CONVOLUTION(conv_##channels##_forward, FORWARD, __VA_ARGS__)                                          \
    CONVOLUTION(conv_##channels##_back_own, BACK_OWN, __VA_ARGS__)                                        \
    CONVOLUTION(conv_##channels##_back_out, BACK_OUT, __VA_ARGS__)

// Groups of four sums that a block keeps.
#define KEPT_FOURS (9 * 64 * 64 / 4 / 2)

// The gradient of the weights: for each tap, output channels × pixels × input channels, both factors with
// channels contiguous. A block has 64 output channels, 64 input channels, all nine taps (three warp groups
// with three each) and a share of the pixels. Two blocks add their sums by reading each other's shared
// memory; where there are more, `sum_weights` adds those of the pairs.
template <int CHUNKS>
__device__ __forceinline__ void store_weights(act *dw, float4 sum, int side, int at) {
    int thread = at % 128, tap = at / 128 / 4, pair = at / 128 % 4, outputs = side / 2 / CHUNKS * 64;
    // Registers 0 and 1 are of one row, 2 and 3 of the eighth after it.
    int row = thread / 32 * 16 + thread % 32 / 4;
    int column = side / 2 % CHUNKS * 64 + side % 2 * 32 + pair * 8 + thread % 4 * 2;
    act *to = dw + ((size_t)(outputs + row) * 9 + tap) * (CHUNKS * 64) + column;
    *(u32 *)to = pack2(sum.x, sum.y);
    *(u32 *)(to + 8 * 9 * CHUNKS * 64) = pack2(sum.z, sum.w);
}

template <class P, int CHUNKS, int STAGES>
__device__ __forceinline__ void weigh(const TensorMap *images, const TensorMap *gradients, act *dw, float *partial,
                                      int count, char *memory) {
    constexpr int WIDTH = P::WIDE - 2, LINES = P::HIGH - 2, IMAGES = P::ROWS / WIDTH / LINES;
    constexpr u32 GRADIENT = P::ROWS * 128, STAGE = P::BYTES + GRADIENT;
    constexpr u32 X_GROUPS = P::GROUPS, G_GROUPS = P::NARROW ? 1024 : IMAGES * WIDTH * 128;
    int tiles = count / IMAGES * (WIDTH / LINES), splits = gridDim.x;
    int outputs = blockIdx.y / CHUNKS * 64, inputs = blockIdx.y % CHUNKS * 64;
    u32 base = (shared_at(memory) + 1023) / 1024 * 1024;
    u32 bars = base + STAGES * STAGE, full = bars, empty = bars + 8 * STAGES;
    int thread = threadIdx.x, group = thread / 128;
    if (thread == 0) {
        for (int n = 0; n < STAGES; ++n) { barrier_init(full + 8 * n, 1); barrier_init(empty + 8 * n, 12); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (thread == 0) {
            wait_for_previous_kernel();
            int s = 0;
            for (int tile = blockIdx.x; tile < tiles; tile += splits, ++s) {
                int image = tile / (WIDTH / LINES) * IMAGES, line = tile % (WIDTH / LINES) * LINES;
                u32 slot = s % STAGES, at = base + slot * STAGE, bar = full + 8 * slot;
                barrier_wait(empty + 8 * slot, (s / STAGES & 1) ^ 1);
                barrier_expect(bar, P::LOADED + GRADIENT);
                P::load(at, images, inputs, image, line, bar);
                if (P::NARROW) load_box(at + P::BYTES, gradients, outputs, image, 0, line, bar);
                else load_box(at + P::BYTES, gradients, outputs, 0, image, line, bar);
            }
        }
        __syncwarp();
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 152;");
        int me = thread - 128, mine = group - 1, lane = me % 32, in_group = me % 128;
        float d[3][32];
#pragma unroll
        for (int t = 0; t < 3; ++t)
#pragma unroll
            for (int k = 0; k < 32; ++k) d[t][k] = 0.0f;
        int s = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += splits, ++s) {
            u32 slot = s % STAGES, x = base + slot * STAGE + P::tap(mine, 0), g = base + slot * STAGE + P::BYTES;
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
#pragma unroll
                for (int t = 0; t < 3; ++t) {
                    u32 tap = P::NARROW ? t * IMAGES * 128 : t * 128;
                    product<1, 1>(d[t], left, factor(x + xs + tap, X_GROUPS, 16), 1);
                }
            }
            product_commit();
            product_wait<1>();
            // All products but those of this part are done.
            if (lane == 0 && s > 0) barrier_arrive(empty + 8 * ((s + STAGES - 1) % STAGES));
        }
        product_wait<0>();
        allow_next_kernel();
        asm volatile("bar.sync 1, 384;" ::: "memory");
        // Of each pair of registers the one block of two keeps the first eight of a tap, the other the rest, and
        // gives away what it does not keep.
        u32 rank = blockIdx.x % 2;
        float4 *given = (float4 *)(memory + (base - shared_at(memory)));
#pragma unroll
        for (int t = 0; t < 3; ++t)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const float *low = d[t] + 4 * k, *high = d[t] + 16 + 4 * k;
                given[((mine * 3 + t) * 4 + k) * 128 + in_group] =
                    rank ? float4{low[0], low[1], low[2], low[3]} : float4{high[0], high[1], high[2], high[3]};
            }
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
        wait_for_previous_kernel();
        int pairs = splits / 2, side = blockIdx.y * 2 + rank;
#pragma unroll
        for (int t = 0; t < 3; ++t) {
            float4 taken[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                u32 from = base + (((mine * 3 + t) * 4 + k) * 128 + in_group) * 16;
                asm volatile("{ .reg .b32 p; mapa.shared::cluster.u32 p, %4, %5;"
                             "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [p]; }"
                             : "=f"(taken[k].x), "=f"(taken[k].y), "=f"(taken[k].z), "=f"(taken[k].w)
                             : "r"(from), "r"(rank ^ 1));
            }
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const float *low = d[t] + 4 * k, *high = d[t] + 16 + 4 * k;
                float4 &sum = taken[k];
                sum.x += rank ? high[0] : low[0];
                sum.y += rank ? high[1] : low[1];
                sum.z += rank ? high[2] : low[2];
                sum.w += rank ? high[3] : low[3];
                int at = ((mine * 3 + t) * 4 + k) * 128 + in_group;
                if (pairs == 1) store_weights<CHUNKS>(dw, sum, side, at);
                else ((float4 *)partial)[((size_t)side * pairs + blockIdx.x / 2) * KEPT_FOURS + at] = sum;
            }
        }
        // Nobody leaves while another reads.
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
}

// Adds the sums of all pairs: of each group of four, PARTS threads add a part each, and one of them those.
#define PARTS 8
template <int CHUNKS>
__device__ __forceinline__ void sum_partial_weights(const float *partial, int pairs, act *dw) {
    __shared__ float4 parts[256];
    int group = threadIdx.x % (256 / PARTS), part = threadIdx.x / (256 / PARTS);
    int place = blockIdx.x * (256 / PARTS) + group, side = place / KEPT_FOURS, at = place % KEPT_FOURS;
    wait_for_previous_kernel();
    const float4 *from = (const float4 *)partial + (size_t)side * pairs * KEPT_FOURS + at;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    int each = (pairs + PARTS - 1) / PARTS, last = min((part + 1) * each, pairs);
#pragma unroll 8
    for (int n = part * each; n < last; ++n) {
        float4 more = __ldcg(from + (size_t)n * KEPT_FOURS);
        sum.x += more.x; sum.y += more.y; sum.z += more.z; sum.w += more.w;
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (part > 0) return;
    for (int p = 1; p < PARTS; ++p) {
        float4 more = parts[p * (256 / PARTS) + group];
        sum.x += more.x; sum.y += more.y; sum.z += more.z; sum.w += more.w;
    }
    store_weights<CHUNKS>(dw, sum, side, at);
}

#define WEIGHTS(channels, chunks, stages, ...)                                                            \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(512, 1)                        \
    conv_##channels##_weights(const __grid_constant__ TensorMap images,                                   \
                              const __grid_constant__ TensorMap gradients, act *dw, float *partial,       \
                              int count) {                                                                \
        extern __shared__ __align__(1024) char memory[];                                                  \
        weigh<Pixels<__VA_ARGS__>, chunks, stages>(&images, &gradients, dw, partial, count, memory);      \
    }                                                                                                     \
    extern "C" __global__ void __launch_bounds__(256)                                                     \
    conv_##channels##_sum_weights(const float *partial, int pairs, act *dw) {                             \
        sum_partial_weights<chunks>(partial, pairs, dw);                                                  \
    }

// Each size is compiled by itself.
#if !defined(CHANNELS) || CHANNELS == 64
WAYS(64, 64, 1, 2, 9, true, 32, 8, 1)
WEIGHTS(64, 1, 4, 32, 4, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 128
WAYS(128, 64, 2, 2, 12, true, 16, 16, 1)
WEIGHTS(128, 2, 4, 16, 8, 1)
#endif
#if !defined(CHANNELS) || CHANNELS == 256
WAYS(256, 64, 4, 2, 14, false, 8, 8, 4)
WEIGHTS(256, 4, 4, 8, 8, 2)
#endif
#if !defined(CHANNELS) || CHANNELS == 512
WAYS(512, 64, 8, 2, 14, false, 4, 2, 16)
WEIGHTS(512, 8, 3, 4, 4, 8)
#endif
