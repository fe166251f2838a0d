"""The closed-form interval of a mean with Hall's correction for skewness, by its formula: numpy, scipy.

Prints the constants of crates/stats/src/interval.rs.
"""

import numpy as np
import scipy
from scipy.stats import t

print("numpy", np.__version__, "scipy", scipy.__version__)
x = np.array([0.1, 0.4, 0.2, 2.3, 0.35, 0.9, 0.05, 1.4])
n = len(x)
centred = x - x.mean()
skewness = (centred**3).mean() / (centred**2).mean() ** 1.5
error = x.std(ddof=1) / np.sqrt(n)


def untransformed(value: float) -> float:
    return 3 * np.sqrt(n) / skewness * (np.cbrt(1 + skewness * (value - skewness / (6 * np.sqrt(n))) / np.sqrt(n)) - 1)


quantile = t.ppf(0.975, n - 1)
print(repr(x.mean() - error * untransformed(quantile)), repr(x.mean() - error * untransformed(-quantile)))
