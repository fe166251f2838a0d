"""Metrics of plain arrays, one function each: how well predictions match what people said."""

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Ties = Literal["lowest", "random", "error"]

__all__ = [
    "explain",
    "names",
    "soft_nll",
    "kl",
    "soft_brier",
    "js_distance",
    "total_variation",
    "hard_nll",
    "accuracy",
    "accuracy_given",
    "ece_mass",
    "ece_mass_human",
    "ece_width",
    "ece_width_human",
    "smooth_ece",
    "smooth_ece_human",
    "classwise_ece",
    "classwise_ece_human",
    "temperature",
    "soft_nll_tempered",
    "entropy_spearman",
    "entropy_pearson",
    "entropy_error",
    "brier_reliability",
    "brier_resolution",
    "brier_uncertainty",
    "brier_within",
]

def names() -> list[str]: ...
def explain(name: str) -> str: ...
@overload
def soft_nll(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def soft_nll(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def kl(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def kl(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def soft_brier(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def soft_brier(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def js_distance(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def js_distance(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def total_variation(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def total_variation(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def hard_nll(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def hard_nll(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def accuracy(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def accuracy(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def accuracy_given(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def accuracy_given(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def ece_mass(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def ece_mass(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def ece_mass_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def ece_mass_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def ece_width(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def ece_width(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def ece_width_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def ece_width_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def smooth_ece(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def smooth_ece(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def smooth_ece_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def smooth_ece_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def classwise_ece(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def classwise_ece(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def classwise_ece_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def classwise_ece_human(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def temperature(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def temperature(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def soft_nll_tempered(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def soft_nll_tempered(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def entropy_spearman(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def entropy_spearman(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def entropy_pearson(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def entropy_pearson(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def entropy_error(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def entropy_error(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def brier_reliability(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def brier_reliability(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def brier_resolution(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def brier_resolution(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def brier_uncertainty(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def brier_uncertainty(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def brier_within(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[False] = False,
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> float | None: ...
@overload
def brier_within(
    targets: Any,
    probs: ArrayLike,
    *,
    per_item: Literal[True],
    logits: bool = False,
    bins: int = 15,
    clip: float | None = None,
    ties: _Ties = "lowest",
    seed: int = 0,
    labels: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
