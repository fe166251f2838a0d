// The kernels for compute capability 9.0, run on the CPU and compared with their formulas: those of one size, CHANNELS.
// Factors are small whole numbers, so that sums are exact and results have to be the same to the last bit.

#include <algorithm>
#include "emulate.hpp"
#include "hopper.hpp"
#include "kernels.cu"
#include "compare.hpp"

// As hopper.rs has it: the pixels of a block, what shared memory they take, and tensors that are read in boxes.
struct Box {
    int columns, lines, images;
    int count() const { return columns * lines * images; }
    u32 bytes() const { return 128 * count(); }
    u32 bordered(int border) const {
        return (128 * (columns + border) * (lines + border) * images + 1023) / 1024 * 1024;
    }
    int blocks(int width, int count) const {
        return (count + images - 1) / images * (width / lines) * (width / columns);
    }
};
static u32 with_barriers(u32 bytes, u32 pairs) { return bytes + 16 * pairs + 1024; }

static TensorMap tensor(const act *at, const int (&sizes)[4], const long long (&strides)[3], const int (&box)[4],
                        const int (&every)[4]) {
    TensorMap map = {(const char *)at, {}, {2, strides[0], strides[1], strides[2]}, {}, {}, box[0] == 64};
    for (int n = 0; n < 4; ++n) map.sizes[n] = sizes[n], map.box[n] = box[n], map.every[n] = every[n];
    return map;
}
static TensorMap images_map(const act *at, int channels, int width, int every, int count, Box box, int border) {
    long long pixel = 2 * channels, line = pixel * width, image = line * width;
    int read = std::min(channels, 64), wide = every * (box.columns + border), high = every * (box.lines + border);
    if (box.columns < 8)
        return tensor(at, {channels, count, width, width}, {image, pixel, line}, {read, box.images, wide, high},
                      {1, 1, every, every});
    return tensor(at, {channels, width, count, width}, {pixel, image, line}, {read, wide, box.images, high},
                  {1, every, 1, every});
}
static TensorMap weights_map(const act *at, int inputs, int outputs, int kernel, int rows) {
    long long tap = 2 * inputs;
    return tensor(at, {inputs, outputs, kernel, kernel}, {kernel * kernel * tap, tap, kernel * tap}, {64, rows, 1, 1},
                  {1, 1, 1, 1});
}

// Convolutions by their definition; images are examples × lines × columns × channels, weights outputs × taps ×
// inputs.
struct Layer {
    int count, width, inputs, outputs, kernel, stride;
    int taps() const { return kernel * kernel; }
    int out() const { return width / stride; }
    size_t read() const { return (size_t)count * width * width; }
    size_t results() const { return (size_t)count * out() * out(); }
    size_t weights() const { return (size_t)outputs * taps() * inputs; }

    // All pairs of pixels with the tap that joins them.
    template <class Of> void each_tap(const Of &of) const {
        int side = out(), border = kernel / 2;
        for (int n = 0; n < count; ++n)
            for (int y = 0; y < side; ++y)
                for (int x = 0; x < side; ++x)
                    for (int tap = 0; tap < taps(); ++tap) {
                        int line = y * stride + tap / kernel - border, column = x * stride + tap % kernel - border;
                        if (line < 0 || column < 0 || line >= width || column >= width) continue;
                        of(((size_t)n * width + line) * width + column, ((size_t)n * side + y) * side + x, tap);
                    }
    }
    template <class T> std::vector<T> forward(const std::vector<T> &x, const std::vector<T> &w) const {
        std::vector<T> y(results() * outputs), turned(w.size());
        for (int o = 0; o < outputs; ++o)
            for (size_t k = 0, all = taps() * inputs; k < all; ++k) turned[k * outputs + o] = w[o * all + k];
        each_tap([&](size_t from, size_t to, int tap) {
            for (int i = 0; i < inputs; ++i) {
                T by = x[from * inputs + i], *sum = &y[to * outputs];
                const T *row = &turned[(size_t)(tap * inputs + i) * outputs];
                if (by != 0)
                    for (int o = 0; o < outputs; ++o) sum[o] += by * row[o];
            }
        });
        return y;
    }
    template <class T> std::vector<T> back(const std::vector<T> &dy, const std::vector<T> &w) const {
        std::vector<T> dx(read() * inputs);
        each_tap([&](size_t to, size_t from, int tap) {
            for (int o = 0; o < outputs; ++o) {
                T by = dy[from * outputs + o], *sum = &dx[to * inputs];
                const T *row = &w[((size_t)o * taps() + tap) * inputs];
                if (by != 0)
                    for (int i = 0; i < inputs; ++i) sum[i] += by * row[i];
            }
        });
        return dx;
    }
    template <class T> std::vector<T> of_weights(const std::vector<T> &x, const std::vector<T> &dy) const {
        std::vector<T> dw(weights());
        each_tap([&](size_t in, size_t out, int tap) {
            for (int o = 0; o < outputs; ++o) {
                T by = dy[out * outputs + o], *sum = &dw[((size_t)o * taps() + tap) * inputs];
                const T *row = &x[in * inputs];
                if (by != 0)
                    for (int i = 0; i < inputs; ++i) sum[i] += by * row[i];
            }
        });
        return dw;
    }
};

