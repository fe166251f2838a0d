// Pooling, linear layers, the cross-entropy, and what works on one number at a time. Small beside the
// convolutions; sums have a fixed order.

// The mean over pixels.
extern "C" __global__ void pool(const act *x, int count, int pixels, int channels, float *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * channels) return;
    int example = at / channels, c = at % channels;
    const act *from = x + (size_t)example * pixels * channels + c;
    float sum = 0.0f;
    for (int p = 0; p < pixels; ++p) sum += to_f32(from[(size_t)p * channels]);
    y[at] = sum / pixels;
}

extern "C" __global__ void pool_back(const float *dy, int count, int pixels, int channels, int add,
                                     act *dx) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)count * pixels * channels) return;
    int c = (int)(at % channels), example = (int)(at / channels / pixels);
    float d = dy[example * channels + c] / pixels;
    dx[at] = to_act(add ? to_f32(dx[at]) + d : d);
}

// Σ over a warp, for its first lane.
__device__ __forceinline__ float warp_sum(float value) {
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    return value;
}

// One output of x·W, by a warp; W is [in][out].
__device__ __forceinline__ float product(const float *x, const float *w, int inputs, int outputs,
                                         int o, int lane) {
    float sum = 0.0f;
    for (int i = lane; i < inputs; i += 32) sum = fmaf(x[i], w[(size_t)i * outputs + o], sum);
    return warp_sum(sum);
}

// y (+)= x·W (+ b), one warp per number.
extern "C" __global__ void linear(const float *x, const float *w, const float *bias, int count,
                                  int inputs, int outputs, int add, float *y) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (at >= count * outputs) return;
    int example = at / outputs, o = at % outputs;
    float sum = product(x + (size_t)example * inputs, w, inputs, outputs, o, lane);
    if (lane) return;
    if (bias) sum += bias[o];
    y[at] = add ? y[at] + sum : sum;
}

// dW (+)= xᵀ·dy, and db (+)= Σ dy where there is a place for it: one warp per number.
extern "C" __global__ void linear_back_weights(const float *x, const float *dy, int count,
                                               int inputs, int outputs, int add, float *dw,
                                               float *db) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (at >= (inputs + (db != 0)) * outputs) return;
    int i = at / outputs, o = at % outputs;
    float sum = 0.0f;
    for (int n = lane; n < count; n += 32) {
        sum = fmaf(i < inputs ? x[(size_t)n * inputs + i] : 1.0f, dy[n * outputs + o], sum);
    }
    sum = warp_sum(sum);
    if (lane) return;
    float *to = i < inputs ? dw + at : db + o;
    *to = add ? *to + sum : sum;
}

// dx (+)= dy·Wᵀ.
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

// The cross-entropy of one example and its gradient over `over` examples, from logits z.
__device__ __forceinline__ float example_loss(const float *z, const Goal &to, int width, int over,
                                              float *dz) {
    float top = z[0], total = 0.0f, expected = 0.0f;
    for (int k = 1; k < width; ++k) if (z[k] > top || z[k] != z[k]) top = z[k];
    for (int k = 0; k < width; ++k) total += expf(z[k] - top);
    for (int k = 0; k < width; ++k) {
        float p = wanted(to, k, width);
        dz[k] = (expf(z[k] - top) / total - p) / over;
        expected += p * (z[k] - top);
    }
    return logf(total) - expected;
}

// Cross-entropy, one thread per example.
extern "C" __global__ void cross_entropy(const float *z, const u16 *classes, const float *shares,
                                         const u32 *visits, const float *lambda,
                                         const u32 *partner, const int *step, int batch, int count,
                                         const int *over, int width, float *dz, float *losses) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    size_t first = (size_t)*step * batch, at = (size_t)place * width;
    Goal to = goal(classes, shares, visits, lambda, partner, *step, first, place);
    losses[first + place] = example_loss(z + at, to, width, over ? *over : count, dz + at);
}

// dż = q ⊙ (ż − Σ q·ż) over `over` examples, from logits z and their tangents.
extern "C" __global__ void cross_entropy_tangent(const float *z, const float *tz, const float *dz,
                                                 int count, const int *over, int width,
                                                 float *tdz) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    const float *own = z + (size_t)place * width, *along = tz + (size_t)place * width;
    float top = own[0], total = 0.0f, mean = 0.0f;
    for (int k = 1; k < width; ++k) top = fmaxf(top, own[k]);
    for (int k = 0; k < width; ++k) total += expf(own[k] - top);
    for (int k = 0; k < width; ++k) mean = fmaf(expf(own[k] - top) / total, along[k], mean);
    for (int k = 0; k < width; ++k) {
        float q = expf(own[k] - top) / total;
        tdz[(size_t)place * width + k] = q * (along[k] - mean) / *over;
    }
}

// The gradient at the logits of −ln softmax(z/T)[argmax z], up to the factor 1/T, T = moves[0]. The
// first of equal logits is the largest. One thread per example.
extern "C" __global__ void predicted_class_gradient(const float *z, const float *moves, int count, int width,
                                     float *dz) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    const float *own = z + (size_t)place * width;
    int top = 0;
    float total = 0.0f;
    for (int k = 1; k < width; ++k) if (own[k] > own[top]) top = k;
    for (int k = 0; k < width; ++k) total += expf((own[k] - own[top]) / moves[0]);
    for (int k = 0; k < width; ++k) {
        float q = expf((own[k] - own[top]) / moves[0]) / total;
        dz[(size_t)place * width + k] = k == top ? q - 1.0f : q;
    }
}

