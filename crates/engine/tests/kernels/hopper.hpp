// What the kernels for compute capability 9.0 do by instructions of the GPU, on the CPU: copies by the copy engine,
// barriers in shared memory, products by warp groups. Included behind emulate.hpp and before the kernels.
//
// Whatever may happen at several times happens at one that is unkind. Copies spoil their place when they are asked for
// and arrive some time later. Products read their factors as early or as late as they may, and their sums are NaNs
// until they are waited for; the four warps of a warp group multiply each by itself. What nobody has written to shared
// memory is NaNs, and so is for products what threads have written there and not published.

#pragma once
#include <cstdarg>
#include <deque>
#include <map>
#include <string>

#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(...)

struct alignas(16) uint4 { unsigned x, y, z, w; };

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Shared memory that is asked for at launch; addresses count from the beginning of a block's, and it begins as badly
// aligned as it may.
static const u32 SHARED_START = 1024 + 16, SHARED_MOST = 227 << 10;
extern "C" {
thread_local __attribute__((aligned(1024))) char memory[SHARED_MOST + 1024];
}

[[noreturn]] static void broken(const char *format, ...) {
    printf("block (%u, %u), thread %u: ", blockIdx.x, blockIdx.y, threadIdx.x);
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    fflush(stdout);
    _Exit(3);
}

// A tensor in global memory of which boxes are copied: as hopper.rs describes it to the driver.
struct TensorMap {
    const char *at;
    long long sizes[4], strides[4];
    int box[4], every[4];
    bool swizzled;
    // Of a dimension, a box has every so many of those that it covers.
    int read(int n) const { return (box[n] + every[n] - 1) / every[n]; }
    u32 bytes() const { return 2 * read(0) * read(1) * read(2) * read(3); }
};

// A barrier in shared memory.
struct Counted {
    u32 expected, missing;
    long long bytes = 0;
    u32 phase = 0;
    void pass() {
        if (missing == 0 && bytes == 0) missing = expected, ++phase;
    }
};
static const u64 MARK = 0x5ca1ab1e0ddba115; // What is in memory at its place.

// The sums of a warp's part of a product on their way: 16 rows × columns, and where each thread has its part.
struct Sums {
    u32 columns;
    float *parts[32] = {};
    std::vector<float> all;
};
struct Product {
    u64 left, right;
    int add, rows_contiguous, columns_contiguous;
    u32 group; // Of those that are committed together.
    u32 issued = 0;
    std::shared_ptr<Sums> sums;
    std::vector<float> factors[2]; // Where they were read early.
};
struct Multiplier {
    std::deque<Product> waiting;
    u64 done = 0; // Products, in all.
    u64 trace = 0; // Of all of them: the same in the warps of a group.
};
struct Issuer { // A thread's view of its warp's products.
    u64 issued = 0;
    u32 committed = 0;
    bool begun = false;
    std::vector<std::pair<std::shared_ptr<Sums>, u32>> held; // And the last group that adds to them.
};

struct SharedBlock {
    char *own = nullptr; // Shared memory as threads see it,
    std::vector<char> seen; // and as copies and products do.
    std::map<u32, Counted> barriers;
    Barrier named[16];
    std::vector<Multiplier> multipliers; // By warp.
    std::vector<Issuer> issuers;
    std::vector<u32> rows[2];
    std::vector<char> flips;
    bool ended = false;
};
static SharedBlock blocks_of_cluster[2];
static thread_local SharedBlock *block;
static u32 shared_bytes; // Of a block of this launch.

static SharedBlock &block_of(u32 rank) {
    if (rank > 1 || blocks_of_cluster[rank].ended) broken("block %u of the cluster is not there", rank);
    return blocks_of_cluster[rank];
}
static u32 own_rank() { return block - blocks_of_cluster; }

static void check_place(u32 at, u32 bytes, const char *what) {
    if (at < SHARED_START || at + bytes > SHARED_START + shared_bytes)
        broken("%s at %#x, %u bytes: outside of shared memory", what, at, bytes);
}
static u32 swizzle(u32 at) { return at ^ (at >> 7 & 7) << 4; }
// As threads see it, or products.
static char *place_in(SharedBlock &of, u32 at) { return of.own + (at - SHARED_START); }
static char *seen_in(SharedBlock &of, u32 at) { return &of.seen[at - SHARED_START]; }

