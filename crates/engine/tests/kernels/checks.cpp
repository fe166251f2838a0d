// The kernels, run on the CPU and compared with their formulas in double precision. Each check prints
// a line; the program fails if one is off by more than rounding explains.

#include <algorithm>
#include "emulate.hpp"
#include "kernels.cu"
#include "compare.hpp"

static std::vector<double> wide(const std::vector<act> &from) {
    std::vector<double> all;
    for (act x : from) all.push_back(to_f32(x));
    return all;
}

struct Cut { Place grid, block; int share; };
// The same as passes.rs makes, with few blocks, so that small shapes have several.
static Cut cut(int rows, int channels, int blocks) {
    unsigned groups = 1;
    while (groups * 8 < (unsigned)channels && groups < 16) groups *= 2;
    unsigned lines = THREADS / groups, columns = (channels + groups * 8 - 1) / (groups * 8);
    int share = (rows + blocks - 1) / blocks;
    share = (share + lines - 1) / lines * lines;
    return {{(unsigned)((rows + share - 1) / share), columns}, {groups, lines}, share};
}
static Cut over(int rows, int channels, int each) {
    unsigned groups = 1;
    while (groups * 8 < (unsigned)channels && groups < 64) groups *= 2;
    unsigned lines = BLOCK / groups, columns = (channels + groups * 8 - 1) / (groups * 8);
    return {{(rows + lines * each - 1) / (lines * each), columns}, {groups, lines}, 0};
}

// Pixels that a step of two leaves.
static void thinned() {
    int count = 3, height = 5, width = 4, channels = 16;
    auto x = acts(count * height * width * channels);
    std::vector<act> y(count * 3 * 2 * channels);
    each(y.size() / 8, [&] { subsample(x.data(), count, height, width, channels, 2, y.data()); });
    std::vector<double> wanted;
    for (int n = 0; n < count; ++n)
        for (int i = 0; i < height; i += 2)
            for (int j = 0; j < width; j += 2)
                for (int k = 0; k < channels; ++k)
                    wanted.push_back(to_f32(x[((n * height + i) * width + j) * channels + k]));
    check("subsample", y, wanted, 0);
}

// Examples that are moved against a gradient, and maps without their padding.
static void moved() {
    int pixels = 77, channels = 3, padded = 8;
    auto x = acts(pixels * padded), dx = acts(pixels * padded);
    for (int i = 0; i < pixels * padded; ++i) {
        if (i % padded >= channels) x[i] = dx[i] = to_act(0.0f);
        if (i % 11 == 0) dx[i] = to_act(0.0f);
    }
    float moves[] = {1000.0f, 0.25f};
    std::vector<double> wanted, plain;
    for (int i = 0; i < pixels * padded; ++i) {
        double d = to_f32(dx[i]), to = to_f32(x[i]) - (d > 0 ? 0.25 : d < 0 ? -0.25 : 0);
        wanted.push_back(to);
        if (i % padded < channels) plain.push_back(to_f32(to_act((float)to)));
    }
    each(x.size(), [&] { perturb(dx.data(), moves, x.size(), x.data()); });
    check("moved examples", x, wanted);
    std::vector<double> padding, zeros;
    for (int i = 0; i < pixels * padded; ++i) {
        if (i % padded >= channels) padding.push_back(to_f32(x[i])), zeros.push_back(0);
    }
    check("moved examples: padding", padding, zeros, 0);
    std::vector<float> inside(pixels * channels);
    each(inside.size(), [&] { unpad(x.data(), pixels, channels, padded, inside.data()); });
    check("without padding", inside, plain, 0);
}

// The slope of the largest logit at a temperature, the first where two are equal.
static void top() {
    int count = 37, width = 7;
    auto z = floats(count * width, 3);
    z[2] = z[5] = 9;
    for (float temperature : {1.0f, 50.0f}) {
        float moves[] = {temperature, 0.0f};
        std::vector<float> dz(z.size());
        std::vector<double> wanted(z.size());
        each(count, [&] { predicted_class_gradient(z.data(), moves, count, width, dz.data()); });
        for (int n = 0; n < count; ++n) {
            double total = 0;
            int best = std::max_element(z.begin() + n * width, z.begin() + (n + 1) * width) - z.begin();
            for (int k = 0; k < width; ++k) total += std::exp(z[n * width + k] / (double)temperature);
            for (int k = 0; k < width; ++k) {
                double q = std::exp(z[n * width + k] / (double)temperature) / total;
                wanted[n * width + k] = q - (n * width + k == best);
            }
        }
        check("slope of the largest logit", dz, wanted, 1e-6);
    }
}

