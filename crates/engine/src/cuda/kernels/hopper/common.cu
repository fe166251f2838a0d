// What the convolutions for GPUs of compute capability 9.0 share. They are matrix products of pixels × (taps ·
// input channels) × output channels whose left side is never written down: a block loads its images with a
// border of one pixel (the copy engine fills zeros in beyond the edge), and taps are starting points in what
// was loaded.
//
// A warp group's product has 64 rows in groups of eight, which lie in shared memory one after another
// at a fixed distance. A group is eight pixels of a line, or, for images that are narrower, the same
// pixel of eight images.
//
// One warp loads, two warp groups multiply. What follows a convolution is done while the result is at
// hand: the sums for the statistics of the batch norm behind it, or on the way back the ReLU's mask and
// the sums of the gradients of the norm in front of it.

// What is done by instructions of the GPU. Tests on the CPU have these of their own.
#ifdef __CUDA_ARCH__
struct __align__(64) TensorMap { u64 words[16]; };

__device__ __forceinline__ u32 shared_at(const void *p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void barrier_init(u32 at, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
__device__ __forceinline__ void barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
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
// The same to both blocks of a pair, at the same place of their shared memory, and to the barriers there.
__device__ __forceinline__ void load_box_for_both(u32 to, const TensorMap *map, int a, int b, int c, int d, u32 barrier) {
    u16 both = 3;
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3, %4, %5}], [%6], %7;"
                 ::"r"(to), "l"(map), "r"(a), "r"(b), "r"(c), "r"(d), "r"(barrier), "h"(both) : "memory");
}
// Arrives at a barrier of a block of the cluster.
__device__ __forceinline__ void barrier_arrive_in(u32 at, u32 rank) {
    asm volatile("{ .reg .b32 p; mapa.shared::cluster.u32 p, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [p]; }"
                 ::"r"(at), "r"(rank) : "memory");
}
__device__ __forceinline__ void product_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void product_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

#define F4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(d, i) F4(d, i), F4(d, i + 4), F4(d, i + 8), F4(d, i + 12)
#define R32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
            "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define R64 R32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
            "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define R96 R64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79," \
            "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"

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

template <int TA, int TB>
__device__ __forceinline__ void product(float (&d)[96], u64 a, u64 b, int add) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %98, 0;"
                 "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" R96 "}, %96, %97, p, 1, 1, %99, %100; }"
                 : F16(d, 0), F16(d, 16), F16(d, 32), F16(d, 48), F16(d, 64), F16(d, 80)
                 : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}

// d += A·B over 16 pixels, of three taps of eight channels, both long sides contiguous.
__device__ __forceinline__ void product(float (&d)[12], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}, "
                 "%12, %13, 1, 1, 1, 1, 1;"
                 : F4(d, 0), F4(d, 4), F4(d, 8) : "l"(a), "l"(b));
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
__device__ __forceinline__ void store_transposed(u32 at, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
// Before a product or a copy reads what threads have written to shared memory.
__device__ __forceinline__ void publish_writes() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// How many registers a thread of the warp group has from here on: fewer than before, or more.
template <int N> __device__ __forceinline__ void release_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N> __device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

// So many threads of a block meet at one of its barriers, of which some may only come by; number 0 is that of
// `__syncthreads`.
template <int THREADS> __device__ __forceinline__ void meet_at(int barrier) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}
template <int THREADS> __device__ __forceinline__ void come_by(int barrier) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}
// All threads of a cluster of blocks meet.
__device__ __forceinline__ void meet_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// What is at this place of the shared memory of another block of the cluster.
__device__ __forceinline__ float4 read_block(u32 at, u32 rank) {
    float4 got;
    asm volatile("{ .reg .b32 p; mapa.shared::cluster.u32 p, %4, %5;"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [p]; }"
                 : "=f"(got.x), "=f"(got.y), "=f"(got.z), "=f"(got.w) : "r"(at), "r"(rank));
    return got;
}
#endif

// Pairs of barriers, where a loader says that something is full, and as many warps say that it is empty.
__device__ __forceinline__ void barriers_init(u32 full, u32 empty, int pairs, int warps) {
    for (int n = 0; n < pairs; ++n) { barrier_init(full + 8 * n, 1); barrier_init(empty + 8 * n, warps); }
}

// Where a factor lies: its start, the distance of groups of eight, the distance of blocks of 64 where
// the long side is the contiguous one; 128-byte swizzle.
__device__ __forceinline__ u64 factor(u32 at, u32 groups, u32 blocks) {
    return (u64)((at & 0x3ffff) >> 4) | (u64)(blocks >> 4) << 16 | (u64)(groups >> 4) << 32 | 1ull << 62;
}

