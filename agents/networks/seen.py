"""The inputs of a network, and the known immediate gain of each card.

Suits are interchangeable: each position stands for up to 24 that differ only in the names of suits. With suits
relabelled into one canonical order they become one position, which a network learns only once. The inputs by rank
(:mod:`crib_env.ranks`) have no suits, and come with what each card is known to gain: a network that adds its values to
the gains only has to learn what comes after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, get_args

import numpy as np

from crib_env import PlayerViews
from crib_env.batch import GameBatch
from crib_env.kernels import kernel
from crib_env.observation import HAND, KNOWN, N_BITS, OPPONENT_LAID, OWN_DISCARDS, STARTER, observation_named
from crib_env.players.agent import Suits
from crib_env.ranks import IS_DEALER, LAID, N_INPUTS, SHORT

# The network of discards sees the first of the inputs by rank, that of the play the others.
OF_DISCARDS, OF_THE_PLAY = slice(SHORT, LAID), slice(IS_DEALER, N_INPUTS)
# Where an observation has 52 bits, one for each card: in the 209 bits, and in the board observation beyond them.
_BLOCKS = np.array([HAND, KNOWN, OWN_DISCARDS, OPPONENT_LAID, STARTER])


@kernel
def _relabel(observation, masks, out, out_masks, order):
    keys = np.empty(4, np.int64)
    for b in range(len(observation)):
        for suit in range(4):
            key = np.int64(0)
            for rank in range(13):  # cards held weigh most, then those known
                key += np.int64(observation[b, HAND + 13 * suit + rank]) << (13 + rank)
                key += np.int64(observation[b, KNOWN + 13 * suit + rank]) << rank
            keys[suit] = key
            order[b, suit] = suit
        for i in range(1, 4):  # insertion sort: the highest key first
            k = i
            while k and keys[order[b, k]] > keys[order[b, k - 1]]:
                order[b, k], order[b, k - 1] = order[b, k - 1], order[b, k]
                k -= 1
        out[b] = observation[b]
        for new in range(4):
            old = order[b, new]
            for block in _BLOCKS:
                if block < observation.shape[1]:
                    for rank in range(13):
                        out[b, block + 13 * new + rank] = observation[b, block + 13 * old + rank]
            for rank in range(13):
                out_masks[b, 13 * new + rank] = masks[b, 13 * old + rank]


def relabel(observation: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations (B, n) and masks (B, 52) with suits in the fixed order, and that order (B, 4): new to old suit."""
    out, out_masks = np.empty_like(observation), np.empty_like(masks)
    order = np.empty((len(observation), 4), np.int64)
    _relabel(observation, masks, out, out_masks, order)
    return out, out_masks, order


Coding = Literal["bits", "ranks"]
"""``"bits"`` is the observation with suits relabelled; ``"ranks"`` is the inputs by rank, with the bits of a board
observation beyond the 209."""


class Seen(NamedTuple):
    """B decisions, in one coding."""

    inputs: np.ndarray  # (B, n) int8
    gains: np.ndarray  # (B, 52) float32, what a card is known to gain at once, 0 if not coded; -inf if it is not legal
    order: np.ndarray | None = None  # (B, 4), new to old suit; None if suits are not relabelled

    @classmethod
    def as_it_is(cls, observation: np.ndarray, masks: np.ndarray) -> Seen:
        """An observation (B, n) as it is, with masks (B, 52)."""
        return cls(observation, np.where(masks != 0, np.float32(0), np.float32(-np.inf)))

    def at(self, rows: np.ndarray) -> Seen:
        """Some of the decisions, by index array."""
        return Seen(self.inputs[rows], self.gains[rows], None if self.order is None else self.order[rows])

    @property
    def legal(self) -> np.ndarray:
        """(B, 52) bool, legal cards by their own suits."""
        legal = self.gains > -np.inf
        return legal if self.order is None else in_own_suits(legal, self.order)

    def named(self, cards: np.ndarray) -> np.ndarray:
        """Cards (B,) with the suits relabelled as in the inputs."""
        if self.order is None:
            return cards
        return 13 * (self.order == (cards // 13)[:, None]).argmax(axis=1) + cards % 13

    def original(self, cards: np.ndarray) -> np.ndarray:
        """The original cards (B,) for cards with suits relabelled as in the inputs."""
        if self.order is None:
            return cards
        return 13 * self.order[np.arange(len(cards)), cards // 13] + cards % 13


def in_own_suits(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Values (B, 52) of cards under relabelled suits, by the cards' own suits."""
    out, cards = np.empty_like(values), (13 * order[:, :, None] + np.arange(13)).reshape(values.shape)
    np.put_along_axis(out, cards, values, axis=1)
    return out


@dataclass(frozen=True)
class Inputs:
    """What a Q-network sees: an observation, in a coding.

    Raises:
        ValueError: there is no observation of this name, or it has not the 209 bits that the coding begins with.
    """

    coding: Coding
    observation: str

    def __post_init__(self) -> None:
        if self.coding not in get_args(Coding):
            raise ValueError(f"inputs={self.coding!r} is not allowed: give one of {', '.join(get_args(Coding))}")
        if not observation_named(self.observation).has_bits and self.coding != "bits":
            raise ValueError(
                f"inputs={self.coding!r} is not allowed with observation={self.observation!r}, which does not begin "
                "with the 209 bits: give 'bits', all of it"
            )

    @property
    def size(self) -> int:
        """Length of :attr:`Seen.inputs`."""
        size = observation_named(self.observation).size
        return cast(int, N_INPUTS) + size - N_BITS if self.coding == "ranks" else size

    @property
    def suits(self) -> Suits:
        """What a network's choice of a rank to lay depends on, see :class:`crib_env.Powers`.

        The board observation names the cards of the play and of own discards, also where the rest is coded by rank.
        """
        return "unseen" if self.coding == "ranks" and self.observation == "209" else "all"

    def columns(self, network: str) -> slice:
        """Those inputs that a network uses, ``"discard"``, ``"play"`` or ``"all"``."""
        if self.coding == "ranks" and self.observation == "209" and network != "all":
            return OF_DISCARDS if network == "discard" else OF_THE_PLAY
        return slice(None)

    def of_views(self, views: PlayerViews) -> Seen:
        """Decisions as the network sees them, from views."""
        if self.coding == "ranks":
            return self._by_rank(*views.ranks_and_gains, None if self.observation == "209" else views.board)
        return self._bits(views.observed(self.observation), views.action_mask)

    def of_games(self, batch: GameBatch, rows: np.ndarray) -> Seen:
        """The same of the players to act in these games (B,)."""
        if self.coding == "ranks":
            board = None if self.observation == "209" else batch.observe(rows, self.observation)[0]
            return self._by_rank(*batch.ranks_and_gains(rows), board)
        return self._bits(*batch.observe(rows, self.observation))

    def _by_rank(self, inputs: np.ndarray, gains: np.ndarray, board: np.ndarray | None) -> Seen:
        if board is not None:
            inputs = np.concatenate([inputs, board[:, N_BITS:]], axis=1)
        return Seen(inputs, gains)

    def _bits(self, observation: np.ndarray, masks: np.ndarray) -> Seen:
        if not observation_named(self.observation).has_bits:
            return Seen.as_it_is(observation, masks)
        observation, masks, order = relabel(observation, masks)
        return Seen.as_it_is(observation, masks)._replace(order=order)
