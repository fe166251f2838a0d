"""Wilcoxon's signed-rank test. Writes wilcoxon.json.

Without ties and zeros: scipy's exact distribution. With them: scipy's permutation test over all
2**n sign patterns, since its "exact" assumes neither. And the normal approximation for both.
"""

import warnings

import golden
import numpy as np
from scipy import stats

ALTERNATIVES = ["two-sided", "less", "greater"]
rng = np.random.default_rng(20240607)
every = stats.PermutationMethod(n_resamples=np.inf)
cases = []


def case(d, method, alternative, zeros="wilcox", correction=False):
    scipy_method = {"exact": "exact", "permutation": every, "normal": "asymptotic"}[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "sample size too small for normal approximation"
        result = stats.wilcoxon(d, zero_method=zeros, correction=correction,
                                alternative=alternative, method=scipy_method)
        plus = stats.wilcoxon(d, zero_method=zeros, alternative="greater",
                              method="asymptotic").statistic
    cases.append({
        "d": [float(x) for x in d], "method": "normal" if method == "normal" else "exact",
        "alternative": alternative, "zeros": zeros, "continuity": correction,
        "w_plus": plus, "p": result.pvalue,
        "z": getattr(result, "zstatistic", None) if method == "normal" else None,
    })


for n in [1, 2, 3, 5, 8, 13, 25, 50]:
    for shift in [-0.6, 0.0, 0.9]:
        d = np.round(rng.normal(shift, 1.0, n), 6)
        assert len(set(abs(d))) == n and (d != 0).all()
        for alternative in ALTERNATIVES:
            case(d, "exact", alternative)
            if n > 3:
                case(d, "normal", alternative)
                case(d, "normal", alternative, correction=True)

for n in [200, 400]:
    d = np.round(rng.normal(0.1, 1.0, n), 9)
    assert len(set(abs(d))) == n and (d != 0).all()
    for alternative in ALTERNATIVES:
        case(d, "exact", alternative)

for n in [2, 4, 6, 9, 12]:
    for shift in [-1, 0, 2]:
        d = rng.integers(-3, 4, n) + shift
        d[0] = 2  # at least one that differs
        for zeros in ["wilcox", "pratt", "zsplit"]:
            for alternative in ALTERNATIVES:
                case(d.astype(float), "permutation", alternative, zeros)
                if n > 4:
                    for correction in [False, True]:
                        case(d.astype(float), "normal", alternative, zeros, correction)

golden.write("wilcoxon.json", cases)
