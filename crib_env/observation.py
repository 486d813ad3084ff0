"""# Observation

What a player sees, as zeros and ones: O'Connor's 209 bits (2000); the board observation, which adds what they lack; and
the inputs by rank, from which a network learns soonest. The option ``observation`` selects one, ``dtype`` their type.
``crib_env.observation.OBSERVATIONS`` has an entry for each; environments, agents and learners know no others.

## The 209 bits

| index   | meaning                                                                             |
|---------|-------------------------------------------------------------------------------------|
| 0       | 1 if this player is the dealer                                                      |
| 1–52    | cards in this player's hand (bit 1 + card id)                                       |
| 53–104  | other known cards: own discards, the starter once cut, every card laid by either player (bit 53 + card id) |
| 105–208 | the play of this deal: eight slots of 13 ranks, slot k is the k-th card laid (bit 105 + 13 · k + rank) |

## The board observation

The 209 bits, then:

| index   | meaning                                                                             |
|---------|-------------------------------------------------------------------------------------|
| 209–328 | own score in thermometer coding: bit 209 + k is 1 if the score is above k           |
| 329–448 | opponent's score, the same                                                          |
| 449–479 | the count, one bit for each of 0 … 30 (nobody acts at 31)                           |
| 480–487 | bit 480 + k is 1 if this player laid the k-th card                                  |
| 488–495 | bit 488 + k is 1 if the k-th card belongs to the current count                      |
| 496–547 | own discards (bit 496 + card id)                                                    |
| 548–599 | cards laid by the opponent                                                          |
| 600–651 | the starter once cut                                                                |
| 652–658 | cards the opponent holds, one bit for each of 0 … 6                                 |

## The inputs by rank

With ``observation="ranks"``. Suits have no part in the play, and before it they matter only for flushes and his nobs,
which exact values count. So this holds ranks (0 ace … 12 king) alone, what is known of each for the decision at hand,
and no scores. The learners of this project use the same inputs.

| index   | meaning                                                                             |
|---------|-------------------------------------------------------------------------------------|
| 0–77    | before the play, of a player to act: what it costs to discard a card of each rank. Bit 6 · rank + k is 1 if the best pair with this rank is worth at least 0.1, 0.3, 0.6, 1, 1.5, 2.5 points (k = 0 … 5) less than the best pair of all. A rank that cannot be discarded has no bits. A pair is worth the exact mean of the hand that it leaves, and plus or minus that of the crib |
| 78      | 1 if this player is the dealer                                                      |
| 79–130  | cards held: bit 79 + 13 · k + rank is 1 if there are more than k of this rank       |
| 131–182 | other known cards (own discards, the starter once cut, every card laid by either player), the same |

The rest is 0 before the play:

| index   | meaning                                                                             |
|---------|-------------------------------------------------------------------------------------|
| 183–286 | the play of this deal: eight slots of 13 ranks, slot k is the k-th card laid (bit 183 + 13 · k + rank) |
| 287–317 | the count, one bit for each of 0 … 30                                               |
| 318–356 | the last three cards of this count, the latest first: three slots of 13 ranks       |
| 357–408 | what a card of each rank would earn now: bit 357 + 4 · rank + k is 1 if at least 1, 2.5, 3.5, 5.5 points (k = 0 … 3), whether or not this player holds one |
| 409–473 | the mean that an answer to each legal rank would earn, if it were any of the unseen cards: bit 409 + 5 · rank + k is 1 if at least 0.15, 0.3, 0.5, 0.8, 1.2 points (k = 0 … 4) |
| 474–478 | cards the opponent holds, one bit for each of 0 … 4                                 |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from crib_env.engine import WIN, legal_cards, starter, starter_is_cut
from crib_env.kernels import bit, kernel, popcount, variant
from crib_env.ranks import N_INPUTS, write_ranks
from crib_env.scoring import COUNT_LIMIT

# The first bit of each block; the tables above describe the blocks.
IS_DEALER, HAND, KNOWN, SLOTS, N_BITS = 0, 1, 53, 105, 209
OWN_SCORE, OPPONENT_SCORE, COUNT = 209, 329, 449
OWN_LAID, IN_COUNT = 480, 488
OWN_DISCARDS, OPPONENT_LAID, STARTER, OPPONENT_CARDS, N_BOARD = 496, 548, 600, 652, 659
N_ACTIONS = 52
# The types of an observation and its mask, by the option ``dtype``. Libraries that want floating point also want
# boolean masks.
DTYPES: dict[str, tuple[Any, Any]] = {"int8": (np.int8, np.int8), "float32": (np.float32, np.bool_)}
_BITS = np.array([1 << card for card in range(52)], np.int64)


class CardSpace(spaces.Discrete):
    """``Discrete(52)``, whose ``sample`` takes boolean masks (``dtype="float32"``) too: Gymnasium takes int8 alone."""

    def __init__(self) -> None:
        super().__init__(N_ACTIONS)

    def sample(self, mask: np.ndarray | None = None, probability: np.ndarray | None = None) -> Any:
        """A random card, of those in ``mask`` (52,) int8 or bool, or by ``probability`` (52,) float64."""
        if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
            mask = mask.view(np.int8)
        return super().sample(mask, probability)


def observation_space(size: int, dtype: str, mask: str) -> spaces.Space[Any]:
    """The space of observations of this size, by the options ``dtype`` and ``mask``."""
    of_observation, of_mask = DTYPES[dtype]
    observation = spaces.Box(0, 1, (size,), of_observation)
    if mask == "info":
        return observation
    return spaces.Dict(observation=observation, action_mask=spaces.Box(0, 1, (N_ACTIONS,), of_mask))


# The kernels below take whole arrays and the number of a row. Passing a view of the row to a function would cost two
# atomic reference-count instructions, which take longer than writing all the bits.


@kernel
def write_bits(cards, out, row, offset):
    """Writes a mask of cards as 52 bits into a row of ``out`` from ``offset`` on."""
    for card in range(52):  # a table lookup without branches: Numba turns it into a few vector instructions
        # uint64: a signed index might be negative, and Numba would check each one.
        out[row, np.uint64(offset + card)] = cards & _BITS[card] != 0


@kernel
def write_observation(g, seat, out, row):
    """Writes the observation of ``seat`` into a row of ``out``, (N, 209 or 659) of any type."""
    own_discards = g["discards"][seat]
    laid, n_laid = np.int64(0), np.int64(g["n_laid"])
    for place in range(SLOTS, SLOTS + 8 * 13):
        out[row, place] = 0
    for k in range(n_laid):
        card = np.int64(g["laid"][k])
        out[row, SLOTS + 13 * k + card % 13] = 1
        laid |= bit(card)
    cut = bit(starter(g)) if starter_is_cut(g) else np.int64(0)
    out[row, IS_DEALER] = g["dealer"] == seat
    write_bits(g["hand"][seat], out, row, np.int64(HAND))  # int64: see engine.HEELS
    write_bits(own_discards | cut | laid, out, row, np.int64(KNOWN))
    if out.shape[1] == N_BITS:
        return
    for k in range(WIN - 1):
        out[row, OWN_SCORE + k] = k < g["scores"][seat]
        out[row, OPPONENT_SCORE + k] = k < g["scores"][1 - seat]
    for k in range(COUNT_LIMIT):
        out[row, COUNT + k] = k == g["count"]
    for k in range(8):
        out[row, OWN_LAID + k] = k < n_laid and g["laid_by"][k] == seat
        out[row, IN_COUNT + k] = g["pile_start"] <= k < n_laid
    write_bits(own_discards, out, row, np.int64(OWN_DISCARDS))
    write_bits(laid & ~g["kept"][seat], out, row, np.int64(OPPONENT_LAID))
    write_bits(cut, out, row, np.int64(STARTER))
    for k in range(7):
        out[row, OPPONENT_CARDS + k] = k == popcount(g["hand"][1 - seat])


@kernel
def write_mask(g, seat, out, row):
    """Writes the legal cards of ``seat`` into a row of ``out``, (N, 52) of any type; zeros if another seat is to act."""
    write_bits(legal_cards(g) if seat == g["turn"] else np.int64(0), out, row, np.int64(0))


class Observation(NamedTuple):
    """An observation that the option ``observation`` selects."""

    name: str
    size: int
    write: Any
    """The kernel ``write(g, seat, out, row)``: what a seat of a game sees, into a row of ``out`` (N, size) of any type."""
    has_bits: bool = False
    """Whether the first of it are the 209 bits, from which more can be computed."""


OBSERVATIONS = {
    one.name: one
    for one in (
        Observation("209", N_BITS, write_observation, True),
        Observation("board", N_BOARD, write_observation, True),
        Observation("ranks", N_INPUTS, write_ranks),
    )
}


def observation_named(name: Any) -> Observation:
    """The observation of this name; ``ValueError``, which says which there are, if there is none."""
    if name not in OBSERVATIONS:
        raise ValueError(f"observation={name!r} is not allowed: choose one of {', '.join(map(repr, OBSERVATIONS))}")
    return OBSERVATIONS[name]


def writing(template: Any, write: Any) -> Any:
    """A kernel that calls :func:`write_observation`, with the kernel ``write`` in its place."""
    return variant(template, "write_observation", write)