// Whole numbers of at most this size, half of them zero.
static std::vector<float> whole(size_t n, int most) {
    std::vector<float> all(n);
    for (auto &x : all) {
        float by = next();
        x = next() < 0 ? 0 : std::round(by * (most + 0.4f));
    }
    return all;
}
static std::vector<act> rounded(const std::vector<float> &from) {
    std::vector<act> all;
    for (float x : from) all.push_back(to_act(x));
    return all;
}
static std::vector<float> unrounded(const std::vector<act> &from) {
    std::vector<float> all;
    for (act x : from) all.push_back(to_f32(x));
    return all;
}
static std::vector<double> doubles(const std::vector<float> &from) { return {from.begin(), from.end()}; }
// Nothing has been written yet.
static std::vector<act> nothing(size_t n) { return std::vector<act>(n, 0x7fff); }

static std::string name_of(const char *kernel, const char *what) { return std::string(kernel) + ": " + what; }
static void same(const char *kernel, const char *what, const std::vector<act> &found, const std::vector<act> &wanted) {
    check(name_of(kernel, what).c_str(), found, doubles(unrounded(wanted)), 0);
}

// What a norm has.
struct Norm {
    static constexpr float EPSILON = 1e-5f, MOMENTUM = 0.1f;
    int channels;
    std::vector<float> vectors, scale, shift, statistics, dscale, dshift, partial;
    std::vector<u32> arrived = std::vector<u32>(64, 0);
    explicit Norm(int channels) : channels(channels) {
        vectors = floats(6 * channels);
        for (int c = 0; c < channels; ++c) vectors[channels + c] += 2, vectors[2 * channels + c] *= 2;
        scale = floats(channels, 0.5f, 1);
        shift = floats(channels);
        statistics = floats(2 * channels, 1, 2);
        dscale = dshift = std::vector<float>(channels, NAN);
        partial = std::vector<float>(1 << 20, NAN);
    }
    After after(act *out) {
        After after = {};
        after.out = out;
        after.vectors = vectors.data();
        after.scale = scale.data();
        after.shift = shift.data();
        after.dscale = dscale.data();
        after.dshift = dshift.data();
        after.partial = partial.data();
        after.arrived = arrived.data();
        after.epsilon = EPSILON;
        after.momentum = MOMENTUM;
        return after;
    }
    void check_arrived(const char *kernel) {
        check(name_of(kernel, "counters are zero again").c_str(), arrived, std::vector<double>(arrived.size(), 0), 0);
    }
    // Statistics of a result that is this.
    void check_statistics(const char *kernel, const Norm &before, const std::vector<act> &out) {
        size_t rows = out.size() / channels;
        std::vector<double> sum(channels), square(channels), new_vectors(4 * channels), moved(2 * channels);
        for (size_t n = 0; n < out.size(); ++n) sum[n % channels] += to_f32(out[n]);
        for (size_t n = 0; n < out.size(); ++n) {
            double off = to_f32(out[n]) - sum[n % channels] / rows;
            square[n % channels] += off * off;
        }
        for (int c = 0; c < channels; ++c) {
            double mean = sum[c] / rows, variance = square[c] / rows, s = 1 / std::sqrt(variance + EPSILON);
            new_vectors[c] = mean;
            new_vectors[channels + c] = s;
            new_vectors[2 * channels + c] = before.scale[c] * s;
            new_vectors[3 * channels + c] = before.shift[c] - mean * before.scale[c] * s;
            moved[c] = (1 - MOMENTUM) * before.statistics[c] + MOMENTUM * mean;
            moved[channels + c] =
                (1 - MOMENTUM) * before.statistics[channels + c] + MOMENTUM * variance * rows / (rows - 1);
        }
        auto part = [&](int n) {
            return std::vector<float>(vectors.begin() + n * channels, vectors.begin() + (n + 1) * channels);
        };
        const char *names[] = {"mean", "inverse deviation", "a", "b"};
        for (int n = 0; n < 4; ++n) {
            std::vector<double> wanted(new_vectors.begin() + n * channels, new_vectors.begin() + (n + 1) * channels);
            check(name_of(kernel, names[n]).c_str(), part(n), wanted, 1e-5);
        }
        check(name_of(kernel, "running statistics").c_str(), statistics, moved, 1e-5);
        check_arrived(kernel);
    }
    // Gradients where what goes back to its output is this, and x its input.
    void check_gradients(const char *kernel, const Norm &before, const std::vector<act> &out, const std::vector<act> &x,
                         bool own) {
        double rows = out.size() / channels;
        std::vector<double> sum(channels), along(channels), g(channels), f(channels);
        for (size_t n = 0; n < out.size(); ++n) {
            int c = n % channels;
            sum[c] += to_f32(out[n]);
            along[c] += (double)to_f32(out[n]) * ((double)to_f32(x[n]) - before.vectors[c]);
        }
        for (int c = 0; c < channels; ++c) {
            double mean = before.vectors[c], s = before.vectors[channels + c], a = before.vectors[2 * channels + c];
            f[c] = own ? a * s * s * along[c] / rows : 0;
            g[c] = own ? f[c] * mean - a * sum[c] / rows : 0;
            along[c] *= s;
        }
        std::vector<float> new_g(vectors.begin() + 4 * channels, vectors.begin() + 5 * channels);
        std::vector<float> new_f(vectors.begin() + 5 * channels, vectors.end());
        check(name_of(kernel, "gradient of the shift").c_str(), dshift, sum, 1e-5);
        check(name_of(kernel, "gradient of the scale").c_str(), dscale, along, 1e-5);
        check(name_of(kernel, "g").c_str(), new_g, g, 1e-5);
        check(name_of(kernel, "f").c_str(), new_f, f, 1e-5);
        check_arrived(kernel);
    }
};

