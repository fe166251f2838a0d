"""Train and judge classifiers on how people actually voted."""

from dissensus._dissensus import (
    Aggregation,
    Ceiling,
    Comparison,
    Delivery,
    Figure,
    Model,
    Reliability,
    Run,
    RunPredictions,
    Scores,
    SeedComparison,
    Store,
    Study,
    StudyStatus,
    Submission,
    Synced,
    Table,
    Votes,
    __version__,
    fetch,
    lint,
    main,
)
from dissensus._judging import (
    calibration_curve,
    ceiling,
    compare,
    compare_seeds,
    reliability,
    score,
)
from dissensus._models import fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dissensus import metrics, stats
    from dissensus.sklearn import DissensusClassifier as DissensusClassifier

__all__ = [
    "Aggregation",
    "Ceiling",
    "Comparison",
    "Delivery",
    "Figure",
    "Model",
    "Reliability",
    "Run",
    "RunPredictions",
    "Scores",
    "SeedComparison",
    "Store",
    "Study",
    "StudyStatus",
    "Submission",
    "Synced",
    "Table",
    "Votes",
    "__version__",
    "calibration_curve",
    "ceiling",
    "compare",
    "compare_seeds",
    "fetch",
    "fit",
    "lint",
    "main",
    "metrics",
    "reliability",
    "score",
    "stats",
]


def __getattr__(name: str) -> object:
    # What takes long to import, or needs another library, is imported when it is asked for.
    if name in ("metrics", "stats"):
        import importlib

        return importlib.import_module(f"dissensus.{name}")
    if name == "DissensusClassifier":
        from dissensus.sklearn import DissensusClassifier

        return DissensusClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
