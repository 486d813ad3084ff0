"""The luck in the cards of deals: numbers whose mean over all deals is known exactly, to be regressed on."""

from __future__ import annotations

import numpy as np

from crib_env.batch import GameBatch
from crib_env.cards import JACK
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.skill.luck.table import standard_luck_table
from crib_env.evaluate.skill.luck.usual_deal import PARTS, UNSEEN, new_scratch, usual_discards, value_cards
from crib_env.kernels import kernel, mask_of
from crib_env.scoring import show_points

N_VARIATES = len(PARTS) + 4


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

    First ``PARTS`` of :mod:`crib_env.evaluate.skill.luck.usual_deal`, in points above their exact means; then what the
    starter does: his heels, pone's hand, the dealer's hand and the crib, after usual discards, above their means over
    all starters.
    """
    table, out = standard_luck_table(), np.empty((len(seeds), N_VARIATES))
    games = GameBatch(seeds, episode="deal", first_dealer=0).games
    _fill_variates(games, table.discard_values, table.means, new_scratch(), out)
    return out
