// Convolutions of f32 with nearly its accuracy, on the bfloat16 units of GPUs of compute capability 8.0 and
// later: forward, back to the input, and the gradient of the weights. A factor is taken apart when it is read
// from shared memory, x = hi + lo with hi = bf16(x) and lo = bf16(x − hi), and a product is three,
// x·w ≈ lo·hi + hi·lo + hi·hi: what is left out is about 2⁻¹⁷ of it.
//
// All are matrix products of 128 × 64 or 128 × 128 per block, 32 numbers deep at a time; a warp does 64 × 32. The
// units cut what they add instead of rounding it, always towards zero, so their sums are short: after 128
// numbers they are added to sums that round.
//
// Channels are multiples of eight, and steps are powers of two.

#define ROWS 128
#define DEEP 32
// How often sums are moved to those that round, in chunks of DEEP.
#define SHORT 4

// The sizes of a convolution: x is count × height × width × inputs, y count × out_height × out_width × outputs,
// W outputs × kernel × kernel × inputs; the step is 2^shift.
struct Conv {
    int count, height, width, inputs, outputs, kernel, shift, out_height, out_width;
};

// Tests on the CPU have these of their own.
#ifdef __CUDA_ARCH__
// Two chunks of both factors.
extern __shared__ __align__(16) float room[];

