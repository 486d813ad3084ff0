"""What a recurrent learner samples: decisions of one player as they followed each other, in pieces of one length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.suits import relabel, relabelled
from crib_env.observation import N_ACTIONS
from train.episodes import Decisions
from train.replay import Columns


@dataclass(frozen=True)
class Sequences(Columns):
    """M pieces of L = burn-in + length + 1 decisions; where there is none, the mask is all zeros.

    The values of the ``length`` decisions after the burn-in are to be learned. Those of the burn-in, which are missing
    where a chain of decisions begins, only bring the memory up to date, and the last one is what the one before leads
    to, where the chain goes on.
    """

    observation: np.ndarray  # (M, L, n) int8
    mask: np.ndarray  # (M, L, 52) int8
    card: np.ndarray  # (M, L) int64
    reward: np.ndarray  # (M, L) float32, up to the next decision
    discount: np.ndarray  # (M, L) float32, what the value of the next decision counts, 0 where there is none
    is_discard: np.ndarray  # (M, L) bool

    @classmethod
    def empty(cls, n: int, length: int, n_inputs: int) -> Sequences:
        """``n`` pieces of zeros, of ``length`` decisions in all."""
        shape = n, length
        return cls(
            np.zeros((*shape, n_inputs), np.int8),
            np.zeros((*shape, N_ACTIONS), np.int8),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.bool_),
        )


def sequences_of(
    decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, burn_in: int, length: int, gamma: float
) -> Sequences:
    """The decisions in pieces, so that each is to be learned in one of them.

    Args:
        decisions: D of them.
        rewards: and ``ends``, as :func:`train.ddqn.rewards_of` gives them, (D,).
        burn_in: decisions before each piece, at most ``length``.
        length: decisions to be learned in a piece.
        gamma: discount for each decision.
    """
    n = len(rewards)
    begins = np.append(True, ends[:-1])
    place = np.arange(n) - np.flatnonzero(begins)[np.cumsum(begins) - 1]  # in the chain
    first = np.flatnonzero(place % length == 0)
    at = first[:, None] + np.arange(-burn_in, length + 1)
    inside = (at >= 0) & (at < n)
    at = at.clip(0, n - 1)
    inside &= decisions.chain[at] == decisions.chain[first][:, None]
    observation, mask, order = relabel(decisions.observation, decisions.mask)
    every = Sequences(
        observation,
        mask,
        relabelled(decisions.card, order),
        rewards.astype(np.float32),
        np.where(ends, 0.0, gamma).astype(np.float32),
        decisions.is_discard,
    )
    pieces = every[at]
    for column in vars(pieces).values():
        column[~inside] = 0
    return pieces
