"""Predictions beside votes: scores, comparisons, reliability."""

from __future__ import annotations

from dissensus import _dissensus

TYPE_CHECKING = False  # without importing typing, which takes longer than all of this
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypeAlias

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from dissensus._dissensus import Ceiling, Comparison, Reliability, Scores, SeedComparison, Votes
    from dissensus._progress import Show

    Ids: TypeAlias = Sequence[str | int]
    Predicted: TypeAlias = ArrayLike | str | os.PathLike[str] | Mapping[Any, ArrayLike] | Any
    Kind: TypeAlias = Literal["probabilities", "logits", "answers"]
    Join: TypeAlias = Literal["models", "classes", "seeds"]
    Ties: TypeAlias = Literal["lowest", "random", "error"]
    Positions: TypeAlias = Literal["items", "classes"] | Sequence[Literal["items", "classes"]]

_SHARED = """items : sequence of str or int, optional
    The ids of the rows of an array. Without them, the rows are in the order of ``votes.items``. A dict, a data frame
    and a file have ids of their own.
classes : sequence of str, optional
    The classes of the columns of an array. Without them, the columns are in the order of ``votes.classes``.
class_map : dict or str, optional
    The votes' names of classes that the predictions call otherwise: ``{"entailment": "e", "neutral": "n"}``.
class_names : list of str or path, optional
    What the predictions call the classes of columns without names, in the order of the columns; or the
    ``config.json`` of a model, which has them as ``id2label``.
class_order : list of str or str, optional
    The classes of columns that have no names of classes, in the order of the columns; ``"by name"`` where they are
    sorted by name; one class where the only column is its probability.
trust_order : bool, optional
    Keep the order of the classes although another one fits the votes significantly better.
kind : {"probabilities", "logits", "answers"}, optional
    What the numbers are; detected, or refused, where it is left out. ``"answers"`` are numbers of answers, as of a
    language model that is asked several times.
answer_separator : str, optional
    The character between several answers or numbers in a cell of a file.
by_position : {"items", "classes"} or list of them, optional
    Match rows or columns of a file with the votes by position, not by id or name.
id, key : str, optional
    The column or array of a file that holds the ids, and the one that holds the predictions.
metrics : str or list of str, optional
    Names of ``dissensus.metrics.names()``, or ``"all"``.
labels : Votes or array_like, optional
    Labels from elsewhere, for ``accuracy_given``: a class per item, in the order of ``votes.items``.
bins : int
    How many bins calibration errors use.
clip : float, optional
    The smallest probability that soft NLL and KL see. Without it, a probability of 0 where somebody voted makes both
    infinite.
ties : {"lowest", "random", "error"}
    The majority label of items whose most-voted classes are tied.
replicates : int, optional
    Make intervals from so many bootstrap replicates, 0 for no intervals. By default they are in closed form.
seed : int
    The seed of everything random.
progress : bool or callable, optional
    Whether a progress bar is shown; by default in terminals and notebooks."""


def _options(given: dict[str, Any], *needed: str) -> dict[str, Any]:
    """The arguments of a call by name: those that it needs, and those that are given."""
    return {name: value for name, value in given.items() if value is not None or name in needed}


