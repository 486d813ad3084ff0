"""Speed and memory of this project, and of others for comparison, measured in one run.

Speeds are measured in interleaved rounds, so that a busy moment of the machine affects all rows alike.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import batch_space
from rich.table import Table

import crib_env
from crib_env.batch import GameBatch
from crib_env.engine import GAME, OVER, TO_DRAW, begin_deal, begin_game, shuffle, step
from crib_env.evaluate.console import console, table_of
from crib_env.exact.discard_statistics import discard_statistics
from crib_env.kernels import GOLDEN, kernel, mix, streams
from crib_env.players.policies import GREEDY, RANDOM, native_card, random_card
from crib_env.single_agent import SingleAgentCribbage

ROUNDS = 5
GAMES = 4_096
MANY_GAMES = 65_536  # so many that waking a second thread takes almost no time beside its work


class Measurement(NamedTuple):
    """A piece of work whose speed is measured."""

    name: str
    """With the unit that is counted."""
    run: Callable[[], int]
    """Does a fraction of a second of the work; returns the number of units."""


class Rates(NamedTuple):
    """Units a second, or the ratio of two such figures, one value a round."""

    values: list[float]

    def over(self, other: Rates) -> Rates:
        """The ratio to another speed, round by round."""
        return Rates([one / two for one, two in zip(self.values, other.values)])

    def cells(self, form: str) -> tuple[str, str]:
        """The median, and the lowest to the highest."""
        low, high = min(self.values), max(self.values)
        return f"{statistics.median(self.values):{form}}", f"{low:{form}} to {high:{form}}"


def measure(
    measurements: Iterable[Measurement], seconds: float, on_progress: Callable[[str], None]
) -> dict[str, Rates]:
    """Units a second by name: each in every round, ``seconds`` at a time, after a first call that compiles."""
    measurements = list(measurements)
    for measurement in measurements:
        on_progress(measurement.name)
        measurement.run()
    rates: dict[str, Rates] = {measurement.name: Rates([]) for measurement in measurements}
    for _ in range(ROUNDS):
        for measurement in measurements:
            on_progress(measurement.name)
            rates[measurement.name].values.append(_per_second(measurement.run, seconds))
    return rates


def _per_second(run: Callable[[], int], seconds: float) -> float:
    done, spent, started = 0, 0.0, time.perf_counter()
    while not done or spent < seconds:
        done += run()
        spent = time.perf_counter() - started
    return done / spent


def speed_table(rates: dict[str, Rates]) -> Table:
    """Speeds in units a second, a row each."""
    rows = [(name, *rate.cells(",.1f")) for name, rate in rates.items()]
    columns = ("one core, unless stated otherwise", "a second", "range")
    return table_of(f"a second: median of {ROUNDS} rounds (lowest to highest)", columns, rows)


def ratio_table(rates: dict[str, Rates]) -> Table:
    """Ratios, a row each."""
    rows = [(name, *ratio.cells(".2f")) for name, ratio in rates.items()]
    return table_of("times as fast, in the same rounds", ("one / other", "times", "range"), rows)


# This project.

ENGINE, ONE_GAME = "random full games, engine", "random full games, raw_env"
STEPS = "vector env, learner's steps"
ONE_THREAD = "vector env, 65,536 games, copy=False, learner's steps"
TWO_THREADS = "vector env, 65,536 games, copy=False, two threads, learner's steps"


@kernel
def play_games(games, policy, n):
    """Plays ``n`` games in the record ``games[0]`` with one native policy in both seats; the number of decisions."""
    g, decisions = games[0], 0
    for _ in range(n):
        begin_game(g, 0, TO_DRAW, TO_DRAW, TO_DRAW, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] != OVER:
            step(g, native_card(g, policy))
        decisions += g["decisions"]
    return decisions


def whole_games() -> list[Measurement]:
    """Random and greedy games, random decisions of a batch, and statistics of discards."""
    game, seed = np.zeros(1, GAME), iter(range(10**9))
    game["episode_stream"] = streams(0, 1)
    rng = np.random.default_rng(0)
    hands = np.array([rng.choice(52, 6, replace=False) for _ in range(1_000)])

    def batch() -> int:
        """Random deals with observations and masks written; the number of decisions."""
        batch, decisions = GameBatch(streams(next(seed), GAMES), episode="deal"), 0
        while len(rows := batch.acting()):
            batch.observe(rows)
            batch.step(rows, batch.native_cards(rows, RANDOM))
            decisions += len(rows)
        return decisions

    return [
        Measurement(ENGINE, lambda: 2_000 if play_games(game, RANDOM, 2_000) else 0),
        Measurement("random decisions, engine", lambda: int(play_games(game, RANDOM, 2_000))),
        Measurement("greedy full games, engine", lambda: 100 if play_games(game, GREEDY, 100) else 0),
        Measurement("batch of both seats, decisions with observations and masks", batch),
        Measurement("discard statistics of 15, in a batch", lambda: len(discard_statistics(hands))),
        Measurement("discard statistics of 15, one call", lambda: len(discard_statistics(hands[:1]))),
    ]


@kernel
def pick_legal(masks, words, cards):
    """Writes a random legal card for each row of ``masks`` (N, 52) int8 into ``cards`` (N,) int64; 0 if none is legal.

    ``words`` (N,) uint64 are the random streams.
    """
    for i in range(len(cards)):
        legal = np.int64(0)
        for card in range(52):
            legal |= (np.int64(1) << card) * (masks[i, card] != 0)
        words[i] += GOLDEN
        cards[i] = random_card(legal, mix(words[i])) if legal else 0


class RandomPlay:
    """Random legal cards in N games against an opponent that plays at random."""

    def __init__(self, n: int, **options: Any) -> None:
        way: dict[str, Any] = {"vectorization_mode": "vector_entry_point", "opponent": "random"}
        self.envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=n, **way, **options)
        self._infos = self.envs.reset()[1]
        self._words, self._cards = streams(0, n), np.zeros(n, np.int64)
        self._over = np.zeros(n, np.bool_)

    def run(self, calls: int = 20) -> int:
        """Calls ``step`` this many times; returns the number of cards that the learner has played."""
        played = 0
        for _ in range(calls):
            pick_legal(self._infos["action_mask"], self._words, self._cards)
            played += len(self._over) - int(np.count_nonzero(self._over))  # games that are over restart instead
            _, _, self._over, _, self._infos = self.envs.step(self._cards)
        return played


def vector_steps() -> list[Measurement]:
    """Steps that return observations and masks, including the choice of random cards."""
    return [
        Measurement(STEPS, RandomPlay(GAMES).run),
        Measurement(ONE_THREAD, RandomPlay(MANY_GAMES, copy=False).run),
        Measurement(TWO_THREADS, RandomPlay(MANY_GAMES, copy=False, threads=2).run),
    ]


def _draws(rng: np.random.Generator) -> Iterator[float]:
    return iter(rng.random(2_000).tolist())  # more than the decisions of an episode


def _single_steps(env: SingleAgentCribbage) -> int:
    """Random play against a random opponent; the learner's steps."""
    rng, steps = np.random.default_rng(0), 0
    for _ in range(20):
        _, info = env.reset()
        draws, terminated = _draws(rng), False
        while not terminated:
            legal = info["action_mask"].nonzero()[0]
            _, _, terminated, _, info = env.step(legal[int(next(draws) * len(legal))])
            steps += 1
    return steps