// The pixels of a block: `LINES` lines of `IMAGES` images of `WIDTH` × `WIDTH`, loaded with `BORDER` more of both.
template <int W, int L, int I, int BORDER = 2> struct Pixels {
    static constexpr int WIDTH = W, LINES = L, IMAGES = I;
    static constexpr bool NARROW = WIDTH < 8;
    static constexpr int WIDE = WIDTH + BORDER, HIGH = LINES + BORDER;
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
                                                int line, int column, u32 barrier) {
        if (NARROW) load_box(to, map, channel, image, column, line, barrier);
        else load_box(to, map, channel, column, image, line, barrier);
    }
};

// The same for products whose columns are pixels: eight pixels wide, or as wide as the images, with a border of one. A
// group of eight columns is eight pixels of a line, lines of all images one after another; or, for narrow images, the
// same pixel of eight images.
template <int W, int L, int I> struct Strip {
    static constexpr int WIDTH = W, LINES = L, IMAGES = I;
    static constexpr bool NARROW = W < 8;
    static constexpr int COLUMNS = NARROW ? W : 8, WIDE = COLUMNS + 2;
    static constexpr int ROWS = COLUMNS * L * I;
    static constexpr u32 LOADED = WIDE * (L + 2) * I * 128;
    static constexpr u32 BYTES = (LOADED + 1023) / 1024 * 1024;
    static constexpr u32 GROUPS = NARROW ? 1024 : WIDE * 128;
    // Of how many there are in a batch, the first image, line and column of one.
    int image, line, column;
    static __device__ __forceinline__ int all(int count) { return (count + I - 1) / I * (W / L) * (W / COLUMNS); }
    __device__ __forceinline__ explicit Strip(int number)
        : image(number / (W / COLUMNS) / (W / L) * I), line(number / (W / COLUMNS) % (W / L) * L),
          column(number % (W / COLUMNS) * COLUMNS) {}
    __device__ __forceinline__ int first() const { return (image * W + line) * W + column; }
    __device__ __forceinline__ void load(u32 to, const TensorMap *map, int channel, u32 barrier) const {
        if (NARROW) load_box(to, map, channel, image, column - 1, line - 1, barrier);
        else load_box(to, map, channel, column - 1, image, line - 1, barrier);
    }
    // Where the pixels from `row` on begin in what was loaded, seen through the first tap.
    static __device__ __forceinline__ u32 start(int row) {
        return NARROW ? row / (W * I) * WIDE * I * 128 : row / 8 * GROUPS;
    }
    static __device__ __forceinline__ u32 tap(int ky, int kx) {
        return NARROW ? (ky * WIDE + kx) * I * 128 : (ky * I * WIDE + kx) * 128;
    }
    // The pixel of a row, counted from the first.
    static __device__ __forceinline__ int pixel(int row) {
        if (NARROW) return (row % I * W + row / (W * I)) * W + row / I % W;
        return (row / 8 % I * W + row / 8 / I) * W + row % 8;
    }
};

// Every second line and column of a batch's images, by where they begin: lines 1 or 0, columns 1 or 0, in this order
// the planes 0 to 3. What a tap of a convolution that steps over every second pixel reads of a block's pixels is a
// stretch of one of them. They are loaded with a border above and to the left.
template <class P>
__device__ __forceinline__ void load_plane(u32 to, const TensorMap *map, int plane, int channel, int image, int line,
                                           u32 barrier) {
    P::load(to, map, channel, image, 2 * (line - 1) + (plane < 2), plane % 2 ? -2 : -1, barrier);
}
template <class P> __device__ __forceinline__ u32 plane_tap(int ky, int kx) {
    int plane = (ky == 1 ? 2 : 0) + (kx == 1 ? 1 : 0);
    return plane * P::BYTES + P::tap(ky > 0, kx > 0);
}

// What is done with the result: forward, the statistics of the norm behind it, if that is asked for; back,
// the gradients of the norm in front of it, behind whose ReLU they pass where a·x + b is positive, or its mask says so.
// With fixed statistics, where nothing goes back, the norm behind it instead of what it would read.
#define FORWARD 0
#define BACK_OWN 1
#define BACK_OUT 2
#define EVALUATE 3

struct After {
    act *out;
    // The norm's input, or what it adds; and a bit for each number of its output: whether it is positive.
    const act *x;
    const u8 *mask;
    float *vectors;
    const float *scale, *shift;
    float *statistics, *dscale, *dshift, *partial;
    u32 *arrived;
    float epsilon, momentum;
    // Whether something is added; whether statistics are the batch's own, or the norm has a ReLU behind it.
    int add, own;
};

// Consumers alone meet, or those of one warp group.
__device__ __forceinline__ void meet() { meet_at<256>(1); }
__device__ __forceinline__ void meet_group(int group) { meet_at<128>(2 + group); }
// Two groups take turns: one waits until the other one says that it may go on.
__device__ __forceinline__ void wait_for_turn(int group) { meet_at<256>(4 + group); }
__device__ __forceinline__ void pass_turn(int group) { come_by<256>(4 + group); }

