"""Dawid and Skene's model as crowd-kit fits it, a fixed number of rounds. Writes dawid_skene.json."""

import golden
import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene

rng = np.random.default_rng(8)
cases = []
for items, people, classes, rounds in [(30, 6, 2, 1), (30, 6, 3, 5), (60, 12, 4, 30), (25, 9, 5, 10)]:
    truth, skill = rng.integers(0, classes, items), rng.uniform(0.3, 0.95, people)
    votes = []
    for item in range(items):
        for person in rng.choice(people, rng.integers(1, 6), replace=False):
            right = rng.random() < skill[person]
            label = truth[item] if right else rng.integers(0, classes)
            votes.append([f"i{item}", f"a{person}", str(label)])
    data = pd.DataFrame(votes, columns=["task", "worker", "label"])
    labels = sorted(set(data.label))
    assert len(labels) == classes
    # A loss that may fall by any amount never stops the rounds.
    model = DawidSkene(n_iter=rounds, tol=-np.inf).fit(data)
    assert len(model.loss_history_) == rounds
    cases.append({
        "votes": votes, "rounds": rounds, "labels": labels, "priors": model.priors_[labels].values,
        "posteriors": [[task, row[labels].values] for task, row in model.probas_.iterrows()],
        "errors": [[*pair, row[labels].values] for pair, row in model.errors_.iterrows()],
    })

golden.write("dawid_skene.json", cases)
