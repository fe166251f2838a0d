// Runs CUDA kernels on the CPU: block after block, or cluster after cluster, and the threads of a block in turn, each
// until it waits for others. Slow, and enough for the arithmetic and the barriers of small shapes. A program that
// includes this and then the kernels is plain C++.

#pragma once
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <setjmp.h>
#include <thread>
#include <ucontext.h>
#include <vector>

struct Place { unsigned x = 1, y = 1, z = 1; };
static thread_local Place threadIdx, blockIdx;
static Place blockDim, gridDim;

// Blocks come one after another, or those of a cluster at the same time, each on a thread of the host.
#define __shared__ thread_local
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };

// A thread of a block: what it waits for, and whether that holds.
struct Thread {
    ucontext_t own = {};
    jmp_buf at;
    bool begun = false, ended = false;
    const char *what = nullptr;
    unsigned where = 0;
    bool (*holds)(const void *) = nullptr;
    const void *of = nullptr;
};
static thread_local jmp_buf scheduler;
static thread_local std::vector<Thread> threads_of_block;
static unsigned own_number() { return threadIdx.y * blockDim.x + threadIdx.x; }

// A thread goes on until it waits or ends. Jumps are much faster than `swapcontext`, which asks the system for signals.
static __attribute__((noinline)) void go_on(Thread &own) {
    if (_setjmp(scheduler)) return;
    if (own.begun) _longjmp(own.at, 1);
    own.begun = true;
    setcontext(&own.own);
}
static __attribute__((noinline)) void let_go_on(Thread &own) {
    if (!_setjmp(own.at)) _longjmp(scheduler, 1);
}

// Others go on until something holds. `what` and `where` are for a message if it never does.
template <class Holds> static void wait_until(const char *what, unsigned where, const Holds &holds) {
    if (holds()) return;
    Thread &own = threads_of_block[own_number()];
    own.what = what;
    own.where = where;
    own.of = &holds;
    own.holds = [](const void *of) { return (*(const Holds *)of)(); };
    let_go_on(own);
    own.holds = nullptr;
}

// Where threads wait for each other.
struct Barrier {
    const char *what;
    unsigned expected, arrived = 0, passed = 0;
    void pass() {
        if (arrived && arrived == expected) arrived = 0, ++passed;
    }
    void arrive() {
        ++arrived;
        pass();
    }
    void arrive_and_wait() {
        unsigned before = passed;
        arrive();
        wait_until(what, expected, [&] { return passed != before; });
    }
    void arrive_and_drop() {
        --expected;
        pass();
    }
};
static thread_local Barrier block_barrier;
static thread_local std::vector<Barrier> warp_barriers;
static thread_local std::vector<unsigned> warp_room;

static inline void __syncthreads() { block_barrier.arrive_and_wait(); }
static inline void __syncwarp() { warp_barriers[own_number() / 32].arrive_and_wait(); }
static inline void __threadfence() {}
static inline float __uint_as_float(unsigned bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline unsigned __float_as_uint(float x) { unsigned bits; memcpy(&bits, &x, 4); return bits; }

// Every lane of the warp has to come by, as with the full mask that the kernels use.
static inline unsigned of_lane(unsigned value, unsigned lane) {
    unsigned me = own_number();
    warp_room[me] = value;
    __syncwarp();
    unsigned got = warp_room[me / 32 * 32 + lane];
    __syncwarp();
    return got;
}
static inline float __shfl_down_sync(unsigned, float value, int step) {
    unsigned lane = own_number() % 32;
    return __uint_as_float(of_lane(__float_as_uint(value), lane + step < 32 ? lane + step : lane));
}
static inline unsigned __shfl_xor_sync(unsigned, unsigned value, unsigned bits) {
    return of_lane(value, own_number() % 32 ^ bits);
}

static inline unsigned atomicAdd(unsigned *at, unsigned add) {
    return __atomic_fetch_add(at, add, __ATOMIC_SEQ_CST);
}
template <class T> static inline T __ldcg(const T *at) { return *at; }
template <class T> static inline T __ldcs(const T *at) { return *at; }
template <class T> static inline void __stcs(T *at, T value) { *at = value; }
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
        return x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    };
    return half(low) | half(high) << 16;
}
// By a warp, lane by lane as the GPU has it; sums are cut, not rounded.
static thread_local std::vector<unsigned> warp_factors;
static void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    unsigned me = own_number(), lane = me % 32, warp = me - lane;
    for (int k = 0; k < 6; ++k) warp_factors[6 * me + k] = k < 4 ? a[k] : b[k - 4];
    __syncwarp();
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
    __syncwarp();
}

