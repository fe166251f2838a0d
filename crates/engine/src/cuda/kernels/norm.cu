// Batch normalization with the sum and the ReLU that may follow it. The twin of
// cpu/kernels/norm.rs, with its formulas. x is rows × channels (rows: examples and pixels).
//
// A thread keeps eight channels, with what it needs of them in registers, and goes over rows, a few
// of them in flight at a time: a block is groups of eight channels (x) by lines of rows (y).
//
// Sums over rows: every block sums a fixed stretch of rows into its own place, and the block that
// comes last adds the places in order and goes on with the totals. Which block that is does not
// matter, so the result is the same every time.

// Threads of a block that sums, and the most channels it does.
#define THREADS 512
// Threads of a block that goes over the rows once.
#define BLOCK (BF16 ? 128 : 256)
#define WIDEST 128
// Rows in flight in a thread.
#define AHEAD (16 / (int)sizeof(act))
#define EACH 4
#define EACH_BACK (AHEAD / 2)

// Adds two sums per channel over all threads of all blocks. In the last block to come, `total` is then
// both of them, [which][channel of this column of blocks], and the answer is true.
__device__ __forceinline__ bool all_sums(const float *sum, const float *other, float *partial,
                                         u32 *arrived, float *total) {
    __shared__ __align__(16) float shared[2 * THREADS * 8];
    __shared__ bool last;
    int groups = blockDim.x, lines = blockDim.y, width = groups * 8, columns = 2 * width;
    int me = threadIdx.y * groups + threadIdx.x;
    float4 *own = (float4 *)(shared + threadIdx.y * columns + threadIdx.x * 8);
    own[0] = {sum[0], sum[1], sum[2], sum[3]};
    own[1] = {sum[4], sum[5], sum[6], sum[7]};
    own[width / 4] = {other[0], other[1], other[2], other[3]};
    own[width / 4 + 1] = {other[4], other[5], other[6], other[7]};
    __syncthreads();
    int column = me % columns, part = me / columns, parts = THREADS / columns;
    float add = 0.0f;
    for (int line = part; line < lines; line += parts) add += shared[line * columns + column];
    __syncthreads();
    shared[me] = add;
    __syncthreads();
    float *places = partial + (size_t)blockIdx.y * gridDim.x * columns;
    if (part == 0) {
        for (int p = 1; p < parts; ++p) add += shared[p * columns + column];
        places[(size_t)blockIdx.x * columns + column] = add;
    }
    __threadfence();
    __syncthreads();
    if (me == 0) last = atomicAdd(arrived + blockIdx.y, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return false;
    __threadfence();
    int fours = columns / 4;
    column = me % fours, part = me / fours, parts = THREADS / fours;
    float4 sums = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 8
    for (int block = part; block < gridDim.x; block += parts) {
        float4 more = __ldcg((const float4 *)places + (size_t)block * fours + column);
        sums.x += more.x; sums.y += more.y; sums.z += more.z; sums.w += more.w;
    }
    ((float4 *)shared)[me] = sums;
    __syncthreads();
    if (me < columns) {
        add = 0.0f;
        for (int p = 0; p < parts; ++p) add += shared[p * columns + me];
        total[me] = add;
    }
    if (me == 0) arrived[blockIdx.y] = 0;
    __syncthreads();
    return true;
}

// Statistics of the batch, which also move the running ones (mean, then variance). Sums are of x less
// the running mean, which is near the mean, so that nothing cancels.
extern "C" __global__ void __launch_bounds__(THREADS)
norm_statistics(const act *x, int rows, int channels, int share, float epsilon, float momentum,
          const float *scale, const float *shift, float *statistics, float *vectors,
          float *partial, u32 *arrived) {
    __shared__ float total[2 * WIDEST];
    int c0 = (blockIdx.y * blockDim.x + threadIdx.x) * 8, lines = blockDim.y;
    float sum[8] = {0}, square[8] = {0};
    if (c0 < channels) {
        float center[8];
        load8(statistics + c0, center);
        int first = blockIdx.x * share, last = min(first + share, rows);
        const act *from = x + c0;
        for (int row = first + threadIdx.y; row < last; row += AHEAD * lines) {
            act8 in[AHEAD];
#pragma unroll
            for (int n = 0; n < AHEAD; ++n) {
                int at = row + n * lines;
                if (at < last) in[n] = *(const act8 *)(from + (size_t)at * channels);
            }
#pragma unroll
            for (int n = 0; n < AHEAD; ++n) {
                if (row + n * lines >= last) continue;
#pragma unroll
                for (int k = 0; k < 8; ++k) {
                    float d = to_f32(in[n].v[k]) - center[k];
                    sum[k] += d;
                    square[k] = fmaf(d, d, square[k]);
                }
            }
        }
    }
    allow_next_kernel();
    // What the last block needs at its end is asked for before all meet.
    int width = blockDim.x * 8, me = threadIdx.y * blockDim.x + threadIdx.x;
    int c = blockIdx.y * width + me;
    bool mine = me < width && c < channels;
    float center = mine ? statistics[c] : 0.0f, spread = mine ? statistics[channels + c] : 0.0f;
    float by = mine ? scale[c] : 0.0f, plus = mine ? shift[c] : 0.0f;
    if (!all_sums(sum, square, partial, arrived, total) || !mine) return;
    finish_statistics(total[me], total[width + me], rows, c, channels, epsilon, momentum, by, plus, center, spread,
                      statistics, vectors);
}

// The same from the running statistics, which stay; g and f of the backward pass are then zero.
extern "C" __global__ void norm_from_running(const float *statistics, int channels, float epsilon,
                                      const float *scale, const float *shift, float *vectors) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float s = rsqrtf(statistics[channels + c] + epsilon);
    store_norm(statistics[c], s, scale[c], shift[c], c, channels, vectors);
    vectors[4 * channels + c] = vectors[5 * channels + c] = 0.0f;
}

