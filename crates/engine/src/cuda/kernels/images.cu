// From rows of the data set to the images of a batch: moved, mirrored, normalized, mixed. The twin of
// cpu/batch.rs. Channels are padded with zeros to `padded`, a multiple of eight.

struct Shift { signed char down, right, flip, unused; };

__device__ __forceinline__ float pixel(const u8 *data, const float *table, u32 row, Shift s, int y,
                                       int x, int c, int height, int width, int channels) {
    int above = y - s.down, left = x - s.right;
    u8 byte = 0;
    if (above >= 0 && above < height && left >= 0 && left < width) {
        int column = s.flip ? width - 1 - left : left;
        byte = data[(((size_t)row * height + above) * width + column) * channels + c];
    }
    return table[c * 256 + byte];
}

// One thread per pixel. `shifts`, and `lambda` with `partner`, may be null.
extern "C" __global__ void gather_images(const u8 *data, const float *table, const u32 *visits,
                                    const Shift *shifts, const float *lambda, const u32 *partner,
                                    const int *step, int batch, int count, int height, int width,
                                    int channels, int padded, act *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * height * width) return;
    int x = at % width, y = at / width % height, place = at / (width * height);
    size_t first = (size_t)*step * batch;
    Shift none = {0, 0, 0, 0};
    u32 row = visits[first + place];
    Shift own = shifts ? shifts[first + place] : none;
    u32 other_row = row;
    Shift other = own;
    float share = 1.0f;
    if (lambda) {
        share = lambda[*step];
        u32 at_partner = partner[first + place];
        other_row = visits[first + at_partner];
        other = shifts ? shifts[first + at_partner] : none;
    }
    for (int c0 = 0; c0 < padded; c0 += 8) {
        act8 eight;
        for (int k = 0; k < 8; ++k) {
            int c = c0 + k;
            float value = 0.0f;
            if (c < channels) {
                value = pixel(data, table, row, own, y, x, c, height, width, channels);
                if (lambda) {
                    float mixed =
                        pixel(data, table, other_row, other, y, x, c, height, width, channels);
                    value = fmaf(1.0f - share, mixed, share * value);
                }
            }
            eight.v[k] = to_act(value);
        }
        *(act8 *)(out + (size_t)at * padded + c0) = eight;
    }
}

// Every `stride`-th pixel of every `stride`-th row. One thread per eight channels.
extern "C" __global__ void subsample(const act *x, int count, int height, int width, int channels,
                                int stride, act *y) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int groups = channels / 8, high = (height + stride - 1) / stride;
    int wide = (width + stride - 1) / stride;
    if (at >= (long long)count * high * wide * groups) return;
    int group = (int)(at % groups), column = (int)(at / groups % wide);
    long long line = at / groups / wide;
    long long from = (line / high * height + line % high * stride) * width + column * stride;
    ((act8 *)y)[at] = ((const act8 *)x)[from * groups + group];
}

// Every number by `moves[1]` against the sign of its gradient. Where that is 0 nothing moves, and so
// padding stays zero.
extern "C" __global__ void perturb(const act *dx, const float *moves, long long len, act *x) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    float d = to_f32(dx[at]);
    if (d > 0.0f) x[at] = to_act(to_f32(x[at]) - moves[1]);
    else if (d < 0.0f) x[at] = to_act(to_f32(x[at]) + moves[1]);
}

// The first `channels` of every pixel's `padded`, as f32. One thread per number.
extern "C" __global__ void unpad(const act *from, long long pixels, int channels, int padded,
                                 float *to) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= pixels * channels) return;
    to[at] = to_f32(from[at / channels * padded + at % channels]);
}

// Images as plain f32 vectors. One thread per number.
extern "C" __global__ void gather_flat_images(const u8 *data, const float *table, const u32 *visits,
                                         const Shift *shifts, const float *lambda,
                                         const u32 *partner, const int *step, int batch, int count,
                                         int height, int width, int channels, float *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int size = height * width * channels;
    if (at >= count * size) return;
    int place = at / size, c = at % channels, x = at / channels % width;
    int y = at / (channels * width) % height;
    size_t first = (size_t)*step * batch;
    Shift none = {0, 0, 0, 0};
    Shift own = shifts ? shifts[first + place] : none;
    float value =
        pixel(data, table, visits[first + place], own, y, x, c, height, width, channels);
    if (lambda) {
        u32 to = partner[first + place];
        Shift other = shifts ? shifts[first + to] : none;
        float mixed = pixel(data, table, visits[first + to], other, y, x, c, height, width, channels);
        value = fmaf(1.0f - lambda[*step], mixed, lambda[*step] * value);
    }
    out[at] = value;
}

extern "C" __global__ void gather_vectors(const float *data, const u32 *visits, const float *lambda,
                                   const u32 *partner, const int *step, int batch, int count,
                                   int size, float *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count * size) return;
    int place = at / size, k = at % size;
    size_t first = (size_t)*step * batch;
    float value = data[(size_t)visits[first + place] * size + k];
    if (lambda) {
        float mixed = data[(size_t)visits[first + partner[first + place]] * size + k];
        value = fmaf(1.0f - lambda[*step], mixed, lambda[*step] * value);
    }
    out[at] = value;
}