// A convolution with the norm behind it applied: the result, and what is wanted of it.
static std::vector<act> normed(const std::vector<act> &result, const Norm &norm, const std::vector<act> *more,
                               bool relu) {
    std::vector<act> all;
    int channels = norm.channels;
    for (size_t n = 0; n < result.size(); ++n) {
        int c = n % channels;
        float z = fmaf(norm.vectors[2 * channels + c], to_f32(result[n]), norm.vectors[3 * channels + c]);
        if (more) z += to_f32((*more)[n]);
        all.push_back(to_act(relu && z <= 0 ? 0 : z));
    }
    return all;
}
// A result that has gone back: where its gradient passes, after `old` was added.
template <class Passes>
static std::vector<act> passed(const std::vector<act> &result, const std::vector<act> *old, const Passes &passes) {
    std::vector<act> all;
    for (size_t n = 0; n < result.size(); ++n) {
        act sum = old ? to_act(to_f32(result[n]) + to_f32((*old)[n])) : result[n];
        all.push_back(passes(n) ? sum : to_act(0.0f));
    }
    return all;
}
static std::vector<u8> bits(size_t n) {
    std::vector<u8> all(n / 8);
    for (auto &byte : all) byte = (u8)(int)((next() + 1) * 127);
    return all;
}

#if CHANNELS >= 64
#define JOINED(a, b, c) a##b##c
#define NAME(a, b, c) JOINED(a, b, c)
#define KERNEL(family, way) NAME(family, CHANNELS, way)
#define TEXT(a) #a
#define TEXT_OF(a) TEXT(a)