// The last block's part of the sums: as all_sums in norm.cu, for 256 threads and 64 channels.
__device__ __forceinline__ bool sums_of_blocks(const float *sum, const float *other, float *shared, float *partial,
                                               u32 *arrived, int *last, int me) {
    constexpr int G = 8, L = 256 / G, COLUMNS = 128;
    int group = me % G, line = me / G;
    float4 *own = (float4 *)(shared + line * COLUMNS + group * 8);
    own[0] = {sum[0], sum[1], sum[2], sum[3]};
    own[1] = {sum[4], sum[5], sum[6], sum[7]};
    own[16] = {other[0], other[1], other[2], other[3]};
    own[17] = {other[4], other[5], other[6], other[7]};
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

// The result of 64 rows, of which this thread has some, to shared memory.
template <int ROWS, int N>
__device__ __forceinline__ void put(u32 to, int row, int lane, const float (&d)[N]) {
#pragma unroll
    for (int j = 0; j < N / 4; j += 2) {
        u32 piece = (j + lane / 16) % 8, half = j / 8;
        u32 at = to + half * (ROWS * 128) + row * 128 + ((piece ^ (row & 7)) << 4);
        store_matrices(at, pack2(d[4 * j], d[4 * j + 1]), pack2(d[4 * j + 2], d[4 * j + 3]),
                       pack2(d[4 * j + 4], d[4 * j + 5]), pack2(d[4 * j + 6], d[4 * j + 7]));
    }
}

// What follows with eight neighbouring numbers of a result. Forward, sums of what is off `near`; back, gradients
// pass or not, and sums of them. `x`: the norm's input; `mask`: where its output is positive; `old`: what the result
// is added to.
template <int WAY>
__device__ __forceinline__ void follow(uint4 &got, const uint4 &x, u32 mask, const uint4 &old, bool add,
                                       const float *near, const float *scale, const float *shift, float *sum,
                                       float *other) {
    auto low = [](u32 word) { return __uint_as_float(word << 16); };
    auto high = [](u32 word) { return __uint_as_float(word & 0xffff0000u); };
#pragma unroll
    for (int h = 0; h < 4; ++h) {
        u32 &word = (&got.x)[h];
        u32 xs = (&x.x)[h], olds = (&old.x)[h];
        float v[2] = {low(word), high(word)};
        if (WAY == BACK_OUT && add) {
            word = pack2(v[0] + low(olds), v[1] + high(olds));
            v[0] = low(word);
            v[1] = high(word);
        }
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            int k = 2 * h + e;
            if (WAY == FORWARD) {
                float off = v[e] - near[k];
                sum[k] += off;
                other[k] = fmaf(off, off, other[k]);
            } else {
                float in = e ? high(xs) : low(xs);
                bool passes = WAY == BACK_OWN ? fmaf(scale[k], in, shift[k]) > 0.0f : mask >> k & 1;
                if (!passes) { v[e] = 0.0f; word &= e ? 0xffffu : 0xffff0000u; }
                sum[k] += v[e];
                other[k] = fmaf(v[e], in - near[k], other[k]);
            }
        }
    }
}

// The norm behind a convolution for eight neighbouring numbers of its result: as norm_apply.
__device__ __forceinline__ void apply_norm(uint4 &got, const uint4 &more, bool add, bool relu, const float *scale,
                                           const float *shift) {
    auto low = [](u32 word) { return __uint_as_float(word << 16); };
    auto high = [](u32 word) { return __uint_as_float(word & 0xffff0000u); };
#pragma unroll
    for (int h = 0; h < 4; ++h) {
        u32 &word = (&got.x)[h];
        float z[2] = {fmaf(scale[2 * h], low(word), shift[2 * h]), fmaf(scale[2 * h + 1], high(word), shift[2 * h + 1])};
        if (add) { z[0] += low((&more.x)[h]); z[1] += high((&more.x)[h]); }
#pragma unroll
        for (int e = 0; e < 2; ++e)
            if (relu && z[e] <= 0.0f) z[e] = 0.0f;
        word = pack2(z[0], z[1]);
    }
}

// The sums of all blocks, and what the last one makes of them. `which`: results of one kernel have sums of their own.
template <int WAY>
__device__ __forceinline__ void finish(const float *sum, const float *other, float *shared, const After &after,
                                       int depth, int rows, int which, int *last, int me) {
    float *partial = after.partial + (size_t)which * gridDim.x * gridDim.y * 128;
    if (!sums_of_blocks(sum, other, shared, partial, after.arrived + which * gridDim.y, last, me)) return;
    if (me >= 64) return;
    int c = blockIdx.y * 64 + me;
    float one = shared[me], two = shared[64 + me];
    if (WAY == FORWARD) {
        finish_statistics(one, two, rows, c, depth, after.epsilon, after.momentum, after.scale[c], after.shift[c],
                          after.statistics[c], after.statistics[depth + c], after.statistics, after.vectors);
    } else {
        finish_gradients(one, two, rows, c, depth, after.own, after.vectors[c], after.vectors[depth + c],
                         after.vectors[2 * depth + c], after.vectors, after.dscale, after.dshift);
    }
}
