"""The casebook: discards that strong players have published, with their answers. ``docs/casebook.md`` tells of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from crib_env.cards import parse_cards
from crib_env.files.json_text import read_json
from crib_env.values import typed

_FILE = Path(__file__).parent / "data" / "casebook.json"


class Case(NamedTuple):
    """A position before a discard."""

    cards: str
    """The ranks of the six cards, ascending."""
    dealer: bool
    """Whether their holder deals."""
    scores: tuple[int, int] | None
    """The holder's and the opponent's; None where the source names none."""
    answers: dict[str, tuple[str, ...]]
    """Who would discard what, by ranks."""
    source: str
    """The address of the page that it was published on."""
    suits: str = ""
    """The six cards, where the source has suits."""

    @property
    def name(self) -> str:
        """As in ``A 2 3 4 J K as dealer at 0–0``; no other position has it."""
        scores = f" at {self.scores[0]}–{self.scores[1]}" if self.scores else ""
        return f"{self.cards} as {'dealer' if self.dealer else 'pone'}{scores}"

    def six(self) -> list[int]:
        """Its cards, ascending; without suits in the source, of as many as there are."""
        mixed = " ".join(rank + "CDHS"[k % 4] for k, rank in enumerate(self.cards.split()))
        return sorted(parse_cards(self.suits or mixed))


class _Book(NamedTuple):
    cases: tuple[Case, ...]


@cache
def casebook() -> tuple[Case, ...]:
    """All positions."""
    return read_json(_FILE, f"{_FILE} is no casebook", lambda content: typed({"cases": content}, _Book)).cases
