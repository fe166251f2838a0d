"""Training on votes in PyTorch.

``VotesDataset`` gives a dataset the targets of a delivery, ``soft_cross_entropy`` takes labels and distributions, and
``Score`` collects predictions by id and scores them against the votes. ``import dissensus`` does not import this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed
from torch import Tensor
from torch.nn import functional
from torch.utils.data import Dataset

from dissensus._dissensus import Delivery, Votes

__all__ = ["Score", "VotesDataset", "soft_cross_entropy"]

_NOT_SET = -1


class VotesDataset(Dataset[Any]):
    """A dataset whose targets are those of a delivery.

    An example ``(x, y)`` becomes ``(x, target)``, ``(x,)`` and ``x`` as well; of a dictionary, the entry ``key`` is
    replaced. A target is an ``int`` where the delivery gives labels, else a tensor of one probability per class.

    Call ``set_epoch`` before each epoch. All workers of a data loader see it, persistent ones too. A label depends only
    on the seed, the epoch and the item's id, so that every worker and every process of a distributed run gets the same.

    Parameters
    ----------
    dataset : dataset with ``__getitem__`` and ``__len__``
    delivery : Delivery
    ids : sequence of str or int, optional
        The id of each example. Without them, the examples are in the order of ``delivery.items``.
    key : str
        The entry of dictionaries that holds the target.
    with_id : bool
        Also give the example's id, as the last part of a tuple or as the entry ``"id"``; ``Score`` takes it.
    dtype : torch.dtype
        The type of distributions.

    Examples
    --------
    >>> import torch
    >>> from dissensus import Delivery, Votes
    >>> from dissensus.torch import VotesDataset
    >>> votes = Votes.from_counts([[3, 1], [0, 2]])
    >>> dataset = VotesDataset(torch.zeros(2, 5), Delivery(votes, "sls", seed=1))
    >>> dataset.set_epoch(0)
    >>> dataset[1][1]
    1
    """

    def __init__(
        self,
        dataset: Any,
        delivery: Delivery,
        ids: Iterable[str | int] | None = None,
        *,
        key: str = "labels",
        with_id: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        examples = len(dataset)
        if ids is None:
            if examples != len(delivery):
                raise ValueError(
                    f"the dataset has {examples} examples and the delivery {len(delivery)} items; "
                    "give the id of each example with ids"
                )
            self._rows = None
        else:
            rows = np.fromiter((delivery.row(id) for id in ids), dtype=np.int64)
            if len(rows) != examples:
                raise ValueError(f"{len(rows)} ids for {examples} examples; give one each")
            self._rows = rows
        self.dataset = dataset
        self.delivery = delivery
        self._key, self._dtype = key, dtype
        self._ids = delivery.items if with_id else None
        # In shared memory: workers that live on after an epoch see the next one.
        self._epoch = torch.full((), _NOT_SET, dtype=torch.int64).share_memory_()

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, from 0, whose targets are given."""
        if epoch != int(epoch) or epoch < 0:
            raise ValueError(f"epoch is {epoch}; expected a whole number from 0")
        self._epoch.fill_(int(epoch))

    @property
    def epoch(self) -> int | None:
        """The epoch that was set last."""
        epoch = int(self._epoch)
        return None if epoch == _NOT_SET else epoch

    def __len__(self) -> int:
        return len(self.dataset)

    def target(self, index: int) -> int | Tensor:
        """The target of an example in the epoch that is set."""
        epoch = int(self._epoch)
        if epoch == _NOT_SET:
            if self.delivery.delivers != "distributions":
                raise RuntimeError(
                    f"{self.delivery.method} gives other targets in each epoch: call set_epoch(epoch) before each"
                )
            epoch = 0
        target = self.delivery.at(self._row(index), epoch)
        return target if isinstance(target, int) else torch.from_numpy(target).to(self._dtype)

    def __getitem__(self, index: int) -> Any:
        target, example = self.target(index), self.dataset[index]
        if isinstance(example, Mapping):
            own = {} if self._ids is None else {"id": self._ids[self._row(index)]}
            return {**example, self._key: target, **own}
        id = () if self._ids is None else (self._ids[self._row(index)],)
        if isinstance(example, (tuple, list)):
            return (*example[:1], target, *example[2:], *id)
        return (example, target, *id)

    def _row(self, index: int) -> int:
        return int(index) if self._rows is None else int(self._rows[index])