// y = a·x + b (+ r), then the ReLU; a NaN stays. Started early: a and b alone are of the kernel before, or x,
// too, where it is `fresh`. `mask`: a bit for each number, whether it is positive; none if it is 0.
extern "C" __global__ void __launch_bounds__(BLOCK, BF16 ? 6 : 1)
norm_apply(const act *x, const act *residual, const float *vectors, int relu, int fresh, int rows,
           int channels, act *y, u8 *mask) {
    int c0 = (blockIdx.y * blockDim.x + threadIdx.x) * 8;
    if (c0 >= channels) return;
    int first = blockIdx.x * blockDim.y * EACH + threadIdx.y;
    act8 in[EACH], more[EACH];
    if (fresh) wait_for_previous_kernel();
#pragma unroll
    for (int n = 0; n < EACH; ++n) {
        int row = first + n * blockDim.y;
        if (row >= rows) continue;
        in[n] = *(const act8 *)(x + (size_t)row * channels + c0);
        if (residual) more[n] = *(const act8 *)(residual + (size_t)row * channels + c0);
    }
    wait_for_previous_kernel();
    float a[8], b[8];
    load8(vectors + 2 * channels + c0, a);
    load8(vectors + 3 * channels + c0, b);
#pragma unroll
    for (int n = 0; n < EACH; ++n) {
        int row = first + n * blockDim.y;
        if (row >= rows) continue;
        act8 out;
        u32 passes = 0;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            float z = fmaf(a[k], to_f32(in[n].v[k]), b[k]);
            if (residual) z += to_f32(more[n].v[k]);
            if (relu && z <= 0.0f) z = 0.0f;
            out.v[k] = to_act(z);
            passes |= (u32)(to_f32(out.v[k]) > 0.0f) << k;
        }
        *(act8 *)(y + (size_t)row * channels + c0) = out;
        if (mask) mask[((size_t)row * channels + c0) / 8] = (u8)passes;
    }
}

// Where a gradient passes: everywhere; where a·x + b is positive, which needs no y; or where y is.
#define PASS_ALL 0
#define PASS_OWN 1
#define PASS_OUT 2

__device__ __forceinline__ float masked_gradient(int pass, float dy, float x, float y, float a, float b) {
    if (pass == PASS_OWN) return fmaf(a, x, b) > 0.0f ? dy : 0.0f;
    if (pass == PASS_OUT) return y > 0.0f ? dy : 0.0f;
    return dy;
}

