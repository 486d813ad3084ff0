"""The win table by backward induction, from high scores to low.

At each pair of scores the table has the mean result of the deals that were played there, each result being the end of
the game or the table's own value at the scores after the deal. Where both scores are far from the end, the points of
deals from 0–0 serve.

Luck is taken out without bias: the mean over the deals is adjusted by linear regression on numbers whose mean over all
deals is known to be zero (:func:`variates`). This comes down to one weight for each deal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.cards import JACK
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.makers.played_deals import score_after
from crib_env.evaluate.skill.luck.table import standard_luck_table
from crib_env.evaluate.skill.luck.usual_deal import PARTS as PARTS_OF_LUCK
from crib_env.evaluate.skill.luck.usual_deal import UNSEEN, new_scratch, usual_discards, value_cards
from crib_env.kernels import kernel, mask_of
from crib_env.scoring import show_points
from crib_env.tables.deal_chances import ENDINGS, MATCH_POINTS, ending_of

PARTS = 20
"""The deals are also solved in this many parts, whose spread gives the standard errors."""
_LEAST = 100
"""Deals that a regression needs; the mean of fewer is not adjusted."""


class Played(NamedTuple):
    """Deals that were played at C pairs of scores."""

    scores: np.ndarray
    """(C, 2) int64, of dealer and pone before the deal."""
    after: np.ndarray
    """(n, C, 2) int8, of dealer and pone after it."""
    luck: np.ndarray
    """(n, …) of :func:`variates`."""

    def part(self, number: int) -> Played:
        """One of ``PARTS`` parts of the deals."""
        return Played(self.scores, np.ascontiguousarray(self.after[number::PARTS]), self.luck[number::PARTS])


class FromNothing(NamedTuple):
    """Deals from 0–0."""

    points: np.ndarray
    """(n, 32, 2) int8 points in order, of dealer and of pone."""
    luck: np.ndarray
    """(n, …) of :func:`variates`."""

    def part(self, number: int) -> FromNothing:
        """One of ``PARTS`` parts of the deals."""
        return FromNothing(np.ascontiguousarray(self.points[number::PARTS]), self.luck[number::PARTS])


def weights_of(luck: np.ndarray) -> np.ndarray:
    """The weight of each deal (n,), which add up to 1, in a mean that is adjusted for luck (n, …)."""
    n = len(luck)
    if n < _LEAST:
        return np.full(n, 1 / n)
    about = luck - luck.mean(axis=0)
    weights: np.ndarray = 1 / n - luck.mean(axis=0) @ np.linalg.solve(about.T @ about, about.T)
    return weights


@kernel
def _add_end(endings, dealer, pone, weight, here):
    """Adds what follows from these scores after a deal."""
    if dealer < WIN and pone < WIN:
        after = endings[pone, dealer]  # the deal passes
        for ending in range(6):
            here[ending] += weight * after[(ending + 3) % 6]
    else:
        here[ending_of(dealer, pone)] += weight


class _Deals(NamedTuple):
    """Deals as the kernel reads them."""

    points: np.ndarray
    weights: np.ndarray
    after: tuple[np.ndarray, ...]
    """Of each of the sets of deals that were played at pairs of scores."""
    after_weights: tuple[np.ndarray, ...]
    sets: np.ndarray
    """(121, 121) which set has a pair of scores, -1 for none: ``points`` serve there."""
    places: np.ndarray
    """(121, 121) which column it has in that set."""


@kernel
def _solve(deals, endings):
    """Fills ``endings`` (121, 121, 6), by dealer's and pone's score, from high scores to low."""
    points, weights, played, played_weights, sets, places = deals
    made = np.zeros((len(points), 2), np.int64)
    for k in range(len(points)):
        for peg in points[k]:
            made[k] += peg
    for total in range(2 * WIN - 2, -1, -1):
        for dealer in range(max(0, total - WIN + 1), min(WIN - 1, total) + 1):
            pone = total - dealer
            here, which, place = endings[dealer, pone], sets[dealer, pone], places[dealer, pone]
            if which >= 0:
                after, after_weights = played[which], played_weights[which]
                for k in range(len(after)):
                    dealers, pones = np.int64(after[k, place, 0]), np.int64(after[k, place, 1])
                    _add_end(endings, dealers, pones, after_weights[k], here)
            else:
                for k in range(len(points)):
                    dealers, pones = dealer + made[k, 0], pone + made[k, 1]
                    if dealers >= WIN or pones >= WIN:
                        dealers, pones = score_after(points[k], np.int64(dealer), np.int64(pone))
                    _add_end(endings, dealers, pones, weights[k], here)


def _solved(start: FromNothing, played: Sequence[Played]) -> np.ndarray:
    sets, places = np.full((WIN, WIN), -1), np.zeros((WIN, WIN), np.int64)
    for which, some in enumerate(played):
        at = tuple(some.scores.T)
        sets[at], places[at] = which, np.arange(len(some.scores))
    after, after_weights = tuple(some.after for some in played), tuple(weights_of(some.luck) for some in played)
    endings = np.zeros((WIN, WIN, len(ENDINGS)))
    _solve(_Deals(start.points, weights_of(start.luck), after, after_weights, sets, places), endings)
    return endings


def solve_endings(
    start: FromNothing, played: Sequence[Played], on_progress: Callable[[int], None] = lambda done: None
) -> dict[str, Any]:
    """``endings`` and ``errors`` of :class:`crib_env.tables.shipped.WinTable`, as they follow from deals.

    Args:
        start: deals from 0–0, for all pairs of scores at which none were played.
        played: sets of deals, each played at other pairs of scores; at least one.
        on_progress: called after each of the ``1 + PARTS`` solutions.

    Raises:
        ValueError: there are fewer deals of a set than ``PARTS``.
    """
    for deals in (start.points, *(some.after for some in played)):
        if len(deals) < PARTS:
            raise ValueError(f"{len(deals)} deals are too few: give at least {PARTS}")
    whole = _solved(start, played)
    on_progress(1)
    parts = []
    for number in range(PARTS):
        parts.append(_solved(start.part(number), [some.part(number) for some in played]))
        on_progress(1)
    each = np.stack(parts)
    found = np.stack([each[..., :3].sum(axis=-1), each @ MATCH_POINTS], axis=-1)
    errors = found.std(axis=0, ddof=1) / np.sqrt(PARTS)
    chances = np.maximum(whole, 0.0)  # the adjustment may take a chance of nearly nothing below it
    chances /= chances.sum(axis=-1, keepdims=True)
    return {"endings": chances.astype(np.float32), "errors": errors.astype(np.float32)}


N_VARIATES = len(PARTS_OF_LUCK) + 4


@kernel
def _mean_show(four, unseen, is_crib):
    """The mean points of four cards over the starters ``unseen`` (a mask)."""
    total = 0.0
    for card in range(52):
        if (unseen >> card) & 1:
            total += show_points(four, card, is_crib)
    return total / UNSEEN


@kernel
def _fill_variates(games, values, means, scratch, out):
    pairs, weights = np.zeros((2, 2), np.int64), np.zeros(2, np.int64)
    worth = np.zeros(len(means))
    for n in range(len(games)):
        cards, dealer = games[n]["cards"], np.int64(games[n]["dealer"])
        pones_six = mask_of(cards[6 * (1 - dealer) : 6 * (1 - dealer) + 6])
        dealers_six = mask_of(cards[6 * dealer : 6 * dealer + 6])
        value_cards(pones_six, dealers_six, values, scratch, worth)
        out[n, : len(worth)] = worth - means
        usual_discards(pones_six, PONE, values, pairs[PONE], weights)
        usual_discards(dealers_six, DEALER, values, pairs[DEALER], weights)
        unseen = ((np.int64(1) << 52) - 1) ^ pones_six ^ dealers_six
        starter, jacks = np.int64(cards[12]), np.int64(0)
        for suit in range(4):
            jacks += (unseen >> (13 * suit + JACK)) & 1
        k = len(worth)
        out[n, k] = (starter % 13 == JACK) - jacks / UNSEEN
        shown = (
            (pones_six ^ pairs[PONE, 0], False),
            (dealers_six ^ pairs[DEALER, 0], False),
            (pairs[PONE, 0] | pairs[DEALER, 0], True),
        )
        for four, is_crib in shown:
            k += 1
            out[n, k] = show_points(four, starter, is_crib) - _mean_show(four, unseen, is_crib)


def variates(seeds: np.ndarray) -> np.ndarray:
    """The luck in the cards of n deals, (n, ``N_VARIATES``): numbers whose mean over all deals is exactly zero.

    First the parts of :mod:`crib_env.evaluate.skill.luck.usual_deal`, in points above their exact means; then what the
    starter does: his heels, pone's hand, the dealer's hand and the crib, after usual discards, above their means over
    all starters.
    """
    table, out = standard_luck_table(), np.empty((len(seeds), N_VARIATES))
    games = GameBatch(seeds, episode="deal", first_dealer=0).games
    _fill_variates(games, table.discard_values, table.means, new_scratch(), out)
    return out
