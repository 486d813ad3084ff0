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

``dtype``, ``mask``, ``illegal`` and ``render_mode``, as in :mod:`crib_env.aec`. The native vector environment takes
all but ``render_mode``; its only autoreset mode is ``NEXT_STEP``.

## Version history

* v0: first version.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.cards import format_card, format_cards, name_card, read_card
from crib_env.engine import GAME, shuffle
from crib_env.kernels import kernel, streams
from crib_env.observation import DTYPES, N_ACTIONS, CardSpace, observation_space
from crib_env.options import RENDER_MODES, Options, SetByReset, Start, check_names, check_options
from crib_env.picture.drawing import FPS, Renderer, Sheet, draw_discard_game
from crib_env.picture.seen import HIDDEN
from crib_env.scoring import score_show_many
from crib_env.vector.environments import read_seeds

OPTIONS = ("dtype", "mask", "illegal", "render_mode")


@kernel
def _deal(games, rows):
    for i in rows:
        shuffle(games[i])


class DiscardGames(VectorEnv[Any, Any, Any]):
    """N discard games at once. Game i of a vector seeded with s equals the single game seeded with s + i."""

    _held: Any = SetByReset()

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        check_names(options, OPTIONS[:-1])
        check_options({"num_envs": num_envs})
        # No hand scores below 0, so -1 is worse than every hand.
        self.num_envs, self._options = int(num_envs), Options.read({"illegal": "end", "reward": "win", **options})
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self._dtype, self._mask_dtype = DTYPES[self._options.dtype]
        self.single_observation_space = observation_space(N_ACTIONS, self._options.dtype, self._options.mask)
        self.single_action_space = CardSpace()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.deals = np.zeros(self.num_envs, GAME)  # only their streams and their cards are used
        self.deals["deal_stream"] = streams(None, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deals six cards and a hidden starter in every game; ``options`` may have none."""
        Start.read(options, allowed=())
        is_seeded, states = read_seeds(seed, self.num_envs)
        self.deals["deal_stream"][is_seeded] = states[is_seeded]
        self._held, nobody = np.zeros((self.num_envs, N_ACTIONS), np.bool_), np.zeros(self.num_envs, np.bool_)
        return self._show(nobody, nobody, np.arange(self.num_envs))

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Discards a card in every game; ``actions`` (N,) are card ids. A game that ended at the step before begins anew.

        Raises:
            TypeError: the actions are not integers; no game has changed.
            ValueError: there is not one action for each game, or, with ``illegal="raise"``, one is not a legal card.
        """
        held, begins, cards, rewards = self._held, self._over, np.asarray(actions), np.zeros(self.num_envs)
        if cards.dtype.kind not in "iu":
            raise TypeError(f"actions must be integers, not {actions!r}")
        if cards.shape != begins.shape:
            raise ValueError(f"actions must be {self.num_envs} integers, one a game, not {actions!r}")
        rows, inside = np.arange(self.num_envs), np.clip(cards, 0, N_ACTIONS - 1)
        illegal = ~begins & ((inside != cards) | ~held[rows, inside])
        if self._options.illegal == "raise" and illegal.any():
            i = int(illegal.argmax())
            allowed, where = format_cards(held[i].nonzero()[0].tolist()), f"game {i}: " if self.num_envs > 1 else ""
            raise ValueError(f"{where}{name_card(cards[i])} is not a legal action: give the id of one of {allowed}")
        held[rows, inside] &= begins | illegal
        ends = ~begins & ~illegal & (held.sum(axis=1) == 4)
        rewards[illegal] = self._options.penalty
        rewards[ends] = score_show_many(held[ends].nonzero()[1].reshape(-1, 4), self.deals["cards"][ends, 12])
        observation, infos = self._show(ends | illegal, illegal, begins.nonzero()[0])
        return observation, rewards, self._over.copy(), np.zeros(self.num_envs, np.bool_), infos

    def _show(self, over: np.ndarray, illegal: np.ndarray, begins: np.ndarray) -> tuple[Any, dict[str, Any]]:
        """Deals the games that begin; the observations and infos of all."""
        _deal(self.deals, begins)
        self._held[begins] = False
        self._held[begins[:, None], self.deals["cards"][begins, :6]] = True
        self._over, mask = over, (self._held | over[:, None]).astype(self._mask_dtype)
        starter = np.where(over, self.deals["cards"][:, 12], np.int8(-1))
        infos = {"action_mask": mask, "starter": starter, "illegal_action": illegal.copy()}
        hand = self._held.astype(self._dtype)
        observation = hand if self._options.mask == "info" else {"observation": hand, "action_mask": mask.copy()}
        return observation, infos | {f"_{key}": np.ones(self.num_envs, np.bool_) for key in infos}


class DiscardGame(gymnasium.Env[Any, Any]):
    """The discard game; its options are those of the module."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}
    _info: Any = SetByReset()

    def __init__(self, **options: Any) -> None:
        check_names(options, OPTIONS)
        check_options(options)
        self.render_mode = options.pop("render_mode", None)
        self._renderer = Renderer(self.render_mode)
        self._games = DiscardGames(**options)
        self.observation_space = self._games.single_observation_space
        self.action_space = self._games.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deals six cards and a hidden starter; ``options`` may have none."""
        super().reset(seed=seed)
        return self._seen(*self._games.reset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Discards a card; errors are those of :meth:`crib_env.aec.raw_env.step`."""
        if self._info["starter"] >= 0:
            raise RuntimeError("the episode is over: call reset()")
        seen, (reward,), (is_over,), _, infos = self._games.step([read_card(action)])
        observation, info = self._seen(seen, infos)
        return observation, float(reward), bool(is_over), False, info

    def action_masks(self) -> np.ndarray:
        """(52,) bool, the cards that can be discarded. sb3-contrib's MaskablePPO calls a method of this name."""
        return np.array(self._info["action_mask"], np.bool_)

    def render(self) -> str | np.ndarray | None:
        """The hand, and the starter once it is cut, in the form of the ``render_mode`` (see :mod:`crib_env.aec`).

        A picture is (440, 960, 3) uint8.
        """
        starter = int(self._info["starter"])
        text = f"  starter  {format_card(starter) if starter >= 0 else '-'}\n  hand     {format_cards(self._hand)}"
        return self._renderer.render(lambda: text, self._draw)

    def _draw(self) -> Sheet:
        discards = [card for card in self._games.deals["cards"][0, :6].tolist() if card not in self._hand]
        hides = self._info["starter"] < 0 or self._info["illegal_action"]
        return draw_discard_game(self._hand, discards, HIDDEN if hides else int(self._info["starter"]))

    def close(self) -> None:
        """Ends the episode, and closes the window, if there is one. ``reset`` starts anew."""
        vars(self).pop("_info", None)
        self._renderer.close()

    def _seen(self, observation: Any, infos: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Observation and infos of the game, which is that of a vector of one."""
        hands = observation if isinstance(observation, np.ndarray) else observation["observation"]
        self._hand = hands[0].nonzero()[0].tolist()
        mask, starter, illegal = (infos[key][0] for key in ("action_mask", "starter", "illegal_action"))
        self._info = {"action_mask": mask, "starter": starter, "illegal_action": np.array(illegal)}
        if self.render_mode == "human":
            self.render()
        if hands is observation:
            return hands[0], dict(self._info)
        return {key: value[0] for key, value in observation.items()}, dict(self._info)
