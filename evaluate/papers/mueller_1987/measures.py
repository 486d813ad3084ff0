"""Mueller (1987), "Halscrib".

Its results are games against people, which cannot be repeated here. What can be measured is its arithmetic, how often
its program mixes, and its strength against the other players.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from crib_env import PlayerViews, score_play
from crib_env.agents.halscrib.play import equilibrium
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.papers.claims import Effort, Measure, Measured, exact
from crib_env.evaluate.papers.measures import player
from crib_env.players.win_rate import paired_rate_interval


def gain_by_mixing(before: Sequence[int], after: Sequence[int]) -> Measure:
    """The difference of the shares of games won, lost by the program, with Newcombe's interval (1998, method 10)."""

    def measure(effort: Effort) -> Measured:
        (p, low_p, high_p), (q, low_q, high_q) = _share(*after), _share(*before)
        value = p - q
        low = value - math.hypot(p - low_p, high_q - q)
        high = value + math.hypot(high_p - p, q - low_q)
        remark = f"{p:.1%} ({low_p:.1%} to {high_p:.1%}) after, {q:.1%} ({low_q:.1%} to {high_q:.1%}) before"
        return Measured(value, (low, high), f"the paper's {sum(before)} and {sum(after)} games", remark)

    return measure


def _share(won: int, lost: int) -> tuple[float, float, float]:
    games = np.repeat([1.0, 0.0], [won, lost])
    return float(games.mean()), *paired_rate_interval(games)


def share_of(of: str) -> Measure:
    """The mean of one of the functions below over decisions and cards, in deals that two players play from 0–0."""

    def measure(effort: Effort) -> Measured:
        first, second = (player(f"halscrib:seed={effort.seed + k}", effort) for k in range(2))
        seen: list[np.ndarray] = []
        play_deals(
            first,
            second,
            effort.n,
            effort.seed,
            watch=lambda views, cards: seen.append(_OF[of](views, cards)),
            on_progress=effort.on_progress,
        )
        shares = np.concatenate(seen).astype(float)
        return Measured(float(shares.mean()), paired_rate_interval(shares), f"{len(shares):,} decisions")

    return measure


def _held(views: PlayerViews, ranks: np.ndarray) -> np.ndarray:
    """(B,) how many cards of each of ``ranks`` (B,) are held."""
    return ((views.hand >= 0) & (views.hand % 13 == ranks[:, None])).sum(axis=1)


def leads_from_pair(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """For the first cards of the play among B decisions: whether each is led from a pair, bool."""
    leads = ~views.is_discard & (views.laid[:, 0] < 0)
    return _held(views[leads], cards[leads] % 13) > 1


def leads_from_pair_by_choice(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """The same, for those leads only whose player holds both a pair and a card that is not of one."""
    leads = ~views.is_discard & (views.laid[:, 0] < 0)
    hands = views.hand[leads][:, :4] % 13
    alike = (hands[:, :, None] == hands[:, None, :]).sum(axis=2) > 1
    has_choice = alike.any(axis=1) & ~alike.all(axis=1)
    return leads_from_pair(views, cards)[has_choice]


def pairs_the_lead(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """For the second cards of the play among B decisions: whether each pairs the first, bool."""
    answers = (views.laid[:, 0] >= 0) & (views.laid[:, 1] < 0)
    return cards[answers] % 13 == views.laid[answers, 0] % 13


def pairs_the_lead_by_choice(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """The same, for those players only who hold such a card and another."""
    answers = (views.laid[:, 0] >= 0) & (views.laid[:, 1] < 0)
    mine = views[answers]
    held = _held(mine, mine.laid[:, 0] % 13)
    return pairs_the_lead(views, cards)[(held > 0) & (held < 4)]


_OF = {
    one.__name__: one for one in (leads_from_pair, leads_from_pair_by_choice, pairs_the_lead, pairs_the_lead_by_choice)
}


def optimal_share(payoffs: Sequence[float], column: int) -> Measure:
    """How often a row or column of a matrix is played in equilibrium: the program leads a pair or not, by rows, and
    the opponent pairs the lead or not."""
    return lambda effort: exact(equilibrium(*payoffs)[column])


def score_of_play(pile: str, less: int = 0) -> Measure:
    """The points of the last card of a pile, less those for something else."""
    return lambda effort: exact(score_play(pile) - less)


def four_of_a_kind(effort: Effort) -> Measured:
    """The highest rank of which four fit in a count of 31."""
    return exact(31 // 4)
