"""Dawid and Skene's model on real votes: EM in numpy until it converges, its parameters beside those of crowd-kit after as
many rounds. Writes dawid_skene_real.json.

    python reference/labels/dawid_skene_real.py FOLDER      with rte_crowd.txt and web_crowd.txt
"""

import sys
from pathlib import Path

import golden
import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene

LEAST, TOLERANCE = 1e-10, 1e-5


def fit(item, who, label, items, people, classes):
    """Posteriors, priors, errors [person, class, vote], and ln P(votes) before each round."""
    posteriors = np.zeros((items, classes))
    np.add.at(posteriors, (item, label), 1.0)
    posteriors /= posteriors.sum(1, keepdims=True)

    def maximize():
        counts = np.zeros((people, classes, classes))
        np.add.at(counts, (who, slice(None), label), posteriors[item])
        cast = np.zeros((people, classes))
        np.add.at(cast, (who, label), 1.0)
        counts = np.where(cast[:, None, :] > 0, np.maximum(counts, LEAST), 0.0)
        return np.maximum(posteriors.mean(0), LEAST), counts / counts.sum(2, keepdims=True)

    priors, errors = maximize()
    history = []
    while True:
        log = np.tile(np.log(priors), (items, 1))
        np.add.at(log, item, np.log(errors[who, :, label]))
        top = log.max(1, keepdims=True)
        evidence = top[:, 0] + np.log(np.exp(log - top).sum(1))
        posteriors = np.exp(log - evidence[:, None])
        history.append(evidence.sum())
        priors, errors = maximize()
        if len(history) > 1 and (history[-1] - history[-2]) / len(item) < TOLERANCE:
            return posteriors, priors, errors, history


cases = []
for name in ["rte_crowd.txt", "web_crowd.txt"]:
    data = pd.read_csv(Path(sys.argv[1]) / name, sep="\t", names=["task", "worker", "label"], dtype=str)
    tasks, workers, labels = (sorted(set(data[column])) for column in data)
    at = [pd.Index(names).get_indexer(data[column]) for names, column in zip((tasks, workers, labels), data)]
    posteriors, priors, errors, history = fit(*at, len(tasks), len(workers), len(labels))
    theirs = DawidSkene(n_iter=len(history), tol=-np.inf).fit(data)
    far = [
        np.abs(theirs.priors_[labels].values - priors).max(),
        np.abs(theirs.probas_.loc[tasks, labels].values - np.maximum(posteriors, 1e-10)).max(),
        max(np.abs(row[labels].values - errors[workers.index(who), :, labels.index(vote)]).max()
            for (who, vote), row in theirs.errors_.iterrows()),
    ]
    assert max(far) < 1e-9, far
    print(name, len(history), history[-1], far)
    cases.append({
        "file": name, "iterations": len(history), "log_likelihood": history[-1], "labels": labels,
        "priors": priors, "targets": posteriors.mean(0),
        "annotators": [
            [who, int((data.worker == who).sum()),
             (priors * np.diagonal(errors[place])).sum() / priors.sum(), errors[place]]
            for place, who in list(enumerate(workers))[:12]
        ],
    })

golden.write("dawid_skene_real.json", cases)