// Parameters there and back; what nothing is put into stays.
static void places() {
    int len = 600, room = 1000;
    std::vector<u32> map(len);
    for (int i = 0; i < len; ++i) map[i] = i * 7 % room;
    auto host = floats(len);
    std::vector<float> device(room, 5), back(len);
    std::vector<double> wanted(room, 5), same(host.begin(), host.end());
    for (int i = 0; i < len; ++i) wanted[map[i]] = host[i];
    each(len, [&] { scatter(host.data(), map.data(), len, device.data()); });
    check("parameters to the device", device, wanted, 0);
    each(len, [&] { gather(device.data(), map.data(), len, back.data()); });
    check("parameters to the host", back, same, 0);
}

// One norm: forward with its statistics, backward, and the tangents of both with fixed ones.
static void norm(int rows, int channels, bool relu, bool residual) {
    size_t n = (size_t)rows * channels;
    auto x = acts(n, 2, 0.5f), r = acts(n), dy = acts(n), tx = acts(n), tr = acts(n), tdy = acts(n);
    auto scale = floats(channels, 0.5f, 1), shift = floats(channels);
    auto statistics = floats(2 * channels, 0.4f, 0.6f), before = statistics;
    auto tscale = floats(channels), tshift = floats(channels);
    std::vector<float> vectors(6 * channels), partial(1 << 20), along(2 * channels);
    std::vector<float> dscale(channels), dshift(channels), tdscale(channels), tdshift(channels);
    std::vector<u32> arrived(64);
    std::vector<u8> mask((n + 7) / 8);
    std::vector<act> y(n), dx = acts(n), dr = acts(n), ty(n), tdx = acts(n), tdr = acts(n);
    auto dx0 = wide(dx), dr0 = wide(dr), tdx0 = wide(tdx), tdr0 = wide(tdr);
    char name[96];
    auto title = [&](const char *what) {
        snprintf(name, sizeof name, "norm %dx%d%s%s: %s", rows, channels, relu ? " relu" : "",
                 residual ? " sum" : "", what);
        return name;
    };
    Cut c = cut(rows, channels, 6), once = over(rows, channels, EACH);
    Cut back = over(rows, channels, EACH_BACK);
    // Twice, since the counter of arrivals has to be ready for the next.
    for (int turn = 0; turn < 2; ++turn) {
        statistics = before;
        launch(c.grid, c.block, [&] {
            norm_statistics(x.data(), rows, channels, c.share, 1e-5f, 0.1f, scale.data(), shift.data(),
                      statistics.data(), vectors.data(), partial.data(), arrived.data());
        });
    }
    launch(once.grid, once.block, [&] {
        norm_apply(x.data(), residual ? r.data() : nullptr, vectors.data(), relu, 0, rows, channels,
                   y.data(), mask.data());
    });
    std::vector<float> bits(n);
    std::vector<double> positive(n);
    for (size_t i = 0; i < n; ++i) bits[i] = mask[i / 8] >> i % 8 & 1, positive[i] = to_f32(y[i]) > 0.0f;
    check(title("where the output is positive"), bits, positive, 0);
    std::vector<double> mean(channels), variance(channels), wanted(n), moved(2 * channels), s(channels);
    for (int k = 0; k < channels; ++k) {
        for (int i = 0; i < rows; ++i) mean[k] += to_f32(x[(size_t)i * channels + k]) / (double)rows;
        for (int i = 0; i < rows; ++i) {
            double d = to_f32(x[(size_t)i * channels + k]) - mean[k];
            variance[k] += d * d / rows;
        }
        s[k] = 1 / std::sqrt(variance[k] + 1e-5);
        moved[k] = 0.9 * before[k] + 0.1 * mean[k];
        double unbiased = rows > 1 ? variance[k] * rows / (rows - 1) : variance[k];
        moved[channels + k] = 0.9 * before[channels + k] + 0.1 * unbiased;
    }
    for (size_t i = 0; i < n; ++i) {
        int k = i % channels;
        double z = scale[k] * s[k] * (to_f32(x[i]) - mean[k]) + shift[k] + (residual ? to_f32(r[i]) : 0);
        wanted[i] = relu && z <= 0 ? 0 : z;
    }
    check(title("statistics"), statistics, moved, 2e-5);
    check(title("forward"), y, wanted);

    auto slopes = !relu ? norm_gradients_no_relu : residual ? norm_gradients_relu_sum : norm_gradients_relu;
    launch(c.grid, c.block, [&] {
        slopes(x.data(), y.data(), dy.data(), 1, rows, channels, c.share, vectors.data(),
               dscale.data(), dshift.data(), partial.data(), arrived.data());
    });
    auto plain = !relu ? norm_back_no_relu : residual ? norm_back_relu_sum : norm_back_relu;
    auto adds = relu ? residual ? norm_back_relu_sum_adds : norm_back_relu_adds
                     : residual ? norm_back_no_relu_sum_adds : norm_back_no_relu_adds;
    auto alone = dx, alone_dr = dr;
    if (relu || !residual) {
        launch(back.grid, back.block, [&] {
            plain(x.data(), y.data(), dy.data(), vectors.data(), 0, 0, 0, rows, channels,
                  alone.data(), residual ? alone_dr.data() : nullptr);
        });
    }
    launch(back.grid, back.block, [&] {
        adds(x.data(), y.data(), dy.data(), vectors.data(), 0, 1, 1, rows, channels, dx.data(),
             residual ? dr.data() : nullptr);
    });
    std::vector<double> wscale(channels), wshift(channels), wdx = dx0, wdr = dr0, dz(n);
    for (size_t i = 0; i < n; ++i) {
        int k = i % channels;
        dz[i] = relu && !(to_f32(y[i]) > 0) ? 0 : to_f32(dy[i]);
        wshift[k] += dz[i];
        wscale[k] += dz[i] * (to_f32(x[i]) - mean[k]) * s[k];
    }
    for (size_t i = 0; i < n; ++i) {
        int k = i % channels;
        double normal = (to_f32(x[i]) - mean[k]) * s[k];
        wdx[i] += scale[k] * s[k] * (dz[i] - wshift[k] / rows - normal * wscale[k] / rows);
        wdr[i] += dz[i];
    }
    check(title("d scale"), dscale, wscale, 1e-4);
    check(title("d shift"), dshift, wshift, 1e-4);
    check(title("d x, added"), dx, wdx);
    if (relu || !residual) {
        auto wanted = wdx;
        for (size_t i = 0; i < n; ++i) wanted[i] -= dx0[i];
        check(title("d x"), alone, wanted);
        if (residual) check(title("d residual"), alone_dr, dz);
    }
    if (residual) check(title("d residual, added"), dr, wdr);

    // From here on with fixed statistics.
    each(channels, [&] {
        norm_from_running(statistics.data(), channels, 1e-5f, scale.data(), shift.data(), vectors.data());
    });
    each(channels, [&] {
        norm_direction(vectors.data(), tscale.data(), tshift.data(), channels, along.data());
    });
    launch(once.grid, once.block, [&] {
        norm_apply(x.data(), residual ? r.data() : nullptr, vectors.data(), relu, 0, rows, channels,
                   y.data(), nullptr);
    });
    each(n / 8, [&] {
        norm_tangent(x.data(), tx.data(), y.data(), residual ? tr.data() : nullptr, vectors.data(),
                     along.data(), relu, n / 8, channels, ty.data());
    });
    launch(c.grid, c.block, [&] {
        norm_gradients_tangent(x.data(), tx.data(), y.data(), dy.data(), tdy.data(), relu, rows,
                            channels, c.share, vectors.data(), tdscale.data(), tdshift.data(),
                            partial.data(), arrived.data());
    });
    each(n / 8, [&] {
        norm_back_tangent(y.data(), dy.data(), tdy.data(), vectors.data(), along.data(), relu, 1, 1,
                          n / 8, channels, tdx.data(), residual ? tdr.data() : nullptr);
    });
    std::vector<double> wty(n), wtdx = tdx0, wtdr = tdr0;
    std::fill(wscale.begin(), wscale.end(), 0), std::fill(wshift.begin(), wshift.end(), 0);
    for (size_t i = 0; i < n; ++i) {
        int k = i % channels;
        double mu = statistics[k], sd = 1 / std::sqrt(statistics[channels + k] + 1e-5);
        bool passes = !relu || to_f32(y[i]) > 0;
        double t = scale[k] * sd * to_f32(tx[i]) + tscale[k] * sd * (to_f32(x[i]) - mu) + tshift[k];
        if (residual) t += to_f32(tr[i]);
        wty[i] = passes ? t : 0;
        double d = passes ? to_f32(dy[i]) : 0, td = passes ? to_f32(tdy[i]) : 0;
        wshift[k] += td;
        wscale[k] += sd * (td * (to_f32(x[i]) - mu) + d * to_f32(tx[i]));
        wtdx[i] += scale[k] * sd * td + tscale[k] * sd * d;
        wtdr[i] += td;
    }
    check(title("tangent"), ty, wty);
    check(title("tangent of d scale"), tdscale, wscale, 1e-4);
    check(title("tangent of d shift"), tdshift, wshift, 1e-4);
    check(title("tangent of d x"), tdx, wtdx);
    if (residual) check(title("tangent of d residual"), tdr, wtdr);
}

