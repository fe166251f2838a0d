"""Pearson's and Spearman's correlation. Writes correlation.json.

scipy's spearmanr has no exact mode; its documentation recommends the permutation test used here.
"""

import warnings

import golden
import numpy as np
from scipy import stats

ALTERNATIVES = ["two-sided", "less", "greater"]
rng = np.random.default_rng(11)
every = stats.PermutationMethod(n_resamples=np.inf)
cases = []


def case(name, x, y, alternative, method, r, p):
    cases.append({"correlation": name, "x": x.tolist(), "y": y.tolist(), "method": method,
                  "alternative": alternative, "r": r, "p": p})


def samples():
    for n in [3, 5, 8, 20, 80]:
        for slope in [-1.0, 0.0, 0.5]:
            x = np.round(rng.normal(size=n), 5)
            yield x, np.round(slope * x + rng.normal(size=n), 5)  # no ties
    for n in [4, 7, 30]:
        for _ in range(3):
            x, y = rng.integers(0, 4, n).astype(float), rng.integers(0, 5, n).astype(float)
            x[:2], y[:2] = [0, 1], [1, 0]  # neither is constant
            yield x, y  # ties


warnings.simplefilter("ignore")
for x, y in samples():
    for alternative in ALTERNATIVES:
        r = stats.pearsonr(x, y, alternative=alternative)
        case("pearson", x, y, alternative, "t", r.statistic, r.pvalue)
        s = stats.spearmanr(x, y, alternative=alternative)
        case("spearman", x, y, alternative, "t", s.statistic, s.pvalue)
        if len(x) <= 8:
            r = stats.pearsonr(x, y, alternative=alternative, method=every)
            case("pearson", x, y, alternative, "exact", r.statistic, r.pvalue)
            exact = stats.permutation_test((x,), lambda x: stats.spearmanr(x, y).statistic,
                                           permutation_type="pairings", vectorized=False,
                                           n_resamples=np.inf, alternative=alternative)
            case("spearman", x, y, alternative, "exact", exact.statistic, exact.pvalue)

golden.write("correlation.json", cases)
