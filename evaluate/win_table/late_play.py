"""What the play near the end adds to a hand: deals with discards drawn at random, played at every pair of late scores.

The analysis of a discard takes the points of the play from deals for points at 0–0, and as independent of each other.
Near the end players play for what they need, and what is pegged first counts. So one player of each deal discards at
random, mostly what is nearly best; what follows from the scores after the play, less the analysis, is what the play
added. The mean over deals with the same four ranks is noisy, so it is smoothed over hands that play alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import SOURCES
from crib_env.engine import PONE, ROLES, WIN
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.exact.rank_classes import N_RANK_CLASSES, rank_class
from crib_env.kernels import bit, kernel, mask_of
from crib_env.tables.analysis import Outlook, chances_of_discard, fill_own_wins
from crib_env.tables.deal_chances import DealChances
from crib_env.tables.pegging import N_BINS
from crib_env.tables.win_table import LATE, PARTS_OF_LATE_PLAY
from evaluate.win_table.alike import smoothed
from evaluate.win_table.deals import Player
from evaluate.win_table.explore import Explored, explore, roles_of

SIZE = WIN - LATE, WIN - LATE
"""Shape of what depends on own score and the opponent's."""
_SCORES = np.stack(np.meshgrid(np.arange(LATE, WIN), np.arange(LATE, WIN), indexing="ij"), axis=-1).reshape(-1, 2)
"""(1296, 2) own score and the opponent's."""
_SIDE_BY_SIDE = 8  # deals
_IN_PLAY = [SOURCES.index("play"), SOURCES.index("heels")]


class LateDeals(NamedTuple):
    """What n deals said about the play, from the side of the player who discarded at random."""

    roles: np.ndarray
    """(n,) int64."""
    classes: np.ndarray
    """(n,) int64 rank class of the four kept."""
    added: np.ndarray
    """(n, 36, 36) float16 by own score and the opponent's: the chance to win after the play, by the analysis of what
    follows, less that before it."""
    later: np.ndarray
    """(n, 36, 36) float16 the same after the deal, less that after the play."""


class LatePlay(NamedTuple):
    """See :class:`crib_env.tables.win_table.WinTable`."""

    hands: np.ndarray
    scores: np.ndarray


@kernel
def _analyse(cards, place, is_dealer, outlook, before, after):
    """Fills the chance to win before and after the play of this discard at all of ``_SCORES``; returns the rank class
    kept."""
    totals, six = np.zeros((1, N_DISCARDS), TOTALS), np.empty((1, 6), np.int64)
    six[0] = cards
    fill_totals(six, totals)
    i, j = PLACES[place, 0], PLACES[place, 1]
    deal = chances_of_discard(cards, i, j, is_dealer, totals[0, place], outlook)
    fill_own_wins(is_dealer, _SCORES, deal, outlook.win_table, before)
    nothing = np.zeros(N_BINS)
    nothing[0] = 1.0
    shown = DealChances(0.0, nothing, nothing, deal.dealers_hand, deal.pones_hand, deal.crib)
    fill_own_wins(is_dealer, _SCORES, shown, outlook.win_table, after)
    return rank_class(mask_of(cards) ^ bit(cards[i]) ^ bit(cards[j]))


def explore_late(agent: Player, seeds: np.ndarray, outlook: Outlook) -> LateDeals:
    """Plays deals at all late scores.

    Args:
        agent: both players.
        seeds: (n,) of the deals.
        outlook: of the analysis. What it adds for the play is left aside.
    """
    n = len(seeds)
    late = (np.zeros((n, *SIZE), np.float16) for _ in range(2))
    found = LateDeals(roles_of(seeds), np.zeros(n, np.int64), *late)
    for start in range(0, n, _SIDE_BY_SIDE):
        rows = slice(start, start + _SIDE_BY_SIDE)
        _value_deals(explore(agent, seeds[rows], _SCORES), outlook, LateDeals(*(part[rows] for part in found)))
    return found


def _value_deals(explored: Explored, outlook: Outlook, out: LateDeals) -> None:
    width, games = len(_SCORES), explored.batch.games
    pegged = explored.batch.tally[..., _IN_PLAY].sum(axis=(2, 3))
    before, after = np.empty(width), np.empty(width)
    for k, mine in enumerate(explored.seats.tolist()):
        its, sides = slice(k * width, (k + 1) * width), [mine, 1 - mine]
        out.classes[k] = _analyse(explored.sixes[k], explored.places[k], mine == 0, outlook, before, after)
        played = _value(after.reshape(SIZE), _SCORES + pegged[its][:, sides])
        to_come = outlook.win_table[LATE:, LATE:]  # the deal passes
        next_deal = to_come if out.roles[k] == PONE else 1 - to_come.T
        ended = _value(next_deal, games["scores"][its][:, sides].astype(np.int64))
        out.added[k] = (played - before).reshape(SIZE)
        out.later[k] = (ended - played).reshape(SIZE)


def _value(chances: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """(1296,) the chance to win at these scores (1296, 2), of which at most one is 121."""
    inside = np.minimum(scores, WIN - 1) - LATE
    value = chances[inside[:, 0], inside[:, 1]]
    value[scores[:, 0] >= WIN], value[scores[:, 1] >= WIN] = 1.0, 0.0
    return value


def fit_late_play(explored: LateDeals) -> LatePlay:
    """What deals said, smoothed.

    The first part is the mean over all deals; the others are the principal components of what hands differ in.
    """
    hands = np.zeros((len(ROLES), N_RANK_CLASSES, PARTS_OF_LATE_PLAY))
    scores = np.zeros((len(ROLES), len(_SCORES), PARTS_OF_LATE_PLAY))
    for role in range(len(ROLES)):
        rows = np.flatnonzero(explored.roles == role)
        n = np.bincount(explored.classes[rows], minlength=N_RANK_CLASSES)
        sums, later = np.zeros((N_RANK_CLASSES, len(_SCORES))), np.zeros(len(_SCORES))
        for row in rows:
            sums[explored.classes[row]] += explored.added[row].reshape(-1)
            later += explored.later[row].reshape(-1)
        mean = sums.sum(axis=0) / max(len(rows), 1)
        means = np.where(n[:, None] > 0, sums / np.maximum(n, 1)[:, None] - mean, 0.0)
        seen = n > 0  # the other rows are 0, and only cost time
        parts = np.linalg.svd((means * np.sqrt(n)[:, None])[seen], full_matrices=False)[2][: PARTS_OF_LATE_PLAY - 1]
        hands[role, :, 0], scores[role, :, 0] = 1.0, mean + later / max(len(rows), 1)
        used = slice(1, 1 + len(parts))  # of few deals there are fewer
        hands[role, :, used] = smoothed(means @ parts.T, n, role)
        scores[role, :, used] = parts.T
    late = scores.reshape(len(ROLES), *SIZE, -1)
    return LatePlay(hands.astype(np.float32), late.astype(np.float32))
