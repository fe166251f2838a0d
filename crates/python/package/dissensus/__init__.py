"""Train and judge classifiers on how people actually voted."""

from dissensus._dissensus import (
    Run,
    RunPredictions,
    Store,
    Study,
    StudyStatus,
    Table,
    __version__,
    fetch,
    main,
)

__all__ = [
    "Run",
    "RunPredictions",
    "Store",
    "Study",
    "StudyStatus",
    "Table",
    "__version__",
    "fetch",
    "main",
]
