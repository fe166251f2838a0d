// What programs of checks share, behind the kernels: numbers, and comparing them.

#pragma once
#include <type_traits>

static int failures = 0;

#if BF16
static const double CLOSE = 1e-2;
#else
static const double CLOSE = 2e-5;
#endif

// The largest difference, over the largest number.
template <class A>
static void check(const char *what, const std::vector<A> &found, const std::vector<double> &wanted,
                  double close = CLOSE) {
    double most = 0, scale = 1e-6;
    for (size_t i = 0; i < wanted.size(); ++i) {
        double got;
        if constexpr (sizeof(A) == sizeof(act) && !std::is_same_v<A, float>) got = to_f32(found[i]);
        else got = found[i];
        double off = std::fabs(got - wanted[i]);
        most = off > most || off != off ? off : most;
        scale = std::max(scale, std::fabs(wanted[i]));
    }
    bool fine = most <= close * scale;
    printf("%-44s off by %.1e %s\n", what, most / scale, fine ? "" : "TOO MUCH");
    failures += !fine;
}

static unsigned state = 1;
static float next() {
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (1 << 23) - 1.0f;
}
static std::vector<float> floats(size_t n, float scale = 1, float shift = 0) {
    std::vector<float> all(n);
    for (auto &x : all) x = next() * scale + shift;
    return all;
}
static std::vector<act> acts(size_t n, float scale = 1, float shift = 0) {
    std::vector<act> all(n);
    for (auto &x : all) x = to_act(next() * scale + shift);
    return all;
}
