"""Every link and picture of a page leads somewhere for a reader of the files: to a file, and to a heading in it."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "evaluate" / "REPRODUCTION.md", ROOT / "runs" / "README.md", *DOCS]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(page):
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text())


@cache
def anchors(page):
    """The anchors of a page's headings as code hosts make them: words in small letters, joined by hyphens."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        repeated = sum(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other) is not None for other in found)
        found.append(f"{anchor}-{repeated}" if repeated else anchor)
    return found


def dead(page):
    """The relative links of a page that lead nowhere."""
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" in link or link.startswith("mailto:"):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert not list(dead(page))
