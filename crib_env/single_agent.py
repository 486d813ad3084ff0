"""One player against an opponent, as Gymnasium environments: ``crib_env/Cribbage-v0`` and ``crib_env/CribbagePlay-v0``.

Observation, action, reward, options, infos and episode ends are those of the PettingZoo environment
(:mod:`crib_env.aec`), seen from one seat; ``CribbagePlay-v0`` has ``episode="play"``. What differs:

* ``opponent`` plays the other seat: ``"random"`` (default), ``"greedy"`` or any object with an agent's ``act(views)``.
* ``seat`` is 0, 1 or ``"alternate"`` (default: seat 0 in the first episode after a seeded reset, then 1, then 0 …).
* The reward of a step covers everything since this player's last card, the opponent's answers included.
* ``info["action_mask"]`` is there wherever else the mask stands, and ``info["seat"]`` says which player this is.
* An illegal action ends the episode with -1 and ``info["illegal_action"]``.
"""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import numpy as np

from crib_env.aec import PLAYERS, CheckedCribbage
from crib_env.options import RENDER_MODES, Options
from crib_env.policies import NATIVE, choose
from crib_env.render import draw_table


class SingleAgentCribbage(gymnasium.Env[Any, Any]):
    """Cribbage against an opponent; see the module's docstring.

    Raises:
        ValueError: an option has a value that is not allowed; the message names it.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    def __init__(
        self, *, opponent: Any = "random", seat: Literal[0, 1, "alternate"] = "alternate", **options: Any
    ) -> None:
        if not (opponent in NATIVE if isinstance(opponent, str) else callable(getattr(opponent, "act", None))):
            raise ValueError(
                f"opponent={opponent!r} is not allowed: give one of {', '.join(map(repr, NATIVE))} or an object with "
                "act(views)"
            )
        if isinstance(seat, bool) or seat not in (0, 1, "alternate"):
            raise ValueError(f"seat={seat!r} is not allowed: give 0, 1 or 'alternate'")
        self._opponent = opponent
        self._seat_option = seat
        self._seat = 1 if seat == "alternate" else int(seat)
        self.render_mode = options.pop("render_mode", None)
        Options.read({"render_mode": self.render_mode})
        # The game has no render_mode: it would draw the table from the opponent's side too, and show that hand.
        self._game = CheckedCribbage(**options)
        self.observation_space = self._game.observation_space(PLAYERS[0])
        self.action_space = self._game.action_space(PLAYERS[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts the next episode; ``options`` as in :mod:`crib_env.aec`."""
        super().reset(seed=seed)
        self._game.reset(seed=seed, options=options)
        if self._seat_option == "alternate":
            self._seat = 0 if seed is not None else 1 - self._seat
        self._let_opponent_act()
        if self.render_mode == "human":
            self.render()
        return self._observe()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Throws or lays a card, lets the opponent answer, and returns when this player is to act again or it is over.

        Raises:
            RuntimeError: the episode is over.
            AttributeError: before the first ``reset``.
        """
        player = PLAYERS[self._seat]
        if self._game.terminations[player]:
            raise RuntimeError("the episode is over: call reset()")
        self._game.step(action)
        self._let_opponent_act()
        observation, info = self._observe()
        if self.render_mode == "human":
            self.render()
        return observation, self._game._cumulative_rewards[player], self._game.terminations[player], False, info

    def action_masks(self) -> np.ndarray:
        """(52,) bool, the legal cards now, under the name that sb3-contrib's MaskablePPO asks for."""
        return self._observe()[1]["action_mask"].astype(bool)

    def render(self) -> str | None:
        """The table as this player sees it: returned in mode ``"ansi"``, printed in mode ``"human"``."""
        if self.render_mode is None:
            raise ValueError("render() needs a render_mode: make the environment with render_mode='ansi' or 'human'")
        table = draw_table(self._game._games[0], self._seat)
        if self.render_mode == "ansi":
            return table
        print(table)
        return None

    def _let_opponent_act(self) -> None:
        other = PLAYERS[1 - self._seat]
        while self._game.agent_selection == other and not self._game.terminations[other]:
            if isinstance(self._opponent, str):
                card = choose(self._game._games, NATIVE.index(self._opponent))
            else:
                card = self._opponent.act(self._game.views(other))[0]
            self._game.step(card)

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        player = PLAYERS[self._seat]
        observation = self._game.observe(player)
        info = {**self._game.infos[player], "seat": self._seat}
        if isinstance(observation, dict):
            info["action_mask"] = observation["action_mask"].copy()
        return observation, info