def score(
    votes: Votes,
    probs: Predicted,
    *,
    name: str | None = None,
    items: Ids | None = None,
    classes: Sequence[str] | None = None,
    class_map: Mapping[str, str] | str | None = None,
    class_names: Sequence[str] | str | os.PathLike[str] | None = None,
    class_order: Sequence[str] | str | None = None,
    trust_order: bool | None = None,
    kind: Kind | None = None,
    answer_separator: str | None = None,
    by_position: Positions | None = None,
    id: str | None = None,
    key: str | None = None,
    join: Join | None = None,
    by: Literal["entropy"] | None = None,
    slices: int = 4,
    ceiling: bool | int = False,
    metrics: str | Sequence[str] | None = None,
    labels: Any = None,
    bins: int = 15,
    clip: float | None = None,
    ties: Ties = "lowest",
    replicates: int | None = None,
    seed: int = 0,
    progress: bool | Show | None = None,
) -> Scores:
    """Scores predictions against votes: every metric, with a 95 % interval over the items where one is known to hold.

    The numbers are those of ``dissensus score``, to the last bit.

    Parameters
    ----------
    votes : Votes
        What people said.
    probs : array_like, path, dict or data frame
        What the model predicts: an array, items × classes; the path of a file of predictions; a dict of an id and a
        row of numbers each; or a data frame with a column of ids and a column for each class.
    name : str, optional
        The name of the model in tables.
    join : {"models", "classes", "seeds"}, optional
        ``"classes"``: ``probs`` is a list of a file for each class, with a number per item. ``"seeds"``: it is a list
        of predictions of several seeds, or a file with a column of seeds, whose probabilities are averaged.
        ``"models"``: the seeds in a column are models of their own.
    by : {"entropy"}, optional
        Also score slices of the items by how much people disagree.
    slices : int
        How many slices.
    ceiling : bool or int
        Also estimate how well any model can score against these votes, from so many divisions of the votes; ``True``
        is 20.
    {shared}

    Returns
    -------
    Scores
        ``scores["kl"]`` is a number, ``scores.to_frame()`` a table, ``scores.plot()`` a reliability diagram.

    Examples
    --------
    >>> from dissensus import Votes, score
    >>> votes = Votes.from_arrays(["a", "a", "a", "b", "b", "c"], ["cat", "dog", "dog", "cat", "cat", "dog"])
    >>> scores = score(votes, [[0.4, 0.6], [0.9, 0.1], [0.2, 0.8]], metrics=["accuracy", "kl"])
    >>> scores["accuracy"]
    1.0
    >>> scores.to_frame().columns
    ['model', 'slice', 'items', 'metric', 'value', 'low', 'high', 'method', 'note']
    """
    given = _options(locals(), "votes", "probs")
    given["ceiling"] = 20 if ceiling is True else ceiling or None
    return _dissensus.judge_score(given.pop("votes"), given.pop("probs"), given)


def compare(
    votes: Votes,
    a: Predicted,
    b: Predicted,
    *more: Predicted,
    names: Sequence[str] | None = None,
    items: Ids | None = None,
    classes: Sequence[str] | None = None,
    class_map: Mapping[str, str] | str | None = None,
    class_names: Sequence[str] | str | os.PathLike[str] | None = None,
    class_order: Sequence[str] | str | None = None,
    trust_order: bool | None = None,
    kind: Kind | None = None,
    answer_separator: str | None = None,
    by_position: Positions | None = None,
    id: str | None = None,
    key: str | None = None,
    join: Join | None = None,
    metrics: str | Sequence[str] | None = None,
    labels: Any = None,
    bins: int = 15,
    clip: float | None = None,
    ties: Ties = "lowest",
    replicates: int | None = None,
    seed: int = 0,
    progress: bool | Show | None = None,
) -> Comparison:
    """Compares models with the first of them on the same items, with intervals over the items.

    The intervals hold for these trained models; :func:`compare_seeds` compares methods.

    Parameters
    ----------
    votes : Votes
        What people said.
    a, b, *more : array_like, path, dict or data frame
        What the models predict, as for :func:`score`. Items that not all of them predict are left out.
    join : {"models", "classes", "seeds"}, optional
        Each model is a list or file, as for :func:`score`.
    names : sequence of str, optional
        The names of the models.
    {shared}

    Examples
    --------
    >>> from dissensus import Votes, compare
    >>> votes = Votes.from_arrays(["a", "a", "a", "b", "b", "c"], ["cat", "dog", "dog", "cat", "cat", "dog"])
    >>> found = compare(votes, [[0.4, 0.6], [0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.7, 0.3], [0.3, 0.7]])
    >>> found.baseline, found.items
    ('a', 3)
    """
    given = _options(locals(), "votes", "a", "b")
    models = [given.pop("a"), given.pop("b"), *given.pop("more")]
    names = list(given.pop("names", None) or ["a", "b", *(f"more[{at}]" for at in range(len(more)))])
    if len(names) != len(models):
        raise ValueError(f"names has {len(names)} entries for {len(models)} models")
    return _dissensus.judge_compare(given.pop("votes"), list(zip(names, models)), given)


