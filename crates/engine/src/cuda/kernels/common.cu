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