// dγ and dβ from Σ dz·(x − μ) and Σ dz; and for dx = a·dz + g − f·x the vectors g and f, after those of
// the forward pass. With fixed statistics both are zero.
template <int PASS>
__device__ __forceinline__ void sum_gradients(const act *x, const act *y, const act *dy, int own, int rows,
                                       int channels, int share, float *vectors, float *dscale,
                                       float *dshift, float *partial, u32 *arrived) {
    __shared__ float total[2 * WIDEST];
    int c0 = (blockIdx.y * blockDim.x + threadIdx.x) * 8, lines = blockDim.y;
    float sum[8] = {0}, along[8] = {0};
    if (c0 < channels) {
        float mean[8], a[8] = {0}, b[8] = {0};
        load8(vectors + c0, mean);
        if (PASS == PASS_OWN) {
            load8(vectors + 2 * channels + c0, a);
            load8(vectors + 3 * channels + c0, b);
        }
        int first = blockIdx.x * share, last = min(first + share, rows);
        for (int row = first + threadIdx.y; row < last; row += AHEAD / 2 * lines) {
            act8 in[AHEAD / 2], out[AHEAD / 2], back[AHEAD / 2];
#pragma unroll
            for (int n = 0; n < AHEAD / 2; ++n) {
                size_t at = (size_t)(row + n * lines) * channels + c0;
                if (row + n * lines >= last) continue;
                in[n] = *(const act8 *)(x + at);
                back[n] = *(const act8 *)(dy + at);
                if (PASS == PASS_OUT) out[n] = *(const act8 *)(y + at);
            }
#pragma unroll
            for (int n = 0; n < AHEAD / 2; ++n) {
                if (row + n * lines >= last) continue;
#pragma unroll
                for (int k = 0; k < 8; ++k) {
                    float value = to_f32(in[n].v[k]);
                    float z = PASS == PASS_OUT ? to_f32(out[n].v[k]) : 0.0f;
                    float dz = masked_gradient(PASS, to_f32(back[n].v[k]), value, z, a[k], b[k]);
                    sum[k] += dz;
                    along[k] = fmaf(dz, value - mean[k], along[k]);
                }
            }
        }
    }
    allow_next_kernel();
    int width = blockDim.x * 8, me = threadIdx.y * blockDim.x + threadIdx.x;
    int c = blockIdx.y * width + me;
    bool mine = me < width && c < channels;
    float mu = mine ? vectors[c] : 0.0f, s = mine ? vectors[channels + c] : 0.0f;
    float by = mine ? vectors[2 * channels + c] : 0.0f;
    if (!all_sums(sum, along, partial, arrived, total) || !mine) return;
    finish_gradients(total[me], total[width + me], rows, c, channels, own, mu, s, by, vectors, dscale, dshift);
}

#define GRADIENTS(name, pass)                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                         \
    name(const act *x, const act *y, const act *dy, int own, int rows, int channels, int share,   \
         float *vectors, float *dscale, float *dshift, float *partial, u32 *arrived) {            \
        sum_gradients<pass>(x, y, dy, own, rows, channels, share, vectors, dscale, dshift, partial,      \
                     arrived);                                                                    \
    }
GRADIENTS(norm_gradients_no_relu, PASS_ALL)
GRADIENTS(norm_gradients_relu, PASS_OWN)
GRADIENTS(norm_gradients_relu_sum, PASS_OUT)

