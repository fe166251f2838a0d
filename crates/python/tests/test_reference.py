"""The reference of the package is not older than the package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import dissensus

ROOT = Path(__file__).resolve().parents[3]


def test_the_reference_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("python_api", ROOT / "scripts/python-api.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = module.reference()
    assert (ROOT / "docs/python.md").read_text(encoding="utf-8") == written, "run scripts/python-api.py"
    missing = [name for name in dissensus.__all__ if not name.startswith("__") and f"`{name}`" not in written]
    assert not [name for name in missing if not (ROOT / f"crates/python/package/dissensus/{name}.py").exists()]
