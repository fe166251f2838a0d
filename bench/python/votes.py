"""Ten million votes in a data frame to counts per item and class, beside pandas' crosstab."""

import numpy as np
import pandas as pd
from run import best, row

from dissensus import Votes

ROWS, ITEMS, CLASSES, PEOPLE = 10_000_000, 1_000_000, 10, 5_000


def rows(repeats):
    random = np.random.default_rng(0)
    numbers = pd.DataFrame({
        "item": random.integers(0, ITEMS, ROWS),
        "annotator": random.integers(0, PEOPLE, ROWS),
        "label": random.integers(0, CLASSES, ROWS),
    })
    found = []
    for kind in ["whole numbers", "texts"]:
        frame = numbers
        if kind == "texts":
            frame = pd.DataFrame({
                "item": "item-" + numbers["item"].astype("str"),
                "annotator": "w" + numbers["annotator"].astype("str"),
                "label": np.array([f"class {n}" for n in range(CLASSES)], dtype=object)[numbers["label"]],
            }).astype("str")
        ours = lambda: Votes.from_frame(frame)  # noqa: B023, E731
        counted = lambda: Votes.from_frame(frame, ignore=["annotator"]).counts()  # noqa: B023, E731
        crosstab = lambda: pd.crosstab(frame["item"], frame["label"])  # noqa: B023, E731
        read, counts = best(repeats, ours, counted)
        # Minutes.
        (peer,) = best(1, crosstab)
        what = f"{ROWS:,} rows of {kind}, {ITEMS:,} items"
        found.append(row(f"{what}: votes with annotators", read, peer, "pandas.crosstab, counts alone", 3))
        found.append(row(f"{what}: counts", counts, peer, "pandas.crosstab", 3))
    return found
