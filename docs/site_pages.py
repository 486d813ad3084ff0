"""What Sphinx needs to make pages of what lies elsewhere: files of the checkout, and formulas.

A page of :data:`FILES` shows a file of the checkout. Read as a file itself, it holds a link to that file instead.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# The pages that show a file of the checkout.
FILES = {
    "benchmarks/index.md": "BENCHMARKS.md",
    "reference/changelog.md": "CHANGELOG.md",
    "reference/contributing.md": "CONTRIBUTING.md",
    "reference/papers.md": "evaluate/REPRODUCTION.md",
}
SHOWN = (".md", ".png", ".svg", ".gif")  # other files are no part of the site
_PAGES = {file: page for page, file in FILES.items()} | {"README.md": "index.md"}
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)|(!\[[^\]]*\])\(([^)\s]+)\)")


def relative_link(target: str, origin: Path, page: Path) -> str | None:
    """A link as seen from the page, to what it led to from its origin; ``None`` if no page shows that file."""
    path, _, anchor = target.partition("#")
    if "://" in target or not path:
        return target
    file = (origin.parent / path).resolve()
    if file.is_relative_to(ROOT) and str(file.relative_to(ROOT)) in _PAGES:
        file = DOCS / _PAGES[str(file.relative_to(ROOT))]
    elif not file.exists():
        return target  # Sphinx says that it is missing
    elif not file.is_relative_to(DOCS if file.suffix == ".md" else ROOT) or file.suffix not in SHOWN:
        return None
    return os.path.relpath(file, page.parent) + (f"#{anchor}" if anchor else "")


def relink(text: str, origin: Path, page: Path) -> str:
    """Markdown of a file for a page in another place; links to sources of the checkout become their text."""

    def one(match: re.Match[str]) -> str:
        if match[3]:
            return f"{match[3]}({relative_link(match[4], origin, page)})"
        link = relative_link(match[2], origin, page)
        return match[1] if link is None else f"[{match[1]}]({link})"

    return _LINK.sub(one, text)


def shown(name: str, text: str) -> str:
    """What the site shows for a page: the file that it stands for, or its own text."""
    page = DOCS / name
    origin = ROOT / FILES[name] if name in FILES else page
    return relink(origin.read_text() if name in FILES else text, origin, page)


def setup(app) -> None:
    """Called by Sphinx."""
    app.connect("source-read", lambda app, name, source: source.__setitem__(0, shown(f"{name}.md", source[0])))

    def formula(self, node) -> None:
        self.body.append(convert(node.astext(), display="block" if node.tagname == "math_block" else "inline"))
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
