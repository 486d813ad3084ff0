"""# Cribbage against an opponent

One player against an opponent, as Gymnasium environments: ``crib_env/Cribbage-v0``, ``crib_env/CribbagePlay-v0`` and
``crib_env/CribbagePegging-v0``.

Action, observation, reward, options and episode ends are those of the PettingZoo environment (:mod:`crib_env.aec`),
seen from one seat. The differences:

* ``opponent`` plays the other seat: ``"random"`` (default), ``"greedy"``, ``"careful"``, any other agent that
  :func:`crib_env.make_agent` makes of a text, such as ``"best"`` or your own ``"module:Class"``, or any object with an
  agent's ``act(views)``. An illegal card of such an object raises ``ValueError``, which names it. The object is not
  copied: what it learns meanwhile, it plays, as self-play wants. ``env.spec.to_json()`` takes opponents of text alone.
* ``seat`` is 0, 1 or ``"alternate"`` (default: seat 0 in the first episode after a seeded reset, then 1, then 0 …).
* The reward of a step covers everything since this player's last card, including the opponent's answers.
* An illegal card ends the episode with the worst possible loss (so that a learner
  without a mask does not learn to play illegal cards), unless ``illegal="raise"``.
* When the episode is over the mask is all ones: with Gymnasium's autoreset the next action is ignored, and a mask of
  zeros would turn all logits of a learner that samples it into minus infinity.
* ``action_masks()`` is what MaskablePPO of sb3-contrib asks for.

## Infos

NumPy scalars and arrays, as TorchRL requires, with the same keys at every step:

| key                  | value                                                                   |
|----------------------|-------------------------------------------------------------------------|
| ``scores``           | (2,) int16: player_0's, player_1's                                      |
| ``dealer``           | int8, 0 or 1                                                            |
| ``seat``             | int8, 0 or 1: which player this is                                      |
| ``action_mask``      | (52,) int8, bool with ``dtype="float32"``; also if the observation holds the mask |
| ``illegal_action``   | () bool: the episode has ended because this player's card was illegal   |
| ``events``, ``illegal_reason`` | with ``events=True`` only: those of :mod:`crib_env.aec`       |

## Version history

* v0: first version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import gymnasium
import numpy as np

from crib_env.aec import PLAYERS, raw_env
from crib_env.options import OPTIONS, RENDER_MODES, OptionError, Options, check_names
from crib_env.picture.drawing import FPS, Renderer, Sheet, draw_table
from crib_env.picture.seen import see, table_lines
from crib_env.players.agent_from_text import ask_opponent, read_opponent
from crib_env.players.policies import NATIVE, choose
from crib_env.views import PlayerViews

if TYPE_CHECKING:
    from crib_env.players.agent import Agent


class SingleAgentCribbage(gymnasium.Env[Any, Any]):
    """Cribbage against an opponent; see the module's docstring."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}

    def __init__(
        self,
        *,
        opponent: Agent | str = "random",
        seat: Literal[0, 1, "alternate"] = "alternate",
        **options: Any,
    ) -> None:
        check_names(options, ("opponent", "seat", *OPTIONS))
        self.opponent = read_opponent(opponent)
        if isinstance(seat, bool) or seat not in (0, 1, "alternate"):
            raise OptionError(f"seat={seat!r} is not allowed: give 0, 1 or 'alternate'")
        self.alternates = seat == "alternate"
        self._seat = 1 if self.alternates else int(seat)
        self.options = Options.read({"illegal": "end", **options})
        self.render_mode = self.options.render_mode
        self._renderer = Renderer(self.render_mode)
        # The game has no render_mode: it would draw the table from the opponent's side too, and show that hand.
        self._game = raw_env(**{**vars(self.options), "render_mode": None})
        self.observation_space = self._game.observation_space(PLAYERS[0])
        self.action_space = self._game.action_space(PLAYERS[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts the next episode; ``options`` as in :mod:`crib_env.aec`."""
        super().reset(seed=seed)
        self._game.reset(seed=seed, options=options)
        if self.alternates:
            self._seat = 0 if seed is not None else 1 - self._seat
        self._let_opponent_act()
        if self.render_mode == "human":
            self.render()
        return self._observe()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Discards or lays a card, lets the opponent answer, and returns when this player acts again or the game ends.

        Errors are those of :meth:`crib_env.aec.raw_env.step`. An illegal card of the opponent is a ``ValueError`` too.
        """
        player = PLAYERS[self._seat]
        if self._game.terminations[player]:
            raise RuntimeError("the episode is over: call reset()")
        self._game.step(action)
        self._let_opponent_act()
        observation, info = self._observe()
        if self.render_mode == "human":
            self.render()
        return observation, self._game.cumulative_rewards[player], self._game.terminations[player], False, info

    def action_masks(self) -> np.ndarray:
        """(52,) bool, the legal cards now. sb3-contrib's MaskablePPO calls a method of this name."""
        return self._observe()[1]["action_mask"].astype(bool)

    def views(self) -> PlayerViews:
        """What this player sees now as a batch of one, on which any agent of this project can act."""
        return self._game.views(PLAYERS[self._seat])

    def render(self) -> str | np.ndarray | None:
        """The table as this player sees it, with this player below; see :meth:`crib_env.aec.raw_env.render`."""
        self._game.agents  # noqa: B018 -- the order check
        return self._renderer.render(lambda: "\n".join(table_lines(self.views())), self._draw)

    def _draw(self) -> Sheet:
        return draw_table(see(self._game.games, self._seat, below=self._seat))

    def close(self) -> None:
        """Ends the episode, and closes the window, if there is one. ``reset`` starts anew."""
        self._game.close()
        self._renderer.close()

    def _let_opponent_act(self) -> None:
        other = PLAYERS[1 - self._seat]
        while self._game.agent_selection == other and not self._game.terminations[other]:
            if isinstance(self.opponent, str):
                card = choose(self._game.games, NATIVE.index(self.opponent))
            else:
                ids = np.array([self._game.n_resets])
                card = int(ask_opponent(self.opponent, self._game.games, np.zeros(1, np.int64), ids)[0])
            self._game.step(card)

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        player = PLAYERS[self._seat]
        observation, said = self._game.observe(player), self._game.infos[player]
        mask = said["action_mask"] if "action_mask" in said else observation["action_mask"]
        if self._game.terminations[player]:
            mask[:] = 1
        info = {
            "scores": np.array(said["scores"], np.int16),
            "dealer": np.int8(said["dealer"]),
            "seat": np.int8(self._seat),
            "action_mask": mask.copy(),
            "illegal_action": np.array(said["illegal_action"]),
        }
        info |= {key: said[key] for key in ("events", "illegal_reason") if key in said}
        return observation, info
