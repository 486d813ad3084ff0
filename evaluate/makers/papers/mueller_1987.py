"""Mueller (1987), "Halscrib".

Its results are games against people, which cannot be repeated here. What can be measured is its arithmetic, how often
its program mixes, and its strength against the other players.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.halscrib.play import equilibrium
from crib_env.evaluate.makers.papers.measures import Effort, Measure, Measured, exact, player
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.players.win_rate import paired_rate_interval


def gain_by_mixing(before: Sequence[int], after: Sequence[int]) -> Measure:
    """The difference of the shares of games won, lost by the program, with Newcombe's interval (1998, method 10)."""

    def measure(effort: Effort) -> Measured:
        (p, low_p, high_p), (q, low_q, high_q) = _share(*after), _share(*before)
        value = p - q
        low = value - math.hypot(p - low_p, high_q - q)
        high = value + math.hypot(high_p - p, q - low_q)
        return Measured(value, (low, high), f"the paper's {sum(before)} and {sum(after)} games")

    return measure


def _share(won: int, lost: int) -> tuple[float, float, float]:
    games = np.repeat([1.0, 0.0], [won, lost])
    return float(games.mean()), *paired_rate_interval(games)


def share_of(which: str, by_choice: bool) -> Measure:
    """How often a function below is true of decisions, in deals that two players play from 0–0.

    Args:
        by_choice: only of players who hold both a card for which it is true and another.
    """

    def measure(effort: Effort) -> Measured:
        first, second = (player(f"halscrib:seed={effort.seed + k}", effort) for k in range(2))
        seen: list[np.ndarray] = []

        def watch(views: PlayerViews, cards: np.ndarray) -> None:
            does, may = (leads_from_pair if which == "leads" else pairs_the_lead)(views, cards)
            seen.append(does[may] if by_choice else does)

        play_deals(first, second, effort.n, effort.seed, watch=watch)
        shares = np.concatenate(seen).astype(float)
        return Measured(float(shares.mean()), paired_rate_interval(shares), f"{len(shares):,} decisions")

    return measure


def leads_from_pair(views: PlayerViews, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For the first cards of the play: whether each is led from a pair, and whether its player had the choice."""
    leads = ~views.is_discard & (views.laid[:, 0] < 0)
    hands = views.hand[leads][:, :4] % 13
    alike = (hands[:, :, None] == hands[:, None, :]).sum(axis=2) > 1
    does = ((hands == cards[leads, None] % 13) & alike).any(axis=1)
    return does, alike.any(axis=1) & ~alike.all(axis=1)


def pairs_the_lead(views: PlayerViews, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For the second cards of the play: whether each pairs the first, and whether its player had the choice."""
    answers = (views.laid[:, 0] >= 0) & (views.laid[:, 1] < 0)
    lead, hand = views.laid[answers, 0] % 13, views.hand[answers]
    held = ((hand >= 0) & (hand % 13 == lead[:, None])).sum(axis=1)
    return cards[answers] % 13 == lead, (held > 0) & (held < 4)


def optimal_share(payoffs: Sequence[float], column: int) -> Measure:
    """How often a row or column of a matrix is played in equilibrium: the program leads a pair or not, by rows, and
    the opponent pairs the lead or not."""
    return lambda effort: exact(equilibrium(*payoffs)[column])
