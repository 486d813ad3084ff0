"""# Vector environments

Many single-agent games at once: the native vector environments behind ``gymnasium.make_vec``.

```python
import crib_env
import gymnasium

envs = gymnasium.make_vec(
    "crib_env/Cribbage-v0", num_envs=4096, vectorization_mode="vector_entry_point", opponent="greedy"
)
```

Each of the N games is one :class:`~crib_env.single_agent.SingleAgentCribbage`: the same options, seeds, observations,
masks, rewards and ends. Game i of a vector seeded with s equals the single environment seeded with s + i. One
kernel call discards or lays N cards, lets the native opponents answer, and writes the learner's observations. The
options are those of the single environment (without ``render_mode`` and ``events``: with
``vectorization_mode="sync"`` Gymnasium runs single environments, which have both) and these:

| option                | default       | meaning                                                                         |
|-----------------------|---------------|---------------------------------------------------------------------------------|
| ``autoreset_mode``    | ``NEXT_STEP`` | any of ``gymnasium.vector.AutoresetMode``, with the semantics of ``SyncVectorEnv`` |
| ``copy``              | ``True``      | ``False`` returns the environment's own arrays, which the next call overwrites  |
| ``threads``           | 1             | number of threads that share the games; results do not depend on it             |

## Infos

Each has its ``_key`` (N,) bool as in Gymnasium:

| key                | value                                                                                      |
|--------------------|--------------------------------------------------------------------------------------------|
| ``action_mask``    | (N, 52) int8, bool with ``dtype="float32"``: the array in the observation, if it has one   |
| ``scores``         | (N, 2) int16: player_0's, player_1's                                                       |
| ``dealer``, ``seat`` | (N,) int8                                                                                |
| ``illegal_action`` | (N,) bool: the game has just ended because of an illegal card                              |
| ``final_obs``, ``final_info`` | at ends, with ``SAME_STEP``                                                     |

There are no lists of events; use the single environment for them.

## Ends and illegal cards

The mask of a game that is over is all ones. With ``NEXT_STEP`` the next action in that game is ignored, so a
learner may sample it like any other; a mask of zeros would leave nothing to sample.

An illegal card ends its game, as in the single environment; with ``illegal="raise"`` it raises ``ValueError``, which
names the game, and no game has changed. An action that is no integer raises ``TypeError`` either way.

## What differs from N single environments

A view's ``game_ids`` differ between all episodes of all games. An
``opponent`` that is an agent gets one call of ``act(views)`` for all games in which it is to act.

## Rewards of your own

A subclass may change the rewards: ``on_step`` gets those of every step, ``on_begin`` the games that begin, and
``games`` and ``seats`` are their state.

## Threads and memory

Only one thread at a time may step or reset an environment: a concurrent call from another raises ``RuntimeError``.

Memory is linear in N, 1.7 to 1.9 KB a game, of which 1.06 KB are the bounds of Gymnasium's batched spaces.

## The discard game

``crib_env/CribbageDiscard-v0`` (:mod:`crib_env.discard_game`) takes the same options, ``dtype``, ``mask`` and
``illegal``; its infos are ``action_mask``, ``starter`` (N,) int8 (-1 until a game is over), ``illegal_action``.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from crib_env.discard_game import OPTIONS as DISCARD_OPTIONS
from crib_env.discard_game import DiscardGame
from crib_env.engine import EPISODES, OVER
from crib_env.observation import N_ACTIONS, OBSERVATIONS, writing
from crib_env.options import OPTIONS, REWARDS, OptionError, Start, check_names
from crib_env.players.opponents import ask_opponent
from crib_env.players.policies import NATIVE
from crib_env.single_agent import SingleAgentCribbage
from crib_env.vector import kernels as vector_kernels
from crib_env.vector.base import VECTOR_OPTIONS, NativeVectorEnv


class CribbageVectorEnv(NativeVectorEnv):
    """N games of cribbage against an opponent; see the module's docstring.

    Raises:
        OptionError: an option does not exist or has a value that is not allowed; the message names it.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponent: Any = "random",
        seat: Literal[0, 1, "alternate"] = "alternate",
        **options: Any,
    ) -> None:
        check_names(options, ("opponent", "seat", *VECTOR_OPTIONS, *OPTIONS))
        vector, options = _split({"num_envs": num_envs, **options})
        single = SingleAgentCribbage(opponent=opponent, seat=seat, **options)
        game = single.options
        if game.events:
            raise OptionError("events=True is not allowed: the vector environment has no lists of events; give False")
        seen = OBSERVATIONS[game.observation]
        self._size, self._show_all = seen.size, writing(vector_kernels.show_all, seen.write)
        self._episode, self._cards = game.episode, game.cards
        super().__init__(single, "episode_stream", vector)
        self._opponent = opponent = single.opponent
        self._rules = vector_kernels.Rules(
            policy=np.int64(NATIVE.index(opponent)) if isinstance(opponent, str) else vector_kernels.NO_POLICY,
            episode=EPISODES.index(game.episode),
            start_spread=-1 if game.start_spread is None else int(game.start_spread),
            reward=REWARDS.index(game.reward),
            penalty=game.penalty,
            alternates=seat == "alternate",
        )
        self._begin_all, self._step_all = vector_kernels.against(self._rules.policy)
        n = self.num_envs
        self._table = vector_kernels.Table(
            games=self._games,
            seats=np.full(n, 1 if seat == "alternate" else seat, np.int8),
            given=np.zeros((n, 0, 13), np.int8),
            n_given=np.zeros(n, np.int64),
            margins=np.zeros(n, np.int64),
            n_begun=np.zeros(n, np.int64),
        )

    @property
    def seats(self) -> np.ndarray:
        """(N,) int8, the learner's seat in each game; do not write to it."""
        return self._table.seats

    def _allocate(self) -> vector_kernels.Shown:
        n = self.num_envs
        return vector_kernels.Shown(
            observation=np.empty((n, self._size), self._dtype),
            action_mask=np.empty((n, N_ACTIONS), self._mask_dtype),
            scores=np.empty((n, 2), np.int16),
            dealers=np.empty(n, np.int8),
            rewards=np.empty(n),
            over=np.empty(n, np.bool_),
            illegal=np.empty(n, np.bool_),
        )

    def _start(self, rows: np.ndarray, start: Start, is_seeded: np.ndarray) -> None:
        self._give(rows, start.deals)
        if self._rules.alternates:
            self._table.seats[rows] = np.where(is_seeded[rows], 0, 1 - self._table.seats[rows])
        begin = start.first_dealer, *start.scores
        self._run(self._begin_all, self._table, rows, self._rules, *begin)
        if self._rules.policy == vector_kernels.NO_POLICY:
            self._let_opponent_act(rows)

    def _play(self, cards: np.ndarray, out: Any) -> None:
        rows, outcome = self._all_rows, (out.rewards, out.over, out.illegal)
        self._run(self._step_all, self._table, rows, cards, self._to_begin, self._rules, *outcome)
        if self._rules.policy == vector_kernels.NO_POLICY:
            self._let_opponent_act(rows)
            self._run(vector_kernels.pay_all, self._table, rows, self._rules, *outcome)
        self._show(rows, out)

    def _show(self, rows: np.ndarray, out: Any) -> None:
        self._run(self._show_all, self._table, rows, out)

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        seats = self._table.seats.copy() if self._copy else self._table.seats
        infos = super()._infos(who)
        infos["scores"], infos["dealer"], infos["seat"] = self._out.scores, self._out.dealers, seats
        infos["_scores"] = infos["_dealer"] = infos["_seat"] = who
        return infos

    def _give(self, rows: np.ndarray, deals: tuple[tuple[int, ...], ...]) -> None:
        """Saves the deals that a reset gave to some games."""
        if len(deals) > self._table.given.shape[1]:
            given = np.zeros((self.num_envs, len(deals), 13), np.int8)
            given[:, : self._table.given.shape[1]] = self._table.given
            self._table = self._table._replace(given=given)
        self._table.n_given[rows] = len(deals)
        if deals:
            self._table.given[rows, : len(deals)] = deals

    def _let_opponent_act(self, rows: np.ndarray) -> None:
        """Lets the Python opponent act in these games until the learner is to act in each of them, or it is over.

        Raises:
            ValueError: an answer of the opponent is not a legal card; the message names the opponent and the game.
        """
        games, seats = self._games, self._table.seats
        while True:
            rows = rows[(games["phase"][rows] != OVER) & (games["turn"][rows] != seats[rows])]
            if not len(rows):
                return
            ids = self._table.n_begun[rows] * self.num_envs + rows
            assert not isinstance(self._opponent, str)  # the kernels ask native policies
            cards = ask_opponent(self._opponent, games, rows, ids)
            vector_kernels.take_all(self._table, rows, cards)


