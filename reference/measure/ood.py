"""Golden values of the out-of-distribution scores, of the figures of detection and of their
intervals. Writes crates/measure/tests/golden/ood.json: numpy 2.4.6, scipy 1.17.1, scikit-learn 1.9.1.

    pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
    python ood.py

The inputs are made by the same formulas as in crates/measure/tests/ood.rs. DeLong's variance is
computed from all pairs, as it is defined. The draws of the bootstrap are made again from numpy's
Philox, and its figures are scikit-learn's on the drawn scores.
"""

import json
from pathlib import Path

import numpy as np
import scipy.special
import scipy.stats
import sklearn
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve
from sklearn.neighbors import NearestNeighbors

from data import U64, uniform

TO = Path(__file__).resolve().parents[2] / "crates" / "measure" / "tests" / "golden" / "ood.json"
INSIDE, OUTSIDE, TRAINING, C, WIDTH = 60, 80, 150, 6, 12
NEIGHBOURS, ODIN, REPLICATES, SEED = 5, 1000.0, 200, 5


def logits(stream, n, scale, lift):
    """One class of each row is lifted."""
    u = uniform(stream, n * (C + 1)).reshape(n, C + 1)
    z = u[:, :C] * scale
    z[np.arange(n), (u[:, C] * C).astype(int)] += lift
    return z


def features(stream, n, pull):
    """Rows near one of C centres, the nearer the larger the pull."""
    centres = uniform(20, C * WIDTH).reshape(C, WIDTH) - 0.5
    u = uniform(stream, n * (WIDTH + 1)).reshape(n, WIDTH + 1)
    return centres[(u[:, WIDTH] * C).astype(int)] * pull + (u[:, :WIDTH] - 0.5)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def odin(z):
    """On the program's scale, in extended precision."""
    p = scipy.special.softmax(z.astype(np.longdouble) / ODIN, axis=1).max(1)
    return ODIN * (np.log((1 - p) / p) - np.log(np.longdouble(C - 1)))


def nearest(a, b):
    at = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute").fit(b).kneighbors(a)[1][:, -1]
    return np.sqrt(((a - b[at]) ** 2).sum(1))


def scores(z, perturbed, f, training):
    q, top = scipy.special.softmax(z, axis=1), np.sort(z, axis=1)
    return {"energy": -scipy.special.logsumexp(z, axis=1), "msp": -q.max(1), "odin": odin(perturbed),
            "entropy": scipy.stats.entropy(q, axis=1), "margin": top[:, -2] - top[:, -1],
            "knn": nearest(unit(f), unit(training)), "knn_raw": nearest(f, training)}


def fpr95(y, s):
    fpr, tpr, _ = roc_curve(y, s, drop_intermediate=False)
    return fpr[np.argmax(tpr >= 0.95)]


def figures(inside, outside):
    """By name, all but AUROC."""
    y = np.r_[np.zeros(len(inside)), np.ones(len(outside))]
    s = np.r_[inside, outside]
    return {"aupr_out": average_precision_score(y, s), "aupr_in": average_precision_score(1 - y, -s),
            "fpr95": fpr95(y, s), "fpr95_in": fpr95(1 - y, -s)}


def delong(inside, outside):
    """Value, standard error and interval of AUROC, from the comparison of every pair."""
    above = (outside[:, None] > inside) + 0.5 * (outside[:, None] == inside)
    variance = (np.var(above.mean(1), ddof=1) / len(outside)
                + np.var(above.mean(0), ddof=1) / len(inside))
    area = roc_auc_score(np.r_[np.zeros(len(inside)), np.ones(len(outside))], np.r_[inside, outside])
    se = np.sqrt(variance)
    reach = scipy.stats.norm.ppf(0.975) * se / (area * (1 - area))
    low, high = scipy.special.expit(scipy.special.logit(area) + np.array([-reach, reach]))
    return [area, se, low, high]


def draws(replicate, side, n):
    """Numbers below n by Lemire's method from the stream at place (replicate, side, 0)."""
    below = ((replicate << 64) + (side << 128) - 1) % 2**256  # numpy adds 1 before it draws
    words = [below >> 64 * i & (2**64 - 1) for i in range(4)]
    raw = np.random.Philox(key=U64([SEED, int.from_bytes(b"ood", "big")]), counter=U64(words))
    found = []
    while len(found) < n:
        product = int(raw.random_raw()) * n
        if product % 2**64 >= (2**64 - n) % n:
            found.append(product >> 64)
    return found


def bootstrap(inside, outside):
    """Value, standard error and interval of the other figures."""
    inside, outside = np.sort(inside), np.sort(outside)
    drawn = [figures(inside[draws(b, 0, len(inside))], outside[draws(b, 1, len(outside))])
             for b in range(REPLICATES)]
    return {name: [value, np.std([d[name] for d in drawn], ddof=1),
                   *np.quantile([d[name] for d in drawn], [0.025, 0.975])]
            for name, value in figures(inside, outside).items()}


def case(name, inside, outside, by=None):
    """The figures are those of `by`, which orders the items as the scores do."""
    a, b = by or (inside, outside)
    found = {"auroc": delong(a, b), **bootstrap(a, b)}
    return {"score": name, "inside": inside, "outside": outside,
            "figures": {k: [float(x) for x in v] for k, v in found.items()}}


if __name__ == "__main__":
    versions = (np.__version__, scipy.__version__, sklearn.__version__)
    assert versions == ("2.4.6", "1.17.1", "1.9.1"), versions
    training = features(23, TRAINING, 1.5)
    hot = logits(12, INSIDE, 2.0, 1.6), logits(13, OUTSIDE, 2.0, 0.4)
    ours = scores(logits(10, INSIDE, 2.0, 1.5), hot[0], features(21, INSIDE, 1.5), training)
    theirs = scores(logits(11, OUTSIDE, 2.0, 0.5), hot[1], features(22, OUTSIDE, 0.9), training)
    # ODIN's figures come from the plain softmax, so that the program's scale is checked, too.
    plain = [-scipy.special.softmax(z / ODIN, axis=1).max(1) for z in hot]
    cases = [case(name, ours[name], theirs[name], plain if name == "odin" else None)
             for name in ours]
    u = uniform(24, INSIDE + OUTSIDE)
    cases.append(case("tied", np.floor(u[:INSIDE] * 9), np.floor(u[INSIDE:] * 9 + 2)))
    TO.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(c, default=lambda a: [float(v) for v in a]) for c in cases)
    TO.write_text("[\n" + lines + "\n]\n")
    print(f"{TO.name}: {len(cases)} cases")