// Copies 16 bytes to shared memory, or zeros if they are not `there`.
__device__ __forceinline__ void load16(float *to, const float *from, bool there) {
    u32 at = (u32)__cvta_generic_to_shared(to), bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait_for_loads() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// Two numbers as bfloat16, the first in the lower half.
__device__ __forceinline__ u32 pack(float low, float high) {
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
// sums += a·b, 16 × 16 times 16 × 8, by a warp.
__device__ __forceinline__ void multiply_add(float (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

// A factor lies in shared memory either as rows, [row][deep], or as columns, [deep][row]. Both are swizzled, so
// that the threads of a warp read from different banks. Places of four numbers that lie together:
__device__ __forceinline__ int in_rows(int row, int four) { return row * DEEP + (four ^ (row & 1) << 2) * 4; }
template <int WIDE> __device__ __forceinline__ int in_columns(int deep, int row) {
    return deep * WIDE + (row ^ (deep >> 2 & 3) << 3);
}

// Four numbers of a row that a thread has of 16: those from 4 · (lane mod 4) on. Which of the 16 they are does
// not matter, as long as both factors have the same.
template <bool COLUMNS, int WIDE>
__device__ __forceinline__ void four(const float *from, int row, int half, float (&to)[4]) {
    int own = half * 4 + threadIdx.x % 4;
    if (COLUMNS) {
#pragma unroll
        for (int k = 0; k < 4; ++k) to[k] = from[in_columns<WIDE>(own * 4 + k, row)];
    } else {
        float4 all = *(const float4 *)(from + in_rows(row, own));
        to[0] = all.x; to[1] = all.y; to[2] = all.z; to[3] = all.w;
    }
}

__device__ __forceinline__ void split(float x, float y, u32 &hi, u32 &lo) {
    hi = pack(x, y);
    lo = pack(x - __uint_as_float(hi << 16), y - __uint_as_float(hi & 0xffff0000u));
}

// sums += a·b over a chunk.
template <bool A_COLUMNS, bool B_COLUMNS, int COLS>
__device__ __forceinline__ void multiply(const float *a, const float *b, float (&sums)[4][4][4]) {
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4;
    int row = warp % 2 * 64 + group, col = warp / 2 * 32 + group;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        u32 a_hi[4][4], a_lo[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float upper[4], lower[4];
            four<A_COLUMNS, ROWS>(a, row + 16 * i, half, upper);
            four<A_COLUMNS, ROWS>(a, row + 16 * i + 8, half, lower);
            split(upper[0], upper[1], a_hi[i][0], a_lo[i][0]);
            split(lower[0], lower[1], a_hi[i][1], a_lo[i][1]);
            split(upper[2], upper[3], a_hi[i][2], a_lo[i][2]);
            split(lower[2], lower[3], a_hi[i][3], a_lo[i][3]);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            float numbers[4];
            u32 b_hi[2], b_lo[2];
            four<B_COLUMNS, COLS>(b, col + 8 * j, half, numbers);
            split(numbers[0], numbers[1], b_hi[0], b_lo[0]);
            split(numbers[2], numbers[3], b_hi[1], b_lo[1]);
#pragma unroll
            for (int i = 0; i < 4; ++i) multiply_add(sums[i][j], a_lo[i], b_hi);
#pragma unroll
            for (int i = 0; i < 4; ++i) multiply_add(sums[i][j], a_hi[i], b_lo);
#pragma unroll
            for (int i = 0; i < 4; ++i) multiply_add(sums[i][j], a_hi[i], b_hi);
        }
    }
}

// The product of a block over chunks from 0 on; `load(chunk, a, b)` brings one to shared memory.
template <bool A_COLUMNS, bool B_COLUMNS, int COLS, class Load>
__device__ __forceinline__ void product(int chunks, Load load, float (&total)[4][4][4]) {
    float sums[4][4][4] = {};
    if (chunks > 0) load(0, room, room + ROWS * DEEP);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        wait_for_loads();
        __syncthreads();
        float *own = room + chunk % 2 * (ROWS + COLS) * DEEP, *next = room + (chunk + 1) % 2 * (ROWS + COLS) * DEEP;
        if (chunk + 1 < chunks) load(chunk + 1, next, next + ROWS * DEEP);
        multiply<A_COLUMNS, B_COLUMNS, COLS>(own, own + ROWS * DEEP, sums);
        if (chunk % SHORT == SHORT - 1 || chunk + 1 == chunks) {
#pragma unroll
            for (int at = 0; at < 64; ++at) {
                float &sum = sums[at / 16][at / 4 % 4][at % 4];
                total[at / 16][at / 4 % 4][at % 4] += sum;
                sum = 0.0f;
            }
        }
    }
}

// A pixel of the result. On the way back, pixels come in the order of their remainders by the step: the taps
// that reach a pixel depend on these, and most blocks have pixels of one kind.
struct Pixel { int n, y, x; };
__device__ __forceinline__ Pixel pixel(int at, int kind, int height, int width, int shift) {
    int step = 1 << shift, high = (height + step - 1) >> shift, wide = (width + step - 1) >> shift;
    int x = at % wide, y = at / wide % high;
    return {at / wide / high, (y << shift) + (kind >> shift), (x << shift) + (kind & (step - 1))};
}

// y (+)= x∗W, or BACK from the gradient at y, `x`, to that at x, `y`. A chunk is of one tap and 32 channels; the
// taps of some channels follow each other, so that what they have in common is near.
template <bool BACK, int COLS>
__device__ __forceinline__ void convolve(Conv of, const float *x, const float *w, int add, float *y) {
    int height = BACK ? of.out_height : of.height, width = BACK ? of.out_width : of.width;
    int channels = BACK ? of.outputs : of.inputs, to_channels = BACK ? of.inputs : of.outputs;
    int to_height = BACK ? of.height : of.out_height, to_width = BACK ? of.width : of.out_width;
    int shift = BACK ? of.shift : 0, step = 1 << shift, pad = of.kernel / 2;
    int of_kind = of.count * ((to_height + step - 1) >> shift) * ((to_width + step - 1) >> shift);
    int pixels = of_kind << 2 * shift, columns = (to_channels + COLS - 1) / COLS;
    int first = blockIdx.x / columns * ROWS, col = blockIdx.x % columns * COLS;

    // The taps of the block.
    int tap_y = 0, tap_x = 0, by = 1, kind = first / of_kind;
    if (BACK && (min(first + ROWS, pixels) - 1) / of_kind == kind) {
        by = step;
        tap_y = ((kind >> shift) + pad) & (step - 1);
        tap_x = (kind + pad) & (step - 1);
    }
    int across = (of.kernel - tap_x + by - 1) / by, taps = across * ((of.kernel - tap_y + by - 1) / by);

    // The pixels whose numbers this thread loads: where they lie, but for the tap.
    int four = threadIdx.x % 8;
    constexpr int LINES = 2 * COLS / 8, LOADS = ROWS / LINES;
    int base[LOADS], at_y[LOADS], at_x[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        int at = first + threadIdx.x / 8 + LINES * i, own = at / of_kind;
        Pixel to = pixel(at - own * of_kind, own, to_height, to_width, shift);
        bool there = at < pixels && to.y < to_height && to.x < to_width;
        base[i] = to.n * height * width;
        at_y[i] = there ? (BACK ? to.y + pad : (to.y << of.shift) - pad) : -(1 << 20);
        at_x[i] = BACK ? to.x + pad : (to.x << of.shift) - pad;
    }

    auto load = [&](int chunk, float *a, float *b) {
        int tap = chunk % taps, from = chunk / taps * DEEP, c = from + four * 4;
        int ky = tap_y + tap / across * by, kx = tap_x + tap % across * by, place = ky * of.kernel + kx;
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            int y_at = BACK ? at_y[i] - ky : at_y[i] + ky, x_at = BACK ? at_x[i] - kx : at_x[i] + kx;
            bool inside = c < channels && y_at >= 0 && x_at >= 0;
            if (BACK) {
                inside = inside && ((y_at | x_at) & (step - 1)) == 0;
                y_at >>= shift;
                x_at >>= shift;
            }
            inside = inside && y_at < height && x_at < width;
            size_t at = inside ? (size_t)(base[i] + y_at * width + x_at) * channels + c : 0;
            load16(a + in_rows(threadIdx.x / 8 + LINES * i, four), x + at, inside);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (BACK) {
                int deep = threadIdx.x / (COLS / 4) + 8 * i, to = threadIdx.x % (COLS / 4) * 4;
                bool inside = from + deep < channels && col + to < to_channels;
                size_t at = ((size_t)(from + deep) * of.kernel * of.kernel + place) * to_channels + col + to;
                load16(b + in_columns<COLS>(deep, to), w + (inside ? at : 0), inside);
            } else {
                int row = threadIdx.x / 8 + LINES * i;
                bool inside = c < channels && col + row < to_channels;
                size_t at = ((size_t)(col + row) * of.kernel * of.kernel + place) * channels + c;
                load16(b + in_rows(row, four), w + (inside ? at : 0), inside);
            }
        }
    };
    float total[4][4][4] = {};
    product<false, BACK, COLS>((channels + DEEP - 1) / DEEP * taps, load, total);

    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        int at = first + warp % 2 * 64 + i * 8 + lane / 4, own = at / of_kind;
        Pixel to = pixel(at - own * of_kind, own, to_height, to_width, shift);
        if (at >= pixels || to.y >= to_height || to.x >= to_width) continue;
        float *row = y + (size_t)((to.n * to_height + to.y) * to_width + to.x) * to_channels;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int c = col + warp / 2 * 32 + j * 8 + lane % 4 * 2;
            if (c >= to_channels) continue;
            float2 sums = {total[i / 2][j][i % 2 * 2], total[i / 2][j][i % 2 * 2 + 1]};
            if (add) {
                float2 old = *(const float2 *)(row + c);
                sums = {old.x + sums.x, old.y + sums.y};
            }
            *(float2 *)(row + c) = sums;
        }
    }
}

