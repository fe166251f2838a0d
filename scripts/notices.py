#!/usr/bin/env python3
"""Writes THIRD-PARTY-NOTICES: what the program is linked from, with licences and copyrights.

    scripts/notices.py

Needs cargo and its registry. The list covers every system that the program can be built for. A licence text
that several crates share stands there once. A test (crates/cli/tests/dependencies.rs) compares the list with
Cargo.lock, so this must be run after a change of dependencies.
"""

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """Third-party notices

The program dissensus is linked from the crates below, on one system or another. Their licences and copyright
notices follow; a crate that may be used under the MIT licence, among others, is used under it. The figures' font,
DejaVu Sans, is part of the program as well.
"""
FILE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
# Sources of other projects that crates bring along, and that are compiled in.
DEEPEST = 3


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked", "--features", "dissensus-cli/cloud"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def linked():
    """The packages that the program is linked from: no build scripts, no macros, no tests, and nothing that features of
    other members of the workspace bring."""
    tree = cargo("tree", "--package", "dissensus-cli", "--edges", "normal,no-proc-macro", "--target", "all",
                 "--prefix", "none", "--format", "{p}", "--no-dedupe")
    names = set(tree.splitlines())
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    return sorted((p for p in packages if f"{p['name']} v{p['version']}" in names), key=lambda p: (p["name"], p["version"]))


def texts(package):
    """The licence texts of a crate, those of sources that it brings along included."""
    folder = Path(package["manifest_path"]).parent
    files = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        plain = not {"tests", "examples", "benches", "test", "contrib", "programs"} & set(parts)
        if len(parts) <= DEEPEST and plain and path.is_file() and FILE.match(path.name):
            if path.suffix.lower() in ("", ".txt", ".md", ".apache", ".mit") or "-" in path.name:
                files.append(path)
    # zstd is under BSD or, in COPYING, the GPL.
    files = [path for path in files if path.name != "COPYING" or path.with_name("LICENSE") not in files]
    mit = [path for path in files if "mit" in path.name.lower()]
    if mit and re.search(r"\bMIT\b", package["license"]) and " AND " not in package["license"]:
        files = mit + [path for path in files if path.parent != folder]
    for path in files:
        text = path.read_text(errors="replace").replace("\r\n", "\n").strip()
        if text:
            yield "\n".join(line.rstrip() for line in text.splitlines())


def main():
    packages = linked()
    out = [HEAD]
    out.append("\n".join(f"{p['name']} {p['version']}: {p['license']}" for p in packages) + "\n")
    shared = {}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        own = list(texts(package))
        if not own:
            authors = ", ".join(re.sub(r" <[^>]*>", "", author) for author in package["authors"])
            own = [f"{package['license']}; no text comes with it. {'By ' + authors if authors else package['repository']}"]
        for text in own:
            shared.setdefault(text, []).append(name)
    shared.setdefault((ROOT / "crates/report/fonts/LICENSE").read_text().strip(), []).append("DejaVu Sans 2.35")
    for text, names in sorted(shared.items(), key=lambda entry: entry[1]):
        out.append("-" * 80 + "\n" + ", ".join(dict.fromkeys(names)) + "\n\n" + text + "\n")
    (ROOT / "THIRD-PARTY-NOTICES").write_text("\n".join(out))


main()
