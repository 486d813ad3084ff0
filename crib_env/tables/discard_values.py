"""The value of a discard in points: the hand, plus or minus the crib, plus what the four cards gain in the play."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.exact.discard_means import COMPLETIONS, STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.hands import hand_of_mask
from crib_env.kernels import bit, kernel, mask_of
from crib_env.tables.outlook import outlook
from crib_env.tables.pegging import GAINED, GIVEN
from crib_env.tables.standard import standard_pegging, standard_win_table


class DiscardValues(NamedTuple):
    """The terms of the value that are not exact, in points."""

    cribs: np.ndarray
    """(2, 13, 13) by role and ranks discarded: how the crib's mean changes when the opponent discards with purpose."""
    pegging: np.ndarray
    """(2, 1820) by role and hand kept: points gained minus points given in the play."""


@cache
def standard_values() -> DiscardValues:
    """The values of the shipped tables."""
    plays = standard_win_table().plays
    mean = np.where(np.isfinite(plays), plays, standard_pegging().mean)
    return DiscardValues(outlook().cribs, np.ascontiguousarray(mean[..., GAINED] - mean[..., GIVEN]))


@kernel
def show_value(hand_total, crib_total, first, second, role, cribs):
    """Hand plus or minus crib: mean points of the show after a discard.

    Args:
        hand_total, crib_total: exact, of :mod:`crib_env.exact.discard_means`.
        first, second: the cards discarded.
        role: ``PONE`` or ``DEALER``.
        cribs: of :class:`DiscardValues`.
    """
    hand, crib = hand_total / STARTERS, crib_total / COMPLETIONS + cribs[role, first % 13, second % 13]
    return hand + crib if role == DEALER else hand - crib


@kernel
def fill_discard_points(cards, role, totals, values, out):
    """Fills ``out`` (15,) with the net points of the deal after each discard of six sorted cards.

    Args:
        cards: (6,) sorted ids.
        role: ``PONE`` or ``DEALER``.
        totals: (15,) of ``TOTALS`` for these cards.
        values: :class:`DiscardValues`.
        out: float64.
    """
    six = mask_of(cards)
    for k in range(N_DISCARDS):
        first, second = cards[PLACES[k, 0]], cards[PLACES[k, 1]]
        show = show_value(totals[k]["hand_total"], totals[k]["crib_total"], first, second, role, values.cribs)
        out[k] = show + values.pegging[role, hand_of_mask(six ^ bit(first) ^ bit(second))]


@kernel
def _fill_all(sixes, is_dealer, totals, values, out):
    for n in range(len(sixes)):
        fill_discard_points(sixes[n], DEALER if is_dealer[n] else PONE, totals[n], values, out[n])


def discard_points(sixes: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """(B, 15) net points of the deal by discard, the ``total`` of :func:`crib_env.analyse_discard`.

    Args:
        sixes: (B, 6) int64, each row sorted.
        is_dealer: (B,) bool.
    """
    totals, out = np.zeros((len(sixes), N_DISCARDS), TOTALS), np.empty((len(sixes), N_DISCARDS))
    fill_totals(sixes, totals)
    _fill_all(sixes, is_dealer, totals, standard_values(), out)
    return out