def _aec_turns(env: Any, episodes: int) -> Callable[[], int]:
    """Random play through PettingZoo's loop; the number of turns."""
    rng = np.random.default_rng(0)

    def run() -> int:
        turns = 0
        for _ in range(episodes):
            env.reset()
            draws = _draws(rng)
            while True:
                observation, _reward, terminated, truncated, _info = env.last()
                if terminated or truncated:
                    break
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(next(draws) * len(legal))])
                turns += 1
        return turns

    return run


def _full_games(env: crib_env.raw_env) -> int:
    """Random play without observations, as in the rows of OpenSpiel."""
    pick, n = random.Random(0), 20
    for _ in range(n):
        env.reset()
        while legal := env.legal_actions():
            env.step(legal[int(pick.random() * len(legal))])
    return n


def single_games() -> list[Measurement]:
    """Random play, in whole episodes; with pygame also PettingZoo's own games."""
    rows = [
        Measurement("single env, learner's steps", partial(_single_steps, SingleAgentCribbage())),
        Measurement(ONE_GAME, partial(_full_games, crib_env.raw_env())),
        Measurement("crib_env raw_env, turns", _aec_turns(crib_env.raw_env(), 20)),
        Measurement("crib_env env, turns", _aec_turns(crib_env.env(), 20)),
    ]
    try:
        from pettingzoo.classic import connect_four_v3, tictactoe_v3
    except ImportError:
        return _skipped("PettingZoo's tictactoe and connect_four", "pygame", rows)
    return [
        *rows,
        Measurement("tictactoe env, turns", _aec_turns(tictactoe_v3.env(), 100)),
        Measurement("connect_four env, turns", _aec_turns(connect_four_v3.env(), 50)),
    ]


# Other projects.

SAMPLED = "random full games, OpenSpiel, chance sampled by its probabilities"
FAST = "random full games, OpenSpiel, chance picked as actions are"
ENVPOOL = f"EnvPool NChain-v0, {GAMES:,}"  # of its games the fastest


def _skipped(what: str, package: str, others: list[Measurement]) -> list[Measurement]:
    console.print(f"skipped: {what} ({package} is not installed)")
    return others


