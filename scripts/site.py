#!/usr/bin/env python3
"""Writes the pages of the documentation site into a folder, for MkDocs.

    scripts/site.py PROGRAM FOLDER

What is written by hand stays where it is: README.md, docs, and what they link to. From the program comes one page per
metric. A link from a page to a file of this repository becomes a page or a copy of it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# Tables in HTML, whose cells are Markdown.
TABLE = re.compile(r"<(table|tr|th|td)>")
# Pages by hand that no other page needs to link to.
ALWAYS = ["docs/guides/*.md", "docs/studies/*.md", "docs/decisions/*.md", "docs/site.css"]


def place(file: Path) -> Path:
    """Where a file of the repository stands in the site."""
    file = file.relative_to(ROOT)
    if file == Path("README.md"):
        return Path("index.md")
    if (ROOT / file).is_dir():
        return place(ROOT / file / "README.md")
    return file.relative_to("docs") if file.parts[0] == "docs" else file


class Site:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting = [ROOT / "README.md"]
        self.known: set[Path] = set(self.waiting)

    def need(self, file: Path) -> None:
        if file not in self.known:
            self.known.add(file)
            self.waiting.append(file)

    def write(self, at: Path, text: str) -> None:
        out = self.folder / at
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")

    def page(self, file: Path) -> None:
        """A page by hand, with its links as they are in the site."""
        here = place(file)

        def link(found: re.Match[str]) -> str:
            target, mark, anchor = found[2].partition("#")
            if not target or ":" in target:
                return found[0]
            wanted = (file.parent / target).resolve()
            if not wanted.exists():
                sys.exit(f"{file.relative_to(ROOT)}: {found[2]} does not exist")
            self.need(wanted)
            up = Path(*[".."] * len(here.parent.parts))
            return f"{found[1]}{up / place(wanted)}{mark}{anchor}{found[3]}"

        text, done, parts = file.read_text(encoding="utf-8"), 0, []
        for code in CODE.finditer(text):
            parts += [LINK.sub(link, text[done : code.start()]), code[0]]
            done = code.end()
        text = "".join(parts) + LINK.sub(link, text[done:])
        self.write(here, TABLE.sub(r'<\1 markdown="1">', text))

    def listing(self, folder: Path) -> None:
        """A page for a folder that has none of its own: its files."""
        name = folder.relative_to(ROOT)
        files = sorted(one for one in folder.iterdir() if one.is_file())
        lines = [f"- [{one.name}]({one.name})" for one in files]
        for one in files:
            self.need(one)
        self.write(place(folder), f"# {name}\n\n" + "\n".join(lines) + "\n")

    def all(self) -> None:
        while self.waiting:
            file = self.waiting.pop()
            if file.is_dir():
                own = file / "README.md"
                self.need(own) if own.exists() else self.listing(file)
            elif file.suffix == ".md":
                self.page(file)
            else:
                out = self.folder / place(file)
                out.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, out)


def said(program: str, *words: str) -> str:
    answer = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return answer.stdout.strip("\n")


def metrics(site: Site, program: str) -> None:
    """One page per metric, from what `metrics explain` says, and their list."""
    lines = ["# Metrics", "", "`dissensus metrics explain NAME` prints the same.", ""]
    for line in said(program, "metrics", "list").splitlines():
        named = re.match(r"  (\w+) +(.*)", line)
        if not named:
            lines += ["", f"## {line}", ""] if line else []
            continue
        name, title = named[1], named[2]
        lines.append(f"- [{name}]({name}.md): {title}")
        head, _, body = said(program, "metrics", "explain", name).partition("\n")
        title = head.partition(": ")[2]
        page = [f"# {name}", "", f"{title[:1].upper()}{title[1:]}.", ""]
        for entry in re.split(r"\n(?=  \w)", body.strip("\n")):
            what, words = entry[:13].strip(), re.sub(r"\n {13}", "\n", entry[13:])
            page += [f"**{what.capitalize()}**", "", f"```text\n{words}\n```" if what == "formula" else words, ""]
        site.write(Path("metrics") / f"{name}.md", "\n".join(page))
    site.write(Path("metrics/index.md"), "\n".join(lines) + "\n")


def main() -> None:
    program, folder = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder)
    for listed in ALWAYS:
        for file in sorted(ROOT.glob(listed)):
            site.need(file)
    site.all()
    metrics(site, program)
    pages = len(list(folder.rglob("*.md")))
    print(f"{pages} pages in {folder}")


if __name__ == "__main__":
    main()