// What else goes on, by the rank of a block in its cluster: before a block and after it, and between the turns of its
// threads, where the answer is whether something did. `stuck`: no thread can go on.
struct Beside {
    std::function<void(unsigned rank)> begin = [](unsigned) {}, end = [](unsigned) {};
    std::function<bool(bool stuck)> between = [](bool) { return false; };
    // Says what threads may wait for.
    std::function<void(unsigned rank)> tell = [](unsigned) {};
};
static Beside beside;
// Which order threads go on in: any has to do.
static unsigned order = 1;
static bool one_in_four() { return (order = order * 1664525u + 1013904223u) >> 30 == 0; }

// The blocks that run at the same time. One of them goes on until it cannot, or for a while; the slow one not for long.
struct Cluster {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned turn = 0, idle = 0, slow = 0;
    Barrier barrier = {"the cluster", 0};
    std::vector<bool> ended;
    std::vector<const std::vector<Thread> *> blocks;
    std::vector<std::vector<char>> stacks;
};
static Cluster cluster;

// Nothing goes on any more: says what threads wait for.
[[noreturn]] static void stop_at_deadlock() {
    for (unsigned rank = 0; rank < cluster.blocks.size(); ++rank) {
        const std::vector<Thread> *threads = cluster.blocks[rank];
        for (unsigned n = 0, next; !cluster.ended[rank] && n < threads->size(); n = next) {
            const Thread &one = (*threads)[n];
            for (next = n + 1; next < threads->size(); ++next) {
                const Thread &other = (*threads)[next];
                if (other.ended != one.ended || other.what != one.what || other.where != one.where) break;
            }
            if (one.ended) continue;
            printf("block %u of those around (%u, %u), threads %u to %u: wait for %s %#x\n", rank, blockIdx.x,
                   blockIdx.y, n, next - 1, one.what, one.where);
        }
        if (!cluster.ended[rank]) beside.tell(rank);
    }
    printf("DEADLOCK: all wait\n");
    fflush(stdout);
    _Exit(3);
}

// The next block of the cluster has its turn; ends when it is that of this one again, or with `leaves` at once.
static void let_others(unsigned rank, bool stuck, bool leaves = false) {
    std::unique_lock lock(cluster.mutex);
    unsigned size = cluster.ended.size();
    cluster.idle = stuck ? cluster.idle + 1 : 0;
    if (cluster.idle > 2 * size) stop_at_deadlock();
    if (leaves) cluster.ended[rank] = true;
    for (unsigned n = 1; n <= size; ++n) {
        unsigned next = (rank + n) % size;
        if (!cluster.ended[next]) { cluster.turn = next; break; }
    }
    cluster.changed.notify_all();
    if (!leaves) cluster.changed.wait(lock, [&] { return cluster.turn == rank; });
}

static const std::function<void()> *kernel_of_block;
static void thread_of_block() {
    (*kernel_of_block)();
    block_barrier.arrive_and_drop();
    warp_barriers[own_number() / 32].arrive_and_drop();
    cluster.barrier.arrive_and_drop();
    threads_of_block[own_number()].ended = true;
    _longjmp(scheduler, 1);
}