// dx (+)= a·dz + g − f·x, and the residual's dr (+)= dz where there is one. Blocks go from the last row
// to the first: what the sums read last may still be near. Started early: g and f alone are of the kernel
// before, so what is loaded from the activations waits for nothing, unless dy is `fresh`.
template <int PASS, int N, bool RESIDUAL, bool ADDS>
__device__ __forceinline__ void back(const act *x, const act *y, const act *dy,
                                     const float *vectors, int fresh, int add, int add_residual, int rows,
                                     int channels, act *dx, act *dresidual) {
    int c0 = (blockIdx.y * blockDim.x + threadIdx.x) * 8;
    if (c0 >= channels) return;
    int first = (gridDim.x - 1 - blockIdx.x) * blockDim.y * N + threadIdx.y;
    act8 in[N], out[N], grad[N], to[N], more[N];
    if (fresh) wait_for_previous_kernel();
#pragma unroll
    for (int n = 0; n < N; ++n) {
        int row = first + n * blockDim.y;
        size_t at = (size_t)row * channels + c0;
        if (row >= rows) continue;
        in[n] = *(const act8 *)(x + at);
        grad[n] = *(const act8 *)(dy + at);
        if (PASS == PASS_OUT) out[n] = *(const act8 *)(y + at);
        if (ADDS && add) to[n] = *(const act8 *)(dx + at);
        if (ADDS && RESIDUAL && add_residual) more[n] = *(const act8 *)(dresidual + at);
    }
    wait_for_previous_kernel();
    float a[8], b[8] = {0}, g[8], f[8];
    load8(vectors + 2 * channels + c0, a);
    if (PASS == PASS_OWN) load8(vectors + 3 * channels + c0, b);
    load8(vectors + 4 * channels + c0, g);
    load8(vectors + 5 * channels + c0, f);
#pragma unroll
    for (int n = 0; n < N; ++n) {
        int row = first + n * blockDim.y;
        size_t at = (size_t)row * channels + c0;
        if (row >= rows) continue;
        act8 dr;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            float value = to_f32(in[n].v[k]), z = PASS == PASS_OUT ? to_f32(out[n].v[k]) : 0.0f;
            float dz = masked_gradient(PASS, to_f32(grad[n].v[k]), value, z, a[k], b[k]);
            float d = fmaf(-f[k], value, fmaf(a[k], dz, g[k]));
            to[n].v[k] = to_act(ADDS && add ? to_f32(to[n].v[k]) + d : d);
            if (RESIDUAL) {
                dr.v[k] = to_act(ADDS && add_residual ? to_f32(more[n].v[k]) + dz : dz);
            }
        }
        *(act8 *)(dx + at) = to[n];
        if (RESIDUAL) *(act8 *)(dresidual + at) = dr;
    }
}

// The common cases with nothing to add to, and the others: 0, 1, 2 are those of PASS_*. `blocks`: how many fit on a
// processor; that of training by convolutions of ours and norm_apply fit beside one of those.
#define BACK(name, blocks, pass, n, residual, adds)                                               \
    extern "C" __global__ void __launch_bounds__(BLOCK, BF16 ? blocks : 2)                        \
    name(const act *x, const act *y, const act *dy, const float *vectors, int fresh, int add,     \
         int add_residual, int rows, int channels, act *dx, act *dresidual) {                     \
        back<pass, n, residual, adds>(x, y, dy, vectors, fresh, add, add_residual, rows,          \
                                      channels, dx, dresidual);                                   \
    }
BACK(norm_back_relu, 4, PASS_OWN, EACH_BACK, false, false)
BACK(norm_back_relu_sum, 4, PASS_OUT, EACH_BACK, true, false)
BACK(norm_back_no_relu, 6, PASS_ALL, EACH_BACK, false, false)
BACK(norm_back_relu_adds, 4, PASS_OWN, EACH_BACK, false, true)
BACK(norm_back_relu_sum_adds, 4, PASS_OUT, EACH_BACK, true, true)
BACK(norm_back_no_relu_adds, 4, PASS_ALL, EACH_BACK, false, true)
BACK(norm_back_no_relu_sum_adds, 4, PASS_ALL, EACH_BACK, true, true)

// Tangents, with statistics that do not move. `along`: the tangents of a and b.
extern "C" __global__ void norm_direction(const float *vectors, const float *tscale,
                                      const float *tshift, int channels, float *along) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float by = tscale[c] * vectors[channels + c];
    along[c] = by;
    along[channels + c] = tshift[c] - vectors[c] * by;
}

