"""Paired t test, its interval, sign test. Writes paired.json."""

import golden
import numpy as np
from scipy import stats

rng = np.random.default_rng(7)
cases = []
for n in [2, 3, 5, 10, 40, 150]:
    for shift in [-0.5, 0.0, 0.4, 3.0]:
        d = np.round(rng.normal(shift, 1.0, n), 5)
        d[rng.random(n) < 0.1] = 0.0
        if len(set(d)) == 1:
            continue
        signs = int((d > 0).sum()), int((d != 0).sum())
        for alternative in ["two-sided", "less", "greater"]:
            t = stats.ttest_1samp(d, 0.0, alternative=alternative)
            two_sided = stats.ttest_1samp(d, 0.0)
            interval = two_sided.confidence_interval(0.95)
            cases.append({
                "d": d.tolist(), "alternative": alternative, "t": t.statistic, "p": t.pvalue,
                "low": interval.low, "high": interval.high,
                "sign_p": stats.binomtest(*signs, alternative=alternative).pvalue,
            })

golden.write("paired.json", cases)
