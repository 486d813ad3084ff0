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

from collections.abc import Callable
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


class Discards(NamedTuple):
    """The fifteen discards of N hands, in the order of :func:`crib_env.discard_statistics`."""

    kept: np.ndarray  # (N, 15, 4) ranks, lowest first
    low: np.ndarray  # (N, 15) lower rank discarded
    high: np.ndarray  # (N, 15) higher rank discarded
    suited: np.ndarray  # (N, 15) bool, both discards are of one suit

    @property
    def gap(self) -> np.ndarray:
        """(N, 15) 0 for a pair, 1 for touching cards."""
        return self.high - self.low

    @property
    def total(self) -> np.ndarray:
        """(N, 15) the sum of the values of the two discards, as in fifteens."""
        return CARD_VALUES[self.low] + CARD_VALUES[self.high]

    def discarded(self, ranks: str) -> np.ndarray:
        """(N, 15) how many of the two discards have one of these ranks, as text."""
        numbers = [RANKS.index(rank) for rank in ranks]
        return np.isin(self.low, numbers).astype(int) + np.isin(self.high, numbers)


def discards_of(six: np.ndarray) -> Discards:
    """All discards of hands (N, 6) of card ids."""
    discarded, kept = six[:, PLACES], six[:, _KEPT]
    ranks = np.sort(discarded % 13, axis=2)
    suits = discarded // 13
    return Discards(np.sort(kept % 13, axis=2), ranks[..., 0], ranks[..., 1], suits[..., 0] == suits[..., 1])


def _keeps_double_run(d: Discards) -> np.ndarray:
    """Four cards of three ranks in a row."""
    return (np.sort(np.diff(d.kept, axis=2), axis=2) == [0, 1, 1]).all(axis=2)


class Rule(NamedTuple):
    """A preference: its words, its weight in points, and how often it holds for each discard, (N, 15)."""

    says: str
    weight: float
    holds: Callable[[Discards], np.ndarray]


ALWAYS = (Rule("keep a double run", 0.5, _keeps_double_run),)
DEALER_RULES = (
    Rule("discard fives", 1.9, lambda d: d.discarded("5")),
    Rule("discard fifteens: a five with a ten-card, 7-8, 6-9", 1.3, lambda d: d.total == 15),
    Rule("discard a pair", 1.8, lambda d: d.gap == 0),
    Rule("discard 7-8", 1.4, lambda d: (d.low == 6) & (d.high == 7)),
    Rule("discard 2-3 or A-4: they make five", 1.7, lambda d: d.total == 5),
)
PONE_RULES = (
    Rule("no fives", -1.9, lambda d: d.discarded("5")),
    Rule("no fifteens", -1.3, lambda d: d.total == 15),
    Rule("no pair", -1.8, lambda d: d.gap == 0),
    Rule("nothing that makes five", -1.7, lambda d: d.total == 5),
    Rule("no touching cards", -1.0, lambda d: d.gap == 1),
    Rule("no gap of two", -0.6, lambda d: d.gap == 2),
    Rule("none of 3 4 7 8 J Q", -0.1, lambda d: d.discarded("3478JQ")),
    Rule("not one suit", -0.1, lambda d: d.suited),
    Rule("far apart", 0.1, lambda d: d.gap >= 5),
)


def _added(rules: tuple[Rule, ...], d: Discards) -> np.ndarray:
    return np.sum([rule.weight * rule.holds(d) for rule in rules], axis=0)


# The sum of each role's rules for two discards: (2, 13, 13, 2) by role, lower and higher rank, one suit or not.
_PAIRS = Discards(np.empty(0), *np.indices((13, 13, 2)))
_ADDED = np.stack([_added(rules, _PAIRS) for rules in (PONE_RULES, DEALER_RULES)])


def preferences(six: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """(N, 15) the points that the rules add to the discards of hands (N, 6), each as dealer or not, (N,) bool."""
    d = discards_of(six)
    return _added(ALWAYS, d) + _ADDED[is_dealer[:, None].astype(int), d.low, d.high, d.suited.astype(int)]


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
