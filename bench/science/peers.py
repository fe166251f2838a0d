"""The peers of bench/science: prints the seconds of each repetition, without reading files."""

import sys
import time

import numpy as np


def repeat(times, work):
    for _ in range(times):
        start = time.perf_counter()
        work()
        print(time.perf_counter() - start)


def sls(path, repeats):
    """Cumulative sums and comparison; then the comparison alone, the sums made beforehand."""
    counts = np.load(path)
    shares = counts / counts.sum(1, keepdims=True)
    rng = np.random.default_rng(0)

    def whole():
        cumulative = shares.cumsum(1)
        return (cumulative < rng.random(len(shares))[:, None]).sum(1)

    repeat(repeats, whole)
    print("sums beforehand")
    cumulative = shares.cumsum(1)
    repeat(repeats, lambda: (cumulative < rng.random(len(shares))[:, None]).sum(1))


def everything(counts, logits):
    """All metrics of these logits against these counts."""
    import scipy.optimize
    import scipy.special
    import scipy.stats
    from relplot.metrics import smECE
    from scipy.spatial.distance import jensenshannon

    n, k = counts.shape
    given = np.zeros(n, int)

    def width(f, y, bins=15):
        b = np.minimum((f * bins).astype(int), bins - 1)
        return np.abs(np.bincount(b, f, bins) - np.bincount(b, y, bins)).sum() / n

    def mass(order, f, y, bins=15):
        parts = np.array_split(order, bins)
        return sum(len(b) / n * abs(f[b].mean() - y[b].mean()) for b in parts)

    def brier_parts(f, y, bins=15):
        b = np.minimum((f * bins).astype(int), bins - 1)
        m = np.maximum(np.bincount(b, minlength=bins), 1)
        mf, my = np.bincount(b, f, bins) / m, np.bincount(b, y, bins) / m
        reliability = (m * (mf - my) ** 2).sum() / n
        return reliability, (m * (my - y.mean()) ** 2).sum() / n, np.var(y)

    p = counts / counts.sum(1, keepdims=True)
    q = scipy.special.softmax(logits, axis=1)
    log_q = scipy.special.log_softmax(logits, axis=1)
    majority, predicted, f = p.argmax(1), q.argmax(1), q.max(1)
    human = p[np.arange(n), predicted]
    correct = (predicted == majority).astype(float)
    hp, hq = scipy.stats.entropy(p, axis=1), scipy.stats.entropy(q, axis=1)
    out = [
        -(p * log_q).sum(1).mean(),
        scipy.special.rel_entr(p, q).sum(1).mean(),
        ((q - p) ** 2).sum(1).mean(),
        jensenshannon(p, q, axis=1).mean(),
        (np.abs(q - p).sum(1) / 2).mean(),
        correct.mean(),
        (predicted == given).mean(),
        scipy.stats.spearmanr(hq, hp)[0],
        scipy.stats.pearsonr(hq, hp)[0],
        np.abs(hq - hp).mean(),
    ]
    tempered = lambda t: -(p * scipy.special.log_softmax(log_q / t, axis=1)).sum(1).mean()
    best = scipy.optimize.minimize_scalar(tempered, bounds=(0.01, 100), method="bounded")
    out += [best.x, best.fun]
    order = np.argsort(f)
    for y in (correct, human):
        out += [mass(order, f, y), width(f, y), smECE(f, y)]
    for c in range(k):
        out += [width(q[:, c], (majority == c) * 1.0), width(q[:, c], p[:, c])]
        out += brier_parts(q[:, c], p[:, c])
    return out


def metrics(counts_path, logits_path, repeats):
    counts, logits = np.load(counts_path).astype(float), np.load(logits_path)
    repeat(repeats, lambda: everything(counts, logits))


def dawid_skene(path, repeats):
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    votes = pd.read_csv(path)
    repeat(repeats, lambda: DawidSkene(n_iter=10, tol=0).fit(votes))


if __name__ == "__main__":
    name, *paths, repeats = sys.argv[1:]
    globals()[name](*paths, int(repeats))
