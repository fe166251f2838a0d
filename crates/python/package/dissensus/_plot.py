"""Diagrams on axes of matplotlib, which the caller brings."""

from __future__ import annotations

from typing import Any


def reliability(ax: Any, found: Any, name: str) -> Any:
    """A reliability diagram: bins as points, the smooth curve as a line."""
    smooth = found.smooth_frame().to_dict()
    low, high = (min(found.confidence), max(found.confidence)) if len(found.confidence) else (0.0, 1.0)
    inside = [(x, y) for x, y in zip(smooth["confidence"], smooth["outcome"]) if low <= x <= high]
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    (line,) = ax.plot([x for x, _ in inside], [y for _, y in inside], label=name)
    ax.scatter(found.confidence, found.outcome, s=18, color=line.get_color())
    ax.set_xlabel("confidence of the prediction")
    ax.set_ylabel(found.against)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    return ax


def entropy(ax: Any, found: tuple[list[float], list[float]], name: str) -> Any:
    """The entropies of predictions against those of the votes."""
    votes, predictions = found
    ax.scatter(votes, predictions, s=6, alpha=0.5, label=name)
    ax.set_xlabel("entropy of the votes (nats)")
    ax.set_ylabel("entropy of the prediction (nats)")
    return ax
