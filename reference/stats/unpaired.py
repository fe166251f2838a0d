"""Welch's t test from means, standard deviations and counts. Writes unpaired.json."""

import golden
import numpy as np
from scipy import stats

rng = np.random.default_rng(11)
cases = []
for left_n in [2, 5, 10, 40]:
    for right_n in [2, 5, 10, 200]:
        for shift in [-0.4, 0.0, 2.0]:
            left = [left_n, *np.round([rng.normal(shift), rng.uniform(0.1, 3.0)], 4).tolist()]
            right = [right_n, *np.round([rng.normal(), rng.uniform(0.1, 3.0)], 4).tolist()]
            for alternative in ["two-sided", "less", "greater"]:
                found = stats.ttest_ind_from_stats(
                    left[1], left[2], left[0], right[1], right[2], right[0],
                    equal_var=False, alternative=alternative)
                cases.append({"left": left, "right": right, "alternative": alternative,
                              "t": found.statistic, "p": found.pvalue})

golden.write("unpaired.json", cases)
