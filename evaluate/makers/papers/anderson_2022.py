"""Anderson, Amiri, Sharan and Ding (2022), "CS5100 Spring 2022 Final Project: Cribbage".

The tables are in "Performance Observation": 1,000 games of each two players. The discards of their program listings
differ from those that their text describes, so there are claims on both:

player     text                                    listing
greedy     the best hand, plus the crib as dealer  the lowest mean crib, in either role
minimax    hand and worst or best crib             highest mean crib as dealer, lowest as pone; no hand
heuristic  rules of thumb, then the best hand      the worst hand; as pone only among discards that no
                                                   rule strikes: two cards that count five together,
                                                   any of 3 4 7 8 J Q, values two apart, one suit

As dealer the heuristic listing rules out every discard, and then falls back on all fifteen. How it scores a hand is not
printed; here it takes the exact mean. All of them play as ``greedy`` does: the printed play omits runs, and that of
minimax calls functions that are not printed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crib_env import PlayerViews, discard_statistics
from crib_env.agents.baselines import GreedyAgent
from crib_env.agents.choosing import by_phase, next_discard, six_dealt
from crib_env.agents.heuristic import CARD_VALUES
from crib_env.cards import RANKS
from crib_env.evaluate.makers.papers.measures import Player
from crib_env.exact.discard_statistics import PLACES
from crib_env.players.agent import Powers

_STRUCK_RANKS = [RANKS.index(rank) for rank in "3478JQ"]
_STRUCK = -1e3


def greedy_listing(six: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """The values (N, 15) that the listing gives the discards of hands (N, 6); the highest is discarded."""
    return -discard_statistics(six)["crib_mean"]


def minimax_listing(six: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """As :func:`greedy_listing`."""
    return np.where(is_dealer[:, None], 1, -1) * discard_statistics(six)["crib_mean"]


def heuristic_listing(six: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """As :func:`greedy_listing`."""
    discarded = six[:, PLACES]
    values = CARD_VALUES[discarded % 13]
    struck = (
        (values.sum(axis=2) == 5)
        | np.isin(discarded % 13, _STRUCK_RANKS).any(axis=2)
        | (np.abs(np.diff(values, axis=2))[..., 0] == 2)
        | (discarded[..., 0] // 13 == discarded[..., 1] // 13)
    )
    struck &= ~is_dealer[:, None] & ~struck.all(axis=1, keepdims=True)
    return np.where(struck, _STRUCK, -discard_statistics(six)["hand_mean"])


class Listed:
    """A player with the discards of a listing.

    Args:
        listing: values (N, 15) of the discards of hands (N, 6), each as dealer or not, (N,) bool.
    """

    powers = Powers()

    def __init__(self, name: str, listing: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        self.name = f"{name} as listed"
        self._listing, self._greedy = listing, GreedyAgent()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._greedy.act)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        values = self._listing(six_dealt(views), views.is_dealer)
        return next_discard(views, values, np.zeros_like(values))


def listed(name: str) -> Player:
    """The player with the discards of the listing of this name."""
    return lambda: Listed(
        name, {"greedy": greedy_listing, "heuristic": heuristic_listing, "minimax": minimax_listing}[name]
    )
