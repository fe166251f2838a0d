"""Metrics of plain arrays, one function each: how well predictions match what people said.

``names()`` lists them, ``explain(name)`` gives formula, unit, direction and reference.

>>> from dissensus import metrics
>>> counts = [[8, 2, 0], [1, 5, 4]]
>>> probs = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]]
>>> round(metrics.kl(counts, probs), 4)
0.0763
>>> metrics.kl(counts, probs, per_item=True).round(4).tolist()
[0.1068, 0.0458]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from dissensus import _dissensus

_DOC = """{title}.

{explained}
Parameters
----------
targets : array_like or Votes
    What people said: votes, counts (whole numbers) or distributions, items × classes; or one class per item, as a
    whole number.
probs : array_like
    What the model predicts, items × classes, in the same order. Rows sum to 1.
per_item : bool
    Return the value of each item, where the metric is their mean.
logits : bool
    ``probs`` are scores before the softmax.
bins : int
    How many bins calibration errors use.
clip : float, optional
    The smallest probability that soft NLL and KL see. Without it, a probability of 0 where somebody voted makes both
    infinite.
ties : {{"lowest", "random", "error"}}
    The majority label of items whose most-voted classes are tied.
seed : int
    The seed of ``ties="random"``.
labels : array_like of int, optional
    Labels from elsewhere, for ``accuracy_given``.

Returns
-------
float, numpy.ndarray or None
    The metric; an array for ``per_item=True``; ``None``, with a warning that says why, where it is undefined.
"""


def _make(name: str) -> Callable[..., Any]:
    def metric(
        targets: Any,
        probs: Any,
        *,
        per_item: bool = False,
        logits: bool = False,
        bins: int = 15,
        clip: float | None = None,
        ties: str = "lowest",
        seed: int = 0,
        labels: Any = None,
    ) -> Any:
        options = {"logits": logits, "bins": bins, "clip": clip, "ties": ties, "seed": seed, "labels": labels}
        if per_item:
            return _dissensus.metric_items(name, targets, probs, options)
        value, note = _dissensus.metric_value(name, targets, probs, options)
        if note is not None:
            warnings.warn(f"{name}: {note}", stacklevel=2)
        return value

    title, _ = _dissensus.metric_title(name)
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = _DOC.format(title=title, explained=explain(name).partition("\n\n")[2])
    return metric


def names() -> list[str]:
    """The names of all metrics, in the order of the tables.

    >>> names()[:3]
    ['soft_nll', 'kl', 'soft_brier']
    """
    return _dissensus.metric_names()


def explain(name: str) -> str:
    """What a metric says about itself: formula, unit, direction, settings, reference.

    >>> print(explain("accuracy").splitlines()[0])
    accuracy: accuracy against the majority label
    """
    return _dissensus.metric_explain(name)


for _name in names():
    globals()[_name] = _make(_name)

__all__ = ["explain", "names", *names()]
