// The ranked probability score: losses/rps.rs, whose sums these are, in its order.

// exp(z - max z) into `out`; its sum. A NaN stays.
__device__ __forceinline__ float raised(const float *z, int width, float *out) {
    float top = z[0], total = 0.0f;
    for (int k = 1; k < width; ++k) if (z[k] > top || z[k] != z[k]) top = z[k];
    for (int k = 0; k < width; ++k) total += out[k] = expf(z[k] - top);
    return total;
}

// Σ D², D the differences of cumulative sums, and the gradient over `over` examples: one thread per example.
extern "C" __global__ void rps(const float *z, const u16 *classes, const float *shares,
                               const u32 *visits, const float *lambda, const u32 *partner,
                               const int *step, int batch, int count, const int *over, int width,
                               float *dz, float *losses) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    size_t first = (size_t)*step * batch;
    Goal to = goal(classes, shares, visits, lambda, partner, *step, first, place);
    float *own = dz + (size_t)place * width;
    float total = raised(z + (size_t)place * width, width, own);
    // Half of the slope at the first class, and half of the mean slope.
    float loss = 0.0f, slope = 0.0f, mean = 0.0f, cumulative = 0.0f, target = 0.0f;
    for (int k = 0; k < width; ++k) {
        own[k] /= total;
        if (k == width - 1) break;
        cumulative += own[k];
        target += wanted(to, k, width);
        float difference = cumulative - target;
        loss += difference * difference;
        slope += difference;
        mean += difference * cumulative;
    }
    losses[first + place] = loss;
    cumulative = target = 0.0f;
    for (int k = 0; k < width; ++k) {
        float q = own[k];
        own[k] = 2.0f * q * (slope - mean) / (over ? *over : count);
        cumulative += q;
        target += wanted(to, k, width);
        slope -= cumulative - target;
    }
}

// The tangent of the gradient dz, which is over `over` examples, as `rps` has it.
extern "C" __global__ void rps_tangent(const float *z, const float *tz, const float *dz, int count,
                                       const int *over, int width, float *tdz) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    const float *along = tz + (size_t)place * width, *slopes = dz + (size_t)place * width;
    float *own = tdz + (size_t)place * width;
    float total = raised(z + (size_t)place * width, width, own), common = 0.0f;
    for (int k = 0; k < width; ++k) {
        own[k] /= total;
        common += own[k] * along[k];
    }
    // Half of the tangent of the slope at the first class, half of its mean, and <dz, along - common>.
    float slope = 0.0f, mean = 0.0f, moved = 0.0f, cumulative = 0.0f, tangent = 0.0f;
    for (int k = 0; k < width; ++k) {
        moved += slopes[k] * (along[k] - common);
        if (k == width - 1) break;
        cumulative += own[k];
        tangent += own[k] * (along[k] - common);
        slope += tangent;
        mean += tangent * cumulative;
    }
    tangent = 0.0f;
    for (int k = 0; k < width; ++k) {
        float q = own[k], beside = along[k] - common;
        own[k] = slopes[k] * beside + q * (2.0f * (slope - mean) / *over - moved);
        tangent += q * beside;
        slope -= tangent;
    }
}
