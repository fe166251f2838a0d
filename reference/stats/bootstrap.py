"""Bootstrap intervals. Writes bootstrap.json.

The draws are made again in Python from numpy's Philox, and the intervals from scipy's bootstrap
over the replicates made of these draws.
"""

from types import SimpleNamespace

import golden
import numpy as np
from scipy import special, stats

WORD = 2**64


class Stream:
    """Successive words of the blocks (n, place...) for n = 0, 1, ..."""

    def __init__(self, key, place):
        counter = sum(c << 64 * i for i, c in enumerate([0, *place])) - 1  # numpy adds 1 first
        words = [counter % WORD**4 >> 64 * i & (WORD - 1) for i in range(4)]
        self.raw = np.random.Philox(key=np.array(key, dtype=np.uint64),
                                    counter=np.array(words, dtype=np.uint64))

    def below(self, n):
        """Lemire's method: the high word of a product, unfair low words drawn again."""
        while True:
            product = int(self.raw.random_raw()) * n
            if product % WORD >= (WORD - n) % n:
                return product // WORD


def rows(stream, n):
    return [stream.below(n) for _ in range(n)]


def nested(stream, groups):
    starts = np.concatenate([[0], np.cumsum(groups)])
    drawn = []
    for _ in groups:
        group = stream.below(len(groups))
        drawn += [int(starts[group]) + stream.below(groups[group]) for _ in range(groups[group])]
    return drawn


def crossed(stream, height, width):
    down = [stream.below(height) for _ in range(height)]
    across = [stream.below(width) for _ in range(width)]
    return [row * width + column for row in down for column in across]


STATISTICS = {
    "mean": lambda x, axis=-1: np.mean(x, axis=axis),
    "sd": lambda x, axis=-1: np.std(x, axis=axis, ddof=1),
    "median": lambda x, axis=-1: np.median(x, axis=axis),
}
rng = np.random.default_rng(3)
cases = []


def bca_over_groups(values, estimate, left_out, confidence):
    """BCa where the jackknife leaves out groups, which scipy does not offer (Efron 1987)."""
    below = (np.mean(values < estimate) + np.mean(values <= estimate)) / 2
    z0, u = special.ndtri(below), np.mean(left_out) - left_out
    a = np.sum(u**3) / (6 * np.sum(u**2) ** 1.5)
    z = z0 + special.ndtri([(1 - confidence) / 2, (1 + confidence) / 2])
    return np.quantile(values, special.ndtr(z0 + z / (1 - a * z)))


def settle(values, estimate):
    """A replicate that holds every row once is the estimate on paper but, summed in another order,
    not in floating point; scipy then counts it to one side by its rounding."""
    return np.where(np.isclose(values, estimate, rtol=1e-12, atol=0), estimate, values)


def case(x, plan, draw, name, method, confidence, seed, stream, replicates=400):
    statistic = STATISTICS[name]
    values = np.array([statistic(x[draw(Stream([seed, stream], [b, 0, 0]))])
                       for b in range(replicates)])
    drawn = SimpleNamespace(bootstrap_distribution=settle(values, statistic(x)))
    result = stats.bootstrap((x,), statistic, n_resamples=0, bootstrap_result=drawn,
                             confidence_level=confidence, method=method)
    cases.append({
        "x": x.tolist(), "plan": plan, "statistic": name, "method": method.lower(),
        "confidence": confidence, "seed": seed, "stream": stream, "replicates": replicates,
        "estimate": statistic(x), "low": result.confidence_interval.low,
        "high": result.confidence_interval.high, "standard_error": result.standard_error,
    })


for n in [2, 7, 30]:
    x = np.round(rng.exponential(size=n), 4)
    for name in STATISTICS:
        for method in ["percentile", "BCa"]:
            if n == 2 and name == "sd":
                continue  # one value left by the jackknife has no sd
            case(x, {"kind": "rows", "n": n}, lambda s: rows(s, n), name, method, 0.9, n, 5)

accuracy = (rng.random(25) < 0.7).astype(float)  # many replicates equal the estimate
for method in ["percentile", "BCa"]:
    case(accuracy, {"kind": "rows", "n": 25}, lambda s: rows(s, 25), "mean", method, 0.95, 1, 0)

x = np.round(rng.normal(size=12), 4)
for groups in [[5, 4, 3], [2, 10]]:
    case(x, {"kind": "nested", "groups": groups}, lambda s: nested(s, groups), "mean",
         "percentile", 0.95, 9, 2)
    streams = [Stream([4, 0], [b, 0, 0]) for b in range(400)]
    values = settle(np.array([np.mean(x[nested(s, groups)]) for s in streams]), np.mean(x))
    members = np.split(np.arange(12), np.cumsum(groups)[:-1])
    left_out = np.array([np.mean(np.delete(x, group)) for group in members])
    low, high = bca_over_groups(values, np.mean(x), left_out, 0.8)
    cases.append({"x": x.tolist(), "plan": {"kind": "nested", "groups": groups},
                  "statistic": "mean", "method": "bca", "confidence": 0.8, "seed": 4, "stream": 0,
                  "replicates": 400, "estimate": np.mean(x), "low": low, "high": high,
                  "standard_error": np.std(values, ddof=1)})
case(x, {"kind": "crossed", "rows": 3, "columns": 4}, lambda s: crossed(s, 3, 4), "mean",
     "percentile", 0.95, 9, 2)

golden.write("bootstrap.json", cases)