// ẏ = a·ẋ + ȧ·x + ḃ (+ ṙ), where y passes. One thread per eight channels.
extern "C" __global__ void norm_tangent(const act *x, const act *tx, const act *y,
                                        const act *tresidual, const float *vectors,
                                        const float *along, int relu, long long eights,
                                        int channels, act *ty) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= eights) return;
    int c0 = (int)(at * 8 % channels);
    float a[8], ta[8], tb[8];
    load8(vectors + 2 * channels + c0, a);
    load8(along + c0, ta);
    load8(along + channels + c0, tb);
    act8 in = ((const act8 *)x)[at], tin = ((const act8 *)tx)[at], out, more, to;
    if (relu) out = ((const act8 *)y)[at];
    if (tresidual) more = ((const act8 *)tresidual)[at];
    for (int k = 0; k < 8; ++k) {
        float t = fmaf(a[k], to_f32(tin.v[k]), fmaf(ta[k], to_f32(in.v[k]), tb[k]));
        if (tresidual) t += to_f32(more.v[k]);
        to.v[k] = to_act(relu && !(to_f32(out.v[k]) > 0.0f) ? 0.0f : t);
    }
    ((act8 *)ty)[at] = to;
}

// The tangents of dγ and dβ, from Σ dż·(x − μ) + dz·ẋ and Σ dż.
extern "C" __global__ void __launch_bounds__(THREADS)
norm_gradients_tangent(const act *x, const act *tx, const act *y, const act *dy, const act *tdy,
                    int relu, int rows, int channels, int share, const float *vectors,
                    float *dscale, float *dshift, float *partial, u32 *arrived) {
    __shared__ float total[2 * WIDEST];
    int c0 = (blockIdx.y * blockDim.x + threadIdx.x) * 8;
    float sum[8] = {0}, along[8] = {0};
    if (c0 < channels) {
        float mean[8];
        load8(vectors + c0, mean);
        int first = blockIdx.x * share, last = min(first + share, rows);
#pragma unroll 2
        for (int row = first + threadIdx.y; row < last; row += blockDim.y) {
            size_t at = (size_t)row * channels + c0;
            act8 in = *(const act8 *)(x + at), tin = *(const act8 *)(tx + at), out;
            act8 back = *(const act8 *)(dy + at), tback = *(const act8 *)(tdy + at);
            if (relu) out = *(const act8 *)(y + at);
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                if (relu && !(to_f32(out.v[k]) > 0.0f)) continue;
                float td = to_f32(tback.v[k]);
                sum[k] += td;
                along[k] = fmaf(td, to_f32(in.v[k]) - mean[k], along[k]);
                along[k] = fmaf(to_f32(back.v[k]), to_f32(tin.v[k]), along[k]);
            }
        }
    }
    if (!all_sums(sum, along, partial, arrived, total)) return;
    int width = blockDim.x * 8, me = threadIdx.y * blockDim.x + threadIdx.x;
    int c = blockIdx.y * width + me;
    if (me >= width || c >= channels) return;
    dshift[c] = total[me];
    dscale[c] = total[width + me] * vectors[channels + c];
}

// dẋ (+)= a·dż + ȧ·dz, and the residual's dṙ (+)= dż. One thread per eight channels.
extern "C" __global__ void norm_back_tangent(const act *y, const act *dy, const act *tdy,
                                             const float *vectors, const float *along, int relu,
                                             int add, int add_residual, long long eights,
                                             int channels, act *tdx, act *tdresidual) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= eights) return;
    int c0 = (int)(at * 8 % channels);
    float a[8], ta[8];
    load8(vectors + 2 * channels + c0, a);
    load8(along + c0, ta);
    act8 back = ((const act8 *)dy)[at], tback = ((const act8 *)tdy)[at], out, to, more;
    if (relu) out = ((const act8 *)y)[at];
    if (add) to = ((const act8 *)tdx)[at];
    if (tdresidual && add_residual) more = ((const act8 *)tdresidual)[at];
    for (int k = 0; k < 8; ++k) {
        bool passes = !relu || to_f32(out.v[k]) > 0.0f;
        float dz = passes ? to_f32(back.v[k]) : 0.0f, tdz = passes ? to_f32(tback.v[k]) : 0.0f;
        float d = fmaf(a[k], tdz, ta[k] * dz);
        to.v[k] = to_act(add ? to_f32(to.v[k]) + d : d);
        if (tdresidual) more.v[k] = to_act(add_residual ? to_f32(more.v[k]) + tdz : tdz);
    }
    ((act8 *)tdx)[at] = to;
    if (tdresidual) ((act8 *)tdresidual)[at] = more;
}
