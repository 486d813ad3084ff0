"""A player by rules of thumb: a table of common advice on discards, and the most points at once in the play.

After Anderson, Amiri, Sharan and Ding (2022), "Cribbage Project", section "Heuristic Based Agent/Expert System". Their
rules: keep a double run; as dealer discard a five with a ten-card, or else a pair, or else sevens, eights and fives;
as pone discard cards far apart. The code printed beside the text adds: two cards that make five, gaps of two, one suit,
and the ranks 3 4 7 8 J Q. In the play this player does the same as their greedy one.

The value of a discard is the exact mean of the four cards kept over the 46 starters, plus the weights of the rules that
apply to it.

Differences: in the paper a rule removed discards from the list, even the best ones, and the player then took the one
with the *lowest* hand; it lost to a random player. Here a rule is a preference, in points. The weights of
``DEALER_RULES`` are rounded from a least-squares fit of these features to the exact crib means of 300,000 discards
(together they explain 91 % of the variance). ``PONE_RULES`` has the same weights with the opposite sign. "Keep a double
run" and "far apart" had no effect of their own in that fit and got a small weight. In the play runs count too, which
their ``score_count`` omits, and ties go to the highest card, as in ``greedy``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews, discard_statistics
from crib_env.agents.baselines import GreedyAgent
from crib_env.agents.choosing import by_phase, next_discard, six_dealt
from crib_env.cards import RANKS
from crib_env.exact.discard_statistics import PLACES
from crib_env.players.agent import Powers
from crib_env.scoring import card_value

CARD_VALUES = np.array([card_value(rank) for rank in range(13)])
_KEPT = np.array([[k for k in range(6) if k not in places] for places in PLACES])
DOUBLE_RUN = 0.5
"""Points for keeping four cards of three ranks in a row."""

# Of all sets of two discards, (13, 13, 2) by lower rank, higher rank, and whether they are of one suit.
_LOW, _HIGH, _SUITED = np.indices((13, 13, 2))
_GAP = _HIGH - _LOW  # 0 for a pair, 1 for touching cards
_TOTAL = CARD_VALUES[_LOW] + CARD_VALUES[_HIGH]  # as in fifteens


class Rule(NamedTuple):
    """A preference for two discards: its words, its weight in points, and how often it holds, (13, 13, 2)."""

    says: str
    weight: float
    holds: np.ndarray


def _ranks(ranks: str) -> np.ndarray:
    """How many of the two discards have one of these ranks."""
    numbers = [RANKS.index(rank) for rank in ranks]
    return np.isin(_LOW, numbers).astype(int) + np.isin(_HIGH, numbers)


DEALER_RULES = (
    Rule("discard fives", 1.9, _ranks("5")),
    Rule("discard fifteens: a five with a ten-card, 7-8, 6-9", 1.3, _TOTAL == 15),
    Rule("discard a pair", 1.8, _GAP == 0),
    Rule("discard 7-8", 1.4, (_LOW == 6) & (_HIGH == 7)),
    Rule("discard 2-3 or A-4: they make five", 1.7, _TOTAL == 5),
)
PONE_RULES = (
    Rule("no fives", -1.9, _ranks("5")),
    Rule("no fifteens", -1.3, _TOTAL == 15),
    Rule("no pair", -1.8, _GAP == 0),
    Rule("nothing that makes five", -1.7, _TOTAL == 5),
    Rule("no touching cards", -1.0, _GAP == 1),
    Rule("no gap of two", -0.6, _GAP == 2),
    Rule("none of 3 4 7 8 J Q", -0.1, _ranks("3478JQ")),
    Rule("not one suit", -0.1, _SUITED),
    Rule("far apart", 0.1, _GAP >= 5),
)
_ADDED = np.stack(
    [np.sum([rule.weight * rule.holds for rule in rules], axis=0) for rules in (PONE_RULES, DEALER_RULES)]
)


def keeps_double_run(six: np.ndarray) -> np.ndarray:
    """(N, 15) bool, which discards of hands (N, 6) leave four cards of three ranks in a row."""
    ranks = np.sort(six[:, _KEPT] % 13, axis=2)
    return (np.sort(np.diff(ranks, axis=2), axis=2) == [0, 1, 1]).all(axis=2)


def preferences(six: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """(N, 15) the points that the rules add to the discards of hands (N, 6), each as dealer or not, (N,) bool."""
    pairs = six[:, PLACES]
    ranks, suits = np.sort(pairs % 13, axis=2), pairs // 13
    suited = (suits[..., 0] == suits[..., 1]).astype(int)
    added = _ADDED[is_dealer[:, None].astype(int), ranks[..., 0], ranks[..., 1], suited]
    return DOUBLE_RUN * keeps_double_run(six) + added


class HeuristicAgent:
    """A player by rules of thumb; see the module."""

    name = "heuristic"
    powers = Powers(suits="ties", remembers_discards=False, sees_starter=False)

    def __init__(self) -> None:
        self._greedy = GreedyAgent()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._greedy.act)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        six = six_dealt(views)
        values = discard_statistics(six)["hand_mean"] + preferences(six, views.is_dealer)
        return next_discard(views, values, np.zeros_like(values))
