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
| ``autoreset_mode``    | ``NEXT_STEP`` | or ``SAME_STEP`` of ``gymnasium.vector.AutoresetMode``, as in ``SyncVectorEnv`` |
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

## Ends and illegal cards

The mask of a game that is over is all ones. With ``NEXT_STEP`` the next action in that game is ignored, so a
learner may sample it like any other; a mask of zeros would leave nothing to sample.

An illegal card ends its game, as in the single environment; with ``illegal="raise"`` it raises ``ValueError``, which
names the game, and no game has changed. An action that is no integer raises ``TypeError`` either way.

## What differs from N single environments

``reset`` takes no ``deals``. A view's ``game_ids`` differ between all episodes of all games. An ``opponent`` that is an
agent gets one call of ``act(views)`` for all games in which it is to act.

## Rewards of your own

A subclass may change the rewards: ``on_step`` gets those of every step, ``on_begin`` the games that begin, and
``games`` and ``seats`` are their state.

## Threads and memory

Only one thread at a time may step or reset an environment: a concurrent call from another raises ``RuntimeError``.

Memory is linear in N, 1.7 to 1.9 KB a game, of which 1.06 KB are the bounds of Gymnasium's batched spaces.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Literal

import numpy as np
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.cards import name_card, read_card
from crib_env.distribution import missing
from crib_env.engine import EPISODES, GAME, OVER
from crib_env.kernels import streams
from crib_env.observation import DTYPES, N_ACTIONS, OBSERVATIONS, writing
from crib_env.options import OPTIONS, REWARDS, OptionError, Start, check_names, check_options, check_seed
from crib_env.players.agent_from_text import ask_opponent
from crib_env.players.policies import NATIVE
from crib_env.single_agent import SingleAgentCribbage
from crib_env.vector.kernels import (
    NO_POLICY,
    Rules,
    Shown,
    Table,
    against,
    first_bad,
    pay_all,
    show_all,
    take_all,
)

CHUNK = 4_096  # games for which a thread is worth waking
RESET_OPTIONS = ("first_dealer", "scores")
_MODES = "NextStep", "SameStep", AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP


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


