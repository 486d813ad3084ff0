"""The inputs of a Q-network in one of three codings, and the known immediate gain of each card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, get_args

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.features import by_rank
from crib_env.agents.features.play import N_PLAY_FEATURES, play_features
from crib_env.agents.features.suits import original, relabel, relabelled
from crib_env.observation import N_BITS, observation_named
from crib_env.players.agent import Suits
from crib_env.ranks import N_INPUTS

Coding = Literal["bits", "play", "ranks"]
"""``"bits"`` is the observation with suits relabelled; ``"play"`` adds
:func:`crib_env.agents.features.play.play_features`; ``"ranks"`` is :mod:`crib_env.agents.features.by_rank`, with
the bits of a board observation that are not among the 209."""


class Seen(NamedTuple):
    """B decisions, in one coding."""

    inputs: np.ndarray  # (B, n) int8
    gains: np.ndarray  # (B, 52) float32, what a card is known to gain at once, 0 if not coded; -inf if it is not legal
    order: np.ndarray | None  # (B, 4), new to old suit; None if suits are not relabelled

    @classmethod
    def of(cls, coding: Coding, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> Seen:
        """Codes decisions.

        Args:
            coding: see ``Coding``.
            observation: (B, 209 or 659) int8.
            masks: (B, 52) int8, legal cards.
            is_discard: (B,) bool.
        """
        if coding == "ranks":
            inputs, gains = by_rank.inputs_and_gains(observation, masks, is_discard)
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
            return by_rank.OF_DISCARDS if network == "discard" else by_rank.OF_THE_PLAY
        return slice(None)

    def read(self, views: PlayerViews) -> np.ndarray:
        """The observation (B, n) of views."""
        return observation_named(self.observation).view(views)

    def see(self, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> Seen:
        """Decisions, (B, n), (B, 52) and (B,), as the network sees them."""
        if not observation_named(self.observation).has_bits:
            return Seen(observation, np.where(masks != 0, np.float32(0), np.float32(-np.inf)), None)
        return Seen.of(self.coding, observation, masks, is_discard)
