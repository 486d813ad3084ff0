"""``mmd-tables``: a policy for the pegging game, the softmax of a sum of tables.

It draws its cards. :mod:`crib_env.train.mmd_tables.learner` trains it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.baselines import GreedyAgent
from crib_env.agents.choosing import draw, uniforms
from crib_env.agents.networks.policy import Plays
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.agents.tables.buckets import (
    BUCKET,
    LOGIT,
    N_TABLES,
    Pile,
    fill_buckets,
    fill_legal_cards,
    ranks_held,
    softmax,
)
from crib_env.kernels import bit, kernel, streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers

LEARNER = "mmd-tables"
_MOST_BITS = 28


class TablesAgent:
    """Draws each card from its distribution, or lays the most likely one. It discards as ``greedy`` does.

    Args:
        tables: (``N_TABLES``, 2**bits, n, ``BUCKET``) float32, of which ``[:, :, LOGIT]`` are the logits.
        plays: ``"sample"`` draws cards and ``"mode"`` lays the most likely.
        seed: of the draws, which depend only on it, the game's id and the decision's number.
    """

    powers = Powers(mixes="known", suits="unseen")

    def __init__(self, tables: torch.Tensor, plays: Plays = "sample", seed: int = 0) -> None:
        self.tables, self.plays, self.name = tables, plays, LEARNER
        self._greedy, self._seed = GreedyAgent(), streams(seed, 1)[0]

    @classmethod
    def load(cls, path: str | Path, plays: Plays = "sample", seed: int = 0) -> TablesAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, LEARNER) as file:
            bits = file.about["bits"]
            if not (isinstance(bits, int) and 0 < bits <= _MOST_BITS):
                raise ValueError(f"bits {bits}")
            weights = file.load_weights({"logits": (N_TABLES, 1 << bits, 1, BUCKET)})
            agent = cls(weights["logits"], plays, seed)
        agent.name = f"{LEARNER}:{path}"
        return agent

    def save(self, path: Path) -> None:
        """Writes the logits, whole or not at all, as 16-bit numbers."""
        bits = self.tables.shape[1].bit_length() - 1
        save_tensors(path, {"logits": self.tables[:, :, LOGIT : LOGIT + 1].half()}, {"learner": LEARNER, "bits": bits})

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        chances = self.probabilities(views)
        return chances.argmax(axis=1) if self.plays == "mode" else draw(chances, uniforms(self._seed, views))

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        chances = np.zeros((len(views), N_ACTIONS))
        _fill_chances(views.arrays, self.tables.numpy(), self.plays == "mode", chances)
        discards = np.flatnonzero(views.is_discard)
        if len(discards):
            chances[discards] = np.eye(N_ACTIONS)[self._greedy.act(views[discards])]
        return chances


@kernel
def _fill_chances(views, tables, is_mode, out):
    last_bucket, buckets = np.uint64(tables.shape[1] - 1), np.empty(N_TABLES, np.int64)
    cards, sums, chances = np.empty(13, np.int64), np.empty(13), np.empty(13)
    for b in range(len(out)):
        hand, legal, n_laid = np.int64(0), np.int64(0), np.int64(0)
        for card in views.hand[b]:
            if card >= 0:
                hand |= bit(card)
        for card in range(N_ACTIONS):
            if views.action_mask[b, card]:
                legal |= bit(card)
        while n_laid < 8 and views.laid[b, n_laid] >= 0:
            n_laid += 1
        n = fill_legal_cards(legal, cards)
        if n > BUCKET:  # a discard
            continue
        pile = Pile(n_laid, np.int64(views.pile_start[b]), np.int64(views.count[b]), np.int64(views.opponent_cards[b]))
        fill_buckets(ranks_held(hand), views.laid[b], views.laid_by[b], 0, pile, last_bucket, buckets)
        for k in range(n):
            sums[k] = 0
            for table in range(N_TABLES):
                sums[k] += tables[table, buckets[table], LOGIT, k]
        softmax(sums, n, chances)
        if is_mode:
            out[b, cards[np.argmax(chances[:n])]] = 1
        else:
            for k in range(n):
                out[b, cards[k]] = chances[k]
