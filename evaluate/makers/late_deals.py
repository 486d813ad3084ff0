"""Deals that an agent plays against itself, and what the analysis of a discard learns from those near the end.

Near the end of a game players play for other things than points, so a deal has to be played at each pair of scores.
The same cards are dealt at all of them: an agent that searches values them together
(:mod:`crib_env.agents.choosing`).

The analysis takes what the opponent shows, the crib and the points of the play from deals for points at 0–0, and as
independent of each other. Deals that were played near the end say in which styles opponents discard at each pair of
scores. What then follows from the scores after the play, less the analysis, is what the play added; its mean over deals
with the same four ranks is noisy, so it is smoothed over hands that play alike.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.evaluate.skill.positions import play_after_discards
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, PLACES, TOTALS, fill_totals
from crib_env.hands import FOURS, N_FOURS, hand_of_mask
from crib_env.kernels import bit, kernel, mask_of
from crib_env.players.agent import Agent
from crib_env.players.games import play_out
from crib_env.scoring import card_value, show_points
from crib_env.tables.analysis import DiscardParts, discard_parts, fill_wins, fill_wins_in_style
from crib_env.tables.outlook import Outlook, discard_points
from crib_env.tables.shipped import GAINED, GIVEN, LATE, N_BINS, N_STYLES, PARTS_OF_LATE_PLAY, standard_pegging

MOST_PEGS = 32
"""Enough: each of eight cards scores at most three times, then there are heels and three hands."""
SIZE = WIN - LATE, WIN - LATE
"""Shape of what depends on own score and the opponent's."""
LATE_SCORES = np.stack(np.meshgrid(np.arange(LATE, WIN), np.arange(LATE, WIN), indexing="ij"), axis=-1).reshape(-1, 2)
"""(1296, 2) own score and the opponent's."""
_N_SCORES = len(LATE_SCORES)
_ROWS = 20_000  # games side by side
_LATE_DEALS, _PLAYS = 8, 2_000  # deals side by side
_TEMPERATURE = 1.5  # points: a discard that is this much worse is drawn 1/e times as often
_IN_PLAY = [SOURCES.index("play"), SOURCES.index("heels")]


def points_of(agent: Agent, seeds: np.ndarray) -> np.ndarray:
    """The points of deals (n,) from 0–0 in order, then zeros: (n, ``MOST_PEGS``, 2) int8, of dealer and of pone."""
    points, length = np.zeros((len(seeds), MOST_PEGS, 2), np.int8), np.zeros(len(seeds), np.int64)
    batch = GameBatch(seeds, episode="deal")
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
        _append_events(batch.games, rows, points, length)
    return points


@kernel
def _append_events(games, rows, points, length):
    for i in rows:
        g = games[i]
        for k in range(g["n_events"]):
            if g["event_points"][k]:
                side = 0 if g["event_player"][k] == g["dealer"] else 1
                points[i, length[i], side] = g["event_points"][k]
                length[i] += 1


@kernel
def score_after(points, dealer, pone):
    """The scores of dealer and pone after a deal, whose points (32, 2) are in order; whoever reaches 121 is first."""
    for k in range(len(points)):
        dealer += points[k, 0]
        pone += points[k, 1]
        if dealer >= WIN or pone >= WIN or points[k, 0] + points[k, 1] == 0:
            break
    return dealer, pone


