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

``crib_env/CribbageDiscard-v0`` (:mod:`crib_env.discard_game`) takes the options of its single environment and those
above. Its infos are ``action_mask``, ``illegal_action`` and ``starter`` (N,) int8, -1 until a game is over.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.cards import name_card, read_card
from crib_env.discard_game import DiscardGame
from crib_env.distribution import missing
from crib_env.engine import GAME, OVER
from crib_env.kernels import streams
from crib_env.observation import DTYPES, N_ACTIONS, OBSERVATIONS, writing
from crib_env.options import (
    OPTIONS,
    RESET_OPTIONS,
    DiscardOptions,
    OptionError,
    Start,
    check_names,
    check_options,
)
from crib_env.players.agent_from_text import ask_opponent
from crib_env.single_agent import SingleAgentCribbage
from crib_env.vector import kernels as vector_kernels
from crib_env.vector.calls import by_one_thread, read_seeds, rules_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The number of games that a thread takes at once. Small enough that no thread waits long for a late one; large enough
# that taking a chunk costs little beside the work.
CHUNK = 4_096
_OWN_OPTIONS = ("num_envs", "autoreset_mode", "copy", "threads")
_SHARED = ("observation_space", "action_space", "metadata", "render_mode", "spec")  # by all games


def make_vector_env(num_envs: int = 1, *, device: Any = None, **options: Any) -> VectorEnv[Any, Any, Any]:
    """What ``gymnasium.make_vec`` makes: a :class:`CribbageVectorEnv`, or with a ``device`` a
    :class:`~crib_env.gpu.vector.TensorVectorEnv`, which needs torch."""
    if device is None:
        return CribbageVectorEnv(num_envs, **options)
    try:
        from crib_env.gpu.vector import TensorVectorEnv
    except ImportError as error:
        raise OptionError(missing(f"device={device!r}", error, "gpu")) from None
    return TensorVectorEnv(num_envs, device, **options)