def by_one_thread(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that refuses to start while another such call runs in the same environment, and after ``close``.

    Kernels run without the interpreter's lock: two in the same games could leave impossible hands.
    """

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                f"{method.__name__}() was called while another step or reset of this vector environment is under way: "
                "call it from one thread at a time, or give each thread an environment of its own"
            )
        try:
            if self.closed:
                raise ClosedEnvironmentError(f"{method.__name__}() was called after close(): make another environment")
            return method(self, *args, **kwargs)
        finally:
            self._lock.release()

    return guarded


class VectorGames(VectorEnv[Any, Any, Any]):
    """What the vector environments of arrays and of tensors share.

    Args:
        own: names of the options that the environment has beside those of a single one.
        fixed: the values that options of a single environment must have here.
    """

    _out: Any
    _has_begun = False

    def __init__(
        self, num_envs: int, own: tuple[str, ...], fixed: Mapping[str, Any], opponent: Any, seat: Any, options: Any
    ) -> None:
        check_names(options, ("num_envs", "device", *own, "opponent", "seat", *OPTIONS))
        check_options({"num_envs": num_envs})
        single = SingleAgentCribbage(opponent=opponent, seat=seat, **options)
        self._game = game = single.options
        for name, value in fixed.items():
            if getattr(game, name) != value:
                raise OptionError(
                    f"{name}={getattr(game, name)!r} is not allowed in this vector environment: give {value!r}; "
                    "make_vec(..., vectorization_mode='sync') has all options"
                )
        self.num_envs, self._opponent = int(num_envs), single.opponent
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self._rules = Rules(
            policy=np.int64(NATIVE.index(single.opponent)) if isinstance(single.opponent, str) else NO_POLICY,
            episode=EPISODES.index(game.episode),
            start_spread=-1 if game.start_spread is None else int(game.start_spread),
            reward=REWARDS.index(game.reward),
            penalty=game.penalty,
            alternates=single.alternates,
        )
        self._lock = threading.Lock()

    def _check_begun(self) -> None:
        if not self._has_begun:
            raise RuntimeError("there are no games before reset(): call it first")

    def _new_games(self) -> np.ndarray:
        """(N,) records that are over until the first reset."""
        games = np.zeros(self.num_envs, GAME)
        games["episode_stream"], games["phase"] = streams(None, self.num_envs), OVER
        games["fewer"] = 4 - self._game.cards
        return games

    def _observation(self) -> Any:
        out = self._out
        if self._game.mask == "info":
            return out.observation
        return {"observation": out.observation, "action_mask": out.action_mask}

    def _infos_of(self, seats: Any) -> dict[str, Any]:
        out = self._out
        return {
            "action_mask": out.action_mask,
            "illegal_action": out.illegal,
            "scores": out.scores,
            "dealer": out.dealers,
            "seat": seats,
        }


def read_seeds(seed: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of ``n`` games are seeded, (n,) bool, and the initial states of their streams, (n,) uint64."""
    if not isinstance(seed, (list, tuple, np.ndarray)) or np.shape(seed) == ():
        check_seed(seed)
        seed = [None] * n if seed is None else range(int(seed), int(seed) + n)
    if len(seed) != n:
        raise ValueError(f"seed has {len(seed)} numbers: give one for each of the {n} games")
    for number in seed:
        check_seed(number)
    states = [0 if number is None else streams(int(number), 1)[0] for number in seed]
    return np.array([number is not None for number in seed]), np.array(states, np.uint64)


class CribbageVectorEnv(VectorGames):
    """N games of cribbage against an opponent; see the module's docstring."""

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
        own = "autoreset_mode", "copy", "threads"
        super().__init__(num_envs, own, {"events": False, "render_mode": None}, opponent, seat, options)
        check_options({"threads": threads, "copy": copy})
        if autoreset_mode not in _MODES:
            raise OptionError(
                f"autoreset_mode={autoreset_mode!r} is not allowed: give {', '.join(map(repr, _MODES))}; "
                "make_vec(..., vectorization_mode='sync') has all modes"
            )
        n, seen = self.num_envs, OBSERVATIONS[self._game.observation]
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self._size, (self._dtype, self._mask_dtype) = seen.size, DTYPES[self._game.dtype]
        self._begin_all, self._step_all = against(self._rules.policy)
        self._show_all = writing(show_all, seen.write)
        self._copy, self._threads = copy, int(threads)
        self._table = Table(
            games=self._new_games(),
            seats=np.full(n, 1 if seat == "alternate" else seat, np.int8),
            margins=np.zeros(n, np.int64),
            n_begun=np.zeros(n, np.int64),
        )
        self._truncations = np.zeros(n, np.bool_)  # never
        self._to_begin = np.zeros(n, np.bool_)  # games that the next step begins anew, in mode NEXT_STEP
        self._all_rows = np.arange(n)
        self._everybody = np.ones(n, np.bool_)
        self._everybody.flags.writeable = False  # one array under many keys of the infos
        self._out = self._allocate()

    @property
    def games(self) -> np.ndarray:
        """(N,) the games' own records (:data:`crib_env.engine.GAME`), hidden cards included; do not write to them."""
        return self._table.games

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
            options: ``first_dealer`` and ``scores`` as in :mod:`crib_env.aec`, the same for every game.

        Raises:
            ValueError: an option or the seed is not allowed; nothing has changed.
        """
        start = Start.read(options, allowed=RESET_OPTIONS)
        is_seeded, states = read_seeds(seed, self.num_envs)
        super().reset(seed=int(seed) if isinstance(seed, (int, np.integer)) else None)
        self.games["episode_stream"][is_seeded] = states[is_seeded]
        self._begin(self._all_rows, start, is_seeded)
        self._to_begin[:], self._has_begun = False, True
        if self._copy:
            self._out = self._allocate()
        self._out.rewards[:] = 0.0
        self._out.illegal[:] = False
        self._out.over[:] = self.games["phase"] == OVER
        self._run(self._show_all, self._all_rows, self._out)
        return self._observation(), self._infos(self._everybody)

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
            RuntimeError: before the first ``reset``, or while another thread is in a step or reset.
            Exception: any error of the opponent's object, in the middle of the step; call ``reset`` before going on.
        """
        cards = self._read_actions(actions)
        if self._copy:
            self._out = self._allocate()
        out = self._out
        outcome = out.rewards, out.over, out.illegal
        self._run(self._step_all, self._all_rows, cards, self._to_begin, self._rules, *outcome)
        if self._rules.policy == NO_POLICY:
            self._let_opponent_act(self._all_rows)
            self._run(pay_all, self._all_rows, self._rules, *outcome)
        self._run(self._show_all, self._all_rows, out)
        if self._to_begin.any():
            self.on_begin(np.flatnonzero(self._to_begin))
        self.on_step(out.rewards, out.over)
        ended = out.over
        last: dict[str, Any] = {}
        truncations = self._truncations.copy() if self._copy else self._truncations
        if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.any():
            ended = ended.copy()
            rows = np.flatnonzero(ended)
            last |= {"final_obs": self._final_observations(rows), "_final_obs": ended}
            last |= {"final_info": self._final_infos(ended), "_final_info": ended}
            self._begin(rows)
            out.illegal[rows] = False
            self._run(self._show_all, rows, out)
        elif self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._to_begin[:] = ended
        return self._observation(), out.rewards, out.over, truncations, self._infos(self._everybody) | last

    def action_masks(self) -> np.ndarray:
        """(N, 52) bool, the legal cards now. sb3-contrib's MaskablePPO calls a method of this name."""
        self._check_begun()
        out = self._allocate()
        self._run(self._show_all, self._all_rows, out)
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

    def _allocate(self) -> Shown:
        n = self.num_envs
        return Shown(
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
        if self._rules.alternates:
            seats = self.seats
            seats[rows] = 1 - seats[rows] if is_seeded is None else np.where(is_seeded[rows], 0, 1 - seats[rows])
        self._run(self._begin_all, rows, self._rules, start.first_dealer, *start.scores)
        if self._rules.policy == NO_POLICY:
            self._let_opponent_act(rows)
        self.on_begin(rows)

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        """The current infos, with a bool array ``who`` (N,) under each ``_key``."""
        infos = self._infos_of(self.seats.copy() if self._copy else self.seats)
        return infos | {f"_{key}": who for key in infos}

    def _let_opponent_act(self, rows: np.ndarray) -> None:
        """Lets the Python opponent act in these games until the learner is to act in each of them, or it is over."""
        games, seats = self.games, self.seats
        while len(rows := rows[(games["phase"][rows] != OVER) & (games["turn"][rows] != seats[rows])]):
            ids = self._table.n_begun[rows] * self.num_envs + rows
            assert not isinstance(self._opponent, str)  # the kernels ask native policies
            take_all(self._table, rows, ask_opponent(self._opponent, games, rows, ids))

    def _read_actions(self, actions: Any) -> np.ndarray:
        """The actions as (N,) int64, -1 for a number beyond all cards; with ``illegal="raise"`` all are legal."""
        self._check_begun()
        given: Any = actions if isinstance(actions, (list, tuple)) else np.atleast_1d(actions)
        if len(given) != self.num_envs:
            raise ValueError(f"actions must be {self.num_envs} integers, one a game, not {actions!r}")
        if isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iu":
            cards = given.astype(np.int64, copy=False)
        else:
            cards = np.full(self.num_envs, -1)
            for i, action in enumerate(given):
                try:
                    card = read_card(action)
                except TypeError as error:
                    raise TypeError(f"game {i}: {error}") from None
                cards[i] = card if 0 <= card < N_ACTIONS else -1
        if self._game.illegal == "raise":
            bad = first_bad(self.games, self._all_rows, cards, self._to_begin)
            if bad < self.num_envs:
                raise ValueError(f"game {bad}: {name_card(int(cards[bad]))} is not a legal action")
        return cards

    def _run(self, function: Callable[..., Any], rows: np.ndarray, *rest: Any) -> None:
        """Calls the kernel ``function(table, rows, *rest)``, on all threads if there are many rows."""
        n_parts = min(self._threads, -(-len(rows) // CHUNK))
        if n_parts <= 1:
            function(self._table, rows, *rest)
            return
        if self._pool is None or self._pool[0] != os.getpid():  # a forked process has no threads
            self._pool = os.getpid(), ThreadPoolExecutor(self._threads - 1)
        own, *others = np.array_split(rows, n_parts)
        tasks = [self._pool[1].submit(function, self._table, part, *rest) for part in others]
        function(self._table, own, *rest)
        for task in tasks:
            task.result()

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