class DiscardVectorEnv(NativeVectorEnv):
    """N discard games (:mod:`crib_env.discard_game`); see the module's docstring.

    Raises:
        OptionError: an option does not exist or has a value that is not allowed; the message names it.
    """

    _reset_options = ("reset_mask",)

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        check_names(options, (*VECTOR_OPTIONS, *DISCARD_OPTIONS))
        vector, options = _split({"num_envs": num_envs, **options})
        single = DiscardGame(**options)
        super().__init__(single, "deal_stream", vector)
        self._penalty = single.options.penalty

    def _allocate(self) -> vector_kernels.DiscardShown:
        n = self.num_envs
        return vector_kernels.DiscardShown(
            observation=np.empty((n, N_ACTIONS), self._dtype),
            action_mask=np.empty((n, N_ACTIONS), self._mask_dtype),
            starters=np.empty(n, np.int8),
            rewards=np.empty(n),
            over=np.empty(n, np.bool_),
            illegal=np.empty(n, np.bool_),
        )

    def _start(self, rows: np.ndarray, start: Start, is_seeded: np.ndarray) -> None:
        self._run(vector_kernels.begin_discards, self._games, rows)

    def _play(self, cards: np.ndarray, out: Any) -> None:
        rows = self._all_rows
        self._run(vector_kernels.step_discards, self._games, rows, cards, self._to_begin, self._penalty, out)
        self._show(rows, out)

    def _show(self, rows: np.ndarray, out: Any) -> None:
        self._run(vector_kernels.show_discards, self._games, rows, out)

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        infos = super()._infos(who)
        infos["starter"], infos["_starter"] = self._out.starters, who
        return infos


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of every vector environment, and the others."""
    names = options.keys() & VECTOR_OPTIONS
    return {name: options[name] for name in names}, {name: options[name] for name in options.keys() - names}