static void run_block(unsigned at, unsigned rank) {
    const size_t STACK = 64 << 10;
    unsigned threads = blockDim.x * blockDim.y;
    std::vector<char> &stacks = cluster.stacks[rank];
    stacks.resize(std::max(stacks.size(), threads * STACK));
    blockIdx = {at % gridDim.x, at / gridDim.x, 0};
    block_barrier = {"the block", threads};
    warp_barriers.clear();
    for (unsigned first = 0; first < threads; first += 32) {
        warp_barriers.push_back({"the warp", threads - first < 32 ? threads - first : 32});
    }
    warp_room.assign(threads, 0);
    warp_factors.assign(6 * threads, 0);
    threads_of_block.assign(threads, {});
    cluster.blocks[rank] = &threads_of_block;
    for (unsigned n = 0; n < threads; ++n) {
        ucontext_t &own = threads_of_block[n].own;
        getcontext(&own);
        own.uc_stack.ss_sp = &stacks[n * STACK];
        own.uc_stack.ss_size = STACK;
        own.uc_link = nullptr;
        makecontext(&own, thread_of_block, 0);
    }
    beside.begin(rank);
    std::vector<bool> asleep(warp_barriers.size());
    for (unsigned left = threads; left > 0;) {
        left = 0;
        bool stuck = true, sleepers = false;
        unsigned resting = 0, which = 0; // Lanes of a warp.
        for (unsigned n = 0; n < threads; ++n) {
            // Warps do not go on at the same speed, nor do all lanes of one, and some sleep for long.
            if (n % 32 == 0) {
                resting = one_in_four() ? 32 : one_in_four() ? order >> 8 & 31 : 0;
                which = order >> 16 & 31;
                if (resting && (order >> 8 & 63) == 0) asleep[n / 32] = true;
            }
            Thread &own = threads_of_block[n];
            left += !own.ended;
            if (own.ended || (own.holds && !own.holds(own.of))) continue;
            if (asleep[n / 32]) {
                sleepers = true;
                continue;
            }
            stuck = false;
            if ((n ^ which) % 32 < resting) continue;
            threadIdx = {n % blockDim.x, n / blockDim.x, 0};
            go_on(own);
        }
        if (left == 0) break;
        if (beside.between(stuck)) stuck = false;
        // Where only they can go on, some time.
        if (stuck && sleepers) {
            stuck = false;
            if (one_in_four()) asleep.assign(asleep.size(), false);
        }
        if (stuck || rank == cluster.slow || one_in_four()) let_others(rank, stuck);
    }
    beside.end(rank);
    let_others(rank, false, true);
}

// Runs a kernel, so many blocks at the same time. Threads that return early leave the barriers, as they do on a GPU.
static void launch(Place grid, Place block, const std::function<void()> &kernel, unsigned at_a_time = 1) {
    gridDim = grid;
    blockDim = block;
    kernel_of_block = &kernel;
    cluster.stacks.resize(std::max<size_t>(cluster.stacks.size(), at_a_time));
    for (unsigned at = 0; at < grid.x * grid.y; at += at_a_time) {
        cluster.turn = cluster.idle = 0;
        cluster.slow = at_a_time > 1 ? (order >> 8) % at_a_time : 1;
        cluster.barrier = {"the cluster", at_a_time * block.x * block.y};
        cluster.ended.assign(at_a_time, false);
        cluster.blocks.assign(at_a_time, nullptr);
        std::vector<std::thread> others;
        for (unsigned rank = 1; rank < at_a_time; ++rank) {
            others.emplace_back([=] {
                {
                    std::unique_lock lock(cluster.mutex);
                    cluster.changed.wait(lock, [&] { return cluster.turn == rank; });
                }
                run_block(at + rank, rank);
            });
        }
        run_block(at, 0);
        for (auto &other : others) other.join();
    }
}

static void each(size_t numbers, const std::function<void()> &kernel) {
    launch({(unsigned)((numbers + 255) / 256), 1}, {256, 1}, kernel);
}