// The gradient of the weights over so many chunks of 32 pixels, for every share of the pixels on its own:
// shares × outputs × kernel × kernel × inputs. Rows are taps and inputs, columns outputs.
template <int COLS>
__device__ __forceinline__ void weights(Conv of, const float *x, const float *dy, int chunks, float *partial) {
    int height = of.out_height, width = of.out_width, pad = of.kernel / 2;
    int pixels = of.count * height * width, rows = of.kernel * of.kernel * of.inputs;
    int high = (rows + ROWS - 1) / ROWS, tiles = high * ((of.outputs + COLS - 1) / COLS);
    int share = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    int first = tile % high * ROWS, col = tile / high * COLS;
    int from = share * chunks * DEEP, all = (pixels + DEEP - 1) / DEEP;
    chunks = min(chunks, all - share * chunks);

    // The tap and inputs that this thread loads, and the pixel that is next: every LINES-th one.
    constexpr int LINES = 2 * COLS / 32;
    int row = first + threadIdx.x % 32 * 4, tap = row / of.inputs, c = row - tap * of.inputs;
    int ky = tap / of.kernel - pad, kx = tap % of.kernel - pad;
    int at = from + threadIdx.x / 32, px = at % width, py = at / width % height, n = at / width / height;
    int by_x = LINES % width, by_y = LINES / width % height, by_n = LINES / width / height;

    auto load = [&](int chunk, float *a, float *b) {
#pragma unroll
        for (int i = 0; i < DEEP / LINES; ++i) {
            int y_at = (py << of.shift) + ky, x_at = (px << of.shift) + kx;
            bool inside = row < rows && n < of.count && y_at >= 0 && x_at >= 0 && y_at < of.height && x_at < of.width;
            size_t place = inside ? (size_t)((n * of.height + y_at) * of.width + x_at) * of.inputs + c : 0;
            load16(a + in_columns<ROWS>(threadIdx.x / 32 + LINES * i, row - first), x + place, inside);
            px += by_x;
            py += by_y;
            n += by_n;
            if (px >= width) px -= width, py += 1;
            if (py >= height) py -= height, n += 1;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int deep = threadIdx.x / (COLS / 4) + 8 * i, to = threadIdx.x % (COLS / 4) * 4;
            int m = from + chunk * DEEP + deep;
            bool inside = m < pixels && col + to < of.outputs;
            size_t place = inside ? (size_t)m * of.outputs + col + to : 0;
            load16(b + in_columns<COLS>(deep, to), dy + place, inside);
        }
    };
    float total[4][4][4] = {};
    product<true, true, COLS>(chunks, load, total);

    float *out = partial + (size_t)share * of.outputs * rows;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int at = 0; at < 64; ++at) {
        int i = at / 16, j = at / 4 % 4, part = at % 4;
        int r = first + warp % 2 * 64 + i * 16 + lane / 4 + part / 2 * 8;
        int o = col + warp / 2 * 32 + j * 8 + lane % 4 * 2 + part % 2;
        if (r < rows && o < of.outputs) out[(size_t)o * rows + r] = total[i][j][part];
    }
}