// The numbers at the end of conv.cu: of each size, pixels of a block, room for chunks of images and taps of weights, of
// the weights' gradient pixels and stages. The same of parts.cu, and of stride.cu forward and back. Then batches, and
// blocks that share one.
#if CHANNELS == 64
static const int WIDTH = 32;
static const Box PIXELS = {8, 16, 1}, OF_WEIGHTS = {32, 4, 1}, BY_PARTS = {8, 32, 1};
static const u32 ROOM[2] = {4, 9}, STAGES = 4;
static const int COUNT = 3, BLOCKS = 5, COUNT_OF_WEIGHTS = 3, SPLITS[] = {2, 4, 32}, COUNT_BY_PARTS = 3;
#elif CHANNELS == 128
static const int WIDTH = 16;
static const Box PIXELS = {8, 16, 1}, OF_WEIGHTS = {16, 8, 1}, BY_PARTS = {8, 16, 2};
static const u32 ROOM[2] = {2, 18}, STAGES = 4;
static const int COUNT = 5, BLOCKS = 3, COUNT_OF_WEIGHTS = 6, SPLITS[] = {2, 32}, COUNT_BY_PARTS = 7;
#define STRIDE 1
static const Box FORWARD_PIXELS = {16, 16, 1}, BACK_PIXELS = {16, 8, 1}, STRIDED_WEIGHTS = {16, 4, 1};
static const u32 FORWARD_ROOM[2] = {3, 10}, BACK_ROOM[2] = {2, 13}, STRIDED_STAGES = 3;
static const int STRIDED_COUNT = 5, FORWARD_BLOCKS = 2, BACK_BLOCKS = 3, STRIDED_SPLITS[] = {2, 4, 32};
#elif CHANNELS == 256
static const int WIDTH = 8;
static const Box PIXELS = {8, 8, 4}, OF_WEIGHTS = {8, 8, 2}, BY_PARTS = {8, 8, 4};
static const u32 ROOM[2] = {2, 14}, STAGES = 4;
static const int COUNT = 16, BLOCKS = 2, COUNT_OF_WEIGHTS = 20, SPLITS[] = {2, 8}, COUNT_BY_PARTS = 11;
#define STRIDE 1
static const Box FORWARD_PIXELS = {8, 8, 4}, BACK_PIXELS = {8, 8, 2}, STRIDED_WEIGHTS = {8, 8, 1};
static const u32 FORWARD_ROOM[2] = {2, 12}, BACK_ROOM[2] = {2, 13}, STRIDED_STAGES = 3;
static const int STRIDED_COUNT = 12, FORWARD_BLOCKS = 2, BACK_BLOCKS = 4, STRIDED_SPLITS[] = {2, 4};
#elif CHANNELS == 512
static const int WIDTH = 4;
static const Box PIXELS = {4, 2, 16}, OF_WEIGHTS = {4, 4, 8}, BY_PARTS = {4, 2, 16};
static const u32 ROOM[2] = {2, 14}, STAGES = 3;
static const int COUNT = 32, BLOCKS = 2, COUNT_OF_WEIGHTS = 64, SPLITS[] = {2}, COUNT_BY_PARTS = 17;
#define STRIDE 1
static const Box FORWARD_PIXELS = {4, 2, 16}, BACK_PIXELS = {4, 2, 16}, STRIDED_WEIGHTS = {4, 2, 8};
static const u32 FORWARD_ROOM[2] = {3, 12}, BACK_ROOM[2] = {2, 12}, STRIDED_STAGES = 2;
static const int STRIDED_COUNT = 32, FORWARD_BLOCKS = 3, BACK_BLOCKS = 3, STRIDED_SPLITS[] = {4};
#endif
static const int CHUNKS = CHANNELS / 64;