class CribbageVectorEnv(VectorEnv[Any, Any, np.ndarray]):
    """N games of cribbage against an opponent; see the module's docstring."""

    _stream = "episode_stream"  # that a seed sets
    _reset_options: tuple[str, ...] = (*RESET_OPTIONS, "reset_mask")
    _pool: tuple[int, ThreadPoolExecutor] | None = None  # with the id of its process

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponent: Any = "random",
        seat: Literal[0, 1, "alternate"] = "alternate",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int = 1,
        **options: Any,
    ) -> None:
        check_names(options, (*_OWN_OPTIONS, "device", "opponent", "seat", *OPTIONS))
        single = SingleAgentCribbage(opponent=opponent, seat=seat, **options)
        if single.options.events:
            raise OptionError("events=True is not allowed: the vector environment has no lists of events; give False")
        self._opponent, rules, seen = single.opponent, rules_of(single), OBSERVATIONS[single.options.observation]
        kernels = *vector_kernels.against(rules.policy), writing(vector_kernels.show_all, seen.write)
        self._set_up(single, rules, seen.size, kernels, (num_envs, autoreset_mode, copy, threads))
        if seat != "alternate":
            self._table.seats[:] = seat

    def _set_up(
        self,
        single: SingleAgentCribbage | DiscardGame,
        rules: vector_kernels.Rules,
        size: int,
        kernels: tuple[Any, Any, Any],
        own: tuple[int, AutoresetMode | str, bool, int],
    ) -> None:
        """Makes N games.

        Args:
            single: has checked the options; its spaces are used.
            rules: of the games.
            size: of an observation.
            kernels: that begin, step and show games.
            own: the options that a vector has beside those of its games, :data:`_OWN_OPTIONS`.
        """
        num_envs, autoreset_mode, copy, threads = own
        check_options({"num_envs": num_envs, "threads": threads, "copy": copy})
        modes = [mode.value for mode in AutoresetMode]
        if autoreset_mode not in (*AutoresetMode, *modes):
            allowed = ", ".join(map(repr, modes))
            raise OptionError(f"autoreset_mode={autoreset_mode!r} is not allowed: give an AutoresetMode or {allowed}")
        if single.render_mode is not None:
            raise OptionError(
                f"render_mode={single.render_mode!r} is not allowed: the vector environment draws nothing; "
                "make_vec(..., vectorization_mode='sync') does"
            )
        self._game = game = single.options
        self.num_envs = n = int(num_envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = single.observation_space
        self.single_action_space = single.action_space
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self._dtype, self._mask_dtype = DTYPES[game.dtype]
        self._rules, self._size = rules, size
        self._begin_all, self._step_all, self._show_all = kernels
        self._copy = copy
        self._threads = int(threads)
        self._lock = threading.Lock()

        self._games = np.zeros(n, GAME)
        self._games[self._stream] = streams(None, n)
        self._games["phase"] = OVER  # until the first reset
        self._games["fewer"] = 4 - game.cards
        self._table = vector_kernels.Table(
            games=self._games,
            seats=np.full(n, rules.alternates, np.int8),
            given=np.zeros((n, 0, 13), np.int8),
            n_given=np.zeros(n, np.int64),
            margins=np.zeros(n, np.int64),
            n_begun=np.zeros(n, np.int64),
        )
        self._truncations = np.zeros(n, np.bool_)  # never
        self._has_begun = False
        self._to_begin = np.zeros(n, np.bool_)  # games that the next step begins anew, in mode NEXT_STEP
        self._is_waiting = np.ones(n, np.bool_)  # games that are over, or have not begun, until they are reset
        self._n_waiting = n
        self._all_rows = np.arange(n)
        self._everybody = np.ones(n, np.bool_)
        self._everybody.flags.writeable = False  # one array under many keys of the infos
        self._out = self._allocate()
        self._out.illegal[:] = False

    @property
    def games(self) -> np.ndarray:
        """(N,) the games' own records (:data:`crib_env.engine.GAME`), hidden cards included; do not write to them."""
        return self._games

    @property
    def seats(self) -> np.ndarray:
        """(N,) int8, the learner's seat in each game; do not write to it."""
        return self._table.seats

    # A subclass with rewards of its own implements these.

    def on_begin(self, rows: np.ndarray) -> None:
        """Called when episodes of these games have begun."""

    def on_step(self, rewards: np.ndarray, over: np.ndarray) -> None:
        """Called in every step, while games that have ended are still as they ended.

        Args:
            rewards: (N,) the rewards of the step, to be changed in place; 0 in games that begin in this step.
            over: (N,) bool, which games have ended.
        """

    # What Gymnasium calls.

    @by_one_thread
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts the next episode of every game.

        Args:
            seed: a number s seeds game i with s + i; a list holds a seed or ``None`` for each game.
            options: as in :mod:`crib_env.aec`, the same for every game; ``options["reset_mask"]`` (N,) bool resets
                only some games, as ``AutoresetMode.DISABLED`` needs. The infos' ``_key`` arrays name these games.

        Raises:
            ValueError: an option does not exist, or it or the seed has a value that is not allowed; nothing has
                changed.
            TypeError: the reset mask is not an array of bool.
        """
        start = Start.read(options, self._game.episode, self._game.cards, self._reset_options)
        who = self._read_reset_mask(options)
        is_seeded, states = read_seeds(seed, self.num_envs)
        super().reset(seed=int(seed) if isinstance(seed, (int, np.integer)) else None)
        self._games[self._stream][who & is_seeded] = states[who & is_seeded]
        self._begin(np.flatnonzero(who), start, is_seeded)
        self._to_begin[who] = self._is_waiting[who] = False
        self._n_waiting = int(self._is_waiting.sum())
        self._has_begun = True
        if self._copy:
            self._out = self._allocate()
        self._out.rewards[:] = 0.0
        self._out.illegal[:] = False
        self._out.over[:] = self._games["phase"] == OVER
        self._show(self._all_rows, self._out)
        return self._observation(), self._infos(who)

    @by_one_thread
    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Discards or lays a card in every game; ``actions`` (N,) are card ids.

        With ``NEXT_STEP`` the games that ended at the step before begin anew instead, whatever their action is.

        Returns:
            Observations, rewards (N,) float64, terminations and truncations (N,) bool, infos.

        Raises:
            TypeError: the actions are not integers; no game has changed.
            ValueError: there is not one action for each game, or, with ``illegal="raise"``, one is not a legal card;
                the message names the game, and no game has changed.
            RuntimeError: a game is over or has not begun, and has not been reset; no game has changed. Or another
                thread is in a step or reset.
            Exception: any error of the opponent's object, in the middle of the step; call ``reset`` before going on.
        """
        cards = self._read_actions(actions)
        if self._copy:
            self._out = self._allocate()
        out = self._out
        outcome = out.rewards, out.over, out.illegal
        self._run(self._step_all, self._table, self._all_rows, cards, self._to_begin, self._rules, *outcome)
        if self._rules.policy == vector_kernels.NO_POLICY:
            self._let_opponent_act(self._all_rows)
            self._run(vector_kernels.pay_all, self._table, self._all_rows, self._rules, *outcome)
        self._show(self._all_rows, out)
        if self._to_begin.any():
            self.on_begin(np.flatnonzero(self._to_begin))
        self.on_step(out.rewards, out.over)
        ended = out.over
        last: dict[str, Any] = {}
        truncations = self._truncations.copy() if self._copy else self._truncations
        if ended.any():
            ended = ended.copy()
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                rows = np.flatnonzero(ended)
                last |= {"final_obs": self._final_observations(rows), "_final_obs": ended}
                last |= {"final_info": self._final_infos(ended), "_final_info": ended}
                self._begin(rows)
                out.illegal[rows] = False
                self._show(rows, out)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._to_begin[:] = ended
        elif self.autoreset_mode == AutoresetMode.DISABLED:
            self._is_waiting[:] = ended
            self._n_waiting = int(ended.sum())
        return self._observation(), out.rewards, out.over, truncations, self._infos(self._everybody) | last

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The result for each game: of ``action_masks``, or of an attribute as in :meth:`get_attr`.

        The games are rows of arrays, not objects, and have no other methods.

        Raises:
            AttributeError: there is no such method or attribute; the message lists those there are.
        """
        if name == "action_masks":
            return tuple(self.action_masks(*args, **kwargs))
        if name not in _SHARED:
            known = ", ".join(["action_masks", *_SHARED])
            raise AttributeError(f"the games of a native vector environment have no {name!r}, only {known}")
        return (getattr(self, f"single_{name}" if name.endswith("space") else name),) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute that all games share: spaces, ``metadata``, ``render_mode``, ``spec``.

        Raises:
            AttributeError: there is no such attribute.
        """
        return self.call(name)

    def action_masks(self) -> np.ndarray:
        """(N, 52) bool, the legal cards now. sb3-contrib's MaskablePPO calls a method of this name.

        Raises:
            RuntimeError: before the first ``reset``.
        """
        if not self._has_begun:
            raise RuntimeError("there are no games before reset(): call it first")
        out = self._allocate()
        self._show(self._all_rows, out)
        return out.action_mask.astype(np.bool_)

    def close_extras(self, **kwargs: Any) -> None:
        """Stops the threads."""
        if self._pool is not None and self._pool[0] == os.getpid():
            self._pool[1].shutdown()
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_lock": None}  # neither can be copied or pickled

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    # Helpers of the methods above.

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

    def _begin(self, rows: np.ndarray, start: Start | None = None, is_seeded: np.ndarray | None = None) -> None:
        """Starts the next episode of some games; by default as a reset without seed and options does."""
        start = start or Start()
        self._give(rows, start.deals)
        if self._rules.alternates:
            seats = self._table.seats
            seats[rows] = 1 - seats[rows] if is_seeded is None else np.where(is_seeded[rows], 0, 1 - seats[rows])
        self._run(self._begin_all, self._table, rows, self._rules, start.first_dealer, *start.scores)
        if self._rules.policy == vector_kernels.NO_POLICY:
            self._let_opponent_act(rows)
        self.on_begin(rows)

    def _show(self, rows: np.ndarray, out: Any) -> None:
        self._run(self._show_all, self._table, rows, out)

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        """The current infos, with a bool array ``who`` (N,) under each ``_key``."""
        out = self._out
        infos = {
            "action_mask": out.action_mask,
            "illegal_action": out.illegal,
            "scores": out.scores,
            "dealer": out.dealers,
            "seat": self._table.seats.copy() if self._copy else self._table.seats,
        }
        return infos | {f"_{key}": who for key in infos}

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

    def _read_reset_mask(self, options: dict[str, Any] | None) -> np.ndarray:
        """The games to reset, (N,) bool, checked as ``SyncVectorEnv`` does."""
        if options is None or "reset_mask" not in options:
            return self._everybody
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask']={mask!r} is not allowed: give a NumPy array of bool")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options['reset_mask'] must have shape ({self.num_envs},) and a True, not be {mask!r}")
        return mask.copy()

    def _read_actions(self, actions: Any) -> np.ndarray:
        """The actions as (N,) int64; with ``illegal="raise"`` all legal except in games about to restart."""
        if self._n_waiting:
            raise RuntimeError(
                f"game {self._is_waiting.argmax()}: the episode is over or has not begun: call reset(), or reset with "
                "options['reset_mask']"
            )
        try:
            cards = np.asarray(actions)
        except ValueError:  # of different lengths
            cards = np.empty(0)
        is_list = isinstance(actions, (list, tuple))
        is_mixed = is_list and not {bool, np.bool_}.isdisjoint(map(type, actions))  # NumPy would convert True to 1
        if cards.shape != (self.num_envs,) or cards.dtype.kind not in "iu" or is_mixed:
            cards = self._read_each(actions if is_list else cards)
        cards = cards.astype(np.int64, copy=False)
        if self._game.illegal == "raise":
            given = self._games, self._all_rows, cards, self._to_begin
            bad = min(self._run(vector_kernels.first_bad, *given))
            if bad < self.num_envs:
                raise ValueError(f"game {bad}: {name_card(int(cards[bad]))} is not a legal action")
        return cards

    def _read_each(self, actions: Any) -> np.ndarray:
        """Converts actions that are not one array of integers; numbers that are not a card become -1."""
        n = self.num_envs
        if (isinstance(actions, np.ndarray) and actions.ndim == 0) or len(actions) != n:
            raise ValueError(f"actions must be {n} integers, one a game, not {actions!r}")
        cards = np.full(n, -1)
        for i, action in enumerate(actions):
            try:
                card = read_card(action)
            except TypeError as error:
                raise TypeError(f"game {i}: {error}") from None
            if 0 <= card < N_ACTIONS:
                cards[i] = card
        return cards

    def _run(self, function: Callable[..., Any], state: Any, rows: np.ndarray, *rest: Any) -> list[Any]:
        """Calls the kernel ``function(state, rows, *rest)`` on all threads, each with some rows; returns each
        result."""
        if self._threads == 1 or len(rows) <= CHUNK:
            return [function(state, rows, *rest)]
        chunks = deque(rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))
        threads = min(self._threads, len(chunks))
        found = []

        def work() -> None:
            while chunks:
                try:
                    part = chunks.popleft()
                except IndexError:  # another thread was quicker
                    return
                found.append(function(state, part, *rest))

        # This thread begins at once. At the end it does not wait for threads that have not started.
        tasks = [self._threads_of_this_process().submit(work) for _ in range(threads - 1)]
        work()
        for task in tasks:
            if not task.cancel():
                task.result()
        return found

    def _threads_of_this_process(self) -> ThreadPoolExecutor:
        if self._pool is None or self._pool[0] != os.getpid():  # a forked process has no threads
            self._pool = os.getpid(), ThreadPoolExecutor(self._threads - 1)
        return self._pool[1]

    def _observation(self) -> Any:
        if self._game.mask == "info":
            return self._out.observation
        return {"observation": self._out.observation, "action_mask": self._out.action_mask}

    def _final_observations(self, ended: np.ndarray) -> np.ndarray:
        """(N,) objects: the last observation of each game that has ended, else ``None``."""
        final = np.full(self.num_envs, None, object)
        for i, observation, mask in zip(ended, self._out.observation[ended], self._out.action_mask[ended]):
            final[i] = observation if self._game.mask == "info" else {"observation": observation, "action_mask": mask}
        return final

    def _final_infos(self, over: np.ndarray) -> dict[str, Any]:
        """The last infos of the games that have ended, zeros elsewhere."""
        final = self._infos(over)
        for key in [key for key in final if not key.startswith("_")]:
            last = np.zeros_like(final[key])
            last[over] = final[key][over]
            final[key] = last
        return final


class DiscardVectorEnv(CribbageVectorEnv):
    """N discard games (:mod:`crib_env.discard_game`); see the module's docstring."""

    _stream = "deal_stream"
    _reset_options = ("reset_mask",)

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int = 1,
        **options: Unpack[DiscardOptions],
    ) -> None:
        check_names(options, (*_OWN_OPTIONS, *DiscardOptions.__annotations__))
        single = DiscardGame(**options)
        # Its kernels read the penalty alone; with an agent as the opponent others would be called.
        rules = vector_kernels.Rules(np.int64(0), 0, -1, 0, penalty=single.options.penalty, alternates=False)
        kernels = vector_kernels.begin_discards, vector_kernels.step_discards, vector_kernels.show_discards
        self._set_up(single, rules, N_ACTIONS, kernels, (num_envs, autoreset_mode, copy, threads))

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        """The current infos; starters stand where other games have their dealers."""
        out = self._out
        infos = {"action_mask": out.action_mask, "illegal_action": out.illegal, "starter": out.dealers}
        return infos | {f"_{key}": who for key in infos}