static inline u32 shared_at(const void *p) { return (const char *)p - block->own + SHARED_START; }

// Barriers in shared memory.

static Counted &barrier_in(SharedBlock &of, u32 at) {
    auto found = of.barriers.find(at);
    if (found == of.barriers.end()) broken("there is no barrier at %#x", at);
    if (memcmp(place_in(of, at), &MARK, 8)) broken("the barrier at %#x has been written over", at);
    return found->second;
}
static inline void barrier_init(u32 at, u32 count) {
    check_place(at, 8, "a barrier");
    if (at % 8) broken("a barrier at %#x is not aligned", at);
    memcpy(place_in(*block, at), &MARK, 8);
    block->barriers[at] = {count, count};
}
static inline void barriers_ready() {}
static void arrive_at(SharedBlock &of, u32 at) {
    Counted &barrier = barrier_in(of, at);
    if (barrier.missing == 0) broken("one too many arrives at the barrier at %#x", at);
    --barrier.missing;
    barrier.pass();
}
static inline void barrier_expect(u32 at, u32 bytes) {
    barrier_in(*block, at).bytes += bytes;
    arrive_at(*block, at);
}
static inline void barrier_arrive(u32 at) { arrive_at(*block, at); }
static inline void barrier_arrive_in(u32 at, u32 rank) { arrive_at(block_of(rank), at); }
static inline void barrier_wait(u32 at, u32 parity) {
    Counted &barrier = barrier_in(*block, at);
    wait_until(parity ? "parity 1 of the barrier at" : "parity 0 of the barrier at", at,
               [&] { return (barrier.phase & 1) != parity; });
}

// Copies.

struct Copy {
    unsigned due;
    u32 to, barrier, ranks; // A bit for each block that it goes to.
    TensorMap map;
    int first[4];
};
static std::vector<Copy> copies;
static unsigned tick;

// Copies a box, or NaNs to where it goes.
static void copy_box(const Copy &copy, SharedBlock &of, bool spoil) {
    const TensorMap &map = copy.map;
    const u32 row = 2 * map.read(0);
    u32 to = copy.to;
    for (int d = 0; d < map.read(3); ++d)
        for (int c = 0; c < map.read(2); ++c)
            for (int b = 0; b < map.read(1); ++b, to += row) {
                const int at[4] = {copy.first[0], copy.first[1] + b * map.every[1], copy.first[2] + c * map.every[2],
                                   copy.first[3] + d * map.every[3]};
                bool inside = true;
                const char *from = map.at;
                for (int n = 0; n < 4; ++n) {
                    inside &= at[n] >= 0 && at[n] < map.sizes[n];
                    from += at[n] * map.strides[n];
                }
                for (u32 piece = 0; piece < row; piece += 16) {
                    char bytes[16];
                    if (spoil) memset(bytes, 0xff, 16);
                    else if (inside) memcpy(bytes, from + piece, 16);
                    else memset(bytes, 0, 16);
                    u32 place = map.swizzled ? swizzle(to + piece) : to + piece;
                    memcpy(place_in(of, place), bytes, 16);
                    memcpy(seen_in(of, place), bytes, 16);
                }
            }
}
static void ask_for(u32 to, const TensorMap &map, int a, int b, int c, int d, u32 barrier, u32 ranks) {
    Copy copy = {tick + (order >> 8) % 48, to, barrier, ranks, map, {a, b, c, d}};
    one_in_four();
    check_place(to, map.bytes(), "a copy");
    if (to % (map.swizzled ? 1024 : 128)) broken("a copy to %#x is not aligned", to);
    if (map.box[0] * 2 > 128 || a % 8 || a < 0 || a + map.box[0] > map.sizes[0]) broken("a copy has odd channels");
    for (int n = 0; n < 4; ++n)
        if (map.box[n] > 256 || (n && map.strides[n] % 16)) broken("a copy's box or strides cannot be");
    for (u32 rank = 0; rank < 2; ++rank)
        if (ranks >> rank & 1) copy_box(copy, block_of(rank), true);
    copies.push_back(copy);
}
static inline void load_box(u32 to, const TensorMap *map, int a, int b, int c, int d, u32 barrier) {
    ask_for(to, *map, a, b, c, d, barrier, 1 << own_rank());
}
static inline void load_box_for_both(u32 to, const TensorMap *map, int a, int b, int c, int d, u32 barrier) {
    ask_for(to, *map, a, b, c, d, barrier, 3);
}
// Copies that are due arrive, or the first one where nothing else goes on.
static bool copies_arrive(bool stuck) {
    ++tick;
    if (stuck && !copies.empty()) {
        auto earlier = [](const Copy &a, const Copy &b) { return a.due < b.due; };
        tick = std::max(tick, std::min_element(copies.begin(), copies.end(), earlier)->due);
    }
    bool any = false;
    for (size_t n = 0; n < copies.size();) {
        if (copies[n].due > tick) { ++n; continue; }
        Copy copy = copies[n];
        copies.erase(copies.begin() + n);
        any = true;
        for (u32 rank = 0; rank < 2; ++rank) {
            if (!(copy.ranks >> rank & 1)) continue;
            SharedBlock &of = block_of(rank);
            copy_box(copy, of, false);
            Counted &barrier = barrier_in(of, copy.barrier);
            barrier.bytes -= copy.map.bytes();
            barrier.pass();
        }
    }
    return any;
}