def compare_seeds(
    votes: Votes,
    a: Sequence[Predicted],
    b: Sequence[Predicted],
    *,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    items: Ids | None = None,
    classes: Sequence[str] | None = None,
    class_map: Mapping[str, str] | str | None = None,
    class_names: Sequence[str] | str | os.PathLike[str] | None = None,
    class_order: Sequence[str] | str | None = None,
    trust_order: bool | None = None,
    kind: Kind | None = None,
    answer_separator: str | None = None,
    by_position: Positions | None = None,
    id: str | None = None,
    key: str | None = None,
    metrics: str | Sequence[str] | None = None,
    labels: Any = None,
    bins: int = 15,
    clip: float | None = None,
    ties: Ties = "lowest",
    seed: int = 0,
) -> SeedComparison:
    """Tests two methods over paired seeds: Wilcoxon's signed-rank test with exact p, corrected over the metrics.

    Parameters
    ----------
    votes : Votes
        What people said.
    a, b : sequence of predictions
        What the models of each method predict, one per seed, in the same order of seeds.
    alternative : {"two-sided", "less", "greater"}
        The side of ``b - a``: ``"less"`` tests whether ``b`` is less.
    {shared}

    Examples
    --------
    >>> from dissensus import Votes, compare_seeds
    >>> votes = Votes.from_arrays(["a", "a", "a", "b", "b", "c"], ["cat", "dog", "dog", "cat", "cat", "dog"])
    >>> a = [[[0.4, 0.6], [0.9 - s / 50, 0.1 + s / 50], [0.2, 0.8]] for s in range(5)]
    >>> b = [[[0.5, 0.5], [0.7 - s / 40, 0.3 + s / 40], [0.3, 0.7]] for s in range(5)]
    >>> compare_seeds(votes, a, b, metrics=["kl"]).smallest_p
    0.0625
    """
    given = _options(locals(), "votes", "a", "b")
    side = given.pop("alternative")
    return _dissensus.judge_compare_seeds(given.pop("votes"), list(given.pop("a")), list(given.pop("b")), side, given)


def ceiling(
    votes: Votes,
    *,
    repeats: int = 20,
    metrics: str | Sequence[str] | None = None,
    bins: int = 15,
    clip: float | None = None,
    ties: Ties = "lowest",
    seed: int = 0,
) -> Ceiling:
    """How well any model can score against these votes: one half of the votes against the other.

    The numbers are those of ``dissensus votes ceiling``.

    Examples
    --------
    >>> from dissensus import Votes, ceiling
    >>> votes = Votes.from_arrays(list("aaaabbcc"), ["cat", "dog", "dog", "cat", "cat", "cat", "dog", "cat"])
    >>> ceiling(votes).items
    3
    """
    given = _options(locals(), "votes", "repeats")
    return _dissensus.judge_ceiling(given.pop("votes"), given.pop("repeats"), given)


def reliability(
    targets: Any,
    probs: ArrayLike,
    *,
    against: Literal["majority", "human"] = "majority",
    binning: Literal["mass", "width"] = "mass",
    bins: int = 15,
    logits: bool = False,
    ties: Ties = "lowest",
    seed: int = 0,
) -> Reliability:
    """How confidence compares with what came true, over bins and as a smooth curve.

    Parameters
    ----------
    targets : array_like or Votes
        What people said: votes, counts (whole numbers) or distributions, items × classes; or one class per item.
    probs : array_like
        What the model predicts, items × classes, in the same order.
    against : {"majority", "human"}
        Whether the predicted class is the majority label, or the share of the votes for it.
    binning : {"mass", "width"}
        Bins of as many items each, or of the same width.
    bins : int
        How many bins.
    logits : bool
        ``probs`` are scores before the softmax.
    ties, seed
        The majority label of items whose most-voted classes are tied.

    Examples
    --------
    >>> from dissensus import reliability
    >>> found = reliability([[3, 1], [0, 4], [2, 2]], [[0.8, 0.2], [0.1, 0.9], [0.6, 0.4]], bins=2)
    >>> round(found.error, 4)
    0.2333
    """
    given = _options(locals(), "targets", "probs")
    return _dissensus.judge_reliability(given.pop("targets"), given.pop("probs"), given)


def calibration_curve(
    targets: Any,
    probs: ArrayLike,
    *,
    against: Literal["majority", "human"] = "majority",
    binning: Literal["mass", "width"] = "mass",
    bins: int = 15,
    logits: bool = False,
    ties: Ties = "lowest",
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """What came true, the mean confidence, and the number of items, by bins of confidence.

    Takes what :func:`reliability` takes, and returns arrays as scikit-learn's ``calibration_curve`` does.

    Examples
    --------
    >>> from dissensus import calibration_curve
    >>> outcome, confidence, items = calibration_curve([0, 1, 1], [[0.8, 0.2], [0.1, 0.9], [0.6, 0.4]], bins=3)
    >>> outcome.tolist(), items.tolist()
    ([0.0, 1.0, 1.0], [1, 1, 1])
    """
    found = reliability(**locals())
    return found.outcome, found.confidence, found.items


for _function in (score, compare, compare_seeds):
    _function.__doc__ = (_function.__doc__ or "").replace("{shared}", _SHARED.replace("\n", "\n    "))
