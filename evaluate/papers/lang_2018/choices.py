"""People's discards from a CSV file, and how often a player agrees with most of them (Lang 2018, section 4.2).

Each line is a discard that somebody chose in a position; lines that begin with # are skipped. The first line names the
columns, in any order (``choices_example.csv`` beside this file is an invented example):

==============  =======================================================================
position        any text; lines with the same text belong together, and differ only in the last two columns
cards           the six cards dealt, as in ``5H 5C JD QS 2H 3D``
dealer          ``yes`` or ``no``
own_score       0 to 120
opponent_score  0 to 120
discard         two of the six cards
votes           how many people chose this discard, 1 or more
==============  =======================================================================
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crib_env import parse_cards
from crib_env.engine import WIN
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.tables.lang_strategies import STRATEGIES, desirabilities
from crib_env.tables.standard import standard_pegging

COLUMNS = ("position", "cards", "dealer", "own_score", "opponent_score", "discard", "votes")
EXAMPLE = Path(__file__).with_name("choices_example.csv")
_NUMBER = {tuple(places): number for number, places in enumerate(PLACES.tolist())}


@dataclass(frozen=True)
class Choices:
    """P positions and people's discards in them."""

    cards: np.ndarray
    """(P, 6) int64, sorted ids."""
    is_dealer: np.ndarray
    """(P,) bool."""
    scores: np.ndarray
    """(P, 2) int64, own and the opponent's."""
    votes: np.ndarray
    """(P, 15) int64, in the order of :func:`crib_env.discard_statistics`."""


def read_choices(path: Path) -> Choices:
    """Reads a file of people's discards, see the module.

    Raises:
        ValueError: there is no such file, or a line of it is invalid; the message names both.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a file of discards: {error}") from None
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line and not line.startswith("#")]
    reader = csv.DictReader(line for _, line in numbered)
    try:
        columns = reader.fieldnames or ()
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as a file of discards: {error}") from None
    if missing := [column for column in COLUMNS if column not in columns]:
        raise ValueError(f"{path} has no column {missing[0]!r}: its first line must name {', '.join(COLUMNS)}")
    positions: dict[str, tuple[tuple[list[int], bool, tuple[int, int]], np.ndarray]] = {}
    for line_number, row in rows:
        try:
            name, position, discard, votes = _read_line(row)
            known, counted = positions.setdefault(name, (position, np.zeros(N_DISCARDS, np.int64)))
            if known != position:
                raise ValueError(f"position {name!r} has other cards or scores than before")
            counted[discard] += votes
        except ValueError as error:
            raise ValueError(f"{path}, line {numbered[line_number - 1][0]}: {error}") from None
    if not positions:
        raise ValueError(f"{path} holds no positions")
    cards, dealers, scores = zip(*(position for position, _ in positions.values()))
    counts = np.stack([counted for _, counted in positions.values()])
    return Choices(np.array(cards), np.array(dealers), np.array(scores), counts)


def _read_line(row: dict[str, str | None]) -> tuple[str, tuple[list[int], bool, tuple[int, int]], int, int]:
    """The position's name, the position, the number of the discard and its votes."""
    found = {}
    for column in COLUMNS:
        if not (value := (row[column] or "").strip()):
            raise ValueError(f"{column} is empty")
        found[column] = value
    cards, discarded = sorted(parse_cards(found["cards"])), sorted(parse_cards(found["discard"]))
    if len(cards) != 6:
        raise ValueError(f"cards={found['cards']!r} are {len(cards)}, not six")
    if len(discarded) != 2 or not set(discarded) <= set(cards):
        raise ValueError(f"discard={found['discard']!r} is not two of {found['cards']!r}")
    if found["dealer"] not in ("yes", "no"):
        raise ValueError(f"dealer={found['dealer']!r} is not allowed: give yes or no")
    own, other = (_whole(found, column, 0, WIN - 1) for column in ("own_score", "opponent_score"))
    discard = _NUMBER[cards.index(discarded[0]), cards.index(discarded[1])]
    return found["position"], (cards, found["dealer"] == "yes", (own, other)), discard, _whole(found, "votes", 1, 10**9)


def _whole(found: dict[str, str], column: str, least: int, most: int) -> int:
    value = found[column]
    if not value.isdecimal() or not least <= int(value) <= most:
        raise ValueError(f"{column}={value!r} is not allowed: give a whole number from {least} to {most:,}")
    return int(value)


def chosen_by(weights: np.ndarray, choices: Choices) -> np.ndarray:
    """The discards (P,) of Lang's player with these weights, (121, 121, 2, 8); ties go to the first in order of ids."""
    wanted = desirabilities(choices.cards, dealer=choices.is_dealer, records=standard_pegging())
    own, other = choices.scores.T
    at = weights[own, other, choices.is_dealer.astype(int)]
    return np.einsum("ps,psd->pd", at, wanted).argmax(axis=1)


def pure_weights(strategy: str) -> np.ndarray:
    """Weights that are 1 for one strategy and 0 for the others, everywhere, (121, 121, 2, 8)."""
    weights = np.zeros((WIN, WIN, 2, len(STRATEGIES)))
    weights[..., STRATEGIES.index(strategy)] = 1.0
    return weights


def top_three(chosen: np.ndarray, choices: Choices) -> np.ndarray:
    """(P, 3) bool: whether a discard is among the one, two and three discards that most people chose.

    It is among k if fewer than k others have more votes; a discard without votes never is. The thesis does not mention
    ties.
    """
    own = np.take_along_axis(choices.votes, chosen[:, None], axis=1)
    ahead = (choices.votes > own).sum(axis=1)
    return (own > 0) & (ahead[:, None] < np.arange(1, 4))