def soft_cross_entropy(
    logits: Tensor, target: Tensor, *, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Cross-entropy for labels or distributions.

    Parameters
    ----------
    logits : Tensor of shape (batch, classes)
    target : Tensor
        Labels of shape (batch,), or distributions of shape (batch, classes). Those of ``soft_noise`` may have negative
        entries.
    weight : Tensor of shape (classes,), optional
        How much each class counts.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import torch
    >>> from dissensus.torch import soft_cross_entropy
    >>> logits = torch.zeros(2, 4)
    >>> round(soft_cross_entropy(logits, torch.tensor([0, 3])).item(), 4)
    1.3863
    >>> round(soft_cross_entropy(logits, torch.full((2, 4), 0.25)).item(), 4)
    1.3863
    """
    if logits.ndim != 2:
        raise ValueError(f"logits has the shape {tuple(logits.shape)}; expected (batch, classes)")
    if target.shape == logits.shape and target.is_floating_point():
        target = target.to(logits.dtype)
    elif target.shape == logits.shape[:1] and not target.is_floating_point():
        target = target.to(torch.int64)
    else:
        raise ValueError(
            f"target has the shape {tuple(target.shape)} and the type {target.dtype}; expected labels of shape "
            f"({logits.shape[0]},), or distributions of shape {tuple(logits.shape)}"
        )
    return functional.cross_entropy(logits, target, weight=weight, reduction=reduction)


class Score:
    """Collects a model's outputs by id, batch by batch, and scores them against the votes.

    In a distributed run each process collects its part, and ``compute`` brings the parts together. An id that comes
    twice (a ``DistributedSampler`` fills up its last batch) counts once.

    Parameters
    ----------
    votes : Votes
    kind : {"logits", "probabilities"}
        What the outputs are.
    **options
        The options of ``dissensus.score``, such as ``metrics=["accuracy", "kl"]`` or ``by="entropy"``.
    """

    def __init__(self, votes: Votes, kind: str = "logits", **options: Any) -> None:
        self._votes = votes
        self._options = {"kind": kind, **options}
        self._rows: dict[str, np.ndarray[Any, Any]] = {}

    def update(self, outputs: Tensor, ids: Sequence[str | int]) -> None:
        """Adds the outputs of a batch, one row per id."""
        rows = outputs.detach().to(device="cpu", dtype=torch.float32).numpy()
        names = [str(id.item() if isinstance(id, Tensor) else id) for id in ids]
        if rows.ndim != 2 or len(rows) != len(names):
            raise ValueError(f"outputs has the shape {rows.shape} for {len(names)} ids; expected (ids, classes)")
        for id, row in zip(names, rows):
            self._rows.setdefault(id, row)

    def compute(self) -> Any:
        """The scores of everything that was collected, as ``dissensus.score`` gives them."""
        from dissensus import score

        rows = self._rows
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            parts: list[Any] = [None] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(parts, rows)
            rows = {id: row for part in reversed(parts) for id, row in part.items()}
        if not rows:
            raise ValueError("nothing was collected: call update first")
        # In the order of the votes, whatever the order of the batches.
        ids = [id for id in self._votes.items if id in rows]
        if len(ids) < len(rows):
            known = set(ids)
            unknown = next(id for id in rows if id not in known)
            raise KeyError(f"there is no item {unknown!r} in the votes")
        return score(self._votes, np.stack([rows[id] for id in ids]), items=ids, **self._options)

    def reset(self) -> None:
        """Forgets what was collected."""
        self._rows.clear()
