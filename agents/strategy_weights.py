"""Lang's player: weights for his eight strategies at each pair of scores (Lang 2018, sections 3.1 and 3.2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.baselines import GreedyAgent
from crib_env.agents.choosing import by_phase
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.engine import DEALER, PONE, WIN
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import bit, kernel, lowest, mask_of
from crib_env.players.agent import Powers
from crib_env.tables.lang_strategies import STRATEGIES, pegging_values, weigh_discards
from crib_env.tables.shipped import standard_pegging

SHAPE = (WIN, WIN, 2, len(STRATEGIES))
STARTS = ("random", *STRATEGIES)
_OTHERS = 0.01  # weight of the others in a pure start: at 0 no update could raise a weight (Lang 2018, section 4.2)


def starting_weights(start: str, seed: int = 0) -> np.ndarray:
    """Initial weights: at each place random numbers scaled to a sum of 1, or nearly all the weight on one strategy.

    Args:
        start: one of ``STARTS``.

    Returns:
        (121, 121, 2, 8) float32 by own score, opponent's score, role (``ROLES``) and strategy.

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
def _discards(hand, discards, scores, is_dealer, weights, pegging, places, cards):
    for b in range(len(cards)):
        role = DEALER if is_dealer[b] else PONE
        held, discarded = mask_of(hand[b]), mask_of(discards[b])
        six, _, values = weigh_discards(held | discarded, weights[scores[b, 0], scores[b, 1], role], pegging[role])
        best, best_value = np.int64(0), -1.0
        for k in range(len(places)):
            pair = bit(six[0, places[k, 0]]) | bit(six[0, places[k, 1]])
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
        _discards(views.hand, views.discards, views.scores, views.is_dealer, self.weights, self._pegging, PLACES, cards)
        return cards
