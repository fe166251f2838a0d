// Batch normalization with the sum and the ReLU that may follow it. The twin of
// cpu/kernels/norm.rs, with its formulas. x is rows × channels (rows: examples and pixels).
//
// Sums over rows have two stages: every block sums a fixed stretch of rows into its own place, and
// one block a few channels then adds the places in order. So the result is the same every time.

// A block has 256 threads: x over groups of eight channels, y over rows. Their sums meet in shared
// memory, [line][channel], and are added line by line.
#define THREADS 256

// partial[(block, which, channel)] = Σ over the lines of a block.
__device__ __forceinline__ void finish_block(const float *sum, const float *other, float *partial,
                                             int channels) {
    __shared__ float shared[2][THREADS * 8];
    int groups = blockDim.x, lines = blockDim.y, width = groups * 8;
    for (int k = 0; k < 8; ++k) {
        shared[0][threadIdx.y * width + threadIdx.x * 8 + k] = sum[k];
        shared[1][threadIdx.y * width + threadIdx.x * 8 + k] = other[k];
    }
    __syncthreads();
    for (int at = threadIdx.y * groups + threadIdx.x; at < 2 * width; at += THREADS) {
        int which = at / width, c = at % width, channel = blockIdx.y * width + c;
        if (channel >= channels) continue;
        float total = 0.0f;
        for (int line = 0; line < lines; ++line) total += shared[which][line * width + c];
        partial[((size_t)blockIdx.x * 2 + which) * channels + channel] = total;
    }
}

// Both sums of a channel over all blocks, by one warp: lane by lane, then across lanes.
__device__ __forceinline__ void finish_all(const float *partial, int blocks, int channels, int c,
                                           float *sum, float *other) {
    float a = 0.0f, b = 0.0f;
    for (int block = threadIdx.x % 32; block < blocks; block += 32) {
        a += partial[((size_t)block * 2) * channels + c];
        b += partial[((size_t)block * 2 + 1) * channels + c];
    }
    for (int step = 16; step; step /= 2) {
        a += __shfl_down_sync(0xffffffffu, a, step);
        b += __shfl_down_sync(0xffffffffu, b, step);
    }
    *sum = a;
    *other = b;
}

// partial[(block, 0 or 1, channel)]: Σ x − c and Σ (x − c)², where c is the running mean: near the
// mean, so that nothing cancels.
extern "C" __global__ void norm_sums(const act *x, const float *center, int rows, int channels,
                                     int share, float *partial) {
    int c0 = (blockIdx.y * blockDim.x + threadIdx.x) * 8;
    float sum[8] = {0}, square[8] = {0}, mid[8];
    if (c0 < channels) {
        for (int k = 0; k < 8; ++k) mid[k] = center[c0 + k];
        int first = blockIdx.x * share, last = min(first + share, rows);
        for (int row = first + threadIdx.y; row < last; row += blockDim.y) {
            act8 eight = *(const act8 *)(x + (size_t)row * channels + c0);
            for (int k = 0; k < 8; ++k) {
                float d = up(eight.v[k]) - mid[k];
                sum[k] += d;
                square[k] = fmaf(d, d, square[k]);
            }
        }
    }
    finish_block(sum, square, partial, channels);
}

// One warp a channel: mean, inverse deviation, running statistics, and y = a·x + b.
extern "C" __global__ void norm_finish(const float *partial, int blocks, int rows, int channels,
                                       float epsilon, float momentum, const float *scale,
                                       const float *shift, float *statistics, float *mean,
                                       float *inverse, float *a, float *b) {
    int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (c >= channels) return;
    float sum, square;
    finish_all(partial, blocks, channels, c, &sum, &square);
    if (threadIdx.x % 32) return;
    float off = sum / rows, center = statistics[c];
    float variance = fmaxf(square / rows - off * off, 0.0f);
    float own = center + off;
    float unbiased = rows > 1 ? variance * ((float)rows / (rows - 1)) : variance;
    statistics[c] = (1.0f - momentum) * center + momentum * own;
    statistics[channels + c] = (1.0f - momentum) * statistics[channels + c] + momentum * unbiased;
    float s = rsqrtf(variance + epsilon);
    mean[c] = own;
    inverse[c] = s;
    a[c] = scale[c] * s;
    b[c] = shift[c] - own * scale[c] * s;
}