// Products.

// A factor as summands × long side, the latter contiguous in memory or not: so many of it from `first` on.
static void read_factor(u64 of, bool contiguous, u32 first, u32 length, std::vector<float> &to) {
    const u32 at = (of & 0x3fff) << 4, leading = (of >> 16 & 0x3fff) << 4, stride = (of >> 32 & 0x3fff) << 4;
    const u32 layout = of >> 62;
    if (layout > 1) broken("a factor of layout %u", layout);
    to.resize(16 * length);
    auto piece = [&](u32 place, float *number, u32 step) {
        if (layout) place = swizzle(place);
        check_place(place, 16, "a factor");
        u16 own[8], seen[8];
        memcpy(own, place_in(*block, place), 16);
        memcpy(seen, seen_in(*block, place), 16);
        for (u32 n = 0; n < 8; ++n) number[n * step] = __uint_as_float(own[n] == seen[n] ? (u32)seen[n] << 16 : ~0u);
    };
    if (contiguous) {
        for (u32 k = 0; k < 16; ++k)
            for (u32 n = first; n < first + length; n += 8)
                piece(layout ? at + n / 64 * leading + n % 64 * 2 + k / 8 * stride + k % 8 * 128
                             : at + n / 8 * stride + k / 8 * leading + k % 8 * 16, &to[k * length + n - first], 1);
    } else {
        for (u32 n = first; n < first + length; ++n)
            for (u32 k = 0; k < 16; k += 8)
                piece(layout ? at + n / 8 * stride + n % 8 * 128 + k * 2
                             : at + n / 8 * stride + n % 8 * 16 + k / 8 * leading, &to[k * length + n - first], length);
    }
}
template <u32 N> static void multiply(const float *left, const float *right, float *sums) {
    constexpr u32 PART = N < 32 ? 8 : 32;
    for (u32 m = 0; m < 16; ++m)
        for (u32 first = 0; first < N; first += PART) {
            float part[PART];
            for (u32 n = 0; n < PART; ++n) part[n] = sums[m * N + first + n];
            for (u32 k = 0; k < 16; ++k)
                for (u32 n = 0; n < PART; ++n) part[n] += left[k * 16 + m] * right[k * N + first + n];
            for (u32 n = 0; n < PART; ++n) sums[m * N + first + n] = part[n];
        }
}
static void read_factors(Product &product) {
    read_factor(product.left, product.rows_contiguous, threadIdx.x % 128 / 32 * 16, 16, product.factors[0]);
    read_factor(product.right, product.columns_contiguous, 0, product.sums->columns, product.factors[1]);
}
static void carry_out(Product &product) {
    if (product.factors[0].empty()) read_factors(product);
    Sums &sums = *product.sums;
    if (!product.add) std::fill(sums.all.begin(), sums.all.end(), 0.0f);
    const float *left = product.factors[0].data(), *right = product.factors[1].data();
    if (sums.columns == 24) multiply<24>(left, right, sums.all.data());
    if (sums.columns == 64) multiply<64>(left, right, sums.all.data());
    if (sums.columns == 128) multiply<128>(left, right, sums.all.data());
    if (sums.columns == 192) multiply<192>(left, right, sums.all.data());
}
// Where number `k` of a lane's sums is.
static u32 place_of_sum(u32 lane, u32 k, u32 columns) {
    return (lane / 4 + k / 2 % 2 * 8) * columns + k / 4 * 8 + lane % 4 * 2 + k % 2;
}

