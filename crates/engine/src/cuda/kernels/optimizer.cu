// One step of an optimizer. The twin of cpu/kernels/optimizer.rs. The weights of convolutions have
// their gradient, and a copy for the convolution, in the type of activations; there are a multiple of eight of
// them, which a thread moves at once. Nothing reads them again soon, so they pass by the cache.

__device__ __forceinline__ void take8(const float *from, float *to) {
    float4 low = __ldcs((const float4 *)from), high = __ldcs((const float4 *)from + 1);
    to[0] = low.x; to[1] = low.y; to[2] = low.z; to[3] = low.w;
    to[4] = high.x; to[5] = high.y; to[6] = high.z; to[7] = high.w;
}
__device__ __forceinline__ void put8(float *to, const float *from) {
    __stcs((float4 *)to, float4{from[0], from[1], from[2], from[3]});
    __stcs((float4 *)to + 1, float4{from[4], from[5], from[6], from[7]});
}

// by: rate, momentum, decay.
__device__ __forceinline__ float sgd_step(float w, float g, float *v, const float *by,
                                          int nesterov) {
    float slope = fmaf(by[2], w, g);
    *v = fmaf(by[1], *v, slope);
    return fmaf(-by[0], nesterov ? fmaf(by[1], *v, slope) : *v, w);
}

extern "C" __global__ void sgd(const float *by, int nesterov, const float *g, float *v, float *w,
                               int len) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) w[at] = sgd_step(w[at], g[at], v + at, by, nesterov);
}

extern "C" __global__ void sgd_conv(const float *by, int nesterov, const act *g, float *v, float *w,
                                    act *copy, int len) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (at >= len) return;
    float ws[8], vs[8];
    act8 slopes = *(const act8 *)(g + at), copies;
    take8(w + at, ws);
    take8(v + at, vs);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        ws[k] = sgd_step(ws[k], to_f32(slopes.v[k]), vs + k, by, nesterov);
        copies.v[k] = to_act(ws[k]);
    }
    put8(w + at, ws);
    put8(v + at, vs);
    *(act8 *)(copy + at) = copies;
}

// by: size, root, epsilon, decay, β₁, β₂.
__device__ __forceinline__ float adam_step(float w, float g, float *m, float *v, const float *by) {
    float slope = fmaf(by[3], w, g);
    *m = fmaf(1.0f - by[4], slope, by[4] * *m);
    *v = fmaf((1.0f - by[5]) * slope, slope, by[5] * *v);
    return w - by[0] * *m / (sqrtf(*v) * by[1] + by[2]);
}

extern "C" __global__ void adam(const float *by, const float *g, float *m, float *v, float *w,
                                int len) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) w[at] = adam_step(w[at], g[at], m + at, v + at, by);
}

extern "C" __global__ void adam_conv(const float *by, const act *g, float *m, float *v, float *w,
                                     act *copy, int len) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (at >= len) return;
    float ws[8], ms[8], vs[8];
    act8 slopes = *(const act8 *)(g + at), copies;
    take8(w + at, ws);
    take8(m + at, ms);
    take8(v + at, vs);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        ws[k] = adam_step(ws[k], to_f32(slopes.v[k]), ms + k, vs + k, by);
        copies.v[k] = to_act(ws[k]);
    }
    put8(w + at, ws);
    put8(m + at, ms);
    put8(v + at, vs);
    *(act8 *)(copy + at) = copies;
}

// The factors of Adam's next step, from the number of steps so far.
extern "C" __global__ void adam_factors(u64 *steps, const float *rate, float beta1, float beta2,
                                        float epsilon, float decay, float *by) {
    *steps += 1;
    double n = (double)*steps;
    by[0] = (float)(*rate / (1.0 - pow((double)beta1, n)));
    by[1] = (float)(1.0 / sqrt(1.0 - pow((double)beta2, n)));
    by[2] = epsilon;
    by[3] = decay;
    by[4] = beta1;
    by[5] = beta2;
}

extern "C" __global__ void copy_to_activations(const float *w, act *copy, int len) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) copy[at] = to_act(w[at]);
}
