"""Statistics over plain arrays: paired tests with exact p values, corrections, bootstrap intervals, effect sizes.

A number that does not exist is ``None``, and ``undefined`` says why. Every result is a named tuple.

>>> from dissensus import stats
>>> soft, hard = [0.61, 0.58, 0.64, 0.60, 0.59], [0.70, 0.69, 0.71, 0.66, 0.72]
>>> stats.wilcoxon(soft, hard).p
0.0625
>>> stats.smallest_p(5).p
0.0625
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dissensus import _dissensus

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Alternative = Literal["two-sided", "less", "greater"]
Zeros = Literal["wilcox", "pratt", "zsplit"]

__all__ = [
    "BootstrapResult",
    "CohenDz",
    "CorrelationResult",
    "MeanDifference",
    "PairedTResult",
    "RankBiserial",
    "SignResult",
    "SmallestP",
    "Summary",
    "WelchResult",
    "WilcoxonResult",
    "benjamini_hochberg",
    "bootstrap",
    "bootstrap_mean",
    "cohen_dz",
    "describe",
    "holm",
    "mean_difference",
    "paired_t",
    "partial_spearman",
    "pearson",
    "quantiles",
    "rank_biserial",
    "sign_test",
    "smallest_p",
    "spearman",
    "welch",
    "wilcoxon",
]


class WilcoxonResult(NamedTuple):
    """Wilcoxon's signed-rank test."""

    p: float | None
    """The p value."""
    w_plus: float
    """The rank sum of positive differences."""
    w_minus: float
    """The rank sum of negative differences."""
    z: float | None
    """The normal deviate, where the approximation was used."""
    null: str | None
    """Where p comes from: ``exact`` or ``normal``."""
    n: int
    """Pairs."""
    n_zero: int
    """Of these, without a difference."""
    n_tied: int
    """Of those with a difference, how many share its size with another."""
    undefined: str | None
    """Why there is no p."""


class SignResult(NamedTuple):
    """The sign test."""

    p: float | None
    """The p value, exact."""
    positive: int
    """Differences above 0."""
    negative: int
    """Differences below 0."""
    n: int
    """Pairs."""
    n_zero: int
    """Of these, without a difference."""
    undefined: str | None
    """Why there is no p."""


class PairedTResult(NamedTuple):
    """The paired t test."""

    p: float | None
    """The p value."""
    t: float | None
    """The statistic."""
    df: int
    """Degrees of freedom."""
    mean: float
    """The mean difference."""
    sd: float | None
    """The standard deviation of the differences."""
    n: int
    """Pairs."""
    undefined: str | None
    """Why there is no p."""


class WelchResult(NamedTuple):
    """Welch's t test of two samples."""

    p: float | None
    """The p value."""
    t: float | None
    """The statistic."""
    df: float | None
    """Degrees of freedom."""
    difference: float
    """The difference of the means."""
    error: float
    """Its standard error."""
    undefined: str | None
    """Why there is no p."""


class SmallestP(NamedTuple):
    """The floor under a test's p."""

    p: float
    """The smallest p that so many pairs can give."""
    note: str
    """What that means, in a sentence."""


class CorrelationResult(NamedTuple):
    """A correlation and its p value."""

    r: float | None
    """The correlation, from -1 to 1."""
    p: float | None
    """The p value."""
    n: int
    """Pairs."""
    undefined: str | None
    """Why one of them is missing."""


class CohenDz(NamedTuple):
    """Cohen's d_z: the mean difference in standard deviations of the differences."""

    d_z: float | None
    """The effect size."""
    n: int
    """Pairs."""
    undefined: str | None
    """Why there is none."""


class RankBiserial(NamedTuple):
    """The matched-pairs rank-biserial correlation."""

    r: float | None
    """The correlation, from -1 to 1."""
    n: int
    """Pairs."""
    n_zero: int
    """Of these, without a difference."""
    undefined: str | None
    """Why there is none."""


class MeanDifference(NamedTuple):
    """A mean difference with the interval of the t distribution."""

    mean: float
    """The mean."""
    low: float | None
    """The lower end of the interval."""
    high: float | None
    """The upper end."""
    sd: float | None
    """The standard deviation of the differences."""
    n: int
    """Pairs."""
    undefined: str | None
    """Why there is no interval."""


class Summary(NamedTuple):
    """Some values in numbers."""

    mean: float
    """The mean."""
    sd: float | None
    """The sample standard deviation; ``None`` for one value."""
    median: float
    """The median."""


class BootstrapResult(NamedTuple):
    """A statistic and its bootstrap interval."""

    estimate: float | None
    """The statistic of the sample itself."""
    low: float | None
    """The lower end of the interval."""
    high: float | None
    """The upper end."""
    standard_error: float | None
    """The standard deviation of the replicates."""
    bias: float | None
    """BCa's bias correction."""
    acceleration: float | None
    """BCa's acceleration."""
    undefined_replicates: int
    """Replicates on which the statistic was undefined."""
    degenerate: bool
    """Whether no replicate differs from the estimate."""
    undefined: str | None
    """Why there is no interval."""