static void linear_layer() {
    int count = 37, inputs = 50, outputs = 7;
    auto x = floats(count * inputs), w = floats(inputs * outputs), b = floats(outputs);
    auto y = floats(count * outputs), dy = floats(count * outputs), dx = floats(count * inputs);
    auto dw = floats(inputs * outputs), db = floats(outputs);
    std::vector<double> wy(y.begin(), y.end()), wdx(dx.begin(), dx.end());
    std::vector<double> wdw(dw.begin(), dw.end()), wdb(db.begin(), db.end());
    for (int n = 0; n < count; ++n)
        for (int o = 0; o < outputs; ++o) {
            wy[n * outputs + o] += b[o];
            wdb[o] += dy[n * outputs + o];
            for (int i = 0; i < inputs; ++i) {
                wy[n * outputs + o] += (double)x[n * inputs + i] * w[i * outputs + o];
                wdx[n * inputs + i] += (double)dy[n * outputs + o] * w[i * outputs + o];
                wdw[i * outputs + o] += (double)x[n * inputs + i] * dy[n * outputs + o];
            }
        }
    each(32 * count * outputs, [&] {
        linear(x.data(), w.data(), b.data(), count, inputs, outputs, 1, y.data());
    });
    each(count * inputs, [&] {
        linear_back(dy.data(), w.data(), count, inputs, outputs, 1, dx.data());
    });
    each(32 * (inputs + 1) * outputs, [&] {
        linear_back_weights(x.data(), dy.data(), count, inputs, outputs, 1, dw.data(), db.data());
    });
    check("linear", y, wy, 2e-6);
    check("linear: d x", dx, wdx, 2e-6);
    check("linear: d weights", dw, wdw, 2e-6);
    check("linear: d bias", db, wdb, 2e-6);
}

