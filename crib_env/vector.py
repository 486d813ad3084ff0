"""Many single-agent games at once: the native vector environments behind ``gymnasium.make_vec``.

    envs = gymnasium.make_vec(
        "crib_env/Cribbage-v0", num_envs=4096, vectorization_mode="vector_entry_point", opponent="greedy"
    )

Each of the N games is one :class:`~crib_env.single_agent.SingleAgentCribbage`: the same options, seeds, observations,
masks, rewards and ends, so that game i of a vector seeded with s goes as the single environment seeded with s + i. One
kernel call throws or lays N cards, lets the native opponents answer, and writes what the learner sees. Beside the
options of the single environment (without ``render_mode``) there are:

================== ============= =====================================================================================
option             default       meaning
================== ============= =====================================================================================
``autoreset_mode`` ``NEXT_STEP`` any of ``gymnasium.vector.AutoresetMode``, with the semantics of ``SyncVectorEnv``
``copy``           ``True``      ``False`` hands out the environment's own arrays, which the next call writes over
``statistics``     ``True``      ``infos["episode"]`` at ends; ``False`` when ``RecordEpisodeStatistics`` shall add it
``threads``        1             the games are split among so many threads; results do not depend on the number
================== ============= =====================================================================================

Infos, each with its ``_key`` (N,) bool as Gymnasium has it: ``action_mask`` (N, 52) int8 (the array that stands in the
observation, if one does), ``scores`` (N, 2) int16 (player_0's, player_1's), ``dealer`` and ``seat`` (N,) int8; at ends
``episode`` = ``{"r", "l", "t"}`` (return, length in the learner's steps, seconds), and with ``SAME_STEP`` ``final_obs``
and ``final_info``. There are no lists of events: ask the single environment for them.

What differs from N single environments: an action that is not legal raises ``ValueError`` and changes nothing, in any
game, where the single environment would end the episode; and a view's ``game_ids`` are one number for every episode of
every game. An ``opponent`` with an agent's ``act(views)`` is asked once for all games in which it is to act.

Memory is linear in N, about 1.4 KB a game, three quarters of it the bounds of Gymnasium's batched observation space.

``crib_env/CribbageDiscard-v0`` (:mod:`crib_env.discard_game`) takes the same four options, and ``mask``; its infos are
``action_mask`` and, at ends, ``starter``.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env import vector_kernels
from crib_env.cards import format_card
from crib_env.discard_game import DiscardGame
from crib_env.engine import EPISODES, GAME, OVER
from crib_env.kernels import streams
from crib_env.observation import N_ACTIONS, SIZES
from crib_env.options import REWARDS, Start, check_seed
from crib_env.policies import NATIVE
from crib_env.single_agent import SingleAgentCribbage
from crib_env.views import views_of

# Games that a thread takes at once, in a step and in a kernel that does little for each: few, so that none waits long
# for another that was late, and so many that to take them is next to nothing beside the work.
CHUNK, LIGHT_CHUNK = 4_096, 32_768


class _NativeVectorEnv(VectorEnv[Any, Any, np.ndarray]):
    """What the vector environments share: checks, seeds, autoreset, infos, threads.

    Args:
        single: one environment with the same options; it has checked them, and its spaces are used.
        stream: the field of a record that a seed sets.
    """

    _out: Any  # what was handed out last: arrays observation, action_mask, rewards, over and others

    def __init__(
        self,
        single: gymnasium.Env[Any, Any],
        stream: str,
        num_envs: int,
        autoreset_mode: AutoresetMode | str,
        copy: bool,
        statistics: bool,
        threads: int,
    ) -> None:
        if single.render_mode is not None:
            raise ValueError(f"render_mode={single.render_mode!r} is not allowed: the vector environment draws nothing")
        for name, value in (("num_envs", num_envs), ("threads", threads)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name}={value!r} is not allowed: give a whole number from 1")
        modes = list(AutoresetMode)
        if autoreset_mode not in (*modes, *(mode.value for mode in modes)):
            allowed = ", ".join(repr(mode.value) for mode in modes)
            raise ValueError(f"autoreset_mode={autoreset_mode!r} is not allowed: give an AutoresetMode or {allowed}")
        self.num_envs = n = int(num_envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = single.observation_space
        self.single_action_space = single.action_space
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

        self._mask_in_info = not isinstance(single.observation_space, gymnasium.spaces.Dict)
        self._stream = stream
        self._copy = copy
        self._statistics = statistics
        self._threads = int(threads)
        self._pool: tuple[int, ThreadPoolExecutor] | None = None  # with the process that it belongs to

        self._games = np.zeros(n, GAME)
        self._games[stream] = streams(None, n)
        self._games["phase"] = OVER  # until the first reset
        self._accounts = vector_kernels.Accounts(
            np.zeros(n), np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros(n)
        )
        self._truncations = np.zeros(n, np.bool_)  # never
        self._to_begin = np.zeros(n, np.bool_)  # games that the next step begins anew, in mode NEXT_STEP
        self._all_rows = np.arange(n)
        self._everybody = np.ones(n, np.bool_)
        self._everybody.flags.writeable = False  # one array under many keys of the infos
        self._out = self._allocate()

    # What each game does in its own way.

    def _allocate(self) -> Any:
        """Arrays for what is handed out."""
        raise NotImplementedError

    def _start(self, rows: np.ndarray, start: Start, is_seeded: np.ndarray) -> None:
        """Starts the next episode of some games; ``is_seeded`` (N,) bool says which got a seed for it."""
        raise NotImplementedError

    def _play(self, cards: np.ndarray, out: Any) -> None:
        """Plays ``cards[i]`` in game i, or begins it anew where ``_to_begin`` says so, and writes all of ``out``."""
        raise NotImplementedError

    def _show(self, rows: np.ndarray, out: Any) -> None:
        """Writes what the learner sees of some games, not what it earns."""
        raise NotImplementedError

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        """The infos as they stand, with a bool array ``who`` (N,) under each ``_key``."""
        return {"action_mask": self._out.action_mask, "_action_mask": who}

    # What Gymnasium calls.

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts the next episode of every game.

        Args:
            seed: ``s`` is s + i for game i; a list holds one seed or ``None`` a game.
            options: as in :mod:`crib_env.aec`, the same for every game; ``options["reset_mask"]`` (N,) bool resets
                only some games, as ``AutoresetMode.DISABLED`` asks for. The infos' ``_key`` arrays name these games.

        Raises:
            ValueError: the seed or an option has a value that is not allowed; nothing has changed.
            TypeError: the reset mask is not an array of bool.
        """
        start = Start.read(options)
        who = self._read_reset_mask(options)
        is_seeded, words = self._read_seeds(seed)
        super().reset(seed=int(seed) if isinstance(seed, (int, np.integer)) else None)
        self._games[self._stream][who & is_seeded] = words[who & is_seeded]
        self._begin(np.flatnonzero(who), start, is_seeded)
        self._to_begin[who] = False
        if self._copy:
            self._out = self._allocate()
        self._out.rewards[:] = 0.0
        self._out.over[:] = self._games["phase"] == OVER
        self._show(self._all_rows, self._out)
        return self._observation(), self._infos(who)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Throws or lays a card in every game; ``actions`` (N,) are card ids.

        With ``NEXT_STEP`` the games that ended at the step before begin anew instead, whatever their action is.

        Returns:
            Observations, rewards (N,) float64, terminations and truncations (N,) bool, infos.

        Raises:
            ValueError: an action is not a legal card; the message names the game, and no game has changed.
            RuntimeError: a game is over and has not been reset; no game has changed.
            Exception: whatever the opponent's object raises, in the middle of the step: reset before going on.
        """
        cards = self._read_actions(actions)
        if self._copy:
            self._out = self._allocate()
        out = self._out
        self._play(cards, out)
        if self._statistics:
            self._account(out)

        last: dict[str, Any] = {}
        if out.over.any():
            over = out.over.copy()
            if self._statistics:
                returns, lengths, seconds = self._accounts[3:]
                last |= {"episode": {"r": returns, "l": lengths, "t": seconds}, "_episode": over}
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                ended = np.flatnonzero(over)
                last |= {"final_obs": self._final_observations(ended), "_final_obs": over}
                last |= {"final_info": self._final_infos(over), "_final_info": over}
                self._begin(ended)
                self._show(ended, out)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._to_begin[:] = out.over
        truncations = self._truncations.copy() if self._copy else self._truncations
        return self._observation(), out.rewards, out.over, truncations, self._infos(self._everybody) | last

    def action_masks(self) -> np.ndarray:
        """(N, 52) bool, the legal cards now, under the name that sb3-contrib's MaskablePPO asks for."""
        out = self._allocate()
        self._show(self._all_rows, out)
        return out.action_mask.astype(np.bool_)

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads."""
        if self._pool is not None and self._pool[0] == os.getpid():
            self._pool[1].shutdown()
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}  # threads cannot be copied or pickled

    # What the methods above are made of.

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

    def _read_seeds(self, seed: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which games are seeded, (N,) bool, and where their streams start, (N,) uint64."""
        is_seeded, words = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs, np.uint64)
        if seed is None:
            return is_seeded, words
        if not isinstance(seed, (list, tuple, np.ndarray)):
            check_seed(seed)
            seed = range(int(seed), int(seed) + self.num_envs)
        if len(seed) != self.num_envs:
            raise ValueError(f"seed has {len(seed)} numbers: give one for each of the {self.num_envs} games")
        for i, number in enumerate(seed):
            check_seed(number)
            if number is not None:
                is_seeded[i], words[i] = True, streams(int(number), 1)[0]
        return is_seeded, words

    def _read_actions(self, actions: Any) -> np.ndarray:
        """The actions as (N,) int64, all legal except in games that are to begin."""
        n = self.num_envs
        try:
            cards = np.asarray(actions)
        except ValueError:  # of different lengths
            cards = np.empty(n, object)
        if cards.shape != (n,) or cards.dtype.kind not in "iu":
            for i, action in enumerate(actions if isinstance(actions, (list, tuple, np.ndarray)) else ()):
                is_integer = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
                if not is_integer or not 0 <= action < N_ACTIONS:
                    raise ValueError(f"game {i}: {action!r} is not a card's id: give {n} integers, one a game")
            raise ValueError(f"actions must be {n} integers, one a game, not {cards.dtype} of shape {cards.shape}")
        cards = cards.astype(np.int64, copy=False)
        bad = min(self._run_light(vector_kernels.first_bad, self._games, self._all_rows, cards, self._to_begin))
        if bad == n:
            return cards
        if self._games["phase"][bad] == OVER:
            raise RuntimeError(f"game {bad}: the episode is over: call reset(), or reset with options['reset_mask']")
        card = int(cards[bad])
        name = f"{format_card(card)} (action {card})" if 0 <= card < N_ACTIONS else str(card)
        raise ValueError(f"game {bad}: {name} is not a legal action")

    def _run(self, function: Callable[..., Any], state: Any, rows: np.ndarray, *rest: Any) -> list[Any]:
        """Calls ``function(state, rows, *rest)``, a kernel, with all threads, on some rows each; what each returns."""
        return self._run_chunks(CHUNK, function, state, rows, *rest)

    def _run_light(self, function: Callable[..., Any], state: Any, rows: np.ndarray, *rest: Any) -> list[Any]:
        """The same for a kernel that does next to nothing for a game."""
        return self._run_chunks(LIGHT_CHUNK, function, state, rows, *rest)

    def _run_chunks(
        self, chunk: int, function: Callable[..., Any], state: Any, rows: np.ndarray, *rest: Any
    ) -> list[Any]:
        threads = min(self._threads, -(-len(rows) // chunk))
        if threads < 2:
            return [function(state, rows, *rest)]
        chunks = deque(rows[start : start + chunk] for start in range(0, len(rows), chunk))
        found = []

        def work() -> None:
            while chunks:
                try:
                    part = chunks.popleft()
                except IndexError:  # another thread was quicker
                    return
                found.append(function(state, part, *rest))

        # This thread begins at once; whichever of the others has not even woken by the end is not waited for.
        tasks = [self._threads_of_this_process().submit(work) for _ in range(threads - 1)]
        work()
        for task in tasks:
            if not task.cancel():
                task.result()
        return found

    def _threads_of_this_process(self) -> ThreadPoolExecutor:
        if self._pool is None or self._pool[0] != os.getpid():  # a fork has none
            self._pool = os.getpid(), ThreadPoolExecutor(self._threads - 1)
        return self._pool[1]

    def _begin(self, rows: np.ndarray, start: Start | None = None, is_seeded: np.ndarray | None = None) -> None:
        """Starts the next episode of some games; without more arguments as a reset without any would."""
        unseeded = np.zeros(self.num_envs, np.bool_)
        self._start(rows, start or Start(), unseeded if is_seeded is None else is_seeded)
        self._clear_statistics(rows)

    def _clear_statistics(self, rows: np.ndarray) -> None:
        """Of games that have just begun."""
        accounts = self._accounts
        accounts.returns[rows], accounts.lengths[rows], accounts.start_times[rows] = 0.0, 0, time.perf_counter()

    def _observation(self) -> Any:
        if self._mask_in_info:
            return self._out.observation
        return {"observation": self._out.observation, "action_mask": self._out.action_mask}

    def _final_observations(self, ended: np.ndarray) -> np.ndarray:
        """(N,) objects: the last observation of each game that has ended, else ``None``."""
        final = np.full(self.num_envs, None, object)
        for i, observation, mask in zip(ended, self._out.observation[ended], self._out.action_mask[ended]):
            final[i] = observation if self._mask_in_info else {"observation": observation, "action_mask": mask}
        return final

    def _final_infos(self, over: np.ndarray) -> dict[str, Any]:
        """The last infos of the games that have ended, zeros elsewhere."""
        final = self._infos(over)
        for key in [key for key in final if not key.startswith("_")]:
            last = np.zeros_like(final[key])
            last[over] = final[key][over]
            final[key] = last
        return final

    def _account(self, out: Any) -> None:
        """Keeps the statistics of episodes, as Gymnasium's RecordEpisodeStatistics has them."""
        if self._copy:
            fresh = np.empty(self.num_envs), np.empty(self.num_envs, np.int64), np.empty(self.num_envs)
            self._accounts = vector_kernels.Accounts(*self._accounts[:3], *fresh)
        now = time.perf_counter()
        self._run_light(
            vector_kernels.account_all, self._accounts, self._all_rows, self._to_begin, out.rewards, out.over, now
        )


class CribbageVectorEnv(_NativeVectorEnv):
    """N games of cribbage against an opponent; see the module's docstring.

    Raises:
        ValueError: an option has a value that is not allowed; the message names it.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponent: Any = "random",
        seat: Literal[0, 1, "alternate"] = "alternate",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        statistics: bool = True,
        threads: int = 1,
        **options: Any,
    ) -> None:
        single = SingleAgentCribbage(opponent=opponent, seat=seat, **options)
        self._options = single._game.options
        super().__init__(single, "episodes", num_envs, autoreset_mode, copy, statistics, threads)
        self._opponent = opponent
        self._policy = NATIVE.index(opponent) if isinstance(opponent, str) else vector_kernels.NO_POLICY
        self._reward = REWARDS.index(self._options.reward)
        self._episode = EPISODES.index(self._options.episode)
        self._spread = -1 if self._options.start_spread is None else self._options.start_spread
        self._alternates = seat == "alternate"
        n = self.num_envs
        self._table = vector_kernels.Table(
            games=self._games,
            seats=np.full(n, 1 if seat == "alternate" else seat, np.int8),
            given=np.zeros((n, 0, 13), np.int8),
            n_given=np.zeros(n, np.int64),
            margins=np.zeros(n, np.int64),
            n_begun=np.zeros(n, np.int64),
        )

    def _allocate(self) -> vector_kernels.Shown:
        n = self.num_envs
        return vector_kernels.Shown(
            observation=np.empty((n, SIZES[self._options.observation]), np.int8),
            action_mask=np.empty((n, N_ACTIONS), np.int8),
            scores=np.empty((n, 2), np.int16),
            dealers=np.empty(n, np.int8),
            rewards=np.empty(n),
            over=np.empty(n, np.bool_),
        )

    def _start(self, rows: np.ndarray, start: Start, is_seeded: np.ndarray) -> None:
        self._give(rows, start.deals)
        if self._alternates:
            self._table.seats[rows] = np.where(is_seeded[rows], 0, 1 - self._table.seats[rows])
        rules = start.first_dealer, *start.scores
        self._run(vector_kernels.begin_all, self._table, rows, self._policy, self._episode, self._spread, *rules)
        if self._policy == vector_kernels.NO_POLICY:
            self._let_opponent_act(rows)

    def _play(self, cards: np.ndarray, out: Any) -> None:
        rows, to_begin = self._all_rows, self._to_begin
        self._run(
            vector_kernels.step_all,
            self._table,
            rows,
            cards,
            to_begin,
            self._alternates,
            self._policy,
            self._episode,
            self._spread,
            self._reward,
            out,
        )
        if self._policy == vector_kernels.NO_POLICY:
            self._let_opponent_act(rows)
            self._run(vector_kernels.pay_all, self._table, rows, self._reward, out)
            self._show(rows, out)

    def _show(self, rows: np.ndarray, out: Any) -> None:
        self._run(vector_kernels.show_all, self._table, rows, out)

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        infos = super()._infos(who)
        seats = self._table.seats.copy() if self._copy else self._table.seats
        for key, value in (("scores", self._out.scores), ("dealer", self._out.dealers), ("seat", seats)):
            infos[key], infos[f"_{key}"] = value, who
        return infos

    def _give(self, rows: np.ndarray, deals: tuple[tuple[int, ...], ...]) -> None:
        """Keeps the deals that a reset gave to some games."""
        if len(deals) > self._table.given.shape[1]:
            given = np.zeros((self.num_envs, len(deals), 13), np.int8)
            given[:, : self._table.given.shape[1]] = self._table.given
            self._table = self._table._replace(given=given)
        self._table.n_given[rows] = len(deals)
        if deals:
            self._table.given[rows, : len(deals)] = deals

    def _let_opponent_act(self, rows: np.ndarray) -> None:
        """The opponent outside acts in these games until the learner is to act in each of them, or it is over.

        Raises:
            ValueError: a card of the opponent is not legal; the message names the game.
        """
        games, seats = self._games, self._table.seats
        while True:
            rows = rows[(games["phase"][rows] != OVER) & (games["turn"][rows] != seats[rows])]
            if not len(rows):
                return
            views = views_of(
                games, rows, 1 - seats[rows].astype(np.int64), self._table.n_begun[rows] * self.num_envs + rows
            )
            cards = np.asarray(self._opponent.act(views)).astype(np.int64)
            bad = vector_kernels.first_bad(games[rows], np.arange(len(rows)), cards, np.zeros(len(rows), np.bool_))
            if bad < len(rows):
                raise ValueError(f"game {rows[bad]}: {cards[bad]} is not a legal action of the opponent")
            vector_kernels.take_all(self._table, rows, cards)


class DiscardVectorEnv(_NativeVectorEnv):
    """N discard games (:mod:`crib_env.discard_game`); see the module's docstring.

    Raises:
        ValueError: an option has a value that is not allowed; the message names it.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        statistics: bool = True,
        threads: int = 1,
        **options: Any,
    ) -> None:
        super().__init__(DiscardGame(**options), "deck", num_envs, autoreset_mode, copy, statistics, threads)

    def _allocate(self) -> vector_kernels.DiscardShown:
        n = self.num_envs
        return vector_kernels.DiscardShown(
            observation=np.empty((n, N_ACTIONS), np.int8),
            action_mask=np.empty((n, N_ACTIONS), np.int8),
            rewards=np.empty(n),
            over=np.empty(n, np.bool_),
        )

    def _start(self, rows: np.ndarray, start: Start, is_seeded: np.ndarray) -> None:
        self._run(vector_kernels.begin_discards, self._games, rows)

    def _play(self, cards: np.ndarray, out: Any) -> None:
        self._run(vector_kernels.step_discards, self._games, self._all_rows, cards, self._to_begin, out)
        self._show(self._all_rows, out)

    def _show(self, rows: np.ndarray, out: Any) -> None:
        self._run(vector_kernels.show_discards, self._games, rows, out)

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        infos = super()._infos(who)
        cut = who & (self._games["phase"] == OVER)
        if cut.any():
            infos |= {"starter": np.where(cut, self._games["cards"][:, 12], 0), "_starter": cut}
        return infos
