"""Lang's player: weights for his eight strategies at each pair of scores (Lang 2018, section 3).

Each strategy ranks the discards of six cards by one number, and scales it linearly so that the best has 1 and the
worst 0. If all fifteen are equal, all have 1. The numbers of hand and crib are exact (the crib's over uniformly
random opposing discards); those of the play come from pegging records.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.baselines import GreedyAgent
from crib_env.agents.choosing import by_phase
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.hands import FOURS, hand_of_mask
from crib_env.kernels import bit, cards_in, kernel, lowest, mask_of
from crib_env.players.agent import Powers
from crib_env.tables.shipped import GAINED, GIVEN, PeggingRecords, standard_pegging

STRATEGIES = (
    "hand_max_min",
    "hand_max_avg",
    "hand_max_med",
    "hand_max_poss",
    "crib_min_avg",
    "pegging_max_avg_gained",
    "pegging_max_med_gained",
    "pegging_min_avg_given",
)
N_STRATEGIES = len(STRATEGIES)
SHAPE = (WIN, WIN, 2, len(STRATEGIES))
STARTS = ("random", *STRATEGIES)
_OTHERS = 0.01  # weight of the others in a pure start: at 0 no update could raise a weight (Lang 2018, section 4.2)


def starting_weights(start: str, seed: int = 0) -> np.ndarray:
    """Initial weights, (121, 121, 2, 8) float32 by own score, opponent's score, role (``ROLES``) and strategy: at each
    place random numbers scaled to a sum of 1, or nearly all the weight on one strategy.

    Raises:
        ValueError: ``start`` is not one of ``STARTS``.
    """
    if start not in STARTS:
        raise ValueError(f"start={start!r} is not allowed: choose one of {', '.join(STARTS)}")
    if start == "random":
        weights = np.random.default_rng(seed).random(SHAPE)
    else:
        weights = np.full(SHAPE, _OTHERS)
        weights[..., STRATEGIES.index(start)] = 1.0
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


@kernel
def fill_desirabilities(totals, cards, pegging, out):
    """Fills ``out`` (8, 15) for a hand of sorted ids (6,), from its ``discard_statistics.TOTALS`` (15,) and the role's
    :func:`pegging_values`."""
    six = mask_of(cards)
    k = 0
    for i in range(6):
        for j in range(i + 1, 6):
            kept = hand_of_mask(six ^ bit(cards[i]) ^ bit(cards[j]))
            out[0, k] = totals[k]["hand_min"]
            out[1, k] = totals[k]["hand_total"]
            out[2, k] = totals[k]["hand_twice_median"]
            out[3, k] = totals[k]["hand_max"]
            out[4, k] = -np.float64(totals[k]["crib_total"])
            out[5, k] = pegging[kept, 0]
            out[6, k] = pegging[kept, 1]
            out[7, k] = -pegging[kept, 2]
            k += 1
    for strategy in range(N_STRATEGIES):  # the highest to 1 and the lowest to 0; if all are equal, all to 1
        values = out[strategy]
        low, high = values.min(), values.max()
        for k in range(N_DISCARDS):
            values[k] = (values[k] - low) / (high - low) if high > low else 1.0


@kernel
def weigh_discards(six, weights, pegging):
    """The values of the fifteen discards of six cards (a mask) for a player with these weights (8,): ``weights @ S``.

    Returns the cards (1, 6) int64, sorted; S (8, 15), the desirabilities; values (15,), both float64.
    """
    cards = cards_in(six, 6).reshape(1, 6)
    totals = np.zeros((1, N_DISCARDS), TOTALS)
    fill_totals(cards, totals)
    wanted = np.empty((N_STRATEGIES, N_DISCARDS))
    fill_desirabilities(totals[0], cards[0], pegging, wanted)
    values = np.zeros(N_DISCARDS)
    for strategy in range(N_STRATEGIES):
        for k in range(N_DISCARDS):
            values[k] += weights[strategy] * wanted[strategy, k]
    return cards, wanted, values


def pegging_values(records: PeggingRecords) -> np.ndarray:
    """Mean points gained, median points gained and mean points given by role and hand: (2, 1820, 3) float64.

    Raises:
        ValueError: the records hold no play of some class in some role; the message names it.
    """
    unknown = np.argwhere(records.n == 0)
    if len(unknown):
        role, kept = unknown[0]
        ranks = "-".join(RANKS[rank] for rank in FOURS[kept])
        raise ValueError(f"the records hold no play of {ranks} as {ROLES[role]}: simulate them first")
    mean, median = records.mean, records.median
    return np.stack([mean[..., GAINED], median[..., GAINED], mean[..., GIVEN]], axis=-1)


@kernel
def _discards(hand, discards, scores, is_dealer, weights, pegging, cards):
    for b in range(len(cards)):
        role = DEALER if is_dealer[b] else PONE
        held, discarded = mask_of(hand[b]), mask_of(discards[b])
        six, _, values = weigh_discards(held | discarded, weights[scores[b, 0], scores[b, 1], role], pegging[role])
        best, best_value = np.int64(0), -1.0
        for k in range(N_DISCARDS):
            pair = bit(six[0, PLACES[k, 0]]) | bit(six[0, PLACES[k, 1]])
            if pair & discarded == discarded and values[k] > best_value:
                best, best_value = pair, values[k]
        cards[b] = lowest(best & held)


class StrategyWeightsAgent:
    """Discards the pair with the highest weighted desirability; plays as ``greedy`` does.

    Lang's player lays the card with the most points at once, ties to the higher value (section 3.1).
    Ties between pairs go to the first in the order of ids.

    Args:
        weights: (121, 121, 2, 8) float32, see :func:`starting_weights`.
    """

    powers = Powers(suits="ties", remembers_discards=False, sees_starter=False)

    def __init__(self, weights: np.ndarray, name: str = "strategy-weights") -> None:
        self.weights, self.name = weights, name
        self._pegging = pegging_values(standard_pegging())
        self._play = GreedyAgent()

    @classmethod
    def load(cls, path: str | Path) -> StrategyWeightsAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "strategy-weights") as file:
            weights = file.load_weights({"weights": SHAPE})["weights"].numpy()
            if not (weights >= 0).all():
                raise ValueError("a weight is below 0")
        return cls(weights, f"strategy-weights:{path}")

    @classmethod
    def make(cls, path: str, seed: int = 0) -> StrategyWeightsAgent:
        """An agent from a weights file, or with starting weights: ``random`` or the name of a strategy.

        Raises:
            ValueError: as :meth:`load`.
        """
        if path in STARTS:
            return cls(starting_weights(path, seed), f"strategy-weights:{path}")
        return cls.load(path)

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, {"weights": torch.from_numpy(self.weights)}, {"learner": "strategy-weights"})

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._play.act)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        cards = np.empty(len(views), np.int64)
        _discards(views.hand, views.discards, views.scores, views.is_dealer, self.weights, self._pegging, cards)
        return cards
