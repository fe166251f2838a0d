// Binary cross-entropy of each class, added up: losses/binary_cross_entropy.rs.

// 1 / (1 + exp -z), without an overflow and as accurate near 0.
__device__ __forceinline__ float sigmoid(float z) {
    float small = expf(-fabsf(z));
    return (z < 0.0f ? small : 1.0f) / (1.0f + small);
}

// The sum over classes of ln(1 + exp z) - p z, and σ(z) - p over `over` examples: one thread per example.
extern "C" __global__ void binary_cross_entropy(const float *z, const u16 *classes,
                                                const float *shares, const u32 *visits,
                                                const float *lambda, const u32 *partner,
                                                const int *step, int batch, int count,
                                                const int *over, int width, float *dz,
                                                float *losses) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    size_t first = (size_t)*step * batch, at = (size_t)place * width;
    Goal to = goal(classes, shares, visits, lambda, partner, *step, first, place);
    int of = over ? *over : count;
    float total = 0.0f;
    for (int k = 0; k < width; ++k) {
        float own = z[at + k], p = wanted(to, k, width);
        dz[at + k] = (sigmoid(own) - p) / of;
        total += (own < 0.0f ? 0.0f : own) - p * own + log1pf(expf(-fabsf(own)));
    }
    losses[first + place] = total;
}

// dż = σ(z) (1 - σ(z)) ż over `over` examples.
extern "C" __global__ void binary_cross_entropy_tangent(const float *z, const float *tz,
                                                        const float *dz, int count,
                                                        const int *over, int width, float *tdz) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    for (int k = 0; k < width; ++k) {
        size_t at = (size_t)place * width + k;
        tdz[at] = sigmoid(z[at]) * sigmoid(-z[at]) * tz[at] / *over;
    }
}