// The same from the running statistics, which stay.
extern "C" __global__ void norm_fixed(const float *statistics, int channels, float epsilon,
                                      const float *scale, const float *shift, float *mean,
                                      float *inverse, float *a, float *b) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float own = statistics[c], s = rsqrtf(statistics[channels + c] + epsilon);
    mean[c] = own;
    inverse[c] = s;
    a[c] = scale[c] * s;
    b[c] = shift[c] - own * scale[c] * s;
}

// y = a·x + b (+ r), then the ReLU; a NaN stays. One thread eight channels.
extern "C" __global__ void norm_apply(const act *x, const act *residual, const float *a,
                                      const float *b, int relu, long long eights, int channels,
                                      act *y) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= eights) return;
    int c0 = (int)(at * 8 % channels);
    act8 in = ((const act8 *)x)[at], more, out;
    if (residual) more = ((const act8 *)residual)[at];
    for (int k = 0; k < 8; ++k) {
        float z = fmaf(a[c0 + k], up(in.v[k]), b[c0 + k]);
        if (residual) z += up(more.v[k]);
        if (relu && z <= 0.0f) z = 0.0f;
        out.v[k] = down(z);
    }
    ((act8 *)y)[at] = out;
}

// partial[(block, 0 or 1, channel)]: Σ dz and Σ dz·(x − μ).
extern "C" __global__ void norm_slopes(const act *x, const act *y, const act *dy, const float *mean,
                                       int relu, int rows, int channels, int share,
                                       float *partial) {
    int c0 = (blockIdx.y * blockDim.x + threadIdx.x) * 8;
    float sum[8] = {0}, along[8] = {0}, mid[8];
    if (c0 < channels) {
        for (int k = 0; k < 8; ++k) mid[k] = mean[c0 + k];
        int first = blockIdx.x * share, last = min(first + share, rows);
        for (int row = first + threadIdx.y; row < last; row += blockDim.y) {
            size_t at = (size_t)row * channels + c0;
            act8 in = *(const act8 *)(x + at), out, back = *(const act8 *)(dy + at);
            if (relu) out = *(const act8 *)(y + at);
            for (int k = 0; k < 8; ++k) {
                float dz = relu && !(up(out.v[k]) > 0.0f) ? 0.0f : up(back.v[k]);
                sum[k] += dz;
                along[k] = fmaf(dz, up(in.v[k]) - mid[k], along[k]);
            }
        }
    }
    finish_block(sum, along, partial, channels);
}

// dγ, dβ, and dx = a·dz − b − curve·(x − μ).
extern "C" __global__ void norm_back_finish(const float *partial, int blocks, int rows, int channels,
                                            int own, const float *scale, const float *inverse,
                                            float *dscale, float *dshift, float *a, float *b,
                                            float *curve) {
    int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (c >= channels) return;
    float sum, along;
    finish_all(partial, blocks, channels, c, &sum, &along);
    if (threadIdx.x % 32) return;
    float s = inverse[c];
    dshift[c] = sum;
    dscale[c] = along * s;
    a[c] = scale[c] * s;
    b[c] = own ? a[c] * sum / rows : 0.0f;
    curve[c] = own ? a[c] * s * s * along / rows : 0.0f;
}

// dx, and the residual's dr (+)= dz where there is one. One thread eight channels.
extern "C" __global__ void norm_back(const act *x, const act *y, const act *dy, const float *mean,
                                     const float *a, const float *b, const float *curve, int relu,
                                     int add, int add_residual, long long eights, int channels,
                                     act *dx, act *dresidual) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= eights) return;
    int c0 = (int)(at * 8 % channels);
    act8 in = ((const act8 *)x)[at], out, back = ((const act8 *)dy)[at], to, more;
    if (relu) out = ((const act8 *)y)[at];
    if (add) to = ((const act8 *)dx)[at];
    if (dresidual && add_residual) more = ((const act8 *)dresidual)[at];
    for (int k = 0; k < 8; ++k) {
        int c = c0 + k;
        float dz = relu && !(up(out.v[k]) > 0.0f) ? 0.0f : up(back.v[k]);
        float d = fmaf(a[c], dz, -b[c]) - curve[c] * (up(in.v[k]) - mean[c]);
        to.v[k] = down(add ? up(to.v[k]) + d : d);
        if (dresidual) more.v[k] = down(add_residual ? up(more.v[k]) + dz : dz);
    }
    ((act8 *)dx)[at] = to;
    if (dresidual) ((act8 *)dresidual)[at] = more;
}
