// What all kernels share. BF16 = 1 keeps activations in bfloat16 (two bytes, the upper half of an
// f32), BF16 = 0 in f32; sums are always f32. bfloat16 is handled by its bits, so that no header of
// the toolkit is needed.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#if BF16
typedef u16 act;
__device__ __forceinline__ float to_f32(act x) { return __uint_as_float((u32)x << 16); }
// To nearest, ties to even; a NaN stays one.
__device__ __forceinline__ act to_act(float x) {
    u32 bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (act)0x7fffu;
    return (act)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
#else
typedef float act;
__device__ __forceinline__ float to_f32(act x) { return x; }
__device__ __forceinline__ act to_act(float x) { return x; }
#endif

// Eight neighbouring activations, moved as one: channels come in multiples of eight.
struct __align__(8 * sizeof(act)) act8 { act v[8]; };

// Philox4x64-10, as the host has it (dissensus_core::philox).
__device__ __forceinline__ void philox(u64 k0, u64 k1, u64 c[4]) {
    for (int round = 0; round < 10; ++round) {
        u64 low0 = 0xD2E7470EE14C6C93ull * c[0], high0 = __umul64hi(0xD2E7470EE14C6C93ull, c[0]);
        u64 low1 = 0xCA5A826395121157ull * c[2], high1 = __umul64hi(0xCA5A826395121157ull, c[2]);
        u64 a = high1 ^ c[1] ^ k0, b = high0 ^ c[3] ^ k1;
        c[0] = a; c[1] = low1; c[2] = b; c[3] = low0;
        k0 += 0x9E3779B97F4A7C15ull;
        k1 += 0xBB67AE8584CAA73Bull;
    }
}

// Kernels of a captured step find their batch by a counter on the device.
extern "C" __global__ void next_batch(int *step) { *step += 1; }

// A kernel that is started early runs beside the end of the one before it: what that one wrote may be
// read only after `wait_for_previous_kernel`. `allow_next_kernel` is where it may begin.
__device__ __forceinline__ void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The formulas of a batch norm, from sums over its rows.

__device__ __forceinline__ void load8(const float *from, float *to) {
    float4 low = ((const float4 *)from)[0], high = ((const float4 *)from)[1];
    to[0] = low.x; to[1] = low.y; to[2] = low.z; to[3] = low.w;
    to[4] = high.x; to[5] = high.y; to[6] = high.z; to[7] = high.w;
}

// vectors: of each channel the mean μ, the inverse deviation s, and a and b of y = a·x + b.
__device__ __forceinline__ void store_norm(float mean, float s, float scale, float shift, int c,
                                         int channels, float *vectors) {
    vectors[c] = mean;
    vectors[channels + c] = s;
    vectors[2 * channels + c] = scale * s;
    vectors[3 * channels + c] = shift - mean * scale * s;
}

// Moves the running statistics by those of the batch: `sum` and `square` are of x less the running mean,
// `center`, so that nothing cancels.
__device__ __forceinline__ void finish_statistics(float sum, float square, int rows, int c, int channels, float epsilon,
                                                  float momentum, float scale, float shift, float center,
                                                  float spread, float *statistics, float *vectors) {
    float off = sum / rows, mean = center + off;
    float variance = fmaxf(square / rows - off * off, 0.0f);
    float unbiased = rows > 1 ? variance * ((float)rows / (rows - 1)) : variance;
    statistics[c] = (1.0f - momentum) * center + momentum * mean;
    statistics[channels + c] = (1.0f - momentum) * spread + momentum * unbiased;
    store_norm(mean, rsqrtf(variance + epsilon), scale, shift, c, channels, vectors);
}

// dγ and dβ from Σ dz and Σ dz·(x − μ), `along`; and for dx = a·dz + g − f·x the vectors g and f, after those
// of the forward pass. With fixed statistics (not `own`) both are zero.
__device__ __forceinline__ void finish_gradients(float sum, float along, int rows, int c, int channels, int own,
                                                 float mean, float s, float a, float *vectors, float *dscale,
                                                 float *dshift) {
    dshift[c] = sum;
    dscale[c] = along * s;
    float f = own ? a * s * s * along / rows : 0.0f;
    vectors[4 * channels + c] = own ? f * mean - a * sum / rows : 0.0f;
    vectors[5 * channels + c] = f;
}

// What the loss compares with: by row of the data set a class, or a distribution where `shares` is
// not null; mixed with the partner's where `lambda` is not null.
struct Goal {
    const u16 *classes;
    const float *shares;
    u32 row, other;
    float share;
    bool mixed;
};

__device__ __forceinline__ Goal goal(const u16 *classes, const float *shares, const u32 *visits,
                                     const float *lambda, const u32 *partner, int step,
                                     size_t first, int place) {
    Goal to = {classes, shares, visits[first + place], 0, 1.0f, lambda != 0};
    to.other = to.row;
    if (lambda) {
        to.share = lambda[step];
        to.other = visits[first + partner[first + place]];
    }
    return to;
}

__device__ __forceinline__ float wanted(const Goal &to, int k, int width) {
    float p;
    if (to.shares) {
        p = to.share * to.shares[(size_t)to.row * width + k];
        if (to.mixed) p = fmaf(1.0f - to.share, to.shares[(size_t)to.other * width + k], p);
    } else {
        p = to.classes[to.row] == k ? to.share : 0.0f;
        if (to.mixed && to.classes[to.other] == k) p += 1.0f - to.share;
    }
    return p;
}