// The kernels, for so many columns of a block.
#define KERNELS_OF(cols, blocks)                                                                         \
    extern "C" __global__ void __launch_bounds__(2 * cols, blocks)                                       \
    conv_forward_##cols(Conv of, const float *x, const float *w, int add, float *y) {                    \
        convolve<false, cols>(of, x, w, add, y);                                                         \
    }                                                                                                    \
    extern "C" __global__ void __launch_bounds__(2 * cols, blocks)                                       \
    conv_back_##cols(Conv of, const float *dy, const float *w, int add, float *dx) {                     \
        convolve<true, cols>(of, dy, w, add, dx);                                                        \
    }                                                                                                    \
    extern "C" __global__ void __launch_bounds__(2 * cols, blocks)                                       \
    conv_weights_##cols(Conv of, const float *x, const float *dy, int chunks, float *partial) {          \
        weights<cols>(of, x, dy, chunks, partial);                                                       \
    }
KERNELS_OF(64, 2)
KERNELS_OF(128, 1)

// dw (+)= the sum over shares.
extern "C" __global__ void conv_sum_weights(const float *partial, int shares, int len, int add, float *dw) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= len) return;
    float sum = add ? dw[at] : 0.0f;
#pragma unroll 8
    for (int share = 0; share < shares; ++share) sum += partial[(size_t)share * len + at];
    dw[at] = sum;
}
