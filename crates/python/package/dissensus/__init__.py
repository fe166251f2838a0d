"""Train and judge classifiers on how people actually voted."""

from dissensus import metrics, stats
from dissensus._dissensus import (
    Ceiling,
    Comparison,
    Delivery,
    Figure,
    Model,
    Reliability,
    Scores,
    SeedComparison,
    Table,
    Votes,
    __version__,
    lint,
    main,
)
from dissensus._judging import (
    CalibrationCurve,
    calibration_curve,
    ceiling,
    compare,
    compare_seeds,
    reliability,
    score,
)
from dissensus._models import fit

__all__ = [
    "CalibrationCurve",
    "Ceiling",
    "Comparison",
    "Delivery",
    "Figure",
    "Model",
    "Reliability",
    "Scores",
    "SeedComparison",
    "Table",
    "Votes",
    "__version__",
    "calibration_curve",
    "ceiling",
    "compare",
    "compare_seeds",
    "fit",
    "lint",
    "main",
    "metrics",
    "reliability",
    "score",
    "stats",
]
