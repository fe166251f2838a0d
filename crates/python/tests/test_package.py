"""The package: what importing it costs, and whether its words are true."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import dissensus
import pytest
from dissensus import _dissensus

HEAVY = ["numpy", "torch", "pandas", "polars", "pyarrow", "sklearn", "scipy", "matplotlib", "IPython", "datasets"]


def test_importing_takes_no_other_library() -> None:
    code = f"import sys, json, dissensus; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == []


def test_the_time_of_an_import_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import time; t = time.perf_counter(); import dissensus; print(time.perf_counter() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    with capsys.disabled():
        print(f"\nimport dissensus: {1000 * min(times):.0f} ms (the bar is 60 ms)")


def documented() -> Iterator[object]:
    """Every public object of the native part with a docstring, and the methods of classes."""
    for name in sorted(vars(_dissensus)):
        thing = getattr(_dissensus, name)
        if isinstance(thing, ModuleType):
            yield from (getattr(thing, inner) for inner in sorted(vars(thing)) if not inner.startswith("_"))
        elif not name.startswith("_"):
            yield thing


def examples() -> list[doctest.DocTest]:
    finder, parser = doctest.DocTestFinder(), doctest.DocTestParser()
    found = []
    for thing in documented():
        names = [thing.__name__]
        things = [thing]
        if inspect.isclass(thing):
            names += [f"{thing.__name__}.{name}" for name in vars(thing)]
            things += [getattr(thing, name) for name in vars(thing)]
        for name, one in zip(names, things):
            text = inspect.getdoc(one) or ""
            if ">>>" in text:
                found.append(parser.get_doctest(text, {"dissensus": dissensus}, name, None, None))
    for name, module in sorted(sys.modules.items()):
        if name.startswith("dissensus.") and module is not _dissensus:
            tests = finder.find(module, name, extraglobs={"dissensus": dissensus})
            found += [test for test in tests if test.examples]
    return found


@pytest.mark.parametrize("test", examples(), ids=lambda test: test.name)
def test_examples_of_docstrings_run(test: doctest.DocTest, tmp_path, monkeypatch) -> None:
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert tried and not failed, "".join(report)


@pytest.mark.parametrize("name", sorted(dissensus.__all__))
def test_every_public_name_is_documented(name: str) -> None:
    thing = getattr(dissensus, name)
    if name.startswith("__"):
        return
    assert inspect.getdoc(thing), f"{name} has no docstring"
    if inspect.isclass(thing):
        for method, one in vars(thing).items():
            if not method.startswith("_") and (callable(one) or inspect.isdatadescriptor(one)):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{method} has no docstring"