// Pooling, the last layer and the loss in one kernel against those of several, with mixed goals.
static void ends(bool soft) {
    int count = 5, pixels = 9, channels = 48, width = 10, batch = 5, step = 1, rows = 12;
    auto x = acts(count * pixels * channels);
    auto w = floats(channels * width), bias = floats(width);
    std::vector<u16> classes;
    std::vector<float> shares;
    for (int i = 0; i < rows; ++i) classes.push_back(i * 7 % width);
    for (int i = 0; i < rows; ++i) {
        double total = 0;
        std::vector<double> p;
        for (int k = 0; k < width; ++k) p.push_back(next() + 1), total += p[k];
        // Targets need not be probabilities: every other row has negative entries, and sums to 1.
        for (int k = 0; k < width; ++k) {
            double next_one = p[(k + 1) % width];
            shares.push_back((i % 2 ? 4 * p[k] - 3 * next_one : p[k]) / total);
        }
    }
    std::vector<u32> visits = {0, 0, 0, 0, 0, 3, 11, 7, 1, 0}, partner = {0, 0, 0, 0, 0, 4, 2, 0, 1, 3};
    std::vector<float> lambda = {0.1f, 0.7f}, pooled(count * channels), z(count * width);
    std::vector<float> dz(count * width), losses(10), one_pooled(count * channels);
    std::vector<float> one_dz(count * width), one_losses(10), dp(count * channels);
    std::vector<act> dx(x.size()), one_dx(x.size());
    const u16 *c = soft ? nullptr : classes.data();
    const float *s = soft ? shares.data() : nullptr;
    each(count * channels, [&] { pool(x.data(), count, pixels, channels, pooled.data()); });
    each(32 * count * width, [&] {
        linear(pooled.data(), w.data(), bias.data(), count, channels, width, 0, z.data());
    });
    launch({1, 1}, {32, 1}, [&] {
        cross_entropy(z.data(), c, s, visits.data(), lambda.data(), partner.data(), &step, batch,
                      count, nullptr, width, dz.data(), losses.data());
    });
    each(count * channels, [&] {
        linear_back(dz.data(), w.data(), count, channels, width, 0, dp.data());
    });
    each(count * pixels * channels, [&] {
        pool_back(dp.data(), count, pixels, channels, 0, dx.data());
    });
    launch({(unsigned)count, 1}, {256, 1}, [&] {
        head_and_loss(x.data(), w.data(), bias.data(), c, s, visits.data(), lambda.data(), partner.data(),
             &step, batch, count, pixels, channels, width, one_pooled.data(), one_dz.data(),
             one_losses.data(), one_dx.data());
    });
    std::vector<double> wanted(10), slopes(count * width);
    for (int n = 0; n < count; ++n) {
        double total = 0, expected = 0;
        for (int k = 0; k < width; ++k) total += std::exp((double)z[n * width + k]);
        for (int k = 0; k < width; ++k) {
            u32 own = visits[5 + n], other = visits[5 + partner[5 + n]];
            double a = soft ? shares[own * width + k] : classes[own] == k;
            double b = soft ? shares[other * width + k] : classes[other] == k;
            double p = lambda[1] * a + (1 - lambda[1]) * b;
            expected += p * z[n * width + k];
            slopes[n * width + k] = (std::exp((double)z[n * width + k]) / total - p) / count;
        }
        wanted[5 + n] = std::log(total) - expected;
    }
    check(soft ? "loss, distributions" : "loss, classes", losses, wanted, 1e-5);
    check("loss: d logits", dz, slopes, 1e-5);
    auto same = [](const std::vector<float> &a) { return std::vector<double>(a.begin(), a.end()); };
    check("head: loss", one_losses, same(losses), 1e-6);
    check("head: d logits", one_dz, same(dz), 1e-6);
    check("head: features", one_pooled, same(pooled), 1e-6);
    check("head: d map", one_dx, wide(dx));
    // The tangent of the gradient at the logits, by differences.
    int over = 11;
    auto along = floats(count * width);
    std::vector<float> tangent(count * width), moved(count * width), there(count * width);
    launch({1, 1}, {32, 1}, [&] {
        cross_entropy_tangent(z.data(), along.data(), dz.data(), count, &over, width, tangent.data());
    });
    for (int n = 0; n < count; ++n) {
        double total = 0, mean = 0;
        for (int k = 0; k < width; ++k) total += std::exp((double)z[n * width + k]);
        for (int k = 0; k < width; ++k) {
            mean += std::exp((double)z[n * width + k]) / total * along[n * width + k];
        }
        for (int k = 0; k < width; ++k) {
            double q = std::exp((double)z[n * width + k]) / total;
            slopes[n * width + k] = q * (along[n * width + k] - mean) / over;
        }
    }
    check("loss: tangent", tangent, slopes, 1e-5);
}

