"""The inputs of a Q-network in one of three codings, and the known immediate gain of each card."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

import numpy as np

from crib_env.agents.features import by_rank
from crib_env.agents.features.play import N_PLAY_FEATURES, play_features
from crib_env.agents.features.suits import original, relabel, relabelled
from crib_env.observation import N_BITS, OBSERVATIONS

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


def n_inputs(coding: Coding, observation: str) -> int:
    """Length of :attr:`Seen.inputs` of the observation ``"209"`` or ``"board"``."""
    if coding == "ranks":
        return by_rank.N_INPUTS + OBSERVATIONS[observation].size - N_BITS
    return OBSERVATIONS[observation].size + cast(int, N_PLAY_FEATURES) * (coding == "play")


def seen_suits(coding: Coding, observation: str) -> str:
    """What a network's choice of a rank to lay depends on, see :class:`crib_env.players.agent.Agent`.

    The board observation names the cards of the play and of own discards, also where the rest is coded by rank.
    """
    return "unseen" if coding == "ranks" and observation == "209" else "all"


def columns(coding: Coding, observation: str, network: str) -> slice:
    """Those inputs that a network uses, ``"discard"``, ``"play"`` or ``"all"``."""
    if coding == "ranks" and observation == "209" and network != "all":
        return by_rank.OF_DISCARDS if network == "discard" else by_rank.OF_THE_PLAY
    return slice(None)