def _differences(x: ArrayLike, y: ArrayLike | None) -> Any:
    if y is None:
        return x
    import numpy as np

    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if first.shape != second.shape:
        raise ValueError(f"x has the shape {first.shape} and y {second.shape}; expected the same")
    return first - second


def wilcoxon(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    zeros: Zeros = "wilcox",
    method: Literal["auto", "exact", "normal"] = "auto",
    continuity: bool = False,
    resolution: float | None = None,
) -> WilcoxonResult:
    """Wilcoxon's signed-rank test, exact also with ties.

    Parameters
    ----------
    x : array_like
        The first sample, or the differences where ``y`` is left out.
    y : array_like, optional
        The second sample, pair by pair; ``x - y`` is tested.
    alternative : {"two-sided", "less", "greater"}
        The side of the differences.
    zeros : {"wilcox", "pratt", "zsplit"}
        What becomes of pairs without a difference.
    method : {"auto", "exact", "normal"}
        Exact up to 200 pairs, or always, or the normal approximation.
    continuity : bool
        Whether the normal approximation has a continuity correction.
    resolution : float, optional
        Round differences to multiples of this first, so that equal ones tie.

    Examples
    --------
    >>> wilcoxon([1.0, 2.0, 3.0, -0.5]).p
    0.25
    """
    found = _dissensus.stats_wilcoxon(_differences(x, y), alternative, zeros, method, continuity, resolution)
    return WilcoxonResult(*found)


def sign_test(x: ArrayLike, y: ArrayLike | None = None, *, alternative: Alternative = "two-sided") -> SignResult:
    """The sign test of differences (``x``, or ``x - y``), exact.

    >>> sign_test([1.0, 2.0, 3.0, 0.5]).p
    0.125
    """
    return SignResult(*_dissensus.stats_sign(_differences(x, y), alternative))


def paired_t(x: ArrayLike, y: ArrayLike | None = None, *, alternative: Alternative = "two-sided") -> PairedTResult:
    """The paired t test of differences (``x``, or ``x - y``).

    >>> round(paired_t([1.0, 2.0, 3.0, 0.5]).p, 4)
    0.0609
    """
    return PairedTResult(*_dissensus.stats_paired_t(_differences(x, y), alternative))


def welch(
    x: ArrayLike | tuple[int, float, float],
    y: ArrayLike | tuple[int, float, float],
    *,
    alternative: Alternative = "two-sided",
) -> WelchResult:
    """Welch's t test of two samples; each is an array, or a tuple of its size, mean and standard deviation.

    >>> round(welch((5, 0.62, 0.02), (5, 0.66, 0.03)).p, 4)
    0.0423
    """
    return WelchResult(*_dissensus.stats_welch(_sample("x", x), _sample("y", y), alternative))


def _sample(name: str, given: Any) -> tuple[int, float, float]:
    if isinstance(given, tuple) and len(given) == 3 and isinstance(given[0], int):
        return given
    mean, sd, _ = _dissensus.stats_describe(given)
    if sd is None:
        raise ValueError(f"{name} has one value; expected at least 2")
    return len(given), mean, sd


def smallest_p(
    n: int,
    *,
    zeros: int = 0,
    test: Literal["wilcoxon", "sign", "t"] = "wilcoxon",
    alternative: Alternative = "two-sided",
    level: float = 0.05,
) -> SmallestP | None:
    """The smallest p that a test can give for ``n`` pairs, ``zeros`` of which do not differ.

    ``None`` for a test without a floor: the t test, and Wilcoxon's where its distribution is approximated.

    >>> smallest_p(5).note
    '5 pairs: the smallest p that this test can give is 0.0625 two-sided; no result can be significant at 0.05'
    """
    found = _dissensus.stats_smallest_p(n, zeros, test, alternative, level)
    return None if found is None else SmallestP(*found)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """P values adjusted by Holm's step-down; ``None`` stays ``None`` and is no part of the family.

    >>> holm([0.01, 0.04, None])
    [0.02, 0.04, None]
    """
    return _dissensus.stats_adjust(list(p), "holm")


def benjamini_hochberg(p: Sequence[float | None]) -> list[float | None]:
    """P values adjusted by Benjamini and Hochberg's step-up, which bounds the share of false discoveries.

    >>> benjamini_hochberg([0.01, 0.04])
    [0.02, 0.04]
    """
    return _dissensus.stats_adjust(list(p), "benjamini-hochberg")