static inline void product_begin() { block->issuers[threadIdx.x].begun = true; }
static void multiply_later(float *d, u32 columns, u64 left, u64 right, int add, int rows, int across) {
    Multiplier &warp = block->multipliers[threadIdx.x / 32];
    Issuer &own = block->issuers[threadIdx.x];
    const u32 lane = threadIdx.x % 32;
    const u64 number = own.issued++ - warp.done;
    if (number == warp.waiting.size()) {
        Product product = {left, right, add, rows, across, own.committed};
        for (auto &[sums, last] : own.held)
            if (sums->parts[lane] == d) product.sums = sums;
        if (!product.sums) {
            product.sums = std::make_shared<Sums>();
            product.sums->columns = columns;
            product.sums->all.resize(16 * columns);
        }
        if (one_in_four()) read_factors(product);
        for (u64 part : {left, right, (u64)add, (u64)columns, (u64)own.committed})
            warp.trace = (warp.trace ^ part) * 0x9e3779b97f4a7c15 + (warp.trace >> 32);
        warp.waiting.push_back(product);
    }
    Product &product = warp.waiting[number];
    Sums &sums = *product.sums;
    if (product.left != left || product.right != right || product.add != add || product.group != own.committed ||
        product.rows_contiguous != rows || product.columns_contiguous != across || sums.columns != columns)
        broken("the threads of a warp have different products");
    ++product.issued;
    auto held = own.held.begin();
    while (held != own.held.end() && held->first != product.sums) ++held;
    if (held == own.held.end()) {
        if (!own.begun) broken("a product takes sums that were not fenced");
        for (auto &[other, last] : own.held)
            if (d < other->parts[lane] + other->columns / 2 && other->parts[lane] < d + columns / 2)
                broken("a product's sums are those of another one");
        sums.parts[lane] = d;
        for (u32 k = 0; k < columns / 2; ++k) {
            sums.all[place_of_sum(lane, k, columns)] = d[k];
            d[k] = __uint_as_float(~0u);
        }
        own.held.push_back({product.sums, own.committed});
    } else held->second = own.committed;
    if (sums.parts[lane] != d) broken("the threads of a warp have different sums");
}
template <int TA, int TB, int N> static inline void product(float (&d)[N], u64 a, u64 b, int add) {
    multiply_later(d, 2 * N, a, b, add != 0, TA, TB);
}
static inline void product(float (&d)[12], u64 a, u64 b) { multiply_later(d, 24, a, b, 1, 1, 1); }
static inline void product_commit() { ++block->issuers[threadIdx.x].committed; }
template <int N> static inline void product_wait() {
    Multiplier &warp = block->multipliers[threadIdx.x / 32];
    Issuer &own = block->issuers[threadIdx.x];
    const u32 until = own.committed > N ? own.committed - N : 0, lane = threadIdx.x % 32;
    // Those of the groups before it, of which this thread has issued all.
    u64 last = own.issued;
    while (last > warp.done && warp.waiting[last - 1 - warp.done].group >= until) --last;
    wait_until("the products of a warp, group", until, [&] {
        return last <= warp.done || warp.waiting[last - 1 - warp.done].issued == 32;
    });
    for (; warp.done < last; ++warp.done) {
        carry_out(warp.waiting.front());
        warp.waiting.pop_front();
    }
    for (size_t n = 0; n < own.held.size();) {
        auto [sums, used] = own.held[n];
        if (used >= until) { ++n; continue; }
        for (u32 k = 0; k < sums->columns / 2; ++k)
            sums->parts[lane][k] = sums->all[place_of_sum(lane, k, sums->columns)];
        own.held.erase(own.held.begin() + n);
        own.begun = false;
    }
}

