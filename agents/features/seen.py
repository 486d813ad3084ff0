"""The inputs of a Q-network in one of three codings, and the known immediate gain of each card.

Suits are interchangeable: each position stands for up to 24 that differ only in the names of suits. With suits
relabelled into one canonical order they become one position, which a network learns only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, get_args

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.features.play import N_PLAY_FEATURES, OF_DISCARDS, OF_THE_PLAY, inputs_and_gains, play_features
from crib_env.kernels import kernel
from crib_env.observation import HAND, KNOWN, N_BITS, OPPONENT_LAID, OWN_DISCARDS, STARTER, observation_named
from crib_env.players.agent import Suits
from crib_env.ranks import N_INPUTS

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


def original(cards: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Cards (B,) under relabelled suits back under their own."""
    return 13 * order[np.arange(len(cards)), cards // 13] + cards % 13


def relabelled(cards: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Cards (B,) as they are called under the order."""
    return 13 * (order == (cards // 13)[:, None]).argmax(axis=1) + cards % 13


Coding = Literal["bits", "play", "ranks"]
"""``"bits"`` is the observation with suits relabelled; ``"play"`` adds
:func:`crib_env.agents.features.play.play_features`; ``"ranks"`` is
:func:`crib_env.agents.features.play.inputs_and_gains`, with the bits of a board observation beyond the 209."""


class Seen(NamedTuple):
    """B decisions, in one coding."""

    inputs: np.ndarray  # (B, n) int8
    gains: np.ndarray  # (B, 52) float32, what a card is known to gain at once, 0 if not coded; -inf if it is not legal
    order: np.ndarray | None  # (B, 4), new to old suit; None if suits are not relabelled

    @classmethod
    def of(cls, coding: Coding, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> Seen:
        """Codes decisions.

        Args:
            observation: (B, 209 or 659) int8.
            masks: (B, 52) int8, legal cards.
            is_discard: (B,) bool.
        """
        if coding == "ranks":
            inputs, gains = inputs_and_gains(observation, masks, is_discard)
            if observation.shape[1] > N_BITS:
                inputs = np.concatenate([inputs, observation[:, N_BITS:]], axis=1)
            return cls(inputs, gains, None)
        observation, masks, order = relabel(observation, masks)
        if coding == "play":
            observation = np.concatenate([observation, play_features(observation).astype(np.int8)], axis=1)
        return cls(observation, np.where(masks != 0, np.float32(0), np.float32(-np.inf)), order)

    def named(self, cards: np.ndarray) -> np.ndarray:
        """Cards (B,) with the suits relabelled as in the inputs."""
        return cards if self.order is None else relabelled(cards, self.order)

    def original(self, cards: np.ndarray) -> np.ndarray:
        """The original cards (B,) for cards with suits relabelled as in the inputs."""
        return cards if self.order is None else original(cards, self.order)


@dataclass(frozen=True)
class Inputs:
    """What a Q-network sees: an observation, in a coding.

    Raises:
        ValueError: there is no observation of this name, or it has not the 209 bits from which the coding is computed.
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
        if self.coding == "ranks":
            return cast(int, N_INPUTS) + size - N_BITS
        return size + cast(int, N_PLAY_FEATURES) * (self.coding == "play")

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

    def read(self, views: PlayerViews) -> np.ndarray:
        """The observation (B, n) of views."""
        return observation_named(self.observation).view(views)

    def see(self, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> Seen:
        """Decisions, (B, n), (B, 52) and (B,), as the network sees them."""
        if not observation_named(self.observation).has_bits:
            return Seen(observation, np.where(masks != 0, np.float32(0), np.float32(-np.inf)), None)
        return Seen.of(self.coding, observation, masks, is_discard)
