"""Progress bars for long work, in terminals and notebooks.

The native part calls ``show(kind, task, done, total, detail)`` from the thread that asked for the work, where ``kind`` is
``started``, ``advanced``, ``finished``, ``note`` or ``warning``.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

Show = Callable[[str, str, int, "int | None", str], None]


def shower(progress: bool | Show | None) -> Show | None:
    """What shows progress: a callable as it is, a bar where somebody looks (or where it is asked for), or nothing."""
    if callable(progress):
        return progress
    notebook = _in_notebook()
    if progress is None:
        progress = notebook or sys.stderr.isatty()
    return Bar(notebook) if progress else _quiet


def _quiet(kind: str, task: str, done: int, total: int | None, detail: str) -> None:
    if kind == "warning":
        warnings.warn(task, stacklevel=2)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """One line that is drawn again, at most ten times per second."""

    def __init__(self, notebook: bool) -> None:
        self._notebook = notebook
        self._handle = None
        self._drawn = 0.0
        self._started: dict[str, float] = {}

    def __call__(self, kind: str, task: str, done: int, total: int | None, detail: str) -> None:
        if kind == "warning":
            warnings.warn(task, stacklevel=2)
        elif kind == "note":
            print(f"\r\x1b[K{task}" if not self._notebook else task, file=sys.stderr)
        elif kind == "started":
            self._started[task] = time.monotonic()
        elif kind == "finished":
            seconds = time.monotonic() - self._started.pop(task, time.monotonic())
            if not self._started:
                # An output of a notebook cannot be taken back: it ends with what was done.
                self._draw(f"{task}  {seconds:.1f} s" if self._handle else "")
        elif kind == "advanced" and time.monotonic() - self._drawn > 0.1:
            self._draw(self._line(task, done, total, detail))

    def _line(self, task: str, done: int, total: int | None, detail: str) -> str:
        seconds = time.monotonic() - self._started.setdefault(task, time.monotonic())
        if not total:
            return f"{task}  {done}  {seconds:.0f} s  {detail}"
        filled = min(20, 20 * done // total)
        left = f"{seconds * (total - done) / done:.0f} s left" if done else ""
        return f"{task}  [{'#' * filled}{'.' * (20 - filled)}] {done}/{total}  {left}  {detail}"

    def _draw(self, line: str) -> None:
        self._drawn = time.monotonic()
        if not self._notebook:
            sys.stderr.write(f"\r\x1b[K{line[:100]}")
            sys.stderr.flush()
            return
        if not line:
            return
        from IPython.display import display

        shown = {"text/plain": line}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(shown, raw=True)