static inline u32 pack2(float low, float high) { return pack(low, high); }
// The rows that the lanes of a warp say, of four matrices of 8 × 8.
static const u32 *rows_of_warp(u32 at) {
    const u32 me = threadIdx.x;
    check_place(at, 16, "a row of a matrix");
    if (at % 16) broken("a row of a matrix at %#x is not aligned", at);
    std::vector<u32> &rows = block->rows[block->flips[me] ^= 1];
    rows[me] = at;
    __syncwarp();
    return &rows[me / 32 * 32];
}
static inline void store_matrices(u32 at, u32 a, u32 b, u32 c, u32 d) {
    const u32 lane = threadIdx.x % 32, numbers[4] = {a, b, c, d}, *rows = rows_of_warp(at);
    for (u32 n = 0; n < 4; ++n) memcpy(place_in(*block, rows[8 * n + lane / 4] + lane % 4 * 4), &numbers[n], 4);
}
static inline void store_transposed(u32 at, u32 a, u32 b, u32 c, u32 d) {
    const u32 lane = threadIdx.x % 32, numbers[4] = {a, b, c, d}, *rows = rows_of_warp(at);
    for (u32 n = 0; n < 4; ++n)
        for (u32 odd = 0; odd < 2; ++odd) {
            u16 number = numbers[n] >> 16 * odd;
            memcpy(place_in(*block, rows[8 * n + lane % 4 * 2 + odd] + lane / 4 * 2), &number, 2);
        }
}
static inline void publish_writes() { memcpy(block->seen.data(), block->own, shared_bytes); }

template <int N> static inline void release_registers() {}
template <int N> static inline void take_registers() {}

static Barrier &named_barrier(int number, u32 threads) {
    Barrier &own = block->named[number];
    if (own.arrived && own.expected != threads)
        broken("barrier %d is of %u threads and of %u", number, own.expected, threads);
    own.expected = threads;
    return own;
}
template <int THREADS> static inline void meet_at(int barrier) { named_barrier(barrier, THREADS).arrive_and_wait(); }
template <int THREADS> static inline void come_by(int barrier) { named_barrier(barrier, THREADS).arrive(); }
static inline void meet_cluster() { cluster.barrier.arrive_and_wait(); }
static inline float4 read_block(u32 at, u32 rank) {
    check_place(at, 16, "what another block has");
    float4 got;
    memcpy(&got, place_in(block_of(rank), at), 16);
    return got;
}

static void begin_block(unsigned rank) {
    block = &blocks_of_cluster[rank];
    block->own = memory;
    memset(memory, 0xff, sizeof memory);
    block->seen.assign(sizeof memory, (char)0xff);
    block->barriers.clear();
    for (auto &barrier : block->named) barrier = {"a named barrier of threads", 0};
    block->multipliers.assign((blockDim.x + 31) / 32, {});
    block->issuers.assign(blockDim.x, {});
    for (auto &rows : block->rows) rows.assign(blockDim.x, 0);
    block->flips.assign(blockDim.x, 0);
    block->ended = false;
}
static void tell_barriers(unsigned rank) {
    for (auto &[at, one] : blocks_of_cluster[rank].barriers)
        printf("barrier at %#x: phase %u lacks %u of %u arrivals and %lld bytes\n", at, one.phase, one.missing,
               one.expected, one.bytes);
}
static void end_block(unsigned rank) {
    block->ended = true;
    for (const Copy &copy : copies)
        if (copy.ranks >> rank & 1) broken("a copy is on its way to a block that has ended");
    for (u32 n = shared_bytes; n < sizeof memory; ++n)
        if (memory[n] != (char)0xff) broken("something was written behind shared memory, %u of %u", n, shared_bytes);
    for (size_t n = 0; n < block->multipliers.size(); ++n) {
        if (!block->multipliers[n].waiting.empty()) broken("nobody waited for a product");
        if (block->multipliers[n].trace != block->multipliers[n / 4 * 4].trace)
            broken("the warps of a warp group had different products");
    }
}

// Runs a kernel in blocks with so many bytes of shared memory, one after another or two at a time.
static void run_hopper(Place grid, unsigned threads, u32 bytes, unsigned at_a_time,
                       const std::function<void()> &kernel) {
    if (bytes > SHARED_MOST) broken("%u bytes of shared memory", bytes);
    shared_bytes = bytes;
    beside = {begin_block, end_block, copies_arrive, tell_barriers};
    for (auto &own : blocks_of_cluster) own.ended = true;
    launch(grid, {threads, 1}, kernel, at_a_time);
}
