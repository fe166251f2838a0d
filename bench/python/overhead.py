"""What a call costs beside its work: calls on two items, against the 20 µs that they may take."""

import numpy as np
from run import best, row

from dissensus import Delivery, Votes

CALLS = 2_000
MOST = 20e-6


def rows(repeats):
    votes = Votes.from_counts([[3, 1], [0, 2]], items=["a", "b"])
    delivery = Delivery(votes, "multipass")
    soft = Delivery(votes, "soft")
    counts = np.array([[3, 1], [0, 2]])
    calls = {
        "Delivery.at (a label)": lambda: delivery.at(0, 5),
        "Delivery.at (a distribution)": lambda: soft.at(0, 5),
        "Delivery.label": lambda: delivery.label("a", 5),
        "Delivery.labels": lambda: delivery.labels(5),
        "Votes.targets": lambda: votes.targets(),
        "Votes.from_counts": lambda: Votes.from_counts(counts),
    }

    def many(call):
        for _ in range(CALLS):
            call()

    found = []
    for name, call in calls.items():
        (seconds,) = best(repeats, lambda call=call: many(call))
        found.append(row(f"one call of {name}", seconds / CALLS, MOST, "20 µs", 1))
    return found
