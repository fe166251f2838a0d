"""Distribution functions over wide grids, tails included. Writes special.json.

scipy's t.sf is off by 3e-11 at 1 degree of freedom and t = 1e-6, so that its column comes from the
closed form, atan(1/t)/pi. Its binom.cdf is off by 2e-12 far in the tail at a million draws, so
that those come from whole numbers.
"""

import math
from fractions import Fraction

import golden
import numpy as np
from scipy import special, stats

cases = []


def half_binomial_lower(k, n):
    """P(X <= k) in whole numbers with 3000 bits behind the point."""
    term = (math.comb(n, k) << 3000) >> n
    total = 0
    for j in range(k, -1, -1):
        total += term
        term = term * j // (n - j + 1)
        if term == 0:
            break
    return Fraction(total, 1 << 3000)


for x in [*np.linspace(-8, 8, 33), -37.0, -30.0, -20.0, -12.5, 1e-9, 1e-300]:
    cases.append({"of": "normal_cdf", "x": x, "value": special.ndtr(x)})

for p in [1e-300, 1e-100, 1e-20, 1e-10, 1e-6, 1e-3, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.3, 0.4,
          0.49999, 0.5, 0.6, 0.75, 0.9, 0.925, 0.95, 0.975, 0.99, 0.999]:
    cases.append({"of": "normal_quantile", "x": p, "value": special.ndtri(p)})

T = [1e-6, 1e-3, 0.1, 0.5, 1.0, 1.5, 1.7, 1.75, 1.8, 2.0, 2.776, 3.5, 5.0, 10.0, 30.0, 1e3, 1e6]
for df in [1, 2, 3, 4, 5, 9, 10, 29, 30, 31, 99, 300, 999, 1e4, 1e5, 1e6, 1e7]:
    for t in T:
        value = math.atan(1 / t) / math.pi if df == 1 else stats.t.sf(t, df)
        if value > 1e-290:
            cases.append({"of": "t_sf", "x": t, "df": df, "value": value})

for df in [1, 2, 3, 4, 9, 29, 99, 999, 1e5]:
    for p in [1e-12, 1e-6, 1e-3, 0.005, 0.025, 0.05, 0.1, 0.25, 0.4, 0.49]:
        cases.append({"of": "t_quantile_upper", "x": p, "df": df, "value": stats.t.isf(p, df)})

for n in [1, 2, 5, 10, 31, 100, 999, 1000, 10_000, 1_000_000]:
    for k in sorted({0, 1, n // 10, n // 4, n // 3, 2 * n // 5, 49 * n // 100, n // 2, 3 * n // 5}):
        value = float(half_binomial_lower(k, n))
        if value > 1e-290:
            assert math.isclose(value, stats.binom.cdf(k, n, 0.5), rel_tol=1e-11)
            cases.append({"of": "half_binomial_lower", "x": k, "df": n, "value": value})

golden.write("special.json", cases)
