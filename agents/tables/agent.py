"""``mmd-tables``: a policy that is the softmax of a sum of tables.

It draws its cards, but no rare ones. In the play the tables hold logits (:mod:`crib_env.agents.tables.buckets`), of
discards they hold values (:mod:`crib_env.agents.tables.discards`). :mod:`crib_env.train.mmd_tables.learner` trains it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.choosing import card_chances, chances_of_pairs, draw, pairs_open, six_dealt, uniforms, without_rare
from crib_env.agents.networks.policy import Plays
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.agents.tables.buckets import (
    BUCKET,
    LOGIT,
    N_TABLES,
    SEEN,
    Pile,
    fill_buckets,
    fill_legal_cards,
    ranks_held,
)
from crib_env.agents.tables.discards import N_LEARNED, fill_discards, fill_values, no_discards
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.hands import N_RANKS
from crib_env.kernels import bit, kernel, mask_of, streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers

LEARNER = "mmd-tables"
_MOST_BITS = 28
_BY_ROLE = (2, N_LEARNED // 2)  # the shape in a file of what is learned of discards


class TablesAgent:
    """Draws each card from its distribution, or takes the most likely one.

    Args:
        play: (``N_TABLES``, 2**bits, n, ``BUCKET``) float32, of which ``[:, :, LOGIT]`` are the logits.
        discards: (``N_LEARNED``,) float32 points.
        temperature: in points, of which the discards' values are the logits.
        plays: ``"sample"`` draws cards and ``"mode"`` takes the most likely.
        seed: of the draws, which depend only on it, the game's id and the decision's number.
    """

    powers = Powers(mixes="known", suits="unseen", remembers_discards=False, sees_starter=False)

    def __init__(
        self, play: torch.Tensor, discards: torch.Tensor, temperature: float, plays: Plays = "sample", seed: int = 0
    ) -> None:
        self.play, self.discards, self.temperature = play, discards, temperature
        self.plays, self.name, self._seed = plays, LEARNER, streams(seed, 1)[0]

    @classmethod
    def load(cls, path: str | Path, plays: Plays = "sample", seed: int = 0) -> TablesAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, LEARNER) as file:
            bits, temperature = file.about["bits"], float(file.about["temperature"])
            if not (isinstance(bits, int) and 0 < bits <= _MOST_BITS):
                raise ValueError(f"bits {bits}")
            if not 0 < temperature < np.inf:
                raise ValueError(f"temperature {temperature}")
            tables = file.load_weights({"discards": _BY_ROLE, "logits": (N_TABLES, 1 << bits, 1, BUCKET)})
            return cls(tables["logits"], tables["discards"].flatten(), temperature, plays, seed)

    def save(self, path: Path) -> None:
        """Writes the tables, whole or not at all, the logits as 16-bit numbers."""
        logits = self.play[:, :, LOGIT : LOGIT + 1].half()
        logits[..., SEEN] = 0
        tables = {"discards": self.discards.view(_BY_ROLE), "logits": logits}
        bits = self.play.shape[1].bit_length() - 1
        save_tensors(path, tables, {"learner": LEARNER, "bits": bits, "temperature": self.temperature})

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return draw(self.probabilities(views), uniforms(self._seed, views))

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        return card_chances(views, self._discard_chances, self._rank_chances)

    def _discard_chances(self, views: PlayerViews) -> np.ndarray:
        six, values = six_dealt(views), np.empty((len(views), N_DISCARDS))
        _fill_values(six, views.is_dealer, self.discards.numpy(), no_discards(), values)
        values[~pairs_open(views, six)] = -np.inf
        return chances_of_pairs(views, six[:, PLACES], self._chances(values / self.temperature))

    def _rank_chances(self, views: PlayerViews) -> np.ndarray:
        logits = np.full((len(views), N_RANKS), -np.inf)
        _fill_logits(views.arrays, self.play.numpy(), logits)
        return self._chances(logits)

    def _chances(self, logits: np.ndarray) -> np.ndarray:
        """Of choices, by their logits (B, n)."""
        if self.plays == "mode":
            return np.eye(logits.shape[1])[logits.argmax(axis=1)]
        return without_rare(np.exp(logits - logits.max(axis=1, keepdims=True)))


@kernel
def _fill_values(sixes, is_dealer, learned, discards, values):
    for b in range(len(values)):
        fill_discards(mask_of(sixes[b]), discards)
        fill_values(discards, np.int64(is_dealer[b]), learned, values[b])


@kernel
def _fill_logits(views, play, out):
    last_bucket, buckets = np.uint64(play.shape[1] - 1), np.empty(N_TABLES, np.int64)
    cards = np.empty(BUCKET, np.int64)
    for b in range(len(out)):
        hand, legal, n_laid = mask_of(views.hand[b]), np.int64(0), np.int64(views.n_laid[b])
        for card in range(N_ACTIONS):
            if views.action_mask[b, card]:
                legal |= bit(card)
        theirs = np.int64(views.opponent_cards[b])
        pile = Pile(n_laid, np.int64(views.pile_start[b]), np.int64(views.count[b]), theirs)
        fill_buckets(ranks_held(hand), views.laid[b], views.laid_by[b], 0, pile, last_bucket, buckets)
        for k in range(fill_legal_cards(legal, cards)):
            rank = cards[k] % N_RANKS
            out[b, rank] = 0
            if k != SEEN:
                for table in range(N_TABLES):
                    out[b, rank] += play[table, buckets[table], LOGIT, k]
