"""Golden values of the metrics: numpy 2.4.6, scipy 1.17.1, relplot 1.0.3, scikit-learn 1.9.1.

    pip install numpy==2.4.6 scipy==1.17.1 relplot==1.0.3 scikit-learn==1.9.1
    python metrics.py
"""

import numpy as np
import scipy.optimize
import scipy.special
import scipy.stats
from relplot.metrics import smECE
from scipy.spatial.distance import jensenshannon

from data import given, logits, votes


def ece_mass(f, y, bins):
    order = np.argsort(f, kind="stable")
    parts = np.array_split(order, bins)
    return sum(len(b) / len(f) * abs(f[b].mean() - y[b].mean()) for b in parts if len(b))


def ece_width(f, y, bins):
    b = np.minimum((f * bins).astype(int), bins - 1)
    return sum((b == j).mean() * abs(f[b == j].mean() - y[b == j].mean()) for j in set(b))


def debiased(f, y, parts):
    """Each bin's gap less what normal noise of its standard error is expected to add, not below 0 in all."""
    total = 0.0
    for part in parts:
        gaps = f[part] - y[part]
        gap, error = abs(gaps.mean()), gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
        if error > 0:
            t = gap / error
            gap -= error * (np.sqrt(2 / np.pi) * np.exp(-t * t / 2) - 2 * t * scipy.stats.norm.sf(t))
        total += len(gaps) / len(f) * gap
    return max(total, 0.0)


def bins_of_mass(f, bins):
    return [part for part in np.array_split(np.argsort(f, kind="stable"), bins) if len(part)]


def bins_of_width(f, bins):
    b = np.minimum((f * bins).astype(int), bins - 1)
    return [np.flatnonzero(b == j) for j in sorted(set(b))]


def brier_parts(q, p, bins):
    """Murphy's parts for one class, and what bins of forecasts that differ leave over."""
    b = np.minimum((q * bins).astype(int), bins - 1)
    reliability = resolution = within = 0.0
    for j in set(b):
        m, share = b == j, (b == j).mean()
        reliability += share * (q[m].mean() - p[m].mean()) ** 2
        resolution += share * (p[m].mean() - p.mean()) ** 2
        within += share * (np.var(q[m]) - 2 * np.mean((q[m] - q[m].mean()) * (p[m] - p[m].mean())))
    return np.array([reliability, resolution, np.var(p), within])


def tempered(p, ln_q):
    """The best temperature, where the slope of soft NLL by its inverse is 0, and soft NLL there."""
    at = lambda beta: scipy.special.log_softmax(beta * ln_q, axis=1)
    slope = lambda beta: ((np.exp(at(beta)) - p) * ln_q).sum(1).mean()
    beta = scipy.optimize.brentq(slope, 0.01, 100, xtol=1e-15, rtol=1e-15)
    return 1 / beta, -(p * at(beta)).sum(1).mean()


def metrics(p, q, ln_q, label, bins=15):
    rows = np.arange(len(p))
    majority, predicted = p.argmax(1), q.argmax(1)
    f, human = q.max(1), p[rows, predicted]
    correct = (predicted == majority) * 1.0
    h_p, h_q = scipy.stats.entropy(p, axis=1), scipy.stats.entropy(q, axis=1)
    onehot = np.eye(p.shape[1])[majority]
    parts = sum(brier_parts(q[:, k], p[:, k], bins) for k in range(p.shape[1]))
    return {
        "soft_nll": -(p * ln_q).sum(1).mean(),
        "kl": scipy.special.rel_entr(p, q).sum(1).mean(),
        "soft_brier": ((q - p) ** 2).sum(1).mean(),
        "js_distance": jensenshannon(p, q, axis=1).mean(),
        "total_variation": (np.abs(q - p).sum(1) / 2).mean(),
        "hard_nll": -ln_q[rows, majority].mean(),
        "accuracy": correct.mean(),
        "accuracy_given": (predicted == label).mean(),
        "ece_mass": ece_mass(f, correct, bins),
        "ece_mass_human": ece_mass(f, human, bins),
        "ece_mass_debiased": debiased(f, correct, bins_of_mass(f, bins)),
        "ece_mass_debiased_human": debiased(f, human, bins_of_mass(f, bins)),
        "ece_width": ece_width(f, correct, bins),
        "ece_width_human": ece_width(f, human, bins),
        "ece_width_debiased": debiased(f, correct, bins_of_width(f, bins)),
        "ece_width_debiased_human": debiased(f, human, bins_of_width(f, bins)),
        "smooth_ece": smECE(f, correct),
        "smooth_ece_human": smECE(f, human),
        "classwise_ece": np.mean([ece_width(a, b, bins) for a, b in zip(q.T, onehot.T)]),
        "classwise_ece_human": np.mean([ece_width(a, b, bins) for a, b in zip(q.T, p.T)]),
        "temperature": tempered(p, ln_q)[0],
        "soft_nll_tempered": tempered(p, ln_q)[1],
        # Rounded, so that entropies that are equal but for rounding tie, as they should.
        "entropy_spearman": scipy.stats.spearmanr(h_q.round(12), h_p.round(12))[0],
        "entropy_pearson": scipy.stats.pearsonr(h_q, h_p)[0],
        "entropy_error": np.abs(h_q - h_p).mean(),
        "brier_reliability": parts[0],
        "brier_resolution": parts[1],
        "brier_uncertainty": parts[2],
        "brier_within": parts[3],
    }


if __name__ == "__main__":
    z, counts = logits(), votes()
    p = counts / counts.sum(1, keepdims=True)
    q, ln_q = scipy.special.softmax(z, axis=1), scipy.special.log_softmax(z, axis=1)
    print("METRICS")
    for name, value in metrics(p, q, ln_q, given()).items():
        print(f'    ("{name}", {float(value)!r}),')
    clip = np.maximum(q, 0.01)
    print("CLIPPED", [float(-(p * np.log(clip)).sum(1).mean()),
                      float(scipy.special.rel_entr(p, clip).sum(1).mean())])
    print("BRIER_CLASS_2", brier_parts(q[:, 2], p[:, 2], 15).tolist(), float(((q - p)[:, 2] ** 2).mean()))
    print("MEANS", p.mean(0).tolist(), q.mean(0).tolist())
