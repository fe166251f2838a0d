// Pooling, linear layers, the loss, and what else works on plain f32 vectors. Small beside the
// convolutions, so plain: one thread a number, sums in a fixed order.

// The mean over pixels.
extern "C" __global__ void pool(const act *x, int count, int pixels, int channels, float *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * channels) return;
    int example = at / channels, c = at % channels;
    const act *from = x + (size_t)example * pixels * channels + c;
    float sum = 0.0f;
    for (int p = 0; p < pixels; ++p) sum += up(from[(size_t)p * channels]);
    y[at] = sum / pixels;
}

extern "C" __global__ void pool_back(const float *dy, int count, int pixels, int channels, int add,
                                     act *dx) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)count * pixels * channels) return;
    int c = (int)(at % channels), example = (int)(at / channels / pixels);
    float d = dy[example * channels + c] / pixels;
    dx[at] = down(add ? up(dx[at]) + d : d);
}

// y = x·W + b, one warp a number; W is [in][out].
extern "C" __global__ void linear(const float *x, const float *w, const float *bias, int count,
                                  int inputs, int outputs, float *y) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (at >= count * outputs) return;
    int example = at / outputs, o = at % outputs;
    float sum = 0.0f;
    for (int i = lane; i < inputs; i += 32) {
        sum = fmaf(x[(size_t)example * inputs + i], w[(size_t)i * outputs + o], sum);
    }
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) y[at] = sum + bias[o];
}

extern "C" __global__ void linear_back_weights(const float *x, const float *dy, int count,
                                               int inputs, int outputs, float *dw) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= inputs * outputs) return;
    int i = at / outputs, o = at % outputs;
    float sum = 0.0f;
    for (int n = 0; n < count; ++n) {
        sum = fmaf(x[(size_t)n * inputs + i], dy[n * outputs + o], sum);
    }
    dw[at] = sum;
}

extern "C" __global__ void linear_back_bias(const float *dy, int count, int outputs, float *db) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= outputs) return;
    float sum = 0.0f;
    for (int n = 0; n < count; ++n) sum += dy[n * outputs + o];
    db[o] = sum;
}

extern "C" __global__ void linear_back(const float *dy, const float *w, int count, int inputs,
                                       int outputs, int add, float *dx) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * inputs) return;
    int example = at / inputs, i = at % inputs;
    float sum = add ? dx[at] : 0.0f;
    for (int o = 0; o < outputs; ++o) {
        sum = fmaf(dy[example * outputs + o], w[(size_t)i * outputs + o], sum);
    }
    dx[at] = sum;
}

// Cross-entropy against λ·own + (1 − λ)·partner's target; one thread an example. Targets are by row
// of the data set: classes, or distributions where `shares` is not null.
extern "C" __global__ void cross_entropy(const float *z, const u16 *classes, const float *shares,
                                         const u32 *visits, const float *lambda,
                                         const u32 *partner, const int *step, int batch, int count,
                                         int width, float *dz, float *losses) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    size_t first = (size_t)*step * batch;
    u32 row = visits[first + place], other = row;
    float share = 1.0f;
    if (lambda) {
        share = lambda[*step];
        other = visits[first + partner[first + place]];
    }
    const float *own = z + (size_t)place * width;
    float top = own[0], total = 0.0f, expected = 0.0f;
    for (int k = 1; k < width; ++k) if (own[k] > top || own[k] != own[k]) top = own[k];
    for (int k = 0; k < width; ++k) total += expf(own[k] - top);
    for (int k = 0; k < width; ++k) {
        float p;
        if (shares) {
            p = share * shares[(size_t)row * width + k];
            if (lambda) p = fmaf(1.0f - share, shares[(size_t)other * width + k], p);
        } else {
            p = classes[row] == k ? share : 0.0f;
            if (lambda && classes[other] == k) p += 1.0f - share;
        }
        dz[(size_t)place * width + k] = (expf(own[k] - top) / total - p) / count;
        expected += p * (own[k] - top);
    }
    losses[first + place] = logf(total) - expected;
}

// The logits of a batch, to their place among all rows.
extern "C" __global__ void collect(const float *from, const int *step, int batch, int count,
                                   int width, float *to) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * width) return;
    to[(size_t)*step * batch * width + at] = from[at];
}

extern "C" __global__ void gelu(const float *x, int len, float *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) y[at] = x[at] * normcdff(x[at]);
}

extern "C" __global__ void gelu_back(const float *x, const float *dy, int len, int add, float *dx) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    float d = dy[at] * (normcdff(x[at]) + x[at] * 0.3989422804f * expf(-0.5f * x[at] * x[at]));
    dx[at] = add ? dx[at] + d : d;
}

// y = mask ⊙ x, and with dy and dx the backward pass; the mask is that of cpu/kernels/dropout.rs.
extern "C" __global__ void dropout(const float *x, int len, u32 threshold, const u64 *seed, u64 stream,
                                   const u64 *epoch, const int *step, u64 layer, int add, float *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    u64 c[4] = {(u64)(at / 16), *epoch, (u64)*step, layer};
    philox(*seed, stream, c);
    u32 bits = (u32)(c[at % 16 / 4] >> (16 * (at % 4))) & 0xffffu;
    u32 kept = threshold < 65535u ? threshold : 65535u;
    float value = bits < threshold ? 0.0f : x[at] * (65536.0f / (65536u - kept));
    y[at] = add ? y[at] + value : value;
}

extern "C" __global__ void relu_flat(const float *x, int len, float *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) y[at] = x[at] <= 0.0f ? 0.0f : x[at];
}

extern "C" __global__ void relu_flat_back(const float *y, const float *dy, int len, int add,
                                          float *dx) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    float d = y[at] > 0.0f ? dy[at] : 0.0f;
    dx[at] = add ? dx[at] + d : d;
}
