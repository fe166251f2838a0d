"""Train and judge classifiers on how people actually voted."""

from dissensus._dissensus import Table, __version__, main

__all__ = ["Table", "__version__", "main"]
