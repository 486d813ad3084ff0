"""Pages and messages promise no index, one time for `make train`, and equal bits only where they are equal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("agents", "crib_env", "docs", "evaluate", "train")
PLACES = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in (".md", ".py")]
TEXTS = {
    path: path.read_text() for path in [*ROOT.glob("*.md"), ROOT / "Makefile", *PLACES] if path.name != "CHANGELOG.md"
}


@pytest.mark.parametrize(
    ("said", "with_it"),
    [
        (r"crib-env\[", "nowhere"),
        (r"pip install crib.env", "nowhere"),
        (
            r"make train\b.*\b(minute|second|hour)s?\b",
            "two and a half minutes on two quiet cores|All of `make train` in a",
        ),
        (r"repeats? to the last|reproducible to the last", "kind of processor|processors of one kind"),
    ],
)
def test_a_promise_has_its_condition_wherever_it_stands(said, with_it):
    for path, text in TEXTS.items():
        for found in re.finditer(said, text):
            near = " ".join(text[max(0, found.start() - 80) : found.end() + 120].split())
            assert re.search(with_it, near), f"{path.relative_to(ROOT)}: {near}"