// A loss by its formula, from one example's outputs and target: its value and its gradient.
typedef double (*Formula)(const double *z, const double *p, int width, double *dz);

static double sigmoids(const double *z, const double *p, int width, double *dz) {
    double loss = 0;
    for (int k = 0; k < width; ++k) {
        double q = 1 / (1 + std::exp(-z[k]));
        loss -= p[k] * std::log(q) + (1 - p[k]) * std::log(1 - q);
        dz[k] = q - p[k];
    }
    return loss;
}

static double ranked(const double *z, const double *p, int width, double *dz) {
    std::vector<double> q(width), slope(width);
    double total = 0, loss = 0, mean = 0, below = 0;
    for (int k = 0; k < width; ++k) total += q[k] = std::exp(z[k]);
    for (int k = 0; k < width; ++k) q[k] /= total;
    for (int k = 0; k + 1 < width; ++k) {
        below += q[k] - p[k];
        loss += below * below;
        for (int j = 0; j <= k; ++j) slope[j] += 2 * below;
    }
    for (int k = 0; k < width; ++k) mean += q[k] * slope[k];
    for (int k = 0; k < width; ++k) dz[k] = q[k] * (slope[k] - mean);
    return loss;
}

// The other losses with classes and with distributions, mixed and not, over the batch and over more; and their
// tangents, by differences of the gradient in double precision.
template <class Kernel, class Tangent>
static void loss(const char *name, Kernel kernel, Tangent tangent, Formula formula) {
    int count = 37, width = 7, batch = 40, step = 1, over = 90, rows = 50;
    auto z = floats(count * width, 3), along = floats(count * width);
    std::vector<u16> classes;
    std::vector<float> shares, lambda = {0.1f, 0.7f};
    std::vector<u32> visits(batch + count), partner(batch + count);
    for (int i = 0; i < rows; ++i) {
        classes.push_back(i * 5 % width);
        std::vector<float> p = floats(width, 0.5f, 0.6f);
        double total = 0;
        for (float x : p) total += x;
        // Every other row has negative entries, and sums to 1.
        for (int k = 0; k < width; ++k) {
            shares.push_back((i % 2 ? 4 * p[k] - 3 * p[(k + 1) % width] : p[k]) / total);
        }
    }
    for (int i = 0; i < batch + count; ++i) visits[i] = i * 11 % rows, partner[i] = i * 3 % count;
    for (int kind = 0; kind < 8; ++kind) {
        bool soft = kind & 1, mixed = kind & 2, all = kind & 4;
        std::vector<float> dz(count * width), losses(batch + count), tdz(count * width);
        launch({2, 1}, {32, 1}, [&] {
            kernel(z.data(), soft ? nullptr : classes.data(), soft ? shares.data() : nullptr, visits.data(),
                   mixed ? lambda.data() : nullptr, partner.data(), &step, batch, count, all ? &over : nullptr, width,
                   dz.data(), losses.data());
        });
        launch({2, 1}, {32, 1}, [&] {
            tangent(z.data(), along.data(), dz.data(), count, all ? &over : &count, width, tdz.data());
        });
        int of = all ? over : count;
        std::vector<double> value(batch + count), slopes(count * width), bends(count * width);
        for (int n = 0; n < count; ++n) {
            u32 own = visits[batch + n], other = visits[batch + partner[batch + n]];
            double share = mixed ? lambda[1] : 1;
            std::vector<double> p(width), x(width), up(width), down(width);
            for (int k = 0; k < width; ++k) {
                double a = soft ? shares[own * width + k] : classes[own] == k;
                double b = soft ? shares[other * width + k] : classes[other] == k;
                p[k] = share * a + (1 - share) * b;
                x[k] = z[n * width + k];
            }
            value[batch + n] = formula(x.data(), p.data(), width, &slopes[n * width]);
            auto moved = [&](double by, std::vector<double> &gradient) {
                std::vector<double> there = x;
                for (int k = 0; k < width; ++k) there[k] += by * along[n * width + k];
                formula(there.data(), p.data(), width, gradient.data());
            };
            moved(1e-5, up), moved(-1e-5, down);
            for (int k = 0; k < width; ++k) {
                slopes[n * width + k] /= of;
                bends[n * width + k] = (up[k] - down[k]) / 2e-5 / of;
            }
        }
        char title[96];
        snprintf(title, sizeof title, "%s, %s%s%s", name, soft ? "distributions" : "classes", mixed ? ", mixed" : "",
                 all ? ", over more" : "");
        check(title, losses, value, 2e-6);
        check("  d outputs", dz, slopes, 2e-6);
        check("  tangent", tdz, bends, 2e-6);
    }
    // Outputs that exp cannot hold, and what is not a number.
    std::vector<float> wide = {200, -200, 0, 0, 0, 0, 0}, dz(width), losses(1);
    std::vector<u32> first = {0};
    step = 0;
    launch({1, 1}, {32, 1}, [&] {
        kernel(wide.data(), classes.data(), nullptr, first.data(), nullptr, nullptr, &step, 1, 1, nullptr, width,
               dz.data(), losses.data());
    });
    bool finite = std::isfinite(losses[0]);
    for (float d : dz) finite = finite && std::isfinite(d);
    check("  large outputs: finite", std::vector<float>{(float)finite}, {1}, 0);
    wide[3] = NAN;
    launch({1, 1}, {32, 1}, [&] {
        kernel(wide.data(), classes.data(), nullptr, first.data(), nullptr, nullptr, &step, 1, 1, nullptr, width,
               dz.data(), losses.data());
    });
    check("  not a number: seen", std::vector<float>{(float)std::isnan(losses[0])}, {1}, 0);
}

