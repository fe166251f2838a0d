#!/usr/bin/env python3
"""Writes docs/python.md: the reference of the Python package, from its stubs and docstrings.

    scripts/python-api.py            needs a Python that has the package, or PYTHONPATH=crates/python/package

crates/python/tests/test_reference.py compares the file with what this script would write.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "crates/python/package/dissensus"
OUT = ROOT / "docs/python.md"
WIDE = 100

HEAD = """# Python reference

`pip install dissensus` gives the module `dissensus` and the command `dissensus`. This page lists every public name. It is
written by `scripts/python-api.py` from the types and docstrings of the package.
"""

Definition = ast.ClassDef | ast.FunctionDef


def definitions(path: Path) -> dict[str, Definition]:
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name: node for node in nodes if isinstance(node, Definition)}


def exported(path: Path) -> list[str]:
    """The names in `__all__`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            elements = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else []
            # Names that are made at run time (one function per metric) are described by the module's own words.
            return [one.value for one in elements if isinstance(one, ast.Constant)]
    return []


def sources(path: Path) -> dict[str, str]:
    """Where the names of `__init__` are imported from."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dissensus."):
            found.update({name.asname or name.name: node.module.removeprefix("dissensus.") for name in node.names})
    return found


def signature(name: str, node: ast.FunctionDef, method: bool) -> str:
    arguments = node.args
    static = any(getattr(mark, "id", "") == "staticmethod" for mark in node.decorator_list)
    if method and not static:
        (arguments.posonlyargs or arguments.args).pop(0)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name not in ("__new__", "__init__") else ""
    line = f"{name}({ast.unparse(arguments)}){returns}"
    if len(line) <= WIDE:
        return line
    # One argument per line.
    parts = re.split(r", (?![^\[\]()]*[\])])", ast.unparse(arguments))
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def prose(text: str) -> str:
    """A docstring in numpy's style, as Markdown."""
    text = re.sub(r"``(.+?)``", r"`\1`", inspect.cleandoc(text or ""))
    sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.M)
    pages = [sections[0].strip()]
    for title, body in zip(sections[1::2], sections[2::2]):
        if title == "Examples":
            pages.append(f"```pycon\n{body.strip()}\n```")
            continue
        entries = []
        for line in body.strip().splitlines():
            if line and not line.startswith(" "):
                entries.append([line, []])
            elif entries:
                entries[-1][1].append(line.strip())
        lines = []
        for head, words in entries:
            name, colon, kind = head.partition(" : ")
            first = f"`{name}` ({kind})" if colon else f"`{name}`" if title in ("Parameters", "Attributes") else name
            lines.append(f"- {first}" + (f": {' '.join(filter(None, words))}" if any(words) else ""))
        pages.append(f"{title}:\n\n" + "\n".join(lines))
    return "\n\n".join(filter(None, pages))


def entry(name: str, node: Definition, shown: str, level: int, thing: object | None) -> list[str]:
    """A name of the package: its signature, its words, and the same for the methods of a class."""

    def words(of: Definition, made: object | None) -> str:
        return prose((inspect.getdoc(made) if made is not None else ast.get_docstring(of)) or "")

    mark = "#" * level
    if isinstance(node, ast.FunctionDef):
        return [f"{mark} `{name}`", f"```python\n{signature(shown, node, False)}\n```", words(node, thing)]
    methods = [inner for inner in node.body if isinstance(inner, ast.FunctionDef)]
    made = [one for one in methods if one.name in ("__new__", "__init__")]
    page = [f"{mark} `{name}`"]
    if made:
        page.append(f"```python\n{signature(shown, made[0], True)}\n```")
    page.append(words(node, thing))
    for method in methods:
        if method.name.startswith("_"):
            continue
        inner = getattr(thing, method.name, None)
        property_ = any(getattr(one, "id", "") == "property" for one in method.decorator_list)
        about = words(method, inner)
        if property_:
            kind = f": {ast.unparse(method.returns)}" if method.returns else ""
            page.append(f"```python\n{node.name}.{method.name}{kind}\n```")
        else:
            page.append(f"```python\n{signature(f'{node.name}.{method.name}', method, True)}\n```")
        page.append(about)
    return page


def reference() -> str:
    import dissensus

    init = PACKAGE / "__init__.py"
    origin = sources(init)
    pages = [HEAD.strip(), "## `dissensus`"]
    for name in exported(init):
        where = origin.get(name)
        if name.startswith("__") or where is None:
            continue
        path = PACKAGE / ("_dissensus.pyi" if where == "_dissensus" else f"{where}.py")
        node = definitions(path).get(name)
        if node is not None:
            pages += entry(name, node, f"dissensus.{name}", 3, getattr(dissensus, name))
    for path in sorted(PACKAGE.glob("[!_]*.py")):
        module = f"dissensus.{path.stem}"
        names, known = exported(path), definitions(path)
        pages += [f"## `{module}`", prose(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")]
        for name in names:
            if name in known:
                pages += entry(name, known[name], f"{module}.{name}", 3, None)
    return "\n\n".join(page for page in pages if page) + "\n"


if __name__ == "__main__":
    OUT.write_text(reference(), encoding="utf-8")
    print(f"wrote {OUT.relative_to(ROOT)}")
