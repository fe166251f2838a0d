"""Train and judge classifiers on how people actually voted."""

from dissensus._dissensus import (
    Delivery,
    Run,
    RunPredictions,
    Store,
    Study,
    StudyStatus,
    Table,
    Votes,
    __version__,
    fetch,
    lint,
    main,
)

__all__ = [
    "Delivery",
    "Run",
    "RunPredictions",
    "Store",
    "Study",
    "StudyStatus",
    "Table",
    "Votes",
    "__version__",
    "fetch",
    "lint",
    "main",
]
