"""The usual course of a deal: discards and play of fixed players, against which the luck of cards is measured.

Discards: the best of the exact analysis in points at 0–0 (hand, crib, pegging). If the second best is less than
``_CLOSE`` points worse, both count, with weights from equal to 0 for the second. Play: ``greedy`` and ``careful``,
each against each, four plays in all. Discards depend on six cards only up to a renaming of suits, and the play depends
on ranks only. So means over all deals can be computed exactly (:mod:`crib_env.evaluate.makers.luck`).
"""

from __future__ import annotations

import numpy as np

from crib_env.cards import JACK
from crib_env.engine import DEALER, GAME, PLAY, PLAY_EPISODE, PONE, act
from crib_env.exact.discard_means import crib_total, hand_total, show_total
from crib_env.hands import hand_of_mask
from crib_env.kernels import bit, cards_in, kernel, lowest
from crib_env.players.policies import CAREFUL, GREEDY, native_card
from crib_env.scoring import add_rank, rank_points
from crib_env.tables.outlook import show_value

PARTS = ("pone's hand", "dealer's hand and heels", "crib", "pone's play", "dealer's play")
"""The parts of the value of twelve cards, by the source of the points."""
SHARES = 16  # sum of the weights of the two discards of six cards
PLAYS = 4  # greedy and careful, each against each
_CLOSE = 0.8  # points
UNSEEN = 40  # cards from which the starter is cut


@kernel
def usual_discards(six, role, values, pairs, weights):
    """Writes the two best pairs of six cards (masks), and the weights of both, which add up to ``SHARES``.

    Ties are broken by the hand and then by ranks, never by suits.
    """
    cards = cards_in(six, 6)
    points, hands, ranks = np.full(2, -1e9), np.zeros(2, np.int64), np.zeros(2, np.int64)
    for i in range(6):
        for j in range(i + 1, 6):
            pair = bit(cards[i]) | bit(cards[j])
            a, b = min(cards[i] % 13, cards[j] % 13), max(cards[i] % 13, cards[j] % 13)
            hand, crib, code = hand_total(six ^ pair, six), crib_total(cards[i], cards[j], cards), 13 * a + b
            value = show_value(hand, crib, cards[i], cards[j], role, values.cribs)
            value += values.pegging[role, hand_of_mask(six ^ pair)]
            for place in range(2):
                if value > points[place] or (
                    value == points[place] and (hand > hands[place] or (hand == hands[place] and code > ranks[place]))
                ):
                    if place == 0:
                        pairs[1], points[1], hands[1], ranks[1] = pairs[0], points[0], hands[0], ranks[0]
                    pairs[place], points[place], hands[place], ranks[place] = pair, value, hand, code
                    break
    weights[1] = np.int64(SHARES / 2 * max(0.0, 1 - (points[0] - points[1]) / _CLOSE))
    weights[0] = SHARES - weights[1]


@kernel
def _by_ranks(kept, first_suit, step):
    """Four cards of the same ranks, in suits that do not depend on the suits of these cards."""
    out = np.int64(0)
    for rank in range(13):
        suit = first_suit
        for other in range(4):
            if (kept >> (13 * other + rank)) & 1:
                out |= bit(13 * suit + rank)
                suit += step
    return out


@kernel
def usual_play(pones_four, dealers_four, scratch, points):
    """Fills ``points`` (``PLAYS``, 2) with the points of pone and dealer in each play of these cards (masks).

    ``scratch`` is one game record to play on.
    """
    g, n = scratch[0], 0
    for policy in (GREEDY, CAREFUL):
        for other in (GREEDY, CAREFUL):
            g["phase"], g["episode"], g["dealer"], g["turn"] = PLAY, PLAY_EPISODE, DEALER, PONE
            # Suits are given from opposite ends, so that no card is held twice.
            g["hand"][PONE], g["hand"][DEALER] = _by_ranks(pones_four, 0, 1), _by_ranks(dealers_four, 3, -1)
            g["scores"][PONE], g["scores"][DEALER] = 0, 0
            for k in range(8):
                g["laid"][k] = -1
            g["n_laid"], g["pile_start"], g["count"], g["ranks"] = 0, 0, 0, 0
            while g["phase"] == PLAY:
                act(g, native_card(g, policy if g["turn"] == PONE else other))
            points[n, PONE], points[n, DEALER] = g["scores"][PONE], g["scores"][DEALER]
            n += 1


@kernel
def crib_rank_total(discarded):
    """Points of four cards by rank alone (fifteens, pairs, runs), summed over the 48 other cards as starters."""
    counts, sums = np.int64(0), np.int64(1)
    rest = discarded
    while rest:
        counts, sums = add_rank(counts, sums, lowest(rest) % 13)
        rest &= rest - 1
    total = np.int64(0)
    for rank in range(13):
        left = np.int64(4)
        for suit in range(4):
            left -= (discarded >> (13 * suit + rank)) & 1
        more_counts, more_sums = add_rank(counts, sums, rank)
        total += left * rank_points(more_counts, more_sums)
    return total


@kernel
def value_cards(pones_six, dealers_six, values, scratch, out):
    """Values twelve cards before the discards and the cut: fills ``out`` (5,) with points by ``PARTS``."""
    seen = pones_six | dealers_six
    pones, dealers = np.zeros(2, np.int64), np.zeros(2, np.int64)
    pone_weights, dealer_weights = np.zeros(2, np.int64), np.zeros(2, np.int64)
    usual_discards(pones_six, PONE, values, pones, pone_weights)
    usual_discards(dealers_six, DEALER, values, dealers, dealer_weights)
    jacks = np.int64(4)
    for suit in range(4):
        jacks -= (seen >> (13 * suit + JACK)) & 1
    for part in range(len(out)):
        out[part] = 0.0
    out[1] = 2 * jacks / UNSEEN
    played = np.zeros((PLAYS, 2), np.int64)
    for i in range(2):
        if pone_weights[i]:
            out[0] += pone_weights[i] * show_total(pones_six ^ pones[i], seen, False) / (SHARES * UNSEEN)
        if dealer_weights[i]:
            out[1] += dealer_weights[i] * show_total(dealers_six ^ dealers[i], seen, False) / (SHARES * UNSEEN)
        for j in range(2):
            weight = pone_weights[i] * dealer_weights[j]
            if weight:
                out[2] += weight * crib_rank_total(pones[i] | dealers[j]) / (SHARES * SHARES * 48)
                usual_play(pones_six ^ pones[i], dealers_six ^ dealers[j], scratch, played)
                for play in range(PLAYS):
                    out[3] += weight * played[play, PONE] / (SHARES * SHARES * PLAYS)
                    out[4] += weight * played[play, DEALER] / (SHARES * SHARES * PLAYS)


def new_scratch() -> np.ndarray:
    """A record for :func:`usual_play` to play on."""
    return np.zeros(1, GAME)