def _openspiel_games(game: Any, n: int, by_probabilities: bool) -> Callable[[], int]:
    """Whole games; chance is sampled by its probabilities, as in OpenSpiel's own examples, or picked like an action,
    since all cards are equally likely."""
    rng, pick = np.random.default_rng(0), random.Random(0)

    def run() -> int:
        for _ in range(n):
            state = game.new_initial_state()
            while not state.is_terminal():
                if by_probabilities and state.is_chance_node():
                    outcomes, probabilities = zip(*state.chance_outcomes())
                    state.apply_action(int(rng.choice(outcomes, p=probabilities)))
                else:
                    legal = state.legal_actions()
                    state.apply_action(legal[int(pick.random() * len(legal))])
        return n

    return run


def openspiel() -> list[Measurement]:
    """Random full games. OpenSpiel counts the last show to its end, and asks players to pass where here they say go."""
    try:
        import pyspiel
    except ImportError:
        return _skipped("OpenSpiel's cribbage", "open_spiel", [])
    game = pyspiel.load_game("cribbage(players=2)")
    return [
        Measurement(SAMPLED, _openspiel_games(game, 20, True)),
        Measurement(FAST, _openspiel_games(game, 100, False)),
    ]


def other_vectors() -> list[Measurement]:
    """Steps of the cheapest games with random actions that are drawn once, so that choosing them takes no time."""

    def steps(name: str, envs: Any, actions: np.ndarray, calls: int) -> Measurement:
        envs.reset()
        return Measurement(name, lambda: sum(len(envs.step(actions)[1]) for _ in range(calls)))

    in_turn = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * GAMES)
    rows = [steps(f"CartPole, SyncVectorEnv of {GAMES:,}", in_turn, in_turn.action_space.sample(), 2)]
    try:
        import envpool
    except ImportError:
        return _skipped("EnvPool's games", "envpool", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the precision of its own bounds
        envs = envpool.make_gymnasium("NChain-v0", num_envs=GAMES, num_threads=1)
        return [*rows, steps(ENVPOOL, envs, batch_space(envs.action_space, GAMES).sample(), 5)]


# What a process takes: memory of the vector environment, and the time to start.

SIZES = (1, 1_000, 100_000, 1_000_000)
STEPS_OF_MEMORY = 100_000_000
_MARKS = 10  # measurements during these steps
_STATUS = Path("/proc/self/status")  # Linux; a child's getrusage() would report its parent's peak
_WARM_UP = 2_000_000  # steps after which every buffer and pool has its size


def can_be_measured() -> bool:
    """Whether this system reports a process's memory."""
    return _STATUS.exists()


def _resident(field: str) -> int:
    """Bytes in memory of this process: ``VmRSS`` now, or ``VmHWM`` at most so far."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def _play_and_report(n: int) -> tuple[int, int]:
    """Memory of this fresh process before it plays ``n`` games side by side, and its maximum while it plays them."""
    RandomPlay(1).run(calls=10)  # loads the kernels
    before = _resident("VmRSS")
    RandomPlay(n).run(calls=10)
    return before, _resident("VmHWM")


def memory_by_games() -> dict[int, tuple[int, int]]:
    """Bytes of a process without games and at most with them, by the number of games; each in a fresh process."""
    taken = {}
    for n in SIZES:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            taken[n] = pool.apply(_play_and_report, (n,))
    return taken


def memory_over_steps() -> dict[int, int]:
    """Bytes of this process by steps played: after the warm-up, and at regular intervals from then on."""
    play = RandomPlay(GAMES)
    played, resident = 0, {}
    for mark in range(_MARKS + 1):
        while played < _WARM_UP + STEPS_OF_MEMORY * mark // _MARKS:
            played += play.run()
        resident[played] = _resident("VmRSS")
    return resident


_FIRST_ENV = "import crib_env; e = crib_env.env(); e.reset(seed=0); e.step(int(e.last()[0]['action_mask'].argmax()))"
_FIRST_VECTOR = (
    f"{_FIRST_ENV}; import gymnasium; v = gymnasium.make_vec('crib_env/Cribbage-v0', 8, 'vector_entry_point')\n"
    "v.step(v.reset(seed=0)[0]['action_mask'].argmax(axis=1))"
)


def start_times() -> dict[str, Rates]:
    """Seconds by what is started, with cold and warm caches of compiled kernels."""

    def seconds(code: str, cache: Path, times: int = ROUNDS) -> Rates:
        spent = []
        for _ in range(times):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(cache)})
            spent.append(time.perf_counter() - started)
        return Rates(spent)

    found = {"Python alone": seconds("pass", Path())}
    first = {"a first environment, reset and stepped": _FIRST_ENV, "and a first vector environment": _FIRST_VECTOR}
    for name, code in first.items():
        with tempfile.TemporaryDirectory() as folder:
            found[f"{name}, cold cache"] = seconds(code, Path(folder), 1)
            found[f"{name}, warm cache"] = seconds(code, Path(folder))
    return found
