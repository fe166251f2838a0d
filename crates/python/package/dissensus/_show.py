"""Tables as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dissensus._dissensus import Table, Votes

ROWS = 20


def cell(value: object) -> str:
    """A value as people read it: four significant digits are enough to look at."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cells(table: Table) -> tuple[list[str], list[list[str]]]:
    columns = table.to_dict()
    rows = [[cell(value) for value in row] for row in zip(*(values[:ROWS] for values in columns.values()))]
    return list(columns), rows


def _rest(table: Table) -> str:
    return f"{len(table) - ROWS} more rows" if len(table) > ROWS else ""


def text(table: Table) -> str:
    """The first rows, in columns."""
    return "\n".join([_columns(*_cells(table)), *filter(None, [_rest(table)])])


def html(table: Table) -> str:
    """The first rows, for notebooks."""
    rest = f"<p>{_rest(table)}</p>" if _rest(table) else ""
    return _markup(*_cells(table)) + rest


def _columns(names: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in [names, *rows]) for i in range(len(names))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in [names, *rows])


def _markup(names: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _by_metric(table: Table) -> tuple[list[str], list[list[str]]]:
    """Scores with one row per metric and one column per model and slice."""
    columns = table.to_dict()
    cells: dict[str, dict[str, str]] = {}
    places: dict[str, None] = {}
    for model, part, items, metric, value, low, high in zip(
        *(columns[name] for name in ["model", "slice", "items", "metric", "value", "low", "high"])
    ):
        place = f"{model}, {part} ({items} items)"
        shown = cell(value) if low is None else f"{cell(value)} [{cell(low)}, {cell(high)}]"
        cells.setdefault(metric, {})[place] = shown
        places[place] = None
    return ["metric", *places], [[metric, *(row.get(place, "") for place in places)] for metric, row in cells.items()]


def scores_text(table: Table, notes: list[str]) -> str:
    """Scores with how they were read."""
    return "\n".join([_columns(*_by_metric(table)), "", *notes])


def scores_html(table: Table, notes: list[str]) -> str:
    """Scores with how they were read, for notebooks."""
    return _markup(*_by_metric(table)) + "".join(f"<p>{escape(note)}</p>" for note in notes)


def compared_text(table: Table, words: str) -> str:
    """A comparison and what it means."""
    return f"{text(table)}\n\n{words}"


def compared_html(table: Table, words: str) -> str:
    """A comparison and what it means, for notebooks."""
    return f"{html(table)}<p>{escape(words)}</p>"


def votes_html(votes: Votes) -> str:
    """A vote table for notebooks: its figures, what was guessed, and the histogram of entropy."""
    summary = votes.summary(top=0)
    spread = summary["votes_per_item"]
    per_item = f"{spread['min']} to {spread['max']}, median {spread['median']:g}" if spread else None
    shares = ", ".join(f"{c['name']} {100 * c['share']:.1f} %" for c in summary["classes"][:ROWS])
    more = len(summary["classes"]) - ROWS
    rows = [
        ("items", summary["items"]),
        ("annotators", summary["annotators"]),
        ("votes", summary["votes"]),
        ("votes per item", per_item),
        ("classes", shares + (f" and {more} more" if more > 0 else "")),
        ("Krippendorff's ordinal alpha", summary.get("ratings", {}).get("krippendorff_alpha")),
        ("Krippendorff's alpha", summary["krippendorff_alpha"]),
        ("read as", "; ".join(votes.notes) or None),
    ]
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(cell(value))}</td></tr>" for name, value in rows if value is not None
    )
    return f"<table><tbody>{body}</tbody></table>{votes._svg()}"
