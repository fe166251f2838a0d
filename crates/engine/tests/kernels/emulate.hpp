// Runs CUDA kernels on the CPU: block after block, and the threads of a block in turn, each until it waits
// for others. Slow, and enough for the arithmetic and the barriers of small shapes. A program that includes this and
// then the kernels is plain C++.

#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

struct Place { unsigned x = 1, y = 1, z = 1; };
static Place threadIdx, blockIdx;
static Place blockDim, gridDim;

// Blocks come one after another, so what a block shares may be static.
#define __shared__ static
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };

static ucontext_t scheduler;
static std::vector<ucontext_t> threads_of_block;
static unsigned own_number() { return threadIdx.y * blockDim.x + threadIdx.x; }

// Where threads wait for each other.
struct Barrier {
    unsigned expected, arrived = 0, passed = 0;
    void pass() {
        if (arrived && arrived == expected) arrived = 0, ++passed;
    }
    void arrive_and_wait() {
        unsigned before = passed;
        ++arrived;
        pass();
        while (passed == before) swapcontext(&threads_of_block[own_number()], &scheduler);
    }
    void arrive_and_drop() {
        --expected;
        pass();
    }
};
static Barrier block_barrier;
static std::vector<Barrier> warp_barriers;
static std::vector<float> warp_room;

static inline void __syncthreads() { block_barrier.arrive_and_wait(); }
static inline void __threadfence() {}

// Every lane of the warp has to come by, as with the full mask that the kernels use.
static inline float __shfl_down_sync(unsigned, float value, int step) {
    unsigned me = own_number(), lane = me % 32;
    warp_room[me] = value;
    warp_barriers[me / 32].arrive_and_wait();
    float got = lane + step < 32 ? warp_room[me + step] : value;
    warp_barriers[me / 32].arrive_and_wait();
    return got;
}

static inline unsigned atomicAdd(unsigned *at, unsigned add) {
    return __atomic_fetch_add(at, add, __ATOMIC_SEQ_CST);
}
template <class T> static inline T __ldcg(const T *at) { return *at; }
template <class T> static inline T __ldcs(const T *at) { return *at; }
template <class T> static inline void __stcs(T *at, T value) { *at = value; }
static inline float __uint_as_float(unsigned bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline unsigned __float_as_uint(float x) { unsigned bits; memcpy(&bits, &x, 4); return bits; }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }

// What bf16x3/conv.cu does by instructions of the GPU, and its shared memory.
alignas(16) static float room[2 * (128 + 128) * 32];
static inline void load16(float *to, const float *from, bool there) {
    for (int k = 0; k < 4; ++k) to[k] = there ? from[k] : 0.0f;
}
static inline void wait_for_loads() {}
static inline unsigned pack(float low, float high) {
    auto half = [](float x) {
        unsigned bits = __float_as_uint(x);
        return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    };
    return half(low) | half(high) << 16;
}
// By a warp, lane by lane as the GPU has it; sums are cut, not rounded.
static std::vector<unsigned> warp_factors;
static void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    unsigned me = own_number(), lane = me % 32, warp = me - lane;
    for (int k = 0; k < 6; ++k) warp_factors[6 * me + k] = k < 4 ? a[k] : b[k - 4];
    warp_barriers[me / 32].arrive_and_wait();
    auto number = [&](unsigned lane, unsigned part, unsigned odd) {
        unsigned both = warp_factors[6 * (warp + lane) + part];
        return (double)__uint_as_float(odd ? both & 0xffff0000u : both << 16);
    };
    for (unsigned c = 0; c < 4; ++c) {
        unsigned row = lane / 4, col = lane % 4 * 2 + c % 2;
        double sum = sums[c];
        for (unsigned k = 0; k < 16; ++k) {
            unsigned of = k % 8 / 2, upper = k / 8;
            sum += number(row * 4 + of, c / 2 + 2 * upper, k % 2) * number(col * 4 + of, 4 + upper, k % 2);
        }
        float near = (float)sum;
        sums[c] = std::fabs((double)near) > std::fabs(sum) ? std::nextafterf(near, 0.0f) : near;
    }
    warp_barriers[me / 32].arrive_and_wait();
}

static const std::function<void()> *kernel_of_block;
static std::vector<bool> ended;
static void thread_of_block() {
    (*kernel_of_block)();
    block_barrier.arrive_and_drop();
    warp_barriers[own_number() / 32].arrive_and_drop();
    ended[own_number()] = true;
}

// Runs a kernel. Threads that return early leave the barriers, as they do on a GPU.
static void launch(Place grid, Place block, const std::function<void()> &kernel) {
    const size_t STACK = 64 << 10;
    gridDim = grid;
    blockDim = block;
    kernel_of_block = &kernel;
    unsigned threads = block.x * block.y;
    static std::vector<char> stacks;
    stacks.resize(std::max(stacks.size(), threads * STACK));
    for (unsigned at = 0; at < grid.x * grid.y; ++at) {
        blockIdx = {at % grid.x, at / grid.x, 0};
        block_barrier = {threads};
        warp_barriers.clear();
        for (unsigned first = 0; first < threads; first += 32) {
            warp_barriers.push_back({threads - first < 32 ? threads - first : 32});
        }
        warp_room.assign(threads, 0.0f);
        warp_factors.assign(6 * threads, 0);
        ended.assign(threads, false);
        threads_of_block.assign(threads, {});
        for (unsigned n = 0; n < threads; ++n) {
            ucontext_t &own = threads_of_block[n];
            getcontext(&own);
            own.uc_stack.ss_sp = &stacks[n * STACK];
            own.uc_stack.ss_size = STACK;
            own.uc_link = &scheduler;
            makecontext(&own, thread_of_block, 0);
        }
        for (unsigned left = threads; left > 0;) {
            left = 0;
            for (unsigned n = 0; n < threads; ++n) {
                if (ended[n]) continue;
                threadIdx = {n % block.x, n / block.x, 0};
                swapcontext(&scheduler, &threads_of_block[n]);
                left += !ended[n];
            }
        }
    }
}

static void each(size_t numbers, const std::function<void()> &kernel) {
    launch({(unsigned)((numbers + 255) / 256), 1}, {256, 1}, kernel);
}
