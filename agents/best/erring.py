"""``erring``: a player with the values of ``best:scores=no`` who misjudges them, as people do.

It values discards by their exact points, and cards of the play by the network of ``best`` for deals. It chooses by a
logit choice (McFadden, Conditional Logit Analysis of Qualitative Choice Behavior, 1974): the better of two choices is
the likelier, the more so the more points lie between them. Small errors are frequent, large ones rare.
"""

from __future__ import annotations

import math

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.best.agent import load
from crib_env.agents.choosing import card_chances, chances_of_pairs, draw, pairs_open, six_dealt, uniforms
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams
from crib_env.players.agent import Powers
from crib_env.tables.outlook import discard_points

_PER_POINT = 1.5  # logits of the network that are worth about a point


class ErringAgent:
    """Chooses by logit choice from values in points; near the end of a game as at its start.

    Args:
        errs: points by which it misjudges: of two choices that lie ``errs`` apart it takes the better one with
            probability e / (1 + e) = 0.73. With 0 it takes the best.
        seed: of its random stream; a choice depends only on it, the game's id and the decision's number.

    Raises:
        ValueError: ``errs`` is not allowed, or the network cannot be read.
    """

    name = "erring"
    powers = Powers(mixes="known", suits="unseen", remembers_discards=False)

    def __init__(self, errs: float = 1.0, seed: int = 0) -> None:
        if not 0 <= errs < math.inf:
            raise ValueError(f"agent 'erring': errs={errs} is not allowed, give points from 0 on")
        self._errs, self._seed, self._best = errs, streams(seed, 1)[0], load(scores=False)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return draw(self.probabilities(views), uniforms(self._seed, views))

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        return card_chances(views, self._discards, lambda play: self._choice(self._best.rank_logits(play) / _PER_POINT))

    def _discards(self, views: PlayerViews) -> np.ndarray:
        """How likely each card is discarded next: either card of a pair first, then the pairs that hold it are left."""
        six = six_dealt(views)
        values = np.where(pairs_open(views, six), discard_points(six, views.is_dealer), -np.inf)
        return chances_of_pairs(views, six[:, PLACES], self._choice(values))

    def _choice(self, values: np.ndarray) -> np.ndarray:
        """How likely each of the choices is, (B, n), from their values in points; -inf for what cannot be chosen."""
        below = values - values.max(axis=1, keepdims=True)
        weights = (
            np.exp(below / self._errs) if self._errs else (np.arange(values.shape[1]) == below.argmax(axis=1)[:, None])
        )
        return weights / weights.sum(axis=1, keepdims=True)