// The end of a network in training, one block per example: pooling, the last layer, the cross-entropy, and
// back to the gradient of the map. At most HEAD_CHANNELS channels and HEAD_CLASSES classes.
#define HEAD_CHANNELS 2048
#define HEAD_CLASSES 64
extern "C" __global__ void __launch_bounds__(256)
head_and_loss(const act *x, const float *w, const float *bias, const u16 *classes, const float *shares,
     const u32 *visits, const float *lambda, const u32 *partner, const int *step, int batch,
     int count, int pixels, int channels, int width, float *pooled, float *dz, float *losses,
     act *dx) {
    __shared__ float mean[HEAD_CHANNELS], z[HEAD_CLASSES], d[HEAD_CLASSES];
    int place = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const act *from = x + (size_t)place * pixels * channels;
    act *to = dx + (size_t)place * pixels * channels;
    for (int c0 = threadIdx.x * 8; c0 < channels; c0 += blockDim.x * 8) {
        float sum[8] = {0};
#pragma unroll 8
        for (int p = 0; p < pixels; ++p) {
            act8 eight = *(const act8 *)(from + (size_t)p * channels + c0);
            for (int k = 0; k < 8; ++k) sum[k] += to_f32(eight.v[k]);
        }
        for (int k = 0; k < 8; ++k) {
            mean[c0 + k] = sum[k] / pixels;
            pooled[(size_t)place * channels + c0 + k] = mean[c0 + k];
        }
    }
    __syncthreads();
    for (int o = warp; o < width; o += blockDim.x / 32) {
        float sum = product(mean, w, channels, width, o, lane);
        if (lane == 0) z[o] = sum + bias[o];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        size_t first = (size_t)*step * batch;
        Goal own = goal(classes, shares, visits, lambda, partner, *step, first, place);
        losses[first + place] = example_loss(z, own, width, count, d);
    }
    __syncthreads();
    if (threadIdx.x < width) dz[(size_t)place * width + threadIdx.x] = d[threadIdx.x];
    for (int c0 = threadIdx.x * 8; c0 < channels; c0 += blockDim.x * 8) {
        act8 eight;
        for (int k = 0; k < 8; ++k) {
            float sum = 0.0f;
            for (int o = 0; o < width; ++o) {
                sum = fmaf(d[o], w[(size_t)(c0 + k) * width + o], sum);
            }
            eight.v[k] = to_act(sum / pixels);
        }
        for (int p = 0; p < pixels; ++p) *(act8 *)(to + (size_t)p * channels + c0) = eight;
    }
}

// The numbers of a batch, to their place among all rows.
extern "C" __global__ void store_rows(const float *from, const int *step, int batch, int count,
                                   int width, float *to) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * width) return;
    to[(size_t)*step * batch * width + at] = from[at];
}

// Parameters from the host's order to the device's, and back.
extern "C" __global__ void scatter(const float *from, const u32 *map, int len, float *to) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) to[map[at]] = from[at];
}

extern "C" __global__ void gather(const float *from, const u32 *map, int len, float *to) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) to[at] = from[map[at]];
}

extern "C" __global__ void gelu(const float *x, int len, float *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) y[at] = x[at] * normcdff(x[at]);
}

// dx (+)= dy·g′(x): the backward pass, and with tangents the tangent pass.
extern "C" __global__ void gelu_back(const float *x, const float *dy, int len, int add, float *dx) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    float d = dy[at] * (normcdff(x[at]) + x[at] * 0.3989422804f * expf(-0.5f * x[at] * x[at]));
    dx[at] = add ? dx[at] + d : d;
}

// dẋ += dy·g″(x)·ẋ, g″ = φ·(2 − x²).
extern "C" __global__ void gelu_second_order(const float *x, const float *tx, const float *dy, int len,
                                     float *tdx) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    float density = 0.3989422804f * expf(-0.5f * x[at] * x[at]);
    tdx[at] += dy[at] * tx[at] * density * (2.0f - x[at] * x[at]);
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

extern "C" __global__ void relu(const act *x, int len, act *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) y[at] = to_act(to_f32(x[at]) <= 0.0f ? 0.0f : to_f32(x[at]));
}

// dx (+)= dy where y > 0: the backward pass, and with tangents the tangent pass.
extern "C" __global__ void relu_back(const act *y, const act *dy, int len, int add, act *dx) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    float d = to_f32(y[at]) > 0.0f ? to_f32(dy[at]) : 0.0f;
    dx[at] = to_act(add ? to_f32(dx[at]) + d : d);
}

// y = a + b.
extern "C" __global__ void add(const act *a, const act *b, int len, act *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) y[at] = to_act(to_f32(a[at]) + to_f32(b[at]));
}

// to (+)= from.
extern "C" __global__ void accumulate(const act *from, int len, int add, act *to) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) to[at] = add ? to_act(to_f32(to[at]) + to_f32(from[at])) : from[at];
}

// total += from, where `from` has the type of activations.
extern "C" __global__ void accumulate_in_f32(const act *from, int len, float *total) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < len) total[at] += to_f32(from[at]);
}