// Labels of made-up votes, for the other side to compare: one line a draw.
static void labels() {
    int rows = 50;
    std::vector<u64> keys;
    std::vector<u32> starts = {0};
    std::vector<u16> votes, out(rows);
    for (u64 i = 0; i < (u64)rows; ++i) {
        keys.push_back(i * 0x9E3779B97F4A7C15ull + 1);
        for (u64 j = 0; j < i % 6; ++j) votes.push_back((i * 7 + j * 3) % 10);
        starts.push_back(votes.size());
    }
    for (u64 draw = 0; draw < 9; ++draw) {
        for (int words = 0; words < 2; ++words) {
            std::fill(out.begin(), out.end(), 99);
            each(rows, [&] {
                if (words) draw_labels(keys.data(), starts.data(), votes.data(), 7, 11, draw, rows, out.data());
                else cycle_labels(starts.data(), votes.data(), draw, rows, out.data());
            });
            printf("labels %d %llu", words, draw);
            for (u16 label : out) printf(" %d", label);
            printf("\n");
        }
    }
}

// Convolutions by bfloat16 parts: every pass, plain and added to what is there. A product of one part would be
// off by 1e-3.
static void convolution(int cols, Conv of) {
    int high = of.out_height, wide = of.out_width, k = of.kernel, taps = k * k, step = 1 << of.shift;
    auto x = floats((size_t)of.count * of.height * of.width * of.inputs);
    auto w = floats((size_t)of.outputs * taps * of.inputs), dy = floats((size_t)of.count * high * wide * of.outputs);
    auto y = floats(dy.size()), dx = floats(x.size()), dw = floats(w.size());
    for (int add = 0; add < 2; ++add) {
        auto start = [&](const std::vector<float> &from) {
            return add ? std::vector<double>(from.begin(), from.end()) : std::vector<double>(from.size());
        };
        auto true_y = start(y), true_dx = start(dx), true_dw = start(dw);
        for (int p = 0; p < of.count * high * wide; ++p)
            for (int tap = 0; tap < taps; ++tap) {
                int i = p / wide % high * step + tap / k - k / 2, j = p % wide * step + tap % k - k / 2;
                if (i < 0 || j < 0 || i >= of.height || j >= of.width) continue;
                size_t from = ((size_t)(p / wide / high) * of.height + i) * of.width + j;
                for (int o = 0; o < of.outputs; ++o)
                    for (int c = 0; c < of.inputs; ++c) {
                        size_t at = from * of.inputs + c, to = (size_t)p * of.outputs + o;
                        size_t weight = ((size_t)o * taps + tap) * of.inputs + c;
                        true_y[to] += (double)x[at] * w[weight];
                        true_dx[at] += (double)dy[to] * w[weight];
                        true_dw[weight] += (double)x[at] * dy[to];
                    }
            }
        auto all = [&](unsigned cols, auto forward, auto back, auto weights) {
            auto tiles = [&](int rows, int width) { return (rows + ROWS - 1) / ROWS * ((width + cols - 1) / cols); };
            int kinds = of.count * ((of.height + step - 1) / step) * ((of.width + step - 1) / step) * step * step;
            launch({tiles(of.count * high * wide, of.outputs), 1}, {2 * cols, 1},
                   [&] { forward(of, x.data(), w.data(), add, y.data()); });
            launch({tiles(kinds, of.inputs), 1}, {2 * cols, 1}, [&] { back(of, dy.data(), w.data(), add, dx.data()); });
            int chunks = 2, shares = (of.count * high * wide + chunks * DEEP - 1) / (chunks * DEEP);
            std::vector<float> partial(shares * w.size());
            launch({tiles(taps * of.inputs, of.outputs) * shares, 1}, {2 * cols, 1},
                   [&] { weights(of, x.data(), dy.data(), chunks, partial.data()); });
            each(w.size(), [&] { conv_sum_weights(partial.data(), shares, w.size(), add, dw.data()); });
        };
        if (cols == 64) all(64, conv_forward_64, conv_back_64, conv_weights_64);
        else all(128, conv_forward_128, conv_back_128, conv_weights_128);
        check(add ? "convolution by parts, added" : "convolution by parts", y, true_y, 1e-5);
        check("  back to the input", dx, true_dx, 1e-5);
        check("  its weights", dw, true_dw, 1e-5);
    }
}

