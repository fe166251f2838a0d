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
    names, rows = _cells(table)
    widths = [max(len(line[i]) for line in [names, *rows]) for i in range(len(names))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in [names, *rows]]
    return "\n".join([*lines, *filter(None, [_rest(table)])])


def html(table: Table) -> str:
    """The first rows, for notebooks."""
    names, rows = _cells(table)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    rest = f"<p>{_rest(table)}</p>" if _rest(table) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


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
        ("Krippendorff's alpha", summary["krippendorff_alpha"]),
        ("read as", "; ".join(votes.notes) or None),
    ]
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(cell(value))}</td></tr>" for name, value in rows if value is not None
    )
    return f"<table><tbody>{body}</tbody></table>{votes._svg()}"
