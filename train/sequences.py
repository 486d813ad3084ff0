"""Sequences for a recurrent learner: consecutive decisions of one player, cut to one length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.observation import N_ACTIONS
from crib_env.train.experience import Columns, Decisions


@dataclass(frozen=True)
class Sequences(Columns):
    """M sequences of L = burn-in + length + 1 decisions; no card is legal where there is none.

    The learner trains on the ``length`` decisions after the burn-in. The decisions of the burn-in only warm up the
    LSTM; there are none at the start of a chain of decisions. The last decision is the successor of the one before, if
    the chain goes on.
    """

    inputs: np.ndarray  # (M, L, n) int8
    gains: np.ndarray  # (M, L, 52) float32, -inf for a card that is not legal
    card: np.ndarray  # (M, L) int64
    reward: np.ndarray  # (M, L) float32, up to the next decision
    discount: np.ndarray  # (M, L) float32, factor of the next decision's value, 0 where there is none
    is_discard: np.ndarray  # (M, L) bool

    @classmethod
    def zeros(cls, n: int, length: int, n_inputs: int) -> Sequences:
        """``n`` pieces of zeros, of ``length`` decisions in all."""
        shape = n, length
        return cls(
            np.zeros((*shape, n_inputs), np.int8),
            np.zeros((*shape, N_ACTIONS), np.float32),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.bool_),
        )


def sequences_of(
    decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, burn_in: int, length: int, gamma: float
) -> Sequences:
    """Cuts the decisions into sequences, so that each is learned from in exactly one of them.

    Args:
        rewards, ends: (D,), from :func:`crib_env.train.experience.rewards_of`.
        burn_in: decisions before each sequence, at most ``length``.
        length: decisions to learn from in a sequence.
    """
    n = len(rewards)
    begins = np.append(True, ends[:-1])
    place = np.arange(n) - np.flatnonzero(begins)[np.cumsum(begins) - 1]  # in the chain
    first = np.flatnonzero(place % length == 0)
    at = first[:, None] + np.arange(-burn_in, length + 1)
    inside = (at >= 0) & (at < n)
    at = at.clip(0, n - 1)
    inside &= decisions.chain[at] == decisions.chain[first][:, None]
    every = Sequences(
        decisions.inputs,
        decisions.gains,
        decisions.card,
        rewards.astype(np.float32),
        np.where(ends, 0.0, gamma).astype(np.float32),
        decisions.is_discard,
    )
    pieces = every[at]
    for column in vars(pieces).values():
        column[~inside] = 0
    pieces.gains[~inside] = -np.inf
    return pieces