// Convolutions of stride 1, the ways that there are.
static void convolutions() {
    const bool kept = ROOM[1] == 9 * CHUNKS;
    Layer layer = {COUNT, WIDTH, CHANNELS, CHANNELS, 3, 1};
    auto x = whole(layer.read() * CHANNELS, 2), w = whole(layer.weights(), 2);
    auto x_acts = rounded(x), w_acts = rounded(w);
    TensorMap images = images_map(x_acts.data(), CHANNELS, WIDTH, 1, COUNT, PIXELS, 2);
    TensorMap weights = weights_map(w_acts.data(), CHANNELS, CHANNELS, 3, kept ? 64 : 32);
    u32 bytes = ROOM[0] * PIXELS.bordered(2) + ROOM[1] * 8192 + (kept ? 2 * PIXELS.bytes() : 0);
    bytes = with_barriers(bytes, ROOM[0] + ROOM[1]);
    auto run = [&](void (*kernel)(TensorMap, TensorMap, After, int), const After &after, int blocks) {
        run_hopper({(unsigned)blocks, CHUNKS}, 384, bytes, kept ? 1 : 2,
                   [&] { kernel(images, weights, after, COUNT); });
    };
    const int all = PIXELS.blocks(WIDTH, COUNT);
    auto forward = rounded(layer.forward(x, w)), back = rounded(layer.back(x, w));
    // Of the norm in front, the input; what is added; and where its output is positive.
    auto in = acts(forward.size(), 2), more = rounded(whole(forward.size(), 99));
    auto mask = bits(forward.size());
    for (int blocks : {BLOCKS, all}) {
        const char *name = "conv_" TEXT_OF(CHANNELS) "_forward";
        Norm norm(CHANNELS), before = norm;
        auto out = nothing(forward.size());
        After after = norm.after(out.data());
        // Without a norm behind it, nothing of one is touched.
        if (blocks == BLOCKS) after.statistics = norm.statistics.data();
        run(KERNEL(conv_, _forward), after, blocks);
        same(name, "result", out, forward);
        if (blocks == BLOCKS) norm.check_statistics(name, before, out);
    }
    for (int adds : {0, 1}) {
        const char *name = "conv_" TEXT_OF(CHANNELS) "_evaluate";
        Norm norm(CHANNELS);
        auto out = nothing(forward.size());
        After after = norm.after(out.data());
        after.add = adds;
        after.own = !adds;
        after.x = adds ? more.data() : nullptr;
        run(KERNEL(conv_, _evaluate), after, adds ? all : BLOCKS);
        same(name, adds ? "result, with a sum" : "result, with a ReLU", out,
             normed(forward, norm, adds ? &more : nullptr, !adds));
    }
    for (int own : {0, 1}) {
        const char *name = "conv_" TEXT_OF(CHANNELS) "_back_own";
        Norm norm(CHANNELS), before = norm;
        auto out = nothing(forward.size());
        After after = norm.after(out.data());
        after.x = in.data();
        after.own = own;
        run(KERNEL(conv_, _back_own), after, own ? BLOCKS : all);
        auto passes = [&](size_t n) {
            const float *a = &norm.vectors[2 * CHANNELS + n % CHANNELS];
            return fmaf(a[0], to_f32(in[n]), a[CHANNELS]) > 0;
        };
        same(name, "result", out, passed(back, nullptr, passes));
        norm.check_gradients(name, before, out, in, own);
    }
    for (int adds : {0, 1}) {
        const char *name = "conv_" TEXT_OF(CHANNELS) "_back_out";
        Norm norm(CHANNELS), before = norm;
        auto out = adds ? more : nothing(forward.size());
        After after = norm.after(out.data());
        after.x = in.data();
        after.mask = mask.data();
        after.own = after.add = adds;
        run(KERNEL(conv_, _back_out), after, adds ? BLOCKS : all);
        auto passes = [&](size_t n) { return mask[n / 8] >> n % 8 & 1; };
        same(name, adds ? "result, added" : "result", out, passed(back, adds ? &more : nullptr, passes));
        norm.check_gradients(name, before, out, in, adds);
    }
}

// The gradient of weights by both kernels, where so many blocks share the pixels.
static void weigh_both(void (*kernel)(TensorMap, TensorMap, TensorMap, Weights, float *, int),
                       void (*sum)(const float *, int, Weights), const TensorMap (&maps)[3], Weights to, int splits,
                       int sides, int taps, u32 bytes, int count) {
    const int pairs = splits / 2, kept = taps * 64 * 64 / 2;
    std::vector<float> partial(pairs == 1 ? 0 : (size_t)splits * sides * kept, NAN);
    run_hopper({(unsigned)splits, (unsigned)sides}, taps > 9 ? 512 : 416, bytes, 2,
               [&] { kernel(maps[0], maps[1], maps[2], to, partial.data(), count); });
    if (pairs == 1) return;
    const unsigned blocks = 2 * sides * kept / 4 / (256 / std::min(pairs, 8));
    run_hopper({blocks, 1}, 256, 0, 1, [&] { sum(partial.data(), pairs, to); });
}

static void gradients_of_weights() {
    const int count = COUNT_OF_WEIGHTS;
    Layer layer = {count, WIDTH, CHANNELS, CHANNELS, 3, 1};
    auto x = whole(layer.read() * CHANNELS, 2), dy = whole(layer.results() * CHANNELS, 2);
    auto x_acts = rounded(x), dy_acts = rounded(dy), wanted = rounded(layer.of_weights(x, dy));
    const TensorMap gradients = images_map(dy_acts.data(), CHANNELS, WIDTH, 1, count, OF_WEIGHTS, 0);
    const TensorMap images = images_map(x_acts.data(), CHANNELS, WIDTH, 1, count, OF_WEIGHTS, 2);
    const TensorMap maps[3] = {images, gradients, gradients};
    u32 bytes = with_barriers(STAGES * (OF_WEIGHTS.bordered(2) + OF_WEIGHTS.bytes()), STAGES);
    for (int splits : SPLITS) {
        auto dw = nothing(wanted.size());
        weigh_both(KERNEL(conv_, _weights), KERNEL(conv_, _sum_weights), maps, {{dw.data(), nullptr}}, splits,
                   CHUNKS * CHUNKS, 9, bytes, count);
        same("conv_" TEXT_OF(CHANNELS) "_weights", "result", dw, wanted);
    }
}

