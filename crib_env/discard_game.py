"""# The discard game

O'Connor's discard game for one player (2000, section 2), as ``crib_env/CribbageDiscard-v0``.

Six cards are dealt, two are discarded one after the other, and the four that are kept score with a random starter.

| specification     |                                                                                        |
|-------------------|----------------------------------------------------------------------------------------|
| Action space      | ``Discrete(52)``: the id of a card in the hand, ``13 * suit + rank`` (suits C D H S, ranks A … K) |
| Observation space | ``Dict(observation=Box(0, 1, (52,), int8), action_mask=Box(0, 1, (52,), int8))``: both arrays mark the cards still in the hand by their ids; with ``mask="info"`` the bare Box |
| Reward            | 0 for the first card, then the points of the four with the starter                      |
| Episode end       | after the second card                                                                   |
| Infos             | ``action_mask``, all ones when the episode is over; ``starter``, the card's id once it is cut, -1 before; ``illegal_action``, whether an illegal card has ended the episode |

An illegal card ends the episode with -1, which is below the score of any hand. With
``illegal="raise"`` it raises ``ValueError`` instead. Over all deals, the best play without knowledge of the starter
scores 8.29 points on average (O'Connor measured 8.1 over 20,000 hands, and 4.7 for random play).

## Options

``dtype``, ``mask``, ``illegal`` and ``render_mode``, as in :mod:`crib_env.aec`.

## Version history

* v0: first version.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from crib_env.cards import format_card, format_cards, name_card, read_card
from crib_env.engine import GAME, shuffle
from crib_env.kernels import kernel, streams
from crib_env.observation import DTYPES, N_ACTIONS, CardSpace, observation_space
from crib_env.options import RENDER_MODES, Options, SetByReset, Start, check_names
from crib_env.picture.drawing import FPS, Renderer, Sheet, draw_discard_game
from crib_env.picture.seen import HIDDEN
from crib_env.scoring import show_points

OPTIONS = ("dtype", "mask", "illegal", "render_mode")


@kernel
def _shuffle(games):
    shuffle(games[0])


class DiscardGame(gymnasium.Env[Any, Any]):
    """The discard game; its options are those of the module."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}
    _hand: Any = SetByReset()

    def __init__(self, **options: Any) -> None:
        check_names(options, OPTIONS)
        # No hand scores below 0, so -1 is worse than every hand.
        self.options = Options.read({"illegal": "end", "reward": "win", **options})
        self._mask_in_info = self.options.mask == "info"
        self.render_mode = self.options.render_mode
        self._renderer = Renderer(self.render_mode)
        self._dtype, self._mask_dtype = DTYPES[self.options.dtype]
        self.observation_space = observation_space(N_ACTIONS, self.options.dtype, self.options.mask)
        self.action_space = CardSpace()
        self._deal = np.zeros(1, GAME)  # only its stream and its cards are used
        self._deal["deal_stream"] = streams(None, 1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deals six cards and a hidden starter; ``options`` may have none."""
        Start.read(options, allowed=())
        super().reset(seed=seed)
        if seed is not None:
            self._deal["deal_stream"] = streams(seed, 1)
        _shuffle(self._deal)
        self._hand = sorted(self._deal["cards"][0, :6].tolist())
        self._starter = int(self._deal["cards"][0, 12])
        self._is_over = self._was_illegal = False
        if self.render_mode == "human":
            self.render()
        return self._observe()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Discards a card; errors are those of :meth:`crib_env.aec.raw_env.step`."""
        hand = self._hand
        if self._is_over:
            raise RuntimeError("the episode is over: call reset()")
        reward, card = 0.0, read_card(action)
        if card in hand:
            hand.remove(card)
            self._is_over = len(hand) == 4
            if self._is_over:
                reward = float(show_points(sum(1 << card for card in hand), self._starter, False))
        elif self.options.illegal == "raise":
            raise ValueError(f"{name_card(card)} is not a legal action: give the id of one of {format_cards(hand)}")
        else:
            self._is_over = self._was_illegal = True
            reward = self.options.penalty
        observation, info = self._observe()
        if self.render_mode == "human":
            self.render()
        return observation, reward, self._is_over, False, info

    def action_masks(self) -> np.ndarray:
        """(52,) bool, the cards that can be discarded. sb3-contrib's MaskablePPO calls a method of this name."""
        return self._observe()[1]["action_mask"].astype(bool)

    def render(self) -> str | np.ndarray | None:
        """The hand, and the starter once it is cut, in the form of the ``render_mode`` (see :mod:`crib_env.aec`).

        A picture is (440, 960, 3) uint8.
        """
        starter = format_card(self._starter) if self._is_over else "-"
        text = f"  starter  {starter}\n  hand     {format_cards(self._hand)}"
        return self._renderer.render(lambda: text, self._draw)

    def _draw(self) -> Sheet:
        discards = [card for card in self._deal["cards"][0, :6].tolist() if card not in self._hand]
        is_cut = self._is_over and not self._was_illegal
        return draw_discard_game(self._hand, discards, self._starter if is_cut else HIDDEN)

    def close(self) -> None:
        """Ends the episode, and closes the window, if there is one. ``reset`` starts anew."""
        vars(self).pop("_hand", None)
        self._renderer.close()

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        hand, mask = np.zeros(N_ACTIONS, self._dtype), np.zeros(N_ACTIONS, self._mask_dtype)
        hand[self._hand] = 1
        mask[slice(None) if self._is_over else self._hand] = 1
        info = {
            "action_mask": mask,
            "starter": np.int8(self._starter if self._is_over else -1),
            "illegal_action": np.array(self._was_illegal),
        }
        return hand if self._mask_in_info else {"observation": hand, "action_mask": mask.copy()}, info
