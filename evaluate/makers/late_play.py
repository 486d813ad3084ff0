"""What the analysis of a discard has to know about deals near the end of a game.

It takes what the opponent shows, the crib and the points of the play from deals for points at 0–0, and as independent
of each other. Near the end players play for what they need, and what is pegged first counts. So deals that were played
there say in which styles opponents discard at each pair of scores. What then follows from the scores after the play,
less the analysis, is what the play added; its mean over deals with the same four ranks is noisy, so it is smoothed over
hands that play alike.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from crib_env.engine import PONE, ROLES, WIN
from crib_env.evaluate.makers.played_deals import LATE_SCORES, SIZE, LateDeals, Plays
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, PLACES, TOTALS, fill_totals
from crib_env.hands import FOURS, N_FOURS, hand_of_mask
from crib_env.kernels import bit, kernel, mask_of
from crib_env.scoring import card_value
from crib_env.tables.analysis import DiscardParts, discard_parts, fill_wins, fill_wins_in_style
from crib_env.tables.outlook import Outlook
from crib_env.tables.shipped import GAINED, GIVEN, LATE, N_BINS, N_STYLES, PARTS_OF_LATE_PLAY, standard_pegging

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
    """``style_hands``, ``style_cribs`` and ``styles`` of :class:`crib_env.tables.shipped.WinTable`.

    The styles in which opponents discarded are the principal components of what they showed and what the crib brought,
    each as it differs from 0–0.

    Args:
        deals: at all late scores.
        outlook: whose first style is that of 0–0.
    """
    hands, cribs = np.zeros((len(ROLES), N_STYLES, N_POINTS)), np.zeros((len(ROLES), N_STYLES))
    styles = np.zeros((len(ROLES), len(LATE_SCORES), N_STYLES))
    for role in range(len(ROLES)):
        rows = np.flatnonzero(deals.roles == role)
        differs = np.zeros((len(LATE_SCORES), N_POINTS + 1))
        usual = np.empty(len(rows))
        fill_crib_means(deals.sixes[rows], deals.places[rows], role != PONE, outlook, usual)
        for row in rows:
            shown = deals.shown[row]
            differs[np.arange(len(shown)), shown[:, 0]] += 1
            differs[:, N_POINTS] += shown[:, 1]
        differs /= max(len(rows), 1)
        differs[:, :N_POINTS] -= outlook.hands[role, 0]
        differs[:, N_POINTS] -= usual.mean() if len(rows) else 0.0
        u, sizes, parts = np.linalg.svd(differs * (len(rows) > 0), full_matrices=False)
        size = sizes[: N_STYLES - 1] / np.sqrt(len(LATE_SCORES))  # of a usual difference
        found = size[:, None] * parts[: N_STYLES - 1]
        hands[role, 1:], cribs[role, 1:] = found[:, :N_POINTS], found[:, N_POINTS]
        styles[role, :, 1:] = u[:, : N_STYLES - 1] * np.sqrt(len(LATE_SCORES))
        styles[role, :, 0] = 1 - styles[role, :, 1:].sum(axis=1)
    late = styles.reshape(len(ROLES), *SIZE, N_STYLES)
    fields = {"style_hands": hands, "style_cribs": cribs, "styles": late}
    return {name: array.astype(np.float32) for name, array in fields.items()}


@kernel
def _analyse(cards, place, is_dealer, outlook, before, after):
    """The chance to win by the analysis, before and after the play of a discard.

    Args:
        cards, place, is_dealer: the discard.
        outlook: of the analysis. What it adds for the play is left aside.
        before: (1296,) is filled, at ``LATE_SCORES``.
        after: (5, 1296) is filled, by the opponent's style, for scores after the play.

    Returns:
        The number of the hand kept.
    """
    parts = _parts_of(cards, place, is_dealer, outlook)
    kept = hand_of_mask(mask_of(cards) ^ bit(cards[PLACES[place, 0]]) ^ bit(cards[PLACES[place, 1]]))
    fill_wins(is_dealer, parts, outlook.pegging[np.int64(is_dealer), kept], LATE_SCORES, outlook, before)
    shown = DiscardParts(0.0, parts.hand, parts.crib, parts.crib_mean)
    for style in range(N_STYLES):
        fill_wins_in_style(is_dealer, shown, _NOT_PLAYED, style, LATE_SCORES, outlook, after[style])
    return kept


class Sums(NamedTuple):
    """Over some deals of one role, at ``LATE_SCORES``."""

    n: np.ndarray
    """(1820,) deals by the hand kept."""
    added: np.ndarray
    """(1820, 1296) chance to win after the play, by the analysis of what follows, less that before it."""
    later: np.ndarray
    """(1296,) the same after the deal, less that after the play."""


def sums_of(deals: LateDeals, rows: np.ndarray, outlook: Outlook) -> Sums:
    """Adds up the deals ``rows``, which are of one role, by the analysis ``outlook``."""
    width = len(LATE_SCORES)
    sums = Sums(np.zeros(N_FOURS, np.int64), np.zeros((N_FOURS, width)), np.zeros(width))
    before, after = np.empty(width), np.empty((N_STYLES, width))
    for row in rows:
        is_dealer = deals.roles[row] != PONE
        kept = _analyse(deals.sixes[row], deals.places[row], is_dealer, outlook, before, after)
        styles = outlook.styles[int(is_dealer)].reshape(width, N_STYLES).T
        played = _value(after, styles, LATE_SCORES + deals.pegged[row])
        to_come = outlook.win_table[LATE:, LATE:]  # the deal passes
        next_deal = 1 - to_come.T if is_dealer else to_come
        ended = _value(next_deal.reshape(1, width), np.ones((1, 1)), deals.after[row].astype(np.int64))
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
    """``late_hands`` and ``late_scores`` of :class:`crib_env.tables.shipped.WinTable`, smoothed.

    The first part is the mean over all deals; the others are the principal components of what hands differ in.

    Args:
        deals: at all late scores.
        outlook: of the analysis, with the styles of these deals. What it adds for the play is left aside.
        threads: how many work side by side.
    """
    hands = np.zeros((len(ROLES), N_FOURS, PARTS_OF_LATE_PLAY))
    scores = np.zeros((len(ROLES), len(LATE_SCORES), PARTS_OF_LATE_PLAY))
    for role in range(len(ROLES)):
        shares = np.array_split(np.flatnonzero(deals.roles == role), _SHARES)
        with ThreadPoolExecutor(threads) as pool:
            each = list(pool.map(lambda share: sums_of(deals, share, outlook), shares))
        sums = Sums(*(np.sum(part, axis=0) for part in zip(*each)))
        hands[role], scores[role] = smoothed_parts(sums, role)
    late = scores.reshape(len(ROLES), *SIZE, -1)
    return {"late_hands": hands.astype(np.float32), "late_scores": late.astype(np.float32)}


def smoothed_parts(sums: Sums, role: int) -> tuple[np.ndarray, np.ndarray]:
    """What the play adds, (1820, 12) and (1296, 12): its product over the last axis is by hand and scores."""
    hands, scores = np.zeros((N_FOURS, PARTS_OF_LATE_PLAY)), np.zeros((len(LATE_SCORES), PARTS_OF_LATE_PLAY))
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


def _error(plays: Plays, rows: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(2,) mean square of the error of means (1820, 2), by other plays."""
    hands, points = plays.hands[rows], plays.points[rows].astype(float)
    n = np.bincount(hands, minlength=N_FOURS)
    sums = np.stack([np.bincount(hands, side, N_FOURS) for side in points.T], axis=1)
    within = ((points - (sums / np.maximum(n, 1)[:, None])[hands]) ** 2).sum(axis=0) / max(len(rows) - (n > 0).sum(), 1)
    found: np.ndarray = ((points - means[hands]) ** 2).mean(axis=0) - within
    return found


def _smoothed(plays: Plays, rows: np.ndarray, role: int) -> np.ndarray:
    """(1820, 2) mean points, of the plays ``rows``."""
    known = standard_pegging().mean[role]
    hands, more = plays.hands[rows], plays.points[rows] - known[plays.hands[rows]]
    n, mean = np.bincount(hands, minlength=N_FOURS), more.mean(axis=0)
    sums = np.stack([np.bincount(hands, side, N_FOURS) for side in (more - mean).T], axis=1)
    return np.maximum(known + mean + smoothed(sums / np.maximum(n, 1)[:, None], n, role), 0.0)


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


def smoothed(means: np.ndarray, n: np.ndarray, role: int) -> np.ndarray:
    """Gaussian process regression of columns (1820, C), each with the length and the ratio of the highest likelihood.

    Args:
        means: (1820, C) the mean of each hand over its deals.
        n: (1820,) deals of each hand.
        role: of the player with the hand.
    """
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
