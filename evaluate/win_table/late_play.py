"""What the play near the end adds to a hand: deals with discards drawn at random, played at every pair of late scores.

The analysis of a discard takes the points of the play from deals for points at 0–0, and as independent of each other.
Near the end players play for what they need, and what is pegged first counts. So one player of each deal discards at
random, mostly what is nearly best; what follows from the scores after the play, less the analysis, is what the play
added. The mean over deals with the same four ranks is noisy, so it is smoothed over hands that play alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.exact.rank_classes import CLASS_RANKS, N_RANK_CLASSES, rank_class
from crib_env.kernels import bit, kernel, mask_of
from crib_env.scoring import card_value
from crib_env.tables.analysis import Outlook, chances_of_discard, fill_own_wins
from crib_env.tables.deal_chances import DealChances
from crib_env.tables.pegging import GAINED, GIVEN, N_BINS
from crib_env.tables.standard import standard_pegging
from crib_env.tables.win_table import LATE, PARTS_OF_LATE_PLAY
from evaluate.analysis.judges import discard_points
from evaluate.win_table.deals import Player

SIZE = WIN - LATE, WIN - LATE
"""Shape of what depends on own score and the opponent's."""
_SCORES = np.stack(np.meshgrid(np.arange(LATE, WIN), np.arange(LATE, WIN), indexing="ij"), axis=-1).reshape(-1, 2)
"""(1296, 2) own score and the opponent's."""
_TEMPERATURE = 1.5  # points: a discard that is this much worse is drawn 1/e times as often
_SIDE_BY_SIDE = 8  # deals
_IN_PLAY = [SOURCES.index("play"), SOURCES.index("heels")]


class Explored(NamedTuple):
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


def explore(agent: Player, seeds: np.ndarray, outlook: Outlook) -> Explored:
    """Plays deals at all late scores. By turns the dealer and pone discard at random; all else the agent plays.

    Args:
        agent: both players.
        seeds: (n,) of the deals, by which the discards are drawn as well.
        outlook: of the analysis. What it adds for the play is left aside.
    """
    n = len(seeds)
    found = Explored(
        np.where(seeds % np.uint64(2) == 0, DEALER, PONE),
        np.zeros(n, np.int64),
        *(np.zeros((n, *SIZE), np.float16) for _ in range(2)),
    )
    for start in range(0, n, _SIDE_BY_SIDE):
        rows = slice(start, start + _SIDE_BY_SIDE)
        _explore(agent, seeds[rows], outlook, Explored(*(part[rows] for part in found)))
    return found


