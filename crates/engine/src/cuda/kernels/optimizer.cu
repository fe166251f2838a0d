// One step of an optimizer. The twin of cpu/kernels/optimizer.rs. The weights of convolutions have
// their gradient, and a copy for the convolution, in the type of activations.

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
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    w[at] = sgd_step(w[at], to_f32(g[at]), v + at, by, nesterov);
    copy[at] = to_act(w[at]);
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
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    w[at] = adam_step(w[at], to_f32(g[at]), m + at, v + at, by);
    copy[at] = to_act(w[at]);
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
