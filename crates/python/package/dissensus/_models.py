"""Models that are trained in memory."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index

from dissensus import _dissensus

TYPE_CHECKING = False  # without importing typing, which takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import ArrayLike

    from dissensus._dissensus import Model, Votes
    from dissensus._progress import Show

_PARTS = {
    ("train", "evaluation"): "train/evaluation",
    ("train", "validation", "test"): "train/validation/test",
}


def fit(
    votes: Votes,
    X: ArrayLike,
    method: str = "soft",
    model: str = "mlp",
    *,
    items: Sequence[str | int] | None = None,
    split: Mapping[str, float | Sequence[str | int]] | None = None,
    evaluate_on: tuple[Votes, ArrayLike] | None = None,
    seed: int = 0,
    device: str = "cpu",
    threads: int = 0,
    progress: bool | Show | None = None,
    spec: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Model:
    """Trains a model on votes, in memory. The result is that of ``dissensus train``, to the last bit.

    Parameters
    ----------
    votes : Votes
        What people said.
    X : array_like
        Features (items × numbers), or images of the dtype uint8 (items × height × width × channels).
    method : str
        How votes reach the loss, with its settings: ``"soft"``, ``"multipass"``, ``"sls:every=2"``.
    model : str
        The network: ``"mlp"``, ``"smallcnn"`` or ``"resnet18"``; the latter two are for images.
    items : sequence of str or int, optional
        The ids of the rows of ``X``. Without them, the rows are in the order of ``votes.items``.
    split : dict, optional
        The parts with their shares, training first, as in ``{"train": 0.7, "validation": 0.1, "test": 0.2}``; or with
        the ids of their items. The part after training selects the epoch, and the last one is reported. By default,
        80 % of the items are trained on and 20 % evaluated.
    evaluate_on : tuple of Votes and array_like, optional
        Train on all items, and evaluate on these.
    seed : int
        The seed of everything random.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"``.
    threads : int
        Threads; 0 for all cores. They do not change the result.
    progress : bool or callable, optional
        Whether a progress bar is shown; by default in terminals and notebooks.
    spec : dict, optional
        Settings by their full names: ``{"training.plateau.patience": 5}``, or by section:
        ``{"training": {"epochs": 20}}``.
    **settings
        Settings of a training spec by their names, which otherwise have the defaults of a spec: an ``mlp`` is
        trained with Adam, the other models with SGD, and images in colour are shifted at random (``augment``):
        ``epochs``, ``batch_size``, ``optimizer``, ``learning_rate``,
        ``schedule``, ``weight_decay``, ``hidden``, ``target``, ``votes_per_item``, ….

    Returns
    -------
    Model
        The model of the selected epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from dissensus import Votes, fit
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> counts = np.where(X[:, :1] > 0, [[4, 1]], [[1, 4]])
    >>> model = fit(Votes.from_counts(counts), X, "multipass", epochs=20, hidden=8, optimizer="adam", learning_rate=0.01)
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    >>> len(model.history)
    20
    """
    seed = index(seed)
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; expected a whole number from 0 to {2**63 - 1}")
    if items is None:
        check_order(votes, X)
    given: list[tuple[str, Any]] = list(_flat(spec or {}))
    given += [("model.name", model), ("run.seeds", [seed]), *settings.items()]
    options: dict[str, Any] = {"items": items, "evaluate_on": evaluate_on, "progress": progress}
    options.update(device=device, threads=threads)
    if split is not None:
        if not isinstance(split, Mapping):
            raise TypeError(f"split is of type {type(split).__name__}; expected a dict of parts")
        shares = [share for share in split.values() if isinstance(share, (int, float))]
        if 0 < len(shares) < len(split):
            raise TypeError("split has shares and lists of ids; expected one or the other")
        if len(shares) == len(split):
            parts = _PARTS.get(tuple(split))
            if parts is None:
                known = " or ".join(", ".join(names) for names in _PARTS)
                raise ValueError(f"split has the parts {', '.join(split)}; expected {known}")
            given += [("split.parts", parts), ("split.shares", shares)]
        else:
            options["split"] = split
    return _dissensus.fit_model(votes, X, method, given, {k: v for k, v in options.items() if v is not None})


def check_order(votes: Votes, X: Any) -> None:
    """Refuses a pandas data frame whose index holds the ids of the items in another order."""
    if type(X).__module__.partition(".")[0] != "pandas" or len(X) != len(votes):
        return
    names, ids = [str(name) for name in X.index], votes.items
    if names != ids and sorted(names) == sorted(ids):
        raise ValueError("the index of X has the ids of the votes in another order; give items=X.index")


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Settings of nested dicts by their full names."""
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