def spearman(
    x: ArrayLike, y: ArrayLike, *, alternative: Alternative = "two-sided", method: Literal["t", "exact"] = "t"
) -> CorrelationResult:
    """Spearman's rank correlation; p from the t distribution, or exact for up to 9 pairs.

    >>> spearman([1, 2, 3, 4], [1, 3, 2, 4]).r
    0.8
    """
    return CorrelationResult(*_dissensus.stats_correlation(x, y, "spearman", alternative, method))


def pearson(
    x: ArrayLike, y: ArrayLike, *, alternative: Alternative = "two-sided", method: Literal["t", "exact"] = "t"
) -> CorrelationResult:
    """Pearson's correlation; p from the t distribution, or exact for up to 9 pairs.

    >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 4]).r, 4)
    0.8
    """
    return CorrelationResult(*_dissensus.stats_correlation(x, y, "pearson", alternative, method))


def partial_spearman(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> float | None:
    """Spearman's correlation of ``x`` and ``y`` with the effect of ``z`` removed.

    >>> round(partial_spearman([1, 2, 3, 4], [1, 3, 2, 4], [4, 1, 3, 2]), 4)
    0.8729
    """
    return _dissensus.stats_partial_spearman(x, y, z)


def cohen_dz(x: ArrayLike, y: ArrayLike | None = None) -> CohenDz:
    """Cohen's d_z of differences (``x``, or ``x - y``).

    >>> round(cohen_dz([1.0, 2.0, 3.0, 0.5]).d_z, 4)
    1.4657
    """
    return CohenDz(*_dissensus.stats_cohen_dz(_differences(x, y)))


def rank_biserial(x: ArrayLike, y: ArrayLike | None = None, *, zeros: Zeros = "wilcox") -> RankBiserial:
    """The rank-biserial correlation of differences (``x``, or ``x - y``).

    >>> rank_biserial([1.0, 2.0, 3.0, -0.5]).r
    0.8
    """
    return RankBiserial(*_dissensus.stats_rank_biserial(_differences(x, y), zeros))


def mean_difference(x: ArrayLike, y: ArrayLike | None = None, *, confidence: float = 0.95) -> MeanDifference:
    """The mean of differences (``x``, or ``x - y``) with the interval of the t distribution.

    >>> mean_difference([1.0, 2.0, 3.0]).mean
    2.0
    """
    return MeanDifference(*_dissensus.stats_mean_difference(_differences(x, y), confidence))


def describe(values: ArrayLike) -> Summary:
    """Mean, sample standard deviation and median.

    >>> describe([1.0, 2.0, 6.0]).median
    2.0
    """
    return Summary(*_dissensus.stats_describe(values))


def quantiles(values: ArrayLike, shares: ArrayLike) -> list[float]:
    """Quantiles, interpolated linearly as numpy does.

    >>> quantiles([1.0, 2.0, 3.0], [0.25, 0.5])
    [1.5, 2.0]
    """
    return _dissensus.stats_quantiles(values, shares)


def bootstrap_mean(
    values: ArrayLike,
    *,
    replicates: int = 10_000,
    confidence: float = 0.95,
    method: Literal["bca", "percentile"] = "bca",
    seed: int = 0,
    stream: int = 0,
) -> BootstrapResult:
    """The bootstrap interval of a mean.

    >>> found = bootstrap_mean([0.1, 0.4, 0.2, 0.3, 0.35])
    >>> round(found.low, 3), round(found.high, 3)
    (0.16, 0.36)
    """
    found = _dissensus.stats_bootstrap_mean(values, replicates, confidence, method, seed, stream)
    return BootstrapResult(*found)


def bootstrap(
    statistic: Callable[[Any], float | None],
    rows: int,
    *,
    groups: Sequence[int] | None = None,
    columns: int | None = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    method: Literal["bca", "percentile"] = "bca",
    seed: int = 0,
    stream: int = 0,
) -> BootstrapResult:
    """The bootstrap interval of any statistic of rows.

    Parameters
    ----------
    statistic : callable
        Takes an array of row numbers, in which numbers repeat, and returns a number; ``None`` where it is undefined.
        It is called from several threads.
    rows : int
        How many rows there are.
    groups : list of int, optional
        The rows of each group: groups are drawn, then rows within each drawn group.
    columns : int, optional
        The rows and columns of a full table are drawn independently; cell (r, c) is number ``r * columns + c``.
    replicates, confidence, method, seed, stream
        How many replicates, the confidence level, how the interval is read off, and what the draws depend on.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.1, 0.4, 0.2, 0.3, 0.35])
    >>> found = bootstrap(lambda rows: values[rows].mean(), len(values), replicates=2000)
    >>> bool(found.estimate == values.mean())
    True
    """
    return BootstrapResult(
        *_dissensus.stats_bootstrap(
            statistic, rows, groups, columns, replicates, confidence, method, seed, stream
        )
    )
