// Labels of an epoch, drawn where they are used: the twin of the deliveries of dissensus-labels, bit
// for bit. The votes of an example lie one after another, from starts[row] to starts[row + 1].

// One vote of each, by word `draw` mod 4 of one block of Philox: r below the number of votes m, each
// equally likely (Lemire 2019); a word that would favour some is replaced by that of the next block.
extern "C" __global__ void draw_labels(const u64 *keys, const u32 *starts, const u16 *votes, u64 seed,
                                       u64 stream, u64 draw, int rows, u16 *labels) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    u64 m = starts[row + 1] - starts[row];
    if (m == 0) return;
    u64 unfair = (0 - m) % m;
    for (u64 n = 0;; ++n) {
        u64 c[4] = {n, keys[row], draw / 4, 0};
        philox(seed, stream, c);
        u64 word = c[draw % 4];
        if (word * m >= unfair) {
            labels[row] = votes[starts[row] + __umul64hi(word, m)];
            return;
        }
    }
}

// Vote `turn` of each, around and around.
extern "C" __global__ void cycle_labels(const u32 *starts, const u16 *votes, u64 turn, int rows,
                                       u16 *labels) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    u64 m = starts[row + 1] - starts[row];
    if (m) labels[row] = votes[starts[row] + turn % m];
}
