"""Metrics of plain arrays, one function each: how well predictions match what people said."""

from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

class _Metric(Protocol):
    __name__: str
    @overload
    def __call__(
        self,
        targets: Any,
        probs: ArrayLike,
        *,
        per_item: Literal[False] = False,
        logits: bool = False,
        bins: int = 15,
        clip: float | None = None,
        ties: Literal["lowest", "random", "error"] = "lowest",
        seed: int = 0,
        labels: ArrayLike | None = None,
    ) -> float | None: ...
    @overload
    def __call__(
        self,
        targets: Any,
        probs: ArrayLike,
        *,
        per_item: Literal[True],
        logits: bool = False,
        bins: int = 15,
        clip: float | None = None,
        ties: Literal["lowest", "random", "error"] = "lowest",
        seed: int = 0,
        labels: ArrayLike | None = None,
    ) -> NDArray[np.float64]: ...

def names() -> list[str]: ...
def explain(name: str) -> str: ...

soft_nll: _Metric
kl: _Metric
soft_brier: _Metric
js_distance: _Metric
total_variation: _Metric
hard_nll: _Metric
accuracy: _Metric
accuracy_given: _Metric
ece_mass: _Metric
ece_mass_human: _Metric
ece_mass_debiased: _Metric
ece_mass_debiased_human: _Metric
ece_width: _Metric
ece_width_human: _Metric
ece_width_debiased: _Metric
ece_width_debiased_human: _Metric
smooth_ece: _Metric
smooth_ece_human: _Metric
classwise_ece: _Metric
classwise_ece_human: _Metric
temperature: _Metric
soft_nll_tempered: _Metric
entropy_spearman: _Metric
entropy_pearson: _Metric
entropy_error: _Metric
brier_reliability: _Metric
brier_resolution: _Metric
brier_uncertainty: _Metric
brier_within: _Metric
