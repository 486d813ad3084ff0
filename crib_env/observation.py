"""What a player sees, as bits: the 209 of O'Connor (2000), and the board observation that adds what they lack.

=========  ==========================================================================================
209 bits   meaning
=========  ==========================================================================================
0          1 if this player is the dealer
1–52       cards in this player's hand (bit 1 + card id)
53–104     other known cards: own discards, the starter once cut, every card laid by either player
105–208    the play of this deal: eight slots of 13 ranks, slot k is the k-th card laid
=========  ==========================================================================================

=========  ==========================================================================================
board      the 209 bits, then
=========  ==========================================================================================
209–328    own score, as a peg that fills the board: bit 209 + k is 1 if the score is above k
329–448    opponent's score, the same
449–479    the count, one bit for each of 0 … 30 (31 never stands when somebody acts)
480–487    bit 480 + k is 1 if this player laid the k-th card
488–495    bit 488 + k is 1 if the k-th card belongs to the count that is going on
496–547    own discards (bit 496 + card id)
548–599    cards laid by the opponent
600–651    the starter once cut
652–658    cards the opponent holds, one bit for each of 0 … 6
=========  ==========================================================================================
"""

from __future__ import annotations

import numpy as np

from crib_env.engine import OVER, legal_cards, starter, starter_is_cut
from crib_env.kernels import bit, kernel, lowest, popcount

SIZES = {"209": 209, "board": 659}
N_ACTIONS = 52


@kernel
def set_bits(out, offset, cards):
    """Sets ``out[offset + card]`` for every card of a mask."""
    while cards:
        out[offset + lowest(cards)] = 1
        cards &= cards - 1


@kernel
def write_observation(g, seat, out):
    """Writes what ``seat`` sees of a game into ``out``, 209 or 659 zeros of int8."""
    own_discards = g["discards"][seat]
    own_laid = np.int64(0)
    laid = np.int64(0)
    n_laid = np.int64(g["n_laid"])
    for k in range(n_laid):
        card = np.int64(g["laid"][k])
        laid |= bit(card)
        out[105 + 13 * k + card % 13] = 1
        if g["laid_by"][k] == seat:
            own_laid |= bit(card)
    cut = bit(starter(g)) if starter_is_cut(g) else np.int64(0)
    out[0] = g["dealer"] == seat
    set_bits(out, 1, g["hand"][seat])
    set_bits(out, 53, own_discards | cut | laid)
    if len(out) == 209:
        return
    for k in range(min(g["scores"][seat], 120)):
        out[209 + k] = 1
    for k in range(min(g["scores"][1 - seat], 120)):
        out[329 + k] = 1
    count = np.int64(g["count"])
    if count < 31:
        out[449 + count] = 1
    for k in range(n_laid):
        out[480 + k] = g["laid_by"][k] == seat
        out[488 + k] = k >= g["pile_start"]
    set_bits(out, 496, own_discards)
    set_bits(out, 548, laid ^ own_laid)
    set_bits(out, 600, cut)
    out[652 + popcount(g["hand"][1 - seat])] = 1


@kernel
def write_mask(g, seat, out):
    """Writes the legal cards of ``seat`` into ``out``, 52 zeros of int8; they stay zeros when it is not to act."""
    if seat == g["turn"] and g["phase"] != OVER:
        set_bits(out, 0, legal_cards(g))
