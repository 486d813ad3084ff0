"""O'Connor's discard game for one player (2000, section 2), as ``crib_env/CribbageDiscard-v0``.

Six cards are dealt, two are thrown one after the other, and the four that are kept score with a random starter.

| specification     |                                                                                        |
|-------------------|----------------------------------------------------------------------------------------|
| Action space      | ``Discrete(52)``: the id of a card in the hand                                           |
| Observation space | ``Dict(observation=Box(0, 1, (52,), int8), action_mask=Box(0, 1, (52,), int8))``: the cards still in the hand, twice; with ``mask="info"`` the bare Box |
| Reward            | 0 for the first card, then the points of the four with the starter                      |
| Episode end       | after the second card                                                                   |
| Infos             | ``action_mask``; at the end also ``starter`` (card id)                                   |

An illegal action ends the episode with -1 and ``info["illegal_action"]``. The mean over all deals is 8.29 for the best
play without sight of the starter (O'Connor measured 8.1 over 20,000 hands, and 4.7 for random play).
"""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from crib_env.cards import format_card, format_cards
from crib_env.engine import GAME, shuffle
from crib_env.kernels import kernel, streams
from crib_env.observation import N_ACTIONS
from crib_env.options import Options
from crib_env.scoring import show_points


@kernel
def _shuffle(games):
    shuffle(games[0])


class DiscardGame(gymnasium.Env[Any, Any]):
    """The discard game; options are ``mask`` and ``render_mode`` as in :mod:`crib_env.aec`.

    Raises:
        ValueError: an option has a value that is not allowed; the message names it.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi"], "render_fps": 1}

    def __init__(self, *, mask: str = "observation", render_mode: str | None = None) -> None:
        self._mask_in_info = Options(mask=mask, render_mode=render_mode).mask == "info"
        self.render_mode = render_mode
        cards = spaces.Box(0, 1, (N_ACTIONS,), np.int8)
        self.observation_space: spaces.Space[Any] = cards
        if not self._mask_in_info:
            self.observation_space = spaces.Dict(observation=cards, action_mask=spaces.Box(0, 1, (N_ACTIONS,), np.int8))
        self.action_space = spaces.Discrete(N_ACTIONS)
        self._deal = np.zeros(1, GAME)  # only its stream and its cards are used
        self._deal["deck"] = streams(None, 1)
        self._hand: list[int] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deals six cards and a hidden starter. There are no ``options``."""
        super().reset(seed=seed)
        if seed is not None:
            self._deal["deck"] = streams(seed, 1)
        _shuffle(self._deal)
        self._hand = sorted(self._deal["cards"][0, :6].tolist())
        self._starter = int(self._deal["cards"][0, 12])
        self._is_over = False
        if self.render_mode == "human":
            self.render()
        return self._observe()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Throws a card.

        Raises:
            RuntimeError: the episode is over, or has not begun.
        """
        if not self._hand or self._is_over:
            raise RuntimeError("there is nothing to throw: call reset()")
        reward = 0.0
        try:
            card = -1 if isinstance(action, bool) else operator.index(action)
        except TypeError:
            card = -1
        is_legal = card in self._hand
        if is_legal:
            self._hand.remove(card)
            self._is_over = len(self._hand) == 4
            if self._is_over:
                reward = float(show_points(sum(1 << card for card in self._hand), self._starter, False))
        else:
            self._is_over, reward = True, -1.0
        observation, info = self._observe()
        if not is_legal:
            info["illegal_action"] = f"{action!r} is not legal: give the id of one of {format_cards(self._hand)}"
        if self.render_mode == "human":
            self.render()
        return observation, reward, self._is_over, False, info

    def action_masks(self) -> np.ndarray:
        """(52,) bool, the cards that can be thrown, under the name that sb3-contrib's MaskablePPO asks for."""
        return self._legal().astype(bool)

    def render(self) -> str | None:
        """The hand, and the starter once it is cut: returned in mode ``"ansi"``, printed in mode ``"human"``."""
        if self.render_mode is None:
            raise ValueError("render() needs a render_mode: make the environment with render_mode='ansi' or 'human'")
        starter = format_card(self._starter) if self._is_over else "-"
        table = f"  starter  {starter}\n  hand     {format_cards(self._hand)}"
        if self.render_mode == "ansi":
            return table
        print(table)
        return None

    def _bits(self) -> np.ndarray:
        bits = np.zeros(N_ACTIONS, np.int8)
        bits[self._hand] = 1
        return bits

    def _legal(self) -> np.ndarray:
        return np.zeros(N_ACTIONS, np.int8) if self._is_over else self._bits()

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        info: dict[str, Any] = {"action_mask": self._legal()}
        if self._is_over:
            info["starter"] = self._starter
        return self._bits() if self._mask_in_info else {"observation": self._bits(), "action_mask": self._legal()}, info