def deals_at(agent: Agent, seeds: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Deals (n,) played at C pairs of scores (C, 2): the scores of dealer and pone after each, (n, C, 2) int8.

    Whoever has 121 has won, and the rest of the deal is not played.
    """
    after = np.empty((len(seeds), len(scores), 2), np.int8)
    side_by_side = max(1, _ROWS // len(scores))
    for start in range(0, len(seeds), side_by_side):
        some = seeds[start : start + side_by_side]
        batch = GameBatch(np.repeat(some, len(scores)), episode="deal", first_dealer=0)
        batch.games["scores"] = batch.games["start_scores"] = np.tile(scores, (len(some), 1))
        play_out(batch, [agent])
        after[start : start + side_by_side] = batch.games["scores"].reshape(len(some), len(scores), 2)
    return after


def roles_of(seeds: np.ndarray) -> np.ndarray:
    """(n,) the role of the player who discards at random in each deal."""
    return np.where(seeds % np.uint64(2) == 0, DEALER, PONE)


def _explore(
    agent: Agent, seeds: np.ndarray, scores: np.ndarray
) -> tuple[GameBatch, np.ndarray, np.ndarray, np.ndarray]:
    """Plays deals (n,) at C scores (C, 2) of the player who discards at random and of its opponent. That player, by
    turns the dealer and pone, draws mostly what is nearly best; all else is the agent's.

    Returns:
        n * C games, all that belong to a deal together; (n * C, 2) the seats of the player who discarded at random and
        of the other; (n, 6) its cards, sorted; and (n,) which of ``PLACES`` it drew.
    """
    n, width = len(seeds), len(scores)
    batch = GameBatch(np.repeat(seeds, width), episode="deal", first_dealer=0)
    explorer = np.where(roles_of(seeds) == DEALER, 0, 1)
    seats, all_rows = np.repeat(explorer, width), np.arange(n * width)
    start = np.empty((n * width, 2), np.int64)
    start[all_rows, seats], start[all_rows, 1 - seats] = np.tile(scores, (n, 1)).T
    batch.games["scores"] = batch.games["start_scores"] = start

    dealt = batch.games["cards"][::width].astype(np.int64)
    sixes = np.sort(np.take_along_axis(dealt, 6 * explorer[:, None] + np.arange(6), axis=1), axis=1)
    points = discard_points(sixes, explorer == 0)
    chances = np.exp((points - points.max(axis=1, keepdims=True)) / _TEMPERATURE)
    limits = chances.cumsum(axis=1) / chances.sum(axis=1, keepdims=True)
    drawn = np.array([np.random.default_rng(seed).random() for seed in seeds])
    places = (drawn[:, None] >= limits).sum(axis=1)
    pairs = sixes[np.arange(n)[:, None], PLACES[places]]
    play_after_discards(agent, batch, seats, np.repeat(pairs, width, axis=0))
    return batch, np.stack([seats, 1 - seats], axis=1), sixes, places


class LateDeals(NamedTuple):
    """n deals, from the side of the player who discarded at random: its own first, then the opponent's."""

    roles: np.ndarray  # (n,) int64
    sixes: np.ndarray  # (n, 6) int64 its cards, sorted
    places: np.ndarray  # (n,) int64 which of the fifteen discards it drew
    pegged: np.ndarray  # (n, 1296, 2) int8 points of the play and of his heels, at ``LATE_SCORES``
    after: np.ndarray  # (n, 1296, 2) int8 scores after the deal
    shown: np.ndarray  # (n, 1296, 2) int8 what the opponent's hand and the crib count, even where the game ends before


@kernel
def _count_shown(games, seats, out):
    for n in range(len(games)):
        g, opponent = games[n], 1 - seats[n]
        cut = np.int64(g["cards"][12])
        out[n, 0] = show_points(g["kept"][opponent], cut, False)
        out[n, 1] = show_points(g["discards"][0] | g["discards"][1], cut, True)


def explore_late(agent: Agent, seeds: np.ndarray) -> LateDeals:
    """Plays deals (n,) at all late scores."""
    parts = []
    for start in range(0, len(seeds), _LATE_DEALS):
        some = seeds[start : start + _LATE_DEALS]
        batch, sides, sixes, places = _explore(agent, some, LATE_SCORES)
        at, shown = np.arange(len(sides))[:, None], np.zeros(sides.shape, np.int8)
        _count_shown(batch.games, sides[:, 0], shown)
        found = batch.tally[..., _IN_PLAY].sum(axis=(2, 3))[at, sides], batch.games["scores"][at, sides], shown
        parts.append((sixes, places, *(part.astype(np.int8).reshape(len(some), -1, 2) for part in found)))
    return LateDeals(roles_of(seeds), *map(np.concatenate, zip(*parts)))


class Plays(NamedTuple):
    """n plays, from the side of the player who discarded at random."""

    roles: np.ndarray  # (n,) int64
    hands: np.ndarray  # (n,) int64 number of the four kept
    points: np.ndarray  # (n, 2) int64 gained and given


def explore_plays(agent: Agent, seeds: np.ndarray) -> Plays:
    """Plays deals (n,) from 0–0."""
    hands, points = [], []
    for start in range(0, len(seeds), _PLAYS):
        batch, sides, *_ = _explore(agent, seeds[start : start + _PLAYS], np.zeros((1, 2), np.int64))
        at = np.arange(len(sides))
        hands += [hand_of_mask(kept) for kept in batch.games["kept"][at, sides[:, 0]]]
        points.append(batch.tally[..., SOURCES.index("play")].sum(axis=2)[at[:, None], sides].astype(np.int64))
    return Plays(roles_of(seeds), np.array(hands, np.int64), np.concatenate(points))


_NOT_PLAYED = np.zeros((2, N_BINS))
_NOT_PLAYED[:, 0] = 1.0
_SHARES = 4  # of the deals; sums depend on it in their last digits


@kernel
def _parts_of(cards, place, is_dealer, outlook):
    totals, six = np.zeros((1, N_DISCARDS), TOTALS), np.empty((1, 6), np.int64)
    six[0] = cards
    fill_totals(six, totals)
    return discard_parts(cards, PLACES[place, 0], PLACES[place, 1], is_dealer, totals[0, place], outlook)


@kernel
def fill_crib_means(sixes, places, is_dealer, outlook, out):
    """Fills ``out`` (n,) with the crib's mean after n discards by players of one role, by the analysis at 0–0."""
    for n in range(len(sixes)):
        out[n] = _parts_of(sixes[n], places[n], is_dealer, outlook).crib_mean


def fit_styles(deals: LateDeals, outlook: Outlook) -> dict[str, Any]:
    """``style_hands``, ``style_cribs`` and ``styles`` of :class:`crib_env.tables.shipped.WinTable`: the principal
    components of what opponents showed and what the crib brought, each as it differs from 0–0."""
    hands, cribs = np.zeros((len(ROLES), N_STYLES, N_POINTS)), np.zeros((len(ROLES), N_STYLES))
    styles = np.zeros((len(ROLES), _N_SCORES, N_STYLES))
    for role in range(len(ROLES)):
        rows = np.flatnonzero(deals.roles == role)
        differs, usual = np.zeros((_N_SCORES, N_POINTS + 1)), np.empty(len(rows))
        fill_crib_means(deals.sixes[rows], deals.places[rows], role != PONE, outlook, usual)
        for row in rows:
            shown = deals.shown[row]
            differs[np.arange(len(shown)), shown[:, 0]] += 1
            differs[:, N_POINTS] += shown[:, 1]
        differs /= max(len(rows), 1)
        differs[:, :N_POINTS] -= outlook.hands[role, 0]
        differs[:, N_POINTS] -= usual.mean() if len(rows) else 0.0
        u, sizes, parts = np.linalg.svd(differs * (len(rows) > 0), full_matrices=False)
        size = sizes[: N_STYLES - 1] / np.sqrt(_N_SCORES)  # of a usual difference
        found = size[:, None] * parts[: N_STYLES - 1]
        hands[role, 1:], cribs[role, 1:] = found[:, :N_POINTS], found[:, N_POINTS]
        styles[role, :, 1:] = u[:, : N_STYLES - 1] * np.sqrt(_N_SCORES)
        styles[role, :, 0] = 1 - styles[role, :, 1:].sum(axis=1)
    late = styles.reshape(len(ROLES), *SIZE, N_STYLES)
    fields = {"style_hands": hands, "style_cribs": cribs, "styles": late}
    return {name: array.astype(np.float32) for name, array in fields.items()}


@kernel
def _analyse(cards, place, is_dealer, outlook, before, after):
    """Fills the chance to win by the analysis, without what it adds for the play: ``before`` (1296,) the play of a
    discard at ``LATE_SCORES``, and ``after`` (5, 1296) it, by the opponent's style. Returns the hand kept."""
    parts = _parts_of(cards, place, is_dealer, outlook)
    kept = hand_of_mask(mask_of(cards) ^ bit(cards[PLACES[place, 0]]) ^ bit(cards[PLACES[place, 1]]))
    fill_wins(is_dealer, parts, outlook.pegging[np.int64(is_dealer), kept], LATE_SCORES, outlook, before)
    shown = DiscardParts(0.0, parts.hand, parts.crib, parts.crib_mean)
    for style in range(N_STYLES):
        fill_wins_in_style(is_dealer, shown, _NOT_PLAYED, style, LATE_SCORES, outlook, after[style])
    return kept


class Sums(NamedTuple):
    """Over some deals of one role, at ``LATE_SCORES``."""

    n: np.ndarray  # (1820,) deals by the hand kept
    added: np.ndarray  # (1820, 1296) chance to win after the play, by the analysis of what follows, less that before it
    later: np.ndarray  # (1296,) the same after the deal, less that after the play


def sums_of(deals: LateDeals, rows: np.ndarray, outlook: Outlook) -> Sums:
    """Adds up the deals ``rows``, which are of one role, by the analysis ``outlook``."""
    sums = Sums(np.zeros(N_FOURS, np.int64), np.zeros((N_FOURS, _N_SCORES)), np.zeros(_N_SCORES))
    before, after = np.empty(_N_SCORES), np.empty((N_STYLES, _N_SCORES))
    for row in rows:
        is_dealer = deals.roles[row] != PONE
        kept = _analyse(deals.sixes[row], deals.places[row], is_dealer, outlook, before, after)
        styles = outlook.styles[int(is_dealer)].reshape(_N_SCORES, N_STYLES).T
        played = _value(after, styles, LATE_SCORES + deals.pegged[row])
        to_come = outlook.win_table[LATE:, LATE:]  # the deal passes
        next_deal = 1 - to_come.T if is_dealer else to_come
        ended = _value(next_deal.reshape(1, _N_SCORES), np.ones((1, 1)), deals.after[row].astype(np.int64))
        sums.n[kept] += 1
        sums.added[kept] += played - before
        sums.later[:] += ended - played
    return sums


def _value(chances: np.ndarray, weights: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """(1296,) the chance to win at these scores (1296, 2), of which at most one is 121, as the mean of ``chances``
    (S, 1296) by ``weights`` (S, 1296)."""
    inside = np.minimum(scores, WIN - 1) - LATE
    value: np.ndarray = (chances[:, inside[:, 0] * SIZE[1] + inside[:, 1]] * weights).sum(axis=0)
    value[scores[:, 0] >= WIN], value[scores[:, 1] >= WIN] = 1.0, 0.0
    return value


def fit_late_play(deals: LateDeals, outlook: Outlook, threads: int) -> dict[str, Any]:
    """``late_hands`` and ``late_scores`` of :class:`crib_env.tables.shipped.WinTable`, smoothed, by an analysis with
    the styles of these deals. The first part is the mean over all deals; the others are the principal components of
    what hands differ in."""
    hands, scores = [], []
    for role in range(len(ROLES)):
        shares = np.array_split(np.flatnonzero(deals.roles == role), _SHARES)
        with ThreadPoolExecutor(threads) as pool:
            each = list(pool.map(lambda share: sums_of(deals, share, outlook), shares))
        of_hands, of_scores = smoothed_parts(Sums(*(np.sum(part, axis=0) for part in zip(*each))), role)
        hands.append(of_hands)
        scores.append(of_scores.reshape(*SIZE, -1))
    return {"late_hands": np.array(hands, np.float32), "late_scores": np.array(scores, np.float32)}


def smoothed_parts(sums: Sums, role: int) -> tuple[np.ndarray, np.ndarray]:
    """What the play adds, (1820, 12) and (1296, 12): its product over the last axis is by hand and scores."""
    hands, scores = np.zeros((N_FOURS, PARTS_OF_LATE_PLAY)), np.zeros((_N_SCORES, PARTS_OF_LATE_PLAY))
    total = max(sums.n.sum(), 1)
    mean = sums.added.sum(axis=0) / total
    means = np.where(sums.n[:, None] > 0, sums.added / np.maximum(sums.n, 1)[:, None] - mean, 0.0)
    seen = sums.n > 0  # the other rows are 0, and only cost time
    weighted = (means * np.sqrt(sums.n)[:, None])[seen]
    parts = np.linalg.svd(weighted, full_matrices=False)[2][: PARTS_OF_LATE_PLAY - 1]
    hands[:, 0], scores[:, 0] = 1.0, mean + sums.later / total
    used = slice(1, 1 + len(parts))  # of few deals there are fewer
    hands[:, used] = smoothed(means @ parts.T, sums.n, role)
    scores[:, used] = parts.T
    return hands, scores


def fit_plays(plays: Plays) -> dict[str, Any]:
    """``plays`` and ``play_errors`` of :class:`crib_env.tables.shipped.WinTable`: mean points by role and ranks kept.

    For the errors, means from half of the plays predict the points of the other half. What is left, beyond how much
    the points of the same ranks vary, is the error of these means; that of all plays together is lower.
    """
    means, errors = np.zeros_like(standard_pegging().mean), np.zeros((len(ROLES), 2))
    for role in range(len(ROLES)):
        rows = np.flatnonzero(plays.roles == role)
        means[role] = _smoothed(plays, rows, role)
        halves = rows[::2], rows[1::2]
        squares = [_error(plays, other, _smoothed(plays, half, role)) for half, other in (halves, halves[::-1])]
        errors[role] = np.sqrt(np.maximum(np.mean(squares, axis=0), 0.0))
    return {"plays": means.astype(np.float32), "play_errors": errors.astype(np.float32)}


def _means(hands: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(1820,) how often each hand is among ``hands`` (n,), and (1820, 2) the mean of its ``points`` (n, 2)."""
    n = np.bincount(hands, minlength=N_FOURS)
    sums = np.stack([np.bincount(hands, side, N_FOURS) for side in points.T], axis=1)
    return n, sums / np.maximum(n, 1)[:, None]


def _error(plays: Plays, rows: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(2,) mean square of the error of means (1820, 2), by other plays."""
    hands, points = plays.hands[rows], plays.points[rows].astype(float)
    n, own = _means(hands, points)
    within = ((points - own[hands]) ** 2).sum(axis=0) / max(len(rows) - (n > 0).sum(), 1)
    found: np.ndarray = ((points - means[hands]) ** 2).mean(axis=0) - within
    return found


def _smoothed(plays: Plays, rows: np.ndarray, role: int) -> np.ndarray:
    """(1820, 2) mean points, of the plays ``rows``."""
    known = standard_pegging().mean[role]
    more = plays.points[rows] - known[plays.hands[rows]]
    mean = more.mean(axis=0)
    n, differs = _means(plays.hands[rows], more - mean)
    return np.maximum(known + mean + smoothed(differs, n, role), 0.0)


_VALUES = np.array([card_value(rank) for rank in range(13)])


def _likeness(role: int) -> np.ndarray:
    """(1820, F) what matters of four ranks in the play, each feature with mean 0 and standard deviation 1."""
    ranks = FOURS.astype(np.int64)
    values, counts = _VALUES[ranks], (ranks[:, :, None] == np.arange(13)).sum(axis=1)
    a, b = np.triu_indices(4, 1)
    apart, sums = np.abs(ranks[:, a] - ranks[:, b]), values[:, a] + values[:, b]
    play = standard_pegging().distribution[role]
    means = play @ np.arange(N_BINS)
    low = (values <= 4).sum(axis=1)
    features = [
        *counts.T,
        *((values == 10).sum(axis=1), low, low > 0, low > 1),
        *(values.sum(axis=1), values.min(axis=1), values.max(axis=1)),
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


def smoothed(means: np.ndarray, n: np.ndarray, role: int) -> np.ndarray:
    """Gaussian process regression of columns (1820, C), means of each hand over its ``n`` (1820,) deals, each with the
    length and the ratio of the highest likelihood."""
    features = _likeness(role)
    squares = (features**2).sum(axis=1)
    seen = np.flatnonzero(n)
    distances = np.maximum(squares[:, None] + squares[seen] - 2 * features @ features[seen].T, 0)
    y, best = means[seen], np.full(means.shape[1], -np.inf)
    out = np.zeros_like(means)
    for length in _LENGTHS:
        alike = np.exp(-distances / (2 * length**2))
        for ratio in _RATIOS:
            covariance = ratio**2 * alike[seen] + np.diag(1 / n[seen])
            solved = np.linalg.solve(covariance, y)
            variance = (y * solved).mean(axis=0)
            likelihood = -0.5 * (len(seen) * np.log(variance + 1e-12) + np.linalg.slogdet(covariance)[1])
            better = likelihood > best
            best[better] = likelihood[better]
            out[:, better] = ratio**2 * alike @ solved[:, better]
    return out