#if STRIDE
// Convolutions over every second pixel, with the 1×1 convolution beside them.
static void strided() {
    const int count = STRIDED_COUNT, inputs = CHANNELS / 2;
    Layer layer = {count, 2 * WIDTH, inputs, CHANNELS, 3, 2}, beside = {count, 2 * WIDTH, inputs, CHANNELS, 1, 2};
    auto x = whole(layer.read() * inputs, 2), w = whole(layer.weights(), 2), w_beside = whole(beside.weights(), 2);
    auto dy = whole(layer.results() * CHANNELS, 2), dy_beside = whole(layer.results() * CHANNELS, 2);
    auto x_acts = rounded(x), w_acts = rounded(w), w_beside_acts = rounded(w_beside);
    auto dy_acts = rounded(dy), dy_beside_acts = rounded(dy_beside);
    const TensorMap weights = weights_map(w_acts.data(), inputs, CHANNELS, 3, 64);
    const TensorMap weights_beside = weights_map(w_beside_acts.data(), inputs, CHANNELS, 1, 64);
    auto planes = [&](Box box) { return images_map(x_acts.data(), inputs, 2 * WIDTH, 2, count, box, 1); };
    auto result = [&](const std::vector<act> &of, Box box, int border) {
        return images_map(of.data(), CHANNELS, WIDTH, 1, count, box, border);
    };
    auto bytes = [](const u32 (&room)[2], Box box, u32 results) {
        return with_barriers(room[0] * box.bordered(1) + results * box.bytes() + room[1] * 8192, room[0] + room[1]);
    };
    auto y = rounded(layer.forward(x, w)), y_beside = rounded(beside.forward(x, w_beside));
    const TensorMap images = planes(FORWARD_PIXELS);
    for (int which = 0; which < 4; ++which) {
        // With statistics of both, of none, or of one.
        const char *name = "stride_" TEXT_OF(CHANNELS) "_forward";
        Norm one(CHANNELS), two(CHANNELS), before_one = one, before_two = two;
        auto out = nothing(y.size()), out_beside = nothing(y.size());
        After after = one.after(out.data()), after_beside = two.after(out_beside.data());
        if (which != 1) after.statistics = one.statistics.data();
        if (which == 0 || which == 3) after_beside.statistics = two.statistics.data();
        // They are counted at one place.
        after_beside.partial = after.partial;
        after_beside.arrived = after.arrived;
        const unsigned blocks = which ? FORWARD_PIXELS.blocks(WIDTH, count) : FORWARD_BLOCKS;
        run_hopper({blocks, CHUNKS}, 384, bytes(FORWARD_ROOM, FORWARD_PIXELS, 1), 1, [&] {
            KERNEL(stride_, _forward)(images, images, weights, weights_beside, after, after_beside, count);
        });
        same(name, "result", out, y);
        same(name, "result beside it", out_beside, y_beside);
        if (after.statistics) one.check_statistics(name, before_one, out);
        if (after_beside.statistics) two.check_statistics(name, before_two, out_beside);
    }
    for (int relu : {0, 1}) {
        const char *name = "stride_" TEXT_OF(CHANNELS) "_evaluate";
        Norm one(CHANNELS), two(CHANNELS);
        auto out = nothing(y.size()), out_beside = nothing(y.size());
        After after = one.after(out.data()), after_beside = two.after(out_beside.data());
        after.own = relu;
        run_hopper({(unsigned)FORWARD_BLOCKS, CHUNKS}, 384, bytes(FORWARD_ROOM, FORWARD_PIXELS, 1), 1, [&] {
            KERNEL(stride_, _evaluate)(images, images, weights, weights_beside, after, after_beside, count);
        });
        same(name, relu ? "result, with a ReLU" : "result", out, normed(y, one, nullptr, relu));
        same(name, "result beside it", out_beside, y_beside);
    }
    auto dx = layer.back(dy, w), more = beside.back(dy_beside, w_beside);
    for (size_t n = 0; n < dx.size(); ++n) dx[n] += more[n];
    auto in = acts(dx.size(), 2);
    auto mask = bits(dx.size());
    const TensorMap read = result(dy_acts, BACK_PIXELS, 1), read_beside = result(dy_beside_acts, BACK_PIXELS, 1);
    for (int own : {0, 1}) {
        const char *name = "stride_" TEXT_OF(CHANNELS) "_back";
        Norm norm(inputs), before = norm;
        auto out = nothing(dx.size());
        After after = norm.after(out.data());
        after.x = in.data();
        after.mask = mask.data();
        after.own = own;
        const unsigned blocks = own ? BACK_BLOCKS : BACK_PIXELS.blocks(WIDTH, count);
        run_hopper({blocks, CHUNKS / 2}, 384, bytes(BACK_ROOM, BACK_PIXELS, 4), 1, [&] {
            KERNEL(stride_, _back)(read, read_beside, weights, weights_beside, after, after, count);
        });
        auto passes = [&](size_t n) { return mask[n / 8] >> n % 8 & 1; };
        same(name, "result", out, passed(rounded(dx), nullptr, passes));
        norm.check_gradients(name, before, out, in, own);
    }
    auto dw = rounded(layer.of_weights(x, dy)), dw_beside = rounded(beside.of_weights(x, dy_beside));
    const Box box = STRIDED_WEIGHTS;
    const TensorMap maps[3] = {planes(box), result(dy_acts, box, 0), result(dy_beside_acts, box, 0)};
    u32 room = with_barriers(STRIDED_STAGES * (4 * box.bordered(1) + 2 * box.bytes()), STRIDED_STAGES);
    for (int splits : STRIDED_SPLITS) {
        auto out = nothing(dw.size()), out_beside = nothing(dw_beside.size());
        weigh_both(KERNEL(stride_, _weights), KERNEL(stride_, _sum_weights), maps, {{out.data(), out_beside.data()}},
                   splits, CHUNKS * CHUNKS / 2, 10, room, count);
        same("stride_" TEXT_OF(CHANNELS) "_weights", "result", out, dw);
        same("stride_" TEXT_OF(CHANNELS) "_weights", "result beside it", out_beside, dw_beside);
    }
}
#endif

