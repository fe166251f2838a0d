"""Golden values small enough to read: scipy 1.17.1, scikit-learn 1.9.1, numpy 2.4.6."""

import numpy as np
import scipy.special
import scipy.stats
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve
from sklearn.neighbors import NearestNeighbors

from data import logits, uniform


def fpr95(y, s):
    fpr, tpr, _ = roc_curve(y, s, drop_intermediate=False)
    return fpr[np.argmax(tpr >= 0.95)]


def figures(inside, outside):
    y = np.r_[np.zeros(len(inside)), np.ones(len(outside))]
    s = np.r_[inside, outside]
    return [float(v) for v in (roc_auc_score(y, s), average_precision_score(y, s),
                               average_precision_score(1 - y, -s), fpr95(y, s), fpr95(1 - y, -s))]


if __name__ == "__main__":
    x, y = [0.5, 0.1, 0.1, 2.0, -1.0, 0.0], [1.0, 0.3, 0.2, 0.2, -4.0, 8.0]
    print("PEARSON", scipy.stats.pearsonr(x, y)[0], "SPEARMAN", scipy.stats.spearmanr(x, y)[0])
    inside = np.array([0.1, 0.4, 0.35, 0.4, 0.2, 0.9, 0.0])
    outside = np.array([0.4, 0.8, 0.9, 0.35, 0.95])
    print("SKLEARN", figures(inside, outside))
    u = uniform(5, 3000)
    print("TIED", figures(np.floor(u[:2000] * 40), np.floor(u[2000:] * 40 + 6)))

    z = logits()
    q = scipy.special.softmax(z, axis=1)
    top = np.sort(z, axis=1)
    for name, s in {"energy": -scipy.special.logsumexp(z, axis=1),
                    "energy T=2": -2 * scipy.special.logsumexp(z / 2, axis=1), "msp": -q.max(1),
                    "entropy": scipy.stats.entropy(q, axis=1), "margin": top[:, -2] - top[:, -1]}.items():
        print(name, s[[0, 1, 599]].tolist(), float(s.mean()))
    features = uniform(6, 700 * 9).reshape(700, 9) - 0.5
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    for k in (1, 7, 50):
        nn = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(unit[:600])
        # Distances by differences: the library's shortcut loses half the digits near 0.
        at = nn.kneighbors(unit[600:])[1][:, -1]
        d = np.sqrt(((unit[600:] - unit[at]) ** 2).sum(1))
        print("KNN", k, d[[0, 1, 99]].tolist(), float(d.mean()))