// A step of both optimizers, of weights of convolutions; 8 · 37 is no multiple of a block.
static void steps_of_optimizers() {
    const int len = 8 * 37;
    auto g = acts(len);
    alignas(32) float w[len], v[len], m[len];
    alignas(32) act copy[len];
    for (int which = 0; which < 3; ++which) {
        auto w0 = floats(len), v0 = floats(len, 0.5f, 0.6f), m0 = floats(len);
        std::copy(w0.begin(), w0.end(), w);
        std::copy(v0.begin(), v0.end(), v);
        std::copy(m0.begin(), m0.end(), m);
        const float sgd_by[3] = {0.1f, 0.9f, 5e-4f}, adam_by[6] = {0.1f, 1.5f, 1e-8f, 1e-2f, 0.9f, 0.999f};
        each(len / 8, [&] {
            if (which < 2) sgd_conv(sgd_by, which, g.data(), v, w, copy, len);
            else adam_conv(adam_by, g.data(), m, v, w, copy, len);
        });
        std::vector<double> new_w(len), new_v(len);
        for (int i = 0; i < len; ++i) {
            double grad = to_f32(g[i]);
            if (which < 2) {
                double slope = grad + (double)sgd_by[2] * w0[i];
                new_v[i] = (double)sgd_by[1] * v0[i] + slope;
                new_w[i] = w0[i] - (double)sgd_by[0] * (which ? slope + (double)sgd_by[1] * new_v[i] : new_v[i]);
            } else {
                double slope = grad + (double)adam_by[3] * w0[i];
                double mean = (1 - (double)adam_by[4]) * slope + (double)adam_by[4] * m0[i];
                new_v[i] = (1 - (double)adam_by[5]) * slope * slope + (double)adam_by[5] * v0[i];
                new_w[i] = w0[i] - adam_by[0] * mean / (std::sqrt(new_v[i]) * adam_by[1] + adam_by[2]);
            }
        }
        const char *names[] = {"sgd", "sgd with nesterov", "adam"};
        check(names[which], std::vector<float>(w, w + len), new_w, 2e-6);
        check("its second slot", std::vector<float>(v, v + len), new_v, 2e-6);
        check("its copy", std::vector<act>(copy, copy + len), new_w);
    }
}

int main() {
    steps_of_optimizers();
    norm(300, 64, false, false);
    norm(1100, 8, true, false);
    norm(130, 256, true, true);
    norm(77, 24, false, true);
    norm(3, 16, true, true);
    thinned();
    moved();
    top();
    places();
    linear_layer();
    ends(false);
    ends(true);
    loss("binary cross-entropy", binary_cross_entropy, binary_cross_entropy_tangent, sigmoids);
    loss("ranked probability score", rps, rps_tangent, ranked);
    labels();
#if !BF16
    convolution(64, {2, 7, 6, 8, 16, 3, 0, 7, 6});
    convolution(64, {3, 7, 6, 40, 72, 3, 1, 4, 3});
    convolution(64, {2, 9, 5, 16, 8, 1, 1, 5, 3});
    convolution(128, {10, 8, 8, 16, 136, 3, 1, 4, 4});
    convolution(128, {150, 1, 1, 8, 24, 1, 0, 1, 1});
#endif
    return failures ? 1 : 0;
}