// Numbers by parts: the upper ones, then what they leave.
struct Parts {
    std::vector<double> all;
    std::vector<act> parts;
    explicit Parts(const std::vector<float> &from) : parts(rounded(from)) {
        for (size_t n = 0; n < from.size(); ++n) parts.push_back(to_act(from[n] - to_f32(parts[n])));
        for (size_t n = 0, m = from.size(); n < m; ++n) all.push_back((double)to_f32(parts[n]) + to_f32(parts[m + n]));
    }
    const act *part(int which) const { return parts.data() + which * all.size(); }
};

static void taken_apart() {
    auto from = floats(8 * 300, 9);
    auto parts = nothing(2 * from.size());
    each(from.size() / 8, [&] { take_apart(from.data(), from.size() / 8, parts.data()); });
    same("take_apart", "parts", parts, Parts(from).parts);
}

// A sum of one convolution by parts or of two. That products of lower parts are left out is less than is looked for,
// those of lower and upper ones are about a thousandth.
static void by_parts() {
    const int count = COUNT_BY_PARTS;
    Layer layer = {count, WIDTH, CHANNELS, CHANNELS, 3, 1};
    auto two = [](size_t n) { return std::vector<Parts>{Parts(floats(n)), Parts(floats(n))}; };
    const auto xs = two(layer.read() * CHANNELS), ws = two(layer.weights()), dys = two(layer.results() * CHANNELS);
    auto sum_of = [](std::vector<double> to, const std::vector<double> &plus, double times) {
        to.resize(plus.size());
        for (size_t n = 0; n < plus.size(); ++n) to[n] += times * plus[n];
        return to;
    };
    const u32 bytes = with_barriers(2 * BY_PARTS.bordered(2) + 14 * 8192, 2 + 14);
    const int all = BY_PARTS.blocks(WIDTH, count), spare = BY_PARTS.images * WIDTH * WIDTH * CHANNELS;
    std::vector<double> y, dx;
    for (int source = 0; source < 2; ++source) {
        y = sum_of(y, layer.forward(xs[source].all, ws[source].all), 1);
        if (CHANNELS <= 128 || source == 0) dx = sum_of(dx, layer.back(dys[source].all, ws[source].all), 1);
        for (int back : {0, 1}) {
            // One way each where there is much to do.
            if (CHANNELS > 128 && back == source) continue;
            Factors of = {};
            for (int n = 0; n < 2; ++n)
                for (int part = 0; part < 2; ++part) {
                    const Parts &read = back ? dys[n] : xs[n];
                    of.images[n][part] = images_map(read.part(part), CHANNELS, WIDTH, 1, count, BY_PARTS, 2);
                    of.others[n][part] = weights_map(ws[n].part(part), CHANNELS, CHANNELS, 3, 32);
                }
            auto out = floats(y.size() + spare);
            const auto before = out;
            const int adds = source;
            const unsigned blocks = source ? 2 : (all + 1) / 2 * 2;
            run_hopper({blocks, CHUNKS}, 384, bytes, 2, [&] {
                (back ? KERNEL(parts_, _back) : KERNEL(parts_, _forward))(of, source + 1, count, adds, out.data());
            });
            auto wanted = sum_of(back ? dx : y, std::vector<double>(before.begin(), before.end() - spare), adds);
            wanted.insert(wanted.end(), before.end() - spare, before.end());
            const char *name = back ? "parts_" TEXT_OF(CHANNELS) "_back" : "parts_" TEXT_OF(CHANNELS) "_forward";
            check(name_of(name, source ? "of two" : "of one").c_str(), out, wanted, 3e-5);
        }
    }
    const Box box = OF_WEIGHTS;
    const u32 room = with_barriers(2 * 2 * (box.bordered(2) + box.bytes()), 2);
    std::vector<double> dw;
    for (int source = 0; source < 2; ++source) {
        dw = sum_of(dw, layer.of_weights(xs[source].all, dys[source].all), 1);
        Factors of = {};
        for (int n = 0; n < 2; ++n)
            for (int part = 0; part < 2; ++part) {
                of.images[n][part] = images_map(xs[n].part(part), CHANNELS, WIDTH, 1, count, box, 2);
                of.others[n][part] = images_map(dys[n].part(part), CHANNELS, WIDTH, 1, count, box, 0);
            }
        const int units = box.blocks(WIDTH, count) * (source + 1), each = source ? 4 : 16;
        const unsigned shares = (units + each - 1) / each;
        std::vector<float> partial(shares * dw.size(), NAN), sum(dw.size());
        run_hopper({shares, CHUNKS * CHUNKS}, 416, room, 1,
                   [&] { KERNEL(parts_, _weights)(of, source + 1, count, each, partial.data()); });
        for (size_t n = 0; n < partial.size(); ++n) sum[n % sum.size()] += partial[n];
        check(source ? "parts_" TEXT_OF(CHANNELS) "_weights: of two" : "parts_" TEXT_OF(CHANNELS) "_weights: of one",
              sum, dw, 3e-5);
    }
}
#else
// The first convolution.
static void stem() {
    const Box box = {32, 8, 1};
    const int count = 3;
    Layer layer = {count, 32, 8, 64, 3, 1};
    auto x = whole(layer.read() * 8, 9), w = whole(layer.weights(), 9), dy = whole(layer.results() * 64, 2);
    auto x_acts = rounded(x), w_acts = rounded(w), dy_acts = rounded(dy);
    const TensorMap images = images_map(x_acts.data(), 8, 32, 1, count, box, 2);
    const u32 bytes = with_barriers(4 * 6144 + 10 * 1024 + box.bytes(), 4);
    auto y = rounded(layer.forward(x, w));
    for (unsigned blocks : {2, 5, 12}) {
        Norm norm(64), before = norm;
        auto out = nothing(y.size());
        After after = norm.after(out.data());
        if (blocks != 5) after.statistics = norm.statistics.data();
        run_hopper({blocks, 1}, 256, bytes, 1, [&] { stem_forward(images, w_acts.data(), after, count); });
        same("stem_forward", "result", out, y);
        if (after.statistics) norm.check_statistics("stem_forward", before, out);
        after.own = blocks != 5;
        std::fill(out.begin(), out.end(), 0x7fff);
        run_hopper({blocks, 1}, 256, bytes, 1, [&] { stem_evaluate(images, w_acts.data(), after, count); });
        same("stem_evaluate", after.own ? "result, with a ReLU" : "result", out, normed(y, norm, nullptr, after.own));
    }
    const TensorMap gradients = images_map(dy_acts.data(), 64, 32, 1, count, box, 0);
    auto wanted = rounded(layer.of_weights(x, dy));
    for (unsigned blocks : {1, 2, 12}) {
        std::vector<float> partial(blocks * wanted.size(), NAN);
        auto dw = nothing(wanted.size());
        run_hopper({blocks, 1}, 256, with_barriers(4 * (6144 + box.bytes()), 4), 1,
                   [&] { stem_weights(images, gradients, partial.data(), count); });
        run_hopper({(unsigned)wanted.size() / 32, 1}, 256, 0, 1,
                   [&] { stem_sum_weights(partial.data(), blocks, dw.data()); });
        same("stem_weights", "result", dw, wanted);
    }
}
#endif

int main(int arguments, char **words) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    // Another order of threads and copies.
    if (arguments > 1) order = atoi(words[1]);
#if CHANNELS >= 64
    convolutions();
    gradients_of_weights();
#if STRIDE
    strided();
#endif
    taken_apart();
    by_parts();
#else
    stem();
#endif
    return failures ? 1 : 0;
}
