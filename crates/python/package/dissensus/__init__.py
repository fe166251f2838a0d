"""Train and judge classifiers on how people actually voted."""

from dissensus._dissensus import (
    Delivery,
    Table,
    Votes,
    __version__,
    lint,
    main,
)

__all__ = [
    "Delivery",
    "Table",
    "Votes",
    "__version__",
    "lint",
    "main",
]