def _explore(agent: Player, seeds: np.ndarray, outlook: Outlook, out: Explored) -> None:
    n, width = len(seeds), len(_SCORES)
    batch = GameBatch(np.repeat(seeds, width), episode="deal", first_dealer=0)
    explorer = np.where(out.roles == DEALER, 0, 1)
    seats = np.repeat(explorer, width)
    scores, all_rows = np.tile(_SCORES, (n, 1)), np.arange(n * width)
    start = np.empty_like(scores)
    start[all_rows, seats], start[all_rows, 1 - seats] = scores.T
    batch.games["scores"] = batch.games["start_scores"] = start

    dealt = batch.games["cards"][::width].astype(np.int64)
    sixes = np.sort(np.take_along_axis(dealt, 6 * explorer[:, None] + np.arange(6), axis=1), axis=1)
    places = _drawn(discard_points(sixes, explorer == 0), seeds)
    pairs = sixes[np.arange(n)[:, None], PLACES[places]]
    while len(rows := batch.acting()):
        views = batch.views(rows)
        mine = np.flatnonzero(views.is_discard & (batch.games["turn"][rows] == seats[rows]))
        others = np.setdiff1d(np.arange(len(rows)), mine, assume_unique=True)
        cards = np.empty(len(rows), np.int64)
        cards[mine] = pairs[rows[mine] // width, (views.discards[mine, 0] >= 0).astype(int)]
        if len(others):
            cards[others] = agent.act(views[others])
        batch.step(rows, cards)

    pegged = batch.tally[..., _IN_PLAY].sum(axis=(2, 3))
    before, after = np.empty(width), np.empty(width)
    for k in range(n):
        mine, other, its = explorer[k], 1 - explorer[k], slice(k * width, (k + 1) * width)
        out.classes[k] = _analyse(sixes[k], places[k], mine == 0, outlook, before, after)
        played = _value(after.reshape(SIZE), _SCORES + pegged[its][:, [mine, other]])
        to_come = outlook.win_table[LATE:, LATE:]  # the deal passes
        next_deal = to_come if out.roles[k] == PONE else 1 - to_come.T
        ended = _value(next_deal, batch.games["scores"][its][:, [mine, other]].astype(np.int64))
        out.added[k] = (played - before).reshape(SIZE)
        out.later[k] = (ended - played).reshape(SIZE)


def _drawn(points: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """(n,) a discard for each row of ``points`` (n, 15), drawn by its seed."""
    chances = np.exp((points - points.max(axis=1, keepdims=True)) / _TEMPERATURE)
    limits = chances.cumsum(axis=1) / chances.sum(axis=1, keepdims=True)
    drawn = np.array([np.random.default_rng(seed).random() for seed in seeds])
    places: np.ndarray = (drawn[:, None] >= limits).sum(axis=1)
    return places


def _value(chances: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """(1296,) the chance to win at these scores (1296, 2), of which at most one is 121."""
    inside = np.minimum(scores, WIN - 1) - LATE
    value = chances[inside[:, 0], inside[:, 1]]
    value[scores[:, 0] >= WIN], value[scores[:, 1] >= WIN] = 1.0, 0.0
    return value


_VALUES = np.array([card_value(rank) for rank in range(13)])


def _likeness(role: int) -> np.ndarray:
    """(1820, F) what matters of four ranks in the play, each feature with mean 0 and standard deviation 1."""
    ranks = CLASS_RANKS.astype(np.int64)
    values, counts = _VALUES[ranks], (ranks[:, :, None] == np.arange(13)).sum(axis=1)
    a, b = np.triu_indices(4, 1)
    apart, sums = np.abs(ranks[:, a] - ranks[:, b]), values[:, a] + values[:, b]
    play = standard_pegging().distribution[role]
    means = play @ np.arange(N_BINS)
    low = (values <= 4).sum(axis=1)
    features = [
        *counts.T,
        *(
            (values == 10).sum(axis=1),
            low,
            low > 0,
            low > 1,
            values.sum(axis=1),
            values.min(axis=1),
            values.max(axis=1),
        ),
        *((apart == 0).sum(axis=1), ((apart == 1) | (apart == 2)).sum(axis=1)),
        *((sums == 15).sum(axis=1), (sums == 5).sum(axis=1)),
        *(means[:, GAINED], means[:, GIVEN], play[:, GAINED, 0], play[:, GIVEN, 0]),
    ]
    table = np.stack(features, axis=1).astype(float)
    table = table[:, table.std(axis=0) > 0]  # the dealer always makes a point, and pone always concedes one
    standard: np.ndarray = (table - table.mean(axis=0)) / table.std(axis=0)
    return standard


_LENGTHS = (3.0, 5.0, 8.0, 12.0)
_RATIOS = (0.03, 0.06, 0.12, 0.25, 0.5)  # standard deviation between hands over that between deals of a hand


def _smoothed(means: np.ndarray, n: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Gaussian process regression of columns (1820, C), each with the length and the ratio of the highest likelihood.

    Args:
        means: (1820, C) the mean of each hand over its deals.
        n: (1820,) deals of each hand.
        distances: (1820, 1820) squared, between hands.
    """
    seen = np.flatnonzero(n)
    y, best = means[seen], np.full(means.shape[1], -np.inf)
    out = np.zeros_like(means)
    for length in _LENGTHS:
        alike = np.exp(-distances / (2 * length**2))
        for ratio in _RATIOS:
            covariance = ratio**2 * alike[np.ix_(seen, seen)] + np.diag(1 / n[seen])
            solved = np.linalg.solve(covariance, y)
            variance = (y * solved).mean(axis=0)
            likelihood = -0.5 * (len(seen) * np.log(variance + 1e-12) + np.linalg.slogdet(covariance)[1])
            better = likelihood > best
            best[better] = likelihood[better]
            out[:, better] = ratio**2 * alike[:, seen] @ solved[:, better]
    return out


def fit_late_play(explored: Explored) -> LatePlay:
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
        features = _likeness(role)
        squares = (features**2).sum(axis=1)
        distances = np.maximum(squares[:, None] + squares - 2 * features @ features.T, 0)
        seen = n > 0  # the other rows are 0, and only cost time
        parts = np.linalg.svd((means * np.sqrt(n)[:, None])[seen], full_matrices=False)[2][: PARTS_OF_LATE_PLAY - 1]
        hands[role, :, 0], scores[role, :, 0] = 1.0, mean + later / max(len(rows), 1)
        hands[role, :, 1:] = _smoothed(means @ parts.T, n, distances)
        scores[role, :, 1:] = parts.T
    late = scores.reshape(len(ROLES), *SIZE, -1)
    return LatePlay(hands.astype(np.float32), late.astype(np.float32))
